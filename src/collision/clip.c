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

/* What corner k of the clipped polygon lies on, of both faces. */
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
        // Two sides of the reference cross in the corner that the later one begins with.
        int side = corner->across, other = ~corner->along;
        bool follows = other + 1 == side || (side == 0 && other == reference->size - 1);
        *on_reference = (ss_feature){SS_VERTEX, reference->vertex[follows ? side : other]};
        *on_incident = (ss_feature){SS_FACE, incident->face};
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
        // The plane through side i, its normal outwards and as long as the side; heights of corners over it.
        ss_vec3 corner = reference->corner[i];
        ss_vec3 along = ss_vec3_subtract(reference->corner[i + 1 < reference->size ? i + 1 : 0], corner);
        ss_vec3 normal = ss_vec3_cross(along, reference->normal);
        double offset = ss_vec3_dot(normal, corner) + slack * ss_vec3_norm(normal);
        int outside = 0;
        for (int k = 0; k < count; k++) {
            height[k] = ss_vec3_dot(normal, now[k].x) - offset;
            outside += height[k] > 0.0;
        }
        if (outside == 0) continue;

        // What is inside stays, with a new corner wherever the border crosses the plane. A sliver that lies
        // along the side may cross it more than twice by rounding, hence the limit.
        int made = 0;
        for (int k = 0; k < count && outside < count && made + 2 <= CORNERS_MOST; k++) {
            int next = k + 1 < count ? k + 1 : 0;
            bool inside = height[k] <= 0.0, next_inside = height[next] <= 0.0;
            if (inside) then[made++] = now[k];
            if (inside == next_inside) continue;
            double t = height[k] / (height[k] - height[next]);
            ss_vec3 x = ss_vec3_add_scaled(now[k].x, t, ss_vec3_subtract(now[next].x, now[k].x));
            then[made++] = (clip_corner){x, inside ? ~i : now[k].next, now[k].next, i};
        }
        count = made;
        clip_corner *swapped = now;
        now = then;
        then = swapped;
    }

    // The corners that are left are contacts, halfway between the two faces.
    ss_vec3 normal = reference_first ? reference->normal : ss_vec3_negate(reference->normal);
    for (int k = 0; k < count; k++) {
        double gap = ss_vec3_dot(reference->normal, now[k].x) - reference->offset;
        ss_vec3 halfway = ss_vec3_add_scaled(now[k].x, -0.5 * gap, reference->normal);
        ss_feature on_reference, on_incident;
        name_corner(reference, incident, &now[k], &on_reference, &on_incident);
        ss_manifold_builder_add(builder, halfway, normal, gap, reference_first ? on_reference : on_incident,
                                reference_first ? on_incident : on_reference);
    }
}
