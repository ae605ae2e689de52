/* Problems for the solvers of other communities, as text: plain LCP, GAMS (MCP and QCP), CBF
 * (docs/exchange.md). Numbers are the shortest decimals that read back as the same bits. */
#include <stickslip/dataset.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "problem/cone.h"

#include <math.h>

static void append_number(ss_text *text, double value)
{
    char digits[SS_NUMBER_TEXT];
    ss_text_append_bytes(text, digits, (size_t)ss_number_write(value, digits));
}

static bool write_and_free(const char *path, ss_text *text, ss_error *err)
{
    bool good = text->out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path)
                                    : ss_file_replace(path, ss_text_get(text), text->length, err);
    ss_text_free(text);
    return good;
}

/* ---- a linear complementarity problem with bounds
 * ------------------------------------------------------- */

/* Bounds that follow a partner, |x| <= f p with p >= 0, become two rows more, with a, b >= 0:
 *
 *     w - a + b = 0, x free;    0 <= f p + x  perp  a >= 0;    0 <= f p - x  perp  b >= 0
 *
 * so that a problem of `size` unknowns with `coupled` of them has size + 2 coupled. */
static bool check_linear(const ss_problem *problem, const char *path, int *coupled, ss_error *err)
{
    *coupled = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_block_is_cone(block))
            return ss_fail(
                err, SS_ERROR_INPUT,
                "%s: not a linear complementarity problem: unknown %d belongs to a cone; formulations "
                "stewart-trinkle, anitescu-potra, box and frictionless have none",
                path, block->first);
        for (int i = block->first; block->law == SS_LAW_COUPLED && i < block->first + block->size; i++) {
            if (!(problem->lower[i] == -INFINITY && problem->upper[i] == INFINITY &&
                  problem->lower[problem->partner[i]] >= 0))
                return ss_fail(err, SS_ERROR_INPUT,
                               "%s: unknown %d: only bounds that follow a partner >= 0, and no others beside "
                               "them, can be written",
                               path, i);
            ++*coupled;
        }
    }
    return true;
}

/* Calls put for every entry of the matrix of the extended problem, row by column of the original one
 * first. */
typedef void put_entry(ss_text *text, int row, int column, double value);
static void put_matrix(ss_text *text, const ss_problem *problem, put_entry *put)
{
    for (int column = 0; column < problem->size; column++)
        for (int at = problem->A->start[column]; at < problem->A->start[column + 1]; at++)
            put(text, problem->A->row[at], column, problem->A->value[at]);
    int next = problem->size;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; block->law == SS_LAW_COUPLED && i < block->first + block->size;
             i++, next += 2) {
            put(text, i, next, -1);
            put(text, i, next + 1, 1);
            put(text, next, problem->partner[i], problem->factor[i]);
            put(text, next, i, 1);
            put(text, next + 1, problem->partner[i], problem->factor[i]);
            put(text, next + 1, i, -1);
        }
    }
}

/* Constant, lower and upper bound of row i of the extended problem. */
static void get_row(const ss_problem *problem, int i, double *q, double *lower, double *upper)
{
    bool original = i < problem->size;
    *q = original ? problem->b[i] : 0.0;
    *lower = original ? problem->lower[i] : 0.0;
    *upper = original ? problem->upper[i] : INFINITY;
}

static void put_plain(ss_text *text, int row, int column, double value)
{
    ss_text_appendf(text, "%d %d ", row + 1, column + 1);
    append_number(text, value);
    ss_text_append(text, "\n");
}

bool ss_lcp_write(const char *path, ss_problem *problem, ss_error *err)
{
    int coupled;
    if (!check_linear(problem, path, &coupled, err) || !ss_problem_need_matrix(problem, err)) return false;
    int size = problem->size + 2 * coupled;
    ss_text text = {0};
    ss_text_appendf(&text,
                    "# linear complementarity problem with bounds, written by stickslip %s\n"
                    "# w = A z + q, lower <= z <= upper; z = lower: w >= 0, z = upper: w <= 0, else w = 0\n"
                    "# size and number of entries; row, column (from 1) and value; then q, lower, upper\n"
                    "%d %d\n",
                    ss_version(), size, ss_sparse_nonzeros(problem->A) + 6 * coupled);
    put_matrix(&text, problem, put_plain);
    for (int i = 0; i < size; i++) {
        double numbers[3];
        get_row(problem, i, &numbers[0], &numbers[1], &numbers[2]);
        for (int n = 0; n < 3; n++) {
            append_number(&text, numbers[n]);
            ss_text_append(&text, n < 2 ? " " : "\n");
        }
    }
    return write_and_free(path, &text, err);
}

