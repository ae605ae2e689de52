/* The registry from the outside: extensions are checked and added, and loaded from shared objects. */
#include <stickslip/plugin.h>

#include "base/registry.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ss_plugin_file {
    void *object;
    const ss_extension *extension;
};

enum { MOST_EXTENSIONS = SS_REGISTERED_MOST };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of everything that changes below and in the lists
static const ss_extension *extensions[MOST_EXTENSIONS];
static int extension_count;

/* ---- lists ------------------------------------------------------------------------------------------ */

static const char *const kind_names[SS_REGISTERED_KINDS] = {
    [SS_REGISTERED_SOLVERS] = "solver", [SS_REGISTERED_FORMULATIONS] = "formulation",
    [SS_REGISTERED_METRICS] = "metric", [SS_REGISTERED_SCENES] = "scene",
    [SS_REGISTERED_HOOKS] = "hook",
};

/* The lists of an extension are lists of different things, each of which begins with what `name_of` knows. */
static const void *item_at(const ss_extension *e, int kind, int index)
{
    switch ((ss_registered_kind)kind) {
    case SS_REGISTERED_SOLVERS:
        return e->solvers ? e->solvers[index] : NULL;
    case SS_REGISTERED_FORMULATIONS:
        return e->formulations ? e->formulations[index] : NULL;
    case SS_REGISTERED_METRICS:
        return e->metrics ? e->metrics[index] : NULL;
    case SS_REGISTERED_SCENES:
        return e->scenes ? e->scenes[index] : NULL;
    case SS_REGISTERED_HOOKS:
        return e->hooks ? e->hooks[index] : NULL;
    case SS_REGISTERED_KINDS:
        break;
    }
    return NULL;
}

static const char *name_of(int kind, const void *item)
{
    switch ((ss_registered_kind)kind) {
    case SS_REGISTERED_SOLVERS:
        return ((const ss_solver *)item)->name;
    case SS_REGISTERED_FORMULATIONS:
        return ((const ss_formulation *)item)->name;
    case SS_REGISTERED_METRICS:
        return ((const ss_metric *)item)->name;
    case SS_REGISTERED_SCENES:
        return ((const ss_scene *)item)->name;
    case SS_REGISTERED_HOOKS:
        return ((const ss_hook *)item)->name;
    case SS_REGISTERED_KINDS:
        break;
    }
    return NULL;
}

static const void *find(int kind, const char *name)
{
    switch ((ss_registered_kind)kind) {
    case SS_REGISTERED_SOLVERS:
        return ss_solver_find(name);
    case SS_REGISTERED_FORMULATIONS:
        return ss_formulation_find(name);
    case SS_REGISTERED_METRICS:
        return ss_metric_at(ss_metric_index(name));
    case SS_REGISTERED_SCENES:
        return ss_scene_find(name);
    case SS_REGISTERED_HOOKS:
        return ss_hook_find(name);
    case SS_REGISTERED_KINDS:
        break;
    }
    return NULL;
}

/* ---- checks: what comes from outside is not believed, as far as that can be seen -------------------- */

static bool SS_PRINTF(3, 4) fail(const char *origin, ss_error *err, const char *format, ...)
{
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ss_fail(err, SS_ERROR_INPUT, "%s: %s", origin, message);
}

static bool check_abi(const char *origin, const char *what, int abi, ss_error *err)
{
    return abi == SS_ABI || fail(origin, err,
                                 "%s was built for ABI %d, this library has ABI %d; rebuild it with the "
                                 "headers of stickslip %s",
                                 what, abi, SS_ABI, ss_version());
}

/* Names are file names, HDF5 groups and words on a command line. */
static bool check_name(const char *origin, const ss_extension *e, int kind, int index, ss_error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const char *name = name_of(kind, item_at(e, kind, index)), *word = kind_names[kind];
    size_t length = name ? strnlen(name, 65) : 0;
    if (length == 0 || length > 64 || strspn(name, allowed) != length || name[0] == '.' || name[0] == '-')
        return fail(origin, err, "%s %d has no valid name: expected letters, digits, '-', '_' and '.'", word,
                    index);

    // Nothing else of its kind has it.
    const void *other = find(kind, name);
    if (other)
        return fail(origin, err, "%s name '%s' is already used by %s; choose another one", word, name,
                    ss_is_registered((ss_registered_kind)kind, other) ? "another plug-in" : "the library");
    for (int i = 0; i < index; i++)
        if (strcmp(name_of(kind, item_at(e, kind, i)), name) == 0)
            return fail(origin, err, "%s name '%s' is used twice", word, name);
    return true;
}

