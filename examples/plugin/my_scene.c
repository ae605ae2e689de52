/* A scene and a user function as a plug-in:
 *
 *     stickslip run seesaw --plugin ./my_scene.so -p load=3 --call wind
 */
#include <stickslip/plugin.h>

/* ---- the scene: a plank on a bar, and a box on one end of it ---------------------------------------- */

typedef struct seesaw_parameters {
    double load; /* kg */
} seesaw_parameters;

static const ss_option parameters[] = {{.name = "load",
                                        .type = SS_OPTION_REAL,
                                        .offset = offsetof(seesaw_parameters, load),
                                        .default_value = "1",
                                        .min = 1e-3,
                                        .max = 1e3,
                                        .value_name = "kg",
                                        .help = "mass of the box, in kg"},
                                       {0}};

static bool add_box(ss_world *world, const char *name, double mass, double x, double z, double a, double b,
                    double c, ss_error *err)
{
    ss_body body = {.name = name, .kind = mass > 0.0 ? SS_DYNAMIC : SS_STATIC, .mass = mass};
    body.position[0] = x, body.position[2] = z;
    int number = ss_world_add_body(world, &body, err);
    ss_shape shape = {.kind = SS_BOX, .size = {a, b, c}, .density = 1000.0};
    return number >= 0 && ss_world_add_shape(world, number, &shape, err) >= 0;
}

static bool build(const void *chosen, uint64_t seed, ss_world *world, ss_error *err)
{
    (void)seed;
    const seesaw_parameters *set = chosen;
    ss_shape ground = {.kind = SS_PLANE};
    return ss_world_add_shape(world, SS_WORLD, &ground, err) >= 0 &&
           add_box(world, "bar", 0.0, 0.0, 0.1, 0.1, 0.4, 0.2, err) &&
           add_box(world, "plank", 2.0, 0.0, 0.22, 2.0, 0.4, 0.04, err) &&
           add_box(world, "load", set->load, 0.85, 0.34, 0.2, 0.2, 0.2, err);
}

static const ss_scene seesaw = {
    .name = "seesaw",
    .summary = "a plank on a bar, with a load on one end",
    .description = "The plank tips, the load slides off or not.",
    .parameters = parameters,
    .parameters_size = sizeof(seesaw_parameters),
    .h = 0.005,
    .length = 1.0,
    .picture_time = 0.5,
    .build = build,
};

/* ---- the user function: a wind along y, before every step ------------------------------------------- */

static bool blow(ss_sim *sim, void *context, ss_error *err)
{
    (void)context, (void)err;
    ss_world *world = ss_sim_world(sim);
    for (int b = 0; b < ss_world_body_count(world); b++) ss_world_body(world, b)->force[1] = 20.0; /* N */
    return true;
}

static const ss_hook wind = {
    .name = "wind", .summary = "pushes every body along y with 20 N", .at = {[SS_BEFORE_COLLISION] = blow}};

static const ss_scene *const scenes[] = {&seesaw, NULL};
static const ss_hook *const hooks[] = {&wind, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .scenes = scenes, .hooks = hooks};
