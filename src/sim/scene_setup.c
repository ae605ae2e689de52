#include "sim/scene_setup.h"

#include "base/words.h"

#include <stdio.h>
#include <string.h>

const ss_scene *ss_scene_named(const char *name, ss_error *err)
{
    const ss_scene *scene = ss_scene_find(name);
    if (scene) return scene;
    ss_unknown unknown = ss_unknown_start("scene", name);
    for (int i = 0; i < ss_scene_count(); i++) ss_unknown_offer(&unknown, ss_scene_at(i)->name);
    ss_unknown_fail(&unknown, err);
    return NULL;
}

static bool set_options(ss_scene_setup *setup, const char *const *settings, ss_error *err)
{
    ss_sim_options *to = &setup->options;
    ss_options_defaults(ss_sim_option_table, to);
    ss_options_defaults(ss_collision_option_table, &to->collision);
    to->h = setup->scene->h;
    if (setup->scene->options) setup->scene->options(setup->parameters, to);
    for (; settings && *settings; settings++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*settings, "="), *settings);
        bool contacts =
            !ss_options_find(ss_sim_option_table, name) && ss_options_find(ss_collision_option_table, name);
        if (!ss_options_assign(contacts ? ss_collision_option_table : ss_sim_option_table,
                               contacts ? (void *)&to->collision : (void *)to, *settings, err))
            return false;
    }
    return true;
}

bool ss_scene_setup_open(ss_scene_setup *setup, const char *name, const char *const *parameters,
                         const char *const *settings, ss_unit_factors units, ss_error *err)
{
    static const ss_option none[] = {{0}};
    const ss_scene *scene = ss_scene_named(name, err);
    *setup = (ss_scene_setup){.scene = scene};
    if (!scene) return false;

    // What the scene is built with, and what it is stepped with.
    const ss_option *table = scene->parameters ? scene->parameters : none;
    setup->parameters = ss_allocate(1, scene->parameters_size + 1);
    if (!setup->parameters) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a scene");
    ss_options_defaults(table, setup->parameters);
    for (; parameters && *parameters; parameters++)
        if (!ss_options_assign(table, setup->parameters, *parameters, err))
            return ss_fail_in(err, "%s", name);
    if (!set_options(setup, settings, err)) return ss_fail_in(err, "%s", name);

    // The world, in other units if they are wanted.
    setup->world = ss_world_create(err);
    if (!setup->world || !scene->build(setup->parameters, (uint64_t)setup->options.seed, setup->world, err))
        return false;
    if (units.length > 0.0) {
        if (scene->si_only)
            return ss_fail(err, SS_ERROR_USAGE,
                           "%s: its external drive is in SI units, which cannot be changed", name);
        setup->options.h *= units.time;
        if (!ss_world_change_units(setup->world, units.length, units.mass, units.time, err))
            return ss_fail_in(err, "%s", name);
    }
    setup->sim = ss_sim_create(setup->world, &setup->options, err);
    return setup->sim && (!scene->begin || scene->begin(setup->parameters, setup->sim, &setup->state, err));
}

void ss_scene_setup_close(ss_scene_setup *setup)
{
    ss_sim_destroy(setup->sim);
    ss_world_destroy(setup->world);
    ss_release(setup->parameters);
    ss_release(setup->state);
    *setup = (ss_scene_setup){0};
}
