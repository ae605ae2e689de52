/* sim/soft/soft.h - real-time steps (ss_sim_options.fast): soft contacts in small steps.
 *
 * Contacts are found once, at the start of the step. Within it, bodies move in a few small steps along
 * velocities in which every contact is a spring with a damper, so stiff that it would only just be resolved:
 * Catto's soft step ("Solver2D", 2024), which is Macklin et al.'s small steps (2019) with sequential
 * impulses. Of each small step:
 *
 *     y <- y + h f                          forces, and the impulses of the small step before
 *     sweep with bias                       one pass over all manifolds: overlaps are pushed out, softly
 *     d <- d + h y                          displacements since the start of the step
 *     sweep without                         the same pass, so that what pushed out adds no energy
 *
 * Jacobians, masses and the graph stay as they are within the step: gaps follow the displacements along the
 * Jacobian, g = g0 + J d. All impulses of a small step start from those of the one before. As J does not
 * change, what they do to the bodies is known without looking at a contact: it is what the last small step
 * did, y_end - y_free, and the warm start is one pass over the bodies.
 *
 * Everything is in velocities scaled by the root of the mass, as in solver/sweep/batches.h: M^-1 = L L',
 * v = L y, so that J L serves for both directions. L is that of the body's own frame, turned: L_world =
 * R L_body. Eight manifolds that share no body lie side by side in a batch, in single precision. A manifold
 * is one normal and up to four points, each with its own normal impulse; friction acts in the middle of them,
 * as one force in the tangent plane, bounded by a disc, and one torque about the normal.
 *
 * What is kept between steps are impulses, which are found again by pair and feature, and batches as long as
 * the same pairs touch. Both are functions of what a snapshot holds.
 */
#ifndef SS_SIM_SOFT_SOFT_H
#define SS_SIM_SOFT_SOFT_H

#include "collision/kept.h"
#include "linalg/mat3.h"
#include "sim/byte_stream.h"

#include <stickslip/sim.h>

enum { SS_SOFT_LANES = 8, SS_SOFT_POINTS = 4, SS_SOFT_COLOURS = 64 };
/* Slices of a colour, as many threads can share it; batches that are too few for that: some microseconds. */
enum { SS_SOFT_SLICES = 8, SS_SOFT_SHARED_LEAST = 32 };

/* Scaled velocity and displacement of a body since the start of the step, linear and angular: a cache line.
 * Row 0 is the world's, of zeros. */
typedef struct ss_soft_row {
    _Alignas(64) float y[8];
    float d[8];
} ss_soft_row;

/* What contacts need of a body to be prepared: L' R' row by row, four numbers to a row, and sqrt(1/m). */
typedef struct ss_soft_frame {
    _Alignas(16) float turn[3][4];
    float root, pad[3];
} ss_soft_frame;

/* One point of eight manifolds. */
typedef struct ss_soft_point {
    float turn[2][3][SS_SOFT_LANES]; /* angular part of J L; while a batch is filled, the arms */
    float mass[SS_SOFT_LANES];       /* 1 / J M^-1 J' */
    float impulse[SS_SOFT_LANES];    /* of the small step, N s */
    float total[SS_SOFT_LANES];      /* of the step */
    float gap[SS_SOFT_LANES];        /* m, at the start of the step */
    float load[SS_SOFT_LANES];       /* m/s: of surfaces that move as told */
    float allowed[SS_SOFT_LANES];    /* m/s: speed of approach that only closes the gap */
    float lever[SS_SOFT_LANES];      /* m: from the middle of the manifold, for the torque about the normal */
    float approach[SS_SOFT_LANES];   /* m/s: at the start of the step, for restitution */
} ss_soft_point;

typedef struct ss_soft_batch {
    _Alignas(64) int body[2][SS_SOFT_LANES]; /* rows */
    int points, first;                       /* of every lane; unused ones have no mass */
    float normal[3][SS_SOFT_LANES], tangent[2][3][SS_SOFT_LANES];
    float root[2][SS_SOFT_LANES];        /* sqrt(1/m) */
    float slide[2][2][3][SS_SOFT_LANES]; /* angular part of J L of the tangents, by tangent and side */
    float twist[2][3][SS_SOFT_LANES];    /* of turning about the normal */
    float slide_mass[3][SS_SOFT_LANES];  /* (J M^-1 J')^-1 of the tangents: 11, 12, 22 */
    float twist_mass[SS_SOFT_LANES];
    float mu[SS_SOFT_LANES], torsion[SS_SOFT_LANES];       /* torsion: m, beside that of the points' levers */
    float load[3][SS_SOFT_LANES];                          /* of tangents and turning, as that of points */
    float friction[2][SS_SOFT_LANES], spin[SS_SOFT_LANES]; /* impulses of the small step */
    float total[3][SS_SOFT_LANES];                         /* of the step: friction and spin */
    float restitution[SS_SOFT_LANES];
} ss_soft_batch;

