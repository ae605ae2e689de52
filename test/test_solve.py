"""Solving from the command line: lists of what there is, the JSON that other programs rely on, exit codes, files that
come out, stop rules and plug-ins. Answers are checked with NumPy, not with the library."""
import csv
import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

from test_cli import (BAD_INPUT, DONE, PROGRAM, RESOURCES, SOURCE, USAGE, begin_writing, here, record_example, run,
                      run_json, write_bpmd, write_fclib, write_matrix)

FOUND = 1
STATUSES = {"converged", "max iterations", "time limit", "stalled", "ray", "cancelled", "not applicable", "failed"}
GAUGES = ["energy", "relative_energy", "natural_residual", "fischer_burmeister", "natural_map"]


def registered(path, macro):
    """Names in a .def file, as the command line spells them."""
    text = re.sub(r"/\*.*?\*/", "", (SOURCE / path).read_text(), flags=re.S)
    return [name.replace("_", "-") for name in re.findall(rf"^{macro}\((\w+)", text, re.M)]


SOLVERS = registered("src/solver/solvers.def", "SS_SOLVER")
FORMULATIONS = registered("src/formulation/formulations.def", "SS_FORMULATION")


# ---- files to solve --------------------------------------------------------------------------------------------

@pytest.fixture
def slope(here):
    """Twenty frames of a block that slides down a slope, on four contacts."""
    record_example("slope.h5")
    return "slope.h5"


@pytest.fixture
def small(here):
    """Two frames: two live bodies, a ball joint, two contacts."""
    write_bpmd("small.h5")
    return "small.h5"


def write_local(path, seed, contacts=6, mu=0.4):
    """A local FCLIB problem with a positive definite W; q presses some contacts together."""
    random = np.random.default_rng(seed)
    factor = random.standard_normal((3 * contacts, 3 * contacts + 3))
    with h5py.File(path, "w") as file:
        problem = file.create_group("fclib_local")
        problem["spacedim"] = np.array([3], dtype="i4")
        write_matrix(problem, "W", factor @ factor.T / contacts)
        problem["vectors/q"] = random.standard_normal(3 * contacts)
        problem["vectors/mu"] = np.full(contacts, mu)


def write_global(path, seed, contacts=3, equations=2, dofs=12):
    random = np.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        problem = file.create_group("fclib_global")
        problem["spacedim"] = np.array([3], dtype="i4")
        write_matrix(problem, "M", np.diag(random.uniform(1.0, 3.0, dofs)))
        write_matrix(problem, "H", random.standard_normal((dofs, 3 * contacts)))
        write_matrix(problem, "G", random.standard_normal((dofs, equations)))
        problem["vectors/f"] = random.standard_normal(dofs)
        problem["vectors/w"] = random.standard_normal(3 * contacts)
        problem["vectors/b"] = random.standard_normal(equations)
        problem["vectors/mu"] = np.full(contacts, 0.3)


def read_matrix(group):
    matrix = np.zeros((group["m"][0], group["n"][0]))
    np.add.at(matrix, (group["i"][:], group["p"][:]), group["x"][:])  # triplets, as we write them
    return matrix


def natural_map(r, u, mu):
    """|r - P_K(r - u~)| over all contacts; r and u have a row (N, T1, T2) for each."""
    dual = u.copy()
    dual[:, 0] += mu * np.linalg.norm(u[:, 1:], axis=1)
    y = r - dual
    normal, length = y[:, 0], np.linalg.norm(y[:, 1:], axis=1)
    inside, polar = length <= mu * normal, mu * length <= -normal
    s = np.maximum(normal + mu * length, 0) / (1 + mu**2)
    scale = np.where(length > 0, mu * s / np.where(length > 0, length, 1), 0)
    projected = np.column_stack([s, scale[:, None] * y[:, 1:]])
    projected = np.where(inside[:, None], y, np.where(polar[:, None], 0, projected))
    return np.linalg.norm(r - projected)


def only(answer):
    (frame,) = answer["frames"]
    return frame


def value(frame, metric):
    return frame["metrics"][metric]["value"]


# ---- what there is ---------------------------------------------------------------------------------------------

def test_solvers_are_listed_and_explained():
    listed = run_json("solvers")["solvers"]
    assert [solver["name"] for solver in listed] == SOLVERS
    text = run("solvers").stdout
    for solver in listed:
        assert set(solver) == {"name", "aliases", "summary", "weakness", "reference", "laws", "traits", "formulations", "options"}
        assert solver["summary"] and solver["weakness"] and solver["reference"] and solver["laws"]
        assert re.search(rf"^  {solver['name']} ", text, re.M)
        full = run("solvers", solver["name"]).stdout
        assert full.startswith(f"{solver['name']} - ")
        assert all(f"\n  {option['name']}\n" in full for option in solver["options"])
        assert run_json("solvers", solver["name"])["solvers"] == [solver]
    assert "did you mean nsgs?" in run("solvers", "nsg", code=USAGE).stderr
    for other, name in [("cone-interior", "interior-point"), ("coloured", "batched-nncg"), ("prox", "projected-fixed-point"),
                        ("proximal", "proximal-point"), ("split", "normal-friction-splitting")]:
        assert run("solvers", other).stdout.startswith(f"{name} - ")  # two names, one method
        assert other in run_json("solvers", name)["solvers"][0]["aliases"]


