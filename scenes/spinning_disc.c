#include "parts.h"

#include <math.h>

static const double radius = 0.1, thick = 0.01, mass = 1.0; /* m, kg */

typedef struct parameters {
    double speed, spin, mu, mu_t;
    int64_t points, coupled;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, speed, "1", 0, 1e3, "initial speed, in m/s"),
    SS_PARAMETER_REAL(parameters, spin, "20", -1e4, 1e4, "initial spin about the vertical, in rad/s"),
    SS_PARAMETER_REAL(parameters, mu, "0.2", 0, 10, "friction of sliding"),
    SS_PARAMETER_REAL(
        parameters, mu_t, "0.0133", 0, 10,
        "friction of spinning of the one point of contact, in m: 2/3 of mu times the radius is that of "
        "an even pressure"),
    SS_PARAMETER_INT(parameters, points, "0", 0, 256,
                     "points of contact on a circle of 2/3 of the radius; 0 = one, in the middle"),
    SS_PARAMETER_INT(parameters, coupled, "0", 0, 1,
                     "sliding and spinning of the one point: 0 = independent, 1 = in one ellipsoid"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    if (p->points == 1 || p->points == 2)
        return ss_fail(
            err, SS_ERROR_USAGE,
            "spinning-disc: invalid value \"%d\" for points: expected 0, or 3 or more, on which it stands",
            (int)p->points);
    ss_builder build = ss_build_start(world, err);
    ss_material_pair pair = {.mu = p->mu,
                             .mu_torsion = p->points ? 0.0 : p->mu_t,
                             .spin_coupling = p->coupled ? SS_SPIN_ELLIPSOID : SS_SPIN_INDEPENDENT};
    if (!ss_world_set_pair(world, 0, 0, &pair, err)) return false;
    ss_build_ground(&build, 0.0);

    // The centre of mass is at the height of the ground, so that friction does not tip the disc over.
    double across = 0.25 * mass * radius * radius;
    int disc = ss_build_body(
        &build, &(ss_body){.name = "disc",
                           .kind = SS_DYNAMIC,
                           .velocity = {p->speed, 0.0, 0.0, 0.0, 0.0, p->spin},
                           .mass = mass,
                           .inertia = {across, 0.0, 0.0, 0.0, across, 0.0, 0.0, 0.0, 2.0 * across}});
    ss_build_shape(&build, disc,
                   &(ss_shape){.kind = SS_CYLINDER,
                               .size = {radius, thick},
                               .position = {0.0, 0.0, 0.5 * thick},
                               .colour = 0x2f7fc1,
                               .ghost = true});
    ss_build_shape(&build, disc,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {1.6 * radius, 0.01, 0.004},
                               .position = {0.0, 0.0, thick},
                               .colour = 0xe0752d,
                               .ghost = true});
    int count = p->points ? (int)p->points : 1;
    for (int i = 0; i < count; i++) {
        double angle = 2.0 * SS_PI * i / count, far = p->points ? 2.0 / 3.0 * radius : 0.0;
        ss_build_shape(&build, disc,
                       &(ss_shape){.kind = SS_SPHERE,
                                   .size = {0.5 * thick},
                                   .position = {far * cos(angle), far * sin(angle), 0.5 * thick}});
    }
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_body *disc = ss_world_body(ss_sim_world(sim), 0);
    double inertia = 0.5 * mass * radius * radius, moment = mass * 9.81 * p->mu_t;
    result[0] = (ss_scene_result){"speed", "m/s", hypot(disc->velocity[0], disc->velocity[1])};
    result[1] = (ss_scene_result){"spin", "rad/s", disc->velocity[5]};
    result[2] = (ss_scene_result){"slid", "m", hypot(disc->position[0], disc->position[1])};
    result[3] = (ss_scene_result){"slides_for", "s", p->speed / (9.81 * p->mu)};
    result[4] = (ss_scene_result){"spins_for", "s", inertia * fabs(p->spin) / moment};
    return 5;
}

const ss_scene ss_scene_spinning_disc = {
    .name = "spinning-disc",
    .summary = "a disc slides and spins on a table until friction stops both",
    .description =
        "A flat disc is sent off sliding and spinning. With one point of contact and torsional friction "
        "mu_t, independent of sliding, each stops at its own time, speed / (mu g) and I spin / (mu_t m "
        "g), which are reported (slides_for, spins_for). A real disc touches everywhere, and its friction "
        "points against the motion of each point: a fast spin leaves little friction against sliding, and "
        "both end at the same instant (Contensou). With points=64 the disc stands on a circle of points, "
        "which shows that, and so does coupled=1, one point with an ellipsoid of both.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.001,
    .length = 1.5,
    .picture_time = 0.3,
    .camera = {.eye = {0.55, -0.75, 0.5}, .target = {0.2, 0.0, 0.0}},
    .build = build_scene,
    .options = ss_accurate_steps,
    .figures = figures,
};
