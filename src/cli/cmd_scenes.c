#include "cli/describe.h"
#include "cli/run.h"
#include "cli/table.h"

#include <stdio.h>

typedef struct scenes_options {
    ss_common_options common;
    bool json;
} scenes_options;

static void print_one(ss_out *out, const ss_scene *scene)
{
    char numbers[80];
    snprintf(numbers, sizeof numbers, "h = %g s, for %g s", scene->h, scene->length);
    ss_describe_title(out, scene->name, scene->summary);
    ss_describe_item(out, "about", scene->description);
    ss_describe_item(out, "time", numbers);
    ss_describe_options(out, "Parameters (-p NAME=VALUE)", scene->parameters);
}

static void print_list(ss_out *out)
{
    ss_table table = {.columns = 2, .left = 2};
    ss_table_add(&table, "scene"), ss_table_add(&table, "summary");
    for (int i = 0; i < ss_scene_count(); i++) {
        ss_table_add(&table, "%s", ss_scene_at(i)->name);
        ss_table_add(&table, "%s", ss_scene_at(i)->summary);
    }
    ss_table_print(&table, out);
    ss_text_append(&out->text, "\nstickslip scenes NAME tells more; stickslip run NAME simulates it.\n");
}

static void put_list(ss_out *out, const ss_scene *only)
{
    ss_json json = {.text = &out->text};
    ss_json_begin_object(&json);
    ss_json_key(&json, "scenes");
    ss_json_begin_array(&json);
    for (int i = 0; i < ss_scene_count(); i++) {
        const ss_scene *scene = ss_scene_at(i);
        if (only && scene != only) continue;
        ss_json_begin_object(&json);
        ss_describe_text_json(&json, "name", scene->name);
        ss_describe_text_json(&json, "summary", scene->summary);
        ss_describe_text_json(&json, "description", scene->description);
        ss_json_key(&json, "h"), ss_json_real(&json, scene->h);
        ss_json_key(&json, "length"), ss_json_real(&json, scene->length);
        ss_json_key(&json, "picture_time"), ss_json_real(&json, scene->picture_time);
        ss_describe_options_json(&json, "parameters", scene->parameters);
        ss_json_end_object(&json);
    }
    ss_json_end_array(&json);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

static int run_scenes(const ss_command *command)
{
    const scenes_options *options = command->options;
    const ss_scene *only = NULL;
    ss_error err = {0};
    if (command->argument_count > 0) {
        only = ss_scene_named(command->arguments[0], &err);
        if (!only) {
            ss_fail_in(&err, "scenes");
            return ss_report(&err);
        }
    }
    if (options->json)
        put_list(command->out, only);
    else if (only)
        print_one(command->out, only);
    else
        print_list(command->out);
    return SS_EXIT_DONE;
}

static const ss_option table[] = {{.name = "json",
                                   .type = SS_OPTION_BOOL,
                                   .offset = offsetof(scenes_options, json),
                                   .help = "Print everything about every scene as one JSON object."},
                                  {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"scenes", "what there is"}, {"scenes brick-wall", "one of them, with its parameters"}, {0}};

const ss_verb ss_verb_scenes = {
    .name = "scenes",
    .summary = "list the scenes, or explain one",
    .arguments = "[SCENE]",
    .description =
        "A scene is a world with parameters, built by name: stickslip run simulates it. Without SCENE all of "
        "them are listed; with it, one is explained with its parameters, ranges and defaults.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(scenes_options),
    .run = run_scenes,
};
