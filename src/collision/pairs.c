#include "collision/pairs.h"

static ss_collide_function *const table[SS_SHAPE_KINDS][SS_SHAPE_KINDS] = {
#define SS_PAIR(KIND_A, KIND_B, function) [SS_##KIND_A][SS_##KIND_B] = ss_collide_##function,
#include "collision/pairs.def"
#undef SS_PAIR
};

ss_collide_function *ss_pair_find(ss_shape_kind a, ss_shape_kind b)
{
    return table[a][b];
}

void ss_collide(const ss_placed_shape *a, const ss_placed_shape *b, double margin, ss_manifold *manifold)
{
    bool swapped = a->shape->kind > b->shape->kind;
    const ss_placed_shape *first = swapped ? b : a, *second = swapped ? a : b;
    ss_collide_function *collide = ss_pair_find(first->shape->kind, second->shape->kind);
    manifold->count = 0;
    if (!collide) return;
    collide(first, second, margin, manifold);
    if (swapped) ss_manifold_flip(manifold);
}
