/* stickslip/frame.h - the frame: one incremental contact problem, the central data structure.
 *
 *     scene, simulator, file, other engine -> FRAME -> formulation -> problem -> solver -> metrics -> report
 *
 * A frame holds what an engine knows when it is about to solve one time step, before any formulation is
 * chosen: the step h, the bodies, the constraints (joints, motors, limits) and the contacts. In memory it is
 * what an HDF5 frame of a BPMD file is on disk (docs/format.md), independent of its origin.
 *
 * Signs and frames (docs/notation.md has the derivations)
 *
 *   body         position   of the centre of mass
 *                velocity   (linear, angular) in the WORLD frame, BEFORE the step
 *                force      (force, torque about the centre of mass) in the WORLD frame; everything explicit,
 *                           gravity and the gyroscopic torque included, so that M v+ = M v + h f + J' x
 *                inertia    in the WORLD frame
 *                state      <= 0 (asleep, disabled): takes no part, formulations treat the body as the world
 *   constraint   jacobian   row i: dg/dt = jacobian[i] . (v_a, v_b) + time_derivative[i]; columns 0-5 belong
 *                           to a = pair[0], columns 6-11 to b = pair[1]; a row on more than two bodies has
 *                           further blocks
 *   contact      normal     unit, points FROM a = pair[0] TO b = pair[1]
 *                gap        > 0 apart, < 0 overlapping
 *                impulse    nu >= 0: +normal * nu on b, the opposite on a
 *   pair         bodies by index, 0 .. bodies.count - 1, or SS_WORLD
 *   plane        a planar problem is a spatial one in the plane z = 0 (ss_frame_set_planar_body,
 *                ss_frame_is_planar)
 *
 * Read after base.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_FRAME_H
#define STICKSLIP_FRAME_H

#include <stickslip/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_bodies {
    int count;
    double *mass;            /* kg, > 0 */
    double (*position)[3];   /* m, centre of mass, world */
    double (*quaternion)[4]; /* body to world, scalar first (w, x, y, z), unit length */
    double (*velocity)[6];   /* m/s and rad/s, world, before the step */
    double (*force)[6];      /* N and N m about the centre of mass, world */
    double (*inertia)[9];    /* kg m^2, R I R', world, row by row */
    int32_t *id;             /* label in files; 1..count unless a file says otherwise; unique, > 0 */
    int32_t *state;          /* > 0 live, otherwise asleep or disabled */
} ss_bodies;

typedef struct ss_constraints {
    int count;               /* joints */
    int row_count;           /* equations of all joints, stacked in joint order */
    int (*pair)[2];          /* bodies a, b */
    int *rows;               /* equations of each joint, >= 1; their sum is row_count */
    double (*jacobian)[12];  /* per row: linear a, angular a, linear b, angular b; world blocks are zero */
    double *violation;       /* m or rad: g(q) */
    double *time_derivative; /* m/s or rad/s: dg/dt at rest; a motor row has minus the target speed */
    double (*bounds)[2];     /* N or N m: lower and upper bound of the multiplier; -inf, inf = bilateral */
    double *regularization;  /* optional: C >= 0 in J v + C x, velocity per impulse */
    double *friction;        /* optional: |x_i| <= friction_i |x_friction_row(i)| */
    int32_t *friction_row;   /* optional, with friction: 0-based row, -1 = none */
    uint8_t *holonomic;      /* optional, per joint: 1 (or absent) = g is a position error, 0 = g is 0 */
    uint8_t *implied;        /* optional, per joint: ss_implied, of a frame with generalised coordinates */
    /* Rows on more than two bodies (differentials, pulleys): further blocks of the Jacobian, so that
     * dg/dt = jacobian[i] . (v_a, v_b) + sum of further_jacobian . v + time_derivative[i]. By rising row; a
     * body occurs once in a row, and its pair counts. 0: the frame has none, and the pointers are NULL. */
    int further_count;
    int32_t *further_row;          /* of each block from here on: its row, counted from 0 */
    int *further_body;             /* its body; never SS_WORLD */
    double (*further_jacobian)[6]; /* linear, angular */
} ss_constraints;

