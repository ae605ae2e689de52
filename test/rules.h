/* Rules of a run as they are written, for tests that pass them around. A rule that is wrong matches nothing:
 * the test that uses it fails, because no run converges. */
#ifndef TEST_RULES_H
#define TEST_RULES_H

#include <stickslip/solver.h>

static inline ss_stop_rule stop_rule(const char *text)
{
    ss_stop_rule rule;
    return ss_stop_rule_parse(text, &rule, NULL) ? rule : (ss_stop_rule){.below = 5e-324};
}

#endif
