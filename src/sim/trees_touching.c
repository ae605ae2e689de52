/* Contacts of trees in a step without a frame (trees_alone.c). Impulses and velocities are written in the
 * coordinates z in which the mass is one (tree.h): a contact is three columns G of F T' J', over the
 * coordinates between its links and their roots alone, and
 *
 *     w = b + G' z,   z = sum of G x over all contacts,   b = J v* + c,
 *
 * under Coulomb's law as the formulation `cone` has it. Sweeps solve one contact after the other exactly,
 * from the impulses of the step before, until the stop rule holds island by island. It is the problem of the
 * ordinary step, within the tolerance that both have; where sweeps do not get there soon, and for whatever is
 * unusual, the step is left to the ordinary way. */
#include "sim/state.h"

#include "base/memory.h"
#include "base/partition.h"
#include "formulation/assembly.h"
#include "formulation/cone_law.h"
#include "formulation/friction.h"
#include "linalg/conjugate.h"
#include "problem/gauge.h"
#include "solver/local/local_cone.h"

#include <math.h>

/* Beyond this a step is long beside what a frame costs, and has work for batches and threads. */
enum { CONTACTS_MOST = 64, LINKS_MOST = 256, SWEEPS_MOST = 40, SWEEPS_TO_JUDGE = 6 };

/* A contact whose normal moves something. */
typedef struct touch {
    ss_contact_row row; /* its bodies are links */
    double mu;
    int unknowns;
    ss_vec3 direction[3]; /* of the unknowns: the normal, and the tangents in the cone */
    int island;
    int entries; /* of G, from here on */
    int *index;
    double (*G)[4];
    double A[9]; /* G'G, row by row */
    bool is_ready, is_firm;
    double factor[6];   /* firm: A = L D L', d_0, l_10, l_20, d_1, l_21, d_2 */
    ss_local_cone cone; /* made when it is needed */
} touch;

typedef struct touching touching;
/* Over the contacts begin .. end - 1. */
typedef struct passes {
    void (*multiply)(touch *at);
    void (*start)(touching *of, int begin, int end);
    void (*look)(touching *of, int begin, int end);
    double (*sweep)(touching *of, int begin, int end);
} passes;

struct touching {
    ss_sim *sim;
    const passes *passes;
    int count;
    touch *touches; /* island by island, as blocks and rows are */
    double *z;      /* per coordinate */
    double *x, *w;
    double (*moved)[4]; /* per coordinate, zero: scratch */
    int *place;         /* per coordinate, -1: scratch */
    ss_problem problem; /* laws, b and diagonal alone: what gauges look at */
};

/* ---- four numbers at a time ------------------------------------------------------------------------- */

/* A row of G. Every pass is made for registers of four numbers and for any machine, to the same bits. */
typedef double four __attribute__((vector_size(32)));
#define PASS __attribute__((always_inline)) static inline

/* A = G'G */
PASS void multiply(touch *at)
{
    four n = {0}, u = {0}, v = {0};
    for (int k = 0; k < at->entries; k++) {
        four G;
        memcpy(&G, at->G[k], sizeof G);
        n += G[0] * G;
        u += G[1] * G;
        v += G[2] * G;
    }
    int rows = at->unknowns;
    for (int j = 0; j < rows; j++) {
        at->A[j] = n[j];
        if (rows > 1) at->A[rows + j] = u[j];
        if (rows > 2) at->A[2 * rows + j] = v[j];
    }
}

/* z += G change */
PASS void push(const touch *at, const double change[4], double *z)
{
    for (int k = 0; k < at->entries; k++) {
        const double *G = at->G[k];
        z[at->index[k]] += G[0] * change[0] + G[1] * change[1] + G[2] * change[2];
    }
}

/* w = b + G'z; the fourth number, and those that the contact does not have, are zero. */
PASS void find_velocity(const touch *at, const double *b, const double *z, double to[4])
{
    four w = {b[0], at->unknowns > 1 ? b[1] : 0.0, at->unknowns > 2 ? b[2] : 0.0, 0.0};
    for (int k = 0; k < at->entries; k++) {
        four G;
        memcpy(&G, at->G[k], sizeof G);
        w += z[at->index[k]] * G;
    }
    memcpy(to, &w, sizeof w);
}

