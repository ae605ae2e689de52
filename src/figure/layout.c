/* From a figure to a drawing. All lengths are in units of the letters: a figure of a page has letters of
 * 12 pixels, one in print of 7.5 pt, and both are laid out alike. Ticks are as close as their words allow. */
#include "figure/figure.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TICKS = 64, MARKERS = 7 };

static const uint32_t ink = 0x222222, soft = 0x56606a, rule = 0xe0e0e0, frame_ink = 0x444444;

typedef struct ticks {
    double at[MOST_TICKS];
    char words[MOST_TICKS][40];
    int count;
} ticks;

/* One pair of axes on the paper. */
typedef struct canvas {
    const ss_figure *figure;
    const ss_figure_style *style;
    ss_drawing *drawing;
    double em, unit;          /* letters; one pixel of a page */
    ss_plot_axis x, y, right; /* with their ranges chosen */
    bool has_right;
    double left, top, width, height; /* of the frame */
    int groups;                      /* series of bars side by side */
    int clip;
    bool bare; /* without words below */
    ticks x_ticks, y_ticks, right_ticks;
} canvas;

ss_figure_style ss_figure_for_page(void)
{
    return (ss_figure_style){.letters = 12.0, .inside_page = true};
}

ss_figure_style ss_figure_for_print(double width_mm)
{
    return (ss_figure_style){.width = width_mm * 72.0 / 25.4, .letters = 7.5, .titled = true};
}

uint32_t ss_colour_named(const char *name)
{
    for (const ss_page_colour *one = ss_page_colours; one->name; one++)
        if (strcmp(one->name, name) == 0) return one->colour;
    return 0x808080;
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
        if (s->kind == SS_SERIES_STACK && i < s->count && isfinite(s->y[i])) sum += s->y[i];
    }
    return sum;
}

/* Steps of 1, 2 or 5 times a power of ten, about `about` of them. */
static double nice_step(double range, double about, bool whole)
{
    double raw = range / about;
    if (whole && raw < 1.0) return 1.0;
    double power = pow(10.0, floor(log10(raw)));
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
        double room = fmax(1.1, pow(axis->to / axis->from, 0.02));
        axis->from /= room;
        axis->to *= room;
        return;
    }

    // Ends are round numbers; a single value gets some room.
    double range = axis->to - axis->from;
    if (!(range > 1e-12 * fmax(fabs(axis->to), fabs(axis->from)))) {
        range = axis->to == 0.0 ? 1.0 : fabs(axis->to);
        axis->from -= axis->from == 0.0 ? 0.0 : 0.5 * range;
        axis->to += axis->to == 0.0 ? 1.0 : 0.5 * range;
        range = axis->to - axis->from;
    }
    double step = nice_step(range, 5.0, axis->whole);
    axis->from = floor(axis->from / step + 1e-9) * step;
    axis->to = ceil(axis->to / step - 1e-9) * step;
}

/* What the series need, and what the caller wants. */
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
            if (s->high) widen(s->kind == SS_SERIES_BOXES ? &on->x : y, s->high[i]);
        }
    }

    // Bars stand on zero, and have room to the left and right.
    if (bars) {
        on->x.from -= 0.5;
        on->x.to += 0.5;
        if (!on->y.log) widen(&on->y, 0.0);
    }
    if (!bars || figure->x.from != figure->x.to) choose_range(&on->x, &figure->x);
    choose_range(&on->y, &figure->y);
    choose_range(&on->right, &figure->right);
    if (figure->row_names) on->y.from = figure->row_count - 0.5, on->y.to = -0.5; // the first row on top
}

static double place(const ss_plot_axis *axis, double value)
{
    double t = axis->log ? log(value / axis->from) / log(axis->to / axis->from)
                         : (value - axis->from) / (axis->to - axis->from);
    return axis->reversed ? 1.0 - t : t;
}

static double column(const canvas *on, double x)
{
    return on->left + on->width * place(&on->x, x);
}

static double row(const canvas *on, const ss_plot_axis *axis, double y)
{
    return on->top + on->height * (1.0 - place(axis, y));
}

/* ---- ticks ----------------------------------------------------------------------------------------- */

/* %g with a true minus sign. */
static void plain_words(double value, char *words, size_t size)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", fabs(value));
    snprintf(words, size, "%s%s", value < 0.0 ? "\xe2\x88\x92" : "", digits);
}

