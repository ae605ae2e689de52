/* problem/bodies_form.h - the few products every matrix-free method is made of. */
#ifndef SS_PROBLEM_BODIES_FORM_H
#define SS_PROBLEM_BODIES_FORM_H

#include <stickslip/problem.h>

/* Two short chains of additions instead of a long one. */
static inline double ss_bodies_product(const double a[6], const double b[6])
{
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/* push = M^-1 J' of one body for one 6-wide Jacobian block */
static inline void ss_bodies_push_one(const ss_bodies_form *form, int body, const double *block,
                                      double push[6])
{
    const double *inertia = form->inverse_inertia[body];
    double inverse_mass = form->inverse_mass[body], x = block[3], y = block[4], z = block[5];
    push[0] = inverse_mass * block[0];
    push[1] = inverse_mass * block[1];
    push[2] = inverse_mass * block[2];
    push[3] = inertia[0] * x + inertia[1] * y + inertia[2] * z;
    push[4] = inertia[3] * x + inertia[4] * y + inertia[5] * z;
    push[5] = inertia[6] * x + inertia[7] * y + inertia[8] * z;
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
        sum += ss_bodies_product(form->jacobian[i] + 6 * side, v[body]);
    }
    return sum;
}

/* The part of J_i that belongs to one body, times a 6-vector of that body. */
static inline double ss_bodies_dot(const ss_bodies_form *form, int i, int body, const double push[6])
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        if (form->pair[i][side] != body) continue;
        sum += ss_bodies_product(form->jacobian[i] + 6 * side, push);
    }
    return sum;
}

/* NULL is fine. */
void ss_bodies_form_destroy(ss_bodies_form *form);

#endif
