#include <stickslip/scene.h>

#include <string.h>

#define SS_SCENE(scene) extern const ss_scene ss_scene_##scene;
#include "scenes.def"
#undef SS_SCENE

static const ss_scene *const scenes[] = {
#define SS_SCENE(scene) &ss_scene_##scene,
#include "scenes.def"
#undef SS_SCENE
};

int ss_scene_count(void)
{
    return (int)(sizeof scenes / sizeof *scenes);
}

const ss_scene *ss_scene_at(int index)
{
    return index >= 0 && index < ss_scene_count() ? scenes[index] : NULL;
}

const ss_scene *ss_scene_find(const char *name)
{
    for (int i = 0; i < ss_scene_count(); i++) {
        if (strcmp(scenes[i]->name, name) == 0) return scenes[i];
    }
    return NULL;
}
