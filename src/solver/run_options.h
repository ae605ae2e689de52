/* solver/run_options.h - the options of a run as rows of a table, so that who has another default stop rule, as
 * the command line has, need not repeat the others. */
#ifndef SS_SOLVER_RUN_OPTIONS_H
#define SS_SOLVER_RUN_OPTIONS_H

#include <stickslip/solver.h>

#define SS_RUN_OPTION_ROWS(stop_default)                                                                     \
    {.name = "iterations",                                                                                   \
     .type = SS_OPTION_INT,                                                                                  \
     .offset = offsetof(ss_run_options, max_iterations),                                                     \
     .default_value = "10000",                                                                               \
     .min = 0,                                                                                               \
     .max = 1e9,                                                                                             \
     .value_name = "N",                                                                                      \
     .help = "stop after so many iterations"},                                                               \
        {.name = "time-limit",                                                                               \
         .type = SS_OPTION_REAL,                                                                             \
         .offset = offsetof(ss_run_options, time_limit),                                                     \
         .default_value = "0",                                                                               \
         .min = 0,                                                                                           \
         .max = 1e9,                                                                                         \
         .value_name = "seconds",                                                                            \
         .help = "stop after so many seconds of solving; 0 = no limit"},                                     \
        {.name = "stop",                                                                                     \
         .type = SS_OPTION_TEXT,                                                                             \
         .offset = offsetof(ss_run_options, stop),                                                           \
         .default_value = stop_default,                                                                      \
         .value_name = "RULE",                                                                               \
         .help = "converged when GAUGE<VALUE holds, for instance energy<1e-6 (J); energy<1e-6*scene is "     \
                 "relative to the energy scale of the scene; none = only iterations and time"},              \
        {.name = "keep",                                                                                     \
         .type = SS_OPTION_TEXT,                                                                             \
         .offset = offsetof(ss_run_options, keep),                                                           \
         .default_value = "last",                                                                            \
         .value_name = "WHICH",                                                                              \
         .help = "the iterate to return: last, or best:GAUGE"},                                              \
    {                                                                                                        \
        .name = "seed", .type = SS_OPTION_INT, .offset = offsetof(ss_run_options, seed),                     \
        .default_value = "1", .min = 0, .max = 2147483647, .help = "seed of methods that use random numbers" \
    }

#endif
