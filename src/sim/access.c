/* Looking at a simulation, and having a say in it. */
#include "sim/soft/soft.h"
#include "sim/state.h"

#include "base/registry.h"

#include <math.h>

ss_world *ss_sim_world(const ss_sim *sim)
{
    return sim->world;
}

double ss_sim_time(const ss_sim *sim)
{
    return sim->time;
}

int64_t ss_sim_steps(const ss_sim *sim)
{
    return sim->steps;
}

/* What a step of trees alone left for later: generalised coordinates of the frame, and an answer with the
 * impulses of the joints. An ordinary solve of the frame has no unknowns, and gives just that. Out of memory,
 * the answer stays as it is, velocities alone, until it is looked at again. */
static void complete(const ss_sim *of)
{
    ss_sim *sim = (ss_sim *)(uintptr_t)of;
    if (sim->frame_waits) ss_sim_make_waiting_frame(sim);
    if (sim->soft && sim->soft->waits) ss_soft_make_frame(sim);
    if (!sim->frame || !ss_sim_fill_coordinates(sim, NULL) || !sim->is_solved_by_trees) return;
    if (!ss_assemble(sim->assembly, sim->frame, NULL, NULL)) return;
    ss_answer *answer = ss_answer_store_take(&sim->answer_store, sim->frame, false, NULL);
    if (!answer) return;
    sim->is_solved_by_trees = false;
    sim->answer = answer;
    ss_assembly_recover(sim->assembly, sim->rates, answer);
}

const ss_frame *ss_sim_frame(const ss_sim *sim)
{
    complete(sim);
    return sim->peg.frame ? sim->peg.frame : sim->frame;
}

const ss_scenery *ss_sim_scenery(const ss_sim *sim)
{
    complete(sim);
    return &sim->scenery;
}

const ss_answer *ss_sim_answer(const ss_sim *sim)
{
    complete(sim);
    return sim->peg.answer ? sim->peg.answer : sim->answer;
}

ss_assembly *ss_sim_assembly(const ss_sim *sim)
{
    complete(sim);
    return sim->assembly;
}

int ss_sim_frame_body(const ss_sim *sim, int frame_body)
{
    complete(sim);
    bool is_one = sim->frame && frame_body >= 0 && frame_body < sim->frame->bodies.count;
    return is_one ? sim->frame_body[frame_body] : SS_WORLD;
}

const ss_contact_list *ss_sim_contacts(const ss_sim *sim)
{
    return sim->peg.frame ? &sim->peg.contacts : &sim->contacts;
}

ss_collision *ss_sim_collision(const ss_sim *sim)
{
    return sim->collision;
}

/* Energy and joint errors are of the world as it is now: who does not ask does not pay for them. */
const char *ss_sim_finisher(const ss_sim *sim)
{
    return sim->options.finisher ? sim->options.finisher : "none";
}

ss_sim_report ss_sim_last(const ss_sim *sim)
{
    ss_sim_report report = sim->report;
    ss_world_energy energy = ss_world_measure(sim->world);
    report.kinetic = energy.kinetic;
    report.potential = energy.potential;
    for (int j = 0; j < ss_world_joint_count(sim->world); j++)
        report.joint_error = fmax(report.joint_error, ss_joint_error(sim->world, j));
    return report;
}

/* ---- user functions --------------------------------------------------------------------------------- */

bool ss_sim_call_at(ss_sim *sim, ss_stage stage, ss_user_function *function, void *context, ss_error *err)
{
    if ((int)stage < 0 || stage >= SS_STAGE_COUNT || !function)
        return ss_fail(err, SS_ERROR_USAGE, "sim: unknown stage %d, or no function given", (int)stage);
    if (sim->soft && stage == SS_BEFORE_SOLVE)
        return ss_fail(
            err, SS_ERROR_USAGE,
            "fast: real-time steps have no frame that a user function could change before a solve");

    // When it looks at a frame that waits now, the state before that step will be gone.
    if (stage == SS_BEFORE_COLLISION) complete(sim);
    ss_call_list *list = &sim->calls[stage];
    if (list->count == list->capacity) {
        int capacity = 2 * list->capacity + 8;
        ss_user_call *items = ss_allocate((size_t)capacity, sizeof *items);
        if (!items) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for user functions");
        if (list->count) memcpy(items, list->items, (size_t)list->count * sizeof *items);
        ss_release(list->items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = (ss_user_call){function, context};
    return true;
}

int ss_hook_count(void)
{
    return ss_registered_count(SS_REGISTERED_HOOKS);
}

const ss_hook *ss_hook_at(int index)
{
    return ss_registered_at(SS_REGISTERED_HOOKS, index);
}

const ss_hook *ss_hook_find(const char *name)
{
    const ss_hook *hook;
    for (int i = 0; (hook = ss_hook_at(i)); i++) {
        if (strcmp(hook->name, name) == 0) return hook;
    }
    return NULL;
}

bool ss_sim_call_hook(ss_sim *sim, const ss_hook *hook, ss_error *err)
{
    for (int stage = 0; stage < SS_STAGE_COUNT; stage++) {
        if (hook->at[stage] && !ss_sim_call_at(sim, (ss_stage)stage, hook->at[stage], hook->context, err))
            return false;
    }
    return true;
}

ss_contact_list *ss_sim_contacts_edit(ss_sim *sim)
{
    return sim->editing_contacts ? &sim->contacts : NULL;
}

ss_frame *ss_sim_frame_edit(ss_sim *sim)
{
    return sim->editing_frame ? sim->frame : NULL;
}

void ss_sim_replace_collision(ss_sim *sim, ss_contact_source *source, void *context)
{
    sim->source = source;
    sim->source_context = context;
}

bool ss_sim_replace_solver(ss_sim *sim, const ss_solver *solver, const void *solver_options, ss_error *err)
{
    if (sim->soft) return ss_fail(err, SS_ERROR_USAGE, "fast: real-time steps do not go with a solver");
    if (!solver || solver->abi != SS_ABI || !solver->solve)
        return ss_fail(err, SS_ERROR_USAGE,
                       "sim: no solver given, or one made for another version of the library");
    if (solver_options && solver->options && !ss_options_check(solver->options, solver_options, err))
        return ss_fail_in(err, "sim: solver %s", solver->name);
    void *options = ss_allocate(1, solver->options_size);
    if (!options) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options");
    if (solver_options && solver->options_size)
        memcpy(options, solver_options, solver->options_size);
    else if (solver->options)
        ss_options_defaults(solver->options, options);
    ss_release(sim->first.options);
    sim->first.solver = solver;
    sim->first.options = options;
    return true;
}

void ss_sim_replace_dynamics(ss_sim *sim, ss_answer_source *source, void *context)
{
    sim->dynamics = source;
    sim->dynamics_context = context;
}
