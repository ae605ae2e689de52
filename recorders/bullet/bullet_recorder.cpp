/* The recorder for programs that call it themselves (stickslip_bullet.h). */
#include "stickslip_bullet.h"

#include "bullet_step.h"

struct ss_bullet_recorder {
    ss_sink sink;
    ss_bullet_step *step;
};

ss_bullet_recorder *ss_bullet_recorder_open(const char *path, ss_error *err)
{
    auto recorder = static_cast<ss_bullet_recorder *>(ss_allocate(1, sizeof(ss_bullet_recorder)));
    if (recorder) recorder->step = ss_bullet_step_create();
    if (recorder && recorder->step && ss_sink_open_file(&recorder->sink, path, err)) return recorder;
    if (!recorder || !recorder->step) ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    if (recorder) ss_bullet_step_destroy(recorder->step);
    ss_release(recorder);
    return nullptr;
}

void ss_bullet_recorder_begin(ss_bullet_recorder *recorder, btDiscreteDynamicsWorld *world)
{
    ss_sink *sink = &recorder->sink;
    if (!sink->broken) sink->broken = !ss_bullet_begin(recorder->step, sink, world, world->getSolverInfo());
}

void ss_bullet_recorder_island(ss_bullet_recorder *recorder,
                               const btSequentialImpulseConstraintSolver *solver)
{
    ss_sink *sink = &recorder->sink;
    if (!sink->broken) sink->broken = !ss_bullet_island(recorder->step, sink, solver);
}

void ss_bullet_recorder_end(ss_bullet_recorder *recorder)
{
    ss_sink *sink = &recorder->sink;
    if (!sink->broken) sink->broken = !ss_bullet_end(recorder->step, sink);
}

bool ss_bullet_recorder_configure(ss_bullet_recorder *recorder, const char *settings, ss_error *err)
{
    return ss_sink_configure(&recorder->sink, settings, err);
}

bool ss_bullet_recorder_trip(ss_bullet_recorder *recorder, const char *reason, ss_error *err)
{
    return ss_sink_trip(&recorder->sink, reason, err);
}

const char *ss_bullet_recorder_error(const ss_bullet_recorder *recorder)
{
    return recorder->sink.err.message;
}

const char *ss_bullet_recorder_notes(const ss_bullet_recorder *recorder)
{
    return ss_sink_notes(&recorder->sink);
}

bool ss_bullet_recorder_close(ss_bullet_recorder *recorder, ss_error *err)
{
    if (!recorder) return true;
    bool good = ss_sink_close_file(&recorder->sink, err);
    ss_bullet_step_destroy(recorder->step);
    ss_release(recorder);
    return good;
}
