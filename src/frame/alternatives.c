/* Alternatives of a frame: the arrays, the ordinary frame of a choice, and the gaps of groups. */
#include "frame/alternatives.h"

#include "base/partition.h"
#include "collision/alternatives.h" // SS_CUT_SHARE, by which the cut gives the width
#include "frame/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- arrays ----------------------------------------------------------------------------------------- */

static bool is_of(const ss_field *field, const char *group)
{
    return strcmp(field->group, group) == 0;
}

bool ss_frame_add_alternatives(ss_frame *frame, int groups, int rows, ss_error *err)
{
    if (groups < 0 || rows < 0)
        return ss_fail(err, SS_ERROR_INPUT, "frame: %d groups with %d rows, must not be negative", groups,
                       rows);
    if (frame->subcontacts.contact_group)
        return ss_fail(err, SS_ERROR_USAGE, "frame: it has alternatives already");
    frame->subcontacts.groups = groups;
    frame->subcontacts.count = rows;
    for (int f = 0; f < ss_field_count; f++) {
        char path[64];
        const ss_field *field = &ss_fields[f];
        if (!is_of(field, "subcontacts") || field->offset == offsetof(ss_frame, subcontacts.surface_velocity))
            continue;
        snprintf(path, sizeof path, "%s/%s", field->group, field->name);
        if (!ss_frame_enable(frame, path, err)) return false;
    }
    return true;
}

/* ---- the frame of a choice -------------------------------------------------------------------------- */

/* Where the contacts of the choice come from; returns how many there are. A group that is not on its contacts
 * stands where its first contact was, and promoted points stand behind the last one. */
static int choose(const ss_groups *groups, const int32_t *selection, const uint8_t *promoted, int *origin)
{
    const ss_frame *frame = groups->frame;
    const ss_subcontacts *sub = &frame->subcontacts;
    int contacts = frame->contacts.count, count = 0;
    for (int c = 0; c < contacts; c++) {
        int g = sub->contact_group ? sub->contact_group[c] : -1;
        if (g < 0 || !selection || selection[g] == 0) origin[count++] = c;
        if (g < 0 || groups->contact[g] != c) continue;
        int k = groups->first_alternative[g] + (selection ? selection[g] : 0);
        int end = selection ? k + 1 : groups->first_alternative[g + 1];
        for (int r = groups->first_row[k]; r < groups->first_row[end]; r++) {
            int row = groups->origin[r] - contacts;
            if (row < 0 || (sub->role[row] == SS_ROW_TEST && !(promoted && promoted[row]))) continue;
            origin[count++] = groups->origin[r];
        }
    }
    return count;
}

static bool copy_fields(const ss_frame *from, const int *item, ss_frame *to, ss_error *err)
{
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const char *source = ss_field_data(field, from);
        if (is_of(field, "subcontacts") || !source) continue;
        char path[64];
        snprintf(path, sizeof path, "%s/%s", field->group, field->name);
        if (field->optional && !ss_frame_enable(to, path, err)) return false;

        /* Contacts come from where the choice has them, everything else stays in its place. */
        char *target = ss_field_data(field, to);
        size_t size = (size_t)field->width * ss_field_element_size(field);
        bool of_contacts = is_of(field, "contacts");
        for (int i = 0; i < ss_field_items(field, to); i++)
            memcpy(target + (size_t)i * size, source + (size_t)(of_contacts ? item[i] : i) * size, size);
    }
    return from->contacts.surface_velocity || !from->subcontacts.surface_velocity ||
           ss_frame_enable(to, "contacts/surface_velocities", err);
}

/* What a row of an alternative has of its own. */
static void place_row(const ss_frame *from, int row, int c, ss_frame *to)
{
    const ss_subcontacts *sub = &from->subcontacts;
    ss_contacts *contacts = &to->contacts;
    memcpy(contacts->point[c], sub->point[row], sizeof contacts->point[c]);
    memcpy(contacts->normal[c], sub->normal[row], sizeof contacts->normal[c]);
    contacts->gap[c] = sub->gap[row];
    if (contacts->surface_velocity)
        for (int i = 0; i < 3; i++)
            contacts->surface_velocity[c][i] = sub->surface_velocity ? sub->surface_velocity[row][i] : 0.0;
    double values[SS_FIELD_WIDTH];
    if (contacts->tangent) {
        ss_field_default(ss_field_find("contacts/t_u"), to, c, values);
        memcpy(contacts->tangent[c], values, sizeof contacts->tangent[c]);
    }
    if (contacts->lever_arm) {
        ss_field_default(ss_field_find("contacts/lever_arms"), to, c, values);
        memcpy(contacts->lever_arm[c], values, sizeof contacts->lever_arm[c]);
    }
}

