#include "paper/census.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double ss_census_misaligned = 0.1;

bool ss_census_open(ss_census *census, ss_paper_report *report, const ss_census_method *methods, int count,
                    int most_frames, ss_error *err)
{
    *census =
        (ss_census){.report = report, .methods = methods, .method_count = count, .most_frames = most_frames};
    census->sessions = ss_arena_take(report->arena, (size_t)count, sizeof(ss_session *), "a census");
    census->time = ss_arena_take(report->arena, (size_t)most_frames, sizeof(double), "a census");
    census->entries = ss_arena_take(report->arena, (size_t)count * (size_t)most_frames,
                                    sizeof *census->entries, "a census");
    if (!census->sessions || !census->time || !census->entries)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    memset(census->sessions, 0, (size_t)count * sizeof(ss_session *));

    for (int m = 0; m < count; m++) {
        const ss_census_method *method = &methods[m];
        census->sessions[m] = ss_session_create(&(ss_request){.formulation = method->formulation,
                                                              .solver = method->solver,
                                                              .set = method->set,
                                                              .stop = method->stop,
                                                              .iterations = method->iterations,
                                                              .skip_exact = true},
                                                err);
        if (!census->sessions[m]) return ss_fail_in(err, "%s", method->name);
    }
    return true;
}

void ss_census_close(ss_census *census)
{
    for (int m = 0; census->sessions && m < census->method_count; m++)
        ss_session_destroy(census->sessions[m]);
}

/* Counts contacts by what their friction does. A contact slides when its friction is saturated and it moves
 * faster than a hundredth of what gravity gives a body in one step: slower ones are creep, and their
 * direction is rounding. */
static void count_contacts(const ss_result *result, double slow, ss_census_entry *entry)
{
    for (int c = 0; c < result->contact_count; c++) {
        const ss_contact_report *contact = &result->contacts[c];
        const double *f = result->answer->friction_impulse[c], *v = contact->sliding;
        if (contact->status == SS_CONTACT_OPEN) continue;
        if (contact->status == SS_CONTACT_STICK) {
            entry->sticking++;
            continue;
        }
        double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]),
               friction = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]),
               work = f[0] * v[0] + f[1] * v[1] + f[2] * v[2];
        entry->sliding++;
        if (speed <= slow || friction == 0.0) continue;
        entry->bad += work / (friction * speed) + 1.0 > ss_census_misaligned;
        entry->negative += work > 0.0;
    }
}

bool ss_census_take(ss_census *census, ss_scene_run *run, ss_error *err)
{
    static const char *const names[] = {"alignment",       "creep",       "cone",           "penetration",
                                        "dissipation_gap", "natural_map", "relative_energy"};
    const ss_frame *frame = ss_sim_frame(run->sim);
    const double *g = ss_world_gravity(run->world);
    double slow = 0.01 * frame->h * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (census->frame_count == census->most_frames) return true;
    int n = census->frame_count++;
    census->time[n] = ss_sim_time(run->sim);

    for (int m = 0; m < census->method_count; m++) {
        ss_census_entry *entry = &census->entries[m * census->most_frames + n];
        const ss_result *result = ss_session_solve(census->sessions[m], frame, NULL, err);
        if (!result) return ss_fail_in(err, "%s", census->methods[m].name);
        *entry =
            (ss_census_entry){.seconds = result->run.seconds, .solved = result->run.status == SS_CONVERGED};
        if (!result->answer) continue;
        count_contacts(result, slow, entry);

        double *values[] = {&entry->alignment,      &entry->creep,       &entry->cone,
                            &entry->penetration,    &entry->dissipation, &entry->natural_map,
                            &entry->relative_energy};
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            *values[i] = result->metrics[ss_metric_index(names[i])].value;
        entry->work = result->metrics[ss_metric_index("contact_work")].value;
        const char *store = census->methods[m].store;
        if (store && !ss_scene_run_result(run, store, ss_session_assembly(census->sessions[m]),
                                          result->answer, &result->run, err))
            return false;
    }
    return true;
}

