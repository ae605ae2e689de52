/* The first stages of a campaign: which methods there are, and which problems. */
#include "campaign/execute_internal.h"

#include "base/digest.h"
#include "campaign/inspect.h"
#include "campaign/machine.h"
#include "solver/core/names.h"

#include <stdio.h>
#include <string.h>

#define LEFT_OUT_NAMED 6

/* The error of a task without a proper reply. */
static bool fail_task(const ss_ending *ending, const char *what, ss_error *err)
{
    ss_error_code code = ending->outcome == SS_OUTCOME_OUT_OF_MEMORY ? SS_ERROR_RESOURCES : SS_ERROR_INPUT;
    if (ending->replied) return ss_fail(err, code, "%s: invalid reply from a worker process", what);
    return ss_fail(err, code, "%s: %s: %s", what, ss_outcome_name(ending->outcome), ending->message);
}

/* ---- solvers there are --------------------------------------------------------------------------- */

/* Solvers that are built in or come from plug-ins, as a worker lists them. */
static bool take_catalogue(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                           size_t size, ss_error *err)
{
    ss_execution *e = context;
    ss_unpacker from = {reply, reply + size, false};
    (void)task;
    if (!ending->replied) return fail_task(ending, "loading the plug-ins", err);
    if (!ss_reply_unpack(&from, err)) return false;

    e->more_than_solvers = ss_unpack_within(&from, 0, 1);
    int count = ss_unpack_within(&from, 0, 1 << 20);
    e->catalogue.entries = ss_allocate((size_t)count, sizeof *e->catalogue.entries);
    if (!e->catalogue.entries) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for solvers");
    for (int i = 0; i < count && !from.bad; i++) {
        ss_catalogue_entry *entry = &e->catalogue.entries[e->catalogue.count++];
        entry->name = ss_unpack_text(&from);
        entry->plugin = ss_unpack_within(&from, -1, e->campaign->plugins.count - 1);
        entry->accepts = ss_unpack_text(&from);
        entry->starts = ss_unpack_within(&from, 0, 1);
        if (!entry->name || !entry->accepts) from.bad = true;
    }
    return !from.bad || fail_task(ending, "loading the plug-ins", err);
}

/* ---- where methods come from --------------------------------------------------------------------- */

/* What tells one version of an extension from another: the contents of its file, or what it says. */
typedef struct origin {
    char digest[33];
    const char *file; /* as --plugin was given it; "" if it is no file */
    bool is_command;  /* the file is the label of a solver that is another process, "command:NAME=COMMAND" */
} origin;

static bool origin_of(const ss_execution *e, int plugin, const void *item, bool is_command, origin *from)
{
    const ss_extension *extension = plugin < 0 && item ? ss_extension_of(item) : NULL;
    *from = (origin){.file = ""};
    if (plugin >= 0) {
        memcpy(from->digest, e->plugin_digests[plugin], sizeof from->digest);
        from->file = e->campaign->plugins.items[plugin];
    } else if (extension) {
        ss_digest digest = ss_digest_start();
        ss_digest_add_text(&digest, extension->name ? extension->name : "");
        ss_digest_add_text(&digest, extension->version ? extension->version : "");
        ss_digest_print(&digest, from->digest);
        from->is_command = is_command;
        if (is_command) from->file = extension->name;
    }
    return from->digest[0] != '\0';
}

/* A file whose name looks like a command is named by another path to it. */
static void append_file(ss_text *files, const origin *from)
{
    static const char command[] = "command:";
    if (!*from->file) return;
    bool misleads = !from->is_command && strncmp(from->file, command, sizeof command - 1) == 0;
    ss_text_appendf(files, "%s%s%s", files->length ? "\n" : "", misleads ? "./" : "", from->file);
}

/* Solver and formulation may come from two plug-ins: then the digest is that of both, and the files are
 * separated by a line break. */
