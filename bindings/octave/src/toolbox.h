/* toolbox.h - what the files of the MEX share.
 *
 * One MEX function, stickslip_mex('command', ...), serves all m-files. A command is a function of the type
 * tb_command and a line in commands.def. It never raises an error of Octave itself, which would jump over its
 * own cleaning up: it fills err, frees what it holds and returns false, and the dispatcher raises the error.
 *
 * Only real data; numbers are taken from any numeric class and given as doubles, unless a file has another
 * type. Indices are 1-based in Octave, 0-based here. mxGetData is used throughout, which means the same in
 * every version of MATLAB and Octave. */
#ifndef TOOLBOX_H
#define TOOLBOX_H

#include <mex.h>
#include <stickslip/stickslip.h>

typedef struct tb_call {
    int outputs; /* wanted; at least one may always be set */
    mxArray **output;
    int inputs; /* without the name of the command */
    const mxArray **input;
} tb_call;
typedef bool tb_command(const tb_call *call, ss_error *err);

/* ---- values (values.c) ------------------------------------------------------------------------------- */

/* NULL if the struct has no such field, or is not a struct. */
const mxArray *tb_get(const mxArray *structure, const char *field);
/* Adds or replaces; takes the value over. */
void tb_set(mxArray *structure, const char *field, mxArray *value);
mxArray *tb_struct(void);                                      /* 1 x 1, no fields yet */
mxArray *tb_real(int rows, int columns, const double *values); /* column by column; NULL: zeros */
mxArray *tb_number(double value);
mxArray *tb_text(const char *text);                     /* NULL: '' */
mxArray *tb_texts(int count, const char *const *texts); /* column of cells */
mxArray *tb_sparse(const ss_sparse *matrix);
mxArray *tb_findings(const ss_findings *findings); /* 1 x n struct: kind, place, message */
mxArray *tb_options(const ss_option *table);       /* 1 x n struct: name, default, help */

/* Is it a real, numeric or logical array, full or sparse? */
bool tb_is_numeric(const mxArray *value);
size_t tb_count(const mxArray *value);
/* Element i of a numeric array of any class, full or sparse. */
double tb_at(const mxArray *value, size_t i);
/* Copies an array of any class and shape into `values`, which has room for `count`; `what` names it in the
 * message when the number of elements is another. */
bool tb_copy(const mxArray *value, size_t count, double *values, const char *what, ss_error *err);
bool tb_get_number(const mxArray *value, const char *what, double *number, ss_error *err);
/* A number from `low` to `high` without a fraction. */
bool tb_get_int(const mxArray *value, const char *what, int low, int high, int *number, ss_error *err);
/* To be freed with mxFree; NULL with err for anything but a text. */
char *tb_get_text(const mxArray *value, const char *what, ss_error *err);
/* The same of a field that may be missing or empty, *text is then NULL. */
bool tb_get_option(const mxArray *structure, const char *field, char **text, ss_error *err);
bool tb_get_flag(const mxArray *structure, const char *field, bool *flag, ss_error *err);
/* A numeric field that may be missing, *number is then unchanged. */
bool tb_get_real(const mxArray *structure, const char *field, double *number, ss_error *err);
ss_sparse *tb_get_sparse(const mxArray *value, const char *what, ss_error *err);
/* A valid name of a field from any text: other characters become _. */
void tb_field_name(const char *text, char name[64]);

/* ---- objects that live between calls (handles.c) ------------------------------------------------------ */

typedef enum tb_kind { TB_NONE, TB_FILE, TB_WRITER, TB_WORLD, TB_SIM, TB_KINDS } tb_kind;
/* Keeps an object under a new number, 1, 2, ..., and the MEX in memory; `destroy` is called by tb_drop, and
 * for what is left when Octave ends or the MEX is cleared. NULL with err when out of memory. */
mxArray *tb_keep(tb_kind kind, void *object, void (*destroy)(void *), ss_error *err);
void *tb_find(tb_kind kind, const mxArray *number, ss_error *err);
/* Forgets the object; with `destroy`, destroys it. Numbers that do not exist are ignored. */
void tb_drop(tb_kind kind, const mxArray *number, bool destroy);
void tb_drop_all(void);
/* Octave ends: its own objects must be left alone, they may call back into a MEX that is no longer there. */
extern bool tb_leaving;

/* ---- frames and answers (frames.c) ------------------------------------------------------------------- */

/* As Octave's load shows the frame in a canonical file, and the field dialect = 'canonical'. */
mxArray *tb_frame(const ss_frame *frame);
/* From such a struct, or from one that was loaded from a file of any dialect. Checked: a faulty frame is an
 * error that names the first fault, unless `faults` is given, which gets them all. */
ss_frame *tb_get_frame(const mxArray *structure, ss_findings *findings, bool check, ss_error *err);
bool tb_is_frame(const mxArray *structure);
mxArray *tb_answer(const ss_answer *answer);
ss_answer *tb_get_answer(const mxArray *structure, const ss_frame *frame, ss_error *err);

/* ---- problems (problems.c) --------------------------------------------------------------------------- */

mxArray *tb_problem(const ss_problem *problem);
ss_problem *tb_get_problem(const mxArray *structure, ss_error *err);
mxArray *tb_metrics(const ss_metric_value *values);        /* struct: name = value, NaN = n/a */
mxArray *tb_metric_details(const ss_metric_value *values); /* 1 x n struct: name, value, unit, ... */
mxArray *tb_gauges(const double *values);
mxArray *tb_contacts(const ss_contact_report *contacts, int count);
/* An assembly of the frame, by a formulation's name (NULL: cone) and options "a=1 b=2" (NULL: none). */
ss_assembly *tb_assemble(const ss_frame *frame, const char *formulation, const char *with,
                         ss_findings *losses, ss_error *err);

/* ---- cone problems (cones.c) ------------------------------------------------------------------------- */

mxArray *tb_cone(const ss_cone *cone);
ss_cone *tb_get_cone(const mxArray *structure, ss_error *err);
bool tb_is_cone(const mxArray *structure);

/* ---- plug-ins (plugin.c) ------------------------------------------------------------------------------ */

/* A solver of a plug-in, which runs in a process of its own. */
typedef struct tb_fence {
    const char *path, *solver, *set; /* shared object; name of the solver (NULL: its first); its options */
    ss_run_options run;
    /* The outcome: */
    bool ran;
    ss_status status;
    int iterations, kept_iteration;
    double seconds;
    ss_history history;
    char notes[2000];
} tb_fence;
/* As ss_solver.solve. */
ss_status tb_fence_solve(tb_fence *fence, const ss_problem *problem, ss_run *run, double *x);
void tb_fence_free(tb_fence *fence);

/* ---- commands ----------------------------------------------------------------------------------------- */

#define TB_COMMAND(name, least, most) tb_command tb_do_##name;
#include "commands.def"
#undef TB_COMMAND

#endif
