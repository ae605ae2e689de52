/* From the frame to the answer: assemble, split into islands, solve each, recover. */
#include "sim/state.h"

#include <math.h>

#include "base/memory.h"
#include "formulation/box.h"
#include "linalg/vec3.h"
#include "problem/bodies_form.h"
#include "problem/equations.h"
#include "problem/laws.h"

/* Larger islands are left to the first solver: a factorisation of their size would cost more than the
 * steps it saves. */
static const int finisher_most_unknowns = 6000;
/* The same for contacts alone: its matrix has the size of the bodies, and packings in space fill it. */
static const int finisher_most_bodies = 300;
/* ns, about, in which an unknown of a small island is solved; and its share of a cache line that has to come
 * from another core. */
static const double per_unknown = 200.0, lines_per_unknown = 0.2;
/* From here on the sweeps over one island are work for several threads. */
static const int shared_least_unknowns = 3 * SS_SHARED_LEAST_CONTACTS;

typedef struct outcome {
    bool good, finished;
    const char *refusal; // why no method takes it
    ss_status status;
    int iterations, contacts;
    double gauge[SS_GAUGE_COUNT];
} outcome;

typedef struct crew {
    const ss_sim *sim;
    ss_islands *islands;
    double *x, *ordered; // of the whole problem; the same island by island
    int *queue;          // largest island first
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

/* What rests must be held exactly, and mechanisms must not stretch. In a pile that moves, errors
 * do not add up. */
static bool finisher_takes(const ss_sim *sim, const ss_problem *problem)
{
    if (!sim->finisher.solver || problem->size > finisher_most_unknowns) return false;

    bool has_joints = false;
    for (int k = 0; k < problem->block_count && !has_joints; k++) has_joints = problem->blocks[k].contact < 0;
    if (problem->bodies && !has_joints) {
        if (problem->bodies->bodies > finisher_most_bodies) return false;
        double rest =
            steps_of_fall_at_rest * sim->h * ss_vec3_norm(ss_vec3_load(ss_world_gravity(sim->world)));
        for (int b = 0; b < problem->bodies->bodies; b++)
            if (ss_vec3_norm(ss_vec3_load(problem->bodies->free_velocity[b])) > rest) return false;
    }
    return !ss_solver_refusal(sim->finisher.solver, problem);
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
    if (sim->finisher.from_zero) memset(x, 0, bytes);
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
 * only hold. Then it rests for a while that grows with the square of the island, as its cost does, and that
 * doubles each time it is needed again soon after: a heap that creeps changes faster than it can be held. In
 * small islands it costs little and never rests. */
static const int squared_contacts_per_step_of_rest = 5000;
enum { MOST_DOUBLINGS = 6, LONGEST_REST = 10000, CALM = 50 };

ss_wait ss_sim_island_wait(const ss_sim *sim, const ss_problem *island)
{
    ss_wait all = {.calm = CALM};
    for (int k = 0; k < island->block_count; k++) {
        int contact = island->blocks[k].contact;
        if (contact < 0) continue;
        ss_wait wait = ss_wait_unpack(sim->wait[contact]);
        all.call_again |= wait.call_again;
        all.steps = wait.steps > all.steps ? wait.steps : all.steps;
        all.doublings = wait.doublings > all.doublings ? wait.doublings : all.doublings;
        all.calm = wait.calm < all.calm ? wait.calm : all.calm;
    }
    return all;
}

void ss_sim_set_island_wait(const ss_sim *sim, const ss_problem *island, ss_wait next)
{
    int packed = ss_wait_pack(next);
    for (int k = 0; k < island->block_count; k++) {
        int contact = island->blocks[k].contact;
        if (contact >= 0) sim->wait[contact] = packed;
    }
}

ss_wait ss_wait_after_calm_step(ss_wait wait)
{
    if (wait.doublings == 0) return wait;
    wait.calm = (wait.calm + 1) % CALM;
    if (wait.calm == 0) wait.doublings--;
    return wait;
}

static void solve_one(const ss_sim *sim, ss_problem *problem, ss_arena *arena, ss_team *team, double *x,
                      outcome *to)
{
    ss_arena_mark mark = ss_arena_get_mark(arena);

    ss_wait wait = ss_sim_island_wait(sim, problem);
    bool calls = wait.call_again;
    int rest = wait.steps, doublings = wait.doublings;

    /* Where there are only equations, the start is their solution, which is measured; if it meets the rule,
     * the solver has nothing to do. */
    *to = (outcome){.good = true, .status = SS_NOT_APPLICABLE, .contacts = ss_problem_contacts(problem)};
    if (sim->finisher.solver && ss_equations_solve(problem, arena, x)) {
        const ss_stop_rule *rule = &sim->first.run.stop;
        ss_sim_method no_iterations = sim->first;
        no_iterations.run.max_iterations = 0;
        to->good = run(&no_iterations, problem, arena, team, x, to);
        bool measured = to->status == SS_MAX_ITERATIONS && !rule->of_scene;
        if (measured && to->gauge[rule->gauge] < rule->below) to->status = SS_CONVERGED;
    }

    bool again = calls && finisher_takes(sim, problem);
    if (to->good && to->status != SS_CONVERGED && !again)
        to->good = run(&sim->first, problem, arena, team, x, to);
    bool missed = to->status != SS_CONVERGED, helpless = to->status == SS_NOT_APPLICABLE;
    if (to->good && missed && (calls || rest == 0 || helpless) && finisher_takes(sim, problem))
        to->good = finish(sim, problem, arena, team, x, to);

    /* After a first call of the finisher comes a second one, then a rest, which is counted down. */
    ss_wait next = {.steps = rest > 0 ? rest - 1 : 0, .doublings = doublings, .calm = wait.calm};
    if (to->finished && !calls) {
        next = (ss_wait){.call_again = true, .doublings = doublings};
    } else if (to->finished) {
        int64_t contacts = to->contacts;
        int64_t steps = (contacts * contacts / squared_contacts_per_step_of_rest) << doublings;
        next.steps = steps < LONGEST_REST ? (int)steps : LONGEST_REST;
        next.calm = 0;
        if (doublings < MOST_DOUBLINGS) next.doublings++;
    } else if (rest == 0 && !missed) {
        next = ss_wait_after_calm_step(next);
    }
    ss_sim_set_island_wait(sim, problem, next);
    ss_arena_reset(arena, mark);
}

/* ---- all islands ------------------------------------------------------------------------------------ */

static void solve_at(const crew *all, int64_t k, ss_arena *arena, ss_team *team)
{
    int i = all->queue[k];
    ss_islands_gather_one(all->islands, i, all->x, all->ordered);
    solve_one(all->sim, &all->islands->problems[i], arena, team, all->ordered + all->islands->first[i],
              &all->outcomes[i]);
    ss_islands_scatter_one(all->islands, i, all->ordered, all->x);
}

static void solve_range(int64_t begin, int64_t end, int worker, void *context)
{
    const crew *all = context;
    for (int64_t k = begin; k < end; k++) solve_at(all, k, all->sim->arenas[worker], NULL);
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
                .x = x,
                .ordered = ss_arena_take_unset(sim->memory, (size_t)problem->size, sizeof *x, "x by islands"),
                .queue = ss_arena_take(sim->memory, (size_t)islands->count, sizeof *all.queue, "islands"),
                .outcomes = outcomes};
    if (!all.ordered || !all.queue)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);

    /* Counting sort by the number of binary digits of the size: the large ones first, equals in order. */
    int start[33] = {0};
    for (int i = 0; i < islands->count; i++) start[__builtin_clz((unsigned)islands->problems[i].size) + 1]++;
    for (int zeros = 0; zeros < 32; zeros++) start[zeros + 1] += start[zeros];
    for (int i = 0; i < islands->count; i++)
        all.queue[start[__builtin_clz((unsigned)islands->problems[i].size)]++] = i;

    /* Islands at the head of the queue that are each more than the share of one thread are solved by all
     * threads together, one after the other. Which thread solves what does not change the results. */
    unsigned traits = sim->first.solver->traits | (sim->finisher.solver ? sim->finisher.solver->traits : 0);
    ss_team *team = traits & SS_ONE_THREAD ? NULL : sim->team;
    int shared = 0;
    while (team && shared < islands->count &&
           islands->problems[all.queue[shared]].size >= shared_least_unknowns)
        shared++;
    if (shared >= ss_team_size(sim->team)) shared = 0;
    for (int k = 0; k < shared; k++) solve_at(&all, k, sim->arenas[0], team);

    // What lies beside the largest of the others is for another thread, if it is more than crumbs.
    int rest = problem->size, largest = 0;
    for (int k = 0; k < islands->count; k++) {
        int size = islands->problems[all.queue[k]].size;
        if (k < shared) rest -= size;
        if (k >= shared && size > largest) largest = size;
    }
    all.queue += shared;
    int crumbs = rest - largest < rest / 2 ? rest - largest : rest / 2;
    team = ss_team_for(team, 2 * per_unknown * crumbs, lines_per_unknown * crumbs, 0.0);
    ss_parallel_for(team, islands->count - shared, 1, solve_range, &all);
    return true;
}

