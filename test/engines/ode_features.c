/* One small ODE world for each thing that the recorder has to see as ODE does it, recorded by calls
 * (stickslip_ode.h): ode_features FEATURE step|quick OUT.h5 [STEPS]. Used by test_record_ode.py. */
#include <stickslip_ode.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dWorldID world;
static dSpaceID space;
static dJointGroupID touching;
static dSurfaceParameters surface;
static dVector3 first_direction = {0.6, 0.8, 0, 0};

static void collide(void *data, dGeomID a, dGeomID b)
{
    (void)data;
    dBodyID one = dGeomGetBody(a), two = dGeomGetBody(b);
    if (one && two && dAreConnectedExcluding(one, two, dJointTypeContact)) return;
    dContact contact[8];
    memset(contact, 0, sizeof contact);
    int count = dCollide(a, b, 8, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; i++) {
        contact[i].surface = surface;
        memcpy(contact[i].fdir1, first_direction, sizeof first_direction);
        dJointAttach(dJointCreateContact(world, touching, &contact[i]), one, two);
    }
}

static dBodyID add_box(double x, double z, double kg)
{
    dMass mass;
    dMassSetBoxTotal(&mass, kg, 0.3, 0.2, 0.1);
    dBodyID body = dBodyCreate(world);
    dBodySetMass(body, &mass);
    dGeomSetBody(dCreateBox(space, 0.3, 0.2, 0.1), body);
    dBodySetPosition(body, x, 0, z);
    return body;
}

static dJointID add_hinge(dBodyID a, dBodyID b, double x, double z)
{
    dJointID hinge = dJointCreateHinge(world, NULL);
    dJointAttach(hinge, a, b);
    dJointSetHingeAnchor(hinge, x, 0, z);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    return hinge;
}

