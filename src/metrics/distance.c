/* The true distance to a known answer, in the energy norm of the velocities, and how much of it the energy
 * error saw. Impulses are not compared: in redundant stacks they are not unique, the velocities are. */
#include "metrics/judgement.h"

#include "linalg/mat3.h"
#include "linalg/vec3.h"

static double distance(const ss_frame *frame, const ss_answer *answer, const ss_answer *reference)
{
    double sum = 0.0;
    for (int body = 0; body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        double d[6];
        for (int i = 0; i < 6; i++) d[i] = answer->velocity[body][i] - reference->velocity[body][i];
        ss_vec3 linear = ss_vec3_load(d), turn = ss_vec3_load(d + 3);
        sum += 0.5 * frame->bodies.mass[body] * ss_vec3_dot(linear, linear);
        sum += 0.5 * ss_vec3_dot(turn, ss_mat3_apply(ss_mat3_load(frame->bodies.inertia[body]), turn));
    }
    return sum;
}

void ss_metrics_distance(ss_judgement *judgement)
{
    const ss_case *what = judgement->what;
    const char *why = !judgement->frame  ? "needs bodies: the file has none"
                      : !what->reference ? "no reference"
                                         : NULL;
    if (why) {
        ss_metric_refuse(judgement, SS_METRIC_distance, why);
        ss_metric_refuse(judgement, SS_METRIC_trust, why);
        return;
    }
    double apart = distance(judgement->frame, judgement->answer, what->reference);
    ss_metric_set(judgement, SS_METRIC_distance, apart, -1, -1);
    if (apart > 0.0)
        ss_metric_set(judgement, SS_METRIC_trust, judgement->values[SS_METRIC_energy].value / apart, -1, -1);
    else
        ss_metric_refuse(judgement, SS_METRIC_trust, "the distance is zero");
}
