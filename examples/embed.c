/* The solver inside your own program: your arrays in, impulses out, within a deadline. Here a box on four
 * corners, on a tray that tilts a little more in every step: when does it slide?
 *
 *     cc embed.c $(pkg-config --cflags --libs stickslip) -lm -o embed
 */
#include <math.h>
#include <stdio.h>
#include <stickslip/session.h>

int main(void)
{
    const double mass = 2.0, mu = 0.4, g = 9.81,
                 corner[4][2] = {{-0.1, -0.1}, {0.1, -0.1}, {-0.1, 0.1}, {0.1, 0.1}};
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(1, 0, 0, 4, &err); /* once: bodies, joints, their rows, contacts */
    ss_session *session = ss_session_create(/* `auto`, at most 1 ms a step, the best that was found by then */
                                            &(ss_request){.time_limit = 1e-3,
                                                          .stop = "energy<1e-9",
                                                          .keep = "best:energy",
                                                          .skip_exact = true},
                                            &err);

    for (double slope = 0.0; frame && session && slope < 0.5; slope += 0.01) {
        frame->h = 0.01; /* s */
        frame->bodies.mass[0] = mass;
        for (int i = 0; i < 3; i++) frame->bodies.inertia[0][4 * i] = 0.02;
        frame->bodies.force[0][0] = mass * g * sin(slope); /* everything that acts, gravity included */
        frame->bodies.force[0][2] = -mass * g * cos(slope);
        for (int c = 0; c < 4; c++) {
            /* pair[c][0] is SS_WORLD, the tray; the normal points to the box */
            frame->contacts.pair[c][1] = 0;
            frame->contacts.normal[c][2] = 1.0;
            frame->contacts.point[c][0] = corner[c][0];
            frame->contacts.point[c][1] = corner[c][1];
            frame->contacts.point[c][2] = -0.05;
            frame->contacts.gap[c] = 0.0;
            frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = mu;
        }
        const ss_result *result = ss_session_solve(session, frame, NULL, &err);
        if (!result) break;
        for (int i = 0; i < 6; i++) frame->bodies.velocity[0][i] = result->answer->velocity[0][i];
        if (frame->bodies.velocity[0][0] < 1e-3) continue; /* m/s */
        printf("slides at %.2f rad, atan(mu) is %.2f rad (%s); impulses %.3f N s below, %.3f N s above\n",
               slope, atan(mu), ss_status_name(result->run.status), result->answer->normal_impulse[1],
               result->answer->normal_impulse[0]);
        break;
    }
    if (err.code) fprintf(stderr, "%s\n", err.message);
    ss_session_destroy(session);
    ss_frame_destroy(frame);
    return err.code != SS_OK;
}
