#include "tree/tree.h"

#include "model/joint_geometry.h"
#include "model/joint_rows.h"
#include "model/world.h"

#include <math.h>
#include <string.h>

/* ---- which joints ----------------------------------------------------------------------------------- */

static bool is_link(const ss_world *world, int body)
{
    const ss_body *of = body == SS_WORLD ? NULL : ss_world_body(world, body);
    return of && of->kind == SS_DYNAMIC && !of->disabled;
}

/* What never moves can carry a tree; a body with prescribed motion cannot, it would move T's origin. */
static bool is_ground(const ss_world *world, int body)
{
    return body == SS_WORLD || ss_world_body(world, body)->kind == SS_STATIC;
}

/* Joints that can hold a link. Soft ones are springs, and friction that follows a joint's load needs the load
 * as an unknown. */
static bool holds(const ss_world *world, const ss_joint *joint)
{
    switch (joint->kind) {
    case SS_JOINT_FIXED:
    case SS_JOINT_REVOLUTE:
    case SS_JOINT_PRISMATIC:
    case SS_JOINT_CYLINDRICAL:
    case SS_JOINT_UNIVERSAL:
    case SS_JOINT_BALL:
    case SS_JOINT_PLANAR:
    case SS_JOINT_SCREW:
        break;
    default:
        return false;
    }
    if (!ss_joint_is_active(world, joint) || joint->compliance > 0.0) return false;
    for (int i = 0; i < 2; i++)
        if (joint->law[i].load_friction > 0.0) return false;
    return true;
}

static int count_coordinates(const ss_joint *joint)
{
    switch (joint->kind) {
    case SS_JOINT_REVOLUTE:
    case SS_JOINT_PRISMATIC:
    case SS_JOINT_SCREW:
        return 1;
    case SS_JOINT_CYLINDRICAL:
    case SS_JOINT_UNIVERSAL:
        return 2;
    case SS_JOINT_BALL:
    case SS_JOINT_PLANAR:
        return 3;
    default:
        return 0;
    }
}

/* ---- life ------------------------------------------------------------------------------------------- */

void ss_trees_free(ss_trees *trees)
{
    ss_release(trees->link);
    ss_release(trees->of_body);
    ss_release(trees->of_joint);
    ss_release(trees->holds);
    ss_release(trees->scratch);
    ss_release(trees->wrench);
    ss_release(trees->reached);
    *trees = (ss_trees){0};
}

static bool make_room(ss_trees *trees, int bodies, int joints)
{
    if (bodies <= trees->body_room && joints <= trees->joint_room) return true;
    ss_trees_free(trees);
    trees->link = ss_allocate((size_t)bodies, sizeof *trees->link);
    trees->of_body = ss_allocate((size_t)bodies, sizeof *trees->of_body);
    trees->of_joint = ss_allocate((size_t)joints, sizeof *trees->of_joint);
    trees->holds = ss_allocate((size_t)joints, sizeof *trees->holds);
    trees->scratch = ss_allocate(3 * (size_t)bodies + 1 + 4 * (size_t)joints, sizeof *trees->scratch);
    trees->wrench_room = 6 * bodies; // no more coordinates than velocities
    trees->wrench = ss_allocate((size_t)trees->wrench_room, sizeof *trees->wrench);
    trees->reached = ss_allocate((size_t)bodies, sizeof *trees->reached);
    bool good = trees->link && trees->of_body && trees->of_joint && trees->holds && trees->scratch &&
                trees->wrench && trees->reached;
    trees->body_room = good ? bodies : 0;
    trees->joint_room = good ? joints : 0;
    return good;
}

bool ss_trees_copy(const ss_trees *from, ss_trees *to, ss_error *err)
{
    if (!make_room(to, from->body_room, from->joint_room))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", from->count);
    to->count = from->count;
    to->trees = from->trees;
    to->coordinates = from->coordinates;
    to->bodies = from->bodies;
    to->joints = from->joints;
    if (from->count) memcpy(to->link, from->link, (size_t)from->count * sizeof *to->link);
    if (from->bodies) memcpy(to->of_body, from->of_body, (size_t)from->bodies * sizeof *to->of_body);
    if (from->joints) memcpy(to->of_joint, from->of_joint, (size_t)from->joints * sizeof *to->of_joint);
    if (from->joints) memcpy(to->holds, from->holds, (size_t)from->joints * sizeof *to->holds);
    return true;
}

