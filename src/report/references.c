#include "report/references.h"

#include "figure/data_table.h"

#include <ctype.h>
#include <string.h>

typedef struct reference {
    const char *cite, *key, *kind, *authors, *title, *where, *volume, *year;
} reference;

static const reference references[] = {
#define SS_REFERENCE(cite, key, kind, authors, title, where, volume, year) \
    {cite, key, kind, authors, title, where, volume, year},
#include "report/references.def"
#undef SS_REFERENCE
};
enum { REFERENCES = sizeof references / sizeof *references };

/* The entry with which a citation begins; -1: none. */
static int find(const char *citation, size_t length)
{
    for (int i = 0; i < REFERENCES; i++) {
        size_t own = strlen(references[i].cite);
        if (own <= length && strncmp(references[i].cite, citation, own) == 0) return i;
    }
    return -1;
}

bool ss_reference_exists(const char *citation, size_t length)
{
    return find(citation, length) >= 0;
}

/* What is to be cited, as far as it is known. */
typedef struct citing {
    bool wanted[REFERENCES];
    ss_text unknown; /* lines of comment */
} citing;

/* "Cryer 1971; Dostal 2009, section 5.2" */
static void cite(citing *c, const char *citations)
{
    while (citations && *citations) {
        while (*citations == ' ') citations++;
        size_t length = strcspn(citations, ";");
        int found = find(citations, length);
        if (found >= 0)
            c->wanted[found] = true;
        else if (length > 0) {
            ss_text line = {0};
            ss_text_append(&line, "% no entry for: ");
            ss_text_append_bytes(&line, citations, strcspn(citations, ";\n"));
            ss_text_append(&line, "\n");
            if (!strstr(ss_text_get(&c->unknown), ss_text_get(&line)))
                ss_text_append(&c->unknown, ss_text_get(&line));
            c->unknown.out_of_memory |= line.out_of_memory;
            ss_text_free(&line);
        }
        citations += length + (citations[length] == ';');
    }
}

static void put_field(ss_text *bib, const char *name, const char *value)
{
    if (*value) ss_text_appendf(bib, ",\n  %s = {%s}", name, value);
}

/* The collections that the problems are of, each once. Any recipe may have named them: only ours is known to
 * have authors, and of a key only letters and digits are safe. */
static void put_collections(const ss_results *results, ss_text *bib)
{
    ss_text seen = {0}, line = {0};
    ss_text_append(&seen, "\n");
    for (int i = 0; i < results->problem_count; i++) {
        const char *label = results->problems[i].collection;
        if (!label || !*label) continue;
        ss_text_clear(&line);
        ss_text_appendf(&line, "\n%s\n", label);
        if (strstr(ss_text_get(&seen), ss_text_get(&line))) continue;
        ss_text_append(&seen, ss_text_get(&line) + 1);

        ss_text_append(bib, "\n@misc{collection_");
        for (const char *at = label; *at; at++)
            ss_text_append_bytes(bib, isalnum((unsigned char)*at) ? at : "_", 1);
        if (strncmp(label, "stickslip ", sizeof "stickslip") == 0)
            put_field(bib, "author", "{The stickslip developers}");
        ss_text_append(bib, ",\n  title = {Collection of frictional contact problems {");
        ss_text_clear(&line);
        for (const char *at = label; *at; at++) // BibTeX counts braces, whatever is before them
            ss_text_append_bytes(&line, *at == '{' ? "(" : *at == '}' ? ")" : at, 1);
        ss_text_append_tex(bib, ss_text_get(&line));
        ss_text_append(bib, "}},\n  note = {Built by stickslip from recipes, with certified answers}\n}\n");
    }
    bib->out_of_memory |= seen.out_of_memory || line.out_of_memory;
    ss_text_free(&seen);
    ss_text_free(&line);
}

void ss_references_bibtex(const ss_results *results, const ss_statistics *statistics, ss_text *bib)
{
    static const struct {
        const char *kind, *field;
    } where[] = {{"article", "journal"}, {"inproceedings", "booktitle"}, {"incollection", "booktitle"},
                 {"book", "publisher"},  {"phdthesis", "school"},        {"techreport", "institution"}};
    citing c = {0};
    cite(&c, "Dolan, More 2002; Gould, Scott 2016; More, Wild 2009; Wilson 1927"); // profiles and intervals
    const char *measure = ss_metric_at(statistics->rule.measure)->name;
    if (strstr(measure, "energy")) cite(&c, "Enzenhoefer, Peiret, Teichmann, Kovecses 2019");
    for (int i = 0; i < statistics->series_count; i++) {
        const ss_method_entry *method = &results->methods[statistics->series[i].method];
        const ss_solver *solver = ss_solver_find(method->solver);
        const ss_formulation *formulation = ss_formulation_find(method->formulation);
        if (solver && !*method->plugin) cite(&c, solver->reference);
        if (formulation) cite(&c, formulation->reference);
    }
    for (int i = 0; i < results->problem_count; i++)
        if (strcmp(results->problems[i].format, "fclib") == 0)
            cite(&c, "Acary, Bremond, Koziara, Perignon 2014");

    ss_text_appendf(
        bib,
        "@misc{stickslip,\n  author = {{The stickslip developers}},\n  title = {stickslip: frictional "
        "contact problems in multibody dynamics},\n  note = {Version %s}\n}\n",
        ss_version());
    put_collections(results, bib);
    for (int i = 0; i < REFERENCES; i++) {
        const reference *r = &references[i];
        if (!c.wanted[i]) continue;
        ss_text_appendf(bib, "\n@%s{%s", r->kind, r->key);
        put_field(bib, "author", r->authors);
        put_field(bib, "title", r->title);
        for (size_t k = 0; k < sizeof where / sizeof *where; k++)
            if (strcmp(where[k].kind, r->kind) == 0) put_field(bib, where[k].field, r->where);
        put_field(bib,
                  strcmp(r->kind, "incollection") == 0 ? "publisher"
                  : strcmp(r->kind, "techreport") == 0 ? "number"
                                                       : "volume",
                  r->volume);
        put_field(bib, "year", r->year);
        ss_text_append(bib, "\n}\n");
    }
    if (c.unknown.length) ss_text_append(bib, "\n");
    ss_text_append(bib, ss_text_get(&c.unknown));
    bib->out_of_memory |= c.unknown.out_of_memory;
    ss_text_free(&c.unknown);
}
