#include "parts.h"

#include <math.h>

/* A counterbalanced truck of 4 t. x points forward, to the fork; lengths in m. The front wheels are driven,
 * the rear ones steered. */
enum { WHEELS = 4 };
static const double front_x = 0.8, rear_x = -0.8, track = 0.5; /* axles, and y of the wheels */
static const double tyre_stiffness = 2e6;                      /* N/m, of each of two points */
static const double front_radius = 0.35, rear_radius = 0.28;
static const double mast_pin[3] = {1.0, 0, 0.35}, shaft_y[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};
static const double carriage_z = 0.75, mast_top = 2.15, level = 0.30; /* mast rails; lift of the fork */
/* Transmission and differential: turbine to front wheels. A shaft may turn by less than half a turn per step,
 * and 60 steps per second are few: engine and converter are those behind a reduction of 3.2 to 1. */
static const double gear = 1.5, axle_ratio = 2.5;
static const uint32_t orange = 0xe07b1a, dark = 0x2c2f33, steel = 0x6d747c, grey = 0x8a9096;

typedef struct parameters {
    double torque, ramp, radius, mu, drag;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, torque, "350", 0, 1e4, "of the engine once the ramp is over, in N m"),
    SS_PARAMETER_REAL(parameters, ramp, "2", 0, 1e4, "s in which the torque rises from 0"),
    SS_PARAMETER_REAL(parameters, radius, "3", 1.2, 1e4,
                      "of the circle that the middle of the front axle drives, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.8", 0, 10, "friction of the tyres"),
    SS_PARAMETER_REAL(parameters, drag, "30", 0, 1e4,
                      "rolling resistance: dry friction about the axle of each wheel, in N m"),
    {0}};

static void add_box(ss_builder *build, int body, const double from[3], const double low[3],
                    const double high[3], uint32_t colour)
{
    ss_shape box = {.kind = SS_BOX, .density = 1000.0, .colour = colour, .collides_with = SS_MEETS_NOTHING};
    for (int i = 0; i < 3; i++) {
        box.size[i] = high[i] - low[i];
        box.position[i] = 0.5 * (low[i] + high[i]) - from[i];
    }
    ss_build_shape(build, body, &box);
}

static int add_part(ss_builder *build, const char *name, const double at[3], double mass)
{
    ss_place place = ss_place_at(at[0], at[1], at[2]);
    int body = ss_build_part(build, name, &place);
    if (!build->failed) ss_world_body(build->world, body)->mass = mass;
    return body;
}

static int add_hinge(ss_builder *build, const char *name, int a, int b, const double at[3],
                     const double axis[3], const ss_axis_law *law)
{
    ss_place place = ss_place_at(at[0], at[1], at[2]);
    return ss_build_axis(build, name, SS_JOINT_REVOLUTE, a, b, &place, axis, law);
}

/* ---- the parts -------------------------------------------------------------------------------------- */

