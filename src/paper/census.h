/* paper/census.h - the frames of a run, each solved from zero by one method after another, and what its
 * contacts do in each answer: stick, slide against friction, or slide where friction does not point. */
#ifndef SS_PAPER_CENSUS_H
#define SS_PAPER_CENSUS_H

#include "paper/scene_run.h"

typedef struct ss_census_method {
    const char *name, *formulation, *solver, *set, *stop; /* as in ss_request */
    int iterations;
    const char *store; /* name of its answers in the recording; NULL: not stored */
} ss_census_method;

/* One method on one frame. */
typedef struct ss_census_entry {
    int sticking, sliding, bad; /* contacts; bad: of the sliding ones, those in the wrong direction */
    int negative;               /* of the bad ones, those whose friction drives the motion */
    double alignment, creep, cone, penetration, dissipation, natural_map, relative_energy; /* metrics */
    double work; /* J: metric contact_work */
    double seconds;
    bool solved; /* the stop rule was met */
} ss_census_entry;

typedef struct ss_census {
    ss_paper_report *report;
    const ss_census_method *methods;
    int method_count, frame_count, most_frames;
    ss_session **sessions;
    double *time;             /* [most_frames] s */
    ss_census_entry *entries; /* [method_count][most_frames] */
} ss_census;

/* Friction that is more than this off the direction against the sliding, as |cos + 1|, is bad: 26 degrees. */
extern const double ss_census_misaligned;

bool ss_census_open(ss_census *census, ss_paper_report *report, const ss_census_method *methods, int count,
                    int most_frames, ss_error *err);
void ss_census_close(ss_census *census);
/* Solves the frame of the last step with every method. */
bool ss_census_take(ss_census *census, ss_scene_run *run, ss_error *err);
const ss_census_entry *ss_census_at(const ss_census *census, int method, int frame);
/* Of a method over all frames: shares of the contacts that carry, median errors, mean time. */
typedef struct ss_census_sum {
    double bad, negative, sticking; /* share of the contacts that carry an impulse */
    int frames_with_negative, solved;
    double alignment, creep, cone, penetration, dissipation, natural_map, relative_energy; /* medians */
    double seconds;                                                                        /* mean */
} ss_census_sum;
bool ss_census_total(const ss_census *census, int method, ss_census_sum *sum, ss_error *err);
/* The panel of a method: stacked bars of contacts per frame, lines of errors by the axis on the right. */
void ss_census_panel(const ss_census *census, int method, const char *name);
/* A row per method. */
bool ss_census_table(const ss_census *census, const char *title, const char *caption, ss_error *err);

#endif
