#include <stickslip/scene.h>

#include "base/registry.h"

#include <string.h>

#define SS_SCENE(scene) extern const ss_scene ss_scene_##scene;
#include "scenes.def"
#undef SS_SCENE

static const ss_scene *const scenes[] = {
#define SS_SCENE(scene) &ss_scene_##scene,
#include "scenes.def"
#undef SS_SCENE
};

enum { OURS = sizeof scenes / sizeof *scenes };

int ss_scene_count(void)
{
    return OURS + ss_registered_count(SS_REGISTERED_SCENES);
}

const ss_scene *ss_scene_at(int index)
{
    if (index >= OURS) return ss_registered_at(SS_REGISTERED_SCENES, index - OURS);
    return index >= 0 ? scenes[index] : NULL;
}

const ss_scene *ss_scene_find(const char *name)
{
    const ss_scene *scene;
    for (int i = 0; (scene = ss_scene_at(i)); i++) {
        if (strcmp(scene->name, name) == 0) return scene;
    }
    return NULL;
}
