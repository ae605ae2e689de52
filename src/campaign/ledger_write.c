/* Rows into the ledger. */
#include "campaign/ledger_internal.h"

#include "base/digest.h"
#include "solver/core/names.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- machines, problems, methods ---------------------------------------------------------------------- */

static void add_text(ss_digest *digest, const char *text)
{
    ss_digest_add_text(digest, text ? text : "");
}

/* The id that the bound statement finds; 0 = none. */
static bool find_id(ss_ledger *ledger, sqlite3_stmt *find, int64_t *id, ss_error *err)
{
    ss_step step = ss_ledger_step(ledger, find, err);
    *id = step == SS_STEP_ROW ? sqlite3_column_int64(find, 0) : 0;
    sqlite3_reset(find);
    return step != SS_STEP_FAILED;
}

static bool finish_adding(ss_ledger *ledger, sqlite3_stmt *add, int64_t *id, ss_error *err)
{
    if (!ss_ledger_finish(ledger, add, err)) return false;
    *id = sqlite3_last_insert_rowid(ledger->db);
    return true;
}

bool ss_ledger_machine(ss_ledger *ledger, ss_machine *machine, ss_error *err)
{
    const char *const texts[] = {machine->cpu, machine->system, machine->version, machine->compiler,
                                 machine->build};
    if (!machine->key[0]) {
        ss_digest digest = ss_digest_start();
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) add_text(&digest, texts[i]);
        ss_digest_add(&digest, (uint64_t)machine->cores);
        ss_digest_print(&digest, machine->key);
    }
    sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_FIND_MACHINE, err);
    if (!s) return false;
    ss_bind_text(s, 1, machine->key);
    if (!find_id(ledger, s, &machine->id, err)) return false;
    if (machine->id) return true;

    s = ss_ledger_statement(ledger, SS_SQL_ADD_MACHINE, err);
    if (!s) return false;
    ss_bind_text(s, 1, machine->key);
    ss_bind_text(s, 2, machine->cpu);
    sqlite3_bind_int(s, 3, machine->cores);
    for (int i = 1; i < 5; i++) ss_bind_text(s, 3 + i, texts[i]);
    return finish_adding(ledger, s, &machine->id, err);
}

bool ss_ledger_problem(ss_ledger *ledger, ss_problem_entry *p, ss_error *err)
{
    sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_FIND_PROBLEM, err);
    if (!s) return false;
    ss_bind_text(s, 1, p->hash);
    ss_bind_text(s, 2, p->place);
    if (!find_id(ledger, s, &p->id, err)) return false;
    if (p->id) return true;

    s = ss_ledger_statement(ledger, SS_SQL_ADD_PROBLEM, err);
    if (!s) return false;
    const char *const texts[] = {p->hash, p->place, p->file, p->format};
    const int counts[] = {p->bodies, p->joints, p->rows, p->contacts};
    const double reals[] = {p->mass_ratio, p->density, p->rank_ratio, p->mu_least, p->mu_most};
    for (int i = 0; i < 4; i++) ss_bind_text(s, 1 + i, texts[i]);
    sqlite3_bind_int(s, 5, p->index);
    ss_bind_text(s, 6, p->scene);
    ss_bind_real(s, 7, p->time);
    ss_bind_real(s, 8, p->h);
    for (int i = 0; i < 4; i++) sqlite3_bind_int(s, 9 + i, counts[i]);
    for (int i = 0; i < 5; i++) ss_bind_real(s, 13 + i, reals[i]);
    ss_bind_maybe(s, 18, p->fault);
    ss_bind_maybe(s, 19, p->collection);
    return finish_adding(ledger, s, &p->id, err);
}

bool ss_ledger_forget_file(ss_ledger *ledger, const char *path, ss_error *err)
{
    sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_FORGET_FILE, err);
    if (!s) return false;
    ss_bind_text(s, 1, path);
    return ss_ledger_finish(ledger, s, err);
}

