/* One step of Bullet 3.24 into a capture (bullet_step.h). */
#include "bullet_step.h"

#include <dlfcn.h>

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* The pools of a solver are protected; this names them, and solver->*&peek::NAME is one. */
struct peek : btSequentialImpulseConstraintSolver {
    using btSequentialImpulseConstraintSolver::m_tmpSolverBodyPool;
    using btSequentialImpulseConstraintSolver::m_tmpSolverContactConstraintPool;
    using btSequentialImpulseConstraintSolver::m_tmpSolverContactFrictionConstraintPool;
    using btSequentialImpulseConstraintSolver::m_tmpSolverContactRollingFrictionConstraintPool;
    using btSequentialImpulseConstraintSolver::m_tmpSolverNonContactConstraintPool;
};

static_assert(sizeof(btScalar) == sizeof(float), "rows are recorded in single precision");

struct ss_bullet_step {
    ss_numbers ids, pieces, scenery; /* live bodies, kinematic bodies, static objects that were described */
    int64_t *seen;                   /* by id of a body: the last step it was in */
    int seen_room;
    int *number; /* of each body of the solver: in the frame, or SS_WORLD */
    int number_room;
    unsigned char *bytes; /* the records of this step: dataset/capture_rows.h */
    size_t used, room;
    int bodies;                     /* in them */
    btDiscreteDynamicsWorld *world; /* the first one that was stepped */
    bool other_world, looking;
    double time;
};

ss_bullet_step *ss_bullet_step_create()
{
    return static_cast<ss_bullet_step *>(ss_allocate(1, sizeof(ss_bullet_step)));
}

void ss_bullet_step_destroy(ss_bullet_step *step)
{
    if (!step) return;
    ss_numbers_free(&step->ids);
    ss_numbers_free(&step->pieces);
    ss_numbers_free(&step->scenery);
    ss_release(step->seen);
    ss_release(step->number);
    ss_release(step->bytes);
    ss_release(step);
}

static void library_name(const char *symbol, char *name, size_t size)
{
    Dl_info info = {};
    void *found = dlsym(RTLD_NEXT, symbol);
    char path[PATH_MAX];
    bool known = found && dladdr(found, &info) && info.dli_fname && realpath(info.dli_fname, path);
    const char *slash = known ? strrchr(path, '/') : nullptr;
    snprintf(name, size, "%s", slash ? slash + 1 : "the Bullet in this program");
}

