"""The 3-D replay: the page holds what the file holds, contact states are those of the metrics, the page stays below its
limit, and the server answers whom it should and nobody else."""
import base64
import http.client
import json
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import time
import zlib
from contextlib import contextmanager

import h5py
import numpy as np
import pytest

from make_dialects import rotation
from shared_data import shared
from test_cli import BAD_INPUT, DONE, PROGRAM, RESOURCES, USAGE, here, run, run_json

FRAME = "/simulation_000001/mbs_frame%06d"
TRIMMED = 2.0 ** -15  # numbers of contacts keep 16 bits of mantissa


# ---- reading a page as web/src/view/data.ts tells ---------------------------------------------------------------

def blocks_of(html):
    found = re.findall(r'<script type="([a-z/-]+)" id="([a-z0-9-]+)">(.*?)</script>', html, re.S)
    return {name: text for kind, name, text in found if kind.startswith("application/")}


class Reader:
    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, kind, *shape):
        values = np.frombuffer(self.raw, kind, int(np.prod(shape)), self.at).reshape(shape)
        self.at += (values.nbytes + 3) // 4 * 4
        return values


def decode(replay, raw_chunks):
    answers = sum(result["answers"] for result in replay["results"])
    ends = replay["chunks"][1:] + [len(replay["frames"])]
    frames = []
    for first, end, raw in zip(replay["chunks"], ends, raw_chunks):
        r = Reader(raw)
        for info in replay["frames"][first:end]:
            b, s, j, c = info["bodies"], info["scenery"], info.get("joints", 0), info["contacts"]
            frame = dict(id=r.take("<i4", b), position=r.take("<f4", b, 3), quaternion=r.take("<i2", b, 4) / 32767,
                         mass=r.take("<f4", b), velocity=r.take("<f4", b, 6), scenery=r.take("<f4", s, 3),
                         turns=r.take("<i2", s, 4) / 32767, joint_pair=r.take("<i4", j, 2),
                         joint_point=r.take("<f4", j, 3), joint_axis=r.take("<f4", j, 3),
                         joint_error=r.take("<f4", j, 2), pair=r.take("<i4", c, 2), point=r.take("<f4", c, 3),
                         normal=r.take("<f4", c, 3), gap=r.take("<f4", c), mu=r.take("<f4", c))
            if info.get("alternatives"):
                frame["alternative"] = r.take("<i2", c, 2)
            frame["results"] = [dict(impulse=r.take("<f4", c), friction=r.take("<f4", c, 3),
                                     sliding=r.take("<f4", c, 3), energy=r.take("<f4", c), state=r.take("u1", c),
                                     joint_impulse=r.take("<f4", j, 3))
                                for _ in range(answers)]
            frames.append(frame)
        assert r.at == len(raw)
    assert len(frames) == len(replay["frames"])
    return frames


def chunks_of(blocks, replay, name):
    return [zlib.decompress(base64.b64decode(blocks[f"{name}-{k}"], validate=True)) for k in range(len(replay["chunks"]))]


def page(path):
    blocks = blocks_of(path.read_text())
    replay = json.loads(blocks["replay"])
    assert sorted(blocks) == sorted(["replay"] + [f"chunk-{k}" for k in range(len(replay["chunks"]))])
    return replay, decode(replay, chunks_of(blocks, replay, "chunk"))


def close(a, b, relative=TRIMMED, absolute=1e-30):
    return np.allclose(np.asarray(a, float), np.asarray(b, float), rtol=relative, atol=absolute)


def series(owner, name):
    return next(s["values"] for s in owner["series"] if s["name"] == name)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "logs.h5"
    run("run", "log-pile", "-p", "count=12", "--steps", "40", "--record", path, "--every", "2")
    return path


@pytest.fixture
def recording(recorded, here):
    shutil.copy(recorded, "logs.h5")


# ---- the page holds the file ------------------------------------------------------------------------------------

def test_page_holds_what_the_file_holds(recording, here):
    run("view", "logs.h5", "-o", "replay.html")
    replay, frames = page(here / "replay.html")
    told = run_json("info", "logs.h5")
    assert replay["total"] == len(frames) == len(told["frames"]) == 20 and not replay["decimated"]
    assert replay["file"] == "logs.h5" and replay["simulation"] == "/simulation_000001"
    assert replay["gravity"] == [0, 0, -9.81]
    assert replay["states"] == ["open", "sticking", "sliding", "driving friction"]
    for i, (info, summary) in enumerate(zip(replay["frames"], told["frames"])):
        assert info["path"] == summary["path"] and info["h"] == summary["h"] and info["time"] == summary["time"]
        assert info["bodies"] == summary["bodies"] and info["contacts"] == summary["contacts"]
        assert close(series(replay, "kinetic energy")[i], summary["kinetic_energy"], 1e-6)
        assert close(series(replay, "deepest overlap")[i], summary["max_penetration"], 1e-6)
        assert series(replay, "contacts")[i] == summary["contacts"]
    for number in (0, 12, 19):
        full = run_json("info", "logs.h5", "--frame", str(number), "--full")
        frame, bodies, contacts = frames[number], full["bodies"], full["contacts"]
        assert close(frame["position"], bodies["positions"], 1e-7)
        assert np.abs(frame["quaternion"] - np.array(bodies["quaternions"])).max() < 2e-5
        assert close(frame["mass"], bodies["masses"], 1e-7)
        assert close(frame["velocity"], np.array(bodies["velocities"]).reshape(-1, 6), absolute=1e-7)
        if number:
            ids = np.where(frame["pair"] < 0, -1, frame["id"][frame["pair"]])
            assert (ids == contacts["pairs"]).all()
            assert close(frame["point"], contacts["points"], absolute=1e-7)
            assert close(frame["gap"], contacts["gaps"], 1e-7)


