"""Every dialect of BPMD files, with every known defect planted, comes out as the truth it was made from; and the
authors' own files come out as the memory of the simulations that wrote them."""
import json
import os
import re
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

import make_dialects as make
from make_dialects import FREE, WORLD, frame_name
from shared_data import shared

PROGRAM = os.environ["SS_PROGRAM"]
SOURCE = Path(os.environ["SS_SOURCE_DIR"])
# Repairs add a few operations to stored numbers of order 1: divisions by 60, one rotation, one step back.
TOLERANCE = 1e-12


def run(*arguments, code=0):
    ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == code, f"exit code {ended.returncode}, not {code}: {ended.stderr}{ended.stdout[:2000]}"
    return ended


def info(path, *options):
    return json.loads(run("info", path, "--json", *options).stdout)


def read(path, frame=0, *options):
    return info(path, "--frame", frame, "--full", *options)


def said(answer, kind):
    return " | ".join(item["what"] for item in answer[kind])


def number(value):
    return float(value) if not isinstance(value, list) else [number(item) for item in value]


def assert_near(found, expected, where, tolerance=TOLERANCE):
    found, expected = np.asarray(number(found), float), np.asarray(expected, float)
    assert found.size == expected.size, f"{where}: {found.shape}, expected {expected.shape}"
    found = found.reshape(expected.shape)
    with np.errstate(invalid="ignore"):  # inf - inf
        same = (found == expected) | (np.abs(found - expected) <= tolerance * (1 + np.abs(expected)))
    assert same.all(), f"{where}{np.argwhere(~same)[0]}: {found[~same][0]!r}, expected {expected[~same][0]!r}"


def assert_frame(found, truth, skip=()):
    assert_near(found["h"], truth["h"], "h", 0)
    for group in ("bodies", "constraints", "contacts"):
        for name, expected in truth[group].items():
            if f"{group}/{name}" not in skip:
                assert_near(found[group][name], expected, f"{group}/{name}")


@pytest.fixture
def file(tmp_path):
    """A new HDF5 file, open for writing; closed by `read_back`."""
    return h5py.File(tmp_path / "made.h5", "w")


def read_back(file, frame=0, *options):
    path = file.filename
    file.close()
    return read(path, frame, *options)


# ---- the authors' own files -------------------------------------------------------------------------------------

NAMES = ["stack6_gazebo6", "chain10_gazebo6", "sphere1_gazebo11", "ode_january2013"]


