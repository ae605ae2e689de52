/* Mistakes of programs that record: each of the classic ones is planted in a good recording and must be
 * named, and no other. The scene has what they need: a long box that tumbles through the air onto the floor,
 * a pile, a spinning box on a ball joint, and two boxes on a hinge. */
#include "kit.h"
#include "worlds.h"

#include "dataset/recording_check.h"
#include "linalg/mat3.h"
#include "linalg/quat.h"

enum { STEPS = 80 };

typedef struct step_taken {
    ss_frame *frame;
    ss_answer *answer;
} step_taken;

typedef void planted(step_taken *step);

static void throw_body(ss_world *world, int body, const double velocity[6])
{
    memcpy(ss_world_body(world, body)->velocity, velocity, 6 * sizeof *velocity);
}

static ss_world *make_scene(void)
{
    ss_world *world = empty_world(0, 0, -9.81);
    set_materials(world, (ss_material_pair){.mu = 0.5});
    add_floor(world);
    int tumbling = add_box(world, 0, 0, 0.8, 0.4, 0.2, 0.1);
    throw_body(world, tumbling, (const double[]){0.5, 0.2, 0, 6, 4, 3});
    add_box(world, 2, 0, 0.1, 0.3, 0.3, 0.2);
    add_box(world, 2.02, 0.01, 0.31, 0.25, 0.3, 0.2);
    int hanging = add_box(world, 4, 0, 1.5, 0.1, 0.2, 0.4);
    throw_body(world, hanging, (const double[]){0, 0, 0, 1, 2, 7});
    add_joint(world, (ss_joint){.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = hanging, .anchor = {4, 0, 1.7}});
    int left = add_box(world, 6, 0, 0.1, 0.3, 0.3, 0.2), right = add_box(world, 6.4, 0, 0.4, 0.3, 0.3, 0.2);
    add_joint(
        world,
        (ss_joint){
            .kind = SS_JOINT_REVOLUTE, .a = left, .b = right, .anchor = {6.2, 0, 0.2}, .axis = {0, 1, 0}});
    return world;
}

static ss_answer *copy_answer(const ss_frame *frame, const ss_answer *from)
{
    ss_answer *to = ss_answer_create(frame, false, NULL);
    if (!to) exit(1);
    memcpy(to->velocity, from->velocity, (size_t)from->bodies * sizeof *from->velocity);
    memcpy(to->row_impulse, from->row_impulse, (size_t)from->rows * sizeof *from->row_impulse);
    memcpy(to->normal_impulse, from->normal_impulse, (size_t)from->contacts * sizeof *from->normal_impulse);
    memcpy(to->friction_impulse, from->friction_impulse,
           (size_t)from->contacts * sizeof *from->friction_impulse);
    return to;
}

/* How the recorder treats what it records. */
typedef struct habits {
    planted *plant;        /* the mistake; NULL: none */
    int every;             /* steps from frame to frame; 0: 1 */
    bool no_answers;       /* only frames are stored */
    bool no_rules;         /* nor how gaps were treated */
    bool no_gravity_known; /* nor gravity in the manifest */
    const char *gap_term;  /* NULL: the simulator's own */
} habits;

/* What is found in a recording of the scene. */
static void record(habits how, ss_findings *findings)
{
    ss_sim_options options = default_options();
    if (how.gap_term) options.with = (ss_option_list){.items = {how.gap_term}, .count = 1};
    ss_sim *sim = start(make_scene(), &options);
    double gravity[3] = {0, 0, -9.81};
    if (how.no_gravity_known) gravity[0] = gravity[1] = gravity[2] = NAN;
    ss_recording_check *check = ss_recording_check_create(gravity);
    ENSURE(check != NULL);
    for (int i = 0; i < STEPS; i++) {
        char place[40], rules[SS_RULES_LENGTH];
        run(sim, 1);
        if (how.every && i % how.every != 0) continue;
        step_taken step = {ss_frame_copy(ss_sim_frame(sim), NULL), NULL};
        step.answer = copy_answer(step.frame, ss_sim_answer(sim));
        if (how.plant) how.plant(&step);
        snprintf(place, sizeof place, "/mbs_frame%06d", i + 1);
        ENSURE(ss_recording_check_frame(check, step.frame, place));
        ss_assembly *assembly = ss_sim_assembly(sim);
        ss_options_print(ss_assembly_formulation(assembly)->options, ss_assembly_step(assembly), rules,
                         sizeof rules);
        ss_stored_result result = {.solver = "engine", .answer = step.answer};
        if (!how.no_rules) result.formulation = "cone", result.with = rules;
        if (!how.no_answers) ENSURE(ss_recording_check_result(check, &result));
        ss_answer_destroy(step.answer);
        ss_frame_destroy(step.frame);
    }
    ss_recording_check_end(check, findings);
    ss_recording_check_destroy(check);
    end(sim);
}

