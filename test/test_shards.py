"""Campaigns in parts: which part a process does when mpirun, srun or a scheduler has started it, and real ranks of Open MPI,
one of which is killed. What `status` says of their ledgers."""
import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from test_bench import QUICK, bench, build_plugin, contents, slope, wall
from test_cli import BAD_INPUT, DONE, PROGRAM, USAGE, here, run, run_json

FOUND = 1
LAUNCHERS = ("SLURM_", "OMPI_", "PMI_", "PMIX_", "PBS_", "PARALLEL_", "SS_SHARDS")


@pytest.fixture(autouse=True)
def nothing_has_started_us(monkeypatch):
    for name in [name for name in os.environ if name.startswith(LAUNCHERS)]:
        monkeypatch.delenv(name)


def set_all(monkeypatch, text):
    for pair in text.split():
        monkeypatch.setenv(*pair.split("="))


@pytest.mark.parametrize("variables, shard", [
    ("SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4", "3-of-4"),
    ("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=4", "1-of-4"),
    ("SLURM_ARRAY_TASK_ID=30 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=10 SLURM_ARRAY_TASK_COUNT=3", "3-of-3"),
    ("SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_STEP_ID=0", "1-of-2"),
    ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "2-of-2"),
    ("PMI_RANK=4 PMI_SIZE=5", "5-of-5"),
    ("PBS_ARRAY_INDEX=1 SS_SHARDS=7", "1-of-7"),
    ("PARALLEL_SEQ=7 PARALLEL_JOBSLOT=2 SS_SHARDS=7", "7-of-7"),
    # the daemons of mpirun, not its ranks, are tasks of Slurm
    ("OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_ID=0", "6-of-8"),
    # ranks in every job of an array; a batch script that is no task of its job
    ("SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_STEP_ID=0",
     "6-of-12"),
    ("SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 SLURM_PROCID=0 SLURM_NTASKS=4", "2-of-3"),
])
def test_the_launcher_says_which_shard(slope, monkeypatch, variables, shard):
    set_all(monkeypatch, variables)
    arguments = [slope, "--frame", "0:3", "-s", "nsgs,pgs,jacobi"]
    found = bench(*arguments, "--shard", "auto", "-o", "%s.db")
    assert found["ledger"] == f"{shard}.db"
    if found["runs"]:
        given = bench(*arguments, "--shard", shard.replace("-of-", "/"), "-o", "given.db")
        assert given["runs"] == found["runs"] and contents("given.db")["runs"] == contents(f"{shard}.db")["runs"]


def test_a_shard_has_no_ranking(slope):
    """Of a part of the runs it would say that others are missing, and name the best of what the part happens to have."""
    arguments = ["bench", slope, "--frame", "0:3", "-s", "nsgs,pgs"]
    part = run(*arguments, "--shard", "1/2", "-o", "part.db")
    assert part.stdout == "" and "runs done" in part.stderr
    assert "nsgs" in run(*arguments, "--shard", "1/1", "-o", "whole.db").stdout


