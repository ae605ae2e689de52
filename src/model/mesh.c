/* Life of a mesh, its transformation, and the list of its sides. */
#include "model/mesh.h"

#include "linalg/quat.h"

#include <string.h>

ss_mesh *ss_mesh_create(int vertices, int faces, ss_error *err)
{
    if (vertices < 0 || faces < 0) {
        ss_fail(err, SS_ERROR_USAGE, "mesh: %d vertices, %d faces: must not be negative", vertices, faces);
        return NULL;
    }

    ss_mesh *mesh = ss_allocate(1, sizeof *mesh);
    if (mesh) {
        mesh->vertex_count = vertices;
        mesh->face_count = faces;
        mesh->vertex = ss_allocate((size_t)vertices, sizeof *mesh->vertex);
        mesh->face = ss_allocate((size_t)faces, sizeof *mesh->face);
        if (mesh->vertex && mesh->face) return mesh;
    }
    ss_mesh_destroy(mesh);
    ss_fail(err, SS_ERROR_RESOURCES, "mesh: out of memory for %d vertices and %d faces", vertices, faces);
    return NULL;
}

void ss_mesh_destroy(ss_mesh *mesh)
{
    if (!mesh) return;
    ss_release(mesh->vertex);
    ss_release(mesh->face);
    ss_release(mesh);
}

ss_mesh *ss_mesh_copy(const ss_mesh *mesh, ss_error *err)
{
    ss_mesh *copy = ss_mesh_create(mesh->vertex_count, mesh->face_count, err);
    if (!copy) return NULL;
    memcpy(copy->vertex, mesh->vertex, (size_t)mesh->vertex_count * sizeof *mesh->vertex);
    memcpy(copy->face, mesh->face, (size_t)mesh->face_count * sizeof *mesh->face);
    return copy;
}

void ss_mesh_transform(ss_mesh *mesh, const double scale[3], const double quaternion[4],
                       const double translation[3])
{
    ss_quat q = quaternion ? ss_quat_normalise(ss_quat_load(quaternion)) : ss_quat_identity();
    ss_vec3 t = translation ? ss_vec3_load(translation) : (ss_vec3){0.0, 0.0, 0.0};
    for (int i = 0; i < mesh->vertex_count; i++) {
        double *v = mesh->vertex[i];
        if (quaternion) ss_vec3_store(ss_quat_rotate(q, ss_vec3_load(v)), v);
        for (int k = 0; scale && k < 3; k++) v[k] *= scale[k];
        ss_vec3_store(ss_vec3_add(ss_vec3_load(v), t), v);
    }
    if (!scale || !((scale[0] < 0.0) ^ (scale[1] < 0.0) ^ (scale[2] < 0.0))) return;
    for (int f = 0; f < mesh->face_count; f++) {
        int second = mesh->face[f][1];
        mesh->face[f][1] = mesh->face[f][2];
        mesh->face[f][2] = second;
    }
}

bool ss_mesh_indices_are_good(const ss_mesh *mesh, ss_error *err)
{
    for (int f = 0; f < mesh->face_count; f++)
        for (int k = 0; k < 3; k++)
            if (mesh->face[f][k] < 0 || mesh->face[f][k] >= mesh->vertex_count)
                return ss_fail(err, SS_ERROR_INPUT, "face %d: corner %d is vertex %d of %d", f, k,
                               mesh->face[f][k], mesh->vertex_count);
    for (int i = 0; i < mesh->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(mesh->vertex[i][k]))
                return ss_fail(err, SS_ERROR_INPUT, "vertex %d: %c is %g", i, "xyz"[k], mesh -> vertex[i][k]);
    return true;
}

bool ss_mesh_has_area(const ss_mesh *mesh, int face)
{
    double size = 0.0;
    for (int k = 0; k < 3; k++) size = fmax(size, ss_vec3_max_abs(ss_mesh_corner(mesh, face, k)));
    ss_vec3 a = ss_vec3_subtract(ss_mesh_corner(mesh, face, 1), ss_mesh_corner(mesh, face, 0));
    ss_vec3 b = ss_vec3_subtract(ss_mesh_corner(mesh, face, 2), ss_mesh_corner(mesh, face, 0));
    double longest = fmax(ss_vec3_norm(a), ss_vec3_norm(b));
    return ss_vec3_norm(ss_vec3_cross(a, b)) > 1e-15 * longest * (longest + size);
}

double ss_mesh_extent(const ss_mesh *mesh)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int f = 0; f < mesh->face_count; f++)
        for (int corner = 0; corner < 3; corner++)
            for (int k = 0; k < 3; k++) {
                double x = mesh->vertex[mesh->face[f][corner]][k];
                low[k] = fmin(low[k], x);
                high[k] = fmax(high[k], x);
            }
    return fmax(fmax(high[0] - low[0], high[1] - low[1]), fmax(high[2] - low[2], 0.0));
}

/* ---- sides ------------------------------------------------------------------------------------------ */

/* One stable pass of counting sort by `low` or `high`. start has room for every vertex and one more. */
static void sort_by(const ss_mesh_side *from, ss_mesh_side *to, size_t count, int *start, int vertices,
                    bool by_low)
{
    memset(start, 0, ((size_t)vertices + 1) * sizeof *start);
    for (size_t i = 0; i < count; i++) start[(by_low ? from[i].low : from[i].high) + 1]++;
    for (int v = 0; v < vertices; v++) start[v + 1] += start[v];
    for (size_t i = 0; i < count; i++) to[start[by_low ? from[i].low : from[i].high]++] = from[i];
}

bool ss_mesh_sort_sides(ss_mesh_side *sides, size_t count, int vertices)
{
    ss_mesh_side *other = ss_allocate(count, sizeof *other);
    int *start = ss_allocate((size_t)vertices + 1, sizeof *start);
    bool good = other && start && count <= INT32_MAX;
    if (good) {
        sort_by(sides, other, count, start, vertices, false);
        sort_by(other, sides, count, start, vertices, true);
    }
    ss_release(other);
    ss_release(start);
    return good;
}

ss_mesh_side ss_mesh_side_between(int from, int to, int face, int corner)
{
    bool forward = from < to;
    return (ss_mesh_side){forward ? from : to, forward ? to : from, face, corner, forward};
}

ss_mesh_side *ss_mesh_sides(const ss_mesh *mesh)
{
    size_t count = 3 * (size_t)mesh->face_count;
    ss_mesh_side *sides = ss_allocate(count, sizeof *sides);
    if (!sides) return NULL;
    for (size_t i = 0; i < count; i++) {
        int f = (int)(i / 3), k = (int)(i % 3);
        sides[i] = ss_mesh_side_between(mesh->face[f][k], mesh->face[f][(k + 1) % 3], f, k);
    }
    if (ss_mesh_sort_sides(sides, count, mesh->vertex_count)) return sides;
    ss_release(sides);
    return NULL;
}

int ss_mesh_side_run(const ss_mesh_side *sides, int count, int first)
{
    int end = first + 1;
    while (end < count && sides[end].low == sides[first].low && sides[end].high == sides[first].high) end++;
    return end - first;
}

bool ss_mesh_sides_meet(const ss_mesh_side *sides, int run)
{
    return run == 2 && sides[0].forward != sides[1].forward;
}
