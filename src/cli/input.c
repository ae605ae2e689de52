#include "cli/input.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define REFUSALS_TOLD 10 /* on standard error, one line each */

const ss_option ss_input_option_table[] = {
    {.name = "max_memory",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_input_options, max_memory),
     .default_value = "0",
     .max = 1e9,
     .value_name = "MB",
     .help = "Memory limit of the process that reads the file, in MB of address space; 0 = no limit."},
    {.name = "max_time",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_input_options, max_time),
     .default_value = "0",
     .max = 1e9,
     .value_name = "seconds",
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
