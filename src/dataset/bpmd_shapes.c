/* What the bodies of a simulation look like, and where its moving scenery is. Pictures are made of it, and
 * nothing else: files have it or not, and readers that do not know it do not notice. */
#include "dataset/bpmd.h"

#include <math.h>
#include <string.h>

enum { MOST_SHAPES = 10000000 };

/* ---- columns -------------------------------------------------------------------------------------- */

/* The columns of the group as they are stored. */
typedef struct columns {
    const ss_bpmd_place *place;
    int count, mesh_count, height_count;
    int *kind, *id, *scenery, *colour, *ghost, *mesh, (*grid)[2], (*mesh_size)[2];
    double (*size)[3], (*position)[3], (*quaternion)[4];
} columns;

/* How many rows of `width` numbers a data set has; its numbers are not kept. */
static bool count_rows(const ss_bpmd_place *place, const char *name, int width, int most, int *rows,
                       ss_error *err)
{
    ss_h5_array array;
    if (!ss_h5_read(&place->group, name, &array, err)) return false;
    uint64_t count = array.count;
    ss_h5_array_free(&array);
    if (count % (uint64_t)width != 0)
        return ss_bpmd_refuse(&place->group, name, err, ": %llu numbers, must be a multiple of %d",
                              (unsigned long long)count, width);
    if (count / (uint64_t)width > (uint64_t)most)
        return ss_bpmd_refuse(&place->group, name, err, ": more than %d", most);
    *rows = (int)(count / (uint64_t)width);
    return true;
}

static bool refuse_missing(const ss_bpmd_place *place, const char *name, ss_error *err)
{
    return ss_bpmd_refuse(&place->group, name, err, ": is missing");
}

static void *reserve(const ss_bpmd_place *place, size_t count, size_t size, ss_error *err)
{
    void *values = ss_allocate(count, size);
    if (!values)
        ss_fail(err, SS_ERROR_RESOURCES, "%s: %s: out of memory", place->group.file, place->group.path);
    return values;
}

/* Whole numbers between `least` and `most`, `width` in each row; NULL with an error. */
static void *read_integers(const ss_bpmd_place *place, const char *name, int rows, int width, int least,
                           int most, ss_error *err)
{
    size_t count = (size_t)rows * (size_t)width;
    if (!ss_bpmd_has(place, name)) {
        refuse_missing(place, name, err);
        return NULL;
    }
    int *values = reserve(place, count, sizeof *values, err);
    bool good = values && ss_h5_read_ints(&place->group, name, count, values, err);
    for (size_t i = 0; good && i < count; i++)
        if (values[i] < least || values[i] > most)
            good = ss_bpmd_refuse(&place->group, name, err, "[%zu]: %d, must be between %d and %d",
                                  i / (size_t)width, values[i], least, most);
    if (good) return values;
    ss_release(values);
    return NULL;
}

/* Finite numbers, `width` in each row. */
static void *read_reals(const ss_bpmd_place *place, const char *name, int rows, int width, ss_error *err)
{
    size_t count = (size_t)rows * (size_t)width;
    if (!ss_bpmd_has(place, name)) {
        refuse_missing(place, name, err);
        return NULL;
    }
    double *values = reserve(place, count, sizeof *values, err);
    bool good = values && ss_h5_read_exactly(&place->group, name, count, values, err);
    for (size_t i = 0; good && i < count; i++)
        if (!isfinite(values[i]))
            good = ss_bpmd_refuse(&place->group, name, err, "[%zu]: must be finite", i / (size_t)width);
    if (good) return values;
    ss_release(values);
    return NULL;
}

static bool check_turns(const ss_bpmd_place *place, const double (*q)[4], int rows, ss_error *err)
{
    for (int i = 0; i < rows; i++) {
        double length = sqrt(q[i][0] * q[i][0] + q[i][1] * q[i][1] + q[i][2] * q[i][2] + q[i][3] * q[i][3]);
        if (!(fabs(length - 1.0) <= 1e-3))
            return ss_bpmd_refuse(&place->group, "quaternions", err, "[%d]: length %g, must be 1", i, length);
    }
    return true;
}

