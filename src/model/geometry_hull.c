/* Convex polyhedra as the narrow phase wants them: whole faces instead of triangles, edges, neighbours. */
#include "model/geometry_parts.h"
#include "model/mesh.h"

#include <float.h>
#include <string.h>

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Rounds a place in a block up to a multiple of 64 and moves it on by `bytes`. */
static size_t reserve(size_t *used, size_t bytes)
{
    size_t start = (*used + 63) & ~(size_t)63;
    *used = start + bytes;
    return start;
}

ss_hull *ss_hull_create(int vertices, int faces, int corners, ss_error *err)
{
    /* Where each array begins in the one block that holds them all, and the hull before them. */
    size_t n = (size_t)vertices, f = (size_t)faces, c = (size_t)corners, used = sizeof(ss_hull);
    size_t vertex = reserve(&used, n * sizeof(ss_vec3)), face = reserve(&used, f * sizeof(ss_hull_face));
    size_t fours = reserve(&used, (n + 3) / 4 * sizeof(ss_hull_corners));
    size_t planes = reserve(&used, (f + 3) / 4 * sizeof(ss_hull_planes));
    size_t loop = reserve(&used, c * sizeof(int)), loop_edge = reserve(&used, c * sizeof(int));
    size_t edge = reserve(&used, c / 2 * sizeof(ss_hull_edge));
    size_t start = reserve(&used, (n + 1) * sizeof(int)), neighbour = reserve(&used, c * sizeof(int));
    size_t around = reserve(&used, c * sizeof(int));

    char *block = ss_allocate(used, 1);
    if (!block) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a hull of %d faces", faces);
        return NULL;
    }
    ss_hull *hull = (ss_hull *)(void *)block;
    *hull = (ss_hull){.vertex_count = vertices,
                      .face_count = faces,
                      .edge_count = corners / 2,
                      .vertex = (ss_vec3 *)(void *)(block + vertex),
                      .corners = (ss_hull_corners *)(void *)(block + fours),
                      .face = (ss_hull_face *)(void *)(block + face),
                      .planes = (ss_hull_planes *)(void *)(block + planes),
                      .loop = (int *)(void *)(block + loop),
                      .loop_edge = (int *)(void *)(block + loop_edge),
                      .edge = (ss_hull_edge *)(void *)(block + edge),
                      .neighbour_start = (int *)(void *)(block + start),
                      .neighbour = (int *)(void *)(block + neighbour),
                      .around = (int *)(void *)(block + around)};
    return hull;
}

void ss_hull_destroy(ss_hull *hull)
{
    ss_release(hull);
}

/* What is kept in single precision besides. */
static void fill_fours(ss_hull *hull)
{
    for (int v = 0; v < (hull->vertex_count + 3) / 4 * 4; v++) {
        ss_vec3 vertex = hull->vertex[v < hull->vertex_count ? v : hull->vertex_count - 1];
        ss_hull_corners *corners = &hull->corners[v / 4];
        corners->x[0][v % 4] = (float)vertex.x;
        corners->x[1][v % 4] = (float)vertex.y;
        corners->x[2][v % 4] = (float)vertex.z;
    }
    for (int first = 0; first < hull->face_count; first += SS_HULL_BLOCK) {
        int count = hull->face_count - first < SS_HULL_BLOCK ? hull->face_count - first : SS_HULL_BLOCK;
        int quads = (count + 3) / 4;
        for (int f = 0; f < 4 * quads; f++) {
            ss_hull_planes *planes = &hull->planes[first / 4 + f % quads];
            ss_hull_face face = f < count ? hull->face[first + f] : (ss_hull_face){.offset = FLT_MAX};
            planes->normal[0][f / quads] = (float)face.normal.x;
            planes->normal[1][f / quads] = (float)face.normal.y;
            planes->normal[2][f / quads] = (float)face.normal.z;
            planes->offset[f / quads] = (float)face.offset;
        }
    }
}

void ss_hull_scale(ss_hull *hull, double length)
{
    for (int i = 0; i < hull->vertex_count; i++) hull->vertex[i] = ss_vec3_scale(length, hull->vertex[i]);
    for (int i = 0; i < hull->face_count; i++) hull->face[i].offset *= length;
    hull->centre = ss_vec3_scale(length, hull->centre);
    hull->radius *= length;
    hull->extent *= length;
    fill_fours(hull);
}

/* ---- completing ------------------------------------------------------------------------------------- */

/* Sum of cross products around the loop (Newell): exact for flat faces, the best plane for
 * nearly flat ones. */
static void find_plane(const ss_hull *hull, ss_hull_face *face)
{
    const int *loop = hull->loop + face->first;
    ss_vec3 origin = hull->vertex[loop[0]], area = {0.0, 0.0, 0.0};
    for (int k = 1; k + 1 < face->size; k++) {
        ss_vec3 a = ss_vec3_subtract(hull->vertex[loop[k]], origin);
        ss_vec3 b = ss_vec3_subtract(hull->vertex[loop[k + 1]], origin);
        area = ss_vec3_add(area, ss_vec3_cross(a, b));
    }
    face->normal = ss_vec3_normalise(area, NULL);
    face->offset = 0.0;
    for (int k = 0; k < face->size; k++)
        face->offset += ss_vec3_dot(face->normal, hull->vertex[loop[k]]) / face->size;
}