def test_answers_and_metrics_are_those_of_the_file(recording, here):
    run("view", "logs.h5", "-o", "replay.html")
    replay, frames = page(here / "replay.html")
    assert [(r["solver"], r["answers"]) for r in replay["results"]] == [("batched-nncg", True)]
    result = replay["results"][0]
    with h5py.File("logs.h5") as file:
        for i, frame in enumerate(frames):
            stored = file[FRAME % (i + 1)]["solver_data/batched-nncg"]
            for name, data in stored["metrics"].items():
                if name != "contact_energy":
                    assert close(series(result, name)[i], data[()], 1e-6)
            assert series(result, "iterations")[i] == stored["iterations"][()]
            if "normal" not in stored:
                continue
            shown = frame["results"][0]
            assert close(shown["impulse"], np.ravel(stored["normal"]))
            assert close(shown["friction"], np.reshape(stored["tangent"], (-1, 3)))
            assert close(shown["energy"], np.ravel(stored["metrics/contact_energy"]))
            count = [int((shown["state"] == k).sum()) for k in range(4)]
            assert count[1] == stored["metrics/sticking"][()]
            assert count[2] + count[3] == stored["metrics/sliding"][()]
            assert count[3] == stored["metrics/anomalous_contacts"][()]


def test_joints_are_where_their_rows_say(here):
    """Rows hold points and directions, from which place and axis follow, also in files of other programs."""
    run("run", "cart", "--steps", "20", "--record", "cart.h5")
    run("view", "cart.h5", "-o", "cart.html")
    _, frames = page(here / "cart.html")
    for frame in frames[::7]:  # wheels turn about their centres, across the slope
        assert frame["joint_pair"].tolist() == [[0, 1], [0, 2], [0, 3], [0, 4]]
        assert close(frame["joint_point"], frame["position"][1:], 1e-5, 1e-6)
        assert close(np.abs(frame["joint_axis"]), [[0, 1, 0]] * 4, 1e-4, 1e-6)
    run("run", "hanging-rod", "--steps", "30", "--record", "rod.h5")
    run("view", "rod.h5", "-o", "rod.html")
    _, frames = page(here / "rod.html")
    for frame in frames:  # a ball joint has a place, which stays, and no axis
        assert close(frame["joint_point"], frames[0]["joint_point"], absolute=2e-5) and not frame["joint_axis"].any()
    run("run", "grasped-block", "--steps", "3", "--record", "grasp.h5")
    run("view", "grasp.h5", "-o", "grasp.html")
    _, frames = page(here / "grasp.html")
    assert close(np.abs(frames[0]["joint_axis"]), [[1, 0, 0]] * 2, 1e-4, 1e-6)  # two slides along x
    run("run", "mass-ratio-grasp", "--steps", "3", "--record", "hand.h5")
    run("view", "hand.h5", "-o", "hand.html")
    _, frames = page(here / "hand.html")
    assert len(frames[0]["joint_pair"]) == 8  # lift, wrist and six links; the motor of the lift has no place of its own


def test_joint_impulses_balance_momentum_and_errors_are_those_of_rows(here):
    run("run", "hanging-rod", "--steps", "20", "--record", "rod.h5")
    run("view", "rod.h5", "-o", "rod.html")
    replay, frames = page(here / "rod.html")
    assert replay["title"].startswith("hanging-rod: a rod swings")  # of the description, which is no title
    with h5py.File(here / "rod.h5") as file:
        for k, frame in enumerate(frames):
            stored = file[FRAME % (k + 1)]
            before, after = stored["bodies/velocities"][:3, 0], stored["solver_data/batched-nncg/velocities"][:3, 0]
            change = stored["bodies/masses"][()] * (after - before) - stored["timestep"][()] * stored["bodies/forces"][:3, 0]
            assert close(frame["joint_error"], [[np.linalg.norm(stored["constraints/violations"][()]), 0]], absolute=1e-12)
            sign = 1 if frame["joint_pair"][0, 1] == 0 else -1  # the impulse is on b
            assert close(sign * frame["results"][0]["joint_impulse"][0], change, absolute=1e-9)


def test_joints_on_more_than_two_bodies_link_them(here):
    run("run", "forklift", "--steps", "40", "--every", "39", "--record", "truck.h5", "--quiet")
    run("view", "truck.h5", "-o", "truck.html")
    replay, frames = page(here / "truck.html")
    # eleven hinges and slides; transmission (3 bodies) and differential (4) have 2 and 3 links, the converter (3) two more
    # once its shafts turn
    assert [info["joints"] for info in replay["frames"]] == [11 + 2 + 3, 11 + 2 + 2 + 3]
    with h5py.File("truck.h5") as file:
        stored = file["simulation_000001/mbs_frame000002/constraints"]
        ids = file["simulation_000001/mbs_frame000002/bodies/ids"][:, 0]
        further = {int(np.flatnonzero(ids == one)[0]) for one in stored["further_bodies"][:, 0]}
    pairs = frames[1]["joint_pair"][11:]
    assert further <= {int(one) for one in pairs[:, 1]}
    centres = frames[1]["position"][pairs[:, 1]]
    assert np.allclose(frames[1]["joint_point"][11:], centres)


