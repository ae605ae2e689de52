/* Passes that keep joints together: mechanisms whose motion is known, for a minute, with the smallest
 * time stepping that there is. The velocity pass at the present poses is at the same time the solver: it
 * makes G v+ = 0. */
#include "kit.h"

#include "faults.h"

#include "linalg/quat.h"
#include "model/joint_rows.h"
#include "sim/stabilise.h"

static const double pi = 3.14159265358979323846, gravity = 9.81, tolerance = 1e-5;

typedef enum passes { NO_PASSES, PROJECTION, IMPULSES } passes;

typedef struct mechanism {
    ss_world *world;
    ss_stabiliser *stabiliser;
    double h;
    passes passes;
    double worst_position, worst_speed; /* after a step, over all joints, since the start */
    int most_iterations;
} mechanism;

/* ---- building ----------------------------------------------------------------------------------------- */

static mechanism start_mechanism(double h, passes kind)
{
    return (mechanism){
        .world = ss_world_create(NULL), .stabiliser = ss_stabiliser_create(NULL), .h = h, .passes = kind};
}

static void end_mechanism(mechanism *m)
{
    ss_stabiliser_destroy(m->stabiliser);
    ss_world_destroy(m->world);
}

/* A uniform rod between two points in the plane y = `y`, 0.05 thick. */
static int add_rod(ss_world *world, double y, double x0, double z0, double x1, double z1, double mass)
{
    double length = hypot(x1 - x0, z1 - z0), long_way = mass * (length * length + 0.0025) / 12.0;
    double angle = -atan2(z1 - z0, x1 - x0); // about y, from the x axis
    ss_body body = {.kind = SS_DYNAMIC,
                    .position = {0.5 * (x0 + x1), y, 0.5 * (z0 + z1)},
                    .quaternion = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0},
                    .mass = mass,
                    .inertia = {mass * 0.005 / 12.0, 0, 0, 0, long_way, 0, 0, 0, long_way}};
    return ss_world_add_body(world, &body, NULL);
}

static int add_joint(ss_world *world, ss_joint_kind kind, int a, int b, double x, double y, double z)
{
    ss_joint joint = {.kind = kind, .a = a, .b = b, .anchor = {x, y, z}, .axis = {0, 1, 0}};
    return ss_world_add_joint(world, &joint, NULL);
}

/* ---- stepping ----------------------------------------------------------------------------------------- */

static void accelerate(ss_body *body, const double *g, double h)
{
    for (int i = 0; i < 3; i++) body->velocity[i] += h * g[i];
    ss_quat q = ss_quat_load(body->quaternion);
    ss_vec3 w = ss_quat_rotate_back(q, ss_vec3_load(body->velocity + 3));
    ss_mat3 inertia = ss_mat3_load(body->inertia), inverse = inertia;
    ss_mat3_inverse(inertia, &inverse);
    ss_vec3 torque = ss_vec3_cross(ss_mat3_apply(inertia, w), w); // gyroscopic
    ss_vec3 turned = ss_vec3_add_scaled(w, h, ss_mat3_apply(inverse, torque));
    ss_vec3_store(ss_quat_rotate(q, turned), body->velocity + 3);
}

static void move(ss_body *body, double h)
{
    for (int i = 0; i < 3; i++) body->position[i] += h * body->velocity[i];
    ss_quat_store(ss_quat_integrate(ss_quat_load(body->quaternion), ss_vec3_load(body->velocity + 3), h),
                  body->quaternion);
}

static void note_errors(mechanism *m)
{
    for (int j = 0; j < ss_world_joint_count(m->world); j++) {
        m->worst_position = fmax(m->worst_position, ss_joint_error(m->world, j));
        m->worst_speed = fmax(m->worst_speed, ss_joint_speed_error(m->world, j));
        ss_joint_follow(m->world, j);
    }
}

static bool step(mechanism *m)
{
    ss_stabilise_report solve, report = {0};
    bool good = true;
    for (int b = 0; b < ss_world_body_count(m->world); b++) {
        ss_body *body = ss_world_body(m->world, b);
        if (body->kind == SS_DYNAMIC) accelerate(body, ss_world_gravity(m->world), m->h);
    }
    good = good && ss_stabilise_after_move(m->stabiliser, m->world, 0.0, &solve, NULL);
    if (m->passes == IMPULSES)
        good = good && ss_stabilise_before_move(m->stabiliser, m->world, m->h, tolerance, &report, NULL);
    m->most_iterations = report.iterations > m->most_iterations ? report.iterations : m->most_iterations;
    for (int b = 0; b < ss_world_body_count(m->world); b++) move(ss_world_body(m->world, b), m->h);
    if (m->passes == IMPULSES)
        good = good && ss_stabilise_after_move(m->stabiliser, m->world, tolerance, &report, NULL);
    if (m->passes == PROJECTION)
        good = good && ss_stabilise_positions(m->stabiliser, m->world, tolerance, &report, NULL);
    m->most_iterations = report.iterations > m->most_iterations ? report.iterations : m->most_iterations;
    note_errors(m);
    return good;
}

