#include "campaign/record.h"

#include "base/digest.h"

#include <math.h>
#include <string.h>

/* ---- from a result -------------------------------------------------------------------------------- */

void ss_record_answer(const double *x, int size, char text[33])
{
    ss_digest digest = ss_digest_start();
    ss_digest_add(&digest, (uint64_t)size);
    ss_digest_add_reals(&digest, x, (size_t)size);
    ss_digest_print(&digest, text);
}

/* The history begins after `before` iterations that are not in it: those of other ordinary frames, where
 * alternatives were selected. */
static void keep_point(const ss_history *history, int before, int iteration, ss_history_point *point)
{
    int at = iteration - before - 1;
    *point = (ss_history_point){.iteration = iteration, .seconds = history->seconds[at]};
    for (int g = 0; g < SS_GAUGE_COUNT; g++) point->gauge[g] = history->gauge[g][at];
}

static void find_crossings(const ss_history *history, int before, ss_gauge gauge, ss_run_entry *run)
{
    int decade = 0;
    for (int i = 0; i < history->count && decade < SS_DECADES; i++) {
        double value = history->gauge[gauge][i];
        for (; decade < SS_DECADES && value < pow(10.0, -decade); decade++)
            run->crossings[run->crossing_count++] =
                (ss_crossing){gauge, decade, before + i + 1, history->seconds[i]};
    }
}

/* Metrics, and how many contacts have an error in each bin: half a decade of J. */
static bool keep_judgement(const ss_metric_value *metrics, const ss_contact_report *contacts, int count,
                           ss_run_entry *run)
{
    run->bins = ss_allocate((size_t)count, sizeof *run->bins);
    run->metrics = ss_allocate((size_t)ss_metric_count(), sizeof *run->metrics);
    if (!run->bins || !run->metrics) return false;

    for (int i = 0; i < count; i++) {
        // Values that are not finite are counted nowhere: the metrics have them.
        double energy = contacts[i].energy;
        if (!isfinite(energy)) continue;
        double half_decade = energy > 0 ? floor(2.0 * log10(energy)) : SS_LEAST_BIN;
        int bin = half_decade < SS_LEAST_BIN ? SS_LEAST_BIN : half_decade > 600 ? 600 : (int)half_decade;
        int at = 0;
        while (at < run->bin_count && run->bins[at].bin < bin) at++;
        if (at == run->bin_count || run->bins[at].bin != bin) {
            memmove(run->bins + at + 1, run->bins + at, (size_t)(run->bin_count - at) * sizeof *run->bins);
            run->bins[at] = (ss_bin){bin, 0};
            run->bin_count++;
        }
        run->bins[at].count++;
    }

    for (int i = 0; i < ss_metric_count(); i++) {
        run->metrics[i] = metrics[i];
        run->metrics[i].why = NULL;
        if (metrics[i].applies || !metrics[i].why) continue;
        run->metrics[i].why = ss_text_copy(metrics[i].why);
        if (!run->metrics[i].why) return false;
    }
    return true;
}

/* What the solver says of its run: of the history the iterations of a grid, which grows thinner, and the
 * last. */
static bool keep_result(const ss_solve_result *result, bool selected, ss_run_entry *run)
{
    const ss_history *history = &result->history;
    int before = selected && history->count ? result->iterations - history->count : 0;
    run->iterations = result->iterations;
    run->kept_iteration = result->kept_iteration;
    run->seconds = result->seconds;
    run->elapsed = result->elapsed;
    run->memory = (double)result->memory;
    memcpy(run->gauge, result->gauge, sizeof run->gauge);

    int last = before + history->count, room = 1;
    for (int i = ss_history_grid(before); i <= last; i = ss_history_grid(i)) room++;
    run->crossings = ss_allocate((size_t)2 * SS_DECADES, sizeof *run->crossings);
    run->history = ss_allocate((size_t)room, sizeof *run->history);
    if (!run->crossings || !run->history) return false;
    if (history->count == 0) return true;
    for (int i = ss_history_grid(before); i <= last; i = ss_history_grid(i))
        keep_point(history, before, i, &run->history[run->history_count++]);
    if (run->history_count == 0 || run->history[run->history_count - 1].iteration != last)
        keep_point(history, before, last, &run->history[run->history_count++]);
    find_crossings(history, before, SS_GAUGE_RELATIVE_ENERGY, run);
    find_crossings(history, before, SS_GAUGE_NATURAL_MAP, run);
    return true;
}

