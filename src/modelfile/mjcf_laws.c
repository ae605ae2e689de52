/* MJCF: what acts on the tree of bodies: contact pairs, equalities, actuators, keyframes. */
#include "modelfile/mjcf.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

static ss_mjcf_element in_main_class(ss_mjcf *m, ss_xml *node)
{
    node->read = true;
    ss_xml_text(node, "name");
    return ss_mjcf_element_of(m, node, ss_mjcf_find_class(m, NULL, "main"));
}

/* The body that an attribute names; -1 for the world, -2 with an error. */
static int find_body(ss_mjcf *m, ss_xml *node, const char *attribute)
{
    const char *name = ss_xml_text(node, attribute);
    if (!name || strcmp(name, "world") == 0) return -1;
    int part = ss_tree_find_part(m->tree, name);
    if (part >= 0) return part;
    ss_xml_fail(m->reading, node, "unknown body \"%.80s\"", name);
    return -2;
}

static int find_joint(ss_mjcf *m, ss_xml *node, const char *name)
{
    int joint = ss_tree_find_joint(m->tree, name);
    if (joint < 0) ss_xml_fail(m->reading, node, "unknown joint \"%.80s\"", name);
    return joint;
}

static const ss_mjcf_site *find_site(ss_mjcf *m, ss_xml *node, const char *name)
{
    for (int i = 0; i < m->site_count; i++)
        if (m->sites[i].name && strcmp(m->sites[i].name, name) == 0) return &m->sites[i];
    ss_xml_fail(m->reading, node, "unknown site \"%.80s\"", name);
    return NULL;
}

/* ---- contacts --------------------------------------------------------------------------------------- */

void ss_mjcf_read_contacts(ss_mjcf *m, ss_xml *section)
{
    section->read = true;
    for (ss_xml *node = section->first; node && !m->reading->failed; node = node->next) {
        if (ss_xml_is(node, "exclude")) {
            node->read = true;
            ss_xml_text(node, "name");
            int one = find_body(m, node, "body1"), two = find_body(m, node, "body2");
            if (!m->reading->failed) ss_tree_add_exclusion(m->tree, one, two);
        }
        if (!ss_xml_is(node, "pair")) continue;
        ss_mjcf_element e = in_main_class(m, node);
        ss_model_pair pair = {.node = node};
        static const char *const names[2] = {"geom1", "geom2"};
        for (int k = 0; k < 2 && !m->reading->failed; k++) {
            const char *name = ss_xml_text(node, names[k]);
            pair.geom[k] = name ? ss_tree_find_geom(m->tree, name) : -1;
            if (pair.geom[k] < 0) ss_xml_fail(m->reading, node, "unknown geom \"%.80s\"", name ? name : "");
        }
        if (m->reading->failed) return;
        // two sliding directions, about the normal, two rolling ones; without any, as the shapes have it
        const ss_model_geom *one = &m->tree->geoms[pair.geom[0]], *two = &m->tree->geoms[pair.geom[1]];
        double friction[5] = {fmax(one->mu, two->mu), 0.0, 0.005, 0.0, 0.0};
        friction[1] = friction[0];
        int given = ss_mjcf_numbers(m, e, "friction", 1, 5, friction);
        if (given == 1) friction[1] = friction[0];
        double condim = ss_mjcf_number(m, e, "condim", fmax(one->condim, two->condim));
        pair.has_friction = true;
        pair.mu = condim > 1.0 ? friction[0] : 0.0;
        pair.mu_torsion = condim > 3.0 ? friction[2] : 0.0;
        pair.mu_rolling = condim > 4.0 ? friction[3] : 0.0;
        if (given > 1 && friction[0] != friction[1])
            ss_xml_note(m->reading, SS_FINDING_LOSS, node,
                        "friction: the second direction is not honoured, friction is the same in all");
        if (friction[0] < 0.0 || friction[2] < 0.0 || friction[3] < 0.0)
            ss_xml_fail(m->reading, node, "friction must not be negative");
        ss_tree_add_pair(m->tree, &pair);
    }
}

/* ---- equalities ------------------------------------------------------------------------------------- */