/* ---- together --------------------------------------------------------------------------------------- */

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
    bool good = ss_warm_guess(sim, sim->frame, sim->answer, err);
    for (int c = 0; c < contacts; c++) {
        impulses[c] = sim->answer->normal_impulse[c];
        sim->answer->normal_impulse[c] = 0.0;
    }
    box->normal_impulses = impulses;
    return good;
}

static bool solve_problem(ss_sim *sim, ss_problem *problem, double *x, ss_error *err)
{
    ss_islands islands = {.count = problem->size > 0};
    if (sim->options.islands && !ss_islands_split(problem, sim->team, sim->memory, &islands, err))
        return false;
    outcome *outcomes = ss_arena_take(sim->memory, (size_t)islands.count, sizeof *outcomes, "outcomes");
    bool good = outcomes || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d islands", islands.count);
    good = good && (islands.count == 0 || solve_islands(sim, problem, &islands, x, outcomes, err));

    /* The report has the worst of all islands. */
    ss_sim_report *report = &sim->report;
    if (good) report->islands += islands.count;
    for (int i = 0; good && i < islands.count; i++) {
        const outcome *of = &outcomes[i];
        if (!of->good) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory while solving");
        if (of->good && of->status == SS_NOT_APPLICABLE)
            good =
                ss_fail(err, SS_ERROR_USAGE, "solver %s is not applicable to the problem of this step: it %s",
                        sim->first.solver->name, of->refusal);
        if (!good) break;
        if (of->contacts > report->largest_island) report->largest_island = of->contacts;
        if (of->status > report->status) report->status = of->status;
        if (of->iterations > report->iterations) report->iterations = of->iterations;
        report->finished += of->finished;
        report->relative_energy = fmax(report->relative_energy, of->gauge[SS_GAUGE_RELATIVE_ENERGY]);
        report->energy_error += of->gauge[SS_GAUGE_ENERGY];
    }
    ss_islands_release(&islands);
    return good;
}

