/* MJCF: bodies, joints, inertias, frames and copies, in the order that keyframes count on: depth first. */
#include "modelfile/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COPIES_MOST = 1000000 };

/* Where children of an element belong. */
typedef struct place {
    int part;        /* -1: the world */
    ss_pose frame;   /* of <frame> and <replicate>, in the part */
    int child_class; /* -1: none */
} place;

static const char *named(ss_mjcf *m, ss_xml *node)
{
    const char *name = ss_xml_text(node, "name");
    return name && name[0] ? ss_reading_text(m->reading, "%.200s%s", name, m->suffix) : NULL;
}

/* ---- inertia ---------------------------------------------------------------------------------------- */

static void read_inertial(ss_mjcf *m, ss_xml *node, const place *at)
{
    ss_model_part *part = &m->tree->parts[at->part];
    node->read = true;
    if (m->inertia_from_geom == 1) { // the shapes count, and the file says so
        ss_xml_mark(node);
        return;
    }
    ss_mjcf_element e = {node, -1};
    ss_pose pose = ss_mjcf_pose(m, e);
    if (!m->global) pose = ss_pose_compose(at->frame, pose);
    ss_mass_properties mass = {.mass = ss_xml_number(m->reading, node, "mass", 0.0)};
    double v[6];
    if (ss_xml_numbers(m->reading, node, "diaginertia", 3, 3, v)) {
        for (int i = 0; i < 3; i++) mass.inertia[4 * i] = v[i];
    } else if (ss_xml_numbers(m->reading, node, "fullinertia", 6, 6, v)) {
        const double full[9] = {v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2]};
        memcpy(mass.inertia, full, sizeof full);
    }
    if (!(mass.mass > 0.0)) {
        ss_xml_fail(m->reading, node, "mass: %g, must be positive", mass.mass);
        return;
    }
    ss_mass_transform(&mass, pose);
    part->has_inertial = true;
    part->mass = mass.mass;
    part->centre = ss_vec3_load(mass.centre);
    memcpy(part->inertia, mass.inertia, sizeof part->inertia);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

static void read_limits(ss_mjcf *m, ss_mjcf_element e, ss_model_joint *joint, bool angle)
{
    double range[2] = {0.0, 0.0};
    int given = ss_mjcf_numbers(m, e, "range", 2, 2, range), limited = ss_mjcf_limited(m, e, "limited");
    joint->law.limited = limited == 1 || (limited == 2 && m->autolimits && given == 2);
    if (limited == 2 && !m->autolimits && given == 2)
        ss_xml_note(m->reading, SS_FINDING_WARNING, e.node,
                    "has a range, but neither limited nor autolimits: no limits");
    if (!joint->law.limited) return;
    for (int i = 0; i < 2; i++) range[i] = angle ? ss_mjcf_angle(m, range[i]) : range[i];
    if (!(range[0] < range[1])) {
        ss_xml_fail(m->reading, e.node, "range: lower %g is not below upper %g", range[0], range[1]);
        return;
    }
    joint->law.lower = range[0] - joint->reference;
    joint->law.upper = range[1] - joint->reference;
    joint->law.limited = !m->no_limits;
}

/* Springs, dampers, friction and armature of what has no single coordinate cannot be honoured. */
static void note_lawless(ss_mjcf *m, ss_mjcf_element e, const char *type)
{
    static const char *const names[] = {"damping", "stiffness", "frictionloss", "armature"};
    for (int i = 0; i < 4; i++) {
        double values[8] = {0};
        ss_xml *where;
        const char *text = ss_mjcf_text(m, e, names[i], &where);
        int count = text ? ss_xml_parse_numbers(m->reading, where, names[i], text, 1, 8, values) : 0;
        for (int k = 0; k < count; k++) {
            if (values[k] == 0.0) continue;
            ss_xml_note(m->reading, SS_FINDING_LOSS, e.node, "%s of a %s joint is not honoured", names[i],
                        type);
            break;
        }
    }
    double range[2];
    int given = ss_mjcf_numbers(m, e, "range", 2, 2, range), limited = ss_mjcf_limited(m, e, "limited");
    if (limited == 1 || (limited == 2 && m->autolimits && given))
        ss_xml_note(m->reading, SS_FINDING_LOSS, e.node, "limits of a %s joint are not honoured", type);
}

