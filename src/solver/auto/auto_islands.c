/* Islands have nothing to do with each other: each is solved by its own plan, the large ones by all threads
 * together, the others side by side. What one may leave of the error is its share of what the stop rule
 * allows; those that are solved at once leave nothing and need next to nothing. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "solver/auto/auto.h"
#include "solver/core/nested_run.h"

/* Unknowns: fewer in all are solved sooner by one thread than by a second one that has to wake; this many in
 * one island keep all threads busy. */
enum { FEW = 1500, LARGE = 6000 };

typedef struct crew {
    const ss_run *run;
    ss_subproblem *parts;
    ss_auto_trail *trails;
    int *queue;
    ss_arena **arenas; // of every worker
} crew;

/* ---- solving ---------------------------------------------------------------------------------------- */

static ss_status solve_part(ss_problem *problem, ss_run *run, double *x, void *context)
{
    return ss_auto_solve_one(problem, run, x, context);
}

static void run_part(crew *all, int i, ss_arena *arena, ss_team *team)
{
    ss_run_subproblem(all->run, &all->parts[i], arena, team, solve_part, &all->trails[i]);
}

static void run_range(int64_t begin, int64_t end, int worker, void *context)
{
    crew *all = context;
    for (int64_t k = begin; k < end; k++) run_part(all, all->queue[k], all->arenas[worker], NULL);
}

/* Counting sort by the number of binary digits of the size: the large ones first, equals in order.
 * Returns how many. */
static int make_queue(const ss_subproblem *parts, int count, int *queue)
{
    int at = 0;
    for (int digits = 30; digits >= 0; digits--) {
        for (int i = 0; i < count; i++) {
            int size = parts[i].problem->size;
            if (size < LARGE && size >> digits == 1) queue[at++] = i;
        }
    }
    return at;
}

static bool run_together(crew *all, int count, ss_team *team)
{
    int workers = ss_team_size(team), made = 1;
    ss_arena *arena = all->run->arena;
    all->queue = ss_arena_take_unset(arena, (size_t)count, sizeof *all->queue, "islands");
    all->arenas = ss_arena_take_unset(arena, (size_t)workers, sizeof *all->arenas, "arenas");
    bool good = all->queue && all->arenas;
    if (good) all->arenas[0] = arena;
    for (; good && made < workers; made++) good = (all->arenas[made] = ss_arena_create(0, NULL)) != NULL;
    if (good) {
        int small = make_queue(all->parts, count, all->queue);
        ss_parallel_for(team, small, 1, run_range, all);
        for (int i = 0; i < count; i++) {
            if (all->parts[i].problem->size >= LARGE) run_part(all, i, arena, team);
        }
    }
    for (int i = 1; all->arenas && i < made; i++) ss_arena_destroy(all->arenas[i]);
    return good;
}

static void run_in_turn(crew *all, int count)
{
    double measuring = 0.0;
    for (int i = 0; i < count; i++) {
        all->parts[i].measuring = measuring;
        run_part(all, i, all->run->arena, all->parts[i].problem->size >= FEW ? all->run->team : NULL);
        measuring += all->parts[i].measuring;
    }
}

/* ---- shares ----------------------------------------------------------------------------------------- */

/* By size; rounding must not make more than one of them all. */
static void share_out(ss_subproblem *parts, int count)
{
    static const double of_easy_ones = 0.01, all_of_it = 1.0 - 1e-6;
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        const ss_problem *problem = parts[i].problem;
        bool easy = ss_auto_is_single(problem) || ss_auto_start_may_do(problem, parts[i].x);
        parts[i].share = problem->size * (easy ? of_easy_ones : 1.0);
        sum += parts[i].share;
    }
    for (int i = 0; i < count; i++) parts[i].share *= all_of_it / sum;
}

/* ---- notes ------------------------------------------------------------------------------------------ */

static bool same_way(const ss_auto_trail *a, const ss_auto_trail *b)
{
    if (a->count != b->count || a->is_easy != b->is_easy) return false;
    for (int i = 0; i < a->count; i++) {
        if (a->solver[i] != b->solver[i]) return false;
    }
    return true;
}