static void read_connection(ss_mjcf *m, ss_xml *node, bool weld)
{
    ss_mjcf_element e = in_main_class(m, node);
    ss_model_equality *equality =
        ss_tree_add_equality(m->tree, node, weld ? SS_MODEL_WELD : SS_MODEL_CONNECT);
    if (!equality || m->reading->failed) return;
    equality->name = ss_xml_text(node, "name");
    equality->disabled = !ss_xml_bool(m->reading, node, "active", true);
    const char *site1 = ss_xml_text(node, "site1"), *site2 = ss_xml_text(node, "site2");
    if (site1 && site2) {
        const ss_mjcf_site *one = find_site(m, node, site1), *two = find_site(m, node, site2);
        if (!one || !two) return;
        equality->part[0] = one->part;
        equality->part[1] = two->part;
        equality->anchor[0] = one->pose.p;
        equality->anchor[1] = two->pose.p;
        equality->has_relative = weld;
        equality->relative = ss_pose_compose(one->pose, ss_pose_relative(two->pose, ss_pose_identity()));
        return;
    }
    equality->part[0] = find_body(m, node, "body1");
    equality->part[1] = find_body(m, node, "body2");
    if (!ss_xml_text(node, "body1")) ss_xml_fail(m->reading, node, "has neither body1 nor site1 and site2");
    equality->same_point = true;
    double v[7] = {0};
    if (!weld) {
        if (!ss_mjcf_numbers(m, e, "anchor", 3, 3, v)) ss_xml_fail(m->reading, node, "has no anchor");
        equality->anchor[0] = ss_vec3_load(v);
        return;
    }
    ss_mjcf_numbers(m, e, "anchor", 3, 3, v); // for a rigid weld any point is as good
    double pose[7] = {0};
    if (ss_mjcf_numbers(m, e, "relpose", 7, 7, pose) && ss_quat_norm(ss_quat_load(pose + 3)) > 0.0) {
        equality->has_relative = true;
        equality->relative = (ss_pose){ss_vec3_load(pose), ss_quat_normalise(ss_quat_load(pose + 3))};
    }
}

static void read_coupling(ss_mjcf *m, ss_xml *node)
{
    ss_mjcf_element e = in_main_class(m, node);
    const char *name1 = ss_xml_text(node, "joint1"), *name2 = ss_xml_text(node, "joint2");
    double c[5] = {0.0, 1.0, 0.0, 0.0, 0.0};
    ss_mjcf_numbers(m, e, "polycoef", 1, 5, c);
    if (m->reading->failed) return;
    int one = find_joint(m, node, name1 ? name1 : ""), two = name2 ? find_joint(m, node, name2) : -1;
    ss_model_equality *equality =
        ss_tree_add_equality(m->tree, node, name2 ? SS_MODEL_COUPLE : SS_MODEL_LOCK);
    if (!equality || m->reading->failed) return;
    equality->name = ss_xml_text(node, "name");
    equality->disabled = !ss_xml_bool(m->reading, node, "active", true);
    equality->terms = name2 ? 2 : 1;
    equality->joint[0] = one;
    equality->joint[1] = two;
    equality->offset = c[0];
    equality->factor[0] = 1.0;
    equality->factor[1] = -c[1];
    if (name2 && (c[2] != 0.0 || c[3] != 0.0 || c[4] != 0.0))
        ss_xml_note(m->reading, SS_FINDING_LOSS, node, "polycoef: only the linear part is honoured");
}

void ss_mjcf_read_equalities(ss_mjcf *m, ss_xml *section)
{
    section->read = true;
    for (ss_xml *node = section->first; node && !m->reading->failed; node = node->next) {
        if (ss_xml_is(node, "connect")) read_connection(m, node, false);
        if (ss_xml_is(node, "weld")) read_connection(m, node, true);
        if (ss_xml_is(node, "joint")) read_coupling(m, node);
    }
}

/* ---- fixed tendons ---------------------------------------------------------------------------------- */

