/* The frame: its life, the table of its arrays, its hash. */
#include "kit.h"
#include "faults.h"
#include "sample_frame.h"

/* ---- life ------------------------------------------------------------------------------------------- */

TEST(a_new_frame_holds_what_everybody_would_write)
{
    ss_frame *frame = ss_frame_create(2, 3, 7, 2, NULL);
    ENSURE(frame != NULL);
    ENSURE_NEAR(frame->h, 1, 0);
    ENSURE(isnan(frame->time));
    ENSURE_INT(frame->bodies.id[1], 2);
    ENSURE_INT(frame->bodies.state[1], 1);
    ENSURE_NEAR(frame->bodies.quaternion[1][0], 1, 0);
    ENSURE_NEAR(frame->bodies.quaternion[1][1], 0, 0);
    ENSURE_INT(frame->constraints.rows[0], 1);
    ENSURE_INT(frame->constraints.rows[1], 1);
    ENSURE_INT(frame->constraints.rows[2], 5);
    ENSURE(frame->constraints.bounds[6][0] == -INFINITY && frame->constraints.bounds[6][1] == INFINITY);
    ENSURE_INT(frame->constraints.pair[2][0], SS_WORLD);
    ENSURE_INT(frame->contacts.pair[1][1], SS_WORLD);
    for (int f = 0; f < ss_field_count; f++)
        ENSURE(ss_fields[f].optional == (ss_field_data(&ss_fields[f], frame) == NULL));
    ss_frame_destroy(frame);
    ss_frame_destroy(NULL);
}

TEST(an_empty_frame_is_a_frame)
{
    ss_frame *frame = ss_frame_create(0, 0, 0, 0, NULL);
    ENSURE(frame != NULL);
    ss_frame_summary summary = ss_frame_summarise(frame);
    char hash[33];
    ss_frame_hash(frame, hash);
    ENSURE(ss_frame_check(frame, "F", NULL));
    ENSURE(ss_frame_is_planar(frame));
    ENSURE(enable_all(frame, NULL));
    ENSURE_INT(summary.bodies + summary.contacts, 0);
    ENSURE_INT(strlen(hash), 32);
    ss_frame_destroy(frame);
}

