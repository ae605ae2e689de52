#include "sim/stabilise.h"

#include "linalg/quat.h"
#include "sim/joint_system.h"

#include <math.h>
#include <string.h>

enum {
    ITERATIONS_MOST = 20, // 1 to 3 are usual; more are for joints that do not fit at the start
    SPEED_ITERATIONS_MOST = 3,
};
static const double hopeless = 0.9; // this share left after a new one: the equations contradict each other
static const double growth = 10.0;  // times the first error: diverged
// rad: of a body in one iteration, where the linearisation still means something
static const double largest_turn = 0.5;

typedef struct body_state {
    double position[3], quaternion[4], velocity[6];
} body_state;

struct ss_stabiliser {
    ss_joint_system system;
    double *error;
    double (*motion)[6];
    body_state *start; /* of the members, to put back */
    int row_capacity, member_capacity;
};

ss_stabiliser *ss_stabiliser_create(ss_error *err)
{
    ss_stabiliser *stabiliser = ss_allocate(1, sizeof *stabiliser);
    if (!stabiliser) ss_fail(err, SS_ERROR_RESOURCES, "joints: out of memory");
    return stabiliser;
}

ss_joint_system *ss_stabiliser_system(ss_stabiliser *stabiliser)
{
    return &stabiliser->system;
}

static void release_scratch(ss_stabiliser *stabiliser)
{
    ss_release(stabiliser->error);
    ss_release(stabiliser->motion);
    ss_release(stabiliser->start);
    stabiliser->error = NULL;
    stabiliser->motion = NULL;
    stabiliser->start = NULL;
    stabiliser->row_capacity = stabiliser->member_capacity = 0;
}

void ss_stabiliser_destroy(ss_stabiliser *stabiliser)
{
    if (!stabiliser) return;
    ss_joint_system_free(&stabiliser->system);
    release_scratch(stabiliser);
    ss_release(stabiliser);
}

/* ---- states of the members -------------------------------------------------------------------------- */

static ss_body *member_body(const ss_stabiliser *stabiliser, const ss_world *world, int member)
{
    (void)world;
    return stabiliser->system.members[member].now;
}

static void put_back_poses(const ss_stabiliser *stabiliser, ss_world *world)
{
    for (int m = 0; m < stabiliser->system.member_count; m++) {
        ss_body *body = member_body(stabiliser, world, m);
        memcpy(body->position, stabiliser->start[m].position, sizeof body->position);
        memcpy(body->quaternion, stabiliser->start[m].quaternion, sizeof body->quaternion);
    }
}

static void put_back_velocities(const ss_stabiliser *stabiliser, ss_world *world)
{
    for (int m = 0; m < stabiliser->system.member_count; m++)
        memcpy(member_body(stabiliser, world, m)->velocity, stabiliser->start[m].velocity,
               sizeof stabiliser->start[m].velocity);
}

/* From position and quaternion along a twist for a time: the integrator of the simulation. */
static void advance(const double position[3], const double quaternion[4], const double twist[6], double h,
                    ss_body *body)
{
    for (int i = 0; i < 3; i++) body->position[i] = position[i] + h * twist[i];
    ss_quat turned = ss_quat_integrate(ss_quat_load(quaternion), ss_vec3_load(twist + 3), h);
    ss_quat_store(turned, body->quaternion);
}

/* ---- Newton's iteration on positions ---------------------------------------------------------------- */

/* h > 0: velocities are changed, and the poses are those they lead to. h = 0: the poses themselves are. */
typedef struct correction {
    ss_stabiliser *stabiliser;
    ss_world *world;
    double h;
    double slow; /* an iteration that leaves more than this share of the error asks for a new linearisation */
    /* at the poses that the velocities lead to; and the joints are factored at those of the start */
    bool stays;
} correction;

static void predict(const correction *c)
{
    for (int m = 0; c->h > 0.0 && m < c->stabiliser->system.member_count; m++) {
        ss_body *body = member_body(c->stabiliser, c->world, m);
        const body_state *start = &c->stabiliser->start[m];
        advance(start->position, start->quaternion, body->velocity, c->h, body);
    }
}

