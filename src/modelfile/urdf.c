/* URDF: links and joints, as ROS has them, with what Bullet and Gazebo add.
 *
 * Poses are xyz and rpy (rad about fixed x, y, z). The frame of a joint is that of its child link. Links that
 * fixed joints connect become one body. What is not asked of an element here is listed by
 * ss_xml_list_unread. */
#include "modelfile/files.h"

#include <stdio.h>
#include <string.h>

typedef struct urdf {
    ss_tree *tree;
    ss_reading *reading;
    ss_xml *root;
} urdf;

static ss_pose read_origin(urdf *u, ss_xml *node)
{
    ss_pose pose = ss_pose_identity();
    ss_xml *origin = ss_xml_child(node, "origin");
    double v[3];
    if (!origin) return pose;
    if (ss_xml_numbers(u->reading, origin, "xyz", 3, 3, v) == 3) pose.p = ss_vec3_load(v);
    if (ss_xml_numbers(u->reading, origin, "rpy", 3, 3, v) == 3) pose.q = ss_quat_from_rpy(v[0], v[1], v[2]);
    return pose;
}

/* ---- links ------------------------------------------------------------------------------------------ */

static void read_inertial(urdf *u, ss_xml *link, ss_model_part *part)
{
    ss_xml *inertial = ss_xml_child(link, "inertial");
    if (!inertial) return;
    ss_pose pose = read_origin(u, inertial);
    ss_xml *mass = ss_xml_child(inertial, "mass"), *inertia = ss_xml_child(inertial, "inertia");
    ss_mass_properties m = {.mass = mass ? ss_xml_number(u->reading, mass, "value", 0.0) : 0.0};
    if (m.mass < 0.0) ss_xml_fail(u->reading, mass, "value: %g, must not be negative", m.mass);
    if (inertia) {
        static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
        static const int place[6][2] = {{0, 0}, {4, 4}, {8, 8}, {1, 3}, {2, 6}, {5, 7}};
        for (int i = 0; i < 6; i++) {
            double value = ss_xml_number(u->reading, inertia, names[i], 0.0);
            m.inertia[place[i][0]] = m.inertia[place[i][1]] = value;
        }
    }
    ss_mass_transform(&m, pose);
    part->has_inertial = m.mass > 0.0;
    part->mass = m.mass;
    part->centre = ss_vec3_load(m.centre);
    memcpy(part->inertia, m.inertia, sizeof part->inertia);
}

/* One <geometry>; false when there is nothing to add. */
static bool read_geometry(urdf *u, ss_xml *node, ss_model_geom *geom)
{
    ss_xml *geometry = ss_xml_child(node, "geometry"), *kind = geometry ? geometry->first : NULL;
    bool required = !geom->ghost;
    if (!kind) return ss_xml_fail(u->reading, node, "has no geometry");
    kind->read = true;
    double v[3] = {1.0, 1.0, 1.0};
    if (ss_xml_is(kind, "box")) {
        geom->kind = SS_BOX;
        ss_xml_numbers(u->reading, kind, "size", 3, 3, geom->size);
        return true;
    }
    if (ss_xml_is(kind, "sphere")) {
        geom->kind = SS_SPHERE;
        geom->size[0] = ss_xml_number(u->reading, kind, "radius", 0.0);
        return true;
    }
    if (ss_xml_is(kind, "cylinder") || ss_xml_is(kind, "capsule")) {
        geom->kind = ss_xml_is(kind, "cylinder") ? SS_CYLINDER : SS_CAPSULE;
        geom->size[0] = ss_xml_number(u->reading, kind, "radius", 0.0);
        geom->size[1] = ss_xml_number(u->reading, kind, "length", 0.0);
        return true;
    }
    if (ss_xml_is(kind, "plane")) { // Bullet's
        geom->kind = SS_PLANE;
        double normal[3] = {0.0, 0.0, 1.0};
        ss_xml_numbers(u->reading, kind, "normal", 3, 3, normal);
        ss_vec3 n = ss_vec3_normalise(ss_vec3_load(normal), NULL), x, y;
        ss_vec3_tangents(n, &x, &y);
        geom->pose.q = ss_quat_multiply(geom->pose.q, ss_quat_from_matrix(ss_mat3_from_columns(x, y, n)));
        return true;
    }
    if (ss_xml_is(kind, "mesh")) {
        const char *file = ss_xml_text(kind, "filename");
        if (!file) return ss_xml_fail(u->reading, kind, "has no filename");
        int count = ss_xml_numbers(u->reading, kind, "scale", 1, 3, v);
        if (count == 1) v[1] = v[2] = v[0];
        if (count == 2 || v[0] == 0.0 || v[1] == 0.0 || v[2] == 0.0)
            return ss_xml_fail(u->reading, kind, "scale: needs 1 or 3 numbers other than 0");
        const char *path = ss_tree_resolve(u->tree, kind, "", file);
        geom->mesh = path ? ss_tree_read_mesh(u->tree, kind, path, v, required) : -1;
        geom->kind = SS_HULL;
        if (geom->mesh >= 0 && required && !ss_mesh_is_convex(u->tree->meshes[geom->mesh].mesh, 1e-6))
            ss_xml_note(u->reading, SS_FINDING_WARNING, kind,
                        "\"%.200s\" is not convex: it collides as its convex hull", file);
        return geom->mesh >= 0;
    }
    return ss_xml_fail(u->reading, kind,
                       "unknown geometry; known are box, sphere, cylinder, capsule and mesh");
}

