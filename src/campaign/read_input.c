#include "campaign/read_input.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

bool ss_choose_frames(const ss_bpmd *file, const char *path, const char *wanted, int *begin, int *end,
                      ss_error *err)
{
    int count = ss_bpmd_frame_count(file);
    *begin = 0;
    *end = count;
    if (!wanted || strcmp(wanted, "all") == 0) return true;

    // "3:7", ":7", "3:" and ":"
    char low[16];
    size_t length = strcspn(wanted, ":");
    if (wanted[length] == ':' && length < sizeof low) {
        const char *high = wanted + length + 1;
        snprintf(low, sizeof low, "%.*s", (int)length, wanted);
        if ((!*low || ss_integer_read(low, begin)) && (!*high || ss_integer_read(high, end)) && *begin >= 0 &&
            *begin < *end && *end <= count)
            return true;
    }

    // One frame, by its number or name.
    *begin = ss_bpmd_find_frame(file, wanted);
    *end = *begin + 1;
    return *begin >= 0 ||
           ss_fail(err, SS_ERROR_INPUT, "%s: unknown frame '%s'; the file has %d", path, wanted, count);
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

ss_frame *ss_read_checked_frame(ss_bpmd *file, int index, const char *place, ss_findings *findings,
                                ss_error *err)
{
    ss_findings faults = {.limit = 1};
    ss_frame *frame = ss_bpmd_read(file, index, findings, err);
    if (frame && !ss_frame_check(frame, place, &faults)) {
        fail_with(&faults, place, err);
        ss_frame_destroy(frame);
        frame = NULL;
    }
    ss_findings_free(&faults);
    return frame;
}

ss_fclib *ss_read_checked_problem(const char *path, ss_fclib_kind kind, const ss_limits *limits,
                                  ss_findings *findings, ss_error *err)
{
    ss_findings faults = {.limit = 1};
    ss_fclib *problem = ss_fclib_read(path, kind, limits, findings, err);
    if (problem && !ss_cone_check(problem->cone, "", &faults)) {
        fail_with(&faults, "/", err);
        ss_fail_in(err, "%s", path);
        ss_fclib_destroy(problem);
        problem = NULL;
    }
    ss_findings_free(&faults);
    return problem;
}
