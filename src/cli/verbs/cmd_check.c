#include "cli/extensions.h"
#include "cli/terminal/diagnose.h"
#include "cli/input.h"
#include "cli/sandbox.h"
#include "dataset/proof_file.h"
#include "dataset/recording_check.h"
#include "session/method.h"
#include "session/named.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct check_options {
    ss_common_options common;
    bool json, strict, problems, rerun;
    const char *formulation;
    int max_findings; /* of each kind, 0 = all */
    ss_extension_options extensions;
    ss_input_options source;
} check_options;

typedef struct report {
    const ss_command *command;
    const check_options *options;
    const char *path, *format; /* format: NULL when it could not be told */
    ss_findings findings;
    ss_findings notes;                 /* of diagnoses: good to know, no fault */
    const ss_formulation *formulation; /* NULL: problems are not looked at */
    ss_recording_check *recording;     /* of the simulation that is looked at; NULL: not looked at */
    int simulation;                    /* its number */
    int parts;                         /* frames or problems that were looked at */
    int exit_code;
} report;

/* Something that could not be read is a fault like any other. */
static void add_failure(report *r, const char *around, const ss_error *err)
{
    char place[512];
    snprintf(place, sizeof place, "%s", around);
    const char *message = ss_input_split(err->message, r->path, place, sizeof place);
    ss_findings_add(&r->findings, SS_FINDING_FAULT, place, "%s", message);
    int code = ss_error_exit_code(err->code);
    if (code > r->exit_code) r->exit_code = code;
}

/* ---- looking ------------------------------------------------------------------------------------- */

static void end_recording(report *r)
{
    if (r->recording) ss_recording_check_end(r->recording, &r->findings);
    ss_recording_check_destroy(r->recording);
    r->recording = NULL;
}

/* Takes the problem, which is NULL when it could not be made. */
static void diagnose(report *r, const ss_frame *frame, ss_problem *problem, const char *place, ss_error *err)
{
    ss_diagnosis diagnosis = {0};
    if (!problem || !ss_diagnose_frame(frame, problem, NULL, &diagnosis, err)) add_failure(r, place, err);

    // Notes are kept as warnings in a list of their own.
    for (int i = 0; i < diagnosis.count; i++) {
        const ss_complaint *complaint = &diagnosis.items[i];
        ss_findings *to = complaint->severity == SS_SEVERITY_NOTE ? &r->notes : &r->findings;
        bool fatal = complaint->severity == SS_SEVERITY_FATAL;
        ss_text text = {0};
        ss_complaint_print(complaint, &text);
        ss_findings_add(to, fatal ? SS_FINDING_FAULT : SS_FINDING_WARNING, place, "%s", ss_text_get(&text));
        to->out_of_memory |= text.out_of_memory;
        ss_text_free(&text);
    }
    ss_diagnosis_free(&diagnosis);
    ss_problem_destroy(problem);
}

static void check_frame(report *r, ss_bpmd *file, int index)
{
    char place[256];
    ss_error err;
    ss_bpmd_frame_path(file, index, place, sizeof place);
    ss_frame *frame = ss_bpmd_read(file, index, &r->findings, &err);
    if (!frame) {
        add_failure(r, place, &err);
        return;
    }
    bool good = ss_frame_check(frame, place, &r->findings);

    // Mistakes of the program that recorded a simulation are looked for from its first frame to its last.
    int simulation = ss_bpmd_frame_simulation(file, index);
    if (!r->recording || simulation != r->simulation) {
        ss_manifest manifest = {0};
        end_recording(r);
        r->simulation = simulation;
        bool known = ss_bpmd_manifest(file, simulation, &manifest, NULL);
        r->recording = ss_recording_check_create(known ? manifest.gravity : (const double[3]){NAN, NAN, NAN});
        r->findings.out_of_memory |= !r->recording;
        ss_manifest_free(&manifest);
    }
    if (good && r->recording)
        r->findings.out_of_memory |= !ss_recording_check_frame(r->recording, frame, place);
    if (good && r->formulation)
        diagnose(r, frame, ss_problem_from_frame(frame, r->formulation, NULL, &err), place, &err);

    // Results can be compared with a frame that has no faults.
    int count = ss_bpmd_result_count(file, index, &err);
    if (count < 0) add_failure(r, place, &err);
    for (int i = 0; i < count; i++) {
        ss_stored_result result = {0};
        if (!ss_bpmd_result(file, index, i, &result, &err))
            add_failure(r, place, &err);
        else if (good && r->recording)
            r->findings.out_of_memory |= !ss_recording_check_result(r->recording, &result);
        if (good && result.answer &&
            !ss_stored_certificate_check(frame, &result, r->options->rerun, place, &r->findings, &err))
            add_failure(r, place, &err);
        ss_stored_result_free(&result);
    }

    ss_scenery scenery;
    if (ss_bpmd_scenery(file, index, &scenery, &err))
        ss_scenery_free(&scenery);
    else
        add_failure(r, place, &err);
    ss_frame_destroy(frame);
}

