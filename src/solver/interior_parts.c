#include "solver/interior_parts.h"

#include <math.h>
#include <string.h>

enum { MAX = SS_LORENTZ_MAX };

/* ---- from laws to parts ----------------------------------------------------------------------------- */

static void add_bound(ss_parts *parts, int node, int head, double slope, double offset)
{
    parts->part[parts->count++] =
        (ss_part){.node = node, .head = head, .tail = head, .size = 1, .slope = slope, .offset = offset};
}

/* Without friction the tail is fixed, with infinite friction it is free: no disc then. */
static bool add_disc(ss_parts *parts, int node, int tail, int count, double mu)
{
    const ss_newton_node *contact = &parts->space->nodes[node];
    if (isinf(mu)) return false;
    if (!(mu > 0.0)) {
        for (int i = tail; i < tail + count; i++) parts->is_fixed[i] = true;
        return false;
    }
    parts->part[parts->count++] = (ss_part){.node = node,
                                            .head = contact->first,
                                            .tail = tail,
                                            .size = 1 + count,
                                            .slope = mu,
                                            .saxce = contact->law == SS_LAW_CONE ? 1.0 : 0.0};
    return true;
}

static void add_node(ss_parts *parts, int k)
{
    const ss_newton_space *space = parts->space;
    const ss_newton_node *node = &space->nodes[k];
    int first = node->first;
    if (node->law != SS_LAW_BOX) {
        bool held = add_disc(parts, k, first + 1, node->size == 2 ? 1 : 2, node->mu);
        if (node->size == 5) held |= add_disc(parts, k, first + 3, 2, node->mu_rolling);
        if (!held) add_bound(parts, k, first, 1.0, 0.0);
        return;
    }
    for (int i = first; i < first + node->size; i++) {
        parts->is_fixed[i] = !(space->upper[i] > space->lower[i]);
        if (parts->is_fixed[i]) continue;
        if (!isinf(space->lower[i])) add_bound(parts, k, i, 1.0, space->lower[i]);
        if (!isinf(space->upper[i])) add_bound(parts, k, i, -1.0, -space->upper[i]);
    }
}

bool ss_parts_create(const ss_newton_space *space, ss_arena *arena, ss_parts *parts)
{
    *parts = (ss_parts){.space = space, .share = 1.0};
    size_t n = (size_t)space->size;
    parts->part = ss_arena_take(arena, 2 * n, sizeof *parts->part, "cones");
    parts->is_fixed = ss_arena_take(arena, n, sizeof *parts->is_fixed, "fixed unknowns");
    parts->first = ss_arena_take(arena, (size_t)space->node_count + 1, sizeof *parts->first, "cones");
    if (!parts->part || !parts->is_fixed || !parts->first) return false;
    for (int k = 0; k < space->node_count; k++) {
        parts->first[k] = parts->count;
        add_node(parts, k);
    }
    parts->first[space->node_count] = parts->count;
    return true;
}

/* ---- points ----------------------------------------------------------------------------------------- */

static double inner_value(const ss_newton_space *space, int i, double size)
{
    double lower = space->lower[i], upper = space->upper[i];
    if (!isinf(lower) && !isinf(upper)) return lower + 0.5 * (upper - lower);
    if (!isinf(lower)) return lower + size;
    return isinf(upper) ? 0.0 : upper - size;
}

void ss_parts_start(ss_parts *parts, double size, double *r)
{
    const ss_newton_space *space = parts->space;
    memset(r, 0, (size_t)space->size * sizeof *r);
    for (int k = 0; k < space->node_count; k++) {
        const ss_newton_node *node = &space->nodes[k];
        if (node->law == SS_LAW_BOX) {
            for (int i = node->first; i < node->first + node->size; i++) r[i] = inner_value(space, i, size);
            continue;
        }
        double slope = 0.0;
        for (int p = parts->first[k]; p < parts->first[k + 1]; p++) slope = fmax(slope, parts->part[p].slope);
        r[node->first] = size / slope;
    }
    ss_parts_slacks(parts, r);
    for (int p = 0; p < parts->count; p++) {
        ss_part *part = &parts->part[p];
        memset(part->z, 0, sizeof part->z);
        part->z[0] = fmax(size, fmin(size * size / part->s[0], 1e3 * size));
    }
}

