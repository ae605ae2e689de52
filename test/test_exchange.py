"""Problems as text for other solvers: each format is read here by a reader of its own, which knows the format and nothing of
us. The numbers must be those of the problem, bit for bit, and our answer must solve what the file says."""
import json
import math
import os
import re
import subprocess

import h5py
import numpy as np
import pytest

import stickslip as ss
from test_cli import BAD_INPUT, DONE, PROGRAM, USAGE, here, run


# ---- readers ------------------------------------------------------------------------------------------------------

def read_lcp(path):
    """A, q, lower, upper."""
    lines = [line for line in open(path).read().splitlines() if not line.startswith("#")]
    size, entries = map(int, lines[0].split())
    A = np.zeros((size, size))
    for line in lines[1:1 + entries]:
        row, column, value = line.split()
        assert A[int(row) - 1, int(column) - 1] == 0
        A[int(row) - 1, int(column) - 1] = float(value)
    rest = np.array([[float(word) for word in line.split()] for line in lines[1 + entries:]])
    assert rest.shape == (size, 3)
    return A, rest[:, 0], rest[:, 1], rest[:, 2]


def read_gams(path):
    """Sets and parameters with data, sets filled by assignments, and all other statements without blanks. Only as much of GAMS
    as our files use; anything else is an error."""
    text = "\n".join(line for line in open(path).read().splitlines() if not line.startswith(("*", "$")))
    data, statements = {}, []
    for statement in re.findall(r"[^;]+(?=;)", text):
        statement = statement.strip()
        declared = re.fullmatch(r"(Set|Parameter)\s+(\w+)(?:\([\w,]+\))?\s*/(.*)/", statement, re.S)
        assigned = re.fullmatch(r"(\w+)\('(\w+)'\) = yes", statement)
        if declared:
            kind, name, body = declared.groups()
            span = re.fullmatch(r"\s*([a-z])1\*\1(\d+)\s*", body)
            if span:
                data[name] = [f"{span[1]}{k}" for k in range(1, int(span[2]) + 1)]
            elif kind == "Set":
                data[name] = body.split()
            else:
                data[name] = {line.split()[0]: float(line.split()[1]) for line in body.strip().splitlines()}
        elif assigned:
            data.setdefault(assigned[1], []).append(assigned[2])
        else:
            statements.append(re.sub(r"\s+", "", statement))
    return data, statements


def number(label):
    return int(label[1:]) - 1


def gams_matrix(data):
    size = len(data["i"])
    A, q = np.zeros((size, size)), np.zeros(size)
    for label, value in data["A"].items():
        row, column = label.split(".")
        A[number(row), number(column)] = value
    for label, value in data["q"].items():
        q[number(label)] = value
    lower, upper = np.full(size, -math.inf), np.full(size, math.inf)
    for label in data.get("bounded_below", []):
        lower[number(label)] = data["lower"].get(label, 0.0)
    for label in data.get("bounded_above", []):
        upper[number(label)] = data["upper"].get(label, 0.0)
    return A, q, lower, upper


def read_cbf(path):
    """Objective c, and for each cone its kind and rows F x + g."""
    lines = [line.strip() for line in open(path) if line.strip() and not line.startswith("#")]
    at, found = 0, {}
    while at < len(lines):
        key = lines[at]
        head = lines[at + 1].split()
        if key in ("VER", "OBJSENSE"):
            found[key], at = head[0], at + 2
        elif key in ("VAR", "CON"):
            cones = [(kind, int(size)) for kind, size in (line.split() for line in lines[at + 2:at + 2 + int(head[1])])]
            assert sum(size for _, size in cones) == int(head[0])
            found[key], at = cones, at + 2 + int(head[1])
        else:
            assert key in ("OBJACOORD", "ACOORD", "BCOORD"), key
            found[key] = [line.split() for line in lines[at + 2:at + 2 + int(head[0])]]
            at += 2 + int(head[0])
    assert found["VER"] == "1" and found["OBJSENSE"] == "MIN"
    size, rows = sum(s for _, s in found["VAR"]), sum(s for _, s in found["CON"])
    assert all(kind == "F" for kind, _ in found["VAR"])
    c, F, g = np.zeros(size), np.zeros((rows, size)), np.zeros(rows)
    for j, value in found["OBJACOORD"]:
        c[int(j)] = float(value)
    for i, j, value in found["ACOORD"]:
        F[int(i), int(j)] = float(value)
    for i, value in found["BCOORD"]:
        g[int(i)] = float(value)
    cones, row = [], 0
    for kind, count in found["CON"]:
        cones.append((kind, F[row:row + count], g[row:row + count]))
        row += count
    return c, cones


# ---- frames ---------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """Contacts alone; joints with motors; a planar one would be a special case of neither."""
    folder = tmp_path_factory.mktemp("frames")
    for scene in ("box-drop", "cart"):
        subprocess.run([PROGRAM, "run", scene, "--steps", "30", "--record", folder / f"{scene}.h5", "--every", "29", "-q"],
                       check=True, stdout=subprocess.DEVNULL)
    return {scene: (folder / f"{scene}.h5", ss.open(folder / f"{scene}.h5")[1]) for scene in ("box-drop", "cart")}


