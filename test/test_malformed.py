"""Whatever a file holds, the program ends in good order: exit code 3 and a message that names the data set or link. No
crash, no hang, no memory that the file only claims to need."""
import os
import resource
import subprocess

import pytest

import make_malformed as make

PROGRAM = os.environ["SS_PROGRAM"]
GOOD, BAD_INPUT = 0, 3
SECONDS = 10  # a good frame takes some milliseconds
MEGABYTES = 200  # of memory in use; a good frame takes some ten, with the libraries


def run(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS)
    used = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    assert ended.returncode >= 0, f"killed by signal {-ended.returncode}"
    assert used < MEGABYTES * 1024, f"{used / 1024:.0f} MB"
    assert "Sanitizer" not in ended.stderr and "runtime error" not in ended.stderr, ended.stderr
    return ended


def test_the_good_frame_all_are_made_from_is_good(tmp_path):
    make.write_good(tmp_path / "good.h5")
    assert run("info", tmp_path / "good.h5").returncode == GOOD
    checked = run("check", tmp_path / "good.h5")
    assert checked.returncode == GOOD, checked.stdout


@pytest.mark.parametrize("malformed", make.CASES, ids=lambda case: case.name)
def test_malformed_file_is_refused_by_name(tmp_path, malformed):
    path = make.write_case(tmp_path, malformed)
    looked, checked = run("info", path), run("check", path)
    assert checked.returncode == BAD_INPUT, checked.stdout + checked.stderr
    assert malformed.names in checked.stdout + checked.stderr
    if malformed.semantic:
        assert looked.returncode == GOOD, looked.stdout + looked.stderr
    else:
        assert looked.returncode == BAD_INPUT, looked.stdout + looked.stderr
        assert malformed.names in looked.stdout + looked.stderr


def test_names_of_cases_are_unique():
    names = [case.name for case in make.CASES]
    assert len(set(names)) == len(names)
