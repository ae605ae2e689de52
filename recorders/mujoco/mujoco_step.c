/* One step of MuJoCo 2.2 into a capture (mujoco_step.h). */
#include "mujoco_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A rigid body of the frame: a body of the model and all that are welded to it. */
typedef struct rigid {
    int top, parent;     /* body of the model; number of the parent in the frame, or SS_WORLD */
    int dofs, first;     /* of its joint */
    double S[6][6];      /* column k: twist of the coordinate k against the parent, at the centre of mass */
    double P[6][6];      /* row k: the speed of coordinate k is P_k . relative twist */
    double arm[3];       /* from the parent's centre of mass to this one's */
    int first_row, rows; /* of its joint in the frame */
} rigid;

struct ss_mujoco_step {
    bool as_rows, integrator, several, tendons, looking;
    const mjModel *model;
    const mjData *data;
    double time; /* before the step */
    double *qvel;
    int *number; /* of each body of the model: rigid body of the frame, SS_WORLD */
    rigid *rigid;
    int count;
    double (*J)[6];      /* of rigid body b and coordinate k: J[b nv + k] */
    double *tau;         /* joint forces that are left */
    double *row;         /* one row of efc_J */
    int *path;           /* coordinates that move a body, from the root */
    double (*wrench)[6]; /* impulses on each rigid body that its joint must carry */
    int nv;
};

ss_mujoco_step *ss_mujoco_step_create(bool rows, ss_error *err)
{
    if (mj_version() != mjVERSION_HEADER) {
        ss_fail(err, SS_ERROR_INPUT,
                "MuJoCo %s is not the one that this recorder was built for, which is %d.%d.%d",
                mj_versionString(), mjVERSION_HEADER / 100, mjVERSION_HEADER / 10 % 10,
                mjVERSION_HEADER % 10);
        return NULL;
    }
    ss_mujoco_step *step = ss_allocate(1, sizeof *step);
    if (!step) ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (step) step->as_rows = rows;
    return step;
}

static void forget(ss_mujoco_step *step)
{
    void *arrays[] = {step->qvel, step->number, step->rigid,  step->J,
                      step->tau,  step->row,    step->wrench, step->path};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) ss_release(arrays[i]);
}

void ss_mujoco_step_destroy(ss_mujoco_step *step)
{
    if (step) forget(step);
    ss_release(step);
}

/* ---- algebra ---------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Makes v (6 numbers) orthogonal to `count` orthonormal ones and of unit length; returns its old length. */
static double orthogonalise(double v[6], double basis[6][6], int count)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            double along = dot(v, basis[k], 6);
            for (int i = 0; i < 6; i++) v[i] -= along * basis[k][i];
        }
    double length = sqrt(dot(v, v, 6));
    for (int i = 0; length > 0.0 && i < 6; i++) v[i] /= length;
    return length;
}

/* The row of a frame for a covector c on the relative twist of child and parent. */
static void relative_row(const rigid *r, const double c[6], double jacobian[12])
{
    double turn[3];
    cross(r->arm, c, turn);
    for (int i = 0; i < 3; i++) {
        jacobian[i] = r->parent >= 0 ? -c[i] : 0.0;
        jacobian[3 + i] = r->parent >= 0 ? -turn[i] - c[3 + i] : 0.0;
        jacobian[6 + i] = c[i];
        jacobian[9 + i] = c[3 + i];
    }
}

/* Numbers x with sum of x_k rows_k = target, rows of length n; false: there are none. */
static bool combine(int count, int n, const double *rows, const double *target, double *x, double *scratch)
{
    enum { MOST = 12 };
    double U[MOST][MOST] = {{0}}, *Q = scratch;
    bool independent[MOST];
    for (int r = 0; r < count; r++) {
        double *q = Q + (size_t)r * (size_t)n,
               length = sqrt(dot(rows + (size_t)r * (size_t)n, rows + (size_t)r * (size_t)n, n));
        memcpy(q, rows + (size_t)r * (size_t)n, (size_t)n * sizeof *q);
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < r; k++) {
                if (!independent[k]) continue;
                double along = dot(Q + (size_t)k * (size_t)n, q, n);
                for (int i = 0; i < n; i++) q[i] -= along * Q[(size_t)k * (size_t)n + (size_t)i];
                U[k][r] += along;
            }
        U[r][r] = sqrt(dot(q, q, n));
        independent[r] = U[r][r] > 1e-9 * length && length > 0.0;
        for (int i = 0; independent[r] && i < n; i++) q[i] /= U[r][r];
    }
    double left = dot(target, target, n), size = left;
    for (int r = count - 1; r >= 0; r--) {
        x[r] = 0.0;
        if (!independent[r]) continue;
        double along = dot(Q + (size_t)r * (size_t)n, target, n), sum = along;
        left -= along * along;
        for (int k = r + 1; k < count; k++) sum -= U[r][k] * x[k];
        x[r] = sum / U[r][r];
    }
    return left <= 1e-16 * size;
}