static bool find_origin(ss_execution *e, const ss_planned_method *method, ss_method_entry *entry,
                        ss_error *err)
{
    const ss_catalogue_entry *solver = ss_catalogue_find(&e->catalogue, method->solver);
    const ss_formulation *formulation = ss_formulation_find(method->formulation);
    const ss_solver *known = ss_solver_find(method->solver);
    origin a, b;
    bool has_a = origin_of(e, solver ? solver->plugin : -1, known, known && ss_is_solver_command(known), &a);
    bool has_b = origin_of(e, formulation ? ss_plugin_set_index(&e->campaign->loaded, formulation) : -1,
                           formulation, false, &b);
    bool both = has_a && has_b && strcmp(a.digest, b.digest) != 0;
    if (both) {
        ss_digest digest = ss_digest_start();
        ss_digest_add_text(&digest, a.digest);
        ss_digest_add_text(&digest, b.digest);
        ss_digest_print(&digest, a.digest);
    }

    ss_text files = {0};
    append_file(&files, has_a ? &a : &b);
    if (both) append_file(&files, &b);
    const char *digest = has_a ? a.digest : b.digest;
    entry->plugin = (char *)(uintptr_t)ss_campaign_copy(e->campaign, digest, strlen(digest), err);
    entry->plugin_file =
        (char *)(uintptr_t)ss_campaign_copy(e->campaign, ss_text_get(&files), files.length, err);
    bool good = !files.out_of_memory && entry->plugin && entry->plugin_file;
    ss_text_free(&files);
    return good;
}

/* ---- methods ------------------------------------------------------------------------------------- */

/* A worker has made the method and tells its options in full; the rest of its entry is the campaign's. */
static bool method_done(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                        size_t size, ss_error *err)
{
    ss_execution *e = context;
    const ss_campaign_options *options = &e->campaign->options;
    bool by_processor = options->clock == SS_COUNT_PROCESSOR_TIME;
    ss_unpacker from = {reply, reply + size, false};
    ss_planned_method *method = &e->plan.methods[task->method];
    e->done++;
    if (!ending->replied) return fail_task(ending, method->solver, err);
    if (!ss_reply_unpack(&from, err)) return false;

    method->entry =
        (ss_method_entry){.formulation = (char *)(uintptr_t)method->formulation,
                          .with = ss_unpack_text(&from),
                          .solver = (char *)(uintptr_t)method->solver,
                          .set = ss_unpack_text(&from),
                          .stop = (char *)(uintptr_t)method->stop,
                          .keep = (char *)(uintptr_t)options->keep,
                          .iterations = options->iterations,
                          .time_limit = options->time_limit,
                          .seed = options->seed,
                          .reference = (char *)(uintptr_t)(options->reference ? options->reference : ""),
                          .clock = (char *)(uintptr_t)(by_processor ? SS_CLOCK_PROCESSOR : SS_CLOCK_WALL)};
    if (e->limit_rule.solver && !ss_execution_sets_limits(e, method))
        method->entry.limit_by = (char *)(uintptr_t)options->limit_by;

    const ss_solver *solver = ss_solver_find(method->solver);
    if (by_processor && solver && ss_is_solver_command(solver))
        return ss_fail(err, SS_ERROR_USAGE,
                       "--clock cpu: %s is a program of its own, whose time is not known", method->solver);
    return (!from.bad && method->entry.with && method->entry.set &&
            find_origin(e, method, &method->entry, err)) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for methods");
}

bool ss_execution_sets_limits(const ss_execution *e, const ss_planned_method *method)
{
    return e->limit_rule.solver && ss_solver_same(method->solver, e->limit_rule.solver);
}

