/* Who wrote a frame, judged by its contents. Names alone give the family (bpmd_stored.c); within two families
 * there are two kinds of writers, told apart by evidence:
 *
 *   flat     Gazebo's writer: blocks of the Jacobian reversed, or ODE_GS results, or mu_k with three columns;
 *            another one: blocks in the order of the pair, or arrays that Gazebo's writer does not know, or
 *            friction that differs within mu_k, or no mu_s.                    No evidence: Gazebo.
 *   ODE      January 2013: the world is 0; later: the world is negative.       No evidence: January 2013.
 *
 * A frame without evidence of its own is judged by the first frames of its simulation that have some.
 */
#include "dataset/bpmd.h"

#include <math.h>
#include <string.h>

enum { FRAMES_ASKED = 32 };

/* ---- order of the Jacobian's blocks --------------------------------------------------------------- */

static bool is_zero(const double *block)
{
    for (int i = 0; i < 6; i++)
        if (block[i] != 0) return false;
    return true;
}

/* A block that acts on the world stands in the wrong place. */
static ss_block_order order_by_world_joints(const ss_constraints *joints)
{
    int straight = 0, reversed = 0;
    for (int k = 0, row = 0; k < joints->count; row += joints->rows[k++]) {
        int a = joints->pair[k][0], b = joints->pair[k][1];
        if ((a == SS_WORLD) == (b == SS_WORLD)) continue;
        for (int i = row; i < row + joints->rows[k]; i++) {
            const double *body = joints->jacobian[i] + (a == SS_WORLD ? 6 : 0);
            const double *world = joints->jacobian[i] + (a == SS_WORLD ? 0 : 6);
            if (is_zero(world) && !is_zero(body)) straight++;
            if (is_zero(body) && !is_zero(world)) reversed++;
        }
    }
    if ((straight > 0) == (reversed > 0)) return SS_BLOCKS_UNKNOWN;
    return reversed ? SS_BLOCKS_REVERSED : SS_BLOCKS_STRAIGHT;
}

static double speed_of(const ss_frame *frame, const double block[6], int body, double *scale)
{
    double sum = 0;
    for (int i = 0; body != SS_WORLD && i < 6; i++) {
        double part = block[i] * frame->bodies.velocity[body][i];
        sum += part;
        *scale += part * part;
    }
    return sum;
}

static bool is_free(const double bounds[2])
{
    return bounds[0] == -INFINITY && bounds[1] == INFINITY;
}

/* Bodies hardly move along the equations of their joints, |J v + dg/dt|, unless the blocks are on the wrong
 * bodies. */
static ss_block_order order_by_speeds(const ss_frame *frame)
{
    const ss_constraints *joints = &frame->constraints;
    double straight = 0, reversed = 0; // sums of squares for the two orders of blocks
    double scale = 0;                  // of what they are sums of
    for (int k = 0, first = 0; k < joints->count; first += joints->rows[k++]) {
        int rows = joints->rows[k], a = joints->pair[k][0], b = joints->pair[k][1];
        if (rows > SS_ODE_ROWS) continue;

        /* Only rows free of bounds count, whether or not bounds are misplaced as Gazebo does it. */
        double sorted[SS_ODE_ROWS][2];
        ss_bounds_story story = {0};
        memcpy(sorted, joints->bounds + first, (size_t)rows * sizeof *sorted);
        ss_bpmd_sort_bounds(sorted, rows, &story);

        for (int r = 0; r < rows; r++) {
            if (!is_free(joints->bounds[first + r]) || !is_free(sorted[r])) continue;
            const double *block = joints->jacobian[first + r];
            double at_rest = joints->time_derivative[first + r];
            double as_stored =
                at_rest + speed_of(frame, block, a, &scale) + speed_of(frame, block + 6, b, &scale);
            double swapped =
                at_rest + speed_of(frame, block, b, &scale) + speed_of(frame, block + 6, a, &scale);
            straight += as_stored * as_stored;
            reversed += swapped * swapped;
        }
    }

    double rounding = 1e-18 * scale;
    if (!(fmax(straight, reversed) > rounding)) return SS_BLOCKS_UNKNOWN; // everything rests
    if (straight * 100 < reversed) return SS_BLOCKS_STRAIGHT;             // squares: ten times better
    return reversed * 100 < straight ? SS_BLOCKS_REVERSED : SS_BLOCKS_UNKNOWN;
}

ss_block_order ss_bpmd_block_order(const ss_frame *frame, const char **how)
{
    *how = "known from a joint with the world";
    ss_block_order order = order_by_world_joints(&frame->constraints);
    if (order != SS_BLOCKS_UNKNOWN) return order;
    *how = "known from the speeds";
    return order_by_speeds(frame);
}

