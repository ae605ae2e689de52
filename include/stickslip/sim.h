/* stickslip/sim.h - time stepping, which closes the loop.
 *
 *     world -> collision -> contacts -> FRAME -> formulation -> solver -> answer -> velocities -> poses
 *
 * Each step is a frame like any other (ss_sim_frame), solved by any formulation and any solver, and each
 * stage can be replaced or watched by a user function. Semi-implicit: v+ from the frame, then x+ = x + h v+,
 * q+ = exp(h w+/2) q.
 *
 * A step either happens as a whole or not at all: when a number stops being finite or bodies fly apart,
 * ss_sim_step fails, names step and body, and the world is as it was before the step.
 *
 * Read after collision.h, dataset.h and solver.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_SIM_H
#define STICKSLIP_SIM_H

#include <stickslip/collision.h>
#include <stickslip/dataset.h>
#include <stickslip/formulation.h>
#include <stickslip/peg.h>
#include <stickslip/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ss_gyro {
    SS_GYRO_IMPLICIT, /* midpoint rule in the body frame: conserves the energy of free spin, stable if fast */
    SS_GYRO_EXPLICIT,
    SS_GYRO_OFF,
} ss_gyro;

/* What turning links do to the bodies on them, in minimal coordinates: Coriolis, centrifugal and gyroscopic
 * forces. */
typedef enum ss_bias {
    /* those of the whole move, start to end: energy errors do not add up; where joints turn too far for that
     * within a step, as carried */
    SS_BIAS_MIDWAY,
    SS_BIAS_EXPLICIT, /* by the rates at the start of the step, as MuJoCo has it: gains energy if fast */
    /* the bodies bring their momenta of the step before with them, as in maximal coordinates: stable where
     * joints turn far within a step, at the price of energy that is lost there */
    SS_BIAS_CARRIED,
} ss_bias;

/* How bodies get from one step to the next. */
typedef enum ss_integrator {
    SS_INTEGRATOR_EULER, /* forces and contacts at the start of the step, then poses by the new velocities */
    /* Mechanisms in minimal coordinates under smooth forces alone are integrated to integrator_tolerance, in
     * pieces of a step as short as it takes. Such a step is no incremental problem: it has no frame. All
     * others, with contacts, limits, motors, springs or loops, are Euler's (docs/simulating.md) */
    SS_INTEGRATOR_RUNGE_KUTTA,
    /* Mechanisms in minimal coordinates do half of their way before forces and contacts are looked at, by the
     * old velocities, and half afterwards, by the new ones: poses and velocities belong to the same moment,
     * and energy errors are of second order in h. Frames are those of the middle of the step */
    SS_INTEGRATOR_LEAPFROG,
} ss_integrator;

/* Stabilisation of joints (numerical comparison: docs/simulating.md). */
typedef enum ss_joint_stabilisation {
    SS_STABILISE_BAUMGARTE,  /* a fraction of the error per step, joint_gamma */
    SS_STABILISE_NONE,       /* velocities only: positions drift */
    SS_STABILISE_SPOOK,      /* regularised, relaxation time in steps: joint_relaxation (Lacoursiere 2007) */
    SS_STABILISE_PROJECTION, /* positions are projected after the step, velocities untouched */
    /* correction impulses before and after the move (Bender and Schmitt 2006), as RPIsim's */
    SS_STABILISE_IMPULSE,
} ss_joint_stabilisation;

typedef struct ss_sim_options {
    double h;                /* s */
    int substeps;            /* per step */
    const char *formulation; /* "cone" */
    const char *solver;      /* "batched-nncg" */
    const char *finisher;    /* second solver, where the first one misses the stop rule; "none", "default" */
    ss_option_list with;     /* options of the formulation, "gap_term=zero" */
    ss_option_list set;      /* options of the solver */
    int max_iterations;      /* of the solver, per step; the option is called "iterations" */
    const char *stop;        /* physical: "relative_energy<1e-4" */
    const char *keep;        /* iterate of the solver that moves the world: "answer", "last", "best:GAUGE" */
    int gyro;                /* ss_gyro */
    int joints;              /* ss_joint_stabilisation */
    double joint_gamma, joint_relaxation;
    double joint_tolerance; /* m and rad: projection and impulse stop below */
    bool islands;           /* solve groups of bodies that do not touch one by one, in parallel */
    bool warm_start;
    /* m/s, rad/s: above it a step counts as diverged; 0 = 1e4 sizes of the world, or 1e4 rad, per step */
    double max_speed;
    int threads; /* 0 = one per core */
    int seed;
    ss_collision_options collision;
    int peg;    /* ss_peg_mode; off by default. With it, gap_term is preventive unless it is given */
    int refine; /* with peg: at most this many further solves of a step, with the geometry at its end */
    /* with peg: how often a step is done in two halves when bodies turn too far within it; needs refine */
    int halvings;
    /* ss_coordinate_kind: with SS_MINIMAL, joints that hold the bodies in trees are exact, and frames have
     * generalised coordinates (docs/coordinates.md) */
    int coordinates;
    int bias;                    /* ss_bias, with SS_MINIMAL */
    int integrator;              /* ss_integrator; all but SS_INTEGRATOR_EULER need SS_MINIMAL */
    double integrator_tolerance; /* error of the rates in a piece of a step, as a share of them */
    /* real-time steps: soft contacts in small steps instead of formulation and solver (docs/simulating.md) */
    bool fast;
    int small_steps; /* with fast: of each step */
} ss_sim_options;
extern SS_API const ss_option ss_sim_option_table[]; /* without ss_collision_option_table */

