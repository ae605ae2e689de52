/* linalg/quat.h - unit quaternions (w, x, y, z), scalar first: the rotation from a body's
 * frame to the world. */
#ifndef SS_LINALG_QUAT_H
#define SS_LINALG_QUAT_H

#include "linalg/mat3.h"

typedef struct ss_quat {
    double w, x, y, z;
} ss_quat;

static inline ss_quat ss_quat_load(const double *from)
{
    return (ss_quat){from[0], from[1], from[2], from[3]};
}

static inline void ss_quat_store(ss_quat q, double *to)
{
    to[0] = q.w;
    to[1] = q.x;
    to[2] = q.y;
    to[3] = q.z;
}

static inline ss_quat ss_quat_identity(void)
{
    return (ss_quat){1.0, 0.0, 0.0, 0.0};
}

static inline ss_quat ss_quat_conjugate(ss_quat q)
{
    return (ss_quat){q.w, -q.x, -q.y, -q.z};
}

/* a b: first the rotation b, then a */
static inline ss_quat ss_quat_multiply(ss_quat a, ss_quat b)
{
    return (ss_quat){
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline double ss_quat_norm(ss_quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

/* What has no direction (zero, or not finite) becomes the identity. */
static inline ss_quat ss_quat_normalise(ss_quat q)
{
    double norm = ss_quat_norm(q);
    if (!(norm > 0.0) || !isfinite(norm)) return ss_quat_identity();
    return (ss_quat){q.w / norm, q.x / norm, q.y / norm, q.z / norm};
}

/* v + 2 w (u x v) + 2 u x (u x v), with u the vector part */
static inline ss_vec3 ss_quat_rotate(ss_quat q, ss_vec3 v)
{
    ss_vec3 u = {q.x, q.y, q.z};
    ss_vec3 t = ss_vec3_scale(2.0, ss_vec3_cross(u, v));
    return ss_vec3_add(ss_vec3_add_scaled(v, q.w, t), ss_vec3_cross(u, t));
}

/* From the world to the body's frame. */
static inline ss_vec3 ss_quat_rotate_back(ss_quat q, ss_vec3 v)
{
    return ss_quat_rotate(ss_quat_conjugate(q), v);
}

static inline ss_mat3 ss_quat_to_matrix(ss_quat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (ss_mat3){{{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)},
                      {2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)},
                      {2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)}}};
}

/* The largest of the four components is found first, so that nothing is divided by a small number (Shepperd
 * 1978). */
static inline ss_quat ss_quat_from_matrix(ss_mat3 r)
{
    double trace = ss_mat3_trace(r);
    double w = trace, x = r.m[0][0], y = r.m[1][1], z = r.m[2][2];
    ss_quat q;
    if (w >= x && w >= y && w >= z)
        q = (ss_quat){1.0 + trace, r.m[2][1] - r.m[1][2], r.m[0][2] - r.m[2][0], r.m[1][0] - r.m[0][1]};
    else if (x >= y && x >= z)
        q = (ss_quat){r.m[2][1] - r.m[1][2], 1.0 + x - y - z, r.m[0][1] + r.m[1][0], r.m[0][2] + r.m[2][0]};
    else if (y >= z)
        q = (ss_quat){r.m[0][2] - r.m[2][0], r.m[0][1] + r.m[1][0], 1.0 + y - x - z, r.m[1][2] + r.m[2][1]};
    else
        q = (ss_quat){r.m[1][0] - r.m[0][1], r.m[0][2] + r.m[2][0], r.m[1][2] + r.m[2][1], 1.0 + z - x - y};
    return ss_quat_normalise(q);
}

/* The rotation by |v| about v (rad): (cos |v|/2, sin(|v|/2) v/|v|). Up to half a radian, and few bodies turn
 * farther in a step, by series in a^2, a = |v|/2, which leave out less than 1e-17. */
static inline ss_quat ss_quat_exponential(ss_vec3 v)
{
    double s = 0.25 * ss_vec3_dot(v, v), sine_by_angle, cosine;
    if (s < 0.0625) {
        double sine = 1.0 - s * (1.0 / 72.0) * (1.0 - s * (1.0 / 110.0));
        sine_by_angle = 1.0 - s * (1.0 / 6.0) * (1.0 - s * (1.0 / 20.0) * (1.0 - s * (1.0 / 42.0) * sine));
        double rest = 1.0 - s * (1.0 / 56.0) * (1.0 - s * (1.0 / 90.0) * (1.0 - s * (1.0 / 132.0)));
        cosine = 1.0 - 0.5 * s * (1.0 - s * (1.0 / 12.0) * (1.0 - s * (1.0 / 30.0) * rest));
    } else {
        double half = sqrt(s);
        sine_by_angle = sin(half) / half;
        cosine = cos(half);
    }
    ss_vec3 u = ss_vec3_scale(0.5 * sine_by_angle, v);
    return (ss_quat){cosine, u.x, u.y, u.z};
}

/* Angle over sine of its half, from the sine and the cosine of the half, which is not negative. */
static inline double ss_quat_stretch(double sine, double cosine)
{
    double s = sine * sine;
    if (s >= 0.01) return 2.0 * atan2(sine, cosine) / sine;
    // 2 asin(s)/s: what is left out of the series is below 1e-18
    return 2.0 + s * (1.0 / 3.0 +
                      s * (3.0 / 20.0 +
                           s * (5.0 / 56.0 +
                                s * (35.0 / 576.0 +
                                     s * (63.0 / 1408.0 + s * (231.0 / 6656.0 + s * (143.0 / 5120.0)))))));
}

/* The rotation vector that turns `from` into `to`, the short way. */
static inline ss_vec3 ss_quat_between(ss_quat from, ss_quat to)
{
    ss_quat turn = ss_quat_multiply(to, ss_quat_conjugate(from));
    double sign = turn.w < 0.0 ? -1.0 : 1.0;
    ss_vec3 axis = {sign * turn.x, sign * turn.y, sign * turn.z};
    return ss_vec3_scale(ss_quat_stretch(ss_vec3_norm(axis), sign * turn.w), axis);
}

/* Turning with constant angular velocity (rad/s, world frame) for h seconds: q+ = exp(h w / 2) q. */
static inline ss_quat ss_quat_integrate(ss_quat q, ss_vec3 angular_velocity, double h)
{
    return ss_quat_normalise(ss_quat_multiply(ss_quat_exponential(ss_vec3_scale(h, angular_velocity)), q));
}

#endif
