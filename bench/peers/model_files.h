/* bench/peers/model_files.h - one model file in MuJoCo and in our simulator, step by step beside each other.
 *
 * Both integrate by semi-implicit Euler with the same step. MuJoCo works in joint coordinates with soft
 * contacts and limits, we in coordinates of bodies with rigid ones: without contact the two differ by the
 * order of the step, in contact by how far MuJoCo lets things sink. */
#ifndef SS_BENCH_MODEL_FILES_H
#define SS_BENCH_MODEL_FILES_H

#include <stickslip/stickslip.h>

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

typedef struct model_comparison {
    char why[300];    /* it could not be compared; "" otherwise */
    int bodies;       /* compared: those of one name and one mass */
    double h;         /* s */
    double mass[2];   /* kg, of all that moves: MuJoCo's, ours */
    double start;     /* m: farthest that centres of mass are apart before the first step */
    double apart;     /* m: the same, largest over the whole time */
    double end;       /* m: at the end */
    double moved;     /* m: farthest that a body has moved in MuJoCo: what `apart` is to be compared with */
    double energy[2]; /* J, kinetic and gravity, at the end relative to the start */
    double speed[2];  /* m/s: the fastest body at the end */
    int contacts[2];
} model_comparison;

static inline double model_distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* MuJoCo's body for each of ours; -1 where there is none of that name and mass. */
static inline void model_match(const mjModel *m, const ss_world *world, int *of)
{
    for (int b = 0; b < ss_world_body_count(world); b++) {
        const ss_body *body = ss_world_body(world, b);
        of[b] = -1;
        int other = body->name && body->kind == SS_DYNAMIC ? mj_name2id(m, mjOBJ_BODY, body->name) : -1;
        // a body in between has taken a part of its mass
        if (other > 0 && fabs(m->body_mass[other] - body->mass) < 0.01 * body->mass) of[b] = other;
    }
}

static inline double model_mujoco_energy(const mjModel *m, mjData *d)
{
    mj_energyPos(m, d);
    mj_energyVel(m, d);
    double springs = 0.0; // and rotors: ours counts gravity and bodies only
    for (int i = 0; i < m->nv; i++) springs += 0.5 * m->dof_armature[i] * d->qvel[i] * d->qvel[i];
    for (int j = 0; j < m->njnt; j++) {
        int type = m->jnt_type[j];
        if (type != mjJNT_HINGE && type != mjJNT_SLIDE) continue;
        double stretch = d->qpos[m->jnt_qposadr[j]] - m->qpos_spring[m->jnt_qposadr[j]];
        springs += 0.5 * m->jnt_stiffness[j] * stretch * stretch;
    }
    return d->energy[0] + d->energy[1] - springs;
}

/* h = 0: the step of the file. tilt: gravity is turned by this angle (rad), so that what stands upright
 * moves. */
static inline model_comparison model_compare(const char *path, ss_coordinate_kind coordinates, double h,
                                             double tilt, double seconds)
{
    model_comparison c = {.why = ""};
    char text[1000] = "";
    ss_error err = {0};
    ss_model_info info;
    ss_model_options options = {.base = SS_BASE_FIXED}; // as MuJoCo has it
    ss_world *world = ss_world_create(&err);
    mjModel *m = mj_loadXML(path, NULL, text, sizeof text);
    ss_sim *sim = NULL;
    if (!m) snprintf(c.why, sizeof c.why, "MuJoCo: %.250s", text);
    if (m && !ss_model_read(path, &options, world, &info, NULL, &err))
        snprintf(c.why, sizeof c.why, "%.250s", err.message);
    if (!c.why[0]) {
        if (h > 0.0) m->opt.timestep = h;
        c.h = m->opt.timestep;
        if (tilt != 0.0) {
            const double g[3] = {9.81 * 0.8 * sin(tilt), 9.81 * 0.6 * sin(tilt), -9.81 * cos(tilt)};
            memcpy(m->opt.gravity, g, sizeof g);
            memcpy(ss_world_gravity(world), g, sizeof g);
        }
        m->opt.integrator = mjINT_EULER;
        m->opt.enableflags |= mjENBL_ENERGY;
        ss_sim_options how;
        ss_options_defaults(ss_sim_option_table, &how);
        ss_options_defaults(ss_collision_option_table, &how.collision);
        how.h = c.h;
        how.joints = SS_STABILISE_IMPULSE;
        how.coordinates = coordinates;
        how.bias = SS_BIAS_EXPLICIT; // MuJoCo's rule
        sim = ss_sim_create(world, &how, &err);
        if (!sim) snprintf(c.why, sizeof c.why, "%.250s", err.message);
    }
    int count = ss_world_body_count(world), of[1000];
    double first[1000][3];
    if (!c.why[0] && count > 1000) snprintf(c.why, sizeof c.why, "more than 1000 bodies");
    if (!c.why[0]) {
        mjData *d = mj_makeData(m);
        mj_forward(m, d);
        model_match(m, world, of);
        for (int b = 1; b < m->nbody; b++)
            if (m->body_weldid[b] != 0) c.mass[0] += m->body_mass[b];
        for (int b = 0; b < count; b++) {
            const ss_body *body = ss_world_body(world, b);
            memcpy(first[b], body->position, sizeof first[b]);
            if (body->kind == SS_DYNAMIC) c.mass[1] += body->mass;
            if (of[b] < 0) continue;
            c.bodies++;
            c.start = fmax(c.start, model_distance(body->position, d->xipos + 3 * of[b]));
        }
        ss_world_energy energy = ss_world_measure(world);
        double before[2] = {model_mujoco_energy(m, d), energy.kinetic + energy.potential};
        for (int i = 0; i < (int)(seconds / c.h + 0.5) && !c.why[0]; i++) {
            mj_step(m, d);
            if (!ss_sim_step(sim, &err)) snprintf(c.why, sizeof c.why, "%.250s", err.message);
            mj_kinematics(m, d); // positions at the end of the step
            mj_comPos(m, d);
            c.end = 0.0;
            for (int b = 0; b < count; b++) {
                if (of[b] < 0) continue;
                c.end = fmax(c.end, model_distance(ss_world_body(world, b)->position, d->xipos + 3 * of[b]));
                c.moved = fmax(c.moved, model_distance(first[b], d->xipos + 3 * of[b]));
            }
            c.apart = fmax(c.apart, c.end);
        }
        mj_forward(m, d);
        energy = ss_world_measure(world);
        c.energy[0] = model_mujoco_energy(m, d) - before[0];
        c.energy[1] = energy.kinetic + energy.potential - before[1];
        c.contacts[0] = d->ncon;
        c.contacts[1] = ss_sim_last(sim).contacts;
        for (int b = 0; b < count; b++) {
            const double *v = ss_world_body(world, b)->velocity, none[3] = {0};
            mjtNum w[6];
            if (of[b] < 0) continue;
            mj_objectVelocity(m, d, mjOBJ_BODY, of[b], w, 0);
            c.speed[0] = fmax(c.speed[0], model_distance(w + 3, none));
            c.speed[1] = fmax(c.speed[1], model_distance(v, none));
        }
        mj_deleteData(d);
    }
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    if (m) mj_deleteModel(m);
    return c;
}

#endif
