/* stickslip/formulation.h - from a frame to a problem and back; a formulation defines both directions.
 *
 * `assemble` turns a checked frame into a problem; `recover` turns the solver's numbers into the physical
 * answer. Metrics see only frame and answer, so that every formulation is judged by the same measure: the
 * true Coulomb problem of the frame.
 *
 * Read after problem.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_FORMULATION_H
#define STICKSLIP_FORMULATION_H

#include <stickslip/problem.h>

#include <math.h>

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
    SS_GAP_RESTITUTION,
    /* (1 + e) gap / h - e u_N-: the gaps of the steps before and after satisfy gap+ + e gap- >= 0, at the
     * level of positions (Paoli and Schatzman 2002). A bounce takes two steps and ends at exactly -e times
     * the speed of the impact; in between the bodies overlap by at most 2 e / (1 + e) h u_N-. e = 0 is
     * preventive. */
    SS_GAP_PAOLI_SCHATZMAN
} ss_gap_term;

/* Contribution of the error g of a joint's equations to J v+ + term = 0. A fraction joint_gamma of a violated
 * limit is corrected; the distance of an open limit counts in full. */
typedef enum ss_joint_term {
    SS_JOINT_STABILISED, /* joint_gamma g / h (Baumgarte) */
    SS_JOINT_ZERO,       /* 0: velocity level, positions drift or are corrected elsewhere */
    SS_JOINT_SPOOK,      /* Y (4 g / h - J v), Y = 1 / (1 + 4 joint_relaxation): damped (Lacoursiere 2007) */
} ss_joint_term;

/* The velocities that a problem is about. */
typedef enum ss_coordinate_kind {
    SS_MAXIMAL, /* six of every body; all joints are constraints */
    SS_MINIMAL, /* the generalised coordinates of the frame, which must have some (docs/coordinates.md) */
} ss_coordinate_kind;

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
    int coordinates; /* ss_coordinate_kind: maximal by default */
} ss_step_options;

