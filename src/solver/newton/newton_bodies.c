/* The Newton system reduced to the velocities of the bodies: with D = F + B (C + alpha) R,
 *
 *     (1 + H' X H) dv = H' R D^-1 b,   X = R D^-1 B,   y = D^-1 (b - B H dv)
 *
 * Six unknowns for a body instead of three for a contact, and a stack has more contacts than bodies. The
 * price is accuracy when D is small: a sticking contact or a joint has D = alpha.
 */
#include "solver/newton/newton_system.h"

#include <math.h>
#include <string.h>

#include "linalg/front_lu.h"
#include "solver/local/local_cone.h"
#include "solver/core/run_state.h"

enum { WIDTH = 6, GROUP_MAX = 2 * SS_NODE_MAX };

struct ss_newton_bodies {
    const ss_space *space;
    ss_block_rows *pattern; // bodies that meet
    ss_front_lu *fronts;
    int *group_start, *member; // per node: the bodies it touches
    int *entry;                // per node and pair of its bodies: the block in the pattern
    size_t *entry_start;
    bool *is_contact;        // per node: three rows between the same bodies, no body twice
    double *inverse;         // of D, squares
    double *velocity, *part; // of bodies, of unknowns
};

/* ---- life ------------------------------------------------------------------------------------------- */

struct ss_newton_bodies *ss_newton_bodies_create(const ss_space *space, ss_run *run)
{
    // s per node, with the first assembly, without which it is of no use; measured on pyramids of cubes
    static const double per_node = 5e-7;
    if (ss_run_lacks(run, per_node * space->node_count)) return NULL;
    ss_arena *arena = run->arena;
    const ss_levers *levers = space->levers;
    size_t nodes = (size_t)space->node_count;
    struct ss_newton_bodies *bodies = ss_arena_take(arena, 1, sizeof *bodies, "bodies");
    if (!bodies) return NULL;
    *bodies = (struct ss_newton_bodies){
        .space = space,
        .inverse = ss_arena_take(arena, ss_newton_system_squares(space), sizeof(double), "Newton blocks"),
        .velocity = ss_arena_take(arena, WIDTH * (size_t)levers->bodies, sizeof(double), "velocities"),
        .part = ss_arena_take(arena, (size_t)space->size, sizeof(double), "impulses"),
        .group_start = ss_arena_take(arena, nodes + 1, sizeof(int), "bodies of contacts"),
        .entry_start = ss_arena_take(arena, nodes + 1, sizeof(size_t), "bodies of contacts"),
        .member = ss_arena_take(arena, 2 * (size_t)space->size, sizeof(int), "bodies of contacts"),
        .is_contact = ss_arena_take(arena, nodes, sizeof(bool), "bodies of contacts")};
    if (!bodies->inverse || !bodies->velocity || !bodies->part || !bodies->group_start ||
        !bodies->entry_start || !bodies->member || !bodies->is_contact)
        return NULL;

    // The bodies of every node.
    for (int k = 0, total = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        const int *pair = levers->pair[node->first];
        int *member = bodies->member + total, count = 0;
        for (int i = node->first; i < node->first + node->size; i++) {
            for (int side = 0; side < 2; side++) {
                int body = levers->pair[i][side], m = 0;
                while (m < count && member[m] != body) m++;
                if (body >= 0 && m == count) member[count++] = body;
            }
        }
        bodies->is_contact[k] = node->size == 3 && pair[0] != pair[1] &&
                                memcmp(pair, levers->pair[node->first + 1], sizeof *levers->pair) == 0 &&
                                memcmp(pair, levers->pair[node->first + 2], sizeof *levers->pair) == 0;
        bodies->group_start[k + 1] = total += count;
        bodies->entry_start[k + 1] = bodies->entry_start[k] + (size_t)(count * count);
    }

