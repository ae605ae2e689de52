/* Reading frames and problems for verbs that work on each of them: what is wrong with one does not stop the others. */
#include "cli/source.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define REFUSALS_TOLD 10 /* on standard error, one line each */

bool ss_source_check_target(const ss_command *command, const char *path, ss_error *err)
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
    const char *message = ss_source_split(err->message, refused->file, place, sizeof place);
    size_t before = refused->list.count_of[SS_FINDING_FAULT];
    if (before < REFUSALS_TOLD)
        ss_complain("stickslip: %s: not %s: %s: %s", refused->file, refused->done, place, message);
    else if (before == REFUSALS_TOLD)
        ss_complain("stickslip: %s: and more that are not %s (--json lists them)", refused->file,
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

/* "3:7", ":7", "3:" and ":"; false when it is something else. */
static bool parse_range(const char *wanted, int count, int *begin, int *end)
{
    char low[16];
    size_t length = strcspn(wanted, ":");
    if (wanted[length] != ':' || length >= sizeof low) return false;
    snprintf(low, sizeof low, "%.*s", (int)length, wanted);
    const char *high = wanted + length + 1;
    *begin = 0;
    *end = count;
    return (!*low || ss_integer_read(low, begin)) && (!*high || ss_integer_read(high, end)) && *begin >= 0 &&
           *begin < *end && *end <= count;
}

bool ss_source_choose_frames(const ss_bpmd *file, const char *path, const char *wanted, int *begin, int *end,
                             ss_error *err)
{
    int count = ss_bpmd_frame_count(file);
    *begin = 0;
    *end = count;
    if (!wanted || strcmp(wanted, "all") == 0) return true;
    if (parse_range(wanted, count, begin, end)) return true;
    *begin = ss_bpmd_find_frame(file, wanted);
    *end = *begin + 1;
    return *begin >= 0 ||
           ss_fail(err, SS_ERROR_INPUT, "%s: no frame '%s'; the file has %d", path, wanted, count);
}

static void fail_with(const ss_findings *faults, const char *place, ss_error *err)
{
    const ss_finding *first = faults->count ? &faults->items[0] : NULL;
    size_t more = faults->count_of[SS_FINDING_FAULT] - 1;
    ss_fail(err, SS_ERROR_INPUT, "%s: %s", first ? first->place : place, first ? first->message : "faulty");
    if (more == 0) return;
    size_t length = strlen(err->message);
    snprintf(err->message + length, sizeof err->message - length, " (and %zu more faults)", more);
}

ss_frame *ss_source_read_frame(ss_bpmd *file, int index, const char *place, ss_tally *tally, ss_error *err)
{
    ss_findings findings = {0}, faults = {.limit = 1};
    ss_frame *frame = ss_bpmd_read(file, index, &findings, err);
    ss_tally_add(tally, &findings, place, index);
    if (frame && !ss_frame_check(frame, place, &faults)) {
        fail_with(&faults, place, err);
        ss_frame_destroy(frame);
        frame = NULL;
    }
    ss_findings_free(&findings);
    ss_findings_free(&faults);
    return frame;
}

/* ---- problems ------------------------------------------------------------------------------------ */

bool ss_source_choose_problem(const ss_command *command, int wanted, ss_fclib_kind *kind, ss_error *err)
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
        return ss_fail(err, SS_ERROR_INPUT, "%s: there is no %s problem in it", path,
                       ss_fclib_kind_name((ss_fclib_kind)(wanted - 1)));
    if (count == 0) return ss_fail(err, SS_ERROR_INPUT, "%s: there is no problem in it", path);
    return ss_fail(err, SS_ERROR_USAGE, "%s: %s holds %d problems; choose one with --problem",
                   command->verb->name, path, count);
}

ss_fclib *ss_source_read_problem(const char *path, ss_fclib_kind kind, const ss_limits *limits,
                                 ss_tally *tally, ss_error *err)
{
    ss_findings findings = {0}, faults = {.limit = 1};
    ss_fclib *problem = ss_fclib_read(path, kind, limits, &findings, err);
    ss_tally_add(tally, &findings, "", 0);
    if (problem && !ss_cone_check(problem->cone, "", &faults)) {
        fail_with(&faults, "/", err);
        ss_fail_in(err, "%s", path);
        ss_fclib_destroy(problem);
        problem = NULL;
    }
    ss_findings_free(&findings);
    ss_findings_free(&faults);
    return problem;
}
