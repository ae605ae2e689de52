/* race_coordinates SECONDS FILE.xml...   model files in MuJoCo and in our simulator in minimal coordinates,
 * with MuJoCo's rule (bias=explicit) and with our own (bias=midway), in turn for blocks of steps. Prints CSV:
 * joints, us per step in MuJoCo (processor time, the fastest block), largest change of its energy over the
 * largest kinetic energy, then both of ours, how far the bodies are apart at the end, m, and both of our own
 * rule. */
#include "model_files.h"

#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { ENGINES = 3, OURS = 2 };

static bool race(const char *path, double length)
{
    enum { BLOCK = 20 };
    static const int rules[OURS] = {SS_BIAS_EXPLICIT, SS_BIAS_MIDWAY};
    char text[1000] = "";
    ss_error err = {0};
    ss_model_options options = {.base = SS_BASE_FIXED};
    ss_model_info info;
    ss_world *world[OURS] = {0};
    ss_sim *sim[OURS] = {0};
    mjModel *m = mj_loadXML(path, NULL, text, sizeof text);
    bool good = m != NULL;
    for (int k = 0; good && k < OURS; k++) {
        ss_sim_options how;
        ss_options_defaults(ss_sim_option_table, &how);
        ss_options_defaults(ss_collision_option_table, &how.collision);
        how.h = m->opt.timestep;
        how.coordinates = SS_MINIMAL;
        how.bias = rules[k];
        how.threads = 1;
        world[k] = ss_world_create(&err);
        good = world[k] && ss_model_read(path, &options, world[k], &info, NULL, &err);
        sim[k] = good ? ss_sim_create(world[k], &how, &err) : NULL;
        good = sim[k] != NULL;
    }
    if (!good) {
        fprintf(stderr, "race_coordinates: %s: %s%s\n", path, text, err.message);
    } else {
        m->opt.integrator = mjINT_EULER;
        m->opt.enableflags |= mjENBL_ENERGY;
        mjData *d = mj_makeData(m);
        mj_forward(m, d);
        double cost[ENGINES], start[ENGINES], change[ENGINES] = {0}, kinetic[ENGINES] = {0};
        int blocks = (int)(length / m->opt.timestep / BLOCK + 0.5);
        for (int k = 0; k < ENGINES; k++) cost[k] = INFINITY;
        for (int b = 0; good && b <= blocks; b++) {
            mj_kinematics(m, d);
            mj_comPos(m, d);
            mj_crb(m, d);
            double now = model_mujoco_energy(m, d), fast = d->energy[1];
            for (int k = 0; k < ENGINES; k++) {
                if (k > 0) {
                    ss_world_energy ours = ss_world_measure(world[k - 1]);
                    now = ours.kinetic + ours.potential;
                    fast = ours.kinetic;
                }
                if (b == 0) start[k] = now;
                kinetic[k] = fmax(kinetic[k], fast);
                change[k] = fmax(change[k], fabs(now - start[k]));
            }
            if (b == blocks) break;
            for (int k = 0; k < ENGINES; k++) {
                double begin = seconds();
                for (int i = 0; k == 0 && i < BLOCK; i++) mj_step(m, d);
                for (int i = 0; k > 0 && good && i < BLOCK; i++) good = ss_sim_step(sim[k - 1], &err);
                cost[k] = fmin(cost[k], (seconds() - begin) / BLOCK);
            }
        }
        int of[4096];
        double apart = 0.0;
        model_match(m, world[0], of);
        for (int b = 0; b < ss_world_body_count(world[0]); b++)
            if (of[b] >= 0)
                apart =
                    fmax(apart, model_distance(ss_world_body(world[0], b)->position, d->xipos + 3 * of[b]));
        if (good)
            printf("%d,%.4g,%.4g,%.4g,%.4g,%.3g,%.4g,%.4g\n", m->njnt, 1e6 * cost[0], change[0] / kinetic[0],
                   1e6 * cost[1], change[1] / kinetic[1], apart, 1e6 * cost[2], change[2] / kinetic[2]);
        else
            fprintf(stderr, "race_coordinates: %s: %s\n", path, err.message);
        mj_deleteData(d);
    }
    for (int k = 0; k < OURS; k++) {
        ss_sim_destroy(sim[k]);
        ss_world_destroy(world[k]);
    }
    if (m) mj_deleteModel(m);
    return good;
}

int main(int count, char **arguments)
{
    bool good = count > 2;
    printf("links,mujoco_us,mujoco_energy_error,ours_us,ours_energy_error,apart,midway_us,"
           "midway_energy_error\n");
    for (int i = 2; i < count; i++) good = race(arguments[i], atof(arguments[1])) && good;
    return good ? 0 : 1;
}
