/* Steps of trees: from the world to its next state without frame, problem and answer, which are made from the
 * state before the step when someone looks at them. Whatever is unusual, a limit within reach, a number that
 * is not finite, leaves the step to the ordinary way, which gives the same numbers bit for bit; with contacts
 * (trees_touching.c) within the tolerance of the solvers. */
#include "sim/state.h"

#include "base/memory.h"

#include "model/joint_rows.h"

#include <math.h>

static bool has_prescribed_motion(const ss_world *world)
{
    for (int b = 0; b < ss_world_body_count(world); b++)
        if (ss_world_body(world, b)->kind == SS_KINEMATIC) return true;
    return false;
}

/* User functions would look at the frame, and bodies with prescribed motion are no links. */
bool ss_sim_trees_need_no_frame(const ss_sim *sim)
{
    return sim->options.coordinates == SS_MINIMAL && sim->calls[SS_BEFORE_SOLVE].count == 0 &&
           !sim->dynamics && sim->options.peg == SS_PEG_OFF && !has_prescribed_motion(sim->world);
}

/* ---- links ------------------------------------------------------------------------------------------ */

/* Forces on the links; with the bias, or without. */
static void fill_forces(const ss_sim *sim, bool with_bias, double (*force)[6])
{
    const ss_trees *trees = &sim->trees;
    for (int l = 0; l < trees->count; l++) {
        const ss_body *body = ss_world_body(sim->world, trees->link[l].body);
        if (with_bias)
            ss_sim_link_force(sim, body, &trees->link[l], sim->links.masses[l].inertia, force[l]);
        else
            ss_sim_plain_force(sim, body, force[l]);
    }
    ss_sim_add_joint_forces(sim, trees->of_body, force);
}

/* Masses of the links and linear laws of their joints, memory of the substep; sim->links.more if a joint is
 * more than a tree's. */
static bool gather_links(ss_sim *sim, ss_error *err)
{
    const ss_trees *trees = &sim->trees;
    ss_sim_links *links = &sim->links;
    size_t count = (size_t)trees->count, coordinates = (size_t)trees->coordinates;
    *links = (ss_sim_links){0};
    ss_link_mass *masses = ss_arena_take_unset(sim->memory, count, sizeof *masses, "masses of links");
    ss_link_law *laws = ss_arena_take_unset(sim->memory, count, sizeof *laws, "laws of links");
    links->force = ss_arena_take_unset(sim->memory, count, sizeof *links->force, "forces of links");
    links->change = ss_arena_take_unset(sim->memory, count, sizeof *links->change, "changes of links");
    links->rate = ss_arena_take_unset(sim->memory, coordinates + 1, sizeof *links->rate, "rates of links");
    if (!masses || !laws || !links->force || !links->change || !links->rate)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", trees->count);
    for (int l = 0; l < trees->count; l++) {
        const ss_body *body = ss_world_body(sim->world, trees->link[l].body);
        ss_mat3 rotation = ss_quat_to_matrix(ss_quat_load(body->quaternion));
        masses[l].mass = body->mass;
        ss_mat3_store(ss_mat3_rotate_tensor(rotation, ss_mat3_load(body->inertia)), masses[l].inertia);
        for (int i = 0; i < trees->link[l].count; i++) {
            laws[l].push[i] = 0.0;
            for (int k = 0; k < trees->link[l].count; k++) laws[l].resistance[i][k] = 0.0;
        }
    }

    ss_joint_equation row[SS_JOINT_EQUATIONS_MOST];
    for (int j = 0; j < ss_world_joint_count(sim->world); j++) {
        const ss_joint *joint = ss_world_joint(sim->world, j);
        int l = trees->of_joint[j];
        links->more |= l < 0 && ss_joint_is_active(sim->world, joint);
        links->pushed |= joint->law[0].force != 0.0 || joint->law[1].force != 0.0;
        if (l < 0) continue;
        const ss_link *link = &trees->link[l];
        int rows = ss_joint_law_rows(sim->world, j, sim->h, row);
        for (int i = 0; i < rows; i++) {
            if (ss_sim_implied_by_trees(sim, j, &row[i]) == SS_IMPLIED_BY_MASS)
                ss_link_add_law(link, row[i].jacobian + 6 * link->side, row[i].regularization,
                                row[i].time_derivative, &laws[l]);
            else
                links->more = true;
        }
        links->rows += rows + ss_joint_equation_count(joint);
    }
    links->masses = masses;
    links->laws = laws;
    return true;
}

static bool update_trees(ss_sim *sim, ss_error *err)
{
    if (sim->moved.count > 0) { // a step with a frame has led them there: they need not be found again
        SS_SWAP(ss_trees, sim->trees, sim->moved);
        sim->moved.count = 0;
    }
    return ss_trees_update(&sim->trees, sim->world, err);
}

