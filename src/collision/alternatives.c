/* Alternatives of pairs of polyhedra. Which ones: those whose separation is within what the step can change.
 * Where: along each normal, the part that the facing features of both bodies have in common. */
#include "collision/alternatives.h"

#include "base/team.h"
#include "collision/pairs.h"
#include "collision/patch.h"
#include "collision/reduce.h"
#include "collision/state.h"

#include <string.h>

/* Alternatives of one kind with normals closer than this, in rad, are one. Not across kinds: their points
 * differ when the bodies turn. */
static const double same_direction = 1e-6;
/* Multiples of the size: points closer than this are one. */
static const double same_point = 1e-7;

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Room for one more item; the array moves. */
static bool make_room(void **items, int count, int *capacity, size_t size, ss_error *err)
{
    if (count < *capacity) return true;
    int more = 2 * *capacity + 64;
    void *larger = ss_allocate((size_t)more, size);
    if (!larger) return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d alternatives", more);
    if (count) memcpy(larger, *items, (size_t)count * size);
    ss_release(*items);
    *items = larger;
    *capacity = more;
    return true;
}

static ss_alternative *add_alternative(ss_group_list *list, ss_error *err)
{
    void *items = list->alternatives;
    if (!make_room(&items, list->alternative_count, &list->alternative_capacity, sizeof *list->alternatives,
                   err))
        return NULL;
    list->alternatives = items;
    ss_alternative *made = &list->alternatives[list->alternative_count++];
    *made = (ss_alternative){.first = list->point_count};
    return made;
}

static bool add_point(ss_group_list *list, ss_vec3 point, double gap, bool test, uint64_t key, ss_error *err)
{
    void *items = list->points;
    if (!make_room(&items, list->point_count, &list->point_capacity, sizeof *list->points, err)) return false;
    list->points = items;
    ss_alternative_point *made = &list->points[list->point_count++];
    *made = (ss_alternative_point){.gap = gap, .test = test, .key = key};
    ss_vec3_store(point, made->point);
    return true;
}

static bool add_group(ss_group_list *list, const ss_contact_group *group, ss_error *err)
{
    void *items = list->groups;
    if (!make_room(&items, list->count, &list->capacity, sizeof *list->groups, err)) return false;
    list->groups = items;
    list->groups[list->count++] = *group;
    return true;
}

void ss_group_list_free(ss_group_list *list)
{
    ss_release(list->groups);
    ss_release(list->alternatives);
    ss_release(list->points);
    *list = (ss_group_list){0};
}

/* ---- many pairs by several threads ------------------------------------------------------------------ */

#define GROUPS_AT_ONCE 4
#define GROUP_NS 20000.0 /* about, of a pair */

typedef struct filling {
    ss_group_function *function;
    void *context;
    ss_group_list *found; /* of each worker */
    int (*place)[3];      /* of each pair: worker, first group in what it found, and how many */
    ss_error *errors;     /* of each worker */
} filling;

static void fill(int64_t begin, int64_t end, int worker, void *context)
{
    const filling *f = context;
    ss_group_list *found = &f->found[worker];
    for (int64_t i = begin; i < end; i++) {
        int before = found->count;
        if (f->errors[worker].code == SS_OK) f->function((int)i, found, f->context, &f->errors[worker]);
        f->place[i][0] = worker;
        f->place[i][1] = before;
        f->place[i][2] = found->count - before;
    }
}

/* A copy of a group of another list. */
static bool append_group(ss_group_list *list, const ss_group_list *from, int g, ss_error *err)
{
    ss_contact_group group = from->groups[g];
    int first = group.first;
    group.first = list->alternative_count;
    for (int k = first; k < first + group.count; k++) {
        const ss_alternative *of = &from->alternatives[k];
        ss_alternative *made = add_alternative(list, err);
        if (!made) return false;
        *made = *of;
        made->first = list->point_count;
        for (int i = of->first; i < of->first + of->count; i++) {
            const ss_alternative_point *p = &from->points[i];
            if (!add_point(list, ss_vec3_load(p->point), p->gap, p->test, p->key, err)) return false;
        }
    }
    return add_group(list, &group, err);
}

