#include "parts.h"

#include <math.h>

typedef struct parameters {
    double speed, stiffness, mass, mu, mu_static;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, speed, "0.1", 1e-9, 1e6, "speed of the belt, in m/s"),
    SS_PARAMETER_REAL(parameters, stiffness, "100", 1e-9, 1e12, "stiffness of the spring, in N/m"),
    SS_PARAMETER_REAL(parameters, mass, "1", 1e-9, 1e12, "mass of the block, in kg"),
    SS_PARAMETER_REAL(parameters, mu, "0.4", 0, 10, "friction coefficient while the block slides"),
    SS_PARAMETER_REAL(parameters, mu_static, "0.6", 0, 10,
                      "friction coefficient while it sticks; at least mu"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_material_pair rubber = {.mu = p->mu, .mu_static = fmax(p->mu, p->mu_static)};
    build.failed = !ss_world_set_pair(world, 0, 0, &rubber, err);
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {2.0, 0.4, 0.1},
                               .position = {0.0, 0.0, -0.05},
                               .surface_velocity = {p->speed, 0.0, 0.0}});
    double density = p->mass / (0.2 * 0.2 * 0.1);
    int block = ss_build_box(&build, (double[3]){0.2, 0.2, 0.1}, density, (double[3]){0.0, 0.0, 0.05});
    ss_build_joint(&build, &(ss_joint){.kind = SS_JOINT_DISTANCE,
                                       .a = SS_WORLD,
                                       .b = block,
                                       .anchor = {-1.0, 0.0, 0.05},
                                       .anchor_b = {0.0, 0.0, 0.05},
                                       .bodies_collide = true,
                                       .law = {{.stiffness = p->stiffness, .rest = 1.0}}});
    return ss_build_done(&build);
}

/* ---- its period ------------------------------------------------------------------------------------- */

typedef struct rhythm {
    double belt; /* m/s */
    bool slips;
    double carried_time, carried_stretch;   /* s, m: when it last was as fast as the belt */
    double slip_time, slip_stretch, period; /* s, m, s: of the last slip; the time between the last two */
} rhythm;

/* The block slips when it falls back by more than a hundredth of the belt's speed, and has begun to when it
 * last was within a thousandth of it: the hundredth takes a time of its own, which does not shrink with h. */
static bool watch(ss_sim *sim, void *context, ss_error *err)
{
    rhythm *r = context;
    (void)err;
    const ss_body *block = ss_world_body(ss_sim_world(sim), 0);
    bool slips = block->velocity[0] < 0.99 * r->belt;
    if (slips && !r->slips) {
        r->period = r->carried_time - r->slip_time;
        r->slip_time = r->carried_time;
        r->slip_stretch = r->carried_stretch;
    }
    if (block->velocity[0] >= 0.999 * r->belt || (!slips && r->slips)) {
        r->carried_time = ss_sim_time(sim);
        r->carried_stretch = block->position[0];
    }
    r->slips = slips;
    return true;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    const parameters *p = of;
    rhythm *r = ss_allocate(1, sizeof *r);
    if (!r) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    *r = (rhythm){.belt = p->speed, .slips = true, .slip_time = NAN, .slip_stretch = NAN, .period = NAN};
    *state = r;
    return ss_sim_call_at(sim, SS_AFTER_STEP, watch, r, err);
}

/* The block is carried over 2 D, D = (mu_static - mu) m g / k, then swings back freely until it is as fast as
 * the belt again: T = 2 D / v + (2 / w) (pi - atan(D w / v)). */
static double expected_period(const parameters *p, double gravity)
{
    double w = sqrt(p->stiffness / p->mass), d = (p->mu_static - p->mu) * p->mass * gravity / p->stiffness;
    return d > 0.0 ? 2.0 * d / p->speed + 2.0 / w * (SS_PI - atan(d * w / p->speed)) : NAN;
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    const rhythm *r = state;
    double g = -ss_world_gravity(ss_sim_world(sim))[2];
    result[0] = (ss_scene_result){"stretch", "m", ss_world_body(ss_sim_world(sim), 0)->position[0]};
    result[1] = (ss_scene_result){"slip_stretch", "m", r->slip_stretch};
    result[2] =
        (ss_scene_result){"expected_stretch", "m", fmax(p->mu, p->mu_static) * p->mass * g / p->stiffness};
    result[3] = (ss_scene_result){"period", "s", r->period};
    result[4] = (ss_scene_result){"expected_period", "s", expected_period(p, g)};
    return 5;
}

const ss_scene ss_scene_belt = {
    .name = "belt",
    .summary = "a block on a moving belt, held by a spring: stick-slip",
    .description =
        "The standard oscillator of textbooks on friction: a belt carries the block along until the "
        "spring pulls harder than static friction can hold; then the block slips back and sticks again. "
        "If static friction exceeds sliding friction it never comes to rest, and extension and period are "
        "known in closed form; with mu_static = mu the oscillation decays, and the belt slides under a "
        "block at rest.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.002,
    .length = 10.0,
    .picture_time = 0.3,
    .build = build_scene,
    .begin = begin,
    .figures = figures,
};
