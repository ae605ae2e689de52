/* One step of another engine: arrays that grow and stay (dataset/capture.h). */
#include "dataset/capture.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* One array that is to have room for `room` items, of which `used` are kept. */
static bool grow(void *array, size_t item, int used, int room)
{
    void *old, *grown = ss_allocate((size_t)room, item);
    if (!grown) return false;
    memcpy(&old, array, sizeof old);
    if (old) memcpy(grown, old, (size_t)used * item);
    ss_release(old);
    memcpy(array, &grown, sizeof grown);
    return true;
}
#define GROW(array) grow(&(array), sizeof *(array), used, room)

/* The room for used + more items: doubled, so that growing is rare; 0 = too many. */
static int next_room(int have, int used, int more)
{
    if (more > INT_MAX / 4 - used) return 0;
    int room = have < 32 ? 32 : have;
    while (room < used + more) room *= 2;
    return room;
}

static bool have_bodies(ss_capture *c)
{
    int used = c->frame.bodies.count, room = next_room(c->body_room, used, 1);
    if (room == c->body_room) return true;
    ss_bodies *b = &c->frame.bodies;
    c->out_of_memory |=
        !(room && GROW(b->mass) && GROW(b->position) && GROW(b->quaternion) && GROW(b->velocity) &&
          GROW(b->force) && GROW(b->inertia) && GROW(b->id) && GROW(b->state) && GROW(c->answer.velocity));
    if (!c->out_of_memory) c->body_room = room;
    return !c->out_of_memory;
}

static bool have_joints(ss_capture *c)
{
    int used = c->frame.constraints.count, room = next_room(c->joint_room, used, 1);
    if (room == c->joint_room) return true;
    ss_constraints *j = &c->frame.constraints;
    c->out_of_memory |= !(room && GROW(j->pair) && GROW(j->rows) && GROW(j->holonomic) && GROW(j->implied));
    if (!c->out_of_memory) c->joint_room = room;
    return !c->out_of_memory;
}

static bool have_rows(ss_capture *c, int more)
{
    int used = c->frame.constraints.row_count, room = next_room(c->row_room, used, more);
    if (room == c->row_room) return true;
    ss_constraints *j = &c->frame.constraints;
    c->out_of_memory |= !(room && GROW(j->jacobian) && GROW(j->violation) && GROW(j->time_derivative) &&
                          GROW(j->bounds) && GROW(j->regularization) && GROW(j->friction) &&
                          GROW(j->friction_row) && GROW(c->answer.row_impulse));
    if (!c->out_of_memory) c->row_room = room;
    return !c->out_of_memory;
}

static bool have_contacts(ss_capture *c)
{
    int used = c->frame.contacts.count, room = next_room(c->contact_room, used, 1);
    if (room == c->contact_room) return true;
    ss_contacts *k = &c->frame.contacts;
    c->out_of_memory |= !(room && GROW(k->pair) && GROW(k->point) && GROW(k->normal) && GROW(k->gap) &&
                          GROW(k->mu) && GROW(k->tangent) && GROW(k->restitution) && GROW(k->compliance) &&
                          GROW(k->mu_rolling) && GROW(k->mu_torsion) && GROW(k->spin_coupling) &&
                          GROW(k->surface_velocity) && GROW(k->lever_arm) && GROW(c->answer.normal_impulse) &&
                          GROW(c->answer.friction_impulse) && GROW(c->answer.rolling_impulse));
    if (!c->out_of_memory) c->contact_room = room;
    return !c->out_of_memory;
}

/* Contacts get their defaults, which are zeros, all at once and not one by one. */
static void clear_contacts(ss_capture *c)
{
    ss_contacts *k = &c->frame.contacts;
    size_t count = (size_t)c->dirty_contacts;
    c->dirty_contacts = 0;
    if (count == 0) return;
#define CLEAR(array) memset(array, 0, count * sizeof *(array))
    CLEAR(k->gap), CLEAR(k->mu), CLEAR(c->answer.normal_impulse), CLEAR(c->answer.friction_impulse);
    if (c->has_arms) CLEAR(k->lever_arm);
    if (c->has_rolling) CLEAR(c->answer.rolling_impulse);
    if (c->plain.used && c->plain.only) return;
    CLEAR(k->tangent), CLEAR(k->restitution), CLEAR(k->compliance), CLEAR(k->mu_rolling);
    CLEAR(k->surface_velocity), CLEAR(k->mu_torsion), CLEAR(k->spin_coupling);
#undef CLEAR
}

void ss_capture_begin(ss_capture *c, double time, double h)
{
    clear_contacts(c);
    c->plain.used = false;
    c->frame.time = time;
    c->frame.h = h;
    c->frame.bodies.count = c->frame.contacts.count = c->scenery.count = 0;
    c->frame.constraints.count = c->frame.constraints.row_count = 0;
    c->answer.bodies = c->answer.rows = c->answer.contacts = 0;
    c->out_of_memory = c->has_rolling = c->has_arms = c->has_coordinates = false;
    c->iterations = -1;
    // A frame without any item of a kind has its arrays all the same.
    if (have_bodies(c) && have_joints(c) && have_rows(c, 1)) have_contacts(c);
}

