/* What is odd about an FCLIB problem. Real files hold unsymmetric matrices, skewed contact frames and
 * "solutions" that are none: all of it is usable, and none of it should surprise anybody later. */
#include "dataset/fclib.h"

#include "formulation/cone_to_frame.h"

#include <math.h>
#include <stdio.h>

#define SYMMETRIC 1e-12 // rounding of a product of three matrices
#define SOLVED 1e-4     // solvers of the collection stopped at 1e-4 and below

SS_PRINTF(4, 5)
static void warn(const ss_fclib *problem, ss_findings *findings, const char *name, const char *format, ...)
{
    char what[400], where[100];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "/%s/%s", ss_fclib_group_name(ss_fclib_kind_of(problem->cone)), name);
    ss_findings_add(findings, SS_FINDING_WARNING, where, "%s", what);
}

static bool is_zero(const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (values[i] != 0.0) return false;
    }
    return true;
}

static void look_at_solution(const ss_fclib *problem, ss_findings *findings)
{
    const ss_cone *cone = problem->cone;
    const ss_cone_point *point = &problem->solution;
    ss_cone_residual residual;
    ss_error error = {0};
    if (!problem->has_solution) return;
    if (!ss_cone_residual_of(cone, point, &residual, &error)) {
        ss_findings_add(findings, SS_FINDING_WARNING, "/solution", "cannot be checked: %s", error.message);
        return;
    }

    bool zero = is_zero(point->r, ss_fclib_extent(cone, 'm')); // a solver that found this found it exactly
    if (!(residual.natural_map <= (zero ? 1e-8 : SOLVED)))
        ss_findings_add(findings, SS_FINDING_WARNING, "/solution/r",
                        "%sit does not solve the problem: relative natural map %.3g (worst contact %d)",
                        zero ? "stored r is identically zero; " : "", residual.natural_map,
                        residual.worst_contact);

    if (!(residual.bilateral <= SOLVED))
        ss_findings_add(findings, SS_FINDING_WARNING, "/solution/l",
                        "the equations are violated by %.3g, relative", residual.bilateral);
    if (!(residual.balance <= SOLVED))
        ss_findings_add(findings, SS_FINDING_WARNING, "/solution/v",
                        "M v differs from H r + G l + f by %.3g, relative", residual.balance);
    if (!(residual.velocity <= SOLVED))
        ss_findings_add(findings, SS_FINDING_WARNING, "/solution/u",
                        "differs from what r gives by %.3g, relative", residual.velocity);
}

void ss_fclib_check(const ss_fclib *problem, ss_findings *findings)
{
    const ss_cone *cone = problem->cone;
    if (!findings) return;

    bool local = cone->form == SS_CONE_LOCAL;
    double error = ss_sparse_symmetry_error(local ? cone->W : cone->M);
    if (error > SYMMETRIC)
        warn(problem, findings, local ? "W" : "M",
             "is unsymmetric: entries differ from their mirror image by up to %.2g of the largest one",
             error);

    int skewed, worst;
    double largest;
    if (ss_rigid_skewness(cone, &skewed, &worst, &largest) && skewed > 0)
        warn(problem, findings, "H",
             "the frames of %d of %d contacts are not orthonormal (by up to %.2g, contact %d): their "
             "friction disc is distorted",
             skewed, cone->contacts, largest, worst);

    look_at_solution(problem, findings);

    int m = ss_fclib_extent(cone, 'm'), zero = 0;
    for (int g = 0; g < problem->guess_count; g++)
        zero += is_zero(problem->guesses[g].r, m) && is_zero(problem->guesses[g].u, m);
    if (zero)
        ss_findings_add(findings, SS_FINDING_WARNING, "/guesses", "%d of %d guesses are zero", zero,
                        problem->guess_count);
}
