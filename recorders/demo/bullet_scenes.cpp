/* A Bullet program like many others. It knows nothing of stickslip; docs/recording.md records it.
 *
 *     demo_bullet_scenes stack|vehicle|grasp|wall|column|slide|press [STEPS] [si|mlcp|nncg] [ITERATIONS]
 *
 * stack: boxes on a table, and a chain of hinges that swings into them. vehicle: four wheels on motors drive
 * into a pile. grasp: two fingers on sliders pick up a box. wall: bricks, for measuring. Prints a number made of
 * all poses and velocities at the end, so that two runs can be compared.
 */
#include "step_time.h"

#include <BulletDynamics/ConstraintSolver/btNNCGConstraintSolver.h>
#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static btDiscreteDynamicsWorld *world;
static std::vector<btRigidBody *> bodies;
static btScalar friction = btScalar(0.8); // Bullet multiplies those of the two bodies
static btSliderConstraint *palm;
static btRigidBody *ground;

static btRigidBody *add(btCollisionShape *shape, double kg, const btTransform &pose)
{
    btVector3 inertia(0, 0, 0);
    if (kg > 0) shape->calculateLocalInertia(btScalar(kg), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(kg), nullptr, shape, inertia);
    info.m_startWorldTransform = pose;
    info.m_friction = friction;
    auto body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    world->addRigidBody(body);
    if (kg > 0) bodies.push_back(body);
    return body;
}

static btTransform at(double x, double y, double z, const btQuaternion &turn = btQuaternion(0, 0, 0, 1))
{
    return btTransform(turn, btVector3(btScalar(x), btScalar(y), btScalar(z)));
}

static btRigidBody *add_box(double lx, double ly, double lz, double kg, double x, double y, double z)
{
    auto shape = new btBoxShape(btVector3(btScalar(lx / 2), btScalar(ly / 2), btScalar(lz / 2)));
    return add(shape, kg, at(x, y, z));
}

static void build_stack()
{
    for (int i = 0; i < 6; i++) add_box(0.4, 0.4, 0.2, 2.0, 0.0, 0.0, 0.1 + 0.2 * i);
    btRigidBody *last = nullptr;
    const btQuaternion lie(btVector3(0, 1, 0), SIMD_HALF_PI);
    for (int i = 0; i < 6; i++) {
        auto link =
            add(new btCapsuleShapeZ(btScalar(0.04), btScalar(0.12)), 0.3, at(-0.6 - 0.2 * i, 0.0, 1.6, lie));
        btVector3 here(0, 0, btScalar(0.1)), there(0, 0, btScalar(-0.1)), axis(0, 1, 0);
        auto hinge = last ? new btHingeConstraint(*link, *last, here, there, axis, axis)
                          : new btHingeConstraint(*link, here, axis);
        hinge->setLimit(btScalar(-1.2), btScalar(1.2));
        if (!last) hinge->setLimit(btScalar(-3.0), btScalar(3.0));
        world->addConstraint(hinge, true);
        last = link;
    }
}

static void build_vehicle()
{
    friction = btScalar(0.95);
    auto chassis = add_box(1.0, 0.5, 0.2, 20.0, 0.0, 0.0, 0.35);
    for (int i = 0; i < 4; i++) {
        double x = i < 2 ? 0.4 : -0.4, y = i % 2 ? 0.35 : -0.35;
        const btQuaternion across(btVector3(1, 0, 0), SIMD_HALF_PI);
        auto wheel = add(new btCylinderShapeZ(btVector3(btScalar(0.18), btScalar(0.18), btScalar(0.05))), 1.5,
                         at(x, y, 0.18, across));
        auto hinge =
            new btHingeConstraint(*chassis, *wheel, btVector3(btScalar(x), btScalar(y), btScalar(-0.17)),
                                  btVector3(0, 0, 0), btVector3(0, 1, 0), btVector3(0, 0, -1));
        hinge->enableAngularMotor(true, btScalar(-6.0), btScalar(0.12));
        world->addConstraint(hinge, true);
    }
    for (int i = 0; i < 3; i++) add_box(0.2, 0.2, 0.2, 0.5, 1.4, 0.0, 0.1 + 0.2 * i);
}

static btSliderConstraint *add_slider(btRigidBody *a, btRigidBody *b, const btQuaternion &axis, double speed,
                                      double force)
{
    // Frames of both in the world's axes, at the second body.
    btTransform place(axis, b->getWorldTransform().getOrigin());
    auto slider = a ? new btSliderConstraint(*a, *b, a->getWorldTransform().inverse() * place,
                                             b->getWorldTransform().inverse() * place, true)
                    : new btSliderConstraint(*b, b->getWorldTransform().inverse() * place, true);
    slider->setLowerLinLimit(-1);
    slider->setUpperLinLimit(1);
    slider->setLowerAngLimit(0);
    slider->setUpperAngLimit(0);
    slider->setPoweredLinMotor(true);
    slider->setTargetLinMotorVelocity(btScalar(speed));
    slider->setMaxLinMotorForce(btScalar(force));
    world->addConstraint(slider, true);
    return slider;
}

