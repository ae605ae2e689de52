"""Recording Bullet: by a solver that is recorded (one small world per feature), and preloaded into a program that knows nothing of
it. Bullet works in single precision: its rounding is 1e-7 of what is added."""
import h5py
import numpy as np
import pytest

from record_kit import call, check_balance, frames, metrics, recorder, solve_as, tool
from test_cli import BAD_INPUT, run, run_json

PACKAGE = "libbullet-dev"
ROUNDING = 3e-6  # of a few dozen additions in single precision
FEATURES = ["stick", "ball", "slide", "bounce", "split", "soft", "kinematic", "hinge", "spin", "sleep", "rolling"]
DEMOS = [("stack", "si"), ("stack", "mlcp"), ("vehicle", "si"), ("grasp", "si")]


@pytest.fixture(scope="module")
def featured(tmp_path_factory):
    program, made = tool("bullet_features", PACKAGE), {}

    def make(feature, solver):
        if (feature, solver) not in made:
            path = tmp_path_factory.mktemp("bullet") / f"{feature}-{solver}.h5"
            made[feature, solver] = path, call(program, feature, solver, path).stdout
        return made[feature, solver]
    return make


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    recorder("bullet", PACKAGE)
    program, folder, made = tool("demo_bullet_scenes", PACKAGE), tmp_path_factory.mktemp("demos"), {}
    for scene, solver in DEMOS:
        path = folder / f"{scene}-{solver}.h5"
        ended = run("record", "--engine", "bullet", "-o", path, "--every", 10, "--", program, scene, 120, solver)
        made[scene, solver] = path, ended.stdout
    return made


@pytest.mark.parametrize("feature", FEATURES)
def test_impulses_explain_velocities(featured, feature):
    path, _ = featured(feature, "si")
    assert check_balance(path, ROUNDING) == 12
    run("check", path)


@pytest.mark.parametrize("feature, solver", [("hinge", "dantzig"), ("bounce", "dantzig"), ("ball", "dantzig"), ("spin", "dantzig"),
                                             ("hinge", "lemke"), ("slide", "si"), ("kinematic", "si")])
def test_our_solver_finds_bullets_velocities(featured, feature, solver, tmp_path):
    """Where Bullet's solver finds a solution: pivoting solvers without redundant contacts, sweeps on the easiest problems."""
    path, said = featured(feature, solver)
    assert said.startswith("0 fallbacks")
    differences = solve_as(path, tmp_path / "solved.h5")
    assert max(differences) < 2e-5, differences  # m/s, at speeds and gap terms of 1 m/s


def test_one_friction_direction_is_one_by_default(featured):
    for feature, across in [("slide", 0.0), ("stick", 1.0)]:
        arrays = [arrays for arrays, _ in frames(featured(feature, "si")[0]) if np.size(arrays.get("contacts/mu_k", ()))]
        mu = np.concatenate([np.reshape(a["contacts/mu_k"], (-1, 2)) for a in arrays])
        assert len(mu) and (mu[:, 0] > 0).all() and (mu[:, 1] == across).all()


def test_split_impulses_are_not_part_of_the_velocities(featured):
    arrays, results = next(frames(featured("split", "si")[0]))
    assert np.min(arrays["contacts/gaps"]) < -0.04
    up = np.reshape(results["Bullet_sequential_impulse"]["velocities"], 6)[2]
    assert up < 0.1  # removing a fifth of 4.5 cm in a step would be 0.9 m/s


def test_rolling_friction_sleep_and_scenery(featured):
    path, said = featured("rolling", "si")
    assert "recorded as joints" in said
    assert any((np.ravel(arrays.get("constraints/friction_row", [])) >= 0).sum() == 5 for arrays, _ in frames(path))
    states = [np.ravel(arrays["bodies/states"]).tolist() for arrays, _ in frames(featured("sleep", "si")[0])]
    assert any(0 in state and 1 in state for state in states)
    arrays, _ = next(frames(featured("kinematic", "si")[0]))
    assert np.size(arrays["bodies/ids"]) == 1 and "scenery/positions" in arrays


def test_the_program_computes_the_same(demos):
    program = tool("demo_bullet_scenes", PACKAGE)
    for (scene, solver), (_, said) in demos.items():
        assert said == call(program, scene, 120, solver).stdout, (scene, solver)


def test_recordings_of_the_demos_are_good_and_auto_solves_them(demos):
    for path, _ in demos.values():
        report = run_json("check", path)
        assert report["ok"] and not report["warnings"], report
        assert check_balance(path, ROUNDING) == 12
        solved = run_json("solve", path, "--stop", "relative_energy<1e-8")
        assert all(frame["status"] == "converged" for frame in solved["frames"])


def test_report_and_replay_show_the_engine_beside_us(demos, tmp_path):
    path, _ = demos["stack", "si"]
    run("bench", path, "--recorded", "-s", "auto", "-o", tmp_path / "r.db", "--quiet")
    run("report", tmp_path / "r.db", "-o", tmp_path / "r.html")
    run("view", path, "-o", tmp_path / "v.html")
    for page in ("r.html", "v.html"):
        assert "Bullet_sequential_impulse" in (tmp_path / page).read_text()
    with h5py.File(path) as file:
        assert len(file["simulation_000001/shapes/kinds"]) == 13  # 6 boxes, 6 capsules, the table
    assert max(m["relative_energy"] for m in metrics(path)) > 1e-3


def test_another_version_is_named(tmp_path):
    """A Bullet of another version that has the names, and nothing of what is behind them."""
    recorder("bullet", PACKAGE)
    solve = "_ZN23btDiscreteDynamicsWorld16solveConstraintsER19btContactSolverInfo"
    (tmp_path / "fake.c").write_text(f"int called;void {solve}(void*w,void*i){{(void)w;(void)i;called++;}}")
    (tmp_path / "main.c").write_text(f"extern int called;void {solve}(void*,void*);int main(void){{{solve}(0,0);return called-1;}}")
    call("cc", "-shared", "-fPIC", tmp_path / "fake.c", "-o", tmp_path / "libBulletDynamics.so.2.89",
         "-Wl,-soname,libBulletDynamics.so.2.89")
    call("cc", tmp_path / "main.c", tmp_path / "libBulletDynamics.so.2.89", "-o", tmp_path / "m", f"-Wl,-rpath,{tmp_path}")
    said = run("record", "-e", "bullet", "-o", tmp_path / "m.h5", "--", tmp_path / "m", code=BAD_INPUT).stderr
    assert "libBulletDynamics.so.2.89 is not the Bullet" in said and "3.24" in said