static void check_bpmd(report *r)
{
    ss_error err;
    ss_bpmd *file = ss_bpmd_open(r->path, &r->options->source.limits, &r->options->source.read, &err);
    if (!file) {
        add_failure(r, "/", &err);
        return;
    }
    ss_progress_line progress = ss_progress_line_begin(r->command);

    // What describes simulations, then every frame.
    int simulations = ss_bpmd_simulation_count(file);
    for (int i = 0; i < simulations && !ss_sandbox_interrupted(); i++) {
        const char *path = ss_bpmd_simulation_path(file, i);
        ss_manifest manifest = {0};
        ss_shapes shapes;
        if (!ss_bpmd_manifest(file, i, &manifest, &err)) add_failure(r, path, &err);
        ss_manifest_free(&manifest);
        if (ss_bpmd_shapes(file, i, &shapes, &r->findings, &err))
            ss_shapes_free(&shapes);
        else
            add_failure(r, path, &err);
        ss_progress_line_show(&progress, "checking simulation", i + 1, simulations);
    }

    r->parts = ss_bpmd_frame_count(file);
    for (int i = 0; i < r->parts && !ss_sandbox_interrupted(); i++) {
        check_frame(r, file, i);
        ss_progress_line_show(&progress, "checking frame", i + 1, r->parts);
    }
    ss_progress_line_end(&progress);
    end_recording(r);
    ss_bpmd_close(file);
}

static void check_fclib(report *r)
{
    ss_fclib_kind kinds[3];
    ss_error err;
    r->parts = ss_fclib_kinds(r->path, kinds, &err);
    if (r->parts < 0) add_failure(r, "/", &err);
    for (int i = 0; i < r->parts; i++) {
        char place[64];
        snprintf(place, sizeof place, "/fclib_%s", ss_fclib_kind_name(kinds[i]));
        ss_fclib *problem = ss_fclib_read(r->path, kinds[i], &r->options->source.limits, &r->findings, &err);
        if (!problem)
            add_failure(r, place, &err);
        else if (ss_cone_check(problem->cone, place, &r->findings) && r->formulation)
            diagnose(r, NULL, ss_problem_from_cone(problem->cone, &err), place, &err);
        ss_fclib_destroy(problem);
    }
}

/* ---- telling ------------------------------------------------------------------------------------- */

static bool is_good(const report *r)
{
    const size_t *count_of = r->findings.count_of;
    return count_of[SS_FINDING_FAULT] == 0 && !(r->options->strict && count_of[SS_FINDING_WARNING] > 0);
}

static void put_findings(ss_json *json, ss_out *out, const char *key, const ss_findings *findings,
                         ss_finding_kind kind)
{
    ss_json_key(json, key);
    ss_json_begin_array(json);
    for (size_t i = 0; i < findings->count; i++) {
        const ss_finding *finding = &findings->items[i];
        if (finding->kind != kind) continue;
        ss_json_begin_object(json);
        ss_json_key(json, "place"), ss_json_string(json, finding->place);
        ss_json_key(json, "message"), ss_json_string(json, finding->message);
        ss_json_end_object(json);
        ss_out_drain(out);
    }
    ss_json_end_array(json);
}

