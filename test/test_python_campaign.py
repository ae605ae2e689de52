"""Campaigns from Python: own solvers that misbehave, records, reports, replays; and solvers of four languages at once."""
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss

SOURCE, BUILD = Path(os.environ["SS_SOURCE_DIR"]), Path(os.environ["SS_BUILD_DIR"])


@pytest.fixture(scope="module")
def frames():
    sim = ss.Scene("card-house", storeys=2).sim()
    found = []
    for _ in range(3):
        sim.step(5)
        found.append(sim.frame)
    return found


@ss.solver
def campaign_jacobi(problem, run, omega=0.25):
    "Projected Jacobi."
    x, step = run.x, omega / problem.block_diagonal
    while run.iteration(x):
        x[:] = problem.project(x - step * problem.dual(problem.apply(x)))


def test_own_solvers_that_crash_hang_eat_or_raise_are_rows(frames):
    @ss.solver
    def crashes(problem, run):
        os.abort()

    @ss.solver
    def exits(problem, run):
        os._exit(0)

    @ss.solver
    def hangs(problem, run):
        while True:
            pass

    @ss.solver
    def eats(problem, run):
        kept = []
        while True:
            kept.append(np.ones(10**7))

    @ss.solver
    def raises(problem, run):
        raise ValueError("no idea")

    own = [crashes, exits, hangs, eats, raises, campaign_jacobi]
    campaign = ss.bench(frames[:1], [*own, "nsgs"], time_limit=0.3, max_memory=300, iterations=50, progress=False)
    outcomes = {solver: list(counts) for solver, counts in campaign.outcomes.items()}
    assert outcomes == {"crashes": ["crashed"], "exits": ["crashed"], "hangs": ["hung"], "eats": outcomes["eats"],
                        "raises": ["failed"], "campaign-jacobi": ["max iterations"], "nsgs": outcomes["nsgs"]}
    records = {record["solver"]: record for record in campaign.records()}
    # either may meet the limit first: the interpreter, which raises, or the worker, which is ended
    assert outcomes["eats"] == ["out of memory"] or "MemoryError" in records["eats"]["message"]
    assert "ValueError: no idea" in records["raises"]["message"]
    assert records["nsgs"]["energy"] > 0 and records["nsgs"]["gauge_energy"] > 0 and records["crashes"].get("energy") is None
    assert "7 runs" in repr(campaign) and "campaign-jacobi" in campaign.summary()


def test_a_campaign_gives_the_numbers_of_solve(frames, tmp_path):
    campaign = ss.bench(frames, [campaign_jacobi, "pgs"], output=tmp_path / "runs.db", stop="relative_energy<1e-3",
                        set={"campaign-jacobi": {"omega": 0.2}}, iterations=300, progress=False)
    for record in campaign.records():
        options = {"omega": 0.2} if record["solver"] == "campaign-jacobi" else {}
        alone = ss.solve(frames[record["frame"]], record["solver"], stop="relative_energy<1e-3", iterations=300,
                         history=True, **options)  # as in campaigns: the rule is looked at in every iteration
        assert (record["outcome"], record["iterations"]) == (alone.status, alone.iterations)
        assert record["energy"] == alone.metrics["energy"].value
    again = ss.bench(frames, [campaign_jacobi, "pgs"], output=tmp_path / "runs.db", stop="relative_energy<1e-3",
                     set={"campaign-jacobi": {"omega": 0.2}}, iterations=300, progress=False)
    assert again.counts["before"] == 6 and again.counts["done"] == 0
    assert {row["solver"] for row in again.history()} == {"campaign-jacobi", "pgs"}


def test_a_file_that_is_open_here_can_be_used_by_the_workers(frames, tmp_path):
    path = tmp_path / "open.h5"
    with ss.Recorder(path) as recorder:
        for frame in frames:
            recorder.write(frame)
    file = ss.open(path)
    first = file[0]
    campaign = ss.bench(file, "nsgs", progress=False)
    assert campaign.counts["faulty"] == 0 and campaign.counts["done"] == 3
    assert file[0] == first


def test_own_metrics_formulations_and_mistakes(frames):
    @ss.metric(unit="N s")
    def campaign_push(frame, answer):
        "largest normal impulse"
        return answer.normal_impulse.max()

    @ss.formulation(laws=["box"])
    def campaign_ice(contact):
        "no friction"
        return [contact.normal_unknown()]

    campaign = ss.bench(frames[:1], "pgs", ["cone", "campaign-ice"], iterations=20, progress=False)
    records = {record["formulation"]: record for record in campaign.records()}
    assert records["campaign-ice"]["campaign_push"] > 0 and records["cone"]["campaign_push"] > 0
    with pytest.raises(ss.UsageError, match="unknown solver 'pgz'"):
        ss.bench(frames[:1], "pgz", progress=False)
    with pytest.raises(ss.UsageError, match="at least one"):
        ss.bench([], "pgs")
    with pytest.warns(UserWarning, match="nowhere.h5"):
        ss.bench([*frames[:1], "nowhere.h5"], "pgs", progress=False)