/* ---- GAMS
 * ----------------------------------------------------------------------------------------------- */

static void put_gams(ss_text *text, int row, int column, double value)
{
    ss_text_appendf(text, "  x%d.x%d ", row + 1, column + 1);
    append_number(text, value);
    ss_text_append(text, "\n");
}

/* One line of a list over unknowns; a list that may be empty has a line for a label that is never used. */
static void put_gams_value(ss_text *text, int i, double value)
{
    ss_text_appendf(text, "  x%d ", i + 1);
    append_number(text, value);
    ss_text_append(text, "\n");
}

static void put_gams_head(ss_text *text, const char *what, int size)
{
    ss_text_appendf(text,
                    "* %s, written by stickslip %s\n"
                    "* frictional contact: x in N s or N m s, w = A x + q in m/s or rad/s\n"
                    "$onempty\n"
                    "option limrow = 0, limcol = 0;\n"
                    "Set i / x1*x%d /;\n"
                    "Alias (i, j);\n",
                    what, ss_version(), size > 0 ? size : 1);
}

static bool write_gams_mcp(const char *path, ss_problem *problem, ss_error *err)
{
    int coupled;
    if (!check_linear(problem, path, &coupled, err)) return false;
    int size = problem->size + 2 * coupled;
    ss_text text = {0};
    put_gams_head(&text, "mixed complementarity problem", size);
    ss_text_append(&text, "Parameter A(i,j) /\n");
    put_matrix(&text, problem, put_gams);

    const char *const lists[] = {"/;\nParameter q(i) /\n", "/;\nParameter lower(i) /\n",
                                 "/;\nParameter upper(i) /\n"};
    for (int n = 0; n < 3; n++) {
        ss_text_append(&text, lists[n]);
        for (int i = 0; i < size; i++) {
            double numbers[3];
            get_row(problem, i, &numbers[0], &numbers[1], &numbers[2]);
            if (isfinite(numbers[n]) && !(n == 0 && numbers[0] == 0)) put_gams_value(&text, i, numbers[n]);
        }
    }

    // zero is what GAMS takes for absent, so sets say which bounds there are
    const char *const sets[] = {"/;\nSet bounded_below(i) /\n", "/;\nSet bounded_above(i) /\n"};
    for (int n = 0; n < 2; n++) {
        ss_text_append(&text, sets[n]);
        for (int i = 0; i < size; i++) {
            double numbers[3];
            get_row(problem, i, &numbers[0], &numbers[1], &numbers[2]);
            if (isfinite(numbers[n + 1])) ss_text_appendf(&text, "  x%d\n", i + 1);
        }
    }

    ss_text_append(&text, "/;\n"
                          "Variable z(i);\n"
                          "Equation F(i);\n"
                          "F(i).. sum(j$A(i,j), A(i,j)*z(j)) + q(i) =n= 0;\n"
                          "z.lo(i)$bounded_below(i) = lower(i);\n"
                          "z.up(i)$bounded_above(i) = upper(i);\n"
                          "Model contact / F.z /;\n"
                          "Solve contact using mcp;\n"
                          "Display z.l;\n");
    return write_and_free(path, &text, err);
}

/* Convex problems: minimise 1/2 x'Ax + q'x over boxes and second-order cones. */
static bool check_convex(const ss_problem *problem, const char *path, ss_error *err)
{
    for (int k = 0; k < problem->block_count; k++)
        if (problem->blocks[k].law == SS_LAW_CONE || problem->blocks[k].law == SS_LAW_COUPLED)
            return ss_fail(err, SS_ERROR_INPUT,
                           "%s: not a convex problem: the law of unknown %d is not; formulation convex is",
                           path, problem->blocks[k].first);
    return problem->symmetric ||
           ss_fail(err, SS_ERROR_INPUT, "%s: not a convex problem: A is not symmetric", path);
}

