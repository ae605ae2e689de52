/* Our solvers beside all friction solvers of Siconos Numerics, on the same problems (docs/race.md
 * has the rules).
 *
 *     race_solvers [OPTION]... FILE...
 *
 * FCLIB files, and every frame with contacts of BPMD files. Tables go to standard output.
 */
#include "race.h"

#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct words {
    const char *page, *csv, *append, *only;
    double limit;
    int jobs;
    bool quick;
    int first_file;
} words;

static const char usage[] =
    "usage: race_solvers [OPTION]... FILE...\n"
    "  --quick        shorter limits: seconds instead of minutes\n"
    "  --limit S      processor time one solve may take at most, in s (default 1, quick 0.1)\n"
    "  --jobs N       heats side by side (default 1); the final is always run alone\n"
    "  --only LIST    solvers that race, by name: auto,nsgs,NSGS-AC; auto always does\n"
    "  --csv FILE     every time, for programs\n"
    "  --page FILE    the tables and performance profiles as one HTML file\n"
    "  --append FILE  text that the page shows at its end\n"
    "  --list         the variants of Siconos that there are\n"
    "  --help         this text\n";

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "race_solvers: %s: %s\n%s", what, why, usage);
    return 2;
}

/* 0 when the words make sense; else the exit code, with something said. */
static int read_words(int count, char **list, words *to)
{
    *to = (words){.jobs = 1};
    int k = 1;
    for (; k < count && strncmp(list[k], "--", 2) == 0; k++) {
        const char *name = list[k], *value = k + 1 < count ? list[k + 1] : NULL;
        const char **text = strcmp(name, "--page") == 0     ? &to->page
                            : strcmp(name, "--csv") == 0    ? &to->csv
                            : strcmp(name, "--append") == 0 ? &to->append
                            : strcmp(name, "--only") == 0   ? &to->only
                                                            : NULL;
        bool number = strcmp(name, "--limit") == 0 || strcmp(name, "--jobs") == 0;
        double given = 0.0;
        if (strcmp(name, "--quick") == 0) {
            to->quick = true;
            continue;
        }
        if (!text && !number) return fail(name, "no such option");
        if (!value) return fail(name, "needs a value");
        if (number && (!ss_number_read(value, &given) || !(given > 0.0) || given > 1e4))
            return fail(name, "must be a positive number");
        if (text) *text = value;
        if (strcmp(name, "--limit") == 0) to->limit = given;
        if (strcmp(name, "--jobs") == 0) to->jobs = given < 1.0 ? 1 : (int)given;
        k++;
    }
    to->first_file = k;
    return k < count ? 0 : fail("FILE", "which problems?");
}

/* What comes at the end of a long race is tried before it. */
static bool check_outputs(const words *of, ss_error *err)
{
    const char *paths[] = {of->csv, of->page};
    for (int k = 0; k < 2; k++) {
        const char *slash = paths[k] ? strrchr(paths[k], '/') : NULL;
        char folder[4096] = ".";
        if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - paths[k] + 1), paths[k]);
        if (paths[k] && access(folder, W_OK) != 0)
            return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s", paths[k], strerror(errno));
    }
    if (of->append && access(of->append, R_OK) != 0)
        return ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read: %s", of->append, strerror(errno));
    return true;
}

/* ---- entrants ------------------------------------------------------------------------------------- */

static bool wanted(const char *only, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = only; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return only == NULL;
}

static bool races(const char *name, size_t length)
{
    for (int k = 0; k < ss_solver_count(); k++) {
        const ss_solver *solver = ss_solver_at(k);
        bool same = strncmp(solver->name, name, length) == 0 && solver->name[length] == '\0';
        if (same && (solver->laws & SS_LAW_CONE)) return true;
    }
    for (int k = 0; k < ss_siconos_count(); k++) {
        const char *theirs = ss_siconos_name(k);
        if (strncmp(theirs, name, length) == 0 && theirs[length] == '\0') return true;
    }
    return false;
}

