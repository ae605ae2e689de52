/* figure/font.h - the letters of figures. tools/font makes them from a font while building; its widths are
 * those of Helvetica and Arial, so that an SVG fits with either of them in a viewer that has no Arimo. */
#ifndef SS_FIGURE_FONT_H
#define SS_FIGURE_FONT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ss_font {
    const char *name;
    const char *notice;      /* copyright and licence of the font, which have to go with it */
    int units;               /* of the em square */
    int ascent, descent;     /* units; descent is negative */
    int box[4];              /* units: that all letters fit into, x and y from, x and y to */
    int count;               /* glyphs; number 0 stands for what is not there */
    const uint32_t *code;    /* Unicode, rising */
    const uint16_t *advance; /* units */
    const uint32_t *offset;  /* [count + 1] into outlines */
    const uint8_t *outlines; /* simple TrueType glyphs without instructions or repeated flags */
} ss_font;

extern const ss_font ss_font_regular, ss_font_bold;

/* The next character of a text in UTF-8, 0xfffd for bytes that are not; moves the text on. 0 at its end. */
uint32_t ss_next_character(const char **text);
int ss_font_glyph(const ss_font *font, uint32_t character);
/* Of a line of text, in the unit of `size`. */
double ss_font_width(const ss_font *font, const char *text, double size);

/* A glyph as curves: called with straight pieces (control = NULL) and quadratic ones, in units. */
typedef struct ss_glyph_pen {
    void (*move)(void *context, double x, double y);
    void (*line)(void *context, double x, double y);
    void (*curve)(void *context, double control_x, double control_y, double x, double y);
    void *context;
} ss_glyph_pen;
void ss_font_outline(const ss_font *font, int glyph, const ss_glyph_pen *pen);

#endif