static void print_json(const report *r)
{
    ss_out *out = r->command->out;
    ss_json json = {.text = &out->text};
    bool fclib = r->format && strcmp(r->format, "fclib") == 0;
    ss_json_begin_object(&json);
    ss_json_key(&json, "file"), ss_json_string(&json, r->path);
    ss_json_key(&json, "format"), ss_json_string(&json, r->format);
    ss_json_key(&json, "ok"), ss_json_bool(&json, is_good(r));
    put_findings(&json, out, "faults", &r->findings, SS_FINDING_FAULT);
    put_findings(&json, out, "warnings", &r->findings, SS_FINDING_WARNING);
    put_findings(&json, out, "repairs", &r->findings, SS_FINDING_REPAIR);
    if (r->formulation) put_findings(&json, out, "notes", &r->notes, SS_FINDING_WARNING);

    ss_json_key(&json, "counts");
    ss_json_begin_object(&json);
    ss_json_member_integer(&json, fclib ? "problems" : "frames", r->parts > 0 ? r->parts : 0);
    ss_json_member_integer(&json, "faults", (long long)r->findings.count_of[SS_FINDING_FAULT]);
    ss_json_member_integer(&json, "warnings", (long long)r->findings.count_of[SS_FINDING_WARNING]);
    ss_json_member_integer(&json, "repairs", (long long)r->findings.count_of[SS_FINDING_REPAIR]);
    if (r->formulation)
        ss_json_member_integer(&json, "notes", (long long)r->notes.count_of[SS_FINDING_WARNING]);
    ss_json_end_object(&json);
    ss_json_end_object(&json);
    ss_text_append(&out->text, "\n");
}

static void print_kind(const report *r, const ss_findings *findings, ss_finding_kind kind, const char *name,
                       ss_style style)
{
    ss_out *out = r->command->out;
    size_t listed = 0;
    for (size_t i = 0; i < findings->count && ss_out_drain(out); i++) {
        const ss_finding *finding = &findings->items[i];
        if (finding->kind != kind) continue;
        ss_text_appendf(&out->text, "%s%-8s%s ", ss_out_style(out, style), name,
                        ss_out_style(out, SS_STYLE_PLAIN));
        ss_text_append_clean(&out->text, finding->place);
        ss_text_append(&out->text, ": ");
        ss_text_append_clean(&out->text, finding->message);
        ss_text_append(&out->text, "\n");
        listed++;
    }
    if (listed < findings->count_of[kind])
        ss_text_appendf(&out->text, "%-8s ... and %zu more (--max-findings 0 lists all)\n", name,
                        findings->count_of[kind] - listed);
}

static void append_count(ss_text *text, size_t count, const char *noun)
{
    ss_text_appendf(text, ", %zu %s%s", count, noun, count == 1 ? "" : "s");
}

static void print_text(const report *r)
{
    ss_out *out = r->command->out;
    ss_text *text = &out->text;
    print_kind(r, &r->findings, SS_FINDING_FAULT, "fault", SS_STYLE_BAD);
    print_kind(r, &r->findings, SS_FINDING_WARNING, "warning", SS_STYLE_DOUBT);
    print_kind(r, &r->findings, SS_FINDING_REPAIR, "repair", SS_STYLE_PLAIN);
    print_kind(r, &r->notes, SS_FINDING_WARNING, "note", SS_STYLE_PLAIN);

    ss_text_append_clean(text, r->path);
    ss_text_appendf(text, ": %s%s%s", ss_out_style(out, is_good(r) ? SS_STYLE_GOOD : SS_STYLE_BAD),
                    is_good(r) ? "good" : "faulty", ss_out_style(out, SS_STYLE_PLAIN));
    if (r->format)
        append_count(text, r->parts > 0 ? (size_t)r->parts : 0,
                     strcmp(r->format, "fclib") == 0 ? "problem" : "frame");
    append_count(text, r->findings.count_of[SS_FINDING_FAULT], "fault");
    append_count(text, r->findings.count_of[SS_FINDING_WARNING], "warning");
    append_count(text, r->findings.count_of[SS_FINDING_REPAIR], "repair");
    if (r->formulation) append_count(text, r->notes.count_of[SS_FINDING_WARNING], "note");
    ss_text_append(text, "\n");
}