/* Joints of each body: those from start[b] to start[b + 1] - 1. */
static void list_joints(const ss_world *world, int bodies, int joints, int *start, int *list)
{
    memset(start, 0, ((size_t)bodies + 1) * sizeof *start);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < joints; j++) {
            const ss_joint *joint = ss_world_joint(world, j);
            if (!holds(world, joint)) continue;
            const int body[2] = {joint->a, joint->b};
            for (int side = 0; side < 2; side++) {
                if (body[side] == SS_WORLD) continue;
                if (pass == 0)
                    start[body[side] + 1]++;
                else
                    list[start[body[side]]++] = j;
            }
        }
        if (pass == 0)
            for (int b = 0; b < bodies; b++) start[b + 1] += start[b];
    }
    for (int b = bodies; b > 0; b--) start[b] = start[b - 1]; // filling has moved each to the next one
    start[0] = 0;
}

/* Finds the parents, breadth first: bodies that hang on the ground, then one free body after the other. So
 * that a tree is a run of links, each link is numbered when its tree is walked through, depth first. */
static void find_links(ss_trees *trees, const ss_world *world)
{
    int bodies = ss_world_body_count(world), joints = ss_world_joint_count(world);
    int *start = trees->scratch, *queue = start + bodies + 1, *joint_of = queue + bodies;
    int *list = joint_of + bodies, count = 0;
    list_joints(world, bodies, joints, start, list);
    for (int b = 0; b < bodies; b++) trees->of_body[b] = joint_of[b] = -1;
    for (int j = 0; j < joints; j++) {
        trees->of_joint[j] = -1;
        trees->holds[j] = holds(world, ss_world_joint(world, j));
    }
    trees->bodies = bodies;
    trees->joints = joints;

    // of_body holds for now: -1 not reached, else 0
    for (int j = 0; j < joints; j++) {
        const ss_joint *joint = ss_world_joint(world, j);
        if (!holds(world, joint) || is_ground(world, joint->a) == is_ground(world, joint->b)) continue;
        int body = is_ground(world, joint->a) ? joint->b : joint->a;
        if (!is_link(world, body) || trees->of_body[body] == 0) continue;
        trees->of_body[body] = 0;
        joint_of[body] = j;
        queue[count++] = body;
    }
    for (int done = 0, next = 0;;) {
        for (; done < count; done++) {
            for (int k = start[queue[done]]; k < start[queue[done] + 1]; k++) {
                const ss_joint *joint = ss_world_joint(world, list[k]);
                int other = joint->a == queue[done] ? joint->b : joint->a;
                if (!is_link(world, other) || trees->of_body[other] == 0) continue;
                trees->of_body[other] = 0;
                joint_of[other] = list[k];
                queue[count++] = other;
            }
        }
        while (next < bodies && (trees->of_body[next] == 0 || !is_link(world, next))) next++;
        if (next == bodies) break;
        trees->of_body[next] = 0;
        queue[count++] = next;
    }

    // depth first from each root, in the order in which the bodies were reached
    trees->count = trees->trees = trees->coordinates = 0;
    for (int i = 0; i < count; i++) trees->of_body[queue[i]] = -1;
    int *stack = list + 2 * joints; // as long as there are joints
    for (int i = 0; i < count; i++) {
        int root = queue[i], height = 0, held = joint_of[root];
        const ss_joint *joint = held < 0 ? NULL : ss_world_joint(world, held);
        bool is_root = !joint || is_ground(world, joint->a) || is_ground(world, joint->b);
        if (!is_root) continue;
        bool moves = false;
        int first = trees->count;
        for (int body = root;;) {
            ss_link *link = &trees->link[trees->count];
            int j = joint_of[body];
            *link = (ss_link){.body = body, .parent = -1, .joint = j, .tree = trees->trees};
            link->first = trees->coordinates;
            if (j >= 0) {
                const ss_joint *own = ss_world_joint(world, j);
                link->side = own->b == body;
                int other = link->side ? own->a : own->b;
                if (!is_ground(world, other)) link->parent = trees->of_body[other];
                link->count = count_coordinates(own);
                link->kind = own->kind;
                link->slides = own->kind == SS_JOINT_PRISMATIC || own->kind == SS_JOINT_CYLINDRICAL ||
                               own->kind == SS_JOINT_PLANAR || own->kind == SS_JOINT_SCREW;
                link->ratio = own->ratio;
                memcpy(link->local_anchor, own->local_anchor, sizeof link->local_anchor);
                memcpy(link->local_frame, own->local_frame, sizeof link->local_frame);
                trees->of_joint[j] = trees->count;
            } else {
                link->count = 6;
                for (int d = 0; d < 6; d++) {
                    double unit[6] = {0};
                    unit[d] = 1.0;
                    link->axis[d] = (ss_link_axis){ss_vec3_load(unit), ss_vec3_load(unit + 3)};
                }
            }
            link->depth = link->count + (link->parent >= 0 ? trees->link[link->parent].depth : 0);
            moves |= link->count > 0;
            trees->coordinates += link->count;
            trees->of_body[body] = trees->count++;
            for (int k = start[body + 1] - 1; k >= start[body]; k--) {
                const ss_joint *below = ss_world_joint(world, list[k]);
                int child = below->a == body ? below->b : below->a;
                if (list[k] != j && child != SS_WORLD && joint_of[child] == list[k] && is_link(world, child))
                    stack[height++] = child;
            }
            if (height == 0) break;
            body = stack[--height];
        }
        trees->link[first].alone = trees->count == first + 1 && trees->link[first].joint < 0;
        if (moves)
            trees->trees++;
        else // no coordinates, no tree
            for (int l = first; l < trees->count; l++) trees->link[l].tree = -1;
    }
}

