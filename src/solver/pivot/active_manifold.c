#include "solver/pivot/active_manifold.h"

#include <math.h>

#include "linalg/sparse_search.h"
#include "linalg/vector.h"
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
    parts[0] = (part){block->first + 1, ss_cone_tangents(block->size), block->mu};
    if (!ss_cone_rolls(block->size)) return 1;
    parts[1] = (part){block->first + ss_cone_rolling(block->size), 2, block->mu_rolling};
    return 2;
}

bool ss_active_manifold_create(const ss_scaled *scaled, ss_arena *arena, ss_active_manifold *manifold)
{
    *manifold = (ss_active_manifold){.s = scaled};
    manifold->where = ss_arena_take(arena, (size_t)scaled->size, sizeof *manifold->where, "manifold");
    return manifold->where != NULL;
}

void ss_active_manifold_find(ss_active_manifold *m, const double *x, const double *g)
{
    const ss_problem *problem = m->s->problem;
    m->x = x;
    m->g = g;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block)) {
            for (int i = block->first; i < block->first + block->size; i++)
                m->where[i] = x[i] <= m->s->lower[i] || x[i] >= m->s->upper[i] ? FIXED : LOOSE;
            continue;
        }
        part parts[2];
        double normal = x[block->first];
        m->where[block->first] = normal > 0.0 ? LOOSE : FIXED;
        for (int p = 0, count = parts_of(block, parts); p < count; p++) {
            int first = parts[p].first, size = parts[p].size;
            double mu = parts[p].mu, length = ss_norm(size, x + first);
            bool none = mu == 0.0 || (normal <= 0.0 && !isinf(mu));
            bool cut = !isinf(mu) && length >= (1.0 - on_surface) * (mu * normal);
            for (int i = first; i < first + size; i++) m->where[i] = none ? FIXED : cut ? ON_SURFACE : LOOSE;
        }
    }
    m->hash = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < m->s->size; i++) {
        m->hash = (m->hash ^ (uint64_t)(m->where[i] + 1)) * 0xbf58476d1ce4e5b9u;
        m->hash ^= m->hash >> 29;
    }
}

/* ---- moving along it -------------------------------------------------------------------------------- */

void ss_active_manifold_flatten(const ss_active_manifold *m, double *v)
{
    const ss_problem *problem = m->s->problem;
    for (int i = 0; i < m->s->size; i++) {
        if (m->where[i] == FIXED) v[i] = 0.0;
    }

    // What leads off the surfaces of a cone: v -= sum l_p n_p with n_p = (-mu_p, t_p), so that n_p . v = 0.
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        part parts[2], cut[2];
        double t[2][3], off[2], share[2] = {0};
        int count = 0;
        for (int p = 0, all = ss_block_is_cone(block) ? parts_of(block, parts) : 0; p < all; p++) {
            if (m->where[parts[p].first] != ON_SURFACE) continue;
            const double *r = m->x + parts[p].first;
            double length = ss_norm(parts[p].size, r);
            for (int i = 0; i < parts[p].size; i++) t[count][i] = r[i] / length;
            off[count] = ss_dot(parts[p].size, t[count], v + parts[p].first) - parts[p].mu * v[block->first];
            cut[count++] = parts[p];
        }
        if (count == 1) share[0] = off[0] / (1.0 + cut[0].mu * cut[0].mu);
        if (count == 2) {
            double a = 1.0 + cut[0].mu * cut[0].mu, c = 1.0 + cut[1].mu * cut[1].mu;
            double b = cut[0].mu * cut[1].mu;
            share[0] = (c * off[0] - b * off[1]) / (a * c - b * b);
            share[1] = (a * off[1] - b * off[0]) / (a * c - b * b);
        }
        for (int p = 0; p < count; p++) {
            v[block->first] += share[p] * cut[p].mu;
            for (int i = 0; i < cut[p].size; i++) v[cut[p].first + i] -= share[p] * t[p][i];
        }
    }
}

/* to += factor times the part of v across the ray of every surface; stiffness = lambda / |r_p|, and the
 * factor is that, or what undoes it in 1 + bending */
