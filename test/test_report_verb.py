"""What `stickslip report` says and does besides its numbers: tables, pages, tolerances, and ledgers that are none."""
import base64
import fcntl
import json
import os
import pty
import re
import shlex
import sqlite3
import struct
import subprocess
import termios
import zlib
from pathlib import Path

import pytest

from report_numbers import MAIN, Book, campaign, differences, ledger, look, real, write_wild
from test_cli import BAD_INPUT, PROGRAM, RESOURCES, USAGE, here, on_terminal, run, run_json
from test_solve import only, value


def test_problems_and_methods_are_those_of_the_ledger(ledger):
    report, _ = look(ledger)
    book = Book(Path(f"{ledger}-tables"))
    for ours, row in zip(report["problems"], book.problems, strict=True):
        assert (ours["hash"], ours["place"], ours["file"], ours["format"]) == (row["hash"], row["place"], row["file"], row["format"])
        assert ours["index"] == int(row["frame"]) and ours["contacts"] == int(row["contacts"])
        assert ours["massRatio"] == real(row["mass_ratio"]) and ours["rankRatio"] == real(row["rank_ratio"])
    for ours, row in zip(report["methods"], book.methods, strict=True):
        assert (ours["label"], ours["solver"], ours["set"]) == (row["label"], row["solver"], row["solver_options"])
    assert [report["outcomes"][o] for o in report["runs"]["outcome"]] == [one["outcome"] for one in book.runs]


def test_options_of_a_method_repeat_its_run(ledger, campaign):
    """The command that a report shows gives the error that it shows."""
    report = json.loads(run("report", ledger, "--json").stdout)
    runs, tried = report["runs"], set()
    for i, method in enumerate(runs["method"]):
        problem = report["problems"][runs["problem"][i]]
        if runs["metrics"]["relative_energy"][i] is None or (method, problem["scene"]) in tried:
            continue
        tried.add((method, problem["scene"]))
        frame = ["--frame", problem["place"]] if problem["format"] == "bpmd" else []
        options = shlex.split(report["methods"][method]["options"])
        solved = only(run_json("solve", problem["file"], *frame, *options, code=None, cwd=campaign.parent))
        assert value(solved, "relative_energy") == runs["metrics"]["relative_energy"][i], (problem, options)
    assert len(tried) >= 15


def test_the_advice_names_the_whole_method(here, campaign):
    """The command under "Use it" stops where the method does: its rule, its limit and what it keeps, but not the campaign's time."""
    rules = ["--stop", "relative_energy<0.01", "--iterations", "37", "--keep", "last", "--seed", "5"]
    stack = campaign.parent / "stack.h5"
    run("bench", stack, "--frame", "2", "-s", "nsgs,pgs", "--set", "pgs.omega=0.9", "--time-limit", "7",
        "--start", "cold,warm", *rules, "-o", "rough.db")
    report = run_json("report", "rough.db")
    assert len(report["methods"]) == 4
    for method in report["methods"]:
        words = shlex.split(method["use"])
        assert all(word in words for word in rules) and "--time-limit" not in words and "--every-iteration" not in words
        assert ("--warm" in words) == (method["start"] == "warm") and ("omega=0.9" in words) == (method["solver"] == "pgs")
        if method["start"] == "cold":  # measured as in the campaign, it ends where the run of the campaign did
            solved = only(run_json("solve", stack, "--frame", "2", *words, "--every-iteration", code=None))
            (own,) = [k for k, one in enumerate(report["runs"]["method"]) if report["methods"][one] == method]
            assert value(solved, "relative_energy") == report["runs"]["metrics"]["relative_energy"][own]


def test_the_page_holds_the_same_object(ledger):
    run("report", ledger, "-o", "report.html", "--title", "</script><b>walls & chains")
    page = Path("report.html").read_text()
    (block,) = re.findall(r'<script type="application/json" id="report">(.*?)</script>', page, re.S)
    assert "<" not in block
    report = json.loads(block)
    assert report["title"] == "</script><b>walls & chains" and report["ledger"] == ledger
    plain = json.loads(run("report", ledger, "--json", "--title", report["title"]).stdout)
    assert {**plain, "created": ""} == {**report, "created": ""}


def test_a_page_of_very_much_is_deflated(ledger):
    with sqlite3.connect(ledger) as base:  # millions of characters, as very many runs have
        base.execute("UPDATE runs SET message = replace(hex(zeroblob(2500000)), '0', 'no ') WHERE id = 1")
    base.close()
    run("report", ledger, "-o", "report.html")
    page = Path("report.html").read_text()
    (block,) = re.findall(r'<script type="application/octet-stream" id="report">(.*?)</script>', page, re.S)
    assert len(page) < 2_000_000
    report = json.loads(zlib.decompress(base64.b64decode(block)))
    plain = json.loads(run("report", ledger, "--json").stdout)
    assert {**plain, "created": ""} == {**report, "created": ""}


def test_nothing_is_printed_as_infinite_or_not_a_number(ledger):
    write_wild(ledger, 31)

    def refuse(text):
        raise AssertionError(text)
    text = run("report", ledger, "--json").stdout
    json.loads(text, parse_constant=refuse)
    assert '"nan"' not in text and '"inf"' not in text


