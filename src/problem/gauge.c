#include "linalg/vector.h"
#include "problem/gauge.h"

#include <math.h>
#include <string.h>

#include "base/team.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"

/* ---- one scalar row --------------------------------------------------------------------------------- */

/* phi(a, b) = a + b - sqrt(a^2 + b^2), without cancellation when both are positive. An infinite a gives b. */
static double fischer(double a, double b)
{
    if (isinf(a)) return b;
    double root = hypot(a, b);
    return a > 0.0 && b > 0.0 ? 2.0 * a * b / (a + b + root) : a + b - root;
}

/* The functions of the C library are calls; what is not a number stays that here. */
static inline double clamp(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

static inline double larger_of(double x, double y)
{
    return y > x ? y : x;
}

static inline double positive_part(double x)
{
    return x > 0.0 ? x : 0.0;
}

/* 1/2 a (x - P(x - w/a))^2. Without a mass, not even a borrowed one, nothing moves however large the
 * impulse: what counts then is the work of an impulse that should not be there, which is endless where no
 * bound stops it. */
static inline double row_energy(double x, double w, double lower, double upper, double a)
{
    if (a > 0.0) {
        double step = x - clamp(x - w / a, lower, upper);
        return 0.5 * a * step * step;
    }
    return w > 0.0 ? w * positive_part(x - lower) : w < 0.0 ? -w * positive_part(upper - x) : 0.0;
}

static inline void add_row(double x, double w, double lower, double upper, double a, unsigned wanted,
                           ss_gauge_part *part)
{
    double below = x - lower, above = upper - x;
    double up = positive_part(w), down = positive_part(-w); // w = w+ - w-
    if (wanted & SS_WANT_ENERGY) part->energy += row_energy(x, w, lower, upper, a);
    if (wanted == SS_WANT_ENERGY) return;
    if (lower == upper) up = down = 0.0; // a fixed unknown: any w is right
    if (wanted & SS_WANT_NATURAL_RESIDUAL) {
        part->natural_residual += fmax(fabs(fmin(above, down)), fabs(fmin(below, up)));
    }
    if (wanted & SS_WANT_FISCHER_BURMEISTER) {
        part->fischer_burmeister += fmax(fabs(fischer(above, down)), fabs(fischer(below, up)));
    }
}

/* A contact without friction of any kind is a row x_N >= 0, w_N >= 0; its other unknowns have to be zero. */
static inline bool is_frictionless(const ss_block *block)
{
    return block->mu == 0.0 && (!ss_cone_rolls(block->size) || block->mu_rolling == 0.0);
}

static void add_frictionless(const ss_block *block, const double *diagonal, const double *x, const double *w,
                             unsigned wanted, ss_gauge_part *part)
{
    for (int i = block->first; i < block->first + block->size; i++) {
        double upper = i == block->first ? INFINITY : 0.0;
        if (wanted & SS_WANT_NATURAL_MAP) {
            double step = x[i] - clamp(x[i] - w[i], 0.0, upper);
            part->natural_map_squared += step * step;
        }
        if (wanted != SS_WANT_NATURAL_MAP) add_row(x[i], w[i], 0.0, upper, diagonal[i], wanted, part);
    }
}

/* ---- one cone --------------------------------------------------------------------------------------- */

enum { MAX_CONE = SS_CONE_DIMENSION };

/* De Saxce's velocity: w~ = w + (mu |w_T| + mu_r |w_M|) e_N, for the convex law w itself. */
void ss_block_dual(const ss_block *block, const double *w, double *dual)
{
    if (dual != w) memcpy(dual, w, (size_t)block->size * sizeof *dual);
    if (block->law == SS_LAW_CONE) ss_friction_cone_shift(ss_block_cone(block), dual);
}

/* |x - P(x - w~)| */
static double step_length(const ss_block *block, const double *x, const double *dual)
{
    int size = block->size;
    double y[MAX_CONE];
    for (int i = 0; i < size; i++) y[i] = x[i] - dual[i];
    ss_friction_cone_project(ss_block_cone(block), y);
    for (int i = 0; i < size; i++) y[i] = x[i] - y[i];
    return ss_norm(size, y);
}

/* The product of the two eigenvalues of z = x o x + y o y, z_0^2 - |z_1|^2, as a sum of squares: for slow
 * sliding the smaller one is the difference of numbers that agree in half their digits or all of them. */
static inline double product_of_eigenvalues(int tangents, double x0, const double *x1, double y0,
                                            const double *y1)
{
    double x = ss_norm(tangents, x1), y = ss_norm(tangents, y1), angle = 0.0;
    double side = x0 * y0 < 0.0 ? -1.0 : 1.0;
    x0 = fabs(x0), y0 = fabs(y0);
    // |x_1| |y_1| - side x_1 . y_1 is half the square of this over |x_1| |y_1|
    for (int i = 0; i < tangents && x > 0.0 && y > 0.0; i++) {
        double apart = x1[i] / x - side * y1[i] / y;
        angle += apart * apart;
    }
    double in_x = (x0 - x) * (x0 + x), in_y = (y0 - y) * (y0 + y), across = x0 * y - y0 * x,
           along = x0 * y0 - x * y;
    return in_x * in_x + in_y * in_y +
           2.0 * (across * across + along * along + 2.0 * x0 * y0 * x * y * angle);
}

/* The Fischer-Burmeister function of the Lorentz cone, |x + y - (x o x + y o y)^1/2| with x = T r, y = T^-1
 * w~, T = diag(mu, 1, 1): the two have a common cone then. z = x o x + y o y has eigenvalues z0 +- |z_1|. */
static inline double fischer_lorentz(double mu, int tangents, const double *r, const double *dual)
{
    if (!(mu > 0.0) || isinf(mu)) { // no cone: a row, and what may not be there
        double slack = mu > 0.0 ? ss_norm(tangents, dual + 1) : ss_norm(tangents, r + 1);
        return hypot(fischer(r[0], dual[0]), slack);
    }
    double x0 = mu * r[0], y0 = dual[0] / mu, z1[MAX_CONE] = {0};
    double z0 = x0 * x0 + y0 * y0;
    for (int i = 0; i < tangents; i++) {
        double x = r[1 + i], y = dual[1 + i];
        z0 += x * x + y * y;
        z1[i] = 2.0 * (x0 * x + y0 * y);
    }
    double larger = z0 + ss_norm(tangents, z1);
    if (!(larger > 0.0)) return 0.0; // all is zero
    double smaller = product_of_eigenvalues(tangents, x0, r + 1, y0, dual + 1) / larger;
    // the root is (s0, z_1 / (2 s0)): its eigenvalues are the roots of those of z
    double s0 = 0.5 * (sqrt(larger) + sqrt(smaller)), phi = x0 + y0 - s0, sum = phi * phi;
    for (int i = 0; i < tangents; i++) {
        phi = r[1 + i] + dual[1 + i] - 0.5 * z1[i] / s0;
        sum += phi * phi;
    }
    return sqrt(sum);
}

/* Rolling friction has two cones over one normal impulse. What w~_N is above the share of one of them belongs
 * to the other: both functions are zero just where r and w~ are complementary in the two together. */
static double fischer_rolling(const ss_block *block, const double *r, const double *dual)
{
    int tangents = ss_cone_tangents(block->size), at = ss_cone_rolling(block->size);
    double slides = block->mu > 0.0 ? ss_norm(tangents, dual + 1) : 0.0;
    double rolls = block->mu_rolling > 0.0 ? ss_norm(2, dual + at) : 0.0;
    double slide_share = slides > 0.0 && isfinite(block->mu) ? block->mu * slides : 0.0;
    double roll_share = rolls > 0.0 && isfinite(block->mu_rolling) ? block->mu_rolling * rolls : 0.0;
    const double rolling_r[3] = {r[0], r[at], r[at + 1]};
    const double sliding_dual[4] = {dual[0] - roll_share, dual[1], dual[2], dual[3]};
    const double rolling_dual[3] = {dual[0] - slide_share, dual[at], dual[at + 1]};
    return hypot(fischer_lorentz(block->mu, tangents, r, sliding_dual),
                 fischer_lorentz(block->mu_rolling, 2, rolling_r, rolling_dual));
}

static double fischer_of(const ss_block *block, const double *r, const double *dual)
{
    if (ss_cone_rolls(block->size)) return fischer_rolling(block, r, dual);
    // the compiler should know the size of a usual contact
    return block->size == 3 ? fischer_lorentz(block->mu, 2, r, dual)
                            : fischer_lorentz(block->mu, block->size - 1, r, dual);
}

/* Fourth powers must stay in range; a power of two changes no digit, and the function is homogeneous. */
static double fischer_cone(const ss_block *block, const double *r, const double *dual)
{
    static const double large = 1e70, small = 1e-70;
    double most = 0.0, scaled_r[MAX_CONE], scaled_dual[MAX_CONE];
    for (int i = 0; i < block->size; i++) most = larger_of(most, larger_of(fabs(r[i]), fabs(dual[i])));
    bool is_in_range = most > small && most < large;
    if (is_in_range || !(most > 0.0 && most < INFINITY)) return fischer_of(block, r, dual);
    int exponent = ilogb(most);
    for (int i = 0; i < block->size; i++) {
        scaled_r[i] = ldexp(r[i], -exponent);
        scaled_dual[i] = ldexp(dual[i], -exponent);
    }
    return ldexp(fischer_of(block, scaled_r, scaled_dual), exponent);
}

/* One number for the block, so that the projection stays Euclidean: the mean over normal, tangents and
 * spinning. Rolling rows have another unit and are left out of it. */
double ss_block_inverse_mass(const ss_block *block, const double *diagonal)
{
    int rows = 1 + ss_cone_tangents(block->size);
    double sum = 0.0;
    for (int i = 0; i < rows; i++) sum += diagonal[block->first + i];
    return sum / rows;
}

/* The same without a mass, as for a row: endless where w~ cannot be in K*, otherwise the work. Coulomb's law
 * shifts every w_N >= 0 into K*; that is asked of w, because w~ is rounded. Apart: it is rare. */
__attribute__((noinline, cold)) static double cone_energy_without_mass(const ss_block *block, const double *r,
                                                                       const double *w)
{
    int forces = 1 + ss_cone_tangents(block->size);
    double dual[MAX_CONE], least = 0.0;
    ss_block_dual(block, w, dual);
    double work = r[0] * dual[0];
    for (int first = 1; first < block->size; first = first < forces ? forces : block->size) {
        int count = (first < forces ? forces : block->size) - first;
        double mu = first < forces ? block->mu : block->mu_rolling, speed = ss_norm(count, w + first);
        if (isinf(mu) && speed > 0.0) return INFINITY;
        if (block->law == SS_LAW_CONVEX && !isinf(mu)) least += mu * speed;
        for (int i = first; i < first + count && mu > 0.0; i++) work += r[i] * dual[i];
    }
    return w[0] >= least ? positive_part(work) : INFINITY;
}

/* 1/2 a |x - P(x - w~/a)|^2. Moments are counted in units of the length at which they have the mass of the
 * contact, l^2 = a / a_M, so that one norm and one projection serve both: the energy is the same in any unit
 * of length. Directions without friction do not belong to the cone; they are rows that have to be zero. */
static double cone_energy(const ss_block *block, const double *diagonal, const double *r, const double *w,
                          const double *dual)
{
    int size = block->size, forces = 1 + ss_cone_tangents(size);
    const double *own = diagonal + block->first;
    ss_friction_cone cone = ss_block_cone(block);
    double a = block->mu > 0.0 ? ss_block_inverse_mass(block, diagonal) : own[0];
    double energy = 0.0;
    if (!(a > 0.0)) return cone_energy_without_mass(block, r, w);
    // zero where nothing can turn: moments make no difference then
    double per_length = ss_cone_rolls(size) ? sqrt(0.5 * (own[forces] + own[forces + 1]) / a) : 0.0;
    cone.mu_rolling *= per_length;
    double x[MAX_CONE], y[MAX_CONE], sum = 0.0;
    for (int i = 0; i < size; i++) {
        bool is_absent = i > 0 && (i < forces ? cone.mu : cone.mu_rolling) == 0.0;
        double unit = i < forces ? 1.0 : per_length;
        if (is_absent) energy += 0.5 * own[i] * r[i] * r[i];
        x[i] = is_absent ? 0.0 : r[i] * unit;
        y[i] = is_absent ? 0.0 : x[i] - dual[i] / (unit * a);
    }
    ss_friction_cone_project(cone, y);
    for (int i = 0; i < size; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return energy + 0.5 * a * sum;
}

static void add_cone(const ss_block *block, const double *diagonal, const double *x, const double *w,
                     unsigned wanted, ss_gauge_part *part)
{
    const double *r = x + block->first, *u = w + block->first;
    double dual[MAX_CONE];
    ss_block_dual(block, u, dual);
    if (wanted & SS_WANT_ENERGY) part->energy += cone_energy(block, diagonal, r, u, dual);
    if (wanted & (SS_WANT_NATURAL_RESIDUAL | SS_WANT_NATURAL_MAP)) {
        double step = step_length(block, r, dual);
        part->natural_residual += step;
        part->natural_map_squared += step * step;
    }
    if (wanted & SS_WANT_FISCHER_BURMEISTER) part->fischer_burmeister += fischer_cone(block, r, dual);
}

/* De Saxce's velocity of a usual contact, in space or in the plane, as ss_block_dual has it. */
static inline void usual_dual(const ss_block *block, const double *u, double dual[3])
{
    double slip = block->size == 3 ? sqrt(u[1] * u[1] + u[2] * u[2]) : fabs(u[1]);
    dual[0] = block->law == SS_LAW_CONE ? u[0] + block->mu * slip : u[0];
    dual[1] = u[1];
    if (block->size == 3) dual[2] = u[2];
}

/* |r - P(r - w~ / divisor)| of a usual contact: as add_cone has it, without loops. */
static inline double spatial_step(double mu, const double *r, const double dual[3], double divisor)
{
    double y[3] = {r[0] - dual[0] / divisor, r[1] - dual[1] / divisor, r[2] - dual[2] / divisor};
    ss_spatial_cone_project(mu, y);
    for (int i = 0; i < 3; i++) y[i] = r[i] - y[i];
    return sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
}

static inline double planar_step(double mu, const double *r, const double dual[2], double divisor)
{
    double n = r[0] - dual[0] / divisor, t = r[1] - dual[1] / divisor;
    double height = fabs(t) - mu * n > 0.0 ? (n + mu * fabs(t)) / (1.0 + mu * mu) : n;
    if (!(height > 0.0)) height = 0.0;
    if (fabs(t) > mu * height) t *= mu * height / fabs(t);
    double dn = r[0] - height, dt = r[1] - t;
    return sqrt(dn * dn + dt * dt);
}

static inline double usual_step(const ss_block *block, const double *r, const double *dual, double divisor)
{
    return block->size == 3 ? spatial_step(block->mu, r, dual, divisor)
                            : planar_step(block->mu, r, dual, divisor);
}

/* What add_cone does, for a usual contact: measured at every iteration. */
static inline void add_usual(const ss_block *block, const double *diagonal, const double *x, const double *w,
                             unsigned wanted, ss_gauge_part *sum)
{
    const double *r = x + block->first, *own = diagonal + block->first;
    double a = block->size == 3 ? (own[0] + own[1] + own[2]) / 3 : (own[0] + own[1]) / 2, dual[3];
    usual_dual(block, w + block->first, dual);
    if (wanted & SS_WANT_ENERGY && a > 0.0) {
        double step = usual_step(block, r, dual, a);
        sum->energy += 0.5 * a * step * step;
    } else if (wanted & SS_WANT_ENERGY) {
        sum->energy += cone_energy_without_mass(block, r, w + block->first);
    }
    if (wanted & (SS_WANT_NATURAL_RESIDUAL | SS_WANT_NATURAL_MAP)) {
        double step = usual_step(block, r, dual, 1.0);
        sum->natural_residual += step;
        sum->natural_map_squared += step * step;
    }
    if (wanted & SS_WANT_FISCHER_BURMEISTER) sum->fischer_burmeister += fischer_cone(block, r, dual);
}

static inline bool is_usual(const ss_block *block)
{
    return (block->size == 3 || block->size == 2) && ss_law_is_cone(block->law) && block->mu > 0.0 &&
           !isinf(block->mu);
}

ss_gauge_part ss_gauge_of_block(const ss_problem *problem, const double *diagonal, int k, const double *x,
                                const double *w, unsigned wanted)
{
    ss_gauge_part part = {0};
    const ss_block *block = &problem->blocks[k];
    if (ss_law_is_cone(block->law)) {
        if (is_usual(block))
            add_usual(block, diagonal, x, w, wanted, &part);
        else if (is_frictionless(block))
            add_frictionless(block, diagonal, x, w, wanted, &part);
        else
            add_cone(block, diagonal, x, w, wanted, &part);
        return part;
    }
    for (int i = block->first; i < block->first + block->size; i++) {
        double lower, upper;
        ss_row_bounds(problem, x, i, &lower, &upper);
        add_row(x[i], w[i], lower, upper, diagonal[i], wanted, &part);
    }
    return part;
}

/* ---- the whole problem ------------------------------------------------------------------------------ */

static unsigned parts_for(unsigned mask)
{
    unsigned wanted = 0;
    if (mask & (1u << SS_GAUGE_ENERGY | 1u << SS_GAUGE_RELATIVE_ENERGY)) wanted |= SS_WANT_ENERGY;
    if (mask & 1u << SS_GAUGE_NATURAL_RESIDUAL) wanted |= SS_WANT_NATURAL_RESIDUAL;
    if (mask & 1u << SS_GAUGE_FISCHER_BURMEISTER) wanted |= SS_WANT_FISCHER_BURMEISTER;
    if (mask & 1u << SS_GAUGE_NATURAL_MAP) wanted |= SS_WANT_NATURAL_MAP;
    return wanted;
}

static bool gauge_applies(const ss_problem *problem, int gauge)
{
    return gauge != SS_GAUGE_NATURAL_MAP || ss_problem_laws(problem) & (SS_LAW_CONE | SS_LAW_CONVEX);
}

/* Of the terms of b. */
static const double few_roundings = 1e-15;

/* J: the energy to compare with */
static double reference_energy(const ss_gauge_scale *scale)
{
    double energy = fmax(scale->start_energy, scale->rounding_energy);
    return energy > 0.0 ? energy : 1.0;
}

double ss_gauge_relative_energy(const ss_gauge_scale *scale, double energy)
{
    if (scale->is_beyond) return INFINITY;
    return energy <= scale->rounding_energy ? 0.0 : sqrt(energy / reference_energy(scale));
}

double ss_gauge_energy_at(const ss_gauge_scale *scale, double relative)
{
    return fmax(relative * relative * reference_energy(scale), scale->rounding_energy);
}

static void add_part(const ss_gauge_part *part, ss_gauge_part *sum)
{
    sum->energy += part->energy;
    sum->natural_residual += part->natural_residual;
    sum->fischer_burmeister += part->fischer_burmeister;
    sum->natural_map_squared += part->natural_map_squared;
}

/* A fixed number of blocks at a time, whose numbers fit on the stack, by all threads; they are added in
 * order. Most often the energy alone is wanted. */
enum { NUMBERS = 8192, AT_ONCE = 128 };

typedef struct measuring {
    const ss_problem *problem;
    const double *diagonal, *x, *w;
    unsigned wanted;
    int first;  // block
    int fields; // of ss_gauge_part that are kept of every block, from the energy on
    double number[NUMBERS];
} measuring;

static void measure_blocks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    measuring *of = context;
    for (int64_t k = begin; k < end; k++) {
        ss_gauge_part part =
            ss_gauge_of_block(of->problem, of->diagonal, of->first + (int)k, of->x, of->w, of->wanted);
        double *to = of->number + of->fields * k;
        if (of->fields == 1)
            *to = part.energy;
        else
            memcpy(to, &part, sizeof part);
    }
}

ss_team *ss_gauge_team(const ss_gauge_scale *scale, const ss_problem *problem)
{
    static const double block = 20.0, lines = 0.15; // ns; of x and w, which others have written
    return ss_team_for(scale->team, block * problem->block_count, 0.0, lines * problem->block_count);
}

/* Impulses so large that b is lost in A x + b: their squares are this many times those of the load, a hundred
 * roundings. */
static const double too_large = 1e28;

/* Where b is a sum of terms that cancel, those count. */
static bool loses_load(const ss_problem *problem, const ss_gauge_scale *scale, double of_x)
{
    double of_b = 2.0 * scale->rounding_energy / (few_roundings * few_roundings);
    for (int i = 0; i < problem->size; i++) {
        double a = scale->inverse_mass[i];
        if (a > 0.0) of_b += problem->b[i] * problem->b[i] / a;
    }
    return of_b > 0.0 && of_x > too_large * of_b;
}

/* The gauges that are nothing only because rounding has made them so, as bits 1 << gauge. Impulses in which b
 * is lost have no error, and solve nothing. The natural map, whose step is 1 in place of a mass, may lose the
 * velocities in r - u~ before: then the energy has the say. What is lost in part is an error as large as b:
 * only errors of nearly nothing need to be looked at. */
static unsigned lost_gauges(const ss_problem *problem, const ss_gauge_scale *scale, const double *x,
                            const double *w, const double *values)
{
    static const double nearly_nothing = 1e-9, unsolved = 1e-3;
    double load = scale->load, small = nearly_nothing * load, of_x = 0.0, impulse = 0.0;
    bool map_seems_solved = values[SS_GAUGE_NATURAL_MAP] < nearly_nothing;
    if (!(values[SS_GAUGE_RELATIVE_ENERGY] < nearly_nothing || map_seems_solved ||
          values[SS_GAUGE_NATURAL_RESIDUAL] < small || values[SS_GAUGE_FISCHER_BURMEISTER] < small))
        return 0;
    for (int i = 0; i < problem->size; i++) {
        impulse += x[i] * x[i];
        of_x += scale->inverse_mass[i] * x[i] * x[i];
    }
    if (of_x > too_large * scale->start_energy && loses_load(problem, scale, of_x)) return ~0u;

    if (!map_seems_solved || !(load > 0.0) || !(impulse > too_large * load * load)) return 0;
    double energy[SS_GAUGE_COUNT];
    ss_gauge_measure(problem, scale, x, w, 1u << SS_GAUGE_RELATIVE_ENERGY, energy);
    bool is_solved = energy[SS_GAUGE_RELATIVE_ENERGY] < unsolved;
    return is_solved ? 0 : 1u << SS_GAUGE_NATURAL_MAP | 1u << SS_GAUGE_NATURAL_RESIDUAL;
}

void ss_gauge_measure(const ss_problem *problem, const ss_gauge_scale *scale, const double *x,
                      const double *w, unsigned mask, double *values)
{
    unsigned wanted = parts_for(mask);
    const double *diagonal = scale->inverse_mass;
    ss_gauge_part sum = {0};
    ss_team *team = ss_gauge_team(scale, problem);
    if (team) {
        enum { FIELDS = sizeof(ss_gauge_part) / sizeof(double) };
        measuring of; // its numbers are written before they are read: nothing to clear
        of.problem = problem, of.diagonal = diagonal, of.x = x, of.w = w, of.wanted = wanted;
        of.fields = wanted == SS_WANT_ENERGY ? 1 : FIELDS;
        int together = NUMBERS / of.fields;
        for (of.first = 0; of.first < problem->block_count; of.first += together) {
            int left = problem->block_count - of.first, count = left < together ? left : together;
            ss_parallel_for(team, count, AT_ONCE, measure_blocks, &of);
            for (int k = 0; k < count && of.fields == 1; k++) sum.energy += of.number[k];
            for (int k = 0; k < count && of.fields > 1; k++) {
                ss_gauge_part part;
                memcpy(&part, of.number + FIELDS * k, sizeof part);
                add_part(&part, &sum);
            }
        }
    } else {
        for (int k = 0; k < problem->block_count; k++) {
            if (is_usual(&problem->blocks[k])) {
                add_usual(&problem->blocks[k], diagonal, x, w, wanted, &sum);
                continue;
            }
            ss_gauge_part part = ss_gauge_of_block(problem, diagonal, k, x, w, wanted);
            add_part(&part, &sum);
        }
    }
    for (int g = 0; g < SS_GAUGE_COUNT; g++) values[g] = NAN;
    if (wanted & SS_WANT_ENERGY) {
        values[SS_GAUGE_ENERGY] = sum.energy;
        values[SS_GAUGE_RELATIVE_ENERGY] = ss_gauge_relative_energy(scale, sum.energy);
    }
    if (wanted & SS_WANT_NATURAL_RESIDUAL) values[SS_GAUGE_NATURAL_RESIDUAL] = sum.natural_residual;
    if (wanted & SS_WANT_FISCHER_BURMEISTER) values[SS_GAUGE_FISCHER_BURMEISTER] = sum.fischer_burmeister;
    if (wanted & SS_WANT_NATURAL_MAP && gauge_applies(problem, SS_GAUGE_NATURAL_MAP)) {
        values[SS_GAUGE_NATURAL_MAP] =
            sqrt(sum.natural_map_squared) / (scale->load > 0.0 ? scale->load : 1.0);
        if (scale->is_beyond) values[SS_GAUGE_NATURAL_MAP] = INFINITY;
    }
    // what was measured and is not a number, or lost, is no small error either
    unsigned lost = lost_gauges(problem, scale, x, w, values);
    double all = sum.energy + sum.natural_residual + sum.fischer_burmeister + sum.natural_map_squared;
    if (isfinite(all) && !lost) return;
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        if ((isnan(values[g]) || lost & 1u << g) && mask & 1u << g && gauge_applies(problem, g))
            values[g] = INFINITY;
    }
}