/* The discs of a cone: friction (a ball with spinning), and rolling where there is any. Returns their
 * number; `first` is that of the tangents, relative to the normal. */
typedef struct disc {
    int first, size;
    double mu;
} disc;
static int discs_of(const ss_block *block, disc discs[2])
{
    discs[0] = (disc){1, ss_cone_tangents(block->size), block->mu};
    discs[1] = (disc){ss_cone_rolling(block->size), 2, block->mu_rolling};
    return ss_cone_rolls(block->size) ? 2 : 1;
}

static bool write_gams_qcp(const char *path, ss_problem *problem, ss_error *err)
{
    if (!check_convex(problem, path, err)) return false;
    ss_text text = {0}, below = {0}, above = {0}, normal = {0}, tangent = {0}, mu = {0};
    put_gams_head(&text, "convex problem on second-order cones", problem->size);

    ss_text_append(&text, "Parameter A(i,j) /\n");
    for (int column = 0; column < problem->size; column++)
        for (int at = problem->A->start[column]; at < problem->A->start[column + 1]; at++)
            put_gams(&text, problem->A->row[at], column, problem->A->value[at]);
    ss_text_append(&text, "/;\nParameter q(i) /\n");
    for (int i = 0; i < problem->size; i++)
        if (problem->b[i] != 0) put_gams_value(&text, i, problem->b[i]);

    /* Boxes have bounds; a cone has a normal that is not negative, and a disc or two of tangents. */
    int cones = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        disc discs[2];
        int count = ss_block_is_cone(block) ? discs_of(block, discs) : 0;
        if (count) put_gams_value(&below, block->first, 0);
        for (int i = block->first; !count && i < block->first + block->size; i++) {
            if (isfinite(problem->lower[i])) put_gams_value(&below, i, problem->lower[i]);
            if (isfinite(problem->upper[i])) put_gams_value(&above, i, problem->upper[i]);
        }
        for (int d = 0; d < count; d++) {
            if (discs[d].mu == INFINITY) continue;
            cones++;
            ss_text_appendf(&normal, "  c%d.x%d\n", cones, block->first + 1);
            for (int t = 0; t < discs[d].size; t++)
                ss_text_appendf(&tangent, "  c%d.x%d\n", cones, block->first + discs[d].first + t + 1);
            ss_text_appendf(&mu, "  c%d ", cones);
            append_number(&mu, discs[d].mu);
            ss_text_append(&mu, "\n");
        }
    }

    ss_text_appendf(&text,
                    "/;\nParameter lower(i) /\n%s/;\nParameter upper(i) /\n%s/;\n"
                    "Set c / c1*c%d /;\n"
                    "Set normal_of(c,i) /\n%s/;\nSet tangents_of(c,i) /\n%s/;\nParameter mu(c) /\n%s/;\n",
                    ss_text_get(&below), ss_text_get(&above), cones > 0 ? cones : 1, ss_text_get(&normal),
                    ss_text_get(&tangent), ss_text_get(&mu));

    /* Zero is what GAMS takes for absent, so sets say which bounds there are. */
    ss_text_append(&text, "Set bounded_below(i), bounded_above(i);\n");
    for (int n = 0; n < 2; n++) {
        const char *name = n ? "bounded_above" : "bounded_below";
        for (int k = 0; k < problem->block_count; k++) {
            const ss_block *block = &problem->blocks[k];
            bool cone = ss_block_is_cone(block);
            for (int i = block->first; i < block->first + block->size; i++) {
                bool bounded =
                    cone ? n == 0 && i == block->first : isfinite((n ? problem->upper : problem->lower)[i]);
                if (bounded) ss_text_appendf(&text, "%s('x%d') = yes;\n", name, i + 1);
            }
        }
    }

    ss_text_append(&text,
                   "Variable x(i), cost;\n"
                   "Equation objective, disc(c);\n"
                   "objective.. cost =e= 0.5*sum((i,j)$A(i,j), x(i)*A(i,j)*x(j)) + sum(i, q(i)*x(i));\n"
                   "disc(c)$sum(normal_of(c,i), 1).. sqr(mu(c))*sum(normal_of(c,i), sqr(x(i))) =g= "
                   "sum(tangents_of(c,i), sqr(x(i)));\n"
                   "x.lo(i)$bounded_below(i) = lower(i);\n"
                   "x.up(i)$bounded_above(i) = upper(i);\n"
                   "Model contact / all /;\n"
                   "Solve contact using qcp minimizing cost;\n"
                   "Display x.l;\n");

    text.out_of_memory |= below.out_of_memory || above.out_of_memory || normal.out_of_memory ||
                          tangent.out_of_memory || mu.out_of_memory;
    ss_text *parts[] = {&below, &above, &normal, &tangent, &mu};
    for (int i = 0; i < 5; i++) ss_text_free(parts[i]);
    return write_and_free(path, &text, err);
}

