/* What formulations make of a frame: signs, sizes, laws, forms, and the way back. */
#include "kit.h"

#include "faults.h"
#include "mechanics.h"
#include "sample_frame.h"

#include "formulation/box.h"

static const char *const every_method[] = {"stewart-trinkle",
                                           "stewart-trinkle form=mixed directions=5",
                                           "anitescu-potra contact_margin=inf",
                                           "box",
                                           "box bound=previous tangents=frame",
                                           "cone",
                                           "cone form=descriptor",
                                           "convex",
                                           "frictionless",
                                           "penalty"};
enum { METHODS = sizeof every_method / sizeof *every_method };

/* With an explicit, unsymmetric matrix, and no bodies form. */
static bool is_explicit(const char *words)
{
    return strstr(words, "stewart") || strstr(words, "anitescu") || strstr(words, "descriptor");
}

static double *random_vector(ss_random *random, int count, double low, double high)
{
    double *x = ss_allocate((size_t)count, sizeof *x);
    for (int i = 0; x && i < count; i++) x[i] = ss_random_between(random, low, high);
    return x;
}

/* ---- the registry ----------------------------------------------------------------------------------- */

TEST(every_formulation_is_found_by_its_name)
{
    ENSURE(ss_formulation_count() >= 7);
    for (int i = 0; i < ss_formulation_count(); i++) {
        const ss_formulation *formulation = ss_formulation_at(i);
        ENSURE(ss_formulation_find(formulation->name) == formulation);
        ENSURE(formulation->summary && formulation->reference && formulation->model);
    }
    ENSURE(ss_formulation_find("none") == NULL);
}

TEST(every_option_table_begins_with_the_step)
{
    static const char *const names[] = {"gap_term",       "gamma",      "slop",        "restitution_speed",
                                        "contact_margin", "joint_term", "joint_gamma", "joint_relaxation",
                                        "mu_max"};
    for (int i = 0; i < ss_formulation_count(); i++) {
        const ss_formulation *formulation = ss_formulation_at(i);
        double options[32] = {0};
        ENSURE(formulation->options_size <= sizeof options);
        ss_options_defaults(formulation->options, options);
        ENSURE(ss_options_check(formulation->options, options, NULL));
        for (int k = 0; k < 9; k++) ENSURE_TEXT(formulation->options[k].name, names[k]);
    }
}

/* ---- signs ------------------------------------------------------------------------------------------ */

/* A ball joint of bodies a and b at a point: rows [-e, -(r_a x e) | e, r_b x e]. */
static void set_ball_joint(ss_frame *frame, int joint, int first_row, int a, int b, const double point[3])
{
    frame->constraints.pair[joint][0] = a;
    frame->constraints.pair[joint][1] = b;
    for (int i = 0; i < 3; i++) {
        double *row = frame->constraints.jacobian[first_row + i];
        ss_vec3 e = {i == 0, i == 1, i == 2};
        ss_vec3 r_a = ss_vec3_subtract(ss_vec3_load(point), ss_vec3_load(frame->bodies.position[a]));
        ss_vec3 r_b = ss_vec3_subtract(ss_vec3_load(point), ss_vec3_load(frame->bodies.position[b]));
        ss_vec3_store(ss_vec3_negate(e), row);
        ss_vec3_store(ss_vec3_negate(ss_vec3_cross(r_a, e)), row + 3);
        ss_vec3_store(e, row + 6);
        ss_vec3_store(ss_vec3_cross(r_b, e), row + 9);
    }
}

/* Bodies 0, 1, 2 without anything else in the world; all contacts overlap, so that penalties push as well. */
static ss_frame *closed_system(void)
{
    static const int pairs[CONTACTS][2] = {{0, 1}, {1, 0}, {1, 2}, {2, 0}, {0, 2}};
    ss_frame *frame = full_frame();
    if (!frame) return NULL;
    frame->constraints.rows[0] = 3;
    set_ball_joint(frame, 0, 0, 0, 1, (double[3]){0.3, -0.2, 0.7});
    memset(frame->constraints.jacobian[3], 0, sizeof frame->constraints.jacobian[3]);
    memset(frame->constraints.further_jacobian, 0, 2 * sizeof *frame->constraints.further_jacobian);
    for (int k = 0; k < 3; k++) { // a motor about an axis pushes three bodies with torques whose sum is zero
        frame->constraints.jacobian[3][3 + k] = -(0.5 + k);
        frame->constraints.jacobian[3][9 + k] = 0.25 + 0.5 * k;
        frame->constraints.further_jacobian[0][3 + k] = 0.25 + 0.5 * k;
    }
    for (int c = 0; c < CONTACTS; c++) {
        memcpy(frame->contacts.pair[c], pairs[c], sizeof pairs[c]);
        frame->contacts.gap[c] = -0.01;
        for (int k = 0; k < 3; k++) { // undo the stored arms: an arm to elsewhere makes a couple
            frame->contacts.lever_arm[c][k] =
                frame->contacts.point[c][k] - frame->bodies.position[pairs[c][0]][k];
            frame->contacts.lever_arm[c][3 + k] =
                frame->contacts.point[c][k] - frame->bodies.position[pairs[c][1]][k];
        }
    }
    return frame;
}

