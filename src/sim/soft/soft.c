/* A real-time step: the loop, from the world into rows and back, and the frame of it for those who look. */
#include "sim/soft/soft.h"

#include "base/memory.h"
#include "linalg/quat.h"
#include "model/joint_rows.h"
#include "sim/state.h"

#include <math.h>

/* Of the thinnest shape, in a step: no overlap is pushed out faster. */
static const double push_share = 0.04;
/* rad per step: bodies that turn more slowly feel no gyroscopic torque. */
static const double slow_turn = 1e-4;
/* Contacts are springs with so much of an oscillation in a small step, damped far beyond what is critical.
 * With 0.22 a pyramid does not come to rest, with 0.12 a narrow wall leans and falls. */
static const double oscillations = 0.18, damping_ratio = 5.0;

/* ---- bodies to rows --------------------------------------------------------------------------------- */

static bool reserve(ss_soft *soft, int bodies, ss_error *err)
{
    if (bodies <= soft->body_capacity) return true;
    int room = bodies + bodies / 2;
    size_t rows = (size_t)room + 1;
    void *parts[] = {soft->row_of, soft->body_of, soft->rows,   soft->frames, soft->gain,   soft->free,
                     soft->masses, soft->start,   soft->wrench, soft->used,   soft->touched};
    for (int i = 0; i < 11; i++) ss_release(parts[i]);
    soft->row_of = ss_allocate(rows, sizeof *soft->row_of);
    soft->body_of = ss_allocate(rows, sizeof *soft->body_of);
    soft->rows = ss_allocate(rows + SS_SOFT_SLICES, sizeof *soft->rows);
    soft->frames = ss_allocate(rows + SS_SOFT_SLICES, sizeof *soft->frames);
    soft->gain = ss_allocate(rows, sizeof *soft->gain);
    soft->free = ss_allocate(rows, sizeof *soft->free);
    soft->masses = ss_allocate(rows, sizeof *soft->masses);
    soft->start = ss_allocate(rows, sizeof *soft->start);
    soft->wrench = ss_allocate(rows, sizeof *soft->wrench);
    soft->used = ss_allocate(rows, sizeof *soft->used);
    soft->touched = ss_allocate(rows, sizeof *soft->touched);
    bool good = soft->touched && soft->row_of && soft->body_of && soft->rows && soft->frames && soft->gain &&
                soft->free && soft->masses && soft->start && soft->wrench && soft->used;
    soft->body_capacity = good ? room : 0;
    return good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", bodies);
}

/* sqrt(1/m), and L with L L' = I^-1. */
static bool find_roots(const ss_body *body, ss_soft_mass *to)
{
    if (to->mass == body->mass && memcmp(to->inertia, body->inertia, sizeof to->inertia) == 0) return true;
    ss_mat3 inverse;
    if (!(body->mass > 0.0) || !isfinite(body->mass) ||
        !ss_mat3_inverse(ss_mat3_load(body->inertia), &inverse))
        return false;
    double(*l)[3] = to->lower;
    to->mass = 0.0; // until all is found
    memset(l, 0, sizeof to->lower);
    for (int j = 0; j < 3; j++)
        for (int i = j; i < 3; i++) {
            double sum = inverse.m[i][j];
            for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 0.0)) return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    to->root = sqrt(1.0 / body->mass);
    to->inverse = inverse;
    to->mass = body->mass;
    memcpy(to->inertia, body->inertia, sizeof to->inertia);
    return true;
}

/* Angular velocity of the world to scaled one, and a torque: L^-1 R' w, L' R' t. */
static ss_vec3 scale_velocity(const ss_soft_mass *mass, ss_mat3 rotation, ss_vec3 w)
{
    const double(*l)[3] = mass->lower;
    ss_vec3 b = ss_mat3_apply_transposed(rotation, w), y;
    y.x = b.x / l[0][0];
    y.y = (b.y - l[1][0] * y.x) / l[1][1];
    y.z = (b.z - l[2][0] * y.x - l[2][1] * y.y) / l[2][2];
    return y;
}

static ss_vec3 unscale_velocity(const ss_soft_mass *mass, ss_mat3 rotation, const float y[3])
{
    const double(*l)[3] = mass->lower;
    double a = (double)y[0], b = (double)y[1], c = (double)y[2];
    return ss_mat3_apply(
        rotation, (ss_vec3){l[0][0] * a, l[1][0] * a + l[1][1] * b, l[2][0] * a + l[2][1] * b + l[2][2] * c});
}