static void read_joint(ss_mjcf *m, ss_xml *node, const place *at)
{
    node->read = true;
    if (at->part < 0) {
        ss_xml_fail(m->reading, node, "the world cannot have joints");
        return;
    }
    ss_mjcf_element e = ss_mjcf_element_of(m, node, at->child_class);
    if (m->reading->failed) return;
    ss_xml *where;
    const char *type = ss_mjcf_text(m, e, "type", &where);
    ss_mjcf_number(m, e, "group", 0.0);
    bool free = ss_xml_is(node, "freejoint") || (type && strcmp(type, "free") == 0);
    ss_model_part *part = &m->tree->parts[at->part];
    if (free) {
        if (part->parent >= 0 || part->joint_count > 0 || part->free) {
            ss_xml_fail(m->reading, node, "a free joint must be the only one of a body of the world");
            return;
        }
        if (ss_xml_is(node, "joint")) note_lawless(m, e, "free");
        ss_xml_text(node, "name");
        ss_xml_text(node, "align");
        ss_xml_text(node, "pos");
        part->free = true;
        return;
    }
    if (part->free) {
        ss_xml_fail(m->reading, node, "a free joint must be the only one of a body");
        return;
    }
    ss_model_joint *joint = ss_tree_add_joint(m->tree, node, at->part);
    if (!joint) return;
    joint->name = named(m, node);
    if (!type) type = "hinge";
    double v[3];
    if (ss_mjcf_numbers(m, e, "pos", 3, 3, v)) joint->anchor = ss_vec3_load(v);
    if (!m->global) joint->anchor = ss_pose_point(at->frame, joint->anchor);
    if (strcmp(type, "ball") == 0) {
        joint->kind = SS_MODEL_BALL;
        ss_mjcf_numbers(m, e, "axis", 3, 3, v);
        note_lawless(m, e, "ball");
        return;
    }
    bool hinge = strcmp(type, "hinge") == 0;
    if (!hinge && strcmp(type, "slide") != 0) {
        ss_xml_fail(m->reading, where, "type \"%.40s\", must be hinge, slide, ball or free", type);
        return;
    }
    joint->kind = hinge ? SS_MODEL_HINGE : SS_MODEL_SLIDE;
    if (ss_mjcf_numbers(m, e, "axis", 3, 3, v)) joint->axis = ss_vec3_normalise(ss_vec3_load(v), NULL);
    if (ss_vec3_max_abs(joint->axis) == 0.0) ss_xml_fail(m->reading, node, "axis: has no direction");
    if (!m->global) joint->axis = ss_quat_rotate(at->frame.q, joint->axis);

    // the coordinate is `ref` in the pose of the file, and 0 here
    double reference = ss_mjcf_number(m, e, "ref", 0.0), rest = ss_mjcf_number(m, e, "springref", 0.0);
    joint->reference = hinge ? ss_mjcf_angle(m, reference) : reference;
    joint->law.rest = (hinge ? ss_mjcf_angle(m, rest) : rest) - joint->reference;
    read_limits(m, e, joint, hinge);
    joint->law.stiffness = ss_mjcf_number(m, e, "stiffness", 0.0);
    joint->law.damping = ss_mjcf_number(m, e, "damping", 0.0);
    joint->law.friction = ss_mjcf_number(m, e, "frictionloss", 0.0);
    joint->law.armature = ss_mjcf_number(m, e, "armature", 0.0);
    if (joint->law.stiffness < 0.0 || joint->law.damping < 0.0 || joint->law.friction < 0.0 ||
        joint->law.armature < 0.0)
        ss_xml_fail(m->reading, node, "stiffness, damping, frictionloss and armature must not be negative");
    if (m->no_passive) joint->law.stiffness = joint->law.damping = 0.0;
    if (m->no_friction_loss) joint->law.friction = 0.0;
}