static double cone_load(const ss_problem *problem)
{
    double sum = 0.0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_law_is_cone(block->law)) continue;
        for (int i = block->first; i < block->first + block->size; i++) sum += problem->b[i] * problem->b[i];
    }
    return sqrt(sum);
}

/* What was lent is negative until all are found, so that it is not lent on in the same pass. Only explicit
 * matrices have such rows. */
bool ss_problem_lend_masses(const ss_problem *problem, double *inverse_mass)
{
    const ss_sparse *A = problem->A;
    bool any = false;
    if (!A) return false;
    for (int i = 0; i < problem->size; i++) {
        if (inverse_mass[i] > 0.0) continue;
        double largest = 0.0;
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            double there = A->value[k], lender = inverse_mass[A->row[k]];
            if (!(lender > 0.0)) continue;
            double back = ss_sparse_get(A, i, A->row[k]);
            largest = fmax(largest, fabs((back != 0.0 ? back : there) * there) / lender);
        }
        inverse_mass[i] = -largest;
        any |= largest > 0.0;
    }
    for (int i = 0; i < problem->size; i++) inverse_mass[i] = fabs(inverse_mass[i]);
    return any;
}

/* The largest velocity and impulse of the loads: of all numbers, in any order. */
typedef struct extent {
    double velocity, impulse;
} extent;

