"""Solvers that are other processes: the examples, and processes that misbehave in every way we could think of."""
import json
import os
import shlex
import subprocess
import textwrap
import time
from pathlib import Path

import pytest

from test_bench import bench, rows, slope
from test_cli import DONE, SOURCE, USAGE, here, run, run_json
from test_solve import FOUND, only, value

PYTHON = "/usr/bin/python3"
PGS = f"pipe-pgs={PYTHON} {SOURCE}/examples/pipe/block_pgs.py"
JACOBI = f"{SOURCE}/examples/pipe/damped_jacobi.pl"

KIT = """
import os, signal, struct, sys, time
source, sink = sys.stdin.buffer, sys.stdout.buffer
def send(kind, payload=b"", size=None):
    sink.write(kind.ljust(8, b"\\0") + struct.pack("<q", len(payload) if size is None else size) + payload)
    sink.flush()
def receive():
    head = source.read(16)
    if len(head) < 16: sys.exit(0)
    return head[:8].rstrip(b"\\0"), source.read(struct.unpack("<q", head[8:])[0])
def hello(version=1, laws=31, needs=0, form=1):
    receive()
    send(b"HELLO", struct.pack("<4q", version, laws, needs, form))
def problem():
    payload = receive()[1]
    return struct.unpack_from("<q", payload)[0]
def iterate(n, x=0.0):
    send(b"ITERATE", struct.pack(f"<{n}d", *[x] * n))
    return receive()[0]
def done(n, status=0, text=b"", x=0.0):
    send(b"DONE", struct.pack("<q", status) + struct.pack(f"<{n}d", *[x] * n) + struct.pack("<q", len(text)) +
         text.ljust(-(-len(text) // 8) * 8, b"\\0"))
"""


def planted(body):
    """The command of a process with this body."""
    Path("planted.py").write_text(KIT + textwrap.dedent(body))
    return f"planted={PYTHON} planted.py"


def solve(slope, body, *more, code=FOUND):
    ended = run("solve", slope, "--frame", "0:2", "--solver-command", planted(body), "--no-diagnose", "--json", *more,
                code=code)
    return json.loads(ended.stdout)["frames"]


# ---- the examples ------------------------------------------------------------------------------------------------

def test_plain_python_solves_what_the_library_solves(slope):
    mine = run_json("solve", slope, "--solver-command", PGS)["frames"]
    ours = run_json("solve", slope, "-s", "nsgs")["frames"]
    assert len(mine) == 20 and all(frame["solver"] == "pipe-pgs" and frame["status"] == "converged" for frame in mine)
    for a, b in zip(mine, ours):
        assert value(a, "natural_map") < 1e-8
        # two answers to natural_map<1e-8 of steps that change 0.01 J
        assert value(a, "kinetic_energy_change") == pytest.approx(value(b, "kinetic_energy_change"), abs=1e-8)


def test_perl_solves_boxes_and_refuses_cones(slope):
    if not Path("/usr/bin/perl").exists():
        pytest.skip("no perl")
    words = ["solve", slope, "--frame", "0:3", "--solver-command", JACOBI]
    box = run_json(*words, "-f", "box", "--stop", "relative_energy<1e-6")["frames"]
    assert all(frame["solver"] == "damped_jacobi" and frame["status"] == "converged" for frame in box)
    cone = run_json(*words, code=None)["frames"]
    assert all(frame["status"] == "not applicable" and "does not accept these laws" in frame["notes"][0] for frame in cone)


