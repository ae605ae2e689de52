#include "cli/paper_peg.h"

#include <math.h>
#include <string.h>

static bool build(const ss_peg_run *run, ss_world *world, ss_sim_options *options, ss_error *err)
{
    const ss_scene *scene = ss_scene_find(run->scene);
    if (!scene) return ss_fail(err, SS_ERROR_USAGE, "unknown scene '%s'", run->scene);
    void *parameters = ss_allocate(1, scene->parameters_size);
    bool good = parameters || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a scene");
    if (good) ss_options_defaults(scene->parameters, parameters);
    for (int i = 0; good && i < 4 && run->parameters[i]; i++)
        good = ss_options_assign(scene->parameters, parameters, run->parameters[i], err);
    good = good && scene->build(parameters, 1, world, err);
    ss_options_defaults(ss_sim_option_table, options);
    ss_options_defaults(ss_collision_option_table, &options->collision);
    if (good) scene->options(parameters, options);
    ss_release(parameters);
    options->h = run->h;
    options->peg = (int)run->peg;
    options->threads = 1;
    options->collision.margin = run->margin;
    if (run->linear) options->refine = 0;
    if (run->formulation) options->formulation = run->formulation;
    for (int i = 0; i < 3 && run->with[i]; i++) options->with.items[options->with.count++] = run->with[i];
    return good;
}

bool ss_peg_run_scene(const ss_peg_run *run, ss_peg_outcome *outcome, ss_error *err)
{
    ss_sim_options options = {0};
    ss_world *world = ss_world_create(err);
    *outcome = (ss_peg_outcome){0};
    bool good = world && build(run, world, &options, err);
    ss_sim *sim = good ? ss_sim_create(world, &options, err) : NULL;
    int steps = (int)lround(run->time / run->h);
    for (int n = 1; sim && n <= steps && !outcome->broke; n++) {
        outcome->broke = !ss_sim_step(sim, NULL);
        if (outcome->broke) break;
        const ss_answer *answer = ss_sim_answer(sim);
        double sum = 0.0;
        for (int c = 0; c < answer->contacts; c++) sum += answer->normal_impulse[c];
        for (int r = 0; r < answer->subcontacts; r++) sum += answer->sub_normal_impulse[r];
        if (sum > 0.0 && outcome->impulse == 0.0) {
            outcome->first = sum;
            outcome->at = n * run->h;
        }
        outcome->impulse += sum;
    }
    if (sim) {
        outcome->z = ss_world_body(world, 0)->position[2];
        outcome->speed = ss_world_body(world, 0)->velocity[0];
    }
    good = sim != NULL;
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return good;
}