/* ---- the model -------------------------------------------------------------------------------------- */

/* Everything that is as large as the model, once per model. */
static bool learn(ss_mujoco_step *step, const mjModel *m, const mjData *d)
{
    if (step->model == m && step->data == d) return true;
    forget(step);
    size_t nb = (size_t)m->nbody, nv = (size_t)m->nv + 1;
    step->qvel = ss_allocate(nv, sizeof *step->qvel);
    step->number = ss_allocate(nb, sizeof *step->number);
    step->rigid = ss_allocate(nb, sizeof *step->rigid);
    step->J = ss_allocate(nb * nv, sizeof *step->J);
    step->tau = ss_allocate(nv, sizeof *step->tau);
    step->row = ss_allocate(40 * nv, sizeof *step->row);
    step->wrench = ss_allocate(nb, sizeof *step->wrench);
    step->path = ss_allocate(nv, sizeof *step->path);
    if (!step->path || !step->qvel || !step->number || !step->rigid || !step->J || !step->tau || !step->row ||
        !step->wrench)
        return false;
    step->model = m;
    step->data = d;
    step->nv = m->nv;
    step->count = 0;
    for (int b = 0; b < m->nbody; b++) {
        int top = m->body_weldid[b];
        if (top == 0)
            step->number[b] = SS_WORLD;
        else if (top != b)
            step->number[b] = step->number[top]; // parents come first
        else {
            rigid *r = &step->rigid[step->number[b] = step->count++];
            *r = (rigid){.top = b, .dofs = m->body_dofnum[b], .first = m->body_dofadr[b]};
            r->parent = step->number[m->body_parentid[b]];
        }
    }
    return true;
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* The last coordinate of a body's joint. Those that move the body are this one, its parent, and so on: only
 * these columns of its Jacobian are ever written, the others stay zero. */
static int last_dof(const rigid *r)
{
    return r->first + r->dofs - 1;
}

static bool add_bodies(ss_mujoco_step *step, ss_capture *c, const mjModel *m, const mjData *d)
{
    size_t nv = (size_t)step->nv;
    for (int b = 0; b < step->count; b++)
        if (ss_capture_body(c, b + 1) < 0) return false;
    ss_bodies *to = &c->frame.bodies;
    for (int b = 0; b < step->count; b++) {
        to->mass[b] = 0.0;
        memset(to->position[b], 0, sizeof to->position[b]);
        memset(to->inertia[b], 0, sizeof to->inertia[b]);
        memset(to->velocity[b], 0, sizeof to->velocity[b]);
        memcpy(to->quaternion[b], d->xquat + 4 * step->rigid[b].top, sizeof to->quaternion[b]);
    }
    for (int i = 1; i < m->nbody; i++) {
        int b = step->number[i];
        if (b < 0) continue;
        to->mass[b] += m->body_mass[i];
        for (int k = 0; k < 3; k++) to->position[b][k] += m->body_mass[i] * d->xipos[3 * i + k];
    }
    for (int b = 0; b < step->count; b++)
        for (int k = 0; k < 3; k++) to->position[b][k] /= to->mass[b];

    // Inertia about the common centre of mass, and loads on the welded parts.
    for (int i = 1; i < m->nbody; i++) {
        int b = step->number[i];
        if (b < 0) continue;
        double local[9] = {0}, world[9], r[3], turn[3];
        for (int k = 0; k < 3; k++) {
            local[4 * k] = m->body_inertia[3 * i + k];
            r[k] = d->xipos[3 * i + k] - to->position[b][k];
        }
        ss_rotate_tensor(d->ximat + 9 * i, local, world);
        double rr = dot(r, r, 3), kg = m->body_mass[i];
        for (int k = 0; k < 9; k++)
            to->inertia[b][k] += world[k] + kg * ((k % 4 == 0 ? rr : 0.0) - r[k / 3] * r[k % 3]);
        const double *load = d->xfrc_applied + 6 * i;
        cross(r, load, turn);
        for (int k = 0; k < 3; k++) {
            to->force[b][k] += load[k];
            to->force[b][3 + k] += load[3 + k] + turn[k];
        }
    }

    // Jacobians, velocities before and after, gravity and gyroscopic torque.
    bool heavy = !(m->opt.disableflags & mjDSBL_GRAVITY);
    for (int b = 0; b < step->count; b++) {
        // As mj_jac, for the coordinates that move the body only: cdof is (angular, linear) at the root's
        // centre.
        const double *root = d->subtree_com + 3 * m->body_rootid[step->rigid[b].top];
        double(*J)[6] = step->J + (size_t)b * nv, arm[3];
        for (int i = 0; i < 3; i++) arm[i] = to->position[b][i] - root[i];
        for (int k = last_dof(&step->rigid[b]); k >= 0; k = m->dof_parentid[k]) {
            const double *axis = d->cdof + 6 * k;
            double moved[3], before = step->qvel[k], after = before + c->frame.h * d->qacc[k];
            cross(axis, arm, moved);
            for (int i = 0; i < 3; i++) {
                J[k][i] = axis[3 + i] + moved[i];
                J[k][3 + i] = axis[i];
            }
            for (int i = 0; i < 6; i++) {
                to->velocity[b][i] += J[k][i] * before;
                c->answer.velocity[b][i] += J[k][i] * after;
            }
        }
        double momentum[3], torque[3];
        const double *w = to->velocity[b] + 3;
        for (int i = 0; i < 3; i++) momentum[i] = dot(to->inertia[b] + 3 * i, w, 3);
        cross(momentum, w, torque); // -w x I w
        for (int i = 0; i < 3; i++) {
            if (heavy) to->force[b][i] += to->mass[b] * m->opt.gravity[i];
            to->force[b][3 + i] += torque[i];
        }
    }
    return true;
}

/* ---- joints of the trees ---------------------------------------------------------------------------- */

/* P of a free joint, whose coordinates are the velocity of the body's origin and its spin about its own
 * axes R: S = ((1, R x d), (0, R)), so that P = ((1, d x), (0, R')), d from the origin to the centre of
 * mass. */
static void invert_free(rigid *r)
{
    memset(r->P, 0, sizeof r->P);
    for (int k = 0; k < 3; k++) {
        r->P[k][k] = 1.0;
        memcpy(r->P[3 + k] + 3, r->S[3 + k] + 3, 3 * sizeof(double));
    }
    // R x d = columns of S: d x w = -(sum of (R_k x d) (R_k . w))
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) r->P[i][3 + j] -= r->S[3 + k][i] * r->S[3 + k][3 + j];
}