def test_formulations_are_listed_and_explained():
    listed = run_json("formulations")["formulations"]
    assert [formulation["name"] for formulation in listed] == FORMULATIONS
    for formulation in listed:
        assert formulation["summary"] and formulation["reference"] and formulation["laws"]
        gap = next(option for option in formulation["options"] if option["name"] == "gap_term")
        assert gap["type"] == "choice" and gap["default"] in gap["choices"]
        assert "gap_term" in run("formulations", formulation["name"]).stdout
    assert "did you mean cone?" in run("formulations", "con", code=USAGE).stderr


def test_options_have_ranges_and_defaults():
    listed = run_json("formulations", "cone")["formulations"][0]["options"]
    gamma = next(option for option in listed if option["name"] == "gamma")
    assert (gamma["type"], gamma["default"], gamma["min"], gamma["max"], gamma["choices"]) == ("real", "1", 0, 1, None)
    assert "Default: 1. Allowed: 0 to 1." in " ".join(run("formulations", "cone").stdout.split())


def test_metrics_are_listed_and_explained():
    listed = run_json("metrics")["metrics"]
    definition_file = (SOURCE / "src/metrics/metrics.def").read_text()
    assert [metric["name"] for metric in listed] == re.findall(r'^SS_METRIC\(\w+, "(\w+)"', definition_file, re.M)
    assert [metric["name"] for metric in listed if metric["gauge"]] == \
        [name for name in (metric["name"] for metric in listed) if name in GAUGES]
    assert "over sticking contacts" in run("metrics", "creep").stdout
    assert "did you mean creep?" in run("metrics", "crepe", code=USAGE).stderr


def test_metrics_page_is_that_of_the_program():
    page = (SOURCE / "docs/metrics.md").read_text()
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in page.splitlines() if line.startswith("| `")]
    listed = run_json("metrics")["metrics"]
    assert rows == [[f"`{metric['name']}`", metric["unit"], metric["summary"],
                     metric["definition"].replace("|", r"\|")] for metric in listed]


def is_too_large(frame):
    """The solver takes problems of that kind, but not of that size."""
    return frame["status"] == "not applicable" and "accepts at most" in frame["why"]


def test_table_of_what_fits_what_is_true(slope):
    """Asked of the solvers themselves, on a frame with contacts only."""
    lines = run("solvers", "--table").stdout.splitlines()
    assert lines[0].split() == ["solver", *FORMULATIONS]
    cells = {line.split()[0]: line.split()[1:] for line in lines[1:len(SOLVERS) + 1]}
    for solver in run_json("solvers")["solvers"]:
        for formulation, cell in zip(FORMULATIONS, cells[solver["name"]]):
            reach = solver["formulations"][formulation]
            assert (cell == "-") == (not reach["contacts"]) and (cell == "all") == reach["limits"]
            assert (reach["why"] is None) == reach["limits"]
            ended = run_json("solve", slope, "--frame", "0", "-s", solver["name"], "-f", formulation,
                             "--iterations", "2", code=None)
            refused = only(ended)["status"] == "not applicable"
            assert refused == (not reach["contacts"]) or is_too_large(only(ended))


# ---- the automatic choice --------------------------------------------------------------------------------------

def test_decisions_are_told_when_asked_for(slope):
    frame = only(run_json("solve", slope, "--frame", "0", "--explain"))
    assert frame["notes"][0] == "12 unknowns, 4 contacts, 1 body; laws: cone"
    assert frame["notes"][-1].startswith(f"{frame['iterations']} iterations of admm: solved")
    assert "notes" not in only(run_json("solve", slope, "--frame", "0"))
    assert only(run_json("solve", slope, "--frame", "0", "--explain", "-s", "pgs"))["notes"] == []
    told = run("solve", slope, "--frame", "0:2", "--explain").stdout
    assert told.count("  12 unknowns, 4 contacts") == 2 and "mbs_frame000002\n  12 unknowns" in told
    assert "iterations of" not in run("solve", slope, "--frame", "0:2").stdout


# ---- the answer as JSON ----------------------------------------------------------------------------------------

def test_json_of_frames(slope):
    answer = run_json("solve", slope, "--frame", "1:4")
    assert answer["file"] == slope and answer["format"] == "bpmd" and answer["solver"] == "auto"
    assert answer["stop"] == "natural_map<1e-8" and answer["refused"] == []
    assert [frame["index"] for frame in answer["frames"]] == [1, 2, 3]
    metrics = [metric["name"] for metric in run_json("metrics")["metrics"]]
    for frame in answer["frames"]:
        assert frame["frame"] == f"/simulation_000001/mbs_frame{frame['index'] + 1:06d}"
        assert (frame["formulation"], frame["solver"], frame["status"]) == ("cone", "auto", "converged")
        assert frame["unknowns"] == 12 and 0 < frame["iterations"] and frame["seconds"] > 0
        assert list(frame["gauges"]) == GAUGES and list(frame["metrics"]) == metrics
        assert value(frame, "natural_map") < 1e-8 and value(frame, "sliding") == 4
        assert frame["metrics"]["energy"]["worst"] in range(4)


