/* race_coordinates SECONDS FILE.xml...   model files in MuJoCo and in our simulator in minimal coordinates,
 * in turn for blocks of steps. Prints CSV: joints, us per step in MuJoCo (processor time, the fastest block),
 * largest change of its energy over the largest kinetic energy, then both of ours, and how far the bodies are
 * apart at the end, m. */
#include "model_files.h"

#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool race(const char *path, double length)
{
    enum { BLOCK = 20 };
    char text[1000] = "";
    ss_error err = {0};
    ss_model_options options = {.base = SS_BASE_FIXED};
    ss_model_info info;
    ss_world *world = ss_world_create(&err);
    mjModel *m = mj_loadXML(path, NULL, text, sizeof text);
    bool good = m && ss_model_read(path, &options, world, &info, NULL, &err);
    ss_sim_options how;
    ss_options_defaults(ss_sim_option_table, &how);
    ss_options_defaults(ss_collision_option_table, &how.collision);
    how.h = m ? m->opt.timestep : 1.0;
    how.coordinates = SS_MINIMAL;
    how.threads = 1;
    ss_sim *sim = good ? ss_sim_create(world, &how, &err) : NULL;
    if (!sim) {
        fprintf(stderr, "race_coordinates: %s: %s%s\n", path, text, err.message);
    } else {
        m->opt.integrator = mjINT_EULER;
        m->opt.enableflags |= mjENBL_ENERGY;
        mjData *d = mj_makeData(m);
        mj_forward(m, d);
        double cost[2] = {INFINITY, INFINITY}, start[2] = {0.0, 0.0}, change[2] = {0.0, 0.0},
               kinetic[2] = {0.0, 0.0};
        int blocks = (int)(length / how.h / BLOCK + 0.5);
        for (int b = 0; good && b <= blocks; b++) {
            ss_world_energy ours = ss_world_measure(world);
            mj_kinematics(m, d);
            mj_comPos(m, d);
            mj_crb(m, d);
            double now[2] = {model_mujoco_energy(m, d), ours.kinetic + ours.potential};
            for (int k = 0; k < 2; k++) {
                if (b == 0) start[k] = now[k];
                kinetic[k] = fmax(kinetic[k], k == 0 ? d->energy[1] : ours.kinetic);
                change[k] = fmax(change[k], fabs(now[k] - start[k]));
            }
            if (b == blocks) break;
            double begin = seconds();
            for (int i = 0; i < BLOCK; i++) mj_step(m, d);
            double middle = seconds();
            for (int i = 0; good && i < BLOCK; i++) good = ss_sim_step(sim, &err);
            double end = seconds();
            cost[0] = fmin(cost[0], (middle - begin) / BLOCK);
            cost[1] = fmin(cost[1], (end - middle) / BLOCK);
        }
        int of[4096];
        double apart = 0.0;
        model_match(m, world, of);
        for (int b = 0; b < ss_world_body_count(world); b++)
            if (of[b] >= 0)
                apart = fmax(apart, model_distance(ss_world_body(world, b)->position, d->xipos + 3 * of[b]));
        if (good)
            printf("%d,%.4g,%.4g,%.4g,%.4g,%.3g\n", m->njnt, 1e6 * cost[0], change[0] / kinetic[0],
                   1e6 * cost[1], change[1] / kinetic[1], apart);
        else
            fprintf(stderr, "race_coordinates: %s: %s\n", path, err.message);
        mj_deleteData(d);
    }
    good = good && sim;
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    if (m) mj_deleteModel(m);
    return good;
}

int main(int count, char **arguments)
{
    bool good = count > 2;
    printf("links,mujoco_us,mujoco_energy_error,ours_us,ours_energy_error,apart\n");
    for (int i = 2; i < count; i++) good = race(arguments[i], atof(arguments[1])) && good;
    return good ? 0 : 1;
}
