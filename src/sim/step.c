/* The order of things in one step. */
#include "base/team.h"
#include "sim/soft/soft.h"
#include "sim/state.h"

/* ---- user functions --------------------------------------------------------------------------------- */

bool ss_sim_call(ss_sim *sim, ss_stage stage, ss_error *err)
{
    const ss_call_list *calls = &sim->calls[stage];
    for (int i = 0; i < calls->count; i++) {
        ss_error own = {0};
        if (calls->items[i].function(sim, calls->items[i].context, &own)) continue;
        if (own.code == SS_OK) ss_fail(&own, SS_ERROR_USAGE, "a user function stopped the step");
        if (err) *err = own;
        return false;
    }
    return true;
}

/* ---- the step --------------------------------------------------------------------------------------- */

/* Everything but the move. again: user functions have seen this moment already; moves: the move will follow.
 */
static bool look_ahead(ss_sim *sim, bool again, bool moves, ss_error *err)
{
    sim->peg.too_far = false;
    if (!again && !ss_sim_call(sim, SS_BEFORE_COLLISION, err)) return false;

    /* From here on, a frame of the last step that waits to be looked at cannot be made any more: its contacts
     * and what its memory holds make way for those of this step. */
    if (sim->frame_waits || (sim->soft && sim->soft->waits)) ss_sim_forget_frame(sim);
    if (sim->soft) sim->soft->waits = false;
    ss_arena_clear(sim->memory);
    ss_sim_drive_kinematic(sim);

    /* Contacts: of the user's source, or of our collision detection; then user functions may edit them. */
    double start;
    bool good;
    sim->contacts = (ss_contact_list){0};
    sim->is_solved_by_mechanisms = sim->is_integrated = false;
    ss_sim_forget_peg(sim);
    if (sim->source) {
        start = ss_clock_seconds();
        good = sim->source(sim, sim->memory, &sim->contacts, sim->source_context, err);
        sim->report.narrow += ss_clock_seconds() - start;
    } else {
        good = ss_sim_foresee(sim, err) &&
               ss_collision_find(sim->collision, sim->h, sim->team, &sim->contacts, err);
        if (sim->options.peg != SS_PEG_OFF) sim->peg.list = ss_collision_groups(sim->collision);
        ss_collision_work work = ss_collision_last_work(sim->collision);
        sim->report.broad += work.broad_seconds;
        sim->report.narrow += work.narrow_seconds;
    }
    sim->editing_contacts = true;
    good = good && ss_sim_call(sim, SS_AFTER_CONTACTS, err);
    sim->editing_contacts = false;
    if (!good) return false;

    if (sim->soft && sim->dynamics)
        return ss_fail(err, SS_ERROR_USAGE,
                       "fast: real-time steps do not go with dynamics of the user's own");
    if (sim->soft) return ss_soft_solve(sim, err);

    /* Trees and other mechanisms that touch nothing need no frame. */
    bool solved;
    if (moves && !ss_sim_integrate_trees(sim, &solved, err)) return false;
    if (moves && solved) return true;
    if (!ss_sim_solve_trees_alone(sim, &solved, err)) return false;
    if (solved) return true;
    if (!ss_sim_solve_mechanisms(sim, &solved, err)) return false;
    if (solved) return true;

    /* The frame, which user functions may edit, too. So it is checked after them. */
    start = ss_clock_seconds();
    good = ss_sim_build_frame(sim, err);
    sim->report.assembly += ss_clock_seconds() - start;
    sim->editing_frame = true;
    good = good && ss_sim_call(sim, SS_BEFORE_SOLVE, err);
    sim->editing_frame = false;
    if (good) ss_sim_fill_coordinate_forces(sim);
    if (!good || !ss_sim_check_frame(sim, err)) return false;

    bool alternatives = sim->frame->subcontacts.groups > 0 && !ss_sim_models_alternatives(sim);
    if (alternatives && !ss_sim_fill_coordinates(sim, err)) return false;
    return (alternatives ? ss_sim_solve_peg(sim, err) : ss_sim_solve(sim, err)) &&
           ss_sim_check_answer(sim, err);
}

static void exchange(ss_sim *sim, bool reading)
{
    sim->backup.at = 0;
    sim->backup.reading = reading;
    if (!reading) sim->backup_counts = ss_sim_counts(sim);
    ss_sim_exchange_counted(sim, &sim->backup_counts, &sim->backup);
    if (!reading) sim->backup_of_world = sim->backup.size;

    /* A step of one piece replaces the warm start when nothing can fail any more. */
    bool pieces = sim->options.substeps > 1 || sim->options.peg != SS_PEG_OFF; // those may be halved
    if (pieces || sim->calls[SS_AFTER_STEP].count > 0) ss_sim_exchange_warm(&sim->warm, &sim->backup);
    if (sim->options.integrator != SS_INTEGRATOR_RUNGE_KUTTA) return;
    ss_paces paces = ss_sim_paces(sim);
    ss_sim_exchange_paces(&paces, &sim->backup);
    if (!reading) return;
    // without memory to read them into they stay as they are
    if (!sim->backup.failed) ss_free_motion_take_paces(&sim->motion, paces.items, paces.count);
    ss_release(paces.items);
}

