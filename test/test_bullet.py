"""Bullet as collision detection (plugins/bullet): contacts where we have them, stacks that stand, and what is said without it."""
import os
from pathlib import Path

import pytest

from test_cli import USAGE, here, run, run_json

BUILD = Path(os.environ["SS_BUILD_DIR"])


def needs_bullet():
    if not (BUILD / "bullet.so").exists():
        pytest.skip("Bullet is not installed (tools/setup peers)")


@pytest.mark.parametrize("scene, contacts, apart", [
    ("belt", 4, 1e-5),  # a box on a plane: the same four corners; its speed is friction's alone
    ("box-pyramid", 400, 1e-3),  # Bullet's boxes are found by clipping, as ours are: 4 points for each pair
    ("tippe-top", 1, 1e-9)])  # two spheres on a plane: exact in both
def test_scenes_move_with_the_contacts_of_bullet(scene, contacts, apart, here):
    needs_bullet()
    ours, theirs = (run_json("run", scene, "--steps", 40, "--collision", name) for name in ("ours", "bullet"))
    assert theirs["contacts"]["last"] == contacts == ours["contacts"]["last"]
    assert abs(theirs["drift"] - ours["drift"]) < apart
    assert theirs["penetration"]["most"] < 1e-3


def test_recordings_with_bullet_are_whole(here):
    needs_bullet()
    run("run", "log-pile", "--steps", 20, "--collision", "bullet", "--record", "logs.h5")
    run("check", "logs.h5")


def test_a_detection_that_is_missing_is_named(here):
    ended = run("run", "belt", "--collision", "unobtainium", code=USAGE)
    assert "--collision unobtainium: there is no plug-in unobtainium.so" in ended.stderr
