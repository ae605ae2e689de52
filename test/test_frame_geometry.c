/* What a frame means: contact frames, lever arms, planar problems, energy and momentum. */
#include "kit.h"
#include "sample_frame.h"

/* ---- geometry --------------------------------------------------------------------------------------- */

static double distance(const double a[3], const double b[3])
{
    return ss_vec3_norm(ss_vec3_subtract(ss_vec3_load(a), ss_vec3_load(b)));
}

/* How far n, u, v is from a right-handed frame of unit vectors. */
static double frame_error(const double n[3], const double u[3], const double v[3])
{
    ss_mat3 rows = ss_mat3_from_rows(ss_vec3_load(n), ss_vec3_load(u), ss_vec3_load(v));
    ss_mat3 off = ss_mat3_multiply(rows, ss_mat3_transpose(rows));
    off = ss_mat3_add_scaled(off, -1, ss_mat3_identity());
    return fmax(ss_mat3_max_abs(off), fabs(ss_mat3_determinant(rows) - 1));
}

static int smallest_component(const double n[3])
{
    int smallest = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(n[i]) < fabs(n[smallest])) smallest = i;
    return smallest;
}

TEST(tangents_of_any_normal_make_a_right_handed_frame)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, NULL);
    ss_random random = ss_random_start(11, 0);
    for (int i = 0; i < 1000; i++) {
        double *n = frame->contacts.normal[0], u[3], v[3];
        ss_vec3_store(random_direction(&random), n);
        if (i % 10 == 0) n[i / 10 % 3] = 0; // in a coordinate plane, and further down along an axis
        if (i % 50 == 0) n[(i / 10 + 1) % 3] = 0;
        ss_vec3_store(ss_vec3_normalise(ss_vec3_load(n), NULL), n);
        ss_contact_tangents(frame, 0, u, v);
        ENSURE_NEAR(frame_error(n, u, v), 0, 1e-15); // a few roundings of numbers below 1
        ENSURE_NEAR(u[smallest_component(n)], 0, 0); // the axis it was crossed with
    }
    ss_frame_destroy(frame);
}

TEST(a_stored_tangent_is_used_as_it_is)
{
    ss_frame *frame = full_frame();
    double u[3], v[3];
    ss_contact_tangents(frame, 1, u, v);
    ENSURE(memcmp(u, frame->contacts.tangent[1], sizeof u) == 0);
    ENSURE_NEAR(frame_error(frame->contacts.normal[1], u, v), 0, 1e-15);
    ss_frame_destroy(frame);
}

TEST(lever_arms_reach_from_the_centre_of_mass_to_the_point)
{
    ss_frame *frame = plain_frame();
    double a[3], b[3], point[3];
    ss_contact_lever_arms(frame, 1, a, b);
    for (int i = 0; i < 3; i++) point[i] = frame->bodies.position[0][i] + a[i];
    ENSURE_NEAR(distance(point, frame->contacts.point[1]), 0, 1e-15); // one rounding of numbers below 2
    for (int i = 0; i < 3; i++) point[i] = frame->bodies.position[1][i] + b[i];
    ENSURE_NEAR(distance(point, frame->contacts.point[1]), 0, 1e-15);
    ss_contact_lever_arms(frame, 0, a, b); // between the world and body 0
    ENSURE_NEAR(fabs(a[0]) + fabs(a[1]) + fabs(a[2]), 0, 0);
    ss_frame_destroy(frame);
}

TEST(stored_lever_arms_come_first_but_not_for_the_world)
{
    ss_frame *frame = full_frame();
    double a[3], b[3];
    ss_contact_lever_arms(frame, 1, a, b);
    ENSURE(memcmp(a, frame->contacts.lever_arm[1], sizeof a) == 0);
    ENSURE(memcmp(b, frame->contacts.lever_arm[1] + 3, sizeof b) == 0);
    ss_contact_lever_arms(frame, 0, a, b);
    ENSURE(frame->contacts.lever_arm[0][0] != 0);
    ENSURE_NEAR(fabs(a[0]) + fabs(a[1]) + fabs(a[2]), 0, 0);
    ss_frame_destroy(frame);
}

TEST(the_world_is_not_live)
{
    ss_frame *frame = plain_frame();
    ENSURE(ss_frame_is_live(frame, 0));
    ENSURE(!ss_frame_is_live(frame, DEAD));
    ENSURE(!ss_frame_is_live(frame, SS_WORLD));
    ENSURE(!ss_frame_is_live(frame, BODIES));
    ss_frame_destroy(frame);
}