def test_what_does_not_apply_says_why(slope, here):
    frame = only(run_json("solve", slope, "--frame", "0"))
    assert frame["metrics"]["creep"] == {"value": None, "worst": None, "why": "nothing sticks"}
    assert frame["metrics"]["distance"]["why"] == "no reference"
    write_local("local.hdf5", seed=1)
    problem = only(run_json("solve", "local.hdf5"))
    assert problem["frame"] == "/fclib_local" and problem["index"] is None and problem["formulation"] == "cone"
    assert problem["metrics"]["momentum"]["value"] is None and "bodies" in problem["metrics"]["momentum"]["why"]


def test_a_joint_can_be_the_worst(small):
    frame = only(run_json("solve", small, "--frame", "0", "--iterations", "1", "--stop", "none", "-s", "jacobi"))
    joint = frame["metrics"]["joint_speed"]
    assert joint["value"] > 0 and joint["worst"] is None and joint["worst_constraint"] == 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_a_status_and_metrics(solver, slope, here):
    write_fclib("ball.hdf5")
    formulations = next(s for s in run_json("solvers")["solvers"] if s["name"] == solver)["formulations"]
    fitting = [name for name in ("cone", "convex", "box", "stewart-trinkle", "frictionless")
               if formulations[name]["contacts"]]
    assert fitting, "fits no formulation"
    for formulation in fitting:
        frame = only(run_json("solve", slope, "--frame", "3", "-s", solver, "-f", formulation, code=None))
        if is_too_large(frame):
            continue
        assert frame["status"] in STATUSES - {"not applicable"}
        assert value(frame, "energy") is not None and np.isfinite(value(frame, "energy"))
        assert value(frame, "momentum") < 1e-25  # J: velocities follow from the impulses up to rounding
    problem = only(run_json("solve", "ball.hdf5", "-s", solver, code=None))
    needs_bodies = "bodies" in (problem.get("why") or "")  # FCLIB problems have none
    assert (problem["status"] == "not applicable") == (not formulations["cone"]["contacts"] or needs_bodies)
    if problem["status"] == "not applicable":
        assert problem["why"] and problem["metrics"]["natural_map"]["why"] == problem["why"]
    elif problem["status"] == "converged":
        assert value(problem, "natural_map") < 1e-8


# ---- the numbers are right -------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", [1, 2, 3])
def test_natural_map_of_a_local_problem(seed, here):
    write_local("local.hdf5", seed)
    for iterations in (3, 10000):  # far from the solution, and at it
        problem = only(run_json("solve", "local.hdf5", "-o", "solved.hdf5", "--iterations", iterations, code=None))
        with h5py.File("solved.hdf5") as file:
            local = file["fclib_local"]
            W, q, mu = read_matrix(local["W"]), local["vectors/q"][:], local["vectors/mu"][:]
            r, u = file["solution/r"][:], file["solution/u"][:]
        assert np.allclose(u, W @ r + q, rtol=0, atol=1e-13)
        expected = natural_map(r.reshape(-1, 3), (W @ r + q).reshape(-1, 3), mu) / np.linalg.norm(q)
        assert value(problem, "natural_map") == pytest.approx(expected, rel=1e-6, abs=1e-14)
    assert problem["status"] == "converged" and expected < 1e-8
    assert "a solution" in run("info", "solved.hdf5").stdout


@pytest.mark.parametrize("seed", [4, 5])
def test_natural_map_of_a_global_problem_with_equations(seed, here):
    write_global("global.hdf5", seed)
    problem = only(run_json("solve", "global.hdf5", "-o", "solved.hdf5"))
    with h5py.File("solved.hdf5") as file:
        data = file["fclib_global"]
        M, H, G = (read_matrix(data[name]) for name in "MHG")
        f, w, b, mu = (data["vectors"][name][:] for name in ("f", "w", "b", "mu"))
        u, r, v, l = (file["solution"][name][:] for name in "urvl")
    assert np.allclose(M @ v, H @ r + G @ l + f, rtol=0, atol=1e-12)
    assert np.allclose(u, H.T @ v + w, rtol=0, atol=1e-12)
    assert np.linalg.norm(G.T @ v + b) < 1e-6  # relative_energy<1e-8 holds the equations to account
    q = H.T @ np.linalg.solve(M, f) + w
    expected = natural_map(r.reshape(-1, 3), u.reshape(-1, 3), mu) / np.linalg.norm(q)
    assert value(problem, "natural_map") == pytest.approx(expected, rel=1e-4, abs=1e-13) and expected < 1e-8


