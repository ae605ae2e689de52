/* Figures as SVG. Colours are given twice: as attributes, for a file that is opened alone, and as classes
 * (s0 to s7, grid, ink), which the page sets to the colours of its theme. */
#include "paper/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TICKS = 24 };

/* Pixels of the drawing and of the frame in it. */
typedef struct canvas {
    const ss_figure *figure;
    ss_text *svg;
    ss_plot_axis x, y, right; /* with their ranges chosen */
    bool has_right;
    double left, top, width, height; /* of the frame */
    int groups;                      /* series of bars side by side */
} canvas;

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

ss_plot_series *ss_figure_contour(ss_figure *figure, const char *name, const double *f, int columns, int rows,
                                  double level)
{
    ss_plot_series *series = add(figure, SS_SERIES_CONTOUR, name, columns * rows, NULL, f, NULL);
    series->columns = columns;
    series->rows = rows;
    series->level = level;
    return series;
}

/* ---- ranges --------------------------------------------------------------------------------------- */

static void widen(ss_plot_axis *axis, double value)
{
    if (!isfinite(value) || (axis->log && value <= 0.0)) return;
    axis->from = fmin(axis->from, value);
    axis->to = fmax(axis->to, value);
}

/* The height of a stack below series `upto`, at its i-th place: those of earlier series with the same x. */
static double stacked_below(const ss_figure *figure, const ss_plot_series *upto, int i)
{
    double sum = 0.0;
    for (const ss_plot_series *s = figure->first; s != upto; s = s->next) {
        if (s->kind == SS_SERIES_STACK && i < s->count) sum += s->y[i];
    }
    return sum;
}

/* Steps of 1, 2 or 5 times a power of ten, about `about` of them. */
static double nice_step(double range, double about)
{
    double raw = range / about, power = pow(10.0, floor(log10(raw)));
    double digit = raw / power;
    return power * (digit < 1.5 ? 1.0 : digit < 3.5 ? 2.0 : digit < 7.5 ? 5.0 : 10.0);
}

static void choose_range(ss_plot_axis *axis, const ss_plot_axis *wanted)
{
    if (wanted->from != wanted->to) {
        axis->from = wanted->from;
        axis->to = wanted->to;
        return;
    }
    if (!(axis->from <= axis->to)) axis->from = axis->log ? 0.1 : 0.0, axis->to = 1.0;
    if (axis->log) {
        // errors that reach rounding do not press the rest into a corner
        axis->from = fmax(axis->from, axis->to * 1e-24);
        axis->from = pow(10.0, floor(log10(axis->from) + 1e-9));
        axis->to = pow(10.0, ceil(log10(axis->to) - 1e-9));
        if (axis->from == axis->to) axis->to *= 10.0;
        return;
    }
    double range = axis->to - axis->from;
    if (!(range > 1e-12 * fmax(fabs(axis->to), fabs(axis->from)))) {
        range = axis->to == 0.0 ? 1.0 : fabs(axis->to);
        axis->from -= axis->from == 0.0 ? 0.0 : 0.5 * range;
        axis->to += axis->to == 0.0 ? 1.0 : 0.5 * range;
        range = axis->to - axis->from;
    }
    double step = nice_step(range, 5.0);
    axis->from = floor(axis->from / step + 1e-9) * step;
    axis->to = ceil(axis->to / step - 1e-9) * step;
}

static void choose_ranges(canvas *on)
{
    const ss_figure *figure = on->figure;
    ss_plot_axis *axes[3] = {&on->x, &on->y, &on->right};
    const ss_plot_axis *wanted[3] = {&figure->x, &figure->y, &figure->right};
    for (int k = 0; k < 3; k++) {
        *axes[k] = *wanted[k];
        axes[k]->from = INFINITY;
        axes[k]->to = -INFINITY;
    }
    bool bars = false;
    for (const ss_plot_series *s = figure->first; s; s = s->next) {
        ss_plot_axis *y = s->right ? &on->right : &on->y;
        on->has_right = on->has_right || s->right;
        if (s->kind == SS_SERIES_CONTOUR) continue;
        if (s->kind == SS_SERIES_BARS) on->groups++;
        bars = bars || s->kind == SS_SERIES_BARS || s->kind == SS_SERIES_STACK;
        for (int i = 0; i < s->count; i++) {
            double below = s->kind == SS_SERIES_STACK ? stacked_below(figure, s, i) : 0.0;
            if (!isfinite(s->y[i])) continue;
            widen(&on->x, s->x[i]);
            widen(y, s->y[i] + below);
            if (s->high) widen(y, s->high[i]);
        }
    }
    if (bars) {
        on->x.from -= 0.5;
        on->x.to += 0.5;
        if (!on->y.log) widen(&on->y, 0.0);
    }
    if (bars && figure->x.from == figure->x.to) {
        choose_range(&on->y, &figure->y);
        choose_range(&on->right, &figure->right);
        return;
    }
    for (int k = 0; k < 3; k++) choose_range(axes[k], wanted[k]);
}

