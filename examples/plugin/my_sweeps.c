/* A block method as a plug-in: Gauss-Seidel with a solve of every block, and momentum for those who ask.
 * Projections, closed forms of contacts and factors of joints are the library's: what is left is the loop. */
#include <stickslip/plugin.h>

typedef struct sweeps_options {
    double momentum;
} sweeps_options;

static const ss_option options_table[] = {{.name = "momentum",
                                           .type = SS_OPTION_REAL,
                                           .offset = offsetof(sweeps_options, momentum),
                                           .default_value = "0",
                                           .min = 0,
                                           .max = 0.99,
                                           .help = "share of the last change that a sweep starts with"},
                                          {0}};

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const sweeps_options *set = options;
    size_t n = (size_t)problem->size, blocks = (size_t)problem->block_count;
    double *w = ss_arena_take(run->arena, n, sizeof *w, "w");
    double *last = ss_arena_take(run->arena, n, sizeof *last, "the iterate before");
    double *before = ss_arena_take(run->arena, n, sizeof *before, "a block before its solve");
    double *scratch =
        ss_arena_take(run->arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "scratch");
    ss_local **local = ss_arena_take(run->arena, blocks, sizeof *local, "blocks");
    if (!w || !last || !before || !scratch || !local) return SS_FAILED;

    // What every block needs to be solved by itself is made once.
    for (int k = 0; k < problem->block_count; k++) {
        local[k] = ss_local_create(problem, &problem->blocks[k], 1e-14, run->arena);
        if (!local[k]) return ss_run_fail(run, "no memory for block %d", k);
    }
    for (size_t i = 0; i < n; i++) last[i] = x[i];

    for (;;) {
        ss_problem_apply(problem, x, scratch, w);
        if (!ss_run_iteration(run, x, w)) return ss_run_status(run);

        // Heavy ball: go on in the direction of the last change, but not out of the laws.
        for (size_t i = 0; i < n; i++) {
            double change = x[i] - last[i];
            last[i] = x[i];
            x[i] += set->momentum * change;
        }
        if (set->momentum > 0.0) {
            ss_problem_project(problem, x);
            ss_problem_apply(problem, x, scratch, w);
        }

        // Block after block, each with what the others did before it.
        for (int k = 0; k < problem->block_count; k++) {
            const ss_block *block = &problem->blocks[k];
            for (int j = block->first; j < block->first + block->size; j++) before[j] = x[j];
            ss_local_step(local[k], w, x);
            for (int j = block->first; j < block->first + block->size; j++) {
                double change = x[j] - before[j];
                const ss_sparse *A = problem->A;
                for (int e = A->start[j]; change != 0.0 && e < A->start[j + 1]; e++)
                    w[A->row[e]] += A->value[e] * change;
            }
        }
    }
}

static const ss_solver sweeps = {
    .abi = SS_ABI,
    .name = "my-sweeps",
    .summary = "Gauss-Seidel, block by block, with momentum if asked for",
    .reference = "Jourdan, Alart, Jean 1998; Polyak 1964",
    .weakness = "slow on tall stacks; momentum has no proof of convergence",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_NEEDS_DIAGONAL | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(sweeps_options),
    .solve = solve,
};

static const ss_solver *const solvers[] = {&sweeps, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
