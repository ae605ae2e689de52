/* Capsules against polyhedra: the segment inside them as a hull, then rounded. */
#include "collision/pairs.h"
#include "collision/polyhedron.h"

void ss_collide_rounded(const ss_placed_shape *hull, const ss_placed_shape *round, double length,
                        double margin, bool round_first, ss_manifold *manifold)
{
    ss_box_hull box;
    ss_core_hull core;
    double radius = round->shape->size[0];
    ss_hull_pair pair =
        ss_hull_pair_place(hull, ss_placed_hull(hull, &box), round, ss_core_hull_fill(&core, length), radius);
    ss_manifold_builder builder = ss_manifold_builder_start(manifold, hull, margin, round_first);
    builder.round = radius;
    ss_collide_hulls(&pair, &(ss_approach){.rest = margin + radius}, &builder);
}

void ss_collide_box_capsule(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                            ss_manifold *manifold)
{
    ss_collide_rounded(a, b, b->shape->size[1], margin, false, manifold);
}

void ss_collide_capsule_hull(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                             ss_manifold *manifold)
{
    ss_collide_rounded(b, a, a->shape->size[1], margin, true, manifold);
}
