#include "parts.h"

#include <math.h>
#include <string.h>

/* A hand with three fingers of two links at the end of a heavy arm that slides on a column. The fingers close
 * round the bowl of a goblet, press it against the palm, and the arm lifts it. Lengths in m, x points from
 * the palm to the goblet. */
enum { FINGERS = 3 };
static const double palm_face = 0.012, bowl_radius = 0.042, grip_height = 0.155, hinge_y = 0.056;
static const double link_length[2] = {0.062, 0.056}, link_radius = 0.007;
/* the fingers close from the start, the arm rises between these times, in s, to these heights */
static const double lift_times[2] = {1.0, 2.0}, lift_heights[2] = {0.0, 0.12};

typedef struct parameters {
    double ratio, arm, goblet, mu, torque;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, ratio, "1e4", 1, 1e8, "mass of the arm over that of a finger link"),
    SS_PARAMETER_REAL(parameters, arm, "10", 1e-3, 1e6, "mass of the arm, in kg"),
    SS_PARAMETER_REAL(parameters, goblet, "0.3", 1e-6, 1e6, "mass of the goblet, in kg"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, torque, "0.3", 0, 1e6, "torque at the root of a finger, in N m"),
    {0}};

static const double z_axis[3] = {0, 0, 1};

/* A solid of revolution about z from rings (height, radius): convex if the profile is. */
static void add_turned(ss_builder *build, int body, const double (*rings)[2], int count, double density,
                       uint32_t colour)
{
    enum { SIDES = 20 };
    double points[SIDES * 6][3];
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < SIDES; i++) {
            double angle = 2.0 * SS_PI * (i + 0.5) / SIDES, *point = points[SIDES * k + i];
            point[0] = rings[k][1] * cos(angle);
            point[1] = rings[k][1] * sin(angle);
            point[2] = rings[k][0];
        }
    }
    ss_build_hull(build, body, (const double(*)[3])points, SIDES * count,
                  &(ss_shape){.density = density, .colour = colour});
}

static void add_goblet(ss_builder *build, const parameters *p, double x)
{
    int goblet = ss_build_body(
        build, &(ss_body){.name = "goblet", .kind = SS_DYNAMIC, .position = {x, 0, 0}, .mass = p->goblet});
    static const double foot[][2] = {{0.0, 0.036}, {0.004, 0.036}, {0.012, 0.010}};
    static const double stem[][2] = {{0.008, 0.008}, {0.09, 0.006}};
    static const double bowl[][2] = {{0.085, 0.012}, {0.105, 0.031},  {0.135, 0.0415},
                                     {0.155, 0.042}, {0.175, 0.0415}, {0.20, 0.038}};
    add_turned(build, goblet, foot, 3, 2500.0, 0xc9a227);
    add_turned(build, goblet, stem, 2, 2500.0, 0xc9a227);
    add_turned(build, goblet, bowl, 6, 600.0, 0xc9a227);
}

