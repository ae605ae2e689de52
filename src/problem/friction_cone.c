/* The friction cone of one contact. By symmetry about the normal, projecting comes down to one unknown, the
 * height x of the projection: its tangential parts are those of y, cut to mu x and mu_rolling x. With t =
 * |y_T|, s = |y_M| the distance |y - P|^2 = (x - n)^2 + max(0, t - mu x)^2 + max(0, s - rho x)^2 is convex in
 * x, with the derivative g(x)/2 = (x - n) - mu max(0, t - mu x) - rho max(0, s - rho x), increasing and
 * linear between the points t/mu and s/rho where a part begins to be cut. The sign of g at these two points
 * tells which parts are cut at the root; then the root is a quotient. */
#include "problem/cone.h"

#include <math.h>

ss_friction_cone ss_cone_contact(const ss_cone *cone, int contact)
{
    return (ss_friction_cone){cone->dimension, cone->mu[contact],
                              cone->mu_rolling ? cone->mu_rolling[contact] : 0.0};
}

/* sqrt, not hypot: it is called for every contact at every measured iteration, and impulses whose squares
 * leave the range of a double are refused by the checks. */
static double tangential_norm(ss_friction_cone cone, const double *y)
{
    double spin = ss_cone_tangents(cone.dimension) == 3 ? y[3] * y[3] : 0.0;
    return cone.dimension == 2 ? fabs(y[1]) : sqrt(y[1] * y[1] + y[2] * y[2] + spin);
}

static double rolling_norm(ss_friction_cone cone, const double *y)
{
    const double *rolling = y + ss_cone_rolling(cone.dimension);
    return ss_cone_rolls(cone.dimension) ? sqrt(rolling[0] * rolling[0] + rolling[1] * rolling[1]) : 0.0;
}

static double projected_height(double n, double mu, double t, double rho, double s)
{
    bool t_is_cut = t - mu * n - rho * fmax(0.0, mu * s - rho * t) > 0.0; // mu g(t/mu)/2 > 0
    bool s_is_cut = s - rho * n - mu * fmax(0.0, rho * t - mu * s) > 0.0; // rho g(s/rho)/2 > 0
    double numerator = n, denominator = 1.0;
    if (t_is_cut) {
        numerator += mu * t;
        denominator += mu * mu;
    }
    if (s_is_cut) {
        numerator += rho * s;
        denominator += rho * rho;
    }
    return fmax(0.0, numerator / denominator);
}

static void cut(double *y, int count, double norm, double limit)
{
    if (norm <= limit) return;
    for (int i = 0; i < count; i++) y[i] *= limit / norm;
}

void ss_friction_cone_project(ss_friction_cone cone, double *r)
{
    if (cone.dimension == 3 && !isinf(cone.mu)) {
        ss_spatial_cone_project(cone.mu, r);
        return;
    }
    double rho = ss_cone_rolls(cone.dimension) ? cone.mu_rolling : 0.0;
    double s = rolling_norm(cone, r);
    if (isinf(cone.mu)) { // tangents are free
        r[0] = projected_height(r[0], 0.0, 0.0, rho, s);
    } else {
        double t = tangential_norm(cone, r);
        r[0] = projected_height(r[0], cone.mu, t, rho, s);
        cut(r + 1, ss_cone_tangents(cone.dimension), t, cone.mu * r[0]);
    }
    if (ss_cone_rolls(cone.dimension)) cut(r + ss_cone_rolling(cone.dimension), 2, s, rho * r[0]);
}

void ss_friction_cone_shift(ss_friction_cone cone, double *u)
{
    if (!isinf(cone.mu)) u[0] += cone.mu * tangential_norm(cone, u); // infinite friction has u_T = 0 anyway
    if (ss_cone_rolls(cone.dimension)) u[0] += cone.mu_rolling * rolling_norm(cone, u);
}