/* ---- meshes --------------------------------------------------------------------------------------- */

static bool fill_meshes(const columns *c, const double (*vertex)[3], const int (*triangle)[3],
                        ss_shapes *shapes, ss_error *err)
{
    size_t first = 0; // triangle of the mesh
    shapes->meshes = reserve(c->place, (size_t)c->mesh_count, sizeof *shapes->meshes, err);
    if (!shapes->meshes) return false;
    for (int m = 0; m < c->mesh_count; m++) {
        int vertices = c->mesh_size[m][0], faces = c->mesh_size[m][1];
        ss_mesh *mesh = shapes->meshes[m] = ss_mesh_create(vertices, faces, err);
        shapes->mesh_count = m + 1; // counts the one being made, so that it is freed
        if (!mesh) return false;
        memcpy(mesh->vertex, vertex, (size_t)vertices * sizeof *mesh->vertex);
        for (int f = 0; f < faces; f++)
            for (int k = 0; k < 3; k++) {
                mesh->face[f][k] = triangle[f][k];
                if (triangle[f][k] >= vertices)
                    return ss_bpmd_refuse(&c->place->group, "triangles", err, "[%zu]: vertex %d of %d",
                                          first + (size_t)f, triangle[f][k], vertices);
            }
        vertex += vertices;
        triangle += faces;
        first += (size_t)faces;
    }
    return true;
}

/* Counted before memory is taken for what the sizes claim. */
static bool has_rows(const columns *c, const char *name, int width, int wanted, ss_error *err)
{
    int found;
    if (!ss_bpmd_has(c->place, name)) return refuse_missing(c->place, name, err);
    if (!count_rows(c->place, name, width, INT32_MAX / 4, &found, err)) return false;
    return found == wanted || ss_bpmd_refuse(&c->place->group, name, err,
                                             ": %d rows, but mesh_sizes add up to %d", found, wanted);
}

static bool read_meshes(columns *c, ss_shapes *shapes, ss_error *err)
{
    if (!ss_bpmd_has(c->place, "meshes")) return true;
    if (!ss_bpmd_has(c->place, "mesh_sizes")) return refuse_missing(c->place, "mesh_sizes", err);
    if (!count_rows(c->place, "mesh_sizes", 2, MOST_SHAPES, &c->mesh_count, err)) return false;
    c->mesh = read_integers(c->place, "meshes", c->count, 1, -1, c->mesh_count - 1, err);
    c->mesh_size =
        c->mesh ? read_integers(c->place, "mesh_sizes", c->mesh_count, 2, 1, INT32_MAX, err) : NULL;
    if (!c->mesh_size) return false;

    /* Vertices and triangles of all meshes together, which must be as many as there are. */
    int64_t sum[2] = {0, 0};
    for (int m = 0; m < c->mesh_count; m++)
        for (int k = 0; k < 2; k++) sum[k] += c->mesh_size[m][k];
    if (sum[0] > INT32_MAX || sum[1] > INT32_MAX)
        return ss_bpmd_refuse(&c->place->group, "mesh_sizes", err, ": too large");
    int vertices = (int)sum[0], triangles = (int)sum[1];
    if (!has_rows(c, "vertices", 3, vertices, err) || !has_rows(c, "triangles", 3, triangles, err))
        return false;

    double(*vertex)[3] = read_reals(c->place, "vertices", vertices, 3, err);
    int(*triangle)[3] = vertex ? read_integers(c->place, "triangles", triangles, 3, 0, INT32_MAX, err) : NULL;
    bool good =
        triangle && fill_meshes(c, (const double(*)[3])vertex, (const int(*)[3])triangle, shapes, err);
    ss_release(vertex);
    ss_release(triangle);
    return good;
}

