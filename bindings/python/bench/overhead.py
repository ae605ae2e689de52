"""What a call from Python costs beyond the same call from C, and that frames are not copied.

    PYTHONPATH=build/release/python /usr/bin/python3 bindings/python/bench/overhead.py

The C side is compiled here and solves the same frame by the same session. Processor time, minimum of
several rounds: other programs only ever make a round slower.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import stickslip as ss

C_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <stickslip/stickslip.h>
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
int main(int argc, char **argv)
{
    ss_error err = {0};
    ss_bpmd *file = argc > 3 ? ss_bpmd_open(argv[1], NULL, NULL, &err) : NULL;
    ss_frame *frame = file ? ss_bpmd_read(file, 0, NULL, &err) : NULL;
    ss_session *session = ss_session_create(&(ss_request){.solver = "nsgs", .skip_exact = true}, &err);
    if (!frame || !session) return fprintf(stderr, "%s\n", err.message), 1;
    double best = 1e9;
    for (int round = 0; round < atoi(argv[2]); round++) {
        double start = seconds();
        for (int i = 0; i < atoi(argv[3]); i++) ss_session_solve(session, frame, NULL, &err);
        double each = (seconds() - start) / atoi(argv[3]);
        if (each < best) best = each;
    }
    printf("%.9g\n", best);
    return 0;
}
"""


def one_contact():
    return ss.Frame.from_arrays(
        h=0.01, bodies={"mass": [1.0], "inertia": [0.1 * np.eye(3)], "velocity": [[0.3, 0, 0, 0, 0, 0]],
                        "force": [[0, 0, -9.81, 0, 0, 0]]},
        contacts={"pair": [[ss.WORLD, 0]], "point": [[0, 0, 0]], "normal": [[0, 0, 1]], "mu": 0.5})


def per_call_of_c(frame, rounds, calls):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frame.h5")
        with ss.Recorder(path) as recorder:
            recorder.write(frame)
        with open(os.path.join(folder, "solve.c"), "w") as file:
            file.write(C_PROGRAM)
        flags = subprocess.run([sys.executable, "-m", "stickslip", "--cflags", "--libs"], check=True, capture_output=True,
                               text=True).stdout.split()
        program = os.path.join(folder, "solve")
        subprocess.run(["cc", "-O2", file.name, *flags, "-o", program], check=True)
        printed = subprocess.run([program, path, str(rounds), str(calls)], check=True, capture_output=True, text=True).stdout
    return float(printed)


def per_call(function, rounds, calls):
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            function()
        best = min(best, (time.thread_time() - start) / calls)
    return best


def memory_mb():
    """Resident memory now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def zero_copy(contacts=200_000):
    """Megabytes that all views of a frame cost, beside the size of its arrays."""
    frame = ss.Frame(bodies=10, contacts=contacts, h=0.01)
    for array in frame.arrays().values():
        array[...] = 1
    before = memory_mb()
    views = [frame.arrays() for _ in range(20)]
    grown = memory_mb() - before
    size = sum(array.nbytes for array in views[0].values()) / 1e6
    return {"contacts": contacts, "frame_mb": size, "views": sum(map(len, views)), "grown_mb": grown}


def main(rounds=15, calls=2000):
    frame = one_contact()
    in_c = per_call_of_c(frame, rounds, calls)
    checked, trusted = ss.Session("nsgs"), ss.Session("nsgs", check=False)

    def typical():
        result = trusted.solve(frame)
        return result.velocity

    figures = {"c_us": 1e6 * in_c}
    results = [None]

    def held():
        results[0] = trusted.solve(frame)

    for name, function in (("session_us", lambda: trusted.solve(frame)), ("session_held_us", held),
                           ("session_velocity_us", typical), ("session_checked_us", lambda: checked.solve(frame)),
                           ("solve_us", lambda: ss.solve(frame, "nsgs"))):
        figures[name] = 1e6 * (per_call(function, rounds, calls) - in_c)
    figures.update({f"zero_copy_{name}": value for name, value in zero_copy().items()})
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    print(f"one contact, nsgs: {figures['c_us']:.1f} us per solve from C; from Python, beyond that:")
    print(f"  session.solve(frame), trusted frame     {figures['session_us']:5.1f} us")
    print(f"  ... the result is kept until the next   {figures['session_held_us']:5.1f} us")
    print(f"  ... and its velocities are read         {figures['session_velocity_us']:5.1f} us")
    print(f"  session.solve(frame), checked frame     {figures['session_checked_us']:5.1f} us")
    print(f"  ss.solve(frame), a new session          {figures['solve_us']:5.1f} us")
    print(f"zero copy: {figures['zero_copy_views']} views of a frame of {figures['zero_copy_contacts']} contacts "
          f"({figures['zero_copy_frame_mb']:.0f} MB) cost {figures['zero_copy_grown_mb']:.2f} MB")


if __name__ == "__main__":
    main()
