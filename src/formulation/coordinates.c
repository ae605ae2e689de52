#include "formulation/coordinates.h"

#include "problem/bodies_form.h"

#include <math.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------------- */

void ss_coordinates_free(ss_coordinates *coordinates)
{
    ss_reverse_ldl_free(&coordinates->factor);
    ss_release(coordinates->root);
    ss_release(coordinates->velocity);
    ss_release(coordinates->free);
    ss_release(coordinates->work);
    ss_release(coordinates->tree);
    ss_release(coordinates->first_body);
    *coordinates = (ss_coordinates){0};
}

bool ss_coordinates_make(const ss_frame *frame, ss_coordinates *to, ss_error *err)
{
    const ss_generalized *g = &frame->generalized;
    if (g->count == 0)
        return ss_fail(err, SS_ERROR_INPUT,
                       "coordinates: the frame has no generalised coordinates, so that it can be solved in "
                       "maximal ones only");
    size_t count = (size_t)g->count;
    if (g->count > to->room) {
        ss_release(to->root);
        ss_release(to->velocity);
        ss_release(to->free);
        ss_release(to->work);
        ss_release(to->tree);
        to->root = ss_allocate(count, sizeof *to->root);
        to->velocity = ss_allocate(count, sizeof *to->velocity);
        to->free = ss_allocate(count, sizeof *to->free);
        to->work = ss_allocate(count, sizeof *to->work);
        to->tree = ss_allocate(count, sizeof *to->tree);
        to->room = to->root && to->velocity && to->free && to->work && to->tree ? g->count : 0;
    }
    if (g->trees > to->tree_room) {
        ss_release(to->first_body);
        to->first_body = ss_allocate((size_t)g->trees + 1, sizeof *to->first_body);
        to->tree_room = to->first_body ? g->trees : 0;
    }
    if (g->count > to->room || g->trees > to->tree_room)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d coordinates", g->count);

    /* A tree is as many bodies of the problem as its coordinates fill, six each. */
    to->of = g;
    to->count = g->count;
    to->first_body[0] = 0;
    for (int t = 0; t < g->trees; t++) {
        to->first_body[t + 1] = to->first_body[t] + (g->tree[t][1] + 5) / 6;
        for (int i = g->tree[t][0]; i < g->tree[t][0] + g->tree[t][1]; i++) to->tree[i] = t;
    }

    int bad = ss_reverse_ldl_make(g->count, g->mass_start, g->mass_column, g->mass, &to->factor);
    if (bad == -2) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d coordinates", g->count);
    if (bad >= 0)
        return ss_fail(err, SS_ERROR_INPUT,
                       "generalized/mass/values[%d]: the mass matrix of tree %d is not positive definite",
                       (int)g->mass_start[bad + 1] - 1, to->tree[bad]);
    for (int i = 0; i < g->count; i++) {
        to->root[i] = sqrt(to->factor.pivot[i]);
        to->free[i] = frame->h * g->force[i];
        to->work[i] = 0.0;
    }
    ss_reverse_ldl_solve(&to->factor, to->free);
    for (int i = 0; i < g->count; i++) to->velocity[i] = to->free[i] += g->velocity[i];
    return true;
}

int ss_coordinates_bodies(const ss_coordinates *coordinates)
{
    return coordinates->first_body[coordinates->of->trees];
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

bool ss_coordinates_move(const ss_coordinates *coordinates, int body)
{
    return coordinates->of->map_start[6 * body + 6] > coordinates->of->map_start[6 * body];
}

void ss_coordinates_velocity(const ss_coordinates *coordinates, int body, double velocity[6])
{
    const ss_generalized *g = coordinates->of;
    for (int i = 0; i < 6; i++) {
        double sum = 0.0;
        for (int e = g->map_start[6 * body + i]; e < g->map_start[6 * body + i + 1]; e++)
            sum += g->map[e] * coordinates->velocity[g->map_column[e]];
        velocity[i] = sum;
    }
}

void ss_coordinates_push(ss_coordinates *coordinates, int body, const double momentum[6])
{
    const ss_generalized *g = coordinates->of;
    for (int i = 0; i < 6; i++) {
        if (momentum[i] == 0.0) continue;
        for (int e = g->map_start[6 * body + i]; e < g->map_start[6 * body + i + 1]; e++)
            coordinates->work[g->map_column[e]] += momentum[i] * g->map[e];
    }
}

void ss_coordinates_go(ss_coordinates *coordinates)
{
    ss_reverse_ldl_solve(&coordinates->factor, coordinates->work);
    for (int i = 0; i < coordinates->count; i++) {
        coordinates->velocity[i] += coordinates->work[i];
        coordinates->work[i] = 0.0;
    }
}

double ss_coordinates_inverse_mass(ss_coordinates *coordinates, const int body[2], const double jacobian[12])
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++)
        if (body[side] != SS_WORLD) ss_coordinates_push(coordinates, body[side], jacobian + 6 * side);
    ss_reverse_ldl_back(&coordinates->factor, coordinates->count - 1, coordinates->work);
    for (int i = 0; i < coordinates->count; i++) {
        sum += coordinates->work[i] * coordinates->work[i] / coordinates->factor.pivot[i];
        coordinates->work[i] = 0.0;
    }
    return sum;
}

