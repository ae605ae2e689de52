/* A formulation at work on a frame: rows are made once, and problem, guess, answer and yardstick
 * come from them. */
#include "formulation/assembly.h"

#include "base/team.h"

#include <math.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------------- */

ss_assembly *ss_assembly_create(const ss_formulation *formulation, const void *options, ss_error *err)
{
    ss_assembly *assembly = ss_allocate(1, sizeof *assembly);
    void *copy = assembly ? ss_allocate(1, formulation->options_size) : NULL;
    if (!copy) {
        ss_release(assembly);
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options");
        return NULL;
    }
    if (options)
        memcpy(copy, options, formulation->options_size);
    else
        ss_options_defaults(formulation->options, copy);
    assembly->formulation = formulation;
    assembly->options = copy;
    if (ss_options_check(formulation->options, copy, err)) return assembly;
    ss_fail_in(err, "%s", formulation->name);
    ss_assembly_destroy(assembly);
    return NULL;
}

void ss_assembly_destroy(ss_assembly *assembly)
{
    if (!assembly) return;
    ss_problem_destroy(assembly->transformed);
    ss_own_free(&assembly->own);
    ss_problem_store_free(&assembly->judged_store);
    ss_problem_store_free(&assembly->coulomb_store);
    ss_problem_store_free(&assembly->store);
    ss_rows_free(&assembly->maximal_rows);
    ss_rows_free(&assembly->rows);
    ss_release(assembly->options);
    ss_release(assembly);
}

const ss_formulation *ss_assembly_formulation(const ss_assembly *assembly)
{
    return assembly->formulation;
}

void *ss_assembly_options(ss_assembly *assembly)
{
    return assembly->options;
}

/* ---- assemble --------------------------------------------------------------------------------------- */

/* What loops over the contacts of a model are given. */
typedef struct contact_loop {
    const ss_contact_model *model;
    const void *options;
    ss_rows *rows;
    const ss_problem_builder *builder; // behind the joints: for adding
    const ss_answer *answer;           // for guessing
    ss_answer *to;                     // for recovering
    double *x;                         // unknowns of the first contact on
} contact_loop;

static void count_unknowns(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const contact_loop *with = context;
    int64_t unknowns = 0, blocks = 0;
    for (int64_t c = begin; c < end; c++) {
        int own_blocks = 0;
        unknowns += with->model->unknowns(&with->rows->contact[c], with->options, &own_blocks);
        blocks += own_blocks;
    }
    int64_t *of_chunk = with->rows->start[begin / SS_ROWS_AT_ONCE + 1];
    of_chunk[0] = unknowns;
    of_chunk[1] = blocks;
}

/* Where the unknowns and blocks of each chunk of contacts begin, and at last how many there are. */
static const int64_t *find_starts(contact_loop *with)
{
    ss_rows *rows = with->rows;
    int chunks = (rows->contact_count + SS_ROWS_AT_ONCE - 1) / SS_ROWS_AT_ONCE;
    rows->start[0][0] = rows->start[0][1] = 0;
    ss_parallel_for(ss_rows_team(rows), rows->contact_count, SS_ROWS_AT_ONCE, count_unknowns, with);
    for (int k = 0; k < chunks; k++) {
        rows->start[k + 1][0] += rows->start[k][0];
        rows->start[k + 1][1] += rows->start[k][1];
    }
    return rows->start[chunks];
}

static void add_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const contact_loop *with = context;
    const int64_t *start = with->rows->start[begin / SS_ROWS_AT_ONCE];
    ss_problem_builder own = *with->builder;
    own.size = own.first += (int)start[0];
    own.blocks += (int)start[1];
    for (int64_t c = begin; c < end; c++)
        with->model->add(with->rows, &with->rows->contact[c], with->options, &own);
}

