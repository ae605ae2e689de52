/* A plug-in of solvers that no one should have to survive, for test_plugin.m. */
#include <stickslip/plugin.h>

#include <math.h>
#include <signal.h>
#include <unistd.h>

static ss_status crash(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    raise(SIGSEGV);
    return SS_CONVERGED;
}

static ss_status hang(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    for (;;) sleep(1);
}

static ss_status leave(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    _exit(0);
}

static ss_status lie(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run, (void)x;
    return SS_CONVERGED;
}

static ss_status infect(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)run;
    x[0] = NAN;
    return SS_CONVERGED;
}

#define ANY (SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX)
static const ss_solver solvers[] = {
    {.abi = SS_ABI,
     .name = "crash",
     .summary = "",
     .reference = "",
     .weakness = "",
     .laws = ANY,
     .solve = crash},
    {.abi = SS_ABI,
     .name = "hang",
     .summary = "",
     .reference = "",
     .weakness = "",
     .laws = ANY,
     .solve = hang},
    {.abi = SS_ABI,
     .name = "leave",
     .summary = "",
     .reference = "",
     .weakness = "",
     .laws = ANY,
     .solve = leave},
    {.abi = SS_ABI, .name = "lie", .summary = "", .reference = "", .weakness = "", .laws = ANY, .solve = lie},
    {.abi = SS_ABI,
     .name = "infect",
     .summary = "",
     .reference = "",
     .weakness = "",
     .laws = ANY,
     .solve = infect},
};
static const ss_solver *const all[] = {&solvers[0], &solvers[1], &solvers[2], &solvers[3], &solvers[4], NULL};
SS_API const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = all};
