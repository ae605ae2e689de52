/* Bullet: btDiscreteDynamicsWorld with the sequential impulse solver. */
#include "peer.h"

#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <memory>
#include <vector>

namespace
{

struct State {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<btRigidBody *> of_body; // of ours; null for those that do not move
    double h = 0;
};

btVector3 vector(const double *v)
{
    return btVector3(btScalar(v[0]), btScalar(v[1]), btScalar(v[2]));
}

btTransform pose(const double *position, const double *q)
{
    return btTransform(btQuaternion(btScalar(q[1]), btScalar(q[2]), btScalar(q[3]), btScalar(q[0])),
                       vector(position));
}

/* Bullet rounds its boxes by a margin of 4 cm, which is more than our bricks have. */
void set_margin(btCollisionShape &shape, double smallest)
{
    shape.setMargin(btScalar(std::fmin(0.04, 0.05 * smallest)));
}

btCollisionShape *shape_of(const ss_shape *shape)
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
    state.shapes.emplace_back(shape_of(shape));
    const ss_body *body = shape->body == SS_WORLD ? nullptr : ss_world_body(world, shape->body);
    bool moves = body && body->kind == SS_DYNAMIC;
    double position[3], quaternion[4];
    ss_peer_place(world, shape, position, quaternion);
    btVector3 inertia(0, 0, 0);
    if (moves)
        inertia =
            btVector3(btScalar(body->inertia[0]), btScalar(body->inertia[4]), btScalar(body->inertia[8]));
    btRigidBody::btRigidBodyConstructionInfo info(moves ? btScalar(body->mass) : btScalar(0), nullptr,
                                                  state.shapes.back().get(), inertia);
    info.m_friction = friction;
    if (shape->kind != SS_PLANE) info.m_startWorldTransform = pose(position, quaternion);
    state.bodies.emplace_back(new btRigidBody(info));
    btRigidBody *made = state.bodies.back().get();
    made->setActivationState(DISABLE_DEACTIVATION);
    if (moves) {
        made->setLinearVelocity(vector(body->velocity));
        made->setAngularVelocity(vector(body->velocity + 3));
        state.of_body[size_t(shape->body)] = made;
    }
    state.world.addRigidBody(made);
}

void *create(const ss_world *world, double h, int iterations)
{
    if (!ss_peer_is_simple(world)) return nullptr;
    State *state = new State;
    state->h = h;
    state->of_body.resize(size_t(ss_world_body_count(world)));
    state->world.setGravity(vector(ss_world_gravity(const_cast<ss_world *>(world))));
    if (iterations > 0) state->world.getSolverInfo().m_numIterations = iterations;
    btScalar friction = btScalar(std::sqrt(ss_peer_friction(world))); // Bullet multiplies the two
    for (int k = 0; k < ss_world_shape_count(world); k++) add(*state, world, k, friction);
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
        btQuaternion q = from->getWorldTransform().getRotation();
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
    for (auto &body : state->bodies) state->world.removeRigidBody(body.get());
    delete state;
}

} // namespace

extern "C" const ss_peer ss_peer_bullet = {"Bullet", create, step, read_back, destroy};