static uint32_t read_colour(urdf *u, ss_xml *node)
{
    ss_xml *material = ss_xml_child(node, "material");
    if (!material) return 0;
    const char *name = ss_xml_text(material, "name");
    ss_xml *colour = ss_xml_child(material, "color");
    for (ss_xml *other = u->root->first; other && !colour && name && name[0]; other = other->next) {
        const char *its = ss_xml_is(other, "material") ? ss_xml_text(other, "name") : NULL;
        if (its && strcmp(its, name) == 0) colour = ss_xml_child(other, "color");
    }
    double rgba[4];
    if (!colour || ss_xml_numbers(u->reading, colour, "rgba", 4, 4, rgba) != 4) return 0;
    return ss_colour_of(rgba);
}

/* Bullet's <contact> and Gazebo's <gazebo reference="LINK">. */
static void read_friction(urdf *u, ss_xml *link, ss_model_geom *geom)
{
    ss_xml *contact = ss_xml_child(link, "contact");
    for (ss_xml *item = contact ? contact->first : NULL; item; item = item->next) {
        bool mu = ss_xml_is(item, "lateral_friction"), rolling = ss_xml_is(item, "rolling_friction"),
             bounce = ss_xml_is(item, "restitution");
        if (!mu && !rolling && !bounce) continue;
        item->read = true;
        double value = ss_xml_number(u->reading, item, "value", 0.0);
        if (mu) geom->mu = value;
        if (rolling) geom->mu_rolling = value;
        if (bounce) geom->restitution = value;
        if (!(value >= 0.0) || (bounce && value > 1.0))
            ss_xml_fail(u->reading, item, "value: %g is out of range", value);
    }
    const char *name = ss_xml_text(link, "name");
    for (ss_xml *gazebo = u->root->first; gazebo; gazebo = gazebo->next) {
        const char *of = ss_xml_is(gazebo, "gazebo") ? ss_xml_text(gazebo, "reference") : NULL;
        if (!of || !name || strcmp(of, name) != 0) continue;
        gazebo->read = true;
        ss_xml *first = ss_xml_child(gazebo, "mu1"), *second = ss_xml_child(gazebo, "mu2");
        double one = 0.0, two = 0.0;
        if (!first || ss_xml_parse_numbers(u->reading, first, "mu1", first->text, 1, 1, &one) != 1) continue;
        two = one;
        if (second) ss_xml_parse_numbers(u->reading, second, "mu2", second->text, 1, 1, &two);
        geom->mu = one;
        if (one < 0.0) ss_xml_fail(u->reading, first, "%g, must not be negative", one);
        if (one != two)
            ss_xml_note(u->reading, SS_FINDING_LOSS, second,
                        "<mu2> is not honoured: friction is the same in all directions, mu1");
    }
}

static void read_shapes(urdf *u, ss_xml *link, int part)
{
    int before = u->tree->geom_count;
    uint32_t colour = 0;
    for (ss_xml *node = link->first; node && !colour; node = node->next)
        if (ss_xml_is(node, "visual")) colour = read_colour(u, node);
    for (ss_xml *node = link->first; node && !u->reading->failed; node = node->next) {
        if (!ss_xml_is(node, "collision")) continue;
        node->read = true;
        ss_model_geom *geom = ss_tree_add_geom(u->tree, node, part);
        if (!geom) return;
        geom->name = ss_xml_text(node, "name");
        geom->pose = read_origin(u, node);
        geom->density = 1000.0;
        geom->weighs = true;
        geom->colour = colour;
        read_friction(u, link, geom);
        if (!read_geometry(u, node, geom)) u->tree->geom_count--;
    }
    if (u->tree->geom_count > before) return; // what is felt is shown; visuals are listed as not honoured
    for (ss_xml *node = link->first; node && !u->reading->failed; node = node->next) {
        if (!ss_xml_is(node, "visual")) continue;
        node->read = true;
        ss_model_geom *geom = ss_tree_add_geom(u->tree, node, part);
        if (!geom) return;
        ss_xml_text(node, "name");
        geom->pose = read_origin(u, node);
        geom->colour = read_colour(u, node);
        geom->ghost = true;
        if (!read_geometry(u, node, geom)) u->tree->geom_count--;
    }
}

