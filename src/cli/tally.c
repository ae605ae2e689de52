#include "cli/input.h"

#include <ctype.h>
#include <string.h>

#define MOST_ITEMS ((size_t)500) // a file that says more different things than this is not worth more lines

/* "frame 3 of 17 lacks x[12]" -> "frame # of # lacks x[#]" */
static char *without_numbers(const char *what)
{
    ss_text key = {0};
    bool in_number = false;
    for (; *what; what++) {
        bool numeric = isdigit((unsigned char)*what) || (in_number && strchr(".eE+-", *what));
        if (!numeric || !in_number) ss_text_append_bytes(&key, numeric ? "#" : what, 1);
        in_number = numeric;
    }
    return key.out_of_memory ? NULL : key.data;
}

/* Place inside the frame and message. */
static char *describe(const ss_finding *finding, const char *frame)
{
    const char *place = finding->place;
    size_t length = strlen(frame);
    if (length && strncmp(place, frame, length) == 0) place += length;
    if (*place == '/') place++;
    ss_text what = {0};
    if (*place) ss_text_appendf(&what, "%s: ", place);
    ss_text_append(&what, finding->message);
    return what.out_of_memory ? NULL : what.data;
}

static ss_tally_item *find(const ss_tally *tally, ss_finding_kind kind, const char *key)
{
    for (size_t i = 0; i < tally->count; i++)
        if (tally->items[i].kind == kind && strcmp(tally->items[i].key, key) == 0) return &tally->items[i];
    return NULL;
}

static bool grow(ss_tally *tally)
{
    if (tally->count < tally->capacity) return true;
    size_t capacity = tally->capacity ? 2 * tally->capacity : 16;
    ss_tally_item *items = ss_allocate(capacity, sizeof *items);
    if (!items) return false;
    if (tally->count) memcpy(items, tally->items, tally->count * sizeof *items);
    ss_release(tally->items);
    tally->items = items;
    tally->capacity = capacity;
    return true;
}

static void free_item(ss_tally_item *item)
{
    ss_release(item->key);
    ss_release(item->what);
    ss_release(item->first);
}

static void add(ss_tally *tally, const ss_finding *finding, const char *frame, int number)
{
    ss_tally_item fresh = {.kind = finding->kind, .frames = 1, .last_frame = number};
    fresh.what = describe(finding, frame);
    fresh.key = fresh.what ? without_numbers(fresh.what) : NULL;
    ss_tally_item *known = fresh.key ? find(tally, finding->kind, fresh.key) : NULL;
    if (known) {
        known->frames += known->last_frame != number;
        known->last_frame = number;
        free_item(&fresh);
        return;
    }
    fresh.first = ss_text_copy(frame);
    if (tally->count >= MOST_ITEMS || !fresh.key || !fresh.first || !grow(tally)) {
        tally->out_of_memory |= tally->count < MOST_ITEMS;
        free_item(&fresh);
        return;
    }
    tally->items[tally->count++] = fresh;
}

void ss_tally_add(ss_tally *tally, const ss_findings *findings, const char *frame, int number)
{
    tally->out_of_memory |= findings->out_of_memory;
    for (size_t i = 0; i < findings->count; i++) add(tally, &findings->items[i], frame, number);
}

void ss_tally_free(ss_tally *tally)
{
    for (size_t i = 0; i < tally->count; i++) free_item(&tally->items[i]);
    ss_release(tally->items);
    *tally = (ss_tally){0};
}

void ss_tally_json(ss_json *json, const char *key, const ss_tally *tally, ss_finding_kind kind)
{
    ss_json_key(json, key);
    ss_json_begin_array(json);
    for (size_t i = 0; i < tally->count; i++) {
        const ss_tally_item *item = &tally->items[i];
        if (item->kind != kind) continue;
        ss_json_begin_object(json);
        ss_json_key(json, "what"), ss_json_string(json, item->what);
        if (*item->first) {
            ss_json_key(json, "frames"), ss_json_integer(json, item->frames);
            ss_json_key(json, "first"), ss_json_string(json, item->first);
        }
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}

/* "what (3 frames, first /mbs_frame000001)" */
static void put_item(ss_text *text, const ss_tally_item *item)
{
    ss_text_append(text, item->what);
    if (*item->first && item->frames == 1)
        ss_text_appendf(text, " (%s)", item->first);
    else if (*item->first)
        ss_text_appendf(text, " (%d frames, first %s)", item->frames, item->first);
}

void ss_tally_print(ss_out *out, const char *title, const ss_tally *tally, ss_finding_kind kind)
{
    bool titled = false;
    for (size_t i = 0; i < tally->count; i++) {
        if (tally->items[i].kind != kind) continue;
        if (!titled)
            ss_text_appendf(&out->text, "\n%s%s%s\n", ss_out_style(out, SS_STYLE_HEADING), title,
                            ss_out_style(out, SS_STYLE_PLAIN));
        titled = true;
        ss_text line = {0};
        put_item(&line, &tally->items[i]);
        ss_text_append(&out->text, "  ");
        ss_text_append_clean(&out->text, ss_text_get(&line));
        ss_text_append(&out->text, "\n");
        ss_text_free(&line);
    }
}

void ss_tally_say(const ss_command *command, const char *word, const ss_tally *tally, ss_finding_kind kind)
{
    for (size_t i = 0; i < tally->count; i++) {
        if (tally->items[i].kind != kind) continue;
        ss_text line = {0};
        put_item(&line, &tally->items[i]);
        ss_command_say(command, "%s: %s", word, ss_text_get(&line));
        ss_text_free(&line);
    }
}
