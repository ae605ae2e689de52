"""`convert` to FCLIB followed by `solve` gives the velocities of `solve` on the frame, through the files and the command line. Every
gap term and joint term on real and recorded frames is compared inside the library by test_conversion.c."""
import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

from shared_data import shared
from test_fclib import dense

PROGRAM = os.environ.get("SS_PROGRAM", "build/release/stickslip")
TIGHT = ("--stop", "relative_energy<1e-13", "--iterations", "2000", "--no-diagnose", "--quiet")
INF = np.inf
AGREED = 1e-9  # of the largest speed in the frame, gravity's in one step included


def run(*arguments, codes=(0,)):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout


def frames_of(file):
    """The frames of a BPMD file, in its order."""
    found = []
    file.visititems(lambda name, group: found.append(group) if name.split("/")[-1].startswith("mbs_frame") else None)
    return found


def fits(frame):
    """Motors and joint friction have no place in FCLIB: `convert` says that they are omitted."""
    joints = frame.get("constraints", {})
    low, high = (np.reshape(joints["bounds"][()], (-1, 2)).T if "bounds" in joints else ((), ()))
    plain = [(b == INF or b == 0) and (a == -INF or a == 0) and (a, b) != (0, 0) for a, b in zip(low, high)]
    return all(plain) and not ("friction_row" in joints and np.any(joints["friction_row"][()] >= 0))


def velocities_by_frame(tmp_path, source, options, frames):
    """Velocities that `solve` finds for each frame, and the largest speed in it. Only frames that are solved, and that fit."""
    told = json.loads(run("solve", source, "--frame", frames, *options, *TIGHT, "-o", tmp_path / "direct.h5", "--json",
                          codes=(0, 1, 3)))
    answers = {}
    with h5py.File(tmp_path / "direct.h5") as file:
        for found, frame in zip(told["frames"], frames_of(file), strict=True):
            if found["status"] != "converged" or not fits(frame):
                continue
            moves = np.ravel(frame["bodies/states"][()]) != 0 if "states" in frame["bodies"] else slice(None)
            v, before, force = (np.reshape(frame[array][()], (-1, 6))[moves] for array in
                                ("solver_data/auto/velocities", "bodies/velocities", "bodies/forces"))
            gained = frame["timestep"][()].item() * force[:, :3] / np.reshape(frame["bodies/masses"][()], (-1, 1))[moves]
            answers[frame.name.split("/")[-1]] = v, max(np.abs(part).max() for part in (v[:, :3], before[:, :3], gained))
    return answers


def velocities_of_point(matrices, solution):
    """M^-1 (f + H r + G l), by the matrices of the global problem, for a solution of either form."""
    with h5py.File(matrices) as file:
        problem = next(file[name] for name in ("fclib_global", "fclib_global_rolling") if name in file)
        push = problem["vectors/f"][()] + dense(problem["H"]) @ solution["r"]
        if "G" in problem:
            push += dense(problem["G"]) @ solution["l"]
        return np.linalg.solve(dense(problem["M"]), push).reshape(-1, 6)


def start_from_solution(path):
    """Coulomb's law may have several answers, and which one a method finds depends on its path: the file is solved from the
    answer of the frame, which is its stored solution and must solve it as it is."""
    (problem,) = json.loads(run("info", path, "--json"))["problems"]
    assert problem["solution"]["natural_map"] < 1e-10, problem["solution"]
    with h5py.File(path, "a") as file:
        file.create_group("guesses")
        file["guesses/number_of_guesses"] = np.array([1], dtype=np.int32)
        file.copy("solution", "guesses/1")


def compare(tmp_path, source, *options, frames="all"):
    """How many problems were compared."""
    options = [word for option in options for word in ("--with", option)]
    answers, compared = velocities_by_frame(tmp_path, source, options, frames), 0
    for form in ("fclib-global", "fclib-local"):
        told = json.loads(run("convert", tmp_path / "direct.h5", tmp_path / form, "--to", form, *options, "--solver", "auto",
                              "--json", "--quiet", codes=(0, 3)))
        for path in map(Path, told["files"]):
            if path.stem not in answers:
                continue
            start_from_solution(path)
            (found,) = json.loads(run("solve", path, "--warm", *TIGHT, "-o", tmp_path / "one.hdf5", "--json"))["frames"]
            with h5py.File(tmp_path / "one.hdf5") as file:
                solution = {key: value[()] for key, value in file["solution"].items()}
            v, speed = answers[path.stem]
            apart = np.abs(velocities_of_point(tmp_path / "fclib-global" / path.name, solution) - v).max() / speed
            assert apart <= AGREED, f"{path.stem}, {form}: {apart:.2g} apart"
            compared += 1
    return compared


GAP_TERMS = ["gap_term=preventive", "gap_term=zero", "gap_term=stabilised", "gap_term=restitution"]


@pytest.mark.parametrize("gap_term", GAP_TERMS)
@pytest.mark.parametrize("name, frames, least", [("sphere1_gazebo11", "0:2", 4), ("stack6_gazebo6", "0:3", 6),
                                                 ("chain10_gazebo6", "14:18", 4), ("ode_january2013", "8:11", 4)])
def test_real_frames_survive_the_way_through_files(tmp_path, name, frames, least, gap_term):
    options = [gap_term, "gamma=0.3", "joint_gamma=0.2", "mu_max=1"]  # infinite friction has no place in FCLIB
    assert compare(tmp_path, shared(f"bpmd/{name}.h5"), *options, frames=frames) >= least


@pytest.mark.parametrize("gap_term", GAP_TERMS)
@pytest.mark.parametrize("scene, steps, every", [("ten-balls", 61, 60), ("newtons-cradle", 41, 40), ("cart", 41, 40)])
def test_recorded_frames_survive_the_way_through_files(tmp_path, scene, steps, every, gap_term):
    """Balls that bounce, joints with restitution, wheels that roll."""
    run("run", scene, "--steps", steps, "--record", tmp_path / "run.h5", "--every", every, "--no-metrics", "--quiet")
    assert compare(tmp_path, tmp_path / "run.h5", gap_term, "joint_term=spook") == 4
