"""FCLIB files as another program sees them: h5py makes and reads them, NumPy recomputes what stickslip says."""
import json
import os
import subprocess

import h5py
import numpy as np
import pytest

from shared_data import shared

PROGRAM = os.environ.get("SS_PROGRAM", "build/release/stickslip")
BAD_INPUT = 3


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def info(path, *more):
    return json.loads(run("info", path, "--json", *more).stdout)["problems"]


# ---- FCLIB by h5py ---------------------------------------------------------------------------------------------------


def put_int(group, name, value):
    group.create_dataset(name, data=np.array([value], dtype=np.int32))


def put_matrix(parent, name, dense):
    """As triplets: i = row, p = column."""
    rows, columns = np.nonzero(dense)
    group = parent.create_group(name)
    for key, value in (("m", dense.shape[0]), ("n", dense.shape[1]), ("nz", len(rows)), ("nzmax", len(rows))):
        put_int(group, key, value)
    group.create_dataset("i", data=rows.astype(np.int32))
    group.create_dataset("p", data=columns.astype(np.int32))
    group.create_dataset("x", data=dense[rows, columns])


def dense(group):
    m, n, nz = (int(group[key][0]) for key in ("m", "n", "nz"))
    p, i, x = (group[key][()] for key in ("p", "i", "x"))
    matrix = np.zeros((m, n))
    if nz >= 0:
        np.add.at(matrix, (i[:nz], p[:nz]), x[:nz])
    else:
        lines = np.repeat(np.arange(len(p) - 1), np.diff(p))
        np.add.at(matrix, (lines, i) if nz == -2 else (i, lines), x)
    return matrix


def make_global(seed, dimension=3, bodies=4, contacts=5, equations=3):
    """A problem of bodies with random numbers, and a random point: no solution, but one whose residual is a number."""
    random = np.random.default_rng(seed)
    n, m = 6 * bodies, dimension * contacts
    mass = np.zeros((n, n))
    for b in range(0, n, 6):
        half = random.normal(size=(6, 6))
        mass[b:b + 6, b:b + 6] = half @ half.T + np.eye(6)
    return {"dimension": dimension, "M": mass, "H": random.normal(size=(n, m)), "G": random.normal(size=(n, equations)),
            "f": random.normal(size=n), "w": random.normal(size=m), "b": random.normal(size=equations),
            "mu": random.uniform(0, 1, contacts), "mu_r": random.uniform(0, 0.3, contacts),
            "u": random.normal(size=m), "r": random.normal(size=m), "v": random.normal(size=n),
            "l": random.normal(size=equations)}


def write_global(path, problem):
    rolling = problem["dimension"] == 5
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_global_rolling" if rolling else "fclib_global")
        put_int(group, "spacedim", problem["dimension"])
        for name in "MHG":
            if problem[name].shape[1]:
                put_matrix(group, name, problem[name])
        for name in ("f", "w", "mu") + (("b",) if problem["G"].shape[1] else ()) + (("mu_r",) if rolling else ()):
            group.create_dataset(f"vectors/{name}", data=problem[name])
        for name in ("u", "r", "v") + (("l",) if problem["G"].shape[1] else ()):
            file.create_dataset(f"solution/{name}", data=problem[name])


def reduce(problem):
    """W = H' M^-1 H and so on."""
    inverse = np.linalg.inv(problem["M"])
    H, G = problem["H"], problem["G"]
    return {"W": H.T @ inverse @ H, "V": H.T @ inverse @ G, "R": G.T @ inverse @ G,
            "q": H.T @ inverse @ problem["f"] + problem["w"], "s": G.T @ inverse @ problem["f"] + problem["b"]}


# ---- the natural map, written once more --------------------------------------------------------------------------------


def project(y, mu, mu_r):
    """The nearest point of the cone, its height found by bisection on the slope of the distance."""
    def cut(part, limit):
        norm = np.linalg.norm(part)
        return part if norm <= limit else part * (limit / norm)

    def slope(x):
        return ((x - y[0]) - mu * max(0.0, np.linalg.norm(y[1:3]) - mu * x)
                - mu_r * max(0.0, np.linalg.norm(y[3:5]) - mu_r * x))

    low, high = 0.0, 10.0 * (1.0 + np.linalg.norm(y))
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return np.concatenate([[high if slope(0.0) < 0.0 else 0.0], cut(y[1:3], mu * high), cut(y[3:5], mu_r * high)])


