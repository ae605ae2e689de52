/* Solves every frame of a file with Coulomb's law and prints the energy error of each answer: the program of
 * the README, as it stands there.
 *
 *     cc solve_frames.c $(pkg-config --cflags --libs stickslip) -o solve_frames
 *     ./solve_frames wall.h5
 */
#include <stdio.h>
#include <stickslip/stickslip.h>

int main(int argc, char **argv)
{
    ss_error err = {0};
    ss_bpmd *file = argc > 1 ? ss_bpmd_open(argv[1], NULL, NULL, &err) : NULL;
    ss_session *session = ss_session_create(
        &(ss_request){.formulation = "cone", .solver = "auto", .stop = "natural_map<1e-8"}, &err);

    for (int i = 0; file && session && i < ss_bpmd_frame_count(file); i++) {
        ss_frame *frame = ss_bpmd_read(file, i, NULL, &err);
        const ss_result *result = frame ? ss_session_solve(session, frame, NULL, &err) : NULL;
        if (result) {
            const ss_metric_value *energy = &result->metrics[ss_metric_index("energy")];
            printf("frame %d: %s, energy error %.2g J, worst at contact %d\n", i,
                   ss_status_name(result->run.status), energy->value, energy->worst_contact);
        }
        ss_frame_destroy(frame);
    }
    if (err.message[0]) fprintf(stderr, "%s\n", err.message);
    ss_session_destroy(session);
    ss_bpmd_close(file);
    return err.message[0] != 0;
}
