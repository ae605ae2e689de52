/* Drawings as SVG. Colours stand in attributes, for a file that is opened alone; where a mark has a look,
 * it is also a class, which a page sets to the colours of its theme. */
#include "figure/drawing.h"
#include "figure/font.h"

#include <math.h>
#include <stdlib.h>

/* Characters that XML does not allow are left out. */
static void append_piece(ss_text *text, const char *words, size_t length)
{
    const char *end = words + length;
    while (words < end) {
        const char *from = words;
        uint32_t character = ss_next_character(&words);
        if (character == '&')
            ss_text_append(text, "&amp;");
        else if (character == '<')
            ss_text_append(text, "&lt;");
        else if (character == '>')
            ss_text_append(text, "&gt;");
        else if (character == '"')
            ss_text_append(text, "&quot;");
        else if (character == 0xfffd)
            ss_text_append(text, "\xef\xbf\xbd");
        else if (character >= 0x20 || character == '\n' || character == '\t')
            ss_text_append_bytes(text, from, (size_t)(words - from));
    }
}

void ss_text_append_escaped(ss_text *text, const char *words)
{
    size_t length = 0;
    while (words[length]) length++;
    append_piece(text, words, length);
}

/* Two decimals are 4 micrometres; no zeros at the end. */
static void number(ss_text *svg, const char *before, double value)
{
    long hundredths = lround(100.0 * value);
    const char *sign = hundredths < 0 ? "-" : "";
    unsigned long size = (unsigned long)labs(hundredths);
    ss_text_appendf(svg, "%s%s%lu", before, sign, size / 100);
    if (size % 10)
        ss_text_appendf(svg, ".%02lu", size % 100);
    else if (size % 100)
        ss_text_appendf(svg, ".%lu", size % 100 / 10);
}

static void attribute(ss_text *svg, const char *name, double value)
{
    ss_text_appendf(svg, " %s=\"", name);
    number(svg, "", value);
    ss_text_append(svg, "\"");
}

static void draw_path(const ss_drawing *drawing, const ss_mark *mark, const char *id, ss_text *svg)
{
    const ss_paint *paint = &mark->paint;
    ss_text_append(svg, "<path");
    if (paint->look) ss_text_appendf(svg, " class=\"%s\"", paint->look);
    if (paint->clip) ss_text_appendf(svg, " clip-path=\"url(#frame-%s-%d)\"", id, paint->clip);
    if (paint->fill == SS_NO_COLOUR)
        ss_text_append(svg, " fill=\"none\"");
    else
        ss_text_appendf(svg, " fill=\"#%06x\"", paint->fill);
    if (paint->stroke != SS_NO_COLOUR) {
        ss_text_appendf(svg, " stroke=\"#%06x\"", paint->stroke);
        attribute(svg, "stroke-width", paint->width);
        ss_text_append(svg, " stroke-linejoin=\"round\"");
    }

    if (paint->dashes > 0) {
        ss_text_append(svg, " stroke-dasharray=\"");
        for (int i = 0; i < paint->dashes; i++) number(svg, i ? " " : "", paint->dash[i]);
        ss_text_append(svg, "\"");
    }
    if (paint->opacity > 0.0) ss_text_appendf(svg, " opacity=\"%g\"", paint->opacity);
    ss_text_append(svg, " d=\"");

    const double *at = drawing->numbers + mark->first_number;
    for (int i = 0; i < mark->steps; i++) {
        static const char *const letters[] = {"M", "L", "C", "z"};
        static const int counts[] = {2, 2, 6, 0};
        ss_path_step step = (ss_path_step)drawing->steps[mark->first_step + i];
        ss_text_append(svg, letters[step]);
        for (int k = 0; k < counts[step]; k++) number(svg, k ? " " : "", *at++);
    }
    ss_text_append(svg, "\"/>\n");
}

typedef struct writing {
    ss_text *svg;
    double raised; /* of the piece before */
} writing;

static void write_piece(void *context, const char *piece, size_t length, double size, double raised)
{
    writing *w = context;
    if (raised == w->raised) {
        append_piece(w->svg, piece, length);
        return;
    }
    ss_text_append(w->svg, "<tspan");
    attribute(w->svg, "dy", w->raised - raised);
    attribute(w->svg, "font-size", size);
    ss_text_append(w->svg, ">");
    append_piece(w->svg, piece, length);
    ss_text_append(w->svg, "</tspan>");
    w->raised = raised;
}

static void draw_words(const ss_mark *mark, bool inside_page, ss_text *svg)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    ss_text_append(svg, "<text");
    attribute(svg, "x", mark->x);
    attribute(svg, "y", mark->y);
    attribute(svg, "font-size", mark->size);
    if (mark->anchor != SS_ANCHOR_START) ss_text_appendf(svg, " text-anchor=\"%s\"", anchors[mark->anchor]);
    if (mark->bold) ss_text_append(svg, " font-weight=\"bold\"");
    if (!inside_page) ss_text_appendf(svg, " fill=\"#%06x\"", mark->paint.fill);
    if (mark->turn != 0.0) {
        ss_text_appendf(svg, " transform=\"rotate(%g", -mark->turn);
        number(svg, " ", mark->x);
        number(svg, " ", mark->y);
        ss_text_append(svg, ")\"");
    }

    ss_text_append(svg, ">");
    writing w = {.svg = svg};
    ss_words_split(mark->words, mark->size, write_piece, &w);
    ss_text_append(svg, "</text>\n");
}

void ss_drawing_svg(const ss_drawing *drawing, bool inside_page, const char *id, ss_text *svg)
{
    svg->out_of_memory |= drawing->out_of_memory;
    if (svg->out_of_memory) return;
    if (!inside_page) ss_text_append(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    ss_text_append(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"");

    const char *unit = inside_page ? "" : "mm";
    const double scale = inside_page ? 1.0 : 25.4 / 72.0;
    ss_text_appendf(svg, " width=\"%.2f%s\" height=\"%.2f%s\" viewBox=\"0 0 %.2f %.2f\"",
                    scale * drawing->width, unit, scale * drawing->height, unit, drawing->width,
                    drawing->height);
    ss_text_append(svg, " font-family=\"Arimo, Helvetica, Arial, sans-serif\"");
    if (inside_page) ss_text_append(svg, " fill=\"currentColor\"");
    ss_text_append(svg, " role=\"img\" aria-label=\"");
    ss_text_append_escaped(svg, drawing->title);
    ss_text_append(svg, "\">\n");

    if (!inside_page) {
        ss_text_append(svg, "<title>");
        ss_text_append_escaped(svg, drawing->title);
        ss_text_append(svg, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    }

    for (size_t i = 0; i < drawing->clip_count; i++) {
        const ss_clip *clip = &drawing->clips[i];
        ss_text_appendf(svg, "<clipPath id=\"frame-%s-%d\"><rect", id, (int)i + 1);
        attribute(svg, "x", clip->x);
        attribute(svg, "y", clip->y);
        attribute(svg, "width", clip->width);
        attribute(svg, "height", clip->height);
        ss_text_append(svg, "/></clipPath>\n");
    }

    for (size_t i = 0; i < drawing->mark_count; i++) {
        const ss_mark *mark = &drawing->marks[i];
        if (mark->words)
            draw_words(mark, inside_page, svg);
        else
            draw_path(drawing, mark, id, svg);
    }
    ss_text_append(svg, "</svg>\n");
}
