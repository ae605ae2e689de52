/* sim/state.h - the simulator's own struct and the stages of a step, each in a file of its own:
 *
 *     step.c          the order of things
 *     forces.c        gravity, damping, gyroscopic torque
 *     build_frame.c   world and contacts -> frame
 *     trees_alone.c   steps of trees without a frame
 *     trees_touching.c   and their contacts
 *     trees_integrated.c   steps of trees that touch nothing, to a tolerance, as no incremental problem
 *     mechanisms_alone.c   the same in maximal coordinates
 *     warm_start.c    last step's impulses -> start of this one
 *     solve.c         frame -> answer, island by island
 *     integrate.c     velocities -> poses, and what a failed step undoes
 *     soft/           real-time steps, instead of frame and solve
 */
#ifndef SS_SIM_STATE_H
#define SS_SIM_STATE_H

#include <stickslip/sim.h>

#include "base/team.h"
#include "collision/alternatives.h"
#include "linalg/vec3.h"
#include "model/world.h"
#include "problem/answer_store.h"
#include "problem/islands.h"
#include "sim/byte_stream.h"
#include "sim/stabilise.h"
#include "tree/free_motion.h"
#include "tree/tree.h"

/* Two shapes and their bodies: a source of the user's need not number shapes. */
typedef struct ss_warm_pair {
    int shape[2], body[2];
} ss_warm_pair;

/* When the island of a contact may call the finisher. */
typedef struct ss_wait {
    bool call_again; /* it was called, and its impulses hold what stopped a motion, too */
    int steps;       /* of rest that are left */
    int doublings;   /* of the next rest, because it was called soon after the last ones */
    int calm;        /* steps that were solved without it since the last change of these */
} ss_wait;
/* As one number: what calls again is negative. */
static inline int ss_wait_pack(ss_wait wait)
{
    return wait.call_again ? -1 - wait.doublings : wait.steps | wait.calm << 16 | wait.doublings << 24;
}
static inline ss_wait ss_wait_unpack(int packed)
{
    if (packed < 0) return (ss_wait){.call_again = true, .doublings = -1 - packed};
    return (ss_wait){.steps = packed & 0xffff, .calm = packed >> 16 & 0xff, .doublings = packed >> 24};
}

/* After a step that needed no finisher; a number of them in a row halves the next rest. */
ss_wait ss_wait_after_calm_step(ss_wait wait);

/* What one contact of the last step carried, in the world frame. */
typedef struct ss_warm_contact {
    ss_warm_pair pair;
    uint64_t key;
    double point[3];
    double impulse[3], rolling[3]; /* N s and N m s on body b */
    int wait;                      /* ss_wait */
    bool slides;                   /* friction of the pair was saturated: from now on it is kinetic */
} ss_warm_contact;

typedef struct ss_warm_row {
    int joint, index; /* which row of which joint */
    int of;           /* how many rows the joint had */
    double impulse;
} ss_warm_row;

/* Impulses of one step, and how to find them again. */
typedef struct ss_warm {
    int contact_count, contact_capacity;
    ss_warm_contact *contacts;
    int row_count, row_capacity;
    ss_warm_row *rows;
    int *slots; /* open addressing over the pairs: first contact + 1, 0 = empty; made when it is needed */
    int slot_count, slot_capacity;
} ss_warm;

/* Where a row of the frame comes from. */
typedef struct ss_row_origin {
    int joint, index, of;
} ss_row_origin;

/* How much of what a world had when its state was written. */
typedef struct ss_world_counts {
    int bodies, joints, shapes, controllers;
} ss_world_counts;

typedef struct ss_user_call {
    ss_user_function *function;
    void *context;
} ss_user_call;

typedef struct ss_call_list {
    int count, capacity;
    ss_user_call *items;
} ss_call_list;

typedef struct ss_controller_list {
    int count, capacity;
    ss_controller **items;
} ss_controller_list;

