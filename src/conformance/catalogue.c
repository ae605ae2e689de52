#include "conformance/catalogue.h"

#include "conformance/frames.h"

#include <stickslip/formulation.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const ss_recipe recipes[] = {
    {.name = "lcp", .letters = "llllllllllllllllllll", .seed = 1, .agreement = 1e-5},
    {.name = "lcp degenerate",
     .letters = "lllllllllllllll",
     .seed = 2,
     .degenerate = true,
     .agreement = 1e-5},
    {.name = "lcp redundant",
     .letters = "llllllllllll",
     .seed = 3,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1,
     .agreement = 1e-5},
    {.name = "lcp ill-conditioned",
     .letters = "llllllllllll",
     .seed = 4,
     .matrix = SS_RECIPE_ILL,
     .agreement = 1e-3},
    {.name = "lcp unsymmetric",
     .letters = "llllllllllll",
     .seed = 5,
     .matrix = SS_RECIPE_SKEWED,
     .agreement = 1e-5},
    {.name = "boxes", .letters = "bbbbbbbbbbbbbbbb", .seed = 6, .agreement = 1e-5},
    {.name = "boxes degenerate",
     .letters = "bbbbbbbbbbbbbbbb",
     .seed = 7,
     .degenerate = true,
     .agreement = 1e-5},
    {.name = "equations", .letters = "ffffffffff", .seed = 8, .agreement = 1e-5},
    {.name = "equations redundant",
     .letters = "ffffffff",
     .seed = 9,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1,
     .agreement = 1e-5},
    {.name = "mlcp", .letters = "fffflllllllbbbbb", .seed = 10, .agreement = 1e-5},
    {.name = "mlcp redundant",
     .letters = "ffffffffllllbb",
     .seed = 11,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1,
     .agreement = 1e-5},
    {.name = "mlcp unsymmetric",
     .letters = "ffffllllllbb",
     .seed = 12,
     .matrix = SS_RECIPE_SKEWED,
     .agreement = 1e-5},
    {.name = "mlcp of bodies",
     .letters = "ffflllllbbb",
     .seed = 13,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 4,
     .agreement = 1e-5},
    {.name = "coupled", .letters = "ccccc", .seed = 14},
    {.name = "coupled, own bounds", .letters = "CCCC", .seed = 15},
    {.name = "coupled and joints", .letters = "fffccc", .seed = 16},
    {.name = "coupled of bodies", .letters = "cccc", .seed = 17, .matrix = SS_RECIPE_BODIES, .bodies = 3},
    {.name = "cone", .letters = "kkkkk", .seed = 18},
    {.name = "cone planar", .letters = "pppppp", .seed = 19},
    {.name = "cone rolling", .letters = "rrrr", .seed = 20},
    {.name = "cone frictionless", .letters = "kkkk", .seed = 21, .frictionless = true},
    {.name = "cone endless friction", .letters = "kkkk", .seed = 22, .mu = INFINITY},
    {.name = "cone degenerate", .letters = "kkkkk", .seed = 23, .degenerate = true},
    {.name = "cone redundant", .letters = "kkkk", .seed = 24, .matrix = SS_RECIPE_BODIES, .bodies = 1},
    {.name = "cone unsymmetric", .letters = "kkkk", .seed = 25, .matrix = SS_RECIPE_SKEWED},
    {.name = "cone and joints", .letters = "kkkfff", .seed = 26},
    {.name = "cone, joints redundant",
     .letters = "ffffffffkk",
     .seed = 27,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 2},
    {.name = "cone, mass ratio 1e4",
     .letters = "kkkk",
     .seed = 28,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 4,
     .mass_ratio = 1e4},
    {.name = "cone, mass ratio 1e6",
     .letters = "kkkk",
     .seed = 29,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 4,
     .mass_ratio = 1e6},
    {.name = "convex", .letters = "vvvvv", .seed = 30, .agreement = 1e-5},
    {.name = "convex planar", .letters = "qqqqqq", .seed = 31, .agreement = 1e-5},
    {.name = "convex rolling", .letters = "ssss", .seed = 32, .agreement = 1e-5},
    {.name = "convex degenerate", .letters = "vvvvv", .seed = 33, .degenerate = true, .agreement = 1e-4},
    {.name = "convex redundant",
     .letters = "vvvv",
     .seed = 34,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1,
     .agreement = 1e-4},
    {.name = "convex, joints, limits", .letters = "ffvvvlb", .seed = 35, .agreement = 1e-5},
    {.name = "convex endless friction", .letters = "vvvv", .seed = 36, .mu = INFINITY, .agreement = 1e-5},
    {.name = "every law", .letters = "ffllbckprvqs", .seed = 37},
    {.name = "cone spinning", .letters = "eeee", .seed = 38},
    {.name = "cone spinning and rolling", .letters = "hhhf", .seed = 39},
    {.name = "convex spinning", .letters = "gggg", .seed = 40, .agreement = 1e-5},
};

