#include "dataset/stamp.h"

#include "dataset/h5.h"

static const char attribute[] = "collection";

bool ss_stamp_write(const char *path, const char *collection, ss_error *err)
{
    ss_h5_session session;
    ss_h5_output output;
    ss_h5_enter_to_write(&session);
    bool good = ss_h5_output_open(path, true, 1e6, &output, err);
    if (good && ss_h5_write_text_attribute(&output.root, attribute, collection, err)) {
        good = ss_h5_output_commit(&output, err);
    } else if (good) {
        ss_h5_output_discard(&output);
        good = false;
    }
    ss_h5_leave(&session);
    return good;
}

bool ss_stamp_read(const char *path, char *collection, size_t size, ss_error *err)
{
    ss_h5_session session;
    ss_h5_group root;
    hid_t file;
    *collection = 0;
    ss_h5_enter(&session);
    bool good = ss_h5_open(path, 1e6, &file, &root, err);
    if (good) {
        if (!ss_h5_text_attribute(&root, attribute, collection, size)) *collection = 0;
        ss_h5_close(file);
    }
    ss_h5_leave(&session);
    return good;
}
