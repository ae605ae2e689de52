#include "collection/where.h"

#include "base/number.h"
#include "base/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_NODES = 400, MOST_DEPTH = 50 };

typedef enum node_kind { NODE_OR, NODE_AND, NODE_NOT, NODE_COMPARE } node_kind;
typedef enum comparison { BELOW, AT_MOST, ABOVE, AT_LEAST, EQUAL, OTHER, CONTAINS } comparison;
static const char *const signs[] = {"<", "<=", ">", ">=", "=", "!=", "~"};

typedef struct node {
    node_kind kind;
    int left, right;
    const ss_column *column;
    comparison sign;
    double number;
    const char *text; /* one of the words */
} node;

struct ss_where {
    node nodes[MOST_NODES];
    int count, root;
    char *words; /* one after the other, each with its end */
};

/* ---- words ------------------------------------------------------------------------------------------ */

typedef struct parser {
    ss_where *where;
    const char *text, *at; /* the word ahead begins here */
    size_t length;         /* of the word; 0 = the end */
    char *word, *free;     /* the word without its quotes; where the next one is kept */
    bool quoted;
    int depth;
    ss_error *err;
} parser;

static int fail(parser *p, const char *expected)
{
    if (p->length == 0)
        ss_fail(p->err, SS_ERROR_USAGE, "\"%.200s\": ends too early: expected %s", p->text, expected);
    else
        ss_fail(p->err, SS_ERROR_USAGE, "\"%.200s\": at \"%.40s\": expected %s", p->text, p->at, expected);
    return -1;
}

/* The next word: a sign, a text in quotes, or anything up to a blank, a bracket or a sign. */
static void look(parser *p)
{
    p->at += strspn(p->at, " \t\n");
    p->quoted = *p->at == '"' || *p->at == '\'';
    const char *from = p->at;
    size_t length;
    if (p->quoted) {
        length = strcspn(p->at + 1, *p->at == '"' ? "\"" : "'");
        from = p->at + 1;
        p->length = length + (from[length] ? 2 : 1);
    } else {
        length = strcspn(p->at, " \t\n()<>=!~");
        if (length == 0 && *p->at) length = strchr("<>=!", *p->at) && p->at[1] == '=' ? 2 : 1;
        p->length = length;
    }
    p->word = p->free;
    memcpy(p->word, from, length);
    p->word[length] = 0;
    p->free += length + 1;
}

static void go_on(parser *p)
{
    p->at += p->length;
    look(p);
}

static bool is_word(const parser *p, const char *word)
{
    return !p->quoted && p->length > 0 && strcasecmp(p->word, word) == 0;
}

/* ---- the grammar ------------------------------------------------------------------------------------ */

static int add(parser *p, node own)
{
    if (p->where->count == MOST_NODES) return fail(p, "fewer comparisons");
    p->where->nodes[p->where->count] = own;
    return p->where->count++;
}

static int read_or(parser *p);

/* A value as its column has it: a number, a level, or any text. */
static bool read_value(parser *p, node *own)
{
    const ss_column *column = own->column;
    bool text = column->kind == SS_COLUMN_TEXT;
    char expected[160];
    if (p->quoted && (p->length < 2 || p->at[p->length - 1] != *p->at))
        return fail(p, "a closing quote") >= 0;
    if (column->kind == SS_COLUMN_LEVEL && own->sign != CONTAINS) {
        ss_collection_row row = {.level = p->word};
        own->number = ss_column_number(column, &row);
        if (!isnan(own->number)) return true;
        ss_unknown unknown = ss_unknown_start("level", p->word);
        for (int level = 0; level < SS_CERTIFICATE_LEVELS; level++)
            ss_unknown_offer(&unknown, ss_certificate_level_name((ss_certificate_level)level));
        ss_unknown_fail(&unknown, p->err);
        return false;
    }
    if (text || own->sign == CONTAINS) {
        own->text = p->word;
        if (text && own->sign < EQUAL) {
            snprintf(expected, sizeof expected, "=, != or ~ after %s, which is a text", column->name);
            return fail(p, expected) >= 0;
        }
        if (!text && column->kind != SS_COLUMN_LEVEL) {
            snprintf(expected, sizeof expected, "<, <=, >, >=, = or != after %s, which is a number",
                     column->name);
            return fail(p, expected) >= 0;
        }
        return true;
    }
    snprintf(expected, sizeof expected, "a number after %s", column->name);
    bool good = ss_number_read(p->word, &own->number) && !isnan(own->number); // NaN fulfils nothing
    return good || fail(p, expected) >= 0;
}