def test_natural_map_of_a_frame(slope):
    """From the velocities and impulses that were written, with the frame's arrays and nothing else."""
    frame = only(run_json("solve", slope, "--frame", "3", "-s", "pgs", "--iterations", "4", "--stop", "none",
                          "-o", "solved.h5"))
    with h5py.File("solved.h5") as file:
        data = file["simulation_000001/mbs_frame000001"]
        h, mass = data["timestep"][()], data["bodies/masses"][...].item()
        inertia = data["bodies/world_inertia_tensors"][:]
        v, force = data["bodies/velocities"][:].ravel(), data["bodies/forces"][:].ravel()
        points, normals = data["contacts/points"][:], data["contacts/normals"][:]
        gaps, mu = data["contacts/gaps"][:].ravel(), data["contacts/mu_k"][:, 0]
        arms = points - data["bodies/positions"][:]
        result = data["solver_data/pgs"]
        after, nu, tangent = result["velocities"][:].ravel(), result["normal"][:].ravel(), result["tangent"][:]
    free = v + h * np.concatenate([force[:3] / mass, np.linalg.solve(inertia, force[3:])])

    def at_contacts(velocity):  # the two tangents in one vector: any orthonormal pair gives the same norms
        point_velocity = velocity[:3] + np.cross(velocity[3:], arms)
        normal = np.sum(point_velocity * normals, axis=1)
        return np.column_stack([normal + gaps / h, point_velocity - normal[:, None] * normals])

    r = np.column_stack([nu, tangent])
    expected = natural_map(r, at_contacts(after), mu) / np.linalg.norm(at_contacts(free))
    assert value(frame, "natural_map") == pytest.approx(expected, rel=1e-9)
    gap_after = gaps + h * (at_contacts(after)[:, 0] - gaps / h)
    assert value(frame, "penetration") == pytest.approx(np.linalg.norm(np.minimum(gap_after, 0)), rel=1e-9)


def test_gauge_is_of_the_problem_and_metric_of_the_answer(slope):
    cone = only(run_json("solve", slope, "--frame", "3", "--iterations", "3", "--stop", "none"))
    assert cone["gauges"]["energy"] == pytest.approx(value(cone, "energy"), rel=1e-6)
    smooth = only(run_json("solve", slope, "--frame", "3", "-f", "frictionless"))
    assert smooth["gauges"]["relative_energy"] < 1e-8 and value(smooth, "relative_energy") > 1e-3  # friction is missing


# ---- exit codes ------------------------------------------------------------------------------------------------

def test_exit_codes(slope):
    assert run("solve", slope).returncode == DONE
    run("solve", slope, "--iterations", "2", code=FOUND)
    run("solve", slope, "--iterations", "2", "--stop", "none", code=DONE)
    run("solve", slope, "-s", "lemke", code=FOUND)  # does not take cones
    run("solve", "missing.h5", code=BAD_INPUT)
    run("solve", slope, "--frame", "20", code=BAD_INPUT)
    run("solve", slope, "-o", "no/such/place.h5", code=RESOURCES)
    run("solve", slope, "--trace", "no/such/place.csv", code=RESOURCES)


@pytest.mark.parametrize("arguments, hint", [
    (["-s", "pg"], "did you mean pgs?"),
    (["-f", "boxes"], "did you mean box?"),
    (["-s", "nsgs", "--set", "omega=1"], "nsgs: unknown option"),
    (["--set", "sweep"], "expected NAME=VALUE"),
    (["--with", "gamma=7"], "number from 0 to 1"),
    (["--stop", "enrgy<1"], "did you mean energy?"),
    (["--stop", "energy"], "METRIC<VALUE"),
    (["--stop", "energy<0"], "positive"),
    (["--stop", "creep<x"], "positive"),
    (["--keep", "best"], "best:GAUGE"),
    (["--reference", "oracle"], "unknown solver 'oracle'"),
    (["-o", "slope.h5"], "is the input file"),
    (["--trace", "slope.h5"], "is the input file"),
    (["--iterations", "-1"], "--iterations"),
])
def test_mistyped_wishes_are_named(arguments, hint, slope):
    ended = run("solve", slope, "--json", *arguments, code=USAGE)
    assert hint in ended.stderr and ended.stdout == ""


def test_options_of_frames_are_not_ignored_on_problems(here):
    write_local("local.hdf5", seed=1)
    for arguments in (["--frame", "0"], ["--with", "gamma=1"]):
        assert "is for BPMD" in run("solve", "local.hdf5", *arguments, code=USAGE).stderr


def test_faulty_frames_are_named_and_the_others_solved(here):
    write_bpmd("faulty.h5")
    with h5py.File("faulty.h5", "r+") as file:
        file["simulation_000001/mbs_frame000001/contacts/normals"][1] = [1.5, 0, 0]
    ended = run("solve", "faulty.h5", "-o", "solved.h5", code=BAD_INPUT)
    assert "not solved: /simulation_000001/mbs_frame000001/contacts/normals[1]: length 1.5" in ended.stderr
    answer = run_json("solve", "faulty.h5", code=BAD_INPUT)
    assert [frame["index"] for frame in answer["frames"]] == [1]
    assert answer["refused"][0]["place"] == "/simulation_000001/mbs_frame000001/contacts/normals[1]"
    assert len(run_json("info", "solved.h5")["frames"]) == 1