def natural_map(dimension, u, r, mu, mu_r, q):
    total = 0.0
    for contact in range(len(mu)):
        part = slice(contact * dimension, (contact + 1) * dimension)
        shifted = u[part].copy()
        shifted[0] += mu[contact] * np.linalg.norm(u[part][1:3]) + mu_r[contact] * np.linalg.norm(u[part][3:5])
        total += np.sum((r[part] - project(r[part] - shifted, mu[contact], mu_r[contact])) ** 2)
    return np.sqrt(total) / np.linalg.norm(q)


# ---- reading -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [2, 3, 5])
@pytest.mark.parametrize("equations", [0, 3])
def test_residual_is_the_one_numpy_finds(tmp_path, dimension, equations):
    problem = make_global(7 * dimension + equations, dimension, equations=equations)
    write_global(tmp_path / "p.hdf5", problem)
    found = info(tmp_path / "p.hdf5")[0]
    local = reduce(problem)
    u = local["W"] @ problem["r"] + local["V"] @ problem["l"] + local["q"]
    mu_r = problem["mu_r"] if dimension == 5 else np.zeros(5)
    expected = natural_map(dimension, u, problem["r"], problem["mu"], mu_r, local["q"])
    balance = (problem["M"] @ problem["v"] - problem["H"] @ problem["r"] - problem["G"] @ problem["l"] - problem["f"])
    assert found["solution"]["natural_map"] == pytest.approx(expected, rel=1e-10)
    assert found["solution"]["balance"] == pytest.approx(
        np.linalg.norm(balance) / np.linalg.norm(problem["f"]), rel=1e-10)
    assert found["solution"]["velocity"] == pytest.approx(
        np.linalg.norm(problem["u"] - u) / np.linalg.norm(local["q"]), rel=1e-10)
    if equations:
        equation = local["V"].T @ problem["r"] + local["R"] @ problem["l"] + local["s"]
        assert found["solution"]["bilateral"] == pytest.approx(
            np.linalg.norm(equation) / np.linalg.norm(problem["b"]), rel=1e-10)


@pytest.mark.parametrize("equations", [0, 3])
def test_reduced_matrices_are_the_ones_numpy_finds(tmp_path, equations):
    problem = make_global(31 + equations, equations=equations)
    write_global(tmp_path / "global.hdf5", problem)
    run("convert", tmp_path / "global.hdf5", tmp_path / "local.hdf5", "--to", "fclib-local")
    local = reduce(problem)
    with h5py.File(tmp_path / "local.hdf5") as file:
        group = file["fclib_local"]
        for name in ("W", "V", "R") if equations else ("W",):
            assert dense(group[name]) == pytest.approx(local[name], abs=1e-12 * np.abs(local[name]).max())
        for name in ("q", "s") if equations else ("q",):
            assert group[f"vectors/{name}"][()] == pytest.approx(local[name], abs=1e-11)
        assert "V" not in group or equations
    if equations:
        run("convert", tmp_path / "global.hdf5", tmp_path / "bare.hdf5", "--to", "fclib-local", "--eliminate")
        with h5py.File(tmp_path / "bare.hdf5") as file:
            W = local["W"] - local["V"] @ np.linalg.solve(local["R"], local["V"].T)
            q = local["q"] - local["V"] @ np.linalg.solve(local["R"], local["s"])
            assert dense(file["fclib_local/W"]) == pytest.approx(W, abs=1e-11 * np.abs(W).max())
            assert file["fclib_local/vectors/q"][()] == pytest.approx(q, abs=1e-10)
            assert "V" not in file["fclib_local"] and "R" not in file["fclib_local"]