/* ---- what is inside a body -------------------------------------------------------------------------- */

static void read_site(ss_mjcf *m, ss_xml *node, const place *at)
{
    node->read = true;
    m->sites = ss_reading_grow(m->reading, m->sites, m->site_count, sizeof *m->sites);
    if (!m->sites) return;
    ss_mjcf_element e = ss_mjcf_element_of(m, node, at->child_class);
    if (m->reading->failed) return;
    ss_pose pose = ss_mjcf_pose(m, e);
    m->sites[m->site_count++] =
        (ss_mjcf_site){named(m, node), at->part, m->global ? pose : ss_pose_compose(at->frame, pose)};
}

static int child_class_of(ss_mjcf *m, ss_xml *node, int otherwise)
{
    const char *name = ss_xml_text(node, "childclass");
    return name ? ss_mjcf_find_class(m, node, name) : otherwise;
}

typedef void visitor(ss_mjcf *m, ss_xml *container, const place *at);

/* Calls `visit` with the frame that an element sets up: once for <frame>, several times for <replicate>. */
static void enter(ss_mjcf *m, ss_xml *node, const place *at, visitor *visit)
{
    place inside = *at;
    node->read = true;
    if (ss_xml_is(node, "frame")) {
        ss_xml_text(node, "name");
        inside.frame = ss_pose_compose(at->frame, ss_mjcf_pose(m, (ss_mjcf_element){node, -1}));
        inside.child_class = child_class_of(m, node, at->child_class);
        if (!m->reading->failed) visit(m, node, &inside);
        return;
    }
    // <replicate>: copy i is turned by i times euler, and moved on by the offset in the frame of copy i - 1
    double count = ss_xml_number(m->reading, node, "count", 0.0), offset[3] = {0}, euler[3] = {0};
    ss_xml_numbers(m->reading, node, "offset", 3, 3, offset);
    ss_xml_numbers(m->reading, node, "euler", 3, 3, euler);
    const char *separator = ss_xml_text(node, "sep"), *outer = m->suffix;
    if (!(count >= 1.0 && count <= COPIES_MOST)) {
        ss_xml_fail(m->reading, node, "count: %g, must be from 1 to %d", count, COPIES_MOST);
        return;
    }
    char digits[16];
    int width = snprintf(digits, sizeof digits, "%d", (int)count - 1);
    ss_vec3 position = {0.0, 0.0, 0.0};
    for (int i = 0; i < (int)count && !m->reading->failed; i++) {
        if (++m->copies > COPIES_MOST) {
            ss_xml_fail(m->reading, node, "more than %d copies", COPIES_MOST);
            return;
        }
        ss_quat turn = ss_mjcf_euler(m, euler, i);
        inside.frame = ss_pose_compose(at->frame, (ss_pose){position, turn});
        m->suffix =
            ss_reading_text(m->reading, "%.100s%.20s%0*d", outer, separator ? separator : "", width, i);
        visit(m, node, &inside);
        position = ss_vec3_add(position, ss_quat_rotate(turn, ss_vec3_load(offset)));
    }
    m->suffix = outer;
}

static bool is_container(const ss_xml *node)
{
    return ss_xml_is(node, "frame") || ss_xml_is(node, "replicate");
}

/* First what belongs to the body itself, wherever it stands, then its children: joints of a body are counted
 * together. */
static void read_own(ss_mjcf *m, ss_xml *container, const place *at)
{
    for (ss_xml *node = container->first; node && !m->reading->failed; node = node->next) {
        if (ss_xml_is(node, "inertial") && at->part >= 0) read_inertial(m, node, at);
        if (ss_xml_is(node, "joint") || ss_xml_is(node, "freejoint")) read_joint(m, node, at);
        if (ss_xml_is(node, "site")) read_site(m, node, at);
        if (is_container(node)) enter(m, node, at, read_own);
    }
}

