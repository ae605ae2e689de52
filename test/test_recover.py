"""Recordings of `run` that are killed: what the program says about them, and how it gets them back. Every moment of a kill is
in test_survive.c; tools/survive kills fifty recordings and measures."""
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import pytest

from test_cli import BAD_INPUT, DONE, PROGRAM, SOURCE, here, run, run_json

BUILD = Path(os.environ["SS_BUILD_DIR"])


def record_and_kill(*words):
    """Kills a run as soon as it has a leftover; the name of that."""
    process = subprocess.Popen([PROGRAM, "run", "box-drop", "--steps", "100000000", "--record", "frames.h5", "--survive", "0.05",
                                "--quiet", *words], start_new_session=True, stderr=subprocess.DEVNULL)
    while process.poll() is None and not any(name.endswith(".partial") for name in os.listdir()):
        time.sleep(0.01)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return next(name for name in os.listdir() if name.endswith(".partial"))


def test_a_killed_run_is_explained_read_and_recovered(here):
    left = record_and_kill()
    assert re.fullmatch(r"frames\.h5\.\d+-0\.partial", left)
    assert left in run("info", "frames.h5", code=BAD_INPUT).stderr
    frames = run_json("check", left)["counts"]["frames"]  # as it is
    assert frames > 0
    ended = run_json("recover", "frames.h5")
    assert ended == [{"leftover": left, "file": "frames.h5", "frames": frames}]
    checked = run_json("check", "frames.h5")
    assert checked["faults"] == [] and checked["counts"]["frames"] == frames
    with h5py.File("frames.h5") as file:  # an ordinary file for everyone
        last = file[f"simulation_000001/mbs_frame{frames:06}"]
        assert set(last["solver_data"]) and (last["bodies/masses"][()] > 0).all()
    assert os.listdir() == ["frames.h5"]
    assert "no recording was left unfinished" in run("recover", "frames.h5", code=BAD_INPUT).stderr


def test_an_old_file_stays_what_it_was(here):
    (here / "frames.h5").write_bytes(b"precious")
    left = record_and_kill()
    assert "frames.recovered-1.h5: " in run("recover", "frames.h5", code=DONE).stdout
    assert (here / "frames.h5").read_bytes() == b"precious"
    assert sorted(os.listdir()) == ["frames.h5", "frames.recovered-1.h5"] and left not in os.listdir()


def test_a_leftover_gets_the_name_that_is_asked_for(here):
    left = record_and_kill()
    assert run("recover", left, "-o", "saved.h5", code=DONE).stdout.startswith("saved.h5: ")
    assert os.listdir() == ["saved.h5"]


def test_without_survival_nothing_is_left(here):
    process = subprocess.Popen([PROGRAM, "run", "box-drop", "--steps", "100000000", "--record", "frames.h5", "--survive", "0",
                                "--trace", "t.csv", "-q"], start_new_session=True)
    while process.poll() is None and not (os.path.exists("t.csv") and os.path.getsize("t.csv") > 50000):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert os.listdir() == ["t.csv"]


def test_three_kills_of_the_study_damage_nothing():
    # whether the promise of 0.3 s is kept depends on how busy the machine is; that what is left is whole does not
    pytest.importorskip("numpy")
    ended = subprocess.run([sys.executable, SOURCE / "tools/survive", "--kills", "3", "--seconds", "0.3", "--build",
                            os.environ["SS_BUILD_DIR"]], capture_output=True, text=True)
    assert "3 kills" in ended.stdout and "0 damaged" in ended.stdout, ended.stdout + ended.stderr


# ---- flight recorder of `run`: test_flight.c has every cause -------------------------------------------------------

RING = ["run", "box-drop", "--record", "frames.h5", "--ring", "5"]


def times(path="frames.h5"):
    return [round(frame["time"] / 0.01) for frame in run_json("info", path)["frames"]]


def test_a_run_writes_the_steps_before_something_trips(here):
    run("run", "box-drop", "--steps", "40", "--trace", "t.csv", code=DONE)
    rows = [line.split(",") for line in (here / "t.csv").read_text().splitlines()]
    contacts = [int(row[rows[0].index("contacts")]) for row in rows[1:]]
    first = next(step for step, count in enumerate(contacts) if count > 50)  # from 0
    ended = run(*RING, "--steps", "40", "--trip", "contacts>50", "--after", "1", "--trips", "1", code=DONE)
    assert "tripped 1 time" in ended.stderr
    found = run_json("info", "frames.h5")["frames"]
    assert [round(frame["time"] / 0.01) for frame in found] == list(range(first - 3, first + 2))
    assert [frame["note"] is not None for frame in found] == [False, False, False, True, False]
    assert found[3]["note"].startswith("contacts ") and found[3]["note"] in run("info", "frames.h5").stdout
    assert run_json("check", "frames.h5")["faults"] == []