/* Most of the mass is the counterweight behind the rear axle. */
static int add_chassis(ss_builder *build)
{
    static const double at[3] = {-0.35, 0, 0.55};
    int chassis = add_part(build, "chassis", at, 3000.0);
    static const double weight[][3] = {{-0.45, -0.42, 0.05}, {-0.45, 0.42, 0.05},  {-1.15, -0.40, 0.05},
                                       {-1.15, 0.40, 0.05},  {-1.28, -0.30, 0.35}, {-1.28, 0.30, 0.35},
                                       {-1.15, -0.40, 0.60}, {-1.15, 0.40, 0.60},  {-0.45, -0.42, 0.62},
                                       {-0.45, 0.42, 0.62}};
    double points[10][3];
    for (int k = 0; k < 10; k++)
        for (int i = 0; i < 3; i++)
            points[k][i] = weight[k][i] + (i == 2 ? 0.22 : 0.0) - (i < 2 ? at[i] : at[2]);
    ss_build_hull(build, chassis, (const double(*)[3])points, 10,
                  &(ss_shape){.density = 4000.0, .colour = orange, .collides_with = SS_MEETS_NOTHING});
    add_box(build, chassis, at, (double[3]){-0.5, -0.38, 0.22}, (double[3]){0.9, 0.38, 0.62}, orange);
    add_box(build, chassis, at, (double[3]){-0.55, -0.36, 0.62}, (double[3]){-0.05, 0.36, 0.92}, orange);
    add_box(build, chassis, at, (double[3]){-0.45, -0.22, 0.92}, (double[3]){0.0, 0.22, 1.0},
            dark); /* seat */
    add_box(build, chassis, at, (double[3]){-0.52, -0.22, 0.95}, (double[3]){-0.42, 0.22, 1.4}, dark);
    add_box(build, chassis, at, (double[3]){0.55, -0.3, 0.62}, (double[3]){0.72, 0.3, 0.98},
            dark);                              /* dashboard */
    for (int side = -1; side <= 1; side += 2) { /* posts of the guard, fenders */
        double y = 0.37 * side;
        add_box(build, chassis, at, (double[3]){0.68, y - 0.03, 0.6}, (double[3]){0.74, y + 0.03, 2.05},
                dark);
        add_box(build, chassis, at, (double[3]){-0.6, y - 0.03, 0.85}, (double[3]){-0.54, y + 0.03, 2.05},
                dark);
        add_box(build, chassis, at, (double[3]){0.4, 0.5 * side - 0.11, 0.73},
                (double[3]){1.0, 0.5 * side + 0.11, 0.76}, orange);
    }
    for (int side = -1; side <= 1; side += 2) /* the roof: two rails and five bars */
        add_box(build, chassis, at, (double[3]){-0.6, 0.38 * side - 0.03, 2.05},
                (double[3]){0.76, 0.38 * side + 0.03, 2.11}, dark);
    for (int k = 0; k < 5; k++) {
        double x = -0.6 + 0.32 * k;
        add_box(build, chassis, at, (double[3]){x, -0.4, 2.05}, (double[3]){x + 0.08, 0.4, 2.1}, dark);
    }
    return chassis;
}

static int add_mast(ss_builder *build)
{
    int mast = add_part(build, "mast", mast_pin, 350.0);
    for (int side = -1; side <= 1; side += 2)
        add_box(build, mast, mast_pin, (double[3]){1.0, 0.3 * side - 0.05, 0.12},
                (double[3]){1.12, 0.3 * side + 0.05, mast_top}, grey);
    for (int k = 0; k < 3; k++)
        add_box(build, mast, mast_pin, (double[3]){1.02, -0.3, 0.2 + 0.95 * k},
                (double[3]){1.08, 0.3, 0.28 + 0.95 * k}, grey);
    return mast;
}

static int add_fork(ss_builder *build)
{
    static const double at[3] = {1.2, 0, carriage_z};
    int fork = add_part(build, "fork", at, 180.0);
    for (int k = 0; k < 2; k++)
        add_box(build, fork, at, (double[3]){1.13, -0.5, level + 0.05 + 0.4 * k},
                (double[3]){1.18, 0.5, level + 0.15 + 0.4 * k}, steel);
    for (int side = -1; side <= 1; side += 2) { /* backs and tines */
        double y = 0.26 * side;
        add_box(build, fork, at, (double[3]){1.18, y - 0.06, level - 0.05},
                (double[3]){1.23, y + 0.06, level + 0.6}, steel);
        add_box(build, fork, at, (double[3]){1.18, y - 0.06, level - 0.1},
                (double[3]){2.25, y + 0.06, level - 0.05}, steel);
    }
    for (int k = 0; k < 4; k++) /* load guard */
        add_box(build, fork, at, (double[3]){1.14, -0.45 + 0.28 * k, level + 0.5},
                (double[3]){1.17, -0.41 + 0.28 * k, level + 1.0}, dark);
    return fork;
}