def test_planar_rolling_is_read_as_spatial(tmp_path):
    """spacedim 3 in a rolling group means (N, T, M)."""
    problem = make_global(5, 5, equations=0)
    planar = [5 * contact + k for contact in range(5) for k in (0, 1, 3)]
    problem["dimension"] = 5
    write_global(tmp_path / "p.hdf5", problem)
    with h5py.File(tmp_path / "p.hdf5", "r+") as file:
        group = file["fclib_global_rolling"]
        group["spacedim"][0] = 3
        del group["H"], group["vectors/w"], file["solution"]
        put_matrix(group, "H", problem["H"][:, planar])
        group["vectors/w"] = problem["w"][planar]
        for name, values in (("u", problem["u"][planar]), ("r", problem["r"][planar]), ("v", problem["v"])):
            file[f"solution/{name}"] = values
    found = info(tmp_path / "p.hdf5", "--full")[0]
    assert found["dimension"] == 5
    H = np.zeros((24, 25))
    for row, column, value in found["matrices"]["H"]["triplets"]:
        H[row, column] = value
    assert (H[:, planar] == problem["H"][:, planar]).all()
    assert np.count_nonzero(H) == H[:, planar].size
    assert (np.array(found["vectors"]["w"])[planar] == problem["w"][planar]).all()
    assert (np.array(found["stored_solution"]["r"])[planar] == problem["r"][planar]).all()
    assert np.count_nonzero(found["stored_solution"]["r"]) == len(planar)


def test_solution_belongs_to_the_global_problem_of_a_file(tmp_path):
    write_global(tmp_path / "p.hdf5", make_global(1, equations=0))
    with h5py.File(tmp_path / "p.hdf5", "r+") as file:
        group = file.create_group("fclib_local")
        put_int(group, "spacedim", 3)
        put_matrix(group, "W", np.eye(3))
        group["vectors/q"] = np.ones(3)
        group["vectors/mu"] = np.ones(1)
    found = info(tmp_path / "p.hdf5")
    assert [problem["kind"] for problem in found] == ["global", "local"]
    assert found[0]["solution"] is not None and found[1]["solution"] is None


# ---- writing ---------------------------------------------------------------------------------------------------------------


def layout(path):
    """Every data set by its path: type and shape."""
    names = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: names.update({name: (item.dtype, item.shape)})
                        if isinstance(item, h5py.Dataset) else None)
    return names


def test_written_file_has_the_documented_names_types_and_shapes(tmp_path):
    write_global(tmp_path / "in.hdf5", make_global(2, 5))
    run("convert", tmp_path / "in.hdf5", tmp_path / "out.hdf5", "--to", "fclib-global")
    found = layout(tmp_path / "out.hdf5")
    one, n, m, p, c = (1,), (24,), (25,), (3,), (5,)
    expected = {"spacedim": ("int32", one), "vectors/f": ("float64", n), "vectors/w": ("float64", m),
                "vectors/b": ("float64", p), "vectors/mu": ("float64", c), "vectors/mu_r": ("float64", c)}
    for matrix, entries in (("M", 4 * 36), ("H", 24 * 25), ("G", 24 * 3)):
        expected |= {f"{matrix}/{key}": ("int32", one) for key in ("m", "n", "nz", "nzmax")}
        expected |= {f"{matrix}/{key}": ("int32", (entries,)) for key in "ip"}
        expected |= {f"{matrix}/x": ("float64", (entries,))}
    expected = {f"fclib_global_rolling/{name}": value for name, value in expected.items()}
    expected |= {"solution/u": ("float64", m), "solution/r": ("float64", m), "solution/v": ("float64", n),
                 "solution/l": ("float64", p)}
    numbers = {name: (str(kind), shape) for name, (kind, shape) in found.items() if kind.kind in "if"}
    assert numbers == expected
    texts = {name: (kind, shape) for name, (kind, shape) in found.items() if kind.kind not in "if"}
    assert set(texts) <= {f"fclib_global_rolling/info/{name}" for name in ("title", "description", "math_info")}
    assert all(kind.kind == "S" and shape == () for kind, shape in texts.values())