def test_wherever_solvers_are(slope):
    summary = run_json("run", "sliding-block", "--steps", "5", "--solver-command", PGS, "--finisher", "none")
    assert summary["steps"] == 5
    counts = bench(slope, "--frame", "0:2", "--solver-command", PGS, "--solver-command", JACOBI, "-f", "cone,box", "-s",
                   "pipe-pgs,damped_jacobi,pgs", "--iterations", "200", "-o", "r.db")
    assert counts["runs"] == 12
    methods = {(row["formulation"], row["solver"]): row for row in rows("r.db", "methods")}
    assert methods[("cone", "pipe-pgs")]["plugin_file"] == f"command:{PGS}"
    assert len(methods[("cone", "pipe-pgs")]["plugin"]) == 32 and methods[("cone", "pgs")]["plugin"] == ""
    report = json.loads(run("report", "r.db", "--json").stdout)
    (options,) = [m["options"] for m in report["methods"] if m["solver"] == "pipe-pgs" and m["formulation"] == "cone"]
    again = run("solve", slope, "--frame", "0", *shlex.split(options), "--json", code=None)
    assert only(json.loads(again.stdout))["solver"] == "pipe-pgs"
    refused = {row["message"] for row in rows("r.db", "runs") if row["solver"] == "damped_jacobi" and
               row["formulation"] == "cone"}
    assert refused == {"damped_jacobi: does not accept these laws"}


def test_a_changed_program_is_another_method(slope):
    Path("mine.py").write_text(Path(SOURCE, "examples/pipe/block_pgs.py").read_text())
    for _ in range(2):
        bench(slope, "--frame", "0", "--solver-command", f"mine={PYTHON} mine.py", "-s", "mine", "-o", "r.db")
        with open("mine.py", "a") as file:
            file.write("# changed\n")
    assert len({row["plugin"] for row in rows("r.db", "methods")}) == 2


@pytest.mark.parametrize("command, words", [
    ("pgs=./mine", "solver name 'pgs' is already used by the library"), ("mine=", "expected COMMAND or NAME=COMMAND"),
    ("  ", "expected COMMAND or NAME=COMMAND"), ("'", "no valid name")])
def test_a_command_that_cannot_be(command, words, slope):
    ended = run("solve", slope, "--solver-command", command, code=None)
    assert ended.returncode in (USAGE, 3) and words in ended.stderr


# ---- what a process may do ---------------------------------------------------------------------------------------

def test_one_process_serves_many_problems_and_leaves_at_the_end(slope):
    frames = solve(slope, """
        hello()
        open("log", "a").write(f"{os.getpid()}\\n")
        while True:
            n = problem()
            while iterate(n) == b"CONTINUE": pass
            done(n)
    """, "--iterations", "3", "--stop", "none", code=DONE)
    assert [(frame["status"], frame["iterations"]) for frame in frames] == [("max iterations", 3)] * 2
    (pid,) = Path("log").read_text().split()
    assert not Path(f"/proc/{pid}").exists()


def test_what_it_says_about_itself_is_not_believed(slope):
    (first, second) = solve(slope, """
        hello()
        n = problem(); done(n)  # "converged"
        n = problem(); done(n, status=7, text="no luck with ü".encode())
    """)
    assert first["status"] == "stalled" and second["status"] == "failed"
    assert second["notes"] == ["planted: no luck with ü"]


def test_the_command_may_be_any_line_of_shell(slope):
    Path("folder").mkdir()
    text = Path(SOURCE, "examples/pipe/block_pgs.py").read_text()
    Path("folder/mine.py").write_text(text)
    frames = run_json("solve", slope, "--frame", "0:2", "--solver-command",
                      f"mine=cd folder && {PYTHON} mine.py --flag 'two words'")["frames"]
    assert [frame["status"] for frame in frames] == ["converged"] * 2


def test_notes_are_explanations(slope):
    frames = solve(slope, """
        hello()
        while True:
            n = problem()
            send(b"NOTE", struct.pack("<q", 5) + b"thinkABC"[:5] + b"\\0" * 3)
            iterate(n); done(n)
    """, "--explain", "--iterations", "1", "--stop", "none", code=DONE)
    assert frames[0]["notes"] == ["planted: think"]