/* A weighted sum of joint coordinates with limits, a spring, a damper or friction along it. */
static void read_tendon(ss_mjcf *m, ss_xml *node)
{
    ss_mjcf_element e = {node, ss_mjcf_find_class(m, NULL, "main")};
    ss_model_equality tendon = {.node = node, .kind = SS_MODEL_TENDON, .part = {-1, -1}};
    double reference = 0.0; // the file's length where all of our coordinates are 0
    for (ss_xml *term = node->first; term; term = term->next) {
        const char *name = ss_xml_is(term, "joint") ? ss_xml_text(term, "joint") : NULL;
        int joint = name ? find_joint(m, term, name) : -1;
        if (joint < 0 || tendon.terms == SS_JOINT_TERMS) return; // too many: the tendon is listed
        double factor = ss_xml_number(m->reading, term, "coef", 1.0);
        reference += factor * m->tree->joints[joint].reference;
        tendon.joint[tendon.terms] = joint;
        tendon.factor[tendon.terms++] = factor;
        term->read = true;
    }
    double range[2] = {0.0, 0.0}, rest[2] = {0.0, 0.0};
    int given = ss_mjcf_numbers(m, e, "range", 2, 2, range), limited = ss_mjcf_limited(m, e, "limited");
    ss_axis_law *law = &tendon.law;
    law->limited = !m->no_limits && (limited == 1 || (limited == 2 && m->autolimits && given == 2));
    law->lower = range[0] - reference;
    law->upper = range[1] - reference;
    if (law->limited && !(range[0] < range[1]))
        ss_xml_fail(m->reading, node, "range: lower %g is not below upper %g", range[0], range[1]);
    law->stiffness = m->no_passive ? 0.0 : ss_mjcf_number(m, e, "stiffness", 0.0);
    law->damping = m->no_passive ? 0.0 : ss_mjcf_number(m, e, "damping", 0.0);
    law->friction = m->no_friction_loss ? 0.0 : ss_mjcf_number(m, e, "frictionloss", 0.0);
    if (law->stiffness < 0.0 || law->damping < 0.0 || law->friction < 0.0)
        ss_xml_fail(m->reading, node, "stiffness, damping and frictionloss must not be negative");
    int lengths = ss_mjcf_numbers(m, e, "springlength", 1, 2, rest);
    law->rest = (lengths ? rest[0] : reference) - reference;
    if (lengths == 2 && rest[0] != rest[1])
        ss_xml_note(m->reading, SS_FINDING_LOSS, node, "springlength: a range without force is not honoured");

    // nothing acts along it: it is only there to be measured or pulled at
    node->read = true;
    ss_xml_text(node, "name");
    bool acts = law->limited || law->stiffness > 0.0 || law->damping > 0.0;
    if (!acts && law->friction > 0.0)
        ss_xml_note(m->reading, SS_FINDING_LOSS, node, "frictionloss alone is not honoured");
    ss_model_equality *made =
        acts && tendon.terms > 0 ? ss_tree_add_equality(m->tree, node, SS_MODEL_TENDON) : NULL;
    if (made) *made = tendon;
    if (made) made->name = ss_xml_text(node, "name");
}

void ss_mjcf_read_tendons(ss_mjcf *m, ss_xml *section)
{
    section->read = true;
    for (ss_xml *node = section->first; node && !m->reading->failed; node = node->next)
        if (ss_xml_is(node, "fixed")) read_tendon(m, node);
}

/* ---- keyframes -------------------------------------------------------------------------------------- */

ss_xml *ss_mjcf_chosen_key(ss_mjcf *m)
{
    const char *wanted = m->tree->options->key;
    int number = -1, count = 0;
    ss_xml *chosen = NULL;
    if (wanted && wanted[0] && !ss_integer_read(wanted, &number)) number = -1;
    for (ss_xml *section = m->root->first; section; section = section->next) {
        for (ss_xml *key = ss_xml_is(section, "keyframe") ? section->first : NULL; key; key = key->next) {
            if (!ss_xml_is(key, "key")) continue;
            const char *name = ss_xml_text(key, "name");
            if (wanted && wanted[0] && ((name && strcmp(name, wanted) == 0) || count == number)) {
                chosen = key;
                section->read = key->read = true;
                number = -1;
            }
            count++;
        }
    }
    m->tree->info->keyframes = count;
    return chosen;
}

/* One row of numbers whose length the model decides; NULL without the attribute. */
static double *key_numbers(ss_mjcf *m, ss_xml *key, const char *name, int count)
{
    const char *text = ss_xml_text(key, name);
    double *values = text ? ss_reading_take(m->reading, (size_t)count + 1, sizeof *values) : NULL;
    if (values && ss_xml_parse_numbers(m->reading, key, name, text, count, count, values) != count)
        return NULL;
    return values;
}

