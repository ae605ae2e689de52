/* Life of a simulation, and looking at it. */
#include "sim/state.h"

#include "base/number.h"
#include "collision/kept.h"
#include "formulation/assembly.h"
#include "linalg/quat.h"
#include "model/geometry.h"
#include "session/method.h"
#include "session/named.h"
#include "sim/soft/soft.h"
#include "solver/core/names.h"

#include <stdio.h>

/* Overlaps of this share of the thinnest shape may stand. Much larger than what the stop rule lets bodies
 * move within a step, so that the error of one step is not the load of the next; far too small to be seen. */
static const double slop_share = 1e-3;

/* ---- methods ---------------------------------------------------------------------------------------- */

static const ss_solver *find_solver(const char *option, const char *name, ss_error *err)
{
    const ss_solver *solver = ss_solver_named(name, err);
    if (!solver) ss_fail_in(err, "%s", option);
    return solver;
}

static bool assign_all(const char *option, const char *owner, const ss_option *table,
                       const ss_option_list *list, void *options, ss_error *err)
{
    for (int i = 0; i < list->count; i++) {
        if (!table) return ss_fail(err, SS_ERROR_USAGE, "%s: %s has no options", option, owner);
        if (!ss_options_assign(table, options, list->items[i], err))
            return ss_fail_in(err, "%s %s: %s", option, list->items[i], owner);
    }
    return true;
}

static bool choose_solvers(ss_sim *sim, ss_error *err)
{
    const ss_sim_options *options = &sim->options;
    const ss_solver *solver = sim->first.solver = find_solver("solver", options->solver, err);
    if (!solver) return false;
    sim->first.options = ss_allocate(1, solver->options_size);
    if (!sim->first.options) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options");
    if (solver->options) ss_options_defaults(solver->options, sim->first.options);
    if (!assign_all("set", solver->name, solver->options, &options->set, sim->first.options, err))
        return false;

    if (!options->finisher || strcmp(options->finisher, "none") == 0) return true;
    sim->finisher.solver = find_solver("finisher", options->finisher, err); // with its default options
    if (!sim->finisher.solver) return false;
    // What the sweeps have left is what moves, and the middle of the cones holds better.
    sim->finisher.from_zero = ss_solver_same(sim->finisher.solver->name, "interior-point");
    return true;
}

static bool gives(const ss_option_list *list, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < list->count; i++) {
        if (strncmp(list->items[i], name, length) == 0 && list->items[i][length] == '=') return true;
    }
    return false;
}

static bool choose_formulation(ss_sim *sim, ss_error *err)
{
    const ss_sim_options *options = &sim->options;
    const ss_formulation *formulation = ss_formulation_named(options->formulation, err);
    if (!formulation) return false;
    sim->assembly = ss_assembly_create(formulation, NULL, err);
    if (!sim->assembly) return false;

    /* Projection and impulses correct positions after the step: within it, joints are held at the level
     * of velocities. */
    ss_step_options *step = sim->step =
        ss_assembly_options(sim->assembly); // every option struct begins with it
    step->gamma = 0.2;
    step->joint_term = options->joints == SS_STABILISE_BAUMGARTE ? SS_JOINT_STABILISED
                       : options->joints == SS_STABILISE_SPOOK   ? SS_JOINT_SPOOK
                                                                 : SS_JOINT_ZERO;
    step->joint_gamma = options->joint_gamma;
    step->joint_relaxation = options->joint_relaxation;
    step->coordinates = options->coordinates;

    // Anitescu and Potra's is a formulation by its gap term
    sim->gap_term_is_given = step->gap_term != SS_GAP_PREVENTIVE || gives(&options->with, "gap_term");
    sim->restitution_speed_is_given = gives(&options->with, "restitution_speed");
    return assign_all("with", formulation->name, formulation->options, &options->with, step, err);
}

static bool check_integrator(const ss_sim_options *options, ss_error *err)
{
    if (options->integrator == SS_INTEGRATOR_EULER || options->coordinates == SS_MINIMAL) return true;
    return ss_fail(
        err, SS_ERROR_USAGE,
        "integrator: runge-kutta and leapfrog move bodies along the joints that hold them, and need "
        "coordinates=minimal");
}

/* The finisher goes a million times further: its kind of method needs a few iterations for that, and the next
 * steps live on it. */