/* Share of the answer that turns no body too far. */
static double safe_share(const ss_stabiliser *stabiliser)
{
    double turn = 0.0;
    for (int m = 0; m < stabiliser->system.member_count; m++)
        turn = fmax(turn, ss_vec3_norm(ss_vec3_load(stabiliser->motion[m] + 3)));
    return turn > largest_turn ? largest_turn / turn : 1.0;
}

static double look(const correction *c)
{
    return ss_joint_system_violations(&c->stabiliser->system, c->world, c->stabiliser->error);
}

/* Simplified Newton: the first linearisation serves until it does not pay any more. Progress is measured
 * in scaled errors, in which metres and radians are alike. On return report->after is the error of the
 * poses as they are. */
static bool iterate(const correction *c, double tolerance, ss_stabilise_report *report, ss_error *err)
{
    ss_stabiliser *stabiliser = c->stabiliser;
    ss_joint_system *system = &stabiliser->system;
    double first = ss_joint_system_size(system, stabiliser->error), size = first;
    bool fresh = !(c->h > 0.0); // where the move goes, G may differ from that of its start
    while (report->iterations < ITERATIONS_MOST) {
        /* One step, cut short where it would turn a body too far. */
        if (!ss_joint_system_answer(system, stabiliser->error, stabiliser->motion, err)) return false;
        double share = safe_share(stabiliser);
        for (int m = 0; m < system->member_count; m++) {
            ss_body *body = member_body(stabiliser, c->world, m);
            const double *motion = stabiliser->motion[m];
            if (!system->members[m].dynamic) continue;
            for (int i = 0; c->h > 0.0 && i < 6; i++) body->velocity[i] += share * motion[i] / c->h;
            if (!(c->h > 0.0)) advance(body->position, body->quaternion, motion, share, body);
        }
        predict(c);

        /* Done, diverged, or stuck: a whole step along a new linearisation that gained nothing. */
        report->iterations++;
        report->after = look(c);
        double left = ss_joint_system_size(system, stabiliser->error);
        report->diverged = !(left <= first);
        if (report->after <= tolerance || !(left <= growth * first)) return true;
        if (fresh && share == 1.0 && left > hopeless * size) return true;

        fresh = left > c->slow * size;
        if (fresh) ss_joint_system_see(system, c->world);
        if (fresh && !ss_joint_system_factor(system, err)) return false;
        size = left;
    }
    return true;
}

/* Room for a pass, and the state before it. The joints have been gathered. */
static bool begin(ss_stabiliser *stabiliser, ss_world *world, ss_stabilise_report *report, ss_error *err)
{
    *report = (ss_stabilise_report){.converged = true};

    int rows = report->rows = stabiliser->system.row_count, members = stabiliser->system.member_count;
    if (rows > stabiliser->row_capacity || members > stabiliser->member_capacity) {
        release_scratch(stabiliser);
        stabiliser->error = ss_allocate((size_t)rows, sizeof *stabiliser->error);
        stabiliser->motion = ss_allocate((size_t)members, sizeof *stabiliser->motion);
        stabiliser->start = ss_allocate((size_t)members, sizeof *stabiliser->start);
        if (!stabiliser->error || !stabiliser->motion || !stabiliser->start)
            return ss_fail(err, SS_ERROR_RESOURCES, "joints: out of memory");
        stabiliser->row_capacity = rows;
        stabiliser->member_capacity = members;
    }

    for (int m = 0; m < members; m++) {
        const ss_body *body = member_body(stabiliser, world, m);
        body_state *state = &stabiliser->start[m];
        memcpy(state->position, body->position, sizeof state->position);
        memcpy(state->quaternion, body->quaternion, sizeof state->quaternion);
        memcpy(state->velocity, body->velocity, sizeof state->velocity);
    }
    return true;
}

