/* Checks of a frame: good ones pass without a word, and every planted fault is found where it is. */
#include "kit.h"
#include "faults.h"
#include "sample_frame.h"

/* ---- checks: what is right -------------------------------------------------------------------------- */

static void print_findings(const ss_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        fprintf(stderr, "  %s: %s: %s\n", ss_finding_kind_name(findings->items[i].kind),
                findings->items[i].place, findings->items[i].message);
}

/* Number of findings of all kinds; -1 when the verdict does not go with them. */
static int count_findings(const ss_frame *frame, bool print)
{
    ss_findings findings = {0};
    bool good = ss_frame_check(frame, "F", &findings);
    int count = good == (findings.count_of[SS_FINDING_FAULT] == 0) ? (int)findings.count : -1;
    if (good != ss_frame_check(frame, "F", NULL)) count = -1;
    if (print) print_findings(&findings);
    ss_findings_free(&findings);
    return count;
}

TEST(nothing_is_said_about_good_frames)
{
    ss_frame *plain = plain_frame(), *full = full_frame();
    ENSURE_INT(count_findings(plain, true), 0);
    ENSURE_INT(count_findings(full, true), 0);
    ENSURE(enable_all(plain, NULL));
    ENSURE_INT(count_findings(plain, true), 0);
    ss_frame_destroy(plain);
    ss_frame_destroy(full);
}

TEST(single_precision_data_is_good_enough)
{
    ss_frame *frame = full_frame();
    for (int f = 0; f < ss_field_count; f++) {
        double *numbers = ss_field_data(&ss_fields[f], frame);
        if (ss_fields[f].type != SS_FIELD_REAL) continue;
        for (size_t i = 0; i < length_of(&ss_fields[f], frame); i++) numbers[i] = (float)numbers[i];
    }
    ENSURE_INT(count_findings(frame, true), 0);
    ss_frame_destroy(frame);
}

TEST(a_sleeping_body_may_hold_anything_finite)
{
    ss_frame *frame = plain_frame();
    frame->bodies.mass[DEAD] = 0;
    frame->bodies.position[DEAD][0] = -1e200;
    memset(frame->bodies.quaternion[DEAD], 0, sizeof frame->bodies.quaternion[DEAD]);
    memset(frame->bodies.inertia[DEAD], 0, sizeof frame->bodies.inertia[DEAD]);
    ENSURE_INT(count_findings(frame, true), 0);
    frame->bodies.state[DEAD] = 1;
    ENSURE_INT(count_findings(frame, false), 4); // one for each of the four arrays
    ss_frame_destroy(frame);
}

/* ---- checks: one fault at a time -------------------------------------------------------------------- */

typedef struct plant {
    const char *path;
    int item, component;
    double value;
    ss_finding_kind kind;
    const char *says;
} plant;