@pytest.mark.parametrize("variables, hints", [
    ("", ["SLURM_ARRAY_TASK_ID", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PBS_ARRAY_INDEX", "PARALLEL_SEQ"]),
    ("SLURM_PROCID=0 SLURM_NTASKS=4", ["none of these is set", "SLURM_STEP_ID (by srun)"]),
    ("SLURM_ARRAY_TASK_ID=3", ["SLURM_ARRAY_TASK_ID is set, but SLURM_ARRAY_TASK_COUNT is not"]),
    ("OMPI_COMM_WORLD_SIZE=3", ["OMPI_COMM_WORLD_SIZE is set, but OMPI_COMM_WORLD_RANK is not"]),
    ("PMI_RANK=3", ["PMI_RANK is set, but PMI_SIZE is not"]),
    ("PBS_ARRAY_INDEX=3", ["PBS_ARRAY_INDEX is set, but SS_SHARDS is not; set it to the number of jobs"]),
    ("PARALLEL_SEQ=3 PARALLEL_JOBSLOT=1", ["PARALLEL_SEQ is set, but SS_SHARDS is not"]),
    ("SS_SHARDS=3", ["none of these is set"]),
    ("PMI_RANK=3 PMI_SIZE=3", ["PMI_RANK is 3", "not one of the 3 numbers from 0 on"]),
    ("PMI_RANK=-1 PMI_SIZE=3", ["PMI_RANK is -1"]),
    ("PMI_RANK=0 PMI_SIZE=0", ["PMI_RANK is 0"]),
    ("PMI_RANK=one PMI_SIZE=3", ["PMI_RANK is \"one\", not a whole number"]),
    ("PBS_ARRAY_INDEX=0 SS_SHARDS=3", ["PBS_ARRAY_INDEX is 0"]),
    ("SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3", ["SLURM_ARRAY_TASK_ID is 7"]),
    ("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=99999 PMI_RANK=0 PMI_SIZE=99999", ["too many"]),
])
def test_half_of_the_variables_is_an_error(slope, monkeypatch, variables, hints):
    set_all(monkeypatch, variables)
    ended = run("bench", slope, "-s", "nsgs", "--shard", "auto", "-o", "%s.db", code=USAGE)
    assert "bench: --shard auto: " in ended.stderr and all(hint in ended.stderr for hint in hints)
    assert not list(Path().glob("*.db"))


def test_only_a_shard_has_a_place_in_the_name(slope):
    arguments = [slope, "--frame", "0", "-s", "nsgs", "-o"]
    assert bench(*arguments, "a%s.db")["ledger"] == "a%s.db" and Path("a%s.db").exists()
    assert bench(*arguments, "100%-%s-%s.db", "--shard", "1/1")["ledger"] == "100%-1-of-1-1-of-1.db"


# The parent of a worker is the rank. The first solve of all kills it, once.
KILLER = r"""
#include <stickslip/plugin.h>
#include <signal.h>
#include <unistd.h>
static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    if (unlink("armed") == 0) kill(getppid(), SIGKILL);
    return SS_CONVERGED;
}
static const ss_solver killer = {.abi = SS_ABI, .name = "killer", .summary = "planted", .reference = "none",
                                 .weakness = "all", .laws = ~0u, .solve = solve};
static const ss_solver *const solvers[] = {&killer, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
"""


def has_open_mpi():
    return shutil.which("mpirun") and "Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout


@pytest.mark.skipif(not has_open_mpi(), reason="no mpirun of Open MPI (tools/setup test)")
def test_ranks_of_mpirun_make_the_whole_though_one_is_killed(slope):
    plugin = build_plugin("killer", KILLER)
    arguments = [slope, "--every", "3", "-s", "nsgs,pgs,killer", "--plugin", plugin, "--jobs", "1"]
    whole = bench(*arguments, "-o", "whole.db")
    Path("runs").mkdir()
    command = ["mpirun", "-n", "3", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []),
               PROGRAM, "bench", *arguments, *QUICK, "--json", "--shard", "auto", "-o", "runs/%s.db"]

    def launch():
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)

    Path("armed").touch()
    ended = launch()
    assert ended.returncode != 0 and "signal 9" in ended.stderr and not Path("armed").exists(), ended.stderr
    ended = launch()
    assert ended.returncode == 0, ended.stderr
    parts = sorted(map(str, Path("runs").iterdir()))
    assert parts == [f"runs/{i}-of-3.db" for i in (1, 2, 3)]
    merged = run_json("merge", "merged.db", *parts)
    assert sum(part["added"] for part in merged["files"]) == whole["runs"] > 0
    assert contents("merged.db") == contents("whole.db")


