#include "cli/campaigns/report_figure.h"

#include "base/file.h"
#include "base/number.h"
#include "cli/terminal/table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *ending;
    ss_report_format format;
} formats[] = {{".html", SS_REPORT_HTML},  {".htm", SS_REPORT_HTML}, {".json", SS_REPORT_JSON},
               {".bib", SS_REPORT_BIB},    {".svg", SS_REPORT_SVG},  {".pdf", SS_REPORT_PDF},
               {".png", SS_REPORT_PNG},    {".csv", SS_REPORT_CSV},  {".tex", SS_REPORT_TEX},
               {".md", SS_REPORT_MARKDOWN}};

bool ss_report_format_of(const char *path, ss_report_format *format, ss_error *err)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++) {
        if (strcasecmp(dot, formats[i].ending) != 0) continue;
        *format = formats[i].format;
        return true;
    }
    return ss_fail(err, SS_ERROR_USAGE,
                   "report: -o %s: unknown ending '%s': expected .html (the page), .json (all numbers), "
                   ".bib (what to cite), .svg, .pdf or .png (a figure), .csv, .tex or .md (a table, or "
                   "the numbers of a figure)",
                   path, dot ? dot : "");
}

/* "85mm", "8.5cm", "3.35in", "241pt", or a number of millimetres. */
static bool read_width(const char *words, double *millimetres, ss_error *err)
{
    static const struct {
        const char *name;
        double millimetres;
    } units[] = {{"mm", 1.0}, {"cm", 10.0}, {"in", 25.4}, {"pt", 25.4 / 72.0}, {"", 1.0}};
    char digits[32];
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(words), unit = strlen(units[i].name);
        if (length <= unit || length - unit >= sizeof digits ||
            strcmp(words + length - unit, units[i].name) != 0)
            continue;
        snprintf(digits, sizeof digits, "%.*s", (int)(length - unit), words);
        if (!ss_number_read(digits, millimetres)) break;
        *millimetres *= units[i].millimetres;
        if (*millimetres >= 40.0 && *millimetres <= 1000.0) return true;
        break;
    }
    return ss_fail(err, SS_ERROR_USAGE,
                   "report: invalid value \"%s\" for --width: expected 40mm to 1000mm, for instance 85mm "
                   "for one column of a paper or 175mm for both",
                   words);
}

bool ss_figure_check(const ss_figure_options *options, const char *path, ss_report_format format,
                     const ss_report_figure **figure, ss_error *err)
{
    double width;
    if (!read_width(options->width, &width, err)) return false;
    *figure = NULL;

    if (!path)
        return ss_fail(err, SS_ERROR_USAGE,
                       "report: --figure %s: no output given: expected -o FILE with one of the endings "
                       ".svg, .pdf, .png, .csv, .tex and .md",
                       options->figure);
    if (options->figure && !(*figure = ss_report_figure_find(options->figure, err))) return false;
    if (!*figure && format >= SS_REPORT_CSV) *figure = ss_report_figure_find("solvers", err);
    if (!*figure && format >= SS_REPORT_SVG)
        return ss_fail(
            err, SS_ERROR_USAGE,
            "report: -o %s: no figure given: expected --figure NAME; --figure list shows all of them", path);
    if (*figure && format < SS_REPORT_SVG)
        return ss_fail(err, SS_ERROR_USAGE, "report: -o %s: %s is written as %s", path, (*figure)->name,
                       (*figure)->is_table ? ".csv, .tex or .md" : ".svg, .pdf, .png, .csv, .tex or .md");
    if (*figure && (*figure)->is_table && format < SS_REPORT_CSV)
        return ss_fail(err, SS_ERROR_USAGE, "report: -o %s: %s is a table: expected .csv, .tex or .md", path,
                       (*figure)->name);
    return true;
}

