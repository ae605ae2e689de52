/* Shapes and moving scenery in files: what is written comes back, whatever it is, and what makes no
 * sense is refused. */
#define _GNU_SOURCE
#include "kit.h"
#include "faults.h"
#include "scratch.h"
#include "worlds.h"

#include <stickslip/recorder.h>

#include "report/replay.h"

/* ---- helpers --------------------------------------------------------------------------------------- */

static const double heights[6] = {0, 0.5, -1, 2, 3, 4};

/* A shape of every kind; hull and mesh have equal meshes of their own. */
static void every_kind(const ss_mesh *hull, const ss_mesh *mesh, ss_stored_shape shapes[SS_SHAPE_KINDS])
{
    for (int k = 0; k < SS_SHAPE_KINDS; k++) {
        shapes[k] = (ss_stored_shape){.shape = {.kind = (ss_shape_kind)k,
                                                .size = {0.1 * k + 0.1, 0.2, 1.0 / 3},
                                                .position = {k, -k, 0.1},
                                                .quaternion = {0.6, 0, -0.8, 0},
                                                .colour = 0x102030u + (uint32_t)k,
                                                .ghost = k % 2 == 1},
                                      .id = k % 3 == 0 ? k + 1 : 0,
                                      .scenery = k % 3 == 1 ? k / 3 : -1};
    }
    shapes[SS_HULL].shape.mesh = hull;
    shapes[SS_MESH].shape.mesh = mesh;
    ss_shape *field = &shapes[SS_HEIGHTFIELD].shape;
    field->heights = heights;
    field->nx = 3;
    field->ny = 2;
}

static bool same_mesh(const ss_mesh *a, const ss_mesh *b)
{
    return a && b && a->vertex_count == b->vertex_count && a->face_count == b->face_count &&
           memcmp(a->vertex, b->vertex, (size_t)a->vertex_count * sizeof *a->vertex) == 0 &&
           memcmp(a->face, b->face, (size_t)a->face_count * sizeof *a->face) == 0;
}

static bool same_shape(const ss_stored_shape *stored, const ss_stored_shape *back)
{
    const ss_shape *a = &stored->shape, *b = &back->shape;
    bool field = a->kind == SS_HEIGHTFIELD, meshed = a->kind == SS_HULL || a->kind == SS_MESH;
    return stored->id == back->id && stored->scenery == back->scenery && a->kind == b->kind &&
           a->colour == b->colour && a->ghost == b->ghost && memcmp(a->size, b->size, sizeof a->size) == 0 &&
           memcmp(a->position, b->position, sizeof a->position) == 0 &&
           memcmp(a->quaternion, b->quaternion, sizeof a->quaternion) == 0 &&
           (!meshed || same_mesh(a->mesh, b->mesh)) &&
           (!field || (b->nx == a->nx && b->ny == a->ny && memcmp(b->heights, heights, sizeof heights) == 0));
}

static bool write_shapes(const char *path, const ss_stored_shape *shapes, int count, ss_layout layout,
                         ss_error *err)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 0, err);
    if (!frame) return false;
    frame->bodies.mass[0] = 1;
    ss_writer *writer = ss_writer_open(path, layout, false, err);
    bool good = writer && ss_writer_simulation(writer, NULL, err) &&
                ss_writer_shapes(writer, shapes, count, err) && ss_writer_frame(writer, frame, err);
    ss_frame_destroy(frame);
    if (good) return ss_writer_close(writer, err);
    ss_writer_discard(writer);
    return false;
}

static bool read_shapes(const char *path, ss_shapes *shapes, ss_error *err)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, err);
    ss_findings findings = {0};
    *shapes = (ss_shapes){0};
    bool good = file && ss_bpmd_shapes(file, 0, shapes, &findings, err) && findings.count == 0;
    ss_findings_free(&findings);
    ss_bpmd_close(file);
    return good;
}

/* ---- shapes ---------------------------------------------------------------------------------------- */

