/* cli/program.h - the program as a function. It is what main calls, and all that libstickslip_program.so
 * exports: a binding that has registered solvers of its own in libstickslip.so (ss_register) loads that
 * library in a forked child of its process and calls it there, and they are solvers of `bench`, `solve` and
 * `run` like any other. Worker processes are forks of the caller, so they know what it has registered.
 *
 * To be called in a process of its own, with one thread: it sets signal handlers and writes to the standard
 * streams. argv[0] is not looked at. Returns the exit code. */
#ifndef SS_CLI_PROGRAM_H
#define SS_CLI_PROGRAM_H

#include "base/inner.h"

SS_INNER int ss_program_main(int argc, char **argv);

#endif
