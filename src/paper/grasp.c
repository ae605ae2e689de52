#include "paper/grasp.h"

#include "paper/scene_run.h"

#include <math.h>

const double ss_grasp_lost = 0.01; // a hundredth of a metre: as much as the fingers are wide

/* Speed of the motion along a line fitted to the positions in the hand, m/s: slow creep stands out from the
 * rounding of single steps. */
static double fitted_speed(const double (*at)[3], int count, double h)
{
    double sum = 0.0, moment[3] = {0};
    for (int i = 0; i < count; i++) {
        double t = (i - 0.5 * (count - 1)) * h;
        sum += t * t;
        for (int k = 0; k < 3; k++) moment[k] += t * at[i][k];
    }
    return sum > 0.0 ? sqrt(moment[0] * moment[0] + moment[1] * moment[1] + moment[2] * moment[2]) / sum
                     : NAN;
}

bool ss_grasp_run(ss_paper_report *report, const ss_grasp *grasp, const ss_grasp_method *method,
                  ss_figure *slips, ss_figure *joints, ss_grasp_outcome *outcome, ss_error *err)
{
    int steps = (int)lround(grasp->end / grasp->h), gripped = (int)lround(grasp->gripped / grasp->h),
        still = (int)lround(grasp->still / grasp->h), made = 0;
    *outcome = (ss_grasp_outcome){.held = true, .creep = NAN, .joint_rest = NAN};
    outcome->hold = grasp->end - grasp->gripped;

    ss_scene_run run;
    double *time = ss_arena_take(report->arena, (size_t)steps, sizeof(double), "a run");
    double *slip = ss_arena_take(report->arena, (size_t)steps, sizeof(double), "a run");
    double *gap = ss_arena_take(report->arena, (size_t)steps, sizeof(double), "a run");
    double(*at)[3] = ss_arena_take(report->arena, (size_t)steps, sizeof *at, "a run");
    bool good = ss_scene_run_open(&run, report, grasp->scene, grasp->parameters, method->settings, err);
    if (good && !(time && slip && gap && at)) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (good && method->record)
        good = ss_scene_run_record(&run, method->record,
                                   ss_paper_format(report, "%s, %s", grasp->scene, method->name), 2, err);

    for (int n = 0; good && n < steps && !run.broke; n++) {
        good = ss_scene_run_step(&run, err);
        if (!good || run.broke) break;
        ss_sim_report last = ss_sim_last(run.sim);
        static const char *const names[] = {"in_hand_x", "in_hand_y", "in_hand_z"};
        for (int k = 0; k < 3; k++) at[n][k] = ss_scene_run_figure(&run, names[k]);
        const double *from = at[n < gripped ? n : gripped];
        time[n] = ss_sim_time(run.sim);
        slip[n] = sqrt(pow(at[n][0] - from[0], 2) + pow(at[n][1] - from[1], 2) + pow(at[n][2] - from[2], 2));
        gap[n] = ss_scene_run_figure(&run, "joint_gap");
        made = n + 1;

        if (outcome->held && slip[n] > ss_grasp_lost) {
            outcome->held = false;
            outcome->hold = time[n] - grasp->gripped;
        }
        outcome->joint_gap = fmax(outcome->joint_gap, gap[n]);
        outcome->energy = fmax(outcome->energy, last.relative_energy);
        outcome->seconds += last.solve;
        if (n % 50 == 0) ss_paper_progress(report, method->name, n, steps);
    }

    outcome->broke = run.broke;
    outcome->seconds /= made ? made : 1;
    outcome->slip = made ? slip[made - 1] : NAN;
    if (run.broke && outcome->held) {
        outcome->held = false;
        outcome->hold = fmax(0.0, made * grasp->h - grasp->gripped);
    }
    if (outcome->held && made > still + 1) {
        outcome->creep = fitted_speed((const double(*)[3])(at + still), made - still, grasp->h);
        outcome->joint_rest = 0.0;
        for (int n = still; n < made; n++) outcome->joint_rest = fmax(outcome->joint_rest, gap[n]);
    }
    // what has been lost is no longer interesting, and would hide the rest
    int shown = 0;
    while (shown < made && slip[shown] < 0.2) shown++;
    for (int n = 0; n < shown; n++) slip[n] = 1e6 * fmax(slip[n], 1e-10);
    if (slips && shown > gripped + 1)
        ss_figure_line(slips, method->name, shown - gripped - 1, time + gripped + 1, slip + gripped + 1);
    for (int n = 0; n < made; n++) gap[n] = fmax(gap[n], 1e-10);
    if (joints && made > 1) ss_figure_line(joints, method->name, made, time, gap);
    return ss_scene_run_close(&run, err) && good;
}

void ss_grasp_axes(ss_figure *slips, ss_figure *joints)
{
    slips->x.label = "time, s", slips->y.label = "slip, um", slips->y.log = true;
    joints->x.label = "time, s", joints->y.label = "joint error, m or rad", joints->y.log = true;
}

ss_paper_table *ss_grasp_table(ss_paper_report *report, const char *title)
{
    return ss_paper_add_table(
        report, "holding", title,
        "Hold time: until the object has moved by 10 mm in the hand. Creep: speed in the hand while the "
        "hand is at rest, from a line fitted to all steps; Coulomb's law says 0. Joint errors in m or rad.",
        "method|outcome|hold time, s|creep, um/s|slip, mm|joint error, most|joint error at rest|relative "
        "energy, worst|solve, ms/step");
}

void ss_grasp_row(ss_paper_table *table, const ss_grasp *grasp, const char *name,
                  const ss_grasp_outcome *outcome)
{
    ss_paper_cell(table, "%s", name);
    ss_paper_cell(table, "%s", outcome->held ? "holds" : outcome->broke ? "flies apart" : "lost");
    ss_paper_cell(table, "%.2f of %.2f", outcome->hold, grasp->end - grasp->gripped);
    if (isfinite(outcome->creep))
        ss_paper_cell(table, "%.3g", 1e6 * outcome->creep);
    else
        ss_paper_cell(table, "-");
    ss_paper_cell(table, "%.3g", 1e3 * outcome->slip);
    ss_paper_cell(table, "%.2g", outcome->joint_gap);
    if (isfinite(outcome->joint_rest))
        ss_paper_cell(table, "%.2g", outcome->joint_rest);
    else
        ss_paper_cell(table, "-");
    ss_paper_cell(table, "%.1e", outcome->energy);
    ss_paper_cell(table, "%.2f", 1e3 * outcome->seconds);
}
