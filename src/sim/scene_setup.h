/* sim/scene_setup.h - from the name of a scene to a simulation that is ready to step: parameters, options,
 * units, world. */
#ifndef SS_SIM_SCENE_SETUP_H
#define SS_SIM_SCENE_SETUP_H

#include <stickslip/scene.h>

#include "base/inner.h"

/* A change of units, as ss_world_change_units has it; all 0: none. */
typedef struct ss_unit_factors {
    double length, mass, time;
} ss_unit_factors;

typedef struct ss_scene_setup {
    const ss_scene *scene;
    void *parameters, *state; /* of the scene */
    ss_sim_options options;   /* the table's, then the scene's, then the settings */
    ss_world *world;
    ss_sim *sim;
} ss_scene_setup;

/* Fails with the nearest name. */
SS_INNER const ss_scene *ss_scene_named(const char *name, ss_error *err);

/* parameters: "rows=12", of the scene; settings: "h=0.01", "solver=auto", "with=gap_term=zero", of the
 * simulation or its contacts, which must live as long as the simulation. Both end with NULL, and may be NULL.
 * To be closed in any case. */
SS_INNER bool ss_scene_setup_open(ss_scene_setup *setup, const char *scene, const char *const *parameters,
                                  const char *const *settings, ss_unit_factors units, ss_error *err);
SS_INNER void ss_scene_setup_close(ss_scene_setup *setup);

#endif