bool ss_bullet_check_library(const char *symbol, ss_error *err)
{
    char name[256], expected[32];
    library_name(symbol, name, sizeof name);
    snprintf(expected, sizeof expected, ".so.%d.%d", BT_BULLET_VERSION / 100, BT_BULLET_VERSION % 100);
    const char *end = strstr(name, expected);
    bool same = end && end[strlen(expected)] == '\0';
    bool precise = strstr(name, "-float64") != nullptr;
    if (same && precise == (sizeof(btScalar) == sizeof(double))) return true;
    return ss_fail(err, SS_ERROR_INPUT,
                   "%s is not the Bullet that this recorder was built for: it needs version %d.%d in %s "
                   "precision, as a shared library",
                   name, BT_BULLET_VERSION / 100, BT_BULLET_VERSION % 100,
                   sizeof(btScalar) == sizeof(double) ? "double" : "single");
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

static void put(const btVector3 &from, double *to)
{
    for (int i = 0; i < 3; i++) to[i] = double(from[i]);
}

static void put(const btQuaternion &from, double *to)
{
    const double q[4] = {double(from.w()), double(from.x()), double(from.y()), double(from.z())};
    double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) to[i] = q[i] / length; // single precision is not unit length to 1e-6
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

/* The turn of the z axis to axis `up` of Bullet. */
static btQuaternion from_z(int up)
{
    if (up == 0) return btQuaternion(btScalar(0), btScalar(M_SQRT1_2), btScalar(0), btScalar(M_SQRT1_2));
    if (up == 1) return btQuaternion(btScalar(-M_SQRT1_2), btScalar(0), btScalar(0), btScalar(M_SQRT1_2));
    return btQuaternion(0, 0, 0, 1);
}

static bool describe(ss_sink *sink, const btCollisionShape *shape, const btTransform &place, int id,
                     int piece)
{
    ss_stored_shape stored = {};
    stored.id = id;
    stored.scenery = piece;
    ss_shape &to = stored.shape;
    btTransform at = place;
    btVector3 low, high;
    switch (shape->getShapeType()) {
    case SPHERE_SHAPE_PROXYTYPE:
        to.kind = SS_SPHERE;
        to.size[0] = double(static_cast<const btSphereShape *>(shape)->getRadius());
        break;
    case CAPSULE_SHAPE_PROXYTYPE: {
        auto capsule = static_cast<const btCapsuleShape *>(shape);
        to.kind = SS_CAPSULE;
        to.size[0] = double(capsule->getRadius());
        to.size[1] = 2.0 * double(capsule->getHalfHeight());
        at.setRotation(at.getRotation() * from_z(capsule->getUpAxis()));
        break;
    }
    case CYLINDER_SHAPE_PROXYTYPE: {
        auto cylinder = static_cast<const btCylinderShape *>(shape);
        btVector3 half = cylinder->getHalfExtentsWithMargin();
        int up = cylinder->getUpAxis();
        to.kind = SS_CYLINDER;
        to.size[0] = double(half[(up + 1) % 3]);
        to.size[1] = 2.0 * double(half[up]);
        at.setRotation(at.getRotation() * from_z(up));
        break;
    }
    case STATIC_PLANE_PROXYTYPE: {
        auto plane = static_cast<const btStaticPlaneShape *>(shape);
        btVector3 n = plane->getPlaneNormal();
        to.kind = SS_PLANE;
        btScalar w = btSqrt(btMax(btScalar(0), (1 + n.z()) / 2));
        btQuaternion turn = w > btScalar(1e-4) ? btQuaternion(-n.y() / (2 * w), n.x() / (2 * w), 0, w)
                                               : btQuaternion(1, 0, 0, 0);
        at = place * btTransform(turn, n * plane->getPlaneConstant());
        break;
    }
    case COMPOUND_SHAPE_PROXYTYPE: {
        auto compound = static_cast<const btCompoundShape *>(shape);
        for (int i = 0; i < compound->getNumChildShapes(); i++)
            if (!describe(sink, compound->getChildShape(i), place * compound->getChildTransform(i), id,
                          piece))
                return false;
        return true;
    }
    default: // a box, or the box around anything else
        shape->getAabb(btTransform::getIdentity(), low, high);
        to.kind = SS_BOX;
        put(high - low, to.size);
        at = place * btTransform(btQuaternion(0, 0, 0, 1), (high + low) * btScalar(0.5));
        if (!std::isfinite(to.size[0]) || to.size[0] > 1e6) return true; // without bounds
        break;
    }
    put(at.getOrigin(), to.position);
    put(at.getRotation(), to.quaternion);
    return sink->shape(sink, &stored);
}

/* ---- records ---------------------------------------------------------------------------------------- */

/* A larger array for what `old` holds; NULL: out of memory, and `old` is as it was. */
static void *enlarge(void *old, size_t used, size_t room)
{
    void *grown = ss_allocate(room, 1);
    if (!grown) return nullptr;
    if (used) memcpy(grown, old, used);
    ss_release(old);
    return grown;
}

static bool have_room(ss_bullet_step *step, size_t more)
{
    if (more <= step->room - step->used) return true;
    size_t room = 2 * (step->used + more) + 4096;
    void *grown = enlarge(step->bytes, step->used, room);
    if (!grown) return false;
    step->bytes = static_cast<unsigned char *>(grown);
    step->room = room;
    return true;
}

/* Room was asked for before. */
template <class Record> static Record *add(ss_bullet_step *step)
{
    auto record = reinterpret_cast<Record *>(step->bytes + step->used);
    step->used += sizeof(Record);
    return record;
}

static void copy(const btVector3 &from, float *to)
{
    memcpy(to, static_cast<const btScalar *>(from), 3 * sizeof *to);
}

static void copy(const btMatrix3x3 &from, float *to)
{
    for (int i = 0; i < 3; i++) copy(from[i], to + 3 * i);
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

static bool note_once(ss_sink *sink, bool &said, const char *text)
{
    if (said) return true;
    said = true;
    return sink->note(sink, text);
}

/* Its number in the frame; velocities are the caller's. -1: out of memory. */
static int add_body(ss_bullet_step *step, ss_sink *sink, const btRigidBody *body, ss_rows_body **added)
{
    bool fresh;
    int id = ss_number_of(&step->ids, body, &fresh);
    if (id == 0 || !have_room(step, sizeof(ss_rows_body))) return -1;
    if (id >= step->seen_room) {
        int room = 2 * id + 64;
        void *grown = enlarge(step->seen, size_t(step->seen_room) * sizeof *step->seen,
                              size_t(room) * sizeof *step->seen);
        if (!grown) return -1;
        step->seen = static_cast<int64_t *>(grown);
        step->seen_room = room;
    }
    step->seen[id] = sink->steps;
    if (fresh && !describe(sink, body->getCollisionShape(), btTransform::getIdentity(), id, -1)) return -1;
    auto record = add<ss_rows_body>(step);
    const btVector3 one(1, 1, 1);
    record->kind = SS_ROWS_BODY;
    record->id = id;
    record->flags = body->getLinearFactor() == one && body->getAngularFactor() == one ? 0 : SS_ROWS_HELD;
    record->inverse_mass = body->getInvMass();
    copy(body->getWorldTransform().getOrigin(), record->position);
    copy(body->getWorldTransform().getBasis(), record->rotation);
    copy(body->getInvInertiaTensorWorld(), record->inverse_inertia);
    *added = record;
    return step->bodies++;
}

static bool add_solver_bodies(ss_bullet_step *step, ss_sink *sink,
                              const btSequentialImpulseConstraintSolver *solver)
{
    auto &pool = (solver->*&peek::m_tmpSolverBodyPool);
    if (pool.size() > step->number_room) {
        ss_release(step->number);
        step->number = static_cast<int *>(ss_allocate(2 * size_t(pool.size()), sizeof *step->number));
        step->number_room = step->number ? 2 * pool.size() : 0;
        if (!step->number) return false;
    }
    for (int i = 0; i < pool.size(); i++) {
        const btSolverBody &body = pool[i];
        step->number[i] = SS_WORLD; // prescribed: part of the constants of rows
        if (!body.m_originalBody || body.m_invMass.isZero()) continue;
        ss_rows_body *record;
        step->number[i] = add_body(step, sink, body.m_originalBody, &record);
        if (step->number[i] < 0) return false;
        copy(body.m_linearVelocity, record->velocity);
        copy(body.m_angularVelocity, record->velocity + 3);
        copy(body.m_externalForceImpulse, record->push);
        copy(body.m_externalTorqueImpulse, record->push + 3);
        copy(body.getDeltaLinearVelocity(), record->change);
        copy(body.getDeltaAngularVelocity(), record->change + 3);
    }
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static bool works(const btSolverConstraint &row)
{
    return row.m_jacDiagABInv > 0;
}

/* Rows `first` to `end` of one constraint. */
static bool add_joint(ss_bullet_step *step, const btSequentialImpulseConstraintSolver *solver, int first,
                      int end)
{
    auto &rows = (solver->*&peek::m_tmpSolverNonContactConstraintPool);
    int a = step->number[rows[first].m_solverBodyIdA], b = step->number[rows[first].m_solverBodyIdB],
        count = 0;
    for (int i = first; i < end; i++) count += works(rows[i]);
    if (count == 0 || (a < 0 && b < 0)) return true;
    if (!have_room(step, sizeof(ss_rows_joint) + size_t(count) * sizeof(ss_rows_joint_row))) return false;
    *add<ss_rows_joint>(step) = {SS_ROWS_JOINT, count, a, b};
    for (int i = first; i < end; i++) {
        const btSolverConstraint &row = rows[i];
        if (!works(row)) continue;
        auto to = add<ss_rows_joint_row>(step);
        copy(row.m_contactNormal1, to->jacobian);
        copy(row.m_relpos1CrossNormal, to->jacobian + 3);
        copy(row.m_contactNormal2, to->jacobian + 6);
        copy(row.m_relpos2CrossNormal, to->jacobian + 9);
        to->impulse = btScalar(row.m_appliedImpulse);
        to->D = row.m_jacDiagABInv;
        to->rhs = row.m_rhs;
        to->cfm = row.m_cfm;
        to->lower = row.m_lowerLimit;
        to->upper = row.m_upperLimit;
    }
    return true;
}

/* Four floats at once where the record has room behind the three; what is too much is written over next. */
static void copy_4(const btVector3 &from, float *to)
{
    memcpy(to, static_cast<const btScalar *>(from), 4 * sizeof *to);
}

static void fill(ss_rows_contact_row *to, const btSolverConstraint &row, bool first)
{
    if (first) // a body that does not move has no direction
        copy_4(row.m_contactNormal1, to->direction);
    else
        copy_4(-row.m_contactNormal2, to->direction);
    copy_4(row.m_relpos1CrossNormal, to->turn_a);
    copy_4(row.m_relpos2CrossNormal, to->turn_b);
    to->impulse = btScalar(row.m_appliedImpulse);
    to->friction = row.m_friction;
    to->D = row.m_jacDiagABInv;
    to->rhs = row.m_rhs;
    to->cfm = row.m_cfm;
}

/* Contacts: friction rows name their normal row, in ascending order. */
static bool add_contacts(ss_bullet_step *step, const btSequentialImpulseConstraintSolver *solver)
{
    auto &normals = (solver->*&peek::m_tmpSolverContactConstraintPool);
    auto &frictions = (solver->*&peek::m_tmpSolverContactFrictionConstraintPool);
    auto &rollings = (solver->*&peek::m_tmpSolverContactRollingFrictionConstraintPool);
    enum { MOST_ROWS = 6, AHEAD = 6 };
    const int count = normals.size(), friction_count = frictions.size(), rolling_count = rollings.size();
    if (!have_room(step, size_t(count) * (sizeof(ss_rows_contact) + MOST_ROWS * sizeof(ss_rows_contact_row))))
        return false;
    unsigned char *at = step->bytes + step->used;
    for (int i = 0, f = 0, r = 0; i < count; i++) {
        // Points of contacts are anywhere in memory: they are asked for some contacts ahead.
        if (i + AHEAD < count) {
            auto ahead = static_cast<const char *>(normals[i + AHEAD].m_originalContactPoint);
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + 64);
        }
        const btSolverConstraint &normal = normals[i];
        int a = step->number[normal.m_solverBodyIdA], b = step->number[normal.m_solverBodyIdB];
        bool left_out = !works(normal) || (a < 0 && b < 0), first = !normal.m_contactNormal1.isZero();
        auto &point = *static_cast<const btManifoldPoint *>(normal.m_originalContactPoint);
        auto contact = reinterpret_cast<ss_rows_contact *>(at);
        auto row = reinterpret_cast<ss_rows_contact_row *>(at + sizeof *contact);
        int friction = 0, rolling = 0;
        fill(row++, normal, first);
        for (; f < friction_count && frictions[f].m_frictionIndex == i; f++)
            if (friction < 2) fill(row++, frictions[f], first), friction++;
        for (; r < rolling_count && rollings[r].m_frictionIndex == i; r++)
            if (rolling < 3 && rollings[r].m_friction > 0 && works(rollings[r]))
                fill(row++, rollings[r], true), rolling++;
        contact->kind = SS_ROWS_CONTACT;
        contact->frictions = friction;
        contact->rollings = rolling;
        contact->a = a;
        contact->b = b;
        copy_4(point.getPositionWorldOnA(), contact->on_a);
        copy_4(point.getPositionWorldOnB(), contact->on_b);
        contact->gap = point.getDistance();
        if (!left_out) at = reinterpret_cast<unsigned char *>(row);
    }
    step->used = size_t(at - step->bytes);
    return true;
}

/* ---- begin, islands, end ---------------------------------------------------------------------------- */

static bool say_hello(ss_sink *sink, btDiscreteDynamicsWorld *world, const btContactSolverInfo &info)
{
    char toolkit[64], description[300];
    double gravity[3];
    put(world->getGravity(), gravity);
    snprintf(toolkit, sizeof toolkit, "Bullet %d.%d, %s precision", BT_BULLET_VERSION / 100,
             BT_BULLET_VERSION % 100, sizeof(btScalar) == sizeof(double) ? "double" : "single");
    snprintf(
        description, sizeof description,
        "%d iterations, ERP %g (contacts %g), CFM %g, split impulses %s, %s friction direction, warm starting %s",
        info.m_numIterations, double(info.m_erp), double(info.m_erp2), double(info.m_globalCfm),
        info.m_splitImpulse ? "on" : "off",
        info.m_solverMode & SOLVER_USE_2_FRICTION_DIRECTIONS ? "two" : "one",
        info.m_solverMode & SOLVER_USE_WARMSTARTING ? "on" : "off");
    sink->begun = true;
    return sink->begin(sink, gravity, toolkit, description);
}

bool ss_bullet_begin(ss_bullet_step *step, ss_sink *sink, btDiscreteDynamicsWorld *world,
                     const btContactSolverInfo &info)
{
    step->looking = false;
    if (!step->world) step->world = world;
    if (world != step->world)
        return note_once(sink, step->other_world,
                         "the program steps several worlds; only the first one is recorded");
    double h = double(info.m_timeStep), time = step->time;
    step->time += h;
    if (!ss_sink_wants(sink)) return true;
    if (!sink->begun && !say_hello(sink, world, info)) return false;
    const char *name = "sequential_impulse";
    switch (world->getConstraintSolver()->getSolverType()) {
    case BT_MLCP_SOLVER:
        name = "MLCP";
        break;
    case BT_NNCG_SOLVER:
        name = "NNCG";
        break;
    default:
        break;
    }
    step->used = 0;
    step->bodies = 0;
    if (!have_room(step, sizeof(ss_rows_head))) return false;
    auto head = add<ss_rows_head>(step);
    *head = {};
    head->time = time;
    head->h = h;
    head->gamma = std::fmin(std::fmax(double(info.m_erp2), 0.0), 1.0);
    head->joint_gamma = std::fmin(std::fmax(double(info.m_erp), 0.0), 1.0);
    head->iterations = info.m_numIterations;
    strcat(strcpy(head->solver, "Bullet_"), name);
    step->looking = true;
    return true;
}

bool ss_bullet_island(ss_bullet_step *step, ss_sink *sink, const btSequentialImpulseConstraintSolver *of)
{
    if (!step->looking) return true;
    const btSequentialImpulseConstraintSolver *solver = of;
    if (!add_solver_bodies(step, sink, solver)) return false;

    // Joints: consecutive rows of one constraint.
    auto &joints = (solver->*&peek::m_tmpSolverNonContactConstraintPool);
    for (int first = 0, end; first < joints.size(); first = end) {
        for (end = first + 1; end < joints.size(); end++)
            if (joints[end].m_originalContactPoint != joints[first].m_originalContactPoint) break;
        if (!add_joint(step, solver, first, end)) return false;
    }
    return add_contacts(step, solver);
}

bool ss_bullet_end(ss_bullet_step *step, ss_sink *sink)
{
    if (!step->looking) return true;
    step->looking = false;
    const btCollisionObjectArray &objects = step->world->getCollisionObjectArray();
    for (int i = 0; i < objects.size(); i++) {
        const btCollisionObject *object = objects[i];
        const btRigidBody *body = btRigidBody::upcast(object);
        if (body && body->getInvMass() > 0 && !body->isStaticOrKinematicObject()) {
            int id = ss_number_find(&step->ids, body);
            if (id > 0 && step->seen[id] == sink->steps) continue;
            ss_rows_body *record;
            if (add_body(step, sink, body, &record) < 0) return false;
            record->flags |= SS_ROWS_ASLEEP; // no solver has seen it
        } else if (object->isKinematicObject()) {
            bool fresh;
            int piece = ss_number_of(&step->pieces, object, &fresh);
            if (piece == 0 || !have_room(step, sizeof(ss_rows_scenery))) return false;
            auto record = add<ss_rows_scenery>(step);
            record->kind = SS_ROWS_SCENERY;
            record->number = piece - 1;
            copy(object->getWorldTransform().getOrigin(), record->position);
            copy(object->getWorldTransform().getBasis(), record->rotation);
            if (fresh &&
                !describe(sink, object->getCollisionShape(), btTransform::getIdentity(), 0, piece - 1))
                return false;
        } else {
            bool fresh;
            ss_number_of(&step->scenery, object, &fresh);
            if (fresh && !describe(sink, object->getCollisionShape(), object->getWorldTransform(), 0, -1))
                return false;
        }
    }
    return sink->rows(sink, step->bytes, step->used);
}
