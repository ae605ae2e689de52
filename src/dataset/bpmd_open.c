/* The index of a BPMD file: which simulations and frames there are. Only names are looked at, so that a file
 * of ten thousand frames opens at once; a frame is read when it is asked for. */
#include "dataset/bpmd.h"

#include "base/number.h"
#include "dataset/writer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FRAME_PREFIX "mbs_frame"
#define SIMULATION_PREFIX "simulation_"
enum { MOST_DIGITS = 18, MOST_MEMBERS = 10000 };

/* ---- names ------------------------------------------------------------------------------------------ */

/* "mbs_frame000012" with the prefix "mbs_frame" is 12 in 6 digits. More than 18 digits are no number here. */
static bool read_name(const char *name, const char *prefix, uint64_t *number, uint8_t *digits)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0) return false;
    size_t count = strspn(name + length, "0123456789");
    if (count == 0 || count > MOST_DIGITS || name[length + count] != '\0') return false;
    *number = strtoull(name + length, NULL, 10);
    *digits = (uint8_t)count;
    return true;
}

static void write_frame_name(const ss_bpmd_entry *entry, char name[40])
{
    snprintf(name, 40, FRAME_PREFIX "%0*llu", (int)entry->digits, (unsigned long long)entry->number);
}

/* ---- groups that may be missing --------------------------------------------------------------------- */

bool ss_bpmd_enter(const ss_h5_group *parent, const char *name, ss_bpmd_place *place, ss_error *err)
{
    *place = (ss_bpmd_place){0};
    if (!ss_h5_enter_group(parent, name, &place->group, err)) return false;
    place->exists = true;
    place->group.all_hard = ss_h5_list(&place->group, MOST_MEMBERS, &place->names, err);
    if (place->group.all_hard) return true;
    ss_bpmd_leave(place);
    return false;
}

bool ss_bpmd_enter_member(const ss_bpmd_place *parent, const char *name, ss_bpmd_place *place, ss_error *err)
{
    *place = (ss_bpmd_place){0};
    return !ss_bpmd_has(parent, name) || ss_bpmd_enter(&parent->group, name, place, err);
}

void ss_bpmd_leave(ss_bpmd_place *place)
{
    if (!place->exists) return;
    ss_h5_names_free(&place->names);
    ss_h5_leave_group(&place->group);
    place->exists = false;
}

bool ss_bpmd_has(const ss_bpmd_place *place, const char *name)
{
    return place->exists && ss_h5_names_have(&place->names, name);
}

bool ss_bpmd_enter_simulation(const ss_bpmd *file, int simulation, ss_h5_group *group, ss_error *err)
{
    const ss_bpmd_simulation *s = &file->simulations[simulation];
    if (s->name[0]) return ss_h5_enter_group(&file->root, s->name, group, err);
    *group = file->root;
    group->id = H5Gopen2(file->root.id, ".", H5P_DEFAULT); // closed by the caller like any other
    return group->id >= 0 ||
           ss_fail(err, SS_ERROR_INPUT, "%s: /: the root group cannot be opened", file->name);
}

bool ss_bpmd_enter_frame(const ss_bpmd *file, int frame, ss_bpmd_place *place, ss_error *err)
{
    *place = (ss_bpmd_place){0};
    const ss_bpmd_entry *entry = &file->entries[frame];
    char name[40];
    write_frame_name(entry, name);
    ss_h5_group simulation;
    if (!ss_bpmd_enter_simulation(file, (int)entry->simulation, &simulation, err)) return false;
    bool good = ss_bpmd_enter(&simulation, name, place, err);
    ss_h5_leave_group(&simulation);
    return good;
}

/* ---- building the index ----------------------------------------------------------------------------- */

typedef struct indexing {
    ss_bpmd *file;
    int capacity, simulation_capacity;
    uint32_t simulation; /* whose frames are being listed */
    char *manifest;      /* of the group that is being listed */
    int members;         /* of all groups so far */
    bool at_root;
} indexing;

/* Doubles an array when it is full. */
static bool make_room(void *array, int count, int *capacity, size_t size, const char *name, ss_error *err)
{
    if (count < *capacity) return true;
    int larger = *capacity ? 2 * *capacity : 64;
    void *old, *grown = ss_allocate((size_t)larger, size);
    if (!grown) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory for its index", name);
    memcpy(&old, array, sizeof old);
    if (count) memcpy(grown, old, (size_t)count * size);
    ss_release(old);
    memcpy(array, &grown, sizeof grown);
    *capacity = larger;
    return true;
}

