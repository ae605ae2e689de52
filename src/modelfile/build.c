/* From the tree of a model to a world.
 *
 * Parts without joints belong to their parent: together they are one rigid body, and those that hang on the
 * world are the world. A rigid body gets its mass, centre and inertia explicitly, so the world need not weigh
 * shapes again.
 *
 * Several joints between a part and its parent become one joint of the world where there is a kind for it
 * (universal, cylindrical, planar); otherwise small bodies are put in between, each with SHARE of the mass
 * and inertia of the part, which gives as much. */
#include "modelfile/tree.h"

#include "linalg/mat3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SHARE = 1e-3;      // changes the motion by about as much
static const double SAME_PLACE = 1e-9; // of the unit vectors and metres that files give with 6 digits or more

enum { FILTER_CLASSES = 32, BETWEEN_MOST = 16 };

/* What becomes one body of the world. */
typedef struct rigid {
    int leader;              /* part whose joints connect it to its parent */
    ss_mass_properties mass; /* world frame, in the pose of the file */
    int body;                /* number in the world */
    int between_count, between[BETWEEN_MOST];
    bool fused; /* all its joints are one joint of the world */
} rigid;

typedef struct build {
    ss_tree *tree;
    ss_reading *reading;
    ss_world *world;
    int rigid_count;
    rigid *rigids;
    int base; /* body of what is fixed: SS_WORLD, or a static one */
} build;

/* ---- rigid bodies ----------------------------------------------------------------------------------- */

static bool group_parts(build *b)
{
    ss_tree *tree = b->tree;
    b->rigids = ss_reading_take(b->reading, (size_t)tree->part_count + 1, sizeof *b->rigids);
    if (!b->rigids) return false;
    for (int i = 0; i < tree->part_count; i++) {
        ss_model_part *part = &tree->parts[i];
        ss_pose parent = part->parent < 0 ? ss_pose_identity() : tree->parts[part->parent].world;
        part->world = ss_pose_compose(parent, part->pose);
        part->rigid = part->parent < 0 ? -1 : tree->parts[part->parent].rigid;
        if (part->joint_count > 0 || part->free) {
            part->rigid = b->rigid_count++;
            b->rigids[part->rigid] = (rigid){.leader = i};
        }

        if (part->rigid < 0 || !part->has_inertial) continue;
        rigid *r = &b->rigids[part->rigid];
        ss_mass_properties mass = {.mass = part->mass};
        ss_vec3_store(part->centre, mass.centre);
        memcpy(mass.inertia, part->inertia, sizeof mass.inertia);
        ss_mass_transform(&mass, part->world);
        r->mass = ss_mass_add(r->mass, mass);
    }

    /* A file may give the mass of everything together, which scales what its parts have. */
    double sum = 0.0;
    for (int i = 0; i < b->rigid_count; i++) sum += b->rigids[i].mass.mass;
    bool scales = tree->mass_total > 0.0 && sum > 0.0;
    double factor = scales ? tree->mass_total / sum : 1.0;
    for (int i = 0; scales && i < b->rigid_count; i++) {
        b->rigids[i].mass.mass *= factor;
        for (int k = 0; k < 9; k++) b->rigids[i].mass.inertia[k] *= factor;
    }
    return true;
}

/* A body of the world in the pose of the file, with a share of the mass. */
static int add_body(build *b, const rigid *r, const char *name, double share)
{
    const ss_model_part *leader = &b->tree->parts[r->leader];
    ss_body body = {.name = name, .kind = SS_DYNAMIC, .mass = share * r->mass.mass};
    body.gravity_scale = leader->gravity_scale;
    memcpy(body.position, r->mass.centre, sizeof body.position);
    ss_quat_store(leader->world.q, body.quaternion);
    ss_mat3 turn = ss_mat3_transpose(ss_quat_to_matrix(leader->world.q));
    ss_mat3 inertia = ss_mat3_scale(share, ss_mat3_rotate_tensor(turn, ss_mat3_load(r->mass.inertia)));
    ss_mat3_store(ss_mat3_symmetric_part(inertia), body.inertia);
    ss_error err = {0};
    int number = ss_world_add_body(b->world, &body, &err);
    if (number < 0) ss_xml_fail(b->reading, leader->node, "%s", err.message);
    return number;
}