def test_potential_energy_is_of_gravity(recording, here):
    run("view", "logs.h5", "-o", "replay.html")
    replay, frames = page(here / "replay.html")
    for value, frame in zip(series(replay, "potential energy"), frames):
        assert close(value, 9.81 * float(frame["mass"] @ frame["position"][:, 2]), 1e-5)


def test_two_recordings_in_step(here):
    """The second is matched by time: its step is not that of the first, and it ends earlier."""
    run("run", "box-drop", "--steps", "20", "--record", "a.h5")
    run("run", "box-drop", "--steps", "25", "-s", "pgs", "--iterations", "10", "--dt", "0.007", "--record", "b.h5", code=None)
    run("view", "a.h5", "b.h5", "-o", "both.html")
    blocks = blocks_of((here / "both.html").read_text())
    replay = json.loads(blocks["replay"])
    other = replay["other"]
    first, second = (decode(r, chunks_of(blocks, r, name)) for r, name in ((replay, "chunk"), (other, "other")))
    assert other["file"] == "b.h5" and len(other["frames"]) == 25 and not any(f["contacts"] for f in other["frames"])
    times, theirs = ([f["time"] for f in r["frames"]] for r in (replay, other))
    assert all((f["id"] == first[0]["id"]).all() for f in first + second)
    places = np.array([f["position"] for f in second])
    compared = 0
    for k, (time_, largest, rms) in enumerate(zip(times, series(replay, "largest distance of bodies"),
                                                  series(replay, "rms distance of bodies"))):
        if time_ > theirs[-1]:
            assert largest is None and rms is None
            continue
        place = [[np.interp(time_, theirs, places[:, b, c]) for c in range(3)] for b in range(places.shape[1])]
        apart = np.linalg.norm(first[k]["position"] - place, axis=1)
        assert close(largest, apart.max(), 1e-3, 1e-6) and close(rms, np.sqrt((apart ** 2).mean()), 1e-3, 1e-6)  # 24 bits of places
        compared += 1
    assert 10 < compared < 20


def test_two_recordings_that_do_not_belong_together(recording, here):
    run("run", "box-drop", "--steps", "2", "--record", "drop.h5")
    said = run("view", "logs.h5", "drop.h5", "-o", "x.html", code=BAD_INPUT).stderr
    assert re.search(r"logs.h5 and drop.h5 do not show the same bodies \(\d+ and 25, matched by their ids\): body \d+ is only in", said)
    shutil.copy("drop.h5", "late.h5")
    with h5py.File("late.h5", "r+") as file:
        for frame in file["simulation_000001"].values():
            if "time" in frame:
                frame["time"][()] += 100
    assert "no common time" in run("view", "drop.h5", "late.h5", "-o", "x.html", code=BAD_INPUT).stderr
    with h5py.File("late.h5", "r+") as file:
        for frame in file["simulation_000001"].values():
            if "time" in frame:
                frame["time"][()] = 0
    assert "late.h5: its frames have no rising times" in run("view", "drop.h5", "late.h5", "-o", "x.html", code=BAD_INPUT).stderr
    assert "no.h5" in run("view", "drop.h5", "no.h5", "-o", "x.html", code=BAD_INPUT).stderr
    assert "unexpected argument 'third.h5'" in run("view", "drop.h5", "late.h5", "third.h5", "-o", "x.html", code=USAGE).stderr


def test_choices_of_frames_and_contacts(recording, here):
    run("view", "logs.h5", "-o", "replay.html", "--frame", "4:15", "--every", "5", "--no-contacts", "--title", "a </script> b")
    replay, frames = page(here / "replay.html")
    assert [info["path"] for info in replay["frames"]] == [FRAME % n for n in (5, 10, 15)]
    assert all(info["contacts"] == 0 for info in replay["frames"]) and not replay["decimated"]
    assert replay["title"] == "a </script> b" and replay["total"] == 20
    assert max(series(replay, "contacts")) > 0  # the curve is of the frames themselves


def test_page_stays_below_its_limit(here):
    run("run", "log-pile", "-p", "count=25", "--steps", "120", "--record", "logs.h5")
    run("view", "logs.h5", "-o", "one.html", "--frame", "0")
    empty = (here / "one.html").stat().st_size / 1e6
    for limit in (empty + 0.1, empty + 0.25):
        run("view", "logs.h5", "-o", "replay.html", "--max-size", f"{limit:.6f}")
        size = (here / "replay.html").stat().st_size / 1e6
        replay, frames = page(here / "replay.html")
        numbers = [int(info["path"][-6:]) for info in replay["frames"]]
        strides = set(np.diff(numbers))
        assert size <= limit and replay["decimated"] and replay["total"] == 120
        assert len(strides) == 1 and numbers[0] == 1 and len(frames) > 3
        stride = strides.pop()
        assert (size - empty) * stride / (stride - 1) > 0.8 * (limit - empty)  # with one stride less it would not fit


def test_a_frame_too_large_for_the_limit_is_said(recording):
    ended = run("view", "logs.h5", "-o", "replay.html", "--max-size", "0.1", code=None)
    assert ended.returncode in (USAGE, RESOURCES) and "MB" in ended.stderr