/* ---- where they are --------------------------------------------------------------------------------- */

/* Axes of the joint: of each coordinate the relative spin of b and the rate of its anchor's slide, seen from
 * a, in the world. What is always zero is left as find_links has made it. */
static int find_axes(const ss_joint *joint, const ss_joint_pose *pose, ss_vec3 spin[3], ss_vec3 slide[3])
{
    ss_vec3 x = ss_mat3_column(&pose->axes, 0), y = ss_mat3_column(&pose->axes, 1),
            z = ss_mat3_column(&pose->axes, 2);
    switch (joint->kind) {
    case SS_JOINT_REVOLUTE:
        spin[0] = z;
        return 1;
    case SS_JOINT_PRISMATIC:
        slide[0] = z;
        return 1;
    case SS_JOINT_SCREW:
        spin[0] = z;
        slide[0] = ss_vec3_scale(joint->ratio, z);
        return 1;
    case SS_JOINT_CYLINDRICAL:
        spin[0] = z;
        slide[1] = z;
        return 2;
    case SS_JOINT_UNIVERSAL: {
        ss_mat3 of_b = ss_quat_to_matrix(pose->frame[1]);
        spin[0] = z;
        spin[1] = ss_mat3_column(&of_b, 2);
        return 2;
    }
    case SS_JOINT_BALL:
        spin[0] = x, spin[1] = y, spin[2] = z;
        return 3;
    case SS_JOINT_PLANAR:
        slide[0] = x, slide[1] = y, spin[2] = z;
        return 3;
    default:
        return 0;
    }
}

static void find_link_axes(ss_link *link, const ss_world *world)
{
    const ss_body *body = ss_world_body(world, link->body);
    link->centre = ss_vec3_load(body->position);
    link->turn = ss_quat_load(body->quaternion);
    if (link->joint < 0) return; // its axes are those of the world, always
    const ss_joint *joint = ss_world_joint(world, link->joint);
    ss_joint_pose_find(world, joint, &link->pose);
    ss_vec3 arm = ss_vec3_subtract(link->centre, link->pose.anchor[1]);
    int count = find_axes(joint, &link->pose, link->joint_spin, link->joint_slide);
    double sign = link->side ? 1.0 : -1.0;
    for (int i = 0; i < count; i++) {
        ss_vec3 spin = link->joint_spin[i], linear = ss_vec3_cross(spin, arm);
        if (link->slides) linear = ss_vec3_add(link->joint_slide[i], linear);
        link->axis[i].angular = ss_vec3_scale(sign, spin);
        link->axis[i].linear = ss_vec3_scale(sign, linear);
    }
}

/* The same bodies and joints as when the links were found. */
static bool has_same_links(const ss_trees *trees, const ss_world *world)
{
    if (trees->bodies != ss_world_body_count(world) || trees->joints != ss_world_joint_count(world))
        return false;
    for (int b = 0; b < trees->bodies; b++)
        if (is_link(world, b) != (trees->of_body[b] >= 0)) return false;
    for (int j = 0; j < trees->joints; j++)
        if (holds(world, ss_world_joint(world, j)) != trees->holds[j]) return false;
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        if (link->joint < 0) continue;
        const ss_joint *joint = ss_world_joint(world, link->joint);
        if (joint->kind != link->kind || (link->side ? joint->b : joint->a) != link->body ||
            (link->parent < 0 && !is_ground(world, link->side ? joint->a : joint->b)) ||
            memcmp(joint->local_anchor, link->local_anchor, sizeof link->local_anchor) != 0 ||
            memcmp(joint->local_frame, link->local_frame, sizeof link->local_frame) != 0 ||
            joint->ratio != link->ratio)
            return false;
    }
    return true;
}