/* The inertia of motors turns with the coordinates of the joint: a soft row for each. */
static bool add_armature(ss_mujoco_step *step, ss_capture *c, const mjModel *m, const mjData *d, int b)
{
    const rigid *r = &step->rigid[b];
    for (int k = 0; k < r->dofs; k++) {
        double armature = m->dof_armature[r->first + k];
        if (armature <= 0.0) continue;
        int j = ss_capture_joint(c, r->parent, b, 1);
        if (j < 0) return false;
        int row = c->frame.constraints.row_count - 1;
        relative_row(r, r->P[k], c->frame.constraints.jacobian[row]);
        c->frame.constraints.regularization[row] = 1.0 / armature;
        c->frame.constraints.time_derivative[row] = -step->qvel[r->first + k];
        c->frame.constraints.holonomic[j] = 0;
        c->frame.constraints.implied[j] = SS_IMPLIED_BY_MASS;
        c->answer.row_impulse[row] = -armature * c->frame.h * d->qacc[r->first + k];
    }
    return true;
}

/* S, P and the bilateral rows of every joint. */
static bool add_trees(ss_mujoco_step *step, ss_capture *c, const mjModel *m, const mjData *d)
{
    for (int b = 0; b < step->count; b++) {
        rigid *r = &step->rigid[b];
        ss_bodies *bodies = &c->frame.bodies;
        double(*J)[6] = step->J + (size_t)b * (size_t)step->nv;
        for (int i = 0; i < 3; i++)
            r->arm[i] = bodies->position[b][i] - (r->parent >= 0 ? bodies->position[r->parent][i] : 0.0);
        r->rows = 0;

        for (int k = 0; k < r->dofs; k++) memcpy(r->S[k], J[r->first + k], sizeof r->S[k]);
        if (r->dofs == 6 && m->jnt_type[m->dof_jntid[r->first]] == mjJNT_FREE) {
            invert_free(r);
            if (!add_armature(step, c, m, d, b)) return false;
            continue;
        }

        // S = Q U with orthonormal Q; P = U^-1 Q'.
        double Q[6][6], U[6][6] = {{0}};
        for (int k = 0; k < r->dofs; k++) {
            memcpy(Q[k], r->S[k], sizeof Q[k]);
            orthogonalise(Q[k], Q, k);
            for (int i = 0; i <= k; i++) U[i][k] = dot(Q[i], r->S[k], 6);
        }
        for (int k = r->dofs - 1; k >= 0; k--)
            for (int i = 0; i < 6; i++) {
                double sum = Q[k][i];
                for (int l = k + 1; l < r->dofs; l++) sum -= U[k][l] * r->P[l][i];
                r->P[k][i] = U[k][k] > 1e-12 ? sum / U[k][k] : 0.0;
            }

        // N: unit vectors, each made orthogonal to S and to those before; the longest ones first.
        int rows = 6 - r->dofs;
        if (rows > 0) {
            int j = ss_capture_joint(c, r->parent, b, rows);
            if (j < 0) return false;
            c->frame.constraints.implied[j] = SS_IMPLIED_BY_T;
            r->rows = rows;
            r->first_row = c->frame.constraints.row_count - rows;
            for (int k = r->dofs; k < 6; k++) {
                double best = -1.0, candidate[6];
                for (int axis = 0; axis < 6; axis++) {
                    double e[6] = {0};
                    e[axis] = 1.0;
                    double length = orthogonalise(e, Q, k);
                    if (length > best) best = length, memcpy(candidate, e, sizeof e);
                }
                memcpy(Q[k], candidate, sizeof candidate);
                relative_row(r, Q[k], c->frame.constraints.jacobian[r->first_row + k - r->dofs]);
            }
        }
        if (!add_armature(step, c, m, d, b)) return false;
    }
    return true;
}

