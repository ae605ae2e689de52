"""A leaderboard: one report from the ledgers of several machines, what none of them solves, and what does not reproduce."""
import csv
import shutil
import sqlite3
from pathlib import Path

import pytest

from test_cli import here, run, run_json


@pytest.fixture
def ledgers(here):
    """The same campaign on two machines; on the second one a run has another answer and another one has failed."""
    run("run", "sliding-block", "--steps", "4", "--record", "block.h5")
    run("bench", "block.h5", "-s", "nsgs,pgs", "--iterations", "1", "--stop", "none", "-o", "a.db", "--quiet")
    shutil.copy("a.db", "b.db")
    with sqlite3.connect("b.db") as base:
        base.execute("UPDATE machines SET key = 'elsewhere', cpu = 'Another Processor'")
        base.execute("UPDATE runs SET answer = 'other' WHERE id = 1")
        base.execute("UPDATE runs SET outcome = 'crashed' WHERE id = 2")
    return ["a.db", "b.db"]


def table(name, *ledgers):
    run("report", *ledgers, "--main", "1e-14", "--figure", name, "-o", name + ".csv")
    return list(csv.reader(Path(name + ".csv").open()))[1:]


def test_one_report_of_several_ledgers(ledgers):
    report = run_json("report", *ledgers, "--json")
    assert len(report["machines"]) == 2 and len(report["runs"]["problem"]) == 16 and len(report["series"]) == 4
    assert sorted(path.name for path in Path().iterdir()) == ["a.db", "b.db", "block.h5"]


def test_runs_that_do_not_reproduce_are_listed(ledgers):
    rows = table("reproduction", *ledgers)
    assert len(rows) == 2
    assert {row[6] == row[9] for row in rows} == {True, False}  # another answer, another outcome
    assert {row[5] for row in rows} != {row[8] for row in rows}
    for ending in ("tex", "md"):
        run("report", *ledgers, "--figure", "reproduction", "-o", "table." + ending)


def test_problems_that_no_method_solves_are_listed(ledgers):
    """One iteration is not enough for 1e-14; the nearest answer is that with the least error."""
    with sqlite3.connect("a.db") as base:
        least = dict(base.execute("SELECT frame, min(value) FROM metrics JOIN runs ON runs.id = run JOIN problems ON problems.id = "
                                  "problem WHERE name = 'relative_energy' GROUP BY frame"))
    rows = table("unsolved", *ledgers)
    assert {int(row[2]): float(row[6]) for row in rows} == {frame: error for frame, error in least.items() if error > 1e-14}
    assert rows
    head = Path("unsolved.csv").read_text().splitlines()[0].split(",")
    assert all(row[head.index("Runs")] == "4" for row in rows), "two methods, on two machines"


def test_the_same_machine_twice_keeps_the_first(ledgers):
    with sqlite3.connect("b.db") as base:
        base.execute("UPDATE machines SET key = (SELECT ?)", (sqlite3.connect("a.db").execute("SELECT key FROM machines").fetchone()[0],))
    ended = run("report", *ledgers, "-o", "page.html")
    assert "b.db: 1 of its runs have other answers" in ended.stderr


def test_where_the_runs_come_from(ledgers):
    with sqlite3.connect("b.db") as base:
        base.execute("UPDATE problems SET collection = 'blocks 1.2'")
        base.execute("UPDATE problems SET collection = 'others 3' WHERE id = (SELECT max(id) FROM problems)")
        base.execute("UPDATE runs SET started = '2001-02-03T04:05:06Z' WHERE id = 3")
        latest, count = base.execute("SELECT max(started), count(*) FROM runs").fetchone()
    here, there = table("ledgers", *ledgers)
    assert here[0] == "a.db" and here[-1] == "" and int(here[-2]) == count
    assert there[0] == "b.db" and there[2] == "Another Processor" and sorted(there[-1].split(", ")) == ["blocks 1.2", "others 3"]
    assert there[8:10] == ["2001-02-03T04:05:06Z", latest] and here[8] > there[8]