/* And all where they were when their axes were. */
static bool is_unchanged(const ss_trees *trees, const ss_world *world)
{
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        const ss_body *body = ss_world_body(world, link->body);
        ss_vec3 centre = ss_vec3_load(body->position);
        ss_quat turn = ss_quat_load(body->quaternion);
        if (memcmp(&centre, &link->centre, sizeof centre) != 0 ||
            memcmp(&turn, &link->turn, sizeof turn) != 0)
            return false;
    }
    return has_same_links(trees, world);
}

/* ---- how they move ---------------------------------------------------------------------------------- */

/* Rates of a link from the velocities of bodies. Of what carries a joint only links move. */
static void read_link_rates(ss_trees *trees, int l, const ss_world *world)
{
    const double none[6] = {0};
    ss_link *link = &trees->link[l];
    const ss_link *parent = link->parent < 0 ? NULL : &trees->link[link->parent];
    const double *own = ss_world_body(world, link->body)->velocity;
    if (link->joint < 0) {
        memcpy(link->rate, own, sizeof link->rate);
        return;
    }
    const double *base = parent ? ss_world_body(world, parent->body)->velocity : none;
    double sign = link->side ? 1.0 : -1.0; // b's minus a's
    ss_vec3 w = ss_vec3_load(own + 3), base_w = ss_vec3_load(base + 3);
    ss_vec3 turning = ss_vec3_scale(sign, ss_vec3_subtract(w, base_w));
    if (!link->slides || link->kind == SS_JOINT_SCREW) { // a screw's angle says it all
        for (int i = 0; i < link->count; i++) link->rate[i] = ss_vec3_dot(link->joint_spin[i], turning);
        return;
    }

    // of b's anchor past the point of a at the same place
    ss_vec3 anchor = link->pose.anchor[1], v = ss_vec3_load(own), base_v = ss_vec3_load(base);
    v = ss_vec3_add(v, ss_vec3_cross(w, ss_vec3_subtract(anchor, link->centre)));
    if (parent) {
        ss_vec3 arm = ss_vec3_subtract(anchor, ss_vec3_load(ss_world_body(world, parent->body)->position));
        base_v = ss_vec3_add(base_v, ss_vec3_cross(base_w, arm));
    }
    ss_vec3 sliding = ss_vec3_scale(sign, ss_vec3_subtract(v, base_v));
    for (int i = 0; i < link->count; i++) {
        ss_vec3 slide = link->joint_slide[i];
        bool slides = ss_vec3_dot(slide, slide) > 0.0;
        link->rate[i] = slides ? ss_vec3_dot(slide, sliding) : ss_vec3_dot(link->joint_spin[i], turning);
    }
}

static void read_rates(ss_trees *trees, const ss_world *world)
{
    for (int l = 0; l < trees->count; l++) read_link_rates(trees, l, world);
}

/* Velocities by the rates. */
static void spread_velocities(ss_trees *trees)
{
    for (int l = 0; l < trees->count; l++) {
        ss_link *link = &trees->link[l];
        ss_vec3 v = {0.0, 0.0, 0.0}, w = v;
        if (link->parent >= 0) { // as if it were part of its parent
            const ss_link *parent = &trees->link[link->parent];
            ss_vec3 arm = ss_vec3_subtract(link->centre, parent->centre);
            w = parent->spin;
            v = ss_vec3_add(parent->velocity, ss_vec3_cross(w, arm));
        }
        for (int i = 0; i < link->count; i++) {
            v = ss_vec3_add_scaled(v, link->rate[i], link->axis[i].linear);
            w = ss_vec3_add_scaled(w, link->rate[i], link->axis[i].angular);
        }
        link->velocity = v;
        link->spin = w;
    }
}

bool ss_trees_update(ss_trees *trees, const ss_world *world, ss_error *err)
{
    int bodies = ss_world_body_count(world), joints = ss_world_joint_count(world);
    if (trees->count > 0 && is_unchanged(trees, world)) {
        read_rates(trees, world);
        spread_velocities(trees);
        return true;
    }
    if (!make_room(trees, bodies, joints))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the trees of %d bodies", bodies);
    find_links(trees, world);
    for (int l = 0; l < trees->count; l++) find_link_axes(&trees->link[l], world);
    read_rates(trees, world);
    spread_velocities(trees);
    return true;
}

bool ss_trees_find(ss_trees *trees, const ss_world *world, bool *other, ss_error *err)
{
    int bodies = ss_world_body_count(world), joints = ss_world_joint_count(world);
    *other = trees->count == 0 || !has_same_links(trees, world);
    if (!*other) return true;
    if (!make_room(trees, bodies, joints))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the trees of %d bodies", bodies);
    find_links(trees, world);
    return true;
}

