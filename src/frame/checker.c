#include "frame/checker.h"

#include <stdarg.h>
#include <stdio.h>

enum { LONGEST_PREFIX = 960, LONGEST_PLACE = LONGEST_PREFIX + 64 };

void ss_checker_report(ss_checker *c, ss_finding_kind kind, const char *path, int index, const char *format,
                       ...)
{
    if (kind == SS_FINDING_FAULT) c->faulty = true;
    if (!c->findings) return;
    char place[LONGEST_PLACE], message[400];
    const char *prefix = c->place ? c->place : "";
    int used = snprintf(place, sizeof place, "%.*s%s%s", LONGEST_PREFIX, prefix, *prefix ? "/" : "", path);
    if (index != SS_NO_INDEX) snprintf(place + used, sizeof place - (size_t)used, "[%d]", index);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ss_findings_add(c->findings, kind, place, "%s", message);
}
