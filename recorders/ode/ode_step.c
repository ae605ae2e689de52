/* One step of ODE 0.16 into a capture (ode_step.h). */
#include "ode_step.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* joint.h of ODE: rows and unbounded rows */
typedef struct info1 {
    uint8_t m, nub;
} info1;
typedef void get_info1(void *joint, info1 *info);
typedef void get_info2(void *joint, double fps, double erp, int row_skip, double *J1, double *J2,
                       int pair_skip, double *rhs_cfm, double *lo_hi, int *findex);
typedef size_t get_size(const void *joint);

/* What C++ made of the names of ODE's joint classes. */
static const char *const class_names[] = {
    [dJointTypeBall] = "11dxJointBall",
    [dJointTypeHinge] = "12dxJointHinge",
    [dJointTypeSlider] = "13dxJointSlider",
    [dJointTypeContact] = "14dxJointContact",
    [dJointTypeUniversal] = "16dxJointUniversal",
    [dJointTypeHinge2] = "13dxJointHinge2",
    [dJointTypeFixed] = "12dxJointFixed",
    [dJointTypeNull] = "11dxJointNull",
    [dJointTypeAMotor] = "13dxJointAMotor",
    [dJointTypeLMotor] = "13dxJointLMotor",
    [dJointTypePlane2D] = "14dxJointPlane2D",
    [dJointTypePR] = "9dxJointPR",
    [dJointTypePU] = "9dxJointPU",
    [dJointTypePiston] = "13dxJointPiston",
    [dJointTypeDBall] = "12dxJointDBall",
    [dJointTypeDHinge] = "13dxJointDHinge",
    [dJointTypeTransmission] = "19dxJointTransmission",
};
enum { CLASSES = sizeof class_names / sizeof *class_names, MOST_ROWS = 6, ROW_SKIP = 8, LARGEST = 2048 };
enum { AHEAD = 3, LINES = 6 }; // joints; cache lines of a contact joint
/* Where the velocity after a step could be other than the forces make it, every step is looked at; else one
 * in this many, to notice what a program changes during a step. */
enum { EXPLAINED = 8 };

typedef struct joint_class {
    get_info1 *info1;
    get_info2 *info2;
    get_size *size;
} joint_class;

/* The rows of one joint, as ODE states them. */
typedef struct joint_rows {
    int count;
    double J1[MOST_ROWS][ROW_SKIP], J2[MOST_ROWS][ROW_SKIP]; /* linear, angular of node 0 and node 1 */
    double rhs_cfm[MOST_ROWS][2], lo_hi[MOST_ROWS][2];
    int findex[MOST_ROWS];
} joint_rows;

/* A joint of the step and where it went in the frame. */
typedef struct entry {
    dJointID joint;
    dBodyID body[2];       /* nodes 0 and 1; node 1 may be NULL */
    int number[2];         /* bodies of the frame, or SS_WORLD */
    int contact;           /* of the frame, -1 = none */
    int first_row, rows;   /* of the frame; none: 0 rows */
    bool friction_rows;    /* the rows are the friction of the contact */
    dJointFeedback *asked; /* where the program has asked ODE to put the forces; NULL: step->force */
} entry;

typedef struct body_state {
    dBodyID body;
    double force[6]; /* accumulated by the program */
    bool slowed;     /* ODE may change its velocity after solving: damping, a limit of the angular speed */
    double gyroscopic[3]; /* torque, part of the frame's force */
    double joint_force[6];
} body_state;

struct ss_ode_step {
    joint_class classes[CLASSES];
    /* bytes: where a world keeps its first body and joint, these the next one, a contact joint its contact */
    size_t first_body, first_joint, next_body, next_joint, contact, world_of_body;
    size_t node[2];      /* where a joint keeps its bodies */
    void *contact_class; /* what a contact joint begins with */
    dWorldID aside;      /* a world of ours that has made a step */
    dWorldID world;      /* the first one that was stepped */
    dGeomID ground;      /* the geometry of the world that was described last */
    bool other_world, unexplained, as_rows;
    double time;
    double written[2];             /* ERP and surface layer in the text of the rules */
    ss_numbers ids, pieces, geoms; /* live bodies, kinematic bodies, geometries that were described */
    ss_numbers here;               /* bodies of this step: number + 1 of the frame */
    dBodyID *bodies;
    body_state *state;
    entry *entries;
    dJointFeedback *force; /* of each entry, where ODE puts the forces, unless the program asked for them */
    dJointID *list;
    int body_room, state_count, entry_room, entry_count, list_room;
    bool looking;
    bool explaining; /* joint forces are added up, to see whether they explain the new velocities */
};

/* ---- which ODE is this ------------------------------------------------------------------------------ */

void ss_ode_library_name(char *name, size_t size)
{
    Dl_info info = {0};
    void *step = dlsym(RTLD_NEXT, "dWorldStep");
    if (!step) step = dlsym(RTLD_DEFAULT, "dWorldStep");
    char path[PATH_MAX];
    bool known = step && dladdr(step, &info) && info.dli_fname && realpath(info.dli_fname, path);
    const char *slash = known ? strrchr(path, '/') : NULL;
    snprintf(name, size, "%s", slash ? slash + 1 : "an unknown library");
}

static void *method(void *library, const char *prefix, const char *class_name, const char *rest)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s%s", prefix, class_name, rest);
    return dlsym(library, name);
}

static bool find_classes(ss_ode_step *step, void *library)
{
    for (int type = 0; type < CLASSES; type++) {
        if (!class_names[type]) continue;
        joint_class *c = &step->classes[type];
        void *one = method(library, "_ZN", class_names[type], "8getInfo1EPN7dxJoint5Info1E"),
             *two = method(library, "_ZN", class_names[type], "8getInfo2EddiPdS0_iS0_S0_Pi"),
             *size = method(library, "_ZNK", class_names[type], "4sizeEv");
        if (!one || !two || !size) return false;
        memcpy(&c->info1, &one, sizeof one);
        memcpy(&c->info2, &two, sizeof two);
        memcpy(&c->size, &size, sizeof size);
    }
    return true;
}

