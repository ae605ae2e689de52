/* Which of the two formats a file is in, by what lies at its root. */
#include "dataset/fclib.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

typedef struct survey {
    bool bpmd, fclib;
    int members;
    ss_text names; /* of the first few members, for the message */
} survey;

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool look_at(const char *name, void *context, ss_error *err)
{
    (void)err;
    survey *found = context;
    found->bpmd = found->bpmd || begins(name, "mbs_frame") || begins(name, "simulation_");
    for (int k = 0; k < 3; k++) {
        found->fclib = found->fclib || strcmp(name, ss_fclib_group_name(ss_fclib_order[k])) == 0;
    }
    if (found->members++ < 5) ss_text_appendf(&found->names, " %.60s", name);
    return true;
}

bool ss_format_of_file(const char *path, ss_format *format, ss_error *err)
{
    ss_h5_session session;
    hid_t file;
    ss_h5_group root;
    survey found = {0};
    ss_h5_enter(&session);
    bool good = ss_h5_open(path, INFINITY, &file, &root, err);
    if (good) {
        good = ss_h5_each(&root, look_at, &found, err);
        ss_h5_leave_group(&root);
        ss_h5_close(file);
    }
    ss_h5_leave(&session);

    if (good) *format = found.bpmd ? SS_FORMAT_BPMD : SS_FORMAT_FCLIB;
    if (good && found.members == 0)
        good = ss_fail(err, SS_ERROR_INPUT, "%s: an HDF5 file without contents", path);
    else if (good && !found.bpmd && !found.fclib)
        good = ss_fail(err, SS_ERROR_INPUT,
                       "%s: neither BPMD (mbs_frame..., simulation_...) nor FCLIB (fclib_...); it holds%s%s",
                       path, ss_text_get(&found.names), found.members > 5 ? " ..." : "");
    ss_text_free(&found.names);
    return good;
}
