/* Polyhedral exact geometry as published: one mixed linear complementarity problem (Williams et al. 2013,
 * Eq. 6).
 *
 * Of the alternatives of a contact one is the primary, 1. The largest gap is written as a sum,
 * max_k psi_k = psi_1 + c_2 + ... + c_s, with c_k = [psi_k - (psi_1 + c_2 + ... + c_(k-1))]_+, and every
 * [.]_+ is one complementarity row:
 *
 *     0 <= p_n  perp  N_1 v + E1 c + psi_1 / h                        >= 0     E1: a row of ones per contact
 *     0 <= c_k  perp  (N_1 - N_k) v + E2 c + (psi_1 - psi_k) / h      >= 0     E2: lower triangle of ones
 *
 * with friction as Stewart and Trinkle's, on the primary. In print E1 is transposed. The impulse acts along
 * N_1 whichever face is active, which is the flaw of the method: for two faces more than 90 degrees apart
 * in the metric of the masses there are up to three solutions, and the choice of the primary decides. It is
 * here for comparison; `--peg select` is what solves such frames (docs/peg.md).
 *
 * Groups whose alternatives have one point each, as the simulator makes them for this formulation, vertex by
 * vertex. Others count as ordinary contacts, which the notes say.
 */
#include "formulation/polygon.h"

#include "base/option_rows.h"

#include <math.h>
#include <string.h>

typedef enum primary_rule { SMALLEST, LARGEST, ENTRY, FREE, FIRST } primary_rule;

typedef struct mlcp_options {
    ss_polygon_options polygon;
    int primary; /* primary_rule */
} mlcp_options;

static const ss_option options_table[] = {
    SS_POLYGON_OPTION_ROWS("preventive", "inf"),
    SS_ROW_CHOICE(
        mlcp_options, primary, "smallest", "smallest|largest|entry|free|first",
        "primary alternative, along which impulses act: with the smallest gap above -1e-4 m, as in "
        "RPI-MATLAB-Simulator; the largest gap; the face that the free motion enters through; the largest "
        "gap after the free motion; the first in the file"),
    {0}};

/* The smallest gap that may be the primary's, in m, as RPI-MATLAB-Simulator has it. */
static const double most_overlap = 1e-4;

/* ---- alternatives of a contact ---------------------------------------------------------------------- */

/* A single point of an alternative as a contact row: alternative 0 is the contact itself. */
static ss_contact_row alternative_row(const ss_rows *rows, const ss_contact_row *contact, int row,
                                      const ss_step_options *step)
{
    const ss_frame *frame = rows->frame;
    const ss_subcontacts *sub = &frame->subcontacts;
    ss_contact_row other = *contact;
    if (row < 0) return other;
    other.normal = ss_vec3_load(sub->normal[row]);
    ss_vec3_tangents(other.normal, &other.tangent[0], &other.tangent[1]);
    bool planar = !contact->in_plane[0] || !contact->in_plane[1];
    for (int k = 0; k < 2; k++) other.in_plane[k] = !planar || fabs(other.tangent[k].z) < 0.5;
    for (int side = 0; side < 2; side++) {
        int body = frame->contacts.pair[contact->contact][side];
        other.arm[side] =
            contact->pair[side] < 0
                ? (ss_vec3){0.0, 0.0, 0.0}
                : ss_vec3_subtract(ss_vec3_load(sub->point[row]), ss_vec3_load(frame->bodies.position[body]));
    }
    other.surface =
        sub->surface_velocity ? ss_vec3_load(sub->surface_velocity[row]) : (ss_vec3){0.0, 0.0, 0.0};
    other.offset = ss_gap_term_of(step, sub->gap[row], frame->h) + ss_vec3_dot(other.normal, other.surface);
    return other;
}

/* Force rows of the group of a contact, in the order of alternatives; -1 unless each has one point. */
static int count_alternatives(const ss_frame *frame, int contact)
{
    const ss_subcontacts *sub = &frame->subcontacts;
    int group = sub->contact_group ? sub->contact_group[contact] : -1, count = 0, most = 0;
    if (group < 0) return 0;
    for (int c = 0; c < frame->contacts.count; c++)
        if (c != contact && sub->contact_group[c] == group) return -1;
    for (int r = 0; r < sub->count; r++) {
        if (sub->group[r] != group || sub->role[r] != SS_ROW_FORCE) continue;
        count++;
        if (sub->alternative[r] > most) most = sub->alternative[r];
    }
    return count == most ? count : -1;
}

