/* A MuJoCo model from a file, recorded by calls (stickslip_mujoco.h): mujoco_features MODEL.xml OUT.h5 STEPS
 * [rows]. Controls are 1. Prints the notes. Used by test_record_mujoco.py. */
#include <stickslip_mujoco.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    char error[1000] = "";
    ss_error err = {0};
    mjModel *m = mj_loadXML(argv[1], NULL, error, sizeof error);
    mjData *d = m ? mj_makeData(m) : NULL;
    ss_mujoco_recorder *recorder =
        d ? ss_mujoco_recorder_open(argv[2], argc > 4 ? SS_MUJOCO_ROWS : 0, &err) : NULL;
    if (!recorder) {
        fprintf(stderr, "%s%s\n", error, err.message);
        return 1;
    }
    if (m->nkey > 0) mj_resetDataKeyframe(m, d, 0);
    for (int k = 0; k < atoi(argv[3]); k++) {
        for (int i = 0; i < m->nu; i++) d->ctrl[i] = 1.0;
        ss_mujoco_before_step(recorder, m, d);
        mj_step(m, d);
        if (!ss_mujoco_after_step(recorder, m, d))
            fprintf(stderr, "step %d: %s\n", k, ss_mujoco_recorder_error(recorder));
    }
    printf("%s", ss_mujoco_recorder_notes(recorder));
    mj_deleteData(d);
    mj_deleteModel(m);
    if (ss_mujoco_recorder_close(recorder, &err)) return 0;
    fprintf(stderr, "%s\n", err.message);
    return 1;
}
