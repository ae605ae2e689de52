/* Runs a study and writes what it hands in: the page, its figures and tables, the values, the index. */
#include "figure/data_table.h"
#include "paper/paper.h"

#include "base/number.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- pieces of HTML -------------------------------------------------------------------------------- */

static void element(ss_text *html, const char *tag, const char *attributes, const char *words)
{
    ss_text_appendf(html, "<%s%s>", tag, attributes);
    ss_text_append_escaped(html, words);
    ss_text_appendf(html, "</%s>\n", tag);
}

static void link_to(ss_text *html, const char *target, const char *words)
{
    ss_text_append(html, "<a href=\"");
    ss_text_append_escaped(html, target);
    ss_text_append(html, "\">");
    ss_text_append_escaped(html, words);
    ss_text_append(html, "</a>");
}

/* Seconds as a person would say them. */
static void duration(ss_text *html, double seconds)
{
    if (seconds < 0.1)
        ss_text_append(html, "less than 0.1 s");
    else
        ss_text_appendf(html, "%.*f s", seconds < 10.0, seconds);
}

/* "reproduced 12 differs 1" */
static void count_verdicts(ss_text *html, const ss_paper_report *report)
{
    bool some = false;
    for (int v = 0; v < SS_VERDICT_COUNT; v++) {
        int count = ss_paper_count(report, (ss_verdict)v);
        if (!count) continue;
        ss_text_appendf(html, "%s<span class=\"badge verdict-%s\"><span class=\"dot\"></span>%s %d</span>",
                        some ? " " : "", ss_verdict_name((ss_verdict)v), ss_verdict_name((ss_verdict)v),
                        count);
        some = true;
    }
}

/* ---- the page -------------------------------------------------------------------------------------- */

static void put_table(ss_text *html, const ss_paper_report *report, const ss_paper_table *table, int number)
{
    ss_text_appendf(html,
                    "<figure class=\"figure\" id=\"%s\"><figcaption><h3><span class=\"figure-number\">"
                    "Table %d</span>",
                    table->name, number);
    ss_text_append_escaped(html, table->title);
    ss_text_append(html, "</h3>");
    element(html, "p", " class=\"read\"", table->caption);
    ss_text_append(html, "</figcaption>\n<div class=\"scroller\"><table class=\"wide\">");
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % (size_t)table->columns;
        double value;
        bool heading = i < (size_t)table->columns;
        // a heading stands over its numbers
        size_t below = heading && table->count > (size_t)table->columns ? i + (size_t)table->columns : i;
        bool numeric = ss_number_read(table->cells[below], &value);
        if (column == 0) ss_text_append(html, heading ? "<thead><tr>" : "<tr>");
        element(html, heading || column == 0 ? "th" : "td", numeric && column > 0 ? " class=\"n\"" : "",
                strcmp(table->cells[i], "nan") == 0 ? "n/a" : table->cells[i]);
        if (column + 1 == (size_t)table->columns)
            ss_text_append(html, heading ? "</tr></thead><tbody>\n" : "</tr>\n");
    }

    // its files
    ss_text_append(html, "</tbody></table></div><p class=\"note\">");
    if (report->directory) {
        const char *ends[2] = {"csv", "tex"}, *words[2] = {"CSV", "LaTeX"};
        for (int i = 0; i < 2; i++) {
            ss_text file = {0};
            ss_text_appendf(&file, "%s_%s.%s", report->paper->id, table->name, ends[i]);
            if (i) ss_text_append(html, " · ");
            link_to(html, ss_text_get(&file), words[i]);
            ss_text_free(&file);
        }
    }
    ss_text_append(html, "</p></figure>\n");
}

