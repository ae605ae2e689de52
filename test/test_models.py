"""Model files from the command line and from Python: runs, recordings, what is listed, what --strict refuses."""

import numpy as np
import pytest
import stickslip as ss

from test_cli import BAD_INPUT, DONE, SOURCE, USAGE, here, run, run_json

MODELS = SOURCE / "test/data/models"
SOFT = """<mujoco model="soft">
  <worldbody>
    <light pos="0 0 3"/>
    <geom type="plane" size="1 1 1" {}/>
    <body name="b" pos="0 0 1"><freejoint/><geom size="0.1"/></body>
  </worldbody>
  <keyframe><key name="high" qpos="0 0 5 1 0 0 0"/></keyframe>
</mujoco>
"""


def write(name, text):
    with open(name, "w") as file:
        file.write(text)
    return name


def test_a_model_file_runs_is_recorded_and_can_be_watched(here):
    for name in ("pendulum.urdf", "pendulum.xml"):
        ended = run("run", MODELS / name, "--steps", 30, "--record", "swing.h5")
        assert "recorded 30 frames" in ended.stderr
        assert run_json("info", "swing.h5")["frames"][29]["constraints"] == 1
        run("check", "swing.h5")
        run("view", "swing.h5", "-o", "swing.html")


def test_what_is_not_honoured_is_listed_and_strict_refuses_it(here):
    look, motion = write("look.xml", SOFT.format("")), write("motion.xml", SOFT.format('solref="0.1 1"'))
    ended = run("run", motion, "--steps", 2)
    assert "warning: motion.xml:3: <light> is not honoured: appearance" in ended.stderr
    assert "loss: motion.xml:4: <geom solref> is not honoured" in ended.stderr
    for arguments, code in [([look, "--strict"], BAD_INPUT), ([look, "--strict-motion"], DONE),
                            ([motion, "--strict-motion"], BAD_INPUT), ([MODELS / "pendulum.xml", "--strict"], DONE)]:
        run("run", *arguments, "--steps", 2, code=code)


def test_options_of_reading(here):
    write("soft.xml", SOFT.format(""))
    def height(*options):
        return run_json("run", "soft.xml", "--steps", 1, *options)["start_energy"]
    weight = 9.81 * 4.0 / 3.0 * np.pi * 0.1**3 * 1000
    assert height() == pytest.approx(weight)
    assert height("--key", "high") == height("--key", 0) == pytest.approx(5 * weight)
    ended = run("run", "soft.xml", "--key", "low", code=BAD_INPUT)
    assert "unknown keyframe \"low\"; there are 1" in ended.stderr
    free = run_json("run", MODELS / "robot.urdf", "--steps", 100)
    fixed = run_json("run", MODELS / "robot.urdf", "--steps", 100, "--base", "fixed")
    assert free["drift"] == pytest.approx(9.81 * 0.002**2 * 100 * 101 / 2)  # falls as a whole: g h^2 n (n + 1) / 2
    assert fixed["drift"] != pytest.approx(free["drift"], rel=0.01)
    run("run", MODELS / "robot.urdf", "--base", "loose", code=USAGE)


def test_a_file_that_is_missing_or_wrong_is_named(here):
    assert "no.urdf" in run("run", "no.urdf", code=BAD_INPUT).stderr
    ended = run("run", write("wrong.urdf", "<robot name='r'>\n<link/></robot>"), code=BAD_INPUT)
    assert "wrong.urdf:2: <link>: has no name" in ended.stderr
    write("secret.xml", "<mujoco><include file='../outside.xml'/></mujoco>")
    ended = run("run", "secret.xml", code=BAD_INPUT)
    assert "outside of the model's folder" in ended.stderr
    (here / "inner").mkdir()
    (here / "inner/link.xml").symlink_to("/etc/hostname")
    write("inner/main.xml", "<mujoco><include file='link.xml'/></mujoco>")
    ended = run("run", "inner/main.xml", code=BAD_INPUT)
    assert "outside of the model's folder" in ended.stderr


def test_python_reads_models_as_the_program_does(here):
    world = ss.World.read(MODELS / "pendulum.xml")
    assert world.model == ("mjcf", "pendulum", 0.002, 0) and len(world.findings) == 0
    assert world["rod"].mass == 2 and world["hinge"].position == 0
    sim = world.simulate()
    sim.run(steps=50)
    assert sim.h == 0.002
    theirs = run_json("run", MODELS / "pendulum.xml", "--steps", 50)
    assert sim.hash == theirs["hash"]
    assert ss.run(str(MODELS / "robot.urdf"), steps=3, parameters={"base": "fixed"}).steps == 3

    write("soft.xml", SOFT.format('solref="0.1 1"'))
    soft = ss.World.read("soft.xml", key="high", floor=True)
    assert soft["b"].position[2] == 5 and [item.kind for item in soft.findings] == ["warning", "loss"]
    assert soft.findings[1].place == "soft.xml:4"
    with pytest.raises(ss.InputError, match="soft.xml:4"):
        ss.World.read("soft.xml", strict="motion")
    with pytest.raises(ss.InputError, match="not a model"):
        ss.World.read(write("page.xml", "<html/>"))
