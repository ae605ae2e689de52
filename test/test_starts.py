"""Campaigns whose runs start from an answer to the frame before. A planted solver counts: its answer is its start plus one, and it
takes that many iterations, so that every run says how long the chain is that led to it."""
import csv
import math
import os
import re
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from test_bench import build_plugin, write_campaign
from test_cli import PROGRAM, USAGE, here, run, run_json

COUNTS = r"""
#include <stickslip/plugin.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct counts_options { int dies_at; double seconds; } counts_options;
static const ss_option table[] = {
    {.name = "dies_at", .type = SS_OPTION_INT, .offset = offsetof(counts_options, dies_at), .default_value = "-1",
     .min = -1, .max = 1000, .help = "the start that kills it"},
    {.name = "seconds", .type = SS_OPTION_REAL, .offset = offsetof(counts_options, seconds), .default_value = "0",
     .max = 1, .help = "s that a run takes"},
    {.name = NULL}};

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const counts_options *own = options;
    int start = (int)x[0];
    for (double until = ss_clock_seconds() + own->seconds; ss_clock_seconds() < until;) {}
    if (start == own->dies_at) abort();
    for (int i = 0; i < problem->size; i++) x[i] = 0.0;
    x[0] = start + 1;
    for (int i = 0; i <= start; i++) ss_run_iteration(run, NULL, NULL);
    return SS_CONVERGED;
}

static const ss_solver counts = {.abi = SS_ABI, .name = "counts", .summary = "planted", .reference = "none",
                                 .weakness = "none", .laws = SS_LAW_CONE, .traits = SS_WARM_STARTS, .options = table,
                                 .options_size = sizeof(counts_options), .solve = solve};
static const ss_solver *const solvers[] = {&counts, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
"""
FRAMES = 12


@pytest.fixture
def block(here):
    """A block that slides, and one that slides elsewhere: two simulations of the same kind, in two files."""
    for name in ("a.h5", "b.h5"):
        run("run", "sliding-block", "--steps", str(FRAMES), "--record", name)
    return ["a.h5", "b.h5"]


def runs(ledger, what="frame, runs.iterations, message"):
    """What is known of every run, by file, start and frame."""
    with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as base:
        return list(base.execute(
            f"SELECT file, solver_options, {what} FROM runs JOIN methods ON methods.id = method JOIN problems "
            "ON problems.id = problem ORDER BY file, solver_options, frame"))


def count(*options, ledger="r.db", files=("a.h5",), code=0):
    return run("bench", *files, "--plugin", build_plugin("counts", COUNTS), "-s", "counts", "--stop", "none", "-o", ledger,
               "--quiet", *options, code=code)


def lengths(ledger, start="start=own"):
    return [row[3] for row in runs(ledger) if row[1].startswith(start)]


def test_own_answers_lead_from_frame_to_frame(block):
    """Cold runs count to one; own ones as far as the simulation has come. The first of them starts from zero and says so."""
    count("--start", "cold,own", "--jobs", "2")
    assert [row[3] for row in runs("r.db") if row[1] == ""] == [1] * FRAMES
    assert lengths("r.db") == list(range(1, FRAMES + 1))
    messages = [row[4] for row in runs("r.db") if row[1] == "start=own"]
    assert messages == ["started from zero: the first frame of its simulation"] + [None] * (FRAMES - 1)


def test_a_run_that_dies_breaks_the_chain(block):
    """The fourth run starts from 3 and dies of it; the fifth starts from zero, and the chain grows again until it dies again."""
    count("--start", "own", "--set", "counts.dies_at=3", "--jobs", "2")
    rows = runs("r.db", "frame, outcome, runs.iterations, message")
    died = [row[2] for row in rows if row[3] == "crashed"]
    assert died == [3, 7, 11]
    assert [row[4] for row in rows] == [1, 2, 3, 0] * 3
    assert [row[5] for row in rows if row[2] in (4, 8)] == ["started from zero: the run before has no answer"] * 2


