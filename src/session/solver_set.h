/* session/solver_set.h - the solvers a user can name: those of the library, and those of plug-ins. */
#ifndef SS_SESSION_SOLVER_SET_H
#define SS_SESSION_SOLVER_SET_H

#include <stickslip/formulation.h>
#include <stickslip/solver.h>

typedef struct ss_solver_set {
    ss_plugin_file *files[SS_OPTION_LIST_MOST];
    int file_count;
} ss_solver_set;

/* Loads plug-ins. On failure nothing is left to close. */
bool ss_solver_set_open(const ss_option_list *plugins, ss_solver_set *set, ss_error *err);
void ss_solver_set_close(ss_solver_set *set);

int ss_solver_set_count(const ss_solver_set *set);
const ss_solver *ss_solver_set_at(const ss_solver_set *set, int index);
/* Fails with what was probably meant. */
const ss_solver *ss_solver_set_find(const ss_solver_set *set, const char *name, ss_error *err);

/* --plugin, for the tables of verbs that take it. */
#define SS_PLUGIN_OPTION(owner, member)                                                                      \
    {                                                                                                        \
        .name = "plugin", .type = SS_OPTION_LIST, .offset = offsetof(owner, member),                         \
        .value_name = "FILE.so",                                                                             \
        .help = "Also load the solvers of this plug-in (docs/solving.md); repeatable. Its code runs inside " \
                "the program."                                                                               \
    }

#endif
