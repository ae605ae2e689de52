/* FCLIB's cone problem as a view of the assembled problem: no row is computed here.
 *
 *     M v+ = f + H r + G l, f = M v + h F        u = H' v+ + w        0 = G' v+ + b
 *
 * Columns of H and G are rows of the Coulomb problem in impulses, w and b their offsets. FCLIB gives every
 * contact the same number of components; where the problem has fewer, the missing ones are filled so that
 * nothing changes: the tangent out of the plane of a planar frame and moments without rolling friction with
 * their own rows, a tangent without friction and the tangents of a joint limit with zeros.
 */
#include "formulation/cone_view.h"

#include "formulation/friction.h"
#include "linalg/mat6.h"
#include "problem/bodies_form.h"
#include "problem/cone.h"
#include "linalg/triplets.h"

#include <math.h>
#include <string.h>

/* ---- which part goes where -------------------------------------------------------------------------- */

void ss_cone_view_free(ss_cone_view *view)
{
    ss_release(view->component);
    ss_release(view->sign);
    ss_release(view->equation);
    ss_release(view->row);
    *view = (ss_cone_view){0};
}

typedef enum row_role { ROW_EQUATION, ROW_LIMIT, ROW_DROPPED } row_role;

/* Of an unknown outside the cones. A load that joint friction follows has a box without
 * bounds: an equation. */
static row_role role_of(const ss_problem *problem, const ss_block *block, int i)
{
    double lower = problem->lower[i], upper = problem->upper[i];
    if (block->law == SS_LAW_COUPLED) return ROW_DROPPED;
    if (block->law == SS_LAW_FREE || (lower == -INFINITY && upper == INFINITY)) return ROW_EQUATION;
    bool limit = (lower == 0.0 && upper == INFINITY) || (lower == -INFINITY && upper == 0.0);
    return limit ? ROW_LIMIT : ROW_DROPPED;
}

static void place_contact(const ss_block *block, const ss_contact_row *contact, ss_cone_view *view)
{
    ss_friction friction = ss_friction_of(contact);
    int k = view->contacts++, *component = view->component + k * view->dimension, next = block->first;
    for (int j = 0; j < view->dimension; j++) component[j] = -1;
    component[0] = next++;
    for (int j = 0; j < friction.count; j++) component[1 + friction.tangent[j]] = next++;
    if (friction.spin > 0.0) next++; // FCLIB has no spinning
    for (int j = 0; friction.mu_rolling > 0.0 && j < 2; j++) component[3 + j] = next++;
    view->sign[k] = 1.0;
    view->spins += contact->mu_torsion > 0.0;
    if (contact->mu_torsion > 0.0 && view->first_spin < 0) view->first_spin = contact->contact;
}

static void place_row(const ss_block *block, int i, ss_cone_view *view)
{
    row_role role = role_of(view->problem, block, i);
    if (role == ROW_DROPPED && block->contact >= 0) return; // spinning
    if (role == ROW_EQUATION)
        view->equation[view->equations++] = i;
    else if (view->first_bounded < 0)
        view->first_bounded = i;
    view->dropped += role == ROW_DROPPED;
    if (role != ROW_LIMIT) return;
    int k = view->contacts++, *component = view->component + k * view->dimension;
    for (int j = 0; j < view->dimension; j++) component[j] = j == 0 ? i : -1;
    view->sign[k] = view->problem->lower[i] == 0.0 ? 1.0 : -1.0;
    view->limits++;
}

bool ss_cone_view_make(ss_assembly *assembly, ss_cone_view *view, ss_error *err)
{
    const ss_problem *problem = ss_assembly_coulomb(assembly, err);
    *view = (ss_cone_view){
        .rows = &assembly->rows, .problem = problem, .dimension = 3, .first_bounded = -1, .first_spin = -1};
    if (!problem) return false;
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->blocks[k].mu_rolling > 0.0) view->dimension = 5;
    }

    // every unknown is at most one contact or one equation
    view->component = ss_allocate((size_t)problem->size * (size_t)view->dimension, sizeof *view->component);
    view->sign = ss_allocate((size_t)problem->size, sizeof *view->sign);
    view->equation = ss_allocate((size_t)problem->size, sizeof *view->equation);
    view->row = ss_allocate((size_t)view->rows->coordinates.count, sizeof *view->row);
    if (!view->component || !view->sign || !view->equation || !view->row) {
        ss_cone_view_free(view);
        return ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for %d unknowns", problem->size);
    }

    // contacts come first, in their order, then limits
    for (int k = 0, c = 0; k < problem->block_count; k++) {
        if (ss_block_is_cone(&problem->blocks[k]))
            place_contact(&problem->blocks[k], &view->rows->contact[c++], view);
    }
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int j = 0; j < block->size && !ss_block_is_cone(block); j++)
            place_row(block, block->first + j, view);
    }
    return true;
}