# ---- contact states ---------------------------------------------------------------------------------------------

def write_planted(path):
    """Four bodies of 1 kg on the ground: one sticks, one slips, one is let go, one is pushed by its friction. A second
    frame has no answer."""
    n, h, weight = 4, 0.01, 9.81
    with h5py.File(path, "w") as file:
        simulation = file.create_group("simulation_000001")
        simulation.attrs["bpmd_format"] = np.bytes_(b"BPMD-2015")
        for number in (1, 2):
            frame = simulation.create_group("mbs_frame%06d" % number)
            frame["timestep"] = h
            bodies, contacts = frame.create_group("bodies"), frame.create_group("contacts")
            bodies["masses"] = np.ones((n, 1))
            bodies["positions"] = np.array([[i, 0, 0.5] for i in range(n)], float)
            bodies["quaternions"] = np.tile([1.0, 0, 0, 0], (n, 1))
            bodies["velocities"] = np.zeros((6 * n, 1))
            bodies["forces"] = np.tile([0, 0, -weight, 0, 0, 0], n).reshape(-1, 1)
            bodies["world_inertia_tensors"] = np.tile(np.eye(3), (n, 1))
            bodies["ids"] = np.arange(11, 11 + n, dtype="i4").reshape(-1, 1)
            bodies["states"] = np.ones((n, 1), "i4")
            contacts["pairs"] = np.array([[-1, 11 + i] for i in range(n)], "i4")
            contacts["points"] = np.array([[i, 0, 0] for i in range(n)], float)
            contacts["normals"] = np.tile([0.0, 0, 1], (n, 1))
            contacts["gaps"] = np.zeros((n, 1))
            contacts["mu_k"] = np.full((n, 2), 0.5)
            constant = frame.create_group("solver_data/gauss")
            constant["errors"] = np.array([[1.0], [0.5]])
            if number == 2:
                continue
            answer = frame.create_group("solver_data/planted")
            push, limit = h * weight, 0.5 * h * weight
            velocities = np.zeros((n, 6))
            velocities[1, 0] = velocities[3, 0] = 2.0
            velocities[2, 2] = 1.0
            answer["velocities"] = velocities.reshape(-1, 1)
            answer["normal"] = np.array([[push], [push], [0], [push]])
            answer["tangent"] = np.array([[limit / 3, 0, 0], [-limit, 0, 0], [0, 0, 0], [limit, 0, 0]])


def test_planted_states_are_seen(here):
    write_planted(here / "planted.h5")
    run("check", "planted.h5")
    run("view", "planted.h5", "-o", "replay.html")
    replay, frames = page(here / "replay.html")
    assert replay["states"] == ["open", "sticking", "sliding", "driving friction", "unknown"]
    assert [(r["solver"], r["answers"]) for r in replay["results"]] == [("gauss", False), ("planted", True)]
    assert frames[0]["id"].tolist() == [11, 12, 13, 14]
    assert frames[0]["pair"].tolist() == [[-1, 0], [-1, 1], [-1, 2], [-1, 3]]
    seen, missing = frames[0]["results"][0], frames[1]["results"][0]
    assert [replay["states"][k] for k in seen["state"]] == ["sticking", "sliding", "open", "driving friction"]
    assert close(seen["sliding"], [[0, 0, 0], [2, 0, 0], [0, 0, 0], [2, 0, 0]])
    assert [replay["states"][k] for k in missing["state"]] == ["unknown"] * 4 and not missing["impulse"].any()
    planted = replay["results"][1]
    assert series(planted, "sticking") == [1, None] and series(planted, "sliding") == [2, None]
    assert series(planted, "anomalous_contacts") == [1, None]
    # the errors of contacts add up to the metric, since there are no joints
    assert close(seen["energy"].sum(), series(planted, "energy")[0], 1e-4)
    assert seen["energy"][3] > 100 * seen["energy"][1]
    assert replay["gravity"] is None and "potential energy" not in [s["name"] for s in replay["series"]]


def test_results_are_chosen_by_name(here):
    write_planted(here / "planted.h5")
    run("view", "planted.h5", "-o", "replay.html", "--results", "planted,gauss")
    assert [r["solver"] for r in page(here / "replay.html")[0]["results"]] == ["planted", "gauss"]
    run("view", "planted.h5", "-o", "replay.html", "--results", "gauss")
    replay, frames = page(here / "replay.html")
    assert [r["solver"] for r in replay["results"]] == ["gauss"] and frames[0]["results"] == []
    ended = run("view", "planted.h5", "-o", "replay.html", "--results", "nobody", code=BAD_INPUT)
    assert "nobody" in ended.stderr


def test_faulty_frames_are_named_and_left_out(recording, here):
    with h5py.File("logs.h5", "r+") as file:
        file[FRAME % 3]["bodies/masses"][0, 0] = -1.0
        del file[FRAME % 5]["bodies/positions"]
    ended = run("view", "logs.h5", "-o", "replay.html")
    assert "mbs_frame000003" in ended.stderr and "mbs_frame000005" in ended.stderr
    numbers = [int(info["path"][-6:]) for info in page(here / "replay.html")[0]["frames"]]
    assert numbers == [n for n in range(1, 21) if n not in (3, 5)]


