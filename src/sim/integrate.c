/* From the answer to new velocities and poses. */
#include "sim/state.h"

#include "base/memory.h"
#include "base/parallel_any.h"
#include "linalg/quat.h"
#include "model/joint_rows.h"

#include <stdio.h>

ss_body_label ss_sim_body_label(const ss_sim *sim, int body)
{
    ss_body_label label;
    const ss_body *of = body == SS_WORLD ? NULL : ss_world_body(sim->world, body);
    if (!of)
        snprintf(label.text, sizeof label.text, "the world");
    else if (of->name)
        snprintf(label.text, sizeof label.text, "body %d (%.64s)", body, of->name);
    else
        snprintf(label.text, sizeof label.text, "body %d", body);
    return label;
}

/* ---- bodies that move as told ----------------------------------------------------------------------- */

static bool is_driven(const ss_body *body)
{
    return body->kind == SS_KINEMATIC && !body->disabled && body->motion;
}

/* The mean velocity, so that bodies it carries arrive where it does. */
void ss_sim_drive_kinematic(ss_sim *sim)
{
    for (int b = 0; b < ss_world_body_count(sim->world); b++) {
        ss_body *body = ss_world_body(sim->world, b);
        if (!is_driven(body)) continue;
        double position[3], quaternion[4], velocity[6];
        body->motion(sim->time + sim->h, position, quaternion, velocity, body->motion_context);
        ss_vec3 path = ss_vec3_subtract(ss_vec3_load(position), ss_vec3_load(body->position));
        ss_vec3 turn = ss_quat_between(ss_quat_load(body->quaternion), ss_quat_load(quaternion));
        ss_vec3_store(ss_vec3_scale(1.0 / sim->h, path), body->velocity);
        ss_vec3_store(ss_vec3_scale(1.0 / sim->h, turn), body->velocity + 3);
    }
}

/* ---- speeds ----------------------------------------------------------------------------------------- */

/* Without a limit of the user's: ten thousand sizes of the world, and as many radians, within one step. */
static const double most_per_step = 1e4;

bool ss_sim_is_too_fast(const ss_sim *sim, const double velocity[6])
{
    double most = sim->options.max_speed, h = sim->options.h;
    double most_linear = most > 0.0 ? most : most_per_step * sim->size / h;
    double most_angular = most > 0.0 ? most : most_per_step / h;
    return !(ss_vec3_norm(ss_vec3_load(velocity)) <= most_linear &&
             ss_vec3_norm(ss_vec3_load(velocity + 3)) <= most_angular);
}

static unsigned are_too_fast(int64_t begin, int64_t end, const void *context)
{
    const ss_sim *sim = context;
    bool bad = false;
    for (int64_t b = begin; b < end; b++) bad |= ss_sim_is_too_fast(sim, sim->answer->velocity[b]);
    return bad;
}

bool ss_sim_check_answer(const ss_sim *sim, ss_error *err)
{
    int count = sim->answer->bodies;
    unsigned bad =
        ss_parallel_any(ss_team_for_loop(sim->team, count, 4), count, SS_SIM_AT_ONCE, are_too_fast, sim);

    /* The first of them has a name. */
    for (int b = 0; bad && b < count; b++) {
        const double *v = sim->answer->velocity[b];
        if (!ss_sim_is_too_fast(sim, v)) continue;
        double linear = ss_vec3_norm(ss_vec3_load(v)), angular = ss_vec3_norm(ss_vec3_load(v + 3));
        ss_body_label label = ss_sim_body_label(sim, sim->frame_body[b]);
        if (!isfinite(linear) || !isfinite(angular))
            return ss_fail(err, SS_ERROR_INPUT, "%s: its velocity is not finite after the solve", label.text);
        return ss_fail(err, SS_ERROR_INPUT, "%s: diverged, its speed is %g m/s and %g rad/s", label.text,
                       linear, angular);
    }
    return true;
}

/* ---- poses ------------------------------------------------------------------------------------------ */

static void move_body(ss_body *body, double h)
{
    for (int i = 0; i < 3; i++) body->position[i] += h * body->velocity[i];
    ss_quat q = ss_quat_load(body->quaternion);
    ss_quat_store(ss_quat_integrate(q, ss_vec3_load(body->velocity + 3), h), body->quaternion);
}

static ss_vec3 spin_of(ss_mat3 inverse, ss_quat q, ss_vec3 momentum)
{
    return ss_quat_rotate(q, ss_mat3_apply(inverse, ss_quat_rotate_back(q, momentum)));
}

/* Turns a body whose free rotation is that of the midpoint rule, and keeps its angular momentum L.
 *
 * The frame knows the inertia before the step only: I w+ = L + h t_g, t_g the gyroscopic torque of the
 * midpoint rule and L the true momentum, that before the step and what torques and impulses add. Of w+, half
 * the change by t_g belongs to the next step, so that the body turns by w+ - h I^-1 t_g / 2. By Cayley's map,
 * the turn that belongs to the midpoint rule, I w = L holds exactly for the w of the rule: free flight keeps
 * momentum and energy to rounding. */
