/* One block at a time: what a block method outside the library is built from. */
#include "conformance.h"

/* One sweep of block solves through the public calls, w kept up to date by columns of A. */
static void sweep(const ss_problem *problem, ss_local **local, double *x, double *w, double *before)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        memcpy(before, x + block->first, (size_t)block->size * sizeof *x);
        ss_local_step(local[k], w, x);
        for (int i = 0; i < block->size; i++) {
            int j = block->first + i;
            for (int e = problem->A->start[j]; e < problem->A->start[j + 1]; e++)
                w[problem->A->row[e]] += problem->A->value[e] * (x[j] - before[i]);
        }
    }
}

/* nsgs without bodies, in its forward order, is the same method: after three sweeps both are at the same
 * place. They add up in another order, and ill-conditioned matrices magnify that: 1e-9 of the load. */
TEST(sweeps_of_local_steps_are_nsgs)
{
    const ss_solver *nsgs = ss_solver_find("nsgs");
    int compared = 0;
    for (int p = 0; p < ss_known_recipes(); p++) {
        known_problem of = problem_at(p);
        ss_error err;
        ENSURE(ss_problem_need_matrix(of.problem, &err));
        if (of.problem->bodies || ss_solver_refusal(nsgs, of.problem)) {
            known_problem_free(&of);
            continue;
        }
        int n = of.problem->size;
        double *x = numbers(n), *w = numbers(n), *before = numbers(n), *theirs = numbers(n);
        double *scratch = numbers(ss_problem_scratch(of.problem));
        ss_arena *arena = known(ss_arena_create(1 << 12, &err), &err);
        ss_local **local = known(calloc((size_t)of.problem->block_count, sizeof *local), NULL);
        for (int k = 0; k < of.problem->block_count; k++)
            local[k] = known(ss_local_create(of.problem, &of.problem->blocks[k], 1e-14, arena), NULL);
        ss_problem_project(of.problem, x);
        ss_problem_apply(of.problem, x, scratch, w);
        for (int i = 0; i < 3; i++) sweep(of.problem, local, x, w, before);

        ss_problem_project(of.problem, theirs);
        ss_run_options run = {.max_iterations = 3, .seed = 1};
        ss_solve_result result;
        void *options = numbers((int)nsgs->options_size);
        ss_options_defaults(nsgs->options, options);
        ENSURE(ss_options_assign(nsgs->options, options, "sweep=forward", &err));
        ENSURE(ss_solve(
            &(ss_solve_request){
                .solver = nsgs, .solver_options = options, .problem = of.problem, .run = &run},
            theirs, &result, &err));
        ss_solve_result_free(&result);
        double scale = (double)ss_independent_load(of.problem);
        for (int i = 0; i < n; i++)
            if (!(fabs(x[i] - theirs[i]) * sqrt((double)ss_independent_inverse_mass(of.problem, i)) <=
                  1e-9 * scale))
                KIT_FAIL("\"%s\": x[%d] is %.17g, by nsgs %.17g", of.name, i, x[i], theirs[i]);
        compared++;
        ss_arena_destroy(arena);
        free(x), free(w), free(before), free(theirs), free(scratch), free(local), free(options);
        known_problem_free(&of);
    }
    ENSURE(compared > 20);
}

/* Where all other unknowns have their planted values, the block's own are a solution: a step keeps them. */
TEST(a_planted_solution_stays_where_it_is)
{
    for (int p = 0; p < ss_known_recipes(); p++) {
        known_problem of = problem_at(p);
        ss_error err;
        ENSURE(ss_problem_need_matrix(of.problem, &err));
        double *x = numbers(of.problem->size);
        ss_arena *arena = known(ss_arena_create(1 << 12, &err), &err);
        memcpy(x, of.x, (size_t)of.problem->size * sizeof *x);
        double scale = (double)ss_independent_load(of.problem);
        for (int k = 0; k < of.problem->block_count; k++) {
            const ss_block *block = &of.problem->blocks[k];
            ss_local *local = known(ss_local_create(of.problem, block, 1e-14, arena), NULL);
            ss_local_step(local, of.w, x);
            for (int i = block->first; i < block->first + block->size; i++) {
                double moved =
                    fabs(x[i] - of.x[i]) * sqrt((double)ss_independent_inverse_mass(of.problem, i));
                bool unique = !strstr(of.name, "redundant") && !strstr(of.name, "mass ratio");
                // 1e-6: the condition number of the ill-conditioned ones
                if (unique && !(moved <= 1e-6 * scale))
                    KIT_FAIL("\"%s\": x[%d] moves from %.17g to %.17g", of.name, i, of.x[i], x[i]);
            }
            memcpy(x, of.x, (size_t)of.problem->size * sizeof *x);
        }
        ss_arena_destroy(arena);
        free(x);
        known_problem_free(&of);
    }
}

TEST(blocks_are_projected_like_the_whole)
{
    for (int p = 0; p < ss_known_recipes(); p++) {
        known_problem of = problem_at(p);
        int n = of.problem->size;
        double *whole = numbers(n), *parts = numbers(n);
        ss_random random = ss_random_start(5, (uint64_t)p);
        for (int i = 0; i < n; i++) whole[i] = parts[i] = 2.0 * ss_random_normal(&random);
        ss_problem_project(of.problem, whole);
        for (int coupled = 0; coupled < 2; coupled++) { // partners first
            for (int k = 0; k < of.problem->block_count; k++) {
                const ss_block *block = &of.problem->blocks[k];
                if ((block->law == SS_LAW_COUPLED) == (coupled == 1))
                    ss_block_project(of.problem, block, parts);
            }
        }
        ENSURE(memcmp(whole, parts, (size_t)n * sizeof *whole) == 0);
        free(whole), free(parts);
        known_problem_free(&of);
    }
}

int main(int argc, char **argv)
{
    return kit_main(argc, argv);
}