static extent extent_of(const ss_problem *problem, const double *inverse_mass, int begin, int end)
{
    extent all = {0.0, 0.0};
    for (int i = begin; i < end; i++) {
        double b = fabs(problem->b[i]);
        all.velocity = larger_of(all.velocity, b);
        if (inverse_mass[i] > 0.0) all.impulse = larger_of(all.impulse, b / inverse_mass[i]);
    }
    return all;
}

/* Are there velocities or impulses whose squares are too large for numbers, or impulses whose squares
 * are too small? No velocity is too small: one of 1e-150 m/s counts as none, as what is left of a motion
 * that dies down. */
static bool is_beyond(extent all)
{
    static const double large = 1e152, small = 1e-152;
    if (all.velocity > large || all.impulse > large) return true;
    return all.velocity > small && all.impulse > 0.0 && all.impulse < small;
}

/* J v* + c, and the size of its terms. */
static double sum_of_terms(const ss_bodies_form *form, int i, double *size)
{
    double sum = form->offset[i];
    *size = fabs(sum);
    const double *block;
    for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
        for (int k = 0; body >= 0 && k < 6; k++) {
            double term = block[k] * form->free_velocity[body][k];
            sum += term;
            *size += fabs(term);
        }
    }
    return sum;
}

/* What a few roundings in b = J v* + c are worth in energy. They are of the size of its terms, which may be
 * far larger than their sum: the normal velocity of what glides along a slope is all rounding. Where b was
 * set by hand, whatever the bodies do, they are of the size of b. */