@pytest.mark.parametrize("cause", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_leaves_nothing_behind(cause, slope):
    before = set(os.listdir("."))
    program = begin_writing("solve", slope, "--stop", "none", "--iterations", "1000000000", "-s", "jacobi", "-o",
                            "out.h5")
    if cause == signal.SIGKILL and set(os.listdir(".")) != before:
        program.terminate()
        pytest.skip("this file system has no files without a name")
    program.send_signal(cause)
    assert program.wait(timeout=20) == -cause
    assert set(os.listdir(".")) == before


def test_a_failed_run_leaves_nothing_behind(slope):
    crash = build("crash", lambda text: text.replace("double norm = norm_of(problem->A);",
                                                     "double norm = norm_of((const ss_sparse *)0);"))
    Path("out.h5").write_bytes(b"old")
    before = set(os.listdir("."))
    run("solve", slope, "--plugin", crash, "-s", "richardson", "-o", "out.h5", code=FOUND)
    with open("damaged.h5", "wb") as file:
        file.write(Path(slope).read_bytes()[:-5000])
    run("solve", "damaged.h5", "-o", "out.h5", code=None)
    os.unlink("damaged.h5")
    assert set(os.listdir(".")) == before and Path("out.h5").read_bytes() == b"old"


def test_a_pipe_is_not_replaced_by_a_file(slope):
    os.mkfifo("pipe")
    assert "not a regular file" in run("solve", slope, "-o", "pipe", code=RESOURCES).stderr
    assert Path("pipe").is_fifo()


# ---- rules -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("rule, tolerance", [("energy<1e-6", 1e-6), ("relative_energy<1e-3", 1e-3),
                                             ("natural_residual<1e-4", 1e-4), ("fischer_burmeister<1e-4", 1e-4),
                                             ("natural_map<1e-5", 1e-5)])
def test_every_gauge_is_a_stop_rule(rule, tolerance, slope):
    frame = only(run_json("solve", slope, "--frame", "3", "-s", "pgs", "--stop", rule))
    loose = only(run_json("solve", slope, "--frame", "3", "-s", "pgs"))
    assert frame["status"] == "converged" and frame["gauges"][rule.split("<")[0]] < tolerance
    assert frame["iterations"] <= loose["iterations"]


def test_energy_relative_to_the_scene(slope):
    full = run_json("info", slope, "--frame", "3", "--full")
    mass, speed = full["bodies"]["masses"][0], np.linalg.norm(full["bodies"]["velocities"][0][:3])
    scene = 0.5 * mass * (speed + full["h"] * np.linalg.norm(full["bodies"]["forces"][0][:3]) / mass) ** 2
    rows = {}
    for rule in ("energy<1e-4*scene", f"energy<{1e-4 * scene!r}"):
        frame = only(run_json("solve", slope, "--frame", "3", "-s", "jacobi", "--stop", rule))
        assert frame["gauges"]["energy"] < 1e-4 * scene
        rows[rule] = frame["iterations"]
    assert len(set(rows.values())) == 1


def test_any_metric_is_a_stop_rule(slope):
    frame = only(run_json("solve", slope, "--frame", "0", "-s", "pgs", "--stop", "complementarity<1e-4"))
    assert frame["status"] == "converged" and value(frame, "complementarity") < 1e-4
    exact = only(run_json("solve", slope, "--frame", "0", "-s", "pgs"))
    assert frame["iterations"] < exact["iterations"]
    never = only(run_json("solve", slope, "--frame", "0", "-s", "jacobi", "--stop", "creep<1", "--iterations", "50",
                          code=FOUND))
    assert never["status"] != "converged"  # nothing sticks, so nothing is known about creep


def test_natural_map_does_not_forget_the_joints(here):
    """Contacts that stay open have no natural map at all; the joint has to be solved nevertheless."""
    write_bpmd("open.h5", frames=1, **{"contacts/gaps": np.array([[1.0], [1.0]])})
    frame = only(run_json("solve", "open.h5"))
    assert frame["status"] == "converged" and value(frame, "natural_map") == 0
    assert value(frame, "joint_speed") < 1e-6 and frame["gauges"]["relative_energy"] < 1e-8


def test_frames_without_contacts_are_solved(here):
    write_bpmd("joints.h5", frames=1, **{"contacts/gaps": np.zeros((0, 1)), "contacts/pairs": np.zeros((0, 2), "i4"),
                                         "contacts/points": np.zeros((0, 3)), "contacts/normals": np.zeros((0, 3)),
                                         "contacts/mu_k": np.zeros((0, 2))})
    frame = only(run_json("solve", "joints.h5"))
    assert frame["status"] == "converged" and value(frame, "natural_map") is None
    assert value(frame, "joint_speed") < 1e-6


@pytest.mark.parametrize("gauge", GAUGES)
def test_the_best_iterate_is_never_worse_than_the_last(gauge, here):
    write_local("local.hdf5", seed=7)
    for iterations in (1, 2, 5, 20):
        common = ["solve", "local.hdf5", "-s", "jacobi", "--stop", "none", "--iterations", iterations]
        last, best = (only(run_json(*common, "--keep", keep)) for keep in ("last", f"best:{gauge}"))
        assert best["gauges"][gauge] <= last["gauges"][gauge]
        assert 1 <= best["kept_iteration"] <= last["kept_iteration"] == iterations


