#include "certificate/laws.h"

#include <string.h>

static ss_midrad sum_of_squares(const ss_midrad *v, int count)
{
    ss_midrad sum = ss_midrad_of(0.0);
    for (int i = 0; i < count; i++) sum = ss_midrad_add(sum, ss_midrad_multiply(v[i], v[i]));
    return sum;
}

/* ---- impulses where the laws want them -------------------------------------------------------------- */

/* A friction of a contact: the components that share one disc. */
typedef struct friction_group {
    int count, component[3];
    bool lifts; /* part of the cone, so that the convex law lifts what moves along it */
} friction_group;

/* Sliding, rolling, spinning; components without friction (zero impulse) and with infinite friction (no
 * motion) are in none. Spinning shares the disc of sliding in an ellipsoid that has one; alone it is a law
 * beside the cone. Returns how many groups. */
static int groups_of(const ss_block_case *block, friction_group groups[3])
{
    int count = 0;
    for (int first = SS_TANGENT; first <= SS_SPIN; first += 2) { // TANGENT, ROLLING, SPIN
        friction_group group = {.lifts = first != SS_SPIN};
        for (int i = first; i < first + 2 && i < SS_COMPONENTS; i++)
            if (block->mu[i] > 0.0 && !isinf(block->mu[i])) group.component[group.count++] = i;
        bool joined = block->ellipsoid && count > 0 && groups[0].component[0] < SS_ROLLING;
        if (first == SS_SPIN && joined && group.count)
            groups[0].component[groups[0].count++] = SS_SPIN;
        else if (group.count)
            groups[count++] = group;
    }
    return count;
}

/* x of a group onto the boundary of its disc, in the direction that it has: x_i -> x_i nu / |x / mu|. */
static void put_on_boundary(ss_block_case *block, const friction_group *group)
{
    ss_midrad share[3];
    for (int k = 0; k < group->count; k++) {
        int i = group->component[k];
        share[k] = ss_midrad_multiply(block->x[i], ss_midrad_invert(ss_midrad_of(block->mu[i])));
    }
    ss_midrad scale = ss_midrad_multiply(
        block->x[SS_NORMAL], ss_midrad_invert(ss_midrad_root(sum_of_squares(share, group->count))));
    for (int k = 0; k < group->count; k++)
        block->x[group->component[k]] = ss_midrad_multiply(scale, block->x[group->component[k]]);
}

static void settle(ss_block_case *block, const ss_midrad w[SS_COMPONENTS])
{
    double a = block->inverse_mass[SS_NORMAL], widening = 0.0;
    friction_group groups[3];
    int count = groups_of(block, groups);
    for (int g = 0; block->convex && g < count; g++) {
        if (!groups[g].lifts) continue;
        double sum = 0.0; // the convex law lifts what slides: w_N = |mu w_T|
        for (int k = 0; k < groups[g].count; k++) {
            double y = block->mu[groups[g].component[k]] * w[groups[g].component[k]].high;
            sum += y * y;
        }
        widening += sqrt(sum);
    }
    bool presses = ss_midrad_lower(block->x[SS_NORMAL]) > 0.0 &&
                   a * block->x[SS_NORMAL].high > w[SS_NORMAL].high - widening;
    for (int k = 0; k < SS_COMPONENTS; k++) {
        bool stuck = k != SS_NORMAL && isinf(block->mu[k]);
        if (!stuck && (!presses || (k != SS_NORMAL && block->mu[k] == 0.0))) block->x[k] = ss_midrad_of(0.0);
    }
    block->state = SS_CERTIFIED_OPEN;
    if (!presses) return;

    // a group slips when x - w/a leaves its disc, or x itself is not clearly inside
    block->state = SS_CERTIFIED_STICK;
    for (int g = 0; g < count; g++) {
        double beyond = 0.0, inside = 0.0; // as shares of the disc: squares of impulses may underflow
        for (int k = 0; k < groups[g].count; k++) {
            int i = groups[g].component[k];
            double now = block->x[i].high / block->x[SS_NORMAL].high / block->mu[i];
            double next = (block->x[i].high - w[i].high / block->inverse_mass[i]) / block->x[SS_NORMAL].high /
                          block->mu[i];
            beyond += next * next;
            inside += now * now;
        }
        block->slips[g] = inside > 0.0 && (beyond > 1.0 || inside > 1.0 - 1e-14);
        if (block->slips[g]) put_on_boundary(block, &groups[g]);
        if (block->slips[g] && groups[g].component[0] < SS_ROLLING) block->state = SS_CERTIFIED_SLIP;
    }
    if (block->mu[SS_TANGENT] == 0.0 && block->mu[SS_TANGENT + 1] == 0.0) block->state = SS_CERTIFIED_SLIP;
}

