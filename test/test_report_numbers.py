"""The numbers of `stickslip report --json` are those of report_numbers.py. The test of the test: every number that is changed
must be noticed."""
import json
import math
import sqlite3
from pathlib import Path

import pytest

import report_numbers
from report_numbers import MAIN, campaign, changed, differences, expected_report, ledger, look, numbers, show, write_wild
from test_cli import here, run


def test_a_real_campaign_has_the_numbers_of_its_export(ledger):
    report, expected = look(ledger)
    assert len(expected["series"]) == 8 and len(expected["runs"]["problem"]) >= 60
    assert any(one["scores"][MAIN]["solved"] for one in expected["series"])
    assert any(one["scores"][MAIN]["failed"] for one in expected["series"])
    found = differences(report, expected)
    assert not found, show(found, report, expected)


@pytest.mark.parametrize("seed, machines, formulations, clock", [
    (7, 2, ("cone", "box"), "whole run"),
    (11, 1, ("cone", "box"), "whole run"),
    (13, 2, ("cone",), "until solved"),
])
def test_a_ledger_with_everything_has_the_numbers_of_its_export(ledger, seed, machines, formulations, clock):
    write_wild(ledger, seed, machines=machines, formulations=formulations)
    report, expected = look(ledger)
    assert report["clock"] == clock
    assert [machine["name"] for machine in report["machines"]] == ["EPYC 7763", "EPYC 7763 (2)"][:machines]
    assert all(any(one["scores"][MAIN][key] for one in expected["series"]) for key in ("solved", "failed", "refused", "missing"))
    found = differences(report, expected)
    assert not found, show(found, report, expected)


def test_every_number_that_is_changed_is_noticed(ledger):
    write_wild(ledger, 5, problems=9)
    report, expected = look(ledger)
    spoilt = changed({key: report[key] for key in expected})
    assert set(numbers(expected)) <= set(differences(spoilt, expected))
    assert set(differences(report, changed(expected))) >= set(numbers(expected))


@pytest.mark.parametrize("change", [
    "UPDATE metrics SET value = value * (1 + 1e-6) WHERE name = 'relative_energy'",
    "UPDATE metrics SET value = value + 1 WHERE name = 'sliding' AND run = (SELECT max(run) FROM metrics)",
    "UPDATE samples SET seconds = seconds * (1 + 1e-6)",
    "UPDATE runs SET unknowns = unknowns + 1 WHERE outcome = 'converged'",
    "UPDATE history SET energy = energy * (1 + 1e-6) WHERE iteration = 2",
    "UPDATE runs SET energy = energy * (1 + 1e-6) WHERE energy > 0",
    "UPDATE crossings SET seconds = seconds * (1 + 1e-6) WHERE gauge = 'relative_energy' AND decade = 2",
    "UPDATE history SET relative_energy = relative_energy * 0.5 WHERE iteration > 3",
    "UPDATE contact_errors SET count = count + 1 WHERE run = (SELECT max(run) FROM contact_errors)",
    "UPDATE problems SET contacts = contacts + 1",
    "DELETE FROM samples",
])
def test_a_number_changed_in_the_ledger_is_noticed(ledger, change):
    assert_noticed(ledger, change)


def test_a_crossing_changed_in_the_ledger_is_noticed(ledger):
    write_wild(ledger, 13, problems=9, formulations=("cone",))
    assert_noticed(ledger, "UPDATE crossings SET seconds = seconds * (1 + 1e-6) WHERE gauge = 'relative_energy' AND decade = 4")


def assert_noticed(ledger, change):
    run("export", ledger, "-o", "tables")  # before
    database = sqlite3.connect(ledger)
    assert database.execute(change).rowcount > 0
    database.commit()
    database.close()
    report = json.loads(run("report", ledger, "--json").stdout)
    assert differences(report, expected_report(Path("tables"), report))


# ---- what figures promise ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", [7, 19])
def test_the_error_at_a_budget_never_rises(ledger, seed):
    write_wild(ledger, seed)
    for one in json.loads(run("report", ledger, "--json").stdout)["series"]:
        for key in ("median", "high"):
            errors = [budget[key] for budget in one["budgets"]]
            assert errors == sorted(errors, reverse=True), (one["label"], key)