@pytest.mark.skipif(not has_open_mpi(), reason="no mpirun of Open MPI (tools/setup test)")
def test_ranks_of_mpirun_have_their_runs_handed_out_though_one_is_killed(slope):
    """mpirun ends all ranks when one dies; the next time another number of them does the rest."""
    plugin = build_plugin("killer", KILLER)
    arguments = [slope, "--every", "3", "-s", "nsgs,pgs,killer", "--plugin", plugin, "--jobs", "1"]
    whole = bench(*arguments, "-o", "whole.db")
    Path("runs").mkdir()

    def launch(ranks):
        return subprocess.run(["mpirun", "-n", str(ranks), "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []),
                               PROGRAM, "bench", *arguments, *QUICK, "--shard", "auto", "--claim", "-o", "runs/%s.db"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)

    Path("armed").touch()
    ended = launch(3)
    assert ended.returncode != 0 and not Path("armed").exists(), ended.stderr
    ended = launch(2)
    assert ended.returncode == 0, ended.stderr
    parts = sorted(map(str, Path("runs").glob("*.db")))
    assert counts(status(*parts, code=DONE)) == {"done": whole["runs"], "missing": 0, "failed": 0}
    assert all(part["differing"] == 0 for part in run_json("merge", "merged.db", *parts)["files"])
    assert contents("merged.db") == contents("whole.db")


@pytest.mark.skipif(not shutil.which("parallel"), reason="no GNU parallel (tools/setup test)")
def test_jobs_of_gnu_parallel(slope, monkeypatch):
    arguments = [slope, "--every", "3", "-s", "nsgs,pgs", "--jobs", "1"]
    bench(*arguments, "-o", "whole.db")
    monkeypatch.setenv("SS_SHARDS", "3")
    monkeypatch.setenv("PARALLEL_HOME", str(Path().resolve()))
    command = " ".join([str(PROGRAM), "bench", *arguments, *QUICK, "--shard", "auto", "-o", "part-%s.db"])
    subprocess.run(["parallel", "-j", "3", "-N0", command], input="a\nb\nc\n", text=True, check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    run("merge", "merged.db", *(f"part-{i}-of-3.db" for i in (1, 2, 3)))
    assert contents("merged.db") == contents("whole.db")


# ---- status ------------------------------------------------------------------------------------------------------

def status(*ledgers, code):
    return json.loads(run("status", *ledgers, "--json", code=code).stdout)


def forget_runs(ledger, where):
    """Takes runs out of a ledger, as if it had been killed before them; returns how many."""
    with sqlite3.connect(ledger) as base:
        runs = [row[0] for row in base.execute(f"SELECT id FROM runs WHERE {where}")]
        for table in ("metrics", "samples", "history", "crossings", "contact_errors"):
            base.executemany(f"DELETE FROM {table} WHERE run = ?", [(run,) for run in runs])
        base.executemany("DELETE FROM runs WHERE id = ?", [(run,) for run in runs])
    base.close()
    return len(runs)


def counts(found):
    return {key: found[key] for key in ("done", "missing", "failed")}


def test_status_of_shards_that_are_complete_behind_or_not_there(slope):
    campaign = {"problems": [{"file": slope, "every": 3}], "methods": [{"solver": ["nsgs", "pgs", "jacobi"]}]}
    Path("study.json").write_text(json.dumps(campaign))
    arguments = ["--campaign", "study.json", "-o", "%s.db", "--shard"]
    runs = [bench(*arguments, f"{i}/3")["runs"] for i in (1, 2, 3)]
    ledgers = [f"{i}-of-3.db" for i in (1, 2, 3)]
    whole = sum(runs)
    assert whole == 7 * 3 and min(runs) > 0

    found = status(*ledgers, code=DONE)
    assert counts(found) == {"done": whole, "missing": 0, "failed": 0} and found["complete"]
    assert [part["shard"] for part in found["ledgers"]] == ["1/3", "2/3", "3/3"]
    assert [part["ledger"] for part in found["ledgers"]] == ledgers
    assert [counts(part) for part in found["ledgers"]] == [{"done": n, "missing": 0, "failed": 0} for n in runs]
    with sqlite3.connect(ledgers[1]) as base:
        last = base.execute("SELECT max(started) FROM runs").fetchone()[0]
    assert found["ledgers"][1]["last"] == last and found["ledgers"][1]["machines"][0]["cores"] >= 1
    assert json.loads(found["ledgers"][1]["campaign"].rsplit("\n", 1)[0]) == campaign

    # One shard has no ledger: nobody else is behind, but the whole is.
    found = status(*ledgers[:2], code=FOUND)
    assert counts(found) == {"done": runs[0] + runs[1], "missing": runs[2], "failed": 0} and not found["complete"]
    assert [part["missing"] for part in found["ledgers"]] == [0, 0]

    # One is behind, until it is merged with one that has the rest. A merged ledger is the whole.
    shutil.copy(ledgers[0], "copy.db")
    assert forget_runs(ledgers[0], "id > 1") == runs[0] - 1
    found = status(*ledgers, code=FOUND)
    assert found["missing"] == runs[0] - 1 and [part["missing"] for part in found["ledgers"]] == [runs[0] - 1, 0, 0]
    run("merge", "merged.db", *ledgers)
    found = status("merged.db", code=FOUND)
    assert found["ledgers"][0]["shard"] == "1/1" and found["ledgers"][0]["missing"] == found["missing"] == runs[0] - 1
    run("merge", "merged.db", "copy.db")
    assert status("merged.db", code=DONE)["done"] == whole


def test_status_counts_failures_and_tells_unlike_campaigns_apart(slope, wall):
    plugin = build_plugin("killer", KILLER.replace("if (unlink(\"armed\") == 0) kill(getppid(), SIGKILL);", "raise(SIGSEGV);"))
    bench(slope, "--frame", "0:3", "-s", "nsgs,killer", "--plugin", plugin, "-o", "a.db")
    bench(wall, "-s", "pgs", "-o", "b.db")
    found = status("a.db", "b.db", code=DONE)
    assert [part["failed"] for part in found["ledgers"]] == [3, 0] and found["failed"] == 3
    assert found["done"] == sum(part["done"] for part in found["ledgers"]) and found["missing"] == 0
    shown = run("status", "a.db").stdout
    assert "a.db: 6 of 6 runs done, 0 missing, 3 failed; last activity 20" in shown
    assert "\n  campaign: bench slope.h5 --frame 0:3 " in shown
    assert "\n  machine: " in shown and shown.endswith("in all: 6 of 6 runs done, 0 missing, 3 failed\n")


def test_status_of_stored_answers_and_of_a_ledger_without_problems(slope):
    run("solve", slope, "-s", "nsgs", "--frame", "0:4", "-o", "solved.h5", "--quiet")
    answers = bench("solved.h5", slope, "--recorded", "-s", "pgs", "-o", "r.db")
    assert answers["recorded"] == answers["problems"] + 4, "those of the example, and nsgs on four frames"
    assert counts(status("r.db", code=DONE)) == {"done": answers["runs"], "missing": 0, "failed": 0}
    forget_runs("r.db", "1")
    with sqlite3.connect("r.db") as base:
        base.execute("DELETE FROM problems")
    base.close()
    found = status("r.db", code=FOUND)
    assert found["ledgers"][0]["missing"] is None and not found["complete"]
    assert "r.db: no problems yet" in run("status", "r.db", code=FOUND).stdout
    assert "not a ledger" in run("status", "r.db", slope, code=BAD_INPUT).stderr


def test_status_reads_while_another_process_writes(slope):
    arguments = [slope, "--frame", "0:3", "-s", "nsgs", "-o", "r.db"]
    bench(*arguments)
    with sqlite3.connect("r.db", isolation_level=None) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE runs SET message = 'being written'")
        before = Path("r.db").read_bytes()
        assert status("r.db", code=DONE)["done"] == 3
        assert Path("r.db").read_bytes() == before
        writer.execute("ROLLBACK")
    writer.close()


def test_status_usage():
    run("status", code=USAGE)
    assert "no.db: cannot be read" in run("status", "no.db", code=BAD_INPUT).stderr