bool ss_group_list_fill(ss_group_list *list, int count, ss_team *team, ss_group_function *function,
                        void *context, ss_error *err)
{
    team = ss_team_for_loop(team, count, GROUP_NS);
    int workers = ss_team_size(team);
    bool good = true;
    list->count = list->alternative_count = list->point_count = 0;
    if (workers < 2) {
        for (int i = 0; good && i < count; i++) good = function(i, list, context, err);
        return good;
    }

    filling f = {.function = function,
                 .context = context,
                 .found = ss_allocate((size_t)workers, sizeof *f.found),
                 .place = ss_allocate((size_t)count, sizeof *f.place),
                 .errors = ss_allocate((size_t)workers, sizeof *f.errors)};
    good = (f.found && f.place && f.errors) ||
           ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for %d groups", count);
    if (good) ss_parallel_for(team, count, GROUPS_AT_ONCE, fill, &f);

    /* In the order of the pairs, not of the workers. */
    for (int w = 0; good && w < workers; w++) {
        if (f.errors[w].code == SS_OK) continue;
        if (err) *err = f.errors[w];
        good = false;
    }
    for (int i = 0; good && i < count; i++)
        for (int g = 0; good && g < f.place[i][2]; g++)
            good = append_group(list, &f.found[f.place[i][0]], f.place[i][1] + g, err);
    for (int w = 0; f.found && w < workers; w++) ss_group_list_free(&f.found[w]);
    ss_release(f.found);
    ss_release(f.place);
    ss_release(f.errors);
    return good;
}

/* ---- which alternatives ----------------------------------------------------------------------------- */

typedef struct candidate {
    ss_axis axis;
    ss_axis_kind kind;
} candidate;

typedef struct candidates {
    const ss_hull_pair *pair;
    double deepest; /* separations below do not count; falls with the best one */
    double best;
    int count, capacity;
    candidate *items;
    bool failed;
} candidates;

static void consider(const ss_axis *axis, ss_axis_kind kind, void *context)
{
    candidates *all = context;
    if (axis->separation > all->best) all->best = axis->separation;
    if (all->failed || (axis->separation < all->deepest && axis->separation < all->best)) return;
    for (int i = 0; i < all->count; i++) {
        candidate *other = &all->items[i];
        ss_vec3 between = ss_vec3_subtract(other->axis.normal, axis->normal);
        if (other->kind == kind && ss_vec3_norm(between) < same_direction) return;
    }
    void *items = all->items;
    if (!make_room(&items, all->count, &all->capacity, sizeof *all->items, NULL)) {
        all->failed = true;
        return;
    }
    all->items = items;
    all->items[all->count++] = (candidate){*axis, kind};
}

/* Best first. Between kinds that are equally good up to rounding the first one does not change from step to
 * step: faces before edges, and the face of the shape with the lower number. */
static void sort_candidates(candidates *all)
{
    candidate *c = all->items;
    double bias = SS_FACE_BIAS * all->pair->size;
    int first = -1, first_rank = 3;
    for (int i = 1; i < all->count; i++) {
        candidate held = c[i];
        int j = i;
        for (; j > 0 && c[j - 1].axis.separation < held.axis.separation; j--) c[j] = c[j - 1];
        c[j] = held;
    }

    for (int i = 0; i < all->count && c[i].axis.separation >= c[0].axis.separation - bias; i++) {
        bool of_a = c[i].kind == SS_AXIS_FACE_A;
        int rank = c[i].kind == SS_AXIS_EDGES ? 2 : of_a == all->pair->favour_a ? 0 : 1;
        if (rank >= first_rank) continue;
        first = i;
        first_rank = rank;
    }
    if (first <= 0) return;
    candidate held = c[first];
    memmove(c + 1, c, (size_t)first * sizeof *c);
    c[0] = held;
}

/* ---- where they touch ------------------------------------------------------------------------------- */

