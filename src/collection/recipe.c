/* A recipe is read line by line: a word, and what belongs to it. Lists of values are apart by commas; a
 * sequence with several lists stands for all combinations, whose names its pattern tells apart. */
#include "collection/recipe.h"

#include "base/digest.h"
#include "base/source.h"
#include "base/file.h"
#include "base/number.h"
#include "base/words.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 16, MOST_VALUES = 64, MOST_SEQUENCES = 100000 };
#define LARGEST_RECIPE ((size_t)1 << 20) /* bytes */
#define SEPARATORS " \t\r"

/* What is varied: a parameter of the scene, a setting of the simulation, or a number of the sequence. */
typedef enum axis_kind { AXIS_PARAMETER, AXIS_SETTING, AXIS_SEED, AXIS_SCALE, AXIS_FROM } axis_kind;
typedef struct axis {
    axis_kind kind;
    const char *name;
    const char *values[MOST_VALUES];
    int count;
} axis;

/* A sequence as it is written, before its lists are taken apart. */
typedef struct draft {
    ss_sequence common;
    const char *pattern;
    axis axes[MOST_AXES];
    int axis_count;
    bool has_frames;
} draft;

typedef struct reader {
    ss_recipes *recipes;
    const char *file;
    int line;
    const char *family, *about;
    draft draft;
    bool open; /* a sequence is being read */
    ss_error *err;
} reader;

static bool fail(reader *r, const char *format, const char *what)
{
    char message[300];
    snprintf(message, sizeof message, format, what);
    return ss_fail(r->err, SS_ERROR_INPUT, "%s:%d: %s", r->file, r->line, message);
}

static void *take(ss_recipes *recipes, size_t count, size_t size, ss_error *err)
{
    void *room = ss_arena_take(recipes->arena, count, size, "recipes");
    if (!room) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for recipes");
    return room;
}

static const char *keep(ss_recipes *recipes, const char *text, size_t length, ss_error *err)
{
    char *kept = take(recipes, length + 1, 1, err);
    if (kept) memcpy(kept, text, length), kept[length] = 0;
    return kept;
}

/* ---- sequences from a draft ------------------------------------------------------------------------- */

static void digest_sequence(const ss_recipes *recipes, ss_sequence *sequence)
{
    ss_digest digest = ss_digest_start();
    const char *const texts[] = {ss_source_digest(), recipes->name,   recipes->version, sequence->family,
                                 sequence->name,     sequence->scene, sequence->source, sequence->why};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ss_digest_add_text(&digest, texts[i] ? texts[i] : "");
    for (const char **at = sequence->parameters; at && *at; at++) ss_digest_add_text(&digest, *at);
    ss_digest_add_text(&digest, "");
    for (const char **at = sequence->settings; at && *at; at++) ss_digest_add_text(&digest, *at);
    const double numbers[] = {sequence->units.length, sequence->units.mass, sequence->units.time,
                              sequence->seed,         sequence->from,       sequence->frames,
                              sequence->unsolvable};
    ss_digest_add_reals(&digest, numbers, sizeof numbers / sizeof *numbers);
    ss_digest_print(&digest, sequence->digest);
}

static bool add_sequence(ss_recipes *recipes, ss_sequence *sequence, ss_error *err)
{
    ss_text id = {0};
    ss_text_appendf(&id, "%s/%s", sequence->family, sequence->name);
    sequence->id = keep(recipes, ss_text_get(&id), id.length, err);
    ss_text_free(&id);
    if (!sequence->id) return false;
    digest_sequence(recipes, sequence);
    for (int i = 0; i < recipes->sequence_count; i++)
        if (strcmp(recipes->sequences[i].id, sequence->id) == 0)
            return ss_fail(err, SS_ERROR_INPUT,
                           "%s: a second sequence is called %s; put what differs into its name, as in "
                           "wall-{rows}",
                           sequence->where, sequence->id);
    if (recipes->sequence_count == recipes->sequence_room) {
        int room = recipes->sequence_room ? 2 * recipes->sequence_room : 64;
        ss_sequence *more = room <= MOST_SEQUENCES ? ss_allocate((size_t)room, sizeof *more) : NULL;
        if (!more) return ss_fail(err, SS_ERROR_RESOURCES, "%s: too many sequences", sequence->where);
        if (recipes->sequence_count)
            memcpy(more, recipes->sequences, (size_t)recipes->sequence_count * sizeof *more);
        ss_release(recipes->sequences);
        recipes->sequences = more;
        recipes->sequence_room = room;
    }
    recipes->sequences[recipes->sequence_count++] = *sequence;
    return true;
}

