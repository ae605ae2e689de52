/* Random drops: a convex polyhedron falls onto an edge, a corner, into a slot, onto a thin plate or another
 * polyhedron, and every step is compared with exact geometry, which knows nothing of alternatives.
 *
 * SS_PEG_DROPS=10000 in the environment does as many of each kind of run as it says, and prints every step
 * that breaks a rule; the default is short. SS_PEG_SEED=17 does that drop alone. */
#include "kit.h"
#include "peg_kit.h"

#include "collision/alternatives.h"
#include "collision/bounds.h"
#include "linalg/quat.h"

enum { STEPS = 40 };
static const double h = 0.01;

/* Of the size: what is closer touches (sim/peg.c). */
static const double touching = 1e-6;

typedef struct tally {
    int drops, steps, pushing, wrong, jammed, cycles, held, tunnelled;
    int beyond; /* steps that end deeper than rotation explains */
    int halved; /* steps that were done in halves */
    double overlap, wrong_impulse;
} tally;

static int drops_wanted(int otherwise)
{
    const char *text = getenv("SS_PEG_DROPS");
    return text ? atoi(text) : otherwise;
}

/* What falls: boxes, the regular solids, and hulls of random points. */
static ss_shape falling_shape(ss_random *random, ss_mesh **mesh)
{
    int kind = ss_random_below(random, 4);
    ss_shape shape = {.kind = SS_BOX, .density = 500};
    *mesh = NULL;
    for (int k = 0; k < 3; k++) shape.size[k] = ss_random_between(random, 0.1, 0.3);
    if (kind == 0) return shape;
    if (kind == 1) {
        double points[12][3];
        for (int i = 0; i < 12; i++)
            for (int k = 0; k < 3; k++) points[i][k] = ss_random_between(random, -0.15, 0.15);
        *mesh = ss_mesh_hull(points, 12, NULL);
    } else {
        *mesh = ss_mesh_solid((ss_solid)ss_random_below(random, 5), NULL);
        ss_mesh_transform(*mesh, (double[3]){0.15, 0.15, 0.15}, NULL, NULL);
    }
    return (ss_shape){.kind = SS_HULL, .mesh = *mesh, .density = 500};
}

static void add_obstacle(ss_world *world, ss_random *random, int kind)
{
    ss_error err = {0};
    if (kind == 0) { // an edge, or a corner
        add_static_box(world, -0.5, 0, -0.5, 1, 2, 1);
    } else if (kind == 1) {
        add_static_box(world, -0.5, -0.5, -0.5, 1, 1, 1);
    } else if (kind == 2) { // a slot that the shape may or may not fit into
        double half = ss_random_between(random, 0.05, 0.2);
        add_static_box(world, -0.5 - half, 0, -0.5, 1, 2, 1);
        add_static_box(world, 0.5 + half, 0, -0.5, 1, 2, 1);
    } else if (kind == 3) { // a plate
        add_static_box(world, 0, 0, -0.01, 1.5, 1.5, 0.02);
    } else { // another solid, standing still
        ss_mesh *mesh = ss_mesh_solid((ss_solid)ss_random_below(random, 5), &err);
        ss_mesh_transform(mesh, (double[3]){0.3, 0.3, 0.3}, NULL, (double[3]){0, 0, -0.3});
        must(ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_HULL, .mesh = mesh}, &err) >= 0,
             &err);
        ss_mesh_destroy(mesh);
    }
}

static double separation(const ss_world *world, const ss_body *body)
{
    double least = INFINITY;
    int shapes = ss_world_shape_count(world);
    ss_placed_shape own = ss_shape_place(world, shapes - 1, body);
    for (int s = 0; s < shapes - 1; s++) {
        ss_placed_shape other = ss_shape_place(world, s, NULL);
        least = fmin(least, ss_polyhedra_separation(&other, &own));
    }
    return least;
}

/* Where a body is on its way through a step: on a straight line, turning about a fixed axis. */
static ss_body on_the_way(const ss_body *from, const ss_body *to, double share)
{
    ss_body at = *to;
    for (int k = 0; k < 3; k++)
        at.position[k] = from->position[k] + share * (to->position[k] - from->position[k]);
    ss_quat q = ss_quat_load(from->quaternion);
    ss_vec3 turn = ss_quat_between(q, ss_quat_load(to->quaternion));
    ss_quat_store(ss_quat_integrate(q, turn, share), at.quaternion);
    return at;
}

