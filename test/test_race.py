"""The race with our peers: what can be told without them, and a tiny race that is run with Siconos where it is
installed. Without it the program says so, and races our own solvers."""
import csv
import os
import subprocess
from pathlib import Path

import pytest

from test_cli import BAD_INPUT, DONE, PROGRAM, RESOURCES, SOURCE, USAGE, here, run, run_json, write_fclib
from test_solve import only, write_local

RACE = Path(PROGRAM).parent / "race_solvers"
ENGINES = Path(PROGRAM).parent / "race_engines"
PLUGIN = Path(PROGRAM).parent / "siconos.so"
ALONE = "Siconos is not installed"


def race(*words, code=DONE):
    ended = subprocess.run([RACE, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == code, ended.stderr
    return ended


def variants():
    return race("--list").stdout.split()


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("words, says", [
    ([], "which problems?"),
    (["--quick"], "which problems?"),
    (["--loud", "x.h5"], "--loud: no such option"),
    (["--limit", "never", "x.h5"], "--limit: must be a positive number"),
    (["--jobs", "-1", "x.h5"], "--jobs: must be a positive number"),
    (["--page"], "--page: needs a value"),
])
def test_wrong_words_are_named(words, says):
    ended = race(*words, code=USAGE)
    assert says in ended.stderr and "usage:" in ended.stderr and ended.stdout == ""


def test_help_is_no_mistake():
    for program in [RACE, Path(PROGRAM).parent / "bench_self"]:
        ended = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60)
        assert ended.returncode == DONE and ended.stdout.startswith("usage:") and ended.stderr == ""


def test_what_would_spoil_the_end_is_said_before_the_start(here):
    write_fclib("ball.hdf5")
    for words, code in [(["--page", "nowhere/page.html"], RESOURCES), (["--append", "missing.md"], BAD_INPUT)]:
        ended = race("--quick", "--only", "nsgs", *words, "ball.hdf5", code=code)
        assert words[1] in ended.stderr and ended.stdout == ""


def test_names_of_nobody_are_refused(here):
    write_fclib("ball.hdf5")
    if variants():
        for name in ["nobody", "lemke", "nsg"]:
            assert f"'{name}' does not race" in race("--only", f"nsgs,{name}", "ball.hdf5", code=USAGE).stderr


def test_files_that_cannot_be_read_are_named(here):
    Path("text.h5").write_text("not a problem")
    for name in ["missing.h5", "text.h5"]:
        assert name in race(name, code=BAD_INPUT).stderr


def test_the_list_says_when_there_is_nobody(here):
    ended = race("--list")
    assert (ended.stdout == "") == (ALONE in ended.stderr)
    assert len(set(variants())) == len(variants())


def test_a_tiny_race(here):
    """Two problems, a few entrants: the answers of both sides are judged by the same function, so that whoever solved is
    below the tolerance, and the page holds what the tables say."""
    write_local("six.hdf5", 3)
    write_fclib("ball.hdf5")
    Path("more.md").write_text("## Below\n\n| a | b |\n| --- | --- |\n| <1> | `2` |\n")
    ended = race("--quick", "--only", "nsgs,prox,NSGS-AC-GP,FPP,global-NSN-AC-WR,2D-NSGS", "--csv", "times.csv", "--page",
                 "page.html", "--append", "more.md", "six.hdf5", "ball.hdf5")
    times = rows("times.csv")
    for row in times:
        if row["end"] == "solved":
            assert 0 < float(row["processor_seconds"]) < 0.4
            assert float(row["natural_map"]) <= float(row["tolerance"])
    ours = {(row["problem"], row["solver"], row["tolerance"]) for row in times if row["side"] == "stickslip"}
    assert ours == {(problem, solver, tolerance) for problem in ["six", "ball"] for solver in ["auto", "nsgs", "prox"]
                    for tolerance in ["0.0001", "1e-08"]}
    assert all(row["end"] == "solved" for row in times if row["solver"] in ["auto", "nsgs"])
    page = Path("page.html").read_text()
    assert page.count("<svg") == (4 if variants() else 2) and "<h2>Below</h2>" in page and "&lt;1&gt;" in page
    assert "<script" not in page and "http" not in page
    for problem in ["six", "ball"]:
        assert ended.stdout.count(f"| {problem} |") == 2 and page.count(f"<td> {problem} </td>") == 2
    theirs = [row for row in times if row["side"] == "siconos"]
    if variants():
        assert {row["solver"] for row in theirs} == {"NSGS-AC-GP", "FPP", "global-NSN-AC-WR"}  # the last: the ball
        assert {row["problem"] for row in theirs if row["solver"].startswith("global")} == {"ball"}
        assert {row["problem"] for row in theirs if row["end"] == "solved"} == {"six", "ball"}
        assert "geometric mean" in ended.stdout
    else:
        assert not theirs and ALONE in ended.stderr and ALONE in ended.stdout


def test_frames_are_raced_in_both_forms(here):
    """A recorded frame reaches Siconos in contact space and with the bodies' velocities as unknowns: both solve it."""
    run("run", "sliding-block", "--steps", 1, "--record", "one.h5")
    race("--quick", "--only", "nsgs,NSGS-AC-GP,global-NSN-AC-WR,global-ADMM", "--csv", "times.csv", "one.h5")
    solved = {row["solver"] for row in rows("times.csv") if row["end"] == "solved" and row["tolerance"] == "0.0001"}
    assert {"auto", "nsgs"} <= solved
    if variants():
        assert {"NSGS-AC-GP", "global-ADMM"} <= solved


def test_siconos_as_a_plug_in(here):
    """Where it is installed; without it the plug-in is not built."""
    assert PLUGIN.exists() == bool(variants())
    write_local("six.hdf5", 3)
    if not PLUGIN.exists():
        return
    answer = only(run_json("solve", "six.hdf5", "--plugin", PLUGIN, "--solver", "siconos", "--set", "method=NSGS-AC-GP",
                           "--stop", "natural_map<1e-6"))
    assert answer["status"] == "converged"
    odd = only(run_json("solve", "six.hdf5", "--plugin", PLUGIN, "--solver", "siconos", "--set", "method=2D-NSGS",
                        code=None))
    assert odd["status"] == "not applicable"
    wrong = run("solve", "six.hdf5", "--plugin", PLUGIN, "--solver", "siconos", "--set", "method=NSGS-XY", code=USAGE)
    assert "NSGS-AC-GP" in wrong.stderr


def test_engines_name_wrong_words(here):
    if not ENGINES.exists():
        return  # nobody to race with: ODE, Bullet and MuJoCo are not installed
    for words, says in [(["--fast", "1"], "--fast: no such option"), (["--steps", "no"], "--steps: needs")]:
        ended = subprocess.run([ENGINES, *words], capture_output=True, text=True, timeout=60)
        assert ended.returncode == USAGE and says in ended.stderr


def test_the_command_says_what_is_missing(here):
    ended = subprocess.run(["bash", SOURCE / "tools/bench-peers"], capture_output=True, text=True, timeout=60,
                           env={**os.environ, "SS_BUILD_DIR": str(Path.cwd()), "SS_BENCH_PEERS_DIR": str(Path.cwd() / "out")})
    assert ended.returncode == BAD_INPUT and "build first" in ended.stderr