/* Joint forces on the bodies: along S, with the power of tau; the opposite on the parent. */
static void push_joints(ss_mujoco_step *step, ss_capture *c)
{
    for (int b = 0; b < step->count; b++) {
        const rigid *r = &step->rigid[b];
        double w[6] = {0}, turn[3];
        for (int k = 0; k < r->dofs; k++)
            for (int i = 0; i < 6; i++) w[i] += r->P[k][i] * step->tau[r->first + k];
        cross(r->arm, w, turn);
        for (int i = 0; i < 6; i++) c->frame.bodies.force[b][i] += w[i];
        for (int i = 0; r->parent >= 0 && i < 3; i++) {
            c->frame.bodies.force[r->parent][i] -= w[i];
            c->frame.bodies.force[r->parent][3 + i] -= w[3 + i] + turn[i];
        }
    }
}

/* ---- constraints ------------------------------------------------------------------------------------ */

static void read_row(const ss_mujoco_step *step, const mjModel *m, const mjData *d, int i, double *row)
{
    size_t nv = (size_t)step->nv;
    if (!mj_isSparse(m)) {
        memcpy(row, d->efc_J + (size_t)i * nv, nv * sizeof *row);
        return;
    }
    memset(row, 0, nv * sizeof *row);
    int first = d->efc_J_rowadr[i];
    for (int k = 0; k < d->efc_J_rownnz[i]; k++) row[d->efc_J_colind[first + k]] = d->efc_J[first + k];
}

/* The softness, the constant and the answer of a row; its Jacobian and bounds are the caller's. */
static void soften(ss_mujoco_step *step, ss_capture *c, const mjData *d, int i, const double *row, int r)
{
    double offset = -dot(row, step->qvel, step->nv) - c->frame.h * d->efc_aref[i];
    c->frame.constraints.regularization[r] = d->efc_R[i];
    c->frame.constraints.time_derivative[r] = offset;
    c->answer.row_impulse[r] = c->frame.h * d->efc_force[i];
}

/* Limits and friction of a joint, connect and weld. Others become forces: *done stays false. */
static bool add_row(ss_mujoco_step *step, ss_capture *c, const mjModel *m, const mjData *d, int i, bool *done)
{
    double *row = step->row, jacobian[12] = {0};
    int a = SS_WORLD, b = SS_WORLD, id = d->efc_id[i];
    read_row(step, m, d, i, row);
    int type = d->efc_type[i], nv = step->nv;
    if (type == mjCNSTR_LIMIT_JOINT || type == mjCNSTR_FRICTION_DOF) {
        int body = type == mjCNSTR_LIMIT_JOINT ? m->jnt_bodyid[id] : m->dof_bodyid[id];
        const rigid *r = &step->rigid[b = step->number[body]];
        double covector[6] = {0};
        for (int k = 0; k < r->dofs; k++)
            for (int l = 0; l < 6; l++) covector[l] += row[r->first + k] * r->P[k][l];
        a = r->parent;
        relative_row(r, covector, jacobian);
    } else if (type == mjCNSTR_EQUALITY && (m->eq_type[id] == mjEQ_CONNECT || m->eq_type[id] == mjEQ_WELD)) {
        a = step->number[m->eq_obj1id[id]];
        b = step->number[m->eq_obj2id[id]];
        double *rows = step->row + nv, *scratch = rows + 12 * nv;
        int used = 0, of[12];
        for (int side = 0; side < 2; side++) {
            int body = side ? b : a;
            for (int l = 0; body >= 0 && l < 6; l++) {
                for (int k = 0; k < nv; k++)
                    rows[used * nv + k] = step->J[(size_t)body * (size_t)nv + (size_t)k][l];
                of[used++] = 6 * side + l;
            }
        }
        double x[12];
        if (a == b || !combine(used, nv, rows, row, x, scratch)) return true;
        for (int k = 0; k < used; k++) jacobian[of[k]] = x[k];
    } else {
        return true;
    }
    if (a == SS_WORLD && b == SS_WORLD) return true;
    int j = ss_capture_joint(c, a, b, 1);
    if (j < 0) return false;
    int r = c->frame.constraints.row_count - 1;
    memcpy(c->frame.constraints.jacobian[r], jacobian, sizeof jacobian);
    soften(step, c, d, i, row, r);
    if (type == mjCNSTR_LIMIT_JOINT) {
        // joint_gamma=0 leaves a violated limit to the constant; the distance of one ahead counts in full
        double g = c->frame.constraints.violation[r] = d->efc_pos[i];
        c->frame.constraints.bounds[r][0] = 0.0;
        if (g > 0.0) c->frame.constraints.time_derivative[r] -= g / c->frame.h;
    } else if (type == mjCNSTR_FRICTION_DOF) {
        c->frame.constraints.bounds[r][0] = -d->efc_frictionloss[i];
        c->frame.constraints.bounds[r][1] = d->efc_frictionloss[i];
    } else {
        c->frame.constraints.violation[r] = d->efc_pos[i];
    }
    *done = true;
    return true;
}