def truth_of(name):
    return json.loads(shared(f"bpmd/{name}.truth.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_genuine_files_have_the_sums_of_the_simulation(name):
    truth = truth_of(name)["frames"]
    found = info(shared(f"bpmd/{name}.h5"))["frames"]
    assert [frame["path"] for frame in found] == [frame["path"] for frame in truth]
    for got, want in zip(found, truth):
        assert [got[key] for key in ("bodies", "constraints", "rows", "contacts")] == (
            [want[key] for key in ("nb", "nk", "nr", "nc")]), got["path"]
        for key in ("h", "total_mass", "kinetic_energy", "sum_abs_gap", "momentum"):
            assert_near(got[key], want[key], f"{got['path']} {key}")


def compare_joint(found, index, row, want):
    constraints = found["constraints"]
    assert constraints["pairs"][index] == [want["a"], want["b"]]
    assert constraints["rows"][index] == len(want["rows"])
    for i, equation in enumerate(want["rows"], row):
        where = f"row {i}"
        assert_near(constraints["jacobian"][i], equation["G_a"] + equation["G_b"], where)
        assert_near(constraints["bounds"][i], [number(equation["lo"]), number(equation["hi"])], where)
        if equation["kind"] == "limit":  # stop_erp is not stored: only the sign can be right
            assert np.sign(number(constraints["violations"][i])) == np.sign(equation["g"]), where
        else:
            assert_near(constraints["violations"][i], equation["g"], where)
        wanted = equation["target_velocity"] if equation["kind"] == "motor" else 0
        assert_near(constraints["time_derivative"][i], -wanted, where)
    return row + len(want["rows"])


@pytest.mark.parametrize("name", NAMES)
def test_genuine_files_have_every_number_of_the_simulation(name):
    for want in truth_of(name)["full_frames"]:
        found = read(shared(f"bpmd/{name}.h5"), want["path"])
        bodies, contacts = want["bodies"], want["contacts"]
        for key, ours in (("mass", "masses"), ("position", "positions"), ("quaternion", "quaternions"),
                          ("velocity", "velocities"), ("force", "forces"), ("inertia_world", "inertias")):
            assert_near(found["bodies"][ours], [body[key] for body in bodies], f"{want['path']} {ours}")
        for key, ours in (("point", "points"), ("gap", "gaps")):
            assert_near(found["contacts"][ours], [contact[key] for contact in contacts], f"{want['path']} {ours}")
        stored = [np.multiply(c["normal"], -1 if c.get("normal_stored_reversed") else 1) for c in contacts]
        assert_near(found["contacts"]["normals"], stored, f"{want['path']} normals")
        assert_near(found["contacts"]["mu"], [[number(c["mu_u"]), number(c["mu_v"])] for c in contacts],
                    f"{want['path']} mu")
        assert found["contacts"]["pairs"] == [[c["a"], c["b"]] for c in contacts]
        row = 0
        for index, joint in enumerate(want["constraints"]):
            row = compare_joint(found, index, row, joint)
        assert len(found["constraints"]["rows"]) == len(want["constraints"])


def test_history_of_ode_is_a_result():
    assert info(shared("bpmd/stack6_gazebo6.h5"))["frames"][0]["results"] == ["ODE_GS"]


# ---- Gazebo -------------------------------------------------------------------------------------------------------

ALL_JOINTS = ["ball", "hinge", "hinge_low", "hinge_high", "hinge_motor", "motor", "ball"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("columns", [2, 3])
def test_gazebo_chain(file, seed, columns):
    frame = make.make_frame(seed, 7, ALL_JOINTS, 6)
    make.write_gazebo(file.create_group(frame_name(1)), frame, columns)
    assert_frame(read_back(file), frame.truth())


@pytest.mark.parametrize("nb, joints, nc", [(1, [], 1), (1, ["hinge_low"], 0), (2, ["ball"], 1), (3, ["motor"], 2),
                                            (2, [], 3), (4, ["hinge", "ball"], 4), (6, ["hinge_motor"] * 5, 0)])
def test_gazebo_of_every_small_size(file, nb, joints, nc):
    frame = make.make_frame(nb, nb, joints, nc)
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    assert_frame(read_back(file), frame.truth())


def test_gazebo_chain_without_a_world_joint_is_recognised_by_its_speeds(file):
    frame = make.make_frame(8, 6, ["hinge", "ball", "hinge_low", "ball"], 3, world_end=False)
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    assert "known from the speeds" in said(info(path), "repairs")


def test_gazebo_chain_at_rest_follows_the_custom_of_its_writer(file):
    frame = make.make_frame(9, 4, ["hinge", "ball", "ball"], 3, world_end=False)
    frame.velocities[:] = 0
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    assert "the convention of Gazebo's writer" in said(info(path), "repairs")


def test_a_flat_file_of_another_writer_is_not_mistaken_for_gazebo(file):
    """Blocks in the order of the pair; the first frame rests, so that only the second one tells."""
    for n, speed in enumerate([0, 1]):
        frame = make.make_frame(10, 4, ["hinge_low", "ball", "hinge_motor"], 3, world_end=False)
        frame.velocities *= speed
        place = file.create_group(frame_name(n + 1))
        make.write_agx(place, frame)
        make.genuine(place["contacts"], "mu_s", frame.mu)
    path = file.filename
    found = read_back(file)
    frame.velocities[:] = 0
    assert_frame(found, frame.truth())
    assert {f["dialect"] for f in info(path)["frames"]} == {"canonical"}


@pytest.mark.parametrize("disabled", [[3], [5, 6, 1]])
def test_disabled_joints_and_their_rows_are_left_out(file, disabled):
    frame = make.make_frame(11, 4, ["hinge_low", "ball", "hinge"], 3)
    make.write_gazebo(file.create_group(frame_name(1)), frame, disabled=disabled)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    assert f"{len(disabled)} of {3 + len(disabled)} joints are disabled" in said(info(path), "repairs")


def test_only_disabled_joints(file):
    frame = make.make_frame(12, 2, [], 3)
    make.write_gazebo(file.create_group(frame_name(1)), frame, disabled=[3, 5])
    assert_frame(read_back(file), frame.truth())


@pytest.mark.parametrize("missing, chosen", [([2], 0), ([1], 1), ([4], 2), ([1, 2, 3], 3), ([2, 3, 4], 0)])
def test_missing_time_step_comes_from_the_nearest_frame(file, missing, chosen):
    steps = [0.01, 0.02, 0.03, 0.04]
    for n in range(4):
        frame = make.make_frame(13, 2, [], 1)
        frame.h = steps[n]
        make.write_gazebo(file.create_group(frame_name(n + 1)), frame, timestep=n + 1 not in missing)
    path = file.filename
    file.close()
    assert read(path, missing[0] - 1)["h"] == steps[chosen]
    assert "timestep: is missing" in said(info(path), "repairs")


def test_a_time_step_far_away_is_not_taken(file):
    file.create_group(frame_name(1))["timestep"] = 0.01
    file.create_group(frame_name(2))
    for number in range(3, 1003):
        file[frame_name(number)] = file[frame_name(2)]
    path = file.filename
    file.close()
    assert read(path, 1000)["h"] == 0.01
    assert "timestep: is missing" in run("info", path, "--frame", 1001, code=3).stderr


def test_friction_of_two_directions(file):
    frame = make.make_frame(14, 3, [], 5)
    frame.mu[:, 1] *= 0.5
    frame.mu[0, 0] = np.inf
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    assert_frame(read_back(file), frame.truth())


def test_three_columns_of_friction_are_mixed_up_so_the_other_array_is_used(file):
    frame = make.make_frame(15, 3, [], 5)
    make.write_gazebo(file.create_group(frame_name(1)), frame, friction_columns=3)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    assert "three columns" in said(info(path), "repairs")


@pytest.mark.parametrize("kind", ["universal_motor_low", "universal_low_motor", "motor3"])
def test_two_bounded_rows_in_one_joint_are_completed_with_a_warning(file, kind):
    frame = make.make_frame(16, 3, ["ball", kind, "ball"], 2)
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    assert "overwritten by the writer" in said(info(path), "warnings")


def test_bounds_that_ode_cannot_have_written_are_dropped_with_a_warning(file):
    frame = make.make_frame(17, 3, ["hinge_low", "ball"], 2)
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    file[frame_name(1)]["constraints/bounds"][:6] = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]
    path = file.filename
    found = read_back(file)
    assert_near(found["constraints"]["bounds"], [FREE] * 9, "bounds")
    assert "treated as unbounded" in said(info(path), "warnings")


def test_sleeping_bodies_are_not_counted(file):
    frame = make.make_frame(18, 5, ["ball", "hinge"], 6, asleep=[1, 4])
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    path = file.filename
    found = read_back(file)
    assert_frame(found, frame.truth())
    assert_near(found["dead_bodies"]["masses"], frame.masses[[1, 4]], "dead_bodies/masses")
    assert info(path)["frames"][0]["bodies"] == 3


def island(rng_seed):
    """Bodies 2 and 3 belong to another island: no gravity in their forces."""
    frame = make.make_frame(rng_seed, 4, [], 4)
    frame.forces[[2, 3]] = 0
    return frame


def test_bodies_of_other_islands_lack_their_weight(file):
    frame = island(19)
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    assert "2 of 4 live bodies have no force at all" in said(info(path), "warnings")


def test_weight_is_filled_in_when_asked_for(file):
    frame = island(20)
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    found = read_back(file, 0, "--fill-gravity", "--gravity-z", "-2", "--gravity-x", "1")
    frame.forces[2:, :3] = np.outer(frame.masses[2:], [1, 0, -2])
    assert_frame(found, frame.truth())


def test_normals_of_world_contacts_are_turned_only_when_asked_for(file):
    frame = make.make_frame(21, 3, [], 8)
    wrong = np.flatnonzero(frame.pairs[:, 0] == WORLD)[:2]
    assert len(wrong) == 2
    right = frame.truth()
    frame.normals = frame.normals.copy()
    frame.normals[wrong] *= -1
    make.write_gazebo(file.create_group(frame_name(1)), frame)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    assert "in 2 of 8 contacts, all with the world" in said(info(path), "warnings")
    assert_frame(read(path, 0, "--flip-world-normals"), right)


def test_the_dialect_can_be_told(file):
    frame = make.make_frame(22, 4, ["hinge_low", "ball"], 3, world_end=False)
    place = file.create_group("simulation_1").create_group(frame_name(1))
    make.write_gazebo(place, frame)
    assert_frame(read_back(file, 0, "--dialect", "gazebo"), frame.truth())


# ---- 2013 ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("nb, joints, nc", [(1, [], 1), (2, [], 4), (4, ["ball", "hinge_low", "hinge_motor"], 6),
                                            (3, [], 3), (6, ["ball"], 2)])
