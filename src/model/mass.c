/* Mass, centre and inertia: closed forms for the round shapes and boxes, exact integrals for polyhedra. */
#include "model/geometry.h"

#include "linalg/mat3.h"

static const double pi = 3.14159265358979323846;

/* ---- polyhedra -------------------------------------------------------------------------------------- */

/* Sums over the tetrahedra (reference point, a, b, c) of all faces: six times the volume, the first moment
 * and the matrix of second moments integral(x x'). */
typedef struct moments {
    double volume6;
    ss_vec3 first;
    ss_mat3 second;
} moments;

/* Of a tetrahedron with one corner at the origin, with d = a . (b x c) and s = a + b + c:
 *   volume = d / 6,  integral(x) = d / 24 s,  integral(x x') = d / 120 (s s' + a a' + b b' + c c') */
static moments integrate(const ss_mesh *mesh, ss_vec3 origin)
{
    moments sum = {0};
    for (int f = 0; f < mesh->face_count; f++) {
        ss_vec3 corner[3];
        for (int k = 0; k < 3; k++)
            corner[k] = ss_vec3_subtract(ss_vec3_load(mesh->vertex[mesh->face[f][k]]), origin);

        double d = ss_vec3_dot(corner[0], ss_vec3_cross(corner[1], corner[2]));
        ss_vec3 s = ss_vec3_add(corner[0], ss_vec3_add(corner[1], corner[2]));
        sum.volume6 += d;
        sum.first = ss_vec3_add_scaled(sum.first, d, s);
        sum.second = ss_mat3_add_scaled(sum.second, d, ss_mat3_outer(s, s));
        for (int k = 0; k < 3; k++)
            sum.second = ss_mat3_add_scaled(sum.second, d, ss_mat3_outer(corner[k], corner[k]));
    }
    return sum;
}

/* Integrates twice: about a point near the mesh to find the centre, then about the centre, so that no large
 * numbers are subtracted however far from its own origin the mesh lies. */
ss_mass_properties ss_mesh_mass(const ss_mesh *mesh, double density)
{
    ss_mass_properties mass = {0};
    ss_vec3 near = {0.0, 0.0, 0.0}; // the mean of all corners
    for (int f = 0; f < mesh->face_count; f++)
        for (int k = 0; k < 3; k++) near = ss_vec3_add(near, ss_vec3_load(mesh->vertex[mesh->face[f][k]]));
    if (mesh->face_count) near = ss_vec3_scale(1.0 / (3.0 * mesh->face_count), near);

    moments sum = integrate(mesh, near);
    if (sum.volume6 == 0.0) return mass;
    double d = 4.0 * sum.volume6;
    ss_vec3 centre = ss_vec3_add(near, (ss_vec3){sum.first.x / d, sum.first.y / d, sum.first.z / d});

    /* The inertia is trace(C) - C, C the second moments about the centre. */
    sum = integrate(mesh, centre);
    ss_mat3 second = ss_mat3_scale(density / 120.0, sum.second);
    ss_mat3 trace = ss_mat3_scale(ss_mat3_trace(second), ss_mat3_identity());
    mass.mass = density * sum.volume6 / 6.0;
    ss_vec3_store(centre, mass.centre);
    ss_mat3_store(ss_mat3_symmetric_part(ss_mat3_add_scaled(trace, -1.0, second)), mass.inertia);
    return mass;
}

/* ---- closed forms ----------------------------------------------------------------------------------- */

static ss_mass_properties diagonal(double mass, double xx, double yy, double zz)
{
    return (ss_mass_properties){mass, {0.0, 0.0, 0.0}, {xx, 0.0, 0.0, 0.0, yy, 0.0, 0.0, 0.0, zz}};
}

static ss_mass_properties ellipsoid(double a, double b, double c, double density)
{
    double m = density * (4.0 / 3.0) * pi * a * b * c, k = m / 5.0;
    return diagonal(m, k * (b * b + c * c), k * (a * a + c * c), k * (a * a + b * b));
}

static ss_mass_properties box(const double size[3], double density)
{
    double x = size[0], y = size[1], z = size[2], m = density * x * y * z, k = m / 12.0;
    return diagonal(m, k * (y * y + z * z), k * (x * x + z * z), k * (x * x + y * y));
}

static ss_mass_properties cylinder(double r, double length, double density)
{
    double m = density * pi * r * r * length;
    double across = m * (3.0 * r * r + length * length) / 12.0;
    return diagonal(m, across, across, 0.5 * m * r * r);
}

/* A cylinder and two half balls; a half ball's centre is 3/8 r from its flat side, and its inertia about an
 * axis in that side is half a ball's. */
static ss_mass_properties capsule(double r, double length, double density)
{
    ss_mass_properties middle = cylinder(r, length, density), ball = ellipsoid(r, r, r, density);
    double shift = 0.25 * length * length + 0.375 * r * length;
    double across = middle.inertia[0] + ball.inertia[0] + ball.mass * shift;
    return diagonal(middle.mass + ball.mass, across, across, middle.inertia[8] + ball.inertia[8]);
}

ss_mass_properties ss_shape_mass(const ss_shape *shape, double density)
{
    const double *size = shape->size;
    switch (shape->kind) {
    case SS_SPHERE:
        return ellipsoid(size[0], size[0], size[0], density);
    case SS_BOX:
        return box(size, density);
    case SS_CAPSULE:
        return capsule(size[0], size[1], density);
    case SS_CYLINDER:
        return cylinder(size[0], size[1], density);
    case SS_ELLIPSOID:
        return ellipsoid(size[0], size[1], size[2], density);
    case SS_HULL:
        return ss_mesh_mass(shape->mesh, density);
    default:
        return (ss_mass_properties){0};
    }
}
