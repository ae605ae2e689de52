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

/* A symmetric matrix: xx, xy, xz, yy, yz, zz. */
typedef struct symmetric {
    double xx, xy, xz, yy, yz, zz;
} symmetric;

/* Momentum of a velocity: linear A v + B w, angular B' v + C w, about the centre of the link. */
typedef struct inertia {
    symmetric A, C;
    ss_mat3 B;
} inertia;

struct ss_articulated {
    inertia I;                                               /* of the link with all that hangs on it */
    ss_link_axis Y[SS_LINK_COORDINATES];                     /* columns of U L^-T, U = I S of the axes S */
    double factor[SS_LINK_COORDINATES][SS_LINK_COORDINATES]; /* L of S' U + R = L L', with 1/diagonal */
    double u[SS_LINK_COORDINATES];                           /* of a solve */
    ss_link_axis p;
};

static inline ss_vec3 apply_symmetric(const symmetric *a, ss_vec3 v)
{
    return (ss_vec3){a->xx * v.x + a->xy * v.y + a->xz * v.z, a->xy * v.x + a->yy * v.y + a->yz * v.z,
                     a->xz * v.x + a->yz * v.y + a->zz * v.z};
}

static inline double dot(const ss_link_axis *a, const ss_link_axis *b)
{
    return ss_vec3_dot(a->linear, b->linear) + ss_vec3_dot(a->angular, b->angular);
}

static inline void add_scaled(ss_link_axis *to, double s, const ss_link_axis *of)
{
    to->linear = ss_vec3_add_scaled(to->linear, s, of->linear);
    to->angular = ss_vec3_add_scaled(to->angular, s, of->angular);
}

/* L of a link with n coordinates, and Y if it hands something up; false: not positive definite. Made for
 * every usual n, so that loops have a length that the compiler knows. */
__attribute__((always_inline)) static inline bool eliminate(int n, bool hands_up, const ss_link_axis *S,
                                                            const ss_link_law *law, ss_articulated *of)
{
    const inertia *I = &of->I;
    ss_link_axis *Y = of->Y;
    for (int i = 0; i < n; i++) {
        ss_vec3 v = S[i].linear, w = S[i].angular;
        Y[i].linear = ss_vec3_add(apply_symmetric(&I->A, v), ss_mat3_apply(I->B, w));
        Y[i].angular = ss_vec3_add(ss_mat3_apply_transposed(I->B, v), apply_symmetric(&I->C, w));
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = dot(&Y[i], &S[j]) + law->resistance[i][j];
            for (int k = 0; k < j; k++) sum -= of->factor[i][k] * of->factor[j][k];
            if (i == j && !(sum > 0.0)) return false;
            of->factor[i][j] = i == j ? 1.0 / sqrt(sum) : sum * of->factor[j][j];
        }
    }
    for (int i = 0; hands_up && i < n; i++) {
        double inverse = of->factor[i][i];
        for (int k = 0; k < i; k++) add_scaled(&Y[i], -of->factor[i][k], &Y[k]);
        Y[i].linear = ss_vec3_scale(inverse, Y[i].linear);
        Y[i].angular = ss_vec3_scale(inverse, Y[i].angular);
    }
    return true;
}

/* I - Y Y' goes to the parent, about its centre, r away. Seen from there A is the same, B loses A (r x), and
 * C loses B' (r x) and gains (r x) B of the parent: rows and columns crossed with r. */