/* ---- by hand ---------------------------------------------------------------------------------------- */

/* Gives the problem the solution x, and w = A x + b. */
static bool solve_by(const double *x, ss_known *made, ss_error *err)
{
    int n = made->problem->size;
    made->x = ss_allocate((size_t)n, sizeof *made->x);
    made->w = ss_allocate((size_t)n, sizeof *made->w);
    if (!made->x || !made->w) {
        ss_known_free(made);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a problem");
    }
    for (int i = 0; i < n; i++) made->x[i] = x[i], made->w[i] = made->problem->b[i];
    ss_sparse_apply(made->problem->A, made->x, 1.0, made->w);
    return true;
}

static bool no_unknowns(const char *name, ss_known *made, ss_error *err)
{
    const double none[1] = {0.0};
    return ss_known_from_matrix(name, 0, none, none, made, err) && solve_by(none, made, err);
}

static bool one_row(const char *name, ss_known *made, ss_error *err)
{
    const double A = 4.0, b = -2.0, x = 0.5;
    bool good = ss_known_from_matrix(name, 1, &A, &b, made, err) && solve_by(&x, made, err);
    made->agreement = 1e-6;
    return good;
}

/* Nothing that x does can be felt, and the bodies part anyway: contacts between immovable bodies. */
static bool immovable_bodies(const char *name, ss_known *made, ss_error *err)
{
    const double A[9] = {0.0}, b[3] = {1.0, 0.0, 2.0}, x[3] = {0.0};
    bool good = ss_known_from_matrix(name, 3, A, b, made, err) && solve_by(x, made, err);
    made->stop = "natural_residual<1e-8";
    return good;
}

/* Two rows that pull at each other: w_1 + w_2 = -2 whatever x is. */
static bool contradiction(const char *name, ss_known *made, ss_error *err)
{
    bool good = ss_known_from_matrix(name, 2, (double[]){1, -1, -1, 1}, (double[]){-1, -1}, made, err);
    made->unsolvable = true;
    return good;
}

/* The same with equations: 2 x = 1 and 2 x = 3. */
static bool contradicting_equations(const char *name, ss_known *made, ss_error *err)
{
    if (!ss_known_from_matrix(name, 2, (double[]){1, 1, 1, 1}, (double[]){-1, -3}, made, err)) return false;
    made->problem->blocks[0].law = SS_LAW_FREE;
    for (int i = 0; i < 2; i++) made->problem->lower[i] = -INFINITY;
    made->unsolvable = true;
    return true;
}

bool ss_known_column(const char *name, int n, double growth, ss_known *made, ss_error *err)
{
    double *A = ss_allocate((size_t)n * (size_t)n, sizeof *A), *b = ss_allocate((size_t)n, sizeof *b);
    double *x = ss_allocate((size_t)n, sizeof *x);
    bool good = A && b && x;
    for (int i = 0; good && i < n; i++) {
        double here = pow(growth, -i), below = i > 0 ? pow(growth, 1 - i) : 0.0;
        A[n * i + i] = here + below;
        if (i > 0) A[n * i + i - 1] = A[n * (i - 1) + i] = -below;
    }

    if (good) {
        b[0] = -1.0; // all balls fall at the same speed: only the lowest row sees it
        for (int i = n - 1; i >= 0; i--) x[i] = pow(growth, i) + (i + 1 < n ? x[i + 1] : 0.0);
        good = ss_known_from_matrix(name, n, A, b, made, err) && solve_by(x, made, err);
        for (int i = 0; good && i < n; i++) made->w[i] = 0.0; // without the rounding of A x + b
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a problem");
    }

    ss_release(A);
    ss_release(b);
    ss_release(x);
    return good;
}

