/* Meshes of a model: where they are, and reading them. */
#include "modelfile/files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* package://NAME/REST is REST in the folder of that package; if none was given, the model's own folder, or
 * one of that name in it, is taken for it. */
static const char *find_in_package(ss_tree *tree, const ss_xml *node, const char *name)
{
    const char *slash = strchr(name, '/');
    if (!slash) {
        ss_xml_fail(tree->reading, node, "\"%.200s\": a package without a file", name);
        return NULL;
    }
    const char *rest = slash + 1;
    size_t length = (size_t)(slash - name);
    for (int i = 0; i < tree->options->packages.count; i++) {
        const char *item = tree->options->packages.items[i]; // NAME=FOLDER
        if (strncmp(item, name, length) == 0 && item[length] == '=')
            return ss_reading_text(tree->reading, "%.1500s/%.1500s", item + length + 1, rest);
    }

    const char *beside = ss_tree_path(tree, node, "", rest);
    if (!beside || exists(beside)) return beside;
    const char *inside = ss_tree_path(tree, node, "", name);
    return !inside || exists(inside) ? inside : beside;
}

const char *ss_tree_resolve(ss_tree *tree, const ss_xml *node, const char *directory, const char *reference)
{
    static const char *const packages[] = {"package://", "model://"};
    for (int i = 0; i < 2; i++)
        if (strncmp(reference, packages[i], strlen(packages[i])) == 0)
            return find_in_package(tree, node, reference + strlen(packages[i]));
    if (strncmp(reference, "file://", 7) == 0) reference += 7;
    return ss_tree_path(tree, node, directory, reference);
}

int ss_tree_read_mesh(ss_tree *tree, ss_xml *node, const char *path, const double scale[3], bool required)
{
    struct stat status;
    ss_error err = {0};
    ss_mesh *mesh = NULL;

    /* A folder that the user gave for a package may lie anywhere. */
    bool in_package = false;
    for (int i = 0; i < tree->options->packages.count; i++) {
        const char *folder = strchr(tree->options->packages.items[i], '=');
        in_package |= folder && strncmp(path, folder + 1, strlen(folder + 1)) == 0;
    }

    if (stat(path, &status) != 0)
        ss_fail(&err, SS_ERROR_INPUT, "the file \"%.400s\" does not exist", path);
    else if (!S_ISREG(status.st_mode) || (size_t)status.st_size > SS_MODEL_FILE_MOST)
        ss_fail(&err, SS_ERROR_INPUT, "\"%.400s\" is not a file of at most %zu MB", path,
                SS_MODEL_FILE_MOST >> 20);
    else if (!in_package && !ss_tree_check_path(tree, node, path))
        return -1;
    else
        mesh = ss_mesh_read(path, &err);

    if (!mesh && required) ss_xml_fail(tree->reading, node, "%s", err.message);
    if (!mesh && !required)
        ss_xml_note(tree->reading, SS_FINDING_WARNING, node, "is not shown: %s", err.message);
    if (!mesh) return -1;
    ss_mesh_transform(mesh, scale, NULL, NULL);
    return ss_tree_add_mesh(tree, mesh);
}
