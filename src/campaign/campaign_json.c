/* Campaign files: JSON, read strictly. An unknown key is a mistake, and is reported with
 * what was meant. */
#include "campaign/campaign.h"

#include "base/number.h"
#include "base/words.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PLACE_BYTES 200 /* of a place in a message; a longer one is cut */

typedef struct reader {
    ss_campaign *campaign;
    const char *path;
    const char *folder; /* that files are relative to, "" or with a slash at the end */
    ss_error *err;
} reader;

static bool fail(const reader *r, const char *where, const char *what)
{
    return ss_fail(r->err, SS_ERROR_INPUT, "%s: %s", where, what);
}

/* "methods[2].set.omega" */
static void write_place(char place[PLACE_BYTES], const char *format, ...) SS_PRINTF(2, 3);
static void write_place(char place[PLACE_BYTES], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place, PLACE_BYTES, format, arguments);
    va_end(arguments);
}

/* ---- keys ---------------------------------------------------------------------------------------- */

/* NULL ends the list of keys; options of the table are keys as well when there is one. */
static bool check_keys(const reader *r, json_t *object, const char *where, const char *const *keys,
                       const ss_option *table)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        ss_nearest nearest = ss_nearest_start(key);
        bool known = table && ss_options_find(table, key);
        for (int i = 0; !known && keys[i]; i++) {
            known = strcmp(keys[i], key) == 0;
            ss_nearest_offer(&nearest, keys[i]);
        }
        if (known) continue;
        for (const ss_option *option = table; option && option->name; option++)
            ss_nearest_offer(&nearest, option->name);
        if (nearest.best)
            return ss_fail(r->err, SS_ERROR_INPUT, "%s%sunknown key '%.100s'; did you mean %s?", where,
                           *where ? ": " : "", key, nearest.best);
        return ss_fail(r->err, SS_ERROR_INPUT, "%s%sunknown key '%.100s'", where, *where ? ": " : "", key);
    }
    return true;
}

static const char *copy(const reader *r, const char *text)
{
    return ss_campaign_copy(r->campaign, text, strlen(text), r->err);
}

/* A place for messages that come after reading, when the file is no longer at hand. */
static const char *copy_place(const reader *r, const char *where)
{
    ss_text place = {0};
    ss_text_appendf(&place, "%s: %s", r->path, where);
    const char *kept = copy(r, ss_text_get(&place));
    ss_text_free(&place);
    return kept;
}

/* ---- values -------------------------------------------------------------------------------------- */

/* A number, text, true or false as a user would type it; NULL with err for anything else. */
static const char *value_text(const reader *r, const json_t *value, const char *where)
{
    char text[SS_NUMBER_TEXT];
    if (json_is_string(value)) return copy(r, json_string_value(value));
    if (json_is_boolean(value)) return json_is_true(value) ? "true" : "false";
    if (json_is_integer(value)) {
        int length = ss_integer_write(json_integer_value(value), text);
        return ss_campaign_copy(r->campaign, text, (size_t)length, r->err);
    }
    if (json_is_real(value)) {
        int length = ss_number_write(json_real_value(value), text);
        return ss_campaign_copy(r->campaign, text, (size_t)length, r->err);
    }
    fail(r, where, "must be a number, a string, true or false");
    return NULL;
}

/* One value or a list of them. */
static const char **value_list(const reader *r, json_t *value, const char *where, int *count)
{
    bool is_list = json_is_array(value);
    size_t length = is_list ? json_array_size(value) : 1;
    const char **texts = ss_campaign_room(r->campaign, length, sizeof *texts, r->err);
    if (texts && length == 0) {
        fail(r, where, "the list is empty");
        return NULL;
    }

    *count = 0;
    for (size_t i = 0; texts && i < length; i++) {
        char place[PLACE_BYTES];
        if (is_list)
            write_place(place, "%s[%zu]", where, i);
        else
            write_place(place, "%s", where);
        texts[i] = value_text(r, is_list ? json_array_get(value, i) : value, place);
        if (!texts[i]) return NULL;
        ++*count;
    }
    return texts;
}

/* ---- problems ------------------------------------------------------------------------------------ */

static const char *file_path(const reader *r, const char *path)
{
    if (path[0] == '/' || !*r->folder) return copy(r, path);
    size_t size = strlen(r->folder) + strlen(path) + 1;
    char *joined = ss_campaign_room(r->campaign, size, 1, r->err);
    if (joined) snprintf(joined, size, "%s%s", r->folder, path);
    return joined;
}

