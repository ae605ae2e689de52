/* m-functions inside a step: user functions at the stages; collision detection, solver or dynamics replaced.
 *
 * What an m-function throws is kept, the step is undone by the library, and world_step throws it again when
 * nothing of the library is on the stack any more. */
#include "worlds.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void forget(mxArray **function)
{
    if (*function && !tb_leaving) mxDestroyArray(*function);
    *function = NULL;
}

void tb_hooks_free(tb_world *w)
{
    for (int s = 0; s < SS_STAGE_COUNT; s++) forget(&w->at[s]);
    forget(&w->collision);
    forget(&w->solve);
    forget(&w->dynamics);
}

/* Calls the m-function with up to two arguments, which are freed. False with err if it threw: its first
 * output is what it threw, because Octave's mexCallMATLABWithTrap does not say so (ss_guard.m). */
static bool call(tb_world *w, const mxArray *function, mxArray *first, mxArray *second, int outputs,
                 mxArray **output, ss_error *err)
{
    mxArray *inputs[] = {(mxArray *)(uintptr_t)function, first, second}, *results[2] = {NULL, NULL};
    int count = 1 + (first != NULL) + (second != NULL);
    mxArray *trouble = mexCallMATLABWithTrap(1 + outputs, results, count, inputs, "feval");
    if (first) mxDestroyArray(first);
    if (second) mxDestroyArray(second);
    *output = NULL;
    if (!trouble && results[0] && !mxIsEmpty(results[0])) {
        trouble = results[0];
        results[0] = NULL;
    }
    if (!trouble)
        *output = results[1];
    else if (results[1])
        mxDestroyArray(results[1]);
    if (results[0]) mxDestroyArray(results[0]);
    if (!trouble) return true;
    if (!w->trouble) w->trouble = trouble;
    return ss_fail(err, SS_ERROR_USAGE, "an m-function failed");
}

/* ---- user functions ----------------------------------------------------------------------------------- */

mxArray *tb_contact_list(const ss_contact_list *contacts, const ss_answer *answer)
{
    int n = contacts->count;
    mxArray *s = tb_struct(), *bodies = tb_real(2, n, NULL), *points = tb_real(3, n, NULL),
            *normals = tb_real(3, n, NULL), *gaps = tb_real(1, n, NULL), *mu = tb_real(1, n, NULL);
    double *b = mxGetData(bodies), *p = mxGetData(points), *d = mxGetData(normals), *g = mxGetData(gaps),
           *m = mxGetData(mu);
    for (int c = 0; c < n; c++) {
        const ss_contact *contact = &contacts->items[c];
        b[2 * c] = contact->body_a + 1;
        b[2 * c + 1] = contact->body_b + 1;
        memcpy(p + 3 * c, contact->point, sizeof contact->point);
        memcpy(d + 3 * c, contact->normal, sizeof contact->normal);
        g[c] = contact->gap;
        m[c] = contact->material.mu;
    }
    tb_set(s, "bodies", bodies);
    tb_set(s, "points", points);
    tb_set(s, "normals", normals);
    tb_set(s, "gaps", gaps);
    tb_set(s, "mu", mu);
    if (answer && answer->contacts == n) {
        tb_set(s, "normal_impulse", tb_real(1, n, answer->normal_impulse));
        tb_set(s, "friction_impulse", tb_real(3, n, n ? answer->friction_impulse[0] : NULL));
    }
    return s;
}

static bool at_start(ss_sim *sim, void *context, ss_error *err)
{
    tb_world *w = context;
    mxArray *none;
    (void)sim;
    return !w->at[SS_BEFORE_COLLISION] || call(w, w->at[SS_BEFORE_COLLISION], NULL, NULL, 0, &none, err);
}

/* RPIsim's friction first; then keep = f(contacts), a logical value for each. Friction beyond a million holds
 * whatever comes. */
static bool at_contacts(ss_sim *sim, void *context, ss_error *err)
{
    static const double endless = 1e6;
    tb_world *w = context;
    ss_contact_list *list = ss_sim_contacts_edit(sim);
    for (int c = 0; w->body_mu && c < list->count; c++) {
        ss_contact *contact = &list->items[c];
        if (contact->body_a == SS_WORLD || contact->body_b == SS_WORLD) continue;
        double mu = w->mu_factor * w->body_mu[contact->body_a] * w->body_mu[contact->body_b];
        contact->material.mu = mu > endless ? INFINITY : mu;
        contact->material.mu_static = 0.0;
    }

    mxArray *keep = NULL;
    if (!w->at[SS_AFTER_CONTACTS] || list->count == 0) return true;
    if (!call(w, w->at[SS_AFTER_CONTACTS], tb_contact_list(list, NULL), NULL, 1, &keep, err)) return false;
    bool all = mxIsEmpty(keep), good = all || (tb_is_numeric(keep) && tb_count(keep) == (size_t)list->count);
    int kept = 0;
    for (int c = 0; good && !all && c < list->count; c++) {
        if (tb_at(keep, (size_t)c) != 0) list->items[kept++] = list->items[c];
    }
    if (good && !all) list->count = kept;
    mxDestroyArray(keep);
    return good || ss_fail(err, SS_ERROR_USAGE,
                           "after-contacts: expected true or false for each of the %d contacts", list->count);
}