/* Momentum and angular momentum about the origin of the live bodies. */
static void momentum_of(const ss_frame *frame, double (*velocity)[6], double momentum[6])
{
    memset(momentum, 0, 6 * sizeof *momentum);
    for (int b = 0; b < frame->bodies.count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        ss_vec3 p = ss_vec3_scale(frame->bodies.mass[b], ss_vec3_load(velocity[b]));
        ss_vec3 spin = ss_mat3_apply(ss_mat3_load(frame->bodies.inertia[b]), ss_vec3_load(velocity[b] + 3));
        double part[6];
        ss_vec3_store(p, part);
        ss_vec3_store(ss_vec3_add(ss_vec3_cross(ss_vec3_load(frame->bodies.position[b]), p), spin), part + 3);
        for (int k = 0; k < 6; k++) momentum[k] += part[k];
    }
}

TEST(no_impulse_changes_the_momentum_of_a_closed_system)
{
    ss_frame *frame = closed_system();
    ENSURE(frame != NULL);
    memset(frame->bodies.force, 0, (size_t)frame->bodies.count * sizeof *frame->bodies.force);
    ss_random random = ss_random_start(7, 1);
    double before[6], after[6];
    momentum_of(frame, frame->bodies.velocity, before);
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ss_problem *problem = assemble(&m, frame);
        ENSURE(problem != NULL);
        double *x = random_vector(&random, problem->size, -1, 1);
        ss_answer *answer = ss_answer_create(frame, true, NULL);
        ENSURE(recover_by(&m, frame, x, answer));
        momentum_of(frame, answer->velocity, after);
        // tolerance: some tens of impulses of size 1 on arms of size 1, rounded to 1e-16 each
        for (int i = 0; i < 6; i++) ENSURE_NEAR(after[i], before[i], 1e-12);
        double change = 0.0;
        for (int b = 0; b < 3; b++) change += fabs(answer->velocity[b][0] - frame->bodies.velocity[b][0]);
        ENSURE(change > 0.1); // the impulses did something
        ss_answer_destroy(answer);
        ss_release(x);
        ss_problem_destroy(problem);
    }
    ss_frame_destroy(frame);
}

/* n . (v_b - v_a) at the contact point */
static double separation_speed(const ss_frame *frame, int c, double (*velocity)[6])
{
    double sum = 0.0, arms[2][3];
    ss_contact_lever_arms(frame, c, arms[0], arms[1]);
    ss_vec3 n = ss_vec3_load(frame->contacts.normal[c]);
    for (int side = 0; side < 2; side++) {
        int b = frame->contacts.pair[c][side];
        if (!ss_frame_is_live(frame, b)) continue;
        ss_vec3 v = ss_vec3_add(ss_vec3_load(velocity[b]),
                                ss_vec3_cross(ss_vec3_load(velocity[b] + 3), ss_vec3_load(arms[side])));
        sum += (side ? 1.0 : -1.0) * ss_vec3_dot(n, v);
    }
    return sum;
}

