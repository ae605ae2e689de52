/* modelfile/tree.h - what the readers of all formats produce, and one builder turns into a world: a tree of
 * parts (MJCF bodies, URDF links), each placed in its parent, with joints between them.
 *
 * Poses are those of the file, in which every joint coordinate is 0 here; a start other than that (a
 * keyframe) is given per joint and applied after the joints were added. */
#ifndef SS_MODELFILE_TREE_H
#define SS_MODELFILE_TREE_H

#include <stickslip/modelfile.h>

#include "linalg/quat.h"
#include "modelfile/xml.h"

typedef struct ss_pose {
    ss_vec3 p;
    ss_quat q;
} ss_pose;

static inline ss_pose ss_pose_identity(void)
{
    return (ss_pose){{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
}

static inline ss_vec3 ss_pose_point(ss_pose a, ss_vec3 x)
{
    return ss_vec3_add(a.p, ss_quat_rotate(a.q, x));
}

/* b, given in a's frame, in the frame that a is given in. */
static inline ss_pose ss_pose_compose(ss_pose a, ss_pose b)
{
    return (ss_pose){ss_pose_point(a, b.p), ss_quat_normalise(ss_quat_multiply(a.q, b.q))};
}

/* a's pose in the frame b, both given in the same frame: b^-1 a */
static inline ss_pose ss_pose_relative(ss_pose b, ss_pose a)
{
    return (ss_pose){ss_quat_rotate_back(b.q, ss_vec3_subtract(a.p, b.p)),
                     ss_quat_normalise(ss_quat_multiply(ss_quat_conjugate(b.q), a.q))};
}

typedef struct ss_model_mesh {
    ss_mesh *mesh; /* owned by the tree; as in the file, scaled */
    ss_mesh *hull; /* convex, closed; NULL until asked for */
} ss_model_mesh;

/* A shape of a part. */
typedef struct ss_model_geom {
    ss_xml *node;
    const char *name;
    int part; /* -1: the world itself */
    ss_shape_kind kind;
    double size[3]; /* as ss_shape */
    ss_pose pose;   /* in the part */
    int mesh;       /* of ss_tree.meshes; -1 = none */
    const double *heights;
    int nx, ny;
    double mass;    /* kg; NaN: by density */
    double density; /* kg/m^3 */
    bool weighs;    /* counts for the inertia of its part */
    bool ghost;     /* seen, not felt */
    double mu, mu_rolling, mu_torsion, restitution;
    int priority, condim;
    uint32_t contype, conaffinity;
    double surface_velocity[3];
    uint32_t colour;
    /* set by the builder */
    int filter_class, material;
} ss_model_geom;

typedef enum ss_model_joint_kind { SS_MODEL_HINGE, SS_MODEL_SLIDE, SS_MODEL_BALL } ss_model_joint_kind;

/* Between a part and its parent. The first of several is the one next to the parent. */
typedef struct ss_model_joint {
    ss_xml *node;
    const char *name;
    int part;
    ss_model_joint_kind kind;
    ss_vec3 anchor, axis; /* in the part; axis of length 1 */
    ss_axis_law law;
    double reference; /* the file's coordinate where ours is 0 */
    double start, start_speed;
    ss_quat start_turn; /* ball */
    ss_vec3 start_turn_speed;
    /* set by the builder */
    int number, coordinate; /* in the world */
} ss_model_joint;

typedef struct ss_model_part {
    ss_xml *node;
    const char *name;
    int parent;   /* -1: the world; always an earlier part */
    ss_pose pose; /* in the parent */
    bool free;    /* no joint at all: moves freely */
    bool has_start;
    ss_pose start; /* free, in the world */
    double start_velocity[6];
    int joint_count, first_joint; /* consecutive in ss_tree.joints */
    bool has_inertial;
    double mass, inertia[9]; /* about `centre`, axes of the part */
    ss_vec3 centre;
    double gravity_scale; /* as ss_body */
    /* set by the builder */
    ss_pose world;
    int rigid;
} ss_model_part;

typedef enum ss_model_equality_kind {
    SS_MODEL_CONNECT,
    SS_MODEL_WELD,
    SS_MODEL_COUPLE, /* of joints: the sum of factor * coordinate is `offset` */
    SS_MODEL_TENDON, /* of joints: `law` acts along the sum of factor * coordinate */
    SS_MODEL_LOCK,   /* coordinate 1 = offset */
} ss_model_equality_kind;

typedef struct ss_model_equality {
    ss_xml *node;
    const char *name;
    ss_model_equality_kind kind;
    int part[2];       /* -1: the world */
    ss_vec3 anchor[2]; /* in part 0 and part 1; where the second is not known: the same point at the start */
    bool same_point;   /* anchor[1] is where anchor[0] is */
    bool has_relative; /* weld: pose of part 1 in part 0, otherwise as it is */
    ss_pose relative;
    int terms, joint[SS_JOINT_TERMS];
    double factor[SS_JOINT_TERMS], offset;
    ss_axis_law law;
    bool disabled;
} ss_model_equality;

typedef struct ss_model_pair {
    ss_xml *node;
    int geom[2];
    bool has_friction;
    double mu, mu_rolling, mu_torsion;
} ss_model_pair;

typedef struct ss_model_exclusion {
    int part[2];
} ss_model_exclusion;

typedef struct ss_tree {
    ss_reading *reading;
    const ss_model_options *options;
    ss_model_info *info;
    double gravity[3];
    double default_mu;
    bool max_friction; /* MJCF: the larger coefficient of a pair counts, by priority; else the usual mean */
    bool parents_collide; /* with their children */
    bool contacts_off;
    bool has_base;     /* URDF, SDF: what is fixed is a static body, so that its neighbours do not touch it */
    double mass_total; /* settotalmass; 0 = none */
    int part_count, joint_count, geom_count, mesh_count, equality_count, pair_count, exclusion_count;
    ss_model_part *parts;
    ss_model_joint *joints;
    ss_model_geom *geoms;
    ss_model_mesh *meshes;
    ss_model_equality *equalities;
    ss_model_pair *pairs;
    ss_model_exclusion *exclusions;
    /* files */
    const char *folder; /* real path below which files must lie; NULL: no files at all */
} ss_tree;

#define SS_MODEL_PARTS_MOST 20000
#define SS_MODEL_GEOMS_MOST 100000
#define SS_MODEL_FILE_MOST ((size_t)256 << 20) /* bytes of a mesh */

/* New items, zeroed but for what 0 would not mean; NULL when there is no room. */
ss_model_part *ss_tree_add_part(ss_tree *tree, ss_xml *node, int parent);
ss_model_joint *ss_tree_add_joint(ss_tree *tree, ss_xml *node, int part);
ss_model_geom *ss_tree_add_geom(ss_tree *tree, ss_xml *node, int part);
ss_model_equality *ss_tree_add_equality(ss_tree *tree, ss_xml *node, ss_model_equality_kind kind);
bool ss_tree_add_pair(ss_tree *tree, const ss_model_pair *pair);
bool ss_tree_add_exclusion(ss_tree *tree, int part_a, int part_b);
/* Takes the mesh over; -1 when there is no room. */
int ss_tree_add_mesh(ss_tree *tree, ss_mesh *mesh);
/* -1 if there is none */
int ss_tree_find_part(const ss_tree *tree, const char *name);
int ss_tree_find_joint(const ss_tree *tree, const char *name);
int ss_tree_find_geom(const ss_tree *tree, const char *name);
void ss_tree_free(ss_tree *tree);

/* ---- files that a model names ----------------------------------------------------------------------- */

/* The file `name`, seen from `directory` (below the model's folder, "" for itself): the whole path, in the
 * arena. NULL with an error at `node` when it is not allowed; whether it exists is not looked at. */
const char *ss_tree_path(ss_tree *tree, const ss_xml *node, const char *directory, const char *name);
/* The same after links are resolved: false with an error when it leads out of the folder or does not
 * exist. */
bool ss_tree_check_path(ss_tree *tree, const ss_xml *node, const char *path);

/* ---- mass ------------------------------------------------------------------------------------------- */

/* Mass properties of a geom in the frame of its part. */
ss_mass_properties ss_geom_mass(ss_tree *tree, const ss_model_geom *geom);
/* Gives a part the inertia of its geoms; parts without any that weigh get none. */
void ss_part_weigh(ss_tree *tree, int part);
/* The convex hull of a mesh, made once; NULL with an error at `node`. */
const ss_mesh *ss_tree_hull(ss_tree *tree, const ss_xml *node, int mesh);
/* (R inertia R', R centre + p), in place. */
void ss_mass_transform(ss_mass_properties *mass, ss_pose pose);
/* The two together; about the common centre. */
ss_mass_properties ss_mass_add(ss_mass_properties a, ss_mass_properties b);

/* ---- formats, builder ------------------------------------------------------------------------------- */

void ss_urdf_read(ss_tree *tree, ss_xml *root);
void ss_mjcf_read(ss_tree *tree, ss_xml *root);
void ss_sdf_read(ss_tree *tree, ss_xml *root);
bool ss_tree_build(ss_tree *tree, ss_world *world, ss_error *err);

/* Shared by readers. */
ss_quat ss_quat_from_rpy(double roll, double pitch, double yaw); /* fixed axes x, y, z */
uint32_t ss_colour_of(const double rgba[4]);
/* A joint whose file says nothing about friction etc. is frictionless: fills limits unless they are empty. */
ss_xml_judge ss_urdf_judge, ss_mjcf_judge, ss_sdf_judge;

#endif