typedef struct ss_contacts {
    int count;
    int (*pair)[2];         /* bodies a, b */
    double (*point)[3];     /* m, world: one point, used for both bodies */
    double (*normal)[3];    /* unit, from a to b */
    double *gap;            /* m */
    double (*mu)[2];        /* sliding friction along tangent u and v; inf is allowed */
    double (*mu_static)[2]; /* optional: static friction; absent: the same as mu */
    double (*tangent)[3];   /* optional: unit tangent u, v = normal x u; else ss_contact_tangents chooses */
    double *restitution;    /* optional: Newton's coefficient, 0..1 */
    double *compliance;     /* optional: C >= 0 of the normal row, velocity per impulse */
    /* optional: N s/m; with it a contact that has a compliance 1/(k h^2) is a spring of stiffness k and a
     * damper, implicit in time, whatever the formulation makes of other gaps */
    double *damping;
    double *adhesion;       /* optional: N, the force it can pull with: nu >= -h adhesion */
    double *mu_rolling;     /* optional: m, rolling friction */
    double *mu_torsion;     /* optional: m, friction of spinning about the normal */
    uint8_t *spin_coupling; /* optional: ss_spin_coupling, with mu_torsion; absent: independent */
    double (*lever_arm)[6]; /* optional: m, r_a and r_b where they are not point - position */
    /* optional: m/s, world: velocity of b's surface minus a's in addition to the velocities of the bodies:
     * belts, prescribed motion */
    double (*surface_velocity)[3];
} ss_contacts;

/* What a row of an alternative is for. */
typedef enum ss_row_role {
    SS_ROW_FORCE, /* a contact point: carries impulse and friction when its alternative is selected */
    /* A point that must stay on its side of the face, but does not touch it now: it decides about the
     * alternative, and carries impulse only when it is promoted. */
    SS_ROW_TEST,
} ss_row_role;

/* Polyhedral exact geometry (docs/peg.md): two convex bodies may be kept apart by any one of several faces.
 * A group is one such pair: an OR of alternatives, each with one normal and an AND of points. The contacts of
 * a group are the force points of its alternative 0; all other points are here. Bodies, friction and other
 * properties are those of the group's first contact. A reader that does not know alternatives sees an
 * ordinary frame. */
typedef struct ss_subcontacts {
    int groups, count;      /* 0 and 0: the frame has no alternatives, and all pointers are NULL */
    int32_t *contact_group; /* of each contact: its group, from 0; -1: an ordinary contact */
    double *cut;          /* m, of each group: how deep the straight path of a step may cut; inf: anything */
    int32_t *group;       /* of each row from here on */
    int32_t *alternative; /* from 0; rows of alternative 0 are test points */
    int32_t *role;        /* ss_row_role */
    double (*point)[3];   /* m, world, as in contacts */
    double (*normal)[3];  /* unit, from a to b; the same for all rows of an alternative */
    double *gap;          /* m */
    double (*surface_velocity)[3]; /* optional, as in contacts */
} ss_subcontacts;

/* What generalised coordinates make of a joint. */
typedef enum ss_implied {
    SS_IMPLIED_NOT,  /* it stays a constraint: a closed loop, a limit, a motor with a bound */
    SS_IMPLIED_BY_T, /* every motion T v fulfils its equations: J T = 0 */
    /* its rows are linear laws without bounds, J v + C x + c = 0 with C > 0 (springs, dampers, rotors), which
     * mass and force hold: M contains (J T)'(J T)/C, and h f minus (J T)'(J T v + c)/C */
    SS_IMPLIED_BY_MASS,
} ss_implied;

/* Minimal coordinates beside the bodies (docs/coordinates.md): body velocities = T v, world frame, centre of
 * mass, with T and v of before the step, and M v+ = M v + h f + T' J' x. The bodies, all joints and contacts
 * are in the frame as usual, so that the same problem can be solved in maximal coordinates. Sparse matrices
 * are stored by rows: the entries of row i are those from start[i] to start[i + 1] - 1, by rising column. */
typedef struct ss_generalized {
    int trees, count; /* trees and coordinates; 0 and 0: the frame has none, and all pointers are NULL */
    int map_count;    /* stored entries of T, and of M */
    int mass_count;
    int32_t (*tree)[2]; /* of each tree: its first coordinate and their number; in order, without a gap */
    int32_t *map_start; /* T: 6 bodies x coordinates; 6 bodies + 1 numbers */
    int32_t *map_column;
    double *map;
    int32_t *mass_start; /* M: lower half with the diagonal, which ends each row; coordinates + 1 numbers */
    int32_t *mass_column;
    double *mass;     /* kg, kg m or kg m^2; blocks of one tree each */
    double *velocity; /* v, before the step */
    double *force;    /* f: everything explicit */
} ss_generalized;

typedef struct ss_frame {
    double h;    /* s, time step, > 0 */
    double time; /* s, of the simulation; NaN = unknown */
    ss_bodies bodies;
    ss_constraints constraints;
    ss_contacts contacts;
    ss_subcontacts subcontacts; /* optional */
    ss_generalized generalized; /* optional */
} ss_frame;

