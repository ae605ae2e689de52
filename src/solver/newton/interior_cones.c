#include "solver/newton/interior_cones.h"

#include <math.h>
#include <string.h>

enum { MAX = SS_LORENTZ_MAX };

/* ---- from laws to cones ----------------------------------------------------------------------------- */

static void add_bound(ss_interior_cones *cones, int node, int head, double slope, double offset)
{
    cones->cone[cones->count++] = (ss_interior_cone){
        .node = node, .head = head, .tail = head, .size = 1, .slope = slope, .offset = offset};
}

/* Without friction the tail is fixed, with infinite friction it is free: no disc then. */
static bool add_disc(ss_interior_cones *cones, int node, int tail, int count, double mu, double saxce)
{
    const ss_node *contact = &cones->space->nodes[node];
    if (isinf(mu)) return false;
    if (!(mu > 0.0)) {
        for (int i = tail; i < tail + count; i++) cones->is_fixed[i] = true;
        return false;
    }
    cones->cone[cones->count++] = (ss_interior_cone){
        .node = node, .head = contact->first, .tail = tail, .size = 1 + count, .slope = mu, .saxce = saxce};
    return true;
}

bool ss_interior_cones_create(const ss_space *space, ss_arena *arena, ss_interior_cones *cones)
{
    *cones = (ss_interior_cones){.space = space, .share = 1.0};
    size_t n = (size_t)space->size;
    cones->cone = ss_arena_take(arena, 2 * n, sizeof *cones->cone, "cones");
    cones->is_fixed = ss_arena_take(arena, n, sizeof *cones->is_fixed, "fixed unknowns");
    cones->first = ss_arena_take(arena, (size_t)space->node_count + 1, sizeof *cones->first, "cones");
    if (!cones->cone || !cones->is_fixed || !cones->first) return false;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        int first = node->first;
        cones->first[k] = cones->count;
        if (node->law != SS_LAW_BOX) {
            int m = ss_node_cone(node);
            double saxce = node->law == SS_LAW_CONE ? 1.0 : 0.0;
            bool held = add_disc(cones, k, first + 1, ss_cone_tangents(m), node->mu, saxce);
            if (ss_cone_rolls(m))
                held |= add_disc(cones, k, first + ss_cone_rolling(m), 2, node->mu_rolling, saxce);
            if (node->spins) // Coulomb's law in any case
                held |= add_disc(cones, k, first + m, 1, node->mu_spin, 1.0);
            if (!held) add_bound(cones, k, first, 1.0, 0.0);
            continue;
        }
        for (int i = first; i < first + node->size; i++) {
            cones->is_fixed[i] = !(space->upper[i] > space->lower[i]);
            if (cones->is_fixed[i]) continue;
            if (!isinf(space->lower[i])) add_bound(cones, k, i, 1.0, space->lower[i]);
            if (!isinf(space->upper[i])) add_bound(cones, k, i, -1.0, -space->upper[i]);
        }
    }
    cones->first[space->node_count] = cones->count;
    return true;
}

/* ---- points ----------------------------------------------------------------------------------------- */

void ss_interior_cones_start(ss_interior_cones *cones, double size, double *r)
{
    const ss_space *space = cones->space;
    memset(r, 0, (size_t)space->size * sizeof *r);
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        for (int i = node->first; node->law == SS_LAW_BOX && i < node->first + node->size; i++) {
            double lower = space->lower[i], upper = space->upper[i];
            if (!isinf(lower) && !isinf(upper))
                r[i] = lower + 0.5 * (upper - lower);
            else
                r[i] = !isinf(lower) ? lower + size : isinf(upper) ? 0.0 : upper - size;
        }
        if (node->law == SS_LAW_BOX) continue;
        double slope = 0.0;
        for (int p = cones->first[k]; p < cones->first[k + 1]; p++) slope = fmax(slope, cones->cone[p].slope);
        r[node->first] = size / slope;
    }
    ss_interior_cones_slacks(cones, r);
    for (int p = 0; p < cones->count; p++) {
        ss_interior_cone *cone = &cones->cone[p];
        memset(cone->z, 0, sizeof cone->z);
        cone->z[0] = fmax(size, fmin(size * size / cone->s[0], 1e3 * size));
    }
}

void ss_interior_cones_slacks(ss_interior_cones *cones, const double *r)
{
    for (int p = 0; p < cones->count; p++) {
        ss_interior_cone *cone = &cones->cone[p];
        cone->s[0] = cone->slope * r[cone->head] - cone->offset;
        for (int i = 1; i < cone->size; i++) cone->s[i] = r[cone->tail + i - 1];
    }
}