def test_files_of_other_programs_are_shown(here):
    for name in ("stack6_gazebo6", "chain10_gazebo6", "ode_january2013", "sphere1_gazebo11"):
        run("view", shared(f"bpmd/{name}.h5"), "-o", "replay.html")
        replay, frames = page(here / "replay.html")
        faulty = 4 if name == "ode_january2013" else 0
        assert frames and replay["boxes"] and replay["total"] == len(frames) + faulty


def test_bodies_without_shapes_are_boxes_of_their_inertia(recording, here):
    with h5py.File("logs.h5", "r+") as file:
        del file["simulation_000001/shapes"]
    run("view", "logs.h5", "-o", "replay.html")
    replay, _ = page(here / "replay.html")
    bodies = run_json("info", "logs.h5", "--frame", "0", "--full")["bodies"]
    assert replay["boxes"] and [shape["id"] for shape in replay["shapes"]] == list(range(1, 13))
    for shape, mass, pose, inertia in zip(replay["shapes"], bodies["masses"], bodies["quaternions"], bodies["inertias"]):
        a, b, c = np.square(shape["size"])
        turned = rotation(pose) @ rotation(shape["quaternion"])
        of_box = turned @ np.diag([b + c, c + a, a + b]) @ turned.T * mass / 12
        assert shape["kind"] == "box" and np.allclose(of_box, np.reshape(inertia, (3, 3)), rtol=1e-9, atol=1e-9 * mass)


# ---- shapes -----------------------------------------------------------------------------------------------------

def test_shapes_travel_with_every_copy(recording, here):
    run("convert", "logs.h5", "copy.h5", "--to", "bpmd")
    run("solve", "copy.h5", "--frame", "10:12", "-s", "nsgs", "-o", "solved.h5", code=None)
    shapes = []
    for name in ("logs.h5", "copy.h5", "solved.h5"):
        run("view", name, "-o", "replay.html")
        shapes.append(page(here / "replay.html")[0]["shapes"])
    assert shapes[0] == shapes[1] == shapes[2] and len(shapes[0]) == 16
    assert sorted(shape["id"] for shape in shapes[0] if shape["id"]) == list(range(1, 13))
    with h5py.File("logs.h5") as file:
        group = file["simulation_000001/shapes"]
        assert (np.ravel(group["bodies"]) == [shape["id"] for shape in shapes[0]]).all()
        assert close(group["sizes"], [shape["size"] for shape in shapes[0]], 0)
        assert group["sizes"].attrs["unit"] == b"m"
    lost = run("convert", "logs.h5", "flat.h5", "--to", "bpmd-flat")
    assert "shapes" in lost.stderr
    assert run_json("info", "logs.h5")["simulations"][0]["shapes"] == 16


def test_equal_meshes_are_stored_and_shown_once(here):
    run("run", "masonry-arch", "--steps", "2", "--record", "arch.h5")
    run("view", "arch.h5", "-o", "replay.html")
    replay, _ = page(here / "replay.html")
    hulls = [shape for shape in replay["shapes"] if shape["kind"] == "hull"]
    assert hulls and {shape["mesh"] for shape in hulls} == set(range(len(replay["meshes"])))
    for mesh in replay["meshes"]:
        assert min(mesh["triangles"]) == 0 and max(mesh["triangles"]) == len(mesh["vertices"]) // 3 - 1
    assert len({json.dumps(mesh) for mesh in replay["meshes"]}) == len(replay["meshes"])


def test_a_recording_that_was_resumed_has_its_shapes_once(here):
    once = ["run", "domino", "--record", "once.h5", "--steps", "8"]
    parts = ["run", "domino", "--record", "parts.h5", "--checkpoint", "state"]
    run(*once)
    run(*parts, "--steps", "4")
    run(*parts, "--steps", "8", "--resume")
    with h5py.File("once.h5") as one, h5py.File("parts.h5") as other:
        assert list(one["simulation_000001"]) == list(other["simulation_000001"])
        for name, data in one["simulation_000001/shapes"].items():
            assert (data[()] == other["simulation_000001/shapes"][name][()]).all()
    hashes = [[frame["hash"] for frame in run_json("info", name)["frames"]] for name in ("once.h5", "parts.h5")]
    assert hashes[0] == hashes[1] and len(hashes[0]) == 8


def write_shapes(path):
    """A shape of every kind, a kind nobody knows, and a piece of moving scenery: docs/format.md by hand."""
    kinds = list(range(9)) + [99]
    n = len(kinds)
    with h5py.File(path, "r+") as file:
        group = file.create_group("simulation_000001/shapes")
        column = lambda values, kind: np.array(values, kind).reshape(-1, 1)
        group["kinds"] = column(kinds, "i4")
        group["bodies"] = column([11] * 5 + [0] * (n - 5), "i4")
        group["scenery"] = column([-1] * 5 + [0] + [-1] * (n - 6), "i4")
        group["sizes"] = np.tile([0.5, 0.25, 0.125], (n, 1))
        group["positions"] = np.arange(3.0 * n).reshape(n, 3)
        group["quaternions"] = np.tile([1.0, 0, 0, 0], (n, 1))
        group["colours"] = column([0xff8000] * n, "i4")
        group["ghosts"] = column([0] * (n - 1) + [1], "u1")
        group["meshes"] = column([0 if kind in (6, 7) else -1 for kind in kinds], "i4")
        group["mesh_sizes"] = np.array([[4, 4]], "i4")
        group["vertices"] = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
        group["triangles"] = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], "i4")
        group["grids"] = np.array([[3, 2] if kind == 8 else [0, 0] for kind in kinds], "i4")
        group["heights"] = column([0, 1, 2, 3, 4, 5], float)
        for number in (1, 2):
            scenery = file[FRAME % number].create_group("scenery")
            scenery["positions"] = np.array([[number, 2.0, 3.0]])
            scenery["quaternions"] = np.array([[0.0, 0, 0.6, -0.8]])