/* The tree of a body, if its root moves freely: then the rows of T begin with six columns of which the first
 * entries are ones on a diagonal, and the body can move in any way. -1: not so. */
static int find_free_tree(const ss_coordinates *coordinates, int body)
{
    const ss_generalized *g = coordinates->of;
    const int32_t *row = g->map_start + 6 * body;
    if (row[0] == row[1]) return -1;
    int tree = coordinates->tree[g->map_column[row[0]]];
    for (int i = 0; i < 6; i++)
        if (row[i] == row[i + 1] || g->map_column[row[i]] != g->tree[tree][0] + i || g->map[row[i]] != 1.0)
            return -1;
    return tree;
}

bool ss_coordinates_see(ss_coordinates *coordinates, const int body[2], const double jacobian[12])
{
    static const double rounding = 1e-11; // of a chain of hundreds of links
    const ss_generalized *g = coordinates->of;

    /* What moves freely past the world is seen along any row. */
    int side_alone = body[0] == SS_WORLD ? 1 : 0;
    if (body[1 - side_alone] == SS_WORLD && body[side_alone] != SS_WORLD &&
        find_free_tree(coordinates, body[side_alone]) >= 0) {
        for (int i = 0; i < 6; i++)
            if (jacobian[6 * side_alone + i] != 0.0) return true;
        return false;
    }

    double most = 0.0, largest[2] = {0}, entry[2] = {0};
    for (int side = 0; side < 2; side++) {
        if (body[side] == SS_WORLD) continue;
        ss_coordinates_push(coordinates, body[side], jacobian + 6 * side);
        for (int i = 0; i < 6; i++) largest[side] = fmax(largest[side], fabs(jacobian[6 * side + i]));
    }
    for (int side = 0; side < 2; side++) {
        if (body[side] == SS_WORLD) continue;
        for (int e = g->map_start[6 * body[side]]; e < g->map_start[6 * body[side] + 6]; e++) {
            double size = fabs(g->map[e]), moved = fabs(coordinates->work[g->map_column[e]]);
            entry[side] = size > entry[side] ? size : entry[side];
            most = moved > most ? moved : most;
            coordinates->work[g->map_column[e]] = 0.0;
        }
    }
    return most > rounding * fmax(largest[0] * entry[0], largest[1] * entry[1]);
}

/* ---- problems --------------------------------------------------------------------------------------- */

/* The new rows, while the old ones are still needed. */
typedef struct rows {
    double *z;        /* of the block at work, one row behind the other */
    int *touched;     /* trees that it touches */
    bool *is_touched; /* by tree */
    int *used;        /* bodies of the problem that it has entries on */
    int *used_tree;   /* and their trees */
    int *start;       /* further blocks from here on, as in ss_bodies_form */
    int *body;
    double (*jacobian)[6];
    int count, room;
} rows;

static bool grow(rows *to, int more)
{
    if (to->count + more <= to->room) return true;
    int room = 2 * to->room > to->count + more ? 2 * to->room : to->count + more;
    int *body = ss_allocate((size_t)room, sizeof *body);
    double(*jacobian)[6] = ss_allocate((size_t)room, sizeof *jacobian);
    if (!body || !jacobian) {
        ss_release(body);
        ss_release(jacobian);
        return false;
    }
    if (to->count) {
        memcpy(body, to->body, (size_t)to->count * sizeof *body);
        memcpy(jacobian, to->jacobian, (size_t)to->count * sizeof *jacobian);
    }
    ss_release(to->body);
    ss_release(to->jacobian);
    to->body = body;
    to->jacobian = jacobian;
    to->room = room;
    return true;
}