ss_frame *ss_frame_repeat_contacts(const ss_frame *frame, const int *like, int count, ss_error *err)
{
    ss_frame *plain = ss_frame_create(frame->bodies.count, frame->constraints.count,
                                      frame->constraints.row_count, count, err);
    if (!plain) return NULL;
    plain->constraints.further_count = frame->constraints.further_count;
    plain->generalized.trees = frame->generalized.trees;
    plain->generalized.count = frame->generalized.count;
    plain->generalized.map_count = frame->generalized.map_count;
    plain->generalized.mass_count = frame->generalized.mass_count;
    plain->h = frame->h;
    plain->time = frame->time;
    if (copy_fields(frame, like, plain, err)) return plain;
    ss_frame_destroy(plain);
    return NULL;
}

ss_frame *ss_frame_select(const ss_frame *frame, const int32_t *selection, const uint8_t *promoted,
                          int *origin, ss_error *err)
{
    ss_groups groups;
    if (!ss_groups_make(frame, &groups, err)) return NULL;
    int contacts = frame->contacts.count,
        most = contacts + (groups.group_count ? frame->subcontacts.count : 0);

    for (int g = 0; selection && g < groups.group_count; g++) {
        int count = ss_groups_alternatives(&groups, g);
        if (selection[g] >= 0 && selection[g] < count) continue;
        ss_fail(err, SS_ERROR_INPUT, "selection[%d]: is %d, but the group has %d alternatives", g,
                (int)selection[g], count);
        ss_groups_free(&groups);
        return NULL;
    }

    /* Where each contact comes from, and the contact whose friction and bodies it has. */
    int *all = ss_allocate(2 * (size_t)most, sizeof *all), *like = all ? all + most : NULL;
    ss_frame *plain = NULL;
    bool good = all || ss_fail(err, SS_ERROR_RESOURCES, "frame: out of memory for %d contacts", most);

    if (good) {
        int count = choose(&groups, selection, promoted, all);
        for (int i = 0; i < count; i++) {
            int row = all[i] - contacts;
            like[i] = row < 0 ? all[i] : groups.contact[frame->subcontacts.group[row]];
        }
        plain = ss_frame_repeat_contacts(frame, like, count, err);
        good = plain != NULL;
    }
    for (int i = 0; good && i < plain->contacts.count; i++) {
        if (all[i] >= contacts) place_row(frame, all[i] - contacts, i, plain);
        if (origin) origin[i] = all[i];
    }

    ss_release(all);
    ss_groups_free(&groups);
    return plain;
}

void ss_frame_move_contact(ss_frame *frame, int from, int to)
{
    for (int f = 0; f < ss_field_count && from != to; f++) {
        const ss_field *field = &ss_fields[f];
        char *data = is_of(field, "contacts") ? ss_field_data(field, frame) : NULL;
        size_t size = (size_t)field->width * ss_field_element_size(field);
        if (data) memcpy(data + (size_t)to * size, data + (size_t)from * size, size);
    }
}

/* ---- groups in order -------------------------------------------------------------------------------- */

/* Which group and alternative item i belongs to; items are contacts, then rows. */
static int group_of(const ss_frame *frame, int i)
{
    const ss_subcontacts *sub = &frame->subcontacts;
    int row = i - frame->contacts.count;
    return row < 0 ? sub->contact_group[i] : sub->group[row];
}

static int alternative_of(const ss_frame *frame, int i)
{
    int row = i - frame->contacts.count;
    return row < 0 ? 0 : frame->subcontacts.alternative[row];
}

static const double *point_of(const ss_frame *frame, int i)
{
    int row = i - frame->contacts.count;
    return row < 0 ? frame->contacts.point[i] : frame->subcontacts.point[row];
}

/* How far the group's points are from the centres of its bodies, where the cut says nothing. */
static double size_by_points(const ss_groups *groups, int g)
{
    const ss_frame *frame = groups->frame;
    const int *pair = frame->contacts.pair[groups->contact[g]];
    double size = INFINITY;
    for (int side = 0; side < 2; side++) {
        double radius = 0.0;
        if (!ss_frame_is_live(frame, pair[side])) continue;
        ss_vec3 centre = ss_vec3_load(frame->bodies.position[pair[side]]);
        int begin = groups->first_row[groups->first_alternative[g]];
        int end = groups->first_row[groups->first_alternative[g + 1]];
        for (int r = begin; r < end; r++) {
            ss_vec3 point = ss_vec3_load(point_of(frame, groups->origin[r]));
            radius = fmax(radius, ss_vec3_norm(ss_vec3_subtract(point, centre)));
        }
        size = fmin(size, radius);
    }
    return isfinite(size) ? size : 0.0;
}

