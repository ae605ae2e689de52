/* Objects that live between calls, by number. */
#include "toolbox.h"

#include <limits.h>

typedef struct slot {
    tb_kind kind;
    void *object;
    void (*destroy)(void *);
} slot;

static slot *slots;
static int slot_count, used;

/* While anything is kept, `clear` must not unload the code that frees it. */
static void count(int change)
{
    if (used == 0 && change > 0) mexLock();
    used += change;
    if (used == 0 && change < 0) mexUnlock();
}

mxArray *tb_keep(tb_kind kind, void *object, void (*destroy)(void *), ss_error *err)
{
    int i = 0;
    while (i < slot_count && slots[i].kind != TB_NONE) i++;
    if (i == slot_count) {
        int larger = slot_count ? 2 * slot_count : 16;
        slot *grown = ss_allocate((size_t)larger, sizeof *grown);
        if (!grown) {
            ss_fail(err, SS_ERROR_RESOURCES, "out of memory for handles");
            return NULL;
        }
        for (int k = 0; k < slot_count; k++) grown[k] = slots[k];
        ss_release(slots);
        slots = grown;
        slot_count = larger;
    }
    slots[i] = (slot){kind, object, destroy};
    count(1);
    return tb_number(i + 1);
}

static slot *find(tb_kind kind, const mxArray *number)
{
    int i;
    if (!tb_get_int(number, "handle", 1, INT_MAX, &i, NULL) || i > slot_count) return NULL;
    return slots[i - 1].kind == kind ? &slots[i - 1] : NULL;
}

void *tb_find(tb_kind kind, const mxArray *number, ss_error *err)
{
    static const char *const names[TB_KINDS] = {[TB_FILE] = "open file",
                                                [TB_WRITER] = "file being written",
                                                [TB_WORLD] = "world",
                                                [TB_SIM] = "simulation"};
    slot *found = find(kind, number);
    if (!found) ss_fail(err, SS_ERROR_USAGE, "not the handle of a %s (was it closed?)", names[kind]);
    return found ? found->object : NULL;
}

void tb_drop(tb_kind kind, const mxArray *number, bool destroy)
{
    slot *found = find(kind, number);
    if (!found) return;
    slot old = *found;
    *found = (slot){0};
    count(-1);
    if (destroy && old.destroy) old.destroy(old.object);
}

void tb_drop_all(void)
{
    for (int i = 0; i < slot_count; i++)
        if (slots[i].kind != TB_NONE && slots[i].destroy) slots[i].destroy(slots[i].object);
    ss_release(slots);
    slots = NULL;
    slot_count = used = 0;
}
