/* Drawings as pixels. Every shape becomes polygons: lines are boxes with round joins, letters their
 * outlines. A row of pixels is looked at along ROWS lines; how much of a pixel a line covers is exact, and
 * what lies inside is decided by the winding number, so that boxes of one line may overlap. */
#include "figure/drawing.h"
#include "figure/font.h"
#include "figure/png.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, MOST_PIXELS = 20000 };

typedef struct edge {
    double x0, y0, x1, y1; /* y0 < y1 */
    int winding;
} edge;

typedef struct crossing {
    double x;
    int winding;
} crossing;

typedef struct raster {
    const ss_drawing *drawing;
    int width, height;
    double scale; /* pixels per point */
    uint8_t *rgb;
    float *cover; /* of one row */
    edge *edges;
    crossing *crossings;
    size_t edge_count, edge_room;
    bool out_of_memory;
    /* the pen */
    double x, y, start_x, start_y;
    /* of letters */
    double origin_x, origin_y, cosine, sine, letter; /* pixels per unit of the font */
    const ss_mark *mark;
} raster;

/* ---- polygons -------------------------------------------------------------------------------------- */

static void add_edge(raster *r, double x0, double y0, double x1, double y1)
{
    if (y0 == y1 || r->out_of_memory) return;
    if (r->edge_count == r->edge_room) {
        size_t room = r->edge_room ? 2 * r->edge_room : 1024;
        edge *more = ss_allocate(room, sizeof *more);
        crossing *crossings = ss_allocate(room, sizeof *crossings);
        if (!more || !crossings) {
            ss_release(more);
            ss_release(crossings);
            r->out_of_memory = true;
            return;
        }
        if (r->edge_count) memcpy(more, r->edges, r->edge_count * sizeof *more);
        ss_release(r->edges);
        ss_release(r->crossings);
        r->edges = more, r->crossings = crossings, r->edge_room = room;
    }
    r->edges[r->edge_count++] = y0 < y1 ? (edge){x0, y0, x1, y1, 1} : (edge){x1, y1, x0, y0, -1};
}

static int by_top(const void *a, const void *b)
{
    double first = ((const edge *)a)->y0, second = ((const edge *)b)->y0;
    return (first > second) - (first < second);
}

static int by_x(const void *a, const void *b)
{
    double first = ((const crossing *)a)->x, second = ((const crossing *)b)->x;
    return (first > second) - (first < second);
}

