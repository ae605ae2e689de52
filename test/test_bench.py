"""Campaigns: the matrix is complete whatever solvers, files and the user do to it. Ledgers are looked at with Python's own
sqlite3 and through `stickslip export`, and compared without what a clock says."""
import csv
import fcntl
import io
import json
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from test_cli import (BAD_INPUT, DONE, PROGRAM, RESOURCES, SOURCE, USAGE, here, on_terminal, record_example, run,
                      run_json, write_bpmd, write_fclib)
from shared_data import shared
from test_solve import SOLVERS, only, write_local

QUICK = ["--iterations", "20", "--quiet"]
ENDINGS = {"crashed", "hung", "out of memory", "broken"}

# Columns that a clock or the order of work decides; the rest must be the same in every way of getting there.
TIMES = {"runs": {"started", "seconds", "elapsed"}, "history": {"seconds"}, "crossings": {"seconds"},
         "samples": {"seconds", "elapsed"}}
TABLES = ["machines", "problems", "methods", "runs", "metrics", "samples", "history", "crossings", "contact_errors"]

PLANTED = r"""
#include <stickslip/plugin.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile char *volatile sink;
#define SOLVER(id, title, body)                                                                                   \
    static ss_status solve_##id(const ss_problem *problem, const void *options, ss_run *run, double *x)           \
    { (void)problem, (void)options, (void)run, (void)x; body return SS_CONVERGED; }                               \
    static const ss_solver id = {.abi = SS_ABI, .name = title, .summary = "planted", .reference = "none",        \
                                 .weakness = "all", .laws = ~0u, .solve = solve_##id};

SOLVER(segfault, "segfault", *(volatile int *)8 = 1;)
SOLVER(aborts, "aborts", abort();)
SOLVER(killed, "killed", kill(getpid(), SIGKILL); pause();)
SOLVER(hangs, "hangs", for (;;) pause();)
SOLVER(spins, "spins", for (volatile long i = 0;; i++) {})
SOLVER(eater, "eater", for (;;) { sink = malloc(8 << 20); if (sink) memset((void *)sink, 1, 8 << 20); else pause(); })
SOLVER(hoarder, "hoarder", for (;;) { sink = malloc(32 << 20); *sink = 1; })
SOLVER(leaves, "leaves", exit(5);)
SOLVER(talks, "talks", for (int i = 0; i < 1000; i++) puts("garbage"); fflush(stdout);)
SOLVER(scribbler, "scribbler", for (int fd = 3; fd < 64; fd++) if (write(fd, "rubbish rubbish rubbish rubbish", 31) < 0) {})
SOLVER(stack, "overflows", volatile char big[1 << 20]; memset((void *)big, 1, sizeof big); solve_stack(problem, options, run, (double *)(void *)big);)
SOLVER(parent, "parent", if (fork() == 0) { sleep(20); _exit(0); } raise(SIGBUS);)
SOLVER(liar, "liar", x[0] = 1e9;)

static const ss_solver *const solvers[] = {&segfault, &aborts, &killed, &hangs, &spins, &eater, &hoarder, &leaves,
                                           &talks, &scribbler, &stack, &parent, &liar, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
"""


def build_plugin(name, text):
    Path(f"{name}.c").write_text(text)
    subprocess.run(["cc", "-std=c17", "-w", "-D_DEFAULT_SOURCE", "-O0", "-shared", "-fPIC", f"-I{SOURCE}/include",
                    f"{name}.c", "-o", f"{name}.so"], check=True)
    return f"./{name}.so"


def rows(ledger, table):
    return list(csv.DictReader(io.StringIO(run("export", ledger, "--table", table).stdout)))


def contents(ledger):
    """Every table of a ledger without what a clock says."""
    tables = json.loads(run("export", ledger, "--json").stdout)
    assert set(TABLES) <= set(tables)
    return {table: [{key: value for key, value in row.items() if key not in TIMES.get(table, ())}
                    for row in tables[table]] for table in TABLES}


