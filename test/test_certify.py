"""certify: answers are proved, stored and proved again; what is wrong is refused."""
import csv
import re
import shutil
import sqlite3

import h5py
import numpy as np
import pytest

from test_cli import BAD_INPUT, USAGE, here, run, run_json

FOUND = 1
RESULT = "/simulation_000001/mbs_frame%06d/solver_data/certified"


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    place = tmp_path_factory.mktemp("certified")
    run("run", "box-drop", "--steps", "40", "--every", "8", "--record", place / "drop.h5")
    run("certify", place / "drop.h5", "-o", place / "certified.h5")
    return place


@pytest.fixture
def files(certified, here):
    for name in ("drop.h5", "certified.h5"):
        shutil.copy(certified / name, name)
    return here


def test_answers_are_proved_stored_and_proved_again(files):
    proofs = run_json("certify", "drop.h5")["certificates"]
    assert len(proofs) == 5 and {proof["level"] for proof in proofs} <= {"backward", "exact"}
    again = run_json("certify", "certified.h5", "--stored", "--result", "certified")["certificates"]
    with h5py.File("certified.h5") as file:
        for i, (proof, stored) in enumerate(zip(proofs, again)):
            group = file[RESULT % (i + 1) + "/certificate"]
            assert group["bound"][()] == proof["bound"] == stored["bound"]  # same numbers, same code: same bits
            assert proof["bound"] <= 1e-8 * proof["scale"]
            assert group.attrs["level"].decode() == proof["level"]
            states = group["states"][:, 0] if len(proof["contacts"]) > 1 else []
            for state, contact in zip(states, proof["contacts"]):
                assert ["left out", "open", "stick", "slip"][int(state)] == contact["state"]
            if len(proof["contacts"]):
                assert proof["second"] != proof["solver"] and proof["agreed"] < 1e-2  # friction of boxes is not unique


def test_a_time_limit_ends_the_search_and_certifies_what_is_there(files):
    # a nanosecond: the start is the answer of every method, and no frame in motion is at rest by itself
    result = run("certify", "drop.h5", "--frame", "4", "--time-limit", "1e-9", code=FOUND)
    assert "not proved within the time limit" in result.stderr and "0 of 1 proved" in result.stdout
    assert run_json("certify", "drop.h5", "--frame", "4", "--time-limit", "600")["levels"] != {"none": 1}


def test_large_frames_are_proved_by_one_method_alone_unless_thoroughly(here):
    run("run", "isotropy", "-p", "count=600", "--steps", "1", "--record", "pucks.h5", "--no-metrics")
    (proof,) = run_json("certify", "pucks.h5")["certificates"]
    assert len(proof["contacts"]) > 2000 and proof["level"] == "backward" and "second" not in proof
    (proof,) = run_json("certify", "pucks.h5", "--thorough")["certificates"]
    assert proof["level"] == "backward" and proof["second"] != proof["solver"]


def test_wrong_answers_are_refused(files):
    run("check", "certified.h5")
    with h5py.File("certified.h5", "r+") as file:
        normal = file[RESULT % 5 + "/normal"]
        values = normal[:]
        values[np.argmax(values)] *= 1.01
        normal[:] = values
    assert "proved is" in run("check", "certified.h5", code=BAD_INPUT).stdout
    result = run("certify", "certified.h5", "--stored", "--result", "certified", code=FOUND)
    assert "m/s away" in result.stderr and "4 of 5 proved" in result.stdout


def test_forged_certificates_and_velocities_are_faults(files):
    with h5py.File("certified.h5", "r+") as file:
        file[RESULT % 5 + "/velocities"][0] += 1.0
    said = run("check", "certified.h5", code=BAD_INPUT).stdout
    assert re.search("proved is none with .*: the velocities differ from those of the impulses", said)
    assert "velocities differ" in run("certify", "certified.h5", "--stored", "--result", "certified", code=FOUND).stderr
    with h5py.File("certified.h5", "r+") as file:
        file[RESULT % 5 + "/velocities"][0] -= 1.0
        file[RESULT % 5 + "/certificate/states"][:] = 1.0
    assert "states[" in run("check", "certified.h5", code=BAD_INPUT).stdout


def forge(change):
    """What check says about the certificate of the last frame after a change."""
    with h5py.File("certified.h5", "r+") as file:
        change(file[RESULT % 5])
    return run("check", "certified.h5", code=BAD_INPUT).stdout


