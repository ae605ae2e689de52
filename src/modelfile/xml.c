/* XML by expat, into elements of an arena. */
#include "modelfile/xml.h"

#include "base/number.h"

#include <ctype.h>
#include <expat.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- memory and messages ---------------------------------------------------------------------------- */

void *ss_reading_take(ss_reading *reading, size_t count, size_t size)
{
    void *block = ss_arena_take(reading->arena, count, size, "model file");
    if (!block && !reading->failed) {
        reading->failed = true;
        ss_fail(reading->err, SS_ERROR_RESOURCES, "out of memory");
    }
    return block;
}

void *ss_reading_grow(ss_reading *reading, void *items, int count, size_t size)
{
    if (count > 0 && (count < 8 || (count & (count - 1)) != 0)) return items; // full at 8, 16, 32, ...
    size_t room = count < 8 ? 8 : 2 * (size_t)count;
    void *larger = ss_reading_take(reading, room, size);
    if (larger && count > 0) memcpy(larger, items, (size_t)count * size);
    return larger;
}

static const char *copy_bytes(ss_reading *reading, const char *bytes, size_t length)
{
    char *copy = ss_reading_take(reading, length + 1, 1);
    if (!copy) return "";
    memcpy(copy, bytes, length);
    return copy;
}

const char *ss_reading_text(ss_reading *reading, const char *format, ...)
{
    va_list arguments;
    char text[4096];
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return copy_bytes(reading, text, strlen(text) < (size_t)length ? strlen(text) : (size_t)length);
}

bool ss_xml_fail(ss_reading *reading, const ss_xml *at, const char *format, ...)
{
    if (reading->failed) return false;
    reading->failed = true;
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ss_fail(reading->err, SS_ERROR_INPUT, "%s:%d: <%.60s>: %s", at->file, at->line, at->name, text);
}

void ss_xml_note(ss_reading *reading, ss_finding_kind kind, const ss_xml *at, const char *format, ...)
{
    char place[600], text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(place, sizeof place, "%s:%d", at->file, at->line);
    ss_findings_add(reading->findings, kind, place, "%s", text);
}

/* ---- parsing ---------------------------------------------------------------------------------------- */

typedef struct parse {
    ss_reading *reading;
    XML_Parser expat;
    const char *file;
    ss_xml *root, *open;
    ss_xml **last[SS_XML_DEPTH_MOST + 1]; /* where the next element of each depth is hooked in */
    int depth;
    char *text; /* character data of the innermost element, while it grows */
    size_t text_length, text_room;
} parse;

static void stop(parse *p, const char *what)
{
    if (!p->reading->failed) {
        p->reading->failed = true;
        ss_fail(p->reading->err, SS_ERROR_INPUT, "%s:%lu: %s", p->file,
                (unsigned long)XML_GetCurrentLineNumber(p->expat), what);
    }
    XML_StopParser(p->expat, XML_FALSE);
}

static void keep_text(parse *p)
{
    if (p->open && p->text_length > 0) {
        size_t begin = 0, end = p->text_length;
        while (begin < end && isspace((unsigned char)p->text[begin])) begin++;
        while (end > begin && isspace((unsigned char)p->text[end - 1])) end--;
        if (end > begin) p->open->text = copy_bytes(p->reading, p->text + begin, end - begin);
    }
    p->text_length = 0;
}

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **pairs)
{
    parse *p = context;
    if (p->reading->failed) return;
    if (p->depth >= SS_XML_DEPTH_MOST) return stop(p, "elements are nested more than 100 deep");
    if (++p->reading->elements > SS_XML_ELEMENTS_MOST) return stop(p, "more than 1000000 elements");
    keep_text(p);

    ss_xml *node = ss_reading_take(p->reading, 1, sizeof *node);
    if (!node) return stop(p, "out of memory");
    *node = (ss_xml){.name = copy_bytes(p->reading, name, strlen(name)),
                     .file = p->file,
                     .text = "",
                     .line = (int)XML_GetCurrentLineNumber(p->expat),
                     .parent = p->open};
    ss_xml_attribute **end = &node->attributes;
    for (; pairs[0] && !p->reading->failed; pairs += 2) {
        ss_xml_attribute *attribute = ss_reading_take(p->reading, 1, sizeof *attribute);
        if (!attribute) return stop(p, "out of memory");
        attribute->name = copy_bytes(p->reading, pairs[0], strlen(pairs[0]));
        attribute->value = copy_bytes(p->reading, pairs[1], strlen(pairs[1]));
        *end = attribute;
        end = &attribute->next;
    }
    if (p->depth == 0)
        p->root = node;
    else
        *p->last[p->depth] = node;
    p->last[p->depth] = &node->next;
    p->last[++p->depth] = &node->first;
    p->open = node;
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    parse *p = context;
    (void)name;
    if (p->reading->failed || !p->open) return;
    keep_text(p);
    p->open = p->open->parent;
    p->depth--;
}

