#include "paper/scene_run.h"

#include "report/picture.h"
#include "report/replay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double replay_megabytes = 8.0; // of one page: enough for hundreds of frames, and quick to open

bool ss_scene_run_open(ss_scene_run *run, ss_paper_report *report, const char *scene,
                       const char *const *parameters, const char *const *settings, ss_error *err)
{
    *run = (ss_scene_run){.report = report};
    bool good = ss_scene_setup_open(&run->setup, scene, parameters, settings, (ss_unit_factors){0}, err);
    run->world = run->setup.world;
    run->sim = run->setup.sim;
    return good;
}

bool ss_scene_run_record(ss_scene_run *run, const char *name, const char *title, int every, ss_error *err)
{
    ss_paper_report *report = run->report;
    if (!report->directory) return true;
    run->title = ss_paper_format(report, "%s", title);
    run->data = ss_paper_format(report, "%s_%s.h5", report->paper->id, name);
    run->every = every;
    run->writer = ss_writer_open(ss_paper_path(report, run->data), SS_LAYOUT_CANONICAL, false, err);
    if (!run->writer) return false;
    ss_picture picture = {0};
    char toolkit[80];
    snprintf(toolkit, sizeof toolkit, "stickslip %s", ss_version());
    const double *gravity = ss_world_gravity(run->world);
    bool good = ss_picture_draw(run->world, &run->setup.scene->camera, 480, 320, &picture, err);
    ss_manifest manifest = {.toolkit = toolkit,
                            .title = (char *)(uintptr_t)run->title,
                            .description = (char *)(uintptr_t)report->paper->about,
                            .keywords = (char *)(uintptr_t)run->setup.scene->name,
                            .gravity = {gravity[0], gravity[1], gravity[2]},
                            .image_width = picture.width,
                            .image_height = picture.height,
                            .image = picture.rgb};
    good = good && ss_writer_simulation(run->writer, &manifest, err) &&
           ss_writer_world(run->writer, run->world, err);
    ss_picture_free(&picture);
    return good;
}

static bool write_answer(ss_scene_run *run, const ss_stored_result *result, ss_assembly *assembly,
                         const ss_frame *frame, ss_error *err)
{
    ss_metric_value *metrics = ss_allocate((size_t)ss_metric_count(), sizeof *metrics);
    ss_contact_report *contacts = ss_allocate((size_t)frame->contacts.count, sizeof *contacts);
    ss_case what = {.assembly = assembly, .frame = frame, .answer = result->answer, .skip_exact = true};
    bool good = (metrics && contacts) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for metrics");
    good = good && ss_judge(&what, metrics, contacts, err) &&
           ss_writer_judged_result(run->writer, result, assembly, metrics, contacts, err);
    ss_release(metrics);
    ss_release(contacts);
    return good;
}

bool ss_scene_run_step(ss_scene_run *run, ss_error *err)
{
    run->recorded = false;
    if (run->broke) return true;
    if (!ss_sim_step(run->sim, &run->why)) {
        run->broke = true;
        return run->why.code != SS_ERROR_RESOURCES || ss_fail(err, run->why.code, "%s", run->why.message);
    }
    if (!run->writer || (ss_sim_steps(run->sim) - 1) % run->every != 0) return true;
    const ss_frame *frame = ss_sim_frame(run->sim);
    ss_sim_report report = ss_sim_last(run->sim);
    ss_stored_result result = {.solver = (char *)(uintptr_t)run->setup.options.solver,
                               .answer = (ss_answer *)(uintptr_t)ss_sim_answer(run->sim),
                               .iterations = report.iterations,
                               .error = report.relative_energy,
                               .seconds = report.solve};
    run->recorded = true;
    return ss_writer_frame(run->writer, frame, err) &&
           ss_writer_scenery(run->writer, ss_sim_scenery(run->sim), err) &&
           write_answer(run, &result, ss_sim_assembly(run->sim), frame, err);
}

bool ss_scene_run_result(ss_scene_run *run, const char *solver, ss_assembly *assembly,
                         const ss_answer *answer, const ss_solve_result *solved, ss_error *err)
{
    if (!run->recorded || !answer) return true;
    ss_stored_result stored = {.solver = (char *)(uintptr_t)solver,
                               .answer = (ss_answer *)(uintptr_t)answer,
                               .iterations = solved->iterations,
                               .error = solved->gauge[SS_GAUGE_RELATIVE_ENERGY],
                               .seconds = solved->seconds};
    return write_answer(run, &stored, assembly, ss_assembly_frame(assembly), err);
}

double ss_scene_run_figure(const ss_scene_run *run, const char *name)
{
    ss_scene_result figures[SS_SCENE_FIGURES];
    int count = run->setup.scene->figures
                    ? run->setup.scene->figures(run->setup.parameters, run->sim, run->setup.state, figures)
                    : 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(figures[i].name, name) == 0) return figures[i].value;
    }
    return NAN;
}

bool ss_scene_run_close(ss_scene_run *run, ss_error *err)
{
    ss_paper_report *report = run->report;
    bool good = true;
    if (run->writer) {
        good = ss_writer_close(run->writer, err);
        size_t stem = strlen(run->data) - 3; // without ".h5"
        const char *replay = ss_paper_format(report, "%.*s.html", (int)stem, run->data);

        // The data set as a page that shows it.
        const char *path = ss_paper_path(report, run->data);
        ss_findings findings = {.limit = 1};
        ss_replay_options options = {.megabytes = replay_megabytes, .title = run->title};
        ss_bpmd *file = good ? ss_bpmd_open(path, NULL, NULL, err) : NULL;
        ss_replay *shown = file ? ss_replay_open(file, path, &options, &findings, err) : NULL;
        good = shown && ss_replay_write(shown, ss_paper_path(report, replay), err);
        ss_replay_close(shown);
        ss_bpmd_close(file);
        ss_findings_free(&findings);
        if (good) {
            ss_paper_note_file(report, run->data);
            ss_paper_note_file(report, replay);
            ss_paper_recording(report, run->title, run->data, replay);
        }
    }
    ss_scene_setup_close(&run->setup);
    *run = (ss_scene_run){.report = report, .broke = run->broke, .why = run->why};
    return good;
}
