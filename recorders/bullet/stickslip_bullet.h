/* stickslip_bullet.h - record the steps of a program that uses Bullet (docs/recording.md).
 *
 *     ss_bullet_recorder *rec = ss_bullet_recorder_open("mine.h5", &err);
 *     ss_bullet_recorded<btSequentialImpulseConstraintSolver> solver;       // in the place of the solver
 *     btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
 *     solver.record(rec, &world);
 *     ... world.stepSimulation(...) as before
 *     if (!ss_bullet_recorder_close(rec, &err)) ...
 *
 * Each internal step becomes a frame: bodies, the rows of joints, contacts, and Bullet's own answer. Nothing
 * that Bullet computes is changed by it. For other solvers derived from the sequential one, such as
 * btMLCPSolver, give their type and arguments instead. Link with -lstickslip_bullet -lstickslip.
 */
#ifndef STICKSLIP_BULLET_H
#define STICKSLIP_BULLET_H

#include <btBulletDynamicsCommon.h>

#include <stickslip/base.h>

#include <utility>

struct ss_bullet_recorder;

/* The file appears when the recorder is closed. Null: the file cannot be written. */
SS_API ss_bullet_recorder *ss_bullet_recorder_open(const char *path, ss_error *err);
/* Settings as text, before the first step, as ss_recorder_configure of stickslip/recorder.h: "survive=60",
 * or for a flight recorder "ring=500 trip=energy>1e-3 trip=nan". Recordings survive their program from the
 * start: what is older than five seconds can be recovered (`stickslip recover`). */
SS_API bool ss_bullet_recorder_configure(ss_bullet_recorder *recorder, const char *settings, ss_error *err);
/* Writes the ring of a flight recorder now; nothing without a ring. */
SS_API bool ss_bullet_recorder_trip(ss_bullet_recorder *recorder, const char *reason, ss_error *err);
/* What went wrong last, and what could not be expressed in a frame, one line each; "" if nothing. */
SS_API const char *ss_bullet_recorder_error(const ss_bullet_recorder *recorder);
SS_API const char *ss_bullet_recorder_notes(const ss_bullet_recorder *recorder);
/* Puts the file in its place and frees the recorder in any case. */
SS_API bool ss_bullet_recorder_close(ss_bullet_recorder *recorder, ss_error *err);

/* Called by the solver below, when the world begins to solve, for every island, and at the end. */
SS_API void ss_bullet_recorder_begin(ss_bullet_recorder *recorder, btDiscreteDynamicsWorld *world);
SS_API void ss_bullet_recorder_island(ss_bullet_recorder *recorder,
                                      const btSequentialImpulseConstraintSolver *solver);
SS_API void ss_bullet_recorder_end(ss_bullet_recorder *recorder);

/* A solver of Bullet's that is recorded. */
template <class Solver> class ss_bullet_recorded : public Solver
{
  public:
    template <class... Arguments> explicit ss_bullet_recorded(Arguments &&...arguments)
        : Solver(std::forward<Arguments>(arguments)...)
    {
    }

    /* From the next step on; a null recorder ends it. */
    void record(ss_bullet_recorder *to, btDiscreteDynamicsWorld *of)
    {
        recorder = to;
        world = of;
    }

    void prepareSolve(int bodies, int manifolds) override
    {
        if (recorder) ss_bullet_recorder_begin(recorder, world);
        Solver::prepareSolve(bodies, manifolds);
    }

    void allSolved(const btContactSolverInfo &info, btIDebugDraw *drawer) override
    {
        if (recorder) ss_bullet_recorder_end(recorder);
        Solver::allSolved(info, drawer);
    }

    btScalar solveGroupCacheFriendlyFinish(btCollisionObject **bodies, int count,
                                           const btContactSolverInfo &info) override
    {
        if (recorder) ss_bullet_recorder_island(recorder, this);
        return Solver::solveGroupCacheFriendlyFinish(bodies, count, info);
    }

  private:
    ss_bullet_recorder *recorder = nullptr;
    btDiscreteDynamicsWorld *world = nullptr;
};

#endif
