/* linalg/sym3.h - symmetric matrices of three rows, by their six different numbers. */
#ifndef SS_LINALG_SYM3_H
#define SS_LINALG_SYM3_H

#include "linalg/vec3.h"

#include <stdbool.h>

typedef struct ss_sym3 {
    double xx, xy, xz, yy, yz, zz;
} ss_sym3;

static inline ss_vec3 ss_sym3_apply(const ss_sym3 *a, ss_vec3 v)
{
    return (ss_vec3){a->xx * v.x + a->xy * v.y + a->xz * v.z, a->xy * v.x + a->yy * v.y + a->yz * v.z,
                     a->xz * v.x + a->yz * v.y + a->zz * v.z};
}

static inline void ss_sym3_add(ss_sym3 *to, const ss_sym3 *a)
{
    to->xx += a->xx, to->xy += a->xy, to->xz += a->xz;
    to->yy += a->yy, to->yz += a->yz, to->zz += a->zz;
}

/* to + s v v' */
static inline void ss_sym3_add_square(ss_sym3 *to, double s, ss_vec3 v)
{
    ss_vec3 w = {s * v.x, s * v.y, s * v.z};
    to->xx += w.x * v.x, to->xy += w.x * v.y, to->xz += w.x * v.z;
    to->yy += w.y * v.y, to->yz += w.y * v.z, to->zz += w.z * v.z;
}

/* Of a positive definite one, by its cofactors; false if it is none. */
static inline bool ss_sym3_inverse(const ss_sym3 *a, ss_sym3 *inverse)
{
    double xx = a->yy * a->zz - a->yz * a->yz, xy = a->xz * a->yz - a->xy * a->zz,
           xz = a->xy * a->yz - a->xz * a->yy, zz = a->xx * a->yy - a->xy * a->xy;
    double det = a->xx * xx + a->xy * xy + a->xz * xz, by = 1.0 / det;
    *inverse = (ss_sym3){
        by * xx, by * xy, by * xz, by * (a->xx * a->zz - a->xz * a->xz), by * (a->xy * a->xz - a->xx * a->yz),
        by * zz};
    return a->xx > 0.0 && zz > 0.0 && det > 0.0;
}

#endif
