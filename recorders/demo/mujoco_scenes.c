/* A MuJoCo program like many others. It knows nothing of stickslip; docs/recording.md records it.
 *
 *     demo_mujoco_scenes SCENE [STEPS] [newton|cg|pgs] [pyramidal|elliptic]
 *     scenes: stack|vehicle|grasp|wall|column|slide|press
 *
 * stack: boxes on a table, and a chain of hinges that swings into them. vehicle: four wheels on motors drive
 * into a pile. grasp: two fingers on sliders pick up a box. wall: bricks, for measuring. Prints a number made
 * of the state at the end, so that two runs can be compared.
 */
#include "step_time.h"

#include <mujoco/mujoco.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char xml[1 << 17];

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    size_t used = strlen(xml);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(xml + used, sizeof xml - used, format, arguments);
    va_end(arguments);
}

static void put_box(double lx, double ly, double lz, double kg, double x, double y, double z)
{
    put("<body pos='%g %g %g'><freejoint/><geom type='box' size='%g %g %g' mass='%g'/></body>", x, y, z,
        lx / 2, ly / 2, lz / 2, kg);
}

static void put_stack(void)
{
    for (int i = 0; i < 6; i++) put_box(0.4, 0.4, 0.2, 2.0, 0.0, 0.0, 0.1 + 0.2 * i);
    for (int i = 0; i < 6; i++)
        put("<body pos='%g 0 %g'><joint type='hinge' axis='0 1 0' range='%g %g' limited='true' "
            "armature='1e-4' damping='1e-3'/>"
            "<geom type='capsule' fromto='-0.04 0 0 -0.16 0 0' size='0.04' mass='0.3'/>",
            i ? -0.2 : -0.5, i ? 0.0 : 1.6, i ? -1.2 : -3.0, i ? 1.2 : 3.0);
    for (int i = 0; i < 6; i++) put("</body>");
}

static void put_vehicle(void)
{
    put("<body pos='0 0 0.35'><freejoint/><geom type='box' size='0.5 0.25 0.1' mass='20'/>");
    for (int i = 0; i < 4; i++)
        put("<body pos='%g %g -0.17'><joint name='wheel%d' type='hinge' axis='0 1 0' frictionloss='0.05'/>"
            "<geom type='cylinder' size='0.18 0.05' zaxis='0 1 0' mass='1.5'/></body>",
            i < 2 ? 0.4 : -0.4, i % 2 ? 0.35 : -0.35, i);
    put("</body>");
    for (int i = 0; i < 3; i++) put_box(0.2, 0.2, 0.2, 0.5, 1.4, 0.0, 0.1 + 0.2 * i);
}

static void put_grasp(void)
{
    put_box(0.1, 0.1, 0.1, 0.5, 0.0, 0.0, 0.05);
    put("<body pos='0 0 0.25'><joint name='palm' type='slide' axis='0 0 1'/>"
        "<geom type='box' size='0.15 0.05 0.025' mass='2'/>");
    for (int i = 0; i < 2; i++)
        put("<body pos='%g 0 -0.12'><joint name='finger%d' type='slide' axis='1 0 0'/>"
            "<geom type='box' size='0.015 0.04 0.075' mass='0.2'/></body>",
            i ? 0.1 : -0.1, i);
    put("</body>");
}

static void put_wall(void)
{
    for (int row = 0; row < 5; row++)
        for (int i = 0; i < 7 - row % 2; i++)
            put_box(0.38, 0.2, 0.2, 3.0, 0.4 * i + 0.2 * (row % 2), 0.0, 0.1 + 0.2 * row);
}

/* The scenes that recorders/node has, too. */
static void put_column(void)
{
    for (int i = 0; i < 6; i++) put_box(0.4, 0.4, 0.2, 4.0, 0.0, 0.0, 0.1 + 0.2 * i);
}