bool ss_execution_find_methods(ss_execution *e, ss_error *err)
{
    // Plug-ins are opened by workers; here only if they bring more than solvers, which workers alone need.
    ss_campaign_stage listing = {
        .doing = "listing solvers", .workers = 1, .core = -1, .done = take_catalogue};
    const ss_option_list *plugins = &e->campaign->plugins;
    e->plugin_digests = ss_allocate((size_t)plugins->count, sizeof *e->plugin_digests);
    if (!e->plugin_digests) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for plug-ins");
    for (int i = 0; i < plugins->count; i++)
        if (!ss_file_digest(plugins->items[i], e->plugin_digests[i], err)) return false;
    ss_queue_add(&e->queue, 0, &(ss_task){.kind = SS_TASK_LIST});
    if (!ss_execution_stage(e, &listing, err)) return false;
    if (ss_execution_interrupted(e)) return true;
    if (e->more_than_solvers && !ss_plugin_set_open(plugins, &e->campaign->loaded, err)) return false;

    // Of the combinations that do not fit few are named, many are counted.
    ss_text left_out = {0};
    bool good = ss_campaign_expand(e->campaign, &e->catalogue, &e->plan.methods, &e->plan.method_count,
                                   &left_out, err);
    int combinations = left_out.length > 0;
    for (size_t i = 0; i < left_out.length; i++) combinations += left_out.data[i] == ',';
    if (combinations > LEFT_OUT_NAMED)
        ss_execution_say(e,
                         "skipped %d combinations of solver, formulation and start that do not fit together, "
                         "see stickslip solvers --table",
                         combinations);
    else if (combinations > 0)
        ss_execution_say(e,
                         "skipped combinations of solver, formulation and start that do not fit together: %s",
                         ss_text_get(&left_out));
    ss_text_free(&left_out);
    if (!good) return false;

    bool paced = !e->limit_rule.solver;
    for (int i = 0; i < e->plan.method_count; i++) paced |= ss_execution_sets_limits(e, &e->plan.methods[i]);
    if (!paced)
        return ss_fail(err, SS_ERROR_USAGE, "--limit-by %s: no solver '%s' in this campaign",
                       e->campaign->options.limit_by, e->limit_rule.solver);

    // Workers make each method once, which checks its options.
    ss_campaign_stage testing = {
        .doing = "testing methods", .workers = e->campaign->jobs, .core = -1, .done = method_done};
    for (int i = 0; i < e->plan.method_count; i++)
        ss_queue_add(&e->queue, 0, &(ss_task){.kind = SS_TASK_DESCRIBE, .method = i});
    if (!ss_execution_stage(e, &testing, err)) return false;
    if (ss_execution_interrupted(e)) {
        e->plan.method_count = 0; // some have no entry yet; their texts are lost with the process
        return true;
    }

    // Into the ledger. Two that say the same are one.
    int kept = 0;
    for (int i = 0; i < e->plan.method_count; i++) {
        ss_planned_method *method = &e->plan.methods[i];
        if (!ss_ledger_method(e->ledger, &method->entry, err)) return false;
        bool twice = false;
        for (int k = 0; k < kept && !twice; k++) twice = e->plan.methods[k].entry.id == method->entry.id;
        if (twice) {
            ss_release(method->entry.with);
            ss_release(method->entry.set);
        } else {
            e->plan.methods[kept++] = *method;
        }
    }
    e->plan.method_count = e->summary->methods = kept;
    return true;
}

/* ---- sources ------------------------------------------------------------------------------------- */

static const char *path_of(const ss_execution *e, int source)
{
    return e->campaign->sources[source].path;
}

/* It becomes a problem of its own, with a fault. */
static bool refuse_source(ss_execution *e, int source, const char *fault, ss_error *err)
{
    e->contents[source] = (ss_source_contents){.fault = ss_text_copy(fault)};
    e->opened[source] = true;
    return e->contents[source].fault || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for files");
}

