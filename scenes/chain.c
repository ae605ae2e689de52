#include "parts.h"

#include <math.h>

typedef struct parameters {
    int links;
    double weight;
} parameters;

static const ss_option table[] = {SS_PARAMETER_INT(parameters, links, "10", 1, 100000, "links of the chain"),
                                  SS_PARAMETER_REAL(parameters, weight, "0", 0, 1e9,
                                                    "mass on the free end, in kg; 0 = both ends are fixed"),
                                  {0}};

/* One link. */
static const double length = 0.2, radius = 0.02, density = 2000.0; /* m, m, kg/m^3 */

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    int before = SS_WORLD;
    for (int k = 0; k < p->links; k++) {
        ss_body link = {.position = {(k + 0.5) * length, 0.0, 0.0}};
        ss_turn((double[3]){0.0, 1.0, 0.0}, 0.5 * SS_PI, link.quaternion);
        int number = ss_build_one(&build, &link,
                                  &(ss_shape){.kind = SS_CAPSULE,
                                              .size = {radius, length - 2.0 * radius},
                                              .density = density,
                                              .collides_with = SS_MEETS_NOTHING});
        ss_build_joint(
            &build,
            &(ss_joint){.kind = SS_JOINT_BALL, .a = before, .b = number, .anchor = {k * length, 0.0, 0.0}});
        before = number;
    }
    double end = p->links * length;
    if (p->weight > 0.0) {
        double r = cbrt(p->weight / 7800.0 * 3.0 / (4.0 * SS_PI));
        int ball = ss_build_ball(&build, r, 7800.0, (double[3]){end + r, 0.0, 0.0});
        ss_build_joint(&build,
                       &(ss_joint){.kind = SS_JOINT_BALL, .a = before, .b = ball, .anchor = {end, 0.0, 0.0}});
    } else {
        /* the second hook stands nearer, so that the chain may sag */
        ss_joint rope = {.kind = SS_JOINT_DISTANCE,
                         .a = SS_WORLD,
                         .b = before,
                         .anchor = {0.7 * end, 0.0, 0.0},
                         .anchor_b = {end, 0.0, 0.0}};
        rope.law[0] = (ss_axis_law){.limited = true, .lower = 0.0, .upper = 0.3 * end};
        ss_build_joint(&build, &rope);
    }
    return ss_build_done(&build);
}

static void choose(const void *of, ss_sim_options *options)
{
    const parameters *p = of;
    options->joints = SS_STABILISE_IMPULSE;
    if (!(p->weight > 0.0)) return;
    /* under the tension T the links swing across the chain at w = sqrt(4 T / (m l)), and steps must follow: w
     * h = 0.3, with T = 3 weights at the bottom of the swing */
    double mass = density * SS_PI * radius * radius * length, gravity = 9.81;
    options->h = fmin(options->h, 0.3 * sqrt(mass * length / (12.0 * p->weight * gravity)));
}

const ss_scene ss_scene_chain = {
    .name = "chain",
    .summary = "a hanging chain of ten links on ball joints",
    .description =
        "Links on ball joints between two hooks, released from a straight line, swing into a catenary. A "
        "heavy weight at the end, weight=1000, makes the mass ratio hard, and the tension requires short "
        "steps. The reported value is the largest gap in a joint.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 1.0,
    .build = build_scene,
    .options = choose,
    .figures = ss_figure_joint_gap,
};
