/* What hangs on a frame or a simulation beside its arrays, and how it is freed. */
#include <stickslip/dataset.h>

void ss_manifest_free(ss_manifest *manifest)
{
    if (!manifest) return;
    ss_release(manifest->toolkit);
    ss_release(manifest->title);
    ss_release(manifest->description);
    ss_release(manifest->author);
    ss_release(manifest->date);
    ss_release(manifest->url);
    ss_release(manifest->keywords);
    ss_release(manifest->image);
    *manifest = (ss_manifest){0};
}

void ss_stored_result_free(ss_stored_result *result)
{
    if (!result) return;
    ss_release(result->solver);
    ss_release(result->formulation);
    ss_release(result->with);
    ss_answer_destroy(result->answer);
    ss_release(result->errors);
    for (int m = 0; m < result->measure_count; m++) {
        ss_release(result->measures[m].name);
        ss_release(result->measures[m].values);
    }
    ss_release(result->measures);
    ss_certificate_destroy(result->certificate);
    *result = (ss_stored_result){0};
}

void ss_shapes_free(ss_shapes *shapes)
{
    if (!shapes) return;
    for (int m = 0; m < shapes->mesh_count; m++) ss_mesh_destroy(shapes->meshes[m]);
    ss_release(shapes->meshes);
    ss_release(shapes->heights);
    ss_release(shapes->items);
    *shapes = (ss_shapes){0};
}

void ss_scenery_free(ss_scenery *scenery)
{
    if (!scenery) return;
    ss_release(scenery->position);
    ss_release(scenery->quaternion);
    *scenery = (ss_scenery){0};
}
