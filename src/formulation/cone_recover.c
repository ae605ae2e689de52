/* From the numbers of a cone problem to the physical answer, and back. */
#include "formulation/cone_layout.h"

#include "problem/cone.h"

#include <string.h>

static void copy(double *to, const double *from, int count)
{
    if (count) memcpy(to, from, (size_t)count * sizeof *to);
}

/* ---- completing r ----------------------------------------------------------------------------------- */

/* v = M^-1 (f + H r + G l), body by body */
static bool velocities_of(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                          const double *r, const double *l, double *v, ss_error *err)
{
    ss_cone *global = ss_cone_from_frame(frame, options, NULL, NULL, err);
    if (!global) return false;
    copy(v, global->f, global->dofs);
    ss_sparse_apply(global->H, r, 1.0, v);
    if (global->equations) ss_sparse_apply(global->G, l, 1.0, v);
    ss_cone_destroy(global);
    for (int b = 0; b < frame->bodies.count; b++) {
        if (layout->dof[b] < 0) continue;
        ss_mass mass = ss_cone_body_mass(frame, b);
        ss_mass inverse;
        if (!ss_mass_inverse(&mass, &inverse))
            return ss_fail(err, SS_ERROR_INPUT, "bodies/world_inertia_tensors[%d]: cannot be inverted", b);
        ss_mass_apply(&inverse, v + layout->dof[b], v + layout->dof[b]);
    }
    return true;
}

static bool multipliers_of(const ss_frame *frame, const ss_cone_options *options, const double *r, double *l,
                           ss_error *err)
{
    ss_cone *local = ss_cone_local_from_frame(frame, options, false, NULL, NULL, err);
    ss_cone_point point = {0};
    bool good = local && ss_cone_point_create(local, &point, err);
    if (good) {
        copy(point.r, r, ss_cone_size(local));
        good = ss_cone_point_complete(local, &point, err);
    }
    if (good) copy(l, point.l, local->equations);
    ss_cone_point_free(&point);
    ss_cone_destroy(local);
    return good;
}

/* ---- to the answer ---------------------------------------------------------------------------------- */

static ss_vec3 in_the_plane(const ss_frame *frame, int contact, const double components[2])
{
    double t_u[3], t_v[3];
    ss_contact_tangents(frame, contact, t_u, t_v);
    return ss_vec3_add_scaled(ss_vec3_scale(components[0], ss_vec3_load(t_u)), components[1],
                              ss_vec3_load(t_v));
}

static void fill_answer(const ss_frame *frame, const ss_cone_layout *layout, const double *r, const double *l,
                        const double *v, ss_answer *answer)
{
    for (int b = 0; b < frame->bodies.count; b++) {
        int dof = layout->dof[b];
        copy(answer->velocity[b], dof < 0 ? frame->bodies.velocity[b] : v + dof, 6);
    }
    for (int c = 0; c < frame->contacts.count; c++) {
        if (layout->contact[c] < 0) continue;
        const double *part = r + layout->contact[c] * layout->dimension;
        answer->normal_impulse[c] = part[0];
        ss_vec3_store(in_the_plane(frame, c, part + 1), answer->friction_impulse[c]);
        if (answer->rolling_impulse)
            ss_vec3_store(in_the_plane(frame, c, part + 3), answer->rolling_impulse[c]);
    }
    for (int row = 0; row < frame->constraints.row_count; row++) {
        int limit = layout->limit[row], equation = layout->equation[row];
        if (equation >= 0) answer->row_impulse[row] = l[equation];
        if (limit >= 0) answer->row_impulse[row] = layout->turned[row] * r[limit * layout->dimension];
    }
}

static ss_answer *recover(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                          const ss_cone_point *point, ss_error *err)
{
    double *l = ss_allocate((size_t)layout->equations, sizeof *l);
    double *v = ss_allocate((size_t)layout->dofs, sizeof *v);
    bool good = (l && v) || ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for an answer");
    if (good && point->l)
        copy(l, point->l, layout->equations);
    else if (good && layout->equations)
        good = multipliers_of(frame, options, point->r, l, err);
    if (good && point->v)
        copy(v, point->v, layout->dofs);
    else if (good)
        good = velocities_of(frame, options, layout, point->r, l, v, err);
    ss_answer *answer = good ? ss_answer_create(frame, layout->dimension == 5, err) : NULL;
    if (answer) fill_answer(frame, layout, point->r, l, v, answer);
    ss_release(l);
    ss_release(v);
    return answer;
}

