/* Records a block that slides down a slope, the way any engine can record its own steps: public headers only.
 *
 *     cc record_frames.c $(pkg-config --cflags --libs stickslip) -lm -o record_frames
 *     ./record_frames slope.h5
 *     stickslip info slope.h5
 */
#include <stickslip/recorder.h>

#include <math.h>
#include <stdio.h>

static const double h = 0.01, g = 9.81, mu = 0.3, slope = 0.5;     // s, m/s^2, 1, rad
static const double mass = 2.0, half_size[3] = {0.10, 0.08, 0.05}; // kg; m: along the slope, across, above it

/* a + s b */
static void add_scaled(const double a[3], double s, const double b[3], double sum[3])
{
    for (int i = 0; i < 3; i++) sum[i] = a[i] + s * b[i];
}

/* One step of an engine that knows this one problem well: the block has slid `s` metres at `speed`. */
static bool record_step(ss_recorder *recorder, double time, double s, double speed, ss_error *err)
{
    const double down[3] = {cos(slope), 0, -sin(slope)}, up[3] = {sin(slope), 0, cos(slope)};
    const double quaternion[4] = {cos(slope / 2), 0, sin(slope / 2), 0};
    const double velocity[6] = {speed * down[0], 0, speed * down[2]}, force[6] = {0, 0, -mass * g};
    double xx = half_size[0] * half_size[0], yy = half_size[1] * half_size[1],
           zz = half_size[2] * half_size[2];
    const double inertia[9] = {mass / 3 * (yy + zz), 0, 0, 0, mass / 3 * (zz + xx), 0, 0, 0,
                               mass / 3 * (xx + yy)};
    double origin[3] = {0}, position[3];
    add_scaled(origin, s, down, position);
    add_scaled(position, half_size[2], up, position);

    ss_recorder_begin(recorder, time, h);
    int block = ss_recorder_body_local(recorder, mass, position, quaternion, inertia, velocity, force);

    double pressing = mass * g * cos(slope) * h; // N s, all four corners together
    double normal[4], tangent[4][3];
    for (int corner = 0; corner < 4; corner++) {
        double along = corner & 1 ? 1 : -1, across = corner & 2 ? 1 : -1;
        double point[3];
        add_scaled(position, along * half_size[0], down, point);
        add_scaled(point, -half_size[2], up, point);
        point[1] = across * half_size[1];
        double gap = point[0] * up[0] + point[2] * up[2];
        ss_recorder_contact(recorder, SS_WORLD, block, point, up, gap, mu);
        // friction tips it forward
        normal[corner] = pressing / 4 * (1 + along * mu * half_size[2] / half_size[0]);
        add_scaled(origin, -mu * normal[corner], down, tangent[corner]);
    }
    double next_speed = speed + h * g * (sin(slope) - mu * cos(slope));
    double next_velocity[6] = {next_speed * down[0], 0, next_speed * down[2]};
    ss_recorder_result(recorder, "by_hand", next_velocity, NULL, normal, &tangent[0][0]);
    return ss_recorder_end(recorder, err);
}

int main(int argc, char **argv)
{
    ss_error err = {0};
    ss_recorder *recorder = ss_recorder_open(argc > 1 ? argv[1] : "slope.h5", "record_frames example", &err);
    bool ok = recorder != NULL;
    double s = 0, speed = 0;
    for (int step = 0; ok && step < 20; step++) {
        ok = record_step(recorder, step * h, s, speed, &err);
        speed += h * g * (sin(slope) - mu * cos(slope));
        s += h * speed;
    }
    ok = ss_recorder_close(recorder, ok ? &err : NULL) && ok;
    if (!ok) fprintf(stderr, "%s\n", err.message);
    return ok ? 0 : ss_error_exit_code(err.code);
}
