"""Plug-ins of every kind on the command line: the examples, and what may be wrong with them."""
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from test_bench import bench, rows, slope
from test_cli import DONE, PROGRAM, SOURCE, USAGE, here, run, run_json
from test_solve import only

EXAMPLES = SOURCE / "examples/plugin"


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """All examples, built as their CMakeLists.txt does: {"my_metric": path}."""
    where = tmp_path_factory.mktemp("plugins")
    for arguments in (["-S", EXAMPLES, "-B", where, f"-DSTICKSLIP_INCLUDE={SOURCE}/include"], ["--build", where]):
        ended = subprocess.run(["cmake", *map(str, arguments)], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "warning" not in ended.stdout + ended.stderr
    return {path.stem: str(path) for path in where.glob("my_*.so")}


def every(plugins):
    return [word for path in sorted(plugins.values()) for word in ("--plugin", path)]


def value(frame, name):
    return frame["metrics"][name]["value"]


def test_lists_and_help_know_what_plugins_bring(plugins):
    assert set(plugins) == {"my_solver", "my_sweeps", "my_formulation", "my_metric", "my_scene"}
    for verb, name in (("solvers", "richardson"), ("formulations", "box-before"), ("formulations", "springs"),
                       ("metrics", "friction_overload"), ("scenes", "seesaw")):
        names = [thing["name"] for thing in run_json(verb, *every(plugins))[verb]]
        assert name in names and names.index(name) >= len(names) - 2  # after those of the library
        assert name in run(verb, name, *every(plugins)).stdout
        assert f"unknown {verb[:-1]} '{name}'" in run(verb, name, code=USAGE).stderr
    table = run("solvers", "--table", *every(plugins)).stdout
    assert re.search(r"box-before +springs", table) and re.search(r"^ *richardson +.*all +all *$", table, re.M)
    assert "stiffness" in run("formulations", "springs", *every(plugins)).stdout


def test_an_own_formulation_is_judged_like_any_other(plugins, slope):
    plugin = ["--plugin", plugins["my_formulation"]]
    mine = run_json("solve", slope, *plugin, "-f", "box-before", "-s", "pgs", "--stop", "relative_energy<1e-10")
    box = run_json("solve", slope, "-f", "box", "--with", "tangents=slip", "-s", "pgs",
                   "--stop", "relative_energy<1e-10")
    cone = run_json("solve", slope, "-f", "cone", "-s", "nsgs", "--stop", "relative_energy<1e-10")
    for a, b, true in zip(mine["frames"], box["frames"], cone["frames"]):
        assert a["formulation"] == "box-before" and a["status"] == "converged"
        # It slides straight on: the library's box along the slip is the same one, and the motion is that of Coulomb's
        # law. The impulses are not: what four contacts do across the slip cancels, and a box allows it.
        assert abs(value(a, "natural_map") - value(b, "natural_map")) < 1e-6  # sqrt of the stop rule, relative to 0.1
        for other in (b, true):
            assert abs(value(a, "kinetic_energy_change") - value(other, "kinetic_energy_change")) < 1e-9
    springs = only(run_json("solve", slope, "--frame", "0", *plugin, "-f", "springs", "--with", "stiffness=0",
                            "-s", "pgs"))
    assert value(springs, "penetration") > 0 and value(springs, "natural_map") > 0.1  # it falls through
    assert "springs: unknown option 'stifness'" in run("solve", slope, *plugin, "-f", "springs", "--with",
                                                       "stifness=1", code=USAGE).stderr


@pytest.mark.parametrize("formulation", ["box-before", "springs"])
def test_an_own_formulation_works_in_minimal_coordinates(plugins, here, formulation):
    """It is handed contacts and joints, and does not notice which unknowns they are taken to."""
    run("run", "quadruped", "--steps", 2, "--coordinates", "minimal", "--record", "feet.h5", "--quiet")
    change = []
    for kind in ("maximal", "minimal"):
        solved = run_json("solve", "feet.h5", "--frame", 1, "--plugin", plugins["my_formulation"], "-f", formulation, "--with",
                          f"coordinates={kind}", "--stop", "relative_energy<1e-10")["frames"][0]
        assert solved["status"] == "converged" and value(solved, "momentum") < 1e-20
        change.append(value(solved, "kinetic_energy_change"))
    assert change[0] == pytest.approx(change[1], rel=1e-7)


def test_an_own_formulation_is_converted_and_checked(plugins, slope):
    plugin = ["--plugin", plugins["my_formulation"]]
    run("convert", slope, "mine.mtx", "--frame", "0", *plugin, "-f", "box-before")
    assert list(Path().glob("mine*.mtx"))
    assert run("check", slope, "--problems", *plugin, "--formulation", "box-before").returncode == DONE


def test_an_own_metric_is_everywhere(plugins, slope):
    plugin = ["--plugin", plugins["my_metric"]]
    frame = only(run_json("solve", slope, "--frame", "3", *plugin, "-f", "box", "--with", "tangents=frame", "-s", "pgs",
                          "-o", "solved.h5"))
    assert value(frame, "friction_overload") >= 0
    stored = run_json("judge", "solved.h5", *plugin)
    assert "friction_overload" in json.dumps(stored) and "friction_overload" not in json.dumps(
        run_json("judge", "solved.h5"))
    stopped = only(run_json("solve", slope, "--frame", "3", *plugin, "-s", "pgs", "--stop", "friction_overload<1e9"))
    assert stopped["status"] == "converged" and stopped["iterations"] == 1
    run("view", "solved.h5", *plugin, "-o", "replay.html")
    bench(slope, "--frame", "0:2", *plugin, "-s", "nsgs,pgs", "-o", "m.db")
    mine = [row for row in rows("m.db", "metrics") if row["name"] == "friction_overload"]
    assert len(mine) == 4 and all(float(row["value"]) >= 0 for row in mine)
    report = json.loads(run("report", "m.db", "--json", *plugin).stdout)
    assert "friction_overload" in json.dumps(report)
    assert "friction_overload" not in run("report", "m.db", "--json").stdout  # nobody explains it there


def test_an_own_scene_is_run_recorded_and_pushed_by_a_user_function(plugins, here):
    plugin = ["--plugin", plugins["my_scene"]]
    still = run_json("run", "seesaw", *plugin, "--steps", "20", "--record", "still.h5")
    run_json("run", "seesaw", *plugin, "--steps", "20", "-p", "load=3", "--call", "wind", "--record", "windy.h5")
    assert still["steps"] == 20

    def last(name):
        return run_json("info", name, "--frame", "19", "--full")["bodies"]["velocities"]
    sideways = [[body[1] for body in last(name)] for name in ("still.h5", "windy.h5")]
    assert 100 * max(map(abs, sideways[0])) < max(map(abs, sideways[1]))  # left alone, rounding and the stop rule
    wrong = run("run", "seesaw", *plugin, "--call", "wind-up", code=USAGE).stderr
    assert "unknown user function 'wind-up'" in wrong
    assert "no plug-in brings any" in run("run", "brick-wall", "--steps", "1", "--call", "wind", code=USAGE).stderr
    assert "unknown scene 'seesaw'" in run("run", "seesaw", code=USAGE).stderr


def test_run_takes_solvers_and_formulations_of_plugins(plugins):
    text = run_json("run", "sliding-block", *every(plugins), "--steps", "10", "--solver", "richardson", "--finisher",
                    "none", "--formulation", "box-before", "--iterations", "2000")
    assert text["steps"] == 10


def test_a_campaign_with_plugins_of_every_kind(plugins, slope):
    plugin = every(plugins)
    counts = bench(slope, "--frame", "0:2", *plugin, "-s", "richardson,pgs", "-f", "cone,box-before", "-o", "all.db")
    assert counts["runs"] == 8
    methods = {(row["formulation"], row["solver"]): row for row in rows("all.db", "methods")}
    files = {key: row["plugin_file"].split("\n") for key, row in methods.items()}
    assert files[("cone", "pgs")] == [""]
    assert files[("cone", "richardson")] == [plugins["my_solver"]]
    assert files[("box-before", "pgs")] == [plugins["my_formulation"]]
    assert files[("box-before", "richardson")] == [plugins["my_solver"], plugins["my_formulation"]]
    digests = [methods[key]["plugin"] for key in sorted(methods)]
    assert len(set(digests)) == 4 and all(len(digest) in (0, 32) for digest in digests)
    report = json.loads(run("report", "all.db", "--json").stdout)
    options = {(m["formulation"], m["solver"]): m["options"] for m in report["methods"]}
    command = options[("box-before", "richardson")]
    assert command.count("--plugin") == 2
    # the command that the report prints finds everything
    again = run("solve", slope, "--frame", "0", *shlex.split(command), "--json", code=None)
    assert only(json.loads(again.stdout))["solver"] == "richardson"
    # a second time there is nothing left to do
    assert bench(slope, "--frame", "0:2", *plugin, "-s", "richardson,pgs", "-f", "cone,box-before", "-o",
                 "all.db")["runs"] == 8


BAD_FORMULATION = r"""
#include <stickslip/plugin.h>
#include <stdlib.h>
static bool contact(const ss_formulation *f, const void *o, const ss_contact_view *c, ss_contact_law *law, ss_error *err)
{ BODY return true; }
static const ss_formulation bad = {.name = "bad", .summary = "bad", .laws = SS_LAW_BOX | SS_LAW_FREE | SS_LAW_COUPLED,
    .options = ss_step_option_table, .options_size = sizeof(ss_step_options), .contact = contact};
static const ss_formulation *const formulations[] = {&bad, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .formulations = formulations};
"""


def build(name, text):
    Path(f"{name}.c").write_text(text)
    subprocess.run(["cc", "-std=c17", "-w", "-fPIC", "-shared", f"-I{SOURCE / 'include'}", f"{name}.c", "-o",
                    f"{name}.so", "-lm"], check=True)
    return f"./{name}.so"


BAD_METRIC = r"""
#include <stickslip/plugin.h>
#include <stdlib.h>
static bool measure(const ss_metric *m, const ss_case *what, ss_metric_value *value, ss_error *err)
{ abort(); }
static const ss_metric bad = {.name = "bad", .unit = "1", .summary = "bad", .measure = measure};
static const ss_metric *const metrics[] = {&bad, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .metrics = metrics};
"""


def test_a_metric_that_crashes_is_a_row_of_a_campaign(slope):
    bench(slope, "--frame", "0", "--plugin", build("bad", BAD_METRIC), "-s", "pgs", "-o", "bad.db")
    (row,) = rows("bad.db", "runs")
    assert row["outcome"] == "crashed" and "while its answer was judged" in row["message"]


@pytest.mark.parametrize("body, outcome, words", [
    ("abort();", "crashed", "signal 6"),
    ("law->count = 99;", "broken", "has 99 unknowns"),
    ("return ss_fail(err, SS_ERROR_INPUT, \"not today\");", "broken", "formulation bad: contact 0: not today"),
    ("for (;;) {}", "hung", "did not stop"),
])
def test_a_formulation_that_fails_is_a_row_of_a_campaign(body, outcome, words, slope):
    plugin = build("bad", BAD_FORMULATION.replace("BODY", body))
    bench(slope, "--frame", "0", "--plugin", plugin, "-s", "pgs", "-f", "bad,cone", "--time-limit", "0.5", "-o", "bad.db")
    results = rows("bad.db", "runs")
    failed = [row for row in results if row["outcome"] == outcome]
    assert len(results) == 2 and len(failed) == 1 and words in failed[0]["message"]


def test_a_new_solver_works_from_the_first_minute(tmp_path):
    """tools/new writes one that builds and solves; what is there already is not touched."""
    new = [sys.executable, str(SOURCE / "tools/new"), "solver"]
    subprocess.run([*new, "rolling-stone", str(tmp_path / "mine")], check=True, capture_output=True)
    environment = {**os.environ, "STICKSLIP": PROGRAM, "CPPFLAGS": f"-I{SOURCE / 'include'}"}
    subprocess.run(["make", "-C", str(tmp_path / "mine"), "test"], check=True, capture_output=True, env=environment)
    standing = run_json("report", tmp_path / "mine/results.db")
    assert {"rolling-stone", "nsgs", "auto"} <= {one["label"] for one in standing["series"]}
    for arguments in (["rolling-stone", str(tmp_path / "mine")], ["Bad Name"], []):
        assert subprocess.run([*new, *arguments], capture_output=True, text=True).returncode == 1


def test_own_sweeps_do_what_nsgs_does(plugins, slope):
    mine = run_json("solve", slope, "--plugin", plugins["my_sweeps"], "-s", "my-sweeps", "--tol", "1e-10")
    theirs = run_json("solve", slope, "-s", "nsgs", "--set", "sweep=forward", "--tol", "1e-10")
    for a, b in zip(mine["frames"], theirs["frames"]):
        assert a["status"] == b["status"] == "converged"
        assert abs(a["iterations"] - b["iterations"]) <= 2  # the same method: only rounding and the start differ