/* L D L' of A, where no direction takes most of another's load away, so that a plain solution is one to
 * rounding. */
PASS void prepare(touch *at)
{
    static const double firm = 1e-3;
    const double *A = at->A;
    double *d = at->factor;
    at->is_ready = true;
    if (at->unknowns != 3) return;
    d[0] = A[0];
    d[1] = A[3] / A[0];
    d[2] = A[6] / A[0];
    d[3] = A[4] - d[1] * A[3];
    d[4] = (A[7] - d[2] * A[3]) / d[3];
    d[5] = A[8] - d[2] * A[6] - d[4] * d[4] * d[3];
    at->is_firm = d[3] > firm * A[4] && d[5] > firm * A[8];
}

/* r = -A^-1 q, if that is in the cone. */
PASS bool sticks(const touch *at, const double *q, double *r)
{
    const double *d = at->factor;
    if (!at->is_firm) return false;
    double y0 = -q[0], y1 = -q[1] - d[1] * y0, y2 = -q[2] - d[2] * y0 - d[4] * y1;
    double r2 = y2 / d[5], r1 = y1 / d[3] - d[4] * r2, r0 = y0 / d[0] - d[1] * r1 - d[2] * r2;
    double limit = at->mu * r0;
    if (!(r0 >= 0.0) || !(r1 * r1 + r2 * r2 <= limit * limit)) return false;
    r[0] = r0;
    r[1] = r1;
    r[2] = r2;
    return true;
}

/* The contact by itself, under the load q of all others. False when out of memory. */
PASS bool solve_contact(touching *of, int k, const double *q, double *r)
{
    static const double local_tolerance = 1e-14;
    touch *at = &of->touches[k];
    if (q[0] >= 0.0) {
        for (int i = 0; i < at->unknowns; i++) r[i] = 0.0;
        return true;
    }
    if (!at->is_ready) prepare(at);
    if (sticks(at, q, r)) return true;
    if (!at->cone.solve &&
        !ss_local_cone_create(&of->problem.blocks[k], at->A, local_tolerance, of->sim->memory, &at->cone))
        return false;
    at->cone.solve(at->cone.data, q, r);
    return true;
}

/* Contact k, with n unknowns. Returns the energy of the change, J; not a number when out of memory. */
PASS double visit(touching *of, int k, int n)
{
    touch *at = &of->touches[k];
    int first = of->problem.blocks[k].first;
    double *r = of->x + first, change[4] = {0}, q[4], energy = 0.0;
    find_velocity(at, of->problem.b + first, of->z, q);
    for (int i = 0; i < n; i++) change[i] = -r[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) q[i] += at->A[i * n + j] * change[j];
    if (!solve_contact(of, k, q, r)) return NAN;
    for (int i = 0; i < n; i++) {
        change[i] += r[i];
        energy += 0.5 * at->A[i * n + i] * change[i] * change[i];
    }
    push(at, change, of->z);
    return energy;
}

/* Contacts begin .. end - 1, one after the other. */
PASS double sweep(touching *of, int begin, int end)
{
    double energy = 0.0;
    for (int k = begin; k < end; k++) {
        int n = of->touches[k].unknowns;
        energy += n == 3 ? visit(of, k, 3) : visit(of, k, n); // the compiler should know the usual size
    }
    return energy;
}

/* z of the impulses in x. */
PASS void start(touching *of, int begin, int end)
{
    for (int k = begin; k < end; k++) {
        double impulse[4] = {0};
        for (int i = 0; i < of->touches[k].unknowns; i++) impulse[i] = of->x[of->problem.blocks[k].first + i];
        push(&of->touches[k], impulse, of->z);
    }
}

/* w of z. */
PASS void look(touching *of, int begin, int end)
{
    for (int k = begin; k < end; k++) {
        double w[4];
        int first = of->problem.blocks[k].first;
        find_velocity(&of->touches[k], of->problem.b + first, of->z, w);
        for (int i = 0; i < of->touches[k].unknowns; i++) of->w[first + i] = w[i];
    }
}

