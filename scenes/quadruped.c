#include "parts.h"

#include <math.h>

static const double thigh = 0.25, shank = 0.25, bend = 0.5, foot = 0.03; /* m, and rad at the hip */

typedef struct parameters {
    double slope, mu, stiffness, damping;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, slope, "15", 0, 60, "slope of the ground, in degrees"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction of the feet"),
    SS_PARAMETER_REAL(parameters, stiffness, "300", 0, 1e9, "of the spring in each joint, in N m/rad"),
    SS_PARAMETER_REAL(parameters, damping, "10", 0, 1e9, "of the damper in each joint, in N m s/rad"),
    {0}};

/* It faces uphill, along x turned about y. */
static char *model(const void *of, ss_error *err)
{
    const parameters *p = of;
    ss_text_writer w = ss_text_start();
    double slope = p->slope * SS_PI / 180.0, hip = foot + (thigh + shank) * cos(bend);
    ss_text_begin_model(&w, "quadruped", 0.002);
    ss_text_add(
        &w,
        "  <default>\n"
        "    <geom friction=\"%g 0 0\" condim=\"3\" contype=\"0\" conaffinity=\"0\" density=\"1000\"/>\n"
        "    <joint type=\"hinge\" axis=\"0 1 0\" stiffness=\"%g\" damping=\"%g\"/>\n"
        "  </default>\n"
        "  <worldbody>\n"
        "    <geom type=\"plane\" size=\"5 5 1\" euler=\"0 %.17g 0\" conaffinity=\"1\"/>\n"
        "    <body name=\"trunk\" pos=\"%.17g 0 %.17g\" euler=\"0 %.17g 0\">\n"
        "      <freejoint/>\n"
        "      <geom type=\"box\" size=\"0.32 0.12 0.06\" pos=\"0 0 0.04\"/>\n"
        "      <geom type=\"sphere\" size=\"0.08\" pos=\"0.38 0 0.12\"/>\n",
        p->mu, p->stiffness, p->damping, -slope, -hip * sin(slope), hip * cos(slope), -slope);
    static const char *const names[4] = {"left front", "right front", "left hind", "right hind"};
    for (int leg = 0; leg < 4; leg++) {
        // knees point backwards in front and forwards behind, so that the legs support each other
        double turn = leg < 2 ? bend : -bend;
        ss_text_add(&w,
                    "      <body name=\"%s thigh\" pos=\"%g %g 0\" euler=\"0 %g 0\">\n"
                    "        <joint name=\"%s hip\"/>\n"
                    "        <geom type=\"capsule\" size=\"0.035\" fromto=\"0 0 0 0 0 %g\"/>\n"
                    "        <body name=\"%s shank\" pos=\"0 0 %g\" euler=\"0 %g 0\">\n"
                    "          <joint name=\"%s knee\"/>\n"
                    "          <geom type=\"capsule\" size=\"0.025\" fromto=\"0 0 0 0 0 %g\"/>\n"
                    "          <geom type=\"sphere\" size=\"%g\" pos=\"0 0 %g\" contype=\"1\" "
                    "rgba=\"0.88 0.46 0.18 1\"/>\n"
                    "        </body>\n      </body>\n",
                    names[leg], leg < 2 ? 0.28 : -0.28, leg % 2 ? -0.13 : 0.13, turn, names[leg], -thigh,
                    names[leg], -thigh, -2.0 * turn, names[leg], -shank, foot, -shank);
    }
    ss_text_add(&w, "    </body>\n  </worldbody>\n</mujoco>\n");
    return ss_text_done(&w, err);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    (void)seed;
    return ss_build_from_model("quadruped", model, of, world, err);
}

/* Place and speed of the centre of mass along the slope, downhill. */
static void measure(const parameters *p, const ss_sim *sim, double *place, double *speed)
{
    const ss_world *world = ss_sim_world(sim);
    double slope = p->slope * SS_PI / 180.0, mass = 0.0;
    *place = *speed = 0.0;
    for (int b = 0; b < ss_world_body_count(world); b++) {
        const ss_body *body = ss_world_body(world, b);
        mass += body->mass;
        *place -= body->mass * (cos(slope) * body->position[0] + sin(slope) * body->position[2]);
        *speed -= body->mass * (cos(slope) * body->velocity[0] + sin(slope) * body->velocity[2]);
    }
    *place /= mass;
    *speed /= mass;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    double *start = ss_allocate(1, sizeof *start), speed;
    if (!start) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    measure(of, sim, start, &speed);
    *state = start;
    return true;
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    const double *start = state;
    double slope = p->slope * SS_PI / 180.0, place, speed;
    measure(p, sim, &place, &speed);
    double pull = 9.81 * fmax(0.0, sin(slope) - p->mu * cos(slope));
    ss_figure_joint_gap(of, sim, state, result);
    result[1] = (ss_scene_result){"downhill", "m", place - *start};
    result[2] = (ss_scene_result){"speed", "m/s", speed};
    result[3] = (ss_scene_result){"coulomb_speed", "m/s", pull * ss_sim_time(sim)};
    return 4;
}

const ss_scene ss_scene_quadruped = {
    .name = "quadruped",
    .summary = "a machine on four legs stands on a slope",
    .description =
        "A trunk on four legs of hip and knee, a tree of eight hinges on a free body, with round feet on "
        "a slope. With mu above the tangent of the slope the feet stick while the legs give, and it "
        "stands; below it, the machine slides, and its centre of mass reaches the speed of Coulomb's law "
        "once its legs have found their angles (reported beside it: speed, coulomb_speed). Reported too: "
        "how far downhill the centre of mass is, and the largest gap of a joint. The world is a model "
        "file, which `run --write-model FILE` writes.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.002,
    .length = 3.0,
    .picture_time = 0.5,
    .camera = {.eye = {1.0, -1.9, 0.9}, .target = {-0.05, 0.0, 0.25}},
    .build = build_scene,
    .options = ss_accurate_steps,
    .begin = begin,
    .figures = figures,
    .model = model,
};
