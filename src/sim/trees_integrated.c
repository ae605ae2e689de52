/* Steps of trees that touch nothing as integration to a tolerance (integrator=runge-kutta). Such a step is no
 * incremental problem, and has neither frame nor answer. Whatever is more than a smooth force, a limit within
 * reach, a spring, a motor, a loop, leaves the step to the ordinary way. */
#include "sim/state.h"

#include "model/joint_rows.h"

/* Nothing touches, and no joint acts by itself. */
static bool is_smooth(const ss_sim *sim)
{
    if (sim->contacts.count > 0) return false;
    for (int b = 0; b < ss_world_body_count(sim->world); b++) {
        const ss_body *body = ss_world_body(sim->world, b);
        if (body->kind == SS_DYNAMIC && !(body->mass > 0.0)) return false;
    }
    for (int j = 0; j < ss_world_joint_count(sim->world); j++) {
        ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
        const ss_joint *joint = ss_world_joint(sim->world, j);
        if (joint->law[0].force != 0.0 || joint->law[1].force != 0.0 ||
            ss_joint_law_rows(sim->world, j, sim->h, rows) > 0)
            return false;
    }
    return true;
}

bool ss_sim_integrate_trees(ss_sim *sim, bool *solved, ss_error *err)
{
    *solved = sim->is_integrated = false;
    if (sim->options.integrator != SS_INTEGRATOR_RUNGE_KUTTA || !ss_sim_trees_need_no_frame(sim) ||
        !is_smooth(sim))
        return true;
    double start = ss_clock_seconds();
    ss_free_motion_request request = {.h = sim->h,
                                      .tolerance = sim->options.integrator_tolerance,
                                      .gyroscopic = sim->options.gyro != SS_GYRO_OFF};
    bool good;
    if (!ss_free_motion_run(&sim->motion, sim->world, &request, &good, err)) return false;
    for (int l = 0; good && l < ss_free_motion_count(sim->motion); l++) {
        double velocity[6];
        ss_free_motion_velocity(sim->motion, l, velocity);
        good = !ss_sim_is_too_fast(sim, velocity);
    }
    if (!good) return true;

    *solved = sim->is_integrated = true;
    ss_sim_forget_frame(sim);
    sim->warm.contact_count = sim->warm.row_count = 0; // nothing to start from
    sim->report.solve += ss_clock_seconds() - start;
    return true;
}

bool ss_sim_move_integrated(ss_sim *sim, ss_error *err)
{
    ss_free_motion_write(sim->motion, sim->world);
    return ss_sim_end_move(sim, NULL, err);
}
