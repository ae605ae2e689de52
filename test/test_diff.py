"""diff: two ledgers, run by run. Changes are planted in a copy of a ledger."""
import shutil
import sqlite3

import pytest

from test_cli import BAD_INPUT, USAGE, here, run, run_json

FOUND = 1


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    place = tmp_path_factory.mktemp("ledger")
    run("run", "sliding-block", "--steps", "6", "--record", place / "block.h5", "--no-metrics")
    run("bench", place / "block.h5", "--solvers", "nsgs,pgs", "--repeats", "3", "-o", place / "before.db")
    return place / "before.db"


@pytest.fixture
def before(ledger, here):
    shutil.copy(ledger, "before.db")
    shutil.copy(ledger, "after.db")
    return "before.db"


def plant(statement, *values):
    with sqlite3.connect("after.db") as file:
        changed = file.execute(statement, values).rowcount
    file.close()
    assert changed > 0


def test_a_ledger_and_itself_are_the_same(before):
    found = run_json("diff", "before.db", "after.db")
    assert found["both"] == 12 and found["same"] == 12 and found["timed"] == 12 and found["mean_ratio"] == 1.0
    assert "0 fail now" in run("diff", "before.db", "after.db").stdout


def test_failures_gains_and_slow_runs_are_found(before):
    plant("UPDATE metrics SET value = 0.5 WHERE run = 3 AND name = 'relative_energy'")
    plant("UPDATE samples SET seconds = seconds * 5 WHERE run = 5")
    found = run_json("diff", "before.db", "after.db", code=FOUND)
    assert found["fails"] == 1 and found["slower"] == 1 and found["solved"] == found["faster"] == 0
    first, second = found["changes"]
    assert first["change"] == "fails" and first["error_after"] == 0.5 and first["ratio"] in (None, "nan")
    assert second["change"] == "slower" and second["ratio"] == pytest.approx(5.0)
    # the other way round they are gains, and no reason to stop
    back = run_json("diff", "after.db", "before.db")
    assert back["solved"] == 1 and back["faster"] == 1 and back["fails"] == back["slower"] == 0


@pytest.mark.parametrize("outcome", ["crashed", "hung", "out of memory", "broken"])
def test_a_failure_that_becomes_a_crash_is_a_failure_of_its_own_kind(before, outcome):
    for name in ("before.db", "after.db"):  # unsolved in both
        with sqlite3.connect(name) as file:
            file.execute("UPDATE metrics SET value = 0.5 WHERE run IN (2, 4) AND name = 'relative_energy'")
            file.execute("UPDATE runs SET outcome = 'max iterations' WHERE id IN (2, 4)")
        file.close()
    assert run_json("diff", "before.db", "after.db")["same"] == 12
    plant("DELETE FROM metrics WHERE run = 4")
    plant("UPDATE runs SET outcome = ?, answer = '' WHERE id = 4", outcome)
    found = run_json("diff", "before.db", "after.db", code=FOUND)
    assert found["breaks"] == 1 and found["fails"] == 0 and found["other answer"] == 0
    assert [(row["change"], row["outcome_after"]) for row in found["changes"]] == [("breaks", outcome)]
    text = run("diff", "before.db", "after.db", code=FOUND).stdout
    assert "1 break now" in text and outcome in text
    # one that was killed before and still is did not become worse, and one that is mended is no failure
    assert run_json("diff", "after.db", "after.db")["breaks"] == 0
    assert run_json("diff", "after.db", "before.db")["breaks"] == 0


def test_noise_is_not_slower(before):
    # twice the least time, but no longer than the slowest repeat before
    with sqlite3.connect("before.db") as file:
        file.execute("UPDATE samples SET seconds = seconds * 10 WHERE run = 5 AND number = (SELECT max(number) FROM samples WHERE run = 5)")
    file.close()
    plant("UPDATE samples SET seconds = seconds * 2 WHERE run = 5")
    assert run_json("diff", "before.db", "after.db")["slower"] == 0


def test_other_answers_and_other_machines_are_told_apart(before):
    plant("UPDATE runs SET answer = 'ffffffffffffffffffffffffffffffff' WHERE id = 2")
    plant("UPDATE machines SET cpu = 'another'")
    found = run_json("diff", "before.db", "after.db")
    assert found["other answer"] == 1 and found["timed"] == 0  # times of two processors are not compared
    assert "--answers lists them" in run("diff", "before.db", "after.db").stdout
    assert "  other answer" in run("diff", "before.db", "after.db", "--answers").stdout


def test_nothing_in_common_is_an_error(before):
    plant("UPDATE problems SET hash = 'ffffffffffffffffffffffffffffffff'")
    assert "no run is in both" in run("diff", "before.db", "after.db", code=BAD_INPUT).stderr
    assert "unknown metric" in run("diff", "before.db", "after.db", "--measure", "beauty", code=USAGE).stderr
