/* A captured step on its way through shared memory: what arrives is what was sent, damaged bytes are
 * refused. */
#define _GNU_SOURCE
#include "kit.h"
#include "scratch.h"

#include "dataset/capture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
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

/* Both ends of a channel in one process. */
typedef struct both_ends {
    ss_channel receiver, sender;
} both_ends;

static both_ends connect_ends(size_t capacity)
{
    both_ends ends;
    if (!ss_channel_create(&ends.receiver, capacity, NULL)) abort();
    if (!ss_channel_attach(&ends.sender, dup(ends.receiver.file))) abort();
    return ends;
}

static void disconnect(both_ends *ends)
{
    ss_channel_free(&ends->receiver);
    ss_channel_free(&ends->sender);
}

static ss_message *receive(both_ends *ends)
{
    bool bad;
    ss_message *m = ss_channel_receive(&ends->receiver, &bad);
    if (bad) abort();
    return m;
}

/* The bytes of its message after the head, for free(). */
static char *send_and_receive(const ss_capture *capture, ss_channel_head *head)
{
    both_ends ends = connect_ends(1 << 20);
    ss_message *m = ss_capture_send(&ends.sender, capture) ? receive(&ends) : NULL;
    char *bytes = m ? malloc((size_t)m->head.length) : NULL;
    if (bytes) memcpy(bytes, m->bytes, (size_t)m->head.length);
    if (m) *head = m->head;
    ss_release(m);
    disconnect(&ends);
    return bytes;
}

TEST(what_was_sent_arrives)
{
    ss_capture sent = {0}, got = {0};
    ss_channel_head head;
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
    ss_channel_head head;
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
    both_ends ends = connect_ends(1 << 16);
    ss_capture sent = {0};
    fill(&sent);
    ss_channel_free(&ends.receiver);
    ENSURE(!ss_capture_send(&ends.sender, &sent));
    ENSURE(!ss_capture_send_text(&ends.sender, SS_MESSAGE_NOTE, "hello"));
    ss_channel_free(&ends.sender);
    ss_capture_free(&sent);
}

TEST(a_listener_that_was_killed_is_noticed_when_the_ring_is_full)
{
    // This process in the role of one that is dead: the counters' page says who receives.
    both_ends ends = connect_ends(1 << 16);
    pid_t child = fork();
    if (child == 0) _exit(0);
    int status;
    ENSURE(waitpid(child, &status, 0) == child);
    memcpy((char *)ends.receiver.page + 2 * sizeof(uint64_t), &(int32_t){child}, sizeof(int32_t));
    int count = 0;
    while (count < 10000 && ss_capture_send_text(&ends.sender, SS_MESSAGE_NOTE, "are you there?")) count++;
    ENSURE(count > 100 && count < 10000);
    disconnect(&ends);
}

TEST(messages_of_all_sizes_pass_the_end_of_the_ring_in_order)
{
    both_ends ends = connect_ends(1 << 16);
    static char bytes[50000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 31 + i / 251);
    for (size_t length = 1; length < 14000; length += 41) {
        struct iovec parts[3] = {
            {bytes, length / 3}, {bytes + length / 3, 0}, {bytes + length / 3, length - length / 3}};
        ENSURE(ss_channel_send(&ends.sender, SS_MESSAGE_NOTE, parts, 3, 1.0));
        ENSURE(ss_channel_send(&ends.sender, SS_MESSAGE_END, parts, 1, 1.0));
        ss_message *m = receive(&ends);
        ENSURE(m && m->head.length == length && memcmp(m->bytes, bytes, length) == 0);
        ENSURE(m && m->head.sender == (uint32_t)getpid());
        ss_release(m);
        m = receive(&ends);
        ENSURE(m && m->head.kind == SS_MESSAGE_END && m->head.length == length / 3);
        ss_release(m);
        ENSURE(!receive(&ends));
    }
    disconnect(&ends);
}

TEST(a_message_larger_than_the_ring_arrives_in_one_piece)
{
    both_ends ends = connect_ends(1 << 16);
    size_t length = (size_t)5 << 20;
    char *bytes = malloc(length);
    for (size_t i = 0; i < length; i++) bytes[i] = (char)(i >> 8 ^ i);
    pid_t child = fork(); // the sender has to wait for room again and again
    if (child == 0) {
        ss_channel mine;
        _exit(ss_channel_attach(&mine, ends.sender.file) &&
                      ss_capture_send_bytes(&mine, SS_MESSAGE_SHAPE, bytes, length)
                  ? 0
                  : 1);
    }
    ss_message *m = NULL;
    double start = ss_clock_seconds();
    while (!m && ss_clock_seconds() < start + 60.0) m = receive(&ends);
    ENSURE(m && m->head.length == length && memcmp(m->bytes, bytes, length) == 0);
    ss_release(m);
    int status = -1;
    ENSURE(waitpid(child, &status, 0) == child && status == 0);
    free(bytes);
    disconnect(&ends);
}

