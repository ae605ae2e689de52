#include "solver/newton/newton_fischer.h"

#include <math.h>
#include <string.h>

#include "solver/newton/newton_natural.h"

/* ---- rows ------------------------------------------------------------------------------------------- */

typedef struct fischer {
    double value, da, db;
} fischer;

/* phi(a, b) and an element of its generalised gradient; an infinite a gives b. */
static fischer evaluate(double a, double b)
{
    if (isinf(a)) return (fischer){b, 0.0, 1.0};
    double root = sqrt(a * a + b * b);
    if (!(root > 0.0)) return (fischer){0.0, 1.0 - sqrt(0.5), 1.0 - sqrt(0.5)};
    double value = a > 0.0 && b > 0.0 ? 2.0 * a * b / (a + b + root) : a + b - root;
    return (fischer){value, 1.0 - a / root, 1.0 - b / root};
}

/* d phi = x_part dx + lower_part dl + upper_part du + w_part dw */
typedef struct row_fischer {
    double value, x_part, lower_part, upper_part, w_part;
} row_fischer;

static row_fischer evaluate_row(double x, double w, double lower, double upper)
{
    fischer inner = evaluate(upper - x, -w); // da: by u - x, db: by -w
    fischer outer = evaluate(x - lower, -inner.value);
    return (row_fischer){.value = outer.value,
                         .x_part = outer.da + outer.db * inner.da,
                         .lower_part = -outer.da,
                         .upper_part = -outer.db * inner.da,
                         .w_part = outer.db * inner.db};
}

static void rows(const ss_newton_space *space, const ss_newton_node *node, const double *r, const double *u,
                 double *phi, double *F, double *B)
{
    int n = node->size;
    for (int k = 0; k < n; k++) {
        int i = node->first + k, partner = space->partner[i];
        double limit = partner >= 0 ? space->factor[i] * fabs(r[partner]) : INFINITY;
        double lower = fmax(space->lower[i], -limit), upper = fmin(space->upper[i], limit);
        row_fischer row = evaluate_row(r[i], u[i], lower, upper);
        phi[k] = row.value;
        if (lower == upper) phi[k] = r[i] - lower, row = (row_fischer){.x_part = 1.0, .lower_part = -1.0};
        if (!F) continue;
        F[k * n + k] = row.x_part;
        B[k * n + k] = row.w_part;
        bool is_own = partner >= node->first && partner < node->first + n;
        if (!is_own) continue;
        double slope = r[partner] < 0.0 ? -space->factor[i] : space->factor[i];
        double change = (lower == -limit ? -row.lower_part : 0.0) + (upper == limit ? row.upper_part : 0.0);
        F[k * n + partner - node->first] += change * slope;
    }
}

/* ---- cones ------------------------------------------------------------------------------------------ */

enum { MAX = 3 };

/* (s o s + z o z)^1/2: its eigenvalues, and the unit vector its tail points to. */
typedef struct jordan_root {
    double large, small, axis[MAX];
} jordan_root;

static double determinant(int n, const double *s)
{
    double tail = 0.0;
    for (int i = 1; i < n; i++) tail += s[i] * s[i];
    tail = sqrt(tail);
    return (s[0] - tail) * (s[0] + tail);
}

/* det(s o s + z o z) as a sum of squares: the small eigenvalue keeps its digits where both points are on the
 * boundary. */
static double determinant_of_squares(int n, const double *s, const double *z)
{
    double ds = determinant(n, s), dz = determinant(n, z), inner = s[0] * z[0], mixed = 0.0;
    double cross = n == 3 ? s[1] * z[2] - s[2] * z[1] : 0.0;
    for (int i = 1; i < n; i++) {
        double part = s[0] * z[i] - z[0] * s[i];
        inner -= s[i] * z[i];
        mixed += part * part;
    }
    return ds * ds + dz * dz + 2.0 * (inner * inner + mixed + cross * cross);
}

static jordan_root root_of_squares(int n, const double *s, const double *z)
{
    jordan_root root = {0};
    double head = 0.0, length = 0.0;
    for (int i = 0; i < n; i++) head += s[i] * s[i] + z[i] * z[i];
    for (int i = 1; i < n; i++) {
        root.axis[i] = 2.0 * (s[0] * s[i] + z[0] * z[i]);
        length += root.axis[i] * root.axis[i];
    }
    length = sqrt(length);
    for (int i = 1; i < n; i++) root.axis[i] = length > 0.0 ? root.axis[i] / length : 0.0;
    if (!(head > 0.0)) return root;
    root.large = sqrt(head + length);
    root.small = fmin(sqrt(determinant_of_squares(n, s, z)) / root.large, root.large);
    return root;
}

