/* Friction as a box: two rows T1, T2 with bounds of their own,  |x_Ti| <= mu_i x_N.
 *
 * With bound=current the bounds follow the normal impulse (the "findex" of game engines); with bound=previous
 * they are numbers, from the last step or from a first guess, and the problem is a mixed linear
 * complementarity problem with a symmetric matrix. A slip along a corner of the box meets sqrt(2) times the
 * friction; tangents=slip puts the first tangent along the slip of v*, where the box is exact. Rows with
 * infinite friction have no bounds.
 */
#include "formulation/box.h"

#include "base/option_rows.h"
#include "formulation/model.h"

#include <math.h>

static const ss_option options_table[] = {
    SS_STEP_OPTION_ROWS("preventive", "inf"),
    SS_ROW_CHOICE(ss_box_options, bound, "current", "current|previous",
                  "friction bounds follow the normal impulse, or are fixed by the normal impulse of the "
                  "previous step"),
    SS_ROW_CHOICE(ss_box_options, tangents, "slip", "frame|slip",
                  "tangents as in the frame, or with the first one along the predicted slip"),
    {0},
};

/* ---- tangents --------------------------------------------------------------------------------------- */

typedef struct tangents {
    int count;
    int which[2];    /* rows with fixed bounds come first, they share a block with the normal row */
    bool coupled[2]; /* does the bound follow the normal impulse? */
    double turn[2];  /* cos, sin of the angle from t_u to the first tangent */
} tangents;

/* Slip below this share of the normal speed is rounding and has no direction. */
static const double slip_rounding = 1e-9;

static double predicted(const ss_rows *rows, const ss_contact_row *contact, ss_vec3 direction)
{
    return ss_contact_speed(contact, direction, rows->free_velocity);
}

static tangents tangents_of(const ss_contact_row *contact, const ss_box_options *set)
{
    tangents t = {.turn = {1.0, 0.0}};
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < 2; k++) {
            bool coupled = set->bound == SS_BOX_CURRENT && !isinf(contact->mu[k]);
            if (!(contact->mu[k] > 0.0) || !contact->in_plane[k] || coupled != (pass == 1)) continue;
            t.coupled[t.count] = coupled;
            t.which[t.count++] = k;
        }
    }
    return t;
}

static tangents turned_tangents_of(const ss_rows *rows, const ss_contact_row *contact,
                                   const ss_box_options *set)
{
    tangents t = tangents_of(contact, set);

    /* With one coefficient for all directions the tangents may be turned, along the slip. */
    bool round = contact->mu[0] == contact->mu[1] && contact->in_plane[0] && contact->in_plane[1];
    if (set->tangents != SS_BOX_SLIP || !round) return t;
    double u = predicted(rows, contact, contact->tangent[0]),
           v = predicted(rows, contact, contact->tangent[1]), speed = hypot(u, v);
    if (!(speed > slip_rounding * fabs(predicted(rows, contact, contact->normal)))) return t;
    t.turn[0] = u / speed;
    t.turn[1] = v / speed;
    return t;
}

/* ---- the model -------------------------------------------------------------------------------------- */

static int count_unknowns(const ss_contact_row *contact, const void *options, int *blocks)
{
    tangents t = tangents_of(contact, options);
    bool spins = contact->mu_torsion > 0.0;
    *blocks = spins || (t.count > 0 && t.coupled[t.count - 1]) ? 2 : 1;
    return 1 + t.count + spins;
}

static void add_tangent(const ss_rows *rows, const ss_contact_row *contact, const ss_box_options *set,
                        const tangents *t, int at, int normal, ss_problem_builder *builder)
{
    int k = t->which[at];
    double mu = contact->mu[k];
    double along = k ? -t->turn[1] : t->turn[0], across = k ? t->turn[0] : t->turn[1];
    ss_vec3 direction =
        ss_vec3_add_scaled(ss_vec3_scale(along, contact->tangent[0]), across, contact->tangent[1]);
    ss_problem *problem = builder->problem;
    int i = ss_builder_add_tangent(builder, contact, direction);
    if (t->coupled[at]) {
        problem->partner[i] = normal;
        problem->factor[i] = mu;
        return;
    }
    if (isinf(mu)) return;

    /* Of a contact without a past, a first guess is the impulse that stops it if nothing else acts. */
    double known = set->normal_impulses ? set->normal_impulses[contact->contact] : NAN;
    if (isnan(known)) {
        double row[12];
        ss_contact_sliding_row(contact, contact->normal, row);
        double speed = ss_rows_speed(contact->pair, row, rows->free_velocity) + contact->offset;
        known = fmax(-speed, 0.0) / (ss_rows_inverse_mass(rows, contact->pair, row) + contact->compliance);
    } else {
        known = fmax(known, 0.0);
    }
    problem->upper[i] = mu * known;
    problem->lower[i] = -problem->upper[i];
}

static void add_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                        ss_problem_builder *builder)
{
    tangents t = turned_tangents_of(rows, contact, options);
    ss_block block = {.law = SS_LAW_BOX, .contact = contact->contact, .constraint = -1};
    int normal = ss_builder_add_normal(builder, contact);
    builder->problem->lower[normal] = 0.0;
    int at = 0;
    for (; at < t.count && !t.coupled[at]; at++) add_tangent(rows, contact, options, &t, at, normal, builder);
    ss_builder_close(builder, block);
    bool spins = contact->mu_torsion > 0.0;
    if (at == t.count && !spins) return;
    for (; at < t.count; at++) add_tangent(rows, contact, options, &t, at, normal, builder);
    if (spins) ss_builder_add_spin(builder, contact, normal);
    block.law = SS_LAW_COUPLED;
    ss_builder_close(builder, block);
}

static ss_contact_impulse read_contact(const ss_rows *rows, const ss_contact_row *contact,
                                       const void *options, const double *x)
{
    tangents t = turned_tangents_of(rows, contact, options);
    ss_contact_impulse impulse = {.normal = x[0]};
    for (int at = 0; at < t.count; at++) {
        bool second = t.which[at] == 1;
        impulse.tangent[0] += (second ? -t.turn[1] : t.turn[0]) * x[1 + at];
        impulse.tangent[1] += (second ? t.turn[0] : t.turn[1]) * x[1 + at];
    }
    if (contact->mu_torsion > 0.0) impulse.spin = x[1 + t.count];
    return impulse;
}

static void write_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                          const ss_contact_impulse *impulse, double *x)
{
    tangents t = turned_tangents_of(rows, contact, options);
    x[0] = impulse->normal;
    for (int at = 0; at < t.count; at++) {
        bool second = t.which[at] == 1;
        x[1 + at] = (second ? -t.turn[1] : t.turn[0]) * impulse->tangent[0] +
                    (second ? t.turn[0] : t.turn[1]) * impulse->tangent[1];
    }
    if (contact->mu_torsion > 0.0) x[1 + t.count] = impulse->spin;
}

static const ss_contact_model model = {.traits = SS_MODELS_FRICTION | SS_MODELS_TORSION | SS_MODELS_GAPS,
                                       .unknowns = count_unknowns,
                                       .add = add_contact,
                                       .read = read_contact,
                                       .write = write_contact};

const ss_formulation ss_formulation_box = {
    .name = "box",
    .summary = "mixed complementarity problem with a friction box: separate bounds per tangent",
    .reference = "Lacoursiere 2007; Enzenhoefer, Peiret, Teichmann, Kovecses 2019, Eq. 1",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .options = options_table,
    .options_size = sizeof(ss_box_options),
    .model = &model,
};
