/* report/report_figures.h - the figures and tables of the report for papers: each by the name that it has
 * on the page (the id of its element), with the same numbers. A figure has a drawing and its numbers as a
 * table, a table only the latter. */
#ifndef SS_REPORT_REPORT_FIGURES_H
#define SS_REPORT_REPORT_FIGURES_H

#include "campaign/ledger_source.h"
#include "campaign/statistics.h"
#include "figure/data_table.h"
#include "figure/figure.h"

typedef struct ss_report_request {
    const ss_results *results;
    const ss_statistics *statistics;
    const char *ledger; /* file name, for the line about the source */
    const ss_sources *sources;
    const char *const *methods;
    int method_count;            /* labels, or parts of them, of the series to show; none: the best ones */
    int best;                    /* 0: eight in figures, all in tables */
    const char *const *settings; /* "effort=iterations": what the menus of the figure choose on the page */
    int setting_count;
    bool for_readers; /* the table as people read it; otherwise all of its columns */
} ss_report_request;

/* What is made. Both live in the arena. */
typedef struct ss_report_exhibit {
    ss_arena *arena;
    bool out_of_memory;
    bool has_drawing; /* false: a table, or nothing to draw */
    ss_figure figure, below;
    ss_data_table table;
} ss_report_exhibit;

typedef struct ss_report_figure {
    const char *name, *title;
    bool is_table;
    const char *about; /* what it shows, in half a sentence */
    /* "effort=per-unknown|iterations", separated by blanks, the first value is the default; words in capitals
     * stand for names; NULL: none */
    const char *settings;
    bool (*make)(const ss_report_request *request, ss_report_exhibit *to, ss_error *err);
} ss_report_figure;

extern const ss_report_figure ss_report_figures[]; /* in the order of the page; ends with name = NULL */
/* NULL: unknown, with what was probably meant. */
const ss_report_figure *ss_report_figure_find(const char *name, ss_error *err);
/* Settings that the figure does not have are an error. ss_report_exhibit_free, whatever it returned. */
bool ss_report_figure_make(const ss_report_figure *figure, const ss_report_request *request,
                           ss_report_exhibit *to, ss_error *err);
void ss_report_exhibit_free(ss_report_exhibit *exhibit);

#endif
