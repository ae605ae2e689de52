/* Convex hulls by Qhull (Barber, Dobkin, Huhdanpaa 1996). Qhull wants a stream for its talk, which goes
 * nowhere, and gets coordinates of size 1, so that its own limits see every unit alike. */
#include "model/mesh.h"

#include <libqhull_r/libqhull_r.h>

#include <stdio.h>

/* What a code of Qhull means to the user. */
static bool fail(ss_error *err, int code, int count)
{
    if (code == qh_ERRmem)
        return ss_fail(err, SS_ERROR_RESOURCES, "hull: out of memory for %d points", count);
    if (code == qh_ERRsingular || code == qh_ERRinput)
        return ss_fail(err, SS_ERROR_INPUT, "hull: the %d points lie in one plane, or nearly so", count);
    return ss_fail(err, SS_ERROR_INPUT, "hull: cannot be computed from %d points (qhull error %d)", count,
                   code);
}

/* Copies the points with their middle at 0 and their extent between 0.5 and 1; the scale is a power of two,
 * which rounds nothing. */
static bool normalise(const double (*points)[3], int count, double *to, ss_error *err)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, extent = 0.0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            if (!isfinite(points[i][k]))
                return ss_fail(err, SS_ERROR_INPUT, "hull: point %d: %c is %g", i, "xyz"[k], points[i][k]);
            low[k] = fmin(low[k], points[i][k]);
            high[k] = fmax(high[k], points[i][k]);
        }
    for (int k = 0; k < 3; k++) extent = fmax(extent, 0.5 * high[k] - 0.5 * low[k]);
    if (extent == 0.0) return fail(err, qh_ERRsingular, count);
    int power;
    frexp(extent, &power);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            to[3 * i + k] = ldexp(points[i][k] - (0.5 * low[k] + 0.5 * high[k]), -power - 1);
    return true;
}

/* The facets that Qhull has found, as a mesh of the points they use. */
static ss_mesh *read_hull(qhT *qh, const double (*points)[3], int count, ss_error *err)
{
    facetT *facet;
    vertexT *vertex, **vertexp;
    int faces = 0, vertices = 0, *number = ss_allocate((size_t)count, sizeof *number);
    if (!number) {
        fail(err, qh_ERRmem, count);
        return NULL;
    }

    /* Numbers the points that faces use, in their order; -1 for the others. */
    FORALLfacets
    {
        faces++;
        FOREACHvertex_(facet->vertices) number[qh_pointid(qh, vertex->point)] = 1;
    }
    for (int i = 0; i < count; i++) number[i] = number[i] ? vertices++ : -1;

    ss_mesh *mesh = ss_mesh_create(vertices, faces, err);
    if (!mesh) {
        ss_release(number);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; number[i] >= 0 && k < 3; k++) mesh->vertex[number[i]][k] = points[i][k];

    /* The vertices of a simplicial facet stand in an order whose parity is its orientation. */
    int(*face)[3] = mesh->face;
    FORALLfacets
    {
        int corner[3] = {0, 0, 0}, k = 0;
        FOREACHvertex_(facet->vertices) if (k < 3) corner[k++] = number[qh_pointid(qh, vertex->point)];
        bool swap = facet->toporient ^ qh_ORIENTclock;
        (*face)[0] = corner[swap ? 1 : 0];
        (*face)[1] = corner[swap ? 0 : 1];
        (*face)[2] = corner[2];
        face++;
    }
    ss_release(number);
    return mesh;
}

static ss_mesh *run_qhull(const double (*points)[3], double *scaled, int count, FILE *silent, ss_error *err)
{
    char options[] = "qhull Qt";
    qhT state, *qh = &state;
    qh_zero(qh, silent);
    int code = qh_new_qhull(qh, 3, count, scaled, False, options, silent, silent), current, total;
    ss_mesh *mesh = NULL;
    if (code == 0)
        mesh = read_hull(qh, points, count, err);
    else
        fail(err, code, count);
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &current, &total);
    return mesh;
}

ss_mesh *ss_mesh_hull(const double (*points)[3], int count, ss_error *err)
{
    if (count < 4) {
        ss_fail(err, SS_ERROR_INPUT, "hull: %d points, must be at least 4", count);
        return NULL;
    }
    double *scaled = ss_allocate((size_t)count, 3 * sizeof *scaled);
    FILE *silent = fopen("/dev/null", "w");
    ss_mesh *mesh = NULL;
    if (!scaled || !silent)
        fail(err, qh_ERRmem, count);
    else if (normalise(points, count, scaled, err))
        mesh = run_qhull(points, scaled, count, silent, err);
    if (silent) fclose(silent);
    ss_release(scaled);
    return mesh;
}