typedef struct scenery {
    const ss_placed_shape *a, *b;
    const ss_hull_pair *pair;
    ss_convex convex_a, convex_b; /* relative to the origin of a */
    ss_vec3 origin;
    uint64_t pair_key;
    int reduce;
    const ss_contact_group *group;
} scenery;

/* The finaliser of splitmix64 over two words. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2));
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static ss_vec3 vertex_in_world(const scenery *s, bool of_a, int vertex)
{
    return of_a ? ss_placed_to_world(s->a, s->pair->a->vertex[vertex])
                : ss_placed_to_world(s->b, s->pair->b->vertex[vertex]);
}

/* Where the two edges cross, seen along the normal. The manifold gets the point when it is inside both, or,
 * at their nearest ends, when nothing but these edges faces along the normal. */
static void add_crossing(const scenery *s, const candidate *c, ss_vec3 normal, ss_manifold *manifold)
{
    if (c->kind != SS_AXIS_EDGES) return;
    const int *end_a = s->pair->a->edge[c->axis.feature].vertex, *end_b = c->axis.edge_b;
    ss_vec3 p = vertex_in_world(s, true, end_a[0]), q = vertex_in_world(s, false, end_b[0]);
    ss_vec3 along_a = ss_vec3_subtract(vertex_in_world(s, true, end_a[1]), p);
    ss_vec3 along_b = ss_vec3_subtract(vertex_in_world(s, false, end_b[1]), q);
    ss_vec3 between = ss_vec3_subtract(q, p), across = ss_vec3_cross(along_a, along_b);
    double square = ss_vec3_dot(across, across);
    double on_a = ss_vec3_dot(ss_vec3_cross(between, along_b), across) / square;
    double on_b = ss_vec3_dot(ss_vec3_cross(between, along_a), across) / square;

    bool inside = on_a >= 0.0 && on_a <= 1.0 && on_b >= 0.0 && on_b <= 1.0;
    if (!inside) {
        ss_support_feature facing_a, facing_b;
        ss_convex_facing(&s->convex_a, normal, &facing_a);
        ss_convex_facing(&s->convex_b, ss_vec3_negate(normal), &facing_b);
        if (facing_a.count != 2 || facing_b.count != 2) return;
        on_a = fmin(fmax(on_a, 0.0), 1.0);
        on_b = fmin(fmax(on_b, 0.0), 1.0);
    }

    // halfway between the two, unless the point is there already
    ss_vec3 x = ss_vec3_add_scaled(p, on_a, along_a), y = ss_vec3_add_scaled(q, on_b, along_b);
    ss_vec3 halfway = ss_vec3_scale(0.5, ss_vec3_add(x, y));
    for (int i = 0; i < manifold->count; i++) {
        ss_vec3 apart = ss_vec3_subtract(halfway, ss_vec3_load(manifold->points[i].point));
        if (ss_vec3_norm(apart) < SS_FACE_BIAS * s->pair->size) return;
    }
    int edge_b = ss_hull_find_edge(s->pair->b, end_b[0], end_b[1]);
    ss_manifold_add(manifold, halfway, normal, c->axis.separation,
                    ss_feature_pair((ss_feature){SS_EDGE, c->axis.feature}, (ss_feature){SS_EDGE, edge_b}) |
                        0x80000000u);
}

/* The two do not lie over each other along this normal: it is still a half-space that must hold. The facing
 * feature of one against the plane of the other. */
static void add_facing(const scenery *s, const candidate *c, ss_vec3 normal, double limit,
                       ss_manifold *manifold)
{
    bool of_b = c->kind != SS_AXIS_FACE_B;
    ss_support_feature facing;
    ss_convex_facing(of_b ? &s->convex_b : &s->convex_a, of_b ? ss_vec3_negate(normal) : normal, &facing);
    ss_vec3 support =
        ss_convex_support(of_b ? &s->convex_a : &s->convex_b, of_b ? normal : ss_vec3_negate(normal));
    for (int i = 0; i < facing.count; i++) {
        double height = ss_vec3_dot(normal, ss_vec3_subtract(facing.point[i], support));
        double gap = of_b ? height : -height;
        if (gap > limit) continue;
        ss_vec3 halfway = ss_vec3_add_scaled(facing.point[i], -0.5 * height, normal);
        ss_manifold_add(manifold, ss_vec3_add(s->origin, halfway), normal, gap,
                        facing.id[i] | (of_b ? 0x20000000u : 0x10000000u));
    }
}

