/* A captured step on its way through a socket: what arrives is what was sent, damaged bytes are refused. */
#define _GNU_SOURCE
#include "kit.h"
#include "scratch.h"

#include "dataset/capture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Two bodies, a joint of two rows with friction, a motor, two contacts, scenery: something in every array. */
static void fill(ss_capture *c)
{
    ss_capture_begin(c, 1.25, 0.01);
    for (int b = 0; b < 2; b++) {
        ss_capture_body(c, 7 + b);
        c->frame.bodies.mass[b] = 2.0;
        memcpy(c->frame.bodies.quaternion[b], (double[4]){1, 0, 0, 0}, sizeof(double[4]));
        memcpy(c->frame.bodies.inertia[b], (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof(double[9]));
        memcpy(c->frame.bodies.position[b], (double[3]){0, 0, b}, sizeof(double[3]));
        memcpy(c->frame.bodies.velocity[b], (double[6]){0.1, 0, 0, 0, 0, b}, sizeof(double[6]));
        c->answer.velocity[b][2] = -0.5 - b;
    }
    ss_capture_joint(c, 0, 1, 2);
    ss_capture_joint(c, SS_WORLD, 1, 1);
    ss_constraints *joints = &c->frame.constraints;
    joints->jacobian[0][0] = joints->jacobian[1][1] = 1.0;
    joints->jacobian[0][6] = joints->jacobian[1][7] = -1.0;
    joints->jacobian[2][6] = 1.0;
    joints->friction[1] = 0.5;
    joints->friction_row[1] = 0;
    joints->regularization[2] = 1e-4;
    joints->bounds[2][0] = -3.0;
    joints->bounds[2][1] = 3.0;
    for (int r = 0; r < 3; r++) c->answer.row_impulse[r] = 0.25 * r;
    for (int k = 0; k < 2; k++) {
        ss_capture_contact(c, k ? 0 : SS_WORLD, k);
        memcpy(c->frame.contacts.normal[k], (double[3]){0, 0, 1}, sizeof(double[3]));
        memcpy(c->frame.contacts.tangent[k], (double[3]){1, 0, 0}, sizeof(double[3]));
        c->frame.contacts.mu[k][0] = c->frame.contacts.mu[k][1] = 0.3;
        c->frame.contacts.compliance[k] = 1e-5;
        c->frame.contacts.surface_velocity[k][0] = 0.01;
        c->frame.contacts.lever_arm[k][4] = 0.5;
        c->answer.normal_impulse[k] = 0.2;
        c->answer.friction_impulse[k][0] = -0.05;
    }
    c->has_arms = true;
    ss_capture_scenery(c, (double[3]){1, 2, 3}, (double[4]){1, 0, 0, 0});
    strcpy(c->solver, "engine");
    strcpy(c->formulation, "box");
    strcpy(c->with, "gap_term=zero");
    c->iterations = 20;
}

/* The bytes of one message after its head; NULL: nothing whole came. */
static char *receive(int socket, ss_capture_head *head)
{
    if (read(socket, head, sizeof *head) != (ssize_t)sizeof *head) return NULL;
    char *bytes = malloc((size_t)head->length);
    for (size_t got = 0; bytes && got < head->length;) {
        ssize_t more = read(socket, bytes + got, (size_t)head->length - got);
        if (more <= 0) break;
        got += (size_t)more;
    }
    return bytes;
}

static char *send_and_receive(const ss_capture *capture, ss_capture_head *head)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return NULL;
    char *bytes = ss_capture_send(ends[0], capture) ? receive(ends[1], head) : NULL;
    close(ends[0]);
    close(ends[1]);
    return bytes;
}

TEST(what_was_sent_arrives)
{
    ss_capture sent = {0}, got = {0};
    ss_capture_head head;
    fill(&sent);
    char *bytes = send_and_receive(&sent, &head);
    ENSURE(bytes && head.kind == SS_MESSAGE_FRAME && head.magic == SS_MESSAGE_MAGIC);
    ENSURE(bytes && ss_capture_unpack(bytes, (size_t)head.length, &got));
    ss_frame one = ss_capture_view(&sent), two = ss_capture_view(&got);
    ENSURE(ss_frame_equal(&one, &two));
    ENSURE(one.contacts.restitution == NULL && two.contacts.mu_rolling == NULL); // only defaults in it
    ENSURE(memcmp(sent.answer.velocity, got.answer.velocity, 2 * sizeof *got.answer.velocity) == 0);
    ENSURE(got.answer.row_impulse[2] == 0.5 && got.answer.friction_impulse[1][0] == -0.05);
    ENSURE(got.scenery.count == 1 && got.scenery.position[0][1] == 2.0 && got.iterations == 20);
    ENSURE(strcmp(got.solver, "engine") == 0 && strcmp(got.with, "gap_term=zero") == 0);
    free(bytes);
    ss_capture_free(&sent);
    ss_capture_free(&got);
}