void ss_trees_read_link(ss_trees *trees, int link, const ss_world *world)
{
    find_link_axes(&trees->link[link], world);
    read_link_rates(trees, link, world);
}

/* The acceleration of the end of an arm that turns. */
static inline ss_vec3 carried(ss_vec3 alpha, ss_vec3 w, ss_vec3 arm)
{
    return ss_vec3_add(ss_vec3_cross(alpha, arm), ss_vec3_cross(w, ss_vec3_cross(w, arm)));
}

void ss_trees_accelerate(ss_trees *trees)
{
    ss_vec3 none = {0.0, 0.0, 0.0};
    for (int l = 0; l < trees->count; l++) {
        ss_link *link = &trees->link[l];
        const ss_link *parent = link->parent < 0 ? NULL : &trees->link[link->parent];
        ss_vec3 w = link->spin, a = none, alpha = none;
        if (link->joint >= 0) {
            const ss_vec3 *spin = link->joint_spin, *slide = link->joint_slide;
            ss_vec3 sliding = none, curl = none;
            ss_vec3 base_w = parent ? parent->spin : none;
            ss_vec3 base_a = parent ? parent->acceleration : none,
                    base_alpha = parent ? parent->angular : none;
            ss_vec3 base_x = parent ? parent->centre : none;
            ss_vec3 w_a = link->side ? base_w : w, w_b = link->side ? w : base_w;
            for (int i = 0; i < link->count; i++) {
                sliding = ss_vec3_add_scaled(sliding, link->rate[i], slide[i]);
                // every axis is fixed in a, but the second one of a universal joint in b
                bool of_b = link->kind == SS_JOINT_UNIVERSAL && i == 1;
                curl =
                    ss_vec3_add(curl, ss_vec3_cross(of_b ? w_b : w_a, ss_vec3_scale(link->rate[i], spin[i])));
            }
            alpha = ss_vec3_add_scaled(base_alpha, link->side ? 1.0 : -1.0, curl);

            // the parent's anchor; along the slide, which turns with a; from there to the centre
            ss_vec3 from = link->pose.anchor[1 - link->side], to = link->pose.anchor[link->side];
            double sign = link->side ? 1.0 : -1.0;
            if (parent) a = ss_vec3_add(base_a, carried(base_alpha, base_w, ss_vec3_subtract(from, base_x)));
            if (link->slides) {
                a = ss_vec3_add(a, carried(link->side ? base_alpha : alpha, w_a, ss_vec3_subtract(to, from)));
                a = ss_vec3_add_scaled(a, 2.0 * sign, ss_vec3_cross(w_a, sliding));
            }
            a = ss_vec3_add(a, carried(alpha, w, ss_vec3_subtract(link->centre, to)));
        }
        link->acceleration = a;
        link->angular = alpha;
    }
}

void ss_trees_write_velocities(const ss_trees *trees, ss_world *world)
{
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        if (link->alone) continue;
        double *velocity = ss_world_body(world, link->body)->velocity;
        ss_vec3_store(link->velocity, velocity);
        ss_vec3_store(link->spin, velocity + 3);
    }
}

/* ---- moving ----------------------------------------------------------------------------------------- */

static ss_quat about_z(double angle)
{
    return (ss_quat){cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)};
}

/* The twist of a turn, and an angle more: the turn about z is (w, z) of the quaternion, made one of unit
 * length. */
static ss_quat twisted(ss_quat turn, double angle)
{
    double norm = sqrt(turn.w * turn.w + turn.z * turn.z);
    if (!(norm > 0.0)) return about_z(angle);
    double c = turn.w / norm, s = turn.z / norm;
    ss_quat more = about_z(angle);
    return (ss_quat){c * more.w - s * more.z, 0.0, 0.0, s * more.w + c * more.z};
}

/* The joint after the step: the turn of frame b in frame a, and the slide in frame a. What the joint does not
 * allow is left behind here, so that rounding does not add up. */