static void tick_words(const ss_plot_axis *axis, double value, char *words, size_t size)
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "\xc2\xb5s"}, {1e-9, "ns"}, {1e-12, "ps"}, {1e-15, "fs"}};
    if (!axis->log && fabs(value) < 1e-12 * fabs(axis->to - axis->from)) value = 0.0;
    if (axis->doubling && value >= 1e5) {
        snprintf(words, size, "2" SS_RAISE "%.0f" SS_LOWER, log2(value));
        return;
    }
    if (axis->words == SS_TICK_SECONDS) {
        size_t k = 0;
        while (k + 1 < sizeof units / sizeof *units && value < units[k].scale * (1.0 - 1e-9)) k++;
        snprintf(words, size, "%.3g\xc2\xa0%s", value / units[k].scale, units[k].unit);
        return;
    }
    if (axis->words == SS_TICK_PERCENT) {
        snprintf(words, size, "%.4g\xc2\xa0%%", 100.0 * value);
        return;
    }

    // 1, 0.01, 10^-4, 2 x 10^-4 of a logarithmic axis; otherwise plain digits.
    double exponent = axis->log ? floor(log10(value) + 1e-9) : 0.0;
    if (exponent >= -2.0 && exponent <= 3.0) {
        plain_words(value, words, size);
        return;
    }
    double digit = value / pow(10.0, exponent);
    char lead[24] = "";
    if (fabs(digit - 1.0) > 1e-6) snprintf(lead, sizeof lead, "%.3g\xc3\x97", digit);
    snprintf(words, size, "%s10" SS_RAISE "%s%.0f" SS_LOWER, lead, exponent < 0.0 ? "\xe2\x88\x92" : "",
             fabs(exponent));
}

static void add_tick(ticks *to, const ss_plot_axis *axis, double value)
{
    if (to->count == MOST_TICKS) return;
    if (axis->log ? value < axis->from * (1.0 - 1e-9) || value > axis->to * (1.0 + 1e-9)
                  : fabs(place(axis, value) - 0.5) > 0.5 + 1e-9)
        return;
    to->at[to->count] = value;
    tick_words(axis, value, to->words[to->count], sizeof to->words[0]);
    to->count++;
}

/* Do the words of neighbours keep apart, along `length`? */
static bool tick_words_fit(const ticks *now, const ss_plot_axis *axis, double length, double em, bool across)
{
    for (int i = 1; i < now->count; i++) {
        double distance = length * fabs(place(axis, now->at[i]) - place(axis, now->at[i - 1]));
        double need = across ? 0.5 * (ss_words_width(now->words[i], em, false) +
                                      ss_words_width(now->words[i - 1], em, false)) +
                                   0.7 * em
                             : 1.35 * em;
        if (distance < need) return false;
    }
    return true;
}

/* As many as fit along `length`: of a logarithmic axis decades where there are enough, else 1, 2, 5. */
static void choose_ticks(const canvas *on, const ss_plot_axis *axis, double length, bool across, ticks *to)
{
    enum { LINEAR_TRIES = 5 };
    static const double digits[3][12] = {{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1}};
    static const int counts[3] = {12, 3, 1};
    const double most = across ? 11.0 : 9.0;
    *to = (ticks){0};
    if (!axis->log) {
        static const double about[LINEAR_TRIES] = {5, 4, 3, 2, 1};
        for (int k = 0; k < LINEAR_TRIES; k++) {
            double low = fmin(axis->from, axis->to), high = fmax(axis->from, axis->to);
            double step = nice_step(high - low, about[k], axis->whole), first = ceil(low / step - 1e-9);
            to->count = 0;
            for (int i = 0; i < MOST_TICKS && (first + i) * step <= high + 1e-9 * step; i++)
                add_tick(to, axis, (first + i) * step);
            if (tick_words_fit(to, axis, length, on->em, across)) return;
        }
        return;
    }

    if (axis->doubling) {
        for (int stride = 1; stride < 64; stride++) {
            to->count = 0;
            for (int e = 0; e <= 62 && ldexp(1.0, e) <= axis->to * (1.0 + 1e-9); e += stride)
                add_tick(to, axis, ldexp(1.0, e));
            if (to->count <= most && tick_words_fit(to, axis, length, on->em, across)) return;
        }
        return;
    }

    int low = (int)floor(log10(axis->from)), high = (int)ceil(log10(axis->to));
    double ratio = axis->to / axis->from;
    int finest = ratio > 300.0 ? 2 : ratio > 3.0 ? 1 : 0;
    for (int k = finest; k < 3; k++)
        for (int stride = 1; stride <= (k == 2 ? high - low + 1 : 1); stride++) {
            to->count = 0;
            for (int e = (int)ceil((double)low / stride) * stride; e <= high; e += stride)
                for (int i = 0; i < counts[k]; i++) add_tick(to, axis, digits[k][i] * pow(10.0, e));
            if (to->count <= most && tick_words_fit(to, axis, length, on->em, across)) return;
        }
}

static double widest(const ticks *of, double em)
{
    double most = 0.0;
    for (int i = 0; i < of->count; i++) most = fmax(most, ss_words_width(of->words[i], em, false));
    return most;
}

/* ---- words in lines --------------------------------------------------------------------------------- */

enum { WORDS = 1024 }; /* bytes of a label or line */
#define ELLIPSIS "\xe2\x80\xa6"

static bool begins_letter(char byte)
{
    return (byte & 0xc0) != 0x80;
}

