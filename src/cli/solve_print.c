/* `stickslip solve`: results as a table, as JSON and as a trace. */
#include "cli/metric_print.h"
#include "cli/solve.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

static const ss_metric_value *metric(const ss_solved *solved, const char *name)
{
    return &solved->result->metrics[ss_metric_index(name)];
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void put_gauges(ss_json *json, const char *key, const ss_solve_result *result)
{
    ss_json_key(json, key);
    ss_json_begin_object(json);
    for (int g = 0; g < SS_GAUGE_COUNT; g++)
        ss_json_member_known(json, ss_gauge_name((ss_gauge)g), result->gauge[g]);
    ss_json_end_object(json);
}

static void put_reference(ss_json *json, const ss_solving *s, const ss_solved *solved)
{
    ss_json_key(json, "reference");
    ss_json_begin_object(json);
    ss_json_member_text(json, "solver", ss_session_method(s->session)->reference->name);
    ss_json_member_text(json, "formulation", "cone");
    ss_json_member_text(json, "status", ss_status_name(solved->result->reference->status));
    ss_json_member_index(json, "iterations", solved->result->reference->iterations);
    ss_json_member_known(json, "seconds", solved->result->reference->seconds);
    put_gauges(json, "gauges", solved->result->reference);
    ss_json_end_object(json);
}

static void put_ray(ss_json *json, const ss_solved *solved)
{
    ss_text why = {0};
    ss_solved_explain(solved, &why);
    ss_json_member_text(json, "why", ss_text_get(&why));
    json->text->out_of_memory |= why.out_of_memory;
    ss_text_free(&why);
    ss_json_key(json, "proof"), ss_json_bool(json, solved->result->run.ray.is_proof);
}

static void put_selection(ss_json *json, const ss_peg_result *peg, const ss_answer *answer)
{
    ss_json_key(json, "peg");
    ss_json_begin_object(json);
    ss_json_member_text(json, "status", ss_peg_status_name(peg->status));
    ss_json_key(json, "solves"), ss_json_integer(json, peg->solves);
    ss_json_key(json, "switched"), ss_json_integer(json, peg->switched);
    ss_json_key(json, "selection");
    ss_json_begin_array(json);
    for (int g = 0; g < answer->groups; g++) ss_json_integer(json, answer->selection[g]);
    ss_json_end_array(json);
    ss_json_end_object(json);
}

static void put_notes(ss_json *json, const char *notes)
{
    ss_text line = {0};
    ss_json_key(json, "notes");
    ss_json_begin_array(json);
    for (const char *at = notes; at && *at; at += *at == '\n') {
        size_t length = strcspn(at, "\n");
        ss_text_clear(&line);
        ss_text_append_bytes(&line, at, length);
        ss_json_string(json, ss_text_get(&line));
        at += length;
    }
    ss_json_end_array(json);
    json->text->out_of_memory |= line.out_of_memory;
    ss_text_free(&line);
}

static void put_solved(ss_solving *s, const ss_solved *solved)
{
    ss_json *json = &s->json;
    const ss_solve_result *result = &solved->result->run;
    bool ran = !solved->result->refusal;
    ss_json_begin_object(json);
    ss_json_member_text(json, "frame", solved->place);
    ss_json_member_index(json, "index", solved->index);
    ss_json_member_text(json, "formulation", solved->formulation);
    ss_json_member_text(json, "solver", ss_session_solver(s->session)->name);
    ss_json_member_text(json, "status", ss_status_name(result->status));
    if (!ran) ss_json_member_text(json, "why", solved->result->refusal);
    if (result->status == SS_RAY) put_ray(json, solved);
    ss_json_key(json, "unknowns"), ss_json_integer(json, solved->result->problem->size);
    ss_json_key(json, "iterations"), ss_json_integer(json, result->iterations);
    ss_json_key(json, "kept_iteration"), ss_json_integer(json, result->kept_iteration);
    ss_json_member_known(json, "seconds", result->seconds);
    if (solved->result->peg) put_selection(json, solved->result->peg, solved->result->answer);
    if (s->options->request.explain || result->notes) put_notes(json, result->notes);
    ss_json_key(json, "memory"), ss_json_integer(json, (long long)result->memory);
    if (ran) put_gauges(json, "gauges", result);
    if (s->is_diagnosed) ss_diagnosis_json(json, &s->diagnosis);
    ss_metrics_json(json, solved->result->metrics);
    if (solved->result->reference) put_reference(json, s, solved);
    ss_json_end_object(json);
}

/* ---- the table ----------------------------------------------------------------------------------- */

static void start_table(ss_table *table)
{
    static const char *const heads[] = {"frame",       "status",      "iterations",      "ms",   "energy [J]",
                                        "natural_map", "creep [m/s]", "penetration [m]", "worst"};
    static const unsigned char expendable[] = {7, 6, 8, 0}; // penetration, creep, worst
    *table = (ss_table){.columns = sizeof heads / sizeof *heads, .left = 2, .expendable = expendable};
    for (int i = 0; i < table->columns; i++) ss_table_add(table, "%s", heads[i]);
}

static ss_style style_of(ss_status status)
{
    if (status == SS_CONVERGED) return SS_STYLE_GOOD;
    return status == SS_MAX_ITERATIONS || status == SS_TIME_LIMIT ? SS_STYLE_DOUBT : SS_STYLE_BAD;
}

/* Frames by the number that --frame takes. */
static void add_line(ss_table *table, const ss_solved *solved)
{
    if (solved->index >= 0)
        ss_table_add(table, "%d", solved->index);
    else
        ss_table_add(table, "%s", solved->place);
    ss_table_add_styled(table, style_of(solved->result->run.status),
                        ss_status_name(solved->result->run.status));
    ss_table_add(table, "%d", solved->result->run.iterations);
    ss_table_add(table, "%.3g", 1e3 * solved->result->run.seconds);
    ss_metric_add(table, metric(solved, "energy"));
    ss_metric_add(table, metric(solved, "natural_map"));
    ss_metric_add(table, metric(solved, "creep"));
    ss_metric_add(table, metric(solved, "penetration"));
    ss_metric_add_worst(table, metric(solved, "energy"));
}

/* ---- the trace ----------------------------------------------------------------------------------- */

static void trace_number(FILE *file, double value)
{
    char text[SS_NUMBER_TEXT];
    if (isnan(value))
        fputc(',', file);
    else
        fprintf(file, ",%.*s", ss_number_write(value, text), text);
}

static void trace_head(FILE *file)
{
    fputs("frame,iteration,seconds", file);
    for (int g = 0; g < SS_GAUGE_COUNT; g++) fprintf(file, ",%s", ss_gauge_name((ss_gauge)g));
    fputc('\n', file);
}

static void trace(FILE *file, const ss_solved *solved)
{
    const ss_history *history = &solved->result->run.history;
    for (int i = 0; i < history->count; i++) {
        fprintf(file, "%s,%d", solved->place, i + 1);
        trace_number(file, history->seconds[i]);
        for (int g = 0; g < SS_GAUGE_COUNT; g++) trace_number(file, history->gauge[g][i]);
        fputc('\n', file);
    }
}

/* ---- all of it ----------------------------------------------------------------------------------- */

void ss_solving_begin(ss_solving *s, const char *format)
{
    ss_json *json = &s->json;
    s->begun = true;
    s->thing = strcmp(format, "bpmd") == 0 ? "frame" : "problem";
    if (s->trace) trace_head(s->trace);
    if (!s->options->json) {
        start_table(&s->table);
        return;
    }
    json->text = &s->command->out->text;
    ss_json_begin_object(json);
    ss_json_member_text(json, "file", s->in);
    ss_json_member_text(json, "format", format);
    ss_json_member_text(json, "solver", ss_session_solver(s->session)->name);
    ss_json_member_text(json, "stop", s->stop);
    ss_json_key(json, "frames");
    ss_json_begin_array(json);
}

static void count(ss_solving *s, const ss_solved *solved)
{
    const ss_metric_value *map = metric(solved, "natural_map");
    s->count++;
    s->count_of[solved->result->run.status]++;
    s->iterations += solved->result->run.iterations;
    s->seconds += solved->result->run.seconds;
    if (!s->refusal) s->refusal = solved->result->refusal;
    if (!map->applies || (s->worst_place[0] && !(map->value > s->worst_map))) return;
    s->worst_map = map->value;
    snprintf(s->worst_place, sizeof s->worst_place, "%s", solved->place);
}

static void tell_ray(ss_solving *s, const ss_solved *solved)
{
    ss_text_appendf(&s->rays, "%s: ", solved->place);
    ss_solved_explain(solved, &s->rays);
    ss_text_append(&s->rays, "\n");
    if (solved->result->run.ray.is_proof)
        s->proved++;
    else
        s->wedged++;
}

static void tell_diagnosis(ss_solving *s, const ss_solved *solved)
{
    for (int i = 0; i < s->diagnosis.count; i++) {
        const ss_complaint *complaint = &s->diagnosis.items[i];
        ss_text_appendf(&s->wrong, "%s: %s: ", solved->place, ss_severity_name(complaint->severity));
        ss_complaint_print(complaint, &s->wrong);
        ss_text_append(&s->wrong, "\n");
    }
}

static void tell_notes(ss_solving *s, const ss_solved *solved)
{
    ss_text_appendf(&s->notes, "%s\n", solved->place);
    for (const char *at = solved->result->run.notes; at && *at; at += *at == '\n') {
        int length = (int)strcspn(at, "\n");
        ss_text_appendf(&s->notes, "  %.*s\n", length, at);
        at += length;
    }
}

void ss_solving_tell(ss_solving *s, const ss_solved *solved)
{
    count(s, solved);
    if (s->trace) trace(s->trace, solved);
    if (s->options->json)
        put_solved(s, solved);
    else
        add_line(&s->table, solved);
    if (!s->options->json && solved->result->run.status == SS_RAY) tell_ray(s, solved);
    if (!s->options->json && s->is_diagnosed) tell_diagnosis(s, solved);
    if (!s->options->json && solved->result->run.notes) tell_notes(s, solved);
    if (!s->options->json && s->count == 1 && !solved->result->refusal)
        ss_metrics_tabulate(&s->details, solved->result->metrics);
}

static void append_count(ss_text *text, long long count, const char *noun)
{
    ss_text_appendf(text, "%lld %s%s", count, noun, count == 1 ? "" : "s");
}

static void print_counts(const ss_solving *s)
{
    ss_text words = {0}, *out = &s->command->out->text;
    const char *separator = ": ";
    append_count(&words, s->count, s->thing);
    for (int status = 0; status <= SS_FAILED; status++) {
        if (!s->count_of[status]) continue;
        ss_text_appendf(&words, "%s%d %s", separator, s->count_of[status], ss_status_name((ss_status)status));
        separator = ", ";
    }
    if (s->refused.list.count_of[SS_FINDING_FAULT])
        ss_text_appendf(&words, "; %zu more rejected for faults", s->refused.list.count_of[SS_FINDING_FAULT]);
    ss_text_append(&words, "; ");
    append_count(&words, s->iterations, "iteration");
    ss_text_appendf(&words, ", %.3g ms", 1e3 * s->seconds);
    ss_out_paragraph(s->command->out, 0, ss_text_get(&words));
    out->out_of_memory |= words.out_of_memory;
    ss_text_free(&words);
}

/* Paragraphs that were gathered, one a line. */
static void print_lines(ss_out *out, const ss_text *lines)
{
    ss_text line = {0};
    for (const char *at = ss_text_get(lines); *at; at += *at == '\n') {
        size_t indent = strspn(at, " "), length = strcspn(at, "\n");
        ss_text_clear(&line);
        ss_text_append_bytes(&line, at + indent, length - indent);
        ss_out_paragraph(out, indent, ss_text_get(&line));
        at += length;
    }
    out->text.out_of_memory |= line.out_of_memory;
    ss_text_free(&line);
}

static void print_summary(const ss_solving *s)
{
    ss_out *out = s->command->out;
    ss_text_append(&out->text, "\n");
    print_counts(s);
    if (s->worst_place[0])
        ss_text_appendf(&out->text, "worst natural_map %.3g at %s\n", s->worst_map, s->worst_place);

    // Where there is no answer, what may help.
    bool has_options = strcmp(s->thing, "frame") == 0; // of a formulation
    print_lines(out, &s->rays);
    if (has_options && s->wedged)
        ss_out_paragraph(out, 0,
                         "less friction (--with mu_max=1) or ignoring overlaps (--with gap_term=zero) may "
                         "help");
    if (has_options && s->proved)
        ss_out_paragraph(out, 0,
                         "where no velocity satisfies all, less friction cannot help; ignoring overlaps "
                         "(--with gap_term=zero) or joint errors (--with joint_term=zero) does where they "
                         "contradict each other");
    if (s->refusal) {
        ss_text words = {0};
        ss_text_appendf(&words, "%s is not applicable: it %s; see stickslip solvers --table",
                        ss_session_solver(s->session)->name, s->refusal);
        ss_out_paragraph(out, 0, ss_text_get(&words));
        out->text.out_of_memory |= words.out_of_memory;
        ss_text_free(&words);
    }
}

void ss_solving_end(ss_solving *s)
{
    ss_out *out = s->command->out;
    out->text.out_of_memory |= s->tally.out_of_memory || s->refused.list.out_of_memory ||
                               s->rays.out_of_memory || s->notes.out_of_memory || s->wrong.out_of_memory;
    if (!s->options->json) {
        if (s->count > 0) ss_table_print(&s->table, out);
        if (s->count == 1 && s->details.count) {
            ss_text_append(&out->text, "\n");
            ss_table_print(&s->details, out);
        }
        print_summary(s);
        if (s->notes.length) ss_text_append(&out->text, "\n");
        print_lines(out, &s->notes);
        return;
    }
    ss_json_end_array(&s->json);
    ss_refused_json(&s->json, &s->refused);
    ss_tally_json(&s->json, "losses", &s->tally, SS_FINDING_LOSS);
    ss_tally_json(&s->json, "repairs", &s->tally, SS_FINDING_REPAIR);
    ss_tally_json(&s->json, "warnings", &s->tally, SS_FINDING_WARNING);
    ss_json_end_object(&s->json);
    ss_text_append(&out->text, "\n");
}

int ss_solving_exit_code(const ss_solving *s)
{
    int unsolved = s->count - s->count_of[SS_CONVERGED];
    // then the limits are the only end there is
    if (!ss_solving_has_rule(s)) unsolved -= s->count_of[SS_MAX_ITERATIONS] + s->count_of[SS_TIME_LIMIT];
    if (s->refused.exit_code) return s->refused.exit_code;
    return unsolved ? SS_EXIT_FOUND : SS_EXIT_DONE;
}
