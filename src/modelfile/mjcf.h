/* modelfile/mjcf.h - what the files that read MJCF share: compiler settings, default classes, attributes. */
#ifndef SS_MODELFILE_MJCF_H
#define SS_MODELFILE_MJCF_H

#include "modelfile/files.h"

/* A default class: all <default> elements of that name, and the class it inherits from. */
typedef struct ss_mjcf_class {
    const char *name;
    int parent; /* -1: none */
    int node_count;
    ss_xml **nodes;
} ss_mjcf_class;

typedef struct ss_mjcf_site {
    const char *name;
    int part;
    ss_pose pose; /* in the part */
} ss_mjcf_site;

typedef struct ss_mjcf_mesh {
    const char *name;
    ss_xml *node;
    int mesh; /* of the tree; -1: not read yet */
} ss_mjcf_mesh;

/* An attribute that was asked for: then it means something, also in a default class without users. */
typedef struct ss_mjcf_asked {
    const char *element, *attribute;
} ss_mjcf_asked;

typedef struct ss_mjcf {
    ss_tree *tree;
    ss_reading *reading;
    ss_xml *root;
    /* compiler */
    bool degree, global, autolimits, strip_path;
    char euler_sequence[4];
    int inertia_from_geom; /* 0 false, 1 true, 2 auto */
    double inertia_group[2], bound_mass;
    const char *mesh_dir;
    /* option flags that are off */
    bool no_limits, no_passive, no_friction_loss, no_actuation, no_equality;
    const char *suffix; /* of names inside <replicate> */
    int class_count, site_count, mesh_count, asked_count, copies, includes;
    ss_mjcf_class *classes;
    ss_mjcf_site *sites;
    ss_mjcf_mesh *meshes;
    ss_mjcf_asked *asked;
} ss_mjcf;

/* ---- attributes with defaults ----------------------------------------------------------------------- */

/* An element with the class that its defaults come from (-1: none). */
typedef struct ss_mjcf_element {
    ss_xml *node;
    int class_number;
} ss_mjcf_element;

/* The attribute of the element or else of its class; *where is the element it stands in. */
const char *ss_mjcf_text(ss_mjcf *m, ss_mjcf_element e, const char *name, ss_xml **where);
int ss_mjcf_numbers(ss_mjcf *m, ss_mjcf_element e, const char *name, int least, int most, double *values);
double ss_mjcf_number(ss_mjcf *m, ss_mjcf_element e, const char *name, double otherwise);
/* 0 false, 1 true, 2 auto or absent */
int ss_mjcf_limited(ss_mjcf *m, ss_mjcf_element e, const char *name);
/* pos and any of quat, axisangle, euler, xyaxes, zaxis */
ss_pose ss_mjcf_pose(ss_mjcf *m, ss_mjcf_element e);
ss_quat ss_mjcf_euler(const ss_mjcf *m, const double angles[3], double factor);
/* The class of an element inside something with a childclass. */
ss_mjcf_element ss_mjcf_element_of(ss_mjcf *m, ss_xml *node, int child_class);
int ss_mjcf_find_class(ss_mjcf *m, const ss_xml *node, const char *name);

/* ---- parts of the reader ---------------------------------------------------------------------------- */

void ss_mjcf_read_includes(ss_mjcf *m);
void ss_mjcf_read_defaults(ss_mjcf *m);
void ss_mjcf_read_bodies(ss_mjcf *m);
void ss_mjcf_read_equalities(ss_mjcf *m, ss_xml *section);
void ss_mjcf_read_tendons(ss_mjcf *m, ss_xml *section);
void ss_mjcf_read_contacts(ss_mjcf *m, ss_xml *section);
/* Actuators, with the controls of the keyframe that the user chose. */
void ss_mjcf_read_actuators(ss_mjcf *m);
/* Coordinates and speeds at the start, from the keyframe that the user chose. */
void ss_mjcf_read_start(ss_mjcf *m);
ss_xml *ss_mjcf_chosen_key(ss_mjcf *m);
/* The geometry of one <geom>, its pose included; false with an error. */
bool ss_mjcf_read_geometry(ss_mjcf *m, ss_mjcf_element e, bool required, ss_model_geom *geom);
/* <geom> with everything, in a frame of the part. */
void ss_mjcf_read_geom(ss_mjcf *m, ss_mjcf_element e, int part, ss_pose frame);
double ss_mjcf_angle(const ss_mjcf *m, double value); /* to rad */

#endif
