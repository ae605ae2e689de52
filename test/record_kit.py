"""Judging recordings of other engines from the arrays in the file, with numpy alone: whether the engine's impulses explain its
velocities, and whether our solver finds the same velocities."""
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

from test_cli import run, run_json

BUILD = Path(os.environ["SS_BUILD_DIR"])


def tool(name, package):
    """A program of the build that is only there when the engine is."""
    path = BUILD / "recorders" / name
    if not path.exists():
        pytest.skip(f"built without the engine ({package})")
    return path


def recorder(engine, package):
    return tool(f"libstickslip_record_{engine}.so", package)


def call(*words, code=0, **options):
    ended = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120, **options)
    assert ended.returncode == code, f"exit code {ended.returncode}, not {code}: {ended.stderr}"
    return ended


def frames(path):
    """Every frame of the only simulation: the arrays by name, and its results."""
    with h5py.File(path) as file:
        simulation = file["simulation_000001"]
        for name in sorted(name for name in simulation if name.startswith("mbs_frame")):
            arrays, results = {}, {}
            simulation[name].visititems(lambda key, item: arrays.update({key: item[()]})
                                        if isinstance(item, h5py.Dataset) and not key.startswith("solver_data") else None)
            for solver, group in simulation[name].get("solver_data", {}).items():
                results[solver] = {key: item[()] for key, item in group.items() if isinstance(item, h5py.Dataset)}
                results[solver]["rules"] = tuple(text(group.attrs[key]) for key in ("formulation", "with"))
            yield arrays, results


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def get(arrays, name, shape):
    return np.asarray(arrays.get(name, np.zeros(shape)), float).reshape(shape)


def defect(arrays, result):
    """M (v+ - v) - h f - J' x of every live body, and the size of its terms: both as speeds."""
    ids = np.ravel(arrays["bodies/ids"]).tolist()
    n, h = len(ids), float(np.ravel(arrays["timestep"])[0])
    mass, force = get(arrays, "bodies/masses", (n,)), get(arrays, "bodies/forces", (n, 6))
    inertia = get(arrays, "bodies/world_inertia_tensors", (n, 3, 3))
    position, before = get(arrays, "bodies/positions", (n, 3)), get(arrays, "bodies/velocities", (n, 6))
    after = get(result, "velocities", (n, 6))
    live = np.ravel(arrays["bodies/states"]) > 0
    momentum, scale = np.zeros((n, 6)), np.zeros((n, 6))

    def push(body, linear, angular):
        if body in ids:
            term = np.concatenate([linear, angular])
            momentum[ids.index(body)] -= term
            scale[ids.index(body)] += np.abs(term)

    for b in range(n):
        M = np.zeros((6, 6))
        M[:3, :3], M[3:, 3:] = mass[b] * np.eye(3), inertia[b]
        momentum[b] += M @ (after[b] - before[b]) - h * force[b]
        scale[b] += np.abs(M @ after[b]) + np.abs(M @ before[b]) + np.abs(h * force[b])
    if np.size(arrays.get("contacts/pairs", ())):
        pairs = np.reshape(arrays["contacts/pairs"], (-1, 2))
        k = len(pairs)
        points, normals = get(arrays, "contacts/points", (k, 3)), get(arrays, "contacts/normals", (k, 3))
        nu, tangent = get(result, "normal", (k,)), get(result, "tangent", (k, 3))
        rolling = get(result, "rolling", (k, 3))
        for c in range(k):
            impulse = nu[c] * normals[c] + tangent[c]
            for body, sign in zip(pairs[c], (-1, 1)):
                arm = points[c] - position[ids.index(body)] if body in ids else np.zeros(3)
                if "contacts/lever_arms" in arrays:
                    arm = np.reshape(arrays["contacts/lever_arms"], (k, 2, 3))[c, 0 if sign < 0 else 1]
                push(body, sign * impulse, sign * (np.cross(arm, impulse) + rolling[c]))
    if np.size(arrays.get("constraints/pairs", ())):
        pairs, rows = np.reshape(arrays["constraints/pairs"], (-1, 2)), np.ravel(arrays["constraints/rows"]).astype(int)
        jacobian = get(arrays, "constraints/Jacobian", (rows.sum(), 12))
        x = get(result, "lambda", (rows.sum(),))
        for joint, first in enumerate(np.cumsum(rows) - rows):
            for r in range(first, first + rows[joint]):
                for side in range(2):
                    half = x[r] * jacobian[r, 6 * side:6 * side + 6]
                    push(pairs[joint][side], half[:3], half[3:])
    speed = np.zeros(n)
    for b in range(n):
        if live[b]:
            speed[b] = max(np.abs(momentum[b, :3]).max() / mass[b],
                           np.abs(np.linalg.solve(inertia[b], momentum[b, 3:])).max())
    terms = max(1e-300, np.abs(scale[:, :3] / mass[:, None]).max(), max(
        np.abs(np.linalg.solve(inertia[b], scale[b, 3:])).max() for b in range(n)))
    return speed.max(), terms


def check_balance(path, rounding):
    """M v+ = M v + h f + J' x in every frame, up to `rounding` of the terms that are added."""
    count = 0
    for arrays, results in frames(path):
        for result in results.values():
            speed, terms = defect(arrays, result)
            assert speed <= rounding * terms, (path, count, speed, terms)
        count += 1
    assert count > 0
    return count


def solve_as(path, out, solver="auto", stop="relative_energy<1e-10", formulation=None, code=0):
    """Solves every frame by the rules that are stored with the engine's answer; returns the largest difference of velocities
    and the largest velocity, per frame."""
    rules = {result["rules"] for _, results in frames(path) for result in results.values()}
    assert len(rules) == 1
    stored, options = rules.pop()
    options = options.split()
    if formulation:  # the options of the step are those of every formulation
        options = [option for option in options if not option.startswith(("tangents=", "bound="))]
    words = [word for option in options for word in ("--with", option)]
    run("solve", path, "--formulation", formulation or stored, *words, "--solver", solver, "--stop", stop, "-o", out, "--quiet",
        code=code)
    differences = []
    for (arrays, results), (_, solved) in zip(frames(path), frames(out)):
        n = np.size(arrays["bodies/ids"])
        engine, = (result for name, result in results.items())
        live = np.ravel(arrays["bodies/states"]) > 0
        theirs, ours = get(engine, "velocities", (n, 6)), get(solved[solver], "velocities", (n, 6))
        differences.append(np.abs(theirs - ours)[live].max() if live.any() else 0.0)
    return differences


def metrics(path):
    """The metrics of every stored answer, by the rules stored with it."""
    answers = run_json("judge", path, code=None)["answers"]
    assert all(answer["rules"] != "assumed" for answer in answers)
    return [{name: metric["value"] for name, metric in answer["metrics"].items()} for answer in answers]
