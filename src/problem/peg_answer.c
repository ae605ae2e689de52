/* Answers to frames with alternatives: to and from the ordinary frame of their selection, and what the law of
 * polyhedral exact geometry says about them. */
#include "problem/peg_answer.h"

#include "frame/alternatives.h"

#include <math.h>
#include <string.h>

static const char *const modes[] = {
    [SS_PEG_OFF] = "off", [SS_PEG_SELECT] = "select", [SS_PEG_ENUMERATE] = "enumerate", [SS_PEG_ALL] = "all"};

const char *ss_peg_mode_name(ss_peg_mode mode)
{
    return modes[mode];
}

bool ss_peg_mode_find(const char *name, ss_peg_mode *mode, ss_error *err)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(name, modes[i]) != 0) continue;
        *mode = (ss_peg_mode)i;
        return true;
    }
    return ss_fail(err, SS_ERROR_USAGE, "unknown value '%s'; expected one of %s", name, SS_PEG_MODES);
}

const char *ss_peg_status_name(ss_peg_status status)
{
    static const char *const names[] = {"consistent", "held", "cycle", "jammed"};
    return names[status];
}

void ss_peg_result_free(ss_peg_result *result)
{
    ss_release(result->selection);
    ss_release(result->promoted);
    ss_release(result->origin);
    ss_frame_destroy(result->plain);
    *result = (ss_peg_result){0};
}

static void copy(void *to, const void *from, int count, size_t size)
{
    if (count > 0) memcpy(to, from, (size_t)count * size);
}

static void copy_common(const ss_answer *from, ss_answer *to)
{
    copy(to->velocity, from->velocity, to->bodies, sizeof *to->velocity);
    copy(to->row_impulse, from->row_impulse, to->rows, sizeof *to->row_impulse);
}

void ss_peg_expand(const ss_peg_result *result, const ss_answer *plain, ss_answer *answer)
{
    copy_common(plain, answer);
    copy(answer->selection, result->selection, answer->groups, sizeof *answer->selection);
    for (int c = 0; c < answer->contacts; c++) {
        answer->normal_impulse[c] = 0.0;
        memset(answer->friction_impulse[c], 0, sizeof answer->friction_impulse[c]);
        if (answer->rolling_impulse) memset(answer->rolling_impulse[c], 0, sizeof *answer->rolling_impulse);
    }
    for (int r = 0; r < answer->subcontacts; r++) {
        answer->sub_normal_impulse[r] = 0.0;
        memset(answer->sub_friction_impulse[r], 0, sizeof answer->sub_friction_impulse[r]);
        if (answer->sub_rolling_impulse)
            memset(answer->sub_rolling_impulse[r], 0, sizeof answer->sub_rolling_impulse[r]);
    }
    for (int i = 0; i < plain->contacts; i++) {
        int c = result->origin[i], r = c - answer->contacts;
        *(r < 0 ? &answer->normal_impulse[c] : &answer->sub_normal_impulse[r]) = plain->normal_impulse[i];
        memcpy(r < 0 ? answer->friction_impulse[c] : answer->sub_friction_impulse[r],
               plain->friction_impulse[i], sizeof plain->friction_impulse[i]);
        double(*rolling)[3] = r < 0 ? answer->rolling_impulse : answer->sub_rolling_impulse;
        if (rolling && plain->rolling_impulse)
            memcpy(rolling[r < 0 ? c : r], plain->rolling_impulse[i], sizeof plain->rolling_impulse[i]);
    }
}

void ss_peg_gather(const ss_answer *answer, const int *origin, ss_answer *plain)
{
    copy_common(answer, plain);
    for (int i = 0; i < plain->contacts; i++) {
        int c = origin[i], r = c - answer->contacts;
        if (r >= 0 && !answer->sub_normal_impulse) continue;
        plain->normal_impulse[i] = r < 0 ? answer->normal_impulse[c] : answer->sub_normal_impulse[r];
        memcpy(plain->friction_impulse[i],
               r < 0 ? answer->friction_impulse[c] : answer->sub_friction_impulse[r],
               sizeof plain->friction_impulse[i]);
        double(*rolling)[3] = r < 0 ? answer->rolling_impulse : answer->sub_rolling_impulse;
        if (rolling && plain->rolling_impulse)
            memcpy(plain->rolling_impulse[i], rolling[r < 0 ? c : r], sizeof plain->rolling_impulse[i]);
    }
}

