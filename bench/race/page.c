/* The race as one HTML file: performance profiles, times against times, and the tables. No
 * scripts, no network. */
#include "race.h"

#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>stickslip beside its "
    "peers</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width\"><style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:#1d2430;background:#fff;max-width:1080px;margin:2rem "
    "auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2.2rem}\n"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;display:block;overflow-"
    "x:auto}\n"
    "th,td{padding:2px 10px;text-align:right;border-bottom:1px solid #e3e7ee;white-space:nowrap}\n"
    "th{font-weight:600;border-bottom-color:#9aa5b8}th:first-child,td:first-child{text-align:left}\n"
    "td b{color:#b3261e}code,pre{font:12px/1.45 "
    "ui-monospace,monospace}pre{overflow-x:auto;background:#f5f7fa;padding:1rem}\n"
    ".charts{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;flex:1 1 "
    "480px}figcaption{font-size:13px;color:#556}\n"
    "svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:#3a4354}\n"
    "</style></head><body>\n";
static const char foot[] = "</body></html>\n";

/* ---- text ----------------------------------------------------------------------------------------- */

static void escape(ss_text *html, const char *from, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        switch (from[k]) {
        case '<':
            ss_text_append(html, "&lt;");
            break;
        case '>':
            ss_text_append(html, "&gt;");
            break;
        case '&':
            ss_text_append(html, "&amp;");
            break;
        default:
            ss_text_append_bytes(html, from + k, 1);
        }
    }
}

/* `code` and **bold** in a line. */
static void inline_text(ss_text *html, const char *from, size_t length)
{
    bool code = false, bold = false;
    for (size_t k = 0; k < length; k++) {
        if (from[k] == '`') {
            ss_text_append(html, code ? "</code>" : "<code>");
            code = !code;
        } else if (k + 1 < length && from[k] == '*' && from[k + 1] == '*') {
            ss_text_append(html, bold ? "</b>" : "<b>");
            bold = !bold;
            k++;
        } else {
            escape(html, from + k, 1);
        }
    }
}

static void table_row(ss_text *html, const char *line, size_t length, bool heading)
{
    const char *cell = heading ? "th" : "td", *end = line + length;
    ss_text_append(html, "<tr>");
    for (const char *at = line + 1; at < end;) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        if (!bar) break;
        ss_text_appendf(html, "<%s>", cell);
        inline_text(html, at, (size_t)(bar - at));
        ss_text_appendf(html, "</%s>", cell);
        at = bar + 1;
    }
    ss_text_append(html, "</tr>\n");
}

/* The little of markdown that our tables are written in. */
static void from_markdown(ss_text *html, const char *text)
{
    bool in_table = false;
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool row = text[0] == '|';
        if (in_table && !row) ss_text_append(html, "</table>\n");
        if (row && strncmp(text, "| ---", 5) != 0) {
            if (!in_table) ss_text_append(html, "<table>\n");
            table_row(html, text, length, !in_table);
        } else if (strncmp(text, "## ", 3) == 0) {
            ss_text_append(html, "<h2>");
            inline_text(html, text + 3, length - 3);
            ss_text_append(html, "</h2>\n");
        } else if (!row && length > 0) {
            ss_text_append(html, "<p>");
            inline_text(html, text, length);
            ss_text_append(html, "</p>\n");
        }
        in_table = row;
        text += length + (text[length] == '\n');
    }
    if (in_table) ss_text_append(html, "</table>\n");
}

/* ---- performance profiles ------------------------------------------------------------------------- */

enum { LEFT = 44, TOP = 12, WIDE = 380, HIGH = 240, MOST_CURVES = 10, HINDSIGHT = -1 };
static const double most_ratio = 1000.0;

typedef struct curve {
    int entrant; /* HINDSIGHT: the best of Siconos on each problem */
    const char *colour, *dash;
    double width;
} curve;