TEST(every_kind_of_shape_comes_back)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_mesh *hull = ss_mesh_solid(SS_DODECAHEDRON, &err), *mesh = ss_mesh_copy(hull, &err);
    ss_stored_shape shapes[SS_SHAPE_KINDS];
    every_kind(hull, mesh, shapes);
    ss_shapes back;
    ENSURE(write_shapes(s.file, shapes, SS_SHAPE_KINDS, SS_LAYOUT_CANONICAL, &err));
    ENSURE(read_shapes(s.file, &back, &err));
    ENSURE_INT(back.count, SS_SHAPE_KINDS);
    ENSURE_INT(back.mesh_count, 1); // equal ones are stored once
    for (int k = 0; k < SS_SHAPE_KINDS; k++) ENSURE(same_shape(&shapes[k], &back.items[k]));
    ENSURE(back.items[SS_HULL].shape.mesh == back.items[SS_MESH].shape.mesh);
    ss_shapes_free(&back);
    ss_mesh_destroy(hull);
    ss_mesh_destroy(mesh);
    scratch_close(&s);
}

TEST(different_meshes_stay_apart)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, &err), *ball = ss_mesh_ball(1, 1, &err);
    ss_stored_shape shapes[3];
    for (int i = 0; i < 3; i++)
        shapes[i] = (ss_stored_shape){
            .shape = {.kind = SS_HULL, .mesh = i == 1 ? ball : cube, .quaternion = {1}}, .scenery = -1};
    ss_shapes back;
    ENSURE(write_shapes(s.file, shapes, 3, SS_LAYOUT_CANONICAL, &err) && read_shapes(s.file, &back, &err));
    ENSURE_INT(back.mesh_count, 2);
    ENSURE(same_mesh(back.items[0].shape.mesh, cube) && same_mesh(back.items[1].shape.mesh, ball));
    ENSURE(back.items[2].shape.mesh == back.items[0].shape.mesh);
    ss_shapes_free(&back);
    ss_mesh_destroy(cube);
    ss_mesh_destroy(ball);
    scratch_close(&s);
}

TEST(a_single_shape_and_none_come_back)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_stored_shape one = {.shape = {.kind = SS_SPHERE, .size = {2}}, .id = 7, .scenery = -1};
    ss_shapes back;
    ENSURE(write_shapes(s.file, &one, 1, SS_LAYOUT_CANONICAL, &err) && read_shapes(s.file, &back, &err));
    ENSURE_INT(back.count, 1);
    ENSURE_INT(back.items[0].id, 7);
    ENSURE(back.items[0].shape.quaternion[0] == 1); // all 0 stands for the identity, and is stored as that
    ss_shapes_free(&back);
    ENSURE(write_shapes(s.file, NULL, 0, SS_LAYOUT_CANONICAL, &err) && read_shapes(s.file, &back, &err));
    ENSURE_INT(back.count, 0);
    scratch_close(&s);
}

TEST(the_flat_layout_has_no_shapes)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_stored_shape one = {.shape = {.kind = SS_SPHERE, .size = {2}}, .id = 7, .scenery = -1};
    ss_shapes back;
    ENSURE(write_shapes(s.file, &one, 1, SS_LAYOUT_FLAT, &err) && read_shapes(s.file, &back, &err));
    ENSURE_INT(back.count, 0);
    scratch_close(&s);
}

