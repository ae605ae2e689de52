#include "frame/check_generalized.h"
#include "frame/checker.h"

#include "base/partition.h"
#include "frame/fields.h"
#include "linalg/reverse_ldl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Products of T with joint rows, velocities and masses are sums of a few numbers each. What is left of the
 * fifteen digits after a chain of hundreds of links is far below this share of the terms. */
static const double rounding = 1e-9;

/* ---- arrays ----------------------------------------------------------------------------------------- */

static void check_trees(ss_checker *c)
{
    const ss_generalized *g = &c->frame->generalized;
    int next = 0;
    for (int t = 0; t < g->trees; t++) {
        if (g->tree[t][0] != next || g->tree[t][1] < 1 || g->tree[t][1] > g->count - next) {
            ss_checker_report(
                c, SS_FINDING_FAULT, "generalized/trees", t,
                "is (%d, %d), must begin at coordinate %d and have at least one of the %d that are left",
                (int)g->tree[t][0], (int)g->tree[t][1], next, g->count - next);
            return;
        }
        next += g->tree[t][1];
    }
    if (next != g->count)
        ss_checker_report(c, SS_FINDING_FAULT, "generalized/trees", SS_NO_INDEX,
                          "have %d coordinates, but there are %d", next, g->count);
}

/* Starts that do not fall, columns that rise and exist. */
static bool check_rows(ss_checker *c, const char *starts, const char *columns, int rows, const int32_t *start,
                       const int32_t *column, int entries)
{
    if (start[0] != 0 || start[rows] != entries) {
        ss_checker_report(c, SS_FINDING_FAULT, starts, SS_NO_INDEX,
                          "goes from %d to %d, must go from 0 to the %d entries", (int)start[0],
                          (int)start[rows], entries);
        return false;
    }
    for (int i = 0; i < rows; i++) {
        if (start[i + 1] < start[i]) {
            ss_checker_report(c, SS_FINDING_FAULT, starts, i + 1, "is %d after %d, must not fall",
                              (int)start[i + 1], (int)start[i]);
            return false;
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int e = start[i]; e < start[i + 1]; e++) {
            bool rises = e == start[i] || column[e] > column[e - 1];
            if (column[e] >= 0 && column[e] < c->frame->generalized.count && rises) continue;
            ss_checker_report(c, SS_FINDING_FAULT, columns, e, "is %d in row %d, must rise within 0 to %d",
                              (int)column[e], i, c->frame->generalized.count - 1);
            return false;
        }
    }
    return true;
}

static void check_mass_rows(ss_checker *c)
{
    const ss_generalized *g = &c->frame->generalized;
    for (int t = 0; t < g->trees; t++) {
        for (int i = g->tree[t][0]; i < g->tree[t][0] + g->tree[t][1]; i++) {
            int begin = g->mass_start[i], end = g->mass_start[i + 1];
            if (begin == end || g->mass_column[end - 1] != i) {
                ss_checker_report(c, SS_FINDING_FAULT, "generalized/mass/indices", end - 1,
                                  "row %d does not end with its diagonal", i);
                return;
            }
            if (g->mass_column[begin] < g->tree[t][0]) {
                ss_checker_report(c, SS_FINDING_FAULT, "generalized/mass/indices", begin,
                                  "is %d in row %d of another tree", (int)g->mass_column[begin], i);
                return;
            }
        }
    }
}

bool ss_frame_check_generalized_arrays(const ss_frame *frame, const char *place, ss_findings *findings)
{
    ss_checker c = {.frame = frame, .place = place, .findings = findings};
    const ss_generalized *g = &frame->generalized;
    bool any = g->trees || g->count || g->map_count || g->mass_count;
    if (!any) {
        for (int k = 0; frame->constraints.implied && k < frame->constraints.count; k++) {
            if (!frame->constraints.implied[k]) continue;
            ss_checker_report(&c, SS_FINDING_FAULT, "constraints/implied", k,
                              "there are no generalised coordinates that imply joints");
            break;
        }
        return !c.faulty;
    }

    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        char path[64];
        snprintf(path, sizeof path, "%s/%s", field->group, field->name);
        if (strcmp(field->group, "generalized") == 0 && !ss_field_data(field, frame))
            ss_checker_report(&c, SS_FINDING_FAULT, path, SS_NO_INDEX,
                              "is missing, but other arrays of generalized exist");
    }
    if (c.faulty || g->count < 1 || g->trees < 1 || g->map_count < 0 || g->mass_count < 0) {
        if (!c.faulty)
            ss_checker_report(&c, SS_FINDING_FAULT, "generalized/trees", SS_NO_INDEX, "there is none");
        return false;
    }

    check_trees(&c);
    check_rows(&c, "generalized/map/indptr", "generalized/map/indices", 6 * frame->bodies.count, g->map_start,
               g->map_column, g->map_count);
    if (check_rows(&c, "generalized/mass/indptr", "generalized/mass/indices", g->count, g->mass_start,
                   g->mass_column, g->mass_count) &&
        !c.faulty)
        check_mass_rows(&c);
    return !c.faulty;
}

