#include "parts.h"

#include <math.h>

typedef struct parameters {
    int blocks;
    double radius, thickness, depth, mu, density;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, blocks, "15", 3, 199, "stones, an odd number: one is the keystone"),
    SS_PARAMETER_REAL(parameters, radius, "2", 1e-6, 1e6, "of the middle line, in m"),
    SS_PARAMETER_REAL(parameters, thickness, "0.6", 1e-6, 1e6, "of the ring, in m"),
    SS_PARAMETER_REAL(parameters, depth, "0.8", 1e-6, 1e6, "of the arch, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.6", 0, 10, "friction in the joints and on the ground"),
    SS_PARAMETER_REAL(parameters, density, "2400", 1e-9, 1e9, "of the stones, in kg/m^3"),
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
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int k = 0; k < p->blocks; k++) lay_stone(&build, p, k);
    return ss_build_done(&build);
}

/* ---- the friction it needs ------------------------------------------------------------------------- */

/* The largest |T| / N over the joints of half the arch when the thrust at the crown is `thrust` times the weight of that
 * half, and whether a line of thrust with it stays inside the stones. Joint j lies at the angle beta from the vertical;
 * W(beta) is the weight between the crown and the joint, x(beta) its lever. */
static double friction_used(const parameters *p, double thrust, bool *inside)
{
    double r = p->radius, t = p->thickness, outer = r + 0.5 * t, inner = r - 0.5 * t,
           turn = SS_PI / p->blocks;
    /* centre of a sector of the ring from the vertical to beta: x_c = (2/3) (R^3 - r^3)/(R^2 - r^2) (1 - cos)/beta */
    double ring =
        2.0 / 3.0 * (outer * outer * outer - inner * inner * inner) / (outer * outer - inner * inner);
    double worst = 0.0, low = inner,
           high = outer; /* heights of the thrust at the crown that are still possible */
    for (int j = 0; j <= p->blocks / 2; j++) {
        double beta =
            0.5 * SS_PI - (p->blocks / 2 - j) * turn; /* joints of the keystone are half a turn off */
        double weight = beta / (0.5 * SS_PI), lever = ring * (1.0 - cos(beta)) / beta;
        double normal = thrust * cos(beta) + weight * sin(beta),
               slip = thrust * sin(beta) - weight * cos(beta);
        worst = fmax(worst, fabs(slip) / normal);
        /* the thrust meets the joint at the radius s: thrust (y - s cos) = weight (s sin - lever) */
        double y_at_outer = outer * cos(beta) + weight * (outer * sin(beta) - lever) / thrust;
        double y_at_inner = inner * cos(beta) + weight * (inner * sin(beta) - lever) / thrust;
        low = fmax(low, fmin(y_at_inner, y_at_outer));
        high = fmin(high, fmax(y_at_inner, y_at_outer));
    }
    *inside = low <= high;
    return worst;
}

/* The least coefficient with which there is an equilibrium at all, by trying thrusts. */
static double friction_needed(const parameters *p)
{
    double least = INFINITY;
    for (int k = 1; k < 20000; k++) {
        bool inside;
        double used = friction_used(p, k * 1e-4, &inside);
        if (inside && used < least) least = used;
    }
    return least;
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_body *key = ss_world_body(ss_sim_world(sim), p->blocks / 2);
    double turn =
        0.5 * SS_PI / p->blocks; /* the keystone's centre of mass lies on the radius of its middle */
    double outer = p->radius + 0.5 * p->thickness, inner = p->radius - 0.5 * p->thickness;
    /* its stone is a trapezium: the centroid of the cross-section between the chords */
    double a = 2.0 * inner * sin(turn), b = 2.0 * outer * sin(turn), height = p->thickness * cos(turn);
    double start = inner * cos(turn) + height * (a + 2.0 * b) / (3.0 * (a + b));
    result[0] = (ss_scene_result){"keystone_sinks", "m", start - key->position[2]};
    result[1] = (ss_scene_result){"friction_needed", "1", friction_needed(p)};
    return 2;
}

const ss_scene ss_scene_masonry_arch = {
    .name = "masonry-arch",
    .summary = "a semicircular arch of 15 stones that stands by friction alone",
    .description = "A dry arch after Heyman: wedge-shaped stones, no mortar. It stands when a line of thrust "
                   "fits between its inner and "
                   "its outer edge and meets no joint at more than the angle of friction. The least "
                   "coefficient for which such a "
                   "line exists is found from statics and printed as friction_needed; below it the feet "
                   "slide apart and the keystone "
                   "falls, above it the arch stands for ever, if the solver lets it.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 1.0,
    .build = build_scene,
    .figures = figures,
};