static bool at_frame(ss_sim *sim, void *context, ss_error *err)
{
    tb_world *w = context;
    mxArray *none;
    return !w->at[SS_BEFORE_SOLVE] ||
           call(w, w->at[SS_BEFORE_SOLVE], tb_frame(ss_sim_frame_edit(sim)), NULL, 0, &none, err);
}

/* A solver cannot stop a step by itself: what it threw does so here. */
static bool at_end(ss_sim *sim, void *context, ss_error *err)
{
    tb_world *w = context;
    mxArray *none;
    (void)sim;
    if (w->trouble) return ss_fail(err, SS_ERROR_USAGE, "an m-function failed");
    return !w->at[SS_AFTER_STEP] || call(w, w->at[SS_AFTER_STEP], NULL, NULL, 0, &none, err);
}

/* ---- collision detection ------------------------------------------------------------------------------ */

/* contacts = f(): a struct with bodies, points, normals, gaps and, if not by the materials, mu. */
static bool read_contacts(const tb_world *w, const mxArray *from, ss_arena *arena, ss_contact_list *list,
                          ss_error *err)
{
    const mxArray *bodies = tb_get(from, "bodies"), *points = tb_get(from, "points"),
                  *normals = tb_get(from, "normals"), *gaps = tb_get(from, "gaps"), *mu = tb_get(from, "mu");
    if (mxIsEmpty(from)) return true;
    if (!tb_is_numeric(gaps))
        return ss_fail(err, SS_ERROR_USAGE,
                       "collision: expected a struct with bodies, points, "
                       "normals and gaps");
    size_t n = tb_count(gaps);
    double *numbers = ss_arena_take(arena, 10 * n, sizeof *numbers, "contacts of an m-function");
    list->items = ss_arena_take(arena, n, sizeof *list->items, "contacts");
    if (!numbers || !list->items)
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %zu contacts", n);
    double *pair = numbers, *point = pair + 2 * n, *normal = point + 3 * n, *gap = normal + 3 * n,
           *friction = gap + n;
    bool has_mu = mu && !mxIsEmpty(mu);
    if (!tb_copy(bodies, 2 * n, pair, "collision: bodies", err) ||
        !tb_copy(points, 3 * n, point, "collision: points", err) ||
        !tb_copy(normals, 3 * n, normal, "collision: normals", err) ||
        !tb_copy(gaps, n, gap, "collision: gaps", err) ||
        (has_mu && !tb_copy(mu, n, friction, "collision: mu", err)))
        return false;

    for (size_t c = 0; c < n; c++) {
        ss_contact *to = &list->items[c];
        int count = ss_world_body_count(w->world), body[2];
        double length = sqrt(normal[3 * c] * normal[3 * c] + normal[3 * c + 1] * normal[3 * c + 1] +
                             normal[3 * c + 2] * normal[3 * c + 2]);
        for (int k = 0; k < 2; k++) {
            double number = pair[2 * c + (size_t)k];
            if (!(number >= 0 && number <= count && number == floor(number)))
                return ss_fail(err, SS_ERROR_USAGE, "collision: contact %zu: body %g, expected 0 to %d",
                               c + 1, number, count);
            body[k] = (int)number - 1;
        }
        if (!(fabs(length - 1.0) < 1e-6)) // as frames are checked
            return ss_fail(err, SS_ERROR_USAGE, "collision: contact %zu: normal of length %g, must be 1",
                           c + 1, length);
        *to = (ss_contact){.body_a = body[0], .body_b = body[1], .gap = gap[c], .key = c + 1};
        to->material = (ss_material_pair){.mu = has_mu ? friction[c] : ss_world_material(w->world, 0)->mu};
        for (size_t k = 0; k < 3; k++) {
            to->point[k] = point[3 * c + k];
            to->normal[k] = normal[3 * c + k] / length;
        }
    }
    list->count = (int)n;
    return true;
}