/* What is missing; NULL: nothing. */
static const char *lack_of(int kind, const void *item)
{
    const ss_solver *solver = item;
    const ss_formulation *formulation = item;
    const ss_metric *metric = item;
    const ss_scene *scene = item;
    const ss_hook *hook = item;
    switch ((ss_registered_kind)kind) {
    case SS_REGISTERED_SOLVERS:
        return !solver->solve                                 ? "solve function"
               : !solver->laws                                ? "laws that it accepts"
               : !solver->summary                             ? "summary"
               : solver->options && solver->options_size == 0 ? "options_size"
                                                              : NULL;
    case SS_REGISTERED_FORMULATIONS:
        return !formulation->contact && !formulation->assemble  ? "function contact or assemble"
               : formulation->contact && formulation->assemble  ? "choice between contact and assemble"
               : formulation->assemble && !formulation->recover ? "function recover"
               : formulation->model                             ? "model of its own: that must be NULL"
               : !formulation->laws                             ? "laws"
               : !formulation->summary                          ? "summary"
               : !formulation->options                          ? "options (at least ss_step_option_table)"
               : formulation->options_size < sizeof(ss_step_options)
                   ? "options that begin with ss_step_options"
               : !ss_options_find(formulation->options, "gap_term") ||
                       !ss_options_find(formulation->options, "joint_term")
                   ? "options that begin with SS_STEP_OPTION_ROWS"
                   : NULL;
    case SS_REGISTERED_METRICS:
        return !metric->measure   ? "measure function"
               : !metric->unit    ? "unit"
               : !metric->summary ? "summary"
                                  : NULL;
    case SS_REGISTERED_SCENES:
        return !scene->build                                      ? "build function"
               : !scene->summary                                  ? "summary"
               : !(scene->h > 0.0) || !(scene->length > 0.0)      ? "step h and length"
               : scene->parameters && scene->parameters_size == 0 ? "parameters_size"
                                                                  : NULL;
    case SS_REGISTERED_HOOKS:
        for (int stage = 0; stage < SS_STAGE_COUNT; stage++)
            if (hook->at[stage]) return NULL;
        return "function";
    case SS_REGISTERED_KINDS:
        break;
    }
    return NULL;
}

static bool check(const char *origin, const ss_extension *e, ss_error *err)
{
    if (!check_abi(origin, "ss_plugin", e->abi, err)) return false;
    for (int i = 0; i < extension_count; i++)
        if (extensions[i] == e) return fail(origin, err, "is registered already");

    // Every list, item by item.
    int count = 0;
    for (int kind = 0; kind < SS_REGISTERED_KINDS; kind++) {
        const char *word = kind_names[kind];
        int most = SS_REGISTERED_MOST - ss_registered_count((ss_registered_kind)kind), index = 0;
        for (const void *item; (item = item_at(e, kind, index)); index++, count++) {
            char what[40];
            snprintf(what, sizeof what, "%s %d", word, index);
            if (index == most)
                return fail(origin, err,
                            "more than %d %ss, counting those of other plug-ins; must end with NULL",
                            SS_REGISTERED_MOST, word);
            if (kind == SS_REGISTERED_SOLVERS &&
                !check_abi(origin, what, ((const ss_solver *)item)->abi, err))
                return false;
            if (!check_name(origin, e, kind, index, err)) return false;
            const char *lack = lack_of(kind, item);
            if (lack) return fail(origin, err, "%s %s has no %s", word, name_of(kind, item), lack);
        }
    }
    if (count == 0) return fail(origin, err, "brings nothing: every list is empty");
    return extension_count < MOST_EXTENSIONS || fail(origin, err, "more than %d plug-ins", MOST_EXTENSIONS);
}

/* ---- the registry ----------------------------------------------------------------------------------- */

static bool register_from(const char *origin, const ss_extension *e, ss_error *err)
{
    pthread_mutex_lock(&lock);
    bool good = check(origin, e, err);
    for (int kind = 0; good && kind < SS_REGISTERED_KINDS; kind++) {
        const void *item;
        for (int i = 0; (item = item_at(e, kind, i)); i++) ss_registered_add((ss_registered_kind)kind, item);
    }
    if (good) extensions[extension_count++] = e;
    pthread_mutex_unlock(&lock);
    return good;
}

bool ss_register(const ss_extension *extension, ss_error *err)
{
    return register_from(extension->abi == SS_ABI && extension->name ? extension->name : "extension",
                         extension, err);
}

void ss_unregister(const ss_extension *extension)
{
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < extension_count && extensions[at] != extension) at++;
    if (at < extension_count) {
        for (int kind = 0; kind < SS_REGISTERED_KINDS; kind++) {
            const void *item;
            for (int i = 0; (item = item_at(extension, kind, i)); i++)
                ss_registered_remove((ss_registered_kind)kind, item);
        }
        extension_count--;
        memmove(extensions + at, extensions + at + 1, (size_t)(extension_count - at) * sizeof *extensions);
    }
    pthread_mutex_unlock(&lock);
}

const ss_extension *ss_extension_of(const void *item)
{
    const ss_extension *found = NULL;
    pthread_mutex_lock(&lock);
    for (int e = 0; !found && e < extension_count; e++)
        for (int kind = 0; !found && kind < SS_REGISTERED_KINDS; kind++) {
            const void *other;
            for (int i = 0; !found && (other = item_at(extensions[e], kind, i)); i++)
                if (other == item) found = extensions[e];
        }
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- shared objects --------------------------------------------------------------------------------- */

ss_plugin_file *ss_plugin_open(const char *path, ss_error *err)
{
    // dlopen would search the system's directories for a name without a slash.
    char here[1024];
    snprintf(here, sizeof here, "./%s", path);
    void *object = dlopen(strchr(path, '/') ? path : here, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        ss_fail(err, SS_ERROR_INPUT, "%s: cannot be loaded as a plug-in: %s", path, dlerror());
        return NULL;
    }
    const ss_extension *extension = dlsym(object, "ss_plugin");
    ss_plugin_file *file = ss_allocate(1, sizeof *file);
    bool good = extension || fail(path, err, "not a plug-in: it does not export ss_plugin, see plugin.h");
    good = good && (file || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a plug-in"));
    if (good && register_from(path, extension, err)) {
        *file = (ss_plugin_file){object, extension};
        return file;
    }
    ss_release(file);
    dlclose(object);
    return NULL;
}

const ss_extension *ss_plugin_contents(const ss_plugin_file *file)
{
    return file->extension;
}

void ss_plugin_close(ss_plugin_file *file)
{
    if (!file) return;
    ss_unregister(file->extension);
    dlclose(file->object);
    ss_release(file);
}
