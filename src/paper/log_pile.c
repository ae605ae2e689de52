/* The log pile of the BPMD paper, Fig. 3: four solvers with the same work on every frame, and ours. */
#include "paper/census.h"

#include <math.h>

/* Equal work: 200 sweeps of pgs take 20.7 million instructions on a frame of 300 contacts at 1.2 s
 * (callgrind), the others with these limits 18.4, 21.0 and 24.6 million. Times are in the table. */
static const ss_census_method methods[] = {
    {"pgs", "cone", "pgs", "sweep=forward", "none", 200, "pgs"},
    {"morales", "box", "morales", NULL, "none", 6, "morales"},
    {"alart-curnier", "cone", "alart-curnier", NULL, "none", 4, "alart-curnier"},
    {"block pivot + pgs split", "box", "normal-friction-splitting", NULL, "none", 2, "split"},
    {"auto, to 1e-8", "cone", "auto", NULL, "relative_energy<1e-8", 100000, "ours"},
    {"pgs, twice as long", "cone", "pgs", "sweep=forward", "none", 400, NULL},
};
enum { METHODS = sizeof methods / sizeof methods[0], PUBLISHED = 4, OURS = 4, LONGER = 5 };

static bool judge(ss_paper_report *report, const ss_census *census, ss_error *err)
{
    ss_census_sum sums[METHODS];
    for (int m = 0; m < METHODS; m++) {
        if (!ss_census_total(census, m, &sums[m], err)) return false;
    }

    double stagnation = sums[0].relative_energy / sums[LONGER].relative_energy;
    ss_paper_reproduces(report, "pgs: error at 200 iterations over that at 400", "1", "stagnated", stagnation,
                        stagnation < 10.0,
                        "median relative energy error; twice the work gains less than one digit");

    for (int m = 0; m < PUBLISHED; m++) {
        ss_paper_reproduces(
            report, ss_paper_format(report, "%s: contacts that slide in a bad direction", methods[m].name),
            "%", "black parts of the bars", 100.0 * sums[m].bad, sums[m].bad > 0.0,
            "of all contacts that carry: friction more than 26 degrees off the direction against the "
            "sliding");
        ss_paper_number(report,
                        ss_paper_format(report, "%s: contacts with negative friction", methods[m].name), "%",
                        NULL, 100.0 * sums[m].negative,
                        ss_paper_format(report, "friction that drives the motion, in %d of %d frames",
                                        sums[m].frames_with_negative, census->frame_count));
    }

    ss_paper_claim(report, "auto: contacts that slide in a bad direction", "%", 100.0 * sums[OURS].bad,
                   sums[OURS].bad == 0.0, "in all frames");
    ss_paper_claim(report, "auto: contacts with negative friction", "%", 100.0 * sums[OURS].negative,
                   sums[OURS].negative == 0.0, "in all frames");
    ss_paper_claim(report, "auto: creep of contacts that stick", "m/s", sums[OURS].creep,
                   sums[OURS].creep < 1e-6, "median; gravity gives 0.098 m/s in one step");

    double least = INFINITY;
    for (int m = 0; m < PUBLISHED; m++) least = fmin(least, sums[m].creep);
    ss_paper_claim(report, "creep: least of the four over ours", "1", least / sums[OURS].creep,
                   least > 1e3 * sums[OURS].creep, "medians over the frames");
    ss_paper_claim(
        report, "friction box: cone violation of morales over that of pgs", "1",
        sums[1].cone / fmax(sums[0].cone, 1e-300), sums[1].cone > 1e3 * sums[0].cone,
        "the box reaches beyond the cone at its corners, by up to 41 %; that is the formulation, not the "
        "solver");
    return true;
}

static bool run(ss_paper_report *report, ss_error *err)
{
    int steps = report->quick ? 120 : 240, every = report->quick ? 12 : 4, frames = steps / every + 1;
    static const char *const settings[] = {"solver=auto", "finisher=none", "iterations=100000",
                                           "stop=relative_energy<1e-8", NULL};
    static const char *const pile[] = {"count=80", "slope=30", "run=1.5", NULL};
    static const char *const small[] = {"count=48", "slope=30", "run=0.5", NULL};
    ss_paper_text(
        report,
        "Eighty logs of 3 m slide 1.5 m down a plane of 30 degrees, friction 0.4, between side walls and "
        "against a stop; at the end there are 320 contacts. The simulation is driven by accurate "
        "answers. Frames are taken every 0.04 s and solved from zero by the four methods of the paper, "
        "each with the work of 200 sweeps of Gauss-Seidel (within 20 %% by instructions counted), and by "
        "ours. Bars count the contacts that carry: sliding in a bad direction (black), sliding well "
        "(light red), sticking (dark red). Lines: alignment (red), creep of sticking contacts (pale "
        "blue), cone violation (black, dashed), all 2-norms over the contacts of a frame.");

    ss_scene_run run;
    ss_census census = {0};
    bool good =
        ss_scene_run_open(&run, report, "log-pile", report->quick ? small : pile, settings, err) &&
        ss_scene_run_record(&run, "frames", "Log pile, with the answers of five methods", every, err) &&
        ss_census_open(&census, report, methods, METHODS, frames, err);

    for (int n = 0; good && n < steps && !run.broke; n++) {
        good = ss_scene_run_step(&run, err);
        if (good && n % every == 0) good = ss_census_take(&census, &run, err);
        if (n % 20 == 0) ss_paper_progress(report, "frames", n, steps);
    }

    for (int m = 0; good && m <= OURS; m++) ss_census_panel(&census, m, methods[m].store);
    good = good &&
           ss_census_table(
               &census, "The methods over all frames",
               "Errors are medians. Times are those of this run, on this machine; auto takes as long as it "
               "needs. Solved: the stop rule was met, where there is one.",
               err) &&
           judge(report, &census, err);
    ss_census_close(&census);
    return ss_scene_run_close(&run, err) && good;
}

const ss_paper ss_paper_log_pile = {
    .id = "log-pile",
    .title = "logs on a slope: four solvers with the same work",
    .reference = "Lacoursière, Linde, Lu, Trinkle 2015, Fig. 3",
    .about = "Long thin logs slide down an inclined plane into a pile. Gauss-Seidel, Gauss-Seidel with "
             "subspace minimisation (Morales et al.), the Newton method of Alart and Curnier, and block "
             "pivoting split from Gauss-Seidel friction solve every frame with the same work: which contacts "
             "slide against their friction, which slide where friction does not point, and which friction "
             "drives the motion.",
    .run = run,
};
