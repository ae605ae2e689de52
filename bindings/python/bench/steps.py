"""What Python costs in a simulation: user functions, the loop, looking at the world, replaced parts; per step.

    PYTHONPATH=build/release/python /usr/bin/python3 bindings/python/bench/steps.py

Least of many short rounds, because other programs only ever make a round slower. The loop in C is compiled here and steps the
same scene; differences are beyond that.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import stickslip as ss

C_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <stickslip/stickslip.h>
int main(int argc, char **argv)
{
    ss_error err = {0};
    double best = 1e9;
    for (int round = 0; argc > 2 && round < atoi(argv[1]); round++) {
        ss_world *world = ss_world_create(&err);
        ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, &err);
        int ball = ss_world_add_body(world, &(ss_body){.kind = SS_DYNAMIC, .position = {0, 0, 0.1}}, &err);
        ss_world_add_shape(world, ball, &(ss_shape){.kind = SS_SPHERE, .size = {0.1}, .density = 1000}, &err);
        ss_sim_options options;
        ss_options_defaults(ss_sim_option_table, &options);
        ss_options_defaults(ss_collision_option_table, &options.collision);
        options.threads = 1;
        ss_sim *sim = ss_sim_create(world, &options, &err);
        if (!sim) return fprintf(stderr, "%s\n", err.message), 1;
        double start = ss_clock_seconds();
        for (int i = 0; i < atoi(argv[2]); i++) ss_sim_step(sim, &err);
        double each = (ss_clock_seconds() - start) / atoi(argv[2]);
        if (each < best) best = each;
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
    printf("%.9g\n", best);
    return 0;
}
"""


def ball():
    world = ss.World()
    world.fixed(ss.plane())
    world.body(ss.sphere(0.1), position=(0, 0, 0.1))
    return ss.Sim(world, threads=1)


def per_step(prepare, rounds, steps):
    """Seconds per step of the same simulation, after `prepare` has changed it."""
    best = float("inf")
    for _ in range(rounds):
        sim = ball()
        prepare(sim)
        start = time.perf_counter()
        sim.step(steps)
        best = min(best, (time.perf_counter() - start) / steps)
    return best


def per_step_in_c(rounds, steps):
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "steps.c"), os.path.join(folder, "steps")
        with open(source, "w") as file:
            file.write(C_PROGRAM)
        flags = subprocess.run([sys.executable, "-m", "stickslip", "--cflags", "--libs"], check=True, capture_output=True,
                               text=True).stdout.split()
        subprocess.run(["cc", "-O2", source, *flags, "-o", program], check=True)
        return float(subprocess.run([program, str(rounds), str(steps)], check=True, capture_output=True, text=True).stdout)


def nothing(sim):
    pass


def look(sim):
    sim.world.position[0, 2]


def dynamics_of(frame):
    return frame.bodies.velocity


def main(rounds=300, steps=200):
    if "--quick" in sys.argv:
        rounds = 60
    def noop(sim): sim.at("after_step", nothing)
    def four(sim):
        for stage in ss.STAGES:
            sim.at(stage, nothing)
    def looking(sim): sim.at("after_step", look)
    def framed(sim): sim.at("after_step", lambda sim: sim.frame)
    def own(sim): sim.dynamics = lambda sim, frame: dynamics_of(frame)
    plain = per_step(nothing, rounds, steps)
    figures = {"c_us": 1e6 * per_step_in_c(rounds, steps), "python_us": 1e6 * plain}
    for name, prepare in (("function_us", noop), ("four_functions_us", four), ("look_us", looking), ("frame_us", framed),
                          ("dynamics_us", own)):
        figures[name] = 1e6 * (per_step(prepare, rounds, steps) - plain)
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    print(f"one ball on the ground: {figures['c_us']:.2f} us per step from C, {figures['python_us']:.2f} us by sim.step(n)")
    print("beyond that, per step:")
    for name, text in (("function_us", "a user function that does nothing"),
                       ("four_functions_us", "one at each of the four stages"),
                       ("look_us", "a user function that reads a position"),
                       ("frame_us", "a user function that takes a copy of the frame"),
                       ("dynamics_us", "dynamics in Python that read the velocities (less what ours cost)")):
        print(f"  {text:<66} {figures[name]:6.2f} us")


if __name__ == "__main__":
    main()
