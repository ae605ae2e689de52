"""Recording ODE: by calls (one small world per feature), and preloaded into a program that knows nothing of it."""
import subprocess

import h5py
import numpy as np
import pytest

from record_kit import call, check_balance, frames, metrics, recorder, solve_as, tool
from test_cli import BAD_INPUT, USAGE, run, run_json

PACKAGE = "libode-dev"
FEATURES = ["stick", "constant", "slide", "bounce", "soft", "belt", "kinematic", "motor", "damping", "sleep", "rolling"]
DEMOS = [("stack", "step"), ("stack", "quick"), ("vehicle", "step"), ("vehicle", "quick"), ("grasp", "step"), ("grasp", "quick")]


@pytest.fixture(scope="module")
def featured(tmp_path_factory):
    program, made = tool("ode_features", PACKAGE), {}

    def make(feature, stepper):
        if (feature, stepper) not in made:
            path = tmp_path_factory.mktemp("ode") / f"{feature}-{stepper}.h5"
            steps = 30 if feature == "sleep" else 12
            made[feature, stepper] = path, call(program, feature, stepper, path, steps).stdout
        return made[feature, stepper]
    return make


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    """The demo programs, recorded from outside: every sixth of 120 steps."""
    recorder("ode", PACKAGE)
    program, folder, made = tool("demo_ode_scenes", PACKAGE), tmp_path_factory.mktemp("demos"), {}
    for scene, stepper in DEMOS:
        path = folder / f"{scene}-{stepper}.h5"
        ended = run("record", "--engine", "ode", "-o", path, "--every", 6, "--", program, scene, 120, stepper)
        made[scene, stepper] = path, ended.stdout
    return made


# ---- what is in a frame is what ODE solved -------------------------------------------------------------------

@pytest.mark.parametrize("stepper", ["step", "quick"])
@pytest.mark.parametrize("feature", FEATURES)
def test_impulses_explain_velocities(featured, feature, stepper):
    # QuickStep adds up to its velocities in 20 sweeps: a few hundred roundings
    path, _ = featured(feature, stepper)
    assert check_balance(path, 1e-13) >= 12
    run("check", path)


@pytest.mark.parametrize("feature", ["stick", "constant", "slide", "bounce", "soft", "belt", "kinematic", "motor", "damping", "sleep"])
def test_our_solver_finds_the_velocities_of_the_direct_stepper(featured, feature, tmp_path):
    # ODE has its CFM of 1e-10 in friction rows, too: 1e-8 m/s per N s, with impulses below 1 N s; soft: 1e-4, 20 N
    path, _ = featured(feature, "step")
    differences = solve_as(path, tmp_path / "solved.h5")
    assert max(differences) < 1e-7, differences


def test_where_boxes_slide_on_each_other_ode_takes_its_bounds_from_a_solution_without_friction(demos):
    # dxSolveLCP: friction bounds are fixed when the first friction row is met; loads that change after that go unnoticed
    path, _ = demos["stack", "step"]
    judged = metrics(path)
    assert max(m["cone"] for m in judged) > 1e-2  # N s beyond the cone
    assert max(m["complementarity"] for m in judged) < 1e-9 and max(m["joint_speed"] for m in judged) < 1e-9  # all else is right


def test_a_frame_names_what_it_cannot_hold(featured):
    path, notes = featured("rolling", "step")
    assert "rolling friction" in notes and "joints" in notes
    assert not featured("stick", "step")[1]
    arrays, _ = next(frames(path))
    coupled = arrays["constraints/friction_row"].ravel() >= 0
    assert coupled.sum() == 25 and len(arrays["constraints/pairs"]) == 5  # box: 4 points, ball: 1; two tangents, three axes each


def test_gravity_spin_and_loads_are_in_the_forces(featured):
    arrays, _ = next(frames(featured("damping", "step")[0]))
    force = arrays["bodies/forces"].reshape(-1, 6)
    np.testing.assert_allclose(force[0, :3], [0, 0, -2 * 9.81], rtol=1e-14)
    assert np.linalg.norm(force[0, 3:]) > 0.01  # gyroscopic
    np.testing.assert_allclose(force[1, :3], 0)  # gravity is switched off for it


def test_sleepers_are_asleep_and_wake_up(featured):
    states = np.array([np.ravel(arrays["bodies/states"]) for arrays, _ in frames(featured("sleep", "step")[0])])
    assert (states[:, 2] == 0).any(), "the box by itself never fell asleep"
    assert states[-1, 1] == 1


def test_moving_scenery_is_not_a_body(featured):
    path, _ = featured("kinematic", "step")
    arrays, _ = next(frames(path))
    assert np.size(arrays["bodies/ids"]) == 2 and "scenery/positions" in arrays
    assert np.abs(arrays["contacts/surface_velocities"]).max() > 0.05
    assert np.abs(arrays["constraints/time_derivative"]).max() > 0.1


# ---- programs that know nothing of it -----------------------------------------------------------------------

def test_the_program_computes_the_same(demos):
    program = tool("demo_ode_scenes", PACKAGE)
    for (scene, stepper), (_, said) in demos.items():
        assert said == call(program, scene, 120, stepper).stdout, (scene, stepper)


def test_recordings_of_the_demos_are_good(demos):
    for path, _ in demos.values():
        report = run_json("check", path)
        assert report["ok"] and not report["warnings"], report
        assert check_balance(path, 1e-12) == 20


def test_auto_solves_what_ode_had_to_solve(demos):
    for path, _ in demos.values():
        solved = run_json("solve", path, "--stop", "relative_energy<1e-8")
        assert all(frame["status"] == "converged" for frame in solved["frames"])


