/* MuJoCo: the world as MJCF text, compiled by MuJoCo itself. Its contacts are soft by design, and its joints
 * are coordinates: bodies that joints hold are a tree. */
#define _GNU_SOURCE
#include "peer.h"

#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mujoco_state {
    mjModel *model;
    mjData *data;
    int *of_body; /* MuJoCo's body, -1 = does not move */
    int count;
} mujoco_state;

static void put_geom(FILE *to, const ss_world *world, int k, const double position[3], const double q[4])
{
    static const char *const names[SS_SHAPE_KINDS] = {
        [SS_SPHERE] = "sphere",   [SS_PLANE] = "plane",       [SS_BOX] = "box",
        [SS_CAPSULE] = "capsule", [SS_CYLINDER] = "cylinder", [SS_HULL] = "mesh"};
    const ss_shape *shape = ss_world_shape(world, k);
    const double *s = shape->size;
    double size[3] = {s[0], 0.5 * s[1], 0.0}; // capsule, cylinder: radius and half length
    if (shape->kind == SS_BOX) size[0] = 0.5 * s[0], size[1] = 0.5 * s[1], size[2] = 0.5 * s[2];
    if (shape->kind == SS_PLANE) size[0] = size[1] = 0.0, size[2] = 1.0;
    fprintf(to, "<geom type='%s' ", names[shape->kind]);
    if (shape->kind == SS_HULL)
        fprintf(to, "mesh='m%d' ", k);
    else
        fprintf(to, "size='%.17g %.17g %.17g' ", size[0], size[1], size[2]);
    if (!ss_peer_collides(shape)) fprintf(to, "contype='0' conaffinity='0' ");
    fprintf(to, "pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' friction='%.17g 0 0' condim='3'/>\n",
            position[0], position[1], position[2], q[0], q[1], q[2], q[3], ss_peer_friction(world));
}

/* The joint that holds b to a body before it, and the side on which b is; NULL: b moves freely. */
static const ss_joint *joint_of(const ss_world *world, int b, int *parent)
{
    for (int j = 0; j < ss_world_joint_count(world); j++) {
        const ss_joint *joint = ss_world_joint(world, j);
        if (joint->b != b) continue; // scenes hang each body on one that was there before
        *parent = joint->a;
        return joint;
    }
    *parent = SS_WORLD;
    return NULL;
}

static void put_body(FILE *to, const ss_world *world, int b)
{
    const ss_body *body = ss_world_body(world, b);
    const double *q = body->quaternion, *I = body->inertia, back[4] = {q[0], -q[1], -q[2], -q[3]};
    double place[3], turn[4];
    int parent;
    const ss_joint *joint = joint_of(world, b, &parent);
    memcpy(place, body->position, sizeof place);
    memcpy(turn, q, sizeof turn);
    if (parent != SS_WORLD) {
        const ss_body *p = ss_world_body(world, parent);
        const double inverse[4] = {p->quaternion[0], -p->quaternion[1], -p->quaternion[2], -p->quaternion[3]};
        for (int i = 0; i < 3; i++) place[i] -= p->position[i];
        ss_peer_turn(inverse, place, place);
        ss_peer_multiply(inverse, q, turn);
    }
    fprintf(to, "<body name='b%d' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>\n", b, place[0],
            place[1], place[2], turn[0], turn[1], turn[2], turn[3]);
    if (joint) {
        double anchor[3], axis[3];
        for (int i = 0; i < 3; i++) anchor[i] = joint->anchor[i] - body->position[i];
        ss_peer_turn(back, anchor, anchor);
        ss_peer_turn(back, joint->axis, axis);
        fprintf(to, "<joint type='%s' pos='%.17g %.17g %.17g' axis='%.17g %.17g %.17g'/>\n",
                joint->kind == SS_JOINT_BALL ? "ball" : "hinge", anchor[0], anchor[1], anchor[2], axis[0],
                axis[1], joint->kind == SS_JOINT_BALL ? 1.0 : axis[2]);
    } else {
        fprintf(to, "<freejoint/>\n");
    }
    fprintf(to, "<inertial pos='0 0 0' mass='%.17g' fullinertia='%.17g %.17g %.17g %.17g %.17g %.17g'/>\n",
            body->mass, I[0], I[4], I[8], I[1], I[2], I[5]);
    for (int k = 0; k < ss_world_shape_count(world); k++) {
        const ss_shape *shape = ss_world_shape(world, k);
        if (shape->body == b) put_geom(to, world, k, shape->position, shape->quaternion);
    }
    for (int child = b + 1; ss_world_joint_count(world) > 0 && child < ss_world_body_count(world); child++) {
        if (joint_of(world, child, &parent) && parent == b) put_body(to, world, child);
    }
    fprintf(to, "</body>\n");
}

static void put_meshes(FILE *to, const ss_world *world)
{
    fprintf(to, "<asset>\n");
    for (int k = 0; k < ss_world_shape_count(world); k++) {
        const ss_shape *shape = ss_world_shape(world, k);
        if (shape->kind != SS_HULL) continue;
        fprintf(to, "<mesh name='m%d' vertex='", k);
        for (int i = 0; i < 3 * shape->mesh->vertex_count; i++)
            fprintf(to, "%.9g ", shape->mesh->vertex[i / 3][i % 3]);
        fprintf(to, "'/>\n");
    }
    fprintf(to, "</asset>\n");
}

