"""Frames with alternatives on the command line and in files: recorded, checked, solved again, judged, converted; what is wrong
with them is named."""
import csv
import io
import json

import h5py
import numpy as np
import pytest

from test_cli import BAD_INPUT, USAGE, here, run, run_json

FRAME = "/simulation_000001/mbs_frame%06d"
SUB = ("contact_groups", "cut", "groups", "alternatives", "roles", "points", "normals", "gaps")


@pytest.fixture
def recorded(here):
    """The large peg: in the first frames nothing touches, then it stands on the hole."""
    run("run", "peg-in-hole", "-p", "size=1.00001", "--steps", "40", "--record", "peg.h5")
    return here


def test_alternatives_and_selections_are_in_the_file(recorded):
    with h5py.File("peg.h5") as file:
        assert "subcontacts" not in file[FRAME % 1]
        frame = file[FRAME % 40]
        sub = frame["subcontacts"]
        assert sorted(SUB) == sorted(sub)
        groups = len(sub["cut"])
        assert groups == 4 and set(sub["contact_groups"][:, 0]) == set(range(4))
        assert np.allclose(sub["cut"], 0.05)
        result = frame["solver_data/lemke"]
        assert result["selection"].shape == (groups, 1)
        # all of the weight of one step
        total = result["normal"][()].sum() + result["sub_normal"][()].sum()
        assert abs(total - 0.0981) < 1e-12
    assert "0 faults" in run("check", "peg.h5").stdout


def test_stored_frames_are_solved_as_they_were(recorded):
    for method in (["-f", "stewart-trinkle", "-s", "lemke"], ["-f", "cone", "-s", "interior-point"]):
        frames = run_json("solve", "peg.h5", "--frame", "30:40", *method)["frames"]
        for frame in frames:
            if "peg" not in frame:
                continue
            assert frame["peg"]["status"] == "consistent"
            for name in ("natural_map", "open_push", "penetration"):
                assert frame["metrics"][name]["value"] < 1e-8
            assert frame["metrics"]["inactive_push"]["value"] == 0
    run("solve", "peg.h5", "-f", "stewart-trinkle", "-s", "lemke", "-o", "solved.h5")
    with h5py.File("peg.h5") as before, h5py.File("solved.h5") as after:
        for name in ("selection", "sub_normal", "normal"):
            one, two = (file[FRAME % 40]["solver_data/lemke"][name][()] for file in (before, after))
            assert np.allclose(one, two, atol=1e-12)


SCENES = [("peg-in-hole", 45, "size=1.00001"), ("vertex-corner", 10, "x=-0.005"), ("ghost-edges", 60, "box=0.8"),
          ("l-slot", 100, "longer=3e-5"), ("key-in-lock", 60, "tooth=0.20003"), ("l-stack", 5, "mu=0.8")]


def law_of(frames, names, most):
    """The largest value of each metric in the recorded answers to frames with alternatives."""
    groups = 0
    with h5py.File(frames) as file:
        for name, frame in file["simulation_000001"].items():
            if not name.startswith("mbs_frame") or "subcontacts" not in frame:
                continue
            groups += np.size(frame["subcontacts/cut"])
            for metric in names:
                value = float(np.ravel(frame["solver_data/lemke/metrics"][metric])[0])
                assert abs(value) < most, f"{name}: {metric} {value}"
    assert groups > 0


@pytest.mark.parametrize("scene, steps, hard", SCENES)
@pytest.mark.parametrize("fits", [True, False])
def test_answers_of_every_scene_obey_the_law(here, scene, steps, hard, fits):
    """Also where things do not fit, or land on the corner. The L that is too long is wedged, and tips."""
    run("run", scene, "--steps", steps, *([] if fits else ["-p", hard]), "--record", "scene.h5")
    law_of("scene.h5", ("penetration", "open_push", "inactive_push", "natural_map", "energy", "momentum"), 1e-8)


@pytest.mark.parametrize("words", [
    ("l-slot", "-p", "longer=3e-5"), ("l-slot", "-p", "longer=1e-3"), ("key-in-lock", "-p", "tooth=0.20003")])
def test_what_is_wedged_with_friction_obeys_the_law_of_alternatives(here, words):
    """The friction itself is that of a polygon, which other metrics measure."""
    run("run", *words, "-p", "mu=0.3", "--steps", "60", "--record", "scene.h5")
    law_of("scene.h5", ("penetration", "open_push", "inactive_push", "momentum"), 1e-8)


