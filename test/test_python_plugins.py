"""Own metrics and formulations in Python, their names, and C plug-ins built against the package."""
import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss
from test_python import brick, heap, joint_frame

SOURCE = Path(os.environ["SS_SOURCE_DIR"])


def test_a_name_can_be_defined_again_but_not_taken_from_the_library():
    for value in (1.0, 2.0):
        @ss.solver(laws="box", exact=True, name="again")
        def constant(problem, run, value=value):
            return np.full(len(problem), value)

        result = ss.solve(ss.Problem.from_arrays(np.eye(2), [-value, -value]), "again")
        assert result.x.tolist() == [value, value]
    assert [item.name for item in ss.solvers()].count("again") == 1

    with pytest.raises(ss.Error, match="nsgs"):
        ss.solver(lambda problem, run: None, name="nsgs")
    assert ss.solve(brick(), "nsgs").converged


def test_the_version_of_a_function_without_source_changes_with_its_code_and_with_nothing_else():
    from stickslip.plugins import _version_of

    def version(body):
        names = {}
        exec(f"def solve(problem, run):\n    {body}", names)  # no file that inspect could look into
        return _version_of(names["solve"])

    inner = "return (lambda x: x + %s)(run.x)"
    assert version(inner % 1) == version(inner % 1)  # the lambda is elsewhere in memory
    assert len({version(body) for body in (inner % 1, inner % 2, "return first(run)", "return second(run)")}) == 4


def test_a_session_keeps_the_solver_that_was_replaced():
    def made(value):
        @ss.solver(laws="box", exact=True, name="fleeting")
        def constant(problem, run):
            return np.full(len(problem), value)
        return constant

    problem = ss.Problem.from_arrays(np.eye(1), [-3.0])
    session = ss.Session(made(3.0))
    made(4.0)
    gc.collect()
    assert session.solve(problem).x.tolist() == [3.0]
    assert ss.solve(problem, "fleeting").x.tolist() == [4.0]


def test_an_own_metric_is_in_every_judgement():
    @ss.metric(unit="m/s", definition="max |v|")
    def own_speed(frame, answer):
        speeds = np.linalg.norm(answer.velocity[:, :3], axis=1)
        return speeds.max(), 0

    @ss.metric
    def own_absent(frame, answer):
        return None if len(frame.contacts) else "no contacts"

    frame = brick(speed=5.0)
    session = ss.Session("nsgs")
    metrics = session.solve(frame).metrics
    assert metrics["own_speed"].value == pytest.approx(5 - 0.5 * 9.81 * 0.01) and metrics["own_speed"].worst_contact == 0
    assert metrics["own_speed"].unit == "m/s" and not metrics["own_absent"].applies
    assert frame.judge(ss.solve(frame).answer).own_speed == pytest.approx(metrics.own_speed)
    assert ss.solve(frame, "nsgs", stop="own_speed<6").converged  # and it may be a stop rule

    @ss.metric(name="own_speed")
    def broken(frame, answer):
        raise LookupError("lost the answer")

    for judge in (lambda: ss.solve(frame), lambda: session.solve(frame), lambda: frame.judge(frame.answer())):
        with pytest.raises(LookupError, match="lost the answer"):
            judge()

    ss.metric(lambda frame, answer: 0.0, name="own_speed")  # leave a whole one behind
    assert session.solve(frame).metrics.own_speed == 0.0


def test_a_result_knows_the_metrics_of_its_time():
    result = ss.solve(brick())
    held = ss.Session("nsgs").solve(brick())
    ss.metric(lambda frame, answer: 1.0, name="later")
    assert "later" not in result.metrics and "later" not in held.metrics
    assert ss.solve(brick()).metrics.later == 1.0


def test_box_friction_contact_by_contact_is_that_of_the_library():
    @ss.formulation(laws=["free", "box", "coupled"], models=["friction", "gaps"])
    def own_box(contact, scale=1.0):
        "a box around the cone"
        tangents = [ss.Unknown(contact.tangent[k], "coupled", partner=0, factor=scale * contact.mu[k]) for k in range(2)]
        return [contact.normal_unknown(), *tangents]

    for frame in (brick(corners=4), joint_frame((-20.0, 15.0)), heap(5)):
        own, box = frame.problem("own-box"), frame.problem("box", tangents="frame")
        assert np.allclose(own.dense(), box.dense(), rtol=1e-13, atol=1e-13) and np.allclose(own.b, box.b, atol=1e-15)
        result = ss.solve(frame, "nsgs", formulation=own_box, stop="relative_energy<1e-9")
        assert np.allclose(result.velocity, ss.solve(frame, "nsgs", formulation="box", stop="relative_energy<1e-9",
                                                     with_={"tangents": "frame"}).velocity,
                           atol=1e-6)  # the stop rule: 1e-9 of an energy of 10 J
    assert frame.problem("own-box", scale=0.5, gap_term="zero").factor.max() == 0.25
    halved = ss.solve(brick(speed=1.0), formulation="own-box", with_={"scale": 0.5})
    assert halved.velocity[0, 0] == pytest.approx(1 - 0.25 * 9.81 * 0.01, abs=1e-6)