def bench(*arguments, **options):
    return run_json("bench", *arguments, *QUICK, **options)


def outcomes(ledger):
    """(solver, outcome, message) of every run."""
    with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as base:
        return list(base.execute("SELECT methods.solver, runs.outcome, runs.message FROM runs "
                                 "JOIN methods ON methods.id = runs.method"))


@pytest.fixture
def slope(here):
    record_example("slope.h5")
    return "slope.h5"


@pytest.fixture
def wall(here):
    run("run", "brick-wall", "--steps", "9", "--record", "wall.h5", "--every", "3", "--quiet")
    return "wall.h5"


# ---- what a campaign is ------------------------------------------------------------------------------------------

def test_a_campaign_fills_the_matrix_and_says_so(slope, wall):
    write_local("local.hdf5", seed=3)
    counts = bench(slope, wall, "local.hdf5", "--every", "5", "-o", "r.db")
    assert counts["problems"] == 4 + 1 + 1 and counts["faulty"] == 0 and counts["missing"] == 0
    assert counts["runs"] == counts["done"] == counts["problems"] * counts["methods"]
    assert sum(counts["outcomes"].values()) == counts["runs"] and not ENDINGS & set(counts["outcomes"])
    table = rows("r.db", "runs")
    assert len(table) == counts["runs"] and all(row["answer"] for row in table if row["outcome"] == "converged")
    problems = {row["scene"]: row for row in rows("r.db", "problems")}
    assert set(problems) == {"slope", "brick-wall", "local"}
    assert problems["local"]["format"] == "fclib" and problems["local"]["mass_ratio"] == ""
    frame = problems["brick-wall"]
    assert len(frame["hash"]) == 32 and 0 < float(frame["rank_ratio"]) <= 1 and float(frame["h"]) > 0


def test_other_formulations_do_not_apply_to_fclib(here):
    write_local("local.hdf5", seed=3)
    counts = bench("local.hdf5", "-s", "pgs", "-f", "cone,convex", "-o", "r.db")
    assert counts["runs"] == 2 and counts["outcomes"]["not applicable"] == 1
    assert [row["formulation"] for row in rows("r.db", "runs") if row["outcome"] == "not applicable"] == ["convex"]
    assert bench("local.hdf5", "-s", "pgs", "-f", "cone,convex", "-o", "r.db")["done"] == 0