/* Rows that only show whether the alternative holds. Every vertex of the other body near the plane of the
 * face, also those that hang over its edges: a vertex that slides in under the face would be missed
 * otherwise. */
static bool add_tests(const scenery *s, const candidate *c, ss_vec3 normal, double limit, int first,
                      uint64_t key, ss_group_list *list, ss_error *err)
{
    double near = same_point * s->pair->size;

    /* Two edges that do not cross within their lengths still bound the two bodies along this normal: the
     * supports, wherever they are, show whether it holds. The row is at that of the body that moves. */
    if (c->kind == SS_AXIS_EDGES) {
        for (int i = first; i < list->point_count; i++)
            if (list->points[i].gap <= c->axis.separation + near) return true;
        ss_vec3 on_a = ss_convex_support(&s->convex_a, normal);
        ss_vec3 on_b = ss_convex_support(&s->convex_b, ss_vec3_negate(normal));
        bool only_a = s->group->body[1] == SS_WORLD, only_b = s->group->body[0] == SS_WORLD;
        ss_vec3 at = only_a ? on_a : only_b ? on_b : ss_vec3_scale(0.5, ss_vec3_add(on_a, on_b));
        return add_point(list, ss_vec3_add(s->origin, at), c->axis.separation, true, mix(key, 0x60000000u),
                         err);
    }

    bool of_a = c->kind == SS_AXIS_FACE_A;
    const ss_hull *owner = of_a ? s->pair->a : s->pair->b, *other = of_a ? s->pair->b : s->pair->a;
    const ss_hull_face *face = &owner->face[c->axis.feature];
    ss_vec3 corner = vertex_in_world(s, of_a, owner->loop[face->first]);
    for (int v = 0; v < other->vertex_count; v++) {
        ss_vec3 vertex = vertex_in_world(s, !of_a, v);
        double height = ss_vec3_dot(normal, ss_vec3_subtract(vertex, corner)), gap = of_a ? height : -height;
        ss_vec3 halfway = ss_vec3_add_scaled(vertex, -0.5 * height, normal);
        // the plane turns with its body, far from it, too
        double arm = ss_vec3_norm(ss_vec3_subtract(vertex, ss_vec3_load(s->group->centre[!of_a])));
        double swept = 2.0 * s->group->turn[!of_a] * arm;
        bool counts = gap <= limit + swept;
        for (int i = first; counts && i < list->point_count; i++) {
            ss_vec3 apart = ss_vec3_subtract(halfway, ss_vec3_load(list->points[i].point));
            counts = !(ss_vec3_norm(apart) < near);
        }
        if (counts && !add_point(list, halfway, gap, true, mix(key, 0x40000000u + (uint64_t)v), err))
            return false;
    }
    return true;
}

static bool add_candidate(const scenery *s, const candidate *c, double limit, ss_group_list *list,
                          ss_error *err)
{
    ss_alternative *made = add_alternative(list, err);
    if (!made) return false;
    ss_vec3 normal = ss_placed_turn(s->a, c->axis.normal);
    double length;
    normal = ss_vec3_normalise(normal, &length);
    made->kind = c->kind;
    made->separation = c->axis.separation;
    ss_vec3_store(normal, made->normal);
    uint64_t key = mix(s->pair_key, (uint64_t)c->kind << 56 | (uint64_t)c->axis.feature << 28 |
                                        (uint64_t)(c->axis.edge_b[0] ^ c->axis.edge_b[1] << 14));

    // force points: what the facing features have in common
    ss_manifold manifold = {0};
    ss_nearest_points approach = {.normal = normal, .point = ss_vec3_scale(0.5, s->convex_b.centre)};
    ss_convex_overlay(&s->convex_a, &s->convex_b, &approach, limit, s->origin, &manifold);
    add_crossing(s, c, normal, &manifold);
    if (manifold.count == 0) add_facing(s, c, normal, limit, &manifold);
    if (s->reduce > 0 && manifold.count > s->reduce) ss_manifold_reduce(&manifold, s->reduce);
    int first = list->point_count;
    for (int i = 0; i < manifold.count; i++) {
        const ss_contact_point *p = &manifold.points[i];
        if (!add_point(list, ss_vec3_load(p->point), p->gap, false, mix(key, p->feature), err)) return false;
    }
    if (!add_tests(s, c, normal, limit, first, key, list, err)) return false;

    list->alternatives[list->alternative_count - 1].count = list->point_count - first;
    return true;
}

