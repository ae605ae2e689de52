/* Solids as meshes. */
#include "model/mesh.h"

#include <limits.h>

#define PHI 1.61803398874989484820 /* the golden ratio */
#define PSI 0.61803398874989484820 /* its inverse */

/* ---- regular solids --------------------------------------------------------------------------------- */

static const double tetrahedron_vertices[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
static const int tetrahedron_faces[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};

static const double octahedron_vertices[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                                 {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
static const int octahedron_faces[8][3] = {{0, 2, 4}, {0, 3, 5}, {0, 4, 3}, {0, 5, 2},
                                           {1, 2, 5}, {1, 3, 4}, {1, 4, 2}, {1, 5, 3}};

static const double dodecahedron_vertices[20][3] = {
    {1, 1, 1},       {1, 1, -1},      {1, -1, 1},     {1, -1, -1},    {-1, 1, 1},
    {-1, 1, -1},     {-1, -1, 1},     {-1, -1, -1},   {0, PSI, PHI},  {0, PSI, -PHI},
    {0, -PSI, PHI},  {0, -PSI, -PHI}, {PHI, 0, PSI},  {-PHI, 0, PSI}, {PHI, 0, -PSI},
    {-PHI, 0, -PSI}, {PSI, PHI, 0},   {PSI, -PHI, 0}, {-PSI, PHI, 0}, {-PSI, -PHI, 0}};
static const int dodecahedron_faces[12][5] = {{0, 8, 10, 2, 12},  {0, 12, 14, 1, 16}, {0, 16, 18, 4, 8},
                                              {1, 9, 5, 18, 16},  {1, 14, 3, 11, 9},  {2, 10, 6, 19, 17},
                                              {2, 17, 3, 14, 12}, {3, 17, 19, 7, 11}, {4, 13, 6, 10, 8},
                                              {4, 18, 5, 15, 13}, {5, 9, 11, 7, 15},  {6, 13, 15, 7, 19}};

static const double icosahedron_vertices[12][3] = {{0, 1, PHI}, {0, 1, -PHI}, {0, -1, PHI}, {0, -1, -PHI},
                                                   {PHI, 0, 1}, {-PHI, 0, 1}, {PHI, 0, -1}, {-PHI, 0, -1},
                                                   {1, PHI, 0}, {1, -PHI, 0}, {-1, PHI, 0}, {-1, -PHI, 0}};
static const int icosahedron_faces[20][3] = {{0, 2, 4},  {0, 4, 8},  {0, 8, 10}, {1, 3, 7},  {1, 7, 10},
                                             {1, 10, 8}, {2, 5, 11}, {2, 11, 9}, {3, 6, 9},  {3, 9, 11},
                                             {4, 6, 8},  {4, 9, 6},  {5, 2, 0},  {5, 7, 11}, {5, 10, 7},
                                             {6, 3, 1},  {8, 6, 1},  {9, 4, 2},  {10, 5, 0}, {11, 7, 3}};

typedef struct regular {
    int vertices, faces, corners; /* corners of one face */
    const double *vertex;
    const int *face;
} regular;

static const regular regulars[] = {
    [SS_TETRAHEDRON] = {4, 4, 3, tetrahedron_vertices[0], tetrahedron_faces[0]},
    [SS_OCTAHEDRON] = {6, 8, 3, octahedron_vertices[0], octahedron_faces[0]},
    [SS_DODECAHEDRON] = {20, 12, 5, dodecahedron_vertices[0], dodecahedron_faces[0]},
    [SS_ICOSAHEDRON] = {12, 20, 3, icosahedron_vertices[0], icosahedron_faces[0]},
};

ss_mesh *ss_mesh_solid(ss_solid solid, ss_error *err)
{
    if (solid == SS_CUBE) return ss_mesh_block((const double[3]){1.0, 1.0, 1.0}, err);
    if ((unsigned)solid > SS_ICOSAHEDRON) {
        ss_fail(err, SS_ERROR_USAGE, "unknown solid %d", (int)solid);
        return NULL;
    }
    const regular *from = &regulars[solid];
    int cuts = from->corners - 2;
    ss_mesh *mesh = ss_mesh_create(from->vertices, cuts * from->faces, err);
    if (!mesh) return NULL;
    for (int i = 0; i < from->vertices; i++)
        ss_vec3_store(ss_vec3_normalise(ss_vec3_load(from->vertex + 3 * i), NULL), mesh->vertex[i]);
    for (int f = 0; f < mesh->face_count; f++) {
        const int *polygon = from->face + f / cuts * from->corners;
        mesh->face[f][0] = polygon[0];
        mesh->face[f][1] = polygon[f % cuts + 1];
        mesh->face[f][2] = polygon[f % cuts + 2];
    }
    return mesh;
}

/* ---- blocks and prisms ------------------------------------------------------------------------------ */

static bool is_length(double value, const char *solid, const char *what, ss_error *err)
{
    return (value > 0.0 && isfinite(value)) ||
           ss_fail(err, SS_ERROR_USAGE, "%s: %s %g, must be finite and positive", solid, what, value);
}

ss_mesh *ss_mesh_block(const double size[3], ss_error *err)
{
    // corner i is at +x if bit 0 of i is set, +y for bit 1, +z for bit 2
    static const int faces[12][3] = {{1, 3, 7}, {1, 7, 5}, {0, 4, 6}, {0, 6, 2}, {2, 6, 7}, {2, 7, 3},
                                     {0, 1, 5}, {0, 5, 4}, {4, 5, 7}, {4, 7, 6}, {0, 2, 3}, {0, 3, 1}};
    for (int k = 0; k < 3; k++)
        if (!is_length(size[k], "block", "size", err)) return NULL;
    ss_mesh *mesh = ss_mesh_create(8, 12, err);
    if (!mesh) return NULL;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) mesh->vertex[i][k] = i >> k & 1 ? 0.5 * size[k] : -0.5 * size[k];
    for (int f = 0; f < 12; f++)
        for (int k = 0; k < 3; k++) mesh->face[f][k] = faces[f][k];
    return mesh;
}

static void set_face(ss_mesh *mesh, int *place, int a, int b, int c)
{
    int *face = mesh->face[(*place)++];
    face[0] = a;
    face[1] = b;
    face[2] = c;
}

ss_mesh *ss_mesh_cylinder(int sides, double radius, double length, ss_error *err)
{
    if (sides < 3 || sides > INT_MAX / 4) {
        ss_fail(err, SS_ERROR_USAGE, "cylinder: %d sides, must be 3 or more", sides);
        return NULL;
    }
    if (!is_length(radius, "cylinder", "radius", err) || !is_length(length, "cylinder", "length", err))
        return NULL;
    ss_mesh *mesh = ss_mesh_create(2 * sides, 4 * sides - 4, err);
    if (!mesh) return NULL;

    /* Vertices 0 .. n-1 below, n .. 2n-1 above; the ends are fans around their first corner. */
    int n = sides, place = 0;
    for (int i = 0; i < 2 * n; i++) {
        double angle = 6.28318530717958647693 * (i % n) / n;
        ss_vec3 at = {radius * cos(angle), radius * sin(angle), i < n ? -0.5 * length : 0.5 * length};
        ss_vec3_store(at, mesh->vertex[i]);
    }
    for (int i = 0; i < n; i++) {
        int next = (i + 1) % n;
        set_face(mesh, &place, i, next, n + next);
        set_face(mesh, &place, i, n + next, n + i);
    }
    for (int i = 1; i + 1 < n; i++) {
        set_face(mesh, &place, 0, i + 1, i);
        set_face(mesh, &place, n, n + i, n + i + 1);
    }
    return mesh;
}

/* ---- balls ------------------------------------------------------------------------------------------ */

/* Each triangle of a mesh on the unit sphere into four; releases the old mesh. */
static ss_mesh *refine(ss_mesh *mesh, ss_error *err)
{
    int vertices = mesh->vertex_count, faces = mesh->face_count, place = 0;
    ss_mesh *finer = ss_mesh_create(vertices + 3 * faces / 2, 4 * faces, err);
    ss_mesh_side *sides = ss_mesh_sides(mesh);
    int(*middle)[3] = ss_allocate((size_t)faces, sizeof *middle);
    bool good = finer && sides && middle;
    if (!good) {
        ss_fail(err, SS_ERROR_RESOURCES, "ball: out of memory for %d faces", 4 * faces);
        ss_mesh_destroy(finer);
    }

    /* The vertices there are, and one more on the sphere above the middle of each edge; middle[f][k] is the
     * one of side k of face f. */
    for (int i = 0; good && i < vertices; i++) ss_vec3_store(ss_vec3_load(mesh->vertex[i]), finer->vertex[i]);
    for (int i = 0; good && i < 3 * faces; i++) {
        const double *low = mesh->vertex[sides[i].low], *high = mesh->vertex[sides[i].high];
        int number = vertices + i / 2;
        middle[sides[i].face][sides[i].corner] = number;
        ss_vec3 sum = ss_vec3_add(ss_vec3_load(low), ss_vec3_load(high));
        ss_vec3_store(ss_vec3_normalise(sum, NULL), finer->vertex[number]);
    }

    /* One triangle at each corner, and one between the middles. */
    for (int f = 0; good && f < faces; f++) {
        const int *m = middle[f];
        for (int k = 0; k < 3; k++) set_face(finer, &place, mesh->face[f][k], m[k], m[(k + 2) % 3]);
        set_face(finer, &place, m[0], m[1], m[2]);
    }
    ss_release(sides);
    ss_release(middle);
    ss_mesh_destroy(mesh);
    return good ? finer : NULL;
}

ss_mesh *ss_mesh_ball(int subdivisions, double radius, ss_error *err)
{
    enum { MOST = 9 }; // five million faces
    if (subdivisions < 0 || subdivisions > MOST) {
        ss_fail(err, SS_ERROR_USAGE, "ball: %d subdivisions, must be from 0 to %d", subdivisions, MOST);
        return NULL;
    }
    if (!is_length(radius, "ball", "radius", err)) return NULL;
    ss_mesh *mesh = ss_mesh_solid(SS_ICOSAHEDRON, err);
    for (int i = 0; mesh && i < subdivisions; i++) mesh = refine(mesh, err);
    if (mesh) ss_mesh_transform(mesh, (const double[3]){radius, radius, radius}, NULL, NULL);
    return mesh;
}
