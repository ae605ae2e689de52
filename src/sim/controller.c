/* A PID controller that drives a joint coordinate along a trajectory. */
#include "sim/state.h"

#include "model/joint_geometry.h"

#include <math.h>

/* Slope of the curve at a knot: 0 at the ends, else that of the parabola through the knot and its neighbours,
 * which for even knots is the central difference. */
static double slope_at(const ss_controller *of, int k)
{
    if (k == 0 || k == of->knots - 1) return 0.0;
    double left = of->time[k] - of->time[k - 1], right = of->time[k + 1] - of->time[k];
    double before = (of->value[k] - of->value[k - 1]) / left,
           after = (of->value[k + 1] - of->value[k]) / right;
    return (before * right + after * left) / (left + right);
}

void ss_trajectory_at(const ss_controller *controller, double time, double *value, double *speed)
{
    int last = controller->knots - 1;
    *value = *speed = 0.0;
    if (last < 0) return;
    if (!(time > controller->time[0]) || time >= controller->time[last]) {
        *value = controller->value[time >= controller->time[last] ? last : 0];
        return;
    }

    /* The piece between two knots, by bisection. */
    int k = 0, high = last;
    while (high - k > 1) {
        int middle = (k + high) / 2;
        if (controller->time[middle] <= time)
            k = middle;
        else
            high = middle;
    }

    double span = controller->time[k + 1] - controller->time[k], s = (time - controller->time[k]) / span;
    double rise = controller->value[k + 1] - controller->value[k];
    double start = span * slope_at(controller, k), end = span * slope_at(controller, k + 1);

    // Hermite: p(0) = 0, p(1) = rise, p'(0) = start, p'(1) = end
    double square = 3.0 * rise - 2.0 * start - end, cube = start + end - 2.0 * rise;
    *value = controller->value[k] + s * (start + s * (square + s * cube));
    *speed = (start + s * (2.0 * square + s * 3.0 * cube)) / span;
}

static bool control(ss_sim *sim, void *context, ss_error *err)
{
    ss_controller *self = context;
    double is, rate, wanted, speed;
    if (!ss_joint_coordinate(sim->world, self->joint, self->coordinate, &is, &rate))
        return ss_fail(err, SS_ERROR_USAGE, "controller: joint %d has no coordinate %d", self->joint,
                       self->coordinate);
    ss_trajectory_at(self, sim->time, &wanted, &speed);
    ss_joint *joint = ss_world_joint(sim->world, self->joint);
    // an angle is counted on over full turns
    if (ss_joint_coordinate_is_angle(joint, self->coordinate)) is = joint->turned[self->coordinate];

    double error = wanted - is;
    double sum = self->sum + sim->h * error;
    double force = self->proportional * error + self->integral * sum + self->derivative * (speed - rate);
    bool saturated = self->max_force > 0.0 && fabs(force) > self->max_force;
    if (saturated) force = copysign(self->max_force, force);
    if (!saturated) self->sum = sum; // no winding up while more would change nothing
    joint->law[self->coordinate].force = force;
    return true;
}

static bool check(const ss_sim *sim, const ss_controller *of, ss_error *err)
{
    double position, speed;
    if (!ss_world_joint(sim->world, of->joint))
        return ss_fail(err, SS_ERROR_USAGE, "controller: unknown joint %d", of->joint);
    if (of->coordinate < 0 || of->coordinate > 1 ||
        !ss_joint_coordinate(sim->world, of->joint, of->coordinate, &position, &speed))
        return ss_fail(err, SS_ERROR_USAGE, "controller: joint %d has no coordinate %d", of->joint,
                       of->coordinate);
    if (of->knots < 1 || !of->time || !of->value)
        return ss_fail(err, SS_ERROR_USAGE, "controller: knots: %d, must be at least 1", of->knots);
    for (int k = 0; k < of->knots; k++) {
        bool rises = k == 0 || of->time[k] > of->time[k - 1];
        if (!isfinite(of->time[k]) || !isfinite(of->value[k]) || !rises)
            return ss_fail(err, SS_ERROR_USAGE,
                           "controller: knot %d: times must increase and values must "
                           "be finite",
                           k);
    }
    return true;
}

bool ss_sim_add_controller(ss_sim *sim, ss_controller *controller, ss_error *err)
{
    ss_controller_list *list = &sim->controllers;
    if (!check(sim, controller, err)) return false;
    if (list->count == list->capacity) {
        int capacity = 2 * list->capacity + 8;
        ss_controller **items = ss_allocate((size_t)capacity, sizeof *items);
        if (!items) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for controllers");
        if (list->count) memcpy(items, list->items, (size_t)list->count * sizeof *items);
        ss_release(list->items);
        list->items = items;
        list->capacity = capacity;
    }
    if (!ss_sim_call_at(sim, SS_BEFORE_COLLISION, control, controller, err)) return false;
    list->items[list->count++] = controller;
    return true;
}