/* What is done body by body, or row by row, and whether a number was found that is of no use. */
typedef struct body_loop {
    ss_sim *sim;
    double h;              // s, of a small step
    double (*velocity)[6]; // of every row
    _Atomic bool bad;
} body_loop;

/* How bodies begin the step, and the forces on those that move. */
static void start_bodies(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    body_loop *of = context;
    const ss_sim *sim = of->sim;
    ss_soft *soft = sim->soft;
    for (int b = (int)begin; b < end; b++) {
        const ss_body *body = &sim->world->bodies[b];
        ss_soft_start *start = &soft->start[b];
        memcpy(start->position, body->position, sizeof start->position);
        memcpy(start->quaternion, body->quaternion, sizeof start->quaternion);
        memcpy(start->velocity, body->velocity, sizeof start->velocity);
        if (soft->row_of[b] == 0) continue;
        if (!find_roots(body, &soft->masses[b])) of->bad = true;

        /* Forces, and the gyroscopic torque where the body turns. */
        start->rotation = ss_quat_to_matrix(ss_quat_load(body->quaternion));
        ss_vec3 w = ss_vec3_load(body->velocity + 3);
        ss_sim_plain_force(sim, body, soft->wrench[b]);
        start->torque = (ss_vec3){0.0, 0.0, 0.0};
        start->keeps_momentum = false;
        if (sim->h * ss_vec3_norm(w) >= slow_turn)
            start->torque = ss_sim_gyroscopic_torque(sim, body, &start->keeps_momentum);
        ss_vec3_store(ss_vec3_add(ss_vec3_load(soft->wrench[b] + 3), start->torque), soft->wrench[b] + 3);
    }
}

/* Pose, velocity and forces are numbers. */
static bool is_finite(const ss_soft_start *start, const double wrench[6])
{
    double sum = 0.0; // 0 times what is not finite is not a number
    for (int i = 0; i < 3; i++) sum += 0.0 * start->position[i];
    for (int i = 0; i < 4; i++) sum += 0.0 * start->quaternion[i];
    for (int i = 0; i < 6; i++) sum += 0.0 * (start->velocity[i] + wrench[i]);
    return sum == 0.0;
}

/* The row of a body that is touched, or may be by a joint. False when something in it is not finite. */
static bool fill_row(const ss_sim *sim, int r, double h)
{
    const ss_soft *soft = sim->soft;
    int b = soft->body_of[r];
    const ss_soft_start *start = &soft->start[b];
    const double *wrench = soft->wrench[b];
    if (!is_finite(start, wrench)) return false;
    if (!soft->touched[r] && ss_world_joint_count(sim->world) == 0) return true; // nothing looks at its row
    const ss_body *body = ss_world_body(sim->world, b);
    const ss_soft_mass *mass = &soft->masses[b];
    ss_mat3 rotation = start->rotation;
    ss_vec3 w = ss_vec3_load(body->velocity + 3), torque = ss_vec3_load(wrench + 3);
    ss_soft_row *row = &soft->rows[r];
    ss_soft_frame *frame = &soft->frames[r];
    const double(*l)[3] = mass->lower;
    ss_vec3 y = scale_velocity(mass, rotation, w);
    for (int i = 0; i < 3; i++) { // row i of L' R' is column i of R L
        double column[3];
        for (int j = 0; j < 3; j++) {
            column[j] = 0.0;
            for (int k = i; k < 3; k++) column[j] += rotation.m[j][k] * l[k][i];
            frame->turn[i][j] = (float)column[j];
        }
        frame->turn[i][3] = 0.0f;
        soft->gain[r][i] = (float)(h * mass->root * wrench[i]);
        soft->gain[r][4 + i] = (float)(h * ss_vec3_dot(ss_vec3_load(column), torque));
        row->y[i] = (float)(body->velocity[i] / mass->root);
    }
    row->y[3] = row->y[7] = soft->gain[r][3] = soft->gain[r][7] = 0.0f;
    row->y[4] = (float)y.x;
    row->y[5] = (float)y.y;
    row->y[6] = (float)y.z;
    memset(row->d, 0, sizeof row->d);
    frame->root = (float)mass->root;
    return isfinite(y.x + y.y + y.z);
}

static void fill_rows(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    body_loop *of = context;
    for (int64_t r = begin; r < end; r++) {
        if (r > 0 && !fill_row(of->sim, (int)r, of->h)) of->bad = true;
    }
}

