/* The tree of a model: its items, the files it names, and what its parts weigh. */
#include "modelfile/tree.h"

#include "model/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- items ------------------------------------------------------------------------------------------ */

#define ADD(tree, items, count) \
    ((items) = ss_reading_grow((tree)->reading, (items), (count), sizeof *(items)), (items) != NULL)

ss_model_part *ss_tree_add_part(ss_tree *tree, ss_xml *node, int parent)
{
    if (tree->part_count >= SS_MODEL_PARTS_MOST) {
        ss_xml_fail(tree->reading, node, "more than %d bodies", SS_MODEL_PARTS_MOST);
        return NULL;
    }
    if (!ADD(tree, tree->parts, tree->part_count)) return NULL;
    ss_model_part *part = &tree->parts[tree->part_count++];
    *part = (ss_model_part){
        .node = node, .parent = parent, .pose = ss_pose_identity(), .first_joint = tree->joint_count};
    return part;
}

ss_model_joint *ss_tree_add_joint(ss_tree *tree, ss_xml *node, int part)
{
    if (!ADD(tree, tree->joints, tree->joint_count)) return NULL;
    ss_model_part *owner = &tree->parts[part];
    if (owner->joint_count++ == 0) owner->first_joint = tree->joint_count;
    ss_model_joint *joint = &tree->joints[tree->joint_count++];
    *joint = (ss_model_joint){.node = node,
                              .part = part,
                              .axis = {0.0, 0.0, 1.0},
                              .start_turn = {1.0, 0.0, 0.0, 0.0},
                              .number = -1};
    return joint;
}

ss_model_geom *ss_tree_add_geom(ss_tree *tree, ss_xml *node, int part)
{
    if (tree->geom_count >= SS_MODEL_GEOMS_MOST) {
        ss_xml_fail(tree->reading, node, "more than %d shapes", SS_MODEL_GEOMS_MOST);
        return NULL;
    }
    if (!ADD(tree, tree->geoms, tree->geom_count)) return NULL;
    ss_model_geom *geom = &tree->geoms[tree->geom_count++];
    *geom = (ss_model_geom){.node = node,
                            .part = part,
                            .pose = ss_pose_identity(),
                            .mesh = -1,
                            .mass = NAN,
                            .mu = tree->default_mu,
                            .condim = 3,
                            .contype = 1,
                            .conaffinity = 1};
    return geom;
}

ss_model_equality *ss_tree_add_equality(ss_tree *tree, ss_xml *node, ss_model_equality_kind kind)
{
    if (!ADD(tree, tree->equalities, tree->equality_count)) return NULL;
    ss_model_equality *equality = &tree->equalities[tree->equality_count++];
    *equality = (ss_model_equality){.node = node, .kind = kind, .part = {-1, -1}};
    return equality;
}

bool ss_tree_add_pair(ss_tree *tree, const ss_model_pair *pair)
{
    if (!ADD(tree, tree->pairs, tree->pair_count)) return false;
    tree->pairs[tree->pair_count++] = *pair;
    return true;
}

bool ss_tree_add_exclusion(ss_tree *tree, int part_a, int part_b)
{
    if (!ADD(tree, tree->exclusions, tree->exclusion_count)) return false;
    tree->exclusions[tree->exclusion_count++] = (ss_model_exclusion){{part_a, part_b}};
    return true;
}