def test_a_campaign_that_is_killed_continues_its_chains(block):
    """Each start is a result of all runs before it, which a new process has to make again; the ledger is the same in the end."""
    options = ["--start", "cold,own,warm,shifted", "--set", "counts.dies_at=7"]
    count(*options, files=block, ledger="whole.db")
    plugin = build_plugin("counts", COUNTS)
    for _ in range(3):
        process = subprocess.Popen([PROGRAM, "bench", *block, "--plugin", plugin, "-s", "counts", "--stop", "none", "-o", "cut.db",
                                    "--quiet", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.25)
        process.send_signal(signal.SIGKILL)
        process.wait()
    count(*options, files=block, ledger="cut.db", code=0)
    columns = "frame, outcome, runs.iterations, answer, message"
    assert runs("cut.db", columns) == runs("whole.db", columns)


def test_shards_keep_chains_together(block):
    """Whoever has one run of a chain has all of it, and together the parts are the whole."""
    options = ["--start", "cold,own,shifted"]
    count(*options, files=block, ledger="whole.db")
    for part in ("1", "2", "3"):
        count(*options, "--shard", part + "/3", files=block, ledger=part + ".db")
        for file in block:
            assert len([row for row in runs(part + ".db") if row[0] == file and row[1] == "start=own"]) in (0, FRAMES)
    run("merge", "merged.db", "1.db", "2.db", "3.db")
    columns = "frame, outcome, runs.iterations, answer, message"
    assert runs("merged.db", columns) == runs("whole.db", columns)


def test_warm_starts_are_the_same_for_every_solver(block):
    """An accurate answer to the frame before: a solver that does nothing but judge its start shows it, and it fits a block that
    goes on sliding as it did."""
    run("bench", "a.h5", "-s", "nsgs,pgs", "--start", "cold,warm", "--iterations", "0", "--stop", "none", "-o", "r.db", "--quiet")
    with sqlite3.connect("r.db") as base:
        found = list(base.execute("SELECT frame, solver_options, solver, answer, relative_energy FROM runs JOIN methods ON "
                                  "methods.id = method JOIN problems ON problems.id = problem WHERE frame > 0 ORDER BY 1, 2, 3"))
    warm = [row for row in found if row[1] == "start=warm"]
    assert len(warm) == 2 * (FRAMES - 1)
    for nsgs, pgs in zip(warm[::2], warm[1::2]):
        assert nsgs[3] == pgs[3]  # the same bits
        assert nsgs[4] < 1e-2  # of the energy at the start from zero: mass, friction and h are as they were


def test_times_are_taken_from_the_same_start(block):
    """The repeats of a chain start where its runs started: a chain that is broken once is broken there again."""
    count("--start", "own", "--set", "counts.dies_at=3", "--repeats", "2")
    with sqlite3.connect("r.db") as base:
        assert list(base.execute("SELECT count(*), min(steady) FROM samples JOIN runs ON runs.id = run")) == [(18, 1)]


@pytest.mark.parametrize("options, said", [
    (["--start", "own", "--frame", "3:6"], "frame 3 is used without frame 2"),
    (["--start", "own", "--every", "2"], "frame 2 is used without frame 1"),
    (["--start", "worm"], "did you mean warm?"),
    (["--start", ","], "expected cold, warm, own or shifted"),
])
def test_starts_that_cannot_be(block, options, said):
    ended = count(*options, code=USAGE)
    assert said in ended.stderr
    assert not os.path.exists("r.db")


def test_solvers_that_ignore_their_start_are_left_out(block):
    ended = run("bench", "a.h5", "-s", "enumerate,nsgs", "--start", "cold,warm", "--frame", "0:3", "-o", "r.db")
    assert "combinations of solver, formulation and start that do not fit together: enumerate with start warm" in ended.stderr
    assert {row[1] for row in runs("r.db")} == {"", "start=warm"}
    assert len(runs("r.db")) == 9


def test_a_campaign_file_has_the_same_key(block):
    write_campaign(problems=["a.h5"], methods=[{"solver": "nsgs"}], start=["cold", "warm"])
    assert run_json("bench", "--campaign", "study.json", "-o", "r.db", "--quiet")["methods"] == 2


def test_starts_are_compared_under_the_same_clock_and_limits(block):
    """A ledger of several campaigns: a method is itself from zero only if everything but the start is the same."""
    rules = [["--clock", "wall"], ["--clock", "cpu"], ["--limit-by", "pgs:5:0.1:1"], ["--reference", "interior-point"]]
    for rule in rules:
        run("bench", "a.h5", "-s", "nsgs,pgs", "--start", "cold,warm", "--frame", "0:3", *rule, "-o", "r.db", "--quiet")
    report = run_json("report", "r.db")
    method = [report["methods"][series["method"]] for series in report["series"]]
    assert len(report["starts"]) == 2 * len(rules) - 1  # pgs does not limit itself
    for start in report["starts"]:
        own, cold = method[start["series"]], method[start["cold"]]
        for key in ("clock", "limitBy", "reference"):
            assert own[key] == cold[key], (own["label"], cold["label"])


def test_the_report_says_what_starts_save_and_where_they_hurt(block):
    """The table beside sums over the ledger; the figure beside its metrics; both in every format."""
    run("bench", "a.h5", "-s", "nsgs,pgs", "--start", "cold,warm,own", "--iterations", "50", "-o", "r.db", "--quiet")
    with sqlite3.connect("r.db") as base:
        found = list(base.execute(
            "SELECT solver, solver_options, frame, value, message, (SELECT min(iteration) FROM crossings WHERE run = runs.id AND "
            "gauge = 'relative_energy' AND decade = 4) FROM runs JOIN methods ON methods.id = method JOIN problems ON "
            "problems.id = problem JOIN metrics ON metrics.run = runs.id AND name = 'relative_energy'"))
    runs_of = {(row[0], row[1], row[2]): row[3:] for row in found}
    run("report", "r.db", "--main", "1e-4", "--figure", "warm-starts", "-o", "starts.csv")
    rows = list(csv.DictReader(Path("starts.csv").open()))
    assert len(rows) == 4
    for row in rows:
        solver, start = row["series"].split(" ")[0], "start=" + row["start"]
        better = worse = 0
        factors = []
        for frame in range(1, FRAMES):
            own, cold = runs_of[solver, start, frame], runs_of[solver, "", frame]
            solved, cold_solved = own[0] <= 1e-4, cold[0] <= 1e-4
            if solved and cold_solved:
                factors.append(own[2] / cold[2])
            better += (solved and not cold_solved) or (solved and cold_solved and own[2] < cold[2])
            worse += (cold_solved and not solved) or (solved and cold_solved and own[2] > cold[2])
        assert (int(row["frames"]), int(row["fewer iterations"]), int(row["more iterations"])) == (FRAMES - 1, better, worse)
        mean = math.exp(sum(map(math.log, factors)) / len(factors))
        assert float(row["iterations over those from zero"]) == pytest.approx(mean, rel=1e-12)

    run("report", "r.db", "--figure", "drift", "--set", "method=nsgs (start=own)", "-o", "drift.csv")
    for row in csv.DictReader(Path("drift.csv").open()):
        start = "start=own" if "own" in row["series"] else "start=warm" if "warm" in row["series"] else ""
        error = runs_of["nsgs", start, int(row["frame of the simulation"])][0]
        assert float(row["relative energy error, median"]) == pytest.approx(error, rel=1e-12)
    for ending in ("svg", "pdf", "png", "tex", "md"):
        run("report", "r.db", "--figure", "drift", "-o", "drift." + ending)
    run("bench", "a.h5", "--frame", "0:4", "-s", "nsgs", "--start", "cold,own", "--iterations", "50", "-o", "four.db", "--quiet")
    run("report", "four.db", "--figure", "drift", "-o", "four.svg")
    words = re.findall(r">([^<>]+)</t", Path("four.svg").read_text())
    assert {"0", "1", "2", "3"} <= set(words) and "0.5" not in words, "there is no frame between two frames"
    for ending in ("tex", "md", "csv"):
        run("report", "r.db", "--figure", "warm-starts", "-o", "starts." + ending)


def test_no_one_is_advised_to_start_from_the_wrong_contacts(block):
    """A shifted start shows what a program loses that does not know its contacts again, even where it happens to be the fastest."""
    starts = ["bench", *block, "-s", "nsgs", "--tol", "1e-4", "--quiet", "-o"]
    run(*starts, "both.db", "--start", "cold,shifted")
    run(*starts, "alone.db", "--start", "shifted")
    with sqlite3.connect("both.db") as base:
        for table, where in ("runs", "method"), ("crossings", "(SELECT method FROM runs WHERE runs.id = run)"):
            base.execute(f"UPDATE {table} SET seconds = CASE (SELECT solver_options FROM methods WHERE methods.id = {where}) "
                         "WHEN 'start=shifted' THEN 1e-6 ELSE 1e-3 END")
    report = run_json("report", "both.db")
    labels = [report["methods"][series["method"]]["label"] for series in report["series"]]
    assert "shifted" in labels[0] and "shifted" not in labels[1], "ranks are facts"
    main = report["mainTolerance"]
    advice = report["advice"][main]
    assert advice["series"] == advice["fastest"] == advice["mostAccurate"] == 1 and "start=shifted" not in advice["text"]
    assert all(scene["best"][main]["series"] == 1 for scene in report["scenes"])
    assert run_json("report", "alone.db")["advice"][main]["series"] == 0, "where there is nothing else"
