"""Recording MuJoCo: by calls (one small model per feature), and preloaded into a program that knows nothing of it. The balance
holds to the tolerance of MuJoCo's solver, which is 1e-8 of its own scale by default."""
import h5py
import numpy as np
import pytest

from record_kit import call, check_balance, frames, metrics, recorder, solve_as, tool
from test_cli import BAD_INPUT, run, run_json

PACKAGE = "libmujoco-dev"
TOLERANCE = 1e-7
BOX = "<body pos='0 0 {z}'><freejoint/><geom type='box' size='.15 .1 .05' mass='2' condim='{dim}'/></body>"
MODELS = {
    "pendulum": "<worldbody><body><joint type='hinge' axis='0 1 0' pos='-.3 0 0' limited='true' range='-1 5' armature='.01' "
                "damping='.1' stiffness='2' frictionloss='.2'/><geom type='box' size='.3 .05 .05'/><body pos='.3 0 0'>"
                "<joint type='ball' pos='0 0 0' armature='.002'/><geom type='box' size='.1 .2 .05' pos='.2 0 0'/>"
                "<body pos='.4 0 0'><geom type='sphere' size='.05'/></body></body></body></worldbody>",
    "motor": "<worldbody><body><joint name='j' type='slide' axis='0 0 1'/><joint name='k' type='hinge' axis='0 0 1'/>"
             "<geom type='box' size='.1 .2 .1'/></body></worldbody><actuator><motor joint='j' gear='5'/><motor joint='k'/></actuator>",
    "limit": "<worldbody><body><joint type='slide' axis='0 0 1' limited='true' range='-.001 1'/><geom type='box' size='.1 .1 .1'/>"
             "</body></worldbody>",
    "equality": "<worldbody><body name='a' pos='0 0 1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                "<body name='b' pos='.3 0 1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                "<body name='c' pos='.6 0 1'><freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody>"
                "<equality><connect body1='a' body2='b' anchor='.15 0 0'/><weld body1='b' body2='c'/>"
                "<connect body1='a' anchor='-.1 0 0'/></equality>",
    "spinner": "<worldbody><body><freejoint/><geom type='box' size='.1 .2 .3'/></body></worldbody>"
               "<keyframe><key qvel='0 0 0 3 5 4'/></keyframe>",
    "contact1": "<worldbody><geom type='plane' size='5 5 1'/>" + BOX.format(z=0.0495, dim=1) + "</worldbody>",
    "contact3": "<worldbody><geom type='plane' size='5 5 1'/>" + BOX.format(z=0.0495, dim=3) + "</worldbody>"
                "<keyframe><key qpos='0 0 .0495 1 0 0 0' qvel='1 .3 0 0 0 2'/></keyframe>",
    "contact6": "<worldbody><geom type='plane' size='5 5 1'/><body pos='0 0 .0995'><freejoint/>"
                "<geom type='sphere' size='.1' mass='2' condim='6' friction='.6 .05 .01'/></body></worldbody>"
                "<keyframe><key qpos='0 0 .0995 1 0 0 0' qvel='.2 0 0 0 2 2'/></keyframe>",
    "contact4": "<option cone='elliptic'/><worldbody><geom type='plane' size='5 5 1' friction='.3 .02 0'/>"
                "<body pos='0 0 .0995'><freejoint/><geom type='sphere' size='.1' mass='2' condim='4' friction='.3 .02 0'/></body></worldbody>"
                "<keyframe><key qpos='0 0 .0995 1 0 0 0' qvel='1 0 0 0 0 20'/></keyframe>",
    "tendon": "<worldbody><body><joint name='j' type='slide' axis='0 0 1'/><geom type='box' size='.1 .1 .1'/></body>"
              "<body pos='1 0 0'><joint name='k' type='slide' axis='0 0 1'/><geom type='box' size='.1 .1 .1'/></body></worldbody>"
              "<tendon><fixed limited='true' range='-.001 1'><joint joint='j' coef='1'/><joint joint='k' coef='.5'/></fixed></tendon>",
}
EXACT = ["pendulum", "motor", "limit", "equality", "spinner", "contact1", "contact3", "contact6"]
DEMOS = [("stack", "newton", "pyramidal"), ("stack", "pgs", "pyramidal"), ("vehicle", "newton", "elliptic"),
         ("grasp", "newton", "pyramidal")]


