#include "conformance/suite.h"

#include "conformance/catalogue.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *mark(unsigned set, unsigned bit)
{
    return set & bit ? "yes" : "";
}

static void put_heading(const ss_suite *suite, const char *first, int more, ss_text *page)
{
    ss_text_append(page, first);
    for (int s = 0; s < suite->solver_count; s++) ss_text_appendf(page, " %s |", suite->solvers[s]->name);
    ss_text_append(page, "\n|");
    for (int c = 0; c < suite->solver_count + more; c++) ss_text_append(page, "---|");
    ss_text_append(page, "\n");
}

static void put_solved(const ss_suite *suite, ss_text *page)
{
    int check = ss_check_find("solves");
    if (!suite->wanted[check]) return;
    ss_text_appendf(
        page,
        "\n## Problems\n\nFrom zero, with default options. A number is the number of iterations until "
        "`relative_energy<1e-8` (`natural_residual<1e-9` for the linear complementarity problems of "
        "Stewart and Trinkle, whose rows for the sliding speed have no inverse mass), confirmed by a "
        "residual that shares no code with the solvers. Iterations of different methods do not cost "
        "the same: a pivot or a Newton step is a factorisation, a sweep is not. Empty: the solver does "
        "not accept the problem. Words: the status of a solver that did not converge within %d "
        "iterations. The contradictions at the end have no solution, and the rod beyond Painlevé may "
        "have none or several.\n\n",
        suite->setup.iterations);

    put_heading(suite, "| problem | unknowns |", 2, page);
    for (int p = 0; p < ss_known_count(); p++) {
        ss_known of;
        int size = ss_known_make(p, &of, NULL) ? of.problem->size : 0;
        ss_known_free(&of);
        ss_text_appendf(page, "| %s | %d |", ss_known_name(p), size);

        for (int s = 0; s < suite->solver_count; s++) {
            const ss_suite_case *item = NULL;
            for (int k = 0; k < suite->case_count && !item; k++) {
                const ss_suite_case *one = &suite->cases[k];
                if (one->solver == s && one->check == check && one->index == p) item = one;
            }
            if (!item || item->state != SS_CASE_DONE)
                ss_text_append(page, " not tried |");
            else if (item->result.outcome == SS_CHECK_NOT_APPLICABLE)
                ss_text_append(page, " |");
            else if (item->result.iterations < 0)
                ss_text_append(page, " **no answer** |");
            else if (item->result.status == SS_CONVERGED && item->result.outcome == SS_CHECK_FAILED)
                ss_text_append(page, " **wrong** |");
            else if (item->result.status == SS_CONVERGED)
                ss_text_appendf(page, " %d |", item->result.iterations);
            else
                ss_text_appendf(page, " %s |", ss_status_name(item->result.status));
        }
        ss_text_append(page, "\n");
    }
}

/* In the form of a list of expected failures (expected.h), so that its lines can be taken over. */
static void put_failures(const ss_suite *suite, bool expected, ss_text *page)
{
    int count = 0, at = 0;
    const char *heading = expected
                              ? "\n## Expected failures\n\n```text\n"
                              : "\n## Failures\n\nLines of this form, with the reason in your words, are a "
                                "list for `--expect`.\n\n```text\n";

    for (int k = 0; k < suite->case_count; k++) {
        const ss_suite_case *item = &suite->cases[k];
        char name[SS_CHECK_CASE_NAME];
        if (item->state != SS_CASE_DONE || item->result.outcome != SS_CHECK_FAILED ||
            (item->expected != NULL) != expected)
            continue;
        if (count++ == 0) ss_text_append(page, heading);
        ss_check_case_name(item->check, &suite->setup, item->index, name);
        ss_text_appendf(page, "%s | %s | %s | %s\n", suite->solvers[item->solver]->name,
                        ss_check_at(item->check)->name, name,
                        expected ? item->expected->reason : item->result.message);
    }
    if (count > 0) ss_text_append(page, "```\n");

    count = 0;
    for (const ss_expected *item; !expected && (item = ss_suite_surprise(suite, &at));) {
        if (count++ == 0) ss_text_append(page, "\n## Expected to fail, but passed\n\n```text\n");
        ss_text_appendf(page, "%s | %s | %s | %s\n", item->solver, item->check, item->problem, item->reason);
    }
    if (count > 0) ss_text_append(page, "```\n");
}