/* The row of alternative k of a group; -1 for the contact itself. */
static int row_of(const ss_frame *frame, int contact, int k)
{
    const ss_subcontacts *sub = &frame->subcontacts;
    for (int r = 0; k > 0 && r < sub->count; r++)
        if (sub->group[r] == sub->contact_group[contact] && sub->alternative[r] == k &&
            sub->role[r] == SS_ROW_FORCE)
            return r;
    return -1;
}

/* How much alternative k is to be preferred. */
static double preference(const ss_rows *rows, const ss_contact_row *contact, int k, const mlcp_options *set)
{
    const ss_frame *frame = rows->frame;
    int row = row_of(frame, contact->contact, k);
    double gap = row < 0 ? frame->contacts.gap[contact->contact] : frame->subcontacts.gap[row];
    ss_contact_row other = alternative_row(rows, contact, row, &set->polygon.step);
    double speed = ss_contact_speed(&other, other.normal, rows->free_velocity);
    switch ((primary_rule)set->primary) {
    case SMALLEST:
        return gap >= -most_overlap ? -gap : -INFINITY;
    case LARGEST:
        return gap;
    case ENTRY: // the last to be given up; what holds now and is not given up at all comes first
        if (gap < 0.0) return -1e300 + gap;
        return speed < 0.0 ? gap / -speed : INFINITY;
    case FREE:
        return gap + frame->h * speed;
    case FIRST:
        break;
    }
    return -k;
}

/* Rows of contacts with alternatives become those of their primary. */
static void prepare(ss_rows *rows, const void *options)
{
    const mlcp_options *set = options;
    for (int c = 0; c < rows->contact_count; c++) {
        ss_contact_row *contact = &rows->contact[c];
        int count = count_alternatives(rows->frame, contact->contact), best = 0;
        contact->alternatives = count > 0 ? count : 0;
        contact->primary = 0;
        if (count <= 0) continue;
        double most = preference(rows, contact, 0, set);
        for (int k = 1; k <= count; k++) {
            double value = preference(rows, contact, k, set);
            if (!(value > most)) continue;
            most = value;
            best = k;
        }
        int row = row_of(rows->frame, contact->contact, best);
        *contact = alternative_row(rows, contact, row, &set->polygon.step);
        contact->primary = best;
    }
}

/* Impulses of a primary that is not the contact belong to its row. */
static void settle(const ss_rows *rows, ss_answer *answer)
{
    const ss_subcontacts *sub = &rows->frame->subcontacts;
    for (int c = 0; c < rows->contact_count; c++) {
        const ss_contact_row *contact = &rows->contact[c];
        int group = sub->contact_group && answer->selection ? sub->contact_group[contact->contact] : -1;
        if (group < 0) continue;
        answer->selection[group] = contact->primary;
        int row = row_of(rows->frame, contact->contact, contact->primary), k = contact->contact;
        if (row < 0) continue;
        answer->sub_normal_impulse[row] = answer->normal_impulse[k];
        memcpy(answer->sub_friction_impulse[row], answer->friction_impulse[k], sizeof(double[3]));
        answer->normal_impulse[k] = 0.0;
        memset(answer->friction_impulse[k], 0, sizeof(double[3]));
    }
}

/* ---- unknowns: those of the polygon, then c --------------------------------------------------------- */

static int count_unknowns(const ss_contact_row *contact, const void *options, int *blocks)
{
    int own = ss_polygon_model.unknowns(contact, options, blocks);
    *blocks += contact->alternatives > 0;
    return own + contact->alternatives;
}

/* (N_1 - N_k) v + ...: rows as if c pushed the bodies; transform takes that away. A block of no contact and
 * no joint is one of these. */