TEST(negative_sizes_are_refused_by_name)
{
    static const struct {
        int sizes[4];
        const char *name;
    } cases[] = {{{-1, 0, 0, 0}, "bodies = -1"},
                 {{0, -2, 0, 0}, "constraints = -2"},
                 {{0, 0, -3, 0}, "rows = -3"},
                 {{0, 0, 0, -4}, "contacts = -4"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ss_error err;
        const int *n = cases[i].sizes;
        ENSURE(ss_frame_create(n[0], n[1], n[2], n[3], &err) == NULL);
        ENSURE_INT(err.code, SS_ERROR_INPUT);
        ENSURE_CONTAINS(err.message, cases[i].name);
    }
}

TEST(only_optional_arrays_can_be_enabled)
{
    ss_frame *frame = plain_frame();
    ss_error err;
    ENSURE(!ss_frame_enable(frame, "bodies/masses", &err));
    ENSURE_CONTAINS(err.message, "bodies/masses");
    ENSURE(!ss_frame_enable(frame, "contacts/colour", &err));
    ENSURE(!ss_frame_enable(frame, "contacts", NULL));
    ENSURE(ss_frame_enable(frame, "contacts/restitution", &err));
    frame->contacts.restitution[2] = 0.5;
    ENSURE(ss_frame_enable(frame, "contacts/restitution", &err)); // again: nothing happens
    ENSURE_NEAR(frame->contacts.restitution[2], 0.5, 0);
    ss_frame_destroy(frame);
}

TEST(enabled_arrays_say_what_their_absence_said)
{
    ss_frame *frame = plain_frame();
    double u[3], v[3], r_a[3], r_b[3];
    ss_contact_tangents(frame, 2, u, v);
    ss_contact_lever_arms(frame, 2, r_a, r_b);
    ENSURE(enable_all(frame, NULL));
    ENSURE_INT(frame->constraints.friction_row[0], -1);
    ENSURE_INT(frame->constraints.holonomic[1], 1);
    ENSURE_NEAR(frame->contacts.mu_static[2][1], frame->contacts.mu[2][1], 0);
    ENSURE(memcmp(frame->contacts.tangent[2], u, sizeof u) == 0);
    ENSURE(memcmp(frame->contacts.lever_arm[2], r_a, sizeof r_a) == 0);
    ENSURE(memcmp(frame->contacts.lever_arm[2] + 3, r_b, sizeof r_b) == 0);
    ENSURE_NEAR(frame->contacts.lever_arm[0][1], 0, 0); // the world has no centre of mass
    ss_frame_destroy(frame);
}

TEST(a_copy_is_equal_until_any_number_changes)
{
    ss_frame *frame = full_frame(), *copy = ss_frame_copy(frame, NULL);
    ENSURE(copy != NULL);
    ENSURE(ss_frame_equal(frame, copy));
    for (int f = 0; f < ss_field_count; f++) {
        unsigned char *bytes = ss_field_data(&ss_fields[f], copy);
        ENSURE(bytes != ss_field_data(&ss_fields[f], frame));
        size_t last = length_of(&ss_fields[f], copy) * ss_field_element_size(&ss_fields[f]) - 1;
        bytes[last] ^= 0x80;
        ENSURE(!ss_frame_equal(frame, copy));
        bytes[last] ^= 0x80;
    }
    copy->h *= 2;
    ENSURE(!ss_frame_equal(frame, copy));
    copy->h = frame->h;
    copy->time = NAN;
    ENSURE(!ss_frame_equal(frame, copy));
    ss_frame_destroy(frame);
    ss_frame_destroy(copy);
}

TEST(frames_with_different_arrays_are_not_equal)
{
    ss_frame *plain = plain_frame(), *full = plain_frame(), *larger = ss_frame_create(1, 0, 0, 1, NULL);
    ss_frame *smaller = ss_frame_create(1, 0, 0, 0, NULL);
    ENSURE(ss_frame_equal(plain, full));
    ENSURE(ss_frame_enable(full, "contacts/restitution", NULL));
    ENSURE(!ss_frame_equal(plain, full));
    ENSURE(!ss_frame_equal(full, plain));
    ENSURE(!ss_frame_equal(larger, smaller));
    ss_frame_destroy(plain);
    ss_frame_destroy(full);
    ss_frame_destroy(larger);
    ss_frame_destroy(smaller);
}

/* ---- the table -------------------------------------------------------------------------------------- */

TEST(fields_are_found_by_their_path_and_only_by_it)
{
    for (int f = 0; f < ss_field_count; f++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", ss_fields[f].group, ss_fields[f].name);
        ENSURE(ss_field_find(path) == &ss_fields[f]);
        ENSURE(strlen(ss_fields[f].unit) > 0 && strlen(ss_fields[f].meaning) > 0);
    }
    ENSURE(ss_field_find("") == NULL);
    ENSURE(ss_field_find("bodies") == NULL);
    ENSURE(ss_field_find("bodies/") == NULL);
    ENSURE(ss_field_find("bodies/mass") == NULL);
    ENSURE(ss_field_find("contacts/masses") == NULL);
}

TEST(every_number_can_be_set_and_got_through_the_table)
{
    ss_frame *frame = full_frame();
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        void *data = ss_field_data(field, frame);
        ENSURE(*ss_field_slot(field, frame) == data);
        for (size_t i = 0; i < length_of(field, frame); i++) ss_field_set(field, data, i, (double)i);
        for (size_t i = 0; i < length_of(field, frame); i++) ENSURE_NEAR(ss_field_get(field, data, i), i, 0);
    }
    ss_frame_destroy(frame);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

typedef bool work(ss_error *err);

/* Fails the first, second, ... request of a piece of work until it gets through. Returns how many requests it
 * makes, or -1 when a failure was not told as such or left memory behind. */
static long requests_of(work *attempt)
{
    for (long n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        bool done = attempt(&err);
        bool reached = faults_stop();
        if (faults.live != 0 || done == reached) return -1;
        if (done) return faults.requests;
        if (err.code != SS_ERROR_RESOURCES) return -1;
    }
}

static bool create_once(ss_error *err)
{
    ss_frame *frame = ss_frame_create(2, 1, 3, 2, err);
    ss_frame_destroy(frame);
    return frame != NULL;
}

static bool enable_once(ss_error *err)
{
    ss_frame *frame = ss_frame_create(2, 1, 3, 2, err);
    bool enabled = frame && enable_all(frame, err);
    ss_frame_destroy(frame);
    return enabled;
}

static bool copy_once(ss_error *err)
{
    ss_frame *frame = ss_frame_create(2, 1, 3, 2, err);
    ss_frame *copy = frame && enable_all(frame, err) ? ss_frame_copy(frame, err) : NULL;
    ss_frame_destroy(frame);
    ss_frame_destroy(copy);
    return copy != NULL;
}

TEST(lack_of_memory_is_told_and_loses_nothing)
{
    int required = 0;
    for (int f = 0; f < ss_field_count; f++) required += !ss_fields[f].optional;
    ENSURE_INT(requests_of(create_once), 1 + required); // the frame itself and one block per array
    ENSURE_INT(requests_of(enable_once), 1 + ss_field_count);
    ENSURE_INT(requests_of(copy_once), 2 * (1 + ss_field_count));
}

TEST(enabling_without_memory_leaves_the_frame_as_it_was)
{
    faults_start(0);
    ss_frame *frame = plain_frame(), *before = ss_frame_copy(frame, NULL);
    faults.fail_at = faults.requests + 1;
    ss_error err = {0};
    bool enabled = ss_frame_enable(frame, "contacts/mu_s", &err);
    bool same = ss_frame_equal(frame, before);
    ss_frame_destroy(frame);
    ss_frame_destroy(before);
    faults_stop();
    ENSURE(!enabled && same);
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    ENSURE_CONTAINS(err.message, "contacts/mu_s");
    ENSURE_INT(faults.live, 0);
}

/* ---- hash ------------------------------------------------------------------------------------------- */

typedef struct hash {
    char text[33];
} hash;

static hash hash_of(const ss_frame *frame)
{
    hash h;
    ss_frame_hash(frame, h.text);
    return h;
}

static bool same_hash(hash a, hash b)
{
    return strcmp(a.text, b.text) == 0;
}

TEST(labels_and_time_do_not_reach_the_hash)
{
    ss_frame *frame = full_frame();
    hash before = hash_of(frame);
    frame->time = 99;
    for (int b = 0; b < BODIES; b++) frame->bodies.id[b] = 1000 - b;
    frame->bodies.state[0] = 17;    // live all the same
    frame->bodies.state[DEAD] = -4; // and dead all the same
    ENSURE(same_hash(hash_of(frame), before));
    frame->bodies.state[DEAD] = 1;
    ENSURE(!same_hash(hash_of(frame), before));
    ss_frame_destroy(frame);
}

TEST(minus_zero_counts_as_zero)
{
    ss_frame *frame = full_frame(), *original = ss_frame_copy(frame, NULL);
    int turned = 0;
    for (int f = 0; f < ss_field_count; f++) {
        double *numbers = ss_field_data(&ss_fields[f], frame);
        if (ss_fields[f].type != SS_FIELD_REAL) continue;
        for (size_t i = 0; i < length_of(&ss_fields[f], frame); i++)
            if (numbers[i] == 0) numbers[i] = -0.0, turned++;
    }
    ENSURE(turned > 0);
    ENSURE(!ss_frame_equal(frame, original));
    ENSURE(same_hash(hash_of(frame), hash_of(original)));
    ss_frame_destroy(frame);
    ss_frame_destroy(original);
}

TEST(one_not_a_number_is_like_another)
{
    ss_frame *frame = full_frame();
    frame->contacts.gap[0] = NAN;
    hash quiet = hash_of(frame);
    uint64_t other_bits = UINT64_C(0xfff800000000beef);
    memcpy(&frame->contacts.gap[0], &other_bits, sizeof other_bits);
    ENSURE(isnan(frame->contacts.gap[0]));
    ENSURE(same_hash(hash_of(frame), quiet));
    ss_frame_destroy(frame);
}

TEST(an_optional_array_with_its_default_counts_as_absent)
{
    ss_frame *frame = plain_frame();
    hash before = hash_of(frame);
    for (int f = 0; f < ss_field_count; f++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", ss_fields[f].group, ss_fields[f].name);
        if (!ss_fields[f].optional) continue;
        ENSURE(ss_frame_enable(frame, path, NULL));
        ENSURE(same_hash(hash_of(frame), before));
    }
    ss_frame_destroy(frame);
}

static void flip_lowest_bit(const ss_field *field, void *data, size_t index)
{
    size_t size = ss_field_element_size(field);
    unsigned char bytes[8];
    memcpy(bytes, (char *)data + index * size, size);
    const uint16_t probe = 1;
    bool little_endian = *(const unsigned char *)&probe == 1;
    bytes[little_endian ? 0 : size - 1] ^= 1;
    memcpy((char *)data + index * size, bytes, size);
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(hash));
}