#define PASSES(name, target)                                            \
    target static void multiply_##name(touch *at)                       \
    {                                                                   \
        multiply(at);                                                   \
    }                                                                   \
    target static void start_##name(touching *of, int begin, int end)   \
    {                                                                   \
        start(of, begin, end);                                          \
    }                                                                   \
    target static void look_##name(touching *of, int begin, int end)    \
    {                                                                   \
        look(of, begin, end);                                           \
    }                                                                   \
    target static double sweep_##name(touching *of, int begin, int end) \
    {                                                                   \
        return sweep(of, begin, end);                                   \
    }                                                                   \
    static const passes passes_##name = {multiply_##name, start_##name, look_##name, sweep_##name};
PASSES(portable, )
#ifdef __x86_64__
PASSES(avx2, __attribute__((target("avx2"))))
#endif

static const passes *fastest_passes(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return &passes_avx2;
#endif
    return &passes_portable;
}

/* ---- which steps ------------------------------------------------------------------------------------ */

/* Laws with more than a cone of one coefficient, or with a state of their own. */
static bool is_plain(const ss_contact *contact)
{
    const ss_material_pair *pair = &contact->material;
    return pair->mu >= 0.0 && pair->mu < INFINITY && !(pair->mu_static > pair->mu) &&
           !(pair->mu_rolling > 0.0) && !(pair->mu_torsion > 0.0) && !(pair->stiffness > 0.0) &&
           !(pair->adhesion > 0.0) && !(pair->mu_across > 0.0 && pair->mu_across != pair->mu);
}

/* Whoever chose a solver by name wants its answers, unless it is free to choose. */
static bool starts_with_sweeps(const ss_solver *solver)
{
    return strcmp(solver->name, "batched-nncg") == 0 || strcmp(solver->name, "auto") == 0;
}

bool ss_sim_trees_may_touch(const ss_sim *sim)
{
    const ss_contact_list *list = &sim->contacts;
    const ss_sim_method *first = &sim->first;
    if (list->count > CONTACTS_MOST || !list->items || ss_world_body_count(sim->world) > LINKS_MOST)
        return false;
    if (sim->options.set.count > 0 || first->run.stop.gauge != SS_GAUGE_RELATIVE_ENERGY ||
        first->run.stop.of_scene || first->run.keep.which != SS_KEEP_ANSWER ||
        !starts_with_sweeps(first->solver) ||
        strcmp(ss_assembly_formulation(sim->assembly)->name, "cone") != 0 ||
        ((const ss_cone_law_options *)sim->step)->form != SS_FORM_REDUCED)
        return false;
    int bodies = ss_world_body_count(sim->world);
    for (int c = 0; c < list->count; c++) {
        const ss_contact *contact = &list->items[c];
        if (contact->body_a < SS_WORLD || contact->body_b < SS_WORLD || contact->body_a >= bodies ||
            contact->body_b >= bodies || contact->body_a == contact->body_b || !is_plain(contact))
            return false;
    }
    return true;
}

/* ---- contacts --------------------------------------------------------------------------------------- */

static int link_of(const ss_sim *sim, int body)
{
    return body == SS_WORLD ? -1 : sim->trees.of_body[body];
}

/* Which of normal and tangents move any coordinate at all, as ss_coordinates_see has it: J T, by the sizes of
 * J and T. */
