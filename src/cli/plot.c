#include "cli/plot.h"

#include <math.h>
#include <stdio.h>

/* Pixels: the frame is a square, the legend stands to its right. */
enum { LEFT = 70, TOP = 50, SIDE = 400, BOTTOM = 60, LEGEND = 150, LEGEND_GAP = 20, LEGEND_LINE = 20 };

static double column(const ss_plot *plot, double x)
{
    return LEFT + SIDE * (x - plot->x.from) / (plot->x.to - plot->x.from);
}

static double row(const ss_plot *plot, double y)
{
    return TOP + SIDE * (plot->y.to - y) / (plot->y.to - plot->y.from);
}

/* ---- text ---------------------------------------------------------------------------------------- */

static void append_escaped(ss_text *svg, const char *words)
{
    for (; *words; words++) {
        const char *entity = *words == '&' ? "&amp;" : *words == '<' ? "&lt;" : *words == '>' ? "&gt;" : NULL;
        if (entity)
            ss_text_append(svg, entity);
        else
            ss_text_append_bytes(svg, words, 1);
    }
}

static void label(ss_text *svg, double x, double y, const char *more, const char *words)
{
    ss_text_appendf(svg, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    append_escaped(svg, words);
    ss_text_append(svg, "</text>\n");
}

static void number(ss_text *svg, double x, double y, const char *more, double value)
{
    ss_text_appendf(svg, "<text x=\"%.1f\" y=\"%.1f\"%s>%g</text>\n", x, y, more, value);
}

/* ---- lines --------------------------------------------------------------------------------------- */

static void begin_path(ss_text *svg, ss_plot_pen pen, bool clipped)
{
    ss_text_appendf(svg,
                    "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linecap=\"round\"%s%s d=\"",
                    pen.colour, pen.width, pen.dashed ? " stroke-dasharray=\"5 4\"" : "",
                    clipped ? " clip-path=\"url(#frame)\"" : "");
}

static void end_path(ss_text *svg)
{
    ss_text_append(svg, "\"/>\n");
}

void ss_plot_line(ss_plot *plot, ss_plot_pen pen, const double (*points)[2], int count)
{
    begin_path(plot->svg, pen, true);
    for (int i = 0; i < count; i++) {
        ss_text_appendf(plot->svg, "%s%.1f %.1f", i ? "L" : "M", column(plot, points[i][0]),
                        row(plot, points[i][1]));
    }
    end_path(plot->svg);
}

/* ---- axes ---------------------------------------------------------------------------------------- */

static int tick_count(const ss_plot_axis *axis)
{
    return (int)floor((axis->to - axis->from) / axis->step + 1e-9) + 1;
}

static void draw_grid(ss_plot *plot)
{
    ss_text *svg = plot->svg;
    begin_path(svg, (ss_plot_pen){"#e4e4e4", 1.0, false}, false);
    for (int i = 0; i < tick_count(&plot->x); i++)
        ss_text_appendf(svg, "M%.1f %dv%d", column(plot, plot->x.from + i * plot->x.step), TOP, SIDE);
    for (int i = 0; i < tick_count(&plot->y); i++)
        ss_text_appendf(svg, "M%d %.1fh%d", LEFT, row(plot, plot->y.from + i * plot->y.step), SIDE);
    end_path(svg);
    ss_text_appendf(svg,
                    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444\"/>\n",
                    LEFT, TOP, SIDE, SIDE);
}

static void draw_ticks(ss_plot *plot)
{
    ss_text *svg = plot->svg;
    for (int i = 0; i < tick_count(&plot->x); i++) {
        double x = plot->x.from + i * plot->x.step;
        number(svg, column(plot, x), TOP + SIDE + 18, " text-anchor=\"middle\"", x);
    }
    for (int i = 0; i < tick_count(&plot->y); i++) {
        double y = plot->y.from + i * plot->y.step;
        number(svg, LEFT - 8, row(plot, y) + 4, " text-anchor=\"end\"", y);
    }
}

void ss_plot_begin(ss_plot *plot, const char *title)
{
    ss_text *svg = plot->svg;
    int width = LEFT + SIDE + LEGEND_GAP + LEGEND, height = TOP + SIDE + BOTTOM;
    char turned[80];
    ss_text_appendf(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n",
        width, height, width, height);
    ss_text_append(svg, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    ss_text_appendf(
        svg, "<clipPath id=\"frame\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", LEFT,
        TOP, SIDE, SIDE);
    label(svg, LEFT + SIDE / 2, TOP - 20, " text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\"",
          title);
    draw_grid(plot);
    draw_ticks(plot);
    label(svg, LEFT + SIDE / 2, TOP + SIDE + 44, " text-anchor=\"middle\"", plot->x.label);
    snprintf(turned, sizeof turned, " text-anchor=\"middle\" transform=\"rotate(-90 %d %d)\"", 22,
             TOP + SIDE / 2);
    label(svg, 22, TOP + SIDE / 2, turned, plot->y.label);
}

void ss_plot_legend(ss_plot *plot, ss_plot_pen pen, const char *words)
{
    double x = LEFT + SIDE + LEGEND_GAP, y = TOP + 10 + LEGEND_LINE * plot->legend_count++;
    begin_path(plot->svg, pen, false);
    ss_text_appendf(plot->svg, "M%.1f %.1fh24", x, y);
    end_path(plot->svg);
    label(plot->svg, x + 32, y + 4, "", words);
}

void ss_plot_end(ss_plot *plot)
{
    ss_text_append(plot->svg, "</svg>\n");
}

/* ---- contours ------------------------------------------------------------------------------------ */

typedef struct field {
    const ss_plot *plot;
    const double *f;
    int columns, rows;
    double level;
} field;

static double value(const field *on, int i, int j)
{
    return on->f[j * on->columns + i] - on->level;
}

/* Where the level crosses the edge from corner a to corner b of a cell, in the figure. */
static void cross(const field *on, int i, int j, int a, int b, double place[2])
{
    static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    double fa = value(on, i + corner[a][0], j + corner[a][1]),
           fb = value(on, i + corner[b][0], j + corner[b][1]);
    double t = fa / (fa - fb);
    double x = i + corner[a][0] + t * (corner[b][0] - corner[a][0]);
    double y = j + corner[a][1] + t * (corner[b][1] - corner[a][1]);
    const ss_plot *plot = on->plot;
    place[0] = column(plot, plot->x.from + (plot->x.to - plot->x.from) * x / (on->columns - 1));
    place[1] = row(plot, plot->y.from + (plot->y.to - plot->y.from) * y / (on->rows - 1));
}

static void add_piece(const field *on, int i, int j, const int edges[4])
{
    double from[2], to[2];
    cross(on, i, j, edges[0], edges[1], from);
    cross(on, i, j, edges[2], edges[3], to);
    ss_text_appendf(on->plot->svg, "M%.1f %.1fL%.1f %.1f", from[0], from[1], to[0], to[1]);
}

/* Corners 0 1 2 3 against the clock from the lower left. A corner above the level, cut off from its
 * two neighbours, is one piece between the edges that meet in it; two neighbours above make a piece
 * across the cell. */
static void add_cell(const field *on, int i, int j)
{
    bool above[4] = {value(on, i, j) > 0.0, value(on, i + 1, j) > 0.0, value(on, i + 1, j + 1) > 0.0,
                     value(on, i, j + 1) > 0.0};
    for (int k = 0; k < 4; k++) {
        int next = (k + 1) % 4, across = (k + 2) % 4, last = (k + 3) % 4;
        bool lone = above[k] != above[next] && above[k] != above[last];
        bool saddle = lone && above[k] == above[across];
        if (lone && (!saddle || above[k])) add_piece(on, i, j, (int[4]){k, last, k, next});
        if (above[k] && above[next] && !above[across] && !above[last])
            add_piece(on, i, j, (int[4]){k, last, next, across});
    }
}

void ss_plot_contour(ss_plot *plot, ss_plot_pen pen, const double *f, int columns, int rows, double level)
{
    field on = {plot, f, columns, rows, level};
    begin_path(plot->svg, pen, true);
    for (int j = 0; j + 1 < rows; j++) {
        for (int i = 0; i + 1 < columns; i++) add_cell(&on, i, j);
    }
    end_path(plot->svg);
}
