#include "parts.h"

#include <math.h>
#include <string.h>

/* An arm of six ball-shaped modules like Schunk's Powerball, and a gripper with two parallel fingers. All
 * lengths in m. At angles of 0 the arm points straight up; joints 1, 4 and 6 turn about the arm, 2, 3 and 5
 * across it, so that 2, 3 and 5 move the hand in the vertical plane that joint 1 chooses. */
enum { JOINTS = 6, FINGERS = 2, KNOTS = 7 };
static const double shoulder = 0.205, upper_arm = 0.35, forearm = 0.305, tool = 0.19;
static const double reach = 0.42, block[3] = {0.05, 0.05, 0.10}, stand = 0.10, opening = 0.025;
/* s: at the start, above the block, at it, fingers closed, lifted, carried round, and the end of the run */
static const double times[KNOTS] = {0.0, 1.2, 1.8, 2.4, 3.2, 4.6, 5.0};
static const double lifted = 3.2;

typedef struct parameters {
    double mass, mu, squeeze, torque;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, mass, "0.5", 1e-6, 1e6, "mass of the block, in kg"),
    SS_PARAMETER_REAL(parameters, mu, "0.6", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, squeeze, "20", 0, 1e9, "force of each finger, in N"),
    SS_PARAMETER_REAL(parameters, torque, "150", 0, 1e9, "largest torque of a joint of the arm, in N m"),
    {0}};

static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};

/* Angles that hold the point between the finger tips at a distance from the axis of joint 1 and a height,
 * with the hand pointing down. */
static void inverse_kinematics(double turn, double distance, double height, double angle[JOINTS])
{
    double up = height + tool - shoulder, far = hypot(distance, up);
    double elbow =
        acos((far * far - upper_arm * upper_arm - forearm * forearm) / (2.0 * upper_arm * forearm));
    double lean = atan2(distance, up) - atan2(forearm * sin(elbow), upper_arm + forearm * cos(elbow));
    memcpy(angle, (double[JOINTS]){turn, lean, elbow, 0.0, SS_PI - lean - elbow, 0.0},
           JOINTS * sizeof *angle);
}

/* Angles at the knots. Between them each joint moves by a cubic from rest to rest. */
static void plan(double path[JOINTS][KNOTS])
{
    double middle = stand + 0.5 * block[2];
    double angle[KNOTS][JOINTS] = {{-0.9, -0.35, 1.35, 0.0, 1.2, 0.0}};
    inverse_kinematics(0.0, reach, middle + 0.12, angle[1]);
    inverse_kinematics(0.0, reach, middle, angle[2]);
    inverse_kinematics(0.0, reach, middle, angle[3]);
    inverse_kinematics(0.0, reach, middle + 0.20, angle[4]);
    inverse_kinematics(1.2, reach, middle + 0.20, angle[5]);
    angle[5][5] = 0.8;
    memcpy(angle[6], angle[5], sizeof angle[6]);
    for (int k = 0; k < KNOTS; k++) {
        for (int j = 0; j < JOINTS; j++) path[j][k] = angle[k][j];
    }
}

static void add_ball(ss_builder *build, int body, double radius, double z, double density)
{
    ss_build_shape(build, body,
                   &(ss_shape){.kind = SS_SPHERE,
                               .size = {radius},
                               .position = {0, 0, z},
                               .density = density,
                               .colour = 0x30343a,
                               .collides_with = SS_MEETS_NOTHING});
}

static void add_tube(ss_builder *build, int body, double radius, double from, double to, double density)
{
    ss_build_shape(build, body,
                   &(ss_shape){.kind = SS_CYLINDER,
                               .size = {radius, to - from},
                               .position = {0, 0, 0.5 * (from + to)},
                               .density = density,
                               .colour = 0xd9dce0,
                               .collides_with = SS_MEETS_NOTHING});
}

