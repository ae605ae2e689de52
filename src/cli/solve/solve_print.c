/* `stickslip solve`: results as a table, as JSON and as a trace. */
#include "cli/terminal/metric_print.h"
#include "cli/solve/solve.h"

#include "base/number.h"
#include "metrics/truth.h"

#include <math.h>
#include <string.h>

static const ss_metric_value *metric(const ss_solved *solved, const char *name)
{
    return &solved->result->metrics[ss_metric_index(name)];
}

/* ---- why there is no solution -------------------------------------------------------------------- */

/* The share of one block in the energy of the ray. */
static double share_of(const ss_problem *problem, const double *y, int k)
{
    const ss_block *block = &problem->blocks[k];
    double sum = 0.0;
    for (int i = block->first; i < block->first + block->size; i++)
        sum += 0.5 * problem->diagonal[i] * y[i] * y[i];
    return sum;
}

/* The block with the largest share after that of `after`, which is -1 at first; -1 when only small
 * ones are left. */
static int next_worst(const ss_problem *problem, const double *y, int after)
{
    static const double small = 0.01;
    double limit = after >= 0 ? share_of(problem, y, after) : 2.0, most = small;
    int next = -1;
    for (int k = 0; k < problem->block_count; k++) {
        double share = share_of(problem, y, k);
        bool is_left = share < limit || (share == limit && k > after);
        if (is_left && share > most) most = share, next = k;
    }
    return next;
}