static void put_press(void)
{
    put_box(0.2, 0.2, 0.2, 5.0, 0.0, 0.0, 1.0);
    for (int i = 0; i < 2; i++) put_box(0.05, 0.2, 0.1, 1.0, i ? 0.125 : -0.125, 0.0, 1.0);
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[1] : "stack", *solver = argc > 3 ? argv[3] : "newton",
               *cone = argc > 4 ? argv[4] : "pyramidal";
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    put("<mujoco><size njmax='6000' nconmax='1500'/><option timestep='0.01' solver='%s' cone='%s'/>"
        "<default><geom friction='%g 0.005 0.0001'/></default><worldbody><geom type='plane' size='5 5 1'/>",
        strcmp(solver, "newton") == 0 ? "Newton"
        : strcmp(solver, "cg") == 0   ? "CG"
                                      : "PGS",
        cone,
        strcmp(scene, "press") == 0                                   ? 0.8
        : strcmp(scene, "column") == 0 || strcmp(scene, "slide") == 0 ? 0.5
                                                                      : 0.6);
    if (strcmp(scene, "stack") == 0)
        put_stack();
    else if (strcmp(scene, "vehicle") == 0)
        put_vehicle();
    else if (strcmp(scene, "grasp") == 0)
        put_grasp();
    else if (strcmp(scene, "wall") == 0)
        put_wall();
    else if (strcmp(scene, "column") == 0)
        put_column();
    else if (strcmp(scene, "slide") == 0)
        put_box(0.4, 0.4, 0.2, 4.0, 0.0, 0.0, 0.1);
    else if (strcmp(scene, "press") == 0)
        put_press();
    else {
        fprintf(stderr,
                "usage: %s stack|vehicle|grasp|wall|column|slide|press [STEPS] [newton|cg|pgs] "
                "[pyramidal|elliptic]\n",
                argv[0]);
        return 2;
    }
    put("</worldbody><actuator>");
    for (int i = 0; i < 4 && strcmp(scene, "vehicle") == 0; i++)
        put("<velocity joint='wheel%d' kv='2' ctrllimited='false'/>", i);
    if (strcmp(scene, "grasp") == 0)
        put("<velocity joint='palm' kv='400'/><motor joint='finger0'/><motor joint='finger1'/>");
    put("</actuator></mujoco>");

    static mjVFS files;
    char error[1000] = "";
    mj_defaultVFS(&files);
    mj_makeEmptyFileVFS(&files, "scene.xml", (int)strlen(xml));
    memcpy(files.filedata[0], xml, strlen(xml));
    mjModel *m = mj_loadXML("scene.xml", &files, error, sizeof error);
    if (!m) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    mjData *d = mj_makeData(m);
    if (strcmp(scene, "slide") == 0) d->qvel[0] = 2.0;
    for (int i = 0; i < 2 && strcmp(scene, "press") == 0; i++) { // the fingers carry themselves and the box
        d->xfrc_applied[6 * (2 + i)] = i ? -60.0 : 60.0;
        d->xfrc_applied[6 * (2 + i) + 2] = 34.335;
    }
    double contacts = 0.0;
    for (int k = 0; k < steps; k++) {
        for (int i = 0; i < 4 && strcmp(scene, "vehicle") == 0; i++) d->ctrl[i] = 6.0;
        if (strcmp(scene, "grasp") == 0) {
            d->ctrl[0] = k < 60 ? 0.0 : 0.15;
            d->ctrl[1] = 20.0;
            d->ctrl[2] = -20.0;
        }
        step_time_begin();
        mj_step(m, d);
        step_time_end();
        contacts += d->ncon;
    }
    uint64_t hash = 1469598103934665603u;
    for (int part = 0; part < 2; part++) {
        const unsigned char *bytes = (const void *)(part ? d->qvel : d->qpos);
        size_t size = (size_t)(part ? m->nv : m->nq) * sizeof(mjtNum);
        for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    printf("%s: %d steps, state %016llx\n", scene, steps, (unsigned long long)hash);
    step_time_print(contacts);
    mj_deleteData(d);
    mj_deleteModel(m);
    return 0;
}
