/* Steps of mechanisms that touch nothing, in maximal coordinates, without frame, problem and answer: bodies
 * that rigid joints hold, free of limits, motors, springs and friction. What the joints carry is one linear
 * system, S x + G (v + h M^-1 f) = 0, whose factors at the end of a step are those of the start of the next
 * (joint_system.h): one factorisation serves the solve, the impulses before the move and those after it.
 * The frame is made from the state before the step when someone looks at it. Whether someone does changes no
 * number; a step that is unusual is left to the ordinary way. */
#include "sim/state.h"

#include "base/memory.h"
#include "model/joint_rows.h"
#include "sim/joint_system.h"

#include <math.h>

/* Options that decide about joints or about who solves, and user functions that may change the frame. */
static bool options_allow(const ss_sim *sim)
{
    const ss_sim_options *options = &sim->options;
    return options->joints == SS_STABILISE_IMPULSE && options->coordinates == SS_MAXIMAL &&
           options->substeps == 1 && options->peg == SS_PEG_OFF && options->with.count == 0 &&
           sim->finisher.solver && !sim->dynamics && sim->contacts.count == 0 &&
           sim->calls[SS_BEFORE_SOLVE].count == 0;
}

/* All joints are rigid and have no laws within reach. *pushed: a user's force acts along one of them. */
static bool joints_are_plain(const ss_sim *sim, bool *pushed)
{
    *pushed = false;
    for (int j = 0; j < ss_world_joint_count(sim->world); j++) {
        ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
        const ss_joint *joint = ss_world_joint(sim->world, j);
        if (joint->compliance > 0.0 || joint->kind == SS_JOINT_CONVERTER ||
            ss_joint_law_rows(sim->world, j, sim->h, rows) > 0)
            return false;
        *pushed |= joint->law[0].force != 0.0 || joint->law[1].force != 0.0;
    }
    return true;
}

static bool moves_freely(const ss_body *body)
{
    return body->kind == SS_DYNAMIC && !body->disabled;
}

/* Velocities with the forces of the step but without joints; false when a mass is not a usable number. */
static bool accelerate(const ss_sim *sim, const ss_joint_system *system, bool pushed, double (*velocity)[6])
{
    int bodies = ss_world_body_count(sim->world);
    for (int b = 0; b < bodies; b++) {
        const ss_body *body = ss_world_body(sim->world, b);
        if (moves_freely(body)) ss_sim_force(sim, body, velocity[b]);
    }
    if (pushed) ss_sim_add_joint_forces(sim, NULL, velocity);

    for (int b = 0; b < bodies; b++) {
        const ss_body *body = ss_world_body(sim->world, b);
        int member = system->member_of[b];
        ss_mass inverse;
        if (!moves_freely(body)) continue;
        if (!(body->mass > 0.0)) return false;
        if (member >= 0) {
            inverse = system->inverse[member];
        } else {
            ss_mat3 rotation = ss_quat_to_matrix(ss_quat_load(body->quaternion));
            inverse = (ss_mass){body->mass, ss_mat3_rotate_tensor(rotation, ss_mat3_load(body->inertia))};
            if (!ss_mass_inverse(&inverse, &inverse)) return false;
        }
        ss_mass_apply(&inverse, velocity[b], velocity[b]);
        for (int i = 0; i < 6; i++) velocity[b][i] = body->velocity[i] + sim->h * velocity[b][i];
    }
    return true;
}

