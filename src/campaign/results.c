#include "campaign/ledger.h"

static void free_problem(ss_problem_entry *p)
{
    char *texts[] = {p->place, p->file, p->format, p->scene, p->fault};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) ss_release(texts[i]);
}

static void free_method(ss_method_entry *m)
{
    char *texts[] = {m->label, m->formulation, m->with,      m->solver,      m->set,   m->plugin,
                     m->stop,  m->keep,        m->reference, m->plugin_file, m->clock, m->limit_by};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) ss_release(texts[i]);
}

static void free_machine(ss_machine *m)
{
    char *texts[] = {m->cpu, m->system, m->version, m->compiler, m->build};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) ss_release(texts[i]);
}

static void free_run(ss_run_entry *run)
{
    void *blocks[] = {run->message,   run->started, run->metrics, run->history,
                      run->crossings, run->bins,    run->samples};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ss_release(blocks[i]);
}

void ss_results_free(ss_results *results)
{
    for (int i = 0; i < results->machine_count; i++) free_machine(&results->machines[i]);
    for (int i = 0; i < results->problem_count; i++) free_problem(&results->problems[i]);
    for (int i = 0; i < results->method_count; i++) free_method(&results->methods[i]);
    for (int i = 0; i < results->run_count; i++) free_run(&results->runs[i]);
    ss_release(results->machines);
    ss_release(results->problems);
    ss_release(results->methods);
    ss_release(results->runs);
    ss_release(results->campaign);
    *results = (ss_results){0};
}