/* The problem of the rows under one model, in the memory of the store. */
static bool build(const ss_contact_model *model, ss_rows *rows, const void *options, ss_problem_store *store,
                  ss_error *err)
{
    contact_loop with = {.model = model, .options = options, .rows = rows};
    const int64_t *all = find_starts(&with);

    /* The impulses of a model of forces are known already: they are part of the free velocity. */
    bool forces = model->traits & SS_MODELS_FORCES;
    for (int c = 0; forces && c < rows->contact_count; c++) {
        ss_contact_impulse impulse = model->read(rows, &rows->contact[c], options, NULL);
        ss_rows_push_contact(rows, &rows->contact[c], &impulse);
    }
    if (forces) ss_rows_move(rows);

    ss_problem_builder builder;
    if (!ss_builder_start(store, rows, all[0], all[1], &builder, err)) return false;
    with.builder = &builder;
    ss_parallel_for(ss_rows_team(rows), rows->contact_count, SS_ROWS_AT_ONCE, add_range, &with);
    builder.size = builder.first += (int)all[0];
    builder.blocks += (int)all[1];
    if (!ss_builder_finish(&builder, err)) return false;
    if (forces) ss_rows_let_go(rows);
    return true;
}

bool ss_assemble(ss_assembly *assembly, const ss_frame *frame, ss_findings *notes, ss_error *err)
{
    const ss_formulation *formulation = assembly->formulation;
    const ss_contact_model *model = formulation->model;
    ss_problem_destroy(assembly->transformed);
    assembly->transformed = NULL;
    assembly->has_coulomb = assembly->has_judged = assembly->has_maximal_rows = false;

    /* By a model of the library, or by an author's functions: for one contact, or for the whole frame. */
    ss_rows *rows = &assembly->rows;
    static const double contact = 320.0, lines = 0.25, loops = 600.0; // ns in all loops; round trips
    int contacts = frame->contacts.count;
    rows->team = ss_team_for(assembly->team, contact * contacts, lines * contacts + loops, 0.0);
    if (!ss_rows_make(frame, assembly->options, rows, err)) return false;
    if (model) {
        if (model->prepare) model->prepare(rows, assembly->options);
        if (!build(model, rows, assembly->options, &assembly->store, err)) return false;
        if (model->transform &&
            !model->transform(frame, assembly->store.problem, assembly->options, &assembly->transformed, err))
            return false;
    } else if (formulation->contact) {
        if (!ss_own_ask(formulation, assembly->options, rows, &assembly->own, err) ||
            !ss_own_build(&assembly->own, rows, &assembly->store, err))
            return false;
    } else {
        assembly->transformed = formulation->assemble(formulation, assembly->options, frame, err);
        if (!assembly->transformed) return ss_fail_in(err, "formulation %s", formulation->name);
        if (!ss_own_check_problem(formulation, frame, assembly->transformed, err)) return false;
    }

    ss_model_note_losses(model ? model->traits : formulation->models, rows, assembly->options, notes);
    return true;
}

ss_problem *ss_assembly_problem(const ss_assembly *assembly)
{
    return assembly->transformed ? assembly->transformed : assembly->store.problem;
}

ss_problem *ss_problem_from_frame(const ss_frame *frame, const ss_formulation *formulation,
                                  const void *options, ss_error *err)
{
    ss_assembly *assembly = ss_assembly_create(formulation, options, err);
    ss_problem *problem = NULL;
    if (assembly && ss_assemble(assembly, frame, NULL, err)) {
        problem = ss_assembly_problem(assembly);
        if (assembly->transformed)
            assembly->transformed = NULL;
        else
            assembly->store.problem = NULL;
    }
    ss_assembly_destroy(assembly);
    return problem;
}

const ss_frame *ss_assembly_frame(const ss_assembly *assembly)
{
    return assembly->rows.frame;
}

const ss_step_options *ss_assembly_step(const ss_assembly *assembly)
{
    return assembly->options;
}

/* ---- the Coulomb problem ---------------------------------------------------------------------------- */

bool ss_assembly_is_coulomb(const ss_assembly *assembly)
{
    return assembly->formulation->model == &ss_coulomb_model;
}

ss_problem *ss_assembly_coulomb(ss_assembly *assembly, ss_error *err)
{
    if (ss_assembly_is_coulomb(assembly)) return assembly->store.problem;
    if (!assembly->has_coulomb)
        assembly->has_coulomb =
            build(&ss_coulomb_model, &assembly->rows, NULL, &assembly->coulomb_store, err);
    return assembly->has_coulomb ? assembly->coulomb_store.problem : NULL;
}

