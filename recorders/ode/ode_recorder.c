/* The recorder for programs that call it themselves (stickslip_ode.h). */
#include "stickslip_ode.h"

#include "ode_step.h"

#include <dlfcn.h>

struct ss_ode_recorder {
    ss_sink sink;
    ss_ode_step *step;
};

ss_ode_recorder *ss_ode_recorder_open(const char *path, ss_error *err)
{
    ss_ode_recorder *recorder = ss_allocate(1, sizeof *recorder);
    if (!recorder) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
        return NULL;
    }
    recorder->step = ss_ode_step_create(RTLD_DEFAULT, err);
    if (recorder->step && ss_sink_open_file(&recorder->sink, path, err)) return recorder;
    ss_ode_step_destroy(recorder->step);
    ss_release(recorder);
    return NULL;
}

bool ss_ode_before_step(ss_ode_recorder *recorder, dWorldID world, double h, ss_ode_stepper stepper)
{
    ss_sink *sink = &recorder->sink;
    sink->err.code = SS_OK;
    if (!sink->broken)
        sink->broken = !ss_ode_look_before(recorder->step, sink, world, h, stepper == SS_ODE_QUICKSTEP);
    return !sink->broken;
}

bool ss_ode_after_step(ss_ode_recorder *recorder)
{
    ss_sink *sink = &recorder->sink;
    if (!sink->broken) sink->broken = !ss_ode_look_after(recorder->step, sink);
    return !sink->broken && sink->err.code == SS_OK;
}

bool ss_ode_recorder_configure(ss_ode_recorder *recorder, const char *settings, ss_error *err)
{
    return ss_sink_configure(&recorder->sink, settings, err);
}

bool ss_ode_recorder_trip(ss_ode_recorder *recorder, const char *reason, ss_error *err)
{
    return ss_sink_trip(&recorder->sink, reason, err);
}

const char *ss_ode_recorder_error(const ss_ode_recorder *recorder)
{
    return recorder->sink.err.message;
}

const char *ss_ode_recorder_notes(const ss_ode_recorder *recorder)
{
    return ss_sink_notes(&recorder->sink);
}

bool ss_ode_recorder_close(ss_ode_recorder *recorder, ss_error *err)
{
    if (!recorder) return true;
    bool good = ss_sink_close_file(&recorder->sink, err);
    ss_ode_step_destroy(recorder->step);
    ss_release(recorder);
    return good;
}