static double rounding_energy(const ss_problem *problem, const double *inverse_mass)
{
    bool is_of_bodies = problem->bodies != NULL;
    double of_terms = 0.0, of_b = 0.0;
    for (int i = 0; i < problem->size; i++) {
        double b = fabs(problem->b[i]), size = b, a = inverse_mass[i];
        if (is_of_bodies)
            is_of_bodies = fabs(sum_of_terms(problem->bodies, i, &size) - problem->b[i]) <= 1e-12 * size;
        if (!(a > 0.0)) continue;
        of_terms += size * size / a;
        of_b += b * b / a;
    }
    double energy = 0.5 * few_roundings * few_roundings * (is_of_bodies ? of_terms : of_b);
    return energy < INFINITY ? energy : 0.0;
}

/* Roundings count only where almost nothing is to be done: where the start is a hundred-millionth of the
 * kinetic energy of the free motion, in b terms cancel each other. Elsewhere an error is far above them or no
 * matter. The inertia is taken as the mean over the axes. */
static bool may_be_rounding(const ss_problem *problem, double start_energy)
{
    static const double small = 1e-8;
    const ss_bodies_form *form = problem->bodies;
    double kinetic = 0.0;
    if (!form) return true;
    for (int body = 0; body < form->bodies; body++) {
        const double *v = form->free_velocity[body], *inverse = form->inverse_inertia[body];
        double turning = inverse[0] + inverse[4] + inverse[8];
        double linear = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        double angular = v[3] * v[3] + v[4] * v[4] + v[5] * v[5];
        if (form->inverse_mass[body] > 0.0) kinetic += 0.5 * linear / form->inverse_mass[body];
        if (turning > 0.0) kinetic += 1.5 * angular / turning;
    }
    return !(start_energy > small * kinetic);
}

