#include "parts.h"

#include <math.h>

/* A chain of hinges on a pedestal, of one length however many links it has. */
static const double reach = 1.2, thickness = 0.035; /* m */

typedef struct parameters {
    int64_t links;
    double height, stiffness, damping, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, links, "6", 1, 96, "number of links and hinges"),
    SS_PARAMETER_REAL(parameters, height, "0.5", 0.1, 100, "height of the shoulder, in m"),
    SS_PARAMETER_REAL(parameters, stiffness, "20", 0, 1e9, "of the spring in each hinge, in N m/rad"),
    SS_PARAMETER_REAL(parameters, damping, "0.5", 0, 1e9, "of the damper in each hinge, in N m s/rad"),
    SS_PARAMETER_REAL(parameters, mu, "0.4", 0, 10, "friction of the hand on the ground"),
    {0}};

static char *model(const void *of, ss_error *err)
{
    const parameters *p = of;
    ss_text_writer w = ss_text_start();
    double length = reach / (double)p->links, radius = fmin(thickness, 0.25 * length);
    ss_text_begin_model(&w, "arm", 0.002);
    ss_text_add(
        &w,
        "  <default>\n"
        "    <geom friction=\"%g 0 0\" condim=\"3\" contype=\"0\" conaffinity=\"0\" density=\"1000\"/>\n"
        "    <joint type=\"hinge\" stiffness=\"%g\" damping=\"%g\"/>\n"
        "  </default>\n"
        "  <worldbody>\n"
        "    <geom type=\"plane\" size=\"5 5 1\" conaffinity=\"1\"/>\n"
        "    <geom type=\"cylinder\" size=\"0.08 %g\" pos=\"0 0 %g\"/>\n",
        p->mu, p->stiffness, p->damping, 0.5 * (p->height - 0.06), 0.5 * (p->height - 0.06));

    // The first hinge turns the arm about the vertical; of the others, one of three bends it sideways,
    // and all are a little askew, so that it moves in space.
    for (int i = 0; i < p->links; i++) {
        if (i == 0)
            ss_text_add(&w, "<body name=\"link 0\" pos=\"0 0 %g\" euler=\"0 -0.5 0\">\n", p->height);
        else
            ss_text_add(&w, "<body name=\"link %d\" pos=\"%.17g 0 0\">\n", i, length);
        ss_text_add(&w,
                    "  <joint name=\"hinge %d\" axis=\"%s\"/>\n"
                    "  <geom type=\"capsule\" size=\"%.17g\" fromto=\"0 0 0 %.17g 0 0\"/>\n",
                    i,
                    i == 0       ? "0.4794255386042030 0 0.8775825618903728"
                    : i % 3 == 0 ? "0 0.3 1"
                                 : "0 1 0.1",
                    radius, length);
    }
    ss_text_add(
        &w, "<geom type=\"sphere\" size=\"%g\" pos=\"%.17g 0 0\" contype=\"1\" rgba=\"0.88 0.46 0.18 1\"/>\n",
        1.5 * thickness, length);
    for (int i = 0; i < p->links; i++) ss_text_add(&w, "</body>");
    ss_text_add(&w, "\n  </worldbody>\n</mujoco>\n");
    return ss_text_done(&w, err);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    (void)seed;
    return ss_build_from_model("arm", model, of, world, err);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    const ss_body *last = ss_world_body(ss_sim_world(sim), (int)p->links - 1);
    double shoulder = 0.0, speed = 0.0;
    ss_joint_coordinate(ss_sim_world(sim), 0, 0, &shoulder, &speed);
    ss_figure_joint_gap(of, sim, state, result);
    result[1] = (ss_scene_result){"hand_height", "m", last->position[2]};
    result[2] = (ss_scene_result){"shoulder", "rad", shoulder};
    return 3;
}

const ss_scene ss_scene_arm = {
    .name = "arm",
    .summary = "an arm of six hinges sinks on its springs until its hand rests on the ground",
    .description =
        "A robot's arm as a tree of hinges, for the study of coordinates: its length is the same for any "
        "number of links, its springs and dampers are switched off by stiffness=0 damping=0, and with a "
        "high shoulder it swings freely and keeps its energy. By default it sinks until its hand slides "
        "on the ground and stops. In minimal coordinates the gaps of its joints stay at rounding. The "
        "world is a model file, which `run --write-model FILE` writes.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.002,
    .length = 3.0,
    .picture_time = 2.5,
    .camera = {.eye = {1.5, -2.2, 1.3}, .target = {0.45, 0.0, 0.25}},
    .build = build_scene,
    .options = ss_accurate_steps,
    .figures = figures,
    .model = model,
};
