/* `stickslip solve` on FCLIB: one problem, with Coulomb's law on cones as it stands in the file. */
#include "cli/solve.h"

#include "problem/cone.h"

#include <string.h>

static void copy(double *to, const double *from, int count)
{
    if (count) memcpy(to, from, (size_t)count * sizeof *to);
}

/* x = (r, l) */
static void start_from(const ss_cone *cone, const ss_cone_point *guess, double *x)
{
    int m = ss_cone_size(cone);
    if (guess->r) copy(x, guess->r, m);
    if (guess->l) copy(x + m, guess->l, cone->equations);
}

/* The guess of the file as a start, where that is wanted. *x stays NULL without one. */
static bool make_start(ss_solving *s, const ss_fclib *fclib, const ss_problem *problem, double **x,
                       ss_error *err)
{
    if (!s->options->warm) return true;
    if (fclib->guess_count == 0) {
        ss_command_say(s->command, "%s: holds no guess to start from", s->in);
        return true;
    }
    *x = ss_allocate((size_t)problem->size, sizeof **x);
    if (!*x) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);
    start_from(fclib->cone, &fclib->guesses[0], *x);
    return true;
}

/* The file as it was, with our solution in the place of the one it had. */
static bool write_solution(const ss_solving *s, ss_fclib *fclib, const ss_solved *solved, ss_error *err)
{
    const ss_cone *cone = fclib->cone;
    int m = ss_cone_size(cone);
    if (!s->options->output || solved->result->refusal) return true;
    if (fclib->has_solution) ss_cone_point_free(&fclib->solution);
    fclib->has_solution = ss_cone_point_create(cone, &fclib->solution, err);
    if (!fclib->has_solution) return false;
    copy(fclib->solution.r, solved->result->x, m);
    if (fclib->solution.l) copy(fclib->solution.l, solved->result->x + m, cone->equations);
    return ss_cone_point_evaluate(cone, &fclib->solution, err) &&
           ss_fclib_write(s->options->output, fclib, err);
}

static bool check_options(const ss_solving *s, ss_error *err)
{
    const ss_solve_options *options = s->options;
    const char *flag = options->frame ? "--frame" : options->with.count ? "--with" : NULL;
    return !flag ||
           ss_fail(err, SS_ERROR_USAGE, "solve: %s is for BPMD files; %s is an FCLIB file", flag, s->in);
}

bool ss_solve_problem(ss_solving *solving, ss_error *err)
{
    const ss_solve_options *options = solving->options;
    char place[64];
    ss_fclib_kind kind = SS_FCLIB_LOCAL;
    if (!check_options(solving, err) ||
        !ss_input_choose_problem(solving->command, options->problem, &kind, err))
        return false;
    ss_fclib *fclib = ss_input_read_problem(solving->in, kind, &options->source.limits, &solving->tally, err);
    if (!fclib) return false;
    snprintf(place, sizeof place, "/fclib_%s", ss_fclib_kind_name(kind));
    ss_solved solved = {.place = place, .index = -1, .formulation = "cone"};
    double *x = NULL;
    if (options->request.reference)
        ss_command_say(solving->command,
                       "--reference needs frames: an FCLIB problem has no bodies to compare");
    ss_solving_begin(solving, "fclib");
    ss_problem *problem = ss_problem_from_cone(fclib->cone, err);
    if (!problem) ss_fail_in(err, "%s", solving->in);
    bool good = problem && make_start(solving, fclib, problem, &x, err) &&
                ss_solving_run_problem(solving, problem, x, &solved, err);
    good = good && ss_solving_diagnose(solving, NULL, &solved, err);
    if (good) ss_solving_tell(solving, &solved);
    good = good && write_solution(solving, fclib, &solved, err);
    ss_release(x);
    ss_problem_destroy(problem);
    ss_fclib_destroy(fclib);
    return good;
}
