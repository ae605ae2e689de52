/* figure/figure.h - figures: lines, bands, points, bars, boxes and contours over two axes, for the pages
 * of studies and for print, and their numbers as CSV. A figure copies what it is given into its arena;
 * lack of memory is noted and looked at once, at the end. */
#ifndef SS_FIGURE_FIGURE_H
#define SS_FIGURE_FIGURE_H

#include "figure/drawing.h"

typedef enum ss_plot_kind {
    SS_SERIES_LINE,
    SS_SERIES_POINTS,
    SS_SERIES_BAND,    /* from y to high, filled */
    SS_SERIES_BARS,    /* beside those of other series at the same x */
    SS_SERIES_STACK,   /* bars on top of those of earlier series at the same x */
    SS_SERIES_CONTOUR, /* lines of one level over a grid */
    SS_SERIES_BOXES,   /* from x to high, around y, filled */
} ss_plot_kind;

typedef struct ss_plot_series {
    ss_plot_kind kind;
    const char *name; /* in the legend; NULL: not there */
    int count;
    const double *x, *y, *high; /* numbers that are not finite leave a hole */
    const char *colour;         /* "#8c1c2b", or a name of the pages: "o-solved"; NULL: `tint` */
    int tint;                   /* of the report's eight series colours; set to the number of the series */
    double width;               /* pixels; 0 = 1.8 */
    double opacity;             /* 0 = 1 */
    bool dashed, right;         /* right: measured by the axis on the right */
    bool steps;                 /* LINE: y holds from its x on */
    int look;                   /* 0: plain; n: the n-th dash and marker of the report's series, from 1 on */
    int marks;                  /* LINE: about this many markers, the first and the last point among them */
    bool hollow;                /* POINTS: outlines of markers */
    bool faint;                 /* not part of the legend's line: drawn thin and dotted */
    double share;               /* BOXES: of the height of a row; 0 = 1 */
    int hatch;                  /* BOXES: white lines across, rising (1) or falling (-1); 0: none */
    int columns, rows;          /* CONTOUR: y[j * columns + i] is at (x_i, y_j), evenly over the axes */
    double level;
    struct ss_plot_series *next;
} ss_plot_series;

typedef enum ss_tick_words {
    SS_TICK_NUMBER,
    SS_TICK_POWER,   /* powers of ten with exponents */
    SS_TICK_SECONDS, /* 10 us, 1 ms */
    SS_TICK_PERCENT, /* of shares */
} ss_tick_words;

typedef struct ss_plot_axis {
    const char *label;
    bool log;
    bool doubling; /* log: ticks at 1, 2, 4, 8 ... */
    bool whole;    /* linear: of things that are counted; no ticks between whole numbers */
    bool reversed; /* falling to the right, or upwards */
    ss_tick_words words;
    double from, to; /* equal: chosen to show everything */
} ss_plot_axis;

/* Columns from..to of a figure that have a name, as the problems of one scene. */
typedef struct ss_plot_span {
    const char *name;
    double from, to;
} ss_plot_span;

typedef struct ss_figure {
    const char *name;            /* of its files: "convergence" -> ID_convergence.svg, .csv */
    const char *title, *caption; /* caption: what to see in it, in a sentence or two */
    const char *note;            /* below the drawing, where there is no page around it; NULL: none */
    const char *source;          /* what it was made from: "results.db, stickslip 0.1.0"; NULL: not said */
    ss_plot_axis x, y, right;
    bool panel;                    /* one of several side by side: small */
    const char *const *categories; /* words at x = 0, 1, 2 ...; NULL: numbers. They must outlive the report */
    int category_count;
    const char *const *row_names; /* the same for y, from the top down */
    int row_count;
    const ss_plot_span *spans; /* names below the x axis in the place of ticks; NULL: ticks */
    int span_count;
    const char *table; /* file with its numbers, which the study writes itself; NULL: ID_NAME.csv */
    ss_plot_series *first, *last;
    int series_count;
    ss_plot_series spare; /* given out when memory is short */
    ss_arena *arena;
    bool *out_of_memory;
    struct ss_figure *below; /* the next panel, with the same x axis; NULL: none */
    bool low;                /* a panel that needs little height */
    const char *heading;     /* above the axes of a panel; NULL: none */
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
ss_plot_series *ss_figure_boxes(ss_figure *figure, const char *name, int count, const double *from,
                                const double *to, const double *row);
/* Where f = level. The axes need a range; f is not copied into the table of numbers. */
ss_plot_series *ss_figure_contour(ss_figure *figure, const char *name, const double *f, int columns, int rows,
                                  double level);

/* How large, and what is around the axes. */
typedef struct ss_figure_style {
    double width;     /* pt; 0 = as figures of pages are */
    double letters;   /* size of letters, pt */
    bool titled;      /* with title, note and source, for a file of its own */
    bool inside_page; /* colours of the page */
} ss_figure_style;
/* For a page: wide, without a title. For print: 7.5 pt letters. */
ss_figure_style ss_figure_for_page(void);
ss_figure_style ss_figure_for_print(double width_mm);

/* Axes, series and legend as a drawing: ss_drawing_free. Whatever is written is placed by its width. */
void ss_figure_draw(const ss_figure *figure, const ss_figure_style *style, ss_drawing *drawing);
/* The drawing for a page, or for a file of its own. */
void ss_figure_svg(const ss_figure *figure, const ss_figure_style *style, ss_text *svg);
/* "series,x,y,high": every number of every series but contours, 10 digits. */
void ss_figure_csv(const ss_figure *figure, ss_text *csv);

/* The colours of the pages in their light theme, by the names that they have in web/src/common/common.css:
 * "s0" to "s7" for series, "o-solved" for outcomes, "c-stick" for contacts. Ends with name = NULL. */
typedef struct ss_page_colour {
    const char *name;
    uint32_t colour;
} ss_page_colour;
extern const ss_page_colour ss_page_colours[];
/* Grey for a name that does not exist. */
uint32_t ss_colour_named(const char *name);

#endif
