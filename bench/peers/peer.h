/* bench/peers/peer.h - another engine behind one small face: a world of ours is built in it, stepped,
 * and read back. */
#ifndef SS_BENCH_PEER_H
#define SS_BENCH_PEER_H

#include <stickslip/stickslip.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How hard an engine tries. 0 and NULL: its own default. */
typedef struct ss_effort {
    double h;           /* s */
    int iterations;     /* of its solver, per step */
    const char *solver; /* one of several that it has */
    double tolerance;   /* at which its solver stops */
    int threads;        /* 0: one */
} ss_effort;

typedef struct ss_peer {
    const char *name;             /* "ODE quickstep" */
    const char *(*version)(void); /* "0.16.2" */
    /* NULL when the world has something the engine, or this bridge to it, does not have: `why` says what. */
    void *(*create)(const ss_world *world, const ss_effort *effort, char why[200]);
    void (*step)(void *state);
    /* Writes poses and velocities of all bodies into the world. */
    void (*read)(void *state, ss_world *world);
    /* What went wrong on the way without stopping it, "" otherwise: contacts that were dropped. NULL: cannot
     * happen. */
    const char *(*complaint)(void *state);
    void (*destroy)(void *state);
} ss_peer;

extern const ss_peer ss_peer_ode_quick, ss_peer_ode_step, ss_peer_bullet, ss_peer_mujoco;

/* What every bridge knows: spheres, boxes, capsules, cylinders, hulls; planes of the world; one shape per
 * body; ball and revolute joints without laws. */
bool ss_peer_is_simple(const ss_world *world, char why[200]);
/* Where a shape is in the world: position and quaternion (scalar first). */
void ss_peer_place(const ss_world *world, const ss_shape *shape, double position[3], double quaternion[4]);
/* a b, the rotation b followed by a. */
void ss_peer_multiply(const double a[4], const double b[4], double product[4]);
void ss_peer_turn(const double q[4], const double vector[3], double turned[3]);
/* False where a shape has mass but meets nothing, as the links of a chain. */
bool ss_peer_collides(const ss_shape *shape);
/* The material pair of everything: scenes of a race have one. */
double ss_peer_friction(const ss_world *world);

#ifdef __cplusplus
}
#endif
#endif