BAD = {  # what it does: (the reason that is given, for each of two frames)
    "crash at the start": ("import no_such_module", "planted: ended with exit code 1 before its HELLO: "
                           "ModuleNotFoundError: No module named 'no_such_module'"),
    "silent exit": ("sys.exit(0)", "planted: ended with exit code 0 before its HELLO"),
    "exit in a problem": ("hello(); n = problem(); iterate(n); print('giving in', file=sys.stderr); sys.exit(3)",
                          "planted: ended with exit code 3 in the middle of a problem: giving in"),
    "signal in a problem": ("hello(); n = problem(); iterate(n); os.kill(os.getpid(), signal.SIGSEGV)",
                            "planted: ended by signal 11 (Segmentation fault) in the middle of a problem"),
    "does not read the problem": ("hello(); sys.exit(4)", "planted: ended with exit code 4"),
    "garbage at the start": ("receive(); print('hello, dear program'); sys.stdout.flush(); time.sleep(9)",
                             "planted: wrote \"hello, dear prog\" to its standard output"),
    "garbage in a problem": ("hello(); problem(); sink.write(bytes(range(256))); sink.flush(); time.sleep(9)",
                             "planted: wrote \"................\" to its standard output"),
    "huge output": ("hello(); problem()\nwhile True: sink.write(b'x' * 65536)",
                    "planted: wrote \"xxxxxxxxxxxxxxxx\" to its standard output"),
    "huge message": ("hello(); problem(); send(b'ITERATE', b'', 1 << 60); time.sleep(9)",
                     "planted: sent an ITERATE of 1152921504606846976 bytes, must be 96 for 12 unknowns"),
    "negative message": ("hello(); problem(); send(b'DONE', b'', -8); time.sleep(9)", "planted: sent a DONE of "),
    "short x": ("hello(); n = problem(); iterate(n - 1)", "planted: sent an ITERATE of 88 bytes, must be 96"),
    "goes on after stop": ("hello(); n = problem()\nwhile True: iterate(n)", "planted: sent another ITERATE after"),
    "wrong version": ("hello(version=2); time.sleep(9)", "planted: speaks version 2 of the protocol, must be 1"),
    "laws that do not exist": ("hello(laws=32); time.sleep(9)", "planted: sent a HELLO with laws 32"),
    "unknown form": ("hello(form=7); time.sleep(9)", "and form 7, which do not exist"),
    "hello of another size": ("receive(); send(b'HELLO', b'12345678'); time.sleep(9)", "sent a HELLO of 8 bytes"),
    "text of impossible length": ("hello(); n = problem(); send(b'DONE', struct.pack(f'<q{n}dq', 0, *[0.0] * n, 999))",
                                  "planted: sent a DONE with a text of an impossible length"),
    "not finite": ("hello()\nwhile True: n = problem(); iterate(n, float('nan')); done(n, x=float('nan'))", "x[0] is nan after"),
    "much standard error": ("hello(); n = problem(); print('blah ' * 200000, file=sys.stderr)\nprint('the end',"
                            "file=sys.stderr); sys.exit(1)", "in the middle of a problem: the end"),
    "speaks too early": ("send(b'ITERATE'); time.sleep(9)", "planted: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_process_that_misbehaves_is_a_failed_run_with_a_reason(name, slope):
    body, reason = BAD[name]
    began = time.monotonic()
    frames = solve(slope, body, "--iterations", "2", "--stop", "none")
    assert [frame["status"] for frame in frames] == ["failed"] * 2
    for frame in frames:
        assert any(reason in note for note in frame["notes"]), frame["notes"]
    assert time.monotonic() - began < 8  # nobody waits for one that sleeps


def test_one_that_hangs_is_killed_at_the_time_limit_and_its_last_iterate_counts(slope):
    began = time.monotonic()
    frames = solve(slope, """
        hello()
        n = problem(); iterate(n, 1e-3)
        open("log", "a").write(f"{os.getpid()}\\n")
        while True: time.sleep(1)
    """, "--time-limit", "0.3", "--keep", "last")
    assert [(frame["status"], frame["iterations"]) for frame in frames] == [("time limit", 1)] * 2
    assert all(value(frame, "tension") == 0 and value(frame, "resting") == 4 for frame in frames)
    assert time.monotonic() - began < 6
    for pid in Path("log").read_text().split():
        assert not Path(f"/proc/{pid}").exists()


def test_one_that_looks_at_the_answers_ends_at_the_time_limit_by_itself(slope):
    frames = solve(slope, """
        hello()
        open("log", "a").write(f"{os.getpid()}\\n")
        while True:
            n = problem()
            while iterate(n) == b"CONTINUE": time.sleep(0.01)
            done(n)
    """, "--time-limit", "0.2", "--stop", "natural_map<1e-30", "--iterations", "1000000")
    assert [frame["status"] for frame in frames] == ["time limit"] * 2
    assert len(Path("log").read_text().split()) == 1  # it was not killed


def test_the_start_of_an_interpreter_is_not_time_of_the_solver(slope):
    frames = solve(slope, """
        time.sleep(0.5)
        hello()
        while True:
            n = problem()
            while iterate(n) == b"CONTINUE": pass
            done(n)
    """, "--time-limit", "0.3", "--iterations", "2", "--stop", "none", code=DONE)
    assert [frame["status"] for frame in frames] == ["max iterations"] * 2 and frames[0]["seconds"] < 0.3


def test_a_campaign_waits_for_a_slow_start(slope):
    Path("slow.py").write_text(KIT + "time.sleep(5)\nhello()\nwhile True:\n    n = problem(); iterate(n); done(n)")
    bench(slope, "--frame", "0", "--solver-command", f"slow={PYTHON} slow.py", "-s", "slow", "--time-limit", "0.1", "-o", "s.db")
    (row,) = rows("s.db", "runs")
    assert row["outcome"] == "stalled" and row["iterations"] == "1"


def test_in_a_campaign_every_misfortune_is_a_row(slope):
    commands, words = [], []
    for i, name in enumerate(BAD):
        Path(f"bad{i}.py").write_text(KIT + BAD[name][0])
        commands += ["--solver-command", f"bad{i}={PYTHON} bad{i}.py"]
        words.append(f"bad{i}")
    Path("hang.py").write_text(KIT + "hello(); problem()\nwhile True: time.sleep(1)")
    Path("eat.py").write_text(KIT + "hello(); problem(); eaten = []\nwhile True: eaten.append(bytearray(1 << 24))")
    commands += ["--solver-command", f"hang={PYTHON} hang.py", "--solver-command", f"eat={PYTHON} eat.py"]
    counts = bench(slope, "--frame", "0", *commands, "-s", ",".join([*words, "hang", "eat", "pgs"]), "--time-limit", "0.5",
                   "--max-memory", "500", "-o", "bad.db")
    assert counts["runs"] == len(BAD) + 3
    got = {row["solver"]: row for row in rows("bad.db", "runs")}
    for i, name in enumerate(BAD):
        if name == "goes on after stop":
            continue  # with 20 iterations it is told to stop later; the same as above
        assert got[f"bad{i}"]["outcome"] == "failed" and BAD[name][1].replace("planted", f"bad{i}") in got[f"bad{i}"]["message"], name
    assert got["hang"]["outcome"] == "time limit" and got["pgs"]["outcome"] in ("converged", "max iterations")
    assert got["eat"]["outcome"] in ("failed", "time limit") and (got["eat"]["outcome"] != "failed" or
                                                                  "MemoryError" in got["eat"]["message"])


def test_it_ends_with_us(slope):
    """Killed from outside, stickslip leaves no process behind."""
    command = planted("hello(); n = problem(); open('log', 'w').write(str(os.getpid()))\nwhile True: time.sleep(1)")
    process = subprocess.Popen([os.environ["SS_PROGRAM"], "solve", slope, "--solver-command", command],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not Path("log").exists() or not Path("log").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pid = Path("log").read_text()
    process.kill()
    process.wait()
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
