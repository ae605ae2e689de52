#include "solver/newton/active_manifold.h"

#include <math.h>

#include "problem/laws.h"

/* Of a scalar unknown, or of the normal component: on its bound or not. Of the first component of a cone's
 * tangential or rolling part: */
enum { LOOSE, FIXED, ON_SURFACE };

static const double on_surface = 1e-12; // relative: rounding of a projection

/* One part of a cone: |r_p| <= mu r_N. */
typedef struct part {
    int first, size;
    double mu;
} part;

static int parts_of(const ss_block *block, part parts[2])
{
    parts[0] = (part){block->first + 1, block->size == 2 ? 1 : 2, block->mu};
    if (block->size < 5) return 1;
    parts[1] = (part){block->first + 3, 2, block->mu_rolling};
    return 2;
}

static double dot(const double *a, const double *b, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

bool ss_active_manifold_create(const ss_scaled *scaled, ss_arena *arena, ss_active_manifold *manifold)
{
    *manifold = (ss_active_manifold){.s = scaled};
    manifold->where = ss_arena_take(arena, (size_t)scaled->size, sizeof *manifold->where, "manifold");
    return manifold->where != NULL;
}

/* ---- finding ---------------------------------------------------------------------------------------- */

static void find_cone(const ss_block *block, const double *x, unsigned char *where)
{
    part parts[2];
    double normal = x[block->first];
    where[block->first] = normal > 0.0 ? LOOSE : FIXED;
    for (int p = 0, count = parts_of(block, parts); p < count; p++) {
        const double *r = x + parts[p].first;
        double limit = parts[p].mu * normal, length = sqrt(dot(r, r, parts[p].size));
        bool none = parts[p].mu == 0.0 || (normal <= 0.0 && !isinf(parts[p].mu));
        bool cut = !isinf(parts[p].mu) && length >= (1.0 - on_surface) * limit;
        for (int i = 0; i < parts[p].size; i++) {
            where[parts[p].first + i] = none ? FIXED : cut ? ON_SURFACE : LOOSE;
        }
    }
}

void ss_active_manifold_find(ss_active_manifold *m, const double *x, const double *g)
{
    const ss_problem *problem = m->s->problem;
    m->x = x;
    m->g = g;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_block_is_cone(block)) {
            find_cone(block, x, m->where);
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++) {
            m->where[i] = x[i] <= m->s->lower[i] || x[i] >= m->s->upper[i] ? FIXED : LOOSE;
        }
    }
    m->hash = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < m->s->size; i++) {
        m->hash = (m->hash ^ (uint64_t)(m->where[i] + 1)) * 0xbf58476d1ce4e5b9u;
        m->hash ^= m->hash >> 29;
    }
}

/* ---- moving along it -------------------------------------------------------------------------------- */

/* Removes from v what leads off the surface: v -= sum l_p n_p with n_p = (-mu_p, t_p), so
 * that n_p . v = 0. */
static void flatten_surfaces(const ss_active_manifold *m, const ss_block *block, double *v)
{
    part parts[2], cut[2];
    double t[2][2], off[2];
    int count = 0;
    for (int p = 0, all = parts_of(block, parts); p < all; p++) {
        if (m->where[parts[p].first] != ON_SURFACE) continue;
        const double *r = m->x + parts[p].first;
        double length = sqrt(dot(r, r, parts[p].size));
        for (int i = 0; i < parts[p].size; i++) t[count][i] = r[i] / length;
        off[count] = dot(t[count], v + parts[p].first, parts[p].size) - parts[p].mu * v[block->first];
        cut[count++] = parts[p];
    }
    if (count == 0) return;
    double share[2] = {off[0] / (1.0 + cut[0].mu * cut[0].mu), 0.0};
    if (count == 2) {
        double a = 1.0 + cut[0].mu * cut[0].mu, b = cut[0].mu * cut[1].mu, c = 1.0 + cut[1].mu * cut[1].mu;
        share[0] = (c * off[0] - b * off[1]) / (a * c - b * b);
        share[1] = (a * off[1] - b * off[0]) / (a * c - b * b);
    }
    for (int p = 0; p < count; p++) {
        v[block->first] += share[p] * cut[p].mu;
        for (int i = 0; i < cut[p].size; i++) v[cut[p].first + i] -= share[p] * t[p][i];
    }
}

void ss_active_manifold_flatten(const ss_active_manifold *m, double *v)
{
    const ss_problem *problem = m->s->problem;
    for (int i = 0; i < m->s->size; i++) {
        if (m->where[i] == FIXED) v[i] = 0.0;
    }
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_block_is_cone(block)) flatten_surfaces(m, block, v);
    }
}

/* to += factor(stiffness) times the part of v across the ray; stiffness = lambda / |r_p|, 0
 * where nothing bends */
static void add_across(const ss_active_manifold *m, const ss_block *block, double (*factor)(double),
                       const double *v, double *to)
{
    part parts[2];
    for (int p = 0, count = parts_of(block, parts); p < count; p++) {
        int first = parts[p].first, size = parts[p].size;
        if (m->where[first] != ON_SURFACE) continue;
        const double *r = m->x + first;
        double square = dot(r, r, size), stiffness = -dot(r, m->g + first, size) / square;
        if (!(stiffness > 0.0)) continue;
        double along = dot(r, v + first, size) / square, share = factor(stiffness), across[2];
        for (int i = 0; i < size; i++) across[i] = v[first + i] - along * r[i];
        for (int i = 0; i < size; i++) to[first + i] += share * across[i];
    }
}

