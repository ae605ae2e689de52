/* MuJoCo: the world as MJCF text, compiled by MuJoCo itself. Its contacts are soft by design. */
#define _GNU_SOURCE
#include "peer.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mujoco_state {
    mjModel *model;
    mjData *data;
    int *of_body; /* MuJoCo's body, -1 = does not move */
    int count;
} mujoco_state;

static void put_geom(FILE *to, const ss_shape *shape, const double position[3], const double q[4], double mu)
{
    static const char *const names[SS_SHAPE_KINDS] = {[SS_SPHERE] = "sphere",
                                                      [SS_PLANE] = "plane",
                                                      [SS_BOX] = "box",
                                                      [SS_CAPSULE] = "capsule",
                                                      [SS_CYLINDER] = "cylinder"};
    const double *s = shape->size;
    double size[3] = {s[0], 0.5 * s[1], 0.0}; // capsule, cylinder: radius and half length
    if (shape->kind == SS_BOX) size[0] = 0.5 * s[0], size[1] = 0.5 * s[1], size[2] = 0.5 * s[2];
    if (shape->kind == SS_PLANE) size[0] = size[1] = 0.0, size[2] = 1.0;
    fprintf(to,
            "<geom type='%s' size='%.17g %.17g %.17g' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' "
            "friction='%.17g 0 0' condim='3'/>\n",
            names[shape->kind], size[0], size[1], size[2], position[0], position[1], position[2], q[0], q[1],
            q[2], q[3], mu);
}

static void put_body(FILE *to, const ss_world *world, int b, double mu)
{
    const ss_body *body = ss_world_body(world, b);
    const double *x = body->position, *q = body->quaternion, *I = body->inertia;
    fprintf(to, "<body name='b%d' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'><freejoint/>\n", b,
            x[0], x[1], x[2], q[0], q[1], q[2], q[3]);
    fprintf(to, "<inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>\n", body->mass, I[0],
            I[4], I[8]);
    for (int k = 0; k < ss_world_shape_count(world); k++) {
        const ss_shape *shape = ss_world_shape(world, k);
        if (shape->body == b) put_geom(to, shape, shape->position, shape->quaternion, mu);
    }
    fprintf(to, "</body>\n");
}

static void put_world(FILE *to, const ss_world *world, double h, int iterations)
{
    const double *g = ss_world_gravity((ss_world *)(uintptr_t)world);
    double mu = ss_peer_friction(world);
    fprintf(to, "<mujoco><option timestep='%.17g' gravity='%.17g %.17g %.17g' cone='elliptic'", h, g[0], g[1],
            g[2]);
    if (iterations > 0) fprintf(to, " iterations='%d'", iterations);
    // contacts; MuJoCo takes memory for all of them beforehand
    int room = 20 * (ss_world_body_count(world) + 10);
    fprintf(to, "/><size njmax='%d' nconmax='%d'/><worldbody>\n", 3 * room, room);
    for (int k = 0; k < ss_world_shape_count(world); k++) {
        const ss_shape *shape = ss_world_shape(world, k);
        bool fixed = shape->body == SS_WORLD || ss_world_body(world, shape->body)->kind != SS_DYNAMIC;
        double position[3], quaternion[4];
        ss_peer_place(world, shape, position, quaternion);
        if (fixed) put_geom(to, shape, position, quaternion, mu);
    }
    for (int b = 0; b < ss_world_body_count(world); b++) {
        if (ss_world_body(world, b)->kind == SS_DYNAMIC) put_body(to, world, b, mu);
    }
    fprintf(to, "</worldbody></mujoco>\n");
}

static mjModel *compile(const ss_world *world, double h, int iterations)
{
    char *text = NULL, error[1000] = "";
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    put_world(to, world, h, iterations);
    fclose(to);
    mjVFS *files = malloc(sizeof *files);
    mj_defaultVFS(files);
    mj_makeEmptyFileVFS(files, "world.xml", (int)size);
    memcpy(files->filedata[0], text, size);
    mjModel *model = mj_loadXML("world.xml", files, error, sizeof error);
    if (!model) fprintf(stderr, "MuJoCo: %s\n", error);
    mj_deleteVFS(files);
    free(files);
    free(text);
    return model;
}

static void *create(const ss_world *world, double h, int iterations)
{
    mjModel *model = ss_peer_is_simple(world) ? compile(world, h, iterations) : NULL;
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

static void read_back(void *state, ss_world *world)
{
    mujoco_state *s = state;
    for (int b = 0; b < s->count; b++) {
        if (s->of_body[b] < 0) continue;
        ss_body *body = ss_world_body(world, b);
        int joint = s->model->body_jntadr[s->of_body[b]];
        const mjtNum *q = s->data->qpos + s->model->jnt_qposadr[joint],
                     *v = s->data->qvel + s->model->jnt_dofadr[joint];
        mjtNum turn[3], local[3] = {v[3], v[4], v[5]}; // angular velocity is in the body's frame
        mju_rotVecQuat(turn, local, q + 3);
        for (int i = 0; i < 3; i++) {
            body->position[i] = q[i];
            body->velocity[i] = v[i];
            body->velocity[3 + i] = turn[i];
        }
        for (int i = 0; i < 4; i++) body->quaternion[i] = q[3 + i];
    }
}

static void destroy(void *state)
{
    mujoco_state *s = state;
    mj_deleteData(s->data);
    mj_deleteModel(s->model);
    free(s->of_body);
    free(s);
}

const ss_peer ss_peer_mujoco = {"MuJoCo", create, step, read_back, destroy};