bool ss_ledger_method(ss_ledger *ledger, ss_method_entry *m, ss_error *err)
{
    if (!m->key[0]) {
        ss_digest digest = ss_digest_start();
        const char *solver = ss_solver_former_name(m->solver); // ledgers from before it was renamed continue
        const char *reference = m->reference ? ss_solver_former_name(ss_solver_name(m->reference)) : NULL;
        const char *const parts[] = {m->formulation, m->with, solver,  m->set,
                                     m->plugin,      m->stop, m->keep, reference};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) add_text(&digest, parts[i]);
        ss_digest_add(&digest, (uint64_t)m->iterations);
        ss_digest_add(&digest, (uint64_t)m->seed);
        ss_digest_add_reals(&digest, &m->time_limit, 1);
        // only where they are not as usual: ledgers from before there was a choice keep their keys
        if (ss_method_counts_processor(m)) add_text(&digest, m->clock);
        if (m->limit_by && *m->limit_by) add_text(&digest, m->limit_by);
        ss_digest_print(&digest, m->key);
    }
    sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_FIND_METHOD, err);
    if (!s) return false;
    ss_bind_text(s, 1, m->key);
    if (!find_id(ledger, s, &m->id, err)) return false;
    if (m->id) return true;

    s = ss_ledger_statement(ledger, SS_SQL_ADD_METHOD, err);
    if (!s) return false;
    const char *const texts[] = {m->key, m->formulation, m->with, m->solver,
                                 m->set, m->plugin,      m->stop, m->keep};
    for (int i = 0; i < 8; i++) ss_bind_text(s, 1 + i, texts[i]);
    sqlite3_bind_int(s, 9, m->iterations);
    ss_bind_real(s, 10, m->time_limit);
    sqlite3_bind_int(s, 11, m->seed);
    ss_bind_text(s, 12, m->reference);
    ss_bind_text(s, 13, m->plugin_file);
    ss_bind_text(s, 14, m->clock ? m->clock : SS_CLOCK_WALL);
    ss_bind_maybe(s, 15, m->limit_by && *m->limit_by ? m->limit_by : NULL);
    return finish_adding(ledger, s, &m->id, err);
}

bool ss_ledger_note_campaign(ss_ledger *ledger, const char *campaign, int64_t machine_id, ss_error *err)
{
    char now[32];
    time_t seconds = time(NULL);
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || !strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc)) now[0] = '\0';
    sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_ADD_CAMPAIGN, err);
    if (!s) return false;
    sqlite3_bind_int64(s, 1, machine_id);
    ss_bind_text(s, 2, now);
    ss_bind_text(s, 3, campaign);
    return ss_ledger_finish(ledger, s, err);
}

/* ---- runs --------------------------------------------------------------------------------------------- */

static void bind_gauges(sqlite3_stmt *s, int first, const double gauge[SS_GAUGE_COUNT])
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) ss_bind_real(s, first + g, gauge[g]);
}

bool ss_ledger_add_row(ss_ledger *ledger, const ss_run_entry *run, int64_t *id, bool *added, ss_error *err)
{
    sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_ADD_RUN, err);
    if (!s) return false;
    sqlite3_bind_int64(s, 1, run->problem_id);
    sqlite3_bind_int64(s, 2, run->method_id);
    sqlite3_bind_int64(s, 3, run->machine_id);
    ss_bind_text(s, 4, ss_outcome_name(run->outcome));
    ss_bind_maybe(s, 5, run->message);
    ss_bind_maybe(s, 6, run->started);
    sqlite3_bind_int(s, 7, run->unknowns);
    sqlite3_bind_int(s, 8, run->iterations);
    sqlite3_bind_int(s, 9, run->kept_iteration);
    ss_bind_real(s, 10, run->seconds);
    ss_bind_real(s, 11, run->memory);
    ss_bind_text(s, 12, run->answer);
    sqlite3_bind_int(s, 13, run->steady);
    bind_gauges(s, 14, run->gauge);
    ss_bind_real(s, 14 + SS_GAUGE_COUNT, run->elapsed);
    ss_bind_real(s, 15 + SS_GAUGE_COUNT, run->time_limit);
    ss_bind_maybe(s, 16 + SS_GAUGE_COUNT, run->source[0] ? run->source : NULL);
    if (!finish_adding(ledger, s, id, err)) return false;
    *added = sqlite3_changes(ledger->db) > 0;
    return true;
}