/* Solver or finisher, ready to run. */
typedef struct ss_sim_method {
    const ss_solver *solver; /* NULL: none */
    void *options;
    ss_run_options run;
    bool from_zero; /* it uses no start */
} ss_sim_method;

/* Polyhedral exact geometry. In a step with alternatives, frame, contacts and answer of the simulation are
 * those of the ordinary frame that was selected; these are what the step is seen as. */
typedef struct ss_peg_state {
    double (*velocity)[6]; /* of every body of the world, as it would be without contacts */
    int velocity_room;
    const ss_group_list *list; /* groups of the frame being made; NULL: none */
    ss_group_list refined[3];  /* found at later poses */
    int *origin;               /* of the frame's rows in list->points, memory of the substep */
    int *group;                /* of the frame's groups in the list, memory of the substep */
    ss_frame *frame;           /* with alternatives; NULL: the step has none */
    ss_answer *answer;         /* to it */
    ss_contact_list contacts;  /* of it */
    ss_peg_status status;
    int solves;
    bool too_far; /* bodies turn too far for the geometry at the end of the step: halve it */
} ss_peg_state;

/* The links of the trees as they are in a substep, in its memory. */
typedef struct ss_sim_links {
    ss_link_mass *masses; /* NULL: not gathered */
    ss_link_law *laws;
    double (*force)[6];       /* N, N m */
    double (*change)[6];      /* of their velocities */
    double *rate;             /* after the step */
    ss_articulated *factored; /* NULL: not yet */
    int rows;                 /* of their joints */
    bool pushed;              /* users' forces act along joints */
    bool solved;              /* rate and change are those of the step, without contacts and constraints */
    bool more;                /* there are joints, or laws of joints, that are none of the trees */
} ss_sim_links;

struct ss_sim {
    ss_world *world;
    ss_sim_options options; /* texts in it are copies */
    double h;               /* s: of a substep */
    double way;             /* s: of it, the part that is moved after the solve (integrator=leapfrog: half) */
    double size;            /* m: of the world at the start */
    double grain;           /* m: the thinnest dynamic shape */
    double time;
    int64_t steps;
    double base_time; /* time = base_time + (steps - base_steps) h: no rounding adds up */
    int64_t base_steps;

    ss_assembly *assembly; /* the formulation at work, with its options */
    ss_step_options *step; /* the options about the step, in there */
    bool gap_term_is_given, restitution_speed_is_given;
    ss_sim_method first, finisher;
    ss_team *team;
    ss_arena **arenas; /* one of each worker */
    ss_arena *memory;  /* of one substep: islands, contacts of a user's source */

    ss_stabiliser *stabiliser; /* NULL unless joints ask for it */
    ss_collision *collision;
    ss_contact_source *source;
    void *source_context;
    ss_answer_source *dynamics; /* instead of formulation and solver; NULL: ours */
    void *dynamics_context;
    ss_contact_list contacts;

    int *frame_body; /* frame to world */
    int *body_place; /* world to frame, SS_WORLD = not in it */
    int body_capacity;
    ss_scenery scenery;     /* kinematic bodies when the frame was made; room for all bodies */
    int *wait;              /* ss_warm_contact.wait of the frame's contacts, memory of the substep */
    ss_row_origin *origins; /* of the frame's rows */
    int origin_capacity;
    ss_trees trees;         /* in minimal coordinates, as they were when the frame was made */
    ss_trees moved;         /* after the move, until the next step */
    ss_free_motion *motion; /* of trees that nothing touches, integrated; NULL: none yet */
    bool is_integrated;     /* the substep was */
    ss_sim_links links;
    bool coordinates_wait;   /* the frame's generalised coordinates are not filled in until someone looks */
    bool is_solved_by_trees; /* the answer has velocities alone until someone looks */
    double *rates;           /* after a step that was solved without them */
    /* The step had mechanisms alone: `change` has the velocities of all bodies, memory of the substep, and
     * this the impulses of the joints as the stabiliser has them. */
    bool is_solved_by_mechanisms;
    double (*change)[6];
    double *joint_impulse;
    /* The step had trees or mechanisms alone and needed no frame: it is made when someone looks, from the
     * state before the step. */
    bool frame_waits;
    bool trees_are_found; /* for the frame that is to be made now */
    double frame_time;    /* s */
    ss_answer touch;      /* impulses of the contacts in such a step of trees, memory of the substep */
    int rate_room;
    ss_frame *frame;
    ss_answer_store answer_store;
    ss_answer *answer; /* in the store; NULL before the first step */
    ss_peg_state peg;
    ss_warm warm;
    ss_byte_stream backup;         /* the world before the step, and what it starts from */
    size_t backup_of_world;        /* bytes of it */
    ss_world_counts backup_counts; /* what of the world is in it */
    ss_byte_stream seen;  /* the world of a frame that waits, if user functions have changed it since */
    struct ss_soft *soft; /* real-time steps; NULL: every step is a frame that is solved */

