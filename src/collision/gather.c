#include "collision/gather.h"

ss_gather ss_gather_start(ss_manifold *manifold, const ss_placed_shape *frame, double margin, bool flip)
{
    manifold->count = 0;
    return (ss_gather){
        .manifold = manifold,
        .turn = ss_mat3_load(frame->rotation),
        .shift = ss_vec3_load(frame->position),
        .flip = flip,
        .margin = margin,
        .deepest = INFINITY,
    };
}

void ss_gather_restart(ss_gather *gather)
{
    gather->manifold->count = 0;
    gather->deepest = INFINITY;
    gather->crowded = false;
}

static bool is_new(const ss_gather *gather, const ss_contact_point *point)
{
    for (int i = 0; i < gather->manifold->count; i++) {
        const ss_contact_point *other = &gather->manifold->points[i];
        ss_vec3 between = ss_vec3_subtract(ss_vec3_load(other->point), ss_vec3_load(point->point));
        if (other->feature == point->feature) return false;
        if (ss_vec3_dot(between, between) < gather->apart * gather->apart) return false;
    }
    return true;
}

/* How far a point lies out in direction k of the SS_MANIFOLD_MOST - 1 around the contact normal; place 0 is for the
 * deepest point. */
static double reach(const ss_contact_point *point, int k, const ss_contact_point *first)
{
    if (k == 0) return -point->gap;
    ss_vec3 t1, t2;
    ss_vec3_tangents(ss_vec3_load(first->normal), &t1, &t2);
    double angle = 6.283185307179586 * k / (SS_MANIFOLD_MOST - 1);
    ss_vec3 direction = ss_vec3_add_scaled(ss_vec3_scale(cos(angle), t1), sin(angle), t2);
    return ss_vec3_dot(direction, ss_vec3_load(point->point));
}

static void become_crowded(ss_gather *gather)
{
    const ss_manifold all = *gather->manifold;
    for (int k = 0; k < SS_MANIFOLD_MOST; k++) {
        int best = 0;
        for (int i = 1; i < all.count; i++)
            if (reach(&all.points[i], k, &all.points[0]) > reach(&all.points[best], k, &all.points[0]))
                best = i;
        gather->manifold->points[k] = all.points[best];
    }
    gather->crowded = true;
}

static void squeeze_in(ss_gather *gather, const ss_contact_point *point)
{
    if (!gather->crowded) become_crowded(gather);
    for (int k = 0; k < SS_MANIFOLD_MOST; k++) {
        ss_contact_point *held = &gather->manifold->points[k];
        if (reach(point, k, point) > reach(held, k, point)) *held = *point;
    }
}

void ss_gather_add(ss_gather *gather, ss_vec3 point, ss_vec3 normal, double gap, ss_feature first,
                   ss_feature second)
{
    if (!(gap - gather->round <= gather->margin)) return;
    point = ss_vec3_add_scaled(point, -0.5 * gather->round, normal);
    ss_contact_point made = {
        .gap = gap - gather->round,
        .feature = gather->flip ? ss_feature_pair(second, first) : ss_feature_pair(first, second),
    };
    ss_vec3_store(ss_vec3_add(gather->shift, ss_mat3_apply(gather->turn, point)), made.point);
    ss_vec3_store(ss_mat3_apply(gather->turn, gather->flip ? ss_vec3_negate(normal) : normal), made.normal);
    if (gather->apart > 0.0 && !is_new(gather, &made)) return;
    if (gap < gather->deepest) gather->deepest = gap;
    if (gather->manifold->count < SS_MANIFOLD_MOST)
        gather->manifold->points[gather->manifold->count++] = made;
    else
        squeeze_in(gather, &made);
}

/* One point may be the outermost in several directions. */
void ss_gather_finish(ss_gather *gather)
{
    if (!gather->crowded) return;
    ss_manifold *manifold = gather->manifold;
    int kept = 0;
    for (int i = 0; i < manifold->count; i++) {
        bool seen = false;
        for (int k = 0; k < kept; k++) seen |= manifold->points[k].feature == manifold->points[i].feature;
        if (!seen) manifold->points[kept++] = manifold->points[i];
    }
    manifold->count = kept;
}