static void vector_of(int n, jordan_root root, double *vector)
{
    vector[0] = 0.5 * (root.large + root.small);
    for (int i = 1; i < n; i++) vector[i] = 0.5 * (root.large - root.small) * root.axis[i];
}

/* x with root o x = a o e_j, for all j: the columns of the derivative of the root. */
static void divide_by_root(int n, jordan_root root, const double *a, double *Q)
{
    double vector[MAX];
    vector_of(n, root, vector);
    for (int j = 0; j < n; j++) {
        double b[MAX] = {a[j]}, cross = 0.0;
        if (j > 0) b[j] = a[0];
        for (int i = 1; j == 0 && i < n; i++) b[i] = a[i];
        for (int i = 1; i < n; i++) cross += vector[i] * b[i];
        Q[j] = (vector[0] * b[0] - cross) / (root.large * root.small);
        for (int i = 1; i < n; i++) Q[i * n + j] = (b[i] - Q[j] * vector[i]) / vector[0];
    }
}

/* On the boundary the derivative does not exist: that of a root a hair inside stands for it. */
static jordan_root keep_inside(jordan_root root)
{
    static const double hair = 1e-12, nothing = 1e-150;
    root.large = fmax(root.large, nothing);
    root.small = fmax(root.small, hair * root.large);
    return root;
}

static void lorentz(const ss_newton_node *node, const double *r, const double *u, double *phi, double *F,
                    double *B)
{
    int n = node->size;
    double mu = node->mu, s[MAX] = {mu * r[0]}, z[MAX] = {0}, t[MAX] = {0}, vector[MAX], speed = 0.0;
    for (int i = 1; i < n; i++) {
        s[i] = r[i];
        z[i] = u[i];
        speed += u[i] * u[i];
    }
    speed = node->law == SS_LAW_CONE ? sqrt(speed) : 0.0;
    z[0] = u[0] / mu + speed;
    jordan_root root = root_of_squares(n, s, z);
    vector_of(n, root, vector);
    for (int i = 0; i < n; i++) phi[i] = s[i] + z[i] - vector[i];
    if (!F) return;
    double S[MAX * MAX], Z[MAX * MAX];
    divide_by_root(n, keep_inside(root), s, S);
    divide_by_root(n, keep_inside(root), z, Z);
    for (int i = 1; i < n; i++) t[i] = speed > 0.0 ? u[i] / speed : 0.0;
    for (int i = 0; i < n; i++) {
        double head = (i == 0 ? 1.0 : 0.0) - Z[i * n];
        for (int j = 0; j < n; j++) {
            double one = i == j ? 1.0 : 0.0;
            F[i * n + j] = (one - S[i * n + j]) * (j == 0 ? mu : 1.0);
            B[i * n + j] = j == 0 ? head / mu : one - Z[i * n + j] + head * t[j];
        }
    }
}

/* The natural map, and in a contact under Coulomb's law its normal row replaced. */
static void mixed(const ss_newton_space *space, const ss_newton_node *node, const double *r, const double *u,
                  double *phi, double *F, double *B)
{
    ss_newton_natural(space, node, 1.0, r, u, phi, F, B);
    if (node->law != SS_LAW_CONE) return;
    fischer normal = evaluate(r[node->first], u[node->first]);
    phi[0] = normal.value;
    if (!F) return;
    for (int j = 0; j < node->size; j++) F[j] = B[j] = 0.0;
    F[0] = normal.da;
    B[0] = normal.db;
}

void ss_newton_fischer(const ss_newton_space *space, const ss_newton_node *node, const double *r,
                       const double *u, double *phi, double *F, double *B)
{
    size_t bytes = (size_t)(node->size * node->size) * sizeof *F;
    if (F) memset(F, 0, bytes);
    if (F) memset(B, 0, bytes);
    bool is_lorentz = node->size <= MAX && node->mu > 0.0 && !isinf(node->mu);
    if (node->law == SS_LAW_BOX)
        rows(space, node, r, u, phi, F, B);
    else if (is_lorentz)
        lorentz(node, r + node->first, u + node->first, phi, F, B);
    else
        mixed(space, node, r, u, phi, F, B);
}