/* As much of the words as fits, with an ellipsis: their beginning in a share of the room, their end in what
 * is left of it. */
static void shorten(const char *words, double share, double size, double room, char to[WORDS])
{
    snprintf(to, WORDS, "%s", words);
    if (ss_words_width(to, size, false) <= room) return;
    size_t length = strlen(to), head = length, tail = length;
    char beginning[WORDS], ending[WORDS];
    room -= ss_words_width(ELLIPSIS, size, false);
    do {
        if (head > 0) do
                head--;
            while (head > 0 && !begins_letter(to[head]));
        snprintf(beginning, sizeof beginning, "%.*s", (int)head, to);
    } while (head > 0 && ss_words_width(beginning, size, false) > share * room);

    double left = room - ss_words_width(beginning, size, false);
    for (size_t from = length; share < 1.0 && from-- > head;)
        if (begins_letter(to[from])) {
            if (ss_words_width(to + from, size, false) > left) break;
            tail = from;
        }
    snprintf(ending, sizeof ending, "%s", to + tail);
    snprintf(to, WORDS, "%.*s" ELLIPSIS "%.*s", (int)head, beginning, WORDS - 4 - (int)head, ending);
}

/* The share for labels that stand together: half, or the nearest to it that keeps labels different which
 * are, as far as one does. The page has the same rule (shortAll in web/src/report/model.ts). */
static double share_of(ss_drawing *drawing, const char *const *names, int count, double size, double room)
{
    static const double shares[] = {0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1, 1.0, 0.0};
    char(*cut)[WORDS] = ss_allocate((size_t)count, sizeof *cut);
    double best = shares[0];
    int least = INT_MAX;
    drawing->out_of_memory |= !cut;
    for (size_t k = 0; cut && least > 0 && k < sizeof shares / sizeof *shares; k++) {
        int alike = 0;
        for (int i = 0; i < count; i++) {
            shorten(names[i], shares[k], size, room, cut[i]);
            for (int j = 0; j < i; j++)
                alike += strcmp(cut[i], cut[j]) == 0 && strcmp(names[i], names[j]) != 0;
        }
        if (alike < least) best = shares[k], least = alike;
    }
    ss_release(cut);
    return best;
}

/* Lines of at most `room`, broken at blanks; a word that is longer than a line is shortened. Returns how
 * many; draws them from y on if there is a drawing. */
static int wrap(ss_drawing *drawing, const char *words, double x, double y, double step, double size,
                bool bold, double room, uint32_t colour)
{
    int lines = 0;
    while (*words) {
        char line[1024] = "";
        size_t taken = 0;
        while (words[taken]) {
            size_t end = taken + strcspn(words + taken, " ");
            if (end >= sizeof line) break;
            memcpy(line, words, end), line[end] = 0;
            if (taken > 0 && ss_words_width(line, size, bold) > room) {
                line[taken - 1] = 0; // without the blank
                break;
            }
            taken = end + (words[end] == ' ');
        }

        if (taken == 0) return lines; // longer than any line
        char shown[WORDS];
        shorten(line, 1.0, size, room * (bold ? 0.93 : 1.0), shown);
        if (drawing)
            ss_drawing_words(drawing, x, y + lines * step, size, SS_ANCHOR_START, colour, bold ? line : shown)
                ->bold = bold;
        lines++;
        words += taken;
    }
    return lines;
}

/* ---- looks ----------------------------------------------------------------------------------------- */

static uint32_t colour_of(const ss_plot_series *s)
{
    if (s->colour && *s->colour == '#') return (uint32_t)strtoul(s->colour + 1, NULL, 16) & 0xffffff;
    return ss_colour_named(s->colour ? s->colour : (const char[]){'s', (char)('0' + (s->tint & 7)), 0});
}

/* A path for a series, filled or as a line. */
static void begin_shape(const canvas *on, const ss_plot_series *s, bool filled, bool cut_off)
{
    static const char *const fills[8] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};
    static const char *const strokes[8] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};

    // Pixels of strokes and gaps by look, as in web/src/common/palette.ts; then of dashed and faint lines.
    static const double looks[7][4] = {{0}, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}, {5, 4}, {2, 3}};
    static const int counts[7] = {0, 2, 2, 4, 2, 2, 2};
    int look = s->faint ? 6 : s->dashed ? 5 : s->look > 0 ? (s->look - 1) % 5 : 0;
    ss_paint paint = {.fill = filled ? colour_of(s) : SS_NO_COLOUR,
                      .stroke = filled ? SS_NO_COLOUR : colour_of(s),
                      .width = on->unit * (s->faint         ? 1.0
                                           : s->width > 0.0 ? s->width
                                                            : 1.8),
                      .opacity = s->opacity,
                      .dashes = filled ? 0 : counts[look],
                      .clip = cut_off ? on->clip : 0};
    for (int i = 0; i < paint.dashes; i++) paint.dash[i] = on->unit * looks[look][i];
    if (!s->colour && on->style->inside_page) paint.look = (filled ? fills : strokes)[s->tint & 7];
    ss_drawing_path(on->drawing, &paint);
}

