/* From a frame to its answer in one line, and the frames of elementary mechanics. */
#ifndef STICKSLIP_TEST_MECHANICS_H
#define STICKSLIP_TEST_MECHANICS_H

#include "conformance/frames.h"
#include "rules.h"

#include <stickslip/formulation.h>
#include <stickslip/solver.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a formulation with its options ----------------------------------------------------------------- */

typedef struct method {
    const ss_formulation *formulation;
    double options[32]; /* room and alignment for any option struct */
} method;

/* "cone form=descriptor gamma=0.5": a name and assignments; formulation is NULL when a word
 * makes no sense. */
static inline method method_of(const char *words)
{
    char text[200];
    snprintf(text, sizeof text, "%s", words);
    method m = {0};
    m.formulation = ss_formulation_find(strtok(text, " "));
    if (!m.formulation || m.formulation->options_size > sizeof m.options) return (method){0};
    ss_options_defaults(m.formulation->options, m.options);
    for (char *word; (word = strtok(NULL, " "));) {
        if (!ss_options_assign(m.formulation->options, m.options, word, NULL)) return (method){0};
    }
    return m;
}

static inline ss_problem *assemble(const method *m, const ss_frame *frame)
{
    return m->formulation ? ss_problem_from_frame(frame, m->formulation, m->options, NULL) : NULL;
}

/* The formulation at work on the frame; NULL when it cannot be. */
static inline ss_assembly *assembled(const method *m, const ss_frame *frame, ss_findings *notes,
                                     ss_error *err)
{
    ss_assembly *assembly = ss_assembly_create(m->formulation, m->options, err);
    if (assembly && ss_assemble(assembly, frame, notes, err)) return assembly;
    ss_assembly_destroy(assembly);
    return NULL;
}

/* What x means, and what an answer is in terms of x; false when the frame cannot be assembled. */
static inline bool recover_by(const method *m, const ss_frame *frame, const double *x, ss_answer *answer)
{
    ss_assembly *assembly = assembled(m, frame, NULL, NULL);
    if (assembly) ss_assembly_recover(assembly, x, answer);
    ss_assembly_destroy(assembly);
    return assembly != NULL;
}

static inline bool guess_by(const method *m, const ss_frame *frame, const ss_answer *answer, double *x)
{
    ss_assembly *assembly = assembled(m, frame, NULL, NULL);
    if (assembly) ss_assembly_guess(assembly, answer, x);
    ss_assembly_destroy(assembly);
    return assembly != NULL;
}

/* ---- solving ---------------------------------------------------------------------------------------- */

/* Tries what there is. Small problems are solved to rounding: the sum of all residuals below 1e-12.
 * Free unknowns of an unsymmetric problem are eliminated, which costs digits:
 * ss_problem_eliminate_free adds 1e-10. */
static inline bool solve_problem(ss_problem *problem, double *x)
{
    static const char *const names[] = {"nsgs", "lemke", "pgs", "jacobi"};
    bool eliminated = !problem->symmetric && ss_problem_laws(problem) & SS_LAW_FREE;
    const char *stop = eliminated ? "natural_residual<1e-9" : "natural_residual<1e-12";
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const ss_solver *solver = ss_solver_find(names[k]);
        if (!solver || ss_solver_refusal(solver, problem)) continue;
        ss_run_options run = {.max_iterations = 200000, .stop = stop_rule(stop), .seed = 1};
        ss_solve_result result;
        memset(x, 0, (size_t)problem->size * sizeof *x);
        bool good = ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &run}, x,
                             &result, NULL);
        ss_solve_result_free(&result);
        if (good && result.status == SS_CONVERGED) return true;
    }
    return false;
}

/* NULL when anything goes wrong; the caller destroys the answer. */
static inline ss_answer *answer_by(const method *m, const ss_frame *frame)
{
    ss_assembly *assembly = m->formulation ? assembled(m, frame, NULL, NULL) : NULL;
    ss_problem *problem = assembly ? ss_assembly_problem(assembly) : NULL;
    ss_answer *answer = problem ? ss_answer_create(frame, ss_frame_has_moments(frame), NULL) : NULL;
    double *x = problem ? ss_allocate((size_t)problem->size, sizeof *x) : NULL;
    if (answer && x && solve_problem(problem, x)) {
        ss_assembly_recover(assembly, x, answer);
    } else {
        ss_answer_destroy(answer);
        answer = NULL;
    }
    ss_release(x);
    ss_assembly_destroy(assembly);
    return answer;
}

static inline ss_answer *answer_of(const char *words, const ss_frame *frame)
{
    method m = method_of(words);
    return answer_by(&m, frame);
}

/* Solves and takes the velocities over; false when there is no answer. */
static inline bool step_by(const char *words, ss_frame *frame)
{
    ss_answer *answer = answer_of(words, frame);
    if (!answer) return false;
    for (int b = 0; b < frame->bodies.count; b++) {
        memcpy(frame->bodies.velocity[b], answer->velocity[b], sizeof answer->velocity[b]);
    }
    ss_answer_destroy(answer);
    return true;
}

/* ---- frames ----------------------------------------------------------------------------------------- */

#define GRAVITY SS_MECHANICS_GRAVITY

static inline void set_ball(ss_frame *frame, int body, double mass, double moment)
{
    ss_mechanics_ball(frame, body, mass, moment);
}

static inline void set_vector(double *to, double x, double y, double z)
{
    to[0] = x, to[1] = y, to[2] = z;
}

static inline ss_frame *block_on_ground(double slope, double mu)
{
    return ss_mechanics_block(slope, mu, 0.0, NULL);
}

/* A ball of 3 kg and radius 0.2 on the ground. */
static inline ss_frame *ball_on_ground(double mu)
{
    ss_frame *frame = block_on_ground(0.0, mu);
    if (!frame) return NULL;
    set_ball(frame, 0, 3.0, 0.4 * 3.0 * 0.2 * 0.2);
    set_vector(frame->bodies.force[0], 0.0, 0.0, -3.0 * GRAVITY);
    set_vector(frame->contacts.point[0], 0.0, 0.0, -0.2);
    return frame;
}

/* One body of 2 kg and a joint of `rows` equations between the world and it, all zero. */
static inline ss_frame *body_on_joint(int rows)
{
    ss_frame *frame = ss_frame_create(1, 1, rows, 0, NULL);
    if (!frame) return NULL;
    frame->h = 0.01;
    set_ball(frame, 0, 2.0, 0.5);
    frame->constraints.pair[0][1] = 0;
    return frame;
}

static inline void turn_vector(const double R[3][3], double *v)
{
    ss_mechanics_turn_vector(R, v);
}

static inline bool turn_frame(ss_frame *frame, const double R[3][3])
{
    return ss_mechanics_turn(frame, R, NULL);
}

#endif
