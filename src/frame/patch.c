/* Patches of contact: Contensou's law of a disc, and patches as weighted points.
 *
 * A disc under an axisymmetric pressure is a mixture of rings. On a ring of radius s the points move at v and
 * b = w s across each other, and their mean speed is G = (2/pi) [2 E(m) - (1 - m) K(m)] max(v, b) with m = (q
 * the smaller of the two over the larger)^2. Friction is the gradient of G by v and by b:
 *
 *     g(v, b) = dG/dv = (2/pi) E(m) if v >= b, else (2/pi) [E(m) - (1 - m) K(m)] / q,   dG/db = g(b, v)
 *
 * References: Contensou, Couplage entre frottement de glissement et frottement de pivotement dans la théorie
 * de la toupie (1963); Leine, Glocker, A set-valued force law for spatial Coulomb-Contensou friction (2003);
 * Farkas, Bartels, Unger, Wolf, Frictional coupling between sliding and spinning motion (2003). */
#include <stickslip/patch.h>

#include "frame/alternatives.h"
#include "linalg/vec3.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---- rings ------------------------------------------------------------------------------------------ */

/* Complete elliptic integrals by the arithmetic-geometric mean; 0 <= m < 1. */
static void elliptic(double m, double *K, double *E)
{
    double a = 1.0, b = sqrt(1.0 - m), sum = 0.5 * m, power = 1.0;
    while (fabs(a - b) > 1e-15 * a) {
        double c = 0.5 * (a - b), mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
        sum += power * c * c;
        power *= 2.0;
    }
    *K = 0.5 * pi / a;
    *E = *K * (1.0 - sum);
}

/* How much of a ring's friction acts against v, when its points also move at b. */
static double ring_share(double v, double b)
{
    double large = fmax(v, b), q = fmin(v, b) / large, m = q * q, K, E;
    if (v == b) return 2.0 / pi;
    if (v > b) return elliptic(m, &K, &E), 2.0 / pi * E;
    if (m >= 0.5) return elliptic(m, &K, &E), 2.0 / pi * (E - (1.0 - m) * K) / q;
    // the difference would lose digits: q/2 F(1/2, 1/2; 2; m)
    double term = 1.0, sum = 1.0;
    for (int n = 0; term > 1e-17 * sum; n++) {
        term *= (n + 0.5) * (n + 0.5) / ((n + 2.0) * (n + 1.0)) * m;
        sum += term;
    }
    return 0.5 * q * sum;
}

/* The share of the load on rings around radius s R per ds. */
static double density(ss_pressure pressure, double s)
{
    return pressure == SS_PRESSURE_EVEN ? 2.0 * s : 3.0 * s * sqrt(fmax(0.0, 1.0 - s * s));
}

/* Adds the integral over rings from `low` to `high` (shares of the radius). The integrand has a corner and a
 * logarithm at its ends: double exponential quadrature does not mind. */
static void add_rings(ss_pressure pressure, double low, double high, double v, double rim,
                      ss_disc_friction *sum)
{
    static const double step = 0.05;
    enum { EACH_WAY = 66 };
    double half = 0.5 * (high - low);
    for (int k = -EACH_WAY; k <= EACH_WAY && half > 0.0; k++) {
        double t = k * step, inner = 0.5 * pi * sinh(t),
               weight = half * step * 0.5 * pi * cosh(t) / (cosh(inner) * cosh(inner));
        double edge = half * exp(-fabs(inner)) / cosh(inner); // distance from the nearer end
        double s = inner < 0.0 ? low + edge : high - edge;
        if (!(s > 0.0) || !(weight > 0.0)) continue;
        double load = weight * density(pressure, s);
        sum->force += load * ring_share(v, rim * s);
        sum->moment += load * s * ring_share(rim * s, v);
    }
}

double ss_disc_lever(ss_pressure pressure, double radius)
{
    return radius * (pressure == SS_PRESSURE_EVEN ? 2.0 / 3.0 : 3.0 * pi / 16.0);
}

ss_disc_friction ss_disc_friction_of(ss_pressure pressure, double radius, double speed, double spin)
{
    double v = fabs(speed), rim = fabs(spin) * radius, largest = fmax(v, rim);
    ss_disc_friction sum = {0};
    if (!(largest > 0.0)) return sum;
    v /= largest, rim /= largest;
    double split = v < rim ? v / rim : 1.0; // the ring that holds the centre of rotation
    add_rings(pressure, 0.0, split, v, rim, &sum);
    add_rings(pressure, split, 1.0, v, rim, &sum);
    return (ss_disc_friction){copysign(sum.force, speed) * (v > 0.0),
                              copysign(sum.moment, spin) * radius * (rim > 0.0)};
}

