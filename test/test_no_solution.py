"""Frames of others that have no solution: `stickslip solve` says so, and where it is."""
import json
import os
import subprocess

import h5py
import numpy as np
import pytest

from shared_data import shared


def solve(*arguments, code):
    frames = shared("bpmd/ode_january2013.h5")
    done = subprocess.run([os.environ["SS_PROGRAM"], "solve", frames, "--quiet", *arguments], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.parametrize("solver", ["interior-point", "minmap-newton", "fischer-newton"])
def test_wedged_balls_are_named_and_nothing_is_claimed(solver):
    frame = json.loads(solve("-s", solver, "--frame", "mbs_frame000037", "--json", code=1))["frames"][0]
    assert frame["status"] == "ray"
    assert frame["proof"] is False
    assert frame["why"].startswith("wedged: contact ")
    assert "no solution was found" in frame["why"]


def test_glue_that_is_torn_is_a_proof():
    frame = json.loads(solve("-s", "interior-point", "--frame", "mbs_frame003689", "--json", code=1))["frames"][0]
    assert (frame["status"], frame["proof"]) == ("ray", True)
    assert frame["why"].startswith("no velocity satisfies all of contact ")


@pytest.mark.parametrize("solver", ["interior-point", "auto", "admm", "alart-curnier", "fischer-newton"])
def test_a_ball_that_three_walls_push_has_a_proof_although_friction_wedges_it(solver, tmp_path):
    """Normals n0 + n1 + 2 s n2 = 0, all to be left at 0.1 m/s: no velocity does that, whatever friction does. Friction has rays
    of its own there, which prove nothing; the proof must be looked for, and friction must not be blamed."""
    s, c = np.sin(0.3), np.cos(0.3)
    with h5py.File(tmp_path / "walls.h5", "w") as file:
        file.attrs["bpmd_format"] = "BPMD-2015"
        frame = file.create_group("simulation_000001/mbs_frame000001")
        frame["timestep"] = 0.01
        bodies = frame.create_group("bodies")
        bodies["ids"], bodies["states"] = np.array([[1]], "i4"), np.array([[1]], "i4")
        bodies["masses"], bodies["positions"] = [[1.0]], [[0.0, 0.0, 0.0]]
        bodies["quaternions"] = [[1.0, 0.0, 0.0, 0.0]]
        bodies["velocities"] = np.zeros((6, 1))
        bodies["forces"] = np.array([[0, 0, -9.81, 0, 0, 0]]).T
        bodies["world_inertia_tensors"] = 0.1 * np.eye(3)
        contacts = frame.create_group("contacts")
        contacts["pairs"] = np.array([[-1, 1]] * 3, "i4")
        contacts["points"] = [[0, 0, -0.1], [0, 0, 0.1], [0.1, 0, 0]]
        contacts["normals"] = [[s, 0, c], [s, 0, -c], [-1, 0, 0]]
        contacts["gaps"] = [[-1e-3]] * 3
        contacts["mu_k"] = [[1.0, 1.0]] * 3
    command = [os.environ["SS_PROGRAM"], "solve", str(tmp_path / "walls.h5"), "-f", "cone", "-s", solver]
    done = subprocess.run([*command, "--quiet", "--json"], capture_output=True, text=True, timeout=60)
    frame = json.loads(done.stdout)["frames"][0]
    assert (frame["status"], frame["proof"]) == ("ray", True)
    assert frame["why"].startswith("no velocity satisfies all of contact ")
    told = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "mu_max" not in told.stdout + told.stderr and "less friction cannot help" in told.stdout


def test_the_table_tells_it_and_what_may_help():
    text = solve("-s", "interior-point", "--frame", "0:4", code=1)
    assert text.count(": wedged: contact ") == 4
    assert "--with mu_max=1" in text


@pytest.mark.parametrize("remedy", ["mu_max=1", "gap_term=zero"])
def test_what_may_help_does(remedy):
    solve("-s", "interior-point", "--frame", "0:4", "--with", remedy, code=0)
