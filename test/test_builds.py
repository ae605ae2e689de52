"""Ledgers that several builds of the program wrote to: a run says which one made it, and nothing is lost or mixed unnoticed."""
import re
import sqlite3

import pytest

from test_cli import BAD_INPUT, USAGE, here, run, run_json
from test_leaderboard import table
from test_ledger import query

EARLIER = "0123456789ab"
DETAILS = ("metrics", "samples", "history", "crossings", "contact_errors")


@pytest.fixture(scope="module")
def block(tmp_path_factory):
    file = tmp_path_factory.mktemp("block") / "block.h5"
    run("run", "sliding-block", "--steps", "3", "--record", file, "--no-metrics")
    return file


@pytest.fixture
def ledger(block, here):
    run("bench", block, "--solvers", "nsgs,pgs", "-o", "runs.db")
    return "runs.db"


def this_build():
    return re.search(r"source ([0-9a-f]{12})\)", run("--version").stdout).group(1)


def plant(statement, *values, ledger="runs.db"):
    with sqlite3.connect(ledger) as file:
        file.execute("PRAGMA foreign_keys = OFF")
        assert file.execute(statement, values).rowcount > 0
    file.close()


def of_another_build(solver="nsgs"):
    """The runs of one solver become those of an earlier build, whose answer was worse."""
    runs = f"(SELECT run FROM results WHERE solver = '{solver}')"
    plant(f"UPDATE runs SET source = '{EARLIER}', answer = 'worse' WHERE id IN {runs}")
    plant(f"UPDATE metrics SET value = 0.5 WHERE name = 'relative_energy' AND run IN {runs}")


def builds(ledger="runs.db"):
    return dict(query(ledger, "SELECT source, count(*) FROM runs GROUP BY source"))


def test_a_run_says_which_build_made_it(ledger):
    assert builds() == {this_build(): 6}
    assert run_json("status", "runs.db")["ledgers"][0]["builds"] == {this_build(): 6}
    assert f"source: {this_build()}\n" in run("status", "runs.db").stdout
    assert run("export", "runs.db", "--table", "runs").stdout.splitlines()[1].endswith(this_build())


def test_resuming_keeps_what_another_build_made_and_warns(ledger, block):
    of_another_build()
    resumed = run("bench", block, "--solvers", "nsgs,pgs", "-o", "runs.db", "--quiet")
    assert "3 runs in the ledger were made by another build of stickslip" in resumed.stderr
    assert this_build() in resumed.stderr and "--redo-outdated" in resumed.stderr
    assert builds() == {EARLIER: 3, this_build(): 3}
    assert query("runs.db", "SELECT count(*) FROM runs WHERE answer = 'worse'") == [(3,)]
    assert "another build" not in run("bench", block, "--solvers", "pgs", "-o", "runs.db").stderr


def test_times_of_this_build_are_not_taken_for_runs_of_another(ledger, block):
    of_another_build()
    timed = run("bench", block, "--solvers", "nsgs,pgs", "--repeats", "2", "-o", "runs.db")
    assert "kept, but not timed" in timed.stderr
    assert query("runs.db", "SELECT DISTINCT solver FROM results JOIN samples USING (run)") == [("pgs",)]


def test_asked_to_it_repeats_them_and_nothing_of_the_old_ones_stays(ledger, block):
    counts = {table: query(ledger, f"SELECT count(*) FROM {table}") for table in DETAILS}
    kept = query(ledger, "SELECT run FROM results WHERE solver = 'pgs' ORDER BY run")
    of_another_build()
    plant("INSERT INTO samples SELECT run, 0, 1.0, 1.0 FROM results WHERE solver = 'nsgs'")
    again = run("bench", block, "--solvers", "nsgs,pgs", "--redo-outdated", "-o", "runs.db")
    assert "3 runs in the ledger were made by another build" in again.stderr and "made again" in again.stderr
    assert "6 of 6 runs done (3 new, 3 reused)" in again.stderr
    assert builds() == {this_build(): 6}
    assert {table: query(ledger, f"SELECT count(*) FROM {table}") for table in DETAILS} == counts
    assert query(ledger, "SELECT run FROM results WHERE solver = 'pgs' ORDER BY run") == kept
    assert query(ledger, "SELECT count(*) FROM runs WHERE answer = 'worse'") == [(0,)]
    assert query(ledger, "PRAGMA foreign_key_check") == []


def test_stored_answers_that_another_build_judged_count_as_well(here):
    run("run", "sliding-block", "--steps", "3", "--record", "block.h5", "--no-metrics")
    run("solve", "block.h5", "--frame", "all", "-o", "solved.h5")
    run("bench", "solved.h5", "--recorded", "--solvers", "none", "-o", "runs.db")
    plant("UPDATE runs SET source = NULL")
    assert "another build" in run("bench", "solved.h5", "--recorded", "--solvers", "none", "-o", "runs.db").stderr
    found = run_json("bench", "solved.h5", "--recorded", "--solvers", "none", "--redo-outdated", "-o", "runs.db")
    assert found["outdated"] == found["done"] > 0 and builds() == {this_build(): found["done"]}


def test_a_ledger_of_schema_3_does_not_know_its_build(ledger, block):
    with sqlite3.connect(ledger) as file:
        file.executescript("DROP VIEW results; ALTER TABLE runs DROP COLUMN source; PRAGMA user_version = 3")
    file.close()
    assert run_json("status", ledger)["ledgers"][0]["builds"] == {"": 6}
    assert run_json("diff", ledger, ledger)["builds_before"] == {"": 6}
    resumed = run("bench", block, "--solvers", "nsgs,pgs,admm", "-o", ledger)
    assert "6 runs in the ledger were made by another build" in resumed.stderr
    assert builds() == {None: 6, this_build(): 3}
    assert f"not known (6 runs), {this_build()} (3 runs)" in run("status", ledger).stdout


def test_comparisons_name_the_builds(ledger, block):
    run("bench", block, "--solvers", "nsgs,pgs", "-o", "now.db")
    of_another_build()
    text = run("diff", "runs.db", "now.db").stdout
    assert f"{EARLIER} (3 runs), {this_build()} (3 runs); of the second: {this_build()}\n" in text
    merged = run("merge", "runs.db", "now.db", code=1).stdout
    assert "3 differing" in merged and "made by another build" in merged


def test_answers_of_two_builds_are_no_failed_reproduction(ledger, block):
    """The report compares runs of the same version on two machines: only those of the same build."""
    of_another_build()
    run("bench", block, "--solvers", "nsgs,pgs", "-o", "now.db")
    plant("UPDATE machines SET key = 'ffffffffffffffffffffffffffffffff', cpu = 'another'", ledger="now.db")
    assert "no rows" in run("report", "runs.db", "now.db", "--figure", "reproduction", "-o", "none.csv", code=BAD_INPUT).stderr
    assert f"{EARLIER} (3 runs), {this_build()} (3 runs)" in [row[7] for row in table("ledgers", "runs.db", "now.db")]
    plant("UPDATE runs SET source = ?", this_build())  # the same build with two answers is one
    assert len(table("reproduction", "runs.db", "now.db")) == 3


def test_runs_that_are_handed_out_are_not_repeated_by_build(ledger, block):
    refused = run("bench", block, "--shard", "1/2", "--claim", "--redo-outdated", "-o", "%s.db", code=USAGE)
    assert "--redo-outdated cannot be combined with --claim" in refused.stderr