/* "problems": file names, or objects with a file, a range of frames and a stride. */
static bool read_problems(const reader *r, json_t *list)
{
    static const char *const keys[] = {"file", "frame", "every", NULL};
    ss_campaign *campaign = r->campaign;
    size_t count = json_is_array(list) ? json_array_size(list) : 0;
    if (count == 0) return fail(r, "problems", "must be a list of file names");
    campaign->sources = ss_campaign_room(campaign, count, sizeof *campaign->sources, r->err);

    for (size_t i = 0; campaign->sources && i < count; i++) {
        char where[PLACE_BYTES], place[PLACE_BYTES];
        write_place(where, "problems[%zu]", i);
        ss_campaign_source *source = &campaign->sources[i];
        json_t *value = json_array_get(list, i);
        bool is_object = json_is_object(value);
        json_t *file = is_object ? json_object_get(value, "file") : value;
        if (is_object && !check_keys(r, value, where, keys, NULL)) return false;
        if (!json_is_string(file) || !*json_string_value(file))
            return fail(r, where, "must be a file name, or an object with \"file\"");
        source->path = file_path(r, json_string_value(file));
        if (!source->path) return false;

        // json_object_get finds nothing in what is no object.
        json_t *frames = json_object_get(value, "frame"), *every = json_object_get(value, "every");
        if (frames) {
            write_place(place, "%s.frame", where);
            source->frames = value_text(r, frames, place);
            if (!source->frames) return false;
        }
        json_int_t stride = every ? json_integer_value(every) : 1; // 0 for what is no whole number
        write_place(place, "%s.every", where);
        if (stride < 1 || stride > 1000000000) return fail(r, place, "must be a whole number, 1 or more");
        source->every = (int)stride;
        campaign->source_count++;
    }
    return campaign->sources != NULL;
}

/* ---- methods ------------------------------------------------------------------------------------- */

/* "set" and "with" of a method: options with one value or a list of values each. */
static bool read_options_of(const reader *r, json_t *object, const char *key, const char *where,
                            ss_option_sweep **sweeps, int *count)
{
    char place[PLACE_BYTES], option_place[PLACE_BYTES];
    const char *name;
    json_t *options = json_object_get(object, key), *value;
    if (!options) return true;
    write_place(place, "%s.%s", where, key);
    if (!json_is_object(options)) return fail(r, place, "must be an object of options");

    *sweeps = ss_campaign_room(r->campaign, json_object_size(options), sizeof **sweeps, r->err);
    *count = 0;
    if (!*sweeps) return false;
    json_object_foreach(options, name, value)
    {
        write_place(option_place, "%s.%.100s", place, name);
        ss_option_sweep *sweep = &(*sweeps)[(*count)++];
        sweep->name = copy(r, name);
        sweep->where = copy_place(r, option_place);
        sweep->values = value_list(r, value, option_place, &sweep->count);
        if (!sweep->name || !sweep->where || !sweep->values) return false;
    }
    return true;
}

static bool read_names(const reader *r, json_t *object, const char *key, const char *where,
                       const char ***names, int *count, bool *all)
{
    char place[PLACE_BYTES];
    json_t *value = json_object_get(object, key);
    if (!value) return true;
    write_place(place, "%s.%s", where, key);
    *names = value_list(r, value, place, count);
    if (!*names) return false;
    *all = *count == 1 && strcmp((*names)[0], "all") == 0;
    return true;
}

/* One of "methods". Without "solver" all solvers, without "formulation" cone. */
static bool read_selection(const reader *r, json_t *value, const char *where, ss_selection *selection)
{
    static const char *const keys[] = {"solver", "formulation", "set", "with", NULL};
    static const char *cone[] = {"cone"};
    if (!json_is_object(value)) return fail(r, where, "must be an object with \"solver\"");
    selection->where = copy_place(r, where);
    selection->formulations = cone;
    selection->formulation_count = 1;
    selection->all_solvers = true;

    return selection->where && check_keys(r, value, where, keys, NULL) &&
           read_names(r, value, "solver", where, &selection->solvers, &selection->solver_count,
                      &selection->all_solvers) &&
           read_names(r, value, "formulation", where, &selection->formulations, &selection->formulation_count,
                      &selection->all_formulations) &&
           read_options_of(r, value, "set", where, &selection->set, &selection->set_count) &&
           read_options_of(r, value, "with", where, &selection->with, &selection->with_count);
}