    ss_call_list calls[SS_STAGE_COUNT];
    ss_controller_list controllers;
    bool editing_contacts, editing_frame;
    bool is_stepping; /* a step or a look ahead is under way: its user functions may not begin another one */
    bool is_done;     /* and only SS_AFTER_STEP is left of it */
    ss_sim_report report;
};

/* Bodies and contacts are gone through in chunks of this many. */
enum { SS_SIM_AT_ONCE = 64 };

/* ---- stages ----------------------------------------------------------------------------------------- */

bool ss_sim_call(ss_sim *sim, ss_stage stage, ss_error *err);

/* Body forces of the world as it is: gravity, the user's, damping and the gyroscopic torque; joints' user
 * forces are added by the frame. */
void ss_sim_force(const ss_sim *sim, const ss_body *body, double wrench[6]);
/* The same without the gyroscopic torque. */
void ss_sim_plain_force(const ss_sim *sim, const ss_body *body, double wrench[6]);
/* The same of a link of a tree: the gyroscopic torque is that before the step, and what bodies on turning
 * joints accelerate at constant rates is a force against it. */
void ss_sim_link_force(const ss_sim *sim, const ss_body *body, const ss_link *link,
                       const double world_inertia[9], double wrench[6]);
/* Adds the user's forces along the coordinates of active joints, N and N m: those on body b to row place[b]
 * if that is not negative, or to row b without places. */
void ss_sim_add_joint_forces(const ss_sim *sim, const int *place, double (*wrench)[6]);
/* The gyroscopic torque in it, N m in the world frame. *midway: it is that of the midpoint rule. */
ss_vec3 ss_sim_gyroscopic_torque(const ss_sim *sim, const ss_body *body, bool *midway);

/* sim->contacts and the world -> sim->frame. Contacts that touch nothing dynamic are dropped
 * from the list. */
bool ss_sim_build_frame(ss_sim *sim, ss_error *err);
/* Generalised coordinates of the frame, when they are needed: its matrices grow with the depth of the trees.
 * Then the generalised forces from those of the bodies, when nothing changes them any more. */
bool ss_sim_fill_coordinates(ss_sim *sim, ss_error *err);
void ss_sim_fill_coordinate_forces(ss_sim *sim);
/* Poses and velocities of the world as trees, with their bias; what the velocities had beside the joints is
 * dropped. */
bool ss_sim_find_trees(ss_sim *sim, ss_error *err);
/* The equations of a joint that holds a link are in T; its linear laws, springs, dampers and rotors, in M. */
struct ss_joint_equation;
ss_implied ss_sim_implied_by_trees(const ss_sim *sim, int joint, const struct ss_joint_equation *row);
/* A step in minimal coordinates without contacts, and with no joints but those of trees. */
bool ss_sim_trees_suffice(const ss_sim *sim);
bool ss_sim_solve_trees(ss_sim *sim, ss_error *err);
/* May a step of trees do without a frame, as far as options, user functions and kinds of bodies say? */
bool ss_sim_trees_need_no_frame(const ss_sim *sim);
/* The same without a frame, if no user function looks at the step; *solved says whether it was so. */
bool ss_sim_solve_trees_alone(ss_sim *sim, bool *solved, ss_error *err);
bool ss_sim_move_trees(ss_sim *sim, ss_error *err);
/* integrator=leapfrog: half of the way, by the velocities before the step; sim->way is what is left of it. */
bool ss_sim_move_ahead(ss_sim *sim, ss_error *err);
/* Contacts of such a step: may there be some, as far as options and contacts say? Then impulses, from the
 * velocities without them in sim->links, to which they add what they do. */