#define FAULT SS_FINDING_FAULT
#define WARNING SS_FINDING_WARNING
static const plant plants[] = {
    {"bodies/masses", 1, 0, 0, FAULT, "is 0, must be between 1e-30 and 1e+24"},
    {"bodies/masses", 1, 0, -2, FAULT, "is -2"},
    {"bodies/masses", 1, 0, INFINITY, FAULT, "is inf"},
    {"bodies/positions", 2, 1, 1e25, FAULT, "component 1 is 1e25, must be finite and at most 1e+12"},
    {"bodies/velocities", 0, 5, -1e300, FAULT, "component 5 is -1e300"},
    {"bodies/forces", 0, 2, 1e25, FAULT, "component 2 is 1e25"},
    {"bodies/masses", DEAD, 0, NAN, FAULT, "is nan, must be finite"},
    {"bodies/quaternions", 1, 0, 2, FAULT, "must be 1 within 1e-6"},
    {"bodies/ids", 2, 0, 0, FAULT, "is 0, must be between 1 and 2147483647"},
    {"bodies/ids", 3, 0, 2, FAULT, "is 2, the same as [1]"},
    {"constraints/pairs", 1, 0, 4, FAULT, "side 0 is body 4, but there are 4"},
    {"constraints/pairs", 1, 1, -2, FAULT, "side 1 is body -2"},
    {"constraints/pairs", 1, 0, 2, FAULT, "both sides are body 2"},
    {"constraints/pairs", 0, 1, SS_WORLD, FAULT, "both sides are the world"},
    {"constraints/pairs", 0, 1, DEAD, WARNING, "neither is live"},
    {"constraints/Jacobian", 0, 2, 0.5, WARNING, "columns 0 to 5 belong to the world"},
    {"constraints/violations", 3, 0, 0.1, WARNING, "joint 1 is not holonomic"},
    {"constraints/bounds", 3, 0, 8, FAULT, "lower 8 and upper 7"},
    {"constraints/bounds", 3, 0, INFINITY, FAULT, "lower inf and upper 7"},
    {"constraints/bounds", 0, 0, INFINITY, FAULT, "lower inf and upper inf"},
    {"constraints/bounds", 0, 1, -INFINITY, FAULT, "lower -inf and upper -inf"},
    {"constraints/bounds", 3, 1, NAN, FAULT, "lower -5 and upper nan"},
    {"constraints/regularization", 2, 0, -1e-9, FAULT, "is -1e-9, must be between 0"},
    {"constraints/regularization", 2, 0, INFINITY, FAULT, "is inf"},
    {"constraints/friction", 3, 0, -0.1, FAULT, "is -0.1"},
    {"constraints/friction", 1, 0, 0.1, WARNING, "without a friction_row"},
    {"constraints/friction_row", 3, 0, 3, FAULT, "is 3, the row itself"},
    {"constraints/friction_row", 3, 0, 4, FAULT, "is 4, but there are 4 rows"},
    {"constraints/friction_row", 3, 0, -2, FAULT, "is -2"},
    {"constraints/holonomic", 1, 0, 2, FAULT, "is 2, must be between 0 and 1"},
    {"contacts/pairs", 2, 1, 7, FAULT, "side 1 is body 7, but there are 4"},
    {"contacts/pairs", 1, 1, 0, FAULT, "both sides are body 0"},
    {"contacts/pairs", 0, 1, SS_WORLD, FAULT, "both sides are the world"},
    {"contacts/pairs", 3, 0, DEAD, WARNING, "bodies 3 and -1: neither is live"},
    {"contacts/gaps", 4, 0, -INFINITY, FAULT, "is -inf"},
    {"contacts/mu_k", 2, 1, -0.5, FAULT, "component 1 is -0.5, must be at least 0; inf is allowed"},
    {"contacts/mu_s", 2, 0, -1, FAULT, "component 0 is -1"},
    {"contacts/mu_s", 2, 0, 0.01, WARNING, "less than sliding friction"},
    {"contacts/restitution", 0, 0, 1.01, FAULT, "is 1.01, must be between 0 and 1"},
    {"contacts/restitution", 0, 0, -0.01, FAULT, "is -0.01"},
    {"contacts/compliance", 0, 0, -1, FAULT, "is -1"},
    {"contacts/mu_r", 4, 0, -1, FAULT, "is -1"},
    {"contacts/mu_r", 4, 0, INFINITY, FAULT, "is inf"},
    {"contacts/lever_arms", 1, 4, 1e200, FAULT, "component 4 is 1e200"},
};

/* The finding is there, and no other place is blamed. */
static bool found_only(const ss_frame *frame, const char *place, ss_finding_kind kind, const char *says)
{
    ss_findings findings = {0};
    bool good = ss_frame_check(frame, "F", &findings), found = false, elsewhere = false;
    for (size_t i = 0; i < findings.count; i++) {
        const ss_finding *item = &findings.items[i];
        elsewhere |= strcmp(item->place, place) != 0;
        found |= item->kind == kind && strstr(item->message, says);
    }
    bool as_expected = found && !elsewhere && good == (kind != FAULT);
    if (!as_expected) fprintf(stderr, "  %s, \"%s\", was looked for among:\n", place, says);
    if (!as_expected) print_findings(&findings);
    ss_findings_free(&findings);
    return as_expected;
}