static void look_at(const ss_sim *sim, int c, double gap, double impulse, ss_contact_look *look)
{
    look->touching += impulse > 0.0;
    bool of_group = sim->contacts.items[c].group > 0; // another alternative may hold: peg.c knows
    if (!of_group && -gap > look->penetration) {
        look->penetration = -gap;
        look->worst_contact = c;
    }
}

static void report_look(ss_sim_report *report, const ss_contact_look *look)
{
    report->touching += look->touching;
    if (look->penetration > report->penetration) {
        report->penetration = look->penetration;
        report->worst_contact = look->worst_contact;
    }
}

void ss_sim_note_contact(ss_sim *sim, int c, double gap, double impulse)
{
    ss_contact_look look = {.worst_contact = -1};
    look_at(sim, c, gap, impulse, &look);
    report_look(&sim->report, &look);
}

typedef struct looking {
    const ss_sim *sim;
    ss_sim_look_range *range;
    ss_contact_look *looks; // of each chunk
} looking;

static void look_at_chunk(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const looking *with = context;
    ss_contact_look *look = &with->looks[begin / SS_SIM_AT_ONCE], found = {.worst_contact = -1};
    with->range(with->sim, (int)begin, (int)end, &found);
    *look = found;
}

bool ss_sim_look(ss_sim *sim, int count, double each, ss_sim_look_range *range, ss_error *err)
{
    int chunks = (count + SS_SIM_AT_ONCE - 1) / SS_SIM_AT_ONCE;
    looking with = {.sim = sim, .range = range};
    with.looks = ss_arena_take_unset(sim->memory, (size_t)chunks, sizeof *with.looks, "looks at contacts");
    if (!with.looks) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for contacts");
    ss_parallel_for(ss_team_for_loop(sim->team, count, each), count, SS_SIM_AT_ONCE, look_at_chunk, &with);

    sim->report.touching = 0;
    for (int k = 0; k < chunks; k++) report_look(&sim->report, &with.looks[k]);
    return true;
}

