#include "bench/labour.h"

#include "bench/features.h"
#include "bench/reach.h"
#include "bench/reading.h"

#include <stdio.h>
#include <string.h>

/* ---- replies ------------------------------------------------------------------------------------- */

bool ss_labour_unpack(ss_unpacker *from, ss_error *err)
{
    if (ss_unpack_within(from, 0, 1) && !from->bad) return true;
    ss_error_code code = (ss_error_code)ss_unpack_within(from, SS_ERROR_USAGE, SS_ERROR_RESOURCES);
    char *message = ss_unpack_text(from);
    ss_fail(err, code, "%s", message ? message : "a worker answered nonsense");
    ss_release(message);
    return false;
}

static bool do_task(ss_labour *labour, const ss_task *task, ss_text *reply, ss_error *err)
{
    if (labour->broken.code) {
        *err = labour->broken;
        return false;
    }
    ss_pack_int(reply, true);
    switch ((ss_task_kind)task->kind) {
    case SS_TASK_LIST:
        return ss_labour_list(labour, reply, err);
    case SS_TASK_DESCRIBE:
        return ss_labour_describe(labour, task->method, reply, err);
    case SS_TASK_OPEN:
        return ss_labour_open(labour, task->problem, reply, err);
    case SS_TASK_SURVEY:
        return ss_labour_survey(labour, task->problem, reply, err);
    case SS_TASK_RUN:
        return ss_labour_run(labour, task, reply, err);
    case SS_TASK_TIME:
        return ss_labour_time(labour, task, reply, err);
    }
    return ss_fail(err, SS_ERROR_USAGE, "unknown task %d", task->kind);
}

void ss_labour_work(void *state, const ss_task *task, ss_text *reply)
{
    ss_labour *labour = state;
    ss_error err = {0};
    if (!labour) return; // no memory: an empty reply says so
    if (do_task(labour, task, reply, &err)) return;
    ss_text_clear(reply);
    ss_pack_int(reply, false);
    ss_pack_int(reply, err.code ? err.code : SS_ERROR_RESOURCES);
    ss_pack_text(reply, err.message);
}

void *ss_labour_begin(void *context, ss_worker *worker)
{
    const ss_plan *plan = context;
    ss_labour *labour = ss_allocate(1, sizeof *labour); // lives as long as the process
    if (!labour) return NULL;
    *labour = (ss_labour){.plan = plan, .worker = worker, .source = -1, .problem = -1};
    labour->methods = ss_allocate((size_t)plan->method_count, sizeof *labour->methods);
    if (!labour->methods) return NULL;
    ss_solver_set_open(&plan->campaign->plugins, &labour->solvers, &labour->broken);
    return labour;
}

/* ---- methods ------------------------------------------------------------------------------------- */

static int plugin_of(const ss_solver_set *set, int index)
{
    index -= ss_solver_count();
    for (int i = 0; i < set->file_count && index >= 0; i++) {
        int count = ss_plugin_contents(set->files[i])->count;
        if (index < count) return i;
        index -= count;
    }
    return -1;
}

bool ss_labour_list(ss_labour *labour, ss_text *reply, ss_error *err)
{
    ss_probes probes = {0};
    int count = ss_solver_set_count(&labour->solvers);
    if (!ss_probes_make(&probes, err)) return false;
    ss_pack_int(reply, count);
    for (int i = 0; i < count; i++) {
        const ss_solver *solver = ss_solver_set_at(&labour->solvers, i);
        uint64_t takes = 0;
        const char *why;
        for (int f = 0; f < ss_formulation_count() && f < 64; f++)
            if (ss_reach_of(&probes, solver, f, &why) != SS_REACH_NONE) takes |= UINT64_C(1) << f;
        ss_pack_text(reply, solver->name);
        ss_pack_int(reply, plugin_of(&labour->solvers, i));
        ss_pack_int(reply, (int64_t)takes);
    }
    ss_probes_free(&probes);
    return true;
}

