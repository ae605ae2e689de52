/* Fuzzing the BPMD reader. HDF5 itself does not survive arbitrary bytes, so the input is a program: it
 * builds a file in memory, group by group and data set by data set, with names that the reader looks for
 * and shapes, types, storage and values that it may not expect. Whatever comes out of the reader must then
 * be a frame that can be checked, hashed, written and read again bit for bit; and it must not depend on the
 * order of reading. */
#include "fuzz.h"

#include "dataset/bpmd.h"
#include "dataset/writer.h"

/* ---- the program ---------------------------------------------------------------------------------- */

static const char *const names[] = {"mbs_frame000001",
                                    "mbs_frame000002",
                                    "mbs_frame3",
                                    "simulation_000001",
                                    "simulation_7",
                                    "bodies",
                                    "constraints",
                                    "contacts",
                                    "settings",
                                    "solver_data",
                                    "ODE_GS",
                                    "pgs",
                                    "metrics",
                                    "manifest",
                                    "Manifest",
                                    "timestep",
                                    "step_size",
                                    "h",
                                    "dt",
                                    "time",
                                    "masses",
                                    "mass",
                                    "positions",
                                    "quaternions",
                                    "velocities",
                                    "forces",
                                    "world_inertia_tensors",
                                    "inertia_tensors",
                                    "inertia_tensor",
                                    "inertia",
                                    "ids",
                                    "states",
                                    "pairs",
                                    "constraint_pairs",
                                    "contact_pairs",
                                    "rows",
                                    "Jacobian",
                                    "jacobian",
                                    "violations",
                                    "violation",
                                    "time_derivative",
                                    "bounds",
                                    "lower_bound_f",
                                    "upper_bound_f",
                                    "lower_bound",
                                    "regularization",
                                    "friction",
                                    "friction_row",
                                    "holonomic",
                                    "size",
                                    "points",
                                    "normals",
                                    "gaps",
                                    "gap",
                                    "PSI",
                                    "depth",
                                    "mu_k",
                                    "mu_s",
                                    "mu",
                                    "t_u",
                                    "t_v",
                                    "restitution",
                                    "compliance",
                                    "mu_r",
                                    "lever_arms",
                                    "lambda",
                                    "normal",
                                    "tangent",
                                    "rolling",
                                    "errors",
                                    "gs_errors",
                                    "iterations",
                                    "error",
                                    "toolkit",
                                    "title",
                                    "gravity",
                                    "image",
                                    "shapes",
                                    "scenery",
                                    "kinds",
                                    "sizes",
                                    "colours",
                                    "ghosts",
                                    "meshes",
                                    "mesh_sizes",
                                    "vertices",
                                    "triangles",
                                    "grids",
                                    "heights",
                                    "anything"};

static const char *any_name(program *p)
{
    return names[below(p, sizeof names / sizeof names[0])];
}

static double any_value(program *p)
{
    static const double special[] = {0,     1,          -1,  2,         3,        0.5,   -0.5,
                                     1e300, 1e-300,     NAN, -0.0,      INFINITY, 255,   1e12,
                                     4,     2147483648, 1.5, -INFINITY, 1000,     1e-12, 4294967296};
    return special[below(p, sizeof special / sizeof special[0])];
}

/* ---- building ------------------------------------------------------------------------------------- */

static hid_t any_type(program *p)
{
    switch (below(p, 14)) {
    case 0:
        return H5Tcopy(H5T_IEEE_F32LE);
    case 1:
        return H5Tcopy(H5T_IEEE_F64BE);
    case 2:
        return H5Tcopy(H5T_STD_I32LE);
    case 3:
        return H5Tcopy(H5T_STD_U64LE);
    case 4:
        return H5Tcopy(H5T_STD_I8LE);
    case 5:
        return H5Tcopy(H5T_STD_I64BE);
    case 6:
        return H5Tcopy(H5T_C_S1);
    case 7:
        return H5Tcreate(H5T_OPAQUE, 3);
    default:
        return H5Tcopy(H5T_IEEE_F64LE);
    }
}

static hsize_t any_extent(program *p)
{
    static const hsize_t special[] = {0, 1, 2, 3, 4, 5, 6, 9, 12, 18, 24, 36, 1000, 1000000000000};
    return special[below(p, sizeof special / sizeof special[0])];
}

enum { MOST_NUMBERS = 4096 };

