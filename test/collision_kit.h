/* Shapes placed by hand, and an oracle for convex pairs that shares no code with the library: it knows
 * support points only, and looks in all directions. */
#ifndef TEST_COLLISION_KIT_H
#define TEST_COLLISION_KIT_H

#include <stickslip/collision.h>

#include "linalg/quat.h"
#include "model/geometry.h"

#include "kit.h"

typedef struct placed {
    ss_shape shape;
    ss_geometry *geometry;
    ss_placed_shape at;
} placed;

/* The caller keeps the struct where it is and calls `lift` in the end. */
static inline void put(placed *p, ss_shape shape, ss_vec3 position, ss_quat turn)
{
    p->shape = shape;
    p->geometry = ss_geometry_create(&p->shape, NULL);
    p->at = (ss_placed_shape){.shape = &p->shape, .geometry = p->geometry};
    ss_vec3_store(position, p->at.position);
    ss_mat3_store(ss_quat_to_matrix(turn), p->at.rotation);
}

static inline void lift(placed *p)
{
    ss_geometry_destroy(p->geometry);
}

static inline ss_vec3 vec(double x, double y, double z)
{
    return (ss_vec3){x, y, z};
}

static inline ss_quat about(ss_vec3 axis, double angle)
{
    return ss_quat_exponential(ss_vec3_scale(angle, ss_vec3_normalise(axis, NULL)));
}

static inline ss_quat upright(void)
{
    return ss_quat_identity();
}

static inline ss_vec3 any_direction(ss_random *random)
{
    return ss_vec3_normalise(
        vec(ss_random_normal(random), ss_random_normal(random), ss_random_normal(random)), NULL);
}

static inline ss_quat any_turn(ss_random *random)
{
    return ss_quat_normalise((ss_quat){ss_random_normal(random), ss_random_normal(random),
                                       ss_random_normal(random), ss_random_normal(random)});
}

/* ---- the oracle ------------------------------------------------------------------------------------- */

static inline ss_vec3 oracle_local_support(const placed *p, ss_vec3 d)
{
    const double *s = p->shape.size;
    double rho = hypot(d.x, d.y);
    ss_vec3 best = vec(0.0, 0.0, 0.0);
    switch (p->shape.kind) {
    case SS_SPHERE:
        return ss_vec3_scale(s[0] / ss_vec3_norm(d), d);
    case SS_BOX:
        return vec(d.x > 0 ? s[0] / 2 : -s[0] / 2, d.y > 0 ? s[1] / 2 : -s[1] / 2,
                   d.z > 0 ? s[2] / 2 : -s[2] / 2);
    case SS_CAPSULE:
        return ss_vec3_add(ss_vec3_scale(s[0] / ss_vec3_norm(d), d),
                           vec(0, 0, d.z > 0 ? s[1] / 2 : -s[1] / 2));
    case SS_CYLINDER:
        return vec(rho > 0 ? s[0] * d.x / rho : 0, rho > 0 ? s[0] * d.y / rho : 0,
                   d.z > 0 ? s[1] / 2 : -s[1] / 2);
    case SS_ELLIPSOID: {
        double n = sqrt(s[0] * s[0] * d.x * d.x + s[1] * s[1] * d.y * d.y + s[2] * s[2] * d.z * d.z);
        return vec(s[0] * s[0] * d.x / n, s[1] * s[1] * d.y / n, s[2] * s[2] * d.z / n);
    }
    default:
        for (int v = 0; v < p->shape.mesh->vertex_count; v++) {
            ss_vec3 here = ss_vec3_load(p->shape.mesh->vertex[v]);
            if (v == 0 || ss_vec3_dot(here, d) > ss_vec3_dot(best, d)) best = here;
        }
        return best;
    }
}

static inline ss_vec3 oracle_support(const placed *p, ss_vec3 d)
{
    ss_mat3 r = ss_mat3_load(p->at.rotation);
    ss_vec3 local = oracle_local_support(p, ss_mat3_apply_transposed(r, d));
    return ss_vec3_add(ss_vec3_load(p->at.position), ss_mat3_apply(r, local));
}

/* Distance of b from a along n; the signed distance of two convex bodies is the largest of these. */
static inline double oracle_separation(const placed *a, const placed *b, ss_vec3 n)
{
    return ss_vec3_dot(n, ss_vec3_subtract(oracle_support(b, ss_vec3_negate(n)), oracle_support(a, n)));
}

/* Climbs from the best of many directions by ever smaller random turns: a lower bound that
 * is nearly sharp. */
static inline double oracle_distance(const placed *a, const placed *b, ss_random *random)
{
    enum { LOOKS = 1500, CLIMBERS = 6 };
    ss_vec3 best[CLIMBERS];
    double most[CLIMBERS];
    for (int k = 0; k < CLIMBERS; k++) most[k] = -INFINITY;
    for (int i = 0; i < LOOKS; i++) {
        ss_vec3 n = any_direction(random);
        double here = oracle_separation(a, b, n);
        int k = i % CLIMBERS;
        if (here <= most[k]) continue;
        most[k] = here;
        best[k] = n;
    }
    double result = -INFINITY;
    for (int k = 0; k < CLIMBERS; k++) {
        double step = 0.1;
        while (step > 1e-9) {
            bool better = false;
            for (int t = 0; t < 12; t++) {
                ss_vec3 n = ss_vec3_normalise(ss_vec3_add_scaled(best[k], step, any_direction(random)), NULL);
                double here = oracle_separation(a, b, n);
                if (here <= most[k]) continue;
                most[k] = here;
                best[k] = n;
                better = true;
            }
            if (!better) step *= 0.5;
        }
        result = fmax(result, most[k]);
    }
    return result;
}

/* The contact with the smallest gap; NULL without any. */
static inline const ss_contact_point *deepest(const ss_manifold *manifold)
{
    const ss_contact_point *best = NULL;
    for (int i = 0; i < manifold->count; i++)
        if (!best || manifold->points[i].gap < best->gap) best = &manifold->points[i];
    return best;
}

#endif