static bool find_contacts(ss_sim *sim, ss_arena *arena, ss_contact_list *list, void *context, ss_error *err)
{
    tb_world *w = context;
    mxArray *found;
    (void)sim;
    if (!call(w, w->collision, NULL, NULL, 1, &found, err)) return false;
    bool good = read_contacts(w, found, arena, list, err);
    mxDestroyArray(found);
    return good;
}

/* ---- solver ------------------------------------------------------------------------------------------- */

/* Where each unknown of the LCP is: first the normal impulses of all contacts, then their friction impulses,
 * then their sliding speeds, then what is left (limits of joints). False if it is not an LCP. */
static bool sort_unknowns(const ss_problem *problem, int *place)
{
    int at = 0;
    for (int part = 0; part < 4; part++) {
        for (int k = 0; k < problem->block_count;) {
            // the blocks of one contact follow each other
            int contact = problem->blocks[k].contact, first = problem->blocks[k].first, end = first;
            for (; k < problem->block_count && problem->blocks[k].contact == contact; k++) {
                if (problem->blocks[k].law != SS_LAW_BOX) return false;
                end = problem->blocks[k].first + problem->blocks[k].size;
                if (contact < 0) {
                    k++;
                    break;
                }
            }
            for (int i = first; i < end; i++) {
                bool last = i == end - 1 && end - first > 1;
                int belongs = contact < 0 ? 3 : i == first ? 0 : last ? 2 : 1;
                if (belongs == part) place[at++] = i;
            }
        }
    }
    for (int i = 0; i < problem->size; i++) {
        if (problem->lower[i] != 0.0 || problem->upper[i] != INFINITY) return false;
    }
    return at == problem->size;
}

/* A and b in that order. */
static bool show_lcp(const ss_problem *problem, const int *place, mxArray **A, mxArray **b)
{
    int n = problem->size, count = problem->A->start[n];
    int *new_place = ss_allocate((size_t)n, sizeof *new_place);
    int *row = ss_allocate((size_t)count, sizeof *row), *column = ss_allocate((size_t)count, sizeof *column);
    ss_sparse *sorted = NULL;
    if (new_place && row && column) {
        for (int i = 0; i < n; i++) new_place[place[i]] = i;
        for (int j = 0; j < n; j++) {
            for (int k = problem->A->start[j]; k < problem->A->start[j + 1]; k++) {
                row[k] = new_place[problem->A->row[k]];
                column[k] = new_place[j];
            }
        }
        sorted = ss_sparse_from_triplets(n, n, count, row, column, problem->A->value, NULL);
    }
    if (sorted) {
        *A = tb_sparse(sorted);
        *b = tb_real(n, 1, NULL);
        double *to = mxGetData(*b);
        for (int i = 0; i < n; i++) to[i] = problem->b[place[i]];
    }
    ss_sparse_destroy(sorted);
    ss_release(new_place);
    ss_release(row);
    ss_release(column);
    return sorted != NULL;
}

/* z = f(A, b) of the LCP that is left when the equations of the joints are solved for. */
static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    tb_world *w = run->solver->context;
    ss_error err = {0};
    mxArray *A = NULL, *b = NULL, *z = NULL;
    (void)options;
    ss_elimination *left = ss_problem_eliminate_free(problem, &err);
    const ss_problem *lcp = left ? ss_elimination_problem(left) : NULL;
    int n = lcp ? lcp->size : 0;
    int *place = ss_allocate((size_t)n, sizeof *place);
    double *found = ss_allocate(2 * (size_t)n, sizeof *found);
    bool good = lcp && place && found;
    if (good && !sort_unknowns(lcp, place))
        good = ss_fail(&err, SS_ERROR_USAGE,
                       "the problem of this step is not an LCP: motors, limits with two sides and "
                       "joint friction need a solver of the library");
    good = good && (n == 0 || show_lcp(lcp, place, &A, &b));
    good = good && (n == 0 || call(w, w->solve, A, b, 1, &z, &err)) &&
           (n == 0 || tb_copy(z, (size_t)n, found + n, "z of the solver", &err));
    for (int i = 0; good && i < n; i++) found[place[i]] = found[n + i];
    if (good) {
        ss_elimination_restore(left, found, x);
        ss_run_iteration(run, x, NULL);
    } else if (!w->trouble) {
        w->trouble = tb_struct();
        tb_set(w->trouble, "message", tb_text(err.code ? err.message : "out of memory"));
        tb_set(w->trouble, "identifier", tb_text("stickslip:usage"));
    }
    if (z) mxDestroyArray(z);
    ss_release(place);
    ss_release(found);
    ss_elimination_destroy(left);
    return good ? SS_CONVERGED : SS_FAILED; // the driver checks the claim
}

