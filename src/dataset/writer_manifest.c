/* What a simulation says about itself: texts, gravity, a picture, and the units of everything
 * in its frames. */
#include "dataset/writer.h"
#include "base/text.h"
#include "frame/fields.h"

#include <math.h>

/* HDF5's own convention for pictures, so that viewers show one. */
static bool put_image(const ss_h5_group *group, const ss_manifest *manifest, ss_error *err)
{
    if (!manifest->image) return true;
    if (manifest->image_width < 1 || manifest->image_height < 1)
        return ss_fail(err, SS_ERROR_USAGE, "%s: %s/image: invalid picture size %d x %d", group->file,
                       group->path, manifest->image_width, manifest->image_height);
    uint64_t extent[3] = {(uint64_t)manifest->image_height, (uint64_t)manifest->image_width, 3};
    return ss_h5_write(group, "image", SS_H5_U8, 3, extent, manifest->image, err) &&
           ss_h5_mark(group, "image", "CLASS", "IMAGE", err) &&
           ss_h5_mark(group, "image", "IMAGE_VERSION", "1.2", err) &&
           ss_h5_mark(group, "image", "IMAGE_SUBCLASS", "IMAGE_TRUECOLOR", err) &&
           ss_h5_mark(group, "image", "INTERLACE_MODE", "INTERLACE_PIXEL", err);
}

/* Once for all frames: an attribute on every data set would cost more than many of the data
 * sets themselves. */
static bool put_units(const ss_h5_group *group, ss_error *err)
{
    ss_text text = {0};
    ss_text_append(&text, "timestep s\ntime s\n");
    for (int f = 0; f < ss_field_count; f++)
        ss_text_appendf(&text, "%s/%s %s\n", ss_fields[f].group, ss_fields[f].name, ss_fields[f].unit);
    ss_text_append(&text, "contacts/t_v 1\n"
                          "solver_data/*/velocities m/s, rad/s\n"
                          "solver_data/*/lambda N s or N m s\n"
                          "solver_data/*/normal N s\n"
                          "solver_data/*/tangent N s\n"
                          "solver_data/*/rolling N m s\n"
                          "solver_data/*/time s\n"
                          "scenery/positions m\n"
                          "scenery/quaternions 1\n");
    bool ok = text.out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "no memory for the list of units")
                                 : ss_h5_write_text(group, "units", ss_text_get(&text), err);
    ss_text_free(&text);
    return ok;
}

bool ss_writer_put_manifest(const ss_h5_group *simulation, const ss_manifest *manifest, ss_error *err)
{
    static const ss_manifest nothing = {.gravity = {NAN, NAN, NAN}};
    const ss_manifest *from = manifest ? manifest : &nothing;
    const struct {
        const char *name, *text;
    } texts[] = {{"toolkit", from->toolkit},  {"title", from->title}, {"description", from->description},
                 {"author", from->author},    {"date", from->date},   {"url", from->url},
                 {"keywords", from->keywords}};
    const double *gravity = from->gravity;
    ss_h5_group group;
    if (!ss_h5_make_group(simulation, "manifest", &group, err)) return false;

    bool ok = true;
    for (int i = 0; ok && i < 7; i++)
        if (texts[i].text) ok = ss_h5_write_text(&group, texts[i].name, texts[i].text, err);
    if (ok && !isnan(gravity[0]) && !isnan(gravity[1]) && !isnan(gravity[2]))
        ok = ss_h5_write_table(&group, "gravity", SS_H5_F64, 3, 1, gravity, err);
    ok = ok && put_image(&group, from, err) && put_units(&group, err) &&
         ss_h5_write_text_attribute(&group, "array_order", "C (row-major)", err);
    ss_h5_leave_group(&group);
    return ok;
}