/* A worker has looked into a file, or failed to. */
static bool source_done(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                        size_t size, ss_error *err)
{
    ss_execution *e = context;
    ss_unpacker from = {reply, reply + size, false};
    const char *path = path_of(e, task->problem);
    ss_error why = {0};
    e->done++;
    if (ending->replied && ss_reply_unpack(&from, &why)) {
        e->opened[task->problem] = true;
        return ss_source_contents_unpack(&from, &e->contents[task->problem])
                   ? ss_ledger_forget_file(e->ledger, path, err)
                   : refuse_source(e, task->problem, "cannot be read: invalid reply from a worker process",
                                   err);
    }

    // What is wrong with the file is a result; what is wrong here, such as a lack of memory, is not.
    if (!ending->replied)
        ss_fail(&why, SS_ERROR_INPUT, "cannot be read: %s: %s", ss_outcome_name(ending->outcome),
                ending->message);
    if (why.code == SS_ERROR_INPUT)
        return refuse_source(e, task->problem, ss_fault_without_path(&why, path), err);
    ss_execution_complain(e, why.code, "%s", why.message);
    return true;
}

/* ---- problems ------------------------------------------------------------------------------------ */

/* Every frame and every FCLIB problem of the files, and every file that cannot be read. */
static bool plan_problems(ss_execution *e, ss_error *err)
{
    size_t count = 0;
    for (int i = 0; i < e->campaign->source_count; i++) {
        const ss_source_contents *contents = &e->contents[i];
        size_t every = (size_t)e->campaign->sources[i].every;
        if (!e->opened[i]) continue;
        count += (size_t)contents->kind_count + (contents->fault != NULL);
        count += ((size_t)(contents->end - contents->begin) + every - 1) / every;
    }
    if (count > INT32_MAX / 2) return ss_fail(err, SS_ERROR_RESOURCES, "too many problems");
    ss_planned_problem *problems = e->plan.problems = ss_allocate(count, sizeof *e->plan.problems);
    if (!problems) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for problems");

    for (int source = 0; source < e->campaign->source_count; source++) {
        const ss_source_contents *contents = &e->contents[source];
        if (!e->opened[source]) continue;
        ss_planned_problem planned = {.source = source, .index = -1, .entry = {.index = -1}};
        planned.entry.file = (char *)(uintptr_t)path_of(e, source);
        planned.entry.format = (char *)(contents->format == SS_FORMAT_BPMD ? "bpmd" : "fclib");
        if (contents->fault) {
            planned.entry.format = (char *)"";
            if (!ss_problem_entry_refuse(&planned.entry, path_of(e, source), contents->fault, err))
                return false;
            problems[e->plan.problem_count++] = planned;
        }
        for (int i = 0; i < contents->kind_count; i++) {
            planned.kind = contents->kinds[i];
            problems[e->plan.problem_count++] = planned;
        }
        for (int64_t i = contents->begin; i < contents->end; i += e->campaign->sources[source].every) {
            planned.index = planned.entry.index = (int)i;
            problems[e->plan.problem_count++] = planned;
        }
    }
    return true;
}

/* A worker that died took the place with it: frames are named by their number then. */
static bool blame_problem(ss_execution *e, ss_planned_problem *planned, const char *why, ss_error *err)
{
    char place[64], fault[1100];
    if (planned->index < 0)
        snprintf(place, sizeof place, "/fclib_%s", ss_fclib_kind_name(planned->kind));
    else
        snprintf(place, sizeof place, "frame %d", planned->index);
    snprintf(fault, sizeof fault, "cannot be read: %s", why);
    return ss_problem_entry_fail(&planned->entry, place, path_of(e, planned->source), fault, err);
}

static bool inspected(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                      size_t size, ss_error *err)
{
    ss_execution *e = context;
    ss_planned_problem *planned = &e->plan.problems[task->problem];
    ss_unpacker from = {reply, reply + size, false};
    ss_error why;
    if (!ending->replied && !ending->fresh) { // the one before may have done the damage
        ss_task again = *task;
        again.fresh = true;
        ss_queue_again(&e->queue, &again);
        return true;
    }
    e->done++;
    if (!ending->replied) return blame_problem(e, planned, ending->message, err);
    if (!ss_reply_unpack(&from, &why)) return blame_problem(e, planned, why.message, err);
    planned->has_before = ss_unpack_within(&from, 0, 1);
    return ss_problem_entry_unpack(&from, &planned->entry) ||
           blame_problem(e, planned, "invalid reply from a worker process", err);
}

