/* stickslip/patch.h - contacts that are patches, not points: the friction of a disc that slides and spins
 * (Contensou), and a patch of pressure as weighted contact points of a frame.
 *
 * Read after frame.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_PATCH_H
#define STICKSLIP_PATCH_H

#include <stickslip/frame.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the pressure is spread. */
typedef enum ss_pressure {
    SS_PRESSURE_EVEN,  /* the same everywhere */
    SS_PRESSURE_HERTZ, /* discs: proportional to sqrt(1 - (r/R)^2), of a ball on a plane */
} ss_pressure;

/* ---- the exact law of a disc ------------------------------------------------------------------------ */

/* Coulomb friction of a disc whose points all slide, each against its own velocity (Contensou 1963), by
 * integration: elliptic integrals around rings, quadrature over their radii, to about 12 digits. */
typedef struct ss_disc_friction {
    double force;  /* 1: against the sliding, in units of mu times the load */
    double moment; /* m: against the spinning, in units of mu times the load */
} ss_disc_friction;
/* radius in m, > 0; speed of the centre in m/s and spin in rad/s, whose signs the results have. Both zero:
 * nothing slides, and the result is zero. */
SS_API ss_disc_friction ss_disc_friction_of(ss_pressure pressure, double radius, double speed, double spin);
/* m: the moment of pure spinning in the same unit, so that mu_torsion = mu times it: 2/3 R for an even
 * pressure, 3 pi/16 R for Hertz's. */
SS_API double ss_disc_lever(ss_pressure pressure, double radius);

/* ---- weighted points -------------------------------------------------------------------------------- */

typedef enum ss_patch_kind {
    SS_PATCH_DISC,      /* size[0]: radius */
    SS_PATCH_RECTANGLE, /* size: edge lengths */
    SS_PATCH_POLYGON,   /* corners, counter-clockwise, convex */
} ss_patch_kind;

/* A patch in the plane of a contact: coordinates along t_u and t_v from the contact point, in m. */
typedef struct ss_patch {
    ss_patch_kind kind;
    double size[2];
    const double (*corner)[2];
    int corners;
    ss_pressure pressure; /* rectangles and polygons: even only */
} ss_patch;

/* Points of the patch and the share of the load that each carries; shares are positive and add up to 1, and
 * their centre is that of the pressure. Gauss's rule with `fineness` (1 to 64) points each way: rings of a
 * disc, with 4 fineness points each; each way of a rectangle; each way of every triangle of a polygon.
 * Returns how many there are, -1 for a bad patch. point and share NULL: only counts. */
SS_API int ss_patch_points(const ss_patch *patch, int fineness, double (*point)[2], double *share,
                           ss_error *err);

/* A copy of the frame in which contact c is replaced by these points; the others follow in their order. Each
 * point has the bodies, normal, gap and mu of the contact and its share of stiffness (compliance / share),
 * damping and adhesion. Rolling friction stays, because its moments add up; torsional friction does not,
 * because the lever arms make it. Without a compliance the points are rigid, and nothing determines how they
 * share the load. Fails for frames with alternatives. */
SS_API ss_frame *ss_frame_spread(const ss_frame *frame, int contact, const ss_patch *patch, int fineness,
                                 ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