TEST(shapes_that_make_no_sense_are_refused_and_harm_nothing)
{
    scratch s = scratch_open();
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
    const ss_stored_shape bad[] = {
        {.shape = {.kind = SS_HULL}, .scenery = -1},
        {.shape = {.kind = SS_HEIGHTFIELD, .heights = heights, .nx = 1, .ny = 6}, .scenery = -1},
        {.shape = {.kind = (ss_shape_kind)SS_SHAPE_KINDS}, .scenery = -1},
        {.shape = {.kind = SS_SPHERE, .size = {NAN}}, .scenery = -1},
        {.shape = {.kind = SS_SPHERE, .size = {-1}}, .scenery = -1},
        {.shape = {.kind = SS_SPHERE, .position = {INFINITY}}, .scenery = -1},
        {.shape = {.kind = SS_SPHERE}, .id = -1, .scenery = -1},
        {.shape = {.kind = SS_SPHERE}, .id = 1, .scenery = 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ss_stored_shape shapes[2] = {{.shape = {.kind = SS_HULL, .mesh = cube}, .scenery = -1}, bad[i]};
        ss_error err = {0};
        ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, &err);
        ENSURE(writer != NULL);
        ENSURE(!ss_writer_shapes(writer, shapes, 2, &err));
        ENSURE_INT(err.code, SS_ERROR_USAGE);
        ENSURE(strstr(err.message, "shapes[1]") != NULL);
        ENSURE(ss_writer_shapes(writer, shapes, 1, &err)); // the writer goes on
        ENSURE(!ss_writer_shapes(writer, shapes, 1, &err) && err.code == SS_ERROR_USAGE); // once only
        ENSURE(ss_writer_close(writer, &err));
        ss_shapes back;
        ENSURE(read_shapes(s.file, &back, &err));
        ENSURE_INT(back.count, 1);
        ss_shapes_free(&back);
    }
    ss_mesh_destroy(cube);
    scratch_close(&s);
}

/* ---- worlds and scenery ---------------------------------------------------------------------------- */

TEST(shapes_of_a_world_belong_to_bodies_scenery_or_the_world)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -9.81);
    add_floor(world);
    add_body(world, (ss_body){.kind = SS_STATIC, .position = {1, 2, 3}, .quaternion = {0, 0, 0, 1}},
             (ss_shape){.kind = SS_BOX, .size = {1, 1, 1}, .position = {1, 0, 0}});
    int ball = add_ball(world, 0, 0, 5, 0.5);
    add_body(world, (ss_body){.kind = SS_KINEMATIC, .velocity = {1}},
             (ss_shape){.kind = SS_BOX, .size = {2, 2, 2}});
    int box = add_box(world, 3, 0, 5, 1, 1, 1);
    add_body(world, (ss_body){.kind = SS_KINEMATIC}, (ss_shape){.kind = SS_SPHERE, .size = {3}});
    must(ss_world_finish(world, &err), &err);
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, &err);
    ss_shapes back;
    ENSURE(writer && ss_writer_world(writer, world, &err) && ss_writer_close(writer, &err));
    ENSURE(read_shapes(s.file, &back, &err));
    ENSURE_INT(back.count, 6);
    const int id[6] = {0, 0, ball + 1, 0, box + 1, 0}, scenery[6] = {-1, -1, -1, 0, -1, 1};
    for (int i = 0; i < 6; i++) {
        ENSURE_INT(back.items[i].id, id[i]);
        ENSURE_INT(back.items[i].scenery, scenery[i]);
    }
    // half a turn about z: the box is 1 m before the static body's place
    ENSURE_NEAR(back.items[1].shape.position[0], 0.0, 1e-15);
    ENSURE_NEAR(back.items[1].shape.position[1], 2.0, 1e-15);
    ENSURE_NEAR(fabs(back.items[1].shape.quaternion[3]), 1.0, 1e-15);
    ss_shapes_free(&back);
    ss_world_destroy(world);
    scratch_close(&s);
}

