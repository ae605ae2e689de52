#include "parts.h"

#include <math.h>

/* A stone of the sport: 19.1 kg, on a running band of 62.5 mm radius. */
static const double mass = 19.1, radius = 0.145, height = 0.114, band = 0.0625;

typedef struct parameters {
    double speed, spin, mu;
    int64_t points;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, speed, "1", 0, 100, "initial speed along x, in m/s"),
    SS_PARAMETER_REAL(parameters, spin, "1.5", -1e3, 1e3, "initial spin about the vertical, in rad/s"),
    SS_PARAMETER_REAL(parameters, mu, "0.015", 0, 10, "friction on the ice"),
    SS_PARAMETER_INT(parameters, points, "24", 3, 256, "points of contact on the running band"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    double axial = 0.5 * mass * radius * radius, across = 0.5 * axial + mass * height * height / 12.0;
    int stone =
        ss_build_body(&build, &(ss_body){.name = "stone",
                                         .kind = SS_DYNAMIC,
                                         .position = {0.0, 0.0, 0.5 * height},
                                         .velocity = {p->speed, 0.0, 0.0, 0.0, 0.0, p->spin},
                                         .mass = mass,
                                         .inertia = {across, 0.0, 0.0, 0.0, across, 0.0, 0.0, 0.0, axial}});
    ss_build_shape(&build, stone,
                   &(ss_shape){.kind = SS_CYLINDER,
                               .size = {radius, 0.9 * height},
                               .position = {0.0, 0.0, 0.0},
                               .colour = 0x8d949c,
                               .ghost = true});
    ss_build_shape(&build, stone,
                   &(ss_shape){.kind = SS_CAPSULE,
                               .size = {0.015, 0.1},
                               .position = {0.03, 0.0, 0.6 * height},
                               .quaternion = {sqrt(0.5), 0.0, sqrt(0.5), 0.0},
                               .colour = 0xc0392b,
                               .ghost = true});
    for (int i = 0; i < p->points; i++) {
        double angle = 2.0 * SS_PI * i / (double)p->points;
        ss_build_shape(&build, stone,
                       &(ss_shape){.kind = SS_SPHERE,
                                   .size = {0.05 * height},
                                   .position = {band * cos(angle), band * sin(angle), -0.45 * height}});
    }
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_body *stone = ss_world_body(ss_sim_world(sim), 0);
    result[0] = (ss_scene_result){"speed", "m/s", hypot(stone->velocity[0], stone->velocity[1])};
    result[1] = (ss_scene_result){"spin", "rad/s", stone->velocity[5]};
    result[2] = (ss_scene_result){"way", "m", stone->position[0]};
    result[3] = (ss_scene_result){"curl", "m", stone->position[1]};
    result[4] = (ss_scene_result){"way_without_spin", "m", p->speed * p->speed / (2.0 * 9.81 * p->mu)};
    return 5;
}

const ss_scene ss_scene_curling_stone = {
    .name = "curling-stone",
    .summary = "a curling stone glides and spins on its running band until it stops",
    .description =
        "A stone on the narrow ring that carries it, as equal points of contact. Friction presses on the "
        "leading half of the band, because it acts below the centre of mass; there it points against the "
        "spin, and a stone that spins to the left drifts to the right: Coulomb's law curls a stone the "
        "wrong way, and by centimetres, while on ice it curls by a metre towards its spin. So real ice "
        "obeys another law, which is long known and still disputed. Sliding and spinning end together. "
        "Reported: speed, spin, the way along x and the drift along y, and the way of a stone without "
        "spin, speed^2 / (2 mu g).",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 8.0,
    .picture_time = 1.0,
    .camera = {.eye = {1.7, -1.0, 0.7}, .target = {0.9, 0.0, 0.05}},
    .build = build_scene,
    .options = ss_accurate_steps,
    .figures = figures,
};
