/* Frame to cone problem: M v+ = f + H r + G l with f = M v + h F, u = H' v+ + w, G' v+ + b = 0. */
#include "formulation/cone_layout.h"

#include "problem/cone.h"
#include "problem/triplets.h"

#include <math.h>
#include <stddef.h>

const ss_option ss_cone_option_table[] = {
    {.name = "gap_term",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(ss_cone_options, gap_term),
     .default_value = "preventive",
     .choices = "preventive|zero|stabilised|restitution",
     .help = "what the gap adds to the normal velocity: gap/h, nothing, only a share gamma of an overlap, or "
             "Newton's restitution at touching contacts"},
    {.name = "gamma",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_cone_options, gamma),
     .default_value = "1",
     .min = 0.0,
     .max = 1.0,
     .help = "share of joint errors, and of overlaps with gap_term=stabilised, that is removed in one step"},
    {.name = "bounded_rows",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(ss_cone_options, bounded_rows),
     .default_value = "as-contacts",
     .choices = "as-contacts|refuse",
     .help = "constraint rows with bounds: limits become frictionless contacts and others are dropped, or "
             "such a frame is refused"},
    {.name = "mu_max",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_cone_options, mu_max),
     .default_value = "0",
     .min = 0.0,
     .max = 1e12,
     .help =
         "larger friction coefficients, infinity included, become this; 0 leaves them and refuses infinity"},
    {.name = NULL},
};

/* ---- what cannot be done ---------------------------------------------------------------------------- */

static double contact_mu(const ss_frame *frame, const ss_cone_options *options, int contact)
{
    const double *mu = frame->contacts.mu[contact];
    double mean = 0.5 * (mu[0] + mu[1]);
    return options->mu_max > 0.0 ? fmin(mean, options->mu_max) : mean;
}

static bool check_friction(const ss_frame *frame, const ss_cone_options *options,
                           const ss_cone_layout *layout, const char *place, ss_error *err)
{
    const double *rolling = frame->contacts.mu_rolling;
    for (int c = 0; c < frame->contacts.count; c++) {
        if (layout->contact[c] < 0) continue;
        if (!isfinite(contact_mu(frame, options, c)))
            return ss_fail(err, SS_ERROR_INPUT,
                           "%s/contacts/mu_k[%d]: infinite friction has no cone; give mu_max to replace it",
                           place, c);
        if (rolling && !isfinite(rolling[c]))
            return ss_fail(err, SS_ERROR_INPUT, "%s/contacts/mu_r[%d]: infinite rolling friction has no cone",
                           place, c);
    }
    return true;
}