double ss_interior_cones_mean(const ss_interior_cones *cones, double t)
{
    double sum = 0.0;
    for (int p = 0; p < cones->count; p++) {
        const ss_interior_cone *cone = &cones->cone[p];
        for (int i = 0; i < cone->size; i++) {
            sum += (cone->s[i] + t * cone->ds[i]) * (cone->z[i] + t * cone->dz[i]);
        }
    }
    return cones->count ? sum / cones->count : 0.0;
}

void ss_interior_cones_missing(const ss_interior_cones *cones, const double *u, double *rest)
{
    int n = cones->space->size;
    for (int i = 0; i < n; i++) rest[i] = cones->is_fixed[i] ? 0.0 : u[i];
    for (int p = 0; p < cones->count; p++) {
        const ss_interior_cone *cone = &cones->cone[p];
        double square = 0.0; // of the tail, for De Saxce's term
        for (int i = 1; i < cone->size; i++) square += cone->z[i] * cone->z[i];
        double slip = cone->saxce > 0.0 ? square / cone->z[0] : 0.0;
        rest[cone->head] -= cone->slope * (cone->z[0] - slip);
        for (int i = 1; i < cone->size; i++) rest[cone->tail + i - 1] -= cone->z[i];
    }
}

/* ---- Newton ----------------------------------------------------------------------------------------- */

/* The change of z_0 - |z_1|^2 / z_0 with z that N' knows of: head v_0 - tail . v_1 */
typedef struct slopes {
    double head, tail[MAX];
} slopes;

static slopes slopes_of(const ss_interior_cone *cone, double share)
{
    slopes at = {.head = 1.0};
    if (!(cone->saxce > 0.0)) return at;
    for (int i = 1; i < cone->size; i++) {
        double ratio = cone->z[i] / cone->z[0];
        at.head += share * ratio * ratio;
        at.tail[i] = share * 2.0 * ratio;
    }
    return at;
}

/* N'(z) v: the change of (u_head, u_tail) with z; value[0] for the head. */
static void spread(const ss_interior_cone *cone, double share, const double *v, double *value)
{
    slopes at = slopes_of(cone, share);
    double head = at.head * v[0];
    for (int i = 1; i < cone->size; i++) {
        head -= at.tail[i] * v[i];
        value[i] = v[i];
    }
    value[0] = cone->slope * head;
}

static int place_in_node(const ss_interior_cones *cones, const ss_interior_cone *cone, int i)
{
    int number = i == 0 ? cone->head : cone->tail + i - 1;
    return number - cones->space->nodes[cone->node].first;
}

/* N'(z)^-1 v */
static void unspread(const ss_interior_cone *cone, double share, const double *value, double *v)
{
    slopes at = slopes_of(cone, share);
    double head = value[0] / cone->slope;
    for (int i = 1; i < cone->size; i++) {
        head += at.tail[i] * value[i];
        v[i] = value[i];
    }
    v[0] = head / at.head;
}

static bool is_alone(const ss_interior_cones *cones, int p)
{
    bool first = p == 0 || cones->cone[p - 1].head != cones->cone[p].head;
    return first && (p + 1 == cones->count || cones->cone[p + 1].head != cones->cone[p].head);
}

bool ss_interior_cones_linearize(ss_interior_cones *cones, ss_newton_system *system)
{
    const ss_space *space = cones->space;
    system->uses_right = true;

    // Fixed and free unknowns, and what the cones are added to.
    for (int k = 0; k < space->node_count; k++) {
        int n = space->nodes[k].size;
        size_t at = system->square[k], bytes = (size_t)(n * n) * sizeof *system->F;
        memset(system->F + at, 0, bytes);
        memset(system->B + at, 0, bytes);
        memset(system->R + at, 0, bytes);
        for (int i = 0; i < n; i++) {
            bool is_fixed = cones->is_fixed[space->nodes[k].first + i];
            (is_fixed ? system->F : system->B)[at + (size_t)(i * n + i)] = 1.0;
            system->R[at + (size_t)(i * n + i)] = 1.0;
        }
    }

    for (int p = 0; p < cones->count; p++) {
        ss_interior_cone *cone = &cones->cone[p];
        int n = space->nodes[cone->node].size;
        size_t at = system->square[cone->node];
        double *F = system->F + at, *B = system->B + at, *R = system->R + at;
        bool alone = is_alone(cones, p);
        if (!ss_lorentz_scale(cone->size, cone->s, cone->z, &cone->scaling)) return false;
        for (int j = 0; j < cone->size; j++) {
            double unit[MAX] = {0}, v[MAX], left[MAX], right[MAX];
            int column = place_in_node(cones, cone, j);
            if (alone) {
                // F = 1, B = G N'^-1, R = T^-1 G. In these variables no digit is lost when C has very large
                // and very small eigenvalues.
                unit[j] = 1.0;
                unspread(cone, cones->share, unit, v);
                ss_lorentz_apply(&cone->scaling, v, left);
                ss_lorentz_apply(&cone->scaling, unit, right);
                right[0] /= cone->slope;
                for (int i = 0; i < cone->size; i++) {
                    int row = place_in_node(cones, cone, i);
                    F[row * n + column] = i == j ? 1.0 : 0.0;
                    B[row * n + column] = left[i];
                    R[row * n + column] = right[i];
                }
            } else {
                // C = N' G^-2 T of the cones of a node added up: F = C, B = R = 1.
                unit[j] = j == 0 ? cone->slope : 1.0;
                ss_lorentz_apply_inverse_square(&cone->scaling, unit, v);
                spread(cone, cones->share, v, left);
                for (int i = 0; i < cone->size; i++) F[place_in_node(cones, cone, i) * n + column] += left[i];
            }
        }
    }
    return true;
}