static void read_geoms(ss_mjcf *m, ss_xml *container, const place *at)
{
    for (ss_xml *node = container->first; node && !m->reading->failed; node = node->next) {
        if (is_container(node)) enter(m, node, at, read_geoms);
        if (!ss_xml_is(node, "geom")) continue;
        ss_mjcf_element e = ss_mjcf_element_of(m, node, at->child_class);
        if (!m->reading->failed) ss_mjcf_read_geom(m, e, at->part, at->frame);
    }
}

static void read_body(ss_mjcf *m, ss_xml *node, const place *at);

static void read_children(ss_mjcf *m, ss_xml *container, const place *at)
{
    for (ss_xml *node = container->first; node && !m->reading->failed; node = node->next) {
        if (is_container(node)) enter(m, node, at, read_children);
        if (ss_xml_is(node, "body")) read_body(m, node, at);
    }
}

static void read_body(ss_mjcf *m, ss_xml *node, const place *at)
{
    ss_model_part *part = ss_tree_add_part(m->tree, node, at->part);
    if (!part) return;
    int number = m->tree->part_count - 1;
    node->read = true;
    part->name = named(m, node);
    ss_pose pose = ss_mjcf_pose(m, (ss_mjcf_element){node, -1});
    if (!m->global) part->pose = ss_pose_compose(at->frame, pose); // global: all frames are that of the world
    double lift = ss_xml_number(m->reading, node, "gravcomp", 0.0);
    part->gravity_scale = lift == 1.0 ? NAN : 1.0 - lift;
    if (ss_xml_bool(m->reading, node, "mocap", false))
        ss_xml_note(m->reading, SS_FINDING_WARNING, node, "mocap: stays where it is until it is moved");
    place inside = {number, ss_pose_identity(), child_class_of(m, node, at->child_class)};
    if (m->reading->failed) return;
    read_own(m, node, &inside);
    read_geoms(m, node, &inside);
    if (m->reading->failed) return;
    if (m->inertia_from_geom == 1 || (m->inertia_from_geom == 2 && !m->tree->parts[number].has_inertial))
        ss_part_weigh(m->tree, number);
    part = &m->tree->parts[number];
    if (part->mass > 0.0 && part->mass < m->bound_mass) part->mass = m->bound_mass;
    read_children(m, node, &inside);
}

static void list_meshes(ss_mjcf *m)
{
    for (ss_xml *section = m->root->first; section; section = section->next) {
        if (!ss_xml_is(section, "asset")) continue;
        section->read = true;
        for (ss_xml *node = section->first; node; node = node->next) {
            if (!ss_xml_is(node, "mesh")) continue;
            m->meshes = ss_reading_grow(m->reading, m->meshes, m->mesh_count, sizeof *m->meshes);
            if (!m->meshes) return;
            node->read = true;
            const char *name = ss_xml_text(node, "name"), *file = ss_xml_text(node, "file");
            if (!name && file) { // the file's, without folder and ending
                const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file,
                           *dot = strrchr(start, '.');
                name = ss_reading_text(m->reading, "%.*s", dot ? (int)(dot - start) : 200, start);
            }
            m->meshes[m->mesh_count++] = (ss_mjcf_mesh){name ? name : "", node, -1};
        }
    }
}

void ss_mjcf_read_bodies(ss_mjcf *m)
{
    list_meshes(m);
    m->suffix = "";
    for (ss_xml *section = m->root->first; section && !m->reading->failed; section = section->next) {
        if (!ss_xml_is(section, "worldbody")) continue;
        section->read = true;
        place world = {-1, ss_pose_identity(), ss_mjcf_find_class(m, NULL, "main")};
        world.child_class = child_class_of(m, section, world.child_class);
        if (m->reading->failed) return;
        read_own(m, section, &world);
        read_geoms(m, section, &world);
        read_children(m, section, &world);
    }
}
