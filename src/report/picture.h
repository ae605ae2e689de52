/* report/picture.h - a still picture of a world, by casting rays: no graphics library, the same
 * pixels everywhere. */
#ifndef SS_REPORT_PICTURE_H
#define SS_REPORT_PICTURE_H

#include <stickslip/scene.h>

typedef struct ss_picture {
    int width, height;
    uint8_t *rgb; /* row by row from the top */
} ss_picture;

/* camera: NULL, or eye = target: chosen so that every body that can move is seen. */
bool ss_picture_draw(const ss_world *world, const ss_camera *camera, int width, int height,
                     ss_picture *picture, ss_error *err);
/* Replaces the file in one go. */
bool ss_picture_write_png(const ss_picture *picture, const char *path, ss_error *err);
void ss_picture_free(ss_picture *picture);

#endif