def test_january_2013(file, nb, joints, nc):
    frame = make.make_frame(30 + nb, nb, joints, nc)
    frame.pairs[0] = [WORLD, 1]
    make.write_january2013(file.create_group(frame_name(37)), frame)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    answer = info(path)
    assert answer["dialect"] == "ode2013"
    assert "often wrong" in said(answer, "warnings")


def test_january_2013_without_a_world_contact_is_judged_by_the_other_frames(file):
    frames = [make.make_frame(40 + n, 3, [], 4) for n in range(2)]
    frames[0].pairs[:] = [[1, 2], [2, 3], [1, 3], [3, 1]]
    frames[1].pairs[0] = [WORLD, 2]
    for n, frame in enumerate(frames):
        make.write_january2013(file.create_group(frame_name(n + 1)), frame)
    assert_frame(read_back(file), frames[0].truth())


def test_contacts_of_a_body_with_itself_are_read_as_stored_and_are_faults(file):
    frame = make.make_frame(42, 3, [], 4)
    frame.pairs[:2] = [[WORLD, 1], [2, 2]]
    make.write_january2013(file.create_group(frame_name(1)), frame)
    path = file.filename
    assert_frame(read_back(file), frame.truth())
    assert "contacts/pairs[1]" in run("check", path, code=3).stdout


