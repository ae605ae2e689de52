#include "parts.h"

#include <math.h>
#include <string.h>

typedef struct parameters {
    int count;
    double speed, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "1", 1, 100, "balls between the jaws, side by side"),
    SS_PARAMETER_REAL(parameters, speed, "0.1", 1e-6, 1e3, "speed of each jaw, in m/s"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    {0}};

enum { JAWS = 2 };
typedef struct jaw {
    double start, speed; /* m, m/s, along x */
} jaw;
static const double radius = 0.1, opening = 0.01; /* m; the opening on each side at first */

static void move(double time, double position[3], double quaternion[4], double velocity[6], void *context)
{
    const jaw *own = context;
    memset(velocity, 0, 6 * sizeof *velocity);
    position[0] = own->start + own->speed * time, position[1] = 0.0, position[2] = radius;
    quaternion[0] = 1.0, quaternion[1] = quaternion[2] = quaternion[3] = 0.0;
    velocity[0] = own->speed;
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int k = 0; k < JAWS; k++) {
        int body = ss_build_body(&build, &(ss_body){.name = k ? "right" : "left", .kind = SS_KINEMATIC});
        ss_build_shape(&build, body,
                       &(ss_shape){.kind = SS_BOX, .size = {0.2, 0.4 + 2.0 * p->count * radius, 0.6}});
    }
    // Each ball touches both jaws: then the motion of the jaws alone rules a solution out, wherever the balls
    // are. In a row from jaw to jaw they could be squeezed out as soon as they are not in line any more.
    for (int k = 0; k < p->count; k++)
        ss_build_ball(&build, radius, 1000.0, (double[3]){0.0, (2.0 * k + 1.0 - p->count) * radius, radius});
    return ss_build_done(&build);
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    const parameters *p = of;
    jaw *jaws = ss_allocate(JAWS, sizeof *jaws);
    if (!jaws) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for two jaws");
    *state = jaws;
    for (int k = 0; k < JAWS; k++) {
        double side = k ? 1.0 : -1.0;
        jaws[k] = (jaw){side * (radius + opening + 0.1), -side * p->speed};
        ss_body *body = ss_world_body(ss_sim_world(sim), k);
        body->motion = move;
        body->motion_context = &jaws[k];
        move(0.0, body->position, body->quaternion, body->velocity, &jaws[k]);
    }
    return true;
}

const ss_scene ss_scene_vice = {
    .name = "vice",
    .summary = "two jaws that close on a ball and do not stop",
    .description =
        "A problem without a solution, as engines meet it when a script moves a wall into another: two "
        "plates with a prescribed motion approach each other, and rigid balls are between them. Before they "
        "touch all is well; afterwards no velocity of the balls keeps both gaps from closing, and "
        "no impulse helps. A "
        "solver should say so. The step goes on with whatever iterate there is.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 0.5,
    .picture_time = 0.1,
    .build = build_scene,
    .begin = begin,
    .si_only = true,
};
