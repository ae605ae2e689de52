/* The recorder for programs that know nothing of it: `stickslip record --engine bullet` preloads it. The loader
 * takes its functions for two virtual ones of Bullet, by their C++ names. */
#include "bullet_step.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstring>

#define SOLVE "_ZN23btDiscreteDynamicsWorld16solveConstraintsER19btContactSolverInfo"
#define FINISH                                                                                         \
    "_ZN35btSequentialImpulseConstraintSolver29solveGroupCacheFriendlyFinishEPP17btCollisionObjectiRK" \
    "19btContactSolverInfo"

extern "C" {
SS_API void ss_bullet_solve(btDiscreteDynamicsWorld *world, btContactSolverInfo *info) __asm__(SOLVE);
SS_API btScalar ss_bullet_finish(btSequentialImpulseConstraintSolver *solver, btCollisionObject **bodies,
                                 int count, const btContactSolverInfo *info) __asm__(FINISH);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ss_bullet_step *recorded;  /* one for the program; guarded by the lock */
static thread_local bool looking; /* this thread is between begin and end */

__attribute__((constructor)) static void attend()
{
    ss_sink_attend("libBulletDynamics");
}

template <class Function> static Function *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    Function *function;
    memcpy(&function, &found, sizeof found);
    return function;
}

void ss_bullet_solve(btDiscreteDynamicsWorld *world, btContactSolverInfo *info)
{
    static auto real = find<void(btDiscreteDynamicsWorld *, btContactSolverInfo *)>(SOLVE);
    ss_sink *sink = ss_sink_of_program();
    if (!sink || pthread_mutex_trylock(&lock) != 0) {
        real(world, info);
        return;
    }
    if (!recorded) {
        ss_error err = {};
        if (ss_bullet_check_library(SOLVE, &err)) recorded = ss_bullet_step_create();
        if (!recorded) ss_sink_refuse(sink, "%s", err.code == SS_OK ? "out of memory" : err.message);
    }
    if (recorded && !sink->broken) sink->broken = !ss_bullet_begin(recorded, sink, world, *info);
    looking = recorded && !sink->broken;
    real(world, info);
    if (looking && !sink->broken) sink->broken = !ss_bullet_end(recorded, sink);
    looking = false;
    pthread_mutex_unlock(&lock);
}

/* What Bullet returns here is not used by it, so that the precision of the library does not matter. */
btScalar ss_bullet_finish(btSequentialImpulseConstraintSolver *solver, btCollisionObject **bodies, int count,
                          const btContactSolverInfo *info)
{
    static auto real = find<btScalar(btSequentialImpulseConstraintSolver *, btCollisionObject **, int,
                                     const btContactSolverInfo *)>(FINISH);
    ss_sink *sink = looking ? ss_sink_of_program() : nullptr;
    if (sink && !sink->broken) sink->broken = !ss_bullet_island(recorded, sink, solver);
    return real(solver, bodies, count, info);
}