static int add_wheel(ss_builder *build, const char *name, int carrier, double x, double y, double radius,
                     double mass, double drag)
{
    double at[3] = {x, y, radius}, width = 0.18;
    int wheel = add_part(build, name, at, mass);
    ss_shape tyre = {.kind = SS_CYLINDER, .size = {radius, width}, .density = 1000.0, .colour = dark};
    ss_turn((double[3]){1, 0, 0}, 0.5 * SS_PI, tyre.quaternion);
    ss_build_shape(build, wheel, &tyre);
    ss_shape rim = tyre;
    rim.size[0] = 0.55 * radius, rim.size[1] = width + 0.02;
    rim.colour = 0xd8d3c8, rim.density = 0.0, rim.collides_with = SS_MEETS_NOTHING;
    ss_build_shape(build, wheel, &rim);
    for (int k = 0; k < 3; k++) { /* spokes, to see it turn */
        ss_shape spoke = {.kind = SS_BOX,
                          .size = {0.05, width + 0.03, 1.0 * radius},
                          .colour = orange,
                          .collides_with = SS_MEETS_NOTHING};
        ss_turn(shaft_y, SS_PI * k / 3.0, spoke.quaternion);
        ss_build_shape(build, wheel, &spoke);
    }
    return add_hinge(build, name, carrier, wheel, at, shaft_y, &(ss_axis_law){.friction = drag});
}

/* A shaft of the drive train along y in the chassis. */
static int add_shaft(ss_builder *build, const char *name, int chassis, double x, double radius, double mass,
                     const ss_axis_law *law)
{
    double at[3] = {x, 0, 0.42};
    int shaft = add_part(build, name, at, mass);
    ss_shape disc = {.kind = SS_CYLINDER,
                     .size = {radius, 0.2},
                     .density = 1000.0,
                     .colour = steel,
                     .collides_with = SS_MEETS_NOTHING};
    ss_turn((double[3]){1, 0, 0}, 0.5 * SS_PI, disc.quaternion);
    ss_build_shape(build, shaft, &disc);
    return add_hinge(build, name, chassis, shaft, at, shaft_y, law);
}

/* ---- the whole -------------------------------------------------------------------------------------- */

