"""collection: recipes become files, an index and sums; the same bytes every time, also after an interruption."""
import csv
import filecmp
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import h5py
import pytest

from shared_data import shared
from test_cli import BAD_INPUT, SOURCE, USAGE, here, run, run_json

RECIPE = """family walls
about  Bricks.
sequence wall-{rows}-at{from}
    scene   brick-wall rows=1,2 width=2   # few bricks: the test is about files
    frames  2 from 0,3
    subset  small
sequence tall
    scene   brick-wall rows=4
    frames  3 from 2
"""


def write_recipes(folder, text=RECIPE):
    Path(folder).mkdir()
    Path(folder, "collection.recipe").write_text("collection mine\nversion 7\n")
    Path(folder, "walls.recipe").write_text(text)


def same(a, b):
    """Byte for byte, whatever is in the folders."""
    names = [sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()) for folder in (a, b)]
    assert names[0] == names[1]
    _, differing, missing = filecmp.cmpfiles(a, b, names[0], shallow=False)
    return not differing and not missing


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("collection")
    write_recipes(place / "recipes")
    run("collection", "build", "--recipes", place / "recipes", "-o", place / "full", "--jobs", "2")
    return place


@pytest.fixture
def files(made, here):
    shutil.copytree(made / "recipes", "recipes")
    shutil.copytree(made / "full", "full")
    return here


def rows(folder):
    with open(Path(folder, "index.csv"), newline="") as file:
        return list(csv.DictReader(file))


def test_every_problem_is_in_the_index_proved_and_stamped(files):
    index = rows("full")
    assert len(index) == 11 and len({row["id"] for row in index}) == 11
    assert {row["level"] for row in index} <= {"backward", "forward", "exact"}
    assert json.loads(Path("full/index.json").read_text())["version"] == "7"
    with h5py.File("full/walls/tall.h5") as file:
        assert file.attrs["collection"] == b"mine 7"
        assert "certified" in file["/simulation_000001/mbs_frame000003/solver_data"]
    assert "mine" in Path("full/CITATION.cff").read_text() and "11 frictional" in Path("full/README.md").read_text()
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd="full", check=True)


