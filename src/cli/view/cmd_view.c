#include "cli/extensions.h"
#include "cli/view/http_server.h"
#include "cli/input.h"

#include "base/number.h"
#include "cli/sandbox.h"
#include "report/page.h"
#include "report/replay.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PICTURE_WIDTH = 720, PICTURE_HEIGHT = 480 };

typedef struct view_options {
    ss_common_options common;
    const char *output, *picture, *frame, *results, *title, *formulation;
    ss_option_list with;
    int simulation; /* from 1 on; 0 = the first */
    int every, port;
    double max_size; /* MB */
    bool no_contacts, serve;
    ss_extension_options extensions;
    ss_input_options source;
} view_options;

typedef struct viewing {
    const ss_command *command;
    const view_options *options;
    const char *in, *other_in; /* NULL: no second recording */
    ss_bpmd *file, *other_file;
    ss_replay *replay, *other;
    ss_progress_line progress;
    char *names; /* of results, cut at the commas */
    ss_text html, json, with;
} viewing;

/* ---- what is shown ------------------------------------------------------------------------------- */

static void tell_progress(int done, int total, void *context)
{
    viewing *v = context;
    ss_progress_line_show(&v->progress, "reading frame", done, total);
}

/* "3:7", ":7", "3:" and "3", counted within the simulation. */
static bool parse_frames(const char *wanted, ss_replay_options *to, ss_error *err)
{
    if (!wanted || strcmp(wanted, "all") == 0) return true;
    char low[16];
    size_t length = strcspn(wanted, ":");
    bool range = wanted[length] == ':', good = length < sizeof low;
    if (good) {
        snprintf(low, sizeof low, "%.*s", (int)length, wanted);
        const char *high = range ? wanted + length + 1 : "";
        good = ((range && !*low) || ss_integer_read(low, &to->first)) &&
               (!*high || ss_integer_read(high, &to->last));
        if (good && !range) to->last = to->first < INT32_MAX ? to->first + 1 : 0;
        good = good && to->first >= 0 && (to->last > to->first || (range && !*high));
    }
    return good || ss_fail(err, SS_ERROR_USAGE,
                           "view: invalid value \"%s\" for --frame: expected N, A:B "
                           "or all",
                           wanted);
}

/* Of a second recording only bodies are drawn: a third of the page is more than enough for them. */
static const double OTHER_SHARE = 1.0 / 3.0;

static bool open_replay(viewing *v, ss_findings *findings, ss_error *err)
{
    const view_options *o = v->options;
    ss_replay_options options = {
        .simulation = o->simulation > 0 ? o->simulation - 1 : 0,
        .every = o->every,
        .no_contacts = o->no_contacts,
        .title = o->title,
        .formulation = v->with.length || o->formulation ? (o->formulation ? o->formulation : "cone") : NULL,
        .with = ss_text_get(&v->with),
        .cancel = ss_sandbox_cancel(),
        .progress = tell_progress,
        .context = v};
    if (!parse_frames(o->frame, &options, err)) return false;

    // --results A,B
    v->names = o->results ? ss_text_copy(o->results) : NULL;
    if (o->results && !v->names) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    char *rest = NULL, *name = v->names ? strtok_r(v->names, ",", &rest) : NULL;
    for (; name; name = strtok_r(NULL, ",", &rest)) {
        if (options.result_count == SS_REPLAY_MOST_RESULTS)
            return ss_fail(err, SS_ERROR_USAGE, "view: --results: expected at most %d solvers",
                           SS_REPLAY_MOST_RESULTS);
        options.results[options.result_count++] = name;
    }

    // What is left of --max-size when the page itself is taken off; served are all frames, without a limit.
    double page = 1e-6 * (double)ss_replay_page_size();
    if (!o->serve) options.megabytes = o->max_size - page;
    if (!o->serve && !(options.megabytes > 0.0))
        return ss_fail(err, SS_ERROR_USAGE,
                       "view: --max-size %g: the page alone, without data, takes %.1f MB", o->max_size, page);
    // two curves are added, which a hundredth has room for
    double other_megabytes = OTHER_SHARE * options.megabytes;
    if (v->other_in) options.megabytes *= 0.99 - OTHER_SHARE;

    v->file = ss_bpmd_open(v->in, &o->source.limits, &o->source.read, err);
    if (!v->file) return false;
    v->progress = ss_progress_line_begin(v->command);
    v->replay = ss_replay_open(v->file, v->in, &options, findings, err);
    ss_progress_line_end(&v->progress);
    if (!v->replay || !v->other_in) return v->replay != NULL;

    // The second recording, of which only bodies are drawn.
    ss_replay_options others = {.simulation = options.simulation,
                                .every = o->every,
                                .megabytes = other_megabytes,
                                .no_contacts = true,
                                .cancel = ss_sandbox_cancel(),
                                .progress = tell_progress,
                                .context = v};
    v->other_file = ss_bpmd_open(v->other_in, &o->source.limits, &o->source.read, err);
    if (!v->other_file) return false;
    v->progress = ss_progress_line_begin(v->command);
    v->other = ss_replay_open(v->other_file, v->other_in, &others, findings, err);
    ss_progress_line_end(&v->progress);
    return v->other && ss_replay_compare(v->replay, v->other, err);
}