def test_matrix_market_files_hold_the_same_numbers(tmp_path):
    problem = make_global(3)
    write_global(tmp_path / "in.hdf5", problem)
    run("convert", tmp_path / "in.hdf5", tmp_path / "out.mtx", "--to", "mtx")
    files = {path.name.rsplit("_", 1)[-1][:-4]: path for path in tmp_path.glob("*.mtx")}
    assert set(files) == {"M", "H", "G", "f", "w", "b", "mu"}
    for name, path in files.items():
        rows = [line.split() for line in path.read_text().splitlines() if not line.startswith("%")]
        if name in "MHG":
            matrix = np.zeros((int(rows[0][0]), int(rows[0][1])))
            for i, j, x in rows[1:]:
                matrix[int(i) - 1, int(j) - 1] = float(x)
            assert int(rows[0][2]) == len(rows) - 1
            assert (matrix == problem[name]).all()
        else:
            assert [float(row[0]) for row in rows[1:]] == list(problem[name])


# ---- files of others ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Box_Stacks-i0122-82-5", "CubeH8", "GFC3D_OneContact", "Chute-ndof-768-nc-4-3"])
def test_reduced_real_problems_agree_with_numpy(tmp_path, name):
    source = shared(f"fclib/{name}.hdf5")
    with h5py.File(source) as file:
        group = next(file[key] for key in file if key.startswith("fclib"))
        M, H, d = dense(group["M"]), dense(group["H"]), int(group["spacedim"][0])
        f, w, mu = (group[f"vectors/{key}"][()] for key in ("f", "w", "mu"))
        mu_r = group["vectors/mu_r"][()] if "vectors/mu_r" in group else np.zeros(len(mu))
        r = file["solution/r"][()] if "solution" in file else None
    W = H.T @ np.linalg.solve(M, H)
    q = H.T @ np.linalg.solve(M, f) + w
    if r is not None:
        found = info(source)[0]["solution"]["natural_map"]
        assert found == pytest.approx(natural_map(d, W @ r + q, r, mu, mu_r, q), rel=1e-9)
    if d == 5:  # FCLIB has no local form with rolling friction
        return
    run("convert", source, tmp_path / "local.hdf5", "--to", "fclib-local")
    with h5py.File(tmp_path / "local.hdf5") as file:
        # tolerance: rounding through matrices whose condition number is below 1e4
        assert dense(file["fclib_local/W"]) == pytest.approx(W, abs=1e-11 * np.abs(W).max())
        assert file["fclib_local/vectors/q"][()] == pytest.approx(q, abs=1e-11 * np.abs(q).max())


# ---- files that are wrong ---------------------------------------------------------------------------------------------------------


def replace(file, name, values):
    del file[name]
    file[name] = values


def set_one(name, value):
    return lambda file: replace(file, name, np.array([value], dtype=np.int64))


def set_item(name, index, value):
    def change(file):
        values = file[name][()].astype(float)
        values[index] = value
        replace(file, name, values)
    return change


def remove(name):
    return lambda file: file.__delitem__(name)


def cut(name):
    return lambda file: replace(file, name, file[name][:-1])


def group_instead(name):
    def change(file):
        del file[name]
        file.create_group(name)
    return change


def text_instead(name):
    return lambda file: replace(file, name, np.bytes_("forty-two"))


def compress(nz, pointers):
    """Pretends that H is stored by columns or rows, with these pointers."""
    def change(file):
        file["fclib_global/H/nz"][0] = nz
        replace(file, "fclib_global/H/p", np.array(pointers, dtype=np.int32))
    return change


def huge(name):
    """A data set that claims 8 EB and holds nothing."""
    def change(file):
        del file[name]
        file.create_dataset(name, shape=(2 ** 40, 2 ** 20), chunks=(1, 1024), dtype="f8")
    return change


def link_away(name):
    def change(file):
        del file[name]
        file[name] = h5py.ExternalLink("elsewhere.hdf5", "/x")
    return change


def soft_link(name):
    def change(file):
        file.move(name, name + "_hidden")
        file[name] = h5py.SoftLink("/" + name + "_hidden")
    return change