def test_limits_end_a_run(slope):
    frame = only(run_json("solve", slope, "--frame", "0", "--stop", "none", "--time-limit", "0.05",
                          "--iterations", "1000000000", "-s", "jacobi"))
    assert frame["status"] == "time limit" and 0.05 <= frame["seconds"] < 1


def test_options_reach_formulation_and_solver(slope):
    def friction(*arguments):
        return value(only(run_json("solve", slope, "--frame", "3", *arguments)), "contact_work")
    assert friction("--with", "mu_max=0.1") > friction() > friction("--with", "mu_max=0", "--with", "gamma=1") - 1e-9
    slow, fast = (only(run_json("solve", slope, "--frame", "0", "-s", "jacobi", "--set", "power_iterations=50",
                                "--set", f"scale={scale}"))["iterations"] for scale in (0.1, 1))
    assert slow > 3 * fast


def test_a_flag_that_is_given_too_often(slope):
    many = [word for _ in range(33) for word in ("--set", "sweep=forward")]
    assert "at most 32 times" in run("solve", slope, *many, code=USAGE).stderr
    assert run("solve", slope, "--frame", "0", "-s", "nsgs", *many[2:]).returncode == DONE


# ---- starts and references -------------------------------------------------------------------------------------

def test_warm_starts_save_iterations(slope):
    rule = ["--stop", "relative_energy<1e-6", "-s", "jacobi"]
    cold, warm = (run_json("solve", slope, *rule, *flags)["frames"] for flags in ([], ["--warm"]))
    assert warm[0]["iterations"] == cold[0]["iterations"]  # nothing to start from
    assert sum(frame["iterations"] for frame in warm) < sum(frame["iterations"] for frame in cold)


def test_a_stored_guess_is_a_start(here):
    write_local("local.hdf5", seed=2)
    run("solve", "local.hdf5", "-o", "solved.hdf5", "--stop", "natural_map<1e-10")
    with h5py.File("solved.hdf5", "r+") as file:
        file["guesses/number_of_guesses"] = np.array([1], dtype="i4")
        file["guesses/1/r"], file["guesses/1/u"] = file["solution/r"][:], file["solution/u"][:]
    assert only(run_json("solve", "solved.hdf5"))["iterations"] > 1
    assert only(run_json("solve", "solved.hdf5", "--warm"))["iterations"] == 1


def test_distance_to_the_truth(slope):
    def look(rule):
        return only(run_json("solve", slope, "--frame", "3", "-s", "pgs", "--stop", rule, "--reference", "nsgs"))
    near, far = look("relative_energy<1e-6"), look("relative_energy<1e-2")
    assert far["reference"]["gauges"]["natural_map"] < 1e-8 and far["reference"]["formulation"] == "cone"
    assert 0 < value(near, "distance") < value(far, "distance")
    assert value(far, "trust") == pytest.approx(value(far, "energy") / value(far, "distance"))


def test_a_reference_that_does_not_get_there_says_so(slope):
    frame = only(run_json("solve", slope, "--frame", "3", "--reference", "lemke"))  # does not take cones
    assert frame["reference"]["status"] == "not applicable"
    assert frame["metrics"]["distance"]["value"] is None and "did not reach" in frame["metrics"]["distance"]["why"]


# ---- files that come out ---------------------------------------------------------------------------------------

def test_answers_are_written_beside_the_frames(slope):
    answer = run_json("solve", slope, "-s", "pgs", "-o", "solved.h5")
    before, after = run_json("info", slope)["frames"], run_json("info", "solved.h5")["frames"]
    assert [frame["hash"] for frame in after] == [frame["hash"] for frame in before]
    assert all(frame["results"] == ["by_hand", "pgs"] for frame in after)
    with h5py.File("solved.h5") as file:
        for number, frame in enumerate(answer["frames"], 1):
            data = file[f"simulation_000001/mbs_frame{number:06d}/solver_data"]
            ours, by_hand = data["pgs"], data["by_hand"]
            assert np.allclose(ours["velocities"], by_hand["velocities"], rtol=0, atol=1e-6)  # natural_map 1e-8, small inertia
            assert ours["iterations"][()] == frame["iterations"] == len(ours["errors"])
            assert ours["errors"][-1, 0] == pytest.approx(ours["error"][()]) and ours["error"][()] < 1e-8
            for metric, judged in frame["metrics"].items():
                assert (metric in ours["metrics"]) == (judged["value"] is not None)
                if judged["value"] is not None:
                    assert ours["metrics"][metric][...].item() == judged["value"]
            assert ours["metrics/contact_energy"].shape == (4, 1)
            assert np.sum(ours["metrics/contact_energy"]) == pytest.approx(value(frame, "energy"))
    assert run("check", "solved.h5").returncode == DONE


def test_a_second_run_replaces_its_own_result_only(slope):
    run("solve", slope, "--frame", "0", "-s", "pgs", "-o", "one.h5")
    run("solve", "one.h5", "-s", "nsgs", "-o", "two.h5")
    run("solve", "two.h5", "-s", "pgs", "--iterations", "1", "--stop", "none", "-o", "three.h5")
    assert run_json("info", "three.h5")["frames"][0]["results"] == ["by_hand", "nsgs", "pgs"]
    with h5py.File("three.h5") as file:
        assert file["simulation_000001/mbs_frame000001/solver_data/pgs/iterations"][()] == 1


