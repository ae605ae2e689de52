/* MJCF, MuJoCo's own format: sections, includes, default classes, attributes.
 *
 * Follows the XML reference of MuJoCo 3: angles are degrees unless the compiler says otherwise, limits hold
 * when a range is given (autolimits), quaternions are scalar first, euler angles are intrinsic x-y-z. What is
 * not asked of an element here is listed by ss_xml_list_unread. */
#include "modelfile/mjcf.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INCLUDE_DEPTH_MOST = 16, INCLUDES_MOST = 1000, CLASSES_MOST = 10000 };

/* ---- includes --------------------------------------------------------------------------------------- */

static ss_xml *read_included(ss_mjcf *m, ss_xml *node, const char *path)
{
    size_t size = 0;
    ss_error err = {0};
    if (!ss_tree_check_path(m->tree, node, path)) return NULL;
    unsigned char *bytes = ss_file_read(path, SS_XML_BYTES_MOST, &size, &err);
    if (!bytes) {
        ss_xml_fail(m->reading, node, "%s", err.message);
        return NULL;
    }
    const char *name = ss_xml_text(node, "file");
    ss_xml *root =
        ss_xml_parse(m->reading, (const char *)bytes, size, ss_reading_text(m->reading, "%.300s", name));
    ss_release(bytes);
    return root;
}

/* Replaces each <include> below `node` by the contents of its file. chain: the files being read. */
static void expand_includes(ss_mjcf *m, ss_xml *node, const char **chain, int depth)
{
    for (ss_xml **link = &node->first; *link && !m->reading->failed;) {
        ss_xml *child = *link;
        if (!ss_xml_is(child, "include")) {
            expand_includes(m, child, chain, depth);
            link = &child->next;
            continue;
        }
        const char *file = ss_xml_text(child, "file");
        const char *path = file ? ss_tree_path(m->tree, child, "", file) : NULL;
        if (!path) {
            if (!file) ss_xml_fail(m->reading, child, "has no file");
            return;
        }

        for (int i = 0; i < depth; i++)
            if (strcmp(chain[i], path) == 0)
                ss_xml_fail(m->reading, child, "\"%.300s\" includes itself", file);
        if (depth == INCLUDE_DEPTH_MOST || ++m->includes > INCLUDES_MOST)
            ss_xml_fail(m->reading, child, "includes are nested more than %d deep, or are more than %d",
                        INCLUDE_DEPTH_MOST, INCLUDES_MOST);
        ss_xml *root = m->reading->failed ? NULL : read_included(m, child, path);
        if (!root) return;

        /* The children of the file's root take the place of the element. */
        chain[depth] = path;
        expand_includes(m, root, chain, depth + 1);
        ss_xml *rest = child->next, **end = link;
        *link = root->first;
        for (ss_xml *item = root->first; item; item = item->next) item->parent = node;
        while (*end) end = &(*end)->next;
        *end = rest;
        link = end;
    }
}

void ss_mjcf_read_includes(ss_mjcf *m)
{
    const char *chain[INCLUDE_DEPTH_MOST + 1] = {0};
    expand_includes(m, m->root, chain, 0);
}

/* ---- default classes -------------------------------------------------------------------------------- */

int ss_mjcf_find_class(ss_mjcf *m, const ss_xml *node, const char *name)
{
    for (int i = 0; i < m->class_count; i++)
        if (strcmp(m->classes[i].name, name) == 0) return i;
    if (node) ss_xml_fail(m->reading, node, "unknown default class \"%.80s\"", name);
    return -1;
}

static void add_class(ss_mjcf *m, ss_xml *node, int parent)
{
    const char *name = ss_xml_text(node, "class");
    if (!name && parent >= 0) {
        ss_xml_fail(m->reading, node, "has no class");
        return;
    }
    int number = ss_mjcf_find_class(m, NULL, name ? name : "main");
    if (number < 0) {
        if (m->class_count == CLASSES_MOST) {
            ss_xml_fail(m->reading, node, "more than %d default classes", CLASSES_MOST);
            return;
        }
        m->classes = ss_reading_grow(m->reading, m->classes, m->class_count, sizeof *m->classes);
        if (!m->classes) return;
        number = m->class_count++;
        m->classes[number] = (ss_mjcf_class){.name = name ? name : "main", .parent = parent};
    }

    ss_mjcf_class *item = &m->classes[number];
    item->nodes = ss_reading_grow(m->reading, item->nodes, item->node_count, sizeof *item->nodes);
    if (!item->nodes) return;
    item->nodes[item->node_count++] = node;
    node->read = true;
    for (ss_xml *child = node->first; child && !m->reading->failed; child = child->next)
        if (ss_xml_is(child, "default")) add_class(m, child, number);
}

