/* cli/campaigns/report_figure.h - what `report -o FILE` writes, by the ending of the file. */
#ifndef SS_CLI_CAMPAIGNS_REPORT_FIGURE_H
#define SS_CLI_CAMPAIGNS_REPORT_FIGURE_H

#include "cli/verb.h"
#include "report/report_figures.h"

typedef enum ss_report_format {
    SS_REPORT_HTML, /* the page */
    SS_REPORT_JSON, /* all numbers */
    SS_REPORT_BIB,  /* what to cite */
    SS_REPORT_SVG,  /* from here on: a figure */
    SS_REPORT_PDF,
    SS_REPORT_PNG,
    SS_REPORT_CSV, /* from here on: its numbers, or a table */
    SS_REPORT_TEX,
    SS_REPORT_MARKDOWN,
} ss_report_format;

typedef struct ss_figure_options {
    const char *figure; /* NULL: not given */
    const char *width;  /* "85mm" */
    ss_option_list methods, settings;
    int best; /* 0 = not given */
    double dots;
    bool plain;
} ss_figure_options;
extern const ss_option ss_figure_option_table[];
#define SS_FIGURE_GROUP(type, member)                                        \
    {                                                                        \
        "Figures and tables", ss_figure_option_table, offsetof(type, member) \
    }

/* The format by the ending; others are an error that lists them. */
bool ss_report_format_of(const char *path, ss_report_format *format, ss_error *err);
/* What does not depend on the ledger: is there such a figure, can it be written in this format, is the
 * width one? *figure: NULL for a page. */
bool ss_figure_check(const ss_figure_options *options, const char *path, ss_report_format format,
                     const ss_report_figure **figure, ss_error *err);
/* Makes the figure and replaces the file in one go. */
bool ss_figure_write(const ss_report_figure *figure, const ss_figure_options *options,
                     ss_report_request *request, ss_report_format format, const char *path, ss_error *err);
/* All figures and tables, with their settings. */
void ss_figure_list(ss_out *out);

#endif
