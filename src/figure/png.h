/* figure/png.h - pixels as PNG. */
#ifndef SS_FIGURE_PNG_H
#define SS_FIGURE_PNG_H

#include "base/text.h"

/* rgb: row by row from the top. dots_per_inch 0: not said. */
void ss_png_append(ss_text *to, int width, int height, const uint8_t *rgb, double dots_per_inch);

#endif
