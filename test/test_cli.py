"""The command line as its users meet it: messages, exit codes, streams, the JSON that other programs rely on,
conversions, and what happens when a file is hostile or the disk is full."""
import json
import os
import pty
import re
import resource
import shlex
import signal
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

PROGRAM = os.environ["SS_PROGRAM"]
SOURCE = Path(os.environ["SS_SOURCE_DIR"])
INF = float("inf")
VERBS = re.findall(r"^SS_VERB\((\w+)\)", (SOURCE / "src/cli/verbs.def").read_text(), re.M)
DONE, USAGE, BAD_INPUT, RESOURCES = 0, 2, 3, 4


def run(*arguments, **options):
    """Runs stickslip; `code` is the exit code it must end with (None: do not look)."""
    code = options.pop("code", DONE)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("timeout", 60)
    ended = subprocess.run([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, text=True, **options)
    assert code is None or ended.returncode == code, f"exit code {ended.returncode}, not {code}: {ended.stderr}"
    return ended


def run_json(*arguments, **options):
    return json.loads(run(*arguments, "--json", **options).stdout)


def on_terminal(*arguments, **environment):
    """What the program shows when both its streams are a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, [PROGRAM, *map(str, arguments)], {**os.environ, "TERM": "xterm", **environment})
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:  # how Linux says that the other side closed
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode()


# ---- files to play with --------------------------------------------------------------------------------------

def write_frame(group, push=0.0, **changes):
    """Three bodies (the last asleep), a ball joint to the world, two contacts."""
    arrays = {
        "timestep": 0.01,
        "bodies/masses": np.array([[2.0], [3.0], [5.0]]),
        "bodies/positions": np.array([[0, 0, 1.0], [1, 0, 1], [2, 0, 1]]),
        "bodies/quaternions": np.array([[1.0, 0, 0, 0]] * 3),
        "bodies/velocities": np.array([1.0 + push, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 9, 9, 9, 0, 0, 0])[:, None],
        "bodies/forces": np.array([0, 0, -19.62, 0, 0, 0, 0, 0, -29.43, 0, 0, 0, 0, 0, 0, 0, 0, 0])[:, None],
        "bodies/world_inertia_tensors": np.vstack([np.eye(3)] * 3),
        "bodies/ids": np.array([[4], [7], [9]], dtype="i4"),
        "bodies/states": np.array([[1], [1], [-1]], dtype="i4"),
        "constraints/pairs": np.array([[-1, 4]], dtype="i4"),
        "constraints/rows": np.uint64(3),
        "constraints/Jacobian": np.hstack([np.zeros((3, 6)), np.eye(3), np.zeros((3, 3))]),
        "constraints/violations": np.array([[0.1], [0.2], [0.3]]),
        "constraints/time_derivative": np.zeros((3, 1)),
        "constraints/bounds": np.array([[-INF, INF]] * 3),
        "contacts/pairs": np.array([[-1, 4], [4, 7]], dtype="i4"),
        "contacts/points": np.array([[0.0, 0, 0], [0.5, 0, 1]]),
        "contacts/normals": np.array([[0.0, 0, 1], [1, 0, 0]]),
        "contacts/gaps": np.array([[-0.001], [0.002]]),
        "contacts/mu_k": np.array([[0.5, 0.5], [0.3, 0.2]]),
    }
    for path, values in {**arrays, **changes}.items():
        group.create_dataset(path, data=values)
    group["constraints"].attrs["block_order"] = "pairs"


def write_bpmd(path, frames=2, title="two \x1b[31mred\x1b[0m boxes", **changes):
    with h5py.File(path, "w") as file:
        simulation = file.create_group("simulation_000001")
        simulation.attrs["bpmd_format"] = "BPMD-2015"
        simulation["manifest/title"] = np.bytes_(title)
        simulation["manifest/toolkit"] = np.bytes_("test 1.0")
        for number in range(1, frames + 1):
            write_frame(simulation.create_group(f"mbs_frame{number:06d}"), push=0.1 * (number - 1), **changes)


def write_matrix(group, name, matrix):
    rows, columns = np.nonzero(matrix)
    entries = {"m": [matrix.shape[0]], "n": [matrix.shape[1]], "nz": [len(rows)], "nzmax": [len(rows)],
               "i": rows, "p": columns}
    for key, values in entries.items():
        group.create_dataset(f"{name}/{key}", data=np.array(values, dtype="i4"))
    group.create_dataset(f"{name}/x", data=matrix[rows, columns])


def write_fclib(path, reaction=0.0981):
    """A ball of 1 kg resting on the floor; the step's gravity impulse is 0.0981 N s."""
    contact = np.zeros((6, 3))
    contact[2, 0] = contact[0, 1] = contact[1, 2] = 1
    contact[3, 2], contact[4, 1] = 0.5, -0.5  # lever arm (0, 0, -0.5)
    with h5py.File(path, "w") as file:
        problem = file.create_group("fclib_global")
        problem["spacedim"] = np.array([3], dtype="i4")
        write_matrix(problem, "M", np.diag([1.0, 1, 1, 0.1, 0.1, 0.1]))
        write_matrix(problem, "H", contact)
        problem["vectors/f"] = np.array([0, 0, -0.0981, 0, 0, 0])
        problem["vectors/w"] = np.zeros(3)
        problem["vectors/mu"] = np.array([0.7])
        problem["info/title"] = np.bytes_("ball")
        file["solution/u"] = np.zeros(3)
        file["solution/r"] = np.array([reaction, 0, 0])
        file["solution/v"] = np.zeros(6)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small(here):
    write_bpmd("small.h5")
    return "small.h5"


@pytest.fixture
def faulty(here):
    """The first of its two frames has a normal that is too long."""
    write_bpmd("faulty.h5")
    with h5py.File("faulty.h5", "r+") as file:
        file["simulation_000001/mbs_frame000001/contacts/normals"][1] = [1.5, 0, 0]
    return "faulty.h5"


@pytest.fixture
def ball(here):
    write_fclib("ball.hdf5")
    return "ball.hdf5"


@pytest.fixture
def trap(here):
    """trap(C) is an environment in which the functions of this C text stand before those of the HDF5 library."""
    def build(functions):
        includes = ["dlfcn.h", "fcntl.h", "signal.h", "stdint.h", "stdio.h", "unistd.h"]
        Path("trap.c").write_text("#define _GNU_SOURCE\n" + "".join(f"#include <{name}>\n" for name in includes)
                                  + functions)
        subprocess.run(["cc", "-shared", "-fPIC", "trap.c", "-o", "trap.so", "-ldl"], check=True)
        return {**os.environ, "LD_PRELOAD": str(here / "trap.so")}
    return build


def opening_does(body):
    return f"int64_t H5Fopen(const char *name, unsigned flags, int64_t access) {{ {body} return -1; }}"


# ---- help, names, usage --------------------------------------------------------------------------------------

def test_program_explains_itself():
    text = run("--help").stdout
    assert all(re.search(rf"^  {verb} ", text, re.M) for verb in VERBS)
    assert run("help").stdout == text
    assert max(map(len, text.splitlines())) <= 84


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb):
    text = run(verb, "--help").stdout
    assert text.startswith(f"stickslip {verb} - ") and "Usage\n" in text and "Examples\n" in text
    assert "-q, --quiet" in text
    assert run("help", verb).stdout == text