/* What the step would be without contacts. */
static ss_body free_motion(const ss_body *before, ss_sim *twin)
{
    ss_body *free = ss_world_body(ss_sim_world(twin), 0);
    memcpy(free->position, before->position, sizeof free->position);
    memcpy(free->quaternion, before->quaternion, sizeof free->quaternion);
    memcpy(free->velocity, before->velocity, sizeof free->velocity);
    run(twin, 1);
    return *free;
}

/* It ends apart, and does not cut deeper than it may on its way, each pair by its own measure. */
static bool passes(const ss_world *world, const ss_body *before, const ss_body *free)
{
    int shapes = ss_world_shape_count(world);
    if (separation(world, free) < 0.0) return false;
    for (int part = 1; part < 8; part++) {
        ss_body at = on_the_way(before, free, part / 8.0);
        ss_placed_shape own = ss_shape_place(world, shapes - 1, &at);
        for (int s = 0; s < shapes - 1; s++) {
            ss_placed_shape other = ss_shape_place(world, s, NULL);
            double cut = SS_CUT_SHARE * fmin(ss_shape_smallest(&own), ss_shape_smallest(&other));
            if (ss_polyhedra_separation(&other, &own) < -cut) return false;
        }
    }
    return true;
}

static void drop(uint64_t seed, int kind, bool locked, int refine, double mu, tally *to)
{
    ss_error err = {0};
    ss_random random = ss_random_start(seed, (uint64_t)kind);
    ss_world *world = empty_world(0, 0, -9.81);
    set_materials(world, (ss_material_pair){.mu = mu});
    ss_mesh *mesh;
    ss_shape shape = falling_shape(&random, &mesh);
    add_obstacle(world, &random, kind);
    ss_body body = {.kind = SS_DYNAMIC};
    for (int k = 0; k < 2; k++) body.position[k] = ss_random_between(&random, -0.15, 0.15);
    body.position[2] = ss_random_between(&random, 0.3, 0.5);
    double norm = 0;
    for (int k = 0; k < 4; k++) {
        body.quaternion[k] = ss_random_normal(&random);
        norm += body.quaternion[k] * body.quaternion[k];
    }
    for (int k = 0; k < 4; k++) body.quaternion[k] /= sqrt(norm);
    for (int k = 0; k < 3; k++) {
        body.velocity[k] = ss_random_between(&random, -1, 1);
        body.velocity[3 + k] = locked ? 0 : ss_random_between(&random, -5, 5) / sqrt(3);
    }
    body.velocity[2] = ss_random_between(&random, -3, 0);
    if (locked) {
        body.mass = 2;
        for (int k = 0; k < 3; k++) body.inertia[4 * k] = 1e15;
    }
    ss_world *empty = empty_world(0, 0, -9.81);
    int number = ss_world_add_body(world, &body, &err);
    must(number >= 0 && ss_world_add_shape(world, number, &shape, &err) >= 0, &err);
    number = ss_world_add_body(empty, &body, &err);
    must(number >= 0 && ss_world_add_shape(empty, number, &shape, &err) >= 0, &err);
    ss_mesh_destroy(mesh);

    ss_sim_options options = peg_options(h);
    options.refine = refine;
    if (locked) options.gyro = SS_GYRO_OFF;
    ss_sim *sim = start(world, &options), *twin = start(empty, &options);
    ss_body *moving = ss_world_body(world, 0);
    ss_placed_shape placed = ss_shape_place(world, ss_world_shape_count(world) - 1, moving);
    ss_vec3 arm = ss_vec3_subtract(ss_vec3_load(placed.position), ss_vec3_load(moving->position));
    double radius = ss_vec3_norm(arm) + ss_shape_radius(&placed), size = ss_shape_smallest(&placed);
    to->drops++;
    for (int n = 0; n < STEPS; n++) {
        ss_body before = *moving;
        run(sim, 1);
        ss_sim_report report = ss_sim_last(sim);
        ss_body free = free_motion(&before, twin);
        double apart = separation(world, moving), p = 0, turn = 0, most = 0;
        for (int k = 0; k < 3; k++) {
            p += pow(moving->mass * (moving->velocity[k] - free.velocity[k]), 2);
            turn += pow(h * moving->velocity[3 + k], 2);
        }
        p = sqrt(p); // all impulses of the step, also when it was done in pieces
        to->steps++;
        to->halved += report.halvings > 0;
        to->overlap = fmax(to->overlap, -apart);
        to->jammed += report.peg_status == SS_PEG_JAMMED;
        to->cycles += report.peg_status == SS_PEG_CYCLE;
        to->held += report.peg_status == SS_PEG_HELD;
        // below the plate, but within its edges
        to->tunnelled += kind == 3 && moving->position[2] < -0.02 && before.position[2] >= -0.02 &&
                         fabs(moving->position[0]) < 0.5 && fabs(moving->position[1]) < 0.5;

        // rows are linear, and a point at the radius r that turns by t ends r t^2 / 2 beside its tangent
        most = fmax(0.5 * radius * turn, touching * size);
        bool beyond = refine > 0 && -apart > most, pushes = p > 1e-12;
        bool wrong = pushes && passes(world, &before, &free);
        to->beyond += beyond;
        to->pushing += pushes;
        to->wrong += wrong;
        if (wrong) to->wrong_impulse = fmax(to->wrong_impulse, p);
        if (getenv("SS_PEG_DROPS") && refine > 0 && (beyond || wrong || report.peg_status == SS_PEG_JAMMED))
            printf("  drop %d, step %d: %s%s%s, impulse %.3g N s, overlap %.3g m after %.3g m, bound %.3g m, "
                   "turned %.3g rad, %d halvings\n",
                   (int)seed, n, beyond ? "too deep" : "", wrong ? "wrong impulse" : "",
                   ss_peg_status_name(report.peg_status), p, -apart, -separation(world, &before), most,
                   sqrt(turn), report.halvings);
    }
    end(sim);
    end(twin);
}

