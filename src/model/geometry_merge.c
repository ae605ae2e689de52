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

static bool prepare(merging *m)
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
    ss_mesh_side *sides = ss_mesh_sides(m->mesh);
    if (!sides || !m->across || !m->area || !m->region || !m->queue || !m->loop || !m->first || !m->uses ||
        !m->seeds) {
        ss_release(sides);
        return false;
    }

    /* The mesh is closed, as was checked: two sides to an edge. */
    for (int i = 0; i < 3 * m->mesh->face_count; i += 2) {
        m->across[sides[i].face][sides[i].corner] = sides[i + 1].face;
        m->across[sides[i + 1].face][sides[i + 1].corner] = sides[i].face;
    }
    ss_release(sides);

    /* Regions grow from the largest faces first: theirs are the best planes. */
    for (int f = 0; f < m->mesh->face_count; f++) {
        m->region[f] = -1;
        m->area[f] = ss_mesh_area2(m->mesh, f);
        m->seeds[f] = (seed){ss_vec3_norm(m->area[f]), f};
    }
    qsort(m->seeds, faces, sizeof *m->seeds, by_falling_area);
    return true;
}

/* ---- regions ---------------------------------------------------------------------------------------- */

static bool lies_in_plane(const merging *m, int face, ss_vec3 normal, ss_vec3 point)
{
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        ss_vec3 corner = ss_mesh_corner(m->mesh, face, k);
        if (fabs(ss_vec3_dot(normal, ss_vec3_subtract(corner, point))) > m->tolerance) return false;
        ss_vec3 side = ss_vec3_subtract(ss_mesh_corner(m->mesh, face, (k + 1) % 3), corner);
        longest = fmax(longest, ss_vec3_norm(side));
    }

    /* The normal of a face that is thinner than the tolerance means nothing. */
    double area = ss_vec3_norm(m->area[face]);
    bool is_sliver = area <= m->tolerance * longest;
    return is_sliver || ss_vec3_dot(normal, m->area[face]) > 0.5 * area;
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

        /* Area vectors add up; centres do, weighted with the area. */
        double size = ss_vec3_norm(m->area[face]);
        ss_vec3 corners = ss_mesh_corner(m->mesh, face, 0);
        corners = ss_vec3_add(corners, ss_mesh_corner(m->mesh, face, 1));
        corners = ss_vec3_add(corners, ss_mesh_corner(m->mesh, face, 2));
        area = ss_vec3_add(area, m->area[face]);
        centre = ss_vec3_add(centre, ss_vec3_scale(size, corners));
        weight += 3.0 * size;

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

/* Appends the border that side (face, k) is on. Returns its length, or -1 if that is more than `most`. */
static int walk_border(merging *m, int face, int k, int place, int most)
{
    int start_face = face, start_k = k, length = 0, region = m->region[face];
    do {
        if (length == most) return -1;
        m->loop[place + length++] = m->mesh->face[face][k];

        /* To the next border side: around the end of this one, through triangles of the same region. */
        k = (k + 1) % 3;
        int end = m->mesh->face[face][k];
        while (m->region[m->across[face][k]] == region) {
            face = m->across[face][k];
            const int *corner = m->mesh->face[face];
            k = corner[0] == end ? 0 : corner[1] == end ? 1 : 2;
        }
    } while (face != start_face || k != start_k);
    return length;
}

/* False when a region's border is not one loop. */
static bool find_borders(merging *m, ss_error *err)
{
    int *sides = ss_allocate((size_t)m->region_count, sizeof *sides);
    int *start = ss_allocate((size_t)m->region_count, sizeof *start);
    bool good = sides && start;
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory");

    /* How many sides the border of each region has, and one of them to start from. */
    for (int f = 0; good && f < m->mesh->face_count; f++)
        for (int k = 0; k < 3; k++)
            if (m->region[m->across[f][k]] != m->region[f]) {
                sides[m->region[f]]++;
                start[m->region[f]] = 3 * f + k;
            }

    /* A walk that comes back before it has passed all of them has left out a hole or a part. */
    for (int r = 0; good && r < m->region_count; r++) {
        int length = sides[r] < 3 ? -1 : walk_border(m, start[r] / 3, start[r] % 3, m->first[r], sides[r]);
        good = length == sides[r] ||
               ss_fail(err, SS_ERROR_INPUT, "its faces do not close to a solid: it is too flat, or folded");
        if (good) m->first[r + 1] = m->first[r] + length;
    }
    ss_release(sides);
    ss_release(start);
    return good;
}

/* ---- corners ---------------------------------------------------------------------------------------- */

static ss_hull *build(merging *m, ss_error *err)
{
    /* A vertex of two faces only is no corner but in the middle of an edge. Afterwards uses[v] is the number
     * of a corner, or -1. */
    int vertices = 0, corners = 0, place = 0, borders = m->first[m->region_count];
    for (int i = 0; i < borders; i++) m->uses[m->loop[i]]++;
    for (int v = 0; v < m->mesh->vertex_count; v++) m->uses[v] = m->uses[v] >= 3 ? vertices++ : -1;
    for (int i = 0; i < borders; i++) corners += m->uses[m->loop[i]] >= 0;

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

ss_hull *ss_hull_of_mesh(const ss_mesh *mesh, ss_error *err)
{
    if (!ss_mesh_indices_are_good(mesh, err)) return NULL;
    merging m = {.mesh = mesh, .tolerance = flatness * ss_mesh_extent(mesh)};
    if (!ss_mesh_require_convex(mesh, m.tolerance, err)) return NULL;

    ss_hull *hull = NULL;
    if (prepare(&m)) {
        for (int i = 0; i < mesh->face_count; i++)
            if (m.region[m.seeds[i].face] < 0) grow_region(&m, m.seeds[i].face);
        if (find_borders(&m, err)) hull = build(&m, err);
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a hull of %d triangles", mesh->face_count);
    }

    ss_release(m.across);
    ss_release(m.area);
    ss_release(m.region);
    ss_release(m.queue);
    ss_release(m.loop);
    ss_release(m.first);
    ss_release(m.uses);
    ss_release(m.seeds);
    return hull;
}