static void add_box(ss_builder *build, int body, const double size[3], const double position[3],
                    double density, uint32_t colour)
{
    ss_shape box = {.kind = SS_BOX, .density = density, .colour = colour};
    memcpy(box.size, size, sizeof box.size);
    memcpy(box.position, position, sizeof box.position);
    ss_build_shape(build, body, &box);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double path[JOINTS][KNOTS];
    plan(path);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    ss_build_shape(
        &build, SS_WORLD,
        &(ss_shape){
            .kind = SS_CYLINDER, .size = {0.085, 0.11}, .position = {0, 0, 0.055}, .colour = 0x7d858e});
    add_box(&build, SS_WORLD, (double[3]){0.16, 0.16, stand}, (double[3]){reach, 0, 0.5 * stand}, 0.0,
            0x8a6f4d);

    /* The arm, from the base up: a module that turns about the arm, and one that bends it, three times. The
     * links meet nothing: what matters touches the fingers. */
    static const char *const names[JOINTS] = {"base", "shoulder", "elbow", "forearm", "wrist", "flange"};
    static const double before[JOINTS] = {0.0, 0.205, 0.35, 0.15, 0.155, 0.0};
    ss_place place = ss_place_at(0, 0, 0);
    int link = SS_WORLD;
    for (int j = 0; j < JOINTS; j++) {
        const double *axis = j == 1 || j == 2 || j == 4 ? y_axis : z_axis;
        ss_axis_law servo = {.motor = SS_MOTOR_DRIVE, .max_force = p->torque};
        place = ss_place_moved(&place, 0, 0, before[j]);
        place = ss_place_turned(&place, axis, path[j][0]);
        int next = ss_build_part(&build, names[j], &place);
        ss_build_axis(&build, names[j], SS_JOINT_REVOLUTE, link, next, &place, axis, &servo);
        link = next;
        if (j == 0)
            add_tube(&build, link, 0.075, 0.11, 0.15, 2000.0), add_ball(&build, link, 0.09, 0.205, 900.0);
        if (j == 1)
            add_tube(&build, link, 0.055, 0.08, 0.27, 900.0), add_ball(&build, link, 0.08, 0.35, 900.0);
        if (j == 2) add_tube(&build, link, 0.05, 0.07, 0.15, 900.0);
        if (j == 3)
            add_tube(&build, link, 0.045, 0.0, 0.09, 900.0), add_ball(&build, link, 0.065, 0.155, 900.0);
        if (j == 4) add_tube(&build, link, 0.04, 0.055, 0.075, 900.0);
    }

    /* The gripper: a palm on the flange, and two fingers that slide along x. */
    add_tube(&build, link, 0.035, 0.075, 0.09, 1500.0);
    add_box(&build, link, (double[3]){0.16, 0.06, 0.04}, (double[3]){0, 0, 0.11}, 1500.0, 0x30343a);
    for (int f = 0; f < FINGERS; f++) {
        double side = f ? 1.0 : -1.0;
        ss_place root = ss_place_moved(&place, side * (0.5 * block[0] + opening), 0, 0.13);
        int finger = ss_build_part(&build, f ? "right finger" : "left finger", &root);
        add_box(&build, finger, (double[3]){0.02, 0.035, 0.085}, (double[3]){side * 0.01, 0, 0.0425}, 2700.0,
                0xe0752d);
        ss_axis_law drive = {
            .motor = SS_MOTOR_POSITION, .stiffness = 2e4, .damping = 400.0, .max_force = 2.0 * p->squeeze};
        ss_build_axis(&build, f ? "right finger" : "left finger", SS_JOINT_PRISMATIC, link, finger, &root,
                      x_axis, &drive);
    }
    ss_body body = {.name = "block", .mass = p->mass, .position = {reach, 0, stand + 0.5 * block[2]}};
    ss_shape shape = {
        .kind = SS_BOX, .size = {block[0], block[1], block[2]}, .density = 1.0, .colour = 0x2f7fc1};
    ss_build_one(&build, &body, &shape);
    return ss_build_done(&build);
}

/* ---- the controller ----------------------------------------------------------------------------------- */

typedef struct controller {
    double path[JOINTS][KNOTS];
    double squeeze;
    int first_joint;
} controller;

/* Where the fingers should be, from 0 (open) to 1 (touching): they close from the third knot on. */
static double closing(double time)
{
    double s = fmin(1.0, fmax(0.0, (time - times[2]) / (times[3] - times[2])));
    return s * s * (3.0 - 2.0 * s);
}

/* Every joint follows its path: target and speed of its servo are set at the start of each step. The fingers
 * are held by springs whose targets lie inside the block: that is the squeeze. */
