#include <stickslip/solver.h>

#include <string.h>

#include "base/registry.h"
#include "problem/laws.h"
#include "solver/core/names.h"

#define SS_SOLVER(name) extern const ss_solver ss_solver_##name;
#include "solver/solvers.def"
#undef SS_SOLVER

static const ss_solver *const solvers[] = {
#define SS_SOLVER(name) &ss_solver_##name,
#include "solver/solvers.def"
#undef SS_SOLVER
};

enum { OURS = sizeof solvers / sizeof *solvers };

int ss_solver_count(void)
{
    return OURS + ss_registered_count(SS_REGISTERED_SOLVERS);
}

const ss_solver *ss_solver_at(int index)
{
    if (index >= OURS) return ss_registered_at(SS_REGISTERED_SOLVERS, index - OURS);
    return index >= 0 ? solvers[index] : NULL;
}

/* Other names of solvers; those they had until they were renamed stand in files and scripts. */
static const struct {
    const char *other, *name;
    bool is_former;
} aliases[] = {
    {"cone-interior", "interior-point", false}, {"coloured", "batched-nncg", true},
    {"prox", "projected-fixed-point", true},    {"proximal-fixed-point", "projected-fixed-point", false},
    {"proximal", "proximal-point", true},       {"split", "normal-friction-splitting", true}};
enum { ALIASES = sizeof aliases / sizeof *aliases };

const char *ss_solver_name(const char *name)
{
    for (int i = 0; i < ALIASES; i++) {
        if (strcmp(aliases[i].other, name) == 0) return aliases[i].name;
    }
    return name;
}

const char *ss_solver_alias(const char *name, int index)
{
    for (int i = 0; i < ALIASES; i++) {
        if (strcmp(aliases[i].name, name) == 0 && index-- == 0) return aliases[i].other;
    }
    return NULL;
}

const char *ss_solver_former_name(const char *name)
{
    for (int i = 0; i < ALIASES; i++) {
        if (aliases[i].is_former && strcmp(aliases[i].name, name) == 0) return aliases[i].other;
    }
    return name;
}

bool ss_solver_same(const char *one, const char *other)
{
    return strcmp(ss_solver_name(one), ss_solver_name(other)) == 0;
}

const ss_solver *ss_solver_find(const char *name)
{
    const ss_solver *solver;
    name = ss_solver_name(name);
    for (int i = 0; (solver = ss_solver_at(i)); i++) {
        if (strcmp(solver->name, name) == 0) return solver;
    }
    return NULL;
}

/* Where it is used: a cone without friction, such as a joint limit, has no use for its tangents. */
static bool has_positive_diagonal(const ss_problem *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        const double *diagonal = problem->diagonal + block->first;
        for (int i = 0; i < block->size; i++) {
            if (diagonal[i] > 0.0) continue;
            bool is_used = !ss_law_is_cone(block->law) || i == 0 || ss_block_friction(block, i) > 0.0;
            if (is_used) return false;
        }
    }
    return true;
}

/* Sliding and spinning in one ball. */
static bool has_spinning_cones(const ss_problem *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_law_is_cone(block->law) && ss_cone_tangents(block->size) == 3) return true;
    }
    return false;
}

const char *ss_solver_refusal(const ss_solver *solver, const ss_problem *problem)
{
    unsigned missing = ss_problem_laws(problem) & ~solver->laws;
    if (missing & (SS_LAW_CONE | SS_LAW_CONVEX)) return "does not accept friction cones";
    if (missing & SS_LAW_COUPLED) return "does not accept bounds that follow another unknown";
    if (missing & SS_LAW_FREE) return "does not accept free unknowns";
    if (missing) return "does not accept bounds";
    if (!(solver->traits & SS_SPINNING_CONES) && has_spinning_cones(problem))
        return "does not accept sliding and spinning in one cone";
    if (solver->traits & SS_NEEDS_SYMMETRIC && !problem->symmetric) return "needs a symmetric matrix";
    if (solver->traits & SS_NEEDS_DIAGONAL && !has_positive_diagonal(problem)) {
        return "needs a positive diagonal";
    }
    return solver->refusal ? solver->refusal(problem) : NULL;
}
