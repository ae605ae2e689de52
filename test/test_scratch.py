"""Ledgers that are written in a scratch folder and brought to their place at the end, on SIGTERM, and after a kill."""
import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from test_bench import QUICK, bench, build_plugin, contents, slope
from test_claim import PLANTED
from test_cli import PROGRAM, RESOURCES, USAGE, here, run


@pytest.fixture
def arguments(slope):
    for folder in ("disk", "away"):
        Path(folder).mkdir()
    return [slope, "--every", "4", "-s", "nsgs,planted", "--plugin", build_plugin("planted", PLANTED), "--jobs", "1"]


def stop(arguments, how):
    """A campaign that is stopped when it has stored something."""
    Path("wait").touch()
    writer = subprocess.Popen([PROGRAM, "bench", *arguments, *QUICK, "--scratch", "disk", "-o", "away/r.db"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    stored = lambda path: int((path.read_text().split()[3:4] or [0])[0])  # as its writer says, which may not have said anything yet
    while not any(stored(path) > 0 for path in Path("disk").glob("*.lock")):
        assert time.monotonic() < until and writer.poll() is None
        time.sleep(0.02)
    writer.send_signal(how)
    complaints = writer.communicate(timeout=30)[1]
    assert writer.returncode == -how
    Path("wait").unlink()
    return complaints


def names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def test_the_ledger_is_brought_to_its_place_and_nothing_stays(arguments):
    bench(*arguments, "-o", "whole.db")
    counts = bench(*arguments, "--scratch", "disk", "-o", "away/r.db")
    assert counts["ledger"] == "away/r.db" and counts["done"] == counts["runs"] > 0
    assert names("disk") == [] and names("away") == ["r.db"]
    assert contents("away/r.db") == contents("whole.db")
    again = bench(*arguments, "--scratch", "disk", "-o", "away/r.db")
    assert again["before"] == counts["runs"] and again["done"] == 0 and names("disk") == []


def test_a_campaign_that_is_terminated_brings_what_it_has(arguments):
    bench(*arguments, "-o", "whole.db")
    assert "away/r.db; repeat the command to continue" in stop(arguments, signal.SIGTERM)
    assert names("disk") == [] and names("away") == ["r.db"]
    assert json.loads(run("status", "away/r.db", "--json", code=1).stdout)["done"] >= 1
    counts = bench(*arguments, "-o", "away/r.db")  # without a scratch folder, as on another machine
    assert counts["before"] >= 1 and counts["missing"] == 0 and contents("away/r.db") == contents("whole.db")


def test_one_that_is_killed_goes_on_from_both_places(arguments):
    bench(*arguments, "-o", "whole.db")
    stop(arguments, signal.SIGKILL)
    assert names("away") == ["r.db.lock"] and any(name.endswith(".db") for name in names("disk"))
    bench(*arguments, "--frame", "8", "-o", "away/r.db")  # meanwhile another machine does a part
    counts = bench(*arguments, "--scratch", "disk", "-o", "away/r.db")
    assert counts["before"] >= 2 and counts["missing"] == 0
    assert names("disk") == [] and names("away") == ["r.db"] and contents("away/r.db") == contents("whole.db")


def test_a_place_without_room_leaves_the_results_in_the_scratch_folder(arguments):
    bench(*arguments, "--frame", "0", "-o", "away/r.db")
    before = contents("away/r.db")
    Path("away/r.db.part").mkdir()  # which cannot be written over
    said = run("bench", *arguments, *QUICK, "--scratch", "disk", "-o", "away/r.db", code=RESOURCES).stderr
    assert "away/r.db: cannot be written: " in said and "; the results are in disk/r.db-" in said
    assert contents("away/r.db") == before and len(names("disk")) == 1
    Path("away/r.db.part").rmdir()
    assert bench(*arguments, "--scratch", "disk", "-o", "away/r.db")["done"] == 0
    assert names("disk") == [] and names("away") == ["r.db"]


def test_which_folder(arguments, monkeypatch):
    for name in ("SLURM_TMPDIR", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    one = [*arguments, "--frame", "0", "-o", "away/r.db", "--scratch"]
    assert "neither SLURM_TMPDIR nor TMPDIR" in run("bench", *one, "auto", code=USAGE).stderr
    assert "nowhere is not a folder" in run("bench", *one, "nowhere", code=USAGE).stderr
    monkeypatch.setenv("SLURM_TMPDIR", "")
    assert "neither SLURM_TMPDIR nor TMPDIR" in run("bench", *one, "auto", code=USAGE).stderr
    monkeypatch.setenv("TMPDIR", str(Path("disk").resolve()))
    assert bench(*one, "auto")["done"] > 0 and names("away") == ["r.db"]
