#include "parts.h"

#include <math.h>

static const double thigh = 0.4, shank = 0.4, bend = 0.3, sole = 0.04; /* m, and rad at the hip */

typedef struct parameters {
    double drop, stiffness, damping, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, drop, "0.05", 0, 10,
                      "height of the feet above the ground at the start, in m"),
    SS_PARAMETER_REAL(parameters, stiffness, "600", 0, 1e9, "of the spring in each joint, in N m/rad"),
    SS_PARAMETER_REAL(parameters, damping, "20", 0, 1e9, "of the damper in each joint, in N m s/rad"),
    SS_PARAMETER_REAL(parameters, mu, "0.8", 0, 10, "friction of the feet"),
    {0}};

static char *model(const void *of, ss_error *err)
{
    const parameters *p = of;
    ss_text_writer w = ss_text_start();
    double hip = p->drop + sole + (thigh + shank) * cos(bend);
    ss_text_begin_model(&w, "walker", 0.002);
    ss_text_add(
        &w,
        "  <default>\n"
        "    <geom friction=\"%g 0 0\" condim=\"3\" contype=\"0\" conaffinity=\"0\" density=\"1000\"/>\n"
        "    <joint type=\"hinge\" axis=\"0 1 0\" stiffness=\"%g\" damping=\"%g\" armature=\"0.01\"/>\n"
        "  </default>\n"
        "  <worldbody>\n"
        "    <geom type=\"plane\" size=\"5 5 1\" conaffinity=\"1\"/>\n"
        "    <body name=\"trunk\" pos=\"0 0 %.17g\">\n"
        "      <freejoint/>\n"
        "      <geom type=\"box\" size=\"0.08 0.13 0.2\" pos=\"0 0 0.22\"/>\n"
        "      <geom type=\"sphere\" size=\"0.09\" pos=\"0 0 0.52\"/>\n",
        p->mu, p->stiffness, p->damping, hip);

    // The knees are bent forwards, the soles flat on the ground.
    for (int side = 0; side < 2; side++) {
        const char *name = side ? "right" : "left";
        ss_text_add(&w,
                    "      <body name=\"%s thigh\" pos=\"0 %g 0\" euler=\"0 %g 0\">\n"
                    "        <joint name=\"%s hip\"/>\n"
                    "        <geom type=\"capsule\" size=\"0.05\" fromto=\"0 0 0 0 0 %g\"/>\n"
                    "        <body name=\"%s shank\" pos=\"0 0 %g\" euler=\"0 %g 0\">\n"
                    "          <joint name=\"%s knee\"/>\n"
                    "          <geom type=\"capsule\" size=\"0.04\" fromto=\"0 0 0 0 0 %g\"/>\n"
                    "          <body name=\"%s foot\" pos=\"0 0 %g\" euler=\"0 %g 0\">\n"
                    "            <joint name=\"%s ankle\"/>\n"
                    "            <geom type=\"box\" size=\"0.13 0.05 %g\" pos=\"0.03 0 %g\" contype=\"1\" "
                    "rgba=\"0.88 0.46 0.18 1\"/>\n"
                    "          </body>\n        </body>\n      </body>\n",
                    name, side ? -0.1 : 0.1, -bend, name, -thigh, name, -thigh, 2.0 * bend, name, -shank,
                    name, -shank, -bend, name, 0.5 * sole, -0.5 * sole);
    }
    ss_text_add(&w, "    </body>\n  </worldbody>\n</mujoco>\n");
    return ss_text_done(&w, err);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    (void)seed;
    return ss_build_from_model("walker", model, of, world, err);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const ss_world *world = ss_sim_world(sim);
    const ss_body *trunk = ss_world_body(world, ss_world_find_body(world, "trunk"));
    const double *q = trunk->quaternion;
    double upright = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]), weight = 0.0;
    for (int b = 0; b < ss_world_body_count(world); b++) weight += 9.81 * ss_world_body(world, b)->mass;
    ss_figure_joint_gap(of, sim, state, result);
    result[1] = (ss_scene_result){"trunk_height", "m", trunk->position[2]};
    result[2] = (ss_scene_result){"lean", "rad", acos(fmin(1.0, upright))};
    result[3] = (ss_scene_result){"load", "1", ss_figure_load(sim) / weight};
    return 4;
}

const ss_scene ss_scene_walker = {
    .name = "walker",
    .summary = "a walker on two legs lands on its feet and stays standing",
    .description =
        "A trunk on two legs of hip, knee and ankle, a tree of six hinges on a free body. It is dropped "
        "from a small height, lands on two flat feet, gives in its knees, and stands on its springs: the "
        "ankles are stiff enough for it not to fall over. Two feet with four points of contact each on "
        "one tree are an overdetermined problem. Reported: the largest gap of a joint, height and lean of "
        "the trunk, and the load of the feet as a multiple of the weight. The world is a model file, "
        "which `run --write-model FILE` writes.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.002,
    .length = 3.0,
    .picture_time = 1.0,
    .camera = {.eye = {1.9, -2.4, 1.4}, .target = {0.0, 0.0, 0.65}},
    .build = build_scene,
    .options = ss_accurate_steps,
    .figures = figures,
    .model = model,
};