/* Paints what the edges enclose, and forgets them. */
static void fill(raster *r, uint32_t colour, double opacity, int clip)
{
    double low = 0.0, high = r->width, top = 0.0, bottom = r->height;
    if (clip) {
        const ss_clip *c = &r->drawing->clips[clip - 1];
        low = fmax(low, r->scale * c->x), high = fmin(high, r->scale * (c->x + c->width));
        top = fmax(top, r->scale * c->y), bottom = fmin(bottom, r->scale * (c->y + c->height));
    }

    if (r->edge_count) qsort(r->edges, r->edge_count, sizeof *r->edges, by_top);
    double lowest = 0.0;
    for (size_t i = 0; i < r->edge_count; i++) lowest = fmax(lowest, r->edges[i].y1);
    int first_row = r->edge_count ? (int)fmax(floor(r->edges[0].y0), 0.0) : 0;
    int rows = (int)fmin(ceil(lowest), r->height);

    size_t begun = 0, begin = 0; // edges before `begin` have ended, those from `begun` on have not begun
    for (int row = first_row; row < rows; row++) {
        memset(r->cover, 0, (size_t)r->width * sizeof *r->cover);
        while (begun < r->edge_count && r->edges[begun].y0 < row + 1.0) begun++;
        while (begin < begun && r->edges[begin].y1 <= row) begin++;
        bool painted = false;

        // Along ROWS lines: what lies inside by the winding number.
        for (int line = 0; line < ROWS; line++) {
            double y = row + (line + 0.5) / ROWS;
            size_t count = 0;
            if (y < top || y >= bottom) continue;
            for (size_t i = begin; i < begun; i++) {
                const edge *e = &r->edges[i];
                if (y < e->y0 || y >= e->y1) continue;
                double x = e->x0 + (e->x1 - e->x0) * (y - e->y0) / (e->y1 - e->y0);
                r->crossings[count++] = (crossing){x, e->winding};
            }
            if (count > 1) qsort(r->crossings, count, sizeof *r->crossings, by_x);
            int winding = 0;
            for (size_t i = 0; i + 1 < count; i++) {
                winding += r->crossings[i].winding;
                if (!winding) continue;
                painted = true;
                double from = fmax(r->crossings[i].x, low), to = fmin(r->crossings[i + 1].x, high);
                for (int k = (int)floor(from); from < to && k <= (int)ceil(to) - 1; k++)
                    r->cover[k] += (float)((fmin(to, k + 1.0) - fmax(from, k)) / ROWS);
            }
        }

        // The row of pixels, mixed with what was there.
        for (int i = 0; painted && i < r->width; i++) {
            double share = fmin(r->cover[i], 1.0) * opacity;
            uint8_t *pixel = r->rgb + 3 * ((size_t)row * (size_t)r->width + (size_t)i);
            if (share <= 0.0) continue;
            for (int k = 0; k < 3; k++) {
                double paint = (double)(colour >> (16 - 8 * k) & 0xff);
                pixel[k] = (uint8_t)lround(pixel[k] + share * (paint - pixel[k]));
            }
        }
    }
    r->edge_count = 0;
}

/* ---- paths ----------------------------------------------------------------------------------------- */

typedef void piece(raster *r, double x0, double y0, double x1, double y1, void *context);

/* Calls with every straight piece of a path, in pixels; curves in 12 pieces. Filled contours are closed. */
static void walk(raster *r, const ss_mark *mark, bool closed, piece *each, void *context)
{
    const double *at = r->drawing->numbers + mark->first_number;
    double x = 0.0, y = 0.0, start_x = 0.0, start_y = 0.0;
    bool open = false;
    for (int i = 0; i < mark->steps; i++) {
        double s = r->scale;
        switch ((ss_path_step)r->drawing->steps[mark->first_step + i]) {
        case SS_STEP_MOVE:
            if (open && closed) each(r, x, y, start_x, start_y, context);
            x = start_x = s * at[0], y = start_y = s * at[1];
            at += 2;
            open = true;
            break;
        case SS_STEP_LINE:
            each(r, x, y, s * at[0], s * at[1], context);
            x = s * at[0], y = s * at[1];
            at += 2;
            break;
        case SS_STEP_CURVE: {
            double from_x = x, from_y = y;
            for (int k = 1; k <= 12; k++) {
                double t = k / 12.0, u = 1.0 - t;
                double w[4] = {u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t};
                double to_x = w[0] * from_x + s * (w[1] * at[0] + w[2] * at[2] + w[3] * at[4]);
                double to_y = w[0] * from_y + s * (w[1] * at[1] + w[2] * at[3] + w[3] * at[5]);
                each(r, x, y, to_x, to_y, context);
                x = to_x, y = to_y;
            }
            at += 6;
            break;
        }
        case SS_STEP_CLOSE:
            each(r, x, y, start_x, start_y, context);
            x = start_x, y = start_y;
            open = false;
            break;
        }
    }
    if (open && closed) each(r, x, y, start_x, start_y, context);
}

static void add_side(raster *r, double x0, double y0, double x1, double y1, void *context)
{
    (void)context;
    add_edge(r, x0, y0, x1, y1);
}

/* A stroke on its way along a path. */
typedef struct stroke {
    const ss_paint *paint;
    double half;   /* width, pixels */
    int dash;      /* stroke or gap of now */
    double left;   /* of it, pixels */
    double end[2]; /* of the piece before */
    bool has_before;
} stroke;

