/* `stickslip solve` on FCLIB: one problem, with Coulomb's law on cones as it stands in the file. */
#include "cli/solve/solve.h"

#include "dataset/fclib_answer.h"
#include "problem/cone.h"

#include <string.h>

static void copy(double *to, const double *from, int count)
{
    if (count) memcpy(to, from, (size_t)count * sizeof *to);
}

bool ss_solve_problem(ss_solving *solving, ss_error *err)
{
    const ss_solve_options *options = solving->options;
    const char *flag = options->frame ? "--frame" : options->with.count ? "--with" : NULL;
    char place[64];
    ss_fclib_kind kind = SS_FCLIB_LOCAL;
    if (flag)
        return ss_fail(err, SS_ERROR_USAGE, "solve: %s is for BPMD files; %s is an FCLIB file", flag,
                       solving->in);
    if (!ss_input_choose_problem(solving->command, options->problem, &kind, err)) return false;
    ss_fclib *fclib = ss_input_read_problem(solving->in, kind, &options->source.limits, &solving->tally, err);
    if (!fclib) return false;
    const ss_cone *cone = fclib->cone;
    int m = ss_cone_size(cone);
    snprintf(place, sizeof place, "/fclib_%s", ss_fclib_kind_name(kind));
    ss_solved solved = {.place = place, .index = -1, .formulation = "cone"};
    if (options->request.reference)
        ss_command_say(solving->command,
                       "--reference needs frames: an FCLIB problem has no bodies to compare");
    ss_solving_begin(solving, "fclib");
    ss_problem *problem = ss_problem_from_cone(cone, err);
    bool good = problem || ss_fail_in(err, "%s", solving->in);

    // The guess of the file as a start x = (r, l), where that is wanted.
    double *x = NULL;
    if (good && options->warm && fclib->guess_count == 0) {
        ss_command_say(solving->command, "%s: holds no guess to start from", solving->in);
    } else if (good && options->warm) {
        const ss_cone_point *guess = &fclib->guesses[0];
        x = ss_allocate((size_t)problem->size, sizeof *x);
        if (!x) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", problem->size);
        if (x && guess->r) copy(x, guess->r, m);
        if (x && guess->l) copy(x + m, guess->l, cone->equations);
    }
    good = good && ss_solving_run_problem(solving, problem, x, &solved, err) &&
           ss_solving_diagnose(solving, NULL, &solved, err);
    if (good) ss_solving_tell(solving, &solved);

    // The file as it was, with our solution in the place of the one it had.
    if (good && options->output && !solved.result->refusal)
        good = ss_fclib_answer(fclib, solved.result->x, err) && ss_fclib_write(options->output, fclib, err);
    ss_release(x);
    ss_problem_destroy(problem);
    ss_fclib_destroy(fclib);
    return good;
}
