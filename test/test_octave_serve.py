"""An m-function as a solver of the program: the pipe of docs/pipe.md, spoken by hand and by `stickslip` itself."""
import json
import os
import sqlite3
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from shared_data import shared

TOOLBOX = Path(os.environ["SS_SOURCE_DIR"]) / "bindings" / "octave"
BUILD = Path(os.environ["SS_BUILD_DIR"]) / "octave"
PROGRAM = os.environ["SS_PROGRAM"]
FREE, BOX, COUPLED, CONE, CONVEX = 1, 2, 4, 8, 16

pytestmark = pytest.mark.skipif(not (BUILD / "stickslip_mex.mex").exists(), reason="no MEX function in the build (tools/setup test)")


def octave(code):
    folders = ", ".join(f"'{folder}'" for folder in [TOOLBOX / "inst", TOOLBOX / "examples", BUILD])
    return ["octave-cli", "--quiet", "--norc", "--no-history", "--eval", f"addpath({folders}); {code}"]


class Pipe:
    """stickslip's end of the pipe."""

    def __init__(self, code):
        self.process = subprocess.Popen(octave(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.send(b"HELLO", struct.pack("<2q", 1, 9) + b"stickslip".ljust(16, b"\0"))
        kind, payload = self.receive()
        assert kind == b"HELLO"
        self.version, self.laws, self.needs, self.form = struct.unpack("<4q", payload)

    def send(self, kind, payload=b""):
        self.process.stdin.write(kind.ljust(8, b"\0") + struct.pack("<q", len(payload)) + payload)
        self.process.stdin.flush()

    def receive(self):
        head = self.process.stdout.read(16)
        assert len(head) == 16, self.process.stderr.read().decode()
        return head[:8].rstrip(b"\0"), self.process.stdout.read(struct.unpack("<q", head[8:])[0])

    def problem(self, A, b, x=None, options=b"", law=BOX):
        n, (rows, columns) = len(b), np.nonzero(A)
        starts = np.searchsorted(rows, np.arange(n + 1))
        words = [struct.pack("<6qdq", n, 1, 1, len(rows), 0, 1000, 0.0, 7)]
        words += [np.asarray(v, "<f8").tobytes() for v in [b, np.zeros(n), np.full(n, np.inf)]]
        words += [np.full(n, -1, "<i8").tobytes()]
        words += [np.asarray(v, "<f8").tobytes() for v in [np.zeros(n), np.zeros(n) if x is None else x]]
        words += [struct.pack("<3q2d2q", law, 0, n, 0.0, 0.0, 3, -1)]
        words += [starts.astype("<i8").tobytes(), columns.astype("<i8").tobytes(), A[rows, columns].astype("<f8").tobytes()]
        words += [struct.pack("<q", len(options)) + options.ljust(-(-len(options) // 8) * 8, b"\0")]
        self.send(b"PROBLEM", b"".join(words))

    def done(self, payload, n):
        status, x = struct.unpack_from("<q", payload)[0], np.frombuffer(payload, "<f8", n, 8)
        length = struct.unpack_from("<q", payload, 8 + 8 * n)[0]
        assert len(payload) == 16 + 8 * n + -(-length // 8) * 8
        return status, x, payload[16 + 8 * n:][:length].decode()

    def end(self):
        out, err = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, err.decode()
        assert out == b""
        return err.decode()


A = np.array([[4.0, 1.0, 0.0], [0.5, 3.0, 1.0], [0.0, -1.0, 2.0]])
b = np.array([-1.0, -2.0, 3.0])


def test_one_process_serves_many_problems():
    pipe = Pipe("ss_serve(@(problem) lemke(problem.A, problem.b), 'laws', 'box')")
    assert (pipe.version, pipe.laws, pipe.needs, pipe.form) == (1, BOX, 0, 1)
    for scale in [1.0, 2.0, 10.0]:
        pipe.problem(A, scale * b)
        kind, payload = pipe.receive()
        status, x, text = pipe.done(payload, 3)
        w = A @ x + scale * b
        assert (kind, status, text) == (b"DONE", 0, "")
        assert np.all(np.abs(np.minimum(x, w)) < 1e-14) and x[0] > 0  # solves the LCP: A did not arrive transposed
    assert pipe.end() == ""


def test_iterates_go_out_until_stop():
    pipe = Pipe("ss_serve(@projected_jacobi)")
    assert pipe.laws == FREE | BOX | COUPLED | CONE | CONVEX
    pipe.problem(A, b, x=[0.5, 0.5, 0.5])
    first = None
    for k in range(20):
        kind, payload = pipe.receive()
        assert kind == b"ITERATE" and len(payload) == 24
        x = np.frombuffer(payload, "<f8")
        first = x if first is None else first
        pipe.send(b"CONTINUE" if k < 19 else b"STOP")
    kind, payload = pipe.receive()
    assert kind == b"DONE"
    assert np.array_equal(pipe.done(payload, 3)[1], x) and not np.array_equal(first, x)
    pipe.end()


def test_the_problem_is_the_one_that_was_sent():
    show = ("disp([problem.iterations, problem.time_limit, problem.seed, problem.blocks.contact, problem.blocks.constraint]); "
            "disp(problem.options); disp(problem.blocks.law{1}); disp(full(problem.A)); disp(problem.x0')")
    pipe = Pipe(f"function x = shown(problem), x = problem.x0; {show}; end, ss_serve(@shown)")
    pipe.problem(A, b, x=[1.0, 2.0, 3.0], options=b"omega=1.3")
    status, x, _ = pipe.done(pipe.receive()[1], 3)
    assert status == 0 and list(x) == [1, 2, 3]
    words = pipe.end().split()  # what it prints is on standard error, not among the messages
    assert words[:5] == ["1000", "0", "7", "4", "0"] and words[5:7] == ["omega=1.3", "box"]
    assert [float(w) for w in words[7:16]] == list(A.ravel()) and words[16:] == ["1", "2", "3"]


@pytest.mark.parametrize("code, reason", [("@(problem) error('fell over')", "fell over"),
                                          ("@(problem) [1; 2]", "2 numbers, expected 3"),
                                          ("@(problem, report) report(1)", "x of report: 1 numbers, expected 3")])
def test_an_error_is_a_failed_run_and_the_next_one_is_served(code, reason):
    pipe = Pipe(f"ss_serve({code})")
    for _ in range(2):
        pipe.problem(A, b)
        status, x, text = pipe.done(pipe.receive()[1], 3)
        assert status == 7 and reason in text and not x.any()
    pipe.end()


def test_what_is_no_message_ends_it_with_the_reason():
    for words in [b"GARBAGE\0" + struct.pack("<q", 3), b"PROBLEM\0" + struct.pack("<q", 8) + struct.pack("<q", 5),
                  b"PROBLEM\0" + struct.pack("<q", -8), b"NONSENSE" + struct.pack("<q", 0)]:
        pipe = Pipe("ss_serve(@(problem) problem.x0)")
        pipe.process.stdin.write(words)
        out, err = pipe.process.communicate(timeout=30)
        assert pipe.process.returncode != 0 and b"stickslip" in err and out == b""


def test_a_user_who_calls_it_by_hand_is_told():
    run = subprocess.run(octave("ss_serve(@(problem) 1)"), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.returncode != 0 and "no greeting from stickslip" in run.stderr
    run = subprocess.run(octave("ss_serve(@(problem) 1, 'laws', 'jungle')"), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.returncode != 0 and "unknown law 'jungle'" in run.stderr


# ---- by the program itself --------------------------------------------------------------------------------


def command(name, code):
    """--solver-command, whose text goes through a shell."""
    words = octave(code)
    return ["--solver-command", f"{name}={' '.join(words[:-1])} \"{words[-1]}\""]


def test_a_campaign_compares_m_functions_with_built_in_solvers(tmp_path):
    frames, ledger = tmp_path / "frames.h5", tmp_path / "results.db"
    subprocess.run([PROGRAM, "run", "sliding-block", "--steps", "3", "--record", frames, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    run = subprocess.run([PROGRAM, "bench", frames, "-o", ledger, "-s", "mine,bad,gone,slow,nsgs", "--time-limit", "2",
                          "--iterations", "500", "--frame", "0:2", "--json",
                          *command("mine", "ss_serve(@projected_jacobi)"),
                          *command("bad", "ss_serve(@(problem) error('fell over'))"),
                          *command("gone", "ss_serve(@(problem) exit(3))"),
                          *command("slow", "ss_serve(@(problem) pause(1000))")], capture_output=True, text=True)
    rows = sqlite3.connect(ledger).execute("select solver, outcome, message from results").fetchall()
    assert len(rows) == 10, run.stderr
    status = {solver: {row[1] for row in rows if row[0] == solver} for solver in ["mine", "bad", "gone", "slow", "nsgs"]}
    assert status == {"mine": {"converged"}, "bad": {"failed"}, "gone": {"failed"}, "slow": {"time limit"}, "nsgs": {"converged"}}
    assert all("fell over" in row[2] for row in rows if row[0] == "bad")


def test_an_own_lemke_has_the_same_metrics_in_octave_and_in_the_program(tmp_path):
    files = [(shared("bpmd/sphere1_gazebo11.h5"), "0:5", 5), (shared("bpmd/stack6_gazebo6.h5"), "0:1", 1)]
    for path, chosen, count in files:
        run = subprocess.run([PROGRAM, "solve", path, "--frame", chosen, "-f", "stewart-trinkle", "--with", "directions=8", "--json",
                              *command("own", "ss_serve(@(problem) lemke(problem.A, problem.b))")], capture_output=True, text=True)
        told = json.loads(run.stdout)["frames"]
        assert len(told) == count and {frame["status"] for frame in told} == {"converged"}
        code = (f"warning('off', 'all'); p = load('{path}'); keys = fieldnames(p); p = rmfield(p, keys({count} + 1:end)); "
                "table = paper_loop(p, 8); disp(jsonencode({table.metrics}))")
        ours = json.loads(subprocess.run(octave(code), capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout)
        for theirs, mine in zip(told, ours):
            for name, value in mine.items():
                value, other = value if value is not None else np.nan, theirs["metrics"][name]["value"]
                other = np.nan if other is None else other
                assert np.isnan(value) == np.isnan(other), name
                # Texts carry 15 digits from Octave; 1e-12 relative, or of a joule, metre or N s where it is smaller.
                assert np.isnan(value) or abs(value - other) <= 1e-12 * max(1, abs(value)), (name, value, other)


def test_an_m_function_is_asked_what_every_solver_has_to_hold():
    ended = subprocess.run([PROGRAM, "solvers", "mine", "--test", "--check", "inside,iteration-limit", "--json",
                            *command("mine", "ss_serve(@projected_jacobi)")], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    (solver,) = json.loads(ended.stdout)["solvers"]
    assert solver["passed"] > 50 and solver["failed"] == solver["skipped"] == 0