const ss_method *ss_labour_method(ss_labour *labour, int index, ss_error *err)
{
    const ss_plan *plan = labour->plan;
    const ss_planned_method *planned = &plan->methods[index];
    ss_method *method = &labour->methods[index];
    ss_method_words words = {.formulation = planned->formulation,
                             .solver = planned->solver,
                             .reference = plan->campaign->options.reference,
                             .with = &planned->with,
                             .set = &planned->set,
                             .run = &plan->run};
    if (method->solver || ss_method_prepare(&words, &labour->solvers, method, err)) return method;
    return NULL;
}

bool ss_labour_describe(ss_labour *labour, int index, ss_text *reply, ss_error *err)
{
    const ss_method *method = ss_labour_method(labour, index, err);
    if (!method) return false;
    ss_text with = {0}, set = {0};
    ss_options_differences(method->formulation->options, method->formulation_options, &with);
    ss_options_differences(method->solver->options, method->solver_options, &set);
    bool good = !with.out_of_memory && !set.out_of_memory;
    ss_pack_text(reply, ss_text_get(&with));
    ss_pack_text(reply, ss_text_get(&set));
    ss_text_free(&with);
    ss_text_free(&set);
    return good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options");
}

/* ---- problems ------------------------------------------------------------------------------------ */

static void forget_truth(ss_labour *labour)
{
    if (labour->has_truth) ss_truth_free(&labour->truth);
    labour->has_truth = false;
}

static void forget_problem(ss_labour *labour)
{
    forget_truth(labour);
    ss_frame_destroy(labour->frame);
    ss_fclib_destroy(labour->fclib);
    ss_problem_destroy(labour->lawful);
    labour->frame = NULL;
    labour->fclib = NULL;
    labour->lawful = NULL;
    labour->problem = -1;
}

ss_bpmd *ss_labour_file(ss_labour *labour, int source, ss_error *err)
{
    const ss_campaign *campaign = labour->plan->campaign;
    if (labour->source == source && labour->file) return labour->file;
    ss_bpmd_close(labour->file);
    labour->file = ss_bpmd_open(campaign->sources[source].path, &campaign->limits, &campaign->read, err);
    labour->source = source;
    return labour->file;
}

void ss_labour_place(ss_labour *labour, int index, char *place, size_t size)
{
    const ss_planned_problem *planned = &labour->plan->problems[index];
    ss_bpmd *file = planned->index < 0 ? NULL : ss_labour_file(labour, planned->source, NULL);
    if (file)
        ss_bpmd_frame_path(file, planned->index, place, size);
    else if (planned->index < 0)
        snprintf(place, size, "/fclib_%s", ss_fclib_kind_name(planned->kind));
    else
        snprintf(place, size, "/");
}

static bool read_frame(ss_labour *labour, const ss_planned_problem *planned, ss_error *err)
{
    char place[256];
    ss_bpmd *file = ss_labour_file(labour, planned->source, err);
    if (!file) return false;
    ss_bpmd_frame_path(file, planned->index, place, sizeof place);
    labour->frame = ss_read_checked_frame(file, planned->index, place, NULL, err);
    if (labour->frame) ss_frame_hash(labour->frame, labour->hash);
    return labour->frame != NULL;
}

static bool read_problem(ss_labour *labour, const ss_planned_problem *planned, ss_error *err)
{
    const ss_campaign *campaign = labour->plan->campaign;
    const char *path = campaign->sources[planned->source].path;
    labour->fclib = ss_read_checked_problem(path, planned->kind, &campaign->limits, NULL, err);
    if (!labour->fclib) return false;
    ss_cone_hash(labour->fclib->cone, labour->hash);
    labour->lawful = ss_problem_from_cone(labour->fclib->cone, err);
    return labour->lawful != NULL;
}

bool ss_labour_load(ss_labour *labour, int index, ss_error *err)
{
    const ss_planned_problem *planned = &labour->plan->problems[index];
    if (labour->problem == index) return true;
    forget_problem(labour);
    bool good = planned->index >= 0 ? read_frame(labour, planned, err) : read_problem(labour, planned, err);
    if (good)
        labour->problem = index;
    else
        forget_problem(labour);
    return good;
}
