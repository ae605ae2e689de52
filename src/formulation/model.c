#include "formulation/model.h"

#include <string.h>

/* ---- assemble --------------------------------------------------------------------------------------- */

static int64_t count_unknowns(const ss_contact_model *model, const ss_rows *rows, const void *options,
                              int64_t *blocks)
{
    int64_t total = 0;
    *blocks = 0;
    for (int c = 0; c < rows->contact_count; c++) {
        int own_blocks = 0;
        total += model->unknowns(&rows->contact[c], options, &own_blocks);
        *blocks += own_blocks;
    }
    return total;
}

static void push_contacts(const ss_contact_model *model, ss_rows *rows, const void *options)
{
    for (int c = 0; c < rows->contact_count; c++) {
        ss_contact_impulse impulse = model->read(rows, &rows->contact[c], options, NULL);
        ss_rows_push_contact(rows, &rows->contact[c], &impulse);
    }
    ss_rows_move(rows);
}

/* store NULL: the problem is the caller's */
static ss_problem *assemble_rows(const ss_contact_model *model, ss_rows *rows, const void *options,
                                 ss_problem_store *store, ss_error *err)
{
    int64_t blocks, unknowns = count_unknowns(model, rows, options, &blocks);
    ss_assembly assembly;
    if (model->traits & SS_MODELS_FORCES) push_contacts(model, rows, options);
    if (!ss_assembly_start(store, rows, unknowns, blocks, &assembly, err)) return NULL;
    for (int c = 0; c < rows->contact_count; c++) model->add(rows, &rows->contact[c], options, &assembly);
    return ss_assembly_finish(&assembly);
}

ss_problem *ss_model_assemble(const ss_contact_model *model, const ss_frame *frame, const void *options,
                              ss_findings *notes, ss_error *err)
{
    ss_rows rows = {0};
    if (!ss_rows_make(frame, options, &rows, err)) return NULL;
    ss_problem *problem = assemble_rows(model, &rows, options, NULL, err);
    if (problem) ss_model_tell(model, &rows, options, notes);
    ss_rows_free(&rows);
    return problem;
}

/* ---- recover ---------------------------------------------------------------------------------------- */

/* Velocities in front of the rows: none, or those of all live bodies. A problem of another frame is found out by its
 * size. */
static bool find_rows(const ss_contact_model *model, const ss_rows *rows, const void *options,
                      const ss_problem *problem, int *velocities, ss_error *err)
{
    int64_t blocks, count = rows->joint_count + count_unknowns(model, rows, options, &blocks);
    int64_t surplus = problem->size - count, bodies = 6 * (int64_t)rows->body_count;
    *velocities = (int)surplus;
    return surplus == 0 || (surplus == bodies && !problem->bodies) ||
           ss_fail(err, SS_ERROR_USAGE,
                   "the problem was not made from this frame with these options: %d unknowns instead of %lld",
                   problem->size, (long long)count);
}

static void recover_rows(const ss_contact_model *model, ss_rows *rows, const void *options, const double *x,
                         ss_answer *answer)
{
    ss_rows_start_answer(answer);
    for (int r = 0; r < rows->joint_count; r++) ss_rows_add_joint(rows, &rows->joint[r], *x++, answer);
    for (int c = 0, blocks; c < rows->contact_count; c++) {
        const ss_contact_row *contact = &rows->contact[c];
        ss_contact_impulse impulse = model->read(rows, contact, options, x);
        ss_rows_add_contact(rows, contact, &impulse, answer);
        x += model->unknowns(contact, options, &blocks);
    }
    ss_rows_end_answer(rows, answer);
}

bool ss_model_recover(const ss_contact_model *model, const ss_frame *frame, const void *options,
                      const ss_problem *problem, const double *x, ss_answer *answer, ss_error *err)
{
    ss_rows rows = {0};
    int velocities;
    if (!ss_rows_make(frame, options, &rows, err)) return false;
    bool good = find_rows(model, &rows, options, problem, &velocities, err);
    if (good) recover_rows(model, &rows, options, x + velocities, answer);
    ss_rows_free(&rows);
    return good;
}

/* ---- guess ------------------------------------------------------------------------------------------ */

static void take_velocities(ss_rows *rows, const ss_answer *answer)
{
    for (int b = 0; b < rows->frame->bodies.count; b++) {
        if (rows->body[b] >= 0)
            memcpy(rows->velocity[rows->body[b]], answer->velocity[b], sizeof answer->velocity[b]);
    }
}

static void guess_rows(const ss_contact_model *model, ss_rows *rows, const void *options,
                       const ss_answer *answer, double *x)
{
    for (int r = 0; r < rows->joint_count; r++) *x++ = answer->row_impulse[rows->joint[r].row];
    for (int c = 0, blocks; c < rows->contact_count; c++) {
        const ss_contact_row *contact = &rows->contact[c];
        ss_contact_impulse impulse = ss_contact_impulse_of(contact, answer);
        model->write(rows, contact, options, &impulse, x);
        x += model->unknowns(contact, options, &blocks);
    }
}

bool ss_model_guess(const ss_contact_model *model, const ss_frame *frame, const void *options,
                    const ss_problem *problem, const ss_answer *answer, double *x, ss_error *err)
{
    ss_rows rows = {0};
    int velocities;
    if (!ss_rows_make(frame, options, &rows, err)) return false;
    bool good = find_rows(model, &rows, options, problem, &velocities, err);
    if (good) {
        take_velocities(&rows, answer);
        if (velocities) memcpy(x, rows.velocity, (size_t)velocities * sizeof *x);
        guess_rows(model, &rows, options, answer, x + velocities);
    }
    ss_rows_free(&rows);
    return good;
}

/* ---- frame after frame ------------------------------------------------------------------------------ */

ss_problem *ss_session_assemble(ss_session *session, const ss_contact_model *model, const ss_frame *frame,
                                const void *options, ss_error *err)
{
    if (!ss_rows_make(frame, options, &session->rows, err)) return NULL;
    return assemble_rows(model, &session->rows, options, &session->store, err);
}

void ss_session_guess(ss_session *session, const ss_contact_model *model, const void *options,
                      const ss_answer *answer, double *x)
{
    take_velocities(&session->rows, answer);
    guess_rows(model, &session->rows, options, answer, x);
    ss_rows_let_go(&session->rows);
}

void ss_session_recover(ss_session *session, const ss_contact_model *model, const void *options,
                        const double *x, ss_answer *answer)
{
    recover_rows(model, &session->rows, options, x, answer);
    ss_rows_let_go(&session->rows);
}

void ss_session_free(ss_session *session)
{
    ss_rows_free(&session->rows);
    ss_problem_store_free(&session->store);
}
