/* paper/paper.h - studies: published experiments run again and compared with the print, and findings of our
 * own in the same form.
 *
 * A study is a file <id>.c that ends with `const ss_paper ss_paper_<id>`, and a line in papers.def. It runs
 * the library's own formulations, solvers and measures, so that it is the library that is compared, and hands
 * in
 *
 *   values      numbers with a verdict: ss_paper_number, _claim, _reproduces, _differs
 *   figures     ss_paper_figure and figure.h; each is written as SVG and CSV
 *   tables      ss_paper_table, ss_paper_cell; each is written as CSV
 *   text        ss_paper_text: a paragraph of the page
 *   recordings  scene_run.h: the frames as a data set, and the replay page
 *
 * The page, the index, JSON, and the table on the terminal come from these; a study prints nothing. */
#ifndef SS_PAPER_PAPER_H
#define SS_PAPER_PAPER_H

#include <stickslip/stickslip.h>

#include "figure/figure.h"
#include "problem/gauge.h"

/* code, word */
#define SS_VERDICT_LIST(X)                                                                      \
    X(SS_VERDICT_AGREES, "agrees")         /* with a printed number, to its last digit */       \
    X(SS_VERDICT_REPRODUCED, "reproduced") /* a claim of the paper, measured by a number */     \
    X(SS_VERDICT_HOLDS, "holds")           /* ours: a number or claim that is not in print */   \
    X(SS_VERDICT_MISPRINT, "misprint")     /* the print is wrong, and the note says why */      \
    X(SS_VERDICT_DIFFERS, "differs")       /* from the print, for a reason that was measured */ \
    X(SS_VERDICT_FAILS, "fails")           /* not as it should be, and no reason is known */
typedef enum ss_verdict {
#define SS_VERDICT_ENUM(code, word) code,
    SS_VERDICT_LIST(SS_VERDICT_ENUM)
#undef SS_VERDICT_ENUM
        SS_VERDICT_COUNT
} ss_verdict;
const char *ss_verdict_name(ss_verdict verdict);

typedef struct ss_paper_value {
    const char *name, *unit;
    const char *printed; /* as in the paper: "4.44e-2", "about 7/8 of the circle"; NULL = not printed */
    double ours;
    ss_verdict verdict;
    const char *note; /* NULL = none */
} ss_paper_value;

typedef struct ss_paper_table {
    const char *name, *title, *caption;
    int columns;
    const char **cells; /* row by row; the first row is the heading */
    size_t count, capacity;
    struct ss_paper_report *report;
} ss_paper_table;

/* What the page shows below the values, in the order it was handed in. */
typedef enum ss_paper_part_kind {
    SS_PART_TEXT,
    SS_PART_FIGURE,
    SS_PART_TABLE,
    SS_PART_RECORDING,
    SS_PART_LISTING,
    SS_PART_PAIR,
} ss_paper_part_kind;
typedef struct ss_paper_part {
    ss_paper_part_kind kind;
    const char *text;          /* TEXT: the paragraph; RECORDING, PAIR: its title; LISTING: the program */
    const char *data, *replay; /* RECORDING, LISTING: names of the files; replay may be NULL */
    const char *pages[2], *labels[2]; /* PAIR: two replays, and what each shows */
    ss_figure *figure;
    ss_paper_table *table;
    struct ss_paper_part *next;
} ss_paper_part;

typedef struct ss_paper ss_paper;
typedef struct ss_paper_report {
    const ss_paper *paper;
    const char *directory; /* where files go; NULL = nowhere */
    bool quick;            /* reduced size: the same claims on fewer steps, frames or bodies */
    bool in_index;
    ss_arena *arena; /* of the report: texts and numbers live as long as it */
    bool out_of_memory;
    ss_paper_value *values;
    int value_count, value_capacity;
    ss_paper_part *first, *last;
    const char **files; /* names of those written */
    int file_count, file_capacity;
    double seconds;         /* that the study took */
    ss_figure spare_figure; /* given out when memory is short */
    ss_paper_table spare_table;
    /* told now and then during long work; may be NULL */
    void (*progress)(const char *what, int done, int total, void *context);
    void *context;
} ss_paper_report;

struct ss_paper {
    const char *id, *title;
    const char *reference; /* "Enzenhöfer et al. 2019, Fig. 9"; "ours" for findings of our own */
    const char *about;     /* what is done, in a sentence or two */
    bool (*run)(ss_paper_report *report, ss_error *err);
};

extern const ss_paper *const ss_papers[]; /* in the order of papers.def; ends with NULL */

/* ---- values ---------------------------------------------------------------------------------------- */

/* Compares with the print: agrees when they differ by no more than half of its last digit; otherwise
 * `misprint` says what is wrong with the print, and without it the study fails. printed = NULL: only shown.
 * Texts are copied, here and below. */
