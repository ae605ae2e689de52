"""Scenes from the command line: lists, runs, what they record, checkpoints, exit codes."""
import csv
import json
import os
import signal
import struct
import subprocess
import time
import zlib

import h5py
import numpy as np
import pytest

from test_cli import BAD_INPUT, DONE, PROGRAM, RESOURCES, SOURCE, USAGE, here, run, run_json
from test_solve import registered

SCENES = registered("scenes/scenes.def", "SS_SCENE")


def pixels(path):
    """A PNG as an array, decoded here: signature, chunks and their checksums, filters 0 and 2."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    assert kind == b"IEND"
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(size[1], 1 + 3 * size[0]).astype(int)
    assert set(rows[:, 0]) == {2}
    return (np.cumsum(rows[:, 1:], axis=0) % 256).reshape(size[1], size[0], 3)


# ---- what there is ---------------------------------------------------------------------------------------------

def test_scenes_are_listed_and_explained():
    listed = run_json("scenes")["scenes"]
    assert [scene["name"] for scene in listed] == SCENES
    for scene in listed:
        assert scene["summary"] and len(scene["description"]) > 80 and scene["h"] > 0 and scene["length"] > 0
        assert scene["name"] in run("scenes", scene["name"]).stdout


def test_page_of_scenes_is_what_the_program_says():
    subprocess.run(["/usr/bin/python3", SOURCE / "tools/scenes", "--program", PROGRAM, "--check"], check=True)


# ---- running ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("scene", SCENES)
def test_every_scene_runs_and_its_frames_pass_check(scene, here):
    small = {"sphere-pile": ["-p", "count=64"], "isotropy": ["-p", "count=8"]}.get(scene, [])
    ended = run_json("run", scene, *small, "--steps", "6", "--record", "frames.h5", "--every", "2")
    assert ended["steps"] == 6 and ended["scene"] == scene
    assert np.isfinite([ended["kinetic"], ended["potential"], ended["drift"], ended["penetration"]["most"]]).all()
    assert run("check", "frames.h5").returncode == DONE
    assert len(run_json("info", "frames.h5")["frames"]) == 3


def test_a_wall_stands(here):
    ended = run_json("run", "brick-wall", "--steps", "100")
    assert ended["drift"] < 1e-3 and ended["penetration"]["most"] < 1e-3
    assert ended["unfinished_steps"] == 0


def test_accurate_runs_solve_every_step_and_wishes_beside_it_win():
    for scene in ("card-house", "log-pile"):
        ended = run_json("run", scene, "--steps", "30", "--accurate")
        assert ended["unfinished_steps"] == 0 and ended["relative_energy"]["most"] < 1e-8
        assert "solver=auto" in ended["options"]
    ended = run_json("run", "massratio", "--steps", "3", "--accurate", "--solver", "nsgs")
    assert "solver=nsgs" in ended["options"]


def test_threads_change_no_bit():
    one, two = (run_json("run", "box-pyramid", "--steps", "20", "--threads", n) for n in ("1", "2"))
    assert one["hash"] == two["hash"]


def test_seeds_are_explicit():
    first, again, other = (run_json("run", "box-drop", "--steps", "20", "--seed", s) for s in ("1", "1", "2"))
    assert first["hash"] == again["hash"] != other["hash"]


def test_units_of_powers_of_two_scale_the_motion_exactly():
    """The same fall in other units: lengths times 2, masses times 4, times times 2."""
    plain = run_json("run", "sphere-drop", "--steps", "50")
    units = run_json("run", "sphere-drop", "--steps", "50", "--length-unit", "2", "--mass-unit", "4", "--time-unit", "2")
    assert units["drift"] == 2 * plain["drift"]
    assert units["kinetic"] == 4 * plain["kinetic"]


def test_recorded_frames_hold_answer_metrics_and_a_picture(here):
    run("run", "massratio", "--steps", "3", "--record", "m.h5", code=DONE)
    with h5py.File("m.h5") as file:
        simulation = file["simulation_000001"]
        assert "massratio" in simulation["manifest/description"][()].decode()
        solved = simulation["mbs_frame000002/solver_data"]
        assert len(solved) == 1
    judged = run_json("solve", "m.h5", "--frame", "2", "-s", "interior-point")
    assert judged["frames"][0]["status"] == "converged"


def test_study_of_the_step_tells_its_error_from_the_solvers():
    """Free fall lags behind by g t h / 2; one sweep of pgs is no solution of a wall, whatever the step."""
    fall = run_json("run", "sphere-drop", "--time", "1", "--study", "dt", "--json")
    times = np.arange(1, 51) / 50
    assert fall["step_error"] == pytest.approx(9.81 * 0.01 / 2 * np.sqrt(np.mean(times**2)), rel=1e-6)
    assert fall["solver_error"] == 0 and fall["order"] == pytest.approx(1, abs=1e-6)
    assert [r["steps"] for r in fall["runs"]] == [100, 100, 200, 400]
    wall = run_json("run", "brick-wall", "-s", "pgs", "--iterations", "1", "--time", "0.2", "--study", "dt", "--json")
    assert wall["solver_error"] > 1e-4 and wall["step_error"] < 1e-8
    text = run("run", "brick-wall", "-s", "pgs", "--iterations", "1", "--time", "0.2", "--study", "dt", code=DONE).stdout
    assert "The solver decides" in text
    assert "unknown study" in run("run", "brick-wall", "--study", "h", code=USAGE).stderr
    assert "does not go with" in run("run", "brick-wall", "--study", "dt", "--record", "x.h5", code=USAGE).stderr


def test_trace_and_picture(here):
    run("run", "sliding-block", "--steps", "30", "--trace", "t.csv", "--picture", "p.png", code=DONE)
    rows = list(csv.DictReader(open("t.csv")))
    assert [int(row["step"]) for row in rows] == list(range(1, 31))
    assert abs(float(rows[-1]["error"])) < 1e-6  # 30 steps of h times the slip speed the stop rule leaves
    image = pixels(here / "p.png")
    assert image.std() > 10  # something is to be seen


# ---- interruption ----------------------------------------------------------------------------------------------

RUN = ["run", "box-drop", "--steps", "60", "--record", "r.h5", "--every", "5", "--checkpoint", "c.ss",
       "--checkpoint-every", "0.05"]


def frames(path):
    with h5py.File(path) as file:
        group = file["simulation_000001"]
        return {name: group[name]["bodies/positions"][()] for name in group if name.startswith("mbs_frame")}


@pytest.mark.parametrize("moment", [0.1, 0.25, 0.5])
def test_killed_runs_resume_to_the_same_bits(moment, here):
    whole = run_json(*RUN)
    expected = frames("r.h5")
    os.remove("r.h5"), os.remove("c.ss")
    process = subprocess.Popen([PROGRAM, *RUN, "--quiet"], stdout=subprocess.DEVNULL, start_new_session=True)
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    resumed = run_json(*RUN, *(["--resume"] if os.path.exists("c.ss") else []))
    assert resumed["hash"] == whole["hash"]
    found = frames("r.h5")
    assert found.keys() == expected.keys()
    assert all((found[name] == expected[name]).all() for name in found)


def test_a_checkpoint_of_another_run_is_refused(here):
    run("run", "box-drop", "--steps", "2", "--checkpoint", "c.ss", code=DONE)
    assert "other" in run("run", "massratio", "--steps", "4", "--checkpoint", "c.ss", "--resume", code=BAD_INPUT).stderr
    data = bytearray((here / "c.ss").read_bytes())
    data[-20] ^= 1
    (here / "c.ss").write_bytes(data)
    run("run", "box-drop", "--steps", "4", "--checkpoint", "c.ss", "--resume", code=BAD_INPUT)
    (here / "c.ss").write_bytes(b"")
    run("run", "box-drop", "--steps", "4", "--checkpoint", "c.ss", "--resume", code=BAD_INPUT)


def test_a_checkpoint_fits_any_number_of_threads_but_no_other_contacts(here):
    again = ["run", "massratio", "--checkpoint", "c.ss"]
    whole = run_json("run", "massratio", "--steps", "4")
    run(*again, "--steps", "2", code=DONE)
    assert "other" in run(*again, "--steps", "4", "--resume", "--margin", "0.5", code=BAD_INPUT).stderr
    assert run_json(*again, "--steps", "4", "--resume", "--threads", "3")["hash"] == whole["hash"]


# ---- bad input -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("words, message", [
    (["run", "brick-wal"], "did you mean brick-wall"),
    (["run", "brick-wall", "-p", "rows=0"], "rows"),
    (["run", "brick-wall", "-p", "colour=red"], "colour"),
    (["run", "brick-wall", "--solver", "nsg"], "nsg"),
    (["run", "brick-wall", "--formulation", "con"], "con"),
    (["run", "brick-wall", "--with", "gamma=7"], "gamma"),
    (["run", "brick-wall", "--resume"], "--checkpoint"),
    (["run", "brick-wall", "--dt", "-1"], "--dt"),
    (["run", "brick-wall", "--time", "1e12", "--dt", "1e-12"], "too many steps"),
    (["run", "brick-wall", "--record", "one", "--checkpoint", "one"], "same file"),
    (["run", "chain", "--integrator", "runge-kutta"], "coordinates=minimal"),
    (["run", "chain", "--coordinates", "minimal", "--integrator", "runge-kutta", "--record", "c.h5"], "no incremental problem"),
    (["scenes", "wall"], "wall"),
])
def test_nonsense_is_refused_by_name(words, message, here):
    assert message in run(*words, code=USAGE).stderr


def test_unwritable_places_are_told(here):
    for flag in ("--record", "--trace", "--picture", "--checkpoint"):
        told = run("run", "sphere-drop", "--steps", "2", flag, "nowhere/file", code=RESOURCES).stderr
        assert "nowhere/file" in told
        assert "in nowhere/file" not in told  # what was not written is not announced