static void put_figure(ss_text *html, const ss_paper_report *report, const ss_figure *figure, int number)
{
    ss_text_appendf(html,
                    "<figure class=\"figure%s\" id=\"%s\"><figcaption><h3><span class=\"figure-number\">"
                    "Figure %d</span>",
                    figure->panel ? " panel" : "", figure->name, number);
    ss_text_append_escaped(html, figure->title);
    ss_text_append(html, "</h3>");
    element(html, "p", " class=\"read\"", figure->caption ? figure->caption : "");
    ss_text_append(html, "</figcaption>\n<div class=\"canvas\">");
    const ss_figure_style style = ss_figure_for_page();
    ss_figure_svg(figure, &style, html);
    ss_text_append(html, "</div><p class=\"note\">");
    const char *ends[3] = {"svg", "pdf", "csv"}, *words[3] = {"SVG", "PDF", "CSV"};
    for (int i = 0; i < 3; i++) {
        ss_text file = {0};
        ss_text_appendf(&file, "%s_%s.%s", report->paper->id, figure->name, ends[i]);
        if (i) ss_text_append(html, " · ");
        link_to(html, i == 2 && figure->table ? figure->table : ss_text_get(&file), words[i]);
        ss_text_free(&file);
    }
    ss_text_append(html, "</p></figure>\n");
}

static void put_parts(ss_text *html, const ss_paper_report *report)
{
    int figures = 0, tables = 0;
    bool panels = false;
    if (!report->first) return;
    ss_text_append(html, "<section class=\"part\" id=\"results\"><h2>Results</h2>\n");
    for (const ss_paper_part *part = report->first; part; part = part->next) {
        bool panel = part->kind == SS_PART_FIGURE && part->figure->panel;
        if (panel != panels) ss_text_append(html, panel ? "<div class=\"panels\">\n" : "</div>\n");
        panels = panel;

        switch (part->kind) {
        case SS_PART_TEXT:
            element(html, "p", " class=\"prose\"", part->text);
            break;
        case SS_PART_FIGURE:
            put_figure(html, report, part->figure, ++figures);
            break;
        case SS_PART_TABLE:
            put_table(html, report, part->table, ++tables);
            break;
        case SS_PART_LISTING:
            element(html, "pre", " class=\"campaign\"", part->text);
            ss_text_append(html, "<p class=\"note\">");
            link_to(html, part->data, part->data);
            ss_text_append(html, "</p>\n");
            break;
        case SS_PART_RECORDING:
            ss_text_append(html, "<p class=\"recording\">");
            ss_text_append_escaped(html, part->text);
            ss_text_append(html, ": ");
            if (part->replay) link_to(html, part->replay, "replay");
            if (part->replay) ss_text_append(html, " · ");
            link_to(html, part->data, "frames (HDF5)");
            ss_text_append(html, "</p>\n");
            break;
        case SS_PART_PAIR: // two replays; the script of the page adds a button that plays both
            ss_text_append(html, "<figure class=\"pair\"><figcaption>");
            element(html, "h3", "", part->text);
            ss_text_append(html, "</figcaption><div>");
            for (int i = 0; i < 2; i++) {
                ss_text_append(html, "<section><p>");
                link_to(html, part->pages[i], part->labels[i]);
                ss_text_append(html, "</p><iframe loading=\"lazy\" src=\"");
                ss_text_append_escaped(html, part->pages[i]);
                ss_text_append(html, "\" title=\"");
                ss_text_append_escaped(html, part->labels[i]);
                ss_text_append(html, "\"></iframe></section>");
            }
            ss_text_append(html, "</div></figure>\n");
            break;
        }
    }

    if (panels) ss_text_append(html, "</div>\n");
    ss_text_append(html, "</section>\n");
}

static void put_masthead(ss_text *html, const char *kicker, const char *title)
{
    ss_text_append(html, "<header class=\"masthead\">");
    element(html, "p", " class=\"kicker\"", kicker);
    element(html, "h1", "", title);
}

