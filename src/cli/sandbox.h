/* cli/sandbox.h - a wall between the terminal and strangers' files. libhdf5 is known to crash on hostile
 * files, so a verb that reads files runs in a child process. When that dies while HDF5 reads, the parent
 * names the file and exits with the code of bad input; when it dies of anything else, the parent says what
 * was going on, and blames no file. SS_NO_SANDBOX=1 in the environment runs in one process, for debuggers
 * and sanitizers. */
#ifndef SS_CLI_SANDBOX_H
#define SS_CLI_SANDBOX_H

#include "cli/verb.h"

typedef struct ss_sandbox {
    const char *verb;
    const char *file;     /* its first argument: a file, for `run` a scene */
    double max_megabytes; /* address space of the reading process; 0 = no limit */
    double max_seconds;   /* of the reading process; 0 = no limit. Not without a sandbox */
} ss_sandbox;

/* Runs work(command) behind the wall, finishes its output and returns its exit code. */
int ss_sandbox_run(const ss_sandbox *sandbox, int (*work)(const ss_command *), const ss_command *command);

/* True once the user wants the run to stop (SIGINT, SIGTERM, SIGHUP). A loop that writes files asks between
 * two steps, so that no temporary file stays behind; one that does not ask is ended after two seconds. */
bool ss_sandbox_interrupted(void);
/* The same for a solver: not zero from then on. */
const volatile int *ss_sandbox_cancel(void);

/* What is under test, so that a crash is a result and not a defect of the program: "solving /mbs_frame000001
 * with pgs". "": nothing any more. */
void ss_sandbox_doing(const char *what);

#endif
