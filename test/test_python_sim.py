"""Simulation from Python: worlds, scenes, user functions, replaced parts, recording; and what it costs."""
import gc
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss

SOURCE, BUILD = Path(os.environ["SS_SOURCE_DIR"]), Path(os.environ["SS_BUILD_DIR"])


def block(speed=0.0, **options):
    """A box on the ground, mu 0.5."""
    world = ss.World()
    world.fixed(ss.plane())
    box = world.body(ss.box(1, 1, 1, density=2.0), position=(0, 0, 0.5), velocity=(speed, 0, 0, 0, 0, 0), name="box")
    return world, box, ss.Sim(world, **options)


def test_a_sliding_box_stops_where_coulomb_says():
    world, box, sim = block(speed=2.0, h=0.001, stop="relative_energy<1e-10", iterations=1000)
    sim.run(time=0.3)
    # v = v0 - mu g t, exactly in time stepping too, as long as it slides; the rest is the solver's error
    assert box.velocity[0] == pytest.approx(2.0 - 0.5 * 9.81 * 0.3, abs=1e-4)
    assert sim.report.status == "converged" and sim.time == pytest.approx(0.3) and sim.steps == 300


def test_a_material_with_a_grain_lays_the_tangents():
    world = ss.World()
    wood = world.material("wood", mu=0.2, mu_across=0.8, grain=(0, 3, 0))
    world.fixed(ss.plane(material=wood))
    world.body(ss.box(1, 1, 1, density=2.0), position=(0, 0, 0.5))
    world.pair(0, wood, 0.1, mu_across=0.4)
    sim = ss.Sim(world)
    sim.step()
    contacts = sim.frame.contacts
    assert np.allclose(np.abs(contacts.tangent), (0, 1, 0)) and np.allclose(contacts.mu, (0.1, 0.4))
    with pytest.raises(ss.Error, match="neither material has a grain"):
        world.pair(0, 0, 0.1, mu_across=0.4)


@pytest.mark.parametrize("name", ["brick-wall", "conveyor", "four-bar", "painleve"])
def test_a_scene_gives_the_bits_of_the_command_line(name, tmp_path):
    subprocess.run([BUILD / "stickslip", "run", name, "--steps", "12", "--record", tmp_path / "cli.h5", "-q"], check=True,
                   capture_output=True)
    ss.run(name, steps=12, record=tmp_path / "python.h5")
    theirs, ours = ss.open(tmp_path / "cli.h5"), ss.open(tmp_path / "python.h5")
    assert len(theirs) == len(ours) == 12
    for a, b in zip(theirs, ours):
        assert a == b
        (_, first), (_, second) = *a.results().items(), *b.results().items()
        assert np.array_equal(first.answer.velocity, second.answer.velocity)
        assert first.measures.keys() == second.measures.keys()


def test_views_look_at_the_bodies_and_growing_waits_for_them():
    world, box, sim = block()
    positions = world.position
    part = positions[0]
    sim.step()
    assert np.array_equal(positions[0], box.position)
    positions[0, 2] = 3.0
    assert box.position[2] == 3.0
    del positions
    with pytest.raises(BufferError, match="copy"):
        world.body(ss.sphere(0.1))  # `part` still looks
    del part
    world.body(ss.sphere(0.1), position=(0, 0, 9))
    sim.step()
    assert world.position.shape == (2, 3) and world.velocity[1, 2] < 0


def test_a_view_outlives_its_world():
    world, box, sim = block()
    velocity = world.velocity
    sim.step()
    expected = velocity.copy()
    del world, box, sim
    gc.collect()
    assert np.array_equal(velocity, expected)


def test_user_functions_see_and_change_every_stage():
    world, box, sim = block(speed=1.0)
    seen = []
    for stage in ss.STAGES:
        sim.at(stage, lambda sim, stage=stage: seen.append(stage))
    ice = sim.at("before_solve", lambda sim: sim.frame.contacts.mu.__setitem__(slice(None), 0))
    sim.step(3)
    assert seen == list(ss.STAGES) * 3
    assert box.velocity[0] == pytest.approx(1.0, abs=1e-9)  # no friction
    sim.remove(ice)
    drop = sim.at("after_contacts", lambda sim: setattr(sim, "contacts", sim.contacts[:0]))
    sim.step()
    assert len(sim.contacts) == 0 and len(sim.frame.contacts) == 0 and box.velocity[2] < -0.09
    sim.remove(drop)
    push = sim.at("before_collision", lambda sim: box.force.__setitem__(1, 7.0))
    before = box.velocity[1]
    sim.step()
    sim.remove(push)
    assert box.force[1] == 7.0 and box.velocity[1] != before


