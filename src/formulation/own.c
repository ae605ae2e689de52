#include "formulation/own.h"

#include "problem/laws.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- asking ----------------------------------------------------------------------------------------- */

static ss_vec3 along(const double components[3], const ss_contact_row *contact)
{
    ss_vec3 sum = ss_vec3_scale(components[0], contact->normal);
    sum = ss_vec3_add_scaled(sum, components[1], contact->tangent[0]);
    return ss_vec3_add_scaled(sum, components[2], contact->tangent[1]);
}

static ss_contact_view view_of(const ss_rows *rows, const ss_contact_row *contact)
{
    const ss_vec3 axis[3] = {contact->normal, contact->tangent[0], contact->tangent[1]};
    double before[3], after[3];
    ss_contact_view view = {.contact = contact->contact,
                            .frame = rows->frame,
                            .in_plane = {contact->in_plane[0], contact->in_plane[1]},
                            .mu = {contact->mu[0], contact->mu[1]},
                            .mu_rolling = contact->mu_rolling,
                            .mu_torsion = contact->mu_torsion,
                            .spin_coupling = contact->spin_coupling,
                            .gap = rows->frame->contacts.gap[contact->contact],
                            .offset = contact->offset - ss_vec3_dot(contact->normal, contact->surface),
                            .compliance = contact->compliance};

    for (int k = 0; k < 3; k++) {
        double row[12];
        ss_contact_sliding_row(contact, axis[k], row);
        before[k] = ss_contact_speed_before(rows, contact, axis[k]);
        after[k] = ss_contact_speed(contact, axis[k], rows->free_velocity);
        view.inverse_mass[k] = ss_rows_inverse_mass(rows, contact->pair, row);
        ss_vec3_store(axis[k], k == 0 ? view.normal : view.tangent[k - 1]);
    }
    ss_vec3_store(along(before, contact), view.velocity);
    ss_vec3_store(along(after, contact), view.free_velocity);
    return view;
}

/* One law that the formulation declares: a law that it does not, and several laws at once, are neither. */
static bool is_declared(const ss_formulation *formulation, ss_law law)
{
    bool one = law == SS_LAW_FREE || law == SS_LAW_BOX || law == SS_LAW_COUPLED || ss_law_is_cone(law);
    return one && law & formulation->laws;
}

/* What is wrong with an unknown; NULL: nothing. */
static const char *fault_of(const ss_formulation *formulation, const ss_contact_law *law, int index)
{
    const ss_contact_unknown *unknown = &law->unknown[index];
    ss_vec3 direction = ss_vec3_load(unknown->direction);
    double length = ss_vec3_norm(direction);
    if (!is_declared(formulation, unknown->law))
        return "is under a law that the formulation does not declare";
    if (!(length > 0.0) || isinf(length)) return "has no direction";
    if (!isfinite(unknown->offset) || !(unknown->compliance >= 0.0) || isinf(unknown->compliance))
        return "has an offset or a compliance that is not a number, or a negative compliance";
    if (unknown->law == SS_LAW_BOX && !(unknown->lower <= unknown->upper))
        return "has bounds that are not lower <= upper";
    if (unknown->law != SS_LAW_COUPLED) return NULL;
    if (unknown->partner < 0 || unknown->partner >= law->count || unknown->partner == index)
        return "follows an unknown that does not exist";
    if (law->unknown[unknown->partner].law == SS_LAW_FREE) return "follows an unknown without bounds";
    return unknown->factor >= 0.0 && isfinite(unknown->factor) ? NULL : "has no valid factor";
}

/* Unknowns under the law of a cone are one cone, which begins with the first of them. */
static const char *cone_fault(const ss_contact_law *law)
{
    int size = 0, last = -1;
    for (int i = 0; i < law->count; i++) {
        if (!ss_law_is_cone(law->unknown[i].law)) continue;
        if (last >= 0 && (last != i - 1 || law->unknown[last].law != law->unknown[i].law))
            return "has two cones";
        last = i;
        size++;
    }
    if (size == 0) return NULL;
    if (size < 2 || size > SS_CONE_DIMENSION) return "has a cone that is not of 2 to 6 unknowns";
    return law->mu >= 0.0 && law->mu_rolling >= 0.0 ? NULL : "has a cone without a friction coefficient";
}