static bool check_mass(build *b, const rigid *r)
{
    const ss_model_part *leader = &b->tree->parts[r->leader];
    const char *name = leader->name ? leader->name : "";
    if (!(r->mass.mass > 0.0))
        return ss_xml_fail(b->reading, leader->node,
                           "\"%.80s\" can move but has no mass: give it an inertia or a shape that weighs",
                           name);
    if (!isfinite(r->mass.mass) || !ss_mat3_is_positive(ss_mat3_load(r->mass.inertia)))
        return ss_xml_fail(b->reading, leader->node,
                           "the inertia of \"%.80s\" is not positive definite (mass %g kg)", name,
                           r->mass.mass);
    return true;
}

/* ---- several joints at once ------------------------------------------------------------------------- */

static bool perpendicular(ss_vec3 a, ss_vec3 b)
{
    return fabs(ss_vec3_dot(a, b)) < SAME_PLACE;
}

/* The kind of joint that the joints of a part are together; SS_JOINT_KINDS: none is. */
static ss_joint_kind kind_together(const ss_model_joint *j, int count)
{
    static const ss_joint_kind single[] = {[SS_MODEL_HINGE] = SS_JOINT_REVOLUTE,
                                           [SS_MODEL_SLIDE] = SS_JOINT_PRISMATIC,
                                           [SS_MODEL_BALL] = SS_JOINT_BALL};
    if (count == 1) return single[j[0].kind];
    int hinges = 0, slides = 0, hinge = 0;
    bool lawless = true;
    for (int i = 0; i < count; i++) {
        const ss_axis_law *law = &j[i].law;
        hinges += j[i].kind == SS_MODEL_HINGE;
        slides += j[i].kind == SS_MODEL_SLIDE;
        if (j[i].kind == SS_MODEL_HINGE) hinge = i;
        lawless = lawless && !law->limited && law->motor == SS_MOTOR_OFF && law->stiffness == 0.0 &&
                  law->damping == 0.0 && law->friction == 0.0 && law->force == 0.0 && law->armature == 0.0;
    }

    if (count == 2 && hinges == 2 && perpendicular(j[0].axis, j[1].axis) &&
        ss_vec3_norm(ss_vec3_subtract(j[0].anchor, j[1].anchor)) < SAME_PLACE)
        return SS_JOINT_UNIVERSAL;
    if (count == 2 && hinges == 1 && slides == 1 && ss_vec3_dot(j[0].axis, j[1].axis) > 0.0 &&
        ss_vec3_norm(ss_vec3_cross(j[0].axis, j[1].axis)) < SAME_PLACE)
        return SS_JOINT_CYLINDRICAL;
    // two slides and a turn about what is across them; a hinge that comes before a slide would turn it
    if (count == 3 && hinges == 1 && slides == 2 && hinge == 2 && lawless &&
        perpendicular(j[0].axis, j[1].axis) && perpendicular(j[0].axis, j[2].axis) &&
        perpendicular(j[1].axis, j[2].axis))
        return SS_JOINT_PLANAR;
    return SS_JOINT_KINDS;
}

static bool add_bodies(build *b)
{
    /* The static body that the fixed parts of a robot are. */
    const ss_model_part *fixed = NULL;
    ss_error err = {0};
    for (int i = 0; i < b->tree->part_count && !fixed; i++)
        if (b->tree->parts[i].rigid < 0) fixed = &b->tree->parts[i];
    if (b->tree->has_base && fixed) {
        b->base = ss_world_add_body(b->world, &(ss_body){.name = fixed->name, .kind = SS_STATIC}, &err);
        if (b->base < 0) return ss_xml_fail(b->reading, fixed->node, "%s", err.message);
    }

    for (int i = 0; i < b->rigid_count; i++) {
        rigid *r = &b->rigids[i];
        const ss_model_part *leader = &b->tree->parts[r->leader];
        if (!check_mass(b, r)) return false;
        const ss_model_joint *joints = b->tree->joints + leader->first_joint;
        r->fused = leader->joint_count > 0 && kind_together(joints, leader->joint_count) != SS_JOINT_KINDS;
        r->between_count = r->fused || leader->joint_count == 0 ? 0 : leader->joint_count - 1;
        if (r->between_count > BETWEEN_MOST)
            return ss_xml_fail(b->reading, leader->node, "more than %d joints", BETWEEN_MOST + 1);
        if (r->between_count > 0)
            ss_xml_note(
                b->reading, SS_FINDING_WARNING, leader->node,
                "%d joints at once: approximated by %d bodies in between, each with %g of the mass of "
                "\"%s\"",
                leader->joint_count, r->between_count, SHARE, leader->name ? leader->name : "");

        for (int k = 0; k < r->between_count; k++) {
            r->between[k] = add_body(b, r, NULL, SHARE);
            if (r->between[k] < 0) return false;
        }
        r->body = add_body(b, r, leader->name, 1.0 - SHARE * r->between_count);
        if (r->body < 0) return false;
    }
    return true;
}

