/* bench_collision_sources PLUGIN.so HOOK STEPS [SCENE...]   contacts and motion with collision detection by a
 * plug-in (plugins/bullet: HOOK bullet) beside ours, on all scenes or those named, as a table.
 *
 * Contacts: both look at the same states, those of our run. Motion: each has a run of its own. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scene with its own world and simulation. */
typedef struct player {
    void *parameters, *state;
    ss_world *world;
    ss_sim *sim;
} player;

static bool start(player *p, const ss_scene *scene, const ss_hook *hook, ss_error *err)
{
    static const ss_option none[] = {{0}};
    const ss_option *table = scene->parameters ? scene->parameters : none;
    ss_sim_options options;
    *p = (player){.parameters = ss_allocate(1, scene->parameters_size + 1), .world = ss_world_create(err)};
    if (!p->parameters || !p->world) return false;
    ss_options_defaults(table, p->parameters);
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.h = scene->h;
    if (scene->options) scene->options(p->parameters, &options);
    options.peg = 0; // alternatives are ours alone
    if (!scene->build(p->parameters, 1, p->world, err)) return false;
    p->sim = ss_sim_create(p->world, &options, err);
    if (!p->sim || (scene->begin && !scene->begin(p->parameters, p->sim, &p->state, err))) return false;
    return !hook || ss_sim_call_hook(p->sim, hook, err);
}

static void stop(player *p)
{
    ss_sim_destroy(p->sim);
    ss_world_destroy(p->world);
    ss_release(p->parameters);
    ss_release(p->state);
}

static void copy_state(const ss_world *from, ss_world *to)
{
    for (int b = 0; b < ss_world_body_count(from); b++) {
        const ss_body *source = ss_world_body(from, b);
        ss_body *target = ss_world_body(to, b);
        memcpy(target->position, source->position, sizeof target->position);
        memcpy(target->quaternion, source->quaternion, sizeof target->quaternion);
        memcpy(target->velocity, source->velocity, sizeof target->velocity);
    }
}

/* Overlapping or touching points, and the deepest of them: points ahead are found up to different gaps. */
static int touching(const ss_sim *sim, double *deepest)
{
    const ss_contact_list *list = ss_sim_contacts(sim);
    int count = 0;
    for (int c = 0; c < list->count; c++) {
        count += list->items[c].gap <= 1e-4;
        *deepest = fmax(*deepest, -list->items[c].gap);
    }
    return count;
}

static double farthest(const ss_world *one, const ss_world *two)
{
    double most = 0.0;
    for (int b = 0; b < ss_world_body_count(one); b++) {
        const double *x = ss_world_body(one, b)->position, *y = ss_world_body(two, b)->position;
        most = fmax(most, sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                               (x[2] - y[2]) * (x[2] - y[2])));
    }
    return most;
}

static void compare(const ss_scene *scene, const ss_hook *hook, int steps)
{
    player ours, looker, theirs;
    ss_error err = {0};
    int done = 0;
    double points[2] = {0}, deepest[2] = {0}, penetration[2] = {0}, seconds[2] = {0};
    bool good = start(&ours, scene, NULL, &err);
    good = start(&looker, scene, hook, &err) && good;
    good = start(&theirs, scene, hook, &err) && good;
    double first = good ? ss_world_measure(ours.world).kinetic + ss_world_measure(ours.world).potential : 0.0;
    for (; good && done < steps; done++) {
        copy_state(ours.world, looker.world);
        good = ss_sim_prepare(looker.sim, &err) && ss_sim_step(ours.sim, &err);
        if (!good) break;
        points[0] += touching(ours.sim, &deepest[0]);
        points[1] += touching(looker.sim, &deepest[1]);
        if (!ss_sim_step(theirs.sim, &err)) break;
        ss_sim_report one = ss_sim_last(ours.sim), two = ss_sim_last(theirs.sim);
        penetration[0] = fmax(penetration[0], one.penetration);
        penetration[1] = fmax(penetration[1], two.penetration);
        seconds[0] += one.broad + one.narrow;
        seconds[1] += two.broad + two.narrow;
    }
    if (done < steps) {
        printf("| %s | ended after %d steps: %s | | | | | |\n", scene->name, done, err.message);
    } else {
        ss_world_energy one = ss_world_measure(ours.world), two = ss_world_measure(theirs.world);
        printf("| %s | %.1f, %.1f | %.1e, %.1e | %.1e, %.1e | %.2g | %.4g, %.4g | %.0f, %.0f |\n",
               scene->name, points[0] / steps, points[1] / steps, deepest[0], deepest[1], penetration[0],
               penetration[1], farthest(ours.world, theirs.world), one.kinetic + one.potential - first,
               two.kinetic + two.potential - first, 1e6 * seconds[0] / steps, 1e6 * seconds[1] / steps);
    }
    fflush(stdout);
    stop(&ours);
    stop(&looker);
    stop(&theirs);
}

int main(int count, char **arguments)
{
    ss_error err = {0};
    if (count < 4) {
        fprintf(stderr, "usage: bench_collision_sources PLUGIN.so HOOK STEPS [SCENE...]\n");
        return 2;
    }
    ss_plugin_file *plugin = ss_plugin_open(arguments[1], &err);
    const ss_hook *hook = plugin ? ss_hook_find(arguments[2]) : NULL;
    if (!hook) {
        fprintf(stderr, "bench_collision_sources: %s\n", plugin ? "unknown hook" : err.message);
        return 2;
    }
    printf("| scene | points touching per step: ours, theirs | deepest of them [m] | "
           "deepest of each run [m] | bodies apart at the end [m] | energy since the start [J] | "
           "us per step |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < ss_scene_count(); i++) {
        const ss_scene *scene = ss_scene_at(i);
        bool wanted = count == 4;
        for (int k = 4; k < count; k++) wanted = wanted || strcmp(arguments[k], scene->name) == 0;
        if (wanted) compare(scene, hook, atoi(arguments[3]));
    }
    ss_plugin_close(plugin);
    return 0;
}
