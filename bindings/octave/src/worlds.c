/* Worlds: bodies, shapes, joints, materials and meshes from structs, and scenes by name. */
#include "worlds.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

/* ---- life --------------------------------------------------------------------------------------------- */

static void destroy(void *object)
{
    tb_world *w = object;
    ss_writer_discard(w->writer);
    tb_hooks_free(w);
    ss_sim_destroy(w->sim);
    ss_world_destroy(w->world);
    ss_release(w->state);
    ss_release(w->parameters);
    ss_release(w->body_mu);
    ss_release(w);
}

tb_world *tb_get_world(const mxArray *handle, ss_error *err)
{
    return tb_find(TB_WORLD, handle, err);
}

static tb_world *make(ss_error *err)
{
    tb_world *w = ss_allocate(1, sizeof *w);
    if (!w) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a world");
    if (w && (w->world = ss_world_create(err))) return w;
    ss_release(w);
    return NULL;
}

static bool keep(tb_world *w, const tb_call *call, ss_error *err)
{
    mxArray *number = tb_keep(TB_WORLD, w, destroy, err);
    if (number)
        call->output[0] = number;
    else
        destroy(w);
    return number != NULL;
}

bool tb_do_world_create(const tb_call *call, ss_error *err)
{
    tb_world *w = make(err);
    return w && keep(w, call, err);
}

bool tb_do_world_free(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], NULL);
    if (w && w->stepping)
        return ss_fail(err, SS_ERROR_USAGE, "a world cannot be freed from inside its own step");
    tb_drop(TB_WORLD, call->input[0], true);
    return true;
}

/* Something may be added: the simulation has not begun. */
static tb_world *open_world(const mxArray *handle, ss_error *err)
{
    tb_world *w = tb_get_world(handle, err);
    if (w && w->sim) {
        ss_fail(err, SS_ERROR_USAGE, "bodies, shapes and joints must be added before the first step");
        return NULL;
    }
    return w;
}

/* ---- scenes ------------------------------------------------------------------------------------------- */

bool tb_do_world_scenes(const tb_call *call, ss_error *err)
{
    static const char *fields[] = {"name", "summary", "description", "h", "length", "parameters"};
    (void)err;
    mxArray *list = mxCreateStructMatrix(1, (mwSize)ss_scene_count(), 6, fields);
    for (int i = 0; i < ss_scene_count(); i++) {
        const ss_scene *scene = ss_scene_at(i);
        mwIndex k = (mwIndex)i;
        mxSetField(list, k, "name", tb_text(scene->name));
        mxSetField(list, k, "summary", tb_text(scene->summary));
        mxSetField(list, k, "description", tb_text(scene->description));
        mxSetField(list, k, "h", tb_number(scene->h));
        mxSetField(list, k, "length", tb_number(scene->length));
        mxSetField(list, k, "parameters", tb_options(scene->parameters));
    }
    call->output[0] = list;
    return true;
}

/* Parameters of the scene, and the seed by which it scatters its bodies. */
static bool set_parameters(const ss_scene *scene, const mxArray *given, void *parameters, int *seed,
                           ss_error *err)
{
    static const ss_option seed_table[] = {{.name = "seed",
                                            .type = SS_OPTION_INT,
                                            .default_value = "1",
                                            .min = 0,
                                            .max = INT_MAX,
                                            .help = "seed"},
                                           {0}};
    ss_options_defaults(seed_table, seed);
    if (scene->parameters) ss_options_defaults(scene->parameters, parameters);
    for (size_t i = 0; i < tb_count(given); i++) {
        char *text = tb_get_text(mxGetCell(given, (mwIndex)i), "parameter", err);
        if (!text) return false;
        bool good = strncmp(text, "seed=", 5) == 0 ? ss_options_assign(seed_table, seed, text, err)
                    : scene->parameters ? ss_options_assign(scene->parameters, parameters, text, err)
                                        : ss_fail(err, SS_ERROR_USAGE, "it has no parameters");
        mxFree(text);
        if (!good) return ss_fail_in(err, "scene %s", scene->name);
    }
    return true;
}