static bool choose_run(ss_sim *sim, ss_error *err)
{
    static const double further = 1e-6, rounding = 1e-14;
    ss_run_options *run = &sim->first.run;
    *run = ss_run_defaults();
    run->max_iterations = sim->options.max_iterations;
    run->seed = sim->options.seed;
    if (!ss_stop_rule_parse(sim->options.stop, &run->stop, err) ||
        !ss_keep_rule_parse(sim->options.keep ? sim->options.keep : "answer", &run->keep, err))
        return false;

    sim->finisher.run = *run;
    sim->finisher.run.keep = (ss_keep_rule){.which = SS_KEEP_ANSWER};
    if (run->stop.below == 0.0) sim->finisher.solver = NULL; // nothing to be reached
    if (!run->stop.of_scene && run->stop.below > 0.0)
        sim->finisher.run.stop.below = fmax(further * run->stop.below, rounding);
    return true;
}

/* ---- the world -------------------------------------------------------------------------------------- */

typedef struct box {
    ss_vec3 low, high;
} box;

static void widen(box *all, ss_vec3 centre, double radius)
{
    if (!isfinite(radius)) return;
    all->low = (ss_vec3){fmin(all->low.x, centre.x - radius), fmin(all->low.y, centre.y - radius),
                         fmin(all->low.z, centre.z - radius)};
    all->high = (ss_vec3){fmax(all->high.x, centre.x + radius), fmax(all->high.y, centre.y + radius),
                          fmax(all->high.z, centre.z + radius)};
}

/* The lengths to compare others with. */
static void measure_world(ss_sim *sim)
{
    const ss_world *world = sim->world;

    /* Size: the box around everything that is not infinite. Of a shape, a ball about its own origin
     * counts. */
    box all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int b = 0; b < ss_world_body_count(world); b++)
        widen(&all, ss_vec3_load(ss_world_body(world, b)->position), 0.0);
    for (int s = 0; s < ss_world_shape_count(world); s++) {
        const ss_shape *shape = ss_world_shape(world, s);
        const ss_geometry *geometry = ss_world_geometry(world, s);
        if (!geometry) continue;
        ss_vec3 centre = ss_vec3_load(shape->position);
        if (shape->body != SS_WORLD) {
            const ss_body *body = ss_world_body(world, shape->body);
            ss_vec3 arm = ss_quat_rotate(ss_quat_load(body->quaternion), centre);
            centre = ss_vec3_add(ss_vec3_load(body->position), arm);
        }
        double radius = 0.0;
        for (int i = 0; i < 3; i++) radius = fmax(radius, fmax(-geometry->low[i], geometry->high[i]));
        widen(&all, centre, radius);
    }
    double size = ss_vec3_norm(ss_vec3_subtract(all.high, all.low));
    sim->size = size > 0.0 && isfinite(size) ? size : INFINITY;

    /* Grain: the smallest edge of the box around any shape that moves freely; 0 when there is none. */
    double smallest = INFINITY;
    for (int s = 0; s < ss_world_shape_count(world); s++) {
        const ss_shape *shape = ss_world_shape(world, s);
        const ss_geometry *geometry = ss_world_geometry(world, s);
        bool moves = shape->body != SS_WORLD && ss_world_body(world, shape->body)->kind == SS_DYNAMIC;
        for (int i = 0; moves && geometry && i < 3; i++)
            smallest = fmin(smallest, geometry->high[i] - geometry->low[i]);
    }
    sim->grain = isfinite(smallest) ? smallest : 0.0;
}

/* ---- life ------------------------------------------------------------------------------------------- */

static void release_text(const char *text)
{
    ss_release((void *)(uintptr_t)text);
}

