/* One simulation by one engine, ours or ODE, Bullet or MuJoCo, timed and judged; a race is many of them
 * (tools/race-engines), each in a process of its own.
 *
 *     race_engines measure SCENE[,NAME=VALUE...] ENGINE[,NAME=VALUE...] [NAME=VALUE...]
 *     race_engines ghost-edges
 *     race_engines versions
 *
 * ENGINE is ours, ode-quick, ode-step, bullet or mujoco; its settings are dt (s), iterations, solver,
 * tolerance and threads, of ours all options of ss_sim_option_table, and margin. After them: time (simulated,
 * s), limit (s in steps: what takes longer is cut off and says so), repeats (the fastest counts, as long as
 * all fit into the limit), clock (wall: also with one thread, to compare it with several).
 *
 * Prints an object of JSON. Time is that of stepping alone, per simulated second: of the processor, but wall
 * time with several threads. How good the motion was is measured the same way for all, by our own
 * collision detection and mass properties on the poses of an engine, every 0.05 s: penetration is the deepest
 * overlap, drift the farthest a body has moved in the end, energy_change the largest deviation from the
 * energy of the start, energy_gained the largest rise above its lowest value until then, joint_error the
 * largest violation of a joint in m or rad. energy_floor is what rounding poses to single precision may
 * change of the energy: no engine is judged by less.
 */
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const struct {
    const char *key;
    const ss_peer *peer; /* NULL: ours */
} engines[] = {{"ours", NULL},
               {"ode-quick", &ss_peer_ode_quick},
               {"ode-step", &ss_peer_ode_step},
               {"bullet", &ss_peer_bullet},
               {"mujoco", &ss_peer_mujoco}};
enum { ENGINES = sizeof engines / sizeof *engines };

static const double look_interval = 0.05; /* s */

enum { BROAD, NARROW, ASSEMBLY, SOLVE, MOVE, STAGES };
static const char *const stage_names[STAGES] = {"broad", "narrow", "assembly", "solve", "move"};

typedef struct outcome {
    char failed[300]; /* why it could not be built, or did not end; "" otherwise */
    bool cut;         /* by the limit */
    int steps, contacts;
    double time;    /* s, simulated */
    double seconds; /* in steps */
    double penetration, drift, energy_change, energy_gained, joint_error;
    double energy_floor;   /* J: changes below it are rounding */
    double stages[STAGES]; /* s, ours only */
} outcome;

static void fail(outcome *result, const char *what)
{
    if (!result->failed[0]) snprintf(result->failed, sizeof result->failed, "%.299s", what);
}

