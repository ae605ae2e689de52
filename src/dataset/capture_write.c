/* A captured step into a BPMD file. */
#include "dataset/capture.h"

#include "dataset/writer_hold.h"

#include <math.h>

bool ss_capture_write(const ss_capture *capture, ss_writer *writer, ss_error *err)
{
    if (capture->out_of_memory) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a frame");
    ss_frame view = ss_capture_view(capture);
    ss_findings findings = {.limit = 1};
    if (!ss_frame_check(&view, "frame", &findings)) {
        if (findings.count)
            ss_fail(err, SS_ERROR_INPUT, "%s: %s", findings.items[0].place, findings.items[0].message);
        else
            ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        ss_findings_free(&findings);
        return false;
    }
    ss_findings_free(&findings);

    ss_answer answer = capture->answer;
    if (!capture->has_rolling) answer.rolling_impulse = NULL;
    if (!capture->has_coordinates) {
        answer.coordinates = 0;
        answer.generalized_velocity = NULL;
    }
    ss_stored_result result = {.solver = (char *)(uintptr_t)capture->solver,
                               .formulation = (char *)(uintptr_t)capture->formulation,
                               .with = (char *)(uintptr_t)capture->with,
                               .answer = &answer,
                               .iterations = capture->iterations,
                               .error = NAN,
                               .seconds = NAN};
    ss_writer_hold(writer);
    bool good = ss_writer_frame(writer, &view, err) &&
                (capture->scenery.count == 0 || ss_writer_scenery(writer, &capture->scenery, err)) &&
                ss_writer_result(writer, &result, err);
    return ss_writer_let_go(writer, good ? err : NULL) && good;
}