/* "methods"; without it, everything. */
static bool read_methods(const reader *r, json_t *list)
{
    ss_campaign *campaign = r->campaign;
    json_t *everything = list ? NULL : json_pack("[{}]");
    if (!list) list = everything;
    size_t count = json_is_array(list) ? json_array_size(list) : 0;
    bool none = json_is_array(list) && count == 0 && campaign->options.recorded; // stored answers alone
    bool good = count > 0 || none || fail(r, "methods", "must be a list of objects");

    if (good) {
        campaign->selections = ss_campaign_room(campaign, count, sizeof *campaign->selections, r->err);
        good = campaign->selections != NULL;
    }
    for (size_t i = 0; good && i < count; i++) {
        char where[PLACE_BYTES];
        write_place(where, "methods[%zu]", i);
        good = read_selection(r, json_array_get(list, i), where, &campaign->selections[i]);
        campaign->selection_count++;
    }
    json_decref(everything);
    return good;
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static bool read_plugins(const reader *r, json_t *list)
{
    if (!list) return true;
    if (!json_is_array(list)) return fail(r, "plugins", "must be a list of file names");
    for (size_t i = 0; i < json_array_size(list); i++) {
        char where[PLACE_BYTES];
        write_place(where, "plugins[%zu]", i);
        json_t *value = json_array_get(list, i);
        if (!json_is_string(value)) return fail(r, where, "must be a file name");
        if (r->campaign->plugins.count == SS_OPTION_LIST_MOST) return fail(r, where, "too many plug-ins");
        const char *path = file_path(r, json_string_value(value));
        if (!path) return false;
        r->campaign->plugins.items[r->campaign->plugins.count++] = path;
    }
    return true;
}

/* Options of campaigns, by the names of the flags. */
static bool read_options(const reader *r, json_t *root)
{
    for (const ss_option *option = ss_campaign_option_table; option->name; option++) {
        json_t *value = json_object_get(root, option->name);
        if (!value) continue;
        bool may_be_list = strcmp(option->name, "stop") == 0 || strcmp(option->name, "tol") == 0 ||
                           strcmp(option->name, "start") == 0;
        const char *text = NULL;
        if (may_be_list && json_is_array(value)) {
            // ["1e-4", "1e-8"] as it would be typed: "1e-4,1e-8"
            int count = 0;
            const char **values = value_list(r, value, option->name, &count);
            ss_text list = {0};
            for (int i = 0; values && i < count; i++) ss_text_appendf(&list, "%s%s", i ? "," : "", values[i]);
            if (list.out_of_memory)
                ss_fail(r->err, SS_ERROR_RESOURCES, "out of memory for the campaign");
            else if (values)
                text = ss_campaign_copy(r->campaign, ss_text_get(&list), list.length, r->err);
            ss_text_free(&list);
        } else {
            text = value_text(r, value, option->name);
        }
        if (!text) return false;

        if (!ss_options_set(ss_campaign_option_table, &r->campaign->options, option->name, text, r->err)) {
            r->err->code = SS_ERROR_INPUT;
            return false;
        }
    }

    // What options that hold more than a number mean.
    ss_limit_rule rule;
    int rungs;
    if (ss_campaign_stops(r->campaign, &rungs, r->err) && ss_campaign_limit_rule(r->campaign, &rule, r->err))
        return true;
    if (r->err->code == SS_ERROR_USAGE) r->err->code = SS_ERROR_INPUT;
    return false;
}

/* Takes the root; NULL: could not be read, for the reason in `fault`. */
static bool read_document(ss_campaign *campaign, json_t *root, const json_error_t *fault, const char *path,
                          ss_error *err)
{
    static const char *const keys[] = {"problems", "methods", "plugins", NULL};
    if (!root) {
        if (fault->line < 1) return ss_fail(err, SS_ERROR_INPUT, "%s: %s", path, fault->text);
        return ss_fail(err, SS_ERROR_INPUT, "%s: line %d, column %d: %s", path, fault->line, fault->column,
                       fault->text);
    }
    ss_error own = {0};
    const char *slash = strrchr(path, '/');
    reader r = {.campaign = campaign, .path = path, .err = &own};
    r.folder = ss_campaign_copy(campaign, path, slash ? (size_t)(slash - path) + 1 : 0, &own);

    // The text as it is written again: one line, keys in the order of the file.
    size_t size = json_dumpb(root, NULL, 0, JSON_COMPACT);
    char *text = r.folder ? ss_campaign_room(campaign, size + 1, 1, &own) : NULL;
    bool good = text != NULL;
    if (good) {
        json_dumpb(root, text, size, JSON_COMPACT);
        campaign->text = text;
    }

    if (good && !json_is_object(root)) good = ss_fail(&own, SS_ERROR_INPUT, "must be one JSON object");
    good = good && check_keys(&r, root, "", keys, ss_campaign_option_table) && read_options(&r, root) &&
           read_plugins(&r, json_object_get(root, "plugins")) &&
           read_problems(&r, json_object_get(root, "problems")) &&
           read_methods(&r, json_object_get(root, "methods"));
    json_decref(root);
    if (good) return true;
    if (err) *err = own;
    return ss_fail_in(err, "%s", path);
}

bool ss_campaign_read_text(ss_campaign *campaign, const char *text, size_t length, const char *path,
                           ss_error *err)
{
    json_error_t fault = {0};
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    return read_document(campaign, root, &fault, path, err);
}

bool ss_campaign_read(ss_campaign *campaign, const char *path, ss_error *err)
{
    json_error_t fault = {0};
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return ss_fail(err, SS_ERROR_INPUT, "%s: a directory", path);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &fault);
    return read_document(campaign, root, &fault, path, err);
}
