/* Small problems with friction, of the kinds on which the fixed cost of a solver shows, as FCLIB files, or
 * solved a million times over by a program that keeps its memory:
 *
 *     bench_small_problems DIR
 *     bench_small_problems --solve [TIMES]
 *
 *   crank-2 ... crank-30    planar mechanisms: rods on pins, sliders in guides with clearance, each slider
 *                           touching with its corners; local form, as a program with minimal coordinates
 *                           would write it. The number counts contacts.
 *   rattle-12, rattle-28    planar: parts in one housing, most of them out of touch after the step
 *   flow-69, flow-230       planar: discs that flow down a wall, loosely; global form
 *   heap-69, heap-230       the same discs, packed: almost all of them touch their neighbours
 *   blocks-9                two boxes on the ground and a third that leans on them; global form, spatial
 *
 * Same files on every machine: `make bench-peers` compares solvers on them (docs/race.md).
 *
 * --solve: TIMES (a million) calls of ss_solve with `auto`, one after the other over a sphere on the ground
 * (one contact, with bodies), rattle-2, crank-2, crank-4 and blocks-9, all with one arena: ns per call, each
 * kind by itself and all of them mixed, and requests of heap memory per call, which must be none. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double h = 1e-3, gravity = 9.81; // s, m/s^2

/* ---- global problems, entry by entry ------------------------------------------------------------------ */

enum { MOST_ENTRIES = 20000 };

typedef struct triplets {
    int count, row[MOST_ENTRIES], col[MOST_ENTRIES];
    double value[MOST_ENTRIES];
} triplets;

static triplets mass, directions, equations;

static void add(triplets *to, int row, int col, double value)
{
    if (to->count == MOST_ENTRIES) exit(4);
    to->row[to->count] = row;
    to->col[to->count] = col;
    to->value[to->count++] = value;
}

static ss_sparse *matrix_of(const triplets *of, int rows, int cols)
{
    return ss_sparse_from_triplets(rows, cols, of->count, of->row, of->col, of->value, NULL);
}

static uint64_t state;