/* The row of a contact for a direction and an axis in the world: what b does more than a. */
static void contact_row(const ss_capture *c, int a, int b, const double point[3], const double direction[3],
                        const double axis[3], double jacobian[12])
{
    for (int side = 0; side < 2; side++) {
        int body = side ? b : a;
        double sign = side ? 1.0 : -1.0, arm[3], turn[3];
        if (body < 0) {
            memset(jacobian + 6 * side, 0, 6 * sizeof *jacobian);
            continue;
        }
        for (int i = 0; i < 3; i++) arm[i] = point[i] - c->frame.bodies.position[body][i];
        cross(arm, direction, turn);
        for (int i = 0; i < 3; i++) {
            jacobian[6 * side + i] = sign * direction[i];
            jacobian[6 * side + 3 + i] = sign * (turn[i] + axis[i]);
        }
    }
}

/* Edges of the pyramid: normal +- friction_k direction_k, each a limit with its own softness. */
static bool add_edges(ss_mujoco_step *step, ss_capture *c, const mjModel *m, const mjData *d,
                      const mjContact *con, int a, int b)
{
    int count = con->dim == 1 ? 1 : 2 * (con->dim - 1);
    if (ss_capture_joint(c, a, b, count) < 0) return false;
    ss_constraints *joints = &c->frame.constraints;
    int first = joints->row_count - count;
    joints->holonomic[joints->count - 1] = 0;
    for (int e = 0; e < count; e++) {
        double direction[3], axis[3] = {0};
        memcpy(direction, con->frame, sizeof direction);
        int k = e / 2;
        double mu = con->dim == 1 ? 0.0 : (e % 2 ? -1.0 : 1.0) * con->friction[k];
        // tangents, spinning about the normal, rolling about the tangents
        const double *along = k < 2 ? con->frame + 3 * (k + 1) : con->frame + 3 * (k - 2);
        for (int i = 0; i < 3; i++) (k < 2 ? direction : axis)[i] += mu * along[i];
        contact_row(c, a, b, con->pos, direction, axis, joints->jacobian[first + e]);
        joints->bounds[first + e][0] = 0.0;
        read_row(step, m, d, con->efc_address + e, step->row);
        soften(step, c, d, con->efc_address + e, step->row, first + e);
    }
    return true;
}

static bool add_contact(ss_mujoco_step *step, ss_sink *sink, const mjModel *m, const mjData *d, int index)
{
    ss_capture *c = &sink->capture;
    const mjContact *con = &d->contact[index];
    int a = step->number[m->geom_bodyid[con->geom1]], b = step->number[m->geom_bodyid[con->geom2]];
    if (con->efc_address < 0 || (a < 0 && b < 0)) return true;
    bool pyramid = con->dim > 1 && d->efc_type[con->efc_address] == mjCNSTR_CONTACT_PYRAMIDAL;
    if (step->as_rows && (pyramid || con->dim == 1)) return add_edges(step, c, m, d, con, a, b);

    int k = ss_capture_contact(c, a, b);
    if (k < 0) return false;
    ss_contacts *to = &c->frame.contacts;
    double h = c->frame.h, force[6], *n = to->normal[k];
    memcpy(to->point[k], con->pos, sizeof to->point[k]);
    memcpy(n, con->frame, sizeof to->normal[k]);
    memcpy(to->tangent[k], con->frame + 3, sizeof to->tangent[k]);
    to->gap[k] = con->dist;
    if (con->dim >= 3) to->mu[k][0] = con->friction[0], to->mu[k][1] = con->friction[1];
    if (con->dim == 6) to->mu_rolling[k] = fmin(con->friction[3], con->friction[4]);
    if (con->dim >= 4) to->mu_torsion[k] = con->friction[2], to->spin_coupling[k] = SS_SPIN_ELLIPSOID;

    // The normal row: its own, or the mean of the edges of a pyramid.
    int edges = pyramid ? 2 * (con->dim - 1) : 1;
    double aref = 0.0, R = 0.0, jacobian[12], zero[3] = {0}, speed = 0.0;
    for (int e = 0; e < edges; e++) {
        aref += d->efc_aref[con->efc_address + e] / edges;
        R += d->efc_R[con->efc_address + e] / ((double)edges * edges);
    }
    contact_row(c, a, b, con->pos, n, zero, jacobian);
    for (int side = 0; side < 2; side++) {
        int body = side ? b : a;
        if (body >= 0) speed += dot(jacobian + 6 * side, c->frame.bodies.velocity[body], 6);
    }
    to->compliance[k] = R;
    double offset =
        -speed - h * aref - (con->dist > 0.0 ? con->dist / h : 0.0); // gamma=0: no overlap is removed
    for (int i = 0; i < 3; i++) to->surface_velocity[k][i] = offset * n[i];

    mj_contactForce(m, d, index, force);
    c->answer.normal_impulse[k] = h * force[0];
    for (int i = 0; i < 3; i++) {
        c->answer.friction_impulse[k][i] = h * (force[1] * con->frame[3 + i] + force[2] * con->frame[6 + i]);
        c->answer.rolling_impulse[k][i] =
            h * (force[3] * n[i] + force[4] * con->frame[3 + i] + force[5] * con->frame[6 + i]);
    }
    c->has_rolling |= con->dim >= 4;
    return true;
}

