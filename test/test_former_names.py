"""Solvers that were renamed: every place where their former names were typed or stored still understands them."""
import json
import shutil
import sqlite3

import h5py
import pytest
from test_cli import run, run_json

FORMER = {"coloured": "batched-nncg", "prox": "projected-fixed-point", "proximal": "proximal-point",
          "split": "normal-friction-splitting"}
FRAME = "simulation_000001/mbs_frame%06d"


@pytest.fixture(scope="module")
def slope(tmp_path_factory):
    path = tmp_path_factory.mktemp("former") / "slope.h5"
    run("run", "sliding-block", "--steps", "3", "--solver", "coloured", "--record", path)
    return path


@pytest.fixture
def old(slope, tmp_path):
    """The recording as an earlier version wrote it."""
    path = tmp_path / "old.h5"
    shutil.copy(slope, path)
    with h5py.File(path, "r+") as file:
        for k in range(3):
            file.move(f"{FRAME % (k + 1)}/solver_data/batched-nncg", f"{FRAME % (k + 1)}/solver_data/coloured")
    return path


def results_in(path, frame=1):
    with h5py.File(path) as file:
        return sorted(file[FRAME % frame].get("solver_data", {}))


def test_a_simulation_by_a_former_name_is_the_same_finisher_and_all(tmp_path):
    for solver in ("coloured", "batched-nncg"):
        run("run", "brick-wall", "--steps", "20", "--solver", solver, "--record", tmp_path / f"{solver}.h5")
    run("run", "brick-wall", "--steps", "20", "--record", tmp_path / "default.h5")
    frames = [[file[FRAME % 20]["bodies/positions"][()].tobytes() for file in [h5py.File(tmp_path / name)]]
              for name in ("coloured.h5", "batched-nncg.h5", "default.h5")]
    assert frames[0] == frames[1] == frames[2]


@pytest.mark.parametrize("former", FORMER)
def test_solving_by_a_former_name(former, slope):
    by_old, by_new = (run_json("solve", slope, "--frame", 0, "-s", name) for name in (former, FORMER[former]))
    assert by_old["frames"][0]["metrics"] == by_new["frames"][0]["metrics"]
    assert by_old["solver"] == FORMER[former]


def test_stored_results_are_found_under_both_names(slope, old, tmp_path):
    for path in (slope, old):
        for name in ("coloured", "batched-nncg"):
            assert len(run_json("judge", path, "--result", name)["answers"]) == 3, (path, name)
    # solving again replaces the result that the former name holds, instead of standing beside it
    run("solve", old, "-s", "batched-nncg", "-o", tmp_path / "again.h5")
    assert results_in(tmp_path / "again.h5") == ["batched-nncg"]
    run("view", old, "--results", "batched-nncg", "-o", tmp_path / "page.html")
    assert "coloured" in (tmp_path / "page.html").read_text()


def test_a_campaign_file_and_options_by_former_names(slope, tmp_path):
    campaign = {"problems": [{"file": str(slope), "frame": "0:2"}], "methods": [
        {"solver": ["coloured", "prox"]}, {"solver": "split", "set": {"sweeps": [3, 7]}}]}
    (tmp_path / "c.json").write_text(json.dumps(campaign))
    run("bench", "--campaign", tmp_path / "c.json", "-o", tmp_path / "c.db", "--quiet")
    run("bench", slope, "-s", "coloured", "--set", "coloured.precision=single", "-o", tmp_path / "c.db", "--quiet")
    with sqlite3.connect(tmp_path / "c.db") as ledger:
        stored = {name for name, in ledger.execute("SELECT solver FROM methods")}
    assert stored == {"batched-nncg", "projected-fixed-point", "normal-friction-splitting"}


def test_a_ledger_from_before_continues(slope, tmp_path):
    """Its keys were made of the former names, and what it holds is not computed again."""
    ledger = tmp_path / "l.db"
    bench = ["bench", slope, "--frame", "0:2", "-s", "coloured,prox,nsgs", "-o", ledger]
    first = run_json(*bench)
    with sqlite3.connect(ledger) as db:
        for former, name in FORMER.items():
            db.execute("UPDATE methods SET solver = ? WHERE solver = ?", (former, name))
    again = run_json(*bench)
    assert first["done"] > 0 and again["done"] == 0
    labels = {series["label"] for series in run_json("report", ledger)["series"]}
    assert labels == {"batched-nncg", "projected-fixed-point", "nsgs"}
    assert run_json("report", ledger, "--against", "prox", "--best-of", "nsgs")
    page = tmp_path / "success.csv"
    run("report", ledger, "--figure", "success-rates", "--method", "coloured", "-o", page)
    assert "batched-nncg" in page.read_text() and "nsgs," not in page.read_text().replace("batched-", "")


def test_expected_failures_by_a_former_name(tmp_path):
    (tmp_path / "known.txt").write_text("coloured | warm-start | column, mass ratio 1e6 | no reason\n")
    told = run_json("solvers", "batched-nncg", "--test", "--check", "warm-start", "--expect", tmp_path / "known.txt",
                    code=1)
    assert [(item["solver"], item["check"]) for item in told["passed_unexpectedly"]] == [("coloured", "warm-start")]


def test_limits_follow_a_solver_by_its_former_name(slope, tmp_path):
    """The runs of the solver that sets the limits are found, so that the others get more than the least."""
    for name in ("coloured", "batched-nncg"):
        ledger = tmp_path / f"{name}.db"
        run("bench", slope, "-s", "batched-nncg,nsgs", "--limit-by", f"{name}:1e9:1e-4:50", "-o", ledger, "--quiet")
        with sqlite3.connect(ledger) as base:
            limits = dict(base.execute("SELECT solver, min(runs.time_limit) FROM runs JOIN methods ON methods.id = method GROUP BY 1"))
        assert limits["nsgs"] == 50 and limits["batched-nncg"] != 50, name


def test_stored_results_are_converted_and_certified_by_both_names(slope, old, tmp_path):
    for path in (slope, old):
        for name in ("coloured", "batched-nncg"):
            out = tmp_path / f"{path.stem}-{name}.hdf5"
            run("solve", path, "--frame", 2, "-s", "nsgs", "-o", tmp_path / "two.h5")  # a second result: the first is meant by name
            run("convert", tmp_path / "two.h5", out, "--to", "fclib-local", "--solver", name)
            with h5py.File(out) as file:
                assert "solution" in file, (path, name)
            told = run_json("certify", tmp_path / "two.h5", "--stored", "--result", name, code=None)
            assert len(told["certificates"]) == 1 and told["certificates"][0]["solver"] in ("coloured", "batched-nncg"), (path, name)
    run("certify", tmp_path / "two.h5", "--stored", "--result", "uncoloured", code=3)