/* ---- planar problems -------------------------------------------------------------------------------- */

/* Two discs touching each other, one on the ground, joined by a rod, at a height of z = 5. */
static ss_frame *planar_frame(void)
{
    ss_frame *frame = ss_frame_create(2, 1, 1, 2, NULL);
    ss_frame_set_planar_body(frame, 0, 1, 0.5, (double[]){0, 1, 0.3}, (double[]){1, 0, 2},
                             (double[]){0, -9.81, 1});
    ss_frame_set_planar_body(frame, 1, 1, 0.5, (double[]){2, 1, 0}, (double[]){0, 1, 0},
                             (double[]){0, -9.81, 0});
    frame->bodies.position[0][2] = frame->bodies.position[1][2] = 5;
    frame->constraints.pair[0][0] = 0, frame->constraints.pair[0][1] = 1;
    frame->constraints.jacobian[0][0] = -1, frame->constraints.jacobian[0][6] = 1;
    frame->contacts.pair[0][1] = 0;
    frame->contacts.normal[0][1] = 1;
    memcpy(frame->contacts.point[0], (double[]){0, 0, 5}, sizeof frame->contacts.point[0]);
    frame->contacts.pair[1][0] = 0, frame->contacts.pair[1][1] = 1;
    frame->contacts.normal[1][0] = 1;
    memcpy(frame->contacts.point[1], (double[]){1, 1, 5}, sizeof frame->contacts.point[1]);
    return frame;
}

TEST(a_planar_body_moves_in_the_plane_and_turns_about_z)
{
    ss_frame *frame = planar_frame();
    ss_findings findings = {0};
    ENSURE(ss_frame_check(frame, "F", &findings));
    ENSURE_INT(findings.count, 0);
    ENSURE(ss_frame_is_planar(frame));
    ss_vec3 x_axis = ss_quat_rotate(ss_quat_load(frame->bodies.quaternion[0]), (ss_vec3){1, 0, 0});
    ENSURE_NEAR(x_axis.x, cos(0.3), 1e-15); // rounding of a sine and a cosine
    ENSURE_NEAR(x_axis.y, sin(0.3), 1e-15);
    ENSURE_NEAR(frame->bodies.velocity[0][5], 2, 0);
    ENSURE_NEAR(frame->bodies.force[0][1], -9.81, 0);
    ENSURE_NEAR(frame->bodies.force[0][5], 1, 0);
    ss_frame_summary summary = ss_frame_summarise(frame);
    ENSURE_NEAR(summary.kinetic_energy, 0.5 * 1 + 0.5 * 0.5 * 4 + 0.5 * 1, 1e-15); // a handful of roundings
    ss_frame_destroy(frame);
}

TEST(whatever_leaves_the_plane_is_noticed)
{
    static const struct {
        const char *path;
        int item, component;
    } exits[] = {
        {"bodies/velocities", 1, 2},
        {"bodies/velocities", 1, 3},
        {"bodies/velocities", 1, 4},
        {"bodies/forces", 0, 2},
        {"bodies/forces", 0, 3},
        {"bodies/forces", 0, 4},
        {"constraints/Jacobian", 0, 2},
        {"constraints/Jacobian", 0, 3},
        {"constraints/Jacobian", 0, 9},
        {"constraints/Jacobian", 0, 10},
        {"contacts/normals", 1, 2},
        {"contacts/points", 0, 2},
        {"bodies/positions", 1, 2},
        {"contacts/lever_arms", 1, 5},
        {"contacts/t_u", 0, 0},
        {"bodies/world_inertia_tensors", 0, 2},
        {"bodies/world_inertia_tensors", 0, 7},
    };
    for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++) {
        ss_frame *frame = planar_frame();
        const ss_field *field = ss_field_find(exits[i].path);
        if (field->optional) ENSURE(ss_frame_enable(frame, exits[i].path, NULL));
        ENSURE(ss_frame_is_planar(frame));
        double *number =
            &((double *)ss_field_data(field, frame))[exits[i].item * field->width + exits[i].component];
        double before = *number;
        *number = before + 1e-15; // rounding
        ENSURE(ss_frame_is_planar(frame));
        *number = before + 1e-6;
        ENSURE(!ss_frame_is_planar(frame));
        ss_frame_destroy(frame);
    }
}

