/* Figures: their series, and their numbers as CSV. layout.c draws them. */
#include "figure/figure.h"

#include <string.h>

/* ---- series --------------------------------------------------------------------------------------- */

static const double *keep(ss_figure *figure, int count, const double *values)
{
    double *copy = ss_arena_take(figure->arena, (size_t)count, sizeof *copy, "numbers of a figure");
    if (copy && count > 0) memcpy(copy, values, (size_t)count * sizeof *copy);
    if (!copy) *figure->out_of_memory = true;
    return copy;
}

static ss_plot_series *add(ss_figure *figure, ss_plot_kind kind, const char *name, int count, const double *x,
                           const double *y, const double *high)
{
    ss_plot_series *series = ss_arena_take(figure->arena, 1, sizeof *series, "a series");
    char *words = name ? ss_arena_take(figure->arena, strlen(name) + 1, 1, "a name") : NULL;
    *(series ? series : &figure->spare) =
        (ss_plot_series){.kind = kind, .count = count, .name = words, .tint = figure->series_count % 8};
    if (words) memcpy(words, name, strlen(name) + 1);
    if (series) {
        series->x = x ? keep(figure, count, x) : NULL;
        series->y = keep(figure, count, y);
        series->high = high ? keep(figure, count, high) : NULL;
    }
    if (!series || (name && !words) || !series->y || (x && !series->x) || (high && !series->high)) {
        *figure->out_of_memory = true;
        return &figure->spare;
    }
    figure->series_count++;
    if (figure->last)
        figure->last->next = series;
    else
        figure->first = series;
    figure->last = series;
    return series;
}

ss_plot_series *ss_figure_line(ss_figure *figure, const char *name, int count, const double *x,
                               const double *y)
{
    return add(figure, SS_SERIES_LINE, name, count, x, y, NULL);
}

ss_plot_series *ss_figure_points(ss_figure *figure, const char *name, int count, const double *x,
                                 const double *y)
{
    return add(figure, SS_SERIES_POINTS, name, count, x, y, NULL);
}

ss_plot_series *ss_figure_band(ss_figure *figure, const char *name, int count, const double *x,
                               const double *low, const double *high)
{
    ss_plot_series *series = add(figure, SS_SERIES_BAND, name, count, x, low, high);
    series->opacity = 0.22;
    return series;
}

ss_plot_series *ss_figure_bars(ss_figure *figure, const char *name, int count, const double *y)
{
    double *x = ss_arena_take(figure->arena, (size_t)count, sizeof *x, "places of bars");
    if (!x) *figure->out_of_memory = true;
    for (int i = 0; x && i < count; i++) x[i] = i;
    return add(figure, SS_SERIES_BARS, name, x ? count : 0, x, y, NULL);
}

ss_plot_series *ss_figure_stack(ss_figure *figure, const char *name, int count, const double *x,
                                const double *y)
{
    return add(figure, SS_SERIES_STACK, name, count, x, y, NULL);
}

ss_plot_series *ss_figure_boxes(ss_figure *figure, const char *name, int count, const double *from,
                                const double *to, const double *row)
{
    return add(figure, SS_SERIES_BOXES, name, count, from, row, to);
}

ss_plot_series *ss_figure_contour(ss_figure *figure, const char *name, const double *f, int columns, int rows,
                                  double level)
{
    ss_plot_series *series = add(figure, SS_SERIES_CONTOUR, name, columns * rows, NULL, f, NULL);
    series->columns = columns;
    series->rows = rows;
    series->level = level;
    return series;
}

void ss_figure_csv(const ss_figure *figure, ss_text *csv)
{
    ss_text_append(csv, "series,x,y,high\n");
    for (const ss_plot_series *s = figure->first; s; s = s->next) {
        for (int i = 0; s->x && i < s->count; i++) {
            ss_text_append(csv, "\"");
            for (const char *c = s->name ? s->name : ""; *c; c++)
                ss_text_append_bytes(csv, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
            ss_text_appendf(csv, "\",%.10g,%.10g,", s->x[i], s->y[i]);
            if (s->high) ss_text_appendf(csv, "%.10g", s->high[i]);
            ss_text_append(csv, "\n");
        }
    }
}
