/* cli/campaigns/ranking.h - how the methods of a ledger stand, for a terminal. */
#ifndef SS_CLI_CAMPAIGNS_RANKING_H
#define SS_CLI_CAMPAIGNS_RANKING_H

#include "campaign/statistics.h"
#include "cli/terminal/output.h"

/* A table of all series, best first, at the main tolerance; then the advice, in lines that fit. */
void ss_ranking_print(ss_out *out, const ss_results *results, const ss_statistics *statistics);

#endif