def test_a_cone_of_ones_own_and_a_known_impulse():
    @ss.formulation(laws=["free", "box", "cone"])
    def own_cone(contact, push=0.0):
        unknowns = [contact.normal_unknown("cone"), *(ss.Unknown(t, "cone") for t in contact.tangent)]
        return unknowns, {"mu": contact.mu[0], "impulse": push * contact.tangent[0]}

    frame = brick(corners=4, speed=2.0)
    assert np.allclose(ss.solve(frame, formulation="own-cone").velocity, ss.solve(frame).velocity, atol=1e-7)
    pushed = ss.solve(frame, formulation="own-cone", with_={"push": 0.01})
    assert not np.allclose(pushed.velocity, ss.solve(frame).velocity, atol=1e-4)


def test_a_whole_problem_of_ones_own():
    @ss.formulation(laws=["box"], models=["gaps"])
    def own_normals(frame):
        "normals only, as a matrix"
        mass = frame.bodies.mass[0]
        normals = frame.contacts.normal
        v = frame.bodies.velocity[0, :3] + frame.h * frame.bodies.force[0, :3] / mass
        return ss.Problem.from_arrays(normals @ normals.T / mass, normals @ v)

    @own_normals.recover
    def impulses(frame, problem, x):
        return {"normal_impulse": x}

    frame = brick(speed=2.0)
    result = ss.solve(frame, "lemke", formulation="own-normals")
    assert result.normal_impulse.tolist() == pytest.approx([0.1962]) and result.velocity[0, 0] == 2.0
    assert abs(result.velocity[0, 2]) < 1e-15


def test_exceptions_in_a_formulation_come_out():
    @ss.formulation
    def own_broken(contact):
        return [contact.no_such_thing]

    with pytest.raises(AttributeError, match="no_such_thing"):
        ss.solve(brick(), formulation="own-broken")
    with pytest.raises(AttributeError, match="no_such_thing"):
        brick().problem("own-broken")
    with pytest.raises(TypeError, match="'contact'.*'frame'"):
        ss.formulation(lambda body: [])


def test_a_failing_solver_says_why_where_no_exception_can_go():
    @ss.solver(name="own-failing")
    def failing(problem, run):
        raise ArithmeticError("42 is not enough")

    with pytest.raises(ArithmeticError):
        ss.solve(brick(), "own-failing")


def test_c_plugins_are_built_with_the_flags_of_the_package(tmp_path):
    """Linked with the library of the package: its names are not global, because those of its HDF5 and BLAS are not either."""
    flags = subprocess.run([sys.executable, "-m", "stickslip", "--cflags", "--libs"], check=True, capture_output=True, text=True).stdout
    built = tmp_path / "my_solver.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(SOURCE / "examples/plugin/my_solver.c"), *flags.split(), "-o", str(built)],
                   check=True)
    plugin = ss.load_plugin(built)
    assert plugin.solvers and all(name in [item.name for item in ss.solvers()] for name in plugin.solvers)
    result = ss.solve(brick(), plugin.solvers[0], formulation="box", stop="energy<1e-12")
    assert result.status in ("converged", "max iterations", "not applicable")


def test_what_was_lent_for_a_call_says_so_when_it_is_used_later():
    """Kept objects would look at memory that is gone: once a crash of the interpreter."""
    kept = {}

    @ss.solver(name="own-keeper")
    def keeper(problem, run):
        kept.update(problem=problem, run=run, b=problem.b, matrix=problem.dense())
        return problem.project(problem.b)

    @ss.metric(name="own_keeper")
    def keep_answer(frame, answer):
        kept.update(frame=frame, contacts=frame.contacts, answer=answer, velocity=answer.velocity, mu=frame.contacts.mu)
        return 0.0

    @ss.formulation(name="own-keeping")
    def keep_contact(contact):
        kept.update(contact=contact, inner=contact.frame, normal=contact.normal)
        return [contact.normal_unknown()]

    @ss.formulation(name="own-cached", laws="box", models=[])
    def cached(frame):
        return kept.setdefault("made", ss.Problem.from_arrays([[0.5]], [-0.0981]))

    cached.recover(lambda frame, problem, x: {"normal_impulse": x})

    ss.solve(brick(), keeper)
    ss.solve(brick(), "lemke", formulation="own-keeping")
    ss.solve(brick(), "lemke", formulation="own-cached")
    gc.collect()
    size = len(kept["b"])
    for look in (lambda: kept["problem"].apply(np.zeros(size)), lambda: kept["problem"].measure(np.zeros(size)),
                 lambda: kept["problem"].A, lambda: kept["run"].iteration(np.zeros(size)), lambda: kept["run"].late,
                 lambda: kept["frame"].contacts, lambda: kept["frame"].copy(), lambda: kept["contacts"].gap,
                 lambda: kept["answer"].velocity, lambda: kept["inner"].h, lambda: kept["contact"].frame.h,
                 lambda: ss.solve(brick(), "lemke", formulation="own-cached"), lambda: ss.solve(kept["problem"], "nsgs")):
        with pytest.raises(ss.UsageError, match="one call, which is over"):
            look()
    assert "over" in repr(kept["problem"]) + repr(kept["frame"]) + repr(kept["answer"])
    assert kept["velocity"].shape == (1, 6) and kept["mu"].shape == (1, 2) and kept["normal"].tolist() == [0, 0, 1]
    assert kept["matrix"].shape == (size, size)


