/* `stickslip certify`: frames and problems solved as accurately as it gets, and what can be proved about the
 * answers; or the answers that a file holds. */
#include "cli/extensions.h"
#include "cli/input.h"
#include "cli/sandbox.h"
#include "cli/terminal/table.h"
#include "dataset/proof_file.h"
#include "solver/core/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct certify_options {
    ss_common_options common;
    const char *frame, *output, *solver, *formulation, *result;
    ss_option_list with;
    bool stored, alone, thorough, contacts, json;
    int problem; /* 0 = the only one, else 1 + ss_fclib_kind */
    int exact;
    double tol, time_limit;
    ss_extension_options extensions;
    ss_input_options source;
} certify_options;

typedef struct certifying {
    const ss_command *command;
    const certify_options *options;
    const char *path;
    ss_text with;
    ss_prover *prover; /* NULL with --stored */
    ss_bpmd *file;     /* NULL for FCLIB */
    ss_writer *writer; /* NULL without -o */
    ss_progress_line progress;
    int done, wanted; /* frames or problems */
    int simulation;   /* the one being written, -1 = none yet */
    ss_json json;
    ss_table table, contacts;
    ss_tally tally;
    ss_refused refused;
    int count, count_of[SS_CERTIFICATE_LEVELS];
    double worst; /* bound over scale, and where */
    char worst_place[256];
} certifying;

/* One certificate, and where it comes from. */
typedef struct finding {
    const char *place;
    int index;                         /* of the frame; -1: a problem */
    const char *result;                /* the name of a stored one; NULL: solved here */
    const ss_certificate *certificate; /* NULL: no method accepts the problem */
    bool late;                         /* the time limit ended it */
} finding;

/* ---- telling ----------------------------------------------------------------------------------------- */

static const char *const state_names[] = {"left out", "open", "stick", "slip"};

static void put_certificate(certifying *c, const finding *found)
{
    ss_json *json = &c->json;
    const ss_certificate *own = found->certificate;
    ss_json_begin_object(json);
    ss_json_member_text(json, "place", found->place);
    if (found->index >= 0) ss_json_member_index(json, "index", found->index);
    ss_json_member_text(json, "level", own ? ss_certificate_level_name(own->level) : "none");
    ss_json_member_text(json, "reason", own ? own->reason : "no method accepts the problem");
    if (own) {
        int certain = 0;
        for (int i = 0; i < own->contacts; i++) certain += own->contact[i].certain;
        ss_json_member_text(json, "solver", found->result ? found->result : own->solver);
        ss_json_member_text(json, "law", ss_law_name(own->law));
        ss_json_member_real(json, "bound", own->bound);
        ss_json_member_real(json, "spin_bound", own->spin_bound);
        ss_json_member_real(json, "joint_bound", own->joint_bound);
        ss_json_member_real(json, "scale", own->scale);
        ss_json_member_real(json, "velocity_error", own->velocity_error);
        ss_json_member_real(json, "forward", own->forward);
        ss_json_member_real(json, "distance", own->distance);
        ss_json_member_index(json, "worst_contact", own->worst_contact);
        ss_json_member_index(json, "certain", certain);
        if (own->second[0]) {
            ss_json_member_text(json, "second", own->second);
            ss_json_member_real(json, "agreed", own->agreed);
        }
        ss_json_key(json, "contacts");
        ss_json_begin_array(json);
        for (int i = 0; i < own->contacts; i++) {
            ss_json_begin_object(json);
            ss_json_member_text(json, "state", state_names[own->contact[i].state]);
            ss_json_key(json, "certain"), ss_json_bool(json, own->contact[i].certain);
            ss_json_member_real(json, "bound", own->contact[i].bound);
            ss_json_member_real(json, "margin", own->contact[i].margin);
            ss_json_end_object(json);
            ss_out_drain(c->command->out);
        }
        ss_json_end_array(json);
    }
    ss_json_end_object(json);
}

