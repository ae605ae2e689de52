/* Solvers from shared objects. */
#include <stickslip/solver.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct ss_plugin_file {
    void *object;
    const ss_solver_plugin *plugin;
};

enum { MOST_SOLVERS = 1000 }; // more is not a list of solvers, but something else under that name

/* ---- checks: what comes from outside is not believed, as far as that can be seen -------------------- */

static bool check_abi(const char *path, const char *what, int abi, ss_error *err)
{
    return abi == SS_ABI ||
           ss_fail(err, SS_ERROR_INPUT,
                   "%s: %s was built for ABI %d of the solver interface, this program has ABI %d; rebuild "
                   "it with the headers of stickslip %s",
                   path, what, abi, SS_ABI, ss_version());
}

/* Names are file names, HDF5 groups and words on a command line. */
static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strlen(name);
    return length > 0 && length <= 64 && strspn(name, allowed) == length && name[0] != '.' && name[0] != '-';
}

static bool check_name(const char *path, const ss_solver_plugin *plugin, int index, ss_error *err)
{
    const char *name = plugin->solvers[index]->name;
    if (!name || !is_name(name))
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: solver %d has no valid name: expected letters, digits, '-', '_' and '.'", path,
                       index);
    if (ss_solver_find(name))
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: solver name '%s' is already used by the library; choose "
                       "another one",
                       path, name);
    for (int i = 0; i < index; i++) {
        if (strcmp(plugin->solvers[i]->name, name) == 0)
            return ss_fail(err, SS_ERROR_INPUT, "%s: solver name '%s' is used twice", path, name);
    }
    return true;
}

static bool check_solver(const char *path, const ss_solver_plugin *plugin, int index, ss_error *err)
{
    const ss_solver *solver = plugin->solvers[index];
    char what[40];
    snprintf(what, sizeof what, "solver %d", index);
    if (!solver) return ss_fail(err, SS_ERROR_INPUT, "%s: %s is NULL", path, what);
    if (!check_abi(path, what, solver->abi, err) || !check_name(path, plugin, index, err)) return false;
    const char *lack = !solver->solve                                 ? "solve function"
                       : !solver->laws                                ? "laws that it accepts"
                       : !solver->summary                             ? "summary"
                       : solver->options && solver->options_size == 0 ? "options_size"
                                                                      : NULL;
    return !lack || ss_fail(err, SS_ERROR_INPUT, "%s: solver %s has no %s", path, solver->name, lack);
}

static bool check(const char *path, const ss_solver_plugin *plugin, ss_error *err)
{
    if (!check_abi(path, "ss_plugin", plugin->abi, err)) return false;
    if (plugin->count < 1 || plugin->count > MOST_SOLVERS || !plugin->solvers)
        return ss_fail(err, SS_ERROR_INPUT, "%s: ss_plugin lists %d solvers, must be 1 to %d", path,
                       plugin->count, MOST_SOLVERS);
    for (int i = 0; i < plugin->count; i++) {
        if (!check_solver(path, plugin, i, err)) return false;
    }
    return true;
}

/* ---- loading ---------------------------------------------------------------------------------------- */

/* dlopen would search the system's directories for a name without a slash. */
static void *open_object(const char *path, ss_error *err)
{
    char here[1024];
    snprintf(here, sizeof here, "./%s", path);
    void *object = dlopen(strchr(path, '/') ? path : here, RTLD_NOW | RTLD_LOCAL);
    if (!object) ss_fail(err, SS_ERROR_INPUT, "%s: cannot be loaded as a plug-in: %s", path, dlerror());
    return object;
}

ss_plugin_file *ss_plugin_open(const char *path, ss_error *err)
{
    void *object = open_object(path, err);
    if (!object) return NULL;
    const ss_solver_plugin *plugin = dlsym(object, "ss_plugin");
    ss_plugin_file *file = ss_allocate(1, sizeof *file);
    bool good =
        plugin || ss_fail(err, SS_ERROR_INPUT,
                          "%s: not a plug-in: it does not export ss_plugin, see solver.h", path);
    good = good && (file || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a plug-in"));
    if (good && check(path, plugin, err)) {
        *file = (ss_plugin_file){object, plugin};
        return file;
    }
    ss_release(file);
    dlclose(object);
    return NULL;
}

const ss_solver_plugin *ss_plugin_contents(const ss_plugin_file *file)
{
    return file->plugin;
}

void ss_plugin_close(ss_plugin_file *file)
{
    if (!file) return;
    dlclose(file->object);
    ss_release(file);
}