static double time_of(const ss_race *race, int contest, int entrant, int target)
{
    if (entrant == HINDSIGHT)
        entrant = ss_race_best(race, contest, target, race->our_count, race->entrant_count);
    return entrant < 0 ? INFINITY : ss_race_place(race, contest, entrant, target)->processor;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times over the best of all, rising; infinite where it did not solve. */
static void ratios(const ss_race *race, int entrant, int target, double *to)
{
    for (int c = 0; c < race->contests.count; c++) {
        double best = time_of(race, c, ss_race_best(race, c, target, 0, race->entrant_count), target);
        double own = time_of(race, c, entrant, target);
        to[c] = isfinite(own) ? own / best : INFINITY;
    }
    qsort(to, (size_t)race->contests.count, sizeof *to, rising);
}

static double x_of(double ratio)
{
    return LEFT + WIDE * log(fmin(ratio, most_ratio)) / log(most_ratio);
}

static double y_of(double share)
{
    return TOP + HIGH * (1.0 - share);
}

static void draw_curve(const ss_race *race, const curve *of, int target, double *room, ss_text *html)
{
    int count = race->contests.count;
    ratios(race, of->entrant, target, room);
    ss_text_appendf(
        html, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-dasharray=\"%s\" d=\"M%d %g",
        of->colour, of->width, of->dash, LEFT, y_of(0.0));
    for (int c = 0; c < count && room[c] <= most_ratio; c++)
        ss_text_appendf(html, "H%.1fV%.1f", x_of(room[c]), y_of((c + 1.0) / count));
    ss_text_appendf(html, "H%d\"/>\n", LEFT + WIDE);
}

static void draw_axes(ss_text *html)
{
    for (int k = 0; k <= 4; k++) {
        double y = y_of(0.25 * k);
        ss_text_appendf(html,
                        "<path stroke=\"#e3e7ee\" d=\"M%d %gh%d\"/><text x=\"%d\" y=\"%g\" "
                        "text-anchor=\"end\">%d %%</text>\n",
                        LEFT, y, WIDE, LEFT - 6, y + 4, 25 * k);
    }
    for (double ratio = 1.0; ratio <= most_ratio; ratio *= 10.0)
        ss_text_appendf(html,
                        "<path stroke=\"#e3e7ee\" d=\"M%g %dv%d\"/><text x=\"%g\" y=\"%d\" "
                        "text-anchor=\"middle\">%g</text>\n",
                        x_of(ratio), TOP, HIGH, x_of(ratio), TOP + HIGH + 16, ratio);
    ss_text_appendf(html, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time over the best of all</text>\n",
                    LEFT + WIDE / 2, TOP + HIGH + 32);
}

static void draw_legend(const ss_race *race, const curve *curves, int count, ss_text *html)
{
    for (int k = 0; k < count; k++) {
        int y = TOP + 8 + 18 * k, x = LEFT + WIDE + 14;
        bool theirs = curves[k].entrant >= race->our_count;
        ss_text_appendf(html,
                        "<path stroke=\"%s\" stroke-width=\"%g\" stroke-dasharray=\"%s\" d=\"M%d %dh22\"/>"
                        "<text x=\"%d\" y=\"%d\">%s%s</text>\n",
                        curves[k].colour, curves[k].width, curves[k].dash, x, y, x + 28, y + 4,
                        theirs ? "Siconos " : "",
                        curves[k].entrant == HINDSIGHT ? "Siconos, best in hindsight"
                                                       : race->entrants[curves[k].entrant].name);
    }
}

/* Who solves most of [first, last) and is not among the curves yet; -1 = none solves anything. */
static int next_entrant(const ss_race *race, int first, int last, int target, const curve *curves, int count)
{
    int best = -1;
    for (int e = first; e < last; e++) {
        bool there = false;
        for (int k = 0; k < count; k++) there = there || curves[k].entrant == e;
        int solved = ss_race_solved(race, e, target);
        if (!there && solved > 0 && (best < 0 || solved > ss_race_solved(race, best, target))) best = e;
    }
    return best;
}

static int choose_curves(const ss_race *race, int target, curve curves[MOST_CURVES])
{
    static const char *const blues[] = {"#2f6fdf", "#0f9fa8", "#7a5cd0", "#5f9f2f"};
    static const char *const reds[] = {"#d9622b", "#c23b6b", "#b08a12", "#8a4b2f"};
    int count = 0;
    curves[count++] = (curve){0, "#12336e", "none", 3.0};
    if (race->our_count < race->entrant_count) curves[count++] = (curve){HINDSIGHT, "#8c1d18", "none", 3.0};
    for (int side = 0; side < 2; side++) {
        int first = side ? race->our_count : 1, last = side ? race->entrant_count : race->our_count;
        for (int k = 0; k < 4; k++) {
            int entrant = next_entrant(race, first, last, target, curves, count);
            if (entrant >= 0)
                curves[count++] = (curve){entrant, side ? reds[k] : blues[k], side ? "6 3" : "none", 1.6};
        }
    }
    return count;
}

static void profile(const ss_race *race, int target, double *room, ss_text *html)
{
    curve curves[MOST_CURVES];
    int count = choose_curves(race, target, curves);
    ss_text_appendf(html,
                    "<figure><svg viewBox=\"0 0 640 %d\" role=\"img\" aria-label=\"performance profile\">\n",
                    TOP + HIGH + 40);
    draw_axes(html);
    for (int k = count - 1; k >= 0; k--) draw_curve(race, &curves[k], target, room, html);
    draw_legend(race, curves, count, html);
    ss_text_appendf(
        html,
        "</svg><figcaption>Share of the %d problems solved to %s within a multiple of the time of the "
        "fastest. Higher and farther left is better.</figcaption></figure>\n",
        race->contests.count, ss_target_names[target]);
}

/* ---- time against time ---------------------------------------------------------------------------- */

static const double least_time = 1e-7, most_time = 10.0; /* s, of the axes */

static double along(double seconds)
{
    double t = fmin(most_time, fmax(least_time, seconds));
    return log(t / least_time) / log(most_time / least_time);
}

static void scatter_axes(ss_text *html)
{
    static const char *const names[] = {"0.1 us", "1 us",  "10 us", "0.1 ms", "1 ms",
                                        "10 ms",  "0.1 s", "1 s",   "10 s"};
    for (int k = 0; k < 9; k++) {
        double x = LEFT + WIDE * k / 8.0, y = y_of(k / 8.0);
        ss_text_appendf(
            html,
            "<path stroke=\"#e3e7ee\" d=\"M%g %dv%dM%d %gh%d\"/><text x=\"%g\" y=\"%d\" "
            "text-anchor=\"middle\">%s</text><text x=\"%d\" y=\"%g\" text-anchor=\"end\">%s</text>\n",
            x, TOP, HIGH, LEFT, y, WIDE, x, TOP + HIGH + 16, names[k], LEFT - 6, y + 4, names[k]);
    }
    ss_text_appendf(
        html,
        "<path stroke=\"#9aa5b8\" d=\"M%d %gL%d %g\"/><text x=\"%d\" y=\"%d\" "
        "text-anchor=\"middle\">best of Siconos in hindsight</text><text x=\"%d\" y=\"%d\">auto</text>\n",
        LEFT, y_of(0.0), LEFT + WIDE, y_of(1.0), LEFT + WIDE / 2, TOP + HIGH + 32, LEFT + 4, TOP + 10);
}

static void scatter(const ss_race *race, int target, ss_text *html)
{
    ss_text_appendf(html, "<figure><svg viewBox=\"0 0 640 %d\" role=\"img\" aria-label=\"times\">\n",
                    TOP + HIGH + 40);
    scatter_axes(html);
    for (int c = 0; c < race->contests.count; c++) {
        double ours = time_of(race, c, 0, target), theirs = time_of(race, c, HINDSIGHT, target);
        if (!isfinite(ours) && !isfinite(theirs)) continue;
        ss_text_appendf(
            html, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" fill-opacity=\"0.75\"><title>",
            LEFT + WIDE * along(theirs), y_of(along(ours)), ours > theirs ? "#b3261e" : "#12336e");
        escape(html, race->contests.items[c].name, strlen(race->contests.items[c].name));
        ss_text_append(html, "</title></circle>\n");
    }
    ss_text_appendf(
        html,
        "</svg><figcaption>Time to %s of every problem. Below the line <code>auto</code> is faster (red: "
        "slower); on the edge, one of the two did not solve it.</figcaption></figure>\n",
        ss_target_names[target]);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

bool ss_race_page(const ss_race *race, const char *more, const char *path, ss_error *err)
{
    const ss_page page = {(const unsigned char *)head, sizeof head - 1, (const unsigned char *)foot,
                          sizeof foot - 1};
    ss_text body = {0}, table = {0};
    double *room = calloc((size_t)race->contests.count + 1, sizeof *room);
    if (!room) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the page");
    ss_text_append(
        &body, "<h1>stickslip beside its peers</h1>\n<p>Times are the least of several solves on one thread, "
               "until the answer satisfies our measure; docs/race.md has the rules. Red: where we are "
               "slower.</p>\n<div class=\"charts\">\n");
    for (int t = 0; t < SS_TARGETS; t++) profile(race, t, room, &body);
    for (int t = 0; t < SS_TARGETS && race->our_count < race->entrant_count; t++) scatter(race, t, &body);
    ss_text_append(&body, "</div>\n");
    ss_race_markdown(race, &table);
    from_markdown(&body, ss_text_get(&table));
    from_markdown(&body, more);
    bool good = !body.out_of_memory && !table.out_of_memory;
    good = good ? ss_page_write(&page, &body, path, err)
                : ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the page");
    ss_text_free(&body), ss_text_free(&table);
    free(room);
    return good;
}
