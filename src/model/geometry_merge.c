/* From the triangles of a convex mesh to a hull: triangles in one plane are one face, and only true
 * corners remain. */
#include "model/geometry_parts.h"
#include "model/mesh.h"

#include <stdlib.h>

/* Of the extent of the mesh: what counts as convex and as flat. Files written with single precision or six
 * decimals pass; nothing that a contact could feel is lost. */
static const double flatness = 1e-6;

typedef struct merging {
    const ss_mesh *mesh;
    double tolerance;
    int (*across)[3]; /* face on the other side of each side */
    ss_vec3 *area;    /* twice the area vector of each face */
    int *region;      /* of each face; -1 = none yet */
    int *queue;       /* faces: of the region that grows */
    int *loop;        /* vertices of all regions' borders, one after the other */
    int *first;       /* of each region in `loop`, and the end */
    int *uses;        /* of each vertex: borders it is on; then its new number */
    struct seed *seeds;
    int region_count;
} merging;

typedef struct seed {
    double area;
    int face;
} seed;

static int by_falling_area(const void *a, const void *b)
{
    const seed *x = a, *y = b;
    if (x->area != y->area) return x->area > y->area ? -1 : 1;
    return x->face - y->face;
}

static void release_merging(merging *m)
{
    ss_release(m->across);
    ss_release(m->area);
    ss_release(m->region);
    ss_release(m->queue);
    ss_release(m->loop);
    ss_release(m->first);
    ss_release(m->uses);
    ss_release(m->seeds);
}

static bool allocate_merging(merging *m)
{
    size_t faces = (size_t)m->mesh->face_count;
    m->across = ss_allocate(faces, sizeof *m->across);
    m->area = ss_allocate(faces, sizeof *m->area);
    m->region = ss_allocate(faces, sizeof *m->region);
    m->queue = ss_allocate(faces, sizeof *m->queue);
    m->loop = ss_allocate(3 * faces, sizeof *m->loop);
    m->first = ss_allocate(faces + 1, sizeof *m->first);
    m->uses = ss_allocate((size_t)m->mesh->vertex_count, sizeof *m->uses);
    m->seeds = ss_allocate(faces, sizeof *m->seeds);
    return m->across && m->area && m->region && m->queue && m->loop && m->first && m->uses && m->seeds;
}

static bool prepare(merging *m)
{
    ss_mesh_side *sides = ss_mesh_sides(m->mesh);
    if (!sides || !allocate_merging(m)) {
        ss_release(sides);
        return false;
    }
    for (int i = 0; i < 3 * m->mesh->face_count; i += 2) { // closed, as was checked: two sides to an edge
        m->across[sides[i].face][sides[i].corner] = sides[i + 1].face;
        m->across[sides[i + 1].face][sides[i + 1].corner] = sides[i].face;
    }
    ss_release(sides);
    for (int f = 0; f < m->mesh->face_count; f++) {
        m->region[f] = -1;
        m->area[f] = ss_mesh_area2(m->mesh, f);
        m->seeds[f] = (seed){ss_vec3_norm(m->area[f]), f};
    }
    qsort(m->seeds, (size_t)m->mesh->face_count, sizeof *m->seeds, by_falling_area);
    return true;
}

/* ---- regions ---------------------------------------------------------------------------------------- */

/* Thinner than the tolerance: its own normal means nothing. */
static bool is_sliver(const merging *m, int face)
{
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        ss_vec3 side =
            ss_vec3_subtract(ss_mesh_corner(m->mesh, face, (k + 1) % 3), ss_mesh_corner(m->mesh, face, k));
        longest = fmax(longest, ss_vec3_norm(side));
    }
    return ss_vec3_norm(m->area[face]) <= m->tolerance * longest;
}

static bool lies_in_plane(const merging *m, int face, ss_vec3 normal, ss_vec3 point)
{
    for (int k = 0; k < 3; k++) {
        ss_vec3 corner = ss_mesh_corner(m->mesh, face, k);
        if (fabs(ss_vec3_dot(normal, ss_vec3_subtract(corner, point))) > m->tolerance) return false;
    }
    return is_sliver(m, face) || ss_vec3_dot(normal, m->area[face]) > 0.5 * ss_vec3_norm(m->area[face]);
}

/* Three times twice the area, times the centre. */
static ss_vec3 weighted_centre(const merging *m, int face)
{
    ss_vec3 sum = ss_mesh_corner(m->mesh, face, 0);
    sum = ss_vec3_add(sum, ss_mesh_corner(m->mesh, face, 1));
    sum = ss_vec3_add(sum, ss_mesh_corner(m->mesh, face, 2));
    return ss_vec3_scale(ss_vec3_norm(m->area[face]), sum);
}

/* Grows a region from its largest triangle; the plane is that of all triangles it has so far. */
static void grow_region(merging *m, int from)
{
    int id = m->region_count++, count = 0;
    ss_vec3 area = {0.0, 0.0, 0.0}, centre = {0.0, 0.0, 0.0};
    double weight = 0.0;
    m->queue[count++] = from;
    m->region[from] = id;
    for (int i = 0; i < count; i++) {
        int face = m->queue[i];
        area = ss_vec3_add(area, m->area[face]);
        centre = ss_vec3_add(centre, weighted_centre(m, face));
        weight += 3.0 * ss_vec3_norm(m->area[face]);
        ss_vec3 normal = ss_vec3_normalise(area, NULL), point = ss_vec3_scale(1.0 / weight, centre);
        for (int k = 0; k < 3; k++) {
            int next = m->across[face][k];
            if (m->region[next] >= 0 || !lies_in_plane(m, next, normal, point)) continue;
            m->region[next] = id;
            m->queue[count++] = next;
        }
    }
}

