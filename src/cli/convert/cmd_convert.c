#include "cli/convert/convert.h"

#include "session/method.h"

#include <string.h>

bool ss_convert_is_bpmd(const ss_conversion *conversion)
{
    return conversion->to == SS_TARGET_BPMD || conversion->to == SS_TARGET_BPMD_FLAT;
}

void ss_convert_note_file(ss_conversion *conversion, const char *path)
{
    conversion->files++;
    ss_text_clear(&conversion->last_file);
    ss_text_append(&conversion->last_file, path);
    if (conversion->options->json) ss_json_string(&conversion->json, path);
    ss_out_drain(conversion->command->out);
}

/* ---- the run ------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* Options that belong to another target are a mistake, not a wish to be ignored. */
static bool choose_target(ss_conversion *c, ss_error *err)
{
    const ss_convert_options *options = c->options;
    c->to = (ss_target)options->to;
    if (c->to == SS_TARGET_BY_NAME && ends_with(c->out, ".mtx")) c->to = SS_TARGET_MTX;
    if (c->to == SS_TARGET_BY_NAME && ends_with(c->out, ".gms")) c->to = SS_TARGET_GAMS;
    if (c->to == SS_TARGET_BY_NAME && ends_with(c->out, ".cbf")) c->to = SS_TARGET_CBF;
    if (c->to == SS_TARGET_BY_NAME && ends_with(c->out, ".lcp")) c->to = SS_TARGET_LCP_TEXT;
    if (c->to == SS_TARGET_BY_NAME)
        return ss_fail(err, SS_ERROR_USAGE,
                       "convert: no --to given: expected bpmd, bpmd-flat, fclib-local, fclib-global, mtx, "
                       "lcp, lcp-text, gams or cbf");

    bool local = c->to == SS_TARGET_FCLIB_LOCAL || (c->to == SS_TARGET_MTX && options->local);
    if (options->append && !ss_convert_is_bpmd(c))
        return ss_fail(err, SS_ERROR_USAGE, "convert: --append is for BPMD; an FCLIB file holds one problem");
    if (options->local && c->to != SS_TARGET_MTX)
        return ss_fail(err, SS_ERROR_USAGE,
                       "convert: --local needs --to mtx; for FCLIB use --to fclib-local");
    if (options->eliminate && !local)
        return ss_fail(err, SS_ERROR_USAGE,
                       "convert: --eliminate needs --to fclib-local, or --to mtx --local");
    return true;
}

/* The formulation that turns frames into problems, with its options, where these fit the input. */
static bool prepare_assembly(ss_conversion *c, ss_format format, ss_error *err)
{
    const ss_convert_options *options = c->options;
    bool formulated = ss_convert_is_formulated(c);
    if (format == SS_FORMAT_FCLIB && (options->frame || options->solver))
        return ss_fail(err, SS_ERROR_USAGE, "convert: --%s is for BPMD files; %s is an FCLIB file",
                       options->frame ? "frame" : "solver", c->in);
    if (format == SS_FORMAT_FCLIB && formulated)
        return ss_fail(err, SS_ERROR_USAGE, "convert: %s needs a BPMD file; %s is an FCLIB file",
                       c->to == SS_TARGET_MTX ? "--formulation" : "this format", c->in);
    if (format == SS_FORMAT_BPMD && options->problem)
        return ss_fail(err, SS_ERROR_USAGE, "convert: --problem is for FCLIB files; %s is a BPMD file",
                       c->in);

    // Formats for other solvers have formulations that these can solve.
    const char *usual = c->to == SS_TARGET_CBF   ? "convex"
                        : c->to >= SS_TARGET_LCP ? "stewart-trinkle"
                                                 : "cone";
    if (options->formulation && !formulated && strcmp(options->formulation, "cone") != 0)
        return ss_fail(
            err, SS_ERROR_USAGE,
            "convert: --formulation %s needs --to mtx or --to lcp: an FCLIB problem is always that of cone",
            options->formulation);

    // A fault is named by the flag it came from.
    ss_text with = {0};
    ss_option_list_join(&options->with, &with);
    ss_request request = {.formulation = options->formulation ? options->formulation : usual,
                          .with = ss_text_get(&with)};
    ss_request_fault fault;
    ss_method method;
    bool good = ss_method_prepare(&request, &method, &fault, err);
    if (good) c->assembly = ss_assembly_create(method.formulation, method.formulation_options, err);
    if (!good && fault.member) ss_fail_in(err, "--%s %s", fault.member, fault.item);
    if (good) ss_method_free(&method);
    ss_text_free(&with);
    return c->assembly || ss_fail_in(err, "convert");
}