/* The wheel turns so that its axle points at the centre of the circle, (front_x, radius). */
static double steering_angle(const parameters *p, double y)
{
    return -atan((front_x - rear_x) / (p->radius - y));
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    (void)seed;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);

    /* Mast and fork are held where they are, by drives that do not move. */
    int chassis = add_chassis(&build), mast = add_mast(&build), fork = add_fork(&build);
    ss_axis_law held = {.motor = SS_MOTOR_DRIVE};
    add_hinge(&build, "tilt", chassis, mast, mast_pin, shaft_y, &held);
    ss_place rails = ss_place_at(1.06, 0, carriage_z);
    ss_build_axis(&build, "lift", SS_JOINT_PRISMATIC, mast, fork, &rails, z_axis, &held);

    /* Front wheels on the chassis; rear ones on knuckles, turned by limited servos. */
    int wheel[WHEELS];
    for (int k = 0; k < 2; k++)
        wheel[k] = add_wheel(&build, k ? "front left" : "front right", chassis, front_x, k ? track : -track,
                             front_radius, 80.0, p->drag);
    for (int k = 0; k < 2; k++) {
        double y = k ? track : -track, at[3] = {rear_x, y, rear_radius};
        const char *name = k ? "left knuckle" : "right knuckle";
        int knuckle = add_part(&build, name, at, 30.0);
        add_box(&build, knuckle, at, (double[3]){rear_x - 0.06, y - 0.06, 0.16},
                (double[3]){rear_x + 0.06, y + 0.06, 0.42}, steel);
        add_hinge(&build, name, chassis, knuckle, at, z_axis,
                  &(ss_axis_law){.limited = true,
                                 .lower = -1.4,
                                 .upper = 1.4,
                                 .motor = SS_MOTOR_POSITION,
                                 .stiffness = 4e4,
                                 .damping = 4e3,
                                 .max_force = 1e4});
        wheel[2 + k] =
            add_wheel(&build, k ? "rear left" : "rear right", knuckle, rear_x, y, rear_radius, 50.0, p->drag);
    }

    /* Engine, converter, transmission, differential. The engine's damping is what it needs for itself. */
    int engine = add_shaft(&build, "engine", chassis, -0.35, 0.2, 150.0, &(ss_axis_law){.damping = 4.0});
    int turbine = add_shaft(&build, "turbine", chassis, 0.05, 0.18, 60.0, &(ss_axis_law){0});
    int propeller = add_shaft(&build, "propeller shaft", chassis, 0.4, 0.12, 30.0, &(ss_axis_law){0});
    ss_build_joint(&build, &(ss_joint){.name = "torque converter",
                                       .kind = SS_JOINT_CONVERTER,
                                       .ratio = 2.0,
                                       .capacity = 0.33,
                                       .term = {{.joint = engine}, {.joint = turbine}}});
    ss_build_joint(&build, &(ss_joint){.name = "transmission",
                                       .kind = SS_JOINT_COUPLING,
                                       .terms = 2,
                                       .term = {{.joint = turbine, .factor = 1.0},
                                                {.joint = propeller, .factor = -gear}}});
    ss_build_joint(&build,
                   &(ss_joint){.name = "differential",
                               .kind = SS_JOINT_DIFFERENTIAL,
                               .ratio = axle_ratio,
                               .term = {{.joint = propeller}, {.joint = wheel[1]}, {.joint = wheel[0]}}});
    return ss_build_done(&build);
}

/* ---- the driver ------------------------------------------------------------------------------------- */

typedef struct driver {
    const parameters *p;
    int engine, knuckle[2], wheel[WHEELS], chassis;
    double heading, turned; /* rad: of the last step, and counted through */
} driver;

static double heading_of(const ss_body *body)
{
    const double *q = body->quaternion;
    return atan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]));
}

static bool drive(ss_sim *sim, void *context, ss_error *err)
{
    driver *self = context;
    ss_world *world = ss_sim_world(sim);
    double share = self->p->ramp > 0.0 ? fmin(ss_sim_time(sim) / self->p->ramp, 1.0) : 1.0;
    (void)err;
    ss_world_joint(world, self->engine)->law[0].force = share * self->p->torque;
    for (int k = 0; k < 2; k++) /* the wheels are turned in the first second, standing */
        ss_world_joint(world, self->knuckle[k])->law[0].target =
            fmin(ss_sim_time(sim), 1.0) * steering_angle(self->p, k ? track : -track);
    double heading = heading_of(ss_world_body(world, self->chassis));
    self->turned += remainder(heading - self->heading, 2.0 * SS_PI);
    self->heading = heading;
    return true;
}

/* Friction boxes lie along the wheels: a tyre of two points scrubs in a curve, and must still hold sideways.
 * The first tangent is along the axle. Tyres are soft, so that the load of four wheels on two points each is
 * defined: compliance 1/(h^2 k) is a spring, k/5 at rest where a step removes a fifth of an overlap. */