void ss_parts_slacks(ss_parts *parts, const double *r)
{
    for (int p = 0; p < parts->count; p++) {
        ss_part *part = &parts->part[p];
        part->s[0] = part->slope * r[part->head] - part->offset;
        for (int i = 1; i < part->size; i++) part->s[i] = r[part->tail + i - 1];
    }
}

double ss_parts_mean(const ss_parts *parts, double t)
{
    double sum = 0.0;
    for (int p = 0; p < parts->count; p++) {
        const ss_part *part = &parts->part[p];
        for (int i = 0; i < part->size; i++) {
            sum += (part->s[i] + t * part->ds[i]) * (part->z[i] + t * part->dz[i]);
        }
    }
    return parts->count ? sum / parts->count : 0.0;
}

/* De Saxce's term. */
static double slip(const ss_part *part)
{
    if (!(part->saxce > 0.0)) return 0.0;
    double sum = 0.0;
    for (int i = 1; i < part->size; i++) sum += part->z[i] * part->z[i];
    return sum / part->z[0];
}

void ss_parts_missing(const ss_parts *parts, const double *u, double *rest)
{
    int n = parts->space->size;
    for (int i = 0; i < n; i++) rest[i] = parts->is_fixed[i] ? 0.0 : u[i];
    for (int p = 0; p < parts->count; p++) {
        const ss_part *part = &parts->part[p];
        rest[part->head] -= part->slope * (part->z[0] - slip(part));
        for (int i = 1; i < part->size; i++) rest[part->tail + i - 1] -= part->z[i];
    }
}

/* ---- Newton ----------------------------------------------------------------------------------------- */

/* The change of z_0 - |z_1|^2 / z_0 with z that N' knows of: head v_0 - tail . v_1 */
typedef struct slopes {
    double head, tail[MAX];
} slopes;

static slopes slopes_of(const ss_part *part, double share)
{
    slopes at = {.head = 1.0};
    if (!(part->saxce > 0.0)) return at;
    for (int i = 1; i < part->size; i++) {
        double ratio = part->z[i] / part->z[0];
        at.head += share * ratio * ratio;
        at.tail[i] = share * 2.0 * ratio;
    }
    return at;
}

/* N'(z) v: the change of (u_head, u_tail) with z; value[0] for the head. */
static void spread(const ss_part *part, double share, const double *v, double *value)
{
    slopes at = slopes_of(part, share);
    double head = at.head * v[0];
    for (int i = 1; i < part->size; i++) {
        head -= at.tail[i] * v[i];
        value[i] = v[i];
    }
    value[0] = part->slope * head;
}

static int place_in_node(const ss_parts *parts, const ss_part *part, int i)
{
    int number = i == 0 ? part->head : part->tail + i - 1;
    return number - parts->space->nodes[part->node].first;
}

/* C of the parts of a node added up: F = C, B = R = 1. */
static void add_block(const ss_parts *parts, const ss_part *part, double *F)
{
    int n = parts->space->nodes[part->node].size;
    for (int j = 0; j < part->size; j++) {
        double unit[MAX] = {0}, scaled[MAX], value[MAX];
        unit[j] = j == 0 ? part->slope : 1.0;
        ss_lorentz_apply_inverse_square(&part->scaling, unit, scaled);
        spread(part, parts->share, scaled, value);
        int column = place_in_node(parts, part, j);
        for (int i = 0; i < part->size; i++) F[place_in_node(parts, part, i) * n + column] += value[i];
    }
}

/* N'(z)^-1 v */
static void unspread(const ss_part *part, double share, const double *value, double *v)
{
    slopes at = slopes_of(part, share);
    double head = value[0] / part->slope;
    for (int i = 1; i < part->size; i++) {
        head += at.tail[i] * value[i];
        v[i] = value[i];
    }
    v[0] = head / at.head;
}

