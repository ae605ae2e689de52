/* cli/campaigns/against.h - methods against the best of others in hindsight, for a terminal. */
#ifndef SS_CLI_CAMPAIGNS_AGAINST_H
#define SS_CLI_CAMPAIGNS_AGAINST_H

#include "campaign/against.h"
#include "cli/terminal/output.h"

/* For every tolerance a table, a problem a line, and what it comes to in a sentence. */
void ss_against_print(ss_out *out, const ss_results *results, const ss_statistics *statistics,
                      const ss_against *against);

#endif
