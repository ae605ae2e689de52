/* Siconos is not installed: it has no variants. */
#include "variants.h"

int ss_siconos_count(void)
{
    return 0;
}

const char *ss_siconos_name(int variant)
{
    (void)variant;
    return "";
}

ss_cone *ss_siconos_global(const ss_problem *problem, ss_error *err)
{
    (void)problem, (void)err;
    return NULL;
}

const char *ss_siconos_refusal(int variant, const ss_problem *problem, const ss_cone *global)
{
    (void)variant, (void)problem, (void)global;
    return "Siconos is not installed";
}

ss_siconos_run *ss_siconos_prepare(int variant, ss_siconos_storage storage, const ss_problem *problem,
                                   const ss_cone *global)
{
    (void)variant, (void)storage, (void)problem, (void)global;
    return NULL;
}

bool ss_siconos_reset(ss_siconos_run *run, double own_tolerance, int most_iterations)
{
    (void)run, (void)own_tolerance, (void)most_iterations;
    return false;
}

void ss_siconos_solve(ss_siconos_run *run)
{
    (void)run;
}

const double *ss_siconos_answer(const ss_siconos_run *run)
{
    (void)run;
    return NULL;
}

int ss_siconos_iterations(const ss_siconos_run *run)
{
    (void)run;
    return 0;
}

void ss_siconos_release(ss_siconos_run *run)
{
    (void)run;
}