@pytest.fixture(scope="module")
def featured(tmp_path_factory):
    program, folder, made = tool("mujoco_features", PACKAGE), tmp_path_factory.mktemp("mujoco"), {}

    def make(name, *rows):
        if (name, *rows) not in made:
            model, path = folder / f"{name}.xml", folder / ("-".join((name, *rows)) + ".h5")
            model.write_text(f"<mujoco><option timestep='.01'/>{MODELS[name]}</mujoco>")
            made[name, *rows] = path, call(program, model, path, 12, *rows).stdout
        return made[name, *rows]
    return make


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    recorder("mujoco", PACKAGE)
    program, folder, made = tool("demo_mujoco_scenes", PACKAGE), tmp_path_factory.mktemp("demos"), {}
    for words in DEMOS:
        path = folder / ("-".join(words) + ".h5")
        ended = run("record", "--engine", "mujoco", "-o", path, "--every", 10, "--", program, words[0], 120, *words[1:])
        made[words] = path, ended.stdout
    return made


@pytest.mark.parametrize("rows", [(), ("rows",)], ids=["contacts", "rows"])
@pytest.mark.parametrize("name", MODELS)
def test_impulses_explain_velocities(featured, name, rows):
    path, _ = featured(name, *rows)
    assert check_balance(path, TOLERANCE) == 12
    run("check", path)


@pytest.mark.parametrize("name", EXACT)
def test_our_solver_finds_newtons_velocities(featured, name, tmp_path):
    """With contacts as the rows that MuJoCo makes of them, the problems are the same."""
    differences = solve_as(featured(name, "rows")[0], tmp_path / "solved.h5")
    assert max(differences) < 1e-6, differences  # m/s; MuJoCo's tolerance of 1e-8 is one of energy


def test_a_contact_without_friction_is_the_same_as_a_contact(featured, tmp_path):
    differences = solve_as(featured("contact1")[0], tmp_path / "solved.h5")
    assert max(differences) < 1e-6, differences


def test_softness_of_friction_is_creep(featured):
    judged = metrics(featured("contact3")[0])
    assert max(m["creep_max"] or 0.0 for m in judged[6:]) > 1e-6


def test_notes_name_what_a_frame_cannot_hold(featured):
    assert "tendons" in featured("tendon")[1]
    assert not featured("pendulum")[1] and not featured("contact6")[1] and not featured("contact6", "rows")[1]


def test_spinning_friction_is_one_ellipsoid_with_sliding(featured):
    """MuJoCo's elliptic cone is ours: friction lies on it, against sliding and spinning together. Its law is the convex one, which
    lifts what slides off the ground, and its friction is soft: that is what is left."""
    path, touching = featured("contact4")[0], 0
    for (arrays, _), judged in zip(frames(path), metrics(path)):
        assert np.abs(np.ravel(arrays["bodies/forces"])[3:]).max() < 1e-12  # N m, rounding: it is not a torque from outside
        if not judged["sliding"]:
            continue
        touching += 1
        assert np.allclose(arrays["contacts/mu_t"], 0.02) and np.all(arrays["contacts/spin_coupling"] == 1)
        assert judged["cone"] < 1e-9 and judged["alignment"] < 1e-3, judged  # 1.7e-5 here: softness
        assert abs(judged["dissipation_gap"]) < 1e-3 * abs(judged["contact_work"]), judged
    assert touching >= 2


def test_welded_bodies_are_one_and_joints_are_rows(featured):
    arrays, _ = next(frames(featured("pendulum")[0]))
    assert np.size(arrays["bodies/ids"]) == 2
    rows = np.ravel(arrays["constraints/rows"]).tolist()
    assert rows[:5] == [5, 1, 3, 1, 1]  # hinge and its armature, ball and its three; then friction and the like


def test_the_program_computes_the_same(demos):
    program = tool("demo_mujoco_scenes", PACKAGE)
    for words, (_, said) in demos.items():
        assert said == call(program, words[0], 120, *words[1:]).stdout, words


def test_recordings_of_the_demos_are_good_and_auto_solves_them(demos):
    for path, _ in demos.values():
        report = run_json("check", path)
        assert report["ok"] and not report["warnings"], report
        assert check_balance(path, TOLERANCE) == 12  # and not the step that MuJoCo's compiler tries
        solved = run_json("solve", path, "--stop", "relative_energy<1e-8")
        assert all(frame["status"] == "converged" for frame in solved["frames"])