/* ---- from frames ------------------------------------------------------------------------------------ */

static const ss_tower_recipe resting = {.seed = 41, .towers = 1, .height = 3, .feet = 4, .mu_least = 0.4};
static const ss_tower_recipe pushed = {
    .seed = 42, .towers = 2, .height = 2, .feet = 4, .push = 0.5, .mu_least = 0.2};

static ss_frame *block_sticks(ss_error *err)
{
    return ss_mechanics_block(0.3, 0.5, 0.0, err);
}

static ss_frame *block_slides(ss_error *err)
{
    return ss_mechanics_block(0.6, 0.3, 1.0, err);
}

static ss_frame *rod_below(ss_error *err)
{
    return ss_mechanics_rod(1.2, err);
}

static ss_frame *rod_beyond(ss_error *err)
{
    return ss_mechanics_rod(2.0, err);
}

static ss_frame *tower_at_rest(ss_error *err)
{
    return ss_mechanics_towers(&resting, err);
}

static ss_frame *towers_pushed(ss_error *err)
{
    return ss_mechanics_towers(&pushed, err);
}

bool ss_known_from_frame(const char *name, const char *formulation, const ss_frame *frame, ss_known *made,
                         ss_error *err)
{
    char words[200], *rest = words;
    union {
        double aligned[64];
        char bytes[64 * sizeof(double)];
    } options;
    *made = (ss_known){.name = name, .stop = SS_KNOWN_STOP};
    snprintf(words, sizeof words, "%s", formulation);

    const ss_formulation *found = ss_formulation_find(strtok_r(words, " ", &rest));
    if (!found || found->options_size > sizeof options)
        return ss_fail(err, SS_ERROR_USAGE, "unknown formulation '%s'", formulation);
    ss_options_defaults(found->options, options.bytes);
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        if (!ss_options_assign(found->options, options.bytes, word, err)) return false;
    }

    made->problem = ss_problem_from_frame(frame, found, options.bytes, err);
    for (int i = 0; made->problem && i < made->problem->size; i++) {
        // the energy does not see rows without inverse mass, such as those of the sliding speed
        if (!(made->problem->diagonal[i] > 0.0)) made->stop = "natural_residual<1e-9";
    }
    return made->problem != NULL;
}

/* ---- the list --------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*make)(const char *name, ss_known *made, ss_error *err); /* or */
    int balls;                                                     /* of a column, and */
    double growth, agreement;                                      /* ... or */
    ss_frame *(*frame)(ss_error *err);
    const char *formulation;
    bool any_end;
} by_hand[] = {
    {.name = "no unknowns", .make = no_unknowns},
    {.name = "one row", .make = one_row},
    {.name = "immovable bodies", .make = immovable_bodies},
    {.name = "column of equal balls", .balls = 6, .growth = 1.0, .agreement = 1e-5},
    {.name = "column, mass ratio 64", .balls = 3, .growth = 8.0},
    {.name = "column, mass ratio 1.6e4", .balls = 3, .growth = 128.0},
    {.name = "column, mass ratio 1e6", .balls = 3, .growth = 1024.0},
    {.name = "block sticks on a slope", .frame = block_sticks, .formulation = "cone"},
    {.name = "block slides", .frame = block_slides, .formulation = "cone"},
    {.name = "rod below Painleve", .frame = rod_below, .formulation = "cone"},
    {.name = "rod beyond Painleve", .frame = rod_beyond, .formulation = "cone", .any_end = true},
    {.name = "tower at rest", .frame = tower_at_rest, .formulation = "cone"},
    {.name = "towers pushed", .frame = towers_pushed, .formulation = "cone"},
    {.name = "towers, convex law", .frame = towers_pushed, .formulation = "convex"},
    {.name = "towers, box friction", .frame = towers_pushed, .formulation = "box"},
    {.name = "block, Stewart-Trinkle", .frame = block_slides, .formulation = "stewart-trinkle"},
    {.name = "tower, Stewart-Trinkle", .frame = tower_at_rest, .formulation = "stewart-trinkle"},
    {.name = "towers pushed, Stewart-Trinkle", .frame = towers_pushed, .formulation = "stewart-trinkle"},
    {.name = "towers pushed, mixed LCP", .frame = towers_pushed, .formulation = "stewart-trinkle form=mixed"},
    {.name = "contradiction", .make = contradiction},
    {.name = "contradicting equations", .make = contradicting_equations},
};

