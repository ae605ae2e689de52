"""judge: answers in files are measured by the rules they were made by, and nothing is solved. What it says is compared with
what was measured when the answers were made."""
import re
import shutil

import h5py
import numpy as np
import pytest

from test_cli import BAD_INPUT, USAGE, here, run, run_json
from test_view import page, series

FOUND = 1
FRAME = "/simulation_000001/mbs_frame%06d"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Boxes dropped on a table, by a simulator that removes a fifth of every overlap beyond a slop per step."""
    path = tmp_path_factory.mktemp("recording") / "drop.h5"
    run("run", "box-drop", "--steps", "30", "--record", path)
    return path


@pytest.fixture
def recorded(recording, here):
    shutil.copy(recording, "drop.h5")
    return here


def results(path):
    with h5py.File(path, "r+") as file:
        for name, frame in file["simulation_000001"].items():
            if name.startswith("mbs_frame"):
                yield from frame["solver_data"].values()


def forget_rules():
    """The file of an engine that does not say how it treats gaps, nor measures its answers."""
    for result in results("drop.h5"):
        with_ = result.attrs["with"]
        del result.attrs["formulation"], result.attrs["with"]
        if "metrics" in result:
            del result["metrics"]
    return [word for word in (with_.decode() if isinstance(with_, bytes) else with_).split() if not word.startswith("form=")]


def energies(*words):
    return [answer["metrics"]["energy"]["value"] for answer in run_json("judge", "drop.h5", *words)["answers"]]


def test_stored_rules_give_what_was_measured(recorded):
    answers = run_json("judge", "drop.h5")["answers"]
    assert len(answers) == 30 and {answer["rules"] for answer in answers} == {"stored"}
    with h5py.File("drop.h5") as file:
        for i, answer in enumerate(answers):
            stored = file[FRAME % (i + 1)]["solver_data/batched-nncg"]
            for name, data in stored["metrics"].items():
                if name != "contact_energy":
                    assert answer["metrics"][name]["value"] == pytest.approx(data[()], rel=1e-9, abs=1e-300), name
            if "normal" in stored:
                assert [c["energy"] for c in answer["contacts"]] == pytest.approx(
                    list(np.ravel(stored["metrics/contact_energy"])), rel=1e-9, abs=1e-300)
                assert [c["normal"] for c in answer["contacts"]] == list(np.ravel(stored["normal"]))


def test_no_metric_is_left_out(recorded):
    for answer in run_json("judge", "drop.h5")["answers"]:
        assert answer["metrics"]["energy_exact"].get("why") != "left out"
    last = run_json("solve", "drop.h5", "--frame", "0", "-o", "one.h5")["frames"][0]["metrics"]["energy_exact"]
    judged = [a["metrics"]["energy_exact"] for a in run_json("judge", "one.h5", "--result", "auto")["answers"]]
    assert last["value"] is not None and judged[0]["value"] == pytest.approx(last["value"], rel=1e-9, abs=1e-300)


def test_rules_of_the_user_replace_those_that_are_missing(recorded):
    measured = energies()
    rules = forget_rules()
    assert energies(*(word for rule in rules for word in ("--with", rule))) == measured
    assert sorted(energies())[15] > 2 * sorted(measured)[15], "by other rules the answers look worse"


def test_what_was_assumed_is_told_with_what_else_it_could_be(recorded):
    forget_rules()
    ended = run("judge", "drop.h5")
    assert "rules, assumed: gap_term=preventive" in ended.stdout
    note = re.search(r"^note: .*$", ended.stderr, re.M)[0]
    numbers = re.findall(r"([\d.e+-]+) J", note)
    summary = run_json("judge", "drop.h5")["summary"][0]
    medians = [summary["median_energy"]] + [other["median_energy"] for other in summary["other_treatments"]]
    assert [float(n) for n in numbers] == pytest.approx(medians, rel=1e-2) and medians[0] != medians[2]
    for other in summary["other_treatments"]:
        words = [word for rule in other["with"].split() for word in ("--with", rule)]
        assert run_json("judge", "drop.h5", *words)["summary"][0]["median_energy"] == other["median_energy"]


def test_stored_rules_need_no_note(recorded):
    assert "note:" not in run("judge", "drop.h5").stderr


def test_the_replay_shows_the_same_joules_and_the_rules(recorded):
    run("view", "drop.h5", "-o", "stored.html")
    stored = page(recorded / "stored.html")[0]["results"][0]
    assert stored["rulesStored"] and stored["rules"].startswith("gap_term=stabilised gamma=0.2 slop=")
    assert series(stored, "energy") == pytest.approx(energies(), rel=1e-6)
    forget_rules()
    run("view", "drop.h5", "-o", "assumed.html")
    assumed = page(recorded / "assumed.html")[0]["results"][0]
    assert not assumed["rulesStored"] and assumed["rules"].startswith("gap_term=preventive")
    assert series(assumed, "energy") == pytest.approx(energies(), rel=1e-6)


def test_the_replay_is_judged_by_the_rules_that_are_given(recorded):
    """An engine that removes a fifth of every overlap and did not store that: judge and view show the same Joules."""
    rules = forget_rules()
    words = [word for rule in rules for word in ("--with", rule)]
    run("view", "drop.h5", "-o", "given.html", *words)
    given = page(recorded / "given.html")[0]["results"][0]
    assert given["rulesGiven"] and given["rules"].startswith("gap_term=stabilised gamma=0.2")
    assert series(given, "energy") == pytest.approx(energies(*words), rel=1e-6)
    assert sorted(series(given, "energy"))[15] < sorted(energies())[15] / 2


def test_rules_that_are_given_replace_stored_metrics_too(recorded):
    run("view", "drop.h5", "-o", "given.html", "--with", "gap_term=zero")
    given = page(recorded / "given.html")[0]["results"][0]
    assert series(given, "energy") == pytest.approx(energies("--with", "gap_term=zero"), rel=1e-6)


def test_the_replay_tells_what_it_assumed(recorded):
    assert "note:" not in run("view", "drop.h5", "-o", "stored.html").stderr
    forget_rules()
    told = run("view", "drop.h5", "-o", "assumed.html").stderr
    assert "note: the file stores no rules for batched-nncg; assuming gap_term=preventive" in told
    assert "note:" not in run("view", "drop.h5", "-o", "given.html", "--with", "gap_term=zero").stderr


def test_the_table_fits_a_terminal(recorded):
    run("solve", "drop.h5", "-s", "interior-point", "-o", "both.h5")
    ended = run("judge", "both.h5", "--contacts")
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert re.search(r"^batched-nncg: 30 answers; median energy", ended.stdout, re.M)
    assert re.search(r"^interior-point: 30 answers; median energy", ended.stdout, re.M)


def test_one_solver_and_one_frame(recorded):
    run("solve", "drop.h5", "-s", "interior-point", "-o", "both.h5")
    [answer] = run_json("judge", "both.h5", "--result", "interior-point", "--frame", "20")["answers"]
    assert answer["index"] == 20 and answer["result"] == "interior-point"
    assert "anomalous_friction" in run("judge", "both.h5", "--result", "batched-nncg", "--frame", "20").stdout


def test_incomplete_answers_are_found(recorded):
    with h5py.File("drop.h5", "r+") as file:
        del file[FRAME % 1]["solver_data/batched-nncg/velocities"]
    ended = run("judge", "drop.h5", code=FOUND)
    assert "29 answers, 1 incomplete" in ended.stdout
    assert run_json("judge", "drop.h5", code=FOUND)["answers"][0]["complete"] is False


def test_a_file_without_answers(recorded):
    with h5py.File("drop.h5", "r+") as file:
        for name in list(file["simulation_000001"]):
            if name.startswith("mbs_frame"):
                del file["simulation_000001"][name]["solver_data"]
    assert "no answers are stored" in run("judge", "drop.h5", code=FOUND).stdout


def test_faulty_frames_are_named_and_the_others_judged(recorded):
    with h5py.File("drop.h5", "r+") as file:
        file[FRAME % 3]["bodies/masses"][0] = -1
    ended = run("judge", "drop.h5", code=BAD_INPUT)
    assert "mbs_frame000003/bodies/masses[0]" in ended.stderr and "29 answers" in ended.stdout


@pytest.mark.parametrize("words, code, hint", [
    (["--result", "nobody"], BAD_INPUT, "nobody"),
    (["--with", "gap_term=sometimes"], USAGE, "gap_term"),
    (["--formulation", "magic"], USAGE, "magic"),
    (["--frame", "99"], BAD_INPUT, "99"),
])
def test_what_is_wrong_is_named(words, code, hint, recorded):
    assert hint in run("judge", "drop.h5", *words, code=code).stderr


def test_info_shows_everything_that_is_stored(recorded):
    [result] = run_json("info", "drop.h5", "--frame", "12", "--full")["results"]
    with h5py.File("drop.h5") as file:
        stored = file[FRAME % 13]["solver_data/batched-nncg"]
        assert result["solver"] == "batched-nncg" and result["formulation"] == "cone"
        assert result["with"].startswith("gap_term=stabilised gamma=0.2")
        assert np.ravel(result["velocities"]).tolist() == np.ravel(stored["velocities"]).tolist()
        assert result["normal"] == np.ravel(stored["normal"]).tolist()
        assert np.ravel(result["tangent"]).tolist() == np.ravel(stored["tangent"]).tolist()
        assert result["measures"]["energy"] == stored["metrics/energy"][()]
        assert result["measures"]["contact_energy"] == np.ravel(stored["metrics/contact_energy"]).tolist()
        assert result["iterations"] == stored["iterations"][()]