typedef struct ss_sim ss_sim;
/* The world is owned by the caller and must outlive the simulation; ss_sim_create finishes it. options NULL:
 * defaults. */
SS_API ss_sim *ss_sim_create(ss_world *world, const ss_sim_options *options, ss_error *err);
SS_API void ss_sim_destroy(ss_sim *sim);
SS_API ss_world *ss_sim_world(const ss_sim *sim);

/* One step of h, all substeps. False: nothing moved, err says why (step, body, contact). */
SS_API bool ss_sim_step(ss_sim *sim, ss_error *err);
/* The same without moving: contacts and frame of the present state (assembled and solved: see
 * ss_sim_answer). */
SS_API bool ss_sim_prepare(ss_sim *sim, ss_error *err);

SS_API double ss_sim_time(const ss_sim *sim);
SS_API int64_t ss_sim_steps(const ss_sim *sim);

/* ---- looking at the last step ----------------------------------------------------------------------- */

/* Bodies of the frame are the dynamic, enabled bodies of the world in order; ss_sim_frame_body maps them
 * back. Static and kinematic ones are SS_WORLD; their motion is in contacts/surface_velocity and in the
 * joints' time_derivative. A step with `fast`, or of trees in minimal coordinates, makes its frame and its
 * answer when they are looked at, from the state before it: look before masses are changed, something is
 * added to the world, or the next step finds its contacts (then both are NULL until it is done). */
/* Of the last (sub)step; NULL before the first, and after one of SS_INTEGRATOR_RUNGE_KUTTA. In
 * SS_BEFORE_SOLVE it is the frame that is about to be solved: until it is, there is no answer (NULL). */
SS_API const ss_frame *ss_sim_frame(const ss_sim *sim);
/* Where the kinematic bodies were when that frame was made, in their order: for ss_writer_scenery. */
SS_API const ss_scenery *ss_sim_scenery(const ss_sim *sim);
SS_API const ss_answer *ss_sim_answer(const ss_sim *sim);
/* The assembly, with the frame of the last (sub)step: for ss_judge, and to see how gaps and joints
 * are treated (ss_assembly_step). Of a frame with alternatives, the ordinary frame that was selected. */
SS_API ss_assembly *ss_sim_assembly(const ss_sim *sim);
SS_API int ss_sim_frame_body(const ss_sim *sim, int frame_body);
SS_API const ss_contact_list *ss_sim_contacts(const ss_sim *sim); /* in the order of the frame's contacts */

/* Cost and accuracy of the last step; the seconds of the stages add up to `seconds`. */
typedef struct ss_sim_report {
    int contacts, rows, islands, largest_island; /* contacts of the largest one */
    int touching;                                /* contacts with an impulse */
    ss_status status;                            /* the worst of all islands */
    int iterations;                              /* largest of all islands */
    int finished;                                /* islands that needed the finisher */
    double relative_energy;                      /* the solver's error, worst island */
    double energy_error;                         /* J, all islands */
    double penetration;                          /* m, deepest, >= 0 */
    int worst_contact;
    double joint_error; /* largest, after the step */
    double kinetic, potential;
    double seconds, broad, narrow, assembly, solve, integration;
    int peg_solves;           /* ordinary frames solved; 0: the step has no alternatives */
    ss_peg_status peg_status; /* worst of the substeps */
    int halvings;     /* pieces of the step that were done in two halves, because bodies turn too far */
    double peg_error; /* worst overlap at the end, and distance of what pushes, by exact geometry, relative to
                       * the width of the thinner body */
} ss_sim_report;
SS_API ss_sim_report ss_sim_last(const ss_sim *sim);
/* Name of the finisher in use, "none" without one: what "default" stands for depends on the solver. */
SS_API const char *ss_sim_finisher(const ss_sim *sim);

/* ---- user functions --------------------------------------------------------------------------------- */