def test_every_kind_of_shape_is_shown(here):
    write_planted(here / "planted.h5")
    write_shapes(here / "planted.h5")
    assert "kinds[9]: unknown kind of shape 99" in run("view", "planted.h5", "-o", "replay.html").stderr
    run("check", "planted.h5")
    replay, frames = page(here / "replay.html")
    shapes = replay["shapes"]
    assert [shape["kind"] for shape in shapes] == ["sphere", "plane", "box", "capsule", "cylinder", "ellipsoid", "hull", "mesh",
                                                   "heightfield"]
    assert [shape["id"] for shape in shapes] == [11] * 5 + [0] * 4
    assert [shape["scenery"] for shape in shapes] == [-1] * 5 + [0] + [-1] * 3
    assert [shape["mesh"] for shape in shapes] == [-1] * 6 + [0, 0, 1]
    assert all(shape["size"] == [0.5, 0.25, 0.125] and shape["colour"] == 0xff8000 for shape in shapes)
    assert shapes[2]["position"] == [6, 7, 8] and shapes[2]["quaternion"] == [1, 0, 0, 0]
    assert replay["meshes"][0]["triangles"] == [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    corners, faces = (np.reshape(replay["meshes"][1][key], (-1, 3)) for key in ("vertices", "triangles"))
    assert corners.tolist() == [[-0.5, -0.125, 0], [0, -0.125, 1], [0.5, -0.125, 2],
                                [-0.5, 0.125, 3], [0, 0.125, 4], [0.5, 0.125, 5]]
    edges = corners[faces[:, 1:]] - corners[faces[:, :1]]
    areas = np.cross(edges[:, 0], edges[:, 1])[:, 2] / 2
    assert (areas > 0).all() and areas.sum() == 0.25  # seen from above, and all of it
    assert [frame["scenery"].tolist() for frame in frames] == [[[1, 2, 3]], [[2, 2, 3]]]
    assert np.abs(frames[1]["turns"] - [[0, 0, 0.6, -0.8]]).max() < 2e-5


def test_broken_shapes_cost_the_picture_not_the_replay(recording, here):
    with h5py.File("logs.h5", "r+") as file:
        file["simulation_000001/shapes/sizes"][0, 0] = np.nan
    ended = run("view", "logs.h5", "-o", "replay.html")
    assert "shapes/sizes[0]" in ended.stderr
    assert page(here / "replay.html")[0]["boxes"]
    run("check", "logs.h5", code=BAD_INPUT)


# ---- usage ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options, code, word", [
    ([], USAGE, "-o"),
    (["-o", "x.html", "--serve"], USAGE, "--serve"),
    (["-o", "planted.h5"], USAGE, "input"),
    (["-o", "x.gif"], USAGE, "expected .html (the page) or .png"),
    (["-o", "x.html", "--simulation", "2"], USAGE, "simulation"),
    (["-o", "x.html", "--frame", "7:9"], USAGE, "frames"),
    (["-o", "x.html", "--frame", "2:1"], USAGE, "--frame"),
    (["-o", "x.html", "--frame", "a"], USAGE, "--frame"),
    (["-o", "x.html", "--results", "a,b,c,d,e,f,g,h,i"], USAGE, "--results"),
    (["-o", "no/such/directory.html"], RESOURCES, "no/such"),
])
def test_what_cannot_be_done_is_said(here, options, code, word):
    write_planted(here / "planted.h5")
    ended = run("view", "planted.h5", *options, code=None)
    assert ended.returncode == code, ended.stderr
    assert word in ended.stderr and not (here / "x.html").exists()


