"""`stickslip solvers NAME --test`, for the authors of solvers: what passes, what is found, what it costs."""
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from test_cli import BAD_INPUT, DONE, SOURCE, USAGE, complete, run, run_json
from test_plugins import plugins  # noqa: F401 (a fixture)
from test_terminal import in_terminal

FOUND = 1
FEW = "solves,inside,repeatable,time-limit,iteration-limit,descriptor"

# A method that works for boxes and equations, and one fault for each file.
PLANTED = """
#include <stickslip/plugin.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int calls;
static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    int n = problem->size, shift = 0;
    double *w = ss_arena_take(run->arena, (size_t)n, sizeof *w, "w");
    double *scratch = ss_arena_take(run->arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "scratch");
    (void)options;
    (void)calls;
    if (!w || !scratch) return SS_FAILED;
    BEGIN;
    for (;;) {
        for (int k = 0; k < n; k++) {
            int i = (k + shift) % n;
            ss_problem_apply(problem, x, scratch, w);
            x[i] = fmin(fmax(x[i] - w[i] / problem->diagonal[i], problem->lower[i]), problem->upper[i]);
        }
        SWEPT;
        if (!ss_run_iteration(run, x, NULL)) END;
    }
}
static const ss_solver planted = {
    .abi = SS_ABI, .name = "planted", .summary = "Gauss-Seidel with a fault", .reference = "none",
    .weakness = "it was planted", .laws = SS_LAW_FREE | SS_LAW_BOX,
    .traits = SS_NEEDS_DIAGONAL | SS_NEEDS_SYMMETRIC | SS_WARM_STARTS, .solve = solve};
static const ss_solver *const solvers[] = {&planted, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
"""
USUAL = {"BEGIN": "(void)0", "SWEPT": "(void)0", "END": "return ss_run_status(run)"}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """planted(BEGIN=..., SWEPT=..., END=...): a plug-in with that code in these places."""
    where = tmp_path_factory.mktemp("planted")

    def build(**code):
        name = where / f"planted{len(list(where.iterdir()))}.so"
        defines = [f"-D{key}={value}" for key, value in {**USUAL, **code}.items()]
        subprocess.run(["cc", "-std=gnu17", "-O1", "-fPIC", "-shared", f"-I{SOURCE}/include", *defines, "-x", "c", "-",
                        "-lm", "-o", str(name)], input=PLANTED, text=True, check=True)
        return ["planted", "--test", "--plugin", str(name)]
    return build


def failures(report, check=None):
    """[(check, problem, message)] of the results that failed."""
    return [(result["check"], result["problem"], result["message"]) for solver in report["solvers"]
            for result in solver["results"] if result["outcome"] == "failed" and check in (None, result["check"])]


# ---- what passes ---------------------------------------------------------------------------------------------