static void add_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                        ss_problem_builder *builder)
{
    const mlcp_options *set = options;
    ss_polygon_model.add(rows, contact, options, builder);
    if (contact->alternatives == 0) return;
    double first[12];
    ss_contact_sliding_row(contact, contact->normal, first);
    for (int k = 0; k <= contact->alternatives; k++) {
        if (k == contact->primary) continue;
        // of the contact of the frame again: the row has become the primary's
        int row = row_of(rows->frame, contact->contact, k);
        ss_contact_row other = *contact;
        if (row >= 0) {
            other = alternative_row(rows, contact, row, &set->polygon.step);
        } else {
            const ss_frame *frame = rows->frame;
            double arm[2][3];
            ss_contact_lever_arms(frame, contact->contact, arm[0], arm[1]);
            other.normal = ss_vec3_load(frame->contacts.normal[contact->contact]);
            for (int side = 0; side < 2; side++)
                if (contact->pair[side] >= 0) other.arm[side] = ss_vec3_load(arm[side]);
            other.surface = frame->contacts.surface_velocity
                                ? ss_vec3_load(frame->contacts.surface_velocity[contact->contact])
                                : (ss_vec3){0.0, 0.0, 0.0};
            other.offset =
                ss_gap_term_of(&set->polygon.step, frame->contacts.gap[contact->contact], frame->h) +
                ss_vec3_dot(other.normal, other.surface);
        }

        double jacobian[12];
        ss_contact_sliding_row(&other, other.normal, jacobian);
        for (int i = 0; i < 12; i++) jacobian[i] = first[i] - jacobian[i];
        int i = ss_builder_add(builder, contact->pair, jacobian, 0.0, contact->offset - other.offset);
        builder->problem->lower[i] = 0.0;
    }
    ss_builder_close(builder, (ss_block){.law = SS_LAW_BOX, .contact = -1, .constraint = -1});
}

static void write_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                          const ss_contact_impulse *impulse, double *x)
{
    int blocks, own = ss_polygon_model.unknowns(contact, options, &blocks);
    ss_polygon_model.write(rows, contact, options, impulse, x);
    for (int k = 0; k < contact->alternatives; k++) x[own + k] = 0.0;
}

/* ---- the matrix ------------------------------------------------------------------------------------- */

static bool is_largest_gap(const ss_block *block)
{
    return block->law == SS_LAW_BOX && block->contact < 0 && block->constraint < 0;
}

/* Columns of c: nothing but ones, in the row of p_n and in those of c from their own on. */
static bool transform(const ss_frame *frame, ss_problem *problem, const void *options, ss_problem **other,
                      ss_error *err)
{
    if (!ss_polygon_model.transform(frame, problem, options, other, err)) return false;
    ss_problem *made = *other;
    int64_t room = ss_sparse_nonzeros(made->A);
    for (int k = 0; k < made->block_count; k++) {
        int64_t size = made->blocks[k].size;
        if (is_largest_gap(&made->blocks[k])) room += size * (size + 3) / 2;
    }
    ss_sparse *exact = ss_sparse_create(made->size, made->size, room, err);
    if (!exact) return false;

    int entry = 0, normal = 0;
    for (int k = 0; k < made->block_count; k++) {
        const ss_block *block = &made->blocks[k];
        bool sums = is_largest_gap(block);
        if (block->contact >= 0 && block->law == SS_LAW_BOX) normal = block->first;
        for (int j = block->first; j < block->first + block->size; j++) {
            if (sums) {
                exact->row[entry] = normal;
                exact->value[entry++] = 1.0;
                for (int i = j; i < block->first + block->size; i++) {
                    exact->row[entry] = i;
                    exact->value[entry++] = 1.0;
                }
                made->diagonal[j] = 1.0;
                made->symmetric = false;
            }
            for (int at = made->A->start[j]; !sums && at < made->A->start[j + 1]; at++) {
                exact->row[entry] = made->A->row[at];
                exact->value[entry++] = made->A->value[at];
            }
            exact->start[j + 1] = entry;
        }
    }
    ss_sparse_destroy(made->A);
    made->A = exact;
    return true;
}

static ss_contact_impulse read_contact(const ss_rows *rows, const ss_contact_row *contact,
                                       const void *options, const double *x)
{
    return ss_polygon_model.read(rows, contact, options, x);
}

static const ss_contact_model model = {.traits = SS_MODELS_FRICTION | SS_MODELS_GAPS | SS_MODELS_ALTERNATIVES,
                                       .unknowns = count_unknowns,
                                       .add = add_contact,
                                       .read = read_contact,
                                       .write = write_contact,
                                       .transform = transform,
                                       .prepare = prepare,
                                       .settle = settle};

const ss_formulation ss_formulation_peg_mlcp = {
    .name = "peg-mlcp",
    .summary =
        "Stewart and Trinkle's with the largest gap of alternatives as complementarity rows, as published",
    .reference = "Williams et al. 2013, Eq. 6, with E1 as a row per contact; Williams, Lu, Trinkle 2017",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .options = options_table,
    .options_size = sizeof(mlcp_options),
    .model = &model,
};