ss_answer *ss_cone_recover(const ss_frame *frame, const ss_cone_options *options, const ss_cone_point *point,
                           ss_error *err)
{
    ss_cone_layout layout;
    if (!ss_cone_layout_make(frame, &layout, err)) return NULL;
    ss_answer *answer = recover(frame, options, &layout, point, err);
    ss_cone_layout_free(&layout);
    return answer;
}

/* ---- from the answer -------------------------------------------------------------------------------- */

static void components_of(const ss_frame *frame, int contact, const double vector[3], double components[2])
{
    double t_u[3], t_v[3];
    ss_contact_tangents(frame, contact, t_u, t_v);
    components[0] = ss_vec3_dot(ss_vec3_load(vector), ss_vec3_load(t_u));
    components[1] = ss_vec3_dot(ss_vec3_load(vector), ss_vec3_load(t_v));
}

static void fill_point(const ss_frame *frame, const ss_cone_layout *layout, const ss_answer *answer,
                       ss_cone_point *point)
{
    for (int b = 0; point->v && b < frame->bodies.count; b++) {
        if (layout->dof[b] >= 0) copy(point->v + layout->dof[b], answer->velocity[b], 6);
    }
    for (int c = 0; c < frame->contacts.count; c++) {
        if (layout->contact[c] < 0) continue;
        double *part = point->r + layout->contact[c] * layout->dimension;
        part[0] = answer->normal_impulse[c];
        components_of(frame, c, answer->friction_impulse[c], part + 1);
        if (layout->dimension == 5 && answer->rolling_impulse)
            components_of(frame, c, answer->rolling_impulse[c], part + 3);
    }
    for (int row = 0; row < frame->constraints.row_count; row++) {
        int limit = layout->limit[row], equation = layout->equation[row];
        if (equation >= 0 && point->l) point->l[equation] = answer->row_impulse[row];
        if (limit >= 0) point->r[limit * layout->dimension] = layout->turned[row] * answer->row_impulse[row];
    }
}

/* u as the point itself implies it: H' v + w, or W r + V l + q */
static void fill_velocity(const ss_cone *cone, ss_cone_point *point)
{
    bool global = cone->form == SS_CONE_GLOBAL;
    copy(point->u, global ? cone->w : cone->q, ss_cone_size(cone));
    if (global) {
        ss_sparse_apply_transposed(cone->H, point->v, 1.0, point->u);
        return;
    }
    ss_sparse_apply(cone->W, point->r, 1.0, point->u);
    if (cone->equations) ss_sparse_apply(cone->V, point->l, 1.0, point->u);
}

static bool belongs(const ss_cone *cone, const ss_cone_layout *layout)
{
    bool eliminated = cone->form == SS_CONE_LOCAL && cone->equations == 0;
    return cone->dimension == layout->dimension && cone->contacts == layout->contacts &&
           (cone->equations == layout->equations || eliminated) &&
           (cone->form == SS_CONE_LOCAL || cone->dofs == layout->dofs);
}

bool ss_cone_point_from_answer(const ss_frame *frame, const ss_cone_options *options, const ss_cone *cone,
                               const ss_answer *answer, ss_cone_point *point, ss_error *err)
{
    (void)options; // which part goes where depends on the frame alone
    *point = (ss_cone_point){0};
    ss_cone_layout layout;
    if (!ss_cone_layout_make(frame, &layout, err)) return false;
    bool good =
        belongs(cone, &layout) ||
        ss_fail(err, SS_ERROR_USAGE, "the cone problem was not made from this frame: its sizes differ");
    good = good && ss_cone_point_create(cone, point, err);
    if (good) {
        fill_point(frame, &layout, answer, point);
        fill_velocity(cone, point);
    }
    ss_cone_layout_free(&layout);
    return good;
}
