/* `stickslip run` before the first step: scene, parameters, options. */
#define _GNU_SOURCE // dladdr
#include "cli/run/run.h"

#include "base/file.h"
#include "base/words.h"
#include "sim/scene_setup.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Is `option` one of `table`? */
static bool belongs(const ss_option *option, const ss_option *table)
{
    for (; table->name; table++) {
        if (table == option) return true;
    }
    return false;
}

/* Every step to 1e-8, whatever it takes: the automatic choice among all solvers needs no finisher. */
static void be_accurate(ss_sim_options *to)
{
    to->solver = "auto";
    to->finisher = "none";
    to->max_iterations = 100000;
    to->stop = "relative_energy<1e-8";
}

/* Real-time steps have neither formulation nor solver: what a scene suggests for them does not matter. Exact
 * geometry is what some scenes are about: that stays, and is refused. */
static void be_fast(ss_sim_options *to)
{
    ss_sim_options usual;
    ss_options_defaults(ss_sim_option_table, &usual);
    if (to->peg != SS_PEG_OFF) return;
    to->formulation = usual.formulation;
    to->solver = usual.solver;
    to->with = usual.with;
    to->set = usual.set;
    to->joints = usual.joints;
    to->substeps = usual.substeps;
}

static bool asks_for_fast(const ss_running *run)
{
    for (int i = 0; i < run->command->given_count; i++)
        if (strcmp(run->command->given[i].option->name, "fast") == 0) return true;
    return false;
}

/* Parameters of the scene by -p; options of the simulation: what the table says, then the scene, then
 * --accurate or --fast, then the user. */
static bool set_options(ss_running *run, ss_error *err)
{
    static const ss_option none[] = {{0}};
    const ss_scene *scene = run->scene;
    const ss_option *table = scene->parameters ? scene->parameters : none;
    run->parameters = ss_allocate(1, scene->parameters_size + 1);
    if (!run->parameters) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    ss_options_defaults(table, run->parameters);
    for (int i = 0; i < run->options->parameters.count; i++) {
        const char *assignment = run->options->parameters.items[i];
        if (!ss_options_assign(table, run->parameters, assignment, err))
            return ss_fail_in(err, "run: -p %s: %s", assignment, scene->name);
    }

    ss_sim_options *to = &run->sim_options;
    ss_options_defaults(ss_sim_option_table, to);
    ss_options_defaults(ss_collision_option_table, &to->collision);
    to->h = scene->h;
    if (scene->options) scene->options(run->parameters, to);
    if (run->options->accurate) be_accurate(to);
    if (asks_for_fast(run) && !run->options->accurate) be_fast(to);
    if (ss_extension_solver(run->command)) to->solver = ss_extension_solver(run->command);
    for (int i = 0; i < run->command->given_count; i++) {
        const ss_given *given = &run->command->given[i];
        bool good = true;
        if (belongs(given->option, ss_sim_option_table))
            good = ss_options_set(ss_sim_option_table, to, given->option->name, given->value, err);
        else if (belongs(given->option, ss_collision_option_table))
            good = ss_options_set(ss_collision_option_table, &to->collision, given->option->name,
                                  given->value, err);
        if (!good) return false;
    }
    if (run->options->tolerance > 0.0)
        to->stop = ss_tolerance_rule(run->options->tolerance, run->tolerance_rule);

    // A study has the last word.
    if (run->solved) be_accurate(to);
    if (run->refine > 1) to->h /= run->refine;
    return true;
}

static bool in_si_units(const ss_run_verb_options *options)
{
    return options->length_unit == 1.0 && options->mass_unit == 1.0 && options->time_unit == 1.0;
}

/* ---- contacts of another program ------------------------------------------------------------------ */

