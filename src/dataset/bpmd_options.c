/* What a user may ask of the readers, as tables. */
#include <stickslip/dataset.h>

#define DIALECTS "canonical|gazebo|ode2013|rpisim|auto" /* in the order of ss_dialect */

const char *ss_dialect_name(ss_dialect dialect)
{
    static const char *const names[] = {[SS_DIALECT_CANONICAL] = "canonical",
                                        [SS_DIALECT_GAZEBO] = "gazebo",
                                        [SS_DIALECT_ODE_2013] = "ode2013",
                                        [SS_DIALECT_RPISIM] = "rpisim",
                                        [SS_DIALECT_AUTO] = "auto"};
    return names[dialect];
}

const ss_option ss_read_option_table[] = {
    {.name = "dialect",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(ss_read_options, dialect),
     .default_value = "auto",
     .choices = DIALECTS,
     .help = "BPMD: program that wrote the frames, which determines the repairs; auto recognises it by "
             "the contents."},
    {.name = "flip_world_normals",
     .type = SS_OPTION_BOOL,
     .offset = offsetof(ss_read_options, flip_world_normals),
     .default_value = "false",
     .help = "Reverse normals of contacts with the world that point the wrong way."},
    {.name = "fill_gravity",
     .type = SS_OPTION_BOOL,
     .offset = offsetof(ss_read_options, fill_gravity),
     .default_value = "false",
     .help = "Add the weight to live bodies whose force is exactly 0 while that of others is not."},
    {.name = "gravity_x",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_read_options, gravity[0]),
     .default_value = "0",
     .help = "First component of gravity for fill_gravity, in m/s^2."},
    {.name = "gravity_y",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_read_options, gravity[1]),
     .default_value = "0",
     .help = "Second component of gravity for fill_gravity, in m/s^2."},
    {.name = "gravity_z",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_read_options, gravity[2]),
     .default_value = "-9.81",
     .help = "Third component of gravity for fill_gravity, in m/s^2."},
    {0}};

const ss_option ss_limits_table[] = {
    {.name = "max_bodies",
     .type = SS_OPTION_INT,
     .offset = offsetof(ss_limits, max_bodies),
     .default_value = "1000000",
     .min = 1,
     .max = 1e9,
     .help = "Reject frames with more bodies than this."},
    {.name = "max_rows",
     .type = SS_OPTION_INT,
     .offset = offsetof(ss_limits, max_rows),
     .default_value = "1000000",
     .min = 1,
     .max = 1e9,
     .help = "Reject frames with more joint equations than this."},
    {.name = "max_contacts",
     .type = SS_OPTION_INT,
     .offset = offsetof(ss_limits, max_contacts),
     .default_value = "1000000",
     .min = 1,
     .max = 1e9,
     .help = "Reject frames with more contacts than this."},
    {.name = "max_frames",
     .type = SS_OPTION_INT,
     .offset = offsetof(ss_limits, max_frames),
     .default_value = "1000000",
     .min = 1,
     .max = 1e9,
     .help = "Reject files with more frames than this."},
    {.name = "max_megabytes",
     .type = SS_OPTION_REAL,
     .offset = offsetof(ss_limits, max_megabytes),
     .default_value = "2048",
     .min = 1e-3,
     .max = 1e9,
     .value_name = "MB",
     .help = "Reject data sets and FCLIB problems that need more memory than this, in MB."},
    {0}};
