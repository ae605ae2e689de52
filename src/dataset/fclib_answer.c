#include "dataset/fclib_answer.h"

#include "problem/cone.h"

#include <string.h>

bool ss_fclib_answer(ss_fclib *file, const double *x, ss_error *err)
{
    ss_cone_point *solution = &file->solution;
    int m = ss_cone_size(file->cone), equations = file->cone->equations;
    if (file->has_solution) ss_cone_point_free(solution);
    file->has_solution = ss_cone_point_create(file->cone, solution, err);
    if (!file->has_solution) return false;
    if (m) memcpy(solution->r, x, (size_t)m * sizeof *x);
    if (solution->l && equations) memcpy(solution->l, x + m, (size_t)equations * sizeof *x);
    return ss_cone_point_evaluate(file->cone, solution, err);
}
