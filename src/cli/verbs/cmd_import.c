#include "cli/verb.h"

#include "campaign/import_frames.h"
#include "cli/sandbox.h"

#include <errno.h>
#include <string.h>

typedef struct import_options {
    ss_common_options common;
    ss_recording_options recording;
} import_options;

static int run_import(const ss_command *command)
{
    const import_options *options = command->options;
    const char *in = command->arguments[0], *out = command->arguments[1];
    ss_error err = {0};
    int frames = 0;
    bool standard = strcmp(in, "-") == 0;
    FILE *stream = standard ? stdin : fopen(in, "r");
    bool good =
        stream != NULL || ss_fail(&err, SS_ERROR_INPUT, "%s: cannot be read: %s", in, strerror(errno));
    good = good && ss_import_frames(stream, standard ? "standard input" : in, out, &options->recording,
                                    ss_sandbox_interrupted, &frames, &err);
    if (stream && !standard) fclose(stream);
    if (!good) return ss_report(&err);
    ss_command_say(command, "wrote %s: %d frame%s", out, frames, frames == 1 ? "" : "s");
    return SS_EXIT_DONE;
}

static const ss_option_group groups[] = {
    {"Recording", ss_recording_option_table, offsetof(import_options, recording)}, SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"import frames.ndjson frames.h5", "frames that a program of yours wrote as lines of JSON"},
    {"import - frames.h5 < frames.ndjson", "from a pipe, while the program runs"},
    {0}};

const ss_verb ss_verb_import = {
    .name = "import",
    .summary = "make a recording of lines of JSON",
    .arguments = "IN OUT",
    .description =
        "IN (- is standard input) holds one JSON object per line: first, if you like, a head with toolkit, "
        "title, gravity and shapes, then one object per frame with time, h, bodies, joints, contacts and "
        "results (docs/import.md). Any language writes that. Every frame is checked; the first line that is "
        "wrong is named, and OUT is then not written.\n\n"
        "The recording survives its program, and may be a flight recorder, as with run --record.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(import_options),
    .reads_files = true,
    .run = run_import,
};