/* ---- one pair --------------------------------------------------------------------------------------- */

bool ss_shape_is_polyhedron(const ss_placed_shape *shape)
{
    return shape->shape->kind == SS_BOX || shape->shape->kind == SS_HULL;
}

bool ss_group_find(const ss_placed_shape *a, const ss_placed_shape *b, const ss_contact_group *group,
                   int reduce, ss_group_list *list, ss_error *err)
{
    ss_box_hull box_a, box_b;
    ss_hull_pair pair = ss_hull_pair_place(a, ss_placed_hull(a, &box_a), b, ss_placed_hull(b, &box_b), 0.0);
    double near = group->reach + group->margin;
    ss_vec3 centre = ss_vec3_add(pair.shift, ss_mat3_apply(pair.turn, pair.b->centre));
    double apart = ss_vec3_norm(ss_vec3_subtract(centre, pair.a->centre));
    if (apart > pair.a->radius + pair.b->radius + near) return true;

    double deepest = -(2.0 * group->reach + group->margin);
    candidates all = {.pair = &pair, .deepest = deepest, .best = -INFINITY};
    ss_separating_axes_visit(&pair, consider, &all);
    bool good = !all.failed || ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for alternatives");
    if (good && all.best <= near) {
        scenery s = {.a = a,
                     .b = b,
                     .pair = &pair,
                     .origin = ss_placed_position(a),
                     .pair_key = mix((uint64_t)a->number, (uint64_t)b->number),
                     .reduce = reduce,
                     .group = group};
        s.convex_a = ss_convex_of(a, s.origin);
        s.convex_b = ss_convex_of(b, s.origin);
        ss_contact_group made = *group;
        made.first = list->alternative_count;
        sort_candidates(&all);
        for (int i = 0; good && i < all.count; i++) {
            double separation = all.items[i].axis.separation;
            if (i > 0 && separation < deepest) continue; // was the best one for a while
            double limit = fmax(separation, 0.0) + 2.0 * group->reach + group->margin;
            good = add_candidate(&s, &all.items[i], limit, list, err);
        }
        made.count = list->alternative_count - made.first;
        good = good && add_group(list, &made, err);
    }
    ss_release(all.items);
    return good;
}