def test_judged_from_the_file_alone(recorded):
    """What judge finds is what was measured when the answers were made."""
    answers = {answer["frame"]: answer["metrics"] for answer in run_json("judge", "peg.h5")["answers"]}
    assert len(answers) == 40
    with h5py.File("peg.h5") as file:
        for frame, judged in answers.items():
            stored = file[frame]["solver_data/lemke/metrics"]
            for name in set(stored) & set(judged):  # those that apply; not what is said of each contact
                assert judged[name]["value"] == float(stored[name][()].flat[0]), (frame, name)
        stored = file[FRAME % 40]["solver_data/lemke/metrics"]
        for name in ("open_push", "inactive_push", "penetration", "energy"):
            assert float(stored[name][()].flat[0]) < 1e-12
    assert "redundant" in answers[FRAME % 40]["energy_exact"]["why"]  # judge does not leave it out


def gaps_at_the_end(frame, velocities):
    """Phi of every alternative of every group, from the arrays of the file alone: {group: [Phi of alternative 0, ...]}."""
    h, position = float(np.ravel(frame["timestep"])[0]), frame["bodies/positions"][()].reshape(-1, 3)
    group_of = np.ravel(frame["subcontacts/contact_groups"])
    first = {g: int(np.flatnonzero(group_of == g)[0]) for g in set(group_of)}
    rows = [(g, 0, c, frame["contacts/points"][c], frame["contacts/normals"][c], np.ravel(frame["contacts/gaps"])[c])
            for c, g in enumerate(group_of)]
    sub = frame["subcontacts"]
    rows += [(g, np.ravel(sub["alternatives"])[r], first[g], sub["points"][r], sub["normals"][r], np.ravel(sub["gaps"])[r])
             for r, g in enumerate(np.ravel(sub["groups"]))]
    found = {}
    for g, k, contact, point, normal, gap in rows:
        relative = np.zeros(3)
        for side, body in enumerate(frame["contacts/pairs"][contact]):
            if body > 0:  # ids of the recording are numbers from 1
                v = velocities[6 * (body - 1):6 * body]
                relative += (1 if side else -1) * (v[:3] + np.cross(v[3:], point - position[body - 1]))
        value = gap + h * normal @ relative
        found.setdefault(g, {})
        found[g][k] = min(found[g].get(k, np.inf), value)
    return found


def test_metrics_of_alternatives_by_another_program(recorded):
    """An answer that is wrong on purpose: judge and a few lines of NumPy agree on how wrong."""
    noise = np.random.default_rng(15)
    with h5py.File("peg.h5", "r+") as file:
        frame = file[FRAME % 40]
        result = frame["solver_data/lemke"]
        result["velocities"][...] += noise.normal(0, 0.05, result["velocities"].shape)
        velocities = np.ravel(result["velocities"])
        phi = {g: max(of.values()) for g, of in gaps_at_the_end(frame, velocities).items()}
        group_of, sub_of = np.ravel(frame["subcontacts/contact_groups"]), np.ravel(frame["subcontacts/groups"])
        impulse = {g: np.ravel(result["normal"])[group_of == g].sum() + np.ravel(result["sub_normal"])[sub_of == g].sum()
                   for g in phi}
        h = float(np.ravel(frame["timestep"])[0])
    (judged,) = run_json("judge", "peg.h5", "--frame", FRAME % 40, code=None)["answers"]
    metrics = judged["metrics"]
    depth = np.sqrt(sum(min(0.0, value) ** 2 for value in phi.values()))
    push = sum(impulse[g] * max(0.0, phi[g]) / h for g in phi)
    assert depth > 1e-6 or push > 1e-6
    assert abs(metrics["penetration"]["value"] - depth) < 1e-12 + 1e-9 * depth
    assert abs(metrics["open_push"]["value"] - push) < 1e-12 + 1e-9 * push


def test_other_layouts_lose_alternatives_and_nothing_else(recorded):
    assert "alternatives" in run("convert", "peg.h5", "flat.h5", "--to", "bpmd-flat").stderr
    with h5py.File("flat.h5") as file:
        assert not any("subcontacts" in file[name] for name in file if name.startswith("mbs_frame"))
    run("convert", "peg.h5", "again.h5", "--to", "bpmd")
    with h5py.File("peg.h5") as one, h5py.File("again.h5") as two:
        for name in SUB:
            path = FRAME % 40 + "/subcontacts/" + name
            assert np.array_equal(one[path], two[path])


