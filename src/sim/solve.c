/* From the frame to the answer: assemble, split into islands, solve each, recover. */
#include "sim/state.h"

#include <math.h>

#include "formulation/box.h"
#include "linalg/vec3.h"
#include "problem/laws.h"

/* Larger islands are left to the first solver: a factorisation of their size would cost more than the
 * steps it saves. */
static const int finisher_most_unknowns = 6000;
/* The same for contacts alone: its matrix has the size of the bodies, and packings in space fill it. */
static const int finisher_most_bodies = 300;
/* Fewer unknowns are solved by one thread, sooner than a second one wakes. */
static const int team_least_unknowns = 1500;
/* From here on the sweeps over one island are work for several threads. */
static const int shared_least_unknowns = 3 * SS_SHARED_LEAST_CONTACTS;

typedef struct outcome {
    bool good, finished;
    const char *refusal; // why no method takes it
    ss_status status;
    int iterations;
    double gauge[SS_GAUGE_COUNT];
} outcome;

typedef struct crew {
    const ss_sim *sim;
    ss_islands *islands;
    double *x;  // island by island
    int *queue; // largest island first
    outcome *outcomes;
} crew;

/* ---- one island ------------------------------------------------------------------------------------- */

static bool run(const ss_sim_method *method, ss_problem *problem, ss_arena *arena, ss_team *team, double *x,
                outcome *to)
{
    const unsigned gauges = 1u << SS_GAUGE_ENERGY | 1u << SS_GAUGE_RELATIVE_ENERGY;
    ss_solve_result result;
    if (!ss_solve(&(ss_solve_request){.arena = arena,
                                      .gauges = gauges,
                                      .solver = method->solver,
                                      .solver_options = method->options,
                                      .problem = problem,
                                      .run = &method->run,
                                      .team = team},
                  x, &result, NULL))
        return false;
    to->status = result.status;
    if (to->status == SS_NOT_APPLICABLE) to->refusal = ss_solver_refusal(method->solver, problem);
    to->iterations += result.iterations;
    memcpy(to->gauge, result.gauge, sizeof to->gauge);
    ss_solve_result_free(&result);
    return true;
}

/* An island in which nothing is faster than this many steps of free fall, the present one included, rests. */
static const double steps_of_fall_at_rest = 1.5;

static bool is_at_rest(const ss_sim *sim, const ss_problem *problem)
{
    double most = steps_of_fall_at_rest * sim->h * ss_vec3_norm(ss_vec3_load(ss_world_gravity(sim->world)));
    for (int b = 0; b < problem->bodies->bodies; b++) {
        if (ss_vec3_norm(ss_vec3_load(problem->bodies->free_velocity[b])) > most) return false;
    }
    return true;
}

static bool has_joints(const ss_problem *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->blocks[k].contact < 0) return true;
    }
    return false;
}

/* What rests must be held exactly, and mechanisms must not stretch. In a pile that moves, errors
 * do not add up. */
static bool finisher_takes(const ss_sim *sim, const ss_problem *problem)
{
    return sim->finisher.solver && problem->size <= finisher_most_unknowns &&
           (!problem->bodies || has_joints(problem) ||
            (problem->bodies->bodies <= finisher_most_bodies && is_at_rest(sim, problem))) &&
           !ss_solver_refusal(sim->finisher.solver, problem);
}

/* What the finisher makes of it counts only when it is better. Its own rule is stricter than the user's. */
static bool finish(const ss_sim *sim, ss_problem *problem, ss_arena *arena, ss_team *team, double *x,
                   outcome *to)
{
    size_t bytes = (size_t)problem->size * sizeof *x;
    double *before = ss_arena_take(arena, (size_t)problem->size, sizeof *before, "x before the finisher");
    outcome second = *to;
    if (!before) return false;
    memcpy(before, x, bytes);
    if (!run(&sim->finisher, problem, arena, team, x, &second)) return false;
    const ss_stop_rule *rule = &sim->first.run.stop;
    if (!rule->of_scene && second.gauge[rule->gauge] < rule->below) second.status = SS_CONVERGED;
    second.finished = true;
    bool first = to->status == SS_NOT_APPLICABLE;
    if (first || second.gauge[SS_GAUGE_RELATIVE_ENERGY] < to->gauge[SS_GAUGE_RELATIVE_ENERGY])
        *to = second;
    else
        memcpy(x, before, bytes);
    return true;
}

/* ---- when the finisher is called -------------------------------------------------------------------- */

