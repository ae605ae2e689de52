/* stickslip/plugin.h - solvers, formulations, metrics, scenes and user functions of your own, under a name.
 *
 * One registry holds all names. What the library brings comes first; an extension adds to it, from a shared
 * object (ss_plugin_open, or --plugin on the command line) or from the program that uses the library
 * (ss_register; this is what bindings do). From then on everything that takes a name takes the new ones:
 * ss_solver_find, ss_formulation_find, ss_metric_index, ss_scene_find and ss_hook_find, sessions,
 * simulations, judging, campaigns, lists and help. Own formulations are judged as the others are, on the
 * true Coulomb problem of the frame; own metrics are computed whenever an answer is judged.
 *
 * Threads: ss_register, ss_unregister, ss_plugin_open and ss_plugin_close may be called by any thread, one
 * waits for the other; names may be looked up at any time meanwhile. Best register first, then work: a
 * metric changes ss_metric_count, for which callers of ss_judge have made room before. What is registered
 * must stay as it is until it is unregistered, and nothing that uses it (session, assembly, simulation,
 * run) may outlive that.
 *
 * Read after all others; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_PLUGIN_H
#define STICKSLIP_PLUGIN_H

#include <stickslip/metrics.h>
#include <stickslip/scene.h>
#include <stickslip/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an extension brings. Each list ends with NULL; a list that is NULL is empty, but not all of them may
 * be. Names consist of letters, digits, '-', '_' and '.', are unique within their kind, and have at most 64
 * characters. */
typedef struct ss_extension {
    int abi;             /* SS_ABI */
    const char *name;    /* for messages: "my solvers"; NULL: the file name */
    const char *version; /* changes with the code: campaigns distinguish results by it. May be NULL; files
                          * are distinguished by their contents */
    const ss_solver *const *solvers;
    const ss_formulation *const *formulations;
    const ss_metric *const *metrics;
    const ss_scene *const *scenes;
    const ss_hook *const *hooks; /* user functions, see sim.h */
} ss_extension;

/* Checks the extension, and adds all of it or, with err, nothing. It must outlive its registration: nothing
 * is copied. */
SS_API bool ss_register(const ss_extension *extension, ss_error *err);
/* Takes it back; nothing happens if it is not registered. */
SS_API void ss_unregister(const ss_extension *extension);
/* The extension that a solver, formulation, metric, scene or hook was registered with; NULL: none. */
SS_API const ss_extension *ss_extension_of(const void *item);

/* ---- shared objects --------------------------------------------------------------------------------- */

/* What a plug-in exports under the name ss_plugin. It need not be linked with the library: the program that
 * loads it provides all functions of these headers. */
extern SS_API const ss_extension ss_plugin; /* defined by the plug-in, not by the library */

typedef struct ss_plugin_file ss_plugin_file;
/* Loads a shared object and registers what it exports. Its code runs inside the calling process: load only
 * what you trust. */
SS_API ss_plugin_file *ss_plugin_open(const char *path, ss_error *err);
SS_API const ss_extension *ss_plugin_contents(const ss_plugin_file *file);
/* Unregisters it and unloads the object. */
SS_API void ss_plugin_close(ss_plugin_file *file);

/* ---- other processes -------------------------------------------------------------------------------- */

typedef struct ss_solver_command ss_solver_command;
/* A solver that is another process, in any language: problems go to its standard input, iterates come from
 * its standard output (docs/pipe.md). text: "COMMAND", for /bin/sh, or "NAME=COMMAND"; without a name it is
 * that of the program, without folder and ending. The solver is registered; the process starts with its first
 * problem, serves many, and ends with us. It is killed when it does not stop at the time limit; when it
 * crashes or breaks the protocol the run has failed, and the next one starts it again. */
SS_API ss_solver_command *ss_solver_command_open(const char *text, ss_error *err);
SS_API const ss_solver *ss_solver_command_solver(const ss_solver_command *command);
SS_API void ss_solver_command_close(ss_solver_command *command);

#ifdef __cplusplus
}
#endif
#endif