/* Where Siconos is not installed it is unknown which names it would have. */
static int check_names(const char *only)
{
    for (const char *at = only; at && ss_siconos_count() > 0;) {
        size_t length = strcspn(at, ",");
        if (!races(at, length)) {
            fprintf(stderr,
                    "race_solvers: --only: '%.*s' does not race: neither a solver of ours that takes cones "
                    "(stickslip solvers) nor a variant of Siconos (race_solvers --list)\n",
                    (int)length, at);
            return 2;
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return 0;
}

static void enter(ss_race *race, const ss_solver *ours, int variant, const char *name)
{
    ss_entrant *entrant = &race->entrants[race->entrant_count++];
    *entrant = (ss_entrant){.ours = ours, .variant = variant};
    snprintf(entrant->name, sizeof entrant->name, "%s", name);
}

static bool make_entrants(ss_race *race, const char *only, ss_error *err)
{
    const ss_solver *first = ss_solver_find("auto");
    race->entrants =
        calloc((size_t)ss_solver_count() + (size_t)ss_siconos_count() + 1, sizeof *race->entrants);
    if (!race->entrants) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the entrants");
    enter(race, first, -1, first->name);
    for (int k = 0; k < ss_solver_count(); k++) {
        const ss_solver *solver = ss_solver_at(k);
        if (solver != first && (solver->laws & SS_LAW_CONE) && wanted(only, solver->name))
            enter(race, solver, -1, solver->name);
    }
    race->our_count = race->entrant_count;
    for (int k = 0; k < ss_siconos_count(); k++) {
        if (wanted(only, ss_siconos_name(k))) enter(race, NULL, k, ss_siconos_name(k));
    }
    return true;
}

/* ---- files ---------------------------------------------------------------------------------------- */

static bool read_text(const char *path, ss_text *text, ss_error *err)
{
    char piece[4096];
    FILE *file = fopen(path, "rb");
    if (!file) return ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read", path);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) ss_text_append_bytes(text, piece, got);
    fclose(file);
    return true;
}

static bool write_text(const char *path, const ss_text *text, ss_error *err)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(ss_text_get(text), 1, text->length, file) == text->length;
    if (file) good = fclose(file) == 0 && good;
    return good || ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written", path);
}

static bool show(const ss_race *race, const words *of, ss_error *err)
{
    ss_text table = {0}, csv = {0}, more = {0};
    ss_race_markdown(race, &table);
    fputs(ss_text_get(&table), stdout);
    bool good = true;
    if (of->csv) {
        ss_race_csv(race, &csv);
        good = write_text(of->csv, &csv, err);
    }
    if (good && of->page)
        good = (!of->append || read_text(of->append, &more, err)) &&
               ss_race_page(race, ss_text_get(&more), of->page, err);
    ss_text_free(&table), ss_text_free(&csv), ss_text_free(&more);
    return good;
}

/* ---- the program ---------------------------------------------------------------------------------- */

/* One thread everywhere: libraries read this when they are loaded, so the program begins again. */
static void be_alone(char **list)
{
    if (getenv("OPENBLAS_NUM_THREADS") && getenv("OMP_NUM_THREADS")) return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", list);
}

static int list_variants(void)
{
    for (int k = 0; k < ss_siconos_count(); k++) printf("%s\n", ss_siconos_name(k));
    if (ss_siconos_count() == 0) fprintf(stderr, "race_solvers: Siconos is not installed: skipped\n");
    return 0;
}

int main(int count, char **list)
{
    words of;
    ss_error err = {0};
    if (count == 2 && strcmp(list[1], "--list") == 0) return list_variants();
    if (count == 2 && strcmp(list[1], "--help") == 0) return fputs(usage, stdout), 0;
    int code = read_words(count, list, &of);
    if (code == 0) code = check_names(of.only);
    if (code != 0) return code;
    be_alone(list);
    ss_race race = {.jobs = of.jobs,
                    .least_limit = of.quick ? 0.01 : 0.1,
                    .most_limit = of.limit > 0.0 ? of.limit
                                  : of.quick     ? 0.1
                                                 : 1.0,
                    .patience = of.quick ? 10.0 : 30.0,
                    .final_seconds = of.quick ? 0.02 : 0.1};
    if (ss_siconos_count() == 0)
        fprintf(stderr,
                "race_solvers: Siconos is not installed (tools/setup peers): only our solvers race\n");
    bool good = check_outputs(&of, &err) && make_entrants(&race, of.only, &err);
    for (int k = of.first_file; good && k < count; k++) good = ss_contests_add(&race.contests, list[k], &err);
    if (good && race.contests.count == 0)
        good = ss_fail(&err, SS_ERROR_INPUT, "there is nothing to race: no problem of contacts alone");
    good = good && ss_race_run(&race, &err) && show(&race, &of, &err);
    if (!good) fprintf(stderr, "race_solvers: %s\n", err.message);
    ss_contests_free(&race.contests);
    free(race.entrants), free(race.places), free(race.limits);
    return good ? 0 : err.code == SS_ERROR_RESOURCES ? 4 : 3;
}