void ss_capture_free(ss_capture *c)
{
    ss_bodies *b = &c->frame.bodies;
    ss_constraints *j = &c->frame.constraints;
    ss_contacts *k = &c->frame.contacts;
    ss_generalized *g = &c->frame.generalized;
    void *arrays[] = {b->mass,
                      b->position,
                      b->quaternion,
                      b->velocity,
                      b->force,
                      b->inertia,
                      b->id,
                      b->state,
                      j->pair,
                      j->rows,
                      j->holonomic,
                      j->implied,
                      j->jacobian,
                      j->violation,
                      j->time_derivative,
                      j->bounds,
                      j->regularization,
                      j->friction,
                      j->friction_row,
                      k->pair,
                      k->point,
                      k->normal,
                      k->gap,
                      k->mu,
                      k->tangent,
                      k->restitution,
                      k->compliance,
                      k->mu_rolling,
                      k->mu_torsion,
                      k->spin_coupling,
                      k->surface_velocity,
                      k->lever_arm,
                      c->answer.velocity,
                      c->answer.row_impulse,
                      c->answer.normal_impulse,
                      c->answer.friction_impulse,
                      c->answer.rolling_impulse,
                      g->tree,
                      g->map_start,
                      g->map_column,
                      g->map,
                      g->mass_start,
                      g->mass_column,
                      g->mass,
                      g->velocity,
                      g->force,
                      c->answer.generalized_velocity,
                      c->scenery.position,
                      c->scenery.quaternion};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) ss_release(arrays[i]);
    *c = (ss_capture){0};
}

int ss_capture_body(ss_capture *c, int id)
{
    if (c->out_of_memory || !have_bodies(c)) return -1;
    ss_bodies *bodies = &c->frame.bodies;
    int b = bodies->count++;
    c->answer.bodies = bodies->count;
    bodies->id[b] = id;
    bodies->state[b] = 1;
    memset(bodies->force[b], 0, sizeof bodies->force[b]);
    memset(c->answer.velocity[b], 0, sizeof c->answer.velocity[b]);
    return b;
}

int ss_capture_joint(ss_capture *c, int a, int b, int rows)
{
    if (c->out_of_memory || !have_joints(c) || !have_rows(c, rows)) return -1;
    ss_constraints *joints = &c->frame.constraints;
    int j = joints->count++, first = joints->row_count;
    joints->pair[j][0] = a;
    joints->pair[j][1] = b;
    joints->rows[j] = rows;
    joints->holonomic[j] = 1;
    joints->implied[j] = SS_IMPLIED_NOT;
    joints->row_count = c->answer.rows = first + rows;
    memset(joints->jacobian[first], 0, (size_t)rows * sizeof *joints->jacobian);
    for (int r = first; r < first + rows; r++) {
        joints->violation[r] = joints->time_derivative[r] = 0.0;
        joints->bounds[r][0] = -INFINITY;
        joints->bounds[r][1] = INFINITY;
        joints->regularization[r] = joints->friction[r] = 0.0;
        joints->friction_row[r] = -1;
        c->answer.row_impulse[r] = 0.0;
    }
    return j;
}

bool ss_capture_coordinates(ss_capture *c, int trees, int coordinates, int map_entries, int mass_entries)
{
    ss_generalized *g = &c->frame.generalized;
    const int used = 0; // nothing is kept
    int rows = 6 * c->frame.bodies.count + 1, room;
    bool good = !c->out_of_memory;
    if (good && trees > c->tree_room) {
        room = c->tree_room = trees;
        good = GROW(g->tree);
    }
    if (good && coordinates + 1 > c->coordinate_room) {
        room = c->coordinate_room = coordinates + 1;
        good = GROW(g->mass_start) && GROW(g->velocity) && GROW(g->force) &&
               GROW(c->answer.generalized_velocity);
    }
    if (good && rows > c->map_row_room) {
        room = c->map_row_room = rows;
        good = GROW(g->map_start);
    }
    if (good && map_entries > c->map_room) {
        room = c->map_room = map_entries;
        good = GROW(g->map_column) && GROW(g->map);
    }
    if (good && mass_entries > c->mass_room) {
        room = c->mass_room = mass_entries;
        good = GROW(g->mass_column) && GROW(g->mass);
    }
    g->trees = trees;
    g->count = c->answer.coordinates = coordinates;
    g->map_count = map_entries;
    g->mass_count = mass_entries;
    c->has_coordinates = good;
    c->out_of_memory |= !good;
    return good;
}

int ss_capture_contact(ss_capture *c, int a, int b)
{
    if (c->out_of_memory || !have_contacts(c)) return -1;
    ss_contacts *contacts = &c->frame.contacts;
    int k = contacts->count++;
    c->answer.contacts = c->dirty_contacts = contacts->count;
    contacts->pair[k][0] = a;
    contacts->pair[k][1] = b;
    return k;
}