/* Is P(0) = 0? In a cone it always is. */
static bool allows_zero(const ss_problem *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_law_is_cone(block->law)) continue;
        for (int i = block->first; i < block->first + block->size; i++) {
            if (problem->lower[i] > 0.0 || problem->upper[i] < 0.0) return false;
        }
    }
    return true;
}

/* What is known of the loads. One thread adds up the cones', in order, while others look at the unknowns. */
enum { UNKNOWNS = 2048, MOST_PARTS = 8 };

typedef struct loading {
    const ss_problem *problem;
    const double *inverse_mass;
    double *x, *w; // no impulses, and what is wanted then
    double cones;
    int parts;
    extent part[MOST_PARTS];
} loading;

static void look_at_loads(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    loading *of = context;
    for (int64_t k = begin; k < end; k++) {
        if (k == 0) {
            of->cones = cone_load(of->problem);
            continue;
        }
        int64_t size = of->problem->size;
        int first = (int)(size * (k - 1) / of->parts), last = (int)(size * k / of->parts);
        size_t bytes = (size_t)(last - first) * sizeof *of->x;
        of->part[k - 1] = extent_of(of->problem, of->inverse_mass, first, last);
        if (bytes == 0) continue;
        memset(of->x + first, 0, bytes);
        memcpy(of->w + first, of->problem->b + first, bytes);
    }
}