TEST(the_last_bit_of_every_number_gives_another_hash)
{
    ss_frame *frame = full_frame();
    frame->bodies.state[DEAD] = 1; // so that its last bit decides whether it is live
    size_t total = 1, count = 0;
    for (int f = 0; f < ss_field_count; f++) total += length_of(&ss_fields[f], frame);
    hash *hashes = calloc(total, sizeof *hashes);
    hashes[count++] = hash_of(frame);
    for (int f = 0; f < ss_field_count; f++) {
        void *data = ss_field_data(&ss_fields[f], frame);
        for (size_t i = 0; i < length_of(&ss_fields[f], frame) && data != frame->bodies.id; i++) {
            flip_lowest_bit(&ss_fields[f], data, i);
            hashes[count++] = hash_of(frame);
            flip_lowest_bit(&ss_fields[f], data, i);
        }
    }
    qsort(hashes, count, sizeof *hashes, compare_hashes);
    size_t repeated = 0;
    for (size_t i = 1; i < count; i++) repeated += compare_hashes(&hashes[i - 1], &hashes[i]) == 0;
    free(hashes);
    ss_frame_destroy(frame);
    ENSURE_INT(count, total - BODIES); // all but the ids
    ENSURE_INT(repeated, 0);
}

TEST(exchanged_numbers_give_another_hash)
{
    ss_frame *frame = plain_frame();
    hash before = hash_of(frame);
    double first = frame->contacts.gap[0];
    frame->contacts.gap[0] = frame->contacts.gap[1];
    frame->contacts.gap[1] = first;
    ENSURE(!same_hash(hash_of(frame), before));
    ss_frame_destroy(frame);
}

TEST(the_step_reaches_the_hash)
{
    ss_frame *frame = plain_frame();
    hash before = hash_of(frame);
    frame->h = nextafter(frame->h, 1);
    ENSURE(!same_hash(hash_of(frame), before));
    ss_frame_destroy(frame);
}

/* Written down once: hashes name problems in files and ledgers, so they must stay what they are on every
 * machine and in every version. */
TEST(the_hash_of_a_known_frame_never_changes)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, NULL);
    frame->h = 0.0078125;
    frame->bodies.mass[0] = 2;
    set_inertia(frame, 0, ss_quat_identity(), 0.5, 0.5, 0.5);
    frame->bodies.force[0][2] = -19.5;
    frame->contacts.pair[0][1] = 0;
    frame->contacts.normal[0][2] = 1;
    frame->contacts.gap[0] = -0.0009765625;
    frame->contacts.mu[0][0] = frame->contacts.mu[0][1] = 0.5;
    ENSURE_TEXT(hash_of(frame).text, "6a1a1d03cfb93d25bb601a3667b28a67");
    ss_frame_destroy(frame);
}

TEST_MAIN