/* ---- weighted points -------------------------------------------------------------------------------- */

enum { FINEST = 64 };

/* Gauss's rule on [0, 1]: nodes by Newton's method on the Legendre polynomial. */
static void gauss(int n, double node[FINEST], double weight[FINEST])
{
    for (int i = 0; i < n; i++) {
        double x = cos(pi * (i + 0.75) / (n + 0.5)), slope = 1.0;
        for (int step = 0; step < 100; step++) {
            double p = 1.0, before = 0.0;
            for (int k = 1; k <= n; k++) {
                double next = ((2.0 * k - 1.0) * x * p - (k - 1.0) * before) / k;
                before = p;
                p = next;
            }
            slope = n * (x * p - before) / (x * x - 1.0);
            double change = p / slope;
            x -= change;
            if (fabs(change) < 1e-15) break;
        }
        node[i] = 0.5 * (1.0 - x);
        weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
}

static double across(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool check_patch(const ss_patch *patch, int fineness, ss_error *err)
{
    if (fineness < 1 || fineness > FINEST)
        return ss_fail(err, SS_ERROR_USAGE, "patch: fineness %d, must be from 1 to %d", fineness, FINEST);
    if ((unsigned)patch->kind > SS_PATCH_POLYGON || (unsigned)patch->pressure > SS_PRESSURE_HERTZ)
        return ss_fail(err, SS_ERROR_USAGE, "patch: unknown kind %d or pressure %d", (int)patch->kind,
                       (int)patch->pressure);
    if (patch->kind != SS_PATCH_DISC && patch->pressure != SS_PRESSURE_EVEN)
        return ss_fail(err, SS_ERROR_USAGE, "patch: only a disc has the pressure of Hertz");
    int lengths = patch->kind == SS_PATCH_DISC ? 1 : patch->kind == SS_PATCH_RECTANGLE ? 2 : 0;
    for (int i = 0; i < lengths; i++)
        if (!(patch->size[i] > 0.0 && isfinite(patch->size[i])))
            return ss_fail(err, SS_ERROR_USAGE, "patch: size[%d]: %g, must be finite and positive", i,
                           patch->size[i]);
    if (patch->kind != SS_PATCH_POLYGON) return true;
    if (patch->corners < 3 || !patch->corner)
        return ss_fail(err, SS_ERROR_USAGE, "patch: %d corners, must be 3 or more", patch->corners);
    for (int i = 0; i < patch->corners; i++) {
        const double *a = patch->corner[i], *b = patch->corner[(i + 1) % patch->corners],
                     *c = patch->corner[(i + 2) % patch->corners];
        // every turn to the left, and the fan from the first corner as well: once around
        bool fan = i == 0 || i > patch->corners - 2 || across(patch->corner[0], a, b) > 0.0;
        if (!(across(a, b, c) > 0.0 && fan))
            return ss_fail(err, SS_ERROR_USAGE, "patch: corner %d, must be convex and counter-clockwise",
                           (i + 1) % patch->corners);
    }
    return true;
}

/* Rings by Gauss's rule over their radius s; under Hertz's pressure over t = sqrt(1 - s^2), in which the load
 * 3 t^2 dt is a polynomial. Every second ring is turned by half a point. */
static void fill_disc(const ss_patch *patch, int n, const double *node, const double *weight,
                      double (*point)[2], double *share)
{
    int around = 4 * n;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        bool even = patch->pressure == SS_PRESSURE_EVEN;
        double s = even ? node[i] : sqrt(1.0 - node[i] * node[i]);
        double load = weight[i] * (even ? 2.0 * node[i] : 3.0 * node[i] * node[i]);
        sum += load;
        for (int k = 0; k < around; k++) {
            double angle = 2.0 * pi * (k + 0.5 * (i % 2)) / around;
            point[i * around + k][0] = patch->size[0] * s * cos(angle);
            point[i * around + k][1] = patch->size[0] * s * sin(angle);
            share[i * around + k] = load / around;
        }
    }
    for (int k = 0; k < n * around; k++) share[k] /= sum; // 1 but for Hertz's pressure on one ring
}

/* A fan of triangles from the first corner; in each, lines through that corner. */
static void fill_polygon(const ss_patch *patch, int n, const double *node, const double *weight,
                         double (*point)[2], double *share)
{
    const double(*corner)[2] = patch->corner;
    double area = 0.0;
    for (int t = 1; t + 1 < patch->corners; t++) area += across(corner[0], corner[t], corner[t + 1]);
    for (int t = 1, at = 0; t + 1 < patch->corners; t++) {
        double part = across(corner[0], corner[t], corner[t + 1]) / area;
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < n; k++, at++) {
                double far = node[i]; // from the first corner to the opposite edge; lines grow with it
                for (int d = 0; d < 2; d++) {
                    double edge = (1.0 - node[k]) * corner[t][d] + node[k] * corner[t + 1][d];
                    point[at][d] = (1.0 - far) * corner[0][d] + far * edge;
                }
                share[at] = 2.0 * far * part * weight[i] * weight[k];
            }
        }
    }
}

