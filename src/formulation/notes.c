/* What a formulation leaves out of a frame: one loss per kind, at the place where it was. */
#include "formulation/friction.h"
#include "formulation/model.h"

static int count_positive(const ss_rows *rows, const double *values)
{
    int count = 0;
    for (int c = 0; values && c < rows->contact_count; c++) count += values[rows->contact[c].contact] > 0.0;
    return count;
}

static void note(ss_findings *notes, const char *place, int count, const char *what)
{
    if (count) ss_findings_add(notes, SS_FINDING_LOSS, place, "%d contacts: %s", count, what);
}

void ss_model_note_losses(unsigned models, const ss_rows *rows, const ss_step_options *step,
                          ss_findings *notes)
{
    const ss_contacts *contacts = &rows->frame->contacts;
    bool by_rule = step->gap_term == SS_GAP_RESTITUTION || step->gap_term == SS_GAP_PAOLI_SCHATZMAN;
    bool bounces = models & SS_MODELS_GAPS && by_rule;
    if (!notes) return;

    /* Coupled are sliding and spinning by an ellipsoid, where there is friction of both kinds. */
    int gaps = 0, friction = 0, other_static = 0, coupled = 0, dropped_rolling = 0;
    for (int c = 0; c < rows->contact_count; c++) {
        const ss_contact_row *row = &rows->contact[c];
        int k = row->contact;
        bool slides = row->mu[0] > 0.0 || row->mu[1] > 0.0;
        gaps += contacts->gap[k] != 0.0;
        friction += slides;
        other_static += contacts->mu_static && (contacts->mu_static[k][0] != contacts->mu[k][0] ||
                                                contacts->mu_static[k][1] != contacts->mu[k][1]);
        coupled += row->spin_coupling == SS_SPIN_ELLIPSOID && row->mu_torsion > 0.0 && slides;
        dropped_rolling += ss_friction_drops_rolling(row);
    }

    if (rows->frame->subcontacts.groups > 0 && !(models & SS_MODELS_ALTERNATIVES))
        ss_findings_add(notes, SS_FINDING_LOSS, "subcontacts",
                        "%d groups: only their contacts are solved for", rows->frame->subcontacts.groups);
    note(notes, "contacts/gaps", rows->far_contacts, "gap above contact_margin, omitted");
    if (models & SS_MODELS_GAPS && step->gap_term == SS_GAP_ZERO)
        note(notes, "contacts/gaps", gaps, "nonzero gap is ignored (gap_term=zero)");
    if (!bounces)
        note(notes, "contacts/restitution", count_positive(rows, contacts->restitution),
             "restitution is ignored");
    note(notes, "contacts/mu_k", rows->capped_contacts,
         "friction coefficients above mu_max were reduced to it");
    if (!(models & SS_MODELS_FRICTION))
        note(notes, "contacts/mu_k", friction, "friction is ignored");
    else
        note(notes, "contacts/mu_s", other_static, "static friction is ignored, mu_k is used throughout");
    if (!(models & SS_MODELS_TORSION))
        note(notes, "contacts/mu_t", count_positive(rows, contacts->mu_torsion),
             "torsional friction is ignored");
    else if (!(models & SS_MODELS_SPIN_COUPLING))
        note(notes, "contacts/spin_coupling", coupled,
             "sliding and spinning are independent instead of coupled");
    if (!(models & SS_MODELS_ROLLING))
        note(notes, "contacts/mu_r", count_positive(rows, contacts->mu_rolling),
             "rolling friction is ignored");
    else
        note(notes, "contacts/mu_r", dropped_rolling,
             "rolling friction is ignored where sliding friction is 0 or infinite in one direction only");
}
