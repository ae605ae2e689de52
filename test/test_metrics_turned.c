/* A scene that lies in a plane is judged the same wherever that plane is: all metrics of one wrong answer,
 * before and after the world was turned. */
#include <stickslip/metrics.h>
#include <stickslip/stickslip.h>

#include "kit.h"
#include "mechanics.h"

#include <math.h>

enum { BODIES = 2, CONTACTS = 4, METRICS = 64 };

/* A plank on two points of a belt, and on it a box that is pushed and guided by a joint row. The contacts
 * have friction, little friction, none, and different friction along the two tangents. */
static ss_frame *planar_scene(void)
{
    static const double mu[CONTACTS][2] = {{0.3, 0.3}, {0.05, 0.05}, {0.0, 0.0}, {0.4, 0.7}};
    static const double at[CONTACTS][2] = {{-0.8, 0.0}, {0.7, 0.0}, {-0.1, 0.2}, {0.3, 0.2}}; // m
    ss_frame *frame = ss_frame_create(BODIES, 1, 1, CONTACTS, NULL);
    if (!frame || !ss_frame_enable(frame, "contacts/surface_velocities", NULL) ||
        !ss_frame_enable(frame, "contacts/t_u", NULL))
        return NULL;
    frame->h = 0.01;
    ss_frame_set_planar_body(frame, 0, 3.0, 0.9, (double[3]){0.0, 0.1, 0.0}, (double[3]){0.4, 0.0, 0.2},
                             (double[3]){5.0, -3.0 * GRAVITY, 0.5});
    ss_frame_set_planar_body(frame, 1, 1.5, 0.2, (double[3]){0.1, 0.45, 0.3}, (double[3]){-0.2, -0.1, 0.7},
                             (double[3]){-2.0, -1.5 * GRAVITY, 0.1});
    frame->constraints.pair[0][0] = SS_WORLD;
    frame->constraints.pair[0][1] = 1;
    frame->constraints.jacobian[0][6] = 1.0;
    frame->constraints.jacobian[0][11] = -0.35;
    for (int c = 0; c < CONTACTS; c++) {
        double lean = c < 2 ? 0.0 : 0.2 * (c - 2); // rad
        frame->contacts.pair[c][0] = c < 2 ? SS_WORLD : 0;
        frame->contacts.pair[c][1] = c < 2 ? 0 : 1;
        set_vector(frame->contacts.normal[c], sin(lean), cos(lean), 0.0);
        // the tangent in the plane is the first one or the second
        set_vector(frame->contacts.tangent[c], c % 2 ? 0.0 : cos(lean), c % 2 ? 0.0 : -sin(lean), c % 2);
        set_vector(frame->contacts.point[c], at[c][0], at[c][1], 0.0);
        set_vector(frame->contacts.surface_velocity[c], c < 2 ? 0.3 : 0.0, 0.0, 0.0);
        frame->contacts.gap[c] = 0.001 * (c - 1);
        frame->contacts.mu[c][0] = mu[c][0];
        frame->contacts.mu[c][1] = mu[c][1];
    }
    return frame;
}

/* Impulses that are wrong, and velocities that belong to them; `invented`: or that do not quite. */
static ss_answer *wrong_answer(ss_assembly *assembly, const ss_frame *frame, double factor, double invented)
{
    static const double normal[CONTACTS] = {0.2, 0.15, -0.02, 0.12},
                        along[CONTACTS] = {0.05, 0.01, 0.0, -0.06};
    ss_answer *answer = ss_answer_create(frame, false, NULL);
    ss_problem *problem = ss_assembly_coulomb(assembly, NULL);
    if (!answer || !problem || problem->size > 32) return NULL;
    double x[32];
    answer->row_impulse[0] = 0.03 * factor;
    for (int c = 0; c < CONTACTS; c++) {
        const double *n = frame->contacts.normal[c];
        answer->normal_impulse[c] = normal[c] * factor;
        set_vector(answer->friction_impulse[c], n[1] * along[c] * factor, -n[0] * along[c] * factor, 0.0);
    }
    ss_assembly_guess_coulomb(assembly, answer, x);
    ss_assembly_recover_coulomb(assembly, x, answer);
    for (int b = 0; b < BODIES; b++) {
        answer->velocity[b][0] += invented;
        answer->velocity[b][5] -= 2.0 * invented;
    }
    return answer;
}

static void turn_answer(const double R[3][3], ss_answer *answer)
{
    for (int b = 0; b < BODIES; b++) {
        for (int k = 0; k < 6; k += 3) turn_vector(R, answer->velocity[b] + k);
    }
    for (int c = 0; c < CONTACTS; c++) turn_vector(R, answer->friction_impulse[c]);
}

static bool judge_under(const char *formulation, const ss_frame *frame, const ss_answer *answer,
                        const ss_answer *reference, ss_metric_value *values)
{
    ss_assembly *assembly = ss_assembly_create(ss_formulation_find(formulation), NULL, NULL);
    bool good = assembly && ss_assemble(assembly, frame, NULL, NULL) &&
                ss_judge(&(ss_case){.assembly = assembly, .answer = answer, .reference = reference}, values,
                         NULL, NULL);
    ss_assembly_destroy(assembly);
    return good;
}