static bool save(ss_sim *sim, ss_error *err)
{
    sim->backup.size = 0;
    if (sim->soft) ss_soft_begin(sim);
    if (ss_soft_undoes_all(sim)) return true;
    exchange(sim, false);
    if (!sim->backup.failed) return true;
    ss_byte_stream_free(&sim->backup);
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the state before the step");
}

/* With alternatives, a step in which a body turns too far for the geometry at its end is done in two halves,
 * and so on: errors of rotation fall with the square of h. */
static bool substep(ss_sim *sim, int halvings, bool again, ss_error *err)
{
    ss_sim_report before = sim->report;
    if (!ss_sim_move_ahead(sim, err) || !look_ahead(sim, again, true, err)) return false;
    if (sim->peg.too_far && halvings > 0) {
        double h = sim->h;
        sim->report = ss_sim_with_times(before, &sim->report);
        sim->report.halvings++;
        sim->h = 0.5 * h;
        bool good = substep(sim, halvings - 1, true, err) && substep(sim, halvings - 1, false, err);
        sim->h = h;
        return good;
    }
    if (sim->soft) {
        if (!ss_soft_move(sim, err)) return false;
        sim->time += sim->h;
        return true;
    }
    if (sim->is_integrated || sim->is_solved_by_mechanisms || sim->frame_waits) {
        bool good = sim->is_integrated             ? ss_sim_move_integrated(sim, err)
                    : sim->is_solved_by_mechanisms ? ss_sim_move_mechanisms(sim, err)
                                                   : ss_sim_move_trees(sim, err);
        if (good) sim->time += sim->h;
        return good;
    }
    if (!ss_sim_move(sim, err)) return false;
    // which contacts slide is a state where friction is static
    bool has_static_friction = sim->frame->contacts.mu_static != NULL;
    if ((sim->options.warm_start || has_static_friction || ss_sim_needs_previous(sim)) && !ss_warm_keep(sim))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for warm starts");
    sim->time += sim->h;
    return true;
}

static void close_report(ss_sim *sim, double start)
{
    ss_sim_report *report = &sim->report;
    report->seconds = ss_clock_seconds() - start;
    report->integration = report->seconds - report->broad - report->narrow - report->assembly - report->solve;
}

/* Memory, contacts and the state before the step exist once: a user function cannot begin another step. */
static bool begin(ss_sim *sim, ss_error *err)
{
    if (sim->is_stepping)
        return ss_fail(err, SS_ERROR_USAGE,
                       "a step is under way: a user function cannot begin another one within it");
    sim->is_stepping = save(sim, err);
    return sim->is_stepping || ss_fail_in(err, "step %lld", (long long)sim->steps);
}

bool ss_sim_step(ss_sim *sim, ss_error *err)
{
    double start = ss_clock_seconds(), time = sim->time, base_time = sim->base_time;
    int64_t steps = sim->steps, base_steps = sim->base_steps;
    ss_team_hold(sim->team); // workers wake while the state is saved
    if (!begin(sim, err)) {
        ss_team_let_go(sim->team);
        return false;
    }
    sim->report = (ss_sim_report){.worst_contact = -1};
    bool good = true;
    for (int k = 0; good && k < sim->options.substeps; k++)
        good = substep(sim, sim->options.halvings, false, err);
    ss_team_let_go(sim->team);
    if (good) {
        sim->steps++;
        sim->time = sim->base_time + (double)(sim->steps - sim->base_steps) * sim->options.h;
        sim->is_done = true;
        good = ss_sim_call(sim, SS_AFTER_STEP, err);
        sim->is_done = false;
    }
    if (!good) {
        if (sim->soft) ss_soft_undo(sim);
        if (sim->backup.size > 0) exchange(sim, true);
        // also where a user function has put back an earlier state
        sim->time = time;
        sim->base_time = base_time;
        sim->steps = steps;
        sim->base_steps = base_steps;
        ss_fail_in(err, "step %lld", (long long)sim->steps);
    }
    sim->is_stepping = false;
    close_report(sim, start);
    return good;
}

bool ss_sim_prepare(ss_sim *sim, ss_error *err)
{
    double start = ss_clock_seconds();
    if (!begin(sim, err)) return false;
    sim->report = (ss_sim_report){.worst_contact = -1};
    bool good = ss_sim_move_ahead(sim, err) && look_ahead(sim, false, false, err);
    if (sim->backup.size > 0) exchange(sim, true);
    sim->is_stepping = false;
    close_report(sim, start);
    return good || ss_fail_in(err, "step %lld", (long long)sim->steps);
}