def test_report_and_replay_show_the_engine_beside_us(demos, tmp_path):
    path, _ = demos["stack", "newton", "pyramidal"]
    run("bench", path, "--recorded", "-s", "auto", "-o", tmp_path / "r.db", "--quiet")
    run("report", tmp_path / "r.db", "-o", tmp_path / "r.html")
    run("view", path, "-o", tmp_path / "v.html")
    for page in ("r.html", "v.html"):
        assert "MuJoCo_Newton" in (tmp_path / page).read_text()
    with h5py.File(path) as file:
        assert len(file["simulation_000001/shapes/kinds"]) == 13  # 6 boxes, 6 capsules, the table


def test_another_version_is_named(tmp_path):
    recorder("mujoco", PACKAGE)
    (tmp_path / "fake.c").write_text('void mj_step(void*m,void*d){(void)m;(void)d;}int mj_version(void){return 311;}'
                                     'const char*mj_versionString(void){return "3.1.1";}')
    (tmp_path / "main.c").write_text("void mj_step(void*,void*);int main(void){mj_step(0,0);return 0;}")
    call("cc", "-shared", "-fPIC", tmp_path / "fake.c", "-o", tmp_path / "libmujoco.so.3", "-Wl,-soname,libmujoco.so.3")
    call("cc", tmp_path / "main.c", tmp_path / "libmujoco.so.3", "-o", tmp_path / "m", f"-Wl,-rpath,{tmp_path}")
    said = run("record", "-e", "mujoco", "-o", tmp_path / "m.h5", "--", tmp_path / "m", code=BAD_INPUT).stderr
    assert "MuJoCo 3.1.1 is not the one that this recorder was built for" in said


# ---- generalised coordinates -------------------------------------------------------------------------------------------

def csr(arrays, name, rows, columns):
    start, column, value = (np.ravel(arrays[f"generalized/{name}/{part}"]) for part in ("indptr", "indices", "values"))
    dense = np.zeros((rows, columns))
    for row in range(rows):
        dense[row, column[start[row]:start[row + 1]]] = value[start[row]:start[row + 1]]
    return dense


@pytest.mark.parametrize("name", ["pendulum", "motor", "tendon"])
def test_trees_are_recorded_in_mujocos_own_coordinates(featured, name):
    """T is MuJoCo's Jacobian and M its mass matrix: T' (masses of bodies) T and the armatures, by numbers of this test."""
    path, _ = featured(name)
    run("check", path)  # T v, implied joints, the mass matrix
    for arrays, results in frames(path):
        mass, v = np.ravel(arrays["bodies/masses"]), np.ravel(arrays["generalized/velocities"])
        count, nv = len(mass), len(v)
        T, M = csr(arrays, "map", 6 * count, nv), csr(arrays, "mass", nv, nv)
        assert np.abs(T @ v - np.reshape(arrays["bodies/velocities"], 6 * count)).max() < 1e-12
        masses, inertia = np.zeros((6 * count, 6 * count)), np.reshape(arrays["bodies/world_inertia_tensors"], (count, 3, 3))
        for b in range(count):
            masses[6 * b:6 * b + 3, 6 * b:6 * b + 3] = mass[b] * np.eye(3)
            masses[6 * b + 3:6 * b + 6, 6 * b + 3:6 * b + 6] = inertia[b]
        rotors = np.diag([0.01, 0.002, 0.002, 0.002]) if name == "pendulum" else np.zeros((nv, nv))
        assert np.abs(np.tril(T.T @ masses @ T + rotors) - M).max() < 1e-12 * np.abs(M).max()
        (result,) = results.values()
        after = np.ravel(result["generalized_velocities"])
        assert np.abs(T @ after - np.reshape(result["velocities"], 6 * count)).max() < 1e-12


def test_a_recorded_tree_is_solved_alike_in_both_coordinates(featured):
    path, _ = featured("pendulum")
    change = []
    for kind in ("maximal", "minimal"):
        solved = run_json("solve", path, "--frame", 5, "--with", f"coordinates={kind}", "--stop", "relative_energy<1e-10")
        assert solved["frames"][0]["status"] == "converged"
        change.append(solved["frames"][0]["metrics"]["kinetic_energy_change"]["value"])
    assert change[0] == pytest.approx(change[1], rel=1e-7)


def test_free_bodies_need_no_coordinates_of_their_own(featured):
    for arrays, _ in frames(featured("contact3")[0]):
        assert not any(name.startswith("generalized") for name in arrays)
