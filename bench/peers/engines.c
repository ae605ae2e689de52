/* Our simulator beside ODE, Bullet and MuJoCo: the same scenes, the same step, in one run.
 *
 *     race_engines [--repeats N] [--steps N] [SCENE...]
 *
 * Time is that of stepping alone, the smallest mean over several runs: of the processor, but wall time for
 * two threads. How good the motion was is measured the same way for all, by our own collision detection and
 * mass properties on the poses an engine ends with: penetration is the deepest overlap at any 25th step,
 * drift the farthest a body that should stand has moved, energy what was gained or lost of the total. Below
 * each table (markdown) stands which peer is the fastest that keeps the scene together, how far we are from
 * twice its speed, and where our own time goes. The last table, ghost-edges, is about what is lost at seams.
 */
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct course {
    const char *scene, *parameters[3];
    int steps;
    bool rests; /* nothing should move: drift and energy mean something */
    /* m, of a body: what overlaps by a tenth of it, or was to rest and moved by a quarter, fell apart */
    double size;
} course;

static const course courses[] = {
    {"brick-wall", {NULL}, 500, true, 0.071},
    {"box-pyramid", {"base=20", NULL}, 500, true, 1.0},
    {"massratio", {NULL}, 500, true, 0.2},
    {"sphere-pile", {"count=512", NULL}, 400, false, 0.2},
    {"log-pile", {"count=40", NULL}, 400, false, 0.2},
};

typedef struct entrant {
    const ss_peer *peer; /* NULL: ours */
    int iterations, threads;
} entrant;

static const entrant entrants[] = {
    {NULL, 0, 1},
    {NULL, 0, 2},
    {&ss_peer_ode_quick, 20, 1},
    {&ss_peer_ode_quick, 50, 1},
    {&ss_peer_ode_step, 0, 1},
    {&ss_peer_bullet, 10, 1},
    {&ss_peer_bullet, 50, 1},
    {&ss_peer_mujoco, 0, 1},
};
enum { ENTRANTS = sizeof entrants / sizeof *entrants };

/* s for every step on average: what takes longer is stopped, and its steps are told */
static const double patience = 0.02;

enum { BROAD, NARROW, ASSEMBLY, SOLVE, MOVE, STAGES };

typedef struct outcome {
    bool ran;
    int steps;      /* done */
    double seconds; /* a step */
    double penetration, drift, energy;
    double stages[STAGES]; /* s, ours only: sums over */
    int profiled;          /* number of steps */
} outcome;

static double step_size = 0.01; /* s, for all */

/* ---- shared by the bridges ------------------------------------------------------------------------ */

bool ss_peer_is_simple(const ss_world *world)
{
    if (ss_world_joint_count(world) > 0) return false;
    for (int k = 0; k < ss_world_shape_count(world); k++) {
        const ss_shape *shape = ss_world_shape(world, k);
        bool known = shape->kind == SS_SPHERE || shape->kind == SS_BOX || shape->kind == SS_CAPSULE ||
                     shape->kind == SS_CYLINDER || (shape->kind == SS_PLANE && shape->body == SS_WORLD);
        if (!known) return false;
    }
    return true;
}

