#include "cli/input.h"

#include "session/method.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_ITEMS ((size_t)500) // a file that says more different things than this is not worth more lines
#define REFUSALS_TOLD 10         /* on standard error, one line each */

const ss_option ss_input_option_table[] = {
    {SS_FLAG(REAL, ss_input_options, max_memory), .default_value = "0", .max = 1e9, .value_name = "MB",
     .help = "Memory limit of the process that reads the file, in MB of address space; 0 = no limit."},
    {SS_FLAG(REAL, ss_input_options, max_time), .default_value = "0", .max = 1e9, .value_name = "seconds",
     .help = "Time limit of the whole run, for files that are not trusted; 0 = no limit."},
    {0}};

const ss_input_options *ss_input_options_of(const ss_command *command)
{
    const char *options = command->options;
    for (const ss_option_group *group = command->verb->groups; group->table; group++)
        if (group->table == ss_input_option_table) return (const void *)(options + group->offset);
    return NULL;
}

const char *ss_input_split(const char *message, const char *path, char *place, size_t size)
{
    size_t length = strlen(path);
    if (strncmp(message, path, length) == 0 && strncmp(message + length, ": ", 2) == 0) message += length + 2;
    const char *colon = message[0] == '/' ? strstr(message, ": ") : NULL;
    if (!colon) return message;
    snprintf(place, size, "%.*s", (int)(colon - message), message);
    return colon + 2;
}

bool ss_input_check_target(const ss_command *command, const char *path, ss_error *err)
{
    struct stat in, out;
    bool same = stat(command->arguments[0], &in) == 0 && stat(path, &out) == 0 && in.st_dev == out.st_dev &&
                in.st_ino == out.st_ino;
    return !same ||
           ss_fail(err, SS_ERROR_USAGE, "%s: %s is the input file; choose another name for the output",
                   command->verb->name, path);
}

/* ---- the same finding in many frames ------------------------------------------------------------- */

static void free_item(ss_tally_item *item)
{
    ss_release(item->key);
    ss_release(item->what);
    ss_release(item->first);
}