static tally drop_all(const char *what, int count, bool locked, int refine, double mu)
{
    tally total = {0};
    const char *only = getenv("SS_PEG_SEED");
    for (int i = 0; i < count; i++)
        if (!only || atoi(only) == i + 1) drop((uint64_t)i + 1, i % 5, locked, refine, mu, &total);
    if (getenv("SS_PEG_DROPS"))
        printf("%s: %d drops, %d steps, %d with impulses, %d of them wrong (most %.3g N s), overlap %.3g m, "
               "%d too deep, halved %d, held %d, cycles %d, jammed %d, tunnelled %d\n",
               what, total.drops, total.steps, total.pushing, total.wrong, total.wrong_impulse, total.overlap,
               total.beyond, total.halved, total.held, total.cycles, total.jammed, total.tunnelled);
    return total;
}

TEST(without_rotation_nothing_overlaps_and_nothing_is_pushed_that_passes)
{
    tally total = drop_all("locked", drops_wanted(60), true, 8, 0);
    ENSURE(total.pushing > total.drops); // the test would be empty otherwise
    ENSURE_NEAR(total.overlap, 0.0, 1e-12);
    ENSURE_INT(total.wrong, 0);
    ENSURE_INT(total.tunnelled, 0);
}

TEST(linear_rows_do_not_tunnel_either)
{
    tally total = drop_all("linear", drops_wanted(60), false, 0, 0);
    ENSURE(total.pushing > total.drops);
    ENSURE_INT(total.tunnelled, 0);
}

TEST(with_rotation_nothing_is_deeper_than_the_turn_explains_and_nothing_is_pushed_that_passes)
{
    tally total = drop_all("refined", drops_wanted(60), false, 8, 0);
    ENSURE(total.pushing > total.drops);
    ENSURE_INT(total.tunnelled, 0);
    ENSURE_INT(total.beyond, 0);
    ENSURE_INT(total.wrong, 0);
}

TEST(with_friction_nothing_is_deeper_than_the_turn_explains_and_nothing_is_pushed_that_passes)
{
    tally total = drop_all("friction", drops_wanted(40), false, 8, 0.5);
    ENSURE(total.pushing > total.drops);
    ENSURE_INT(total.tunnelled, 0);
    ENSURE_INT(total.beyond, 0);
    ENSURE_INT(total.wrong, 0);
}

TEST_MAIN
