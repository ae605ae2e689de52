/* One small Bullet world for each thing that the recorder has to see as Bullet does it, recorded by calls
 * (stickslip_bullet.h): bullet_features FEATURE si|dantzig|lemke OUT.h5 [STEPS]. Prints how often the MLCP solver
 * fell back to sweeps, then the notes. Used by test_record_bullet.py. */
#include <stickslip_bullet.h>

#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btLemkeSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static btDiscreteDynamicsWorld *world;

static btRigidBody *add(btCollisionShape *shape, double kg, double x, double z, double friction = 1.0)
{
    btVector3 inertia(0, 0, 0);
    if (kg > 0) shape->calculateLocalInertia(btScalar(kg), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(kg), nullptr, shape, inertia);
    info.m_startWorldTransform =
        btTransform(btQuaternion(0, 0, 0, 1), btVector3(btScalar(x), 0, btScalar(z)));
    info.m_friction = btScalar(friction);
    auto body = new btRigidBody(info);
    world->addRigidBody(body);
    return body;
}

static btRigidBody *add_box(double x, double z, double kg, double friction = 1.0)
{
    auto shape = new btBoxShape(btVector3(btScalar(0.15), btScalar(0.1), btScalar(0.05)));
    auto body = add(shape, kg, x, z, friction);
    body->setActivationState(DISABLE_DEACTIVATION);
    return body;
}

static btHingeConstraint *hang(btRigidBody *body, double x)
{
    auto hinge = new btHingeConstraint(*body, btVector3(btScalar(x), 0, 0), btVector3(0, 1, 0));
    world->addConstraint(hinge);
    return hinge;
}

static bool build(const char *feature)
{
    auto ground = add(new btStaticPlaneShape(btVector3(0, 0, 1), 0), 0.0, 0, 0);
    btContactSolverInfo &info = world->getSolverInfo();
    info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    if (strcmp(feature, "stick") == 0) {
        add_box(0, 0.0495, 2.0);
        world->setGravity(btVector3(btScalar(1.5), btScalar(0.5), btScalar(-9.81)));
    } else if (strcmp(feature, "ball") == 0) { // one contact: nothing for a pivoting solver to stumble over
        add(new btSphereShape(btScalar(0.1)), 1.0, 0, 0.0995)->setActivationState(DISABLE_DEACTIVATION);
        world->setGravity(btVector3(btScalar(1.5), btScalar(0.5), btScalar(-9.81)));
    } else if (strcmp(feature, "slide") == 0) {
        info.m_solverMode &= ~SOLVER_USE_2_FRICTION_DIRECTIONS; // as by default
        add_box(0, 0.0495, 2.0, 0.3)->setLinearVelocity(btVector3(1, btScalar(0.3), 0));
    } else if (strcmp(feature, "bounce") == 0) {
        auto box = add_box(0, 0.06, 1.0, 0.0);
        box->setRestitution(btScalar(0.5));
        ground->setRestitution(1);
        box->setLinearVelocity(btVector3(0, 0, btScalar(-1.5)));
    } else if (strcmp(feature, "split") == 0) { // deep enough for Bullet to push it out without velocity
        add_box(0, 0.005, 1.0);
    } else if (strcmp(feature, "soft") == 0) {
        auto box = add_box(0, 0.049, 1.0);
        box->setContactStiffnessAndDamping(btScalar(2000), btScalar(30));
    } else if (strcmp(feature, "kinematic") == 0) {
        auto platform = add_box(0, 0.2, 0.0);
        platform->setCollisionFlags(platform->getCollisionFlags() | btCollisionObject::CF_KINEMATIC_OBJECT);
        platform->setLinearVelocity(btVector3(btScalar(0.1), btScalar(0.05), btScalar(0.02)));
        platform->setAngularVelocity(btVector3(0, 0, btScalar(0.3)));
        add_box(0.02, 0.2995, 1.0);
    } else if (strcmp(feature, "hinge") == 0) { // free, driven, at a stop; and a slider
        hang(add_box(0.2, 1.0, 1.0), -0.2);
        hang(add_box(1.2, 1.0, 1.0), -0.2)->enableAngularMotor(true, 1, btScalar(0.02));
        hang(add_box(2.2, 1.0, 1.0), -0.2)->setLimit(btScalar(-0.02), btScalar(0.02));
        auto sliding = add_box(3.2, 1.0, 1.0);
        auto slider = new btSliderConstraint(
            *sliding, btTransform(btQuaternion(btVector3(0, 1, 0), btScalar(0.5))), true);
        slider->setLowerLinLimit(btScalar(-0.01));
        slider->setUpperLinLimit(btScalar(0.01));
        world->addConstraint(slider);
    } else if (strcmp(feature, "spin") == 0) { // gyroscopic torque, damping, a load
        auto top = add_box(0, 1.0, 1.0);
        top->setAngularVelocity(btVector3(3, 5, 4));
        top->setDamping(btScalar(0.2), btScalar(0.3));
        top->applyTorque(btVector3(btScalar(0.1), btScalar(0.2), btScalar(0.3)));
    } else if (strcmp(feature, "sleep") == 0) {
        auto lazy = add_box(0, 0.05, 1.0);
        lazy->forceActivationState(ISLAND_SLEEPING);
        add_box(1.0, 0.5, 1.0);
    } else if (strcmp(feature, "rolling") == 0) {
        auto ball = add(new btSphereShape(btScalar(0.1)), 1.0, 0, 0.0999);
        ball->setRollingFriction(btScalar(0.05));
        ball->setSpinningFriction(btScalar(0.05));
        ground->setRollingFriction(1);
        ground->setSpinningFriction(1);
        ball->setLinearVelocity(btVector3(1, 0, 0));
        ball->setAngularVelocity(btVector3(0, 10, 3));
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btDantzigSolver dantzig;
    btLemkeSolver lemke;
    bool pivots = strcmp(argv[2], "si") != 0;
    btMLCPSolverInterface *method = &dantzig;
    if (strcmp(argv[2], "lemke") == 0) method = &lemke;
    ss_bullet_recorded<btSequentialImpulseConstraintSolver> sweeps;
    ss_bullet_recorded<btMLCPSolver> mlcp(method);
    btConstraintSolver *solver = pivots ? static_cast<btConstraintSolver *>(&mlcp) : &sweeps;
    world = new btDiscreteDynamicsWorld(&dispatcher, &broadphase, solver, &configuration);
    world->setGravity(btVector3(0, 0, btScalar(-9.81)));
    if (pivots) world->getSolverInfo().m_minimumSolverBatchSize = 1;
    ss_error err = {};
    ss_bullet_recorder *recorder = build(argv[1]) ? ss_bullet_recorder_open(argv[3], &err) : nullptr;
    if (!recorder) {
        fprintf(stderr, "%s: %s\n", argv[1], err.message);
        return 1;
    }
    sweeps.record(recorder, world);
    mlcp.record(recorder, world);
    int steps = argc > 4 ? atoi(argv[4]) : 12;
    for (int k = 0; k < steps; k++) world->stepSimulation(btScalar(0.01), 1, btScalar(0.01));
    printf("%d fallbacks\n%s", mlcp.getNumFallbacks(), ss_bullet_recorder_notes(recorder));
    fprintf(stderr, "%s", ss_bullet_recorder_error(recorder));
    if (!ss_bullet_recorder_close(recorder, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return 0; // the world goes with the program
}