def test_a_run_without_a_cause_writes_nothing(here):
    assert "did not trip" in run(*RING, "--steps", "40", "--trip", "energy>1e9", code=DONE).stderr
    assert os.listdir() == []
    assert "did you mean energy" in run(*RING, "--trip", "enrgy>1", code=2).stderr
    assert "--ring needs --record" in run("run", "box-drop", "--ring", "5", code=2).stderr


def test_a_signal_trips_a_run_and_a_kill_leaves_its_last_steps(here):
    process = subprocess.Popen([PROGRAM, *RING, "--steps", "100000000", "--trip-signal", "usr1", "-q"], start_new_session=True)
    while not any(name.endswith(".ring") for name in os.listdir()):
        time.sleep(0.01)
    process.send_signal(signal.SIGUSR1)
    while not os.path.exists("frames.h5"):
        time.sleep(0.01)
    assert process.poll() is None  # it runs on
    frames = run_json("info", "frames.h5")["frames"]
    assert frames[-1]["note"] == "signal" and len(frames) <= 5
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    ended = run_json("recover", "frames.h5")
    assert ended[0]["file"] == "frames.recovered-1.h5" and ended[0]["frames"] >= len(frames)
    assert sorted(os.listdir()) == ["frames.h5", "frames.recovered-1.h5"]


# ---- from Python ---------------------------------------------------------------------------------------------

PYTHON_STEPS = """
import sys
import stickslip as ss
recorder = ss.Recorder("python.h5", "mine", flight={"ring": 4, "trip": ["overlap>0.01", "nan"], "trips": 2})
for step in range(12):
    with recorder.frame(time=step, h=0.01) as f:
        ball = f.body(1.0, position=(0, 0, 0.5), inertia=(0.1, 0.1, 0.1), force=(0, 0, -9.81, 0, 0, 0))
        f.contact(ss.WORLD, ball, point=(0, 0, 0), normal=(0, 0, 1), gap=-0.02 if step == 6 else 0.0, mu=0.5)
    assert recorder.trips == (step >= 6), step
    if step == 8 and "die" in sys.argv:
        import os
        os.kill(os.getpid(), 9)
recorder.trip("a reason of mine")
assert recorder.trips == 2
recorder.close()
assert recorder.trips == 2
"""


def python(here, *words):
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    return subprocess.run([sys.executable, "-c", PYTHON_STEPS, *words], env=environment, capture_output=True, text=True, timeout=60)


def test_a_flight_recorder_in_python_and_its_recovery(here, monkeypatch):
    ended = python(here)
    assert ended.returncode == 0, ended.stderr
    frames = run_json("info", "python.h5")["frames"]
    assert [frame["time"] for frame in frames] == [3, 4, 5, 6, 8, 9, 10, 11]
    assert frames[3]["note"].startswith("overlap 0.02 > 0.01") and frames[7]["note"] == "a reason of mine"
    os.remove("python.h5")

    assert python(here, "die").returncode == -signal.SIGKILL
    monkeypatch.syspath_prepend(BUILD / "python")
    import stickslip
    (leftover, file, frames), = stickslip.recover("python.h5")
    assert leftover.endswith(".partial") and file == "python.recovered-1.h5" and frames == 6  # four that had tripped, and 7, 8
    with pytest.raises(stickslip.InputError, match="no recording was left unfinished"):
        stickslip.recover("python.h5")


def test_a_simulation_in_python_has_a_flight_recorder(here, monkeypatch):
    monkeypatch.syspath_prepend(BUILD / "python")
    import stickslip
    sim = stickslip.scene("box-drop").sim()
    with sim.record("sim.h5", flight={"ring": 3, "trip": "speed>0.5", "trips": 1}) as recording:
        sim.step(20)
    assert recording.trips == 1
    frames = run_json("info", "sim.h5")["frames"]
    assert len(frames) == 3 and frames[-1]["note"].startswith("speed 0.5")
    with pytest.raises(stickslip.UsageError, match="did you mean speed"):
        sim.record("sim.h5", flight={"ring": 3, "trip": "sped>1"})
    with pytest.raises(stickslip.UsageError, match="rings"):
        sim.record("sim.h5", flight={"rings": 3})