/* Rows of the dynamic bodies that anything touches, with what forces add in a small step of h. */
static bool read_bodies(ss_sim *sim, double h, ss_error *err)
{
    ss_soft *soft = sim->soft;
    int bodies = ss_world_body_count(sim->world);
    if (!reserve(soft, bodies, err)) return false;
    int joints = ss_world_joint_count(sim->world);
    if (joints > soft->joint_capacity) {
        ss_release(soft->joint_start);
        soft->joint_start = ss_allocate((size_t)joints, sizeof *soft->joint_start);
        soft->joint_capacity = soft->joint_start ? joints : 0;
        if (!soft->joint_start)
            return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d joints", joints);
    }
    soft->bodies_at_start = bodies;
    soft->joints_at_start = joints;
    for (int j = 0; j < joints; j++) {
        const ss_joint *joint = ss_world_joint(sim->world, j);
        memcpy(soft->joint_start[j], joint->turned, sizeof joint->turned);
        memcpy(soft->joint_start[j] + 2, joint->load_direction, sizeof joint->load_direction);
    }
    memset(&soft->rows[0], 0, sizeof soft->rows[0]);
    memset(&soft->frames[0], 0, sizeof soft->frames[0]);
    memset(soft->gain[0], 0, sizeof soft->gain[0]);

    /* Rows of those that move. */
    soft->row_count = 1;
    soft->told = false;
    for (int b = 0; b < bodies; b++) {
        const ss_body *body = ss_world_body(sim->world, b);
        bool moves = body->kind == SS_DYNAMIC && !body->disabled;
        soft->told |= body->kind == SS_KINEMATIC && !body->disabled;
        soft->row_of[b] = moves ? soft->row_count : 0;
        if (moves) soft->body_of[soft->row_count++] = b;
    }

    body_loop of = {.sim = sim, .h = h};
    ss_parallel_for(ss_team_for_loop(sim->team, bodies, 50), bodies, SS_SIM_AT_ONCE, start_bodies, &of);
    for (int r = 1; of.bad && r < soft->row_count; r++) {
        int b = soft->body_of[r];
        if (!find_roots(ss_world_body(sim->world, b), &soft->masses[b]))
            return ss_fail(err, SS_ERROR_INPUT, "%s: its mass or inertia is not a usable number",
                           ss_sim_body_label(sim, b).text);
    }
    ss_sim_add_joint_forces(sim, NULL, soft->wrench);
    if (!ss_soft_find_manifolds(sim, err)) return false;

    ss_parallel_for(ss_team_for_loop(sim->team, soft->row_count, 30), soft->row_count, SS_SIM_AT_ONCE,
                    fill_rows, &of);
    for (int r = 1; of.bad && r < soft->row_count; r++) {
        if (!fill_row(sim, r, h))
            return ss_fail(err, SS_ERROR_INPUT, "%s: its pose, velocity or force is not a usable number",
                           ss_sim_body_label(sim, soft->body_of[r]).text);
    }
    return true;
}

/* ---- the loop --------------------------------------------------------------------------------------- */

/* What is done with all batches. */
typedef enum batch_pass { LOOK, PUSH, SWEEP_SOFT, SWEEP_RIGID, BOUNCE } batch_pass;

typedef struct small_step {
    ss_soft *soft;
    ss_soft_pace pace;
    float h;
    int number;
    batch_pass pass;
    int colour;
} small_step;

static void pass_over(const small_step *step, int begin, int end)
{
    ss_soft *soft = step->soft;
    switch (step->pass) {
    case LOOK:
        soft->kernel->look(soft->batches, soft->points, begin, end, soft->rows);
        break;
    case PUSH:
        soft->kernel->push(soft->batches, soft->points, begin, end, soft->rows);
        break;
    case SWEEP_SOFT:
    case SWEEP_RIGID:
        soft->kernel->sweep(soft->batches, soft->points, begin, end, soft->rows, &step->pace,
                            step->pass == SWEEP_SOFT);
        break;
    case BOUNCE:
        soft->kernel->bounce(soft->batches, soft->points, begin, end, soft->rows, &step->pace);
        break;
    }
}

static void pass_over_slices(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const small_step *step = context;
    pass_over(step, ss_soft_slice(step->soft, step->colour, (int)begin),
              ss_soft_slice(step->soft, step->colour, (int)end));
}