/* What a sweep knows about the small step. */
typedef struct ss_soft_pace {
    float inverse_h;                       /* 1/s: of the small step */
    float time;                            /* s: since the start of the step */
    float push;                            /* m/s: no overlap is pushed out faster */
    float rate, mass_scale, impulse_scale; /* softness */
    float slow;                            /* m/s: what approaches more slowly does not bounce */
} ss_soft_pace;

/* The passes over batches, in the same source for every machine, so that all give the same bits. */
typedef struct ss_soft_kernel {
    /* From arms, directions and frames: Jacobians and masses. */
    void (*fill)(ss_soft_batch *batch, ss_soft_point *points, const ss_soft_frame *frames);
    /* Speeds of approach, for restitution. */
    void (*look)(ss_soft_batch *batches, ss_soft_point *points, int begin, int end, ss_soft_row *rows);
    /* y += (J L)' impulses */
    void (*push)(ss_soft_batch *batches, ss_soft_point *points, int begin, int end, ss_soft_row *rows);
    void (*sweep)(ss_soft_batch *batches, ss_soft_point *points, int begin, int end, ss_soft_row *rows,
                  const ss_soft_pace *pace, bool soft);
    void (*bounce)(ss_soft_batch *batches, ss_soft_point *points, int begin, int end, ss_soft_row *rows,
                   const ss_soft_pace *pace);
} ss_soft_kernel;
extern const ss_soft_kernel ss_soft_kernel_portable;
#ifdef __x86_64__
extern const ss_soft_kernel ss_soft_kernel_avx2;
#endif

/* ---- manifolds -------------------------------------------------------------------------------------- */

/* Contacts of one pair with one normal, in the order of the contact list. */
typedef struct ss_soft_manifold {
    int shape[2], body[2]; /* of the world */
    int row[2];
    int first, count; /* contacts */
    int slots;        /* of a batch, for its points */
    int batch, lane;
} ss_soft_manifold;

/* What a manifold carried in the last step. */
typedef struct ss_soft_memory {
    int shape[2], body[2];
    int count;
    uint64_t key[SS_SOFT_POINTS];
    float impulse[SS_SOFT_POINTS];
    float friction[3], spin; /* in the world */
} ss_soft_memory;

typedef struct ss_soft_list {
    int count, capacity;
    ss_soft_memory *items;
} ss_soft_list;

/* Roots of masses and inertias of a body, and what they were made from. */
typedef struct ss_soft_mass {
    double mass, inertia[9];
    double root;        /* sqrt(1/m) */
    double lower[3][3]; /* L of the inverse inertia, body frame */
    ss_mat3 inverse;    /* that */
} ss_soft_mass;

/* A body at the start of the step. */
typedef struct ss_soft_start {
    double position[3], quaternion[4], velocity[6];
    ss_mat3 rotation;    /* to the world */
    ss_vec3 torque;      /* N m: of it, the gyroscopic one */
    bool keeps_momentum; /* it turns freely by the midpoint rule, which makes that torque */
} ss_soft_start;

typedef struct ss_soft {
    const ss_soft_kernel *kernel;
    int row_count, row_capacity; /* with the world's */
    int *row_of;                 /* world body -> row; 0: not in it */
    int *body_of;                /* row -> world body */
    int body_capacity;
    ss_soft_row *rows;            /* behind the room for bodies: rows of zeros, the world of each slice */
    ss_soft_frame *frames;        /* the same */
    float (*gain)[8], (*free)[8]; /* per row: h L' f of a small step; y before impulses */
    ss_soft_mass *masses;         /* of the bodies of the world */
    ss_soft_start *start;         /* the same */
    double (*wrench)[6];          /* the same: N, N m */
    bool told;                    /* a body moves as told */
    bool *touched;                /* per row: it has contacts or joints; the others need no row */

    int manifold_count, manifold_capacity, old_count, old_capacity;
    ss_soft_manifold *manifolds, *old; /* of this step and of the last one */
    uint64_t *used;                    /* colours at each row */
    ss_soft_batch *batches;
    ss_soft_point *points;
    int batch_count, batch_capacity, point_count, point_capacity;
    int colour_start[SS_SOFT_COLOURS + 1]; /* batches */
    int batched_capacity;                  /* body_capacity when they were made */
    bool bounces;

    struct ss_soft_joints *joints; /* NULL: none so far */
    double (*joint_start)[5];      /* turned and load_direction of the joints at the start of the step */
    int joint_capacity;
    int bodies_at_start, joints_at_start; /* user functions may have added others since */

    ss_soft_list memory, next;
    bool kept;         /* the memory is of this step, and `next` has that of the step before */
    bool moved;        /* the world is at the end of the step that `start` began */
    bool waits;        /* the frame of the last step is made when someone looks */
    double frame_time; /* s */
} ss_soft;