bool ss_sim_find_trees(ss_sim *sim, ss_error *err)
{
    ss_trees *trees = &sim->trees;
    ss_sim_links *links = &sim->links;
    *links = (ss_sim_links){0};
    if (!update_trees(sim, err)) return false;
    ss_trees_write_velocities(trees, sim->world);
    for (int l = 0; l < trees->count; l++) trees->link[l].has_force = false;
    if (trees->coordinates == 0) return true;
    if (sim->options.bias == SS_BIAS_EXPLICIT) {
        ss_trees_accelerate(trees);
        return true;
    }

    /* The bias, where it is not that of the rates at the start. What cannot be factored is left to those who
     * say what is wrong with it. */
    if (!gather_links(sim, err)) return false;
    bool missing = true;
    if (sim->options.bias == SS_BIAS_MIDWAY) {
        fill_forces(sim, false, links->force);
        links->factored = ss_trees_factor(trees, links->masses, links->laws, sim->memory, NULL);
        if (links->factored &&
            !ss_trees_turn_midway(trees, sim->h, links->masses, (const double(*)[6])links->force, links->laws,
                                  links->factored, links->rate, links->change, sim->memory, err))
            return false;
        missing = false;
        for (int l = 0; l < trees->count; l++) {
            const ss_link *link = &trees->link[l];
            missing |= !link->has_force && !link->alone && link->tree >= 0;
        }
        // a sum of forces in another order has other bits
        links->solved = !missing && !links->pushed;
    }
    return !missing || ss_trees_carry(trees, sim->h, links->masses, sim->memory, err);
}

/* ---- the step --------------------------------------------------------------------------------------- */

bool ss_sim_solve_trees_alone(ss_sim *sim, bool *solved, ss_error *err)
{
    *solved = sim->trees_are_found = false;
    sim->touch = (ss_answer){0};
    sim->seen.size = 0;
    // the state before a step of several pieces is that of the first
    if (sim->options.substeps > 1 || !ss_sim_trees_need_no_frame(sim) ||
        (sim->contacts.count > 0 && !ss_sim_trees_may_touch(sim)))
        return true;
    double start = ss_clock_seconds();

    /* The frame would have what user functions have done until now. */
    if (sim->calls[SS_BEFORE_COLLISION].count > 0 || sim->calls[SS_AFTER_CONTACTS].count > 0) {
        sim->seen.reading = false;
        ss_sim_exchange_world(sim, &sim->seen);
        if (sim->seen.failed) {
            ss_byte_stream_free(&sim->seen);
            return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the state before the step");
        }
    }
    ss_sim_links *links = &sim->links;
    if (!ss_sim_find_trees(sim, err) || (!links->masses && !gather_links(sim, err))) return false;
    const ss_trees *trees = &sim->trees;
    if (trees->coordinates > sim->rate_room) {
        ss_release(sim->rates);
        sim->rates = ss_allocate((size_t)trees->coordinates, sizeof *sim->rates);
        sim->rate_room = sim->rates ? trees->coordinates : 0;
    }
    if (trees->coordinates > sim->rate_room)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", trees->count);

    double sum = 0.0; // 0 times what is not finite is not a number
    bool usual = trees->coordinates > 0 && !links->more;
    if (usual && !links->solved) fill_forces(sim, true, links->force);
    for (int l = 0; usual && l < trees->count; l++) {
        const ss_body *body = ss_world_body(sim->world, trees->link[l].body);
        for (int i = 0; i < 3; i++) sum += 0.0 * body->position[i];
        for (int i = 0; i < 9; i++) sum += 0.0 * links->masses[l].inertia[i];
        for (int i = 0; i < 6; i++) sum += 0.0 * links->force[l][i];
        usual = !trees->link[l].alone && body->mass > 0.0;
    }
    double assembled = ss_clock_seconds();
    usual = usual && sum == 0.0;
    if (usual && !links->factored)
        links->factored = ss_trees_factor(trees, links->masses, links->laws, sim->memory, NULL);
    usual = usual && links->factored;
    if (usual && !links->solved)
        ss_trees_solve(trees, links->factored, sim->h, (const double(*)[6])links->force, links->laws,
                       links->rate, links->change);
    for (int l = 0; usual && l < trees->count; l++) {
        const double *before = ss_world_body(sim->world, trees->link[l].body)->velocity;
        double *velocity = links->change[l];
        for (int i = 0; i < 6; i++) velocity[i] += before[i];
    }
    if (usual && sim->contacts.count > 0 && !ss_sim_touch_trees(sim, &usual, err)) return false;
    for (int l = 0; usual && l < trees->count; l++) usual = !ss_sim_is_too_fast(sim, links->change[l]);
    sim->trees_are_found = !usual;
    if (!usual) return true;

    memcpy(sim->rates, links->rate, (size_t)trees->coordinates * sizeof *sim->rates);
    *solved = sim->frame_waits = true;
    sim->frame_time = sim->time;
    sim->report.rows = links->rows;
    sim->report.assembly += assembled - start;
    sim->report.solve += ss_clock_seconds() - assembled;
    return true;
}

