#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count;
    double size, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "25", 1, 10000, "number of solids, of five kinds in turn"),
    SS_PARAMETER_REAL(parameters, size, "0.3", 1e-6, 1e6, "circumradius, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.4", 0, 10, "friction between all bodies"),
    {0}};

static void drop(ss_builder *build, const parameters *p, int k, ss_random *random)
{
    if (build->failed) return;
    ss_mesh *mesh = ss_mesh_solid((ss_solid)(k % 5), build->err);
    build->failed = mesh == NULL;
    if (!mesh) return;
    double scale = (k % 5 == SS_CUBE ? 2.0 / sqrt(3.0) : 1.0) * p->size, pitch = 2.1 * p->size;
    ss_mesh_transform(mesh, (double[3]){scale, scale, scale}, NULL, NULL);
    ss_body body = {.position = {(k % 3 - 1) * pitch, (k / 3 % 3 - 1) * pitch, p->size + k / 9 * pitch}};
    ss_turn_at_random(random, body.quaternion);
    ss_build_one(build, &body, &(ss_shape){.kind = SS_HULL, .mesh = mesh, .density = 1000.0});
    ss_mesh_destroy(mesh);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int k = 0; k < p->count; k++) drop(&build, p, k, &random);
    return ss_build_done(&build);
}

const ss_scene ss_scene_box_drop = {
    .name = "box-drop",
    .summary = "heaps of the five regular solids dropped on a table",
    .description =
        "Randomly oriented tetrahedra, cubes, octahedra, dodecahedra and icosahedra fall on a table: "
        "contacts between polyhedra at vertices, edges and faces. Masses and inertias follow from the "
        "geometry.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 5.0,
    .picture_time = 1.5,
    .build = build_scene,
};