void ss_mjcf_read_defaults(ss_mjcf *m)
{
    for (ss_xml *section = m->root->first; section && !m->reading->failed; section = section->next)
        if (ss_xml_is(section, "default")) add_class(m, section, -1);
}

ss_mjcf_element ss_mjcf_element_of(ss_mjcf *m, ss_xml *node, int child_class)
{
    const char *name = ss_xml_text(node, "class");
    int number = name ? ss_mjcf_find_class(m, node, name) : child_class;
    return (ss_mjcf_element){node, number};
}

/* ---- attributes ------------------------------------------------------------------------------------- */

static const char *text_of_class(ss_mjcf *m, int number, const char *element, const char *name,
                                 ss_xml **where)
{
    for (; number >= 0; number = m->classes[number].parent) {
        const ss_mjcf_class *item = &m->classes[number];
        for (int i = item->node_count - 1; i >= 0; i--) {
            for (ss_xml *child = item->nodes[i]->first; child; child = child->next) {
                const char *text = ss_xml_is(child, element) ? ss_xml_text(child, name) : NULL;
                if (!text) continue;
                child->read = true;
                *where = child;
                return text;
            }
        }
    }
    return NULL;
}

const char *ss_mjcf_text(ss_mjcf *m, ss_mjcf_element e, const char *name, ss_xml **where)
{
    /* What was asked of an element is remembered, so that defaults for it do not count as left out. */
    int i = 0;
    while (i < m->asked_count &&
           (strcmp(m->asked[i].attribute, name) != 0 || strcmp(m->asked[i].element, e.node->name) != 0))
        i++;
    if (i == m->asked_count) {
        m->asked = ss_reading_grow(m->reading, m->asked, m->asked_count, sizeof *m->asked);
        if (m->asked) m->asked[m->asked_count++] = (ss_mjcf_asked){e.node->name, name};
    }

    *where = e.node;
    const char *text = ss_xml_text(e.node, name);
    return text ? text : text_of_class(m, e.class_number, e.node->name, name, where);
}

int ss_mjcf_numbers(ss_mjcf *m, ss_mjcf_element e, const char *name, int least, int most, double *values)
{
    ss_xml *where;
    const char *text = ss_mjcf_text(m, e, name, &where);
    return text ? ss_xml_parse_numbers(m->reading, where, name, text, least, most, values) : 0;
}

double ss_mjcf_number(ss_mjcf *m, ss_mjcf_element e, const char *name, double otherwise)
{
    double value;
    return ss_mjcf_numbers(m, e, name, 1, 1, &value) == 1 ? value : otherwise;
}

int ss_mjcf_limited(ss_mjcf *m, ss_mjcf_element e, const char *name)
{
    ss_xml *where;
    const char *text = ss_mjcf_text(m, e, name, &where);
    if (!text || strcmp(text, "auto") == 0) return 2;
    if (strcmp(text, "true") == 0) return 1;
    if (strcmp(text, "false") != 0)
        ss_xml_fail(m->reading, where, "%s: \"%.40s\", must be true, false or auto", name, text);
    return 0;
}

double ss_mjcf_angle(const ss_mjcf *m, double value)
{
    return m->degree ? value * (3.14159265358979323846 / 180.0) : value;
}

/* Lower case: about the axes as they turn; upper case: about fixed axes. */
ss_quat ss_mjcf_euler(const ss_mjcf *m, const double angles[3], double factor)
{
    ss_quat q = ss_quat_identity();
    for (int i = 0; i < 3; i++) {
        char axis = m->euler_sequence[i];
        double angle = factor * ss_mjcf_angle(m, angles[i]);
        ss_vec3 about = {axis == 'x' || axis == 'X' ? angle : 0.0, axis == 'y' || axis == 'Y' ? angle : 0.0,
                         axis == 'z' || axis == 'Z' ? angle : 0.0};
        ss_quat turn = ss_quat_exponential(about);
        bool fixed = axis < 'a';
        q = fixed ? ss_quat_multiply(turn, q) : ss_quat_multiply(q, turn);
    }
    return q;
}

/* The shortest turn that takes z to a direction. */
static ss_quat turn_z_to(ss_vec3 direction)
{
    ss_vec3 d = ss_vec3_normalise(direction, NULL);
    double sine = sqrt(d.x * d.x + d.y * d.y), angle = atan2(sine, d.z);
    if (sine < 1e-12) return d.z < 0.0 ? (ss_quat){0.0, 1.0, 0.0, 0.0} : ss_quat_identity();
    return ss_quat_exponential((ss_vec3){-d.y / sine * angle, d.x / sine * angle, 0.0});
}

