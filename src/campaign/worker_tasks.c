#include "campaign/worker_tasks.h"

#include "campaign/compatibility.h"
#include "campaign/features.h"
#include "campaign/read_input.h"

#include <stdio.h>
#include <string.h>

/* ---- replies ------------------------------------------------------------------------------------- */

bool ss_reply_unpack(ss_unpacker *from, ss_error *err)
{
    if (ss_unpack_within(from, 0, 1) && !from->bad) return true;
    ss_error_code code = (ss_error_code)ss_unpack_within(from, SS_ERROR_USAGE, SS_ERROR_RESOURCES);
    char *message = ss_unpack_text(from);
    ss_fail(err, code, "%s", message ? message : "invalid reply from a worker process");
    ss_release(message);
    return false;
}

static bool do_task(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err)
{
    if (state->broken.code) {
        *err = state->broken;
        return false;
    }
    ss_pack_int(reply, true);
    switch ((ss_task_kind)task->kind) {
    case SS_TASK_LIST:
        return ss_task_list(state, reply, err);
    case SS_TASK_DESCRIBE:
        return ss_task_describe(state, task->method, reply, err);
    case SS_TASK_OPEN:
        return ss_task_open(state, task->problem, reply, err);
    case SS_TASK_INSPECT:
        return ss_task_inspect(state, task->problem, reply, err);
    case SS_TASK_RUN:
        return ss_task_run(state, task, reply, err);
    case SS_TASK_TIME:
        return ss_task_time(state, task, reply, err);
    case SS_TASK_RECORDED:
        return ss_task_recorded(state, task, reply, err);
    }
    return ss_fail(err, SS_ERROR_USAGE, "unknown task %d", task->kind);
}

void ss_worker_tasks_do(void *context, const ss_task *task, ss_text *reply)
{
    ss_worker_state *state = context;
    ss_error err = {0};
    if (!state) return; // no memory: an empty reply says so
    if (do_task(state, task, reply, &err)) return;
    ss_text_clear(reply);
    ss_pack_int(reply, false);
    ss_pack_int(reply, err.code ? err.code : SS_ERROR_RESOURCES);
    ss_pack_text(reply, err.message);
}

void *ss_worker_tasks_begin(void *context, ss_worker *worker)
{
    const ss_plan *plan = context;
    ss_worker_state *state = ss_allocate(1, sizeof *state); // lives as long as the process
    if (!state) return NULL;
    *state = (ss_worker_state){.plan = plan, .worker = worker, .source = -1, .problem = -1};
    if (plan->campaign->loaded.count == 0)
        ss_plugin_set_open(&plan->campaign->plugins, &state->plugins, &state->broken);
    return state;
}

/* ---- methods ------------------------------------------------------------------------------------- */

bool ss_task_list(ss_worker_state *state, ss_text *reply, ss_error *err)
{
    ss_probes probes = {0};
    ss_text accepts = {0};
    int count = ss_solver_count();
    if (!ss_probes_make(&probes, err)) return false;

    // Do plug-ins bring names that the parent has to know?
    bool more_than_solvers = false;
    for (int i = 0; i < state->plugins.count; i++) {
        const ss_extension *extension = ss_plugin_contents(state->plugins.files[i]);
        more_than_solvers |= (extension->formulations && extension->formulations[0]) ||
                             (extension->metrics && extension->metrics[0]);
    }
    ss_pack_int(reply, more_than_solvers);

    ss_pack_int(reply, count);
    for (int i = 0; i < count; i++) {
        const ss_solver *solver = ss_solver_at(i);
        const char *why;
        ss_text_clear(&accepts);
        for (int f = 0; f < ss_formulation_count(); f++) {
            bool any = ss_compatibility_of(&probes, solver, f, &why) != SS_COMPATIBLE_NONE;
            ss_text_append(&accepts, any ? "1" : "0");
        }
        ss_pack_text(reply, solver->name);
        ss_pack_int(reply, ss_plugin_set_index(&state->plugins, solver));
        ss_pack_text(reply, ss_text_get(&accepts));
        ss_pack_int(reply, (solver->traits & SS_WARM_STARTS) != 0);
    }
    ss_probes_free(&probes);
    bool good = !accepts.out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for solvers");
    ss_text_free(&accepts);
    return good;
}

/* The place in the campaign that says name=value of `assignment` for a solver or formulation, its owner. */
static const char *place_of(const char *assignment, const char *owner, const ss_option_sweep *sweeps,
                            int count)
{
    size_t length = strcspn(assignment, "=");
    for (int i = 0; i < count; i++) {
        const ss_option_sweep *sweep = &sweeps[i];
        bool same = strlen(sweep->name) == length && strncmp(sweep->name, assignment, length) == 0;
        if (same && (!sweep->owner || strcmp(sweep->owner, owner) == 0)) return sweep->where;
    }
    return assignment;
}

