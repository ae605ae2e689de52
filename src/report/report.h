/* report/report.h - a ledger as data for people: JSON for the page and for programs, a table
 * for the terminal. */
#ifndef SS_REPORT_REPORT_H
#define SS_REPORT_REPORT_H

#include "base/text.h"
#include "campaign/against.h"
#include "campaign/ledger_source.h"

/* Replays beside the report. */
typedef struct ss_report_link {
    const char *file;    /* of a problem */
    const char *address; /* of its replay, relative to the report */
} ss_report_link;
typedef struct ss_report_links {
    ss_report_link *replays;
    int count;
    char **answers; /* per method: what its answers are called in the replays; NULL = not there */
    int method_count;
} ss_report_links;

typedef struct ss_report_options {
    const char *title;
    const char *ledger;        /* its path, for commands that a reader may type */
    const ss_sources *sources; /* NULL: ledgers are not listed */
    const char *created;       /* UTC; the caller's clock */
    bool inside_html;
    const ss_report_links *links; /* NULL: no replays */
    const ss_against *against;    /* NULL = not asked for */
} ss_report_options;
/* The object that web/src/report/data.ts describes. */
void ss_report_json(const ss_results *results, const ss_statistics *statistics,
                    const ss_report_options *options, ss_text *text);

#endif
