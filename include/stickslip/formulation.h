/* stickslip/formulation.h - from a frame to a problem and back; a formulation defines both directions.
 *
 * `assemble` turns a checked frame into a problem; `recover` turns the solver's numbers into the physical
 * answer. Metrics see only frame and answer, so that every formulation is judged by the same measure.
 *
 * Read after problem.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_FORMULATION_H
#define STICKSLIP_FORMULATION_H

#include <stickslip/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Contribution of the gap to the normal row  u_N = n . (v_b - v_a) + term >= 0. */
typedef enum ss_gap_term {
    SS_GAP_PREVENTIVE, /* gap / h: contact may be reached, not crossed, within the step (Stewart-Trinkle) */
    SS_GAP_ZERO,       /* 0: velocity level (Anitescu-Potra, Moreau) */
    /* max(gap, 0) / h + gamma min(gap + slop, 0) / h: a fraction gamma of an overlap beyond the slop is
     * removed; gaps up to the slop are closed by the fraction gamma */
    SS_GAP_STABILISED,
    /* e u_N-, Newton's law, at contacts hit within the step (gap + h min(u_N-, 0) <= 0) faster than
     * restitution_speed; as stabilised at the others */
    SS_GAP_RESTITUTION
} ss_gap_term;

/* Contribution of the error g of a joint's equations to J v+ + term = 0. A fraction joint_gamma of a violated
 * limit is corrected; the distance of an open limit counts in full. */
typedef enum ss_joint_term {
    SS_JOINT_STABILISED, /* joint_gamma g / h (Baumgarte) */
    SS_JOINT_ZERO,       /* 0: velocity level, positions drift or are corrected elsewhere */
    SS_JOINT_SPOOK,      /* Y (4 g / h - J v), Y = 1 / (1 + 4 joint_relaxation): damped (Lacoursiere 2007) */
} ss_joint_term;

/* ---- formulations ----------------------------------------------------------------------------------- */

/* What all formulations share about the step. Every option struct of a formulation begins with it. */
typedef struct ss_step_options {
    int gap_term;             /* ss_gap_term: preventive by default */
    double gamma;             /* fraction of an overlap removed per step */
    double restitution_speed; /* m/s: no restitution at slower approaches */
    double contact_margin;    /* m: contacts with a larger gap are omitted; inf = all */
    double mu_max;            /* upper limit of friction coefficients, including infinite ones; 0 = none */
    int joint_term;           /* ss_joint_term */
    double joint_gamma;       /* fraction of joint errors removed per step */
    double joint_relaxation;  /* steps: relaxation time of SS_JOINT_SPOOK in units of h */
    /* m: SS_GAP_STABILISED tolerates overlaps up to it, and closes gaps up to it slowly, so that the error
     * of one step is not the load of the next */
    double slop;
} ss_step_options;

/* A formulation is a model of one contact; everything else is the same for all of them. */
typedef struct ss_formulation {
    const char *name;      /* "stewart-trinkle" */
    const char *summary;   /* one line */
    const char *reference; /* paper and equation */
    unsigned laws;         /* ss_law, or-ed: what its problems may contain */
    const ss_option *options;
    size_t options_size;                  /* of a struct that begins with an ss_step_options */
    const struct ss_contact_model *model; /* src/formulation/model.h */
} ss_formulation;

SS_API int ss_formulation_count(void);
SS_API const ss_formulation *ss_formulation_at(int index);
SS_API const ss_formulation *ss_formulation_find(const char *name);

/* ---- a formulation at work -------------------------------------------------------------------------- */

/* The rows of a frame are built once, by ss_assemble; problem, guess, answer and reference problem are
 * derived from them. Memory is kept from frame to frame. Not for two threads at once. */
typedef struct ss_assembly ss_assembly;

/* options: the formulation's own struct, which is copied and checked; NULL: its defaults. */
SS_API ss_assembly *ss_assembly_create(const ss_formulation *formulation, const void *options, ss_error *err);
SS_API void ss_assembly_destroy(ss_assembly *assembly);
SS_API const ss_formulation *ss_assembly_formulation(const ss_assembly *assembly);
/* The assembly's copy of the options; changes take effect at the next ss_assemble. */
SS_API void *ss_assembly_options(ss_assembly *assembly);
SS_API const ss_step_options *ss_assembly_step(const ss_assembly *assembly);

