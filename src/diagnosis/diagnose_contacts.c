/* Contacts that are hard: between heavy and light bodies, with much friction, or there many times. */
#include "diagnosis/diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "problem/laws.h"

/* ---- masses ----------------------------------------------------------------------------------------- */

static const double uneven = 1e3, extreme = 1e5; /* mass ratios that are told and warned of */

typedef struct spread {
    double least, most; /* 1/kg: of the bodies that rows act on */
    double ratio;       /* largest of two bodies that touch */
    int unknown;        /* where, -1 = nowhere */
} spread;

static spread spread_of_bodies(const ss_problem *problem)
{
    const ss_bodies_form *form = problem->bodies;
    spread of = {.least = INFINITY, .ratio = 1.0, .unknown = -1};
    for (int i = 0; i < problem->size; i++) {
        double own[2] = {0};
        for (int side = 0; side < 2; side++) {
            int body = form->pair[i][side];
            if (body < 0 || !(form->inverse_mass[body] > 0.0)) continue;
            own[side] = form->inverse_mass[body];
            of.least = fmin(of.least, own[side]);
            of.most = fmax(of.most, own[side]);
        }
        if (!(own[0] > 0.0 && own[1] > 0.0)) continue;
        double ratio = fmax(own[0] / own[1], own[1] / own[0]);
        if (ratio > of.ratio) of.ratio = ratio, of.unknown = i;
    }
    return of;
}

/* Without bodies, the normal rows of cones tell: a_NN is about 1/m. */
static spread spread_of_diagonal(const ss_problem *problem)
{
    spread of = {.least = INFINITY, .ratio = 1.0, .unknown = -1};
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        double a = block->size ? problem->diagonal[block->first] : 0.0;
        if (!ss_law_is_cone(block->law) || !(a > 0.0)) continue;
        if (a < of.least) of.least = a, of.unknown = block->first;
        of.most = fmax(of.most, a);
    }
    return of;
}

void ss_diagnose_masses(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    spread of = problem->bodies ? spread_of_bodies(problem) : spread_of_diagonal(problem);
    double ratio = of.most > 0.0 ? of.most / of.least : 1.0;
    if (!(ratio >= uneven)) return;
    if (problem->bodies)
        ss_text_appendf(&d->text, "the heaviest body has %.3g times the mass of the lightest", ratio);
    else
        ss_text_appendf(&d->text, "a_NN of the contacts differs by a factor of %.3g", ratio);
    if (problem->bodies && of.ratio >= uneven) {
        ss_text_appendf(&d->text, "; %.3g meet at ", of.ratio);
        ss_name_unknown(problem, of.unknown, &d->text);
        ss_name_bodies(d, of.unknown, &d->text);
    }
    bool touching = problem->bodies ? of.ratio >= extreme : ratio >= extreme;
    ss_diagnosing_tell(d, touching ? SS_SEVERITY_WARNING : SS_SEVERITY_NOTE, SS_DEFECT_MASSES, 1, ratio,
                       of.unknown,
                       "where heavy bodies rest on light ones, sweeps need about as many iterations as "
                       "the mass ratio: use a direct or Newton method (interior-point, minmap-newton, "
                       "admm) or auto");
}

/* ---- friction --------------------------------------------------------------------------------------- */

typedef struct worst_friction {
    int large, endless, jams;     /* contacts */
    double most, critical;        /* largest finite mu; smallest mu that jams */
    int at_most, at_endless, jam; /* unknowns, -1 = none */
    double jam_mu;
} worst_friction;

static void note_jam(worst_friction *of, double mu, double normal, double coupling, int unknown)
{
    if (!(normal > 0.0) || !(coupling > 0.0)) return;
    double critical = normal / coupling;
    if (!(mu > critical * (1.0 + 1e-9))) return; // equal but for rounding does not jam
    of->jams++;
    if (of->jam >= 0 && critical >= of->critical) return;
    of->critical = critical;
    of->jam = unknown;
    of->jam_mu = mu;
}

static void note_mu(worst_friction *of, double mu, int unknown)
{
    if (isinf(mu)) {
        if (of->endless++ == 0) of->at_endless = unknown;
        return;
    }
    of->large += mu > 1.0;
    if (mu > of->most) of->most = mu, of->at_most = unknown;
}