/* -1 is nothing */
static void bind_index(sqlite3_stmt *s, int place, int index)
{
    if (index < 0)
        sqlite3_bind_null(s, place);
    else
        sqlite3_bind_int(s, place, index);
}

static bool add_samples(ss_ledger *ledger, int64_t run, int first, const ss_sample *samples, int count,
                        ss_error *err)
{
    for (int i = 0; i < count; i++) {
        sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_ADD_SAMPLE, err);
        if (!s) return false;
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int(s, 2, first + i);
        ss_bind_real(s, 3, samples[i].seconds);
        ss_bind_real(s, 4, samples[i].elapsed);
        if (!ss_ledger_finish(ledger, s, err)) return false;
    }
    return true;
}

/* The run with all that hangs on it. One that is there already stays as it is. */
static bool add_run(ss_ledger *ledger, const ss_run_entry *run, ss_error *err)
{
    int64_t id = 0;
    bool added = false;
    if (!ss_ledger_add_row(ledger, run, &id, &added, err)) return false;
    if (!added) return true;

    for (int i = 0; run->metrics && i < ss_metric_count(); i++) {
        const ss_metric_value *value = &run->metrics[i];
        sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_ADD_METRIC, err);
        if (!s) return false;
        sqlite3_bind_int64(s, 1, id);
        ss_bind_text(s, 2, ss_metric_at(i)->name);
        if (value->applies) {
            ss_bind_real(s, 3, value->value);
            bind_index(s, 4, value->worst_contact);
            bind_index(s, 5, value->worst_constraint);
        } else {
            ss_bind_text(s, 6, value->why); // never NULL: so a metric that does not apply is recognised
        }
        if (!ss_ledger_finish(ledger, s, err)) return false;
    }

    for (int i = 0; i < run->history_count; i++) {
        sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_ADD_HISTORY, err);
        if (!s) return false;
        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int(s, 2, run->history[i].iteration);
        ss_bind_real(s, 3, run->history[i].seconds);
        bind_gauges(s, 4, run->history[i].gauge);
        if (!ss_ledger_finish(ledger, s, err)) return false;
    }

    for (int i = 0; i < run->crossing_count; i++) {
        const ss_crossing *crossing = &run->crossings[i];
        sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_ADD_CROSSING, err);
        if (!s) return false;
        sqlite3_bind_int64(s, 1, id);
        ss_bind_text(s, 2, ss_gauge_name(crossing->gauge));
        sqlite3_bind_int(s, 3, crossing->decade);
        sqlite3_bind_int(s, 4, crossing->iteration);
        ss_bind_real(s, 5, crossing->seconds);
        if (!ss_ledger_finish(ledger, s, err)) return false;
    }

    for (int i = 0; i < run->bin_count; i++) {
        sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_ADD_CONTACT_ERROR, err);
        if (!s) return false;
        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int(s, 2, run->bins[i].bin);
        sqlite3_bind_int(s, 3, run->bins[i].count);
        if (!ss_ledger_finish(ledger, s, err)) return false;
    }
    return add_samples(ledger, id, 0, run->samples, run->sample_count, err);
}

bool ss_ledger_add(ss_ledger *ledger, const ss_run_entry *run, ss_error *err)
{
    if (ss_ledger_do(ledger, SS_SQL_BEGIN, err) && add_run(ledger, run, err) &&
        ss_ledger_do(ledger, SS_SQL_COMMIT, err))
        return true;
    ss_ledger_rollback(ledger);
    return false;
}

/* ---- samples ------------------------------------------------------------------------------------------ */

