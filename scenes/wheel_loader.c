#include "parts.h"

#include <math.h>
#include <string.h>

/* An articulated wheel loader of 12 t: rear frame with engine and cab, front frame on a vertical hinge, four
 * driven wheels, lift arms on the front frame, bucket on the arms. x points forward, lengths in m; the hinge
 * is at x = y = 0. */
enum { WHEELS = 4, KNOTS = 6 };
static const double axle_x = 1.5, wheel_y = 1.04, wheel_radius = 0.75, wheel_width = 0.52;
static const double arm_pin[3] = {0.9, 0, 1.85}, bucket_pin[3] = {3.05, 0, 0.45}, bucket_width = 2.6;
static const uint32_t yellow = 0xf2b01e, dark = 0x2c2f33, steel = 0x6d747c, glass = 0x7fa6bd;

/* What the driver does: stands while the rocks come to rest, drives into the pile, curls the bucket and
 * lifts, backs out and turns. Speed of the wheels in m/s, steered angle and angles of arms and bucket (nose
 * up) in rad, between knots by a cubic. */
static const double times[KNOTS] = {0.0, 1.2, 2.0, 4.1, 5.6, 7.5};
static const double speed_at[KNOTS] = {0.0, 0.0, 1.2, 0.8, -0.5, -0.8};
static const double steer_at[KNOTS] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.5};
static const double lift_at[KNOTS] = {0.0, 0.0, 0.0, 0.02, 0.25, 0.75};
static const double curl_at[KNOTS] = {0.0, 0.0, 0.0, 0.20, 0.65, 0.35};

typedef struct parameters {
    int rocks;
    double size, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, rocks, "80", 0, 10000, "rocks"),
    SS_PARAMETER_REAL(parameters, size, "0.2", 1e-3, 1e3, "mean radius of a rock, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.6", 0, 10, "friction between all bodies"),
    {0}};

static const double y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1}, nose_up[3] = {0, -1, 0};

/* A box between two corners, given in the world at the start; it meets nothing if it is only for show. */
static void add_box(ss_builder *build, int body, const double from[3], const double low[3],
                    const double high[3], uint32_t colour, bool solid)
{
    ss_shape box = {
        .kind = SS_BOX, .density = 1000.0, .colour = colour, .collides_with = solid ? 0 : SS_MEETS_NOTHING};
    for (int i = 0; i < 3; i++) {
        box.size[i] = high[i] - low[i];
        box.position[i] = 0.5 * (low[i] + high[i]) - from[i];
    }
    ss_build_shape(build, body, &box);
}

/* A plate: a polygon in the x-z plane (of the body frame), between y - thick/2 and y + thick/2. */
static void add_plate(ss_builder *build, int body, const double (*corners)[2], int count, double y,
                      double thick, uint32_t colour, bool solid)
{
    double points[16][3];
    for (int k = 0; k < 2 * count; k++) {
        points[k][0] = corners[k / 2][0];
        points[k][1] = y + (k % 2 ? 0.5 : -0.5) * thick;
        points[k][2] = corners[k / 2][1];
    }
    ss_build_hull(
        build, body, (const double(*)[3])points, 2 * count,
        &(ss_shape){.density = 1000.0, .colour = colour, .collides_with = solid ? 0 : SS_MEETS_NOTHING});
}

static int add_part(ss_builder *build, const char *name, const double at[3], double mass)
{
    ss_place place = ss_place_at(at[0], at[1], at[2]);
    int body = ss_build_part(build, name, &place);
    if (!build->failed) ss_world_body(build->world, body)->mass = mass;
    return body;
}

static int hinge(ss_builder *build, const char *name, int a, int b, const double at[3], const double axis[3],
                 const ss_axis_law *law)
{
    ss_place place = ss_place_at(at[0], at[1], at[2]);
    return ss_build_axis(build, name, SS_JOINT_REVOLUTE, a, b, &place, axis, law);
}

/* ---- the parts ---------------------------------------------------------------------------------------- */