/* Only what moves connects. */
static void connect(const ss_frame *frame, const int pair[2], int *parent)
{
    if (!ss_frame_is_live(frame, pair[0]) || !ss_frame_is_live(frame, pair[1])) return;
    ss_partition_join(parent, pair[0], pair[1]);
}

/* Islands are numbered in the order of their first groups. A group of which nothing moves is an island. */
static void find_islands(ss_groups *groups, int *parent, int *number)
{
    const ss_frame *frame = groups->frame;
    ss_partition_start(parent, frame->bodies.count);
    for (int b = 0; b < frame->bodies.count; b++) number[b] = -1;

    for (int c = 0; c < frame->contacts.count; c++) connect(frame, frame->contacts.pair[c], parent);
    const ss_constraints *joints = &frame->constraints;
    for (int j = 0, row = 0, k = 0; j < joints->count; j++) {
        const int *pair = joints->pair[j];
        connect(frame, pair, parent);
        row += joints->rows[j];
        for (; k < joints->further_count && joints->further_row[k] < row; k++) // by rising row
            for (int side = 0; side < 2; side++)
                connect(frame, (int[2]){pair[side], joints->further_body[k]}, parent);
    }

    for (int g = 0; g < groups->group_count; g++) {
        const int *pair = frame->contacts.pair[groups->contact[g]];
        int body = ss_frame_is_live(frame, pair[0]) ? pair[0] : pair[1];
        if (!ss_frame_is_live(frame, body)) {
            groups->island[g] = groups->island_count++;
            continue;
        }
        int root = ss_partition_find(parent, body);
        if (number[root] < 0) number[root] = groups->island_count++;
        groups->island[g] = number[root];
    }

    for (int b = 0; b < frame->bodies.count; b++)
        groups->body_island[b] = number[ss_partition_find(parent, b)];
}

bool ss_groups_make(const ss_frame *frame, ss_groups *groups, ss_error *err)
{
    const ss_subcontacts *sub = &frame->subcontacts;
    *groups = (ss_groups){.frame = frame, .group_count = sub->groups};
    if (sub->groups == 0) return true;
    int contacts = frame->contacts.count, items;
    if (__builtin_add_overflow(contacts, sub->count, &items))
        return ss_fail(err, SS_ERROR_RESOURCES, "%d contacts and %d points of alternatives are too many",
                       contacts, sub->count);

    // how many alternatives each group has
    groups->first_alternative = ss_allocate((size_t)sub->groups + 1, sizeof *groups->first_alternative);
    groups->contact = ss_allocate((size_t)sub->groups, sizeof *groups->contact);
    groups->size = ss_allocate((size_t)sub->groups, sizeof *groups->size);
    groups->origin = ss_allocate((size_t)items, sizeof *groups->origin);
    groups->island = ss_allocate((size_t)sub->groups, sizeof *groups->island);
    groups->body_island = ss_allocate(3 * (size_t)frame->bodies.count + 1, sizeof *groups->body_island);
    bool good = groups->first_alternative && groups->contact && groups->size && groups->origin &&
                groups->island && groups->body_island;
    if (good) {
        int *first = groups->first_alternative;
        for (int i = 0; i < items; i++) {
            int g = group_of(frame, i), count = alternative_of(frame, i) + 1;
            if (g >= 0 && first[g + 1] < count) first[g + 1] = count;
        }
        for (int g = 0; g < sub->groups; g++) first[g + 1] += first[g];
        groups->alternative_count = first[sub->groups];
        groups->first_row = ss_allocate((size_t)groups->alternative_count + 2, sizeof *groups->first_row);
        good = groups->first_row != NULL;
    }
    if (!good) {
        ss_groups_free(groups);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d groups of contacts", sub->groups);
    }

    // counting sort of contacts and rows by alternative; one place further, so that filling moves it back
    for (int i = 0; i < items; i++) {
        int g = group_of(frame, i);
        if (g >= 0) groups->first_row[groups->first_alternative[g] + alternative_of(frame, i) + 2]++;
    }
    for (int k = 0; k < groups->alternative_count; k++) groups->first_row[k + 2] += groups->first_row[k + 1];
    for (int i = 0; i < items; i++) {
        int g = group_of(frame, i);
        if (g < 0) continue;
        int k = groups->first_alternative[g] + alternative_of(frame, i);
        groups->origin[groups->first_row[k + 1]++] = i;
    }
    groups->row_count = groups->first_row[groups->alternative_count];
    for (int c = contacts - 1; c >= 0; c--)
        if (sub->contact_group[c] >= 0) groups->contact[sub->contact_group[c]] = c;
    for (int g = 0; g < sub->groups; g++)
        groups->size[g] = isfinite(sub->cut[g]) && sub->cut[g] > 0.0 ? sub->cut[g] / SS_CUT_SHARE
                                                                     : size_by_points(groups, g);
    int *scratch = groups->body_island + frame->bodies.count;
    find_islands(groups, scratch, scratch + frame->bodies.count);
    return true;
}

