/* modelfile/files.h - files that a model names: meshes, and other models. */
#ifndef SS_MODELFILE_FILES_H
#define SS_MODELFILE_FILES_H

#include "modelfile/tree.h"

/* What a reference like package://NAME/meshes/part.stl, file:///... or part.stl means, in the arena; NULL
 * with an error. */
const char *ss_tree_resolve(ss_tree *tree, const ss_xml *node, const char *directory, const char *reference);
/* Reads a mesh and scales it; its number, or -1. Without `required` a mesh that is missing or unreadable is
 * a warning, not an error. */
int ss_tree_read_mesh(ss_tree *tree, ss_xml *node, const char *path, const double scale[3], bool required);

#endif