enum {
    RECIPES = sizeof recipes / sizeof *recipes,
    BY_HAND = sizeof by_hand / sizeof *by_hand,
};

int ss_known_count(void)
{
    return RECIPES + BY_HAND;
}

int ss_known_recipes(void)
{
    return RECIPES;
}

const ss_recipe *ss_known_recipe(int index)
{
    return index < RECIPES ? &recipes[index] : NULL;
}

const char *ss_known_name(int index)
{
    return index < RECIPES ? recipes[index].name : by_hand[index - RECIPES].name;
}

int ss_known_find(const char *name)
{
    for (int i = 0; i < ss_known_count(); i++) {
        if (strcmp(ss_known_name(i), name) == 0) return i;
    }
    return -1;
}

/* turn = NULL: as it stands. */
static bool make_from_frame(int index, const double (*turn)[3], ss_known *made, ss_error *err)
{
    ss_frame *frame = by_hand[index].frame(err);
    bool good = frame && (!turn || ss_mechanics_turn(frame, turn, err)) &&
                ss_known_from_frame(by_hand[index].name, by_hand[index].formulation, frame, made, err);
    if (good) made->any_end = by_hand[index].any_end;
    ss_frame_destroy(frame);
    return good;
}

bool ss_known_make(int index, ss_known *made, ss_error *err)
{
    *made = (ss_known){0};
    if (index < RECIPES) return ss_known_from_recipe(&recipes[index], made, err);
    index -= RECIPES;
    if (by_hand[index].make) return by_hand[index].make(by_hand[index].name, made, err);
    if (by_hand[index].frame) return make_from_frame(index, NULL, made, err);
    bool good = ss_known_column(by_hand[index].name, by_hand[index].balls, by_hand[index].growth, made, err);
    made->agreement = by_hand[index].agreement;
    return good;
}

bool ss_known_make_turned(int index, bool *there, ss_known *made, ss_error *err)
{
    static const double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0.0}, {0.48, 0.64, 0.6}};
    *made = (ss_known){0};
    *there = index >= RECIPES && by_hand[index - RECIPES].frame;
    return !*there || make_from_frame(index - RECIPES, turn, made, err);
}

ss_recipe ss_known_mixture(uint64_t seed, char letters[16])
{
    static const char all[] = "flbcCkprvqs";
    static const double frictions[] = {0.0, 0.0, 0.01, 1.0, 2.0, INFINITY};
    ss_random random = ss_random_start(seed, 3);
    int count = 1 + ss_random_below(&random, 12), kinds = 1 + ss_random_below(&random, (int)sizeof all - 1);
    int from = ss_random_below(&random, (int)sizeof all - 1);
    for (int i = 0; i < count; i++)
        letters[i] = all[(from + ss_random_below(&random, kinds)) % ((int)sizeof all - 1)];
    letters[count] = 0;

    ss_recipe made = {.name = letters, .letters = letters, .seed = seed};
    made.matrix = (ss_recipe_matrix)ss_random_below(&random, SS_RECIPE_MATRICES);
    made.bodies = 1 + ss_random_below(&random, 5);
    made.mass_ratio = pow(10.0, ss_random_below(&random, 7));
    made.mu = frictions[ss_random_below(&random, 6)];
    made.frictionless = ss_random_below(&random, 10) == 0;
    made.degenerate = ss_random_below(&random, 2);
    if (isinf(made.mu) && strpbrk(letters, "cC")) made.mu = 0.5; // factors are finite
    return made;
}