static int run_convert(const ss_command *command)
{
    static const char *const names[] = {"",    "bpmd", "bpmd-flat", "fclib-local", "fclib-global",
                                        "mtx", "lcp",  "lcp-text",  "gams",        "cbf"};
    ss_conversion c = {.command = command,
                       .options = command->options,
                       .in = command->arguments[0],
                       .out = command->arguments[1]};
    ss_error err = {0};
    ss_format format;
    if (!choose_target(&c, &err) || !ss_input_check_target(command, c.out, &err) ||
        !ss_format_of_file(c.in, &format, &err) || !prepare_assembly(&c, format, &err))
        return ss_report(&err);

    // With --json, the names of files are printed as they are written.
    ss_json *json = &c.json;
    c.refused = (ss_refused){.file = c.in, .done = "converted", .list.limit = 10000};
    if (c.options->json) {
        json->text = &command->out->text;
        ss_json_begin_object(json);
        ss_json_key(json, "input"), ss_json_string(json, c.in);
        ss_json_key(json, "output"), ss_json_string(json, c.out);
        ss_json_key(json, "to"), ss_json_string(json, names[c.to]);
        ss_json_key(json, "files");
        ss_json_begin_array(json);
    }
    bool through = (format == SS_FORMAT_BPMD ? ss_convert_frames : ss_convert_problem)(&c, &err);
    if (c.options->json) {
        ss_json_end_array(json);
        ss_json_key(json, "frames"), ss_json_integer(json, c.frames);
        ss_refused_json(json, &c.refused);
        ss_tally_json(json, "losses", &c.tally, SS_FINDING_LOSS);
        ss_tally_json(json, "repairs", &c.tally, SS_FINDING_REPAIR);
        ss_tally_json(json, "warnings", &c.tally, SS_FINDING_WARNING);
        ss_json_end_object(json);
        ss_text_append(json->text, "\n");
    }

    if (through) {
        ss_tally_say(command, "repaired", &c.tally, SS_FINDING_REPAIR);
        ss_tally_say(command, "warning", &c.tally, SS_FINDING_WARNING);
        ss_tally_say(command, "lost", &c.tally, SS_FINDING_LOSS);
        if (c.files == 0)
            ss_complain("stickslip: %s: nothing written", c.in);
        else if (c.files == 1 && c.frames > 1)
            ss_command_say(command, "wrote %s: %d frames", ss_text_get(&c.last_file), c.frames);
        else if (c.files == 1)
            ss_command_say(command, "wrote %s", ss_text_get(&c.last_file));
        else
            ss_command_say(command, "wrote %d problems to %s", c.files, c.out);
    }
    command->out->text.out_of_memory |= c.tally.out_of_memory || c.refused.list.out_of_memory;
    ss_tally_free(&c.tally);
    ss_findings_free(&c.refused.list);
    ss_text_free(&c.last_file);
    int code = !through ? ss_report(&err) : c.files == 0 ? SS_EXIT_INPUT : c.refused.exit_code;
    ss_assembly_destroy(c.assembly);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static const ss_option table[] = {
    {SS_FLAG(CHOICE, ss_convert_options, to), .default_value = "auto",
     .choices = "auto|bpmd|bpmd-flat|fclib-local|fclib-global|mtx|lcp|lcp-text|gams|cbf",
     .help = "Format to write. auto: by the end of OUT, .mtx, .lcp (lcp-text), .gms or .cbf; otherwise a "
             "format must be given."},
    {SS_FLAG(TEXT, ss_convert_options, formulation), .value_name = "FORMULATION",
     .help = "BPMD to mtx, lcp, lcp-text, gams or cbf: write the problem of this formulation (A, b, bounds "
             "and laws) instead of FCLIB's matrices. By default stewart-trinkle, for cbf convex.",
     .letter = 'f'},
    {SS_FLAG(LIST, ss_convert_options, with), .value_name = "NAME=VALUE",
     .help = "Option of the formulation, as in solve, for instance gap_term=zero or mu_max=1 (see "
             "stickslip formulations). FCLIB problems use those of cone. Repeatable."},
    {SS_FLAG(CHOICE, ss_convert_options, bounded_rows), .default_value = "as-contacts",
     .choices = "as-contacts|refuse",
     .help = "To FCLIB: what to do with constraint rows that have bounds. Limits become frictionless "
             "contacts and others are omitted, or frames with such rows are rejected."},
    {SS_FLAG(TEXT, ss_convert_options, frame), .value_name = "PATH|N|A:B|all",
     .help = "BPMD input: only this frame, by path or by number, counted from 0; or frames A to B-1. "
             "Default: all."},
    {SS_FLAG(BOOL, ss_convert_options, append),
     .help = "BPMD output: append to OUT instead of replacing it."},
    {SS_FLAG(TEXT, ss_convert_options, solver), .value_name = "NAME",
     .help = "BPMD to FCLIB: solver whose stored result becomes the solution. Default: the only one stored."},
    {SS_FLAG(BOOL, ss_convert_options, local),
     .help = "With mtx: reduce to contact space and write W, q instead of M, H, f."},
    {SS_FLAG(BOOL, ss_convert_options, eliminate),
     .help = "Local problems: eliminate the joints too, so that only contacts remain. Requires "
             "independent joints."},
    {SS_FLAG(CHOICE, ss_convert_options, problem), .default_value = "auto", .choices = SS_PROBLEM_CHOICES,
     .help = "FCLIB input: the problem to convert. auto = the only one in the file."},
    {SS_FLAG(REAL, ss_convert_options, h), .default_value = "1", .min = 1e-12, .max = 1e6,
     .value_name = "SECONDS",
     .help = "FCLIB to BPMD: time step in s, which FCLIB does not store; gaps are h times the stored "
             "velocities."},
    {SS_FLAG(BOOL, ss_convert_options, json),
     .help = "Print what was written, rejected and lost as one JSON object."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0},
                                         SS_EXTENSION_GROUP(ss_convert_options, extensions),
                                         SS_INPUT_GROUPS(ss_convert_options, source),
                                         SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"convert gazebo.h5 clean.h5 --to bpmd", "a copy in the canonical layout, with known defects repaired"},
    {"convert stack.h5 problem.hdf5 --to fclib-global --frame 3", "one frame as an FCLIB problem"},
    {"convert stack.h5 problems --to fclib-local", "every frame as one file in the directory problems"},
    {"convert stack.h5 a --frame 0 --to lcp --with directions=4",
     "the linear complementarity problem of Stewart and Trinkle"},
    {"convert stack.h5 stack.gms --frame 0 --formulation convex", "for the QCP solvers of GAMS"},
    {"convert stack.h5 stack.cbf --frame 0", "for conic solvers"},
    {"convert stack.h5 w.mtx --frame 0 --local", "W, q and mu as Matrix Market files: w_W.mtx, w_q.mtx ..."},
    {"convert global.hdf5 local.hdf5 --to fclib-local --eliminate", "the Delassus form without joints"},
    {"convert boxes.hdf5 boxes.h5 --to bpmd --h 0.005", "a rigid body problem back to a frame"},
    {0}};

