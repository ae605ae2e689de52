#include "formulation/cone_layout.h"

#include <math.h>
#include <string.h>

static int *integers(int count)
{
    return ss_allocate((size_t)count, sizeof(int));
}

static bool allocate(const ss_frame *frame, ss_cone_layout *layout, ss_error *err)
{
    int rows = frame->constraints.row_count;
    *layout = (ss_cone_layout){.dimension = 3,
                               .first_bound = -1,
                               .dof = integers(frame->bodies.count),
                               .contact = integers(frame->contacts.count),
                               .equation = integers(rows),
                               .limit = integers(rows),
                               .turned = ss_allocate((size_t)rows, sizeof(double))};
    if (layout->dof && layout->contact && layout->equation && layout->limit && layout->turned) return true;
    ss_cone_layout_free(layout);
    return ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for %d contacts",
                   frame->contacts.count);
}

void ss_cone_layout_free(ss_cone_layout *layout)
{
    ss_release(layout->dof);
    ss_release(layout->contact);
    ss_release(layout->equation);
    ss_release(layout->limit);
    ss_release(layout->turned);
    *layout = (ss_cone_layout){0};
}

bool ss_row_next(const ss_frame *frame, ss_row_walk *walk)
{
    if (walk->end_row == 0) walk->row = walk->joint = -1;
    if (++walk->row >= frame->constraints.row_count) return false;
    while (walk->row >= walk->end_row) walk->end_row += frame->constraints.rows[++walk->joint];
    return true;
}

static bool moves(const ss_frame *frame, const int pair[2])
{
    return ss_frame_is_live(frame, pair[0]) || ss_frame_is_live(frame, pair[1]);
}

static void place_bodies(const ss_frame *frame, ss_cone_layout *layout)
{
    for (int b = 0; b < frame->bodies.count; b++) {
        bool live = ss_frame_is_live(frame, b);
        layout->dof[b] = live ? layout->dofs : -1;
        layout->dofs += live ? 6 : 0;
    }
}

static void place_contacts(const ss_frame *frame, ss_cone_layout *layout)
{
    const ss_contacts *contacts = &frame->contacts;
    for (int c = 0; c < contacts->count; c++) {
        bool moving = moves(frame, contacts->pair[c]);
        layout->contact[c] = moving ? layout->contacts++ : -1;
        layout->idle_contacts += !moving;
        if (contacts->mu_rolling && contacts->mu_rolling[c] != 0.0) layout->dimension = 5;
    }
}

static bool is_coupled(const ss_constraints *constraints, int row)
{
    return constraints->friction && constraints->friction_row && constraints->friction_row[row] >= 0;
}

static void place_row(const ss_frame *frame, ss_cone_layout *layout, int row, int joint)
{
    const ss_constraints *constraints = &frame->constraints;
    double lower = constraints->bounds[row][0], upper = constraints->bounds[row][1];
    bool coupled = is_coupled(constraints, row);
    bool free = lower == -INFINITY && upper == INFINITY && !coupled;
    layout->equation[row] = layout->limit[row] = -1;
    if (!free && layout->first_bound < 0) layout->first_bound = row;
    if (!moves(frame, constraints->pair[joint])) {
        layout->idle_rows++;
    } else if (free) {
        layout->equation[row] = layout->equations++;
    } else if (!coupled && ((lower == 0.0 && upper == INFINITY) || (lower == -INFINITY && upper == 0.0))) {
        layout->limit[row] = layout->contacts++;
        layout->turned[row] = lower == 0.0 ? 1.0 : -1.0;
        layout->limits++;
    } else {
        layout->dropped++;
    }
}

bool ss_cone_layout_make(const ss_frame *frame, ss_cone_layout *layout, ss_error *err)
{
    if (!allocate(frame, layout, err)) return false;
    place_bodies(frame, layout);
    place_contacts(frame, layout);
    ss_row_walk walk = {0};
    while (ss_row_next(frame, &walk)) place_row(frame, layout, walk.row, walk.joint);
    return true;
}

ss_mass ss_cone_body_mass(const ss_frame *frame, int body)
{
    return (ss_mass){frame->bodies.mass[body],
                     ss_mat3_symmetric_part(ss_mat3_load(frame->bodies.inertia[body]))};
}

/* ---- directions ------------------------------------------------------------------------------------- */

/* (d, r x d) times sign */
static void write_direction(ss_vec3 d, ss_vec3 r, double sign, double column[6])
{
    ss_vec3_store(ss_vec3_scale(sign, d), column);
    ss_vec3_store(ss_vec3_scale(sign, ss_vec3_cross(r, d)), column + 3);
}

static void write_rotation(ss_vec3 d, double sign, double column[6])
{
    ss_vec3_store((ss_vec3){0.0, 0.0, 0.0}, column);
    ss_vec3_store(ss_vec3_scale(sign, d), column + 3);
}

static void write_body(const ss_vec3 direction[3], ss_vec3 r, double sign, double columns[5][6])
{
    for (int k = 0; k < 3; k++) write_direction(direction[k], r, sign, columns[k]);
    for (int k = 3; k < 5; k++) write_rotation(direction[k - 2], sign, columns[k]);
}

void ss_contact_columns_of(const ss_frame *frame, int contact, ss_contact_columns *columns)
{
    double t_u[3], t_v[3], r_a[3], r_b[3];
    const int *pair = frame->contacts.pair[contact];
    ss_contact_tangents(frame, contact, t_u, t_v);
    ss_contact_lever_arms(frame, contact, r_a, r_b);
    ss_vec3 direction[3] = {ss_vec3_load(frame->contacts.normal[contact]), ss_vec3_load(t_u),
                            ss_vec3_load(t_v)};
    memset(columns, 0, sizeof *columns);
    if (ss_frame_is_live(frame, pair[0])) write_body(direction, ss_vec3_load(r_a), -1.0, columns->a);
    if (ss_frame_is_live(frame, pair[1])) write_body(direction, ss_vec3_load(r_b), 1.0, columns->b);
    if (!frame->contacts.surface_velocity) return;
    ss_vec3 surface = ss_vec3_load(frame->contacts.surface_velocity[contact]);
    for (int k = 0; k < 3; k++) columns->surface[k] = ss_vec3_dot(direction[k], surface);
}
