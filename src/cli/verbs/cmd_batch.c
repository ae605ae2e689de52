/* `stickslip batch`: the frames of a file solved as one batch, again and again: problems per second. */
#include "cli/extensions.h"
#include "cli/input.h"
#include "cli/sandbox.h"
#include "cli/terminal/table.h"
#include "session/method.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct batch_options {
    ss_common_options common;
    const char *frame, *solver, *formulation, *stop;
    ss_option_list with, set;
    int iterations, threads, copies;
    double seconds;
    bool json;
    ss_extension_options extensions;
    ss_input_options source;
} batch_options;

/* One number of threads: the quickest call of some. */
typedef struct timing {
    int threads, calls;
    double wall;      /* s, of the quickest call */
    double processor; /* s per call, the mean: the clock of a process lags behind its running threads by up to
                         4 ms, which may be longer than a call */
} timing;

typedef struct batching {
    const ss_command *command;
    const batch_options *options;
    const char *path;
    ss_request request;
    ss_text with, set;
    ss_frame **frames;
    int frame_count, count; /* count: items, copies included */
    ss_answer **answers;    /* of the first number of threads, and of the others */
    ss_batch_item *items;
    int64_t contacts; /* of all items */
    int converged;
    bool differs; /* an answer, with the number of threads */
    timing timings[2];
    int timing_count;
    ss_tally tally;
    ss_refused refused;
} batching;

static double processor_seconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* ---- frames ------------------------------------------------------------------------------------------ */

static bool read_frames(batching *b, ss_error *err)
{
    int first = 0, end = 0;
    ss_bpmd *file = ss_bpmd_open(b->path, &b->options->source.limits, &b->options->source.read, err);
    bool good = file && ss_choose_frames(file, b->path, b->options->frame, &first, &end, err);
    if (good) {
        b->frames = ss_allocate((size_t)(end - first), sizeof *b->frames);
        good = b->frames || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d frames", end - first);
    }
    for (int i = first; good && i < end && !ss_sandbox_interrupted(); i++) {
        char place[256];
        ss_bpmd_frame_path(file, i, place, sizeof place);
        ss_frame *frame = ss_input_read_frame(file, i, place, &b->tally, err);
        if (!frame) {
            good = err->code == SS_ERROR_INPUT;
            if (good) ss_refuse(&b->refused, place, err);
        } else if (frame->contacts.count + frame->constraints.count == 0) {
            ss_frame_destroy(frame); // nothing to solve: it would only make the others look good
        } else {
            b->frames[b->frame_count++] = frame;
        }
    }
    ss_bpmd_close(file);
    if (good && b->frame_count == 0 && !b->refused.exit_code)
        good = ss_fail(err, SS_ERROR_INPUT, "%s: no frame with contacts or joints", b->path);
    return good;
}

static bool make_items(batching *b, ss_error *err)
{
    b->count = b->frame_count * b->options->copies;
    b->items = ss_allocate((size_t)b->count, sizeof *b->items);
    b->answers = ss_allocate(2 * (size_t)b->count, sizeof *b->answers);
    if (!b->items || !b->answers)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d items", b->count);
    for (int i = 0; i < 2 * b->count; i++) {
        const ss_frame *frame = b->frames[i % b->count % b->frame_count];
        b->answers[i] = ss_answer_create(frame, ss_frame_has_moments(frame), err);
        if (!b->answers[i]) return false;
        if (i >= b->count) continue;
        b->items[i].frame = frame;
        b->contacts += frame->contacts.count;
    }
    return true;
}

/* ---- solving ----------------------------------------------------------------------------------------- */

static bool same_bits(const void *a, const void *b, size_t count, size_t size)
{
    return count == 0 || memcmp(a, b, count * size) == 0;
}

static bool same_answers(const ss_answer *a, const ss_answer *b)
{
    size_t bodies = (size_t)a->bodies, contacts = (size_t)a->contacts;
    return same_bits(a->velocity, b->velocity, bodies, sizeof *a->velocity) &&
           same_bits(a->row_impulse, b->row_impulse, (size_t)a->rows, sizeof *a->row_impulse) &&
           same_bits(a->normal_impulse, b->normal_impulse, contacts, sizeof *a->normal_impulse) &&
           same_bits(a->friction_impulse, b->friction_impulse, contacts, sizeof *a->friction_impulse);
}