void ss_diagnose_friction(ss_diagnosing *d)
{
    const ss_problem *problem = d->problem;
    worst_friction of = {.at_most = -1, .at_endless = -1, .jam = -1};
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        int n = block->first, end = block->first + block->size;
        bool is_cone = block->size > 1 && block->law == SS_LAW_CONE;
        if (is_cone || (block->size > 1 && block->law == SS_LAW_CONVEX)) note_mu(&of, block->mu, n);

        // Sliding makes an impulse mu nu against it; then du_N = (a_NN - mu |a_NT|) nu in the worst
        // direction.
        if (is_cone && !isinf(block->mu)) {
            double sum = 0.0;
            for (int i = n + 1; i < end && i < n + 3; i++) {
                double a = ss_entry_of(problem, n, i);
                sum += a * a;
            }
            note_jam(&of, block->mu, problem->diagonal[n], sqrt(sum), n);
        }

        // The same by rows whose bounds follow one normal; those of joints have no contact.
        if (block->size > 0 && block->law == SS_LAW_COUPLED && block->contact >= 0) {
            int partner = problem->partner[n], followers = 0;
            double mu = 0.0, reach = 0.0;
            for (int i = n; i < end && problem->partner[i] == partner; i++, followers++) {
                mu = fmax(mu, problem->factor[i]);
                reach += problem->factor[i] * fabs(ss_entry_of(problem, partner, i));
            }
            if (followers < block->size) continue;
            note_mu(&of, mu, n);
            if (mu > 0.0) note_jam(&of, mu, problem->diagonal[partner], reach / mu, n);
        }
    }

    if (of.large) {
        ss_name_count(&d->text, of.large, "contact");
        ss_text_append(&d->text, of.large == 1 ? " has" : " have");
        ss_text_append(&d->text, " a friction coefficient above 1, the largest is ");
        ss_name_unknown(d->problem, of.at_most, &d->text);
        ss_name_bodies(d, of.at_most, &d->text);
        ss_text_appendf(&d->text, " with %.3g", of.most);
        bool blinding = of.most > 1e5; // the dual cone is thinner than the usual tolerances
        ss_diagnosing_tell(
            d, blinding ? SS_SEVERITY_WARNING : SS_SEVERITY_NOTE, SS_DEFECT_FRICTION, of.large, of.most,
            of.at_most,
            blinding
                ? "cones this wide hide errors from every gauge: a free fall may count as converged, and "
                  "a good answer may not; infinite friction (inf in frames) or mu_max=100 is safe"
                : "bodies pressed into a groove may jam; less friction (mu_max=1 in the formulation) "
                  "avoids it");
    }
    if (of.endless) {
        ss_name_count(&d->text, of.endless, "contact");
        ss_text_append(&d->text, of.endless == 1 ? " has" : " have");
        ss_text_append(&d->text, " infinite friction, the first is ");
        ss_name_unknown(d->problem, of.at_endless, &d->text);
        ss_name_bodies(d, of.at_endless, &d->text);
        ss_diagnosing_tell(
            d, SS_SEVERITY_NOTE, SS_DEFECT_GLUE, of.endless, INFINITY, of.at_endless,
            "such contacts never slide; if two of them hold a body that must move, there is no solution");
    }
    if (of.jams) {
        ss_name_count(&d->text, of.jams, "contact");
        ss_text_append(&d->text, " can jam while sliding: at ");
        ss_name_unknown(d->problem, of.jam, &d->text);
        ss_name_bodies(d, of.jam, &d->text);
        ss_text_appendf(
            &d->text,
            ", mu = %.3g, friction above %.3g reverses the response to the normal impulse (Painleve)",
            of.jam_mu, of.critical);
        ss_diagnosing_tell(d, SS_SEVERITY_WARNING, SS_DEFECT_PAINLEVE, of.jams, of.critical, of.jam,
                           "there may be several solutions or none: use less friction, or the convex "
                           "formulation, which always has one");
    }
}

/* ---- duplicates ------------------------------------------------------------------------------------- */

typedef struct print { /* of the rows of one block */
    uint64_t digest;
    int block;
} print;

static int compare_prints(const void *left, const void *right)
{
    const print *a = left, *b = right;
    if (a->digest != b->digest) return a->digest < b->digest ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

/* Seven digits: contacts whose places differ by rounding are the same. */
static void digest_number(ss_digest *digest, double value)
{
    ss_digest_add(digest, (ss_digest_word(value) + (UINT64_C(1) << 27)) >> 28);
}

bool ss_diagnose_duplicates(ss_diagnosing *d)
{
    static const int many = 100;
    const ss_problem *problem = d->problem;
    print *prints = ss_allocate((size_t)problem->block_count, sizeof *prints);
    if (!prints) return false;
    int contacts = 0, copies = 0, most = 0, worst = -1;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool is_contact = ss_law_is_cone(block->law) || (block->law == SS_LAW_BOX && block->contact >= 0);
        if (block->size == 0 || !is_contact || !(problem->diagonal[block->first] > 0.0)) continue;

        // A print of its rows: bodies and Jacobian, or entries of A.
        ss_digest digest = ss_digest_start();
        const ss_bodies_form *form = problem->bodies;
        const ss_sparse *A = problem->A;
        ss_digest_add(&digest, (uint64_t)block->size);
        for (int i = block->first; i < block->first + block->size; i++) {
            for (int side = 0; form && side < 2; side++) {
                ss_digest_add(&digest, (uint64_t)(form->pair[i][side] + 1));
                for (int c = 0; form->pair[i][side] >= 0 && c < 6; c++)
                    digest_number(&digest, form->jacobian[i][6 * side + c]);
            }
            for (int e = form ? 0 : A->start[i]; !form && e < A->start[i + 1]; e++) {
                if (A->value[e] == 0.0) continue;
                ss_digest_add(&digest, (uint64_t)A->row[e]);
                digest_number(&digest, A->value[e]);
            }
        }
        prints[contacts++] = (print){digest.a, k};
    }
    qsort(prints, (size_t)contacts, sizeof *prints, compare_prints);
    for (int i = 0, end; i < contacts; i = end) {
        for (end = i + 1; end < contacts && prints[end].digest == prints[i].digest;) end++;
        copies += end - i - 1;
        if (end - i > most) most = end - i, worst = prints[i].block;
    }
    if (copies) {
        int unknown = problem->blocks[worst].first;
        ss_name_count(&d->text, copies, "contact");
        ss_text_appendf(&d->text, " of %d duplicate%s an earlier one, with the same point and directions; ",
                        contacts, copies == 1 ? "s" : "");
        ss_name_unknown(problem, unknown, &d->text);
        ss_name_bodies(d, unknown, &d->text);
        ss_text_appendf(&d->text, " occurs %d times", most);
        ss_diagnosing_tell(d,
                           copies >= many && 2 * copies >= contacts ? SS_SEVERITY_WARNING : SS_SEVERITY_NOTE,
                           SS_DEFECT_DUPLICATES, copies, most, unknown,
                           "keep one of each; how an impulse is shared among duplicates is arbitrary");
    }
    ss_release(prints);
    return true;
}
