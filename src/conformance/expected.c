#include "conformance/expected.h"

#include "conformance/catalogue.h"
#include "conformance/checks.h"
#include "solver/core/names.h"

#include <ctype.h>
#include <string.h>

#define HEAVY "heavy on light: the error shrinks by 1 - 1/ratio in an iteration\n"
#define FEET "four feet and lift-off: slow, 1e-5 is reached\n"

static const char built_in[] =
    "jacobi | solves | cone, joints redundant | slow on redundant joints, 2e-6 is reached\n"
    "jacobi | solves | column, mass ratio 1.6e4 | " HEAVY "pgs | solves | column, mass ratio 1.6e4 | " HEAVY
    "psor | solves | column, mass ratio 1.6e4 | " HEAVY "nsgs | solves | column, mass ratio 1.6e4 | " HEAVY
    "jacobi | solves | column, mass ratio 1e6 | " HEAVY "pgs | solves | column, mass ratio 1e6 | " HEAVY
    "psor | solves | column, mass ratio 1e6 | " HEAVY "nsgs | solves | column, mass ratio 1e6 | " HEAVY
    "nncg | solves | column, mass ratio 1e6 | " HEAVY
    "heavy-ball | solves | column, mass ratio 1.6e4 | " HEAVY
    "heavy-ball | solves | column, mass ratio 1e6 | " HEAVY "heavy-ball | solves | towers, convex law | " FEET
    "barzilai-borwein | solves | column, mass ratio 1e6 | " HEAVY
    "jacobi | solves | towers, convex law | " FEET "pgs | solves | towers, convex law | " FEET
    "psor | solves | towers, convex law | " FEET "nsgs | solves | towers, convex law | " FEET
    "barzilai-borwein | solves | towers, convex law | " FEET
    "batched-nncg | solves | towers, convex law | " FEET;

const char *ss_expected_built_in(void)
{
    return built_in;
}

/* The field up to the next bar, without the blanks around it, which become its end; NULL: there is none. */
static char *take_field(char **at, bool last)
{
    char *field = *at, *end = last ? field + strlen(field) : strchr(field, '|');
    if (!end) return NULL;
    *at = *end ? end + 1 : end;
    *end = '\0';
    while (isspace((unsigned char)*field)) field++;
    while (end > field && isspace((unsigned char)end[-1])) *--end = '\0';
    return *field ? field : NULL;
}

/* "solver | check | problem | reason" */
static bool parse_line(char *line, ss_expected *item, const char *name, int number, ss_error *err)
{
    char *at = line;
    char *problem = NULL;
    *item = (ss_expected){.solver = take_field(&at, false), .line = number};
    if (item->solver) item->check = take_field(&at, false);
    if (item->check) item->problem = problem = take_field(&at, false);
    if (item->problem) item->reason = take_field(&at, true);
    if (!item->reason)
        return ss_fail(err, SS_ERROR_INPUT, "%s:%d: expected: solver | check | problem | reason", name,
                       number);

    if (ss_check_find(item->check) < 0)
        return ss_fail(err, SS_ERROR_INPUT, "%s:%d: unknown check '%.60s'", name, number, item->check);
    char *seed = strstr(problem, ", seed "); // all seeds of a kind are one problem
    if (seed) *seed = '\0';
    bool mixture = strcmp(item->check, "mixtures") == 0, once = strcmp(item->check, "descriptor") == 0;
    if (!mixture && !once && ss_known_find(item->problem) < 0)
        return ss_fail(err, SS_ERROR_INPUT, "%s:%d: unknown problem '%.60s'", name, number, item->problem);
    return true;
}

bool ss_expected_parse(const char *text, const char *name, ss_expected_list *list, ss_error *err)
{
    *list = (ss_expected_list){.text = ss_text_copy(text)};
    size_t lines = 1;
    for (const char *at = text; *at; at++) lines += *at == '\n';
    list->items = ss_allocate(lines, sizeof *list->items);
    bool good = list->text && list->items;
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for expected failures");

    int number = 1;
    for (char *line = list->text; good && line; number++) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        size_t blank = strspn(line, " \t\r");
        if (line[blank] && line[blank] != '#') {
            good = parse_line(line, &list->items[list->count], name, number, err);
            list->count++;
        }
        line = end ? end + 1 : NULL;
    }

    if (!good) ss_expected_free(list);
    return good;
}

void ss_expected_free(ss_expected_list *list)
{
    ss_release(list->items);
    ss_release(list->text);
    *list = (ss_expected_list){0};
}

int ss_expected_find(const ss_expected_list *list, const char *solver, const char *check, const char *problem)
{
    for (int i = 0; i < list->count; i++) {
        const ss_expected *item = &list->items[i];
        size_t length = strlen(item->problem);
        bool named = strncmp(problem, item->problem, length) == 0 &&
                     (!problem[length] || strncmp(problem + length, ", seed ", 7) == 0);
        if (named && ss_solver_same(item->solver, solver) && strcmp(item->check, check) == 0) return i;
    }
    return -1;
}