/* R = turn about a unit axis, Rodrigues. */
static void rotation(const double axis[3], double angle, double R[3][3])
{
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double cross = i == j ? 0.0 : (j == (i + 1) % 3 ? -axis[(i + 2) % 3] : axis[(i + 1) % 3]);
            R[i][j] = (i == j ? c : 0.0) + s * cross + (1.0 - c) * axis[i] * axis[j];
        }
    }
}

TEST(turning_the_world_changes_no_metric_of_a_planar_scene)
{
    static const struct {
        double axis[3], angle;
    } turns[] = {{{1, 0, 0}, 1.5707963267948966},
                 {{0, 1, 0}, 1.5707963267948966},
                 {{0, 0, 1}, 0.4}, // stays in z = const
                 {{0.6, 0.0, 0.8}, 0.7},
                 {{2.0 / 3, -1.0 / 3, 2.0 / 3}, 2.5}};
    // A turn rounds every number of the frame; velocities are differences of numbers ten times as large.
    static const double rounding = 1e-13;
    ss_frame *plane = planar_scene();
    ss_assembly *assembly = ss_assembly_create(ss_formulation_find("cone"), NULL, NULL);
    ENSURE(plane && ss_frame_is_planar(plane) && ss_assemble(assembly, plane, NULL, NULL));
    ss_answer *answer = wrong_answer(assembly, plane, 1.0, 0.003);
    ss_answer *reference = wrong_answer(assembly, plane, 0.8, 0.0);
    ENSURE(answer && reference && ss_metric_count() <= METRICS);

    ss_metric_value before[METRICS], after[METRICS];
    ENSURE(judge_under("cone", plane, answer, reference, before));
    ENSURE(before[ss_metric_index("energy")].value > 1e-3); // J: something is wrong
    for (size_t t = 0; t < sizeof turns / sizeof *turns; t++) {
        static const char *const formulations[] = {"cone", "box", "stewart-trinkle"};
        double R[3][3];
        rotation(turns[t].axis, turns[t].angle, R);
        ss_frame *turned = planar_scene();
        ENSURE(turn_frame(turned, R) && ss_frame_is_planar(turned) == (t == 2));
        turn_answer(R, answer);
        turn_answer(R, reference);
        for (int f = 0; f < 3; f++) { // whatever was solved, the measure is the same
            ENSURE(judge_under(formulations[f], turned, answer, reference, after));
            for (int m = 0; m < ss_metric_count(); m++) {
                ENSURE(after[m].applies == before[m].applies);
                if (!before[m].applies) continue;
                double wide = fmax(1.0, fabs(before[m].value));
                if (!(fabs(after[m].value - before[m].value) <= rounding * wide))
                    KIT_FAIL("turn %zu, %s: %s is %.17g, was %.17g", t, formulations[f],
                             ss_metric_at(m)->name, after[m].value, before[m].value);
            }
        }
        double back[3][3];
        for (int i = 0; i < 9; i++) back[i / 3][i % 3] = R[i % 3][i / 3];
        turn_answer(back, answer);
        turn_answer(back, reference);
        ss_frame_destroy(turned);
    }
    ss_answer_destroy(answer);
    ss_answer_destroy(reference);
    ss_assembly_destroy(assembly);
    ss_frame_destroy(plane);
}

/* FCLIB gets both tangents of every contact as well, so that the converted answer is worth the same. */
TEST(a_planar_frame_and_its_fclib_problem_have_the_same_energy_error)
{
    static const char *const names[] = {"energy", "natural_map", "natural_map_absolute",
                                        "fischer_burmeister"};
    ss_frame *frame = planar_scene();
    ss_assembly *assembly = ss_assembly_create(ss_formulation_find("cone"), NULL, NULL);
    frame->contacts.mu[3][0] = frame->contacts.mu[3][1] = 0.4; // FCLIB has one coefficient
    ENSURE(ss_assemble(assembly, frame, NULL, NULL));
    ss_answer *answer = wrong_answer(assembly, frame, 1.0, 0.0);
    ss_cone *cone = ss_assembly_cone(assembly, &(ss_cone_wish){.form = SS_CONE_LOCAL}, "", NULL, NULL);
    ss_cone_point point;
    ENSURE(answer && cone && ss_assembly_cone_point(assembly, cone, answer, &point, NULL));
    ENSURE_INT(cone->dimension, 3);
    ss_problem *problem = ss_problem_from_cone(cone, NULL);
    double x[32] = {0};
    ENSURE(problem && problem->size == 3 * CONTACTS + 1);
    memcpy(x, point.r, 3 * CONTACTS * sizeof *x);
    x[3 * CONTACTS] = point.l[0];

    ss_metric_value there[METRICS], here[METRICS];
    ENSURE(judge_under("cone", frame, answer, NULL, here));
    ENSURE(ss_judge(&(ss_case){.problem = problem, .x = x}, there, NULL, NULL));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        int m = ss_metric_index(names[k]);
        ENSURE(here[m].applies && there[m].applies && here[m].value > 0.0);
        ENSURE_NEAR(there[m].value, here[m].value, 1e-12 * here[m].value); // another order of the same sums
    }
    ss_problem_destroy(problem);
    ss_cone_point_free(&point);
    ss_cone_destroy(cone);
    ss_answer_destroy(answer);
    ss_assembly_destroy(assembly);
    ss_frame_destroy(frame);
}

TEST_MAIN