static bool planted_is_found(ss_frame *frame, const plant *p)
{
    const ss_field *field = ss_field_find(p->path);
    void *data = ss_field_data(field, frame);
    size_t index = (size_t)(p->item * field->width + p->component);
    double before = ss_field_get(field, data, index);
    char place[96];
    snprintf(place, sizeof place, "F/%s[%d]", p->path, p->item);
    ss_field_set(field, data, index, p->value);
    bool found = found_only(frame, place, p->kind, p->says);
    ss_field_set(field, data, index, before);
    return found;
}

TEST(every_planted_fault_is_found_at_its_place)
{
    ss_frame *frame = full_frame();
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) ENSURE(planted_is_found(frame, &plants[i]));
    ENSURE_INT(count_findings(frame, true), 0); // the frame is as it was
    ss_frame_destroy(frame);
}

TEST(not_a_number_is_found_in_every_single_place)
{
    ss_frame *frame = full_frame();
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        char path[64];
        snprintf(path, sizeof path, "%s/%s", field->group, field->name);
        if (field->type != SS_FIELD_REAL) continue;
        for (int i = 0; i < ss_field_items(field, frame); i++)
            for (int k = 0; k < field->width; k++)
                ENSURE(planted_is_found(frame, &(plant){path, i, k, NAN, FAULT, "nan"}));
    }
    ss_frame_destroy(frame);
}

TEST(garbage_of_1e300_is_found_wherever_it_cannot_be_meant)
{
    ss_frame *frame = full_frame();
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const double *data = ss_field_data(field, frame);
        bool meant = data == (double *)frame->constraints.bounds || data == (double *)frame->contacts.mu ||
                     data == (double *)frame->contacts.mu_static || data == frame->subcontacts.cut;
        if (field->type != SS_FIELD_REAL || meant) continue;
        double *number = &((double *)ss_field_data(field, frame))[field->width - 1], before = *number;
        *number = 1e300;
        ENSURE(!ss_frame_check(frame, "F", NULL));
        *number = before;
    }
    ss_frame_destroy(frame);
}

TEST(the_time_step_must_be_positive_and_finite)
{
    ss_frame *frame = plain_frame();
    static const double wrong[] = {0, -0.01, NAN, INFINITY, 1e300, 1e-300};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        frame->h = wrong[i];
        ENSURE(found_only(frame, "F/timestep", FAULT, "must be between"));
    }
    frame->h = 0.01;
    frame->time = INFINITY;
    ENSURE(found_only(frame, "F/time", WARNING, "inf"));
    frame->time = NAN; // unknown
    ENSURE_INT(count_findings(frame, true), 0);
    ss_frame_destroy(frame);
}

static void scale(double *v, int count, double factor)
{
    for (int i = 0; i < count; i++) v[i] *= factor;
}