static bool check(const ss_formulation *formulation, const ss_contact_view *contact, ss_contact_law *law,
                  ss_error *err)
{
    const char *fault = NULL;
    int index = -1;
    if (law->count < 0 || law->count > SS_CONTACT_UNKNOWNS)
        return ss_fail(err, SS_ERROR_INPUT, "formulation %s: contact %d: has %d unknowns, must be 0 to %d",
                       formulation->name, contact->contact, law->count, SS_CONTACT_UNKNOWNS);
    for (int i = 0; i < law->count; i++)
        if (law->unknown[i].law == 0) law->unknown[i].law = SS_LAW_BOX;
    for (int i = 0; !fault && i < law->count; i++) fault = fault_of(formulation, law, index = i);
    if (!fault) fault = cone_fault(law), index = -1;
    for (int k = 0; !fault && k < 3; k++)
        if (!isfinite(law->impulse[k])) fault = "has a known impulse that is not finite";
    if (!fault) return true;
    if (index < 0)
        return ss_fail(err, SS_ERROR_INPUT, "formulation %s: contact %d: %s", formulation->name,
                       contact->contact, fault);
    return ss_fail(err, SS_ERROR_INPUT, "formulation %s: contact %d: unknown %d %s", formulation->name,
                   contact->contact, index, fault);
}

bool ss_own_ask(const ss_formulation *formulation, const void *options, const ss_rows *rows,
                ss_own_laws *laws, ss_error *err)
{
    int contacts = rows->contact_count;
    if (!laws->first || contacts > laws->contact_room) {
        ss_release(laws->first);
        ss_release(laws->known);
        ss_release(laws->mu);
        laws->contact_room = contacts + contacts / 4;
        laws->first = ss_allocate((size_t)laws->contact_room + 1, sizeof *laws->first);
        laws->known = ss_allocate((size_t)laws->contact_room, sizeof *laws->known);
        laws->mu = ss_allocate((size_t)laws->contact_room, sizeof *laws->mu);
    }
    if (!laws->first || !laws->known || !laws->mu)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the laws of %d contacts", contacts);

    laws->first[0] = 0;
    for (int c = 0; c < contacts; c++) {
        ss_contact_view view = view_of(rows, &rows->contact[c]);
        ss_contact_law law = {0};
        if (!formulation->contact(formulation, options, &view, &law, err))
            return ss_fail_in(err, "formulation %s: contact %d", formulation->name, view.contact);
        if (!check(formulation, &view, &law, err)) return false;

        /* Its unknowns behind those of the contacts before it. */
        int at = laws->first[c], end = at + law.count;
        if (at > INT_MAX / 2 - law.count)
            return ss_fail(err, SS_ERROR_RESOURCES, "contacts have more unknowns than can be counted");
        if (!laws->unknown || end > laws->unknown_room) {
            int room = 2 * end + 16;
            ss_contact_unknown *larger = ss_allocate((size_t)room, sizeof *larger);
            if (!larger) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", room);
            if (at) memcpy(larger, laws->unknown, (size_t)at * sizeof *larger);
            ss_release(laws->unknown);
            laws->unknown = larger;
            laws->unknown_room = room;
        }
        if (law.count) memcpy(laws->unknown + at, law.unknown, (size_t)law.count * sizeof *law.unknown);
        laws->first[c + 1] = end;
        memcpy(laws->known[c], law.impulse, sizeof law.impulse);
        laws->mu[c][0] = law.mu;
        laws->mu[c][1] = law.mu_rolling;
    }
    return true;
}

void ss_own_free(ss_own_laws *laws)
{
    ss_release(laws->unknown);
    ss_release(laws->first);
    ss_release(laws->known);
    ss_release(laws->mu);
    *laws = (ss_own_laws){0};
}

/* ---- the problem ------------------------------------------------------------------------------------ */