static void add_line(certifying *c, const finding *found)
{
    const ss_certificate *own = found->certificate;
    int states = 0, certain = 0;
    for (int i = 0; own && i < own->contacts; i++) {
        states += own->contact[i].state != SS_CERTIFIED_LEFT_OUT;
        certain += own->contact[i].certain;
    }
    bool proved = own && own->level >= SS_CERTIFIED_BACKWARD;
    if (found->index >= 0)
        ss_table_add(&c->table, "%d", found->index);
    else
        ss_table_add(&c->table, "%s", found->place);
    ss_table_add(&c->table, "%s", !own ? "-" : found->result ? found->result : own->solver);
    ss_table_add_styled(&c->table, proved ? SS_STYLE_GOOD : SS_STYLE_BAD,
                        own ? ss_certificate_level_name(own->level) : "none");
    double bound = own ? fmax(fmax(own->bound, own->spin_speed), own->joint_bound) : 0.0;
    ss_table_add(&c->table, own ? "%.2g" : "-", bound);
    ss_table_add(&c->table, own && own->scale > 0.0 ? "%.2g" : "-", own ? bound / own->scale : 0.0);
    ss_table_add(&c->table, "%d/%d", certain, states);
    bool compared = own && own->second[0];
    ss_table_add(&c->table, compared ? "%.2g" : "-", compared ? own->agreed : 0.0);
    for (int i = 0; own && c->options->contacts && i < own->contacts; i++) {
        const ss_certified_contact *contact = &own->contact[i];
        if (found->index >= 0)
            ss_table_add(&c->contacts, "%d", found->index);
        else
            ss_table_add(&c->contacts, "%s", found->place);
        ss_table_add(&c->contacts, "%d", i);
        ss_table_add(&c->contacts, "%s", state_names[contact->state]);
        ss_table_add(&c->contacts, "%s", contact->certain ? "yes" : "no");
        ss_table_add(&c->contacts, "%.2g", contact->bound);
        ss_table_add(&c->contacts, "%.3g", contact->margin);
    }
}

static void tell(certifying *c, const finding *found)
{
    const ss_certificate *own = found->certificate;
    c->count++;
    c->count_of[own ? own->level : SS_CERTIFIED_NOT]++;
    double share = own && own->scale > 0.0 ? fmax(own->bound, own->joint_bound) / own->scale : 0.0;
    if (share > c->worst) {
        c->worst = share;
        snprintf(c->worst_place, sizeof c->worst_place, "%s", found->place);
    }
    (c->options->json ? put_certificate : add_line)(c, found);
    if (!own || own->level < SS_CERTIFIED_BACKWARD)
        ss_command_say(c->command, "%s: not proved%s: %s", found->place,
                       found->late ? " within the time limit" : "",
                       own ? own->reason : "no method accepts the problem");
}

static void begin_output(certifying *c)
{
    if (c->options->json) {
        c->json.text = &c->command->out->text;
        ss_json_begin_object(&c->json);
        ss_json_member_text(&c->json, "file", c->path);
        ss_json_key(&c->json, "certificates");
        ss_json_begin_array(&c->json);
        return;
    }
    const char *const heads[] = {c->file ? "frame" : "problem",
                                 "solver",
                                 "level",
                                 "bound [m/s]",
                                 "relative",
                                 "states",
                                 "agreed [m/s]"};
    static const char *const contact_heads[] = {"frame",   "contact",     "state",
                                                "certain", "bound [m/s]", "margin [m/s]"};
    static const unsigned char expendable[] = {6, 5, 0};
    c->table = (ss_table){.columns = sizeof heads / sizeof *heads, .left = 3, .expendable = expendable};
    c->contacts = (ss_table){.columns = sizeof contact_heads / sizeof *contact_heads, .left = 4};
    for (int i = 0; i < c->table.columns; i++) ss_table_add(&c->table, "%s", heads[i]);
    for (int i = 0; i < c->contacts.columns; i++) ss_table_add(&c->contacts, "%s", contact_heads[i]);
}