/* ---- what cannot be done ---------------------------------------------------------------------------- */

static bool check(const ss_cone_view *view, bool refuse_bounds, const char *place, ss_error *err)
{
    const ss_problem *problem = view->problem;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!isfinite(block->mu))
            return ss_fail(
                err, SS_ERROR_INPUT,
                "%s/contacts/mu_k[%d]: infinite friction has no cone; mu_max replaces it by a number", place,
                block->contact);
        if (!isfinite(block->mu_rolling))
            return ss_fail(err, SS_ERROR_INPUT, "%s/contacts/mu_r[%d]: infinite rolling friction has no cone",
                           place, block->contact);
    }
    if (refuse_bounds && view->first_spin >= 0)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s/contacts/mu_t[%d]: torsional friction cannot be part of a cone problem", place,
                       view->first_spin);
    if (!refuse_bounds || view->first_bounded < 0) return true;
    int row = view->rows->joint[view->first_bounded].row; // joint rows are the first unknowns
    const double *bounds = view->rows->frame->constraints.bounds[row];
    return ss_fail(
        err, SS_ERROR_INPUT,
        "%s/constraints/bounds[%d]: bounds (%g, %g) or joint friction cannot be part of a cone problem",
        place, row, bounds[0], bounds[1]);
}

/* ---- matrices and vectors --------------------------------------------------------------------------- */

static bool add_bodies(const ss_rows *rows, ss_cone *cone, ss_error *err)
{
    const ss_frame *frame = rows->frame;
    const ss_generalized *g = &frame->generalized;
    ss_triplets M;
    if (rows->minimal) {
        if (!ss_triplets_start(&M, 2 * (size_t)g->mass_count, err)) return false;
        for (int i = 0; i < g->count; i++) {
            cone->f[i] += frame->h * g->force[i];
            for (int e = g->mass_start[i]; e < g->mass_start[i + 1]; e++) {
                int j = g->mass_column[e];
                ss_triplets_add(&M, i, j, g->mass[e]);
                cone->f[i] += g->mass[e] * g->velocity[j];
                if (j == i) continue;
                ss_triplets_add(&M, j, i, g->mass[e]);
                cone->f[j] += g->mass[e] * g->velocity[i];
            }
        }
        cone->M = ss_triplets_finish(&M, cone->dofs, cone->dofs, err);
        return cone->M != NULL;
    }

    if (!ss_triplets_start(&M, 2 * (size_t)cone->dofs, err)) return false;
    for (int b = 0; b < frame->bodies.count; b++) {
        if (rows->body[b] < 0) continue;
        int dof = 6 * rows->body[b];
        ss_mass mass = ss_frame_mass(frame, b);
        ss_mass_apply(&mass, frame->bodies.velocity[b], cone->f + dof);
        for (int i = 0; i < 6; i++) cone->f[dof + i] += frame->h * frame->bodies.force[b][i];
        for (int i = 0; i < 3; i++) {
            ss_triplets_add(&M, dof + i, dof + i, mass.linear);
            for (int j = 0; j < 3; j++) {
                double entry = mass.angular.m[i][j];
                if (entry != 0.0) ss_triplets_add(&M, dof + 3 + i, dof + 3 + j, entry);
            }
        }
    }
    cone->M = ss_triplets_finish(&M, cone->dofs, cone->dofs, err);
    return cone->M != NULL;
}

static void add_column(ss_triplets *matrix, const int pair[2], const double jacobian[12], double sign,
                       int column)
{
    for (int k = 0; k < 12; k++) {
        int body = pair[k / 6];
        if (body >= 0 && jacobian[k] != 0.0)
            ss_triplets_add(matrix, 6 * body + k % 6, column, sign * jacobian[k]);
    }
}