static inline void hand_up(int n, const ss_articulated *of, ss_vec3 r, inertia *to)
{
    symmetric A = of->I.A, C = of->I.C;
    ss_mat3 B = of->I.B;
    for (int i = 0; i < n; i++) {
        ss_vec3 v = of->Y[i].linear, w = of->Y[i].angular;
        A.xx -= v.x * v.x, A.xy -= v.x * v.y, A.xz -= v.x * v.z;
        A.yy -= v.y * v.y, A.yz -= v.y * v.z, A.zz -= v.z * v.z;
        B = ss_mat3_add_scaled(B, -1.0, ss_mat3_outer(v, w));
        C.xx -= w.x * w.x, C.xy -= w.x * w.y, C.xz -= w.x * w.z;
        C.yy -= w.y * w.y, C.yz -= w.y * w.z, C.zz -= w.z * w.z;
    }
    ss_mat3 moved = ss_mat3_add_scaled(B, -1.0,
                                       ss_mat3_from_rows(ss_vec3_cross((ss_vec3){A.xx, A.xy, A.xz}, r),
                                                         ss_vec3_cross((ss_vec3){A.xy, A.yy, A.yz}, r),
                                                         ss_vec3_cross((ss_vec3){A.xz, A.yz, A.zz}, r)));
    ss_vec3 lost[3], won[3];
    for (int a = 0; a < 3; a++) {
        lost[a] = ss_vec3_cross(ss_mat3_column(&B, a), r);
        won[a] = ss_vec3_cross(r, ss_mat3_column(&moved, a));
    }
    to->A.xx += A.xx, to->A.xy += A.xy, to->A.xz += A.xz;
    to->A.yy += A.yy, to->A.yz += A.yz, to->A.zz += A.zz;
    to->B = ss_mat3_add_scaled(to->B, 1.0, moved);
    to->C.xx += C.xx - lost[0].x + won[0].x;
    to->C.xy += C.xy - lost[0].y + won[1].x;
    to->C.xz += C.xz - lost[0].z + won[2].x;
    to->C.yy += C.yy - lost[1].y + won[1].y;
    to->C.yz += C.yz - lost[1].z + won[2].y;
    to->C.zz += C.zz - lost[2].z + won[2].z;
}

/* L of a root that moves freely: its axes are those of the world, and it hands nothing up. */
static bool eliminate_free(ss_articulated *of, const ss_link_law *law)
{
    const symmetric *A = &of->I.A, *C = &of->I.C;
    const double(*B)[3] = (const double(*)[3])of->I.B.m;
    double(*L)[SS_LINK_COORDINATES] = of->factor;
    const double rows[6][6] = {{A->xx},
                               {A->xy, A->yy},
                               {A->xz, A->yz, A->zz},
                               {B[0][0], B[1][0], B[2][0], C->xx},
                               {B[0][1], B[1][1], B[2][1], C->xy, C->yy},
                               {B[0][2], B[1][2], B[2][2], C->xz, C->yz, C->zz}};
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
#pragma GCC unroll 6
        for (int j = 0; j <= i; j++) {
            double sum = rows[i][j] + law->resistance[i][j];
#pragma GCC unroll 6
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 0.0)) return false;
            L[i][j] = i == j ? 1.0 / sqrt(sum) : sum * L[j][j];
        }
    }
    return true;
}

ss_articulated *ss_trees_factor(const ss_trees *trees, const ss_link_mass *masses, const ss_link_law *laws,
                                ss_arena *scratch, ss_error *err)
{
    ss_articulated *all =
        ss_arena_take_unset(scratch, (size_t)trees->count, sizeof *all, "articulated bodies");
    if (!all) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", trees->count);
        return NULL;
    }
    for (int l = 0; l < trees->count; l++) {
        const double *I = masses[l].inertia, m = masses[l].mass;
        all[l].I = (inertia){.A = {m, 0.0, 0.0, m, 0.0, m}, .C = {I[0], I[1], I[2], I[4], I[5], I[8]}};
    }

    /* From the leaves to the roots: what a link is to its parent. */
    for (int l = trees->count - 1; l >= 0; l--) {
        const ss_link *link = &trees->link[l];
        ss_articulated *of = &all[l];
        bool hands_up = link->parent >= 0;
        int n = link->count;
        bool good = link->joint < 0 ? eliminate_free(of, &laws[l])
                    : n == 1        ? eliminate(1, hands_up, link->axis, &laws[l], of)
                    : n == 3        ? eliminate(3, hands_up, link->axis, &laws[l], of)
                                    : eliminate(n, hands_up, link->axis, &laws[l], of);
        if (!good) {
            ss_fail(err, SS_ERROR_INPUT, "the mass matrix of tree %d is not positive definite", link->tree);
            return NULL;
        }
        if (hands_up)
            hand_up(n, of, ss_vec3_subtract(link->centre, trees->link[link->parent].centre),
                    &all[link->parent].I);
    }
    return all;
}