def test_a_solver_that_returns_too_early():
    """A solution counts if it is one; nothing at all is a failure that says why; a single number is no solution."""
    frame = brick()

    @ss.solver(name="own-direct")
    def direct(problem, run):
        return ss.solve(frame, "nsgs", stop="natural_map<1e-12").x

    @ss.solver(name="own-wrong")
    def wrong(problem, run):
        return np.zeros(problem.size)

    @ss.solver(name="own-idle")
    def idle(problem, run):
        run.iteration()

    @ss.solver(name="own-number")
    def number(problem, run):
        return 7

    assert ss.solve(frame, direct, stop="natural_map<1e-8").status == "converged"
    assert ss.solve(frame, wrong, stop="natural_map<1e-8").status == "stalled"
    failed = ss.solve(frame, idle, explain=True)
    assert failed.status == "failed" and "before run.iteration(x) was false" in failed.notes
    with pytest.raises(ValueError, match=r"number returned has the shape \(1?,?\), must be"):
        ss.solve(frame, number)


def test_what_is_no_solver_is_named():
    with pytest.raises(TypeError, match="@ss.solver"):
        ss.solve(brick(), lambda problem, run: None)
    with pytest.raises(TypeError, match="name.*not a int"):
        ss.solve(brick(), 3)
    with pytest.raises(ss.UsageError, match="iterations"):
        ss.solve(brick(), "nsgs", iterations=10**30)
    with pytest.raises(ss.UsageError, match="iterations"):
        ss.solve(brick(), "nsgs", iterations=-1)
    with pytest.raises(ss.UsageError, match="time_limit"):
        ss.solve(brick(), "nsgs", time_limit=-1.0)
    with pytest.raises(ss.UsageError, match="time_limit"):
        ss.solve(brick(), "nsgs", time_limit=float("nan"))


def test_no_iterations_judge_the_start():
    result = ss.solve(brick(), "nsgs", iterations=0)
    assert result.iterations == 0 and not result.normal_impulse.any() and result.metrics["energy"].value > 0

    @ss.solver(name="own-text")
    def with_text(problem, run, colour="red"):
        return "stalled"

    with pytest.raises(ss.UsageError, match="colour='dark red'.*no blanks"):
        ss.solve(brick(), with_text, colour="dark red")


def test_what_a_formulation_must_return():
    def solved(function, **rules):
        ss.formulation(name="own-odd", **rules)(function)
        return ss.solve(brick(), "nsgs", formulation="own-odd", iterations=5)

    with pytest.raises(TypeError, match="list of ss.Unknown, not None"):
        solved(lambda contact: None)
    with pytest.raises(TypeError, match="list of ss.Unknown"):
        solved(lambda contact: [1, 2])
    with pytest.raises(ss.UsageError, match="unknown law 'cube'"):
        solved(lambda contact: [ss.Unknown(contact.normal, "cube")])

    whole = ss.formulation(name="own-whole", laws="box", models=[])(lambda frame: ss.Problem.from_arrays([[0.5]], [-0.0981]))
    whole.recover(lambda frame, problem, x: {"normal": x})
    with pytest.raises(ss.UsageError, match="no 'normal'; there are .*normal_impulse"):
        ss.solve(brick(), "lemke", formulation="own-whole")
    whole.recover(lambda frame, problem, x: None)
    with pytest.raises(TypeError, match="dictionary of impulses, not a NoneType"):
        ss.solve(brick(), "lemke", formulation="own-whole")


def test_numbers_and_sizes_that_do_not_fit_are_refused():
    """A start of another frame was read beyond its end."""
    small = ss.solve(brick())
    large = heap(20)
    for start in (small.answer, small, np.zeros(3)):
        with pytest.raises((ValueError, TypeError), match="the answer has|expected an Answer"):
            ss.solve(large, "nsgs", start=start)
    with pytest.raises(ValueError, match="the answer has"):
        large.problem("cone").guess(small.answer)
    with pytest.raises(ss.InputError, match="A has numbers that are not finite"):
        ss.Problem.from_arrays([[np.nan]], [1.0])
    with pytest.raises(ss.InputError, match="b has numbers that are not finite"):
        ss.Problem.from_arrays([[1.0]], [np.inf])
    with pytest.raises(TypeError, match="z is None"):
        brick().problem("stewart-trinkle").recover(None)
    with pytest.raises(ss.UsageError, match="there are .*velocity"):
        ss.Answer.from_arrays(brick(), speed=[[1.0]])
    with pytest.raises(ss.UsageError, match="at most"):
        ss.Frame(bodies=2**32 + 1)
    with pytest.raises(ss.UsageError, match="-1 steps"):
        ss.Sim(ss.World()).step(-1)