static bool fail_to_close(ss_error *err)
{
    return ss_fail(err, SS_ERROR_INPUT, "its faces do not close to a solid: it is too flat, or folded");
}

bool ss_hull_complete(ss_hull *hull, ss_error *err)
{
    int corners = 2 * hull->edge_count, vertices = hull->vertex_count;
    for (int f = 0; f < hull->face_count; f++) {
        if (hull->face[f].size < 3) return fail_to_close(err);
        find_plane(hull, &hull->face[f]);
    }

    /* The sides of all faces; after sorting, those of one edge stand together. */
    ss_mesh_side *sides = ss_allocate((size_t)corners, sizeof *sides);
    for (int f = 0; sides && f < hull->face_count; f++) {
        const ss_hull_face *face = &hull->face[f];
        for (int k = 0; k < face->size; k++) {
            int place = face->first + k, next = face->first + (k + 1) % face->size;
            sides[place] = ss_mesh_side_between(hull->loop[place], hull->loop[next], f, place);
        }
    }
    if (!sides || !ss_mesh_sort_sides(sides, (size_t)corners, vertices)) {
        ss_release(sides);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a hull");
    }

    /* Every edge has exactly two faces, which go along it against each other; with Euler's formula that makes
     * the surface of one solid. */
    bool closed = true;
    for (int i = 0; closed && i < corners; i += 2) {
        int e = i / 2;
        closed = ss_mesh_sides_meet(sides + i, ss_mesh_side_run(sides, corners, i));
        if (!closed) break;
        const ss_mesh_side *along = &sides[sides[i].forward ? i : i + 1];
        const ss_mesh_side *against = &sides[sides[i].forward ? i + 1 : i];
        hull->edge[e] = (ss_hull_edge){{along->low, along->high}, {along->face, against->face}};
        hull->loop_edge[along->corner] = hull->loop_edge[against->corner] = e;
    }
    ss_release(sides);
    if (!closed || vertices - hull->edge_count + hull->face_count != 2) return fail_to_close(err);

    /* Neighbours by counting sort: while they are filled in, start[v] is where the next one of v goes. */
    int *start = hull->neighbour_start;
    for (int e = 0; e < hull->edge_count; e++)
        for (int k = 0; k < 2; k++) start[hull->edge[e].vertex[k] + 1]++;
    for (int v = 0; v < vertices; v++) start[v + 1] += start[v];
    for (int e = 0; e < hull->edge_count; e++)
        for (int k = 0; k < 2; k++)
            hull->neighbour[start[hull->edge[e].vertex[k]]++] = hull->edge[e].vertex[1 - k];
    memmove(start + 1, start, (size_t)vertices * sizeof *start);
    start[0] = 0;
    for (int f = 0; f < hull->face_count; f++)
        for (int k = 0; k < hull->face[f].size; k++)
            hull->around[start[hull->loop[hull->face[f].first + k]]++] = f;
    memmove(start + 1, start, (size_t)vertices * sizeof *start);
    start[0] = 0;

    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < vertices; i++) sum = ss_vec3_add(sum, hull->vertex[i]);
    hull->centre = ss_vec3_scale(1.0 / vertices, sum);
    for (int i = 0; i < vertices; i++) {
        double distance = ss_vec3_norm(ss_vec3_subtract(hull->vertex[i], hull->centre));
        hull->radius = fmax(hull->radius, distance);
        hull->extent = fmax(hull->extent, ss_vec3_norm(hull->vertex[i]));
    }

    double least = 1.0;
    for (int e = 0; e < hull->edge_count; e++) {
        const int *side = hull->edge[e].face;
        least = fmin(least, ss_vec3_dot(hull->face[side[0]].normal, hull->face[side[1]].normal));
    }
    hull->bend = sqrt(fmax(0.0, 0.5 * (1.0 + least)));
    fill_fours(hull);
    return true;
}

/* ---- boxes ------------------------------------------------------------------------------------------ */

ss_hull *ss_hull_of_box(const double size[3], ss_error *err)
{
    // corner i is at +x if bit 0 of i is set, +y for bit 1, +z for bit 2; faces +x, -x, +y, -y, +z, -z
    static const int loops[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3},
                                    {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
    ss_hull *hull = ss_hull_create(8, 6, 24, err);
    if (!hull) return NULL;
    for (int i = 0; i < 8; i++)
        hull->vertex[i] =
            (ss_vec3){i & 1 ? 0.5 * size[0] : -0.5 * size[0], i & 2 ? 0.5 * size[1] : -0.5 * size[1],
                      i & 4 ? 0.5 * size[2] : -0.5 * size[2]};
    for (int f = 0; f < 6; f++) {
        hull->face[f] = (ss_hull_face){.first = 4 * f, .size = 4};
        memcpy(hull->loop + 4 * f, loops[f], sizeof loops[f]);
    }
    if (ss_hull_complete(hull, err)) return hull;
    ss_hull_destroy(hull);
    return NULL;
}