static bool prepare(ss_sim *sim, ss_error *err)
{
    ss_sim_options *options = &sim->options;
    options->finisher = ss_sim_choose_finisher(options);
    if (options->solver) options->solver = ss_solver_name(options->solver);
    if (options->finisher) options->finisher = ss_solver_name(options->finisher);

    /* Texts are copied first, all of them: what is destroyed must be ours. */
    const char **texts[] = {&options->formulation, &options->solver, &options->finisher, &options->stop,
                            &options->keep};
    bool good = true;
    for (int i = 0; i < 5; i++) {
        const char *text = *texts[i];
        *texts[i] = ss_text_copy(text);
        good &= *texts[i] || !text;
    }
    good = good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options");
    if (!good || !ss_options_check(ss_sim_option_table, options, err) || !check_integrator(options, err) ||
        (options->fast && !ss_soft_check_options(options, err)) || !choose_formulation(sim, err) ||
        !choose_solvers(sim, err) || !choose_run(sim, err))
        return ss_fail_in(err, "sim");
    if (!ss_world_finish(sim->world, err)) return false;

    /* Threads, with an arena each, and one for the substep. */
    if (options->threads != 1) sim->team = ss_team_create(options->threads, err);
    if (options->threads != 1 && !sim->team) return false;
    sim->assembly->team = sim->team;
    int workers = ss_team_size(sim->team);
    sim->arenas = ss_allocate((size_t)workers, sizeof *sim->arenas);
    if (!sim->arenas) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d workers", workers);
    for (int w = 0; w < workers; w++) {
        sim->arenas[w] = ss_arena_create(1 << 16, err);
        if (!sim->arenas[w]) return false;
    }
    sim->memory = ss_arena_create(1 << 16, err);
    if (!sim->memory) return false;

    /* Bodies with a motion begin where it does; only then the world has its size. */
    sim->h = options->h / options->substeps;
    for (int b = 0; b < ss_world_body_count(sim->world); b++) {
        ss_body *body = ss_world_body(sim->world, b);
        if (body->kind == SS_KINEMATIC && body->motion)
            body->motion(0.0, body->position, body->quaternion, body->velocity, body->motion_context);
    }
    measure_world(sim);
    if (!gives(&options->with, "slop")) sim->step->slop = slop_share * sim->grain;

    if (options->joints == SS_STABILISE_PROJECTION || options->joints == SS_STABILISE_IMPULSE) {
        sim->stabiliser = ss_stabiliser_create(err);
        if (!sim->stabiliser) return false;
    }
    if (options->fast) sim->soft = ss_soft_create(err);
    if (options->fast && !sim->soft) return false;
    sim->collision = ss_collision_create(sim->world, &options->collision, err);
    if (sim->collision && options->fast) ss_collision_keep(sim->collision);
    return sim->collision != NULL;
}

ss_sim *ss_sim_create(ss_world *world, const ss_sim_options *options, ss_error *err)
{
    ss_sim *sim = ss_allocate(1, sizeof *sim);
    if (!sim) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a simulation");
        return NULL;
    }
    sim->world = world;
    sim->report.worst_contact = -1;
    if (options) {
        sim->options = *options;
    } else {
        ss_options_defaults(ss_sim_option_table, &sim->options);
        ss_options_defaults(ss_collision_option_table, &sim->options.collision);
    }
    if (prepare(sim, err)) return sim;
    ss_sim_destroy(sim);
    return NULL;
}

void ss_sim_destroy(ss_sim *sim)
{
    if (!sim) return;
    ss_stabiliser_destroy(sim->stabiliser);
    ss_soft_destroy(sim->soft);
    ss_collision_destroy(sim->collision);
    ss_frame_destroy(sim->frame);
    ss_trees_free(&sim->trees);
    ss_trees_free(&sim->moved);
    ss_free_motion_destroy(sim->motion);
    ss_release(sim->rates);
    ss_sim_free_peg(sim);
    ss_answer_store_free(&sim->answer_store);
    ss_warm_free(&sim->warm);
    ss_byte_stream_free(&sim->backup);
    ss_byte_stream_free(&sim->seen);
    for (int w = 0; sim->arenas && w < ss_team_size(sim->team); w++) ss_arena_destroy(sim->arenas[w]);
    ss_release(sim->arenas);
    ss_arena_destroy(sim->memory);
    ss_team_destroy(sim->team);
    ss_assembly_destroy(sim->assembly);
    ss_release(sim->first.options);
    ss_release(sim->finisher.options);
    for (int stage = 0; stage < SS_STAGE_COUNT; stage++) ss_release(sim->calls[stage].items);
    ss_release(sim->controllers.items);
    ss_release(sim->frame_body);
    ss_scenery_free(&sim->scenery);
    ss_release(sim->body_place);
    ss_release(sim->origins);
    release_text(sim->options.formulation);
    release_text(sim->options.solver);
    release_text(sim->options.finisher);
    release_text(sim->options.stop);
    release_text(sim->options.keep);
    ss_release(sim);
}
