/* Islands have nothing to do with each other: each is solved by its own plan, the large ones by all threads
 * together, the others side by side. What one may leave of the error is its share of what the stop rule
 * allows; those that are solved at once leave nothing and need next to nothing. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/team.h"
#include "solver/auto/auto.h"
#include "solver/core/nested_run.h"

/* Unknowns: this many in one island keep all threads busy. */
enum { LARGE = 6000 };

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

static void run_part(const crew *all, int i, ss_arena *arena, ss_team *team)
{
    ss_run_subproblem(all->run, &all->parts[i], arena, team, solve_part, &all->trails[i]);
}

static void run_range(int64_t begin, int64_t end, int worker, void *context)
{
    crew *all = context;
    for (int64_t k = begin; k < end; k++) run_part(all, all->queue[k], all->arenas[worker], NULL);
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
        // Counting sort by the number of binary digits of the size: the large ones first, equals in order.
        int small = 0;
        for (int digits = 30; digits >= 0; digits--) {
            for (int i = 0; i < count; i++) {
                int size = all->parts[i].problem->size;
                if (size < LARGE && size >> digits == 1) all->queue[small++] = i;
            }
        }
        ss_parallel_for(team, small, 1, run_range, all);
        for (int i = 0; i < count; i++) {
            if (all->parts[i].problem->size >= LARGE) run_part(all, i, arena, team);
        }
    }
    for (int i = 1; all->arenas && i < made; i++) ss_arena_destroy(all->arenas[i]);
    return good;
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

/* Each way once; then the island that was the most work. */
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

bool ss_auto_solve_islands(const ss_islands *islands, ss_run *run, double *x, ss_status *status)
{
    static const ss_status worst_first[] = {SS_FAILED,         SS_CANCELLED, SS_TIME_LIMIT,
                                            SS_MAX_ITERATIONS, SS_RAY,       SS_STALLED};
    static const double of_easy_ones = 0.01, all_of_it = 1.0 - 1e-6;
    int count = islands->count;
    size_t unknowns = (size_t)islands->first[count];
    double sum = 0.0, measuring = 0.0;
    crew all = {.run = run,
                .parts = ss_arena_take(run->arena, (size_t)count, sizeof *all.parts, "islands"),
                .trails = ss_arena_take(run->arena, (size_t)count, sizeof *all.trails, "islands")};
    double *ordered = ss_arena_take_unset(run->arena, unknowns, sizeof *x, "x by islands");
    *status = SS_FAILED;
    if (!ordered || !all.parts || !all.trails) return true;

    // What each may leave of the error, by size; rounding must not make more than one of them all.
    ss_islands_gather(islands, x, ordered);
    for (int i = 0; i < count; i++) {
        ss_subproblem *part = &all.parts[i];
        part->problem = &islands->problems[i];
        part->x = ordered + islands->first[i];
        bool easy = ss_auto_is_single(part->problem) || ss_auto_start_may_do(part->problem, part->x);
        part->share = part->problem->size * (easy ? of_easy_ones : 1.0);
        sum += part->share;
    }
    for (int i = 0; i < count; i++) all.parts[i].share *= all_of_it / sum;

    // Side by side, or in turn: times of a history are those of one part after the other.
    static const double per_unknown = 1000.0; // ns, about, and a cache line from another core
    ss_team *team = ss_team_for(run->team, per_unknown * (double)unknowns, (double)unknowns, 0.0);
    bool together = team && !ss_run_records(run);
    bool good = !together || run_together(&all, count, team), is_end = true;
    for (int i = 0; i < count && !together; i++) {
        all.parts[i].measuring = measuring;
        run_part(&all, i, run->arena, run->team);
        measuring += all.parts[i].measuring;
    }

    // Limits first: they end the whole. All solved, and still the whole is not: rounding, it goes on as one.
    if (good) {
        bool has[SS_FAILED + 1] = {false};
        ss_islands_scatter(islands, ordered, x);
        ss_run_join_subproblems(run, all.parts, count, islands->order, together ? ss_team_size(run->team) : 1,
                                x);
        if (ss_run_explains(run)) note_islands(run, &all, count);
        for (int i = 0; i < count; i++) has[all.parts[i].status] = true;
        *status = SS_CONVERGED;
        is_end = ss_run_excess(run, x) < 1.0;
        for (size_t k = 0; !is_end && k < sizeof worst_first / sizeof *worst_first; k++) {
            if (has[worst_first[k]]) *status = worst_first[k], is_end = true;
        }
        if (!is_end)
            ss_run_note(run, "each of them is solved, but their union is not: solving again as one problem");
    }
    for (int i = 0; i < count; i++) ss_subproblem_free(&all.parts[i]);
    return is_end;
}
