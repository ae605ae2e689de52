/* metrics/truth.h - answers against a known one: how far they are from it, and which metrics estimate
 * that. */
#ifndef SS_METRICS_TRUTH_H
#define SS_METRICS_TRUTH_H

#include <stickslip/metrics.h>

#include "base/inner.h"

/* The largest difference of the relative velocities of surfaces at contacts, m/s; *worst (may be NULL) is
 * that contact, -1 without contacts. */
double ss_velocity_distance(const ss_frame *frame, const ss_answer *a, const ss_answer *b, int *worst);

/* The true error that a metric estimates, in its own unit: `distance` for errors in J, `velocity_distance`
 * for those in m/s. -1: none. Their ratio says how far the metric can be trusted. */
SS_INNER int ss_metric_truth(int metric);

#endif