/* Who passes over the batches. Threads wait for each other after each colour, and some rows change cores. */
static ss_team *helpers_for_pass(const ss_sim *sim)
{
    static const double batch = 60.0, point = 14.0;            // ns
    static const double colour_trips = 8.0, batch_trips = 0.1; // round trips
    const ss_soft *soft = sim->soft;
    int batches = 0, colours = 0;
    for (int c = 0; c < SS_SOFT_COLOURS; c++) {
        if (!ss_soft_is_shared(soft, c)) continue;
        batches += soft->colour_start[c + 1] - soft->colour_start[c];
        colours++;
    }
    return ss_team_for(sim->team, batch * batches + point * soft->point_count,
                       colour_trips * colours + batch_trips * batches, 0.0);
}

/* Colour by colour. Every thread has the same slices each time, because it still has them in its cache. */
static void pass_over_batches(ss_sim *sim, small_step *step, batch_pass pass)
{
    const ss_soft *soft = step->soft;
    const int *start = soft->colour_start;
    ss_team *team = helpers_for_pass(sim);
    int threads = ss_team_size(team), alone = 0;
    step->pass = pass;
    for (int c = 0; c < SS_SOFT_COLOURS && team; c++) {
        if (!ss_soft_is_shared(soft, c)) continue;
        if (alone < start[c]) pass_over(step, alone, start[c]);
        alone = start[c + 1];
        step->colour = c;
        ss_parallel_for(team, SS_SOFT_SLICES, (SS_SOFT_SLICES - 1) / threads + 1, pass_over_slices, step);
    }
    if (alone < soft->batch_count) pass_over(step, alone, soft->batch_count);
}

/* Forces; and impulses of the small step before, which did y - free. */
static void apply_forces(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const small_step *step = context;
    ss_soft *soft = step->soft;
    ss_soft_row *rows = soft->rows;
    for (int64_t r = begin > 0 ? begin : 1; r < end; r++) {
        if (!soft->touched[r]) continue;
        for (int i = 0; i < 8; i++) {
            float y = rows[r].y[i], before = step->number ? y - soft->free[r][i] : 0.0f;
            soft->free[r][i] = y + soft->gain[r][i];
            rows[r].y[i] = soft->free[r][i] + before;
        }
    }
}

static void add_displacements(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const small_step *step = context;
    const bool *touched = step->soft->touched;
    ss_soft_row *rows = step->soft->rows;
    for (int64_t r = begin > 0 ? begin : 1; r < end; r++) {
        if (!touched[r]) continue;
        for (int i = 0; i < 8; i++) rows[r].d[i] += step->h * rows[r].y[i];
    }
}

static void look_at_manifolds(const ss_sim *sim, int begin, int end, ss_contact_look *look)
{
    const ss_soft *soft = sim->soft;
    for (int i = begin; i < end; i++) {
        const ss_soft_manifold *m = &soft->manifolds[i];
        for (int k = 0; k < m->count; k++) {
            double overlap = -sim->contacts.items[m->first + k].gap;
            look->touching += soft->points[soft->batches[m->batch].first + k].total[m->lane] > 0.0f;
            if (!(overlap > look->penetration)) continue;
            look->penetration = overlap;
            look->worst_contact = m->first + k;
        }
    }
}

bool ss_soft_solve(ss_sim *sim, ss_error *err)
{
    ss_soft *soft = sim->soft;
    double start = ss_clock_seconds();
    int steps = sim->options.small_steps;
    double h = sim->h / steps;
    bool good =
        read_bodies(sim, h, err) && ss_soft_gather(sim, err) && ss_soft_prepare_joints(sim, h, steps, err);
    if (!good) {
        soft->manifold_count = 0; // they may have no batches
        return false;
    }
    double assembled = ss_clock_seconds();

    /* A damped spring over a small step: Catto, "Soft constraints" (2011). */
    double turned = 6.283185307179586 * oscillations, resistance = 2.0 * damping_ratio + turned;
    double stiff = turned * resistance;
    double gravity = ss_vec3_norm(ss_vec3_load(ss_world_gravity(sim->world)));
    small_step step = {.soft = soft, .h = (float)h};
    step.pace = (ss_soft_pace){.inverse_h = (float)(1.0 / h),
                               .rate = (float)(turned / (h * resistance)),
                               .mass_scale = (float)(stiff / (1.0 + stiff)),
                               .impulse_scale = (float)(1.0 / (1.0 + stiff)),
                               .push = (float)(push_share * sim->grain / sim->h),
                               .slow = (float)(2.0 * sim->h * gravity)};
    ss_team *helpers = ss_team_for_loop(sim->team, soft->row_count, 5);
    if (soft->bounces) pass_over_batches(sim, &step, LOOK);

    for (int k = 0; k < steps; k++) {
        if (k > 0) ss_soft_note_rates(soft);
        step.number = k;
        ss_parallel_for(helpers, soft->row_count, SS_SIM_AT_ONCE, apply_forces, &step);
        if (k > 0) ss_soft_refresh_joints(sim, h, steps);
        if (k == 0) {
            ss_soft_push_joints(soft);
            pass_over_batches(sim, &step, PUSH);
        }

        step.pace.time = (float)(k * h);
        ss_soft_sweep_joints(soft, &step.pace, true);
        pass_over_batches(sim, &step, SWEEP_SOFT);
        ss_parallel_for(helpers, soft->row_count, SS_SIM_AT_ONCE, add_displacements, &step);
        ss_soft_sweep_joints(soft, &step.pace, false);
        pass_over_batches(sim, &step, SWEEP_RIGID);
    }
    if (soft->bounces) pass_over_batches(sim, &step, BOUNCE);

    enum { MANIFOLD = 20 }; // ns
    if (!ss_sim_look(sim, soft->manifold_count, MANIFOLD, look_at_manifolds, err)) return false;
    ss_sim_report *report = &sim->report;
    report->contacts = sim->contacts.count;
    report->rows = ss_soft_joint_rows(soft);
    report->iterations = 2 * steps;
    report->assembly += assembled - start;
    report->solve += ss_clock_seconds() - assembled;
    soft->waits = true;
    soft->frame_time = sim->time;
    return true;
}

