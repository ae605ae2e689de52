/* Random drops: a convex polyhedron falls onto an edge, a corner, into a slot, onto a thin plate or another
 * polyhedron, and every step is compared with exact geometry, which knows nothing of alternatives.
 *
 * SS_PEG_DROPS=10000 in the environment does as many of each kind of run as it says; the default is short. */
#include "kit.h"
#include "peg_kit.h"

#include "collision/alternatives.h"

enum { STEPS = 40 };
static const double h = 0.01;

typedef struct tally {
    int drops, steps, pushing, wrong, jammed, cycles, held, tunnelled;
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

/* Whether the free motion of this step ends apart, and its way there does, too. */
static bool passes_freely(const ss_world *world, const ss_body *before, ss_sim *twin, double cut)
{
    ss_body *free = ss_world_body(ss_sim_world(twin), 0);
    for (int part = 1; part <= 8; part++) { // v* is that of the whole step; the way is straight
        memcpy(free->position, before->position, sizeof free->position);
        memcpy(free->quaternion, before->quaternion, sizeof free->quaternion);
        memcpy(free->velocity, before->velocity, sizeof free->velocity);
        run(twin, 1);
        ss_body at = *free;
        double s = part / 8.0;
        for (int k = 0; k < 3; k++)
            at.position[k] = before->position[k] + s * (free->position[k] - before->position[k]);
        if (part < 8) { // rotation along the way matters little: only a thick cut counts
            if (separation(world, &at) < -cut) return false;
        } else if (separation(world, &at) < 0.0) {
            return false;
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
    to->drops++;
    for (int n = 0; n < STEPS; n++) {
        ss_body before = *moving;
        run(sim, 1);
        double p = impulse_of_step(sim), apart = separation(world, moving);
        ss_sim_report report = ss_sim_last(sim);
        to->steps++;
        to->overlap = fmax(to->overlap, -apart);
        to->jammed += report.peg_status == SS_PEG_JAMMED;
        to->cycles += report.peg_status == SS_PEG_CYCLE;
        to->held += report.peg_status == SS_PEG_HELD;
        // below the plate, but within its edges
        to->tunnelled += kind == 3 && moving->position[2] < -0.02 && before.position[2] >= -0.02 &&
                         fabs(moving->position[0]) < 0.5 && fabs(moving->position[1]) < 0.5;
        if (!(p > 1e-12)) continue;
        to->pushing++;
        if (!passes_freely(world, &before, twin, 0.005)) continue;
        to->wrong++;
        to->wrong_impulse = fmax(to->wrong_impulse, p);
    }
    end(sim);
    end(twin);
}

static tally drop_all(const char *what, int count, bool locked, int refine, double mu)
{
    tally total = {0};
    for (int i = 0; i < count; i++) drop((uint64_t)i + 1, i % 5, locked, refine, mu, &total);
    if (getenv("SS_PEG_DROPS"))
        printf("%s: %d drops, %d steps, %d with impulses, %d of them wrong (most %.3g N s), overlap %.3g m, "
               "held %d, cycles %d, jammed %d, tunnelled %d\n",
               what, total.drops, total.steps, total.pushing, total.wrong, total.wrong_impulse, total.overlap,
               total.held, total.cycles, total.jammed, total.tunnelled);
    return total;
}

TEST(without_rotation_nothing_overlaps_and_nothing_is_pushed_that_passes)
{
    tally total = drop_all("locked", drops_wanted(60), true, 2, 0);
    ENSURE(total.pushing > total.drops); // the test would be empty otherwise
    ENSURE_NEAR(total.overlap, 0.0, 1e-12);
    ENSURE_INT(total.wrong, 0);
    ENSURE_INT(total.tunnelled, 0);
}

TEST(with_rotation_errors_are_of_second_order_and_refinement_removes_them)
{
    tally linear = drop_all("linear", drops_wanted(60), false, 0, 0);
    tally refined = drop_all("refined", drops_wanted(60), false, 2, 0);
    ENSURE(linear.pushing > linear.drops && refined.pushing > refined.drops);
    ENSURE_INT(linear.tunnelled, 0);
    ENSURE_INT(refined.tunnelled, 0);
    // The linear rows are wrong by h^2 w^2 r / 2, 1.25 mm at 10 rad/s and 0.25 m, and impacts spin bodies
    // up to 30 rad/s; edges that the rotation uncovers cost more. Two refinements leave a tenth of that, or
    // less.
    ENSURE(linear.overlap < 0.06);
    ENSURE(refined.overlap < (refined.drops > 100 ? 0.02 : 2e-3)); // the worst of 10000 is worse than of 60
    ENSURE(refined.wrong <= 1 + refined.pushing / 1000);
}

TEST(with_friction_nothing_explodes)
{
    tally total = drop_all("friction", drops_wanted(40), false, 2, 0.5);
    ENSURE_INT(total.tunnelled, 0);
    ENSURE(total.overlap < (total.drops > 100 ? 0.02 : 2e-3));
    ENSURE(total.cycles <= 10 + total.pushing / 100); // 0.7 % of 10000 drops, more of few
}

TEST_MAIN