/* The pattern with each {name} replaced by the value of that list; file names have no other signs. */
static const char *fill_pattern(reader *r, const draft *d, const int *choice)
{
    ss_text name = {0};
    for (const char *at = d->pattern; *at;) {
        size_t plain = strcspn(at, "{");
        ss_text_append_bytes(&name, at, plain);
        at += plain;
        if (!*at) break;
        size_t length = strcspn(++at, "}");
        const char *value = NULL;
        for (int a = 0; a < d->axis_count; a++)
            if (strlen(d->axes[a].name) == length && strncmp(d->axes[a].name, at, length) == 0)
                value = d->axes[a].values[choice[a]];
        if (!value || !at[length]) {
            char asked[80];
            snprintf(asked, sizeof asked, "%.*s", (int)length, at);
            ss_unknown unknown = ss_unknown_start("value", asked);
            for (int a = 0; a < d->axis_count; a++) ss_unknown_offer(&unknown, d->axes[a].name);
            ss_unknown_fail(&unknown, r->err);
            ss_fail_in(r->err, "%s: name %s", d->common.where, d->pattern);
            r->err->code = SS_ERROR_INPUT;
            ss_text_free(&name);
            return NULL;
        }
        ss_text_append(&name, value);
        at += length + 1;
    }
    const char *kept = keep(r->recipes, ss_text_get(&name), name.length, r->err);
    ss_text_free(&name);
    if (kept && (!*kept || *kept == '.' ||
                 kept[strspn(kept, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789._+-")])) {
        ss_fail(r->err, SS_ERROR_INPUT,
                "%s: the name \"%.80s\" must consist of letters, digits, '.', '_', '+' and '-'",
                d->common.where, kept);
        return NULL;
    }
    return kept;
}

/* One combination of the values of all lists. */
static bool expand_one(reader *r, const draft *d, const int *choice)
{
    ss_recipes *recipes = r->recipes;
    ss_sequence sequence = d->common;
    int parameters = 0, settings = 0;
    sequence.name = fill_pattern(r, d, choice);
    sequence.parameters = take(recipes, MOST_AXES + 1, sizeof *sequence.parameters, r->err);
    sequence.settings = take(recipes, MOST_AXES + 1, sizeof *sequence.settings, r->err);
    if (!sequence.name || !sequence.parameters || !sequence.settings) return false;
    for (int a = 0; a < d->axis_count; a++) {
        const axis *own = &d->axes[a];
        const char *value = own->values[choice[a]];
        double number = 0.0;
        if (own->kind == AXIS_PARAMETER || own->kind == AXIS_SETTING) {
            ss_text pair = {0};
            ss_text_appendf(&pair, "%s=%s", own->name, value);
            const char *kept = keep(recipes, ss_text_get(&pair), pair.length, r->err);
            ss_text_free(&pair);
            if (!kept) return false;
            if (own->kind == AXIS_PARAMETER)
                sequence.parameters[parameters++] = kept;
            else
                sequence.settings[settings++] = kept;
            continue;
        }
        int *whole = own->kind == AXIS_SEED ? &sequence.seed : &sequence.from;
        bool good = own->kind == AXIS_SCALE ? ss_number_read(value, &number) && number > 0.0 && number < 1e9
                                            : ss_integer_read(value, whole) && *whole >= 0;
        if (!good)
            return ss_fail(r->err, SS_ERROR_INPUT, "%s: %s: \"%.40s\" must be a %s", d->common.where,
                           own->name, value,
                           own->kind == AXIS_SCALE ? "positive number" : "whole number, 0 or more");

        // the dynamically similar world of another size, under the same gravity
        if (own->kind == AXIS_SCALE && number != 1.0)
            sequence.units = (ss_unit_factors){number, number * number * number, sqrt(number)};
    }
    return add_sequence(recipes, &sequence, r->err);
}

/* The draft that is open becomes sequences: the last list varies fastest. */
static bool close_draft(reader *r)
{
    draft *d = &r->draft;
    int choice[MOST_AXES] = {0};
    if (!r->open) return true;
    r->open = false;
    if (!d->common.scene)
        return ss_fail(r->err, SS_ERROR_INPUT, "%s: %s has no scene", d->common.where, d->pattern);
    if (!d->has_frames)
        return ss_fail(r->err, SS_ERROR_INPUT, "%s: %s: which frames? expected: frames N from STEP",
                       d->common.where, d->pattern);
    for (;;) {
        if (!expand_one(r, d, choice)) return false;
        int a = d->axis_count - 1;
        while (a >= 0 && ++choice[a] == d->axes[a].count) choice[a--] = 0;
        if (a < 0) return true;
    }
}

/* ---- lines ------------------------------------------------------------------------------------------ */

static bool add_axis(reader *r, axis_kind kind, const char *name, char *list)
{
    draft *d = &r->draft;
    if (d->axis_count == MOST_AXES) return fail(r, "too many values%s", "");
    axis *own = &d->axes[d->axis_count++];
    char *rest = NULL;
    *own = (axis){.kind = kind, .name = keep(r->recipes, name, strlen(name), r->err)};
    if (!own->name) return false;
    for (char *value = strtok_r(list, ",", &rest); value; value = strtok_r(NULL, ",", &rest)) {
        if (own->count == MOST_VALUES) return fail(r, "%s: too many values", name);
        own->values[own->count] = keep(r->recipes, value, strlen(value), r->err);
        if (!own->values[own->count++]) return false;
    }
    return own->count > 0 || fail(r, "%s: expected a value, or several with commas between them", name);
}

/* key=value,value ... */
static bool read_pairs(reader *r, axis_kind kind, char *words)
{
    char *rest = NULL;
    for (char *word = strtok_r(words, SEPARATORS, &rest); word; word = strtok_r(NULL, SEPARATORS, &rest)) {
        char *equals = strchr(word, '=');
        if (!equals || equals == word) return fail(r, "\"%.60s\" must be NAME=VALUE", word);
        *equals = 0;
        if (!add_axis(r, kind, word, equals + 1)) return false;
    }
    return true;
}

static bool read_scene(reader *r, char *words)
{
    draft *d = &r->draft;
    char *name = words, *end = words + strcspn(words, SEPARATORS);
    bool more = *end != 0;
    *end = 0;
    const ss_scene *scene = ss_scene_named(name, r->err);
    if (!scene) {
        r->err->code = SS_ERROR_INPUT;
        return ss_fail_in(r->err, "%s:%d", r->file, r->line);
    }
    d->common.scene = scene->name;
    int first = d->axis_count;
    if (more && !read_pairs(r, AXIS_PARAMETER, end + 1)) return false;

    // Every value must be one that the scene accepts: better now than after an hour.
    static const ss_option none[] = {{0}};
    const ss_option *table = scene->parameters ? scene->parameters : none;
    void *parameters = ss_allocate(1, scene->parameters_size + 1);
    if (!parameters) return ss_fail(r->err, SS_ERROR_RESOURCES, "out of memory for recipes");
    bool good = true;
    for (int a = first; good && a < d->axis_count; a++)
        for (int k = 0; good && k < d->axes[a].count; k++)
            good = ss_options_set(table, parameters, d->axes[a].name, d->axes[a].values[k], r->err);
    ss_release(parameters);
    if (good) return true;
    r->err->code = SS_ERROR_INPUT;
    return ss_fail_in(r->err, "%s:%d: %s", r->file, r->line, scene->name);
}

/* N from STEP, or N alone: from the first step. */
static bool read_frames(reader *r, char *words)
{
    draft *d = &r->draft;
    char *rest = NULL, *count = strtok_r(words, SEPARATORS, &rest), *from = strtok_r(NULL, SEPARATORS, &rest);
    char *step = from ? strtok_r(NULL, SEPARATORS, &rest) : NULL;
    bool good = count && ss_integer_read(count, &d->common.frames) && d->common.frames > 0 &&
                (!from || (strcmp(from, "from") == 0 && step)) && !strtok_r(NULL, SEPARATORS, &rest);
    if (!good) return fail(r, "expected: frames N from STEP%s", "");
    d->has_frames = true;
    char zero[] = "0";
    return add_axis(r, AXIS_FROM, "from", step ? step : zero);
}

static bool read_sequence_word(reader *r, const char *word, char *words)
{
    static const char *const known[] = {"scene", "seed", "run", "scale", "frames", "subset", "unsolvable"};
    draft *d = &r->draft;
    if (strcmp(word, "scene") == 0) return read_scene(r, words);
    if (strcmp(word, "seed") == 0) return add_axis(r, AXIS_SEED, "seed", words);
    if (strcmp(word, "scale") == 0) return add_axis(r, AXIS_SCALE, "scale", words);
    if (strcmp(word, "run") == 0) return read_pairs(r, AXIS_SETTING, words);
    if (strcmp(word, "frames") == 0) return read_frames(r, words);
    if (strcmp(word, "subset") == 0) {
        d->common.small = strcmp(words, "small") == 0;
        return d->common.small || strcmp(words, "full") == 0 ||
               fail(r, "subset: expected small or full%s", "");
    }
    if (strcmp(word, "unsolvable") == 0) {
        if (!*words) return fail(r, "unsolvable: say why there is no solution%s", "");
        d->common.unsolvable = true;
        d->common.why = keep(r->recipes, words, strlen(words), r->err);
        return d->common.why != NULL;
    }
    ss_unknown unknown = ss_unknown_start("word", word);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) ss_unknown_offer(&unknown, known[i]);
    ss_unknown_fail(&unknown, r->err);
    r->err->code = SS_ERROR_INPUT;
    return ss_fail_in(r->err, "%s:%d", r->file, r->line);
}

/* Words at the beginning of a line, which concern a family or the whole collection. */
static bool read_head_word(reader *r, const char *word, const char *words)
{
    ss_recipes *recipes = r->recipes;
    const struct {
        const char *word, **text;
    } texts[] = {{"family", &r->family},         {"about", &r->about},       {"collection", &recipes->name},
                 {"version", &recipes->version}, {"title", &recipes->title}, {"license", &recipes->license}};
    ss_unknown unknown = ss_unknown_start("word", word);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ss_unknown_offer(&unknown, texts[i].word);
        if (strcmp(word, texts[i].word) != 0) continue;
        if (!*words) return fail(r, "%s: nothing follows", word);
        if (*texts[i].text) return fail(r, "%s is there already", word);
        *texts[i].text = keep(recipes, words, strlen(words), r->err);
        return *texts[i].text != NULL;
    }
    ss_unknown_offer(&unknown, "sequence");
    ss_unknown_fail(&unknown, r->err);
    r->err->code = SS_ERROR_INPUT;
    return ss_fail_in(r->err, "%s:%d", r->file, r->line);
}

static bool read_line(reader *r, char *line)
{
    line[strcspn(line, "#")] = 0;
    bool indented = *line == ' ' || *line == '\t';
    line += strspn(line, SEPARATORS);
    for (size_t n = strlen(line); n > 0 && strchr(SEPARATORS, line[n - 1]); n--) line[n - 1] = 0;
    if (!*line) return true;
    char *words = line + strcspn(line, SEPARATORS);
    if (*words) *words++ = 0;
    words += strspn(words, SEPARATORS);

    if (indented && !r->open) return fail(r, "\"%.40s\" belongs to no sequence", line);
    if (indented) return read_sequence_word(r, line, words);
    if (!close_draft(r)) return false;
    if (strcmp(line, "sequence") != 0) return read_head_word(r, line, words);
    if (!*words) return fail(r, "a sequence needs a name%s", "");
    if (!r->family) return fail(r, "sequence %.60s: no family before it", words);
    ss_text where = {0};
    ss_text_appendf(&where, "%s:%d", r->file, r->line);
    r->draft = (draft){.pattern = keep(r->recipes, words, strlen(words), r->err)};
    r->draft.common = (ss_sequence){
        .family = r->family, .seed = 1, .where = keep(r->recipes, ss_text_get(&where), where.length, r->err)};
    ss_text_free(&where);
    r->open = true;
    return r->draft.pattern && r->draft.common.where;
}

static bool add_family(ss_recipes *recipes, const char *name, const char *about, ss_error *err)
{
    if (recipes->family_count == recipes->family_room) {
        int room = recipes->family_room ? 2 * recipes->family_room : 32;
        ss_family *more = ss_allocate((size_t)room, sizeof *more);
        if (!more) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for recipes");
        if (recipes->family_count)
            memcpy(more, recipes->families, (size_t)recipes->family_count * sizeof *more);
        ss_release(recipes->families);
        recipes->families = more;
        recipes->family_room = room;
    }
    recipes->families[recipes->family_count++] = (ss_family){name, about ? about : ""};
    return true;
}

static bool read_text(ss_recipes *recipes, const char *file, const char *text, ss_error *err)
{
    reader r = {.recipes = recipes, .file = file, .err = err};
    char *copy = ss_text_copy(text);
    bool good = copy != NULL || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for recipes");
    for (char *line = copy; good && line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        r.line++;
        good = read_line(&r, line);
        line = end ? end + 1 : NULL;
    }
    good = good && close_draft(&r) && (!r.family || add_family(recipes, r.family, r.about, err));
    ss_release(copy);
    return good;
}

/* ---- files ------------------------------------------------------------------------------------------ */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length > wanted && strcmp(text + length - wanted, end) == 0;
}

