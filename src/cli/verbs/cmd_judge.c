/* `stickslip judge`: the answers that are stored in a file, measured without solving anything. */
#include "cli/extensions.h"
#include "cli/terminal/help.h"
#include "cli/input.h"
#include "cli/terminal/metric_print.h"
#include "cli/sandbox.h"
#include "linalg/vec3.h"
#include "metrics/judgement.h"
#include "session/method.h"
#include "solver/core/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct judge_options {
    ss_common_options common;
    const char *frame; /* path, number, range or "all"; NULL = all */
    const char *formulation, *result;
    ss_option_list with;
    bool contacts, json;
    ss_extension_options extensions;
    ss_input_options source;
} judge_options;

/* ---- what is counted ----------------------------------------------------------------------------- */

typedef struct numbers {
    double *values;
    size_t count, capacity;
    bool out_of_memory;
} numbers;

static void add_number(numbers *to, double value)
{
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 64;
        double *more = ss_allocate(capacity, sizeof *more);
        if (!more) {
            to->out_of_memory = true;
            return;
        }
        if (to->count) memcpy(more, to->values, to->count * sizeof *more);
        ss_release(to->values);
        to->values = more;
        to->capacity = capacity;
    }
    to->values[to->count++] = value;
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* NaN when there is none. Sorts. */
static double median_of(numbers *of)
{
    size_t n = of->count;
    if (n == 0) return NAN;
    qsort(of->values, n, sizeof *of->values, compare_numbers);
    return 0.5 * (of->values[(n - 1) / 2] + of->values[n / 2]);
}

/* Where rules come from. */
typedef enum source { STORED, GIVEN, ASSUMED, SOURCES } source;
static const char *const source_names[SOURCES] = {"stored", "given", "assumed"};

/* What engines do with gaps and joint errors most often: what an answer would be worth if it had been made
 * so. The first one is assumed when neither file nor user say anything. */
static const char *const treatments[] = {"", "gap_term=stabilised gamma=0.2 joint_gamma=0.2",
                                         "gap_term=zero joint_term=zero"};
enum { TREATMENTS = sizeof treatments / sizeof *treatments, MOST_SOLVERS = 64 };

/* All answers of one solver. */
typedef struct solver_summary {
    char *name;
    int answers, incomplete, from[SOURCES];
    ss_text rules; /* of the first answer, in words */
    bool differs;  /* ... and not of all */
    numbers energy, map;
    numbers assumed[TREATMENTS]; /* energy by other treatments, of answers whose rules are not known */
    double worst_energy;
    char worst_place[256];
    ss_metric_value worst;
} solver_summary;

typedef struct judging {
    const ss_command *command;
    const judge_options *options;
    ss_bpmd *file;
    ss_stored_result given; /* formulation and with of the command line */
    ss_text with;
    ss_json json;
    ss_table table, details, contacts;
    int lines; /* answers in the table */
    ss_tally tally;
    ss_refused refused;
    solver_summary solvers[MOST_SOLVERS];
    int solver_count;
} judging;

/* One answer, and what is to be said about it. */
typedef struct judged {
    const char *place;
    int index;
    const ss_frame *frame;
    const ss_stored_result *result;
    source source;
    const char *formulation;
    ss_step_options step;
    ss_text rules;
    bool complete;
    ss_metric_value *values; /* NULL unless complete */
    ss_contact_report *contacts;
} judged;

static void count_answer(solver_summary *to, const judged *answer)
{
    const ss_metric_value *energy = &answer->values[ss_metric_index("energy")];
    const ss_metric_value *map = &answer->values[ss_metric_index("natural_map")];
    to->answers++;
    to->from[answer->source]++;
    if (to->answers == 1)
        ss_text_append(&to->rules, ss_text_get(&answer->rules));
    else
        to->differs |= strcmp(ss_text_get(&to->rules), ss_text_get(&answer->rules)) != 0;
    if (map->applies) add_number(&to->map, map->value);
    if (!energy->applies) return;
    add_number(&to->energy, energy->value);
    if (!(energy->value > to->worst_energy)) return;
    to->worst_energy = energy->value;
    to->worst = *energy;
    snprintf(to->worst_place, sizeof to->worst_place, "%s", answer->place);
}

