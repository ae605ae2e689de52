/* A rigid global cone problem back to a frame. */
#include "formulation/cone_to_frame.h"

#include <limits.h>

#define PLACE "/fclib_global"

/* ---- bodies from M -------------------------------------------------------------------------------- */

static bool fail_mass(int body, const char *why, double size, ss_error *err)
{
    return ss_fail(err, SS_ERROR_INPUT,
                   "M: block %d is not the mass of a rigid body in the world frame: %s (%.2g)", body, why,
                   size);
}

/* The 6 x 6 block of a body, if it is the mass of a rigid one: diag(m, m, m) and a symmetric positive
 * definite inertia. */
static bool read_block(const ss_sparse *M, int body, double block[6][6], ss_error *err)
{
    memset(block, 0, 36 * sizeof(double));
    for (int j = 0; j < 6; j++) {
        int column = 6 * body + j;
        for (int at = M->start[column]; at < M->start[column + 1]; at++) {
            int row = M->row[at];
            if (row / 6 == body)
                block[row % 6][j] = M->value[at];
            else if (M->value[at] != 0.0)
                return ss_fail(err, SS_ERROR_INPUT,
                               "M: entry (%d, %d) lies outside the 6 x 6 blocks of rigid bodies", row,
                               column);
        }
    }

    double mass = block[0][0], coupling = 0.0, uneven = 0.0, size = 0.0, skew = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            coupling = fmax(coupling, fmax(fabs(block[i][3 + j]), fabs(block[3 + i][j])));
            uneven = fmax(uneven, fabs(block[i][j] - (i == j ? mass : 0.0)));
            size = fmax(size, fabs(block[3 + i][3 + j]));
            skew = fmax(skew, fabs(block[3 + i][3 + j] - block[3 + j][3 + i]));
        }
    }
    if (!(mass > 0.0)) return fail_mass(body, "its mass is not positive", mass, err);
    if (uneven > SS_RIGID * mass)
        return fail_mass(body, "its linear part is not m times 1", uneven / mass, err);
    if (coupling > SS_RIGID * sqrt(mass * size))
        return fail_mass(body, "linear and angular motion are coupled", coupling, err);
    if (skew > SS_RIGID * size) return fail_mass(body, "its inertia is not symmetric", skew / size, err);
    ss_mat3 inertia;
    for (int i = 0; i < 3; i++) memcpy(inertia.m[i], block[3 + i] + 3, sizeof inertia.m[i]);
    return ss_mat3_is_positive(inertia) || fail_mass(body, "its inertia is not positive definite", size, err);
}

/* Velocities M^-1 f: what the bodies would do without contacts and joints. */
static bool read_body(const ss_cone *cone, int body, ss_frame *frame, ss_error *err)
{
    double block[6][6];
    if (!read_block(cone->M, body, block, err)) return false;
    ss_mat3 inertia, inverse;
    for (int i = 0; i < 3; i++) memcpy(inertia.m[i], block[3 + i] + 3, sizeof inertia.m[i]);
    if (!ss_mat3_inverse(inertia, &inverse)) return fail_mass(body, "its inertia is singular", 0.0, err);
    const double *f = cone->f + 6 * body;
    double *v = frame->bodies.velocity[body];
    frame->bodies.mass[body] = block[0][0];
    ss_mat3_store(inertia, frame->bodies.inertia[body]);
    ss_vec3_store(ss_vec3_scale(1.0 / block[0][0], ss_vec3_load(f)), v);
    ss_vec3_store(ss_mat3_apply(inverse, ss_vec3_load(f + 3)), v + 3);
    return true;
}

/* ---- contacts from H ------------------------------------------------------------------------------ */