/* The finisher stops motions that earlier errors made, and what stopped them is in its impulses. As the start
 * of the next step these are wrong by just that, often too little for the stop rule: the motion would be
 * back, and the finisher needed every other step. So it is called a second time, and leaves impulses that
 * only hold. Then it rests for a while that grows with the square of the island, as its cost does. */
static const int squared_contacts_per_step_of_rest = 5000;

static int wait_of(const ss_sim *sim, const ss_problem *problem)
{
    int most = 0;
    for (int k = 0; k < problem->block_count; k++) {
        int contact = problem->blocks[k].contact;
        if (contact < 0) continue;
        if (sim->wait[contact] == SS_CALL_AGAIN) return SS_CALL_AGAIN;
        if (sim->wait[contact] > most) most = sim->wait[contact];
    }
    return most;
}

static void set_wait(const ss_sim *sim, const ss_problem *problem, int wait)
{
    for (int k = 0; k < problem->block_count; k++) {
        int contact = problem->blocks[k].contact;
        if (contact >= 0) sim->wait[contact] = wait;
    }
}

static int next_wait(const ss_problem *problem, int wait, bool finished)
{
    if (finished && wait != SS_CALL_AGAIN) return SS_CALL_AGAIN;
    int contacts = ss_problem_contacts(problem);
    if (finished) return (int)((int64_t)contacts * contacts / squared_contacts_per_step_of_rest);
    return wait > 0 ? wait - 1 : 0;
}

static void solve_one(const ss_sim *sim, ss_problem *problem, ss_arena *arena, ss_team *team, double *x,
                      outcome *to)
{
    ss_arena_mark mark = ss_arena_get_mark(arena);
    int wait = wait_of(sim, problem);
    bool again = wait == SS_CALL_AGAIN && finisher_takes(sim, problem);
    *to = (outcome){.good = true, .status = SS_NOT_APPLICABLE};
    if (!again) to->good = run(&sim->first, problem, arena, team, x, to);
    bool missed = to->status != SS_CONVERGED, helpless = to->status == SS_NOT_APPLICABLE;
    if (to->good && missed && (wait <= 0 || helpless) && finisher_takes(sim, problem))
        to->good = finish(sim, problem, arena, team, x, to);
    set_wait(sim, problem, next_wait(problem, wait, to->finished));
    ss_arena_reset(arena, mark);
}

/* ---- all islands ------------------------------------------------------------------------------------ */

static void solve_at(const crew *all, int64_t k, ss_arena *arena, ss_team *team)
{
    int i = all->queue[k];
    solve_one(all->sim, &all->islands->problems[i], arena, team, all->x + all->islands->first[i],
              &all->outcomes[i]);
}

static void solve_range(int64_t begin, int64_t end, int worker, void *context)
{
    const crew *all = context;
    for (int64_t k = begin; k < end; k++) solve_at(all, k, all->sim->arenas[worker], NULL);
}

/* Counting sort by the number of binary digits of the size: the large ones first, equals in order. */
static void make_queue(const ss_islands *islands, int *queue)
{
    int at = 0;
    for (int digits = 31; digits >= 0; digits--) {
        for (int i = 0; i < islands->count; i++) {
            int size = islands->problems[i].size;
            if (size >> digits == 1) queue[at++] = i;
        }
    }
}

/* Islands at the head of the queue that all threads should solve together, because each of them is more than
 * the share of one. Who solves what does not change the results. */
static int count_shared(const crew *all)
{
    int count = 0, workers = ss_team_size(all->sim->team);
    while (count < all->islands->count &&
           all->islands->problems[all->queue[count]].size >= shared_least_unknowns)
        count++;
    return count < workers ? count : 0;
}

static bool needs_one_thread(const ss_sim *sim)
{
    unsigned traits = sim->first.solver->traits | (sim->finisher.solver ? sim->finisher.solver->traits : 0);
    return traits & SS_ONE_THREAD;
}

static bool solve_islands(ss_sim *sim, ss_problem *problem, ss_islands *islands, double *x, outcome *outcomes,
                          ss_error *err)
{
    if (!islands->problems) {
        solve_one(sim, problem, sim->arenas[0], sim->team, x, outcomes);
        return true;
    }
    crew all = {.sim = sim,
                .islands = islands,
                .x = ss_arena_take(sim->memory, (size_t)problem->size, sizeof *x, "x by islands"),
                .queue = ss_arena_take(sim->memory, (size_t)islands->count, sizeof *all.queue, "islands"),
                .outcomes = outcomes};
    if (!all.x || !all.queue)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);
    ss_islands_gather(islands, x, all.x);
    make_queue(islands, all.queue);
    ss_team *team = problem->size >= team_least_unknowns && !needs_one_thread(sim) ? sim->team : NULL;
    int shared = team ? count_shared(&all) : 0;
    for (int k = 0; k < shared; k++) solve_at(&all, k, sim->arenas[0], team);
    all.queue += shared;
    ss_parallel_for(team, islands->count - shared, 1, solve_range, &all);
    ss_islands_scatter(islands, all.x, x);
    return true;
}