/* The same of an unknown of the problem, with all its bodies. */
static void add_unknown(ss_triplets *matrix, const ss_cone_view *view, int i, double sign, int column)
{
    const ss_bodies_form *form = view->problem->bodies;
    if (view->rows->minimal) {
        ss_coordinates_row(&view->rows->coordinates, form, i, view->row);
        for (int k = 0; k < view->rows->coordinates.count; k++)
            if (view->row[k] != 0.0) ss_triplets_add(matrix, k, column, sign * view->row[k]);
        return;
    }
    add_column(matrix, form->pair[i], form->jacobian[i], sign, column);
    for (int k = 0; k < ss_bodies_further(form, i, i + 1); k++) {
        int at = form->further_start[i] + k;
        for (int d = 0; d < 6; d++)
            if (form->further_jacobian[at][d] != 0.0)
                ss_triplets_add(matrix, 6 * form->further_body[at] + d, column,
                                sign * form->further_jacobian[at][d]);
    }
}

/* A component that the problem has no unknown for. */
static void fill_component(const ss_cone_view *view, const ss_contact_row *contact, int j, int column,
                           ss_triplets *H, ss_cone *cone)
{
    double row[12];
    if (j < 3 && contact->in_plane[j - 1]) return; // a tangent without friction: nothing may act along it
    ss_vec3 direction = contact->tangent[(j - 1) % 2];
    if (j < 3) {
        ss_contact_sliding_row(contact, direction, row);
        cone->w[column] = ss_vec3_dot(direction, contact->surface);
    } else {
        ss_contact_turning_row(contact, direction, row);
    }
    if (!view->rows->minimal) {
        add_column(H, contact->pair, row, 1.0, column);
        return;
    }

    /* A row on bodies, along T. */
    const ss_generalized *g = &view->rows->frame->generalized;
    for (int k = 0; k < 12; k++) {
        int body = contact->pair[k / 6];
        if (body < 0 || row[k] == 0.0) continue;
        int of_map = 6 * view->rows->frame_body[body] + k % 6;
        for (int e = g->map_start[of_map]; e < g->map_start[of_map + 1]; e++)
            ss_triplets_add(H, g->map_column[e], column, row[k] * g->map[e]);
    }
}

/* Of a column in minimal coordinates: two bodies, whose six rows of T may have every coordinate. */
static int most_entries(const ss_rows *rows)
{
    return 12 * rows->frame->generalized.count;
}

static bool add_contacts(const ss_cone_view *view, ss_cone *cone, ss_error *err)
{
    const ss_bodies_form *form = view->problem->bodies;
    int limits_from = view->contacts - view->limits;
    ss_triplets H;
    size_t further = 6 * (size_t)ss_bodies_further(form, 0, view->problem->size); // of limits of joints
    size_t each = view->rows->minimal ? (size_t)most_entries(view->rows) : 12;
    if (!ss_triplets_start(&H, each * (size_t)ss_cone_size(cone) + further, err)) return false;
    for (int k = 0; k < view->contacts; k++) {
        for (int j = 0; j < view->dimension; j++) {
            int column = k * view->dimension + j, i = view->component[column];
            if (i >= 0) {
                add_unknown(&H, view, i, view->sign[k], column);
                cone->w[column] = view->sign[k] * form->offset[i];
            } else if (k < limits_from) {
                fill_component(view, &view->rows->contact[k], j, column, &H, cone);
            }
        }
    }

    for (int k = 0, c = 0; k < view->problem->block_count; k++) {
        const ss_block *block = &view->problem->blocks[k];
        if (!ss_block_is_cone(block)) continue;
        if (cone->mu_rolling) cone->mu_rolling[c] = block->mu_rolling;
        cone->mu[c++] = block->mu;
    }
    cone->H = ss_triplets_finish(&H, cone->dofs, ss_cone_size(cone), err);
    return cone->H != NULL;
}

