#include "solver/stop_rule.h"

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

void ss_stop_rule_look(ss_stop_rule *stop, const ss_problem *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        bool cone = ss_block_is_cone(&problem->blocks[k]);
        stop->cones |= cone;
        stop->other_rows |= !cone;
    }
}

bool ss_stop_rule_is_set(const ss_stop_rule *stop)
{
    return stop->test || stop->gauge != SS_GAUGE_NONE;
}

unsigned ss_stop_rule_gauges(const ss_stop_rule *stop)
{
    if (stop->gauge == SS_GAUGE_NONE) return 0;
    bool both = stop->gauge == SS_GAUGE_NATURAL_MAP && stop->other_rows;
    return 1u << stop->gauge | (both ? 1u << SS_GAUGE_RELATIVE_ENERGY : 0);
}

/* The natural map sees contacts only, and a joint that nobody moved yet would pass: other rows are held to the
 * relative energy. fmax would hide what is not a number. */
double ss_stop_rule_excess(const ss_stop_rule *stop, const double *values)
{
    double excess = values[stop->gauge] / stop->below;
    if (stop->gauge != SS_GAUGE_NATURAL_MAP) return excess;
    if (!stop->other_rows) return stop->cones ? excess : 0.0;
    double rows = values[SS_GAUGE_RELATIVE_ENERGY] / stop->below;
    return stop->cones && !(excess < rows) ? excess : rows;
}

/* Energies and the residuals add up; the other two are roots of sums. */
ss_stop_rule ss_stop_rule_share(const ss_stop_rule *whole, const ss_problem *part, double share)
{
    ss_stop_rule stop = *whole;
    bool root = stop.gauge == SS_GAUGE_RELATIVE_ENERGY || stop.gauge == SS_GAUGE_NATURAL_MAP;
    stop.below *= root ? sqrt(share) : share;
    stop.cones = false;
    ss_stop_rule_look(&stop, part); // rows elsewhere hold the contacts here to the energy as well
    return stop;
}

bool ss_stop_rule_parse(const char *text, double scene_energy, ss_stop_rule *stop, ss_error *err)
{
    *stop = (ss_stop_rule){.gauge = SS_GAUGE_NONE};
    if (!text || strcmp(text, "none") == 0) return true;
    const char *sign = strchr(text, '<');
    stop->gauge = sign ? find_gauge(text, (size_t)(sign - text)) : SS_GAUGE_NONE;
    if (stop->gauge == SS_GAUGE_NONE) {
        return ss_fail(err, SS_ERROR_USAGE, "stop rule \"%s\": must be GAUGE<VALUE with %s", text,
                       gauge_help);
    }
    const char *end = ss_number_read_start(sign + 1, &stop->below);
    bool scaled = end && strcmp(end, "*scene") == 0;
    if (!end || (*end && !scaled) || !(stop->below > 0.0) || isinf(stop->below)) {
        return ss_fail(err, SS_ERROR_USAGE, "stop rule \"%s\": the value must be a positive number", text);
    }
    if (scaled && stop->gauge != SS_GAUGE_ENERGY) {
        return ss_fail(err, SS_ERROR_USAGE, "stop rule \"%s\": only energy can be relative to the scene",
                       text);
    }
    if (scaled) stop->below *= scene_energy;
    return true;
}

bool ss_keep_parse(const char *text, int *keep, ss_error *err)
{
    *keep = SS_GAUGE_NONE;
    if (!text || strcmp(text, "last") == 0) return true;
    if (strncmp(text, "best:", 5) == 0) *keep = find_gauge(text + 5, strlen(text + 5));
    return *keep != SS_GAUGE_NONE ||
           ss_fail(err, SS_ERROR_USAGE, "keep \"%s\": must be last or best:GAUGE with %s", text, gauge_help);
}