static void fill(program *p, hid_t dataset, hid_t type, uint64_t count)
{
    H5T_class_t class = H5Tget_class(type);
    if (count > MOST_NUMBERS || (class != H5T_FLOAT && class != H5T_INTEGER)) return;
    double values[MOST_NUMBERS];
    unsigned mode = below(p, 4);
    for (uint64_t i = 0; i < count; i++)
        values[i] = mode == 0   ? 1
                    : mode == 1 ? (double)(i % 7) - 1
                    : mode == 2 ? (double)i + 1
                                : any_value(p);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

/* Data sets of any kind; storage in chunks, with or without deflate, now and then. */
static void add_dataset(program *p, hid_t group, const char *name)
{
    unsigned rank = below(p, 4), storage = below(p, 4);
    hsize_t extent[3], chunk[3];
    uint64_t count = 1;
    for (unsigned i = 0; i < rank; i++) {
        extent[i] = any_extent(p);
        chunk[i] = extent[i] > 4 ? 4 : extent[i] ? extent[i] : 1;
        count = extent[i] == 0 ? 0 : count > MOST_NUMBERS ? count : count * extent[i];
    }
    hid_t type = any_type(p), creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = next(p) == 255 ? H5Screate(H5S_NULL) : H5Screate_simple((int)rank, extent, NULL);
    if (rank > 0 && (storage >= 2 || count > MOST_NUMBERS)) H5Pset_chunk(creation, (int)rank, chunk);
    if (rank > 0 && storage == 3) H5Pset_deflate(creation, 1);
    hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (dataset >= 0) {
        fill(p, dataset, type, count);
        H5Dclose(dataset);
    }
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
}

static void add_table(hid_t group, const char *name, uint64_t rows, uint64_t columns, const double *values)
{
    hsize_t extent[2] = {rows, columns};
    hid_t space = H5Screate_simple(2, extent, NULL);
    hid_t dataset = H5Dcreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (dataset >= 0 && rows) H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    if (dataset >= 0) H5Dclose(dataset);
    H5Sclose(space);
}

/* A table whose numbers repeat a pattern. */
static void add_pattern(hid_t group, const char *name, uint64_t rows, uint64_t columns, const double *pattern,
                        uint64_t length)
{
    double values[MOST_NUMBERS];
    for (uint64_t i = 0; i < rows * columns; i++) values[i] = pattern[i % length];
    add_table(group, name, rows, columns, values);
}

static hid_t member(hid_t parent, const char *name)
{
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static void add_bodies(program *p, hid_t frame, uint64_t n, bool old)
{
    const double one = 1, unit[4] = {1, 0, 0, 0}, speeds[5] = {0.5, -1, 0, 2, 0.25};
    const double tensor[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const char *const tensors[] = {"inertia_tensors", "inertia"};
    hid_t bodies = member(frame, "bodies");
    add_pattern(bodies, "masses", n, 1, &one, 1);
    add_pattern(bodies, "positions", n, 3, speeds, 5);
    add_pattern(bodies, "quaternions", n, 4, unit, 4);
    add_pattern(bodies, "velocities", 6 * n, 1, speeds, 5);
    add_pattern(bodies, "forces", 6 * n, 1, speeds, 5);
    add_pattern(bodies, old ? tensors[below(p, 2)] : "world_inertia_tensors", 3 * n, 3, tensor, 9);
    H5Gclose(bodies);
}

static void add_pairs(program *p, hid_t group, uint64_t count, uint64_t bodies)
{
    double pairs[2 * 16];
    for (uint64_t i = 0; i < 2 * count; i++)
        pairs[i] = (double)below(p, (unsigned)bodies + 2) - (i % 3 ? 0 : 1);
    add_table(group, "pairs", count, 2, pairs);
}

static void add_contacts(program *p, hid_t frame, uint64_t n, uint64_t bodies, bool old)
{
    const double up[3] = {0, 0, 1}, gap[2] = {-1e-3, 1e-3}, mu[2] = {0.5, 0.5};
    hid_t contacts = member(frame, "contacts");
    add_pairs(p, contacts, n, bodies);
    add_pattern(contacts, "points", n, 3, up, 3);
    add_pattern(contacts, "normals", n, 3, up, 3);
    add_pattern(contacts, old ? "gap" : "gaps", n, 1, gap, 2);
    add_pattern(contacts, "mu_k", n, 1 + below(p, 3), mu, 2);
    if (below(p, 2)) add_pattern(contacts, "mu_s", n, 2, mu, 2);
    H5Gclose(contacts);
}

static void add_joints(program *p, hid_t frame, uint64_t n, uint64_t bodies)
{
    double rows[16], bounds[2 * 16 * 6];
    uint64_t sum = 0;
    for (uint64_t k = 0; k < n; k++) sum += (uint64_t)(rows[k] = below(p, 7));
    for (uint64_t i = 0; i < 2 * sum; i++) bounds[i] = i % 2 ? INFINITY : -INFINITY;
    for (unsigned change = below(p, 4); change > 0 && sum; change--)
        bounds[below(p, 2 * (unsigned)sum)] = any_value(p);
    const double pattern[7] = {1, 0, 0, -1, 0.5, 0, 0};
    hid_t joints = member(frame, "constraints");
    add_pairs(p, joints, n, bodies);
    add_table(joints, "rows", n, 1, rows);
    add_pattern(joints, "Jacobian", sum + below(p, 2), 12, pattern, 7);
    add_pattern(joints, "violations", sum, 1, pattern, 7);
    if (below(p, 2)) add_table(joints, "bounds", sum, 2, bounds);
    H5Gclose(joints);
}

/* A frame that is right but for what the program does to it later. */
static void add_frame(program *p, hid_t parent)
{
    hid_t frame = member(parent, names[below(p, 3)]);
    if (frame < 0) return;
    const double h = 0.01;
    bool old = below(p, 2);
    uint64_t bodies = below(p, 5), contacts = below(p, 5), joints = below(p, 5);
    if (below(p, 8)) add_table(frame, old ? "step_size" : "timestep", 1, 1, &h);
    add_bodies(p, frame, bodies, old);
    if (contacts) add_contacts(p, frame, contacts, bodies, old);
    if (joints) add_joints(p, frame, joints, bodies);
    if (old && below(p, 2)) {
        hid_t settings = member(frame, "settings");
        add_table(settings, "h", 1, 1, &h);
        H5Gclose(settings);
    }
    H5Gclose(frame);
}

/* Shapes that are right but for what the program does to them later: one of every kind, a mesh,
 * a heightfield. */
static void add_shapes(hid_t parent)
{
    hid_t shapes = member(parent, "shapes");
    if (shapes < 0) return;
    enum { N = SS_SHAPE_KINDS };
    double kind[N], mesh[N], grid[2 * N] = {0};
    for (int i = 0; i < N; i++) {
        kind[i] = i;
        mesh[i] = i == SS_HULL || i == SS_MESH ? 0 : -1;
    }
    grid[2 * SS_HEIGHTFIELD] = grid[2 * SS_HEIGHTFIELD + 1] = 2;
    const double zero = 0, one = 1, none = -1, unit[4] = {1, 0, 0, 0}, sizes[2] = {4, 4};
    const double corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    add_table(shapes, "kinds", N, 1, kind);
    add_pattern(shapes, "bodies", N, 1, &one, 1);
    add_pattern(shapes, "scenery", N, 1, &none, 1);
    add_pattern(shapes, "sizes", N, 3, &one, 1);
    add_pattern(shapes, "positions", N, 3, &zero, 1);
    add_pattern(shapes, "quaternions", N, 4, unit, 4);
    add_pattern(shapes, "colours", N, 1, &zero, 1);
    add_pattern(shapes, "ghosts", N, 1, &zero, 1);
    add_table(shapes, "meshes", N, 1, mesh);
    add_table(shapes, "mesh_sizes", 1, 2, sizes);
    add_table(shapes, "vertices", 4, 3, corners);
    add_table(shapes, "triangles", 4, 3, faces);
    add_table(shapes, "grids", N, 2, grid);
    add_pattern(shapes, "heights", 4, 1, &zero, 1);
    H5Gclose(shapes);
}

static void add_text(program *p, hid_t object, bool attribute)
{
    static const char *const texts[] = {"BPMD-2015", "pairs", "reversed", "force", "impulse", ""};
    static const char *const labels[] = {"bpmd_format", "block_order", "unit"};
    const char *text = texts[below(p, 6)], *name = attribute ? labels[below(p, 3)] : any_name(p);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text) + 1);
    hid_t made = attribute ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)
                           : H5Dcreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (made >= 0 && attribute) {
        H5Awrite(made, type, text);
        H5Aclose(made);
    } else if (made >= 0) {
        H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
        H5Dclose(made);
    }
    H5Sclose(space);
    H5Tclose(type);
}