static bool align_friction(ss_sim *sim, void *context, ss_error *err)
{
    const ss_world *world = ss_sim_world(sim);
    ss_frame *frame = ss_sim_frame_edit(sim);
    (void)context;
    if (frame->contacts.count == 0) return true;
    if (!ss_frame_enable(frame, "contacts/t_u", err) || !ss_frame_enable(frame, "contacts/compliance", err))
        return false;
    for (int c = 0; c < frame->contacts.count; c++) {
        int place = frame->contacts.pair[c][frame->contacts.pair[c][0] == SS_WORLD];
        const ss_body *wheel = ss_world_body(world, ss_sim_frame_body(sim, place));
        const double *n = frame->contacts.normal[c];
        frame->contacts.compliance[c] = 1.0 / (frame->h * frame->h * tyre_stiffness);
        double axle[3], along = 0.0, length = 0.0;
        ss_turn_vector(wheel->quaternion, shaft_y, axle);
        for (int i = 0; i < 3; i++) along += axle[i] * n[i];
        for (int i = 0; i < 3; i++) axle[i] -= along * n[i];
        for (int i = 0; i < 3; i++) length += axle[i] * axle[i];
        if (!(length > 1e-6)) continue; /* a wheel that lies on its side */
        for (int i = 0; i < 3; i++) frame->contacts.tangent[c][i] = axle[i] / sqrt(length);
    }
    return true;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    const ss_world *world = ss_sim_world(sim);
    static const char *const wheels[WHEELS] = {"front right", "front left", "rear right", "rear left"};
    driver *self = ss_allocate(1, sizeof *self);
    if (!self) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    *state = self;
    self->p = of;
    self->engine = ss_world_find_joint(world, "engine");
    self->knuckle[0] = ss_world_find_joint(world, "right knuckle");
    self->knuckle[1] = ss_world_find_joint(world, "left knuckle");
    for (int k = 0; k < WHEELS; k++) self->wheel[k] = ss_world_find_joint(world, wheels[k]);
    self->chassis = ss_world_find_body(world, "chassis");
    return ss_sim_call_at(sim, SS_BEFORE_COLLISION, drive, self, err) &&
           ss_sim_call_at(sim, SS_BEFORE_SOLVE, align_friction, NULL, err);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of;
    const driver *self = state;
    const ss_world *world = ss_sim_world(sim);
    const ss_body *chassis = ss_world_body(world, self->chassis);
    double turned = self->turned + remainder(heading_of(chassis) - self->heading, 2.0 * SS_PI);
    static const char *const names[5] = {"front_right", "front_left", "rear_right", "rear_left", "engine"};
    result[0] = (ss_scene_result){"x", "m", chassis->position[0]};
    result[1] = (ss_scene_result){"y", "m", chassis->position[1]};
    result[2] = (ss_scene_result){"turned", "rad", turned};
    for (int k = 0; k < 5; k++) {
        double position, speed = 0.0;
        ss_joint_coordinate(world, k < WHEELS ? self->wheel[k] : self->engine, 0, &position, &speed);
        result[3 + k] = (ss_scene_result){names[k], "rad/s", speed};
    }
    return 8;
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->formulation = "box";
    options->with.items[options->with.count++] = "bound=previous";
    options->with.items[options->with.count++] = "tangents=frame";
    options->solver = "block-pivot";
    options->finisher = "none";
    options->max_iterations = 1000;
    options->stop = "relative_energy<1e-8";
}

const ss_scene ss_scene_forklift = {
    .name = "forklift",
    .summary = "a forklift with engine, torque converter, transmission and differential drives a circle",
    .description =
        "The vehicle of the paper on unit-consistent error measures (Enzenhoefer, Peiret, Teichmann, "
        "Koevecses 2019, Figs. 11 and 12): chassis, mast and fork, four wheels on hinges, the rear ones on "
        "knuckles that limited servos turn. The torque of the engine ramps up and stays; through a torque "
        "converter, a transmission and a differential, an equation on four bodies, it drives the front "
        "wheels, which turn at different speeds in the circle. Rolling resistance is dry friction about the "
        "axles. Box friction along the wheels, 60 steps per second. Reported: position of the chassis, how "
        "far it has turned, speeds of wheels and engine.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 1.0 / 60.0,
    .length = 12.5,
    .picture_time = 4.0,
    .camera = {.eye = {5.6, -5.0, 2.9}, .target = {1.5, -0.2, 0.9}},
    .build = build_scene,
    .options = choose,
    .begin = begin,
    .si_only = true,
    .figures = figures,
};
