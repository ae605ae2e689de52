/* MJCF: shapes and the meshes they are made of. */
#include "modelfile/mjcf.h"

#include <math.h>
#include <string.h>

/* ---- meshes ----------------------------------------------------------------------------------------- */

/* Vertices, and faces if there are any, written in the file itself. */
static ss_mesh *inline_mesh(ss_mjcf *m, ss_xml *node)
{
    const char *vertices = ss_xml_text(node, "vertex"), *faces = ss_xml_text(node, "face");
    int count = ss_xml_count_words(vertices), corners = faces ? ss_xml_count_words(faces) : 0;
    double *v = ss_reading_take(m->reading, (size_t)count + 1, sizeof *v);
    double *f = ss_reading_take(m->reading, (size_t)corners + 1, sizeof *f);
    if (!v || !f) return NULL;
    if (count % 3 != 0 || count < 12 || corners % 3 != 0) {
        ss_xml_fail(m->reading, node, "vertex and face must be triples, and vertices at least 4");
        return NULL;
    }

    ss_xml_parse_numbers(m->reading, node, "vertex", vertices, count, count, v);
    if (faces) ss_xml_parse_numbers(m->reading, node, "face", faces, corners, corners, f);
    ss_error err = {0};
    ss_mesh *mesh = m->reading->failed ? NULL : ss_mesh_create(count / 3, corners / 3, &err);
    if (!mesh) {
        ss_xml_fail(m->reading, node, "%s", err.message);
        return NULL;
    }

    memcpy(mesh->vertex[0], v, (size_t)count * sizeof *v);
    for (int i = 0; i < corners; i++) {
        if (!(f[i] >= 0.0 && f[i] < count / 3)) {
            ss_xml_fail(m->reading, node, "face: vertex %g; there are %d", f[i], count / 3);
            ss_mesh_destroy(mesh);
            return NULL;
        }
        mesh->face[i / 3][i % 3] = (int)f[i];
    }
    return mesh;
}

/* Reads a mesh of <asset>, when the first shape needs it: its number in the tree, -1 if there is none. */
static int load_mesh(ss_mjcf *m, ss_mjcf_mesh *item, bool required)
{
    ss_xml *node = item->node;
    if (item->mesh >= 0 || m->reading->failed) return item->mesh;
    ss_mjcf_element e = ss_mjcf_element_of(m, node, ss_mjcf_find_class(m, NULL, "main"));
    double scale[3] = {1.0, 1.0, 1.0}, back[3] = {0.0, 0.0, 0.0}, turn[4];
    ss_mjcf_numbers(m, e, "scale", 3, 3, scale);
    if (scale[0] == 0.0 || scale[1] == 0.0 || scale[2] == 0.0) {
        ss_xml_fail(m->reading, node, "scale: must not be 0");
        return -1;
    }

    const char *file = ss_xml_text(node, "file");
    if (file) {
        const char *slash = strrchr(file, '/');
        if (m->strip_path && slash) file = slash + 1;
        const char *path = ss_tree_resolve(m->tree, node, m->mesh_dir, file);
        item->mesh = path ? ss_tree_read_mesh(m->tree, node, path, scale, required) : -1;
    } else if (ss_xml_text(node, "vertex")) {
        ss_mesh *mesh = inline_mesh(m, node);
        if (mesh) ss_mesh_transform(mesh, scale, NULL, NULL);
        item->mesh = mesh ? ss_tree_add_mesh(m->tree, mesh) : -1;
    } else {
        ss_xml_fail(m->reading, node, "has neither file nor vertex");
    }

    if (item->mesh < 0) return -1;
    // refpos, refquat: where the origin is taken to be
    ss_mesh *mesh = m->tree->meshes[item->mesh].mesh;
    const double one[3] = {1.0, 1.0, 1.0};
    if (ss_mjcf_numbers(m, e, "refpos", 3, 3, back)) {
        for (int i = 0; i < 3; i++) back[i] = -back[i];
        ss_mesh_transform(mesh, one, NULL, back);
    }
    if (ss_mjcf_numbers(m, e, "refquat", 4, 4, turn)) {
        ss_quat_store(ss_quat_conjugate(ss_quat_normalise(ss_quat_load(turn))), turn);
        ss_mesh_transform(mesh, one, turn, NULL);
    }
    return item->mesh;
}

/* ---- geometry --------------------------------------------------------------------------------------- */