@pytest.mark.parametrize("joints", [[], ["ball", "hinge_low", "hinge_motor"]])
def test_spring_2013(file, joints):
    frame = make.make_frame(50, 4, joints, 6)
    make.write_spring2013(file.create_group(frame_name(1)), frame)
    assert_frame(read_back(file), frame.truth())


# ---- RPI-sim ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("old", [True, False], ids=["older", "newer"])
@pytest.mark.parametrize("vectors", [True, False], ids=["rank1", "rank2"])
@pytest.mark.parametrize("nb, nc", [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (4, 3), (4, 4),
                                    (6, 2), (6, 9)])
def test_rpisim(file, old, vectors, nb, nc):
    steps = make.rpisim_steps(nb + 10 * nc, nb, nc, 3)
    for n, (after, problem) in enumerate(steps):
        make.write_rpisim(file.create_group(frame_name(n + 1)), after, problem, old, vectors)
    path = file.filename
    file.close()
    for n, (_, problem) in enumerate(steps):
        assert_frame(read(path, n), problem.truth())
    answer = info(path)
    assert answer["dialect"] == "rpisim"
    assert "there is no previous frame" in said(answer, "warnings")


def test_rpisim_frames_that_are_not_steps_in_a_row(file):
    steps = make.rpisim_steps(60, 3, 4, 3)
    for n in (0, 2):
        make.write_rpisim(file.create_group(frame_name(n + 1)), *steps[n], old=False)
    after, problem = steps[2]
    path = file.filename
    problem.velocities = after.velocities
    assert_frame(read_back(file, 1), problem.truth())
    assert "not the previous step" in said(info(path), "warnings")


