/* One step of Bullet 3.24 into a capture (bullet_step.h). */
#include "bullet_step.h"

#include <dlfcn.h>

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* The pools of a solver are protected; this names them. No object of this class ever exists. */
struct peek : btSequentialImpulseConstraintSolver {
    using btSequentialImpulseConstraintSolver::m_tmpSolverBodyPool;
    using btSequentialImpulseConstraintSolver::m_tmpSolverContactConstraintPool;
    using btSequentialImpulseConstraintSolver::m_tmpSolverContactFrictionConstraintPool;
    using btSequentialImpulseConstraintSolver::m_tmpSolverContactRollingFrictionConstraintPool;
    using btSequentialImpulseConstraintSolver::m_tmpSolverNonContactConstraintPool;
};

struct ss_bullet_step {
    ss_numbers ids, pieces, objects; /* live bodies, kinematic bodies, objects that were described */
    ss_numbers here;                 /* bodies of this step: number + 1 of the frame */
    btDiscreteDynamicsWorld *world;  /* the first one that was stepped */
    bool other_world, as_rows, factors, frozen, looking;
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
    ss_numbers_free(&step->objects);
    ss_numbers_free(&step->here);
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

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The inverse of a symmetric matrix in double precision; false: singular. */
static bool invert(const double A[9], double inverse[9])
{
    for (int column = 0; column < 3; column++) {
        double copy[9], b[3] = {0, 0, 0};
        memcpy(copy, A, sizeof copy);
        b[column] = 1.0;
        if (!ss_solve_3(copy, b)) return false;
        for (int i = 0; i < 3; i++) inverse[3 * i + column] = b[i];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            inverse[3 * i + j] = inverse[3 * j + i] = 0.5 * (inverse[3 * i + j] + inverse[3 * j + i]);
    return true;
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

/* ---- bodies ----------------------------------------------------------------------------------------- */

static bool note_once(ss_sink *sink, bool &said, const char *text)
{
    if (said) return true;
    said = true;
    return sink->note(sink, text);
}

/* Mass, inertia and pose; velocities and forces are the caller's. -1: out of memory. */
static int add_body(ss_bullet_step *step, ss_sink *sink, const btRigidBody *body)
{
    ss_capture *c = &sink->capture;
    int id = ss_number_of(&step->ids, body, nullptr), b = ss_capture_body(c, id);
    if (id == 0 || b < 0 || ss_number_of(&step->here, body, nullptr) != b + 1) return -1;
    ss_bodies &to = c->frame.bodies;
    const btTransform &pose = body->getWorldTransform();
    double inverse[9];
    for (int i = 0; i < 9; i++) inverse[i] = double(body->getInvInertiaTensorWorld()[i / 3][i % 3]);
    to.mass[b] = 1.0 / double(body->getInvMass());
    put(pose.getOrigin(), to.position[b]);
    put(pose.getRotation(), to.quaternion[b]);
    memset(to.velocity[b], 0, sizeof to.velocity[b]);
    if (!invert(inverse, to.inertia[b])) {
        // A body that cannot be turned: an inertia that no load of the scene turns noticeably.
        for (int i = 0; i < 9; i++) to.inertia[b][i] = i % 4 == 0 ? 1e9 * to.mass[b] : 0.0;
        if (!note_once(sink, step->frozen,
                       "bodies without inertia, which Bullet does not turn, have a very "
                       "large one in the recording"))
            return -1;
    }
    bool free_to_move =
        body->getLinearFactor() == btVector3(1, 1, 1) && body->getAngularFactor() == btVector3(1, 1, 1);
    if (!free_to_move && !note_once(sink, step->factors,
                                    "linear and angular factors of bodies cannot be expressed in a frame: "
                                    "the balance of such bodies does not hold"))
        return -1;
    bool fresh;
    ss_number_of(&step->objects, body, &fresh);
    return !fresh || describe(sink, body->getCollisionShape(), btTransform::getIdentity(), id, -1) ? b : -1;
}

/* The speed of a row before the solver: J (v + ext). */
static double speed_before(const btSolverBody &A, const btSolverBody &B, const btSolverConstraint &row)
{
    double sum = 0.0;
    const btSolverBody *bodies[2] = {&A, &B};
    const btVector3 *linear[2] = {&row.m_contactNormal1, &row.m_contactNormal2};
    const btVector3 *angular[2] = {&row.m_relpos1CrossNormal, &row.m_relpos2CrossNormal};
    for (int side = 0; side < 2; side++) {
        const btSolverBody &body = *bodies[side];
        if (!body.m_originalBody || body.m_invMass.isZero())
            continue; // prescribed: part of the row's constant
        double v[3], w[3], ev[3], ew[3], l[3], a[3];
        put(body.m_linearVelocity, v), put(body.m_angularVelocity, w);
        put(body.m_externalForceImpulse, ev), put(body.m_externalTorqueImpulse, ew);
        put(*linear[side], l), put(*angular[side], a);
        for (int i = 0; i < 3; i++) v[i] += ev[i], w[i] += ew[i];
        sum += dot(l, v) + dot(a, w);
    }
    return sum;
}

/* J v+ + C x + offset = 0 */
static double offset_of(const btSolverBody &A, const btSolverBody &B, const btSolverConstraint &row)
{
    return -speed_before(A, B, row) - double(row.m_rhs) / double(row.m_jacDiagABInv);
}

static int number_of(const ss_bullet_step *step, const btSolverBody &body)
{
    bool moves = body.m_originalBody && !body.m_invMass.isZero();
    return moves ? ss_number_find(&step->here, body.m_originalBody) - 1 : SS_WORLD;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* Fills row r of the frame; bounds are the caller's. */
static void fill_row(ss_capture *c, int r, const btSolverConstraint &row, int a, int b)
{
    ss_constraints &joints = c->frame.constraints;
    if (a >= 0) put(row.m_contactNormal1, joints.jacobian[r]);
    if (a >= 0) put(row.m_relpos1CrossNormal, joints.jacobian[r] + 3);
    if (b >= 0) put(row.m_contactNormal2, joints.jacobian[r] + 6);
    if (b >= 0) put(row.m_relpos2CrossNormal, joints.jacobian[r] + 9);
    joints.regularization[r] = double(row.m_cfm) / double(row.m_jacDiagABInv);
    c->answer.row_impulse[r] = double(btScalar(row.m_appliedImpulse));
}

static bool works(const btSolverConstraint &row)
{
    return double(row.m_jacDiagABInv) > 0.0;
}

/* An impulse bound as a force; Bullet's infinities are large numbers. */
static double bound(double impulse, double h)
{
    return std::fabs(impulse) >= 1e9 ? std::copysign(INFINITY, impulse) : impulse / h;
}

static bool add_joint(ss_bullet_step *step, ss_sink *sink, const peek *solver, int first, int end, double erp)
{
    ss_capture *c = &sink->capture;
    auto &rows = solver->m_tmpSolverNonContactConstraintPool;
    const btSolverBody &A = solver->m_tmpSolverBodyPool[rows[first].m_solverBodyIdA],
                       &B = solver->m_tmpSolverBodyPool[rows[first].m_solverBodyIdB];
    int a = number_of(step, A), b = number_of(step, B), count = 0;
    for (int i = first; i < end; i++) count += works(rows[i]);
    if (count == 0 || (a < 0 && b < 0)) return true;
    if (ss_capture_joint(c, a, b, count) < 0) return false;
    ss_constraints &joints = c->frame.constraints;
    double h = c->frame.h;
    int r = joints.row_count - count;
    for (int i = first; i < end; i++) {
        const btSolverConstraint &row = rows[i];
        if (!works(row)) continue;
        fill_row(c, r, row, a, b);
        double lo = bound(double(row.m_lowerLimit), h), hi = bound(double(row.m_upperLimit), h),
               offset = offset_of(A, B, row);
        joints.bounds[r][0] = lo;
        joints.bounds[r][1] = hi;
        // An equation or a stop corrects an error; a motor has a speed, and so has a stop that is not reached.
        bool driven = std::isfinite(lo) && std::isfinite(hi);
        bool open = (lo >= 0.0 && offset > 0.0) || (hi <= 0.0 && offset < 0.0);
        if (driven || open || erp <= 0.0)
            joints.time_derivative[r] = offset;
        else
            joints.violation[r] = offset * h / erp;
        r++;
    }
    return true;
}

/* The gap term of gap_term=stabilised without slop. */
static double gap_term(double gap, double gamma, double h)
{
    return gap > 0.0 ? gap / h : gamma * gap / h;
}

/* Rows of one contact: the normal, friction, rolling and spinning. */
struct contact_rows {
    const btSolverConstraint *normal, *friction[2], *rolling[3];
    int frictions, rollings;
};

static bool add_contact_as_rows(ss_bullet_step *step, ss_sink *sink, const contact_rows &rows,
                                const btSolverBody &A, const btSolverBody &B)
{
    ss_capture *c = &sink->capture;
    int a = number_of(step, A), b = number_of(step, B);
    const btSolverConstraint *all[6] = {rows.normal};
    int count = 1;
    for (int i = 0; i < rows.frictions; i++) all[count++] = rows.friction[i];
    for (int i = 0; i < rows.rollings; i++) all[count++] = rows.rolling[i];
    if (!note_once(sink, step->as_rows,
                   "contacts with rolling or anisotropic friction are recorded as joints"))
        return false;
    if (ss_capture_joint(c, a, b, count) < 0) return false;
    ss_constraints &joints = c->frame.constraints;
    int first = joints.row_count - count;
    joints.bounds[first][0] = 0.0;
    for (int i = 0; i < count; i++) {
        fill_row(c, first + i, *all[i], a, b);
        joints.time_derivative[first + i] = offset_of(A, B, *all[i]);
        if (i > 0) joints.friction[first + i] = double(all[i]->m_friction);
        if (i > 0) joints.friction_row[first + i] = first;
    }
    return true;
}

static bool add_contact(ss_bullet_step *step, ss_sink *sink, const peek *solver, const contact_rows &rows,
                        const btContactSolverInfo &info)
{
    ss_capture *c = &sink->capture;
    const btSolverConstraint &normal = *rows.normal;
    const btSolverBody &A = solver->m_tmpSolverBodyPool[normal.m_solverBodyIdA],
                       &B = solver->m_tmpSolverBodyPool[normal.m_solverBodyIdB];
    int a = number_of(step, A), b = number_of(step, B);
    if (!works(normal) || (a < 0 && b < 0)) return true;

    // Directions of friction; anisotropic ones are not of unit length.
    double tangent[2][3] = {{0}};
    bool odd = rows.rollings > 0;
    for (int i = 0; i < rows.frictions; i++) {
        const btSolverConstraint &row = *rows.friction[i];
        bool first = !row.m_contactNormal1.isZero();
        put(first ? row.m_contactNormal1 : -row.m_contactNormal2, tangent[i]);
        odd = odd || std::fabs(dot(tangent[i], tangent[i]) - 1.0) > 1e-3 || !works(row);
    }
    if (odd) return add_contact_as_rows(step, sink, rows, A, B);

    auto &point = *static_cast<const btManifoldPoint *>(normal.m_originalContactPoint);
    int k = ss_capture_contact(c, b, a); // the normal points from B to A
    if (k < 0) return false;
    ss_contacts &contacts = c->frame.contacts;
    double h = c->frame.h, *n = contacts.normal[k], *u = contacts.tangent[k];
    put(point.m_normalWorldOnB, n);
    double length = std::sqrt(dot(n, n));
    for (int i = 0; i < 3; i++) n[i] /= length;

    // A tangent in single precision is made a right-angled one in double precision.
    double *chosen = tangent[0],
           unit[3] = {std::fabs(n[0]) < 0.6 ? 1.0 : 0.0, std::fabs(n[0]) < 0.6 ? 0.0 : 1.0, 0};
    if (rows.frictions == 0) chosen = unit;
    double along = dot(chosen, n), size = 0.0;
    for (int i = 0; i < 3; i++) u[i] = chosen[i] - along * n[i];
    size = std::sqrt(dot(u, u));
    for (int i = 0; i < 3; i++) u[i] /= size;
    double v[3] = {n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]};

    double on_A[3], on_B[3];
    put(point.getPositionWorldOnA(), on_A);
    put(point.getPositionWorldOnB(), on_B);
    for (int i = 0; i < 3; i++) {
        contacts.point[k][i] = 0.5 * (on_A[i] + on_B[i]);
        if (b >= 0) contacts.lever_arm[k][i] = on_B[i] - c->frame.bodies.position[b][i];
        if (a >= 0) contacts.lever_arm[k][3 + i] = on_A[i] - c->frame.bodies.position[a][i];
    }
    contacts.gap[k] = double(point.getDistance());
    contacts.compliance[k] = double(normal.m_cfm) / double(normal.m_jacDiagABInv);
    c->answer.normal_impulse[k] = double(btScalar(normal.m_appliedImpulse));
    double gamma = std::fmin(std::fmax(double(info.m_erp2), 0.0), 1.0);
    double surface[3] = {offset_of(A, B, normal) - gap_term(contacts.gap[k], gamma, h), 0.0, 0.0};
    for (int i = 0; i < rows.frictions; i++) {
        const btSolverConstraint &row = *rows.friction[i];
        double sign = i == 1 && dot(tangent[1], v) < 0.0 ? -1.0 : 1.0,
               x = double(btScalar(row.m_appliedImpulse));
        contacts.mu[k][i] = double(row.m_friction);
        surface[1 + i] = sign * offset_of(A, B, row);
        for (int j = 0; j < 3; j++) c->answer.friction_impulse[k][j] += sign * x * (i ? v[j] : u[j]);
    }
    for (int i = 0; i < 3; i++)
        contacts.surface_velocity[k][i] = surface[0] * n[i] + surface[1] * u[i] + surface[2] * v[i];
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
    ss_capture *c = &sink->capture;
    ss_capture_begin(c, time, h);
    c->has_arms = true;
    ss_numbers_clear(&step->here);
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
    snprintf(c->solver, sizeof c->solver, "Bullet_%s", name);
    snprintf(c->formulation, sizeof c->formulation, "box");
    snprintf(c->with, sizeof c->with,
             "tangents=frame gap_term=stabilised gamma=%.9g joint_term=stabilised joint_gamma=%.9g",
             std::fmin(std::fmax(double(info.m_erp2), 0.0), 1.0),
             std::fmin(std::fmax(double(info.m_erp), 0.0), 1.0));
    c->iterations = info.m_numIterations;
    step->looking = true;
    return true;
}

bool ss_bullet_island(ss_bullet_step *step, ss_sink *sink, const btSequentialImpulseConstraintSolver *of,
                      const btContactSolverInfo &info)
{
    if (!step->looking) return true;
    const peek *solver = static_cast<const peek *>(of);
    ss_capture *c = &sink->capture;
    double h = c->frame.h;

    // Bodies: what the solver started from, what acted on them, and what it made of them.
    for (int i = 0; i < solver->m_tmpSolverBodyPool.size(); i++) {
        const btSolverBody &body = solver->m_tmpSolverBodyPool[i];
        if (!body.m_originalBody || body.m_invMass.isZero()) continue;
        int b = add_body(step, sink, body.m_originalBody);
        if (b < 0) return false;
        double v[6], ext[6], change[6];
        put(body.m_linearVelocity, v), put(body.m_angularVelocity, v + 3);
        put(body.m_externalForceImpulse, ext), put(body.m_externalTorqueImpulse, ext + 3);
        put(body.getDeltaLinearVelocity(), change), put(body.getDeltaAngularVelocity(), change + 3);
        ss_bodies &to = c->frame.bodies;
        for (int k = 0; k < 6; k++) {
            to.velocity[b][k] = v[k];
            c->answer.velocity[b][k] = v[k] + ext[k] + change[k];
        }
        for (int k = 0; k < 3; k++) {
            to.force[b][k] = to.mass[b] * ext[k] / h;
            to.force[b][3 + k] = dot(to.inertia[b] + 3 * k, ext + 3) / h;
        }
    }

    // Joints: consecutive rows of one constraint.
    auto &joints = solver->m_tmpSolverNonContactConstraintPool;
    double erp = std::fmin(std::fmax(double(info.m_erp), 0.0), 1.0);
    for (int first = 0, end; first < joints.size(); first = end) {
        for (end = first + 1; end < joints.size(); end++)
            if (joints[end].m_originalContactPoint != joints[first].m_originalContactPoint) break;
        if (!add_joint(step, sink, solver, first, end, erp)) return false;
    }

    // Contacts: friction rows name their normal row, in ascending order.
    auto &normals = solver->m_tmpSolverContactConstraintPool;
    auto &frictions = solver->m_tmpSolverContactFrictionConstraintPool;
    auto &rollings = solver->m_tmpSolverContactRollingFrictionConstraintPool;
    for (int i = 0, f = 0, r = 0; i < normals.size(); i++) {
        contact_rows rows = {};
        rows.normal = &normals[i];
        for (; f < frictions.size() && frictions[f].m_frictionIndex == i; f++)
            if (rows.frictions < 2) rows.friction[rows.frictions++] = &frictions[f];
        for (; r < rollings.size() && rollings[r].m_frictionIndex == i; r++)
            if (rows.rollings < 3 && rollings[r].m_friction > 0 && works(rollings[r]))
                rows.rolling[rows.rollings++] = &rollings[r];
        if (!add_contact(step, sink, solver, rows, info)) return false;
    }
    return true;
}

bool ss_bullet_end(ss_bullet_step *step, ss_sink *sink)
{
    if (!step->looking) return true;
    step->looking = false;
    ss_capture *c = &sink->capture;
    const btCollisionObjectArray &objects = step->world->getCollisionObjectArray();
    for (int i = 0; i < objects.size(); i++) {
        const btCollisionObject *object = objects[i];
        const btRigidBody *body = btRigidBody::upcast(object);
        if (body && body->getInvMass() > 0 && !body->isStaticOrKinematicObject()) {
            if (ss_number_find(&step->here, body)) continue;
            int b = add_body(step, sink, body); // asleep: no solver has seen it
            if (b < 0) return false;
            c->frame.bodies.state[b] = 0;
        } else if (object->isKinematicObject()) {
            int piece = ss_number_of(&step->pieces, object, nullptr);
            double position[3], quaternion[4];
            put(object->getWorldTransform().getOrigin(), position);
            put(object->getWorldTransform().getRotation(), quaternion);
            while (c->scenery.count < piece)
                if (ss_capture_scenery(c, position, quaternion) < 0) return false;
            memcpy(c->scenery.position[piece - 1], position, sizeof position);
            memcpy(c->scenery.quaternion[piece - 1], quaternion, sizeof quaternion);
            bool fresh;
            ss_number_of(&step->objects, object, &fresh);
            if (fresh &&
                !describe(sink, object->getCollisionShape(), btTransform::getIdentity(), 0, piece - 1))
                return false;
        } else {
            bool fresh;
            ss_number_of(&step->objects, object, &fresh);
            if (fresh && !describe(sink, object->getCollisionShape(), object->getWorldTransform(), 0, -1))
                return false;
        }
    }
    return sink->step(sink);
}