static bool correct_positions(const correction *c, double tolerance, ss_stabilise_report *report,
                              ss_error *err)
{
    ss_stabiliser *stabiliser = c->stabiliser;
    if (!begin(stabiliser, c->world, report, err)) return false;
    if (report->rows == 0) return true;
    predict(c);
    report->before = report->after = look(c);
    bool good = true;
    if (!(report->before <= tolerance)) {
        if (!c->stays) { // G and M of the step's start
            put_back_poses(stabiliser, c->world);
            ss_joint_system_see(&stabiliser->system, c->world);
            good = ss_joint_system_factor(&stabiliser->system, err);
            predict(c);
        }
        good = good && iterate(c, tolerance, report, err);
    }
    report->converged = report->after <= tolerance;
    report->diverged = report->diverged && !report->converged;
    if ((c->h > 0.0 && !c->stays) || report->diverged || !good) put_back_poses(stabiliser, c->world);
    if (report->diverged || !good) put_back_velocities(stabiliser, c->world);
    if (c->stays && report->diverged) predict(c);
    return good;
}

bool ss_stabilise_positions(ss_stabiliser *stabiliser, ss_world *world, double tolerance,
                            ss_stabilise_report *report, ss_error *err)
{
    correction poses = {stabiliser, world, .h = 0.0, .slow = 0.1};
    return ss_joint_system_gather(&stabiliser->system, world, err) &&
           correct_positions(&poses, tolerance, report, err);
}

/* More patient: the impulses of a move should act along the G of its start, as long as that gets anywhere. */
bool ss_stabilise_before_move(ss_stabiliser *stabiliser, ss_world *world, double h, double tolerance,
                              ss_stabilise_report *report, ss_error *err)
{
    correction move = {stabiliser, world, .h = h, .slow = 0.3};
    return ss_joint_system_gather(&stabiliser->system, world, err) &&
           correct_positions(&move, tolerance, report, err);
}

/* ---- velocities ------------------------------------------------------------------------------------- */

static bool correct_velocities(ss_stabiliser *stabiliser, ss_world *world, double tolerance,
                               ss_stabilise_report *report, ss_error *err)
{
    if (!begin(stabiliser, world, report, err)) return false;
    if (report->rows == 0) return true;
    ss_joint_system *system = &stabiliser->system;

    /* Sometimes G shows that nothing is to be done, and no factors are needed. */
    ss_joint_system_see(system, world);
    report->before = report->after = ss_joint_system_speed(system, world, NULL, stabiliser->error);
    if (report->after <= tolerance) return true;
    bool good = ss_joint_system_factor(system, err);
    double first = good ? ss_joint_system_size(system, stabiliser->error) : 0.0;

    while (good && !(report->after <= tolerance) && report->iterations < SPEED_ITERATIONS_MOST) {
        report->iterations++;
        good = ss_joint_system_answer(system, stabiliser->error, stabiliser->motion, err);
        for (int m = 0; good && m < system->member_count; m++) {
            ss_body *body = member_body(stabiliser, world, m);
            for (int i = 0; system->members[m].dynamic && i < 6; i++)
                body->velocity[i] += stabiliser->motion[m][i];
        }
        report->after = ss_joint_system_speed(system, world, NULL, stabiliser->error);
    }

    report->converged = report->after <= tolerance;
    report->diverged = !report->converged && !(ss_joint_system_size(system, stabiliser->error) <= first);
    if (report->diverged || !good) put_back_velocities(stabiliser, world);
    return good;
}

bool ss_stabilise_after_move(ss_stabiliser *stabiliser, ss_world *world, double tolerance,
                             ss_stabilise_report *report, ss_error *err)
{
    return ss_joint_system_gather(&stabiliser->system, world, err) &&
           correct_velocities(stabiliser, world, tolerance, report, err);
}

bool ss_stabilise_move(ss_stabiliser *stabiliser, ss_world *world, double h, double tolerance,
                       ss_stabilise_report *report, ss_error *err)
{
    correction move = {stabiliser, world, .h = h, .slow = 0.3, .stays = true};
    return correct_positions(&move, tolerance, report, err) &&
           correct_velocities(stabiliser, world, tolerance, report, err);
}