/* The n-th marker of the report's series, around (x, y). */
static void add_marker(const canvas *on, int look, double x, double y, double scale)
{
    // corners in pixels, as in web/src/report/figure.ts; number 0 is the circle
    static const double square[] = {-3, -3, 3, -3, 3, 3, -3, 3}, triangle[] = {0, -3.8, 3.6, 2.8, -3.6, 2.8},
                        diamond[] = {0, -4.4, 3, 0, 0, 4.4, -3, 0},
                        cross[] = {-4, -1.3, -1.3, -1.3, -1.3, -4, 1.3,  -4, 1.3,  -1.3, 4,  -1.3,
                                   4,  1.3,  1.3,  1.3,  1.3,  4,  -1.3, 4,  -1.3, 1.3,  -4, 1.3},
                        star[] = {0, -4.5, 1.1,  -1.4, 4.3,  -1.4, 1.8,  0.5,  2.7,  3.6,
                                  0, 1.8,  -2.7, 3.6,  -1.8, 0.5,  -4.3, -1.4, -1.1, -1.4},
                        wye[] = {-1.1, 4.2, -1.1, 0.6, -4.2, -1.2, -3,  -3.1, 0,
                                 -1.3, 3,   -3.1, 4.2, -1.2, 1.1,  0.6, 1.1,  4.2};
    static const struct {
        const double *corners;
        int count;
    } shapes[MARKERS] = {{NULL, 0},   {square, 4}, {triangle, 3}, {diamond, 4},
                         {cross, 12}, {star, 10},  {wye, 9}};
    int k = look > 0 ? (look - 1) % MARKERS : 0;
    if (k == 0) ss_drawing_circle(on->drawing, x, y, 3.4 * scale);
    for (int i = 0; i < shapes[k].count; i++) {
        const double *at = shapes[k].corners + 2 * i;
        (i ? ss_drawing_line : ss_drawing_move)(on->drawing, x + scale * at[0], y + scale * at[1]);
    }
    if (k > 0) ss_drawing_close(on->drawing);
}

static bool is_drawn(const ss_plot_axis *axis, double value)
{
    return isfinite(value) && (!axis->log || value > 0.0);
}

/* ---- series ---------------------------------------------------------------------------------------- */

static void draw_line(const canvas *on, const ss_plot_series *s, const ss_plot_axis *axis)
{
    bool down = false;
    double before = 0.0;
    begin_shape(on, s, false, true);
    for (int i = 0; i < s->count; i++) {
        bool seen = is_drawn(axis, s->y[i]) && is_drawn(&on->x, s->x[i]);
        if (seen) {
            double x = column(on, s->x[i]), y = row(on, axis, s->y[i]);
            if (down && s->steps) ss_drawing_line(on->drawing, x, before);
            (down ? ss_drawing_line : ss_drawing_move)(on->drawing, x, y);
            before = y;
        }
        down = seen;
    }

    // Some of its points get a marker, the last one always.
    if (s->marks == 0) return;
    int step = (s->count + s->marks - 1) / s->marks;
    ss_plot_series plain = *s;
    plain.opacity = 0.0;
    begin_shape(on, &plain, true, false);
    ss_drawing_edge(on->drawing, 0xffffff, 0.6 * on->unit);
    for (int i = 0; i < s->count; i++)
        if ((i % step == 0 || i == s->count - 1) && is_drawn(axis, s->y[i]) && is_drawn(&on->x, s->x[i]))
            add_marker(on, s->look, column(on, s->x[i]), row(on, axis, s->y[i]), on->unit);
}

static void draw_points(const canvas *on, const ss_plot_series *s, const ss_plot_axis *axis)
{
    const double radius = on->unit * (s->width > 0.0 ? s->width : 2.6);
    ss_plot_series thin = *s;
    thin.width = 1.1, thin.look = 0; // outlines of markers are not broken
    begin_shape(on, &thin, !s->hollow, on->figure->row_names == NULL);
    for (int i = 0; i < s->count; i++) {
        if (!is_drawn(axis, s->y[i]) || !is_drawn(&on->x, s->x[i])) continue;
        double x = column(on, s->x[i]), y = row(on, axis, s->y[i]);
        if (s->look > 0)
            add_marker(on, s->look, x, y, radius / 3.4);
        else
            ss_drawing_circle(on->drawing, x, y, radius);
    }
}