@pytest.mark.parametrize("name, spoil, words", [
    ("groups", lambda a: a + 9, "subcontacts/groups[0]"),
    ("alternatives", lambda a: 0 * a - 1, "subcontacts/alternatives[0]"),
    ("alternatives", lambda a: 0 * a + 2000000000, "subcontacts/alternatives[0]"),
    ("normals", lambda a: 2 * a, "subcontacts/normals[0]"),
    ("roles", lambda a: a + 5, "subcontacts/roles[0]"),
    ("contact_groups", lambda a: 0 * a - 1, "subcontacts/contact_groups"),
])
def test_faults_are_named(recorded, name, spoil, words):
    with h5py.File("peg.h5", "r+") as file:
        data = file[FRAME % 40]["subcontacts"][name]
        data[...] = spoil(data[...])
    answer = run("check", "peg.h5", code=None)
    assert answer.returncode != 0 and words in answer.stdout + answer.stderr


def test_a_selection_that_does_not_exist_is_refused(recorded):
    with h5py.File("peg.h5", "r+") as file:
        file[FRAME % 40]["solver_data/lemke/selection"][...] = 77
    answer = run("judge", "peg.h5", "--frame", FRAME % 40, code=None)
    assert "but the group has" in answer.stdout + answer.stderr


def test_jammed_frames_are_solved_without_exploding_and_diagnosed(here):
    """A body between walls that are nearer than it is wide, in a file: two groups that contradict each other."""
    run("run", "peg-in-hole", "-p", "size=1.00001", "--steps", "33", "--record", "peg.h5")
    with h5py.File("peg.h5", "r+") as file:
        frame = file[FRAME % 33]
        frame["contacts/gaps"][...] = -1e-3
        frame["subcontacts/gaps"][...] = -1e-3
        normals = frame["contacts/normals"]
        for c, group in enumerate(frame["subcontacts/contact_groups"][:, 0]):
            normals[c] = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)][group]
        sub = frame["subcontacts"]
        for r, group in enumerate(sub["groups"][:, 0]):
            sub["normals"][r] = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)][group]
    answer = run("solve", "peg.h5", "--frame", FRAME % 33, "-f", "stewart-trinkle", "-s", "lemke", "--json", code=None)
    (frame,) = json.loads(answer.stdout)["frames"]
    assert frame["peg"]["status"] == "jammed"
    assert frame["metrics"]["momentum"]["value"] < 1e-12


def test_a_run_says_what_became_of_its_alternatives(here):
    words = ["l-slot", "-p", "longer=3e-5", "--steps", "40"]
    told = run_json("run", *words)["peg"]
    assert told["steps"] == told["consistent"] == 9 and told["solves"] >= 9
    assert told["held"] == told["cycle"] == told["jammed"] == 0
    assert "alternatives    in 9 steps" in run("run", *words).stdout
    assert "peg" not in run_json("run", "box-drop", "--steps", "2")


def test_unknown_ways_are_refused(recorded):
    assert "expected one of off|select|enumerate|all" in run("solve", "peg.h5", "--peg", "guess", code=USAGE).stderr


def test_ordinary_frames_are_not_concerned(here):
    run("run", "box-drop", "--steps", "5", "--record", "drop.h5")
    one, two = (run_json("solve", "drop.h5", "--frame", "4", "--peg", peg) for peg in ("select", "off"))
    assert one["frames"][0]["metrics"] == two["frames"][0]["metrics"]
    assert "why" in one["frames"][0]["metrics"]["open_push"]


# ---- campaigns ---------------------------------------------------------------------------------------------------

def table(ledger, name):
    return list(csv.DictReader(io.StringIO(run("export", ledger, "--table", name).stdout)))


LIMITS = ("--stop", "natural_map<1e-10", "--iterations", "1000", "--time-limit", "60")


@pytest.mark.parametrize("peg", [None, "select", "enumerate", "off", "all"])
@pytest.mark.parametrize("scene, frames, method", [
    (["peg-in-hole", "-p", "size=1.00001", "--steps", "34"], "30:34", ["-f", "stewart-trinkle", "-s", "lemke"]),
    (["vertex-corner", "-p", "x=-0.005", "--steps", "8"], "2:8", ["-f", "cone", "-s", "nsgs"])])
