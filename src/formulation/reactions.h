/* formulation/reactions.h - impulses of joints that generalised coordinates imply, from what the bodies do.
 *
 * They are not unknowns of the problem in minimal coordinates. A body at the end of a tree has one implied
 * joint, whose impulse is what the body lacks for its momentum; then the next one towards the root has one
 * joint left. */
#ifndef FORMULATION_REACTIONS_H
#define FORMULATION_REACTIONS_H

#include <stickslip/answer.h>

typedef struct ss_reactions {
    int count;
    int (*step)[2];     /* joint, and the side of its body whose momentum says what it carries */
    double (*lacks)[6]; /* of each body of the frame: N s and N m s */
    int *first_row;     /* of each joint */
    int joint_room, body_room;
} ss_reactions;

/* Finds the order. Fails on loops of implied joints and lack of memory. */
bool ss_reactions_make(const ss_frame *frame, ss_reactions *to, ss_error *err);
void ss_reactions_free(ss_reactions *reactions);
/* answer: velocities and all other impulses; lacks: minus the momentum that these give to the bodies. */
void ss_reactions_find(ss_reactions *reactions, const ss_frame *frame, ss_answer *answer);

#endif