def test_what_a_function_raises_comes_out_and_the_step_did_not_happen():
    class Oops(Exception):
        pass

    def fail(*_):
        raise Oops("here")

    world, box, sim = block(speed=1.0)
    sim.step(2)
    before = sim.hash
    for stage in ss.STAGES:
        sim.at(stage, fail)
        with pytest.raises(Oops):
            sim.step()
        sim.remove(fail)
        assert sim.hash == before and sim.steps == 2, stage
    for part in ("collision", "dynamics"):
        setattr(sim, part, fail)
        with pytest.raises(Oops):
            sim.step()
        setattr(sim, part, None)
        assert sim.hash == before, part
    failing = ss.solver(name="oops")(fail)
    sim.solver = failing
    with pytest.raises(Oops):
        sim.step()
    assert sim.hash == before and sim.steps == 2
    sim.solver = "nsgs"
    sim.step()
    assert sim.steps == 3


def test_a_frame_of_a_running_step_cannot_be_kept():
    world, box, sim = block()
    kept = []
    keep = sim.at("before_solve", lambda sim: kept.append(sim.frame.contacts.gap))
    with pytest.raises(BufferError, match="copy"):
        sim.step()
    kept.clear()
    sim.remove(keep)
    sim.dynamics = lambda sim, frame: kept.append(frame) or np.zeros((1, 6))
    with pytest.raises(BufferError, match="copy"):
        sim.step()
    kept.clear()
    sim.dynamics = None
    sim.at("before_solve", lambda sim: kept.append(sim.frame.copy()))
    sim.step()
    assert len(kept[0].contacts) == 4


def test_parts_of_the_simulator_can_be_replaced():
    def corners(sim):
        body = sim.world.bodies[0]
        gap = body.position[2] - 0.5
        return [dict(body_a=ss.WORLD, body_b=body, point=body.position + (x, y, -0.5), normal=(0, 0, 1), gap=gap, mu=0.5)
                for x in (-0.5, 0.5) for y in (-0.5, 0.5)]

    def polygonal(sim, frame):
        return ss.solve(frame, "lemke", formulation="stewart-trinkle", with_={"directions": 8})

    @ss.solver
    def sim_jacobi(problem, run, omega=0.25):
        x, step = run.x, omega / problem.block_diagonal
        while run.iteration(x):
            x[:] = problem.project(x - step * problem.dual(problem.apply(x)))

    ends = {}
    for name, change in {"ours": lambda sim: None, "collision": lambda sim: setattr(sim, "collision", corners),
                         "dynamics": lambda sim: setattr(sim, "dynamics", polygonal),
                         "solver": lambda sim: sim.use_solver(sim_jacobi, omega=0.3)}.items():
        world, box, sim = block(speed=1.0, finisher="none", stop="relative_energy<1e-9", iterations=3000)
        change(sim)
        sim.step(10)
        ends[name] = box.velocity.copy()
        assert sim.metrics["energy"].value < 1e-7 and len(sim.contacts) == 4, name
    for name, velocity in ends.items():
        # a step changes the speed by 0.05 m/s; 1e-9 of the energy of the step is some 1e-6 m/s
        assert np.allclose(velocity, ends["ours"], atol=1e-4), (name, velocity)


def test_bodies_move_as_told():
    world = ss.World()
    told = world.body(ss.box(2, 2, 0.1), motion=lambda t: ((0.1 * t, 0, 0), (1, 0, 0, 0), (0.1, 0, 0, 0, 0, 0)))
    rider = world.body(ss.box(0.1, 0.1, 0.1), position=(0, 0, 0.1))
    sim = world.simulate()
    sim.run(time=1.0)
    assert told.position[0] == pytest.approx(0.1) and rider.velocity[0] == pytest.approx(0.1, abs=1e-4)
    world = ss.World()
    world.body(ss.sphere(1), motion=lambda t: 1 / 0)
    sim = world.simulate()
    with pytest.raises(ZeroDivisionError):
        sim.step()
    assert sim.steps == 0


def test_joints_motors_and_meshes():
    world = ss.World(gravity=(0, 0, 0))
    wheel = world.body(ss.hull(ss.Mesh.cylinder(12, 0.2, 0.1)), name="wheel")
    axle = world.joint("revolute", ss.WORLD, wheel, axis=(0, 0, 1), name="axle", motor="velocity", target_speed=3.0, max_force=50)
    world.step(20)
    assert axle.speed == pytest.approx(3.0, rel=1e-3) and axle.error < 1e-6 and world["axle"].number == axle.number
    axle.law[0].set(motor="off", friction=1.0)
    world.step(100)  # 0.25 kg m^2 against 1 N m: 0.75 s
    assert abs(axle.speed) < 1e-6
    assert wheel.mass == pytest.approx(1000 * 12 / 2 * 0.2**2 * math.sin(2 * math.pi / 12) * 0.1)
    with pytest.raises(ss.UsageError, match="unknown joint 'hinge'"):
        world.joint("hinge", wheel)
    with pytest.raises(TypeError, match="speeed"):
        world.joint("revolute", wheel, speeed=1)


