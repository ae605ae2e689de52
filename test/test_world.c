/* Worlds: adding and finding things, filters, materials, where joints are placed. */
#include <stickslip/model.h>

#include "faults.h"
#include "kit.h"
#include "linalg/quat.h"
#include "meshes.h"

static const ss_shape unit_ball = {.kind = SS_SPHERE, .size = {1.0}, .density = 1.0};
static const ss_shape floor_plane = {.kind = SS_PLANE};

static int add_body(ss_world *world, ss_body_kind kind)
{
    return ss_world_add_body(world, &(ss_body){.kind = kind}, NULL);
}

/* A world of n bodies with a ball each: shape i is of body i. */
static ss_world *balls(int n, ss_body_kind kind)
{
    ss_world *world = ss_world_create(NULL);
    for (int i = 0; i < n; i++) ss_world_add_shape(world, add_body(world, kind), &unit_ball, NULL);
    return world;
}

/* ---- adding and finding ----------------------------------------------------------------------------- */

TEST(things_are_numbered_in_order_and_copied)
{
    ss_world *world = ss_world_create(NULL);
    char name[] = "brick";
    for (int i = 0; i < 100; i++) {
        ss_body body = {.name = i == 70 ? name : NULL, .kind = SS_DYNAMIC, .position = {i, 0, 0}};
        ENSURE_INT(ss_world_add_body(world, &body, NULL), i);
        ENSURE_INT(ss_world_add_shape(world, i, &unit_ball, NULL), i);
    }
    name[0] = 'x';
    ENSURE_INT(ss_world_find_body(world, "brick"), 70);
    ENSURE_INT(ss_world_find_body(world, "xrick"), -1);
    ENSURE_INT(ss_world_find_body(world, NULL), -1);
    ENSURE_TEXT(ss_world_body(world, 70)->name, "brick");
    ENSURE_INT(ss_world_body_count(world), 100);
    ENSURE_INT(ss_world_shape_count(world), 100);
    ENSURE(ss_world_shape(world, 33)->body == 33 && ss_world_body(world, 33)->position[0] == 33.0);
    ENSURE(!ss_world_body(world, 100) && !ss_world_body(world, SS_WORLD) && !ss_world_shape(world, -1));
    ENSURE(!ss_world_joint(world, 0) && !ss_world_material(world, 1));
    ss_world_destroy(world);
}

TEST(what_is_left_zero_means_what_the_header_says)
{
    ss_world *world = ss_world_create(NULL);
    int body = ss_world_add_body(world, &(ss_body){0}, NULL);
    ss_world_add_shape(world, body, &floor_plane, NULL);
    ENSURE_INT(ss_world_body(world, body)->kind, SS_STATIC);
    ENSURE(ss_world_body(world, body)->quaternion[0] == 1.0);
    ENSURE(ss_world_shape(world, 0)->quaternion[0] == 1.0);
    ENSURE(ss_world_gravity(world)[2] == -9.81);
    ENSURE_TEXT(ss_world_material(world, 0)->name, "default");
    ENSURE(ss_world_material(world, 0)->mu == 0.5 && ss_world_material(world, 0)->restitution == 0.0);
    ss_world_destroy(world);
}

TEST(quaternions_are_made_unit_ones)
{
    ss_world *world = ss_world_create(NULL);
    int body = ss_world_add_body(world, &(ss_body){.quaternion = {0, 0, 3, 4}}, NULL);
    ENSURE_NEAR(ss_world_body(world, body)->quaternion[2], 0.6, 1e-16);
    ENSURE_NEAR(ss_world_body(world, body)->quaternion[3], 0.8, 1e-16);
    ss_world_destroy(world);
}

static const char *body_error(ss_body body)
{
    static ss_error err;
    ss_world *world = ss_world_create(NULL);
    err = (ss_error){0};
    int number = ss_world_add_body(world, &body, &err);
    ss_world_destroy(world);
    return number == -1 ? err.message : "was taken";
}

