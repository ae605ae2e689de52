/* Meshes for tests: written to files, made with faults, and looked at. */
#ifndef STICKSLIP_TEST_MESHES_H
#define STICKSLIP_TEST_MESHES_H

#include <stickslip/model.h>

#include "scratch.h"

#include <math.h>
#include <string.h>

/* A mesh from tables. */
static inline ss_mesh *mesh_of(const double (*vertex)[3], int vertices, const int (*face)[3], int faces)
{
    ss_mesh *mesh = ss_mesh_create(vertices, faces, NULL);
    memcpy(mesh->vertex, vertex, (size_t)vertices * sizeof *vertex);
    if (faces) memcpy(mesh->face, face, (size_t)faces * sizeof *face);
    return mesh;
}

/* Both meshes side by side in one. */
static inline ss_mesh *mesh_union(const ss_mesh *a, const ss_mesh *b)
{
    ss_mesh *mesh = ss_mesh_create(a->vertex_count + b->vertex_count, a->face_count + b->face_count, NULL);
    memcpy(mesh->vertex, a->vertex, (size_t)a->vertex_count * sizeof *a->vertex);
    memcpy(mesh->vertex + a->vertex_count, b->vertex, (size_t)b->vertex_count * sizeof *b->vertex);
    memcpy(mesh->face, a->face, (size_t)a->face_count * sizeof *a->face);
    for (int f = 0; f < b->face_count; f++)
        for (int k = 0; k < 3; k++) mesh->face[a->face_count + f][k] = b->face[f][k] + a->vertex_count;
    return mesh;
}

/* An L: three cubes of edge 1 in the corner of a 2 x 2 x 1 block, as one closed dented mesh. Volume 3. */
static inline ss_mesh *mesh_corner_piece(void)
{
    static const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    static const int lid[4][3] = {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}};
    ss_mesh *mesh = ss_mesh_create(12, 20, NULL);
    for (int i = 0; i < 12; i++) {
        mesh->vertex[i][0] = outline[i % 6][0];
        mesh->vertex[i][1] = outline[i % 6][1];
        mesh->vertex[i][2] = i < 6 ? 0 : 1;
    }
    for (int f = 0; f < 4; f++)
        for (int k = 0; k < 3; k++) {
            mesh->face[f][k] = lid[f][2 - k];
            mesh->face[4 + f][k] = lid[f][k] + 6;
        }
    for (int i = 0; i < 6; i++) {
        int next = (i + 1) % 6;
        memcpy(mesh->face[8 + 2 * i], (int[3]){i, next, next + 6}, sizeof *mesh->face);
        memcpy(mesh->face[9 + 2 * i], (int[3]){i, next + 6, i + 6}, sizeof *mesh->face);
    }
    return mesh;
}

/* Writes bytes into DIRECTORY/mesh.SUFFIX and returns its path. */
static inline const char *mesh_file(scratch *s, const char *suffix, const void *bytes, size_t size)
{
    snprintf(s->file, sizeof s->file, "%s/mesh.%s", s->directory, suffix);
    FILE *file = fopen(s->file, "wb");
    if (file) {
        fwrite(bytes, 1, size, file);
        fclose(file);
    }
    return s->file;
}

/* Reads a text as if it were a file. */
static inline ss_mesh *mesh_from_text(const char *suffix, const char *text, ss_error *err)
{
    scratch s = scratch_open();
    ss_mesh *mesh = ss_mesh_read(mesh_file(&s, suffix, text, strlen(text)), err);
    scratch_close(&s);
    return mesh;
}

static inline bool mesh_equal(const ss_mesh *a, const ss_mesh *b)
{
    return a->vertex_count == b->vertex_count && a->face_count == b->face_count &&
           memcmp(a->vertex, b->vertex, (size_t)a->vertex_count * sizeof *a->vertex) == 0 &&
           memcmp(a->face, b->face, (size_t)a->face_count * sizeof *a->face) == 0;
}

/* Nothing at all to say about it. */
static inline bool mesh_is_clean(const ss_mesh *mesh)
{
    ss_findings findings = {0};
    bool good = ss_mesh_check(mesh, "mesh", &findings) && findings.count == 0;
    for (size_t i = 0; i < findings.count; i++) fprintf(stderr, "%s\n", findings.items[i].message);
    ss_findings_free(&findings);
    return good;
}

/* How far a point lies outside of a convex mesh: the largest distance over a face; negative inside. */
static inline double mesh_outside(const ss_mesh *mesh, const double point[3])
{
    double most = -INFINITY;
    for (int f = 0; f < mesh->face_count; f++) {
        const double *a = mesh->vertex[mesh->face[f][0]], *b = mesh->vertex[mesh->face[f][1]];
        const double *c = mesh->vertex[mesh->face[f][2]];
        double u[3], v[3], n[3], length = 0.0, distance = 0.0;
        for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        for (int k = 0; k < 3; k++) length += n[k] * n[k];
        if (length == 0.0) continue;
        for (int k = 0; k < 3; k++) distance += n[k] * (point[k] - a[k]);
        most = fmax(most, distance / sqrt(length));
    }
    return most;
}

#endif