static void XMLCALL on_text(void *context, const XML_Char *bytes, int length)
{
    parse *p = context;
    if (p->reading->failed || !p->open) return;
    if (p->text_length + (size_t)length > p->text_room) {
        size_t room = 2 * (p->text_length + (size_t)length) + 64;
        char *larger = ss_reading_take(p->reading, room, 1);
        if (!larger) return stop(p, "out of memory");
        if (p->text_length > 0) memcpy(larger, p->text, p->text_length);
        p->text = larger;
        p->text_room = room;
    }
    memcpy(p->text + p->text_length, bytes, (size_t)length);
    p->text_length += (size_t)length;
}

/* Entities can refer to each other and grow without bound, or name files: no model needs them. */
static void XMLCALL on_entity(void *context, const XML_Char *name, int is_parameter, const XML_Char *value,
                              int length, const XML_Char *base, const XML_Char *system,
                              const XML_Char *public_name, const XML_Char *notation)
{
    parse *p = context;
    (void)name, (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public_name,
        (void)notation;
    stop(p, "declares an entity, which is not allowed in a model");
}

ss_xml *ss_xml_parse(ss_reading *reading, const char *bytes, size_t size, const char *file)
{
    if (size > SS_XML_BYTES_MOST) {
        reading->failed = true;
        ss_fail(reading->err, SS_ERROR_INPUT, "%s: more than %zu MB", file, SS_XML_BYTES_MOST >> 20);
        return NULL;
    }
    parse *p = ss_reading_take(reading, 1, sizeof *p); // too large for some stacks
    XML_Parser expat = p ? XML_ParserCreate(NULL) : NULL;
    if (!expat) {
        reading->failed = true;
        ss_fail(reading->err, SS_ERROR_RESOURCES, "%s: out of memory", file);
        return NULL;
    }
    *p = (parse){.reading = reading, .expat = expat, .file = file};
    XML_SetUserData(expat, p);
    XML_SetElementHandler(expat, on_start, on_end);
    XML_SetCharacterDataHandler(expat, on_text);
    XML_SetEntityDeclHandler(expat, on_entity);
    XML_SetHashSalt(expat, 0x5717c3511bu); // the same work on every run; sizes are limited above
    bool good = XML_Parse(expat, bytes, (int)size, XML_TRUE) == XML_STATUS_OK;
    if (!good && !reading->failed) {
        reading->failed = true;
        ss_fail(reading->err, SS_ERROR_INPUT, "%s:%lu: not XML: %s", file,
                (unsigned long)XML_GetCurrentLineNumber(expat), XML_ErrorString(XML_GetErrorCode(expat)));
    }
    XML_ParserFree(expat);
    return reading->failed ? NULL : p->root;
}

/* ---- elements and attributes ------------------------------------------------------------------------ */

bool ss_xml_is(const ss_xml *node, const char *name)
{
    return strcmp(node->name, name) == 0;
}

ss_xml *ss_xml_child(ss_xml *node, const char *name)
{
    for (ss_xml *child = node->first; child; child = child->next) {
        if (!ss_xml_is(child, name)) continue;
        child->read = true;
        return child;
    }
    return NULL;
}

void ss_xml_mark(ss_xml *node)
{
    node->read = true;
    for (ss_xml_attribute *attribute = node->attributes; attribute; attribute = attribute->next)
        attribute->read = true;
    for (ss_xml *child = node->first; child; child = child->next) ss_xml_mark(child);
}

const char *ss_xml_text(ss_xml *node, const char *name)
{
    for (ss_xml_attribute *attribute = node->attributes; attribute; attribute = attribute->next) {
        if (strcmp(attribute->name, name) != 0) continue;
        attribute->read = true;
        return attribute->value;
    }
    return NULL;
}

int ss_xml_parse_numbers(ss_reading *reading, const ss_xml *node, const char *what, const char *text,
                         int least, int most, double *values)
{
    int count = 0;
    for (const char *at = text;;) {
        while (isspace((unsigned char)*at)) at++;
        if (*at == '\0') break;
        char word[64];
        size_t length = 0;
        for (; *at && !isspace((unsigned char)*at); at++)
            if (length + 1 < sizeof word) word[length++] = *at;
        word[length] = '\0';
        double value;
        const char *digits = word[0] == '+' && word[1] != '-' ? word + 1 : word;
        if (!ss_number_read(digits, &value) || !isfinite(value)) {
            ss_xml_fail(reading, node, "%s: \"%.40s\" is not a finite number", what, word);
            return 0;
        }
        if (count == most) {
            ss_xml_fail(reading, node, "%s: more than %d number%s", what, most, most == 1 ? "" : "s");
            return 0;
        }
        values[count++] = value;
    }
    if (count < least) {
        ss_xml_fail(reading, node, "%s: %d number%s, expected %d", what, count, count == 1 ? "" : "s", least);
        return 0;
    }
    return count;
}

int ss_xml_numbers(ss_reading *reading, ss_xml *node, const char *name, int least, int most, double *values)
{
    const char *text = ss_xml_text(node, name);
    return text ? ss_xml_parse_numbers(reading, node, name, text, least, most, values) : 0;
}

double ss_xml_number(ss_reading *reading, ss_xml *node, const char *name, double otherwise)
{
    double value;
    return ss_xml_numbers(reading, node, name, 1, 1, &value) == 1 ? value : otherwise;
}

bool ss_xml_bool(ss_reading *reading, ss_xml *node, const char *name, bool otherwise)
{
    const char *text = ss_xml_text(node, name);
    if (!text) return otherwise;
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0) return true;
    if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0) return false;
    ss_xml_fail(reading, node, "%s: \"%.40s\", must be true or false", name, text);
    return otherwise;
}

