/* stickslip/peg.h - polyhedral exact geometry: which of several faces keeps two convex bodies apart.
 *
 * A frame with alternatives (ss_subcontacts) says of a group of contacts that ANY of its alternatives may
 * hold at the end of the step. The law, with Phi_k the smallest gap of alternative k's points at the end of
 * the step and Phi_g the largest of the alternatives of group g:
 *
 *     Phi_g >= 0;  impulses only at points of ONE alternative s;  if there are any, Phi_s = Phi_g = 0
 *
 * It is solved by selection: one alternative per group, an ordinary frame, any formulation and any solver;
 * then groups switch and the frame is solved again, until the law holds (docs/peg.md).
 *
 * Read after answer.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_PEG_H
#define STICKSLIP_PEG_H

#include <stickslip/answer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ss_peg_mode {
    SS_PEG_OFF,       /* contacts only: what a reader sees that does not know alternatives */
    SS_PEG_SELECT,    /* start from the faces that are met on the way, switch until the law holds */
    SS_PEG_ENUMERATE, /* try all selections and take the consistent one nearest to the free motion */
    SS_PEG_ALL,       /* force points of all alternatives as ordinary contacts: for comparison */
} ss_peg_mode;
#define SS_PEG_MODES "off|select|enumerate|all"        /* their names, in this order */
SS_API const char *ss_peg_mode_name(ss_peg_mode mode); /* "select" */
/* By its name; false with an error that lists the names. */
SS_API bool ss_peg_mode_find(const char *name, ss_peg_mode *mode, ss_error *err);

typedef enum ss_peg_status {
    SS_PEG_CONSISTENT, /* the law holds */
    SS_PEG_HELD,   /* a group is held by the face it was about to cross, although it ends beyond its edge */
    SS_PEG_CYCLE,  /* no consistent selection was found; with friction there may be none */
    SS_PEG_JAMMED, /* contradictory: overlaps were left as they are, friction left out if need be */
} ss_peg_status;
SS_API const char *ss_peg_status_name(ss_peg_status status); /* "consistent" */

/* How the solver of an ordinary frame fared. */
typedef struct ss_peg_solved {
    const ss_answer *answer; /* the solver's, until it is called again */
    bool converged;
    bool ray;     /* it proved that there is no solution, or gave up for that reason */
    double error; /* of velocities, relative to those of the frame: 0 for a direct method */
} ss_peg_solved;
/* Solves an ordinary frame. origin: see ss_frame_select. False with an error stops everything. */
typedef bool ss_peg_function(const ss_frame *plain, const int *origin, ss_peg_solved *how, void *context,
                             ss_error *err);

typedef struct ss_peg_request {
    const ss_frame *frame; /* checked, with alternatives */
    ss_peg_mode mode;
    ss_peg_function *solve;
    void *context;
    const int32_t *start; /* alternative of every group to start from; NULL: chosen by the path of the step */
    const uint8_t *hold;  /* groups that do not switch; NULL: none */
    bool skip_path;       /* do not test whether the path of the step cuts through a body */
} ss_peg_request;

typedef struct ss_peg_result {
    ss_peg_status status;
    int solves;         /* ordinary frames that were solved */
    int switched;       /* groups that are not on the alternative they started from */
    int consistent;     /* enumerate: selections that satisfy the law */
    int32_t *selection; /* alternative of each group */
    uint8_t *promoted;  /* test rows of it that became contacts */
    ss_frame *plain;    /* the ordinary frame that was solved last; its answer is the solver's last one */
    int *origin;        /* where its contacts come from */
} ss_peg_result;

/* The last call of request->solve is the one whose answer counts. On failure nothing is left to free. */
SS_API bool ss_peg_solve(const ss_peg_request *request, ss_peg_result *result, ss_error *err);
SS_API void ss_peg_result_free(ss_peg_result *result);

/* The answer of an ordinary frame as one of the frame it was selected from: impulses of points that are not
 * contacts of it go to sub_normal_impulse and sub_friction_impulse. */
SS_API void ss_peg_expand(const ss_peg_result *result, const ss_answer *plain, ss_answer *answer);
/* The inverse, from a frame and its answer alone, as stored: the ordinary frame, and its answer. Both are the
 * caller's; false when out of memory. */
SS_API bool ss_peg_reduce(const ss_frame *frame, const ss_answer *answer, ss_peg_result *result,
                          ss_answer **plain, ss_error *err);

/* What the law says about one group in an answer, in metres. */
typedef struct ss_peg_group {
    double gap;          /* Phi_g: of the best alternative at the end of the step */
    double selected_gap; /* of the selected one's force points, and test points that carry impulses */
    double impulse;      /* N s: sum of the normal impulses of the group */
    int selected, best;  /* alternatives */
    int contact;         /* first contact of the group */
    double size;         /* width of the thinner body, as far as the frame tells */
} ss_peg_group;
/* groups[frame->subcontacts.groups]. Fails when out of memory. */
SS_API bool ss_peg_measure(const ss_frame *frame, const ss_answer *answer, ss_peg_group *groups,
                           ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