int ss_tree_add_mesh(ss_tree *tree, ss_mesh *mesh)
{
    if (!ADD(tree, tree->meshes, tree->mesh_count)) {
        ss_mesh_destroy(mesh);
        return -1;
    }
    tree->meshes[tree->mesh_count] = (ss_model_mesh){.mesh = mesh};
    return tree->mesh_count++;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

int ss_tree_find_part(const ss_tree *tree, const char *name)
{
    for (int i = 0; i < tree->part_count; i++)
        if (same(tree->parts[i].name, name)) return i;
    return -1;
}

int ss_tree_find_joint(const ss_tree *tree, const char *name)
{
    for (int i = 0; i < tree->joint_count; i++)
        if (same(tree->joints[i].name, name)) return i;
    return -1;
}

int ss_tree_find_geom(const ss_tree *tree, const char *name)
{
    for (int i = 0; i < tree->geom_count; i++)
        if (same(tree->geoms[i].name, name)) return i;
    return -1;
}

void ss_tree_free(ss_tree *tree)
{
    for (int i = 0; i < tree->mesh_count; i++) {
        ss_mesh_destroy(tree->meshes[i].mesh);
        ss_mesh_destroy(tree->meshes[i].hull);
    }
    tree->mesh_count = 0;
}

/* ---- files ------------------------------------------------------------------------------------------ */

/* Does a relative path climb above where it starts? */
static bool climbs_out(const char *path)
{
    int depth = 0;
    while (*path) {
        const char *end = strchr(path, '/');
        size_t length = end ? (size_t)(end - path) : strlen(path);
        if (length == 2 && path[0] == '.' && path[1] == '.')
            depth--;
        else if (length > 0 && !(length == 1 && path[0] == '.'))
            depth++;
        if (depth < 0) return true;
        path += length + (end != NULL);
    }
    return false;
}

const char *ss_tree_path(ss_tree *tree, const ss_xml *node, const char *directory, const char *name)
{
    if (!tree->folder) {
        ss_xml_fail(tree->reading, node, "names the file \"%.200s\", but there is no folder", name);
        return NULL;
    }
    if (strlen(tree->folder) + strlen(directory) + strlen(name) > 3000) {
        ss_xml_fail(tree->reading, node, "a path of more than 3000 characters");
        return NULL;
    }
    bool absolute = name[0] == '/' || directory[0] == '/';
    const char *below =
        name[0] == '/' || !directory[0] ? name : ss_reading_text(tree->reading, "%s/%s", directory, name);
    if (!tree->options->outside && (absolute || climbs_out(below))) {
        ss_xml_fail(tree->reading, node,
                    "\"%.300s\" lies outside of the model's folder, which is not allowed", below);
        return NULL;
    }
    return absolute ? below : ss_reading_text(tree->reading, "%s/%s", tree->folder, below);
}

bool ss_tree_check_path(ss_tree *tree, const ss_xml *node, const char *path)
{
    char *real = realpath(path, NULL), *folder = realpath(tree->folder, NULL);
    size_t length = folder ? strlen(folder) : 0;
    bool inside = real && folder && strncmp(real, folder, length) == 0 &&
                  (real[length] == '/' || (length > 0 && folder[length - 1] == '/'));
    bool good = real && (inside || tree->options->outside);
    if (!real)
        ss_xml_fail(tree->reading, node, "the file \"%.400s\" does not exist", path);
    else if (!good)
        ss_xml_fail(tree->reading, node,
                    "\"%.400s\" lies outside of the model's folder, which is not allowed", path);
    free(real);
    free(folder);
    return good;
}

/* ---- mass ------------------------------------------------------------------------------------------- */

void ss_mass_transform(ss_mass_properties *mass, ss_pose pose)
{
    ss_vec3_store(ss_pose_point(pose, ss_vec3_load(mass->centre)), mass->centre);
    ss_mat3_store(ss_mat3_rotate_tensor(ss_quat_to_matrix(pose.q), ss_mat3_load(mass->inertia)),
                  mass->inertia);
}

/* m (d.d 1 - d d') */
static ss_mat3 parallel_axis(double mass, ss_vec3 d)
{
    double square = ss_vec3_dot(d, d);
    return ss_mat3_scale(
        mass, ss_mat3_add_scaled(ss_mat3_diagonal(square, square, square), -1.0, ss_mat3_outer(d, d)));
}

ss_mass_properties ss_mass_add(ss_mass_properties a, ss_mass_properties b)
{
    ss_mass_properties sum = {.mass = a.mass + b.mass};
    if (!(sum.mass > 0.0)) return sum;
    ss_vec3 ca = ss_vec3_load(a.centre), cb = ss_vec3_load(b.centre);
    ss_vec3 centre = ss_vec3_add_scaled(ca, b.mass / sum.mass, ss_vec3_subtract(cb, ca));
    ss_vec3_store(centre, sum.centre);
    ss_mat3 inertia = ss_mat3_add_scaled(ss_mat3_load(a.inertia), 1.0, ss_mat3_load(b.inertia));
    inertia = ss_mat3_add_scaled(inertia, 1.0, parallel_axis(a.mass, ss_vec3_subtract(ca, centre)));
    inertia = ss_mat3_add_scaled(inertia, 1.0, parallel_axis(b.mass, ss_vec3_subtract(cb, centre)));
    ss_mat3_store(inertia, sum.inertia);
    return sum;
}

const ss_mesh *ss_tree_hull(ss_tree *tree, const ss_xml *node, int mesh)
{
    ss_model_mesh *item = &tree->meshes[mesh];
    ss_error err = {0};
    if (!item->hull)
        item->hull = ss_mesh_hull((const double(*)[3])item->mesh->vertex, item->mesh->vertex_count, &err);
    if (!item->hull) ss_xml_fail(tree->reading, node, "its mesh has no convex hull: %s", err.message);
    return item->hull;
}

/* A closed mesh weighs what it encloses; one that is open or inside out, what its convex hull does. */
static ss_mass_properties mesh_mass(ss_tree *tree, const ss_model_geom *geom)
{
    const ss_mesh *mesh = tree->meshes[geom->mesh].mesh;
    if (mesh->face_count > 0) {
        ss_findings findings = {.limit = 1};
        bool closed = ss_mesh_check(mesh, "", &findings);
        ss_findings_free(&findings);
        ss_mass_properties mass = ss_mesh_mass(mesh, 1.0);
        if (closed && mass.mass > 0.0) return mass;
    }
    const ss_mesh *hull = ss_tree_hull(tree, geom->node, geom->mesh);
    return hull ? ss_mesh_mass(hull, 1.0) : (ss_mass_properties){0};
}

ss_mass_properties ss_geom_mass(ss_tree *tree, const ss_model_geom *geom)
{
    ss_mass_properties mass = {0};
    if (geom->kind == SS_HULL || geom->kind == SS_MESH) {
        mass = mesh_mass(tree, geom);
    } else {
        ss_shape shape = {.kind = geom->kind};
        memcpy(shape.size, geom->size, sizeof shape.size);
        mass = ss_shape_mass(&shape, 1.0);
    }
    if (!(mass.mass > 0.0)) return (ss_mass_properties){0};
    double factor = isnan(geom->mass) ? geom->density : geom->mass / mass.mass;
    mass.mass *= factor;
    for (int i = 0; i < 9; i++) mass.inertia[i] *= factor;
    ss_mass_transform(&mass, geom->pose);
    return mass;
}

void ss_part_weigh(ss_tree *tree, int part)
{
    ss_mass_properties sum = {0};
    for (int i = 0; i < tree->geom_count; i++) {
        const ss_model_geom *geom = &tree->geoms[i];
        if (geom->part == part && geom->weighs) sum = ss_mass_add(sum, ss_geom_mass(tree, geom));
    }
    ss_model_part *to = &tree->parts[part];
    to->mass = sum.mass;
    to->centre = ss_vec3_load(sum.centre);
    memcpy(to->inertia, sum.inertia, sizeof to->inertia);
    to->has_inertial = sum.mass > 0.0;
}

/* ---- small things ----------------------------------------------------------------------------------- */

ss_quat ss_quat_from_rpy(double roll, double pitch, double yaw)
{
    ss_quat x = ss_quat_exponential((ss_vec3){roll, 0.0, 0.0});
    ss_quat y = ss_quat_exponential((ss_vec3){0.0, pitch, 0.0});
    ss_quat z = ss_quat_exponential((ss_vec3){0.0, 0.0, yaw});
    return ss_quat_multiply(z, ss_quat_multiply(y, x));
}

uint32_t ss_colour_of(const double rgba[4])
{
    uint32_t colour = 0;
    for (int i = 0; i < 3; i++) {
        double level = fmin(fmax(rgba[i], 0.0), 1.0);
        colour = colour << 8 | (uint32_t)lround(255.0 * level);
    }
    return colour ? colour : 1; // 0 would mean: chosen by number
}