/* ---- one page ------------------------------------------------------------------------------------ */

static bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), own = strlen(ending);
    return length > own && strcasecmp(path + length - own, ending) == 0;
}

static bool write_page(viewing *v, ss_error *err)
{
    const char *picture = v->options->picture, *output = v->options->output;
    if (output && ends_with(output, ".png")) {
        if (!ss_replay_picture(v->replay, PICTURE_WIDTH, PICTURE_HEIGHT, output, err)) return false;
        ss_command_say(v->command, "wrote %s", output);
    } else if (output) {
        if (!ss_replay_write(v->replay, output, err)) return false;
        ss_command_say(v->command, "wrote %s with %d of %d frames: open it in a browser", output,
                       ss_replay_shown(v->replay), ss_replay_total(v->replay));
        if (ss_replay_is_decimated(v->replay))
            ss_command_say(v->command, "for more frames use --max-size MB, or --serve for all of them");
    }
    return !picture || ss_replay_picture(v->replay, PICTURE_WIDTH, PICTURE_HEIGHT, picture, err);
}

/* ---- serving ------------------------------------------------------------------------------------- */

static bool answer(const char *path, ss_http_reply *reply, void *context, ss_error *err)
{
    viewing *v = context;
    int chunk;
    if (strcmp(path, "/") == 0) {
        *reply =
            (ss_http_reply){"text/html; charset=utf-8", (unsigned char *)v->html.data, v->html.length, true};
    } else if (strcmp(path, "/replay.json") == 0) {
        *reply = (ss_http_reply){"application/json", (unsigned char *)v->json.data, v->json.length, true};
    } else if (strncmp(path, "/chunk/", 7) == 0 && path[7] >= '0' && path[7] <= '9' &&
               ss_integer_read(path + 7, &chunk) && chunk < ss_replay_chunk_count(v->replay)) {
        reply->type = "application/octet-stream";
        reply->bytes = ss_replay_chunk(v->replay, chunk, &reply->size, err);
        return reply->bytes != NULL;
    } else if (v->other && strncmp(path, "/other/", 7) == 0 && path[7] >= '0' && path[7] <= '9' &&
               ss_integer_read(path + 7, &chunk) && chunk < ss_replay_chunk_count(v->other)) {
        reply->type = "application/octet-stream";
        reply->bytes = ss_replay_chunk(v->other, chunk, &reply->size, err);
        return reply->bytes != NULL;
    }
    return true;
}

