/* An ODE program like many others. It knows nothing of stickslip; docs/recording.md records it.
 *
 *     demo_ode_scenes stack|vehicle|grasp|wall|column|slide|press [STEPS] [step|quick [ITERATIONS]]
 *
 * stack: boxes on a table, and a chain of hinges that swings into them. vehicle: four wheels on motors and
 * suspensions drive over a bump. grasp: two fingers on sliders pick up a box. wall: bricks, for measuring.
 * column: six boxes at rest. slide: a box that slides. press: two fingers that are pushed carry a box.
 * Prints a number made of all positions and velocities at the end, so that two runs can be compared.
 */
#include "step_time.h"

#include <ode/ode.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };
static dWorldID world;
static dSpaceID space;
static dJointGroupID touching;
static dBodyID bodies[MOST];
static int body_count, contact_count;
static double friction = 0.6;

static void collide(void *data, dGeomID a, dGeomID b)
{
    (void)data;
    dBodyID one = dGeomGetBody(a), two = dGeomGetBody(b);
    if (one && two && dAreConnectedExcluding(one, two, dJointTypeContact)) return;
    dContact contact[8];
    int count = dCollide(a, b, 8, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; i++) {
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = friction;
        dJointAttach(dJointCreateContact(world, touching, &contact[i]), one, two);
    }
    contact_count += count;
}

static dBodyID add(dGeomID geom, const dMass *mass, double x, double y, double z)
{
    dBodyID body = dBodyCreate(world);
    dBodySetMass(body, mass);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, x, y, z);
    if (body_count == MOST) exit(2);
    return bodies[body_count++] = body;
}

static dBodyID add_box(double lx, double ly, double lz, double kg, double x, double y, double z)
{
    dMass mass;
    dMassSetBoxTotal(&mass, kg, lx, ly, lz);
    return add(dCreateBox(space, lx, ly, lz), &mass, x, y, z);
}

static void build_stack(void)
{
    for (int i = 0; i < 6; i++) add_box(0.4, 0.4, 0.2, 2.0, 0.0, 0.0, 0.1 + 0.2 * i);
    dBodyID last = NULL;
    for (int i = 0; i < 6; i++) {
        dMass mass;
        dMassSetCapsuleTotal(&mass, 0.3, 1, 0.04, 0.16);
        double x = -0.6 - 0.2 * i;
        dBodyID link = add(dCreateCapsule(space, 0.04, 0.12), &mass, x, 0.0, 1.6);
        dMatrix3 lie;
        dRFromAxisAndAngle(lie, 0, 1, 0, M_PI / 2);
        dBodySetRotation(link, lie);
        dJointID hinge = dJointCreateHinge(world, NULL);
        dJointAttach(hinge, link, last);
        dJointSetHingeAnchor(hinge, x + 0.1, 0.0, 1.6);
        dJointSetHingeAxis(hinge, 0, 1, 0);
        dJointSetHingeParam(hinge, dParamLoStop, -1.2);
        dJointSetHingeParam(hinge, dParamHiStop, i ? 1.2 : 3.0);
        last = link;
    }
}

static void build_vehicle(void)
{
    friction = 0.9;
    dBodyID chassis = add_box(1.0, 0.5, 0.2, 20.0, 0.0, 0.0, 0.45);
    for (int i = 0; i < 4; i++) {
        dMass mass;
        dMassSetSphereTotal(&mass, 1.5, 0.18);
        double x = i < 2 ? 0.4 : -0.4, y = i % 2 ? 0.35 : -0.35;
        dBodyID wheel = add(dCreateSphere(space, 0.18), &mass, x, y, 0.18);
        dJointID joint = dJointCreateHinge2(world, NULL);
        dJointAttach(joint, chassis, wheel);
        dJointSetHinge2Anchor(joint, x, y, 0.18);
        const dVector3 up = {0, 0, 1, 0}, across = {0, 1, 0, 0};
        dJointSetHinge2Axes(joint, up, across);
        dJointSetHinge2Param(joint, dParamLoStop, 0.0);
        dJointSetHinge2Param(joint, dParamHiStop, 0.0);
        dJointSetHinge2Param(joint, dParamSuspensionERP, 0.4);
        dJointSetHinge2Param(joint, dParamSuspensionCFM, 1e-3);
        dJointSetHinge2Param(joint, dParamVel2, 6.0);
        dJointSetHinge2Param(joint, dParamFMax2, 12.0);
    }
    dGeomID bump = dCreateCylinder(space, 0.15, 2.0);
    dMatrix3 lie;
    dRFromAxisAndAngle(lie, 1, 0, 0, M_PI / 2);
    dGeomSetPosition(bump, 1.4, 0.0, -0.08);
    dGeomSetRotation(bump, lie);
    for (int i = 0; i < 3; i++) add_box(0.2, 0.2, 0.2, 0.5, 2.6, 0.0, 0.1 + 0.2 * i);
}