int ss_patch_points(const ss_patch *patch, int fineness, double (*point)[2], double *share, ss_error *err)
{
    double node[FINEST], weight[FINEST];
    int n = fineness;
    if (!check_patch(patch, fineness, err)) return -1;
    int count = n * n *
                (patch->kind == SS_PATCH_DISC        ? 4
                 : patch->kind == SS_PATCH_RECTANGLE ? 1
                                                     : patch->corners - 2);
    if (!point || !share) return count;
    gauss(n, node, weight);
    if (patch->kind == SS_PATCH_DISC) fill_disc(patch, n, node, weight, point, share);
    if (patch->kind == SS_PATCH_POLYGON) fill_polygon(patch, n, node, weight, point, share);
    for (int i = 0; patch->kind == SS_PATCH_RECTANGLE && i < count; i++) {
        point[i][0] = patch->size[0] * (node[i % n] - 0.5);
        point[i][1] = patch->size[1] * (node[i / n] - 0.5);
        share[i] = weight[i % n] * weight[i / n];
    }
    return count;
}

/* ---- in a frame ------------------------------------------------------------------------------------- */

/* Point k of the patch in the place of contact c. */
static void place_point(ss_frame *frame, int c, const double at[2], double share, ss_vec3 t_u, ss_vec3 t_v)
{
    ss_contacts *to = &frame->contacts;
    ss_vec3 moved = ss_vec3_add_scaled(ss_vec3_scale(at[0], t_u), at[1], t_v);
    ss_vec3_store(ss_vec3_add(ss_vec3_load(to->point[c]), moved), to->point[c]);
    for (int side = 0; to->lever_arm && side < 2; side++) {
        if (to->pair[c][side] == SS_WORLD) continue;
        double *arm = to->lever_arm[c] + 3 * side;
        ss_vec3_store(ss_vec3_add(ss_vec3_load(arm), moved), arm);
    }
    if (to->compliance) to->compliance[c] /= share;
    if (to->damping) to->damping[c] *= share;
    if (to->adhesion) to->adhesion[c] *= share;
    if (to->mu_torsion) to->mu_torsion[c] = 0.0;
}

ss_frame *ss_frame_spread(const ss_frame *frame, int contact, const ss_patch *patch, int fineness,
                          ss_error *err)
{
    int points = ss_patch_points(patch, fineness, NULL, NULL, err), others = frame->contacts.count - 1;
    if (points < 0) return NULL;
    if (contact < 0 || contact > others || frame->subcontacts.groups > 0) {
        ss_fail(err, SS_ERROR_USAGE,
                frame->subcontacts.groups ? "patch: the frame has alternatives" : "patch: no contact %d",
                contact);
        return NULL;
    }
    double(*point)[2] = ss_allocate((size_t)points, sizeof *point);
    double *share = ss_allocate((size_t)points, sizeof *share);
    int *like = ss_allocate((size_t)(points + others), sizeof *like);
    ss_frame *spread = NULL;
    if (point && share && like) {
        for (int i = 0; i < points + others; i++)
            like[i] = i < contact ? i : i < contact + points ? contact : i - points + 1;
        spread = ss_frame_repeat_contacts(frame, like, points + others, err);
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "patch: out of memory for %d points", points);
    }
    if (spread) {
        double t_u[3], t_v[3];
        ss_patch_points(patch, fineness, point, share, NULL);
        ss_contact_tangents(frame, contact, t_u, t_v);
        for (int k = 0; k < points; k++)
            place_point(spread, contact + k, point[k], share[k], ss_vec3_load(t_u), ss_vec3_load(t_v));
    }
    ss_release(point);
    ss_release(share);
    ss_release(like);
    return spread;
}