static int run_check(const ss_command *command)
{
    const check_options *options = command->options;
    report r = {.command = command, .options = options, .path = command->arguments[0]};
    r.findings.limit = r.notes.limit = (size_t)options->max_findings;
    ss_error err;
    if (options->problems) {
        r.formulation = ss_formulation_named(options->formulation, &err);
        if (!r.formulation) {
            ss_fail_in(&err, "check");
            return ss_report(&err);
        }
    }

    // A file that is neither is a finding like any other.
    ss_format format;
    if (!ss_format_of_file(r.path, &format, &err)) {
        add_failure(&r, "/", &err);
    } else {
        r.format = format == SS_FORMAT_BPMD ? "bpmd" : "fclib";
        (format == SS_FORMAT_BPMD ? check_bpmd : check_fclib)(&r);
    }
    if (options->json)
        print_json(&r);
    else
        print_text(&r);
    if (!is_good(&r) && r.exit_code < SS_EXIT_INPUT) r.exit_code = SS_EXIT_INPUT;
    command->out->text.out_of_memory |= r.findings.out_of_memory || r.notes.out_of_memory;
    ss_findings_free(&r.findings);
    ss_findings_free(&r.notes);
    return r.exit_code;
}

static const ss_option table[] = {
    {SS_FLAG(BOOL, check_options, json), .help = "Print the findings as one JSON object."},
    {SS_FLAG(BOOL, check_options, strict), .help = "Treat warnings as faults."},
    {SS_FLAG(BOOL, check_options, problems),
     .help = "Also examine the problems that solvers would be given: rank, contradictory equations, "
             "wedged bodies, units. A problem without a solution counts as a fault."},
    {SS_FLAG(TEXT, check_options, formulation), .default_value = "cone", .value_name = "FORMULATION",
     .help = "With --problems, BPMD: formulation that turns a frame into a problem (see stickslip "
             "formulations).",
     .letter = 'f'},
    {SS_FLAG(BOOL, check_options, rerun),
     .help =
         "Certificates: also run the second method again, whose distance from the answer they state. Takes "
         "as long as solving every frame."},
    {SS_FLAG(INT, check_options, max_findings), .default_value = "1000", .max = 1e9,
     .help = "List at most N findings of each kind; all are counted. 0 lists all."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0},
                                         SS_EXTENSION_GROUP(check_options, extensions),
                                         SS_INPUT_GROUPS(check_options, source),
                                         SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"check stack.h5", "every fault with its location; exit code 3 if there is one"},
    {"check stack.h5 --strict --json", "for a script that also rejects doubtful files"},
    {"check stack.h5 --problems", "also diagnose the problem of every frame"},
    {0}};

const ss_verb ss_verb_check = {
    .name = "check",
    .summary = "list every fault in a file, by path and index",
    .arguments = "FILE",
    .description =
        "Reads all of FILE, BPMD or FCLIB, and lists what is wrong, what is doubtful, and which known "
        "defects of the program that wrote it were repaired while reading.\n\n"
        "A fault is data that no solver should be given: a mass that is not positive, a normal that is "
        "not of unit length, a pair that names no body, an array of the wrong size. A warning is data "
        "that can be used but deserves a look. A repair is done in memory; the file itself is never "
        "changed (stickslip convert writes a repaired copy).\n\n"
        "Stored certificates are proved again, up to level backward. A recording is also examined as a "
        "whole: does the stored answer fit its frame, and one frame the "
        "next? Where it does not, and undoing a classic mistake of recorders mends it, the mistake is named "
        "in a warning: contact bodies swapped, gravity or the gyroscopic torque forgotten, the sign of a "
        "joint's Jacobian, velocities after the step, tensors in the body's frame, the order of "
        "quaternions, forces stored as impulses, depths stored as gaps.\n\n"
        "The exit code is 0 if there are no faults, and 3 if there are, or if a part cannot be read.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(check_options),
    .reads_files = true,
    .run = run_check,
};
