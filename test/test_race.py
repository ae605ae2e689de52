"""The comparison with our peers: Siconos as a plug-in of a small campaign, where it is installed; and what the commands say where a
peer is missing. What is compared, and how, is in test_clocks.py and test_against.c."""
import json
import os
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from test_bench import rows
from test_cli import BAD_INPUT, DONE, PROGRAM, SOURCE, USAGE, here, run, run_json, write_fclib
from test_solve import only, write_local

ENGINES = Path(PROGRAM).parent / "race_engines"
PLUGIN = Path(PROGRAM).parent / "siconos.so"
siconos = pytest.mark.skipif(not PLUGIN.exists(), reason="Siconos is not installed (tools/setup peers), so its plug-in is not built")


def bench_peers(*words, **environment):
    return subprocess.run([SOURCE / "tools/bench-peers", *words], capture_output=True, text=True, timeout=60, env={
        **os.environ, "SS_BENCH_PEERS_DIR": str(Path.cwd() / "out"), **environment})


@siconos
def test_siconos_as_a_plug_in(here):
    write_local("six.hdf5", 3)
    words = ["solve", "six.hdf5", "--plugin", PLUGIN, "--solver", "siconos"]
    answer = only(run_json(*words, "--set", "method=NSGS-AC-GP", "--stop", "natural_map<1e-6"))
    assert answer["status"] == "converged"
    odd = only(run_json(*words, "--set", "method=2D-NSGS", code=None))
    assert odd["status"] == "not applicable"
    assert "NSGS-AC-GP" in run(*words, "--set", "method=NSGS-XY", code=USAGE).stderr


@siconos
def test_siconos_tries_again_until_the_rule_holds(here):
    """ADMM stops by a measure of its own, with errors above the goal at first: by our measure it gets there when it tries again,
    and not when it may not."""
    write_local("six.hdf5", 3)
    words = ["solve", "six.hdf5", "--plugin", PLUGIN, "--solver", "siconos", "--set", "method=ADMM", "--set", "tolerance=1e-2",
             "--stop", "natural_map<1e-6"]
    errors = {tries: only(run_json(*words, "--set", f"tries={tries}", code=None))["metrics"]["natural_map"]["value"]
              for tries in [1, 16]}
    assert errors[16] < 1e-6 < errors[1]


@siconos
def test_a_small_race(here):
    """Both sides are judged by the same function; the table has a line for every problem and rule."""
    write_local("six.hdf5", 3)
    write_fclib("ball.hdf5")
    run("run", "sliding-block", "--steps", 1, "--record", "one.h5")
    Path("race.json").write_text(json.dumps({
        "problems": ["six.hdf5", "ball.hdf5", "one.h5"], "plugins": [str(PLUGIN)],
        "methods": [{"solver": ["auto", "nsgs"]}, {"solver": "siconos", "set": {
            "method": ["NSGS-AC-GP", "FPP", "global-ADMM", "2D-NSGS"], "storage": ["usual", "sparse"]}}],
        "stop": ["natural_map<1e-4", "natural_map<1e-8"], "clock": "cpu", "iterations": 100000, "time_limit": 5,
        "limit_by": "auto:30:0.1:1", "grace": 0.05, "repeats": 1, "repeat_best": 1}))
    run("bench", "--campaign", "race.json", "-o", "race.db", "--quiet")
    runs = rows("race.db", "runs")
    assert {row["outcome"] for row in runs if row["solver"] == "auto"} == {"converged"}
    assert {row["outcome"] for row in runs if "2D-NSGS" in row["solver_options"]} == {"not applicable"}
    # the global form is there where there are bodies, and Siconos solves it
    assert {row["file"] for row in runs if "global" in row["solver_options"] and row["outcome"] == "converged"} == {"one.h5"}
    words = ["report", "race.db", "--measure", "natural_map", "--tolerance", "1e-4", "--tolerance", "1e-8", "--whole-call", "--against",
             "auto", "--best-of", "siconos"]
    scores = run_json(*words)["against"]["scores"]
    assert [score["both"] for score in scores] == [3, 3] and all(score["geometricMean"] > 0 for score in scores)
    table = run(*words).stdout
    assert table.count("geometric mean") == 2 and table.count("six ") == table.count("ball ") == table.count("one 0") == 2