static ss_solver own_solver(tb_world *w)
{
    return (ss_solver){.abi = SS_ABI,
                       .name = "m-function",
                       .summary = "an m-function",
                       .reference = "",
                       .weakness = "",
                       .laws = SS_LAW_FREE | SS_LAW_BOX,
                       .traits = SS_ONE_THREAD,
                       .solve = solve,
                       .context = w};
}

/* ---- dynamics ----------------------------------------------------------------------------------------- */

/* velocities = f(frame), 6 x bodies of the frame */
static bool answer_frame(ss_sim *sim, const ss_frame *frame, ss_answer *answer, void *context, ss_error *err)
{
    tb_world *w = context;
    mxArray *velocities;
    (void)sim;
    if (!call(w, w->dynamics, tb_frame(frame), NULL, 1, &velocities, err)) return false;
    bool good = tb_copy(velocities, 6 * (size_t)frame->bodies.count,
                        frame->bodies.count ? answer->velocity[0] : NULL, "velocities of the dynamics", err);
    mxDestroyArray(velocities);
    return good;
}

/* ---- connecting --------------------------------------------------------------------------------------- */

bool tb_hooks_connect(tb_world *w, ss_error *err)
{
    static ss_user_function *const functions[SS_STAGE_COUNT] = {at_start, at_contacts, at_frame, at_end};
    for (int s = 0; s < SS_STAGE_COUNT; s++) {
        if (!ss_sim_call_at(w->sim, (ss_stage)s, functions[s], w, err)) return false;
    }
    if (w->collision) ss_sim_replace_collision(w->sim, find_contacts, w);
    if (w->dynamics) ss_sim_replace_dynamics(w->sim, answer_frame, w);
    w->own_solver = own_solver(w);
    return !w->solve || ss_sim_replace_solver(w->sim, &w->own_solver, NULL, err);
}

static bool set_function(mxArray **to, const mxArray *function, ss_error *err)
{
    bool none = mxIsEmpty(function);
    if (!none && !mxIsClass(function, "function_handle") && !mxIsChar(function))
        return ss_fail(err, SS_ERROR_USAGE, "expected a function handle, or [] for none");
    forget(to);
    if (none) return true;
    *to = mxDuplicateArray(function);
    mexMakeArrayPersistent(*to);
    return true;
}

bool tb_do_world_call(const tb_call *call, ss_error *err)
{
    static const char *const names[SS_STAGE_COUNT] = {"before-collision", "after-contacts", "before-solve",
                                                      "after-step"};
    tb_world *w = tb_get_world(call->input[0], err);
    char *name = w ? tb_get_text(call->input[1], "stage", err) : NULL;
    if (!name) return false;
    int stage = 0;
    while (stage < SS_STAGE_COUNT && strcmp(name, names[stage]) != 0) stage++;
    bool good = stage < SS_STAGE_COUNT
                    ? set_function(&w->at[stage], call->input[2], err)
                    : ss_fail(err, SS_ERROR_USAGE,
                              "unknown stage '%.60s'; there are before-collision, after-contacts, "
                              "before-solve, after-step",
                              name);
    mxFree(name);
    return good;
}

bool tb_do_world_replace(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    if (w && w->sim)
        return ss_fail(err, SS_ERROR_USAGE, "what is replaced must be replaced before the first step");
    char *name = w ? tb_get_text(call->input[1], "what", err) : NULL;
    if (!name) return false;
    mxArray **to = strcmp(name, "collision") == 0  ? &w->collision
                   : strcmp(name, "solver") == 0   ? &w->solve
                   : strcmp(name, "dynamics") == 0 ? &w->dynamics
                                                   : NULL;
    bool good = to ? set_function(to, call->input[2], err)
                   : ss_fail(err, SS_ERROR_USAGE,
                             "cannot replace '%.60s'; collision, solver and dynamics can be", name);
    mxFree(name);
    return good;
}

bool tb_do_world_friction(const tb_call *call, ss_error *err)
{
    tb_world *w = tb_get_world(call->input[0], err);
    if (!w) return false;
    size_t count = (size_t)ss_world_body_count(w->world);
    double *mu = ss_allocate(count, sizeof *mu);
    bool good = (mu || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for friction")) &&
                tb_copy(call->input[1], count, mu, "mu", err) &&
                tb_get_number(call->input[2], "factor", &w->mu_factor, err);
    if (!good) {
        ss_release(mu);
        return false;
    }
    ss_release(w->body_mu);
    w->body_mu = mu;
    return true;
}