TEST(a_bad_body_is_refused_by_number_name_and_field)
{
    ENSURE_TEXT(body_error((ss_body){.mass = -1, .name = "ball"}),
                "body 0 \"ball\": mass: -1, must be finite and not negative");
    ENSURE_CONTAINS(body_error((ss_body){.position = {0, NAN, 0}}),
                    "body 0: position[1]: nan, must be finite");
    ENSURE_CONTAINS(body_error((ss_body){.velocity = {0, 0, 0, 0, 0, INFINITY}}), "velocity[5]: inf");
    ENSURE_CONTAINS(body_error((ss_body){.quaternion = {1, 0, 0, NAN}}), "quaternion[3]");
    ENSURE_CONTAINS(body_error((ss_body){.kind = (ss_body_kind)7}), "unknown kind of body 7");
    ENSURE_CONTAINS(body_error((ss_body){.inertia = {1, 0, 0, 0.5, 1, 0, 0, 0, 1}}),
                    "inertia: is not symmetric");
    ENSURE_CONTAINS(body_error((ss_body){.inertia = {1, 0, 0, 0, -1, 0, 0, 0, 1}}), "not positive definite");
    ENSURE_CONTAINS(body_error((ss_body){.linear_damping = -1}), "linear_damping");
    ENSURE_CONTAINS(body_error((ss_body){.gravity_scale = INFINITY}), "gravity_scale");
    ENSURE_TEXT(body_error((ss_body){.gravity_scale = NAN}), "was taken");
}

static const char *shape_error(ss_body_kind kind, ss_shape shape)
{
    static ss_error err;
    ss_world *world = ss_world_create(NULL);
    err = (ss_error){0};
    int number = ss_world_add_shape(world, add_body(world, kind), &shape, &err);
    ss_world_destroy(world);
    return number == -1 ? err.message : "was taken";
}

TEST(a_bad_shape_is_refused_by_number_kind_and_field)
{
    const double heights[4] = {0, 0, 0, NAN};
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
    ENSURE_TEXT(shape_error(SS_DYNAMIC, (ss_shape){.kind = SS_BOX, .size = {1, 0, 1}}),
                "shape 0 (box of body 0): size[1]: 0, must be finite and positive");
    ENSURE_CONTAINS(shape_error(SS_DYNAMIC, (ss_shape){.kind = SS_SPHERE, .size = {-1}}), "size[0]: -1");
    ENSURE_TEXT(shape_error(SS_DYNAMIC, (ss_shape){.kind = SS_CAPSULE, .size = {1, 0}}), "was taken");
    ENSURE_CONTAINS(shape_error(SS_DYNAMIC, floor_plane), "a plane cannot be a shape of a dynamic body");
    ENSURE_CONTAINS(shape_error(SS_KINEMATIC, floor_plane), "a plane cannot be a shape of a kinematic body");
    ENSURE_CONTAINS(shape_error(SS_DYNAMIC, (ss_shape){.kind = SS_MESH, .mesh = cube}), "a mesh cannot be");
    ENSURE_TEXT(shape_error(SS_KINEMATIC, (ss_shape){.kind = SS_MESH, .mesh = cube}), "was taken");
    ENSURE_CONTAINS(shape_error(SS_DYNAMIC, (ss_shape){.kind = SS_HULL}), "mesh: not given");
    ENSURE_CONTAINS(
        shape_error(SS_STATIC,
                    (ss_shape){.kind = SS_HEIGHTFIELD, .size = {1, 1}, .nx = 2, .ny = 2, .heights = heights}),
        "heights[3]: nan");
    ENSURE_CONTAINS(shape_error(SS_STATIC, (ss_shape){.kind = (ss_shape_kind)77}),
                    "unknown kind of shape 77");
    ENSURE_CONTAINS(shape_error(SS_STATIC, (ss_shape){.size = {1}, .material = 3}), "unknown material 3");
    ENSURE_CONTAINS(shape_error(SS_STATIC, (ss_shape){.size = {1}, .density = -1}), "density: -1");
    ss_mesh_destroy(cube);
}

TEST(a_shape_of_no_body_is_refused)
{
    ss_error err = {0};
    ss_world *world = ss_world_create(NULL);
    ENSURE_INT(ss_world_add_shape(world, 0, &unit_ball, &err), -1);
    ENSURE_CONTAINS(err.message, "unknown body 0");
    ENSURE_INT(ss_world_add_shape(world, SS_WORLD, &unit_ball, &err), 0);
    ss_world_destroy(world);
}

