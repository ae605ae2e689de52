/* figure/drawing.h - a page of paths and words, in points (1/72 inch) from its upper left corner, y
 * downwards; written as SVG, PDF or PNG. Colours are 0xRRGGBB. Lack of memory is noted in the drawing and
 * looked at once, by the writers. */
#ifndef SS_FIGURE_DRAWING_H
#define SS_FIGURE_DRAWING_H

#include "base/text.h"

#define SS_NO_COLOUR 0xff000000u
#define SS_RAISE "\1" /* in words: an exponent begins, and ends */
#define SS_LOWER "\2"

typedef enum ss_path_step { SS_STEP_MOVE, SS_STEP_LINE, SS_STEP_CURVE, SS_STEP_CLOSE } ss_path_step;
typedef enum ss_anchor { SS_ANCHOR_START, SS_ANCHOR_MIDDLE, SS_ANCHOR_END } ss_anchor;

/* How something is painted. */
typedef struct ss_paint {
    uint32_t fill, stroke; /* SS_NO_COLOUR: not */
    double width;          /* of the stroke, pt */
    double opacity;        /* 0 = 1 */
    double dash[4];        /* lengths of strokes and gaps, pt */
    int dashes;            /* how many; 0: unbroken */
    int clip;              /* of ss_drawing_clip; 0 = none */
    const char *look;      /* class in a page, which gives it the colours of its theme; NULL: none */
} ss_paint;

typedef struct ss_mark {
    ss_paint paint;
    int first_step, steps;     /* a path; none: words */
    int first_number, numbers; /* its coordinates */
    char *words;               /* UTF-8; between SS_RAISE and SS_LOWER it is raised and small */
    double x, y, size;
    double turn; /* degrees against the clock, 0 or 90 */
    ss_anchor anchor;
    bool bold;
} ss_mark;

typedef struct ss_clip {
    double x, y, width, height;
} ss_clip;

typedef struct ss_drawing {
    double width, height;
    const char *title; /* of the document */
    uint8_t *steps;
    double *numbers;
    ss_mark *marks;
    ss_clip *clips;
    size_t step_count, step_room, number_count, number_room, mark_count, mark_room, clip_count, clip_room;
    bool out_of_memory;
    ss_mark spare; /* given out when memory is short */
} ss_drawing;
void ss_drawing_free(ss_drawing *drawing);

/* A rectangle that later paths may be cut to; its number, from 1 on. */
int ss_drawing_clip(ss_drawing *drawing, double x, double y, double width, double height);
/* Begin a path, add its steps. */
void ss_drawing_path(ss_drawing *drawing, const ss_paint *paint);
/* Gives the path that was begun last an edge. */
void ss_drawing_edge(ss_drawing *drawing, uint32_t colour, double width);
void ss_drawing_move(ss_drawing *drawing, double x, double y);
void ss_drawing_line(ss_drawing *drawing, double x, double y);
void ss_drawing_curve(ss_drawing *drawing, const double control[4], double x, double y);
void ss_drawing_close(ss_drawing *drawing);
void ss_drawing_rectangle(ss_drawing *drawing, double x, double y, double width, double height);
void ss_drawing_circle(ss_drawing *drawing, double x, double y, double radius);
/* A line of words with its base line at y. */
ss_mark *ss_drawing_words(ss_drawing *drawing, double x, double y, double size, ss_anchor anchor,
                          uint32_t colour, const char *words);
/* Its width, pt. */
double ss_words_width(const char *words, double size, bool bold);

/* Words in pieces of one height each: calls with the piece, its size and how far it is raised. */
typedef void ss_words_piece(void *context, const char *piece, size_t length, double size, double raised);
void ss_words_split(const char *words, double size, ss_words_piece *piece, void *context);

/* The same drawing gives the same bytes. SVG: `inside_page` leaves out the ground and uses the colours of
 * the page where there are looks; `id` keeps names apart between several in one page. */
void ss_drawing_svg(const ss_drawing *drawing, bool inside_page, const char *id, ss_text *svg);
bool ss_drawing_pdf(const ss_drawing *drawing, ss_text *pdf, ss_error *err);
/* Row by row from the top, three bytes each; ss_release. */
uint8_t *ss_drawing_pixels(const ss_drawing *drawing, double dots_per_inch, int *width, int *height,
                           ss_error *err);
bool ss_drawing_png(const ss_drawing *drawing, double dots_per_inch, ss_text *png, ss_error *err);

/* Appends text with &, <, > and quotation marks replaced by their entities. */
void ss_text_append_escaped(ss_text *text, const char *words);

#endif
