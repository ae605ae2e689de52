"""check on whole recordings: what our own simulator and other programs recorded is not accused of mistakes that it does
not have, and mistakes in a file are named through the program. test_recording.c has every mistake one by one."""
import json
import os
import re
import subprocess

import h5py
import numpy as np
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


# ---- the nine classic mistakes, made in files of our own simulator ------------------------------------------------

def put(array, values):
    array[...] = values.reshape(array.shape)


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def swap_contact_bodies(frame):
    put(frame["contacts/pairs"], frame["contacts/pairs"][...][:, ::-1])


def forget_gravity(frame):
    forces = frame["bodies/forces"][...].reshape(-1, 6)
    forces[:, 2] += 9.81 * np.ravel(frame["bodies/masses"])
    put(frame["bodies/forces"], forces)


def turn_a_joint(frame):
    jacobian = frame["constraints/Jacobian"][...]
    jacobian[:int(np.ravel(frame["constraints/rows"])[0]), 6:] *= -1
    put(frame["constraints/Jacobian"], jacobian)


def store_velocities_after(frame):
    put(frame["bodies/velocities"], next(iter(frame["solver_data"].values()))["velocities"][...])


def store_body_inertia(frame):
    tensors = frame["bodies/world_inertia_tensors"][...].reshape(-1, 3, 3)
    turns = [rotation(q) for q in frame["bodies/quaternions"][...]]
    put(frame["bodies/world_inertia_tensors"], np.array([r.T @ i @ r for r, i in zip(turns, tensors)]))


def store_scalar_last(frame):
    put(frame["bodies/quaternions"], np.roll(frame["bodies/quaternions"][...], -1, axis=1))


def forget_gyroscopic_torque(frame):
    forces = frame["bodies/forces"][...].reshape(-1, 6)
    forces[:, 3:] = 0
    put(frame["bodies/forces"], forces)


def store_forces(frame):
    for result in frame["solver_data"].values():
        for name in ("lambda", "normal", "tangent"):
            if name in result:
                put(result[name], result[name][...] / frame["timestep"][()])


def store_depth(frame):
    if "contacts" in frame:
        put(frame["contacts/gaps"], -frame["contacts/gaps"][...])


# Where a mistake can be seen at all: quaternions in a plane are the same in another order, up to a fixed turn of the body,
# and gaps that are rounding have no sign.
NINE = [("cart", swap_contact_bodies, "contact bodies are probably swapped"),
        ("cart", forget_gravity, "gravity is probably missing"),
        ("chain", turn_a_joint, "the sign of a joint's Jacobian is probably wrong"),
        ("box-drop", store_velocities_after, "velocities are probably those after the step"),
        ("rattleback", store_body_inertia, "inertia tensors are probably given in the frame of the body"),
        ("rattleback", store_scalar_last, "quaternions are probably stored as (x, y, z, w)"),
        ("rattleback", forget_gyroscopic_torque, "the gyroscopic torque -w x I w is probably missing"),
        ("chain", store_forces, "forces are probably stored as impulses"),
        ("box-drop", store_depth, "depths are probably stored instead of gaps")]


@pytest.mark.parametrize("scene, mistake, words", NINE, ids=[mistake.__name__ for _, mistake, _ in NINE])
def test_the_classic_mistakes_are_named(scene, mistake, words, here):
    record(scene, steps=40)
    for frame in filter(is_frame, frames()):
        mistake(frame)
    [message] = warnings()
    assert message.startswith(words)
    assert re.search(r"seen in \d+ of 40 frames", message)


def test_simulations_of_a_file_are_judged_apart(here):
    """Two runs in one file: the jump from one to the other is no mistake."""
    record("rattleback", steps=20)
    with h5py.File("run.h5", "r+") as file:
        file.copy("simulation_000001", "simulation_000002")
    assert warnings() == []
