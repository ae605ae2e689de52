/* stickslip/model.h - what is simulated: bodies, their shapes and materials, joints, and triangle meshes.
 *
 *     ss_world *world = ss_world_create(&err);
 *     int brick = ss_world_add_body(world, &(ss_body){.kind = SS_DYNAMIC, .position = {0, 0, 1}}, &err);
 *     ss_shape box = {.kind = SS_BOX, .size = {0.2, 0.1, 0.05}, .density = 1800};
 *     ss_world_add_shape(world, brick, &box, &err);
 *     ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, &err);
 *
 * Objects are identified by the numbers returned when they are added: 0, 1, 2, ...; they are never removed,
 * only disabled. Structs are filled by hand; the comments say what a field of 0 means. Adding copies the
 * struct; later the copy in the world is changed through ss_world_body and similar functions, between steps
 * or in a user function.
 *
 * All quantities are in consistent units, SI unless ss_world_change_units was called.
 *
 * Read after base.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_MODEL_H
#define STICKSLIP_MODEL_H

#include <stickslip/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- triangle meshes -------------------------------------------------------------------------------- */

/* Faces list their corners counter-clockwise seen from outside. */
typedef struct ss_mesh {
    int vertex_count, face_count;
    double (*vertex)[3];
    int (*face)[3];
} ss_mesh;

SS_API ss_mesh *ss_mesh_create(int vertices, int faces, ss_error *err);
SS_API void ss_mesh_destroy(ss_mesh *mesh);
SS_API ss_mesh *ss_mesh_copy(const ss_mesh *mesh, ss_error *err);
/* By suffix: .obj (v and f lines; polygons are cut into triangles), .stl (text or binary; equal vertices are
 * joined), .poly (RPIsim's: a count, vertices with or without an index, a count, faces; 0- or 1-based,
 * polygons allowed). Errors name file and line. */
SS_API ss_mesh *ss_mesh_read(const char *path, ss_error *err);
/* Every fault: indices out of range, degenerate or double faces, open or non-manifold edges, faces oriented
 * against their neighbours (faults); inside out, several parts, unused vertices (warnings). True
 * without faults. */
SS_API bool ss_mesh_check(const ss_mesh *mesh, const char *place, ss_findings *findings);
/* tolerance in the mesh's unit of length */
SS_API bool ss_mesh_is_convex(const ss_mesh *mesh, double tolerance);
/* Convex hull of the vertices (qhull), its faces triangulated and oriented outwards. */
SS_API ss_mesh *ss_mesh_hull(const double (*points)[3], int count, ss_error *err);
/* x := s R x + t; s of each axis, R as a quaternion (NULL: none), t (NULL: 0). A mirroring scale
 * reverses the faces. */
SS_API void ss_mesh_transform(ss_mesh *mesh, const double scale[3], const double quaternion[4],
                              const double translation[3]);

/* The solids, closed and outward. Regular ones have circumradius 1, but the cube edge 1. */
typedef enum ss_solid {
    SS_TETRAHEDRON,
    SS_CUBE,
    SS_OCTAHEDRON,
    SS_DODECAHEDRON,
    SS_ICOSAHEDRON,
} ss_solid;
SS_API ss_mesh *ss_mesh_solid(ss_solid solid, ss_error *err);
SS_API ss_mesh *ss_mesh_block(const double size[3], ss_error *err); /* full edge lengths */
SS_API ss_mesh *ss_mesh_cylinder(int sides, double radius, double length, ss_error *err); /* prism along z */
SS_API ss_mesh *ss_mesh_ball(int subdivisions, double radius, ss_error *err); /* an icosahedron, refined */

/* ---- mass ------------------------------------------------------------------------------------------- */

typedef struct ss_mass_properties {
    double mass;
    double centre[3];  /* of mass */
    double inertia[9]; /* about the centre, row by row */
} ss_mass_properties;
/* Exact integrals over the inside of a closed mesh of this density (Mirtich 1996). */
SS_API ss_mass_properties ss_mesh_mass(const ss_mesh *mesh, double density);

/* ---- shapes ----------------------------------------------------------------------------------------- */

typedef enum ss_shape_kind {
    SS_SPHERE,    /* size[0] = radius */
    SS_PLANE,     /* the half-space z <= 0 of its frame; static only */
    SS_BOX,       /* size = full edge lengths */
    SS_CAPSULE,   /* along z: size[0] = radius, size[1] = length between the centres of the caps */
    SS_CYLINDER,  /* along z: size[0] = radius, size[1] = length */
    SS_ELLIPSOID, /* size = half axes */
    SS_HULL,      /* convex polyhedron: mesh, which must be convex and closed */
    SS_MESH,      /* triangle mesh, static or kinematic bodies only; one-sided, outside by orientation */
    /* heights over a grid of nx x ny points, spacing size[0] x size[1], centred at 0, solid
     * below; static only */
    SS_HEIGHTFIELD,
    SS_SHAPE_KINDS
} ss_shape_kind;
SS_API const char *ss_shape_kind_name(ss_shape_kind kind); /* "sphere" */