double ss_adjustment(ss_midrad from, ss_midrad to, double inverse_mass)
{
    double change = fabs(to.high - from.high) * inverse_mass;
    return isnan(change) ? INFINITY : change; // an impulse that is not a number has no small one
}

void ss_block_settle(ss_block_case *block, const ss_midrad w[SS_COMPONENTS])
{
    ss_midrad given[SS_COMPONENTS];
    memcpy(given, block->x, sizeof given);
    settle(block, w);
    block->adjusted = 0.0;
    for (int k = 0; k < SS_COMPONENTS; k++) {
        // the coefficient of what turns is a length, where there is one
        double mu = block->mu[k], arm = k >= SS_ROLLING && mu > 0.0 && !isinf(mu) ? mu : 1.0;
        double change = arm * ss_adjustment(given[k], block->x[k], block->inverse_mass[k]);
        block->adjusted = fmax(block->adjusted, change);
    }
}

void ss_order_by_load(const int *load, int count, int *order, int *place)
{
    enum { WAITING = -1, ON_THE_WAY = -2 };
    int done = 0;
    for (int r = 0; r < count; r++) place[r] = WAITING;
    for (int r = 0; r < count; r++) {
        // from load to load down to one that has its place, then back
        int length = 0;
        for (int at = r; at >= 0 && place[at] == WAITING; at = load ? load[at] : -1) {
            place[at] = ON_THE_WAY;
            order[done + length++] = at;
        }
        for (int i = done, j = done + length - 1; i < j; i++, j--) {
            int kept = order[i];
            order[i] = order[j], order[j] = kept;
        }
        for (; length > 0; length--, done++) place[order[done]] = done;
    }
}

int ss_row_settle(ss_midrad *x, ss_midrad lower, ss_midrad upper, double inverse_mass, double w)
{
    if (ss_midrad_lower(ss_midrad_subtract(lower, upper)) > 0.0) return SS_ROW_CONTRADICTS;
    double next = inverse_mass > 0.0 ? x->high - w / inverse_mass : x->high;
    int at = next <= lower.high ? -1 : next >= upper.high ? 1 : 0;

    // at a bound, or wherever it is within both; x may be at a bound although w vanishes
    if (at < 0 || (isfinite(lower.high) && !(x->high > ss_midrad_upper(lower)))) *x = lower;
    if (at > 0 || (isfinite(upper.high) && !(x->high < ss_midrad_lower(upper)))) *x = upper;
    return at;
}

/* ---- distances -------------------------------------------------------------------------------------- */

static double norm_up(double a, double b)
{
    return ss_midrad_up(sqrt(ss_midrad_up(a * a + b * b)));
}

