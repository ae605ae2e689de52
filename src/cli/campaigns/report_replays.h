/* cli/campaigns/report_replays.h - replay pages beside a report: one for each recording of the campaign,
 * with the answers of its best methods, so that the page of the report can open a run where it went wrong. */
#ifndef SS_CLI_CAMPAIGNS_REPORT_REPLAYS_H
#define SS_CLI_CAMPAIGNS_REPORT_REPLAYS_H

#include "cli/verb.h"
#include "report/report.h"

typedef struct ss_replays_options {
    const char *directory; /* NULL: no replays */
    int best;
} ss_replays_options;
extern const ss_option ss_replays_option_table[];
#define SS_REPLAYS_GROUP(type, member)                             \
    {                                                              \
        "Replays", ss_replays_option_table, offsetof(type, member) \
    }

/* Writes them, and what the report has to know into `links`, which ss_replays_free frees. Recordings that
 * are not there any more are named and left out. */
bool ss_replays_write(const ss_command *command, const ss_replays_options *options, const char *report,
                      const ss_results *results, const ss_statistics *statistics, ss_report_links *links,
                      ss_error *err);
void ss_replays_free(ss_report_links *links);

#endif