/* ---- materials -------------------------------------------------------------------------------------- */

TEST(two_materials_meet_at_the_geometric_mean_and_the_larger_bounce)
{
    ss_world *world = ss_world_create(NULL);
    int ice = ss_world_add_material(world,
                                    &(ss_material){.name = "ice",
                                                   .mu = 0.04,
                                                   .restitution = 0.1,
                                                   .mu_rolling = 1e-3,
                                                   .spin_coupling = SS_SPIN_ELLIPSOID},
                                    NULL);
    int rubber = ss_world_add_material(
        world, &(ss_material){.name = "rubber", .mu = 1.0, .restitution = 0.8, .mu_rolling = 4e-3}, NULL);
    ss_material_pair pair = ss_world_pair(world, rubber, ice);
    ENSURE_NEAR(pair.mu, 0.2, 1e-16);
    ENSURE(pair.mu_static == pair.mu && pair.restitution == 0.8);
    ENSURE_NEAR(pair.mu_rolling, 2e-3, 1e-18);
    ENSURE(pair.spin_coupling == SS_SPIN_ELLIPSOID);   // one of the two says so
    ENSURE(ss_world_pair(world, ice, ice).mu == 0.04); // exactly
    ENSURE(pair.mu_across == pair.mu);

    ss_material wood = {.name = "wood", .mu = 0.25, .mu_across = 0.64, .grain = {1.0, 0.0, 0.0}};
    pair = ss_world_pair(world, rubber, ss_world_add_material(world, &wood, NULL));
    ENSURE_NEAR(pair.mu, 0.5, 1e-16);
    ENSURE_NEAR(pair.mu_across, 0.8, 1e-15);
    ss_world_destroy(world);
}

TEST(a_pair_that_was_set_wins_in_both_orders_and_may_be_set_again)
{
    ss_world *world = ss_world_create(NULL);
    int number[20];
    char name[16];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "m%d", i);
        number[i] = ss_world_add_material(world, &(ss_material){.name = name, .mu = 1.0}, NULL);
    }
    for (int i = 19; i >= 0; i--)
        for (int k = i; k < 20; k++)
            ENSURE(
                ss_world_set_pair(world, number[k], number[i], &(ss_material_pair){.mu = i + 100 * k}, NULL));
    for (int i = 0; i < 20; i++)
        for (int k = i; k < 20; k++)
            ENSURE(ss_world_pair(world, number[i], number[k]).mu_static == i + 100 * k);
    ss_material_pair again = {.mu = 0.1, .mu_static = 0.2};
    ENSURE(ss_world_set_pair(world, number[3], number[7], &again, NULL));
    ENSURE(ss_world_pair(world, number[7], number[3]).mu_static == 0.2);
    ss_world_destroy(world);
}

TEST(bad_materials_and_pairs_are_refused)
{
    ss_error err = {0};
    ss_world *world = ss_world_create(NULL);
    ENSURE_INT(ss_world_add_material(world, &(ss_material){.name = "default"}, &err), -1);
    ENSURE_TEXT(err.message, "material 1 \"default\": name: already used by material 0");
    ENSURE_INT(ss_world_add_material(world, &(ss_material){.mu = 1}, &err), -1);
    ENSURE_INT(ss_world_add_material(world, &(ss_material){.name = "x", .mu = -0.1}, &err), -1);
    ENSURE_CONTAINS(err.message, "mu: -0.1");
    ENSURE_INT(ss_world_add_material(world, &(ss_material){.name = "x", .restitution = 1.5}, &err), -1);
    ENSURE(!ss_world_set_pair(world, 0, 5, &(ss_material_pair){0}, &err));
    ENSURE(!ss_world_set_pair(world, 0, 0, &(ss_material_pair){.mu = 0.5, .mu_static = 0.4}, &err));
    ENSURE_CONTAINS(err.message, "materials 0 and 0: mu_static: 0.4, must be 0 or at least mu, 0.5");
    ENSURE(!ss_world_set_pair(world, 0, 0, &(ss_material_pair){.spin_coupling = (ss_spin_coupling)2}, &err));
    ENSURE_CONTAINS(err.message, "materials 0 and 0: spin_coupling: unknown coupling 2");
    ENSURE(!ss_world_set_pair(world, 0, 0, &(ss_material_pair){.mu_across = 0.1}, &err));
    ENSURE_CONTAINS(err.message, "materials 0 and 0: mu_across: neither material has a grain");
    ENSURE_INT(ss_world_add_material(world, &(ss_material){.name = "x", .mu_across = 0.1}, &err), -1);
    ENSURE_CONTAINS(err.message, "mu_across: needs a grain");
    ss_material odd = {.name = "x", .spin_coupling = (ss_spin_coupling)-1};
    ENSURE_INT(ss_world_add_material(world, &odd, &err), -1);
    ENSURE_CONTAINS(err.message, "spin_coupling: unknown coupling -1");
    ss_world_destroy(world);
}