TEST(unit_vectors_are_a_warning_when_sloppy_and_a_fault_when_wrong)
{
    static const struct {
        double factor;
        ss_finding_kind kind;
    } cases[] = {{1 + 1e-5, WARNING}, {1 - 1e-5, WARNING}, {1.01, FAULT}, {0.93, FAULT}, {0, FAULT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ss_frame *frame = full_frame();
        scale(frame->bodies.quaternion[2], 4, cases[i].factor);
        ENSURE(found_only(frame, "F/bodies/quaternions[2]", cases[i].kind, "must be 1 within 1e-6"));
        ss_frame_destroy(frame);
        frame = full_frame();
        scale(frame->contacts.normal[3], 3, cases[i].factor);
        ENSURE(found_only(frame, "F/contacts/normals[3]", cases[i].kind, "must be 1 within 1e-6"));
        ss_frame_destroy(frame);
        frame = full_frame();
        scale(frame->contacts.tangent[3], 3, cases[i].factor);
        ENSURE(found_only(frame, "F/contacts/t_u[3]", cases[i].kind, "must be 1 within 1e-6"));
        ss_frame_destroy(frame);
    }
}

/* Leans the tangent of contact 0 towards the normal by an angle. */
static void lean_tangent(ss_frame *frame, double angle)
{
    ss_vec3 t = ss_vec3_load(frame->contacts.tangent[0]), n = ss_vec3_load(frame->contacts.normal[0]);
    ss_vec3 leaning = ss_vec3_add_scaled(ss_vec3_scale(cos(angle), t), sin(angle), n);
    ss_vec3_store(leaning, frame->contacts.tangent[0]);
}

TEST(tangents_must_be_perpendicular_to_the_normal)
{
    ss_frame *frame = full_frame();
    lean_tangent(frame, 1e-5);
    ENSURE(found_only(frame, "F/contacts/t_u[0]", WARNING, "along the normal"));
    lean_tangent(frame, -0.56);
    ENSURE(found_only(frame, "F/contacts/t_u[0]", FAULT, "along the normal"));
    ss_frame_destroy(frame);
}

/* Inertia with the given principal moments, turned somehow, and (0,1) off by a share of the largest. */
static void give_inertia(ss_frame *frame, double x, double y, double z, double asymmetry)
{
    ss_random random = ss_random_start(7, 7);
    set_inertia(frame, 0, random_rotation(&random), x, y, z);
    frame->bodies.inertia[0][1] += asymmetry * ss_mat3_max_abs(ss_mat3_load(frame->bodies.inertia[0]));
}

TEST(inertia_must_be_that_of_a_body)
{
    static const struct {
        double x, y, z, asymmetry;
        ss_finding_kind kind;
        const char *says;
    } cases[] = {
        {2, 3, 4, 1e-5, WARNING, "not symmetric"},
        {2, 3, 4, 0.01, FAULT, "not symmetric"},
        {2, 3, 4, -0.01, FAULT, "not symmetric"},
        {1, 1, 2.1, 0, WARNING, "no solid"},
        {2, 3, 0, 0, FAULT, "positive definite"},
        {2, 3, -1, 0, FAULT, "positive definite"},
        {-2, -3, -4, 0, FAULT, "positive definite"},
        {0, 0, 0, 0, FAULT, "principal moments 0, 0, 0 kg m^2: must be positive definite"},
    };
    ss_frame *frame = plain_frame();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        give_inertia(frame, cases[i].x, cases[i].y, cases[i].z, cases[i].asymmetry);
        ENSURE(found_only(frame, "F/bodies/world_inertia_tensors[0]", cases[i].kind, cases[i].says));
    }
    give_inertia(frame, 1e-9, 1, 1, 0); // a needle
    ENSURE_INT(count_findings(frame, true), 0);
    give_inertia(frame, 1, 1, 2, 1e-14); // a plate, with rounding
    ENSURE_INT(count_findings(frame, true), 0);
    give_inertia(frame, 1e-45, 1e-45, 1e-45, 0); // an atom
    ENSURE_INT(count_findings(frame, true), 0);
    ss_frame_destroy(frame);
}

TEST(rows_must_add_up)
{
    ss_frame *frame = plain_frame();
    frame->constraints.rows[1] = 2;
    ENSURE(found_only(frame, "F/constraints/rows", FAULT, "add up to 5, but there are 4 equations"));
    frame->constraints.rows[0] = 2, frame->constraints.rows[1] = 1;
    ENSURE(found_only(frame, "F/constraints/rows", FAULT, "add up to 3"));
    frame->constraints.rows[0] = frame->constraints.rows[1] = INT32_MAX; // must not overflow
    ENSURE(!ss_frame_check(frame, "F", NULL));
    ENSURE(!ss_frame_is_planar(frame));
    frame->constraints.rows[0] = 0, frame->constraints.rows[1] = 4;
    ENSURE(found_only(frame, "F/constraints/rows[0]", FAULT, "is 0, must be between 1"));
    ss_frame_destroy(frame);
}