static void add_wheel(ss_builder *build, const char *name, int frame, double x, double y)
{
    double at[3] = {x, y, wheel_radius};
    int wheel = add_part(build, name, at, 400.0);
    ss_shape tyre = {
        .kind = SS_CYLINDER, .size = {wheel_radius, wheel_width}, .density = 1000.0, .colour = dark};
    ss_turn((double[3]){1, 0, 0}, 0.5 * SS_PI, tyre.quaternion);
    ss_build_shape(build, wheel, &tyre);
    ss_shape rim = tyre;
    rim.size[0] = 0.4, rim.size[1] = wheel_width + 0.03;
    rim.colour = yellow, rim.density = 0.0, rim.collides_with = SS_MEETS_NOTHING;
    ss_build_shape(build, wheel, &rim);
    for (int k = 0; k < 10; k++) { /* treads, to see it turn */
        double angle = 2.0 * SS_PI * k / 10.0;
        ss_shape tread = {
            .kind = SS_BOX,
            .size = {0.1, wheel_width + 0.01, 0.06},
            .position = {(wheel_radius - 0.02) * sin(angle), 0, (wheel_radius - 0.02) * cos(angle)},
            .colour = 0x45494e,
            .collides_with = SS_MEETS_NOTHING};
        ss_turn(y_axis, angle, tread.quaternion);
        ss_build_shape(build, wheel, &tread);
    }
    hinge(build, name, frame, wheel, at, y_axis,
          &(ss_axis_law){.motor = SS_MOTOR_VELOCITY, .max_force = 12000.0});
}

static int add_rear_frame(ss_builder *build)
{
    static const double at[3] = {-1.5, 0, 1.0};
    int rear = add_part(build, "rear frame", at, 6500.0);
    add_box(build, rear, at, (double[3]){-2.6, -0.5, 0.6}, (double[3]){-0.1, 0.5, 1.15}, dark, true);
    add_box(build, rear, at, (double[3]){-2.95, -0.75, 0.6}, (double[3]){-2.6, 0.75, 1.35}, dark, true);
    static const double hood[][2] = {{-1.35, 0.15}, {0.25, 0.15}, {0.25, 0.95}, {-1.2, 0.80}};
    add_plate(build, rear, hood, 4, 0.0, 1.3, yellow, true);
    add_box(build, rear, at, (double[3]){-1.25, -0.6, 1.15}, (double[3]){-0.05, 0.6, 1.65}, yellow, true);
    static const double cab[][2] = {{0.27, 0.65}, {1.43, 0.65}, {1.32, 1.6}, {0.32, 1.6}};
    add_plate(build, rear, cab, 4, 0.0, 1.15, glass, true);
    add_box(build, rear, at, (double[3]){-1.3, -0.66, 2.6}, (double[3]){-0.1, 0.66, 2.7}, yellow, true);
    for (int side = -1; side <= 1; side += 2) { /* pillars of the cab and fenders */
        static const double front[][2] = {{1.36, 0.65}, {1.46, 0.65}, {1.35, 1.6}, {1.26, 1.6}};
        static const double back[][2] = {{0.24, 0.65}, {0.33, 0.65}, {0.37, 1.6}, {0.29, 1.6}};
        add_plate(build, rear, front, 4, side * 0.57, 0.06, dark, false);
        add_plate(build, rear, back, 4, side * 0.57, 0.06, dark, false);
        add_box(build, rear, at, (double[3]){-2.3, side * 1.04 - 0.3, 1.58},
                (double[3]){-0.75, side * 1.04 + 0.3, 1.64}, yellow, false);
    }
    ss_build_shape(build, rear,
                   &(ss_shape){.kind = SS_CYLINDER,
                               .size = {0.05, 0.5},
                               .position = {-0.45, 0.3, 1.1},
                               .colour = dark,
                               .collides_with = SS_MEETS_NOTHING});
    return rear;
}

static int add_front_frame(ss_builder *build)
{
    static const double at[3] = {1.2, 0, 0.95};
    int front = add_part(build, "front frame", at, 2500.0);
    add_box(build, front, at, (double[3]){0.1, -0.4, 0.6}, (double[3]){2.0, 0.4, 1.15}, dark, true);
    for (int side = -1; side <= 1; side += 2) {
        static const double tower[][2] = {{-0.9, 0.2}, {0.4, 0.2}, {-0.1, 1.02}, {-0.45, 1.02}};
        add_plate(build, front, tower, 4, side * 0.34, 0.10, yellow, true);
        add_box(build, front, at, (double[3]){0.75, side * 1.04 - 0.3, 1.58},
                (double[3]){2.0, side * 1.04 + 0.3, 1.63}, yellow, false);
    }
    return front;
}

static int add_arms(ss_builder *build)
{
    int arms = add_part(build, "arms", arm_pin, 900.0);
    for (int side = -1; side <= 1; side += 2) { /* in the frame of the pin: bent towards the bucket */
        static const double upper[][2] = {{-0.15, -0.12}, {-0.12, 0.14}, {1.25, -0.22}, {1.15, -0.55}};
        static const double lower[][2] = {{1.15, -0.55}, {1.25, -0.22}, {2.10, -1.30}, {1.98, -1.46}};
        add_plate(build, arms, upper, 4, side * 0.48, 0.12, yellow, true);
        add_plate(build, arms, lower, 4, side * 0.48, 0.12, yellow, true);
    }
    ss_shape tube = {.kind = SS_CYLINDER,
                     .size = {0.11, 0.96},
                     .position = {1.2, 0, -0.42},
                     .density = 1000.0,
                     .colour = yellow};
    ss_turn((double[3]){1, 0, 0}, 0.5 * SS_PI, tube.quaternion);
    ss_build_shape(build, arms, &tube);
    ss_shape piston = {.kind = SS_CYLINDER,
                       .size = {0.07, 1.5},
                       .position = {1.0, 0, -0.22},
                       .colour = steel,
                       .collides_with = SS_MEETS_NOTHING};
    ss_turn(y_axis, 0.5 * SS_PI + 0.42, piston.quaternion);
    ss_build_shape(build, arms, &piston);
    return arms;
}