/* z = D^-1/2 L^-T T' J' of unknown i; notes the trees. Returns how many there are. */
static int project(const ss_coordinates *coordinates, const int *frame_body, const ss_bodies_form *form,
                   int i, double *z, rows *to, int touched)
{
    const ss_generalized *g = coordinates->of;
    const double *block;
    for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
        if (body < 0) continue;
        const int32_t *start = g->map_start + 6 * frame_body[body];
        if (start[0] == start[6]) continue;
        for (int k = 0; k < 6; k++)
            for (int e = start[k]; e < start[k + 1]; e++) z[g->map_column[e]] += block[k] * g->map[e];
        int tree = coordinates->tree[g->map_column[start[0]]];
        if (to->is_touched[tree]) continue;
        to->is_touched[tree] = true;
        to->touched[touched++] = tree;
    }

    /* Only the coordinates of these trees can be other than zero. */
    const ss_reverse_ldl *factor = &coordinates->factor;
    for (int t = 0; t < touched; t++) {
        int first = g->tree[to->touched[t]][0], last = first + g->tree[to->touched[t]][1] - 1;
        for (int k = last; k >= first; k--) {
            double now = z[k];
            if (now == 0.0) continue;
            for (int e = factor->first[k]; e < factor->end[k]; e++)
                z[factor->column[e]] -= factor->value[e] * now;
            z[k] = now / coordinates->root[k];
        }
    }
    return touched;
}

/* The numbers of z that one body of the problem has, at most six, and how many they are. */
static const double *part_of(const ss_coordinates *coordinates, const double *z, int tree, int body,
                             int *count)
{
    const int32_t *range = coordinates->of->tree[tree];
    int from = 6 * (body - coordinates->first_body[tree]);
    *count = range[1] - from < 6 ? range[1] - from : 6;
    return z + range[0] + from;
}

static bool transform_block(const ss_coordinates *coordinates, const int *frame_body, ss_bodies_form *form,
                            const ss_block *block, rows *to)
{
    const int *first_body = coordinates->first_body;
    size_t n = (size_t)coordinates->count;
    int touched = 0, count;
    for (int r = 0; r < block->size; r++)
        touched =
            project(coordinates, frame_body, form, block->first + r, to->z + (size_t)r * n, to, touched);

    /* The bodies on which any row of the block has entries, in order: all its rows act on the same ones. */
    int bodies = 0;
    for (int t = 0; t < touched; t++) {
        int tree = to->touched[t];
        for (int body = first_body[tree]; body < first_body[tree + 1]; body++) {
            bool any = false;
            for (int r = 0; !any && r < block->size; r++) {
                const double *part = part_of(coordinates, to->z + (size_t)r * n, tree, body, &count);
                for (int k = 0; !any && k < count; k++) any = part[k] != 0.0;
            }
            if (!any) continue;
            to->used[bodies] = body;
            to->used_tree[bodies++] = tree;
        }
    }

    for (int r = 0; r < block->size; r++) {
        int i = block->first + r;
        double *z = to->z + (size_t)r * n;
        bool empty = form->pair[i][0] < 0 && form->pair[i][1] < 0; // s of a polygon, which acts on no body
        form->pair[i][0] = form->pair[i][1] = -1;
        memset(form->jacobian[i], 0, sizeof form->jacobian[i]);
        if (!grow(to, bodies)) return false;
        for (int k = 0; !empty && k < bodies; k++) {
            const double *part = part_of(coordinates, z, to->used_tree[k], to->used[k], &count);
            double *at = k < 2 ? form->jacobian[i] + 6 * k : to->jacobian[to->count];
            if (k < 2)
                form->pair[i][k] = to->used[k];
            else
                to->body[to->count++] = to->used[k];
            for (int d = 0; d < 6; d++) at[d] = d < count ? part[d] : 0.0;
        }
        to->start[i + 1] = to->count;
        for (int t = 0; t < touched; t++) {
            const int32_t *range = coordinates->of->tree[to->touched[t]];
            memset(z + range[0], 0, (size_t)range[1] * sizeof *z);
        }
    }
    for (int t = 0; t < touched; t++) to->is_touched[to->touched[t]] = false;
    return true;
}