static void add_box(raster *r, double x0, double y0, double x1, double y1, double half)
{
    double length = hypot(x1 - x0, y1 - y0);
    if (length == 0.0) return;
    double nx = -half * (y1 - y0) / length, ny = half * (x1 - x0) / length;
    add_edge(r, x0 + nx, y0 + ny, x0 - nx, y0 - ny);
    add_edge(r, x0 - nx, y0 - ny, x1 - nx, y1 - ny);
    add_edge(r, x1 - nx, y1 - ny, x1 + nx, y1 + ny);
    add_edge(r, x1 + nx, y1 + ny, x0 + nx, y0 + ny);
}

static void add_stroke(raster *r, double x0, double y0, double x1, double y1, void *context)
{
    stroke *s = context;
    const ss_paint *paint = s->paint;
    bool joins = s->has_before && s->end[0] == x0 && s->end[1] == y0;
    if (!joins && paint->dashes > 0) s->dash = 0, s->left = r->scale * paint->dash[0];
    if (joins && s->dash % 2 == 0) { // a disc, the way round that boxes go
        enum { CORNERS = 12 };
        const double turn = 2.0 * acos(-1.0) / CORNERS;
        for (int k = 0; k < CORNERS; k++)
            add_edge(r, x0 + s->half * cos(k * turn), y0 + s->half * sin(k * turn),
                     x0 + s->half * cos((k + 1) * turn), y0 + s->half * sin((k + 1) * turn));
    }

    double length = hypot(x1 - x0, y1 - y0), done = 0.0;
    while (paint->dashes > 0 && length - done > s->left) {
        double a = done / length, b = (done + s->left) / length;
        if (s->dash % 2 == 0)
            add_box(r, x0 + a * (x1 - x0), y0 + a * (y1 - y0), x0 + b * (x1 - x0), y0 + b * (y1 - y0),
                    s->half);
        done += s->left;
        s->dash = (s->dash + 1) % paint->dashes;
        s->left = r->scale * paint->dash[s->dash];
    }
    double a = length > 0.0 ? done / length : 0.0;
    if (s->dash % 2 == 0) add_box(r, x0 + a * (x1 - x0), y0 + a * (y1 - y0), x1, y1, s->half);
    s->left -= length - done;
    s->end[0] = x1, s->end[1] = y1;
    s->has_before = true;
}

static void draw_path(raster *r, const ss_mark *mark)
{
    const ss_paint *paint = &mark->paint;
    double opacity = paint->opacity > 0.0 ? paint->opacity : 1.0;
    if (paint->fill != SS_NO_COLOUR) {
        walk(r, mark, true, add_side, NULL);
        fill(r, paint->fill, opacity, paint->clip);
    }
    if (paint->stroke != SS_NO_COLOUR) {
        stroke s = {.paint = paint, .half = 0.5 * r->scale * paint->width};
        walk(r, mark, false, add_stroke, &s);
        fill(r, paint->stroke, opacity, paint->clip);
    }
}

/* ---- letters --------------------------------------------------------------------------------------- */

static void place(const raster *r, double x, double y, double at[2])
{
    at[0] = r->origin_x + r->letter * (r->cosine * x - r->sine * y);
    at[1] = r->origin_y - r->letter * (r->sine * x + r->cosine * y);
}

static void letter_move(void *context, double x, double y)
{
    raster *r = context;
    double at[2];
    place(r, x, y, at);
    r->x = at[0], r->y = at[1];
}

static void letter_line(void *context, double x, double y)
{
    raster *r = context;
    double at[2];
    place(r, x, y, at);
    add_edge(r, r->x, r->y, at[0], at[1]);
    r->x = at[0], r->y = at[1];
}