def test_states_are_saved_and_restored_bit_for_bit():
    sim = ss.run("box-pyramid", steps=5, parameters={"base": 3})
    state = sim.save()
    sim.step(5)
    end = sim.hash
    sim.restore(state)
    sim.step(5)
    assert sim.hash == end


def test_a_user_function_cannot_put_back_a_state_within_its_step():
    sim = ss.run("box-pyramid", steps=2, parameters={"base": 3})
    state, start, here = sim.save(), sim.hash, lambda sim: sim.restore(state)
    sim.step(2)
    for stage in ("before_collision", "after_contacts", "before_solve"):
        sim.at(stage, here)
        before = sim.hash
        with pytest.raises(ss.UsageError, match="a step is under way"):
            sim.step()
        assert sim.hash == before and sim.steps == 4
        sim.remove(here)
    sim.at("after_step", here)
    sim.step()
    assert sim.hash == start and sim.steps == 2


@pytest.mark.parametrize("coordinates", ["maximal", "minimal"])
def test_a_frame_that_is_not_solved_has_no_answer_and_no_metrics(coordinates):
    sim = ss.run("arm", steps=2, coordinates=coordinates)
    for name in ("answer", "metrics"):
        look = lambda sim: getattr(sim, name)
        sim.at("before_solve", look)
        with pytest.raises(ss.Error, match="there is no answer"):
            sim.step()
        sim.remove(look)
    sim.step()
    assert sim.answer is not None and sim.metrics["energy"].value < 1e-6


def test_a_scene_in_python_is_a_scene():
    @ss.scene(h=0.005, length=0.1)
    def tower(world, height=3, size=0.5):
        "boxes on each other"
        world.fixed(ss.plane())
        for level in range(height):
            world.body(ss.box(size, size, size), position=(0, 0, (level + 0.5) * size))

    assert "tower: boxes on each other" in repr(ss.scenes()["tower"]) and "height" in repr(ss.scenes()["tower"])
    sim = ss.run("tower", parameters={"height": 4})
    assert sim.steps == 20 and len(sim.world.bodies) == 4 and sim.report.penetration < 1e-3
    with pytest.raises(ss.UsageError, match="did you mean tower"):
        ss.scene("towr")
    with pytest.raises(ss.UsageError, match="heigth"):
        ss.scene("tower", heigth=2)


def test_a_recording_of_own_dynamics_carries_their_name_and_a_failure_keeps_what_was_recorded(tmp_path):
    world, box, sim = block(speed=1.0)

    def frozen(sim, frame):
        if sim.steps == 4:
            raise RuntimeError("enough")
        return np.zeros((1, 6))

    sim.dynamics = frozen
    with pytest.raises(RuntimeError, match="enough"):
        sim.run(steps=10, record=tmp_path / "frozen.h5", every=2)
    file = ss.open(tmp_path / "frozen.h5")
    assert len(file) == 2 and list(file[0].results()) == ["frozen"]
    assert file[0].results()["frozen"].measures["momentum"][0] > 1.0  # 2 kg at 1 m/s stopped by no impulse: N s


def test_a_user_function_costs_less_than_five_microseconds():
    printed = subprocess.run([sys.executable, SOURCE / "bindings/python/bench/steps.py", "--quick", "--json"], check=True,
                             capture_output=True, text=True).stdout
    figures = json.loads(printed)
    assert figures["function_us"] < 5.0, figures
    assert figures["python_us"] - figures["c_us"] < 5.0, figures


def test_a_differential_of_three_hinges():
    world = ss.World(gravity=(0, 0, 0))
    hinges = []
    for inertia in (0.5, 2.0, 3.0):
        shaft = world.body(mass=1.0, inertia=inertia * np.eye(3))
        hinges.append(world.joint("revolute", ss.WORLD, shaft, axis=(0, 1, 0)))
    world.joint("differential", terms=hinges, ratio=2.0)
    hinges[0].law[0].force = 4.0
    sim = ss.Sim(world, h=0.01, solver="block-pivot", stop="relative_energy<1e-12")
    for _ in range(10):
        sim.step()
    x = 4.0 / (1 + 0.5 * (1 / 2 + 1 / 3))  # test_couplings.c has the formula
    np.testing.assert_allclose([hinge.speed for hinge in hinges], [0.1 * x * (1 / 2 + 1 / 3), 0.1 * x / 2, 0.1 * x / 3], rtol=1e-6)
    with pytest.raises(ss.UsageError, match="has no coordinate 1"):
        world.joint("coupling", terms=[(hinges[0], 1.0, 1)])
    assert repr(world.joints[-1]).endswith("differential, bodies 0 and 1>")