/* A shape fixed to a body, its own frame placed in the body's. A body may have several: a compound. */
typedef struct ss_shape {
    ss_shape_kind kind;
    double size[3];
    const ss_mesh *mesh;   /* hull, mesh: copied */
    const double *heights; /* heightfield: nx * ny, x fastest; copied */
    int nx, ny;
    double position[3];     /* in the body frame */
    double quaternion[4];   /* to the body frame; all 0 = identity */
    double density;         /* for mass by geometry; 0 = massless */
    int material;           /* of ss_world_add_material; 0 = the default one */
    uint32_t group;         /* collision filter: a bit set; 0 = 1 */
    uint32_t collides_with; /* groups it collides with; 0 = all. Both shapes must agree */
    /* m/s in the shape's frame: a belt whose surface moves while the body is at rest */
    double surface_velocity[3];
    bool ghost;      /* visible and with mass, but collides with nothing */
    uint32_t colour; /* 0xRRGGBB; 0 = chosen by number */
    int body;        /* set by adding */
} ss_shape;

typedef struct ss_material {
    const char *name; /* copied; unique */
    double mu;        /* sliding friction; with a grain that along it */
    double restitution;
    double mu_rolling;              /* m */
    double mu_torsion;              /* m */
    ss_spin_coupling spin_coupling; /* of sliding and spinning, with mu_torsion */
    double mu_across;               /* sliding friction across the grain; 0 = as mu */
    double grain[3];                /* direction in the frames of its shapes; all 0 = none */
} ss_material;

/* Properties of a pair of materials. If none is set: mu, mu_rolling and mu_torsion are geometric means
 * sqrt(a b), and so is mu_across, to which a material without one brings its mu; restitution is the larger
 * one, sliding and spinning are coupled if one of the two says so, and contacts are rigid and do not stick
 * together. Grains are laid by the simulation, contact by contact (docs/modelling.md). */
typedef struct ss_material_pair {
    double mu, mu_static; /* mu_static 0 = as mu */
    double restitution;
    double mu_rolling, mu_torsion; /* m */
    double stiffness;              /* N/m, of each contact point; 0 = rigid */
    double damping;                /* N s/m, with a stiffness */
    double adhesion;               /* N, of each contact point that touches */
    ss_spin_coupling spin_coupling;
    double mu_across; /* 0 = as mu; else one of the materials must have a grain */
} ss_material_pair;

/* ---- bodies ----------------------------------------------------------------------------------------- */

typedef enum ss_body_kind {
    SS_STATIC,    /* never moves */
    SS_KINEMATIC, /* prescribed motion: velocity set by the user, or by `motion` */
    SS_DYNAMIC,
} ss_body_kind;

/* Prescribed motion: pose and velocity at a time. Velocity must be the derivative of the pose. */
typedef void ss_motion(double time, double position[3], double quaternion[4], double velocity[6],
                       void *context);

typedef struct ss_body {
    const char *name; /* copied; NULL = none */
    ss_body_kind kind;
    bool disabled; /* inactive */
    /* of the centre of mass once there are masses, before that of the body frame's origin */
    double position[3];
    double quaternion[4]; /* principal or not: the body frame; all 0 = identity */
    double velocity[6];   /* world frame: linear of the centre of mass, angular */
    double force[6];      /* set by the user, about the centre of mass: kept until changed, without gravity */
    double mass;          /* 0: from the shapes' densities */
    double inertia[9];    /* body frame, about the centre of mass; all 0: from the shapes, scaled to mass */
    double gravity_scale; /* multiplies gravity; 0 = 1; negative values are allowed, NaN = no gravity */
    double linear_damping, angular_damping; /* 1/s: force - d m v, torque - d I w, explicit */
    ss_motion *motion;                      /* kinematic */
    void *motion_context;
    /* set by ss_world_finish: centre of mass in the frame the shapes were given in. Shapes' positions are
     * then relative to the centre of mass */
    double centre[3];
} ss_body;

/* ---- joints ----------------------------------------------------------------------------------------- */