static int is_recipe(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".recipe");
}

bool ss_is_problem_file(const char *name)
{
    return ends_with(name, ".h5") || ends_with(name, ".hdf5");
}

static int is_data(const struct dirent *entry)
{
    return ss_is_problem_file(entry->d_name);
}

static bool read_folder(ss_recipes *recipes, const char *folder, ss_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_recipe, alphasort);
    if (count < 0) return ss_fail(err, SS_ERROR_INPUT, "%s: %s", folder, strerror(errno));
    bool good = count > 0 || ss_fail(err, SS_ERROR_INPUT, "%s: holds no file *.recipe", folder);

    // Name and version come first: they are part of what sequences are known by.
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; good && i < count; i++) {
            if ((strcmp(entries[i]->d_name, "collection.recipe") == 0) != (pass == 0)) continue;
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            unsigned char *text = ss_file_read(path, LARGEST_RECIPE, &(size_t){0}, err);
            good = text && read_text(recipes, path, (const char *)text, err);
            ss_release(text);
        }
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    return good;
}

bool ss_recipes_read(ss_recipes *recipes, const char *folder, ss_error *err)
{
    *recipes = (ss_recipes){.arena = ss_arena_create(1 << 16, err)};
    bool good = recipes->arena != NULL;
    if (good && folder) {
        good = read_folder(recipes, folder, err);
    } else if (good) {
        for (int pass = 0; pass < 2; pass++)
            for (const ss_recipe_file *file = ss_recipe_files; good && file->name; file++)
                if ((strcmp(file->name, "collection.recipe") == 0) == (pass == 0))
                    good = read_text(recipes, file->name, file->text, err);
    }
    if (good && (!recipes->name || !recipes->version))
        good = ss_fail(err, SS_ERROR_INPUT,
                       "%s: no collection.recipe with a line 'collection NAME' and a "
                       "line 'version N'",
                       folder ? folder : "recipes");
    if (!good) ss_recipes_free(recipes);
    return good;
}

