#include "solver/core/stop_criterion.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

static int find_gauge(const char *name, size_t length)
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        const char *known = ss_gauge_name((ss_gauge)g);
        if (strlen(known) == length && memcmp(known, name, length) == 0) return g;
    }
    return SS_GAUGE_NONE;
}

static const char gauge_help[] =
    "energy, relative_energy, natural_residual, fischer_burmeister or natural_map";

static void look_at_rows(ss_stop_criterion *stop, const ss_problem *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        bool cone = ss_block_is_cone(&problem->blocks[k]);
        stop->cones |= cone;
        stop->other_rows |= !cone;
    }
}

bool ss_stop_criterion_is_set(const ss_stop_criterion *stop)
{
    return stop->test || stop->gauge != SS_GAUGE_NONE;
}

unsigned ss_stop_criterion_gauges(const ss_stop_criterion *stop)
{
    if (stop->gauge == SS_GAUGE_NONE) return 0;
    bool both = stop->gauge == SS_GAUGE_NATURAL_MAP && stop->other_rows;
    return 1u << stop->gauge | (both ? 1u << SS_GAUGE_RELATIVE_ENERGY : 0);
}

/* The natural map sees contacts only, and a joint that has not moved yet would pass: other rows are held to
 * the relative energy. fmax would hide what is not a number. */
double ss_stop_criterion_excess(const ss_stop_criterion *stop, const double *values)
{
    double excess = values[stop->gauge] / stop->below;
    if (stop->gauge != SS_GAUGE_NATURAL_MAP) return excess;
    if (!stop->other_rows) return stop->cones ? excess : 0.0;
    double rows = values[SS_GAUGE_RELATIVE_ENERGY] / stop->below;
    return stop->cones && !(excess < rows) ? excess : rows;
}

/* Energies and the residuals add up; the other two are roots of sums. */
ss_stop_criterion ss_stop_criterion_share(const ss_stop_criterion *whole, const ss_problem *part,
                                          double share)
{
    ss_stop_criterion stop = *whole;
    bool root = stop.gauge == SS_GAUGE_RELATIVE_ENERGY || stop.gauge == SS_GAUGE_NATURAL_MAP;
    stop.below *= root ? sqrt(share) : share;
    stop.cones = false;
    look_at_rows(&stop, part); // rows elsewhere hold the contacts here to the energy as well
    return stop;
}

ss_stop_criterion ss_stop_criterion_of(const ss_stop_rule *rule, const ss_stop_test *test,
                                       double scene_energy, const ss_problem *problem)
{
    ss_stop_criterion stop = {.gauge = SS_GAUGE_NONE, .test = test};
    if (!test && rule->below > 0.0) {
        stop.gauge = rule->gauge;
        stop.below = rule->of_scene ? rule->below * scene_energy : rule->below;
    }
    look_at_rows(&stop, problem);
    return stop;
}

/* ---- rules as text ---------------------------------------------------------------------------------- */

bool ss_stop_rule_parse(const char *text, ss_stop_rule *rule, ss_error *err)
{
    *rule = (ss_stop_rule){0};
    if (!text || strcmp(text, "none") == 0) return true;
    const char *sign = strchr(text, '<');
    int gauge = sign ? find_gauge(text, (size_t)(sign - text)) : SS_GAUGE_NONE;
    if (gauge == SS_GAUGE_NONE)
        return ss_fail(err, SS_ERROR_USAGE, "invalid stop rule \"%s\": expected none or GAUGE<VALUE with %s",
                       text, gauge_help);
    double below;
    const char *end = ss_number_read_start(sign + 1, &below);
    bool scaled = end && strcmp(end, "*scene") == 0;
    if (!end || (*end && !scaled) || !(below > 0.0) || isinf(below))
        return ss_fail(err, SS_ERROR_USAGE, "invalid stop rule \"%s\": expected a positive number after <",
                       text);
    if (scaled && gauge != SS_GAUGE_ENERGY)
        return ss_fail(err, SS_ERROR_USAGE,
                       "invalid stop rule \"%s\": only energy can be relative to the scene", text);
    *rule = (ss_stop_rule){.gauge = (ss_gauge)gauge, .below = below, .of_scene = scaled};
    return true;
}

bool ss_keep_rule_parse(const char *text, ss_keep_rule *rule, ss_error *err)
{
    *rule = (ss_keep_rule){0};
    if (!text || strcmp(text, "answer") == 0) return true;
    if (strcmp(text, "last") == 0) return rule->which = SS_KEEP_LAST, true;
    int gauge = strncmp(text, "best:", 5) == 0 ? find_gauge(text + 5, strlen(text + 5)) : SS_GAUGE_NONE;
    if (gauge == SS_GAUGE_NONE)
        return ss_fail(err, SS_ERROR_USAGE,
                       "invalid keep rule \"%s\": expected answer, last or best:GAUGE with %s", text,
                       gauge_help);
    *rule = (ss_keep_rule){.which = SS_KEEP_BEST, .gauge = (ss_gauge)gauge};
    return true;
}
