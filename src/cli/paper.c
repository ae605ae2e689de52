/* What the experiments of `stickslip paper` share. */
#include "cli/paper.h"

#include "base/assert.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SS_PAPER(id) extern const ss_paper ss_paper_##id;
#include "cli/papers.def"
#undef SS_PAPER

const ss_paper *const ss_papers[] = {
#define SS_PAPER(id) &ss_paper_##id,
#include "cli/papers.def"
#undef SS_PAPER
    NULL};

const char *ss_verdict_name(ss_verdict verdict)
{
    static const char *const names[] = {
#define VERDICT_NAME(code, word) [code] = word,
        SS_VERDICT_LIST(VERDICT_NAME)
#undef VERDICT_NAME
    };
    return names[verdict];
}

/* ---- values -------------------------------------------------------------------------------------- */

static void add(ss_paper_report *report, ss_paper_value value)
{
    SS_ASSERT(report->value_count < SS_PAPER_MOST_VALUES);
    report->values[report->value_count++] = value;
}

/* Half a unit of the last digit: "4.44e-2" -> 0.00005. */
static double half_digit(const char *printed)
{
    const char *point = strchr(printed, '.'), *exponent = strchr(printed, 'e');
    const char *end = exponent ? exponent : printed + strlen(printed);
    double power = 0.0;
    if (exponent) ss_number_read(exponent + 1, &power);
    return 0.5 * pow(10.0, power - (point ? (double)(end - point - 1) : 0.0));
}

/* The factor lets a tie such as 0.00005 pass whichever way the paper rounds it. */
static bool agrees(const char *printed, double ours)
{
    double value;
    return ss_number_read(printed, &value) && fabs(ours - value) <= half_digit(printed) * (1.0 + 1e-9);
}

void ss_paper_number(ss_paper_report *report, const char *name, const char *unit, const char *printed,
                     double ours, const char *misprint)
{
    bool good = printed && agrees(printed, ours);
    ss_verdict verdict = !printed   ? SS_VERDICT_HOLDS
                         : good     ? SS_VERDICT_AGREES
                         : misprint ? SS_VERDICT_MISPRINT
                                    : SS_VERDICT_DIFFERS;
    add(report, (ss_paper_value){name, unit, printed, ours, verdict, good ? NULL : misprint});
}

void ss_paper_claim(ss_paper_report *report, const char *name, const char *unit, double ours, bool holds,
                    const char *note)
{
    add(report,
        (ss_paper_value){name, unit, NULL, ours, holds ? SS_VERDICT_HOLDS : SS_VERDICT_DIFFERS, note});
}

/* ---- files --------------------------------------------------------------------------------------- */

static bool write_file(const char *path, const ss_text *content, ss_error *err)
{
    FILE *file = fopen(path, "w");
    if (!file) return ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot write: %s", path, strerror(errno));
    size_t written = fwrite(ss_text_get(content), 1, content->length, file);
    bool good = fclose(file) == 0 && written == content->length;
    return good || ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot write: %s", path, strerror(errno));
}

bool ss_paper_write(ss_paper_report *report, const char *name, const ss_text *content, ss_error *err)
{
    if (!report->directory) return true;
    SS_ASSERT(report->file_count < SS_PAPER_MOST_FILES);
    ss_text path = {0};
    ss_text_appendf(&path, "%s/%s", report->directory, name);
    bool good = !path.out_of_memory && !content->out_of_memory;
    good = good ? write_file(path.data, content, err) : ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (good) snprintf(report->files[report->file_count++], sizeof report->files[0], "%s", name);
    ss_text_free(&path);
    return good;
}

/* ---- one row ------------------------------------------------------------------------------------- */

ss_gauge_part ss_paper_row(double inverse_mass, double lower, double upper, double x, double w)
{
    ss_block block = {.law = SS_LAW_BOX, .size = 1, .contact = -1, .constraint = -1};
    int partner = -1;
    double factor = 0.0;
    ss_problem row = {.size = 1,
                      .lower = &lower,
                      .upper = &upper,
                      .partner = &partner,
                      .factor = &factor,
                      .blocks = &block,
                      .block_count = 1,
                      .diagonal = &inverse_mass};
    return ss_gauge_of_block(&row, &inverse_mass, 0, &x, &w, SS_WANT_ALL);
}
