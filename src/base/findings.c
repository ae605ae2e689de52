#include <stickslip/base.h>

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

void ss_findings_add(ss_findings *findings, ss_finding_kind kind, const char *place, const char *format, ...)
{
    if (!findings) return;
    SS_ASSERT((unsigned)kind < sizeof findings->count_of / sizeof findings->count_of[0]);
    size_t before = findings->count_of[kind]++;
    if (findings->limit && before >= findings->limit) return;

    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *message = ss_allocate(length < 0 ? 1 : (size_t)length + 1, 1),
         *copy = ss_text_copy(place ? place : "");
    va_start(arguments, format);
    if (message && length > 0) vsnprintf(message, (size_t)length + 1, format, arguments);
    va_end(arguments);

    // Room for one more.
    bool good = message && copy;
    if (good && findings->count == findings->capacity) {
        size_t capacity = findings->capacity ? 2 * findings->capacity : 16;
        ss_finding *items = ss_allocate(capacity, sizeof *items);
        good = items != NULL;
        if (good && findings->count) memcpy(items, findings->items, findings->count * sizeof *items);
        if (good) {
            ss_release(findings->items);
            findings->items = items;
            findings->capacity = capacity;
        }
    }
    if (good) {
        findings->items[findings->count++] = (ss_finding){kind, copy, message};
        return;
    }
    ss_release(copy);
    ss_release(message);
    findings->out_of_memory = true;
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