def test_version_is_the_one_of_the_project():
    version = re.search(r"project\(stickslip VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
    assert run("--version").stdout.startswith(f"stickslip {version} (")


@pytest.mark.parametrize("arguments, hint", [
    ([], "no verb"),
    (["inf"], "did you mean info?"),
    (["--versoin"], "unknown option"),
    (["info"], "no FILE given"),
    (["info", "a", "b"], "unexpected argument 'b'"),
    (["info", "a", "--ful"], "did you mean --full?"),
    (["info", "a", "-x"], "unknown option '-x'"),
    (["info", "a", "--frame"], "--frame needs a value, PATH|N"),
    (["info", "a", "--no-frame"], "unknown option '--no-frame'"),
    (["check", "a", "--max-findings", "many"], "--max-findings"),
    (["check", "a", "--max-findings=-1"], "--max-findings"),
    (["convert", "a", "b", "--to", "bpdm"], "did you mean bpmd?"),
    (["help", "chekc"], "did you mean check?"),
    (["completion", "tcsh"], "bash"),
])
def test_mistyped_words_are_named(arguments, hint, here):
    ended = run(*arguments, code=USAGE)
    assert hint in ended.stderr and ended.stdout == ""


def test_options_in_every_spelling(small):
    expected = run_json("info", small, "--frame", "1")
    assert run_json("info", "--frame=1", small) == expected
    spelled = run("info", "--frame", "0", "--frame", "1", "--full", "--no-full", "--json", "--", small)
    assert json.loads(spelled.stdout) == expected
    assert run("check", small, "-q").stdout == run("check", small, "--quiet").stdout


# ---- bad input -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("verb", [["info"], ["check"], ["convert", "--to", "bpmd"]])
@pytest.mark.parametrize("kind", ["missing", "text", "directory", "empty", "cut"])
def test_what_is_no_data_file_is_bad_input(verb, kind, here):
    write_bpmd("whole.h5")
    Path("text").write_text("not HDF5\n")
    Path("empty").touch()
    Path("directory").mkdir()
    Path("cut").write_bytes(Path("whole.h5").read_bytes()[:3000])
    ended = run(*verb, kind, *(["out.h5"] if verb[0] == "convert" else []), code=BAD_INPUT)
    assert kind in ended.stderr + ended.stdout
    assert not Path("out.h5").exists()


def test_why_a_file_cannot_be_reached_is_told(small):
    assert "Not a directory" in run("info", f"{small}/frames.h5", code=BAD_INPUT).stderr
    os.chmod(small, 0)
    if not os.access(small, os.R_OK):  # root may read everything
        assert "Permission denied" in run("info", small, code=BAD_INPUT).stderr


def test_no_such_frame(small):
    for frame in ("7", "-1", "/mbs_frame000001", "x"):
        assert "unknown frame" in run("info", small, "--frame", frame, code=BAD_INPUT).stderr
        assert "unknown frame" in run("convert", small, "o.h5", "--to", "bpmd", "--frame", frame, code=BAD_INPUT).stderr


def test_limits_are_kept(small):
    assert run("info", small, "--max-bodies", "3").returncode == DONE
    entries = run_json("info", small, "--max-bodies", "2", code=RESOURCES)["frames"]
    assert [("max_bodies" in entry["error"] or "max-bodies" in entry["error"]) for entry in entries] == [True, True]


def test_memory_limit_is_not_blamed_on_the_file(small):
    assert "--max-memory" in run("info", small, "--max-memory", "5", code=RESOURCES).stderr
    assert run("info", small, "--max-memory", "1e6").stdout == INFO


# ---- info ----------------------------------------------------------------------------------------------------

INFO = """\
small.h5: BPMD, 2 frames, dialect canonical

Simulation /simulation_000001
  title            two ?[31mred?[0m boxes
  toolkit          test 1.0
  frames           2

  frame  bodies  joints  rows  contacts  h [s]  mass [kg]  kinetic [J]  sum |gap| [m]  overlap [m]  results                                path
  0           2       1     3         2   0.01          5            7          0.003        0.001        -  /simulation_000001/mbs_frame000001
  1           2       1     3         2   0.01          5         7.21          0.003        0.001        -  /simulation_000001/mbs_frame000002
"""


def test_info_is_readable(small):
    assert run("info", small).stdout == INFO


def test_info_json_of_frames(small):
    answer = run_json("info", small)
    assert answer["format"] == "bpmd" and answer["dialect"] == "canonical"
    assert answer["repairs"] == [] and answer["warnings"] == []
    (simulation,) = answer["simulations"]
    assert simulation["path"] == "/simulation_000001" and simulation["frames"] == 2
    assert simulation["title"] == "two \x1b[31mred\x1b[0m boxes" and simulation["toolkit"] == "test 1.0"
    first = answer["frames"][0]
    assert first.pop("hash") != answer["frames"][1]["hash"]
    assert first == {"path": "/simulation_000001/mbs_frame000001", "dialect": "canonical", "bodies": 2,
                     "dead_bodies": 1, "constraints": 1, "rows": 3, "contacts": 2, "h": 0.01, "time": None,
                     "total_mass": 5, "kinetic_energy": 7, "momentum": [2, 6, 0],
                     "sum_abs_gap": 0.003, "max_penetration": 0.001, "note": None, "results": []}


def test_full_frame_holds_every_array_in_our_conventions(small):
    full = run_json("info", small, "--frame", "simulation_000001/mbs_frame000001", "--full")
    assert full["path"] == "/simulation_000001/mbs_frame000001" and full["h"] == 0.01 and full["time"] is None
    assert full["bodies"] == {
        "ids": [4, 7], "states": [1, 1], "masses": [2, 3], "positions": [[0, 0, 1], [1, 0, 1]],
        "quaternions": [[1, 0, 0, 0]] * 2, "velocities": [[1, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0]],
        "forces": [[0, 0, -19.62, 0, 0, 0], [0, 0, -29.43, 0, 0, 0]], "inertias": [[1, 0, 0, 0, 1, 0, 0, 0, 1]] * 2}
    assert full["dead_bodies"]["ids"] == [9] and full["dead_bodies"]["velocities"] == [[9, 9, 9, 0, 0, 0]]
    assert full["constraints"] == {
        "pairs": [[-1, 4]], "rows": [3], "violations": [0.1, 0.2, 0.3], "time_derivative": [0, 0, 0],
        "jacobian": np.hstack([np.zeros((3, 6)), np.eye(3), np.zeros((3, 3))]).tolist(),
        "bounds": [["-inf", "inf"]] * 3}
    assert full["contacts"] == {
        "pairs": [[-1, 4], [4, 7]], "points": [[0, 0, 0], [0.5, 0, 1]], "normals": [[0, 0, 1], [1, 0, 0]],
        "gaps": [-0.001, 0.002], "mu": [[0.5, 0.5], [0.3, 0.2]]}


def test_numbers_survive_json_bit_for_bit(here):
    generator = np.random.default_rng(7)
    points = generator.standard_normal((2, 3)) * 10.0 ** generator.integers(-300, 300, (2, 3))
    friction = np.array([[INF, INF], [0.1, 5e-324]])
    write_bpmd("odd.h5", frames=1, **{"contacts/points": points, "contacts/mu_k": friction})
    contacts = run_json("info", "odd.h5", "--frame", "0", "--full")["contacts"]
    assert contacts["points"] == points.tolist() and contacts["mu"] == [["inf", "inf"], [0.1, 5e-324]]


def test_text_of_one_frame(small):
    text = run("info", small, "--frame", "1").stdout
    assert "2 live, 1 asleep" in text and "kinetic energy   7.21 J" in text
    full = run("info", small, "--frame", "1", "--full").stdout
    assert full.startswith(text.rstrip("\n")) and "bodies/inertias [kg m^2]" in full and "(asleep)" in full


def test_full_needs_one_frame(small):
    assert "--full needs --frame" in run("info", small, "--full", code=USAGE).stderr


def test_long_tables_are_shortened_but_json_is_not(here):
    write_bpmd("long.h5", frames=20)
    shown = re.findall(r"mbs_frame0000(\d\d)$", run("info", "long.h5").stdout, re.M)
    assert shown == [f"{i:02d}" for i in [*range(1, 11), 18, 19, 20]]
    assert "... 7 more" in run("info", "long.h5").stdout
    assert len(re.findall(r"mbs_frame", run("info", "long.h5", "--all").stdout)) == 20
    assert len(run_json("info", "long.h5")["frames"]) == 20


def test_repairs_are_told_once_for_all_frames(here):
    with h5py.File("gazebo.h5", "w") as file:
        for number in range(1, 5):
            frame = file.create_group(f"mbs_frame{number:06d}")
            write_frame(frame)
            del frame["constraints"], frame["contacts/mu_k"]
            frame["contacts/mu_k"] = np.array([[0.5, 0.5, 9.0], [0.3, 0.3, 0.0]])
            frame["contacts/mu_s"] = np.array([[0.5, 0.5], [0.3, 0.3]])
            if number == 3:
                del frame["timestep"]
    answer = run_json("info", "gazebo.h5")
    assert answer["dialect"] == "gazebo" and [frame["h"] for frame in answer["frames"]] == [0.01] * 4
    steps = [repair for repair in answer["repairs"] if "timestep" in repair["what"]]
    assert [(repair["frames"], repair["first"]) for repair in steps] == [(1, "/mbs_frame000003")]
    assert any(repair["frames"] == 4 and repair["first"] == "/mbs_frame000001" for repair in answer["repairs"])
    assert "Repairs\n" in run("info", "gazebo.h5").stdout


def test_an_unreadable_frame_does_not_hide_the_others(small):
    with h5py.File(small, "r+") as file:
        del file["simulation_000001/mbs_frame000001/bodies/positions"]
        file["simulation_000001/mbs_frame000001/bodies/positions"] = np.zeros((2, 7))
    broken, good = run_json("info", small, code=BAD_INPUT)["frames"]
    assert set(broken) == {"path", "error"} and "positions" in broken["error"]
    assert good["contacts"] == 2
    text = run("info", small, code=BAD_INPUT).stdout
    assert "unreadable" in text and "positions" in text


# ---- info on problems ----------------------------------------------------------------------------------------

def test_info_json_of_a_problem(ball):
    answer = run_json("info", ball)
    assert answer["format"] == "fclib"
    (problem,) = answer["problems"]
    solution = problem.pop("solution")
    assert problem == {"kind": "global", "dimension": 3, "contacts": 1, "dofs": 6, "equations": 0,
                       "sizes": {"M": [6, 6, 6], "H": [6, 3, 5]}, "mu": [0.7, 0.7], "title": "ball",
                       "description": None, "math_info": None, "guesses": 0}
    assert solution["verdict"] == "a solution" and solution["natural_map"] < 1e-12  # rounding of one product


def test_a_stored_solution_is_not_believed(here):
    write_fclib("zero.hdf5", reaction=0.0)
    (problem,) = run_json("info", "zero.hdf5")["problems"]
    assert problem["solution"]["verdict"] == "not a solution"
    assert "not a solution" in run("info", "zero.hdf5").stdout


def test_full_problem_lists_triplets(ball):
    (problem,) = run_json("info", ball, "--full")["problems"]
    matrix = problem["matrices"]["H"]
    assert (matrix["rows"], matrix["cols"]) == (6, 3)
    assert sorted(matrix["triplets"]) == [[0, 1, 1], [1, 2, 1], [2, 0, 1], [3, 2, 0.5], [4, 1, -0.5]]
    assert problem["vectors"]["f"] == [0, 0, -0.0981, 0, 0, 0]
    assert problem["stored_solution"]["r"] == [0.0981, 0, 0]
    assert "-0.098100000000000007" in run("info", ball, "--full").stdout


def test_frames_are_not_asked_of_a_problem(ball):
    assert "--frame is for BPMD" in run("info", ball, "--frame", "0", code=USAGE).stderr


# ---- check ---------------------------------------------------------------------------------------------------

def test_check_of_a_good_file(small):
    assert run("check", small).stdout == "small.h5: good, 2 frames, 0 faults, 0 warnings, 0 repairs\n"
    assert run_json("check", small) == {
        "file": "small.h5", "format": "bpmd", "ok": True, "faults": [], "warnings": [], "repairs": [],
        "counts": {"frames": 2, "faults": 0, "warnings": 0, "repairs": 0}}


def test_check_names_place_and_index(faulty):
    report = run_json("check", faulty, code=BAD_INPUT)
    assert report["ok"] is False
    assert [fault["place"] for fault in report["faults"]] == ["/simulation_000001/mbs_frame000001/contacts/normals[1]"]
    text = run("check", faulty, code=BAD_INPUT).stdout
    assert text.startswith("fault    /simulation_000001/mbs_frame000001/contacts/normals[1]: ")
    assert "faulty.h5: faulty, 2 frames, 1 fault," in text


def test_check_counts_what_it_does_not_list(here):
    write_bpmd("bad.h5", **{"bodies/masses": np.array([[-1.0], [0.0], [5.0]])})
    report = run_json("check", "bad.h5", "--max-findings", "3", code=BAD_INPUT)
    assert len(report["faults"]) == 3 and report["counts"]["faults"] == 4
    assert "... and 1 more" in run("check", "bad.h5", "--max-findings", "3", code=BAD_INPUT).stdout


def test_strict_check_minds_warnings(here):
    write_fclib("zero.hdf5", reaction=0.0)
    assert run_json("check", "zero.hdf5")["counts"]["warnings"] > 0
    assert run_json("check", "zero.hdf5", "--strict", code=BAD_INPUT)["ok"] is False


def test_check_of_a_problem(ball):
    assert "ball.hdf5: good, 1 problem, 0 faults" in run("check", ball).stdout
    with h5py.File(ball, "r+") as file:
        file["fclib_global/vectors/mu"][0] = -0.7
    assert any("mu" in fault["place"] for fault in run_json("check", ball, code=BAD_INPUT)["faults"])


def test_check_reports_a_file_it_cannot_open(here):
    report = run_json("check", "missing.h5", code=BAD_INPUT)
    assert report["ok"] is False and report["format"] is None and len(report["faults"]) == 1


# ---- convert -------------------------------------------------------------------------------------------------

def full_frames(file):
    """All frames in full, without the names of their groups."""
    count = len(run_json("info", file)["frames"])
    frames = [run_json("info", file, "--frame", str(i), "--full") for i in range(count)]
    for frame in frames:
        del frame["path"]
    return frames


def hashes(file):
    """A frame's hash depends on every number that reaches a solver."""
    return [frame["hash"] for frame in run_json("info", file)["frames"]]


def test_frames_survive_a_copy_bit_for_bit(small):
    run("convert", small, "copy.h5", "--to", "bpmd")
    assert full_frames("copy.h5") == full_frames(small)


def test_flat_copy_is_the_same_problem_without_manifest(small):
    answer = run_json("convert", small, "flat.h5", "--to", "bpmd-flat")
    assert any("manifest" in loss["what"] for loss in answer["losses"])
    paths = [frame["path"] for frame in run_json("info", "flat.h5")["frames"]]
    assert paths == ["/mbs_frame000001", "/mbs_frame000002"]
    assert hashes("flat.h5") == hashes(small)


def test_manifest_and_results_survive_a_copy(here):
    record_example("example.h5")
    run("convert", "example.h5", "copy.h5", "--to", "bpmd")
    before, after = run_json("info", "example.h5"), run_json("info", "copy.h5")
    assert after["simulations"] == before["simulations"] and after["frames"] == before["frames"]
    assert after["frames"][0]["results"] == ["by_hand"]


def test_append_keeps_what_is_there(small):
    run("convert", small, "sum.h5", "--to", "bpmd")
    run("convert", small, "sum.h5", "--to", "bpmd", "--append", "--frame", "1")
    answer = run_json("info", "sum.h5")
    assert [simulation["frames"] for simulation in answer["simulations"]] == [2, 1]
    assert full_frames("sum.h5") == [*full_frames(small), full_frames(small)[1]]


def test_one_frame_becomes_one_problem(small):
    answer = run_json("convert", small, "one.hdf5", "--to", "fclib-global", "--frame", "0")
    assert answer["files"] == ["one.hdf5"] and answer["frames"] == 1 and answer["refused"] == []
    (problem,) = run_json("info", "one.hdf5")["problems"]
    assert (problem["kind"], problem["contacts"], problem["dofs"], problem["equations"]) == ("global", 2, 12, 3)
    assert "test 1.0" in problem["title"] and "mbs_frame000001" in problem["title"]
    assert "small.h5" in problem["description"] and "0.01" in problem["description"]


def test_losses_are_listed(small):
    answer = run_json("convert", small, "one.hdf5", "--to", "fclib-global", "--frame", "0")
    assert any("gap and h" in loss["what"] and loss["frames"] == 1 for loss in answer["losses"])
    assert "lost: " in run("convert", small, "one.hdf5", "--to", "fclib-global", "--frame", "0").stderr
    assert run("convert", small, "one.hdf5", "--to", "fclib-global", "--frame", "0", "--quiet").stderr == ""


def test_several_frames_go_to_a_directory(small):
    answer = run_json("convert", small, "problems", "--to", "fclib-local")
    assert answer["files"] == ["problems/mbs_frame000001.hdf5", "problems/mbs_frame000002.hdf5"]
    assert run_json("info", answer["files"][1])["problems"][0]["kind"] == "local"
    assert "OUT must be a directory" in run("convert", small, "x.hdf5", "--to", "fclib-local", code=USAGE).stderr


def test_local_form_is_the_reduced_global_one(small):
    pair = ["--frame", "0", "--with", "gap_term=zero"]
    run("convert", small, "global.hdf5", "--to", "fclib-global", *pair)
    run("convert", small, "local.hdf5", "--to", "fclib-local", *pair)
    run("convert", "global.hdf5", "reduced.hdf5", "--to", "fclib-local")
    problems = [run_json("info", name, "--full")["problems"][0] for name in ("local.hdf5", "reduced.hdf5")]
    for part in ("matrices", "vectors", "sizes"):
        assert problems[0][part] == problems[1][part]
    run("convert", "global.hdf5", "bare.hdf5", "--to", "fclib-local", "--eliminate")
    assert run_json("info", "bare.hdf5")["problems"][0]["equations"] == 0


def test_stored_result_becomes_the_solution(here):
    record_example("example.h5")
    run("convert", "example.h5", "frame.hdf5", "--to", "fclib-local", "--frame", "3", "--solver", "by_hand")
    (problem,) = run_json("info", "frame.hdf5")["problems"]
    assert problem["solution"]["natural_map"] < 1e-10  # written down by hand to rounding
    answer = run_json("convert", "example.h5", "x.hdf5", "--to", "fclib-local", "--frame", "3", "--solver", "lemke")
    assert any("--solver" in warning["what"] for warning in answer["warnings"])
    assert run_json("info", "x.hdf5")["problems"][0]["solution"] is None


def test_problem_to_frame_and_back(ball):
    run("convert", ball, "ball.h5", "--to", "bpmd", "--h", "0.01")
    (frame,) = full_frames("ball.h5")
    assert frame["h"] == 0.01 and frame["bodies"]["masses"] == [1] and frame["contacts"]["normals"] == [[0, 0, 1]]
    assert run_json("info", "ball.h5")["frames"][0]["results"] == ["fclib"]
    run("convert", "ball.h5", "again.hdf5", "--to", "fclib-global")
    before, after = (run_json("info", name, "--full")["problems"][0] for name in (ball, "again.hdf5"))
    for name, matrix in before["matrices"].items():
        assert sorted(after["matrices"][name]["triplets"]) == sorted(matrix["triplets"])
    assert np.allclose(after["vectors"]["f"], before["vectors"]["f"], rtol=0, atol=1e-16)  # one division by m


def test_matrix_market_files(small):
    run("convert", small, "w.mtx", "--frame", "0", "--local")
    assert {"w_W.mtx", "w_q.mtx", "w_mu.mtx"} <= set(os.listdir("."))
    assert Path("w_W.mtx").read_text().startswith("%%MatrixMarket matrix coordinate real")


def test_faulty_frames_are_refused_and_the_others_go_on(faulty):
    ended = run("convert", faulty, "good.h5", "--to", "bpmd", code=BAD_INPUT)
    assert "/simulation_000001/mbs_frame000001/contacts/normals[1]" in ended.stderr
    assert full_frames("good.h5") == [full_frames(faulty)[1]]
    answer = run_json("convert", faulty, "problems", "--to", "fclib-global", code=BAD_INPUT)
    assert answer["files"] == ["problems/mbs_frame000002.hdf5"] and len(answer["refused"]) == 1
    ended = run("convert", faulty, "none.h5", "--to", "bpmd", "--frame", "0", code=BAD_INPUT)
    assert "nothing written" in ended.stderr and not Path("none.h5").exists()


def test_input_is_never_written_over(small):
    before = Path(small).read_bytes()
    os.link(small, "link.h5")
    os.symlink(small, "symlink.h5")
    for target in (small, "link.h5", "symlink.h5", f"../{Path.cwd().name}/{small}"):
        for to in ("bpmd", "bpmd-flat", "fclib-global"):
            assert "is the input file" in run("convert", small, target, "--to", to, "--frame", "0", code=USAGE).stderr
    assert Path(small).read_bytes() == before


@pytest.mark.parametrize("arguments, hint", [
    ([], "no --to given"),
    (["--to", "fclib-global", "--append"], "--append is for BPMD"),
    (["--to", "fclib-global", "--eliminate"], "--eliminate needs"),
    (["--to", "bpmd", "--local"], "--local needs --to mtx"),
    (["--to", "bpmd", "--problem", "local"], "--problem is for FCLIB"),
])
def test_options_of_another_target_are_not_ignored(arguments, hint, small):
    assert hint in run("convert", small, "out.h5", *arguments, code=USAGE).stderr
    assert not Path("out.h5").exists()


def test_what_a_problem_cannot_become(small):
    run("convert", small, "local.hdf5", "--to", "fclib-local", "--frame", "0")
    for to in ("bpmd", "fclib-global"):
        assert "a local problem" in run("convert", "local.hdf5", "out.h5", "--to", to, code=BAD_INPUT).stderr
    assert not Path("out.h5").exists()


def test_what_holds_nothing_becomes_nothing(here):
    with h5py.File("frames.h5", "w") as file:
        file.create_group("simulation_000001")
    assert "nothing written" in run("convert", "frames.h5", "out.h5", "--to", "bpmd", code=BAD_INPUT).stderr
    assert not Path("out.h5").exists()


def test_target_that_cannot_be_written(small):
    run("convert", small, "no/such/place.h5", "--to", "bpmd", code=RESOURCES)
    Path("file").touch()
    assert run("convert", small, "file/x", "--to", "fclib-global", code=None).returncode == RESOURCES
    assert sorted(os.listdir(".")) == ["file", small]


def test_a_limit_on_file_sizes_leaves_nothing_behind(small):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
    ended = run("convert", small, "out.h5", "--to", "bpmd", code=RESOURCES, preexec_fn=limit)
    assert "File too large" in ended.stderr
    assert os.listdir(".") == [small]


# ---- streams -------------------------------------------------------------------------------------------------

def test_a_full_device_is_noticed(small):
    for arguments in (["--help"], ["man"], ["info", small], ["info", small, "--json"], ["check", small]):
        with open("/dev/full", "w") as full:
            ended = run(*arguments, stdout=full, code=RESOURCES)
        assert "No space left" in ended.stderr


def test_a_reader_who_leaves_is_no_drama(small):
    for arguments in (["man"], ["info", small, "--json"]):
        reader, writer = os.pipe()
        os.close(reader)
        assert run(*arguments, stdout=writer, code=RESOURCES).stderr == ""
        os.close(writer)


def test_colour_only_for_terminals_that_want_it(faulty):
    assert "\x1b[31m" in on_terminal("check", faulty)
    assert "\x1b" not in on_terminal("check", faulty, NO_COLOR="1")
    assert "\x1b" not in on_terminal("check", faulty, TERM="dumb")
    assert "\x1b" not in on_terminal("check", faulty, OMPI_COMM_WORLD_RANK="0")  # the terminal of a rank is mpirun's
    assert "\x1b" not in run("check", faulty, code=BAD_INPUT).stdout


def test_escape_sequences_of_a_file_stay_harmless(small):
    assert "\x1b" not in on_terminal("info", small, NO_COLOR="1")
    assert "\x1b" not in run("info", "x\x1b[2Jy.h5", code=BAD_INPUT).stderr


def test_text_of_a_file_cannot_turn_the_direction_of_writing(here):
    for turn in "\u200f\u202e\u2066":
        write_bpmd("small.h5", title=f"good{turn}ü".encode())
        assert "good???ü" in run("info", "small.h5").stdout


# ---- the guard -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("cause", ["SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL"])
def test_a_crash_in_the_library_is_bad_input(cause, small, trap):
    ended = run("info", small, env=trap(opening_does(f"signal({cause}, SIG_DFL); raise({cause});")), code=BAD_INPUT)
    assert ended.stderr == f"{small}: the HDF5 library crashed while reading; the file is damaged or malicious\n"


@pytest.mark.parametrize("words, function", [
    (["run", "box-drop", "--steps", "1", "--record", "x.h5"], "int64_t H5Fcreate(const char *a, unsigned b, int64_t c, int64_t d)"),
    (["report", "small.h5"], "int sqlite3_open_v2(const char *a, void **b, int c, const char *d)"),
    (["view", "small.h5", "-o", "x.html"], "int compress2(void *a, void *b, const void *c, unsigned long d, int e)"),
])
def test_a_crash_of_the_program_is_not_blamed_on_a_file(words, function, small, trap):
    environment = trap(function + "{ signal(SIGSEGV, SIG_DFL); raise(SIGSEGV); return -1; }")
    ended = run(*words, env=environment, code=None)
    assert ended.returncode == -signal.SIGSEGV
    assert ended.stderr.startswith(f"stickslip {words[0]} {words[1]}: crashed with signal 11")
    assert "hostile" not in ended.stderr


def test_a_killed_run_is_out_of_resources(small, trap):
    assert "killed" in run("check", small, env=trap(opening_does("kill(getpid(), SIGKILL);")), code=RESOURCES).stderr


def test_without_the_guard_the_crash_is_ours(small, trap):
    environment = {**trap(opening_does("signal(SIGSEGV, SIG_DFL); raise(SIGSEGV);")), "SS_NO_SANDBOX": "1"}
    assert run("info", small, env=environment, code=None).returncode == -signal.SIGSEGV
    assert run("info", small, env={**os.environ, "SS_NO_SANDBOX": "1"}).stdout == INFO


@pytest.mark.parametrize("cause", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_both_processes(cause, small, trap, here):
    mark = 'char mark[40]; sprintf(mark, "child-%d", getpid()); creat(mark, 0600);'
    environment = trap(opening_does(mark + "for (;;) pause();"))
    program = subprocess.Popen([PROGRAM, "info", small], env=environment)
    while not (children := list(here.glob("child-*"))):
        time.sleep(0.01)
    program.send_signal(cause)
    assert program.wait(timeout=20) == -cause
    with pytest.raises(ProcessLookupError):
        os.kill(int(children[0].name.removeprefix("child-")), 0)


def begin_writing(*words, env=None):
    """A run that has opened its output, which has no name yet where the system allows that."""
    before, own = set(os.listdir(".")), f"{os.getcwd()}/#"
    program = subprocess.Popen([PROGRAM, *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not set(os.listdir(".")) - before:
        assert program.poll() is None
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        files = [file for child in children for file in Path(f"/proc/{child}/fd").glob("*")]
        if any(os.path.realpath(file).startswith(own) for file in files):
            break
        time.sleep(0.01)
    return program


def test_an_interrupted_conversion_leaves_nothing_behind(here, trap):
    write_bpmd("long.h5", frames=20)
    before = {*os.listdir("."), "trap.c", "trap.so"}
    environment = trap("""
        int64_t H5Dcreate2(int64_t a, const char *b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g)
        {
            __typeof__(H5Dcreate2) *real = dlsym(RTLD_NEXT, "H5Dcreate2");
            usleep(5000);
            return real(a, b, c, d, e, f, g);
        }""")
    program = begin_writing("convert", "long.h5", "out.h5", "--to", "bpmd", "--quiet", env=environment)
    program.send_signal(signal.SIGTERM)
    assert program.wait(timeout=20) == -signal.SIGTERM
    assert set(os.listdir(".")) == before


# ---- man page and completion ---------------------------------------------------------------------------------

def test_every_option_is_in_the_documentation_and_every_option_there_exists():
    """By its long name, on some page of docs. Flags of other programs in commands that are shown there are listed here."""
    pages = "\n".join(page.read_text() for page in sorted((SOURCE / "docs").glob("*.md")))
    documented = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", pages))
    options = {}
    for verb in VERBS:
        for name in re.findall(r"^  (?:-\w, )?(--[a-z][a-z0-9-]*)", run(verb, "--help").stdout, re.M):
            options.setdefault(name, verb)
    missing = {name: verb for name, verb in options.items() if name not in documented}
    assert not missing, f"options without a word in docs: {missing}"
    switched_off = {f"--no-{name[2:]}" for name in options}
    others = {"--array", "--cpus", "--cpus-per-task", "--kill-on-bad-exit", "--ntasks", "--cflags", "--libs", "--eval", "--path",
              "--write", "--docs", "--profile", "--signal", "--page", "--list", "--modelled", "--dump", "--name", "--flag", "--no-flag", "--version",
              "--solve", "--costs", "--score", "--only"}
    unknown = documented - set(options) - switched_off - others
    assert not unknown, f"docs know options that no verb has: {unknown}"


def test_man_page_is_clean_and_complete(here):
    page = run("man").stdout
    Path("stickslip.1").write_text(page)
    lint = subprocess.run(["mandoc", "-Tlint", "-W", "warning", "stickslip.1"], capture_output=True, text=True)
    assert lint.stdout + lint.stderr == ""
    shown = subprocess.run(["mandoc", "-Tascii", "stickslip.1"], capture_output=True, text=True).stdout
    shown = re.sub(".\b", "", shown)
    for verb in VERBS:
        flags = re.findall(r"^  (?:-\w, )?(--[\w-]+)", run("help", verb).stdout, re.M)
        assert flags and all(flag in shown for flag in flags)


def complete(*words):
    """What bash offers for the last of the words."""
    script = ('source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stickslip; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    ended = subprocess.run(["bash", "--norc", "-c", script, PROGRAM, "stickslip", *words], capture_output=True,
                           text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout.split()


def test_bash_completes_verbs_options_values_and_files(small):
    assert complete("c") == ["check", "convert", "certify", "collection", "completion"]
    assert complete("info", "--f") == ["--frame", "--full", "--flip-world-normals", "--fill-gravity"]
    assert complete("convert", "a", "b", "--to", "fclib") == ["fclib-local", "fclib-global"]
    assert complete("convert", "a", "b", "--to", "=", "bpmd-") == ["bpmd-flat"]
    assert complete("help", "ma") == ["man"] and complete("st") == ["status"]
    assert complete("check", "sm") == [small]
    assert complete("info", small, "--frame", "") == []


# ---- the documentation ---------------------------------------------------------------------------------------

def record_example(path):
    subprocess.run([Path(PROGRAM).parent / "example_record_frames", path], check=True)


def test_the_documentation_lists_the_verbs_as_the_program_does():
    listed = re.search(r"^Verbs\n(.*?)\n\n", run("help").stdout, re.M | re.S)[1]
    of_program = [tuple(line.split(None, 1)) for line in listed.splitlines()]
    text = (SOURCE / "docs/cli.md").read_text()
    rows = re.findall(r"^\| \[`(\w+)`\]\(([\w.]*)(?:#([\w-]+))?\) \| (.*) \|$", text, re.M)
    assert [(verb, task) for verb, _, _, task in rows] == of_program
    for verb, file, anchor, _ in rows:
        target = (SOURCE / "docs" / file).read_text() if file else text
        anchors = [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in re.findall(r"^#+ (.*)$", target, re.M)]
        assert not anchor or anchor in anchors, f"docs/cli.md: {verb} leads to #{anchor}, which is nowhere"


@pytest.mark.parametrize("verb", ["info", "check", "convert"])
def test_examples_in_the_help_are_valid(verb, here):
    """They are parsed (with files that do not exist), so that no example shows an option that is gone."""
    examples = re.findall(rf"^  stickslip {verb} (.*)$", run("help", verb).stdout.split("Examples\n")[1], re.M)
    assert examples
    for example in examples:
        run(verb, *shlex.split(example), code=BAD_INPUT)


def test_examples_in_the_help_redirect_nothing_by_mistake():
    """A stop rule such as energy<1e-6 stands in quotes: a shell would read from a file 1e-6."""
    for verb in VERBS:
        for example in re.findall(rf"^  (stickslip {verb} .*)$", run("help", verb).stdout, re.M):
            assert not re.search(r"\w[<>]", re.sub(r"'[^']*'|\"[^\"]*\"", "", example)), example
