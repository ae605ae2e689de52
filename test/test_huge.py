"""Files that are small on disk and huge in what they claim to hold: many simulations, frames and results, most of them
hard links to one. Every verb ends, or says which limit it met; a long run is not silent. Times are printed, not judged."""
import json
import subprocess
import time

import h5py
import pytest

from make_dialects import frame_name, make_frame, write_agx
from test_cli import DONE, PROGRAM, RESOURCES, here, run, run_json

SIMULATIONS, FRAMES, RESULTS = 20000, 500, 2000


def timed(*words, **options):
    start = time.time()
    ended = run(*words, **options)
    print(f"{' '.join(map(str, words))}: {time.time() - start:.1f} s")
    return ended


def add_frame(simulation):
    frame = simulation.create_group(frame_name(1))
    write_agx(frame, make_frame(1, 3, ["ball"], 4))
    return frame


@pytest.fixture
def simulations(here):
    """Empty ones, a manifest for all of them in the root."""
    with h5py.File("simulations.h5", "w") as file:
        file.create_group("manifest")["title"] = "many"
        empty = file.create_group("simulation_000000")
        for i in range(1, SIMULATIONS):
            file[f"simulation_{i:06d}"] = empty
    return "simulations.h5"


@pytest.fixture
def frames(here):
    with h5py.File("frames.h5", "w") as file:
        simulation = file.create_group("simulation_000001")
        frame = add_frame(simulation)
        for i in range(2, FRAMES + 1):
            simulation[frame_name(i)] = frame
    return "frames.h5"


@pytest.fixture
def results(here):
    with h5py.File("results.h5", "w") as file:
        solvers = add_frame(file.create_group("simulation_000001")).create_group("solver_data")
        for i in range(RESULTS):
            solvers.create_group(f"solver{i}")["iterations"] = i
    return "results.h5"


# ---- limits ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("words", [["info"], ["info", "--json"], ["check"], ["solve"]])
def test_too_many_simulations_are_refused_at_once(words, simulations):
    ended = timed(words[0], simulations, *words[1:], code=RESOURCES)
    assert "more than 10000 simulations (max_simulations)" in ended.stdout + ended.stderr


def test_a_limit_on_simulations_can_be_raised(simulations):
    limit = ["--max-simulations", SIMULATIONS]
    assert timed("check", simulations, *limit).stdout.endswith("good, 0 frames, 0 faults, 0 warnings, 0 repairs\n")
    told = json.loads(timed("info", simulations, "--json", *limit).stdout)["simulations"]
    assert len(told) == SIMULATIONS and {simulation["title"] for simulation in told} == {"many"}
    text = timed("info", simulations, *limit).stdout
    assert text.count("Simulation /") == 13 and f"... {SIMULATIONS - 13} more simulations" in text


def test_members_are_counted_over_all_simulations(here):
    with h5py.File("links.h5", "w") as file:
        group = file.create_group("simulation_000000")
        for i in range(1000):
            group[f"x{i}"] = group
            file[f"simulation_{i + 1:06d}"] = group
    assert "more than 500000 members of simulations (max_members)" in timed("check", "links.h5", "--max-members", 500000,
                                                                            code=RESOURCES).stdout
    timed("check", "links.h5")


def test_too_many_frames_are_refused_at_once(frames):
    assert f"more than {FRAMES - 1} frames (max_frames)" in timed("info", frames, "--max-frames", FRAMES - 1,
                                                                  code=RESOURCES).stderr


def test_too_many_results_are_told_and_the_frame_is_still_read(results):
    limit = "solver_data: more than 1000 results (max_results)"
    assert limit in timed("check", results, code=RESOURCES).stdout
    told = run_json("info", results)
    assert len(told["frames"]) == 1 and limit in told["warnings"][0]["what"]
    assert limit in timed("convert", results, "out.h5", "--to", "bpmd", code=RESOURCES).stderr


# ---- without limits, nothing is worse than linear ------------------------------------------------------------------

def test_many_frames_are_read_one_by_one(frames):
    assert len(json.loads(timed("info", frames, "--json").stdout)["frames"]) == FRAMES
    assert f"good, {FRAMES} frames" in timed("check", frames).stdout
    timed("convert", frames, "out.h5", "--to", "bpmd")
    with h5py.File("out.h5") as file:
        assert sum(name.startswith("mbs_frame") for name in file["simulation_000001"]) == FRAMES
    timed("solve", frames, "--frame", "0:200", "--iterations", "10", "-s", "pgs", code=None)


def test_many_results_are_read_one_by_one(results):
    limit = ["--max-results", RESULTS]
    assert len(json.loads(timed("info", results, "--json", *limit).stdout)["frames"][0]["results"]) == RESULTS
    assert "good, 1 frame" in timed("check", results, *limit).stdout
    timed("convert", results, "out.h5", "--to", "bpmd", *limit)
    with h5py.File("out.h5") as file:
        assert len(file["simulation_000001/mbs_frame000001/solver_data"]) == RESULTS


# ---- time ----------------------------------------------------------------------------------------------------------

def test_a_run_ends_at_its_time_limit_and_leaves_nothing(frames, here):
    before = set(here.iterdir())
    ended = timed("solve", frames, "--stop", "none", "--iterations", 10**9, "-s", "jacobi", "-o", "out.h5", "--max-time",
                  0.5, code=RESOURCES)
    assert "frames.h5: stopped after 0.5 s (--max-time)" in ended.stderr
    assert set(here.iterdir()) == before
    assert run("info", frames, "--max-time", 1000, "--frame", "0").returncode == DONE


def test_a_listing_is_a_stream(frames):
    """The first frames come while the others are being read, and a reader that leaves ends the run."""
    program = subprocess.Popen([PROGRAM, "info", frames, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert program.stdout.read(1000).startswith(b'{"format":"bpmd"')
    program.stdout.close()
    assert program.wait(timeout=60) != DONE
    program.stderr.close()