static bool add_equations(const ss_cone_view *view, ss_cone *cone, ss_error *err)
{
    const ss_bodies_form *form = view->problem->bodies;
    ss_triplets G;
    if (view->equations == 0) return true;
    size_t further = 6 * (size_t)ss_bodies_further(form, 0, view->problem->size);
    size_t each = view->rows->minimal ? (size_t)most_entries(view->rows) : 12;
    if (!ss_triplets_start(&G, each * (size_t)view->equations + further, err)) return false;
    for (int e = 0; e < view->equations; e++) {
        int i = view->equation[e];
        add_unknown(&G, view, i, 1.0, e);
        cone->b[e] = form->offset[i];
    }
    cone->G = ss_triplets_finish(&G, cone->dofs, view->equations, err);
    return cone->G != NULL;
}

static int count_dofs(const ss_cone_view *view)
{
    return view->rows->minimal ? view->rows->coordinates.count : 6 * view->rows->body_count;
}

static ss_cone *make_global(const ss_cone_view *view, ss_error *err)
{
    ss_cone *cone = ss_cone_create(SS_CONE_GLOBAL, view->dimension, view->contacts, count_dofs(view),
                                   view->equations, err);
    if (cone && add_bodies(view->rows, cone, err) && add_contacts(view, cone, err) &&
        add_equations(view, cone, err))
        return cone;
    ss_cone_destroy(cone);
    return NULL;
}

/* ---- local form: compliance and regularisation have a place here ------------------------------------ */

static bool add_to_diagonal(ss_sparse **matrix, const double *diagonal, ss_error *err)
{
    ss_sparse *sum = ss_cone_add_diagonal(*matrix, diagonal, err);
    if (!sum) return false;
    ss_sparse_destroy(*matrix);
    *matrix = sum;
    return true;
}

/* The C of each contact and limit goes on W's diagonal, that of each equation on R's. */
static bool soften(const ss_cone_view *view, ss_cone *local, bool *regularised, ss_error *err)
{
    const double *compliance = view->problem->bodies->compliance;
    double *on_W = ss_allocate((size_t)ss_cone_size(local), sizeof *on_W);
    double *on_R = ss_allocate((size_t)local->equations, sizeof *on_R);
    bool good =
        (on_W && on_R) || ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for its diagonals");
    bool soft_contacts = false;
    for (int j = 0; good && j < ss_cone_size(local); j++) {
        if (view->component[j] >= 0) on_W[j] = compliance[view->component[j]];
        soft_contacts |= on_W[j] != 0.0;
    }
    for (int e = 0; good && e < local->equations; e++) {
        on_R[e] = compliance[view->equation[e]];
        *regularised |= on_R[e] != 0.0;
    }
    good = good && (!soft_contacts || add_to_diagonal(&local->W, on_W, err)) &&
           (!*regularised || add_to_diagonal(&local->R, on_R, err));
    ss_release(on_W);
    ss_release(on_R);
    return good;
}

static ss_cone *make_local(const ss_cone_view *view, bool eliminate, ss_error *err)
{
    ss_cone *global = make_global(view, err);
    ss_cone *local = global ? ss_cone_to_local(global, false, err) : NULL;
    bool regularised = false;
    ss_cone_destroy(global);
    if (local && !soften(view, local, &regularised, err)) {
        ss_cone_destroy(local);
        return NULL;
    }
    if (!local || !eliminate || local->equations == 0) return local;
    ss_cone *reduced = ss_cone_eliminate(local, regularised ? SS_REDUNDANT_REGULARIZED : SS_REDUNDANT, err);
    ss_cone_destroy(local);
    return reduced;
}

ss_cone *ss_assembly_cone(ss_assembly *assembly, const ss_cone_wish *wish, const char *place,
                          ss_findings *losses, ss_error *err)
{
    ss_cone_view view;
    ss_cone *cone = NULL;
    if (!place) place = "";
    if (!ss_cone_view_make(assembly, &view, err)) return NULL;
    if (check(&view, wish->refuse_bounds, place, err))
        cone =
            wish->form == SS_CONE_LOCAL ? make_local(&view, wish->eliminate, err) : make_global(&view, err);
    if (cone) ss_cone_view_losses(&view, assembly->options, wish->form, place, losses);
    ss_cone_view_free(&view);
    return cone;
}

/* ---- from a point to the answer --------------------------------------------------------------------- */

