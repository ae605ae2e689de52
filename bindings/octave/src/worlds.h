/* worlds.h - what the files about worlds and simulations share: worlds.c builds them, steps.c runs them,
 * hooks.c calls m-functions from inside a step.
 *
 * Bodies, joints and shapes are counted from 1 in Octave; body 0 is the world. Vectors of many bodies or
 * contacts are columns of a matrix: positions are 3 x n. */
#ifndef WORLDS_H
#define WORLDS_H

#include "toolbox.h"

typedef struct tb_world {
    ss_world *world;
    ss_sim *sim; /* NULL until world_start */
    const ss_scene *scene;
    void *parameters, *state; /* of the scene */
    ss_writer *writer;
    int every; /* steps from one recorded frame to the next */
    char solver[64];
    bool stepping; /* inside world_step: an m-function may look, but not restart or free it */

    /* m-functions, NULL = none. They outlive the call that gave them. */
    mxArray *at[SS_STAGE_COUNT], *collision, *solve, *dynamics;
    ss_solver own_solver; /* that calls `solve` */
    mxArray *trouble;     /* what one of them threw */

    /* RPIsim's friction: the contact of bodies a and b has factor mu_a mu_b. NULL: that of the materials. */
    double *body_mu, mu_factor;
} tb_world;

tb_world *tb_get_world(const mxArray *handle, ss_error *err);
/* A body, 1 to n, or 0 for the world, as the library counts. */
bool tb_get_body(const tb_world *w, const mxArray *value, const char *what, int *body, ss_error *err);

/* hooks.c: connects the m-functions of the world with its simulation. */
bool tb_hooks_connect(tb_world *w, ss_error *err);
void tb_hooks_free(tb_world *w);
mxArray *tb_contact_list(const ss_contact_list *contacts, const ss_answer *answer);

#endif