TEST(bytes_that_are_cut_or_counted_wrongly_are_refused)
{
    ss_capture sent = {0}, got = {0};
    ss_capture_head head;
    fill(&sent);
    char *bytes = send_and_receive(&sent, &head);
    ENSURE(bytes != NULL);
    int accepted = 0;
    for (size_t length = 0; bytes && length < head.length; length++) {
        char *part = malloc(length + 1); // of its own, so that the address sanitizer sees every step too far
        memcpy(part, bytes, length);
        accepted += ss_capture_unpack(part, length, &got);
        free(part);
    }
    ENSURE(accepted == 0);

    // Every count of the head (after h and time), too small, too large, negative.
    const int32_t wrong[] = {-1, 1, 3, 1000, 0x7fffffff};
    for (int count = 0; bytes && count < 5; count++) {
        int32_t right;
        char *at = bytes + 2 * sizeof(double) + (size_t)count * sizeof right;
        memcpy(&right, at, sizeof right);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            if (wrong[i] == right) continue;
            memcpy(at, &wrong[i], sizeof right);
            ENSURE(!ss_capture_unpack(bytes, (size_t)head.length, &got));
        }
        memcpy(at, &right, sizeof right);
    }
    ENSURE(bytes && ss_capture_unpack(bytes, (size_t)head.length, &got));
    free(bytes);
    ss_capture_free(&sent);
    ss_capture_free(&got);
}

TEST(without_a_listener_nothing_breaks)
{
    int ends[2];
    ss_capture sent = {0};
    fill(&sent);
    ENSURE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    close(ends[1]);
    ENSURE(!ss_capture_send(ends[0], &sent)); // and no SIGPIPE
    ENSURE(!ss_capture_send_text(ends[0], SS_MESSAGE_NOTE, "hello"));
    close(ends[0]);
    ss_capture_free(&sent);
}

TEST(a_shape_brings_its_mesh_along)
{
    int ends[2];
    ss_error err;
    ss_capture_head head;
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, &err), *arrived = NULL;
    ss_stored_shape sent = {.shape = {.kind = SS_HULL, .mesh = cube}, .id = 3, .scenery = -1}, got;
    ENSURE(cube && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    ENSURE(ss_capture_send_shape(ends[0], &sent));
    char *bytes = receive(ends[1], &head);
    ENSURE(bytes && ss_capture_unpack_shape(bytes, (size_t)head.length, &got, &arrived));
    ENSURE(arrived && arrived->face_count == cube->face_count && got.id == 3 && got.shape.mesh == arrived);
    ss_mesh_destroy(arrived);
    ENSURE(bytes && !ss_capture_unpack_shape(bytes, (size_t)head.length - 1, &got, &arrived) && !arrived);
    free(bytes);
    close(ends[0]);
    close(ends[1]);
    ss_mesh_destroy(cube);
}

TEST(a_step_with_a_fault_is_left_out_and_the_next_one_is_written)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_capture c = {0};
    const char *path = s.file;
    ss_writer *writer = ss_writer_open(path, SS_LAYOUT_CANONICAL, false, &err);
    ENSURE(writer != NULL);
    fill(&c);
    c.frame.contacts.normal[1][2] = 2.0;
    ENSURE(!ss_capture_write(&c, writer, &err) && err.code == SS_ERROR_INPUT &&
           strstr(err.message, "normals"));
    c.frame.contacts.normal[1][2] = 1.0;
    ENSURE(ss_capture_write(&c, writer, &err));
    ENSURE(ss_writer_close(writer, &err));
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, &err);
    ss_stored_result result = {0};
    ENSURE(file && ss_bpmd_frame_count(file) == 1 && ss_bpmd_result(file, 0, 0, &result, &err));
    ENSURE(result.formulation && strcmp(result.formulation, "box") == 0 && result.iterations == 20);
    ss_stored_result_free(&result);
    ss_bpmd_close(file);
    ss_capture_free(&c);
    scratch_close(&s);
}

TEST_MAIN
