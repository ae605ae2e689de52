#include "figure/font.h"

#include <stddef.h>

uint32_t ss_next_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    if (!*at) return 0;
    int more = *at < 0x80                  ? 0
               : *at >= 0xc2 && *at < 0xe0 ? 1
               : *at >= 0xe0 && *at < 0xf0 ? 2
               : *at >= 0xf0 && *at < 0xf5 ? 3
                                           : -1;
    uint32_t character = more < 0 ? 0xfffd : more == 0 ? *at : *at & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            *text += i;
            return 0xfffd;
        }
        character = character << 6 | (at[i] & 0x3fu);
    }
    *text += more < 0 ? 1 : more + 1;
    return character;
}

int ss_font_glyph(const ss_font *font, uint32_t character)
{
    if (character == 0x202f || character == 0x2009) character = 0xa0; // thin spaces
    int low = 1, high = font->count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (font->code[middle] == character) return middle;
        if (font->code[middle] < character)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return 0;
}

double ss_font_width(const ss_font *font, const char *text, double size)
{
    double sum = 0.0;
    for (uint32_t character; (character = ss_next_character(&text));)
        sum += font->advance[ss_font_glyph(font, character)];
    return sum * size / font->units;
}

static int read_16(const uint8_t *at)
{
    return (int16_t)(at[0] << 8 | at[1]);
}

void ss_font_outline(const ss_font *font, int glyph, const ss_glyph_pen *pen)
{
    enum { ON = 1, SHORT_X = 2, SHORT_Y = 4, SAME_X = 16, SAME_Y = 32 };
    const uint8_t *data = font->outlines + font->offset[glyph];
    if (font->offset[glyph] == font->offset[glyph + 1]) return;
    int contours = read_16(data);
    const uint8_t *ends = data + 10, *flags = ends + 2 * contours + 2;
    int points = read_16(ends + 2 * (contours - 1)) + 1;

    // columns begin after the flags, rows after the columns
    const uint8_t *columns = flags + points, *rows = columns;
    for (int i = 0; i < points; i++) rows += flags[i] & SHORT_X ? 1 : flags[i] & SAME_X ? 0 : 2;

    double x = 0.0, y = 0.0;
    for (int c = 0, i = 0; c < contours; c++) {
        // A curve between two of its points has one control point; between two control points in a row
        // the curve passes through their middle. Our fonts begin every contour on the curve.
        int end = read_16(ends + 2 * c);
        double first[2] = {0}, control[2] = {0};
        bool has_control = false;
        for (int k = i; k <= end; k++) {
            double dx = flags[k] & SHORT_X  ? (flags[k] & SAME_X ? *columns : -*columns)
                        : flags[k] & SAME_X ? 0
                                            : read_16(columns);
            double dy = flags[k] & SHORT_Y  ? (flags[k] & SAME_Y ? *rows : -*rows)
                        : flags[k] & SAME_Y ? 0
                                            : read_16(rows);
            columns += flags[k] & SHORT_X ? 1 : flags[k] & SAME_X ? 0 : 2;
            rows += flags[k] & SHORT_Y ? 1 : flags[k] & SAME_Y ? 0 : 2;
            x += dx, y += dy;
            if (k == i) {
                first[0] = x, first[1] = y;
                pen->move(pen->context, x, y);
            } else if (flags[k] & ON) {
                if (has_control)
                    pen->curve(pen->context, control[0], control[1], x, y);
                else
                    pen->line(pen->context, x, y);
                has_control = false;
            } else {
                if (has_control)
                    pen->curve(pen->context, control[0], control[1], 0.5 * (control[0] + x),
                               0.5 * (control[1] + y));
                control[0] = x, control[1] = y;
                has_control = true;
            }
        }
        if (has_control)
            pen->curve(pen->context, control[0], control[1], first[0], first[1]);
        else
            pen->line(pen->context, first[0], first[1]);
        i = end + 1;
    }
}