static double seconds_by(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- what is asked for ------------------------------------------------------------------------------ */

enum { MOST_WORDS = 32 };

typedef struct request {
    const ss_scene *scene;
    const ss_peer *peer;
    char *parameters[MOST_WORDS], *settings[MOST_WORDS]; /* "NAME=VALUE", NULL at the end */
    ss_effort effort;                                    /* peers */
    double time, limit;
    int repeats;
    bool wall; /* wall time also with one thread */
} request;

static clockid_t clock_for(const request *ask, int threads)
{
    return ask->wall || threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

static void refuse(const char *what, const char *word)
{
    fprintf(stderr, "race_engines: %s: %s\n", word, what);
    exit(2);
}

/* "a,b=1,c=2" into "a" and a list. */
static void split(char *text, char **list)
{
    int count = 0;
    for (char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        *comma = '\0';
        if (count + 1 == MOST_WORDS) refuse("too many settings", text);
        list[count++] = comma + 1;
    }
    list[count] = NULL;
}

/* The value after "NAME=", NULL if it is another name. */
static const char *value_of(const char *assignment, const char *name)
{
    size_t length = strlen(name);
    return strncmp(assignment, name, length) == 0 && assignment[length] == '=' ? assignment + length + 1
                                                                               : NULL;
}

static double number_of(const char *assignment, const char *name, double otherwise)
{
    const char *text = value_of(assignment, name);
    char *end = NULL;
    double value = text ? strtod(text, &end) : otherwise;
    if (text && (*text == '\0' || *end != '\0' || !(value > 0.0)))
        refuse("needs a positive number", assignment);
    return value;
}

static request read_request(int count, char **words)
{
    request ask = {.time = 2.0, .limit = 60.0, .repeats = 1, .effort = {.h = 0.01, .threads = 1}};
    if (count < 2) refuse("needs a scene and an engine", "measure");
    split(words[0], ask.parameters);
    split(words[1], ask.settings);
    ask.scene = ss_scene_find(words[0]);
    if (!ask.scene) refuse("no such scene", words[0]);
    int found = 0;
    while (found < ENGINES && strcmp(engines[found].key, words[1]) != 0) found++;
    if (found == ENGINES) refuse("no such engine: ours, ode-quick, ode-step, bullet, mujoco", words[1]);
    ask.peer = engines[found].peer;
    for (int i = 0; ask.peer && ask.settings[i]; i++) {
        const char *word = ask.settings[i];
        ask.effort.h = number_of(word, "dt", ask.effort.h);
        ask.effort.iterations = (int)number_of(word, "iterations", ask.effort.iterations);
        ask.effort.tolerance = number_of(word, "tolerance", ask.effort.tolerance);
        ask.effort.threads = (int)number_of(word, "threads", ask.effort.threads);
        if (value_of(word, "solver")) ask.effort.solver = value_of(word, "solver");
        if (!value_of(word, "dt") && !value_of(word, "iterations") && !value_of(word, "tolerance") &&
            !value_of(word, "solver") && !value_of(word, "threads"))
            refuse("no such setting: dt, iterations, tolerance, solver, threads", word);
    }
    for (int i = 2; i < count; i++) {
        ask.time = number_of(words[i], "time", ask.time);
        ask.limit = number_of(words[i], "limit", ask.limit);
        ask.repeats = (int)number_of(words[i], "repeats", ask.repeats);
        if (strcmp(words[i], "clock=wall") == 0)
            ask.wall = true;
        else if (!value_of(words[i], "time") && !value_of(words[i], "limit") &&
                 !value_of(words[i], "repeats"))
            refuse("no such word: time, limit, repeats, clock=wall", words[i]);
    }
    return ask;
}

static void *parameters_of(const request *ask)
{
    ss_error err = {0};
    void *parameters = calloc(1, ask->scene->parameters_size + 1);
    ss_options_defaults(ask->scene->parameters, parameters);
    for (int i = 0; ask->parameters[i]; i++)
        if (!ss_options_assign(ask->scene->parameters, parameters, ask->parameters[i], &err))
            refuse(err.message, ask->parameters[i]);
    return parameters;
}

static ss_world *build(const request *ask, const void *parameters)
{
    ss_error err = {0};
    ss_world *world = ss_world_create(&err);
    if (!world || !ask->scene->build(parameters, 0, world, &err) || !ss_world_finish(world, &err))
        refuse(err.message, ask->scene->name);
    return world;
}

/* ---- how good it is --------------------------------------------------------------------------------- */

typedef struct watch {
    ss_collision *collision;
    ss_world *world;
    double (*start)[3];
    double first, lowest; /* J, of the energy */
    double next;          /* s: when to look again */
    outcome *to;
} watch;

static void look(watch *w)
{
    ss_error err = {0};
    ss_contact_list list;
    for (int b = 0; b < ss_world_body_count(w->world); b++) {
        const ss_body *body = ss_world_body(w->world, b);
        double sum = 0.0;
        for (int i = 0; i < 3; i++) sum += body->position[i] + body->velocity[i] + body->velocity[3 + i];
        if (!isfinite(sum)) fail(w->to, "a pose or velocity is not finite");
    }
    if (w->to->failed[0]) return;
    if (!ss_collision_find(w->collision, 0.0, NULL, &list, &err)) {
        fail(w->to, err.message);
        return;
    }
    outcome *to = w->to;
    for (int i = 0; i < list.count; i++) to->penetration = fmax(to->penetration, -list.items[i].gap);
    to->contacts = list.count;
    for (int j = 0; j < ss_world_joint_count(w->world); j++)
        to->joint_error = fmax(to->joint_error, ss_joint_error(w->world, j));
    ss_world_energy energy = ss_world_measure(w->world);
    double now = energy.kinetic + energy.potential;
    to->energy_change = fmax(to->energy_change, fabs(now - w->first));
    to->energy_gained = fmax(to->energy_gained, now - w->lowest);
    w->lowest = fmin(w->lowest, now);
    to->drift = 0.0;
    for (int b = 0; b < ss_world_body_count(w->world); b++) {
        const double *x = ss_world_body(w->world, b)->position, *s = w->start[b];
        to->drift = fmax(to->drift, hypot(hypot(x[0] - s[0], x[1] - s[1]), x[2] - s[2]));
    }
}

/* What rounding the poses and velocities of the start to single precision may change of the energy: 2^-24 of
 * m |g x| for each body, and of its kinetic energy. */
static double energy_floor_of(ss_world *world)
{
    const double *g = ss_world_gravity(world);
    double sum = ss_world_measure(world).kinetic;
    for (int b = 0; b < ss_world_body_count(world); b++) {
        const ss_body *body = ss_world_body(world, b);
        const double *x = body->position;
        if (body->kind == SS_DYNAMIC) sum += body->mass * fabs(g[0] * x[0] + g[1] * x[1] + g[2] * x[2]);
    }
    return sum / 16777216.0;
}

static watch begin_watch(ss_world *world, outcome *to)
{
    ss_error err = {0};
    ss_collision_options options;
    ss_options_defaults(ss_collision_option_table, &options);
    ss_world_energy energy = ss_world_measure(world);
    double now = energy.kinetic + energy.potential;
    watch w = {.collision = ss_collision_create(world, &options, &err),
               .world = world,
               .start = calloc((size_t)ss_world_body_count(world) + 1, sizeof *w.start),
               .first = now,
               .lowest = now,
               .next = look_interval,
               .to = to};
    if (!w.collision) refuse(err.message, "collision");
    to->energy_floor = energy_floor_of(world);
    for (int b = 0; b < ss_world_body_count(world); b++)
        memcpy(w.start[b], ss_world_body(world, b)->position, sizeof w.start[b]);
    return w;
}

/* ---- one run ---------------------------------------------------------------------------------------- */

static outcome run_ours(const request *ask)
{
    ss_error err = {0};
    outcome result = {0};
    void *parameters = parameters_of(ask);
    ss_world *world = build(ask, parameters);
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    if (ask->scene->options) ask->scene->options(parameters, &options);
    options.h = ask->effort.h;
    options.threads = 1;
    for (int i = 0; ask->settings[i]; i++) {
        const char *word = ask->settings[i];
        bool good = value_of(word, "margin")
                        ? ss_options_assign(ss_collision_option_table, &options.collision, word, &err)
                        : ss_options_assign(ss_sim_option_table, &options, word, &err);
        if (!good) refuse(err.message, word);
    }
    ss_sim *sim = ss_sim_create(world, &options, &err);
    if (!sim) refuse(err.message, ask->scene->name);

    watch w = begin_watch(world, &result);
    clockid_t clock = clock_for(ask, options.threads);
    int steps = (int)(ask->time / options.h + 0.5);
    while (result.steps < steps && !result.failed[0] && !result.cut) {
        double start = seconds_by(clock);
        bool good = ss_sim_step(sim, &err);
        result.seconds += seconds_by(clock) - start;
        if (!good) fail(&result, err.message);
        result.time = ++result.steps * options.h;
        result.cut = result.seconds > ask->limit;
        ss_sim_report last = ss_sim_last(sim);
        const double stages[] = {last.broad, last.narrow, last.assembly, last.solve, last.integration};
        for (int i = 0; i < STAGES; i++) result.stages[i] += stages[i];
        if (result.time < w.next - 0.5 * options.h) continue;
        look(&w);
        w.next += look_interval;
    }
    look(&w);
    ss_collision_destroy(w.collision);
    free(w.start);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    free(parameters);
    return result;
}

static outcome run_peer(const request *ask)
{
    outcome result = {0};
    void *parameters = parameters_of(ask);
    ss_world *world = build(ask, parameters);
    char why[200] = "";
    void *state = ask->peer->create(world, &ask->effort, why);
    if (!state) fail(&result, why);

    watch w = begin_watch(world, &result);
    clockid_t clock = clock_for(ask, ask->effort.threads);
    int steps = (int)(ask->time / ask->effort.h + 0.5);
    while (result.steps < steps && !result.failed[0] && !result.cut) {
        double start = seconds_by(clock);
        ask->peer->step(state);
        result.seconds += seconds_by(clock) - start;
        result.time = ++result.steps * ask->effort.h;
        result.cut = result.seconds > ask->limit;
        if (result.time < w.next - 0.5 * ask->effort.h) continue;
        ask->peer->read(state, world);
        look(&w);
        w.next += look_interval;
    }
    if (state) {
        ask->peer->read(state, world);
        look(&w);
        if (ask->peer->complaint && ask->peer->complaint(state)[0])
            fail(&result, ask->peer->complaint(state));
        ask->peer->destroy(state);
    }
    ss_collision_destroy(w.collision);
    free(w.start);
    ss_world_destroy(world);
    free(parameters);
    return result;
}

static void put_text(const char *name, const char *text)
{
    printf("\"%s\": \"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    printf("\"");
}

static int measure(int count, char **words)
{
    request ask = read_request(count, words);
    outcome best = {0};
    // a single step may take longer than all should: then the system ends the process
    rlim_t most = (rlim_t)(2.0 * ask.limit) + 5;
    setrlimit(RLIMIT_CPU, &(struct rlimit){most, most});
    double spent = 0.0;
    for (int i = 0; i < ask.repeats && (i == 0 || spent + best.seconds < ask.limit); i++) {
        outcome one = ask.peer ? run_peer(&ask) : run_ours(&ask);
        if (i == 0 || one.seconds < best.seconds) best = one;
        spent += one.seconds;
        if (one.failed[0] || one.cut) break;
    }
    printf("{");
    put_text("version", ask.peer ? ask.peer->version() : ss_version());
    printf(", ");
    put_text("failed", best.failed);
    printf(", \"cut\": %s, \"steps\": %d, \"time\": %.9g, \"contacts\": %d", best.cut ? "true" : "false",
           best.steps, best.time, best.contacts);
    if (best.steps > 0 && best.time > 0.0) printf(", \"cost\": %.9g", best.seconds / best.time);
    if (!best.failed[0])
        printf(", \"penetration\": %.9g, \"drift\": %.9g, \"energy_change\": %.9g, \"energy_gained\": %.9g, "
               "\"joint_error\": %.9g, \"energy_floor\": %.9g",
               best.penetration, best.drift, best.energy_change, best.energy_gained, best.joint_error,
               best.energy_floor);
    if (!ask.peer) {
        printf(", \"stages\": {");
        for (int i = 0; i < STAGES; i++)
            printf("%s\"%s\": %.6g", i ? ", " : "", stage_names[i], best.stages[i] / best.steps);
        printf("}");
    }
    printf("}\n");
    return 0;
}

/* ---- ghost edges ---------------------------------------------------------------------------------- */

/* What a box that slides over tiles loses beyond friction, mu g t: the seams took it. */
static void print_lost(const char *name, const ss_world *world, double time)
{
    const ss_body *body = ss_world_body((ss_world *)(uintptr_t)world, 0);
    double exact = 2.0 - 0.1 * 9.81 * time;
    printf("| %s | %.6f | %.2g | %.2g |\n", name, body->velocity[0], exact - body->velocity[0],
           fabs(body->position[2] - 0.075));
}

static ss_world *tiled_floor(ss_sim_options *options)
{
    const ss_scene *scene = ss_scene_find("ghost-edges");
    void *parameters = ss_allocate(1, scene->parameters_size);
    ss_world *world = ss_world_create(NULL);
    ss_options_defaults(scene->parameters, parameters);
    ss_options_defaults(ss_sim_option_table, options);
    ss_options_defaults(ss_collision_option_table, &options->collision);
    scene->options(parameters, options);
    bool good = world && scene->build(parameters, 1, world, NULL) && ss_world_finish(world, NULL);
    ss_release(parameters);
    if (good) return world;
    fprintf(stderr, "race_engines: ghost-edges cannot be built\n");
    exit(3);
}

static int slide_over_tiles(void)
{
    const double h = 0.01;
    const int steps = 100;
    static const struct {
        const ss_peer *peer;
        int iterations;
    } entrants[] = {{&ss_peer_ode_quick, 20}, {&ss_peer_ode_quick, 50}, {&ss_peer_ode_step, 0},
                    {&ss_peer_bullet, 10},    {&ss_peer_bullet, 50},    {&ss_peer_mujoco, 0}};
    ss_sim_options options = {0};
    printf("## Ghost edges: a box at 2 m/s over tiles of 0.4 m, mu = 0.1, %d steps of %g s\n\n", steps, h);
    printf("| engine | speed at the end, m/s | lost to seams, m/s | lifted by, m |\n"
           "| --- | --- | --- | --- |\n");
    for (int peg = 1; peg >= 0; peg--) {
        ss_world *world = tiled_floor(&options);
        options.h = h;
        options.peg = peg ? SS_PEG_SELECT : SS_PEG_OFF;
        ss_sim *sim = ss_sim_create(world, &options, NULL);
        for (int n = 0; sim && n < steps; n++)
            if (!ss_sim_step(sim, NULL)) break;
        print_lost(peg ? "stickslip, exact geometry" : "stickslip, one manifold per pair", world, steps * h);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
    for (size_t i = 0; i < sizeof entrants / sizeof *entrants; i++) {
        char name[64], why[200] = "";
        const ss_peer *peer = entrants[i].peer;
        ss_effort effort = {.h = h, .iterations = entrants[i].iterations};
        ss_world *world = tiled_floor(&options);
        void *state = peer->create(world, &effort, why);
        if (effort.iterations > 0)
            snprintf(name, sizeof name, "%s, %d iterations", peer->name, effort.iterations);
        else
            snprintf(name, sizeof name, "%s", peer->name);
        for (int n = 0; state && n < steps; n++) peer->step(state);
        if (state) {
            peer->read(state, world);
            print_lost(name, world, steps * h);
            peer->destroy(state);
        } else {
            printf("| %s | cannot build this scene: %s | | |\n", name, why);
        }
        ss_world_destroy(world);
    }
    return 0;
}

int main(int count, char **words)
{
    if (count > 2 && strcmp(words[1], "measure") == 0) return measure(count - 2, words + 2);
    if (count == 2 && strcmp(words[1], "ghost-edges") == 0) return slide_over_tiles();
    if (count == 2 && strcmp(words[1], "versions") == 0) {
        for (int i = 0; i < ENGINES; i++)
            printf("%s\t%s\t%s\n", engines[i].key, engines[i].peer ? engines[i].peer->name : "stickslip",
                   engines[i].peer ? engines[i].peer->version() : ss_version());
        return 0;
    }
    fprintf(stderr,
            "usage: race_engines measure SCENE[,NAME=VALUE...] ENGINE[,NAME=VALUE...] [time=S] [limit=S] "
            "[repeats=N] [clock=wall]\n       race_engines ghost-edges | versions\n");
    return 2;
}
