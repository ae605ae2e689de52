/* Expanding polytope: inside the difference a - b of two cores that overlap grows a polytope around the
 * origin, always at the face nearest to it. That face bounds the depth from below, the support point beyond
 * it from above.
 *
 * It never has to succeed: normals known beforehand (those of flat faces) and every normal tried on the way
 * give valid separations, and the best of them is the answer whenever rounding stops the growth. */
#include "collision/gjk.h"

#define VERTICES_MOST 128
#define FACES_MOST (2 * VERTICES_MOST)

typedef struct face {
    int v[3];
    int next[3]; // face across the edge from v[k] to v[k+1]
    ss_vec3 normal;
    double distance; // of its plane from the origin, along the normal
    bool alive;
} face;

/* An edge between what is seen from the new point and what is not. */
typedef struct rim {
    int outside, edge; // the face that stays, and which of its edges
    int from, to;      // its ends, in the order of the face that goes
} rim;

typedef struct polytope {
    int vertex_count, face_count, spare_count, rim_count;
    ss_difference vertex[VERTICES_MOST];
    face faces[FACES_MOST];
    int spare[FACES_MOST];
    rim rims[FACES_MOST];
    bool broken;
} polytope;

/* ---- faces ------------------------------------------------------------------------------------------ */

static int new_face(polytope *p, int a, int b, int c)
{
    if (!p->spare_count && p->face_count == FACES_MOST) {
        p->broken = true;
        return 0;
    }
    int f = p->spare_count ? p->spare[--p->spare_count] : p->face_count++;
    face *it = &p->faces[f];
    it->v[0] = a;
    it->v[1] = b;
    it->v[2] = c;
    ss_vec3 origin = p->vertex[a].w;
    double area;
    it->normal = ss_vec3_normalise(
        ss_vec3_cross(ss_vec3_subtract(p->vertex[b].w, origin), ss_vec3_subtract(p->vertex[c].w, origin)),
        &area);
    it->distance = area > 0.0 ? ss_vec3_dot(it->normal, origin) : INFINITY; // a sliver is never the nearest
    it->alive = true;
    return f;
}

/* ---- growth ----------------------------------------------------------------------------------------- */

/* Removes a face and all it is connected to that are seen from w; the rim comes out in order. */
static void remove_seen(polytope *p, int f, int first_edge, int edges, ss_vec3 w)
{
    p->faces[f].alive = false;
    p->spare[p->spare_count++] = f;
    for (int k = 0; k < edges; k++) {
        int e = (first_edge + k) % 3, other = p->faces[f].next[e];
        const face *neighbour = &p->faces[other];
        if (!neighbour->alive) continue;
        int back = neighbour->next[0] == f ? 0 : neighbour->next[1] == f ? 1 : 2;
        bool seen =
            neighbour->distance == INFINITY || ss_vec3_dot(neighbour->normal, w) > neighbour->distance;
        if (seen)
            remove_seen(p, other, back + 1, 2, w);
        else
            p->rims[p->rim_count++] = (rim){other, back, p->faces[f].v[e], p->faces[f].v[(e + 1) % 3]};
    }
}

/* The polytope takes in the support point beyond face f. */
static void grow(polytope *p, int f, const ss_difference *support)
{
    int vertex = p->vertex_count++;
    p->vertex[vertex] = *support;
    p->rim_count = 0;
    remove_seen(p, f, 0, 3, support->w);

    // Rounding may tear the rim: then it does not end where it began.
    p->broken = p->rim_count < 3;
    for (int k = 0; k < p->rim_count; k++) p->broken |= p->rims[k].to != p->rims[(k + 1) % p->rim_count].from;

    // A cone of faces from the rim to the new vertex, each connected with the one before it.
    int first = -1, last = -1;
    for (int k = 0; k < p->rim_count && !p->broken; k++) {
        rim r = p->rims[k];
        int made = new_face(p, r.from, r.to, vertex);
        p->faces[made].next[0] = r.outside;
        p->faces[r.outside].next[r.edge] = made;
        if (last >= 0) {
            p->faces[made].next[2] = last;
            p->faces[last].next[1] = made;
        } else {
            first = made;
        }
        last = made;
    }
    if (first >= 0) {
        p->faces[first].next[2] = last;
        p->faces[last].next[1] = first;
    }
}

/* ---- the first tetrahedron -------------------------------------------------------------------------- */

static ss_vec3 between(const ss_simplex *simplex, int i, int j)
{
    return ss_vec3_subtract(simplex->point[j].w, simplex->point[i].w);
}

static double height_over(const ss_simplex *simplex, int level, int k)
{
    ss_vec3 r = between(simplex, 0, k), axis = ss_vec3_normalise(between(simplex, 0, 1), NULL);
    if (level == 1) return ss_vec3_norm(r);
    if (level == 2) return ss_vec3_norm(ss_vec3_cross(axis, r));
    ss_vec3 normal = ss_vec3_normalise(ss_vec3_cross(axis, between(simplex, 0, 2)), NULL);
    return fabs(ss_vec3_dot(normal, r));
}

