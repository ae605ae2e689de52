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

/* The blocks of a row: those of its pair, then further ones. `side` counts them; false behind the last one.
 *
 *     for (int side = 0; ss_bodies_block(form, i, side, &body, &block); side++) */
static inline bool ss_bodies_block(const ss_bodies_form *form, int i, int side, int *body,
                                   const double **block)
{
    if (side < 2) {
        *body = form->pair[i][side];
        *block = form->jacobian[i] + 6 * side;
        return true;
    }
    if (!form->further_start || form->further_start[i] + side - 2 >= form->further_start[i + 1]) return false;
    *body = form->further_body[form->further_start[i] + side - 2];
    *block = form->further_jacobian[form->further_start[i] + side - 2];
    return true;
}

/* How many further blocks unknowns i to end - 1 have. */
static inline int ss_bodies_further(const ss_bodies_form *form, int i, int end)
{
    return form->further_start ? form->further_start[end] - form->further_start[i] : 0;
}

/* v += M^-1 J_i' impulse */
static inline void ss_bodies_push(const ss_bodies_form *form, int i, double impulse, double (*v)[6])
{
    const double *block;
    for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
        if (body < 0) continue;
        double push[6];
        ss_bodies_push_one(form, body, block, push);
        for (int k = 0; k < 6; k++) v[body][k] += impulse * push[k];
    }
}

/* J_i v */
static inline double ss_bodies_row(const ss_bodies_form *form, int i, double (*v)[6])
{
    double sum = 0.0;
    const double *block;
    for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++)
        if (body >= 0) sum += ss_bodies_product(block, v[body]);
    return sum;
}

/* The part of J_i that belongs to one body, times a 6-vector of that body. */
static inline double ss_bodies_dot(const ss_bodies_form *form, int i, int body, const double push[6])
{
    double sum = 0.0;
    const double *block;
    for (int side = 0, own; ss_bodies_block(form, i, side, &own, &block); side++)
        if (own == body) sum += ss_bodies_product(block, push);
    return sum;
}

/* Room for `blocks` further blocks of `size` unknowns, which have none so far. False when out of memory. */
bool ss_bodies_form_add_further(ss_bodies_form *form, int size, int blocks);
void ss_bodies_form_forget_further(ss_bodies_form *form);
/* NULL is fine. */
void ss_bodies_form_destroy(ss_bodies_form *form);

/* ss_problem_project and ss_problem_apply, shared by a team: the same bits for any. */
void ss_problem_project_by(const ss_problem *problem, ss_team *team, double *x);
void ss_problem_apply_by(const ss_problem *problem, ss_team *team, const double *x, double *scratch,
                         double *w);

#endif