static bool add_constraints(ss_mujoco_step *step, ss_sink *sink, const mjModel *m, const mjData *d)
{
    ss_capture *c = &sink->capture;
    bool left = false;
    for (int i = 0; i < d->nefc; i++) {
        if (d->efc_type[i] >= mjCNSTR_CONTACT_FRICTIONLESS) continue;
        bool done = false;
        if (!add_row(step, c, m, d, i, &done)) return false;
        if (done) continue;
        read_row(step, m, d, i, step->row);
        for (int k = 0; k < step->nv; k++) step->tau[k] += step->row[k] * d->efc_force[i];
        left = true;
    }
    for (int i = 0; i < d->ncon; i++)
        if (!add_contact(step, sink, m, d, i)) return false;
    if (!left || step->tendons) return true;
    step->tendons = true;
    return sink->note(sink,
                      "tendons and equalities between joints are recorded as the forces they had: a row of a "
                      "frame has two bodies");
}

/* Impulses of the tree joints, leaves first: what the momentum of a body still lacks. */
static void balance_trees(ss_mujoco_step *step, ss_capture *c)
{
    const ss_bodies *bodies = &c->frame.bodies;
    double h = c->frame.h;
    bool jointed = false;
    for (int b = 0; b < step->count; b++) jointed |= step->rigid[b].rows > 0;
    if (!jointed) return;
    for (int b = 0; b < step->count; b++) {
        double *w = step->wrench[b], *v = bodies->velocity[b], *after = c->answer.velocity[b];
        for (int i = 0; i < 3; i++) {
            w[i] = bodies->mass[b] * (after[i] - v[i]) - h * bodies->force[b][i];
            w[3 + i] = -h * bodies->force[b][3 + i];
            for (int k = 0; k < 3; k++) w[3 + i] += bodies->inertia[b][3 * i + k] * (after[3 + k] - v[3 + k]);
        }
    }
    const ss_constraints *joints = &c->frame.constraints;
    for (int j = 0, row = 0; j < joints->count; j++)
        for (int k = 0; k < joints->rows[j]; k++, row++)
            for (int side = 0; side < 2; side++)
                for (int i = 0; joints->pair[j][side] >= 0 && i < 6; i++)
                    step->wrench[joints->pair[j][side]][i] -=
                        joints->jacobian[row][6 * side + i] * c->answer.row_impulse[row];
    const ss_contacts *contacts = &c->frame.contacts;
    for (int k = 0; k < contacts->count; k++)
        for (int side = 0; side < 2; side++) {
            int body = contacts->pair[k][side];
            if (body < 0) continue;
            double sign = side ? 1.0 : -1.0, impulse[3], arm[3], turn[3];
            for (int i = 0; i < 3; i++) {
                impulse[i] =
                    c->answer.normal_impulse[k] * contacts->normal[k][i] + c->answer.friction_impulse[k][i];
                arm[i] = contacts->point[k][i] - bodies->position[body][i];
            }
            cross(arm, impulse, turn);
            for (int i = 0; i < 3; i++) {
                step->wrench[body][i] -= sign * impulse[i];
                step->wrench[body][3 + i] -=
                    sign * (turn[i] + (c->has_rolling ? c->answer.rolling_impulse[k][i] : 0.0));
            }
        }
    for (int b = step->count - 1; b >= 0; b--) {
        const rigid *r = &step->rigid[b];
        for (int k = 0; k < r->rows; k++) { // rows are orthonormal on the child's side
            const double *J = joints->jacobian[r->first_row + k];
            double x = c->answer.row_impulse[r->first_row + k] = dot(J + 6, step->wrench[b], 6);
            for (int i = 0; r->parent >= 0 && i < 6; i++) step->wrench[r->parent][i] -= J[i] * x;
        }
    }
}