static bool add_simulation(indexing *index, const char *name, uint64_t number, ss_error *err)
{
    ss_bpmd *file = index->file;
    if (file->simulation_count >= file->limits.max_simulations)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: more than %d simulations (max_simulations)", file->name,
                       file->limits.max_simulations);
    if (!make_room(&file->simulations, file->simulation_count, &index->simulation_capacity,
                   sizeof *file->simulations, file->name, err))
        return false;
    ss_bpmd_simulation *simulation = &file->simulations[file->simulation_count++];
    *simulation = (ss_bpmd_simulation){.number = number};
    snprintf(simulation->name, sizeof simulation->name, "%s", name);
    snprintf(simulation->path, sizeof simulation->path, "/%s", name);
    return true;
}

static bool note_member(const char *name, void *context, ss_error *err)
{
    indexing *index = context;
    ss_bpmd *file = index->file;
    ss_bpmd_entry entry = {.simulation = index->simulation};
    if (++index->members > file->limits.max_members)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: more than %d members of simulations (max_members)",
                       file->name, file->limits.max_members);

    if (read_name(name, FRAME_PREFIX, &entry.number, &entry.digits)) {
        if (file->frame_count >= file->limits.max_frames)
            return ss_fail(err, SS_ERROR_RESOURCES, "%s: more than %d frames (max_frames)", file->name,
                           file->limits.max_frames);
        if (!make_room(&file->entries, file->frame_count, &index->capacity, sizeof *file->entries, file->name,
                       err))
            return false;
        file->entries[file->frame_count++] = entry;
        return true;
    }

    if (index->at_root && read_name(name, SIMULATION_PREFIX, &entry.number, &entry.digits))
        return add_simulation(index, name, entry.number, err);
    if (strcasecmp(name, "manifest") == 0) strcpy(index->manifest, name);
    return true;
}

static int compare_simulations(const void *left, const void *right)
{
    const ss_bpmd_simulation *a = left, *b = right;
    if (!a->name[0] != !b->name[0]) return a->name[0] ? 1 : -1; // the root comes first
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int compare_entries(const void *left, const void *right)
{
    const ss_bpmd_entry *a = left, *b = right;
    if (a->simulation != b->simulation) return a->simulation < b->simulation ? -1 : 1;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (int)a->digits - (int)b->digits;
}

static bool build_index(ss_bpmd *file, ss_error *err)
{
    indexing index = {.file = file, .manifest = file->manifest, .at_root = true};
    if (!ss_h5_each(&file->root, note_member, &index, err)) return false;
    if (file->frame_count == 0 && file->simulation_count == 0)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: /: holds neither mbs_frame* nor simulation_*: not a BPMD "
                       "file",
                       file->name);

    /* Frames in the root are a simulation without a name. */
    if (file->frame_count > 0) {
        if (!add_simulation(&index, "", 0, err)) return false;
        strcpy(file->simulations[file->simulation_count - 1].path, "/");
    }
    qsort(file->simulations, (size_t)file->simulation_count, sizeof *file->simulations, compare_simulations);

    index.at_root = false;
    for (int k = 0; k < file->simulation_count; k++) {
        ss_bpmd_simulation *s = &file->simulations[k];
        ss_h5_group group;
        char mark[32];
        if (!s->name[0]) continue; // the root was listed first
        if (!ss_bpmd_enter_simulation(file, k, &group, err)) return false;
        s->is_ours = ss_h5_text_attribute(&group, SS_BPMD_MARK, mark, sizeof mark);
        index.simulation = (uint32_t)k;
        index.manifest = s->manifest;
        bool good = ss_h5_each(&group, note_member, &index, err);
        ss_h5_leave_group(&group);
        if (!good) return false;
    }

    /* In order, the frames of a simulation are a range. */
    if (file->frame_count)
        qsort(file->entries, (size_t)file->frame_count, sizeof *file->entries, compare_entries);
    for (int f = 0; f < file->frame_count; f++) {
        ss_bpmd_simulation *s = &file->simulations[file->entries[f].simulation];
        if (s->count++ == 0) s->first = f;
    }
    return true;
}

/* ---- opening and closing ---------------------------------------------------------------------------- */

static ss_bpmd *create(const char *name, const ss_limits *limits, const ss_read_options *options,
                       ss_error *err)
{
    ss_bpmd *file = ss_allocate(1, sizeof *file);
    if (file) file->name = ss_text_copy(name);
    if (!file || !file->name) {
        ss_release(file);
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", name);
        return NULL;
    }
    file->id = file->root.id = -1;
    file->judged = file->listed = -1;
    if (limits)
        file->limits = *limits;
    else
        ss_options_defaults(ss_limits_table, &file->limits);
    if (options)
        file->options = *options;
    else
        ss_options_defaults(ss_read_option_table, &file->options);
    return file;
}

