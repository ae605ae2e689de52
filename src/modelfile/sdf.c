/* SDF, Gazebo's format: worlds and models of links and joints, with values as text between tags.
 *
 * Links are placed in their model, not in each other; the frame of a joint is that of its child. Of a model
 * that is not static, links that no joint leads to are free. Poses relative to other frames, nested models
 * and <include> are listed as not honoured. */
#include "modelfile/files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINKS_MOST = 300 }; /* of one model: pairs of links that do not touch grow with the square */

typedef struct sdf {
    ss_tree *tree;
    ss_reading *reading;
} sdf;

/* ---- values ----------------------------------------------------------------------------------------- */

/* Numbers of the child element `name`; how many, 0 without it. */
static int numbers_in(sdf *s, ss_xml *node, const char *name, int least, int most, double *values)
{
    ss_xml *child = node ? ss_xml_child(node, name) : NULL;
    return child ? ss_xml_parse_numbers(s->reading, child, name, child->text, least, most, values) : 0;
}

static double number_in(sdf *s, ss_xml *node, const char *name, double otherwise)
{
    double value;
    return numbers_in(s, node, name, 1, 1, &value) ? value : otherwise;
}

static bool flag_in(sdf *s, ss_xml *node, const char *name, bool otherwise)
{
    ss_xml *child = ss_xml_child(node, name);
    if (!child) return otherwise;
    bool yes = strcmp(child->text, "true") == 0 || strcmp(child->text, "1") == 0;
    bool no = strcmp(child->text, "false") == 0 || strcmp(child->text, "0") == 0;
    if (!yes && !no) ss_xml_fail(s->reading, child, "\"%.40s\", must be true or false", child->text);
    return yes;
}

static ss_pose pose_of(sdf *s, ss_xml *node)
{
    double v[6] = {0};
    numbers_in(s, node, "pose", 6, 6, v);
    return (ss_pose){ss_vec3_load(v), ss_quat_from_rpy(v[3], v[4], v[5])};
}

/* ---- links ------------------------------------------------------------------------------------------ */