bool ss_gams_write(const char *path, ss_problem *problem, ss_error *err)
{
    if (!ss_problem_need_matrix(problem, err)) return false;
    bool cones = ss_problem_laws(problem) & (SS_LAW_CONE | SS_LAW_CONVEX);
    return (cones ? write_gams_qcp : write_gams_mcp)(path, problem, err);
}

/* ---- CBF
 * ------------------------------------------------------------------------------------------------ */

/* Lower triangle L of a symmetric, positive semidefinite 3 x 3 matrix L L', row by row; zero columns where
 * nothing is left. */
static void root_of(const double a[9], double l[9])
{
    for (int i = 0; i < 9; i++) l[i] = 0;
    for (int j = 0; j < 3; j++) {
        double d = a[4 * j];
        for (int k = 0; k < j; k++) d -= l[3 * j + k] * l[3 * j + k];
        if (!(d > 1e-15 * a[4 * j])) continue;
        l[4 * j] = sqrt(d);
        for (int i = j + 1; i < 3; i++) {
            double s = a[3 * i + j];
            for (int k = 0; k < j; k++) s -= l[3 * i + k] * l[3 * j + k];
            l[3 * i + j] = s / l[4 * j];
        }
    }
}

typedef struct cbf {
    ss_text cones, entries, constants;
    int rows, cone_count, entry_count, constant_count;
} cbf;

static void put_entry_at(cbf *c, int row, int column, double value)
{
    if (value == 0) return;
    ss_text_appendf(&c->entries, "%d %d ", row, column);
    append_number(&c->entries, value);
    ss_text_append(&c->entries, "\n");
    c->entry_count++;
}

static void put_constant_at(cbf *c, int row, double value)
{
    if (value == 0) return;
    ss_text_appendf(&c->constants, "%d ", row);
    append_number(&c->constants, value);
    ss_text_append(&c->constants, "\n");
    c->constant_count++;
}

/* Begins a cone of `size` rows; returns the first of them. */
static int begin_cone(cbf *c, const char *kind, int size)
{
    int first = c->rows;
    ss_text_appendf(&c->cones, "%s %d\n", kind, size);
    c->rows += size;
    c->cone_count++;
    return first;
}

/* Column `unknown` of G with A = G' G: root of the inverse masses times J', and root of the compliance. */
static void put_root_column(cbf *c, const ss_bodies_form *bodies, double (*root)[9], int first, int unknown)
{
    for (int side = 0; side < 2; side++) {
        int body = bodies->pair[unknown][side];
        if (body < 0) continue;
        const double *j = &bodies->jacobian[unknown][6 * side];
        int row = first + 6 * body;
        double part[6];
        for (int k = 0; k < 3; k++) part[k] = sqrt(bodies->inverse_mass[body]) * j[k];
        for (int k = 0; k < 3; k++) {
            part[3 + k] = 0;
            for (int i = 0; i < 3; i++) part[3 + k] += root[body][3 * i + k] * j[3 + i]; // L' J'
        }
        for (int k = 0; k < 6; k++) put_entry_at(c, row + k, unknown, part[k]);
    }
    put_entry_at(c, first + 6 * bodies->bodies + unknown, unknown, sqrt(bodies->compliance[unknown]));
}