/* ---- rows to bodies --------------------------------------------------------------------------------- */

/* Bodies that touch nothing need no floats: v + h M^-1 f. */
static void velocity_of(const ss_sim *sim, int r, double velocity[6])
{
    const ss_soft *soft = sim->soft;
    int b = soft->body_of[r];
    const ss_soft_mass *mass = &soft->masses[b];
    const ss_soft_start *start = &soft->start[b];
    const float *y = soft->rows[r].y;
    if (soft->touched[r]) {
        for (int i = 0; i < 3; i++) velocity[i] = mass->root * (double)y[i];
        ss_vec3_store(unscale_velocity(mass, start->rotation, y + 4), velocity + 3);
        return;
    }
    for (int i = 0; i < 3; i++)
        velocity[i] = start->velocity[i] + sim->h * (mass->root * mass->root) * soft->wrench[b][i];
    ss_vec3 torque = ss_vec3_load(soft->wrench[b] + 3), w;
    memcpy(velocity + 3, start->velocity + 3, 3 * sizeof *velocity);
    if (torque.x == 0.0 && torque.y == 0.0 && torque.z == 0.0) return; // as of most that fall
    torque = ss_mat3_apply_transposed(start->rotation, torque);
    const double(*l)[3] = mass->lower;
    double scaled[3] = {l[0][0] * torque.x + l[1][0] * torque.y + l[2][0] * torque.z,
                        l[1][1] * torque.y + l[2][1] * torque.z, l[2][2] * torque.z};
    w = ss_mat3_apply(start->rotation,
                      (ss_vec3){l[0][0] * scaled[0], l[1][0] * scaled[0] + l[1][1] * scaled[1],
                                l[2][0] * scaled[0] + l[2][1] * scaled[1] + l[2][2] * scaled[2]});
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(start->velocity + 3), sim->h, w), velocity + 3);
}

ss_vec3 ss_soft_turn(const ss_soft *soft, int r)
{
    int b = soft->body_of[r];
    return unscale_velocity(&soft->masses[b], soft->start[b].rotation, soft->rows[r].d + 4);
}

void ss_soft_place(ss_sim *sim, int r, bool there)
{
    const ss_soft *soft = sim->soft;
    int b = soft->body_of[r];
    ss_body *body = ss_world_body(sim->world, b);
    const ss_soft_mass *mass = &soft->masses[b];
    const ss_soft_start *start = &soft->start[b];
    const float *d = soft->rows[r].d;
    memcpy(body->position, start->position, sizeof body->position);
    memcpy(body->quaternion, start->quaternion, sizeof body->quaternion);
    if (!there) return;
    for (int i = 0; i < 3; i++) body->position[i] += mass->root * (double)d[i];
    ss_vec3 turn = unscale_velocity(mass, start->rotation, d + 4);
    ss_quat_store(ss_quat_integrate(ss_quat_load(start->quaternion), turn, 1.0), body->quaternion);
}

/* Moves a body that is touched along its displacements.
 *
 * Its momentum is I w without the gyroscopic torque, which stands for the change of I: with the new I, w
 * follows from it. The turn that belongs to the midpoint rule of that torque is Cayley's, by half of what the
 * torque changes (integrate.c); small steps had (n + 1) / 2n of it. */