/* NAME.so beside the program, or in lib/stickslip of where it is installed. */
static bool find_plugin(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"%.*s/%s.so", "%.*s/../lib/stickslip/%s.so", "%.*s/stickslip/%s.so",
                                         "%.*s/../lib/x86_64-linux-gnu/stickslip/%s.so"};
    Dl_info here = {0};
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    for (int k = 0; k < 2; k++) { // the program, and the library that it may be in
        if (k == 0 && length <= 0) continue;
        if (k == 0) own[length] = '\0';
        if (k == 1 && (!dladdr((void *)(uintptr_t)ss_running_build, &here) || !here.dli_fname)) continue;
        const char *from = k == 0 ? own : here.dli_fname, *slash = strrchr(from, '/');
        if (!slash) continue;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            snprintf(path, size, places[i], (int)(slash - from), from, name);
            if (access(path, R_OK) == 0) return true;
        }
    }
    return false;
}

/* User functions of plug-ins: one that finds the contacts (--collision), and those of --call. */
static bool attach_hooks(ss_running *run, ss_error *err)
{
    const char *name = run->options->collision;
    char path[4200];

    // A name may be that of a plug-in that comes with the program.
    if (strcmp(name, "ours") != 0) {
        const ss_hook *hook = ss_hook_find(name);
        if (!hook && !strchr(name, '/') && find_plugin(name, path, sizeof path)) {
            run->collision_plugin = ss_plugin_open(path, err);
            if (!run->collision_plugin) return ss_fail_in(err, "run: --collision %s", name);
            hook = ss_hook_find(name);
        }
        if (!hook)
            return ss_fail(
                err, SS_ERROR_USAGE,
                "run: --collision %s: there is no plug-in %s.so beside the program or in its lib/stickslip",
                name, name);
        if (!ss_sim_call_hook(run->sim, hook, err)) return false;
    }

    // In the order of the command line.
    const ss_option_list *names = &run->options->calls;
    for (int i = 0; i < names->count; i++) {
        const ss_hook *hook = ss_hook_find(names->items[i]), *other;
        ss_unknown unknown = ss_unknown_start("user function", names->items[i]);
        for (int k = 0; (other = ss_hook_at(k)); k++) ss_unknown_offer(&unknown, other->name);
        if (!hook && !ss_hook_count())
            ss_fail(err, SS_ERROR_USAGE, "unknown user function '%s': no plug-in brings any",
                    names->items[i]);
        else if (!hook)
            ss_unknown_fail(&unknown, err);
        if (!hook) return ss_fail_in(err, "run: --call");
        if (!ss_sim_call_hook(run->sim, hook, err)) return false;
    }
    return true;
}

/* ---- model files ---------------------------------------------------------------------------------- */

/* What keeps mechanisms of joints true over many steps. */
static void model_options(const void *parameters, ss_sim_options *options)
{
    (void)parameters;
    options->joints = SS_STABILISE_IMPULSE;
}

/* The world of a model file, and a scene around it. */
static bool build_model(ss_running *run, const char *path, ss_error *err)
{
    static const double time_step = 0.002, steps = 1000; // for formats that do not say
    const ss_run_verb_options *options = run->options;
    const ss_findings *findings = &run->findings;
    ss_model_info info;
    if (!ss_model_read(path, &options->model, run->world, &info, &run->findings, err))
        return ss_fail_in(err, "run");

    // Everything that is not honoured, by line; then, with --strict, that is the end.
    for (size_t i = 0; i < findings->count; i++) {
        const ss_finding *finding = &findings->items[i];
        ss_command_say(run->command, "%s: %s: %s", ss_finding_kind_name(finding->kind), finding->place,
                       finding->message);
    }
    size_t losses = findings->count_of[SS_FINDING_LOSS], warnings = findings->count_of[SS_FINDING_WARNING];
    if ((options->strict && losses + warnings > 0) || (options->strict_motion && losses > 0)) {
        const ss_finding *first = NULL;
        for (size_t i = 0; i < findings->count && !first; i++)
            if (options->strict || findings->items[i].kind == SS_FINDING_LOSS) first = &findings->items[i];
        ss_fail(err, SS_ERROR_INPUT, "%s: refused by --strict%s: %zu findings, the first: %.200s: %.400s",
                path, options->strict ? "" : "-motion", options->strict ? losses + warnings : losses,
                first ? first->place : "", first ? first->message : "");
        return ss_fail_in(err, "run");
    }

    double h = info.h > 0.0 ? info.h : time_step;
    run->model_scene = (ss_scene){.name = ss_path_name(path),
                                  .summary = "a model file",
                                  .description = "",
                                  .h = h,
                                  .length = steps * h,
                                  .options = model_options};
    run->scene = &run->model_scene;
    return true;
}