void ss_paper_number(ss_paper_report *report, const char *name, const char *unit, const char *printed,
                     double ours, const char *misprint);
/* Something of ours that must be so. */
void ss_paper_claim(ss_paper_report *report, const char *name, const char *unit, double ours, bool holds,
                    const char *note);
/* A claim of the paper in its own words or numbers, and the number that shows whether it is so in ours. */
void ss_paper_reproduces(ss_paper_report *report, const char *name, const char *unit, const char *printed,
                         double ours, bool holds, const char *note);
/* The same where ours is different: `reason` says why, and `explained` is the test that shows it. */
void ss_paper_differs(ss_paper_report *report, const char *name, const char *unit, const char *printed,
                      double ours, bool explained, const char *reason);
int ss_paper_count(const ss_paper_report *report, ss_verdict verdict);
bool ss_paper_is_reproduced(const ss_paper_report *report); /* nothing fails */

/* ---- the page -------------------------------------------------------------------------------------- */

void ss_paper_text(ss_paper_report *report, const char *format, ...) SS_PRINTF(2, 3);
/* Set the axes, then add series (figure.h). `name` is part of file names: letters, digits, '-' and '_'. */
ss_figure *ss_paper_figure(ss_paper_report *report, const char *name, const char *title, const char *caption);
/* columns: headings, separated by '|'. Then cell by cell, row by row. */
ss_paper_table *ss_paper_add_table(ss_paper_report *report, const char *name, const char *title,
                                   const char *caption, const char *columns);
void ss_paper_cell(ss_paper_table *table, const char *format, ...) SS_PRINTF(2, 3);
/* A link to a data set and its replay page (NULL: none), names of files in the directory; scene_run.h does
 * this for scenes. */
void ss_paper_recording(ss_paper_report *report, const char *title, const char *data, const char *replay);
/* Frames of no simulation as the data set DIR/ID_NAME.h5; nothing without a directory. */
bool ss_paper_frames(ss_paper_report *report, const char *name, const char *title, ss_frame *const *frames,
                     int count, ss_error *err);
/* A program that the page shows, and that is written as the file `name`. */
bool ss_paper_listing(ss_paper_report *report, const char *name, const char *program, ss_error *err);
/* Two replay pages side by side, played together; names of files in the directory. */
void ss_paper_side_by_side(ss_paper_report *report, const char *title, const char *left,
                           const char *left_label, const char *right, const char *right_label);
/* A text in the arena of the report; "" when out of memory. */
const char *ss_paper_format(ss_paper_report *report, const char *format, ...) SS_PRINTF(2, 3);

/* ---- files, progress ------------------------------------------------------------------------------- */

/* DIR/name in the arena; NULL without a directory. */
const char *ss_paper_path(ss_paper_report *report, const char *name);
void ss_paper_note_file(ss_paper_report *report, const char *name); /* DIR/name has been written */
/* Writes DIR/name, if there is a directory, and notes it. */
bool ss_paper_write(ss_paper_report *report, const char *name, const ss_text *content, ss_error *err);
void ss_paper_progress(const ss_paper_report *report, const char *what, int done, int total);

/* ---- running ---------------------------------------------------------------------------------------- */

typedef struct ss_paper_options {
    const char *directory;
    bool quick;
    bool in_index; /* the page links to index.html, which will be written */
    void (*progress)(const char *what, int done, int total, void *context);
    void *context;
} ss_paper_options;
/* Runs the study and writes its page, ID.csv with the values, figures and tables. NULL: it could not run. */
ss_paper_report *ss_paper_run(const ss_paper *paper, const ss_paper_options *options, ss_error *err);
void ss_paper_report_free(ss_paper_report *report);
/* DIR/index.html: every study of the list in order, with its verdicts or the error that kept it from running
 * (reports[i] = NULL, messages[i]). */
bool ss_paper_write_index(const char *directory, bool quick, ss_paper_report *const *reports,
                          const char *const *messages, ss_error *err);

/* ---- solving ---------------------------------------------------------------------------------------- */

/* One solver on one problem. x: the start, then the answer. `set`: options of the solver, separated by
 * blanks; may be NULL. stop "none": only the number of iterations ends the run; the last iterate is kept and
 * every gauge of every iteration is in result->history. */
bool ss_paper_solve(const char *solver, const char *set, int iterations, const char *stop,
                    ss_problem *problem, double *x, ss_solve_result *result, ss_error *err);
/* Slope of the straight line through (x, log10 y) by least squares; points with y <= 0 are left out. */
double ss_paper_log_slope(int count, const double *x, const double *y);

/* ---- one row ---------------------------------------------------------------------------------------- */

/* What one row with bounds contributes to each measure at (x, w); inverse_mass is a_ii, 1/kg. */
ss_gauge_part ss_paper_row(double inverse_mass, double lower, double upper, double x, double w);

#endif