static void read_inertial(sdf *s, ss_xml *link, ss_model_part *part)
{
    static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    static const int place[6][2] = {{0, 0}, {4, 4}, {8, 8}, {1, 3}, {2, 6}, {5, 7}};
    ss_mass_properties m = {.mass = 1.0, .inertia = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    ss_pose pose = ss_pose_identity();
    ss_xml *inertial = ss_xml_child(link, "inertial");
    if (inertial) {
        pose = pose_of(s, inertial);
        m.mass = number_in(s, inertial, "mass", 1.0);
        if (!(m.mass > 0.0)) ss_xml_fail(s->reading, inertial, "mass: %g, must be positive", m.mass);
        ss_xml *inertia = ss_xml_child(inertial, "inertia");
        for (int i = 0; i < 6 && inertia; i++) {
            double value = number_in(s, inertia, names[i], i < 3 ? 1.0 : 0.0);
            m.inertia[place[i][0]] = m.inertia[place[i][1]] = value;
        }
    }
    ss_mass_transform(&m, pose);
    part->has_inertial = true;
    part->mass = m.mass;
    part->centre = ss_vec3_load(m.centre);
    memcpy(part->inertia, m.inertia, sizeof part->inertia);
}

static bool read_geometry(sdf *s, ss_xml *node, ss_model_geom *geom)
{
    ss_xml *geometry = ss_xml_child(node, "geometry"), *kind = geometry ? geometry->first : NULL;
    if (!kind) return ss_xml_fail(s->reading, node, "has no geometry");
    kind->read = true;
    double v[3] = {1.0, 1.0, 1.0};
    if (ss_xml_is(kind, "box")) {
        geom->kind = SS_BOX;
        numbers_in(s, kind, "size", 3, 3, geom->size);
        return true;
    }
    if (ss_xml_is(kind, "sphere") || ss_xml_is(kind, "cylinder") || ss_xml_is(kind, "capsule")) {
        geom->kind = ss_xml_is(kind, "sphere")     ? SS_SPHERE
                     : ss_xml_is(kind, "cylinder") ? SS_CYLINDER
                                                   : SS_CAPSULE;
        geom->size[0] = number_in(s, kind, "radius", 0.0);
        geom->size[1] = geom->kind == SS_SPHERE ? 0.0 : number_in(s, kind, "length", 0.0);
        return true;
    }
    if (ss_xml_is(kind, "ellipsoid")) {
        geom->kind = SS_ELLIPSOID;
        numbers_in(s, kind, "radii", 3, 3, geom->size);
        return true;
    }
    if (ss_xml_is(kind, "plane")) {
        double normal[3] = {0.0, 0.0, 1.0};
        numbers_in(s, kind, "normal", 3, 3, normal);
        ss_xml_child(kind, "size"); // how far it is drawn
        ss_vec3 n = ss_vec3_normalise(ss_vec3_load(normal), NULL), x, y;
        ss_vec3_tangents(n, &x, &y);
        geom->kind = SS_PLANE;
        geom->pose.q = ss_quat_multiply(geom->pose.q, ss_quat_from_matrix(ss_mat3_from_columns(x, y, n)));
        return true;
    }

    if (ss_xml_is(kind, "mesh")) {
        ss_xml *uri = ss_xml_child(kind, "uri");
        numbers_in(s, kind, "scale", 3, 3, v);
        if (!uri || v[0] == 0.0 || v[1] == 0.0 || v[2] == 0.0)
            return ss_xml_fail(s->reading, kind, "needs a <uri>, and a scale other than 0");
        const char *path = ss_tree_resolve(s->tree, uri, "", uri->text);
        geom->mesh = path ? ss_tree_read_mesh(s->tree, uri, path, v, !geom->ghost) : -1;
        geom->kind = SS_HULL;
        return geom->mesh >= 0;
    }
    return ss_xml_fail(s->reading, kind, "unknown geometry");
}

static void read_surface(sdf *s, ss_xml *collision, ss_model_geom *geom)
{
    ss_xml *surface = ss_xml_child(collision, "surface");
    if (!surface) return;
    ss_xml *friction = ss_xml_child(surface, "friction"), *bounce = ss_xml_child(surface, "bounce"),
           *contact = ss_xml_child(surface, "contact");
    ss_xml *ode = friction ? ss_xml_child(friction, "ode") : NULL;
    if (ode) {
        double mu = number_in(s, ode, "mu", 1.0), mu2 = number_in(s, ode, "mu2", mu);
        geom->mu = mu;
        if (!(mu >= 0.0)) ss_xml_fail(s->reading, ode, "mu: %g, must not be negative", mu);
        if (mu != mu2)
            ss_xml_note(s->reading, SS_FINDING_LOSS, ode,
                        "<mu2> is not honoured: friction is the same in all directions, mu");
    }

    ss_xml *torsional = friction ? ss_xml_child(friction, "torsional") : NULL;
    if (torsional && torsional->first && !torsional->first->first) torsional->first->read = true; // empty
    if (bounce) geom->restitution = number_in(s, bounce, "restitution_coefficient", 0.0);
    if (!(geom->restitution >= 0.0 && geom->restitution <= 1.0))
        ss_xml_fail(s->reading, bounce, "restitution_coefficient: %g, must be from 0 to 1",
                    geom->restitution);

    if (!contact) return;
    ss_xml *empty = ss_xml_child(contact, "ode");
    (void)empty; // what is inside is listed
    double mask = number_in(s, contact, "collide_bitmask", 65535.0);
    if (!(mask >= 0.0 && mask <= 4294967295.0))
        ss_xml_fail(s->reading, contact, "collide_bitmask: %g is out of range", mask);
    else
        geom->contype = geom->conaffinity = (uint32_t)mask;
}

static void read_shapes(sdf *s, ss_xml *link, int part)
{
    /* The collision shapes are shown, in the colour of the first visual; without any, the visuals are. */
    static const char *const kinds[2] = {"collision", "visual"};
    ss_xml *visual = ss_xml_child(link, "visual");
    ss_xml *material = visual ? ss_xml_child(visual, "material") : NULL;
    double rgba[4];
    if (visual) visual->read = false; // listed, unless it is shown
    uint32_t colour = numbers_in(s, material, "diffuse", 3, 4, rgba) >= 3 ? ss_colour_of(rgba) : 0;

    int before = s->tree->geom_count;
    for (int k = 0; k < 2 && s->tree->geom_count == before; k++) {
        for (ss_xml *node = link->first; node && !s->reading->failed; node = node->next) {
            if (!ss_xml_is(node, kinds[k])) continue;
            node->read = true;
            ss_model_geom *geom = ss_tree_add_geom(s->tree, node, part);
            if (!geom) return;
            geom->name = ss_xml_text(node, "name");
            geom->pose = pose_of(s, node);
            geom->colour = colour;
            geom->ghost = k == 1;
            geom->contype = geom->conaffinity = 65535;
            read_surface(s, node, geom);
            if (!read_geometry(s, node, geom)) s->tree->geom_count--;
        }
    }
}

/* ---- joints ----------------------------------------------------------------------------------------- */

static void read_axis(sdf *s, ss_xml *node, const char *name, ss_pose frame, ss_model_joint *joint)
{
    ss_xml *axis = ss_xml_child(node, name);
    double v[3] = {0.0, 0.0, 1.0};
    numbers_in(s, axis, "xyz", 3, 3, v);
    joint->anchor = frame.p;
    joint->axis = ss_quat_rotate(frame.q, ss_vec3_normalise(ss_vec3_load(v), NULL));
    if (ss_vec3_max_abs(joint->axis) == 0.0) ss_xml_fail(s->reading, node, "xyz: has no direction");
    if (!axis || s->reading->failed) return;

    ss_axis_law *law = &joint->law;
    ss_xml *limit = ss_xml_child(axis, "limit"), *dynamics = ss_xml_child(axis, "dynamics");
    if (limit) {
        law->lower = number_in(s, limit, "lower", -1e16);
        law->upper = number_in(s, limit, "upper", 1e16);
        law->limited = law->lower > -1e15 || law->upper < 1e15; // beyond that the format means none
        if (law->limited && !(law->lower <= law->upper))
            ss_xml_fail(s->reading, limit, "lower %g is above upper %g", law->lower, law->upper);
    }

    if (!dynamics) return;
    law->damping = number_in(s, dynamics, "damping", 0.0);
    law->friction = number_in(s, dynamics, "friction", 0.0);
    law->stiffness = number_in(s, dynamics, "spring_stiffness", 0.0);
    law->rest = number_in(s, dynamics, "spring_reference", 0.0);
    if (law->damping < 0.0 || law->friction < 0.0 || law->stiffness < 0.0)
        ss_xml_fail(s->reading, dynamics, "damping, friction and stiffness must not be negative");
}

static void read_joint(sdf *s, ss_xml *node, int part)
{
    const char *type = ss_xml_text(node, "type"), *name = ss_xml_text(node, "name");
    ss_pose frame = pose_of(s, node);
    bool hinge = type && (strcmp(type, "revolute") == 0 || strcmp(type, "continuous") == 0);
    bool slide = type && strcmp(type, "prismatic") == 0, ball = type && strcmp(type, "ball") == 0;
    bool universal = type && (strcmp(type, "universal") == 0 || strcmp(type, "revolute2") == 0);
    if (type && strcmp(type, "fixed") == 0) return;
    if (!hinge && !slide && !ball && !universal) {
        ss_xml_fail(s->reading, node, "type \"%.40s\" is not honoured", type ? type : "");
        return;
    }
    for (int k = 0; k < 1 + universal; k++) {
        ss_model_joint *joint = ss_tree_add_joint(s->tree, node, part);
        if (!joint) return;
        joint->name = name;
        joint->kind = ball ? SS_MODEL_BALL : slide ? SS_MODEL_SLIDE : SS_MODEL_HINGE;
        joint->anchor = frame.p;
        if (!ball) read_axis(s, node, k == 0 ? "axis" : "axis2", frame, joint);
    }
}

/* ---- models ----------------------------------------------------------------------------------------- */

typedef struct link {
    ss_xml *node, *joint;
    const char *name, *parent; /* NULL: no joint leads to it */
    ss_pose pose;              /* in the world */
    int part;
} link;

static int find_link(const link *links, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(links[i].name, name) == 0) return i;
    return -1;
}