def claim(name, value):
    def change(result):
        result["certificate/" + name][...] = value
    return change


def claims(*names, value):
    def change(result):
        for name in names:
            claim(name, value)(result)
    return change


def level(name):
    return lambda result: result["certificate"].attrs.__setitem__("level", name)


def turn(result):
    for name in ("normal", "tangent"):
        result[name][...] = result[name][...][::-1]


def borrow(result):
    """The certificate of another frame, of as many contacts."""
    certificate = result["certificate"]
    other = result.file[RESULT % 4 + "/certificate"]
    for name in certificate:
        if certificate[name].shape == other[name].shape:
            certificate[name][...] = other[name][...]


@pytest.mark.parametrize("change, said", [
    (claim("bound", 0.0), "the bound of a contact exceeds that of all"),
    (claims("bound", "bounds", value=0.0), "proved is backward"),
    (claim("bound", np.nan), "a bound exceeds what its level allows"),
    (claim("bound", np.inf), "a bound exceeds what its level allows"),
    (claim("spin_speed", np.inf), "a bound exceeds what its level allows"),
    (claim("joint_bound", np.inf), "a bound exceeds what its level allows"),
    (claim("spin_bound", np.inf), "a number is missing or infinite"),
    (claim("velocity_error", np.inf), "a number is missing or infinite"),
    (claim("spin_error", np.inf), "a number is missing or infinite"),
    (claim("scale", 1e3), "scale is not what is proved"),
    (claim("scale", np.nan), "a bound exceeds what its level allows"),
    (claim("velocity_error", 0.0), "velocity_error is not what is proved"),
    (claim("bounds", 0.0), "bounds["),
    (claim("bounds", np.nan), "the bound of a contact exceeds that of all"),
    (claim("bounds", np.inf), "the bound of a contact exceeds that of all"),
    (claim("margins", 1e6), "margins["),
    (claim("certain", 0.0), "states["),
    (claim("agreed", -1.0), "distance to the second method is negative"),
    (claim("agreed", np.nan), "distance to the second method is negative or missing"),
    (lambda result: result["certificate"].__delitem__("agreed"), "distance to the second method is negative or missing"),
    (level(b"forward"), "level forward needs the convex law"),
    (level(b"exact"), "level exact needs the `distance`"),
    (lambda result: result["certificate"].attrs.__setitem__("law", b"box"), "its law is not that of the formulation"),
    (lambda result: result["normal"].__setitem__(0, np.nan), "the answer is not complete"),
    (lambda result: result["iterations"].__setitem__((), -3), "/iterations: is -3, must not be negative"),
    (turn, "proved is"),
    (borrow, "certificate: "),
])
def test_planted_claims_are_refused(files, change, said):
    assert said in forge(change)


def members(group, inside=""):
    """The names of all datasets below a group."""
    for name, member in group.items():
        yield from members(member, inside + name + "/") if isinstance(member, h5py.Group) else [inside + name]


def flip(values):
    """The lowest bit of the first number."""
    flat = np.atleast_1d(values).copy()
    whole = flat.reshape(-1).view(np.int64 if flat.dtype.itemsize == 8 else np.int32)
    whole[0] ^= 1
    return flat.reshape(np.shape(values))


def test_no_bit_of_what_is_stored_changes_unnoticed(files):
    """Every dataset and every text of the result, one after the other; proofs would not see the last digits, nor what is only recorded."""
    with h5py.File("certified.h5") as file:
        result = file[RESULT % 5]
        names, texts = list(members(result)), list(result["certificate"].attrs)
    assert {"error", "iterations", "time", "normal", "metrics/energy", "metrics/contact_energy", "certificate/agreed"} <= set(names)
    assert {"level", "law", "solver", "second", "digest"} <= set(texts)
    for name in names:
        shutil.copy("certified.h5", "changed.h5")
        with h5py.File("changed.h5", "r+") as file:
            member = file[RESULT % 5][name]
            member[...] = flip(member[()])
        assert "solver_data/certified/" in run("check", "changed.h5", code=BAD_INPUT).stdout, name
    for name in ("solver", "second", "digest"):
        shutil.copy("certified.h5", "changed.h5")
        with h5py.File("changed.h5", "r+") as file:
            attributes = file[RESULT % 5 + "/certificate"].attrs
            attributes[name] = np.bytes_(attributes[name].decode()[:-1] + "x")
        assert "its digest is another one" in run("check", "changed.h5", code=BAD_INPUT).stdout, name