@pytest.mark.parametrize("formulations", [("cone",), ("cone", "box")])
def test_more_precision_never_costs_less(ledger, formulations):
    write_wild(ledger, 23, formulations=formulations)
    # where no crossing was recorded the whole run counts, at any tolerance: a hole between two would break the order
    with sqlite3.connect(ledger) as database:
        database.execute("DELETE FROM crossings")
    followed = [one for one in json.loads(run("report", ledger, "--json").stdout)["series"] if one["followed"]]
    assert followed
    for one in followed:
        for key in ("mean", "median"):
            times = [score["work"][key] for score in one["scores"] if score["work"][key] is not None]
            assert times == sorted(times), (one["label"], key)
        assert len({score["work"]["problems"] for score in one["scores"]}) == 1


def test_a_feature_that_parts_failures_from_successes_is_named(ledger):
    """psor is made to fail where masses differ by more than 60."""
    write_wild(ledger, 29, problems=40, machines=1)
    with sqlite3.connect(ledger) as database:
        heavy = """run IN (SELECT runs.id FROM runs JOIN problems ON problems.id = runs.problem JOIN methods ON methods.id = runs.method
                   WHERE solver = 'psor' AND formulation = 'cone' AND mass_ratio > 60)"""
        light = heavy.replace("> 60", "<= 60")
        assert database.execute(f"UPDATE metrics SET value = 0.9 WHERE name = 'relative_energy' AND {heavy}").rowcount > 2
        assert database.execute(f"UPDATE metrics SET value = 1e-12 WHERE name = 'relative_energy' AND {light}").rowcount > 2
        database.execute("DELETE FROM runs WHERE outcome IN ('crashed', 'hung')")
    report, expected = look(ledger)
    (line,) = [one["scores"][MAIN]["why"] for one in report["series"] if one["label"].startswith("cone/psor")]
    assert line.startswith("fails where the mass ratio exceeds ") and " 0 of " in line
    assert not differences(report, expected)


def test_the_summary_of_a_campaign_is_right(ledger):
    """As the demo's must be: what is called the fastest is not slower than what to use on the problems that both solve, and
    nothing that solves as much is faster."""
    report = json.loads(run("report", ledger, "--json").stdout)
    for t in range(len(report["tolerances"])):
        advised = report["advice"][t]
        costs = [{} for _ in report["series"]]
        for i, series in enumerate(report["runs"]["series"]):
            if report["runs"]["cost"][t][i] is not None:
                costs[series][report["runs"]["problem"][i]] = report["runs"]["cost"][t][i]
        use = costs[advised["series"]]
        assert len(use) == max(map(len, costs))

        def logs(other):
            return [math.log(costs[other][problem] / use[problem]) for problem in use if problem in costs[other]]
        fastest = logs(advised["fastest"])
        assert sum(fastest) <= 0 and 2 * len(fastest) >= len(use)
        for other in range(len(costs)):
            shared = logs(other)
            if 2 * len(shared) >= len(use) and 2 * sum(log < 0 for log in shared) > len(shared):
                assert sum(shared) / len(shared) >= sum(fastest) / len(fastest) - 1e-12, report["series"][other]["label"]


@pytest.mark.parametrize("formulations", [("cone",), ("cone", "box")])
@pytest.mark.parametrize("measure", ["natural_map", "creep"])
def test_any_metric_may_be_the_measure(ledger, monkeypatch, measure, formulations):
    write_wild(ledger, 17, formulations=formulations)
    monkeypatch.setattr(report_numbers, "MEASURE", measure)
    monkeypatch.setattr(report_numbers, "MAIN", 3 if measure == "natural_map" else 1)  # the stop rule of the wild ledger
    report, expected = look(ledger, "--measure", measure)
    assert report["measure"] == measure
    assert report["clock"] == ("until solved" if measure == "natural_map" and formulations == ("cone",) else "whole run")
    assert sum(one["scores"][report_numbers.MAIN]["solved"] for one in expected["series"])
    found = differences(report, expected)
    assert not found, show(found, report, expected)