/* Where in the object a pointer has this value; `size` if nowhere. */
static size_t find_pointer(const void *object, const void *value, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof value) {
        const void *found;
        memcpy(&found, (const char *)object + at, sizeof found);
        if (found == value) return at;
    }
    return size;
}

static void *pointer_at(const void *object, size_t offset)
{
    void *found;
    memcpy(&found, (const char *)object + offset, sizeof found);
    return found;
}

static size_t find_contact(const void *joint, const dContact *contact, size_t size)
{
    for (size_t at = 0; at + sizeof *contact <= size; at += sizeof(double)) {
        dContact found;
        memcpy(&found, (const char *)joint + at, sizeof found);
        if (found.surface.mode == contact->surface.mode && found.surface.mu == contact->surface.mu &&
            found.geom.depth == contact->geom.depth && found.geom.pos[2] == contact->geom.pos[2] &&
            found.geom.normal[0] == contact->geom.normal[0])
            return at;
    }
    return size;
}

/* Asks a joint for its rows. What the question changes in the joint is put back; forces on bodies, which a
 * motor at its stop adds, are the caller's. Such a motor takes a lock of its body's world, which only exists
 * once the world has made a step: for the time of the question the body belongs to a world that has. */
static bool ask(const ss_ode_step *step, dJointID joint, double h, double erp, double cfm, joint_rows *rows)
{
    dJointType type = dJointGetType(joint);
    if ((int)type < 0 || (int)type >= CLASSES || !step->classes[type].info1) return false;
    const joint_class *c = &step->classes[type];
    char before[LARGEST];
    size_t size = type == dJointTypeContact ? 0 : c->size(joint); // a contact keeps no memory of the question
    if (size > sizeof before) return false;
    memcpy(before, joint, size);
    dBodyID one = dJointGetBody(joint, 0), holder = one ? one : dJointGetBody(joint, 1);
    void *home = NULL;
    bool lent = holder && type != dJointTypeContact && step->aside;
    if (lent) {
        home = pointer_at(holder, step->world_of_body);
        memcpy((char *)holder + step->world_of_body, &step->aside, sizeof step->aside);
    }

    info1 info = {0};
    c->info1(joint, &info);
    rows->count = info.m <= MOST_ROWS ? info.m : 0;
    if (rows->count > 0) {
        memset(rows->J1, 0, (size_t)rows->count * sizeof *rows->J1);
        memset(rows->J2, 0, (size_t)rows->count * sizeof *rows->J2);
        for (int r = 0; r < rows->count; r++) {
            rows->rhs_cfm[r][0] = 0.0;
            rows->rhs_cfm[r][1] = cfm;
            rows->lo_hi[r][0] = -INFINITY;
            rows->lo_hi[r][1] = INFINITY;
            rows->findex[r] = -1;
        }
        c->info2(joint, 1.0 / h, erp, ROW_SKIP, rows->J1[0], rows->J2[0], 2, rows->rhs_cfm[0], rows->lo_hi[0],
                 rows->findex);
    }
    if (lent) memcpy((char *)holder + step->world_of_body, &home, sizeof home);
    memcpy(joint, before, size);
    return true;
}

/* On a world with two bodies, a ball joint and a contact, all known. */
static bool probe(ss_ode_step *step)
{
    enum { WORLD_BYTES = 256, NEXT_BYTES = 64, NODE_BYTES = 256 };
    dWorldID world = dWorldCreate();
    dBodyID older = dBodyCreate(world), newer = dBodyCreate(world);
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = 0.3125;
    contact.geom.depth = 0.015625;
    contact.geom.pos[2] = 0.78125;
    contact.geom.normal[0] = 1.0;
    dJointID ball = dJointCreateBall(world, NULL), touch = dJointCreateContact(world, NULL, &contact);
    dJointAttach(ball, newer, older);
    dJointAttach(touch, newer, older);
    step->first_body = find_pointer(world, newer, WORLD_BYTES);
    step->first_joint = find_pointer(world, touch, WORLD_BYTES);
    step->next_body = find_pointer(newer, older, NEXT_BYTES);
    step->next_joint = find_pointer(touch, ball, NEXT_BYTES);
    step->world_of_body = find_pointer(newer, world, NEXT_BYTES);
    for (int k = 0; k < 2; k++) step->node[k] = find_pointer(touch, k ? older : newer, NODE_BYTES);
    step->contact_class = pointer_at(touch, 0);
    step->contact = find_contact(touch, &contact, step->classes[dJointTypeContact].size(touch));
    bool good = step->first_body < WORLD_BYTES && step->first_joint < WORLD_BYTES &&
                step->next_body < NEXT_BYTES && step->next_joint < NEXT_BYTES &&
                step->world_of_body < NEXT_BYTES && step->node[0] < NODE_BYTES &&
                step->node[1] < NODE_BYTES && pointer_at(ball, 0) != step->contact_class &&
                step->contact + sizeof contact <= step->classes[dJointTypeContact].size(touch) &&
                !pointer_at(older, step->next_body) && !pointer_at(ball, step->next_joint);

    // The normal row of a contact that pushes the newer body along x: J v = 0.2 depth / h.
    joint_rows rows;
    good = good && ask(step, touch, 0.5, 0.2, 1e-3, &rows) && rows.count == 3 && rows.J1[0][0] == 1.0 &&
           rows.J2[0][0] == -1.0 && rows.J1[0][4] == 0.78125 && rows.rhs_cfm[0][1] == 1e-3 &&
           fabs(rows.rhs_cfm[0][0] - 0.2 * 0.015625 / 0.5) < 1e-15 && rows.lo_hi[1][1] == 0.3125 &&
           rows.findex[1] == 0;
    dWorldDestroy(world); // joints and bodies, too: none is in a group

    // The world aside: one free body, one step of ODE's own.
    void *found = good ? dlsym(RTLD_NEXT, "dWorldStep") : NULL;
    int (*real_step)(dWorldID, dReal);
    memcpy(&real_step, &found, sizeof found);
    if (!found) return false;
    step->aside = dWorldCreate();
    dBodyCreate(step->aside);
    real_step(step->aside, 0.01);
    return true;
}