int ss_xml_count_words(const char *text)
{
    int count = 0;
    for (bool inside = false; *text; text++) {
        bool blank = isspace((unsigned char)*text);
        count += !blank && !inside;
        inside = !blank;
    }
    return count;
}

/* ---- what was not read ------------------------------------------------------------------------------ */

static void list(ss_reading *reading, const ss_xml *node, const char *attribute, ss_xml_judge *judge)
{
    const char *why = NULL;
    ss_finding_kind kind = judge(node, attribute, &why);
    char name[160];
    if (attribute)
        snprintf(name, sizeof name, "<%.60s %.60s>", node->name, attribute);
    else
        snprintf(name, sizeof name, "<%.60s>", node->name);
    ss_xml_note(reading, kind, node, "%s is not honoured%s%s", name, why ? ": " : "", why ? why : "");
}

void ss_xml_list_unread(ss_reading *reading, const ss_xml *root, ss_xml_judge *judge)
{
    if (!root->read) {
        list(reading, root, NULL, judge);
        return;
    }
    for (const ss_xml_attribute *attribute = root->attributes; attribute; attribute = attribute->next)
        if (!attribute->read && strncmp(attribute->name, "xmlns", 5) != 0) // namespaces mean nothing here
            list(reading, root, attribute->name, judge);
    for (const ss_xml *child = root->first; child; child = child->next)
        ss_xml_list_unread(reading, child, judge);
}