static bool read_heights(columns *c, ss_shapes *shapes, ss_error *err)
{
    if (!ss_bpmd_has(c->place, "grids")) return true;
    c->grid = read_integers(c->place, "grids", c->count, 2, 0, INT32_MAX, err);
    if (!c->grid) return false;
    if (!ss_bpmd_has(c->place, "heights")) return refuse_missing(c->place, "heights", err);
    if (!count_rows(c->place, "heights", 1, INT32_MAX, &c->height_count, err)) return false;
    shapes->heights = read_reals(c->place, "heights", c->height_count, 1, err);
    return shapes->heights != NULL;
}

/* ---- shapes --------------------------------------------------------------------------------------- */

static bool fill_shape(const columns *c, int row, const ss_shapes *shapes, int64_t *used, ss_stored_shape *to,
                       ss_error *err)
{
    *to = (ss_stored_shape){.id = c->id[row], .scenery = c->scenery[row]};
    ss_shape *shape = &to->shape;
    shape->kind = (ss_shape_kind)c->kind[row];
    shape->colour = (uint32_t)c->colour[row];
    shape->ghost = c->ghost[row] != 0;
    shape->body = SS_WORLD;
    memcpy(shape->size, c->size[row], sizeof shape->size);
    memcpy(shape->position, c->position[row], sizeof shape->position);
    memcpy(shape->quaternion, c->quaternion[row], sizeof shape->quaternion);
    for (int k = 0; k < 3; k++)
        if (shape->size[k] < 0.0)
            return ss_bpmd_refuse(&c->place->group, "sizes", err, "[%d]: must not be negative", row);
    if (to->id > 0 && to->scenery >= 0)
        return ss_bpmd_refuse(&c->place->group, "scenery", err, "[%d]: already belongs to body %d", row,
                              to->id);

    if (shape->kind == SS_HULL || shape->kind == SS_MESH) {
        if (!c->mesh || c->mesh[row] < 0)
            return ss_bpmd_refuse(&c->place->group, "meshes", err, "[%d]: a %s needs one", row,
                                  ss_shape_kind_name(shape->kind));
        shape->mesh = shapes->meshes[c->mesh[row]];
    }

    /* The heights of all fields are one list, each field's after those of the fields before it. */
    if (shape->kind != SS_HEIGHTFIELD) return true;
    if (!c->grid || c->grid[row][0] < 2 || c->grid[row][1] < 2)
        return ss_bpmd_refuse(&c->place->group, "grids", err, "[%d]: a heightfield needs 2 x 2 points", row);
    int64_t points = (int64_t)c->grid[row][0] * c->grid[row][1];
    if (points > c->height_count - *used)
        return ss_bpmd_refuse(&c->place->group, "heights", err, ": fewer than grids[%d] requires", row);
    shape->nx = c->grid[row][0];
    shape->ny = c->grid[row][1];
    shape->heights = shapes->heights + *used;
    *used += points;
    return true;
}

static bool fill_shapes(const columns *c, ss_shapes *shapes, ss_findings *findings, ss_error *err)
{
    int64_t used = 0;
    shapes->items = reserve(c->place, (size_t)c->count, sizeof *shapes->items, err);
    if (!shapes->items) return false;
    for (int row = 0; row < c->count; row++) {
        if (c->kind[row] < 0 || c->kind[row] >= SS_SHAPE_KINDS) {
            ss_findings_add(findings, SS_FINDING_WARNING, c->place->group.path,
                            "kinds[%d]: unknown kind of shape %d; omitted", row, c->kind[row]);
            continue;
        }
        if (!fill_shape(c, row, shapes, &used, &shapes->items[shapes->count], err)) return false;
        shapes->count++;
    }
    return true;
}