static void put_page(ss_text *html, const ss_paper_report *report)
{
    const ss_paper *paper = report->paper;
    ss_text kicker = {0};
    ss_text_appendf(&kicker, "stickslip paper %s", paper->id);
    put_masthead(html, ss_text_get(&kicker), paper->title);
    ss_text_free(&kicker);
    ss_text_append(html, "<p class=\"answer\">");
    count_verdicts(html, report);
    ss_text_append(html, "</p>\n");
    element(html, "p", " class=\"prose\"", paper->about);

    ss_text_append(html, "<dl class=\"provenance\"><div>");
    element(html, "dt", "", "from"), element(html, "dd", "", paper->reference);
    ss_text_appendf(html, "</div><div><dt>size</dt><dd>%s</dd></div><div><dt>took</dt><dd>",
                    report->quick ? "reduced (--quick)" : "full");
    duration(html, report->seconds);
    ss_text_append(html, "</dd></div><div><dt>by</dt><dd>stickslip ");
    ss_text_append_escaped(html, ss_version());
    ss_text_append(html, "</dd></div>");
    if (report->in_index) {
        ss_text_append(html, "<div><dt>see</dt><dd>");
        link_to(html, "index.html", "all studies");
        ss_text_append(html, "</dd></div>");
    }
    ss_text_append(html, "</dl></header>\n");

    // printed values beside ours
    ss_text_append(html, "<section class=\"part\" id=\"verdicts\"><h2>Verdicts</h2>\n"
                         "<div class=\"scroller\"><table class=\"wide values\"><thead><tr><th>what</th>"
                         "<th>printed</th><th class=\"n\">ours</th><th>unit</th><th>verdict</th><th>why</th>"
                         "</tr></thead><tbody>\n");
    for (int i = 0; i < report->value_count; i++) {
        const ss_paper_value *value = &report->values[i];
        const char *verdict = ss_verdict_name(value->verdict);
        ss_text_append(html, "<tr>");
        element(html, "th", " scope=\"row\"", value->name);
        element(html, "td", "", value->printed ? value->printed : "");
        ss_text_appendf(html, "<td class=\"n\">%.6g</td>", value->ours);
        element(html, "td", "", value->unit);
        ss_text_appendf(html,
                        "<td><span class=\"badge verdict-%s\"><span class=\"dot\"></span>%s</span></td>",
                        verdict, verdict);
        element(html, "td", " class=\"definition\"", value->note ? value->note : "");
        ss_text_append(html, "</tr>\n");
    }
    ss_text_append(html, "</tbody></table></div></section>\n");
    put_parts(html, report);
}

/* ---- files ----------------------------------------------------------------------------------------- */

/* A field of CSV: quotation marks around it, doubled inside. */
static void field(ss_text *csv, const char *words)
{
    ss_text_append(csv, "\"");
    for (; words && *words; words++) {
        if (*words == '"') ss_text_append(csv, "\"");
        ss_text_append_bytes(csv, words, 1);
    }
    ss_text_append(csv, "\"");
}

/* For print: a panel fits one column of a paper, other figures both. */
static bool write_figure(ss_paper_report *report, ss_figure *figure, ss_error *err)
{
    ss_text text = {0};
    ss_drawing drawing;
    const char *id = report->paper->id;
    const ss_figure_style style = ss_figure_for_print(figure->panel ? 85.0 : 175.0);
    figure->source = ss_paper_format(report, "stickslip paper %s%s; %s. stickslip %s", id,
                                     report->quick ? " --quick" : "", report->paper->reference, ss_version());
    ss_figure_draw(figure, &style, &drawing);
    ss_drawing_svg(&drawing, false, figure->name, &text);
    bool good = ss_paper_write(report, ss_paper_format(report, "%s_%s.svg", id, figure->name), &text, err);
    ss_text_clear(&text);
    good = good && ss_drawing_pdf(&drawing, &text, err) &&
           ss_paper_write(report, ss_paper_format(report, "%s_%s.pdf", id, figure->name), &text, err);
    ss_drawing_free(&drawing);
    ss_text_clear(&text);
    if (!figure->table) {
        ss_figure_csv(figure, &text);
        good = good &&
               ss_paper_write(report, ss_paper_format(report, "%s_%s.csv", id, figure->name), &text, err);
    }
    ss_text_free(&text);
    return good;
}