/* A lower edge that a logarithm cannot show is at the foot of the frame. */
static void draw_band(const canvas *on, const ss_plot_series *s, const ss_plot_axis *axis)
{
    begin_shape(on, s, true, true);
    for (int i = 0, n = 0; i < s->count; i++) {
        if (is_drawn(axis, s->high[i]) && is_drawn(&on->x, s->x[i]))
            (n++ ? ss_drawing_line : ss_drawing_move)(on->drawing, column(on, s->x[i]),
                                                      row(on, axis, s->high[i]));
    }
    for (int i = s->count - 1; i >= 0; i--) {
        if (!is_drawn(axis, s->high[i]) || !is_drawn(&on->x, s->x[i])) continue;
        double low = is_drawn(axis, s->y[i]) ? fmax(s->y[i], axis->from) : axis->from;
        ss_drawing_line(on->drawing, column(on, s->x[i]), row(on, axis, low));
    }
    ss_drawing_close(on->drawing);
}

static void draw_bars(const canvas *on, const ss_plot_series *s, const ss_plot_axis *axis, int group)
{
    bool stack = s->kind == SS_SERIES_STACK;
    double step = INFINITY; // the least distance between two bars
    for (int i = 1; stack && i < s->count; i++) step = fmin(step, fabs(s->x[i] - s->x[i - 1]));
    if (!isfinite(step) || step == 0.0) step = 1.0;
    double share = stack ? (s->count > 60 ? 1.0 : 0.86) * step : 0.8 / on->groups;

    begin_shape(on, s, true, true);
    for (int i = 0; i < s->count; i++) {
        double below = stack       ? stacked_below(on->figure, s, i)
                       : axis->log ? axis->from
                                   : fmax(axis->from, 0.0);
        double above = stack ? below + s->y[i] : s->y[i];
        double from = s->x[i] + (stack ? -0.5 * share : -0.4 + group * share);
        if (!is_drawn(axis, above) || above == below) continue;
        double left = column(on, from), foot = row(on, axis, below);
        ss_drawing_rectangle(on->drawing, left, foot, column(on, from + share) - left,
                             row(on, axis, above) - foot);
    }
}

/* White lines at 45 degrees through a rectangle, at the same places wherever it is. */
static void add_hatch(const canvas *on, double left, double top, double width, double height, int way)
{
    const double spacing = 5.0 * on->unit;
    // along a line x + way * y is the same
    double low = way > 0 ? left + top : left - top - height, high = low + width + height;
    for (double sum = ceil(low / spacing) * spacing; sum < high; sum += spacing) {
        double from = fmax(left, way > 0 ? sum - top - height : sum + top),
               to = fmin(left + width, way > 0 ? sum - top : sum + top + height);
        if (!(from < to)) continue;
        ss_drawing_move(on->drawing, from, way > 0 ? sum - from : from - sum);
        ss_drawing_line(on->drawing, to, way > 0 ? sum - to : to - sum);
    }
}

static void begin_hatch(const canvas *on)
{
    ss_drawing_path(on->drawing,
                    &(ss_paint){.fill = SS_NO_COLOUR, .stroke = 0xffffff, .width = 1.2 * on->unit});
}

/* Where a box is: false for one that is not drawn. */
static bool place_box(const canvas *on, const ss_plot_series *s, int i, double at[4])
{
    if (!is_drawn(&on->x, s->x[i]) || !is_drawn(&on->x, s->high[i]) || !isfinite(s->y[i])) return false;
    double half = 0.5 * (s->share > 0.0 ? s->share : 1.0);
    double left = column(on, s->x[i]), top = row(on, &on->y, s->y[i] - half),
           width = column(on, s->high[i]) - left;
    // a hairline between cells, where there is room for one
    double gap = s->share == 0.0 && width > 5.0 * on->unit ? 0.8 * on->unit : 0.0;
    at[0] = left, at[1] = top + 0.5 * gap, at[2] = width - gap;
    at[3] = row(on, &on->y, s->y[i] + half) - top - gap;
    return true;
}

static void draw_boxes(const canvas *on, const ss_plot_series *s)
{
    double at[4];
    begin_shape(on, s, true, false);
    for (int i = 0; i < s->count; i++)
        if (place_box(on, s, i, at)) ss_drawing_rectangle(on->drawing, at[0], at[1], at[2], at[3]);
    if (s->hatch == 0) return;
    begin_hatch(on);
    for (int i = 0; i < s->count; i++)
        if (place_box(on, s, i, at)) add_hatch(on, at[0], at[1], at[2], at[3], s->hatch);
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
    ss_drawing_move(on->drawing, from[0], from[1]);
    ss_drawing_line(on->drawing, to[0], to[1]);
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
}

/* ---- axes ------------------------------------------------------------------------------------------ */

