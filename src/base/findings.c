#include <stickslip/base.h>

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

static bool make_room(ss_findings *findings)
{
    if (findings->count < findings->capacity) return true;
    size_t capacity = findings->capacity ? 2 * findings->capacity : 16;
    ss_finding *items = ss_allocate(capacity, sizeof *items);
    if (!items) return false;
    if (findings->count) memcpy(items, findings->items, findings->count * sizeof *items);
    ss_release(findings->items);
    findings->items = items;
    findings->capacity = capacity;
    return true;
}

static char *format_text(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? ss_text_copy("") : ss_allocate((size_t)length + 1, 1);
    if (text && length > 0) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

static bool store(ss_findings *findings, ss_finding item)
{
    if (!item.place || !item.message || !make_room(findings)) {
        ss_release(item.place);
        ss_release(item.message);
        return false;
    }
    findings->items[findings->count++] = item;
    return true;
}

void ss_findings_add(ss_findings *findings, ss_finding_kind kind, const char *place, const char *format, ...)
{
    if (!findings) return;
    SS_ASSERT((unsigned)kind < sizeof findings->count_of / sizeof findings->count_of[0]);
    size_t before = findings->count_of[kind]++;
    if (findings->limit && before >= findings->limit) return;
    va_list arguments;
    va_start(arguments, format);
    ss_finding item = {kind, ss_text_copy(place ? place : ""), format_text(format, arguments)};
    va_end(arguments);
    if (!store(findings, item)) findings->out_of_memory = true;
}

void ss_findings_free(ss_findings *findings)
{
    if (!findings) return;
    for (size_t i = 0; i < findings->count; i++) {
        ss_release(findings->items[i].place);
        ss_release(findings->items[i].message);
    }
    ss_release(findings->items);
    *findings = (ss_findings){.limit = findings->limit};
}

const char *ss_finding_kind_name(ss_finding_kind kind)
{
    switch (kind) {
    case SS_FINDING_FAULT:
        return "fault";
    case SS_FINDING_WARNING:
        return "warning";
    case SS_FINDING_REPAIR:
        return "repair";
    case SS_FINDING_LOSS:
        return "loss";
    }
    return "unknown";
}