static bool read_group(const ss_bpmd_place *place, ss_shapes *shapes, ss_findings *findings, ss_error *err)
{
    columns c = {.place = place};
    if (!ss_bpmd_has(place, "kinds")) return refuse_missing(place, "kinds", err);
    bool good = count_rows(place, "kinds", 1, MOST_SHAPES, &c.count, err) &&
                (c.kind = read_integers(place, "kinds", c.count, 1, INT32_MIN, INT32_MAX, err)) &&
                (c.id = read_integers(place, "bodies", c.count, 1, 0, INT32_MAX, err)) &&
                (c.scenery = read_integers(place, "scenery", c.count, 1, -1, MOST_SHAPES, err)) &&
                (c.colour = read_integers(place, "colours", c.count, 1, 0, 0xffffff, err)) &&
                (c.ghost = read_integers(place, "ghosts", c.count, 1, 0, 1, err)) &&
                (c.size = read_reals(place, "sizes", c.count, 3, err)) &&
                (c.position = read_reals(place, "positions", c.count, 3, err)) &&
                (c.quaternion = read_reals(place, "quaternions", c.count, 4, err)) &&
                check_turns(place, (const double(*)[4])c.quaternion, c.count, err) &&
                read_meshes(&c, shapes, err) && read_heights(&c, shapes, err) &&
                fill_shapes(&c, shapes, findings, err);

    ss_release(c.kind);
    ss_release(c.id);
    ss_release(c.scenery);
    ss_release(c.colour);
    ss_release(c.ghost);
    ss_release(c.mesh);
    ss_release(c.grid);
    ss_release(c.mesh_size);
    ss_release(c.size);
    ss_release(c.position);
    ss_release(c.quaternion);
    return good;
}

bool ss_bpmd_shapes(ss_bpmd *file, int simulation, ss_shapes *shapes, ss_findings *findings, ss_error *err)
{
    *shapes = (ss_shapes){0};
    if (simulation < 0 || simulation >= file->simulation_count)
        return ss_fail(err, SS_ERROR_USAGE, "%s: simulation %d, but there are %d", file->name, simulation,
                       file->simulation_count);

    ss_h5_session session;
    ss_h5_group group;
    ss_bpmd_place place = {0};
    ss_h5_enter(&session);
    bool good = ss_bpmd_enter_simulation(file, simulation, &group, err);
    if (good) {
        good = !ss_h5_has(&group, "shapes") || ss_bpmd_enter(&group, "shapes", &place, err);
        ss_h5_leave_group(&group);
    }
    if (good && place.exists) {
        ss_bpmd_tighten(&place, file->limits.max_bodies, 4);
        good = read_group(&place, shapes, findings, err);
    }
    ss_bpmd_leave(&place);
    ss_h5_leave(&session);
    if (!good) ss_shapes_free(shapes);
    return good;
}

/* ---- scenery -------------------------------------------------------------------------------------- */

bool ss_bpmd_scenery(ss_bpmd *file, int frame, ss_scenery *scenery, ss_error *err)
{
    *scenery = (ss_scenery){0};
    if (frame < 0 || frame >= file->frame_count)
        return ss_fail(err, SS_ERROR_USAGE, "%s: frame %d, but there are %d", file->name, frame,
                       file->frame_count);

    ss_h5_session session;
    ss_bpmd_place place = {0}, group = {0};
    ss_h5_enter(&session);
    bool good =
        ss_bpmd_enter_frame(file, frame, &place, err) && ss_bpmd_enter_member(&place, "scenery", &group, err);
    if (good && group.exists) {
        ss_bpmd_tighten(&group, file->limits.max_bodies, 4);
        good = ss_bpmd_has(&group, "positions") || refuse_missing(&group, "positions", err);
        good = good && count_rows(&group, "positions", 3, file->limits.max_bodies, &scenery->count, err) &&
               (scenery->position = read_reals(&group, "positions", scenery->count, 3, err)) &&
               (scenery->quaternion = read_reals(&group, "quaternions", scenery->count, 4, err)) &&
               check_turns(&group, (const double(*)[4])scenery->quaternion, scenery->count, err);
    }
    ss_bpmd_leave(&group);
    ss_bpmd_leave(&place);
    ss_h5_leave(&session);
    if (!good) ss_scenery_free(scenery);
    return good;
}