/* Which problems follow each other in the plan as they do in their files. With start own all must: the answer
 * to a frame is a result of all runs before it. */
static bool find_chains(ss_execution *e, ss_error *err)
{
    bool own = false;
    for (int m = 0; m < e->plan.method_count; m++) own |= e->plan.methods[m].start == SS_START_OWN;
    for (int p = 0; p < e->plan.problem_count; p++) {
        ss_planned_problem *planned = &e->plan.problems[p], *before = p > 0 ? planned - 1 : planned;
        bool beside = p > 0 && before->index >= 0 && before->index + 1 == planned->index &&
                      strcmp(path_of(e, before->source), path_of(e, planned->source)) == 0;
        planned->follows = planned->has_before && beside && !before->entry.fault;
        if (own && planned->has_before && !beside && !planned->entry.fault)
            return ss_fail(err, SS_ERROR_USAGE,
                           "--start own: %s: frame %d is used without frame %d before it; use whole "
                           "simulations, or start warm",
                           path_of(e, planned->source), planned->index, planned->index - 1);
    }
    return true;
}

bool ss_execution_see(ss_text *seen, int64_t id, bool *twice, ss_error *err)
{
    while (!seen->out_of_memory && (int64_t)seen->length <= id) ss_text_append_bytes(seen, "", 1);
    if (seen->out_of_memory) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for problems");
    *twice = seen->data[id];
    seen->data[id] = 1;
    return true;
}

bool ss_execution_find_problems(ss_execution *e, ss_error *err)
{
    if (ss_execution_interrupted(e)) return true;
    size_t sources = (size_t)e->campaign->source_count;
    e->contents = ss_allocate(sources, sizeof *e->contents);
    e->opened = ss_allocate(sources, sizeof *e->opened);
    if (!e->contents || !e->opened) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for files");

    // What is in the files ...
    ss_campaign_stage opening = {
        .doing = "opening files", .workers = e->campaign->jobs, .core = -1, .done = source_done};
    for (int i = 0; i < e->campaign->source_count; i++)
        ss_queue_add(&e->queue, 0, &(ss_task){.kind = SS_TASK_OPEN, .problem = i});
    if (!ss_execution_stage(e, &opening, err) || !plan_problems(e, err)) return false;

    // ... and what kind of problems they are; a worker stays with one file.
    ss_campaign_stage inspecting = {
        .doing = "analysing problems", .workers = e->campaign->jobs, .core = -1, .done = inspected};
    for (int i = 0; i < e->plan.problem_count; i++)
        if (!e->plan.problems[i].entry.fault)
            ss_queue_add(&e->queue, e->plan.problems[i].source,
                         &(ss_task){.kind = SS_TASK_INSPECT, .problem = i});
    if (!ss_execution_stage(e, &inspecting, err)) return false;
    if (ss_execution_interrupted(e)) return true;

    // Into the ledger. The same problem in two files is one; the first file has it.
    if (!find_chains(e, err)) return false; // a mistake leaves nothing behind
    int kept = 0;
    ss_text seen = {0};
    for (int i = 0; i < e->plan.problem_count; i++) {
        ss_planned_problem *planned = &e->plan.problems[i];
        ss_problem_entry *entry = &planned->entry;
        bool twice = false;
        if (!ss_ledger_problem(e->ledger, entry, err) || !ss_execution_see(&seen, entry->id, &twice, err)) {
            ss_text_free(&seen);
            return false;
        }
        if (entry->fault && !twice) {
            e->summary->faulty++;
            ss_execution_complain(e, SS_ERROR_INPUT, "%s: not solved: %s", entry->file, entry->fault);
        }
        if (twice)
            ss_problem_entry_clear(entry);
        else
            e->plan.problems[kept++] = *planned;
    }
    ss_text_free(&seen);
    e->plan.problem_count = e->summary->problems = kept;
    return find_chains(e, err);
}
