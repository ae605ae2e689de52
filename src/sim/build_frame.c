/* From world and contacts to the frame of the step. */
#include "sim/state.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel_any.h"
#include "linalg/quat.h"
#include "model/joint_rows.h"

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* Numbers the bodies of the frame; returns how many there are, -1 when out of memory. */
static int number_bodies(ss_sim *sim, ss_error *err)
{
    int bodies = ss_world_body_count(sim->world), count = 0;
    if (bodies > sim->body_capacity) {
        ss_release(sim->frame_body);
        ss_release(sim->body_place);
        sim->frame_body = ss_allocate((size_t)bodies, sizeof *sim->frame_body);
        sim->body_place = ss_allocate((size_t)bodies, sizeof *sim->body_place);
        ss_scenery_free(&sim->scenery);
        sim->scenery.position = ss_allocate((size_t)bodies, sizeof *sim->scenery.position);
        sim->scenery.quaternion = ss_allocate((size_t)bodies, sizeof *sim->scenery.quaternion);
        bool good = sim->frame_body && sim->body_place && sim->scenery.position && sim->scenery.quaternion;
        sim->body_capacity = good ? bodies : 0;
        if (!sim->body_capacity) {
            ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", bodies);
            return -1;
        }
    }

    for (int b = 0; b < bodies; b++) {
        const ss_body *body = ss_world_body(sim->world, b);
        bool in = body->kind == SS_DYNAMIC && !body->disabled;
        sim->body_place[b] = in ? count : SS_WORLD;
        if (in) sim->frame_body[count++] = b;
    }
    return count;
}

static int place_of(const ss_sim *sim, int body)
{
    return body == SS_WORLD ? SS_WORLD : sim->body_place[body];
}

static void fill_body(const ss_sim *sim, int b, ss_bodies *to)
{
    int number = sim->frame_body[b];
    const ss_body *body = ss_world_body(sim->world, number);
    ss_mat3 rotation = ss_quat_to_matrix(ss_quat_load(body->quaternion));
    to->mass[b] = body->mass;
    memcpy(to->position[b], body->position, sizeof to->position[b]);
    memcpy(to->quaternion[b], body->quaternion, sizeof to->quaternion[b]);
    memcpy(to->velocity[b], body->velocity, sizeof to->velocity[b]);

    /* A link of a tree feels what its turning joints accelerate it by. */
    bool in_tree = sim->options.coordinates == SS_MINIMAL;
    const ss_link *link = in_tree ? &sim->trees.link[sim->trees.of_body[number]] : NULL;
    ss_mat3_store(ss_mat3_rotate_tensor(rotation, ss_mat3_load(body->inertia)), to->inertia[b]);
    if (link && !link->alone)
        ss_sim_link_force(sim, body, link, to->inertia[b], to->force[b]);
    else
        ss_sim_force(sim, body, to->force[b]);
    to->id[b] = number + 1; // ids are positive
}

static void fill_bodies(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_sim *sim = context;
    for (int64_t b = begin; b < end; b++) fill_body(sim, (int)b, &sim->frame->bodies);
}

/* ---- motion that is prescribed ---------------------------------------------------------------------- */

/* The body's velocity where it moves as told; NULL for bodies of the frame and those that stand. */
static const double *told_velocity(const ss_sim *sim, int body)
{
    if (body == SS_WORLD) return NULL;
    const ss_body *of = ss_world_body(sim->world, body);
    if (of->kind != SS_KINEMATIC || of->disabled) return NULL;
    for (int i = 0; i < 6; i++) {
        if (of->velocity[i] != 0.0) return of->velocity;
    }
    return NULL;
}

static ss_vec3 told_velocity_at(const ss_sim *sim, int body, ss_vec3 point)
{
    const double *v = told_velocity(sim, body);
    if (!v) return (ss_vec3){0.0, 0.0, 0.0};
    ss_vec3 arm = ss_vec3_subtract(point, ss_vec3_load(ss_world_body(sim->world, body)->position));
    return ss_vec3_add(ss_vec3_load(v), ss_vec3_cross(ss_vec3_load(v + 3), arm));
}

/* ---- contacts --------------------------------------------------------------------------------------- */

static bool body_exists(const ss_sim *sim, int body)
{
    return body >= SS_WORLD && body < ss_world_body_count(sim->world);
}

