/* The problems that every solver is tried on: who takes one must solve it or be listed in
 * test_conformance.c. */
#ifndef STICKSLIP_TEST_CATALOGUE_H
#define STICKSLIP_TEST_CATALOGUE_H

#include "problems.h"

static const recipe recipes[] = {
    {.name = "lcp", .letters = "llllllllllllllllllll", .seed = 1, .agreement = 1e-5},
    {.name = "lcp degenerate",
     .letters = "lllllllllllllll",
     .seed = 2,
     .degenerate = true,
     .agreement = 1e-5},
    {.name = "lcp redundant",
     .letters = "llllllllllll",
     .seed = 3,
     .matrix = SCENE,
     .bodies = 1,
     .agreement = 1e-5},
    {.name = "lcp ill-conditioned", .letters = "llllllllllll", .seed = 4, .matrix = ILL, .agreement = 1e-3},
    {.name = "lcp unsymmetric", .letters = "llllllllllll", .seed = 5, .matrix = SKEWED, .agreement = 1e-5},
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
     .matrix = SCENE,
     .bodies = 1,
     .agreement = 1e-5},
    {.name = "mlcp", .letters = "fffflllllllbbbbb", .seed = 10, .agreement = 1e-5},
    {.name = "mlcp redundant",
     .letters = "ffffffffllllbb",
     .seed = 11,
     .matrix = SCENE,
     .bodies = 1,
     .agreement = 1e-5},
    {.name = "mlcp unsymmetric", .letters = "ffffllllllbb", .seed = 12, .matrix = SKEWED, .agreement = 1e-5},
    {.name = "mlcp of bodies",
     .letters = "ffflllllbbb",
     .seed = 13,
     .matrix = SCENE,
     .bodies = 4,
     .agreement = 1e-5},
    {.name = "coupled", .letters = "ccccc", .seed = 14},
    {.name = "coupled, own bounds", .letters = "CCCC", .seed = 15},
    {.name = "coupled and joints", .letters = "fffccc", .seed = 16},
    {.name = "coupled of bodies", .letters = "cccc", .seed = 17, .matrix = SCENE, .bodies = 3},
    {.name = "cone", .letters = "kkkkk", .seed = 18},
    {.name = "cone planar", .letters = "pppppp", .seed = 19},
    {.name = "cone rolling", .letters = "rrrr", .seed = 20},
    {.name = "cone frictionless", .letters = "kkkk", .seed = 21, .frictionless = true},
    {.name = "cone endless friction", .letters = "kkkk", .seed = 22, .mu = INFINITY},
    {.name = "cone degenerate", .letters = "kkkkk", .seed = 23, .degenerate = true},
    {.name = "cone redundant", .letters = "kkkk", .seed = 24, .matrix = SCENE, .bodies = 1},
    {.name = "cone unsymmetric", .letters = "kkkk", .seed = 25, .matrix = SKEWED},
    {.name = "cone and joints", .letters = "kkkfff", .seed = 26},
    {.name = "cone, joints redundant", .letters = "ffffffffkk", .seed = 27, .matrix = SCENE, .bodies = 2},
    {.name = "cone, mass ratio 1e4",
     .letters = "kkkk",
     .seed = 28,
     .matrix = SCENE,
     .bodies = 4,
     .mass_ratio = 1e4},
    {.name = "cone, mass ratio 1e6",
     .letters = "kkkk",
     .seed = 29,
     .matrix = SCENE,
     .bodies = 4,
     .mass_ratio = 1e6},
    {.name = "convex", .letters = "vvvvv", .seed = 30, .agreement = 1e-5},
    {.name = "convex planar", .letters = "qqqqqq", .seed = 31, .agreement = 1e-5},
    {.name = "convex rolling", .letters = "ssss", .seed = 32, .agreement = 1e-5},
    {.name = "convex degenerate", .letters = "vvvvv", .seed = 33, .degenerate = true, .agreement = 1e-4},
    {.name = "convex redundant",
     .letters = "vvvv",
     .seed = 34,
     .matrix = SCENE,
     .bodies = 1,
     .agreement = 1e-4},
    {.name = "convex, joints, limits", .letters = "ffvvvlb", .seed = 35, .agreement = 1e-5},
    {.name = "convex endless friction", .letters = "vvvv", .seed = 36, .mu = INFINITY, .agreement = 1e-5},
    {.name = "every law", .letters = "ffllbckprvqs", .seed = 37},
};

static const scene_recipe resting = {.seed = 41, .towers = 1, .height = 3, .feet = 4, .mu_least = 0.4};
static const scene_recipe pushed = {
    .seed = 42, .towers = 2, .height = 2, .feet = 4, .push = 0.5, .mu_least = 0.2};

static inline known_problem block_sticks(void)
{
    return formulated("block sticks on a slope", "cone", sliding_block(0.3, 0.5, 0.0));
}
static inline known_problem block_slides(void)
{
    return formulated("block slides", "cone", sliding_block(0.6, 0.3, 1.0));
}
static inline known_problem rod_below_painleve(void)
{
    return formulated("rod below Painleve", "cone", sliding_rod(1.2));
}
static inline known_problem rod_beyond_painleve(void)
{
    known_problem made = formulated("rod beyond Painleve", "cone", sliding_rod(2.0));
    made.any_end = true;
    return made;
}
static inline known_problem tower_at_rest(void)
{
    return formulated("tower at rest", "cone", towers(&resting));
}
static inline known_problem towers_pushed(void)
{
    return formulated("towers pushed", "cone", towers(&pushed));
}
static inline known_problem towers_convex(void)
{
    return formulated("towers, convex law", "convex", towers(&pushed));
}
static inline known_problem towers_boxed(void)
{
    return formulated("towers, box friction", "box", towers(&pushed));
}
static inline known_problem block_lcp(void)
{
    return formulated("block, Stewart-Trinkle", "stewart-trinkle", sliding_block(0.6, 0.3, 1.0));
}
static inline known_problem towers_lcp(void)
{
    return formulated("tower, Stewart-Trinkle", "stewart-trinkle", towers(&resting));
}
static inline known_problem pushed_lcp(void)
{
    return formulated("towers pushed, Stewart-Trinkle", "stewart-trinkle", towers(&pushed));
}
static inline known_problem pushed_mlcp(void)
{
    return formulated("towers pushed, mixed LCP", "stewart-trinkle form=mixed", towers(&pushed));
}

static known_problem (*const by_hand[])(void) = {
    nothing,
    one_row,
    immovable,
    column_equal,
    column_100,
    column_10000,
    column_million,
    block_sticks,
    block_slides,
    rod_below_painleve,
    rod_beyond_painleve,
    tower_at_rest,
    towers_pushed,
    towers_convex,
    towers_boxed,
    block_lcp,
    towers_lcp,
    pushed_lcp,
    pushed_mlcp,
    contradiction,
    contradicting_equations,
};

enum {
    RECIPES = sizeof recipes / sizeof *recipes,
    BY_HAND = sizeof by_hand / sizeof *by_hand,
    PROBLEMS = RECIPES + BY_HAND,
};

/* One problem of the catalogue, to be freed by known_problem_free. */
static inline known_problem problem_at(int index)
{
    return index < RECIPES ? cook(&recipes[index]) : by_hand[index - RECIPES]();
}

#endif