/* The only part on its unknowns: F = 1, B = G N'^-1, R = T^-1 G. In these variables no digit is lost when C has
 * very large and very small eigenvalues. */
static void set_scaled_block(const ss_parts *parts, const ss_part *part, double *F, double *B, double *R)
{
    int n = parts->space->nodes[part->node].size;
    for (int j = 0; j < part->size; j++) {
        double unit[MAX] = {0}, v[MAX], left[MAX], right[MAX];
        unit[j] = 1.0;
        unspread(part, parts->share, unit, v);
        ss_lorentz_apply(&part->scaling, v, left);
        ss_lorentz_apply(&part->scaling, unit, right);
        right[0] /= part->slope;
        int column = place_in_node(parts, part, j);
        for (int i = 0; i < part->size; i++) {
            int row = place_in_node(parts, part, i);
            F[row * n + column] = i == j ? 1.0 : 0.0;
            B[row * n + column] = left[i];
            R[row * n + column] = right[i];
        }
    }
}

static bool is_alone(const ss_parts *parts, int p)
{
    bool first = p == 0 || parts->part[p - 1].head != parts->part[p].head;
    return first && (p + 1 == parts->count || parts->part[p + 1].head != parts->part[p].head);
}

static void clear_blocks(const ss_parts *parts, ss_newton_system *system)
{
    const ss_newton_space *space = parts->space;
    for (int k = 0; k < space->node_count; k++) {
        int n = space->nodes[k].size;
        size_t at = system->square[k], bytes = (size_t)(n * n) * sizeof *system->F;
        memset(system->F + at, 0, bytes);
        memset(system->B + at, 0, bytes);
        memset(system->R + at, 0, bytes);
        for (int i = 0; i < n; i++) {
            bool is_fixed = parts->is_fixed[space->nodes[k].first + i];
            (is_fixed ? system->F : system->B)[at + (size_t)(i * n + i)] = 1.0;
            system->R[at + (size_t)(i * n + i)] = 1.0;
        }
    }
}

bool ss_parts_linearize(ss_parts *parts, ss_newton_system *system)
{
    system->uses_right = true;
    clear_blocks(parts, system);
    for (int p = 0; p < parts->count; p++) {
        ss_part *part = &parts->part[p];
        size_t at = system->square[part->node];
        if (!ss_lorentz_scale(part->size, part->s, part->z, &part->scaling)) return false;
        if (is_alone(parts, p))
            set_scaled_block(parts, part, system->F + at, system->B + at, system->R + at);
        else
            add_block(parts, part, system->F + at);
    }
    return true;
}

static void complementarity(const ss_part *part, ss_centring centring, double *h)
{
    double wanted[MAX], square[MAX], cross[MAX] = {0};
    ss_lorentz_product(part->size, part->scaling.lambda, part->scaling.lambda, square);
    if (centring.cross != 0.0) {
        double s[MAX], z[MAX];
        ss_lorentz_apply_inverse(&part->scaling, part->ds, s);
        ss_lorentz_apply(&part->scaling, part->dz, z);
        ss_lorentz_product(part->size, s, z, cross);
    }
    for (int i = 0; i < part->size; i++) {
        wanted[i] = (i == 0 ? centring.target : 0.0) - square[i] - centring.cross * cross[i];
    }
    ss_lorentz_divide(part->size, part->scaling.lambda, wanted, h);
}

static void pick(const ss_part *part, const double *vector, double *value)
{
    value[0] = vector[part->head];
    for (int i = 1; i < part->size; i++) value[i] = vector[part->tail + i - 1];
}

