/* All heats, each in a process of its own: solvers of others crash, hang and end the process they are in. */
#include "race.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_JOBS = 64, CHOSEN = 3 };
static const rlim_t most_memory = (rlim_t)4 << 30; /* bytes of address space of one heat */

typedef struct task {
    int contest, entrant;
    ss_siconos_storage storage;
} task;

typedef struct tasks {
    task *items;
    int count, room;
} tasks;

typedef struct worker {
    pid_t process; /* 0 = idle */
    int pipe;
    double deadline; /* of ss_clock_seconds */
    task task;
} worker;

typedef struct stage {
    double enough;
    int least_repeats, jobs;
    const char *name;
} stage;

/* Ctrl-C: no more heats; the problems that are finished by then are shown. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

ss_place *ss_race_place(const ss_race *race, int contest, int entrant, int target)
{
    return &race->places[(contest * race->entrant_count + entrant) * SS_TARGETS + target];
}

/* ---- results -------------------------------------------------------------------------------------- */

static void note(ss_race *race, const task *of, const ss_rung *rung)
{
    for (int t = 0; t < SS_TARGETS; t++) {
        ss_place *place = ss_race_place(race, of->contest, of->entrant, t);
        if (place->end == 0) place->end = 'i';
        if (rung->error <= ss_targets[t]) {
            if (rung->processor < place->processor) {
                place->error = rung->error;
                place->own = rung->own;
                place->iterations = rung->iterations;
            }
            place->processor = fmin(place->processor, rung->processor);
            place->wall = fmin(place->wall, rung->wall);
            place->end = 's';
        } else if (place->end != 's') {
            place->error = isnan(place->error) ? rung->error : fmin(place->error, rung->error);
        }
    }
}

static void note_end(ss_race *race, const task *of, int status)
{
    bool late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGKILL);
    if (of->storage != SS_SICONOS_USUAL || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return;
    for (int t = 0; t < SS_TARGETS; t++) {
        ss_place *place = ss_race_place(race, of->contest, of->entrant, t);
        if (place->end != 's') place->end = late ? 't' : 'c';
    }
}

/* ---- processes ------------------------------------------------------------------------------------ */

/* What solvers print is not ours to show. */
static _Noreturn void be_worker(const ss_race *race, const task *of, const stage *now, int pipe)
{
    int nowhere = open("/dev/null", O_WRONLY);
    struct rlimit memory = {most_memory, most_memory}, core = {0, 0};
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &core);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
    ss_heat heat = {&race->contests.items[of->contest],
                    &race->entrants[of->entrant],
                    of->storage,
                    race->limits[of->contest],
                    now->enough,
                    now->least_repeats};
    _exit(!ss_heat_run(&heat, pipe));
}

static bool start(const ss_race *race, worker *w, const task *of, const stage *now, ss_error *err)
{
    int ends[2];
    if (pipe(ends) != 0) return ss_fail(err, SS_ERROR_RESOURCES, "no pipe: %s", strerror(errno));
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        be_worker(race, of, now, ends[1]);
    }
    close(ends[1]);
    if (process < 0)
        return close(ends[0]), ss_fail(err, SS_ERROR_RESOURCES, "no process: %s", strerror(errno));
    *w = (worker){process, ends[0], ss_clock_seconds() + 60.0 + 40.0 * race->limits[of->contest], *of};
    return true;
}

/* Reads a rung, or learns how it ended; killed when it is late beyond reason. */
static void attend(ss_race *race, worker *w, bool heard)
{
    ss_rung rung;
    int status;
    if (heard && read(w->pipe, &rung, sizeof rung) == sizeof rung) {
        note(race, &w->task, &rung);
        return;
    }
    if (!heard && !interrupted && ss_clock_seconds() < w->deadline) return;
    if (!heard) kill(w->process, SIGKILL);
    waitpid(w->process, &status, 0);
    note_end(race, &w->task, status);
    close(w->pipe);
    w->process = 0;
}

