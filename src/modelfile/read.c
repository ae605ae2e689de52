/* Model files: which format it is, and the way from a file to a world. */
#include "modelfile/tree.h"

#include "base/option_rows.h"
#include "base/file.h"
#include "modelfile/files.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const ss_option ss_model_option_table[] = {
    SS_ROW_CHOICE(
        ss_model_options, base, "auto", "auto|fixed|free",
        "root link of a URDF: fixed to the world, free, or fixed only if it is called world or has no "
        "mass"),
    SS_ROW_BOOL(ss_model_options, floor, NULL, "add a floor at z = 0"),
    {SS_ROW_OF(SS_OPTION_TEXT, ss_model_options, key, NULL), .value_name = "NAME",
     .help = "keyframe of an MJCF file to start from, by name or number"},
    {SS_ROW_AS("package", SS_OPTION_LIST, ss_model_options, packages, NULL), .value_name = "NAME=FOLDER",
     .help = "where package://NAME/ is; repeatable"},
    SS_ROW_BOOL(ss_model_options, outside, NULL, "the model may name files outside of its own folder"),
    {0}};

const char *ss_model_format_name(ss_model_format format)
{
    static const char *const names[SS_MODEL_FORMATS] = {"urdf", "mjcf", "sdf"};
    return (unsigned)format < SS_MODEL_FORMATS ? names[format] : "unknown";
}

bool ss_model_is_name(const char *path)
{
    static const char *const endings[] = {".urdf", ".xml", ".mjcf", ".sdf", ".world"};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0) return true;
    return false;
}

typedef struct ss_model_reader {
    const char *root;
    ss_model_format format;
    void (*read)(ss_tree *tree, ss_xml *root);
    ss_xml_judge *judge;
} ss_model_reader;

static bool read_tree(ss_tree *tree, const char *text, size_t size, const char *name, ss_world *world,
                      ss_error *err)
{
    static const ss_model_reader formats[] = {{"robot", SS_MODEL_URDF, ss_urdf_read, ss_urdf_judge},
                                              {"mujoco", SS_MODEL_MJCF, ss_mjcf_read, ss_mjcf_judge},
                                              {"sdf", SS_MODEL_SDF, ss_sdf_read, ss_sdf_judge}};
    ss_reading *reading = tree->reading;
    ss_xml *root = ss_xml_parse(reading, text, size, ss_reading_text(reading, "%.300s", name));
    if (!root) return false;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!ss_xml_is(root, formats[i].root)) continue;
        root->read = true;
        tree->info->format = formats[i].format;
        formats[i].read(tree, root);
        if (reading->failed) return false;
        ss_model_geom *floor = tree->options->floor ? ss_tree_add_geom(tree, root, -1) : NULL;
        if (floor) {
            floor->kind = SS_PLANE;
            floor->contype = floor->conaffinity = UINT32_MAX;
        }
        ss_xml_list_unread(reading, root, formats[i].judge);
        return ss_tree_build(tree, world, err);
    }
    return ss_xml_fail(reading, root, "not a model: the root must be <robot> (URDF), <mujoco> or <sdf>");
}

bool ss_model_parse(const char *text, size_t size, const char *name, const char *folder,
                    const ss_model_options *options, ss_world *world, ss_model_info *info,
                    ss_findings *findings, ss_error *err)
{
    ss_model_options defaults = {0};
    ss_model_info own_info = {0};
    ss_error own_err = {0};
    if (ss_world_body_count(world) + ss_world_shape_count(world) > 0)
        return ss_fail(err, SS_ERROR_USAGE, "%s: the world must be empty", name);
    ss_reading reading = {
        .arena = ss_arena_create(1 << 16, err), .findings = findings, .err = err ? err : &own_err};
    if (!reading.arena) return false;
    ss_tree tree = {.reading = &reading,
                    .options = options ? options : &defaults,
                    .info = info ? info : &own_info,
                    .gravity = {0.0, 0.0, -9.81},
                    .default_mu = 0.5,
                    .folder = folder};
    *tree.info = (ss_model_info){0};
    bool good = read_tree(&tree, text, size, name, world, reading.err) && !reading.failed;
    ss_tree_free(&tree);
    ss_arena_destroy(reading.arena);
    return good;
}

bool ss_model_read(const char *path, const ss_model_options *options, ss_world *world, ss_model_info *info,
                   ss_findings *findings, ss_error *err)
{
    size_t size = 0;
    unsigned char *bytes = ss_file_read(path, SS_XML_BYTES_MOST, &size, err);
    if (!bytes) return false;
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char *folder = ss_allocate(length + 2, 1);
    bool good = folder || ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    if (good) {
        memcpy(folder, length ? path : slash ? "/" : ".", length ? length : 1);
        const char *name = slash ? slash + 1 : path;
        good = ss_model_parse((const char *)bytes, size, name, folder, options, world, info, findings, err);
    }
    ss_release(folder);
    ss_release(bytes);
    return good;
}