/* Two capsules in a row, turning inwards about vertical axes; the root at (0, y, z) of the palm. */
static void add_finger(ss_builder *build, const parameters *p, int palm, const char *const names[2],
                       double side, double z)
{
    ss_place root = ss_place_at(0, side * hinge_y, z);
    int parent = palm;
    for (int k = 0; k < 2; k++) {
        double length = link_length[k];
        int link = ss_build_part(build, names[k], &root);
        ss_shape capsule = {.kind = SS_CAPSULE,
                            .size = {link_radius, length - 2.0 * link_radius},
                            .position = {0.5 * length, 0, 0},
                            .density = 1.0,
                            .colour = k ? 0xe0752d : 0xd9dce0};
        ss_turn((double[3]){0, 1, 0}, 0.5 * SS_PI, capsule.quaternion);
        ss_build_shape(build, link, &capsule);
        if (!build->failed) ss_world_body(build->world, link)->mass = p->arm / p->ratio;
        ss_axis_law motor = {.motor = SS_MOTOR_VELOCITY,
                             .target_speed = -side * (k ? 2.0 : 1.0),
                             .max_force = k ? 0.4 * p->torque : p->torque,
                             .limited = true,
                             .lower = side > 0.0 ? -2.0 : -0.1,
                             .upper = side > 0.0 ? 0.1 : 2.0};
        ss_build_axis(build, names[k], SS_JOINT_REVOLUTE, parent, link, &root, z_axis, &motor);
        root = ss_place_moved(&root, length, 0, 0);
        parent = link;
    }
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {0.05, 0.07, 0.45},
                               .position = {-0.42, 0, 0.225},
                               .colour = 0x7d858e,
                               .collides_with = SS_MEETS_NOTHING});
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {0.18, 0.18, 0.02},
                               .position = {-0.42, 0, 0.01},
                               .colour = 0x7d858e,
                               .collides_with = SS_MEETS_NOTHING});

    /* The arm: a carriage on the column and a forearm. It is driven up and down. */
    ss_place place = ss_place_at(-0.42, 0, grip_height);
    int arm = ss_build_part(&build, "arm", &place);
    ss_build_shape(&build, arm,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {0.10, 0.12, 0.12},
                               .density = 1000.0,
                               .colour = 0x30343a,
                               .collides_with = SS_MEETS_NOTHING});
    ss_shape tube = {.kind = SS_CYLINDER,
                     .size = {0.035, 0.28},
                     .position = {0.19, 0, 0},
                     .density = 1000.0,
                     .colour = 0xd9dce0,
                     .collides_with = SS_MEETS_NOTHING};
    ss_turn((double[3]){0, 1, 0}, 0.5 * SS_PI, tube.quaternion);
    ss_build_shape(&build, arm, &tube);
    if (!build.failed) ss_world_body(world, arm)->mass = p->arm;
    ss_build_axis(&build, "lift", SS_JOINT_PRISMATIC, SS_WORLD, arm, &place, z_axis,
                  &(ss_axis_law){.motor = SS_MOTOR_DRIVE});

    /* The palm, a tenth of the arm, on a wrist that turns about the arm and is held by its motor. */
    place = ss_place_at(-0.08, 0, grip_height);
    int palm = ss_build_part(&build, "palm", &place);
    ss_shape wrist = {.kind = SS_SPHERE, .size = {0.034}, .density = 1000.0, .colour = 0x30343a};
    ss_build_shape(&build, palm, &wrist);
    ss_build_shape(&build, palm,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {0.08 + palm_face, 0.08, 0.07},
                               .position = {0.5 * (0.08 + palm_face), 0, 0},
                               .density = 1000.0,
                               .colour = 0x30343a});
    ss_build_shape(&build, palm,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {0.024, 2.0 * hinge_y + 0.02, 0.07},
                               .position = {0.072, 0, 0},
                               .density = 1000.0,
                               .colour = 0x4a5058,
                               .collides_with = SS_MEETS_NOTHING});
    if (!build.failed) ss_world_body(world, palm)->mass = 0.1 * p->arm;
    ss_build_axis(&build, "wrist", SS_JOINT_REVOLUTE, arm, palm, &place, (double[3]){1, 0, 0},
                  &(ss_axis_law){.motor = SS_MOTOR_DRIVE});

    /* Two fingers on one side, one between them on the other. */
    static const char *const names[FINGERS][2] = {
        {"finger 1", "tip 1"}, {"finger 2", "tip 2"}, {"thumb", "tip of the thumb"}};
    for (int f = 0; f < FINGERS; f++)
        add_finger(&build, p, palm, names[f], f < 2 ? 1.0 : -1.0,
                   grip_height + (f == 0   ? 0.021
                                  : f == 1 ? -0.021
                                           : 0.0));
    add_goblet(&build, p, palm_face + bowl_radius + 0.002);
    return ss_build_done(&build);
}

/* ---- the controller ----------------------------------------------------------------------------------- */

static bool rise(ss_sim *sim, void *context, ss_error *err)
{
    const int *lift = context;
    (void)err;
    ss_axis_law *servo = &ss_world_joint(ss_sim_world(sim), *lift)->law[0];
    ss_controller path = {.knots = 2, .time = lift_times, .value = lift_heights};
    ss_trajectory_at(&path, ss_sim_time(sim), &servo->target, &servo->target_speed);
    return true;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    (void)of;
    int *lift = ss_allocate(1, sizeof *lift);
    if (!lift) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    *state = lift;
    *lift = ss_world_find_joint(ss_sim_world(sim), "lift");
    return ss_sim_call_at(sim, SS_BEFORE_COLLISION, rise, lift, err);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of, (void)state;
    const ss_world *world = ss_sim_world(sim);
    const ss_body *goblet = ss_world_body(world, ss_world_find_body(world, "goblet"));
    const ss_body *palm = ss_world_body(world, ss_world_find_body(world, "palm"));
    double seen[3], gap = 0.0;
    ss_seen_from(palm, goblet->position, seen);
    for (int j = 0; j < ss_world_joint_count(world); j++) gap = fmax(gap, ss_joint_error(world, j));
    result[0] = (ss_scene_result){"lift", "m", goblet->position[2] - goblet->centre[2]};
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"in_hand_x", "in_hand_y", "in_hand_z"};
        result[1 + i] = (ss_scene_result){names[i], "m", seen[i]};
    }
    result[4] = (ss_scene_result){"joint_gap", "m", gap};
    return 5;
}

const ss_scene ss_scene_mass_ratio_grasp = {
    .name = "mass-ratio-grasp",
    .summary = "a hand whose finger links weigh a ten-thousandth of the arm lifts a goblet",
    .description =
        "After Fig. 1 of Williams, Lu, Niebe, Andersen, Erleben, Trinkle 2013: three fingers of two links "
        "close round the bowl of a goblet, press it against the palm, and the arm lifts it. An arm of 10 kg "
        "and links of 1 g in one chain are hard for methods that pass forces from body to body: the fingers "
        "give way, the joints open, and the goblet slips. By Coulomb's law it does not move in the hand at "
        "all. Reported: where the goblet is in the hand, and the largest gap in a joint.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 6.0,
    .picture_time = 2.0,
    .camera = {.eye = {0.42, -0.55, 0.42}, .target = {-0.1, 0, 0.2}},
    .build = build_scene,
    .options = ss_accurate_steps,
    .begin = begin,
    .si_only = true,
    .figures = figures,
};
