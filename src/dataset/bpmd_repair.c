/* From a frame as stored to the conventions of frame.h. Every change is reported as a repair, everything
 * that is doubtful and cannot be changed as a warning. What our own writer marked is left as it is. */
#include "dataset/bpmd.h"

#include "linalg/vec3.h"

#include <string.h>

/* ---- lists of January 2013: all linear parts, then all angular ones ------------------------------- */

static bool interleave(ss_bpmd_stored *stored, double (*values)[6], const char *name, ss_error *err)
{
    int n = stored->frame->bodies.count;
    double(*sorted)[6] = ss_allocate((size_t)n, sizeof *sorted);
    if (!sorted) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", stored->file->name);
    const double *list = values[0];
    for (int b = 0; b < n; b++)
        for (int c = 0; c < 3; c++) {
            sorted[b][c] = list[3 * b + c];
            sorted[b][c + 3] = list[3 * (n + b) + c];
        }
    memcpy(values, sorted, (size_t)n * sizeof *sorted);
    ss_release(sorted);
    ss_bpmd_say(stored, SS_FINDING_REPAIR, "bodies", name,
                "all linear parts preceded all angular ones: regrouped body by body");
    return true;
}

/* ---- friction ------------------------------------------------------------------------------------- */

/* ODE's writers store mu as mu_s and mu2, the friction of the second direction, as mu_k. With three columns,
 * mu_k is mixed up. */
static void repair_ode_friction(ss_bpmd_stored *stored)
{
    ss_contacts *contacts = &stored->frame->contacts;
    bool mixed = stored->friction_columns == 3, differs = false;
    if (!contacts->mu_static) return;
    for (int c = 0; c < contacts->count; c++) {
        double first = contacts->mu_static[c][0], second = mixed ? first : contacts->mu[c][0];
        differs |= first != second;
        contacts->mu[c][0] = first;
        contacts->mu[c][1] = second;
    }
    ss_release(contacts->mu_static);
    contacts->mu_static = NULL;
    if (mixed)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "contacts", "mu_k",
                    "three columns, mixed up by the writer: mu_s used for both directions");
    if (differs) {
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "contacts", "mu_k",
                    "is the friction of the second direction and mu_s that of the first, not kinetic and "
                    "static: read as such");
        ss_bpmd_say(stored, SS_FINDING_WARNING, "contacts", "mu_k",
                    "friction differs in two directions, which are not in the file");
    }
}

/* ---- normals of world contacts -------------------------------------------------------------------- */

/* A body lies on its side of a contact with the world: the normal, from a to b, points to it
 * or away from it. */
static void repair_normals(ss_bpmd_stored *stored, bool may_warn)
{
    const ss_frame *frame = stored->frame;
    bool turn = stored->file->options.flip_world_normals;
    int count = 0;
    for (int c = 0; c < frame->contacts.count; c++) {
        int a = frame->contacts.pair[c][0], b = frame->contacts.pair[c][1];
        if ((a == SS_WORLD) == (b == SS_WORLD)) continue;
        double *normal = frame->contacts.normal[c];
        ss_vec3 p = ss_vec3_load(frame->contacts.point[c]);
        ss_vec3 x = ss_vec3_load(frame->bodies.position[a == SS_WORLD ? b : a]);
        double along = ss_vec3_dot(ss_vec3_load(normal), ss_vec3_subtract(x, p));
        bool wrong = a == SS_WORLD ? along < 0 : along > 0;
        count += wrong;
        for (int i = 0; wrong && turn && i < 3; i++) normal[i] = 0.0 - normal[i];
    }

    if (count > 0 && turn)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "contacts", "normals",
                    "on the wrong side of the body in %d of %d contacts, all with the world: reversed", count,
                    frame->contacts.count);
    else if (count > 0 && may_warn)
        ss_bpmd_say(stored, SS_FINDING_WARNING, "contacts", "normals",
                    "on the wrong side of the body in %d of %d contacts, all with the world "
                    "(flip_world_normals reverses them)",
                    count, frame->contacts.count);
}

/* ---- forces --------------------------------------------------------------------------------------- */

static bool has_no_force(const ss_bodies *bodies, int b)
{
    for (int i = 0; i < 6; i++)
        if (bodies->force[b][i] != 0) return false;
    return true;
}

/* ODE dumps the whole world once for each island, but only the island at hand has gravity in its forces. */
static void repair_forces(ss_bpmd_stored *stored, bool may_warn)
{
    ss_bodies *bodies = &stored->frame->bodies;
    const ss_read_options *options = &stored->file->options;
    int live = 0, idle = 0;
    for (int b = 0; b < bodies->count; b++) {
        live += bodies->state[b] > 0;
        idle += bodies->state[b] > 0 && has_no_force(bodies, b);
    }
    if (idle == 0 || idle == live) return;
    for (int b = 0; options->fill_gravity && b < bodies->count; b++)
        if (bodies->state[b] > 0 && has_no_force(bodies, b))
            for (int i = 0; i < 3; i++) bodies->force[b][i] = bodies->mass[b] * options->gravity[i];
    if (options->fill_gravity)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "bodies", "forces",
                    "%d of %d live bodies had no force at all: their weight was added", idle, live);
    else if (may_warn)
        ss_bpmd_say(
            stored, SS_FINDING_WARNING, "bodies", "forces",
            "%d of %d live bodies have no force at all, not even their weight; this writer stores each "
            "island of bodies separately (fill_gravity adds it)",
            idle, live);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

bool ss_bpmd_repair(ss_bpmd_stored *stored, ss_dialect dialect, ss_error *err)
{
    ss_bodies *bodies = &stored->frame->bodies;
    bool by_ode = dialect == SS_DIALECT_GAZEBO || dialect == SS_DIALECT_ODE_2013;
    bool known_points =
        stored->family != SS_FAMILY_OURS && dialect != SS_DIALECT_RPISIM && dialect != SS_DIALECT_ODE_2013;

    if (dialect == SS_DIALECT_ODE_2013) {
        bool several = bodies->count >= 2;
        if (several && stored->split_velocity && !interleave(stored, bodies->velocity, "velocities", err))
            return false;
        if (several && stored->split_force && !interleave(stored, bodies->force, "forces", err)) return false;
        if (stored->frame->contacts.count > 0)
            ss_bpmd_say(
                stored, SS_FINDING_WARNING, "contacts", "pairs",
                "body numbers of contacts are often wrong in ODE's files of January 2013; read as stored");
    }

    if (by_ode)
        repair_ode_friction(stored);
    else if (stored->friction_columns == 3)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "contacts", "mu_k", "three columns: the third is not used");

    /* Normals and forces come last: they are judged by positions that RPI-sim's repair moves. */
    if (!ss_bpmd_repair_joints(stored, dialect, err)) return false;
    if (dialect == SS_DIALECT_RPISIM && !ss_bpmd_repair_rpisim(stored, err)) return false;
    repair_normals(stored, known_points);
    repair_forces(stored, by_ode);
    return true;
}