/* What its parent does, V, and its own coordinates, L^-T (u - Y' V), from the roots to the leaves. */
static void go_back(const ss_trees *trees, const ss_articulated *all, double *rate, double (*change)[6])
{
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        const ss_articulated *of = &all[l];
        ss_link_axis V = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        double own[SS_LINK_COORDINATES];
        if (link->joint < 0) { // its velocity is its coordinates
            double *to = rate + link->first;
#pragma GCC unroll 6
            for (int i = 5; i >= 0; i--) {
                own[i] = of->u[i];
#pragma GCC unroll 6
                for (int k = i + 1; k < 6; k++) own[i] -= of->factor[k][i] * own[k];
                own[i] *= of->factor[i][i];
                to[i] = change[l][i] = own[i];
            }
            continue;
        }
        if (link->parent >= 0) {
            ss_vec3 arm = ss_vec3_subtract(link->centre, trees->link[link->parent].centre);
            V.angular = ss_vec3_load(change[link->parent] + 3);
            V.linear = ss_vec3_add(ss_vec3_load(change[link->parent]), ss_vec3_cross(V.angular, arm));
            for (int i = 0; i < link->count; i++) own[i] = of->u[i] - dot(&of->Y[i], &V);
        } else {
            for (int i = 0; i < link->count; i++) own[i] = of->u[i];
        }
        for (int i = link->count - 1; i >= 0; i--) {
            for (int k = i + 1; k < link->count; k++) own[i] -= of->factor[k][i] * own[k];
            own[i] *= of->factor[i][i];
            rate[link->first + i] = own[i];
            add_scaled(&V, own[i], &link->axis[i]);
        }
        ss_vec3_store(V.linear, change[l]);
        ss_vec3_store(V.angular, change[l] + 3);
    }
}

void ss_trees_solve(const ss_trees *trees, ss_articulated *all, double h, const double (*force)[6],
                    const ss_link_law *laws, double *rate, double (*change)[6])
{
    /* u = L^-1 (S' p + t); what a link's coordinates leave of its impulse, p - Y u, goes to its parent. */
    for (int l = 0; l < trees->count; l++) {
        all[l].p.linear = ss_vec3_scale(h, ss_vec3_load(force[l]));
        all[l].p.angular = ss_vec3_scale(h, ss_vec3_load(force[l] + 3));
    }
    for (int l = trees->count - 1; l >= 0; l--) {
        const ss_link *link = &trees->link[l];
        ss_articulated *of = &all[l];
        double *u = of->u;
        if (link->joint < 0) { // its axes are those of the world
            const double p[6] = {of->p.linear.x,  of->p.linear.y,  of->p.linear.z,
                                 of->p.angular.x, of->p.angular.y, of->p.angular.z};
#pragma GCC unroll 6
            for (int i = 0; i < 6; i++) {
                u[i] = p[i] + laws[l].push[i];
#pragma GCC unroll 6
                for (int k = 0; k < i; k++) u[i] -= of->factor[i][k] * u[k];
                u[i] *= of->factor[i][i];
            }
            continue;
        }
        for (int i = 0; i < link->count; i++) {
            u[i] = dot(&of->p, &link->axis[i]) + laws[l].push[i];
            for (int k = 0; k < i; k++) u[i] -= of->factor[i][k] * u[k];
            u[i] *= of->factor[i][i];
        }
        if (link->parent < 0) continue;
        ss_link_axis left = of->p, *up = &all[link->parent].p;
        for (int i = 0; i < link->count; i++) add_scaled(&left, -u[i], &of->Y[i]);
        ss_vec3 r = ss_vec3_subtract(link->centre, trees->link[link->parent].centre);
        up->linear = ss_vec3_add(up->linear, left.linear);
        up->angular = ss_vec3_add(up->angular, ss_vec3_add(left.angular, ss_vec3_cross(r, left.linear)));
    }
    go_back(trees, all, rate, change);
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        for (int i = 0; i < link->count; i++) rate[link->first + i] += link->rate[i];
    }
}

/* Three numbers of three impulses, and a zero: components of what is pushed together. */
typedef double four __attribute__((vector_size(32)));
typedef struct three_impulses {
    four linear[3], angular[3];
} three_impulses;