static bool fill_contacts(const ss_cone *cone, const ss_rigid_contact *from, ss_frame *frame, ss_error *err)
{
    bool meet = true;
    if (!ss_rigid_positions(from, cone->contacts, frame->bodies.count, frame->bodies.position, &meet, err) ||
        !ss_frame_enable(frame, "contacts/t_u", err) ||
        (!meet && !ss_frame_enable(frame, "contacts/lever_arms", err)) ||
        (cone->dimension == 5 && !ss_frame_enable(frame, "contacts/mu_r", err)))
        return false;

    ss_contacts *contacts = &frame->contacts;
    for (int c = 0, to = 0; c < cone->contacts; c++) {
        const ss_rigid_contact *contact = &from[c];
        if (contact->is_limit) continue;
        int b = contact->pair[1], body = b != SS_WORLD ? b : contact->pair[0];
        ss_vec3 arm = b != SS_WORLD ? contact->r_b : contact->r_a;
        contacts->pair[to][0] = contact->pair[0];
        contacts->pair[to][1] = contact->pair[1];
        ss_vec3_store(ss_vec3_add(ss_vec3_load(frame->bodies.position[body]), arm), contacts->point[to]);
        ss_vec3_store(contact->normal, contacts->normal[to]);
        ss_vec3_store(contact->tangent, contacts->tangent[to]);
        contacts->gap[to] = frame->h * cone->w[c * cone->dimension];
        contacts->mu[to][0] = contacts->mu[to][1] = cone->mu[c];
        if (contacts->mu_rolling) contacts->mu_rolling[to] = cone->mu_rolling[c];
        if (contacts->lever_arm) {
            ss_vec3_store(contact->r_a, contacts->lever_arm[to]);
            ss_vec3_store(contact->r_b, contacts->lever_arm[to] + 3);
        }
        to++;
    }
    return true;
}

/* ---- joints from G, limits from H ----------------------------------------------------------------- */

typedef struct row_source {
    const ss_sparse *matrix;
    int column;
    double velocity; /* b, or w_N */
    double lower;
} row_source;

/* Rows that follow each other and act on the same bodies are one joint. *joints counts them. */
static bool add_row(const row_source *source, ss_frame *frame, int row, int *joints, ss_error *err)
{
    ss_constraints *constraints = &frame->constraints;
    ss_rigid_block block;
    ss_rigid_block_read(source->matrix, source->column, 1, &block);
    if (block.bodies < 1 || block.bodies > 2)
        return ss_fail(err, SS_ERROR_INPUT, "%s: column %d acts on %d bodies, must be one or two",
                       source->lower == 0.0 ? "H" : "G", source->column, block.bodies);
    memcpy(constraints->jacobian[row], block.column[0][0], sizeof block.column[0][0]);
    memcpy(constraints->jacobian[row] + 6, block.column[1][0], sizeof block.column[1][0]);
    constraints->violation[row] = frame->h * source->velocity;
    constraints->bounds[row][0] = source->lower;

    int last = *joints - 1;
    bool joined = last >= 0 && source->lower != 0.0 && constraints->pair[last][0] == block.body[0] &&
                  constraints->pair[last][1] == block.body[1];
    if (joined) {
        constraints->rows[last]++;
        return true;
    }
    constraints->pair[*joints][0] = block.body[0];
    constraints->pair[*joints][1] = block.body[1];
    constraints->rows[(*joints)++] = 1;
    return true;
}

static bool fill_constraints(const ss_cone *cone, const ss_rigid_contact *contacts, ss_frame *frame,
                             ss_error *err)
{
    int joints = 0, row = 0;
    for (int k = 0; k < cone->equations; k++) {
        row_source source = {cone->G, k, cone->b[k], -INFINITY};
        if (!add_row(&source, frame, row++, &joints, err)) return false;
    }
    for (int c = 0; c < cone->contacts; c++) {
        row_source source = {cone->H, c * cone->dimension, cone->w[c * cone->dimension], 0.0};
        if (contacts[c].is_limit && !add_row(&source, frame, row++, &joints, err)) return false;
    }
    frame->constraints.count = joints; // the arrays have room for one joint per row
    return true;
}

/* ---- what is not exact ---------------------------------------------------------------------------- */