static ss_vec3 velocity_at(const ss_sim *sim, int body, ss_vec3 point)
{
    if (place_of(sim, body) < 0) return told_velocity_at(sim, body, point);
    const ss_body *of = ss_world_body(sim->world, body);
    ss_vec3 arm = ss_vec3_subtract(point, ss_vec3_load(of->position));
    return ss_vec3_add(ss_vec3_load(of->velocity), ss_vec3_cross(ss_vec3_load(of->velocity + 3), arm));
}

/* Static friction acts until it saturates, and again from when kinetic friction has stopped the contact.
 * Speed alone is seen too late: where the load grows slowly, it takes a time like sqrt(h) to be told from the
 * errors of a solver. It decides where a pair turns, whose friction as a whole does not saturate. */
static bool find_friction(ss_sim *sim, int c, double *mu)
{
    static const double fast = 1e-2;
    const ss_contact *contact = &sim->contacts.items[c];
    const ss_material_pair *pair = &contact->material;
    *mu = pair->mu;
    if (!(pair->mu_static > pair->mu)) return true;

    /* How fast the surfaces slide before the step, in units of what free fall gains in one. */
    ss_vec3 point = ss_vec3_load(contact->point), normal = ss_vec3_load(contact->normal);
    ss_vec3 velocity = ss_vec3_add(
        ss_vec3_subtract(velocity_at(sim, contact->body_b, point), velocity_at(sim, contact->body_a, point)),
        ss_vec3_load(contact->surface_velocity));
    ss_vec3 slip = ss_vec3_add_scaled(velocity, -ss_vec3_dot(velocity, normal), normal);
    double speed = ss_vec3_norm(slip),
           gain = sim->h * ss_vec3_norm(ss_vec3_load(ss_world_gravity(sim->world)));
    bool slides = (speed > 0.0 ? speed / gain : 0.0) > fast;

    if (!slides && !ss_warm_slides(sim, c, &slides)) return false;
    if (!slides) *mu = pair->mu_static;
    return true;
}

void ss_sim_surface_velocity(const ss_sim *sim, const int body[2], const double belt[3],
                             const double point[3], double velocity[3])
{
    ss_vec3 at = ss_vec3_load(point);
    ss_vec3 told = ss_vec3_subtract(told_velocity_at(sim, body[1], at), told_velocity_at(sim, body[0], at));
    ss_vec3_store(ss_vec3_add(told, ss_vec3_load(belt)), velocity);
}

/* The grain of a shape in the plane of a contact, of unit length; zero where the shape has none, or where it
 * stands on the plane, as on the end of a log. */
static ss_vec3 grain_of(const ss_sim *sim, int shape, ss_vec3 normal, bool *any)
{
    static const double stands = 1e-6; // the sine of an angle that rounding of poses does not reach
    const ss_vec3 none = {0.0, 0.0, 0.0};
    const ss_shape *of = ss_world_shape(sim->world, shape);
    const ss_material *material = of ? ss_world_material(sim->world, of->material) : NULL;
    ss_vec3 grain = material ? ss_vec3_load(material->grain) : none;
    if (!(ss_vec3_max_abs(grain) > 0.0)) return none;
    *any = true;

    const ss_body *body = ss_world_body(sim->world, of->body);
    grain = ss_quat_rotate(ss_quat_load(of->quaternion), grain);
    if (body) grain = ss_quat_rotate(ss_quat_load(body->quaternion), grain);
    double length;
    ss_vec3 along = ss_vec3_add_scaled(grain, -ss_vec3_dot(grain, normal), normal);
    along = ss_vec3_normalise(along, &length);
    return length > stands ? along : none;
}

/* Lays the first tangent along the grain, where friction depends on the direction, and sets both
 * coefficients. Static friction keeps its ratio to kinetic friction. */