/* ---- what they say ---------------------------------------------------------------------------------- */

static void check_velocities(ss_checker *c)
{
    const ss_generalized *g = &c->frame->generalized;
    double worst = 0.0;
    int worst_body = -1;
    for (int b = 0; b < c->frame->bodies.count; b++) {
        bool live = ss_frame_is_live(c->frame, b);
        if (!live && g->map_start[6 * b + 6] > g->map_start[6 * b])
            ss_checker_report(c, SS_FINDING_FAULT, "generalized/map/indptr", 6 * b,
                              "body %d is not live, but T moves it", b);
        for (int i = 0; live && i < 6; i++) {
            double sum = 0.0, terms = fabs(c->frame->bodies.velocity[b][i]);
            for (int e = g->map_start[6 * b + i]; e < g->map_start[6 * b + i + 1]; e++) {
                double term = g->map[e] * g->velocity[g->map_column[e]];
                sum += term;
                terms += fabs(term);
            }

            double error = fabs(sum - c->frame->bodies.velocity[b][i]);
            if (error <= rounding * terms || error / terms <= worst) continue;
            worst = error / terms;
            worst_body = b;
        }
    }

    if (worst_body >= 0)
        ss_checker_report(c, SS_FINDING_FAULT, "bodies/velocities", worst_body,
                          "differs from T v of the generalised coordinates by %.2g of its terms", worst);
}

/* The row J T, dense; the largest term that it may be a sum of, by the largest entries of J and T. */
static double project_row(const ss_frame *frame, int joint, int row, int *further, double *out)
{
    const ss_constraints *constraints = &frame->constraints;
    const ss_generalized *g = &frame->generalized;
    double largest = 0.0;
    memset(out, 0, (size_t)g->count * sizeof *out);
    for (int side = 0;; side++) {
        int body;
        const double *block;
        if (side < 2) {
            body = constraints->pair[joint][side];
            block = constraints->jacobian[row] + 6 * side;
        } else {
            if (*further >= constraints->further_count || constraints->further_row[*further] != row) break;
            body = constraints->further_body[*further];
            block = constraints->further_jacobian[(*further)++];
        }

        if (body == SS_WORLD) continue;
        double of_row = 0.0, of_map = 0.0;
        for (int i = 0; i < 6; i++) {
            of_row = fmax(of_row, fabs(block[i]));
            for (int e = g->map_start[6 * body + i]; e < g->map_start[6 * body + i + 1]; e++) {
                out[g->map_column[e]] += block[i] * g->map[e];
                of_map = fmax(of_map, fabs(g->map[e]));
            }
        }
        largest = fmax(largest, of_row * of_map);
    }
    return largest;
}

/* Implied joints form a forest: what closes a loop stays a constraint. */
static void check_forest(ss_checker *c)
{
    const ss_frame *frame = c->frame;
    const ss_constraints *constraints = &frame->constraints;
    int bodies = frame->bodies.count, left = 0;
    int *parent = ss_allocate((size_t)bodies + 1, sizeof *parent);
    if (!parent) {
        ss_checker_report(c, SS_FINDING_FAULT, "generalized", SS_NO_INDEX,
                          "cannot be checked: out of memory");
        return;
    }

    /* All that does not move is one node, the last one. */
    ss_partition_start(parent, bodies + 1);
    for (int b = 0; b < bodies; b++) left += 6 * ss_frame_is_live(frame, b);

    for (int k = 0; constraints->implied && k < constraints->count; k++) {
        if (constraints->implied[k] != SS_IMPLIED_BY_T) continue;
        int root[2];
        left -= constraints->rows[k];
        for (int side = 0; side < 2; side++) {
            int body = constraints->pair[k][side];
            bool is_still = body == SS_WORLD || !ss_frame_is_live(frame, body);
            root[side] = ss_partition_find(parent, is_still ? bodies : body);
        }
        if (root[0] == root[1])
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/implied", k,
                              "closes a loop of implied joints, must be 0");
        ss_partition_join(parent, root[0], root[1]);
    }

    if (left != frame->generalized.count)
        ss_checker_report(
            c, SS_FINDING_WARNING, "generalized/velocities", SS_NO_INDEX,
            "%d coordinates, but the implied joints leave %d motions: in maximal coordinates this is "
            "another problem",
            frame->generalized.count, left);
    ss_release(parent);
}