def test_the_command_in_the_ledger_can_be_typed_again(slope):
    Path(slope).rename("a slope; of $5.h5")
    bench("a slope; of $5.h5", "--frame", "0:2", "-s", "nsgs,pgs", "--set", "pgs.omega=1.2", "--stop", "relative_energy<1e-3",
          "--redo-outdated", "--no-recorded", "--quiet", "-o", "r.db")
    with sqlite3.connect("r.db") as base:
        command = base.execute("SELECT text FROM campaigns").fetchone()[0]
    assert "--redo-outdated --recorded=false --quiet --output r.db" in command
    before = contents("r.db")
    ended = subprocess.run(["sh", "-c", f"{shlex.quote(PROGRAM)} {command}"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == DONE, ended.stderr
    assert json.loads(ended.stdout)["before"] == json.loads(ended.stdout)["runs"] == 4 and contents("r.db") == before


def test_a_run_is_what_solve_says(slope):
    bench(slope, "--frame", "3", "-s", "nsgs", "--stop", "none", "-o", "r.db")
    solved = run_json("solve", slope, "--frame", "3", "-s", "nsgs", "--stop", "none", "--iterations", "20")["frames"][0]
    entry = rows("r.db", "runs")[0]
    assert entry["outcome"] == solved["status"] and int(entry["iterations"]) == solved["iterations"]
    for row in rows("r.db", "metrics"):
        metric = solved["metrics"][row["name"]]
        value = metric["value"] if isinstance(metric, dict) else metric
        assert (row["value"] == "") == (value is None)
        assert value is None or float(row["value"]) == value
    points = [int(row["iteration"]) for row in rows("r.db", "history")]
    assert points == [*range(1, 17), 18, 20]


def test_a_complete_campaign_does_nothing_again(slope):
    arguments = [slope, "--frame", "0:3", "-s", "nsgs,jacobi", "-o", "r.db"]
    assert bench(*arguments)["done"] == 6
    before = contents("r.db")
    counts = bench(*arguments)
    assert counts["done"] == 0 and counts["before"] == 6 and counts["outcomes"] and contents("r.db") == before
    assert bench(*arguments, "--seed", "2")["done"] == 6, "another seed is another method"
    Path("copy.h5").write_bytes(Path(slope).read_bytes())
    assert bench("copy.h5", *arguments[1:])["done"] == 0, "a file is known by what is in it"


def test_any_number_of_jobs_gives_the_same(slope):
    for jobs in ("1", "4"):
        bench(slope, "--every", "8", "-f", "all", "-j", jobs, "-o", f"{jobs}.db")
    assert contents("1.db") == contents("4.db")


def test_shards_make_the_whole(slope):
    arguments = [slope, "--every", "7", "-o"]
    whole = bench(*arguments, "whole.db")
    parts = [bench(*arguments, f"part{i}.db", "--shard", f"{i}/3") for i in (1, 2, 3)]
    assert sum(part["runs"] for part in parts) == whole["runs"] and all(part["runs"] > 0 for part in parts)
    run("merge", "united.db", "part3.db", "part1.db", "part2.db")
    assert contents("united.db") == contents("whole.db")


def test_repeats_become_samples(slope):
    arguments = [slope, "--frame", "0:2", "-s", "nsgs,enumerate", "-o", "r.db"]
    assert bench(*arguments, "--repeats", "2")["timed"] > 0
    samples = rows("r.db", "samples")
    timed = [row for row in rows("r.db", "runs") if row["outcome"] != "not applicable"]
    assert len(samples) == 2 * len(timed) and all(float(row["seconds"]) > 0 for row in samples)
    assert all(row["steady"] == "1" for row in timed)
    assert bench(*arguments, "--repeats", "2")["timed"] == 0
    assert bench(*arguments, "--repeats", "3")["timed"] == len(timed)
    assert len(rows("r.db", "samples")) == 3 * len(timed)


def test_a_reference_gives_distances(slope):
    bench(slope, "--frame", "4:6", "-s", "pgs,jacobi", "--reference", "nsgs", "-o", "r.db")
    distances = [row for row in rows("r.db", "metrics") if row["name"] == "distance"]
    assert len(distances) == 4 and all(float(row["value"]) >= 0 for row in distances)


def test_text_output_is_a_table(slope):
    ended = run("bench", slope, "--frame", "0", "-s", "nsgs,jacobi", "--iterations", "50", "-o", "r.db")
    assert "nsgs" in ended.stdout and "jacobi" in ended.stdout and "2 of 2 runs" in ended.stderr
    ended = run("bench", slope, "--frame", "0", "-s", "lemke,nsgs", "-o", "r.db", "--json")
    assert "skipped" in ended.stderr and "lemke with cone" in ended.stderr
    assert run("bench", slope, "--frame", "0", "-s", "nsgs", "-o", "r.db", "--quiet").stderr == ""


def test_progress_is_shown_on_a_terminal_for_all_rungs_of_a_ladder(slope):
    shown = on_terminal("bench", slope, "-s", "all", "-f", "all", "-o", "r.db", "--iterations", "1500",
                        "--stop", "none,relative_energy<1e-300")
    assert "solving [#" in shown and "left" in shown and "/s" in shown
    counts = [tuple(map(int, pair)) for pair in re.findall(r"solving \[[#.]*\] (\d+)/(\d+)", shown)]
    runs = int(re.search(r"r.db: (\d+) of \1 runs done", shown)[1])
    assert {total for _, total in counts} == {runs} and counts == sorted(counts)


# ---- bad solvers -------------------------------------------------------------------------------------------------

def test_planted_solvers_become_rows_and_nothing_else_suffers(slope):
    plugin = build_plugin("planted", PLANTED)
    limits = ["--frame", "1", "--max-memory", "150", "--time-limit", "0.5", "-o"]
    counts = bench(slope, "--plugin", plugin, *limits, "bad.db")
    bench(slope, *limits, "good.db")
    assert counts["missing"] == 0 and counts["runs"] == counts["done"]
    expected = {"segfault": "crashed", "aborts": "crashed", "killed": "out of memory", "hangs": "hung", "spins": "hung",
                "eater": "out of memory", "hoarder": "out of memory", "leaves": "crashed", "overflows": "crashed",
                "scribbler": "broken", "parent": "crashed"}
    seen = outcomes("bad.db")
    for solver, outcome in expected.items():
        mine = [(end, message) for name, end, message in seen if name == solver]
        assert len(mine) == 1 and mine[0][0] == outcome and mine[0][1], (solver, mine)
    messages = {name: message for name, _, message in seen}
    assert "signal 11" in messages["segfault"] and "signal 6" in messages["aborts"]
    assert "exit(5)" in messages["leaves"] and "150 MB" in messages["eater"] == messages["hoarder"]
    assert not ENDINGS & {end for name, end, _ in seen if name in ("talks", "liar")}
    good = [{**row, "run": 0} for row in contents("good.db")["runs"]]
    assert good == [{**row, "run": 0} for row in contents("bad.db")["runs"] if row["solver"] in SOLVERS]
    assert not [row for row in rows("bad.db", "methods") if row["solver"] == "leaves" and len(row["plugin"]) != 32]


TIRES = PLANTED.replace('SOLVER(liar,', 'SOLVER(tires, "tires", if (access("been", F_OK) == 0) for (;;) pause(); fclose(fopen("been", "w"));)\nSOLVER(liar,') \
    .replace("&liar,", "&liar, &tires,")


def test_a_repeat_without_an_answer_leaves_its_run_untimed_and_is_no_lack_of_resources(slope):
    plugin = build_plugin("tires", TIRES)
    ended = run("bench", slope, "--plugin", plugin, "--frame", "1", "-s", "tires,pgs", "--time-limit", "0.2", "--repeats", "3", "-o", "t.db")
    assert ended.returncode == 0 and "no times of tires" in ended.stderr, ended.stderr
    timed = {row["run"]: row for row in rows("t.db", "samples")}
    by_solver = {row["solver"]: row for row in rows("t.db", "runs")}
    assert by_solver["tires"]["outcome"] not in ENDINGS and by_solver["tires"]["run"] not in timed
    assert by_solver["pgs"]["run"] in timed


KEEPER = r"""
#include <stickslip/plugin.h>
#include <stdlib.h>

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    static void *kept[4096];
    int count = 0;
    (void)problem, (void)options, (void)run, (void)x;
    while (count < 4096 && (kept[count] = malloc(1 << 20))) count++;
    for (int spare = 0; spare < 32 && count > 0; spare++) free(kept[--count]);
    return SS_CONVERGED;
}

static const ss_solver keeper = {.abi = SS_ABI, .name = "keeper", .summary = "planted", .reference = "none",
                                 .weakness = "all", .laws = ~0u, .solve = solve};
static const ss_solver *const solvers[] = {&keeper, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
"""


def test_an_answer_is_judged_though_its_solver_kept_the_memory(slope):
    """Exact masses of 381 rows need BLAS, whose buffer of 128 MB does not fit into the 32 MB that are left: it asks
    for it without end, unless it was there before. The first campaign is for the features of the problem."""
    run("run", "joint-tree", "--steps", "2", "--record", "tree.h5")
    limits = ["--frame", "1", "--max-memory", "150", "--time-limit", "0.5", "-o", "kept.db"]
    bench("tree.h5", "-s", "pgs", "--iterations", "10", *limits)
    bench("tree.h5", "--plugin", build_plugin("keeper", KEEPER), "-s", "keeper", *limits)
    assert {name: end for name, end, _ in outcomes("kept.db")}["keeper"] == "stalled"


@pytest.mark.parametrize("folder", ["my solvers", "command:mine"])  # the second looks like a solver that is a process
def test_the_command_of_a_report_finds_the_plugin(slope, folder):
    Path(folder).mkdir()
    file = f"{folder}/planted.so"
    shutil.move(build_plugin("planted", PLANTED), file)
    bench(slope, "--frame", "1", "--plugin", file, "-s", "nsgs,liar", "-o", "r.db")
    file = file if folder == "my solvers" else f"./{file}"
    report = run_json("report", "r.db")
    options = {method["solver"]: shlex.split(method["options"]) for method in report["methods"]}
    assert "--plugin" not in options["nsgs"]
    assert options["liar"][options["liar"].index("--plugin") + 1] == file
    place = report["problems"][0]["place"]
    assert only(run_json("solve", slope, "--frame", place, *options["liar"], code=None))["solver"] == "liar"
    assert {row["plugin_file"] for row in rows("r.db", "methods")} == {"", file}


def test_what_a_plugin_does_when_it_is_loaded(slope):
    crash = build_plugin("early", PLANTED + "\n__attribute__((constructor)) static void early(void) { abort(); }\n")
    ended = run("bench", slope, "--plugin", crash, "-o", "r.db", code=BAD_INPUT)
    assert "loading the plug-ins: crashed: signal 6" in ended.stderr
    Path("text.so").write_text("not a library\n")
    assert "text.so: cannot be loaded" in run("bench", slope, "--plugin", "text.so", "-o", "r.db", code=BAD_INPUT).stderr


def test_a_bad_reference_is_not_the_methods_fault(slope):
    plugin = build_plugin("planted", PLANTED)
    bench(slope, "--frame", "0:2", "--plugin", plugin, "-s", "pgs,nsgs", "--reference", "segfault", "-o", "r.db")
    assert len(outcomes("r.db")) == 4 and not ENDINGS & {end for _, end, _ in outcomes("r.db")}
    distances = [row for row in rows("r.db", "metrics") if row["name"] == "distance"]
    assert len(distances) == 4 and all(row["value"] == "" and "reference" in row["why"] for row in distances)


# ---- bad files ---------------------------------------------------------------------------------------------------

def test_faulty_frames_are_told_and_the_others_solved(here):
    import h5py
    write_bpmd("faulty.h5")
    with h5py.File("faulty.h5", "r+") as file:
        file["simulation_000001/mbs_frame000001/contacts/normals"][1] = [1.5, 0, 0]
    Path("text.h5").write_text("no HDF5 at all\n")
    write_fclib("ball.hdf5")
    counts = bench("faulty.h5", "missing.h5", "text.h5", "ball.hdf5", "-s", "nsgs,pgs", "-o", "r.db", code=BAD_INPUT)
    assert counts["problems"] == 5 and counts["faulty"] == 3 and counts["done"] == 4 and counts["missing"] == 0
    ended = run("bench", "faulty.h5", "missing.h5", "text.h5", "-s", "nsgs", "-o", "r.db", code=BAD_INPUT)
    assert "faulty.h5: not solved: /simulation_000001/mbs_frame000001/contacts/normals[1]" in ended.stderr
    assert "missing.h5" in ended.stderr and "text.h5" in ended.stderr
    faults = {row["file"]: row["fault"] for row in rows("r.db", "problems") if row["fault"]}
    assert set(faults) == {"faulty.h5", "missing.h5", "text.h5"} and "normals[1]" in faults["faulty.h5"]


def test_files_that_cannot_be_used_are_in_the_ledger_until_they_can(slope):
    Path("notes.h5").write_text("my notes, not HDF5\n")
    ended = run("bench", slope, "gone.h5", "sub/gone.h5", "notes.h5", slope, "gone.h5", "--frame", "0:2", "-s", "nsgs", "-o", "r.db",
                code=BAD_INPUT)
    assert ended.stderr.count("gone.h5: not solved: ") == 2 and "notes.h5: not solved: not an HDF5 file" in ended.stderr
    bad = {row["file"]: row for row in rows("r.db", "problems") if row["fault"]}
    assert set(bad) == {"gone.h5", "sub/gone.h5", "notes.h5"}
    assert all((row["place"], row["format"], row["frame"]) == ("/", "", "-1") for row in bad.values())
    report = run_json("report", "r.db")
    assert sum(problem["fault"] is not None for problem in report["problems"]) == 3
    assert "(3 more have faults)" in run("report", "r.db").stdout
    shutil.copy(slope, "gone.h5")
    run("bench", slope, "gone.h5", "--frame", "0:2", "-s", "nsgs", "-o", "r.db")
    assert {row["file"] for row in rows("r.db", "problems") if row["fault"]} == {"sub/gone.h5", "notes.h5"}


@pytest.mark.parametrize("arguments, code", [
    (["slope.h5", "-s", "nsg"], USAGE), (["slope.h5", "--stop", "nonsense"], USAGE),
    (["slope.h5", "--plugin", "none.so"], BAD_INPUT), (["gone.h5"], BAD_INPUT)])
def test_a_mistake_leaves_no_ledger_behind(arguments, code, slope):
    run("bench", *arguments, "-o", "r.db", code=code)
    assert not list(Path().glob("r.db*"))
    run("bench", slope, "--frame", "0", "-s", "nsgs", "-o", "r.db")
    before = Path("r.db").read_bytes()
    run("bench", slope, "-s", "nsg", "-o", "r.db", code=USAGE)
    assert len(rows("r.db", "runs")) == 1 and len(Path("r.db").read_bytes()) == len(before)


def test_a_ledger_that_is_none_is_left_alone(slope):
    Path("notes.db").write_text("my notes, not a ledger, longer than a header of SQLite would be\n" * 10)
    before = Path("notes.db").read_bytes()
    assert "notes.db" in run("bench", slope, "-o", "notes.db", code=BAD_INPUT).stderr
    assert Path("notes.db").read_bytes() == before
    assert "input file" in run("bench", slope, "-o", slope, code=USAGE).stderr
    assert "no -o RESULTS.db given" in run("bench", slope, code=USAGE).stderr
    assert run("bench", slope, "-o", "no/such/folder/r.db", code=None).returncode in (BAD_INPUT, RESOURCES)


# ---- campaign files ----------------------------------------------------------------------------------------------

def write_campaign(**changes):
    campaign = {"problems": [{"file": "slope.h5", "frame": "0:4", "every": 2}],
                "methods": [{"solver": "psor", "set": {"omega": [1.0, 1.3, 1.6]}}, {"solver": ["nsgs", "jacobi"]}],
                "iterations": 20, "stop": "relative_energy<1e-6"}
    campaign.update(changes)
    Path("study.json").write_text(json.dumps({key: value for key, value in campaign.items() if value is not None}))


def test_a_campaign_file_with_a_sweep(slope):
    write_campaign()
    counts = run_json("bench", "--campaign", "study.json", "-o", "r.db", "--quiet")
    assert counts["problems"] == 2 and counts["methods"] == 5 and counts["runs"] == 10
    methods = rows("r.db", "methods")
    options = {row["solver_options"] for row in methods if row["solver"] == "psor"}
    assert len(options) == 3 and any("1.6" in text for text in options)
    assert {row["stop"] for row in methods} == {"relative_energy<1e-6"} and {row["iterations"] for row in methods} == {"20"}
    counts = run_json("bench", "--campaign", "study.json", "--iterations", "30", "-o", "r.db", "--quiet")
    assert counts["done"] == 10, "flags come before the file"


def test_files_of_a_campaign_lie_beside_it(slope):
    write_campaign()
    Path("elsewhere").mkdir()
    counts = run_json("bench", "--campaign", "../study.json", "-o", "r.db", "--quiet", cwd="elsewhere")
    assert counts["done"] == 10


@pytest.mark.parametrize("text, hint", [
    ("{\n  \"problems\": [\"slope.h5\",]\n}", "line 2, column"),
    ("{\"problems\": [\"slope.h5\"], \"problems\": []}", "duplicate"),
    ("[1]", "must be one JSON object"),
    ("{}", "problems: must be a list of file names"),
    ("{\"problems\": [3]}", "problems[0]: must be a file name"),
    ("{\"problems\": [{\"file\": \"slope.h5\", \"evry\": 2}]}", "problems[0]: unknown key 'evry'; did you mean every?"),
    ("{\"problems\": [{\"file\": \"slope.h5\", \"every\": 0}]}", "problems[0].every: must be a whole number"),
    ("{\"problems\": [\"slope.h5\"], \"metods\": []}", "unknown key 'metods'; did you mean methods?"),
    ("{\"problems\": [\"slope.h5\"], \"methods\": []}", "methods: must be a list"),
    ("{\"problems\": [\"slope.h5\"], \"methods\": [{\"solver\": \"nsgs\"}, {\"solver\": \"psro\"}]}",
     "methods[1]: unknown solver 'psro'; did you mean psor?"),
    ("{\"problems\": [\"slope.h5\"], \"methods\": [{\"formulation\": \"cne\"}]}", "methods[0]: unknown formulation"),
    ("{\"problems\": [\"slope.h5\"], \"methods\": [{\"solver\": \"psor\", \"set\": {\"omega\": [1.0, 9.0]}}]}",
     "methods[0].set.omega: psor: "),
    ("{\"problems\": [\"slope.h5\"], \"methods\": [{\"solver\": \"psor\", \"set\": {\"omga\": 1}}]}",
     "methods[0].set.omga: psor: "),
    ("{\"problems\": [\"slope.h5\"], \"methods\": [{\"solver\": \"psor\", \"set\": {\"omega\": []}}]}",
     "methods[0].set.omega: the list is empty"),
    ("{\"problems\": [\"slope.h5\"], \"methods\": [{\"solver\": \"psor\", \"set\": {\"omega\": {}}}]}",
     "methods[0].set.omega: must be a number"),
    ("{\"problems\": [\"slope.h5\"], \"methods\": [{\"solver\": \"psor\", \"set\": 3}]}", "methods[0].set: must be"),
    ("{\"problems\": [\"slope.h5\"], \"iterations\": -1}", "iterations"),
    ("{\"problems\": [\"slope.h5\"], \"iterations\": \"many\"}", "iterations"),
    ("{\"problems\": [\"slope.h5\"], \"stop\": \"enrgy<1\"}", "enrgy"),
    ("{\"problems\": [\"slope.h5\"], \"plugins\": \"x.so\"}", "plugins: must be a list"),
])
def test_a_bad_campaign_file_says_where(text, hint, slope):
    Path("study.json").write_text(text)
    ended = run("bench", "--campaign", "study.json", "-o", "r.db", code=BAD_INPUT)
    assert hint in ended.stderr and ended.stdout == ""


@pytest.mark.parametrize("arguments, hint", [
    (["-s", "nsg"], "bench: unknown solver 'nsg'; did you mean nsgs?"),
    (["-s", "lemke"], "no solver fits"),
    (["-s", "psor", "--set", "psor.omega=9"], "--set psor.omega=9: psor: "),
    (["-s", "psor", "--set", "omega=1"], "expected SOLVER.NAME=VALUE"),
    (["-s", "psor", "--set", "nsgs.omega=1"], "no solver 'nsgs' in this campaign"),
    (["--with", "convex.gamma=1"], "no formulation 'convex' in this campaign"),
    (["--shard", "3/2"], "invalid value \"3/2\" for --shard"),
    (["--stop", "nonsense"], "bench: --stop: invalid stop rule \"nonsense\""),
    (["--reference", "nsg"], "bench: --reference: unknown solver 'nsg'; did you mean nsgs?"),
    (["--campaign", "study.json"], "cannot be combined with --campaign"),
])
def test_usage(arguments, hint, slope):
    assert hint in run("bench", slope, *arguments, "-o", "r.db", code=USAGE).stderr


# ---- interruptions -----------------------------------------------------------------------------------------------

KILLS = 50


def start(arguments):
    return subprocess.Popen([PROGRAM, "bench", *arguments, "--quiet", "--json"], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def count_runs(ledger):
    try:
        with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as base:
            return base.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:  # killed before there was a table
        return 0


def wait_for_first_run(ledger):
    for _ in range(3000):
        if count_runs(ledger) > 0:
            return
        time.sleep(0.01)
    pytest.fail("nothing has been run for 30 s")


def test_fifty_kills_leave_the_same_ledger(slope):
    """Every other time the whole process group is killed, otherwise the parent alone, whose workers must follow it. A
    campaign that got to its end before the next kill is compared, and another one begun."""
    dice = random.Random(20260101)
    arguments = [slope, "--every", "3", "-f", "cone,convex,frictionless", "--iterations", "60"]
    began = time.monotonic()
    run("bench", *arguments, "-o", "calm.db", "--quiet")
    calm = time.monotonic() - began
    expected = contents("calm.db")
    killed = finished = midway = 0
    while killed < KILLS and finished < 10 * KILLS:
        process = start([*arguments, "-o", f"torn{finished}.db"])
        time.sleep(dice.uniform(0.0, 0.7 * calm))
        if process.poll() is None:
            killed += 1
            (os.killpg if killed % 2 else os.kill)(process.pid, signal.SIGKILL)
        if process.wait() != DONE:
            midway += 0 < count_runs(f"torn{finished}.db") < len(expected["runs"])
        else:
            assert contents(f"torn{finished}.db") == expected
            finished += 1
    assert killed == KILLS and midway > 5
    run("bench", *arguments, "-o", f"torn{finished}.db", "--quiet")
    assert contents(f"torn{finished}.db") == expected


def test_workers_do_not_outlive_their_parent(slope):
    process = start([slope, "-f", "all", "--stop", "none", "--iterations", "20000", "-o", "r.db"])
    wait_for_first_run("r.db")
    os.killpg(process.pid, 0)  # the group is there
    process.kill()
    process.wait()
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("workers are still there")


def test_an_interrupt_keeps_what_is_there(slope):
    arguments = [slope, "-f", "all", "--stop", "none", "--iterations", "4000", "-o", "r.db"]
    process = subprocess.Popen([PROGRAM, "bench", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_first_run("r.db")
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT and "interrupted" in talk and "repeat the command to continue" in talk
    with sqlite3.connect("r.db") as base:  # whichever frame came first
        frame = base.execute("SELECT frame FROM results LIMIT 1").fetchone()[0]
    counts = run_json("bench", slope, "-f", "all", "--stop", "none", "--iterations", "4000", "--frame", frame, "-o", "r.db",
                      "--quiet")
    assert counts["before"] > 0 and counts["missing"] == 0


def test_two_writers_are_kept_apart(slope):
    run("bench", slope, "-s", "nsgs", "-o", "r.db")
    with open("r.db.lock", "w") as writer:  # as one that is at work holds it
        fcntl.flock(writer, fcntl.LOCK_EX)
        ended = run("bench", slope, "-s", "pgs", "-o", "r.db", code=None)
    assert ended.returncode == RESOURCES and "r.db" in ended.stderr


# ---- real data ---------------------------------------------------------------------------------------------------

def test_all_solvers_on_real_files(here):
    files = sorted([*shared("bpmd").glob("*.h5"), *shared("fclib").glob("*.hdf5")])
    counts = run_json("bench", *files, "--frame", "0:1", "--iterations", "3", "--time-limit", "0.5", "-o", "r.db",
                      "--quiet", code=None)
    assert counts["problems"] >= len(files) / 2 and counts["missing"] == 0
    assert counts["runs"] == counts["done"] and not ENDINGS & set(counts["outcomes"])