bool ss_cbf_write(const char *path, const ss_problem *problem, ss_error *err)
{
    const ss_bodies_form *bodies = problem->bodies;
    if (!check_convex(problem, path, err)) return false;
    if (!bodies) return ss_fail(err, SS_ERROR_INPUT, "%s: needs a problem of bodies, as from a frame", path);
    for (int i = 0; i < problem->size; i++)
        if (bodies->pair[i][0] >= 0 && bodies->pair[i][0] == bodies->pair[i][1])
            return ss_fail(err, SS_ERROR_INPUT, "%s: unknown %d acts on one body twice", path, i);
    double(*root)[9] = ss_allocate((size_t)bodies->bodies, sizeof *root);
    if (!root) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    for (int b = 0; b < bodies->bodies; b++) root_of(bodies->inverse_inertia[b], root[b]);

    // variables x and t; minimise t + b'x; 2 t >= |G x|^2 as a rotated cone (t, 1, G x)
    cbf c = {0};
    int n = problem->size, first = begin_cone(&c, "QR", 2 + 6 * bodies->bodies + n);
    put_entry_at(&c, first, n, 1);
    put_constant_at(&c, first + 1, 1);
    for (int i = 0; i < n; i++) put_root_column(&c, bodies, root, first + 2, i);
    ss_release(root);

    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        disc discs[2];
        int count = ss_block_is_cone(block) ? discs_of(block, discs) : 0;
        if (count) put_entry_at(&c, begin_cone(&c, "L+", 1), block->first, 1);
        for (int d = 0; d < count; d++) {
            if (discs[d].mu == INFINITY) continue;
            int row = begin_cone(&c, "Q", 1 + discs[d].size);
            put_entry_at(&c, row, block->first, discs[d].mu);
            for (int t = 0; t < discs[d].size; t++)
                put_entry_at(&c, row + 1 + t, block->first + discs[d].first + t, 1);
        }
        for (int i = block->first; !count && i < block->first + block->size; i++) {
            if (isfinite(problem->lower[i])) {
                int row = begin_cone(&c, "L+", 1);
                put_entry_at(&c, row, i, 1);
                put_constant_at(&c, row, -problem->lower[i]);
            }
            if (isfinite(problem->upper[i])) {
                int row = begin_cone(&c, "L-", 1);
                put_entry_at(&c, row, i, 1);
                put_constant_at(&c, row, -problem->upper[i]);
            }
        }
    }

    ss_text text = {0};
    int costs = 1;
    for (int i = 0; i < n; i++) costs += problem->b[i] != 0;
    ss_text_appendf(&text,
                    "# convex contact problem, written by stickslip %s: minimise 1/2 x'Ax + b'x, A = G'G\n"
                    "# variables: x (N s or N m s), then t >= 1/2 |G x|^2\n"
                    "VER\n1\n\nOBJSENSE\nMIN\n\nVAR\n%d 1\nF %d\n\nCON\n%d %d\n%s\nOBJACOORD\n%d\n",
                    ss_version(), n + 1, n + 1, c.rows, c.cone_count, ss_text_get(&c.cones), costs);
    for (int i = 0; i <= n; i++) {
        double cost = i < n ? problem->b[i] : 1;
        if (cost == 0) continue;
        ss_text_appendf(&text, "%d ", i);
        append_number(&text, cost);
        ss_text_append(&text, "\n");
    }
    ss_text_appendf(&text, "\nACOORD\n%d\n%s\nBCOORD\n%d\n%s", c.entry_count, ss_text_get(&c.entries),
                    c.constant_count, ss_text_get(&c.constants));
    text.out_of_memory |= c.cones.out_of_memory || c.entries.out_of_memory || c.constants.out_of_memory;
    ss_text_free(&c.cones);
    ss_text_free(&c.entries);
    ss_text_free(&c.constants);
    return write_and_free(path, &text, err);
}