static bool read_orientation(ss_mjcf *m, ss_mjcf_element e, ss_quat *q)
{
    double v[6];
    if (ss_mjcf_numbers(m, e, "quat", 4, 4, v)) {
        if (!(ss_quat_norm(ss_quat_load(v)) > 1e-12)) return ss_xml_fail(m->reading, e.node, "quat: all 0");
        *q = ss_quat_normalise(ss_quat_load(v));
        return true;
    }
    if (ss_mjcf_numbers(m, e, "axisangle", 4, 4, v)) {
        ss_vec3 axis = ss_vec3_normalise(ss_vec3_load(v), NULL);
        if (ss_vec3_max_abs(axis) == 0.0) return ss_xml_fail(m->reading, e.node, "axisangle: no axis");
        *q = ss_quat_exponential(ss_vec3_scale(ss_mjcf_angle(m, v[3]), axis));
        return true;
    }
    if (ss_mjcf_numbers(m, e, "euler", 3, 3, v)) {
        *q = ss_mjcf_euler(m, v, 1.0);
        return true;
    }
    if (ss_mjcf_numbers(m, e, "xyaxes", 6, 6, v)) {
        ss_vec3 x = ss_vec3_normalise(ss_vec3_load(v), NULL), y = ss_vec3_load(v + 3);
        y = ss_vec3_normalise(ss_vec3_add_scaled(y, -ss_vec3_dot(x, y), x), NULL);
        ss_vec3 z = ss_vec3_cross(x, y);
        if (!(ss_vec3_norm(z) > 0.5)) return ss_xml_fail(m->reading, e.node, "xyaxes: the axes are parallel");
        *q = ss_quat_from_matrix(ss_mat3_from_columns(x, y, z));
        return true;
    }
    if (ss_mjcf_numbers(m, e, "zaxis", 3, 3, v)) {
        if (!(ss_vec3_norm(ss_vec3_load(v)) > 0.0)) return ss_xml_fail(m->reading, e.node, "zaxis: all 0");
        *q = turn_z_to(ss_vec3_load(v));
        return true;
    }
    return false;
}

ss_pose ss_mjcf_pose(ss_mjcf *m, ss_mjcf_element e)
{
    ss_pose pose = ss_pose_identity();
    double v[3];
    if (ss_mjcf_numbers(m, e, "pos", 3, 3, v)) pose.p = ss_vec3_load(v);
    // what the element itself says comes before what its class says, whichever way it says it
    ss_mjcf_element own = {e.node, -1};
    if (!read_orientation(m, own, &pose.q) && e.class_number >= 0) read_orientation(m, e, &pose.q);
    return pose;
}

/* ---- compiler and option ---------------------------------------------------------------------------- */

static bool one_of(ss_mjcf *m, ss_xml *node, const char *name, const char *a, const char *b, bool otherwise)
{
    const char *text = ss_xml_text(node, name);
    if (!text) return otherwise;
    if (strcmp(text, a) == 0) return true;
    if (strcmp(text, b) != 0)
        ss_xml_fail(m->reading, node, "%s: \"%.40s\", must be %s or %s", name, text, a, b);
    return false;
}

static void read_compiler(ss_mjcf *m, ss_xml *node)
{
    node->read = true;
    m->degree = one_of(m, node, "angle", "degree", "radian", m->degree);
    m->global = one_of(m, node, "coordinate", "global", "local", m->global);
    m->autolimits = ss_xml_bool(m->reading, node, "autolimits", m->autolimits);
    m->strip_path = ss_xml_bool(m->reading, node, "strippath", m->strip_path);
    m->bound_mass = ss_xml_number(m->reading, node, "boundmass", m->bound_mass);
    m->tree->mass_total = ss_xml_number(m->reading, node, "settotalmass", m->tree->mass_total);
    ss_xml_numbers(m->reading, node, "inertiagrouprange", 2, 2, m->inertia_group);
    const char *sequence = ss_xml_text(node, "eulerseq"), *from = ss_xml_text(node, "inertiafromgeom");
    if (sequence) {
        if (strlen(sequence) != 3 || strspn(sequence, "xyzXYZ") != 3)
            ss_xml_fail(m->reading, node, "eulerseq: \"%.20s\", must be three of x, y, z, X, Y, Z", sequence);
        else
            memcpy(m->euler_sequence, sequence, 4);
    }
    if (from) m->inertia_from_geom = strcmp(from, "true") == 0 ? 1 : strcmp(from, "false") == 0 ? 0 : 2;
    const char *meshes = ss_xml_text(node, "meshdir"), *assets = ss_xml_text(node, "assetdir");
    if (assets) m->mesh_dir = assets;
    if (meshes) m->mesh_dir = meshes;
    ss_xml_text(node, "texturedir"); // textures are listed themselves
    ss_xml_text(node, "fusestatic"); // always done here, and changes nothing
    ss_xml_text(node, "convexhull");
    ss_xml_text(node, "usethread");
}