# ---- AGX and the paper's layout ------------------------------------------------------------------------------------

@pytest.mark.parametrize("nb, joints, nc", [(1, [], 1), (5, ALL_JOINTS[:5], 6), (3, [], 3), (2, ["hinge"], 2)])
def test_agx(file, nb, joints, nc):
    frames = [make.make_frame(70 + n, nb, joints, nc) for n in range(2)]
    simulation = file.create_group("simulation_000000")
    simulation.create_dataset("frame_pictures", data=np.zeros((4, 4, 3), np.uint8))
    for n, frame in enumerate(frames):
        make.write_agx(simulation.create_group(frame_name(n)), frame)
    path = file.filename
    file.close()
    assert [f["path"] for f in info(path)["frames"]] == [f"/simulation_000000/{frame_name(n)}" for n in range(2)]
    for n, frame in enumerate(frames):
        assert_frame(read(path, n), frame.truth())


def test_many_simulations_of_any_numbering(file):
    names = ["simulation_2/mbs_frame7", "simulation_00010/mbs_frame0000003", "mbs_frame12", "mbs_frame000002",
             "simulation_2/mbs_frame000010"]
    for n, name in enumerate(names):
        make.write_agx(file.create_group(name), make.make_frame(80 + n, 2, [], 1))
    file.create_group("not_a_simulation_3/mbs_frame000001")
    file["mbs_frames"] = 1.0
    path = file.filename
    file.close()
    answer = info(path)
    assert [frame["path"] for frame in answer["frames"]] == [
        "/mbs_frame000002", "/mbs_frame12", "/simulation_2/mbs_frame7", "/simulation_2/mbs_frame000010",
        "/simulation_00010/mbs_frame0000003"]
    assert [s["path"] for s in answer["simulations"]] == ["/", "/simulation_2", "/simulation_00010"]
    for n, name in enumerate(names):
        assert_frame(read(path, name), make.make_frame(80 + n, 2, [], 1).truth())


@pytest.mark.parametrize("order, expected", [("pairs", "straight"), ("reversed", "swapped")])
def test_the_attribute_block_order_decides(file, order, expected):
    frame = make.make_frame(90, 4, ["hinge", "ball"], 2)
    place = file.create_group(f"simulation_000001/{frame_name(1)}")
    make.write_agx(place, frame)
    place["constraints"].attrs["block_order"] = order
    if expected == "swapped":
        frame.jacobian = make.swapped(frame.jacobian)
    assert_frame(read_back(file), frame.truth())


def test_ids_in_any_order(file):
    frame = make.make_frame(91, 5, [], 8)
    place = file.create_group(f"simulation_000001/{frame_name(1)}")
    names = np.array([70, 3, 1000000, 4, 5])
    known = frame.pairs > 0
    frame.pairs[known] = names[frame.pairs[known] - 1]
    frame.ids = names
    make.write_agx(place, frame)
    make.genuine(place["bodies"], "ids", names, "<i8")
    assert_frame(read_back(file), frame.truth())


def loosen(group, change):
    """Applies `change` to every data set below the group."""
    found = []
    group.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    for name in found:
        values = group[name][...]
        del group[name]
        changed = change(name, values)
        group.create_dataset(name, data=changed)


def as_lists(name, values):
    return values.ravel() if values.size > 1 else values


def as_doubles(name, values):
    return values.astype(float)


def as_long_integers(name, values):
    return values.astype("<i8") if values.dtype.kind in "iu" else values


def as_big_endian(name, values):
    return values.astype(values.dtype.newbyteorder(">"))


def with_square_scalars(name, values):
    return values.reshape(1, 1) if values.ndim == 0 else values