/* The first lines of every option table of a formulation, whose struct begins with an ss_step_options. */
#define SS_STEP_OPTION_ROWS(gap_term_default, contact_margin_default)                                       \
    {.name = "gap_term",                                                                                    \
     .type = SS_OPTION_CHOICE,                                                                              \
     .offset = offsetof(ss_step_options, gap_term),                                                         \
     .default_value = gap_term_default,                                                                     \
     .choices = "preventive|zero|stabilised|restitution|paoli-schatzman",                                   \
     .help = "contribution of the gap to the normal velocity: gap/h; none; gap/h, but only a fraction "     \
             "gamma of an overlap; Newton's restitution at impacts, otherwise as stabilised; Paoli and "    \
             "Schatzman's restitution of gaps, over two steps"},                                            \
        {.name = "gamma",                                                                                   \
         .type = SS_OPTION_REAL,                                                                            \
         .offset = offsetof(ss_step_options, gamma),                                                        \
         .default_value = "1",                                                                              \
         .min = 0.0,                                                                                        \
         .max = 1.0,                                                                                        \
         .help = "fraction of overlaps removed per step with gap_term=stabilised or restitution"},          \
        {.name = "slop",                                                                                    \
         .type = SS_OPTION_REAL,                                                                            \
         .offset = offsetof(ss_step_options, slop),                                                         \
         .default_value = "0",                                                                              \
         .min = 0.0,                                                                                        \
         .max = INFINITY,                                                                                   \
         .value_name = "m",                                                                                 \
         .help = "overlaps up to this size are tolerated, and gaps up to it closed by the fraction "        \
                 "gamma, with gap_term=stabilised, in m"},                                                  \
        {.name = "restitution_speed",                                                                       \
         .type = SS_OPTION_REAL,                                                                            \
         .offset = offsetof(ss_step_options, restitution_speed),                                            \
         .default_value = "0.01",                                                                           \
         .min = 0.0,                                                                                        \
         .max = INFINITY,                                                                                   \
         .value_name = "m/s",                                                                               \
         .help = "approach speed below which there is no restitution (gap_term=restitution), in m/s"},      \
        {.name = "contact_margin",                                                                          \
         .type = SS_OPTION_REAL,                                                                            \
         .offset = offsetof(ss_step_options, contact_margin),                                               \
         .default_value = contact_margin_default,                                                           \
         .min = 0.0,                                                                                        \
         .max = INFINITY,                                                                                   \
         .value_name = "m",                                                                                 \
         .help = "largest gap of a contact, in m; contacts with larger gaps are omitted"},                  \
        {.name = "joint_term",                                                                              \
         .type = SS_OPTION_CHOICE,                                                                          \
         .offset = offsetof(ss_step_options, joint_term),                                                   \
         .default_value = "stabilised",                                                                     \
         .choices = "stabilised|zero|spook",                                                                \
         .help = "contribution of the joint error g to the joint velocity: joint_gamma g/h; none; SPOOK's " \
                 "damped term Y (4 g/h - J v), Y = 1/(1 + 4 joint_relaxation)"},                            \
        {.name = "joint_gamma",                                                                             \
         .type = SS_OPTION_REAL,                                                                            \
         .offset = offsetof(ss_step_options, joint_gamma),                                                  \
         .default_value = "1",                                                                              \
         .min = 0.0,                                                                                        \
         .max = 1.0,                                                                                        \
         .help = "fraction of joint errors removed per step"},                                              \
        {.name = "joint_relaxation",                                                                        \
         .type = SS_OPTION_REAL,                                                                            \
         .offset = offsetof(ss_step_options, joint_relaxation),                                             \
         .default_value = "2",                                                                              \
         .min = 0.0,                                                                                        \
         .max = 1e6,                                                                                        \
         .value_name = "steps",                                                                             \
         .help = "relaxation time, in steps (joint_term=spook)"},                                           \
        {.name = "mu_max",                                                                                  \
         .type = SS_OPTION_REAL,                                                                            \
         .offset = offsetof(ss_step_options, mu_max),                                                       \
         .default_value = "0",                                                                              \
         .min = 0.0,                                                                                        \
         .max = 1e12,                                                                                       \
         .help = "upper limit of friction coefficients, including infinite ones; 0 = no limit"},            \
    {                                                                                                       \
        .name = "coordinates", .type = SS_OPTION_CHOICE, .offset = offsetof(ss_step_options, coordinates),  \
        .default_value = "maximal", .choices = "maximal|minimal",                                           \
        .help = "velocities of the problem: six of every body, or the generalised coordinates of a frame "  \
                "that has some"                                                                             \
    }
/* These lines alone, for a formulation that has no other options. */
extern SS_API const ss_option ss_step_option_table[];

/* What a formulation models; what it does not is reported as a loss. */
enum ss_formulation_models {
    SS_MODELS_FRICTION = 1,
    SS_MODELS_ROLLING = 2,
    SS_MODELS_GAPS = 4, /* the gap term, and with it restitution */
    SS_MODELS_TORSION = 32,
    SS_MODELS_SPIN_COUPLING = 64, /* the ellipsoid of sliding and spinning */
};

typedef struct ss_contact_view ss_contact_view;
typedef struct ss_contact_law ss_contact_law;
typedef struct ss_formulation ss_formulation;

/* A formulation is a model of one contact; joints, bodies, velocities, the measure of the answer and
 * everything else is the same for all of them. Those of the library have a `model`. One of your own
 * (plugin.h) has `contact`, or, for a matrix of its own, `assemble` and `recover`. */
struct ss_formulation {
    const char *name;      /* "stewart-trinkle" */
    const char *summary;   /* one line */
    const char *reference; /* paper and equation */
    unsigned laws;         /* ss_law, or-ed: what its problems may contain */
    const ss_option *options;
    size_t options_size;                  /* of a struct that begins with an ss_step_options */
    const struct ss_contact_model *model; /* of the library: src/formulation/model.h; NULL in your own */
    unsigned models;                      /* your own: ss_formulation_models, or-ed */
    void *context;                        /* the author's */