TEST(the_problem_and_the_recovered_velocities_say_the_same)
{
    ss_frame *frame = full_frame();
    ENSURE(frame != NULL);
    ss_random random = ss_random_start(7, 2);
    int compared = 0;
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ss_problem *problem = assemble(&m, frame);
        // their x has velocities in it, which need not fit the impulses
        if (strstr(every_method[k], "form=")) {
            ss_problem_destroy(problem);
            continue;
        }
        double *x = random_vector(&random, problem->size, -1, 1);
        double *w = ss_allocate((size_t)problem->size, sizeof *w);
        double *scratch = ss_allocate((size_t)ss_problem_scratch(problem), sizeof *scratch);
        ss_answer *answer = ss_answer_create(frame, false, NULL);
        ss_problem_apply(problem, x, scratch, w);
        ENSURE(recover_by(&m, frame, x, answer));
        for (int block = 0, last = -1; block < problem->block_count; block++) {
            int c = problem->blocks[block].contact, i = problem->blocks[block].first;
            if (c < 0 || c == last) continue; // the first block of a contact begins with its normal
            last = c;
            // all are springs with dampers, whose gap counts in full, and x is counted from their pull
            double softer =
                1.0 / (1.0 + frame->h * frame->contacts.damping[c] * frame->contacts.compliance[c]);
            double impulse = x[i] - frame->h * frame->contacts.adhesion[c];
            double expected =
                separation_speed(frame, c, answer->velocity) +
                softer * (frame->contacts.compliance[c] * impulse + frame->contacts.gap[c] / frame->h);
            ENSURE_NEAR(w[i], expected, 1e-12); // tolerance: sums of some tens of numbers of size 1
            ENSURE_NEAR(answer->normal_impulse[c], impulse, 1e-15);
            compared++;
        }
        ss_answer_destroy(answer);
        ss_release(x);
        ss_release(w);
        ss_release(scratch);
        ss_problem_destroy(problem);
    }
    ENSURE_INT(compared, 7 * CONTACTS); // all but the two with velocities and the penalties
    ss_frame_destroy(frame);
}

/* ---- shape of the problem --------------------------------------------------------------------------- */

TEST(blocks_cover_the_unknowns_and_know_where_they_come_from)
{
    ss_frame *frame = full_frame();
    ENSURE(frame != NULL);
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ss_problem *problem = assemble(&m, frame);
        ENSURE(problem != NULL);
        int next = 0, last_contact = -1, contacts = 0, joints = 0;
        for (int b = 0; b < problem->block_count; b++) {
            const ss_block *block = &problem->blocks[b];
            ENSURE_INT(block->first, next);
            ENSURE(block->size > 0);
            next += block->size;
            if (block->constraint >= 0) joints += block->size;
            if (block->contact >= 0 && block->contact != last_contact) contacts++;
            if (block->contact >= 0) last_contact = block->contact;
        }
        ENSURE_INT(next, problem->size);
        ENSURE_INT(joints, ROWS);
        ENSURE_INT(contacts, strcmp(m.formulation->name, "penalty") == 0 ? 0 : CONTACTS);
        ENSURE((ss_problem_laws(problem) & ~m.formulation->laws) == 0);
        ss_problem_destroy(problem);
    }
    ss_frame_destroy(frame);
}

TEST(diagonal_and_symmetry_are_those_of_the_matrix)
{
    ss_frame *frame = full_frame();
    ENSURE(frame != NULL);
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ss_problem *problem = assemble(&m, frame);
        ENSURE(problem != NULL);
        bool symmetric = problem->symmetric;
        ENSURE((problem->bodies == NULL) == is_explicit(every_method[k]));
        ENSURE(ss_problem_need_matrix(problem, NULL));
        ENSURE(ss_sparse_check(problem->A, NULL));
        for (int i = 0; i < problem->size; i++) {
            ENSURE_NEAR(problem->diagonal[i], ss_sparse_get(problem->A, i, i), 0.0);
        }
        ENSURE(symmetric == (ss_sparse_symmetry_error(problem->A) == 0.0));
        ENSURE(symmetric == !is_explicit(every_method[k]));
        ss_problem_destroy(problem);
    }
    ss_frame_destroy(frame);
}