static void tell_address(int port, void *context)
{
    viewing *v = context;
    ss_text_appendf(&v->command->out->text, "http://127.0.0.1:%d/\n", port);
    ss_out_flush(v->command->out);
    ss_command_say(v->command, "serving %d frames of %s; open the address in a browser, stop with Ctrl-C",
                   ss_replay_shown(v->replay), v->in);
}

static bool serve(viewing *v, ss_error *err)
{
    ss_text none = {0};
    ss_page_fill(&ss_page_view, &none, &v->html);
    ss_replay_json(v->replay, false, &v->json);
    if (v->html.out_of_memory || v->json.out_of_memory)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the page");
    ss_http_server_options options = {
        .port = v->options->port, .answer = answer, .ready = tell_address, .context = v};
    return ss_http_serve(&options, err);
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static bool check_options(const viewing *v, ss_error *err)
{
    const view_options *o = v->options;
    if (!o->serve && !o->output && !o->picture)
        return ss_fail(err, SS_ERROR_USAGE, "view: no output given: expected -o replay.html or --serve");
    if (o->serve && (o->output || o->picture))
        return ss_fail(err, SS_ERROR_USAGE, "view: %s and --serve cannot be combined",
                       o->output ? "-o" : "--picture");

    if (o->output && !ss_input_check_target(v->command, o->output, err)) return false;
    if (o->output && !ends_with(o->output, ".html") && !ends_with(o->output, ".htm") &&
        !ends_with(o->output, ".png"))
        return ss_fail(
            err, SS_ERROR_USAGE,
            "view: -o %s: unknown ending: expected .html (the page) or .png (a picture of the first frame "
            "that is shown)",
            o->output);
    if (o->picture && !ss_input_check_target(v->command, o->picture, err)) return false;
    if (o->output && o->picture && strcmp(o->output, o->picture) == 0)
        return ss_fail(err, SS_ERROR_USAGE, "view: -o and --picture are the same file %s", o->output);

    // Both recordings must have bodies.
    const char *const files[] = {v->in, v->other_in};
    for (int i = 0; i < 2 && files[i]; i++) {
        ss_format format;
        if (!ss_format_of_file(files[i], &format, err)) return false;
        if (format != SS_FORMAT_BPMD)
            return ss_fail(err, SS_ERROR_INPUT, "%s: an FCLIB problem has no bodies to show, only matrices",
                           files[i]);
    }
    return true;
}

static int run_view(const ss_command *command)
{
    viewing v = {.command = command,
                 .options = command->options,
                 .in = command->arguments[0],
                 .other_in = command->argument_count > 1 ? command->arguments[1] : NULL};
    ss_error err = {0};
    ss_findings findings = {.limit = 10};
    bool good = ss_rules_read("view", v.options->formulation, &v.options->with, &v.with, &err) &&
                check_options(&v, &err) && open_replay(&v, &findings, &err);

    // Rules that had to be assumed are a question to the user.
    const char *rules, *name;
    for (int k = 0; good && (name = ss_replay_assumed(v.replay, k, &rules)); k++)
        ss_command_say(
            command,
            "note: the file stores no rules for %s; assuming %s; set the rules with --with; stickslip judge "
            "shows the errors under other common rules",
            name, rules);

    // Frames with faults are skipped.
    for (size_t i = 0; i < findings.count; i++)
        ss_complain("stickslip: %s: %s: %s", v.in, findings.items[i].place, findings.items[i].message);
    good = good && (v.options->serve ? serve : write_page)(&v, &err);

    int code = good || ss_sandbox_interrupted() ? SS_EXIT_DONE : ss_report(&err);
    ss_replay_close(v.replay);
    ss_replay_close(v.other);
    ss_bpmd_close(v.file);
    ss_bpmd_close(v.other_file);
    ss_findings_free(&findings);
    ss_text_free(&v.html);
    ss_text_free(&v.json);
    ss_text_free(&v.with);
    ss_release(v.names);
    return code;
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, view_options, output), .value_name = "FILE",
     .help = "FILE.html: write the replay as one self-contained page. FILE.png: a picture of the first "
             "frame that is shown.",
     .letter = 'o'},
    {SS_FLAG(INT, view_options, simulation), .default_value = "1", .min = 1, .max = 1e6, .value_name = "N",
     .help = "Simulation to show, counted from 1."},
    {SS_FLAG(TEXT, view_options, frame), .value_name = "N|A:B|all",
     .help = "Only this frame of the simulation, counted from 0; or frames A to B-1."},
    {SS_FLAG(INT, view_options, every), .default_value = "0", .min = 0, .max = 1e9, .value_name = "K",
     .help = "Only every K-th frame; 0 = as many frames as --max-size allows."},
    {SS_FLAG(TEXT, view_options, results), .value_name = "A,B",
     .help = "Show the answers of these solvers, in this order, at most 8. Default: all, at most 4."},
    {SS_FLAG(LIST, view_options, with), .value_name = "NAME=VALUE",
     .help = "How the answers treat gaps and joint errors, as in judge; repeatable. Replaces the rules "
             "stored in the file."},
    {SS_FLAG(TEXT, view_options, formulation), .value_name = "FORMULATION",
     .help = "The formulation whose options --with sets. Default: cone.", .letter = 'f'},
    {SS_FLAG(REAL, view_options, max_size), .default_value = "25", .min = 0.1, .max = 2000,
     .value_name = "MB",
     .help = "Largest size of the page, in MB; longer recordings are thinned out to every 2nd, 3rd ... "
             "frame."},
    {SS_FLAG(BOOL, view_options, no_contacts), .help = "Show bodies only, which makes the page smaller."},
    {SS_FLAG(TEXT, view_options, title), .value_name = "TEXT",
     .help = "Title of the page. Default: the title of the recording, or its file name."},
    {SS_FLAG(TEXT, view_options, picture), .value_name = "FILE.png",
     .help = "Draw the first frame that is shown; alone or with -o."},
    {0}};