def test_the_table_says_what_the_object_says(ledger):
    text = run("report", ledger).stdout
    report = json.loads(run("report", ledger, "--json").stdout)
    lines = text.splitlines()
    for i, one in enumerate(report["series"]):
        words = lines[1 + i].split()
        main = one["scores"][MAIN]
        total = sum(main[key] for key in ("solved", "failed", "refused", "missing"))
        assert words[0] == str(i + 1) and f" {one['label']} " in lines[1 + i]
        assert f" {main['solved']}/{total} " in lines[1 + i]
    words = " ".join(text.split("\n\n")[-1].split())
    assert words == report["advice"][MAIN]["text"]
    assert all(len(text) <= 79 for text in text.split("\n\n")[-1].splitlines())
    shown = on_terminal("report", ledger)
    assert "\033[1m" in shown and "Use " in shown


def test_the_table_fits_the_terminal(ledger):
    """What does not fit of the reasons is counted, not cut."""
    def lines(columns):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([PROGRAM, "report", ledger], stdout=theirs, env={**os.environ, "NO_COLOR": "1"}) as program:
            os.close(theirs)
            text = b""
            while chunk := read_some(ours):
                text += chunk
        os.close(ours)
        assert program.returncode == 0
        return text.decode().replace("\r", "").splitlines()

    def read_some(descriptor):
        try:
            return os.read(descriptor, 65536)
        except OSError:  # the other end is closed
            return b""
    wide, narrow = lines(200), lines(80)
    assert max(map(len, narrow)) <= 80 < max(map(len, wide[:len(wide) // 2]))
    table = wide[1:wide.index("")]
    for long, short in zip(table, narrow[1:]):
        assert sum(map(int, re.findall(r"(?:^| )(\d+) [a-z]", long[64:]))) == sum(
            map(int, re.findall(r"\d+", short[64:]))), (long, short)


def test_tolerances_are_sorted_and_the_main_one_is_among_them(ledger):
    report = json.loads(run("report", ledger, "--json", "--tolerance", "1e-6", "--tolerance=1e-3", "--tolerance=1e-6").stdout)
    assert report["tolerances"] == [1e-3, 1e-6] and report["mainTolerance"] == 0
    assert all(len(one["scores"]) == 2 for one in report["series"])
    report = json.loads(run("report", ledger, "--json", "--main", "1e-5").stdout)
    assert report["tolerances"] == [1e-2, 1e-4, 1e-5, 1e-6, 1e-8] and report["mainTolerance"] == 2


def test_the_campaign_decides_the_main_tolerance(ledger):
    """What runs were asked for is what they are judged by, unless the reader says otherwise."""
    def main(*arguments):
        report = json.loads(run("report", ledger, "--json", *arguments).stdout)
        return report["tolerances"][report["mainTolerance"]]

    def set_stops(stop, campaign):
        with sqlite3.connect(ledger) as database:
            database.execute("UPDATE methods SET stop = ?", [stop])
            # Two that began in the same second may not have the same text: each gets a year of its own.
            database.execute("UPDATE campaigns SET text = ?, started = (2000 + id) || '-01-01T00:00:00Z'", [campaign])
    assert main() == 1e-4  # nothing but the default rule
    set_stops("relative_energy<1e-8", "bench stack.h5 --tol 1e-8")
    assert main() == 1e-8
    set_stops("relative_energy<0.003", '{"tol": 0.003}')
    assert main() == 0.003 and main("--main", "1e-5") == 1e-5
    assert main("--tolerance", "1e-3", "--tolerance", "1e-6") == 1e-3
    assert main("--measure", "natural_map") == 1e-4  # the rule is about something else
    set_stops("natural_map<1e-5", "bench stack.h5 --stop natural_map<1e-5")
    assert main() == 1e-4 and main("--measure", "natural_map") == 1e-5


def test_bench_ends_with_the_tolerance_that_it_was_given(here):
    run("run", "sliding-block", "--steps", 8, "--record", "slide.h5", "--every", 4)
    printed = run("bench", "slide.h5", "-s", "nsgs", "--tol", "1e-3", "-o", "r.db").stdout
    assert "relative_energy at most 0.001;" in " ".join(printed.split())


def test_a_measure_that_does_not_exist(ledger):
    assert "did you mean natural_map" in run("report", ledger, "--measure", "natural_mop", code=USAGE).stderr


@pytest.mark.parametrize("arguments, hint", [
    (["--tolerance", "small"], "invalid value \"small\" for --tolerance: expected a positive number"),
    (["--tolerance", "-1"], "expected a positive number"),
    (["--tolerance", "inf"], "expected a positive number"),
    ([f"--tolerance=1e-{k}" for k in range(9)], "at most 8"),
    (["--main", "-3"], "main"),
])
def test_tolerances_that_make_no_sense(ledger, arguments, hint):
    assert hint in run("report", ledger, *arguments, code=USAGE).stderr


def test_files_that_are_no_ledger(here):
    assert "none.db" in run("report", "none.db", code=BAD_INPUT).stderr
    Path("text.db").write_text("not a database, but long enough to look at" * 20)
    assert "text.db" in run("report", "text.db", code=BAD_INPUT).stderr


def test_the_ledger_is_not_written_over(ledger):
    before = Path(ledger).read_bytes()
    assert "is the input file" in run("report", ledger, "-o", f"./{ledger}", code=USAGE).stderr
    assert Path(ledger).read_bytes() == before


def test_a_page_that_cannot_be_written(ledger):
    ended = run("report", ledger, "-o", "no/such/place.html", code=RESOURCES)
    assert "no/such/place.html" in ended.stderr and ended.stdout == ""


def test_a_ledger_without_runs(ledger):
    write_wild(ledger, 1, problems=0, machines=0)
    assert run("report", ledger).stdout.strip() == "There are no runs yet."
    report, expected = look(ledger)
    assert report["series"] == [] and not differences(report, expected)
    run("report", ledger, "-o", "empty.html")
    assert Path("empty.html").stat().st_size > 0