TEST(what_does_not_take_part_may_leave_the_plane)
{
    ss_frame *frame = planar_frame();
    frame->bodies.velocity[1][2] = 3;
    frame->constraints.jacobian[0][8] = 1;
    ENSURE(!ss_frame_is_planar(frame));
    frame->bodies.state[1] = 0;
    ENSURE(ss_frame_is_planar(frame));
    ss_frame_destroy(frame);
}

TEST(a_spatial_frame_is_not_planar)
{
    ss_frame *frame = plain_frame();
    ENSURE(!ss_frame_is_planar(frame));
    ss_frame_destroy(frame);
}

/* ---- summary ---------------------------------------------------------------------------------------- */

TEST(a_summary_is_what_one_computes_by_hand)
{
    ss_frame *frame = ss_frame_create(3, 0, 0, 3, NULL);
    static const double velocity[3][6] = {{1, 2, 3, 1, 0, 2}, {-1, 0, 0, 0, 0, 0}, {9, 9, 9, 9, 9, 9}};
    static const double inertia[9] = {2, 0, 0.5, 0, 3, 0, 0.5, 0, 4};
    for (int b = 0; b < 3; b++) {
        frame->bodies.mass[b] = b + 1;
        memcpy(frame->bodies.velocity[b], velocity[b], sizeof velocity[b]);
        memcpy(frame->bodies.inertia[b], inertia, sizeof inertia);
    }
    frame->bodies.state[2] = -1; // asleep: counts nowhere
    frame->contacts.gap[0] = -0.25, frame->contacts.gap[1] = 0.5, frame->contacts.gap[2] = -0.125;
    ss_frame_summary s = ss_frame_summarise(frame);
    ENSURE_INT(s.bodies, 2);
    ENSURE_INT(s.contacts, 3);
    ENSURE_NEAR(s.total_mass, 3, 0);
    // body 0: (1 + 4 + 9) / 2 and w.Iw / 2 = (1 (2 + 1) + 2 (0.5 + 8)) / 2; body 1: 2 * 1 / 2. All exact.
    ENSURE_NEAR(s.kinetic_energy, 7 + 10 + 1, 0);
    ENSURE_NEAR(s.momentum[0], -1, 0);
    ENSURE_NEAR(s.momentum[1], 2, 0);
    ENSURE_NEAR(s.momentum[2], 3, 0);
    ENSURE_NEAR(s.sum_abs_gap, 0.875, 0);
    ENSURE_NEAR(s.max_penetration, 0.25, 0);
    ss_frame_destroy(frame);
}

static void rotate_in_place(ss_quat rotation, double v[3])
{
    ss_vec3_store(ss_quat_rotate(rotation, ss_vec3_load(v)), v);
}

TEST(kinetic_energy_does_not_depend_on_where_we_look_from)
{
    ss_frame *frame = plain_frame();
    double energy = ss_frame_summarise(frame).kinetic_energy;
    ss_random random = ss_random_start(3, 1);
    for (int i = 0; i < 20; i++) {
        ss_quat turn = random_rotation(&random);
        for (int b = 0; b < BODIES; b++) {
            rotate_in_place(turn, frame->bodies.velocity[b]);
            rotate_in_place(turn, frame->bodies.velocity[b] + 3);
            ss_mat3 inertia = ss_mat3_load(frame->bodies.inertia[b]);
            inertia = ss_mat3_rotate_tensor(ss_quat_to_matrix(turn), inertia);
            ss_mat3_store(inertia, frame->bodies.inertia[b]);
        }
        // 20 rotations of a few roundings each
        ENSURE_NEAR(ss_frame_summarise(frame).kinetic_energy / energy, 1, 1e-13);
    }
    ss_frame_destroy(frame);
}

TEST(momentum_that_cancels_leaves_no_dust)
{
    enum { PAIRS = 1000 };
    ss_frame *frame = ss_frame_create(2 * PAIRS + 1, 0, 0, 0, NULL);
    ss_random random = ss_random_start(5, 0);
    for (int b = 0; b < 2 * PAIRS; b++) {
        frame->bodies.mass[b] = 1;
        frame->bodies.velocity[b][0] =
            b < PAIRS ? ss_random_between(&random, 0, 1e6) : -frame->bodies.velocity[b - PAIRS][0];
    }
    frame->bodies.mass[2 * PAIRS] = 1;
    frame->bodies.velocity[2 * PAIRS][0] = 1e-6;
    // plain sums would lose it among roundings of 1e9
    ENSURE_NEAR(ss_frame_summarise(frame).momentum[0], 1e-6, 1e-18);
    ss_frame_destroy(frame);
}

TEST_MAIN
