/* The articulated-body algorithm, for changes of velocity within a step:
 *
 *     (M + R) dq = T' p + t,
 *
 * p the impulses on the links, R and t what linear laws of the joints add. Seen from its parent, a link with
 * all that hangs on it is one body, whose inertia I - U D^-1 U' lacks what gives way along its coordinates: a
 * pass from the leaves to the roots finds these inertias, a pass back the changes. The work is linear in the
 * number of links. Featherstone 2008, section 7.3.
 *
 * Inertias are found once, by ss_trees_factor; each ss_trees_solve is a pass up for the impulses and a pass
 * back. */
#include "tree/tree.h"

#include "base/memory.h"
#include "linalg/mat3.h"

#include <math.h>
#include <string.h>

/* Momentum of a velocity: linear A v + B w, angular B' v + C w, about the centre of the link. */
typedef struct inertia {
    ss_mat3 A, B, C;
} inertia;

struct ss_articulated {
    inertia I;                                               /* of the link with all that hangs on it */
    double W[SS_LINK_COORDINATES][6];                        /* rows of D^-1 U', U = I S of the axes S */
    double factor[SS_LINK_COORDINATES][SS_LINK_COORDINATES]; /* of D = S' U + R, Cholesky; of one: 1/D */
    double u[SS_LINK_COORDINATES], p[6];                     /* of a solve */
};

static void apply(const inertia *I, const ss_link_axis *axis, double out[6])
{
    ss_vec3 v = axis->linear, w = axis->angular;
    ss_vec3_store(ss_vec3_add(ss_mat3_apply(I->A, v), ss_mat3_apply(I->B, w)), out);
    ss_vec3_store(ss_vec3_add(ss_mat3_apply_transposed(I->B, v), ss_mat3_apply(I->C, w)), out + 3);
}

static double dot(const double a[6], const ss_link_axis *axis)
{
    return ss_vec3_dot(ss_vec3_load(a), axis->linear) + ss_vec3_dot(ss_vec3_load(a + 3), axis->angular);
}

/* x := D^-1 x */
static inline void solve_small(const ss_articulated *of, int n, double *x)
{
    if (n == 1) {
        x[0] *= of->factor[0][0];
        return;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= of->factor[i][j] * x[j];
        x[i] /= of->factor[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= of->factor[j][i] * x[j];
        x[i] /= of->factor[i][i];
    }
}

/* I - U D^-1 U' goes to the parent, about its centre, r away. Seen from there A is the same, B loses A (r x),
 * and C loses B' (r x) and gains (r x) B of the parent: rows and columns crossed with r. */
static void hand_up(int n, double U[][6], const ss_articulated *of, ss_vec3 r, inertia *to)
{
    inertia rest = of->I;
    for (int i = 0; i < n; i++) {
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                rest.A.m[a][b] -= U[i][a] * of->W[i][b];
                rest.B.m[a][b] -= U[i][a] * of->W[i][3 + b];
                rest.C.m[a][b] -= U[i][3 + a] * of->W[i][3 + b];
            }
        }
    }
    ss_mat3 moved;
    for (int a = 0; a < 3; a++) {
        ss_vec3 row = ss_vec3_cross(ss_vec3_load(rest.A.m[a]), r);
        moved.m[a][0] = rest.B.m[a][0] - row.x;
        moved.m[a][1] = rest.B.m[a][1] - row.y;
        moved.m[a][2] = rest.B.m[a][2] - row.z;
    }
    for (int a = 0; a < 3; a++) {
        ss_vec3 row = ss_vec3_cross((ss_vec3){rest.B.m[0][a], rest.B.m[1][a], rest.B.m[2][a]}, r);
        rest.C.m[a][0] -= row.x;
        rest.C.m[a][1] -= row.y;
        rest.C.m[a][2] -= row.z;
    }
    for (int b = 0; b < 3; b++) {
        ss_vec3 column = ss_vec3_cross(r, (ss_vec3){moved.m[0][b], moved.m[1][b], moved.m[2][b]});
        rest.C.m[0][b] += column.x;
        rest.C.m[1][b] += column.y;
        rest.C.m[2][b] += column.z;
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            to->A.m[a][b] += rest.A.m[a][b];
            to->B.m[a][b] += moved.m[a][b];
            to->C.m[a][b] += rest.C.m[a][b];
        }
    }
}