/* ---- joints ----------------------------------------------------------------------------------------- */

static ss_vec3 read_axis(urdf *u, ss_xml *node)
{
    ss_xml *axis = ss_xml_child(node, "axis");
    double v[3] = {1.0, 0.0, 0.0};
    if (axis) ss_xml_numbers(u->reading, axis, "xyz", 3, 3, v);
    ss_vec3 unit = ss_vec3_normalise(ss_vec3_load(v), NULL);
    if (axis && ss_vec3_max_abs(unit) == 0.0) ss_xml_fail(u->reading, axis, "xyz: has no direction");
    return unit;
}

static void read_law(urdf *u, ss_xml *node, bool with_limits, ss_axis_law *law)
{
    ss_xml *limit = ss_xml_child(node, "limit");
    if (limit && with_limits) {
        double lower = ss_xml_number(u->reading, limit, "lower", 0.0);
        double upper = ss_xml_number(u->reading, limit, "upper", 0.0);
        law->limited = lower < upper;
        law->lower = lower;
        law->upper = upper;
        if (!law->limited)
            ss_xml_note(u->reading, SS_FINDING_WARNING, limit,
                        "lower %g is not below upper %g: taken as no limits, as other programs do", lower,
                        upper);
    } else if (with_limits) {
        ss_xml_note(u->reading, SS_FINDING_WARNING, node, "has no <limit>: taken as no limits");
    }
    static const char *const names[] = {"dynamics", "joint_properties"}; // the second is the name of old
    for (int i = 0; i < 2; i++) {
        ss_xml *dynamics = ss_xml_child(node, names[i]);
        if (!dynamics) continue;
        law->damping = ss_xml_number(u->reading, dynamics, "damping", law->damping);
        law->friction = ss_xml_number(u->reading, dynamics, "friction", law->friction);
        if (law->damping < 0.0 || law->friction < 0.0)
            ss_xml_fail(u->reading, dynamics, "damping and friction must not be negative");
    }
}

static void add_simple(urdf *u, ss_xml *node, int part, ss_model_joint_kind kind, ss_vec3 axis,
                       const ss_axis_law *law)
{
    ss_model_joint *joint = ss_tree_add_joint(u->tree, node, part);
    if (!joint) return;
    joint->name = ss_xml_text(node, "name");
    joint->kind = kind;
    joint->axis = axis;
    if (law) joint->law = *law;
}

static void read_joint(urdf *u, ss_xml *node, int part)
{
    const char *type = ss_xml_text(node, "type");
    ss_model_part *child = &u->tree->parts[part];
    ss_axis_law law = {0};
    ss_xml_text(node, "name");
    child->pose = read_origin(u, node);
    if (!type) {
        ss_xml_fail(u->reading, node, "has no type");
    } else if (strcmp(type, "fixed") == 0) {
        ss_xml *pointless[] = {ss_xml_child(node, "axis"), ss_xml_child(node, "limit"),
                               ss_xml_child(node, "dynamics"), ss_xml_child(node, "joint_properties")};
        for (int i = 0; i < 4; i++)
            if (pointless[i]) ss_xml_mark(pointless[i]); // of a joint that does not move
    } else if (strcmp(type, "revolute") == 0 || strcmp(type, "continuous") == 0) {
        read_law(u, node, type[0] == 'r', &law);
        add_simple(u, node, part, SS_MODEL_HINGE, read_axis(u, node), &law);
    } else if (strcmp(type, "prismatic") == 0) {
        read_law(u, node, true, &law);
        add_simple(u, node, part, SS_MODEL_SLIDE, read_axis(u, node), &law);
    } else if (strcmp(type, "spherical") == 0) { // Bullet's
        ss_xml *axis = ss_xml_child(node, "axis");
        if (axis) ss_xml_mark(axis); // a ball has none
        add_simple(u, node, part, SS_MODEL_BALL, (ss_vec3){0.0, 0.0, 1.0}, NULL);
    } else if (strcmp(type, "planar") == 0) {
        ss_vec3 n = read_axis(u, node), x, y;
        ss_vec3_tangents(n, &x, &y);
        add_simple(u, node, part, SS_MODEL_SLIDE, x, NULL);
        add_simple(u, node, part, SS_MODEL_SLIDE, y, NULL);
        add_simple(u, node, part, SS_MODEL_HINGE, n, NULL);
    } else if (strcmp(type, "floating") == 0) {
        child->free = true;
    } else {
        ss_xml_fail(
            u->reading, node,
            "type \"%.40s\", must be revolute, continuous, prismatic, fixed, floating, planar or spherical",
            type);
    }
}