/* ---- life ------------------------------------------------------------------------------------------- */

/* All required arrays, with useful defaults: h = 1, time unknown, identity quaternions, ids 1..n, all live,
 * infinite bounds, world pairs, everything else zero. Every joint has one row, and the last one also all that
 * remain. Fails on negative sizes and lack of memory. */
SS_API ss_frame *ss_frame_create(int bodies, int constraints, int rows, int contacts, ss_error *err);
SS_API void ss_frame_destroy(ss_frame *frame);
SS_API ss_frame *ss_frame_copy(const ss_frame *frame, ss_error *err);
/* Creates an optional array by its path in the file ("contacts/restitution"), with the values that its
 * absence implied, so that the problem stays the same: 0, but friction_row -1, holonomic 1, mu_s as mu_k, and
 * t_u and lever_arms computed from the current contents. Does nothing if it exists; fails on a path that is
 * not optional. */
SS_API bool ss_frame_enable(ss_frame *frame, const char *path, ss_error *err);
/* Room for alternatives in a frame without any: all contacts ordinary, every cut infinite, rows of group 0,
 * alternative 0, zero. */
SS_API bool ss_frame_add_alternatives(ss_frame *frame, int groups, int rows, ss_error *err);
/* The ordinary frame of a choice: selection[g] is the alternative of group g (NULL: all of them), whose force
 * points become contacts, and promoted[r] (may be NULL) makes test row r of a selected alternative one,
 * too. origin (may be NULL; room for all contacts and rows) says where each contact comes from: below
 * contacts.count a contact, above it row origin - contacts.count. Where every selected alternative is 0 and
 * nothing is promoted, the contacts are those of the frame, bit for bit. */
SS_API ss_frame *ss_frame_select(const ss_frame *frame, const int32_t *selection, const uint8_t *promoted,
                                 int *origin, ss_error *err);
/* Room for blocks of rows on more than two bodies, in a frame without any: all of row 0 and body 0, zero. */
SS_API bool ss_frame_add_further(ss_frame *frame, int blocks, ss_error *err);
/* Room for generalised coordinates in a frame without any: every number zero. */
SS_API bool ss_frame_add_generalized(ss_frame *frame, int trees, int coordinates, int map_entries,
                                     int mass_entries, ss_error *err);
/* Sets body b to planar motion in z = 0: rotation and torque about z; the inertia is made isotropic. */
SS_API void ss_frame_set_planar_body(ss_frame *frame, int body, double mass, double inertia,
                                     const double pose[3], const double velocity[3], const double force[3]);

/* ---- looking at it ---------------------------------------------------------------------------------- */

SS_API bool ss_frame_is_live(const ss_frame *frame, int body); /* false for SS_WORLD */
/* Nothing leaves the plane z = const: velocities, forces, lever arms, normals, constraint rows. */
SS_API bool ss_frame_is_planar(const ss_frame *frame);
/* The two unit tangents of contact c, t_v = n x t_u. Without a stored tangent, t_u is n crossed with the axis
 * of its smallest component, so that the choice is the same everywhere. */
SS_API void ss_contact_tangents(const ss_frame *frame, int contact, double t_u[3], double t_v[3]);
/* Lever arms from the centres of mass to the contact point; zero for the world. */
SS_API void ss_contact_lever_arms(const ss_frame *frame, int contact, double r_a[3], double r_b[3]);

typedef struct ss_frame_summary {
    int bodies, constraints, rows, contacts; /* live bodies only */
    double total_mass;                       /* kg, live bodies */
    double kinetic_energy;                   /* J, live bodies */
    double sum_abs_gap;                      /* m */
    double momentum[3];                      /* kg m/s, live bodies */
    double max_penetration;                  /* m, >= 0 */
} ss_frame_summary;
SS_API ss_frame_summary ss_frame_summarise(const ss_frame *frame);

/* Reports every fault with place and index ("PLACE/bodies/masses[3]"); true if there are none. */
SS_API bool ss_frame_check(const ss_frame *frame, const char *place, ss_findings *findings);

/* 128-bit hash of the problem as 32 hex digits. It depends on every number that reaches a solver, not on how
 * the frame was stored: -0 counts as 0, and an optional array that only holds its default as absent. */
SS_API void ss_frame_hash(const ss_frame *frame, char text[33]);
/* Bit for bit the same arrays, same optional arrays. */
SS_API bool ss_frame_equal(const ss_frame *a, const ss_frame *b);

#ifdef __cplusplus
}
#endif
#endif