typedef enum ss_joint_kind {
    SS_JOINT_FIXED,       /* 6 rows */
    SS_JOINT_REVOLUTE,    /* 5: turns about axis */
    SS_JOINT_PRISMATIC,   /* 5: slides along axis */
    SS_JOINT_CYLINDRICAL, /* 4: turns about and slides along axis */
    SS_JOINT_UNIVERSAL,   /* 4: turns about axis (fixed in a) and axis2 (fixed in b), kept at a right angle */
    SS_JOINT_BALL,        /* 3 */
    SS_JOINT_PLANAR,      /* 3: stays in the plane with normal axis, turns about it */
    SS_JOINT_DISTANCE,    /* 1: |anchor_b - anchor_a| stays */
    SS_JOINT_SCREW,       /* 5: cylindrical, and slide = ratio * angle (m/rad) */
    /* 1: angle of b about axis2 + ratio * angle of a about axis stays; both about their own axes in the
     * world, as turned since the start */
    SS_JOINT_GEAR,
    /* The following act on the coordinates of other joints (terms), and so on more than two bodies. a and b
     * are set by adding. */
    SS_JOINT_COUPLING,     /* 1: the sum of factor * coordinate over the terms stays */
    SS_JOINT_DIFFERENTIAL, /* 1: shaft = ratio * (left + right) / 2, of term[0], term[1] and term[2] */
    /* Velocity-dependent coupling of pump (term[0]) and turbine (term[1]), angles: no equation, but a damper,
     * docs/joints.md. ratio is the torque ratio at stall, 1 to 3 */
    SS_JOINT_CONVERTER,
    /* 1: a rope from anchor on a over sheaves of body c to anchor_b on b:
     * |anchor - sheave[0]| + ratio * |anchor_b - sheave[1]| stays */
    SS_JOINT_PULLEY,
    SS_JOINT_KINDS
} ss_joint_kind;
SS_API const char *ss_joint_kind_name(ss_joint_kind kind);

typedef enum ss_motor_mode {
    SS_MOTOR_OFF,
    SS_MOTOR_VELOCITY, /* reach target_speed with at most max_force */
    SS_MOTOR_POSITION, /* spring and damper towards `target`: implicit, at most max_force */
    SS_MOTOR_DRIVE, /* rheonomic: coordinate = target(t) exactly; target and target_speed set by the user */
} ss_motor_mode;

/* What acts along one free coordinate of a joint: an angle (rad) or a slide (m). All zero = nothing. */
typedef struct ss_axis_law {
    bool limited;
    double lower, upper; /* rad or m */
    ss_motor_mode motor;
    double target, target_speed;
    double max_force; /* N or N m; 0 = unlimited */
    /* of a spring about rest (always on when > 0), or the gains of SS_MOTOR_POSITION */
    double stiffness, damping;
    double rest;          /* of the spring; distance: 0 = the length at the start */
    double force;         /* N or N m: set by the user, kept until changed; pushes b along the coordinate */
    double friction;      /* N or N m: dry, constant */
    double load_friction; /* times the joint's load: m about an axis (mu * bearing radius), 1 along it */
    /* kg m^2 about an axis, kg along it: inertia of a rotor behind a gear, felt by the coordinate alone */
    double armature;
    /* gains of SS_MOTOR_POSITION beside the spring; both 0: the motor takes over stiffness and damping */
    double motor_stiffness, motor_damping;
} ss_axis_law;

/* A coordinate of another joint. */
typedef struct ss_coupling_term {
    int joint, index; /* one that was added before, and which of its coordinates */
    double factor;    /* coupling only */
} ss_coupling_term;

enum {
    SS_JOINT_TERMS = 4,  /* at most */
    SS_JOINT_BODIES = 6, /* that a joint may act on, at most */
};

typedef struct ss_joint {
    const char *name;
    ss_joint_kind kind;
    int a, b;           /* bodies, or SS_WORLD */
    double anchor[3];   /* world, at the start; distance: on a */
    double anchor_b[3]; /* distance, pulley: on b */
    double axis[3];     /* world, at the start; all 0 = z */
    double axis2[3];    /* universal, gear */
    double ratio;       /* screw: m/rad; gear, differential, converter, pulley: 1, as a pure number */
    double compliance;  /* m/N (rad/(N m)) of the joint's own equations; 0 = rigid */
    /* revolute, prismatic, screw: [0]; cylindrical: [0] angle, [1] slide; universal: about axis, axis2;
     * distance, pulley: [0] length (limits make it a rope, stiffness a spring, a motor a winch);
     * coupling, differential: [0] the sum that stays otherwise */
    ss_axis_law law[2];
    bool disabled;
    bool bodies_collide; /* the two bodies may touch; by default they do not, as long as the joint is enabled
                          * and neither is SS_WORLD */
    int terms;           /* coupling: how many; others set it */
    ss_coupling_term term[SS_JOINT_TERMS]; /* coupling, differential, converter */
    double capacity;     /* converter: N m s^2, torque of the pump at stall per speed squared */
    int c;               /* pulley: the body of the sheaves, or SS_WORLD */
    double sheave[2][3]; /* pulley: world, at the start; where the rope leaves c to a and to b */
    /* Set by adding: anchors and axes in the body frames. */
    double local_anchor[2][3], local_frame[2][4];
    double local_sheave[2][3];
    double start_length;                     /* m; of a coupling or differential the sum that stays */
    int body_count, bodies[SS_JOINT_BODIES]; /* all that it acts on, a and b first */
    /* State, kept up by the simulation after every step, part of snapshots. turned, rad: the angles counted
     * through full turns, used by limits, motors and springs; gear: of a and b. */
    double turned[2];
    double load_direction[3]; /* where the joint's force pointed, frame of side a; any length */
} ss_joint;