static double as_it_is(double stiffness)
{
    return stiffness;
}

static double undone(double stiffness)
{
    return isinf(stiffness) ? -1.0 : -stiffness / (1.0 + stiffness);
}

void ss_active_manifold_bend(const ss_active_manifold *m, const double *v, double *product)
{
    const ss_problem *problem = m->s->problem;
    for (int k = 0; k < problem->block_count; k++) {
        if (ss_block_is_cone(&problem->blocks[k])) add_across(m, &problem->blocks[k], as_it_is, v, product);
    }
}

void ss_active_manifold_unbend(const ss_active_manifold *m, double *v)
{
    const ss_problem *problem = m->s->problem;
    for (int k = 0; k < problem->block_count; k++) {
        if (ss_block_is_cone(&problem->blocks[k])) add_across(m, &problem->blocks[k], undone, v, v);
    }
}

void ss_active_manifold_project(const ss_scaled *s, double *x)
{
    for (int k = 0; k < s->problem->block_count; k++) {
        const ss_block *block = &s->problem->blocks[k];
        if (ss_block_is_cone(block)) {
            ss_friction_cone_project(ss_block_cone(block), x + block->first);
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++) {
            x[i] = fmin(fmax(x[i], s->lower[i]), s->upper[i]);
        }
    }
}

void ss_active_manifold_catch_apex(const ss_scaled *s, double *x)
{
    for (int k = 0; k < s->problem->block_count; k++) {
        const ss_block *block = &s->problem->blocks[k];
        if (!ss_block_is_cone(block) || isinf(block->mu) || x[block->first] > 0.0) continue;
        for (int i = block->first; i < block->first + block->size; i++) x[i] = 0.0;
    }
}

/* ---- coordinates ------------------------------------------------------------------------------------ */

typedef struct columns {
    ss_sparse *Q;
    int entry;
} columns;

static void add_entry(columns *c, int row, double value)
{
    c->Q->row[c->entry] = row;
    c->Q->value[c->entry++] = value;
}

/* The ray through r, in the column of the normal component: it takes along every part that is
 * on its surface. */
static void add_ray(const ss_active_manifold *m, const ss_block *block, columns *c)
{
    part parts[2];
    int count = parts_of(block, parts);
    double square = 1.0;
    for (int p = 0; p < count; p++) {
        if (m->where[parts[p].first] == ON_SURFACE) square += parts[p].mu * parts[p].mu;
    }
    add_entry(c, block->first, 1.0 / sqrt(square));
    for (int p = 0; p < count; p++) {
        int first = parts[p].first, size = parts[p].size;
        if (m->where[first] != ON_SURFACE) continue;
        double length = sqrt(dot(m->x + first, m->x + first, size));
        for (int i = 0; i < size; i++)
            add_entry(c, first + i, parts[p].mu * m->x[first + i] / length / sqrt(square));
    }
}

/* Across the ray, in the first column of the part; the second has nothing left. */
static void add_across_columns(const ss_active_manifold *m, const part *which, columns *c, bool *in_face,
                               double *stiffness)
{
    int first = which->first;
    const double *r = m->x + first;
    if (which->size == 2) {
        double square = dot(r, r, 2), length = sqrt(square);
        stiffness[first] = fmax(0.0, -dot(r, m->g + first, 2) / square);
        add_entry(c, first, -r[1] / length);
        add_entry(c, first + 1, r[0] / length);
    }
    in_face[first] = which->size == 2;
    for (int i = 0; i < which->size; i++) c->Q->start[first + i + 1] = c->entry;
}

static void add_cone_columns(const ss_active_manifold *m, const ss_block *block, columns *c, bool *in_face,
                             double *stiffness)
{
    part parts[2];
    in_face[block->first] = m->where[block->first] == LOOSE;
    if (in_face[block->first]) add_ray(m, block, c);
    c->Q->start[block->first + 1] = c->entry;
    for (int p = 0, count = parts_of(block, parts); p < count; p++) {
        if (m->where[parts[p].first] == ON_SURFACE) {
            add_across_columns(m, &parts[p], c, in_face, stiffness);
            continue;
        }
        for (int i = parts[p].first; i < parts[p].first + parts[p].size; i++) {
            in_face[i] = m->where[i] == LOOSE;
            if (in_face[i]) add_entry(c, i, 1.0);
            c->Q->start[i + 1] = c->entry;
        }
    }
}

ss_sparse *ss_active_manifold_coordinates(const ss_active_manifold *m, bool *in_face, double *stiffness)
{
    const ss_problem *problem = m->s->problem;
    int n = m->s->size;
    columns c = {.Q = ss_sparse_create(n, n, 2 * (int64_t)n, NULL)};
    if (!c.Q) return NULL;
    for (int i = 0; i < n; i++) in_face[i] = false, stiffness[i] = 0.0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_block_is_cone(block)) {
            add_cone_columns(m, block, &c, in_face, stiffness);
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++) {
            in_face[i] = m->where[i] == LOOSE;
            if (in_face[i]) add_entry(&c, i, 1.0);
            c.Q->start[i + 1] = c.entry;
        }
    }
    return c.Q;
}