/* As CSV, and as LaTeX: there what reads as a number is aligned as one, with the digits it has. */
static bool write_table(ss_paper_report *report, const ss_paper_table *table, ss_error *err)
{
    ss_text text = {0};
    const char *id = report->paper->id;
    for (size_t i = 0; i < table->count; i++) {
        field(&text, table->cells[i]);
        ss_text_append(&text, (i + 1) % (size_t)table->columns ? "," : "\n");
    }
    bool good = ss_paper_write(report, ss_paper_format(report, "%s_%s.csv", id, table->name), &text, err);

    ss_data_table data = {.title = table->title,
                          .source = ss_paper_format(report, "stickslip paper %s%s, stickslip %s", id,
                                                    report->quick ? " --quick" : "", ss_version()),
                          .arena = report->arena};
    for (size_t i = 0; i < table->count; i++) {
        double value;
        if (i < (size_t)table->columns)
            ss_data_add_column(&data, table->cells[i], SS_CELL_NUMBER);
        else if (ss_number_read(table->cells[i], &value))
            ss_data_number(&data, value);
        else
            ss_data_text(&data, table->cells[i]);
    }
    ss_text_clear(&text);
    ss_data_tex(&data, 175.0, &text);
    good = good && ss_paper_write(report, ss_paper_format(report, "%s_%s.tex", id, table->name), &text, err);
    ss_text_free(&text);
    return good;
}

static bool write_all(ss_paper_report *report, ss_error *err)
{
    ss_text csv = {0}, html = {0};
    ss_text_append(&csv, "name,unit,printed,ours,verdict,note\n");
    for (int i = 0; i < report->value_count; i++) {
        const ss_paper_value *value = &report->values[i];
        field(&csv, value->name), ss_text_append(&csv, ",");
        field(&csv, value->unit), ss_text_append(&csv, ",");
        field(&csv, value->printed);
        ss_text_appendf(&csv, ",%.17g,%s,", value->ours, ss_verdict_name(value->verdict));
        field(&csv, value->note), ss_text_append(&csv, "\n");
    }
    bool good = ss_paper_write(report, ss_paper_format(report, "%s.csv", report->paper->id), &csv, err);
    ss_text_free(&csv);
    for (const ss_paper_part *part = report->first; good && part; part = part->next) {
        if (part->kind == SS_PART_FIGURE) good = write_figure(report, part->figure, err);
        if (part->kind == SS_PART_TABLE) good = write_table(report, part->table, err);
    }
    if (!good) return false;

    // the page comes last: it links to all of these
    const char *name = ss_paper_format(report, "%s.html", report->paper->id);
    put_page(&html, report);
    good = ss_page_write(&ss_page_paper, &html, ss_paper_path(report, name), err);
    if (good) ss_paper_note_file(report, name);
    ss_text_free(&html);
    return good;
}

/* ---- running --------------------------------------------------------------------------------------- */

ss_paper_report *ss_paper_run(const ss_paper *paper, const ss_paper_options *options, ss_error *err)
{
    ss_paper_report *report = ss_allocate(1, sizeof *report);
    ss_arena *arena = report ? ss_arena_create(1 << 16, err) : NULL;
    if (!arena) {
        ss_release(report);
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a study");
        return NULL;
    }
    *report = (ss_paper_report){.paper = paper,
                                .directory = options->directory,
                                .quick = options->quick,
                                .in_index = options->in_index,
                                .progress = options->progress,
                                .context = options->context,
                                .arena = arena};
    double start = ss_clock_seconds();
    bool good = paper->run(report, err);
    report->seconds = ss_clock_seconds() - start;
    if (good && report->out_of_memory)
        good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the results");
    if (good && report->directory) good = write_all(report, err);
    if (good) return report;
    ss_fail_in(err, "paper %s", paper->id);
    ss_paper_report_free(report);
    return NULL;
}

void ss_paper_report_free(ss_paper_report *report)
{
    if (!report) return;
    ss_arena_destroy(report->arena);
    ss_release(report);
}

/* ---- the index ------------------------------------------------------------------------------------- */

