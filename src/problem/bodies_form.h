/* problem/bodies_form.h - the few products every matrix-free method is made of. */
#ifndef SS_PROBLEM_BODIES_FORM_H
#define SS_PROBLEM_BODIES_FORM_H

#include <stickslip/problem.h>

/* push = M^-1 J' of one body for one 6-wide Jacobian block */
static inline void ss_bodies_push_one(const ss_bodies_form *form, int body, const double *block,
                                      double push[6])
{
    const double *inertia = form->inverse_inertia[body];
    for (int k = 0; k < 3; k++) {
        const double *turn = inertia + 3 * k;
        push[k] = form->inverse_mass[body] * block[k];
        push[3 + k] = turn[0] * block[3] + turn[1] * block[4] + turn[2] * block[5];
    }
}

/* v += M^-1 J_i' impulse */
static inline void ss_bodies_push(const ss_bodies_form *form, int i, double impulse, double (*v)[6])
{
    for (int side = 0; side < 2; side++) {
        int body = form->pair[i][side];
        if (body < 0) continue;
        double push[6];
        ss_bodies_push_one(form, body, form->jacobian[i] + 6 * side, push);
        for (int k = 0; k < 6; k++) v[body][k] += impulse * push[k];
    }
}

/* J_i v */
static inline double ss_bodies_row(const ss_bodies_form *form, int i, double (*v)[6])
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        int body = form->pair[i][side];
        if (body < 0) continue;
        const double *block = form->jacobian[i] + 6 * side;
        for (int k = 0; k < 6; k++) sum += block[k] * v[body][k];
    }
    return sum;
}

/* The part of J_i that belongs to one body, times a 6-vector of that body. */
static inline double ss_bodies_dot(const ss_bodies_form *form, int i, int body, const double push[6])
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        if (form->pair[i][side] != body) continue;
        const double *block = form->jacobian[i] + 6 * side;
        for (int k = 0; k < 6; k++) sum += block[k] * push[k];
    }
    return sum;
}

#endif