static bool work(ss_race *race, const tasks *list, const stage *now, ss_error *err)
{
    worker workers[MOST_JOBS] = {{0}};
    struct pollfd polls[MOST_JOBS];
    bool told = isatty(STDERR_FILENO);
    int next = 0, busy = 1, jobs = now->jobs < MOST_JOBS ? now->jobs : MOST_JOBS;
    while (busy > 0) {
        busy = 0;
        for (int k = 0; k < jobs; k++) {
            if (workers[k].process == 0 && next < list->count && !interrupted) {
                if (told) fprintf(stderr, "\r%s %d of %d ", now->name, next + 1, list->count);
                if (!start(race, &workers[k], &list->items[next++], now, err)) return false;
            }
            busy += workers[k].process != 0;
            polls[k] = (struct pollfd){workers[k].process ? workers[k].pipe : -1, POLLIN, 0};
        }
        if (busy == 0) break;
        poll(polls, (nfds_t)jobs, 1000);
        for (int k = 0; k < jobs; k++) {
            if (workers[k].process) attend(race, &workers[k], polls[k].revents != 0);
        }
    }
    if (told) fprintf(stderr, "\n");
    return true;
}

/* ---- what is to be done --------------------------------------------------------------------------- */

static bool push(tasks *list, int contest, int entrant, ss_siconos_storage storage)
{
    if (list->count == list->room) {
        int room = 2 * list->room + 64;
        task *items = realloc(list->items, (size_t)room * sizeof *items);
        if (!items) return false;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = (task){contest, entrant, storage};
    return true;
}

/* Entrants [first, last) on all problems that they take. */
static bool plan_all(ss_race *race, int first, int last, tasks *list)
{
    bool good = true;
    for (int c = 0; good && c < race->contests.count; c++) {
        const ss_contest *contest = &race->contests.items[c];
        ss_problem *problem = ss_contest_problem(contest, NULL);
        ss_cone *made = problem ? ss_siconos_global(problem, NULL) : NULL;
        const ss_cone *global =
            contest->fclib && contest->fclib->cone->form == SS_CONE_GLOBAL ? contest->fclib->cone : made;
        good = problem != NULL;
        for (int e = first; good && e < last; e++) {
            if (!ss_entrant_refusal(&race->entrants[e], problem, global)) {
                good = push(list, c, e, SS_SICONOS_USUAL);
                continue;
            }
            for (int t = 0; t < SS_TARGETS; t++) ss_race_place(race, c, e, t)->end = 'r';
        }
        ss_cone_destroy(made);
        ss_problem_destroy(problem);
    }
    return good;
}

static bool planned(const tasks *list, int contest, int entrant, ss_siconos_storage storage)
{
    for (int k = list->count - 1; k >= 0 && list->items[k].contest == contest; k--) {
        if (list->items[k].entrant == entrant && list->items[k].storage == storage) return true;
    }
    return false;
}

/* The n-th fastest of entrants [first, last); -1 = there are fewer. */
static int ranked(const ss_race *race, int contest, int target, int first, int last, int n)
{
    double above = -1.0;
    int found = -1;
    for (int rank = 0; rank <= n; rank++) {
        found = -1;
        for (int e = first; e < last; e++) {
            double time = ss_race_place(race, contest, e, target)->processor;
            if (time <= above || isinf(time)) continue;
            if (found < 0 || time < ss_race_place(race, contest, found, target)->processor) found = e;
        }
        if (found < 0) return -1;
        above = ss_race_place(race, contest, found, target)->processor;
    }
    return found;
}

/* The fastest of both sides; the very fastest of Siconos with every way to store its matrix. */
static bool plan_final(const ss_race *race, tasks *list)
{
    bool good = true;
    for (int c = 0; c < race->contests.count; c++) {
        good = push(list, c, 0, SS_SICONOS_USUAL) && good;
        for (int t = 0; t < SS_TARGETS; t++) {
            for (int n = 0; n < CHOSEN; n++) {
                int ours = ranked(race, c, t, 1, race->our_count, n);
                int theirs = ranked(race, c, t, race->our_count, race->entrant_count, n);
                if (ours >= 0 && n < 2 && !planned(list, c, ours, SS_SICONOS_USUAL))
                    good = push(list, c, ours, SS_SICONOS_USUAL) && good;
                int storages = n == 0 ? SS_SICONOS_STORAGES : 1;
                for (int s = 0; theirs >= 0 && s < storages; s++) {
                    if (!planned(list, c, theirs, (ss_siconos_storage)s))
                        good = push(list, c, theirs, (ss_siconos_storage)s) && good;
                }
            }
        }
    }
    return good;
}

static void set_limits(ss_race *race)
{
    for (int c = 0; c < race->contests.count; c++) {
        double time = ss_race_place(race, c, 0, SS_TARGETS - 1)->processor;
        double most = isfinite(time) ? fmax(race->most_limit, 3.0 * time) : race->most_limit;
        race->limits[c] = fmin(most, fmax(race->least_limit, race->patience * time));
    }
}

/* After an interruption: problems on which not everybody ran say nothing about who solves them. */
static void drop_unfinished(ss_race *race)
{
    const size_t row = (size_t)race->entrant_count * SS_TARGETS;
    int kept = 0, count = race->contests.count;
    for (int c = 0; c < count; c++) {
        bool finished = true;
        for (int e = 0; e < race->entrant_count; e++)
            finished = finished && ss_race_place(race, c, e, 0)->end != 0;
        if (finished) {
            ss_contest contest = race->contests.items[c];
            race->contests.items[c] = race->contests.items[kept];
            race->contests.items[kept] = contest;
            memmove(ss_race_place(race, kept, 0, 0), ss_race_place(race, c, 0, 0),
                    row * sizeof *race->places);
            race->limits[kept++] = race->limits[c];
        }
    }
    for (int c = kept; c < count; c++) ss_contest_clear(&race->contests.items[c]);
    race->contests.count = kept;
    fprintf(stderr, "race_solvers: interrupted: %d of %d problems were finished\n", kept, count);
}

bool ss_race_run(ss_race *race, ss_error *err)
{
    tasks first = {0}, all = {0}, final = {0};
    const stage side_by_side = {0.01, 2, race->jobs, "race_solvers: heat"};
    const stage alone = {race->final_seconds, 5, 1, "race_solvers: final"};
    size_t places = (size_t)race->contests.count * (size_t)race->entrant_count * SS_TARGETS;
    race->limits = calloc((size_t)race->contests.count + 1, sizeof *race->limits);
    race->places = calloc(places + 1, sizeof *race->places);
    bool good = race->limits && race->places;
    for (size_t k = 0; good && k < places; k++)
        race->places[k] = (ss_place){.processor = INFINITY, .wall = INFINITY, .error = NAN};
    // of auto
    for (int c = 0; good && c < race->contests.count; c++) race->limits[c] = 10.0 * race->most_limit;
    good = good && plan_all(race, 0, 1, &first) && plan_all(race, 1, race->entrant_count, &all);
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the plan of the race");
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    good = good && work(race, &first, &side_by_side, err);
    if (good) set_limits(race);
    good = good && work(race, &all, &side_by_side, err);
    if (good && !plan_final(race, &final))
        good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the final");
    good = good && work(race, &final, &alone, err);
    if (good && interrupted) drop_unfinished(race);
    free(first.items), free(all.items), free(final.items);
    return good;
}

/* ---- questions ------------------------------------------------------------------------------------ */

int ss_race_best(const ss_race *race, int contest, int target, int first, int last)
{
    return ranked(race, contest, target, first, last, 0);
}

int ss_race_solved(const ss_race *race, int entrant, int target)
{
    int count = 0;
    for (int c = 0; c < race->contests.count; c++)
        count += isfinite(ss_race_place(race, c, entrant, target)->processor);
    return count;
}