static dJointID palm, finger[2];

static void build_grasp(void)
{
    friction = 0.8;
    add_box(0.1, 0.1, 0.1, 0.5, 0.0, 0.0, 0.05);
    dBodyID hand = add_box(0.3, 0.1, 0.05, 2.0, 0.0, 0.0, 0.25);
    palm = dJointCreateSlider(world, NULL);
    dJointAttach(palm, hand, NULL);
    dJointSetSliderAxis(palm, 0, 0, 1);
    dJointSetSliderParam(palm, dParamFMax, 200.0);
    for (int i = 0; i < 2; i++) {
        double side = i ? 1.0 : -1.0;
        dBodyID body = add_box(0.03, 0.08, 0.15, 0.2, 0.1 * side, 0.0, 0.13);
        finger[i] = dJointCreateSlider(world, NULL);
        dJointAttach(finger[i], body, hand);
        dJointSetSliderAxis(finger[i], side, 0, 0);
        dJointSetSliderParam(finger[i], dParamVel, -0.2);
        dJointSetSliderParam(finger[i], dParamFMax, 20.0);
    }
}

/* The scenes that recorders/node has, too. */
static void build_column(void)
{
    friction = 0.5;
    for (int i = 0; i < 6; i++) add_box(0.4, 0.4, 0.2, 4.0, 0.0, 0.0, 0.1 + 0.2 * i);
}

static void build_slide(void)
{
    friction = 0.5;
    dBodySetLinearVel(add_box(0.4, 0.4, 0.2, 4.0, 0.0, 0.0, 0.1), 2.0, 0.0, 0.0);
}

static dBodyID pressing[2];

static void build_press(void)
{
    friction = 0.8;
    add_box(0.2, 0.2, 0.2, 5.0, 0.0, 0.0, 1.0);
    for (int i = 0; i < 2; i++) pressing[i] = add_box(0.05, 0.2, 0.1, 1.0, i ? 0.125 : -0.125, 0.0, 1.0);
}

static void build_wall(void)
{
    for (int row = 0; row < 5; row++)
        for (int i = 0; i < 7 - row % 2; i++)
            add_box(0.38, 0.2, 0.2, 3.0, 0.4 * i + 0.2 * (row % 2), 0.0, 0.1 + 0.2 * row);
}

static uint64_t hash_of_state(void)
{
    uint64_t hash = 1469598103934665603u;
    for (int b = 0; b < body_count; b++) {
        const double *parts[4] = {dBodyGetPosition(bodies[b]), dBodyGetQuaternion(bodies[b]),
                                  dBodyGetLinearVel(bodies[b]), dBodyGetAngularVel(bodies[b])};
        for (int p = 0; p < 4; p++) {
            unsigned char bytes[4 * sizeof(double)];
            size_t size = (p == 1 ? 4 : 3) * sizeof(double);
            memcpy(bytes, parts[p], size);
            for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
        }
    }
    return hash;
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[1] : "stack";
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    bool quick = argc > 3 && strcmp(argv[3], "quick") == 0;
    dInitODE();
    world = dWorldCreate();
    space = dHashSpaceCreate(NULL);
    touching = dJointGroupCreate(0);
    dWorldSetGravity(world, 0, 0, -9.81);
    if (argc > 4) dWorldSetQuickStepNumIterations(world, atoi(argv[4]));
    dCreatePlane(space, 0, 0, 1, 0);
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
        fprintf(stderr, "usage: %s stack|vehicle|grasp|wall|column|slide|press [STEPS] [step|quick]\n",
                argv[0]);
        return 2;
    }
    double contacts = 0.0;
    for (int k = 0; k < steps; k++) {
        if (palm) dJointSetSliderParam(palm, dParamVel, k < 60 ? 0.0 : 0.15);
        for (int i = 0; i < 2; i++) // the fingers carry themselves and the box
            if (pressing[i]) dBodyAddForce(pressing[i], i ? -60.0 : 60.0, 0.0, 34.335);
        step_time_begin();
        contact_count = 0;
        dSpaceCollide(space, NULL, collide);
        if (quick)
            dWorldQuickStep(world, 0.01);
        else
            dWorldStep(world, 0.01);
        dJointGroupEmpty(touching);
        step_time_end();
        contacts += contact_count;
    }
    printf("%s: %d steps, state %016llx\n", scene, steps, (unsigned long long)hash_of_state());
    step_time_print(contacts);
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}
