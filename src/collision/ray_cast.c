#include "collision/bvh.h"
#include "collision/pairs.h"
#include "collision/ray_cast.h"

#include "collision/ray_cast_world.h"
#include "collision/state.h"
#include "model/geometry.h"

/* The part of a ray inside a convex set, and the set's normal where the ray enters. */
typedef struct stay {
    double enter, leave; // enter > leave: never inside
    ss_vec3 normal;
} stay;

static const stay everywhere = {-INFINITY, INFINITY, {0.0, 0.0, 0.0}};
static const stay nowhere = {INFINITY, -INFINITY, {0.0, 0.0, 0.0}};

static stay both(stay a, stay b)
{
    return (stay){fmax(a.enter, b.enter), fmin(a.leave, b.leave), a.enter >= b.enter ? a.normal : b.normal};
}

/* Of two overlapping parts of one convex set. */
static stay either(stay a, stay b)
{
    if (a.enter > a.leave) return b;
    if (b.enter > b.leave) return a;
    return (stay){fmin(a.enter, b.enter), fmax(a.leave, b.leave), a.enter <= b.enter ? a.normal : b.normal};
}

static stay in_half_space(const ss_ray_segment *ray, ss_vec3 normal, double offset)
{
    double height = ss_vec3_dot(normal, ray->origin) - offset, rate = ss_vec3_dot(normal, ray->direction);
    if (rate == 0.0) return height <= 0.0 ? everywhere : nowhere;
    double t = -height / rate;
    return rate < 0.0 ? (stay){t, INFINITY, normal} : (stay){-INFINITY, t, normal};
}

static stay in_slab(const ss_ray_segment *ray, ss_vec3 axis, double half)
{
    return both(in_half_space(ray, axis, half), in_half_space(ray, ss_vec3_negate(axis), half));
}

/* a t^2 + 2 b t + c <= 0, with a > 0, without cancellation. */
static stay between_roots(double a, double b, double c)
{
    double discriminant = b * b - a * c;
    if (discriminant < 0.0) return nowhere;
    double q = -(b + copysign(sqrt(discriminant), b));
    double one = q / a, two = q != 0.0 ? c / q : one;
    return (stay){fmin(one, two), fmax(one, two), {0.0, 0.0, 0.0}};
}

static stay in_ball(const ss_ray_segment *ray, ss_vec3 centre, double radius)
{
    ss_vec3 o = ss_vec3_subtract(ray->origin, centre);
    // From the foot of the centre on the ray, so that far origins do not swamp the radius.
    double foot = -ss_vec3_dot(o, ray->direction);
    ss_vec3 nearest = ss_vec3_add_scaled(o, foot, ray->direction);
    double chord2 = radius * radius - ss_vec3_dot(nearest, nearest);
    if (chord2 < 0.0) return nowhere;
    stay s = {foot - sqrt(chord2), foot + sqrt(chord2), {0.0, 0.0, 0.0}};
    s.normal = ss_vec3_normalise(ss_vec3_add_scaled(o, s.enter, ray->direction), NULL);
    return s;
}

/* The endless cylinder about z. */
static stay in_tube(const ss_ray_segment *ray, double radius)
{
    ss_vec3 o = ray->origin, d = ray->direction;
    double a = d.x * d.x + d.y * d.y, c = o.x * o.x + o.y * o.y - radius * radius;
    if (!(a > 0.0)) return c <= 0.0 ? everywhere : nowhere;
    stay s = between_roots(a, o.x * d.x + o.y * d.y, c);
    ss_vec3 p = ss_vec3_add_scaled(o, s.enter, d);
    s.normal = ss_vec3_normalise((ss_vec3){p.x, p.y, 0.0}, NULL);
    return s;
}

static stay in_cylinder(const ss_ray_segment *ray, double radius, double length)
{
    return both(in_tube(ray, radius), in_slab(ray, (ss_vec3){0.0, 0.0, 1.0}, 0.5 * length));
}

/* In coordinates in which it is the unit ball. */
static stay in_ellipsoid(const ss_ray_segment *ray, const double half[3])
{
    ss_vec3 o = {ray->origin.x / half[0], ray->origin.y / half[1], ray->origin.z / half[2]};
    ss_vec3 d = {ray->direction.x / half[0], ray->direction.y / half[1], ray->direction.z / half[2]};
    stay s = between_roots(ss_vec3_dot(d, d), ss_vec3_dot(o, d), ss_vec3_dot(o, o) - 1.0);
    ss_vec3 p = ss_vec3_add_scaled(o, s.enter, d);
    s.normal = ss_vec3_normalise((ss_vec3){p.x / half[0], p.y / half[1], p.z / half[2]}, NULL);
    return s;
}

