/* Where joints are. A frame knows joints by their rows only, and so do the files of others; but a row that
 * holds a point p along t has the angular part (p - x) x t, from which p follows. */
#include "report/replay_internal.h"

#include "linalg/mat3.h"

#include <math.h>
#include <string.h>

/* p - x of rows with linear parts t and angular parts a = (p - x) x t: the sum of (t.t - t t') r = t x a over
 * the rows, by Cramer's rule. A little of the diagonal is added for rows that leave a direction open: of the
 * points on such a line, the one nearest to x. */
static bool find_arm(const ss_vec3 *linear, const ss_vec3 *angular, int count, ss_vec3 *arm)
{
    ss_mat3 m = ss_mat3_diagonal(0.0, 0.0, 0.0);
    ss_vec3 c = {0};
    for (int k = 0; k < count; k++) {
        ss_vec3 t = linear[k];
        m = ss_mat3_add_scaled(m, ss_vec3_dot(t, t), ss_mat3_identity());
        m = ss_mat3_add_scaled(m, -1.0, ss_mat3_outer(t, t));
        c = ss_vec3_add(c, ss_vec3_cross(t, angular[k]));
    }

    double trace = ss_mat3_trace(m);
    if (!(trace > 0.0)) return false;
    m = ss_mat3_add_scaled(m, 1e-9 * trace, ss_mat3_identity());

    double determinant = ss_mat3_determinant(m);
    ss_vec3 x = ss_mat3_column(&m, 0), y = ss_mat3_column(&m, 1), z = ss_mat3_column(&m, 2);
    *arm = (ss_vec3){ss_vec3_dot(c, ss_vec3_cross(y, z)) / determinant,
                     ss_vec3_dot(c, ss_vec3_cross(z, x)) / determinant,
                     ss_vec3_dot(c, ss_vec3_cross(x, y)) / determinant};
    return isfinite(arm->x) && isfinite(arm->y) && isfinite(arm->z);
}

/* The direction across both, of unit length; 0 if they are in line. */
static ss_vec3 across(ss_vec3 a, ss_vec3 b)
{
    ss_vec3 axis = ss_vec3_cross(a, b);
    double length = ss_vec3_norm(axis);
    if (!(length > 1e-6 * ss_vec3_norm(a) * ss_vec3_norm(b))) return (ss_vec3){0};
    return ss_vec3_scale(1.0 / length, axis);
}

/* A link between two bodies of a row: at the centre of the second one, about the direction in which the row
 * turns it. */
static void link_bodies(const ss_frame *frame, int from, int to, const double block[6], ss_replay_joint *link)
{
    ss_vec3 t = ss_vec3_load(block), a = ss_vec3_load(block + 3);
    bool turns = ss_vec3_dot(t, t) <= 1e-12 * ss_vec3_dot(a, a);
    link->pair[0] = from;
    link->pair[1] = to;
    memcpy(link->point, frame->bodies.position[to], sizeof link->point);
    ss_vec3_store(turns ? ss_vec3_normalise(a, NULL) : (ss_vec3){0}, link->axis);
    link->error[0] = link->error[1] = 0.0;
    link->first = link->rows = 0;
}

/* Rows on more than two bodies, differentials and ropes over sheaves, are seen as links between these: once
 * for each body of a joint. */
static int link_many(const ss_frame *frame, ss_replay_joint *links)
{
    const ss_constraints *all = &frame->constraints;
    int found = 0;
    for (int k = 0, joint = 0, end = 0, first = 0, linked = -1; k < all->further_count; k++) {
        int row = all->further_row[k], to = all->further_body[k];
        while (joint < all->count && end + all->rows[joint] <= row) end += all->rows[joint++];
        if (joint >= all->count) break;
        const int *pair = all->pair[joint];
        int from = pair[1] >= 0 ? pair[1] : pair[0];
        if (linked != joint) {
            linked = joint;
            first = k;
            if (pair[0] >= 0 && pair[1] >= 0)
                link_bodies(frame, pair[0], pair[1], all->jacobian[row] + 6, &links[found++]);
        }

        bool again = false;
        for (int i = first; i < k; i++) again |= all->further_body[i] == to;
        if (!again) link_bodies(frame, from, to, all->further_jacobian[k], &links[found++]);
    }
    return found;
}

int ss_replay_find_joints(const ss_frame *frame, ss_replay_joint *joints)
{
    const ss_constraints *all = &frame->constraints;
    int found = 0;
    for (int j = 0, first = 0; j < all->count; first += all->rows[j++]) {
        // the side of b, or of a where b is the world
        int side = all->pair[j][1] >= 0 ? 1 : 0, body = all->pair[j][side];
        if (body < 0) continue;

        // the first rows that hold a point, and the first that hold a direction
        ss_vec3 linear[3], angular[3], turns[2], arm;
        int points = 0, turned = 0, leading = 0;
        double error[2] = {0.0, 0.0};
        for (int i = 0; i < all->rows[j]; i++) {
            const double *row = all->jacobian[first + i] + 6 * side;
            ss_vec3 t = ss_vec3_load(row), a = ss_vec3_load(row + 3);
            bool holds = ss_vec3_dot(t, t) > 1e-12 * ss_vec3_dot(a, a);
            leading += holds && i < 3;
            const double *bounds = all->bounds[first + i];
            if (isinf(bounds[0]) && isinf(bounds[1]))
                error[!holds] = hypot(error[!holds], all->violation[first + i]);
            if (holds && points < 3) {
                linear[points] = t;
                angular[points++] = a;
            } else if (!holds && turned < 2) {
                turns[turned++] = a;
            }
        }
        // one row alone, a motor along a slide or a distance, knows a line but no place on it
        if (points < 2 || !find_arm(linear, angular, points, &arm)) continue;

        // a point held by three rows, and an axis by two: a hinge; a line held by two rows: a slide
        ss_vec3 axis = {0};
        if (leading == 3 && turned == 2) axis = across(turns[0], turns[1]);
        if (leading == 2) axis = across(linear[0], linear[1]);
        ss_replay_joint *joint = &joints[found++];
        memcpy(joint->pair, all->pair[j], sizeof joint->pair);
        ss_vec3_store(ss_vec3_add(ss_vec3_load(frame->bodies.position[body]), arm), joint->point);
        ss_vec3_store(axis, joint->axis);
        memcpy(joint->error, error, sizeof joint->error);
        joint->first = first;
        joint->rows = all->rows[j];
    }
    return found + link_many(frame, joints + found);
}