/* ---- world ------------------------------------------------------------------------------------------ */

typedef struct ss_world ss_world;

/* gravity (0, 0, -9.81), material 0 "default": mu 0.5, no restitution */
SS_API ss_world *ss_world_create(ss_error *err);
SS_API void ss_world_destroy(ss_world *world);
/* The number of the new object, -1 on failure. Errors name the object and the field. */
SS_API int ss_world_add_material(ss_world *world, const ss_material *material, ss_error *err);
SS_API bool ss_world_set_pair(ss_world *world, int material_a, int material_b, const ss_material_pair *pair,
                              ss_error *err);
SS_API int ss_world_add_body(ss_world *world, const ss_body *body, ss_error *err);
/* body = SS_WORLD: fixed in space. Dynamic bodies must not be given planes, meshes or heightfields. */
SS_API int ss_world_add_shape(ss_world *world, int body, const ss_shape *shape, ss_error *err);
SS_API int ss_world_add_joint(ss_world *world, const ss_joint *joint, ss_error *err);
/* These two bodies never touch. */
SS_API bool ss_world_separate(ss_world *world, int body_a, int body_b, ss_error *err);
/* Mass properties: centre of mass, inertia; moves shapes so that the body frame's origin is the centre of
 * mass. Called by ss_sim_create, and again after something was added. A dynamic body without mass is an
 * error. Joints whose bodies do not fit together at the start keep their violation. */
SS_API bool ss_world_finish(ss_world *world, ss_error *err);

SS_API int ss_world_body_count(const ss_world *world);
SS_API int ss_world_shape_count(const ss_world *world);
SS_API int ss_world_joint_count(const ss_world *world);
SS_API int ss_world_material_count(const ss_world *world);
/* The copies in the world, to read and to change; valid until something is added. NULL out of range. */
SS_API ss_body *ss_world_body(const ss_world *world, int body);
SS_API ss_shape *ss_world_shape(const ss_world *world, int shape);
SS_API ss_joint *ss_world_joint(const ss_world *world, int joint);
SS_API const ss_material *ss_world_material(const ss_world *world, int material);
SS_API ss_material_pair ss_world_pair(const ss_world *world, int material_a, int material_b);
/* filters, joints, same body, statics */
SS_API bool ss_world_may_touch(const ss_world *world, int shape_a, int shape_b);
SS_API int ss_world_find_body(const ss_world *world, const char *name); /* -1 if there is none */
SS_API int ss_world_find_joint(const ss_world *world, const char *name);
SS_API double *ss_world_gravity(ss_world *world); /* [3] */

/* Multiplies every quantity as a change of units of length, mass and time would. With (s, s^3, sqrt(s)) it
 * makes the dynamically similar world of another size under the same gravity. It cannot change
 * prescribed motions: fails if there are any, or if the compliance of a joint mixes lengths and angles;
 * nothing is changed then. */
SS_API bool ss_world_change_units(ss_world *world, double length, double mass, double time, ss_error *err);

/* Energy and momentum of the dynamic bodies; potential = gravity only. */
typedef struct ss_world_energy {
    double kinetic, potential;
    double momentum[3], angular_momentum[3]; /* about the world's origin */
} ss_world_energy;
SS_API ss_world_energy ss_world_measure(const ss_world *world);

/* ---- state of joints -------------------------------------------------------------------------------- */

/* The coordinate `index` of a joint (angle in (-pi, pi], slide, length) and its rate. False if there is
 * none. */
SS_API bool ss_joint_coordinate(const ss_world *world, int joint, int index, double *position, double *speed);
/* Error of a joint: largest violation of its equations (m or rad), and of their rates. */
SS_API double ss_joint_error(const ss_world *world, int joint);
SS_API double ss_joint_speed_error(const ss_world *world, int joint);

#ifdef __cplusplus
}
#endif
#endif
