/* Answers to frames with alternatives (docs/peg.md). All metrics but three are those of the ordinary frame of
 * the selection. Overlap is that of the best alternative of each group, because the bodies are apart if any
 * holds; and two metrics say what only this law forbids: to push where the bodies end apart, and to push
 * along a face that is not the one they touch with. */
#include "metrics/judgement.h"

#include <stickslip/peg.h>

#include <math.h>
#include <string.h>

/* Of the thinner body's width: a selected face this much below the best one is another face. */
static const double touching = 1e-6;
/* Of the largest impulse of a group: less is rounding of a solver. */
static const double no_impulse = 1e-12;

void ss_metrics_no_alternatives(ss_judgement *judgement)
{
    ss_metric_refuse(judgement, SS_METRIC_open_push, "no alternatives");
    ss_metric_refuse(judgement, SS_METRIC_inactive_push, "no alternatives");
}

typedef struct depth {
    double sum, most;
    int contact;
} depth;

static void add_depth(depth *to, double gap, int contact)
{
    if (!(gap < 0.0)) return;
    to->sum += gap * gap;
    if (-gap <= to->most) return;
    to->most = -gap;
    to->contact = contact;
}

static void judge_groups(const ss_frame *frame, const ss_answer *answer, const ss_peg_group *groups,
                         ss_metric_value *values)
{
    ss_judgement judged = {.frame = frame, .answer = answer, .values = values}, *to = &judged;
    depth overlap = {.contact = -1};
    double push = 0.0, worst = 0.0, most = 0.0;
    int inactive = 0, worst_contact = -1, inactive_contact = -1;
    for (int c = 0; c < frame->contacts.count; c++) {
        const int *pair = frame->contacts.pair[c];
        bool moves = ss_frame_is_live(frame, pair[0]) || ss_frame_is_live(frame, pair[1]);
        if (moves && frame->subcontacts.contact_group[c] < 0)
            add_depth(&overlap, ss_contact_gap_after(to, c), c);
    }
    for (int g = 0; g < frame->subcontacts.groups; g++) most = fmax(most, groups[g].impulse);
    for (int g = 0; g < frame->subcontacts.groups; g++) {
        const ss_peg_group *group = &groups[g];
        add_depth(&overlap, group->gap, group->contact);
        if (!(group->impulse > no_impulse * most)) continue;
        double part = group->impulse * fmax(0.0, group->gap) / frame->h;
        push += part;
        if (part > worst) {
            worst = part;
            worst_contact = group->contact;
        }
        if (group->selected_gap < group->gap - touching * group->size) {
            inactive++;
            inactive_contact = group->contact;
        }
    }

    ss_metric_set(to, SS_METRIC_penetration, sqrt(overlap.sum), overlap.contact, -1);
    ss_metric_set(to, SS_METRIC_penetration_max, overlap.most, overlap.contact, -1);
    ss_metric_set(to, SS_METRIC_open_push, push, worst_contact, -1);
    ss_metric_set(to, SS_METRIC_inactive_push, inactive, inactive_contact, -1);
}

/* Worst contacts and reports of the ordinary frame, in terms of the other: a further row counts as the first
 * contact of its group. */
static void map_back(const ss_frame *frame, const ss_peg_result *result, const ss_peg_group *groups,
                     const ss_contact_report *plain, ss_metric_value *values, ss_contact_report *contacts)
{
    for (int i = 0; i < ss_metric_count(); i++) {
        int at = values[i].worst_contact;
        if (at < 0) continue;
        int c = result->origin[at], r = c - frame->contacts.count;
        values[i].worst_contact = r < 0 ? c : groups[frame->subcontacts.group[r]].contact;
    }
    if (!contacts) return;
    if (frame->contacts.count) memset(contacts, 0, (size_t)frame->contacts.count * sizeof *contacts);
    for (int i = 0; i < result->plain->contacts.count; i++) {
        int c = result->origin[i], r = c - frame->contacts.count;
        if (r < 0) {
            contacts[c] = plain[i];
        } else { // several rows may stand for one contact: errors add up, and the first not open counts
            ss_contact_report *to = &contacts[groups[frame->subcontacts.group[r]].contact];
            double energy = to->energy + plain[i].energy;
            if (to->status == SS_CONTACT_OPEN) *to = plain[i];
            to->energy = energy;
        }
    }
}

bool ss_judge_alternatives(const ss_frame *frame, const ss_step_options *step, const ss_answer *answer,
                           bool skip_exact, ss_metric_value *values, ss_contact_report *contacts,
                           ss_error *err)
{
    ss_peg_result result;
    ss_answer *plain;
    if (!ss_peg_reduce(frame, answer, &result, &plain, err)) return false;
    size_t count = (size_t)result.plain->contacts.count;
    ss_contact_report *reports = ss_allocate(count, sizeof *reports);
    ss_peg_group *groups = ss_allocate((size_t)frame->subcontacts.groups, sizeof *groups);
    bool good =
        (reports && groups) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %zu contacts", count);
    good = good &&
           (skip_exact ? ss_judge_frame : ss_judge_frame_exactly)(result.plain, step, plain, values, reports,
                                                                  err) &&
           ss_peg_measure(frame, answer, groups, err);

    if (good) {
        map_back(frame, &result, groups, reports, values, contacts);
        bool selects = false; // then a group without a selection is on its contacts
        for (int g = 0; answer->selection && g < frame->subcontacts.groups; g++)
            selects |= answer->selection[g] >= 0;
        if (selects) judge_groups(frame, answer, groups, values);
    }
    ss_release(reports);
    ss_release(groups);
    ss_answer_destroy(plain);
    ss_peg_result_free(&result);
    return good;
}