def test_help_is_no_mistake():
    for program in [SOURCE / "tools/bench-peers", Path(PROGRAM).parent / "bench_self"]:
        ended = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60)
        assert ended.returncode == DONE and ended.stdout.startswith("usage:") and ended.stderr == ""


def test_tables_of_the_documents_are_those_of_a_whole_run(here):
    for words in ["--quick"], ["--alone"], ["some.hdf5"]:
        ended = bench_peers("--docs", *words)
        assert ended.returncode == USAGE and "--docs is for the whole comparison" in ended.stderr


def test_the_command_says_what_is_missing(here):
    ended = bench_peers(SS_BUILD_DIR=str(Path.cwd()))
    assert ended.returncode == BAD_INPUT and "build first" in ended.stderr
    Path("stickslip").symlink_to(PROGRAM)
    ended = bench_peers("--quick", SS_BUILD_DIR=str(Path.cwd()))
    assert ended.returncode == DONE and ended.stdout == ""
    assert "engines are not compared" in ended.stderr and "Siconos is not installed (tools/setup peers" in ended.stderr


@pytest.mark.skipif(not ENGINES.exists(), reason="ODE, Bullet or MuJoCo is not installed (tools/setup peers)")
def test_engines_name_wrong_words(here):
    for words, says in [([], "usage:"), (["measure", "brick-wall", "newton"], "newton: no such engine"),
                        (["measure", "brick-wall", "bullet,iterations=no"], "iterations=no: needs a positive number"),
                        (["measure", "brick-wall", "ours,effort=1"], "effort"), (["measure", "no-wall", "ours"], "no such scene"),
                        (["measure", "brick-wall", "ours", "clock=sun"], "no such word")]:
        ended = subprocess.run([ENGINES, *words], capture_output=True, text=True, timeout=60)
        assert ended.returncode == USAGE and says in ended.stderr


def measure(scene, engine, *words):
    ended = subprocess.run([ENGINES, "measure", scene, engine, *words], capture_output=True, text=True, timeout=60)
    assert ended.returncode == DONE, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.skipif(not ENGINES.exists(), reason="ODE, Bullet or MuJoCo is not installed (tools/setup peers)")
@pytest.mark.parametrize("engine", ["ours", "ode-quick", "ode-step", "bullet", "mujoco"])
def test_every_engine_swings_the_same_chain_and_rolls_the_same_cart(engine):
    """The bridges build the same mechanics: a chain falls as far, a cart rolls as far, and joints hold. MuJoCo's contacts are soft and
    Bullet's and ODE's joints spongy, so that distances agree to 1 %."""
    chain = measure("chain,weight=5", f"{engine},dt=0.002", "time=0.4")
    cart = measure("cart", f"{engine},dt=0.002", "time=0.5")
    assert not chain["failed"] and not cart["failed"]
    assert chain["drift"] == pytest.approx(0.837, rel=0.01) and chain["joint_error"] < 0.02
    assert cart["drift"] == pytest.approx(0.1634, rel=0.01) and cart["joint_error"] < 0.001 and cart["penetration"] < 0.002


@pytest.mark.skipif(not ENGINES.exists(), reason="ODE, Bullet or MuJoCo is not installed (tools/setup peers)")
@pytest.mark.parametrize("engine", ["ours", "ode-quick", "bullet", "mujoco"])
def test_every_engine_drops_the_same_rocks(engine):
    """Nine rocks fall 0.2 m freely: all of them by g t (t + h) / 2, and none has anything to overlap yet."""
    rocks = measure("rock-pile,count=9", f"{engine},dt=0.002", "time=0.1")
    assert rocks["drift"] == pytest.approx(0.5 * 9.81 * 0.1 * 0.102, rel=1e-4) and rocks["penetration"] == 0


@pytest.mark.skipif(not ENGINES.exists(), reason="ODE, Bullet or MuJoCo is not installed (tools/setup peers)")
def test_what_takes_too_long_is_cut_off_and_says_so():
    cut = measure("brick-wall", "ours,dt=0.001", "time=100", "limit=0.01")
    assert cut["cut"] and cut["time"] < 100