def test_another_build_gives_the_same_bytes_and_a_repeated_one_makes_nothing(files):
    run("collection", "build", "--recipes", "recipes", "-o", "again", "--jobs", "1")
    assert same("full", "again")
    before = os.stat("again/walls/tall.h5").st_mtime_ns
    assert run_json("collection", "build", "--recipes", "recipes", "-o", "again")["reused"] == 5
    assert os.stat("again/walls/tall.h5").st_mtime_ns == before and same("full", "again")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_continues(files, how):
    command = [os.environ["SS_PROGRAM"], "collection", "build", "--recipes", "recipes", "-o", "part", "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list(Path("part").glob("walls/*.h5")):
        time.sleep(0.002)
    process.send_signal(how)
    process.wait()
    assert not Path("part/index.csv").exists() or process.returncode == 0
    run("collection", "build", "--recipes", "recipes", "-o", "part")
    assert same("full", "part") and not Path("part/index.partial.csv").exists()


def test_an_interrupted_build_in_a_folder_that_was_whole_loses_nothing(files):
    """Then both indices are there, and what both have is there once."""
    index = Path("full/index.csv").read_text()
    Path("full/index.partial.csv").write_text(index)
    result = run_json("collection", "build", "--recipes", "recipes", "-o", "full")
    assert result["reused"] == 5 and result["outdated"] == 0 and Path("full/index.csv").read_text() == index
    # a sequence that a later build made by another recipe is not that of the index any more
    (digest,) = {row["recipe"] for row in rows("full") if row["sequence"] == "tall"}
    Path("full/index.partial.csv").write_text(index.replace(digest, "0" * 32))
    result = run_json("collection", "build", "--recipes", "recipes", "-o", "full")
    assert result["reused"] == 4 and result["outdated"] == 1


def test_what_a_killed_worker_was_writing_is_swept_away(files):
    dead = subprocess.Popen(["true"])
    dead.wait()
    run("collection", "build", "--recipes", "recipes", "-o", "swept")
    leftovers = [f"tall.png.{dead.pid}.partial", f"tall.h5.{dead.pid}-0.partial", f"tall.html.{dead.pid}.partial"]
    kept = [f"tall.png.{os.getpid()}.partial", "tall.partial", "mine.txt"]  # of a process that lives, and of other names
    for name in leftovers + kept:
        Path("swept/walls", name).write_text("half of it")
    run("collection", "build", "--recipes", "recipes", "-o", "swept")
    assert sorted(path.name for path in Path("swept/walls").iterdir() if not Path("full/walls", path.name).exists()) == sorted(kept)


def test_a_changed_recipe_makes_only_what_changed(files):
    text = RECIPE.replace("frames  3 from 2", "frames  3 from 4")
    Path("recipes/walls.recipe").write_text(text)
    assert run_json("collection", "build", "--recipes", "recipes", "-o", "full")["reused"] == 4
    assert [row["time"] for row in rows("full") if row["sequence"] == "tall"] == ["0.04", "0.05", "0.06"]


def test_what_another_program_made_is_made_again(files):
    index = rows("full")
    index_text = Path("full/index.csv").read_text()
    (digest,) = {row["recipe"] for row in index if row["sequence"] == "tall"}
    Path("full/index.csv").write_text(index_text.replace(digest, "0" * 32))
    result = run_json("collection", "build", "--recipes", "recipes", "-o", "full")
    assert result["reused"] == 4 and result["outdated"] == 1
    assert Path("full/index.csv").read_text() == index_text
    assert run_json("collection", "build", "--recipes", "recipes", "-o", "full")["outdated"] == 0


def test_the_program_is_known_by_its_source(files):
    build = Path(os.environ["SS_PROGRAM"]).parent
    names = (build / "digested_files").read_text().split()
    root = Path(__file__).parents[1]
    sums = [(hashlib.sha256(Path(name).read_bytes()).hexdigest(), Path(name).relative_to(root)) for name in sorted(names)]
    digest = hashlib.sha256("".join(f"{value} {name}\n" for value, name in sums).encode()).hexdigest()
    assert {"src/solver/nsgs.c", "src/solver/solvers.def", "include/stickslip/base.h"} <= {str(name) for _, name in sums}
    assert f"source {digest[:12]})" in run("--version").stdout


def test_small_is_a_part_and_where_cuts_others(files):
    run("collection", "build", "--recipes", "recipes", "-o", "small", "--subset", "small")
    assert len(rows("small")) == 8
    run("collection", "subset", "full", "--where", "sequence=tall and frame!=1 or contacts<10", "-o", "cut")
    run("collection", "verify", "cut")
    chosen = rows("cut")
    old = {row["id"]: row["hash"] for row in rows("full")}
    assert [row["frame"] for row in chosen if row["sequence"] == "tall"] == ["0", "1"]
    assert all(old[row["id"]] == row["hash"] for row in chosen) and {"walls/tall/0", "walls/tall/2"} < {row["id"] for row in chosen}
    listed = run_json("collection", "list", "full", "--where", "sequence=tall and frame!=1 or contacts<10")["problems"]
    assert [row["id"] for row in listed] == [row["id"] for row in chosen]
    assert "no problem" in run("collection", "subset", "full", "--where", "contacts<0", "-o", "none", code=USAGE).stderr
    assert not Path("none").exists()


def write_index(index):
    """With the sums that belong to it, as a forger would."""
    with open("full/index.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, index[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(index)
    sums = Path("full/SHA256SUMS")
    own = hashlib.sha256(Path("full/index.csv").read_bytes()).hexdigest()
    sums.write_text("".join(f"{own}  index.csv\n" if line.endswith("  index.csv\n") else line
                            for line in sums.read_text().splitlines(keepends=True)))


def test_rows_of_the_index_are_what_the_files_say(files):
    """Whoever changes a row can renew the sums: every number that a file holds is compared."""
    genuine = rows("full")
    write_index(genuine)
    run("collection", "verify", "full")
    for column, value in {"contacts": "3", "bodies": "9", "mass_ratio": "1000", "density": "0.1", "rank": "0.123", "mu_least": "0.9",
                          "mu_most": "0.95", "sliding": "0.5", "open": "0.26", "certain": "0.125", "bound": "0", "relative": "1e-30",
                          "agreed": "0", "solver": "prayer", "second": "faith", "planar": "1", "time": "7", "h": "1", "solvable": "0",
                          "level": "exact", "hash": "0" * 32, "reason": "none needed"}.items():
        index = [dict(row) for row in genuine]
        assert index[-1][column] != value
        index[-1][column] = value
        write_index(index)
        said = run("collection", "verify", "full", code=BAD_INPUT).stderr
        assert index[-1]["id"] in said and (column in said), column


def test_a_row_is_about_a_problem_of_its_own(files):
    genuine = rows("full")
    last = len(genuine) - 1
    changes = [
        (genuine + [genuine[last]], "is about the same problem as"),
        (genuine[:last], "wall-2-at3.h5: holds 2 problems; rows of it in the index: 1"),
        (genuine[:last] + [dict(genuine[last], id="walls/short/2")], "walls/short/2: is not the name of a problem in walls/wall-2-at3.h5"),
        (genuine[:last] + [dict(genuine[last], family="arches")], "is not the name of a problem in"),
    ]
    for index, said in changes:
        write_index(index)
        assert said in run("collection", "verify", "full", code=BAD_INPUT).stderr, said


def test_both_indices_say_the_same(files):
    index = Path("full/index.json")
    index.write_text(index.read_text().replace('"contacts":', '"contacts":1', 1))
    write_index(rows("full"))
    sums = Path("full/SHA256SUMS")
    own = hashlib.sha256(index.read_bytes()).hexdigest()
    sums.write_text("".join(f"{own}  index.json\n" if line.endswith("index.json\n") else line
                            for line in sums.read_text().splitlines(keepends=True)))
    said = run("collection", "verify", "full", code=BAD_INPUT).stderr
    assert "index.json: does not say what index.csv says" in said and "sum" not in said


@pytest.mark.parametrize("column, place", [("file", "../stranger.h5"), ("file", "/tmp/stranger.h5"), ("family", "../walls")])
def test_an_index_leads_nowhere_but_into_its_folder(files, column, place):
    """`subset` of a folder from elsewhere copies files to where its index says."""
    shutil.copy("full/walls/tall.h5", "stranger.h5")
    index = rows("full")
    index[-1][column] = place
    write_index(index)
    for action in (["list", "full"], ["verify", "full"], ["subset", "full", "--where", "contacts>0", "-o", "deeper"]):
        assert "is not a place in the folder" in run("collection", *action, code=BAD_INPUT).stderr
    assert not Path("deeper").exists()


def test_an_import_may_have_two_dots_in_its_name(files):
    Path("others").mkdir()
    shutil.copy("full/walls/tall.h5", "others/my..wall.h5")
    run("collection", "build", "--recipes", "recipes", "-o", "full", "--import", "others")
    run("collection", "verify", "full")


def test_values_after_where_may_be_long(files):
    """They are compared to their last byte: a folder or a reason can be longer than any line."""
    long = "x" * 5000
    index = rows("full")
    index[0]["reason"], index[1]["reason"] = long + "y", long + "z"
    write_index(index)
    for where in (f"reason={long}y", f'reason="{long}y"', f"reason~{long[1000:]}y or reason='{long}'"):
        assert [row["id"] for row in run_json("collection", "list", "full", "--where", where)["problems"]] == [index[0]["id"]]
    assert "unknown column 'xxx" in run("collection", "list", "full", "--where", long + "<3", code=USAGE).stderr


@pytest.mark.parametrize("where, said", [
    ("contacts<nan", "expected a number after contacts"), ('family="walls', "expected a closing quote"), ("family='", "expected a closing quote"),
    ("contacts<", "ends too early"), ("(contacts<5", "closing bracket"), ("contacts<5)", "or the end"), ("beauty>3", "unknown column 'beauty'"),
    ("level>good", "unknown level 'good'"), ("family<walls", "which is a text"), ("contacts~3", "which is a number")])
def test_nonsense_after_where_is_refused_by_its_place(files, where, said):
    assert said in run("collection", "list", "full", "--where", where, code=USAGE).stderr


def test_names_and_folders_that_are_none_are_refused(files):
    Path("plain").write_text("no folder")
    for name in ("walls", "", "tall"):
        assert "expected FAMILY/SEQUENCE" in run("collection", "get", name, "--recipes", "recipes", "-o", "x.h5", code=USAGE).stderr
    assert "3 frames" in run("collection", "get", "walls/tall/3", "--recipes", "recipes", "-o", "x.h5", code=USAGE).stderr
    for verb in (["build", "--recipes", "recipes"], ["subset", "full", "--where", "contacts>0"]):
        assert "plain: exists, and is not a folder" in run("collection", *verb, "-o", "plain", code=USAGE).stderr
    Path("empty").mkdir()
    for verb in ("list", "verify"):
        assert "empty/index.csv" in run("collection", verb, "empty", code=BAD_INPUT).stderr


@pytest.mark.parametrize("bytes_left", [-1, -40, -400])
def test_an_index_that_is_cut_off_is_not_taken_for_a_smaller_collection(files, bytes_left):
    whole = Path("full/index.csv").read_bytes()
    Path("full/index.csv").write_bytes(whole[:bytes_left])
    try:
        for verb in (["list", "full"], ["verify", "full"], ["subset", "full", "--where", "contacts>0", "-o", "part"]):
            assert "full/index.csv: cut off after" in run("collection", *verb, code=BAD_INPUT).stderr
    finally:
        Path("full/index.csv").write_bytes(whole)


def test_get_gives_the_same_problem_from_recipe_and_folder(files):
    run("collection", "get", "walls/tall", "--recipes", "recipes", "-o", "tall.h5")
    assert filecmp.cmp("tall.h5", "full/walls/tall.h5", shallow=False)
    run("collection", "get", "walls/tall/1", "--recipes", "recipes", "-o", "one.h5")
    run("collection", "get", "walls/tall/1", "--from", "full", "-o", "other.h5")
    digests = [run_json("info", name)["frames"][0].get("hash") for name in ("one.h5", "other.h5")]
    assert digests[0] == digests[1]
    run("check", "one.h5"), run("check", "other.h5")
    assert "did you mean walls/tall?" in run("collection", "get", "walls/tal", "--recipes", "recipes", "-o", "x.h5",
                                             code=USAGE).stderr


def test_what_was_changed_is_found(files):
    with h5py.File("full/walls/tall.h5", "r+") as file:
        normal = file["/simulation_000001/mbs_frame000002/solver_data/certified/normal"]
        normal[0] = normal[0] * 1.5
    said = run("collection", "verify", "full", code=BAD_INPUT).stderr
    assert "walls/tall.h5: its sum" in said and "walls/tall/1: " in said
    Path("full/walls/wall-1-at0.h5").unlink()
    assert "wall-1-at0.h5" in run("collection", "verify", "full", code=BAD_INPUT).stderr


def test_an_answer_by_other_rules_is_found(files):
    """A right answer to the same frames under less friction is not what the collection promises."""
    run("certify", "full/walls/tall.h5", "--with", "mu_max=0.01", "-o", "other.h5")
    shutil.copy("other.h5", "full/walls/tall.h5")
    assert "walls/tall/0: certified with mu_max=0.01, not by the default rules" in run(
        "collection", "verify", "full", code=BAD_INPUT).stderr


def test_a_problem_file_that_is_no_part_of_the_collection_is_found(files):
    """`bench full/*/*.h5` would count it among the collection's; notes of the user may lie there."""
    Path("full/walls/notes.txt").write_text("mine")
    run("collection", "verify", "full")
    Path("full/walls/deeper").mkdir()
    for stranger in ("full/stranger.hdf5", "full/walls/stranger.h5", "full/walls/deeper/stranger.h5"):
        shutil.copy("full/walls/tall.h5", stranger)
        said = run("collection", "verify", "full", code=BAD_INPUT).stderr
        assert f"{stranger[5:]}: has no sum" in said and "tall.h5" not in said
        Path(stranger).unlink()
    Path("full/walls/deeper").rmdir()
    Path("full/walls/notes.txt").unlink()
    run("collection", "verify", "full")


@pytest.mark.parametrize("line, message", [
    ("    scene brik-wall", "did you mean brick-wall?"),
    ("    scene brick-wall rowz=3", "walls.recipe:10: brick-wall: "),
    ("    frames many", "expected: frames N from STEP"),
    ("    frame 3", "unknown word 'frame'; did you mean frames?"),
    ("famly x", "did you mean family?"),
    ("sequence tall\n    scene brick-wall\n    frames 1", "a second sequence is called walls/tall"),
    ("sequence wall-{row}\n    scene brick-wall rows=3\n    frames 1", "unknown value 'row'"),
    ("sequence ../x\n    scene brick-wall\n    frames 1", "must consist of letters"),
    ("sequence x\n    frames 1", "x has no scene"),
])
def test_mistakes_in_recipes_are_named_with_their_line(here, line, message):
    write_recipes("recipes", RECIPE + line + "\n")
    said = run("collection", "list", "--recipes", "recipes", code=BAD_INPUT).stderr
    assert message in said and "recipes/walls.recipe:" in said


def test_a_proof_where_the_recipe_says_that_there_is_none_is_an_error(here):
    write_recipes("recipes", RECIPE + "    unsolvable because I say so\n")
    said = run("collection", "build", "--recipes", "recipes", "-o", "full", code=BAD_INPUT).stderr
    assert "walls/tall" in said and "one is proved" in said
    assert len(rows("full")) == 8  # the others are there


def test_what_has_no_solution_by_its_recipe_has_none(here):
    """The family of the collection: a proof would be an error, as above."""
    Path("recipes").mkdir()
    for name in ("collection", "no-solution"):
        shutil.copy(SOURCE / f"collection/{name}.recipe", "recipes")
    run("collection", "build", "--recipes", "recipes", "-o", "full")
    assert len(rows("full")) >= 28 and {row["solvable"] for row in rows("full")} == {"0"}


def test_files_of_others_are_imported(files):
    Path("data").mkdir()
    shutil.copy(shared("fclib/FrictionContact3D_RR_1c.hdf5"), "data")
    shutil.copy(shared("fclib/GFC3D_OneContact.hdf5"), "data")  # with zeros that are stored, and not in the copy
    shutil.copy(shared("bpmd/sphere1_gazebo11.h5"), "data")
    Path("data/broken.h5").write_bytes(b"no HDF5")
    said = run("collection", "build", "--recipes", "recipes", "-o", "full", "--import", "data", code=BAD_INPUT).stderr
    assert "imported/broken" in said
    imported = [row for row in rows("full") if row["family"] == "imported"]
    assert {row["scene"] for row in imported} == {"import"} and {row["frame"] for row in imported} >= {"-1", "0"}
    run("collection", "verify", "full")
    genuine = rows("full")
    (place,) = [i for i, row in enumerate(genuine) if row["sequence"] == "FrictionContact3D_RR_1c"]
    for column, value in {"contacts": "3", "rank": "0.123", "mu_most": "0.95", "sliding": "0.25", "certain": "0.125", "planar": "1"}.items():
        write_index(genuine[:place] + [dict(genuine[place], **{column: value})] + genuine[place + 1:])
        assert f"/0: {column} is" in run("collection", "verify", "full", code=BAD_INPUT).stderr, column
    write_index(genuine)
    # the copy holds the certified answer, which is proved again; the file of the user is as it was
    (row,) = [row for row in imported if row["sequence"] == "FrictionContact3D_RR_1c"]
    original = shared("fclib/FrictionContact3D_RR_1c.hdf5").read_bytes()
    assert row["level"] in ("backward", "exact") and Path("data/FrictionContact3D_RR_1c.hdf5").read_bytes() == original
    with h5py.File(f"full/{row['file']}", "r+") as file:
        assert any(file["solution/r"][:] != 0)
        file["solution/r"][0] *= 1.001
    said = run("collection", "verify", "full", code=BAD_INPUT).stderr
    assert "its sum is not" in said and f"{row['id']}: level {row['level']}" in said


def test_a_ledger_says_how_hard_problems_are(files):
    run("bench", "full/walls/tall.h5", "-s", "pgs,nsgs,admm", "--iterations", "3", "-o", "few.db")
    run("bench", "full/walls/tall.h5", "-s", "auto", "-o", "few.db")
    assert {row["collection"] for row in csv.DictReader(run("export", "few.db", "--table", "problems").stdout.splitlines())} == {"mine 7"}
    run("collection", "build", "--recipes", "recipes", "-o", "full", "--ledger", "few.db")
    hard = {row["id"]: (row["hardness"], row["tried"]) for row in rows("full")}
    assert hard["walls/wall-1-at0/0"] == ("", "0")
    share, tried = hard["walls/tall/0"]
    assert tried == "4" and 0.2 < float(share) < 1.0  # auto solves it, three iterations of pgs do not
    run("collection", "verify", "full")