static bool check_bounds(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                         const char *place, ss_error *err)
{
    int row = layout->first_bound;
    if (options->bounded_rows != SS_BOUNDED_REFUSE || row < 0) return true;
    const double *bounds = frame->constraints.bounds[row];
    return ss_fail(
        err, SS_ERROR_INPUT,
        "%s/constraints/bounds[%d]: bounds (%g, %g) or joint friction have no place in a cone problem", place,
        row, bounds[0], bounds[1]);
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

static void add_body(const ss_frame *frame, int body, int dof, ss_triplets *M, double *f)
{
    ss_mass mass = ss_cone_body_mass(frame, body);
    ss_mass_apply(&mass, frame->bodies.velocity[body], f + dof);
    for (int i = 0; i < 6; i++) f[dof + i] += frame->h * frame->bodies.force[body][i];
    for (int i = 0; i < 3; i++) {
        ss_triplets_add(M, dof + i, dof + i, mass.linear);
        for (int j = 0; j < 3; j++) {
            double entry = mass.angular.m[i][j];
            if (entry != 0.0) ss_triplets_add(M, dof + 3 + i, dof + 3 + j, entry);
        }
    }
}

static bool add_bodies(const ss_frame *frame, const ss_cone_layout *layout, ss_cone *cone, ss_error *err)
{
    ss_triplets M;
    if (!ss_triplets_start(&M, 2 * (size_t)layout->dofs, err)) return false;
    for (int b = 0; b < frame->bodies.count; b++) {
        if (layout->dof[b] >= 0) add_body(frame, b, layout->dof[b], &M, cone->f);
    }
    cone->M = ss_triplets_finish(&M, layout->dofs, layout->dofs, err);
    return cone->M != NULL;
}

static int dof_of(const ss_cone_layout *layout, int body)
{
    return body == SS_WORLD ? -1 : layout->dof[body];
}

static void add_column(ss_triplets *matrix, int dof, int column, double sign, const double values[6])
{
    for (int i = 0; dof >= 0 && i < 6; i++) {
        if (values[i] != 0.0) ss_triplets_add(matrix, dof + i, column, sign * values[i]);
    }
}

/* ---- contacts --------------------------------------------------------------------------------------- */

/* n . (v_b - v_a) before the step, at the contact point */
static double approach_velocity(const ss_frame *frame, int contact, const ss_contact_columns *columns)
{
    const int *pair = frame->contacts.pair[contact];
    double sum = columns->surface[0];
    for (int i = 0; i < 6; i++) {
        if (ss_frame_is_live(frame, pair[0])) sum += columns->a[0][i] * frame->bodies.velocity[pair[0]][i];
        if (ss_frame_is_live(frame, pair[1])) sum += columns->b[0][i] * frame->bodies.velocity[pair[1]][i];
    }
    return sum;
}

static double gap_velocity(const ss_cone_options *options, double gap, double h, double rebound)
{
    switch ((ss_gap_term)options->gap_term) {
    case SS_GAP_ZERO:
        return 0.0;
    case SS_GAP_STABILISED:
        return (gap >= 0.0 ? gap : options->gamma * gap) / h;
    case SS_GAP_RESTITUTION:
        return gap > 0.0 ? gap / h : rebound;
    case SS_GAP_PREVENTIVE:
        break;
    }
    return gap / h;
}

static void add_contact(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                        int contact, ss_triplets *H, ss_cone *cone)
{
    const ss_contacts *contacts = &frame->contacts;
    int k = layout->contact[contact], first = k * layout->dimension;
    ss_contact_columns columns;
    ss_contact_columns_of(frame, contact, &columns);
    for (int j = 0; j < layout->dimension; j++) {
        add_column(H, dof_of(layout, contacts->pair[contact][0]), first + j, 1.0, columns.a[j]);
        add_column(H, dof_of(layout, contacts->pair[contact][1]), first + j, 1.0, columns.b[j]);
    }
    double e = contacts->restitution ? contacts->restitution[contact] : 0.0;
    double rebound = e != 0.0 ? e * approach_velocity(frame, contact, &columns) : 0.0;
    cone->w[first] = gap_velocity(options, contacts->gap[contact], frame->h, rebound);
    for (int j = 0; j < layout->dimension; j++) cone->w[first + j] += columns.surface[j];
    cone->mu[k] = contact_mu(frame, options, contact);
    if (cone->mu_rolling && contacts->mu_rolling) cone->mu_rolling[k] = contacts->mu_rolling[contact];
}

/* g of a row, which a joint that is not holonomic does not have. */
static double position_error(const ss_frame *frame, const ss_row_walk *at)
{
    const uint8_t *holonomic = frame->constraints.holonomic;
    return holonomic && !holonomic[at->joint] ? 0.0 : frame->constraints.violation[at->row];
}

/* A limit  row . v + ... >= 0  is a contact without tangents; mu and two or four columns of H stay zero. */
static void add_limit(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                      const ss_row_walk *at, ss_triplets *H, ss_cone *cone)
{
    const ss_constraints *constraints = &frame->constraints;
    int column = layout->limit[at->row] * layout->dimension;
    double sign = layout->turned[at->row];
    const double *jacobian = constraints->jacobian[at->row];
    add_column(H, dof_of(layout, constraints->pair[at->joint][0]), column, sign, jacobian);
    add_column(H, dof_of(layout, constraints->pair[at->joint][1]), column, sign, jacobian + 6);
    double distance = sign * position_error(frame, at) / frame->h;
    // an open limit may be reached within the step, so that its distance counts in full
    cone->w[column] = (distance > 0.0 ? distance : options->gamma * distance) +
                      sign * constraints->time_derivative[at->row];
}

static bool add_contacts(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                         ss_cone *cone, ss_error *err)
{
    ss_triplets H;
    if (!ss_triplets_start(&H, 12 * (size_t)ss_cone_size(cone), err)) return false;
    for (int c = 0; c < frame->contacts.count; c++) {
        if (layout->contact[c] >= 0) add_contact(frame, options, layout, c, &H, cone);
    }
    ss_row_walk walk = {0};
    while (ss_row_next(frame, &walk)) {
        if (layout->limit[walk.row] >= 0) add_limit(frame, options, layout, &walk, &H, cone);
    }
    cone->H = ss_triplets_finish(&H, layout->dofs, ss_cone_size(cone), err);
    return cone->H != NULL;
}

/* ---- joints ----------------------------------------------------------------------------------------- */

static bool add_equations(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                          ss_cone *cone, ss_error *err)
{
    const ss_constraints *constraints = &frame->constraints;
    ss_triplets G;
    if (layout->equations == 0) return true;
    if (!ss_triplets_start(&G, 12 * (size_t)layout->equations, err)) return false;
    ss_row_walk walk = {0};
    while (ss_row_next(frame, &walk)) {
        int equation = layout->equation[walk.row];
        if (equation < 0) continue;
        const double *jacobian = constraints->jacobian[walk.row];
        add_column(&G, dof_of(layout, constraints->pair[walk.joint][0]), equation, 1.0, jacobian);
        add_column(&G, dof_of(layout, constraints->pair[walk.joint][1]), equation, 1.0, jacobian + 6);
        cone->b[equation] =
            options->gamma * position_error(frame, &walk) / frame->h + constraints->time_derivative[walk.row];
    }
    cone->G = ss_triplets_finish(&G, layout->dofs, layout->equations, err);
    return cone->G != NULL;
}

/* ---- together --------------------------------------------------------------------------------------- */

static ss_cone *assemble(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                         ss_error *err)
{
    ss_cone *cone = ss_cone_create(SS_CONE_GLOBAL, layout->dimension, layout->contacts, layout->dofs,
                                   layout->equations, err);
    if (cone && add_bodies(frame, layout, cone, err) && add_contacts(frame, options, layout, cone, err) &&
        add_equations(frame, options, layout, cone, err))
        return cone;
    ss_cone_destroy(cone);
    return NULL;
}

static ss_cone *assemble_checked(const ss_frame *frame, const ss_cone_options *options, ss_cone_form form,
                                 const ss_cone_layout *layout, const char *place, ss_findings *losses,
                                 ss_error *err)
{
    if (!place) place = "";
    if (!ss_options_check(ss_cone_option_table, options, err) ||
        !check_friction(frame, options, layout, place, err) ||
        !check_bounds(frame, options, layout, place, err))
        return NULL;
    ss_cone *cone = assemble(frame, options, layout, err);
    if (cone) ss_cone_tell_losses(frame, options, layout, form, place, losses);
    return cone;
}

ss_cone *ss_cone_from_frame(const ss_frame *frame, const ss_cone_options *options, const char *place,
                            ss_findings *losses, ss_error *err)
{
    ss_cone_layout layout;
    if (!ss_cone_layout_make(frame, &layout, err)) return NULL;
    ss_cone *cone = assemble_checked(frame, options, SS_CONE_GLOBAL, &layout, place, losses, err);
    ss_cone_layout_free(&layout);
    return cone;
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

/* The C of each contact and limit on W's diagonal, that of each equation on R's. */
static void collect_compliance(const ss_frame *frame, const ss_cone_layout *layout, double *on_W,
                               double *on_R)
{
    const double *compliance = frame->contacts.compliance, *softness = frame->constraints.regularization;
    for (int c = 0; compliance && c < frame->contacts.count; c++) {
        if (layout->contact[c] >= 0) on_W[layout->contact[c] * layout->dimension] = compliance[c];
    }
    for (int row = 0; softness && row < frame->constraints.row_count; row++) {
        if (layout->limit[row] >= 0) on_W[layout->limit[row] * layout->dimension] = softness[row];
        if (layout->equation[row] >= 0) on_R[layout->equation[row]] = softness[row];
    }
}

static bool soften(const ss_frame *frame, const ss_cone_layout *layout, ss_cone *local, ss_error *err)
{
    double *on_W = ss_allocate((size_t)ss_cone_size(local), sizeof *on_W);
    double *on_R = ss_allocate((size_t)local->equations, sizeof *on_R);
    bool good =
        (on_W && on_R) || ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for its diagonals");
    if (good) {
        collect_compliance(frame, layout, on_W, on_R);
        good = add_to_diagonal(&local->W, on_W, err) &&
               (local->equations == 0 || add_to_diagonal(&local->R, on_R, err));
    }
    ss_release(on_W);
    ss_release(on_R);
    return good;
}

static ss_cone *reduce(const ss_frame *frame, const ss_cone_layout *layout, const ss_cone *global,
                       bool eliminate, ss_error *err)
{
    const double *softness = frame->constraints.regularization;
    ss_cone *local = ss_cone_to_local(global, false, err);
    if (local && (frame->contacts.compliance || softness) && !soften(frame, layout, local, err)) {
        ss_cone_destroy(local);
        return NULL;
    }
    if (!local || !eliminate || local->equations == 0) return local;
    ss_cone *reduced = ss_cone_eliminate(local, softness ? SS_REDUNDANT_REGULARIZED : SS_REDUNDANT, err);
    ss_cone_destroy(local);
    return reduced;
}

ss_cone *ss_cone_local_from_frame(const ss_frame *frame, const ss_cone_options *options, bool eliminate,
                                  const char *place, ss_findings *losses, ss_error *err)
{
    ss_cone_layout layout;
    if (!ss_cone_layout_make(frame, &layout, err)) return NULL;
    ss_cone *global = assemble_checked(frame, options, SS_CONE_LOCAL, &layout, place, losses, err);
    ss_cone *local = global ? reduce(frame, &layout, global, eliminate, err) : NULL;
    ss_cone_destroy(global);
    ss_cone_layout_free(&layout);
    return local;
}