TEST(scenery_comes_back_and_leaves_the_frame_alone)
{
    scratch s = scratch_open();
    ss_error err = {0};
    double position[2][3] = {{1, 2, 3}, {0.1, 0.2, 0.3}},
           quaternion[2][4] = {{1, 0, 0, 0}, {0, 0.6, 0, -0.8}};
    ss_scenery scenery = {position, quaternion, 2}, none = {0}, back;
    ss_frame *frame = ss_frame_create(2, 0, 0, 0, &err);
    frame->bodies.mass[0] = frame->bodies.mass[1] = 1;
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, &err);
    ENSURE(!ss_writer_scenery(writer, &scenery, &err) && err.code == SS_ERROR_USAGE); // needs a frame
    ENSURE(ss_writer_frame(writer, frame, &err) && ss_writer_scenery(writer, &scenery, &err));
    ENSURE(!ss_writer_scenery(writer, &scenery, &err) && err.code == SS_ERROR_USAGE); // once
    ENSURE(ss_writer_frame(writer, frame, &err) && ss_writer_scenery(writer, &none, &err));
    ENSURE(ss_writer_close(writer, &err));
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, &err);
    ENSURE(file && ss_bpmd_scenery(file, 0, &back, &err));
    ENSURE_INT(back.count, 2);
    ENSURE(memcmp(back.position, position, sizeof position) == 0);
    ENSURE(memcmp(back.quaternion, quaternion, sizeof quaternion) == 0);
    ss_scenery_free(&back);
    ENSURE(ss_bpmd_scenery(file, 1, &back, &err));
    ENSURE_INT(back.count, 0);
    ENSURE(!ss_bpmd_scenery(file, 2, &back, &err));
    ss_findings findings = {0};
    ss_frame *again = ss_bpmd_read(file, 0, &findings, &err);
    ENSURE(again && ss_frame_equal(frame, again));
    ENSURE(findings.count == 0);
    ss_findings_free(&findings);
    ss_frame_destroy(again);
    ss_frame_destroy(frame);
    ss_bpmd_close(file);
    scratch_close(&s);
}

TEST(kinematic_bodies_are_where_they_were_when_the_frame_was_made)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -9.81);
    add_ball(world, 0, 0, 5, 0.5);
    add_body(world, (ss_body){.kind = SS_KINEMATIC, .position = {7}, .velocity = {1, 0, 0, 0, 0, 2}},
             (ss_shape){.kind = SS_BOX, .size = {2, 2, 2}});
    for (int substeps = 1; substeps < 4; substeps++) {
        ss_sim_options options;
        ss_options_defaults(ss_sim_option_table, &options);
        ss_options_defaults(ss_collision_option_table, &options.collision);
        options.substeps = substeps;
        ss_sim *sim = ss_sim_create(world, &options, &err);
        must(sim != NULL, &err);
        double start = ss_world_body(world, 1)->position[0];
        for (int step = 0; step < 3; step++) {
            must(ss_sim_step(sim, &err), &err);
            const ss_scenery *scenery = ss_sim_scenery(sim);
            ENSURE_INT(scenery->count, 1);
            double time = ss_sim_frame(sim)->time;
            ENSURE_NEAR(scenery->position[0][0], start + time, 1e-12);              // at 1 m/s
            ENSURE(ss_world_body(world, 1)->position[0] > scenery->position[0][0]); // which has moved on
        }
        ss_sim_destroy(sim);
    }
    ss_world_destroy(world);
}

static bool record(const char *path, ss_error *err)
{
    static const double origin[3] = {0}, upright[4] = {1, 0, 0, 0}, still[6] = {0};
    static const double inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ss_stored_shape shapes[2] = {{.shape = {.kind = SS_SPHERE, .size = {1}}, .id = 1, .scenery = -1},
                                 {.shape = {.kind = SS_BOX, .size = {1, 1, 1}}, .scenery = 0}};
    ss_recorder *recorder = ss_recorder_open(path, "test", err);
    if (!recorder) return false;
    bool good = ss_recorder_shapes(recorder, shapes, 2, err);
    for (int f = 0; good && f < 3; f++) {
        ss_recorder_begin(recorder, f, 0.01);
        ss_recorder_body(recorder, 1, origin, upright, inertia, still, still);
        for (int k = 0; k < f; k++) ss_recorder_scenery(recorder, (double[3]){f, k, 0}, upright);
        good = ss_recorder_end(recorder, err);
    }
    return ss_recorder_close(recorder, good ? err : NULL) && good;
}