static void find_seen(touching *of, const ss_contact_row *row, bool seen[3])
{
    static const double rounding = 1e-11;
    const ss_trees *trees = &of->sim->trees;
    double least[3] = {0};
    bool is_free = false;
    seen[0] = seen[1] = seen[2] = true;
    for (int side = 0; side < 2; side++) {
        int root = row->pair[side];
        if (root < 0 || row->pair[1 - side] >= 0) continue;
        while (trees->link[root].parent >= 0) root = trees->link[root].parent;
        is_free = trees->link[root].joint < 0;
    }
    if (is_free) return; // what moves freely past the world is seen along any row

    const ss_vec3 direction[3] = {row->normal, row->tangent[0], row->tangent[1]};
    for (int side = 0; side < 2; side++) {
        if (row->pair[side] < 0) continue;
        const ss_link *own = &trees->link[row->pair[side]];
        double sign = side ? 1.0 : -1.0, entry = 0.0;
        for (int l = row->pair[side]; l >= 0; l = trees->link[l].parent) {
            const ss_link *link = &trees->link[l];
            ss_vec3 arm = ss_vec3_subtract(own->centre, link->centre);
            for (int i = 0; i < link->count; i++) {
                ss_vec3 turn = link->axis[i].angular,
                        way = ss_vec3_add(link->axis[i].linear, ss_vec3_cross(turn, arm));
                ss_vec3 at_point = ss_vec3_add(way, ss_vec3_cross(turn, row->arm[side]));
                entry = fmax(entry, fmax(ss_vec3_max_abs(turn), ss_vec3_max_abs(way)));
                for (int r = 0; r < 3; r++)
                    of->moved[link->first + i][r] += sign * ss_vec3_dot(direction[r], at_point);
            }
        }
        for (int r = 0; r < 3; r++) {
            ss_vec3 turning = ss_vec3_cross(row->arm[side], direction[r]);
            double largest = fmax(ss_vec3_max_abs(direction[r]), ss_vec3_max_abs(turning));
            least[r] = fmax(least[r], rounding * largest * entry);
        }
    }
    double most[3] = {0};
    for (int side = 0; side < 2; side++) {
        for (int l = row->pair[side]; l >= 0; l = trees->link[l].parent) {
            for (int i = trees->link[l].first; i < trees->link[l].first + trees->link[l].count; i++) {
                for (int r = 0; r < 3; r++) {
                    most[r] = fmax(most[r], fabs(of->moved[i][r]));
                    of->moved[i][r] = 0.0;
                }
            }
        }
    }
    for (int r = 0; r < 3; r++) seen[r] = most[r] > least[r];
}

/* The most entries that G has. */
static int count_entries(const touching *of, const touch *at)
{
    const ss_link *link = of->sim->trees.link;
    const int *pair = at->row.pair;
    return (pair[0] < 0 ? 0 : link[pair[0]].depth) + (pair[1] < 0 ? 0 : link[pair[1]].depth);
}

/* G of a contact: the columns of its two sides, which may have coordinates in common. */
static void fill_columns(touching *of, touch *to)
{
    const ss_sim *sim = of->sim;
    const ss_trees *trees = &sim->trees;
    const ss_contact_row *row = &to->row;
    to->entries = 0;
    for (int side = 0; side < 2; side++) {
        if (row->pair[side] < 0) continue;
        double sign = side ? 1.0 : -1.0;
        ss_link_axis push[3]; // zero along what is no unknown
        for (int r = 0; r < 3; r++) {
            push[r].linear = ss_vec3_scale(sign, to->direction[r]);
            push[r].angular = ss_vec3_cross(row->arm[side], push[r].linear);
        }
        int first = to->entries, *index = to->index + first;
        double(*G)[4] = to->G + first;
        int more = ss_trees_project(trees, sim->links.factored, row->pair[side], push, index, G);
        if (first == 0) {
            to->entries = more;
            continue;
        }
        for (int k = 0; k < first; k++) of->place[to->index[k]] = k;
        for (int k = 0; k < more; k++) {
            int at = of->place[index[k]];
            if (at >= 0) {
                for (int r = 0; r < 3; r++) to->G[at][r] += G[k][r];
                continue;
            }
            to->index[to->entries] = index[k];
            memmove(to->G[to->entries++], G[k], sizeof *G);
        }
        for (int k = 0; k < first; k++) of->place[to->index[k]] = -1;
    }

    of->passes->multiply(to);
    to->is_ready = to->is_firm = false;
    to->cone = (ss_local_cone){0};
}

/* The row of a contact, as the formulation has it. False: nothing moves along its normal, or it is beyond the
 * margin, so that it carries nothing. */