bool ss_ledger_find_run(ss_ledger *ledger, int64_t problem_id, int64_t method_id, int64_t machine_id,
                        ss_found_run *found, ss_error *err)
{
    *found = (ss_found_run){0};
    sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_FIND_RUN, err);
    if (!s) return false;
    sqlite3_bind_int64(s, 1, problem_id);
    sqlite3_bind_int64(s, 2, method_id);
    sqlite3_bind_int64(s, 3, machine_id);

    ss_step step = ss_ledger_step(ledger, s, err);
    if (step == SS_STEP_ROW) {
        const char *outcome = (const char *)sqlite3_column_text(s, 1);
        const char *answer = (const char *)sqlite3_column_text(s, 3);
        const char *source = (const char *)sqlite3_column_text(s, 6);
        found->id = sqlite3_column_int64(s, 0);
        found->samples = sqlite3_column_int(s, 2);
        found->steady = sqlite3_column_int(s, 4) != 0;
        found->seconds = ss_column_real(s, 5);
        found->outcome = ss_outcome_named(outcome ? outcome : "");
        snprintf(found->answer, sizeof found->answer, "%s", answer ? answer : "");
        snprintf(found->source, sizeof found->source, "%s", source ? source : "");
        sqlite3_reset(s);
    }

    if (step == SS_STEP_ROW && found->outcome == SS_OUTCOME_COUNT)
        return ss_ledger_fail_row(ledger, "a run with an unknown outcome", err);
    return step != SS_STEP_FAILED;
}

bool ss_ledger_replace(ss_ledger *ledger, const ss_run_entry *run, ss_error *err)
{
    static const ss_sql forget[] = {SS_SQL_FORGET_METRICS,        SS_SQL_FORGET_SAMPLES,
                                    SS_SQL_FORGET_HISTORY,        SS_SQL_FORGET_CROSSINGS,
                                    SS_SQL_FORGET_CONTACT_ERRORS, SS_SQL_FORGET_RUN};
    ss_found_run old;
    bool good = ss_ledger_do(ledger, SS_SQL_BEGIN, err) &&
                ss_ledger_find_run(ledger, run->problem_id, run->method_id, run->machine_id, &old, err);
    bool goes = good && old.id && strcmp(old.source, run->source) != 0;
    for (size_t i = 0; good && goes && i < sizeof forget / sizeof *forget; i++) {
        sqlite3_stmt *s = ss_ledger_statement(ledger, forget[i], err);
        if (s) sqlite3_bind_int64(s, 1, old.id);
        good = s && ss_ledger_finish(ledger, s, err);
    }
    if (good && add_run(ledger, run, err) && ss_ledger_do(ledger, SS_SQL_COMMIT, err)) return true;
    ss_ledger_rollback(ledger);
    return false;
}

bool ss_ledger_know(ss_ledger *ledger, int64_t problem_id, int64_t method_id, int64_t machine_id,
                    ss_known_run *known, ss_error *err)
{
    ss_found_run found;
    if (!ss_ledger_find_run(ledger, problem_id, method_id, machine_id, &found, err)) return false;
    *known = (ss_known_run){.samples = found.id ? found.samples : -1,
                            .outcome = found.outcome,
                            .seconds = found.seconds,
                            .outdated =
                                found.id && strncmp(found.source, ss_source_digest(), SS_SOURCE_DIGITS) != 0};
    return true;
}

bool ss_ledger_set_steady(ss_ledger *ledger, int64_t run, bool steady, ss_error *err)
{
    sqlite3_stmt *s = ss_ledger_statement(ledger, SS_SQL_SET_STEADY, err);
    if (!s) return false;
    sqlite3_bind_int(s, 1, steady);
    sqlite3_bind_int64(s, 2, run);
    return ss_ledger_finish(ledger, s, err);
}

bool ss_ledger_add_samples(ss_ledger *ledger, int64_t problem_id, int64_t method_id, int64_t machine_id,
                           const ss_sample *samples, int count, bool steady, ss_error *err)
{
    ss_found_run found;
    if (!ss_ledger_do(ledger, SS_SQL_BEGIN, err)) return false;
    bool good = ss_ledger_find_run(ledger, problem_id, method_id, machine_id, &found, err);
    if (good && !found.id)
        good = ss_fail(err, SS_ERROR_USAGE, "%s: samples for a run that does not exist", ledger->path);
    bool always = steady && (found.samples == 0 || found.steady); // one that differs is enough
    good = good && add_samples(ledger, found.id, found.samples, samples, count, err) &&
           ss_ledger_set_steady(ledger, found.id, always, err) && ss_ledger_do(ledger, SS_SQL_COMMIT, err);
    if (!good) ss_ledger_rollback(ledger);
    return good;
}