static bool needs(ss_mjcf *m, ss_mjcf_element e, const double *size, int count, const char *type)
{
    for (int i = 0; i < count; i++)
        if (!(size[i] > 0.0))
            return ss_xml_fail(m->reading, e.node, "size: a %s needs %d positive number%s", type, count,
                               count == 1 ? "" : "s");
    return true;
}

static bool read_mesh(ss_mjcf *m, ss_mjcf_element e, const char *name, bool required, ss_model_geom *geom)
{
    ss_mjcf_mesh *item = NULL;
    for (int i = 0; i < m->mesh_count && !item; i++)
        if (strcmp(m->meshes[i].name, name) == 0) item = &m->meshes[i];
    if (!item) ss_xml_fail(m->reading, e.node, "unknown mesh \"%.80s\"", name);
    geom->kind = SS_HULL; // a mesh collides as its convex hull
    geom->mesh = item ? load_mesh(m, item, required) : -1;
    return geom->mesh >= 0;
}

bool ss_mjcf_read_geometry(ss_mjcf *m, ss_mjcf_element e, bool required, ss_model_geom *geom)
{
    ss_xml *where;
    double size[3] = {0}, ends[6];
    const char *type = ss_mjcf_text(m, e, "type", &where), *mesh = ss_mjcf_text(m, e, "mesh", &where);
    int sizes = ss_mjcf_numbers(m, e, "size", 1, 3, size);
    if (!type) type = "sphere";
    geom->pose = ss_mjcf_pose(m, e);
    if (strcmp(type, "mesh") == 0) {
        if (!mesh) return ss_xml_fail(m->reading, e.node, "type mesh, but no mesh");
        return read_mesh(m, e, mesh, required, geom);
    }
    if (mesh) {
        ss_xml_note(m->reading, SS_FINDING_LOSS, where,
                    "the %.20s that fits the mesh is not honoured: the convex hull of the mesh is taken",
                    type);
        return read_mesh(m, e, mesh, required, geom);
    }
    if (strcmp(type, "plane") == 0) {
        geom->kind = SS_PLANE;
        return true;
    }
    if (strcmp(type, "sphere") == 0) {
        geom->kind = SS_SPHERE;
        geom->size[0] = size[0];
        return needs(m, e, size, 1, type);
    }

    // from one end to the other: the sizes across come first, the length follows
    bool capsule = strcmp(type, "capsule") == 0, cylinder = strcmp(type, "cylinder") == 0,
         box = strcmp(type, "box") == 0, ellipsoid = strcmp(type, "ellipsoid") == 0;
    if (!capsule && !cylinder && !box && !ellipsoid)
        return ss_xml_fail(m->reading, where, "type \"%.40s\" is not honoured", type);
    if (ss_mjcf_numbers(m, e, "fromto", 6, 6, ends)) {
        ss_vec3 a = ss_vec3_load(ends), b = ss_vec3_load(ends + 3), along = ss_vec3_subtract(a, b);
        double length = ss_vec3_norm(along);
        if (!(length > 0.0)) return ss_xml_fail(m->reading, e.node, "fromto: both ends are the same");
        geom->pose.p = ss_vec3_scale(0.5, ss_vec3_add(a, b));
        ss_vec3 z = ss_vec3_scale(1.0 / length, along);
        double sine = sqrt(z.x * z.x + z.y * z.y), angle = atan2(sine, z.z);
        ss_vec3 about = sine > 0.0 ? (ss_vec3){-z.y / sine * angle, z.x / sine * angle, 0.0}
                                   : (ss_vec3){z.z < 0.0 ? 3.14159265358979323846 : 0.0, 0.0, 0.0};
        geom->pose.q = ss_quat_exponential(about);
        int last = capsule || cylinder ? 1 : 2;
        if (last == 2) size[1] = size[0];
        size[last] = 0.5 * length;
        sizes = last + 1;
    }
    (void)sizes;
    geom->kind = capsule ? SS_CAPSULE : cylinder ? SS_CYLINDER : box ? SS_BOX : SS_ELLIPSOID;
    if (!needs(m, e, size, capsule || cylinder ? 2 : 3, type)) return false;
    for (int i = 0; i < 3; i++) geom->size[i] = box ? 2.0 * size[i] : size[i];
    if (capsule || cylinder) geom->size[1] = 2.0 * size[1];
    return true;
}

/* ---- everything else of a shape --------------------------------------------------------------------- */