static bool fill_row(touching *of, int c, touch *to)
{
    const ss_sim *sim = of->sim;
    const ss_step_options *step = sim->step;
    const ss_contact *contact = &sim->contacts.items[c];
    ss_contact_row *row = &to->row;
    const int body[2] = {contact->body_a, contact->body_b};
    *row = (ss_contact_row){.contact = c, .in_plane = {true, true}};
    to->island = 0;
    bool moves = false;
    for (int side = 0; side < 2; side++) {
        int l = row->pair[side] = link_of(sim, body[side]);
        if (l < 0) continue;
        row->arm[side] = ss_vec3_subtract(ss_vec3_load(contact->point), sim->trees.link[l].centre);
        moves |= sim->trees.link[l].depth > 0;
    }
    if (!moves || contact->gap > step->contact_margin) return false;
    row->normal = ss_vec3_load(contact->normal);
    ss_vec3_tangents(row->normal, &row->tangent[0], &row->tangent[1]);
    row->surface = ss_vec3_load(contact->surface_velocity);
    row->mu[0] = row->mu[1] = contact->material.mu;

    /* Tangents along which nothing moves are left out. */
    bool seen[3];
    find_seen(of, row, seen);
    if (!seen[0]) return false;
    if (seen[1] || seen[2])
        row->in_plane[0] = seen[1], row->in_plane[1] = seen[2];
    else
        row->mu[0] = row->mu[1] = 0.0;
    if (step->mu_max > 0.0) row->mu[0] = row->mu[1] = fmin(row->mu[0], step->mu_max);
    ss_friction friction = ss_friction_of(row);
    to->mu = friction.mu;
    to->unknowns = 1 + friction.count;
    to->direction[0] = row->normal;
    for (int k = 0; k < 2; k++)
        to->direction[1 + k] =
            k < friction.count ? row->tangent[friction.tangent[k]] : (ss_vec3){0.0, 0.0, 0.0};

    double term = ss_gap_term_of(step, contact->gap, sim->h);
    if (contact->material.restitution > 0.0) {
        double velocity[2][6] = {{0}};
        ss_contact_row alone = *row;
        for (int side = 0; side < 2; side++) {
            if (row->pair[side] < 0) continue;
            alone.pair[side] = side;
            memcpy(velocity[side], ss_world_body(sim->world, body[side])->velocity, sizeof *velocity);
        }
        double before = ss_contact_speed(&alone, row->normal, velocity);
        term = ss_bounce_term_of(step, contact->gap, sim->h, contact->material.restitution, before);
    }
    row->offset = term;
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------ */

/* Islands: trees that touch each other. Contacts of one follow each other, in the order of the list. */
static bool sort_by_islands(touching *of)
{
    const ss_trees *trees = &of->sim->trees;
    ss_arena *memory = of->sim->memory;
    int *of_tree = ss_arena_take_unset(memory, (size_t)trees->trees, sizeof *of_tree, "islands of trees");
    touch *sorted = ss_arena_take_unset(memory, (size_t)of->count, sizeof *sorted, "contacts of trees");
    if (!of_tree || !sorted) return false;
    ss_partition_start(of_tree, trees->trees);
    for (int c = 0; c < of->count; c++) {
        int tree[2] = {-1, -1};
        for (int side = 0; side < 2; side++) {
            int l = of->touches[c].row.pair[side];
            if (l >= 0 && trees->link[l].tree >= 0) tree[side] = trees->link[l].tree;
        }
        if (tree[0] >= 0 && tree[1] >= 0) ss_partition_join(of_tree, tree[0], tree[1]);
        of->touches[c].island = tree[0] >= 0 ? tree[0] : tree[1];
    }
    int count = 0;
    for (int c = 0; c < of->count; c++)
        of->touches[c].island = ss_partition_find(of_tree, of->touches[c].island);
    for (int c = 0; c < of->count; c++) {
        int island = of->touches[c].island;
        bool is_first = true;
        for (int k = 0; is_first && k < c; k++) is_first = of->touches[k].island != island;
        for (int k = c; is_first && k < of->count; k++)
            if (of->touches[k].island == island) sorted[count++] = of->touches[k];
    }
    of->touches = sorted;
    return true;
}

/* Contacts as blocks of a problem, with b and the start x. */
static bool gather(touching *of, const ss_answer *start)
{
    ss_sim *sim = of->sim;
    size_t all = (size_t)sim->contacts.count, coordinates = (size_t)sim->trees.coordinates;
    of->touches = ss_arena_take_unset(sim->memory, all, sizeof *of->touches, "contacts of trees");
    of->z = ss_arena_take(sim->memory, coordinates, sizeof *of->z, "velocities of trees");
    of->x = ss_arena_take_unset(sim->memory, 12 * all, sizeof *of->x, "impulses of trees");
    of->problem.blocks =
        ss_arena_take_unset(sim->memory, all, sizeof *of->problem.blocks, "contacts of trees");
    of->moved = ss_arena_take(sim->memory, coordinates, sizeof *of->moved, "contacts of trees");
    of->place = ss_arena_take_unset(sim->memory, coordinates, sizeof *of->place, "contacts of trees");
    if (!of->touches || !of->z || !of->x || !of->problem.blocks || !of->moved || !of->place) return false;
    of->w = of->x + 3 * all;
    of->problem.b = of->w + 3 * all;
    of->problem.diagonal = of->problem.b + 3 * all;
    for (size_t i = 0; i < coordinates; i++) of->place[i] = -1;
    for (int c = 0; c < sim->contacts.count; c++) of->count += fill_row(of, c, &of->touches[of->count]);
    if (sim->trees.trees > 1 && !sort_by_islands(of)) return false;

    size_t entries = 0;
    for (int k = 0; k < of->count; k++) entries += (size_t)count_entries(of, &of->touches[k]);
    int *index = ss_arena_take_unset(sim->memory, entries, sizeof *index, "contacts of trees");
    double(*G)[4] = ss_arena_take_unset(sim->memory, entries, sizeof *G, "contacts of trees");
    if (!index || !G) return false;
    for (int k = 0; k < of->count; k++) {
        touch *at = &of->touches[k];
        const ss_contact_row *row = &at->row;
        int c = row->contact, first = of->problem.size;
        at->index = index;
        at->G = G;
        fill_columns(of, at);
        index += at->entries;
        G += at->entries;
        int rows = at->unknowns;
        ss_block *block = &of->problem.blocks[k];
        *block = (ss_block){
            .law = SS_LAW_CONE, .first = first, .size = rows, .mu = at->mu, .contact = c, .constraint = -1};

        /* How b's surface moves past a's without any impulse, and the impulse of the start. */
        ss_vec3 velocity = row->surface, impulse = ss_vec3_load(start->friction_impulse[c]);
        for (int side = 0; side < 2; side++) {
            if (row->pair[side] < 0) continue;
            const double *of_link = sim->links.change[row->pair[side]];
            ss_vec3 at_point =
                ss_vec3_add(ss_vec3_load(of_link), ss_vec3_cross(ss_vec3_load(of_link + 3), row->arm[side]));
            velocity = ss_vec3_add_scaled(velocity, side ? 1.0 : -1.0, at_point);
        }
        double *b = of->problem.b + first, *x = of->x + first;
        b[0] = ss_vec3_dot(row->normal, velocity) + row->offset;
        x[0] = start->normal_impulse[c];
        for (int i = 1; i < rows; i++) {
            b[i] = ss_vec3_dot(at->direction[i], velocity);
            x[i] = ss_vec3_dot(at->direction[i], impulse);
        }
        for (int i = 0; i < rows; i++) of->problem.diagonal[first + i] = at->A[i * rows + i];
        ss_block_project(&of->problem, block, of->x);
        of->problem.size += rows;
        of->problem.block_count++;
    }
    return true;
}

/* ---- sweeps ----------------------------------------------------------------------------------------- */

/* The scale of an island's energies, as ss_gauge_scale_of has it. */
static ss_gauge_scale scale_of(const touching *of, const ss_problem *island, int begin)
{
    static const double small = 1e-8, few_roundings = 1e-15;
    const ss_sim *sim = of->sim;
    const ss_trees *trees = &sim->trees;
    ss_gauge_scale scale = {.inverse_mass = island->diagonal};
    double zero[3 * CONTACTS_MOST], values[SS_GAUGE_COUNT];
    memset(zero, 0, (size_t)of->problem.size * sizeof *zero);
    ss_gauge_measure(island, &scale, zero, island->b, 1u << SS_GAUGE_ENERGY, values);
    scale.start_energy = values[SS_GAUGE_ENERGY];

    double kinetic = 0.0, rounding = 0.0;
    for (int l = 0; l < trees->count; l++) {
        const double *v = sim->links.change[l], *I = sim->links.masses[l].inertia;
        kinetic += 0.5 * sim->links.masses[l].mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int i = 0; i < 3; i++)
            kinetic += 0.5 * v[3 + i] * (I[3 * i] * v[3] + I[3 * i + 1] * v[4] + I[3 * i + 2] * v[5]);
    }
    if (scale.start_energy > small * kinetic) return scale;
    for (int k = 0; k < island->block_count; k++) {
        const touch *at = &of->touches[begin + k];
        double size = fabs(at->row.offset);
        for (int side = 0; side < 2; side++) {
            if (at->row.pair[side] < 0) continue;
            ss_vec3 w = ss_vec3_load(sim->links.change[at->row.pair[side]] + 3);
            size += ss_vec3_norm(ss_vec3_load(sim->links.change[at->row.pair[side]])) +
                    ss_vec3_norm(w) * ss_vec3_norm(at->row.arm[side]);
        }
        for (int i = 0; i < at->unknowns; i++) rounding += size * size / at->A[i * at->unknowns + i];
    }
    scale.rounding_energy = 0.5 * few_roundings * few_roundings * rounding;
    return scale;
}