void ss_parts_load(const ss_parts *parts, ss_centring centring, const double *rest, double *rhs)
{
    for (int i = 0; i < parts->space->size; i++) rhs[i] = -rest[i];
    for (int p = 0; p < parts->count; p++) {
        const ss_part *part = &parts->part[p];
        double h[MAX], v[MAX], value[MAX];
        complementarity(part, centring, h);
        if (is_alone(parts, p)) { // h - G N'^-1 rest
            pick(part, rest, value);
            unspread(part, parts->share, value, v);
            ss_lorentz_apply(&part->scaling, v, value);
            rhs[part->head] = h[0] - value[0];
            for (int i = 1; i < part->size; i++) rhs[part->tail + i - 1] = h[i] - value[i];
        } else { // -rest + N' G^-1 h
            ss_lorentz_apply_inverse(&part->scaling, h, v);
            spread(part, parts->share, v, value);
            rhs[part->head] += value[0];
            for (int i = 1; i < part->size; i++) rhs[part->tail + i - 1] += value[i];
        }
    }
    for (int i = 0; i < parts->space->size; i++) {
        if (parts->is_fixed[i]) rhs[i] = 0.0;
    }
}

static double head_slope(const ss_parts *parts, int p)
{
    return parts->part[p].slope * slopes_of(&parts->part[p], parts->share).head;
}

/* dz from complementarity, dz = G^-1 h - G^-2 ds; then what rounding has left open in u + du = N(z + dz): exactly
 * in the tails, by their slopes over the heads. */
static void close_head(ss_parts *parts, int first, int last, const double *rest, const double *du)
{
    double open = 0.0, weight = 0.0;
    for (int p = first; p < last; p++) {
        double value[MAX];
        double slope = head_slope(parts, p);
        spread(&parts->part[p], parts->share, parts->part[p].dz, value);
        if (p == first) open = rest[parts->part[p].head] + du[parts->part[p].head];
        open -= value[0];
        weight += slope * slope;
    }
    for (int p = first; p < last; p++) parts->part[p].dz[0] += open * head_slope(parts, p) / weight;
}

void ss_parts_directions(ss_parts *parts, ss_centring centring, const double *rest, const double *dr,
                         const double *du)
{
    for (int p = 0; p < parts->count; p++) {
        ss_part *part = &parts->part[p];
        double h[MAX], v[MAX], drawn[MAX];
        complementarity(part, centring, h);
        part->ds[0] = part->slope * dr[part->head];
        for (int i = 1; i < part->size; i++) part->ds[i] = dr[part->tail + i - 1];
        ss_lorentz_apply_inverse(&part->scaling, h, v);
        ss_lorentz_apply_inverse_square(&part->scaling, part->ds, drawn);
        part->dz[0] = v[0] - drawn[0];
        for (int i = 1; i < part->size; i++) part->dz[i] = rest[part->tail + i - 1] + du[part->tail + i - 1];
    }
    for (int p = 0, last; p < parts->count; p = last) {
        for (last = p + 1; last < parts->count && parts->part[last].head == parts->part[p].head;) last++;
        close_head(parts, p, last, rest, du);
    }
}

double ss_parts_longest(const ss_parts *parts)
{
    double t = INFINITY;
    for (int p = 0; p < parts->count; p++) {
        const ss_part *part = &parts->part[p];
        t = fmin(t, ss_lorentz_step(part->size, part->s, part->ds));
        t = fmin(t, ss_lorentz_step(part->size, part->z, part->dz));
    }
    return t;
}

bool ss_parts_centred(const ss_parts *parts, double t, double least)
{
    for (int p = 0; p < parts->count; p++) {
        const ss_part *part = &parts->part[p];
        double s[MAX], z[MAX];
        for (int i = 0; i < part->size; i++) {
            s[i] = part->s[i] + t * part->ds[i];
            z[i] = part->z[i] + t * part->dz[i];
        }
        if (ss_lorentz_least_square(part->size, s, z) < least) return false;
    }
    return true;
}

void ss_parts_move(ss_parts *parts, double t)
{
    for (int p = 0; p < parts->count; p++) {
        ss_part *part = &parts->part[p];
        for (int i = 0; i < part->size; i++) part->z[i] += t * part->dz[i];
    }
}