def test_campaigns_find_what_solve_finds(here, scene, frames, method, peg):
    """To the bit, however alternatives are treated."""
    run("run", *scene, "--record", "x.h5")
    how = [*method, *LIMITS, *(["--peg", peg] if peg else [])]
    solved = {frame["frame"]: frame for frame in
              run_json("solve", "x.h5", "--frame", frames, *how, "--every-iteration",
                       code=None if peg == "all" else 0)["frames"]}  # half-spaces of all faces may contradict each other
    counts = run_json("bench", "x.h5", "--frame", frames, *how, "-o", "r.db", "--quiet")
    assert counts["done"] == len(solved) and any("peg" in frame for frame in solved.values()) == (peg != "off")

    runs, compared = {entry["run"]: entry for entry in table("r.db", "runs")}, 0
    assert len(runs) == len(solved)
    for entry in runs.values():
        frame = solved[entry["place"]]
        assert entry["outcome"] == frame["status"] and int(entry["iterations"]) == frame["iterations"]
    for row in table("r.db", "metrics"):
        metric = solved[runs[row["run"]]["place"]]["metrics"][row["name"]]
        assert (row["value"] == "") == (metric["value"] is None), row
        assert metric["value"] is None or float(row["value"]) == metric["value"], row
        compared += row["name"] in ("penetration", "open_push", "inactive_push") and metric["value"] is not None
    assert compared > 0

    # the treatment is part of the method only where it is not the usual one, and the report's command says it
    usual = peg in (None, "select")
    (entry,) = table("r.db", "methods")
    assert entry["formulation_options"] == ("" if usual else f"peg={peg}")
    (told,) = run_json("report", "r.db")["methods"]
    assert (f" --peg {peg} " in told["options"]) != usual and "--with" not in told["options"]
    again = run_json("bench", "x.h5", "--frame", frames, *method, *LIMITS, "-o", "r.db", "--quiet")
    assert again["done"] == (0 if usual else len(solved))


def test_a_run_of_a_campaign_is_the_whole_selection(here):
    """Iterations are those of all ordinary frames, and the history of the last one counts on from the others; repeats give the
    same bits. The frame is one that takes two."""
    run("run", "vertex-corner", "-p", "x=-0.005", "--refine", "2", "--steps", "10", "--record", "x.h5")
    how = ["--frame", "4", "-f", "cone", "-s", "nsgs", *LIMITS]
    (solved,) = run_json("solve", "x.h5", *how, "--every-iteration", "--trace", "last.csv")["frames"]
    last = len([line for line in open("last.csv") if line[0].isdigit() or line.startswith("/")])
    assert solved["peg"]["solves"] == 2 and 0 < last < solved["iterations"]
    run("bench", "x.h5", *how, "-o", "r.db", "--repeats", "2", "--quiet")
    (entry,) = table("r.db", "runs")
    points = [int(row["iteration"]) for row in table("r.db", "history")]
    assert int(entry["iterations"]) == int(entry["kept_iteration"]) == points[-1] == solved["iterations"]
    assert points[0] == solved["iterations"] - last + 1, "what the first ordinary frame did is not an error of the last"
    assert all(points[0] <= int(row["iteration"]) <= points[-1] for row in table("r.db", "crossings"))
    assert entry["steady"] == "1" and len(table("r.db", "samples")) == 2


def test_a_campaign_file_says_what_is_done_about_alternatives(here):
    run("run", "vertex-corner", "-p", "x=-0.005", "--steps", "6", "--record", "x.h5")
    study = {"problems": ["x.h5"], "peg": "off", "methods": [{"solver": "nsgs", "with": {"mu_max": 0.5}}]}
    with open("study.json", "w") as file:
        json.dump(study, file)
    run("bench", "--campaign", "study.json", "-o", "r.db", "--quiet")
    run("bench", "--campaign", "study.json", "--peg", "select", "-o", "r.db", "--quiet")
    methods = table("r.db", "methods")
    assert sorted(row["formulation_options"] for row in methods) == ["mu_max=0.5", "peg=off mu_max=0.5"]
    assert len({row["label"] for row in methods}) == 2
    with open("study.json", "w") as file:
        json.dump(study | {"peg": "some"}, file)
    assert "unknown value 'some'; expected one of off|select" in run("bench", "--campaign", "study.json", "-o", "q.db", code=BAD_INPUT).stderr
    message = run("bench", "x.h5", "--peg", "some", "-o", "q.db", code=USAGE).stderr
    assert "bench: --peg: unknown value 'some'; expected one of off|select|enumerate|all" in message