/* One sentence about a result with the status "ray". */
static void explain_ray(const ss_solved *solved, ss_text *text)
{
    enum { NAMED = 4 };
    const ss_problem *problem = solved->result->problem;
    const ss_ray *ray = &solved->result->run.ray;
    if (!ray->impulse) {
        ss_text_append(text, "the path ended on an unbounded edge: no solution was found");
        return;
    }
    ss_text_append(text, ray->is_proof ? "no velocity satisfies all of " : "wedged: ");

    // The contacts and joints that share most of it.
    int k = next_worst(problem, ray->impulse, -1);
    for (int named = 0; k >= 0 && named < NAMED; named++, k = next_worst(problem, ray->impulse, k)) {
        const ss_block *block = &problem->blocks[k];
        if (named) ss_text_append(text, ", ");
        if (block->contact >= 0)
            ss_text_appendf(text, "contact %d", block->contact);
        else if (block->constraint >= 0)
            ss_text_appendf(text, "joint %d", block->constraint);
        else
            ss_text_appendf(text, "unknown %d", block->first);
    }
    if (k >= 0) ss_text_append(text, " ...");
    ss_text_append(text, ray->is_proof
                             ? "; impulses can grow there without moving anything"
                             : "; impulses can grow there without moving anything, and no solution was "
                               "found");
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

static void put_solved(ss_solving *s, const ss_solved *solved)
{
    ss_json *json = &s->json;
    const ss_result *all = solved->result;
    const ss_solve_result *result = &all->run;
    ss_json_begin_object(json);
    ss_json_member_text(json, "frame", solved->place);
    ss_json_member_index(json, "index", solved->index);
    ss_json_member_text(json, "formulation", solved->formulation);
    ss_json_member_text(json, "solver", ss_session_solver(s->session)->name);
    ss_json_member_text(json, "status", ss_status_name(result->status));
    if (all->refusal) ss_json_member_text(json, "why", all->refusal);

    if (result->status == SS_RAY) {
        ss_text why = {0};
        explain_ray(solved, &why);
        ss_json_member_text(json, "why", ss_text_get(&why));
        json->text->out_of_memory |= why.out_of_memory;
        ss_text_free(&why);
        ss_json_key(json, "proof"), ss_json_bool(json, result->ray.is_proof);
    }

    ss_json_key(json, "unknowns"), ss_json_integer(json, all->problem->size);
    ss_json_key(json, "iterations"), ss_json_integer(json, result->iterations);
    ss_json_key(json, "kept_iteration"), ss_json_integer(json, result->kept_iteration);
    ss_json_member_known(json, "seconds", result->seconds);

    // Frames with alternatives: which were selected.
    if (all->peg) {
        ss_json_key(json, "peg");
        ss_json_begin_object(json);
        ss_json_member_text(json, "status", ss_peg_status_name(all->peg->status));
        ss_json_key(json, "solves"), ss_json_integer(json, all->peg->solves);
        ss_json_key(json, "switched"), ss_json_integer(json, all->peg->switched);
        ss_json_key(json, "selection");
        ss_json_begin_array(json);
        for (int g = 0; g < all->answer->groups; g++) ss_json_integer(json, all->answer->selection[g]);
        ss_json_end_array(json);
        ss_json_end_object(json);
    }

    // What the solver decided, a string for each line.
    if (s->options->request.explain || result->notes) {
        ss_text line = {0};
        ss_json_key(json, "notes");
        ss_json_begin_array(json);
        for (const char *at = result->notes; at && *at; at += *at == '\n') {
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

    ss_json_key(json, "memory"), ss_json_integer(json, (long long)result->memory);
    if (!all->refusal) put_gauges(json, "gauges", result);
    if (s->is_diagnosed) ss_diagnosis_json(json, &s->diagnosis);
    ss_metrics_json(json, all->metrics);

    if (all->reference) {
        ss_json_key(json, "reference");
        ss_json_begin_object(json);
        const ss_method *method = ss_session_method(s->session);
        ss_json_member_text(json, "solver", method->certified ? "certified" : method->reference->name);
        if (method->certified) {
            ss_json_member_text(json, "level", ss_certificate_level_name(all->reference_level));
            ss_json_member_known(json, "bound", all->reference_bound);
        }
        ss_json_member_known(json, "velocity_distance", all->reference_distance);
        ss_json_key(json, "trust");
        ss_json_begin_object(json);
        for (int i = 0; i < ss_metric_count(); i++) {
            int truth = ss_metric_truth(i);
            if (truth < 0 || !all->metrics[i].applies || !all->metrics[truth].applies) continue;
            if (all->metrics[truth].value > 0.0)
                ss_json_member_real(json, ss_metric_at(i)->name,
                                    all->metrics[i].value / all->metrics[truth].value);
        }
        ss_json_end_object(json);
        ss_json_member_text(json, "formulation", "cone");
        ss_json_member_text(json, "status", ss_status_name(all->reference->status));
        ss_json_member_index(json, "iterations", all->reference->iterations);
        ss_json_member_known(json, "seconds", all->reference->seconds);
        put_gauges(json, "gauges", all->reference);
        ss_json_end_object(json);
    }
    ss_json_end_object(json);
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
    if (s->trace) {
        fputs("frame,iteration,seconds", s->trace);
        for (int g = 0; g < SS_GAUGE_COUNT; g++) fprintf(s->trace, ",%s", ss_gauge_name((ss_gauge)g));
        fputc('\n', s->trace);
    }

    if (!s->options->json) {
        static const char *const heads[] = {"frame",       "status",          "iterations",
                                            "ms",          "energy [J]",      "natural_map",
                                            "creep [m/s]", "penetration [m]", "worst"};
        static const unsigned char expendable[] = {7, 6, 8, 0}; // penetration, creep, worst
        s->table = (ss_table){.columns = sizeof heads / sizeof *heads, .left = 2, .expendable = expendable};
        for (int i = 0; i < s->table.columns; i++) ss_table_add(&s->table, "%s", heads[i]);
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

void ss_solving_tell(ss_solving *s, const ss_solved *solved)
{
    const ss_solve_result *run = &solved->result->run;
    count(s, solved);
    if (s->trace) trace(s->trace, solved);
    if (s->options->json) {
        put_solved(s, solved);
        return;
    }

    // A line of the table; frames by the number that --frame takes.
    ss_table *table = &s->table;
    bool at_limit = run->status == SS_MAX_ITERATIONS || run->status == SS_TIME_LIMIT;
    ss_style style = run->status == SS_CONVERGED ? SS_STYLE_GOOD : at_limit ? SS_STYLE_DOUBT : SS_STYLE_BAD;
    if (solved->index >= 0)
        ss_table_add(table, "%d", solved->index);
    else
        ss_table_add(table, "%s", solved->place);
    ss_table_add_styled(table, style, ss_status_name(run->status));
    ss_table_add(table, "%d", run->iterations);
    ss_table_add(table, "%.3g", 1e3 * run->seconds);
    ss_metric_add(table, metric(solved, "energy"));
    ss_metric_add(table, metric(solved, "natural_map"));
    ss_metric_add(table, metric(solved, "creep"));
    ss_metric_add(table, metric(solved, "penetration"));
    ss_metric_add_worst(table, metric(solved, "energy"));

    // What comes below the table, or on standard error: gathered, a line each.
    if (run->status == SS_RAY) {
        ss_text_appendf(&s->rays, "%s: ", solved->place);
        explain_ray(solved, &s->rays);
        ss_text_append(&s->rays, "\n");
        s->proved += run->ray.is_proof;
        s->wedged += !run->ray.is_proof;
    }
    for (int i = 0; s->is_diagnosed && i < s->diagnosis.count; i++) {
        const ss_complaint *complaint = &s->diagnosis.items[i];
        ss_text_appendf(&s->wrong, "%s: %s: ", solved->place, ss_severity_name(complaint->severity));
        ss_complaint_print(complaint, &s->wrong);
        ss_text_append(&s->wrong, "\n");
    }
    if (run->notes) ss_text_appendf(&s->notes, "%s\n", solved->place);
    for (const char *at = run->notes; at && *at; at += *at == '\n') {
        int length = (int)strcspn(at, "\n");
        ss_text_appendf(&s->notes, "  %.*s\n", length, at);
        at += length;
    }
    if (s->count == 1 && !solved->result->refusal) ss_metrics_tabulate(&s->details, solved->result->metrics);
}

static void append_count(ss_text *text, long long count, const char *noun)
{
    ss_text_appendf(text, "%lld %s%s", count, noun, count == 1 ? "" : "s");
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
    ss_text words = {0};
    size_t faulty = s->refused.list.count_of[SS_FINDING_FAULT];
    const char *separator = ": ";
    ss_text_append(&out->text, "\n");
    append_count(&words, s->count, s->thing);
    for (int status = 0; status <= SS_FAILED; status++) {
        if (!s->count_of[status]) continue;
        ss_text_appendf(&words, "%s%d %s", separator, s->count_of[status], ss_status_name((ss_status)status));
        separator = ", ";
    }
    if (faulty) ss_text_appendf(&words, "; %zu more rejected for faults", faulty);
    ss_text_append(&words, "; ");
    append_count(&words, s->iterations, "iteration");
    ss_text_appendf(&words, ", %.3g ms", 1e3 * s->seconds);
    ss_out_paragraph(out, 0, ss_text_get(&words));
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
        ss_text_clear(&words);
        ss_text_appendf(&words, "%s is not applicable: it %s; see stickslip solvers --table",
                        ss_session_solver(s->session)->name, s->refusal);
        ss_out_paragraph(out, 0, ss_text_get(&words));
    }
    out->text.out_of_memory |= words.out_of_memory;
    ss_text_free(&words);
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
