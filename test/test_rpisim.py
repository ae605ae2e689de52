"""RPIsim's layer of the Octave toolbox: its page, its help, its benchmark, and that it draws nothing where nothing can be."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["SS_SOURCE_DIR"])
TOOLBOX = SOURCE / "bindings" / "octave"
BUILD = Path(os.environ["SS_BUILD_DIR"]) / "octave"
LAYER = TOOLBOX / "inst" / "rpisim"

pytestmark = pytest.mark.skipif(not (BUILD / "stickslip_mex.mex").exists() or not shutil.which("octave-cli"),
                                reason="no MEX function in the build, or no octave-cli (tools/setup test)")


def octave(script, directory):
    folders = ", ".join(f"'{folder}'" for folder in [TOOLBOX / "inst", TOOLBOX / "bench", BUILD])
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(["octave-cli", "--quiet", "--norc", "--no-history", "--eval", f"addpath({folders});\n{script}"],
                          cwd=directory, env=environment, text=True, capture_output=True, stdin=subprocess.DEVNULL)


def test_the_page_says_what_works(tmp_path):
    blocks = re.findall(r"^```octave\n(.*?)^```", (SOURCE / "docs" / "rpisim.md").read_text(), re.M | re.S)
    assert len(blocks) >= 2
    run = octave("\n".join(blocks), tmp_path)
    assert run.returncode == 0, run.stderr
    position = [float(word) for word in run.stdout.split()[:3]]
    assert position == pytest.approx([0, 0, 1.5], abs=1e-4)  # disp shows five digits


def test_every_function_has_help_and_its_own_name():
    for path in sorted(LAYER.glob("*.m")):
        lines = path.read_text().splitlines()
        assert re.match(rf"function (.*= )?{path.stem}(\(|$)", lines[0]), path
        assert lines[1].startswith("% ") and path.stem in lines[1], path
        assert any("See also" in line for line in lines), path
        assert max(map(len, lines)) <= 130, path


def test_the_page_names_every_function():
    page = (SOURCE / "docs" / "rpisim.md").read_text()
    # what scripts do not call by themselves
    inner = {"Body", "Joint", "updateJoint", "body_updateMesh", "body_massInertiaMatrix", "mesh_centre", "sim_draw",
             "sim_run_penalty", "sim_run_Todorov"}
    missing = [path.stem for path in LAYER.glob("*.m") if path.stem not in inner and f"`{path.stem}`" not in page
               and f"@{path.stem}" not in page]
    assert not missing, missing


def test_the_benchmark_prints_a_time_for_every_scene(tmp_path):
    run = octave("table = bench_rpisim('', 5); assert(all([table.run] > 0) && all([table.step] > 0));", tmp_path)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.strip().splitlines()) == 8, run.stdout


def test_a_release_that_is_not_there_is_an_error(tmp_path):
    run = octave(f"bench_rpisim('{tmp_path}/nothing', 5);", tmp_path)
    assert run.returncode != 0
    assert "did not run" in run.stderr
