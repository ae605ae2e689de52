/* What a step with polyhedral exact geometry costs beside Stewart-Trinkle with one manifold per pair, scene
 * by scene, on one thread: instructions, which do not depend on how busy the machine is, or processor time
 * where the system does not count them; ordinary frames solved per step, and what the selection ended as. */
#include <stickslip/stickslip.h>

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct cost {
    double work; /* instructions, or seconds of the processor */
    double solves;
    int steps, held, cycles, jammed, halved;
    bool broke;
} cost;

/* Instructions of this thread in user space; -1: the system does not let us count. */
static int counter = -1;

static void open_counter(void)
{
    struct perf_event_attr what = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof what,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    counter = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
}

static double work_so_far(void)
{
    long long count;
    struct timespec now;
    if (counter >= 0 && read(counter, &count, sizeof count) == sizeof count) return (double)count;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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
        double before = work_so_far();
        if (!ss_sim_step(sim, &err)) {
            sum.broke = true;
            break;
        }
        ss_sim_report report = ss_sim_last(sim);
        sum.steps++;
        sum.work += work_so_far() - before;
        sum.halved += report.halvings > 0;
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
    open_counter();
    const char *unit = counter >= 0 ? "k instr." : "CPU us";
    double per = counter >= 0 ? 1e-3 : 1e6;
    printf("%s per step\n%-14s %10s %10s %10s %8s %8s %6s %6s %6s %6s\n", unit, "scene", "ST", "PEG linear",
           "PEG", "ratio", "solves", "halved", "held", "cycle", "jammed");
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        const ss_scene *scene = ss_scene_find(scenes[i]);
        cost st = measure(scene, SS_PEG_OFF, 0), linear = measure(scene, SS_PEG_SELECT, 0);
        cost refined = measure(scene, SS_PEG_SELECT, 8);
        printf("%-14s %10.1f %10.1f %10.1f %8.2f %8.2f %6d %6d %6d %6d%s\n", scenes[i],
               per * st.work / st.steps, per * linear.work / linear.steps, per * refined.work / refined.steps,
               refined.work / refined.steps / (st.work / st.steps), refined.solves / refined.steps,
               refined.halved, refined.held, refined.cycles, refined.jammed,
               st.broke ? "  (Stewart-Trinkle diverged)" : "");
    }
    return 0;
}