static void end_output(certifying *c)
{
    if (c->options->json) {
        ss_json_end_array(&c->json);
        ss_json_key(&c->json, "levels");
        ss_json_begin_object(&c->json);
        for (int level = 0; level < SS_CERTIFICATE_LEVELS; level++)
            if (c->count_of[level])
                ss_json_member_index(&c->json, ss_certificate_level_name((ss_certificate_level)level),
                                     c->count_of[level]);
        ss_json_end_object(&c->json);
        ss_tally_json(&c->json, "repairs", &c->tally, SS_FINDING_REPAIR);
        ss_refused_json(&c->json, &c->refused);
        ss_json_end_object(&c->json);
        ss_text_append(c->json.text, "\n");
        return;
    }
    ss_text *text = &c->command->out->text;
    ss_table_print(&c->table, c->command->out);
    if (c->options->contacts) {
        ss_text_append(text, "\n");
        ss_table_print(&c->contacts, c->command->out);
    }
    int proved = 0;
    for (int level = SS_CERTIFIED_BACKWARD; level < SS_CERTIFICATE_LEVELS; level++)
        proved += c->count_of[level];
    ss_text_appendf(text, "\n%d of %d proved", proved, c->count);
    const char *before = ":";
    for (int level = SS_CERTIFICATE_LEVELS - 1; level >= 0; level--) {
        if (!c->count_of[level]) continue;
        ss_text_appendf(text, "%s %d %s", before, c->count_of[level],
                        ss_certificate_level_name((ss_certificate_level)level));
        before = ",";
    }
    if (c->worst > 0.0) {
        ss_text_appendf(text, "; the largest relative bound is %.2g at ", c->worst);
        ss_text_append_clean(text, c->worst_place);
    }
    ss_text_append(text, "\n");
}

enum { LARGE = 2000 }; /* contacts */

/* A method begins, which may take a while: minutes, where there are many contacts. */
static void show_method(const char *solver, int contacts, void *context)
{
    certifying *c = context;
    char facts[160];
    snprintf(facts, sizeof facts, "%d contacts, %s", contacts, solver);
    if (c->progress.terminal && contacts > LARGE) c->progress.next = 0.0; // the next chance may be far away
    ss_progress_line_tell(&c->progress, c->file ? "certifying frame" : "certifying problem", c->done,
                          c->wanted, facts);
}

/* ---- one frame or problem ---------------------------------------------------------------------------- */

/* The frame with its certified answer; results of other solvers stay. */
static bool store(certifying *c, int index, const ss_frame *frame, const ss_proof *proof, ss_error *err)
{
    int simulation = ss_bpmd_frame_simulation(c->file, index);
    bool good = true;
    if (simulation != c->simulation) {
        ss_manifest manifest = {0};
        c->simulation = simulation;
        good = ss_bpmd_manifest(c->file, simulation, &manifest, err) &&
               ss_writer_simulation(c->writer, &manifest, err) &&
               ss_input_copy_shapes(c->file, simulation, c->writer, &c->tally, err);
        ss_manifest_free(&manifest);
    }
    if (!good || !ss_writer_frame(c->writer, frame, err) ||
        !ss_input_copy_scenery(c->file, index, c->writer, &c->tally, err))
        return false;

    int count = ss_bpmd_result_count(c->file, index, err);
    good = count >= 0;
    for (int i = 0; good && i < count; i++) {
        ss_stored_result other = {0};
        good = ss_bpmd_result(c->file, index, i, &other, err);
        if (good && strcmp(other.solver, SS_CERTIFIED_RESULT) != 0)
            good = ss_writer_result(c->writer, &other, err);
        ss_stored_result_free(&other);
    }
    return good && ss_writer_proof(c->writer, proof, true, err);
}

static bool prove_frame(certifying *c, int index, const char *place, const ss_frame *frame, ss_error *err)
{
    const ss_proof *proof = ss_prove_frame(c->prover, frame, err);
    if (!proof || ss_sandbox_interrupted()) return proof != NULL;
    finding found = {.place = place, .index = index, .certificate = proof->certificate, .late = proof->late};
    tell(c, &found);
    return !c->writer || store(c, index, frame, proof, err);
}

/* The answers of the file under Coulomb's law, or the convex one if they were made by it, with the rules that
 * are stored with them, or given. */