bool ss_figure_write(const ss_report_figure *figure, const ss_figure_options *options,
                     ss_report_request *request, ss_report_format format, const char *path, ss_error *err)
{
    double width = 0.0;
    ss_report_exhibit made = {0};
    ss_text file = {0};
    request->methods = options->methods.items, request->method_count = options->methods.count;
    request->settings = options->settings.items, request->setting_count = options->settings.count;
    request->best = options->best;
    request->for_readers = format == SS_REPORT_TEX || format == SS_REPORT_MARKDOWN;
    bool good = read_width(options->width, &width, err) && ss_report_figure_make(figure, request, &made, err);

    // A ledger may not have the numbers.
    if (good && format < SS_REPORT_CSV && !made.has_drawing)
        good = ss_fail(err, SS_ERROR_INPUT, "%s: nothing to draw for %s: the ledger has no such numbers",
                       request->ledger, figure->name);
    if (good && format >= SS_REPORT_CSV && ss_data_rows(&made.table) == 0)
        good = ss_fail(err, SS_ERROR_INPUT, "%s: no rows for %s: the ledger has no such numbers",
                       request->ledger, figure->name);

    if (good && format < SS_REPORT_CSV) {
        ss_figure_style style = ss_figure_for_print(width);
        style.titled = !options->plain;
        ss_drawing drawing;
        ss_figure_draw(&made.figure, &style, &drawing);
        if (format == SS_REPORT_SVG)
            ss_drawing_svg(&drawing, false, figure->name, &file);
        else if (format == SS_REPORT_PDF)
            good = ss_drawing_pdf(&drawing, &file, err);
        else
            good = ss_drawing_png(&drawing, options->dots, &file, err);
        ss_drawing_free(&drawing);
    } else if (good && format == SS_REPORT_CSV)
        ss_data_csv(&made.table, &file);
    else if (good && format == SS_REPORT_TEX)
        ss_data_tex(&made.table, width, &file);
    else if (good)
        ss_data_markdown(&made.table, &file);

    if (good && file.out_of_memory) good = ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    good = good && ss_file_replace(path, ss_text_get(&file), file.length, err);
    ss_text_free(&file);
    ss_report_exhibit_free(&made);
    return good;
}

void ss_figure_list(ss_out *out)
{
    ss_table table = {.columns = 3, .left = 3};
    ss_table_add(&table, "figure"), ss_table_add(&table, "shows"), ss_table_add(&table, "--set");
    for (const ss_report_figure *figure = ss_report_figures; figure->name; figure++) {
        ss_table_add(&table, "%s", figure->name);
        ss_table_add(&table, "%s%s", figure->is_table ? "table: " : "", figure->about);
        ss_table_add(&table, "%s", figure->settings ? figure->settings : "");
    }
    ss_table_print(&table, out);
}

const ss_option ss_figure_option_table[] = {
    {SS_FLAG(TEXT, ss_figure_options, figure), .value_name = "FIGURE",
     .help = "Write this figure or table of the page to -o FILE, as .svg, .pdf, .png, .csv, .tex or .md. "
             "list: print all of them, with their settings."},
    {SS_FLAG(TEXT, ss_figure_options, width), .default_value = "85mm", .value_name = "85mm|175mm",
     .help = "Width on paper: 85mm is one column, 175mm both. Columns of a LaTeX table that do not fit "
             "are left out."},
    {SS_FLAG_AS("method", LIST, ss_figure_options, methods), .value_name = "LABEL",
     .help = "Show only methods whose label is this, or contains it; repeatable."},
    {SS_FLAG(INT, ss_figure_options, best), .default_value = "0", .min = 0, .max = 1e6, .value_name = "N",
     .help = "Show the best N methods; 0 = 8 in figures, all in tables."},
    {SS_FLAG_AS("set", LIST, ss_figure_options, settings), .value_name = "NAME=VALUE",
     .help = "A setting of the figure, as in its menus on the page; repeatable. --figure list shows them."},
    {SS_FLAG(REAL, ss_figure_options, dots), .default_value = "300", .min = 36, .max = 2400,
     .value_name = "N", .help = "Dots per inch of a PNG."},
    {SS_FLAG(BOOL, ss_figure_options, plain),
     .help = "Omit title, note and source below the figure, for a document that says them in its caption."},
    {0}};