void ss_link_advance(const ss_link *link, const double *rate, double h, ss_quat *turn, ss_vec3 *slide)
{
    const ss_joint_pose *pose = &link->pose;
    *slide = (ss_vec3){0.0, 0.0, 0.0};
    switch (link->kind) {
    case SS_JOINT_REVOLUTE:
        *turn = twisted(pose->turn, h * rate[0]);
        return;
    case SS_JOINT_BALL:
        *turn = ss_quat_multiply(ss_quat_exponential(ss_vec3_scale(h, ss_vec3_load(rate))), pose->turn);
        return;
    case SS_JOINT_UNIVERSAL: {
        static const double half = 0.70710678118654752440; // the cross at rest: z of b along x of a
        ss_quat cross = {0.0, half, 0.0, half};
        double first = ss_joint_cross_angle(pose, 0).value + h * rate[0];
        double second = ss_joint_cross_angle(pose, 1).value + h * rate[1];
        *turn = ss_quat_multiply(about_z(first), ss_quat_multiply(cross, about_z(second)));
        return;
    }
    case SS_JOINT_SCREW: {
        double angle = ss_joint_coordinate_now(pose, 0).value + h * rate[0]; // full turns count
        *turn = about_z(angle);
        slide->z = link->ratio * angle;
        return;
    }
    default:
        break;
    }

    *turn = ss_quat_identity();
    ss_vec3 offset = ss_mat3_apply_transposed(pose->axes, pose->offset);
    switch (link->kind) {
    case SS_JOINT_PRISMATIC:
        slide->z = offset.z + h * rate[0];
        break;
    case SS_JOINT_CYLINDRICAL:
        *turn = twisted(pose->turn, h * rate[0]);
        slide->z = offset.z + h * rate[1];
        break;
    case SS_JOINT_PLANAR:
        *turn = twisted(pose->turn, h * rate[2]);
        slide->x = offset.x + h * rate[0];
        slide->y = offset.y + h * rate[1];
        break;
    default: // fixed
        break;
    }
}

void ss_trees_reach(const ss_trees *trees, const double *rates, double h, ss_link_pose *reached)
{
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        ss_link_pose *to = &reached[l];
        const double *rate = rates ? rates + link->first : link->rate;
        if (link->joint < 0) {
            to->centre = link->centre;
            to->turn = link->turn;
            if (link->alone) continue;
            to->centre = ss_vec3_add_scaled(link->centre, h, ss_vec3_load(rate));
            to->turn = ss_quat_integrate(link->turn, ss_vec3_load(rate + 3), h);
            continue;
        }

        // the joint is where it was when its axes were found, its parent is where it is going to be
        ss_quat turn;
        ss_vec3 slide;
        int side = link->side;
        ss_link_advance(link, rate, h, &turn, &slide);
        ss_vec3 anchor = link->pose.anchor[1 - side];
        ss_quat frame = link->pose.frame[1 - side];
        if (link->parent >= 0) {
            const ss_link_pose *base = &reached[link->parent];
            ss_vec3 arm = ss_quat_rotate(base->turn, ss_vec3_load(link->local_anchor[1 - side]));
            anchor = ss_vec3_add(base->centre, arm);
            frame = ss_quat_multiply(base->turn, ss_quat_load(link->local_frame[1 - side]));
        }
        ss_quat own = ss_quat_multiply(frame, side ? turn : ss_quat_conjugate(turn));
        if (slide.x != 0.0 || slide.y != 0.0 || slide.z != 0.0)
            anchor = ss_vec3_add_scaled(anchor, side ? 1.0 : -1.0, ss_quat_rotate(side ? frame : own, slide));
        to->turn = ss_quat_normalise(
            ss_quat_multiply(own, ss_quat_conjugate(ss_quat_load(link->local_frame[side]))));
        ss_vec3 arm = ss_quat_rotate(to->turn, ss_vec3_load(link->local_anchor[side]));
        to->centre = ss_vec3_subtract(anchor, arm);
    }
}

/* The poses that they reach become those of the bodies; then axes and velocities there. */
static void place(ss_trees *trees, ss_world *world, double h)
{
    ss_trees_reach(trees, NULL, h, trees->reached);
    for (int l = 0; l < trees->count; l++) {
        if (trees->link[l].alone) continue;
        ss_body *body = ss_world_body(world, trees->link[l].body);
        ss_vec3_store(trees->reached[l].centre, body->position);
        ss_quat_store(trees->reached[l].turn, body->quaternion);
    }
    for (int l = 0; l < trees->count; l++) find_link_axes(&trees->link[l], world);
    spread_velocities(trees);
    ss_trees_write_velocities(trees, world);
}

void ss_trees_move(ss_trees *trees, ss_world *world, const double *rates, double h)
{
    if (rates) {
        for (int l = 0; l < trees->count; l++)
            for (int i = 0; i < trees->link[l].count; i++)
                trees->link[l].rate[i] = rates[trees->link[l].first + i];
    } else {
        read_rates(trees, world);
    }
    place(trees, world, h);
}

