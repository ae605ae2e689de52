/* stickslip/scene.h - named worlds with parameters, for `run`, tests, benchmarks and the viewer.
 *
 * Adding one: a file scenes/NAME.c ending in `const ss_scene ss_scene_NAME = {...};` and a line
 * SS_SCENE(NAME) in scenes/scenes.def; or from outside the library, by plugin.h. A scene uses the public
 * headers only: it is also an example of how to use the library.
 *
 * Read after sim.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_SCENE_H
#define STICKSLIP_SCENE_H

#include <stickslip/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a scene looks in a picture and in the viewer. */
typedef struct ss_camera {
    double eye[3], target[3];
    double field_of_view; /* degrees, vertical; 0 = 40. eye = target: chosen to show everything */
} ss_camera;

typedef struct ss_scene_result ss_scene_result;

typedef struct ss_scene {
    const char *name;        /* "brick-wall" */
    const char *summary;     /* one line */
    const char *description; /* one paragraph: what it is, where it comes from, what to observe */
    const ss_option *parameters;
    size_t parameters_size;
    double h;            /* s: recommended step */
    double length;       /* s: recommended duration */
    double picture_time; /* s: when its picture is taken */
    ss_camera camera;
    /* Fills an empty world. */
    bool (*build)(const void *parameters, uint64_t seed, ss_world *world, ss_error *err);
    /* Sets options that differ from the defaults (solver, gap term); NULL = none. Options given by the user
     * take precedence. */
    void (*options)(const void *parameters, ss_sim_options *options);
    /* User functions, controllers; *state is freed by ss_release after the simulation. NULL = none. */
    bool (*begin)(const void *parameters, ss_sim *sim, void **state, ss_error *err);
    bool si_only; /* `begin` moves or pushes something in SI units, so the world's units must not change */
    /* Values specific to the scene, after any step ("angle", "rad"); at most SS_SCENE_FIGURES. NULL = none.
     * Drift is measured for all scenes. */
    int (*figures)(const void *parameters, const ss_sim *sim, const void *state, ss_scene_result *figures);
    /* The same world as a model file (MJCF, modelfile.h), for other programs; freed by ss_release. NULL = no
     * such file. */
    char *(*model)(const void *parameters, ss_error *err);
} ss_scene;

#define SS_SCENE_FIGURES 8
struct ss_scene_result {
    const char *name, *unit;
    double value;
};

/* Those of the library first, then those that were registered (plugin.h), in that order. */
SS_API int ss_scene_count(void);
SS_API const ss_scene *ss_scene_at(int index); /* NULL beyond the last */
SS_API const ss_scene *ss_scene_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
