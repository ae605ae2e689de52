"""Frames of others that have no solution: `stickslip solve` says so, and where it is."""
import json
import os
import subprocess

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


def test_the_table_tells_it_and_what_may_help():
    text = solve("-s", "interior-point", "--frame", "0:4", code=1)
    assert text.count(": wedged: contact ") == 4
    assert "--with mu_max=1" in text


@pytest.mark.parametrize("remedy", ["mu_max=1", "gap_term=zero"])
def test_what_may_help_does(remedy):
    solve("-s", "interior-point", "--frame", "0:4", "--with", remedy, code=0)