static stay in_shape(const ss_ray_segment *ray, const ss_placed_shape *shape)
{
    const double *size = shape->shape->size;
    switch (shape->shape->kind) {
    case SS_SPHERE:
        return in_ball(ray, (ss_vec3){0.0, 0.0, 0.0}, size[0]);
    case SS_PLANE:
        return in_half_space(ray, (ss_vec3){0.0, 0.0, 1.0}, 0.0);
    case SS_BOX: {
        stay s = in_slab(ray, (ss_vec3){1.0, 0.0, 0.0}, 0.5 * size[0]);
        s = both(s, in_slab(ray, (ss_vec3){0.0, 1.0, 0.0}, 0.5 * size[1]));
        return both(s, in_slab(ray, (ss_vec3){0.0, 0.0, 1.0}, 0.5 * size[2]));
    }
    case SS_CAPSULE: {
        stay middle = in_cylinder(ray, size[0], size[1]);
        stay low = in_ball(ray, (ss_vec3){0.0, 0.0, -0.5 * size[1]}, size[0]);
        stay high = in_ball(ray, (ss_vec3){0.0, 0.0, 0.5 * size[1]}, size[0]);
        return either(middle, either(low, high));
    }
    case SS_CYLINDER:
        return in_cylinder(ray, size[0], size[1]);
    case SS_ELLIPSOID:
        return in_ellipsoid(ray, size);
    default: {
        const ss_hull *hull = shape->geometry->hull;
        stay s = everywhere;
        for (int f = 0; f < hull->face_count; f++)
            s = both(s, in_half_space(ray, hull->face[f].normal, hull->face[f].offset));
        return s;
    }
    }
}

bool ss_ray_segment_hits(const ss_ray_segment *ray, const ss_placed_shape *shape, double *distance,
                         ss_vec3 *normal)
{
    ss_ray_segment local = {ss_placed_to_local(shape, ray->origin),
                            ss_placed_turn_back(shape, ray->direction), ray->most};
    if (shape->shape->kind >= SS_MESH) {
        if (!ss_ray_segment_hits_surface(&local, shape, distance, normal)) return false;
    } else {
        stay s = in_shape(&local, shape);
        if (s.enter > s.leave || s.leave < 0.0 || s.enter > ray->most) return false;
        *distance = fmax(s.enter, 0.0);
        *normal = s.enter > 0.0 ? s.normal : ss_vec3_negate(local.direction);
    }
    *normal = ss_placed_turn(shape, *normal);
    return true;
}

bool ss_ray_segment_meets_box(const ss_ray_segment *ray, ss_vec3 low, ss_vec3 high)
{
    const double origin[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
    const double direction[3] = {ray->direction.x, ray->direction.y, ray->direction.z};
    const double from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
    double enter = 0.0, leave = ray->most;
    for (int k = 0; k < 3; k++) {
        if (direction[k] == 0.0) {
            if (origin[k] < from[k] || origin[k] > to[k]) return false;
            continue;
        }
        double one = (from[k] - origin[k]) / direction[k], two = (to[k] - origin[k]) / direction[k];
        enter = fmax(enter, fmin(one, two));
        leave = fmin(leave, fmax(one, two));
    }
    return enter <= leave;
}

/* ---- all shapes ------------------------------------------------------------------------------------- */

typedef struct hit {
    int shape;
    ss_vec3 normal;
} hit;

/* Shortens the ray to the hit. Of equals the lower number wins. */
static void cast_at(const ss_collision *c, int number, ss_ray_segment *ray, hit *best)
{
    const ss_proxy *proxy = &c->proxies[number];
    double distance;
    ss_vec3 normal;
    if (!proxy->active || !ss_ray_segment_hits(ray, &proxy->placed, &distance, &normal)) return;
    if (best->shape >= 0 && distance == ray->most && number > best->shape) return;
    *best = (hit){number, normal};
    ray->most = distance;
}

int ss_collision_cast(const ss_collision *collision, const double origin[3], const double direction[3],
                      double most, double *distance, double normal[3])
{
    ss_ray_segment ray = {ss_vec3_load(origin), ss_vec3_normalise(ss_vec3_load(direction), NULL), most};
    hit best = {.shape = -1};
    for (int k = 0; k < collision->plane_count; k++) cast_at(collision, collision->planes[k], &ray, &best);
    for (int node = 0; node < collision->tree.count;) {
        const ss_bvh_node *n = &collision->tree.nodes[node];
        ss_vec3 low = {(double)n->low[0], (double)n->low[1], (double)n->low[2]},
                high = {(double)n->high[0], (double)n->high[1], (double)n->high[2]};
        bool meets = ss_ray_segment_meets_box(&ray, low, high);
        if (meets && n->item >= 0) cast_at(collision, n->item, &ray, &best);
        node = meets ? node + 1 : n->past;
    }
    if (best.shape < 0) return -1;
    if (distance) *distance = ray.most;
    if (normal) ss_vec3_store(best.normal, normal);
    return best.shape;
}

int ss_collision_ray(ss_collision *collision, const double origin[3], const double direction[3], double most,
                     double *distance, double normal[3])
{
    if (!ss_proxies_update(collision, true, NULL, NULL)) return -1;
    return ss_collision_cast(collision, origin, direction, most, distance, normal);
}
