/* What a simulation says about itself. RPI-sim writes /Manifest, we write manifest in each simulation;
 * capitals do not matter, and a simulation without one has that of the root. Members we do not know
 * are left alone. */
#include "dataset/bpmd.h"

#include <math.h>
#include <string.h>

/* *place does not exist, without an error, when there is no manifest. */
static bool enter_manifest(const ss_h5_group *group, const char *name, ss_bpmd_place *place, ss_error *err)
{
    *place = (ss_bpmd_place){0};
    return !name[0] || !ss_h5_is_group(group, name) || ss_bpmd_enter(group, name, place, err);
}

static bool find_manifest(ss_bpmd *file, int simulation, ss_bpmd_place *place, ss_error *err)
{
    ss_h5_group group;
    if (!ss_bpmd_enter_simulation(file, simulation, &group, err)) return false;
    bool good = enter_manifest(&group, file->simulations[simulation].manifest, place, err);
    ss_h5_leave_group(&group);
    if (!good || place->exists) return good;
    return enter_manifest(&file->root, file->manifest, place, err);
}

static bool read_image(const ss_bpmd_place *place, ss_manifest *manifest, ss_error *err)
{
    uint64_t extent[3];
    if (!ss_bpmd_has(place, "image")) return true;
    if (!ss_h5_read_bytes(&place->group, "image", &manifest->image, extent, 3, err)) return false;
    if (extent[2] != 3 || extent[0] == 0 || extent[1] == 0 || extent[0] > INT32_MAX || extent[1] > INT32_MAX)
        return ss_fail(err, SS_ERROR_INPUT, "%s: %s/image: shape (%llu, %llu, %llu), expected (h, w, 3)",
                       place->group.file, place->group.path, (unsigned long long)extent[0],
                       (unsigned long long)extent[1], (unsigned long long)extent[2]);
    manifest->image_height = (int)extent[0];
    manifest->image_width = (int)extent[1];
    return true;
}

bool ss_bpmd_manifest(ss_bpmd *file, int simulation, ss_manifest *manifest, ss_error *err)
{
    *manifest = (ss_manifest){.gravity = {NAN, NAN, NAN}};
    if (simulation < 0 || simulation >= file->simulation_count)
        return ss_fail(err, SS_ERROR_USAGE, "%s: simulation %d, but there are %d", file->name, simulation,
                       file->simulation_count);
    ss_h5_session session;
    ss_bpmd_place place = {0};
    ss_h5_enter(&session);
    bool good = find_manifest(file, simulation, &place, err);
    ss_bpmd_tighten(&place, 0, 0); // a picture needs no more

    /* Every member may be missing, and so may the manifest. */
    const struct {
        const char *name;
        char **text;
    } texts[] = {{"toolkit", &manifest->toolkit},
                 {"title", &manifest->title},
                 {"description", &manifest->description},
                 {"author", &manifest->author},
                 {"date", &manifest->date},
                 {"url", &manifest->url},
                 {"keywords", &manifest->keywords}};
    for (int i = 0; good && i < 7; i++)
        if (ss_bpmd_has(&place, texts[i].name))
            good = ss_h5_read_text(&place.group, texts[i].name, texts[i].text, err);
    if (good && ss_bpmd_has(&place, "gravity"))
        good = ss_h5_read_exactly(&place.group, "gravity", 3, manifest->gravity, err);
    good = good && read_image(&place, manifest, err);

    ss_bpmd_leave(&place);
    ss_h5_leave(&session);
    if (!good) ss_manifest_free(manifest);
    return good;
}