static bool read_point(const ss_cone_view *view, const ss_cone_point *point, double *x, ss_error *err)
{
    for (int j = 0; j < view->contacts * view->dimension; j++) {
        if (view->component[j] >= 0) x[view->component[j]] = view->sign[j / view->dimension] * point->r[j];
    }
    for (int e = 0; point->l && e < view->equations; e++) x[view->equation[e]] = point->l[e];
    if (view->equations == 0 || point->l) return true;

    /* The multipliers that belong to r, where a file does not hold them. */
    ss_cone *local = make_local(view, false, err);
    ss_cone_point whole = {0};
    bool good = local && ss_cone_point_create(local, &whole, err);
    if (good) {
        memcpy(whole.r, point->r, (size_t)ss_cone_size(local) * sizeof *whole.r);
        good = ss_cone_point_complete(local, &whole, err);
    }
    for (int e = 0; good && e < view->equations; e++) x[view->equation[e]] = whole.l[e];
    ss_cone_point_free(&whole);
    ss_cone_destroy(local);
    return good;
}

bool ss_assembly_recover_cone(ss_assembly *assembly, const ss_cone_point *point, ss_answer *answer,
                              ss_error *err)
{
    ss_cone_view view;
    if (!ss_cone_view_make(assembly, &view, err)) return false;
    double *x = ss_allocate((size_t)view.problem->size, sizeof *x);
    bool good = x ? read_point(&view, point, x, err)
                  : ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for an answer");
    if (good) ss_assembly_recover_coulomb(assembly, x, answer);
    for (int b = 0; good && point->v && !view.rows->minimal && b < answer->bodies; b++) {
        int live = view.rows->body[b];
        if (live >= 0) memcpy(answer->velocity[b], point->v + 6 * live, sizeof answer->velocity[b]);
    }
    ss_release(x);
    ss_cone_view_free(&view);
    return good;
}

/* ---- from the answer to a point --------------------------------------------------------------------- */

bool ss_assembly_cone_point(ss_assembly *assembly, const ss_cone *cone, const ss_answer *answer,
                            ss_cone_point *point, ss_error *err)
{
    ss_cone_view view;
    *point = (ss_cone_point){0};
    if (!ss_cone_view_make(assembly, &view, err)) return false;
    double *x = ss_allocate((size_t)view.problem->size, sizeof *x);
    bool good = x || ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for an answer");
    bool global = cone->form == SS_CONE_GLOBAL;
    bool belongs = cone->dimension == view.dimension && cone->contacts == view.contacts &&
                   (cone->equations == view.equations || (!global && cone->equations == 0)) &&
                   (!global || cone->dofs == count_dofs(&view));
    if (good && !belongs)
        good =
            ss_fail(err, SS_ERROR_USAGE, "the cone problem was not made from this frame: its sizes differ");
    good = good && ss_cone_point_create(cone, point, err);
    if (good) {
        /* v, r and l */
        bool minimal = view.rows->minimal;
        ss_assembly_guess_coulomb(assembly, answer, x);
        if (minimal && point->v && answer->coordinates == view.rows->coordinates.count)
            memcpy(point->v, answer->generalized_velocity, (size_t)answer->coordinates * sizeof *point->v);
        for (int b = 0; point->v && !minimal && b < answer->bodies; b++) {
            int live = view.rows->body[b];
            if (live >= 0) memcpy(point->v + 6 * live, answer->velocity[b], sizeof answer->velocity[b]);
        }
        for (int j = 0; j < view.contacts * view.dimension; j++)
            if (view.component[j] >= 0) point->r[j] = view.sign[j / view.dimension] * x[view.component[j]];
        for (int e = 0; point->l && e < view.equations; e++) point->l[e] = x[view.equation[e]];

        /* u as the point itself implies it: H' v + w, or W r + V l + q */
        memcpy(point->u, global ? cone->w : cone->q, (size_t)ss_cone_size(cone) * sizeof *point->u);
        if (global)
            ss_sparse_apply_transposed(cone->H, point->v, 1.0, point->u);
        else
            ss_sparse_apply(cone->W, point->r, 1.0, point->u);
        if (!global && cone->equations) ss_sparse_apply(cone->V, point->l, 1.0, point->u);
    }
    ss_release(x);
    ss_cone_view_free(&view);
    return good;
}
