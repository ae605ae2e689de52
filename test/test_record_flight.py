"""`stickslip record` as a flight recorder, and what is left when the program or `record` itself dies."""
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from record_kit import check_balance, frames, recorder, text, tool
from test_cli import PROGRAM, USAGE, run, run_json

PACKAGE = "libode-dev"
# A box that falls on a plane and stays there. `until FILE`: steps until the file is there.
FALLING = r"""
#include <ode/ode.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static dWorldID world;
static dJointGroupID touching;
static double length = 1;
static void collide(void *data, dGeomID a, dGeomID b)
{
    dContact contact[4];
    memset(contact, 0, sizeof contact);
    int count = dCollide(a, b, 4, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; i++) {
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = 0.5;
        contact[i].geom.normal[2] *= length;
        dJointAttach(dJointCreateContact(world, touching, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
    (void)data;
}
int main(int argc, char **argv)
{
    dInitODE();
    world = dWorldCreate();
    dWorldSetGravity(world, 0, 0, -9.81);
    dSpaceID space = dHashSpaceCreate(NULL);
    touching = dJointGroupCreate(0);
    dCreatePlane(space, 0, 0, 1, 0);
    dBodyID body = dBodyCreate(world);
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 0.2, 0.2, 0.2);
    dBodySetMass(body, &mass);
    dGeomSetBody(dCreateBox(space, 0.2, 0.2, 0.2), body);
    dBodySetPosition(body, 0, 0, 0.3);
    int until = strcmp(argv[1], "until") == 0;
    for (int step = 1; until ? step < 30000 && access(argv[2], R_OK) != 0 : step <= 50; step++) {
        if (step == 40 && strcmp(argv[1], "nan") == 0) dBodyAddForce(body, NAN, 0, 0);
        length = step == 40 && strcmp(argv[1], "odd") == 0 ? 2 : 1;
        dSpaceCollide(space, NULL, collide);
        dWorldQuickStep(world, 0.01);
        dJointGroupEmpty(touching);
        if (step == 40 && strcmp(argv[1], "crash") == 0) *(volatile int *)16 = 1;
        if (step == 40 && strcmp(argv[1], "fail") == 0) exit(3);
        if (until) usleep(2000);
    }
    (void)argc;
    return 0;
}
"""


@pytest.fixture(scope="module")
def falling(tmp_path_factory):
    recorder("ode", PACKAGE)
    folder = tmp_path_factory.mktemp("falling")
    (folder / "falling.c").write_text(FALLING)
    built = subprocess.run(["cc", folder / "falling.c", "-o", folder / "falling", "-lode", "-lm"], capture_output=True, text=True)
    if built.returncode:
        pytest.skip("no C compiler, or no ODE to link: " + built.stderr[-200:])
    return folder / "falling"


def notes(path):
    with h5py.File(path) as file:
        simulation = file["simulation_000001"]
        return [text(simulation[name].attrs["note"]) for name in sorted(simulation) if "note" in simulation[name].attrs]


def times(path):
    return [float(np.ravel(arrays["time"])[0]) for arrays, _ in frames(path)]


def start_recording(path, *words):
    return subprocess.Popen([PROGRAM, "record", "-q", "-e", "ode", "-o", path, *map(str, words)], stderr=subprocess.PIPE, text=True)


def wait_for(condition, seconds=60):
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("nothing happened for a minute")


def test_only_the_steps_before_something_trips_are_written(falling, tmp_path):
    """Falling 0.2 m takes 0.2 s; the speed is above 1 m/s from the 12th step on."""
    path = tmp_path / "fast.h5"
    said = run("record", "-e", "ode", "-o", path, "--ring", 5, "--trip", "speed>1", "--after", 2, "--trips", 1, "--", falling, "").stderr
    assert "tripped 1 time" in said
    np.testing.assert_allclose(times(path), 0.01 * np.arange(9, 14), atol=1e-12)
    assert notes(path) == ["speed 1.0791 > 1"]
    check_balance(path, 1e-12)
    run("check", path)
    assert run_json("info", path)["simulations"][0]["shapes"] == 1  # the plane was not touched by then


def test_metrics_trip_and_shapes_come_along(tmp_path):
    """ODE's sweeps leave errors as soon as boxes touch; the rules of the engine are those it is judged by."""
    path = tmp_path / "wrong.h5"
    run("record", "-q", "-e", "ode", "-o", path, "--ring", 4, "--trip", "energy>1e-4", "--trips", 2, "--",
        tool("demo_ode_scenes", PACKAGE), "stack", 80, "quick")
    assert all(note.startswith("energy 0.0") for note in notes(path)) and len(notes(path)) == 2
    assert run_json("info", path)["simulations"][0]["shapes"] == 13
    judged = run_json("judge", path)["answers"]
    assert judged[3]["metrics"]["energy"]["value"] > 1e-4


