"""Studies: every one is run at reduced size, every claim is looked at by number, and what it writes is opened again."""
import csv
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import h5py
import numpy as np
import pytest

from test_cli import PROGRAM, RESOURCES, SOURCE, USAGE, here, run
from test_solve import registered

STUDIES = registered("src/paper/papers.def", "SS_PAPER")
VERDICTS = ["agrees", "reproduced", "holds", "misprint", "differs", "fails"]


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Everything at reduced size, with its files."""
    directory = tmp_path_factory.mktemp("studies")
    ended = subprocess.run([PROGRAM, "paper", "all", "--quick", "--quiet", "--json", "-o", directory], capture_output=True,
                           text=True, timeout=900)
    assert ended.returncode == 0, ended.stderr
    return directory, {study["id"]: study for study in json.loads(ended.stdout)["experiments"]}


@pytest.fixture
def values(studies):
    def of(name):
        return {entry["name"]: entry for entry in studies[1][name]["values"]}
    return of


# ---- all of them -----------------------------------------------------------------------------------------------

def test_none_is_skipped_and_none_fails(studies):
    _, done = studies
    assert list(done) == STUDIES
    for name, study in done.items():
        assert study.get("error") is None and study["reproduced"] is True, name
        assert [key for key in study["verdicts"]] == VERDICTS and study["quick"] is True
        for verdict in VERDICTS:
            assert study["verdicts"][verdict] == sum(entry["verdict"] == verdict for entry in study["values"])
        assert len({entry["name"] for entry in study["values"]}) == len(study["values"]), f"{name}: a name twice"
        for entry in study["values"]:
            where = f"{name}: {entry['name']}"
            assert entry["verdict"] not in ("misprint", "differs") or entry["note"], where
            assert entry["verdict"] not in ("agrees", "reproduced", "misprint", "differs") or entry["printed"], where
            assert isinstance(entry["ours"], (int, float)), where


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.targets += [value for key, value in attributes if tag == "a" and key == "href"]

    def handle_data(self, data):
        self.words.append(data)


def test_what_is_written_is_listed_and_linked(studies):
    directory, done = studies
    listed = [name for study in done.values() for name in study["files"]]
    assert len(listed) == len(set(listed)) and set(listed) | {"index.html"} == set(os.listdir(directory))
    for name, study in done.items():
        page = Links((directory / f"{name}.html").read_text())
        assert set(page.targets) <= set(study["files"]) | {"index.html"}, name
        text = " ".join(" ".join(page.words).split())
        for entry in study["values"]:
            assert " ".join(entry["name"].split()) in text and (entry["note"] or "") in text, name
        for file in study["files"]:
            if file.endswith((".svg", ".h5")) or "_" in file:
                assert file in page.targets, f"{file} is not linked"
    index = Links((directory / "index.html").read_text())
    assert set(index.targets) == {f"{name}.html" for name in STUDIES}


def test_figures_are_drawings_and_their_numbers_are_numbers(studies):
    directory, done = studies
    for study in done.values():
        for file in study["files"]:
            if file.endswith(".svg"):
                root = xml.etree.ElementTree.parse(directory / file).getroot()
                assert root.tag.endswith("svg") and "nan" not in (directory / file).read_text(), file
            if file.endswith(".csv"):
                rows = list(csv.reader((directory / file).open()))
                assert len(rows) > 1 and len({len(row) for row in rows}) == 1, file
            if file.endswith(".h5"):
                with h5py.File(directory / file) as frames:
                    assert any(name.startswith("mbs_frame") for name in frames["simulation_000001"]), file


def test_a_study_that_cannot_run_does_not_hide_the_others(here):
    Path("out").mkdir()
    Path("out/rod.html").mkdir()  # a page cannot be written there
    ended = run("paper", "rod", "-o", "out", code=RESOURCES)
    assert "paper rod" in ended.stderr and "rod.html" in ended.stderr


def test_papers_are_listed_and_mistyped_ones_named(here):
    text = run("paper").stdout
    assert all(re.search(rf"^  {name} ", text, re.M) for name in STUDIES)
    assert "did you mean rod?" in run("paper", "rood", code=USAGE).stderr
    assert "misprint" in run("paper", "rod").stdout and "reproduced" in run("paper", "rod").stdout
    Path("file").touch()
    run("paper", "rod", "-o", "file/x", code=RESOURCES)


def test_the_documentation_lists_every_study():
    text = (SOURCE / "docs" / "papers.md").read_text()
    assert all(f"| `{name}` |" in text for name in STUDIES)


# ---- the energy error, 2019 ------------------------------------------------------------------------------------

def test_rod_both_as_printed_and_as_it_must_be(values):
    values = values("rod")

    def check(name, printed, ours, verdict):
        entry = values[name]
        assert (entry["printed"], entry["verdict"]) == (printed, verdict)
        assert entry["ours"] == pytest.approx(ours, rel=1e-4)  # the numbers here are rounded, not the program's

    check("A11 = A22", "0.1", 1.0, "misprint")
    check("x2", "-0.1019", -0.1019, "agrees")
    check("w1", "-0.2981", -0.24715, "misprint")
    check("e1 of the printed state", "4.44e-2", 4.4432e-2, "agrees")
    check("e2 of the printed state", "5.2e-3", 5.1918e-3, "agrees")
    check("e of the printed state", "4.96e-2", 4.9624e-2, "agrees")
    check("e1, effective mass 1.33 kg", "5.91e-2", 5.9094e-2, "agrees")
    check("e, effective mass 1.33 kg", "6.30e-2", 6.2998e-2, "agrees")
    check("e1", "4.44e-2", 3.05416e-2, "misprint")
    check("e", "4.96e-2", 3.57334e-2, "misprint")
    check("e, exact effective mass", "6.30e-2", 4.46159e-2, "misprint")
    check("effective mass, off the diagonal", "0.66", 2 / 3, "misprint")
    check("Fischer-Burmeister 2", "0.1019", 0.2038, "misprint")
    assert values["x1 of the solution"]["ours"] == pytest.approx(0.329533, abs=5e-7)
    assert values["x2 of the solution"]["ours"] == pytest.approx(0.062867, abs=5e-7)


def test_point_mass_by_hand(values):
    values = values("point-mass")
    mass, speed, impulse = 2.0, 0.5, 0.25
    expected = {"(a)": 0.0, "(b)": mass * speed**2 / 2, "(c)": impulse**2 / (2 * mass), "(d)": 0.0}
    for name, entry in values.items():
        assert entry["verdict"] == "reproduced"
        assert name[:3] not in expected or entry["ours"] == expected[name[:3]]
    assert len(values) == 10
    assert any(name.startswith("(a) rests") for name in values)  # as Fig. 5 of the paper has them
    assert any(name.startswith("(d) leaves") for name in values)


def test_isolines_are_drawn_and_checked(studies, values):
    directory, done = studies
    checked = values("isolines")
    assert [entry["ours"] for name, entry in checked.items() if "wrong zeros" in name] == [0] * 6
    assert [entry["ours"] for name, entry in checked.items() if "second difference" in name] == [1, 1]  # a_ii
    figures = [name for name in done["isolines"]["files"] if name.endswith(".svg")]
    assert len(figures) == 6
    for name in figures:
        root = xml.etree.ElementTree.parse(directory / name).getroot()
        texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert {"impulse x", "velocity w", "0: solutions"} <= set(texts)
    grid = np.genfromtxt(directory / "isolines_contact.csv", delimiter=",", names=True)
    x, w = grid["x"], grid["w"]
    assert np.allclose(grid["energy"], (x - np.maximum(x - w, 0)) ** 2 / 2, atol=1e-9)
    assert np.allclose(grid["natural_residual"], np.maximum(np.maximum(-w, 0), np.abs(np.minimum(x, np.maximum(w, 0)))),
                       atol=1e-9)


# ---- RPI-MATLAB-Simulator, 2013 --------------------------------------------------------------------------------

def test_the_small_peg_passes_and_the_large_one_stands(values):
    values = values("peg-in-hole")
    fall = 1.5 - 9.81 * 0.01**2 * 100 * 101 / 2
    assert values["PEG: height of the small peg after 1 s"]["ours"] == pytest.approx(fall, abs=1e-9)
    assert values["PEG: height of the large peg"]["ours"] == pytest.approx(1.000005, abs=1e-9)
    assert values["Stewart-Trinkle, all near faces: small peg"]["ours"] == pytest.approx(0.999995, abs=1e-6)


def test_the_vertex_passes_the_corner_by_exact_geometry_alone(values):
    values = values("formulations")
    assert values["Fig. 7: PEG"]["ours"] == 0 and values["passing: PEG"]["ours"] == 0
    # solutions of [2.5 -1.5; -1.5 2.5] x = rest, by hand
    assert values["Fig. 7: Stewart-Trinkle, top"]["ours"] == pytest.approx(2.37381, abs=5e-6)
    assert values["Fig. 7: Anitescu-Potra, top"]["ours"] == pytest.approx(1.93631, abs=5e-6)


def test_joint_errors_drift_without_correction_and_are_bounded_with_it(values):
    values = values("pendulum-joint-error")
    assert values["with correction: largest position error"]["ours"] <= 1e-5
    assert values["with correction: largest velocity error"]["ours"] <= 1e-5
    assert values["without correction: position error at the end"]["ours"] > 0.01
    # the velocity error is that of one step: the only claim of the figure that ours does not show, with its reason
    drift = values["without correction: velocity error, last over first 2.5 s"]
    assert drift["verdict"] == "differs" and drift["ours"] < 1.2
    assert values["without correction: velocity error, h = 0.01 s over h = 0.005 s"]["ours"] == pytest.approx(2, rel=0.1)


def test_coordinates_agree_to_the_order_of_their_rules(values):
    """Five mechanisms in both kinds tend to one motion, to first order; measured against h/32, the order is 0.1 above."""
    values = values("coordinates")
    order = {name: entry["ours"] for name, entry in values.items() if ": order" in name}
    assert len(order) == 10 and all(of == pytest.approx(1, abs=0.15) for of in order.values())


def test_newton_solvers_converge_on_every_sample(values, studies):
    values = values("spheres125")
    shares = [entry["ours"] for name, entry in values.items() if name.endswith("samples that converge")]
    assert len(shares) == 11 and min(shares) >= 0.9
    assert values["fischer-newton, LCP of the friction polygon: samples that converge"]["ours"] == 1
    assert sum(name.endswith(".svg") for name in studies[1]["spheres125"]["files"]) == 11


def test_the_table_of_solvers_is_measured(values):
    values = values("solver-table")
    assert len(values) == 8 * 4
    for name in ("projected Gauss-Seidel", "fixed point (prox)"):
        assert values[f"{name}: LCP, no friction"]["verdict"] == "reproduced"
        polygon = values[f"{name}: LCP, friction polygon"]
        assert (polygon["verdict"], polygon["ours"]) == ("differs", 0)
    for name in ("interior point", "Fischer-Newton", "minmap-Newton"):
        assert all(values[f"{name}: {kind}"]["ours"] == 1 for kind in
                   ("LCP, no friction", "LCP, friction polygon", "mLCP, joints and friction boxes", "NCP, friction cones"))
    for name in ("Lemke", "PATH"):
        assert "not applicable" in values[f"{name}: NCP, friction cones"]["note"]


def test_exact_geometry_is_right_for_every_tolerance(values):
    outcomes = {name: entry["ours"] for name, entry in values("formulations").items() if name.startswith("right outcomes")}
    (best,) = [count for name, count in outcomes.items() if name.endswith(": PEG")]
    assert best == 9 and max(count for name, count in outcomes.items() if not name.endswith(": PEG")) < best


# ---- the wall, 2019 --------------------------------------------------------------------------------------------

def test_the_wall_of_figure_9(studies, values):
    directory, _ = studies
    checked = values("brick-wall")
    for name in ("Fischer-Burmeister", "natural residual"):
        assert 5 <= checked[f"{name}: peak of the mean"]["ours"] <= 15
        assert checked[f"{name}: peak over start"]["ours"] > 1.5
        assert checked[f"decay of the energy error over that of {name}"]["ours"] == pytest.approx(2, rel=0.05)
    assert checked["energy error: peak of the mean"]["ours"] == 0
    # the same from the numbers beside the figures, by NumPy
    curves = {}
    for name in ("natural-residual", "energy"):
        rows = list(csv.DictReader((directory / f"brick-wall_all_{name}.csv").open()))
        curves[name] = np.array([float(row["y"]) for row in rows]).reshape(-1, 101)
    assert len(curves["energy"]) == 40  # steps, at reduced size
    mean = {name: curve.mean(axis=0) for name, curve in curves.items()}
    assert mean["natural-residual"].argmax() == checked["natural residual: peak of the mean"]["ours"]
    assert (curves["energy"].max(axis=1) == curves["energy"][:, 0]).all()
    slope = {name: np.polyfit(np.arange(20, 101), np.log10(curve[20:]), 1)[0] for name, curve in mean.items()}
    assert slope["energy"] / slope["natural-residual"] == pytest.approx(
        checked["decay of the energy error over that of natural residual"]["ours"], rel=1e-6)


# ---- BPMD, 2015 ------------------------------------------------------------------------------------------------

def loop_table(directory):
    rows = csv.DictReader((directory / "lemke-loop_frames.csv").open())
    return [(row["frame"], int(row["pivots"]), float(row["energy (J)"]), float(row["alignment"])) for row in rows]


def check_loop(printed, directory):
    told = [line.split() for line in printed.splitlines()]
    expected = loop_table(directory)
    assert [(name, int(pivots)) for name, pivots, *_ in told] == [(name, pivots) for name, pivots, *_ in expected]
    for (*_, energy, alignment), (*_, ours, aligned) in zip(told, expected):
        # nine digits are printed; of energies that are zero, only that they are
        assert float(energy) == pytest.approx(ours, rel=1e-7, abs=1e-18)
        assert np.isnan(aligned) or float(alignment) == pytest.approx(aligned, rel=1e-7)


def test_the_loop_of_the_paper_prints_the_same_in_python(studies):
    directory, _ = studies
    ended = subprocess.run([sys.executable, directory / "lemke-loop.py", directory / "lemke-loop_logs.h5"],
                           capture_output=True, text=True, check=True)
    check_loop(ended.stdout, directory)


def test_the_loop_of_the_paper_prints_the_same_in_octave(studies):
    directory, _ = studies
    mex = Path(os.environ["SS_BUILD_DIR"]) / "octave"
    if not shutil.which("octave-cli") or not list(mex.glob("*.mex")):
        pytest.skip("octave-cli or our MEX function is missing (tools/setup test)")
    paths = f"'{SOURCE / 'bindings' / 'octave' / 'inst'}', '{mex}'"
    code = f"addpath({paths}); argv = @() {{'{directory / 'lemke-loop_logs.h5'}'}}; source('{directory / 'lemke-loop.m'}')"
    ended = subprocess.run(["octave-cli", "--quiet", "--norc", "--no-history", "--eval", code], capture_output=True,
                           text=True, check=True, stdin=subprocess.DEVNULL)
    check_loop(ended.stdout, directory)


def test_stick_slip_transition_isotropy_and_creep(values):
    values = values("stick-slip")
    assert values["tilting plane: slips at atan mu, error"]["ours"] <= 0.02  # degrees, one step
    assert values["isotropy, cone: distance, worst error"]["ours"] < 1e-6
    assert values["isotropy, polygon of 4 sides: longest distance"]["ours"] == pytest.approx(2**0.5, rel=0.05)
    assert values["belt: period over the closed form"]["ours"] == pytest.approx(1, abs=0.02)
    assert values["grasped block: creep"]["ours"] < 0.01  # um/s


# ---- findings of ours ------------------------------------------------------------------------------------------

def test_the_diagonal_is_too_small_by_one_plus_the_mass_ratio(studies):
    directory, _ = studies
    rows = list(csv.DictReader((directory / "mass-ratio_one-row.csv").open()))
    assert len(rows) == 14
    for row in rows:
        ratio = float(row["mass ratio"])
        # by hand: the wrong row moves 1 mm/s of m + M, or of M alone
        true = 0.5e-6 * (ratio + (row["wrong row"] == "light on ground"))
        assert float(row["true (J)"]) == pytest.approx(true, rel=1e-3)  # printed with four digits
        assert float(row["exact (J)"]) == pytest.approx(true, rel=1e-3)
        assert float(row["true over diagonal"]) == pytest.approx(1 + ratio, rel=1e-5)


def test_units_change_rankings_but_not_those_of_the_energy_error(values):
    values = values("units")
    assert values["energy error: pairs whose order changes"]["ours"] == 0
    for name in ("Fischer-Burmeister", "natural residual"):
        assert values[f"{name}, kg to g: pairs that flip, brick-wall"]["ours"] > 0.05
        assert values[f"{name}, kg to g: pairs that flip, four-bar"]["ours"] == 0
        assert values[f"{name}, m to mm: pairs that flip, any scene with joints"]["ours"] > 0.005


# ---- machines and piles, 2013 and 2015 -------------------------------------------------------------------------

def test_the_arm_holds_its_block_and_gauss_seidel_does_not(studies, values):
    """Coulomb's law: nothing moves in the hand. A micrometre per second is what 1e-8 leaves, with room for other rounding."""
    directory, _ = studies
    values = values("powerball-grasp")
    assert values["auto: the block is lifted, carried and held, seconds"]["ours"] == pytest.approx(3.6, abs=0.02)
    assert 0 <= values["auto: creep in the hand"]["ours"] < 1
    assert values["auto: largest joint error"]["ours"] < 1e-3
    assert values["pgs with 200 iterations: hold time"]["ours"] < 2
    with open(directory / "powerball-grasp_holding.csv") as rows:
        rows = {row["method"]: row for row in csv.DictReader(rows)}
    assert rows["auto, to 1e-8"]["outcome"] == "holds" and rows["pgs, 200 iterations"]["outcome"] == "lost"
    assert float(rows["pgs, 200 iterations"]["slip, mm"]) > 10 > 1e3 * float(rows["auto, to 1e-8"]["slip, mm"])


