/* Files to problems. */
#include "race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ss_contest *append(ss_contest_list *list, ss_error *err)
{
    ss_contest *items = realloc(list->items, ((size_t)list->count + 1) * sizeof *items);
    if (!items) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a problem"), NULL;
    list->items = items;
    items[list->count] = (ss_contest){0};
    return &items[list->count++];
}

/* "wall" of "dir/wall.h5" */
static void stem(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = '\0';
}

/* Why no solver, or not every solver, could solve it; NULL when it is fair. */
static const char *unfit(const ss_problem *problem)
{
    if (problem->block_count == 0) return "it has no contacts";
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->blocks[k].law != SS_LAW_CONE) return "nothing but contacts is raced";
        if (isinf(problem->blocks[k].mu)) return "infinite friction, which Siconos does not know";
    }
    return NULL;
}

/* Sizes; taken out again when it is no cone problem with contacts. False when it could not be made. */
static bool settle(ss_contest_list *list, ss_error *err)
{
    ss_contest *contest = &list->items[list->count - 1];
    ss_problem *problem = ss_contest_problem(contest, err);
    const char *why = problem ? unfit(problem) : NULL;
    if (problem && !why) {
        contest->contacts = problem->block_count;
        contest->size = problem->size;
    } else {
        if (why) fprintf(stderr, "race_solvers: %s: %s: left out\n", contest->name, why);
        ss_fclib_destroy(contest->fclib);
        ss_frame_destroy(contest->frame);
        list->count--;
    }
    bool read = problem != NULL;
    ss_problem_destroy(problem);
    return read;
}

static bool add_fclib(ss_contest_list *list, const char *path, ss_fclib_kind kind, ss_error *err)
{
    ss_contest *contest = append(list, err);
    if (!contest) return false;
    stem(path, contest->name, sizeof contest->name);
    contest->fclib = ss_fclib_read(path, kind, NULL, NULL, err);
    if (!contest->fclib) return list->count--, false;
    return settle(list, err);
}

static bool add_frame(ss_contest_list *list, const char *path, ss_bpmd *file, int index, ss_error *err)
{
    ss_frame *frame = ss_bpmd_read(file, index, NULL, err);
    if (!frame) return false;
    if (frame->contacts.count == 0 || !ss_frame_check(frame, "", NULL)) {
        ss_frame_destroy(frame);
        return true;
    }
    ss_contest *contest = append(list, err);
    if (!contest) return ss_frame_destroy(frame), false;
    contest->frame = frame;
    char name[48];
    stem(path, name, sizeof name);
    snprintf(contest->name, sizeof contest->name, "%s %d", name, index);
    return settle(list, err);
}

static bool add_frames(ss_contest_list *list, const char *path, ss_error *err)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, err);
    bool good = file != NULL;
    for (int i = 0; good && i < ss_bpmd_frame_count(file); i++) good = add_frame(list, path, file, i, err);
    ss_bpmd_close(file);
    return good;
}

bool ss_contests_add(ss_contest_list *list, const char *path, ss_error *err)
{
    ss_fclib_kind kinds[3];
    int count = ss_fclib_kinds(path, kinds, NULL);
    if (count < 1) return add_frames(list, path, err);
    return add_fclib(list, path, kinds[0], err);
}

void ss_contest_clear(ss_contest *contest)
{
    ss_frame_destroy(contest->frame);
    ss_fclib_destroy(contest->fclib);
    *contest = (ss_contest){0};
}

void ss_contests_free(ss_contest_list *list)
{
    for (int i = 0; i < list->count; i++) ss_contest_clear(&list->items[i]);
    free(list->items);
    *list = (ss_contest_list){0};
}

ss_problem *ss_contest_problem(const ss_contest *contest, ss_error *err)
{
    if (contest->fclib) return ss_problem_from_cone(contest->fclib->cone, err);
    const ss_formulation *cone = ss_formulation_find("cone");
    void *options = calloc(1, cone->options_size);
    if (!options) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options"), NULL;
    ss_options_defaults(cone->options, options);
    ss_problem *problem = ss_problem_from_frame(contest->frame, cone, options, err);
    free(options);
    return problem;
}