bool ss_sim_trees_may_touch(const ss_sim *sim);
bool ss_sim_touch_trees(ss_sim *sim, bool *solved, ss_error *err);
/* integrator=runge-kutta, if nothing but smooth forces acts on trees; then there is no frame. */
bool ss_sim_integrate_trees(ss_sim *sim, bool *solved, ss_error *err);
bool ss_sim_move_integrated(ss_sim *sim, ss_error *err);
/* The same of mechanisms in maximal coordinates; the frame waits unless user functions were called before. */
bool ss_sim_solve_mechanisms(ss_sim *sim, bool *solved, ss_error *err);
bool ss_sim_fill_mechanism_answer(ss_sim *sim, ss_error *err);
bool ss_sim_move_mechanisms(ss_sim *sim, ss_error *err);
/* The frame that such a step did without. */
void ss_sim_make_waiting_frame(ss_sim *sim);
/* No frame, no answer, and none that waits. */
void ss_sim_forget_frame(ss_sim *sim);
/* Every number of it is finite; else the error names body or contact. */
bool ss_sim_check_frame(const ss_sim *sim, ss_error *err);

/* An island waits as long as any of its contacts; a contact that calls again calls for all of them. */
ss_wait ss_sim_island_wait(const ss_sim *sim, const ss_problem *island);
void ss_sim_set_island_wait(const ss_sim *sim, const ss_problem *island, ss_wait next);

/* sim->frame -> sim->answer */
/* Friction is bounded by the normal impulses of the step before (box, bound=previous). */
bool ss_sim_needs_previous(const ss_sim *sim);
bool ss_sim_solve(ss_sim *sim, ss_error *err);
/* Contact c and its normal impulse (N s) in the report. */
void ss_sim_note_contact(ss_sim *sim, int c, double gap, double impulse);
/* What a range of contacts, or of what holds them, adds to the report. */
typedef struct ss_contact_look {
    int touching, worst_contact;
    double penetration; /* m */
} ss_contact_look;
typedef void ss_sim_look_range(const ss_sim *sim, int begin, int end, ss_contact_look *look);
/* Looks at `count` of them, each of which takes `each` ns, by all threads, and reports in order. */
bool ss_sim_look(ss_sim *sim, int count, double each, ss_sim_look_range *range, ss_error *err);
void ss_sim_choose_gap_term(ss_sim *sim, bool bounces);

/* ---- polyhedral exact geometry (peg.c) -------------------------------------------------------------- */

/* Before collision: how far each body may get. */
bool ss_sim_foresee(ss_sim *sim, ss_error *err);
/* Groups of sim->peg.list into sim->frame, whose contacts are there. */
bool ss_sim_add_alternatives(ss_sim *sim, ss_error *err);
/* sim->frame, with alternatives -> sim->answer, sim->peg.answer */
bool ss_sim_solve_peg(ss_sim *sim, ss_error *err);
bool ss_sim_models_alternatives(const ss_sim *sim); /* peg-mlcp does, by itself */
void ss_sim_forget_peg(ss_sim *sim);                /* of the last substep */
/* The report with the times of another one: times add up over the tries of a step, all else does not. */
ss_sim_report ss_sim_with_times(ss_sim_report report, const ss_sim_report *of);
void ss_sim_free_peg(ss_sim *sim);
/* m/s: of b's surface minus a's at a point: prescribed motion, and belts. */
void ss_sim_surface_velocity(const ss_sim *sim, const int body[2], const double belt[3],
                             const double point[3], double velocity[3]);