TEST(a_recorder_takes_shapes_and_scenery)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_shapes shapes;
    ENSURE(record(s.file, &err));
    ENSURE(read_shapes(s.file, &shapes, &err));
    ENSURE_INT(shapes.count, 2);
    ENSURE_INT(shapes.items[1].scenery, 0);
    ss_shapes_free(&shapes);
    ss_bpmd *file = ss_bpmd_open(s.file, NULL, NULL, &err);
    for (int f = 0; f < 3; f++) {
        ss_scenery back;
        ENSURE(ss_bpmd_scenery(file, f, &back, &err));
        ENSURE_INT(back.count, f);
        for (int k = 0; k < f; k++) ENSURE(back.position[k][0] == f && back.position[k][1] == k);
        ss_scenery_free(&back);
    }
    ss_bpmd_close(file);
    scratch_close(&s);
}

TEST(a_recorder_refuses_scenery_that_is_nowhere)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_recorder *recorder = ss_recorder_open(s.file, "test", &err);
    const double bad[3][7] = {{NAN, 0, 0, 1}, {0, 0, 0, 2}, {0}};
    for (int i = 0; i < 3; i++) {
        ss_recorder_begin(recorder, 0, 0.01);
        ss_recorder_scenery(recorder, bad[i], bad[i] + 3);
        ENSURE(!ss_recorder_end(recorder, &err));
        ENSURE(strstr(err.message, "scenery 0") != NULL);
    }
    ss_recorder_close(recorder, NULL);
    scratch_close(&s);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static bool write_and_read(const char *path, const ss_stored_shape *shapes, ss_error *err)
{
    ss_shapes back = {0};
    bool good = write_shapes(path, shapes, SS_SHAPE_KINDS, SS_LAYOUT_CANONICAL, err) &&
                read_shapes(path, &back, err) && back.count == SS_SHAPE_KINDS;
    ss_shapes_free(&back);
    return good;
}

static bool replay(const char *path, double megabytes, ss_error *err)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, err);
    ss_replay_options options = {.megabytes = megabytes};
    ss_findings findings = {0};
    ss_replay *made = file ? ss_replay_open(file, path, &options, &findings, err) : NULL;
    ss_text json = {0};
    size_t size;
    bool good = made && findings.count == 0 && !findings.out_of_memory;
    if (good) ss_replay_json(made, true, &json);
    good = good && !json.out_of_memory;
    unsigned char *chunk = good ? ss_replay_chunk(made, 0, &size, err) : NULL;
    good = chunk != NULL;
    ss_release(chunk);
    ss_text_free(&json);
    ss_findings_free(&findings);
    ss_replay_close(made);
    ss_bpmd_close(file);
    return good;
}

TEST(lack_of_memory_is_told_and_nothing_leaks)
{
    scratch s = scratch_open();
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
    ss_stored_shape shapes[SS_SHAPE_KINDS];
    every_kind(cube, cube, shapes);
    for (long n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        bool good = write_and_read(s.file, shapes, &err);
        bool reached = faults_stop();
        ENSURE(faults.live == 0);
        ENSURE(good || err.code == SS_ERROR_RESOURCES);
        ENSURE(n < 10000);
        if (!reached) {
            ENSURE(good);
            break;
        }
    }
    ss_mesh_destroy(cube);
    ENSURE(record(s.file, NULL));
    for (int limited = 0; limited < 2; limited++) {
        for (long n = 1;; n++) {
            faults_start(n);
            bool good = replay(s.file, limited, NULL);
            bool reached = faults_stop();
            ENSURE(faults.live == 0);
            ENSURE(n < 10000);
            if (!reached) {
                ENSURE(good);
                break;
            }
        }
    }
    scratch_close(&s);
}

TEST_MAIN