def test_solution_of_a_problem_keeps_the_rest_of_the_file(here):
    write_fclib("ball.hdf5", reaction=0.0)
    run("solve", "ball.hdf5", "-o", "solved.hdf5")
    before, after = (run_json("info", name, "--full")["problems"][0] for name in ("ball.hdf5", "solved.hdf5"))
    assert after["matrices"] == before["matrices"] and after["vectors"] == before["vectors"]
    assert after["title"] == "ball" and after["solution"]["verdict"] == "a solution"
    assert after["stored_solution"]["r"] == pytest.approx([0.0981, 0, 0])


def test_measuring_every_iteration_ends_the_run_at_the_first_good_one(slope):
    method = ["--frame", "3", "-s", "pgs", "-f", "box", "--stop", "relative_energy<1e-3"]
    plain, every = (only(run_json("solve", slope, *method, *more)) for more in ([], ["--every-iteration"]))
    only(run_json("solve", slope, *method, "--trace", "history.csv"))
    with open("history.csv") as file:
        errors = [float(row["relative_energy"]) for row in csv.DictReader(file)]
    assert every["iterations"] == len(errors) <= plain["iterations"]
    assert errors[-1] < 1e-3 <= min(errors[:-1], default=1.0)


def test_trace_has_every_iteration(slope):
    answer = run_json("solve", slope, "--frame", "0:3", "--trace", "history.csv")
    with open("history.csv") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["frame", "iteration", "seconds", *GAUGES]
    for frame in answer["frames"]:
        own = [row for row in rows if row["frame"] == frame["frame"]]
        assert [int(row["iteration"]) for row in own] == list(range(1, frame["iterations"] + 1))
        assert np.all(np.diff([float(row["seconds"]) for row in own]) >= 0)
        for gauge in GAUGES:
            assert float(own[-1][gauge]) == pytest.approx(frame["gauges"][gauge], rel=1e-6)
    run("solve", slope, "--frame", "0", "-f", "box", "--trace", "box.csv")
    with open("box.csv") as file:
        assert all(row["natural_map"] == "" and row["energy"] for row in csv.DictReader(file))


def test_text_is_a_table_with_a_summary(slope):
    text = run("solve", slope).stdout
    assert re.findall(r"^  (\d+) +converged ", text, re.M) == [str(i) for i in range(20)]  # as --frame counts
    assert "\n20 frames: 20 converged; " in text and "\nworst natural_map " in text
    one = run("solve", slope, "--frame", "0").stdout
    assert re.search(r"^  creep  +- +m/s +nothing sticks$", one, re.M)  # all metrics of a single frame


# ---- plug-ins --------------------------------------------------------------------------------------------------

PLUGIN = SOURCE / "examples/plugin/my_solver.c"


def build(name, change=lambda text: text):
    """A plug-in in this directory, from the template with a change."""
    Path(f"{name}.c").write_text(change(PLUGIN.read_text()))
    subprocess.run(["cc", "-std=c17", "-fPIC", "-shared", f"-I{SOURCE / 'include'}", f"{name}.c", "-o", f"{name}.so",
                    "-lm"], check=True)
    return f"{name}.so"