ss_articulated *ss_trees_factor(const ss_trees *trees, const ss_link_load *loads, const ss_link_law *laws,
                                ss_arena *scratch, ss_error *err)
{
    ss_articulated *all =
        ss_arena_take_unset(scratch, (size_t)trees->count, sizeof *all, "articulated bodies");
    if (!all) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", trees->count);
        return NULL;
    }
    for (int l = 0; l < trees->count; l++) {
        const ss_link_load *load = &loads[l];
        all[l].I.A = ss_mat3_diagonal(load->mass, load->mass, load->mass);
        all[l].I.B = (ss_mat3){0};
        all[l].I.C = ss_mat3_symmetric_part(ss_mat3_load(load->inertia));
    }

    /* From the leaves to the roots: what a link is to its parent. */
    for (int l = trees->count - 1; l >= 0; l--) {
        const ss_link *link = &trees->link[l];
        ss_articulated *of = &all[l];
        double U[SS_LINK_COORDINATES][6];
        int n = link->count;
        bool good = true;
        for (int i = 0; i < n; i++) apply(&of->I, &link->axis[i], U[i]);
        if (n == 1) {
            double D = dot(U[0], &link->axis[0]) + laws[l].resistance[0][0];
            good = D > 0.0;
            of->factor[0][0] = 1.0 / D;
        }
        for (int i = 0; n > 1 && good && i < n; i++) {
            for (int j = 0; j <= i; j++) {
                double sum = dot(U[i], &link->axis[j]) + laws[l].resistance[i][j];
                for (int k = 0; k < j; k++) sum -= of->factor[i][k] * of->factor[j][k];
                good = i != j || sum > 0.0;
                of->factor[i][j] = i == j ? sqrt(sum) : sum / of->factor[j][j];
            }
        }
        if (!good) {
            ss_fail(err, SS_ERROR_INPUT, "the mass matrix of tree %d is not positive definite", link->tree);
            return NULL;
        }
        for (int d = 0; d < 6; d++) {
            double column[SS_LINK_COORDINATES];
            for (int i = 0; i < n; i++) column[i] = U[i][d];
            solve_small(of, n, column);
            for (int i = 0; i < n; i++) of->W[i][d] = column[i];
        }
        if (link->parent >= 0)
            hand_up(n, U, of, ss_vec3_subtract(link->centre, trees->link[link->parent].centre),
                    &all[link->parent].I);
    }
    return all;
}

void ss_trees_solve(const ss_trees *trees, ss_articulated *all, double h, const ss_link_load *loads,
                    const ss_link_law *laws, double *rate, double (*change)[6])
{
    /* What a link's coordinates leave of its impulse, p - U D^-1 u, goes to its parent. */
    for (int l = 0; l < trees->count; l++)
        for (int d = 0; d < 6; d++) all[l].p[d] = h * loads[l].force[d];
    for (int l = trees->count - 1; l >= 0; l--) {
        const ss_link *link = &trees->link[l];
        ss_articulated *of = &all[l];
        for (int i = 0; i < link->count; i++) of->u[i] = dot(of->p, &link->axis[i]) + laws[l].push[i];
        if (link->parent < 0) continue;
        double p[6], *up = all[link->parent].p;
        memcpy(p, of->p, sizeof p);
        for (int i = 0; i < link->count; i++)
            for (int d = 0; d < 6; d++) p[d] -= of->W[i][d] * of->u[i];
        ss_vec3 force = ss_vec3_load(p), r = ss_vec3_subtract(link->centre, trees->link[link->parent].centre);
        ss_vec3 torque = ss_vec3_add(ss_vec3_load(p + 3), ss_vec3_cross(r, force));
        ss_vec3_store(ss_vec3_add(ss_vec3_load(up), force), up);
        ss_vec3_store(ss_vec3_add(ss_vec3_load(up + 3), torque), up + 3);
    }

    /* And back: what its parent does, and its own coordinates, D^-1 (u - U' V). */
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        const ss_articulated *of = &all[l];
        ss_vec3 v = {0.0, 0.0, 0.0}, w = v;
        if (link->parent >= 0) {
            ss_vec3 arm = ss_vec3_subtract(link->centre, trees->link[link->parent].centre);
            w = ss_vec3_load(change[link->parent] + 3);
            v = ss_vec3_add(ss_vec3_load(change[link->parent]), ss_vec3_cross(w, arm));
        }
        double own[SS_LINK_COORDINATES];
        for (int i = 0; i < link->count; i++) own[i] = of->u[i];
        solve_small(of, link->count, own);
        for (int i = 0; i < link->count; i++)
            own[i] -= ss_vec3_dot(ss_vec3_load(of->W[i]), v) + ss_vec3_dot(ss_vec3_load(of->W[i] + 3), w);
        for (int i = 0; i < link->count; i++) {
            rate[link->first + i] = link->rate[i] + own[i];
            v = ss_vec3_add_scaled(v, own[i], link->axis[i].linear);
            w = ss_vec3_add_scaled(w, own[i], link->axis[i].angular);
        }
        ss_vec3_store(v, change[l]);
        ss_vec3_store(w, change[l] + 3);
    }
}