static uint32_t read_bits(ss_mjcf *m, ss_mjcf_element e, const char *name)
{
    double value = ss_mjcf_number(m, e, name, 1.0);
    if (!(value >= 0.0 && value <= 4294967295.0) || value != floor(value)) {
        ss_xml_fail(m->reading, e.node, "%s: %g, must be a whole number from 0", name, value);
        return 0;
    }
    return (uint32_t)value;
}

static uint32_t read_colour(ss_mjcf *m, ss_mjcf_element e)
{
    ss_xml *where;
    double rgba[4];
    const char *material = ss_mjcf_text(m, e, "material", &where);
    if (ss_mjcf_numbers(m, e, "rgba", 4, 4, rgba)) return ss_colour_of(rgba);
    for (ss_xml *asset = m->root->first; asset && material; asset = asset->next) {
        for (ss_xml *item = ss_xml_is(asset, "asset") ? asset->first : NULL; item; item = item->next) {
            const char *name = ss_xml_is(item, "material") ? ss_xml_text(item, "name") : NULL;
            if (!name || strcmp(name, material) != 0) continue;
            item->read = true;
            ss_mjcf_element of = ss_mjcf_element_of(m, item, ss_mjcf_find_class(m, NULL, "main"));
            if (ss_mjcf_numbers(m, of, "rgba", 4, 4, rgba)) return ss_colour_of(rgba);
        }
    }
    return 0;
}

void ss_mjcf_read_geom(ss_mjcf *m, ss_mjcf_element e, int part, ss_pose frame)
{
    ss_model_geom *geom = ss_tree_add_geom(m->tree, e.node, part);
    if (!geom) return;
    e.node->read = true;
    const char *name = ss_xml_text(e.node, "name");
    geom->name = name ? ss_reading_text(m->reading, "%.200s%s", name, m->suffix) : NULL;
    geom->contype = read_bits(m, e, "contype");
    geom->conaffinity = read_bits(m, e, "conaffinity");
    geom->mass = ss_mjcf_number(m, e, "mass", NAN);
    geom->density = ss_mjcf_number(m, e, "density", 1000.0);
    if (geom->mass < 0.0 || geom->density < 0.0)
        ss_xml_fail(m->reading, e.node, "mass and density must not be negative");
    double group = ss_mjcf_number(m, e, "group", 0.0);
    geom->weighs = group >= m->inertia_group[0] && group <= m->inertia_group[1];

    // friction: sliding, about the normal, rolling; the larger one of a pair counts, or that of the higher
    // priority
    double friction[3] = {1.0, 0.005, 0.0001};
    ss_mjcf_numbers(m, e, "friction", 1, 3, friction);
    if (friction[0] < 0.0 || friction[1] < 0.0 || friction[2] < 0.0)
        ss_xml_fail(m->reading, e.node, "friction must not be negative");
    geom->mu = friction[0];
    geom->mu_torsion = friction[1];
    geom->mu_rolling = friction[2];
    geom->priority = (int)fmin(fmax(ss_mjcf_number(m, e, "priority", 0.0), -1e9), 1e9);
    double condim = ss_mjcf_number(m, e, "condim", 3.0);
    if (condim != 1.0 && condim != 3.0 && condim != 4.0 && condim != 6.0)
        ss_xml_fail(m->reading, e.node, "condim: %g, must be 1, 3, 4 or 6", condim);
    geom->condim = (int)condim;
    if (condim > 4.0)
        ss_xml_note(
            m->reading, SS_FINDING_WARNING, e.node,
            "condim %g: rolling friction has a bound of its own, which sliding and spinning do not lower",
            condim);

    double surface[6] = {0};
    if (ss_mjcf_numbers(m, e, "surfacevel", 3, 6, surface)) {
        memcpy(geom->surface_velocity, surface, sizeof geom->surface_velocity);
        if (surface[3] != 0.0 || surface[4] != 0.0 || surface[5] != 0.0)
            ss_xml_note(m->reading, SS_FINDING_LOSS, e.node, "surfacevel: the turning part is not honoured");
    }
    geom->colour = read_colour(m, e);
    bool weightless = geom->mass == 0.0 || geom->density == 0.0 || !geom->weighs ||
                      (part >= 0 && m->tree->parts[part].has_inertial && m->inertia_from_geom != 1);
    bool required = geom->contype != 0 || geom->conaffinity != 0 || !weightless;
    if (m->reading->failed || !ss_mjcf_read_geometry(m, e, required, geom)) {
        m->tree->geom_count--; // shown only, and missing
        return;
    }
    if (!m->global) geom->pose = ss_pose_compose(frame, geom->pose);
}