static void read_flags(ss_mjcf *m, ss_xml *flags)
{
    const struct {
        const char *name;
        bool *off;
    } known[] = {{"limit", &m->no_limits},
                 {"passive", &m->no_passive},
                 {"frictionloss", &m->no_friction_loss},
                 {"actuation", &m->no_actuation},
                 {"equality", &m->no_equality},
                 {"contact", &m->tree->contacts_off},
                 {"filterparent", &m->tree->parents_collide}};
    flags->read = true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        *known[i].off = one_of(m, flags, known[i].name, "disable", "enable", *known[i].off);
    if (one_of(m, flags, "gravity", "disable", "enable", false))
        memset(m->tree->gravity, 0, sizeof m->tree->gravity);
    if (one_of(m, flags, "constraint", "disable", "enable", false))
        m->no_limits = m->no_friction_loss = m->no_equality = m->tree->contacts_off = true;
}

static void read_option(ss_mjcf *m, ss_xml *node)
{
    node->read = true;
    double h = ss_xml_number(m->reading, node, "timestep", m->tree->info->h);
    if (!(h > 0.0)) ss_xml_fail(m->reading, node, "timestep: %g, must be positive", h);
    m->tree->info->h = h;
    ss_xml_numbers(m->reading, node, "gravity", 3, 3, m->tree->gravity);
    double fluid = fabs(ss_xml_number(m->reading, node, "density", 0.0)) +
                   fabs(ss_xml_number(m->reading, node, "viscosity", 0.0));
    if (fluid != 0.0)
        ss_xml_note(m->reading, SS_FINDING_LOSS, node, "density and viscosity are not honoured: no fluid");
    const char *integrator = ss_xml_text(node, "integrator");
    if (integrator && strcmp(integrator, "Euler") != 0)
        ss_xml_note(m->reading, SS_FINDING_WARNING, node,
                    "integrator \"%.20s\" is not honoured: steps are semi-implicit Euler", integrator);
    const char *cone = ss_xml_text(node, "cone");
    if (cone && strcmp(cone, "elliptic") != 0)
        ss_xml_note(m->reading, SS_FINDING_WARNING, node,
                    "cone \"%.20s\" is not honoured: the formulation decides, by default a round cone", cone);
    for (ss_xml *child = node->first; child; child = child->next)
        if (ss_xml_is(child, "flag")) read_flags(m, child);
}

/* ---- all of it -------------------------------------------------------------------------------------- */

/* Attributes of default classes mean something if elements of that name were asked for them, or if there is
 * no such element at all. */
static void settle_defaults(ss_mjcf *m)
{
    for (int c = 0; c < m->class_count; c++) {
        for (int i = 0; i < m->classes[c].node_count; i++) {
            for (ss_xml *item = m->classes[c].nodes[i]->first; item; item = item->next) {
                if (ss_xml_is(item, "default")) continue;
                bool known = false;
                for (int a = 0; a < m->asked_count; a++) {
                    if (strcmp(m->asked[a].element, item->name) != 0) continue;
                    known = true;
                    ss_xml_text(item, m->asked[a].attribute);
                }
                item->read = true;
                if (!known) ss_xml_mark(item);
            }
        }
    }
}

static void read_all(ss_mjcf *m, const char *name, void read(ss_mjcf *, ss_xml *))
{
    for (ss_xml *section = m->root->first; section && !m->reading->failed; section = section->next)
        if (ss_xml_is(section, name)) read(m, section);
}

