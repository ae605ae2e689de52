/* cli/plot.h - figures as SVG text: a frame with axes, lines in it, a legend beside it. */
#ifndef SS_CLI_PLOT_H
#define SS_CLI_PLOT_H

#include "base/text.h"

typedef struct ss_plot_axis {
    const char *label;
    double from, to, step; /* step: of the ticks */
} ss_plot_axis;

typedef struct ss_plot {
    ss_text *svg;
    ss_plot_axis x, y;
    int legend_count;
} ss_plot;

typedef struct ss_plot_pen {
    const char *colour; /* "#1f4e79" */
    double width;       /* pixels */
    bool dashed;
} ss_plot_pen;

/* Begins a figure: title, axes, ticks and grid lines. */
void ss_plot_begin(ss_plot *plot, const char *title);
/* A line through points; what leaves the frame is cut off. */
void ss_plot_line(ss_plot *plot, ss_plot_pen pen, const double (*points)[2], int count);
/* The lines on which f = level, by marching squares; f[j * columns + i] is at (x_i, y_j), evenly spaced
 * over the axes. */
void ss_plot_contour(ss_plot *plot, ss_plot_pen pen, const double *f, int columns, int rows, double level);
/* The next line of the legend. */
void ss_plot_legend(ss_plot *plot, ss_plot_pen pen, const char *words);
void ss_plot_end(ss_plot *plot);

#endif
