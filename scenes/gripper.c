#include "parts.h"

#include <math.h>

static const double width = 0.05, link = 0.06, spread = 0.35; /* m, and rad of the fingers at the start */

typedef struct parameters {
    double mass, mu, stiffness, damping, close;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, mass, "0.3", 1e-6, 1e6, "mass of the block, in kg"),
    SS_PARAMETER_REAL(parameters, mu, "0.8", 0, 10, "friction between fingers and block"),
    SS_PARAMETER_REAL(parameters, stiffness, "2", 0, 1e9, "of the spring that closes a finger, in N m/rad"),
    SS_PARAMETER_REAL(parameters, damping, "0.02", 0, 1e9, "of the damper in each hinge, in N m s/rad"),
    SS_PARAMETER_REAL(parameters, close, "0.5", 0, 3,
                      "angle by which a finger would close without the block, in rad"),
    {0}};

static char *model(const void *of, ss_error *err)
{
    const parameters *p = of;
    ss_text_writer w = ss_text_start();
    // A finger leans outwards by `spread`; its pad, turned back by as much, is flat against the block.
    double root = 0.5 * width + 0.008 + link * sin(spread), down = link * cos(spread);
    ss_text_begin_model(&w, "gripper", 0.001);
    ss_text_add(
        &w,
        "  <default>\n"
        "    <geom friction=\"%g 0 0\" condim=\"3\" contype=\"0\" conaffinity=\"0\" density=\"2000\"/>\n"
        "    <joint type=\"hinge\" axis=\"0 1 0\" damping=\"%g\"/>\n"
        "  </default>\n"
        "  <worldbody>\n"
        "    <geom type=\"box\" size=\"0.08 0.03 0.012\" pos=\"0 0 0.312\" density=\"0\"/>\n",
        p->mu, p->damping);
    for (int side = 0; side < 2; side++) {
        double sign = side ? -1.0 : 1.0;
        const char *name = side ? "right" : "left";
        ss_text_add(&w,
                    "    <body name=\"%s finger\" pos=\"%.17g 0 0.3\" euler=\"0 %.17g 0\">\n"
                    "      <joint name=\"%s root\" stiffness=\"%g\" springref=\"%g\"/>\n"
                    "      <geom type=\"capsule\" size=\"0.007\" fromto=\"0 0 0 0 0 %g\"/>\n"
                    "      <body name=\"%s pad\" pos=\"0 0 %g\" euler=\"0 %.17g 0\">\n"
                    "        <joint name=\"%s hinge\" stiffness=\"0.02\"/>\n"
                    "        <geom type=\"box\" size=\"0.006 0.015 0.02\" pos=\"%g 0 -0.01\" contype=\"1\" "
                    "rgba=\"0.88 0.46 0.18 1\"/>\n"
                    "      </body>\n    </body>\n",
                    name, sign * root, sign * spread, name, p->stiffness, sign * p->close, -link, name, -link,
                    -sign * spread, name, sign * -0.002);
    }
    ss_text_add(&w,
                "    <body name=\"block\" pos=\"0 0 %.17g\">\n"
                "      <freejoint/>\n"
                "      <geom type=\"box\" size=\"%g 0.025 0.04\" mass=\"%g\" conaffinity=\"1\" "
                "rgba=\"0.18 0.5 0.76 1\"/>\n"
                "    </body>\n"
                "  </worldbody>\n</mujoco>\n",
                0.3 - down - 0.01, 0.5 * width, p->mass);
    return ss_text_done(&w, err);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    (void)seed;
    return ss_build_from_model("gripper", model, of, world, err);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const ss_world *world = ss_sim_world(sim);
    const ss_body *block = ss_world_body(world, ss_world_find_body(world, "block"));
    ss_figure_joint_gap(of, sim, state, result);
    result[1] = (ss_scene_result){"block_sinks", "m", 0.3 - link * cos(spread) - 0.01 - block->position[2]};
    result[2] = (ss_scene_result){"block_speed", "m/s", -block->velocity[2]};
    result[3] = (ss_scene_result){"squeeze", "N", 0.5 * ss_figure_load(sim)};
    return 4;
}

const ss_scene ss_scene_gripper = {
    .name = "gripper",
    .summary = "two fingers of two links each catch a block and hold it by friction",
    .description =
        "Two fingers hang from a palm, each with a hinge at its root and one at its pad; springs close "
        "them on a block that is let go at the same moment. The pads turn until they are flat against it, "
        "and hold it by friction alone: closed loops of contacts through two trees. By Coulomb's law it "
        "stays once mu times the squeeze of both fingers exceeds its weight; a speed that remains is the "
        "error of the solver. Reported: the largest gap of a joint, how far the block has sunk and how "
        "fast it sinks, and the mean squeeze of a finger. The world is a model file, which `run "
        "--write-model FILE` writes.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.001,
    .length = 2.0,
    .picture_time = 0.5,
    .camera = {.eye = {0.22, -0.42, 0.36}, .target = {0.0, 0.0, 0.25}},
    .build = build_scene,
    .options = ss_accurate_steps,
    .figures = figures,
    .model = model,
};