/* ---- who may touch whom ----------------------------------------------------------------------------- */

TEST(only_pairs_with_a_dynamic_body_may_touch)
{
    ss_world *world = ss_world_create(NULL);
    const ss_body_kind kinds[3] = {SS_STATIC, SS_KINEMATIC, SS_DYNAMIC};
    for (int i = 0; i < 6; i++) ss_world_add_shape(world, add_body(world, kinds[i % 3]), &unit_ball, NULL);
    ss_world_add_shape(world, SS_WORLD, &floor_plane, NULL);
    ss_world_add_shape(world, SS_WORLD, &unit_ball, NULL);
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
            bool dynamic = (a < 6 && a % 3 == 2) || (b < 6 && b % 3 == 2);
            ENSURE(ss_world_may_touch(world, a, b) == (dynamic && a != b));
        }
    ENSURE(!ss_world_may_touch(world, 0, 99));
    ss_world_destroy(world);
}

TEST(shapes_of_one_body_ghosts_and_disabled_bodies_touch_nothing)
{
    ss_world *world = balls(3, SS_DYNAMIC);
    ss_world_add_shape(world, 0, &unit_ball, NULL);
    ENSURE(!ss_world_may_touch(world, 0, 3));
    ENSURE(ss_world_may_touch(world, 1, 2));
    ss_world_shape(world, 1)->ghost = true;
    ENSURE(!ss_world_may_touch(world, 1, 2) && ss_world_may_touch(world, 0, 2));
    ss_world_body(world, 2)->disabled = true;
    ENSURE(!ss_world_may_touch(world, 0, 2));
    ss_world_destroy(world);
}

TEST(both_shapes_must_want_each_other)
{
    ss_world *world = balls(2, SS_DYNAMIC);
    ss_shape *a = ss_world_shape(world, 0), *b = ss_world_shape(world, 1);
    a->collides_with = 2; // b is of group 1, as it says nothing
    ENSURE(!ss_world_may_touch(world, 0, 1) && !ss_world_may_touch(world, 1, 0));
    b->group = 6;
    ENSURE(ss_world_may_touch(world, 0, 1));
    b->collides_with = 4;
    ENSURE(!ss_world_may_touch(world, 0, 1));
    a->group = 12;
    ENSURE(ss_world_may_touch(world, 0, 1));
    ss_world_destroy(world);
}

TEST(bodies_that_were_separated_never_touch)
{
    ss_world *world = balls(50, SS_DYNAMIC);
    ss_world_add_shape(world, SS_WORLD, &floor_plane, NULL);
    for (int a = 0; a < 50; a++)
        for (int b = 49; b > a; b--)
            if ((a + b) % 3 == 0) ENSURE(ss_world_separate(world, b, a, NULL));
    for (int a = 0; a < 50; a++)
        for (int b = a + 1; b < 50; b++) ENSURE(ss_world_may_touch(world, a, b) == ((a + b) % 3 != 0));
    ENSURE(ss_world_separate(world, 7, SS_WORLD, NULL));
    ENSURE(!ss_world_may_touch(world, 7, 50) && ss_world_may_touch(world, 8, 50));
    ss_error err = {0};
    ENSURE(!ss_world_separate(world, 0, 50, &err));
    ENSURE_CONTAINS(err.message, "unknown body 50");
    ss_world_destroy(world);
}

