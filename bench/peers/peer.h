/* bench/peers/peer.h - another engine behind one small face: a world of ours is built in it, stepped,
 * and read back. */
#ifndef SS_BENCH_PEER_H
#define SS_BENCH_PEER_H

#include <stickslip/stickslip.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_peer {
    const char *name; /* "ODE quickstep" */
    /* NULL when the world has something the engine, or this bridge to it, does not have. iterations:
     * 0 = its default. */
    void *(*create)(const ss_world *world, double h, int iterations);
    void (*step)(void *state);
    /* Writes poses and velocities of all bodies into the world. */
    void (*read)(void *state, ss_world *world);
    void (*destroy)(void *state);
} ss_peer;

extern const ss_peer ss_peer_ode_quick, ss_peer_ode_step, ss_peer_bullet, ss_peer_mujoco;

/* Shapes that every bridge knows: sphere, plane (of the world), box, capsule, cylinder; one per
 * body; no joints. */
bool ss_peer_is_simple(const ss_world *world);
/* Where a shape is in the world: position and quaternion (scalar first). */
void ss_peer_place(const ss_world *world, const ss_shape *shape, double position[3], double quaternion[4]);
/* The material pair of everything: scenes of a race have one. */
double ss_peer_friction(const ss_world *world);

#ifdef __cplusplus
}
#endif
#endif