/* Batches of one colour share nothing, but for those of the last. */
static inline bool ss_soft_is_shared(const ss_soft *soft, int colour)
{
    return colour < SS_SOFT_COLOURS - 1 &&
           soft->colour_start[colour + 1] - soft->colour_start[colour] >= SS_SOFT_SHARED_LEAST;
}
/* Where a slice of it begins. */
static inline int ss_soft_slice(const ss_soft *soft, int colour, int slice)
{
    int64_t begin = soft->colour_start[colour], count = soft->colour_start[colour + 1] - begin;
    return (int)(begin + count * slice / SS_SOFT_SLICES);
}

struct ss_sim;
ss_soft *ss_soft_create(ss_error *err);
void ss_soft_destroy(ss_soft *soft);
/* Why a simulation with these options cannot have real-time steps. */
bool ss_soft_check_options(const ss_sim_options *options, ss_error *err);
/* Contacts are found: all velocities and displacements of the step, nothing of the world is changed. */
bool ss_soft_solve(struct ss_sim *sim, ss_error *err);
/* Velocities and poses of the world. */
bool ss_soft_move(struct ss_sim *sim, ss_error *err);
/* A step begins: nothing of it is there to be undone. */
void ss_soft_begin(struct ss_sim *sim);
/* The step does not count after all. */
void ss_soft_undo(struct ss_sim *sim);
/* It then puts back all that a step changes: neither user functions, nor joints, nor motions are in it. */
bool ss_soft_undoes_all(const struct ss_sim *sim);
/* The frame of the last step with its answer: the problem of the whole step, and what the small steps made of
 * it. */
void ss_soft_make_frame(struct ss_sim *sim);
/* Impulses that the next step starts from and manifolds that are kept, as ss_sim_exchange_warm. */
typedef struct ss_soft_state {
    ss_soft_list memory;
    int kept_count;
    ss_kept_manifold *kept;
} ss_soft_state;
void ss_soft_exchange(ss_soft_state *state, ss_byte_stream *bytes);
void ss_soft_state_free(ss_soft_state *state);

/* Joints (joints.c). Rows of them for small steps of h; row impulses start from sim->warm. */
bool ss_soft_prepare_joints(struct ss_sim *sim, double h, int steps, ss_error *err);
bool ss_soft_keep_joints(struct ss_sim *sim, ss_error *err);
/* New rows where bodies have turned far since the start of the step. */
void ss_soft_refresh_joints(struct ss_sim *sim, double h, int steps);
ss_vec3 ss_soft_turn(const ss_soft *soft, int row); /* rad, in the world, since the start of the step */
/* The body of a row to where its displacement leads, or back to the start of the step. */
void ss_soft_place(struct ss_sim *sim, int row, bool there);
void ss_soft_joints_free(struct ss_soft_joints *joints);
void ss_soft_push_joints(ss_soft *soft);
void ss_soft_note_rates(ss_soft *soft);
void ss_soft_sweep_joints(ss_soft *soft, const ss_soft_pace *pace, bool is_soft);
int ss_soft_joint_rows(const ss_soft *soft);
double ss_soft_joint_impulse(const ss_soft *soft, int row); /* of the whole step */
/* Friction that depends on the load follows the force of the step before. */
void ss_soft_note_loads(struct ss_sim *sim);

/* Contacts -> manifolds; then, with the rows of what they touch, batches and impulses (manifolds.c). False
 * when out of memory. */
bool ss_soft_find_manifolds(struct ss_sim *sim, ss_error *err);
bool ss_soft_gather(struct ss_sim *sim, ss_error *err);
/* Impulses of this step become the memory. */
bool ss_soft_keep(struct ss_sim *sim, ss_error *err);

#endif
