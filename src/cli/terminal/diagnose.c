#include "cli/terminal/diagnose.h"

bool ss_diagnose_frame(const ss_frame *frame, const ss_problem *problem, const ss_ray *ray,
                       ss_diagnosis *diagnosis, ss_error *err)
{
    enum { SEARCH = 300 };

    // The problem has only the live bodies of the frame; a diagnosis names them by their place in the frame.
    int live = 0, *name = frame ? ss_allocate((size_t)frame->bodies.count, sizeof *name) : NULL;
    for (int body = 0; name && body < frame->bodies.count; body++)
        if (ss_frame_is_live(frame, body)) name[live++] = body;

    ss_diagnosis_options options = {
        .ray = ray && ray->impulse ? ray : NULL, .ray_search = SEARCH, .body = name};
    bool good = ss_problem_diagnose(problem, &options, diagnosis, err);
    ss_release(name);
    return good;
}

void ss_complaint_print(const ss_complaint *complaint, ss_text *text)
{
    ss_text_appendf(text, "%s: %s", complaint->message, complaint->advice);
}

void ss_diagnosis_json(ss_json *json, const ss_diagnosis *diagnosis)
{
    ss_json_key(json, "diagnosis");
    ss_json_begin_object(json);
    ss_json_member_integer(json, "unknowns", diagnosis->unknowns);
    ss_json_member_index(json, "rank", diagnosis->rank);
    ss_json_key(json, "complaints");
    ss_json_begin_array(json);
    for (int i = 0; i < diagnosis->count; i++) {
        const ss_complaint *complaint = &diagnosis->items[i];
        ss_json_begin_object(json);
        ss_json_member_text(json, "severity", ss_severity_name(complaint->severity));
        ss_json_member_text(json, "defect", ss_defect_name(complaint->defect));
        ss_json_member_integer(json, "count", complaint->count);
        ss_json_member_known(json, "value", complaint->value);
        ss_json_member_index(json, "contact", complaint->contact);
        ss_json_member_index(json, "joint", complaint->constraint);
        ss_json_member_text(json, "message", complaint->message);
        ss_json_member_text(json, "advice", complaint->advice);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_end_object(json);
}