ss_gauge_scale ss_gauge_scale_of(const ss_problem *problem, ss_team *team, double *x, double *w,
                                 double *scratch, double *inverse_mass)
{
    enum { UNKNOWN = 2 }; // ns
    size_t bytes = (size_t)problem->size * sizeof *x;
    memcpy(inverse_mass, problem->diagonal, bytes);
    ss_problem_lend_masses(problem, inverse_mass);
    loading of = {.problem = problem, .inverse_mass = inverse_mass, .x = x, .w = w};
    of.parts = problem->size < UNKNOWNS * MOST_PARTS ? 1 + problem->size / UNKNOWNS : MOST_PARTS;
    ss_parallel_for(ss_team_for_loop(team, problem->size, UNKNOWN), 1 + of.parts, 1, look_at_loads, &of);
    extent all = {0.0, 0.0};
    for (int k = 0; k < of.parts; k++) {
        all.velocity = larger_of(all.velocity, of.part[k].velocity);
        all.impulse = larger_of(all.impulse, of.part[k].impulse);
    }
    ss_gauge_scale scale = {
        .load = of.cones, .is_beyond = is_beyond(all), .inverse_mass = inverse_mass, .team = team};
    if (!allows_zero(problem)) {
        ss_problem_project(problem, x);
        ss_problem_apply(problem, x, scratch, w);
    }
    double values[SS_GAUGE_COUNT];
    ss_gauge_measure(problem, &scale, x, w, 1u << SS_GAUGE_ENERGY, values);
    scale.start_energy = values[SS_GAUGE_ENERGY];
    if (may_be_rounding(problem, scale.start_energy))
        scale.rounding_energy = rounding_energy(problem, inverse_mass);
    return scale;
}

