#include <stickslip/base.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/poison.h"

#include <string.h>

#define ALIGNMENT ((size_t)64)
#define SMALLEST_BLOCK ((size_t)4096)
// every new block is as large as all before it together: 64 of them exceed any address space
#define MAX_BLOCKS 64

#ifdef SS_HAS_ASAN
#define RED_ZONE ALIGNMENT // keeps neighbouring arrays apart, so that running over the end of one is seen
#else
#define RED_ZONE ((size_t)0)
#endif

typedef struct block {
    char *data;
    size_t size, used;
    size_t before; // bytes in use in the blocks before this one
} block;

struct ss_arena {
    block blocks[MAX_BLOCKS];
    size_t block_count;
    size_t current;    // blocks after this one are empty
    size_t high_water; // before the last reset; what is in use now may be more
    size_t largest_bytes;
    const char *largest, *failed;
};

static bool add_block(ss_arena *arena, size_t bytes)
{
    if (arena->block_count == MAX_BLOCKS) return false;
    char *data = ss_allocate_unset(bytes);
    if (!data) return false;
    SS_POISON(data, bytes);
    arena->blocks[arena->block_count++] = (block){.data = data, .size = bytes};
    return true;
}

static void release_blocks(ss_arena *arena)
{
    for (size_t i = 0; i < arena->block_count; i++) {
        SS_UNPOISON(arena->blocks[i].data, arena->blocks[i].size);
        ss_release(arena->blocks[i].data);
    }
    arena->block_count = arena->current = 0;
}

ss_arena *ss_arena_create(size_t first_block_bytes, ss_error *err)
{
    ss_arena *arena = ss_allocate(1, sizeof *arena);
    if (arena && (first_block_bytes == 0 || add_block(arena, first_block_bytes))) return arena;
    ss_release(arena);
    ss_fail(err, SS_ERROR_RESOURCES, "arena: out of memory (%zu bytes wanted)", first_block_bytes);
    return NULL;
}

void ss_arena_destroy(ss_arena *arena)
{
    if (!arena) return;
    release_blocks(arena);
    ss_release(arena);
}

static inline size_t used_bytes(const ss_arena *arena)
{
    return arena->block_count ? arena->blocks[arena->current].before + arena->blocks[arena->current].used : 0;
}

static bool fits(const block *candidate, size_t bytes)
{
    return candidate->size - candidate->used >= bytes;
}

/* Makes arena->current a block with room for `bytes`, moving on to kept or new ones. Rare, and kept out of
 * the way of the usual case. */
static __attribute__((noinline)) bool move_on(ss_arena *arena, size_t bytes)
{
    size_t used = used_bytes(arena), next = arena->current;
    while (next < arena->block_count && !fits(&arena->blocks[next], bytes)) next++;

    // A new block is as large as all others together. When memory is short, what is asked for has to do.
    if (next == arena->block_count) {
        size_t total = 0, size = bytes > SMALLEST_BLOCK ? bytes : SMALLEST_BLOCK;
        for (size_t i = 0; i < arena->block_count; i++) total += arena->blocks[i].size;
        if (!add_block(arena, size > total ? size : total) && !add_block(arena, size)) return false;
    }
    if (next != arena->current) {
        for (size_t i = arena->current + 1; i <= next; i++) arena->blocks[i].before = used;
        arena->current = next;
    }
    return true;
}

void *ss_arena_take_unset(ss_arena *arena, size_t count, size_t size, const char *what)
{
    size_t bytes, padded;
    bool good = !__builtin_mul_overflow(count, size, &bytes) &&
                !__builtin_add_overflow(bytes, ALIGNMENT - 1 + RED_ZONE, &padded);
    if (good) {
        padded &= ~(ALIGNMENT - 1);
        good = (arena->block_count && fits(&arena->blocks[arena->current], padded)) || move_on(arena, padded);
    }
    if (!good) {
        arena->failed = what;
        return NULL;
    }

    block *b = &arena->blocks[arena->current];
    char *array = b->data + b->used;
    b->used += padded;
    if (bytes > arena->largest_bytes || !arena->largest) {
        arena->largest_bytes = bytes;
        arena->largest = what;
    }
    SS_UNPOISON(array, bytes);
    return array;
}

void *ss_arena_take(ss_arena *arena, size_t count, size_t size, const char *what)
{
    void *array = ss_arena_take_unset(arena, count, size, what);
    return array ? memset(array, 0, count * size) : NULL;
}

bool ss_arena_take_vectors(ss_arena *arena, size_t n, const char *what, double **const list[])
{
    bool good = true;
    for (; *list && good; list++) good = (**list = ss_arena_take(arena, n, sizeof ***list, what)) != NULL;
    return good;
}

ss_arena_mark ss_arena_get_mark(const ss_arena *arena)
{
    size_t used = arena->block_count ? arena->blocks[arena->current].used : 0;
    return (ss_arena_mark){arena->current, used};
}

void ss_arena_reset(ss_arena *arena, ss_arena_mark mark)
{
    if (arena->block_count == 0) return;
    SS_ASSERT(mark.block <= arena->current && mark.used <= arena->blocks[mark.block].used);
    size_t used = used_bytes(arena);
    if (used > arena->high_water) arena->high_water = used;
    for (size_t i = mark.block; i <= arena->current; i++) {
        block *b = &arena->blocks[i];
        b->used = i == mark.block ? mark.used : 0;
        SS_POISON(b->data + b->used, b->size - b->used);
    }
    arena->current = mark.block;
    if (used_bytes(arena) > 0) return;

    // Empty: one block of the high-water size instead of several. If there is no memory for it, the old stay.
    arena->current = 0;
    char *data = arena->block_count > 1 ? ss_allocate_unset(arena->high_water) : NULL;
    if (!data) return;
    release_blocks(arena);
    SS_POISON(data, arena->high_water);
    arena->blocks[0] = (block){.data = data, .size = arena->high_water};
    arena->block_count = 1;
}

void ss_arena_clear(ss_arena *arena)
{
    ss_arena_reset(arena, (ss_arena_mark){0, 0});
    arena->largest_bytes = 0;
    arena->largest = NULL;
}

size_t ss_arena_used(const ss_arena *arena)
{
    return used_bytes(arena);
}

size_t ss_arena_high_water(const ss_arena *arena)
{
    size_t used = used_bytes(arena);
    return used > arena->high_water ? used : arena->high_water;
}

const char *ss_arena_largest(const ss_arena *arena)
{
    return arena->largest;
}

const char *ss_arena_failed(const ss_arena *arena)
{
    return arena->failed;
}