def test_a_picture_shows_the_first_frame(recording, here):
    run("view", "logs.h5", "--picture", "first.png")
    run("view", "logs.h5", "--picture", "later.png", "--frame", "2", "-o", "later.html")
    run("view", "logs.h5", "-o", "alone.png", "--frame", "2")
    first, later = (open(f"{name}.png", "rb").read() for name in ("first", "later"))
    assert open("alone.png", "rb").read() == later
    for picture in (first, later):
        assert picture[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", picture[16:24]) == (720, 480)
        data = zlib.decompress(picture[picture.index(b"IDAT") + 4:picture.rindex(b"IEND")][:struct.unpack(
            ">I", picture[picture.index(b"IDAT") - 4:picture.index(b"IDAT")])[0]])
        assert len(set(data)) > 20  # something was drawn
    assert first != later


def test_fclib_has_nothing_to_show():
    ended = run("view", shared("fclib/GFC3D_OneContact.hdf5"), "-o", "x.html", code=BAD_INPUT)
    assert "bodies" in ended.stderr


# ---- the server -------------------------------------------------------------------------------------------------

@contextmanager
def serving(*arguments):
    server = subprocess.Popen([PROGRAM, "view", *map(str, arguments), "--serve", "--port", "0"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        address = server.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address), server.stderr.read()
        yield server, int(address.rstrip("/").rsplit(":", 1)[1])
    finally:
        if server.poll() is None:
            server.kill()
        server.wait()
        server.stdout.close()
        server.stderr.close()


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "planted.h5"
    write_planted(path)
    with serving(path) as (server, number):
        yield number
        assert server.poll() is None  # it outlived all of this
        server.send_signal(signal.SIGTERM)
        assert server.wait(5) == DONE


def get(port, path, method="GET", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers=headers or {})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    return reply, body


def ask(port, request, seconds=10):
    """Raw bytes to the server; what it says until it hangs up."""
    with socket.create_connection(("127.0.0.1", port), seconds) as client:
        try:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it may have had enough already
        said = b""
        while part := client.recv(65536):
            said += part
    return said


def status(said):
    match = re.match(rb"HTTP/1\.1 (\d{3}) [A-Za-z ]+\r\n", said)
    assert match, said[:100]
    head, body = said.split(b"\r\n\r\n", 1)
    assert int(re.search(rb"\r\nContent-Length: (\d+)", head).group(1)) == len(body)
    assert b"\r\nCache-Control: no-store" in head and b"\r\nConnection: close" in head
    return int(match.group(1))


def test_served_page_and_data_are_those_of_the_file(port):
    reply, html = get(port, "/")
    assert reply.status == 200 and reply.getheader("Content-Type") == "text/html; charset=utf-8"
    assert reply.getheader("Cache-Control") == "no-store" and int(reply.getheader("Content-Length")) == len(html)
    assert blocks_of(html.decode()) == {}
    reply, text = get(port, "/replay.json?again")
    replay = json.loads(text)
    assert reply.status == 200 and replay["total"] == 2
    chunks = [get(port, f"/chunk/{k}")[1] for k in range(len(replay["chunks"]))]
    frames = decode(replay, [zlib.decompress(chunk) for chunk in chunks])
    assert frames[0]["results"][0]["state"].tolist() == [1, 2, 0, 3]
    reply, nothing = get(port, "/replay.json", "HEAD")
    assert reply.status == 200 and nothing == b"" and int(reply.getheader("Content-Length")) == len(text)


def test_a_second_recording_is_served_as_well(tmp_path):
    write_planted(tmp_path / "planted.h5")
    with h5py.File(tmp_path / "planted.h5", "r+") as file:
        for k, frame in enumerate(file["simulation_000001"][name] for name in sorted(file["simulation_000001"]) if "frame" in name):
            if "time" not in frame:
                frame["time"] = 0.1 * k
    with serving(tmp_path / "planted.h5", tmp_path / "planted.h5") as (_, number):
        other = json.loads(get(number, "/replay.json")[1])["other"]
        frames = decode(other, [zlib.decompress(get(number, f"/other/{k}")[1]) for k in range(len(other["chunks"]))])
        assert len(frames) == 2 and len(frames[0]["gap"]) == 0
        assert get(number, f"/other/{len(other['chunks'])}")[0].status == 404


@pytest.mark.parametrize("path", ["/nothing", "/other/0", "/chunk/", "/chunk/1", "/chunk/-1", "/chunk/+0", "/chunk/0x0", "/chunk/00000000000000000000001",
                                  "/chunk/9999999999999999999", "/chunk/0/", "//", "/../etc/passwd", "/%2e%2e/x",
                                  "/chunk/../replay.json", "/replay.json/", "/REPLAY.JSON", "/chunk/0%00", "/."])
def test_other_paths_are_not_there(port, path):
    assert get(port, path)[0].status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "GETT", "get"])
