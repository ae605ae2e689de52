/* cli/rules.h - the rules of stored answers, as the command line gives them. */
#ifndef SS_CLI_RULES_H
#define SS_CLI_RULES_H

#include "base/text.h"

#include <stickslip/base.h>

/* Checks --formulation (NULL: cone) and --with before any frame is read, so that a wrong name is a usage
 * error, and joins the options in `joined`. */
bool ss_rules_read(const char *verb, const char *formulation, const ss_option_list *with, ss_text *joined,
                   ss_error *err);

#endif