/* ---- the tree --------------------------------------------------------------------------------------- */

static const char *link_of(urdf *u, ss_xml *joint, const char *which)
{
    ss_xml *node = ss_xml_child(joint, which);
    const char *name = node ? ss_xml_text(node, "link") : NULL;
    if (!name) ss_xml_fail(u->reading, joint, "has no <%s link>", which);
    return name;
}

typedef struct connection {
    ss_xml *node;
    const char *parent, *child;
} connection;

typedef struct link {
    ss_xml *node;
    const char *name;
    int joint; /* that leads to it; -1: a root */
    int part;  /* once it is in the tree; -1 before */
} link;

static int find_link(const link *links, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(links[i].name, name) == 0) return i;
    return -1;
}

static void add_link(urdf *u, link *l, const connection *joints, int parent)
{
    ss_model_part *part = ss_tree_add_part(u->tree, l->node, parent);
    if (!part) return;
    l->part = u->tree->part_count - 1;
    part->name = l->name;
    read_inertial(u, l->node, part);
    read_shapes(u, l->node, l->part);
    if (l->joint >= 0) read_joint(u, joints[l->joint].node, l->part);
}

/* The root is fixed or free as the user says, or as its name and mass do. */
static void place_root(urdf *u, const link *root)
{
    ss_model_part *part = &u->tree->parts[root->part];
    int base = u->tree->options->base;
    // a root without mass of its own may carry links that have some, by fixed joints: base_link often does
    bool light = !part->has_inertial;
    part->free = base == SS_BASE_FREE || (base == SS_BASE_AUTO && strcmp(root->name, "world") != 0 && !light);
}

/* A link that moves must weigh something: if it has no <inertial>, its shapes do at the density of water. */
static void weigh_links(urdf *u)
{
    for (int i = 0; i < u->tree->part_count; i++) {
        ss_model_part *part = &u->tree->parts[i];
        if (part->has_inertial || (part->joint_count == 0 && !part->free)) continue;
        ss_part_weigh(u->tree, i);
        if (part->has_inertial)
            ss_xml_note(u->reading, SS_FINDING_WARNING, part->node,
                        "\"%.80s\" has no mass: that of its collision shapes at 1000 kg/m^3 is taken, %g kg",
                        part->name, part->mass);
    }
}

static void read_mimics(urdf *u)
{
    for (int i = 0; i < u->tree->joint_count; i++) {
        ss_model_joint *joint = &u->tree->joints[i];
        ss_xml *mimic = ss_xml_child(joint->node, "mimic");
        if (!mimic) continue;
        const char *of = ss_xml_text(mimic, "joint");
        int other = of ? ss_tree_find_joint(u->tree, of) : -1;
        if (other < 0) {
            ss_xml_fail(u->reading, mimic, "unknown joint \"%.80s\"", of ? of : "");
            return;
        }
        ss_model_equality *e = ss_tree_add_equality(u->tree, mimic, SS_MODEL_COUPLE);
        if (!e) return;
        e->joint[0] = i;
        e->joint[1] = other;
        e->terms = 2;
        e->factor[0] = 1.0;
        e->factor[1] = -ss_xml_number(u->reading, mimic, "multiplier", 1.0);
        e->offset = ss_xml_number(u->reading, mimic, "offset", 0.0);
    }
}