/* Floor, back, spill plate and two sides; teeth are only for show. In the frame of the pin. */
static int add_bucket(ss_builder *build)
{
    int bucket = add_part(build, "bucket", bucket_pin, 800.0);
    static const double floor[][2] = {
        {-0.05, -0.42}, {1.15, -0.42}, {1.15, -0.40}, {0.9, -0.36}, {-0.05, -0.36}};
    static const double back[][2] = {{-0.05, -0.36}, {0.02, -0.36}, {0.02, 0.25}, {-0.05, 0.25}};
    static const double spill[][2] = {{-0.05, 0.25}, {0.02, 0.25}, {0.28, 0.66}, {0.22, 0.68}};
    static const double cheek[][2] = {{-0.05, -0.42}, {1.0, -0.42}, {0.75, 0.15},
                                      {0.28, 0.66},   {0.22, 0.68}, {-0.05, 0.25}};
    add_plate(build, bucket, floor, 5, 0.0, bucket_width, steel, true);
    add_plate(build, bucket, back, 4, 0.0, bucket_width, steel, true);
    add_plate(build, bucket, spill, 4, 0.0, bucket_width, steel, true);
    for (int side = -1; side <= 1; side += 2)
        add_plate(build, bucket, cheek, 6, side * 0.5 * bucket_width, 0.05, steel, true);
    for (int k = 0; k < 8; k++) {
        static const double tooth[][2] = {{1.0, -0.42}, {1.3, -0.42}, {1.3, -0.405}, {1.0, -0.36}};
        add_plate(build, bucket, tooth, 4, (k - 3.5) * 0.34, 0.1, dark, false);
    }
    return bucket;
}

static void add_rock(ss_builder *build, const parameters *p, int k, ss_random *random)
{
    double points[16][3], size = p->size * ss_random_between(random, 0.6, 1.3), pitch = 2.8 * p->size;
    ss_rock_corners(random, size, (double[3]){1.0, 1.0, 0.8}, 16, points);
    ss_body body = {.kind = SS_DYNAMIC};
    body.position[0] = 5.15 + (k / 6 % 3) * pitch;
    body.position[1] = (k % 6 - 2.5) * pitch;
    body.position[2] = 1.4 * p->size + k / 18 * pitch;
    ss_turn_at_random(random, body.quaternion);
    static const uint32_t greys[4] = {0x8c8379, 0x9d958b, 0x7b746c, 0xa39a8c};
    int rock = ss_build_body(build, &body);
    ss_build_hull(build, rock, (const double(*)[3])points, 16,
                  &(ss_shape){.density = 2600.0, .colour = greys[k % 4]});
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    ss_build_shape(
        &build, SS_WORLD, /* a wall behind the pile, and one at either side */
        &(ss_shape){.kind = SS_BOX, .size = {0.3, 4.4, 1.6}, .position = {7.15, 0, 0.8}, .colour = 0xb5b0a8});
    for (int side = -1; side <= 1; side += 2)
        ss_build_shape(&build, SS_WORLD,
                       &(ss_shape){.kind = SS_BOX,
                                   .size = {1.4, 0.3, 0.8},
                                   .position = {6.3, side * 2.05, 0.4},
                                   .colour = 0xb5b0a8});

    /* Bodies first, then the hinges from the middle outwards; all are driven. */
    int rear = add_rear_frame(&build), front = add_front_frame(&build);
    int arms = add_arms(&build), bucket = add_bucket(&build);
    ss_axis_law held = {.motor = SS_MOTOR_DRIVE};
    hinge(&build, "steering", rear, front, (double[3]){0, 0, 0.9}, z_axis, &held);
    hinge(&build, "arms", front, arms, arm_pin, nose_up, &held);
    hinge(&build, "bucket", arms, bucket, bucket_pin, nose_up, &held);
    static const char *const names[WHEELS] = {"rear right wheel", "rear left wheel", "front right wheel",
                                              "front left wheel"};
    for (int k = 0; k < WHEELS; k++)
        add_wheel(&build, names[k], k < 2 ? rear : front, k < 2 ? -axle_x : axle_x,
                  k % 2 ? wheel_y : -wheel_y);
    for (int k = 0; k < p->rocks; k++) add_rock(&build, p, k, &random);
    return ss_build_done(&build);
}