static const ss_option serve_table[] = {
    {SS_FLAG(BOOL, view_options, serve),
     .help = "Serve the page, with all frames, to browsers on this machine until Ctrl-C, instead of "
             "writing it."},
    {SS_FLAG(INT, view_options, port), .default_value = "8080", .min = 0, .max = 65535, .value_name = "N",
     .help = "Port to listen on, on 127.0.0.1; 0 = any free port. The address is printed."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0},
                                         {"Serving", serve_table, 0},
                                         SS_EXTENSION_GROUP(view_options, extensions),
                                         SS_INPUT_GROUPS(view_options, source),
                                         SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"view stack.h5 -o replay.html", "one page with everything in it"},
    {"view stack.h5 -o replay.html --results nsgs,pgs --max-size 100",
     "two answers side by side, more frames"},
    {"view stack.h5 --frame 12 -o frame.png", "a picture of one frame"},
    {"view stack.h5 -o replay.html --frame 0:2 --no-contacts", "two frames, bodies only"},
    {"view exact.h5 quick.h5 -o replay.html", "two runs of a scene, the second as a ghost"},
    {0}};

const ss_verb ss_verb_view = {
    .name = "view",
    .summary = "replay a recording in the browser, in 3-D",
    .arguments = "FILE [OTHER]",
    .description = "Writes a page with a replay of a BPMD file: bodies with their shapes, contacts with "
                   "their forces and states, and every metric plotted over time. The page works offline "
                   "and can be sent to others.\n\n"
                   "With a second recording of the same bodies, OTHER, its bodies are drawn as ghosts at the "
                   "same time, and curves show how far the two are apart.\n\n"
                   "Recordings that are too large for one page are thinned out, or served with all frames "
                   "by --serve, which prints an address that only this machine can open.\n\n"
                   "Frames with faults are listed and skipped.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(view_options),
    .reads_files = true,
    .run = run_view,
};