static bool lay_grains(const ss_sim *sim, ss_frame *frame, ss_error *err)
{
    ss_contacts *to = &frame->contacts;
    for (int c = 0; c < to->count; c++) {
        const ss_contact *contact = &sim->contacts.items[c];
        const ss_material_pair *pair = &contact->material;
        if (!(pair->mu_across > 0.0) || pair->mu_across == pair->mu) continue;
        bool any = false;
        ss_vec3 normal = ss_vec3_load(contact->normal);
        ss_vec3 a = grain_of(sim, contact->shape_a, normal, &any);
        ss_vec3 b = grain_of(sim, contact->shape_b, normal, &any);
        if (!any) continue;
        if (contact->group > 0) { // points of alternatives have no tangents of their own
            int body = contact->body_b == SS_WORLD ? contact->body_a : contact->body_b;
            return ss_fail(
                err, SS_ERROR_USAGE,
                "%s: its contact has friction with a grain, which alternatives of polyhedral exact "
                "geometry do not model",
                ss_sim_body_label(sim, body).text);
        }

        /* Two grains: each has the ellipse of the pair as a matrix A = (m + d R)/2, m and d the sum and the
         * difference of the coefficients, R the reflection at the grain. Their geometric mean
         * sqrt(det A) (A + B)/sqrt(det(A + B)) has its axis between the grains: it is A where they are
         * parallel and a circle where they cross. */
        double cosine = ss_vec3_dot(a, b), along = pair->mu, across = pair->mu_across;
        ss_vec3 grain = ss_vec3_normalise(ss_vec3_add_scaled(a, cosine < 0.0 ? -1.0 : 1.0, b), NULL);
        bool lies_a = ss_vec3_dot(a, a) > 0.0, lies_b = ss_vec3_dot(b, b) > 0.0;
        if (!lies_a && !lies_b) {
            along = across; // all directions are across
        } else if (lies_a && lies_b && fabs(cosine) < 1.0) {
            double turned = (along - across) * fabs(cosine), sum = along + across;
            double mean = sqrt(along * across), ratio = sqrt((sum + turned) / (sum - turned));
            along = mean * ratio;
            across = mean / ratio;
        }

        if (!to->tangent && !ss_frame_enable(frame, "contacts/t_u", err)) return false;
        if (lies_a || lies_b) ss_vec3_store(grain, to->tangent[c]);
        double share = pair->mu > 0.0 ? to->mu[c][0] / pair->mu : 1.0;
        double most = pair->mu > 0.0 ? fmax(pair->mu_static, pair->mu) / pair->mu : 1.0;
        for (int k = 0; k < 2; k++) {
            double mu = k == 0 ? along : across;
            to->mu[c][k] = share * mu;
            if (to->mu_static) to->mu_static[c][k] = most * mu;
        }
    }
    return true;
}

/* What the contacts of a list need, and whether all of them can be in a frame. */
enum {
    SURFACE_VELOCITY = 1, // the order in which fill_contacts has the arrays
    RESTITUTION = 2,
    MU_STATIC = 4,
    MU_ROLLING = 8,
    MU_TORSION = 16,
    SPIN_COUPLING = 32,
    COMPLIANCE = 64,
    DAMPING = 128,
    ADHESION = 256,
    MUST_GO = 512,  // it touches nothing dynamic
    NO_BODY = 1024, // it names a body that does not exist
};

static unsigned needs_of(const ss_sim *sim, const ss_contact *contact)
{
    const ss_material_pair *pair = &contact->material;
    const double *belt = contact->surface_velocity;
    unsigned need = 0;
    if (!body_exists(sim, contact->body_a) || !body_exists(sim, contact->body_b)) return NO_BODY;
    bool is_static[2] = {place_of(sim, contact->body_a) < 0, place_of(sim, contact->body_b) < 0};
    if (is_static[0] && is_static[1]) return MUST_GO;
    if (!(belt[0] == 0.0 && belt[1] == 0.0 && belt[2] == 0.0) ||
        (is_static[0] && told_velocity(sim, contact->body_a)) ||
        (is_static[1] && told_velocity(sim, contact->body_b)))
        need |= SURFACE_VELOCITY;
    if (pair->restitution > 0.0) need |= RESTITUTION;
    if (pair->mu_static > pair->mu) need |= MU_STATIC;
    if (pair->mu_rolling > 0.0) need |= MU_ROLLING;
    if (pair->mu_torsion > 0.0) need |= MU_TORSION;
    if (pair->mu_torsion > 0.0 && pair->spin_coupling != SS_SPIN_INDEPENDENT) need |= SPIN_COUPLING;
    if (pair->stiffness > 0.0) need |= COMPLIANCE | DAMPING; // with it a compliance is that of a spring
    if (pair->adhesion > 0.0) need |= ADHESION;
    return need;
}

static unsigned needs_of_range(int64_t begin, int64_t end, const void *context)
{
    const ss_sim *sim = context;
    unsigned need = 0;
    for (int64_t c = begin; c < end; c++) need |= needs_of(sim, &sim->contacts.items[c]);
    return need;
}