static void turn_keeping_momentum(ss_body *body, ss_mat3 inverse, ss_vec3 torque, double h)
{
    ss_quat q = ss_quat_load(body->quaternion);
    ss_vec3 w = ss_vec3_load(body->velocity + 3);
    if (ss_vec3_max_abs(w) == 0.0 && ss_vec3_max_abs(torque) == 0.0) {
        // of what follows, nothing else is left
        ss_quat_store(ss_quat_normalise(q), body->quaternion);
        return;
    }
    ss_vec3 spin = ss_quat_rotate(q, ss_mat3_apply(ss_mat3_load(body->inertia), ss_quat_rotate_back(q, w)));
    ss_vec3 momentum = ss_vec3_add_scaled(spin, -h, torque);
    ss_vec3 change = spin_of(inverse, q, ss_vec3_scale(h, torque));
    ss_vec3 turn = ss_vec3_scale(0.5 * h, ss_vec3_add_scaled(w, -0.5, change));
    ss_quat cayley = ss_quat_normalise((ss_quat){1.0, turn.x, turn.y, turn.z});
    q = ss_quat_normalise(ss_quat_multiply(cayley, q));
    ss_quat_store(q, body->quaternion);
    ss_vec3_store(spin_of(inverse, q, momentum), body->velocity + 3);
}

void ss_sim_fly(const ss_sim *sim, const ss_free_turn *turn, const ss_mat3 *inverse, ss_body *body)
{
    if (!turn->midway) {
        move_body(body, sim->h);
        return;
    }
    for (int i = 0; i < 3; i++) body->position[i] += sim->h * body->velocity[i];
    ss_mat3 own;
    if (!inverse && ss_mat3_inverse(ss_mat3_load(body->inertia), &own)) inverse = &own;
    if (inverse) turn_keeping_momentum(body, *inverse, turn->torque, sim->h);
}

void ss_sim_predict(const ss_sim *sim, const double *velocity, ss_body *body)
{
    if (velocity) {
        ss_free_turn turn;
        turn.torque = ss_sim_gyroscopic_torque(sim, body, &turn.midway);
        memcpy(body->velocity, velocity, sizeof body->velocity);
        ss_sim_fly(sim, &turn, NULL, body);
    } else if (is_driven(body)) {
        body->motion(sim->time + sim->h, body->position, body->quaternion, body->velocity,
                     body->motion_context);
    } else if (body->kind == SS_KINEMATIC && !body->disabled) {
        move_body(body, sim->h);
    }
}

void ss_sim_move_kinematic(ss_sim *sim)
{
    for (int b = 0; b < ss_world_body_count(sim->world); b++) {
        ss_body *body = ss_world_body(sim->world, b);
        if (body->kind == SS_KINEMATIC) ss_sim_predict(sim, NULL, body);
    }
}

/* ---- together --------------------------------------------------------------------------------------- */

typedef struct moving {
    ss_sim *sim;
    ss_free_turn *turns; /* of the velocities before the step, so first of all */
} moving;

static bool is_in_tree(const ss_sim *sim, int body)
{
    return sim->options.coordinates == SS_MINIMAL && !sim->trees.link[sim->trees.of_body[body]].alone;
}

/* The turns, then the new velocities. */
static void take_velocities(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const moving *with = context;
    for (int64_t b = begin; b < end; b++) {
        int number = with->sim->frame_body[b];
        ss_body *body = ss_world_body(with->sim->world, number);
        ss_free_turn *turn = &with->turns[b];
        *turn = (ss_free_turn){0};
        if (!is_in_tree(with->sim, number)) // else it turns along its joints
            turn->torque = ss_sim_gyroscopic_torque(with->sim, body, &turn->midway);
        memcpy(body->velocity, with->sim->answer->velocity[b], sizeof body->velocity);
    }
}

static void move_bodies(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const moving *with = context;
    const ss_sim *sim = with->sim;
    for (int64_t b = begin; b < end; b++) {
        int number = sim->frame_body[b];
        ss_body *body = ss_world_body(sim->world, number);
        if (!is_in_tree(sim, number)) ss_sim_fly(sim, &with->turns[b], NULL, body);
    }
}

/* Loops of trees are closed after the move, by a correction of all joints at once; then those of the trees
 * are exact again. Impulses: velocities get what the correction was within the step, and hold the joints at
 * the new poses, as RATTLE does. */