/* Between 0 and 1, the same everywhere. */
static double chance(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static void begin(uint64_t seed)
{
    mass.count = directions.count = equations.count = 0;
    state = seed * 0x9e3779b97f4a7c15u + 1;
}

/* A planar body: m, m, I on the diagonal of M. */
static void add_body(int body, double kilograms, double inertia)
{
    for (int i = 0; i < 3; i++) add(&mass, 3 * body + i, 3 * body + i, i < 2 ? kilograms : inertia);
}

/* One direction (x, y) at a lever (a, b) from the centre of a body, in a column of H or G. */
static void add_direction(triplets *to, int column, int body, double x, double y, double a, double b)
{
    if (body < 0) return;
    add(to, 3 * body, column, x);
    add(to, 3 * body + 1, column, y);
    add(to, 3 * body + 2, column, a * y - b * x);
}

/* A planar contact: normal (x, y) towards `second`, each lever from its own centre. */
static void add_contact(int contact, int first, int second, double x, double y, const double lever[2][2])
{
    for (int side = 0; side < 2; side++) {
        int body = side ? second : first;
        double sign = side ? 1.0 : -1.0, a = lever[side][0], b = lever[side][1];
        add_direction(&directions, 2 * contact, body, sign * x, sign * y, a, b);
        add_direction(&directions, 2 * contact + 1, body, -sign * y, sign * x, a, b);
    }
}

static ss_cone *make_global(int dimension, int contacts, int dofs, int count)
{
    ss_cone *cone = ss_cone_create(SS_CONE_GLOBAL, dimension, contacts, dofs, count, NULL);
    if (!cone) exit(4);
    cone->M = matrix_of(&mass, dofs, dofs);
    cone->H = matrix_of(&directions, dofs, dimension * contacts);
    if (count) cone->G = matrix_of(&equations, dofs, count);
    return cone;
}

/* Without bodies and equations, as a program with minimal coordinates would have it. */
static ss_cone *make_local(ss_cone *global)
{
    ss_cone *local = ss_cone_to_local(global, true, NULL);
    ss_cone_destroy(global);
    if (!local) exit(4);
    return local;
}

/* ---- mechanisms --------------------------------------------------------------------------------------- */

/* Crank, rod and slider after each other, pinned, again and again; sliders touch their guides with two or
 * four corners. */
static ss_cone *make_crank(int contacts)
{
    int units = (contacts + 3) / 4, bodies = 3 * units, made = 0, pins = 0;
    begin((uint64_t)contacts);
    for (int u = 0; u < units; u++) {
        int crank = 3 * u, rod = crank + 1, slider = crank + 2;
        double angle = 6.28 * chance(), lean = 0.4 * (chance() - 0.5), half = 0.05;
        double c = 0.1 * cos(angle), s = 0.1 * sin(angle), rc = 0.2 * cos(lean), rs = 0.2 * sin(lean);
        add_body(crank, 1.0, 1e-3), add_body(rod, 0.8, 2e-3), add_body(slider, 0.5, 5e-4);
        for (int axis = 0; axis < 2; axis++) {
            double x = axis == 0, y = axis == 1;
            add_direction(&equations, pins, crank, x, y, -c, -s); // on the ground, or on the slider before
            if (u) add_direction(&equations, pins, slider - 3, -x, -y, 0.0, 0.0);
            add_direction(&equations, pins + 2, crank, x, y, c, s);
            add_direction(&equations, pins + 2, rod, -x, -y, -rc, -rs);
            add_direction(&equations, pins + 4, rod, x, y, rc, rs);
            add_direction(&equations, pins + 4, slider, -x, -y, 0.0, 0.0);
            pins++;
        }
        pins += 4;
        for (int corner = 0; corner < 4 && made < contacts; corner++) {
            double side = corner < 2 ? -1.0 : 1.0, end = corner % 2 ? 1.0 : -1.0;
            double lever[2][2] = {{0.0, 0.0}, {end * half, side * half}};
            add_contact(made++, -1, slider, 0.0, -side, lever);
        }
    }
    ss_cone *cone = make_global(2, contacts, 3 * bodies, pins);
    for (int body = 0; body < bodies; body++) {
        double kilograms[3] = {1.0, 0.8, 0.5}, m = kilograms[body % 3];
        cone->f[3 * body] = m * 4.0 * (chance() - 0.5);
        cone->f[3 * body + 1] = m * (2.0 * (chance() - 0.5) - h * gravity);
        cone->f[3 * body + 2] = 1e-2 * (chance() - 0.5);
    }
    for (int k = 0; k < contacts; k++) {
        cone->mu[k] = 0.01 + 0.3 * chance();
        cone->w[2 * k] = k % 4 < 2 ? 0.0 : 0.5 * chance(); // clearance
    }
    return make_local(cone);
}

/* Loose parts in a housing that shakes: contacts of each with the walls and with its neighbour, few of
 * them closing. */
static ss_cone *make_rattle(int contacts)
{
    int bodies = contacts / 3 + 1;
    begin(100u + (uint64_t)contacts);
    for (int body = 0; body < bodies; body++) add_body(body, 0.1 + 0.2 * chance(), 1e-4 + 2e-4 * chance());
    for (int k = 0; k < contacts; k++) {
        int body = k / 3 % bodies, other = k % 3 == 2 ? (body + 1) % bodies : -1;
        double angle = 6.28 * chance(), x = cos(angle), y = sin(angle);
        double lever[2][2] = {{0.03 * x, 0.03 * y}, {-0.03 * x - 0.01 * y * chance(), -0.03 * y}};
        add_contact(k, other, body, x, y, lever);
    }
    ss_cone *cone = make_global(2, contacts, 3 * bodies, 0);
    for (int i = 0; i < 3 * bodies; i++) cone->f[i] = (i % 3 == 2 ? 1e-4 : 0.1) * (chance() - 0.5);
    for (int k = 0; k < contacts; k++) {
        cone->mu[k] = 0.3;
        cone->w[2 * k] = 0.9 * chance() - 0.3;
    }
    return make_local(cone);
}

/* ---- granular flow ------------------------------------------------------------------------------------ */

/* Discs of different size, in rows that lie in the gaps of the row below, on a rough wall: the lower ones
 * are slower. `gaps`: the share of neighbours that do not touch. */
static ss_cone *make_discs(int contacts, double gaps)
{
    enum { ROW = 12, MOST = 400 };
    int made = 0, bodies = 0, below[2 * ROW];
    double radius[MOST];
    begin(200u + (uint64_t)contacts);
    for (int row = 0; made < contacts; row++) {
        int here[2 * ROW];
        for (int i = 0; i < ROW && made < contacts && bodies < MOST; i++) {
            int body = here[i] = bodies++;
            double r = radius[body] = 0.004 + 0.003 * chance(), m = 2600.0 * 3.14 * r * r * 0.01;
            add_body(body, m, 0.5 * m * r * r);
            for (int leg = 0; leg < 2; leg++) {
                int at = i + leg - row % 2, other = row == 0 ? -1 : at >= 0 && at < ROW ? below[at] : -2;
                double tilt = (leg ? 0.5 : -0.5) * (row ? 1.0 : 0.2) + 0.3 * (chance() - 0.5);
                if (other == -2 || made == contacts || (row == 0 && leg) || chance() < gaps) continue;
                double x = -sin(tilt), y = cos(tilt), o = other >= 0 ? radius[other] : 0.0;
                double lever[2][2] = {{o * x, o * y}, {-r * x, -r * y}};
                add_contact(made++, other, body, x, y, lever);
            }
            if (i && made < contacts && chance() < 0.44 - 0.4 * gaps) {
                double tilt = 0.4 * (chance() - 0.5), x = cos(tilt), y = sin(tilt), o = radius[body - 1];
                double lever[2][2] = {{o * x, o * y}, {-r * x, -r * y}};
                add_contact(made++, body - 1, body, x, y, lever);
            }
        }
        memcpy(below, here, sizeof here);
    }
    ss_cone *cone = make_global(2, contacts, 3 * bodies, 0);
    for (int body = 0; body < bodies; body++) {
        double m = mass.value[3 * body], height = body / ROW;
        cone->f[3 * body] = m * (0.05 * height + 0.2 * gaps * (chance() - 0.5) + h * gravity * 0.5);
        cone->f[3 * body + 1] = m * (0.1 * gaps * (chance() - 0.5) - h * gravity * 0.87);
        cone->f[3 * body + 2] = 0.01 * m * radius[body] * (chance() - 0.5);
    }
    for (int k = 0; k < contacts; k++) cone->mu[k] = 0.3;
    return cone;
}

static ss_cone *make_flow(int contacts)
{
    return make_discs(contacts, 0.45);
}

static ss_cone *make_heap(int contacts)
{
    return make_discs(contacts, 0.1);
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

static ss_cone *make_blocks(int contacts)
{
    static const double corner[4][2] = {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    enum { BODIES = 3 };
    begin(300);
    for (int body = 0; body < BODIES; body++) {
        for (int i = 0; i < 6; i++)
            add(&mass, 6 * body + i, 6 * body + i, i < 3 ? 20.0 : 0.3 + 0.05 * (i - 3));
    }
    for (int k = 0; k < contacts; k++) {
        // four corners on the ground, four on the first block, one edge against its side
        int body = k < 4 ? 0 : k < 8 ? 1 : 2, other = k < 4 ? -1 : 0;
        double a = 0.2 * corner[k % 4][0], b = 0.2 * corner[k % 4][1];
        double axes[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
        if (k == 8) memcpy(axes, (double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, sizeof axes);
        for (int i = 0; i < 3; i++) {
            const double *d = axes[i];
            for (int side = 0; side < 2; side++) {
                int of = side ? body : other;
                double sign = side ? 1.0 : -1.0, r[3] = {a, b, side ? -0.15 : 0.15};
                if (of < 0) continue;
                if (k == 8) r[0] = side ? -0.2 : 0.2;
                double turn[3] = {r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2],
                                  r[0] * d[1] - r[1] * d[0]};
                for (int j = 0; j < 3; j++) {
                    add(&directions, 6 * of + j, 3 * k + i, sign * d[j]);
                    add(&directions, 6 * of + 3 + j, 3 * k + i, sign * turn[j]);
                }
            }
        }
    }
    ss_cone *cone = make_global(3, contacts, 6 * BODIES, 0);
    for (int body = 0; body < BODIES; body++) {
        cone->f[6 * body + 2] = -20.0 * h * gravity;
        cone->f[6 * body] = body == 2 ? -0.5 : 0.02;
        cone->f[6 * body + 4] = 0.01 * chance();
    }
    for (int k = 0; k < contacts; k++) cone->mu[k] = 0.5;
    return cone;
}

static const struct kind {
    const char *name;
    ss_cone *(*make)(int contacts);
    int contacts[8]; // 0 at the end
} kinds[] = {{"crank", make_crank, {2, 3, 4, 6, 10, 16, 30}},
             {"rattle", make_rattle, {12, 28}},
             {"flow", make_flow, {69, 230}},
             {"heap", make_heap, {69, 230}},
             {"blocks", make_blocks, {9}}};

static int write_all(const char *directory)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (const int *contacts = kinds[k].contacts; *contacts; contacts++) {
            char name[40], path[600];
            ss_error err;
            ss_fclib file = {.cone = kinds[k].make(*contacts), .info.title = name};
            snprintf(name, sizeof name, "%s-%d", kinds[k].name, *contacts);
            snprintf(path, sizeof path, "%s/%s.hdf5", directory, name);
            if (!ss_fclib_write(path, &file, &err)) {
                fprintf(stderr, "%s: %s\n", path, err.message);
                return 3;
            }
            printf("%s\n", path);
            ss_cone_destroy(file.cone);
        }
    }
    return 0;
}

/* ---- a million solves --------------------------------------------------------------------------------- */

static long requests; // of heap memory

static void *count_and_allocate(size_t bytes, void *context)
{
    (void)context;
    requests++;
    return malloc(bytes);
}

static void give_back(void *block, void *context)
{
    (void)context;
    free(block);
}

/* A sphere of 1 kg that falls on the ground and slides. */
static ss_problem *make_sphere(void)
{
    ss_formulation const *by = ss_formulation_find("cone");
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, NULL);
    void *options = ss_allocate(1, by->options_size);
    if (!frame || !options) exit(4);
    ss_options_defaults(by->options, options);
    frame->h = 0.01;
    frame->bodies.mass[0] = 1.0;
    for (int i = 0; i < 3; i++) frame->bodies.inertia[0][4 * i] = 0.1;
    frame->bodies.position[0][2] = 0.5;
    memcpy(frame->bodies.velocity[0], (double[3]){0.3, 0.1, -0.2}, 3 * sizeof(double));
    frame->contacts.pair[0][0] = SS_WORLD;
    frame->contacts.pair[0][1] = 0;
    frame->contacts.normal[0][2] = 1.0;
    frame->contacts.mu[0][0] = frame->contacts.mu[0][1] = 0.5;
    frame->bodies.force[0][2] = -9.81;
    ss_problem *problem = ss_problem_from_frame(frame, by, options, NULL);
    ss_release(options);
    ss_frame_destroy(frame);
    return problem;
}

/* Calls over problems[0 .. count - 1] in turn: s per call. The first round, in which the arena grows, is not
 * counted. */
static double solve_often(ss_problem *const *problems, int count, long times, ss_arena *arena)
{
    double x[64], start = 0.0;
    for (long k = -count; k < times; k++) {
        ss_solve_request request = {.solver = ss_solver_find("auto"),
                                    .problem = problems[(k + count) % count],
                                    .arena = arena,
                                    .gauges = 1u << SS_GAUGE_RELATIVE_ENERGY};
        ss_solve_result result;
        if (k == 0) requests = 0, start = ss_clock_seconds();
        memset(x, 0, (size_t)request.problem->size * sizeof *x);
        if (!ss_solve(&request, x, &result, NULL) || result.status != SS_CONVERGED) exit(3);
        ss_solve_result_free(&result);
    }
    return (ss_clock_seconds() - start) / (double)times;
}

static int solve_all(long times)
{
    static const char *const names[] = {"sphere, 1 contact", "rattle-2, planar", "crank-2, planar",
                                        "crank-4, planar", "blocks-9, spatial"};
    enum { COUNT = sizeof names / sizeof *names };
    ss_set_allocator((ss_allocator){count_and_allocate, give_back, NULL});
    ss_cone *cones[COUNT] = {NULL, make_rattle(2), make_crank(2), make_crank(4), make_blocks(9)};
    ss_problem *problems[COUNT] = {make_sphere()};
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    for (int p = 1; p < COUNT; p++) problems[p] = ss_problem_from_cone(cones[p], NULL);
    for (int p = 0; p < COUNT; p++)
        if (!problems[p] || !arena) return 4;
    printf("%-20s %12s %12s\n", "problem", "ns / solve", "allocations");
    for (int p = 0; p < COUNT; p++) {
        double seconds = solve_often(problems + p, 1, times / COUNT + 1, arena);
        printf("%-20s %12.0f %12ld\n", names[p], 1e9 * seconds, requests);
    }
    double seconds = solve_often(problems, COUNT, times, arena);
    printf("%-20s %12.0f %12ld\n", "all, in turn", 1e9 * seconds, requests);
    for (int p = 0; p < COUNT; p++) {
        ss_problem_destroy(problems[p]);
        ss_cone_destroy(cones[p]);
    }
    ss_arena_destroy(arena);
    return requests ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "--solve") == 0) {
        long times = argc == 3 ? strtol(argv[2], NULL, 10) : 1000000;
        if (times > 0) return solve_all(times);
    } else if (argc == 2 && argv[1][0] != '-') {
        return write_all(argv[1]);
    }
    fprintf(stderr, "usage: bench_small_problems DIR | --solve [TIMES]\n");
    return 2;
}