static void build_grasp()
{
    friction = btScalar(0.9);
    add_box(0.1, 0.1, 0.1, 0.5, 0.0, 0.0, 0.05);
    auto hand = add_box(0.3, 0.1, 0.05, 2.0, 0.0, 0.0, 0.25);
    palm = add_slider(nullptr, hand, btQuaternion(btVector3(0, 1, 0), -SIMD_HALF_PI), 0.0, 200.0);
    for (int i = 0; i < 2; i++) {
        double side = i ? 1.0 : -1.0;
        auto finger = add_box(0.03, 0.08, 0.15, 0.2, 0.1 * side, 0.0, 0.13);
        add_slider(hand, finger, btQuaternion(0, 0, 0, 1), 0.2 * side, 20.0);
    }
}

static void rub(double mu) // of all pairs
{
    friction = btScalar(std::sqrt(mu));
    ground->setFriction(friction);
}

/* The scenes that recorders/node has, too. */
static void build_column()
{
    rub(0.5);
    for (int i = 0; i < 6; i++) add_box(0.4, 0.4, 0.2, 4.0, 0.0, 0.0, 0.1 + 0.2 * i);
}

static void build_slide()
{
    rub(0.5);
    add_box(0.4, 0.4, 0.2, 4.0, 0.0, 0.0, 0.1)->setLinearVelocity(btVector3(2, 0, 0));
}

static btRigidBody *pressing[2];

static void build_press()
{
    rub(0.8);
    add_box(0.2, 0.2, 0.2, 5.0, 0.0, 0.0, 1.0);
    for (int i = 0; i < 2; i++) pressing[i] = add_box(0.05, 0.2, 0.1, 1.0, i ? 0.125 : -0.125, 0.0, 1.0);
}

static void build_wall()
{
    rub(0.6);
    for (int row = 0; row < 5; row++)
        for (int i = 0; i < 7 - row % 2; i++)
            add_box(0.38, 0.2, 0.2, 3.0, 0.4 * i + 0.2 * (row % 2), 0.0, 0.1 + 0.2 * row);
}

static uint64_t hash_of_state()
{
    uint64_t hash = 1469598103934665603u;
    for (auto body : bodies) {
        btVector3 x = body->getWorldTransform().getOrigin(), v = body->getLinearVelocity(),
                  w = body->getAngularVelocity();
        btQuaternion q = body->getWorldTransform().getRotation();
        const btScalar numbers[13] = {x.x(), x.y(), x.z(), v.x(), v.y(), v.z(), w.x(),
                                      w.y(), w.z(), q.x(), q.y(), q.z(), q.w()};
        unsigned char bytes[sizeof numbers];
        memcpy(bytes, numbers, sizeof numbers);
        for (unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
    }
    return hash;
}

static int contacts_now()
{
    int count = 0;
    for (int i = 0; i < world->getDispatcher()->getNumManifolds(); i++)
        count += world->getDispatcher()->getManifoldByIndexInternal(i)->getNumContacts();
    return count;
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[1] : "stack", *method = argc > 3 ? argv[3] : "si";
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btDantzigSolver dantzig;
    btConstraintSolver *solver = strcmp(method, "mlcp") == 0   ? new btMLCPSolver(&dantzig)
                                 : strcmp(method, "nncg") == 0 ? new btNNCGConstraintSolver
                                                               : new btSequentialImpulseConstraintSolver;
    world = new btDiscreteDynamicsWorld(&dispatcher, &broadphase, solver, &configuration);
    world->setGravity(btVector3(0, 0, btScalar(-9.81)));
    if (argc > 4) world->getSolverInfo().m_numIterations = atoi(argv[4]);
    ground = add(new btStaticPlaneShape(btVector3(0, 0, 1), 0), 0.0, at(0, 0, 0));
    if (strcmp(scene, "stack") == 0)
        build_stack();
    else if (strcmp(scene, "vehicle") == 0)
        build_vehicle();
    else if (strcmp(scene, "grasp") == 0)
        build_grasp();
    else if (strcmp(scene, "wall") == 0)
        build_wall();
    else if (strcmp(scene, "column") == 0)
        build_column();
    else if (strcmp(scene, "slide") == 0)
        build_slide();
    else if (strcmp(scene, "press") == 0)
        build_press();
    else {
        fprintf(stderr,
                "usage: %s stack|vehicle|grasp|wall|column|slide|press [STEPS] [si|mlcp|nncg] [ITERATIONS]\n",
                argv[0]);
        return 2;
    }
    double contacts = 0.0;
    for (int k = 0; k < steps; k++) {
        if (palm) palm->setTargetLinMotorVelocity(btScalar(k < 60 ? 0.0 : 0.15));
        for (int i = 0; i < 2; i++) // the fingers carry themselves and the box
            if (pressing[i]) pressing[i]->applyCentralForce(btVector3(i ? -60 : 60, 0, btScalar(34.335)));
        step_time_begin();
        world->stepSimulation(btScalar(0.01), 1, btScalar(0.01));
        step_time_end();
        contacts += contacts_now();
    }
    printf("%s: %d steps, state %016llx\n", scene, steps, (unsigned long long)hash_of_state());
    step_time_print(contacts);
    return 0; // the world goes with the program
}
