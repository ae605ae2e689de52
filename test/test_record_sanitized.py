"""The recorders under the address and undefined-behaviour sanitizers (a build with them): as libraries, on one small world per
feature, and preloaded into the demos. The engines themselves are not built for it, and what they leak is theirs: of leaks only those
count that a function of ours has allocated."""
import os
import subprocess
from pathlib import Path

import pytest

BUILD, SOURCE = Path(os.environ["SS_BUILD_DIR"]), Path(os.environ["SS_SOURCE_DIR"])
# one comes by preloading, so that the sanitizer is not the first library
OPTIONS = "verify_asan_link_order=0:detect_leaks=1:strict_string_checks=1:allocator_may_return_null=1"
FEATURES = {"ode": ["stick", "constant", "slide", "bounce", "belt", "kinematic", "motor", "sleep", "rolling"],
            "bullet": ["stick", "slide", "bounce", "split", "kinematic", "hinge", "sleep", "rolling"]}


def tool(name):
    path = BUILD / "recorders" / name
    if not path.exists():
        pytest.skip(f"built without the engine of {name}")
    return path


def run(folder, *words):
    """It ends well, and no sanitizer says anything but leaks of the engine and of the program."""
    suppressed = folder / "engines.supp"
    suppressed.write_text("".join(f"leak:{name}\n" for name in (
        "libode", "libBullet", "libLinearMath", "libmujoco", "libccd", "libtinyxml2", "libqhull", "demo_", "btAligned",
        "bullet_features.cpp", "bullet_scenes.cpp")))
    ended = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=250, env={
        **os.environ, "ASAN_OPTIONS": OPTIONS, "UBSAN_OPTIONS": "print_stacktrace=1",
        "LSAN_OPTIONS": f"suppressions={suppressed}:print_suppressions=0"})
    ours = [block for block in ended.stderr.split("\n\n") if "leak of" in block and ("ss_allocate" in block or "/src/" in block)]
    others = ended.stderr.replace("LeakSanitizer", "")
    assert not ours and "AddressSanitizer:" not in others and "runtime error" not in others, ended.stderr[-6000:]
    assert ended.returncode == 0 or "LeakSanitizer" in ended.stderr, ended.stderr[-6000:]
    return ended


@pytest.mark.parametrize("feature", FEATURES["ode"])
def test_ode_as_a_library(tmp_path, feature):
    run(tmp_path, tool("ode_features"), feature, "quick", tmp_path / "x.h5", 12)
    assert (tmp_path / "x.h5").stat().st_size > 1000


@pytest.mark.parametrize("feature", FEATURES["bullet"])
def test_bullet_as_a_library(tmp_path, feature):
    run(tmp_path, tool("bullet_features"), feature, "si", tmp_path / "x.h5")
    assert (tmp_path / "x.h5").stat().st_size > 1000


@pytest.mark.parametrize("rows", [(), ("rows",)])
def test_mujoco_as_a_library(tmp_path, rows):
    (tmp_path / "m.xml").write_text("""<mujoco><worldbody><geom type='plane' size='5 5 1'/>
<body pos='0 0 0.1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>
<body pos='1 0 1'><joint type='hinge' axis='0 1 0' range='-1 1' limited='true' armature='1e-3'/><geom type='capsule' size='.05 .2'/>
<body pos='0 0 -.5'><joint type='ball'/><geom type='sphere' size='.1'/></body></body></worldbody></mujoco>""")
    run(tmp_path, tool("mujoco_features"), tmp_path / "m.xml", tmp_path / "x.h5", 20, *rows)
    assert (tmp_path / "x.h5").stat().st_size > 1000


@pytest.mark.parametrize("engine", ["ode", "bullet", "mujoco"])
@pytest.mark.parametrize("words", [(), ("--ring", 5, "--trip", "contacts>2")])
def test_preloaded(tmp_path, engine, words):
    demo = tool(f"demo_{engine}_scenes")
    ended = run(tmp_path, BUILD / "stickslip", "record", "-e", engine, "-o", tmp_path / "x.h5", *words, "--", demo, "stack", 15)
    assert "stack: 15 steps" in ended.stdout
    assert ("recorded 15 frames" if not words else "the flight recorder tripped") in ended.stderr, ended.stderr