static bool verify_stored(certifying *c, int index, const char *place, const ss_frame *frame, ss_error *err)
{
    const certify_options *options = c->options;
    int count = ss_bpmd_result_count(c->file, index, err);
    bool good = count >= 0;
    for (int i = 0; good && i < count; i++) {
        ss_stored_result result = {0};
        good = ss_bpmd_result(c->file, index, i, &result, err);
        bool wanted = good && (!options->result || ss_solver_same(options->result, result.solver));
        if (wanted) {
            ss_stored_result rules = result;
            if (options->formulation || options->with.count > 0) {
                rules.formulation = (char *)(uintptr_t)(options->formulation ? options->formulation : "cone");
                rules.with = (char *)(uintptr_t)ss_text_get(&c->with);
            }
            bool convex = rules.formulation && strcmp(rules.formulation, "convex") == 0;
            ss_certify_options wish = {.law = convex ? SS_LAW_CONVEX : SS_LAW_CONE,
                                       .tolerance = options->tol};
            good = ss_stored_result_step(&rules, &wish.step, err);
            bool complete = good && ss_answer_is_complete(result.answer);
            ss_certificate *own = complete ? ss_certify(frame, result.answer, &wish, err) : NULL;
            good = good && (!complete || own);
            if (good && complete)
                tell(c,
                     &(finding){.place = place, .index = index, .result = result.solver, .certificate = own});
            else if (good)
                ss_command_say(c->command, "%s: %s is not complete", place, result.solver);
            ss_certificate_destroy(own);
        }
        ss_stored_result_free(&result);
    }
    return good;
}

static bool certify_frames(certifying *c, ss_error *err)
{
    int first = 0, end = 0;
    c->file = ss_bpmd_open(c->path, &c->options->source.limits, &c->options->source.read, err);
    bool good = c->file && ss_choose_frames(c->file, c->path, c->options->frame, &first, &end, err);
    if (good && c->options->output) {
        c->writer = ss_writer_open(c->options->output, SS_LAYOUT_CANONICAL, false, err);
        good = c->writer != NULL;
    }
    if (!good) return false;
    begin_output(c);

    // what is wrong with one frame does not stop the others
    c->wanted = end - first;
    for (int i = first; good && i < end && !ss_sandbox_interrupted(); i++) {
        char place[256];
        ss_bpmd_frame_path(c->file, i, place, sizeof place);
        ss_frame *frame = ss_input_read_frame(c->file, i, place, &c->tally, err);
        bool fine = frame && (c->options->stored ? verify_stored : prove_frame)(c, i, place, frame, err);
        ss_frame_destroy(frame);
        if (!fine) {
            good = err->code == SS_ERROR_INPUT;
            if (good) ss_refuse(&c->refused, place, err);
        }
        ss_progress_line_show(&c->progress, "certifying frame", ++c->done, c->wanted);
        if (!ss_out_drain(c->command->out)) break;
    }
    if (good && c->writer && !ss_sandbox_interrupted()) {
        good = ss_writer_close(c->writer, err);
        c->writer = NULL;
    }
    return good;
}

static bool certify_problem(certifying *c, ss_error *err)
{
    ss_fclib_kind kind;
    if (c->options->formulation || c->options->with.count || c->options->frame)
        return ss_fail(err, SS_ERROR_USAGE,
                       "certify: %s is an FCLIB file; --formulation, --with and --frame are for frames",
                       c->path);
    if (c->options->stored || c->options->output)
        return ss_fail(err, SS_ERROR_USAGE,
                       "certify: %s is an FCLIB file; --stored and --output are for frames", c->path);
    if (!ss_input_choose_problem(c->command, c->options->problem, &kind, err)) return false;
    ss_fclib *file = ss_input_read_problem(c->path, kind, &c->options->source.limits, &c->tally, err);
    ss_problem *problem = file ? ss_problem_from_cone(file->cone, err) : NULL;
    c->wanted = 1;
    const ss_proof *proof = problem ? ss_prove_problem(c->prover, problem, err) : NULL;
    if (proof && !ss_sandbox_interrupted()) {
        begin_output(c);
        tell(c, &(finding){.place = ss_fclib_kind_name(kind),
                           .index = -1,
                           .certificate = proof->certificate,
                           .late = proof->late});
    }
    ss_problem_destroy(problem);
    ss_fclib_destroy(file);
    return proof != NULL;
}

