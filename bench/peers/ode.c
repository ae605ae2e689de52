/* ODE, with its fast iterative stepper and its direct one. */
#include "peer.h"

#include <math.h>
#include <ode/ode.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONTACTS = 8 };

typedef struct ode_state {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *bodies; /* NULL for those that do not move */
    void **kept;     /* of every shape: ODE does not copy the faces of a polyhedron */
    int shapes;
    int count;
    double h, mu;
    bool quick;
    dThreadingImplementationID threading; /* NULL on one thread */
    dThreadingThreadPoolID pool;
} ode_state;

/* The direct stepper has much to say about stacks. */
static void be_quiet(int number, const char *message, va_list arguments)
{
    (void)number, (void)message, (void)arguments;
}

static void near(void *data, dGeomID a, dGeomID b)
{
    ode_state *s = data;
    dContactGeom found[MOST_CONTACTS];
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (!body_a && !body_b) return;
    if (body_a && body_b && dAreConnectedExcluding(body_a, body_b, dJointTypeContact)) return;
    int count = dCollide(a, b, MOST_CONTACTS, found, sizeof *found);
    for (int i = 0; i < count; i++) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = s->mu}, .geom = found[i]};
        dJointAttach(dJointCreateContact(s->world, s->contacts, &contact), body_a, body_b);
    }
}

/* Every triangle is a face: its plane n x = d, and its corners. ODE wants the origin inside, so that they are
 * about the centre of mass. */
static dGeomID add_hull(ode_state *s, const ss_shape *shape, void **kept)
{
    const ss_mesh *mesh = shape->mesh;
    size_t faces = (size_t)mesh->face_count, corners = (size_t)mesh->vertex_count;
    dReal *planes = malloc((4 * faces + 3 * corners) * sizeof *planes + 4 * faces * sizeof(unsigned));
    dReal *points = planes + 4 * faces;
    unsigned *polygons = (unsigned *)(points + 3 * corners);
    for (size_t k = 0; k < corners; k++) {
        ss_peer_turn(shape->quaternion, mesh->vertex[k], points + 3 * k);
        for (int i = 0; i < 3; i++) points[3 * k + (size_t)i] += shape->position[i];
    }
    for (size_t f = 0; f < faces; f++) {
        const int *of = mesh->face[f];
        const dReal *a = points + 3 * of[0], *b = points + 3 * of[1], *c = points + 3 * of[2];
        double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int i = 0; i < 3; i++) planes[4 * f + (size_t)i] = n[i] / length;
        planes[4 * f + 3] = (n[0] * a[0] + n[1] * a[1] + n[2] * a[2]) / length;
        const unsigned polygon[4] = {3, (unsigned)of[0], (unsigned)of[1], (unsigned)of[2]};
        memcpy(polygons + 4 * f, polygon, sizeof polygon);
    }
    *kept = planes;
    return dCreateConvex(s->space, planes, (unsigned)faces, points, (unsigned)corners, polygons);
}

static dGeomID add_geom(ode_state *s, const ss_shape *shape, void **kept)
{
    switch (shape->kind) {
    case SS_SPHERE:
        return dCreateSphere(s->space, shape->size[0]);
    case SS_BOX:
        return dCreateBox(s->space, shape->size[0], shape->size[1], shape->size[2]);
    case SS_CAPSULE:
        return dCreateCapsule(s->space, shape->size[0], shape->size[1]);
    case SS_CYLINDER:
        return dCreateCylinder(s->space, shape->size[0], shape->size[1]);
    case SS_HULL:
        return add_hull(s, shape, kept);
    default:
        return NULL;
    }
}

static void add_plane(ode_state *s, const ss_shape *shape)
{
    const double *q = shape->quaternion, *p = shape->position;
    double n[3] = {2.0 * (q[1] * q[3] + q[0] * q[2]), 2.0 * (q[2] * q[3] - q[0] * q[1]),
                   1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2])};
    dCreatePlane(s->space, n[0], n[1], n[2], n[0] * p[0] + n[1] * p[1] + n[2] * p[2]);
}

static void add_body(ode_state *s, const ss_world *world, int b)
{
    const ss_body *body = ss_world_body(world, b);
    if (body->kind != SS_DYNAMIC) return;
    const double *I = body->inertia, *v = body->velocity;
    dMass mass;
    s->bodies[b] = dBodyCreate(s->world);
    dMassSetParameters(&mass, body->mass, 0, 0, 0, I[0], I[4], I[8], I[1], I[2], I[5]);
    dBodySetMass(s->bodies[b], &mass);
    dBodySetPosition(s->bodies[b], body->position[0], body->position[1], body->position[2]);
    dBodySetQuaternion(s->bodies[b], body->quaternion);
    dBodySetLinearVel(s->bodies[b], v[0], v[1], v[2]);
    dBodySetAngularVel(s->bodies[b], v[3], v[4], v[5]);
}

static void add_shape(ode_state *s, const ss_world *world, int k)
{
    const ss_shape *shape = ss_world_shape(world, k);
    if (shape->kind == SS_PLANE) {
        add_plane(s, shape);
        return;
    }
    if (!ss_peer_collides(shape)) return;
    dGeomID geom = add_geom(s, shape, &s->kept[k]);
    if (shape->body != SS_WORLD && s->bodies[shape->body]) {
        const double *p = shape->position, *q = shape->quaternion;
        dGeomSetBody(geom, s->bodies[shape->body]);
        if (shape->kind == SS_HULL) return; // its corners are where they belong
        if (p[0] != 0.0 || p[1] != 0.0 || p[2] != 0.0) dGeomSetOffsetPosition(geom, p[0], p[1], p[2]);
        if (q[0] != 1.0) dGeomSetOffsetQuaternion(geom, q);
        return;
    }
    double position[3], quaternion[4];
    ss_peer_place(world, shape, position, quaternion);
    dGeomSetPosition(geom, position[0], position[1], position[2]);
    dGeomSetQuaternion(geom, quaternion);
}

