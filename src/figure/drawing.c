/* Drawings: making them. */
#include "figure/drawing.h"

#include "figure/font.h"

#include <string.h>

#define RAISED_SIZE 0.7 /* of an exponent, and how high it is, as shares of the size */
#define RAISED_BY 0.36

void ss_drawing_free(ss_drawing *drawing)
{
    for (size_t i = 0; i < drawing->mark_count; i++) ss_release(drawing->marks[i].words);
    ss_release(drawing->steps);
    ss_release(drawing->numbers);
    ss_release(drawing->marks);
    ss_release(drawing->clips);
    *drawing = (ss_drawing){0};
}

/* Room for one more; NULL when there is no memory for it. */
static void *grow(ss_drawing *drawing, void **items, size_t count, size_t *room, size_t size)
{
    if (count < *room) return (char *)*items + count * size;
    size_t wanted = *room ? 2 * *room : 64;
    void *larger = drawing->out_of_memory ? NULL : ss_allocate(wanted, size);
    if (!larger) {
        drawing->out_of_memory = true;
        return NULL;
    }
    if (count) memcpy(larger, *items, count * size);
    ss_release(*items);
    *items = larger;
    *room = wanted;
    return (char *)larger + count * size;
}

static ss_mark *add_mark(ss_drawing *drawing, const ss_paint *paint)
{
    void *marks = drawing->marks;
    ss_mark *mark = grow(drawing, &marks, drawing->mark_count, &drawing->mark_room, sizeof *mark);
    drawing->marks = marks;
    if (!mark) return NULL;
    *mark = (ss_mark){
        .paint = *paint, .first_step = (int)drawing->step_count, .first_number = (int)drawing->number_count};
    drawing->mark_count++;
    return mark;
}

static void add_step(ss_drawing *drawing, ss_path_step kind, const double *values, int count)
{
    void *steps = drawing->steps, *numbers = drawing->numbers;
    uint8_t *step = grow(drawing, &steps, drawing->step_count, &drawing->step_room, sizeof *step);
    drawing->steps = steps;
    if (!step || drawing->mark_count == 0) return;
    *step = (uint8_t)kind;
    for (int i = 0; i < count; i++) {
        double *number =
            grow(drawing, &numbers, drawing->number_count, &drawing->number_room, sizeof *number);
        drawing->numbers = numbers;
        if (!number) return;
        *number = values[i];
        drawing->number_count++;
    }
    drawing->step_count++;
    ss_mark *mark = &drawing->marks[drawing->mark_count - 1];
    mark->steps++;
    mark->numbers += count;
}

int ss_drawing_clip(ss_drawing *drawing, double x, double y, double width, double height)
{
    void *clips = drawing->clips;
    ss_clip *clip = grow(drawing, &clips, drawing->clip_count, &drawing->clip_room, sizeof *clip);
    drawing->clips = clips;
    if (!clip) return 0;
    *clip = (ss_clip){x, y, width, height};
    return (int)++drawing->clip_count;
}

void ss_drawing_path(ss_drawing *drawing, const ss_paint *paint)
{
    add_mark(drawing, paint);
}

void ss_drawing_edge(ss_drawing *drawing, uint32_t colour, double width)
{
    if (drawing->mark_count == 0) return;
    drawing->marks[drawing->mark_count - 1].paint.stroke = colour;
    drawing->marks[drawing->mark_count - 1].paint.width = width;
}

void ss_drawing_move(ss_drawing *drawing, double x, double y)
{
    add_step(drawing, SS_STEP_MOVE, (double[]){x, y}, 2);
}

void ss_drawing_line(ss_drawing *drawing, double x, double y)
{
    add_step(drawing, SS_STEP_LINE, (double[]){x, y}, 2);
}

void ss_drawing_curve(ss_drawing *drawing, const double control[4], double x, double y)
{
    add_step(drawing, SS_STEP_CURVE, (double[]){control[0], control[1], control[2], control[3], x, y}, 6);
}

void ss_drawing_close(ss_drawing *drawing)
{
    add_step(drawing, SS_STEP_CLOSE, NULL, 0);
}

void ss_drawing_rectangle(ss_drawing *drawing, double x, double y, double width, double height)
{
    ss_drawing_move(drawing, x, y);
    ss_drawing_line(drawing, x + width, y);
    ss_drawing_line(drawing, x + width, y + height);
    ss_drawing_line(drawing, x, y + height);
    ss_drawing_close(drawing);
}

void ss_drawing_circle(ss_drawing *drawing, double x, double y, double radius)
{
    const double r = radius, k = 0.5522847498 * radius; // four cubic curves, within 0.03 % of a circle
    ss_drawing_move(drawing, x + r, y);
    ss_drawing_curve(drawing, (double[]){x + r, y + k, x + k, y + r}, x, y + r);
    ss_drawing_curve(drawing, (double[]){x - k, y + r, x - r, y + k}, x - r, y);
    ss_drawing_curve(drawing, (double[]){x - r, y - k, x - k, y - r}, x, y - r);
    ss_drawing_curve(drawing, (double[]){x + k, y - r, x + r, y - k}, x + r, y);
    ss_drawing_close(drawing);
}

ss_mark *ss_drawing_words(ss_drawing *drawing, double x, double y, double size, ss_anchor anchor,
                          uint32_t colour, const char *words)
{
    ss_mark *mark = add_mark(drawing, &(ss_paint){.fill = colour, .stroke = SS_NO_COLOUR});
    if (!mark) return &drawing->spare;
    mark->x = x, mark->y = y, mark->size = size;
    mark->anchor = anchor;
    mark->words = ss_text_copy(words);
    if (!mark->words) drawing->out_of_memory = true;
    return mark;
}

/* ---- words ----------------------------------------------------------------------------------------- */

void ss_words_split(const char *words, double size, ss_words_piece *piece, void *context)
{
    while (*words) {
        const char *raised = strstr(words, SS_RAISE), *end = raised ? strstr(raised, SS_LOWER) : NULL;
        if (!end) {
            piece(context, words, strlen(words), size, 0.0);
            return;
        }
        if (raised > words) piece(context, words, (size_t)(raised - words), size, 0.0);
        piece(context, raised + 1, (size_t)(end - raised - 1), RAISED_SIZE * size, RAISED_BY * size);
        words = end + 1;
    }
}

typedef struct measuring {
    const ss_font *font;
    double width;
} measuring;

static void measure(void *context, const char *piece, size_t length, double size, double raised)
{
    (void)raised;
    measuring *m = context;
    const char *at = piece;
    while (at < piece + length) {
        uint32_t character = ss_next_character(&at);
        m->width += m->font->advance[ss_font_glyph(m->font, character)] * size / m->font->units;
    }
}

double ss_words_width(const char *words, double size, bool bold)
{
    measuring m = {.font = bold ? &ss_font_bold : &ss_font_regular};
    ss_words_split(words, size, measure, &m);
    return m.width;
}
