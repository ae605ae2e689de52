#include <stickslip/base.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/poison.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)64) // one cache line, and the widest vector register

/* Sits right before every block that ss_allocate returns. */
typedef struct header {
    void *raw;    // what the allocator gave
    size_t bytes; // and how much of it
} header;

static ss_allocator current; // zero: calloc and free, which get zeroed pages from the system for nothing

void ss_set_allocator(ss_allocator allocator)
{
    SS_ASSERT(!allocator.allocate == !allocator.release);
    current = allocator;
}

static void *allocate(size_t bytes, bool zeroed)
{
    const size_t overhead = sizeof(header) + ALIGNMENT;
    if (bytes > PTRDIFF_MAX - overhead) return NULL;
    size_t whole = bytes + overhead;
    char *raw = current.allocate ? current.allocate(whole, current.context)
                : zeroed         ? calloc(1, whole)
                                 : malloc(whole);
    if (!raw) return NULL;
    if (current.allocate && zeroed) memset(raw, 0, whole);

    // The block begins at the first multiple of ALIGNMENT after room for the header.
    uintptr_t first = (uintptr_t)raw + sizeof(header);
    char *block = raw + sizeof(header) + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT;
    ((header *)(void *)block)[-1] = (header){raw, whole};
    SS_POISON(block + bytes, (size_t)(raw + whole - (block + bytes)));
    return block;
}

void *ss_allocate(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : allocate(bytes, true);
}

void *ss_allocate_unset(size_t bytes)
{
    return allocate(bytes, false);
}

void ss_release(void *block)
{
    if (!block) return;
    header h = ((header *)block)[-1];
    SS_UNPOISON(h.raw, h.bytes); // a custom allocator may look at it
    if (current.release)
        current.release(h.raw, current.context);
    else
        free(h.raw);
}

char *ss_text_copy(const char *text)
{
    if (!text) return NULL;
    size_t bytes = strlen(text) + 1;
    char *copy = ss_allocate(bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
