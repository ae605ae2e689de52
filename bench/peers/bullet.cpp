/* Bullet: btDiscreteDynamicsWorld with sequential impulses or, as "nncg", nonsmooth conjugate gradients. Debian's
 * build has single precision, which is Bullet's own default. */
#include "peer.h"

#include <BulletDynamics/ConstraintSolver/btNNCGConstraintSolver.h>
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace
{

struct State {
    explicit State(bool nncg)
        : solver(nncg ? new btNNCGConstraintSolver : new btSequentialImpulseConstraintSolver),
          world(&dispatcher, &broadphase, solver.get(), &configuration)
    {
    }
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    std::unique_ptr<btSequentialImpulseConstraintSolver> solver;
    btDiscreteDynamicsWorld world;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
    std::vector<btRigidBody *> of_body; // of ours; null for those that do not move
    std::vector<btQuaternion> turned;   // Bullet's body has the principal axes of inertia: from them to ours
    double h = 0;
};

btVector3 vector(const double *v)
{
    return btVector3(btScalar(v[0]), btScalar(v[1]), btScalar(v[2]));
}

btQuaternion rotation(const double *q)
{
    return btQuaternion(btScalar(q[1]), btScalar(q[2]), btScalar(q[3]), btScalar(q[0]));
}

btTransform pose(const double *position, const double *q)
{
    return btTransform(rotation(q), vector(position));
}

/* Bullet rounds its boxes by a margin of 4 cm, which is more than our bricks have. */
void set_margin(btCollisionShape &shape, double smallest)
{
    shape.setMargin(btScalar(std::fmin(0.04, 0.05 * smallest)));
}

/* place: of the shape in Bullet's body; only a hull may be elsewhere than at its centre */
btCollisionShape *shape_of(const ss_shape *shape, const btTransform &place)
{
    const double *s = shape->size;
    btCollisionShape *made = nullptr;
    switch (shape->kind) {
    case SS_SPHERE:
        return new btSphereShape(btScalar(s[0]));
    case SS_BOX:
        made = new btBoxShape(btVector3(btScalar(0.5 * s[0]), btScalar(0.5 * s[1]), btScalar(0.5 * s[2])));
        set_margin(*made, std::fmin(s[0], std::fmin(s[1], s[2])));
        return made;
    case SS_CAPSULE:
        return new btCapsuleShapeZ(btScalar(s[0]), btScalar(s[1]));
    case SS_CYLINDER:
        made = new btCylinderShapeZ(btVector3(btScalar(s[0]), btScalar(s[0]), btScalar(0.5 * s[1])));
        set_margin(*made, std::fmin(s[0], s[1]));
        return made;
    case SS_HULL: {
        auto *hull = new btConvexHullShape;
        for (int i = 0; i < shape->mesh->vertex_count; i++)
            hull->addPoint(place * vector(shape->mesh->vertex[i]), false);
        hull->recalcLocalAabb();
        hull->setMargin(btScalar(1e-3)); // a hull is widened by its margin, not rounded within
        return hull;
    }
    default: {
        btVector3 normal =
            quatRotate(pose(shape->position, shape->quaternion).getRotation(), btVector3(0, 0, 1));
        return new btStaticPlaneShape(normal, normal.dot(vector(shape->position)));
    }
    }
}

void add(State &state, const ss_world *world, int k, btScalar friction)
{
    const ss_shape *shape = ss_world_shape(world, k);
    const ss_body *body = shape->body == SS_WORLD ? nullptr : ss_world_body(world, shape->body);
    bool moves = body && body->kind == SS_DYNAMIC, hull = shape->kind == SS_HULL;
    double position[3], quaternion[4];
    ss_peer_place(world, shape, position, quaternion);

    // shapes are about their centre of mass and along their principal axes, except for hulls
    btVector3 inertia(0, 0, 0);
    btTransform start = pose(position, quaternion), place = btTransform::getIdentity();
    btQuaternion turned = moves ? rotation(shape->quaternion).inverse() : btQuaternion::getIdentity();
    if (moves) {
        const double *I = body->inertia;
        btScalar entries[9];
        for (int i = 0; i < 9; i++) entries[i] = btScalar(I[i]);
        btMatrix3x3 axes, tensor{entries[0], entries[1], entries[2], entries[3], entries[4],
                                 entries[5], entries[6], entries[7], entries[8]};
        axes.setIdentity();
        if (hull) {
            tensor.diagonalize(axes, btScalar(1e-7), 50);
            btQuaternion own;
            axes.getRotation(own);
            turned = own.inverse();
            start = pose(body->position, body->quaternion) * btTransform(own);
            place = btTransform(turned) * pose(shape->position, shape->quaternion);
        } else {
            btMatrix3x3 turn(rotation(shape->quaternion));
            tensor = turn.transpose() * tensor * turn;
        }
        inertia = btVector3(tensor[0][0], tensor[1][1], tensor[2][2]);
    }
    state.shapes.emplace_back(shape_of(shape, place));
    btRigidBody::btRigidBodyConstructionInfo info(moves ? btScalar(body->mass) : btScalar(0), nullptr,
                                                  state.shapes.back().get(), inertia);
    info.m_friction = friction;
    if (shape->kind != SS_PLANE) info.m_startWorldTransform = start;
    state.bodies.emplace_back(new btRigidBody(info));
    btRigidBody *made = state.bodies.back().get();
    made->setActivationState(DISABLE_DEACTIVATION);
    if (moves) {
        made->setLinearVelocity(vector(body->velocity));
        made->setAngularVelocity(vector(body->velocity + 3));
        state.of_body[size_t(shape->body)] = made;
        state.turned[size_t(shape->body)] = turned;
    }
    if (ss_peer_collides(shape))
        state.world.addRigidBody(made);
    else
        state.world.addRigidBody(made, 0, 0);
}

void add_joint(State &state, const ss_joint *joint)
{
    btRigidBody *a = joint->a == SS_WORLD ? nullptr : state.of_body[size_t(joint->a)],
                *b = joint->b == SS_WORLD ? nullptr : state.of_body[size_t(joint->b)];
    if (!a) std::swap(a, b);
    btVector3 anchor = vector(joint->anchor), axis = vector(joint->axis);
    auto point = [&](btRigidBody *of) { return of->getWorldTransform().inverse() * anchor; };
    auto along = [&](btRigidBody *of) { return of->getWorldTransform().getBasis().transpose() * axis; };
    btTypedConstraint *made = nullptr;
    if (joint->kind == SS_JOINT_BALL)
        made = b ? new btPoint2PointConstraint(*a, *b, point(a), point(b))
                 : new btPoint2PointConstraint(*a, point(a));
    else
        made = b ? new btHingeConstraint(*a, *b, point(a), point(b), along(a), along(b))
                 : new btHingeConstraint(*a, point(a), along(a));
    state.joints.emplace_back(made);
    state.world.addConstraint(made, true); // what it joins does not collide
}

void *create(const ss_world *world, const ss_effort *effort, char why[200])
{
    if (!ss_peer_is_simple(world, why)) return nullptr;
    bool nncg = effort->solver && std::strcmp(effort->solver, "nncg") == 0;
    if (effort->solver && !nncg && std::strcmp(effort->solver, "si") != 0) {
        std::snprintf(why, 200, "no solver %s: si or nncg", effort->solver);
        return nullptr;
    }
    if (effort->threads > 1) { // no task scheduler: built without BT_THREADSAFE
        std::snprintf(why, 200, "Debian's Bullet has no threads");
        return nullptr;
    }
    State *state = new State(nncg);
    state->h = effort->h;
    state->of_body.resize(size_t(ss_world_body_count(world)));
    state->turned.resize(state->of_body.size());
    state->world.setGravity(vector(ss_world_gravity(const_cast<ss_world *>(world))));
    if (effort->iterations > 0) state->world.getSolverInfo().m_numIterations = effort->iterations;
    btScalar friction = btScalar(std::sqrt(ss_peer_friction(world))); // Bullet multiplies the two
    for (int k = 0; k < ss_world_shape_count(world); k++) add(*state, world, k, friction);
    for (int j = 0; j < ss_world_joint_count(world); j++) add_joint(*state, ss_world_joint(world, j));
    return state;
}

void step(void *of)
{
    State *state = static_cast<State *>(of);
    state->world.stepSimulation(btScalar(state->h), 0);
}

void read_back(void *of, ss_world *world)
{
    State *state = static_cast<State *>(of);
    for (size_t b = 0; b < state->of_body.size(); b++) {
        const btRigidBody *from = state->of_body[b];
        if (!from) continue;
        ss_body *body = ss_world_body(world, int(b));
        btQuaternion q = from->getWorldTransform().getRotation() * state->turned[b];
        for (int i = 0; i < 3; i++) {
            body->position[i] = from->getWorldTransform().getOrigin()[i];
            body->velocity[i] = from->getLinearVelocity()[i];
            body->velocity[3 + i] = from->getAngularVelocity()[i];
        }
        body->quaternion[0] = q.w(), body->quaternion[1] = q.x(), body->quaternion[2] = q.y(),
        body->quaternion[3] = q.z();
    }
}

void destroy(void *of)
{
    State *state = static_cast<State *>(of);
    for (auto &joint : state->joints) state->world.removeConstraint(joint.get());
    for (auto &body : state->bodies) state->world.removeRigidBody(body.get());
    delete state;
}

const char *version()
{
    return BULLET_VERSION; // of its package (CMakeLists.txt)
}

} // namespace

extern "C" const ss_peer ss_peer_bullet = {"Bullet", version, create, step, read_back, nullptr, destroy};