void ss_tally_add(ss_tally *tally, const ss_findings *findings, const char *frame, int number)
{
    tally->out_of_memory |= findings->out_of_memory;
    for (size_t f = 0; f < findings->count; f++) {
        // What is wrong: the place inside the frame and the message.
        const ss_finding *finding = &findings->items[f];
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
        ss_tally_item *known = NULL;
        for (size_t i = 0; good && !known && i < tally->count; i++)
            if (tally->items[i].kind == fresh.kind && strcmp(tally->items[i].key, fresh.key) == 0)
                known = &tally->items[i];
        if (known) {
            known->frames += known->last_frame != number;
            known->last_frame = number;
            free_item(&fresh);
            continue;
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

/* ---- refusals ------------------------------------------------------------------------------------ */

void ss_refuse(ss_refused *refused, const char *around, const ss_error *err)
{
    char place[512];
    snprintf(place, sizeof place, "%s", around);
    const char *message = ss_input_split(err->message, refused->file, place, sizeof place);
    size_t before = refused->list.count_of[SS_FINDING_FAULT];
    if (before < REFUSALS_TOLD)
        ss_complain("stickslip: %s: not %s: %s: %s", refused->file, refused->done, place, message);
    else if (before == REFUSALS_TOLD)
        ss_complain("stickslip: %s: ... and more that are not %s (--json lists them)", refused->file,
                    refused->done);
    ss_findings_add(&refused->list, SS_FINDING_FAULT, place, "%s", message);
    int code = ss_error_exit_code(err->code);
    if (code > refused->exit_code) refused->exit_code = code;
}

void ss_refused_json(ss_json *json, const ss_refused *refused)
{
    ss_json_key(json, "refused");
    ss_json_begin_array(json);
    for (size_t i = 0; i < refused->list.count; i++) {
        ss_json_begin_object(json);
        ss_json_key(json, "place"), ss_json_string(json, refused->list.items[i].place);
        ss_json_key(json, "message"), ss_json_string(json, refused->list.items[i].message);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}

/* ---- frames -------------------------------------------------------------------------------------- */

ss_frame *ss_input_read_frame(ss_bpmd *file, int index, const char *place, ss_tally *tally, ss_error *err)
{
    ss_findings findings = {0};
    ss_frame *frame = ss_read_checked_frame(file, index, place, &findings, err);
    ss_tally_add(tally, &findings, place, index);
    ss_findings_free(&findings);
    return frame;
}

/* ---- shapes -------------------------------------------------------------------------------------- */

static void tell(ss_tally *tally, const char *place, int number, const ss_error *err)
{
    char message[sizeof err->message + 16];
    snprintf(message, sizeof message, "skipped: %s", err->message);
    ss_tally_note(tally, SS_FINDING_WARNING, place, message, place, number);
}

bool ss_input_copy_shapes(ss_bpmd *file, int simulation, ss_writer *writer, ss_tally *tally, ss_error *err)
{
    ss_shapes shapes;
    ss_findings findings = {0};
    ss_error trouble;
    const char *place = ss_bpmd_simulation_path(file, simulation);
    bool read = ss_bpmd_shapes(file, simulation, &shapes, &findings, &trouble);
    if (!read) tell(tally, place, -1 - simulation, &trouble);
    ss_tally_add(tally, &findings, place, -1 - simulation);
    ss_findings_free(&findings);
    bool good = !read || ss_writer_shapes(writer, shapes.items, shapes.count, err);
    ss_shapes_free(&shapes);
    return good;
}

bool ss_input_copy_scenery(ss_bpmd *file, int frame, ss_writer *writer, ss_tally *tally, ss_error *err)
{
    ss_scenery scenery;
    ss_error trouble;
    char place[256];
    if (ss_bpmd_scenery(file, frame, &scenery, &trouble)) {
        bool good = ss_writer_scenery(writer, &scenery, err);
        ss_scenery_free(&scenery);
        return good;
    }
    ss_bpmd_frame_path(file, frame, place, sizeof place);
    tell(tally, place, frame, &trouble);
    return true;
}

/* ---- problems ------------------------------------------------------------------------------------ */

bool ss_input_choose_problem(const ss_command *command, int wanted, ss_fclib_kind *kind, ss_error *err)
{
    const char *path = command->arguments[0];
    ss_fclib_kind kinds[3];
    int count = ss_fclib_kinds(path, kinds, err);
    if (count < 0) return false;
    for (int i = 0; i < count; i++) {
        if ((int)kinds[i] == wanted - 1 || (wanted == 0 && count == 1)) {
            *kind = kinds[i];
            return true;
        }
    }
    if (wanted > 0)
        return ss_fail(err, SS_ERROR_INPUT, "%s: holds no %s problem", path,
                       ss_fclib_kind_name((ss_fclib_kind)(wanted - 1)));
    if (count == 0) return ss_fail(err, SS_ERROR_INPUT, "%s: holds no problem", path);
    return ss_fail(err, SS_ERROR_USAGE, "%s: %s holds %d problems; choose one with --problem",
                   command->verb->name, path, count);
}

ss_fclib *ss_input_read_problem(const char *path, ss_fclib_kind kind, const ss_limits *limits,
                                ss_tally *tally, ss_error *err)
{
    ss_findings findings = {0};
    ss_fclib *problem = ss_read_checked_problem(path, kind, limits, &findings, err);
    ss_tally_add(tally, &findings, "", 0);
    ss_findings_free(&findings);
    return problem;
}

/* ---- rules of stored answers --------------------------------------------------------------------- */

bool ss_rules_read(const char *verb, const char *formulation, const ss_option_list *with, ss_text *joined,
                   ss_error *err)
{
    ss_option_list_join(with, joined);
    if (joined->out_of_memory) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for rules");
    ss_request request = {.formulation = formulation ? formulation : "cone", .with = ss_text_get(joined)};
    ss_request_fault fault = {0};
    ss_method method;
    if (!ss_method_prepare(&request, &method, &fault, err)) {
        if (fault.member) ss_fail_in(err, fault.item[0] ? "--%s %s" : "--%s", fault.member, fault.item);
        return ss_fail_in(err, "%s", verb);
    }
    ss_method_free(&method);
    return true;
}
