/* plugin/plugin_set.h - the plug-ins of a command: loaded and registered together, or not at all. */
#ifndef SS_PLUGIN_PLUGIN_SET_H
#define SS_PLUGIN_PLUGIN_SET_H

#include <stickslip/plugin.h>

#include "base/inner.h"

typedef struct ss_plugin_set {
    ss_plugin_file *files[SS_OPTION_LIST_MOST];
    int count;
} ss_plugin_set;

/* On failure nothing is left to close. */
SS_INNER bool ss_plugin_set_open(const ss_option_list *paths, ss_plugin_set *set, ss_error *err);
SS_INNER void ss_plugin_set_close(ss_plugin_set *set);
/* Is the solver another process (ss_solver_command_open)? It needs no fence of its own. */
SS_INNER bool ss_is_solver_command(const ss_solver *solver);
/* Starts the process of such a solver, unless it runs: before a measurement, when starting may take long. */
SS_INNER void ss_solver_command_prepare(const ss_solver *solver);
/* Which of the files brings a solver or formulation; -1: none of them. */
SS_INNER int ss_plugin_set_index(const ss_plugin_set *set, const void *item);

#endif
