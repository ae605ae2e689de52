/* What a step with polyhedral exact geometry costs beside Stewart-Trinkle with one manifold per pair, scene
 * by scene: mean wall time of a step, ordinary frames solved per step, and what the selection ended as. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct cost {
    double seconds, solves;
    int steps, held, cycles, jammed;
    bool broke;
} cost;

static cost measure(const ss_scene *scene, int peg, int refine)
{
    ss_error err = {0};
    cost sum = {0};
    void *parameters = ss_allocate(1, scene->parameters_size);
    ss_world *world = ss_world_create(&err);
    ss_sim_options options = {0};
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    if (parameters && world) {
        ss_options_defaults(scene->parameters, parameters);
        if (scene->options) scene->options(parameters, &options);
    }
    options.h = scene->h;
    options.threads = 1;
    options.peg = peg;
    options.refine = refine;
    options.with = (ss_option_list){.count = 1, .items = {"gap_term=preventive"}};
    ss_sim *sim = parameters && world && scene->build(parameters, 1, world, &err)
                      ? ss_sim_create(world, &options, &err)
                      : NULL;
    int steps = (int)lround(fmin(scene->length, 1.0) / scene->h);
    for (int n = 0; sim && n < steps; n++) {
        if (!ss_sim_step(sim, &err)) {
            sum.broke = true;
            break;
        }
        ss_sim_report report = ss_sim_last(sim);
        sum.steps++;
        sum.seconds += report.seconds;
        sum.solves += peg == SS_PEG_OFF ? 1 : report.peg_solves;
        sum.held += report.peg_status == SS_PEG_HELD;
        sum.cycles += report.peg_status == SS_PEG_CYCLE;
        sum.jammed += report.peg_status == SS_PEG_JAMMED;
    }
    if (!sim) fprintf(stderr, "%s: %s\n", scene->name, err.message);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(parameters);
    return sum;
}

int main(void)
{
    static const char *const scenes[] = {"peg-in-hole", "vertex-corner", "ghost-edges",
                                         "l-slot",      "key-in-lock",   "l-stack"};
    printf("%-14s %12s %12s %12s %10s %8s %6s %6s %6s\n", "scene", "ST ms/step", "PEG ms/step", "refined",
           "ratio", "solves", "held", "cycle", "jammed");
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        const ss_scene *scene = ss_scene_find(scenes[i]);
        cost st = measure(scene, SS_PEG_OFF, 0), linear = measure(scene, SS_PEG_SELECT, 0);
        cost refined = measure(scene, SS_PEG_SELECT, 2);
        double ms[3] = {1e3 * st.seconds / st.steps, 1e3 * linear.seconds / linear.steps,
                        1e3 * refined.seconds / refined.steps};
        printf("%-14s %12.4f %12.4f %12.4f %10.2f %8.2f %6d %6d %6d%s\n", scenes[i], ms[0], ms[1], ms[2],
               ms[2] / ms[0], refined.solves / refined.steps, refined.held, refined.cycles, refined.jammed,
               st.broke ? "  (Stewart-Trinkle diverged)" : "");
    }
    return 0;
}
