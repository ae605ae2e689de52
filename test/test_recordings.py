"""check on whole recordings: what our own simulator and other programs recorded is not accused of mistakes that it does
not have, and mistakes in a file are named through the program. test_recording.c has every mistake one by one."""
import json
import os
import subprocess

import h5py
import pytest

from shared_data import shared

PROGRAM = os.environ["SS_PROGRAM"]

RECORDINGS = [
    ("conveyor",),  # belts, kinematic scenery
    ("cart",),
    ("cart", "--joints", "impulse"),
    ("chain", "--joints", "projection"),
    ("four-bar", "--joints", "spook"),
    ("hanging-rod", "--substeps", "4"),
    ("rattleback",),
    ("rattleback", "--gyro", "explicit"),
    ("tippe-top", "--gyro", "off"),  # an engine without it is not wrong about what it solved
    ("ten-balls",),  # restitution
    ("newtons-cradle",),
    ("belt",),
    ("domino", "--every", "5"),
    ("spheres-on-cube", "--every", "3"),
    ("box-drop", "--with", "gap_term=zero"),
    ("box-drop", "--with", "gap_term=preventive"),
    ("box-drop", "--formulation", "box"),
    ("box-drop", "--iterations", "3", "--finisher", "none"),  # bad answers are no bad recordings
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(*words, steps=50):
    subprocess.run([PROGRAM, "run", *words, "--steps", str(steps), "--record", "run.h5", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)


def warnings(path="run.h5"):
    checked = subprocess.run([PROGRAM, "check", path, "--json"], stdout=subprocess.PIPE, text=True)
    return [warning["message"] for warning in json.loads(checked.stdout)["warnings"]]


def frames():
    with h5py.File("run.h5", "r+") as file:
        yield from file["simulation_000001"].values()


def is_frame(group):
    return group.name.split("/")[-1].startswith("mbs_frame")


@pytest.mark.parametrize("words", RECORDINGS, ids=" ".join)
def test_good_recordings_are_not_accused(words, here):
    record(*words)
    assert warnings() == []


@pytest.mark.parametrize("words", [("conveyor",), ("chain",), ("rattleback",), ("ten-balls",), ("box-drop",)], ids=" ".join)
def test_nor_are_those_that_say_less(words, here):
    record(*words)
    for frame in filter(is_frame, frames()):
        for result in frame["solver_data"].values():
            del result.attrs["formulation"], result.attrs["with"]
    assert warnings() == []
    for frame in filter(is_frame, frames()):
        del frame["solver_data"]
    assert warnings() == []


@pytest.mark.parametrize("name", ["chain10_gazebo6.h5", "ode_january2013.h5", "sphere1_gazebo11.h5", "stack6_gazebo6.h5"])
def test_files_of_others_are_not_accused(name):
    assert [message for message in warnings(shared(f"bpmd/{name}")) if "probably" in message] == []


def test_a_mistake_in_a_file_is_named_with_its_frames(here):
    record("cart", steps=30)
    for frame in filter(is_frame, frames()):
        forces = frame["bodies/forces"][...]
        forces[2::6] += 9.81 * frame["bodies/masses"][...]
        frame["bodies/forces"][...] = forces
    [message] = warnings()
    assert message.startswith("gravity is probably missing in the forces")
    assert "30 of 30 frames" in message


def test_simulations_of_a_file_are_judged_apart(here):
    """Two runs in one file: the jump from one to the other is no mistake."""
    record("rattleback", steps=20)
    with h5py.File("run.h5", "r+") as file:
        file.copy("simulation_000001", "simulation_000002")
    assert warnings() == []