static void add_link(sdf *s, link *l, const link *parent, bool fixed)
{
    ss_model_part *part = ss_tree_add_part(s->tree, l->node, parent ? parent->part : -1);
    if (!part) return;
    l->part = s->tree->part_count - 1;
    part->name = l->name;
    part->pose = parent ? ss_pose_relative(parent->pose, l->pose) : l->pose;
    part->free = !l->joint && !fixed;
    if (!flag_in(s, l->node, "gravity", true)) part->gravity_scale = NAN;
    if (flag_in(s, l->node, "kinematic", false))
        ss_xml_note(s->reading, SS_FINDING_LOSS, l->node, "<kinematic> is not honoured");
    read_inertial(s, l->node, part);
    read_shapes(s, l->node, l->part);
    if (l->joint && !fixed) read_joint(s, l->joint, l->part);
    if (l->joint && fixed) ss_xml_mark(l->joint);
}

static void read_model(sdf *s, ss_xml *model)
{
    model->read = true;
    const char *name = ss_xml_text(model, "name");
    if (!s->tree->info->name[0])
        snprintf(s->tree->info->name, sizeof s->tree->info->name, "%.60s", name ? name : "");
    ss_pose pose = pose_of(s, model);
    bool fixed = flag_in(s, model, "static", false), own_contacts = flag_in(s, model, "self_collide", false);
    link *links = NULL;
    int count = 0;
    for (ss_xml *node = model->first; node; node = node->next) {
        if (!ss_xml_is(node, "link")) continue;
        links = ss_reading_grow(s->reading, links, count, sizeof *links);
        const char *its = ss_xml_text(node, "name");
        if (!links || !its || count == LINKS_MOST || find_link(links, count, its) >= 0) {
            ss_xml_fail(s->reading, node, "needs a name of its own, and there are at most %d links",
                        LINKS_MOST);
            return;
        }
        node->read = true;
        own_contacts = flag_in(s, node, "self_collide", own_contacts);
        links[count++] =
            (link){.node = node, .name = its, .pose = ss_pose_compose(pose, pose_of(s, node)), .part = -1};
    }

    /* A joint is kept with the link it leads to. */
    for (ss_xml *node = model->first; node; node = node->next) {
        if (!ss_xml_is(node, "joint")) continue;
        ss_xml *from = ss_xml_child(node, "parent"), *child = ss_xml_child(node, "child");
        node->read = true;
        if (!from || !child) {
            ss_xml_fail(s->reading, node, "needs a parent and a child");
            return;
        }
        int to = find_link(links, count, child->text);
        bool world = strcmp(from->text, "world") == 0;
        if (to < 0 || (!world && find_link(links, count, from->text) < 0)) {
            ss_xml_fail(s->reading, node, "unknown link \"%.80s\"", to < 0 ? child->text : from->text);
            return;
        }
        if (links[to].joint) {
            ss_xml_fail(s->reading, node, "\"%.80s\" has two parents: loops are not honoured", child->text);
            return;
        }
        links[to].joint = node;
        links[to].parent = world ? NULL : from->text;
    }

    /* Parents are added before their children. */
    int added = 0;
    for (bool progress = true; progress && added < count && !s->reading->failed;) {
        progress = false;
        for (int i = 0; i < count && !s->reading->failed; i++) {
            const link *parent = links[i].parent ? &links[find_link(links, count, links[i].parent)] : NULL;
            if (links[i].part >= 0 || (parent && parent->part < 0)) continue;
            add_link(s, &links[i], parent, fixed);
            added++;
            progress = true;
        }
    }
    for (int i = 0; i < count && !s->reading->failed; i++)
        if (links[i].part < 0) ss_xml_fail(s->reading, links[i].node, "is in a loop of joints");
    for (int i = 0; i < count && !own_contacts && !s->reading->failed; i++)
        for (int k = 0; k < i; k++) ss_tree_add_exclusion(s->tree, links[i].part, links[k].part);
}