/* Words of columns that have a name, each as far as it fits; a line where one ends and the next begins. */
static void draw_spans(const canvas *on)
{
    const double bottom = on->top + on->height;
    for (int i = 0; i < on->figure->span_count; i++) {
        const ss_plot_span *span = &on->figure->spans[i];
        double from = column(on, span->from), to = column(on, span->to);
        char words[WORDS];
        shorten(span->name, 0.5, on->em, to - from - 0.5 * on->em, words);
        if (strlen(words) > 3 && to - from > 2.0 * on->em)
            ss_drawing_words(on->drawing, 0.5 * (from + to), bottom + 1.25 * on->em, on->em, SS_ANCHOR_MIDDLE,
                             ink, words);
        if (i == 0) continue;
        ss_drawing_path(on->drawing,
                        &(ss_paint){.fill = SS_NO_COLOUR, .stroke = frame_ink, .width = 0.8 * on->unit});
        ss_drawing_move(on->drawing, from, on->top);
        ss_drawing_line(on->drawing, from, bottom + 0.5 * on->em);
    }
}

static void draw_axes(const canvas *on)
{
    const ss_figure *figure = on->figure;
    const double em = on->em, bottom = on->top + on->height, end = on->left + on->width;
    double below = bottom + 1.35 * em;
    if (on->bare)
        ;
    else if (figure->spans)
        draw_spans(on);
    else if (figure->categories) {
        double room = figure->category_count > 0 ? on->width / figure->category_count - 0.3 * em : 0.0;
        double share = share_of(on->drawing, figure->categories, figure->category_count, em, room);
        for (int i = 0; i < figure->category_count; i++) {
            char words[WORDS];
            shorten(figure->categories[i], share, em, room, words);
            ss_drawing_words(on->drawing, column(on, i), below, em, SS_ANCHOR_MIDDLE, ink, words);
        }
    } else
        for (int i = 0; i < on->x_ticks.count; i++)
            ss_drawing_words(on->drawing, column(on, on->x_ticks.at[i]), below, em, SS_ANCHOR_MIDDLE, ink,
                             on->x_ticks.words[i]);
    if (on->x.label)
        ss_drawing_words(on->drawing, on->left + 0.5 * on->width, below + 1.5 * em, em, SS_ANCHOR_MIDDLE, ink,
                         on->x.label);

    double side = 0.0;
    if (figure->row_names) {
        double size = fmin(em, 0.92 * on->height / figure->row_count);
        double room = on->left - 0.6 * em;
        double share = share_of(on->drawing, figure->row_names, figure->row_count, size, room);
        for (int i = 0; i < figure->row_count; i++) {
            char words[WORDS];
            shorten(figure->row_names[i], share, size, room, words);
            ss_drawing_words(on->drawing, on->left - 0.5 * em, row(on, &on->y, i) + 0.35 * size, size,
                             SS_ANCHOR_END, ink, words);
        }
    } else {
        for (int i = 0; i < on->y_ticks.count; i++)
            ss_drawing_words(on->drawing, on->left - 0.5 * em, row(on, &on->y, on->y_ticks.at[i]) + 0.35 * em,
                             em, SS_ANCHOR_END, ink, on->y_ticks.words[i]);
        side = widest(&on->y_ticks, em);
    }
    if (on->y.label)
        ss_drawing_words(on->drawing, on->left - side - 1.1 * em, on->top + 0.5 * on->height, em,
                         SS_ANCHOR_MIDDLE, ink, on->y.label)
            ->turn = 90.0;

    if (!on->has_right) return;
    for (int i = 0; i < on->right_ticks.count; i++)
        ss_drawing_words(on->drawing, end + 0.5 * em, row(on, &on->right, on->right_ticks.at[i]) + 0.35 * em,
                         em, SS_ANCHOR_START, ink, on->right_ticks.words[i]);
    if (on->right.label)
        ss_drawing_words(on->drawing, end + widest(&on->right_ticks, em) + 1.8 * em,
                         on->top + 0.5 * on->height, em, SS_ANCHOR_MIDDLE, ink, on->right.label)
            ->turn = 90.0;
}

static void draw_series(const canvas *on)
{
    int group = 0;
    for (const ss_plot_series *s = on->figure->first; s; s = s->next) {
        const ss_plot_axis *axis = s->right ? &on->right : &on->y;
        switch (s->kind) {
        case SS_SERIES_LINE:
            draw_line(on, s, axis);
            break;
        case SS_SERIES_POINTS:
            draw_points(on, s, axis);
            break;
        case SS_SERIES_BAND:
            draw_band(on, s, axis);
            break;
        case SS_SERIES_BARS:
            draw_bars(on, s, axis, group++);
            break;
        case SS_SERIES_STACK:
            draw_bars(on, s, axis, 0);
            break;
        case SS_SERIES_CONTOUR:
            draw_contour(on, s);
            break;
        case SS_SERIES_BOXES:
            draw_boxes(on, s);
            break;
        }
    }
}

/* ---- legend ---------------------------------------------------------------------------------------- */