def test_light_fingers_hold_a_goblet_only_if_steps_are_solved(values):
    values = values("mass-ratio-grasp")
    assert values["auto: shortest hold time over all ratios"]["ours"] == pytest.approx(2.0, abs=0.02)
    assert values["stopped early: methods that lose the goblet"]["ours"] == 2
    assert values["stopped early: largest ratio at which one holds"]["ours"] == 100  # of 1e2 and 1e4
    assert values["auto: creep in the hand"]["ours"] < 10


def test_two_recordings_stand_side_by_side(studies):
    directory, done = studies
    for name in ("powerball-grasp", "mass-ratio-grasp", "wheel-loader"):
        frames = re.findall(r'<iframe [^>]*src="([^"]+)"', (directory / f"{name}.html").read_text())
        assert len(set(frames)) == 2 and set(frames) <= set(done[name]["files"]), name


def test_the_log_pile_is_counted_contact_by_contact(studies, values):
    directory, _ = studies
    values = values("log-pile")
    for name in ("pgs", "morales", "alart-curnier", "block pivot + pgs split"):
        assert 0 < values[f"{name}: contacts that slide in a bad direction"]["ours"] < 50
    assert values["auto: contacts that slide in a bad direction"]["ours"] == 0
    assert values["auto: contacts with negative friction"]["ours"] == 0
    # bars of a panel are the contacts that carry, by the answers that are stored with the frames
    total = {}
    with open(directory / "log-pile_ours.csv") as rows:
        for row in csv.DictReader(rows):
            if row["series"] in ("bad sliding direction", "good sliding", "sticking"):
                total[row["x"]] = total.get(row["x"], 0) + float(row["y"])
    with h5py.File(directory / "log-pile_frames.h5") as file:
        frames = [frame for name, frame in sorted(file["simulation_000001"].items()) if name.startswith("mbs_frame")]
        resting = [int((frame["solver_data/ours/normal"][()] > 1e-9).sum()) if "solver_data/ours/normal" in frame else 0
                   for frame in frames]
    assert len(frames) == len(total)
    for counted, carrying in zip(total.values(), resting):
        assert abs(counted - carrying) <= 2  # a contact may carry less than what counts as resting