bool ss_record_make(const ss_result *result, ss_run_entry *run, ss_error *err)
{
    *run = (ss_run_entry){
        .outcome = (ss_outcome)result->run.status, .unknowns = result->problem->size, .steady = true};
    bool good = keep_result(&result->run, result->peg != NULL, run);

    if (result->refusal) {
        run->message = ss_text_copy(result->refusal);
        good = good && run->message;
        for (int g = 0; g < SS_GAUGE_COUNT; g++) run->gauge[g] = NAN; // of a start that was not improved
    } else {
        good = good && keep_judgement(result->metrics, result->contacts, result->contact_count, run);
        ss_status status = result->run.status;
        if ((status == SS_FAILED || status == SS_NOT_APPLICABLE) && result->run.notes) {
            run->message = ss_text_copy(result->run.notes);
            good = good && run->message;
        }
        ss_record_answer(result->x, result->problem->size, run->answer);
    }

    if (good) return true;
    ss_record_clear(run);
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a record");
}

/* Everything that an answer holds, each list behind its length. */
static void digest_answer(const ss_answer *answer, char text[33])
{
    ss_digest digest = ss_digest_start();
    ss_digest_add(&digest, (uint64_t)answer->bodies);
    for (int b = 0; b < answer->bodies; b++) ss_digest_add_reals(&digest, answer->velocity[b], 6);
    ss_digest_add(&digest, (uint64_t)answer->rows);
    if (answer->rows) ss_digest_add_reals(&digest, answer->row_impulse, (size_t)answer->rows);

    ss_digest_add(&digest, (uint64_t)answer->contacts);
    if (answer->contacts) ss_digest_add_reals(&digest, answer->normal_impulse, (size_t)answer->contacts);
    for (int c = 0; c < answer->contacts; c++) {
        ss_digest_add_reals(&digest, answer->friction_impulse[c], 3);
        if (answer->rolling_impulse) ss_digest_add_reals(&digest, answer->rolling_impulse[c], 3);
    }

    for (int g = 0; g < answer->groups; g++) ss_digest_add(&digest, (uint64_t)(int64_t)answer->selection[g]);
    for (int r = 0; r < answer->subcontacts; r++) {
        ss_digest_add_reals(&digest, &answer->sub_normal_impulse[r], 1);
        ss_digest_add_reals(&digest, answer->sub_friction_impulse[r], 3);
        if (answer->sub_rolling_impulse) ss_digest_add_reals(&digest, answer->sub_rolling_impulse[r], 3);
    }
    ss_digest_print(&digest, text);
}

bool ss_record_stored(const ss_stored_result *stored, const ss_metric_value *metrics,
                      const ss_contact_report *contacts, ss_run_entry *run, ss_error *err)
{
    *run = (ss_run_entry){.outcome = SS_OUTCOME_RECORDED,
                          .iterations = stored->iterations > 0 ? stored->iterations : 0,
                          .seconds = stored->seconds,
                          .elapsed = NAN,
                          .time_limit = NAN,
                          .memory = NAN,
                          .steady = true};
    run->kept_iteration = run->iterations;
    for (int g = 0; g < SS_GAUGE_COUNT; g++) run->gauge[g] = NAN; // of a problem that only the engine knows

    bool good = true;
    if (metrics) {
        good = keep_judgement(metrics, contacts, stored->answer->contacts, run);
        digest_answer(stored->answer, run->answer);
    } else {
        run->message = ss_text_copy("incomplete: velocities or impulses are missing");
        good = run->message != NULL;
    }

    if (good) return true;
    ss_record_clear(run);
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a record");
}

void ss_record_clear(ss_run_entry *run)
{
    for (int i = 0; run->metrics && i < ss_metric_count(); i++)
        ss_release((char *)(uintptr_t)run->metrics[i].why);
    ss_release(run->metrics);
    ss_release(run->message);
    ss_release(run->started);
    ss_release(run->history);
    ss_release(run->crossings);
    ss_release(run->bins);
    ss_release(run->samples);
    *run = (ss_run_entry){0};
}

/* ---- through a pipe ------------------------------------------------------------------------------ */