TEST(bodies_of_a_joint_touch_only_if_it_says_so_or_holds_no_more)
{
    ss_world *world = balls(2, SS_DYNAMIC);
    ss_world_add_shape(world, SS_WORLD, &floor_plane, NULL);
    int joint =
        ss_world_add_joint(world, &(ss_joint){.kind = SS_JOINT_BALL, .a = 1, .b = 0, .name = "hip"}, NULL);
    ENSURE_INT(ss_world_find_joint(world, "hip"), joint);
    ENSURE(!ss_world_may_touch(world, 0, 1));
    ss_world_joint(world, joint)->disabled = true;
    ENSURE(ss_world_may_touch(world, 0, 1));
    ss_world_joint(world, joint)->disabled = false;
    ss_world_joint(world, joint)->bodies_collide = true;
    ENSURE(ss_world_may_touch(world, 0, 1));
    ss_world_add_joint(world, &(ss_joint){.kind = SS_JOINT_GEAR, .a = 0, .b = 1}, NULL);
    ENSURE(!ss_world_may_touch(world, 0, 1)); // the second joint still keeps them apart
    ss_world_add_joint(world, &(ss_joint){.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = 0}, NULL);
    ENSURE(ss_world_may_touch(world, 0, 2)); // hung into the world, but the floor is still there
    ss_world_destroy(world);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

TEST(a_joint_is_where_it_was_put_seen_from_both_bodies)
{
    ss_world *world = ss_world_create(NULL);
    ss_body bodies[2] = {{.kind = SS_DYNAMIC, .position = {1, 2, 3}, .quaternion = {0.5, -0.1, 0.7, 0.5}},
                         {.kind = SS_DYNAMIC, .position = {-1, 0, 4}, .quaternion = {0.1, 0.7, 0.5, -0.5}}};
    for (int i = 0; i < 2; i++) ss_world_add_body(world, &bodies[i], NULL);
    ss_joint hinge = {
        .kind = SS_JOINT_REVOLUTE, .a = 0, .b = 1, .anchor = {0.3, 0.4, 0.5}, .axis = {0, 3, 4}};
    const ss_joint *joint = ss_world_joint(world, ss_world_add_joint(world, &hinge, NULL));
    for (int side = 0; side < 2; side++) {
        ss_quat q = ss_quat_load(bodies[side].quaternion), frame = ss_quat_load(joint->local_frame[side]);
        ss_vec3 anchor = ss_quat_rotate(q, ss_vec3_load(joint->local_anchor[side]));
        anchor = ss_vec3_add(anchor, ss_vec3_load(bodies[side].position));
        ss_vec3 axis = ss_quat_rotate(q, ss_quat_rotate(frame, (ss_vec3){0, 0, 1}));
        // tolerance: two rotations of numbers of size 4
        ENSURE_NEAR(anchor.x, 0.3, 2e-15);
        ENSURE_NEAR(anchor.y, 0.4, 2e-15);
        ENSURE_NEAR(anchor.z, 0.5, 2e-15);
        ENSURE_NEAR(axis.y, 0.6, 1e-15);
        ENSURE_NEAR(axis.z, 0.8, 1e-15);
    }
    ss_world_destroy(world);
}

TEST(a_distance_joint_knows_its_length_and_a_universal_one_its_two_axes)
{
    ss_world *world = balls(2, SS_DYNAMIC);
    ss_joint rod = {
        .kind = SS_JOINT_DISTANCE, .a = SS_WORLD, .b = 1, .anchor = {1, 0, 0}, .anchor_b = {1, 3, 4}};
    ss_joint cross = {.kind = SS_JOINT_UNIVERSAL, .a = 0, .b = 1, .axis = {1, 0, 0}, .axis2 = {0, 2, 0}};
    int first = ss_world_add_joint(world, &rod, NULL), second = ss_world_add_joint(world, &cross, NULL);
    ENSURE(ss_world_joint(world, first)->start_length == 5.0);
    ENSURE(ss_world_joint(world, first)->local_anchor[1][2] == 4.0);
    const ss_joint *joint = ss_world_joint(world, second);
    ss_vec3 z = ss_quat_rotate(ss_quat_load(joint->local_frame[0]), (ss_vec3){0, 0, 1});
    ss_vec3 z2 = ss_quat_rotate(ss_quat_load(joint->local_frame[1]), (ss_vec3){0, 0, 1});
    ENSURE_NEAR(z.x, 1.0, 1e-15);
    ENSURE_NEAR(z2.y, 1.0, 1e-15);
    ss_world_destroy(world);
}

static const char *joint_error(ss_joint joint)
{
    static ss_error err;
    ss_world *world = balls(2, SS_DYNAMIC);
    add_body(world, SS_STATIC);
    err = (ss_error){0};
    int number = ss_world_add_joint(world, &joint, &err);
    ss_world_destroy(world);
    return number == -1 ? err.message : "was taken";
}

TEST(a_bad_joint_is_refused_by_number_name_and_field)
{
    ss_joint good = {.kind = SS_JOINT_REVOLUTE, .a = 0, .b = 1, .name = "knee"}, bad = good;
    ENSURE_TEXT(joint_error(good), "was taken");
    bad.b = 9;
    ENSURE_TEXT(joint_error(bad), "joint 0 (revolute) \"knee\": b: unknown body 9");
    bad = good, bad.b = 0;
    ENSURE_CONTAINS(joint_error(bad), "a and b are the same body");
    bad = good, bad.a = SS_WORLD, bad.b = 2;
    ENSURE_CONTAINS(joint_error(bad), "neither of them is dynamic");
    bad = good, bad.axis[1] = NAN;
    ENSURE_CONTAINS(joint_error(bad), "axis[1]: nan");
    bad = good, bad.law[1].limited = true, bad.law[1].lower = 1.0;
    ENSURE_CONTAINS(joint_error(bad), "law[1]: limits: lower 1 is above upper 0");
    bad = good, bad.law[0].stiffness = -1.0;
    ENSURE_CONTAINS(joint_error(bad), "law[0]: stiffness: -1");
    bad = good, bad.compliance = -1.0;
    ENSURE_CONTAINS(joint_error(bad), "compliance: -1");
    bad = good, bad.kind = (ss_joint_kind)44;
    ENSURE_CONTAINS(joint_error(bad), "unknown kind of joint 44");
    bad = good, bad.kind = SS_JOINT_UNIVERSAL, bad.axis2[2] = 1.0;
    ENSURE_CONTAINS(joint_error(bad), "axis2: is parallel to axis");
}

/* ---- lack of memory --------------------------------------------------------------------------------- */

static bool build_everything(ss_mesh *cube, ss_error *err)
{
    const double heights[4] = {0};
    const ss_shape hull = {.kind = SS_HULL, .mesh = cube, .density = 1.0},
                   mesh = {.kind = SS_MESH, .mesh = cube};
    const ss_shape field = {.kind = SS_HEIGHTFIELD, .size = {1, 1}, .nx = 2, .ny = 2, .heights = heights};
    const ss_body brick = {.kind = SS_DYNAMIC, .name = "brick"}, ball = {.kind = SS_DYNAMIC};
    ss_world *world = ss_world_create(err);
    bool good = world && ss_world_add_material(world, &(ss_material){.name = "ice"}, err) == 1 &&
                ss_world_set_pair(world, 0, 1, &(ss_material_pair){.mu = 1.0}, err) &&
                ss_world_add_body(world, &brick, err) == 0 && ss_world_add_body(world, &ball, err) == 1 &&
                ss_world_add_shape(world, 0, &hull, err) == 0 &&
                ss_world_add_shape(world, 1, &unit_ball, err) == 1 &&
                ss_world_add_shape(world, SS_WORLD, &mesh, err) == 2 &&
                ss_world_add_shape(world, SS_WORLD, &field, err) == 3 &&
                ss_world_add_joint(world, &(ss_joint){.name = "j", .a = 0, .b = 1}, err) == 0 &&
                ss_world_separate(world, 0, SS_WORLD, err) && ss_world_finish(world, err);
    ss_world_destroy(world);
    return good;
}

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, NULL);
    for (int n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        bool good = build_everything(cube, &err), failed = faults_stop();
        ENSURE_INT(faults.live, 0);
        ENSURE(good == !failed);
        if (!failed) break;
        ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    }
    ss_mesh_destroy(cube);
}

TEST_MAIN