static int body_of(const build *b, int part)
{
    if (part < 0) return SS_WORLD;
    int r = b->tree->parts[part].rigid;
    return r < 0 ? b->base : b->rigids[r].body;
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

/* MuJoCo lets two shapes touch when one of them wants to, we when both do. So each combination of the two
 * masks becomes a group of its own, and shapes of explicit pairs one each. */
static bool classes_touch(const ss_model_geom *a, const ss_model_geom *b)
{
    return (a->contype & b->conaffinity) || (b->contype & a->conaffinity);
}

static bool set_filters(build *b)
{
    ss_tree *tree = b->tree;
    const ss_model_geom *of_class[FILTER_CLASSES];
    bool alone[FILTER_CLASSES] = {false};
    uint32_t mask[FILTER_CLASSES] = {0};
    int count = 0;
    for (int i = 0; i < tree->geom_count; i++) tree->geoms[i].filter_class = -1;

    /* Shapes of a pair that their masks would not let touch are alone in their class. */
    for (int p = 0; p < tree->pair_count; p++) {
        const ss_model_pair *pair = &tree->pairs[p];
        if (classes_touch(&tree->geoms[pair->geom[0]], &tree->geoms[pair->geom[1]])) continue;
        for (int k = 0; k < 2; k++) {
            ss_model_geom *geom = &tree->geoms[pair->geom[k]];
            if (geom->filter_class >= 0) continue;
            if (count == FILTER_CLASSES)
                return ss_xml_fail(b->reading, pair->node, "more than %d groups of shapes that may touch",
                                   FILTER_CLASSES);
            geom->filter_class = count;
            alone[count] = true;
            of_class[count++] = geom;
        }
    }

    /* The others share one with those of the same masks. */
    for (int i = 0; i < tree->geom_count; i++) {
        ss_model_geom *geom = &tree->geoms[i];
        for (int c = 0; c < count && geom->filter_class < 0; c++)
            if (!alone[c] && of_class[c]->contype == geom->contype &&
                of_class[c]->conaffinity == geom->conaffinity)
                geom->filter_class = c;
        if (geom->filter_class >= 0) continue;
        if (count == FILTER_CLASSES)
            return ss_xml_fail(b->reading, geom->node, "more than %d combinations of contype and conaffinity",
                               FILTER_CLASSES);
        geom->filter_class = count;
        of_class[count++] = geom;
    }

    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            if (classes_touch(of_class[i], of_class[k])) mask[i] |= 1u << k;
    for (int p = 0; p < tree->pair_count; p++) {
        int c0 = tree->geoms[tree->pairs[p].geom[0]].filter_class,
            c1 = tree->geoms[tree->pairs[p].geom[1]].filter_class;
        mask[c0] |= 1u << c1;
        mask[c1] |= 1u << c0;
    }

    for (int i = 0; i < tree->geom_count; i++) {
        ss_model_geom *geom = &tree->geoms[i];
        uint32_t with = mask[geom->filter_class];
        geom->contype = 1u << geom->filter_class;
        geom->conaffinity = with;
        geom->ghost = geom->ghost || with == 0 || tree->contacts_off;
    }
    return true;
}

static bool has_own_material(const ss_tree *tree, int geom)
{
    for (int p = 0; p < tree->pair_count; p++)
        if (tree->pairs[p].has_friction && (tree->pairs[p].geom[0] == geom || tree->pairs[p].geom[1] == geom))
            return true;
    return false;
}

/* Contact dimension 1 has no friction, 3 slides, 4 also spins, coupled with sliding, 6 also rolls. */
static ss_material_pair pair_of(const ss_model_geom *a, const ss_model_geom *b)
{
    const ss_model_geom *strong = a->priority > b->priority ? a : b->priority > a->priority ? b : NULL;
    int condim = strong ? strong->condim : a->condim > b->condim ? a->condim : b->condim;
    double mu = strong ? strong->mu : fmax(a->mu, b->mu);
    double rolling = strong ? strong->mu_rolling : fmax(a->mu_rolling, b->mu_rolling);
    double torsion = strong ? strong->mu_torsion : fmax(a->mu_torsion, b->mu_torsion);
    return (ss_material_pair){.mu = condim > 1 ? mu : 0.0,
                              .mu_rolling = condim > 4 ? rolling : 0.0,
                              .mu_torsion = condim > 3 ? torsion : 0.0,
                              .spin_coupling = SS_SPIN_ELLIPSOID,
                              .restitution = fmax(a->restitution, b->restitution)};
}

/* One material for all shapes that are alike. */
static bool set_materials(build *b)
{
    ss_tree *tree = b->tree;
    int count = 0;
    const int most = 300; // pairs of materials grow with the square
    const ss_model_geom **of = ss_reading_take(b->reading, (size_t)tree->geom_count + 1, sizeof *of);
    if (!of) return false;

    for (int i = 0; i < tree->geom_count; i++) {
        ss_model_geom *geom = &tree->geoms[i];
        geom->material = -1;
        if (geom->ghost) continue;
        bool own = has_own_material(tree, i);
        for (int m = 0; m < count && geom->material < 0 && !own; m++)
            if (of[m]->mu == geom->mu && of[m]->mu_rolling == geom->mu_rolling &&
                of[m]->mu_torsion == geom->mu_torsion && of[m]->restitution == geom->restitution &&
                of[m]->priority == geom->priority && of[m]->condim == geom->condim &&
                !has_own_material(tree, (int)(of[m] - tree->geoms)))
                geom->material = of[m]->material;
        if (geom->material >= 0) continue;
        if (count == most)
            return ss_xml_fail(b->reading, geom->node, "more than %d different materials", most);

        char name[32];
        snprintf(name, sizeof name, "material %d", count + 1);
        ss_material material = {.name = name,
                                .mu = geom->mu,
                                .restitution = geom->restitution,
                                .mu_rolling = geom->mu_rolling,
                                .mu_torsion = geom->mu_torsion};
        ss_error err = {0};
        geom->material = ss_world_add_material(b->world, &material, &err);
        if (geom->material < 0) return ss_xml_fail(b->reading, geom->node, "%s", err.message);
        of[count++] = geom;
    }

    /* MuJoCo mixes friction by the larger value, and by priority. */
    for (int i = 0; i < count && tree->max_friction; i++) {
        for (int k = 0; k <= i; k++) {
            ss_material_pair pair = pair_of(of[i], of[k]);
            if (!ss_world_set_pair(b->world, of[i]->material, of[k]->material, &pair, NULL))
                return ss_xml_fail(b->reading, of[i]->node, "its friction is not usable");
        }
    }

    for (int p = 0; p < tree->pair_count; p++) {
        const ss_model_pair *item = &tree->pairs[p];
        const ss_model_geom *one = &tree->geoms[item->geom[0]], *two = &tree->geoms[item->geom[1]];
        if (!item->has_friction || one->ghost || two->ghost) continue;
        ss_material_pair pair = {.mu = item->mu,
                                 .mu_rolling = item->mu_rolling,
                                 .mu_torsion = item->mu_torsion,
                                 .spin_coupling = SS_SPIN_ELLIPSOID};
        if (!ss_world_set_pair(b->world, one->material, two->material, &pair, NULL))
            return ss_xml_fail(b->reading, item->node, "its friction is not usable");
    }
    return true;
}

static bool add_shapes(build *b)
{
    ss_tree *tree = b->tree;
    for (int i = 0; i < tree->geom_count; i++) {
        const ss_model_geom *geom = &tree->geoms[i];
        int body = body_of(b, geom->part);
        ss_pose pose =
            geom->part < 0 ? geom->pose : ss_pose_compose(tree->parts[geom->part].world, geom->pose);
        if (body != SS_WORLD) {
            const ss_body *of = ss_world_body(b->world, body);
            pose =
                ss_pose_relative((ss_pose){ss_vec3_load(of->position), ss_quat_load(of->quaternion)}, pose);
        }

        ss_shape shape = {.kind = geom->kind,
                          .nx = geom->nx,
                          .ny = geom->ny,
                          .heights = geom->heights,
                          .material = geom->material < 0 ? 0 : geom->material,
                          .group = geom->contype,
                          .collides_with = geom->conaffinity,
                          .ghost = geom->ghost,
                          .colour = geom->colour};
        memcpy(shape.size, geom->size, sizeof shape.size);
        memcpy(shape.surface_velocity, geom->surface_velocity, sizeof shape.surface_velocity);
        ss_vec3_store(pose.p, shape.position);
        ss_quat_store(pose.q, shape.quaternion);
        if (geom->kind == SS_HULL) shape.mesh = ss_tree_hull(tree, geom->node, geom->mesh);
        if (geom->kind == SS_HULL && !shape.mesh) return false;

        ss_error err = {0};
        if (ss_world_add_shape(b->world, body, &shape, &err) < 0)
            return ss_xml_fail(b->reading, geom->node, "%s", err.message);
    }
    return true;
}

/* ---- joints ----------------------------------------------------------------------------------------- */

static int put_joint(build *b, ss_xml *node, const ss_joint *joint)
{
    ss_error err = {0};
    int number = ss_world_add_joint(b->world, joint, &err);
    if (number < 0) ss_xml_fail(b->reading, node, "%s", err.message);
    return number;
}

/* One joint of the world for `count` of the tree. */
static bool add_joint(build *b, ss_model_joint *joints, int count, int body_a, int body_b, bool collide)
{
    const ss_model_part *part = &b->tree->parts[joints[0].part];
    ss_joint_kind kind = kind_together(joints, count);
    int main = 0; // whose anchor counts: the hinge among slides
    for (int i = 0; i < count; i++)
        if (kind != SS_JOINT_UNIVERSAL && joints[i].kind == SS_MODEL_HINGE) main = i;
    ss_joint joint = {
        .name = joints[main].name, .kind = kind, .a = body_a, .b = body_b, .bodies_collide = collide};
    ss_vec3_store(ss_pose_point(part->world, joints[main].anchor), joint.anchor);
    ss_vec3_store(ss_quat_rotate(part->world.q, joints[main].axis), joint.axis);
    if (kind == SS_JOINT_UNIVERSAL) ss_vec3_store(ss_quat_rotate(part->world.q, joints[1].axis), joint.axis2);
    for (int i = 0; i < count; i++) {
        joints[i].coordinate = kind == SS_JOINT_UNIVERSAL     ? i
                               : kind == SS_JOINT_CYLINDRICAL ? joints[i].kind == SS_MODEL_SLIDE
                                                              : 0;
        bool has_coordinate = kind != SS_JOINT_PLANAR && kind != SS_JOINT_BALL;
        if (has_coordinate) joint.law[joints[i].coordinate] = joints[i].law;
        if (!has_coordinate) joints[i].coordinate = -1;
    }
    int number = put_joint(b, joints[main].node, &joint);
    for (int i = 0; i < count; i++) joints[i].number = number;
    return number >= 0;
}

static bool add_joints(build *b)
{
    ss_tree *tree = b->tree;
    for (int i = 0; i < b->rigid_count; i++) {
        const rigid *r = &b->rigids[i];
        const ss_model_part *leader = &tree->parts[r->leader];
        ss_model_joint *joints = tree->joints + leader->first_joint;
        int parent = body_of(b, leader->parent);
        bool collide = tree->parents_collide;
        if (r->fused) {
            if (!add_joint(b, joints, leader->joint_count, parent, r->body, collide)) return false;
            continue;
        }
        for (int k = 0; k < leader->joint_count; k++) {
            int from = k == 0 ? parent : r->between[k - 1];
            int to = k < r->between_count ? r->between[k] : r->body;
            if (!add_joint(b, joints + k, 1, from, to, collide)) return false;
        }
        if (r->between_count > 0 && parent != SS_WORLD && !collide &&
            !ss_world_separate(b->world, parent, r->body, b->reading->err))
            return false;
    }
    return true;
}

/* ---- equalities ------------------------------------------------------------------------------------- */

static ss_pose world_of(const build *b, int part)
{
    return part < 0 ? ss_pose_identity() : b->tree->parts[part].world;
}

/* Two points, or frames, that stay together: they may be apart at first, so each side is placed by hand. */
static bool add_connection(build *b, const ss_model_equality *e)
{
    int bodies[2] = {body_of(b, e->part[0]), body_of(b, e->part[1])};
    if (bodies[0] == bodies[1]) {
        ss_xml_note(b->reading, SS_FINDING_WARNING, e->node, "connects parts of the same body: no effect");
        return true;
    }

    ss_joint joint = {.name = e->name,
                      .kind = e->kind == SS_MODEL_WELD ? SS_JOINT_FIXED : SS_JOINT_BALL,
                      .a = bodies[0],
                      .b = bodies[1],
                      .bodies_collide = true,
                      .disabled = e->disabled};
    ss_pose pose[2] = {world_of(b, e->part[0]), world_of(b, e->part[1])};
    ss_vec3 anchor = ss_pose_point(pose[0], e->anchor[0]);
    ss_vec3_store(anchor, joint.anchor);
    int number = put_joint(b, e->node, &joint);
    if (number < 0) return false;

    ss_joint *made = ss_world_joint(b->world, number);
    ss_vec3 other = e->same_point ? anchor : ss_pose_point(pose[1], e->anchor[1]);
    const ss_body *second = ss_world_body(b->world, bodies[1]);
    ss_pose at = second ? (ss_pose){ss_vec3_load(second->position), ss_quat_load(second->quaternion)}
                        : ss_pose_identity();
    if (!e->same_point) // the point of the second body that belongs to the anchor
        ss_vec3_store(ss_quat_rotate_back(at.q, ss_vec3_subtract(other, at.p)), made->local_anchor[1]);

    if (e->has_relative) {
        // the frame of side b is where side a's would be if part 1 stood where it should: F_b = q_b (q_0
        // relative)^-1 F_a
        ss_pose told = ss_pose_compose(pose[0], e->relative);
        ss_quat wrong = ss_quat_multiply(pose[1].q, ss_quat_conjugate(told.q));
        ss_quat frame = ss_quat_load(made->local_frame[0]);
        const ss_body *first = ss_world_body(b->world, bodies[0]);
        if (first) frame = ss_quat_multiply(ss_quat_load(first->quaternion), frame);
        frame = ss_quat_multiply(wrong, frame);
        ss_quat_store(ss_quat_normalise(ss_quat_multiply(ss_quat_conjugate(at.q), frame)),
                      made->local_frame[1]);
        ss_vec3 in_part = ss_quat_rotate_back(told.q, ss_vec3_subtract(anchor, told.p));
        ss_vec3 there = ss_pose_point(pose[1], in_part);
        ss_vec3_store(ss_quat_rotate_back(at.q, ss_vec3_subtract(there, at.p)), made->local_anchor[1]);
    }
    return true;
}

/* A joint that is held, or a sum of joint coordinates that stays, or along which limits, springs and dampers
 * act: a fixed tendon. */
static bool add_coupling(build *b, const ss_model_equality *e)
{
    if (e->kind == SS_MODEL_LOCK) {
        const ss_model_joint *one = &b->tree->joints[e->joint[0]];
        if (one->coordinate < 0 || one->number < 0) {
            ss_xml_note(b->reading, SS_FINDING_LOSS, e->node, "is not honoured: its joint has no coordinate");
            return true;
        }
        ss_axis_law *law = &ss_world_joint(b->world, one->number)->law[one->coordinate];
        law->limited = !e->disabled;
        law->lower = law->upper = e->offset;
        return true;
    }

    ss_joint joint = {.name = e->name, .kind = SS_JOINT_COUPLING, .terms = e->terms, .law = {e->law}};
    joint.disabled = e->disabled;
    joint.bodies_collide = true;
    for (int k = 0; k < e->terms; k++) {
        const ss_model_joint *of = &b->tree->joints[e->joint[k]];
        if (of->number < 0 || of->coordinate < 0) {
            ss_xml_note(b->reading, SS_FINDING_LOSS, e->node,
                        "%s is not honoured: \"%.80s\" has no coordinate of its own",
                        e->kind == SS_MODEL_COUPLE ? "the coupling" : "the tendon", of->name ? of->name : "");
            return true;
        }
        joint.term[k] = (ss_coupling_term){of->number, of->coordinate, e->factor[k]};
    }
    int number = put_joint(b, e->node, &joint);
    if (number < 0) return false;
    if (e->kind == SS_MODEL_COUPLE) ss_world_joint(b->world, number)->start_length = e->offset;
    return true;
}

/* ---- the start -------------------------------------------------------------------------------------- */

/* A frame and the velocity of its origin and of itself. */
typedef struct moving {
    ss_pose pose;
    ss_vec3 v, w;
} moving;

/* Moves the frame by one joint; `around` keeps the anchor where it is. */
static void apply(moving *m, const ss_model_joint *joint)
{
    ss_vec3 anchor = ss_pose_point(m->pose, joint->anchor), axis = ss_quat_rotate(m->pose.q, joint->axis);
    if (joint->kind == SS_MODEL_SLIDE) {
        m->pose.p = ss_vec3_add_scaled(m->pose.p, joint->start, axis);
        m->v = ss_vec3_add(m->v, ss_vec3_cross(m->w, ss_vec3_scale(joint->start, axis)));
        m->v = ss_vec3_add_scaled(m->v, joint->start_speed, axis);
        return;
    }
    ss_vec3 before = m->pose.p;
    ss_quat turn = joint->kind == SS_MODEL_BALL
                       ? joint->start_turn
                       : ss_quat_exponential(ss_vec3_scale(joint->start, joint->axis));
    m->pose.q = ss_quat_normalise(ss_quat_multiply(m->pose.q, turn));
    m->pose.p = ss_vec3_subtract(anchor, ss_quat_rotate(m->pose.q, joint->anchor));
    ss_vec3 spin = joint->kind == SS_MODEL_BALL ? ss_quat_rotate(m->pose.q, joint->start_turn_speed)
                                                : ss_vec3_scale(joint->start_speed, axis);
    m->v = ss_vec3_add(m->v, ss_vec3_cross(m->w, ss_vec3_subtract(m->pose.p, before)));
    m->v = ss_vec3_add(m->v, ss_vec3_cross(spin, ss_vec3_subtract(m->pose.p, anchor)));
    m->w = ss_vec3_add(m->w, spin);
}

/* The body's centre of mass goes with the frame of its leader. */
static void place_body(build *b, const rigid *r, int number, const moving *m)
{
    const ss_model_part *leader = &b->tree->parts[r->leader];
    ss_body *body = ss_world_body(b->world, number);
    ss_vec3 centre =
        ss_quat_rotate_back(leader->world.q, ss_vec3_subtract(ss_vec3_load(r->mass.centre), leader->world.p));
    ss_vec3 arm = ss_quat_rotate(m->pose.q, centre);
    ss_vec3_store(ss_vec3_add(m->pose.p, arm), body->position);
    ss_quat_store(m->pose.q, body->quaternion);
    ss_vec3_store(ss_vec3_add(m->v, ss_vec3_cross(m->w, arm)), body->velocity);
    ss_vec3_store(m->w, body->velocity + 3);
}

static bool has_start(const ss_tree *tree)
{
    for (int i = 0; i < tree->part_count; i++)
        if (tree->parts[i].has_start) return true;
    for (int i = 0; i < tree->joint_count; i++) {
        const ss_model_joint *joint = &tree->joints[i];
        if (joint->start != 0.0 || joint->start_speed != 0.0 || joint->start_turn.w != 1.0 ||
            ss_vec3_max_abs(joint->start_turn_speed) > 0.0)
            return true;
    }
    return false;
}

/* Joints were added in the pose of the file; from there every body goes to where its coordinates start. */
static bool move_to_start(build *b)
{
    ss_tree *tree = b->tree;
    if (!has_start(tree)) return true;
    moving *of = ss_reading_take(b->reading, (size_t)tree->part_count + 1, sizeof *of);
    if (!of) return false;
    for (int i = 0; i < tree->part_count; i++) {
        ss_model_part *part = &tree->parts[i];
        moving m = {.pose = ss_pose_identity()};
        if (part->parent >= 0) m = of[part->parent];
        ss_vec3 arm = ss_quat_rotate(m.pose.q, part->pose.p);
        m.v = ss_vec3_add(m.v, ss_vec3_cross(m.w, arm));
        m.pose = ss_pose_compose(m.pose, part->pose);

        if (part->free && part->has_start) {
            m.pose = part->start;
            m.v = ss_vec3_load(part->start_velocity);
            m.w = ss_vec3_load(part->start_velocity + 3);
        }

        const rigid *r = part->rigid >= 0 ? &b->rigids[part->rigid] : NULL;
        for (int k = 0; k < part->joint_count; k++) {
            ss_model_joint *joint = &tree->joints[part->first_joint + k];
            apply(&m, joint);
            if (r && r->leader == i && k < r->between_count) place_body(b, r, r->between[k], &m);
            if (joint->number >= 0 && joint->coordinate >= 0 && joint->kind == SS_MODEL_HINGE)
                ss_world_joint(b->world, joint->number)->turned[joint->coordinate] = joint->start;
        }
        of[i] = m;
        if (r && r->leader == i) place_body(b, r, r->body, &m);
    }
    return true;
}

bool ss_tree_build(ss_tree *tree, ss_world *world, ss_error *err)
{
    build b = {.tree = tree, .reading = tree->reading, .world = world, .base = SS_WORLD};
    memcpy(ss_world_gravity(world), tree->gravity, sizeof tree->gravity);
    if (!group_parts(&b)) return false;
    bool good = add_bodies(&b) && set_filters(&b) && set_materials(&b) && add_shapes(&b) && add_joints(&b);

    for (int i = 0; good && i < tree->equality_count; i++) {
        const ss_model_equality *e = &tree->equalities[i];
        bool connects = e->kind == SS_MODEL_CONNECT || e->kind == SS_MODEL_WELD;
        good = connects ? add_connection(&b, e) : add_coupling(&b, e);
    }
    for (int i = 0; good && i < tree->exclusion_count; i++) {
        const int *part = tree->exclusions[i].part;
        int one = body_of(&b, part[0]), two = body_of(&b, part[1]);
        good = one == two || ss_world_separate(world, one, two, b.reading->err);
    }
    good = good && move_to_start(&b);
    if (!good || tree->reading->failed) return false;

    /* A pair that is kept apart by a joint, or of which neither side moves, never touches. */
    for (int p = 0; p < tree->pair_count; p++) {
        const ss_model_pair *pair = &tree->pairs[p];
        if (!ss_world_may_touch(world, pair->geom[0], pair->geom[1]) && !tree->contacts_off)
            ss_xml_note(b.reading, SS_FINDING_LOSS, pair->node,
                        "<pair> is not honoured: its bodies are connected by a joint, or do not move");
    }

    /* Limits that are broken at the start are mended within a few steps, which is a blow. */
    for (int i = 0; i < tree->joint_count; i++) {
        const ss_model_joint *joint = &tree->joints[i];
        if (!joint->law.limited || (joint->start >= joint->law.lower && joint->start <= joint->law.upper))
            continue;
        ss_xml_note(b.reading, SS_FINDING_WARNING, joint->node,
                    "starts outside of its limits, at %g of %g to %g: it is pushed inside",
                    joint->start + joint->reference, joint->law.lower + joint->reference,
                    joint->law.upper + joint->reference);
    }
    return ss_world_finish(world, err);
}