def dense(matrix):
    return np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix)


def violation(A, q, lower, upper, z):
    """Largest error of the complementarity conditions: distance of z to the projection of z - w."""
    w = A @ z + q
    return np.abs(z - np.clip(z - w, lower, upper)).max()


def extend(A, q, lower, upper, problem, x):
    """An answer to the problem as one to the extended problem: multipliers of the bounds that follow a partner."""
    w = dense(problem.A) @ x + problem.b
    added = (len(q) - len(x)) // 2
    z = np.concatenate([x, np.zeros(2 * added)])
    for k in range(added):
        row = len(x) + 2 * k
        i = next(j for j in range(len(x)) if A[j, row] == -1.0)  # w - a + b = 0
        z[row], z[row + 1] = max(w[i], 0.0), max(-w[i], 0.0)
    return z


@pytest.mark.parametrize("scene", ["box-drop", "cart"])
@pytest.mark.parametrize("formulation", ["stewart-trinkle", "box", "frictionless"])
@pytest.mark.parametrize("ending", ["lcp", "gms"])
def test_complementarity_problems_are_exact_and_our_answer_solves_them(scene, formulation, ending, frames, here):
    file, frame = frames[scene]
    run("convert", file, f"p.{ending}", "--frame", "1", "--formulation", formulation, code=DONE)
    if ending == "lcp":
        A, q, lower, upper = read_lcp("p.lcp")
    else:
        data, statements = read_gams("p.gms")
        A, q, lower, upper = gams_matrix(data)
        assert statements == ["optionlimrow=0,limcol=0", "Alias(i,j)", "Variablez(i)", "EquationF(i)",
                              "F(i)..sum(j$A(i,j),A(i,j)*z(j))+q(i)=n=0", "z.lo(i)$bounded_below(i)=lower(i)",
                              "z.up(i)$bounded_above(i)=upper(i)", "Modelcontact/F.z/", "Solvecontactusingmcp", "Displayz.l"]
    problem = frame.problem(formulation)
    size = len(problem.b)
    assert (A[:size, :size] == dense(problem.A)).all() and (q[:size] == problem.b).all()
    assert (lower[:size] == problem.lower).all() and (upper[:size] == problem.upper).all()
    assert len(q) == size + (2 * 2 * frame.contacts.gap.size if formulation == "box" else 0)
    result = ss.solve(frame, "path", formulation=formulation, stop="relative_energy<1e-12")
    z = extend(A, q, lower, upper, problem, result.x)
    # what path leaves of the laws, in m/s and N s, next to speeds of 1 m/s
    assert violation(A, q, lower, upper, z) < 1e-7
    assert violation(A, q, lower, upper, 0.9 * z) > 1e-3  # and this can fail


@pytest.mark.parametrize("scene", ["box-drop", "cart"])
def test_the_convex_problem_is_exact_and_our_answer_minimises_it(scene, frames, here):
    file, frame = frames[scene]
    run("convert", file, "p.cbf", "--frame", "1", code=DONE)
    run("convert", file, "p.gms", "--frame", "1", "--formulation", "convex", code=DONE)
    problem = frame.problem("convex")
    A, b, size = dense(problem.A), np.array(problem.b), len(problem.b)
    x = np.array(ss.solve(frame, "auto", formulation="convex", stop="relative_energy<1e-10").x)
    w = A @ x + b

    # CBF: variables x and t, a rotated cone for t >= 1/2 |G x|^2, and one cone per law
    c, cones = read_cbf("p.cbf")
    assert len(c) == size + 1 and (c[:size] == b).all() and c[size] == 1
    kind, F, g = cones[0]
    assert kind == "QR" and F[0, size] == 1 and np.count_nonzero(F[0]) == 1 and not F[1].any() and list(g[:2]) == [0, 1]
    G = F[2:, :size]
    assert np.abs(G.T @ G - A).max() < 1e-14 * np.abs(A).max() * size  # rounding of a root and its square
    t = 0.5 * x @ G.T @ G @ x
    z = np.append(x, t)
    slack = 1e-9 * (1 + np.abs(x).max())  # auto leaves cones by less
    duals = np.zeros(size)
    for kind, F, g in cones[1:]:
        s = F @ z + g
        assert (kind == "L+" and s[0] >= -slack) or (kind == "L-" and s[0] <= slack) or \
               (kind == "Q" and s[0] >= np.linalg.norm(s[1:]) - slack)
        duals += np.abs(F[:, :size]).sum(axis=0)
    # minimal: no feasible direction goes down. For cones w . x = 0 and w in the dual cone say so; x = 0 is feasible
    discs = [(F, g) for kind, F, g in cones if kind == "Q"]
    assert len(discs) == frame.contacts.gap.size
    for F, g in discs:
        normal, tangents = np.flatnonzero(F[0])[0], [np.flatnonzero(row)[0] for row in F[1:]]
        mu = F[0, normal]
        assert w[normal] >= mu * np.linalg.norm(w[tangents]) - 1e-6
        assert abs(w[normal] * x[normal] + w[tangents] @ x[tangents]) < 1e-6

    # GAMS: the same as a model with quadratic constraints
    data, statements = read_gams("p.gms")
    A_gams, q, lower, upper = gams_matrix(data)
    assert (A_gams == A).all() and (q == b).all()
    assert [s for s in statements if s.startswith(("objective..", "disc(c)", "Solve"))] == [
        "objective..cost=e=0.5*sum((i,j)$A(i,j),x(i)*A(i,j)*x(j))+sum(i,q(i)*x(i))",
        "disc(c)$sum(normal_of(c,i),1)..sqr(mu(c))*sum(normal_of(c,i),sqr(x(i)))=g=sum(tangents_of(c,i),sqr(x(i)))",
        "Solvecontactusingqcpminimizingcost"]
    normal_of = dict(label.split(".") for label in data["normal_of"])
    for name in data["c"]:
        normal = number(normal_of[name])
        tangents = [number(label.split(".")[1]) for label in data["tangents_of"] if label.split(".")[0] == name]
        assert lower[normal] == 0 and len(tangents) == 2 and data["mu"][name] > 0
        assert any(F[0, normal] == data["mu"][name] and {np.flatnonzero(row)[0] for row in F[1:]} == set(tangents) for F, _ in discs)