static void move_body(ss_sim *sim, int r, const double velocity[6], ss_body *body)
{
    const ss_soft *soft = sim->soft;
    int b = soft->body_of[r];
    const ss_soft_start *start = &soft->start[b];
    ss_mat3 inertia = ss_mat3_load(body->inertia), inverse = soft->masses[b].inverse;
    memcpy(body->velocity, velocity, sizeof body->velocity);
    ss_soft_place(sim, r, true);
    if (!start->keeps_momentum) return;

    ss_quat before = ss_quat_load(start->quaternion);
    ss_vec3 change = ss_mat3_apply(inverse, ss_quat_rotate_back(before, start->torque));
    change = ss_vec3_scale(sim->h, ss_quat_rotate(before, change));
    ss_vec3 turn = unscale_velocity(&soft->masses[b], start->rotation, soft->rows[r].d + 4);
    turn = ss_vec3_scale(0.5, ss_vec3_add_scaled(turn, -0.5 * sim->h / sim->options.small_steps, change));
    ss_quat cayley = ss_quat_normalise((ss_quat){1.0, turn.x, turn.y, turn.z});
    ss_quat q = ss_quat_normalise(ss_quat_multiply(cayley, before));
    ss_quat_store(q, body->quaternion);

    ss_vec3 w = ss_quat_rotate_back(before, ss_vec3_load(velocity + 3));
    ss_vec3 momentum =
        ss_vec3_add_scaled(ss_quat_rotate(before, ss_mat3_apply(inertia, w)), -sim->h, start->torque);
    w = ss_quat_rotate(q, ss_mat3_apply(inverse, ss_quat_rotate_back(q, momentum)));
    ss_vec3_store(w, body->velocity + 3);
}

static bool diverged(const ss_sim *sim, int r, const double velocity[6])
{
    if (ss_sim_is_too_fast(sim, velocity)) return true;
    double sum = 0.0; // 0 times what is not finite is not a number
    if (!sim->soft->touched[r]) return false;
    for (int i = 0; i < 8; i++) sum += 0.0 * (double)sim->soft->rows[r].d[i];
    return sum != 0.0;
}

static void find_velocities(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    body_loop *of = context;
    for (int r = (int)begin; r < end; r++) {
        if (r == 0) continue;
        velocity_of(of->sim, r, of->velocity[r]);
        if (diverged(of->sim, r, of->velocity[r])) of->bad = true;
    }
}

static void move_rows(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const body_loop *of = context;
    const ss_soft *soft = of->sim->soft;
    for (int r = (int)begin; r < end; r++) {
        if (r == 0) continue;
        int b = soft->body_of[r];
        ss_body *body = ss_world_body(of->sim->world, b);
        if (soft->touched[r]) {
            move_body(of->sim, r, of->velocity[r], body);
            continue;
        }

        /* Free flight is that of any other step, which has a torque for slow turns as well. */
        const ss_soft_start *start = &soft->start[b];
        ss_free_turn turn = {start->torque, start->keeps_momentum};
        if (!turn.midway) turn.torque = ss_sim_gyroscopic_torque(of->sim, body, &turn.midway);
        memcpy(body->velocity, of->velocity[r], sizeof body->velocity);
        ss_sim_fly(of->sim, &turn, &soft->masses[b].inverse, body);
    }
}

bool ss_soft_move(ss_sim *sim, ss_error *err)
{
    ss_soft *soft = sim->soft;
    int count = soft->row_count;
    body_loop of = {.sim = sim};
    soft->moved = true;
    of.velocity = ss_arena_take_unset(sim->memory, (size_t)count, sizeof *of.velocity, "velocities");
    if (!of.velocity) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d bodies", count);
    ss_parallel_for(ss_team_for_loop(sim->team, count, 25), count, SS_SIM_AT_ONCE, find_velocities, &of);
    for (int r = 1; of.bad && r < count; r++) {
        const double *velocity = of.velocity[r];
        if (diverged(sim, r, velocity))
            return ss_fail(err, SS_ERROR_INPUT, "%s: diverged, its speed is %g m/s and %g rad/s",
                           ss_sim_body_label(sim, soft->body_of[r]).text,
                           ss_vec3_norm(ss_vec3_load(velocity)), ss_vec3_norm(ss_vec3_load(velocity + 3)));
    }
    ss_parallel_for(ss_team_for_loop(sim->team, count, 50), count, SS_SIM_AT_ONCE, move_rows, &of);
    ss_sim_move_kinematic(sim);
    ss_soft_note_loads(sim);
    return ss_soft_keep(sim, err) && ss_sim_end_move(sim, NULL, err) && ss_soft_keep_joints(sim, err);
}