void ss_trees_settle(ss_trees *trees, ss_world *world)
{
    for (int l = 0; l < trees->count; l++) find_link_axes(&trees->link[l], world);
    read_rates(trees, world);
    place(trees, world, 0.0);
}

void ss_trees_follow(const ss_trees *trees, ss_world *world)
{
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        if (link->joint >= 0) ss_joint_follow_pose(ss_world_joint(world, link->joint), &link->pose);
    }
}

/* ---- matrices --------------------------------------------------------------------------------------- */

void ss_link_project(const ss_link *link, const double block[6], double row[SS_LINK_COORDINATES])
{
    for (int i = 0; i < link->count; i++)
        row[i] = ss_vec3_dot(link->axis[i].linear, ss_vec3_load(block)) +
                 ss_vec3_dot(link->axis[i].angular, ss_vec3_load(block + 3));
}

void ss_link_add_law(const ss_link *link, const double block[6], double C, double c, ss_link_law *law)
{
    double row[SS_LINK_COORDINATES], rate = c;
    ss_link_project(link, block, row);
    for (int i = 0; i < link->count; i++) rate += row[i] * link->rate[i];
    for (int i = 0; i < link->count; i++) {
        for (int k = 0; k < link->count; k++) law->resistance[i][k] += row[i] * row[k] / C;
        law->push[i] -= row[i] * rate / C;
    }
}

static int fill_map(ss_trees *trees, const int *place, ss_frame *frame)
{
    ss_generalized *g = &frame->generalized;
    int entry = 0, bodies = frame->bodies.count;
    int *way = trees->scratch,
        *of_place = way + trees->body_room; // links from one to its root; links of bodies
    double(*six)[6] = trees->wrench;
    for (int b = 0; b < bodies; b++) of_place[b] = -1;
    for (int l = 0; l < trees->count; l++)
        if (place[trees->link[l].body] >= 0) of_place[place[trees->link[l].body]] = l;

    for (int b = 0; b < bodies; b++) {
        int length = 0, count = 0;
        for (int l = of_place[b]; l >= 0; l = trees->link[l].parent) way[length++] = l;
        for (int k = length - 1; k >= 0; k--) {
            const ss_link *ancestor = &trees->link[way[k]];
            for (int c = 0; c < ancestor->count; c++) {
                // as it moves this link: about its own centre
                ss_link_axis axis = ancestor->axis[c];
                ss_vec3 arm = ss_vec3_subtract(trees->link[way[0]].centre, ancestor->centre);
                axis.linear = ss_vec3_add(axis.linear, ss_vec3_cross(axis.angular, arm));
                ss_vec3_store(axis.linear, six[count]);
                ss_vec3_store(axis.angular, six[count++] + 3);
            }
        }
        for (int i = 0; i < 6; i++) { // zeros are not stored
            g->map_start[6 * b + i] = entry;
            count = 0;
            for (int k = length - 1; k >= 0; k--) {
                const ss_link *ancestor = &trees->link[way[k]];
                for (int c = 0; c < ancestor->count; c++, count++) {
                    if (six[count][i] == 0.0) continue;
                    g->map_column[entry] = ancestor->first + c;
                    g->map[entry++] = six[count][i];
                }
            }
        }
    }
    g->map_start[6 * bodies] = entry;
    return entry;
}

/* Mass, its moment and inertia about a link's centre, of the link and all that hangs on it. */
typedef struct composite {
    double mass;
    ss_vec3 moment;
    ss_mat3 inertia;
} composite;

/* I about another point: with r = old minus new, I' = I - (r x)(h x) - (h x)(r x) - m (r x)(r x). */
static composite moved(composite of, ss_vec3 r)
{
    ss_mat3 R = ss_mat3_skew(r), H = ss_mat3_skew(of.moment);
    of.inertia = ss_mat3_add_scaled(of.inertia, -1.0, ss_mat3_multiply(R, H));
    of.inertia = ss_mat3_add_scaled(of.inertia, -1.0, ss_mat3_multiply(H, R));
    of.inertia = ss_mat3_add_scaled(of.inertia, -of.mass, ss_mat3_multiply(R, R));
    of.moment = ss_vec3_add_scaled(of.moment, of.mass, r);
    return of;
}

/* Composite rigid bodies: the momentum that a coordinate gives to all behind it, along itself and along all
 * coordinates between it and the root. */