def test_what_a_format_cannot_say_is_refused(frames, here):
    file = frames["box-drop"][0]
    for target, formulation in (("p.lcp", "cone"), ("p.lcp", "convex"), ("p.gms", "cone"), ("p.cbf", "cone"), ("p.cbf", "box")):
        ended = run("convert", file, target, "--frame", "1", "--formulation", formulation, code=BAD_INPUT)
        assert "unknown 0" in ended.stderr or "law of unknown" in ended.stderr, ended.stderr
        assert not os.path.exists(target)


def test_several_frames_become_several_files(frames, here):
    run("convert", frames["cart"][0], "out", "--to", "gams", code=DONE)
    assert sorted(os.listdir("out")) == ["mbs_frame000001.gms", "mbs_frame000002.gms"]
    run("convert", frames["cart"][0], "out.cbf", code=USAGE)


# ---- PATH, by a library with its interface --------------------------------------------------------------------------

FERRIS = f"path-ferris={os.path.dirname(PROGRAM)}/stickslip-path-ferris"
STAND_IN = os.path.join(os.environ["SS_BUILD_DIR"], "libstand_in_path.so")


def ball(path, **contact):
    """A ball that slides on the ground, and one that rests on it: no contact is redundant."""
    with ss.Recorder(path, "test") as recorder:
        with recorder.frame(time=0, h=0.01) as f:
            for x, speed in ((0.0, 1.0), (3.0, 0.0)):
                number = f.body(1.0, position=(x, 0, 0.5), inertia=(0.1, 0.1, 0.1), velocity=(speed, 0, 0, 0, 0, 0),
                                force=(0.5, 0, -9.81, 0, 0, 0))
                f.contact(ss.WORLD, number, point=(x, 0, 0), normal=(0, 0, 1), mu=0.5)


def ferris(formulation, *more, environment=None, file="ball.h5"):
    ended = subprocess.run([PROGRAM, "solve", file, "--formulation", formulation, "--solver-command", FERRIS, "--json", *more],
                           capture_output=True, text=True, env={**os.environ, "PATH_LIBRARY": STAND_IN, **(environment or {})})
    return json.loads(ended.stdout)["frames"][0]


@pytest.mark.parametrize("formulation", ["box", "frictionless"])
def test_path_gets_the_problem_and_its_answer_comes_back(formulation, here):
    ball("ball.h5")
    assert ferris(formulation, "-o", "theirs.h5")["status"] == "converged"
    ours = ss.solve(ss.open("ball.h5")[0], "path", formulation=formulation, stop="relative_energy<1e-12")
    with h5py.File("theirs.h5") as file:
        theirs = file["simulation_000001/mbs_frame000001/solver_data/path-ferris/velocities"][()].reshape(-1, 6)
    assert np.abs(theirs - ours.velocity).max() < 1e-8  # one solution only; the stand-in stops at 1e-10


def test_path_refuses_what_its_licence_does_not_allow(frames, here):
    file = frames["box-drop"][0]
    refused = ferris("stewart-trinkle", "--frame", "1", file=file)
    assert refused["status"] == "not applicable" and "PATH_LICENSE_STRING" in str(refused)
    allowed = ferris("stewart-trinkle", "--frame", "1", file=file, environment={"PATH_LICENSE_STRING": "stand-in"})
    assert allowed["status"] != "not applicable"


def test_path_is_told_its_options_and_missed_when_it_is_not_there(here):
    ball("ball.h5")
    stalled = ferris("box", "--set", "options=crash_method:none;give_up:yes")
    assert stalled["status"] == "stalled"
    missing = ferris("box", environment={"PATH_LIBRARY": "libnothing.so"})
    assert missing["status"] == "failed" and "PATH is not here" in str(missing)