/* Each vertex of the other body that is near the owner, against all of the owner's faces that may matter. */
static bool add_vertex_groups(const scenery *s, bool of_a, double near, double deepest, ss_group_list *list,
                              ss_error *err)
{
    const ss_hull *owner = of_a ? s->pair->a : s->pair->b, *other = of_a ? s->pair->b : s->pair->a;
    for (int v = 0; v < other->vertex_count; v++) {
        ss_vec3 vertex = vertex_in_world(s, !of_a, v);
        double last = INFINITY;
        int last_face = -1;
        for (int pass = 0;; pass++) {
            // the next face, by falling height of the vertex above them
            double height = -INFINITY;
            int chosen = -1;
            ss_vec3 normal = {0.0, 0.0, 0.0};
            for (int f = 0; f < owner->face_count; f++) {
                ss_vec3 n = ss_placed_turn(of_a ? s->a : s->b, owner->face[f].normal);
                ss_vec3 corner = vertex_in_world(s, of_a, owner->loop[owner->face[f].first]);
                double above = ss_vec3_dot(n, ss_vec3_subtract(vertex, corner));
                bool is_left = above < last || (above == last && f > last_face);
                if (!is_left || !(above > height)) continue;
                height = above;
                chosen = f;
                normal = n;
            }
            if (chosen < 0 || (pass == 0 ? height > near : height < deepest)) break;

            ss_contact_group made = *s->group;
            made.first = list->alternative_count;
            if (pass == 0 && !add_group(list, &made, err)) return false;
            ss_alternative *of = add_alternative(list, err);
            if (!of) return false;
            double length;
            of->kind = of_a ? SS_AXIS_FACE_A : SS_AXIS_FACE_B;
            of->separation = height;
            of->count = 1;
            ss_vec3_store(ss_vec3_normalise(of_a ? normal : ss_vec3_negate(normal), &length), of->normal);
            uint64_t key = mix(s->pair_key, (uint64_t)of_a << 60 | (uint64_t)v << 28 | (uint64_t)chosen);
            ss_vec3 halfway = ss_vec3_add_scaled(vertex, -0.5 * height, normal);
            if (!add_point(list, halfway, height, false, key, err)) return false;
            list->groups[list->count - 1].count++;

            last = height;
            last_face = chosen;
        }
    }
    return true;
}

bool ss_vertex_groups_find(const ss_placed_shape *a, const ss_placed_shape *b, const ss_contact_group *group,
                           ss_group_list *list, ss_error *err)
{
    ss_box_hull box_a, box_b;
    ss_hull_pair pair = ss_hull_pair_place(a, ss_placed_hull(a, &box_a), b, ss_placed_hull(b, &box_b), 0.0);
    scenery s = {.a = a,
                 .b = b,
                 .pair = &pair,
                 .pair_key = mix((uint64_t)a->number, (uint64_t)b->number),
                 .group = group};
    double near = group->reach + group->margin, deepest = -(2.0 * group->reach + group->margin);
    return add_vertex_groups(&s, true, near, deepest, list, err) &&
           add_vertex_groups(&s, false, near, deepest, list, err);
}

double ss_polyhedra_separation(const ss_placed_shape *a, const ss_placed_shape *b)
{
    ss_box_hull box_a, box_b;
    ss_hull_pair pair = ss_hull_pair_place(a, ss_placed_hull(a, &box_a), b, ss_placed_hull(b, &box_b), 0.0);
    ss_separating_axes best;
    ss_separating_axes_find(&pair, &(ss_approach){.rest = INFINITY}, &best);
    return fmax(best.edges.separation, fmax(best.face_a.separation, best.face_b.separation));
}

/* ---- all pairs -------------------------------------------------------------------------------------- */

void ss_collision_use_alternatives(ss_collision *collision, double (*free_velocity)[6], bool by_vertices)
{
    collision->by_vertices = by_vertices;
    collision->free_velocity = free_velocity;
}

const ss_group_list *ss_collision_groups(const ss_collision *collision)
{
    return &collision->groups;
}

void ss_group_reach(ss_contact_group *group, double h, const double *a, const double *b)
{
    static const double still[6] = {0};
    const double *v[2] = {a ? a : still, b ? b : still};
    double reach = h * ss_vec3_norm(ss_vec3_subtract(ss_vec3_load(v[1]), ss_vec3_load(v[0])));
    for (int side = 0; side < 2; side++) {
        double turn = h * ss_vec3_norm(ss_vec3_load(v[side] + 3));
        reach += turn * group->radius[side];
        group->turn[side] = fmax(group->turn[side], turn);
    }
    group->reach = fmax(group->reach, reach);
}

/* Of the shape about the centre of its body. */
static double radius_of(const ss_proxy *proxy)
{
    ss_vec3 arm = ss_vec3_subtract(ss_placed_position(&proxy->placed), proxy->centre);
    return ss_vec3_norm(arm) + proxy->radius;
}

