/* Everything that is wrong with a mesh. All passes are linear in its size but for the sort of equal faces. */
#include "model/mesh.h"

#include "base/partition.h"

#include <stdlib.h>
#include <string.h>

typedef struct checking {
    const ss_mesh *mesh;
    const char *place;
    ss_findings *findings;
    bool good;
} checking;

#define FAULT(c, ...) \
    ((c)->good = false, ss_findings_add((c)->findings, SS_FINDING_FAULT, (c)->place, __VA_ARGS__))
#define WARNING(c, ...) ss_findings_add((c)->findings, SS_FINDING_WARNING, (c)->place, __VA_ARGS__)

/* ---- equal faces ------------------------------------------------------------------------------------ */

typedef struct sorted_face {
    int corner[3], face;
} sorted_face;

static void order(int *a, int *b)
{
    if (*a <= *b) return;
    int kept = *a;
    *a = *b;
    *b = kept;
}

static int by_corners(const void *a, const void *b)
{
    const sorted_face *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x->corner[k] != y->corner[k]) return x->corner[k] < y->corner[k] ? -1 : 1;
    return x->face - y->face;
}

static bool check_doubles(checking *c)
{
    int count = c->mesh->face_count;
    sorted_face *faces = ss_allocate((size_t)count, sizeof *faces);
    if (!faces) return false;

    /* With the corners of each face in order, equal faces are neighbours after sorting. */
    for (int f = 0; f < count; f++) {
        int *corner = faces[f].corner;
        memcpy(corner, c->mesh->face[f], sizeof faces[f].corner);
        faces[f].face = f;
        order(&corner[0], &corner[1]);
        order(&corner[1], &corner[2]);
        order(&corner[0], &corner[1]);
    }
    qsort(faces, (size_t)count, sizeof *faces, by_corners);

    for (int i = 1; i < count; i++)
        if (memcmp(faces[i].corner, faces[i - 1].corner, sizeof faces[i].corner) == 0)
            FAULT(c, "face %d: has the corners of face %d", faces[i].face, faces[i - 1].face);
    ss_release(faces);
    return true;
}

/* ---- edges and parts -------------------------------------------------------------------------------- */

static bool check_surface(checking *c)
{
    int faces = c->mesh->face_count, count = 3 * faces, parts = 0;
    ss_mesh_side *all = ss_mesh_sides(c->mesh);
    int *parent = ss_allocate((size_t)faces, sizeof *parent);
    if (!all || !parent) {
        ss_release(all);
        ss_release(parent);
        return false;
    }

    ss_partition_start(parent, faces);
    for (int i = 0, run; i < count; i += run) {
        const ss_mesh_side *sides = all + i;
        run = ss_mesh_side_run(all, count, i);

        /* A side from a vertex to itself has been reported with its face. */
        bool is_edge = sides->low != sides->high;
        if (is_edge && run == 1)
            FAULT(c, "edge %d-%d: is open, only face %d uses it", sides->low, sides->high, sides->face);
        else if (is_edge && run > 2)
            FAULT(c, "edge %d-%d: belongs to %d faces", sides->low, sides->high, run);
        else if (is_edge && sides[0].forward == sides[1].forward)
            FAULT(c, "edge %d-%d: faces %d and %d have opposite orientations", sides->low, sides->high,
                  sides[0].face, sides[1].face);

        /* Faces on one edge belong to one part, for which its first face stands. */
        for (int k = 1; k < run; k++) ss_partition_join(parent, sides[0].face, sides[k].face);
    }

    for (int f = 0; f < faces; f++) parts += parent[f] == f;
    if (parts > 1) WARNING(c, "is in %d parts", parts);
    ss_release(all);
    ss_release(parent);
    return true;
}

static bool check_unused(checking *c)
{
    bool *used = ss_allocate((size_t)c->mesh->vertex_count, sizeof *used);
    if (!used) return false;
    for (int f = 0; f < c->mesh->face_count; f++)
        for (int k = 0; k < 3; k++) used[c->mesh->face[f][k]] = true;

    int unused = 0, first = -1;
    for (int i = c->mesh->vertex_count - 1; i >= 0; i--) {
        if (used[i]) continue;
        unused++;
        first = i;
    }
    if (unused)
        WARNING(c, "%d of %d vertices are in no face, vertex %d is the first", unused, c->mesh->vertex_count,
                first);
    ss_release(used);
    return true;
}

bool ss_mesh_check(const ss_mesh *mesh, const char *place, ss_findings *findings)
{
    checking c = {mesh, place, findings, true};

    /* Numbers first: of a mesh that fails here nothing else can be asked. */
    for (int i = 0; i < mesh->vertex_count; i++) {
        const double *v = mesh->vertex[i];
        if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]))
            FAULT(&c, "vertex %d: (%g, %g, %g) is not finite", i, v[0], v[1], v[2]);
    }
    for (int f = 0; f < mesh->face_count; f++)
        for (int k = 0; k < 3; k++)
            if (mesh->face[f][k] < 0 || mesh->face[f][k] >= mesh->vertex_count)
                FAULT(&c, "face %d: corner %d is vertex %d; there are %d vertices", f, k, mesh->face[f][k],
                      mesh->vertex_count);
    if (mesh->face_count == 0) FAULT(&c, "has no faces");
    if (!c.good) return false;

    for (int f = 0; f < mesh->face_count; f++) {
        const int *v = mesh->face[f];
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            FAULT(&c, "face %d: uses a vertex twice (%d, %d, %d)", f, v[0], v[1], v[2]);
        else if (!ss_mesh_has_area(mesh, f))
            FAULT(&c, "face %d: has no area", f);
    }

    if (!check_doubles(&c) || !check_surface(&c) || !check_unused(&c)) {
        FAULT(&c, "out of memory for the check of %d faces", mesh->face_count);
        return false;
    }

    /* Only a closed surface has a volume whose sign says which way its faces point. */
    if (c.good && ss_mesh_mass(mesh, 1.0).mass < 0.0) WARNING(&c, "is inside out: its faces point inwards");
    return c.good;
}