static void draw_swatch(const canvas *on, const ss_plot_series *s, double left, double middle)
{
    const double u = on->unit, width = 22.0 * u;
    bool filled = s->kind == SS_SERIES_BAND || s->kind == SS_SERIES_BARS || s->kind == SS_SERIES_STACK ||
                  s->kind == SS_SERIES_BOXES;
    if (s->kind == SS_SERIES_POINTS) {
        ss_plot_series thin = *s;
        thin.width = 1.1, thin.look = 0;
        begin_shape(on, &thin, !s->hollow, false);
        add_marker(on, s->look, left + 0.5 * width, middle, u);
        return;
    }

    begin_shape(on, s, filled, false);
    if (filled) {
        ss_drawing_edge(on->drawing, 0xb9bcb6, 0.5 * u);
        ss_drawing_rectangle(on->drawing, left, middle - 5.0 * u, width, 10.0 * u);
        if (s->hatch == 0) return;
        begin_hatch(on);
        add_hatch(on, left, middle - 5.0 * u, width, 10.0 * u, s->hatch);
        return;
    }

    ss_drawing_move(on->drawing, left, middle);
    ss_drawing_line(on->drawing, left + width, middle);
    if (s->marks == 0) return;
    begin_shape(on, s, true, false);
    ss_drawing_edge(on->drawing, 0xffffff, 0.6 * u);
    add_marker(on, s->look, left + 0.5 * width, middle, u);
}

/* In columns below the frame: of the panel and the one below it. Returns the height; draws if `top` is not
 * negative. */
static double draw_legend(const canvas *on, double left, double top, double room)
{
    const double em = on->em, swatch = 29.0 * on->unit, step = 1.55 * em;
    double most = 0.0;
    int entries = 0;
    for (const ss_figure *f = on->figure; f; f = f->below)
        for (const ss_plot_series *s = f->first; s; s = s->next) {
            if (!s->name) continue;
            most = fmax(most, swatch + ss_words_width(s->name, em, false) + 1.2 * em);
            entries++;
        }
    if (entries == 0) return 0.0;

    // As many columns as fit.
    most = fmin(most, room);
    int columns = (int)fmax(1.0, floor((room + 1.2 * em) / most)), rows;
    if (columns > entries) columns = entries;
    rows = (entries + columns - 1) / columns;

    if (top >= 0.0) {
        int i = 0;
        const char **names = ss_allocate((size_t)entries, sizeof *names);
        for (const ss_figure *f = on->figure; names && f; f = f->below)
            for (const ss_plot_series *s = f->first; s; s = s->next)
                if (s->name) names[i++] = s->name;
        double share = share_of(on->drawing, names, i, em, room - swatch);
        on->drawing->out_of_memory |= !names;
        ss_release(names);
        i = 0;
        for (const ss_figure *f = on->figure; f; f = f->below)
            for (const ss_plot_series *s = f->first; s; s = s->next) {
                if (!s->name) continue;
                double x = left + i / rows * most, y = top + (i % rows + 0.7) * step;
                char words[WORDS];
                draw_swatch(on, s, x, y - 0.35 * em);
                shorten(s->name, share, em, room - swatch, words);
                ss_drawing_words(on->drawing, x + swatch, y, em, SS_ANCHOR_START, ink, words);
                i++;
            }
    }
    return rows * step + 0.4 * em;
}

/* ---- together -------------------------------------------------------------------------------------- */

static double height_of(const ss_figure *figure, double em, double total, double frame_width)
{
    if (figure->first && figure->first->kind == SS_SERIES_CONTOUR) return frame_width; // a square
    if (figure->row_names)
        return figure->row_count * (figure->row_count > 30 ? 1.0 : figure->row_count > 12 ? 1.4 : 1.9) * em;
    double height = fmax(18.0 * em, 0.39 * total);
    return figure->low ? 6.5 * em : figure->below ? 0.7 * height : height;
}

/* The axes of one panel, with their top at `top`; where they end. Margins are the same for all panels. */
static double draw_panel(canvas *on, double top, double height, bool has_words_below)
{
    const double em = on->em;
    on->top = top;
    on->height = height;
    on->clip = ss_drawing_clip(on->drawing, on->left, on->top, on->width, on->height);
    if (!has_words_below) on->x.label = NULL, on->bare = true;

    // The grid below everything, the frame on top.
    ss_drawing_path(on->drawing, &(ss_paint){.fill = SS_NO_COLOUR,
                                             .stroke = rule,
                                             .width = 0.8 * on->unit,
                                             .look = on->style->inside_page ? "grid" : NULL});
    for (int i = 0; i < on->x_ticks.count; i++) {
        double x = column(on, on->x_ticks.at[i]);
        ss_drawing_move(on->drawing, x, on->top);
        ss_drawing_line(on->drawing, x, on->top + on->height);
    }
    for (int i = 0; i < on->y_ticks.count; i++) {
        double y = row(on, &on->y, on->y_ticks.at[i]);
        ss_drawing_move(on->drawing, on->left, y);
        ss_drawing_line(on->drawing, on->left + on->width, y);
    }
    draw_series(on);
    draw_axes(on);
    ss_drawing_path(on->drawing, &(ss_paint){.fill = SS_NO_COLOUR,
                                             .stroke = frame_ink,
                                             .width = 1.0 * on->unit,
                                             .look = on->style->inside_page ? "edge" : NULL});
    ss_drawing_rectangle(on->drawing, on->left, on->top, on->width, on->height);
    return top + height + (on->bare ? 0.5 * em : 1.8 * em) + (on->x.label ? 1.5 * em : 0.0);
}