ss_ode_step *ss_ode_step_create(void *library, ss_error *err)
{
    char name[256];
    ss_ode_library_name(name, sizeof name);
    ss_ode_step *step = ss_allocate(1, sizeof *step);
    if (!step) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        return NULL;
    }
    if (!dCheckConfiguration("ODE_double_precision") || !find_classes(step, library) || !probe(step)) {
        ss_fail(err, SS_ERROR_INPUT,
                "%s is not an ODE that this recorder knows: it needs version 0.16 in double precision, as a "
                "shared library with all its symbols",
                name);
        ss_release(step);
        return NULL;
    }
    return step;
}

void ss_ode_step_destroy(ss_ode_step *step)
{
    if (!step) return;
    if (step->aside) dWorldDestroy(step->aside);
    ss_numbers_free(&step->ids);
    ss_numbers_free(&step->pieces);
    ss_numbers_free(&step->geoms);
    ss_numbers_free(&step->here);
    ss_release(step->bodies);
    ss_release(step->state);
    ss_release(step->entries);
    ss_release(step->force);
    ss_release(step->list);
    ss_release(step);
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

/* False: a kind that is not drawn. */
static bool shape_of(dGeomID geom, ss_shape *shape, ss_mesh *mesh)
{
    double *size = shape->size;
    dVector3 sides;
    switch (dGeomGetClass(geom)) {
    case dSphereClass:
        shape->kind = SS_SPHERE;
        size[0] = dGeomSphereGetRadius(geom);
        return true;
    case dBoxClass:
        shape->kind = SS_BOX;
        dGeomBoxGetLengths(geom, sides);
        memcpy(size, sides, 3 * sizeof *size);
        return true;
    case dCapsuleClass:
        shape->kind = SS_CAPSULE;
        dGeomCapsuleGetParams(geom, &size[0], &size[1]);
        return true;
    case dCylinderClass:
        shape->kind = SS_CYLINDER;
        dGeomCylinderGetParams(geom, &size[0], &size[1]);
        return true;
    case dTriMeshClass: {
        int faces = dGeomTriMeshGetTriangleCount(geom);
        mesh->vertex = ss_allocate((size_t)faces, sizeof(double[3][3]));
        mesh->face = ss_allocate((size_t)faces, sizeof *mesh->face);
        if (faces < 1 || !mesh->vertex || !mesh->face) return false;
        // Corner by corner, and back from the world's frame to that of the geometry.
        const double *p = dGeomGetPosition(geom), *R = dGeomGetRotation(geom);
        for (int f = 0; f < faces; f++) {
            dVector3 corner[3];
            dGeomTriMeshGetTriangle(geom, f, &corner[0], &corner[1], &corner[2]);
            for (int k = 0; k < 3; k++) {
                double d[3] = {corner[k][0] - p[0], corner[k][1] - p[1], corner[k][2] - p[2]};
                for (int i = 0; i < 3; i++)
                    mesh->vertex[3 * f + k][i] = R[i] * d[0] + R[4 + i] * d[1] + R[8 + i] * d[2];
                mesh->face[f][k] = 3 * f + k;
            }
        }
        mesh->vertex_count = 3 * faces;
        mesh->face_count = faces;
        shape->kind = SS_MESH;
        shape->mesh = mesh;
        return true;
    }
    default:
        return false;
    }
}

/* A plane a x + b y + c z = d as the half-space below its own z axis. */
static void plane_of(dGeomID geom, ss_shape *shape)
{
    dVector4 p;
    dGeomPlaneGetParams(geom, p);
    shape->kind = SS_PLANE;
    for (int i = 0; i < 3; i++) shape->position[i] = p[3] * p[i];
    double w = sqrt(fmax(0.0, 0.5 * (1.0 + p[2])));
    if (w > 1e-9) { // the shortest turn from z to the normal
        const double q[4] = {w, -p[1] / (2 * w), p[0] / (2 * w), 0.0};
        memcpy(shape->quaternion, q, sizeof q);
    } else {
        shape->quaternion[1] = 1.0;
    }
}

static bool describe(ss_ode_step *step, ss_sink *sink, dGeomID geom, int id, int piece)
{
    bool fresh;
    if (!geom || dGeomIsSpace(geom)) return true;
    if (!ss_number_of(&step->geoms, geom, &fresh)) return false;
    if (!fresh) return true;
    ss_stored_shape stored = {.id = id, .scenery = piece};
    ss_shape *shape = &stored.shape;
    ss_mesh mesh = {0};
    bool drawn = true;
    if (dGeomGetClass(geom) == dPlaneClass) {
        plane_of(geom, shape);
    } else {
        drawn = shape_of(geom, shape, &mesh);
        bool moves = dGeomGetBody(geom) != NULL;
        memcpy(shape->position, moves ? dGeomGetOffsetPosition(geom) : dGeomGetPosition(geom),
               sizeof shape->position);
        dQuaternion q;
        if (moves)
            dGeomGetOffsetQuaternion(geom, q);
        else
            dGeomGetQuaternion(geom, q);
        memcpy(shape->quaternion, q, sizeof shape->quaternion);
    }
    bool good = !drawn || sink->shape(sink, &stored);
    ss_release(mesh.vertex);
    ss_release(mesh.face);
    return good;
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* The torque by which ODE keeps spinning bodies stable: (I y - L) / h with I y - h L x y = L, L = I w
 * (Lacoursiere 2006, as in ODE's step.cpp). */
static void set_gyroscopic_torque(const double I[9], const double w[3], double h, double torque[3])
{
    double L[3], y[3], A[9];
    for (int i = 0; i < 3; i++) L[i] = I[3 * i] * w[0] + I[3 * i + 1] * w[1] + I[3 * i + 2] * w[2];
    memcpy(A, I, sizeof A);
    A[1] += h * L[2], A[2] -= h * L[1];
    A[3] -= h * L[2], A[5] += h * L[0];
    A[6] += h * L[1], A[7] -= h * L[0];
    // Cramer's rule: A is a positive definite matrix and a skew one, so that no pivots are needed.
    const double C[9] = {A[4] * A[8] - A[5] * A[7], A[2] * A[7] - A[1] * A[8], A[1] * A[5] - A[2] * A[4],
                         A[5] * A[6] - A[3] * A[8], A[0] * A[8] - A[2] * A[6], A[2] * A[3] - A[0] * A[5],
                         A[3] * A[7] - A[4] * A[6], A[1] * A[6] - A[0] * A[7], A[0] * A[4] - A[1] * A[3]};
    double det = A[0] * C[0] + A[1] * C[3] + A[2] * C[6];
    if (det == 0.0) return;
    for (int i = 0; i < 3; i++) y[i] = (C[3 * i] * L[0] + C[3 * i + 1] * L[1] + C[3 * i + 2] * L[2]) / det;
    for (int i = 0; i < 3; i++)
        torque[i] = (I[3 * i] * y[0] + I[3 * i + 1] * y[1] + I[3 * i + 2] * y[2] - L[i]) / h;
}

static bool add_body(ss_ode_step *step, ss_sink *sink, dBodyID body, const double gravity[3], double h)
{
    ss_capture *c = &sink->capture;
    const double *position = dBodyGetPosition(body), *quaternion = dBodyGetQuaternion(body);
    if (dBodyIsKinematic(body)) {
        int piece = ss_number_of(&step->pieces, body, NULL);
        // Pieces keep their numbers; one that is gone leaves its place to those later in the list.
        while (c->scenery.count < piece)
            if (ss_capture_scenery(c, position, quaternion) < 0) return false;
        memcpy(c->scenery.position[piece - 1], position, sizeof *c->scenery.position);
        memcpy(c->scenery.quaternion[piece - 1], quaternion, sizeof *c->scenery.quaternion);
        for (dGeomID g = dBodyGetFirstGeom(body); g; g = dBodyGetNextGeom(g))
            if (!describe(step, sink, g, 0, piece - 1)) return false;
        return true;
    }

    int id = ss_number_of(&step->ids, body, NULL), b = ss_capture_body(c, id);
    if (id == 0 || b < 0) return false;
    if (ss_number_of(&step->here, body, NULL) != b + 1) return false;
    ss_bodies *to = &c->frame.bodies;
    dMass mass;
    dBodyGetMass(body, &mass);
    const double *R = dBodyGetRotation(body), *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    const double *force = dBodyGetForce(body), *torque = dBodyGetTorque(body);
    double turn[9], tensor[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            turn[3 * i + j] = R[4 * i + j];
            tensor[3 * i + j] = mass.I[4 * i + j];
        }
        to->position[b][i] = position[i];
        to->velocity[b][i] = v[i];
        to->velocity[b][3 + i] = w[i];
    }
    to->mass[b] = mass.mass;
    memcpy(to->quaternion[b], quaternion, sizeof to->quaternion[b]);
    ss_rotate_tensor(turn, tensor, to->inertia[b]);

    body_state *state = &step->state[b];
    *state = (body_state){.body = body};
    for (int i = 0; i < 3; i++) {
        state->force[i] = force[i];
        state->force[3 + i] = torque[i];
    }
    state->slowed = dBodyGetLinearDamping(body) != 0.0 || dBodyGetAngularDamping(body) != 0.0 ||
                    dBodyGetMaxAngularSpeed(body) < dInfinity;
    step->explaining |= state->slowed || dBodyGetAutoDisableFlag(body);
    step->state_count = b + 1;
    if (dBodyGetGravityMode(body))
        for (int i = 0; i < 3; i++) to->force[b][i] += mass.mass * gravity[i];
    if (dBodyGetGyroscopicMode(body))
        set_gyroscopic_torque(to->inertia[b], to->velocity[b] + 3, h, state->gyroscopic);
    memcpy(to->force[b] + 3, state->gyroscopic, sizeof state->gyroscopic);
    for (dGeomID g = dBodyGetFirstGeom(body); g; g = dBodyGetNextGeom(g))
        if (!describe(step, sink, g, id, -1)) return false;
    return true;
}

static bool add_bodies(ss_ode_step *step, ss_sink *sink, dWorldID world, const double gravity[3], double h)
{
    int count = 0;
    for (void *b = pointer_at(world, step->first_body); b; b = pointer_at(b, step->next_body)) count++;
    if (count > step->body_room) {
        ss_release(step->bodies);
        ss_release(step->state);
        step->bodies = ss_allocate((size_t)count, sizeof *step->bodies);
        step->state = ss_allocate((size_t)count, sizeof *step->state);
        step->body_room = step->bodies && step->state ? count : 0;
        if (!step->body_room) return false;
    }
    int at = count; // the list begins with the newest one
    for (void *b = pointer_at(world, step->first_body); b; b = pointer_at(b, step->next_body))
        step->bodies[--at] = b;
    ss_numbers_clear(&step->here);
    step->state_count = 0;
    step->explaining = sink->steps % EXPLAINED == 1;
    bool good = true;
    for (int i = 0; good && i < count; i++) good = add_body(step, sink, step->bodies[i], gravity, h);
    return good;
}

/* ---- joints and contacts ---------------------------------------------------------------------------- */

/* Speed of a kinematic body along its half of a row: ODE knows it, in a frame it is part of the row. */
static double prescribed(dBodyID body, const double *half)
{
    if (!body || !dBodyIsKinematic(body)) return 0.0;
    const double *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    return half[0] * v[0] + half[1] * v[1] + half[2] * v[2] + half[3] * w[0] + half[4] * w[1] +
           half[5] * w[2];
}

/* Rows `from` to `to` of the joint as a joint of the frame between nodes 0 and 1. */
static bool add_rows(ss_capture *c, entry *e, const joint_rows *rows, int from, int to, double h, double erp)
{
    if (ss_capture_joint(c, e->number[0], e->number[1], to - from) < 0) return false;
    ss_constraints *joints = &c->frame.constraints;
    e->rows = to - from;
    e->first_row = joints->row_count - e->rows;
    for (int k = from; k < to; k++) {
        int r = e->first_row + k - from;
        double speed = 0.0, rhs = rows->rhs_cfm[k][0], lo = rows->lo_hi[k][0], hi = rows->lo_hi[k][1];
        if (e->number[0] >= 0)
            memcpy(joints->jacobian[r], rows->J1[k], 6 * sizeof(double));
        else
            speed += prescribed(e->body[0], rows->J1[k]);
        if (e->number[1] >= 0)
            memcpy(joints->jacobian[r] + 6, rows->J2[k], 6 * sizeof(double));
        else
            speed += prescribed(e->body[1], rows->J2[k]);
        joints->regularization[r] = rows->rhs_cfm[k][1] / h;
        if (rows->findex[k] >= 0) {
            joints->friction[r] = hi;
            joints->friction_row[r] = e->first_row + rows->findex[k] - from;
            joints->time_derivative[r] = speed - rhs;
            continue;
        }
        joints->bounds[r][0] = lo;
        joints->bounds[r][1] = hi;
        // An equation or a stop corrects an error; a motor or a friction has a speed.
        bool driven = isfinite(lo) && isfinite(hi);
        if (driven || erp <= 0.0) {
            joints->time_derivative[r] = speed - rhs;
        } else {
            joints->violation[r] = -rhs * h / erp;
            joints->time_derivative[r] = speed;
        }
    }
    return true;
}

/* Without the rules of fmax and fmin for NaN, which make them calls. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* What the world says of all contacts. */
typedef struct contact_rules {
    double h, erp, cfm, layer, max_speed;
    double gamma; /* the ERP as the frame's rules have it, 0 to 1 */
} contact_rules;

/* Velocity of a body's material at a point. */
static void speed_at(dBodyID body, const double p[3], double speed[3])
{
    const double *x = dBodyGetPosition(body), *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    const double r[3] = {p[0] - x[0], p[1] - x[1], p[2] - x[2]};
    cross(w, r, speed);
    for (int i = 0; i < 3; i++) speed[i] += v[i];
}

/* The right-hand side of the normal row, as dxJointContact::getInfo2 has it. Contacts are most of a step, so
 * that the usual ones are not asked for their rows. */
static double normal_target(const contact_rules *rules, const entry *e, const dContact *contact,
                            const double n[3])
{
    const dSurfaceParameters *surface = &contact->surface;
    double erp = surface->mode & dContactSoftERP ? surface->soft_erp : rules->erp;
    double depth = larger(contact->geom.depth - rules->layer, 0.0);
    double motion = surface->mode & dContactMotionN ? surface->motionN : 0.0;
    double target = smaller(erp / rules->h * depth + motion, rules->max_speed);
    if (!(surface->mode & dContactBounce) || surface->bounce_vel < 0.0) return target;
    double speed[2][3] = {{0}};
    for (int k = 0; k < 2; k++)
        if (e->body[k]) speed_at(e->body[k], contact->geom.pos, speed[k]);
    double incoming = motion;
    for (int i = 0; i < 3; i++) incoming -= n[i] * (speed[0][i] - speed[1][i]);
    return incoming > surface->bounce_vel ? larger(target, surface->bounce * incoming + motion) : target;
}

static bool note_joints(ss_ode_step *step, ss_sink *sink)
{
    if (step->as_rows) return true;
    step->as_rows = true;
    return sink->note(sink,
                      "contacts with rolling friction, with an fdir1 that is not a unit tangent, or with "
                      "two kinds of friction bounds are recorded as joints");
}

/* Most contacts have nothing but friction by coefficient: the rest is computed when the frame is written. */
static bool is_plain(const entry *e, const dSurfaceParameters *surface)
{
    for (int side = 0; side < 2; side++)
        if (e->body[side] && e->number[side] < 0) return false; // kinematic
    return surface->mode == dContactApprox1 ||
           (surface->mode == 0 && (surface->mu == dInfinity || surface->mu == 0.0));
}

static bool add_contact(ss_ode_step *step, ss_sink *sink, entry *e, const contact_rules *rules, bool reversed)
{
    ss_capture *c = &sink->capture;
    const dContact *contact = (const void *)((const char *)e->joint + step->contact);
    const dSurfaceParameters *surface = &contact->surface;
    const dGeomID geoms[2] = {contact->geom.g1, contact->geom.g2};
    for (int i = 0; i < 2; i++) {
        if (!geoms[i] || geoms[i] == step->ground || dGeomGetBody(geoms[i])) continue;
        step->ground = geoms[i]; // the next contact is often with the same one
        if (!describe(step, sink, geoms[i], 0, -1)) return false;
    }
    if (is_plain(e, surface)) {
        int k = e->contact = ss_capture_contact(c, e->number[1], e->number[0]);
        if (k < 0) return false;
        ss_contacts *contacts = &c->frame.contacts;
        for (int i = 0; i < 3; i++) {
            contacts->normal[k][i] = reversed ? -contact->geom.normal[i] : contact->geom.normal[i];
            contacts->point[k][i] = contact->geom.pos[i];
        }
        contacts->gap[k] = -contact->geom.depth;
        contacts->mu[k][0] = contacts->mu[k][1] = larger(surface->mu, 0.0);
        return true;
    }
    c->plain.only = false;

    // ODE's normal pushes node 0 away from node 1: from a = node 1 to b = node 0.
    double n[3], u[3], v[3], mu[2] = {larger(surface->mu, 0.0), larger(surface->mu, 0.0)};
    for (int i = 0; i < 3; i++) n[i] = reversed ? -contact->geom.normal[i] : contact->geom.normal[i];
    if (surface->mode & dContactMu2) mu[1] = larger(surface->mu2, 0.0);
    bool rubs = mu[0] > 0.0 || mu[1] > 0.0, odd = false;
    if (rubs && (surface->mode & dContactFDir1)) {
        memcpy(u, contact->fdir1, sizeof u);
        odd = fabs(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - 1.0) > 1e-7 ||
              fabs(u[0] * n[0] + u[1] * n[1] + u[2] * n[2]) > 1e-7;
    } else {
        ss_capture_first_tangent(n, u);
    }
    cross(n, u, v);
    bool constant[2];
    for (int k = 0; k < 2; k++)
        constant[k] =
            mu[k] > 0.0 && isfinite(mu[k]) && !(surface->mode & (k ? dContactApprox1_2 : dContactApprox1_1));
    bool mixed = rubs && mu[0] > 0.0 && mu[1] > 0.0 && constant[0] != constant[1];
    bool as_rows = odd || mixed || (surface->mode & dContactRolling);
    joint_rows rows;
    rows.count = 0;
    if ((as_rows || constant[0] || constant[1]) &&
        !ask(step, e->joint, rules->h, rules->erp, rules->cfm, &rows))
        return false;
    if (as_rows)
        return note_joints(step, sink) && add_rows(c, e, &rows, 0, rows.count, rules->h, rules->gamma);

    int k = e->contact = ss_capture_contact(c, e->number[1], e->number[0]);
    if (k < 0) return false;
    ss_contacts *contacts = &c->frame.contacts;
    memcpy(contacts->normal[k], n, sizeof n);
    memcpy(contacts->tangent[k], u, sizeof u);
    memcpy(contacts->point[k], contact->geom.pos, sizeof contacts->point[k]);
    contacts->gap[k] = -contact->geom.depth;
    contacts->compliance[k] = (surface->mode & dContactSoftCFM ? surface->soft_cfm : rules->cfm) / rules->h;

    // What is not the gap term of the rules moves the surface.
    double along[3] = {-normal_target(rules, e, contact, n) -
                           ss_capture_gap_term(contacts->gap[k], rules->gamma, rules->layer, rules->h),
                       0.0, 0.0};
    if (constant[0] || constant[1]) {
        e->friction_rows = true;
        if (!add_rows(c, e, &rows, 1, rows.count, rules->h, rules->gamma)) return false;
    } else {
        memcpy(contacts->mu[k], mu, sizeof mu);
        if (mu[0] > 0.0 && (surface->mode & dContactMotion1)) along[1] = -surface->motion1;
        if (mu[1] > 0.0 && (surface->mode & dContactMotion2)) along[2] = -surface->motion2;
    }
    double *moving = contacts->surface_velocity[k];
    for (int i = 0; i < 3; i++) moving[i] = along[0] * n[i] + along[1] * u[i] + along[2] * v[i];
    for (int side = 0; side < 2; side++) {
        if (!e->body[side] || e->number[side] >= 0) continue; // kinematic
        double speed[3];
        speed_at(e->body[side], contacts->point[k], speed);
        double normal = speed[0] * n[0] + speed[1] * n[1] + speed[2] * n[2];
        for (int i = 0; i < 3; i++)
            moving[i] += (side ? -1.0 : 1.0) * (e->friction_rows ? normal * n[i] : speed[i]);
    }
    return true;
}

static bool has_room(ss_ode_step *step, int count)
{
    if (count <= step->entry_room) return true;
    ss_release(step->entries);
    ss_release(step->force);
    step->entries = ss_allocate(2 * (size_t)count, sizeof *step->entries);
    step->force = ss_allocate(2 * (size_t)count, sizeof *step->force);
    step->entry_room = step->entries && step->force ? 2 * count : 0;
    return step->entry_room > 0;
}

/* The joints of the world, oldest first, in step->entries[].joint. */
static int list_joints(ss_ode_step *step, dWorldID world)
{
    int count = 0;
    for (void *j = pointer_at(world, step->first_joint); j; j = pointer_at(j, step->next_joint)) {
        if (count == step->list_room) {
            int room = step->list_room ? 2 * step->list_room : 256;
            dJointID *list = ss_allocate((size_t)room, sizeof *list);
            if (!list) return -1;
            if (count) memcpy(list, step->list, (size_t)count * sizeof *list);
            ss_release(step->list);
            step->list = list;
            step->list_room = room;
        }
        step->list[count++] = j;
    }
    return has_room(step, count) ? count : -1;
}

static bool add_joints(ss_ode_step *step, ss_sink *sink, dWorldID world, double h, double gamma)
{
    const contact_rules rules = {.h = h,
                                 .erp = dWorldGetERP(world),
                                 .cfm = dWorldGetCFM(world),
                                 .layer = dWorldGetContactSurfaceLayer(world),
                                 .max_speed = dWorldGetContactMaxCorrectingVel(world),
                                 .gamma = gamma};
    sink->capture.plain =
        (ss_capture_plain){true, true, rules.erp, rules.cfm, rules.layer, rules.max_speed, gamma};
    step->entry_count = 0;
    int count = list_joints(step, world);
    for (int i = count - 1; i >= 0; i--) {
        dJointID joint = step->list[i];
        // Joints are anywhere in memory, and ODE has not looked at them since collision detection.
        for (int line = 0; i >= AHEAD && line < LINES; line++)
            __builtin_prefetch((const char *)step->list[i - AHEAD] + 64 * line);
        entry *e = &step->entries[step->entry_count];
        *e = (entry){.joint = joint, .contact = -1};
        for (int k = 0; k < 2; k++) {
            e->body[k] = pointer_at(joint, step->node[k]);
            e->number[k] = ss_number_find(&step->here, e->body[k]) - 1;
        }
        if (!dJointIsEnabled(joint) || (e->number[0] < 0 && e->number[1] < 0)) continue;
        if (pointer_at(joint, 0) == step->contact_class) {
            // ODE swaps the bodies of a joint that was attached to the world first.
            bool reversed = !e->body[1] && !dJointGetBody(joint, 0);
            if (!add_contact(step, sink, e, &rules, reversed)) return false;
        } else {
            joint_rows rows;
            if (!ask(step, joint, h, rules.erp, rules.cfm, &rows)) return false;
            if (rows.count == 0) continue;
            if (!add_rows(&sink->capture, e, &rows, 0, rows.count, h, gamma)) return false;
        }
        e->asked = dJointGetFeedback(joint);
        step->entry_count++;
    }
    return count >= 0;
}

/* ---- before and after ------------------------------------------------------------------------------- */

static bool say_hello(ss_sink *sink, const double gravity[3], bool quick, dWorldID world)
{
    char toolkit[300], description[300], name[256];
    ss_ode_library_name(name, sizeof name);
    snprintf(toolkit, sizeof toolkit, "ODE 0.16 (%s)", name);
    if (quick)
        snprintf(description, sizeof description,
                 "dWorldQuickStep: %d iterations, over-relaxation %g, ERP %g, CFM %g",
                 dWorldGetQuickStepNumIterations(world), dWorldGetQuickStepW(world), dWorldGetERP(world),
                 dWorldGetCFM(world));
    else
        snprintf(description, sizeof description, "dWorldStep: ERP %g, CFM %g", dWorldGetERP(world),
                 dWorldGetCFM(world));
    sink->begun = true;
    return sink->begin(sink, gravity, toolkit, description);
}

/* Forces that asking has added (motors at their stops) belong to the step; ODE will add them again. */
static void settle_forces(ss_ode_step *step, ss_capture *c)
{
    for (int b = 0; b < step->state_count; b++) {
        const body_state *state = &step->state[b];
        const double *force = dBodyGetForce(state->body), *torque = dBodyGetTorque(state->body);
        bool changed = false;
        for (int i = 0; i < 3; i++) {
            c->frame.bodies.force[b][i] += force[i];
            c->frame.bodies.force[b][3 + i] += torque[i];
            changed |= force[i] != state->force[i] || torque[i] != state->force[3 + i];
        }
        if (!changed) continue;
        dBodySetForce(state->body, state->force[0], state->force[1], state->force[2]);
        dBodySetTorque(state->body, state->force[3], state->force[4], state->force[5]);
    }
}

bool ss_ode_look_before(ss_ode_step *step, ss_sink *sink, dWorldID world, double h, bool quick)
{
    step->looking = false;
    if (!step->world) step->world = world;
    if (world != step->world) {
        bool first = !step->other_world;
        step->other_world = true;
        return !first || sink->note(sink, "the program steps several worlds; only the first one is recorded");
    }
    double time = step->time;
    step->time += h;
    if (!ss_sink_wants(sink)) return true;
    dVector3 gravity;
    dWorldGetGravity(world, gravity);
    if (!sink->begun && !say_hello(sink, gravity, quick, world)) return false;

    ss_capture *c = &sink->capture;
    double gamma = fmin(fmax(dWorldGetERP(world), 0.0), 1.0);
    ss_capture_begin(c, time, h);
    strcpy(c->solver, quick ? "ODE_quickstep" : "ODE_step");
    double layer = dWorldGetContactSurfaceLayer(world);
    if (!c->with[0] || step->written[0] != gamma || step->written[1] != layer) {
        strcpy(c->formulation, "box");
        snprintf(c->with, sizeof c->with,
                 "tangents=frame gap_term=stabilised gamma=%.17g slop=%.17g joint_term=stabilised "
                 "joint_gamma=%.17g",
                 gamma, layer, gamma);
        step->written[0] = gamma;
        step->written[1] = layer;
    }
    if (quick) c->iterations = dWorldGetQuickStepNumIterations(world);
    if (!add_bodies(step, sink, world, gravity, h)) return false;
    bool good = add_joints(step, sink, world, h, gamma);
    settle_forces(step, c);
    if (!good) return false;
    for (int i = 0; i < step->entry_count; i++)
        if (!step->entries[i].asked) dJointSetFeedback(step->entries[i].joint, &step->force[i]);
    step->looking = true;
    return true;
}

static void read_entry(ss_ode_step *step, ss_capture *c, entry *e)
{
    const dJointFeedback *from = e->asked ? e->asked : &step->force[e - step->entries];
    double h = c->frame.h, f[12];
    for (int i = 0; i < 3; i++) {
        f[i] = from->f1[i];
        f[3 + i] = from->t1[i];
        f[6 + i] = e->body[1] ? from->f2[i] : 0.0;
        f[9 + i] = e->body[1] ? from->t2[i] : 0.0;
    }
    for (int k = 0; step->explaining && k < 2; k++)
        for (int i = 0; e->number[k] >= 0 && i < 6; i++)
            step->state[e->number[k]].joint_force[i] += f[6 * k + i];

    // The friction of a contact with constant bounds is two rows: they take the part across the normal.
    double *n = e->contact >= 0 ? c->frame.contacts.normal[e->contact] : NULL;
    double along = n ? f[0] * n[0] + f[1] * n[1] + f[2] * n[2] : 0.0;
    if (n) c->answer.normal_impulse[e->contact] = h * along;
    if (n && !e->friction_rows)
        for (int i = 0; i < 3; i++) c->answer.friction_impulse[e->contact][i] = h * (f[i] - along * n[i]);
    if (e->rows == 0) return;
    if (n) {
        for (int k = 0; k < 2; k++) {
            if (e->number[k] < 0) continue;
            double sign = k ? -1.0 : 1.0, arm[3], turn[3];
            const double *point = c->frame.contacts.point[e->contact];
            for (int i = 0; i < 3; i++) arm[i] = point[i] - c->frame.bodies.position[e->number[k]][i];
            cross(arm, n, turn);
            for (int i = 0; i < 3; i++) {
                f[6 * k + i] -= sign * along * n[i];
                f[6 * k + 3 + i] -= sign * along * turn[i];
            }
        }
    }
    for (int k = 0; k < 2; k++)
        if (e->number[k] < 0) memset(f + 6 * k, 0, 6 * sizeof *f);
    double x[MOST_ROWS];
    ss_row_impulses(e->rows, (const double(*)[12])c->frame.constraints.jacobian + e->first_row, f, x);
    for (int r = 0; r < e->rows; r++) c->answer.row_impulse[e->first_row + r] = h * x[r];
}

/* v + h M^-1 (f + joint forces); false: singular inertia. */
static bool predict(const ss_capture *c, const body_state *state, int b, const double v[6], double after[6])
{
    const ss_bodies *bodies = &c->frame.bodies;
    double h = c->frame.h, A[9], turn[3];
    memcpy(A, bodies->inertia[b], sizeof A);
    for (int i = 0; i < 3; i++) {
        after[i] = v[i] + h * (bodies->force[b][i] + state->joint_force[i]) / bodies->mass[b];
        turn[i] = h * (bodies->force[b][3 + i] + state->joint_force[3 + i]);
    }
    if (!ss_solve_3(A, turn)) return false;
    for (int i = 0; i < 3; i++) after[3 + i] = v[3 + i] + turn[i];
    return true;
}

static double difference(const double a[6], const double b[6])
{
    double sum = 0.0, size = 0.0;
    for (int i = 0; i < 6; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
        size += a[i] * a[i] + b[i] * b[i];
    }
    return sqrt(sum) / (1e-3 + sqrt(size)); // below 1 mm/s it is absolute
}

/* Is M (v+ - v) = h (f + joint forces) so well that `difference` is below 1e-12? Cheaper than computing v+:
 * the smallest moment of inertia is at least det I / (trace I / 2)^2. */
static bool is_explained(const ss_capture *c, const body_state *state, int b, const double v[6],
                         const double after[6])
{
    const ss_bodies *bodies = &c->frame.bodies;
    const double *I = bodies->inertia[b], *f = bodies->force[b], h = c->frame.h, mass = bodies->mass[b];
    double push = 0.0, turn = 0.0, speed = 0.0, d[6];
    for (int i = 0; i < 6; i++) {
        d[i] = after[i] - v[i];
        speed = larger(speed, fabs(after[i]));
    }
    for (int i = 0; i < 3; i++) {
        double spin = I[3 * i] * d[3] + I[3 * i + 1] * d[4] + I[3 * i + 2] * d[5];
        push += fabs(mass * d[i] - h * (f[i] + state->joint_force[i]));
        turn += fabs(spin - h * (f[3 + i] + state->joint_force[3 + i]));
    }
    double half_trace = 0.5 * (I[0] + I[4] + I[8]), det = I[0] * (I[4] * I[8] - I[5] * I[7]) -
                                                          I[1] * (I[3] * I[8] - I[5] * I[6]) +
                                                          I[2] * (I[3] * I[7] - I[4] * I[6]);
    return push / mass * det + turn * half_trace * half_trace <= 1e-12 * (1e-3 + speed) * det;
}

static bool read_body(ss_ode_step *step, ss_sink *sink, int b)
{
    ss_capture *c = &sink->capture;
    const body_state *state = &step->state[b];
    double *after = c->answer.velocity[b], *before = c->frame.bodies.velocity[b], expected[6];
    const double *v = dBodyGetLinearVel(state->body), *w = dBodyGetAngularVel(state->body);
    memcpy(after, v, 3 * sizeof *after);
    memcpy(after + 3, w, 3 * sizeof *after);
    c->frame.bodies.state[b] = dBodyIsEnabled(state->body) ? 1 : 0;
    if (!c->frame.bodies.state[b] || !step->explaining) return true;
    if (!state->slowed && is_explained(c, state, b, before, after)) return true;
    if (!predict(c, state, b, before, expected)) return true;

    // Damping and speed limits act after the solver: its own answer is what the impulses make of the speed.
    if (state->slowed) {
        memcpy(after, expected, sizeof expected);
        return true;
    }
    // A body that ODE had put to sleep and woke up again in the same step starts from rest.
    double error = difference(after, expected);
    if (error > 1e-11 && dBodyGetAutoDisableFlag(state->body)) {
        double zero[6] = {0}, from_rest[6], *torque = c->frame.bodies.force[b] + 3, with_spin[3];
        memcpy(with_spin, torque, sizeof with_spin);
        for (int i = 0; i < 3; i++) torque[i] -= state->gyroscopic[i];
        if (predict(c, state, b, zero, from_rest) && difference(after, from_rest) < 1e-2 * error) {
            memcpy(before, zero, sizeof zero);
            return true;
        }
        memcpy(torque, with_spin, sizeof with_spin);
    }
    if (error < 1e-6) return true; // the rounding of large forces that cancel
    if (step->unexplained) return true;
    step->unexplained = true;
    char text[160];
    snprintf(text, sizeof text,
             "the forces of step %lld do not explain the new velocity of body %d: a callback or another "
             "thread may have changed it",
             (long long)sink->steps, c->frame.bodies.id[b]);
    return sink->note(sink, text);
}

bool ss_ode_look_after(ss_ode_step *step, ss_sink *sink)
{
    if (!step->looking) return true;
    step->looking = false;
    ss_capture *c = &sink->capture;
    bool good = true;
    for (int i = 0; i < step->entry_count; i++) {
        entry *e = &step->entries[i];
        read_entry(step, c, e);
        if (!e->asked) dJointSetFeedback(e->joint, NULL);
    }
    for (int b = 0; good && b < step->state_count; b++) good = read_body(step, sink, b);
    return good && sink->step(sink);
}
