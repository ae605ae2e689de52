/* model/geometry_parts.h - making and unmaking the parts of an ss_geometry. */
#ifndef SS_MODEL_GEOMETRY_PARTS_H
#define SS_MODEL_GEOMETRY_PARTS_H

#include "model/geometry.h"

ss_hull *ss_hull_of_box(const double size[3], ss_error *err);
/* The mesh must be closed and convex within a millionth of its extent; what lies in one plane within that
 * becomes one face, and vertices that are then no corners are left out. */
ss_hull *ss_hull_of_mesh(const ss_mesh *mesh, ss_error *err);
void ss_hull_destroy(ss_hull *hull);
void ss_hull_scale(ss_hull *hull, double length);

/* Memory for a hull whose loops have `corners` entries in all: one block; the arrays are empty. */
ss_hull *ss_hull_create(int vertices, int faces, int corners, ss_error *err);
/* From vertices, faces (first, size) and loops: normals, edges, neighbours, centre and radius. False when the
 * loops do not close to the surface of one convex polyhedron. */
bool ss_hull_complete(ss_hull *hull, ss_error *err);

/* Triangles without area are left out. */
ss_triangles *ss_triangles_of_mesh(const ss_mesh *mesh, ss_error *err);
void ss_triangles_destroy(ss_triangles *triangles);
void ss_triangles_scale(ss_triangles *triangles, double length);
/* The tree over the triangles: node, node_count and order. */
bool ss_triangles_plant(ss_triangles *triangles, ss_error *err);
/* The boxes of a tree from the triangles as they are now. */
void ss_triangles_refit(ss_triangles *triangles);

/* Every length of a geometry times a positive number. */
void ss_geometry_scale(ss_geometry *geometry, double length);

#endif
