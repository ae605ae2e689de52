#include "parts.h"

#include <math.h>

typedef struct parameters {
    int levels;
    double torque;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, levels, "7", 1, 12, "levels of the tree"),
    SS_PARAMETER_REAL(parameters, torque, "30", 0, 1e6, "torque on the topmost bar, across the tree, in N m"),
    {0}};

typedef struct tree {
    ss_builder *build;
    double length;
    int levels;
} tree;

/* A bar from the anchor downwards at an angle, and its two children at its end. */
static void hang(const tree *t, int parent, const double anchor[3], double angle, int level)
{
    double spread = 0.8 / (1 << level), down[3] = {sin(angle), 0.0, -cos(angle)}, end[3], length = t->length;
    ss_body bar = {.kind = SS_DYNAMIC};
    for (int i = 0; i < 3; i++) {
        bar.position[i] = anchor[i] + 0.5 * length * down[i];
        end[i] = anchor[i] + length * down[i];
    }
    ss_turn((double[3]){0.0, 1.0, 0.0}, -angle, bar.quaternion);
    int number = ss_build_one(
        t->build, &bar,
        &(ss_shape){
            .kind = SS_CAPSULE, .size = {0.02, length}, .density = 800.0, .collides_with = SS_MEETS_NOTHING});
    ss_joint joint = {
        .kind = SS_JOINT_BALL, .a = parent, .b = number, .anchor = {anchor[0], anchor[1], anchor[2]}};
    ss_build_joint(t->build, &joint);
    if (level + 1 == t->levels) return;
    hang(t, number, end, angle - spread, level + 1);
    hang(t, number, end, angle + spread, level + 1);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    tree t = {&build, 0.5, p->levels};
    hang(&t, SS_WORLD, (double[3]){0.0, 0.0, 0.5 * p->levels}, 0.0, 0);
    return ss_build_done(&build);
}

static bool push(ss_sim *sim, void *context, ss_error *err)
{
    const double *torque = context;
    (void)err;
    ss_world_body(ss_sim_world(sim), 0)->force[3] = ss_sim_time(sim) < 3.0 ? *torque : 0.0;
    return true;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    const parameters *p = of;
    double *torque = ss_allocate(1, sizeof *torque);
    if (!torque) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    *torque = p->torque;
    *state = torque;
    return ss_sim_call_at(sim, SS_BEFORE_COLLISION, push, torque, err);
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->joints = SS_STABILISE_IMPULSE;
    options->solver = "interior-point"; /* equations only: exact after a few factorisations */
}

const ss_scene ss_scene_joint_tree = {
    .name = "joint-tree",
    .summary = "a binary tree of 127 bars on ball joints, shaken by a torque",
    .description = "Seven levels of bars, each with two below it, hang from the ceiling on ball joints; "
                   "the topmost is pushed out of the plane by a torque for three seconds. No contacts, "
                   "only joints: a test of equality constraints and of drift.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 10.0,
    .picture_time = 1.5,
    .build = build_scene,
    .options = choose,
    .begin = begin,
    .si_only = true,
    .figures = ss_figure_joint_gap,
};