/* Calls for as long as asked, at least two: the first one finds out how much memory is needed. */
static bool time_batch(batching *b, int threads, ss_error *err)
{
    ss_batch_session *batch = ss_batch_create(&b->request, threads, err);
    if (!batch) return false;
    ss_batch_watch(batch, ss_sandbox_cancel());
    timing *of = &b->timings[b->timing_count];
    *of = (timing){.threads = ss_batch_threads(batch), .wall = INFINITY};
    for (int i = 0; i < b->count; i++) b->items[i].answer = b->answers[b->timing_count * b->count + i];

    double began = ss_clock_seconds(), processor = 0.0;
    bool good = true;
    while (good && !ss_sandbox_interrupted() &&
           (of->calls < 2 || ss_clock_seconds() - began < b->options->seconds)) {
        double wall = ss_clock_seconds();
        good = ss_batch_solve(batch, b->items, b->count, err);
        of->wall = fmin(of->wall, ss_clock_seconds() - wall);
        if (of->calls++ == 0) processor = processor_seconds();
    }
    of->processor = (processor_seconds() - processor) / fmax(of->calls - 1, 1);
    ss_batch_destroy(batch);
    b->timing_count++;

    b->converged = 0;
    for (int i = 0; i < b->count; i++) {
        b->converged += b->items[i].status == SS_CONVERGED;
        b->differs |= b->timing_count == 2 && !same_answers(b->answers[i], b->answers[b->count + i]);
    }
    return good;
}

/* ---- telling ----------------------------------------------------------------------------------------- */