static void fill_mass(const ss_trees *trees, const int *place, composite *all, ss_frame *frame)
{
    ss_generalized *g = &frame->generalized;
    /* From the leaves to the roots: each link with all behind it. */
    for (int l = 0; l < trees->count; l++) {
        int b = place[trees->link[l].body];
        all[l].mass = b < 0 ? 0.0 : frame->bodies.mass[b];
        if (b >= 0) all[l].inertia = ss_mat3_symmetric_part(ss_mat3_load(frame->bodies.inertia[b]));
    }
    for (int l = trees->count - 1; l >= 0; l--) {
        int up = trees->link[l].parent;
        if (up < 0) continue;
        composite part = moved(all[l], ss_vec3_subtract(trees->link[l].centre, trees->link[up].centre));
        all[up].mass += part.mass;
        all[up].moment = ss_vec3_add(all[up].moment, part.moment);
        all[up].inertia = ss_mat3_add_scaled(all[up].inertia, 1.0, part.inertia);
    }

    /* A row of M: force and torque that one coordinate needs, projected on those up to the root. */
    int entry = 0;
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        for (int c = 0; c < link->count; c++) {
            int row = link->first + c, end = entry + link->depth - link->count + c + 1, at = end;
            ss_vec3 v = link->axis[c].linear, w = link->axis[c].angular;
            ss_vec3 force = ss_vec3_add(ss_vec3_scale(all[l].mass, v), ss_vec3_cross(w, all[l].moment));
            ss_vec3 torque = ss_vec3_add(ss_mat3_apply(all[l].inertia, w), ss_vec3_cross(all[l].moment, v));
            g->mass_start[row] = entry;
            for (int up = l, last = c; up >= 0; up = trees->link[up].parent) {
                const ss_link *above = &trees->link[up];
                if (up != l) last = above->count - 1;
                for (int k = last; k >= 0; k--) {
                    at--;
                    g->mass_column[at] = above->first + k;
                    g->mass[at] = ss_vec3_dot(above->axis[k].linear, force) +
                                  ss_vec3_dot(above->axis[k].angular, torque);
                }
                if (above->parent >= 0)
                    torque = ss_vec3_add(
                        torque,
                        ss_vec3_cross(ss_vec3_subtract(above->centre, trees->link[above->parent].centre),
                                      force));
            }
            entry = end;
        }
    }
    g->mass_start[g->count] = entry;
}

bool ss_trees_fill(ss_trees *trees, const int *place, ss_frame *frame, ss_error *err)
{
    int map = 0, mass = 0;
    if (trees->coordinates == 0) return true;
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        map += 6 * link->depth;
        for (int c = 0; c < link->count; c++) mass += link->depth - link->count + c + 1;
    }

    /* Memory first: what fails leaves the frame as it was. */
    composite *all = ss_allocate((size_t)trees->count, sizeof *all);
    if (!all) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the mass of %d links", trees->count);
    if (!ss_frame_add_generalized(frame, trees->trees, trees->coordinates, map, mass, err)) {
        ss_release(all);
        return false;
    }

    ss_generalized *g = &frame->generalized;
    for (int t = 0; t < trees->trees; t++) g->tree[t][1] = 0;
    for (int l = 0; l < trees->count; l++) {
        const ss_link *link = &trees->link[l];
        if (link->tree < 0) continue;
        if (g->tree[link->tree][1] == 0) g->tree[link->tree][0] = link->first;
        g->tree[link->tree][1] += link->count;
        for (int c = 0; c < link->count; c++) g->velocity[link->first + c] = link->rate[c];
    }
    g->map_count = fill_map(trees, place, frame); // zeros are not stored
    fill_mass(trees, place, all, frame);
    ss_release(all);
    return true;
}

void ss_trees_fill_forces(const ss_trees *trees, const int *place, ss_frame *frame)
{
    ss_generalized *g = &frame->generalized;
    double(*wrench)[6] = trees->wrench;
    for (int l = 0; l < trees->count; l++) {
        int b = place[trees->link[l].body];
        if (b >= 0)
            memcpy(wrench[l], frame->bodies.force[b], sizeof wrench[l]);
        else
            memset(wrench[l], 0, sizeof wrench[l]);
    }
    for (int l = trees->count - 1; l >= 0; l--) {
        const ss_link *link = &trees->link[l];
        ss_link_project(link, wrench[l], g->force + link->first);
        if (link->parent < 0) continue;
        double *up = wrench[link->parent];
        ss_vec3 force = ss_vec3_load(wrench[l]),
                arm = ss_vec3_subtract(link->centre, trees->link[link->parent].centre);
        ss_vec3_store(ss_vec3_add(ss_vec3_load(up), force), up);
        ss_vec3 torque = ss_vec3_add(ss_vec3_load(wrench[l] + 3), ss_vec3_cross(arm, force));
        ss_vec3_store(ss_vec3_add(ss_vec3_load(up + 3), torque), up + 3);
    }
}