void ss_groups_free(ss_groups *groups)
{
    ss_release(groups->first_alternative);
    ss_release(groups->first_row);
    ss_release(groups->origin);
    ss_release(groups->contact);
    ss_release(groups->size);
    ss_release(groups->island);
    ss_release(groups->body_island);
    *groups = (ss_groups){0};
}

/* ---- gaps ------------------------------------------------------------------------------------------- */

bool ss_groups_is_test(const ss_groups *groups, int row)
{
    int i = groups->origin[row] - groups->frame->contacts.count;
    return i >= 0 && groups->frame->subcontacts.role[i] == SS_ROW_TEST;
}

double ss_groups_gap(const ss_groups *groups, int row)
{
    int i = groups->origin[row], contacts = groups->frame->contacts.count;
    return i < contacts ? groups->frame->contacts.gap[i] : groups->frame->subcontacts.gap[i - contacts];
}

static const double *normal_of(const ss_frame *frame, int i)
{
    int row = i - frame->contacts.count;
    return row < 0 ? frame->contacts.normal[i] : frame->subcontacts.normal[row];
}

ss_vec3 ss_groups_normal(const ss_groups *groups, int alternative)
{
    return ss_vec3_load(normal_of(groups->frame, groups->origin[groups->first_row[alternative]]));
}

double ss_groups_gap_after(const ss_groups *groups, int row, double (*velocity)[6])
{
    const ss_frame *frame = groups->frame;
    int i = groups->origin[row], contacts = frame->contacts.count;
    int like = i < contacts ? i : groups->contact[frame->subcontacts.group[i - contacts]];
    const double *surface =
        i < contacts
            ? (frame->contacts.surface_velocity ? frame->contacts.surface_velocity[i] : NULL)
            : (frame->subcontacts.surface_velocity ? frame->subcontacts.surface_velocity[i - contacts]
                                                   : NULL);

    ss_vec3 relative = surface ? ss_vec3_load(surface) : (ss_vec3){0.0, 0.0, 0.0};
    double arm[2][3];
    if (i < contacts) ss_contact_lever_arms(frame, i, arm[0], arm[1]);
    for (int side = 0; side < 2; side++) {
        int body = frame->contacts.pair[like][side];
        if (!ss_frame_is_live(frame, body)) continue;
        ss_vec3 r = i < contacts ? ss_vec3_load(arm[side])
                                 : ss_vec3_subtract(ss_vec3_load(point_of(frame, i)),
                                                    ss_vec3_load(frame->bodies.position[body]));
        ss_vec3 at =
            ss_vec3_add(ss_vec3_load(velocity[body]), ss_vec3_cross(ss_vec3_load(velocity[body] + 3), r));
        relative = ss_vec3_add_scaled(relative, side ? 1.0 : -1.0, at);
    }
    return ss_groups_gap(groups, row) + frame->h * ss_vec3_dot(ss_vec3_load(normal_of(frame, i)), relative);
}

double ss_groups_separation(const ss_groups *groups, int alternative)
{
    double least = INFINITY;
    for (int r = groups->first_row[alternative]; r < groups->first_row[alternative + 1]; r++)
        least = fmin(least, ss_groups_gap(groups, r));
    return least;
}

double ss_groups_separation_after(const ss_groups *groups, int alternative, double (*velocity)[6])
{
    double least = INFINITY;
    for (int r = groups->first_row[alternative]; r < groups->first_row[alternative + 1]; r++)
        least = fmin(least, ss_groups_gap_after(groups, r, velocity));
    return least;
}

double ss_groups_best_after(const ss_groups *groups, int group, double (*velocity)[6], int *alternative)
{
    double best = -INFINITY;
    for (int k = groups->first_alternative[group]; k < groups->first_alternative[group + 1]; k++) {
        double after = ss_groups_separation_after(groups, k, velocity);
        if (!(after > best)) continue;
        best = after;
        if (alternative) *alternative = k - groups->first_alternative[group];
    }
    return best;
}