def test_a_small_global_error_hides_larger_ones(values):
    values = values("log-pile-pgs")
    assert values["prox: global error, worst frame"]["ours"] < 2e-5
    assert values["prox: residual tangential velocity over the global error"]["ours"] > 10
    assert values["auto: residual tangential velocity, worst frame"]["ours"] < 1e-9


def test_the_loader_digs_with_every_solver_but_not_as_well(studies, values):
    directory, _ = studies
    values = values("wheel-loader")
    assert values["auto: steps that miss the rule"]["ours"] == 0
    assert values["pgs with 200 iterations: frames solved from zero"]["ours"] <= 4
    assert values["split: mean creep"]["ours"] > 1e-4
    assert values["creep: split over auto"]["ours"] > 100
    with open(directory / "wheel-loader_drives.csv") as rows:
        loads = {row["method"]: float(row["load, kg"]) for row in csv.DictReader(rows)}
    assert all(50 < load < 1000 for load in loads.values())  # thirty rocks weigh 1.6 t


def test_the_forklift_leaves_its_circle_by_the_last_iterate_alone(studies, values):
    forklift = values("forklift")
    assert forklift["keep last: share of the circle it follows"]["ours"] < 0.95
    assert forklift["best iterates: largest distance from the reference"]["ours"] < 0.3
    assert forklift["best iterates, 50 iterations: last spike"]["ours"] < 3.0
    assert forklift["differential: outer over inner front wheel"]["ours"] == pytest.approx(1.4, abs=0.1)
    assert forklift["reference: iterations per step, mean"]["ours"] > 15  # why 15 is not the limit that decides
    assert 8 < forklift["reference: closes the circle after"]["ours"] < 12
    directory, _ = studies
    with h5py.File(directory / "forklift_reference.h5") as file:
        frame = file["simulation_000001/mbs_frame000005"]
        assert frame["constraints"].attrs["block_order"] == b"pairs, further"
        # converter, transmission and differential, each on the chassis, too
        assert frame["constraints/further_rows"].shape[0] == 1 + 1 + 2
        assert frame["contacts/pairs"].shape[0] == 8  # two points for each wheel