void ss_record_pack(const ss_run_entry *run, ss_text *to)
{
    ss_pack_int(to, run->outcome), ss_pack_text(to, run->message);
    ss_pack_int(to, run->unknowns), ss_pack_int(to, run->iterations), ss_pack_int(to, run->kept_iteration);
    ss_pack_real(to, run->seconds), ss_pack_real(to, run->elapsed), ss_pack_real(to, run->memory);
    for (int g = 0; g < SS_GAUGE_COUNT; g++) ss_pack_real(to, run->gauge[g]);
    ss_pack_text(to, run->answer);

    // Lists behind their lengths; of metrics there are all or none.
    ss_pack_int(to, run->metrics != NULL);
    for (int i = 0; run->metrics && i < ss_metric_count(); i++) {
        const ss_metric_value *value = &run->metrics[i];
        ss_pack_int(to, value->applies), ss_pack_real(to, value->value);
        ss_pack_int(to, value->worst_contact), ss_pack_int(to, value->worst_constraint);
        ss_pack_text(to, value->why);
    }
    ss_pack_int(to, run->history_count);
    for (int i = 0; i < run->history_count; i++) {
        ss_pack_int(to, run->history[i].iteration), ss_pack_real(to, run->history[i].seconds);
        for (int g = 0; g < SS_GAUGE_COUNT; g++) ss_pack_real(to, run->history[i].gauge[g]);
    }
    ss_pack_int(to, run->crossing_count);
    for (int i = 0; i < run->crossing_count; i++) {
        const ss_crossing *crossing = &run->crossings[i];
        ss_pack_int(to, crossing->gauge), ss_pack_int(to, crossing->decade);
        ss_pack_int(to, crossing->iteration), ss_pack_real(to, crossing->seconds);
    }
    ss_pack_int(to, run->bin_count);
    for (int i = 0; i < run->bin_count; i++)
        ss_pack_int(to, run->bins[i].bin), ss_pack_int(to, run->bins[i].count);
}

/* Room for `count` things that take at least `bytes` each in what is left to read. */
static void *make_room(ss_unpacker *from, int *count, size_t item, size_t bytes)
{
    int most = (int)((size_t)(from->end - from->at) / bytes);
    *count = ss_unpack_within(from, 0, most);
    void *room = from->bad ? NULL : ss_allocate((size_t)*count, item);
    if (!room) from->bad = true, *count = 0;
    return room;
}

bool ss_record_unpack(ss_unpacker *from, ss_run_entry *run)
{
    *run = (ss_run_entry){.steady = true};
    run->outcome = (ss_outcome)ss_unpack_within(from, 0, SS_OUTCOME_COUNT - 1);
    run->message = ss_unpack_text(from);
    run->unknowns = ss_unpack_within(from, 0, INT32_MAX);
    run->iterations = ss_unpack_within(from, 0, INT32_MAX);
    run->kept_iteration = ss_unpack_within(from, -1, INT32_MAX);
    run->seconds = ss_unpack_real(from);
    run->elapsed = ss_unpack_real(from);
    run->memory = ss_unpack_real(from);
    for (int g = 0; g < SS_GAUGE_COUNT; g++) run->gauge[g] = ss_unpack_real(from);
    char *answer = ss_unpack_text(from);
    if (!answer || strlen(answer) >= sizeof run->answer) from->bad = true;
    if (!from->bad) memcpy(run->answer, answer, strlen(answer) + 1);
    ss_release(answer);

    if (!from->bad && ss_unpack_within(from, 0, 1) && !from->bad) {
        run->metrics = ss_allocate((size_t)ss_metric_count(), sizeof *run->metrics);
        if (!run->metrics) from->bad = true;
    }
    for (int i = 0; run->metrics && i < ss_metric_count() && !from->bad; i++) {
        ss_metric_value *value = &run->metrics[i];
        value->applies = ss_unpack_within(from, 0, 1);
        value->value = ss_unpack_real(from);
        value->worst_contact = ss_unpack_within(from, -1, INT32_MAX);
        value->worst_constraint = ss_unpack_within(from, -1, INT32_MAX);
        value->why = ss_unpack_text(from);
    }

    // From here on lists are empty once something was wrong.
    run->history = make_room(from, &run->history_count, sizeof *run->history, sizeof(double));
    for (int i = 0; i < run->history_count; i++) {
        run->history[i].iteration = ss_unpack_within(from, 1, INT32_MAX);
        run->history[i].seconds = ss_unpack_real(from);
        for (int g = 0; g < SS_GAUGE_COUNT; g++) run->history[i].gauge[g] = ss_unpack_real(from);
    }
    run->crossings = make_room(from, &run->crossing_count, sizeof *run->crossings, sizeof(double));
    for (int i = 0; i < run->crossing_count; i++) {
        run->crossings[i].gauge = (ss_gauge)ss_unpack_within(from, 0, SS_GAUGE_COUNT - 1);
        run->crossings[i].decade = ss_unpack_within(from, 0, SS_DECADES - 1);
        run->crossings[i].iteration = ss_unpack_within(from, 1, INT32_MAX);
        run->crossings[i].seconds = ss_unpack_real(from);
    }
    run->bins = make_room(from, &run->bin_count, sizeof *run->bins, sizeof(double));
    for (int i = 0; i < run->bin_count; i++) {
        run->bins[i].bin = ss_unpack_within(from, SS_LEAST_BIN, INT32_MAX);
        run->bins[i].count = ss_unpack_within(from, 1, INT32_MAX);
    }
    if (!from->bad && from->at == from->end) return true;
    ss_record_clear(run);
    return false;
}