const ss_census_entry *ss_census_at(const ss_census *census, int method, int frame)
{
    return &census->entries[method * census->most_frames + frame];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool ss_census_total(const ss_census *census, int method, ss_census_sum *sum, ss_error *err)
{
    int count = census->frame_count, carrying = 0, bad = 0, negative = 0, sticking = 0;
    *sum = (ss_census_sum){0};
    double *values[7];
    for (int i = 0; i < 7; i++) {
        values[i] = ss_arena_take(census->report->arena, (size_t)count + 1, sizeof(double), "a census");
        if (!values[i]) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    }

    for (int n = 0; n < count; n++) {
        const ss_census_entry *entry = ss_census_at(census, method, n);
        double of[7] = {entry->alignment,   entry->creep,       entry->cone,           entry->penetration,
                        entry->dissipation, entry->natural_map, entry->relative_energy};
        for (int i = 0; i < 7; i++) values[i][n] = of[i];
        carrying += entry->sticking + entry->sliding;
        sticking += entry->sticking, bad += entry->bad, negative += entry->negative;
        sum->frames_with_negative += entry->negative > 0;
        sum->solved += entry->solved;
        sum->seconds += entry->seconds / count;
    }

    double *to[7] = {&sum->alignment,   &sum->creep,       &sum->cone,           &sum->penetration,
                     &sum->dissipation, &sum->natural_map, &sum->relative_energy};
    for (int i = 0; i < 7; i++) {
        qsort(values[i], (size_t)count, sizeof *values[i], ascending);
        *to[i] = count ? values[i][count / 2] : NAN; // the median
    }
    if (carrying) {
        sum->bad = (double)bad / carrying;
        sum->negative = (double)negative / carrying;
        sum->sticking = (double)sticking / carrying;
    }
    return true;
}

void ss_census_panel(const ss_census *census, int method, const char *name)
{
    ss_paper_report *report = census->report;
    int count = census->frame_count;
    const char *title = census->methods[method].name;
    ss_figure *figure = ss_paper_figure(report, name, title, NULL);
    figure->panel = true;
    figure->x.label = "time, s", figure->y.label = "contacts that carry";
    figure->right.label = "alignment, creep (m/s), cone (N s)";
    figure->right.log = true, figure->right.from = 1e-10, figure->right.to = 1e2;
    double *y[6];
    for (int i = 0; i < 6; i++) {
        y[i] = ss_arena_take(report->arena, (size_t)count + 1, sizeof(double), "a panel");
        if (!y[i]) return;
    }

    for (int n = 0; n < count; n++) {
        const ss_census_entry *entry = ss_census_at(census, method, n);
        y[0][n] = entry->bad, y[1][n] = entry->sliding - entry->bad, y[2][n] = entry->sticking;
        double errors[3] = {entry->alignment, entry->creep, entry->cone};
        for (int i = 0; i < 3; i++) y[3 + i][n] = errors[i] > 0.0 ? fmax(errors[i], 1e-10) : 1e-10;
    }

    static const struct {
        const char *name, *colour;
    } looks[6] = {{"bad sliding direction", "#111111"},
                  {"good sliding", "#e8a9a0"},
                  {"sticking", "#8c1c2b"},
                  {"alignment", "#e02020"},
                  {"creep", "#7fb2e5"},
                  {"cone violation", "#000000"}};
    for (int i = 0; i < 3; i++)
        ss_figure_stack(figure, looks[i].name, count, census->time, y[i])->colour = looks[i].colour;
    for (int i = 3; i < 6; i++) {
        ss_plot_series *line = ss_figure_line(figure, looks[i].name, count, census->time, y[i]);
        line->colour = looks[i].colour;
        line->right = true;
        line->dashed = i == 5;
    }
}

bool ss_census_table(const ss_census *census, const char *title, const char *caption, ss_error *err)
{
    ss_paper_table *table = ss_paper_add_table(
        census->report, "methods", title, caption,
        "method|iterations|ms per frame|solved|bad direction, %|negative friction, %|frames with "
        "negative friction|alignment|creep, m/s|cone, N s|relative energy|natural map");
    for (int m = 0; m < census->method_count; m++) {
        const ss_census_method *method = &census->methods[m];
        ss_census_sum sum;
        if (!ss_census_total(census, m, &sum, err)) return false;
        ss_paper_cell(table, "%s", method->name);
        ss_paper_cell(table, "%d", method->iterations);
        ss_paper_cell(table, "%.2f", 1e3 * sum.seconds);
        ss_paper_cell(table, "%d of %d", sum.solved, census->frame_count);
        ss_paper_cell(table, "%.2f", 100.0 * sum.bad);
        ss_paper_cell(table, "%.2f", 100.0 * sum.negative);
        ss_paper_cell(table, "%d", sum.frames_with_negative);
        double of[5] = {sum.alignment, sum.creep, sum.cone, sum.relative_energy, sum.natural_map};
        for (int i = 0; i < 5; i++) ss_paper_cell(table, "%.1e", of[i]);
    }
    return true;
}
