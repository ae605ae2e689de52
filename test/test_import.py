"""Lines of JSON become a recording: every array arrives, and what is wrong is named by line and place."""
import json
import os
import subprocess

import h5py
import numpy as np
import pytest

from test_cli import BAD_INPUT, DONE, PROGRAM, here, run, run_json

HEAD = {"toolkit": "my engine 1.0", "title": "two", "gravity": [0, 0, -9.81], "formulation": "box", "with": "gamma=0.2",
        "shapes": [{"body": 0, "kind": "box", "size": [1, 2, 3], "position": [0, 0, 1]}, {"body": -1, "kind": "plane"}]}


def frame(step=0):
    body = {"mass": 2, "position": [0, 0, 1], "quaternion": [0, 1, 0, 0], "local_inertia": [1, 2, 3],
            "velocity": [1, 2, 3, 4, 5, 6], "force": [0, 0, -19.62, 0, 0, 0]}
    row = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    return {"time": 0.5 * step, "h": 0.01, "bodies": [body, {**body, "inertia": [[4, 0, 0], [0, 5, 0], [0, 0, 6]],
                                                             "local_inertia": None}],
            "joints": [{"a": -1, "b": 1, "jacobian": [row, row[1:] + [0]], "violation": [0.1, 0.2], "bounds": [[0, "inf"], ["-inf", 3]]}],
            "contacts": [{"a": 0, "b": 1, "point": [1, 2, 3], "normal": [0, 0, 1], "gap": -0.1, "mu": 0.5, "restitution": 0.3,
                          "mu_torsion": 0.02, "spin_coupling": "ellipsoid"}],
            "results": {"mine": {"velocities": [[1] * 6, [2] * 6], "lambda": [7, 8], "normal": [9], "tangent": [[1, 2, 0]]},
                        "other": {"normal": [3]}}}


def clean(line):
    for body in line["bodies"]:
        if body.get("local_inertia") is None:
            body.pop("local_inertia", None)
    return line


def write(*lines):
    with open("in.ndjson", "w") as file:
        file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


def test_every_array_arrives(here):
    write(HEAD, "", clean(frame(0)), clean(frame(1)))
    assert "2 frames" in run("import", "in.ndjson", "out.h5", code=DONE).stderr
    assert run_json("info", "out.h5")["simulations"][0]["toolkit"] == "my engine 1.0"
    with h5py.File("out.h5") as file:
        simulation = file["simulation_000001"]
        assert (simulation["manifest/gravity"][()].ravel() == [0, 0, -9.81]).all() and simulation["shapes/kinds"].shape[0] == 2
        f = simulation["mbs_frame000002"]
        assert f["time"][()] == 0.5 and f["timestep"][()] == 0.01
        assert (f["bodies/velocities"][()].ravel()[:6] == [1, 2, 3, 4, 5, 6]).all()
        tensors = f["bodies/world_inertia_tensors"][()].reshape(2, 3, 3)
        assert np.abs(tensors[0] - np.diag([1, 2, 3])).max() < 1e-15 and (tensors[1] == np.diag([4, 5, 6])).all()  # half a turn
        assert (f["constraints/bounds"][()] == [[0, np.inf], [-np.inf, 3]]).all()
        assert (f["constraints/violations"][()].ravel() == [0.1, 0.2]).all() and f["constraints/Jacobian"][()][1, 5] == 1
        assert f["contacts/gaps"][()] == -0.1 and f["contacts/restitution"][()] == 0.3
        assert f["contacts/mu_t"][()] == 0.02 and f["contacts/spin_coupling"][()] == 1
        mine = f["solver_data/mine"]
        assert (mine["lambda"][()].ravel() == [7, 8]).all() and (mine["tangent"][()].ravel() == [1, 2, 0]).all()
        assert mine.attrs["formulation"] in ("box", b"box")
        assert set(f["solver_data/other"]) == {"normal"}


def test_a_pipe_is_recorded_and_the_head_may_be_missing(here):
    ended = subprocess.run([PROGRAM, "import", "-", "out.h5"], input=json.dumps(clean(frame())), text=True, capture_output=True)
    assert ended.returncode == DONE, ended.stderr
    assert len(run_json("info", "out.h5")["frames"]) == 1


def broken(change):
    line = clean(frame())
    change(line)
    return line


WRONG = [
    (lambda f: f["contacts"][0].update(normal=[0, 1]), "in.ndjson:2: contacts[0].normal: expected 3 numbers"),
    (lambda f: f["contacts"][0].update(normal=[0, 0, 2]), "in.ndjson:2: "),  # not a unit vector: the check of the frame
    (lambda f: f["contacts"][0].update(a=5), "contacts[0]: a: expected the number of a body"),
    (lambda f: f["contacts"][0].pop("gap"), "contacts[0].gap: missing"),
    (lambda f: f["contacts"][0].update(frcition=1), "unknown key 'frcition'"),
    (lambda f: f["contacts"][0].update(spin_coupling="tight"), "contacts[0]: spin_coupling: expected independent or ellipsoid"),
    (lambda f: f["bodies"][1].update(mass="heavy"), "bodies[1].mass: expected 1 number"),
    (lambda f: f["bodies"][1].update(velocity=[0] * 7), "bodies[1].velocity: expected 6 numbers"),
    (lambda f: f["joints"][0].update(violation=[1]), "joints[0].violation: expected 2 numbers"),
    (lambda f: f["joints"][0].update(jacobian=7), "joints[0]: jacobian: expected rows of 12 numbers"),
    (lambda f: f["results"]["mine"].update(normal=[1, 2]), "results.mine.normal: expected 1 number"),
    (lambda f: f.update(bodys=[]), "did you mean bodies?"),
    (lambda f: f.update(bodies={}), "in.ndjson:2: bodies: expected an array"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_wrong_is_named_and_nothing_is_written(number, here):
    change, message = WRONG[number]
    (here / "out.h5").write_bytes(b"old")
    write(HEAD, broken(change))
    assert message in run("import", "in.ndjson", "out.h5", code=BAD_INPUT).stderr
    assert (here / "out.h5").read_bytes() == b"old" and sorted(os.listdir()) == ["in.ndjson", "out.h5"]


def test_other_nonsense(here):
    for text, message in (("", "no frame in it"), ("{", "in.ndjson:1: not JSON"), ("[1, 2]", "in.ndjson:1: "), ("7", "in.ndjson:1: "),
                          (json.dumps(HEAD) + "\n" + json.dumps(HEAD), "in.ndjson:2: a frame needs h"),
                          ('{"h": 1e999}', "in.ndjson:1: "), ('{"h": [[[[1]]], 2]}', "h: expected 1 number"),
                          ("{\"h\": " + "[" * 100000, "in.ndjson:1: not JSON"), ('{"shapes": [{"kind": "duck"}]}', "shapes[0]: kind")):
        write(text)
        ended = run("import", "in.ndjson", "out.h5", code=BAD_INPUT)
        assert message in ended.stderr, (text[:50], ended.stderr)
    assert "cannot be read" in run("import", "nothing.ndjson", "out.h5", code=BAD_INPUT).stderr