def test_the_example_and_what_tools_new_writes_pass(plugins, tmp_path):  # noqa: F811
    expect = SOURCE / "examples/plugin/my_sweeps.expect"
    passed = run("solvers", "my-sweeps", "--test", "--quick", "--plugin", plugins["my_sweeps"], "--expect", expect).stdout
    assert re.search(r"^my-sweeps: \d{3,} passed, 0 failed, 3 expected to fail, \d+ not applicable\.$", passed, re.M)

    new = tmp_path / "mine"
    subprocess.run([sys.executable, str(SOURCE / "tools/new"), "solver", "my-own", str(new)], check=True, capture_output=True)
    made = subprocess.run(["make", "-C", str(new), "conformance", f"STICKSLIP={os.environ['SS_PROGRAM']}",
                           f"CPPFLAGS=-I{SOURCE}/include"], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "my-own: " in made.stdout and " 0 failed" in made.stdout
    page = (new / "conformance.md").read_text()
    assert page.startswith("# my-own: what it accepts") and "## Expected failures" in page


def test_solvers_of_the_library_pass_from_the_program():
    report = run_json("solvers", "pgs", "--test", "--quick", "--seed", 77)
    (solver,) = report["solvers"]
    assert report["findings"] == 0 and solver["expected"] == 3 and solver["passed"] > 500
    names = {check["name"] for check in solver["checks"]}
    assert len(names) > 20 and all(check["lesson"] and check["asks"] for check in solver["checks"])
    assert {result["check"] for result in solver["results"]} <= names
    assert any(result["problem"] == "cone, seed 77" for result in solver["results"])
    passed = [result for result in solver["results"] if result["outcome"] == "passed" and result["check"] == "solves"]
    assert all(result["error"] <= 1e-6 for result in passed if result["status"] == "converged")


def test_a_solver_in_another_language_is_asked_the_same():
    command = f"{sys.executable} {SOURCE}/examples/pipe/block_pgs.py"
    report = run_json("solvers", "--test", "--check", "inside,cancel,iteration-limit", "--solver-command", f"mine={command}")
    (solver,) = report["solvers"]
    assert solver["name"] == "mine" and report["findings"] == 0
    # coupled rows and what has no diagonal are refused by the process itself
    assert solver["passed"] > 90 and solver["not_applicable"] > 0


def test_the_page_of_all_solvers_is_the_one_in_the_documents(tmp_path):
    """docs/solvers.md, as far as it does not depend on rounding."""
    run("solvers", "--test", "--quick", "--check", "descriptor", "-o", tmp_path / "page.md")
    now, then = ((tmp_path / "page.md").read_text(), (SOURCE / "docs/solvers.md").read_text())
    rows = [{line for line in text.splitlines() if re.match(r"\| [a-z-]+ \| (yes)? \|", line)} for text in (now, then)]
    assert len(rows[0]) > 20 and rows[0] == rows[1]


# ---- what is found -------------------------------------------------------------------------------------------

def test_a_method_without_a_fault_has_none(planted):
    report = run_json("solvers", *planted(), "--check", FEW, code=None)
    assert {problem for _, problem, _ in failures(report)} <= {"column, mass ratio 1.6e4", "column, mass ratio 1e6"}


@pytest.mark.parametrize("code, check, words", [
    ({"SWEPT": "return SS_CONVERGED"}, "solves", "returns converged, but"),
    ({"BEGIN": "if (n == 12) *(volatile int *)0 = 1"}, "solves", "crashes: signal 11"),
    ({"BEGIN": "if (n == 12) exit(3)"}, "solves", "crashes: called exit(3)"),
    ({"BEGIN": "x[n] = 1.0"}, "inside", "writes outside x: 1 numbers"),
    ({"BEGIN": "if (n) problem->b[0] += 1.0"}, "inside", "changes the problem"),
    ({"BEGIN": "shift = calls++"}, "repeatable", "two equal runs differ: x["),
    ({"BEGIN": "if (n == 12) usleep(1300000)"}, "time-limit", "time limit of 1 ms, took "),
    ({"BEGIN": "int late = 0", "END": "if (late++ == 5) return ss_run_status(run)"}, "iteration-limit", "limit of 1 iterations, took"),
], ids=["claims", "crashes", "exits", "outside", "meddles", "random", "late", "deaf"])
def test_a_fault_is_found_and_named(planted, code, check, words):
    report = run_json("solvers", *planted(**code), "--check", check, "-j", 1, code=FOUND)
    found = failures(report, check)
    assert found and all(words in message for _, problem, message in found if "mass ratio" not in problem)


def test_the_table_counts_what_failed_and_says_what_it_means(planted):
    table = run("solvers", *planted(BEGIN="if (n == 12) abort()"), "--check", "inside,cancel", code=FOUND).stdout
    assert re.search(r"^  inside +writes to x and nowhere else +\d+ +2 +0 +\d+$", table, re.M)
    assert re.search(r"^  cancel +lcp ill-conditioned +crashes: signal 6 \(Aborted\)$", table, re.M)
    assert "time limits of campaigns come as a cancellation" in table


def test_an_endless_loop_costs_its_problem_and_not_the_suite(planted):
    arguments = planted(BEGIN="while (n == 12) usleep(1000)")
    report = run_json("solvers", *arguments, "--check", "solves,inside", "--time-limit", 0.3, code=FOUND)
    hung = failures(report, "solves")
    assert ("solves", "lcp ill-conditioned", "hangs: did not stop within 1.45 s") in hung
    (solver,) = report["solvers"]
    # what hung once is not tried again, all others are
    assert solver["skipped"] == sum("hangs" in message for _, _, message in hung) > 0
    assert solver["passed"] > 20


def test_a_solver_that_always_hangs_is_not_waited_for_all_day(planted):
    arguments = planted(BEGIN="for (;;) usleep(1000)")
    shown = run("solvers", *arguments, "--check", "solves,inside", "--time-limit", 0.01, "-j", 4, code=FOUND).stdout
    hung = len(re.findall("hangs: did not stop", shown))
    assert 0 < hung <= 12 and "skipped: the solver hung or was too slow" in shown


def test_damage_done_to_the_process_is_not_blamed_on_the_next_problem(planted):
    """The third call in a process destroys it: alone, no problem does."""
    report = run_json("solvers", *planted(BEGIN="if (++calls == 3) abort()"), "--check", "inside", "-j", 1, code=FOUND)
    found = failures(report)
    assert found and {message for _, _, message in found} == {
        "crashes after other problems, not alone: memory was damaged before"}


# ---- expected failures ---------------------------------------------------------------------------------------

def test_expected_failures_are_expected_and_their_absence_is_reported(planted, tmp_path):
    arguments = [*planted(), "--check", "solves"]
    found = failures(run_json("solvers", *arguments, code=FOUND))
    lines = [f"planted | {check} | {problem} | slow by nature" for check, problem, _ in found]
    listed = tmp_path / "known.txt"
    listed.write_text("# known\n" + "\n".join(lines) + "\n")
    assert f"0 failed, {len(found)} expected to fail" in run("solvers", *arguments, "--expect", listed).stdout

    listed.write_text("\n".join([*lines, "planted | solves | lcp | I am not sure", "another | solves | cone | not tested"]))
    surprised = run("solvers", *arguments, "--expect", listed, code=FOUND).stdout
    assert "Expected to fail, but passed" in surprised and "I am not sure" in surprised and "not tested" not in surprised
    report = run_json("solvers", *arguments, "--expect", listed, code=FOUND)
    assert [item["problem"] for item in report["passed_unexpectedly"]] == ["lcp"]


def test_the_failures_of_a_page_are_a_list_to_expect(planted, tmp_path):
    page, listed = tmp_path / "page.md", tmp_path / "known.txt"
    arguments = [*planted(), "--check", "solves"]
    run("solvers", *arguments, "-o", page, code=FOUND)
    listed.write_text(page.read_text().split("## Failures")[1].split("```text\n")[1].split("```")[0])
    run("solvers", *arguments, "--expect", listed, code=DONE)


# ---- the command line ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments, code, words", [
    (["pgs", "--quick"], USAGE, "--quick needs --test"),
    (["pgs", "-o", "page.md"], USAGE, "--output needs --test"),
    (["pgs", "--test", "--table"], USAGE, "--table and --test exclude each other"),
    (["pgs", "--test", "--check", "solve"], USAGE, "unknown check 'solve'; there are solves, agrees"),
    (["nsg", "--test"], USAGE, "unknown solver 'nsg'; did you mean nsgs?"),
    (["pgs", "--test", "--expect", "missing.txt"], BAD_INPUT, "missing.txt"),
    (["pgs", "--test", "--expect", "bad.txt"], BAD_INPUT, "bad.txt:2: unknown problem 'ice cream'"),
])
def test_mistakes_are_explained(tmp_path, arguments, code, words):
    (tmp_path / "bad.txt").write_text("# mine\npgs | solves | ice cream | hot\n")
    assert words in run("solvers", *arguments, code=code, cwd=tmp_path).stderr


