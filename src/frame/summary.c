/* A frame in a few numbers. */
#include <stickslip/frame.h>

#include <math.h>

/* Neumaier's compensated sum: momenta and energies of thousands of bodies keep all their digits. */
typedef struct sum {
    double total, lost;
} sum;

static void add(sum *s, double x)
{
    double total = s->total + x;
    s->lost += fabs(s->total) >= fabs(x) ? (s->total - total) + x : (x - total) + s->total;
    s->total = total;
}

/* Once the total is infinite or NaN the lost part means nothing. */
static double sum_value(sum s)
{
    return isfinite(s.total) ? s.total + s.lost : s.total;
}

/* 1/2 m v.v + 1/2 w.(I w) */
static double kinetic_energy(const ss_bodies *bodies, int b)
{
    const double *v = bodies->velocity[b], *w = v + 3, *I = bodies->inertia[b];
    double linear = bodies->mass[b] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double angular = 0;
    for (int i = 0; i < 3; i++)
        angular += w[i] * (I[3 * i] * w[0] + I[3 * i + 1] * w[1] + I[3 * i + 2] * w[2]);
    return 0.5 * (linear + angular);
}

ss_frame_summary ss_frame_summarise(const ss_frame *frame)
{
    const ss_bodies *bodies = &frame->bodies;
    ss_frame_summary summary = {.constraints = frame->constraints.count,
                                .rows = frame->constraints.row_count,
                                .contacts = frame->contacts.count};

    sum mass = {0}, energy = {0}, momentum[3] = {{0}}, gaps = {0};
    for (int b = 0; b < bodies->count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        summary.bodies++;
        add(&mass, bodies->mass[b]);
        add(&energy, kinetic_energy(bodies, b));
        for (int i = 0; i < 3; i++) add(&momentum[i], bodies->mass[b] * bodies->velocity[b][i]);
    }
    summary.total_mass = sum_value(mass);
    summary.kinetic_energy = sum_value(energy);
    for (int i = 0; i < 3; i++) summary.momentum[i] = sum_value(momentum[i]);

    for (int c = 0; c < frame->contacts.count; c++) {
        double gap = frame->contacts.gap[c];
        add(&gaps, fabs(gap));
        if (-gap > summary.max_penetration) summary.max_penetration = -gap;
    }
    summary.sum_abs_gap = sum_value(gaps);
    return summary;
}