static void note_way(ss_run *run, const crew *all, int count, int first, bool *is_told)
{
    const ss_auto_trail *way = &all->trails[first];
    int islands = 0, most = 0, failed = 0;
    char names[200] = "";
    for (int i = first; i < count; i++) {
        if (is_told[i] || !same_way(way, &all->trails[i])) continue;
        const ss_subproblem *part = &all->parts[i];
        is_told[i] = true;
        islands++;
        failed += part->status != SS_CONVERGED;
        if (part->iterations > most) most = part->iterations;
    }
    for (int i = 0; i < way->count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? " -> " : "", way->solver[i]->name);
    }
    char missed[40] = "";
    if (failed) snprintf(missed, sizeof missed, "; %d not solved", failed);
    if (way->count == 0)
        ss_run_note(run, "%d of them: solved immediately%s", islands, missed);
    else
        ss_run_note(run, "%d of them: %s, at most %d iteration%s%s", islands, names, most,
                    most == 1 ? "" : "s", missed);
}

/* Ways are told once each; then the island that was the most work. */
static void note_islands(ss_run *run, const crew *all, int count)
{
    enum { WAYS = 8 };
    int largest = 0, longest = 0, ways = 0, left = 0;
    bool *is_told = ss_arena_take(run->arena, (size_t)count, sizeof *is_told, "notes");
    if (!is_told) return;
    for (int i = 0; i < count; i++) {
        if (all->parts[i].problem->size > largest) largest = all->parts[i].problem->size;
        if (all->parts[i].iterations > all->parts[longest].iterations) longest = i;
    }
    ss_run_note(run, "%d islands, the largest of %d unknowns", count, largest);
    for (int i = 0; i < count; i++) {
        if (is_told[i]) continue;
        if (ways < WAYS)
            note_way(run, all, count, i, is_told), ways++;
        else
            left++;
    }
    if (left) ss_run_note(run, "%d of them: in other ways", left);
    if (all->trails[longest].count == 0) return;
    ss_run_note(run, "the longest:");
    for (const char *line = all->parts[longest].notes, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        ss_run_note(run, "  %.*s", end ? (int)(end - line) : (int)strlen(line), line);
    }
}

/* ---- together --------------------------------------------------------------------------------------- */

/* Limits first: they end the whole. All solved, and still the whole is not: rounding, it goes on as one. */
static bool end_of(ss_run *run, const ss_subproblem *parts, int count, const double *x, ss_status *status)
{
    bool has[SS_FAILED + 1] = {false};
    static const ss_status worst_first[] = {SS_FAILED,         SS_CANCELLED, SS_TIME_LIMIT,
                                            SS_MAX_ITERATIONS, SS_RAY,       SS_STALLED};
    for (int i = 0; i < count; i++) has[parts[i].status] = true;
    *status = SS_CONVERGED;
    if (ss_run_excess(run, x) < 1.0) return true;
    for (size_t k = 0; k < sizeof worst_first / sizeof *worst_first; k++) {
        if (has[worst_first[k]]) return *status = worst_first[k], true;
    }
    ss_run_note(run, "each of them is solved, but their union is not: solving again as one problem");
    return false;
}

static bool make_crew(const ss_islands *islands, const ss_run *run, const double *x, crew *all)
{
    size_t count = (size_t)islands->count;
    double *ordered =
        ss_arena_take_unset(run->arena, (size_t)islands->first[count], sizeof *x, "x by islands");
    *all = (crew){.run = run,
                  .parts = ss_arena_take(run->arena, count, sizeof *all->parts, "islands"),
                  .trails = ss_arena_take(run->arena, count, sizeof *all->trails, "islands")};
    if (!ordered || !all->parts || !all->trails) return false;
    ss_islands_gather(islands, x, ordered);
    for (size_t i = 0; i < count; i++) {
        all->parts[i].problem = &islands->problems[i];
        all->parts[i].x = ordered + islands->first[i];
    }
    share_out(all->parts, islands->count);
    return true;
}

bool ss_auto_solve_islands(const ss_islands *islands, ss_run *run, double *x, ss_status *status)
{
    int count = islands->count;
    crew all;
    *status = SS_FAILED;
    if (!make_crew(islands, run, x, &all)) return true;
    // times of a history are those of one part after the other
    bool together = run->team && islands->first[count] >= FEW && !ss_run_records(run);
    bool is_end = true, good = !together || run_together(&all, count, run->team);
    if (!together) run_in_turn(&all, count);
    if (good) {
        ss_islands_scatter(islands, all.parts[0].x, x);
        ss_run_join_subproblems(run, all.parts, count, islands->order, together ? ss_team_size(run->team) : 1,
                                x);
        if (ss_run_explains(run)) note_islands(run, &all, count);
        is_end = end_of(run, all.parts, count, x, status);
    }
    for (int i = 0; i < count; i++) ss_subproblem_free(&all.parts[i]);
    return is_end;
}
