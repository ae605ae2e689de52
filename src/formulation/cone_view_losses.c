#include "formulation/cone_view.h"

#include "formulation/friction.h"

#include <math.h>
#include <stdio.h>

/* Where losses go, and under which name of the frame. */
typedef struct loss_list {
    const char *place;
    ss_findings *findings;
} loss_list;

SS_PRINTF(3, 4) static void lose(const loss_list *to, const char *name, const char *format, ...)
{
    char what[300], where[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "%s/%s", to->place, name);
    ss_findings_add(to->findings, SS_FINDING_LOSS, where, "%s", what);
}

static int count_nonzero(const double *values, int count)
{
    int nonzero = 0;
    for (int i = 0; values && i < count; i++) nonzero += values[i] != 0.0;
    return nonzero;
}

static bool ids_are_default(const ss_bodies *bodies)
{
    for (int b = 0; b < bodies->count; b++) {
        if (bodies->id[b] != b + 1) return false;
    }
    return true;
}

static void lose_bodies(const loss_list *to, const ss_rows *rows, bool local)
{
    const ss_bodies *bodies = &rows->frame->bodies;
    int still = bodies->count - rows->body_count;
    lose(to, "bodies/positions", "positions and orientations are not stored");
    lose(to, "bodies/forces", "velocities, forces and h only as their sum M v + h f%s",
         local ? ", and that only as its effect on the contacts" : "");
    if (local) lose(to, "bodies/masses", "masses and inertias only as their effect on the contacts");
    if (still) lose(to, "bodies/states", "%d bodies that do not move become part of the world", still);
    if (!ids_are_default(bodies)) lose(to, "bodies/ids", "ids are not stored");
    if (!isnan(rows->frame->time)) lose(to, "time", "the time of the frame is not stored");
}

static void lose_gaps(const loss_list *to, const ss_contacts *contacts, const ss_step_options *step)
{
    int nonzero = count_nonzero(contacts->gap, contacts->count);
    int bouncing = count_nonzero(contacts->restitution, contacts->count);
    if (step->gap_term != SS_GAP_ZERO)
        lose(to, "contacts/gaps", "gap and h only as a normal velocity");
    else if (nonzero)
        lose(to, "contacts/gaps", "%d nonzero gaps are ignored (gap_term=zero)", nonzero);
    bool bounces = step->gap_term == SS_GAP_RESTITUTION || step->gap_term == SS_GAP_PAOLI_SCHATZMAN;
    if (bouncing && !bounces)
        lose(to, "contacts/restitution", "restitution of %d contacts is ignored", bouncing);
    else if (bouncing)
        lose(to, "contacts/restitution", "restitution only as a normal velocity");
}

static void lose_contacts(const loss_list *to, const ss_cone_view *view, const ss_step_options *step,
                          bool local)
{
    const ss_rows *rows = view->rows;
    const ss_contacts *contacts = &rows->frame->contacts;
    int idle = contacts->count - rows->contact_count - rows->far_contacts, no_rolling = 0;
    int soft = count_nonzero(contacts->compliance, contacts->count);
    if (contacts->count == 0) return;
    const char *stored = local ? "are not stored" : "only inside H";
    lose(to, "contacts/points", "points, normals and tangents %s", stored);
    if (contacts->lever_arm) lose(to, "contacts/lever_arms", "lever arms %s", stored);
    if (local) lose(to, "contacts/pairs", "which bodies touch is not stored");
    if (idle) lose(to, "contacts/pairs", "%d contacts between bodies that do not move are omitted", idle);
    if (rows->far_contacts)
        lose(to, "contacts/gaps", "%d contacts with a gap above contact_margin are omitted",
             rows->far_contacts);
    lose_gaps(to, contacts, step);

    if (rows->capped_contacts)
        lose(to, "contacts/mu_k", "%d friction coefficients above mu_max were reduced to %g",
             rows->capped_contacts, step->mu_max);
    if (contacts->mu_static) lose(to, "contacts/mu_s", "static friction is ignored; mu_k is used throughout");
    for (int c = 0; c < rows->contact_count; c++) no_rolling += ss_friction_drops_rolling(&rows->contact[c]);
    if (no_rolling)
        lose(to, "contacts/mu_r",
             "rolling friction is ignored at %d contacts whose sliding friction is 0 or infinite in one "
             "direction only",
             no_rolling);
    if (view->spins) lose(to, "contacts/mu_t", "torsional friction of %d contacts is omitted", view->spins);
    if (soft && !local)
        lose(to, "contacts/compliance", "compliance of %d contacts is omitted; the local form can hold it",
             soft);
}

static void lose_rows(const loss_list *to, const ss_cone_view *view, const ss_step_options *step, bool local)
{
    const ss_constraints *constraints = &view->rows->frame->constraints;
    if (constraints->row_count == 0) return;

    /* In minimal coordinates, joints that T fulfils are in it, and springs and rotors are in M and f. */
    int implied[3] = {0}, soft = 0;
    for (int k = 0, row = 0; k < constraints->count; k++) {
        int how = view->rows->minimal && constraints->implied ? constraints->implied[k] : SS_IMPLIED_NOT;
        implied[how] += constraints->rows[k];
        for (int end = row + constraints->rows[k]; row < end; row++)
            soft += how == SS_IMPLIED_NOT && constraints->regularization &&
                    constraints->regularization[row] != 0.0;
    }
    int left = implied[SS_IMPLIED_NOT], idle = left - view->rows->joint_count;
    if (implied[SS_IMPLIED_BY_T])
        lose(to, "constraints/implied", "joints of trees only as the map T (%d rows)",
             implied[SS_IMPLIED_BY_T]);
    if (implied[SS_IMPLIED_BY_MASS])
        lose(to, "constraints/implied",
             "springs, dampers and rotors of trees only as part of M and f (%d rows)",
             implied[SS_IMPLIED_BY_MASS]);
    if (left == 0) return;
    lose(to, "constraints/violations",
         "violation, its rate and h only as a velocity, joint error times joint_gamma = %g",
         step->joint_gamma);
    if (local) lose(to, "constraints/Jacobian", "joints only as their effect on the contacts");
    if (view->limits)
        lose(to, "constraints/bounds", "limits become contacts without friction (%d)", view->limits);
    if (view->dropped)
        lose(to, "constraints/bounds", "rows with other bounds (motors, joint friction) are omitted (%d)",
             view->dropped);
    if (idle) lose(to, "constraints/pairs", "rows between bodies that do not move are omitted (%d)", idle);
    if (soft && !local)
        lose(to, "constraints/regularization",
             "regularisation of rows is omitted (%d); the local form can hold it", soft);
}

void ss_cone_view_losses(const ss_cone_view *view, const ss_step_options *step, ss_cone_form form,
                         const char *place, ss_findings *losses)
{
    loss_list to = {place, losses};
    bool local = form == SS_CONE_LOCAL;
    if (!losses) return;
    lose_bodies(&to, view->rows, local);
    lose_contacts(&to, view, step, local);
    lose_rows(&to, view, step, local);
}