static double place(const ss_plot_axis *axis, double value)
{
    if (!axis->log) return (value - axis->from) / (axis->to - axis->from);
    return log(value / axis->from) / log(axis->to / axis->from);
}

static double column(const canvas *on, double x)
{
    return on->left + on->width * place(&on->x, x);
}

static double row(const canvas *on, const ss_plot_axis *axis, double y)
{
    return on->top + on->height * (1.0 - place(axis, y));
}

/* ---- text ------------------------------------------------------------------------------------------ */

void ss_text_append_escaped(ss_text *text, const char *words)
{
    for (; *words; words++) {
        const char *entity = *words == '&'   ? "&amp;"
                             : *words == '<' ? "&lt;"
                             : *words == '>' ? "&gt;"
                             : *words == '"' ? "&quot;"
                                             : NULL;
        if (entity)
            ss_text_append(text, entity);
        else
            ss_text_append_bytes(text, words, 1);
    }
}

static void label(ss_text *svg, double x, double y, const char *more, const char *words)
{
    ss_text_appendf(svg, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    ss_text_append_escaped(svg, words);
    ss_text_append(svg, "</text>\n");
}

/* Columns of an average letter: for the room that words take. */
static double width_of(const char *words)
{
    double letters = 0.0;
    for (; *words; words++) letters += (*words & 0xc0) != 0x80;
    return 6.6 * letters;
}

/* ---- axes ------------------------------------------------------------------------------------------ */

static int ticks_of(const ss_plot_axis *axis, double ticks[MOST_TICKS])
{
    int count = 0;
    if (axis->log) {
        int low = (int)lround(log10(axis->from)), high = (int)lround(log10(axis->to));
        int step = (high - low) / 7 + 1;
        for (int e = low; e <= high && count < MOST_TICKS; e += step) ticks[count++] = pow(10.0, e);
        return count;
    }
    double step = nice_step(axis->to - axis->from, 5.0), first = ceil(axis->from / step - 1e-9);
    for (; count < MOST_TICKS && (first + count) * step <= axis->to + 1e-9 * step; count++)
        ticks[count] = (first + count) * step;
    return count;
}

static void tick_words(const ss_plot_axis *axis, double value, char words[32])
{
    if (!axis->log && fabs(value) < 1e-12 * (axis->to - axis->from)) value = 0.0;
    snprintf(words, 32, axis->log && (value >= 1e5 || value < 1e-3) ? "%.0e" : "%.6g", value);
}

/* Ticks of one side: 0 below, 1 left, 2 right. */
static void draw_axis(const canvas *on, const ss_plot_axis *axis, int side)
{
    double ticks[MOST_TICKS];
    int count = ticks_of(axis, ticks);
    const char *const *words = side == 0 ? on->figure->categories : NULL;
    double bottom = on->top + on->height, end = on->left + on->width;
    if (words) count = on->figure->category_count;
    if (side < 2) {
        ss_text_append(on->svg, "<path class=\"grid\" fill=\"none\" stroke=\"#e4e4e4\" d=\"");
        for (int i = 0; i < count && !words; i++) {
            if (side == 0)
                ss_text_appendf(on->svg, "M%.1f %.1fv%.1f", column(on, ticks[i]), on->top, on->height);
            else
                ss_text_appendf(on->svg, "M%.1f %.1fh%.1f", on->left, row(on, axis, ticks[i]), on->width);
        }
        ss_text_append(on->svg, "\"/>\n");
    }
    for (int i = 0; i < count; i++) {
        char number[32];
        tick_words(axis, words ? i : ticks[i], number);
        if (side == 0)
            label(on->svg, column(on, words ? i : ticks[i]), bottom + 17, " text-anchor=\"middle\"",
                  words ? words[i] : number);
        else if (side == 1)
            label(on->svg, on->left - 7, row(on, axis, ticks[i]) + 4, " text-anchor=\"end\"", number);
        else
            label(on->svg, end + 7, row(on, axis, ticks[i]) + 4, "", number);
    }
    if (!axis->label) return;
    if (side == 0) {
        label(on->svg, on->left + on->width / 2, bottom + 38, " text-anchor=\"middle\"", axis->label);
        return;
    }
    char turned[96];
    double x = side == 1 ? 15.0 : end + 60.0, y = on->top + on->height / 2;
    snprintf(turned, sizeof turned, " text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\"", x, y);
    label(on->svg, x, y, turned, axis->label);
}

/* ---- drawing --------------------------------------------------------------------------------------- */

static void begin_shape(const canvas *on, const ss_plot_series *s, bool filled, bool cut_off)
{
    // the report's series colours in its light theme
    static const char *const tints[8] = {"#0072b2", "#cc4e00", "#00795a", "#a8437f",
                                         "#b67a00", "#3394d1", "#5a4a9c", "#5f6670"};
    const char *colour = s->colour ? s->colour : tints[s->tint & 7], *paint = filled ? "fill" : "stroke";
    ss_text_appendf(on->svg, "<path %s=\"%s\"", paint, colour);
    if (cut_off) ss_text_appendf(on->svg, " clip-path=\"url(#frame-%s)\"", on->figure->name);
    if (!s->colour) ss_text_appendf(on->svg, " class=\"%s%d\"", filled ? "f" : "s", s->tint & 7);
    if (!filled)
        ss_text_appendf(on->svg, " fill=\"none\" stroke-width=\"%g\" stroke-linejoin=\"round\"%s",
                        s->width > 0.0 ? s->width : 1.8, s->dashed ? " stroke-dasharray=\"5 4\"" : "");
    if (s->opacity > 0.0) ss_text_appendf(on->svg, " opacity=\"%g\"", s->opacity);
    ss_text_append(on->svg, " d=\"");
}

static bool is_drawn(const ss_plot_axis *axis, double value)
{
    return isfinite(value) && (!axis->log || value > 0.0);
}

static void draw_line(const canvas *on, const ss_plot_series *s, const ss_plot_axis *axis)
{
    bool down = false;
    begin_shape(on, s, false, true);
    for (int i = 0; i < s->count; i++) {
        bool seen = is_drawn(axis, s->y[i]) && is_drawn(&on->x, s->x[i]);
        if (seen)
            ss_text_appendf(on->svg, "%s%.1f %.1f", down ? "L" : "M", column(on, s->x[i]),
                            row(on, axis, s->y[i]));
        down = seen;
    }
    ss_text_append(on->svg, "\"/>\n");
}

static void draw_points(const canvas *on, const ss_plot_series *s, const ss_plot_axis *axis)
{
    const double radius = s->width > 0.0 ? s->width : 2.6;
    begin_shape(on, s, true, true);
    for (int i = 0; i < s->count; i++) {
        if (!is_drawn(axis, s->y[i]) || !is_drawn(&on->x, s->x[i])) continue;
        ss_text_appendf(on->svg, "M%.1f %.1fa%g %g 0 1 0 %g 0a%g %g 0 1 0 -%g 0",
                        column(on, s->x[i]) - radius, row(on, axis, s->y[i]), radius, radius, 2 * radius,
                        radius, radius, 2 * radius);
    }
    ss_text_append(on->svg, "\"/>\n");
}

/* A lower edge that a logarithm cannot show is at the foot of the frame. */
static void draw_band(const canvas *on, const ss_plot_series *s, const ss_plot_axis *axis)
{
    begin_shape(on, s, true, true);
    for (int i = 0, n = 0; i < s->count; i++) {
        if (is_drawn(axis, s->high[i]))
            ss_text_appendf(on->svg, "%s%.1f %.1f", n++ ? "L" : "M", column(on, s->x[i]),
                            row(on, axis, s->high[i]));
    }
    for (int i = s->count - 1; i >= 0; i--) {
        if (!is_drawn(axis, s->high[i])) continue;
        double low = is_drawn(axis, s->y[i]) ? fmax(s->y[i], axis->from) : axis->from;
        ss_text_appendf(on->svg, "L%.1f %.1f", column(on, s->x[i]), row(on, axis, low));
    }
    ss_text_append(on->svg, "z\"/>\n");
}

static void draw_bars(const canvas *on, const ss_plot_series *s, const ss_plot_axis *axis, int group)
{
    bool stack = s->kind == SS_SERIES_STACK;
    double step = s->count > 1 && stack ? fabs(s->x[1] - s->x[0]) : 1.0;
    double share = stack ? (s->count > 60 ? 1.0 : 0.86) * step : 0.8 / on->groups;
    begin_shape(on, s, true, true);
    for (int i = 0; i < s->count; i++) {
        double below = stack       ? stacked_below(on->figure, s, i)
                       : axis->log ? axis->from
                                   : fmax(axis->from, 0.0);
        double above = stack ? below + s->y[i] : s->y[i];
        double from = s->x[i] + (stack ? -0.5 * share : -0.4 + group * share);
        if (!is_drawn(axis, above) || above == below) continue;
        ss_text_appendf(on->svg, "M%.1f %.1fH%.1fV%.1fH%.1fz", column(on, from), row(on, axis, below),
                        column(on, from + share), row(on, axis, above), column(on, from));
    }
    ss_text_append(on->svg, "\"/>\n");
}

/* ---- contours, by marching squares ------------------------------------------------------------------ */

static double grid_value(const ss_plot_series *s, int i, int j)
{
    return s->y[j * s->columns + i] - s->level;
}

/* Where the level crosses the edge from corner a to corner b of a cell, in the figure. */
static void cross(const canvas *on, const ss_plot_series *s, int i, int j, int a, int b, double at[2])
{
    static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    double fa = grid_value(s, i + corner[a][0], j + corner[a][1]),
           fb = grid_value(s, i + corner[b][0], j + corner[b][1]);
    double t = fa / (fa - fb);
    double x = i + corner[a][0] + t * (corner[b][0] - corner[a][0]);
    double y = j + corner[a][1] + t * (corner[b][1] - corner[a][1]);
    at[0] = column(on, on->x.from + (on->x.to - on->x.from) * x / (s->columns - 1));
    at[1] = row(on, &on->y, on->y.from + (on->y.to - on->y.from) * y / (s->rows - 1));
}

static void add_piece(const canvas *on, const ss_plot_series *s, int i, int j, const int edges[4])
{
    double from[2], to[2];
    cross(on, s, i, j, edges[0], edges[1], from);
    cross(on, s, i, j, edges[2], edges[3], to);
    ss_text_appendf(on->svg, "M%.1f %.1fL%.1f %.1f", from[0], from[1], to[0], to[1]);
}

/* Corners 0 1 2 3 against the clock from the lower left. A corner above the level, cut off from its
 * two neighbours, is one piece between the edges that meet in it; two neighbours above make a piece
 * across the cell. */
static void draw_contour(const canvas *on, const ss_plot_series *s)
{
    begin_shape(on, s, false, true);
    for (int cell = 0; cell < (s->rows - 1) * (s->columns - 1); cell++) {
        int i = cell % (s->columns - 1), j = cell / (s->columns - 1);
        bool above[4] = {grid_value(s, i, j) > 0.0, grid_value(s, i + 1, j) > 0.0,
                         grid_value(s, i + 1, j + 1) > 0.0, grid_value(s, i, j + 1) > 0.0};
        for (int k = 0; k < 4; k++) {
            int next = (k + 1) % 4, across = (k + 2) % 4, last = (k + 3) % 4;
            bool lone = above[k] != above[next] && above[k] != above[last];
            bool saddle = lone && above[k] == above[across];
            if (lone && (!saddle || above[k])) add_piece(on, s, i, j, (int[4]){k, last, k, next});
            if (above[k] && above[next] && !above[across] && !above[last])
                add_piece(on, s, i, j, (int[4]){k, last, next, across});
        }
    }
    ss_text_append(on->svg, "\"/>\n");
}

/* ---- legend ---------------------------------------------------------------------------------------- */

/* Below the frame, as many to a line as there is room for. Returns the height; draws if `on->svg` is set. */
static double legend(const canvas *on, double top, double room)
{
    double x = 0.0, y = 0.0;
    int shown = 0;
    for (const ss_plot_series *s = on->figure->first; s; s = s->next) {
        if (!s->name) continue;
        double width = 34.0 + width_of(s->name) + 14.0;
        if (x > 0.0 && x + width > room) x = 0.0, y += 19.0;
        if (on->svg) {
            bool filled =
                s->kind == SS_SERIES_BAND || s->kind == SS_SERIES_BARS || s->kind == SS_SERIES_STACK;
            begin_shape(on, s, filled || s->kind == SS_SERIES_POINTS, false);
            double left = on->left - 40.0 + x, middle = top + y - 4.0;
            if (filled)
                ss_text_appendf(on->svg, "M%.1f %.1fh22v10h-22z", left, middle - 5.0);
            else if (s->kind == SS_SERIES_POINTS)
                ss_text_appendf(on->svg, "M%.1f %.1fa3 3 0 1 0 6 0a3 3 0 1 0 -6 0", left + 8.0, middle);
            else
                ss_text_appendf(on->svg, "M%.1f %.1fh22", left, middle);
            ss_text_append(on->svg, "\"/>\n");
            label(on->svg, left + 29.0, top + y, "", s->name);
        }
        x += width;
        shown++;
    }
    return shown ? y + 22.0 : 0.0;
}

/* ---- together -------------------------------------------------------------------------------------- */

void ss_figure_svg(const ss_figure *figure, bool titled, ss_text *svg)
{
    bool grid = figure->first && figure->first->kind == SS_SERIES_CONTOUR;
    canvas on = {.figure = figure, .left = 74.0, .top = titled ? 40.0 : 12.0};
    choose_ranges(&on);
    on.width = grid ? 400.0 : figure->panel ? 330.0 : 700.0;
    on.height = grid ? 400.0 : figure->panel ? 230.0 : 300.0;
    double total = on.left + on.width + (on.has_right ? 80.0 : 22.0), foot = on.top + on.height + 48.0;
    double key = legend(&on, 0.0, total - on.left + 20.0), height = foot + key + 8.0;

    // the ground, and what lines are cut to
    ss_text_appendf(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
        "%.0f\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"currentColor\" "
        "color=\"#222\" role=\"img\" aria-label=\"",
        total, height, total, height);
    ss_text_append_escaped(svg, figure->title);
    ss_text_append(svg, "\">\n");
    if (titled) ss_text_append(svg, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    ss_text_appendf(svg,
                    "<clipPath id=\"frame-%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
                    "</clipPath>\n",
                    figure->name, on.left, on.top, on.width, on.height);
    on.svg = svg;
    if (titled)
        label(svg, on.left + on.width / 2, 24.0,
              " text-anchor=\"middle\" font-size=\"14\" font-weight=\"bold\"", figure->title);

    // axes below the lines, the frame above them
    draw_axis(&on, &on.x, 0);
    draw_axis(&on, &on.y, 1);
    if (on.has_right) draw_axis(&on, &on.right, 2);
    int group = 0;
    for (const ss_plot_series *s = figure->first; s; s = s->next) {
        const ss_plot_axis *axis = s->right ? &on.right : &on.y;
        switch (s->kind) {
        case SS_SERIES_LINE:
            draw_line(&on, s, axis);
            break;
        case SS_SERIES_POINTS:
            draw_points(&on, s, axis);
            break;
        case SS_SERIES_BAND:
            draw_band(&on, s, axis);
            break;
        case SS_SERIES_BARS:
            draw_bars(&on, s, axis, group++);
            break;
        case SS_SERIES_STACK:
            draw_bars(&on, s, axis, 0);
            break;
        case SS_SERIES_CONTOUR:
            draw_contour(&on, s);
            break;
        }
    }
    ss_text_appendf(svg,
                    "<rect class=\"edge\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
                    "stroke=\"#444\"/>\n",
                    on.left, on.top, on.width, on.height);
    legend(&on, foot + 12.0, total - on.left + 20.0);
    ss_text_append(svg, "</svg>\n");
}

void ss_figure_csv(const ss_figure *figure, ss_text *csv)
{
    ss_text_append(csv, "series,x,y,high\n");
    for (const ss_plot_series *s = figure->first; s; s = s->next) {
        for (int i = 0; s->x && i < s->count; i++) {
            ss_text_appendf(csv, "\"%s\",%.10g,%.10g,", s->name ? s->name : "", s->x[i], s->y[i]);
            if (s->high) ss_text_appendf(csv, "%.10g", s->high[i]);
            ss_text_append(csv, "\n");
        }
    }
}