bool tb_do_world_scene(const tb_call *call, ss_error *err)
{
    char *name = tb_get_text(call->input[0], "scene", err);
    if (!name) return false;
    const ss_scene *scene = ss_scene_find(name);
    if (!scene) ss_fail(err, SS_ERROR_USAGE, "unknown scene '%.60s'; ss_scenes lists them", name);
    mxFree(name);
    if (!scene || !mxIsCell(call->input[1]))
        return scene && ss_fail(err, SS_ERROR_USAGE, "expected cells of texts");

    int seed;
    tb_world *w = make(err);
    if (!w) return false;
    w->scene = scene;
    w->parameters = ss_allocate(1, scene->parameters_size);
    bool good = (w->parameters || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for parameters")) &&
                set_parameters(scene, call->input[1], w->parameters, &seed, err) &&
                scene->build(w->parameters, (uint64_t)seed, w->world, err);
    if (!good) {
        destroy(w);
        return false;
    }
    if (call->outputs > 1) {
        mxArray *about = tb_struct();
        tb_set(about, "h", tb_number(scene->h));
        tb_set(about, "length", tb_number(scene->length));
        tb_set(about, "summary", tb_text(scene->summary));
        call->output[1] = about;
    }
    return keep(w, call, err);
}

/* ---- fields of a struct ------------------------------------------------------------------------------- */

/* `count` numbers, or nothing: the field may be missing or empty. */
static bool get(const mxArray *from, const char *field, size_t count, double *to, ss_error *err)
{
    const mxArray *value = tb_get(from, field);
    return !value || mxIsEmpty(value) || tb_copy(value, count, to, field, err);
}

static bool get_count(const mxArray *from, const char *field, int low, int high, int *to, ss_error *err)
{
    const mxArray *value = tb_get(from, field);
    return !value || mxIsEmpty(value) || tb_get_int(value, field, low, high, to, err);
}

typedef const char *name_of(int index);

static const char *shape_name(int kind)
{
    return ss_shape_kind_name((ss_shape_kind)kind);
}

static const char *joint_name(int kind)
{
    return ss_joint_kind_name((ss_joint_kind)kind);
}

static const char *body_name(int kind)
{
    static const char *const names[] = {"static", "kinematic", "dynamic"};
    return names[kind];
}

static const char *motor_name(int mode)
{
    static const char *const names[] = {"off", "velocity", "position", "drive"};
    return names[mode];
}

static const char *solid_name(int solid)
{
    static const char *const names[] = {"tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"};
    return names[solid];
}

static bool choose(const mxArray *value, const char *what, name_of *name, int count, int *to, ss_error *err)
{
    char known[300] = "";
    char *text = tb_get_text(value, what, err);
    if (!text) return false;
    int found = -1;
    for (int i = 0; i < count; i++) {
        if (strcmp(text, name(i)) == 0) found = i;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", name(i));
    }
    if (found < 0) ss_fail(err, SS_ERROR_USAGE, "%s: unknown '%.60s'; there are %s", what, text, known);
    mxFree(text);
    *to = found;
    return found >= 0;
}

static bool get_choice(const mxArray *from, const char *field, name_of *name, int count, int *to,
                       ss_error *err)
{
    const mxArray *value = tb_get(from, field);
    return !value || mxIsEmpty(value) || choose(value, field, name, count, to, err);
}

bool tb_get_body(const tb_world *w, const mxArray *value, const char *what, int *body, ss_error *err)
{
    int number;
    if (!tb_get_int(value, what, 0, ss_world_body_count(w->world), &number, err)) return false;
    *body = number - 1; // 0 becomes SS_WORLD
    return true;
}

/* ---- bodies, shapes, materials ------------------------------------------------------------------------ */

bool tb_do_world_gravity(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    if (!w || (call->inputs > 1 && !tb_copy(call->input[1], 3, ss_world_gravity(w->world), "gravity", err)))
        return false;
    call->output[0] = tb_real(3, 1, ss_world_gravity(w->world));
    return true;
}

static bool get_coupling(const mxArray *from, ss_spin_coupling *coupling, ss_error *err)
{
    char *text = NULL;
    bool good = tb_get_option(from, "spin_coupling", &text, err);
    if (good && text && strcmp(text, "ellipsoid") == 0)
        *coupling = SS_SPIN_ELLIPSOID;
    else if (good && text && strcmp(text, "independent") != 0)
        good = ss_fail(err, SS_ERROR_USAGE, "spin_coupling: '%s', must be independent or ellipsoid", text);
    mxFree(text);
    return good;
}

bool tb_do_world_material(const tb_call *call, ss_error *err)
{
    tb_world *w = open_world(call->input[0], err);
    const mxArray *from = call->input[1];
    ss_material material = {.mu = 0.5};
    char *name = NULL, own[32];
    bool good = w && tb_get_option(from, "name", &name, err) && tb_get_real(from, "mu", &material.mu, err) &&
                tb_get_real(from, "restitution", &material.restitution, err) &&
                tb_get_real(from, "mu_rolling", &material.mu_rolling, err) &&
                tb_get_real(from, "mu_torsion", &material.mu_torsion, err) &&
                get_coupling(from, &material.spin_coupling, err) &&
                tb_get_real(from, "mu_across", &material.mu_across, err) &&
                get(from, "grain", 3, material.grain, err);
    if (good) {
        snprintf(own, sizeof own, "material %d", ss_world_material_count(w->world));
        material.name = name ? name : own;
        int number = ss_world_add_material(w->world, &material, err);
        good = number >= 0;
        if (good) call->output[0] = tb_number(number);
    }
    mxFree(name);
    return good;
}

bool tb_do_world_pair(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    const mxArray *from = call->input[3];
    ss_material_pair pair = {.mu = 0.5};
    int a, b, last = w ? ss_world_material_count(w->world) - 1 : 0;
    return w && tb_get_int(call->input[1], "material", 0, last, &a, err) &&
           tb_get_int(call->input[2], "material", 0, last, &b, err) &&
           tb_get_real(from, "mu", &pair.mu, err) && tb_get_real(from, "mu_static", &pair.mu_static, err) &&
           tb_get_real(from, "restitution", &pair.restitution, err) &&
           tb_get_real(from, "mu_rolling", &pair.mu_rolling, err) &&
           tb_get_real(from, "mu_torsion", &pair.mu_torsion, err) &&
           tb_get_real(from, "stiffness", &pair.stiffness, err) &&
           tb_get_real(from, "damping", &pair.damping, err) &&
           tb_get_real(from, "adhesion", &pair.adhesion, err) &&
           tb_get_real(from, "mu_across", &pair.mu_across, err) &&
           get_coupling(from, &pair.spin_coupling, err) && ss_world_set_pair(w->world, a, b, &pair, err);
}

bool tb_do_world_body(const tb_call *call, ss_error *err)
{
    tb_world *w = open_world(call->input[0], err);
    const mxArray *from = call->input[1];
    ss_body body = {.kind = SS_DYNAMIC};
    int kind = SS_DYNAMIC, number = -1;
    char *name = NULL;
    bool good =
        w && tb_get_option(from, "name", &name, err) && get_choice(from, "kind", body_name, 3, &kind, err) &&
        get(from, "position", 3, body.position, err) && get(from, "quaternion", 4, body.quaternion, err) &&
        get(from, "velocity", 6, body.velocity, err) && get(from, "force", 6, body.force, err) &&
        tb_get_real(from, "mass", &body.mass, err) && get(from, "inertia", 9, body.inertia, err) &&
        tb_get_real(from, "gravity_scale", &body.gravity_scale, err) &&
        tb_get_real(from, "linear_damping", &body.linear_damping, err) &&
        tb_get_real(from, "angular_damping", &body.angular_damping, err) &&
        tb_get_flag(from, "disabled", &body.disabled, err);
    if (good) {
        body.name = name;
        body.kind = (ss_body_kind)kind;
        number = ss_world_add_body(w->world, &body, err);
        good = number >= 0;
    }
    if (good) call->output[0] = tb_number(number + 1);
    mxFree(name);
    return good;
}

/* Vertices 3 x n, faces 3 x m counted from 1. */
static ss_mesh *get_mesh(const mxArray *vertices, const mxArray *faces, ss_error *err)
{
    static const double most = 1e8;
    bool fits = tb_is_numeric(vertices) && tb_is_numeric(faces) && mxGetM(vertices) == 3 &&
                mxGetM(faces) == 3 && (double)tb_count(vertices) < most && (double)tb_count(faces) < most;
    if (!fits) {
        ss_fail(err, SS_ERROR_USAGE, "mesh: expected vertices (3 x n) and faces (3 x m)");
        return NULL;
    }
    int n = (int)(tb_count(vertices) / 3), m = (int)(tb_count(faces) / 3);
    ss_mesh *mesh = ss_mesh_create(n, m, err);
    if (!mesh || !tb_copy(vertices, 3 * (size_t)n, mesh->vertex[0], "vertices", err)) {
        ss_mesh_destroy(mesh);
        return NULL;
    }
    for (int i = 0; i < 3 * m; i++) {
        double number = tb_at(faces, (size_t)i);
        if (!(number >= 1 && number <= n)) {
            ss_fail(err, SS_ERROR_USAGE, "mesh: face %d has vertex %g, there are %d", i / 3 + 1, number, n);
            ss_mesh_destroy(mesh);
            return NULL;
        }
        mesh->face[i / 3][i % 3] = (int)number - 1;
    }
    return mesh;
}

/* size: one to three numbers, as the kind needs. */
static bool get_size(const mxArray *from, double size[3], ss_error *err)
{
    const mxArray *value = tb_get(from, "size");
    if (!value || mxIsEmpty(value)) return true;
    size_t count = tb_count(value);
    if (count > 3) return ss_fail(err, SS_ERROR_USAGE, "size: %zu numbers, expected one to three", count);
    return tb_copy(value, count, size, "size", err);
}

bool tb_do_world_shape(const tb_call *call, ss_error *err)
{
    tb_world *w = open_world(call->input[0], err);
    const mxArray *from = call->input[2];
    int body = 0, kind = 0, group = 0, mask = 0, colour = 0;
    ss_shape shape = {0};
    bool good = w && tb_get_body(w, call->input[1], "body", &body, err) &&
                choose(tb_get(from, "kind"), "kind", shape_name, SS_SHAPE_KINDS, &kind, err) &&
                get_size(from, shape.size, err) && get(from, "position", 3, shape.position, err) &&
                get(from, "quaternion", 4, shape.quaternion, err) &&
                tb_get_real(from, "density", &shape.density, err) &&
                get_count(from, "material", 0, INT_MAX, &shape.material, err) &&
                get_count(from, "group", 0, INT_MAX, &group, err) &&
                get_count(from, "collides_with", 0, INT_MAX, &mask, err) &&
                get_count(from, "colour", 0, 0xffffff, &colour, err) &&
                get(from, "surface_velocity", 3, shape.surface_velocity, err) &&
                tb_get_flag(from, "ghost", &shape.ghost, err);
    if (!good) return false;
    shape.kind = (ss_shape_kind)kind;
    shape.group = (uint32_t)group;
    shape.collides_with = (uint32_t)mask;
    shape.colour = (uint32_t)colour;

    // What the world copies: a mesh, or heights.
    ss_mesh *mesh = NULL;
    double *heights = NULL;
    if (shape.kind == SS_HULL || shape.kind == SS_MESH) {
        shape.mesh = mesh = get_mesh(tb_get(from, "vertices"), tb_get(from, "faces"), err);
        good = mesh != NULL;
    } else if (shape.kind == SS_HEIGHTFIELD) {
        const mxArray *given = tb_get(from, "heights");
        size_t count = given ? tb_count(given) : 0;
        shape.heights = heights = ss_allocate(count, sizeof *heights);
        shape.nx = given ? (int)mxGetM(given) : 0;
        shape.ny = given ? (int)mxGetN(given) : 0;
        good = (heights || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for heights")) &&
               tb_copy(given, count, heights, "heights", err);
    }
    int number = good ? ss_world_add_shape(w->world, body, &shape, err) : -1;
    if (number >= 0) call->output[0] = tb_number(number + 1);
    ss_mesh_destroy(mesh);
    ss_release(heights);
    return number >= 0;
}

bool tb_do_world_separate(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    int a, b;
    return w && tb_get_body(w, call->input[1], "body", &a, err) &&
           tb_get_body(w, call->input[2], "body", &b, err) && ss_world_separate(w->world, a, b, err);
}

/* ---- joints ------------------------------------------------------------------------------------------- */

static bool get_law(const mxArray *from, ss_axis_law *law, ss_error *err)
{
    int motor = (int)law->motor;
    const mxArray *limits = tb_get(from, "limits");
    double range[2];
    if (limits && !mxIsEmpty(limits)) {
        if (!tb_copy(limits, 2, range, "limits", err)) return false;
        law->limited = true;
        law->lower = range[0];
        law->upper = range[1];
    }
    bool good = get_choice(from, "motor", motor_name, 4, &motor, err) &&
                tb_get_real(from, "target", &law->target, err) &&
                tb_get_real(from, "target_speed", &law->target_speed, err) &&
                tb_get_real(from, "max_force", &law->max_force, err) &&
                tb_get_real(from, "stiffness", &law->stiffness, err) &&
                tb_get_real(from, "damping", &law->damping, err) &&
                tb_get_real(from, "rest", &law->rest, err) && tb_get_real(from, "force", &law->force, err) &&
                tb_get_real(from, "friction", &law->friction, err) &&
                tb_get_real(from, "load_friction", &law->load_friction, err) &&
                tb_get_real(from, "armature", &law->armature, err) &&
                tb_get_real(from, "motor_stiffness", &law->motor_stiffness, err) &&
                tb_get_real(from, "motor_damping", &law->motor_damping, err);
    law->motor = (ss_motor_mode)motor;
    return good;
}

bool tb_do_world_joint(const tb_call *call, ss_error *err)
{
    tb_world *w = open_world(call->input[0], err);
    const mxArray *from = call->input[1];
    ss_joint joint = {.a = SS_WORLD, .b = SS_WORLD};
    int kind = 0, number = -1;
    char *name = NULL;
    bool good =
        w && choose(tb_get(from, "kind"), "kind", joint_name, SS_JOINT_KINDS, &kind, err) &&
        tb_get_option(from, "name", &name, err) && tb_get_body(w, tb_get(from, "a"), "a", &joint.a, err) &&
        tb_get_body(w, tb_get(from, "b"), "b", &joint.b, err) && get(from, "anchor", 3, joint.anchor, err) &&
        get(from, "anchor_b", 3, joint.anchor_b, err) && get(from, "axis", 3, joint.axis, err) &&
        get(from, "axis2", 3, joint.axis2, err) && tb_get_real(from, "ratio", &joint.ratio, err) &&
        tb_get_real(from, "compliance", &joint.compliance, err) &&
        tb_get_flag(from, "bodies_collide", &joint.bodies_collide, err) && get_law(from, &joint.law[0], err);
    if (good) {
        joint.kind = (ss_joint_kind)kind;
        joint.name = name;
        number = ss_world_add_joint(w->world, &joint, err);
        good = number >= 0;
    }
    if (good) call->output[0] = tb_number(number + 1);
    mxFree(name);
    return good;
}

bool tb_do_world_law(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    int joint, coordinate;
    return w && tb_get_int(call->input[1], "joint", 1, ss_world_joint_count(w->world), &joint, err) &&
           tb_get_int(call->input[2], "coordinate", 1, 2, &coordinate, err) &&
           get_law(call->input[3], &ss_world_joint(w->world, joint - 1)->law[coordinate - 1], err);
}

/* ---- meshes ------------------------------------------------------------------------------------------- */

static bool show_mesh(const tb_call *call, ss_mesh *mesh)
{
    if (!mesh) return false;
    call->output[0] = tb_real(3, mesh->vertex_count, mesh->vertex[0]);
    if (call->outputs > 1) {
        mxArray *faces = tb_real(3, mesh->face_count, NULL);
        double *to = mxGetData(faces);
        for (int i = 0; i < 3 * mesh->face_count; i++) to[i] = mesh->face[i / 3][i % 3] + 1;
        call->output[1] = faces;
    }
    ss_mesh_destroy(mesh);
    return true;
}

bool tb_do_mesh_solid(const tb_call *call, ss_error *err)
{
    int solid;
    return choose(call->input[0], "solid", solid_name, 5, &solid, err) &&
           show_mesh(call, ss_mesh_solid((ss_solid)solid, err));
}

bool tb_do_mesh_cylinder(const tb_call *call, ss_error *err)
{
    int sides;
    double radius, length;
    return tb_get_int(call->input[0], "sides", 3, 1000000, &sides, err) &&
           tb_get_number(call->input[1], "radius", &radius, err) &&
           tb_get_number(call->input[2], "length", &length, err) &&
           show_mesh(call, ss_mesh_cylinder(sides, radius, length, err));
}

bool tb_do_mesh_read(const tb_call *call, ss_error *err)
{
    char *path = tb_get_text(call->input[0], "path", err);
    bool good = path && show_mesh(call, ss_mesh_read(path, err));
    mxFree(path);
    return good;
}

bool tb_do_mesh_hull(const tb_call *call, ss_error *err)
{
    const mxArray *points = call->input[0];
    if (!tb_is_numeric(points) || mxGetM(points) != 3 || tb_count(points) > INT_MAX)
        return ss_fail(err, SS_ERROR_USAGE, "points: expected 3 x n numbers");
    size_t count = tb_count(points);
    double(*copy)[3] = ss_allocate(count, sizeof(double));
    bool good = (copy || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for points")) &&
                tb_copy(points, count, copy[0], "points", err) &&
                show_mesh(call, ss_mesh_hull((const double(*)[3])copy, (int)(count / 3), err));
    ss_release(copy);
    return good;
}

bool tb_do_mesh_mass(const tb_call *call, ss_error *err)
{
    ss_mesh *mesh = get_mesh(call->input[0], call->input[1], err);
    if (!mesh) return false;
    ss_mass_properties mass = ss_mesh_mass(mesh, 1.0);
    ss_mesh_destroy(mesh);
    call->output[0] = tb_number(mass.mass);
    if (call->outputs > 1) call->output[1] = tb_real(3, 1, mass.centre);
    if (call->outputs > 2) call->output[2] = tb_real(3, 3, mass.inertia);
    return true;
}

/* Flat within a millionth of the box around it. */
bool tb_do_mesh_convex(const tb_call *call, ss_error *err)
{
    static const double flat = 1e-6;
    ss_mesh *mesh = get_mesh(call->input[0], call->input[1], err);
    if (!mesh) return false;
    double size = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < mesh->vertex_count; i++) {
            low = fmin(low, mesh->vertex[i][k]);
            high = fmax(high, mesh->vertex[i][k]);
        }
        size = fmax(size, high - low);
    }
    call->output[0] = mxCreateLogicalScalar(ss_mesh_is_convex(mesh, flat * size));
    ss_mesh_destroy(mesh);
    return true;
}
