/* What a cone problem made from a frame cannot tell any more: one loss per kind, at the place where it was. */
#include "formulation/cone_layout.h"

#include <math.h>
#include <stdio.h>

typedef struct teller {
    const ss_frame *frame;
    const ss_cone_options *options;
    const ss_cone_layout *layout;
    ss_cone_form form;
    const char *place;
    ss_findings *losses;
} teller;

SS_PRINTF(3, 4) static void lose(const teller *tell, const char *name, const char *format, ...)
{
    char what[300], where[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "%s/%s", tell->place, name);
    ss_findings_add(tell->losses, SS_FINDING_LOSS, where, "%s", what);
}

static int count_nonzero(const double *values, int count)
{
    int nonzero = 0;
    for (int i = 0; values && i < count; i++) nonzero += values[i] != 0.0;
    return nonzero;
}

/* ---- always ----------------------------------------------------------------------------------------- */

static bool ids_are_default(const ss_bodies *bodies)
{
    for (int b = 0; b < bodies->count; b++) {
        if (bodies->id[b] != b + 1) return false;
    }
    return true;
}

static void tell_bodies(const teller *tell)
{
    const ss_bodies *bodies = &tell->frame->bodies;
    int still = bodies->count - tell->layout->dofs / 6;
    lose(tell, "bodies/positions", "positions and orientations are not stored");
    lose(tell, "bodies/forces", "velocities, forces and h only as their sum M v + h f%s",
         tell->form == SS_CONE_LOCAL ? ", and that only as its effect on the contacts" : "");
    if (tell->form == SS_CONE_LOCAL)
        lose(tell, "bodies/masses", "masses and inertias only as their effect on the contacts");
    if (still) lose(tell, "bodies/states", "%d bodies that do not move count as the world", still);
    if (!ids_are_default(bodies)) lose(tell, "bodies/ids", "ids are not stored");
    if (!isnan(tell->frame->time)) lose(tell, "time", "the time of the frame is not stored");
}

static void tell_gaps(const teller *tell)
{
    const ss_contacts *contacts = &tell->frame->contacts;
    int nonzero = count_nonzero(contacts->gap, contacts->count);
    if (tell->options->gap_term != SS_GAP_ZERO)
        lose(tell, "contacts/gaps", "gap and h only as a normal velocity");
    else if (nonzero)
        lose(tell, "contacts/gaps", "%d gaps that are not 0 are left out (gap_term=zero)", nonzero);
}

static void tell_contacts(const teller *tell)
{
    const ss_contacts *contacts = &tell->frame->contacts;
    bool local = tell->form == SS_CONE_LOCAL;
    if (contacts->count == 0) return;
    lose(tell, "contacts/points", "points, normals and tangents %s",
         local ? "are not stored" : "only inside H");
    if (contacts->lever_arm)
        lose(tell, "contacts/lever_arms", "lever arms %s", local ? "are not stored" : "only inside H");
    if (local) lose(tell, "contacts/pairs", "which bodies touch is not stored");
    if (tell->layout->idle_contacts)
        lose(tell, "contacts/pairs", "%d contacts between bodies that do not move are left out",
             tell->layout->idle_contacts);
    tell_gaps(tell);
}

/* ---- friction --------------------------------------------------------------------------------------- */

static void tell_anisotropy(const teller *tell)
{
    const ss_contacts *contacts = &tell->frame->contacts;
    int count = 0, worst = 0;
    double largest = 0.0;
    for (int c = 0; c < contacts->count; c++) {
        double difference = fabs(contacts->mu[c][0] - contacts->mu[c][1]);
        if (!(difference > 0.0)) continue; // equal, or both infinite
        count++;
        if (difference > largest) {
            largest = difference;
            worst = c;
        }
    }
    if (count)
        lose(tell, "contacts/mu_k",
             "%d contacts differ in the two directions (most: [%d], %g and %g); the mean is used", count,
             worst, contacts->mu[worst][0], contacts->mu[worst][1]);
}

static void tell_friction(const teller *tell)
{
    const ss_contacts *contacts = &tell->frame->contacts;
    double cap = tell->options->mu_max;
    int capped = 0;
    tell_anisotropy(tell);
    for (int c = 0; cap > 0.0 && c < contacts->count; c++) {
        capped += 0.5 * (contacts->mu[c][0] + contacts->mu[c][1]) > cap;
    }
    if (capped) lose(tell, "contacts/mu_k", "%d coefficients above mu_max became %g", capped, cap);
    if (contacts->mu_static && contacts->count)
        lose(tell, "contacts/mu_s", "static friction is left out; mu_k is used throughout");
    int bouncing = count_nonzero(contacts->restitution, contacts->count);
    if (bouncing && tell->options->gap_term != SS_GAP_RESTITUTION)
        lose(tell, "contacts/restitution", "restitution of %d contacts is left out", bouncing);
    else if (bouncing)
        lose(tell, "contacts/restitution", "restitution only as a normal velocity");
    int soft = count_nonzero(contacts->compliance, contacts->count);
    if (soft && tell->form == SS_CONE_GLOBAL)
        lose(tell, "contacts/compliance", "compliance of %d contacts is left out; the local form can hold it",
             soft);
}

/* ---- constraints ------------------------------------------------------------------------------------ */

static void tell_rows(const teller *tell)
{
    const ss_constraints *constraints = &tell->frame->constraints;
    const ss_cone_layout *layout = tell->layout;
    if (constraints->row_count == 0) return;
    lose(tell, "constraints/violations",
         "violation, its rate and h only as a velocity, joint error times gamma = %g", tell->options->gamma);
    if (tell->form == SS_CONE_LOCAL)
        lose(tell, "constraints/Jacobian", "joints only as their effect on the contacts");
    if (layout->limits)
        lose(tell, "constraints/bounds", "%d limits became contacts without friction", layout->limits);
    if (layout->dropped)
        lose(tell, "constraints/bounds", "%d rows with other bounds (motors, joint friction) are left out",
             layout->dropped);
    if (layout->idle_rows)
        lose(tell, "constraints/pairs", "%d rows between bodies that do not move are left out",
             layout->idle_rows);
    int soft = count_nonzero(constraints->regularization, constraints->row_count);
    if (soft && tell->form == SS_CONE_GLOBAL)
        lose(tell, "constraints/regularization",
             "regularisation of %d rows is left out; the local form can hold it", soft);
}

void ss_cone_tell_losses(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                         ss_cone_form form, const char *place, ss_findings *losses)
{
    teller tell = {frame, options, layout, form, place, losses};
    if (!losses) return;
    tell_bodies(&tell);
    tell_contacts(&tell);
    tell_friction(&tell);
    tell_rows(&tell);
}