/* ---- borders ---------------------------------------------------------------------------------------- */

static int side_of(const merging *m, int face, int vertex)
{
    const int *corner = m->mesh->face[face];
    return corner[0] == vertex ? 0 : corner[1] == vertex ? 1 : 2;
}

/* From a border side of a region to the next one: around its end, through triangles of the same region. */
static void next_border_side(const merging *m, int *face, int *k)
{
    int end = m->mesh->face[*face][(*k + 1) % 3], region = m->region[*face];
    *k = (*k + 1) % 3;
    while (m->region[m->across[*face][*k]] == region) {
        *face = m->across[*face][*k];
        *k = side_of(m, *face, end);
    }
}

/* Appends the border that side (face, k) is on. Returns its length. */
static int walk_border(merging *m, int face, int k, int place, int most)
{
    int start_face = face, start_k = k, length = 0;
    do {
        if (length == most) return -1;
        m->loop[place + length++] = m->mesh->face[face][k];
        next_border_side(m, &face, &k);
    } while (face != start_face || k != start_k);
    return length;
}

static void count_borders(const merging *m, int *sides, int *start)
{
    for (int f = 0; f < m->mesh->face_count; f++)
        for (int k = 0; k < 3; k++)
            if (m->region[m->across[f][k]] != m->region[f]) {
                sides[m->region[f]]++;
                start[m->region[f]] = 3 * f + k;
            }
}

/* False when a region's border is not one loop. */
static bool walk_borders(merging *m, const int *sides, const int *start)
{
    for (int r = 0; r < m->region_count; r++) {
        if (sides[r] < 3) return false;
        int length = walk_border(m, start[r] / 3, start[r] % 3, m->first[r], sides[r]);
        if (length != sides[r]) return false;
        m->first[r + 1] = m->first[r] + length;
    }
    return true;
}

static bool find_borders(merging *m, ss_error *err)
{
    int *sides = ss_allocate((size_t)m->region_count, sizeof *sides);
    int *start = ss_allocate((size_t)m->region_count, sizeof *start);
    bool good = sides && start;
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (good) count_borders(m, sides, start);
    if (good && !walk_borders(m, sides, start))
        good = ss_fail(err, SS_ERROR_INPUT, "its faces do not close to a solid: it is too flat, or folded");
    ss_release(sides);
    ss_release(start);
    return good;
}

/* ---- corners ---------------------------------------------------------------------------------------- */

/* A vertex of two faces only is no corner but in the middle of an edge. Afterwards uses[v] is the number of a
 * corner, or -1. Returns the number of corners. */
static int number_corners(merging *m)
{
    int count = 0;
    for (int i = 0; i < m->first[m->region_count]; i++) m->uses[m->loop[i]]++;
    for (int v = 0; v < m->mesh->vertex_count; v++) m->uses[v] = m->uses[v] >= 3 ? count++ : -1;
    return count;
}

static int count_loop_corners(const merging *m)
{
    int count = 0;
    for (int i = 0; i < m->first[m->region_count]; i++) count += m->uses[m->loop[i]] >= 0;
    return count;
}

static ss_hull *build(merging *m, ss_error *err)
{
    int vertices = number_corners(m), corners = count_loop_corners(m), place = 0;
    ss_hull *hull = ss_hull_create(vertices, m->region_count, corners, err);
    if (!hull) return NULL;
    for (int v = 0; v < m->mesh->vertex_count; v++)
        if (m->uses[v] >= 0) hull->vertex[m->uses[v]] = ss_vec3_load(m->mesh->vertex[v]);
    for (int r = 0; r < m->region_count; r++) {
        int first = place;
        for (int i = m->first[r]; i < m->first[r + 1]; i++)
            if (m->uses[m->loop[i]] >= 0) hull->loop[place++] = m->uses[m->loop[i]];
        hull->face[r] = (ss_hull_face){.first = first, .size = place - first};
    }
    if (corners % 2 == 0 && ss_hull_complete(hull, err)) return hull;
    if (corners % 2) ss_fail(err, SS_ERROR_INPUT, "its faces do not close to a solid");
    ss_hull_destroy(hull);
    return NULL;
}

static ss_hull *merge(merging *m, ss_error *err)
{
    if (!prepare(m)) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a hull of %d triangles", m->mesh->face_count);
        return NULL;
    }
    for (int i = 0; i < m->mesh->face_count; i++)
        if (m->region[m->seeds[i].face] < 0) grow_region(m, m->seeds[i].face);
    return find_borders(m, err) ? build(m, err) : NULL;
}

ss_hull *ss_hull_of_mesh(const ss_mesh *mesh, ss_error *err)
{
    if (!ss_mesh_indices_are_good(mesh, err)) return NULL;
    merging m = {.mesh = mesh, .tolerance = flatness * ss_mesh_extent(mesh)};
    if (!ss_mesh_require_convex(mesh, m.tolerance, err)) return NULL;
    ss_hull *hull = merge(&m, err);
    release_merging(&m);
    return hull;
}