    // Which of them meet, and where in the pattern.
    bodies->pattern = ss_block_rows_of_groups(levers->bodies, WIDTH, space->node_count, bodies->group_start,
                                              bodies->member, arena);
    bodies->entry = ss_arena_take(arena, bodies->entry_start[nodes], sizeof(int), "bodies of contacts");
    if (!bodies->pattern || !bodies->entry) return NULL;
    for (int k = 0, at = 0; k < space->node_count; k++) {
        for (int a = bodies->group_start[k]; a < bodies->group_start[k + 1]; a++) {
            for (int b = bodies->group_start[k]; b < bodies->group_start[k + 1]; b++) {
                bodies->entry[at++] =
                    ss_block_rows_find(bodies->pattern, bodies->member[a], bodies->member[b]);
            }
        }
    }
    bodies->fronts = ss_run_late(run) ? NULL : ss_front_lu_create(bodies->pattern, NULL);
    if (!bodies->fronts) return NULL;
    ss_front_lu_set_deadline(bodies->fronts, ss_run_deadline(run));
    ss_front_lu_set_team(bodies->fronts, run->team);
    return bodies;
}

void ss_newton_bodies_free(struct ss_newton_bodies *bodies)
{
    if (bodies) ss_front_lu_destroy(bodies->fronts);
}

/* ---- factor ----------------------------------------------------------------------------------------- */

/* inverse = D^-1, X = R D^-1 B */
static bool reduce_node(struct ss_newton_bodies *bodies, const ss_newton_system *system, int k, double *X)
{
    const ss_node *node = &bodies->space->nodes[k];
    int n = node->size;
    size_t at = system->square[k];
    const double *F = system->F + at, *B = system->B + at, *R = system->R + at;
    double D[SS_NODE_MAX * SS_NODE_MAX], half[SS_NODE_MAX * SS_NODE_MAX], *inverse = bodies->inverse + at;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            half[i * n + j] =
                B[i * n + j] * (bodies->space->levers->compliance[node->first + j] + system->alpha);
        }
    }
    if (system->uses_right)
        ss_newton_multiply(n, n, n, half, R, D);
    else
        memcpy(D, half, (size_t)(n * n) * sizeof *D);
    for (int i = 0; i < n * n; i++) D[i] += F[i];
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int i = 0; i < n; i++) inverse[i * n + i] = 1.0;
    if (!ss_small_solve(n, D, n, inverse)) return false;
    ss_newton_multiply(n, n, n, inverse, B, system->uses_right ? half : X);
    if (system->uses_right) ss_newton_multiply(n, n, n, R, half, X);
    return true;
}

/* H' X H of a contact, whose levers lie in memory as they are needed: all three rows at once, so that blocks
 * are read and written once only. */
static void add_contact(struct ss_newton_bodies *bodies, int k, const double *X)
{
    enum { ROW = 2 * WIDTH }; // levers of two bodies side by side
    const ss_levers *levers = bodies->space->levers;
    int first = bodies->space->nodes[k].first;
    const int *pair = levers->pair[first], *entry = bodies->entry + bodies->entry_start[k];
    const double *H = levers->lever[first];
    double XH[3 * ROW];
    ss_newton_multiply(3, 3, ROW, X, H, XH);
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            if (pair[a] < 0 || pair[b] < 0) continue;
            const double *restrict A = H + WIDTH * a, *restrict B = XH + WIDTH * b;
            double *restrict block = bodies->pattern->value + bodies->pattern->place[*entry++];
            for (int i = 0; i < WIDTH; i++) {
                double first_row = A[i], second_row = A[ROW + i], third_row = A[2 * ROW + i];
                for (int j = 0; j < WIDTH; j++)
                    block[i * WIDTH + j] +=
                        first_row * B[j] + second_row * B[ROW + j] + third_row * B[2 * ROW + j];
            }
        }
    }
}