static void complementarity(const ss_interior_cone *cone, ss_centring centring, double *h)
{
    double wanted[MAX], square[MAX], cross[MAX] = {0};
    ss_lorentz_product(cone->size, cone->scaling.lambda, cone->scaling.lambda, square);
    if (centring.cross != 0.0) {
        double s[MAX], z[MAX];
        ss_lorentz_apply_inverse(&cone->scaling, cone->ds, s);
        ss_lorentz_apply(&cone->scaling, cone->dz, z);
        ss_lorentz_product(cone->size, s, z, cross);
    }
    for (int i = 0; i < cone->size; i++) {
        wanted[i] = (i == 0 ? centring.target : 0.0) - square[i] - centring.cross * cross[i];
    }
    ss_lorentz_divide(cone->size, cone->scaling.lambda, wanted, h);
}

void ss_interior_cones_load(const ss_interior_cones *cones, ss_centring centring, const double *rest,
                            double *rhs)
{
    for (int i = 0; i < cones->space->size; i++) rhs[i] = -rest[i];
    for (int p = 0; p < cones->count; p++) {
        const ss_interior_cone *cone = &cones->cone[p];
        double h[MAX], v[MAX], value[MAX];
        complementarity(cone, centring, h);
        if (is_alone(cones, p)) { // h - G N'^-1 rest
            value[0] = rest[cone->head];
            for (int i = 1; i < cone->size; i++) value[i] = rest[cone->tail + i - 1];
            unspread(cone, cones->share, value, v);
            ss_lorentz_apply(&cone->scaling, v, value);
            rhs[cone->head] = h[0] - value[0];
            for (int i = 1; i < cone->size; i++) rhs[cone->tail + i - 1] = h[i] - value[i];
        } else { // -rest + N' G^-1 h
            ss_lorentz_apply_inverse(&cone->scaling, h, v);
            spread(cone, cones->share, v, value);
            rhs[cone->head] += value[0];
            for (int i = 1; i < cone->size; i++) rhs[cone->tail + i - 1] += value[i];
        }
    }
    for (int i = 0; i < cones->space->size; i++) {
        if (cones->is_fixed[i]) rhs[i] = 0.0;
    }
}

static double head_slope(const ss_interior_cones *cones, int p)
{
    return cones->cone[p].slope * slopes_of(&cones->cone[p], cones->share).head;
}

void ss_interior_cones_directions(ss_interior_cones *cones, ss_centring centring, const double *rest,
                                  const double *dr, const double *du)
{
    // dz from complementarity, dz = G^-1 h - G^-2 ds.
    for (int p = 0; p < cones->count; p++) {
        ss_interior_cone *cone = &cones->cone[p];
        double h[MAX], v[MAX], drawn[MAX];
        complementarity(cone, centring, h);
        cone->ds[0] = cone->slope * dr[cone->head];
        for (int i = 1; i < cone->size; i++) cone->ds[i] = dr[cone->tail + i - 1];
        ss_lorentz_apply_inverse(&cone->scaling, h, v);
        ss_lorentz_apply_inverse_square(&cone->scaling, cone->ds, drawn);
        cone->dz[0] = v[0] - drawn[0];
        for (int i = 1; i < cone->size; i++) cone->dz[i] = rest[cone->tail + i - 1] + du[cone->tail + i - 1];
    }

    // Then what rounding has left open in u + du = N(z + dz): exactly in the tails, as above, by their slopes
    // over the cones that share a head.
    for (int first = 0, last; first < cones->count; first = last) {
        int head = cones->cone[first].head;
        double open = rest[head] + du[head], weight = 0.0;
        for (last = first; last < cones->count && cones->cone[last].head == head; last++) {
            double value[MAX], slope = head_slope(cones, last);
            spread(&cones->cone[last], cones->share, cones->cone[last].dz, value);
            open -= value[0];
            weight += slope * slope;
        }
        for (int p = first; p < last; p++) cones->cone[p].dz[0] += open * head_slope(cones, p) / weight;
    }
}

