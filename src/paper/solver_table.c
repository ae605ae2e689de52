/* Table 1 of RPI-MATLAB-Simulator's paper, measured: eight solvers on linear, mixed and nonlinear
 * complementarity problems of the same frames. */
#include "paper/scene_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SOLVERS = 8, CLASSES = 4, MOST_FRAMES = 16 };

static const struct {
    const char *name, *solver;
    int iterations; /* at most */
    /* the classes of Table 1; NULL: listed, but we have no certain copy of its columns */
    const char *printed;
} solvers[SOLVERS] = {
    {"Lemke", "lemke", 20000, NULL},
    {"PATH", "path", 20000, NULL},
    {"projected Gauss-Seidel", "pgs", 20000, "LCP, mLCP"},
    {"projected Jacobi", "jacobi", 20000, NULL},
    {"fixed point (prox)", "projected-fixed-point", 20000, "LCP, NCP"},
    {"interior point", "interior-point", 300, NULL},
    {"Fischer-Newton", "fischer-newton", 300, NULL},
    {"minmap-Newton", "minmap-newton", 300, NULL},
};

static const struct {
    const char *name, *formulation, *with;
} classes[CLASSES] = {
    {"LCP, no friction", "frictionless", ""},
    {"LCP, friction polygon", "stewart-trinkle", "directions=4"},
    {"mLCP, joints and friction boxes", "box", "bound=previous"},
    {"NCP, friction cones", "cone", ""},
};

/* Scenes and the step whose frame is taken. All have contacts; some have joints as well. */
static const struct {
    const char *scene, *parameter;
    int step;
    bool quick;
} places[] = {
    {"brick-wall", "rows=4", 5, true}, {"spheres125", "edge=3", 60, true}, {"box-drop", NULL, 80, false},
    {"cart", NULL, 60, true},          {"grasped-block", NULL, 5, true},   {"sliding-block", NULL, 30, false},
    {"belt", NULL, 20, false},         {"domino", NULL, 20, false},        {"masonry-arch", NULL, 5, false},
};
enum { PLACES = sizeof places / sizeof places[0] };

typedef struct cell {
    int tried, solved, refused;
    double worst;        /* relative energy error of the solved ones */
    double seconds;      /* of all solved ones */
    double worst_failed; /* relative energy error of those that were not */
    const char *why;     /* refusal */
} cell;

static bool measure(cell cells[SOLVERS][CLASSES], ss_paper_report *report, const ss_frame *frame,
                    ss_error *err)
{
    for (int c = 0; c < CLASSES; c++) {
        for (int s = 0; s < SOLVERS; s++) {
            ss_request request = {.formulation = classes[c].formulation,
                                  .with = classes[c].with,
                                  .solver = solvers[s].solver,
                                  .iterations = solvers[s].iterations,
                                  .stop = "relative_energy<1e-8",
                                  .skip_exact = true};
            cell *at = &cells[s][c];
            ss_session *session = ss_session_create(&request, err);
            const ss_result *result = session ? ss_session_solve(session, frame, NULL, err) : NULL;
            if (!result) {
                ss_session_destroy(session);
                return false;
            }

            at->tried++;
            double error = result->run.gauge[SS_GAUGE_RELATIVE_ENERGY];
            if (result->refusal) {
                at->refused++;
                at->why = ss_paper_format(report, "%s", result->refusal);
            } else if (error <= 1e-6) {
                at->solved++;
                at->worst = fmax(at->worst, error);
                at->seconds += result->run.seconds;
            } else {
                at->worst_failed = fmax(at->worst_failed, error);
            }
            ss_session_destroy(session);
        }
    }
    return true;
}

/* One frame of every scene, in one file. */
static bool take_frames(ss_paper_report *report, ss_frame *frames[PLACES], int *count, ss_error *err)
{
    const char *data = ss_paper_format(report, "%s_frames.h5", report->paper->id);
    ss_writer *writer = report->directory
                            ? ss_writer_open(ss_paper_path(report, data), SS_LAYOUT_CANONICAL, false, err)
                            : NULL;
    if (report->directory && !writer) return false;
    ss_paper_table *table = ss_paper_add_table(report, "scenes", "The frames", "Each is one step of a scene.",
                                               "scene|step|bodies|contacts|joint rows");

    bool good = true;
    for (int p = 0; good && p < PLACES; p++) {
        if (report->quick && !places[p].quick) continue;
        ss_scene_run run;
        const char *parameters[] = {places[p].parameter, NULL};
        good = ss_scene_run_open(&run, report, places[p].scene, parameters, NULL, err);
        for (int n = 0; good && n < places[p].step; n++) good = ss_scene_run_step(&run, err);

        ss_frame *frame = good ? ss_frame_copy(ss_sim_frame(run.sim), err) : NULL;
        good = frame != NULL;
        if (good) frames[(*count)++] = frame;
        if (good && writer) {
            ss_manifest manifest = {.title = (char *)(uintptr_t)places[p].scene,
                                    .gravity = {0.0, 0.0, -9.81}};
            good = ss_writer_simulation(writer, &manifest, err) && ss_writer_world(writer, run.world, err) &&
                   ss_writer_frame(writer, frame, err) &&
                   ss_writer_scenery(writer, ss_sim_scenery(run.sim), err);
        }
        if (good) {
            ss_paper_cell(table, "%s", places[p].scene);
            ss_paper_cell(table, "%d", places[p].step);
            ss_paper_cell(table, "%d", frame->bodies.count);
            ss_paper_cell(table, "%d", frame->contacts.count);
            ss_paper_cell(table, "%d", frame->constraints.row_count);
        }
        good = ss_scene_run_close(&run, good ? err : NULL) && good;
    }

    if (!writer) return good;
    if (!good) {
        ss_writer_discard(writer);
        return false;
    }
    if (!ss_writer_close(writer, err)) return false;
    ss_paper_note_file(report, data);
    ss_paper_recording(report, "The frames", data, NULL);
    return true;
}