static double energy_of(const mechanism *m)
{
    ss_world_energy energy = ss_world_measure(m->world);
    return energy.kinetic + energy.potential;
}

/* ---- a hanging rod ------------------------------------------------------------------------------------ */

static double arithmetic_geometric_mean(double a, double b)
{
    for (int i = 0; i < 20; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return a;
}

/* A metre of rod on a hinge at its end, released at `angle` from hanging. */
static mechanism hang_rod(double angle, double h, passes kind)
{
    mechanism m = start_mechanism(h, kind);
    int rod = add_rod(m.world, 0.0, 0.0, 0.0, sin(angle), -cos(angle), 1.0);
    add_joint(m.world, SS_JOINT_REVOLUTE, SS_WORLD, rod, 0.0, 0.0, 0.0);
    ss_world_finish(m.world, NULL);
    return m;
}

typedef struct swing {
    double period;        /* s, mean of all */
    double highest, last; /* largest |energy error| over all, and in the last 2 s, J */
} swing;

static swing watch_rod(mechanism *m, double seconds)
{
    swing seen = {0};
    double start = energy_of(m), first = -1.0, last = -1.0, before = 0.0;
    int crossings = 0, steps = (int)lround(seconds / m->h);
    for (int i = 0; i < steps && step(m); i++) {
        double x = ss_world_body(m->world, 0)->position[0], time = (i + 1) * m->h;
        if (before > 0.0 && x <= 0.0) {
            last = time - m->h * x / (x - before); // where the straight line crosses
            if (crossings++ == 0) first = last;
        }
        before = x;
        seen.highest = fmax(seen.highest, fabs(energy_of(m) - start));
        if (time > seconds - 2.0) seen.last = fmax(seen.last, fabs(energy_of(m) - start));
    }
    seen.period = (last - first) / (crossings - 1);
    return seen;
}

/* 2 pi sqrt(2 L / 3 g) for the thin rod, made longer by the elliptic integral; the rod is 0.05 thick */
static double exact_period(double angle)
{
    double inertia = 1.0 / 3.0 + 0.0025 / 12.0;
    return 2.0 * pi * sqrt(inertia / (gravity * 0.5)) / arithmetic_geometric_mean(1.0, cos(0.5 * angle));
}

TEST(a_rod_swings_for_a_minute_within_the_tolerance_of_the_impulse_correction)
{
    mechanism m = hang_rod(1.0, 0.01, IMPULSES);
    swing seen = watch_rod(&m, 60.0);
    ENSURE(m.worst_position <= tolerance);
    ENSURE(m.worst_speed <= tolerance);
    // first order in time: (omega h)^2 = 1.5e-3 of the period
    ENSURE_NEAR(seen.period / exact_period(1.0), 1.0, 1.5e-3);
    // the swing is worth m g L/2 (1 - cos 1) = 2.25 J; symplectic Euler wobbles by omega h / 2 of it
    ENSURE_NEAR(seen.highest, 0.0, 0.06);
    ENSURE_NEAR(seen.last, seen.highest, 0.03); // and does not drift
    end_mechanism(&m);
}

TEST(a_rod_drifts_from_its_hinge_without_passes)
{
    mechanism m = hang_rod(1.0, 0.01, NO_PASSES);
    watch_rod(&m, 60.0);
    ENSURE(m.worst_position > 1e-2); // what the others are measured against
    end_mechanism(&m);
}

TEST(projection_holds_the_rod_but_does_not_touch_its_velocity)
{
    mechanism m = hang_rod(1.0, 0.01, PROJECTION);
    double start = energy_of(&m);
    swing seen = watch_rod(&m, 60.0);
    ENSURE(m.worst_position <= tolerance);
    ENSURE(m.worst_speed > tolerance); // that of the poses before
    // Velocities that are turned into the next tangent without a push lose energy: the swing gets
    // smaller, not wrong.
    ENSURE(energy_of(&m) < start - 0.5);
    ENSURE(seen.period > 0.999 * exact_period(0.0) && seen.period < exact_period(1.0));
    end_mechanism(&m);
}

TEST(a_rod_that_goes_over_the_top_keeps_turning)
{
    mechanism m = hang_rod(0.0, 0.01, IMPULSES);
    ss_body *rod = ss_world_body(m.world, 0);
    rod->velocity[4] = -12.0; // rad/s; sqrt(6 g / L) = 7.7 are needed
    rod->velocity[0] = 0.5 * 12.0;
    double start = energy_of(&m);
    for (int i = 0; i < 6000; i++) ENSURE(step(&m));
    ENSURE(m.worst_position <= tolerance && m.worst_speed <= tolerance);
    ENSURE_NEAR(energy_of(&m), start, 0.1 * 24.0);               // of 24 J kinetic at the start
    ENSURE(fabs(ss_world_joint(m.world, 0)->turned[0]) > 400.0); // some 9 rad/s for a minute
    end_mechanism(&m);
}

/* ---- a chain ------------------------------------------------------------------------------------------ */

static mechanism hang_chain(ss_joint_kind kind, int links, passes how)
{
    mechanism m = start_mechanism(0.01, how);
    for (int i = 0; i < links; i++) {
        double x = 0.2 * i;
        int link = add_rod(m.world, 0.0, x, 0.0, x + 0.2, 0.0, 0.3);
        add_joint(m.world, kind, link - 1, link, x, 0.0, 0.0); // the first one to the world: -1
    }
    ss_world_finish(m.world, NULL);
    return m;
}

static void swing_chain(ss_joint_kind kind)
{
    mechanism m = hang_chain(kind, 20, IMPULSES);
    double start = energy_of(&m), highest = -1e9;
    for (int i = 0; i < 6000; i++) {
        ENSURE(step(&m));
        highest = fmax(highest, energy_of(&m) - start);
    }
    ENSURE(m.worst_position <= tolerance);
    ENSURE(m.worst_speed <= tolerance);
    // falling by its own half length of 2 m frees 6 kg g 2 m = 118 J
    ENSURE(highest < 0.15 * 118.0);
    ENSURE(m.most_iterations <= 12);
    end_mechanism(&m);
}

TEST(a_chain_of_twenty_links_falls_and_swings_within_the_tolerance)
{
    swing_chain(SS_JOINT_REVOLUTE);
}

TEST(a_chain_of_ball_joints_too)
{
    swing_chain(SS_JOINT_BALL);
}

/* ---- a loop with more equations than it needs ---------------------------------------------------------- */

/* Crank 0.2, coupler 0.5, rocker 0.4 on a base of 0.5: four hinges with parallel axes, of whose 20
 * rows 17 would do. */
static mechanism make_four_bar(passes kind)
{
    mechanism m = start_mechanism(0.01, kind);
    double x = 0.0, z = 0.2;                            // crank upright
    double base = hypot(0.5 - x, z), half = 0.5 * base; // from the crank's end to the rocker's foot
    double along = (0.5 * 0.5 - 0.4 * 0.4) / (2.0 * base) + half, high = sqrt(0.25 - along * along);
    double ux = (0.5 - x) / base, uz = -z / base, kx = x + along * ux - high * uz,
           kz = z + along * uz + high * ux;
    int crank = add_rod(m.world, 0.0, 0.0, 0.0, x, z, 1.0);
    int coupler = add_rod(m.world, 0.0, x, z, kx, kz, 1.5);
    int rocker = add_rod(m.world, 0.0, 0.5, 0.0, kx, kz, 1.2);
    add_joint(m.world, SS_JOINT_REVOLUTE, SS_WORLD, crank, 0.0, 0.0, 0.0);
    add_joint(m.world, SS_JOINT_REVOLUTE, crank, coupler, x, 0.0, z);
    add_joint(m.world, SS_JOINT_REVOLUTE, coupler, rocker, kx, 0.0, kz);
    add_joint(m.world, SS_JOINT_REVOLUTE, rocker, SS_WORLD, 0.5, 0.0, 0.0);
    ss_world_finish(m.world, NULL);
    ss_body *body = ss_world_body(m.world, crank);
    body->velocity[4] = 15.0;
    body->velocity[0] = 15.0 * 0.1;
    ss_stabilise_report report;
    ss_stabilise_after_move(m.stabiliser, m.world, 0.0, &report, NULL); // the others take their part
    return m;
}

static void run_four_bar(passes kind, double position, double speed, double turned)
{
    mechanism m = make_four_bar(kind);
    double start = energy_of(&m);
    for (int i = 0; i < 6000; i++) ENSURE(step(&m));
    ENSURE(m.worst_position <= position);
    ENSURE(m.worst_speed <= speed);
    ENSURE(fabs(ss_world_joint(m.world, 0)->turned[0]) > turned);
    ENSURE(energy_of(&m) < 1.1 * start);
    end_mechanism(&m);
}

TEST(a_four_bar_linkage_turns_for_a_minute_with_impulses)
{
    run_four_bar(IMPULSES, tolerance, tolerance, 400.0); // it still goes round
}

TEST(a_four_bar_linkage_turns_for_a_minute_with_projection)
{
    run_four_bar(PROJECTION, tolerance, INFINITY, 1.0); // has come to rest by numerical damping
}

/* ---- single passes ------------------------------------------------------------------------------------ */

TEST(bodies_put_anywhere_are_brought_together)
{
    ss_random random = ss_random_start(3, 0);
    for (int kind = 0; kind < SS_JOINT_COUPLING; kind++) {
        mechanism m = start_mechanism(0.01, PROJECTION);
        int left = add_rod(m.world, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0);
        int right = add_rod(m.world, 0.0, 1.0, 0.0, 2.0, 0.5, 2.0);
        ss_joint joint = {.kind = kind, .a = left, .b = right, .anchor = {1, 0, 0}, .axis = {0, 1, 0}};
        joint.axis2[0] = joint.ratio = 1.0;
        joint.anchor_b[0] = 1.5;
        ss_world_add_joint(m.world, &joint, NULL);
        ss_world_finish(m.world, NULL);
        for (int b = 0; b < 2; b++) {
            ss_body *body = ss_world_body(m.world, b);
            for (int i = 0; i < 3; i++) body->position[i] += ss_random_between(&random, -0.3, 0.3);
            ss_vec3 turn = {ss_random_between(&random, -0.6, 0.6), ss_random_between(&random, -0.6, 0.6),
                            0.4};
            ss_quat_store(ss_quat_integrate(ss_quat_load(body->quaternion), turn, 1.0), body->quaternion);
        }
        ss_world_energy before = ss_world_measure(m.world);
        ss_stabilise_report report;
        ENSURE(ss_stabilise_positions(m.stabiliser, m.world, 1e-10, &report, NULL));
        if (!report.converged)
            KIT_FAIL("%s: %g after %d", ss_joint_kind_name(kind), report.after, report.iterations);
        ENSURE(report.iterations <= 12); // Newton: from order 1 to 1e-10
        // moved by internal forces alone: the centre of mass stays
        ENSURE_NEAR(ss_world_measure(m.world).potential, before.potential, 1e-13);
        end_mechanism(&m);
    }
}

TEST(what_holds_is_not_touched)
{
    mechanism m = hang_chain(SS_JOINT_REVOLUTE, 3, PROJECTION);
    ss_body *body = ss_world_body(m.world, 1);
    body->position[0] += 0.5 * tolerance;
    double x = body->position[0];
    ss_stabilise_report report;
    ENSURE(ss_stabilise_positions(m.stabiliser, m.world, tolerance, &report, NULL));
    ENSURE(body->position[0] == x && report.iterations == 0 && report.converged);
    ENSURE_NEAR(report.before, 0.5 * tolerance, 1e-15);
    end_mechanism(&m);
}

/* A rod of length 1 between two pins 1.2 apart: no pose does it. */
TEST(joints_that_contradict_each_other_are_reported_and_share_the_error)
{
    mechanism m = start_mechanism(0.01, PROJECTION);
    int rod = add_rod(m.world, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0);
    add_joint(m.world, SS_JOINT_BALL, SS_WORLD, rod, 0.0, 0.0, 0.0);
    int far = add_joint(m.world, SS_JOINT_BALL, SS_WORLD, rod, 1.0, 0.0, 0.0);
    ss_world_joint(m.world, far)->local_anchor[0][0] = 1.2;
    ss_world_finish(m.world, NULL);
    ss_stabilise_report report;
    ENSURE(ss_stabilise_positions(m.stabiliser, m.world, tolerance, &report, NULL));
    ENSURE(!report.converged);
    ENSURE(report.after <= report.before);
    ENSURE(isfinite(ss_world_body(m.world, rod)->position[0]));
    end_mechanism(&m);
}

TEST(a_kinematic_body_takes_its_joints_along)
{
    mechanism m = start_mechanism(0.01, IMPULSES);
    ss_body lift = {.kind = SS_KINEMATIC, .velocity = {0.3, 0.0, 1.0, 0.0, 2.0, 0.0}};
    int base = ss_world_add_body(m.world, &lift, NULL);
    int rod = add_rod(m.world, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0);
    add_joint(m.world, SS_JOINT_REVOLUTE, base, rod, 0.0, 0.0, 0.0);
    ss_world_finish(m.world, NULL);
    for (int i = 0; i < 1000; i++) ENSURE(step(&m));
    ENSURE(m.worst_position <= tolerance && m.worst_speed <= tolerance);
    ENSURE_NEAR(ss_world_body(m.world, base)->position[2], 10.0, 1e-11); // goes its own way
    end_mechanism(&m);
}

TEST(a_world_without_joints_passes)
{
    mechanism m = start_mechanism(0.01, IMPULSES);
    add_rod(m.world, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0);
    ss_world_finish(m.world, NULL);
    ENSURE(step(&m));
    end_mechanism(&m);
}

TEST(joints_may_come_and_go)
{
    mechanism m = hang_chain(SS_JOINT_REVOLUTE, 4, IMPULSES);
    for (int i = 0; i < 50; i++) ENSURE(step(&m));
    ss_world_joint(m.world, 2)->disabled = true; // the lower half falls
    for (int i = 0; i < 50; i++) ENSURE(step(&m));
    ENSURE(m.worst_position <= tolerance);
    ENSURE(ss_world_body(m.world, 3)->position[2] < -0.8); // the chain of 0.8 could not reach so far
    end_mechanism(&m);
}

TEST(lack_of_memory_is_told_and_nothing_moves)
{
    mechanism m = hang_chain(SS_JOINT_REVOLUTE, 3, PROJECTION);
    ss_body *body = ss_world_body(m.world, 1);
    body->position[0] += 0.01;
    double x = body->position[0];
    bool failed = true;
    for (int n = 1; failed; n++) {
        faults_start(n);
        ss_error err = {0};
        ss_stabilise_report report;
        ss_stabiliser *stabiliser = ss_stabiliser_create(&err);
        bool good = stabiliser && ss_stabilise_positions(stabiliser, m.world, tolerance, &report, &err);
        ss_stabiliser_destroy(stabiliser);
        long leaked = faults.live;
        failed = faults_stop();
        ENSURE(good == !failed && leaked == 0);
        ENSURE(good || (err.code == SS_ERROR_RESOURCES && body->position[0] == x));
    }
    ENSURE(body->position[0] != x);
    end_mechanism(&m);
}

TEST(a_pose_that_is_not_finite_is_refused)
{
    mechanism m = hang_chain(SS_JOINT_REVOLUTE, 3, PROJECTION);
    ss_world_body(m.world, 1)->position[0] = NAN;
    double x = ss_world_body(m.world, 0)->position[0];
    ss_stabilise_report report;
    ss_error err = {0};
    ENSURE(!ss_stabilise_positions(m.stabiliser, m.world, tolerance, &report, &err));
    ENSURE_CONTAINS(err.message, "joints");
    ENSURE(ss_world_body(m.world, 0)->position[0] == x);
    end_mechanism(&m);
}

/* The same mechanism in millimetres, grams and milliseconds does the same. */
TEST(units_do_not_matter)
{
    double angle[2];
    for (int k = 0; k < 2; k++) {
        mechanism m = hang_chain(SS_JOINT_REVOLUTE, 5, IMPULSES);
        if (k) ENSURE(ss_world_change_units(m.world, 1024.0, 4096.0, 1024.0, NULL));
        m.h *= k ? 1024.0 : 1.0;
        ss_stabilise_report report = {0};
        for (int i = 0; i < 100; i++) {
            for (int b = 0; b < 5; b++) accelerate(ss_world_body(m.world, b), ss_world_gravity(m.world), m.h);
            ENSURE(ss_stabilise_after_move(m.stabiliser, m.world, 0.0, &report, NULL));
            ENSURE(ss_stabilise_before_move(m.stabiliser, m.world, m.h, 0.0, &report, NULL));
            for (int b = 0; b < 5; b++) move(ss_world_body(m.world, b), m.h);
        }
        ss_joint_coordinate(m.world, 4, 0, &angle[k], NULL);
        end_mechanism(&m);
    }
    ENSURE(angle[1] == angle[0]); // powers of two, and even ones where roots are taken: not a bit may differ
}

TEST_MAIN