/* Contacts of a user's source or edits may name any body. Those that touch nothing dynamic go. */
static bool scan_contacts(ss_sim *sim, unsigned *need, ss_error *err)
{
    ss_contact_list *list = &sim->contacts;
    if (list->count > 0 && !list->items)
        return ss_fail(err, SS_ERROR_INPUT, "contacts: count is %d, but the list is NULL", list->count);
    *need = ss_parallel_any(ss_team_for_loop(sim->team, list->count, 6), list->count, SS_SIM_AT_ONCE,
                            needs_of_range, sim);
    if (!(*need & (MUST_GO | NO_BODY))) return true;

    int kept = 0;
    *need = 0;
    for (int c = 0; c < list->count; c++) {
        const ss_contact *contact = &list->items[c];
        unsigned own = needs_of(sim, contact);
        if (own == NO_BODY)
            return ss_fail(err, SS_ERROR_INPUT, "contact %d: bodies %d and %d do not both exist", c,
                           contact->body_a, contact->body_b);
        if (own == MUST_GO) continue;
        *need |= own;
        if (kept != c) list->items[kept] = *contact;
        kept++;
    }
    list->count = kept;
    return true;
}

static void fill_contact_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_sim *sim = context;
    ss_contacts *to = &sim->frame->contacts;
    for (int64_t c = begin; c < end; c++) {
        const ss_contact *contact = &sim->contacts.items[c];
        const ss_material_pair *pair = &contact->material;
        to->pair[c][0] = place_of(sim, contact->body_a);
        to->pair[c][1] = place_of(sim, contact->body_b);
        memcpy(to->point[c], contact->point, sizeof to->point[c]);
        memcpy(to->normal[c], contact->normal, sizeof to->normal[c]);
        to->gap[c] = contact->gap;
        if (!to->mu_static) to->mu[c][0] = pair->mu;
        to->mu[c][1] = to->mu[c][0];

        if (to->mu_static) to->mu_static[c][0] = to->mu_static[c][1] = fmax(pair->mu_static, pair->mu);
        if (to->restitution) to->restitution[c] = pair->restitution;
        if (to->mu_rolling) to->mu_rolling[c] = pair->mu_rolling;
        if (to->mu_torsion) to->mu_torsion[c] = pair->mu_torsion;
        if (to->spin_coupling) to->spin_coupling[c] = (uint8_t)pair->spin_coupling;
        if (to->compliance && pair->stiffness > 0.0)
            to->compliance[c] = 1.0 / (pair->stiffness * sim->h * sim->h);
        if (to->damping) to->damping[c] = pair->damping;
        // What is still apart does not hold on to anything.
        if (to->adhesion && contact->gap <= sim->step->slop) to->adhesion[c] = pair->adhesion;
        if (to->surface_velocity)
            ss_sim_surface_velocity(sim, (const int[2]){contact->body_a, contact->body_b},
                                    contact->surface_velocity, contact->point, to->surface_velocity[c]);
    }
}