def test_tables_and_progress_fit_and_an_interruption_prints_what_was_done(planted):
    lines, status = in_terminal("solvers", *planted(BEGIN="usleep(20000)"), "--check", "inside,cancel,solves",
                                interrupt_after=b" left")
    assert [line for line in lines if len(line) > 80] == []
    bars = [line for line in lines if line.startswith("checking [")]
    assert bars and re.search(r"\d+/\d+, \d+ \w+ left, planted", bars[-1])
    assert any(re.match(r"  solves +right, or admitted", line) for line in lines)
    assert any(re.match(r"stickslip: interrupted: \d+ of [\d,]+ checks were made", line) for line in lines)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT


def test_failures_fit_the_terminal(planted):
    lines, _ = in_terminal("solvers", *planted(SWEPT="return SS_CONVERGED"), "--check", "solves,units")
    assert len(lines) > 20 and [line for line in lines if len(line) > 80] == []


def test_names_of_checks_complete():
    assert complete("solvers", "pgs", "--test", "--check", "mass") == ["massless"]
    assert complete("solvers", "pgs", "--test", "--exp") == ["--expect"]


def test_json_is_one_line():
    assert len(run("solvers", "pgs", "--test", "--check", "solves", "--json").stdout.splitlines()) == 1
    json.loads(run("solvers", "pgs", "--test", "--check", "solves", "--json").stdout)