def test_ctrl_c_ends_a_campaign(tmp_path):
    script = tmp_path / "long.py"
    script.write_text("""
import stickslip as ss, sys
@ss.solver
def sleepy(problem, run):
    import time
    time.sleep(100)
frame = ss.run("sliding-block", steps=1).frame
print("ready", flush=True)
try:
    ss.bench(frame, sleepy, time_limit=60, progress=False)
except KeyboardInterrupt:
    print("stopped")
""")
    run = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(1.0)
    start = time.monotonic()
    run.send_signal(2)
    assert run.communicate(timeout=30)[0] == "stopped\n"
    assert time.monotonic() - start < 20


def test_pages_are_static_and_bounded(frames, tmp_path):
    replay = ss.view(frames, tmp_path / "replay.html", title="cards <&>")
    shown = replay._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "Show in 3-D" in shown and "cards &lt;&amp;&gt;" in shown
    assert (tmp_path / "replay.html").read_text() == replay.html and len(shown) < 5e6
    assert replay._repr_png_()[:4] == b"\x89PNG"
    assert "too much for a notebook" in ss.view(frames, max_size=1.0)._repr_html_() or len(shown) < 1e6
    small = ss.Page(replay.html, "t", max_size=0.01)
    assert "too much for a notebook" in small._repr_html_()
    campaign = ss.bench(frames[:1], "nsgs", progress=False)
    report = ss.report(campaign, tmp_path / "report.html", title="one run")
    assert "one run" in report.html and "iframe" in report._repr_html_() and report._repr_png_() is None
    with pytest.raises(ss.InputError, match="nowhere.db"):
        ss.report("nowhere.db")


def test_solvers_of_four_languages_in_one_campaign(frames, tmp_path):
    """Python, Octave, a pipe and C beside ours; and one of each kind that dies."""
    plugin = tmp_path / "mine.so"
    flags = subprocess.run([sys.executable, "-m", "stickslip", "--cflags", "--libs"], check=True, capture_output=True,
                           text=True).stdout.split()
    subprocess.run(["cc", "-shared", "-fPIC", SOURCE / "examples/plugin/my_solver.c", *flags, "-o", plugin], check=True)

    @ss.solver
    def python_dies(problem, run):
        os.abort()

    pipe = SOURCE / "examples/pipe/block_pgs.py"
    commands = [ss.command(f"{sys.executable} {pipe}", "a-pipe"), ss.command("kill -9 $$", "pipe-dies"), *octave_commands()]
    names = ["campaign-jacobi", "python-dies", "a-pipe", "pipe-dies", "nsgs"]
    names += ["an-octave", "octave-dies"] if len(commands) == 4 else []
    mine = own_name(plugin)
    campaign = ss.bench(frames[:2], [campaign_jacobi, python_dies, mine, "nsgs", *commands], plugins=[plugin], iterations=40,
                        time_limit=5, progress=False)
    outcomes = campaign.outcomes
    assert {*names, mine} == set(outcomes), outcomes
    assert outcomes["python-dies"] == {"crashed": 2} and outcomes["pipe-dies"] == {"failed": 2}
    assert outcomes.get("octave-dies", {"failed": 2}) == {"failed": 2}
    for solver in set(outcomes) - {"python-dies", "pipe-dies", "octave-dies"}:
        assert sum(outcomes[solver].get(name, 0) for name in ("converged", "max iterations")) == 2, (solver, outcomes)


def own_name(plugin):
    """The solver that a plug-in brings."""
    before = subprocess.run([BUILD / "stickslip", "solvers"], check=True, capture_output=True, text=True).stdout
    after = subprocess.run([BUILD / "stickslip", "solvers", "--plugin", plugin], check=True, capture_output=True, text=True).stdout
    new = set(after.split()) - set(before.split())
    return next(word for word in after.split() if word in new)


def octave_commands():
    """A solver in Octave, and one that kills its Octave; none without the toolbox."""
    toolbox, built = SOURCE / "bindings/octave", BUILD / "octave"
    if not shutil.which("octave-cli") or not (built / "stickslip_mex.mex").exists():
        return []
    folders = ", ".join(f"'{folder}'" for folder in (toolbox / "inst", toolbox / "examples", built))
    octave = "octave-cli --quiet --norc --no-history --eval"
    return [ss.command(f'{octave} "addpath({folders}); ss_serve(@projected_jacobi)"', "an-octave"),
            ss.command(f'{octave} "addpath({folders}); ss_serve(@(p) exit(3))"', "octave-dies")]


def test_a_command_is_named_as_the_library_names_it():
    assert [ss.command(line).name for line in ("./mine", "bin/my.solver.py --fast", "perl jacobi.pl")] == ["mine", "my.solver", "perl"]


def test_alternatives_are_selected_unless_said_otherwise(tmp_path):
    sim = ss.Scene("vertex-corner", x=-0.005).sim()
    sim.step(5)
    campaign = ss.bench(sim.frame, "nsgs", stop="natural_map<1e-10", progress=False, output=tmp_path / "r.db")
    ss.bench(sim.frame, "nsgs", stop="natural_map<1e-10", peg="off", progress=False, output=tmp_path / "r.db")
    result = ss.solve(sim.frame, solver="nsgs", stop="natural_map<1e-10", iterations=1000)
    assert result.peg is not None
    found = {record["formulation_options"]: record["penetration"] for record in campaign.records()}
    assert set(found) == {"", "peg=off"}
    assert found[""] == result.metrics["penetration"].value