/* Two steps in a row do the same whole way by the velocities between them that one of Euler's does: contacts,
 * bias and frames are those of Euler's rule, half a step on. All that moves must do so along the joints of
 * trees, or places would be compared that belong to different moments. */
bool ss_sim_move_ahead(ss_sim *sim, ss_error *err)
{
    sim->way = sim->h;
    if (sim->options.integrator != SS_INTEGRATOR_LEAPFROG || sim->options.peg != SS_PEG_OFF ||
        sim->dynamics || sim->soft || has_prescribed_motion(sim->world))
        return true;
    if (!update_trees(sim, err)) return false;
    const ss_trees *trees = &sim->trees;
    for (int l = 0; l < trees->count; l++)
        if (trees->link[l].alone) return true;
    for (int j = 0; j < ss_world_joint_count(sim->world); j++)
        if (trees->of_joint[j] < 0 && ss_joint_is_active(sim->world, ss_world_joint(sim->world, j)))
            return true;
    sim->way = 0.5 * sim->h;
    ss_trees_move(&sim->trees, sim->world, NULL, sim->way);
    ss_trees_follow(trees, sim->world);
    return true;
}

bool ss_sim_move_trees(ss_sim *sim, ss_error *err)
{
    for (int l = 0; l < sim->trees.count; l++) {
        ss_body *body = ss_world_body(sim->world, sim->trees.link[l].body);
        memcpy(body->velocity, sim->links.change[l], sizeof body->velocity);
    }
    ss_trees_move(&sim->trees, sim->world, sim->rates, sim->way);
    if (!ss_sim_end_move(sim, &sim->trees, err)) return false;
    sim->warm.contact_count = sim->warm.row_count = 0; // nothing to start from
    bool keeps = sim->touch.contacts > 0 && sim->options.warm_start;
    return !keeps || ss_warm_keep_contacts(sim, &sim->touch) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for warm starts");
}

/* The answer to a frame with contacts, from their impulses. */
static bool fill_touching_answer(ss_sim *sim)
{
    if (!ss_assemble(sim->assembly, sim->frame, NULL, NULL)) return false;
    size_t size = (size_t)ss_assembly_problem(sim->assembly)->size, contacts = (size_t)sim->touch.contacts;
    double *x = ss_arena_take(sim->memory, size, sizeof *x, "x");
    ss_answer *answer = ss_answer_store_take(&sim->answer_store, sim->frame, false, NULL);
    if (!x || !answer) return false;
    memcpy(answer->normal_impulse, sim->touch.normal_impulse, contacts * sizeof *answer->normal_impulse);
    memcpy(answer->friction_impulse, sim->touch.friction_impulse,
           contacts * sizeof *answer->friction_impulse);
    ss_assembly_guess(sim->assembly, answer, x);
    ss_assembly_recover(sim->assembly, x, answer);
    sim->answer = answer;
    return true;
}

/* Of the world as it was. False when out of memory. */
static bool make_frame(ss_sim *sim)
{
    if (!ss_sim_build_frame(sim, NULL)) return false;
    if (sim->is_solved_by_mechanisms) return ss_sim_fill_mechanism_answer(sim, NULL);
    if (!ss_sim_fill_coordinates(sim, NULL)) return false;
    ss_sim_choose_gap_term(sim, sim->frame->contacts.restitution != NULL);
    sim->is_solved_by_trees = sim->touch.contacts == 0;
    return sim->is_solved_by_trees || fill_touching_answer(sim);
}

void ss_sim_forget_frame(ss_sim *sim)
{
    ss_frame_destroy(sim->frame);
    sim->frame = NULL;
    sim->answer = NULL;
    sim->frame_waits = sim->is_solved_by_trees = sim->coordinates_wait = false;
}

void ss_sim_make_waiting_frame(ss_sim *sim)
{
    ss_sim_forget_frame(sim);

    /* The world goes back to the state before the step, and then returns. If something was added to it since,
     * the state does not fit any more, and there is no frame; where memory was short, it waits for another
     * look. */
    ss_byte_stream now = {0}, *before = sim->seen.size > 0 ? &sim->seen : &sim->backup;
    size_t bytes = sim->seen.size > 0 ? sim->seen.size : sim->backup_of_world;
    ss_sim_exchange_world(sim, &now);
    bool made = !now.failed && now.size != bytes;
    if (!now.failed && now.size == bytes) {
        double time = sim->time;
        before->at = 0;
        before->reading = now.reading = true;
        ss_sim_exchange_world(sim, before);
        sim->time = sim->frame_time;
        made = (sim->seen.size > 0 || ss_sim_move_ahead(sim, NULL)) && make_frame(sim);
        if (!made) ss_sim_forget_frame(sim);
        sim->time = time;
        ss_sim_exchange_world(sim, &now);
    }
    sim->frame_waits = !made;
    ss_byte_stream_free(&now);
}