void ss_mjcf_read_start(ss_mjcf *m)
{
    ss_tree *tree = m->tree;
    const char *wanted = tree->options->key;
    ss_xml *key = ss_mjcf_chosen_key(m);
    if (!key) {
        for (ss_xml *section = m->root->first; section; section = section->next)
            if (ss_xml_is(section, "keyframe")) ss_xml_mark(section); // there to be chosen
        if (wanted && wanted[0])
            ss_xml_fail(m->reading, m->root, "unknown keyframe \"%.80s\"; there are %d", wanted,
                        tree->info->keyframes);
        return;
    }
    if (m->global) {
        ss_xml_fail(m->reading, key, "keyframes of a model with global coordinates are not honoured");
        return;
    }
    // the others of the section were not asked for
    for (ss_xml *other = key->parent->first; other; other = other->next) ss_xml_mark(other);
    ss_xml_number(m->reading, key, "time", 0.0);
    int positions = 0, speeds = 0;
    for (int i = 0; i < tree->part_count; i++) {
        positions += 7 * tree->parts[i].free;
        speeds += 6 * tree->parts[i].free;
    }
    for (int i = 0; i < tree->joint_count; i++) {
        bool ball = tree->joints[i].kind == SS_MODEL_BALL;
        positions += ball ? 4 : 1;
        speeds += ball ? 3 : 1;
    }
    const double *q = key_numbers(m, key, "qpos", positions), *v = key_numbers(m, key, "qvel", speeds);
    if (m->reading->failed) return;

    // bodies in order, and the joints of each
    for (int i = 0; i < tree->part_count; i++) {
        ss_model_part *part = &tree->parts[i];
        if (part->free) {
            part->has_start = true;
            part->start = q ? (ss_pose){ss_vec3_load(q), ss_quat_normalise(ss_quat_load(q + 3))} : part->pose;
            if (v) { // angular velocity is in the body's own frame
                memcpy(part->start_velocity, v, 3 * sizeof *v);
                ss_vec3_store(ss_quat_rotate(part->start.q, ss_vec3_load(v + 3)), part->start_velocity + 3);
            }
            q = q ? q + 7 : NULL;
            v = v ? v + 6 : NULL;
        }
        for (int k = 0; k < part->joint_count; k++) {
            ss_model_joint *joint = &tree->joints[part->first_joint + k];
            bool ball = joint->kind == SS_MODEL_BALL;
            if (q && ball) joint->start_turn = ss_quat_normalise(ss_quat_load(q));
            if (q && !ball) joint->start = *q - joint->reference;
            if (v && ball) joint->start_turn_speed = ss_vec3_load(v);
            if (v && !ball) joint->start_speed = *v;
            q = q ? q + (ball ? 4 : 1) : NULL;
            v = v ? v + (ball ? 3 : 1) : NULL;
        }
    }
}

/* ---- actuators -------------------------------------------------------------------------------------- */

/* force = constant + stiffness (target - q) + damping (speed - rate), all along the joint */
typedef struct actuator {
    double constant, stiffness, damping, target, speed, most;
} actuator;

/* gain * control + b0 + b1 length + b2 speed, as <general> has it; false when it is of another kind. */
static bool read_general(ss_mjcf *m, ss_mjcf_element e, double control, double gear, actuator *a)
{
    ss_xml *where;
    const char *dynamics = ss_mjcf_text(m, e, "dyntype", &where),
               *gain = ss_mjcf_text(m, e, "gaintype", &where), *bias = ss_mjcf_text(m, e, "biastype", &where);
    double g[10] = {1.0}, b[10] = {0.0};
    ss_mjcf_numbers(m, e, "gainprm", 1, 10, g);
    ss_mjcf_numbers(m, e, "biasprm", 1, 10, b);
    bool affine = bias && strcmp(bias, "affine") == 0;
    if ((dynamics && strcmp(dynamics, "none") != 0) || (gain && strcmp(gain, "fixed") != 0) ||
        (bias && strcmp(bias, "none") != 0 && !affine) || (affine && (b[1] > 0.0 || b[2] > 0.0)))
        return false;
    double force = gear * g[0] * control;
    if (affine) {
        force += gear * b[0];
        a->stiffness = -b[1] * gear * gear;
        a->damping = -b[2] * gear * gear;
    }
    if (a->stiffness > 0.0)
        a->target = force / a->stiffness;
    else
        a->constant = force;
    return true;
}

static bool read_actuator(ss_mjcf *m, ss_mjcf_element e, double control, double gear, actuator *a)
{
    double range[2];
    int given = ss_mjcf_numbers(m, e, "ctrlrange", 2, 2, range),
        limited = ss_mjcf_limited(m, e, "ctrllimited");
    if (given && (limited == 1 || (limited == 2 && m->autolimits)))
        control = fmin(fmax(control, range[0]), range[1]);

    if (ss_xml_is(e.node, "motor")) {
        a->constant = gear * control;
    } else if (ss_xml_is(e.node, "position")) {
        a->stiffness = ss_mjcf_number(m, e, "kp", 1.0) * gear * gear;
        a->damping = ss_mjcf_number(m, e, "kv", 0.0) * gear * gear;
        a->target = gear != 0.0 ? control / gear : 0.0;
    } else if (ss_xml_is(e.node, "velocity")) {
        a->damping = ss_mjcf_number(m, e, "kv", 1.0) * gear * gear;
        a->speed = gear != 0.0 ? control / gear : 0.0;
    } else if (ss_xml_is(e.node, "damper")) {
        a->damping = ss_mjcf_number(m, e, "kv", 1.0) * fmax(control, 0.0) * gear * gear;
    } else if (!ss_xml_is(e.node, "general") || !read_general(m, e, control, gear, a)) {
        return false;
    }

    /* The largest force; 0 = unlimited. */
    given = ss_mjcf_numbers(m, e, "forcerange", 2, 2, range);
    limited = ss_mjcf_limited(m, e, "forcelimited");
    if (given && (limited == 1 || (limited == 2 && m->autolimits))) {
        a->most = fmax(fabs(range[0]), fabs(range[1])) * fabs(gear);
        if (range[0] != -range[1])
            ss_xml_note(
                m->reading, SS_FINDING_LOSS, e.node,
                "forcerange: different limits of the two directions are not honoured, the larger counts");
    }
    if (a->stiffness < 0.0 || a->damping < 0.0) ss_xml_fail(m->reading, e.node, "gains must not be negative");
    return true;
}