def test_other_methods_are_refused(port, method):
    said = ask(port, f"{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert status(said) == 405 and b"\r\nAllow: GET, HEAD\r\n" in said


@pytest.mark.parametrize("request_line", [
    b"", b"GET", b"GET /", b"GET / HTTP/2.0", b"GET / HTTP/1.1 x", b"GET  / HTTP/1.1", b" GET / HTTP/1.1", b"GET / http/1.1",
    b"GET http://localhost/ HTTP/1.1", b"GET nothing HTTP/1.1", b"GET /\x00 HTTP/1.1", b"GET /\xff HTTP/1.1", b"G\x01T / HTTP/1.1",
    b"GET\t/\tHTTP/1.1", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"])
def test_what_is_no_request_is_refused(port, request_line):
    assert status(ask(port, request_line + b"\r\nHost: localhost\r\n\r\n")) == 400


@pytest.mark.parametrize("headers", [
    b"", b"Host localhost\r\n", b"Host : localhost\r\n", b"Host: localhost\r\nHost: localhost\r\n", b": x\r\nHost: localhost\r\n",
    b"Host: localhost\r\n folded\r\n", b"Host: localhost\r\nX\x00Y: 1\r\n"])
def test_bad_headers_are_refused(port, headers):
    assert status(ask(port, b"GET / HTTP/1.1\r\n" + headers + b"\r\n")) == 400


@pytest.mark.parametrize("host, code", [
    ("localhost", 200), ("LocalHost:1", 200), ("127.0.0.1", 200), ("127.0.0.1:65535", 200), ("evil.example", 403),
    ("localhost.evil.example", 403), ("127.0.0.1.evil.example", 403), ("127.0.0.1@evil", 403), ("", 403), ("localhost:", 403),
    ("localhost:8o", 403), ("127.0.0.2", 403), ("[::1]", 403), ("0.0.0.0", 403)])
def test_only_this_machine_is_served(port, host, code):
    assert status(ask(port, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())) == code


def test_a_head_without_end_is_cut_off(port):
    assert status(ask(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100000)) == 431
    assert status(ask(port, b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")) == 431
    assert status(ask(port, b"A" * 100000)) == 431
    assert status(ask(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 7000 + b"\r\n\r\n")) == 200


def test_slow_clients_are_dropped_and_hinder_nobody(port):
    def connect(*first):
        client = socket.create_connection(("127.0.0.1", port), 20)
        for part in first:
            client.sendall(part)
        return client
    slow, silent = connect(b"GET / HTTP/1.1\r\n"), connect()
    lazy = [connect(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(10)]  # they never read
    began = time.monotonic()
    said = b""
    while time.monotonic() - began < 15:
        if select.select([slow], [], [], 0.4)[0]:
            part = slow.recv(65536)
            said += part
            if not part:
                break
        else:
            slow.sendall(b"X: y\r\n")  # a line now and then buys no time
            assert get(port, "/replay.json")[0].status == 200
    assert status(said) == 408 and 3 < time.monotonic() - began < 10
    assert silent.recv(100) == b""  # who said nothing is told nothing
    for client in [slow, silent, *lazy]:
        client.close()
    assert get(port, "/")[0].status == 200


def test_more_clients_than_there_are_places(port):
    crowd = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(60)]
    for client in crowd:
        client.sendall(b"GET /chunk/0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for client in crowd:
        said = b""
        while part := client.recv(65536):
            said += part
        assert status(said) == 200
        client.close()


def test_garbage_is_refused(port):
    random = np.random.default_rng(5)
    pieces = [b"GET ", b"HEAD ", b"/", b"/chunk/0", b" HTTP/1.1", b"\r\n", b"\n", b"\r", b"Host: ", b"localhost", b"\x00",
              b":", b" ", b"\t", b"%", b"?", b"#", b"\xff\xfe", b"1", b"A" * 300]
    for _ in range(300):
        request = b"".join(pieces[k] for k in random.integers(len(pieces), size=random.integers(1, 30)))
        said = ask(port, request + b"\r\n\r\n")
        assert said == b"" or status(said) in (200, 400, 403, 404, 405, 431)
    for _ in range(50):
        said = ask(port, random.bytes(int(random.integers(1, 9000))))
        assert said == b"" or status(said) in (400, 431)
    assert get(port, "/")[0].status == 200


def test_a_signal_ends_it_in_good_order(here):
    write_planted(here / "planted.h5")
    for number in (signal.SIGINT, signal.SIGTERM):
        with serving("planted.h5") as (server, port):
            client = socket.create_connection(("127.0.0.1", port))
            server.send_signal(number)
            assert server.wait(5) == DONE
            client.close()
            with pytest.raises(OSError):
                socket.create_connection(("127.0.0.1", port), 1)


def test_a_port_that_is_taken_is_said(here):
    write_planted(here / "planted.h5")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        ended = run("view", "planted.h5", "--serve", "--port", taken, code=RESOURCES)
        assert str(taken) in ended.stderr and "--port" in ended.stderr


# ---- alternatives ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("scene", [["vertex-corner", "-p", "x=-0.005", "--steps", "8"], ["l-stack", "-p", "mu=0.8", "--steps", "3"]])
def test_points_of_all_alternatives_and_which_were_chosen(here, scene):
    """Beside what the arrays of the file say: number of the alternative, how many there are, and whether it was chosen."""
    run("run", *scene, "--record", "x.h5")
    run("view", "x.h5", "-o", "x.html")
    replay, frames = page(here / "x.html")
    assert replay["states"][5] == "not chosen"
    kinds = set()
    with h5py.File("x.h5") as file:
        for info, shown in zip(replay["frames"], frames):
            frame = file[info["path"]]
            if "subcontacts" not in frame:
                assert "alternative" not in shown
                continue
            sub, answer = frame["subcontacts"], frame["solver_data/lemke"]
            group, alternative = np.ravel(sub["groups"]), np.ravel(sub["alternatives"])
            selection, pushed = np.ravel(answer["selection"]), np.ravel(answer["sub_normal"])
            most = {g: 1 + max(alternative[group == g], default=0) for g in range(len(selection))}
            expected = []
            for c, g in enumerate(np.ravel(sub["contact_groups"])):
                other = g >= 0 and selection[g] != 0
                expected.append((*frame["contacts/points"][c], *frame["contacts/normals"][c], *((1, most[g]) if g >= 0 else (0, 0)), other))
            for r, g in enumerate(group):
                if np.ravel(sub["roles"])[r] == 0 or pushed[r] != 0:
                    other = selection[g] != alternative[r]
                    expected.append((*sub["points"][r], *sub["normals"][r], 1 + alternative[r], most[g], other))
            found = np.column_stack([shown["point"], shown["normal"], shown["alternative"], shown["results"][0]["state"] == 5])
            expected = np.array(expected, dtype=float)
            # single precision, trimmed to five digits: order by rounded rows, compare by value
            order = [np.lexsort(np.round(a, 3).T + 0.0) for a in (found, expected)]
            assert found.shape == expected.shape and np.allclose(found[order[0]], expected[order[1]], atol=1e-4)
            kinds |= set(found[:, 8])
    assert kinds == {0, 1}