bool ss_running_build(ss_running *run, ss_error *err)
{
    static const double most_steps = 9007199254740992.0; // 2^53: every step still has a number
    const ss_run_verb_options *options = run->options;
    ss_sim_options *sim_options = &run->sim_options;
    const char *name = run->command->arguments[0];

    // The world, of a scene or a model file.
    bool is_model = !ss_scene_find(name) && ss_model_is_name(name);
    run->world = ss_world_create(err);
    if (!run->world || (is_model && !build_model(run, name, err))) return false;
    if (!is_model) run->scene = ss_scene_named(name, err);
    if (!run->scene) return ss_fail_in(err, "run");
    const ss_scene *scene = run->scene;
    if (!set_options(run, err)) return false;
    if (scene->build && !scene->build(run->parameters, (uint64_t)sim_options->seed, run->world, err))
        return false;

    if (!in_si_units(options)) {
        if (scene->si_only)
            return ss_fail(err, SS_ERROR_USAGE,
                           "run: %s: its external drive is in SI units, which cannot be "
                           "changed",
                           scene->name);
        sim_options->h *= options->time_unit;
        if (!ss_world_change_units(run->world, options->length_unit, options->mass_unit, options->time_unit,
                                   err))
            return ss_fail_in(err, "run: %s", scene->name);
    }

    // The time does not depend on the refinement, so the steps are counted in unrefined ones.
    int refine = run->refine > 1 ? run->refine : 1;
    double time = options->time > 0.0 ? options->time : scene->length * options->time_unit;
    double coarse = options->steps > 0 ? options->steps : ceil(time / (refine * sim_options->h) - 1e-9);
    double steps = refine * coarse;
    if (!(steps <= most_steps))
        return ss_fail(err, SS_ERROR_USAGE, "run: too many steps: %g s in steps of %g s", time,
                       sim_options->h);
    run->steps = (int64_t)steps;

    run->sim = ss_sim_create(run->world, sim_options, err);
    if (!run->sim) return false;
    sim_options->solver = ss_solver_name(sim_options->solver);
    sim_options->finisher = ss_sim_finisher(run->sim);
    if ((scene->begin && !scene->begin(run->parameters, run->sim, &run->state, err)) ||
        !attach_hooks(run, err))
        return false;

    // Where the bodies start, for the drift at the end.
    int bodies = ss_world_body_count(run->world);
    run->start_pose = ss_allocate((size_t)bodies, sizeof *run->start_pose);
    if (!run->start_pose) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    for (int b = 0; b < bodies; b++) {
        const ss_body *body = ss_world_body(run->world, b);
        memcpy(run->start_pose[b], body->position, sizeof body->position);
        memcpy(run->start_pose[b] + 3, body->quaternion, sizeof body->quaternion);
    }
    return true;
}

int ss_running_figures(const ss_running *run, ss_scene_result figures[SS_SCENE_FIGURES])
{
    if (!run->scene->figures || !in_si_units(run->options)) return 0;
    return run->scene->figures(run->parameters, run->sim, run->state, figures);
}

void ss_running_free(ss_running *run)
{
    ss_sim_destroy(run->sim);
    ss_world_destroy(run->world);
    ss_plugin_close(run->collision_plugin);
    ss_release(run->parameters);
    ss_release(run->state);
    ss_release(run->start_pose);
    ss_findings_free(&run->findings);
}