/* Adds an actuator to the law of its joint. Without a limit it is a spring and damper like those of the joint
 * itself; with one it is a motor, of which a joint has one. */
static void apply_actuator(ss_mjcf *m, ss_xml *node, const actuator *a, ss_model_joint *joint)
{
    ss_axis_law *law = &joint->law;
    double constant = a->most > 0.0 ? fmin(fmax(a->constant, -a->most), a->most) : a->constant;
    law->force += constant;
    if (a->stiffness == 0.0 && a->damping == 0.0) return;

    double target = a->target - joint->reference;
    if (law->motor == SS_MOTOR_OFF) {
        law->motor = SS_MOTOR_POSITION;
        law->motor_stiffness = a->stiffness;
        law->motor_damping = a->damping;
        law->target = target;
        law->target_speed = a->speed;
        law->max_force = a->most;
        return;
    }

    // a position and a velocity servo together are one with both gains
    double stiffness = law->motor_stiffness + a->stiffness, damping = law->motor_damping + a->damping;
    bool same_limit = law->max_force == 0.0 && a->most == 0.0;
    if (!same_limit)
        ss_xml_note(m->reading, SS_FINDING_LOSS, node,
                    "two actuators with force limits on one joint: limits are not honoured");
    law->max_force = 0.0;

    if (stiffness > 0.0)
        law->target = (law->motor_stiffness * law->target + a->stiffness * target) / stiffness;
    if (damping > 0.0)
        law->target_speed = (law->motor_damping * law->target_speed + a->damping * a->speed) / damping;
    if (stiffness > 0.0 && law->target_speed != 0.0) {
        // a steady speed under a position servo: its force, as a constant one
        law->force += damping * law->target_speed;
        law->target_speed = 0.0;
    }
    law->motor_stiffness = stiffness;
    law->motor_damping = damping;
}

void ss_mjcf_read_actuators(ss_mjcf *m)
{
    ss_xml *key = m->tree->options->key ? ss_mjcf_chosen_key(m) : NULL;
    int count = 0, number = 0;
    for (ss_xml *section = m->root->first; section; section = section->next)
        for (ss_xml *node = ss_xml_is(section, "actuator") ? section->first : NULL; node; node = node->next)
            count++;

    const double *control = key ? key_numbers(m, key, "ctrl", count) : NULL;
    if (m->reading->failed) return;
    for (ss_xml *section = m->root->first; section; section = section->next) {
        if (!ss_xml_is(section, "actuator")) continue;
        section->read = true;
        for (ss_xml *node = section->first; node && !m->reading->failed; node = node->next, number++) {
            const char *name = ss_xml_text(node, "joint");
            if (!name) name = ss_xml_text(node, "jointinparent");
            if (!name) continue; // another transmission: listed as not honoured
            ss_mjcf_element e = in_main_class(m, node);
            int joint = m->reading->failed ? -1 : find_joint(m, node, name);
            if (joint < 0) return;

            double gear[6] = {1.0};
            actuator a = {0};
            ss_mjcf_numbers(m, e, "gear", 1, 6, gear);
            ss_mjcf_number(m, e, "group", 0.0);
            bool known = read_actuator(m, e, control ? control[number] : 0.0, gear[0], &a);
            if (!known || m->tree->joints[joint].kind == SS_MODEL_BALL) {
                ss_xml_note(m->reading, SS_FINDING_LOSS, node,
                            "this kind of <%.40s> is not honoured: the joint is not driven", node->name);
                ss_xml_mark(node);
                continue;
            }
            if (!m->no_actuation) apply_actuator(m, node, &a, &m->tree->joints[joint]);
        }
    }
}
