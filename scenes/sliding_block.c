#include "parts.h"

#include <math.h>
#include <string.h>

typedef struct parameters {
    double slope, mu, speed, mu_across, grain;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, slope, "15", 0, 89, "slope of the plane, in degrees"),
    SS_PARAMETER_REAL(parameters, mu, "0.25", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, speed, "0", -1e6, 1e6, "initial speed downhill, in m/s"),
    SS_PARAMETER_REAL(parameters, mu_across, "0", 0, 10, "friction across the grain of the plane; 0 = as mu"),
    SS_PARAMETER_REAL(parameters, grain, "30", -90, 90, "direction of the grain from downhill, in degrees"),
    {0}};

static void directions(const parameters *p, double downhill[3], double up[3])
{
    double slope = p->slope * SS_PI / 180.0;
    memcpy(downhill, (double[3]){cos(slope), 0.0, -sin(slope)}, 3 * sizeof *downhill);
    memcpy(up, (double[3]){sin(slope), 0.0, cos(slope)}, 3 * sizeof *up);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double downhill[3], up[3];
    directions(p, downhill, up);
    ss_body block = {.kind = SS_DYNAMIC};
    ss_turn((double[3]){0.0, 1.0, 0.0}, p->slope * SS_PI / 180.0, block.quaternion);
    for (int i = 0; i < 3; i++) {
        block.position[i] = 0.025 * up[i];
        block.velocity[i] = p->speed * downhill[i];
    }
    ss_build_friction(&build, p->mu);
    int plane = ss_build_wall(&build, (double[3]){0.0, 0.0, 0.0}, up);
    if (p->mu_across > 0.0 && plane >= 0) {
        double turn = p->grain * SS_PI / 180.0; // the plane's own x axis points downhill
        ss_material wood = {.name = "wood", .mu = p->mu, .grain = {cos(turn), sin(turn), 0.0}};
        int number = ss_world_add_material(world, &wood, err);
        ss_material_pair pair = {.mu = p->mu, .mu_across = p->mu_across};
        if (number < 0 || !ss_world_set_pair(world, 0, number, &pair, err)) return false;
        ss_world_shape(world, plane)->material = number;
    }
    ss_build_one(&build, &block, &(ss_shape){.kind = SS_BOX, .size = {0.2, 0.1, 0.05}, .density = 1000.0});
    return ss_build_done(&build);
}

/* What friction with coefficients mu[k], of an impulse `load`, leaves of the velocity w: the associated law
 * v_k = w_k - load mu_k^2 v_k / r with r = |(mu_k v_k)|, so that v_k = w_k r / (r + load mu_k^2), and r is
 * where the falling function |(mu_k w_k / (r + load mu_k^2))| is 1. */
static void brake(const double mu[2], double load, double w[2])
{
    double low = 0.0, high = hypot(mu[0] * w[0], mu[1] * w[1]);
    if (high == 0.0) return;
    for (int n = 0; n < 100; n++) { // to the last bit; w within the ellipse ends at r = 0, at rest
        double r = 0.5 * (low + high);
        double size =
            hypot(mu[0] * w[0] / (r + load * mu[0] * mu[0]), mu[1] * w[1] / (r + load * mu[1] * mu[1]));
        if (size > 1.0)
            low = r;
        else
            high = r;
    }
    for (int k = 0; k < 2; k++) w[k] *= mu[k] > 0.0 ? low / (low + load * mu[k] * mu[k]) : 1.0;
}

/* Where the block is after n steps of semi-implicit Euler, v += h a, x += h v: downhill and to its left. */
static void expect(const parameters *p, const ss_sim *sim, double at[2])
{
    double slope = p->slope * SS_PI / 180.0, g = -ss_world_gravity(ss_sim_world(sim))[2];
    double h = ss_sim_steps(sim) > 0 ? ss_sim_time(sim) / (double)ss_sim_steps(sim) : 0.0;
    double turn = p->mu_across > 0.0 ? p->grain * SS_PI / 180.0 : 0.0, c = cos(turn), s = sin(turn);
    double pull = g * sin(slope) * h, load = g * cos(slope) * h;
    double mu[2] = {p->mu, p->mu_across > 0.0 ? p->mu_across : p->mu};
    double v[2] = {c * p->speed, -s * p->speed}; // along the grain and across
    at[0] = at[1] = 0.0;
    for (int64_t k = 0; k < ss_sim_steps(sim); k++) {
        v[0] += c * pull;
        v[1] -= s * pull;
        brake(mu, load, v);
        at[0] += h * (c * v[0] - s * v[1]);
        at[1] += h * (s * v[0] + c * v[1]);
    }
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    double downhill[3], up[3], at[2], slid = 0.0;
    directions(p, downhill, up);
    const ss_body *block = ss_world_body(ss_sim_world(sim), 0);
    for (int i = 0; i < 3; i++) slid += downhill[i] * block->position[i];
    expect(p, sim, at);
    result[0] = (ss_scene_result){"slid", "m", slid};
    result[1] = (ss_scene_result){"error", "m", slid - at[0]};
    if (p->mu_across == 0.0) return 2;
    result[2] = (ss_scene_result){"sideways", "m", block->position[1]};
    result[3] = (ss_scene_result){"sideways_error", "m", block->position[1] - at[1]};
    return 4;
}

const ss_scene ss_scene_sliding_block = {
    .name = "sliding-block",
    .summary = "a block slides down a slope",
    .description =
        "One block on an inclined plane, the first experiment with friction. It stays at rest if "
        "tan(slope) is at most mu, and otherwise slides a distance known in closed form; the reported "
        "value `error` is the difference, which is due to the solver alone. With `mu_across` the plane has a "
        "grain, and the block drifts to the side where friction is smaller: `sideways`, again with its "
        "error.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 5.0,
    .picture_time = 0.5,
    .build = build_scene,
    .figures = figures,
};