static void judge(ss_paper_report *report, cell cells[SOLVERS][CLASSES])
{
    static const char *const words[CLASSES] = {"LCP", "LCP", "mLCP", "NCP"};
    for (int s = 0; s < SOLVERS; s++) {
        for (int c = 0; c < CLASSES; c++) {
            const cell *at = &cells[s][c];
            const char *name = ss_paper_format(report, "%s: %s", solvers[s].name, classes[c].name);
            double share = (double)at->solved / at->tried;
            bool refused = at->refused == at->tried;

            // Which must be refused: zeros on the diagonal by sweeps, cones by methods for linear problems.
            // Of the rest sweeps miss the tolerance on hard frames, the others solve all.
            bool sweeps = s >= 2 && s <= 4, must_refuse = (c == 1 && sweeps) || (c == 3 && s < 2);
            bool solved = sweeps ? 2 * at->solved >= at->tried : at->solved == at->tried;
            bool expected = must_refuse ? refused : at->refused == 0 && solved;
            const char *note =
                refused ? ss_paper_format(report, "not applicable: %s", at->why)
                : at->solved < at->tried
                    ? ss_paper_format(report, "error up to %.0e after %d iterations on the others",
                                      at->worst_failed, solvers[s].iterations)
                    : NULL;
            // ", mLCP" is not "LCP"
            bool printed = solvers[s].printed && (c == 2 ? strstr(solvers[s].printed, "mLCP") != NULL
                                                         : strncmp(solvers[s].printed, words[c], 3) == 0 ||
                                                               (c == 3 && strstr(solvers[s].printed, "NCP")));
            if (printed && refused)
                ss_paper_differs(
                    report, name, "solved", solvers[s].printed, share, expected,
                    "the sliding speed of a friction polygon has a zero on the diagonal of A, by which these "
                    "methods divide; on LCPs without such rows they work, see the column beside");
            else if (printed)
                ss_paper_reproduces(report, name, "solved", solvers[s].printed, share, expected, note);
            else
                ss_paper_claim(report, name, "solved", share, expected, note);
        }
    }
}

static bool run(ss_paper_report *report, ss_error *err)
{
    cell cells[SOLVERS][CLASSES] = {0};
    ss_frame *frames[PLACES] = {NULL};
    int count = 0;
    bool good = take_frames(report, frames, &count, err);
    for (int f = 0; f < count; f++) {
        ss_paper_progress(report, "frame", f, count);
        good = good && measure(cells, report, frames[f], err);
        ss_frame_destroy(frames[f]);
    }
    if (!good) return false;

    judge(report, cells);
    ss_paper_table *table = ss_paper_add_table(
        report, "applicability", "Table 1, measured",
        "Frames solved (relative energy error below 1e-6; the stop rule is 1e-8), the largest error among "
        "them, and the mean "
        "time of a solve on this machine; or why not.",
        "solver|LCP, no friction|LCP, friction polygon|mLCP, joints and friction boxes|NCP, friction cones");

    for (int s = 0; s < SOLVERS; s++) {
        ss_paper_cell(table, "%s", solvers[s].name);
        for (int c = 0; c < CLASSES; c++) {
            const cell *at = &cells[s][c];
            if (at->refused == at->tried)
                ss_paper_cell(table, "not applicable: %s", at->why);
            else
                ss_paper_cell(
                    table, "%d of %d, %.0e, %.2g ms%s", at->solved, at->tried, at->worst,
                    1e3 * at->seconds / fmax(at->solved, 1),
                    at->solved < at->tried
                        ? ss_paper_format(report, "; failed with errors up to %.0e", at->worst_failed)
                        : "");
        }
    }
    return true;
}

const ss_paper ss_paper_solver_table = {
    .id = "solver-table",
    .title = "which solver accepts and solves which class of problems",
    .reference = "Williams, Lu, Niebe, Andersen, Erleben, Trinkle 2013, Table 1",
    .about =
        "Eight solvers on the linear (LCP), mixed (mLCP) and nonlinear (NCP) complementarity problems of "
        "the same frames. Printed classes are given where they are known to us for certain; every cell is "
        "measured.",
    .run = run,
};
