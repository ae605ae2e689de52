/* ODE, with its fast iterative stepper and its direct one. */
#include "peer.h"

#include <ode/ode.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MOST_CONTACTS = 8 };

typedef struct ode_state {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *bodies; /* NULL for those that do not move */
    int count;
    double h, mu;
    bool quick;
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
    int count = dCollide(a, b, MOST_CONTACTS, found, sizeof *found);
    for (int i = 0; i < count; i++) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = s->mu}, .geom = found[i]};
        dJointAttach(dJointCreateContact(s->world, s->contacts, &contact), body_a, body_b);
    }
}

static dGeomID add_geom(ode_state *s, const ss_shape *shape)
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
    dGeomID geom = add_geom(s, shape);
    if (shape->body != SS_WORLD && s->bodies[shape->body]) {
        dGeomSetBody(geom, s->bodies[shape->body]);
        return;
    }
    double position[3], quaternion[4];
    ss_peer_place(world, shape, position, quaternion);
    dGeomSetPosition(geom, position[0], position[1], position[2]);
    dGeomSetQuaternion(geom, quaternion);
}

static void *create(const ss_world *world, double h, int iterations, bool quick)
{
    if (!ss_peer_is_simple(world)) return NULL;
    dInitODE();
    dSetMessageHandler(be_quiet);
    ode_state *s = calloc(1, sizeof *s);
    const double *g = ss_world_gravity((ss_world *)(uintptr_t)world);
    *s = (ode_state){.world = dWorldCreate(),
                     .space = dHashSpaceCreate(NULL),
                     .contacts = dJointGroupCreate(0),
                     .count = ss_world_body_count(world),
                     .h = h,
                     .mu = ss_peer_friction(world),
                     .quick = quick};
    s->bodies = calloc((size_t)s->count + 1, sizeof *s->bodies);
    dWorldSetGravity(s->world, g[0], g[1], g[2]);
    if (iterations > 0) dWorldSetQuickStepNumIterations(s->world, iterations);
    for (int b = 0; b < s->count; b++) add_body(s, world, b);
    for (int k = 0; k < ss_world_shape_count(world); k++) add_shape(s, world, k);
    return s;
}

static void *create_quick(const ss_world *world, double h, int iterations)
{
    return create(world, h, iterations, true);
}

static void *create_step(const ss_world *world, double h, int iterations)
{
    return create(world, h, iterations, false);
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
    dJointGroupDestroy(s->contacts);
    dSpaceDestroy(s->space);
    dWorldDestroy(s->world);
    dCloseODE();
    free(s->bodies);
    free(s);
}

const ss_peer ss_peer_ode_quick = {"ODE quickstep", create_quick, step, read_back, destroy};
const ss_peer ss_peer_ode_step = {"ODE step", create_step, step, read_back, destroy};