void ss_urdf_read(ss_tree *tree, ss_xml *root)
{
    urdf u = {.tree = tree, .reading = tree->reading, .root = root};
    int link_count = 0, joint_count = 0;
    link *links = NULL;
    connection *joints = NULL;
    const char *name = ss_xml_text(root, "name");
    ss_xml_text(root, "version");
    snprintf(tree->info->name, sizeof tree->info->name, "%.60s", name ? name : "");

    // all links and joints by name
    for (ss_xml *node = root->first; node; node = node->next) {
        if (ss_xml_is(node, "material")) node->read = true;
        if (ss_xml_is(node, "link")) {
            links = ss_reading_grow(u.reading, links, link_count, sizeof *links);
            const char *its = ss_xml_text(node, "name");
            if (!links) return;
            if (!its || find_link(links, link_count, its) >= 0) {
                ss_xml_fail(u.reading, node, its ? "the name \"%.80s\" is not unique" : "has no name%s",
                            its ? its : "");
                return;
            }
            node->read = true;
            links[link_count++] = (link){node, its, -1, -1};
        } else if (ss_xml_is(node, "joint")) {
            joints = ss_reading_grow(u.reading, joints, joint_count, sizeof *joints);
            if (!joints) return;
            node->read = true;
            joints[joint_count++] =
                (connection){node, link_of(&u, node, "parent"), link_of(&u, node, "child")};
            if (u.reading->failed) return;
        }
    }
    if (link_count == 0) {
        ss_xml_fail(u.reading, root, "has no links");
        return;
    }
    for (int j = 0; j < joint_count; j++) {
        int child = find_link(links, link_count, joints[j].child);
        if (child < 0 || find_link(links, link_count, joints[j].parent) < 0) {
            ss_xml_fail(u.reading, joints[j].node, "unknown link \"%.80s\"",
                        child < 0 ? joints[j].child : joints[j].parent);
            return;
        }
        if (links[child].joint >= 0) {
            ss_xml_fail(u.reading, joints[j].node, "\"%.80s\" has two parents: URDF is a tree",
                        joints[j].child);
            return;
        }
        links[child].joint = j;
    }

    // roots first, then what hangs on what is there already, in the order of the file
    int *order = ss_reading_take(u.reading, (size_t)link_count, sizeof *order);
    int *first = ss_reading_take(u.reading, (size_t)link_count, sizeof *first);
    int *next = ss_reading_take(u.reading, (size_t)joint_count + 1, sizeof *next);
    if (!order || !first || !next) return;
    for (int i = 0; i < link_count; i++) first[i] = -1;
    for (int j = joint_count - 1; j >= 0; j--) {
        int parent = find_link(links, link_count, joints[j].parent);
        next[j] = first[parent];
        first[parent] = j;
    }
    int found = 0;
    for (int i = 0; i < link_count; i++) {
        if (links[i].joint >= 0) continue;
        if (found > 0)
            ss_xml_fail(u.reading, links[i].node, "\"%.80s\" is a second root: URDF is one tree",
                        links[i].name);
        order[found++] = i;
    }
    for (int i = 0; i < found && !u.reading->failed; i++) {
        link *l = &links[order[i]];
        int parent = l->joint < 0 ? -1 : links[find_link(links, link_count, joints[l->joint].parent)].part;
        add_link(&u, l, joints, parent);
        for (int j = first[order[i]]; j >= 0; j = next[j])
            order[found++] = find_link(links, link_count, joints[j].child);
    }
    for (int i = 0; i < link_count && !u.reading->failed; i++)
        if (links[i].part < 0)
            ss_xml_fail(u.reading, links[i].node, "\"%.80s\" is in a loop of joints", links[i].name);
    if (u.reading->failed) return;
    tree->has_base = true;
    place_root(&u, &links[order[0]]);
    weigh_links(&u);
    read_mimics(&u);
}

/* What is not honoured: does it change the motion? */
ss_finding_kind ss_urdf_judge(const ss_xml *node, const char *attribute, const char **why)
{
    static const struct {
        const char *element, *attribute, *why;
    } harmless[] = {
        {"visual", NULL, "the collision shapes of the link are shown instead"},
        {"material", NULL, "appearance"},
        {"texture", NULL, "appearance"},
        {"color", NULL, "appearance"},
        {"transmission", NULL, "control, the file has no motor"},
        {"calibration", NULL, "control"},
        {"safety_controller", NULL, "control"},
        {"limit", "effort", "the limit of a motor, which the file does not have"},
        {"limit", "velocity", "the limit of a motor, which the file does not have"},
        {"sensor", NULL, "sensor"},
        {"link", "type", "unused in URDF"},
        {"collision_checking", NULL, "hint for another program"},
        {"verbose", NULL, "hint for another program"},
        {"ros2_control", NULL, "control"},
    };
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        bool same_attribute = attribute && harmless[i].attribute
                                  ? strcmp(attribute, harmless[i].attribute) == 0
                                  : !attribute == !harmless[i].attribute;
        if (strcmp(node->name, harmless[i].element) != 0 || !same_attribute) continue;
        *why = harmless[i].why;
        return SS_FINDING_WARNING;
    }
    return SS_FINDING_LOSS;
}
