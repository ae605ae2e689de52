#include "cli/input.h"

#include <ctype.h>
#include <string.h>

#define MOST_ITEMS ((size_t)500) // a file that says more different things than this is not worth more lines

static void free_item(ss_tally_item *item)
{
    ss_release(item->key);
    ss_release(item->what);
    ss_release(item->first);
}

static void add(ss_tally *tally, const ss_finding *finding, const char *frame, int number)
{
    // What is wrong: the place inside the frame and the message.
    const char *place = finding->place;
    size_t length = strlen(frame);
    if (length && strncmp(place, frame, length) == 0) place += length;
    if (*place == '/') place++;
    ss_text what = {0}, key = {0};
    if (*place) ss_text_appendf(&what, "%s: ", place);
    ss_text_append(&what, finding->message);

    // The key is the same without numbers: "frame 3 of 17 lacks x[12]" -> "frame # of # lacks x[#]".
    bool in_number = false;
    for (const char *c = ss_text_get(&what); *c; c++) {
        bool numeric = isdigit((unsigned char)*c) || (in_number && strchr(".eE+-", *c));
        if (!numeric || !in_number) ss_text_append_bytes(&key, numeric ? "#" : c, 1);
        in_number = numeric;
    }
    ss_tally_item fresh = {
        .kind = finding->kind, .frames = 1, .last_frame = number, .what = what.data, .key = key.data};
    bool good = !what.out_of_memory && !key.out_of_memory && key.data;

    // Known already: one frame more.
    for (size_t i = 0; good && i < tally->count; i++) {
        ss_tally_item *known = &tally->items[i];
        if (known->kind != finding->kind || strcmp(known->key, fresh.key) != 0) continue;
        known->frames += known->last_frame != number;
        known->last_frame = number;
        free_item(&fresh);
        return;
    }

    fresh.first = ss_text_copy(frame);
    good = good && fresh.first && tally->count < MOST_ITEMS;
    if (good && tally->count == tally->capacity) {
        size_t capacity = tally->capacity ? 2 * tally->capacity : 16;
        ss_tally_item *items = ss_allocate(capacity, sizeof *items);
        if (items && tally->count) memcpy(items, tally->items, tally->count * sizeof *items);
        if (items) {
            ss_release(tally->items);
            tally->items = items;
            tally->capacity = capacity;
        }
        good = items != NULL;
    }
    if (good) {
        tally->items[tally->count++] = fresh;
    } else {
        tally->out_of_memory |= tally->count < MOST_ITEMS;
        free_item(&fresh);
    }
}

void ss_tally_add(ss_tally *tally, const ss_findings *findings, const char *frame, int number)
{
    tally->out_of_memory |= findings->out_of_memory;
    for (size_t i = 0; i < findings->count; i++) add(tally, &findings->items[i], frame, number);
}

void ss_tally_note(ss_tally *tally, ss_finding_kind kind, const char *place, const char *message,
                   const char *frame, int number)
{
    ss_findings one = {0};
    ss_findings_add(&one, kind, place, "%s", message);
    ss_tally_add(tally, &one, frame, number);
    ss_findings_free(&one);
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