static bool build(const char *feature)
{
    dBodyID box = add_box(0, 0.0495, 2.0);
    surface.mode = dContactApprox1;
    surface.mu = dInfinity;
    if (strcmp(feature, "stick") == 0) {
        add_box(0.05, 0.1493, 1.0);
        surface.mu = 1.0;
        dWorldSetGravity(world, 1.5, 0.5, -9.81);
    } else if (strcmp(feature, "constant") == 0) { // at most 3 N along each tangent of each point
        surface.mode = 0;
        surface.mu = 3.0;
        dBodySetLinearVel(box, 1.0, 0.3, 0.0);
        dBodySetAngularVel(box, 0.0, 0.0, 2.0);
    } else if (strcmp(feature, "slide") == 0) {
        surface.mu = 0.3;
        dBodySetLinearVel(box, 1.0, 0.3, 0.0);
    } else if (strcmp(feature, "bounce") == 0) {
        surface.mode |= dContactBounce;
        surface.mu = 0.0;
        surface.bounce = 0.5;
        surface.bounce_vel = 0.1;
        dBodySetPosition(box, 0, 0, 0.06);
        dBodySetLinearVel(box, 0.1, 0, -1.5);
    } else if (strcmp(feature, "soft") == 0) { // its own ERP and CFM, a layer, a limited correction
        surface.mode |= dContactSoftERP | dContactSoftCFM;
        surface.soft_erp = 0.35;
        surface.soft_cfm = 1e-4;
        dWorldSetContactSurfaceLayer(world, 2e-4);
        dWorldSetContactMaxCorrectingVel(world, 0.01);
    } else if (strcmp(feature, "belt") == 0) { // tangents of its own, a moving surface
        surface.mode |= dContactFDir1 | dContactMu2 | dContactMotion1 | dContactMotion2 | dContactMotionN;
        surface.mu2 = dInfinity;
        surface.motion1 = 0.2;
        surface.motion2 = -0.1;
        surface.motionN = 0.001;
    } else if (strcmp(feature, "kinematic") == 0) { // a moving platform, and a bar on a hinge at another one
        dBodyDestroy(box);
        dBodyID platform = add_box(0, 0.2, 5.0), bearer = add_box(1.0, 0.8, 1.0);
        add_box(0.02, 0.2995, 1.0);
        dBodySetKinematic(platform);
        dBodySetKinematic(bearer);
        dBodySetLinearVel(platform, 0.1, 0.05, 0.02);
        dBodySetAngularVel(platform, 0, 0, 0.3);
        dBodySetLinearVel(bearer, 0.0, 0.0, 0.3);
        add_hinge(add_box(1.4, 0.8, 1.0), bearer, 1.2, 0.8);
    } else if (strcmp(feature, "motor") == 0) { // one turns, one pushes against its stop, one away from it
        for (int i = 0; i < 3; i++) {
            dJointID hinge = add_hinge(add_box(0.2 + i, 1.0, 1.0), NULL, i, 1.0);
            dJointSetHingeParam(hinge, dParamFMax, i ? 4.0 : 0.5);
            dJointSetHingeParam(hinge, dParamVel, i == 2 ? -1.0 : 1.0);
            dJointSetHingeParam(hinge, dParamLoStop, i ? 0.02 : -2.0);
            dJointSetHingeParam(hinge, dParamHiStop, 2.0);
            dJointSetHingeParam(hinge, dParamStopERP, 0.5);
            dJointSetHingeParam(hinge, dParamBounce, i == 2 ? 0.4 : 0.0);
        }
        dJointID slider = dJointCreateSlider(world, NULL);
        dJointAttach(slider, NULL, add_box(3.0, 1.0, 1.0)); // the world first
        dJointSetSliderAxis(slider, 0.6, 0, 0.8);
        dJointSetSliderParam(slider, dParamHiStop, 0.01);
        dJointSetSliderParam(slider, dParamLoStop, -0.01);
        dJointSetSliderParam(slider, dParamStopCFM, 1e-5);
    } else if (strcmp(feature, "damping") == 0) { // what ODE does to velocities after solving
        dBodySetLinearDamping(box, 0.05);
        dBodySetAngularDamping(box, 0.1);
        dBodySetPosition(box, 0, 0, 1.0);
        dBodySetAngularVel(box, 3.0, 5.0, 4.0);
        dBodyID top = add_box(1.0, 1.0, 1.0);
        dBodySetMaxAngularSpeed(top, 2.0);
        dBodySetAngularVel(top, 1.0, 0.5, 9.0);
        dBodyAddTorque(top, 0.1, 0.2, 0.3);
        dBodySetGravityMode(top, 0);
    } else if (strcmp(feature, "sleep") == 0) { // one falls asleep, and is woken by another one
        dWorldSetAutoDisableFlag(world, 1);
        dWorldSetAutoDisableSteps(world, 3);
        dBodySetAutoDisableFlag(box, 1);
        dBodySetAutoDisableDefaults(box);
        dBodySetPosition(add_box(0.0, 0.35, 1.0), 0, 0, 0.35);
        dBodySetPosition(add_box(2.0, 0.0495, 1.0), 2.0, 0, 0.0495);
    } else if (strcmp(feature, "rolling") == 0) {
        surface.mode |= dContactRolling;
        surface.mu = 0.5;
        surface.rho = 0.01;
        dMass mass;
        dMassSetSphereTotal(&mass, 1.0, 0.1);
        dBodyID ball = dBodyCreate(world);
        dBodySetMass(ball, &mass);
        dGeomSetBody(dCreateSphere(space, 0.1), ball);
        dBodySetPosition(ball, 1.0, 0, 0.0999);
        dBodySetLinearVel(ball, 1.0, 0, 0);
        dBodySetAngularVel(ball, 0, 10.0, 3.0);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    bool quick = strcmp(argv[2], "quick") == 0;
    int steps = argc > 4 ? atoi(argv[4]) : 30;
    dInitODE();
    world = dWorldCreate();
    space = dHashSpaceCreate(NULL);
    touching = dJointGroupCreate(0);
    dWorldSetGravity(world, 0, 0, -9.81);
    dCreatePlane(space, 0, 0, 1, 0);
    ss_error err = {0};
    ss_ode_recorder *recorder = build(argv[1]) ? ss_ode_recorder_open(argv[3], &err) : NULL;
    if (!recorder) {
        fprintf(stderr, "%s: %s\n", argv[1], err.message);
        return 1;
    }
    for (int k = 0; k < steps; k++) {
        dSpaceCollide(space, NULL, collide);
        if (!ss_ode_before_step(recorder, world, 0.01, quick ? SS_ODE_QUICKSTEP : SS_ODE_STEP))
            fprintf(stderr, "%s\n", ss_ode_recorder_error(recorder));
        if (quick)
            dWorldQuickStep(world, 0.01);
        else
            dWorldStep(world, 0.01);
        if (!ss_ode_after_step(recorder))
            fprintf(stderr, "step %d: %s\n", k, ss_ode_recorder_error(recorder));
        dJointGroupEmpty(touching);
    }
    printf("%s", ss_ode_recorder_notes(recorder));
    if (!ss_ode_recorder_close(recorder, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}