def as_rows(name, values):
    """Velocities and forces as (nb, 6), tensors as (nb, 9)."""
    if name.endswith(("velocities", "forces")):
        return values.reshape(-1, 6)
    return values.reshape(-1, 9) if name.endswith("tensors") else values


def transposed(name, values):
    return values.T


@pytest.mark.parametrize("change", [as_lists, as_doubles, as_long_integers, as_big_endian, with_square_scalars, as_rows,
                                    transposed])
@pytest.mark.parametrize("nb, joints, nc", [(1, [], 1), (2, ["ball"], 5),
                                            (5, ["ball", "hinge_low", "hinge"], 7)])
def test_types_and_shapes_do_not_matter(file, change, nb, joints, nc):
    frame = make.make_frame(100 + nb, nb, joints, nc)
    place = file.create_group(f"simulation_000001/{frame_name(1)}")
    make.write_agx(place, frame)
    loosen(place, change)
    assert_frame(read_back(file), frame.truth())


@pytest.mark.parametrize("nb, nc", [(2, 2), (3, 3), (3, 2), (4, 4), (6, 3), (1, 2), (1, 3)])
def test_square_tables_are_turned_like_the_others_of_the_frame(file, nb, nc):
    frame = make.make_frame(120 + nb, nb, ["ball"] if nb > 1 else [], nc)
    place = file.create_group(f"simulation_000001/{frame_name(1)}")
    make.write_agx(place, frame)
    loosen(place, transposed)
    assert_frame(read_back(file), frame.truth())


def test_single_precision(file):
    frame = make.rounded_to_float32(make.make_frame(110, 4, ["ball", "hinge_low"], 5))
    place = file.create_group(f"simulation_000001/{frame_name(1)}")
    make.write_agx(place, frame)
    loosen(place, lambda name, values: values.astype("<f4") if values.dtype.kind == "f" else values)
    assert_frame(read_back(file), frame.truth())


def test_chunks_and_compression_do_not_matter(file):
    frame = make.make_frame(111, 4, ["ball", "hinge_low"], 5)
    place = file.create_group(f"simulation_000001/{frame_name(1)}")
    make.write_agx(place, frame)
    for name in ("bodies/positions", "constraints/Jacobian", "contacts/gaps"):
        values = place[name][...]
        del place[name]
        place.create_dataset(name, data=values, chunks=True, compression="gzip", shuffle=True, fletcher32=True)
    assert_frame(read_back(file), frame.truth())


@pytest.mark.parametrize("name, place", [("timestep", "frame"), ("step_size", "frame"), ("h", "frame"), ("dt", "frame"),
                                         ("step_size", "settings"), ("dt", "simulation")])
def test_time_step_by_any_name_in_any_place(file, name, place):
    frame = make.make_frame(112, 2, [], 1)
    simulation = file.create_group("simulation_000001")
    group = simulation.create_group(frame_name(1))
    make.write_agx(group, frame)
    del group["timestep"]
    if place == "settings":  # which makes it a file of RPI-sim unless told otherwise
        group = group.create_group("settings")
    (simulation if place == "simulation" else group)[name] = 0.125
    assert read_back(file, 0, "--dialect", "canonical")["h"] == 0.125


def test_second_tangents_are_checked(file):
    frame = make.make_frame(113, 3, [], 3)
    place = file.create_group(f"simulation_000001/{frame_name(1)}")
    make.write_agx(place, frame)
    u = np.array([np.cross(n, make.random_unit(np.random.default_rng(1))) for n in frame.normals])
    u /= np.linalg.norm(u, axis=1)[:, None]
    v = np.cross(frame.normals, u)
    v[1] *= -1
    v[2] = u[2]
    place["contacts"]["t_u"], place["contacts"]["t_v"] = u, v
    path = file.filename
    found = read_back(file)
    assert_near(found["contacts"]["t_u"], u, "t_u")
    answer = json.loads(run("check", path, "--json", code=3).stdout)
    assert [fault["place"] for fault in answer["faults"]] == [f"/simulation_000001/{frame_name(1)}/contacts/t_v[2]"]
    assert any("t_v[1]" in warning["place"] for warning in answer["warnings"])