TEST(an_equation_without_live_bodies_is_noticed)
{
    ss_frame *frame = plain_frame();
    memset(frame->constraints.jacobian[2], 0, sizeof frame->constraints.jacobian[2]);
    ENSURE(found_only(frame, "F/constraints/Jacobian[2]", WARNING, "zero on every live body"));
    ss_frame_destroy(frame);
}

TEST(joint_friction_needs_both_of_its_arrays)
{
    ss_frame *frame = plain_frame();
    ENSURE(ss_frame_enable(frame, "constraints/friction_row", NULL));
    ENSURE(found_only(frame, "F/constraints/friction_row", FAULT, "requires constraints/friction"));
    ss_frame_destroy(frame);
    frame = plain_frame();
    ENSURE(ss_frame_enable(frame, "constraints/friction", NULL));
    frame->constraints.friction[2] = 0.25;
    ENSURE(found_only(frame, "F/constraints/friction[2]", WARNING, "0.25"));
    ss_frame_destroy(frame);
}

TEST(a_frame_without_its_arrays_is_refused_before_it_is_looked_into)
{
    ss_frame *frame = plain_frame();
    double *mass = frame->bodies.mass;
    frame->bodies.mass = NULL;
    ENSURE(found_only(frame, "F/bodies/masses", FAULT, "is missing"));
    frame->bodies.mass = mass;
    frame->contacts.count = -1;
    ENSURE(!ss_frame_check(frame, "F", NULL));
    frame->contacts.count = CONTACTS;
    ss_frame_destroy(frame);
}

TEST(every_fault_is_told_not_only_the_first)
{
    enum { MANY = 100 };
    ss_frame *frame = ss_frame_create(MANY, 0, 0, 0, NULL);
    for (int b = 0; b < MANY; b++) set_inertia(frame, b, ss_quat_identity(), 1, 1, 1); // but no masses
    ss_findings all = {0}, few = {.limit = 5};
    ENSURE(!ss_frame_check(frame, "F", &all));
    ENSURE(!ss_frame_check(frame, "F", &few));
    ENSURE_INT(all.count, MANY);
    ENSURE_TEXT(all.items[MANY - 1].place, "F/bodies/masses[99]");
    ENSURE_INT(few.count, 5);
    ENSURE_INT(few.count_of[SS_FINDING_FAULT], MANY);
    ss_findings_free(&all);
    ss_findings_free(&few);
    ss_frame_destroy(frame);
}

TEST(a_place_may_be_absent_or_very_long)
{
    ss_frame *frame = plain_frame();
    frame->bodies.mass[2] = 0;
    static char long_place[5001];
    memset(long_place, 'x', sizeof long_place - 1);
    ss_findings findings = {0};
    ss_frame_check(frame, NULL, &findings);
    ss_frame_check(frame, "", &findings);
    ss_frame_check(frame, long_place, &findings);
    ENSURE_INT(findings.count, 3);
    ENSURE_TEXT(findings.items[0].place, "bodies/masses[2]");
    ENSURE_TEXT(findings.items[1].place, "bodies/masses[2]");
    ENSURE_CONTAINS(findings.items[2].place, "x/bodies/masses[2]");
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
}

TEST(duplicate_labels_are_found_in_any_order_or_the_check_says_it_could_not)
{
    ss_frame *frame = plain_frame();
    for (int b = 0; b < BODIES; b++) frame->bodies.id[b] = 100 - b;
    ENSURE_INT(count_findings(frame, true), 0);
    frame->bodies.id[3] = 100;
    ENSURE(found_only(frame, "F/bodies/ids[3]", FAULT, "is 100, the same as [0]"));
    frame->bodies.id[3] = 5;
    faults_start(1);
    bool good = ss_frame_check(frame, "F", NULL);
    faults_stop();
    ENSURE(!good);
    ss_frame_destroy(frame);
}

TEST_MAIN