static void look_at_range(const ss_sim *sim, int begin, int end, ss_contact_look *look)
{
    for (int c = begin; c < end; c++)
        look_at(sim, c, sim->frame->contacts.gap[c], sim->answer->normal_impulse[c], look);
}

static bool look_at_contacts(ss_sim *sim, ss_error *err)
{
    enum { CONTACT = 5 }; // ns
    sim->report.contacts = sim->frame->contacts.count;
    sim->report.rows = sim->frame->constraints.row_count;
    return ss_sim_look(sim, sim->frame->contacts.count, CONTACT, look_at_range, err);
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

/* A bouncing contact anywhere asks for Newton's law; approaches slower than two steps of free fall are
 * rest. */
void ss_sim_choose_gap_term(ss_sim *sim, bool bounces)
{
    ss_step_options *step = sim->step;
    if (!sim->gap_term_is_given && sim->options.peg != SS_PEG_OFF)
        step->gap_term = SS_GAP_PREVENTIVE; // the law is about gaps at the end of the step
    else if (!sim->gap_term_is_given)
        step->gap_term = bounces ? SS_GAP_RESTITUTION : SS_GAP_STABILISED;
    if (!sim->restitution_speed_is_given)
        step->restitution_speed = 2.0 * sim->h * ss_vec3_norm(ss_vec3_load(ss_world_gravity(sim->world)));
}

bool ss_sim_solve(ss_sim *sim, ss_error *err)
{
    const ss_frame *frame = sim->frame;
    double start = ss_clock_seconds();

    ss_sim_choose_gap_term(sim, frame->contacts.restitution != NULL);
    sim->is_solved_by_trees = ss_sim_trees_suffice(sim);
    if (!sim->is_solved_by_trees && !ss_sim_fill_coordinates(sim, err)) return false;
    ss_answer *answer = ss_answer_store_take(&sim->answer_store, frame, ss_frame_has_moments(frame), err);
    sim->answer = answer;
    sim->wait = ss_arena_take(sim->memory, (size_t)frame->contacts.count, sizeof *sim->wait, "waits");
    if (!sim->wait) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a step");
    if (sim->is_solved_by_trees) {
        bool good = answer && ss_sim_solve_trees(sim, err);
        sim->report.solve += ss_clock_seconds() - start;
        return good && look_at_contacts(sim, err);
    }
    if (!answer || !bound_by_previous(sim, err) || !ss_assemble(sim->assembly, frame, NULL, err))
        return false;

    /* The user's own dynamics. There are no islands, and what it missed is for ss_judge to say. */
    if (sim->dynamics) {
        double assembled = ss_clock_seconds();
        ss_error own = {0};
        bool good = sim->dynamics(sim, frame, answer, sim->dynamics_context, &own);
        if (!good && own.code == SS_OK) ss_fail(&own, SS_ERROR_USAGE, "the user's dynamics stopped the step");
        if (!good && err) *err = own;
        sim->report.assembly += assembled - start;
        sim->report.solve += ss_clock_seconds() - assembled;
        return good && look_at_contacts(sim, err);
    }

    /* The start: impulses of the step before. The answer, not yet filled, holds the guess first. */
    ss_problem *problem = ss_assembly_problem(sim->assembly);
    double *x = ss_arena_take(sim->memory, (size_t)problem->size, sizeof *x, "x");
    bool good = x || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);
    if (good && sim->options.warm_start && (sim->warm.contact_count > 0 || sim->warm.row_count > 0)) {
        for (int b = 0; b < frame->bodies.count; b++)
            memcpy(answer->velocity[b], frame->bodies.velocity[b], sizeof answer->velocity[b]);
        good = ss_warm_guess(sim, frame, answer, err);
        if (good) ss_assembly_guess(sim->assembly, answer, x);
        if (good) ss_problem_project_by(problem, ss_team_for_loop(sim->team, problem->block_count, 13), x);
    }

    double assembled = ss_clock_seconds();
    good = good && solve_problem(sim, problem, x, err);
    double solved = ss_clock_seconds();
    if (good) ss_assembly_recover(sim->assembly, x, answer);
    sim->report.solve += solved - assembled;
    sim->report.assembly += assembled - start + ss_clock_seconds() - solved;
    return good && look_at_contacts(sim, err);
}
