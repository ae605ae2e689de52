/* The recorder for programs that know nothing of it: `stickslip record --engine ode` preloads it, and its
 * dWorldStep and dWorldQuickStep come before those of ODE. */
#include "ode_step.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ss_ode_step *recorded; /* one for the program; guarded by the lock */

__attribute__((constructor)) static void attend(void)
{
    ss_sink_attend("libode.so");
}

typedef int stepper(dWorldID world, dReal h);

static stepper *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    void *ode = found ? NULL : dlopen("libode.so.8", RTLD_NOLOAD | RTLD_LAZY); // loaded for one library only
    if (ode) found = dlsym(ode, name);
    stepper *function;
    memcpy(&function, &found, sizeof found);
    return function;
}

/* The step of one world at a time; a world that steps while another one does is not recorded. */
static int step_and_look(stepper *real, dWorldID world, dReal h, bool quick)
{
    ss_sink *sink = ss_sink_of_program();
    if (!sink || pthread_mutex_trylock(&lock) != 0) return real(world, h);
    ss_error err = {0};
    if (!recorded) {
        // Without ODE's names in the global scope, calls from here would end the program.
        bool reachable = dlsym(RTLD_DEFAULT, "dBodyGetPosition") != NULL;
        if (reachable)
            recorded = ss_ode_step_create(RTLD_DEFAULT, &err);
        else
            ss_fail(&err, SS_ERROR_INPUT, "ODE was loaded as a private library of another one");
        if (!recorded) ss_sink_refuse(sink, "%s", err.message);
    }
    if (recorded && !sink->broken) sink->broken = !ss_ode_look_before(recorded, sink, world, h, quick);
    int result = real(world, h);
    if (recorded && !sink->broken) sink->broken = !ss_ode_look_after(recorded, sink);
    pthread_mutex_unlock(&lock);
    return result;
}

SS_API int dWorldStep(dWorldID world, dReal h)
{
    static stepper *real;
    if (!real) real = find("dWorldStep");
    return step_and_look(real, world, h, false);
}

SS_API int dWorldQuickStep(dWorldID world, dReal h)
{
    static stepper *real;
    if (!real) real = find("dWorldQuickStep");
    return step_and_look(real, world, h, true);
}
