/* The recorder for programs that know nothing of it: `stickslip record --engine mujoco` preloads it, and its
 * mj_step and mj_step2 come before those of MuJoCo. */
#include "mujoco_step.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ss_mujoco_step *recorded; /* one for the program; guarded by the lock */

__attribute__((constructor)) static void attend(void)
{
    ss_sink_attend("libmujoco");
}

typedef void stepper(const mjModel *m, mjData *d);

static stepper *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    stepper *function;
    memcpy(&function, &found, sizeof found);
    return function;
}

/* MuJoCo's compiler tries a step with each model that it has read: that is not the program's. Programs call
 * from the same place again and again, and dladdr is slow. */
static bool is_of_mujoco(stepper *real, void *caller)
{
    static _Thread_local void *last;
    static _Thread_local bool of_mujoco;
    if (caller == last) return of_mujoco;
    void *place;
    memcpy(&place, &real, sizeof place);
    Dl_info one = {0}, two = {0};
    of_mujoco = dladdr(place, &one) && dladdr(caller, &two) && one.dli_fbase == two.dli_fbase;
    last = caller;
    return of_mujoco;
}

/* One world at a time; one that steps while another one does is not recorded. */
static void step_and_look(stepper *real, void *caller, const mjModel *m, mjData *d)
{
    ss_sink *sink = ss_sink_of_program();
    if (!sink || is_of_mujoco(real, caller) || pthread_mutex_trylock(&lock) != 0) {
        real(m, d);
        return;
    }
    ss_error err = {0};
    if (!recorded) {
        if (dlsym(RTLD_DEFAULT, "mj_version"))
            recorded = ss_mujoco_step_create(false, &err);
        else
            ss_fail(&err, SS_ERROR_INPUT,
                    "MuJoCo was loaded as a private library of another one, or is too old");
        if (!recorded) ss_sink_refuse(sink, "%s", err.message);
    }
    if (recorded && !sink->broken) sink->broken = !ss_mujoco_look_before(recorded, sink, m, d);
    real(m, d);
    if (recorded && !sink->broken) sink->broken = !ss_mujoco_look_after(recorded, sink, m, d);
    pthread_mutex_unlock(&lock);
}

SS_API void mj_step(const mjModel *m, mjData *d)
{
    static stepper *real;
    if (!real) real = find("mj_step");
    step_and_look(real, __builtin_return_address(0), m, d);
}

SS_API void mj_step2(const mjModel *m, mjData *d)
{
    static stepper *real;
    if (!real) real = find("mj_step2");
    step_and_look(real, __builtin_return_address(0), m, d);
}
