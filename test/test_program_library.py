"""The program as a function, with solvers, a metric and a formulation that are Python functions: they run in worker
processes, where they may crash, hang or eat memory without harm."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from test_bench import rows, slope
from test_cli import DONE, SOURCE, USAGE, here, run
from test_solve import FOUND

SCRIPT = SOURCE / "test/program_library.py"


@pytest.fixture(autouse=True)
def shared_library():
    if not (Path(os.environ["SS_BUILD_DIR"]) / "libstickslip_program.so").exists():
        pytest.skip("libstickslip_program.so is not built")


def embedded(*words, code=DONE):
    ended = subprocess.run(["/usr/bin/python3", SCRIPT, *words], capture_output=True, text=True, timeout=100)
    assert code is None or ended.returncode == code, ended.stdout + ended.stderr
    return ended


def test_it_is_the_same_program(slope):
    for words in (["--version"], ["info", slope, "--json"], ["solve", slope, "--frame", "0", "-s", "pgs"]):
        ours, theirs = embedded(*words).stdout.split("\n"), run(*words).stdout.split("\n")
        if words[0] == "solve":  # without the table that has a time in it
            ours, theirs = ([line for line in text if line.startswith("  creep")] for text in (ours, theirs))
        assert ours == theirs and ours
    assert embedded("sovle", slope, code=USAGE).stderr == run("sovle", slope, code=USAGE).stderr


def test_lists_know_what_was_registered():
    names = [solver["name"] for solver in json.loads(embedded("solvers", "--json").stdout)["solvers"]]
    assert names[-5:] == ["py-richardson", "py-crashes", "py-hangs", "py-eats", "py-raises"]
    assert "largest" in embedded("metrics").stdout and "py-frictionless" in embedded("formulations").stdout


def test_a_python_function_solves_a_frame(slope):
    frame = json.loads(embedded("solve", slope, "--frame", "3", "-s", "py-richardson", "--json").stdout)["frames"][0]
    assert frame["status"] == "converged" and frame["metrics"]["natural_map"]["value"] < 1e-8
    assert frame["metrics"]["largest"]["value"] > 0
    slippery = json.loads(embedded("solve", slope, "--frame", "3", "-f", "py-frictionless", "-s", "py-richardson", "--stop",
                                   "relative_energy<1e-9", "--json").stdout)["frames"][0]
    theirs = json.loads(run("solve", slope, "--frame", "3", "-f", "frictionless", "-s", "pgs", "--stop",
                            "relative_energy<1e-9", "--json").stdout)["frames"][0]
    assert slippery["metrics"]["kinetic_energy_change"]["value"] == pytest.approx(
        theirs["metrics"]["kinetic_energy_change"]["value"], rel=1e-6)
    raised = embedded("solve", slope, "--frame", "0", "-s", "py-raises", "--json", code=FOUND)
    assert json.loads(raised.stdout)["frames"][0]["notes"] == ["ValueError: no such luck"]
    crashed = embedded("solve", slope, "--frame", "0", "-s", "py-crashes", code=FOUND)
    assert "crashed while solving" in crashed.stderr


def test_a_time_limit_ends_a_python_function(slope):
    frame = json.loads(embedded("solve", slope, "--frame", "0", "-s", "py-hangs", "--time-limit", "0.1", "--no-diagnose",
                                "--json", code=FOUND).stdout)["frames"][0]
    assert frame["status"] == "time limit"


def test_a_campaign_of_python_functions(slope):
    words = ["bench", slope, "--frame", "0:2", "-f", "cone,py-frictionless", "--iterations", "200", "--time-limit",
             "0.5", "--max-memory", "300", "-s", "pgs,py-richardson,py-crashes,py-hangs,py-eats,py-raises", "-o", "py.db",
             "--json", "--quiet"]
    counts = json.loads(embedded(*words).stdout)
    assert counts["runs"] == 24
    results = {}
    for row in rows("py.db", "runs"):
        results.setdefault(row["solver"], set()).add((row["outcome"], row["message"]))
    assert {outcome for outcome, _ in results["py-richardson"]} <= {"converged", "max iterations", "time limit"}
    assert results["py-crashes"] == {("crashed", "signal 11 (Segmentation fault)")}
    assert {outcome for outcome, _ in results["py-hangs"]} == {"hung"}
    assert results["py-raises"] == {("failed", "ValueError: no such luck")}
    # it is refused memory, which Python turns into an exception, or the process is ended
    assert all(outcome == "out of memory" or (outcome == "failed" and "MemoryError" in message)
               for outcome, message in results["py-eats"])
    digests = {row["solver"]: row["plugin"] for row in rows("py.db", "methods") if row["formulation"] == "cone"}
    assert digests["pgs"] == "" and len(digests["py-richardson"]) == 32
    assert len([row for row in rows("py.db", "metrics") if row["name"] == "largest"]) >= 8


def test_a_simulation_with_a_python_function():
    text = json.loads(embedded("run", "sliding-block", "--steps", "5", "--solver", "py-richardson", "--finisher", "none",
                               "--iterations", "300", "--json").stdout)
    assert text["steps"] == 5
