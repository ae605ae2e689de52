/* The race as tables: markdown for people, CSV for programs. */
#include "race.h"

#include "campaign/statistics.h"

#include <math.h>
#include <stdio.h>

static const char *seconds(double value, char text[32])
{
    ss_seconds_text(isfinite(value) ? value : NAN, text, 32);
    return text;
}

static double time_of(const ss_race *race, int contest, int entrant, int target)
{
    return entrant < 0 ? INFINITY : ss_race_place(race, contest, entrant, target)->processor;
}

static const char *name_of(const ss_race *race, int entrant)
{
    return entrant < 0 ? "-" : race->entrants[entrant].name;
}

typedef struct sums {
    int both, slower, twice, ours, theirs, any_theirs, any_ours;
    double logs, best_logs;
} sums;

static void row(const ss_race *race, int contest, int target, sums *of, ss_text *text)
{
    const ss_contest *what = &race->contests.items[contest];
    int best = ss_race_best(race, contest, target, race->our_count, race->entrant_count);
    int single = ss_race_best(race, contest, target, 1, race->our_count);
    double ours = time_of(race, contest, 0, target), theirs = time_of(race, contest, best, target);
    double alone = time_of(race, contest, single, target);
    char a[32], b[32], c[32], ratio[32] = "-";
    bool both = isfinite(ours) && isfinite(theirs);
    if (both)
        snprintf(ratio, sizeof ratio, ours > theirs ? "**%.2f**" : "%.2g", ours / theirs);
    else if (isfinite(ours) != isfinite(theirs))
        snprintf(ratio, sizeof ratio, isfinite(ours) ? "ours" : "**theirs**");
    ss_text_appendf(text, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", what->name, what->contacts,
                    name_of(race, best), seconds(theirs, a), seconds(ours, b), ratio, name_of(race, single),
                    seconds(alone, c));
    of->any_theirs += isfinite(theirs);
    of->any_ours += isfinite(fmin(ours, alone));
    of->ours += isfinite(ours) && !isfinite(theirs);
    of->theirs += isfinite(theirs) && !isfinite(ours);
    if (!both) return;
    of->both++;
    of->slower += ours > theirs;
    of->twice += ours > 2.0 * theirs;
    of->logs += log(ours / theirs);
    of->best_logs += log(fmin(ours, alone) / theirs);
}

static void summary(const ss_race *race, int target, const sums *of, ss_text *text)
{
    int count = race->contests.count;
    ss_text_appendf(text, "\nOf %d problem%s `auto` solved %d, some solver of ours %d", count,
                    count == 1 ? "" : "s", ss_race_solved(race, 0, target), of->any_ours);
    if (race->our_count == race->entrant_count) {
        ss_text_append(text, ss_siconos_count() == 0
                                 ? ". Siconos is not installed, so there is no comparison.\n"
                                 : ". No variant of Siconos raced.\n");
        return;
    }
    ss_text_appendf(text, ", some variant of Siconos %d; only `auto` %d, only Siconos %d.\n", of->any_theirs,
                    of->ours, of->theirs);
    if (of->both > 0) {
        ss_text_appendf(
            text,
            "`auto` over the best variant in hindsight, where both solved: geometric mean %.3f, "
            "slower on %d, more than twice as slow on %d of %d. Our best single solver in hindsight "
            "instead of `auto`: %.3f.\n",
            exp(of->logs / of->both), of->slower, of->twice, of->both, exp(of->best_logs / of->both));
    }
}

static void problems(const ss_race *race, int target, ss_text *text)
{
    sums of = {0};
    ss_text_appendf(text, "\n## To a relative natural map of %s\n\n", ss_target_names[target]);
    ss_text_append(
        text,
        "| problem | contacts | best of Siconos | its time | auto | auto / best | our best single | its "
        "time |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int c = 0; c < race->contests.count; c++) row(race, c, target, &of, text);
    summary(race, target, &of, text);
}

static int taken(const ss_race *race, int entrant)
{
    int count = 0;
    for (int c = 0; c < race->contests.count; c++) {
        char end = ss_race_place(race, c, entrant, 0)->end;
        count += end != 'r' && end != 0;
    }
    return count;
}

static int firsts(const ss_race *race, int entrant, int target, int first, int last)
{
    int count = 0;
    for (int c = 0; c < race->contests.count; c++)
        count += ss_race_best(race, c, target, first, last) == entrant;
    return count;
}

static void solvers(const ss_race *race, ss_text *text)
{
    ss_text_append(
        text,
        "\n## Who solves how many\n\n| solver | takes | 1e-4 | 1e-8 | first of its side at 1e-4 | at 1e-8 "
        "|\n| --- | --- | --- | --- | --- | --- |\n");
    for (int e = 0; e < race->entrant_count; e++) {
        int of = taken(race, e), first = e < race->our_count ? 1 : race->our_count;
        int last = e < race->our_count ? race->our_count : race->entrant_count;
        if (of == 0) continue;
        ss_text_appendf(text, "| %s%s | %d | %d | %d |", e < race->our_count ? "" : "Siconos ",
                        race->entrants[e].name, of, ss_race_solved(race, e, 0), ss_race_solved(race, e, 1));
        if (e == 0)
            ss_text_append(text, " | |\n");
        else
            ss_text_appendf(text, " %d | %d |\n", firsts(race, e, 0, first, last),
                            firsts(race, e, 1, first, last));
    }
}

void ss_race_markdown(const ss_race *race, ss_text *text)
{
    for (int t = 0; t < SS_TARGETS; t++) problems(race, t, text);
    solvers(race, text);
}

static const char *end_name(char end)
{
    switch (end) {
    case 's':
        return "solved";
    case 'i':
        return "inaccurate";
    case 't':
        return "time limit";
    case 'c':
        return "ended the process";
    case 'r':
        return "not applicable";
    default:
        return "not run";
    }
}

void ss_race_csv(const ss_race *race, ss_text *text)
{
    ss_text_append(text,
                   "problem,contacts,side,solver,tolerance,end,processor_seconds,wall_seconds,natural_map,"
                   "own_tolerance,iterations,limit_seconds\r\n");
    for (int c = 0; c < race->contests.count; c++) {
        for (int e = 0; e < race->entrant_count; e++) {
            for (int t = 0; t < SS_TARGETS; t++) {
                const ss_place *place = ss_race_place(race, c, e, t);
                if (place->end == 'r') continue;
                ss_text_appendf(text, "%s,%d,%s,%s,%g,%s,", race->contests.items[c].name,
                                race->contests.items[c].contacts,
                                e < race->our_count ? "stickslip" : "siconos", race->entrants[e].name,
                                ss_targets[t], end_name(place->end));
                if (place->end == 's')
                    ss_text_appendf(text, "%.6g,%.6g", place->processor, place->wall);
                else
                    ss_text_append(text, ",");
                if (isnan(place->error))
                    ss_text_append(text, ",");
                else
                    ss_text_appendf(text, ",%.3g", place->error);
                ss_text_appendf(text, ",%g,%d,%g\r\n", place->own, place->iterations, race->limits[c]);
            }
        }
    }
}