def test_report_and_replay_show_the_engine_beside_us(demos, tmp_path):
    path, _ = demos["stack", "quick"]
    run("bench", path, "--recorded", "-s", "auto", "-o", tmp_path / "r.db", "--quiet")
    run("report", tmp_path / "r.db", "-o", tmp_path / "r.html")
    assert "ODE_quickstep" in (tmp_path / "r.html").read_text()
    run("view", path, "-o", tmp_path / "v.html")
    assert "ODE_quickstep" in (tmp_path / "v.html").read_text()
    with h5py.File(path) as file:
        assert len(file["simulation_000001/shapes/kinds"]) == 13  # 6 boxes, 6 capsules, the table


def test_quickstep_is_worse_than_auto_by_our_metrics(demos):
    worst = max(m["relative_energy"] for m in metrics(demos["stack", "quick"][0]))
    assert worst > 1e-3
    assert any(m["anomalous_contacts"] for m in metrics(demos["stack", "quick"][0]))


def test_which_steps(demos, tmp_path):
    program = tool("demo_ode_scenes", PACKAGE)
    run("record", "-e", "ode", "-o", tmp_path / "some.h5", "--first", 11, "--every", 4, "--last", 20, "--", program, "stack", 30)
    times = [float(np.ravel(arrays["time"])[0]) for arrays, _ in frames(tmp_path / "some.h5")]
    np.testing.assert_allclose(times, [0.10, 0.14, 0.18], atol=1e-12)


def test_a_script_that_starts_the_program_is_recorded_too(tmp_path):
    program = tool("demo_ode_scenes", PACKAGE)
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\necho starting\n{program} stack 5\n")
    script.chmod(0o755)
    said = run("record", "-e", "ode", "-o", tmp_path / "s.h5", "--", script).stderr
    assert "recorded 5 frames" in said


def test_what_was_recorded_survives_the_death_of_the_program(tmp_path):
    program, path = tool("demo_ode_scenes", PACKAGE), tmp_path / "killed.h5"
    script = tmp_path / "die.sh"
    script.write_text(f"#!/bin/sh\n{program} stack 20\nkill -9 $$\n")
    script.chmod(0o755)
    said = run("record", "-e", "ode", "-o", path, "--", script, code=1).stderr
    assert "signal 9" in said and "recorded 20 frames" in said
    run("check", path)


# ---- what it says when it cannot ----------------------------------------------------------------------------

def compiler():
    for name in ("cc", "gcc"):
        if subprocess.run(["which", name], capture_output=True).returncode == 0:
            return name
    pytest.skip("no C compiler")


def test_a_static_engine_is_named(tmp_path):
    recorder("ode", PACKAGE)
    (tmp_path / "a.c").write_text('#include <ode/ode.h>\nint main(void){dInitODE();dWorldID w=dWorldCreate();dBodyCreate(w);'
                                  'dWorldStep(w,0.01);return 0;}')
    built = subprocess.run([compiler(), tmp_path / "a.c", "-o", tmp_path / "a", "-Wl,-Bstatic", "-lode", "-Wl,-Bdynamic",
                            "-lccd", "-lstdc++", "-lm", "-lpthread"], capture_output=True, text=True)
    if built.returncode:
        pytest.skip("no static ODE to link: " + built.stderr[-200:])
    said = run("record", "-e", "ode", "-o", tmp_path / "a.h5", "--", tmp_path / "a", code=BAD_INPUT).stderr
    assert "linked into the program statically" in said
    assert not (tmp_path / "a.h5").exists()


def test_another_version_is_named(tmp_path):
    """A libode.so.8 that has the names of the public functions and nothing of what is behind them."""
    recorder("ode", PACKAGE)
    (tmp_path / "fake.c").write_text(
        "int dWorldStep(void*w,double h){(void)w;(void)h;return 7;}int dWorldQuickStep(void*w,double h){(void)w;(void)h;return 7;}"
        "int dCheckConfiguration(const char*t){(void)t;return 1;}const double*dBodyGetPosition(void*b){(void)b;return 0;}")
    (tmp_path / "main.c").write_text("int dWorldStep(void*,double);int main(void){return dWorldStep(0,0.01)==7?0:1;}")
    call(compiler(), "-shared", "-fPIC", tmp_path / "fake.c", "-o", tmp_path / "libode.so.8", "-Wl,-soname,libode.so.8")
    call(compiler(), tmp_path / "main.c", tmp_path / "libode.so.8", "-o", tmp_path / "m", f"-Wl,-rpath,{tmp_path}")
    said = run("record", "-e", "ode", "-o", tmp_path / "m.h5", "--", tmp_path / "m", code=BAD_INPUT).stderr
    assert "libode.so.8 is not an ODE that this recorder knows" in said and "0.16" in said


def test_programs_without_the_engine_are_named(tmp_path):
    recorder("ode", PACKAGE)
    said = run("record", "-e", "ode", "-o", tmp_path / "t.h5", "--", "true", code=BAD_INPUT).stderr
    assert "never loaded the shared library of ODE" in said
    said = run("record", "-e", "ode", "-o", tmp_path / "t.h5", "--", tmp_path / "absent", code=BAD_INPUT).stderr
    assert "cannot be started: No such file" in said
    said = run("record", "-e", "ode", "-o", tmp_path / "t.h5", "--first", 9, "--", tool("demo_ode_scenes", PACKAGE), "stack", 5,
               code=BAD_INPUT).stderr
    assert "none of its 5 steps" in said
    run("record", "-e", "ode", "--", "true", code=USAGE)
