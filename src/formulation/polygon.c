#include "formulation/polygon.h"

#include "formulation/friction.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---- directions ------------------------------------------------------------------------------------- */

/* (cos, sin)(2 pi j / n), j < n. Quarter turns are taken out first: the axes are exact, and so is
 * d(j + n/2) = -d(j). */
static void corner(int j, int n, double *x, double *y)
{
    int quarter = (int)(4 * (int64_t)j / n), rest = (int)(4 * (int64_t)j % n);
    double angle = 0.5 * pi * rest / n, c = cos(angle), s = sin(angle);
    *x = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    *y = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

/* What becomes of the friction of a contact. */
typedef struct polygon {
    int directions; /* 0: no friction, or tangents that stick */
    double mu;      /* radius of the corners */
    int stuck;      /* tangents with infinite friction: free rows behind s */
    int which[2];   /* those tangents */
    ss_friction friction;
} polygon;

static polygon polygon_of(const ss_contact_row *contact, const ss_polygon_options *set)
{
    ss_friction friction = ss_friction_of(contact);
    polygon p = {.mu = friction.mu, .friction = friction};
    if (isinf(friction.mu)) {
        for (int k = 0; k < friction.count; k++) p.which[p.stuck++] = friction.tangent[k];
    } else if (friction.mu > 0.0) {
        p.directions = friction.count == 2 ? set->directions : 2;
        int n = p.directions;
        if (friction.count == 2 && set->polygon == SS_POLYGON_CIRCUMSCRIBED)
            p.mu = friction.mu / cos(pi / n);
        else if (friction.count == 2 && set->polygon == SS_POLYGON_EQUAL_AREA)
            p.mu = friction.mu * sqrt(2.0 * pi / (n * sin(2.0 * pi / n)));
    }
    if (friction.stuck >= 0) p.which[p.stuck++] = friction.stuck;
    return p;
}

/* Components of d_j along t_u and t_v. */
static void direction_of(const polygon *p, int j, double d[2])
{
    const ss_friction *friction = &p->friction;
    d[0] = d[1] = 0.0;
    if (friction->count == 1) {
        d[friction->tangent[0]] = j == 0 ? 1.0 : -1.0;
        return;
    }
    corner(j, p->directions, &d[0], &d[1]);
    d[0] *= friction->scale[0];
    d[1] *= friction->scale[1];
}

/* ---- the model -------------------------------------------------------------------------------------- */

/* p_n alone, or p_n, p_f and s */
static int count_polygon(const polygon *p)
{
    return p->directions ? p->directions + 2 : 1;
}

static int count_unknowns(const ss_contact_row *contact, const void *options, int *blocks)
{
    polygon p = polygon_of(contact, options);
    *blocks = p.stuck ? 2 : 1;
    return count_polygon(&p) + p.stuck;
}

static void add_direction(const ss_contact_row *contact, const double d[2], ss_problem_builder *builder)
{
    ss_vec3 direction =
        ss_vec3_add_scaled(ss_vec3_scale(d[0], contact->tangent[0]), d[1], contact->tangent[1]);
    ss_builder_add_tangent(builder, contact, direction);
}

/* The rows that come from bodies; s gets an empty one. The block remembers mu for `couple`. */
static void add_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                        ss_problem_builder *builder)
{
    (void)rows;
    polygon p = polygon_of(contact, options);
    double none[12] = {0};
    int first = ss_builder_add_normal(builder, contact);
    for (int j = 0; j < p.directions; j++) {
        double d[2];
        direction_of(&p, j, d);
        add_direction(contact, d, builder);
    }
    if (p.directions) ss_builder_add(builder, (int[2]){-1, -1}, none, 0.0, 0.0);
    for (int i = first; i < builder->size; i++) builder->problem->lower[i] = 0.0;
    ss_builder_close(
        builder, (ss_block){.law = SS_LAW_BOX, .mu = p.mu, .contact = contact->contact, .constraint = -1});
    if (!p.stuck) return;
    for (int k = 0; k < p.stuck; k++)
        add_direction(contact, (double[2]){p.which[k] == 0, p.which[k] == 1}, builder);
    ss_builder_close(builder, (ss_block){.law = SS_LAW_FREE, .contact = contact->contact, .constraint = -1});
}

static ss_contact_impulse read_contact(const ss_rows *rows, const ss_contact_row *contact,
                                       const void *options, const double *x)
{
    (void)rows;
    polygon p = polygon_of(contact, options);
    ss_contact_impulse impulse = {.normal = x[0]};
    for (int j = 0; j < p.directions; j++) {
        double d[2];
        direction_of(&p, j, d);
        for (int k = 0; k < 2; k++) impulse.tangent[k] += d[k] * x[1 + j];
    }
    for (int k = 0; k < p.stuck; k++) impulse.tangent[p.which[k]] += x[count_polygon(&p) + k];
    return impulse;
}

