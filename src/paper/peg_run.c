#include "paper/peg_run.h"

#include "paper/scene_run.h"

#include <math.h>
#include <stdio.h>

/* Faces that the body is below by more than the margin are no contacts. The formulation looks at gaps above
 * its own margin as open. */
static bool leave_deep_faces(ss_sim *sim, void *context, ss_error *err)
{
    const ss_peg_run *how = context;
    ss_frame *frame = ss_sim_frame_edit(sim);
    (void)err;
    for (int c = 0; c < frame->contacts.count; c++)
        if (frame->contacts.gap[c] < -how->margin) frame->contacts.gap[c] = 1e3;
    for (int r = 0; r < frame->subcontacts.count; r++)
        if (frame->subcontacts.gap[r] < -how->margin) frame->subcontacts.gap[r] = 1e3;
    return true;
}

bool ss_peg_run_scene(ss_paper_report *report, const ss_peg_run *how, ss_peg_outcome *outcome, ss_error *err)
{
    // the settings as text, as on the command line
    char h[40], margin[40], mode[40], formulation[80], with[3][80];
    const char *settings[12];
    int count = 0;
    snprintf(h, sizeof h, "dt=%.17g", how->h);
    snprintf(margin, sizeof margin, "margin=%.17g", how->margin);
    settings[count++] = h;
    settings[count++] = margin;
    snprintf(mode, sizeof mode, "peg=%s", ss_peg_mode_name(how->peg));
    settings[count++] = mode;
    settings[count++] = "threads=1";
    if (how->linear) settings[count++] = "refine=0";
    if (how->formulation) {
        snprintf(formulation, sizeof formulation, "formulation=%s", how->formulation);
        settings[count++] = formulation;
    }
    for (int i = 0; i < 3 && how->with[i]; i++) {
        snprintf(with[i], sizeof with[i], "with=%s", how->with[i]);
        settings[count++] = with[i];
    }
    settings[count] = NULL;

    // the run
    ss_scene_run run;
    *outcome = (ss_peg_outcome){0};
    bool good = ss_scene_run_open(&run, report, how->scene, how->parameters, settings, err) &&
                (!how->record || ss_scene_run_record(&run, how->record, how->title, 1, err));
    if (good && how->near_only)
        good = ss_sim_call_at(run.sim, SS_BEFORE_SOLVE, leave_deep_faces, (void *)(uintptr_t)how, err);
    int steps = (int)lround(how->time / how->h);
    for (int n = 1; good && n <= steps; n++) {
        good = ss_scene_run_step(&run, err);
        if (!good || run.broke) break;
        const ss_answer *answer = ss_sim_answer(run.sim);
        double sum = 0.0;
        for (int c = 0; c < answer->contacts; c++) sum += answer->normal_impulse[c];
        for (int r = 0; r < answer->subcontacts; r++) sum += answer->sub_normal_impulse[r];
        if (sum > 0.0 && outcome->impulse == 0.0) {
            outcome->first = sum;
            outcome->at = n * how->h;
        }
        outcome->impulse += sum;
    }
    if (good) {
        outcome->z = ss_world_body(run.world, 0)->position[2];
        outcome->speed = ss_world_body(run.world, 0)->velocity[0];
        outcome->broke = run.broke;
    }
    return ss_scene_run_close(&run, good ? err : NULL) && good;
}