def test_if_nothing_trips_nothing_is_written(falling, tmp_path):
    said = run("record", "-e", "ode", "-o", tmp_path / "no.h5", "--ring", 5, "--trip", "speed>100", "--", falling, "").stderr
    assert "did not trip" in said and not list(tmp_path.iterdir())


@pytest.mark.parametrize("how, why", [("crash", "the program was ended by signal 11 (Segmentation fault)"),
                                      ("fail", "the program ended with exit code 3")])
def test_a_crash_trips(falling, tmp_path, how, why):
    path = tmp_path / "crash.h5"
    said = run("record", "-e", "ode", "-o", path, "--ring", 10, "--", falling, how, code=1).stderr
    assert why[12:] in said
    np.testing.assert_allclose(times(path), 0.01 * np.arange(30, 40), atol=1e-12)  # up to the last step
    assert notes(path) == [why] and run_json("info", path)["simulations"][0]["shapes"] == 2


def test_numbers_that_are_not_numbers_trip(falling, tmp_path):
    """ODE itself gives up over them, in the middle of the step."""
    path = tmp_path / "nan.h5"
    run("record", "-e", "ode", "-o", path, "--ring", 10, "--", falling, "nan", code=1)
    np.testing.assert_allclose(times(path), 0.01 * np.arange(29, 39), atol=1e-12)
    assert notes(path) == ["the program was ended by signal 6 (Aborted)"]


def test_a_step_that_cannot_be_a_frame_trips(falling, tmp_path):
    path = tmp_path / "odd.h5"
    said = run("record", "-e", "ode", "-o", path, "--ring", 10, "--", falling, "odd", code=1).stderr
    assert "1 step was left out" in said and "normals" in said
    np.testing.assert_allclose(times(path), 0.01 * np.arange(29, 39), atol=1e-12)
    assert len(notes(path)) == 1 and "the step after this one is faulty" in notes(path)[0]


def test_a_signal_trips(falling, tmp_path):
    path = tmp_path / "asked.h5"
    process = start_recording(path, "--ring", 5, "--trip-signal", "usr1", "--", falling, "until", path)
    wait_for(lambda: list(tmp_path.glob("*.ring")))
    process.send_signal(signal.SIGUSR1)
    assert process.wait(60) == 0
    assert notes(path) == ["signal"] and 1 <= len(times(path)) <= 5  # it may come before the ring is full


@pytest.mark.parametrize("words", [("--ring", 6), ("--survive", 0.2)])
def test_a_recording_survives_the_death_of_its_writer(falling, tmp_path, words):
    """`record` is killed; the program goes on without it, until there is the file that `recover` makes."""
    path = tmp_path / "left.h5"
    process = start_recording(path, *words, "--", falling, "until", path)
    try:
        wait_for(lambda: list(tmp_path.glob("*.ring" if words[0] == "--ring" else "*.partial")))
        time.sleep(0.1)
    finally:
        process.kill()
        process.wait()
    recovered, = run_json("recover", path)
    assert recovered["frames"] >= 1 and recovered["frames"] <= (6 if words[0] == "--ring" else 1e9)
    run("check", path)
    assert run_json("info", path)["simulations"][0]["shapes"] >= 1


def test_what_makes_no_sense_is_reported_before_the_program_starts(falling, tmp_path):
    for words, says in [(("--ring", 5, "--trip", "sped>1"), "did you mean speed"), (("--trip", "nan"), "no ring"),
                        (("--ring", -1), "--ring")]:
        said = run("record", "-e", "ode", "-o", tmp_path / "x.h5", *words, "--", "touch", tmp_path / "started", code=USAGE).stderr
        assert says in said
    assert not list(tmp_path.iterdir())


def test_signals_for_record_reach_the_program(falling, tmp_path):
    """What was recorded is kept, and this is not a crash."""
    path = tmp_path / "ended.h5"
    process = start_recording(path, "--survive", 0.1, "--", falling, "until", tmp_path / "never")
    wait_for(lambda: list(tmp_path.glob("*.partial")))
    process.terminate()
    assert process.wait(60) == 1 and "ended by signal 15" in process.stderr.read()
    assert len(times(path)) > 0


def test_several_processes_at_once_are_refused(falling, tmp_path):
    script = tmp_path / "both.sh"
    script.write_text(f"#!/bin/sh\n{falling} until {tmp_path}/go & {falling} until {tmp_path}/go &\nsleep 1\ntouch {tmp_path}/go\nwait\n")
    script.chmod(0o755)
    said = run("record", "-e", "ode", "-o", tmp_path / "b.h5", "--", script, code=None).stderr
    assert "several processes" in said
