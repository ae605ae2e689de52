#include "cli/terminal/describe.h"

#include <stdio.h>

static const char *name_of(int index)
{
    return ss_scene_at(index)->name;
}

static void explain(ss_out *out, int index)
{
    const ss_scene *scene = ss_scene_at(index);
    char numbers[80];
    snprintf(numbers, sizeof numbers, "h = %g s, for %g s", scene->h, scene->length);
    ss_describe_title(out, scene->name, scene->summary);
    ss_describe_item(out, "about", scene->description);
    ss_describe_item(out, "time", numbers);
    ss_describe_options(out, "Parameters (-p NAME=VALUE)", scene->parameters);
}

static void add_row(ss_table *table, int index)
{
    ss_table_add(table, "%s", ss_scene_at(index)->name);
    ss_table_add(table, "%s", ss_scene_at(index)->summary);
}

static void put(ss_json *json, int index)
{
    const ss_scene *scene = ss_scene_at(index);
    ss_json_member_text(json, "name", scene->name);
    ss_json_member_text(json, "summary", scene->summary);
    ss_json_member_text(json, "description", scene->description);
    ss_json_key(json, "h"), ss_json_real(json, scene->h);
    ss_json_key(json, "length"), ss_json_real(json, scene->length);
    ss_json_key(json, "picture_time"), ss_json_real(json, scene->picture_time);
    ss_describe_options_json(json, "parameters", scene->parameters);
}

static int run_scenes(const ss_command *command)
{
    static const char *const headings[] = {"scene", "summary"};
    static const ss_listing listing = {.kind = "scene",
                                       .plural = "scenes",
                                       .count = ss_scene_count,
                                       .name = name_of,
                                       .headings = headings,
                                       .columns = 2,
                                       .row = add_row,
                                       .explain = explain,
                                       .put = put,
                                       .more = "More: stickslip scenes NAME. Simulate: stickslip run NAME."};
    return ss_listing_run(&listing, command);
}

static const ss_option table[] = {SS_LISTING_JSON_OPTION("scene"), {0}};
static const ss_option_group groups[] = {
    {"Options", table, 0}, SS_EXTENSION_GROUP(ss_listing_options, extensions), SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"scenes", "list all scenes"}, {"scenes brick-wall", "explain one of them and its parameters"}, {0}};

const ss_verb ss_verb_scenes = {
    .name = "scenes",
    .summary = "list the scenes, or explain one",
    .arguments = "[SCENE]",
    .description =
        "A scene is a named world with parameters; stickslip run simulates it. Without SCENE, lists all "
        "of them; with it, explains one with its parameters, ranges and defaults.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_listing_options),
    .run = run_scenes,
};