void ss_figure_draw(const ss_figure *figure, const ss_figure_style *style, ss_drawing *drawing)
{
    enum { MOST_PANELS = 6 };
    const double em = style->letters, unit = em / 12.0;
    const bool square = figure->first && figure->first->kind == SS_SERIES_CONTOUR;
    const double page = square ? 400.0 : figure->panel ? 360.0 : 796.0;
    const double total = style->width > 0.0 ? style->width : page * unit;
    *drawing = (ss_drawing){.width = total, .title = figure->title};

    // ranges and heights, then margins as wide as the words beside the axes
    canvas panels[MOST_PANELS];
    int count = 0;
    double left = 0.8 * em, right = 0.8 * em, heights[MOST_PANELS];
    for (const ss_figure *f = figure; f && count < MOST_PANELS; f = f->below) {
        canvas *on = &panels[count];
        *on = (canvas){.figure = f, .style = style, .drawing = drawing, .em = em, .unit = unit};
        choose_ranges(on);
        heights[count] = height_of(f, em, total, 0.8 * total);
        if (!f->row_names) choose_ticks(on, &on->y, heights[count], false, &on->y_ticks);
        if (on->has_right) choose_ticks(on, &on->right, heights[count], false, &on->right_ticks);

        // names of rows take what they need, up to two fifths of the width
        double names = 0.0;
        for (int i = 0; f->row_names && i < f->row_count; i++)
            names = fmax(names, ss_words_width(f->row_names[i], em, false));
        double need =
            f->row_names ? fmin(names, 0.4 * total) + 0.7 * em : widest(&on->y_ticks, em) + 0.5 * em;
        left = fmax(left, need + (on->y.label ? 1.9 * em : 0.3 * em));
        if (on->has_right)
            right = fmax(right,
                         widest(&on->right_ticks, em) + 0.5 * em + (on->right.label ? 1.9 * em : 0.3 * em));
        count++;
    }
    for (int k = 0; k < count; k++) {
        canvas *on = &panels[k];
        on->left = left;
        on->width = total - left - right;
        if (!on->figure->categories && !on->figure->spans) {
            choose_ticks(on, &on->x, on->width, true, &on->x_ticks);
            // the last number may stand out beyond the frame
            int last = on->x_ticks.count - 1;
            double over = last < 0 ? 0.0
                                   : column(on, on->x_ticks.at[last]) +
                                         0.5 * ss_words_width(on->x_ticks.words[last], em, false) - total;
            if (over > -0.2 * em) right += over + 0.2 * em, on->width = total - left - right;
        }
    }

    // from the top down
    double y = 0.8 * em;
    if (style->titled) {
        double size = 1.12 * em, step = 1.3 * size;
        y += step *
             wrap(drawing, figure->title, 0.4 * em, y + 0.75 * size, step, size, true, total - 0.8 * em, ink);
        y += 0.5 * em;
    }
    for (int k = 0; k < count; k++) {
        canvas *on = &panels[k];
        on->width = total - left - right;
        if (square) heights[k] = on->width;
        if (on->figure->heading) {
            char words[WORDS];
            shorten(on->figure->heading, 1.0, em, on->width, words);
            ss_drawing_words(drawing, left + 0.5 * on->width, y + 0.75 * em, em, SS_ANCHOR_MIDDLE, ink,
                             words);
            y += 1.2 * em;
        }
        y = draw_panel(on, y, heights[k], k == count - 1) + (k < count - 1 ? 0.4 * em : 0.0);
    }

    // The legend, and in print what is said below.
    double key_left = fmin(left, 0.4 * em + unit);
    y += 0.3 * em;
    y += draw_legend(&panels[0], key_left, y, total - key_left - 0.4 * em);
    const char *foot[2] = {figure->note, figure->source};
    for (int k = 0; style->titled && k < 2; k++) {
        double size = 0.93 * em, step = 1.25 * size;
        if (foot[k])
            y += step * wrap(drawing, foot[k], key_left, y + 0.9 * size, step, size, false,
                             total - 2.0 * key_left, k ? soft : ink) +
                 0.2 * em;
    }
    drawing->height = y + 0.5 * em;
}

void ss_figure_svg(const ss_figure *figure, const ss_figure_style *style, ss_text *svg)
{
    ss_drawing drawing;
    ss_figure_draw(figure, style, &drawing);
    ss_drawing_svg(&drawing, style->inside_page, figure->name, svg);
    ss_drawing_free(&drawing);
}
