/* The true distance to a known answer, in the energy norm of the velocities, and how much of it the energy
 * error saw. Impulses are not compared: in redundant stacks they are not unique. Under the convex law
 * velocities are; under Coulomb's they need not be, and an answer that obeys the laws as well as the
 * reference does is not wrong because it is another one. */
#include "metrics/judgement.h"
#include "metrics/truth.h"

#include <math.h>

#include "linalg/mat3.h"
#include "linalg/vec3.h"

double ss_velocity_distance(const ss_frame *frame, const ss_answer *a, const ss_answer *b, int *worst)
{
    double largest = 0.0;
    if (worst) *worst = -1;
    for (int c = 0; c < frame->contacts.count; c++) {
        ss_vec3 relative = {0};
        for (int side = 0; side < 2; side++) {
            int body = frame->contacts.pair[c][side];
            if (body == SS_WORLD) continue;
            double d[6];
            for (int i = 0; i < 6; i++) d[i] = a->velocity[body][i] - b->velocity[body][i];
            ss_vec3 arm = ss_vec3_subtract(ss_vec3_load(frame->contacts.point[c]),
                                           ss_vec3_load(frame->bodies.position[body]));
            ss_vec3 at = ss_vec3_add(ss_vec3_load(d), ss_vec3_cross(ss_vec3_load(d + 3), arm));
            relative = side ? ss_vec3_add(relative, at) : ss_vec3_subtract(relative, at);
        }
        double speed = ss_vec3_norm(relative);
        if (worst && (speed > largest || *worst < 0)) *worst = c;
        largest = fmax(largest, speed);
    }
    return largest;
}

int ss_metric_truth(int metric)
{
    static const struct {
        enum ss_metric_id estimate, truth;
    } pairs[] = {{SS_METRIC_energy, SS_METRIC_distance},
                 {SS_METRIC_energy_exact, SS_METRIC_distance},
                 {SS_METRIC_complementarity, SS_METRIC_distance},
                 {SS_METRIC_dissipation_gap, SS_METRIC_distance},
                 {SS_METRIC_anomalous_friction, SS_METRIC_distance},
                 {SS_METRIC_creep, SS_METRIC_velocity_distance},
                 {SS_METRIC_creep_max, SS_METRIC_velocity_distance}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((int)pairs[i].estimate == metric) return (int)pairs[i].truth;
    return -1;
}

static void refuse_all(ss_judgement *judgement, const char *why)
{
    ss_metric_refuse(judgement, SS_METRIC_distance, why);
    ss_metric_refuse(judgement, SS_METRIC_velocity_distance, why);
    ss_metric_refuse(judgement, SS_METRIC_trust, why);
}

bool ss_metrics_distance(ss_judgement *judgement, ss_error *err)
{
    const ss_frame *frame = judgement->frame;
    const ss_problem *problem = judgement->problem;
    const ss_answer *reference = judgement->what->reference;
    const char *why = !frame ? "needs bodies: the file has none" : !reference ? "no reference" : NULL;
    if (why) {
        refuse_all(judgement, why);
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
        refuse_all(judgement, "answer and reference both obey the laws: there are several");
        return true;
    }

    int worst;
    double faster = ss_velocity_distance(frame, judgement->answer, reference, &worst);
    ss_metric_set(judgement, SS_METRIC_distance, apart, -1, -1);
    ss_metric_set(judgement, SS_METRIC_velocity_distance, faster, worst, -1);
    if (apart > 0.0)
        ss_metric_set(judgement, SS_METRIC_trust, energy / apart, -1, -1);
    else
        ss_metric_refuse(judgement, SS_METRIC_trust, "the distance is zero");
    return true;
}
