/* A hand of light fingers on a heavy arm closes on a goblet: which solvers hold it, and up to which ratio of
 * masses. */
#include "paper/grasp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const ss_grasp_method methods[] = {
    {"auto, to 1e-8", {NULL}, true, true, "held"},
    {"interior-point, to 1e-8", SS_GRASP_SOLVED("interior-point", "cone", "relative_energy<1e-8"), true,
     false, NULL},
    {"admm, to 1e-6", SS_GRASP_SOLVED("admm", "cone", "relative_energy<1e-6"), true, false, NULL},
    {"path, friction box, to 1e-8", SS_GRASP_SOLVED("path", "box", "relative_energy<1e-8"), true, false,
     NULL},
    {"nncg, 200 iterations", SS_GRASP_STOPPED("nncg", "cone", "200"), false, false, NULL},
    {"split, 20 iterations", SS_GRASP_STOPPED("normal-friction-splitting", "cone", "20"), false, false, NULL},
    {"nsgs, 1000 iterations", SS_GRASP_STOPPED("nsgs", "cone", "1000"), false, false, NULL},
    {"nsgs, 200 iterations", SS_GRASP_STOPPED("nsgs", "cone", "200"), false, true, "lost"},
    {"pgs, 1000 iterations", SS_GRASP_STOPPED("pgs", "cone", "1000"), false, false, NULL},
    {"pgs, 200 iterations", SS_GRASP_STOPPED("pgs", "cone", "200"), false, true, NULL},
    {"jacobi, 200 iterations", SS_GRASP_STOPPED("jacobi", "cone", "200"), false, false, NULL},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* Hold time against the ratio of masses. */