/* ---- judging ------------------------------------------------------------------------------------- */

/* What the answer would be worth if it had been made by other rules. */
static bool try_treatments(const judged *answer, solver_summary *summary, ss_error *err)
{
    ss_metric_value *values = ss_allocate((size_t)ss_metric_count(), sizeof *values);
    bool good = values || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for judging");
    for (int t = 1; good && t < TREATMENTS; t++) {
        ss_stored_result rules = {.formulation = (char *)(uintptr_t) "cone",
                                  .with = (char *)(uintptr_t)treatments[t]};
        ss_step_options step;
        good = ss_stored_result_step(&rules, &step, err) &&
               ss_judge_frame(answer->frame, &step, answer->result->answer, values, NULL, err);
        const ss_metric_value *energy = good ? &values[ss_metric_index("energy")] : NULL;
        if (energy && energy->applies) add_number(&summary->assumed[t], energy->value);
    }
    ss_release(values);
    return good;
}

/* ---- telling one answer -------------------------------------------------------------------------- */

static void put_answer(judging *j, const judged *answer)
{
    ss_json *json = &j->json;
    ss_json_begin_object(json);
    ss_json_member_text(json, "frame", answer->place);
    ss_json_member_index(json, "index", answer->index);
    ss_json_member_text(json, "result", answer->result->solver);
    ss_json_member_text(json, "rules", source_names[answer->source]);
    ss_json_member_text(json, "formulation", answer->formulation);
    ss_json_member_text(json, "with", ss_text_get(&answer->rules));
    ss_json_key(json, "complete"), ss_json_bool(json, answer->complete);

    // Of an incomplete answer nothing can be measured.
    if (answer->complete) {
        const ss_answer *stored = answer->result->answer;
        ss_metrics_json(json, answer->values);
        ss_json_key(json, "contacts");
        ss_json_begin_array(json);
        for (int c = 0; c < stored->contacts; c++) {
            const ss_contact_report *report = &answer->contacts[c];
            ss_json_begin_object(json);
            ss_json_member_text(json, "state", ss_contact_status_name(report->status));
            ss_json_member_real(json, "normal", stored->normal_impulse[c]);
            ss_json_key(json, "friction"), ss_json_reals(json, stored->friction_impulse[c], 3);
            ss_json_key(json, "sliding"), ss_json_reals(json, report->sliding, 3);
            ss_json_member_real(json, "sliding_speed", ss_vec3_norm(ss_vec3_load(report->sliding)));
            ss_json_member_real(json, "energy", report->energy);
            ss_json_end_object(json);
            ss_out_drain(j->command->out);
        }
        ss_json_end_array(json);
    }
    ss_json_end_object(json);
}

static void add_answer(judging *j, const judged *answer)
{
    static const char *const measures[] = {"energy", "natural_map", "creep"};
    const char *solver = answer->result->solver;
    ss_table *table = &j->table;
    ss_table_add(table, "%d", answer->index);
    ss_table_add(table, "%.16s", solver);
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        if (answer->complete)
            ss_metric_add(table, &answer->values[ss_metric_index(measures[m])]);
        else
            ss_table_add(table, "-");
    }
    if (answer->complete)
        ss_metric_add_worst(table, &answer->values[ss_metric_index("energy")]);
    else
        ss_table_add(table, "incomplete");
    j->lines++;
    if (!answer->complete) return;

    // The contacts, and all metrics of an answer that is the only one.
    const ss_answer *stored = answer->result->answer;
    for (int c = 0; j->options->contacts && c < stored->contacts; c++) {
        const ss_contact_report *report = &answer->contacts[c];
        ss_table_add(&j->contacts, "%d", answer->index);
        ss_table_add(&j->contacts, "%.12s", solver);
        ss_table_add(&j->contacts, "%d", c);
        ss_table_add(&j->contacts, "%s", ss_contact_status_name(report->status));
        ss_table_add(&j->contacts, "%.3g", stored->normal_impulse[c]);
        ss_table_add(&j->contacts, "%.3g", ss_vec3_norm(ss_vec3_load(report->sliding)));
        ss_table_add(&j->contacts, "%.3g", report->energy);
    }
    if (j->lines == 1) ss_metrics_tabulate(&j->details, answer->values);
}