/* Poses and velocities of the start of the step change places with those of now. */
static void change_places(ss_sim *sim)
{
    ss_soft *soft = sim->soft;
    for (int b = 0; b < soft->bodies_at_start; b++) {
        ss_body *body = ss_world_body(sim->world, b), held = *body;
        ss_soft_start *start = &soft->start[b];
        memcpy(body->position, start->position, sizeof body->position);
        memcpy(body->quaternion, start->quaternion, sizeof body->quaternion);
        memcpy(body->velocity, start->velocity, sizeof body->velocity);
        memcpy(start->position, held.position, sizeof start->position);
        memcpy(start->quaternion, held.quaternion, sizeof start->quaternion);
        memcpy(start->velocity, held.velocity, sizeof start->velocity);
    }
    for (int j = 0; j < soft->joints_at_start; j++) {
        ss_joint *joint = ss_world_joint(sim->world, j);
        double *start = soft->joint_start[j], held[5];
        memcpy(held, joint->turned, sizeof joint->turned);
        memcpy(held + 2, joint->load_direction, sizeof joint->load_direction);
        memcpy(joint->turned, start, sizeof joint->turned);
        memcpy(joint->load_direction, start + 2, sizeof joint->load_direction);
        memcpy(start, held, sizeof held);
    }
}

void ss_soft_begin(ss_sim *sim)
{
    sim->soft->kept = sim->soft->moved = false;
}

bool ss_soft_undoes_all(const ss_sim *sim)
{
    bool other = !sim->soft || ss_world_joint_count(sim->world) > 0 || sim->source;
    for (int stage = 0; stage < SS_STAGE_COUNT; stage++) other |= sim->calls[stage].count > 0;
    for (int b = 0; !other && b < ss_world_body_count(sim->world); b++)
        other = ss_world_body(sim->world, b)->motion != NULL;
    return !other;
}

void ss_soft_undo(ss_sim *sim)
{
    ss_soft *soft = sim->soft;
    if (soft->moved) change_places(sim);
    soft->waits = soft->moved = false;
    if (!soft->kept) return;
    ss_soft_list held = soft->memory;
    soft->memory = soft->next;
    soft->next = held;
    soft->kept = false;
}

/* ---- the frame -------------------------------------------------------------------------------------- */

/* Friction and spin of a manifold as forces at its points, in proportion to their normal impulses: together
 * they are the same force and, but for points that lie in one, the same torque about the normal. */
static void share_friction(const ss_sim *sim, const ss_soft_manifold *m, ss_answer *answer)
{
    const ss_soft *soft = sim->soft;
    const ss_soft_batch *batch = &soft->batches[m->batch];
    const ss_contact *contacts = &sim->contacts.items[m->first];
    ss_vec3 normal = ss_vec3_load(contacts->normal), force = {0.0, 0.0, 0.0}, middle = force, centre = force;
    double sum = 0.0, share[SS_SOFT_POINTS];
    for (int j = 0; j < 2; j++) {
        ss_vec3 tangent = {(double)batch->tangent[j][0][m->lane], (double)batch->tangent[j][1][m->lane],
                           (double)batch->tangent[j][2][m->lane]};
        force = ss_vec3_add_scaled(force, (double)batch->total[j][m->lane], tangent);
    }
    for (int k = 0; k < m->count; k++) {
        share[k] = (double)soft->points[batch->first + k].total[m->lane];
        answer->normal_impulse[m->first + k] = share[k];
        sum += share[k];
    }
    for (int k = 0; k < m->count; k++) {
        share[k] = sum > 0.0 ? share[k] / sum : 1.0 / m->count;
        ss_vec3 point = ss_vec3_load(contacts[k].point);
        centre = ss_vec3_add_scaled(centre, share[k], point);
        middle = ss_vec3_add_scaled(middle, 1.0 / m->count, point);
    }

    /* About the middle, where friction acted, the shares turn already. */
    double inertia = 0.0, spin = (double)batch->total[2][m->lane] -
                                 ss_vec3_dot(normal, ss_vec3_cross(ss_vec3_subtract(centre, middle), force));
    for (int k = 0; k < m->count; k++) {
        ss_vec3 arm = ss_vec3_cross(normal, ss_vec3_subtract(ss_vec3_load(contacts[k].point), centre));
        inertia += share[k] * ss_vec3_dot(arm, arm);
    }
    for (int k = 0; k < m->count; k++) {
        ss_vec3 arm = ss_vec3_cross(normal, ss_vec3_subtract(ss_vec3_load(contacts[k].point), centre));
        ss_vec3 part = ss_vec3_scale(share[k], force);
        if (inertia > 0.0) part = ss_vec3_add_scaled(part, share[k] * spin / inertia, arm);

        /* Normals of the contacts differ by little: the sum is taken apart along each one's own. */
        ss_vec3 own = ss_vec3_load(contacts[k].normal);
        part = ss_vec3_add_scaled(part, answer->normal_impulse[m->first + k], normal);
        double along = ss_vec3_dot(part, own);
        answer->normal_impulse[m->first + k] = along;
        ss_vec3_store(ss_vec3_add_scaled(part, -along, own), answer->friction_impulse[m->first + k]);
    }
}

