/* The true distance to a known answer, in the energy norm of the velocities, and how much of it the energy
 * error saw. Impulses are not compared: in redundant stacks they are not unique. Under the convex law
 * velocities are; under Coulomb's they need not be, and an answer that obeys the laws as well as the
 * reference does is not wrong because it is another one. */
#include "metrics/judgement.h"

#include <math.h>

#include "linalg/mat3.h"
#include "linalg/vec3.h"

bool ss_metrics_distance(ss_judgement *judgement, ss_error *err)
{
    const ss_frame *frame = judgement->frame;
    const ss_problem *problem = judgement->problem;
    const ss_answer *reference = judgement->what->reference;
    const char *why = !frame ? "needs bodies: the file has none" : !reference ? "no reference" : NULL;
    if (why) {
        ss_metric_refuse(judgement, SS_METRIC_distance, why);
        ss_metric_refuse(judgement, SS_METRIC_trust, why);
        return true;
    }

    double apart = 0.0;
    for (int body = 0; body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        double d[6];
        for (int i = 0; i < 6; i++)
            d[i] = judgement->answer->velocity[body][i] - reference->velocity[body][i];
        ss_vec3 linear = ss_vec3_load(d), turn = ss_vec3_load(d + 3);
        apart += 0.5 * frame->bodies.mass[body] * ss_vec3_dot(linear, linear);
        apart += 0.5 * ss_vec3_dot(turn, ss_mat3_apply(ss_mat3_load(frame->bodies.inertia[body]), turn));
    }

    /* The energy error of the reference. */
    double *x = ss_arena_take(judgement->arena, (size_t)problem->size, sizeof *x, "x of the reference");
    double *w = ss_arena_take(judgement->arena, (size_t)problem->size, sizeof *w, "w of the reference");
    if (!x || !w || !ss_judgement_point(judgement, reference, x, w))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for judging the reference");
    double energy = judgement->values[SS_METRIC_energy].value, its_energy = 0.0;
    for (int k = 0; k < problem->block_count; k++)
        its_energy +=
            ss_gauge_of_block(problem, judgement->scale.inverse_mass, k, x, w, SS_WANT_ENERGY).energy;

    /* Both errors are small against doing nothing, and so small against the distance, a millionth in
     * velocities, that they cannot be the reason for it unless the problem is next to singular. */
    static const double small = 1e-6, far = 1e12;
    const ss_gauge_scale *scale = &judgement->scale;
    double larger = fmax(energy, its_energy);
    if (ss_gauge_relative_energy(scale, larger) < small &&
        apart > far * fmax(larger, scale->rounding_energy)) {
        why = "answer and reference both obey the laws: there are several";
        ss_metric_refuse(judgement, SS_METRIC_distance, why);
        ss_metric_refuse(judgement, SS_METRIC_trust, why);
        return true;
    }

    ss_metric_set(judgement, SS_METRIC_distance, apart, -1, -1);
    if (apart > 0.0)
        ss_metric_set(judgement, SS_METRIC_trust, energy / apart, -1, -1);
    else
        ss_metric_refuse(judgement, SS_METRIC_trust, "the distance is zero");
    return true;
}