static const double *free_velocity_of(const ss_collision *c, const ss_proxy *proxy)
{
    return proxy->body == SS_WORLD ? NULL : c->free_velocity[proxy->body];
}

void ss_collision_list_groups(const ss_group_list *groups, ss_contact_list *contacts)
{
    for (int g = 0; g < groups->count; g++) {
        const ss_contact_group *group = &groups->groups[g];
        const ss_alternative *first = &groups->alternatives[group->first];
        for (int i = first->first; i < first->first + first->count; i++) {
            const ss_alternative_point *point = &groups->points[i];
            if (point->test) continue;
            ss_contact *to = &contacts->items[contacts->count++];
            *to = (ss_contact){.shape_a = group->shape[0],
                               .shape_b = group->shape[1],
                               .body_a = group->body[0],
                               .body_b = group->body[1],
                               .gap = point->gap,
                               .material = group->material,
                               .key = point->key,
                               .group = g + 1};
            memcpy(to->point, point->point, sizeof to->point);
            memcpy(to->normal, first->normal, sizeof to->normal);
            memcpy(to->surface_velocity, group->surface_velocity, sizeof to->surface_velocity);
        }
    }
}

bool ss_collision_has_alternatives(const ss_collision *c, ss_shape_pair pair)
{
    const ss_proxy *a = &c->proxies[ss_shape_pair_a(pair)], *b = &c->proxies[ss_shape_pair_b(pair)];
    if (!c->free_velocity || !ss_shape_is_polyhedron(&a->placed) || !ss_shape_is_polyhedron(&b->placed))
        return false;
    ss_shape_kind kind_a = a->placed.shape->kind, kind_b = b->placed.shape->kind;
    return !c->replaced[kind_a < kind_b ? kind_a : kind_b][kind_a < kind_b ? kind_b : kind_a].function;
}

/* Boxes and balls with their margins meet. */
static bool may_be_near(const ss_collision *c, int a, int b)
{
    const ss_proxy *one = &c->proxies[a], *other = &c->proxies[b];
    ss_vec3 apart = ss_vec3_subtract(ss_placed_position(&other->placed), ss_placed_position(&one->placed));
    double reach = one->radius + one->margin + (other->radius + other->margin);
    return ss_vec3_dot(apart, apart) <= reach * reach && ss_boxes_meet(&c->tight[a], &c->tight[b]);
}

static bool find_group(int i, ss_group_list *list, void *context, ss_error *err)
{
    const ss_collision *c = context;
    ss_shape_pair pair = c->pairs.items[i];
    int number_a = ss_shape_pair_a(pair), number_b = ss_shape_pair_b(pair);
    if (!ss_collision_has_alternatives(c, pair) || !may_be_near(c, number_a, number_b)) return true;
    const ss_proxy *a = &c->proxies[number_a], *b = &c->proxies[number_b];
    ss_contact_group group = {.shape = {number_a, number_b}, .body = {a->body, b->body}};
    group.material = ss_world_pair(c->world, a->material, b->material);
    ss_vec3_store(ss_vec3_subtract(b->belt, a->belt), group.surface_velocity);
    group.size = fmin(a->size, b->size);
    group.cut = SS_CUT_SHARE * group.size;
    group.radius[0] = radius_of(a);
    group.radius[1] = radius_of(b);
    ss_vec3_store(a->centre, group.centre[0]);
    ss_vec3_store(b->centre, group.centre[1]);
    ss_group_reach(&group, c->h, free_velocity_of(c, a), free_velocity_of(c, b));
    group.margin = c->options.margin > 0.0 ? c->options.margin : SS_MARGIN_SHARE * group.size;
    if (c->by_vertices) return ss_vertex_groups_find(&a->placed, &b->placed, &group, list, err);
    return ss_group_find(&a->placed, &b->placed, &group, c->options.reduce, list, err);
}

bool ss_collision_find_groups(ss_collision *c, ss_team *team, ss_error *err)
{
    return ss_group_list_fill(&c->groups, c->free_velocity ? c->pairs.count : 0, team, find_group, c, err);
}
