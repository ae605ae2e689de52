"""Arrays outlive what they came from. Everything a user can hold is held here while its owner is deleted, and then read:
under the address sanitizer a view of freed memory ends the program. (In the release build it may go unnoticed.)"""
import ctypes
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import stickslip as ss

UNDER_ASAN = bool(os.environ.get("SS_PRELOAD"))


def frame_with_everything():
    frame = ss.Frame(bodies=3, constraints=1, rows=2, contacts=5, h=0.01)
    frame.bodies.mass = 1
    frame.bodies.inertia = np.eye(3)
    frame.bodies.force = [0, 0, -9.81, 0, 0, 0]
    frame.constraints.pair = [[0, 1]]
    frame.constraints.jacobian = np.eye(2, 12) - np.eye(2, 12, k=6)
    frame.contacts.pair = [[ss.WORLD, i % 3] for i in range(5)]
    frame.contacts.normal = [0, 0, 1]
    frame.contacts.point = np.arange(15.0).reshape(5, 3)
    frame.contacts.mu = 0.5
    frame.contacts.restitution = 0.1
    frame.contacts.mu_rolling = 0.01
    return frame


def touch(array):
    """Reads all of an array by memcpy, which the sanitizer watches; NumPy's own loops are not compiled with it."""
    if array.ndim == 0 or array.flags.c_contiguous or array.flags.f_contiguous:
        ctypes.string_at(array.__array_interface__["data"][0], array.nbytes)
    else:
        for part in array:
            touch(np.asarray(part))


def read_all(arrays):
    """A number from every array, after all of it was touched."""
    gc.collect()
    for array in arrays:
        touch(array)
    junk = [bytearray(4096) for _ in range(200)]  # takes the place of what was freed
    return sum(float(np.nansum(np.where(np.isfinite(array), array, 0))) for array in arrays) + len(junk)


def test_views_of_a_frame():
    frame = frame_with_everything()
    held = list(frame.arrays().values()) + [frame.contacts.point[1:, ::2].T, frame.bodies.inertia.reshape(-1)]
    expected = read_all(held)
    groups = frame.bodies, frame.contacts
    del frame
    assert read_all(held) == expected
    assert len(groups[0].mass) == 3  # a group keeps the frame, too
    for array in held:
        if array.dtype == float:
            array[...] = 1  # and may be written to


def test_views_of_a_problem():
    pytest.importorskip("scipy")
    problem = frame_with_everything().problem("stewart-trinkle", sides=6)
    A = problem.A
    held = [problem.b, problem.lower, problem.partner, problem.diagonal, A.data, A.indices, A.indptr, *problem.lcp()[1:]]
    lcp = problem.lcp().A
    expected = read_all(held) + float(abs(lcp).sum())
    del problem, A
    assert read_all(held) + float(abs(lcp).sum()) == expected


def test_views_of_results():
    frame = frame_with_everything()
    result = ss.solve(frame, "nsgs", iterations=20, history=True)
    held = [result.velocity, result.normal_impulse, result.friction_impulse, result.row_impulse, result.x,
            result.answer.rolling_impulse, result.history.energy, result.metrics.contacts.energy]
    metrics, answer = result.metrics, result.answer
    expected = read_all(held)
    del result, frame
    assert read_all(held) == expected and metrics["energy"].value >= 0 and len(answer.velocity) == 3
    del held
    assert read_all([answer.velocity]) != 0

    session = ss.Session("nsgs", iterations=20, history=True, explain=True)
    kept = [session.solve(frame_with_everything()) for _ in range(3)]
    seen = [kept[-1].velocity, kept[-1].x]
    del session
    assert len({read_all([one.velocity, one.x, one.history.energy]) for one in kept}) == 1
    del kept
    assert read_all(seen) != 0


def test_views_of_a_file(tmp_path):
    path = tmp_path / "all.h5"
    frame = frame_with_everything()
    image = np.full((4, 5, 3), 7, np.uint8)
    with ss.Recorder(path, image=image) as recorder:
        recorder.write(frame, {"one": ss.solve(frame, "nsgs", iterations=5), "two": {"velocity": np.ones((3, 6))}})
    del frame
    file = ss.open(path)
    frame = file[0]
    stored = frame.results()
    held = [stored["one"].answer.velocity, stored["one"].measures["energy"], stored["two"].answer.velocity,
            file.simulations[0].manifest.image, frame.contacts.point]
    expected = read_all(held)
    file.close()
    del file, frame, stored
    assert read_all(held) == expected


def test_views_of_an_fclib_problem():
    from shared_data import shared
    pytest.importorskip("scipy")
    problem = ss.open(shared("fclib/NESpheres_30_1.hdf5"))[0]
    W = problem.W
    local = problem.problem()
    held = [problem.q, problem.mu, W.data, W.indices, local.b, local.diagonal]
    expected = read_all(held)
    del problem, W, local
    assert read_all(held) == expected


def test_what_is_lent_to_a_function_can_be_kept():
    kept = []

    @ss.solver(name="hoarder")
    def hoarder(problem, run):
        kept.extend([problem.b, problem.lower, problem.dense(), run.x])
        run.iteration(run.x)

    @ss.metric(name="collector")
    def collector(frame, answer):
        kept.extend([frame.contacts.point, frame.bodies.mass, answer.velocity])
        return 0.0

    @ss.formulation(name="miser", laws=["free", "box"])
    def miser(contact):
        kept.extend([contact.normal, contact.tangent, contact.frame.bodies.velocity])
        return [contact.normal_unknown()]

    result = ss.solve(frame_with_everything(), hoarder, formulation=miser, callback=lambda iterate: kept.append(iterate.x))
    assert result.status in ("converged", "max iterations", "stalled", "failed") and len(kept) > 10
    expected = read_all(kept)
    del result
    assert read_all(kept) == expected


def test_a_name_that_is_defined_again_and_again_leaves_nothing_behind_that_is_used():
    sessions = []
    for value in range(5):
        @ss.solver(name="changing", laws="box", exact=True)
        def changing(problem, run, factor=1.0):
            return factor * value * np.ones(len(problem))

        sessions.append((value, ss.Session("changing", factor=2.0)))
    del changing
    gc.collect()
    for value, session in sessions:
        assert session.solve(ss.Problem.from_arrays(np.eye(1), [-2.0 * value])).x[0] == 2.0 * value


if UNDER_ASAN:  # nothing else sees it
    def test_a_view_without_an_owner_would_be_found():
        """The test of this test: the same read with an owner that is not kept ends the program."""
        code = ("import ctypes, gc, stickslip as ss; from stickslip._memory import view\n"
                "frame = ss.Frame(bodies=1000, h=0.1); address = frame._struct.bodies.mass\n"
                "array = view(object(), address, (1000,)); del frame; gc.collect()\n"
                "ctypes.string_at(array.__array_interface__['data'][0], array.nbytes)")
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.returncode != 0 and "heap-use-after-free" in run.stderr