static bool judge_result(judging *j, judged *answer, ss_error *err)
{
    // All answers of a solver go together; with too many solvers, so do those of the last ones.
    const char *name = answer->result->solver;
    int s = 0;
    while (s < j->solver_count && strcmp(j->solvers[s].name, name) != 0) s++;
    if (s == MOST_SOLVERS) s = MOST_SOLVERS - 1;
    solver_summary *summary = &j->solvers[s];
    if (s == j->solver_count) {
        *summary = (solver_summary){.name = ss_text_copy(name), .worst_energy = -1.0};
        if (!summary->name) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for judging");
        j->solver_count++;
    }

    // The rules of the command line, else those of the file, else the usual ones.
    ss_stored_result rules = *answer->result;
    bool is_given = j->options->formulation || j->options->with.count > 0;
    answer->source = is_given ? GIVEN : rules.formulation ? STORED : ASSUMED;
    if (is_given) {
        rules.formulation = j->given.formulation;
        rules.with = j->given.with;
    }
    answer->formulation = rules.formulation ? rules.formulation : "cone";
    answer->complete = ss_answer_is_complete(answer->result->answer);
    bool good = ss_stored_result_step(&rules, &answer->step, err);
    if (good) ss_step_words(&answer->step, &answer->rules);

    if (good && answer->complete) {
        answer->values = ss_allocate((size_t)ss_metric_count(), sizeof *answer->values);
        answer->contacts = ss_allocate((size_t)answer->frame->contacts.count, sizeof *answer->contacts);
        good = (answer->values && answer->contacts) ||
               ss_fail(err, SS_ERROR_RESOURCES, "out of memory for judging");
        good = good && ss_judge_frame_exactly(answer->frame, &answer->step, answer->result->answer,
                                              answer->values, answer->contacts, err);
        if (answer->source == ASSUMED) good = good && try_treatments(answer, summary, err);
    }
    if (good && answer->complete) count_answer(summary, answer);
    if (good && !answer->complete) summary->incomplete++;
    if (good) (j->options->json ? put_answer : add_answer)(j, answer);
    ss_release(answer->values);
    ss_release(answer->contacts);
    ss_text_free(&answer->rules);
    return good;
}

static bool judge_frame(judging *j, int index, const char *place, ss_error *err)
{
    ss_frame *frame = ss_input_read_frame(j->file, index, place, &j->tally, err);
    int count = frame ? ss_bpmd_result_count(j->file, index, err) : -1;
    bool good = count >= 0;
    for (int i = 0; good && i < count; i++) {
        ss_stored_result result = {0};
        good = ss_bpmd_result(j->file, index, i, &result, err);
        if (good && (!j->options->result || ss_solver_same(j->options->result, result.solver)))
            good = judge_result(
                j, &(judged){.place = place, .index = index, .frame = frame, .result = &result}, err);
        ss_stored_result_free(&result);
    }
    ss_frame_destroy(frame);
    return good;
}

/* ---- telling all of it --------------------------------------------------------------------------- */