def test_directions_in_single_precision_are_proved_and_measured_as_any_others(here):
    """Engines of games have normals whose length is 1 to 1e-7; impulses are stored as vectors and read back as components."""
    run("run", "spheres-on-cube", "--steps", "60", "--every", "30", "--record", "double.h5")
    with h5py.File("double.h5", "r+") as file:
        for frame in file["simulation_000001"].values():
            if "contacts" in frame:
                frame["contacts/normals"][...] = frame["contacts/normals"][:].astype(np.float32)
                for name in ("t_u", "t_v"):
                    frame["contacts"].pop(name, None)
    run("certify", "double.h5", "-o", "certified.h5")
    assert "0 faults" in run("check", "certified.h5").stdout


@pytest.fixture
def selected(here):
    """Card houses with exact geometry: impulses are those of the alternatives that were selected."""
    run("run", "card-house", "--peg", "select", "--steps", "4", "--record", "cards.h5")
    run("certify", "cards.h5", "-o", "selected.h5")
    with h5py.File("selected.h5") as file:
        frame = file["simulation_000001/mbs_frame000002"]
        groups, selection = frame["subcontacts/contact_groups"][:, 0], frame["solver_data/certified/selection"][:, 0]
        points = {name: frame["subcontacts/" + name][:, 0] for name in ("groups", "alternatives")}
    at_contacts = np.flatnonzero((groups >= 0) & (selection[groups] != 0))
    at_points = np.flatnonzero(points["alternatives"] != selection[points["groups"]])
    assert len(at_contacts) and len(at_points)
    return at_contacts[0], at_points[0]


def test_answers_with_alternatives_balance(selected):
    assert "0 faults, 0 warnings" in run("check", "selected.h5").stdout


@pytest.mark.parametrize("name", ["sub_normal", "sub_tangent", "selection"])
def test_no_bit_of_a_selection_changes_unnoticed(selected, name):
    with h5py.File("selected.h5", "r+") as file:
        member = file[RESULT % 2][name]
        member[...] = flip(member[()])
    assert "its digest is another one" in run("check", "selected.h5", code=BAD_INPUT).stdout


@pytest.mark.parametrize("name, further", [("normal", False), ("tangent", False), ("sub_normal", True), ("sub_tangent", True)])
def test_impulses_of_alternatives_that_are_not_selected_are_refused(selected, name, further):
    with h5py.File("selected.h5", "r+") as file:
        result = file[RESULT % 2]
        values = result[name][:]
        values[selected[further]] = 1e-4
        result[name][...] = values
        del result["certificate"].attrs["digest"]
    what = f"{'further point' if further else 'contact'} {selected[further]} is of an alternative that is not selected"
    assert what in run("check", "selected.h5", code=BAD_INPUT).stdout


def test_generalised_velocities_are_those_of_the_bodies(here):
    run("run", "arm", "--coordinates", "minimal", "--steps", "3", "--record", "arm.h5")
    run("certify", "arm.h5", "--frame", "2", "--with", "coordinates=minimal", "-o", "certified.h5")
    run("check", "certified.h5")
    with h5py.File("certified.h5", "r+") as file:
        file[RESULT % 1 + "/generalized_velocities"][0] += 1e-3
        del file[RESULT % 1 + "/certificate"].attrs["digest"]
    assert "differ from the generalised ones" in run("check", "certified.h5", code=BAD_INPUT).stdout


def test_recorded_numbers_are_measured_again_where_a_forger_renews_the_digest(files):
    """Without a digest, which anyone can compute, there is a warning, and what can be measured is."""
    with h5py.File("certified.h5", "r+") as file:
        for frame in file["simulation_000001"].values():
            if "solver_data" in frame:
                del frame["solver_data/certified/certificate"].attrs["digest"]
        metrics = list(file[RESULT % 5 + "/metrics"])
    assert "has no digest" in run("check", "certified.h5").stdout
    run("check", "certified.h5", "--rerun")
    for name in ["error"] + ["metrics/" + metric for metric in metrics]:
        shutil.copy("certified.h5", "changed.h5")
        with h5py.File("changed.h5", "r+") as file:
            member = file[RESULT % 5][name]
            value = np.atleast_1d(member[()]).copy()
            value.reshape(-1)[-1] = 1.001 * value.reshape(-1)[-1] + 1e-9  # J, m/s or 1: of answers within rounding, far from it
            member[...] = value.reshape(member.shape)
        assert f"certified/{name}" in run("check", "changed.h5", code=BAD_INPUT).stdout, name


