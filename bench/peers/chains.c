/* race_chains [LINKS...]   hanging chains of hinges as a model file, in MuJoCo and in our simulator in
 * minimal coordinates: processor time per step, in turn for blocks of steps, and how far they are apart. */
#include "model_files.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Links of 0.1 m on damped hinges whose axes differ a little, so that the chain moves in space. */
static bool write_model(const char *path, int links)
{
    FILE *file = fopen(path, "w");
    if (!file) return false;
    fprintf(file, "<mujoco><compiler autolimits=\"true\"/><option timestep=\"0.002\"/><worldbody>\n");
    for (int i = 0; i < links; i++)
        fprintf(
            file,
            "<body name=\"link %d\" pos=\"%g 0 0\"><joint type=\"hinge\" axis=\"0 1 %g\" damping=\"0.02\"/>"
            "<geom type=\"capsule\" size=\"0.01 0.04\" pos=\"0.05 0 0\" euler=\"0 90 0\" density=\"2000\" "
            "contype=\"0\" conaffinity=\"0\"/>\n",
            i, i ? 0.1 : 0.0, i % 2 ? 0.2 : 0.0);
    for (int i = 0; i < links; i++) fprintf(file, "</body>");
    fprintf(file, "</worldbody></mujoco>\n");
    return fclose(file) == 0;
}

static void race(int links)
{
    enum { BLOCKS = 10, STEPS = 20 };
    char path[64], text[1000] = "";
    snprintf(path, sizeof path, "/tmp/stickslip-chain-%d-%d.xml", (int)getpid(), links);
    ss_error err = {0};
    ss_model_options options = {.base = SS_BASE_FIXED};
    ss_model_info info;
    ss_world *world = ss_world_create(&err);
    mjModel *m = write_model(path, links) ? mj_loadXML(path, NULL, text, sizeof text) : NULL;
    ss_sim_options how;
    ss_options_defaults(ss_sim_option_table, &how);
    ss_options_defaults(ss_collision_option_table, &how.collision);
    how.h = 0.002;
    how.coordinates = SS_MINIMAL;
    how.threads = 1;
    bool good = m && ss_model_read(path, &options, world, &info, NULL, &err);
    remove(path);
    ss_sim *sim = good ? ss_sim_create(world, &how, &err) : NULL;
    if (!sim) {
        printf("| %d | %s%s | | | |\n", links, text, err.message);
    } else {
        m->opt.integrator = mjINT_EULER;
        mjData *d = mj_makeData(m);
        double theirs = INFINITY, ours = INFINITY;
        for (int b = 0; good && b < BLOCKS; b++) {
            double start = seconds();
            for (int i = 0; i < STEPS; i++) mj_step(m, d);
            double middle = seconds();
            for (int i = 0; good && i < STEPS; i++) good = ss_sim_step(sim, &err);
            double end = seconds();
            theirs = fmin(theirs, (middle - start) / STEPS);
            ours = fmin(ours, (end - middle) / STEPS);
        }
        mj_kinematics(m, d);
        mj_comPos(m, d);
        int of[4096];
        double apart = 0.0;
        model_match(m, world, of);
        for (int b = 0; b < ss_world_body_count(world); b++)
            if (of[b] >= 0)
                apart = fmax(apart, model_distance(ss_world_body(world, b)->position, d->xipos + 3 * of[b]));
        printf("| %d | %.1f | %.1f | %.2f | %.1e |%s\n", links, 1e6 * theirs, 1e6 * ours, ours / theirs,
               apart, good ? "" : err.message);
        mj_deleteData(d);
    }
    fflush(stdout);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    if (m) mj_deleteModel(m);
}

int main(int count, char **arguments)
{
    printf("| links | MuJoCo [us] | stickslip [us] | ratio | apart after 0.4 s [m] |\n"
           "| --- | --- | --- | --- | --- |\n");
    if (count < 2)
        for (int links = 25; links <= 200; links *= 2) race(links);
    for (int i = 1; i < count; i++) race(atoi(arguments[i]));
    return 0;
}