void ss_suite_page(const ss_suite *suite, const char *command, ss_text *page)
{
    if (suite->solver_count == 1)
        ss_text_appendf(page, "# %s: what it accepts, what it solves\n", suite->solvers[0]->name);
    else
        ss_text_append(page, "# Solvers: what they accept, what they solve\n");
    ss_text_appendf(page,
                    "\nThis page is written by the program; write it again after changing a solver:\n\n"
                    "```console\n%s\n```\n\n",
                    command);

    ss_text_append(page,
                   "## Laws and needs\n\nLaws are those of `stickslip/problem.h`. *Exact* methods end on "
                   "their own at a solution; *warm* ones use the start; *bodies*: the matrix is never built "
                   "if the problem comes from bodies.\n\n");
    ss_text_append(page, "| solver | free | box | coupled | cone | convex | exact | warm | bodies | needs | "
                         "weakness |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int s = 0; s < suite->solver_count; s++) {
        const ss_solver *solver = suite->solvers[s];
        unsigned laws = solver->laws, traits = solver->traits;
        ss_text_appendf(page, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s%s | %s |\n", solver->name,
                        mark(laws, SS_LAW_FREE), mark(laws, SS_LAW_BOX), mark(laws, SS_LAW_COUPLED),
                        mark(laws, SS_LAW_CONE), mark(laws, SS_LAW_CONVEX), mark(traits, SS_EXACT),
                        mark(traits, SS_WARM_STARTS), mark(traits, SS_MATRIX_FREE),
                        traits & SS_NEEDS_SYMMETRIC ? "symmetry " : "",
                        traits & SS_NEEDS_DIAGONAL ? "diagonal" : "", solver->weakness);
    }

    // "58", "55, 3 failed", "55, 3 expected", "" when nothing applies.
    ss_text_append(
        page, "\n## Checks\n\nThe number of problems on which a check passed, with default options. Problems "
              "that a solver does not accept are not counted. *Expected* failures are listed below with "
              "their reasons.\n\n");
    put_heading(suite, "| check | what has to hold |", 2, page);
    for (int c = 0; c < ss_check_count(); c++) {
        if (!suite->wanted[c]) continue;
        ss_text_appendf(page, "| %s | %s |", ss_check_at(c)->name, ss_check_at(c)->asks);
        for (int s = 0; s < suite->solver_count; s++) {
            ss_suite_tally tally = ss_suite_count(suite, s, c);
            if (tally.passed + tally.failed + tally.expected + tally.skipped > 0)
                ss_text_appendf(page, " %d", tally.passed);
            if (tally.failed > 0) ss_text_appendf(page, ", **%d failed**", tally.failed);
            if (tally.expected > 0) ss_text_appendf(page, ", %d expected", tally.expected);
            if (tally.skipped > 0) ss_text_appendf(page, ", %d skipped", tally.skipped);
            ss_text_append(page, " |");
        }
        ss_text_append(page, "\n");
    }

    put_solved(suite, page);
    put_failures(suite, false, page);
    put_failures(suite, true, page);
    ss_text_append(page, "\n## What each check shows\n\n");
    for (int c = 0; c < ss_check_count(); c++) {
        if (suite->wanted[c])
            ss_text_appendf(page, "- **%s**: %s.\n  %s\n", ss_check_at(c)->name, ss_check_at(c)->asks,
                            ss_check_at(c)->lesson);
    }
}