/* ---- evidence ------------------------------------------------------------------------------------- */

/* Optional arrays are ours or the future's: Gazebo's writer has a fixed list. */
static bool has_arrays_gazebo_lacks(const ss_bpmd_stored *stored)
{
    static const ss_bpmd_place none;
    if (ss_bpmd_has(&stored->place, "time") || stored->block_order[0]) return true;
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        if (!field->optional || strcmp(field->name, "mu_s") == 0) continue;
        const ss_bpmd_place *place = strcmp(field->group, "constraints") == 0 ? &stored->constraints
                                     : strcmp(field->group, "contacts") == 0  ? &stored->contacts
                                                                              : &none;
        if (ss_bpmd_has(place, field->name)) return true;
    }
    return false;
}

static ss_bpmd_evidence evidence_of_gazebo(const ss_bpmd_stored *stored)
{
    ss_h5_group results;
    bool has_results = false;
    if (ss_h5_enter_group(&stored->place.group, "solver_data", &results, NULL)) {
        has_results = ss_h5_has(&results, "ODE_GS");
        ss_h5_leave_group(&results);
    }
    if (has_results || stored->friction_columns == 3) return SS_EVIDENCE_OLD;
    if (has_arrays_gazebo_lacks(stored)) return SS_EVIDENCE_PLAIN;

    /* It writes mu_s and mu_k for all contacts, with the same number in both columns. */
    const ss_contacts *contacts = &stored->frame->contacts;
    bool differs = false;
    for (int c = 0; c < contacts->count; c++) differs |= contacts->mu[c][0] != contacts->mu[c][1];
    if (contacts->count > 0 && (!stored->has_mu_s || !stored->has_mu_k || differs)) return SS_EVIDENCE_PLAIN;

    const char *how;
    ss_block_order order = ss_bpmd_block_order(stored->frame, &how);
    if (order == SS_BLOCKS_UNKNOWN) return SS_EVIDENCE_NONE;
    return order == SS_BLOCKS_REVERSED ? SS_EVIDENCE_OLD : SS_EVIDENCE_PLAIN;
}

static ss_bpmd_evidence evidence_of(const ss_bpmd_stored *stored)
{
    if (stored->family == SS_FAMILY_FLAT) return evidence_of_gazebo(stored);
    if (stored->world_is_negative) return SS_EVIDENCE_PLAIN;
    return stored->world_is_zero ? SS_EVIDENCE_OLD : SS_EVIDENCE_NONE;
}

/* Asked once for each simulation, so that frames do not depend on the order in which they are read. */
static bool evidence_of_simulation(ss_bpmd_stored *stored, ss_bpmd_evidence *evidence, ss_error *err)
{
    ss_bpmd *file = stored->file;
    ss_bpmd_simulation *s = &file->simulations[file->entries[stored->index].simulation];
    int which = stored->family == SS_FAMILY_ODE;
    *evidence = s->asked[which] ? (ss_bpmd_evidence)s->evidence[which] : SS_EVIDENCE_NONE;
    for (int i = 0; !s->asked[which] && i < s->count && i < FRAMES_ASKED && *evidence == SS_EVIDENCE_NONE;
         i++) {
        if (s->first + i == stored->index) continue;
        ss_bpmd_stored other;
        bool found, good = ss_bpmd_stored_try(file, s->first + i, &other, &found, err);
        if (found && other.family == stored->family) *evidence = evidence_of(&other);
        ss_bpmd_stored_close(&other);
        if (!good) return false;
    }
    s->evidence[which] = (int)*evidence;
    s->asked[which] = true;
    return true;
}

static bool judge_by_evidence(ss_bpmd_stored *stored, ss_dialect old, ss_dialect *dialect, ss_error *err)
{
    *dialect = old;
    if (stored->file->options.dialect != SS_DIALECT_AUTO) return true; // the user said so
    ss_bpmd_evidence evidence = evidence_of(stored);
    if (evidence == SS_EVIDENCE_NONE && !evidence_of_simulation(stored, &evidence, err)) return false;
    if (evidence == SS_EVIDENCE_PLAIN) *dialect = SS_DIALECT_CANONICAL;
    return true;
}

bool ss_bpmd_judge(ss_bpmd_stored *stored, ss_dialect *dialect, ss_error *err)
{
    switch (stored->family) {
    case SS_FAMILY_FLAT:
        return judge_by_evidence(stored, SS_DIALECT_GAZEBO, dialect, err);
    case SS_FAMILY_ODE:
        return judge_by_evidence(stored, SS_DIALECT_ODE_2013, dialect, err);
    case SS_FAMILY_RPISIM:
        *dialect = SS_DIALECT_RPISIM;
        return true;
    default:
        *dialect = SS_DIALECT_CANONICAL;
        return true;
    }
}
