/* The field table, made from fields.def, and how to walk it. */
#include "frame/fields.h"

#include <math.h>
#include <string.h>

/* Size of one number in memory, by type. */
#define SIZE_REAL sizeof(double)
#define SIZE_INT sizeof(int32_t)
#define SIZE_COUNT sizeof(int)
#define SIZE_BYTE sizeof(uint8_t)
#define SIZE_PAIR sizeof(int)

/* The table and the struct must agree on the size of an item. */
#define SS_FIELD(group, name, member, type, per, width, columns, optional, fallback, unit, meaning)      \
    _Static_assert(sizeof(*((ss_frame *)0)->group.member) == (size_t)(width)*SIZE_##type,                \
                   "fields.def: " #group "/" #name " differs from ss_frame." #group "." #member);        \
    _Static_assert((width) <= SS_FIELD_WIDTH, "fields.def: " #group "/" #name " is wider than allowed"); \
    _Static_assert((width) % (columns) == 0, "fields.def: columns of " #group "/" #name);
#include "frame/fields.def"
#undef SS_FIELD

#define SS_FIELD(group, name, member, type, per, width, columns, optional, fallback, unit, meaning) \
    {#group,       #name,    SS_FIELD_##type,                                                       \
     SS_PER_##per, width,    columns,                                                               \
     optional,     fallback, offsetof(ss_frame, group.member),                                      \
     unit,         meaning},
const ss_field ss_fields[] = {
#include "frame/fields.def"
};
#undef SS_FIELD

const int ss_field_count = sizeof ss_fields / sizeof ss_fields[0];

const ss_field *ss_field_find(const char *path)
{
    for (int f = 0; f < ss_field_count; f++) {
        size_t group_length = strlen(ss_fields[f].group);
        if (strncmp(path, ss_fields[f].group, group_length) == 0 && path[group_length] == '/' &&
            strcmp(path + group_length + 1, ss_fields[f].name) == 0)
            return &ss_fields[f];
    }
    return NULL;
}

size_t ss_field_element_size(const ss_field *field)
{
    static const size_t sizes[] = {
        [SS_FIELD_REAL] = SIZE_REAL, [SS_FIELD_INT] = SIZE_INT,   [SS_FIELD_COUNT] = SIZE_COUNT,
        [SS_FIELD_BYTE] = SIZE_BYTE, [SS_FIELD_PAIR] = SIZE_PAIR,
    };
    return sizes[field->type];
}

int ss_field_items(const ss_field *field, const ss_frame *frame)
{
    switch (field->per) {
    case SS_PER_BODY:
        return frame->bodies.count;
    case SS_PER_CONSTRAINT:
        return frame->constraints.count;
    case SS_PER_ROW:
        return frame->constraints.row_count;
    case SS_PER_FURTHER:
        return frame->constraints.further_count;
    case SS_PER_CONTACT:
        return frame->contacts.count;
    case SS_PER_GROUP:
        return frame->subcontacts.groups;
    case SS_PER_SUBCONTACT:
        return frame->subcontacts.count;
    case SS_PER_TREE:
        return frame->generalized.trees;
    case SS_PER_MAP_ROW:
        return frame->generalized.count ? 6 * frame->bodies.count + 1 : 0;
    case SS_PER_MAP_ENTRY:
        return frame->generalized.map_count;
    case SS_PER_MASS_ROW:
        return frame->generalized.count ? frame->generalized.count + 1 : 0;
    case SS_PER_MASS_ENTRY:
        return frame->generalized.mass_count;
    case SS_PER_COORDINATE:
        return frame->generalized.count;
    case SS_PER_COUNT:
        break;
    }
    return 0;
}

bool ss_field_is_of_list(const ss_field *field)
{
    return field->per == SS_PER_GROUP || field->per == SS_PER_SUBCONTACT || field->per == SS_PER_FURTHER ||
           strcmp(field->group, "generalized") == 0;
}

void *ss_field_data(const ss_field *field, const ss_frame *frame)
{
    void *data;
    memcpy(&data, (const char *)frame + field->offset, sizeof data);
    return data;
}

void **ss_field_slot(const ss_field *field, ss_frame *frame)
{
    return (void **)((char *)frame + field->offset);
}

double ss_field_get(const ss_field *field, const void *data, size_t index)
{
    switch (field->type) {
    case SS_FIELD_REAL:
        return ((const double *)data)[index];
    case SS_FIELD_INT:
        return ((const int32_t *)data)[index];
    case SS_FIELD_COUNT:
    case SS_FIELD_PAIR:
        return ((const int *)data)[index];
    case SS_FIELD_BYTE:
        return ((const uint8_t *)data)[index];
    }
    return 0;
}

void ss_field_set(const ss_field *field, void *data, size_t index, double value)
{
    switch (field->type) {
    case SS_FIELD_REAL:
        ((double *)data)[index] = value;
        break;
    case SS_FIELD_INT:
        ((int32_t *)data)[index] = (int32_t)value;
        break;
    case SS_FIELD_COUNT:
    case SS_FIELD_PAIR:
        ((int *)data)[index] = (int)value;
        break;
    case SS_FIELD_BYTE:
        ((uint8_t *)data)[index] = (uint8_t)value;
        break;
    }
}