/* ---- guessing --------------------------------------------------------------------------------------- */

/* A vector of the scaled plane as a sum of the two corners next to it, with weights that are not negative. */
static void guess_friction(const polygon *p, const ss_contact_impulse *impulse, double *weight)
{
    const ss_friction *friction = &p->friction;
    int n = p->directions;
    for (int j = 0; j < n; j++) weight[j] = 0.0;
    if (friction->count != 2) {
        double along = impulse->tangent[friction->tangent[0]];
        weight[0] = fmax(along, 0.0);
        weight[1] = fmax(-along, 0.0);
        return;
    }
    double x = impulse->tangent[0] / friction->scale[0], y = impulse->tangent[1] / friction->scale[1];
    double length = hypot(x, y);
    if (!(length > 0.0)) return;
    double angle = atan2(y, x), sector = 2.0 * pi / n;
    if (angle < 0.0) angle += 2.0 * pi;
    int j = (int)(angle / sector) % n;
    double within = angle - j * sector;
    weight[j] = length * fmax(sin(sector - within), 0.0) / sin(sector);
    weight[(j + 1) % n] = length * fmax(sin(within), 0.0) / sin(sector);
}

static void write_contact(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                          const ss_contact_impulse *impulse, double *x)
{
    polygon p = polygon_of(contact, options);
    x[0] = impulse->normal;
    if (p.directions) {
        guess_friction(&p, impulse, x + 1);

        /* s = max_j(-d_j . u_T), the speed against the direction that friction takes; 0 when nothing
         * slides */
        double u[2], largest = 0.0;
        for (int k = 0; k < 2; k++) u[k] = ss_contact_speed(contact, contact->tangent[k], rows->velocity);
        for (int j = 0; j < p.directions; j++) {
            double d[2];
            direction_of(&p, j, d);
            largest = fmax(largest, -(d[0] * u[0] + d[1] * u[1]));
        }
        x[1 + p.directions] = largest;
    }
    for (int k = 0; k < p.stuck; k++) x[count_polygon(&p) + k] = impulse->tangent[p.which[k]];
}

/* ---- the matrix ------------------------------------------------------------------------------------- */

/* A block with friction: p_n, at least two p_f, s. */
static bool has_polygon(const ss_block *block)
{
    return block->contact >= 0 && block->law == SS_LAW_BOX && block->size > 3;
}

static void put(ss_sparse *matrix, int *entry, int row, double value)
{
    matrix->row[*entry] = row;
    matrix->value[(*entry)++] = value;
}

/* e s in the rows of p_f; mu p_n - e' p_f in that of s: so the columns of p_n and p_f get mu and -1 in the
 * row of s, that of s ones in the rows of p_f. A has nothing in these places, and nothing but the diagonal
 * in the column of s. */
static bool couple(ss_problem *problem, ss_error *err)
{
    const ss_sparse *A = problem->A;
    int64_t room = ss_sparse_nonzeros(A), added = 0;
    for (int k = 0; k < problem->block_count; k++) {
        if (has_polygon(&problem->blocks[k])) added += 2 * (int64_t)problem->blocks[k].size - 3;
    }
    ss_sparse *coupled = ss_sparse_create(problem->size, problem->size, room + added, err);
    if (!coupled) return false;

    for (int k = 0, entry = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        int normal = block->first, speed = normal + block->size - 1;
        bool slides = has_polygon(block);
        for (int j = normal; j <= speed; j++) {
            int at = A->start[j], end = A->start[j + 1];
            if (slides && j < speed) {
                for (; at < end && A->row[at] < speed; at++) put(coupled, &entry, A->row[at], A->value[at]);
                put(coupled, &entry, speed, j == normal ? block->mu : -1.0);
            } else if (slides) {
                for (int i = normal + 1; i < speed; i++) put(coupled, &entry, i, 1.0);
            }
            for (; at < end; at++) put(coupled, &entry, A->row[at], A->value[at]);
            coupled->start[j + 1] = entry;
        }
    }
    ss_sparse_destroy(problem->A);
    problem->A = coupled;
    if (added) problem->symmetric = false;
    return true;
}

static bool transform(const ss_frame *frame, ss_problem *problem, const void *options, ss_problem **other,
                      ss_error *err)
{
    const ss_polygon_options *set = options;
    bool minimal = ((const ss_step_options *)options)->coordinates == SS_MINIMAL;
    if (set->form == SS_POLYGON_MIXED)
        *other = (minimal ? ss_problem_to_generalized : ss_problem_to_descriptor)(frame, problem, err);
    else
        *other = ss_problem_to_explicit(problem, err);
    return *other && couple(*other, err);
}

const ss_contact_model ss_polygon_model = {.traits = SS_MODELS_FRICTION | SS_MODELS_GAPS,
                                           .unknowns = count_unknowns,
                                           .add = add_contact,
                                           .read = read_contact,
                                           .write = write_contact,
                                           .transform = transform};
