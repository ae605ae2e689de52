/* frame/alternatives.h - the alternatives of a frame in order: group by group, alternative by alternative,
 * and what the law of polyhedral exact geometry (docs/peg.md) says about them. The frame must be a checked
 * one. */
#ifndef SS_FRAME_ALTERNATIVES_H
#define SS_FRAME_ALTERNATIVES_H

#include <stickslip/frame.h>

#include "linalg/vec3.h"

typedef struct ss_groups {
    const ss_frame *frame;
    int group_count, alternative_count, row_count;
    int *first_alternative; /* of each group, and one more */
    int *first_row;         /* of each alternative, and one more */
    int *origin;            /* of each row: a contact, or contacts.count + a row of subcontacts */
    int *contact;           /* of each group: its first contact */
    double *size;           /* m, of each group: width of the thinner body, as far as the frame tells */
    int island_count;       /* bodies that are connected by contacts or joints, and have groups */
    int *island;            /* of each group */
    int *body_island;       /* of each body; -1: it is in none with groups */
} ss_groups;

/* Fails only for lack of memory, and then leaves nothing to free. */
bool ss_groups_make(const ss_frame *frame, ss_groups *groups, ss_error *err);
void ss_groups_free(ss_groups *groups);

static inline int ss_groups_alternatives(const ss_groups *groups, int group)
{
    return groups->first_alternative[group + 1] - groups->first_alternative[group];
}

/* Contact `from` takes the place of contact `to`, of a frame without alternatives. */
void ss_frame_move_contact(ss_frame *frame, int from, int to);

bool ss_groups_is_test(const ss_groups *groups, int row);
double ss_groups_gap(const ss_groups *groups, int row);
ss_vec3 ss_groups_normal(const ss_groups *groups, int alternative);
/* m: the gap of a row at the end of the step, gap + h (J v + c); velocity of every body of the frame. */
double ss_groups_gap_after(const ss_groups *groups, int row, double (*velocity)[6]);
/* m: the smallest gap of an alternative's rows, now and at the end of the step. */
double ss_groups_separation(const ss_groups *groups, int alternative);
double ss_groups_separation_after(const ss_groups *groups, int alternative, double (*velocity)[6]);
/* The largest of the alternatives: negative means that the two bodies overlap. */
double ss_groups_best_after(const ss_groups *groups, int group, double (*velocity)[6], int *alternative);

/* A copy without alternatives whose contact i is contact like[i]. */
ss_frame *ss_frame_repeat_contacts(const ss_frame *frame, const int *like, int count, ss_error *err);

#endif