double ss_interior_cones_longest(const ss_interior_cones *cones)
{
    double t = INFINITY;
    for (int p = 0; p < cones->count; p++) {
        const ss_interior_cone *cone = &cones->cone[p];
        t = fmin(t, ss_lorentz_step(cone->size, cone->s, cone->ds));
        t = fmin(t, ss_lorentz_step(cone->size, cone->z, cone->dz));
    }
    return t;
}

bool ss_interior_cones_centred(const ss_interior_cones *cones, double t, double least)
{
    for (int p = 0; p < cones->count; p++) {
        const ss_interior_cone *cone = &cones->cone[p];
        double s[MAX], z[MAX];
        for (int i = 0; i < cone->size; i++) {
            s[i] = cone->s[i] + t * cone->ds[i];
            z[i] = cone->z[i] + t * cone->dz[i];
        }
        if (ss_lorentz_least_square(cone->size, s, z) < least) return false;
    }
    return true;
}

void ss_interior_cones_move(ss_interior_cones *cones, double t)
{
    for (int p = 0; p < cones->count; p++) {
        ss_interior_cone *cone = &cones->cone[p];
        for (int i = 0; i < cone->size; i++) cone->z[i] += t * cone->dz[i];
    }
}

/* ---- from a point that others have found ----------------------------------------------------------- */

void ss_interior_cones_read_friction(ss_interior_cones *cones)
{
    for (int p = 0; p < cones->count; p++) {
        ss_interior_cone *cone = &cones->cone[p];
        const ss_node *node = &cones->space->nodes[cone->node];
        if (cone->size == 1) continue;
        bool spins = node->spins && cone->tail == node->first + node->size - 1;
        cone->slope = cone->tail == node->first + 1 ? node->mu : spins ? node->mu_spin : node->mu_rolling;
    }
}

/* s of s - z = a, s z = m */
static double split_number(double a, double m)
{
    double root = sqrt(a * a + 4.0 * m);
    return a > 0.0 ? 0.5 * (root + a) : 2.0 * m / (root - a);
}

/* The same in the algebra of the cone: number by number for the eigenvalues of a. */
static void split(ss_interior_cone *cone, const double *a, double m)
{
    double length = 0.0;
    for (int i = 1; i < cone->size; i++) length += a[i] * a[i];
    length = sqrt(length);
    double large = split_number(a[0] + length, m), small = split_number(a[0] - length, m);
    cone->s[0] = 0.5 * (large + small);
    cone->z[0] = 0.5 * (m / large + m / small);
    for (int i = 1; i < cone->size; i++) {
        double along = length > 0.0 ? 0.5 * a[i] / length : 0.0;
        cone->s[i] = (large - small) * along;
        cone->z[i] = (m / large - m / small) * along;
    }
}

void ss_interior_cones_resume(ss_interior_cones *cones, double m, double *r, const double *u)
{
    static const double away = 0.05;
    const ss_space *space = cones->space;
    ss_interior_cones_slacks(cones, r);
    for (int k = 0; k < space->node_count; k++) {
        int sharing = cones->first[k + 1] - cones->first[k];
        if (space->nodes[k].law != SS_LAW_BOX) r[space->nodes[k].first] = 0.0; // grows as its discs ask
        for (int p = cones->first[k]; p < cones->first[k + 1]; p++) {
            ss_interior_cone *cone = &cones->cone[p];
            int head = cone->head;

            // A disc. The z_0 that stands for the normal velocity of a contact, in units of its slope; one
            // that no solution has, below zero, stays outside the cone.
            if (cone->size > 1) {
                double dual = u[head] / (cone->slope * sharing), square = 0.0, a[MAX];
                for (int i = 1; i < cone->size; i++) {
                    square += u[cone->tail + i - 1] * u[cone->tail + i - 1];
                    a[i] = cone->s[i] - u[cone->tail + i - 1];
                }
                if (cone->saxce > 0.0)
                    dual = dual < 0.0 ? dual + sqrt(square) : 0.5 * (dual + sqrt(dual * dual + 4.0 * square));
                a[0] = cone->s[0] - dual;
                split(cone, a, m);
                r[head] = fmax(r[head], cone->s[0] / cone->slope);
                for (int i = 1; i < cone->size; i++) r[cone->tail + i - 1] = cone->s[i];
                continue;
            }

            // A bound. Where there are two there is always room between them, though less than m may ask for.
            double a[1] = {cone->s[0] - cone->slope * u[head]};
            split(cone, a, m);
            r[head] = (cone->s[0] + cone->offset) / cone->slope;
            double lower = space->lower[head], upper = space->upper[head], room = away * (upper - lower);
            if (room > 0.0 && isfinite(room)) r[head] = fmin(fmax(r[head], lower + room), upper - room);
            cone->z[0] = fmax(cone->z[0], m / fabs(cone->slope * r[head] - cone->offset));
        }
    }
}