/* ---- the driver --------------------------------------------------------------------------------------- */

typedef struct driver {
    int steering, arms, bucket, wheels[WHEELS];
} driver;

static void steer(ss_world *world, int joint, const double *values, double time)
{
    ss_axis_law *servo = &ss_world_joint(world, joint)->law[0];
    ss_controller path = {.knots = KNOTS, .time = times, .value = values};
    ss_trajectory_at(&path, time, &servo->target, &servo->target_speed);
}

static bool drive(ss_sim *sim, void *context, ss_error *err)
{
    const driver *self = context;
    ss_world *world = ss_sim_world(sim);
    double time = ss_sim_time(sim), speed, rate;
    (void)err;
    steer(world, self->steering, steer_at, time);
    steer(world, self->arms, lift_at, time);
    steer(world, self->bucket, curl_at, time);
    ss_controller path = {.knots = KNOTS, .time = times, .value = speed_at};
    ss_trajectory_at(&path, time, &speed, &rate);
    for (int k = 0; k < WHEELS; k++)
        ss_world_joint(world, self->wheels[k])->law[0].target_speed = speed / wheel_radius;
    return true;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    (void)of;
    const ss_world *world = ss_sim_world(sim);
    driver *self = ss_allocate(1, sizeof *self);
    if (!self) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    *state = self;
    self->steering = ss_world_find_joint(world, "steering");
    self->arms = ss_world_find_joint(world, "arms");
    self->bucket = ss_world_find_joint(world, "bucket");
    for (int k = 0; k < WHEELS; k++) self->wheels[k] = self->bucket + 1 + k;
    return ss_sim_call_at(sim, SS_BEFORE_COLLISION, drive, self, err);
}

/* Rocks whose centre is between the sides of the bucket, above its floor and before its back. */
static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of;
    const driver *self = state;
    const ss_world *world = ss_sim_world(sim);
    const ss_body *bucket = ss_world_body(world, ss_world_find_body(world, "bucket"));
    const ss_body *rear = ss_world_body(world, ss_world_find_body(world, "rear frame"));
    double load = 0.0, gap = 0.0;
    for (int b = 8; b < ss_world_body_count(world); b++) { /* the loader has eight bodies */
        double seen[3];
        const ss_body *rock = ss_world_body(world, b);
        ss_seen_from(bucket, rock->position, seen);
        for (int i = 0; i < 3; i++) seen[i] += bucket->centre[i];
        bool inside = seen[0] > -0.05 && seen[0] < 1.2 && fabs(seen[1]) < 0.5 * bucket_width &&
                      seen[2] > -0.42 && seen[2] < 1.0;
        if (inside) load += rock->mass;
    }
    for (int j = 0; j < ss_world_joint_count(world); j++) gap = fmax(gap, ss_joint_error(world, j));
    result[0] = (ss_scene_result){"load", "kg", load};
    result[1] = (ss_scene_result){"bucket", "m", bucket->position[2]};
    result[2] = (ss_scene_result){"way", "m", rear->position[0] - rear->centre[0] + 1.5};
    result[3] = (ss_scene_result){"joint_gap", "m", gap};
    double turned, rate;
    ss_joint_coordinate(world, self->wheels[2], 0, &turned, &rate);
    result[4] = (ss_scene_result){"wheel", "rad/s", rate};
    return 5;
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->solver = "auto";
    options->finisher = "none";
    options->max_iterations = 3000;
    options->stop = "relative_energy<1e-6";
}

const ss_scene ss_scene_wheel_loader = {
    .name = "wheel-loader",
    .summary = "an articulated wheel loader drives into a pile of rocks and lifts a bucketful",
    .description =
        "The machine of the BPMD paper (Lacoursiere, Linde, Lu, Trinkle 2015, Fig. 4): 12 t on four driven "
        "wheels, with a hinge in the middle, lift arms and a bucket. It drives into a pile of rocks, curls "
        "and lifts the bucket, backs out and turns. Large forces run from the ground through wheels, "
        "frames and arms into rocks that are a hundred times lighter and slide on each other: joints and "
        "friction in one problem. Reported: mass in the bucket, its height, the way of the machine, and the "
        "largest gap in a joint.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 7.5,
    .picture_time = 6.0,
    .camera = {.eye = {3.6, -9.6, 4.2}, .target = {2.7, 0, 0.9}},
    .build = build_scene,
    .options = choose,
    .begin = begin,
    .si_only = true,
    .figures = figures,
};