/* ---- report ----------------------------------------------------------------------------------------- */

static bool sum_up(ss_sim *sim, const ss_problem *problem, const ss_islands *islands, const outcome *outcomes,
                   ss_error *err)
{
    ss_sim_report *report = &sim->report;
    report->islands += islands->count;
    for (int i = 0; i < islands->count; i++) {
        const outcome *of = &outcomes[i];
        if (!of->good) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory while solving");
        if (of->status == SS_NOT_APPLICABLE)
            return ss_fail(err, SS_ERROR_USAGE,
                           "solver %s is not applicable to the problem of this step: "
                           "it %s",
                           sim->first.solver->name, of->refusal);
        int contacts = ss_problem_contacts(islands->problems ? &islands->problems[i] : problem);
        if (contacts > report->largest_island) report->largest_island = contacts;
        if (of->status > report->status) report->status = of->status;
        if (of->iterations > report->iterations) report->iterations = of->iterations;
        report->finished += of->finished;
        report->relative_energy = fmax(report->relative_energy, of->gauge[SS_GAUGE_RELATIVE_ENERGY]);
        report->energy_error += of->gauge[SS_GAUGE_ENERGY];
    }
    return true;
}

/* ---- together --------------------------------------------------------------------------------------- */

/* A bouncing contact anywhere asks for Newton's law; approaches slower than two steps of free
 * fall are rest. */
static void choose_gap_term(ss_sim *sim)
{
    ss_step_options *step = sim->step;
    if (!sim->gap_term_is_given && sim->options.peg != SS_PEG_OFF)
        step->gap_term = SS_GAP_PREVENTIVE; // the law is about gaps at the end of the step
    else if (!sim->gap_term_is_given)
        step->gap_term = sim->frame->contacts.restitution ? SS_GAP_RESTITUTION : SS_GAP_STABILISED;
    if (!sim->restitution_speed_is_given)
        step->restitution_speed = 2.0 * sim->h * ss_vec3_norm(ss_vec3_load(ss_world_gravity(sim->world)));
}

static bool guess(ss_sim *sim, const ss_problem *problem, double *x, ss_error *err)
{
    const ss_frame *frame = sim->frame;
    ss_answer *answer = sim->answer; // not yet filled: used for the guess first
    if (!sim->options.warm_start) return true;
    if (sim->warm.contact_count == 0 && sim->warm.row_count == 0) return true;
    for (int b = 0; b < frame->bodies.count; b++)
        memcpy(answer->velocity[b], frame->bodies.velocity[b], sizeof answer->velocity[b]);
    if (!ss_warm_guess(sim, answer, err)) return false;
    ss_assembly_guess(sim->assembly, answer, x);
    ss_problem_project(problem, x);
    return true;
}

bool ss_sim_needs_previous(const ss_sim *sim)
{
    bool boxes = strcmp(ss_assembly_formulation(sim->assembly)->name, "box") == 0;
    return boxes && ((const ss_box_options *)sim->step)->bound == SS_BOX_PREVIOUS;
}

/* Boxes of friction that follow the normal impulses of the step before: found again as for a warm start, but
 * whether or not the solver starts from them. New contacts have none. */
static bool bound_by_previous(ss_sim *sim, ss_error *err)
{
    if (!ss_sim_needs_previous(sim)) return true;
    ss_box_options *box = (ss_box_options *)sim->step;
    int contacts = sim->frame->contacts.count;
    double *impulses = ss_arena_take(sim->memory, (size_t)contacts, sizeof *impulses, "friction bounds");
    if (!impulses) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", contacts);
    for (int c = 0; c < contacts; c++) sim->answer->normal_impulse[c] = NAN;
    bool good = ss_warm_guess(sim, sim->answer, err);
    for (int c = 0; c < contacts; c++) {
        impulses[c] = sim->answer->normal_impulse[c];
        sim->answer->normal_impulse[c] = 0.0;
    }
    box->normal_impulses = impulses;
    return good;
}