int ss_capture_scenery(ss_capture *c, const double position[3], const double quaternion[4])
{
    int used = c->scenery.count, room = next_room(c->scenery_room, used, 1);
    if (room != c->scenery_room) {
        c->out_of_memory |= !(room && GROW(c->scenery.position) && GROW(c->scenery.quaternion));
        if (c->out_of_memory) return -1;
        c->scenery_room = room;
    }
    memcpy(c->scenery.position[used], position, sizeof *c->scenery.position);
    memcpy(c->scenery.quaternion[used], quaternion, sizeof *c->scenery.quaternion);
    return c->scenery.count++;
}

void ss_capture_first_tangent(const double n[3], double u[3]) // dPlaneSpace
{
    bool steep = fabs(n[2]) > 0.7071067811865475244;
    double x = steep ? -n[2] : -n[1], y = steep ? n[1] : n[0], k = 1.0 / sqrt(x * x + y * y);
    u[0] = steep ? 0.0 : x * k;
    u[1] = steep ? x * k : y * k;
    u[2] = steep ? y * k : 0.0;
}

double ss_capture_gap_term(double gap, double gamma, double slop, double h)
{
    if (gap > 0.0) return (gap > slop ? gap - slop + gamma * slop : gamma * gap) / h;
    return gap < -slop ? gamma * (gap + slop) / h : 0.0;
}

void ss_capture_complete(ss_capture *c)
{
    const ss_capture_plain *rules = &c->plain;
    if (!rules->used) return;
    ss_contacts *contacts = &c->frame.contacts;
    double h = c->frame.h;
    for (int k = 0; k < contacts->count; k++) {
        double *n = contacts->normal[k], *u = contacts->tangent[k];
        if (u[0] != 0.0 || u[1] != 0.0 || u[2] != 0.0) continue;
        ss_capture_first_tangent(n, u);
        contacts->compliance[k] = rules->cfm / h;
        // What is not the gap term of the rules moves the surface.
        double depth = fmax(-contacts->gap[k] - rules->layer, 0.0);
        double target = fmin(rules->erp / h * depth, rules->max_speed);
        double along = -target - ss_capture_gap_term(contacts->gap[k], rules->gamma, rules->layer, h);
        for (int i = 0; i < 3; i++) contacts->surface_velocity[k][i] = along * n[i];
    }
    c->plain.used = false; // they have their own values from now on
}

/* Is one of them other than zero? By blocks, whose bits are put together: usually all are zero. */
static bool any(const double *values, int count)
{
    enum { BLOCK = 32 };
    for (int from = 0; from < count; from += BLOCK) {
        int size = count - from < BLOCK ? count - from : BLOCK;
        uint64_t bits[BLOCK] = {0}, together = 0;
        memcpy(bits, values + from, (size_t)size * sizeof *values);
        for (int i = 0; i < BLOCK; i++) together |= bits[i];
        if (together << 1) return true; // without the sign
    }
    return false;
}

ss_frame ss_capture_view(const ss_capture *c)
{
    ss_frame view = c->frame;
    ss_constraints *joints = &view.constraints;
    ss_contacts *contacts = &view.contacts;
    int rows = joints->row_count, count = contacts->count;

    if (!c->has_coordinates) {
        view.generalized = (ss_generalized){0};
        joints->implied = NULL;
    }

    /* Optional arrays that say nothing are left out. */
    if (!any(joints->regularization, rows)) joints->regularization = NULL;
    bool coupled = false, speeds = false;
    for (int r = 0; r < rows; r++) coupled |= joints->friction_row[r] >= 0;
    for (int j = 0; j < joints->count; j++) speeds |= !joints->holonomic[j];
    if (!coupled) joints->friction = NULL, joints->friction_row = NULL;
    if (!speeds) joints->holonomic = NULL;

    if (count == 0 || !c->has_arms) contacts->lever_arm = NULL;
    if (c->plain.used && c->plain.only) {
        contacts->tangent = contacts->surface_velocity = NULL;
        contacts->restitution = contacts->compliance = contacts->mu_rolling = contacts->mu_torsion = NULL;
        contacts->spin_coupling = NULL;
        return view;
    }

    if (count == 0 || !any(contacts->tangent[0], 3 * count)) contacts->tangent = NULL;
    if (!any(contacts->restitution, count)) contacts->restitution = NULL;
    if (!any(contacts->compliance, count)) contacts->compliance = NULL;
    if (!any(contacts->mu_rolling, count)) contacts->mu_rolling = NULL;
    if (!any(contacts->mu_torsion, count)) contacts->mu_torsion = NULL, contacts->spin_coupling = NULL;
    if (count == 0 || !any(contacts->surface_velocity[0], 3 * count)) contacts->surface_velocity = NULL;
    return view;
}
