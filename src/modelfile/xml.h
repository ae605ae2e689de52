/* modelfile/xml.h - an XML file as a tree of elements that remember their line, and what was asked of them.
 *
 * Expat parses; only this room includes it. Entities other than the five of XML are refused where they are
 * declared, so none can grow, and nothing outside of the file is ever fetched. Size, depth and number of
 * elements are limited.
 *
 * A reader asks elements for attributes and children; what it does not ask for is not honoured, and
 * ss_xml_list_unread lists it. So a reader cannot forget to mention what it does not know.
 *
 * Errors are sticky: the first one stays in ss_reading.err, later requests return defaults, and the reader
 * looks at ss_reading.failed where it matters.
 */
#ifndef SS_MODELFILE_XML_H
#define SS_MODELFILE_XML_H

#include <stickslip/base.h>

#define SS_XML_BYTES_MOST ((size_t)64 << 20) /* of one file */
#define SS_XML_DEPTH_MOST 100
#define SS_XML_ELEMENTS_MOST 1000000 /* of all files of one model */

typedef struct ss_xml_attribute {
    const char *name, *value;
    bool read;
    struct ss_xml_attribute *next;
} ss_xml_attribute;

typedef struct ss_xml {
    const char *name;
    const char *file; /* name for messages */
    const char *text; /* character data, "" if none */
    int line;
    bool read;
    ss_xml_attribute *attributes;
    struct ss_xml *parent, *first, *next;
} ss_xml;

/* What all readers share while a model is read. */
typedef struct ss_reading {
    ss_arena *arena;
    ss_findings *findings;
    ss_error *err;
    bool failed;
    int elements;
} ss_reading;

/* Memory that lives as long as the reading; NULL with the error set when there is none. */
void *ss_reading_take(ss_reading *reading, size_t count, size_t size);
const char *ss_reading_text(ss_reading *reading, const char *format, ...) SS_PRINTF(2, 3);
/* Room for one more item in an array of the arena, which doubles when it is full. */
void *ss_reading_grow(ss_reading *reading, void *items, int count, size_t size);

/* "FILE:LINE: <name>: ..." as the error of the reading, unless there is one already. Returns false. */
bool ss_xml_fail(ss_reading *reading, const ss_xml *at, const char *format, ...) SS_PRINTF(3, 4);
/* A finding at "FILE:LINE". */
void ss_xml_note(ss_reading *reading, ss_finding_kind kind, const ss_xml *at, const char *format, ...)
    SS_PRINTF(4, 5);

/* The root element, NULL with an error. */
ss_xml *ss_xml_parse(ss_reading *reading, const char *bytes, size_t size, const char *file);

/* ---- elements --------------------------------------------------------------------------------------- */

bool ss_xml_is(const ss_xml *node, const char *name);
/* The first child of that name, marked as read; NULL if there is none. */
ss_xml *ss_xml_child(ss_xml *node, const char *name);
/* Marks an element and all below it as read. */
void ss_xml_mark(ss_xml *node);

/* ---- attributes ------------------------------------------------------------------------------------- */

/* The text of an attribute, marked as read; NULL if there is none. */
const char *ss_xml_text(ss_xml *node, const char *name);
/* Numbers between blanks. Writes at most `most` and returns how many there were; 0 without the attribute.
 * Fewer than `least` or more than `most` are an error. */
int ss_xml_numbers(ss_reading *reading, ss_xml *node, const char *name, int least, int most, double *values);
/* The same from a text that belongs to `node`, called `what` in errors. */
int ss_xml_parse_numbers(ss_reading *reading, const ss_xml *node, const char *what, const char *text,
                         int least, int most, double *values);
double ss_xml_number(ss_reading *reading, ss_xml *node, const char *name, double otherwise);
bool ss_xml_bool(ss_reading *reading, ss_xml *node, const char *name, bool otherwise);
/* How many words a text has. */
int ss_xml_count_words(const char *text);

/* ---- what was not read ------------------------------------------------------------------------------ */

/* Decides how a name that was never asked for is listed: SS_FINDING_WARNING for what does not change the
 * motion, SS_FINDING_LOSS for the rest, and why, which may be NULL. attribute NULL: the whole element. */
typedef ss_finding_kind ss_xml_judge(const ss_xml *node, const char *attribute, const char **why);
void ss_xml_list_unread(ss_reading *reading, const ss_xml *root, ss_xml_judge *judge);

#endif
