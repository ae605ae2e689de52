/* stickslip/formulation.h - from a frame to a problem and back, one formulation owning both directions.
 *
 * `assemble` turns a checked frame into a problem; `recover` turns the solver's numbers into the physical
 * answer. Metrics see only frame and answer, so that every formulation is judged by one yardstick.
 */
#ifndef STICKSLIP_FORMULATION_H
#define STICKSLIP_FORMULATION_H

#include <stickslip/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of the gap in the normal row  u_N = n . (v_b - v_a) + term >= 0. */
typedef enum ss_gap_term {
    SS_GAP_PREVENTIVE, /* gap / h: contact may be reached, not crossed, within the step (Stewart-Trinkle) */
    SS_GAP_ZERO,       /* 0: velocity level (Anitescu-Potra, Moreau) */
    SS_GAP_STABILISED, /* max(gap, 0) / h + gamma min(gap + slop, 0) / h: overlap is removed gently, up to the slop not at
                          all, and of the last slop of a gap the share gamma */
    SS_GAP_RESTITUTION /* e u_N-, Newton's law, at contacts hit within the step (gap + h min(u_N-, 0) <= 0) faster
                          than restitution_speed; as stabilised at the others */
} ss_gap_term;

/* What becomes of the error g of a joint's equations  J v+ + term = 0; limits that are violated go by joint_gamma,
 * those still open count their distance in full. */
typedef enum ss_joint_term {
    SS_JOINT_STABILISED, /* joint_gamma g / h (Baumgarte) */
    SS_JOINT_ZERO,       /* 0: velocity level, positions drift or are corrected elsewhere */
    SS_JOINT_SPOOK,      /* Y (4 g / h - J v), Y = 1 / (1 + 4 joint_relaxation): damped (Lacoursiere 2007) */
} ss_joint_term;

/* ---- formulations ----------------------------------------------------------------------------------- */

/* What all formulations share about the step. Every option struct of a formulation begins with it. */
typedef struct ss_step_options {
    int gap_term;             /* ss_gap_term: preventive by default */
    double gamma;             /* share of an overlap removed in one step */
    double restitution_speed; /* m/s: slower approaches do not bounce */
    double contact_margin;    /* m: contacts with a larger gap are left out; inf = all */
    double mu_max;           /* larger friction coefficients, infinity included, become this; 0 = they stay */
    int joint_term;          /* ss_joint_term */
    double joint_gamma;      /* share of joint errors removed in one step */
    double joint_relaxation; /* steps: relaxation time of SS_JOINT_SPOOK in units of h */
    double
        slop; /* m: SS_GAP_STABILISED lets overlaps up to it stand, and closes the last of a gap gently, so that
                    the error of one step is not the load of the next */
} ss_step_options;

typedef struct ss_formulation {
    const char *name;      /* "stewart-trinkle" */
    const char *summary;   /* one line */
    const char *reference; /* paper and equation */
    unsigned laws;         /* ss_law, or-ed: what its problems may contain */
    const ss_option *options;
    size_t options_size;
    /* A checked frame always assembles. notes gets what the formulation cannot express (losses). */
    ss_problem *(*assemble)(const ss_frame *frame, const void *options, ss_findings *notes, ss_error *err);
    /* answer was made by ss_answer_create(frame). v+ is recomputed from the impulses. */
    bool (*recover)(const ss_frame *frame, const void *options, const ss_problem *problem, const double *x,
                    ss_answer *answer, ss_error *err);
    /* A start from a known answer (warm start); NULL when the formulation has none. */
    bool (*guess)(const ss_frame *frame, const void *options, const ss_problem *problem,
                  const ss_answer *answer, double *x, ss_error *err);
} ss_formulation;

SS_API int ss_formulation_count(void);
SS_API const ss_formulation *ss_formulation_at(int index);
SS_API const ss_formulation *ss_formulation_find(const char *name);

/* ---- FCLIB's form of the problem, for conversion ---------------------------------------------------- */

typedef struct ss_cone_options {
    int gap_term;     /* ss_gap_term */
    double gamma;     /* share of the overlap, and of joint errors, removed in one step */
    int bounded_rows; /* ss_bounded_rows */
    double mu_max; /* larger friction coefficients, infinity included, become this; 0 = infinity is refused */
} ss_cone_options;
extern SS_API const ss_option ss_cone_option_table[];

/* Constraint rows with finite bounds have no place in a cone problem. */
typedef enum ss_bounded_rows {
    SS_BOUNDED_AS_CONTACTS, /* limits become frictionless contacts; motors and joint friction are dropped */
    SS_BOUNDED_REFUSE       /* fail, naming the first such row */
} ss_bounded_rows;

/* Frame to cone problem, global form: 6 dofs (linear, angular, world frame) per live body in storage order; a
 * cone contact for every contact that touches a live body, then one for every limit; an equation for every
 * unbounded row. With mu_rolling the dimension is 5. What cannot be carried over is told as losses, one per
 * kind with its place. */
SS_API ss_cone *ss_cone_from_frame(const ss_frame *frame, const ss_cone_options *options, const char *place,
                                   ss_findings *losses, ss_error *err);
/* The same in the local form, the only one that can hold contact compliance (on W's diagonal) and the
 * regularisation of joints (on R's). With `eliminate` the equations are solved for, see ss_cone_to_local. */
SS_API ss_cone *ss_cone_local_from_frame(const ss_frame *frame, const ss_cone_options *options,
                                         bool eliminate, const char *place, ss_findings *losses,
                                         ss_error *err);
/* Solution of either problem (same options) to the physical answer. Only r is needed: where point->v or
 * point->l is NULL they are recomputed, with compliance and regularisation. */
SS_API ss_answer *ss_cone_recover(const ss_frame *frame, const ss_cone_options *options,
                                  const ss_cone_point *point, ss_error *err);
/* The other way: the physical answer as a point of the problem, for guesses and for storing in FCLIB. Makes
 * the point, which ss_cone_point_free frees. */
SS_API bool ss_cone_point_from_answer(const ss_frame *frame, const ss_cone_options *options,
                                      const ss_cone *cone, const ss_answer *answer, ss_cone_point *point,
                                      ss_error *err);

/* A rigid global problem back to a frame: masses and inertias from M, contact frames and lever arms from H,
 * velocities M^-1 f, gaps h w_N, joint rows from G; frictionless contacts without tangents become limits. A
 * planar problem (dimension 2, 3 dofs a body) becomes a spatial one in the plane z = 0. Fails with the reason
 * when the problem is not one of rigid bodies in the world frame (M not block diagonal, contact frames not
 * orthonormal, lever arms not of a rigid body: formats differ, and a guess would be a wrong mechanism). `h`
 * is not stored in FCLIB. What is not exact is told in findings. */
SS_API ss_frame *ss_frame_from_cone(const ss_cone *global, double h, ss_findings *findings, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
