/* Reading a frame: as stored, then its step, then who wrote it, then the repairs that go with that. */
#include "dataset/bpmd.h"

static bool is_frame(const ss_bpmd *file, int frame, ss_error *err)
{
    if (frame >= 0 && frame < file->frame_count) return true;
    return ss_fail(err, SS_ERROR_USAGE, "%s: frame %d, but there are %d", file->name, frame,
                   file->frame_count);
}

ss_frame *ss_bpmd_read(ss_bpmd *file, int frame, ss_findings *findings, ss_error *err)
{
    ss_h5_session session;
    ss_bpmd_stored stored;
    ss_dialect dialect;
    ss_frame *result = NULL;
    ss_h5_enter(&session);
    if (is_frame(file, frame, err) && ss_bpmd_stored_open(file, frame, &stored, err)) {
        stored.findings = findings;
        if (ss_bpmd_stored_read(&stored, err) && ss_bpmd_timestep(&stored, &stored.frame->h, err) &&
            ss_bpmd_judge(&stored, &dialect, err)) {
            file->judged = frame;
            file->judgement = dialect;
            if (ss_bpmd_repair(&stored, dialect, err)) {
                result = stored.frame;
                stored.frame = NULL;
            }
        }
        ss_bpmd_stored_close(&stored);
    }
    ss_h5_leave(&session);
    return result;
}

ss_dialect ss_bpmd_dialect(ss_bpmd *file, int frame, ss_error *err)
{
    ss_h5_session session;
    ss_bpmd_stored stored;
    ss_dialect dialect = SS_DIALECT_AUTO;
    ss_h5_enter(&session);
    if (frame == file->judged) { // usually asked right after reading
        dialect = file->judgement;
    } else if (is_frame(file, frame, err) && ss_bpmd_stored_open(file, frame, &stored, err)) {
        if (!ss_bpmd_stored_read(&stored, err) || !ss_bpmd_judge(&stored, &dialect, err))
            dialect = SS_DIALECT_AUTO;
        ss_bpmd_stored_close(&stored);
    }
    ss_h5_leave(&session);
    return dialect;
}

bool ss_bpmd_note(ss_bpmd *file, int frame, char *text, size_t size)
{
    ss_bpmd_place place;
    ss_h5_session session;
    ss_h5_enter(&session);
    bool found = is_frame(file, frame, NULL) && ss_bpmd_enter_frame(file, frame, &place, NULL);
    if (found) {
        found = ss_h5_text_attribute(&place.group, "note", text, size);
        ss_bpmd_leave(&place);
    }
    ss_h5_leave(&session);
    return found;
}