TEST(bounds_are_forces_times_the_step)
{
    ss_frame *frame = plain_frame();
    method m = method_of("cone");
    ss_problem *problem = assemble(&m, frame);
    ENSURE(problem != NULL);
    for (int i = 0; i < 3; i++) ENSURE(isinf(problem->lower[i]) && isinf(problem->upper[i]));
    ENSURE_NEAR(problem->lower[3], -5 * 0.01, 1e-16);
    ENSURE_NEAR(problem->upper[3], 7 * 0.01, 1e-16);
    ENSURE_INT(problem->blocks[0].law, SS_LAW_FREE);
    ENSURE_INT(problem->blocks[0].size, 3);
    ENSURE_INT(problem->blocks[1].law, SS_LAW_BOX);
    ENSURE_INT(problem->blocks[1].constraint, 1);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

/* Laws of the blocks of one contact, with their sizes: "c3" is a cone of three, "b", "f", "x" box,
 * free, coupled. */
static bool laws_are(const char *words, const ss_frame *frame, const char *expected)
{
    method m = method_of(words);
    ss_problem *problem = assemble(&m, frame);
    char text[32] = "";
    for (int k = 0; problem && k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        char letter = block->law == SS_LAW_CONE   ? 'c'
                      : block->law == SS_LAW_BOX  ? 'b'
                      : block->law == SS_LAW_FREE ? 'f'
                                                  : 'x';
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%c%d", letter, block->size);
    }
    ss_problem_destroy(problem);
    if (strcmp(text, expected) != 0) fprintf(stderr, "%s: %s, expected %s\n", words, text, expected);
    return strcmp(text, expected) == 0;
}

TEST(every_pair_of_coefficients_has_its_own_cone)
{
    static const struct {
        double u, v;
        const char *cone, *polygon, *box;
    } cases[] = {
        {0.5, 0.5, "c3", "b10", "b1x2"},
        {0.5, 0.2, "c3", "b10", "b1x2"},
        {0.0, 0.0, "c3", "b1", "b1"},
        {0.5, 0.0, "c2", "b4", "b1x1"},
        {0.0, 0.5, "c2", "b4", "b1x1"},
        {INFINITY, INFINITY, "c3", "b1f2", "b3"},
        {INFINITY, 0.5, "c2f1", "b4f1", "b2x1"},
        {0.5, INFINITY, "c2f1", "b4f1", "b2x1"},
        {INFINITY, 0.0, "c2", "b1f1", "b2"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ss_frame *frame = block_on_ground(0.1, 0.0);
        frame->contacts.mu[0][0] = cases[k].u;
        frame->contacts.mu[0][1] = cases[k].v;
        ENSURE(laws_are("cone", frame, cases[k].cone));
        ENSURE(laws_are("stewart-trinkle", frame, cases[k].polygon));
        ENSURE(laws_are("box", frame, cases[k].box));
        ss_frame_destroy(frame);
    }
}

TEST(rolling_friction_makes_cones_of_five_where_there_are_two_tangents)
{
    ss_frame *frame = block_on_ground(0.1, 0.5);
    ENSURE(ss_frame_enable(frame, "contacts/mu_r", NULL));
    ENSURE(laws_are("cone", frame, "c3"));
    frame->contacts.mu_rolling[0] = 0.01;
    ENSURE(laws_are("cone", frame, "c5"));
    frame->contacts.mu[0][0] = 0.2;
    ENSURE(laws_are("cone", frame, "c5"));
    frame->contacts.mu[0][0] = 0.0;
    ENSURE(laws_are("cone", frame, "c2"));
    ENSURE(laws_are("cone form=descriptor", frame, "f6c2"));
    ss_frame_destroy(frame);
}

TEST(a_planar_frame_has_planar_cones_and_two_directions)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, NULL);
    ss_frame_set_planar_body(frame, 0, 2.0, 0.5, (double[3]){0, 1, 0}, (double[3]){1, 0, 0},
                             (double[3]){0, -2, 0});
    frame->contacts.pair[0][1] = 0;
    set_vector(frame->contacts.normal[0], 0.0, 1.0, 0.0);
    frame->contacts.mu[0][0] = frame->contacts.mu[0][1] = 0.5;
    ENSURE(laws_are("cone", frame, "c2"));
    ENSURE(laws_are("stewart-trinkle directions=16", frame, "b4"));
    ENSURE(laws_are("box", frame, "b1x1"));
    frame->bodies.velocity[0][2] = 0.1; // now it leaves the plane
    ENSURE(laws_are("cone", frame, "c3"));
    ENSURE(laws_are("stewart-trinkle directions=16", frame, "b18"));
    ss_frame_destroy(frame);
}

/* ---- forms ------------------------------------------------------------------------------------------ */