/* ---- the mistakes -------------------------------------------------------------------------------------- */

static void swap_contact_bodies(step_taken *step)
{
    ss_contacts *contacts = &step->frame->contacts;
    for (int c = 0; c < contacts->count; c++) {
        int a = contacts->pair[c][0];
        contacts->pair[c][0] = contacts->pair[c][1];
        contacts->pair[c][1] = a;
    }
}

static void turn_normals(step_taken *step)
{
    for (int c = 0; c < step->frame->contacts.count; c++)
        for (int i = 0; i < 3; i++) step->frame->contacts.normal[c][i] *= -1;
}

static void forget_gravity(step_taken *step)
{
    for (int b = 0; b < step->frame->bodies.count; b++)
        step->frame->bodies.force[b][2] += 9.81 * step->frame->bodies.mass[b];
}

static void turn_joint(step_taken *step)
{
    for (int i = 0; i < step->frame->constraints.rows[0]; i++)
        for (int k = 0; k < 12; k++) step->frame->constraints.jacobian[i][k] *= -1;
}

static void turn_second_body_of_hinge(step_taken *step)
{
    for (int i = 3; i < step->frame->constraints.row_count; i++)
        for (int k = 6; k < 12; k++) step->frame->constraints.jacobian[i][k] *= -1;
}

static void store_velocities_after(step_taken *step)
{
    memcpy(step->frame->bodies.velocity, step->answer->velocity,
           (size_t)step->answer->bodies * sizeof *step->answer->velocity);
}

static void store_body_inertia(step_taken *step)
{
    ss_bodies *bodies = &step->frame->bodies;
    for (int b = 0; b < bodies->count; b++) {
        ss_mat3 rotation = ss_quat_to_matrix(ss_quat_load(bodies->quaternion[b]));
        ss_mat3 inertia = ss_mat3_load(bodies->inertia[b]);
        ss_mat3_store(ss_mat3_rotate_tensor(ss_mat3_transpose(rotation), inertia), bodies->inertia[b]);
    }
}

static void store_scalar_last(step_taken *step)
{
    for (int b = 0; b < step->frame->bodies.count; b++) {
        double *q = step->frame->bodies.quaternion[b], w = q[0];
        q[0] = q[1], q[1] = q[2], q[2] = q[3], q[3] = w;
    }
}

static void store_world_to_body(step_taken *step)
{
    for (int b = 0; b < step->frame->bodies.count; b++)
        for (int i = 1; i < 4; i++) step->frame->bodies.quaternion[b][i] *= -1;
}

static void forget_gyroscopic_torque(step_taken *step)
{
    for (int b = 0; b < step->frame->bodies.count; b++)
        for (int i = 3; i < 6; i++) step->frame->bodies.force[b][i] = 0;
}

static void store_forces(step_taken *step)
{
    double per_step = 1 / step->frame->h;
    for (int i = 0; i < step->answer->rows; i++) step->answer->row_impulse[i] *= per_step;
    for (int c = 0; c < step->answer->contacts; c++) {
        step->answer->normal_impulse[c] *= per_step;
        for (int i = 0; i < 3; i++) step->answer->friction_impulse[c][i] *= per_step;
    }
}

static void store_impulses_of_bodies(step_taken *step)
{
    for (int b = 0; b < step->frame->bodies.count; b++)
        for (int i = 0; i < 6; i++) step->frame->bodies.force[b][i] *= step->frame->h;
}

static void store_depth(step_taken *step)
{
    for (int c = 0; c < step->frame->contacts.count; c++) step->frame->contacts.gap[c] *= -1;
}