/* ---- coordinates ------------------------------------------------------------------------------------ */

/* MuJoCo's own coordinates beside the bodies, where it has joints: T are the Jacobians, M is qM with its
 * armatures, f all explicit forces along the coordinates. */
static bool add_coordinates(ss_mujoco_step *step, ss_capture *c, const mjModel *m, const mjData *d)
{
    size_t nv = (size_t)step->nv;
    int trees = 0, entries = 0;
    bool jointed = false;
    for (int b = 0; b < step->count; b++) {
        jointed |= step->rigid[b].rows > 0;
        for (int k = last_dof(&step->rigid[b]); k >= 0; k = m->dof_parentid[k]) entries += 6;
    }
    if (!jointed) return true;
    for (int k = 0; k < m->nv; k++) trees += m->dof_parentid[k] < 0;
    if (!ss_capture_coordinates(c, trees, m->nv, entries, m->nM)) return false;
    ss_generalized *g = &c->frame.generalized;

    trees = 0;
    for (int k = 0; k < m->nv; k++) {
        if (m->dof_parentid[k] < 0) g->tree[trees][0] = k, g->tree[trees++][1] = 0;
        g->tree[trees - 1][1]++;
        g->velocity[k] = step->qvel[k];
        c->answer.generalized_velocity[k] = step->qvel[k] + c->frame.h * d->qacc[k];
        g->force[k] = 0.0;

        // qM has the diagonal first, and then what is above it, up to the root
        int count = 0, start = k ? g->mass_start[k] : 0;
        for (int up = k; up >= 0; up = m->dof_parentid[up]) step->path[count++] = up;
        g->mass_start[k] = start;
        g->mass_start[k + 1] = start + count;
        for (int i = 0; i < count; i++) {
            g->mass_column[start + i] = step->path[count - 1 - i];
            g->mass[start + i] = d->qM[m->dof_Madr[k] + count - 1 - i];
        }
    }

    entries = 0;
    for (int b = 0; b < step->count; b++) {
        const double(*J)[6] = (const double(*)[6])(step->J + (size_t)b * nv);
        int count = 0;
        for (int k = last_dof(&step->rigid[b]); k >= 0; k = m->dof_parentid[k]) {
            step->path[count++] = k;
            g->force[k] += dot(J[k], c->frame.bodies.force[b], 6);
        }
        for (int i = 0; i < 6; i++) {
            g->map_start[6 * b + i] = entries;
            for (int n = count - 1; n >= 0; n--) {
                int k = step->path[n];
                if (J[k][i] == 0.0) continue;
                g->map_column[entries] = k;
                g->map[entries++] = J[k][i];
            }
        }
    }
    g->map_start[6 * step->count] = g->map_count = entries;
    return true;
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

static bool describe(ss_mujoco_step *step, ss_sink *sink, const mjModel *m, const mjData *d)
{
    ss_capture *c = &sink->capture;
    for (int g = 0; g < m->ngeom; g++) {
        int b = step->number[m->geom_bodyid[g]];
        ss_stored_shape stored = {.id = b >= 0 ? b + 1 : 0, .scenery = -1};
        ss_shape *shape = &stored.shape;
        const double *size = m->geom_size + 3 * g;
        ss_mesh mesh = {0};
        switch (m->geom_type[g]) {
        case mjGEOM_PLANE:
            shape->kind = SS_PLANE;
            break;
        case mjGEOM_SPHERE:
            shape->kind = SS_SPHERE;
            shape->size[0] = size[0];
            break;
        case mjGEOM_CAPSULE:
        case mjGEOM_CYLINDER:
            shape->kind = m->geom_type[g] == mjGEOM_CAPSULE ? SS_CAPSULE : SS_CYLINDER;
            shape->size[0] = size[0];
            shape->size[1] = 2.0 * size[1];
            break;
        case mjGEOM_ELLIPSOID:
            shape->kind = SS_ELLIPSOID;
            memcpy(shape->size, size, sizeof shape->size);
            break;
        case mjGEOM_BOX:
            shape->kind = SS_BOX;
            for (int i = 0; i < 3; i++) shape->size[i] = 2.0 * size[i];
            break;
        case mjGEOM_MESH: {
            int id = m->geom_dataid[g], vertices = m->mesh_vertnum[id], faces = m->mesh_facenum[id];
            mesh = (ss_mesh){vertices, faces, ss_allocate((size_t)vertices, sizeof *mesh.vertex),
                             ss_allocate((size_t)faces, sizeof *mesh.face)};
            if (!mesh.vertex || !mesh.face) break;
            for (int i = 0; i < 3 * vertices; i++)
                mesh.vertex[i / 3][i % 3] = (double)m->mesh_vert[3 * m->mesh_vertadr[id] + i];
            for (int i = 0; i < 3 * faces; i++)
                mesh.face[i / 3][i % 3] = m->mesh_face[3 * m->mesh_faceadr[id] + i];
            shape->kind = SS_MESH;
            shape->mesh = &mesh;
            break;
        }
        default:
            continue; // heightfields are not drawn
        }

        // In the frame of the body: its orientation, and the centre of mass as origin.
        double at[3], matrix[9], still[4] = {1, 0, 0, 0}, back[4], turn[4];
        const double *q = b >= 0 ? c->frame.bodies.quaternion[b] : still;
        for (int i = 0; i < 3; i++)
            at[i] = d->geom_xpos[3 * g + i] - (b >= 0 ? c->frame.bodies.position[b][i] : 0.0);
        memcpy(matrix, d->geom_xmat + 9 * g, sizeof matrix);
        mju_negQuat(back, q);
        mju_rotVecQuat(shape->position, at, back);
        mju_mat2Quat(turn, matrix);
        mju_mulQuat(shape->quaternion, back, turn);
        bool good = sink->shape(sink, &stored);
        ss_release(mesh.vertex);
        ss_release(mesh.face);
        if (!good) return false;
    }
    return true;
}

/* ---- before and after ------------------------------------------------------------------------------- */

static bool say_hello(ss_sink *sink, const mjModel *m)
{
    static const char *const solvers[] = {"PGS", "CG", "Newton"};
    char toolkit[64], description[256];
    snprintf(toolkit, sizeof toolkit, "MuJoCo %s", mj_versionString());
    snprintf(description, sizeof description,
             "%s, at most %d iterations, tolerance %g, %s cones, impratio %g", solvers[m->opt.solver],
             m->opt.iterations, m->opt.tolerance, m->opt.cone == mjCONE_PYRAMIDAL ? "pyramidal" : "elliptic",
             m->opt.impratio);
    sink->begun = true;
    return sink->begin(sink, m->opt.gravity, toolkit, description);
}

bool ss_mujoco_look_before(ss_mujoco_step *step, ss_sink *sink, const mjModel *m, const mjData *d)
{
    step->looking = false;
    if (m->opt.integrator == mjINT_RK4) {
        bool first = !step->integrator;
        step->integrator = true;
        return !first ||
               sink->note(sink, "steps of the integrator RK4 solve four problems each and are not recorded");
    }
    if (step->model && (step->model != m || step->data != d)) {
        bool first = !step->several;
        step->several = true;
        return !first || sink->note(sink, "the program steps several worlds; only the first one is recorded");
    }
    if (!learn(step, m, d)) return false;
    if (!ss_sink_wants(sink)) return true;
    step->time = d->time;
    memcpy(step->qvel, d->qvel, (size_t)m->nv * sizeof *step->qvel);
    step->looking = true;
    return true;
}

bool ss_mujoco_look_after(ss_mujoco_step *step, ss_sink *sink, const mjModel *m, const mjData *d)
{
    if (!step->looking || m != step->model || d != step->data) return true;
    step->looking = false;
    if (!(d->time > step->time)) return true; // MuJoCo has reset a state with bad numbers
    bool first = !sink->begun;
    if (first && !say_hello(sink, m)) return false;
    ss_capture *c = &sink->capture;
    static const char *const solvers[] = {"PGS", "CG", "Newton"};
    ss_capture_begin(c, step->time, m->opt.timestep);
    snprintf(c->solver, sizeof c->solver, "MuJoCo_%s", solvers[m->opt.solver]);
    snprintf(c->formulation, sizeof c->formulation, "%s", m->opt.cone == mjCONE_PYRAMIDAL ? "box" : "cone");
    snprintf(c->with, sizeof c->with, "%sgap_term=stabilised gamma=0 joint_term=stabilised joint_gamma=0",
             m->opt.cone == mjCONE_PYRAMIDAL ? "tangents=frame " : "");
    c->iterations = d->solver_iter;
    if (!add_bodies(step, c, m, d) || !add_trees(step, c, m, d)) return false;

    // What gravity, gyroscopic torques and loads on bodies are not, is left to the joints.
    size_t nv = (size_t)step->nv;
    memcpy(step->tau, d->qfrc_smooth, nv * sizeof *step->tau);
    for (int b = 0; b < step->count; b++)
        for (int k = last_dof(&step->rigid[b]); k >= 0; k = m->dof_parentid[k])
            step->tau[k] -= dot(step->J[(size_t)b * nv + (size_t)k], c->frame.bodies.force[b], 6);
    if (!add_constraints(step, sink, m, d)) return false;
    push_joints(step, c);
    balance_trees(step, c);
    if (!add_coordinates(step, c, m, d)) return false;
    if (first && !describe(step, sink, m, d)) return false;
    return sink->step(sink);
}