static void tell_what_is_made_up(const ss_cone *cone, const ss_frame *frame, ss_findings *findings)
{
    ss_findings_add(findings, SS_FINDING_WARNING, PLACE,
                    "the time step is not stored: h = %g is assumed, gaps are h w_N, joint errors h b",
                    frame->h);
    ss_findings_add(findings, SS_FINDING_WARNING, PLACE "/vectors/f",
                    "velocities are M^-1 f and forces 0: only the sum M v + h f is known");
    ss_findings_add(findings, SS_FINDING_WARNING, PLACE "/H",
                    "positions are chosen so that lever arms meet, orientations are not known%s",
                    frame->contacts.lever_arm ? "; they do not meet everywhere, lever arms are stored" : "");
    int limits = cone->contacts - frame->contacts.count;
    if (limits)
        ss_findings_add(findings, SS_FINDING_WARNING, PLACE "/H",
                        "%d contacts without tangents are taken as joint limits", limits);

    int count = 0;
    double largest = 0.0;
    for (int i = 0; i < cone->contacts * cone->dimension; i++) {
        if (i % cone->dimension == 0 || cone->w[i] == 0.0) continue;
        count++;
        largest = fmax(largest, fabs(cone->w[i]));
    }
    if (count)
        ss_findings_add(findings, SS_FINDING_LOSS, PLACE "/vectors/w",
                        "%d tangential terms (up to %.3g) cannot be stored in a frame", count, largest);
}

/* ---- together ------------------------------------------------------------------------------------- */

static ss_frame *convert(const ss_cone *cone, double h, ss_rigid_contact *contacts, ss_findings *findings,
                         ss_error *err)
{
    int bodies = cone->dofs / 6, limits = 0;
    double block[6][6];
    for (int b = 0; b < bodies; b++)
        if (!read_block(cone->M, b, block, err)) return NULL;
    if (!ss_rigid_contacts_read(cone, contacts, findings, err)) return NULL;
    for (int c = 0; c < cone->contacts; c++) limits += contacts[c].is_limit;
    int rows = cone->equations + limits;
    ss_frame *frame = ss_frame_create(bodies, rows, rows, cone->contacts - limits, err);
    if (!frame) return NULL;

    frame->h = h;
    bool good = true;
    for (int b = 0; good && b < bodies; b++) good = read_body(cone, b, frame, err);
    if (good && fill_contacts(cone, contacts, frame, err) && fill_constraints(cone, contacts, frame, err)) {
        tell_what_is_made_up(cone, frame, findings);
        return frame;
    }
    ss_frame_destroy(frame);
    return NULL;
}

static ss_frame *convert_spatial(const ss_cone *cone, double h, ss_findings *findings, ss_error *err)
{
    if (cone->dofs % 6 != 0) {
        ss_fail(err, SS_ERROR_INPUT, "M: %d dofs, must be a multiple of 6 for rigid bodies", cone->dofs);
        return NULL;
    }
    ss_rigid_contact *contacts = ss_allocate((size_t)cone->contacts, sizeof *contacts);
    if (!contacts) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", cone->contacts);
        return NULL;
    }
    ss_frame *frame = convert(cone, h, contacts, findings, err);
    ss_release(contacts);
    return frame;
}

ss_frame *ss_frame_from_cone(const ss_cone *global, double h, ss_findings *findings, ss_error *err)
{
    if (global->form != SS_CONE_GLOBAL) {
        ss_fail(err, SS_ERROR_INPUT, "a local problem has no bodies, and they cannot be recovered from W");
        return NULL;
    }
    if (!(h > 0.0) || !isfinite(h)) {
        ss_fail(err, SS_ERROR_USAGE, "h = %g, must be a positive number of seconds", h);
        return NULL;
    }
    if (global->dimension != 2) return convert_spatial(global, h, findings, err);

    if (global->dofs % 3 != 0 || global->dofs > INT_MAX / 2) {
        ss_fail(err, SS_ERROR_INPUT, "M: %d dofs, must be a multiple of 3 for planar bodies", global->dofs);
        return NULL;
    }
    ss_cone *spatial = ss_cone_embed(global, err);
    ss_frame *frame = spatial ? convert_spatial(spatial, h, findings, err) : NULL;
    ss_cone_destroy(spatial);
    if (frame)
        ss_findings_add(findings, SS_FINDING_WARNING, PLACE, "planar: put into the plane z = 0 of space");
    return frame;
}
