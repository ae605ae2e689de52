/* What a user may ask of the readers, as tables. */
#include <stickslip/dataset.h>

#include "base/option_rows.h"

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
    SS_ROW_CHOICE(ss_read_options, dialect, "auto", DIALECTS,
                  "BPMD: program that wrote the frames, which determines the repairs; auto recognises it by "
                  "the contents."),
    SS_ROW_BOOL(ss_read_options, flip_world_normals, "false",
                "Reverse normals of contacts with the world that point the wrong way."),
    SS_ROW_BOOL(ss_read_options, fill_gravity, "false",
                "Add the weight to live bodies whose force is exactly 0 while that of others is not."),
    {SS_ROW_AS("gravity_x", SS_OPTION_REAL, ss_read_options, gravity[0], "0"),
     .help = "First component of gravity for fill_gravity, in m/s^2."},
    {SS_ROW_AS("gravity_y", SS_OPTION_REAL, ss_read_options, gravity[1], "0"),
     .help = "Second component of gravity for fill_gravity, in m/s^2."},
    {SS_ROW_AS("gravity_z", SS_OPTION_REAL, ss_read_options, gravity[2], "-9.81"),
     .help = "Third component of gravity for fill_gravity, in m/s^2."},
    {0}};

const ss_option ss_limits_table[] = {
    SS_ROW_INT(ss_limits, max_bodies, "1000000", 1, 1e9, "Reject frames with more bodies than this."),
    SS_ROW_INT(ss_limits, max_rows, "1000000", 1, 1e9, "Reject frames with more joint equations than this."),
    SS_ROW_INT(ss_limits, max_contacts, "10000000", 1, 1e9, "Reject frames with more contacts than this."),
    SS_ROW_INT(ss_limits, max_frames, "1000000", 1, 1e9, "Reject files with more frames than this."),
    SS_ROW_INT(ss_limits, max_simulations, "10000", 1, 1e9, "Reject files with more simulations than this."),
    SS_ROW_INT(ss_limits, max_results, "1000", 0, 1e9, "Reject frames with more stored results than this."),
    SS_ROW_INT(ss_limits, max_members, "10000000", 1, 2e9,
               "Reject files whose simulations have more members in total than this."),
    {SS_ROW_OF(SS_OPTION_REAL, ss_limits, max_megabytes, "2048"), .min = 1e-3, .max = 1e9, .value_name = "MB",
     .help = "Reject data sets and FCLIB problems that need more memory than this, in MB."},
    {0}};