/* A group without a selection is on its contacts. */
bool ss_peg_reduce(const ss_frame *frame, const ss_answer *answer, ss_peg_result *result, ss_answer **plain,
                   ss_error *err)
{
    int groups = frame->subcontacts.groups, rows = frame->subcontacts.count, contacts = frame->contacts.count;
    *result = (ss_peg_result){.selection = ss_allocate((size_t)groups, sizeof *result->selection),
                              .promoted = ss_allocate((size_t)rows, sizeof *result->promoted),
                              .origin = ss_allocate((size_t)contacts + (size_t)rows, sizeof *result->origin)};
    *plain = NULL;
    bool good = (result->selection && result->promoted && result->origin) ||
                ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d groups of contacts", groups);
    if (good) {
        for (int g = 0; g < groups; g++)
            result->selection[g] = answer->selection && answer->selection[g] > 0 ? answer->selection[g] : 0;
        for (int r = 0; r < rows; r++)
            result->promoted[r] = answer->sub_normal_impulse && answer->sub_normal_impulse[r] != 0.0;

        /* Nothing is selected, and yet further rows carry impulses: all alternatives are ordinary
         * contacts. */
        bool all = false;
        for (int r = 0; answer->sub_normal_impulse && r < rows; r++)
            all |= answer->sub_normal_impulse[r] != 0.0;
        for (int g = 0; g < groups; g++) all &= !(answer->selection && answer->selection[g] >= 0);
        result->plain = ss_frame_select(frame, all ? NULL : result->selection, all ? NULL : result->promoted,
                                        result->origin, err);
        *plain = result->plain ? ss_answer_create(result->plain, answer->rolling_impulse != NULL, err) : NULL;
        good = *plain != NULL;
    }
    if (!good) {
        ss_peg_result_free(result);
        return false;
    }
    for (int i = 0; i < (*plain)->contacts; i++) // not known, unless the answer says it
        if (result->origin[i] >= contacts) (*plain)->normal_impulse[i] = NAN;
    ss_peg_gather(answer, result->origin, *plain);
    return true;
}

bool ss_peg_measure(const ss_frame *frame, const ss_answer *answer, ss_peg_group *measured, ss_error *err)
{
    ss_groups groups;
    if (!ss_groups_make(frame, &groups, err)) return false;
    int contacts = frame->contacts.count;
    for (int g = 0; g < groups.group_count; g++) {
        ss_peg_group *to = &measured[g];
        int selected = answer->selection && answer->selection[g] > 0 ? answer->selection[g] : 0;
        if (selected >= ss_groups_alternatives(&groups, g)) selected = 0;
        *to = (ss_peg_group){.selected = selected, .contact = groups.contact[g], .size = groups.size[g]};
        to->gap = ss_groups_best_after(&groups, g, answer->velocity, &to->best);

        to->selected_gap = INFINITY;
        for (int k = groups.first_alternative[g] + selected, r = groups.first_row[k];
             r < groups.first_row[k + 1]; r++) {
            int row = groups.origin[r] - contacts;
            bool pushes = row >= 0 && answer->sub_normal_impulse && answer->sub_normal_impulse[row] != 0.0;
            if (!ss_groups_is_test(&groups, r) || pushes)
                to->selected_gap = fmin(to->selected_gap, ss_groups_gap_after(&groups, r, answer->velocity));
        }

        int begin = groups.first_row[groups.first_alternative[g]];
        int end = groups.first_row[groups.first_alternative[g + 1]];
        for (int r = begin; r < end; r++) {
            int i = groups.origin[r];
            if (i < contacts)
                to->impulse += answer->normal_impulse[i];
            else if (answer->sub_normal_impulse)
                to->impulse += answer->sub_normal_impulse[i - contacts];
        }
    }
    ss_groups_free(&groups);
    return true;
}