TEST(a_sender_that_dies_while_it_sends_leaves_the_earlier_messages_and_the_ring)
{
    both_ends ends = connect_ends(1 << 16);
    int32_t dead;
    pid_t child = fork();
    if (child == 0) {
        ss_channel mine;
        static char large[1 << 20];
        bool good = ss_channel_attach(&mine, ends.sender.file) &&
                    ss_capture_send_text(&mine, SS_MESSAGE_NOTE, "whole");
        // nothing takes it out: it dies with a part of it in the ring, and the ring in its hands
        if (good) ualarm(100000, 0);
        if (good) ss_capture_send_bytes(&mine, SS_MESSAGE_SHAPE, large, sizeof large);
        _exit(1);
    }
    int status;
    ENSURE(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    dead = (int32_t)child;
    ss_message *m = receive(&ends);
    ENSURE(m && (int32_t)m->head.sender == dead && strcmp(m->bytes, "whole") == 0);
    ss_release(m);
    ENSURE(!receive(&ends)); // the parts that are there are not a message
    ENSURE(ss_capture_send_text(&ends.sender, SS_MESSAGE_NOTE, "the next one"));
    m = receive(&ends);
    ENSURE(m && strcmp(m->bytes, "the next one") == 0);
    ss_release(m);
    disconnect(&ends);
}

TEST(bytes_that_are_not_a_message_are_refused)
{
    both_ends ends = connect_ends(1 << 16);
    ENSURE(ss_capture_send_text(&ends.sender, SS_MESSAGE_NOTE, "hello"));
    ends.sender.bytes[0] ^= 1; // a wild pointer of the program
    bool bad;
    ENSURE(!ss_channel_receive(&ends.receiver, &bad) && bad);
    ss_channel other;
    ENSURE(!ss_channel_attach(&other, 0) && !ss_channel_attach(&other, -1));
    disconnect(&ends);
}

TEST(a_shape_brings_its_mesh_along)
{
    both_ends ends = connect_ends(1 << 20);
    ss_error err;
    ss_mesh *cube = ss_mesh_solid(SS_CUBE, &err), *arrived = NULL;
    ss_stored_shape sent = {.shape = {.kind = SS_HULL, .mesh = cube}, .id = 3, .scenery = -1}, got;
    ENSURE(cube && ss_capture_send_shape(&ends.sender, &sent));
    ss_message *m = receive(&ends);
    ENSURE(m && ss_capture_unpack_shape(m->bytes, (size_t)m->head.length, &got, &arrived));
    ENSURE(arrived && arrived->face_count == cube->face_count && got.id == 3 && got.shape.mesh == arrived);
    ss_mesh_destroy(arrived);
    ENSURE(m && !ss_capture_unpack_shape(m->bytes, (size_t)m->head.length - 1, &got, &arrived) && !arrived);
    ss_release(m);
    disconnect(&ends);
    ss_mesh_destroy(cube);
}

TEST(a_plain_contact_is_completed_by_the_receiver)
{
    // ODE: ERP 0.2, CFM 1e-5, surface layer 1 mm, a correction of at most 0.1 m/s; h = 0.01 s
    ss_capture sent = {0}, got = {0};
    ss_channel_head head;
    ss_capture_begin(&sent, 0.0, 0.01);
    ss_capture_body(&sent, 1);
    sent.plain = (ss_capture_plain){true, true, 0.2, 1e-5, 1e-3, 0.1, 0.2};
    const double gaps[3] = {-0.003, -0.021, -0.0005};
    for (int k = 0; k < 3; k++) {
        ss_capture_contact(&sent, SS_WORLD, 0);
        sent.frame.contacts.normal[k][2] = 1.0;
        sent.frame.contacts.gap[k] = gaps[k];
    }
    char *bytes = send_and_receive(&sent, &head);
    ENSURE(bytes && ss_capture_unpack(bytes, (size_t)head.length, &got));
    const ss_contacts *contacts = &got.frame.contacts;
    for (int k = 0; k < 3; k++) {
        ENSURE(contacts->tangent[k][1] == -1.0 && contacts->tangent[k][2] == 0.0); // dPlaneSpace
        ENSURE(contacts->compliance[k] == 1e-5 / 0.01);
    }
    // 0.04 m/s of 2 mm is the gap term itself; 0.4 m/s is capped to 0.1; the layer is left alone
    ENSURE(fabs(contacts->surface_velocity[0][2]) < 1e-15);
    ENSURE(fabs(contacts->surface_velocity[1][2] - 0.3) < 1e-14);
    ENSURE(contacts->surface_velocity[2][2] == 0.0);
    free(bytes);

    // A later step with other contacts finds no traces of this one.
    ss_capture_begin(&got, 0.0, 0.01);
    ss_capture_body(&got, 1);
    ss_capture_contact(&got, SS_WORLD, 0);
    ENSURE(contacts->surface_velocity[0][2] == 0.0 && contacts->tangent[0][1] == 0.0 &&
           contacts->gap[0] == 0.0);
    ss_capture_free(&sent);
    ss_capture_free(&got);
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
