/* Plain numbers of statistics: means, quantiles, intervals, slopes. */
#include "campaign/statistics.h"

#include <math.h>
#include <stdio.h>

double ss_shifted_geometric_mean(const double *values, int count, double shift)
{
    double sum = 0.0;
    if (count <= 0) return NAN;
    // relative to the shift, so that no digit is lost where values are far below it
    for (int i = 0; i < count; i++) sum += shift > 0.0 ? log1p(values[i] / shift) : log(values[i]);
    return shift > 0.0 ? shift * expm1(sum / count) : exp(sum / count);
}

void ss_wilson_interval(int hits, int count, double *low, double *high)
{
    const double z = 1.959963984540054; // quantile 0.975 of the normal distribution
    *low = 0.0;
    *high = 1.0;
    if (count <= 0) return;
    double n = count, share = hits / n, spread = z * z / n;
    double middle = (share + spread / 2.0) / (1.0 + spread);
    double half = z / (1.0 + spread) * sqrt(share * (1.0 - share) / n + spread / (4.0 * n));
    // at none and at all of them the bound is 0 and 1 exactly, which rounding would miss
    if (hits > 0) *low = fmax(0.0, middle - half);
    if (hits < count) *high = fmin(1.0, middle + half);
}

double ss_quantile(const double *sorted, int count, double share)
{
    if (count <= 0) return NAN;
    double place = share * (count - 1);
    int below = (int)place;
    if (below >= count - 1) return sorted[count - 1];
    double part = place - below;
    // no infinity minus infinity, and no infinity times 0
    if (part == 0.0 || sorted[below] == sorted[below + 1]) return sorted[below];
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

static bool is_usable(double x, double y)
{
    return x > 0.0 && isfinite(x) && y > 0.0 && isfinite(y);
}

double ss_log_slope(const double *x, const double *y, int count, double *r_squared)
{
    // There must be three x, each apart from the others by more than a billionth: mass ratios that differ by
    // rounding only are one.
    double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0, yy = 0.0, seen[3];
    int used = 0, distinct = 0;
    if (r_squared) *r_squared = NAN;
    for (int i = 0; i < count && distinct < 3; i++) {
        bool known = !is_usable(x[i], y[i]);
        for (int k = 0; k < distinct && !known; k++) known = fabs(x[i] - seen[k]) <= 1e-9 * seen[k];
        if (!known) seen[distinct++] = x[i];
    }
    if (distinct < 3) return NAN;

    for (int i = 0; i < count; i++) {
        if (!is_usable(x[i], y[i])) continue;
        mean_x += log(x[i]);
        mean_y += log(y[i]);
        used++;
    }
    mean_x /= used;
    mean_y /= used;
    for (int i = 0; i < count; i++) {
        if (!is_usable(x[i], y[i])) continue;
        double dx = log(x[i]) - mean_x, dy = log(y[i]) - mean_y;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    if (r_squared && yy > 0.0) *r_squared = xy * xy / (xx * yy);
    return xy / xx;
}

void ss_seconds_text(double seconds, char *text, size_t size)
{
    if (isnan(seconds))
        snprintf(text, size, "-");
    else if (seconds < 999.5e-6) // 999.5: "%.3g" would write 1e+03
        snprintf(text, size, "%.3g us", seconds * 1e6);
    else if (seconds < 999.5e-3)
        snprintf(text, size, "%.3g ms", seconds * 1e3);
    else
        snprintf(text, size, seconds < 999.5 ? "%.3g s" : "%.0f s", seconds);
}