/* An impulse on b in the frame of the contact. */
static void add_impulse(const ss_contact_row *contact, const double direction[3], double size, bool turns,
                        ss_contact_impulse *impulse)
{
    ss_vec3 d = ss_vec3_load(direction);
    *(turns ? &impulse->spin : &impulse->normal) += size * ss_vec3_dot(contact->normal, d);
    for (int k = 0; k < 2; k++)
        (turns ? impulse->rolling : impulse->tangent)[k] += size * ss_vec3_dot(contact->tangent[k], d);
}

static void add_unknown(const ss_contact_row *contact, const ss_contact_unknown *unknown, int first,
                        ss_problem_builder *builder)
{
    ss_vec3 direction = ss_vec3_load(unknown->direction);
    ss_problem *problem = builder->problem;
    double row[12], offset = unknown->offset;
    if (unknown->turns) {
        ss_contact_turning_row(contact, direction, row);
    } else {
        ss_contact_sliding_row(contact, direction, row);
        offset += ss_vec3_dot(direction, contact->surface);
    }
    int i = ss_builder_add(builder, contact->pair, row, unknown->compliance, offset);

    if (unknown->law == SS_LAW_BOX) {
        problem->lower[i] = unknown->lower;
        problem->upper[i] = unknown->upper;
    } else if (unknown->law == SS_LAW_COUPLED) {
        problem->partner[i] = first + unknown->partner;
        problem->factor[i] = unknown->factor;
        if (unknown->lower < unknown->upper) {
            problem->lower[i] = unknown->lower;
            problem->upper[i] = unknown->upper;
        }
    }
}

bool ss_own_build(const ss_own_laws *laws, ss_rows *rows, ss_problem_store *store, ss_error *err)
{
    int unknowns = laws->first[rows->contact_count];
    ss_problem_builder builder;

    /* Springs push the bodies before anything is solved for. */
    bool pushed = false;
    for (int c = 0; c < rows->contact_count; c++) {
        const double *known = laws->known[c];
        ss_contact_impulse impulse = {0};
        if (known[0] == 0.0 && known[1] == 0.0 && known[2] == 0.0) continue;
        pushed = true;
        add_impulse(&rows->contact[c], known, 1.0, false, &impulse);
        ss_rows_push_contact(rows, &rows->contact[c], &impulse);
    }
    if (pushed) ss_rows_move(rows);

    bool good = ss_builder_start(store, rows, unknowns, unknowns, &builder, err);
    for (int c = 0; good && c < rows->contact_count; c++) {
        int first = builder.size;
        for (int i = laws->first[c]; i < laws->first[c + 1]; i++) {
            const ss_contact_unknown *unknown = &laws->unknown[i];
            add_unknown(&rows->contact[c], unknown, first, &builder);
            if (i + 1 < laws->first[c + 1] && unknown[1].law == unknown->law) continue;
            bool cone = ss_law_is_cone(unknown->law);
            ss_builder_close(&builder, (ss_block){.law = unknown->law,
                                                  .mu = cone ? laws->mu[c][0] : 0.0,
                                                  .mu_rolling = cone ? laws->mu[c][1] : 0.0,
                                                  .contact = rows->contact[c].contact,
                                                  .constraint = -1});
        }
    }
    good = good && ss_builder_finish(&builder, err);
    if (pushed) ss_rows_let_go(rows);
    return good;
}

/* ---- back ------------------------------------------------------------------------------------------- */

void ss_own_recover(const ss_own_laws *laws, ss_rows *rows, const double *x, ss_answer *answer)
{
    for (int c = 0; c < rows->contact_count; c++) {
        const ss_contact_row *contact = &rows->contact[c];
        ss_contact_impulse impulse = {0};
        add_impulse(contact, laws->known[c], 1.0, false, &impulse);
        for (int i = laws->first[c]; i < laws->first[c + 1]; i++)
            add_impulse(contact, laws->unknown[i].direction, x[i], laws->unknown[i].turns, &impulse);
        ss_rows_add_contact(rows, contact, &impulse, answer);
    }
}

