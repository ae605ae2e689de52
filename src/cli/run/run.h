/* cli/run/run.h - the parts of `stickslip run`. */
#ifndef SS_CLI_RUN_RUN_H
#define SS_CLI_RUN_RUN_H

#include "campaign/campaign.h"
#include "cli/extensions.h"

#include <stickslip/modelfile.h>

typedef struct ss_run_verb_options {
    ss_common_options common;
    ss_option_list parameters, calls;
    int steps;
    double time; /* s */
    double tolerance;
    bool accurate;
    const char *record;
    int every;
    ss_recording_options recording;
    bool no_metrics, thumbnail;
    const char *checkpoint;
    double checkpoint_every; /* s of wall time */
    bool resume;
    const char *trace, *picture, *write_model;
    double length_unit, mass_unit, time_unit;
    bool json;
    const char *study; /* NULL: none */
    bool strict, strict_motion;
    const char *collision; /* "ours", or the name of a hook that replaces it */
    ss_model_options model;
    ss_extension_options extensions;
    ss_sim_options sim;
} ss_run_verb_options;

/* Largest, sum and last of something measured at every step. */
typedef struct ss_run_tally {
    double most, sum, last;
} ss_run_tally;

/* What a whole run adds up to. */
typedef struct ss_run_summary {
    int64_t steps;
    double seconds; /* of stepping */
    ss_run_tally contacts, penetration, iterations, relative_energy, joint_error;
    double broad, narrow, assembly, solve, integration; /* s */
    int64_t unfinished;                                 /* steps whose stop rule was not reached */
    int64_t finished;                                   /* islands that needed the finisher */
    int64_t finished_steps;                             /* steps with such islands */
    double start_energy, least_energy, most_energy;     /* kinetic + potential, J */
    double drift;                                       /* m: farthest a body is from where it started */
    int drift_body;
    double turn;                               /* rad: most a body has turned */
    int64_t peg_steps, peg_solves, peg_halved; /* with alternatives; ordinary frames solved; done in pieces */
    int64_t peg_outcomes[SS_PEG_JAMMED + 1];   /* steps by their worst ss_peg_status */
} ss_run_summary;

typedef struct ss_running {
    const ss_command *command;
    const ss_run_verb_options *options;
    const ss_scene *scene;
    ss_scene model_scene;             /* what `scene` is for a model file */
    ss_findings findings;             /* of the model file */
    void *parameters;                 /* of the scene */
    void *state;                      /* of the scene */
    ss_plugin_file *collision_plugin; /* of --collision; NULL: none, or loaded by --plugin */
    ss_world *world;
    ss_sim *sim;
    ss_sim_options sim_options; /* table, then scene, then --accurate, then user */
    char tolerance_rule[SS_TOLERANCE_RULE];
    int refine;    /* h is divided by it, and there are as many more steps; 0 counts as 1 */
    bool solved;   /* every step to 1e-8, whatever the user says about solvers */
    int64_t steps; /* to be done in all */
    ss_run_summary summary;
    double (*start_pose)[7];
    /* recording */
    ss_writer *writer;
    int recorded, skip; /* frames in the file; frames still to come that it holds already */
    int trips;          /* of the flight recorder */
    double next_checkpoint;
    void *trace; /* FILE */
} ss_running;

/* From names to a simulation that is ready to go. */
bool ss_running_build(ss_running *run, ss_error *err);
void ss_running_free(ss_running *run);
/* The scene's own numbers, which are about SI units: none when the world was changed to others. */
int ss_running_figures(const ss_running *run, ss_scene_result figures[SS_SCENE_FIGURES]);

/* Recording, checkpoints, the trace. Begun before the first step, told after each. */
bool ss_recording_begin(ss_running *run, ss_error *err);
bool ss_recording_step(ss_running *run, ss_error *err);
bool ss_recording_end(ss_running *run, ss_error *err); /* also after an interruption */

/* `--study`: the same scene several times, and what to make of the differences. */
bool ss_study_run(const ss_command *command, ss_error *err);

void ss_summary_begin(ss_running *run);
void ss_summary_step(ss_running *run);
void ss_summary_print(ss_running *run);

#endif