def test_agreement_is_repeated_on_demand(files):
    """The second method finds the same answer again; a forged distance is seen by running it."""
    run("check", "certified.h5", "--rerun")
    with h5py.File("certified.h5", "r+") as file:
        result = file[RESULT % 5]
        assert result["certificate/agreed"][()] > 1e-7  # a box has several answers: there is something to hide
        del result["certificate"].attrs["digest"]
        result["certificate/agreed"][...] = 0.0
    run("check", "certified.h5")
    assert "run again it is" in run("check", "certified.h5", "--rerun", code=BAD_INPUT).stdout


def test_levels_above_backward_are_proved_again(files):
    run("certify", "drop.h5", "--formulation", "convex", "--frame", "4", "-o", "convex.h5")
    run("check", "convex.h5")
    with h5py.File("convex.h5", "r+") as file:
        certificate = file[RESULT % 1 + "/certificate"]
        del certificate.attrs["digest"]
        assert certificate.attrs["level"] == b"forward"
        certificate["forward"][...] = 0.5 * certificate["forward"][()]
    assert "forward is not what is proved" in run("check", "convex.h5", code=BAD_INPUT).stdout
    run("run", "sliding-block", "--steps", "3", "--record", "block.h5")
    run("certify", "block.h5", "-o", "exact.h5", "--exact", "60")
    run("check", "exact.h5")


def test_a_tolerance_of_ones_own_is_stored_and_proved(files):
    """Level backward means the tolerance that was asked for, which is stored with it."""
    run("certify", "drop.h5", "--frame", "4", "--tol", "1e-3", "-o", "loose.h5")
    run("check", "loose.h5")
    with h5py.File("loose.h5", "r+") as file:
        assert file[RESULT % 1 + "/certificate/tolerance"][()] == 1e-3
        file[RESULT % 1 + "/certificate/tolerance"][...] = 2.0
    assert "tolerance is not a share" in run("check", "loose.h5", code=BAD_INPUT).stdout


def test_contacts_that_are_all_but_open_are_proved_again(here):
    """Their margin is negative: the speed of parting, less than nothing by rounding."""
    run("collection", "get", "grasps/gripper-at200", "-o", "certified.h5")
    with h5py.File("certified.h5") as file:
        assert any(np.any(frame["solver_data/certified/certificate/margins"][:] < 0)
                   for frame in file["simulation_000001"].values() if "solver_data" in frame)
    run("check", "certified.h5")


def test_frames_without_an_answer_do_not_contradict_themselves(here):
    run("collection", "get", "no-solution/vice-3-mu0", "-o", "unproved.h5")
    with h5py.File("unproved.h5") as file:
        assert file[RESULT % 1 + "/certificate"].attrs["level"] == b"none"
    run("check", "unproved.h5")


def test_copies_keep_their_digest(files):
    run("convert", "certified.h5", "copy.h5", "--to", "bpmd")
    run("check", "copy.h5")
    with h5py.File("certified.h5", "r+") as file:
        file[RESULT % 5 + "/certificate/agreed"][...] = 0.0
    run("convert", "certified.h5", "changed.h5", "--to", "bpmd")
    assert "its digest is another one" in run("check", "changed.h5", code=BAD_INPUT).stdout  # a copy does not launder it


