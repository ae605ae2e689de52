"""What is wrong with a problem, on the command line: `solve` tells it when it fails, `check --problems` at any time."""
import json
import os
import subprocess

import pytest

from shared_data import shared

WEDGED = "bpmd/ode_january2013.h5"
UNSYMMETRIC = "fclib/Rover1040.hdf5"
WEDGED_FRAME = ["--frame", "mbs_frame000037"]


def run(verb, file, *arguments, code):
    done = subprocess.run([os.environ["SS_PROGRAM"], verb, shared(file), *map(str, arguments)], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def complaints(frame):
    return {item["defect"]: item for item in frame["diagnosis"]["complaints"]}


def test_a_frame_that_is_not_solved_is_diagnosed_on_standard_error():
    done = run("solve", WEDGED, *WEDGED_FRAME, "-s", "pgs", "--iterations", 20, code=1)
    assert "/mbs_frame000037: warning: wedged: contact 0" in done.stderr
    assert "on body 0, 1" in done.stderr
    assert "warning: wedged" not in done.stdout


@pytest.mark.parametrize("flags", [["--quiet"], ["--no-diagnose"]])
def test_who_does_not_want_to_know_is_not_told(flags):
    done = run("solve", WEDGED, *WEDGED_FRAME, "-s", "pgs", "--iterations", 20, *flags, code=1)
    assert "wedged" not in done.stderr


def test_json_has_the_diagnosis_of_what_is_not_solved():
    frame = json.loads(run("solve", WEDGED, *WEDGED_FRAME, "-s", "pgs", "--iterations", 20, "--json",
                           code=1).stdout)["frames"][0]
    assert frame["diagnosis"]["unknowns"] == frame["unknowns"] == 12
    assert frame["diagnosis"]["rank"] == 10
    found = complaints(frame)["wedged"]
    assert found["severity"] == "warning" and found["count"] == 4 and "mu_max" in found["advice"]


def test_what_is_solved_is_not_diagnosed():
    done = run("solve", WEDGED, *WEDGED_FRAME, "--with", "mu_max=1", "--json", code=0)
    assert "diagnosis" not in json.loads(done.stdout)["frames"][0]


def test_a_limit_that_was_asked_for_is_no_failure():
    done = run("solve", WEDGED, *WEDGED_FRAME, "-s", "pgs", "--iterations", 20, "--stop", "none", "--json", code=0)
    assert "diagnosis" not in json.loads(done.stdout)["frames"][0]


def test_of_many_the_first_are_told_and_the_others_counted():
    done = run("solve", WEDGED, "--frame", "0:12", "-s", "pgs", "--iterations", 1, code=1)
    told = {line.split(":")[0] for line in done.stderr.splitlines() if line.startswith("/mbs") and ": " in line}
    assert len(told) <= 5
    assert "more not solved; stickslip check --problems examines every frame" in done.stderr


def test_check_looks_at_problems_only_when_asked():
    assert "wedged" not in run("check", WEDGED, code=3).stdout
    text = run("check", WEDGED, "--problems", code=3).stdout
    assert "/mbs_frame000037: wedged: contact 0, contact 1, contact 2, contact 3 on body 0, 1;" in text
    assert "fault    /mbs_frame003689: no velocity satisfies all of " in text


def test_notes_are_no_faults():
    done = json.loads(run("check", UNSYMMETRIC, "--problems", "--json", code=0).stdout)
    assert done["ok"] and done["counts"]["faults"] == 0
    assert any("rank 14" in note["message"] for note in done["notes"])
    assert done["counts"]["notes"] == len(done["notes"]) > 0
    assert any("A is not symmetric" in warning["message"] for warning in done["warnings"])


def test_another_formulation_can_be_looked_at():
    run("check", WEDGED, "--problems", "--formulation", "box", code=3)
    assert "unknown formulation 'boks'" in run("check", WEDGED, "--problems", "-f", "boks", code=2).stderr