/* The user's own dynamics. There are no islands, and what it missed is for ss_judge to say. */
static bool solve_elsewhere(ss_sim *sim, double start, ss_error *err)
{
    double assembled = ss_clock_seconds();
    ss_error own = {0};
    bool good = sim->dynamics(sim, sim->frame, sim->answer, sim->dynamics_context, &own);
    if (!good && own.code == SS_OK) ss_fail(&own, SS_ERROR_USAGE, "the user's dynamics stopped the step");
    if (!good && err) *err = own;
    sim->report.assembly += assembled - start;
    sim->report.solve += ss_clock_seconds() - assembled;
    return good;
}

static bool solve_problem(ss_sim *sim, ss_problem *problem, double *x, ss_error *err)
{
    ss_islands islands = {.count = problem->size > 0};
    if (sim->options.islands && !ss_islands_split(problem, sim->memory, &islands, err)) return false;
    outcome *outcomes = ss_arena_take(sim->memory, (size_t)islands.count, sizeof *outcomes, "outcomes");
    bool good = outcomes || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d islands", islands.count);
    good = good && (islands.count == 0 || solve_islands(sim, problem, &islands, x, outcomes, err)) &&
           sum_up(sim, problem, &islands, outcomes, err);
    ss_islands_release(&islands);
    return good;
}

static void look_at_contacts(ss_sim *sim)
{
    ss_sim_report *report = &sim->report;
    const ss_contacts *contacts = &sim->frame->contacts;
    report->contacts = contacts->count;
    report->rows = sim->frame->constraints.row_count;
    report->touching = 0;
    for (int c = 0; c < contacts->count; c++) {
        report->touching += sim->answer->normal_impulse[c] > 0.0;
        bool of_group = sim->contacts.items[c].group > 0; // another alternative may hold: peg.c knows
        if (!of_group && -contacts->gap[c] > report->penetration) {
            report->penetration = -contacts->gap[c];
            report->worst_contact = c;
        }
    }
}

void ss_sim_copy_answer(const ss_answer *from, ss_answer *to)
{
    size_t contacts = (size_t)from->contacts;
    if (from->bodies) memcpy(to->velocity, from->velocity, (size_t)from->bodies * sizeof *to->velocity);
    if (from->rows) memcpy(to->row_impulse, from->row_impulse, (size_t)from->rows * sizeof *to->row_impulse);
    if (contacts == 0) return;
    memcpy(to->normal_impulse, from->normal_impulse, contacts * sizeof *to->normal_impulse);
    memcpy(to->friction_impulse, from->friction_impulse, contacts * sizeof *to->friction_impulse);
    if (from->rolling_impulse && to->rolling_impulse)
        memcpy(to->rolling_impulse, from->rolling_impulse, contacts * sizeof *to->rolling_impulse);
}

bool ss_sim_solve(ss_sim *sim, ss_error *err)
{
    double start = ss_clock_seconds();
    choose_gap_term(sim);
    sim->is_solved_by_trees = ss_sim_trees_suffice(sim);
    if (!sim->is_solved_by_trees && !ss_sim_fill_coordinates(sim, err)) return false;
    sim->answer = ss_answer_store_take(&sim->answer_store, sim->frame, ss_frame_has_moments(sim->frame), err);
    sim->wait = ss_arena_take(sim->memory, (size_t)sim->frame->contacts.count, sizeof *sim->wait, "waits");
    if (!sim->wait) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a step");
    if (sim->is_solved_by_trees) {
        bool good = sim->answer && ss_sim_solve_trees(sim, err);
        sim->report.solve += ss_clock_seconds() - start;
        if (good) look_at_contacts(sim);
        return good;
    }
    if (!sim->answer || !bound_by_previous(sim, err) || !ss_assemble(sim->assembly, sim->frame, NULL, err))
        return false;
    if (sim->dynamics) {
        bool good = solve_elsewhere(sim, start, err);
        if (good) look_at_contacts(sim);
        return good;
    }
    ss_problem *problem = ss_assembly_problem(sim->assembly);
    double *x = ss_arena_take(sim->memory, (size_t)problem->size, sizeof *x, "x");
    bool good = x || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);
    good = good && guess(sim, problem, x, err);
    double assembled = ss_clock_seconds();
    good = good && solve_problem(sim, problem, x, err);
    double solved = ss_clock_seconds();
    if (good) ss_assembly_recover(sim->assembly, x, sim->answer);
    sim->report.solve += solved - assembled;
    sim->report.assembly += assembled - start + ss_clock_seconds() - solved;
    if (good) look_at_contacts(sim);
    return good;
}