static void put_json(batching *b)
{
    ss_json json = {.text = &b->command->out->text};
    ss_json_begin_object(&json);
    ss_json_member_text(&json, "file", b->path);
    ss_json_member_integer(&json, "problems", b->count);
    ss_json_member_integer(&json, "converged", b->converged);
    ss_json_member_integer(&json, "contacts", b->contacts);
    ss_json_key(&json, "same_bits"), ss_json_bool(&json, !b->differs);
    ss_json_key(&json, "timings");
    ss_json_begin_array(&json);
    for (int k = 0; k < b->timing_count; k++) {
        const timing *of = &b->timings[k];
        ss_json_begin_object(&json);
        ss_json_member_integer(&json, "threads", of->threads);
        ss_json_member_integer(&json, "calls", of->calls);
        ss_json_member_real(&json, "seconds", of->wall);
        ss_json_member_real(&json, "processor_seconds", of->processor);
        ss_json_member_real(&json, "problems_per_second", b->count / of->wall);
        ss_json_member_known(&json, "ns_per_contact",
                             b->contacts ? 1e9 * of->wall / (double)b->contacts : NAN);
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);
    ss_refused_json(&json, &b->refused);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

static void print_table(batching *b)
{
    static const char *const heads[] = {"threads",    "problems/s",     "us/problem",
                                        "ns/contact", "cpu us/problem", "speed-up"};
    static const unsigned char expendable[] = {4, 0};
    ss_table table = {.columns = sizeof heads / sizeof *heads, .expendable = expendable};
    for (int i = 0; i < table.columns; i++) ss_table_add(&table, "%s", heads[i]);
    for (int k = 0; k < b->timing_count; k++) {
        const timing *of = &b->timings[k];
        ss_table_add(&table, "%d", of->threads);
        ss_table_add(&table, "%.0f", b->count / of->wall);
        ss_table_add(&table, "%.3g", 1e6 * of->wall / b->count);
        ss_table_add(&table, b->contacts ? "%.0f" : "-", 1e9 * of->wall / (double)b->contacts);
        ss_table_add(&table, "%.3g", 1e6 * of->processor / b->count);
        ss_table_add(&table, "%.2f", b->timings[0].wall / of->wall);
    }
    ss_text *text = &b->command->out->text;
    ss_text_appendf(text, "%d problem%s, %.3g contacts each; %d converged\n\n", b->count,
                    b->count == 1 ? "" : "s", (double)b->contacts / b->count, b->converged);
    ss_table_print(&table, b->command->out);
    if (b->timing_count == 2)
        ss_text_appendf(text, "\n%s\n",
                        b->differs ? "the answers differ with the number of threads"
                                   : "the answers are the same bits");
}

/* ---- the verb ---------------------------------------------------------------------------------------- */

static int run_batch(const ss_command *command)
{
    batching b = {.command = command,
                  .options = command->options,
                  .path = command->arguments[0],
                  .refused = {.done = "solved", .list.limit = 10000}};
    const batch_options *options = b.options;
    ss_error err = {0};
    b.refused.file = b.path;
    const char *own = ss_extension_solver(command);
    ss_option_list_join(&options->with, &b.with);
    ss_option_list_join(&options->set, &b.set);
    b.request = (ss_request){.formulation = options->formulation,
                             .with = ss_text_get(&b.with),
                             .solver = own ? own : options->solver,
                             .set = ss_text_get(&b.set),
                             .stop = options->stop,
                             .iterations = options->iterations};

    // One thread first: the others are compared with it. A wrong name is found before anything is read.
    ss_batch_session *check = ss_batch_create(&b.request, 1, &err);
    bool good = check || ss_fail_in(&err, "batch");
    ss_batch_destroy(check);
    good = good && read_frames(&b, &err) && (b.frame_count == 0 || make_items(&b, &err));
    if (good && b.count) good = time_batch(&b, 1, &err);
    if (good && b.count && options->threads != 1) good = time_batch(&b, options->threads, &err);
    bool told = good && b.count && !ss_sandbox_interrupted();
    if (told) {
        (options->json ? put_json : print_table)(&b);
        ss_tally_say(command, "repaired", &b.tally, SS_FINDING_REPAIR);
        ss_tally_say(command, "warning", &b.tally, SS_FINDING_WARNING);
    }
    int code = !good                                ? ss_report(&err)
               : b.refused.exit_code                ? b.refused.exit_code
               : b.converged < b.count || b.differs ? SS_EXIT_FOUND
                                                    : SS_EXIT_DONE;

    command->out->text.out_of_memory |= b.tally.out_of_memory || b.refused.list.out_of_memory;
    for (int i = 0; b.answers && i < 2 * b.count; i++) ss_answer_destroy(b.answers[i]);
    for (int i = 0; i < b.frame_count; i++) ss_frame_destroy(b.frames[i]);
    ss_release(b.answers);
    ss_release(b.frames);
    ss_release(b.items);
    ss_tally_free(&b.tally);
    ss_findings_free(&b.refused.list);
    ss_text_free(&b.with);
    ss_text_free(&b.set);
    return code;
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, batch_options, frame), .value_name = "PATH|N|A:B|all",
     .help = "Only this frame, by path or by number, counted from 0; or frames A to B-1. Default: all."},
    {SS_FLAG(INT, batch_options, copies), .value_name = "N", .default_value = "1", .min = 1.0, .max = 1e6,
     .help = "Every frame this many times: a batch of many from a file of a few."},
    {SS_FLAG(INT, batch_options, threads), .value_name = "N", .default_value = "0", .min = 0.0, .max = 1024.0,
     .help = "Solve with this many threads, after one thread alone; 0 = one per core, 1 = one thread only."},
    {SS_FLAG(REAL, batch_options, seconds), .value_name = "seconds", .default_value = "1", .min = 0.0,
     .max = 3600.0,
     .help = "Repeat the call this long with each number of threads, at least twice; the quickest counts."},
    {SS_FLAG(TEXT, batch_options, solver), .value_name = "SOLVER", .default_value = "auto",
     .help = "The solver; stickslip solvers lists them.", .letter = 's'},
    {SS_FLAG(LIST, batch_options, set), .value_name = "NAME=VALUE",
     .help = "Option of the solver; repeatable."},
    {SS_FLAG(TEXT, batch_options, formulation), .value_name = "FORMULATION", .default_value = "cone",
     .help = "How a frame becomes a problem; stickslip formulations lists them.", .letter = 'f'},
    {SS_FLAG(LIST, batch_options, with), .value_name = "NAME=VALUE",
     .help = "Option of the formulation; repeatable."},
    {SS_FLAG(TEXT, batch_options, stop), .value_name = "RULE", .default_value = "natural_map<1e-8",
     .help = "When a run ends, as in solve."},
    {SS_FLAG(INT, batch_options, iterations), .value_name = "N", .default_value = "1000", .min = 1.0,
     .max = 1e9, .help = "Stop a run after this many iterations."},
    {SS_FLAG(BOOL, batch_options, json), .help = "Print one JSON object."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0},
                                         SS_EXTENSION_GROUP(batch_options, extensions),
                                         SS_INPUT_GROUPS(batch_options, source),
                                         SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"batch steps.h5", "problems per second, with one thread and with one per core"},
    {"batch grasp.h5 --copies 1000 --stop 'natural_map<1e-4'", "a thousand environments, coarsely"},
    {"batch steps.h5 --threads 4 -s nsgs --json", "another solver, four threads, for a program"},
    {0}};

const ss_verb ss_verb_batch = {
    .name = "batch",
    .summary = "solve many small frames in one call: problems per second",
    .arguments = "FILE",
    .description =
        "Solves the frames of a BPMD file as one batch (ss_batch_solve), from zero, repeatedly: with one "
        "thread, and then with several that share the frames among them. Printed are problems per second, "
        "microseconds per problem and nanoseconds per contact, of the quickest call, and the processor time "
        "of a mean one; assembly and the velocities of the bodies are part of it, reading and judging are "
        "not. Frames without contacts and joints are left out.\n\n"
        "The exit code is 0 if everything was solved to the stop rule and the answers are the same bits for "
        "both numbers of threads, 1 if not, and 3 if a frame has faults; such frames are listed and left "
        "out.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(batch_options),
    .reads_files = true,
    .run = run_batch,
};