ss_session *ss_worker_state_session(ss_worker_state *state, int method, double limit, bool history,
                                    ss_error *err)
{
    if (state->session && state->session_method == method && state->session_limit == limit &&
        state->session_history == history)
        return state->session;
    ss_session_destroy(state->session);
    state->session_method = method;
    state->session_limit = limit;
    state->session_history = history;

    const ss_plan *plan = state->plan;
    const ss_planned_method *planned = &plan->methods[method];
    ss_request request = plan->request;
    ss_request_fault fault = {0};
    ss_text with = {0}, set = {0};
    request.formulation = planned->formulation;
    request.solver = planned->solver;
    request.stop = planned->stop;
    request.time_limit = limit;
    request.reference = plan->campaign->options.reference;
    ss_option_list_join(&planned->with, &with);
    ss_option_list_join(&planned->set, &set);
    request.with = ss_text_get(&with);
    request.set = ss_text_get(&set);
    request.history = history;
    state->session = ss_session_open(&request, &fault, err);
    ss_text_free(&with);
    ss_text_free(&set);
    if (state->session) {
        ss_session_watch(state->session, ss_worker_cancel(state->worker));
        ss_session_count_forgiven(state->session, ss_worker_forgiven(state->worker));
        return state->session;
    }

    // A fault is named by its place in the campaign. What a campaign file says wrongly is bad input, what
    // flags say wrongly is bad usage.
    const ss_selection *from = planned->selection;
    if (fault.member && strcmp(fault.member, "set") == 0)
        ss_fail_in(err, "%s", place_of(fault.item, planned->solver, from->set, from->set_count));
    else if (fault.member && strcmp(fault.member, "with") == 0)
        ss_fail_in(err, "%s", place_of(fault.item, planned->formulation, from->with, from->with_count));
    else if (from->where[0])
        ss_fail_in(err, "%s", from->where);
    else if (fault.member)
        ss_fail_in(err, "--%s", fault.member);
    if (from->where[0] && err->code == SS_ERROR_USAGE) err->code = SS_ERROR_INPUT;
    return NULL;
}

bool ss_task_describe(ss_worker_state *state, int index, ss_text *reply, ss_error *err)
{
    const ss_session *session = ss_worker_state_session(state, index, 0.0, true, err);
    char with[1024], set[1024];
    if (!session) return false;
    bool fits = ss_session_with(session, false, with, sizeof with) < (int)sizeof with &&
                ss_session_set(session, false, set, sizeof set) < (int)sizeof set;
    if (!fits) return ss_fail(err, SS_ERROR_USAGE, "options of more than %zu characters", sizeof set - 1);
    // The treatment of alternatives is part of a method's identity, but only where it is not the usual one:
    // ledgers from before there were alternatives keep their keys.
    ss_text words = {0};
    if (ss_session_method(session)->peg != SS_PEG_SELECT)
        ss_text_appendf(&words, "peg=%s%s", state->plan->request.peg, with[0] ? " " : "");
    ss_text_append(&words, with);
    ss_pack_text(reply, ss_text_get(&words));
    ss_start start = state->plan->methods[index].start; // the same holds for where runs start from
    ss_text_clear(&words);
    if (start != SS_START_COLD)
        ss_text_appendf(&words, "start=%s%s", ss_start_name(start), set[0] ? " " : "");
    ss_text_append(&words, set);
    ss_pack_text(reply, ss_text_get(&words));
    bool good = !words.out_of_memory;
    ss_text_free(&words);
    return good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for methods");
}

/* ---- problems ------------------------------------------------------------------------------------ */

static void forget_problem(ss_worker_state *state)
{
    if (state->has_truth) ss_truth_free(&state->truth);
    state->has_truth = false;
    ss_worker_state_forget_before(state);
    ss_session_destroy(state->session); // its memory has the size of the problem, and its frame goes
    state->session = NULL;
    ss_frame_destroy(state->frame);
    ss_fclib_destroy(state->fclib);
    ss_problem_destroy(state->lawful);
    state->frame = NULL;
    state->fclib = NULL;
    state->lawful = NULL;
    state->problem = -1;
}

ss_bpmd *ss_worker_state_file(ss_worker_state *state, int source, ss_error *err)
{
    const ss_campaign *campaign = state->plan->campaign;
    if (state->source == source && state->file) return state->file;
    ss_bpmd_close(state->file);
    state->file = ss_bpmd_open(campaign->sources[source].path, &campaign->limits, &campaign->read, err);
    state->source = source;
    return state->file;
}

void ss_worker_state_place(ss_worker_state *state, int index, char *place, size_t size)
{
    const ss_planned_problem *planned = &state->plan->problems[index];
    ss_bpmd *file = planned->index < 0 ? NULL : ss_worker_state_file(state, planned->source, NULL);
    if (file)
        ss_bpmd_frame_path(file, planned->index, place, size);
    else if (planned->index < 0)
        snprintf(place, size, "/fclib_%s", ss_fclib_kind_name(planned->kind));
    else
        snprintf(place, size, "/");
}

bool ss_worker_state_load(ss_worker_state *state, int index, ss_error *err)
{
    const ss_campaign *campaign = state->plan->campaign;
    const ss_planned_problem *planned = &state->plan->problems[index];
    if (state->problem == index) return true;
    forget_problem(state);

    if (planned->index >= 0) {
        char place[256];
        ss_bpmd *file = ss_worker_state_file(state, planned->source, err);
        if (file) {
            ss_bpmd_frame_path(file, planned->index, place, sizeof place);
            state->frame = ss_read_checked_frame(file, planned->index, place, NULL, err);
        }
        if (state->frame) ss_frame_hash(state->frame, state->hash);
    } else {
        const char *path = campaign->sources[planned->source].path;
        state->fclib = ss_read_checked_problem(path, planned->kind, &campaign->limits, NULL, err);
        if (state->fclib) {
            ss_cone_hash(state->fclib->cone, state->hash);
            state->lawful = ss_problem_from_cone(state->fclib->cone, err);
        }
    }
    bool good = state->frame || state->lawful;
    if (good)
        state->problem = index;
    else
        forget_problem(state);
    return good;
}

/* A file that changed under us must not be taken for the one that was inspected. */
bool ss_worker_state_load_again(ss_worker_state *state, int problem, ss_error *err)
{
    const ss_problem_entry *entry = &state->plan->problems[problem].entry;
    if (!ss_worker_state_load(state, problem, err)) return false;
    return strcmp(state->hash, entry->hash) == 0 ||
           ss_fail(err, SS_ERROR_INPUT, "%s: %s: changed while the campaign was running", entry->file,
                   entry->place);
}