/* The contacts of the frame. Optional arrays are enabled only when a contact needs them. */
static bool fill_contacts(ss_sim *sim, unsigned need, ss_frame *frame, ss_error *err)
{
    static const char *const paths[] = {"contacts/surface_velocities",
                                        "contacts/restitution",
                                        "contacts/mu_s",
                                        "contacts/mu_r",
                                        "contacts/mu_t",
                                        "contacts/spin_coupling",
                                        "contacts/compliance",
                                        "contacts/damping",
                                        "contacts/adhesion"};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
        if (need & 1u << k && !ss_frame_enable(frame, paths[k], err)) return false;

    // Static friction first: it looks into what is kept of the last step, which is one for all.
    ss_contacts *to = &frame->contacts;
    for (int c = 0; to->mu_static && c < to->count; c++) {
        if (!find_friction(sim, c, &to->mu[c][0]))
            return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d contacts", to->count);
    }
    ss_parallel_for(ss_team_for_loop(sim->team, to->count, 7), to->count, SS_SIM_AT_ONCE, fill_contact_range,
                    sim);
    return lay_grains(sim, frame, err);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

/* Equations of all joints, before the frame is made. */
typedef struct equations {
    int count, capacity, constraints;
    ss_joint_equation *rows;
    // some row has compliance, load-dependent friction; some block has no position
    bool regularised, loaded, free, implied;
    int further; // blocks of rows on more than two bodies of the frame
} equations;

/* The equations of a joint that holds a link, and its linear laws: springs, dampers and rotors. */
ss_implied ss_sim_implied_by_trees(const ss_sim *sim, int joint, const ss_joint_equation *row)
{
    if (sim->options.coordinates != SS_MINIMAL || sim->trees.of_joint[joint] < 0) return SS_IMPLIED_NOT;
    if (row->equality) return SS_IMPLIED_BY_T;
    bool linear = row->regularization > 0.0 && row->load < 0 && !row->holonomic &&
                  row->bounds[0] == -INFINITY && row->bounds[1] == INFINITY;
    return linear ? SS_IMPLIED_BY_MASS : SS_IMPLIED_NOT;
}

static bool make_equations(ss_sim *sim, equations *all, ss_error *err)
{
    int joints = ss_world_joint_count(sim->world);
    *all = (equations){0};
    if (joints == 0) return true;

    /* Room for the most rows that the joints can have. */
    int most = joints * SS_JOINT_EQUATIONS_MOST;
    all->rows = ss_arena_take_unset(sim->memory, (size_t)most, sizeof *all->rows, "joint rows");
    if (all->rows && sim->origin_capacity < most) {
        ss_release(sim->origins);
        sim->origins = ss_allocate((size_t)most, sizeof *sim->origins);
        sim->origin_capacity = sim->origins ? most : 0;
    }
    if (!all->rows || sim->origin_capacity < most)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d joint rows", most);

    /* Formulations remove the share joint_gamma of a violated limit in a step, which is a speed like 1/h: a
     * joint that starts outside would be thrown. The limit recedes as fast as what is beyond 1/20 s, which is
     * joint_gamma 0.2 at h = 0.01 s. */
    static const double patience = 0.05;
    double beyond = fmax(0.0, sim->step->joint_gamma / sim->h - 1.0 / patience);

    /* In maximal coordinates velocities are those of the poses one step ago, and so are rates of rotors. Of a
     * hinge it is the same one. */
    bool maximal = sim->options.coordinates == SS_MAXIMAL;
    for (int j = 0; j < joints; j++) {
        ss_joint_equation *rows = all->rows + all->count;
        int count = ss_joint_equations(sim->world, j, sim->h, rows);

        /* A row has room for two bodies of the frame; the blocks of the others are stored apart. */
        const ss_joint *joint = ss_world_joint(sim->world, j);
        int live = 0;
        for (int k = 0; k < joint->body_count; k++) live += place_of(sim, ss_joint_body(joint, k)) >= 0;
        int further = live > 2 ? live - 2 : 0;

        for (int k = 0; k < count; k++) {
            sim->origins[all->count + k] = (ss_row_origin){j, k, count};
            if (rows[k].rotor >= 0 && maximal && joint->kind != SS_JOINT_REVOLUTE)
                rows[k].time_derivative = -ss_joint_rate_before(sim->world, j, rows[k].rotor, sim->h);
            if (rows[k].holonomic && rows[k].bounds[0] == 0.0 && rows[k].violation < 0.0)
                rows[k].time_derivative -= beyond * rows[k].violation;
            all->constraints += k == 0 || rows[k].block != rows[k - 1].block;
            all->regularised |= rows[k].regularization != 0.0;
            all->loaded |= rows[k].load >= 0;
            all->free |= !rows[k].holonomic;
            all->implied |= ss_sim_implied_by_trees(sim, j, &rows[k]) != SS_IMPLIED_NOT;
            all->further += further;
        }
        all->count += count;
    }
    return true;
}

static void fill_row(const ss_sim *sim, const ss_joint_equation *row, int i, ss_constraints *to, int *further)
{
    const ss_joint *joint = ss_world_joint(sim->world, sim->origins[i].joint);
    to->violation[i] = row->violation;
    to->time_derivative[i] = row->time_derivative;
    memcpy(to->bounds[i], row->bounds, sizeof to->bounds[i]);
    if (to->regularization) to->regularization[i] = row->regularization;
    if (to->friction && row->load >= 0) {
        to->friction[i] = row->friction;
        to->friction_row[i] = i - sim->origins[i].index + row->load;
    }

    /* J, body by body. Of joints on more than two bodies, the first two of the frame are the pair; the
     * part of a body whose motion is prescribed becomes part of the time derivative. */
    int live = 0;
    for (int k = 0; k < joint->body_count; k++) {
        const double *jacobian = row->jacobian + 6 * k;
        int body = ss_joint_body(joint, k), place = place_of(sim, body);
        int side = joint->body_count == 2 ? k : live;
        live += place >= 0;
        if (place < 0) {
            const double *v = told_velocity(sim, body);
            for (int c = 0; v && c < 6; c++) to->time_derivative[i] += jacobian[c] * v[c];
        } else if (side < 2) {
            memcpy(to->jacobian[i] + 6 * side, jacobian, 6 * sizeof *jacobian);
        } else {
            to->further_row[*further] = i;
            to->further_body[*further] = place;
            memcpy(to->further_jacobian[(*further)++], jacobian, sizeof *to->further_jacobian);
        }
    }
}

/* The joints of the frame: the equations by blocks, and forces that user functions apply at joints. */
static bool fill_constraints(const ss_sim *sim, const equations *all, ss_frame *frame, ss_error *err)
{
    if (!ss_frame_add_further(frame, all->further, err) ||
        (all->regularised && !ss_frame_enable(frame, "constraints/regularization", err)) ||
        (all->loaded && !(ss_frame_enable(frame, "constraints/friction", err) &&
                          ss_frame_enable(frame, "constraints/friction_row", err))) ||
        (all->free && !ss_frame_enable(frame, "constraints/holonomic", err)) ||
        (all->implied && !ss_frame_enable(frame, "constraints/implied", err)))
        return false;

    ss_constraints *to = &frame->constraints;
    int block = -1, further = 0;
    for (int i = 0; i < all->count; i++) {
        const ss_joint_equation *row = &all->rows[i];
        int number = sim->origins[i].joint;
        if (sim->origins[i].index == 0 || row->block != row[-1].block) {
            block++;
            to->rows[block] = 0;
            if (to->holonomic) to->holonomic[block] = row->holonomic;
            if (to->implied) to->implied[block] = (uint8_t)ss_sim_implied_by_trees(sim, number, row);

            /* The pair: both bodies, or of more than two the first two of the frame. */
            const ss_joint *joint = ss_world_joint(sim->world, number);
            bool two = joint->body_count == 2;
            int *pair = to->pair[block], live = 0;
            pair[0] = two ? place_of(sim, joint->a) : SS_WORLD;
            pair[1] = two ? place_of(sim, joint->b) : SS_WORLD;
            for (int k = 0; !two && k < joint->body_count && live < 2; k++) {
                int place = place_of(sim, ss_joint_body(joint, k));
                if (place >= 0) pair[live++] = place;
            }
        }
        to->rows[block]++;
        fill_row(sim, row, i, to, &further);
    }

    ss_sim_add_joint_forces(sim, sim->body_place, frame->bodies.force);
    return true;
}

/* ---- trees ------------------------------------------------------------------------------------------ */

/* Rows that are part of mass and force of a link. One law of each link, memory of the substep; NULL when
 * there is none. */
static ss_link_law *find_laws(const ss_sim *sim)
{
    const ss_constraints *constraints = &sim->frame->constraints;
    ss_link_law *laws = ss_arena_take(sim->memory, (size_t)sim->trees.count, sizeof *laws, "laws of links");
    if (!laws || !constraints->implied) return laws;
    for (int k = 0, i = 0; k < constraints->count; k++) {
        for (int end = i + constraints->rows[k]; i < end; i++) {
            if (constraints->implied[k] != SS_IMPLIED_BY_MASS) continue;
            int l = sim->trees.of_joint[sim->origins[i].joint];
            const ss_link *link = &sim->trees.link[l];
            ss_link_add_law(link, constraints->jacobian[i] + 6 * link->side, constraints->regularization[i],
                            constraints->time_derivative[i], &laws[l]);
        }
    }
    return laws;
}

bool ss_sim_fill_coordinates(ss_sim *sim, ss_error *err)
{
    if (!sim->coordinates_wait) return true;
    ss_link_law *laws = find_laws(sim);
    if (!laws) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", sim->trees.count);
    if (!ss_trees_fill(&sim->trees, sim->body_place, sim->frame, err)) return false;
    sim->coordinates_wait = false;
    ss_generalized *g = &sim->frame->generalized;
    for (int l = 0; g->count && l < sim->trees.count; l++) {
        const ss_link *link = &sim->trees.link[l];
        for (int c = 0; c < link->count; c++)
            for (int k = 0; k <= c; k++) // the last entries of a row are those of its own link
                g->mass[g->mass_start[link->first + c + 1] - 1 - c + k] += laws[l].resistance[c][k];
    }
    ss_sim_fill_coordinate_forces(sim);
    return true;
}

void ss_sim_fill_coordinate_forces(ss_sim *sim)
{
    ss_frame *frame = sim->frame;
    ss_link_law *laws = frame->generalized.count ? find_laws(sim) : NULL;
    if (!laws) return;
    ss_trees_fill_forces(&sim->trees, sim->body_place, frame);
    for (int l = 0; l < sim->trees.count; l++)
        for (int c = 0; c < sim->trees.link[l].count; c++)
            frame->generalized.force[sim->trees.link[l].first + c] += laws[l].push[c] / frame->h;
}

bool ss_sim_trees_suffice(const ss_sim *sim)
{
    const ss_constraints *constraints = &sim->frame->constraints;
    bool all = sim->options.coordinates == SS_MINIMAL && !sim->dynamics && sim->frame->contacts.count == 0;
    for (int k = 0; all && k < constraints->count; k++) all = constraints->implied && constraints->implied[k];
    return all;
}

/* Impulses of the joints are found when someone looks at the answer (access.c). */
bool ss_sim_solve_trees(ss_sim *sim, ss_error *err)
{
    ss_link_law *laws = find_laws(sim);
    if (sim->trees.coordinates > sim->rate_room) {
        ss_release(sim->rates);
        sim->rates = ss_allocate((size_t)sim->trees.coordinates, sizeof *sim->rates);
        sim->rate_room = sim->rates ? sim->trees.coordinates : 0;
    }
    if (!laws || sim->trees.coordinates > sim->rate_room)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", sim->trees.count);
    const ss_bodies *bodies = &sim->frame->bodies;
    ss_link_mass *masses =
        ss_arena_take_unset(sim->memory, (size_t)sim->trees.count, sizeof *masses, "masses of links");
    double(*force)[6] =
        ss_arena_take_unset(sim->memory, (size_t)sim->trees.count, sizeof *force, "forces of links");
    double(*change)[6] =
        ss_arena_take_unset(sim->memory, (size_t)sim->trees.count, sizeof *change, "changes of links");
    if (!masses || !force || !change)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d links", sim->trees.count);
    for (int l = 0; l < sim->trees.count; l++) {
        int b = sim->body_place[sim->trees.link[l].body];
        masses[l].mass = bodies->mass[b];
        memcpy(masses[l].inertia, bodies->inertia[b], sizeof masses[l].inertia);
        memcpy(force[l], bodies->force[b], sizeof force[l]);
    }
    ss_articulated *factored = ss_trees_factor(&sim->trees, masses, laws, sim->memory, err);
    if (!factored) return false;
    ss_trees_solve(&sim->trees, factored, sim->frame->h, (const double(*)[6])force, laws, sim->rates, change);
    for (int l = 0; l < sim->trees.count; l++) {
        int b = sim->body_place[sim->trees.link[l].body];
        for (int d = 0; d < 6; d++) sim->answer->velocity[b][d] = bodies->velocity[b][d] + change[l][d];
    }
    return true;
}

/* ---- together --------------------------------------------------------------------------------------- */

bool ss_sim_build_frame(ss_sim *sim, ss_error *err)
{
    int bodies = number_bodies(sim, err);
    if (bodies < 0) return false;

    bool needs_trees = sim->options.coordinates == SS_MINIMAL && !sim->trees_are_found;
    if (needs_trees && !ss_sim_find_trees(sim, err)) return false;
    sim->trees_are_found = false;

    unsigned need = 0;
    if (!scan_contacts(sim, &need, err)) return false;

    /* The number of joint rows is known only when they are made: so they come before the frame. */
    equations all;
    if (!make_equations(sim, &all, err)) return false;
    ss_frame_destroy(sim->frame);
    sim->answer = NULL; // of the frame before
    ss_frame *frame = sim->frame =
        ss_frame_create(bodies, all.constraints, all.count, sim->contacts.count, err);
    if (!frame) return false;
    frame->h = sim->h;
    frame->time = sim->time;
    ss_parallel_for(ss_team_for_loop(sim->team, bodies, 50), bodies, SS_SIM_AT_ONCE, fill_bodies, sim);
    if (!fill_contacts(sim, need, frame, err) || !fill_constraints(sim, &all, frame, err)) return false;

    /* Bodies with prescribed motion are not in the frame; to draw it one needs to know where they are. */
    ss_scenery *scenery = &sim->scenery;
    scenery->count = 0;
    for (int b = 0; b < ss_world_body_count(sim->world); b++) {
        const ss_body *body = ss_world_body(sim->world, b);
        if (body->kind != SS_KINEMATIC) continue;
        memcpy(scenery->position[scenery->count], body->position, sizeof body->position);
        memcpy(scenery->quaternion[scenery->count++], body->quaternion, sizeof body->quaternion);
    }

    sim->is_solved_by_trees = sim->frame_waits = false;
    sim->coordinates_wait = sim->options.coordinates == SS_MINIMAL && sim->trees.coordinates > 0;
    return ss_sim_add_alternatives(sim, err);
}

/* ---- what a user function may have planted ---------------------------------------------------------- */

static bool all_finite(const double *values, int count)
{
    double sum = 0.0; // 0 times what is not finite is not a number
    for (int i = 0; i < count; i++) sum += 0.0 * values[i];
    return sum == 0.0;
}

/* What of a body is not a usable number; NULL: nothing. */
static const char *fault_of_body(const ss_bodies *bodies, int b)
{
    return !isfinite(bodies->mass[b]) || !(bodies->mass[b] > 0.0) ? "mass"
           : !all_finite(bodies->position[b], 3)                  ? "position"
           : !all_finite(bodies->quaternion[b], 4)                ? "quaternion"
           : !all_finite(bodies->velocity[b], 6)                  ? "velocity"
           : !all_finite(bodies->force[b], 6)                     ? "force"
           : !all_finite(bodies->inertia[b], 9)                   ? "inertia"
                                                                  : NULL;
}

static bool contact_is_finite(const ss_contacts *contacts, int c)
{
    return all_finite(contacts->point[c], 3) && all_finite(contacts->normal[c], 3) &&
           isfinite(contacts->gap[c]) && !isnan(contacts->mu[c][0]) && !isnan(contacts->mu[c][1]) &&
           (!contacts->surface_velocity || all_finite(contacts->surface_velocity[c], 3));
}

static bool normal_is_unit(const ss_contacts *contacts, int c)
{
    return fabs(ss_vec3_norm(ss_vec3_load(contacts->normal[c])) - 1.0) <= 1e-6;
}

static unsigned are_bodies_bad(int64_t begin, int64_t end, const void *context)
{
    const ss_frame *frame = context;
    bool bad = false;
    for (int64_t b = begin; b < end; b++) bad |= fault_of_body(&frame->bodies, (int)b) != NULL;
    return bad;
}

static unsigned are_contacts_bad(int64_t begin, int64_t end, const void *context)
{
    const ss_contacts *contacts = &((const ss_frame *)context)->contacts;
    bool bad = false;
    for (int64_t c = begin; c < end; c++)
        bad |= !contact_is_finite(contacts, (int)c) || !normal_is_unit(contacts, (int)c);
    return bad;
}

bool ss_sim_check_frame(const ss_sim *sim, ss_error *err)
{
    const ss_frame *frame = sim->frame;
    const ss_bodies *bodies = &frame->bodies;
    const ss_contacts *contacts = &frame->contacts;
    unsigned bad_bodies = ss_parallel_any(ss_team_for_loop(sim->team, bodies->count, 10), bodies->count,
                                          SS_SIM_AT_ONCE, are_bodies_bad, frame);
    unsigned bad_contacts = ss_parallel_any(ss_team_for_loop(sim->team, contacts->count, 6), contacts->count,
                                            SS_SIM_AT_ONCE, are_contacts_bad, frame);

    /* The first of them has a name. */
    for (int b = 0; bad_bodies && b < bodies->count; b++) {
        const char *bad = fault_of_body(bodies, b);
        if (bad)
            return ss_fail(err, SS_ERROR_INPUT, "%s: its %s is not a usable number",
                           ss_sim_body_label(sim, sim->frame_body[b]).text, bad);
    }
    for (int c = 0; bad_contacts && c < contacts->count; c++) {
        ss_body_label label = ss_sim_body_label(sim, sim->contacts.items[c].body_b);
        if (!contact_is_finite(contacts, c))
            return ss_fail(err, SS_ERROR_INPUT, "contact %d of %s: not finite", c, label.text);
        if (!normal_is_unit(contacts, c))
            return ss_fail(err, SS_ERROR_INPUT, "contact %d of %s: its normal has length %g, must be 1", c,
                           label.text, ss_vec3_norm(ss_vec3_load(contacts->normal[c])));
    }

    const ss_constraints *constraints = &frame->constraints;
    for (int i = 0; i < constraints->row_count; i++) {
        if (!all_finite(constraints->jacobian[i], 12) || !isfinite(constraints->violation[i]) ||
            !isfinite(constraints->time_derivative[i]))
            return ss_fail(err, SS_ERROR_INPUT, "joint %d, row %d: not finite", sim->origins[i].joint,
                           sim->origins[i].index);
    }
    for (int k = 0; k < constraints->further_count; k++) {
        int i = constraints->further_row[k];
        if (!all_finite(constraints->further_jacobian[k], 6))
            return ss_fail(err, SS_ERROR_INPUT, "joint %d, row %d: not finite", sim->origins[i].joint,
                           sim->origins[i].index);
    }
    return true;
}