@pytest.mark.skipif(not ENGINES.exists(), reason="ODE, Bullet or MuJoCo is not installed (tools/setup peers)")
def test_a_race_of_engines_continues_where_it_was_interrupted(here):
    """The second time nothing is measured; the page has all settings, the table a line for every error."""
    words = [SOURCE / "tools/race-engines", "--quick", "massratio"]
    environment = {**os.environ, "SS_BUILD_DIR": str(Path(PROGRAM).parent), "SS_RACE_DIR": str(Path.cwd())}
    first = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
    assert first.returncode == DONE, first.stderr
    ledger = Path("quick/measurements.jsonl")
    before = ledger.read_text()
    ledger.write_text(before + '{"key": "cut off in the mid')
    again = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
    assert "left out" in again.stderr and ledger.read_text().startswith(before) and len(before.splitlines()) > 10
    assert again.stdout == first.stdout
    assert all(f"| massratio | {error} |" in first.stdout for error in ["penetration", "drift", "energy error"])
    page = Path("quick/engines.html").read_text()
    assert "ODE quickstep" in page and '"level"' in page and "http://" not in page.split("</style>")[0]


def test_tables_in_documents_are_put_between_their_markers(here):
    """What stands around them stays; a page that lacks a marker is left as it is, with an error that names it."""
    sys.path.insert(0, str(SOURCE / "tools"))
    import marked
    page = Path("page.md")
    page.write_text("before\n<!-- best: written by tools/race --docs -->\nold\nolder\n<!-- best: end -->\nafter\n")
    marked.put(page, "race", {"best": ["| new |"]})
    once = page.read_text()
    assert once == "before\n<!-- best: written by tools/race --docs -->\n| new |\n<!-- best: end -->\nafter\n"
    with pytest.raises(SystemExit, match="worst"):
        marked.put(page, "race", {"best": ["| newer |"], "worst": []})
    assert page.read_text() == once


def test_every_table_that_a_tool_writes_has_its_end():
    for page in [SOURCE / "README.md", *(SOURCE / "docs").glob("*.md")]:
        text = page.read_text()
        for name, tool in re.findall(r"<!-- (\w+): written by tools/([\w-]+) --docs -->", text):
            assert (SOURCE / "tools" / tool).exists() and text.count(f"<!-- {name}: end -->") == 1, (page.name, name)


def test_the_readme_says_of_the_race_what_its_page_says():
    """Both are written by one call of the tool."""
    said = [re.findall(r"<!-- sentence: written by tools/bench-peers --docs -->\n.*?([\d.]+) times \(tolerance 1e-4\) and "
                       r"([\d.]+) times \(1e-8\)", page.read_text()) for page in (SOURCE / "README.md", SOURCE / "docs/race.md")]
    assert len(said[0]) == 1 and said[0] == said[1]


def test_tables_of_speed_are_those_of_the_program(here):
    """The tool reads what bench_self prints, by columns: a small run of it has to give rows of the right width."""
    program = Path(PROGRAM).parent / "bench_self"
    if not program.exists():
        pytest.skip("bench_self is not part of this build")
    loader = SourceFileLoader("bench_self_tool", str(SOURCE / "tools/bench-self"))
    of = module_from_spec(spec_from_loader("bench_self_tool", loader))
    sys.path.insert(0, str(SOURCE / "tools"))
    loader.exec_module(of)
    sys.path.pop(0)
    printed = {part: subprocess.run([program, part, "--contacts", "5000", "--only", "wall"], capture_output=True, text=True, check=True,
                                    timeout=100).stdout for part in of.PARTS}
    steps, sweeps = of.step_rows(printed["threads"]), of.sweep_rows(printed["threads"])
    assert [row[0] for row in steps] == ["`brick-wall`", "`brick-wall rows=25`", "`brick-wall`, `--fast`", "`brick-wall rows=25`, `--fast`"]
    assert [row[:2] for row in sweeps] == [["wall", "968"], ["wall", "1,924"], ["wall", "4,804"]]
    assert {len(row) for row in steps} == {11} and {len(row) for row in sweeps} == {10}
    assert all(isinstance(float(cell), float) for row in steps + sweeps for cell in row[3:])  # numbers, whatever they are
    scale, memory = of.scale_rows(printed["scale"]), of.memory_rows(printed["scale"])
    assert len(scale) == len(memory) == 1 and len(scale[0]) == 6 and len(memory[0]) == 13
    assert re.fullmatch(r"[-0-9.]+ \(1\.00, -?[0-9]+ %\)", scale[0][2])
