/* The time step of a frame: in the frame, in its settings, beside the frames, or (Gazebo before May 2017
 * leaves it out of every (1/(5h))-th frame) in the nearest frame that has one. */
#include "dataset/bpmd.h"

#include <string.h>

static const char *const step_names[] = {"timestep", "step_size", "h", "dt"};
enum { STEP_NAMES = sizeof step_names / sizeof step_names[0] };

/* Genuine gaps are one frame wide. A limit, so that a million frames without a step are not asked a
 * million times. */
enum { FARTHEST_NEIGHBOUR = 1000 };

/* found stays false, without an error, when there is none. */
static bool look_in(const ss_bpmd_place *place, double *h, bool *found, ss_error *err)
{
    const char *name = NULL;
    for (int i = 0; !name && i < STEP_NAMES; i++)
        if (ss_bpmd_has(place, step_names[i])) name = step_names[i];
    *found = name != NULL;
    return !name || ss_h5_read_scalar(&place->group, name, h, err);
}

/* A frame of its own, or its settings. */
static bool look_in_frame(const ss_bpmd_place *frame, const ss_bpmd_place *settings, double *h, bool *found,
                          ss_error *err)
{
    return look_in(frame, h, found, err) && (*found || look_in(settings, h, found, err));
}

static bool look_beside_frames(ss_bpmd_stored *stored, double *h, bool *found, ss_error *err)
{
    const ss_bpmd *file = stored->file;
    ss_h5_group group;
    if (!ss_bpmd_enter_simulation(file, (int)file->entries[stored->index].simulation, &group, err))
        return false;
    bool good = true;
    *found = false;
    for (int i = 0; good && !*found && i < STEP_NAMES; i++)
        if (ss_h5_has(&group, step_names[i]) && !ss_h5_is_group(&group, step_names[i])) {
            *found = true;
            good = ss_h5_read_scalar(&group, step_names[i], h, err);
        }
    ss_h5_leave_group(&group);
    return good;
}

/* What was found is remembered, so that no frame is opened twice for this. Only lack of
 * memory is a failure. */
static bool look_in_other(ss_bpmd *file, int frame, double *h, bool *found, ss_error *err)
{
    ss_bpmd_entry *entry = &file->entries[frame];
    ss_error trouble = {0};
    *found = false;
    if (entry->has_timestep == SS_TIMESTEP_MISSING) return true;
    ss_bpmd_place place = {0}, settings = {0};
    bool good = ss_bpmd_enter_frame(file, frame, &place, &trouble) &&
                ss_bpmd_enter_member(&place, "settings", &settings, &trouble) &&
                look_in_frame(&place, &settings, h, found, &trouble);
    ss_bpmd_leave(&settings);
    ss_bpmd_leave(&place);
    *found = good && *found;
    if (!good && trouble.code == SS_ERROR_RESOURCES) {
        if (err) *err = trouble;
        return false;
    }
    entry->has_timestep = *found ? SS_TIMESTEP_THERE : SS_TIMESTEP_MISSING;
    return true;
}

bool ss_bpmd_timestep(ss_bpmd_stored *stored, double *h, ss_error *err)
{
    ss_bpmd *file = stored->file;
    bool found;
    if (stored->family == SS_FAMILY_OURS) return ss_h5_read_scalar(&stored->place.group, "timestep", h, err);
    if (!look_in_frame(&stored->place, &stored->settings, h, &found, err)) return false;
    if (found) return true;
    if (!look_beside_frames(stored, h, &found, err)) return false;
    if (found) return true;

    /* Then in the neighbours, outwards from the frame, the earlier one first. */
    const ss_bpmd_simulation *s = &file->simulations[file->entries[stored->index].simulation];
    int first = s->first, end = s->first + s->count;
    for (int distance = 1; !found && distance < s->count && distance <= FARTHEST_NEIGHBOUR; distance++) {
        int before = stored->index - distance, after = stored->index + distance;
        if (before >= first && !look_in_other(file, before, h, &found, err)) return false;
        if (!found && after < end && !look_in_other(file, after, h, &found, err)) return false;
    }
    if (found) {
        ss_bpmd_say(stored, SS_FINDING_REPAIR, NULL, "timestep",
                    "is missing: %.9g s is taken from the nearest frame that has one", *h);
        return true;
    }
    return ss_fail(
        err, SS_ERROR_INPUT,
        "%s: %s/timestep: is missing, also in the frames around it; expected timestep, step_size, h or dt",
        stored->file->name, stored->place.group.path);
}