/* Both problems with their free unknowns eliminated are one and the same. */
static bool reduce_to_the_same(const char *first, const char *second, const ss_frame *frame)
{
    method methods[2] = {method_of(first), method_of(second)};
    ss_problem *problems[2] = {0};
    ss_elimination *reduced[2] = {0};
    double worst = 0.0;
    bool good = true;
    for (int k = 0; k < 2 && good; k++) {
        problems[k] = assemble(&methods[k], frame);
        good = problems[k] && ss_problem_need_matrix(problems[k], NULL);
        reduced[k] = good ? ss_problem_eliminate_free(problems[k], NULL) : NULL;
        good = reduced[k] != NULL;
    }
    const ss_problem *a = good ? ss_elimination_problem(reduced[0]) : NULL,
                     *b = good ? ss_elimination_problem(reduced[1]) : NULL;
    good = good && a->size == b->size && a->block_count == b->block_count;
    for (int i = 0; good && i < a->size; i++) {
        worst = fmax(worst, fabs(a->b[i] - b->b[i]));
        good = a->lower[i] == b->lower[i] && a->upper[i] == b->upper[i] && a->partner[i] == b->partner[i];
        for (int j = 0; j < a->size; j++)
            worst = fmax(worst, fabs(ss_sparse_get(a->A, i, j) - ss_sparse_get(b->A, i, j)));
    }
    for (int k = 0; k < 2; k++) {
        ss_elimination_destroy(reduced[k]);
        ss_problem_destroy(problems[k]);
    }
    return good && worst < 1e-8; // elimination adds 1e-10 of the diagonal to what it solves for
}

TEST(velocities_as_unknowns_change_nothing)
{
    ss_frame *frame = full_frame();
    ENSURE(reduce_to_the_same("cone", "cone form=descriptor", frame));
    ENSURE(reduce_to_the_same("convex", "convex form=descriptor", frame));
    ENSURE(reduce_to_the_same("stewart-trinkle", "stewart-trinkle form=mixed", frame));
    ss_frame_destroy(frame);
}

/* FCLIB's problem is a view of ours: the same numbers, in another order, after M has been inverted
 * by other code. */
TEST(cone_has_the_numbers_of_the_fclib_conversion)
{
    ss_frame *frame = plain_frame();
    for (int c = 0; c < CONTACTS; c++) frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.3;
    frame->constraints.bounds[3][0] = -INFINITY, frame->constraints.bounds[3][1] = INFINITY;
    method m = method_of("cone");
    ss_assembly *assembly = assembled(&m, frame, NULL, NULL);
    ENSURE(assembly != NULL);
    ss_cone *cone = ss_assembly_cone(assembly, &(ss_cone_wish){.form = SS_CONE_GLOBAL}, "", NULL, NULL);
    ss_assembly_destroy(assembly);
    ss_problem *theirs = cone ? ss_problem_from_cone(cone, NULL) : NULL;
    ss_problem *ours = assemble(&m, frame);
    ENSURE(theirs && ours && ss_problem_need_matrix(ours, NULL));
    ENSURE_INT(ours->size, theirs->size);
    int n = ours->size;
    for (int i = 0; i < n; i++) {
        int to_i = (i + n - ROWS) % n; // joints first here, last there
        // tolerance: rounding in sums of numbers of size 1 to 10
        ENSURE_NEAR(ours->b[i], theirs->b[to_i], 1e-13);
        for (int j = 0; j < n; j++) {
            int to_j = (j + n - ROWS) % n;
            ENSURE_NEAR(ss_sparse_get(ours->A, i, j), ss_sparse_get(theirs->A, to_i, to_j), 1e-13);
        }
    }
    ss_problem_destroy(ours);
    ss_problem_destroy(theirs);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

/* ---- there and back --------------------------------------------------------------------------------- */

static bool same_numbers(const double *a, const double *b, int count, double tolerance)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(a[i] - b[i]) <= tolerance)) return false;
    }
    return true;
}

TEST(a_guess_from_an_answer_recovers_that_answer)
{
    ss_frame *frame = full_frame();
    ENSURE(frame != NULL);
    ss_random random = ss_random_start(7, 3);
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ss_problem *problem = assemble(&m, frame);
        double *x = random_vector(&random, problem->size, 0, 1),
               *guess = random_vector(&random, problem->size, 5, 6);
        ss_answer *first = ss_answer_create(frame, true, NULL), *second = ss_answer_create(frame, true, NULL);
        ENSURE(recover_by(&m, frame, x, first));
        ENSURE(guess_by(&m, frame, first, guess));
        ENSURE(recover_by(&m, frame, guess, second));
        // tolerance: a few operations on numbers of size 1 to 10
        ENSURE(same_numbers(first->velocity[0], second->velocity[0], 6 * BODIES, 1e-12));
        ENSURE(same_numbers(first->row_impulse, second->row_impulse, ROWS, 0.0));
        ENSURE(same_numbers(first->normal_impulse, second->normal_impulse, CONTACTS, 0.0));
        ENSURE(same_numbers(first->friction_impulse[0], second->friction_impulse[0], 3 * CONTACTS, 1e-13));
        ENSURE(same_numbers(first->rolling_impulse[0], second->rolling_impulse[0], 3 * CONTACTS, 1e-13));
        ss_answer_destroy(first);
        ss_answer_destroy(second);
        ss_release(x);
        ss_release(guess);
        ss_problem_destroy(problem);
    }
    ss_frame_destroy(frame);
}

