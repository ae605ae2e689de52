"""Campaigns whose runs are handed out (bench --claim): ranks that are killed, a server that is killed, strangers. Ranks are processes
with the variables of MPICH; test_shards.py and test_slurm.py have real launchers."""
import os
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from test_bench import QUICK, bench, build_plugin, contents, slope
from test_cli import DONE, PROGRAM, RESOURCES, USAGE, here, run, run_json
from test_shards import nothing_has_started_us

# Once, when it is armed, it kills the rank whose worker it is; and it waits while it is told to.
PLANTED = r"""
#include <stickslip/plugin.h>
#include <signal.h>
#include <unistd.h>
static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    if (unlink("armed") == 0) kill(getppid(), SIGKILL);
    while (access("wait", F_OK) == 0) usleep(10000);
    return SS_CONVERGED;
}
static const ss_solver planted = {.abi = SS_ABI, .name = "planted", .summary = "planted", .reference = "none",
                                  .weakness = "all", .laws = ~0u, .solve = solve};
static const ss_solver *const solvers[] = {&planted, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
"""


@pytest.fixture
def arguments(slope):
    Path("runs").mkdir()
    return [slope, "--every", "2", "-s", "nsgs,pgs,planted", "--plugin", build_plugin("planted", PLANTED), "--jobs", "1"]


def start(rank, ranks, arguments, *more):
    """One rank, in the background."""
    return subprocess.Popen([PROGRAM, "bench", *arguments, *QUICK, "--shard", "auto", "--claim", "-o", "runs/%s.db", *more],
                            env={**os.environ, "PMI_RANK": str(rank - 1), "PMI_SIZE": str(ranks)},
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def end(processes, seconds=60):
    """Exit codes and what was complained of."""
    until = time.monotonic() + seconds
    ended = [process.communicate(timeout=max(0.1, until - time.monotonic()))[1] for process in processes]
    return [process.returncode for process in processes], ended


def wait_for(condition, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def merged():
    parts = sorted(map(str, Path("runs").glob("*.db")))
    told = run_json("merge", "merged.db", *parts)
    assert all(part["differing"] == 0 for part in told["files"])
    Path("merged.db").rename("all.db")
    return contents("all.db")


def test_a_rank_that_is_killed_costs_its_run_only(arguments):
    bench(*arguments, "-o", "whole.db")
    Path("armed").touch()
    codes, complaints = end([start(rank, 3, arguments) for rank in (1, 2, 3)])
    dead = [code for code in codes if code == -signal.SIGKILL]
    assert len(dead) == 1 and not Path("armed").exists()
    if codes[0] == DONE:  # another one than the first: the others have done its work, too
        assert codes.count(DONE) == 2, complaints
        assert not list(Path("runs").glob("*address*"))
    else:  # the first: the others end with what they have, and say so
        assert all(code == RESOURCES for code in codes[1:])
        assert end([start(rank, 3, arguments) for rank in (1, 2, 3)])[0] == [DONE] * 3
    assert merged() == contents("whole.db")


def test_the_rank_that_serves_is_killed_and_all_is_resumed_by_fewer(arguments):
    bench(*arguments, "-o", "whole.db")
    Path("wait").touch()
    ranks = [start(rank, 3, arguments) for rank in (1, 2, 3)]
    wait_for(lambda: all(Path(f"runs/{i}-of-3.db-wal").exists() for i in (1, 2, 3)))
    wait_for(lambda: Path("runs/claim.db.address").exists())
    assert Path("runs/claim.db.address").stat().st_mode & 0o777 == 0o600
    time.sleep(0.5)
    ranks[0].kill()
    Path("wait").unlink()
    codes, complaints = end(ranks)
    assert codes == [-signal.SIGKILL, RESOURCES, RESOURCES]
    assert "hands out the runs is gone; what is done is stored: repeat the command to continue" in complaints[1]
    codes, complaints = end([start(rank, 2, arguments) for rank in (1, 2)])
    assert codes == [DONE, DONE], complaints
    assert "in all: 30 of 30 runs done" in run("status", *map(str, Path("runs").glob("*.db"))).stdout
    assert merged() == contents("whole.db")


def test_a_rank_that_is_stopped_says_what_it_added_and_not_how_much_of_its_hand(arguments):
    Path("wait").touch()
    rank = start(1, 1, arguments)

    def stored():
        told = run_json("status", "runs/1-of-1.db", code=None)
        return told["ledgers"][0]["done"]

    wait_for(lambda: Path("runs/claim.db.address").exists() and stored() > 0)
    rank.terminate()
    Path("wait").unlink()
    codes, (said,) = end([rank])
    assert codes == [-signal.SIGTERM]
    runs = stored()
    assert f"interrupted: {runs} run{'s'[:runs > 1]} added to runs/1-of-1.db; repeat the command to continue" in said


def test_strangers_and_other_campaigns_are_kept_out(arguments):
    Path("wait").touch()
    ranks = [start(1, 2, arguments)]
    wait_for(lambda: Path("runs/claim.db.address").exists())
    port = int(Path("runs/claim.db.address").read_text().split()[3])

    def say(message):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
            stranger.sendall(message)
            try:
                while answer := stranger.recv(1000):
                    return answer
            except ConnectionResetError:
                pass
        return b""

    def text(words):
        return struct.pack("=q", len(words)) + words

    def message(kind, payload):
        return struct.pack("=III", 0x736C6331, kind, len(payload)) + payload

    assert say(b"GET / HTTP/1.0\r\n\r\n") == b""
    assert say(b"x" * 100000) == b""
    assert say(message(0, text(b"0" * 32) + text(b"1" * 32) + struct.pack("=qqq", 1, 2, 1))) == b"", "a token that is wrong"
    assert say(message(2, b"")) == b"", "work for a stranger"
    codes, complaints = end([start(2, 2, arguments, "--seed", "2"), start(3, 3, arguments)])
    assert codes == [USAGE, USAGE]
    assert all("refused by rank 1" in said and "the campaigns differ" in said for said in complaints)
    ranks.append(start(2, 2, arguments))
    Path("wait").unlink()
    codes, complaints = end(ranks)
    assert codes == [DONE, DONE], complaints


def test_what_does_not_go_with_claims(slope):
    for extra, hint in [(["-o", "r.db", "--shard", "1/2"], "%s in the name"), (["-o", "%s.db"], "--claim needs --shard"),
                        (["-o", "%s.db", "--shard", "1/2", "--repeats", "2"], "--repeats cannot be combined"),
                        (["-o", "%s.db", "--shard", "1/2", "--recorded"], "--recorded cannot be combined")]:
        assert hint in run("bench", slope, "-s", "nsgs", "--claim", *extra, code=USAGE).stderr
    assert run_json("bench", slope, "-s", "nsgs", "--claim", "--shard", "1/1", "-o", "%s.db", *QUICK)["missing"] == 0