typedef enum ss_stage {
    /* poses and velocities of the step's start: controllers set forces and motors here */
    SS_BEFORE_COLLISION,
    SS_AFTER_CONTACTS, /* may change or drop contacts (ss_sim_contacts_edit) */
    SS_BEFORE_SOLVE,   /* may change the frame (ss_sim_frame_edit) */
    SS_AFTER_STEP,
    SS_STAGE_COUNT
} ss_stage;
/* False stops the step with the error that was set. Within it another step, and ss_sim_prepare, are refused;
 * so is ss_sim_restore, except in SS_AFTER_STEP. */
typedef bool ss_user_function(ss_sim *sim, void *context, ss_error *err);
/* Called in the order of registration. */
SS_API bool ss_sim_call_at(ss_sim *sim, ss_stage stage, ss_user_function *function, void *context,
                           ss_error *err);
SS_API ss_contact_list *ss_sim_contacts_edit(ss_sim *sim); /* NULL outside SS_AFTER_CONTACTS */
SS_API ss_frame *ss_sim_frame_edit(ss_sim *sim);           /* NULL outside SS_BEFORE_SOLVE */
/* User functions under a name: what a plug-in brings for `stickslip run --call NAME` (plugin.h). */
typedef struct ss_hook {
    const char *name;                     /* "wind" */
    const char *summary;                  /* one line */
    ss_user_function *at[SS_STAGE_COUNT]; /* NULL: nothing to do at that stage */
    void *context;                        /* given to each of them */
} ss_hook;
SS_API int ss_hook_count(void);
SS_API const ss_hook *ss_hook_at(int index); /* NULL beyond the last */
SS_API const ss_hook *ss_hook_find(const char *name);
/* Registers all functions of the hook with the simulation. */
SS_API bool ss_sim_call_hook(ss_sim *sim, const ss_hook *hook, ss_error *err);
/* Replaces collision detection: fills the list (memory from the arena, emptied at the next step). */
typedef bool ss_contact_source(ss_sim *sim, ss_arena *arena, ss_contact_list *contacts, void *context,
                               ss_error *err);
SS_API void ss_sim_replace_collision(ss_sim *sim, ss_contact_source *source, void *context);
SS_API ss_collision *ss_sim_collision(const ss_sim *sim);
/* Replaces the solver by one of your own, which must outlive the simulation. solver_options: its own struct,
 * which is copied and checked; NULL: its defaults. The finisher stays as it is. */
SS_API bool ss_sim_replace_solver(ss_sim *sim, const ss_solver *solver, const void *solver_options,
                                  ss_error *err);
/* Replaces formulation and solver together: fills the answer to the frame, which is all zero on entry. The
 * velocities move the world; impulses are as far as they are known, and only for those who look at them. The
 * frame is assembled beforehand as ever (ss_sim_assembly), so that the answer can be judged. NULL restores
 * ours. */
typedef bool ss_answer_source(ss_sim *sim, const ss_frame *frame, ss_answer *answer, void *context,
                              ss_error *err);
SS_API void ss_sim_replace_dynamics(ss_sim *sim, ss_answer_source *source, void *context);

/* A ready-made controller: drives one joint coordinate along a trajectory through knots by PID with
 * feed-forward of speed, through ss_axis_law's user force or motor. */
typedef struct ss_controller {
    int joint, coordinate;
    double proportional, integral, derivative; /* N/m or N m/rad, ... per s, ... s */
    double max_force;                          /* 0 = unlimited */
    int knots;
    const double *time, *value; /* knots; cubic with zero speed at both ends, clamped outside */
    double sum;                 /* of the error over time: the controller's state */
} ss_controller;
/* Registers it at SS_BEFORE_COLLISION; the controller is owned by the caller and must live as long as the
 * simulation. */
SS_API bool ss_sim_add_controller(ss_sim *sim, ss_controller *controller, ss_error *err);
/* Value and speed of the trajectory at a time. */
SS_API void ss_trajectory_at(const ss_controller *controller, double time, double *value, double *speed);

/* ---- state ------------------------------------------------------------------------------------------ */

/* Everything the next step depends on, except the structure of the world: poses, velocities, forces, joint
 * laws, warm starts, time. The bytes may be stored; they fit only a world of the same structure. */
typedef struct ss_snapshot {
    size_t size;
    unsigned char *bytes;
} ss_snapshot;
SS_API bool ss_sim_save(const ss_sim *sim, ss_snapshot *snapshot, ss_error *err);
SS_API bool ss_sim_restore(ss_sim *sim, const ss_snapshot *snapshot, ss_error *err);
SS_API void ss_snapshot_free(ss_snapshot *snapshot);
SS_API bool ss_snapshot_write(const ss_snapshot *snapshot, const char *path, ss_error *err); /* atomically */
SS_API bool ss_snapshot_read(const char *path, ss_snapshot *snapshot, ss_error *err);
SS_API void ss_sim_hash(const ss_sim *sim, char text[33]); /* of time, poses and velocities, bit for bit */

#ifdef __cplusplus
}
#endif
#endif
