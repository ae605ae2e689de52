#include "collision/clip.h"

/* Each side of the reference adds one corner to a convex polygon. */
enum { CORNERS_MOST = 2 * SS_POLYGON_MOST };

/* A corner of the polygon that is being clipped. Lines are numbered: k is edge k of the incident face, ~i
 * side i of the reference. */
typedef struct clip_corner {
    ss_vec3 x;
    int next;   /* the line to the next corner */
    int along;  /* the corner lies on this line, */
    int across; /* where side `across` of the reference cuts it; -1: it is the first corner of edge `along` */
} clip_corner;

typedef struct clip_plane {
    ss_vec3 normal; /* outwards, as long as the edge */
    double offset;
} clip_plane;

static clip_plane side_plane(const ss_polygon *face, int i, double slack)
{
    int next = i + 1 < face->size ? i + 1 : 0;
    ss_vec3 along = ss_vec3_subtract(face->corner[next], face->corner[i]);
    ss_vec3 normal = ss_vec3_cross(along, face->normal);
    return (clip_plane){normal, ss_vec3_dot(normal, face->corner[i]) + slack * ss_vec3_norm(normal)};
}

static int common_corner(const ss_polygon *reference, int side, int other)
{
    bool follows = other + 1 == side || (side == 0 && other == reference->size - 1);
    return reference->vertex[follows ? side : other];
}

/* Where the line from p to q crosses side i of the reference. */
static clip_corner cross_side(int i, const clip_corner *p, double height_p, const clip_corner *q,
                              double height_q)
{
    double t = height_p / (height_p - height_q);
    ss_vec3 x = ss_vec3_add_scaled(p->x, t, ss_vec3_subtract(q->x, p->x));
    return (clip_corner){x, height_p <= 0.0 ? ~i : p->next, p->next, i};
}

/* Keeps of the polygon `in` what is inside side i; returns the number of corners in `out`. A sliver that lies
 * along the side may cross it more than twice by rounding, hence the limit. */
static int clip_side(int i, const double *height, const clip_corner *in, int count, clip_corner *out)
{
    int made = 0;
    for (int k = 0; k < count && made + 2 <= CORNERS_MOST; k++) {
        int next = k + 1 < count ? k + 1 : 0;
        bool inside = height[k] <= 0.0, next_inside = height[next] <= 0.0;
        if (inside) out[made++] = in[k];
        if (inside == next_inside) continue;
        out[made++] = cross_side(i, &in[k], height[k], &in[next], height[next]);
    }
    return made;
}

static int measure(clip_plane plane, const clip_corner *corner, int count, double *height)
{
    int outside = 0;
    for (int k = 0; k < count; k++) {
        height[k] = ss_vec3_dot(plane.normal, corner[k].x) - plane.offset;
        outside += height[k] > 0.0;
    }
    return outside;
}

static void name_corner(const ss_polygon *reference, const ss_polygon *incident, const clip_corner *corner,
                        ss_feature *on_reference, ss_feature *on_incident)
{
    if (corner->across < 0) {
        *on_reference = (ss_feature){SS_FACE, reference->face};
        *on_incident = (ss_feature){SS_VERTEX, incident->vertex[corner->along]};
    } else if (corner->along >= 0) {
        *on_reference = (ss_feature){SS_EDGE, reference->edge[corner->across]};
        *on_incident = (ss_feature){SS_EDGE, incident->edge[corner->along]};
    } else {
        *on_reference = (ss_feature){SS_VERTEX, common_corner(reference, corner->across, ~corner->along)};
        *on_incident = (ss_feature){SS_FACE, incident->face};
    }
}

static void gather_corners(const ss_polygon *reference, const ss_polygon *incident, bool reference_first,
                           const clip_corner *corner, int count, ss_manifold_builder *builder)
{
    ss_vec3 normal = reference_first ? reference->normal : ss_vec3_negate(reference->normal);
    for (int k = 0; k < count; k++) {
        double gap = ss_vec3_dot(reference->normal, corner[k].x) - reference->offset;
        ss_vec3 halfway = ss_vec3_add_scaled(corner[k].x, -0.5 * gap, reference->normal);
        ss_feature on_reference, on_incident;
        name_corner(reference, incident, &corner[k], &on_reference, &on_incident);
        ss_manifold_builder_add(builder, halfway, normal, gap, reference_first ? on_reference : on_incident,
                                reference_first ? on_incident : on_reference);
    }
}

void ss_clip_faces(const ss_polygon *reference, const ss_polygon *incident, bool reference_first,
                   double slack, ss_manifold_builder *builder)
{
    clip_corner buffer[2][CORNERS_MOST];
    double height[CORNERS_MOST];
    clip_corner *now = buffer[0], *then = buffer[1];
    int count = incident->size;
    for (int k = 0; k < count; k++) now[k] = (clip_corner){incident->corner[k], k, k, -1};
    for (int i = 0; i < reference->size && count > 0; i++) {
        int outside = measure(side_plane(reference, i, slack), now, count, height);
        if (outside == 0) continue;
        count = outside == count ? 0 : clip_side(i, height, now, count, then);
        clip_corner *swapped = now;
        now = then;
        then = swapped;
    }
    gather_corners(reference, incident, reference_first, now, count, builder);
}
