#include "collision/manifold_builder.h"

ss_manifold_builder ss_manifold_builder_start(ss_manifold *manifold, const ss_placed_shape *frame,
                                              double margin, bool flip)
{
    manifold->count = 0;
    return (ss_manifold_builder){
        .manifold = manifold,
        .turn = ss_mat3_load(frame->rotation),
        .shift = ss_vec3_load(frame->position),
        .flip = flip,
        .margin = margin,
        .deepest = INFINITY,
    };
}

void ss_manifold_builder_restart(ss_manifold_builder *builder)
{
    builder->manifold->count = 0;
    builder->deepest = INFINITY;
    builder->crowded = false;
}

/* How far a point lies out in direction k of the SS_MANIFOLD_MOST - 1 around the contact normal; place 0 is
 * for the deepest point. */
static double reach(const ss_contact_point *point, int k, const ss_contact_point *first)
{
    if (k == 0) return -point->gap;
    ss_vec3 t1, t2;
    ss_vec3_tangents(ss_vec3_load(first->normal), &t1, &t2);
    double angle = 6.283185307179586 * k / (SS_MANIFOLD_MOST - 1);
    ss_vec3 direction = ss_vec3_add_scaled(ss_vec3_scale(cos(angle), t1), sin(angle), t2);
    return ss_vec3_dot(direction, ss_vec3_load(point->point));
}

void ss_manifold_builder_add(ss_manifold_builder *builder, ss_vec3 point, ss_vec3 normal, double gap,
                             ss_feature first, ss_feature second)
{
    ss_manifold *manifold = builder->manifold;
    if (!(gap - builder->round <= builder->margin)) return;
    point = ss_vec3_add_scaled(point, -0.5 * builder->round, normal);
    ss_contact_point made = {
        .gap = gap - builder->round,
        .feature = builder->flip ? ss_feature_pair(second, first) : ss_feature_pair(first, second),
    };
    ss_vec3_store(ss_vec3_add(builder->shift, ss_mat3_apply(builder->turn, point)), made.point);
    ss_vec3_store(ss_mat3_apply(builder->turn, builder->flip ? ss_vec3_negate(normal) : normal), made.normal);

    /* Points of one feature, or too near to each other, are one. */
    for (int i = 0; i < manifold->count && builder->apart > 0.0; i++) {
        const ss_contact_point *other = &manifold->points[i];
        ss_vec3 between = ss_vec3_subtract(ss_vec3_load(other->point), ss_vec3_load(made.point));
        if (other->feature == made.feature) return;
        if (ss_vec3_dot(between, between) < builder->apart * builder->apart) return;
    }
    if (gap < builder->deepest) builder->deepest = gap;
    if (manifold->count < SS_MANIFOLD_MOST) {
        manifold->points[manifold->count++] = made;
        return;
    }

    /* One too many: from now on, each place holds the outermost point of a direction. */
    if (!builder->crowded) {
        const ss_manifold all = *manifold;
        for (int k = 0; k < SS_MANIFOLD_MOST; k++) {
            int best = 0;
            for (int i = 1; i < all.count; i++)
                if (reach(&all.points[i], k, &all.points[0]) > reach(&all.points[best], k, &all.points[0]))
                    best = i;
            manifold->points[k] = all.points[best];
        }
        builder->crowded = true;
    }
    for (int k = 0; k < SS_MANIFOLD_MOST; k++) {
        ss_contact_point *held = &manifold->points[k];
        if (reach(&made, k, &made) > reach(held, k, &made)) *held = made;
    }
}

/* One point may be the outermost in several directions. */
void ss_manifold_builder_finish(ss_manifold_builder *builder)
{
    if (!builder->crowded) return;
    ss_manifold *manifold = builder->manifold;
    int kept = 0;
    for (int i = 0; i < manifold->count; i++) {
        bool seen = false;
        for (int k = 0; k < kept; k++) seen |= manifold->points[k].feature == manifold->points[i].feature;
        if (!seen) manifold->points[kept++] = manifold->points[i];
    }
    manifold->count = kept;
}