ss_shortfall ss_block_distance(const ss_block_case *block, const ss_midrad w[SS_COMPONENTS])
{
    ss_midrad lift = ss_midrad_of(0.0);
    ss_shortfall result = {.margin = INFINITY};
    friction_group groups[3];
    int count = groups_of(block, groups);

    // no motion along infinite friction, whether or not anything presses
    for (int k = SS_TANGENT; k < SS_COMPONENTS; k++) {
        double *sum = k < SS_ROLLING ? &result.linear : &result.angular;
        if (isinf(block->mu[k])) *sum = norm_up(*sum, ss_midrad_magnitude(w[k]));
    }

    for (int g = 0; g < count; g++) {
        // y = mu w, and the direction of friction c = x / (mu nu), a unit vector where it slips
        ss_midrad y[3], c[3], along = ss_midrad_of(0.0);
        int n = groups[g].count;
        for (int k = 0; k < n; k++)
            y[k] = ss_midrad_multiply(ss_midrad_of(block->mu[groups[g].component[k]]),
                                      w[groups[g].component[k]]);
        if (block->state == SS_CERTIFIED_OPEN) {
            if (groups[g].lifts) lift = ss_midrad_add(lift, ss_midrad_root(sum_of_squares(y, n)));
            continue;
        }
        ss_midrad per = ss_midrad_invert(block->x[SS_NORMAL]);
        for (int k = 0; k < n; k++) {
            int i = groups[g].component[k];
            c[k] = ss_midrad_multiply(block->x[i],
                                      ss_midrad_multiply(per, ss_midrad_invert(ss_midrad_of(block->mu[i]))));
            along = ss_midrad_add(along, ss_midrad_multiply(c[k], y[k]));
        }

        // sticking: y = 0. Slipping: y = -s c for some s >= 0, and the nearest one is s = -c . y; any will do
        ss_midrad speed = block->slips[g] && along.high < 0.0 ? ss_midrad_negate(along) : ss_midrad_of(0.0);
        speed.radius = 0.0;
        for (int k = 0; k < n; k++) {
            int i = groups[g].component[k];
            ss_midrad rest = ss_midrad_add(y[k], ss_midrad_multiply(speed, c[k]));
            double off =
                ss_midrad_magnitude(ss_midrad_multiply(rest, ss_midrad_invert(ss_midrad_of(block->mu[i]))));
            double *sum = i < SS_ROLLING ? &result.linear : &result.angular;
            *sum = norm_up(*sum, off);
            if (i >= SS_ROLLING) result.turning = norm_up(result.turning, off * block->mu[i]);
        }
        if (groups[g].lifts) lift = ss_midrad_add(lift, speed);

        // how far from the other state
        if (groups[g].component[0] >= SS_ROLLING) continue;
        if (block->slips[g]) {
            result.margin = speed.high / block->mu[groups[g].component[0]];
        } else {
            double used = sqrt(sum_of_squares(c, n).high);
            result.margin = (1.0 - used) * block->x[SS_NORMAL].high * block->inverse_mass[SS_NORMAL];
        }
    }

    // the normal: w_N = 0 where it presses, w_N >= 0 where it does not; the convex law adds what slides
    ss_midrad normal = block->convex ? ss_midrad_subtract(w[SS_NORMAL], lift) : w[SS_NORMAL];
    double short_of =
        block->state == SS_CERTIFIED_OPEN ? fmax(0.0, -ss_midrad_lower(normal)) : ss_midrad_magnitude(normal);
    result.linear = norm_up(result.linear, short_of);
    double presses = block->x[SS_NORMAL].high * block->inverse_mass[SS_NORMAL];
    result.margin = block->state == SS_CERTIFIED_OPEN ? normal.high : fmin(result.margin, presses);
    return result;
}

ss_midrad ss_block_lift(const ss_block_case *block, const ss_midrad w[SS_COMPONENTS])
{
    friction_group groups[3];
    int count = groups_of(block, groups);
    ss_midrad left = w[SS_NORMAL];
    for (int g = 0; g < count; g++) {
        ss_midrad y[3];
        for (int k = 0; k < groups[g].count; k++)
            y[k] = ss_midrad_multiply(ss_midrad_of(block->mu[groups[g].component[k]]),
                                      w[groups[g].component[k]]);
        left = ss_midrad_subtract(left, ss_midrad_root(sum_of_squares(y, groups[g].count)));
    }
    return left;
}

double ss_row_distance(ss_midrad w, int at)
{
    if (at == SS_ROW_CONTRADICTS) return INFINITY;
    if (at < 0) return fmax(0.0, -ss_midrad_lower(w));
    if (at > 0) return fmax(0.0, ss_midrad_upper(w));
    return ss_midrad_magnitude(w);
}