static void put_world(FILE *to, const ss_world *world, const ss_effort *effort)
{
    const double *g = ss_world_gravity((ss_world *)(uintptr_t)world);
    int bodies = ss_world_body_count(world), spheres = 0;
    fprintf(to, "<mujoco><option timestep='%.17g' gravity='%.17g %.17g %.17g' cone='elliptic'", effort->h,
            g[0], g[1], g[2]);
    if (effort->iterations > 0) fprintf(to, " iterations='%d'", effort->iterations);
    if (effort->tolerance > 0.0) fprintf(to, " tolerance='%.17g'", effort->tolerance);
    if (effort->solver) fprintf(to, " solver='%s'", effort->solver);

    // MuJoCo takes memory for all contacts beforehand, 24 bytes for each pair of them among others: a sphere
    // touches at few points
    for (int k = 0; k < ss_world_shape_count(world); k++)
        spheres += ss_world_shape(world, k)->kind == SS_SPHERE;
    int room = 100 + 4 * spheres + 12 * (bodies - spheres);
    fprintf(to, "/><size njmax='%d' nconmax='%d'/>\n", 3 * room, room);
    put_meshes(to, world);
    fprintf(to, "<worldbody>\n");
    for (int k = 0; k < ss_world_shape_count(world); k++) {
        const ss_shape *shape = ss_world_shape(world, k);
        bool fixed = shape->body == SS_WORLD || ss_world_body(world, shape->body)->kind != SS_DYNAMIC;
        double position[3], quaternion[4];
        ss_peer_place(world, shape, position, quaternion);
        if (fixed) put_geom(to, world, k, position, quaternion);
    }
    for (int b = 0; b < bodies; b++) {
        int parent;
        joint_of(world, b, &parent);
        if (ss_world_body(world, b)->kind == SS_DYNAMIC && parent == SS_WORLD) put_body(to, world, b);
    }
    fprintf(to, "</worldbody></mujoco>\n");
}

/* MuJoCo's errors end the program unless its handler jumps elsewhere: it has to where memory is short. */
static jmp_buf failed;
static char message[200];
static void fail(const char *text)
{
    snprintf(message, sizeof message, "%s", text);
    longjmp(failed, 1);
}
static void be_quiet(const char *text)
{
    (void)text;
}

static mjModel *compile(const ss_world *world, const ss_effort *effort, char why[200])
{
    char *text = NULL, error[1000] = "";
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    put_world(to, world, effort);
    fclose(to);
    mjVFS *files = malloc(sizeof *files);
    mj_defaultVFS(files);
    mj_makeEmptyFileVFS(files, "world.xml", (int)size);
    memcpy(files->filedata[0], text, size);
    mjModel *model = mj_loadXML("world.xml", files, error, sizeof error);
    if (!model) snprintf(why, 200, "%.199s", error);
    mj_deleteVFS(files);
    free(files);
    free(text);
    return model;
}

static void *create(const ss_world *world, const ss_effort *effort, char why[200])
{
    mju_user_error = fail;
    mju_user_warning = be_quiet;
    if (!ss_peer_is_simple(world, why)) return NULL;
    if (effort->threads > 1) {
        snprintf(why, 200, "a step of MuJoCo %s has no threads", mj_versionString());
        return NULL;
    }
    if (setjmp(failed)) { // what it had taken is lost, but so is the process soon
        snprintf(why, 200, "%s", message);
        return NULL;
    }
    mjModel *model = compile(world, effort, why);
    if (!model) return NULL;
    mujoco_state *s = calloc(1, sizeof *s);
    *s = (mujoco_state){model, mj_makeData(model), NULL, ss_world_body_count(world)};
    s->of_body = calloc((size_t)s->count + 1, sizeof *s->of_body);
    for (int b = 0; b < s->count; b++) {
        char name[32];
        snprintf(name, sizeof name, "b%d", b);
        s->of_body[b] = mj_name2id(model, mjOBJ_BODY, name);
    }
    return s;
}

static void step(void *state)
{
    mujoco_state *s = state;
    mj_step(s->model, s->data);
}

/* A step leaves positions of its start behind: those of its end are computed first. */
static void read_back(void *state, ss_world *world)
{
    mujoco_state *s = state;
    mj_kinematics(s->model, s->data);
    mj_comPos(s->model, s->data);
    mj_comVel(s->model, s->data);
    for (int b = 0; b < s->count; b++) {
        if (s->of_body[b] < 0) continue;
        ss_body *body = ss_world_body(world, b);
        mjtNum v[6]; // angular, linear
        mj_objectVelocity(s->model, s->data, mjOBJ_BODY, s->of_body[b], v, 0);
        memcpy(body->velocity, v + 3, 3 * sizeof *v);
        memcpy(body->velocity + 3, v, 3 * sizeof *v);
        memcpy(body->position, s->data->xpos + 3 * s->of_body[b], sizeof body->position);
        memcpy(body->quaternion, s->data->xquat + 4 * s->of_body[b], sizeof body->quaternion);
    }
}

static const char *complaint(void *state)
{
    const mujoco_state *s = state;
    if (s->data->warning[mjWARN_CONTACTFULL].number > 0 || s->data->warning[mjWARN_CNSTRFULL].number > 0)
        return "contacts were dropped: out of the memory that was given";
    if (s->data->warning[mjWARN_BADQACC].number > 0 || s->data->warning[mjWARN_BADQPOS].number > 0)
        return "started again from the beginning after numbers that are not finite";
    return "";
}

static void destroy(void *state)
{
    mujoco_state *s = state;
    mj_deleteData(s->data);
    mj_deleteModel(s->model);
    free(s->of_body);
    free(s);
}

static const char *version(void)
{
    return mj_versionString();
}

const ss_peer ss_peer_mujoco = {"MuJoCo", version, create, step, read_back, complaint, destroy};