/* ---- the verb ---------------------------------------------------------------------------------------- */

static bool prepare(certifying *c, ss_error *err)
{
    const certify_options *options = c->options;
    if (!ss_rules_read("certify", options->formulation, &options->with, &c->with, err)) return false;
    if (options->output && !ss_input_check_target(c->command, options->output, err)) return false;
    if (options->stored && options->output)
        return ss_fail(err, SS_ERROR_USAGE,
                       "certify: --stored certifies what is there and writes nothing; leave out --output");
    if (options->result && !options->stored)
        return ss_fail(err, SS_ERROR_USAGE, "certify: --result needs --stored");
    if (options->stored) return true;
    const char *own = ss_extension_solver(c->command);
    ss_prover_options wish = {.formulation = options->formulation,
                              .with = ss_text_get(&c->with),
                              .solver = own ? own : options->solver,
                              .tolerance = options->tol,
                              .exact_unknowns = options->exact,
                              .alone = options->alone,
                              .thorough = options->thorough,
                              .time_limit = options->time_limit,
                              .begin = show_method,
                              .context = c};
    c->prover = ss_prover_create(&wish, err);
    if (!c->prover) return ss_fail_in(err, "certify");
    ss_prover_watch(c->prover, ss_sandbox_cancel());
    return true;
}

static int run_certify(const ss_command *command)
{
    certifying c = {.command = command,
                    .options = command->options,
                    .path = command->arguments[0],
                    .simulation = -1,
                    .refused = {.done = "certified", .list.limit = 10000}};
    c.refused.file = c.path;
    c.progress = ss_progress_line_begin(command);
    ss_error err = {0};
    ss_format format;
    bool good = prepare(&c, &err) && ss_format_of_file(c.path, &format, &err) &&
                (format == SS_FORMAT_BPMD ? certify_frames : certify_problem)(&c, &err);
    if (good && c.count == 0 && !c.refused.exit_code && c.options->stored)
        good =
            ss_fail(&err, SS_ERROR_INPUT, "%s: no complete %s%s is stored in these frames", c.path,
                    c.options->result ? "answer of " : "answer", c.options->result ? c.options->result : "");
    ss_progress_line_end(&c.progress);
    bool told = good && !ss_sandbox_interrupted();
    if (told) {
        end_output(&c);
        ss_tally_say(command, "repaired", &c.tally, SS_FINDING_REPAIR);
        ss_tally_say(command, "warning", &c.tally, SS_FINDING_WARNING);
    }

    int missing = 0;
    for (int level = 0; level < SS_CERTIFIED_BACKWARD; level++) missing += c.count_of[level];
    int code = !good                 ? ss_report(&err)
               : c.refused.exit_code ? c.refused.exit_code
               : missing             ? SS_EXIT_FOUND
                                     : SS_EXIT_DONE;
    if (c.writer) ss_writer_discard(c.writer);
    command->out->text.out_of_memory |= c.tally.out_of_memory || c.refused.list.out_of_memory;
    ss_prover_destroy(c.prover);
    ss_bpmd_close(c.file);
    ss_tally_free(&c.tally);
    ss_findings_free(&c.refused.list);
    ss_text_free(&c.with);
    ss_text_free(&c.table.cells);
    ss_text_free(&c.contacts.cells);
    return code;
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, certify_options, frame), .value_name = "PATH|N|A:B|all",
     .help = "Only this frame, by path or by number, counted from 0; or frames A to B-1. Default: all."},
    {SS_FLAG(TEXT, certify_options, output), .value_name = "OUT.h5",
     .help = "Store the frames with their certified answers and the certificates, as result 'certified'.",
     .letter = 'o'},
    {SS_FLAG(TEXT, certify_options, solver), .value_name = "SOLVER",
     .help = "The first method; others follow where its answer is not proved. Default: auto.", .letter = 's'},
    {SS_FLAG(TEXT, certify_options, formulation), .value_name = "FORMULATION",
     .help =
         "cone and convex are proved for the frame, others for the problem that they make of it. Default: "
         "cone.",
     .letter = 'f'},
    {SS_FLAG(LIST, certify_options, with), .value_name = "NAME=VALUE",
     .help = "An option of the formulation, such as the treatment of gaps; repeatable."},
    {SS_FLAG(REAL, certify_options, tol), .default_value = "1e-8", .min = 1e-16, .max = 1.0,
     .value_name = "SHARE",
     .help = "A proof is given where the bound is at most this share of the largest free velocity."},
    {SS_FLAG(INT, certify_options, exact), .default_value = "30", .min = 0, .max = 200, .value_name = "N",
     .help = "Try rational numbers where at most N unknowns are left; 0 = never."},
    {SS_FLAG(BOOL, certify_options, alone), .help = "Do not compare with a second family of methods."},
    {SS_FLAG(BOOL, certify_options, thorough),
     .help =
         "Treat large frames as small ones: compare them above 2,000 contacts too, try every method above "
         "10,000, and solve as far as rounding allows. May take hours."},
    {SS_FLAG(REAL, certify_options, time_limit), .default_value = "0", .min = 0.0, .max = 1e9,
     .value_name = "S",
     .help = "Wall time for each frame or problem, in seconds: then the answer found so far is certified. "
             "0 = none."},
    {SS_FLAG(BOOL, certify_options, stored),
     .help =
         "Solve nothing: certify the answers that the file holds under Coulomb's law (those of formulation "
         "convex under its own), by the rules that are stored with them or that --with gives."},
    {SS_FLAG(TEXT, certify_options, result), .value_name = "NAME",
     .help = "With --stored: only the answers of this solver."},
    {SS_FLAG(CHOICE, certify_options, problem), .default_value = "auto", .choices = SS_PROBLEM_CHOICES,
     .help = "Which problem of an FCLIB file that holds several."},
    {SS_FLAG(BOOL, certify_options, contacts),
     .help = "Also list every contact: state, whether it is certain, bound and margin. --json always does."},
    {SS_FLAG(BOOL, certify_options, json), .help = "Print one JSON object with all numbers."},
    {0}};