static void end_json(judging *j)
{
    ss_json *json = &j->json;
    ss_json_end_array(json);
    ss_json_key(json, "summary");
    ss_json_begin_array(json);
    for (int i = 0; i < j->solver_count; i++) {
        solver_summary *s = &j->solvers[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "result", s->name);
        ss_json_member_integer(json, "answers", s->answers);
        ss_json_member_integer(json, "incomplete", s->incomplete);
        for (int k = 0; k < SOURCES; k++) ss_json_member_integer(json, source_names[k], s->from[k]);
        ss_json_member_known(json, "median_energy", median_of(&s->energy));
        ss_json_member_known(json, "median_natural_map", median_of(&s->map));

        ss_json_key(json, "worst");
        if (s->worst_place[0]) {
            ss_json_begin_object(json);
            ss_json_member_text(json, "frame", s->worst_place);
            ss_json_member_real(json, "energy", s->worst_energy);
            ss_json_member_index(json, "contact", s->worst.worst_contact);
            ss_json_member_index(json, "constraint", s->worst.worst_constraint);
            ss_json_end_object(json);
        } else
            ss_json_null(json);

        // Where rules had to be assumed, what others would give.
        if (s->from[ASSUMED]) {
            ss_json_key(json, "other_treatments");
            ss_json_begin_array(json);
            for (int t = 1; t < TREATMENTS; t++) {
                ss_json_begin_object(json);
                ss_json_member_text(json, "with", treatments[t]);
                ss_json_member_known(json, "median_energy", median_of(&s->assumed[t]));
                ss_json_end_object(json);
            }
            ss_json_end_array(json);
        }
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_refused_json(json, &j->refused);
    ss_tally_json(json, "repairs", &j->tally, SS_FINDING_REPAIR);
    ss_tally_json(json, "warnings", &j->tally, SS_FINDING_WARNING);
    ss_json_end_object(json);
    ss_text_append(&j->command->out->text, "\n");
}

static void print_text(judging *j)
{
    ss_out *out = j->command->out;
    ss_text *text = &out->text;
    if (j->lines) ss_table_print(&j->table, out);
    if (j->options->contacts && j->lines) {
        ss_text_append(text, "\n");
        ss_table_print(&j->contacts, out);
    }
    if (j->lines == 1 && j->details.count) {
        ss_text_append(text, "\n");
        ss_table_print(&j->details, out);
    }

    // A paragraph for each solver: how many answers, how good, the worst, by which rules.
    for (int i = 0; i < j->solver_count; i++) {
        solver_summary *s = &j->solvers[i];
        ss_text_append(text, "\n");
        ss_text_append_clean(text, s->name);
        ss_text_appendf(text, ": %d answer%s", s->answers, s->answers == 1 ? "" : "s");
        if (s->incomplete) ss_text_appendf(text, ", %d incomplete", s->incomplete);
        if (s->energy.count)
            ss_text_appendf(text, "; median energy %.3g J, natural_map %.3g", median_of(&s->energy),
                            median_of(&s->map));
        ss_text_append(text, "\n");
        if (s->worst_place[0]) {
            ss_text_appendf(text, "  worst %.3g J at ", s->worst_energy);
            ss_text_append_clean(text, s->worst_place);
            if (s->worst.worst_contact >= 0) ss_text_appendf(text, ", contact %d", s->worst.worst_contact);
            if (s->worst.worst_constraint >= 0)
                ss_text_appendf(text, ", joint %d", s->worst.worst_constraint);
            ss_text_append(text, "\n");
        }
        if (!s->answers) continue;
        ss_text rules = {0};
        ss_text_append(&rules, "rules");
        for (int k = 0; k < SOURCES; k++)
            if (s->from[k]) ss_text_appendf(&rules, ", %s", source_names[k]);
        ss_text_appendf(&rules, ": %s%s", ss_text_get(&s->rules), s->differs ? " (first answer)" : "");
        ss_help_wrap(text, ss_text_get(&rules), 2);
        ss_text_append(text, "\n");
        text->out_of_memory |= rules.out_of_memory;
        ss_text_free(&rules);
    }

    size_t faulty = j->refused.list.count_of[SS_FINDING_FAULT];
    if (!j->solver_count) ss_text_append(text, "no answers are stored in these frames\n");
    if (faulty) ss_text_appendf(text, "%zu frames rejected for faults\n", faulty);
}

static void free_judging(judging *j)
{
    ss_text *text = &j->command->out->text;
    for (int i = 0; i < j->solver_count; i++) {
        solver_summary *s = &j->solvers[i];
        text->out_of_memory |= s->energy.out_of_memory || s->map.out_of_memory || s->rules.out_of_memory;
        ss_release(s->name);
        ss_release(s->energy.values);
        ss_release(s->map.values);
        for (int t = 0; t < TREATMENTS; t++) ss_release(s->assumed[t].values);
        ss_text_free(&s->rules);
    }
    text->out_of_memory |= j->tally.out_of_memory || j->refused.list.out_of_memory;
    ss_tally_free(&j->tally);
    ss_findings_free(&j->refused.list);
    ss_text_free(&j->with);
    ss_text_free(&j->table.cells);
    ss_text_free(&j->details.cells);
    ss_text_free(&j->contacts.cells);
    ss_bpmd_close(j->file);
}

/* The rules of the command line, the file and the head of the output. */
static bool begin(judging *j, ss_error *err)
{
    const judge_options *options = j->options;
    const char *path = j->command->arguments[0];
    ss_step_options step;
    ss_format format;
    if (!ss_rules_read("judge", options->formulation, &options->with, &j->with, err)) return false;
    j->given.formulation = (char *)(uintptr_t)(options->formulation ? options->formulation : "cone");
    j->given.with = (char *)(uintptr_t)ss_text_get(&j->with);
    if (!ss_stored_result_step(&j->given, &step, err) || !ss_format_of_file(path, &format, err)) return false;
    if (format != SS_FORMAT_BPMD)
        return ss_fail(err, SS_ERROR_INPUT, "%s is an FCLIB file; stickslip info judges its solution", path);
    j->file = ss_bpmd_open(path, &options->source.limits, &options->source.read, err);
    if (!j->file) return false;

    // The head of the JSON object, or of the tables.
    if (options->json) {
        j->json.text = &j->command->out->text;
        ss_json_begin_object(&j->json);
        ss_json_member_text(&j->json, "file", path);
        ss_json_member_text(&j->json, "format", "bpmd");
        ss_json_key(&j->json, "answers");
        ss_json_begin_array(&j->json);
        return true;
    }
    static const char *const heads[] = {"frame",       "result",      "energy [J]",
                                        "natural_map", "creep [m/s]", "worst"};
    static const char *const contact_heads[] = {"frame", "result", "contact", "state", "N s", "m/s", "J"};
    j->table = (ss_table){.columns = sizeof heads / sizeof *heads, .left = 2};
    j->contacts = (ss_table){.columns = sizeof contact_heads / sizeof *contact_heads, .left = 4};
    for (int i = 0; i < j->table.columns; i++) ss_table_add(&j->table, "%s", heads[i]);
    for (int i = 0; i < j->contacts.columns; i++) ss_table_add(&j->contacts, "%s", contact_heads[i]);
    return true;
}

static int run_judge(const ss_command *command)
{
    judging *j = ss_allocate(1, sizeof *j);
    ss_error err = {0};
    if (!j) {
        ss_fail(&err, SS_ERROR_RESOURCES, "out of memory");
        return ss_report(&err);
    }
    const char *path = command->arguments[0];
    j->command = command;
    j->options = command->options;
    j->refused = (ss_refused){.file = path, .done = "judged", .list.limit = 10000};

    // What is wrong with one frame does not stop the others.
    int first = 0, end = 0;
    bool good = begin(j, &err) && ss_choose_frames(j->file, path, j->options->frame, &first, &end, &err);
    ss_progress_line progress = ss_progress_line_begin(command);
    for (int i = first; good && i < end && !ss_sandbox_interrupted(); i++) {
        char place[256];
        ss_bpmd_frame_path(j->file, i, place, sizeof place);
        if (!judge_frame(j, i, place, &err)) {
            good = err.code == SS_ERROR_INPUT;
            if (good) ss_refuse(&j->refused, place, &err);
        }
        ss_progress_line_show(&progress, "judging frame", i - first + 1, end - first);
        if (!ss_out_drain(command->out)) break;
    }
    ss_progress_line_end(&progress);
    if (good && j->options->result && j->solver_count == 0 && !j->refused.exit_code)
        good = ss_fail(&err, SS_ERROR_INPUT, "%s: no frame has a result '%s'", path, j->options->result);

    bool through = good && !ss_sandbox_interrupted();
    if (through) {
        (j->options->json ? end_json : print_text)(j);
        ss_tally_say(command, "repaired", &j->tally, SS_FINDING_REPAIR);
        ss_tally_say(command, "warning", &j->tally, SS_FINDING_WARNING);
    }

    // Rules that are not known are a question to the user, with what hangs on the answer.
    int incomplete = j->solver_count == 0;
    for (int i = 0; i < j->solver_count; i++) {
        solver_summary *s = &j->solvers[i];
        incomplete += s->incomplete;
        if (!through || !s->from[ASSUMED]) continue;
        ss_text others = {0};
        for (int t = 1; t < TREATMENTS; t++)
            ss_text_appendf(&others, "; with %s, %.3g J", treatments[t], median_of(&s->assumed[t]));
        ss_command_say(
            command,
            "note: the file stores no rules for %s; assuming %s, the median energy error is %.3g J%s; "
            "set the rules with --with",
            s->name, ss_text_get(&s->rules), median_of(&s->energy), ss_text_get(&others));
        ss_text_free(&others);
    }
    int code = !good                  ? ss_report(&err)
               : j->refused.exit_code ? j->refused.exit_code
               : incomplete           ? SS_EXIT_FOUND
                                      : SS_EXIT_DONE;
    free_judging(j);
    ss_release(j);
    return code;
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, judge_options, frame), .value_name = "PATH|N|A:B|all",
     .help = "Only this frame, by path or by number, counted from 0; or frames A to B-1. Default: all."},
    {SS_FLAG(TEXT, judge_options, result), .value_name = "NAME",
     .help = "Only the answers of this solver; stickslip info lists them."},
    {SS_FLAG(LIST, judge_options, with), .value_name = "NAME=VALUE",
     .help = "How the answers treat gaps and joint errors (see stickslip formulations); repeatable. Replaces "
             "the rules stored in the file."},
    {SS_FLAG(TEXT, judge_options, formulation), .value_name = "FORMULATION",
     .help = "The formulation whose options --with sets. Default: cone.", .letter = 'f'},
    {SS_FLAG(BOOL, judge_options, contacts),
     .help = "Also list every contact: state, normal impulse (N s), sliding speed (m/s), energy error (J). "
             "--json always does."},
    {SS_FLAG(BOOL, judge_options, json), .help = "Print one JSON object with all metrics."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0},
                                         SS_EXTENSION_GROUP(judge_options, extensions),
                                         SS_INPUT_GROUPS(judge_options, source),
                                         SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"judge ode.h5", "every stored answer, by the rules stored with it"},
    {"judge ode.h5 --with gap_term=stabilised --with gamma=0.2",
     "an engine that removes a fifth of every overlap per step but does not store this rule"},
    {"judge ode.h5 --frame 12 --contacts", "every contact of one frame"},
    {"judge ode.h5 --result ODE --json", "one solver's answers, with all metrics"},
    {0}};

const ss_verb ss_verb_judge = {
    .name = "judge",
    .summary = "judge the answers stored in a file, without solving",
    .arguments = "FILE",
    .description =
        "Judges the answers that an engine, run or solve has stored with the frames of a BPMD file, by the "
        "metrics of solve: on the true Coulomb problem of each frame.\n\n"
        "The verdict depends on how gaps and joint errors were treated when the answer was computed. The "
        "rules stored with a result are used; --with and --formulation replace them. If a file stores no "
        "rules and none are given, the defaults of the formulation cone are assumed, and a note shows the "
        "errors under other common rules.\n\n"
        "The exit code is 0 if everything was judged, 1 if an answer is incomplete or none is stored, and 3 "
        "if a frame has faults; such frames are listed and skipped.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(judge_options),
    .reads_files = true,
    .run = run_judge,
};