/* Makes of GJK's last simplex one with four points that are not in a plane; false when a - b is flat. */
static bool make_tetrahedron(const ss_convex *a, const ss_convex *b, ss_simplex *simplex)
{
    double flat = 1e-6 * (a->size + b->size);

    // The simplex may be a line or a plane but for rounding. It keeps, point by point, the farthest from the
    // point, line and plane of those before, as long as it is farther than `flat`.
    for (int level = 1; level < simplex->count; level++) {
        int best = level;
        for (int k = level + 1; k < simplex->count; k++)
            if (height_over(simplex, level, k) > height_over(simplex, level, best)) best = k;
        ss_difference held = simplex->point[level];
        simplex->point[level] = simplex->point[best];
        simplex->point[best] = held;
        if (height_over(simplex, level, level) <= flat) simplex->count = level;
    }

    // Then points of a - b are added across what it spans: along an axis for a point, two tangents for a
    // line, the normal for a plane; the farther one of both senses.
    while (simplex->count < 4) {
        int last = simplex->count;
        for (int attempt = 0; attempt < 2 && simplex->count == last; attempt++) {
            ss_vec3 direction = {attempt ? 0.0 : 1.0, attempt ? 1.0 : 0.0, 0.0}, one, two;
            if (last > 1) {
                ss_vec3 axis = ss_vec3_normalise(between(simplex, 0, 1), NULL);
                ss_vec3_tangents(axis, &one, &two);
                direction = attempt ? two : one;
                if (last == 3)
                    direction = ss_vec3_normalise(ss_vec3_cross(axis, between(simplex, 0, 2)), NULL);
            }
            ss_vec3 from = simplex->point[0].w;
            ss_difference up = ss_difference_support(a, b, direction);
            ss_difference down = ss_difference_support(a, b, ss_vec3_negate(direction));
            double above = ss_vec3_dot(direction, ss_vec3_subtract(up.w, from));
            double below = ss_vec3_dot(direction, ss_vec3_subtract(from, down.w));
            simplex->point[last] = above >= below ? up : down;
            if (height_over(simplex, last, last) > flat) simplex->count++;
        }
        if (simplex->count == last) return false;
    }
    return true;
}

static void start_polytope(polytope *p, const ss_simplex *simplex)
{
    p->vertex_count = 4;
    p->face_count = p->spare_count = 0;
    p->broken = false;
    for (int k = 0; k < 4; k++) p->vertex[k] = simplex->point[k];
    ss_vec3 origin = p->vertex[0].w;
    ss_vec3 normal =
        ss_vec3_cross(ss_vec3_subtract(p->vertex[1].w, origin), ss_vec3_subtract(p->vertex[2].w, origin));
    // 0, 1, 2 must face away from 3
    if (ss_vec3_dot(normal, ss_vec3_subtract(p->vertex[3].w, origin)) > 0.0) {
        p->vertex[1] = simplex->point[2];
        p->vertex[2] = simplex->point[1];
    }
    static const int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    static const int neighbours[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    for (int f = 0; f < 4; f++) {
        new_face(p, corners[f][0], corners[f][1], corners[f][2]);
        for (int e = 0; e < 3; e++) p->faces[f].next[e] = neighbours[f][e];
    }
}

/* ---- the search ------------------------------------------------------------------------------------- */

static void try_normal(const ss_convex *a, const ss_convex *b, ss_vec3 normal, ss_escape *best)
{
    if (!(ss_vec3_max_abs(normal) > 0.0)) return;
    double gap = ss_convex_separation(a, b, normal);
    if (gap <= best->gap) return;
    best->gap = gap;
    best->normal = normal;
    best->on_a = ss_convex_support(a, normal);
    best->on_b = ss_convex_support(b, ss_vec3_negate(normal));
}

static void expand(const ss_convex *a, const ss_convex *b, polytope *p, ss_escape *best)
{
    double radii = a->radius + b->radius, tolerance = 1e-10 * (a->size + b->size);
    while (!p->broken) {
        int nearest = -1;
        double least = INFINITY;
        for (int f = 0; f < p->face_count; f++)
            if (p->faces[f].alive && p->faces[f].distance < least) {
                least = p->faces[f].distance;
                nearest = f;
            }
        if (nearest < 0) return;

        // Its normal separates by the depth of the support point; its distance bounds every depth from below.
        face f = p->faces[nearest];
        ss_difference support = ss_difference_support(a, b, f.normal);
        double depth = ss_vec3_dot(f.normal, support.w);
        double best_depth = -(best->gap + radii);
        if (depth < best_depth - tolerance) { // an exact normal is not given up for rounding
            best->gap = -depth - radii;
            best->normal = f.normal;
            best->on_a = support.a;
            best->on_b = support.b;
            best_depth = depth;
        }

        // Bounds that meet end the search; the face's nearest point tells where the bodies touch.
        bool done = f.distance >= best_depth - tolerance || depth - f.distance <= tolerance;
        if (done || p->vertex_count == VERTICES_MOST) {
            ss_simplex simplex = {.count = 3};
            for (int k = 0; k < 3; k++) simplex.point[k] = p->vertex[f.v[k]];
            ss_simplex_nearest(&simplex);
            best->on_a = best->on_b = (ss_vec3){0.0, 0.0, 0.0};
            for (int k = 0; k < simplex.count; k++) {
                best->on_a = ss_vec3_add_scaled(best->on_a, simplex.weight[k], simplex.point[k].a);
                best->on_b = ss_vec3_add_scaled(best->on_b, simplex.weight[k], simplex.point[k].b);
            }
            return;
        }
        grow(p, nearest, &support);
    }
}

ss_escape ss_epa_escape(const ss_convex *a, const ss_convex *b, const ss_simplex *start,
                        const ss_vec3 *candidate, int candidates)
{
    ss_escape best = {.gap = -INFINITY};
    for (int k = 0; k < candidates; k++) {
        try_normal(a, b, candidate[k], &best);
        try_normal(a, b, ss_vec3_negate(candidate[k]), &best);
    }
    ss_simplex simplex = *start;
    polytope p;
    if (make_tetrahedron(a, b, &simplex)) {
        start_polytope(&p, &simplex);
        expand(a, b, &p, &best);
    } else if (best.gap == -INFINITY) {
        for (int k = 0; k < 3; k++) try_normal(a, b, (ss_vec3){k == 0, k == 1, k == 2}, &best);
    }
    return best;
}