bool ss_sim_solve_mechanisms(ss_sim *sim, bool *solved, ss_error *err)
{
    bool pushed;
    *solved = sim->is_solved_by_mechanisms = false;
    if (!options_allow(sim) || !joints_are_plain(sim, &pushed)) return true;
    int bodies = ss_world_body_count(sim->world);
    for (int b = 0; b < bodies; b++)
        if (ss_world_body(sim->world, b)->kind == SS_KINEMATIC) return true;

    /* S at the start of the step, most often kept from the end of the last one. */
    double start = ss_clock_seconds();
    ss_joint_system *system = ss_stabiliser_system(sim->stabiliser);
    if (!ss_joint_system_gather(system, sim->world, err)) return false;
    if (system->row_count == 0) return true;
    ss_joint_system_see(system, sim->world);
    if (!ss_joint_system_factor(system, NULL)) return true;

    sim->change = ss_arena_take_unset(sim->memory, (size_t)bodies, sizeof *sim->change, "velocities");
    sim->joint_impulse =
        ss_arena_take_unset(sim->memory, (size_t)system->row_count, sizeof *sim->joint_impulse, "impulses");
    double(*motion)[6] =
        ss_arena_take_unset(sim->memory, (size_t)system->member_count, sizeof *motion, "motion of members");
    if (!sim->change || !sim->joint_impulse || !motion)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", bodies);
    if (!accelerate(sim, system, pushed, sim->change)) return true;
    double assembled = ss_clock_seconds();

    /* G v = 0 after the impulses. */
    ss_joint_system_speed(system, sim->world, sim->change, sim->joint_impulse);
    if (!ss_joint_system_answer(system, sim->joint_impulse, motion, NULL)) return true;
    memcpy(sim->joint_impulse, system->work, (size_t)system->row_count * sizeof *sim->joint_impulse);
    for (int b = 0; b < bodies; b++) {
        int member = system->member_of[b];
        if (!moves_freely(ss_world_body(sim->world, b))) continue;
        for (int i = 0; member >= 0 && i < 6; i++) sim->change[b][i] += motion[member][i];
        if (ss_sim_is_too_fast(sim, sim->change[b])) return true;
    }

    *solved = sim->is_solved_by_mechanisms = true;
    sim->warm.contact_count = sim->warm.row_count = 0; // nothing to start from
    sim->report.rows = system->row_count;
    sim->report.islands++;
    sim->report.assembly += assembled - start;
    sim->report.solve += ss_clock_seconds() - assembled;

    /* What user functions did since the state before the step was saved could not be seen later. */
    sim->frame_waits = sim->calls[SS_BEFORE_COLLISION].count == 0 &&
                       sim->calls[SS_AFTER_CONTACTS].count == 0 && sim->controllers.count == 0;
    sim->frame_time = sim->time;
    if (sim->frame_waits) return true;
    return ss_sim_build_frame(sim, err) && ss_sim_fill_mechanism_answer(sim, err);
}

/* The answer to the frame of such a step. */
bool ss_sim_fill_mechanism_answer(ss_sim *sim, ss_error *err)
{
    const ss_joint_system *system = ss_stabiliser_system(sim->stabiliser);
    const ss_constraints *rows = &sim->frame->constraints;
    ss_sim_choose_gap_term(sim, sim->frame->contacts.restitution != NULL);
    if (!ss_assemble(sim->assembly, sim->frame, NULL, err)) return false;
    sim->answer = ss_answer_store_take(&sim->answer_store, sim->frame, false, err);
    if (!sim->answer) return false;
    for (int b = 0; b < sim->answer->bodies; b++)
        memcpy(sim->answer->velocity[b], sim->change[sim->frame_body[b]], sizeof sim->answer->velocity[b]);

    /* Rows of the frame are those of the system, but for balls: their impulse is a vector of the world. */
    for (int i = 0, k = 0; i < rows->row_count; i++) {
        while (k < system->joint_count && system->blocks[k].joint < sim->origins[i].joint) k++;
        if (k == system->joint_count) break;
        const double *impulse = sim->joint_impulse + system->blocks[k].first;
        sim->answer->row_impulse[i] = impulse[sim->origins[i].index];
        if (system->blocks[k].joint_kind != SS_JOINT_BALL) continue;
        const double *j = rows->jacobian[i];
        bool on_b = j[6] != 0.0 || j[7] != 0.0 || j[8] != 0.0;
        double along = ss_vec3_dot(ss_vec3_load(on_b ? j + 6 : j), ss_vec3_load(impulse));
        sim->answer->row_impulse[i] = on_b ? along : -along;
    }
    return true;
}

bool ss_sim_move_mechanisms(ss_sim *sim, ss_error *err)
{
    const ss_joint_system *system = ss_stabiliser_system(sim->stabiliser);
    ss_stabilise_report report;
    for (int b = 0; b < ss_world_body_count(sim->world); b++) {
        ss_body *body = ss_world_body(sim->world, b);
        if (!moves_freely(body)) continue;
        if (system->member_of[b] >= 0)
            memcpy(body->velocity, sim->change[b], sizeof body->velocity);
        else
            ss_sim_predict(sim, sim->change[b], body);
    }
    double tolerance = sim->options.joint_tolerance;
    return ss_stabilise_move(sim->stabiliser, sim->world, sim->h, tolerance, &report, err) &&
           ss_sim_end_move(sim, NULL, err);
}