/* Does the sweep go on where the direction points? */
static double overlap(ss_conjugate *cg)
{
    const ss_conjugate_part *z = &cg->part[1];
    double sum = 0.0;
    for (size_t i = 0; i < z->size; i++) sum += (z->at[i] - z->last[i]) * z->direction[i];
    return sum;
}

/* The island of contacts begin .. end - 1; false when the rule does not hold soon. After the first sweep,
 * which most often is the only one, conjugate directions speed the others up, as in batched-nncg. */
static bool solve_island(touching *of, int begin, int end)
{
    ss_sim *sim = of->sim;
    ss_sim_report *report = &sim->report;
    double below = sim->first.run.stop.below, values[SS_GAUGE_COUNT];
    ss_problem island = of->problem;
    island.blocks += begin;
    island.block_count = end - begin;
    ss_wait wait = ss_sim_island_wait(sim, &island);
    if (wait.call_again || wait.steps > 0) return false; // the finisher was called, and is next or rests
    ss_gauge_scale scale = scale_of(of, &island, begin);
    double goal = ss_gauge_energy_at(&scale, below);
    of->passes->start(of, begin, end);

    const ss_block *first = &of->problem.blocks[begin], *last = &of->problem.blocks[end - 1];
    ss_conjugate cg = {
        .part = {{.size = (size_t)(last->first + last->size - first->first), .at = of->x + first->first},
                 {.size = (size_t)sim->trees.coordinates, .at = of->z}},
        .overlap = overlap,
        .extrapolate = ss_conjugate_extrapolate,
        .slack = 0.2,
        .growths = 30};
    int most = sim->first.run.max_iterations < SWEEPS_MOST ? sim->first.run.max_iterations : SWEEPS_MOST;
    double missing = 0.0;
    for (int n = 1, next = 3, first_look = 0; n <= most; n++) {
        double change = of->passes->sweep(of, begin, end);
        if (isnan(change)) return false;
        bool due = change <= 4.0 * goal || n >= next || n == most;
        if (due) of->passes->look(of, begin, end);
        if (due) ss_gauge_measure(&island, &scale, of->x, of->w, 1u << SS_GAUGE_RELATIVE_ENERGY, values);
        if (due && values[SS_GAUGE_RELATIVE_ENERGY] < below) {
            if (n > report->iterations) report->iterations = n;
            if (end - begin > report->largest_island) report->largest_island = end - begin;
            report->islands++;
            report->relative_energy = fmax(report->relative_energy, values[SS_GAUGE_RELATIVE_ENERGY]);
            report->energy_error += values[SS_GAUGE_ENERGY];
            ss_sim_set_island_wait(sim, &island, ss_wait_after_calm_step(wait));
            return true;
        }

        /* Digits are gained too slowly for the sweeps that are left: others are sooner there. */
        double digits = due ? log(values[SS_GAUGE_RELATIVE_ENERGY] / below) : 0.0;
        if (due && first_look == 0) first_look = n, missing = digits;
        if (due && n >= first_look + SWEEPS_TO_JUDGE &&
            !(missing - digits > digits * (n - first_look) / (most - n)))
            return false;
        if (due) next = n + 2 + n / 10; // where convergence crawls, looks are fewer
        if (n == 1 && !ss_conjugate_start(&cg, sim->memory)) return false;
        if (n > 1) ss_conjugate_next(&cg, change);
    }
    return false;
}