bool ss_coordinates_transform(ss_coordinates *coordinates, const int *frame_body, ss_problem *problem,
                              ss_error *err)
{
    ss_bodies_form *form = problem->bodies;
    size_t n = (size_t)coordinates->count, trees = (size_t)coordinates->of->trees;
    int bodies = ss_coordinates_bodies(coordinates), largest = 0;
    for (int k = 0; k < problem->block_count; k++)
        if (problem->blocks[k].size > largest) largest = problem->blocks[k].size;
    rows to = {.z = ss_allocate((size_t)largest * n, sizeof(double)),
               .touched = ss_allocate(trees, sizeof(int)),
               .is_touched = ss_allocate(trees, sizeof(bool)),
               .used = ss_allocate(2 * (size_t)bodies, sizeof(int)),
               .start = ss_allocate((size_t)problem->size + 1, sizeof(int))};
    bool good = to.z && to.touched && to.is_touched && to.used && to.start;
    to.used_tree = good ? to.used + bodies : NULL;
    for (int k = 0; good && k < problem->block_count; k++)
        good = transform_block(coordinates, frame_body, form, &problem->blocks[k], &to);

    // further blocks only where there are some: most solvers follow two bodies alone
    good = good && (to.count == 0 || ss_bodies_form_add_further(form, problem->size, to.count));
    if (good && to.count == 0) ss_bodies_form_forget_further(form);
    if (good && to.count) {
        memcpy(form->further_start, to.start, ((size_t)problem->size + 1) * sizeof *form->further_start);
        memcpy(form->further_body, to.body, (size_t)to.count * sizeof *form->further_body);
        memcpy(form->further_jacobian, to.jacobian, (size_t)to.count * sizeof *form->further_jacobian);
    }
    ss_release(to.z);
    ss_release(to.touched);
    ss_release(to.is_touched);
    ss_release(to.used);
    ss_release(to.start);
    ss_release(to.body);
    ss_release(to.jacobian);
    if (!good)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the rows of %d unknowns", problem->size);

    // unit masses, which move with z = D^1/2 L v
    form->bodies = bodies;
    memcpy(coordinates->work, coordinates->velocity, n * sizeof *coordinates->work);
    ss_reverse_ldl_multiply(&coordinates->factor, coordinates->work);
    for (int i = 0; i < coordinates->count; i++) coordinates->work[i] *= coordinates->root[i];
    for (int t = 0; t < coordinates->of->trees; t++) {
        for (int body = coordinates->first_body[t]; body < coordinates->first_body[t + 1]; body++) {
            form->inverse_mass[body] = 1.0;
            memset(form->inverse_inertia[body], 0, sizeof form->inverse_inertia[body]);
            for (int k = 0; k < 3; k++) form->inverse_inertia[body][4 * k] = 1.0;
            int count;
            const double *part = part_of(coordinates, coordinates->work, t, body, &count);
            for (int k = 0; k < 6; k++) form->free_velocity[body][k] = k < count ? part[k] : 0.0;
        }
    }
    memset(coordinates->work, 0, n * sizeof *coordinates->work);
    return true;
}

void ss_coordinates_row(const ss_coordinates *coordinates, const ss_bodies_form *form, int i, double *row)
{
    const ss_generalized *g = coordinates->of;
    const ss_reverse_ldl *factor = &coordinates->factor;
    const double *block;
    memset(row, 0, (size_t)coordinates->count * sizeof *row);
    for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
        if (body < 0) continue;
        int t = 0;
        while (body >= coordinates->first_body[t + 1]) t++;
        int from = g->tree[t][0] + 6 * (body - coordinates->first_body[t]);
        for (int k = 0; k < 6 && from + k < g->tree[t][0] + g->tree[t][1]; k++)
            row[from + k] += block[k] * coordinates->root[from + k];
    }
    for (int k = 0; k < coordinates->count; k++) {
        if (row[k] == 0.0) continue;
        for (int e = factor->first[k]; e < factor->end[k]; e++)
            row[factor->column[e]] += factor->value[e] * row[k];
    }
}