void ss_sdf_read(ss_tree *tree, ss_xml *root)
{
    sdf s = {tree, tree->reading};
    tree->default_mu = 1.0;
    tree->has_base = true;
    ss_xml_text(root, "version");
    for (ss_xml *node = root->first; node && !s.reading->failed; node = node->next) {
        if (ss_xml_is(node, "model")) read_model(&s, node);
        if (!ss_xml_is(node, "world")) continue;

        const char *name = ss_xml_text(node, "name");
        node->read = true;
        snprintf(tree->info->name, sizeof tree->info->name, "%.60s", name ? name : "");
        numbers_in(&s, node, "gravity", 3, 3, tree->gravity);
        ss_xml *physics = ss_xml_child(node, "physics");
        tree->info->h = number_in(&s, physics, "max_step_size", 0.001);
        if (!(tree->info->h > 0.0)) ss_xml_fail(s.reading, physics, "max_step_size: must be positive");
        for (ss_xml *model = node->first; model && !s.reading->failed; model = model->next)
            if (ss_xml_is(model, "model")) read_model(&s, model);
    }
    if (!s.reading->failed && tree->part_count == 0) ss_xml_fail(s.reading, root, "has no links");
}

/* What is not honoured: does it change the motion? */
ss_finding_kind ss_sdf_judge(const ss_xml *node, const char *attribute, const char **why)
{
    static const struct {
        const char *element, *why;
    } harmless[] = {{"light", "appearance"},
                    {"scene", "appearance"},
                    {"gui", "appearance"},
                    {"audio", "appearance"},
                    {"material", "appearance"},
                    {"cast_shadows", "appearance"},
                    {"visual", "the collision shapes of the link are shown instead"},
                    {"magnetic_field", "sensor"},
                    {"sensor", "sensor"},
                    {"spherical_coordinates", "sensor"},
                    {"real_time_factor", "a setting of Gazebo's own method"},
                    {"real_time_update_rate", "a setting of Gazebo's own method"},
                    {"max_contacts", "a setting of Gazebo's own method"},
                    {"ode", "a setting of Gazebo's own method"},
                    {"bullet", "a setting of Gazebo's own method"},
                    {"dart", "a setting of Gazebo's own method"},
                    {"simbody", "a setting of Gazebo's own method"},
                    {"physics", "a setting of Gazebo's own method"},
                    {"atmosphere", "no fluid"},
                    {"allow_auto_disable", "a setting of Gazebo's own method"},
                    {"effort", "the limit of a motor, which the file does not have"},
                    {"velocity", "the limit of a motor, which the file does not have"}};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        bool of_physics = attribute && strcmp(node->name, "physics") == 0;
        if ((attribute && !of_physics) || strcmp(node->name, harmless[i].element) != 0) continue;
        *why = harmless[i].why;
        return SS_FINDING_WARNING;
    }
    return SS_FINDING_LOSS;
}