static void put_study(ss_text *html, const ss_paper *paper, const ss_paper_report *report,
                      const char *message)
{
    ss_text page = {0};
    ss_text_appendf(&page, "%s.html", paper->id);
    ss_text_append(html, "<tr><th scope=\"row\">");
    if (report)
        link_to(html, ss_text_get(&page), paper->title);
    else
        ss_text_append_escaped(html, paper->title);
    ss_text_append(html, "<span class=\"block-aside aside\"><code>");
    ss_text_append_escaped(html, paper->id);
    ss_text_append(html, "</code> · ");
    ss_text_append_escaped(html, paper->reference);
    ss_text_append(html, "</span>");

    // What differs or fails is named here.
    for (int i = 0; report && i < report->value_count; i++) {
        const ss_paper_value *value = &report->values[i];
        if (value->verdict != SS_VERDICT_DIFFERS && value->verdict != SS_VERDICT_FAILS) continue;
        ss_text_appendf(html, "<span class=\"block-aside\">%s: ", ss_verdict_name(value->verdict));
        ss_text_append_escaped(html, value->name);
        ss_text_appendf(html, ", %.4g", value->ours);
        bool has_unit = strcmp(value->unit, "1") != 0;
        if (has_unit) ss_text_append(html, " "), ss_text_append_escaped(html, value->unit);
        if (value->note) ss_text_append(html, ": "), ss_text_append_escaped(html, value->note);
        ss_text_append(html, "</span>");
    }

    ss_text_append(html, "</th><td>");
    if (report) {
        count_verdicts(html, report);
        ss_text_append(html, "</td><td class=\"n\">");
        duration(html, report->seconds);
        ss_text_append(html, "</td></tr>\n");
    } else {
        ss_text_append(html,
                       "<span class=\"badge verdict-fails\"><span class=\"dot\"></span>did not run</span> ");
        ss_text_append_escaped(html, message ? message : "no reason known");
        ss_text_append(html, "</td><td></td></tr>\n");
    }
    ss_text_free(&page);
}

bool ss_paper_write_index(const char *directory, bool quick, ss_paper_report *const *reports,
                          const char *const *messages, ss_error *err)
{
    ss_text html = {0}, path = {0};
    int total[SS_VERDICT_COUNT] = {0}, studies = 0, missing = 0;
    for (; ss_papers[studies]; studies++) {
        missing += !reports[studies];
        for (int v = 0; reports[studies] && v < SS_VERDICT_COUNT; v++)
            total[v] += ss_paper_count(reports[studies], (ss_verdict)v);
    }

    put_masthead(&html, "stickslip paper all", "Published experiments, run again");
    ss_text_append(&html, "<p class=\"answer\">");
    for (int v = 0; v < SS_VERDICT_COUNT; v++) {
        if (total[v])
            ss_text_appendf(&html,
                            "<span class=\"badge verdict-%s\"><span class=\"dot\"></span>%s %d</span> ",
                            ss_verdict_name((ss_verdict)v), ss_verdict_name((ss_verdict)v), total[v]);
    }
    if (missing)
        ss_text_appendf(
            &html, "<span class=\"badge verdict-fails\"><span class=\"dot\"></span>%d did not run</span>",
            missing);
    ss_text_appendf(
        &html,
        "</p><p class=\"prose\">%d studies%s. A printed number agrees to its last digit; a printed "
        "claim is reproduced by a number of ours; what holds is ours and not in print; a misprint "
        "is explained; where ours differs from the print, the reason was found by "
        "experiment.</p></header>\n<section class=\"part\"><table class=\"wide\"><thead><tr>"
        "<th>study</th><th>verdicts</th><th class=\"n\">took</th></tr></thead><tbody>\n",
        studies, quick ? " at reduced size (--quick)" : "");

    for (int i = 0; ss_papers[i]; i++) put_study(&html, ss_papers[i], reports[i], messages[i]);
    ss_text_append(&html, "</tbody></table></section>\n");
    ss_text_appendf(&path, "%s/index.html", directory);
    bool good = path.out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "out of memory")
                                   : ss_page_write(&ss_page_paper, &html, ss_text_get(&path), err);
    ss_text_free(&html);
    ss_text_free(&path);
    return good;
}