static void letter_curve(void *context, double control_x, double control_y, double x, double y)
{
    raster *r = context;
    double from[2] = {r->x, r->y}, control[2], to[2];
    place(r, control_x, control_y, control);
    place(r, x, y, to);
    for (int k = 1; k <= 5; k++) {
        double t = k / 5.0, u = 1.0 - t, at[2];
        for (int i = 0; i < 2; i++) at[i] = u * u * from[i] + 2.0 * u * t * control[i] + t * t * to[i];
        add_edge(r, r->x, r->y, at[0], at[1]);
        r->x = at[0], r->y = at[1];
    }
}

static void write_piece(void *context, const char *words, size_t length, double size, double raised)
{
    raster *r = context;
    const ss_font *font = r->mark->bold ? &ss_font_bold : &ss_font_regular;
    const ss_glyph_pen pen = {letter_move, letter_line, letter_curve, r};
    r->letter = r->scale * size / font->units;
    double dx = -r->scale * raised * r->sine, dy = -r->scale * raised * r->cosine;
    r->origin_x += dx, r->origin_y += dy;
    for (const char *at = words; at < words + length;) {
        uint32_t character = ss_next_character(&at);
        if (character < 0x20) continue;
        int glyph = ss_font_glyph(font, character);
        ss_font_outline(font, glyph, &pen);
        r->origin_x += r->letter * font->advance[glyph] * r->cosine;
        r->origin_y -= r->letter * font->advance[glyph] * r->sine;
    }
    r->origin_x -= dx, r->origin_y -= dy;
}

static void draw_words(raster *r, const ss_mark *mark)
{
    double back = mark->anchor == SS_ANCHOR_START ? 0.0 : ss_words_width(mark->words, mark->size, mark->bold);
    double turn = mark->turn * acos(-1.0) / 180.0;
    if (mark->anchor == SS_ANCHOR_MIDDLE) back *= 0.5;
    r->mark = mark;
    r->cosine = cos(turn), r->sine = sin(turn);
    r->origin_x = r->scale * (mark->x - back * r->cosine);
    r->origin_y = r->scale * (mark->y + back * r->sine);
    ss_words_split(mark->words, mark->size, write_piece, r);
    fill(r, mark->paint.fill, 1.0, 0);
}

uint8_t *ss_drawing_pixels(const ss_drawing *drawing, double dots_per_inch, int *width, int *height,
                           ss_error *err)
{
    double scale = dots_per_inch / 72.0, columns = ceil(scale * drawing->width - 1e-6),
           rows = ceil(scale * drawing->height - 1e-6);
    if (!(columns <= MOST_PIXELS && rows <= MOST_PIXELS)) {
        ss_fail(err, SS_ERROR_USAGE, "a picture of %.0f by %.0f pixels: expected at most %d each way",
                columns, rows, MOST_PIXELS);
        return NULL;
    }

    raster r = {.drawing = drawing, .width = (int)columns, .height = (int)rows, .scale = scale};
    size_t size = 3 * (size_t)r.width * (size_t)r.height;
    r.rgb = ss_allocate(size, 1);
    r.cover = ss_allocate((size_t)r.width + 1, sizeof *r.cover);
    r.out_of_memory = !r.rgb || !r.cover || drawing->out_of_memory;

    if (!r.out_of_memory) {
        memset(r.rgb, 255, size);
        for (size_t i = 0; i < drawing->mark_count; i++) {
            if (drawing->marks[i].words)
                draw_words(&r, &drawing->marks[i]);
            else
                draw_path(&r, &drawing->marks[i]);
        }
    }

    ss_release(r.cover);
    ss_release(r.edges);
    ss_release(r.crossings);
    if (r.out_of_memory) {
        ss_release(r.rgb);
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a picture");
        return NULL;
    }
    *width = r.width, *height = r.height;
    return r.rgb;
}

bool ss_drawing_png(const ss_drawing *drawing, double dots_per_inch, ss_text *png, ss_error *err)
{
    int width, height;
    uint8_t *rgb = ss_drawing_pixels(drawing, dots_per_inch, &width, &height, err);
    if (!rgb) return false;
    ss_png_append(png, width, height, rgb, dots_per_inch);
    ss_release(rgb);
    return !png->out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a picture");
}