static void destroy(ss_bpmd *file)
{
    ss_h5_names_free(&file->results);
    ss_h5_leave_group(&file->root);
    ss_h5_close(file->id);
    ss_release(file->simulations);
    ss_release(file->entries);
    ss_release(file->name);
    ss_release(file);
}

static bool check_options(const ss_bpmd *file, ss_error *err)
{
    return ss_options_check(ss_limits_table, &file->limits, err) &&
           ss_options_check(ss_read_option_table, &file->options, err);
}

ss_bpmd *ss_bpmd_open(const char *path, const ss_limits *limits, const ss_read_options *options,
                      ss_error *err)
{
    ss_bpmd *file = create(path, limits, options, err);
    if (!file) return NULL;
    ss_h5_session session;
    ss_h5_enter(&session);
    bool good = check_options(file, err) &&
                ss_h5_open(file->name, 1e6 * file->limits.max_megabytes, &file->id, &file->root, err) &&
                build_index(file, err);
    if (!good) destroy(file);
    ss_h5_leave(&session);
    return good ? file : NULL;
}

ss_bpmd *ss_bpmd_open_image(const void *bytes, size_t size, const ss_limits *limits,
                            const ss_read_options *options, ss_error *err)
{
    ss_bpmd *file = create("image", limits, options, err);
    if (!file) return NULL;
    ss_h5_session session;
    ss_h5_enter(&session);
    double max_bytes = 1e6 * file->limits.max_megabytes;
    bool good = check_options(file, err) &&
                ss_h5_open_image(bytes, size, max_bytes, &file->id, &file->root, err) &&
                build_index(file, err);
    if (!good) destroy(file);
    ss_h5_leave(&session);
    return good ? file : NULL;
}

void ss_bpmd_close(ss_bpmd *file)
{
    if (!file) return;
    ss_h5_session session;
    ss_h5_enter(&session);
    destroy(file);
    ss_h5_leave(&session);
}

/* ---- looking at the index --------------------------------------------------------------------------- */

int ss_bpmd_simulation_count(const ss_bpmd *file)
{
    return file->simulation_count;
}

const char *ss_bpmd_simulation_path(const ss_bpmd *file, int simulation)
{
    if (simulation < 0 || simulation >= file->simulation_count) return NULL;
    return file->simulations[simulation].path;
}

int ss_bpmd_simulation_frames(const ss_bpmd *file, int simulation)
{
    return simulation < 0 || simulation >= file->simulation_count ? 0 : file->simulations[simulation].count;
}

int ss_bpmd_frame_count(const ss_bpmd *file)
{
    return file->frame_count;
}

int ss_bpmd_frame_simulation(const ss_bpmd *file, int frame)
{
    return frame < 0 || frame >= file->frame_count ? -1 : (int)file->entries[frame].simulation;
}

bool ss_bpmd_frame_path(const ss_bpmd *file, int frame, char *path, size_t size)
{
    if (frame < 0 || frame >= file->frame_count) return false;
    const ss_bpmd_entry *entry = &file->entries[frame];
    const ss_bpmd_simulation *s = &file->simulations[entry->simulation];
    char name[40];
    write_frame_name(entry, name);
    int length = snprintf(path, size, "%s/%s", s->name[0] ? s->path : "", name);
    return length >= 0 && (size_t)length < size;
}

int ss_bpmd_find_frame(const ss_bpmd *file, const char *path_or_number)
{
    int number;
    if (ss_integer_read(path_or_number, &number))
        return number >= 0 && number < file->frame_count ? number : -1;

    /* "/simulation_000001/mbs_frame000012", or a frame of the root. */
    const char *path = path_or_number + (*path_or_number == '/');
    const char *slash = strchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = slash ? (size_t)(slash - path) : 0; // of the simulation's name
    ss_bpmd_entry wanted = {0};
    if (!read_name(name, FRAME_PREFIX, &wanted.number, &wanted.digits)) return -1;
    for (int s = 0; s < file->simulation_count; s++) {
        const ss_bpmd_simulation *simulation = &file->simulations[s];
        if (strlen(simulation->name) != length || strncmp(simulation->name, path, length) != 0) continue;
        if (simulation->count == 0) return -1;
        wanted.simulation = (uint32_t)s;
        const ss_bpmd_entry *found = bsearch(&wanted, file->entries + simulation->first,
                                             (size_t)simulation->count, sizeof wanted, compare_entries);
        return found ? (int)(found - file->entries) : -1;
    }
    return -1;
}