static bool follow(ss_sim *sim, void *context, ss_error *err)
{
    const controller *self = context;
    ss_world *world = ss_sim_world(sim);
    double time = ss_sim_time(sim);
    (void)err;
    for (int j = 0; j < JOINTS; j++) {
        double angle, speed;
        ss_controller path = {.knots = KNOTS, .time = times, .value = self->path[j]};
        /* rest at every knot: the cubic between two of them alone */
        for (int k = 0; k + 1 < KNOTS; k++) {
            if (time >= times[k]) path.time = times + k, path.value = self->path[j] + k, path.knots = 2;
        }
        ss_trajectory_at(&path, time, &angle, &speed);
        ss_axis_law *servo = &ss_world_joint(world, self->first_joint + j)->law[0];
        servo->target = angle - self->path[j][0]; /* joints count from the start */
        servo->target_speed = speed;
    }
    for (int f = 0; f < FINGERS; f++) {
        ss_axis_law *drive = &ss_world_joint(world, self->first_joint + JOINTS + f)->law[0];
        double inside = self->squeeze / drive->stiffness;
        drive->target = (f ? -1.0 : 1.0) * closing(time) * (opening + inside);
    }
    return true;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    const parameters *p = of;
    controller *self = ss_allocate(1, sizeof *self);
    if (!self) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    *state = self;
    plan(self->path);
    self->squeeze = p->squeeze;
    self->first_joint = ss_world_find_joint(ss_sim_world(sim), "base");
    return ss_sim_call_at(sim, SS_BEFORE_COLLISION, follow, self, err);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of;
    const controller *self = state;
    const ss_world *world = ss_sim_world(sim);
    const ss_body *object = ss_world_body(world, ss_world_find_body(world, "block"));
    const ss_body *hand = ss_world_body(world, ss_world_find_body(world, "flange"));
    double seen[3], gap = 0.0, tracking = 0.0, angle, speed;
    ss_seen_from(hand, object->position, seen);
    for (int j = 0; j < ss_world_joint_count(world); j++) gap = fmax(gap, ss_joint_error(world, j));
    for (int j = 0; j < JOINTS; j++) {
        const ss_joint *joint = ss_world_joint(world, self->first_joint + j);
        ss_joint_coordinate(world, self->first_joint + j, 0, &angle, &speed);
        tracking = fmax(tracking, fabs(angle - joint->law[0].target));
    }
    /* the hand's frame has its origin at the centre of mass of the hand */
    result[0] = (ss_scene_result){"lift", "m", object->position[2] - stand - 0.5 * block[2]};
    result[1] = (ss_scene_result){"in_hand_x", "m", seen[0] + hand->centre[0]};
    result[2] = (ss_scene_result){"in_hand_y", "m", seen[1] + hand->centre[1]};
    result[3] = (ss_scene_result){"in_hand_z", "m", seen[2] + hand->centre[2] - tool};
    result[4] = (ss_scene_result){"joint_gap", "m", gap};
    result[5] = (ss_scene_result){"tracking", "rad", tracking};
    result[6] = (ss_scene_result){"lifting", "1", ss_sim_time(sim) >= lifted};
    return 7;
}

const ss_scene ss_scene_powerball_grasp = {
    .name = "powerball-grasp",
    .summary = "an arm of six joints picks up a block and carries it",
    .description =
        "The Powerball arm of Williams, Lu, Niebe, Andersen, Erleben, Trinkle 2013 (Fig. 10): a controller "
        "in a user function interpolates the six joint angles between start and goals, the gripper closes "
        "on a block, lifts it and carries it round. Friction alone holds the block: by Coulomb's law it "
        "does not move in the hand at all. Arm, fingers and block are one chain of joints and contacts, in "
        "which sweeping methods pass forces on one joint at a time. Reported: where the block is in the "
        "hand, the largest gap in a joint, and how far a joint is from its path.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 8.0,
    .picture_time = 4.0,
    .camera = {.eye = {1.15, -1.0, 0.85}, .target = {0.15, 0.08, 0.3}},
    .build = build_scene,
    .options = ss_accurate_steps,
    .begin = begin,
    .si_only = true,
    .figures = figures,
};