static int read_comparison(parser *p)
{
    node own = {.kind = NODE_COMPARE};
    if (p->length == 0 || p->quoted || !isalpha((unsigned char)*p->at)) return fail(p, "a column");
    own.column = ss_column_find(p->word);
    if (!own.column) {
        ss_unknown unknown = ss_unknown_start("column", p->word);
        for (const ss_column *column = ss_columns; column->name; column++)
            ss_unknown_offer(&unknown, column->name);
        ss_unknown_fail(&unknown, p->err);
        return -1;
    }
    go_on(p);

    int sign = -1;
    for (int k = 0; k < (int)(sizeof signs / sizeof *signs); k++)
        if (is_word(p, signs[k]) || (k == EQUAL && is_word(p, "=="))) sign = k;
    if (sign < 0) return fail(p, "<, <=, >, >=, =, != or ~");
    own.sign = (comparison)sign;
    go_on(p);
    if (p->length == 0 || is_word(p, "(") || is_word(p, ")")) return fail(p, "a value");
    if (!read_value(p, &own)) return -1;
    go_on(p);
    return add(p, own);
}

static int read_not(parser *p)
{
    int inner;
    if (++p->depth > MOST_DEPTH) return fail(p, "fewer brackets");
    if (is_word(p, "not")) {
        go_on(p);
        inner = read_not(p);
        if (inner >= 0) inner = add(p, (node){.kind = NODE_NOT, .left = inner});
    } else if (is_word(p, "(")) {
        go_on(p);
        inner = read_or(p);
        if (inner >= 0 && !is_word(p, ")")) return fail(p, "and, or, or a closing bracket");
        if (inner >= 0) go_on(p);
    } else {
        inner = read_comparison(p);
    }
    p->depth--;
    return inner;
}

static int read_chain(parser *p, node_kind kind, const char *word, int (*part)(parser *))
{
    int left = part(p);
    while (left >= 0 && is_word(p, word)) {
        go_on(p);
        int right = part(p);
        left = right < 0 ? -1 : add(p, (node){.kind = kind, .left = left, .right = right});
    }
    return left;
}

static int read_and(parser *p)
{
    return read_chain(p, NODE_AND, "and", read_not);
}

static int read_or(parser *p)
{
    return read_chain(p, NODE_OR, "or", read_and);
}

ss_where *ss_where_read(const char *text, ss_error *err)
{
    ss_where *where = ss_allocate(1, sizeof *where);
    if (where) where->words = ss_allocate(2 * strlen(text) + 1, 1); // a word has a byte or more, and its end
    if (!where || !where->words) {
        ss_where_free(where);
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
        return NULL;
    }
    parser p = {.where = where, .text = text, .at = text, .free = where->words, .err = err};
    look(&p);
    where->root = read_or(&p);
    if (where->root >= 0 && p.length > 0) where->root = fail(&p, "and, or, or the end");
    if (where->root >= 0) return where;
    ss_where_free(where);
    return NULL;
}

void ss_where_free(ss_where *where)
{
    if (where) ss_release(where->words);
    ss_release(where);
}

/* ---- asking ----------------------------------------------------------------------------------------- */

static bool compare(const node *own, const ss_collection_row *row)
{
    bool text = own->column->kind == SS_COLUMN_TEXT || own->sign == CONTAINS;
    if (text) {
        const char *value = ss_column_text(own->column, row);
        return own->sign == CONTAINS ? strstr(value, own->text) != NULL
                                     : (strcmp(value, own->text) == 0) == (own->sign == EQUAL);
    }
    double value = ss_column_number(own->column, row);
    switch (own->sign) {
    case BELOW:
        return value < own->number;
    case AT_MOST:
        return value <= own->number;
    case ABOVE:
        return value > own->number;
    case AT_LEAST:
        return value >= own->number;
    case EQUAL:
        return value == own->number;
    default:
        return !isnan(value) && value != own->number;
    }
}

static bool holds(const ss_where *where, int index, const ss_collection_row *row)
{
    const node *own = &where->nodes[index];
    switch (own->kind) {
    case NODE_OR:
        return holds(where, own->left, row) || holds(where, own->right, row);
    case NODE_AND:
        return holds(where, own->left, row) && holds(where, own->right, row);
    case NODE_NOT:
        return !holds(where, own->left, row);
    default:
        return compare(own, row);
    }
}

bool ss_where_holds(const ss_where *where, const ss_collection_row *row)
{
    return !where || holds(where, where->root, row);
}