const ss_verb ss_verb_convert = {
    .name = "convert",
    .summary = "write a file in another format",
    .arguments = "IN OUT",
    .description =
        "IN is a BPMD or FCLIB file. OUT is written to a temporary file and renamed at the end, so that "
        "no partial file is left behind; an existing OUT is replaced. OUT must not be IN.\n\n"
        "BPMD to BPMD keeps frames, manifests and stored results; numbers that need no repair stay the "
        "same bit for bit. bpmd-flat is the layout of the authors' own tools, without manifest.\n\n"
        "BPMD to FCLIB or mtx turns each frame into one problem. One frame (the only one, or the one "
        "chosen with --frame) goes to OUT; several go to the directory OUT, created if necessary, as "
        "<frame>.hdf5. Matrix Market output is one file per matrix and vector: OUT without .mtx is the "
        "beginning of their names. With --formulation, or as lcp, it is A, b and a table of laws and "
        "bounds of any formulation; lcp solves for rows without bounds first. lcp-text, gams and cbf are "
        "one text file per problem, for other solvers.\n\n"
        "FCLIB to FCLIB brings a global problem to the local form. FCLIB to BPMD works for rigid bodies "
        "in the world frame only; otherwise the reason is given.\n\n"
        "What the new format cannot hold is listed as lost. A frame with faults is not converted: its "
        "first fault is reported, the other frames are converted, and the exit code is 3.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_convert_options),
    .reads_files = true,
    .run = run_convert,
};
