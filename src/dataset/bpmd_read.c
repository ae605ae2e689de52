/* Reading a frame: as stored, then its step, then who wrote it, then the repairs that go with that. */
#include "dataset/bpmd.h"

static bool is_frame(const ss_bpmd *file, int frame, ss_error *err)
{
    if (frame >= 0 && frame < file->frame_count) return true;
    return ss_fail(err, SS_ERROR_USAGE, "%s: frame %d, but there are %d", file->name, frame,
                   file->frame_count);
}

static ss_frame *take_frame(ss_bpmd_stored *stored)
{
    ss_frame *frame = stored->frame;
    stored->frame = NULL;
    return frame;
}

static ss_frame *read_frame(ss_bpmd *file, int index, ss_findings *findings, ss_error *err)
{
    ss_bpmd_stored stored;
    if (!is_frame(file, index, err) || !ss_bpmd_stored_open(file, index, &stored, err)) return NULL;
    stored.findings = findings;
    ss_frame *frame = NULL;
    ss_dialect dialect;
    if (ss_bpmd_stored_read(&stored, err) && ss_bpmd_timestep(&stored, &stored.frame->h, err) &&
        ss_bpmd_judge(&stored, &dialect, err)) {
        file->judged = index;
        file->judgement = dialect;
        if (ss_bpmd_repair(&stored, dialect, err)) frame = take_frame(&stored);
    }
    ss_bpmd_stored_close(&stored);
    return frame;
}

ss_frame *ss_bpmd_read(ss_bpmd *file, int frame, ss_findings *findings, ss_error *err)
{
    ss_h5_session session;
    ss_h5_enter(&session);
    ss_frame *result = read_frame(file, frame, findings, err);
    ss_h5_leave(&session);
    return result;
}

static ss_dialect judge_frame(ss_bpmd *file, int index, ss_error *err)
{
    ss_bpmd_stored stored;
    if (index == file->judged) return file->judgement; // usually asked right after reading
    if (!is_frame(file, index, err) || !ss_bpmd_stored_open(file, index, &stored, err))
        return SS_DIALECT_AUTO;
    ss_dialect dialect;
    bool good = ss_bpmd_stored_read(&stored, err) && ss_bpmd_judge(&stored, &dialect, err);
    ss_bpmd_stored_close(&stored);
    return good ? dialect : SS_DIALECT_AUTO;
}

ss_dialect ss_bpmd_dialect(ss_bpmd *file, int frame, ss_error *err)
{
    ss_h5_session session;
    ss_h5_enter(&session);
    ss_dialect dialect = judge_frame(file, frame, err);
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