static ss_rows *judged_rows(ss_assembly *assembly)
{
    return assembly->has_maximal_rows ? &assembly->maximal_rows : &assembly->rows;
}

static const ss_contact_model *judged_model(const ss_assembly *assembly)
{
    return assembly->rows.is_planar ? &ss_judged_model : &ss_coulomb_model;
}

ss_problem *ss_assembly_judged(ss_assembly *assembly, ss_error *err)
{
    ss_rows *rows = &assembly->rows;
    if (rows->minimal && !assembly->has_judged) {
        ss_step_options maximal = *(const ss_step_options *)assembly->options;
        maximal.coordinates = SS_MAXIMAL;
        if (!ss_rows_make(rows->frame, &maximal, &assembly->maximal_rows, err)) return NULL;
        assembly->has_maximal_rows = true;
    }
    if (!rows->is_planar && !rows->minimal) return ss_assembly_coulomb(assembly, err);
    if (!assembly->has_judged)
        assembly->has_judged =
            build(judged_model(assembly), judged_rows(assembly), NULL, &assembly->judged_store, err);
    return assembly->has_judged ? assembly->judged_store.problem : NULL;
}

const ss_rows *ss_assembly_judged_rows(const ss_assembly *assembly)
{
    return assembly->has_maximal_rows ? &assembly->maximal_rows : &assembly->rows;
}

/* ---- recover ---------------------------------------------------------------------------------------- */

/* Velocities in front of the rows: none, or those of all live bodies. */
static int count_velocities(const ss_assembly *assembly)
{
    return assembly->transformed ? assembly->transformed->size - assembly->store.problem->size : 0;
}

static void recover_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const contact_loop *with = context;
    const double *x = with->x + with->rows->start[begin / SS_ROWS_AT_ONCE][0];
    for (int64_t c = begin; c < end; c++) {
        const ss_contact_row *contact = &with->rows->contact[c];
        int blocks;
        ss_contact_impulse impulse = with->model->read(with->rows, contact, with->options, x);
        ss_rows_set_contact(with->rows, (int)c, &impulse, with->to);
        x += with->model->unknowns(contact, with->options, &blocks);
    }
}

static void recover_under(const ss_contact_model *model, const void *options, ss_rows *rows, const double *x,
                          ss_answer *answer)
{
    ss_rows_start_answer(answer);
    for (int r = 0; r < rows->joint_count; r++) ss_rows_add_joint(rows, &rows->joint[r], *x++, answer);
    if (rows->push && ss_team_size(ss_rows_team(rows)) > 1) {
        contact_loop with = {.model = model, .options = options, .rows = rows, .to = answer};
        with.x = (double *)(uintptr_t)x; // only read
        find_starts(&with);
        ss_parallel_for(ss_rows_team(rows), rows->contact_count, SS_ROWS_AT_ONCE, recover_range, &with);
        ss_rows_push_contacts(rows);
    } else {
        for (int c = 0, blocks; c < rows->contact_count; c++) {
            const ss_contact_row *contact = &rows->contact[c];
            ss_contact_impulse impulse = model->read(rows, contact, options, x);
            ss_rows_add_contact(rows, contact, &impulse, answer);
            x += model->unknowns(contact, options, &blocks);
        }
    }
    ss_rows_end_answer(rows, answer);
    ss_rows_let_go(rows);
}

void ss_assembly_recover(ss_assembly *assembly, const double *x, ss_answer *answer)
{
    const ss_formulation *formulation = assembly->formulation;
    const ss_contact_model *model = formulation->model;
    ss_rows *rows = &assembly->rows;
    if (model) {
        recover_under(model, assembly->options, rows, x + count_velocities(assembly), answer);
        if (model->settle) model->settle(rows, answer);
        return;
    }

    /* The author says what the impulses are; what they do to the bodies is mechanics. */
    ss_rows_start_answer(answer);
    if (formulation->contact) {
        for (int r = 0; r < rows->joint_count; r++) ss_rows_add_joint(rows, &rows->joint[r], *x++, answer);
        ss_own_recover(&assembly->own, rows, x, answer);
    } else {
        formulation->recover(formulation, assembly->options, rows->frame, assembly->transformed, x, answer);
        for (int r = 0; r < rows->joint_count; r++)
            ss_rows_push_joint(rows, &rows->joint[r], answer->row_impulse[rows->joint[r].row]);
        for (int c = 0; c < rows->contact_count; c++) {
            ss_contact_impulse impulse = ss_contact_impulse_of(&rows->contact[c], answer);
            ss_rows_push_contact(rows, &rows->contact[c], &impulse);
        }
    }
    ss_rows_end_answer(rows, answer);
    ss_rows_let_go(rows);
}

