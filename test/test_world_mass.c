/* Mass of bodies from their shapes, the move to the centre of mass, energy, and changes of units. */
#include <stickslip/model.h>

#include "kit.h"
#include "linalg/quat.h"
#include "meshes.h"
#include "model/geometry.h"

#include <stddef.h>

static const double pi = 3.14159265358979323846;

/* A dynamic body with these shapes, finished. */
static ss_world *body_of(ss_body body, const ss_shape *shapes, int count, ss_error *err)
{
    ss_world *world = ss_world_create(NULL);
    body.kind = SS_DYNAMIC;
    ss_world_add_body(world, &body, NULL);
    for (int i = 0; i < count; i++) ss_world_add_shape(world, 0, &shapes[i], NULL);
    if (ss_world_finish(world, err)) return world;
    ss_world_destroy(world);
    return NULL;
}

static bool near(const double *a, const double *b, int count, double tolerance)
{
    for (int i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * kit_tolerance_scale())) return false;
    return true;
}

/* ---- closed forms ----------------------------------------------------------------------------------- */

/* Sum over slices of thickness dz of a solid of revolution, by Gauss's three points, exact for degree
 * 5: mass, and inertia about z and about x through z = 0. r2 is the square of the radius at z, a
 * polynomial of degree 2. */
static void add_slices(double low, double high, double (*r2)(double z), double sums[3])
{
    const double place[3] = {-sqrt(0.6), 0.0, sqrt(0.6)}, weight[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    for (int i = 0; i < 3; i++) {
        double z = 0.5 * (low + high) + 0.5 * (high - low) * place[i], dz = 0.5 * (high - low) * weight[i];
        double area = pi * r2(z);
        sums[0] += area * dz;
        sums[1] += 0.5 * area * r2(z) * dz;
        sums[2] += area * (0.25 * r2(z) + z * z) * dz;
    }
}

static double cap_above(double z)
{
    return 0.3 * 0.3 - (z - 0.5) * (z - 0.5);
}

static double cap_below(double z)
{
    return cap_above(-z);
}

static double straight(double z)
{
    return 0.3 * 0.3 + 0.0 * z;
}

TEST(a_capsule_and_a_cylinder_weigh_the_sum_of_their_slices)
{
    double slices[3] = {0}, middle[3] = {0};
    add_slices(-0.5, 0.5, straight, middle);
    memcpy(slices, middle, sizeof slices);
    add_slices(0.5, 0.8, cap_above, slices);
    add_slices(-0.8, -0.5, cap_below, slices);
    ss_mass_properties capsule = ss_shape_mass(&(ss_shape){.kind = SS_CAPSULE, .size = {0.3, 1.0}}, 1.0);
    ss_mass_properties cylinder = ss_shape_mass(&(ss_shape){.kind = SS_CYLINDER, .size = {0.3, 1.0}}, 1.0);
    ENSURE_NEAR(capsule.mass, slices[0], 1e-15);
    ENSURE_NEAR(capsule.inertia[8], slices[1], 1e-15);
    ENSURE_NEAR(capsule.inertia[0], slices[2], 1e-15);
    ENSURE_NEAR(cylinder.mass, middle[0], 1e-15);
    ENSURE_NEAR(cylinder.inertia[8], middle[1], 1e-15);
    ENSURE_NEAR(cylinder.inertia[4], middle[2], 1e-15);
}

TEST(a_sphere_and_an_ellipsoid_are_what_refined_balls_tend_to)
{
    const double axes[3] = {0.5, 1.0, 2.0};
    ss_mass_properties exact = ss_shape_mass(&(ss_shape){.kind = SS_ELLIPSOID, .size = {0.5, 1, 2}}, 3.0);
    ss_mass_properties mass[2];
    for (int i = 0; i < 2; i++) {
        ss_mesh *mesh = ss_mesh_ball(4 + i, 1.0, NULL);
        ss_mesh_transform(mesh, axes, NULL, NULL);
        mass[i] = ss_mesh_mass(mesh, 3.0);
        ss_mesh_destroy(mesh);
    }
    // the error is of second order: a third of the difference of two refinements. Left is the
    // fourth order, 5e-6
    double better = mass[1].mass + (mass[1].mass - mass[0].mass) / 3.0;
    ENSURE_NEAR(better / exact.mass, 1.0, 1e-5);
    for (int k = 0; k < 9; k += 4) {
        better = mass[1].inertia[k] + (mass[1].inertia[k] - mass[0].inertia[k]) / 3.0;
        ENSURE_NEAR(better / exact.inertia[k], 1.0, 1e-5);
    }
    ss_mass_properties sphere = ss_shape_mass(&(ss_shape){.kind = SS_SPHERE, .size = {2.0}}, 1.0);
    ENSURE_NEAR(sphere.mass, 32.0 / 3.0 * pi, 1e-14);
    ENSURE_NEAR(sphere.inertia[4], 1.6 * sphere.mass, 1e-13);
}

TEST(a_box_and_the_hull_of_a_block_weigh_the_same)
{
    ss_mesh *block = ss_mesh_block((const double[3]){1, 2, 3}, NULL);
    ss_mass_properties box = ss_shape_mass(&(ss_shape){.kind = SS_BOX, .size = {1, 2, 3}}, 5.0);
    ss_mass_properties hull = ss_shape_mass(&(ss_shape){.kind = SS_HULL, .mesh = block}, 5.0);
    ENSURE_NEAR(hull.mass, box.mass, 1e-13);
    ENSURE(near(hull.inertia, box.inertia, 9, 1e-13));
    ss_mesh_destroy(block);
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

TEST(the_frame_of_a_body_moves_to_its_centre_of_mass)
{
    const double half_turn[4] = {0, 0, 0, 1}; // about z
    ss_body body = {.position = {10, 0, 0}, .velocity = {1, 2, 3, 0, 0, 1}};
    memcpy(body.quaternion, half_turn, sizeof half_turn);
    ss_shape box = {.kind = SS_BOX, .size = {1, 1, 1}, .density = 2.0, .position = {0.5, 3, 0}};
    ss_world *world = body_of(body, &box, 1, NULL);
    const ss_body *b = ss_world_body(world, 0);
    ENSURE(near(b->position, (const double[3]){9.5, -3, 0}, 3, 1e-15));
    ENSURE(near(b->centre, (const double[3]){0.5, 3, 0}, 3, 0.0));
    ENSURE(near(ss_world_shape(world, 0)->position, (const double[3]){0, 0, 0}, 3, 0.0));
    // the velocity was that of the centre of mass already
    ENSURE(near(b->velocity, body.velocity, 6, 0.0));
    ENSURE_NEAR(b->mass, 2.0, 0.0);
    ENSURE_NEAR(b->inertia[0], 2.0 / 6.0, 1e-16);
    ss_world_destroy(world);
}

TEST(a_compound_weighs_as_the_mesh_of_its_union)
{
    const double q[4] = {0.5, -0.1, 0.7, 0.5}, at[2][3] = {{0.3, -0.2, 1.0}, {-2.0, 0.4, 0.1}};
    const double sizes[2][3] = {{1, 2, 3}, {0.5, 0.4, 0.3}};
    ss_shape shapes[2];
    ss_mesh *parts[2];
    for (int i = 0; i < 2; i++) {
        shapes[i] = (ss_shape){.kind = SS_BOX, .density = 700.0};
        memcpy(shapes[i].size, sizes[i], sizeof sizes[i]);
        memcpy(shapes[i].position, at[i], sizeof at[i]);
        memcpy(shapes[i].quaternion, q, sizeof q);
        parts[i] = ss_mesh_block(sizes[i], NULL);
        ss_mesh_transform(parts[i], NULL, q, at[i]);
    }
    ss_mesh *together = mesh_union(parts[0], parts[1]);
    ss_mass_properties expected = ss_mesh_mass(together, 700.0);
    ss_world *world = body_of((ss_body){0}, shapes, 2, NULL);
    const ss_body *b = ss_world_body(world, 0);
    // tolerance: some dozen roundings of lever arms of size 3
    ENSURE_NEAR(b->mass, expected.mass, 1e-14 * expected.mass);
    ENSURE(near(b->centre, expected.centre, 3, 1e-14));
    ENSURE(near(b->inertia, expected.inertia, 9, 1e-13 * expected.mass));
    ss_world_destroy(world);
    ss_mesh_destroy(together);
    for (int i = 0; i < 2; i++) ss_mesh_destroy(parts[i]);
}

TEST(two_halves_weigh_as_the_whole)
{
    const ss_shape halves[2] = {{.kind = SS_BOX, .size = {1, 2, 3}, .density = 4, .position = {-0.5, 0, 0}},
                                {.kind = SS_BOX, .size = {1, 2, 3}, .density = 4, .position = {0.5, 0, 0}}};
    const ss_shape whole = {.kind = SS_BOX, .size = {2, 2, 3}, .density = 4};
    ss_world *a = body_of((ss_body){0}, halves, 2, NULL), *b = body_of((ss_body){0}, &whole, 1, NULL);
    ENSURE_NEAR(ss_world_body(a, 0)->mass, ss_world_body(b, 0)->mass, 0.0);
    ENSURE(near(ss_world_body(a, 0)->inertia, ss_world_body(b, 0)->inertia, 9, 1e-13)); // numbers of size 50
    ss_world_destroy(a);
    ss_world_destroy(b);
}

TEST(a_given_mass_scales_the_inertia_of_the_shapes)
{
    const ss_shape dense = {.kind = SS_BOX, .size = {1, 1, 1}, .density = 1000};
    const ss_shape plain = {.kind = SS_BOX, .size = {1, 1, 1}, .position = {1, 0, 0}};
    const ss_shape all[2] = {dense, plain};
    ss_world *a = body_of((ss_body){.mass = 6}, &dense, 1, NULL),
             *b = body_of((ss_body){.mass = 6}, &plain, 1, NULL);
    ss_world *c = body_of((ss_body){.mass = 6}, all, 2, NULL);
    ENSURE(ss_world_body(a, 0)->mass == 6.0 && ss_world_body(b, 0)->mass == 6.0);
    ENSURE_NEAR(ss_world_body(a, 0)->inertia[0], 1.0, 1e-15);
    ENSURE_NEAR(ss_world_body(b, 0)->inertia[0], 1.0, 1e-15);
    ENSURE(ss_world_body(b, 0)->centre[0] == 1.0); // no density at all: all shapes count alike
    ENSURE(ss_world_body(c, 0)->centre[0] == 0.0); // a shape without density among others does not weigh
    ss_world_destroy(a);
    ss_world_destroy(b);
    ss_world_destroy(c);
}

TEST(a_given_inertia_is_about_the_origin_of_the_body_frame)
{
    const ss_shape box = {.kind = SS_BOX, .size = {1, 1, 1}, .density = 8, .position = {1, 0, 0}};
    ss_world *world = body_of((ss_body){.inertia = {1, 0, 0, 0, 2, 0, 0, 0, 2}}, &box, 1, NULL);
    const ss_body *b = ss_world_body(world, 0);
    ENSURE(b->mass == 8.0 && b->inertia[4] == 2.0 && b->centre[0] == 0.0 && b->position[0] == 0.0);
    ENSURE(ss_world_shape(world, 0)->position[0] == 1.0);
    ss_world_destroy(world);
}

TEST(a_dynamic_body_without_mass_is_named)
{
    const ss_shape weightless = {.kind = SS_SPHERE, .size = {1}};
    ss_error err = {0};
    ENSURE(!body_of((ss_body){.name = "ghost"}, &weightless, 1, &err));
    ENSURE_CONTAINS(err.message, "body 0 \"ghost\": mass: a dynamic body needs a mass");
    ENSURE(!body_of((ss_body){.mass = 1}, NULL, 0, &err));
    ENSURE_CONTAINS(err.message, "body 0: inertia: a dynamic body needs an inertia");
    ss_world *point = body_of((ss_body){.mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, NULL, 0, &err);
    ENSURE(point != NULL);
    ss_world_destroy(point);
}

TEST(a_body_made_dynamic_later_must_have_the_right_shapes)
{
    ss_world *world = ss_world_create(NULL);
    ss_world_add_body(world, &(ss_body){.mass = 1}, NULL);
    ss_world_add_shape(world, 0, &(ss_shape){.kind = SS_PLANE}, NULL);
    ENSURE(ss_world_finish(world, NULL));
    ss_world_body(world, 0)->kind = SS_DYNAMIC;
    ss_error err = {0};
    ENSURE(!ss_world_finish(world, &err));
    ENSURE_CONTAINS(err.message, "body 0: shape 0: a plane cannot be a shape of a dynamic body");
    ss_world_destroy(world);
}

TEST(static_and_kinematic_bodies_stay_where_they_are)
{
    ss_world *world = ss_world_create(NULL);
    const ss_shape ball = {.kind = SS_SPHERE, .size = {1}, .density = 1, .position = {5, 0, 0}};
    for (int kind = SS_STATIC; kind <= SS_KINEMATIC; kind++)
        ss_world_add_shape(world, ss_world_add_body(world, &(ss_body){.kind = kind}, NULL), &ball, NULL);
    ENSURE(ss_world_finish(world, NULL));
    for (int i = 0; i < 2; i++) {
        ENSURE(ss_world_body(world, i)->position[0] == 0.0 && ss_world_body(world, i)->mass == 0.0);
        ENSURE(ss_world_shape(world, i)->position[0] == 5.0);
    }
    ss_world_destroy(world);
}

/* ---- finishing again -------------------------------------------------------------------------------- */

/* Everything that finishing may change, for a comparison bit for bit. */
static bool same_body(const ss_world *a, const ss_world *b)
{
    const ss_body *x = ss_world_body(a, 0), *y = ss_world_body(b, 0);
    return memcmp(x->position, y->position, sizeof x->position) == 0 &&
           memcmp(x->velocity, y->velocity, sizeof x->velocity) == 0 && x->mass == y->mass &&
           memcmp(x->inertia, y->inertia, sizeof x->inertia) == 0 &&
           memcmp(x->centre, y->centre, sizeof x->centre) == 0;
}

TEST(finishing_twice_changes_no_bit)
{
    ss_random random = ss_random_start(5, 0);
    for (int round = 0; round < 100; round++) {
        ss_shape shapes[6];
        for (int i = 0; i < 6; i++) {
            shapes[i] = (ss_shape){.kind = SS_BOX, .density = ss_random_between(&random, 1, 9)};
            for (int k = 0; k < 3; k++) {
                shapes[i].size[k] = ss_random_between(&random, 0.1, 2);
                shapes[i].position[k] = ss_random_between(&random, -5, 5);
            }
            for (int k = 0; k < 4; k++) shapes[i].quaternion[k] = ss_random_normal(&random);
        }
        ss_world *once = body_of((ss_body){.mass = round % 2 ? 3 : 0}, shapes, 6, NULL);
        ss_world *twice = body_of((ss_body){.mass = round % 2 ? 3 : 0}, shapes, 6, NULL);
        ENSURE(ss_world_finish(twice, NULL));
        ENSURE(same_body(once, twice));
        for (int i = 0; i < 6; i++)
            ENSURE(near(ss_world_shape(once, i)->position, ss_world_shape(twice, i)->position, 3, 0.0));
        ss_world_destroy(once);
        ss_world_destroy(twice);
    }
}

TEST(a_shape_added_later_is_given_in_the_first_frame_and_moves_the_centre)
{
    const ss_shape parts[2] = {{.kind = SS_BOX, .size = {1, 1, 1}, .density = 1, .position = {1, 0, 0}},
                               {.kind = SS_BOX, .size = {1, 1, 1}, .density = 1, .position = {3, 0, 0}}};
    ss_world *early = body_of((ss_body){.position = {7, 0, 0}}, parts, 2, NULL);
    ss_world *late = body_of((ss_body){.position = {7, 0, 0}}, parts, 1, NULL);
    ss_body *b = ss_world_body(late, 0);
    memcpy(b->velocity, (const double[6]){0, 0, 1, 0, 0, 2}, sizeof b->velocity);
    ENSURE(b->mass == 1.0 && b->centre[0] == 1.0);
    ss_world_add_shape(late, 0, &parts[1], NULL);
    ENSURE(ss_world_finish(late, NULL));
    b = ss_world_body(late, 0);
    const ss_body *e = ss_world_body(early, 0);
    ENSURE(b->mass == 2.0 && b->centre[0] == 2.0 && b->position[0] == 9.0);
    ENSURE(near(b->inertia, e->inertia, 9, 1e-15));
    // the new centre is 1 away from the old one and turns with 2 rad/s
    ENSURE(near(b->velocity, (const double[6]){0, 2, 1, 0, 0, 2}, 6, 1e-15));
    ss_world_destroy(early);
    ss_world_destroy(late);
}

TEST(joints_stay_where_they_are_when_the_frame_moves)
{
    ss_world *world = ss_world_create(NULL);
    ss_body body = {.kind = SS_DYNAMIC, .position = {1, 2, 3}, .quaternion = {0.5, -0.1, 0.7, 0.5}};
    ss_world_add_body(world, &body, NULL);
    ss_joint pin = {.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = 0, .anchor = {0.5, 0.25, -1}};
    ss_world_add_joint(world, &pin, NULL);
    ss_world_add_shape(world, 0, &(ss_shape){.size = {1}, .density = 1, .position = {4, 5, 6}}, NULL);
    ENSURE(ss_world_finish(world, NULL));
    const ss_body *b = ss_world_body(world, 0);
    ss_vec3 local = ss_vec3_load(ss_world_joint(world, 0)->local_anchor[1]);
    ss_vec3 anchor =
        ss_vec3_add(ss_vec3_load(b->position), ss_quat_rotate(ss_quat_load(b->quaternion), local));
    const double found[3] = {anchor.x, anchor.y, anchor.z};
    ENSURE(near(found, pin.anchor, 3, 1e-14)); // numbers of size 10
    ss_world_destroy(world);
}

/* ---- energy and momentum ---------------------------------------------------------------------------- */

TEST(energy_and_momentum_of_a_spinning_ball)
{
    const ss_shape ball = {.kind = SS_SPHERE, .size = {1}};
    ss_body body = {.mass = 5, .position = {0, 2, 3}, .velocity = {4, 0, 0, 0, 0, 3}};
    ss_world *world = body_of(body, &ball, 1, NULL);
    ss_world_energy energy = ss_world_measure(world);
    ENSURE_NEAR(energy.kinetic, 0.5 * 5 * 16 + 0.5 * 2 * 9, 1e-13);
    ENSURE_NEAR(energy.potential, 5 * 9.81 * 3, 1e-13);
    ENSURE_NEAR(energy.momentum[0], 20, 1e-14);
    ENSURE_NEAR(energy.angular_momentum[1], 60, 1e-13); // z times p
    ENSURE_NEAR(energy.angular_momentum[2], 2 * 3 - 2 * 20, 1e-13);
    ss_world_body(world, 0)->gravity_scale = NAN;
    ENSURE(ss_world_measure(world).potential == 0.0);
    ss_world_body(world, 0)->disabled = true;
    ENSURE(ss_world_measure(world).kinetic == 0.0);
    ss_world_destroy(world);
}

/* ---- units ------------------------------------------------------------------------------------------ */

/* One of everything. */
static ss_world *small_machine(void)
{
    static const double heights[4] = {0, 0.1, 0.2, 0.3};
    ss_mesh *solid = ss_mesh_solid(SS_DODECAHEDRON, NULL);
    ss_world *world = ss_world_create(NULL);
    const ss_shape shapes[3] = {
        {.kind = SS_HULL, .mesh = solid, .density = 3, .position = {0.1, 0.2, 0.3}},
        {.kind = SS_CAPSULE, .size = {0.1, 0.3}, .density = 2},
        {.kind = SS_BOX, .size = {0.1, 0.2, 0.3}, .density = 2, .position = {0, 0, 1}}};
    for (int i = 0; i < 3; i++) {
        ss_body body = {.kind = SS_DYNAMIC,
                        .position = {i, 0.3, 0.7},
                        .velocity = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
                        .force = {1, 2, 3, 4, 5, 6},
                        .linear_damping = 0.1};
        ss_world_add_body(world, &body, NULL);
        ss_world_add_shape(world, i, &shapes[i], NULL);
    }
    ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_MESH, .mesh = solid}, NULL);
    ss_world_add_shape(
        world, SS_WORLD,
        &(ss_shape){.kind = SS_HEIGHTFIELD, .size = {1, 1}, .nx = 2, .ny = 2, .heights = heights}, NULL);
    ss_world_add_material(
        world, &(ss_material){.name = "wheel", .mu = 0.7, .restitution = 0.1, .mu_rolling = 0.01}, NULL);
    ss_world_set_pair(world, 0, 1, &(ss_material_pair){.mu = 0.1, .mu_rolling = 0.3}, NULL);
    for (int kind = 0; kind < SS_JOINT_COUPLING; kind++) {
        ss_joint joint = {.kind = kind,
                          .a = kind % 3,
                          .b = (kind + 1) % 3,
                          .anchor = {0.1, 0.2, 0.3},
                          .anchor_b = {1, 2, 3},
                          .ratio = 0.3};
        for (int k = 0; k < 2; k++)
            joint.law[k] = (ss_axis_law){.limited = true,
                                         .lower = -0.3,
                                         .upper = 0.7,
                                         .target = 0.1,
                                         .target_speed = 0.2,
                                         .max_force = 9,
                                         .stiffness = 7,
                                         .damping = 0.3,
                                         .rest = 0.05,
                                         .force = 0.3,
                                         .friction = 0.1,
                                         .load_friction = 0.01,
                                         .armature = 0.02,
                                         .motor_stiffness = 3,
                                         .motor_damping = 0.2};
        ss_world_add_joint(world, &joint, NULL);
    }
    ss_world_finish(world, NULL);
    ss_mesh_destroy(solid);
    return world;
}

static bool same_geometry(const ss_geometry *a, const ss_geometry *b)
{
    if (memcmp(a->low, b->low, sizeof a->low) || memcmp(a->high, b->high, sizeof a->high)) return false;
    if (a->hull &&
        (memcmp(a->hull->vertex, b->hull->vertex, (size_t)a->hull->vertex_count * sizeof *a->hull->vertex) ||
         memcmp(a->hull->face, b->hull->face, (size_t)a->hull->face_count * sizeof *a->hull->face) ||
         a->hull->radius != b->hull->radius))
        return false;
    const ss_triangles *t = a->triangles;
    return !t || memcmp(t->node, b->triangles->node, (size_t)t->node_count * sizeof *t->node) == 0;
}

/* The numbers from the field `first` up to before `end`, bit for bit; no other fields may be between. */
#define SAME(type, x, y, first, end)                                                              \
    (memcmp((const char *)(x) + offsetof(type, first), (const char *)(y) + offsetof(type, first), \
            offsetof(type, end) - offsetof(type, first)) == 0)

static bool same_joint(const ss_joint *x, const ss_joint *y)
{
    for (int k = 0; k < 2; k++)
        if (!SAME(ss_axis_law, &x->law[k], &y->law[k], lower, motor) ||
            memcmp(&x->law[k].target, &y->law[k].target, 12 * sizeof(double)))
            return false;
    return SAME(ss_joint, x, y, anchor, law) && SAME(ss_joint, x, y, local_anchor, turned);
}

static bool same_world(const ss_world *a, const ss_world *b)
{
    for (int i = 0; i < ss_world_body_count(b); i++) {
        const ss_body *x = ss_world_body(a, i), *y = ss_world_body(b, i);
        if (!SAME(ss_body, x, y, position, motion) || !near(x->centre, y->centre, 3, 0.0)) return false;
    }
    for (int i = 0; i < ss_world_shape_count(b); i++) {
        const ss_shape *x = ss_world_shape(a, i), *y = ss_world_shape(b, i);
        if (!SAME(ss_shape, x, y, size, mesh) || !SAME(ss_shape, x, y, position, material) ||
            !same_geometry(ss_world_geometry(a, i), ss_world_geometry(b, i)))
            return false;
    }
    for (int i = 0; i < ss_world_joint_count(b); i++)
        if (!same_joint(ss_world_joint(a, i), ss_world_joint(b, i))) return false;
    return ss_world_pair(a, 0, 1).mu_rolling == ss_world_pair(b, 0, 1).mu_rolling;
}

TEST(there_and_back_by_powers_of_two_changes_no_bit)
{
    ss_world *world = small_machine(), *kept = small_machine();
    ENSURE(same_world(world, kept));
    ENSURE(ss_world_change_units(world, 1024.0, 0.125, 4.0, NULL));
    ENSURE(!same_world(world, kept));
    ENSURE(ss_world_change_units(world, 1.0 / 1024.0, 8.0, 0.25, NULL));
    ENSURE(same_world(world, kept));
    ss_world_destroy(world);
    ss_world_destroy(kept);
}

TEST(a_world_in_millimetres_and_grams_is_the_same_world)
{
    ss_world *world = small_machine();
    ss_world_energy before = ss_world_measure(world);
    ENSURE(ss_world_change_units(world, 1e3, 1e3, 1.0, NULL));
    ss_world_energy after = ss_world_measure(world);
    ENSURE_NEAR(after.kinetic, 1e9 * before.kinetic, 1e-14 * 1e9 * before.kinetic);
    ENSURE_NEAR(after.potential, 1e9 * before.potential, 1e-14 * 1e9 * before.potential);
    ENSURE_NEAR(ss_world_gravity(world)[2], -9810.0, 1e-11);
    ENSURE_NEAR(ss_world_shape(world, 1)->density, 2e-6, 1e-20);
    // computed again from the new sizes and densities, the masses are the same
    double mass = ss_world_body(world, 0)->mass, inertia = ss_world_body(world, 0)->inertia[4];
    ss_world_body(world, 0)->mass = 0.0;
    ENSURE(ss_world_finish(world, NULL));
    ENSURE_NEAR(ss_world_body(world, 0)->mass, mass, 1e-14 * mass);
    ENSURE_NEAR(ss_world_body(world, 0)->inertia[4], inertia, 1e-14 * inertia);
    ss_world_destroy(world);
}

TEST(the_similar_world_of_another_size_keeps_gravity_and_density)
{
    const double s = 4.0;
    ss_world *world = small_machine();
    double density = ss_world_shape(world, 0)->density;
    ENSURE(ss_world_change_units(world, s, s * s * s, sqrt(s), NULL));
    ENSURE_NEAR(ss_world_gravity(world)[2], -9.81, 1e-15);
    ENSURE_NEAR(ss_world_shape(world, 0)->density, density, 1e-15);
    // a spring of angle carries torque: s^4; one of length N/m: s^2; speeds grow with sqrt(s)
    ENSURE_NEAR(ss_world_joint(world, SS_JOINT_REVOLUTE)->law[0].stiffness, 7 * 256.0, 1e-12);
    ENSURE_NEAR(ss_world_joint(world, SS_JOINT_PRISMATIC)->law[0].stiffness, 7 * 16.0, 1e-13);
    ENSURE_NEAR(ss_world_joint(world, SS_JOINT_PRISMATIC)->law[0].motor_stiffness, 3 * 16.0, 1e-13);
    // the inertia of a rotor about an axis grows with s^5, along one its mass with s^3
    ENSURE_NEAR(ss_world_joint(world, SS_JOINT_REVOLUTE)->law[0].armature, 0.02 * 1024.0, 1e-12);
    ENSURE_NEAR(ss_world_joint(world, SS_JOINT_PRISMATIC)->law[0].armature, 0.02 * 64.0, 1e-14);
    ENSURE_NEAR(ss_world_joint(world, SS_JOINT_PRISMATIC)->law[0].target_speed, 0.4, 1e-15);
    ENSURE_NEAR(ss_world_joint(world, SS_JOINT_CYLINDRICAL)->law[1].lower, -1.2, 1e-15);
    ENSURE_NEAR(ss_world_joint(world, SS_JOINT_SCREW)->ratio, 1.2, 1e-15);
    ss_world_destroy(world);
}

static void stand_still(double time, double position[3], double quaternion[4], double velocity[6],
                        void *context)
{
    (void)time, (void)position, (void)quaternion, (void)velocity, (void)context;
}

TEST(what_cannot_change_its_units_is_told_and_nothing_is_changed)
{
    ss_error err = {0};
    ss_world *world = small_machine(), *kept = small_machine();
    ENSURE(!ss_world_change_units(world, -1.0, 1.0, 1.0, &err));
    ENSURE(!ss_world_change_units(world, 1e-200, 1.0, 1.0, &err)); // its cube is 0
    ss_world_joint(world, SS_JOINT_FIXED)->compliance = 1e-6;
    ENSURE(!ss_world_change_units(world, 10.0, 1.0, 1.0, &err));
    ENSURE_CONTAINS(err.message, "joint 0 (fixed): its compliance mixes lengths and angles");
    ENSURE(ss_world_change_units(world, 1.0, 2.0, 1.0, &err));
    ENSURE(ss_world_joint(world, SS_JOINT_FIXED)->compliance == 0.5e-6);
    ENSURE(ss_world_change_units(world, 1.0, 0.5, 1.0, &err));
    ss_world_joint(world, SS_JOINT_FIXED)->compliance = 0.0;
    ENSURE(same_world(world, kept));
    ss_world_add_body(world, &(ss_body){.kind = SS_KINEMATIC, .motion = stand_still}, NULL);
    ENSURE(!ss_world_change_units(world, 10.0, 1.0, 1.0, &err));
    ENSURE_CONTAINS(err.message, "body 3 is moved by a function");
    ss_world_destroy(world);
    ss_world_destroy(kept);
}

TEST_MAIN