H = "fclib_global/H"
ENTRIES = 24 * 15
MALFORMED = {
    "spacedim_missing": (remove("fclib_global/spacedim"), "/fclib_global/spacedim"),
    "spacedim_four": (set_one("fclib_global/spacedim", 4), "/fclib_global/spacedim"),
    "spacedim_two_numbers": (lambda file: replace(file, "fclib_global/spacedim", [3, 3]), "/fclib_global/spacedim"),
    "spacedim_fraction": (lambda file: replace(file, "fclib_global/spacedim", [2.5]), "/fclib_global/spacedim"),
    "matrix_missing": (remove("fclib_global/M"), "/fclib_global/M"),
    "matrix_is_a_data_set": (lambda file: replace(file, H, [1.0]), "/fclib_global/H"),
    "problem_is_a_data_set": (lambda file: replace(file, "fclib_global", [1.0]), "/fclib_global"),
    "columns_not_per_contact": (set_one(f"{H}/n", 16), "/fclib_global/H"),
    "rows_do_not_fit_M": (set_one(f"{H}/m", 23), "/fclib_global/H/m"),
    "M_not_square": (set_one("fclib_global/M/m", 23), "/fclib_global/M/m"),
    "negative_rows": (set_one(f"{H}/m", -24), "/fclib_global/H/m"),
    "negative_columns": (set_one(f"{H}/n", -15), "/fclib_global/H/n"),
    "negative_entries": (set_one(f"{H}/nz", -7), "/fclib_global/H/nz"),
    "more_entries_than_nzmax": (set_one(f"{H}/nzmax", 3), "/fclib_global/H/nzmax"),
    "more_entries_than_stored": (lambda file: [set_one(f"{H}/{key}", ENTRIES + 1)(file) for key in ("nz", "nzmax")],
                                 "/fclib_global/H/i"),
    "two_thousand_million_entries": (
        lambda file: [set_one(f"{H}/{key}", 2 ** 31 - 1)(file) for key in ("nz", "nzmax")], "/fclib_global/H/"),
    "two_thousand_million_columns": (set_one(f"{H}/n", 2 ** 31 - 2), "/fclib_global/H"),
    "two_thousand_million_dofs": (lambda file: [set_one(f"fclib_global/M/{key}", 2 ** 31 - 2)(file) for key in "mn"],
                                  "/fclib_global/M"),
    "beyond_32_bits": (set_one(f"{H}/n", 2 ** 40), "/fclib_global/H/n"),
    "nz_missing": (remove(f"{H}/nz"), "/fclib_global/H/nz"),
    "nzmax_missing": (remove(f"{H}/nzmax"), "/fclib_global/H/nzmax"),
    "row_index_too_large": (set_item(f"{H}/i", 5, 24), "/fclib_global/H/i: [5] = 24"),
    "row_index_negative": (set_item(f"{H}/i", 5, -1), "/fclib_global/H/i: [5] = -1"),
    "column_index_too_large": (set_item(f"{H}/p", 7, 15), "/fclib_global/H/p: [7] = 15"),
    "index_not_whole": (set_item(f"{H}/p", 7, 1.5), "/fclib_global/H/p: [7] = 1.5"),
    "index_not_a_number": (set_item(f"{H}/p", 7, np.nan), "/fclib_global/H/p: [7] = nan"),
    "value_not_a_number": (set_item(f"{H}/x", 11, np.nan), "/fclib_global/H/x: [11] = nan"),
    "value_infinite": (set_item("fclib_global/M/x", 0, -np.inf), "/fclib_global/M/x: [0] = -inf"),
    "values_cut_off": (cut(f"{H}/x"), "/fclib_global/H/x"),
    "columns_cut_off": (cut(f"{H}/p"), "/fclib_global/H/p"),
    "pointers_too_few": (compress(-1, [0, ENTRIES]), "/fclib_global/H/p"),
    "pointers_descend": (compress(-1, [0, 24, 12] + [ENTRIES] * 13), "/fclib_global/H/p"),
    "pointers_start_late": (compress(-1, [1] + [ENTRIES] * 15), "/fclib_global/H/p"),
    "pointers_beyond_the_end": (compress(-2, [0] * 24 + [ENTRIES + 1]), "/fclib_global/H/p"),
    "vectors_missing": (remove("fclib_global/vectors"), "/fclib_global/vectors"),
    "vector_missing": (remove("fclib_global/vectors/w"), "/fclib_global/vectors/w"),
    "vector_too_short": (cut("fclib_global/vectors/f"), "/fclib_global/vectors/f"),
    "vector_not_a_number": (set_item("fclib_global/vectors/f", 3, np.nan), "/fclib_global/vectors/f[3]"),
    "friction_negative": (set_item("fclib_global/vectors/mu", 2, -0.5), "/fclib_global/vectors/mu[2]"),
    "friction_infinite": (set_item("fclib_global/vectors/mu", 2, np.inf), "/fclib_global/vectors/mu[2]"),
    "friction_too_short": (cut("fclib_global/vectors/mu"), "/fclib_global/vectors/mu"),
    "vector_is_a_group": (group_instead("fclib_global/vectors/w"), "/fclib_global/vectors/w"),
    "vector_is_text": (text_instead("fclib_global/vectors/w"), "/fclib_global/vectors/w"),
    "vector_of_eight_exabytes": (huge("fclib_global/vectors/w"), "/fclib_global/vectors/w"),
    "values_of_eight_exabytes": (huge(f"{H}/x"), "/fclib_global/H/x"),
    "equations_without_b": (remove("fclib_global/vectors/b"), "/fclib_global/vectors/b"),
    "equations_of_other_size": (set_one("fclib_global/G/n", 2), "/fclib_global/"),
    "title_is_a_number": (lambda file: replace(file, "fclib_global/info/title", 5.0), "/fclib_global/info/title"),
    "info_is_a_data_set": (lambda file: replace(file, "fclib_global/info", 5.0), "/fclib_global/info"),
    "solution_without_r": (remove("solution/r"), "/solution/r"),
    "solution_too_short": (cut("solution/r"), "/solution/r"),
    "solution_v_too_short": (cut("solution/v"), "/solution/v"),
    "solution_is_a_data_set": (lambda file: replace(file, "solution", [1.0]), "/solution"),
    "guesses_without_number": (remove("guesses/number_of_guesses"), "/guesses/number_of_guesses"),
    "guess_missing": (set_one("guesses/number_of_guesses", 2), "/guesses/2"),
    "guesses_negative": (set_one("guesses/number_of_guesses", -1), "/guesses/number_of_guesses"),
    "guesses_two_thousand_million": (set_one("guesses/number_of_guesses", 2 ** 31 - 1), "/guesses/number_of_guesses"),
    "matrix_in_another_file": (link_away(H), "/fclib_global/H"),
    "joints_behind_a_soft_link": (soft_link("fclib_global/G"), "/fclib_global/G"),
    "values_in_another_file": (link_away(f"{H}/x"), "/fclib_global/H/x"),
}