/* Index of an entry of M; -1 where nothing is stored. */
static int find_entry(const ss_generalized *g, int i, int j)
{
    int low = g->mass_start[i], high = g->mass_start[i + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (g->mass_column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->mass_start[i + 1] && g->mass_column[low] == j ? low : -1;
}

/* M and f are those of the bodies, seen along T, and of the laws they hold. */
static void check_mass_and_force(ss_checker *c, double *row, double *force, double *mass)
{
    const ss_frame *frame = c->frame;
    const ss_generalized *g = &frame->generalized;
    const ss_constraints *constraints = &frame->constraints;
    int *column = ss_allocate((size_t)g->count, sizeof *column);
    double(*motion)[6] = ss_allocate((size_t)g->count, sizeof *motion);
    double lost = 0.0, largest_force = 0.0;
    bool good = column && motion;
    if (!good)
        ss_checker_report(c, SS_FINDING_FAULT, "generalized", SS_NO_INDEX,
                          "cannot be checked: out of memory");
    memcpy(mass, g->mass, (size_t)g->mass_count * sizeof *mass);
    for (int i = 0; i < g->count; i++) force[i] = g->force[i];

    for (int b = 0; good && b < frame->bodies.count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;

        // the columns of T_b that are not zero, by rising coordinate: a merge of its six rows
        int count = 0, next[6];
        for (int i = 0; i < 6; i++) next[i] = g->map_start[6 * b + i];
        for (;;) {
            int least = g->count;
            for (int i = 0; i < 6; i++)
                if (next[i] < g->map_start[6 * b + i + 1] && g->map_column[next[i]] < least)
                    least = g->map_column[next[i]];
            if (least == g->count) break;
            column[count] = least;
            for (int i = 0; i < 6; i++) {
                bool has = next[i] < g->map_start[6 * b + i + 1] && g->map_column[next[i]] == least;
                motion[count][i] = has ? g->map[next[i]++] : 0.0;
            }
            count++;
        }

        // T_b' M_b T_b, and T_b' f_b
        const double *inertia = frame->bodies.inertia[b];
        for (int k = 0; k < count; k++) {
            double momentum[6];
            for (int i = 0; i < 3; i++) {
                momentum[i] = frame->bodies.mass[b] * motion[k][i];
                momentum[3 + i] = inertia[3 * i] * motion[k][3] + inertia[3 * i + 1] * motion[k][4] +
                                  inertia[3 * i + 2] * motion[k][5];
            }
            for (int m = 0; m <= k; m++) {
                double term = 0.0;
                for (int i = 0; i < 6; i++) term += momentum[i] * motion[m][i];
                int at = find_entry(g, column[k], column[m]);
                if (at >= 0)
                    mass[at] -= term;
                else
                    lost = fmax(lost, fabs(term));
            }
            double along = 0.0;
            for (int i = 0; i < 6; i++) along += motion[k][i] * frame->bodies.force[b][i];
            force[column[k]] -= along;
            largest_force = fmax(largest_force, fabs(along));
        }
    }

    // J' J / C of laws that M holds, and -J' (J v + dg/dt) / (C h), which f holds
    for (int k = 0, i = 0, further = 0; good && constraints->implied && k < constraints->count; k++) {
        for (int r = 0; r < constraints->rows[k]; r++, i++) {
            project_row(frame, k, i, &further, row);
            if (constraints->implied[k] != SS_IMPLIED_BY_MASS) continue;
            double speed = constraints->time_derivative[i], C = constraints->regularization[i];
            int count = 0;
            for (int m = 0; m < g->count; m++) {
                if (row[m] == 0.0) continue;
                speed += row[m] * g->velocity[m];
                column[count++] = m;
            }
            for (int m = 0; m < count; m++) {
                double own = row[column[m]];
                for (int n = 0; n <= m; n++) {
                    double term = own * (row[column[n]] / C);
                    if (term == 0.0) continue;
                    int at = find_entry(g, column[m], column[n]);
                    if (at >= 0)
                        mass[at] -= term;
                    else
                        lost = fmax(lost, fabs(term));
                }
            }
            for (int m = 0; m < count; m++) {
                double along = -row[column[m]] * speed / (C * frame->h);
                force[column[m]] -= along;
                largest_force = fmax(largest_force, fabs(along));
            }
        }
    }

    double largest = 0.0, difference = lost, force_difference = 0.0;
    for (int e = 0; good && e < g->mass_count; e++) {
        largest = fmax(largest, fabs(g->mass[e]));
        difference = fmax(difference, fabs(mass[e]));
    }
    for (int i = 0; good && i < g->count; i++) {
        largest_force = fmax(largest_force, fabs(g->force[i]));
        force_difference = fmax(force_difference, fabs(force[i]));
    }
    if (difference > rounding * largest)
        ss_checker_report(
            c, SS_FINDING_WARNING, "generalized/mass/values", SS_NO_INDEX,
            "differs from the masses of the bodies along T, and of implied laws, by %.3g of %.3g", difference,
            largest);
    if (force_difference > rounding * largest_force)
        ss_checker_report(
            c, SS_FINDING_WARNING, "generalized/forces", SS_NO_INDEX,
            "differ from the forces of the bodies along T, and of implied laws, by %.3g of %.3g",
            force_difference, largest_force);
    ss_release(column);
    ss_release(motion);
}

static void check_joints(ss_checker *c, double *row)
{
    const ss_frame *frame = c->frame;
    const ss_constraints *constraints = &frame->constraints;
    for (int k = 0, i = 0, further = 0; constraints->implied && k < constraints->count; k++) {
        for (int r = 0; r < constraints->rows[k]; r++, i++) {
            double terms = project_row(frame, k, i, &further, row), left = 0.0;
            for (int m = 0; m < frame->generalized.count; m++) left = fmax(left, fabs(row[m]));
            if (constraints->implied[k] == SS_IMPLIED_BY_T && left > rounding * terms)
                ss_checker_report(c, SS_FINDING_FAULT, "constraints/implied", k,
                                  "row %d moves by %.2g of its terms along T, must not move at all", i,
                                  left / terms);
            bool coupled =
                constraints->friction && constraints->friction_row && constraints->friction_row[i] >= 0;
            bool linear = constraints->regularization && constraints->regularization[i] > 0.0 &&
                          constraints->bounds[i][0] == -INFINITY && constraints->bounds[i][1] == INFINITY;
            if (constraints->implied[k] == SS_IMPLIED_BY_MASS && (!linear || coupled))
                ss_checker_report(
                    c, SS_FINDING_FAULT, "constraints/implied", k,
                    "is 2, but row %d is not a linear law without bounds and with regularization", i);
        }
    }

    for (int i = 0, k = 0, end = 0;
         constraints->implied && constraints->friction_row && i < constraints->row_count; i++) {
        int load = constraints->friction_row[i];
        if (load < 0) continue;
        for (k = 0, end = constraints->rows[0]; end <= load;) end += constraints->rows[++k];
        if (constraints->implied[k])
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/friction_row", i,
                              "is row %d of an implied joint, whose load is not an unknown", load);
    }
}

static void check_definite(ss_checker *c)
{
    const ss_generalized *g = &c->frame->generalized;
    ss_reverse_ldl ldl = {0};
    int bad = ss_reverse_ldl_make(g->count, g->mass_start, g->mass_column, g->mass, &ldl);
    if (bad == -2)
        ss_checker_report(c, SS_FINDING_FAULT, "generalized", SS_NO_INDEX,
                          "cannot be checked: out of memory");
    for (int t = 0; bad >= 0 && t < g->trees; t++)
        if (bad >= g->tree[t][0] && bad < g->tree[t][0] + g->tree[t][1])
            ss_checker_report(c, SS_FINDING_FAULT, "generalized/mass/values", g->mass_start[bad + 1] - 1,
                              "the mass matrix of tree %d is not positive definite", t);
    ss_reverse_ldl_free(&ldl);
}

bool ss_frame_check_generalized(const ss_frame *frame, const char *place, ss_findings *findings)
{
    ss_checker c = {.frame = frame, .place = place, .findings = findings};
    const ss_generalized *g = &frame->generalized;
    if (g->count == 0) return true;
    size_t n = (size_t)g->count;
    double *row = ss_allocate(n, sizeof *row), *force = ss_allocate(n, sizeof *force);
    double *mass = ss_allocate((size_t)g->mass_count, sizeof *mass);
    if (row && force && mass) {
        check_velocities(&c);
        check_forest(&c);
        check_joints(&c, row);
        if (!c.faulty) check_definite(&c);
        if (!c.faulty) check_mass_and_force(&c, row, force, mass);
    } else {
        ss_checker_report(&c, SS_FINDING_FAULT, "generalized", SS_NO_INDEX,
                          "cannot be checked: out of memory");
    }
    ss_release(row);
    ss_release(force);
    ss_release(mass);
    return !c.faulty;
}