/* How a body turns freely within the step. */
typedef struct ss_free_turn {
    ss_vec3 torque; /* N m, world: ss_sim_gyroscopic_torque */
    bool midway;    /* it is that of the midpoint rule, and nothing else counts on how the body turns */
} ss_free_turn;
/* Along its velocity, for the step. `inverse`: of its inertia, if that is known already. */
void ss_sim_fly(const ss_sim *sim, const ss_free_turn *turn, const ss_mat3 *inverse, ss_body *body);
/* Moves a copy of a body to the end of the substep; velocity NULL: it is not in the frame. */
void ss_sim_predict(const ss_sim *sim, const double *velocity, ss_body *body);
/* All numbers; both are of the same frame. */
void ss_sim_copy_answer(const ss_answer *from, ss_answer *to);

/* Fills a guess from the impulses of the last step; frame NULL: of the contacts alone, by their own normals.
 */
bool ss_warm_guess(ss_sim *sim, const ss_frame *frame, ss_answer *guess, ss_error *err);
/* Did the friction between the two shapes of contact c saturate in the last step? No, when they did not
 * touch. False when out of memory. */
bool ss_warm_slides(ss_sim *sim, int c, bool *slides);
/* Remembers the answer. False when out of memory: the next step then starts from zero. */
bool ss_warm_keep(ss_sim *sim);
/* The same of contacts alone, in a step without a frame. */
bool ss_warm_keep_contacts(ss_sim *sim, const ss_answer *answer);
/* Room for this many, contents lost. */
bool ss_warm_reserve(ss_warm *warm, int contacts, int rows);
void ss_warm_free(ss_warm *warm);

/* Kinematic bodies get the velocity that takes them through the substep. */
void ss_sim_drive_kinematic(ss_sim *sim);
/* And arrive where their motion says, or where their velocity leads. */
void ss_sim_move_kinematic(ss_sim *sim);
/* Speeds of the answer are finite and not absurd. */
bool ss_sim_check_answer(const ss_sim *sim, ss_error *err);
/* Velocities and poses after the substep; fails when something is not finite. */
bool ss_sim_move(ss_sim *sim, ss_error *err);
/* Faster than any body may be, or not finite. */
bool ss_sim_is_too_fast(const ss_sim *sim, const double velocity[6]);
/* Joints count their turns, and poses must be finite. trees: they hold all joints, and know where these are;
 * NULL: not so. */
bool ss_sim_end_move(ss_sim *sim, const ss_trees *trees, ss_error *err);

/* Everything of the world that a step may change, or a user function in it: written to the end of bytes, or
 * read from them, as bytes->reading says. */
void ss_sim_exchange_world(const ss_sim *sim, ss_byte_stream *bytes);
/* The same of the first ones alone: user functions may add to the world in a step that then fails. */
ss_world_counts ss_sim_counts(const ss_sim *sim);
void ss_sim_exchange_counted(const ss_sim *sim, const ss_world_counts *of, ss_byte_stream *bytes);
/* The same of the impulses that the next step starts from. */
void ss_sim_exchange_warm(ss_warm *warm, ss_byte_stream *bytes);
/* And of the pieces of integrated steps, which are read into memory of its own. */
typedef struct ss_paces {
    int count;
    double *items;
} ss_paces;
ss_paces ss_sim_paces(const ss_sim *sim);
void ss_sim_exchange_paces(ss_paces *paces, ss_byte_stream *bytes);

/* "body 3 (brick)" */
typedef struct ss_body_label {
    char text[96];
} ss_body_label;
ss_body_label ss_sim_body_label(const ss_sim *sim, int body);

/* What the option finisher stands for: "default" is none behind a solver that was chosen by name. */
const char *ss_sim_choose_finisher(const ss_sim_options *options);

#endif
