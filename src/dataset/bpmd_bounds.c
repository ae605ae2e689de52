/* Where Gazebo's writer put the bounds of a joint's rows.
 *
 * It hands ODE two pointers into the joint's list (lo_0, hi_0, lo_1, hi_1, ...), one to each first element,
 * and ODE writes lo[r] and hi[r] as if each were an array of its own: row r lands at places r and r + 1 of
 * the list instead of 2 r and 2 r + 1, and the upper bound of row r is lost when row r + 1 is bounded as
 * well. The list was filled with -inf, inf before. ODE knows four kinds of bounded rows:
 *
 *     low limit (0, inf)    high limit (-inf, 0)    motor (-f, f)    both limits equal (-inf, inf)
 *
 * and they come after the joint's equations. So we look for the rows that ODE must have written to leave this
 * list, by dynamic programming over the rows: the explanation with no equation after a bounded row if there
 * is one, and among those the one with the fewest bounded rows. A row whose kind is not unique among the best
 * explanations is doubtful.
 */
#include "dataset/bpmd.h"

#include <math.h>
#include <string.h>

typedef enum kind { UNTOUCHED, LOW_LIMIT, HIGH_LIMIT, MOTOR, EQUAL_LIMITS, KINDS } kind;
enum { BOUNDED_ROW = 1, EQUATION_AFTER_BOUND = 100, IMPOSSIBLE = 1000000 };

static double initial(int place)
{
    return place % 2 ? INFINITY : -INFINITY;
}

/* What row r of this kind leaves at place r, given what was there. */
static double lower_of(kind k, double before, double stored)
{
    switch (k) {
    case LOW_LIMIT:
        return 0;
    case HIGH_LIMIT:
    case EQUAL_LIMITS:
        return -INFINITY;
    case MOTOR:
        return stored < 0 && isfinite(stored) ? stored : NAN; // any force; NaN equals nothing
    default:
        return before;
    }
}

/* ... and at place r + 1, which the next row may overwrite. */
static double upper_of(kind k, int row, double stored)
{
    switch (k) {
    case LOW_LIMIT:
    case EQUAL_LIMITS:
        return INFINITY;
    case HIGH_LIMIT:
        return 0;
    case MOTOR:
        return -stored;
    default:
        return initial(row + 1);
    }
}

static int step_cost(kind before, kind now)
{
    if (now != UNTOUCHED) return BOUNDED_ROW;
    return before != UNTOUCHED ? EQUATION_AFTER_BOUND : 0;
}

/* cost[r][k]: the lowest of explanations of places 0..r in which row r is of kind k. */
static void explain_forwards(const double *list, int rows, int cost[][KINDS])
{
    for (int k = 0; k < KINDS; k++) {
        bool fits = lower_of((kind)k, initial(0), list[0]) == list[0];
        cost[0][k] = fits ? step_cost(UNTOUCHED, (kind)k) : IMPOSSIBLE;
    }
    for (int r = 1; r < rows; r++)
        for (int k = 0; k < KINDS; k++) {
            cost[r][k] = IMPOSSIBLE;
            for (int p = 0; p < KINDS; p++) {
                double before = upper_of((kind)p, r - 1, list[r - 1]);
                int sum = cost[r - 1][p] + step_cost((kind)p, (kind)k);
                if (lower_of((kind)k, before, list[r]) == list[r] && sum < cost[r][k]) cost[r][k] = sum;
            }
        }
}

/* rest[r][k]: the lowest cost of what comes after row r, so that the other places are explained as well. */
static void explain_backwards(const double *list, int rows, int rest[][KINDS])
{
    int last = rows - 1;
    for (int k = 0; k < KINDS; k++)
        rest[last][k] = upper_of((kind)k, last, list[last]) == list[rows] ? 0 : IMPOSSIBLE;
    for (int r = last - 1; r >= 0; r--)
        for (int k = 0; k < KINDS; k++) {
            double after = upper_of((kind)k, r, list[r]);
            rest[r][k] = IMPOSSIBLE;
            for (int n = 0; n < KINDS; n++) {
                int sum = rest[r + 1][n] + step_cost((kind)k, (kind)n);
                if (lower_of((kind)n, after, list[r + 1]) == list[r + 1] && sum < rest[r][k])
                    rest[r][k] = sum;
            }
        }
}

/* The kinds that row r has in explanations of the lowest cost; the bounds are theirs if all agree. */
static bool take_row(const double *list, int r, const int cost[KINDS], const int rest[KINDS], int lowest,
                     double bounds[2])
{
    int found = 0;
    for (int k = 0; k < KINDS; k++) {
        if (cost[k] + rest[k] != lowest) continue;
        double lower = k == UNTOUCHED ? -INFINITY : lower_of((kind)k, -INFINITY, list[r]);
        double upper = k == UNTOUCHED ? INFINITY : upper_of((kind)k, 0, list[r]);
        if (found++ && (lower != bounds[0] || upper != bounds[1])) return false;
        bounds[0] = lower;
        bounds[1] = upper;
    }
    return found > 0;
}

static void unbound(double bounds[2])
{
    bounds[0] = -INFINITY;
    bounds[1] = INFINITY;
}

/* False when no rows of ODE's could have left this list. */
static bool explain(const double *list, int rows, double (*bounds)[2], ss_bounds_story *story)
{
    /* Nothing is ever written beyond the middle of the list. */
    for (int place = rows + 1; place < 2 * rows; place++)
        if (list[place] != initial(place)) return false;

    int cost[SS_ODE_ROWS][KINDS], rest[SS_ODE_ROWS][KINDS], lowest = IMPOSSIBLE;
    explain_forwards(list, rows, cost);
    explain_backwards(list, rows, rest);
    for (int k = 0; k < KINDS; k++)
        if (cost[0][k] + rest[0][k] < lowest) lowest = cost[0][k] + rest[0][k];
    if (lowest >= IMPOSSIBLE) return false;

    for (int r = 0; r < rows; r++)
        if (!take_row(list, r, cost[r], rest[r], lowest, bounds[r])) {
            unbound(bounds[r]);
            story->doubtful++;
        }

    /* The upper bound of a bounded row was lost if the next row has left something else in its place. */
    for (int r = 0; r + 1 < rows; r++) {
        bool is_bounded = bounds[r][0] != -INFINITY || bounds[r][1] != INFINITY;
        story->deduced += is_bounded && list[r + 1] != bounds[r][1];
    }
    if (rows > 1 && lowest > 0) story->moved++;
    return true;
}

void ss_bpmd_sort_bounds(double (*bounds)[2], int rows, ss_bounds_story *story)
{
    if (rows >= 1 && rows <= SS_ODE_ROWS) {
        double list[2 * SS_ODE_ROWS];
        memcpy(list, bounds, (size_t)rows * sizeof *bounds);
        if (explain(list, rows, bounds, story)) return;
    }

    /* Without an explanation, bounds that are sensible where they stand are kept: 0 is between them. */
    bool sensible = true;
    for (int r = 0; r < rows; r++) sensible &= bounds[r][0] <= 0 && bounds[r][1] >= 0;
    if (sensible) return;
    for (int r = 0; r < rows; r++) unbound(bounds[r]);
    story->doubtful += rows;
}
