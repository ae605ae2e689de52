#include "cli/verb.h"

#include "cli/sandbox.h"

typedef struct recover_options {
    ss_common_options common;
    const char *output;
    bool json;
} recover_options;

/* Every leftover is tried, also after one that cannot be recovered; the first failure decides the exit
 * code. */
static int run_recover(const ss_command *command)
{
    const recover_options *options = command->options;
    ss_error err = {0};
    ss_leftovers left;
    const char *file = command->arguments[0];
    if (!ss_leftovers_find(file, &left, &err)) return ss_report(&err);

    // Nothing to do is a failure: the user expected something.
    if (left.count == 0) {
        ss_fail(&err, SS_ERROR_INPUT, "%s: no recording was left unfinished", file);
        return ss_report(&err);
    }

    ss_json json = {.text = &command->out->text};
    if (options->json) ss_json_begin_array(&json);

    // One after the other; a failure does not keep the others from being recovered.
    int code = SS_EXIT_DONE;
    for (int i = 0; i < left.count && !ss_sandbox_interrupted(); i++) {
        char *name;
        int frames;
        if (!ss_leftover_recover(left.paths[i], options->output, &name, &frames, &err)) {
            int failure = ss_report(&err);
            if (code == SS_EXIT_DONE) code = failure;
            continue;
        }

        if (options->json) {
            ss_json_begin_object(&json);
            ss_json_key(&json, "leftover"), ss_json_string(&json, left.paths[i]);
            ss_json_key(&json, "file"), ss_json_string(&json, name);
            ss_json_key(&json, "frames"), ss_json_integer(&json, frames);
            ss_json_end_object(&json);
        } else {
            ss_text_append_clean(&command->out->text, name);
            ss_text_appendf(&command->out->text, ": %d %s recovered\n", frames,
                            frames == 1 ? "frame" : "frames");
        }
        ss_release(name);
    }
    if (options->json) {
        ss_json_end_array(&json);
        ss_text_append(json.text, "\n");
    }

    ss_leftovers_free(&left);
    return code;
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, recover_options, output), .value_name = "OUT.h5",
     .help = "Name of the recovered file, instead of that of the recording.", .letter = 'o'},
    {SS_FLAG(BOOL, recover_options, json), .help = "Print a JSON array with one object per recovered file."},
    {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"recover frames.h5", "what a recording to frames.h5 left when its program was killed"},
    {"recover frames.h5.4711-0.partial -o saved.h5", "one leftover, under another name"},
    {0}};

const ss_verb ss_verb_recover = {
    .name = "recover",
    .summary = "make a file of a recording whose program died",
    .arguments = "FILE",
    .description =
        "A recording that did not end (killed, crashed, disk full) leaves FILE.PROCESS-N.partial beside "
        "FILE, with every frame older than the interval of its recorder (run --survive, 5 s by default). "
        "`info` and the other verbs read it as it is; `recover` gives it the name FILE. FILE is either the "
        "name the recording was to have, and all that is left of it is recovered, or one leftover.\n\n"
        "A file that exists is never replaced: the recovered one is then called FILE.recovered-1.h5. A "
        "leftover whose program is still running is left alone. A recovery can be interrupted and repeated.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(recover_options),
    .reads_files = true,
    .run = run_recover,
};