void ss_mjcf_read(ss_tree *tree, ss_xml *root)
{
    ss_mjcf *m = ss_reading_take(tree->reading, 1, sizeof *m);
    if (!m) return;
    *m = (ss_mjcf){.tree = tree,
                   .reading = tree->reading,
                   .root = root,
                   .degree = true,
                   .autolimits = true,
                   .euler_sequence = "xyz",
                   .inertia_from_geom = 2,
                   .inertia_group = {0.0, 5.0},
                   .mesh_dir = ""};

    const char *name = ss_xml_text(root, "model");
    snprintf(tree->info->name, sizeof tree->info->name, "%.60s", name ? name : "");
    tree->info->h = 0.002;
    tree->default_mu = 1.0;
    tree->max_friction = true;

    /* Angles and defaults must be known before anything that uses them. */
    ss_mjcf_read_includes(m);
    if (m->reading->failed) return;
    read_all(m, "compiler", read_compiler);
    read_all(m, "option", read_option);
    ss_mjcf_read_defaults(m);
    if (!m->reading->failed) ss_mjcf_read_bodies(m);
    if (!m->reading->failed) read_all(m, "contact", ss_mjcf_read_contacts);
    if (!m->reading->failed && !m->no_equality) read_all(m, "equality", ss_mjcf_read_equalities);
    if (!m->reading->failed) read_all(m, "tendon", ss_mjcf_read_tendons);
    if (!m->reading->failed) ss_mjcf_read_start(m);
    if (!m->reading->failed) ss_mjcf_read_actuators(m);
    if (!m->reading->failed) settle_defaults(m);
}

/* What is not honoured: does it change the motion? */
ss_finding_kind ss_mjcf_judge(const ss_xml *node, const char *attribute, const char **why)
{
    static const char *const appearance[] = {"visual",   "statistic", "light",  "camera",   "texture",
                                             "material", "skin",      "layer",  "rgba",     "group",
                                             "fitscale", "texcoord",  "normal", "texnormal"};
    static const char *const looks[] = {"rgba", "material", "group", "user", "mode", "target", "texdir"};
    static const char *const numerics[] = {"size",
                                           "solver",
                                           "iterations",
                                           "tolerance",
                                           "ls_iterations",
                                           "ls_tolerance",
                                           "noslip_iterations",
                                           "noslip_tolerance",
                                           "mpr_iterations",
                                           "mpr_tolerance",
                                           "ccd_iterations",
                                           "ccd_tolerance",
                                           "jacobian",
                                           "impratio",
                                           "apirate",
                                           "sdf_iterations",
                                           "sdf_initpoints",
                                           "collision",
                                           "sleep_tolerance",
                                           "island",
                                           "sleep",
                                           "multiccd",
                                           "nativeccd",
                                           "warmstart",
                                           "refsafe",
                                           "sensor",
                                           "energy",
                                           "fwdinv",
                                           "invdiscrete",
                                           "sensornoise",
                                           "midphase",
                                           "eulerdamp",
                                           "autoreset",
                                           "bvactive",
                                           "clampctrl",
                                           "actuatorgroupdisable",
                                           "lengthrange",
                                           "discardvisual",
                                           "saveinertial",
                                           "alignfree",
                                           "exactmeshinertia",
                                           "fitaabb",
                                           "magnetic",
                                           "maxhullvert",
                                           "octree_maxdepth",
                                           "smoothnormal"};
    static const char *const soft[] = {"solref",         "solimp",         "solreflimit", "solimplimit",
                                       "solreffriction", "solimpfriction", "solmix",      "o_solref",
                                       "o_solimp",       "o_margin",       "o_friction",  "solreflimit"};
    const char *name = attribute ? attribute : node->name;
    for (size_t i = 0; i < sizeof appearance / sizeof *appearance; i++)
        if (!attribute && strcmp(name, appearance[i]) == 0) return *why = "appearance", SS_FINDING_WARNING;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (attribute && strcmp(name, looks[i]) == 0) return *why = "appearance", SS_FINDING_WARNING;
    for (size_t i = 0; i < sizeof numerics / sizeof *numerics; i++)
        if (strcmp(name, numerics[i]) == 0)
            return *why = "a setting of MuJoCo's own method", SS_FINDING_WARNING;
    for (size_t i = 0; i < sizeof soft / sizeof *soft; i++)
        if (strcmp(name, soft[i]) == 0)
            return *why = "contacts, limits and equalities are rigid here", SS_FINDING_LOSS;
    if (!attribute && strcmp(name, "sensor") == 0) return *why = "sensors", SS_FINDING_WARNING;
    if (!attribute && strcmp(name, "custom") == 0)
        return *why = "data for other programs", SS_FINDING_WARNING;
    if (attribute && (strcmp(node->name, "site") == 0 || strcmp(node->name, "material") == 0))
        return *why = "appearance", SS_FINDING_WARNING;
    return SS_FINDING_LOSS;
}