static bool close_loops(ss_sim *sim, ss_error *err)
{
    ss_world *world = sim->world;
    ss_stabilise_report report;
    double tolerance = sim->options.joint_tolerance;
    bool by_impulses = sim->options.joints == SS_STABILISE_IMPULSE, loops = false;
    for (int j = 0; j < ss_world_joint_count(world); j++) {
        const ss_joint *joint = ss_world_joint(world, j);
        loops |= sim->trees.of_joint[j] < 0 && joint->compliance == 0.0 && ss_joint_is_active(world, joint) &&
                 ss_joint_equation_count(joint) > 0;
    }
    if (!loops) return true;

    int count = sim->answer->bodies;
    ss_body *before = ss_arena_take_unset(sim->memory, (size_t)count, sizeof *before, "bodies of loops");
    if (!before) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for loops of joints");
    for (int b = 0; b < count; b++) before[b] = *ss_world_body(world, sim->frame_body[b]);
    if (!ss_stabilise_positions(sim->stabiliser, world, tolerance, &report, err)) return false;
    for (int b = 0; by_impulses && b < count; b++) {
        ss_body *body = ss_world_body(world, sim->frame_body[b]);
        ss_vec3 turn = ss_quat_between(ss_quat_load(before[b].quaternion), ss_quat_load(body->quaternion));
        for (int i = 0; i < 3; i++) body->velocity[i] += (body->position[i] - before[b].position[i]) / sim->h;
        ss_vec3 spin = ss_vec3_add_scaled(ss_vec3_load(body->velocity + 3), 1.0 / sim->h, turn);
        ss_vec3_store(spin, body->velocity + 3);
    }
    if (by_impulses && !ss_stabilise_after_move(sim->stabiliser, world, tolerance, &report, err))
        return false;
    ss_trees_settle(&sim->moved, world);
    return true;
}

bool ss_sim_move(ss_sim *sim, ss_error *err)
{
    ss_world *world = sim->world;
    double tolerance = sim->options.joint_tolerance;
    int count = sim->answer->bodies;
    bool in_trees = sim->options.coordinates == SS_MINIMAL,
         by_impulses = sim->options.joints == SS_STABILISE_IMPULSE && !in_trees;
    ss_stabilise_report report;

    ss_free_turn *turns = ss_arena_take_unset(sim->memory, (size_t)count, sizeof *turns, "free turns");
    if (!turns) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the turns of bodies");
    moving with = {.sim = sim, .turns = turns};
    ss_team *helpers = ss_team_for_loop(sim->team, count, 40);
    ss_parallel_for(helpers, count, SS_SIM_AT_ONCE, take_velocities, &with);

    /* Correction impulses before the move count on bodies that turn by their velocity, exp(h w / 2) q. */
    for (int j = 0; by_impulses && j < ss_world_joint_count(world); j++) {
        const ss_joint *joint = ss_world_joint(world, j);
        for (int side = 0; side < joint->body_count; side++) {
            int body = ss_joint_body(joint, side);
            int place = body == SS_WORLD ? SS_WORLD : sim->body_place[body];
            if (place != SS_WORLD) turns[place].midway = false;
        }
    }
    if (in_trees && !ss_trees_copy(&sim->trees, &sim->moved, err)) return false;

    /* Friction that depends on the load follows the force of the step before. */
    for (int i = 0; i < sim->frame->constraints.row_count; i++) {
        if (sim->origins[i].index == 0)
            ss_joint_note_load(world, sim->origins[i].joint, sim->answer->row_impulse + i);
    }
    if (by_impulses && !ss_stabilise_before_move(sim->stabiliser, world, sim->h, tolerance, &report, err))
        return false;

    /* Poses of the frame's bodies; those of trees move by their coordinates. */
    ss_parallel_for(helpers, count, SS_SIM_AT_ONCE, move_bodies, &with);
    if (in_trees) ss_trees_move(&sim->moved, world, sim->is_solved_by_trees ? sim->rates : NULL, sim->way);

    ss_sim_move_kinematic(sim);
    if (by_impulses && !ss_stabilise_after_move(sim->stabiliser, world, tolerance, &report, err))
        return false;
    if (in_trees && sim->stabiliser && !close_loops(sim, err)) return false;
    if (sim->options.joints == SS_STABILISE_PROJECTION && !in_trees &&
        !ss_stabilise_positions(sim->stabiliser, world, tolerance, &report, err))
        return false;
    return ss_sim_end_move(sim, NULL, err);
}

static bool is_finite(const ss_body *body)
{
    double sum = 0.0; // 0 times what is not finite is not a number
    for (int i = 0; i < 3; i++) sum += 0.0 * body->position[i];
    for (int i = 0; i < 4; i++) sum += 0.0 * body->quaternion[i];
    for (int i = 0; i < 6; i++) sum += 0.0 * body->velocity[i];
    return sum == 0.0;
}

static unsigned are_lost(int64_t begin, int64_t end, const void *context)
{
    const ss_sim *sim = context;
    bool bad = false;
    for (int64_t b = begin; b < end; b++) bad |= !is_finite(ss_world_body(sim->world, (int)b));
    return bad;
}

bool ss_sim_end_move(ss_sim *sim, const ss_trees *trees, ss_error *err)
{
    ss_world *world = sim->world;
    if (trees) ss_trees_follow(trees, world);
    for (int j = 0; !trees && j < ss_world_joint_count(world); j++) ss_joint_follow(world, j);

    int count = ss_world_body_count(world);
    unsigned bad =
        ss_parallel_any(ss_team_for_loop(sim->team, count, 4), count, SS_SIM_AT_ONCE, are_lost, sim);
    for (int b = 0; bad && b < count; b++) {
        if (!is_finite(ss_world_body(world, b)))
            return ss_fail(err, SS_ERROR_INPUT, "%s: its pose is not finite after the move",
                           ss_sim_body_label(sim, b).text);
    }
    return true;
}
