/* What studies share: values and verdicts, parts of the page, files. */
#include "paper/paper.h"

#include "base/file.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SS_PAPER(id) extern const ss_paper ss_paper_##id;
#include "paper/papers.def"
#undef SS_PAPER

const ss_paper *const ss_papers[] = {
#define SS_PAPER(id) &ss_paper_##id,
#include "paper/papers.def"
#undef SS_PAPER
    NULL};

const char *ss_verdict_name(ss_verdict verdict)
{
    static const char *const names[] = {
#define VERDICT_NAME(code, word) [code] = word,
        SS_VERDICT_LIST(VERDICT_NAME)
#undef VERDICT_NAME
    };
    return names[verdict];
}

/* ---- memory -------------------------------------------------------------------------------------- */

static void *take(ss_paper_report *report, size_t count, size_t size)
{
    void *block = ss_arena_take(report->arena, count, size, "a part of a study");
    if (!block) report->out_of_memory = true;
    return block;
}

static const char *copy(ss_paper_report *report, const char *text)
{
    char *block = text ? take(report, strlen(text) + 1, 1) : NULL;
    if (block) memcpy(block, text, strlen(text) + 1);
    return text && !block ? "" : block;
}

static const char *vformat(ss_paper_report *report, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length >= 0 ? take(report, (size_t)length + 1, 1) : NULL;
    if (!text) return "";
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

const char *ss_paper_format(ss_paper_report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = vformat(report, format, arguments);
    va_end(arguments);
    return text;
}

/* ---- values -------------------------------------------------------------------------------------- */

static void add(ss_paper_report *report, ss_paper_value value)
{
    if (report->value_count == report->value_capacity) {
        int capacity = 2 * report->value_capacity + 32;
        ss_paper_value *more = take(report, (size_t)capacity, sizeof *more);
        if (!more) return;
        if (report->value_count > 0) memcpy(more, report->values, (size_t)report->value_count * sizeof *more);
        report->values = more;
        report->value_capacity = capacity;
    }
    value.name = copy(report, value.name);
    value.unit = copy(report, value.unit);
    value.printed = copy(report, value.printed);
    value.note = copy(report, value.note);
    report->values[report->value_count++] = value;
}

void ss_paper_number(ss_paper_report *report, const char *name, const char *unit, const char *printed,
                     double ours, const char *misprint)
{
    // Within half a unit of the last digit: of "4.44e-2" that is 0.00005. The factor lets a tie such as
    // 0.00005 pass whichever way the paper rounds it.
    bool good = false;
    double value, power = 0.0;
    if (printed && ss_number_read(printed, &value)) {
        const char *point = strchr(printed, '.'), *exponent = strchr(printed, 'e');
        const char *end = exponent ? exponent : printed + strlen(printed);
        if (exponent) ss_number_read(exponent + 1, &power);
        double half_digit = 0.5 * pow(10.0, power - (point ? (double)(end - point - 1) : 0.0));
        good = fabs(ours - value) <= half_digit * (1.0 + 1e-9);
    }
    ss_verdict verdict = !printed   ? SS_VERDICT_HOLDS
                         : good     ? SS_VERDICT_AGREES
                         : misprint ? SS_VERDICT_MISPRINT
                                    : SS_VERDICT_FAILS;
    add(report, (ss_paper_value){name, unit, printed, ours, verdict, good ? NULL : misprint});
}

void ss_paper_claim(ss_paper_report *report, const char *name, const char *unit, double ours, bool holds,
                    const char *note)
{
    add(report, (ss_paper_value){name, unit, NULL, ours, holds ? SS_VERDICT_HOLDS : SS_VERDICT_FAILS, note});
}

void ss_paper_reproduces(ss_paper_report *report, const char *name, const char *unit, const char *printed,
                         double ours, bool holds, const char *note)
{
    add(report,
        (ss_paper_value){name, unit, printed, ours, holds ? SS_VERDICT_REPRODUCED : SS_VERDICT_FAILS, note});
}

void ss_paper_differs(ss_paper_report *report, const char *name, const char *unit, const char *printed,
                      double ours, bool explained, const char *reason)
{
    add(report, (ss_paper_value){name, unit, printed, ours, explained ? SS_VERDICT_DIFFERS : SS_VERDICT_FAILS,
                                 reason});
}

int ss_paper_count(const ss_paper_report *report, ss_verdict verdict)
{
    int count = 0;
    for (int i = 0; i < report->value_count; i++) count += report->values[i].verdict == verdict;
    return count;
}

bool ss_paper_is_reproduced(const ss_paper_report *report)
{
    return ss_paper_count(report, SS_VERDICT_FAILS) == 0;
}

/* ---- the page ------------------------------------------------------------------------------------ */

static void add_part(ss_paper_report *report, ss_paper_part what)
{
    ss_paper_part *part = take(report, 1, sizeof *part);
    if (!part) return;
    *part = what;
    if (report->last)
        report->last->next = part;
    else
        report->first = part;
    report->last = part;
}

void ss_paper_text(ss_paper_report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_part(report, (ss_paper_part){.kind = SS_PART_TEXT, .text = vformat(report, format, arguments)});
    va_end(arguments);
}

void ss_paper_recording(ss_paper_report *report, const char *title, const char *data, const char *replay)
{
    add_part(report, (ss_paper_part){.kind = SS_PART_RECORDING,
                                     .text = copy(report, title),
                                     .data = copy(report, data),
                                     .replay = copy(report, replay)});
}

bool ss_paper_frames(ss_paper_report *report, const char *name, const char *title, ss_frame *const *frames,
                     int count, ss_error *err)
{
    if (!report->directory) return true;
    const char *data = ss_paper_format(report, "%s_%s.h5", report->paper->id, name);
    ss_writer *writer = ss_writer_open(ss_paper_path(report, data), SS_LAYOUT_CANONICAL, false, err);
    if (!writer) return false;
    ss_manifest manifest = {.title = (char *)(uintptr_t)title,
                            .description = (char *)(uintptr_t)report->paper->about,
                            .gravity = {NAN, NAN, NAN}};
    bool good = ss_writer_simulation(writer, &manifest, err);
    for (int f = 0; good && f < count; f++) good = ss_writer_frame(writer, frames[f], err);
    if (!good) {
        ss_writer_discard(writer);
        return false;
    }
    if (!ss_writer_close(writer, err)) return false;
    ss_paper_note_file(report, data);
    ss_paper_recording(report, title, data, NULL);
    return true;
}

bool ss_paper_listing(ss_paper_report *report, const char *name, const char *program, ss_error *err)
{
    ss_text text = {0};
    ss_text_append(&text, program);
    bool good = ss_paper_write(report, name, &text, err);
    ss_text_free(&text);
    add_part(report, (ss_paper_part){
                         .kind = SS_PART_LISTING, .text = copy(report, program), .data = copy(report, name)});
    return good;
}

void ss_paper_side_by_side(ss_paper_report *report, const char *title, const char *left,
                           const char *left_label, const char *right, const char *right_label)
{
    if (!report->directory) return;
    add_part(report, (ss_paper_part){.kind = SS_PART_PAIR,
                                     .text = copy(report, title),
                                     .pages = {copy(report, left), copy(report, right)},
                                     .labels = {copy(report, left_label), copy(report, right_label)}});
}

ss_figure *ss_paper_figure(ss_paper_report *report, const char *name, const char *title, const char *caption)
{
    ss_figure *figure = take(report, 1, sizeof *figure);
    if (!figure) figure = &report->spare_figure;
    *figure = (ss_figure){.name = copy(report, name),
                          .title = copy(report, title),
                          .caption = copy(report, caption),
                          .arena = report->arena,
                          .out_of_memory = &report->out_of_memory};
    if (figure != &report->spare_figure)
        add_part(report, (ss_paper_part){.kind = SS_PART_FIGURE, .figure = figure});
    return figure;
}

ss_paper_table *ss_paper_add_table(ss_paper_report *report, const char *name, const char *title,
                                   const char *caption, const char *columns)
{
    ss_paper_table *table = take(report, 1, sizeof *table);
    if (!table) table = &report->spare_table;
    *table = (ss_paper_table){.name = copy(report, name),
                              .title = copy(report, title),
                              .caption = copy(report, caption),
                              .report = report};
    while (*columns) {
        size_t length = strcspn(columns, "|");
        ss_paper_cell(table, "%.*s", (int)length, columns);
        table->columns++;
        columns += length + (columns[length] == '|');
    }
    if (table != &report->spare_table)
        add_part(report, (ss_paper_part){.kind = SS_PART_TABLE, .table = table});
    return table;
}

void ss_paper_cell(ss_paper_table *table, const char *format, ...)
{
    ss_paper_report *report = table->report;
    if (table->count == table->capacity) {
        size_t capacity = 2 * table->capacity + 64;
        const char **more = take(report, capacity, sizeof *more);
        if (!more) return;
        if (table->count > 0) memcpy(more, table->cells, table->count * sizeof *more);
        table->cells = more;
        table->capacity = capacity;
    }
    va_list arguments;
    va_start(arguments, format);
    table->cells[table->count++] = vformat(report, format, arguments);
    va_end(arguments);
}

/* ---- files, progress ----------------------------------------------------------------------------- */

const char *ss_paper_path(ss_paper_report *report, const char *name)
{
    return report->directory ? ss_paper_format(report, "%s/%s", report->directory, name) : NULL;
}

void ss_paper_note_file(ss_paper_report *report, const char *name)
{
    if (report->file_count == report->file_capacity) {
        int capacity = 2 * report->file_capacity + 16;
        const char **more = take(report, (size_t)capacity, sizeof *more);
        if (!more) return;
        if (report->file_count > 0) memcpy(more, report->files, (size_t)report->file_count * sizeof *more);
        report->files = more;
        report->file_capacity = capacity;
    }
    report->files[report->file_count++] = copy(report, name);
}

bool ss_paper_write(ss_paper_report *report, const char *name, const ss_text *content, ss_error *err)
{
    const char *path = ss_paper_path(report, name);
    if (!path) return true;
    if (content->out_of_memory || report->out_of_memory)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", name);
    if (!ss_file_replace(path, ss_text_get(content), content->length, err)) return false;
    ss_paper_note_file(report, name);
    return true;
}

void ss_paper_progress(const ss_paper_report *report, const char *what, int done, int total)
{
    if (report->progress) report->progress(what, done, total, report->context);
}

/* ---- solving ------------------------------------------------------------------------------------- */

bool ss_paper_solve(const char *solver, const char *set, int iterations, const char *stop,
                    ss_problem *problem, double *x, ss_solve_result *result, ss_error *err)
{
    const ss_solver *method = ss_solver_find(solver);
    if (!method) return ss_fail(err, SS_ERROR_USAGE, "unknown solver '%s'", solver);
    static const ss_option none[] = {{0}};
    const ss_option *table = method->options ? method->options : none;
    void *options = ss_allocate(1, method->options_size + 1);
    char *words = ss_text_copy(set ? set : ""), *rest = words;
    ss_run_options run = ss_run_defaults();
    run.max_iterations = iterations;
    run.history = true;
    run.keep.which = SS_KEEP_LAST;
    bool good = (options && words) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    good = good && ss_stop_rule_parse(stop, &run.stop, err);
    if (good) ss_options_defaults(table, options);
    for (char *word = good ? strtok_r(words, " ", &rest) : NULL; good && word;
         word = strtok_r(NULL, " ", &rest))
        good = ss_options_assign(table, options, word, err);
    ss_solve_request request = {.solver = method,
                                .solver_options = method->options ? options : NULL,
                                .problem = problem,
                                .run = &run};
    good = good && ss_solve(&request, x, result, err);
    ss_release(options);
    ss_release(words);
    return good;
}

double ss_paper_log_slope(int count, const double *x, const double *y)
{
    double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < count; i++) {
        if (!(y[i] > 0.0)) continue;
        double ly = log10(y[i]);
        n += 1.0;
        sx += x[i];
        sy += ly;
        sxx += x[i] * x[i];
        sxy += x[i] * ly;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* ---- one row ------------------------------------------------------------------------------------- */

ss_gauge_part ss_paper_row(double inverse_mass, double lower, double upper, double x, double w)
{
    ss_block block = {.law = SS_LAW_BOX, .size = 1, .contact = -1, .constraint = -1};
    int partner = -1;
    double factor = 0.0;
    ss_problem row = {.size = 1,
                      .lower = &lower,
                      .upper = &upper,
                      .partner = &partner,
                      .factor = &factor,
                      .blocks = &block,
                      .block_count = 1,
                      .diagonal = &inverse_mass};
    return ss_gauge_of_block(&row, &inverse_mass, 0, &x, &w, SS_WANT_ALL);
}