static const struct {
    const char *name, *words;
    planted *plant;
} mistakes[] = {
    {"bodies swapped", "contact bodies are probably swapped", swap_contact_bodies},
    {"normals turned", "contact bodies are probably swapped", turn_normals},
    {"no gravity", "gravity is probably missing", forget_gravity},
    {"joint", "the sign of a joint's Jacobian is probably wrong", turn_joint},
    {"one side of a joint", "the sign of a joint's Jacobian is probably wrong", turn_second_body_of_hinge},
    {"after the step", "velocities are probably those after the step", store_velocities_after},
    {"body inertia", "inertia tensors are probably given in the frame of the body", store_body_inertia},
    {"scalar last", "quaternions are probably stored as (x, y, z, w)", store_scalar_last},
    {"world to body", "quaternions probably turn from the world to the body", store_world_to_body},
    {"no gyroscopic torque", "the gyroscopic torque -w x I w is probably missing", forget_gyroscopic_torque},
    {"forces", "forces are probably stored as impulses", store_forces},
    {"impulses of bodies", "forces of bodies are probably impulses", store_impulses_of_bodies},
    {"depth", "depths are probably stored instead of gaps", store_depth},
};

static void print_all(const ss_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        fprintf(stderr, "  %s: %s\n", findings->items[i].place, findings->items[i].message);
}

static bool names_only(habits how, const char *words)
{
    ss_findings findings = {0};
    record(how, &findings);
    bool good = findings.count == 1 && findings.items[0].kind == SS_FINDING_WARNING &&
                strstr(findings.items[0].message, words);
    if (!good) print_all(&findings);
    ss_findings_free(&findings);
    return good;
}

static bool finds_nothing(habits how)
{
    ss_findings findings = {0};
    record(how, &findings);
    bool good = findings.count == 0;
    if (!good) print_all(&findings);
    ss_findings_free(&findings);
    return good;
}

/* ---- stories ------------------------------------------------------------------------------------------- */

TEST(every_mistake_is_named_and_no_other)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        bool named = names_only((habits){.plant = mistakes[i].plant}, mistakes[i].words);
        if (!named) fprintf(stderr, "planted: %s\n", mistakes[i].name);
        ENSURE(named);
    }
}

TEST(mistakes_are_named_in_recordings_that_say_less)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        bool named =
            names_only((habits){.plant = mistakes[i].plant, .no_rules = true, .no_gravity_known = true},
                       mistakes[i].words);
        if (!named) fprintf(stderr, "planted: %s\n", mistakes[i].name);
        ENSURE(named);
    }
}

TEST(mistakes_that_need_no_answer_are_named_without_one)
{
    ENSURE(names_only((habits){.plant = forget_gravity, .no_answers = true}, "gravity is probably missing"));
    ENSURE(names_only((habits){.plant = store_scalar_last, .no_answers = true}, "(x, y, z, w)"));
    ENSURE(names_only((habits){.plant = store_body_inertia, .no_answers = true}, "frame of the body"));
    ENSURE(names_only((habits){.plant = store_depth, .no_answers = true}, "depths are probably stored"));
    ENSURE(names_only((habits){.plant = swap_contact_bodies, .no_answers = true}, "bodies are swapped"));
}

TEST(mistakes_are_named_in_frames_far_apart)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        bool named = names_only((habits){.plant = mistakes[i].plant, .every = 3}, mistakes[i].words);
        if (!named) fprintf(stderr, "planted: %s\n", mistakes[i].name);
        ENSURE(named);
    }
}

TEST(good_recordings_are_not_accused)
{
    ENSURE(finds_nothing((habits){0}));
    ENSURE(finds_nothing((habits){.no_answers = true}));
    ENSURE(finds_nothing((habits){.no_rules = true, .no_gravity_known = true}));
    ENSURE(finds_nothing((habits){.every = 7}));
    ENSURE(finds_nothing((habits){.gap_term = "gap_term=zero"}));
    ENSURE(finds_nothing((habits){.gap_term = "gap_term=preventive"}));
    ENSURE(finds_nothing((habits){.gap_term = "gap_term=preventive", .no_rules = true}));
}

TEST_MAIN