/* Right where directions are at right angles; a start like any other elsewhere. */
void ss_own_guess(const ss_own_laws *laws, const ss_rows *rows, const ss_answer *answer, double *x)
{
    for (int c = 0; c < rows->contact_count; c++) {
        const ss_contact_row *contact = &rows->contact[c];
        ss_contact_impulse impulse = ss_contact_impulse_of(contact, answer);
        add_impulse(contact, laws->known[c], -1.0, false, &impulse);
        ss_vec3 force =
            along((const double[]){impulse.normal, impulse.tangent[0], impulse.tangent[1]}, contact);
        ss_vec3 moment =
            along((const double[]){impulse.spin, impulse.rolling[0], impulse.rolling[1]}, contact);
        for (int i = laws->first[c]; i < laws->first[c + 1]; i++) {
            ss_vec3 d = ss_vec3_load(laws->unknown[i].direction);
            x[i] = ss_vec3_dot(d, laws->unknown[i].turns ? moment : force) / ss_vec3_dot(d, d);
        }
    }
}

/* ---- a whole problem -------------------------------------------------------------------------------- */

static const char *block_fault(const ss_formulation *formulation, const ss_frame *frame,
                               const ss_problem *problem, int k)
{
    const ss_block *block = &problem->blocks[k];
    int begin = k > 0 ? problem->blocks[k - 1].first + problem->blocks[k - 1].size : 0;
    if (block->first != begin || block->size < 1 || block->size > problem->size - begin)
        return "does not begin where the one before ends, or is empty";
    if (!is_declared(formulation, block->law)) return "has a law that the formulation does not declare";
    if (block->contact < -1 || block->contact >= frame->contacts.count)
        return "belongs to a contact that the frame does not have";
    if (!ss_law_is_cone(block->law)) return NULL;
    if (block->size < 2 || block->size > SS_CONE_DIMENSION) return "is a cone, but not of 2 to 6";
    return block->mu >= 0.0 && block->mu_rolling >= 0.0 ? NULL : "has no valid friction coefficient";
}

static const char *unknown_fault(const ss_problem *problem, int i, ss_law law)
{
    if (!isfinite(problem->b[i]) || !isfinite(problem->diagonal[i])) return "b or diagonal is not finite";
    if (law == SS_LAW_BOX && !(problem->lower[i] <= problem->upper[i]))
        return "bounds are not lower <= upper";
    if (law != SS_LAW_COUPLED) return NULL;
    if (problem->partner[i] < 0 || problem->partner[i] >= problem->size || problem->partner[i] == i)
        return "its partner does not exist";
    return problem->factor[i] >= 0.0 && isfinite(problem->factor[i]) ? NULL : "its factor is not valid";
}

bool ss_own_check_problem(const ss_formulation *formulation, const ss_frame *frame, ss_problem *problem,
                          ss_error *err)
{
    const ss_sparse *A = problem->A;
    const char *fault;
    int end = 0;
    bool good = A || problem->bodies || ss_fail(err, SS_ERROR_INPUT, "has neither a matrix nor bodies");
    if (A && (A->rows != problem->size || A->cols != problem->size))
        good = ss_fail(err, SS_ERROR_INPUT, "matrix is %d x %d, must be %d x %d", A->rows, A->cols,
                       problem->size, problem->size);
    else if (A)
        good = ss_sparse_check(A, err) || ss_fail_in(err, "matrix");
    if (!good) return ss_fail_in(err, "formulation %s: problem", formulation->name);
    for (int i = 0; A && i < problem->size; i++) problem->diagonal[i] = ss_sparse_get(A, i, i);
    for (int k = 0; k < problem->block_count; k++) {
        fault = block_fault(formulation, frame, problem, k);
        if (fault)
            return ss_fail(err, SS_ERROR_INPUT, "formulation %s: block %d %s", formulation->name, k, fault);
        const ss_block *block = &problem->blocks[k];
        end = block->first + block->size;
        for (int i = block->first; i < end; i++) {
            fault = unknown_fault(problem, i, block->law);
            if (fault)
                return ss_fail(err, SS_ERROR_INPUT, "formulation %s: unknown %d: %s", formulation->name, i,
                               fault);
        }
    }
    return end == problem->size ||
           ss_fail(err, SS_ERROR_INPUT, "formulation %s: blocks cover %d of %d unknowns", formulation->name,
                   end, problem->size);
}