void ss_soft_make_frame(ss_sim *sim)
{
    ss_soft *soft = sim->soft;
    double time = sim->time;
    soft->waits = false;
    ss_sim_forget_frame(sim);
    if (soft->bodies_at_start != ss_world_body_count(sim->world) ||
        soft->joints_at_start != ss_world_joint_count(sim->world))
        return; // what was added since has no state before the step
    change_places(sim);
    sim->time = soft->frame_time;
    bool good = ss_sim_build_frame(sim, NULL);
    if (good) ss_sim_choose_gap_term(sim, sim->frame->contacts.restitution != NULL);
    good = good && ss_assemble(sim->assembly, sim->frame, NULL, NULL);
    ss_answer *answer =
        good ? ss_answer_store_take(&sim->answer_store, sim->frame, ss_frame_has_moments(sim->frame), NULL)
             : NULL;
    change_places(sim);
    sim->time = time;
    if (!answer) return;
    for (int b = 0; b < sim->frame->bodies.count; b++) {
        int body = sim->frame_body[b];
        memcpy(sim->frame->bodies.force[b], soft->wrench[body], sizeof soft->wrench[body]);
        velocity_of(sim, soft->row_of[body], answer->velocity[b]);
    }
    for (int i = 0; i < soft->manifold_count; i++) share_friction(sim, &soft->manifolds[i], answer);
    int joint_rows = sim->frame->constraints.row_count;
    for (int i = 0; i < joint_rows && joint_rows == ss_soft_joint_rows(soft); i++)
        answer->row_impulse[i] = ss_soft_joint_impulse(soft, i);
    sim->answer = answer;
}

/* ---- what does not go with it ----------------------------------------------------------------------- */

bool ss_soft_check_options(const ss_sim_options *options, ss_error *err)
{
    ss_sim_options usual;
    ss_options_defaults(ss_sim_option_table, &usual);
    bool corrects = options->joints == SS_STABILISE_PROJECTION || options->joints == SS_STABILISE_IMPULSE;
    const char *what = options->peg != SS_PEG_OFF ? "polyhedral exact geometry (peg)"
                       : strcmp(options->formulation, usual.formulation) != 0 ? "a formulation"
                       : strcmp(options->solver, usual.solver) != 0           ? "a solver"
                       : options->with.count > 0                              ? "options of a formulation"
                       : options->set.count > 0                               ? "options of a solver"
                       : options->coordinates != SS_MAXIMAL                   ? "minimal coordinates"
                       : options->substeps != 1                               ? "substeps; set small_steps"
                       : corrects ? "corrections of joint positions"
                                  : NULL;
    return !what || ss_fail(err, SS_ERROR_USAGE, "fast: real-time steps do not go with %s", what);
}

/* ---- life ------------------------------------------------------------------------------------------- */

ss_soft *ss_soft_create(ss_error *err)
{
    ss_soft *soft = ss_allocate(1, sizeof *soft);
    if (!soft) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for real-time steps");
        return NULL;
    }
    soft->kernel = &ss_soft_kernel_portable;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) soft->kernel = &ss_soft_kernel_avx2;
#endif
    return soft;
}

void ss_soft_destroy(ss_soft *soft)
{
    if (!soft) return;
    void *parts[] = {soft->row_of,     soft->body_of, soft->rows,      soft->frames, soft->gain,
                     soft->free,       soft->masses,  soft->start,     soft->used,   soft->touched,
                     soft->batches,    soft->points,  soft->manifolds, soft->old,    soft->memory.items,
                     soft->next.items, soft->wrench};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) ss_release(parts[i]);
    ss_release(soft->joint_start);
    ss_soft_joints_free(soft->joints);
    ss_release(soft);
}
