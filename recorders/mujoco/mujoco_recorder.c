/* The recorder for programs that call it themselves (stickslip_mujoco.h). */
#include "stickslip_mujoco.h"

#include "mujoco_step.h"

struct ss_mujoco_recorder {
    ss_sink sink;
    ss_mujoco_step *step;
};

ss_mujoco_recorder *ss_mujoco_recorder_open(const char *path, int flags, ss_error *err)
{
    ss_mujoco_recorder *recorder = ss_allocate(1, sizeof *recorder);
    if (!recorder) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
        return NULL;
    }
    recorder->step = ss_mujoco_step_create(flags & SS_MUJOCO_ROWS, err);
    if (recorder->step && ss_sink_open_file(&recorder->sink, path, err)) return recorder;
    ss_mujoco_step_destroy(recorder->step);
    ss_release(recorder);
    return NULL;
}

bool ss_mujoco_before_step(ss_mujoco_recorder *recorder, const mjModel *model, const mjData *data)
{
    ss_sink *sink = &recorder->sink;
    sink->err.code = SS_OK;
    if (!sink->broken) sink->broken = !ss_mujoco_look_before(recorder->step, sink, model, data);
    return !sink->broken;
}

bool ss_mujoco_after_step(ss_mujoco_recorder *recorder, const mjModel *model, const mjData *data)
{
    ss_sink *sink = &recorder->sink;
    if (!sink->broken) sink->broken = !ss_mujoco_look_after(recorder->step, sink, model, data);
    return !sink->broken && sink->err.code == SS_OK;
}

bool ss_mujoco_recorder_configure(ss_mujoco_recorder *recorder, const char *settings, ss_error *err)
{
    return ss_sink_configure(&recorder->sink, settings, err);
}

bool ss_mujoco_recorder_trip(ss_mujoco_recorder *recorder, const char *reason, ss_error *err)
{
    return ss_sink_trip(&recorder->sink, reason, err);
}

const char *ss_mujoco_recorder_error(const ss_mujoco_recorder *recorder)
{
    return recorder->sink.err.message;
}

const char *ss_mujoco_recorder_notes(const ss_mujoco_recorder *recorder)
{
    return ss_sink_notes(&recorder->sink);
}

bool ss_mujoco_recorder_close(ss_mujoco_recorder *recorder, ss_error *err)
{
    if (!recorder) return true;
    bool good = ss_sink_close_file(&recorder->sink, err);
    ss_mujoco_step_destroy(recorder->step);
    ss_release(recorder);
    return good;
}
