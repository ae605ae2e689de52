"""Ledgers on file systems of a network: without memory that processes can share, and without locks. Both are planted by a library
that is loaded before the program; test_ledger.c does the first in its own process, under the sanitizers as well."""
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from test_bench import QUICK, bench, build_plugin, contents, slope
from test_cli import PROGRAM, RESOURCES, here, run

FOUND = 1

WITHOUT_SHARED_MEMORY = r"""
#include "without_shared_memory.h"
__attribute__((constructor)) static void begin(void) { use_files_without_shared_memory(); }
"""

# As Lustre answers when it is mounted without flock.
WITHOUT_LOCKS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
int flock(int file, int operation) { (void)file, (void)operation; errno = ENOSYS; return -1; }
int fcntl64(int file, int command, ...)
{
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) { errno = ENOLCK; return -1; }
    return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, "fcntl64"))(file, command, argument);
}
int fcntl(int file, int command, ...) __attribute__((alias("fcntl64")));
"""


# Waits while the file is there, so that others can look meanwhile.
WAITER = r"""
#include <stickslip/plugin.h>
#include <unistd.h>
static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    while (access("wait", F_OK) == 0) usleep(10000);
    return SS_CONVERGED;
}
static const ss_solver waiter = {.abi = SS_ABI, .name = "waiter", .summary = "planted", .reference = "none",
                                 .weakness = "all", .laws = ~0u, .solve = solve};
static const ss_solver *const solvers[] = {&waiter, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
"""


@pytest.mark.parametrize("lack", ["memory", "locks"])
def test_a_ledger_on_a_poor_file_system_is_killed_resumed_and_the_same(slope, monkeypatch, lack):
    text, library = (WITHOUT_SHARED_MEMORY, "-lsqlite3") if lack == "memory" else (WITHOUT_LOCKS, "-ldl")
    Path("poor.c").write_text(text)
    subprocess.run(["cc", "-std=c17", "-w", "-shared", "-fPIC", f"-I{Path(__file__).parent}", "poor.c", "-o", "poor.so",
                    library], check=True)
    arguments = [slope, "--every", "4", "-s", "nsgs,waiter", "--plugin", build_plugin("waiter", WAITER), "--jobs", "1", "-o"]
    usual = bench(*arguments, "usual.db")
    monkeypatch.setenv("LD_PRELOAD", str(Path("poor.so").resolve()))
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")

    Path("wait").touch()
    writer = subprocess.Popen([PROGRAM, "bench", *arguments, "r.db", *QUICK])
    try:
        end = time.monotonic() + 30
        while f" {usual['runs']} " not in (Path("r.db.lock").read_text() if Path("r.db.lock").exists() else ""):
            assert time.monotonic() < end and writer.poll() is None
            time.sleep(0.02)
        said = json.loads(run("status", "r.db", "--json", code=FOUND).stdout)["ledgers"][0]
        assert said["writer"]["process"] == writer.pid and said["done"] >= 1 and said["done"] + said["missing"] == usual["runs"]
        shown = run("status", "r.db", code=FOUND).stdout
        assert f"r.db: cannot be read while process {writer.pid} on " in shown and "in all, without the 1 that" in shown
        assert f"process {writer.pid} on " in run("report", "r.db", code=RESOURCES).stderr
        second = run("bench", *arguments, "r.db", *QUICK, code=RESOURCES).stderr
        assert f"another process is writing to it: {writer.pid} on " in second and ("delete r.db.lock" in second) == (lack == "locks")
        assert not Path("r.db-shm").exists(), "which others would have to map"
    finally:
        writer.kill()
        writer.wait()

    # What it left behind can be read, and completed by the next writer.
    assert Path("r.db-wal").exists() and Path("r.db.lock").exists()
    before = json.loads(run("status", "r.db", "--json", code=FOUND).stdout)
    assert before["done"] >= 1 and before["ledgers"][0]["writer"] is None
    Path("wait").unlink()
    counts = bench(*arguments, "r.db")
    assert counts["before"] == before["done"] and counts["missing"] == 0
    assert sorted(path.name for path in Path().glob("r.db*")) == ["r.db"]
    monkeypatch.delenv("LD_PRELOAD")
    assert contents("r.db") == contents("usual.db")
