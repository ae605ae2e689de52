/* paper/figure.h - figures of a study: lines, bands, points, bars and contours over two axes, as SVG for the
 * page and as a table of numbers beside it. A figure copies what it is given into its arena; lack of memory
 * is noted and looked at once, at the end. */
#ifndef SS_PAPER_FIGURE_H
#define SS_PAPER_FIGURE_H

#include "base/text.h"

typedef enum ss_plot_kind {
    SS_SERIES_LINE,
    SS_SERIES_POINTS,
    SS_SERIES_BAND,    /* from y to high, filled */
    SS_SERIES_BARS,    /* beside those of other series at the same x */
    SS_SERIES_STACK,   /* bars on top of those of earlier series at the same x */
    SS_SERIES_CONTOUR, /* lines of one level over a grid */
} ss_plot_kind;

typedef struct ss_plot_series {
    ss_plot_kind kind;
    const char *name; /* in the legend; NULL: not there */
    int count;
    const double *x, *y, *high; /* numbers that are not finite leave a hole */
    const char *colour;         /* "#8c1c2b"; NULL: `tint` */
    int tint;                   /* of the report's eight series colours; set to the number of the series */
    double width;               /* pixels; 0 = 1.8 */
    double opacity;             /* 0 = 1 */
    bool dashed, right;         /* right: measured by the axis on the right */
    int columns, rows;          /* CONTOUR: y[j * columns + i] is at (x_i, y_j), evenly over the axes */
    double level;
    struct ss_plot_series *next;
} ss_plot_series;

typedef struct ss_plot_axis {
    const char *label;
    bool log;
    double from, to; /* equal: chosen to show everything */
} ss_plot_axis;

typedef struct ss_figure {
    const char *name;            /* of its files: "convergence" -> ID_convergence.svg, .csv */
    const char *title, *caption; /* caption: what to see in it, in a sentence or two */
    ss_plot_axis x, y, right;
    bool panel;                    /* one of several side by side: small */
    const char *const *categories; /* words at x = 0, 1, 2 ...; NULL: numbers. They must outlive the report */
    int category_count;
    const char *table; /* file with its numbers, which the study writes itself; NULL: ID_NAME.csv */
    ss_plot_series *first, *last;
    int series_count;
    ss_plot_series spare; /* given out when memory is short */
    ss_arena *arena;
    bool *out_of_memory;
    struct ss_figure *next;
} ss_figure;

/* Each returns the series, so that a caller may change its looks. name NULL: not in the legend. */
ss_plot_series *ss_figure_line(ss_figure *figure, const char *name, int count, const double *x,
                               const double *y);
ss_plot_series *ss_figure_points(ss_figure *figure, const char *name, int count, const double *x,
                                 const double *y);
ss_plot_series *ss_figure_band(ss_figure *figure, const char *name, int count, const double *x,
                               const double *low, const double *high);
/* Bars at x = 0, 1, 2 ... */
ss_plot_series *ss_figure_bars(ss_figure *figure, const char *name, int count, const double *y);
ss_plot_series *ss_figure_stack(ss_figure *figure, const char *name, int count, const double *x,
                                const double *y);
/* Where f = level. The axes need a range; f is not copied into the table of numbers. */
ss_plot_series *ss_figure_contour(ss_figure *figure, const char *name, const double *f, int columns, int rows,
                                  double level);

/* The drawing; `titled`: with its title inside, for a file of its own. */
void ss_figure_svg(const ss_figure *figure, bool titled, ss_text *svg);
/* "series,x,y,high": every number of every series but contours, 10 digits. */
void ss_figure_csv(const ss_figure *figure, ss_text *csv);

/* Appends text with &, <, > and quotation marks replaced by their entities. */
void ss_text_append_escaped(ss_text *text, const char *words);

#endif
