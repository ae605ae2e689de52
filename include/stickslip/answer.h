/* stickslip/answer.h - the physical answer of one step: velocities and impulses, by any solver.
 *
 * A formulation recovers it from the numbers of a solver, an engine's recorder stores it, and metrics see
 * nothing else besides the frame. Impulses are in N s, moments of impulses in N m s, all in the world frame.
 *
 * Read after frame.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_ANSWER_H
#define STICKSLIP_ANSWER_H

#include <stickslip/base.h>
#include <stickslip/frame.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_answer {
    int bodies, rows, contacts; /* of the frame */
    double (*velocity)[6];      /* m/s and rad/s of every body, after the step */
    double *row_impulse;        /* lambda of every constraint row */
    double *normal_impulse;     /* nu of every contact, on body b along the normal; >= 0 unless it is wrong */
    double (*friction_impulse)[3]; /* of every contact, on body b */
    /* moment of rolling friction on body b, along the normal that of torsional friction; NULL if neither is
     * modelled */
    double (*rolling_impulse)[3];
    /* of a frame with alternatives (stickslip/peg.h); else 0 and NULL */
    int groups, subcontacts;
    int32_t *selection;                /* alternative of every group; -1: alternatives were not looked at */
    double *sub_normal_impulse;        /* of every further row, as normal_impulse */
    double (*sub_friction_impulse)[3]; /* as friction_impulse */
    double (*sub_rolling_impulse)[3];  /* as rolling_impulse; NULL if not modelled */
    /* of a frame with generalised coordinates; else 0 and NULL */
    int coordinates;
    double *generalized_velocity; /* after the step; NaN: not known, as in maximal coordinates */
} ss_answer;

/* Is there rolling or torsional friction, so that contacts have moments? */
SS_API bool ss_frame_has_moments(const ss_frame *frame);
/* All zero, every selection -1; `rolling` allocates the moments of rolling and torsional friction. */
SS_API ss_answer *ss_answer_create(const ss_frame *frame, bool rolling, ss_error *err);
SS_API void ss_answer_destroy(ss_answer *answer);
/* All velocities and impulses are known: what a file leaves out is NaN. False for NULL. */
SS_API bool ss_answer_is_complete(const ss_answer *answer);

/* Which contact of a frame starts from which one of the frame before. */
typedef enum ss_carry {
    SS_CARRY_MATCHED, /* the nearest one between the same two bodies, by their ids, that is not taken */
    SS_CARRY_BY_PLACE /* the one at the same place in the list, whatever it is */
} ss_carry;
/* The impulses of an answer to `before` as a start for `frame`; contacts without a counterpart start from
 * zero, joint rows too, unless there are as many as before. NULL only when out of memory. */
SS_API ss_answer *ss_answer_carry(const ss_frame *before, const ss_answer *answer, const ss_frame *frame,
                                  ss_carry how, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