TEST(a_guess_on_the_polygon_has_no_negative_part)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    ss_answer *answer = ss_answer_create(frame, false, NULL);
    answer->normal_impulse[0] = 1.0;
    for (int n = 3; n <= 9; n++) {
        char words[64];
        snprintf(words, sizeof words, "stewart-trinkle directions=%d", n);
        method m = method_of(words);
        ss_problem *problem = assemble(&m, frame);
        double x[16];
        for (int angle = 0; angle < 360; angle += 15) {
            double radians = angle * acos(-1.0) / 180.0;
            set_vector(answer->friction_impulse[0], 0.3 * cos(radians), 0.3 * sin(radians), 0.0);
            ENSURE(guess_by(&m, frame, answer, x));
            for (int i = 0; i < problem->size; i++) ENSURE(x[i] >= 0.0);
        }
        ss_problem_destroy(problem);
    }
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* ---- who takes part --------------------------------------------------------------------------------- */

TEST(bodies_asleep_count_as_the_world)
{
    ss_frame *frame = full_frame(), *other = full_frame();
    ENSURE(frame && other);
    frame->contacts.pair[2][1] = DEAD; // between live body 1 and the one asleep
    other->contacts.pair[2][1] = other->contacts.pair[4][1] = SS_WORLD;
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ss_problem *a = assemble(&m, frame), *b = assemble(&m, other);
        ENSURE(a && b && a->size == b->size);
        ENSURE(ss_problem_need_matrix(a, NULL) && ss_problem_need_matrix(b, NULL));
        ENSURE(same_numbers(a->b, b->b, a->size, 0.0));
        ENSURE(same_numbers(a->A->value, b->A->value, ss_sparse_nonzeros(a->A), 0.0));
        ss_problem_destroy(a);
        ss_problem_destroy(b);
    }
    ss_frame_destroy(frame);
    ss_frame_destroy(other);
}

TEST(what_touches_no_live_body_is_left_out)
{
    ss_frame *frame = full_frame();
    for (int b = 0; b < BODIES; b++) frame->bodies.state[b] = 0;
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ss_problem *problem = assemble(&m, frame);
        ss_answer *answer = ss_answer_create(frame, true, NULL);
        ENSURE(problem != NULL);
        ENSURE_INT(problem->size, 0);
        answer->row_impulse[0] = answer->normal_impulse[0] = 3.0; // left over from earlier
        ENSURE(recover_by(&m, frame, NULL, answer));
        ENSURE(same_numbers(answer->velocity[0], frame->bodies.velocity[0], 6 * BODIES, 0.0));
        ENSURE_NEAR(answer->row_impulse[0], 0.0, 0.0);
        ENSURE_NEAR(answer->normal_impulse[0], 0.0, 0.0);
        ss_answer_destroy(answer);
        ss_problem_destroy(problem);
    }
    ss_frame_destroy(frame);
}

TEST(without_contacts_a_body_keeps_its_free_velocity)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 0, NULL);
    frame->h = 0.1;
    set_ball(frame, 0, 2.0, 4.0);
    set_vector(frame->bodies.velocity[0], 1.0, 2.0, 3.0);
    set_vector(frame->bodies.force[0], 0.0, 0.0, -2.0 * GRAVITY);
    set_vector(frame->bodies.force[0] + 3, 0.0, 8.0, 0.0);
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ss_problem *problem = assemble(&m, frame);
        ss_answer *answer = ss_answer_create(frame, false, NULL);
        double x[6] = {0};
        ENSURE(problem && recover_by(&m, frame, x, answer));
        ENSURE_NEAR(answer->velocity[0][2], 3.0 - 0.1 * GRAVITY, 1e-15);
        ENSURE_NEAR(answer->velocity[0][4], 0.1 * 8.0 / 4.0, 1e-16);
        ss_answer_destroy(answer);
        ss_problem_destroy(problem);
    }
    ss_frame_destroy(frame);
}

