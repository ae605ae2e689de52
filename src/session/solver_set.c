#include "session/solver_set.h"

#include "base/text.h"
#include "base/words.h"
#include "session/method.h"

#include <string.h>

int ss_solver_set_count(const ss_solver_set *set)
{
    int count = ss_solver_count();
    for (int i = 0; i < set->file_count; i++) count += ss_plugin_contents(set->files[i])->count;
    return count;
}

const ss_solver *ss_solver_set_at(const ss_solver_set *set, int index)
{
    if (index < ss_solver_count()) return ss_solver_at(index);
    index -= ss_solver_count();
    for (int i = 0; i < set->file_count; i++) {
        const ss_solver_plugin *plugin = ss_plugin_contents(set->files[i]);
        if (index < plugin->count) return plugin->solvers[index];
        index -= plugin->count;
    }
    return NULL;
}

/* NULL when there is none. The library knows other names of its solvers. */
static const ss_solver *look_up(const ss_solver_set *set, const char *name)
{
    for (int i = ss_solver_count(); i < ss_solver_set_count(set); i++) {
        if (strcmp(ss_solver_set_at(set, i)->name, name) == 0) return ss_solver_set_at(set, i);
    }
    return ss_solver_find(name);
}

/* The file itself has been checked against the library, not against other plug-ins. */
static bool check_names(const ss_solver_set *set, const ss_plugin_file *file, const char *path, ss_error *err)
{
    const ss_solver_plugin *plugin = ss_plugin_contents(file);
    for (int i = 0; i < plugin->count; i++) {
        if (look_up(set, plugin->solvers[i]->name))
            return ss_fail(err, SS_ERROR_INPUT, "%s: solver name '%s' is already used by another plug-in",
                           path, plugin->solvers[i]->name);
    }
    return true;
}

bool ss_solver_set_open(const ss_option_list *plugins, ss_solver_set *set, ss_error *err)
{
    *set = (ss_solver_set){0};
    for (int i = 0; i < plugins->count; i++) {
        ss_plugin_file *file = ss_plugin_open(plugins->items[i], err);
        if (!file || !check_names(set, file, plugins->items[i], err)) {
            ss_plugin_close(file);
            ss_solver_set_close(set);
            return false;
        }
        set->files[set->file_count++] = file;
    }
    return true;
}

void ss_solver_set_close(ss_solver_set *set)
{
    for (int i = 0; i < set->file_count; i++) ss_plugin_close(set->files[i]);
    *set = (ss_solver_set){0};
}

/* ---- by name ------------------------------------------------------------------------------------- */

const ss_solver *ss_solver_set_find(const ss_solver_set *set, const char *name, ss_error *err)
{
    const ss_solver *found = look_up(set, name);
    if (found) return found;
    ss_unknown unknown = ss_unknown_start("solver", name);
    for (int i = 0; i < ss_solver_set_count(set); i++)
        ss_unknown_offer(&unknown, ss_solver_set_at(set, i)->name);
    ss_unknown_fail(&unknown, err);
    return NULL;
}

const ss_formulation *ss_formulation_named(const char *name, ss_error *err)
{
    const ss_formulation *found = ss_formulation_find(name);
    if (found) return found;
    ss_unknown unknown = ss_unknown_start("formulation", name);
    for (int i = 0; i < ss_formulation_count(); i++) ss_unknown_offer(&unknown, ss_formulation_at(i)->name);
    ss_unknown_fail(&unknown, err);
    return NULL;
}