/* The same of any node, into the blocks of its bodies. */
static void add_node(struct ss_newton_bodies *bodies, int k, const double *X)
{
    const ss_node *node = &bodies->space->nodes[k];
    const ss_levers *levers = bodies->space->levers;
    const int *member = bodies->member + bodies->group_start[k];
    int count = bodies->group_start[k + 1] - bodies->group_start[k], n = node->size;
    double H[GROUP_MAX][SS_NODE_MAX * WIDTH], XH[SS_NODE_MAX * WIDTH];

    // The columns of H of each body, n x 6, from both sides of each row.
    for (int a = 0; a < count; a++) {
        memset(H[a], 0, (size_t)(n * WIDTH) * sizeof **H);
        for (int i = 0; i < n; i++) {
            for (int side = 0; side < 2; side++) {
                if (levers->pair[node->first + i][side] != member[a]) continue;
                const double *lever = levers->lever[node->first + i] + WIDTH * side;
                for (int c = 0; c < WIDTH; c++) H[a][i * WIDTH + c] += lever[c];
            }
        }
    }
    for (int b = 0; b < count; b++) {
        ss_newton_multiply(n, n, WIDTH, X, H[b], XH);
        for (int a = 0; a < count; a++) {
            int entry = bodies->entry[bodies->entry_start[k] + (size_t)(a * count + b)];
            double *block = bodies->pattern->value + bodies->pattern->place[entry];
            for (int row = 0; row < n * WIDTH; row += WIDTH) {
                for (int i = 0; i < WIDTH; i++) {
                    for (int j = 0; j < WIDTH; j++) block[i * WIDTH + j] += H[a][row + i] * XH[row + j];
                }
            }
        }
    }
}

bool ss_newton_bodies_factor(struct ss_newton_bodies *bodies, const ss_newton_system *system)
{
    static const double per_node = 2.5e-7; // s, measured on pyramids of cubes
    ss_block_rows *pattern = bodies->pattern;
    if (ss_run_lacks(system->run, per_node * bodies->space->node_count)) return false;
    memset(pattern->value, 0, pattern->place[pattern->start[pattern->nodes]] * sizeof *pattern->value);
    for (int body = 0; body < pattern->nodes; body++) {
        double *block = pattern->value + pattern->place[pattern->diagonal[body]];
        for (int i = 0; i < WIDTH; i++) block[i * WIDTH + i] = 1.0;
    }
    for (int k = 0; k < bodies->space->node_count; k++) {
        double X[SS_NODE_MAX * SS_NODE_MAX];
        if (!system->active[k]) continue;
        if (!reduce_node(bodies, system, k, X)) return false;
        if (bodies->is_contact[k])
            add_contact(bodies, k, X);
        else
            add_node(bodies, k, X);
    }
    if (ss_run_late(system->run)) return false;
    if (system->is_symmetric) ss_front_lu_use_symmetry(bodies->fronts);
    ss_linalg_status outcome = ss_front_lu_factor(bodies->fronts, pattern->value, NULL);
    if (outcome == SS_LINALG_LATE) ss_run_give_up(system->run);
    return outcome == SS_LINALG_OK;
}

/* ---- solve ------------------------------------------------------------------------------------------ */

void ss_newton_bodies_solve(struct ss_newton_bodies *bodies, const ss_newton_system *system, const double *b,
                            double *y)
{
    const ss_space *space = bodies->space;
    double(*v)[WIDTH] = (double(*)[WIDTH])bodies->velocity, *part = bodies->part;

    // H' R D^-1 b of the active nodes
    memset(v, 0, (size_t)space->levers->bodies * sizeof *v);
    memset(part, 0, (size_t)space->size * sizeof *part);
    for (int k = 0; k < space->node_count; k++) {
        int n = space->nodes[k].size, first = space->nodes[k].first;
        double plain[SS_NODE_MAX], *to = system->uses_right ? plain : part + first;
        if (!system->active[k]) continue;
        ss_newton_multiply(n, n, 1, bodies->inverse + system->square[k], b + first, to);
        if (system->uses_right)
            ss_newton_multiply(n, n, 1, system->R + system->square[k], plain, part + first);
    }
    ss_levers_push(space->levers, part, v);
    ss_front_lu_solve(bodies->fronts, bodies->velocity, bodies->velocity);

    // y = D^-1 (b - B H dv)
    ss_levers_pull(space->levers, v, part);
    for (int k = 0; k < space->node_count; k++) {
        int n = space->nodes[k].size, first = space->nodes[k].first;
        double change[SS_NODE_MAX];
        if (!system->active[k]) continue;
        ss_newton_multiply(n, n, 1, system->B + system->square[k], part + first, change);
        for (int i = 0; i < n; i++) change[i] = b[first + i] - change[i];
        ss_newton_multiply(n, n, 1, bodies->inverse + system->square[k], change, y + first);
    }
}