TEST(a_contact_of_a_body_with_itself_is_refused_by_name)
{
    ss_frame *frame = full_frame();
    ss_error err = {0};
    frame->contacts.pair[3][0] = frame->contacts.pair[3][1] = 1;
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        ENSURE(ss_problem_from_frame(frame, m.formulation, m.options, &err) == NULL);
        ENSURE_INT(err.code, SS_ERROR_INPUT);
        ENSURE_CONTAINS(err.message, "contacts/pairs[3]");
    }
    ss_frame_destroy(frame);
}

/* ---- units and axes --------------------------------------------------------------------------------- */

/* The same frame with lengths in units of 1/2 m, masses of 1/4 kg and times of 1/2 s: numbers 2, 4, 2
 * times as large. */
static void change_units(ss_frame *frame)
{
    const double length = 2, mass = 4, time = 2, force = mass * length / (time * time);
    frame->h *= time;
    for (int b = 0; b < BODIES; b++) {
        frame->bodies.mass[b] *= mass;
        for (int i = 0; i < 9; i++) frame->bodies.inertia[b][i] *= mass * length * length;
        for (int i = 0; i < 3; i++) {
            frame->bodies.position[b][i] *= length;
            frame->bodies.velocity[b][i] *= length / time;
            frame->bodies.velocity[b][3 + i] /= time;
            frame->bodies.force[b][i] *= force;
            frame->bodies.force[b][3 + i] *= force * length;
        }
    }
    for (int r = 0; r < ROWS; r++) { // rows of lengths
        frame->constraints.violation[r] *= length;
        frame->constraints.time_derivative[r] *= length / time;
        frame->constraints.regularization[r] /= mass;
        for (int k = 0; k < 2; k++) frame->constraints.bounds[r][k] *= force;
        for (int k = 0; k < 3; k++) {
            frame->constraints.jacobian[r][3 + k] *= length;
            frame->constraints.jacobian[r][9 + k] *= length;
        }
    }
    for (int i = 0; i < frame->constraints.further_count; i++)
        for (int k = 0; k < 3; k++) frame->constraints.further_jacobian[i][3 + k] *= length;
    for (int c = 0; c < CONTACTS; c++) {
        frame->contacts.gap[c] *= length;
        frame->contacts.compliance[c] /= mass;
        frame->contacts.damping[c] *= mass / time;
        frame->contacts.adhesion[c] *= force;
        frame->contacts.mu_rolling[c] *= length;
        frame->contacts.mu_torsion[c] *= length;
        for (int k = 0; k < 3; k++) frame->contacts.point[c][k] *= length;
        for (int k = 0; k < 6; k++) frame->contacts.lever_arm[c][k] *= length;
    }
}

TEST(units_of_powers_of_two_change_no_digit_of_the_matrix)
{
    static const char *const methods[] = {"box", "cone", "convex", "frictionless"};
    ss_frame *frame = full_frame(), *other = full_frame();
    change_units(other);
    for (int c = 0; c < CONTACTS; c++) {
        frame->contacts.mu_rolling[c] = other->contacts.mu_rolling[c] = 0.0;
        frame->contacts.mu_torsion[c] = other->contacts.mu_torsion[c] = 0.0;
    }
    for (int k = 0; k < 4;
         k++) { // rolling and spinning rows have another unit, and Stewart-Trinkle a row of pure numbers
        method m = method_of(methods[k]);
        ss_problem *a = assemble(&m, frame), *b = assemble(&m, other);
        ENSURE(a && b && ss_problem_need_matrix(a, NULL) && ss_problem_need_matrix(b, NULL));
        ENSURE_INT(ss_sparse_nonzeros(a->A), ss_sparse_nonzeros(b->A));
        for (int i = 0; i < ss_sparse_nonzeros(a->A); i++)
            ENSURE_NEAR(b->A->value[i], a->A->value[i] / 4, 0.0);
        for (int i = 0; i < a->size; i++) {
            ENSURE_NEAR(b->b[i], a->b[i], 0.0); // speeds are 2/2 times as large
            ENSURE(b->upper[i] == 4 * a->upper[i] && b->lower[i] == 4 * a->lower[i]);
        }
        ss_problem_destroy(a);
        ss_problem_destroy(b);
    }
    ss_frame_destroy(frame);
    ss_frame_destroy(other);
}