/* ---- together --------------------------------------------------------------------------------------- */

/* Impulses in the world, of all contacts of the list. */
static void read_impulses(const touching *of, ss_answer *to)
{
    size_t count = (size_t)of->sim->contacts.count;
    memset(to->normal_impulse, 0, count * sizeof *to->normal_impulse);
    memset(to->friction_impulse, 0, count * sizeof *to->friction_impulse);
    for (int k = 0; k < of->count; k++) {
        const touch *at = &of->touches[k];
        const double *x = of->x + of->problem.blocks[k].first;
        ss_vec3 friction = {0.0, 0.0, 0.0};
        to->normal_impulse[at->row.contact] = x[0];
        for (int i = 1; i < at->unknowns; i++)
            friction = ss_vec3_add_scaled(friction, x[i], at->direction[i]);
        ss_vec3_store(friction, to->friction_impulse[at->row.contact]);
    }
}

bool ss_sim_touch_trees(ss_sim *sim, bool *solved, ss_error *err)
{
    size_t count = (size_t)sim->contacts.count;
    ss_sim_report before = sim->report;
    touching of = {.sim = sim, .passes = fastest_passes()};
    ss_answer *at = &sim->touch;
    *solved = false;

    /* Contacts that are more than the coordinates can tell apart: sweeps soon have a few digits, but all of
     * them only after shifting impulses to and fro. */
    static const double few_digits = 1e-6;
    int rows = sim->contacts.count > 1 ? 3 * sim->contacts.count : 0; // one alone is solved at once
    if (sim->first.run.stop.below < few_digits && rows > sim->trees.coordinates) return true;
    *at = (ss_answer){.contacts = sim->contacts.count};
    at->normal_impulse = ss_arena_take(sim->memory, count, sizeof *at->normal_impulse, "impulses of trees");
    at->friction_impulse =
        ss_arena_take(sim->memory, count, sizeof *at->friction_impulse, "impulses of trees");
    sim->wait = ss_arena_take(sim->memory, count, sizeof *sim->wait, "waits");
    double(*change)[6] =
        ss_arena_take_unset(sim->memory, (size_t)sim->trees.count, sizeof *change, "changes of links");
    double *rate =
        ss_arena_take_unset(sim->memory, (size_t)sim->trees.coordinates, sizeof *rate, "rates of links");
    if (!at->normal_impulse || !at->friction_impulse || !sim->wait || !change || !rate)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", sim->contacts.count);

    bool bounces = false;
    for (int c = 0; c < sim->contacts.count; c++)
        bounces |= sim->contacts.items[c].material.restitution > 0.0;
    ss_sim_choose_gap_term(sim, bounces);
    if (sim->options.warm_start && !ss_warm_guess(sim, NULL, at, err)) return false;
    if (!gather(&of, at))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", sim->contacts.count);
    for (int begin = 0, end; begin < of.count; begin = end) {
        for (end = begin + 1; end < of.count && of.touches[end].island == of.touches[begin].island;) end++;
        if (solve_island(&of, begin, end)) continue;
        sim->report = before;
        return true;
    }

    ss_trees_respond(&sim->trees, sim->links.factored, of.z, rate, change);
    for (int i = 0; i < sim->trees.coordinates; i++) sim->links.rate[i] += rate[i];
    for (int l = 0; l < sim->trees.count; l++)
        for (int i = 0; i < 6; i++) sim->links.change[l][i] += change[l][i];
    read_impulses(&of, at);
    sim->report.contacts = sim->contacts.count;
    for (int c = 0; c < sim->contacts.count; c++)
        ss_sim_note_contact(sim, c, sim->contacts.items[c].gap, at->normal_impulse[c]);
    *solved = true;
    return true;
}