def test_manifest_with_a_capital_in_the_root(file):
    group = file.create_group("Manifest")
    group["toolkit"] = "RPI-sim 2013"
    group["keywords"] = np.bytes_("spheres, box")
    group["gravity"] = [0, 0, -980.0]
    make.write_rpisim(file.create_group(frame_name(1)), *make.rpisim_steps(120, 3, 2, 1)[0], old=False)
    path = file.filename
    file.close()
    simulation = info(path)["simulations"][0]
    assert simulation["toolkit"] == "RPI-sim 2013" and simulation["keywords"] == "spheres, box"
    assert simulation["gravity"] == [0, 0, -980]


def test_one_file_of_each_dialect(tmp_path):
    for name, truths in make.all_dialects(tmp_path, 1000).items():
        for n, truth in enumerate(truths):
            assert_frame(read(tmp_path / name, n), truth)


@pytest.mark.parametrize("layout", ["bpmd", "bpmd-flat"])
def test_a_converted_copy_holds_what_was_repaired(tmp_path, layout):
    """Every number the same to the last bit, and nothing left to repair."""
    for name, truths in make.all_dialects(tmp_path, 2000).items():
        copy = tmp_path / f"copy_{name}"
        run("convert", tmp_path / name, copy, "--to", layout)
        assert info(copy)["repairs"] == []
        for n in range(len(truths)):
            original, copied = read(tmp_path / name, n), read(copy, n)
            for group in ("bodies", "dead_bodies", "constraints", "contacts"):
                assert {key: copied[group][key] for key in original[group]} == original[group], f"{name} {n} {group}"


# ---- docs/format.md says what the library believes ------------------------------------------------------------------

FIELD = re.compile(r"SS_FIELD\((\w+), *([\w/]+), *\w+, *(\w+), *(\w+), *(\d+), *(\d+), *(true|false), *[^,]+, *"
                   r'"([^"]*)", *"([^"]*)"\)')
TYPES = {"REAL": "float64", "INT": "int32", "COUNT": "uint64", "BYTE": "uint8", "PAIR": "int32"}
SIZES = {"BODY": "nb", "CONSTRAINT": "nk", "ROW": "nr", "FURTHER": "nf", "CONTACT": "nc", "GROUP": "ng", "SUBCONTACT": "ns",
         "TREE": "nt", "MAP_ROW": "6nb + 1", "MAP_ENTRY": "nm", "MASS_ROW": "nv + 1", "MASS_ENTRY": "ne", "COORDINATE": "nv"}


def shape_text(per, width, columns):
    rows = int(width) // int(columns)
    return f"({rows if rows > 1 else ''}{SIZES[per]}, {columns})"


def documented_arrays():
    rows = {}
    for line in (SOURCE / "docs/format.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        found = re.fullmatch(r"`F/((?:bodies|constraints|contacts|subcontacts|generalized)/[\w/]+)`", cells[0])
        if found and len(cells) >= 6:
            rows[found[1]] = cells[1:6]
    return rows


def test_format_document_agrees_with_the_field_table():
    text = (SOURCE / "src/frame/fields.def").read_text()
    fields = FIELD.findall(text)
    assert len(fields) == len(re.findall(r"^SS_FIELD\(\w", text, re.M))
    documented = documented_arrays()
    never_in_memory = {"contacts/t_v"}
    assert set(documented) - never_in_memory == {f"{group}/{name}" for group, name, *_ in fields}
    for group, name, kind, per, width, columns, optional, unit, meaning in fields:
        cells = documented[f"{group}/{name}"]
        assert cells[:3] == [TYPES[kind], shape_text(per, width, columns), unit], f"{group}/{name}"
        assert re.fullmatch("no" if optional == "true" else "yes|no: .+", cells[4]), f"{group}/{name}: required?"
        assert cells[3], f"{group}/{name}: no meaning"