def test_template_builds_and_passes_its_own_test(slope):
    environment = {**os.environ, "STICKSLIP_INCLUDE": str(SOURCE / "include")}
    ended = subprocess.run([PLUGIN.parent / "test.sh", PROGRAM, slope], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    assert "20 converged" in ended.stdout
    assert len(PLUGIN.read_text().splitlines()) < 80


def test_a_plugin_is_a_solver_like_any_other(slope):
    plugin = ["--plugin", build("mine")]
    assert [solver["name"] for solver in run_json("solvers", *plugin)["solvers"]] == [*SOLVERS, "richardson"]
    assert "damping" in run("solvers", "richardson", *plugin).stdout
    frame = only(run_json("solve", slope, "--frame", "3", *plugin, "-s", "richardson", "--set", "damping=1.5",
                          "--trace", "history.csv", "-o", "solved.h5"))
    assert frame["status"] == "converged" and frame["solver"] == "richardson" and value(frame, "natural_map") < 1e-8
    assert run_json("info", "solved.h5")["frames"][0]["results"] == ["by_hand", "richardson"]
    other = build("other", lambda text: text.replace('"richardson"', '"richardson-2"'))
    assert run("solve", slope, "--frame", "0", *plugin, "--plugin", other, "-s", "richardson-2").returncode == DONE
    assert "unknown solver 'richardson'" in run("solve", slope, "-s", "richardson", code=USAGE).stderr


@pytest.mark.parametrize("change, hint", [
    (lambda text: text.replace("ss_plugin = {.abi = SS_ABI", "ss_plugin = {.abi = SS_ABI + 1"), "was built for ABI"),
    (lambda text: text.replace(".abi = SS_ABI,\n", ".abi = 0,\n"), "solver 0 was built for ABI 0"),
    (lambda text: text.replace("ss_plugin =", "something_else ="), "does not export ss_plugin"),
    (lambda text: text.replace('"richardson"', '"pgs"'), "solver name 'pgs' is already used by the library"),
    (lambda text: text.replace('"richardson"', '"my solver"'), "no valid name"),
    (lambda text: text.replace(".solve = solve,", ""), "no solve function"),
    (lambda text: text.replace("{&richardson, NULL}", "{NULL}"), "brings nothing"),
    (lambda text: text.replace("{&richardson, NULL}", "{&richardson, &richardson, NULL}"), "is used twice"),
])
def test_a_plugin_that_is_wrong_says_why(change, hint, slope):
    plugin = build("wrong", change)
    for arguments in (["solvers"], ["solve", slope]):
        ended = run(*arguments, "--plugin", plugin, code=BAD_INPUT)
        assert "wrong.so" in ended.stderr and hint in ended.stderr and ended.stdout == ""


def test_what_is_no_plugin_at_all(slope):
    Path("text.so").write_text("not a library\n")
    for name in ("missing.so", "text.so", slope):
        assert f"{name}: cannot be loaded" in run("solvers", "--plugin", name, code=BAD_INPUT).stderr
    twice = build("twice")
    assert "twice.so: is registered already" in run("solvers", "--plugin", twice, "--plugin", twice, code=BAD_INPUT).stderr


def test_a_crash_of_a_plugin_is_not_blamed_on_the_file(slope):
    crash = build("crash", lambda text: text.replace("double norm = norm_of(problem->A);",
                                                     "double norm = norm_of((const ss_sparse *)0);"))
    ended = run("solve", slope, "--plugin", crash, "-s", "richardson", code=FOUND)
    assert "crashed while solving /simulation_000001/mbs_frame000001 with richardson" in ended.stderr
    assert "HDF5" not in ended.stderr


def test_an_x_that_is_not_finite_does_not_come_through(slope):
    broken = build("broken", lambda text: text.replace("ss_problem_project(problem, x);", "x[0] = NAN;"))
    frame = only(run_json("solve", slope, "--frame", "0", "--plugin", broken, "-s", "richardson", code=FOUND))
    assert frame["status"] == "failed" and np.isfinite(value(frame, "energy"))
    (note,) = frame["notes"]
    assert re.match(r"x\[0\] is -?nan after \d+ iterations: the start is returned", note)


def test_a_plugin_that_never_returns_is_ended_and_the_next_frame_is_solved(slope):
    endless = build("endless", lambda text: text.replace("double norm = norm_of(problem->A);",
                                                         "double norm = norm_of(problem->A);\n"
                                                         "    if (problem->size > 0) for (volatile int i = 0;; i++) {}"))
    limits = ["-s", "richardson", "--time-limit", "0.05", "--no-diagnose"]
    ended = run("solve", slope, "--frame", "0:2", "--plugin", endless, *limits, "--json", code=FOUND)
    frames = json.loads(ended.stdout)["frames"]
    assert [frame["status"] for frame in frames] == ["time limit"] * len(frames) and len(frames) > 1
    assert all(np.isfinite(value(frame, "energy")) for frame in frames)
    assert ended.stderr.count("richardson did not stop within 2.1 s and was ended") == len(frames)


def test_behind_the_fence_a_plugin_gives_the_same_answer(slope):
    plugin = ["--plugin", build("mine"), "-s", "richardson", "--frame", "3", "--explain", "--every-iteration"]
    free, fenced = (run("solve", slope, *plugin, *more, "--trace", "trace.csv", "--json", code=None)
                    for more in ([], ["--time-limit", "1000"]))
    one, other = (only(json.loads(ended.stdout)) for ended in (free, fenced))
    assert free.returncode == fenced.returncode
    for key in one.keys() - {"seconds"}:
        assert one[key] == other[key], key


def test_a_crash_behind_the_fence_is_told_like_any_other(slope):
    crash = build("crash", lambda text: text.replace("double norm = norm_of(problem->A);",
                                                     "double norm = norm_of((const ss_sparse *)0);"))
    ended = run("solve", slope, "--plugin", crash, "-s", "richardson", "--time-limit", "5", code=FOUND)
    assert "crashed while solving /simulation_000001/mbs_frame000001 with richardson" in ended.stderr


@pytest.mark.parametrize("verb", ["solve", "solvers", "formulations", "metrics", "paper"])
def test_examples_in_the_help_are_valid(verb, here):
    examples = re.findall(rf"^  stickslip ({verb}.*)$", run("help", verb).stdout.split("Examples\n")[1], re.M)
    assert examples
    for example in examples:
        if example == "paper all -o studies --quick":
            continue  # half a minute; test_papers.py runs this very command
        run(*shlex.split(example), code=BAD_INPUT if verb == "solve" else DONE)


def test_completion_knows_the_names(here):
    from test_cli import complete
    assert complete("solve", "x", "--solver", "ns") == [name for name in SOLVERS if name.startswith("ns")]
    assert complete("solve", "x", "--formulation", "stew") == ["stewart-trinkle"]
    assert complete("paper", "ro") == ["rod"] and complete("metrics", "creep_") == ["creep_max"]
    Path("plug.so").touch()
    assert complete("solve", "x", "--plugin", "pl") == ["plug.so"]