static const ss_option_group groups[] = {{"Options", table, 0},
                                         SS_SOLVER_EXTENSION_GROUP(certify_options, extensions),
                                         SS_INPUT_GROUPS(certify_options, source),
                                         SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"certify stack.h5 -o certified.h5", "every frame, with its proof"},
    {"certify ode.h5 --stored", "what can be proved about the answers of an engine"},
    {"certify stack.h5 --frame 3 --contacts", "which states are certain"},
    {"certify stack.h5 -f convex", "the convex law, where the exact velocities are enclosed too"},
    {"certify problem.hdf5", "a problem of FCLIB"},
    {0}};

const ss_verb ss_verb_certify = {
    .name = "certify",
    .summary = "prove how near the answers are to exact ones",
    .arguments = "FILE",
    .description =
        "Solves the frames of a BPMD file, or the problem of an FCLIB file, as accurately as double "
        "precision allows, by one method after the other until the answer is proved; then compares with a "
        "method of another family.\n\n"
        "The proof, level backward: the answer is the exact one to a problem whose free contact velocities "
        "differ by at most the bound. It is computed from the numbers of the frame, in arithmetic that "
        "encloses every rounding error, by code that solvers and formulations have no part in. Level "
        "forward also encloses the velocities (convex law), level exact is proved in rational numbers (small "
        "problems); extended is a bound above --tol, agreed and measured are no proofs. The state of a "
        "contact is certain where its margin exceeds the bound.\n\n"
        "The exit code is 0 if everything was proved, 1 if something was not, and 3 if a frame has faults; "
        "such frames are listed and skipped.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(certify_options),
    .reads_files = true,
    .run = run_certify,
};