bool ss_recipes_import(ss_recipes *recipes, const char *folder, ss_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_data, alphasort);
    if (count < 0) return ss_fail(err, SS_ERROR_INPUT, "%s: %s", folder, strerror(errno));
    bool good = true, first = true;
    for (int i = 0; i < recipes->family_count; i++)
        first = first && strcmp(recipes->families[i].name, "imported");
    if (first)
        good = add_family(recipes, "imported", "Files that were there when the collection was built.", err);
    for (int i = 0; good && i < count; i++) {
        const char *name = entries[i]->d_name;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        size_t stem = (size_t)(strrchr(name, '.') - name);
        ss_sequence sequence = {.family = "imported",
                                .name = keep(recipes, name, stem, err),
                                .source = keep(recipes, path, strlen(path), err)};
        sequence.where = sequence.source;
        good = sequence.name && sequence.source && add_sequence(recipes, &sequence, err);
    }
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    return good;
}

void ss_recipes_label(const ss_recipes *recipes, char *label, size_t size)
{
    snprintf(label, size, "%s %s", recipes->name, recipes->version);
}

void ss_recipes_free(ss_recipes *recipes)
{
    ss_arena_destroy(recipes->arena);
    ss_release(recipes->families);
    ss_release(recipes->sequences);
    *recipes = (ss_recipes){0};
}
