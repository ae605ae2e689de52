/* race_models TIME STEP TILT COORDINATES FILE...   each model file in MuJoCo and in our simulator: a row of
 * docs/models.md. Times in s; a step of 0 is that of the file; gravity is turned by TILT (rad);
 * COORDINATES of our simulator are maximal or minimal. */
#include "model_files.h"

#include <stdlib.h>

static void quiet(const char *text)
{
    (void)text;
}

int main(int count, char **arguments)
{
    if (count < 6) {
        fprintf(stderr, "usage: race_models TIME STEP TILT COORDINATES FILE...\n");
        return 2;
    }
    double seconds = atof(arguments[1]), h = atof(arguments[2]), tilt = atof(arguments[3]);
    mju_user_warning = quiet;
    printf("| file | bodies | h [s] | mass [kg]: MuJoCo, ours | moved [m] | "
           "apart: start, largest, end [m] | "
           "energy since the start [J]: MuJoCo, ours | fastest body at the end [m/s] | contacts |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    ss_coordinate_kind kind = strcmp(arguments[4], "minimal") == 0 ? SS_MINIMAL : SS_MAXIMAL;
    for (int i = 5; i < count; i++) {
        const char *slash = strrchr(arguments[i], '/'), *name = slash ? slash + 1 : arguments[i];
        model_comparison c = model_compare(arguments[i], kind, h, tilt, seconds);
        if (c.why[0])
            printf("| %s | not compared: %s | | | | | | | |\n", name, c.why);
        else
            printf("| %s | %d | %g | %.5g, %.5g | %.2g | %.1e, %.1e, %.1e | %.4g, %.4g | %.2g, %.2g | "
                   "%d, %d |\n",
                   name, c.bodies, c.h, c.mass[0], c.mass[1], c.moved, c.start, c.apart, c.end, c.energy[0],
                   c.energy[1], c.speed[0], c.speed[1], c.contacts[0], c.contacts[1]);
        fflush(stdout);
    }
    return 0;
}