/* The way of ss_trees_solve from the leaves, for one link alone. */
__attribute__((always_inline)) static inline int project(const ss_trees *trees, const ss_articulated *all,
                                                         int l, const ss_link_axis push[3], int *index,
                                                         double (*column)[4])
{
    three_impulses p = {
        {{push[0].linear.x, push[1].linear.x, push[2].linear.x},
         {push[0].linear.y, push[1].linear.y, push[2].linear.y},
         {push[0].linear.z, push[1].linear.z, push[2].linear.z}},
        {{push[0].angular.x, push[1].angular.x, push[2].angular.x},
         {push[0].angular.y, push[1].angular.y, push[2].angular.y},
         {push[0].angular.z, push[1].angular.z, push[2].angular.z}},
    };
    four *f = p.linear, *t = p.angular;
    for (int count = 0;; l = trees->link[l].parent) {
        const ss_link *link = &trees->link[l];
        const ss_articulated *of = &all[l];
        four u[SS_LINK_COORDINATES];
        if (link->joint < 0) { // its axes are those of the world, and it has no parent
            const four *own[6] = {&f[0], &f[1], &f[2], &t[0], &t[1], &t[2]};
#pragma GCC unroll 6
            for (int i = 0; i < 6; i++) {
                u[i] = *own[i];
#pragma GCC unroll 6
                for (int k = 0; k < i; k++) u[i] -= of->factor[i][k] * u[k];
                u[i] *= of->factor[i][i];
                memcpy(column[count + i], &u[i], sizeof column[count]);
                index[count + i] = link->first + i;
            }
            return count + 6;
        }
        for (int i = 0; i < link->count; i++) {
            const ss_link_axis *S = &link->axis[i];
            u[i] = f[0] * S->linear.x + f[1] * S->linear.y + f[2] * S->linear.z + t[0] * S->angular.x +
                   t[1] * S->angular.y + t[2] * S->angular.z;
            for (int k = 0; k < i; k++) u[i] -= of->factor[i][k] * u[k];
            u[i] *= of->factor[i][i];
            memcpy(column[count], &u[i], sizeof column[count]);
            index[count++] = link->first + i;
        }
        if (link->parent < 0) return count;

        /* What its coordinates leave goes to its parent. */
        for (int i = 0; i < link->count; i++) {
            ss_vec3 v = of->Y[i].linear, w = of->Y[i].angular;
            f[0] -= u[i] * v.x, f[1] -= u[i] * v.y, f[2] -= u[i] * v.z;
            t[0] -= u[i] * w.x, t[1] -= u[i] * w.y, t[2] -= u[i] * w.z;
        }
        ss_vec3 r = ss_vec3_subtract(link->centre, trees->link[link->parent].centre);
        t[0] += r.y * f[2] - r.z * f[1];
        t[1] += r.z * f[0] - r.x * f[2];
        t[2] += r.x * f[1] - r.y * f[0];
    }
}

static int project_portable(const ss_trees *trees, const ss_articulated *all, int l,
                            const ss_link_axis push[3], int *index, double (*column)[4])
{
    return project(trees, all, l, push, index, column);
}

/* With registers of four numbers; to the same bits. */
#ifdef __x86_64__
__attribute__((target("avx2"))) static int project_avx2(const ss_trees *trees, const ss_articulated *all,
                                                        int l, const ss_link_axis push[3], int *index,
                                                        double (*column)[4])
{
    return project(trees, all, l, push, index, column);
}
#endif

int ss_trees_project(const ss_trees *trees, const ss_articulated *all, int l, const ss_link_axis push[3],
                     int *index, double (*column)[4])
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return project_avx2(trees, all, l, push, index, column);
#endif
    return project_portable(trees, all, l, push, index, column);
}

void ss_trees_respond(const ss_trees *trees, ss_articulated *all, const double *z, double *rate,
                      double (*change)[6])
{
    for (int l = 0; l < trees->count; l++)
        memcpy(all[l].u, z + trees->link[l].first, (size_t)trees->link[l].count * sizeof *z);
    go_back(trees, all, rate, change);
}
