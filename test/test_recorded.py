"""bench --recorded: answers that were stored in the files are rows of a campaign and of its report, judged by the rules they
were made with and not solved again. What the ledger and the report say of them is computed again from `judge` and the export."""
import csv
import io
import json

import h5py
import numpy as np
import pytest

from test_cli import USAGE, here, run, run_json


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Boxes dropped on a table, three answers to each frame: the simulator's own, one that does not say its rules, and one
    without velocities; to the last frame none."""
    path = tmp_path_factory.mktemp("recording") / "drop.h5"
    run("run", "box-drop", "--steps", "24", "--record", path, "--quiet")
    with h5py.File(path, "r+") as file:
        frames = [frame for name, frame in file["simulation_000001"].items() if name.startswith("mbs_frame")]
        for frame in frames:
            own = frame["solver_data/batched-nncg"]
            own["time"][...] = 1e-9  # of some other machine: nothing can be faster
            for name in ("engine", "half"):
                frame["solver_data"].copy(own, name)
                del frame["solver_data"][name].attrs["formulation"], frame["solver_data"][name].attrs["with"]
            del frame["solver_data/half/velocities"]
        del frames[-1]["solver_data"]
    return path


def table(ledger, name):
    return list(csv.DictReader(io.StringIO(run("export", ledger, "--table", name).stdout)))


def recorded_rows(ledger):
    return [row for row in table(ledger, "runs") if row["outcome"] == "as recorded"]


def test_rows_have_the_metrics_that_judge_gives(recording, here):
    run("bench", recording, "--recorded", "-s", "nsgs", "-o", "r.db", "--quiet")
    answers = {(a["frame"], a["result"]): a for a in run_json("judge", recording, code=1)["answers"]}
    rows = recorded_rows("r.db")
    assert {(row["place"], row["solver"]) for row in rows} == set(answers) and len(rows) == 3 * 23
    metrics = {}
    for line in table("r.db", "metrics"):
        metrics.setdefault(line["run"], {})[line["name"]] = line
    for row in rows:
        answer = answers[row["place"], row["solver"]]
        assert (row["formulation"], row["formulation_options"]) == ("cone", answer["with"])
        if not answer["complete"]:
            assert row["run"] not in metrics and row["message"].startswith("incomplete")
            continue
        assert bool(row["message"]) == (answer["rules"] == "assumed")
        for name, metric in answer["metrics"].items():
            line = metrics[row["run"]][name]
            if metric["value"] is None:
                assert line["why"], name
            else:
                assert float(line["value"]) == metric["value"], name


def test_the_report_shows_them_beside_the_methods_and_out_of_the_race(recording, here):
    run("bench", recording, "-s", "nsgs,pgs", "-o", "plain.db", "--quiet")
    run("bench", recording, "--recorded", "-s", "nsgs,pgs", "-o", "both.db", "--quiet")
    plain, both = run_json("report", "plain.db"), run_json("report", "both.db")
    assert plain["recorded"] == [] and len(both["recorded"]) == 3
    assert {one["label"] for one in both["series"]} == {"nsgs", "pgs"}  # whatever their times say
    assert [one["scores"][0]["solved"] for one in both["series"]] == [one["scores"][0]["solved"] for one in plain["series"]]

    runs, methods = both["runs"], both["methods"]
    for recorded in both["recorded"]:
        method = methods[recorded["method"]]
        assert method["recorded"] and method["label"].startswith(f"{method['solver']} as recorded")
        own = [r for r in range(len(runs["problem"])) if runs["method"][r] == recorded["method"]]
        assert recorded["runs"] == own and all(runs["series"][r] == -1 for r in own)
        assert all(cost[r] is None for cost in runs["cost"] for r in own)
        errors = [runs["metrics"][both["measure"]][r] for r in own]
        known = [error for error in errors if error is not None]
        assert recorded["answers"] == 23 and recorded["tried"] == len(known)
        assert recorded["incomplete"] == (23 if method["solver"] == "half" else 0)
        assert recorded["assumed"] == (23 if method["solver"] == "engine" else 0)
        assert recorded["within"] == [sum(error <= t for error in known) for t in both["tolerances"]]
        for name, median in recorded["metricMedian"].items():
            values = [v for v in (runs["metrics"][name][r] for r in own) if v is not None]
            assert median == (pytest.approx(np.median(values), rel=1e-12) if values else None), name
            assert recorded["metricMost"][name] == (max(values) if values else None), name
            worst = recorded["metricWorst"][name]
            assert worst is None if not values else runs["metrics"][name][worst] == max(values)

    text = " ".join(run("report", "both.db").stdout.split())
    assert "answers as recorded" in text and "batched-nncg as recorded" in text
    assert "which are assumed for 23 of its 23 answers" in text
    assert "No method is reliable" not in text and "Use batched-nncg" not in text


def test_what_was_assumed_is_told_once(recording, here):
    told = run("bench", recording, "--recorded", "-s", "none", "-o", "r.db").stderr
    assert told.count("46 of 69 stored answers do not say how gaps and joint errors were treated") == 1


def test_stored_answers_alone(recording, here):
    counts = run_json("bench", recording, "--recorded", "-s", "none", "-o", "r.db")
    assert (counts["methods"], counts["runs"], counts["recorded"], counts["assumed"]) == (0, 69, 69, 46)
    assert counts["outcomes"] == {"as recorded": 69}
    assert "stored answers only" in run("report", "r.db").stdout
    again = run_json("bench", recording, "--recorded", "-s", "none", "-o", "r.db")
    assert (again["before"], again["done"]) == (69, 0)


def test_a_campaign_file_can_ask_for_them(recording, here):
    with open("c.json", "w", encoding="utf-8") as file:
        json.dump({"problems": [str(recording)], "methods": [], "recorded": True}, file)
    assert run_json("bench", "--campaign", "c.json", "-o", "r.db")["recorded"] == 69


def test_shards_of_them_are_the_whole(recording, here):
    run("bench", recording, "--recorded", "-s", "pgs", "-o", "whole.db", "--quiet")
    for i in (1, 2, 3):
        run("bench", recording, "--recorded", "-s", "pgs", "--shard", f"{i}/3", "-o", f"part{i}.db", "--quiet")
    run("merge", "sum.db", "part1.db", "part2.db", "part3.db")
    strip = [[{k: v for k, v in row.items() if k not in ("seconds", "elapsed", "started")} for row in table(name, "runs")]
             for name in ("whole.db", "sum.db")]
    assert strip[0] == strip[1] and len(strip[0]) == 24 + 69


def test_rules_that_are_not_known_are_named(recording, here):
    with h5py.File(recording) as old, h5py.File("odd.h5", "w") as new:
        old.copy("simulation_000001", new)
        new["simulation_000001/mbs_frame000003/solver_data/batched-nncg"].attrs["with"] = "gap_term=soft"
    done = run("bench", "odd.h5", "--recorded", "-s", "none", "-o", "r.db", code=3)
    assert "mbs_frame000003: cannot judge stored answer" in done.stderr and "soft" in done.stderr
    assert len(recorded_rows("r.db")) == 68


def test_without_recorded_there_must_be_solvers(recording, here):
    assert "none" in run("bench", recording, "-s", "none", "-o", "r.db", code=USAGE).stderr