void ss_assembly_recover_coulomb(ss_assembly *assembly, const double *x, ss_answer *answer)
{
    recover_under(&ss_coulomb_model, NULL, &assembly->rows, x, answer);
}

/* ---- guess ------------------------------------------------------------------------------------------ */

static void take_velocities(ss_rows *rows, const ss_answer *answer)
{
    ss_coordinates *coordinates = &rows->coordinates;
    bool known =
        rows->minimal && answer->coordinates == coordinates->count && !isnan(answer->generalized_velocity[0]);
    if (known)
        memcpy(coordinates->velocity, answer->generalized_velocity,
               (size_t)coordinates->count * sizeof *coordinates->velocity);
    for (int b = 0; b < rows->frame->bodies.count; b++) {
        if (rows->body[b] >= 0)
            memcpy(rows->velocity[rows->body[b]], answer->velocity[b], sizeof answer->velocity[b]);
    }
}

static void guess_range(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const contact_loop *with = context;
    double *x = with->x + with->rows->start[begin / SS_ROWS_AT_ONCE][0];
    for (int64_t c = begin; c < end; c++) {
        const ss_contact_row *contact = &with->rows->contact[c];
        int blocks;
        ss_contact_impulse impulse = ss_contact_impulse_of(contact, with->answer);
        with->model->write(with->rows, contact, with->options, &impulse, x);
        x += with->model->unknowns(contact, with->options, &blocks);
    }
}

static void guess_under(const ss_contact_model *model, const void *options, ss_rows *rows,
                        const ss_answer *answer, double *x)
{
    for (int r = 0; r < rows->joint_count; r++) *x++ = answer->row_impulse[rows->joint[r].row];
    contact_loop with = {.model = model, .options = options, .rows = rows, .answer = answer, .x = x};
    find_starts(&with);
    ss_parallel_for(ss_rows_team(rows), rows->contact_count, SS_ROWS_AT_ONCE, guess_range, &with);
    ss_rows_let_go(rows);
}

void ss_assembly_guess(ss_assembly *assembly, const ss_answer *answer, double *x)
{
    const ss_formulation *formulation = assembly->formulation;
    ss_rows *rows = &assembly->rows;
    if (formulation->model) {
        int velocities = count_velocities(assembly);
        take_velocities(rows, answer);
        if (velocities)
            memcpy(x, rows->minimal ? rows->coordinates.velocity : rows->velocity[0],
                   (size_t)velocities * sizeof *x);
        guess_under(formulation->model, assembly->options, rows, answer, x + velocities);
    } else if (formulation->contact) {
        for (int r = 0; r < rows->joint_count; r++) *x++ = answer->row_impulse[rows->joint[r].row];
        ss_own_guess(&assembly->own, rows, answer, x);
    } else {
        int size = assembly->transformed->size;
        if (size) memset(x, 0, (size_t)size * sizeof *x);
        if (formulation->guess)
            formulation->guess(formulation, assembly->options, rows->frame, assembly->transformed, answer, x);
    }
}

void ss_assembly_guess_coulomb(ss_assembly *assembly, const ss_answer *answer, double *x)
{
    take_velocities(&assembly->rows, answer);
    guess_under(&ss_coulomb_model, NULL, &assembly->rows, answer, x);
}

void ss_assembly_guess_judged(ss_assembly *assembly, const ss_answer *answer, double *x)
{
    take_velocities(judged_rows(assembly), answer);
    guess_under(judged_model(assembly), NULL, judged_rows(assembly), answer, x);
}