def test_true_errors_are_measured_from_a_certified_answer(files):
    """The reference is proved, so that its own error is known; an accurate answer is within what both are worth, a poor one is as
    far away as a reference by another solver says, and the trust is energy over distance."""
    def solve(solver, reference, *options):
        return run_json("solve", "drop.h5", "--frame", "4", "-s", solver, "--reference", reference, *options)["frames"][0]
    poor = solve("pgs", "certified", "--iterations", "20", "--stop", "none")
    beside = solve("pgs", "interior-point", "--iterations", "20", "--stop", "none")
    reference = poor["reference"]
    assert reference["solver"] == "certified" and reference["level"] in ("backward", "exact") and reference["bound"] < 1e-9
    assert poor["metrics"]["trust"]["value"] == pytest.approx(
        poor["metrics"]["energy"]["value"] / poor["metrics"]["distance"]["value"], rel=1e-12)
    # 1e-2: boxes have several answers, whose velocities differ by 1e-4 or less, far below the error of the poor one
    assert reference["velocity_distance"] == pytest.approx(beside["reference"]["velocity_distance"], rel=1e-2)
    assert reference["velocity_distance"] > 1e-6
    # each metric over the true error in its own unit, here and in the report of a campaign
    metrics = {name: metric["value"] for name, metric in poor["metrics"].items()}
    assert metrics["velocity_distance"] == reference["velocity_distance"]
    assert reference["trust"]["energy"] == pytest.approx(metrics["trust"], rel=1e-12)
    assert reference["trust"]["creep"] == pytest.approx(metrics["creep"] / metrics["velocity_distance"], rel=1e-12)
    run("bench", "drop.h5", "-s", "pgs", "--iterations", "20", "--stop", "none", "--reference", "certified", "-o", "r.db", "--quiet")
    with sqlite3.connect("r.db") as ledger:
        ratios = [ratio for (ratio,) in ledger.execute(
            "SELECT a.value / b.value FROM metrics a JOIN metrics b USING (run) WHERE a.name = 'creep' AND b.name = 'velocity_distance' "
            "AND a.why IS NULL AND b.why IS NULL AND b.value > 0")]
    run("report", "r.db", "--figure", "trust", "-o", "trust.csv")
    with open("trust.csv", newline="") as file:
        rows = {row["Metric"]: row for row in csv.DictReader(file)}
    assert int(rows["creep"]["Runs"]) == len(ratios) > 2 and rows["creep"]["Over"] == "velocity_distance"
    assert float(rows["creep"]["Median"]) == pytest.approx(np.median(ratios), rel=1e-12)
    assert rows["energy"]["Over"] == "distance" and float(rows["energy"]["5 %"]) <= float(rows["energy"]["95 %"])
    # a ledger from before the metric was there is read, and can be compared with one that has it
    shutil.copy("r.db", "old.db")
    with sqlite3.connect("old.db") as ledger:
        ledger.execute("DELETE FROM metrics WHERE name = 'velocity_distance'")
    ledger.close()
    run("report", "old.db", "-o", "old.html")
    found = run_json("diff", "r.db", "r.db", "--measure", "velocity_distance", "--tolerance", "1e-3")
    assert found["both"] == 5 and found["same"] == 5
    assert run_json("diff", "old.db", "r.db", "--measure", "velocity_distance", "--tolerance", "1")["solved"] == len(ratios)


def test_boxes_are_proved_as_problems(files):
    run("certify", "drop.h5", "--frame", "4", "--formulation", "frictionless", "-o", "box.h5")
    assert "under formulation frictionless it is not proved again" in run("check", "box.h5").stdout


def test_answers_of_other_formulations_are_exact_whatever_was_asked_for(here):
    """Rational numbers prove them from the problem alone, also where the bound is above a tolerance smaller than rounding."""
    run("run", "chain", "--steps", "3", "--record", "chain.h5")
    run("certify", "chain.h5", "--formulation", "box", "--tol", "1e-16", "-o", "certified.h5", code=FOUND)
    exact = [proof for proof in run_json("certify", "chain.h5", "--formulation", "box", "--tol", "1e-16", code=FOUND)["certificates"]
             if proof["level"] == "exact"]
    assert any(max(proof["bound"], proof["joint_bound"]) > 1e-16 * proof["scale"] for proof in exact)
    assert "exceeds" not in run("check", "certified.h5").stdout


def test_convex_velocities_are_enclosed(files):
    proofs = run_json("certify", "drop.h5", "--formulation", "convex", "--frame", "4")["certificates"]
    assert proofs[0]["level"] == "forward" and 0 <= proofs[0]["forward"] < 1e-9  # J, of some 20 J


def test_mistakes_are_named(files):
    assert "--stored" in run("certify", "drop.h5", "--stored", "-o", "x.h5", code=USAGE).stderr
    assert "no complete answer of nobody" in run("certify", "drop.h5", "--stored", "--result", "nobody", code=BAD_INPUT).stderr
    assert "drop.h5" in run("certify", "drop.h5", "-o", "drop.h5", code=USAGE).stderr
    with h5py.File("certified.h5", "r+") as file:
        file[RESULT % 1 + "/certificate"].attrs["level"] = b"perfect"
    assert '"perfect"' in run("certify", "certified.h5", "--stored", code=BAD_INPUT).stderr