static bool sweep(ss_paper_report *report, ss_grasp grasp, double *ours_shortest, double *weak_largest,
                  ss_error *err)
{
    static const ss_grasp_method swept[] = {
        {"auto, to 1e-8", {NULL}, true, true, NULL},
        {"nncg, 200 iterations", SS_GRASP_STOPPED("nncg", "cone", "200"), false, false, NULL},
        {"nsgs, 200 iterations", SS_GRASP_STOPPED("nsgs", "cone", "200"), false, true, NULL},
        {"pgs, 200 iterations", SS_GRASP_STOPPED("pgs", "cone", "200"), false, true, NULL}};
    static const double all[] = {10.0, 100.0, 1e3, 1e4, 1e5, 1e6}, few[] = {1e2, 1e4};
    const double *ratios = report->quick ? few : all;
    int count = report->quick ? 2 : 6;

    ss_figure *figure = ss_paper_figure(
        report, "ratios", "Hold time against the ratio of masses",
        "Arm over finger link. The goblet, its weight and the forces of the fingers are the same.");
    figure->x.label = "mass of the arm over that of a finger link", figure->x.log = true;
    figure->y.label = "hold time, s";
    ss_figure *creep =
        ss_paper_figure(report, "creep", "Creep against the ratio of masses",
                        "While the hand is at rest; no point where the goblet was lost before.");
    creep->x.label = "mass of the arm over that of a finger link", creep->x.log = true;
    creep->y.label = "creep, um/s", creep->y.log = true;

    *ours_shortest = INFINITY, *weak_largest = 0.0;
    for (size_t m = 0; m < sizeof swept / sizeof swept[0]; m++) {
        if (report->quick && !swept[m].quick) continue;
        double hold[6], speed[6];
        for (int i = 0; i < count; i++) {
            char ratio[40];
            ss_grasp_outcome outcome;
            snprintf(ratio, sizeof ratio, "ratio=%g", ratios[i]);
            grasp.parameters[0] = ratio;
            if (!ss_grasp_run(report, &grasp, &swept[m], NULL, NULL, &outcome, err)) return false;
            hold[i] = outcome.hold;
            speed[i] = outcome.held ? 1e6 * fmax(outcome.creep, 1e-12) : NAN;
            if (m == 0) *ours_shortest = fmin(*ours_shortest, outcome.hold);
            if (!swept[m].accurate && outcome.held) *weak_largest = fmax(*weak_largest, ratios[i]);
        }
        ss_figure_line(figure, swept[m].name, count, ratios, hold);
        ss_figure_line(creep, swept[m].name, count, ratios, speed);
    }
    return true;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    ss_grasp grasp = {.scene = "mass-ratio-grasp",
                      .h = 0.01,
                      .gripped = 1.0,
                      .still = 2.1,
                      .end = report->quick ? 3.0 : 6.0};
    ss_paper_text(
        report,
        "An arm of 10 kg slides on a column; a palm of 1 kg hangs on its wrist, and three fingers of two "
        "links, each of 1 g, close on a goblet of 0.3 kg with 0.3 N m at their roots. The arm rises from 1 "
        "to 2 s and then stands still. The forces of the fingers do not depend on their masses, and by "
        "Coulomb's law the goblet does not move in the hand: whatever it does is the solver's.");
    ss_paper_table *table = ss_grasp_table(report, "Who holds the goblet: finger links of 1 g, arm of 10 kg");
    ss_figure *slips = ss_paper_figure(
        report, "slip", "Slip of the goblet in the hand",
        "Distance from where it was when the arm began to rise. Lines end where it is 0.2 m away.");
    ss_figure *joints = ss_paper_figure(report, "joints", "Largest error of a joint", "In m or rad.");
    ss_grasp_axes(slips, joints);

    int accurate = 0, accurate_held = 0, weak = 0, weak_lost = 0;
    double weak_creep = INFINITY;
    ss_grasp_outcome ours = {0};
    for (int m = 0; m < METHODS; m++) {
        const ss_grasp_method *method = &methods[m];
        ss_grasp_outcome outcome;
        if (report->quick && !method->quick) continue;
        if (!ss_grasp_run(report, &grasp, method, slips, joints, &outcome, err)) return false;
        ss_grasp_row(table, &grasp, method->name, &outcome);
        accurate += method->accurate, accurate_held += method->accurate && outcome.held;
        weak += !method->accurate, weak_lost += !method->accurate && !outcome.held;
        if (!method->accurate && outcome.held) weak_creep = fmin(weak_creep, outcome.creep);
        if (m == 0) ours = outcome;
    }
    ss_paper_side_by_side(report, "The same hand, two solvers", "mass-ratio-grasp_held.html", "auto, to 1e-8",
                          "mass-ratio-grasp_lost.html", "nsgs, 200 iterations");

    double ours_shortest, weak_largest;
    if (!sweep(report, grasp, &ours_shortest, &weak_largest, err)) return false;
    ss_paper_reproduces(report, "solved to a tolerance: methods that hold the goblet", "1",
                        "accurate ones hold", accurate_held, accurate_held == accurate,
                        ss_paper_format(report, "of %d", accurate));
    ss_paper_reproduces(report, "stopped early: methods that lose the goblet", "1", "weak solvers lose it",
                        weak_lost, weak_lost > weak / 2, ss_paper_format(report, "of %d", weak));
    ss_paper_claim(report, "auto: hold time", "s", ours.hold, ours.held, "until the end of the run");
    ss_paper_claim(report, "auto: creep in the hand", "um/s", 1e6 * ours.creep, ours.creep < 1e-5,
                   "less than ten micrometres per second, by a line fitted to all steps at rest");
    ss_paper_claim(report, "auto: largest joint error", "m", ours.joint_gap, ours.joint_gap < 1e-3,
                   "while the fingers close; a thousandth of a metre is a seventh of a finger's thickness");
    ss_paper_claim(report, "auto: shortest hold time over all ratios", "s", ours_shortest,
                   ours_shortest > grasp.end - grasp.gripped - 0.5 * grasp.h,
                   report->quick ? "ratios of 1e2 and 1e4" : "ratios of 10 to 1e6");
    ss_paper_claim(report, "stopped early: largest ratio at which one holds", "1", weak_largest,
                   weak_largest < 1e6, "of nncg, nsgs and pgs with 200 iterations");
    return true;
}

const ss_paper ss_paper_mass_ratio_grasp = {
    .id = "mass-ratio-grasp",
    .title = "light fingers on a heavy arm hold a goblet",
    .reference = "Williams, Lu, Niebe, Andersen, Erleben, Trinkle 2013, Fig. 1",
    .about =
        "A hand whose finger links weigh a ten-thousandth of the arm closes on a goblet and lifts it, "
        "with one solver after another, and with ratios of masses from 10 to 1e6: how long the goblet is "
        "held, how fast it creeps, how far the joints open.",
    .run = run,
};