static void add_across(const ss_active_manifold *m, bool undo, const double *v, double *to)
{
    const ss_problem *problem = m->s->problem;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        part parts[2];
        for (int p = 0, count = ss_block_is_cone(block) ? parts_of(block, parts) : 0; p < count; p++) {
            int first = parts[p].first, size = parts[p].size;
            if (m->where[first] != ON_SURFACE) continue;
            const double *r = m->x + first;
            double square = ss_dot(size, r, r), stiffness = -ss_dot(size, r, m->g + first) / square;
            if (!(stiffness > 0.0)) continue;
            double along = ss_dot(size, r, v + first) / square, factor = stiffness, across[3];
            if (undo) factor = isinf(stiffness) ? -1.0 : -stiffness / (1.0 + stiffness);
            for (int i = 0; i < size; i++) across[i] = v[first + i] - along * r[i];
            for (int i = 0; i < size; i++) to[first + i] += factor * across[i];
        }
    }
}

void ss_active_manifold_bend(const ss_active_manifold *m, const double *v, double *product)
{
    add_across(m, false, v, product);
}

void ss_active_manifold_unbend(const ss_active_manifold *m, double *v)
{
    add_across(m, true, v, v);
}

void ss_active_manifold_project(const ss_scaled *s, double *x)
{
    for (int k = 0; k < s->problem->block_count; k++) {
        const ss_block *block = &s->problem->blocks[k];
        if (ss_block_is_cone(block)) {
            ss_friction_cone_project(ss_block_cone(block), x + block->first);
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++)
            x[i] = fmin(fmax(x[i], s->lower[i]), s->upper[i]);
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

/* A unit vector across r: on a disc there is one; in a ball the first, `which` = 0, has nothing of the
 * smallest component of r, and the second is across both. */
static void unit_across(int size, int which, const double *r, double *across)
{
    if (size == 2) {
        double length = ss_norm(2, r);
        across[0] = -r[1] / length;
        across[1] = r[0] / length;
        return;
    }
    double x = fabs(r[0]), y = fabs(r[1]), z = fabs(r[2]), first[3] = {0}, length = ss_norm(3, r);
    int least = x <= y && x <= z ? 0 : y <= z ? 1 : 2, next = (least + 1) % 3, last = (least + 2) % 3;
    double side = hypot(r[next], r[last]);
    first[next] = -r[last] / side;
    first[last] = r[next] / side;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        across[i] = which == 0 ? first[i] : (r[j] * first[k] - r[k] * first[j]) / length;
    }
}

ss_sparse *ss_active_manifold_coordinates(const ss_active_manifold *m, bool *in_face, double *stiffness)
{
    const ss_problem *problem = m->s->problem;
    int n = m->s->size, entry = 0;
    ss_sparse *Q = ss_sparse_create(n, n, 3 * (int64_t)n, NULL);
    if (!Q) return NULL;
    for (int i = 0; i < n; i++) stiffness[i] = 0.0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool is_cone = ss_block_is_cone(block);
        part parts[2];
        int count = is_cone ? parts_of(block, parts) : 0, normal = block->first;
        double square = 1.0;
        for (int p = 0; p < count; p++) {
            if (m->where[parts[p].first] == ON_SURFACE) square += parts[p].mu * parts[p].mu;
        }

        for (int i = normal; i < normal + block->size; i++) {
            const part *own = i > normal && count > 0 ? &parts[i >= parts[0].first + parts[0].size] : NULL;
            if (own && m->where[i] == ON_SURFACE) {
                // Across the ray, in all columns of the part but the last, which has nothing left.
                const double *r = m->x + own->first;
                in_face[i] = i < own->first + own->size - 1;
                if (in_face[i]) {
                    double across[3] = {0}, length_square = ss_dot(own->size, r, r);
                    stiffness[i] = fmax(0.0, -ss_dot(own->size, r, m->g + own->first) / length_square);
                    unit_across(own->size, i - own->first, r, across);
                    for (int j = 0; j < own->size; j++)
                        ss_sparse_append(Q, &entry, own->first + j, across[j]);
                }
            } else {
                // By itself; the normal of a cone along the ray through r, which takes along every part that
                // is on its surface.
                in_face[i] = m->where[i] == LOOSE;
                bool is_ray = is_cone && i == normal;
                if (in_face[i]) ss_sparse_append(Q, &entry, i, is_ray ? 1.0 / sqrt(square) : 1.0);
                for (int p = 0; in_face[i] && is_ray && p < count; p++) {
                    int first = parts[p].first, size = parts[p].size;
                    if (m->where[first] != ON_SURFACE) continue;
                    double length = ss_norm(size, m->x + first);
                    for (int j = first; j < first + size; j++)
                        ss_sparse_append(Q, &entry, j, parts[p].mu * m->x[j] / length / sqrt(square));
                }
            }
            Q->start[i + 1] = entry;
        }
    }
    return Q;
}