static void add_joint(ode_state *s, const ss_joint *joint)
{
    bool ball = joint->kind == SS_JOINT_BALL;
    const double *p = joint->anchor, *n = joint->axis;
    dBodyID a = joint->a == SS_WORLD ? NULL : s->bodies[joint->a],
            b = joint->b == SS_WORLD ? NULL : s->bodies[joint->b];
    dJointID made = (ball ? dJointCreateBall : dJointCreateHinge)(s->world, 0);
    dJointAttach(made, a, b);
    (ball ? dJointSetBallAnchor : dJointSetHingeAnchor)(made, p[0], p[1], p[2]);
    if (!ball) dJointSetHingeAxis(made, n[0], n[1], n[2]);
}

/* ODE's own pool of threads: islands, and the stages of one island. Its collision detection stays on one. */
static void share(ode_state *s, int threads)
{
    s->threading = dThreadingAllocateMultiThreadedImplementation();
    s->pool = dThreadingAllocateThreadPool((unsigned)threads, 0, dAllocateFlagBasicData, NULL);
    dThreadingThreadPoolServeMultiThreadedImplementation(s->pool, s->threading);
    dWorldSetStepThreadingImplementation(s->world, dThreadingImplementationGetFunctions(s->threading),
                                         s->threading);
    dWorldSetStepIslandsProcessingMaxThreadCount(s->world, (unsigned)threads);
}

static void *create(const ss_world *world, const ss_effort *effort, bool quick, char why[200])
{
    if (!ss_peer_is_simple(world, why)) return NULL;
    dInitODE();
    dSetMessageHandler(be_quiet);
    ode_state *s = calloc(1, sizeof *s);
    const double *g = ss_world_gravity((ss_world *)(uintptr_t)world);
    *s = (ode_state){.world = dWorldCreate(),
                     .space = dHashSpaceCreate(NULL),
                     .contacts = dJointGroupCreate(0),
                     .count = ss_world_body_count(world),
                     .shapes = ss_world_shape_count(world),
                     .h = effort->h,
                     .mu = ss_peer_friction(world),
                     .quick = quick};
    s->bodies = calloc((size_t)s->count + 1, sizeof *s->bodies);
    s->kept = calloc((size_t)s->shapes + 1, sizeof *s->kept);
    dWorldSetGravity(s->world, g[0], g[1], g[2]);
    if (effort->iterations > 0) dWorldSetQuickStepNumIterations(s->world, effort->iterations);
    for (int b = 0; b < s->count; b++) add_body(s, world, b);
    for (int k = 0; k < s->shapes; k++) add_shape(s, world, k);
    for (int j = 0; j < ss_world_joint_count(world); j++) add_joint(s, ss_world_joint(world, j));
    if (effort->threads > 1) share(s, effort->threads);
    return s;
}

static void *create_quick(const ss_world *world, const ss_effort *effort, char why[200])
{
    return create(world, effort, true, why);
}

static void *create_step(const ss_world *world, const ss_effort *effort, char why[200])
{
    return create(world, effort, false, why);
}

static void step(void *state)
{
    ode_state *s = state;
    dSpaceCollide(s->space, s, near);
    (s->quick ? dWorldQuickStep : dWorldStep)(s->world, s->h);
    dJointGroupEmpty(s->contacts);
}

static void read_back(void *state, ss_world *world)
{
    ode_state *s = state;
    for (int b = 0; b < s->count; b++) {
        if (!s->bodies[b]) continue;
        ss_body *body = ss_world_body(world, b);
        const dReal *x = dBodyGetPosition(s->bodies[b]), *q = dBodyGetQuaternion(s->bodies[b]);
        const dReal *v = dBodyGetLinearVel(s->bodies[b]), *w = dBodyGetAngularVel(s->bodies[b]);
        for (int i = 0; i < 3; i++) {
            body->position[i] = x[i];
            body->velocity[i] = v[i];
            body->velocity[3 + i] = w[i];
        }
        for (int i = 0; i < 4; i++) body->quaternion[i] = q[i];
    }
}

static void destroy(void *state)
{
    ode_state *s = state;
    if (s->threading) {
        dThreadingImplementationShutdownProcessing(s->threading);
        dThreadingFreeThreadPool(s->pool);
        dWorldSetStepThreadingImplementation(s->world, NULL, NULL);
        dThreadingFreeImplementation(s->threading);
    }
    dJointGroupDestroy(s->contacts);
    dSpaceDestroy(s->space);
    dWorldDestroy(s->world);
    dCloseODE();
    for (int k = 0; k < s->shapes; k++) free(s->kept[k]);
    free(s->kept);
    free(s->bodies);
    free(s);
}

static const char *version(void)
{
    return ODE_VERSION; // of its package (CMakeLists.txt)
}

const ss_peer ss_peer_ode_quick = {"ODE quickstep", version, create_quick, step, read_back, NULL, destroy};
const ss_peer ss_peer_ode_step = {"ODE step", version, create_step, step, read_back, NULL, destroy};