def write_good(path):
    problem = make_global(4)
    write_global(path, problem)
    with h5py.File(path, "r+") as file:
        file["fclib_global/info/title"] = np.bytes_("good")
        put_int(file.create_group("guesses"), "number_of_guesses", 1)
        for name in "urvl":
            file[f"guesses/1/{name}"] = problem[name]


def test_unbroken_file_is_read(tmp_path):
    write_good(tmp_path / "good.hdf5")
    found = info(tmp_path / "good.hdf5")[0]
    assert (found["contacts"], found["dofs"], found["equations"], found["guesses"]) == (5, 24, 3, 1)


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_file_is_refused_with_its_place(tmp_path, case):
    change, place = MALFORMED[case]
    path = tmp_path / f"{case}.hdf5"
    write_good(path)
    with h5py.File(path, "r+") as file:
        change(file)
    done = run("info", path, code=BAD_INPUT)
    assert str(path) in done.stderr and place in done.stderr


@pytest.mark.parametrize("size", [0, 100, 2000, 8000])
def test_file_cut_off_is_refused(tmp_path, size):
    write_good(tmp_path / "good.hdf5")
    data = (tmp_path / "good.hdf5").read_bytes()
    assert len(data) > 8000
    (tmp_path / "cut.hdf5").write_bytes(data[:size])
    assert "cut.hdf5" in run("info", tmp_path / "cut.hdf5", code=BAD_INPUT).stderr
