/* paper/scene_run.h - a scene that a study runs step by step, with its frames recorded and a replay made. */
#ifndef SS_PAPER_SCENE_RUN_H
#define SS_PAPER_SCENE_RUN_H

#include "paper/paper.h"
#include "sim/scene_setup.h"

typedef struct ss_scene_run {
    ss_paper_report *report;
    ss_scene_setup setup;
    ss_world *world; /* of the setup */
    ss_sim *sim;
    /* a step failed: the world is as before it, `why` says what happened, and no further step is made */
    bool broke;
    ss_error why;
    /* recording */
    ss_writer *writer;        /* NULL: none; results may be added to the frame of the last step */
    const char *title, *data; /* in the arena of the report */
    int every;
    bool recorded; /* the last step is in the file */
} ss_scene_run;

/* parameters: "rows=12", of the scene; settings: "dt=0.01", "solver=auto", "with=gap_term=zero", of the
 * simulation or its contacts, which must live as long as the run. Both end with NULL, and may be NULL. */
bool ss_scene_run_open(ss_scene_run *run, ss_paper_report *report, const char *scene,
                       const char *const *parameters, const char *const *settings, ss_error *err);
/* Records every k-th step from now on as DIR/ID_NAME.h5; nothing without a directory. */
bool ss_scene_run_record(ss_scene_run *run, const char *name, const char *title, int every, ss_error *err);
/* One step. False: out of memory or disk; a step that could not be made only sets `broke`. */
bool ss_scene_run_step(ss_scene_run *run, ss_error *err);
/* A number of the scene's own ("angle"); NaN if it has none of that name. */
double ss_scene_run_figure(const ss_scene_run *run, const char *name);
/* Adds the answer of another solver to the frame of the last step, if that is recorded; `assembly` is the one
 * it was made with. From a session: ss_session_assembly, result->answer, &result->run. */
bool ss_scene_run_result(ss_scene_run *run, const char *solver, ss_assembly *assembly,
                         const ss_answer *answer, const ss_solve_result *solved, ss_error *err);
/* Closes the recording, writes the replay page, adds both to the page of the study, and frees everything.
 * To be called in any case. `err` of an earlier failure is kept. */
bool ss_scene_run_close(ss_scene_run *run, ss_error *err);

#endif