/* Builds rows and problem of a checked frame, which must live as long as they are used. notes (may be
 * NULL) gets what the formulation cannot express, as losses. Fails when out of memory, and when a mass
 * matrix is singular. */
SS_API bool ss_assemble(ss_assembly *assembly, const ss_frame *frame, ss_findings *notes, ss_error *err);
/* Of the frame that was assembled last; the assembly's, until the next one. */
SS_API const ss_frame *ss_assembly_frame(const ss_assembly *assembly);
SS_API ss_problem *ss_assembly_problem(const ss_assembly *assembly);
/* A start from a known answer (warm start): x[problem->size]. */
SS_API void ss_assembly_guess(ss_assembly *assembly, const ss_answer *answer, double *x);
/* The physical answer for x; velocities are computed from the impulses. */
SS_API void ss_assembly_recover(ss_assembly *assembly, const double *x, ss_answer *answer);

/* A problem of your own from a frame, in one call; options as above. */
SS_API ss_problem *ss_problem_from_frame(const ss_frame *frame, const ss_formulation *formulation,
                                         const void *options, ss_error *err);

/* The true Coulomb problem of the same rows, in impulses: the measure by which every formulation's answers
 * are judged. For formulation "cone" it is the problem itself. NULL only when out of memory. */
SS_API ss_problem *ss_assembly_coulomb(ss_assembly *assembly, ss_error *err);
SS_API void ss_assembly_guess_coulomb(ss_assembly *assembly, const ss_answer *answer, double *x);
SS_API void ss_assembly_recover_coulomb(ss_assembly *assembly, const double *x, ss_answer *answer);

/* ---- FCLIB's form of the problem, for conversion ---------------------------------------------------- */

/* How to represent the Coulomb problem of the rows as an ss_cone. */
typedef struct ss_cone_wish {
    /* only the local one can hold compliance (on W's diagonal) and regularisation (on R's) */
    ss_cone_form form;
    bool eliminate; /* local form: the equations are solved for, see ss_cone_to_local */
    /* Rows with bounds cannot be part of a cone problem. False: limits become frictionless contacts, motors
     * and joint friction are omitted; true: an error names the first such row. */
    bool refuse_bounds;
} ss_cone_wish;

/* A view of the assembled problem: 6 dofs (linear, angular, world frame) per live body in storage order; a
 * cone contact for every contact that is kept, then one for every limit; an equation for every row without
 * bounds. With rolling friction the dimension is 5. Infinite friction is an error. What cannot be carried
 * over goes to `losses` (may be NULL), one per kind, at "PLACE/contacts/gaps". */
SS_API ss_cone *ss_assembly_cone(ss_assembly *assembly, const ss_cone_wish *wish, const char *place,
                                 ss_findings *losses, ss_error *err);
/* Turns a point of such a problem into the physical answer. Only r is needed: if l is NULL it is recomputed;
 * if v is given the answer takes its velocities from it. */
SS_API bool ss_assembly_recover_cone(ss_assembly *assembly, const ss_cone_point *point, ss_answer *answer,
                                     ss_error *err);
/* The inverse, for guesses and for storing in FCLIB. Creates the point, which ss_cone_point_free frees. */
SS_API bool ss_assembly_cone_point(ss_assembly *assembly, const ss_cone *cone, const ss_answer *answer,
                                   ss_cone_point *point, ss_error *err);

/* A rigid global problem back to a frame: masses and inertias from M, contact frames and lever arms from H,
 * velocities M^-1 f, gaps h w_N, joint rows from G; frictionless contacts without tangents become limits. A
 * planar problem (dimension 2, 3 dofs a body) becomes a spatial one in the plane z = 0. Fails with the reason
 * when the problem is not one of rigid bodies in the world frame (M not block diagonal, contact frames not
 * orthonormal, lever arms not of a rigid body: formats differ, and a guess would be a wrong mechanism). `h`
 * is not stored in FCLIB. What is not exact is listed in findings. */
SS_API ss_frame *ss_frame_from_cone(const ss_cone *global, double h, ss_findings *findings, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