bool ss_problem_measure(const ss_problem *problem, const double *x, double values[SS_GAUGE_COUNT],
                        ss_error *err)
{
    size_t n = (size_t)problem->size;
    double *start = ss_allocate(n, sizeof *start), *w = ss_allocate(n, sizeof *w);
    double *inverse_mass = ss_allocate(n, sizeof *inverse_mass);
    double *scratch = ss_allocate((size_t)ss_problem_scratch(problem), sizeof *scratch);
    bool good = start && w && inverse_mass && scratch;
    if (good) {
        ss_gauge_scale scale = ss_gauge_scale_of(problem, NULL, start, w, scratch, inverse_mass);
        ss_problem_apply(problem, x, scratch, w);
        ss_gauge_measure(problem, &scale, x, w, (1u << SS_GAUGE_COUNT) - 1, values);
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for measuring %d unknowns", problem->size);
    }
    ss_release(start);
    ss_release(w);
    ss_release(inverse_mass);
    ss_release(scratch);
    return good;
}

const char *ss_gauge_name(ss_gauge gauge)
{
    static const char *const names[] = {
#define GAUGE_NAME(code, name) [code] = name,
        SS_GAUGE_LIST(GAUGE_NAME)
#undef GAUGE_NAME
    };
    return gauge >= 0 && gauge < SS_GAUGE_COUNT ? names[gauge] : "none";
}