TEST(turning_the_world_changes_no_problem)
{
    ss_frame *frame = full_frame(), *other = full_frame();
    ss_mat3 turn = ss_quat_to_matrix(ss_quat_normalise((ss_quat){0.3, -0.5, 0.7, 0.1}));
    ENSURE(turn_frame(other, (const double(*)[3])turn.m));
    for (int k = 0; k < METHODS; k++) {
        if (strstr(every_method[k], "form=")) continue; // velocities turn, of course
        method m = method_of(every_method[k]);
        ss_problem *a = assemble(&m, frame), *b = assemble(&m, other);
        ENSURE(a && b && a->size == b->size);
        ENSURE(ss_problem_need_matrix(a, NULL) && ss_problem_need_matrix(b, NULL));
        ENSURE(same_numbers(a->b, b->b, a->size, 1e-12)); // tolerance: rounding of the rotation
        ENSURE(same_numbers(a->A->value, b->A->value, ss_sparse_nonzeros(a->A), 1e-12));
        ss_problem_destroy(a);
        ss_problem_destroy(b);
    }
    ss_frame_destroy(frame);
    ss_frame_destroy(other);
}

/* ---- what is told ----------------------------------------------------------------------------------- */

static size_t losses_at(const char *words, const ss_frame *frame, const char *place)
{
    method m = method_of(words);
    ss_findings notes = {0};
    ss_assembly_destroy(assembled(&m, frame, &notes, NULL));
    size_t count = 0;
    for (size_t k = 0; k < notes.count; k++) {
        count += notes.items[k].kind == SS_FINDING_LOSS && strcmp(notes.items[k].place, place) == 0;
    }
    ss_findings_free(&notes);
    return count;
}

TEST(what_a_formulation_leaves_out_is_told)
{
    ss_frame *frame = full_frame();
    ENSURE_INT(losses_at("cone", frame, "contacts/mu_s"), 1);
    ENSURE_INT(losses_at("cone", frame, "contacts/restitution"), 1);
    ENSURE_INT(losses_at("cone gap_term=restitution", frame, "contacts/restitution"), 0);
    ENSURE_INT(losses_at("cone gap_term=paoli-schatzman", frame, "contacts/restitution"), 0);
    ENSURE_INT(losses_at("cone", frame, "contacts/mu_r"), 1); // contact 1: infinite along one tangent
    frame->contacts.mu[1][0] = 0.5;
    ENSURE_INT(losses_at("cone", frame, "contacts/mu_r"), 0);
    ENSURE_INT(losses_at("box", frame, "contacts/mu_r"), 1);
    ENSURE_INT(losses_at("cone", frame, "contacts/mu_k"), 0);
    ENSURE_INT(losses_at("cone mu_max=0.1", frame, "contacts/mu_k"), 1);
    ENSURE_INT(losses_at("stewart-trinkle", frame, "contacts/mu_r"), 1);
    ENSURE_INT(losses_at("frictionless", frame, "contacts/mu_k"), 1);
    // far ones, and gaps that do not count
    ENSURE_INT(losses_at("anitescu-potra", frame, "contacts/gaps"), 2);
    ss_frame_destroy(frame);
    frame = plain_frame();
    for (int c = 0; c < CONTACTS; c++) frame->contacts.mu[c][0] = 0.3;
    method m = method_of("cone");
    ss_findings notes = {0};
    ss_assembly_destroy(assembled(&m, frame, &notes, NULL));
    ENSURE_INT(notes.count, 0);
    ss_findings_free(&notes);
    ss_frame_destroy(frame);
}

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
    ss_frame *frame = full_frame();
    ss_answer *answer = ss_answer_create(frame, true, NULL);
    for (int k = 0; k < METHODS; k++) {
        method m = method_of(every_method[k]);
        for (int n = 1;; n++) {
            double x[200] = {0};
            ss_error err = {0};
            faults_start(n);
            ss_assembly *assembly = assembled(&m, frame, NULL, &err);
            bool good = assembly && ss_assembly_coulomb(assembly, &err);
            if (good) {
                ss_assembly_recover(assembly, x, answer);
                ss_assembly_guess(assembly, answer, x);
            }
            ss_assembly_destroy(assembly);
            long alive = faults.live;
            bool failed = faults_stop();
            ENSURE_INT(alive, 0);
            ENSURE(good != failed);
            if (failed) ENSURE_INT(err.code, SS_ERROR_RESOURCES);
            if (!failed) break;
        }
    }
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

TEST_MAIN