enum { DEEPEST = 6, MOST_STEPS = 150 };

typedef struct builder {
    hid_t stack[DEEPEST];
    int depth;
} builder;

static void enter(program *p, builder *b)
{
    const char *name = any_name(p);
    hid_t here = b->stack[b->depth];
    if (b->depth + 1 == DEEPEST) return;
    hid_t child =
        H5Lexists(here, name, H5P_DEFAULT) > 0 ? H5Gopen2(here, name, H5P_DEFAULT) : member(here, name);
    if (child >= 0) b->stack[++b->depth] = child;
}

static void step(program *p, builder *b)
{
    hid_t here = b->stack[b->depth];
    const char *name;
    switch (below(p, 11)) {
    case 0:
    case 1:
        enter(p, b);
        break;
    case 2:
        if (b->depth > 0) H5Gclose(b->stack[b->depth--]);
        break;
    case 3:
        add_frame(p, here);
        break;
    case 4:
        H5Ldelete(here, any_name(p), H5P_DEFAULT);
        break;
    case 5:
        add_text(p, here, below(p, 2));
        break;
    case 7:
        add_shapes(here);
        break;
    case 6:
        name = any_name(p);
        if (next(p) > 250)
            H5Lcreate_soft("/anything", here, name, H5P_DEFAULT, H5P_DEFAULT);
        else if (next(p) > 200)
            H5Lcreate_hard(b->stack[0], "/", here, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
    default: // replaces what is there
        name = any_name(p);
        if (H5Lexists(here, name, H5P_DEFAULT) > 0) H5Ldelete(here, name, H5P_DEFAULT);
        add_dataset(p, here, name);
        break;
    }
}

/* ---- files in memory ------------------------------------------------------------------------------ */

typedef struct image {
    void *bytes;
    size_t size;
} image;

static hid_t memory_file(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, false);
    hid_t file = H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

static image close_to_image(hid_t file)
{
    image made = {NULL, 0};
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t size = H5Fget_file_image(file, NULL, 0);
    if (size > 0) made.bytes = malloc((size_t)size);
    if (made.bytes && H5Fget_file_image(file, made.bytes, (size_t)size) == size) made.size = (size_t)size;
    H5Fclose(file);
    return made;
}

static image build(program *p)
{
    ss_h5_session session;
    ss_h5_enter(&session);
    hid_t file = memory_file();
    builder b = {.stack = {H5Gopen2(file, "/", H5P_DEFAULT)}};
    for (int i = 0; i < MOST_STEPS && p->left > 0; i++) step(p, &b);
    while (b.depth >= 0) H5Gclose(b.stack[b.depth--]);
    image made = close_to_image(file);
    ss_h5_leave(&session);
    return made;
}

/* ---- what must hold ------------------------------------------------------------------------------- */

static image write_ours(const ss_frame *frame)
{
    ss_h5_session session;
    ss_h5_enter(&session);
    hid_t file = memory_file();
    ss_h5_group root = {.id = H5Gopen2(file, "/", H5P_DEFAULT), .file = "fuzz", .path = "/"}, simulation,
                place;
    ss_writer_scratch scratch = {0};
    bool good = ss_h5_make_group(&root, "simulation_000001", &simulation, NULL) &&
                ss_h5_write_text_attribute(&simulation, SS_BPMD_MARK, SS_BPMD_MARK_TEXT, NULL) &&
                ss_h5_make_group(&simulation, "mbs_frame000001", &place, NULL) &&
                ss_writer_prepare(&scratch, frame, "fuzz", NULL) &&
                ss_writer_put_frame(&place, frame, SS_LAYOUT_CANONICAL, &scratch, NULL);
    must(good, "a frame that was read can be written");
    ss_release(scratch.bytes);
    ss_h5_leave_group(&place);
    ss_h5_leave_group(&simulation);
    ss_h5_leave_group(&root);
    image made = close_to_image(file);
    ss_h5_leave(&session);
    return made;
}

static void check_round_trip(const ss_frame *frame)
{
    image made = write_ours(frame);
    ss_error err = {0};
    ss_bpmd *file = ss_bpmd_open_image(made.bytes, made.size, NULL, NULL, &err);
    must(file != NULL, "what we write can be opened");
    ss_frame *back = ss_bpmd_read(file, 0, NULL, &err);
    if (!back) fprintf(stderr, "%s\n", err.message);
    must(back != NULL, "what we write can be read");
    must(ss_frame_equal(frame, back), "what we write comes back bit for bit");
    ss_frame_destroy(back);
    ss_bpmd_close(file);
    free(made.bytes);
}

static void look_at(ss_bpmd *file, int index)
{
    ss_error err = {0};
    char place[128], hash[33];
    ss_findings findings = {.limit = 50};
    must(ss_bpmd_frame_path(file, index, place, sizeof place), "a frame has a path");
    must(ss_bpmd_find_frame(file, place) == index, "a frame is found by its path");
    ss_frame *frame = ss_bpmd_read(file, index, &findings, &err);
    bool named = err.code != SS_OK && strstr(err.message, ": /");
    if (!frame && !named) fprintf(stderr, "%s\n", err.message);
    must(frame || named, "a failure names the place");
    if (frame) {
        ss_frame_check(frame, place, &findings);
        ss_frame_hash(frame, hash);
        ss_frame_summarise(frame);
        check_round_trip(frame);
        ss_frame *again = ss_bpmd_read(file, index, NULL, NULL);
        must(again && ss_frame_equal(frame, again), "reading twice gives the same frame");
        ss_frame_destroy(again);
    }
    int results = ss_bpmd_result_count(file, index, &err);
    for (int r = 0; r < results; r++) {
        ss_stored_result result;
        if (ss_bpmd_result(file, index, r, &result, &err)) ss_stored_result_free(&result);
    }
    ss_scenery scenery;
    if (ss_bpmd_scenery(file, index, &scenery, &err)) ss_scenery_free(&scenery);
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
}

/* Whatever was accepted points into its own memory. */
static void check_shapes(const ss_shapes *shapes)
{
    double sum = 0;
    for (int i = 0; i < shapes->count; i++) {
        const ss_shape *shape = &shapes->items[i].shape;
        bool meshed = shape->kind == SS_HULL || shape->kind == SS_MESH;
        must((unsigned)shape->kind < SS_SHAPE_KINDS, "a kind is known");
        must(!meshed == !shape->mesh, "what needs a mesh has one");
        for (int f = 0; meshed && f < shape->mesh->face_count; f++)
            for (int k = 0; k < 3; k++) sum += shape->mesh->vertex[shape->mesh->face[f][k]][k];
        for (int k = 0; shape->kind == SS_HEIGHTFIELD && k < shape->nx * shape->ny; k++)
            sum += shape->heights[k];
    }
    must(!isnan(sum), "all numbers are finite");
}

static void look_through(const image *made, int dialect, bool backwards)
{
    ss_limits limits = {.max_bodies = 500,
                        .max_rows = 500,
                        .max_contacts = 500,
                        .max_frames = 50,
                        .max_simulations = 50,
                        .max_results = 50,
                        .max_members = 5000,
                        .max_megabytes = 1};
    ss_read_options options = {.dialect = dialect,
                               .flip_world_normals = backwards,
                               .fill_gravity = backwards,
                               .gravity = {0, 0, -10}};
    ss_error err = {0};
    ss_bpmd *file = ss_bpmd_open_image(made->bytes, made->size, &limits, &options, &err);
    must(file || err.code != SS_OK, "a file that is refused has a reason");
    if (!file) return;
    int count = ss_bpmd_frame_count(file);
    for (int i = 0; i < count; i++) look_at(file, backwards ? count - 1 - i : i);
    for (int s = 0; s < ss_bpmd_simulation_count(file); s++) {
        ss_manifest manifest;
        if (ss_bpmd_manifest(file, s, &manifest, &err)) ss_manifest_free(&manifest);
        ss_shapes shapes;
        ss_findings findings = {.limit = 50};
        if (ss_bpmd_shapes(file, s, &shapes, &findings, &err)) {
            check_shapes(&shapes);
            ss_shapes_free(&shapes);
        }
        ss_findings_free(&findings);
    }
    ss_bpmd_close(file);
}

/* Each frame by itself, in a file just opened, and after all others: the same frame. */
static void check_order(const image *made)
{
    ss_bpmd *all = ss_bpmd_open_image(made->bytes, made->size, NULL, NULL, NULL);
    for (int i = all ? ss_bpmd_frame_count(all) - 1 : -1; i >= 0; i--) {
        ss_bpmd *single = ss_bpmd_open_image(made->bytes, made->size, NULL, NULL, NULL);
        ss_frame *late = ss_bpmd_read(all, i, NULL, NULL), *early = ss_bpmd_read(single, i, NULL, NULL);
        must(!late == !early && (!late || ss_frame_equal(late, early)),
             "the order of reading does not matter");
        ss_frame_destroy(late);
        ss_frame_destroy(early);
        ss_bpmd_close(single);
    }
    ss_bpmd_close(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    program p = {data, size};
    int dialect = (int)below(&p, SS_DIALECT_AUTO + 1);
    image made = build(&p);
    if (made.size) {
        look_through(&made, SS_DIALECT_AUTO, false);
        look_through(&made, dialect, true);
        check_order(&made);
    }
    free(made.bytes);
    return 0;
}