    /* States the law of one contact. `law` is all zero on entry. False with err: the frame cannot be
     * assembled. */
    bool (*contact)(const ss_formulation *formulation, const void *options, const ss_contact_view *contact,
                    ss_contact_law *law, ss_error *err);

    /* Or the whole problem of a checked frame, made by ss_problem_create and destroyed by the library: A, b,
     * bounds, blocks; the diagonal is taken from A. NULL with err: it cannot be made. */
    ss_problem *(*assemble)(const ss_formulation *formulation, const void *options, const ss_frame *frame,
                            ss_error *err);
    /* The impulses that x stands for: row_impulse, normal_impulse, friction_impulse and, if allocated,
     * rolling_impulse of an answer that is all zero. The library computes the velocities from them. */
    void (*recover)(const ss_formulation *formulation, const void *options, const ss_frame *frame,
                    const ss_problem *problem, const double *x, ss_answer *answer);
    /* A start from a known answer; x is all zero. NULL: there is none. */
    void (*guess)(const ss_formulation *formulation, const void *options, const ss_frame *frame,
                  const ss_problem *problem, const ss_answer *answer, double *x);
};

/* Those of the library first, then those that were registered (plugin.h), in that order. */
SS_API int ss_formulation_count(void);
SS_API const ss_formulation *ss_formulation_at(int index); /* NULL beyond the last */
SS_API const ss_formulation *ss_formulation_find(const char *name);

/* ---- the model of one contact ----------------------------------------------------------------------- */

/* A contact that takes part, as the function `contact` of a formulation sees it. Directions are unit vectors
 * in the world frame; velocities are those of b's surface minus a's at the contact, surface_velocity
 * included. */
struct ss_contact_view {
    int contact; /* of the frame */
    const ss_frame *frame;
    double normal[3], tangent[2][3];
    /* false for the tangent that leaves the plane of a planar frame: nothing moves along it */
    bool in_plane[2];
    double mu[2];      /* along the tangents, at most mu_max; infinity is allowed */
    double mu_rolling; /* m */
    double mu_torsion; /* m */
    ss_spin_coupling spin_coupling;
    double gap;              /* m */
    double offset;           /* m/s: the gap term that the step options ask for; belongs to the normal row */
    double compliance;       /* of the normal row */
    double velocity[3];      /* m/s, before the step */
    double free_velocity[3]; /* m/s, after a step without any contact or joint: v* = v + h M^-1 f */
    double inverse_mass[3];  /* 1/kg: J M^-1 J' along the normal and the two tangents */
};

/* One unknown of a contact, an impulse x along a direction, with w = direction . velocity + compliance x
 * + offset and a law between x and w (problem.h). */
typedef struct ss_contact_unknown {
    double direction[3]; /* of the impulse on b, world frame; its length is up to you */
    bool turns;          /* a moment about `direction`: w is the relative rotation */
    ss_law law;          /* unknowns of one law form a block with the one before; 0 counts as SS_LAW_BOX */
    double lower, upper; /* box: N s; -INFINITY and INFINITY are allowed. Coupled: none if both are 0 */
    int partner;         /* coupled: which unknown of this contact; |x| <= factor |x_partner| */
    double factor;
    double offset, compliance;
} ss_contact_unknown;

#define SS_CONTACT_UNKNOWNS 16 /* at most, of one contact */

struct ss_contact_law {
    int count;
    ss_contact_unknown unknown[SS_CONTACT_UNKNOWNS];
    double mu, mu_rolling; /* of the cone, if unknowns are under SS_LAW_CONE or SS_LAW_CONVEX: normal first */
    double impulse[3];     /* N s on b, world frame: known beforehand, on top of the unknowns (springs) */
};

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

/* The true Coulomb problem of the same rows, in impulses. For formulation "cone" it is the problem itself.
 * In a planar frame its contacts have one tangent; answers are judged with both. NULL only when out of
 * memory. */
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