static void multiply(const double a[4], const double b[4], double c[4])
{
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

void ss_peer_place(const ss_world *world, const ss_shape *shape, double position[3], double quaternion[4])
{
    memcpy(position, shape->position, 3 * sizeof *position);
    memcpy(quaternion, shape->quaternion, 4 * sizeof *quaternion);
    if (shape->body == SS_WORLD) return;
    const ss_body *body = ss_world_body(world, shape->body);
    const double *q = body->quaternion, back[4] = {q[0], -q[1], -q[2], -q[3]};
    double v[4] = {0.0, position[0], position[1], position[2]}, turned[4], out[4];
    multiply(q, v, turned);
    multiply(turned, back, out);
    for (int i = 0; i < 3; i++) position[i] = body->position[i] + out[1 + i];
    multiply(q, shape->quaternion, out);
    memcpy(quaternion, out, sizeof out);
}

double ss_peer_friction(const ss_world *world)
{
    return ss_world_pair(world, 0, 0).mu;
}

static double clock_of(int threads)
{
    struct timespec now;
    clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- one run -------------------------------------------------------------------------------------- */

static void die(const char *what, const ss_error *err)
{
    fprintf(stderr, "race_engines: %s: %s\n", what, err->message);
    exit(1);
}

static ss_world *build(const course *c)
{
    ss_error err = {0};
    const ss_scene *scene = ss_scene_find(c->scene);
    if (!scene) {
        fprintf(stderr, "race_engines: no scene %s\n", c->scene);
        exit(2);
    }
    double parameters[64];
    ss_options_defaults(scene->parameters, parameters);
    for (int i = 0; c->parameters[i]; i++) {
        if (!ss_options_assign(scene->parameters, parameters, c->parameters[i], &err)) die(c->scene, &err);
    }
    ss_world *world = ss_world_create(&err);
    if (!world || !scene->build(parameters, 0, world, &err) || !ss_world_finish(world, &err))
        die(c->scene, &err);
    return world;
}

typedef struct watch {
    ss_collision *collision;
    ss_world *world;
    double (*start)[3];
    double start_energy, penetration;
} watch;

static watch watch_begin(ss_world *world)
{
    ss_error err = {0};
    ss_collision_options options;
    ss_options_defaults(ss_collision_option_table, &options);
    ss_world_energy energy = ss_world_measure(world);
    watch w = {ss_collision_create(world, &options, &err), world, NULL, energy.kinetic + energy.potential,
               0.0};
    if (!w.collision) die("collision", &err);
    w.start = calloc((size_t)ss_world_body_count(world) + 1, sizeof *w.start);
    for (int b = 0; b < ss_world_body_count(world); b++)
        memcpy(w.start[b], ss_world_body(world, b)->position, sizeof w.start[b]);
    return w;
}

static void watch_look(watch *w)
{
    ss_error err = {0};
    ss_contact_list list;
    if (!ss_collision_find(w->collision, 0.0, NULL, &list, &err)) die("collision", &err);
    for (int i = 0; i < list.count; i++) w->penetration = fmax(w->penetration, -list.items[i].gap);
}

static void watch_end(watch *w, outcome *result)
{
    watch_look(w);
    ss_world_energy energy = ss_world_measure(w->world);
    result->penetration = w->penetration;
    result->energy = energy.kinetic + energy.potential - w->start_energy;
    for (int b = 0; b < ss_world_body_count(w->world); b++) {
        const double *x = ss_world_body(w->world, b)->position, *s = w->start[b];
        double far = sqrt((x[0] - s[0]) * (x[0] - s[0]) + (x[1] - s[1]) * (x[1] - s[1]) +
                          (x[2] - s[2]) * (x[2] - s[2]));
        result->drift = far > result->drift || isnan(far) ? far : result->drift;
    }
    ss_collision_destroy(w->collision);
    free(w->start);
}

/* Stages are measured in wall time: steps in which another process had the core are left out. */
static void add_stages(ss_sim_report last, double seconds, outcome *result)
{
    const double stages[] = {last.broad, last.narrow, last.assembly, last.solve, last.integration};
    if (last.seconds > 1.1 * seconds + 5e-6) return;
    for (int i = 0; i < STAGES; i++) result->stages[i] += stages[i];
    result->profiled++;
}

static outcome run_ours(const course *c, int threads)
{
    ss_error err = {0};
    ss_world *world = build(c);
    const ss_scene *scene = ss_scene_find(c->scene);
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    double parameters[64];
    ss_options_defaults(scene->parameters, parameters);
    if (scene->options) scene->options(parameters, &options);
    options.h = step_size;
    options.threads = threads;
    ss_sim *sim = ss_sim_create(world, &options, &err);
    if (!sim) die(c->scene, &err);
    outcome result = {.ran = true, .steps = c->steps};
    watch w = watch_begin(world);
    for (int k = 0; k < c->steps; k++) {
        double start = clock_of(threads);
        if (!ss_sim_step(sim, &err)) die(c->scene, &err);
        double seconds = clock_of(threads) - start;
        result.seconds += seconds / c->steps;
        add_stages(ss_sim_last(sim), seconds, &result);
        if (k % 25 == 0) watch_look(&w);
    }
    watch_end(&w, &result);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return result;
}

static outcome run_peer(const course *c, const ss_peer *peer, int iterations)
{
    ss_world *world = build(c);
    void *state = peer->create(world, step_size, iterations);
    outcome result = {.ran = state != NULL};
    watch w = watch_begin(world);
    for (int k = 0; state && k < c->steps && result.seconds < patience * c->steps; k++) {
        result.steps++;
        double start = clock_of(1);
        peer->step(state);
        result.seconds += clock_of(1) - start;
        if (k % 25 != 0) continue;
        peer->read(state, world);
        watch_look(&w);
    }
    if (state) peer->read(state, world);
    watch_end(&w, &result);
    result.seconds /= result.steps > 0 ? result.steps : 1;
    if (state) peer->destroy(state);
    ss_world_destroy(world);
    return result;
}

static outcome best_of(const course *c, const entrant *e, int repeats)
{
    outcome best = {.seconds = INFINITY};
    for (int k = 0; k < repeats; k++) {
        outcome one = e->peer ? run_peer(c, e->peer, e->iterations) : run_ours(c, e->threads);
        if (!one.ran) return one;
        if (one.seconds < best.seconds) best = one;
    }
    return best;
}

/* ---- the table ------------------------------------------------------------------------------------ */

/* Deeper or farther than ours by less than a micrometre is as good. */
static bool as_good(const course *c, const outcome *ours, const outcome *theirs)
{
    const double same = 1e-6;
    if (theirs->penetration > ours->penetration + same) return false;
    if (c->rests && theirs->drift > ours->drift + same) return false;
    return !c->rests || fabs(theirs->energy) <= fabs(ours->energy) * (1.0 + 1e-6) + 1e-9;
}

static bool holds(const course *c, const outcome *of)
{
    if (!of->ran || of->steps < c->steps || !(of->penetration < 0.1 * c->size)) return false;
    return !c->rests || of->drift < 0.25 * c->size;
}

static void name_entrant(const entrant *e, char name[64])
{
    if (!e->peer)
        snprintf(name, 64, "stickslip, %d thread%s", e->threads, e->threads > 1 ? "s" : "");
    else if (e->iterations > 0)
        snprintf(name, 64, "%s, %d iterations", e->peer->name, e->iterations);
    else
        snprintf(name, 64, "%s", e->peer->name);
}

static void print_row(const course *c, const entrant *e, const outcome *r, const outcome *ours)
{
    char name[64];
    name_entrant(e, name);
    if (!r->ran) {
        printf("| %s | cannot build this scene | | | | |\n", name);
        return;
    }
    printf("| %s | %.1f | %.2g m |", name, 1e6 * r->seconds, r->penetration);
    if (c->rests)
        printf(" %.2g m | %.2g J |", r->drift, r->energy);
    else
        printf(" | |");
    if (r != ours) printf(" %.2f", r->seconds / ours->seconds);
    if (r->steps < c->steps)
        printf(", after %d steps", r->steps);
    else if (e->peer && !holds(c, r))
        printf(", fell apart");
    printf(" |\n");
}

/* The fastest peer that keeps the scene together, and the fastest that is as good as we are. */
static void print_standing(const course *c, const outcome *results)
{
    int best = -1, good = -1;
    char name[64];
    for (int i = 0; i < ENTRANTS; i++) {
        const outcome *r = &results[i];
        if (!entrants[i].peer || !holds(c, r)) continue;
        if (best < 0 || r->seconds < results[best].seconds) best = i;
        if (as_good(c, &results[0], r) && (good < 0 || r->seconds < results[good].seconds)) good = i;
    }
    if (best < 0) {
        printf("\nNo peer keeps it together.\n");
        return;
    }
    double ratio = results[best].seconds / results[0].seconds;
    name_entrant(&entrants[best], name);
    printf("\nThe fastest peer that keeps it together is %s, at %.2f times our time", name, ratio);
    printf(ratio >= 2.0 ? ": more than twice." : ": our step would have to take %.0f us for twice.",
           0.5e6 * results[best].seconds);
    if (good < 0) {
        printf(" None has errors as small as ours.\n");
    } else {
        name_entrant(&entrants[good], name);
        printf(" With errors as small as ours: %s, %.2f.\n", name,
               results[good].seconds / results[0].seconds);
    }
}

static void print_profile(const outcome *ours)
{
    static const char *const names[STAGES] = {"broad phase", "narrow phase", "assembly", "solving", "moving"};
    double sum = 0.0;
    for (int i = 0; i < STAGES; i++) sum += ours->stages[i];
    if (ours->profiled == 0) return;
    printf("Where our step goes:");
    for (int i = 0; i < STAGES; i++)
        printf("%s %s %.0f us (%.0f %%)", i ? "," : "", names[i], 1e6 * ours->stages[i] / ours->profiled,
               100.0 * ours->stages[i] / sum);
    printf(".\n");
}

static void race(const course *c, int repeats)
{
    outcome results[ENTRANTS];
    printf("\n## Step time: %s", c->scene);
    for (int i = 0; c->parameters[i]; i++) printf(" %s", c->parameters[i]);
    printf(", %d steps of %g s\n\n| engine | us / step | penetration | %s | %s | time / ours |\n", c->steps,
           step_size, c->rests ? "drift" : " ", c->rests ? "energy" : " ");
    printf("| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < ENTRANTS; i++) {
        results[i] = best_of(c, &entrants[i], repeats);
        print_row(c, &entrants[i], &results[i], &results[0]);
        fflush(stdout);
    }
    print_standing(c, results);
    print_profile(&results[0]);
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

static void slide_over_tiles(void)
{
    int steps = 100;
    ss_sim_options options = {0};
    printf("\n## Ghost edges: a box at 2 m/s over tiles of 0.4 m, mu = 0.1, %d steps of %g s\n\n", steps,
           step_size);
    printf("| engine | speed at the end, m/s | lost to seams, m/s | lifted by, m |\n"
           "| --- | --- | --- | --- |\n");
    for (int peg = 1; peg >= 0; peg--) {
        ss_world *world = tiled_floor(&options);
        options.h = step_size;
        options.peg = peg ? SS_PEG_SELECT : SS_PEG_OFF;
        ss_sim *sim = ss_sim_create(world, &options, NULL);
        for (int n = 0; sim && n < steps; n++)
            if (!ss_sim_step(sim, NULL)) break;
        print_lost(peg ? "stickslip, exact geometry" : "stickslip, one manifold per pair", world,
                   steps * step_size);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
    for (int i = 0; i < ENTRANTS; i++) {
        char name[64];
        if (!entrants[i].peer) continue;
        ss_world *world = tiled_floor(&options);
        void *state = entrants[i].peer->create(world, step_size, entrants[i].iterations);
        name_entrant(&entrants[i], name);
        for (int n = 0; state && n < steps; n++) entrants[i].peer->step(state);
        if (state) {
            entrants[i].peer->read(state, world);
            print_lost(name, world, steps * step_size);
            entrants[i].peer->destroy(state);
        } else {
            printf("| %s | cannot build this scene | | |\n", name);
        }
        ss_world_destroy(world);
    }
}

/* A positive number after an option, or the end. */
static int read_count(const char *name, const char *text)
{
    char *end = NULL;
    long value = text ? strtol(text, &end, 10) : 0;
    if (text && *end == '\0' && value > 0 && value <= 1000000) return (int)value;
    fprintf(stderr, "race_engines: %s: needs a positive number\n", name);
    exit(2);
}

int main(int count, char **words)
{
    int repeats = 3, steps = 0, first = 1;
    for (; first < count && strncmp(words[first], "--", 2) == 0; first += 2) {
        int *to = strcmp(words[first], "--repeats") == 0 ? &repeats
                  : strcmp(words[first], "--steps") == 0 ? &steps
                                                         : NULL;
        if (!to) {
            fprintf(stderr,
                    "race_engines: %s: no such option\nusage: race_engines [--repeats N] [--steps N] "
                    "[SCENE...]\n",
                    words[first]);
            return 2;
        }
        *to = read_count(words[first], first + 1 < count ? words[first + 1] : NULL);
    }
    for (size_t k = 0; k < sizeof courses / sizeof *courses; k++) {
        course c = courses[k];
        bool wanted = first == count;
        for (int i = first; i < count; i++) wanted = wanted || strcmp(words[i], c.scene) == 0;
        if (steps > 0) c.steps = steps;
        if (wanted) race(&c, repeats);
    }
    bool tiles = first == count;
    for (int i = first; i < count; i++) tiles = tiles || strcmp(words[i], "ghost-edges") == 0;
    if (tiles) slide_over_tiles();
    return 0;
}
