#include "parts.h"

#include <math.h>

typedef struct parameters {
    int blocks;
    double radius, thickness, depth, mu, density;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, blocks, "15", 3, 199, "number of stones, odd because one is the keystone"),
    SS_PARAMETER_REAL(parameters, radius, "2", 1e-6, 1e6, "radius of the centre line, in m"),
    SS_PARAMETER_REAL(parameters, thickness, "0.6", 1e-6, 1e6, "thickness of the ring, in m"),
    SS_PARAMETER_REAL(parameters, depth, "0.8", 1e-6, 1e6, "depth of the arch, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.6", 0, 10, "friction in the joints and on the ground"),
    SS_PARAMETER_REAL(parameters, density, "2400", 1e-9, 1e9, "density of the stones, in kg/m^3"),
    {0}};

/* One stone between the angles `from` and `to`, measured from the ground on the right; its eight corners. */
static ss_mesh *stone(const parameters *p, double from, double to, ss_error *err)
{
    double corners[8][3];
    for (int k = 0; k < 8; k++) {
        double angle = k & 1 ? to : from, r = p->radius + (k & 2 ? 0.5 : -0.5) * p->thickness;
        corners[k][0] = r * cos(angle);
        corners[k][1] = (k & 4 ? 0.5 : -0.5) * p->depth;
        corners[k][2] = r * sin(angle);
    }
    return ss_mesh_hull((const double(*)[3])corners, 8, err);
}

static void lay_stone(ss_builder *build, const parameters *p, int k)
{
    if (build->failed) return;
    double turn = SS_PI / p->blocks;
    ss_mesh *mesh = stone(p, k * turn, (k + 1) * turn, build->err);
    build->failed = mesh == NULL;
    if (mesh)
        ss_build_one(build, &(ss_body){0}, &(ss_shape){.kind = SS_HULL, .mesh = mesh, .density = p->density});
    ss_mesh_destroy(mesh);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    if (p->blocks % 2 == 0)
        return ss_fail(err, SS_ERROR_USAGE,
                       "masonry-arch: invalid value \"%d\" for blocks: expected an "
                       "odd number",
                       p->blocks);
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int k = 0; k < p->blocks; k++) lay_stone(&build, p, k);
    return ss_build_done(&build);
}

/* ---- the friction it needs ------------------------------------------------------------------------- */

/* The section of one stone: a trapezium between two chords. Half the arch weighs 1. */
typedef struct section {
    double inner, outer, turn;
    double centre;      /* m: of a stone, from the middle of the arch */
    double half_centre; /* m: of half the keystone, from the vertical */
} section;

static section section_of(const parameters *p)
{
    section s = {p->radius - 0.5 * p->thickness, p->radius + 0.5 * p->thickness, SS_PI / p->blocks, 0.0, 0.0};
    double a = 2.0 * s.inner * sin(0.5 * s.turn), b = 2.0 * s.outer * sin(0.5 * s.turn);
    double height = p->thickness * cos(0.5 * s.turn);
    s.centre = s.inner * cos(0.5 * s.turn) + height * (a + 2.0 * b) / (3.0 * (a + b));
    s.half_centre = (a * a + a * b + b * b) / (6.0 * (a + b));
    return s;
}

/* The largest |T| / N over the joints of half the arch when the thrust at the crown is `thrust` times the
 * weight of that half, and whether a line of thrust with it passes between the edges of all joints. Joint j
 * lies at the angle beta from the vertical; `weight` is what lies between the crown and the joint, `moment`
 * its moment about the vertical. */
static double friction_used(const parameters *p, const section *s, double thrust, bool *inside)
{
    double worst = 0.0, low = -INFINITY, high = INFINITY; /* heights at the crown that are still possible */
    double weight = 1.0 / p->blocks, moment = weight * s->half_centre;
    for (int j = 0; j <= p->blocks / 2; j++) {
        double beta = (j + 0.5) * s->turn, sine = sin(beta), cosine = cos(beta);
        double normal = thrust * cosine + weight * sine, slip = thrust * sine - weight * cosine;
        worst = fmax(worst, fabs(slip) / normal);
        /* the thrust meets the joint at the radius r: thrust (y - r cos) = weight r sin - moment */
        low = fmax(low, s->inner * cosine + (weight * s->inner * sine - moment) / thrust);
        high = fmin(high, s->outer * cosine + (weight * s->outer * sine - moment) / thrust);
        weight += 2.0 / p->blocks;
        moment += 2.0 / p->blocks * s->centre * sin((j + 1) * s->turn);
    }
    *inside = low <= high;
    return worst;
}

/* The least coefficient with which there is an equilibrium at all, by trying thrusts; infinite if the
 * ring is too thin. */
static double friction_needed(const parameters *p)
{
    section s = section_of(p);
    double least = INFINITY;
    for (int k = 1; k < 20000; k++) {
        bool inside;
        double used = friction_used(p, &s, k * 1e-4, &inside);
        if (inside && used < least) least = used;
    }
    return least;
}

typedef struct arch {
    double friction_needed, start; /* 1, m: height of the keystone */
} arch;

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    const parameters *p = of;
    arch *a = ss_allocate(1, sizeof *a);
    if (!a) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    *a = (arch){friction_needed(p), ss_world_body(ss_sim_world(sim), p->blocks / 2)->position[2]};
    *state = a;
    return true;
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    const arch *a = state;
    double height = ss_world_body(ss_sim_world(sim), p->blocks / 2)->position[2];
    result[0] = (ss_scene_result){"keystone_sinks", "m", a->start - height};
    result[1] = (ss_scene_result){"friction_needed", "1", a->friction_needed};
    return 2;
}

const ss_scene ss_scene_masonry_arch = {
    .name = "masonry-arch",
    .summary = "a semicircular arch of 15 stones that stands by friction alone",
    .description = "A dry arch after Heyman: wedge-shaped stones without mortar. It stands if a line of "
                   "thrust fits between its inner and its outer edge and meets no joint at more than the "
                   "angle of friction. The smallest coefficient for which such a line exists follows from "
                   "statics and is reported as friction_needed; below it the feet slide apart and the "
                   "keystone falls, above it the arch should stand.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 1.0,
    .build = build_scene,
    .begin = begin,
    .figures = figures,
};
