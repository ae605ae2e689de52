/* What studies hand in: values with verdicts, figures, tables; and what happens when memory is short. */
#include "paper/paper.h"

#include "faults.h"
#include "kit.h"
#include "scratch.h"

/* ---- a study that hands in everything ------------------------------------------------------------------ */

static bool hand_in(ss_paper_report *report, ss_error *err)
{
    ss_paper_number(report, "as printed", "J", "4.44e-2", 0.04444, NULL);
    ss_paper_number(report, "misprinted", "1", "0.1", 1.0, "a digit is missing");
    ss_paper_number(report, "wrong", "1", "0.1", 0.2, NULL);
    ss_paper_claim(report, "ours", "m", 1.0, true, NULL);
    ss_paper_reproduces(report, "theirs", "1", "about 2", 2.01, true, "a note, with \"marks\" & <signs>");
    ss_paper_differs(report, "not theirs", "1", "7", 8.0, true, "measured");
    ss_paper_differs(report, "not theirs, unexplained", "1", "7", 8.0, false, "not so");
    ss_figure *figure = ss_paper_figure(report, "lines", "a title", "a caption");
    const double x[4] = {0.0, 1.0, 2.0, 3.0}, y[4] = {1.0, NAN, 1e-3, 0.0}, high[4] = {2.0, 3.0, 4.0, 5.0};
    figure->y.log = true;
    ss_figure_line(figure, "line", 4, x, y);
    ss_figure_band(figure, "band", 4, x, y, high);
    ss_figure_points(figure, "points", 4, x, high);
    ss_figure *bars = ss_paper_figure(report, "bars", "bars", "");
    ss_figure_bars(bars, "one", 4, high);
    ss_figure_stack(bars, "low", 4, x, high)->right = true;
    ss_figure_stack(bars, "on it", 4, x, high);
    bars->panel = true;
    ss_paper_table *table = ss_paper_add_table(report, "table", "a table", "", "name|number");
    ss_paper_cell(table, "%s", "a \"b\"");
    ss_paper_cell(table, "%d", 3);
    ss_paper_text(report, "a < b, %d %%", 50);
    return ss_paper_listing(report, "study.py", "print('a')\n", err);
}

static bool refuse(ss_paper_report *report, ss_error *err)
{
    ss_paper_claim(report, "before", "1", 1.0, true, NULL);
    return ss_fail(err, SS_ERROR_INPUT, "cannot run");
}

static const ss_paper study = {"study", "a study", "ours", "everything", hand_in};
static const ss_paper unwilling = {"unwilling", "a study", "ours", "nothing", refuse};

static ss_text contents(const scratch *s, const char *name)
{
    ss_text text = {0};
    char path[512], chunk[4096];
    snprintf(path, sizeof path, "%s/%s", s->directory, name);
    FILE *file = fopen(path, "r");
    size_t read;
    while (file && (read = fread(chunk, 1, sizeof chunk, file)) > 0) ss_text_append_bytes(&text, chunk, read);
    if (file) fclose(file);
    return text;
}

static bool holds(const ss_text *text, const char *part)
{
    return strstr(ss_text_get(text), part) != NULL;
}

TEST(a_number_agrees_to_its_last_digit_and_no_further)
{
    ss_error err = {0};
    ss_paper_report *report = ss_paper_run(&study, &(ss_paper_options){0}, &err);
    ENSURE(report != NULL);
    static const ss_verdict expected[] = {SS_VERDICT_AGREES, SS_VERDICT_MISPRINT,   SS_VERDICT_FAILS,
                                          SS_VERDICT_HOLDS,  SS_VERDICT_REPRODUCED, SS_VERDICT_DIFFERS,
                                          SS_VERDICT_FAILS};
    ENSURE_INT(report->value_count, 7);
    for (int i = 0; i < 7; i++) ENSURE_INT(report->values[i].verdict, expected[i]);
    ENSURE_INT(ss_paper_count(report, SS_VERDICT_FAILS), 2);
    ENSURE(!ss_paper_is_reproduced(report));
    ENSURE_INT(report->file_count, 0); // no directory, no files
    ss_paper_report_free(report);
}

TEST(everything_handed_in_is_written)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ss_paper_report *report = ss_paper_run(&study, &(ss_paper_options){.directory = s.directory}, &err);
    ENSURE(report != NULL);
    // page, values, two figures in two formats with their numbers, a table in two, a program
    ENSURE_INT(report->file_count, 11);
    ENSURE_INT(scratch_files(&s, false), 11);
    ss_text page = contents(&s, "study.html"), lines = contents(&s, "study_lines.csv"),
            table = contents(&s, "study_table.csv"), svg = contents(&s, "study_lines.svg");
    ENSURE(holds(&page, "a note, with &quot;marks&quot; &amp; &lt;signs&gt;") &&
           holds(&page, "a &lt; b, 50 %"));
    ENSURE(holds(&page, "verdict-fails") && holds(&page, "study_bars.svg") && holds(&page, "study.py"));
    ENSURE(holds(&lines, "\"band\",2,0.001,4") && holds(&lines, "\"line\",1,nan,"));
    ENSURE_TEXT(ss_text_get(&table), "\"name\",\"number\"\n\"a \"\"b\"\"\",\"3\"\n");
    ENSURE(!holds(&svg, "nan") && !holds(&svg, "inf")); // holes are left out of lines
    ss_text_free(&page), ss_text_free(&lines), ss_text_free(&table), ss_text_free(&svg);
    ss_paper_report_free(report);
    scratch_close(&s);
}

TEST(the_index_shows_what_could_not_run)
{
    scratch s = scratch_open();
    ss_error err = {0};
    int count = 0;
    while (ss_papers[count]) count++;
    ss_paper_report *none = ss_paper_run(&unwilling, &(ss_paper_options){.directory = s.directory}, &err);
    ENSURE(none == NULL);
    ENSURE_TEXT(err.message, "paper unwilling: cannot run");
    ss_paper_report **reports = calloc((size_t)count, sizeof *reports);
    const char **messages = calloc((size_t)count, sizeof *messages);
    ENSURE(reports && messages);
    messages[0] = err.message;
    ENSURE(ss_paper_write_index(s.directory, false, reports, messages, &err));
    ss_text page = contents(&s, "index.html");
    ENSURE(holds(&page, "cannot run") && holds(&page, ss_papers[count - 1]->title) &&
           holds(&page, "did not run"));
    ss_text_free(&page);
    free(reports);
    free(messages);
    scratch_close(&s);
}

TEST(lack_of_memory_is_reported_and_leaks_nothing)
{
    scratch s = scratch_open();
    for (long n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        ss_paper_report *report = ss_paper_run(&study, &(ss_paper_options){.directory = s.directory}, &err);
        bool whole = report != NULL;
        ss_paper_report_free(report);
        long live = faults.live;
        bool reached = faults_stop();
        ENSURE_INT(live, 0);
        ENSURE(whole || err.code == SS_ERROR_RESOURCES);
        if (!reached) {
            ENSURE(whole);
            break;
        }
    }
    scratch_close(&s);
}

TEST(a_slope_of_decades_is_found)
{
    const double x[5] = {0.0, 1.0, 2.0, 3.0, 4.0}, y[5] = {1.0, 0.1, 0.01, 0.0, 1e-4};
    ENSURE_NEAR(ss_paper_log_slope(5, x, y), -1.0, 1e-12); // rounding of a few sums; zero has no logarithm
}

TEST(small_studies_run_as_they_are)
{
    static const char *const ids[] = {"isolines", "point-mass", "rod", "mass-ratio", NULL};
    scratch s = scratch_open();
    for (int i = 0; ids[i]; i++) {
        const ss_paper *const *paper = ss_papers;
        while (*paper && strcmp((*paper)->id, ids[i]) != 0) paper++;
        ENSURE(*paper != NULL);
        ss_error err = {0};
        ss_paper_report *report =
            ss_paper_run(*paper, &(ss_paper_options){.directory = s.directory, .quick = true}, &err);
        ENSURE(report != NULL && ss_paper_is_reproduced(report));
        ss_paper_report_free(report);
    }
    scratch_close(&s);
}

TEST_MAIN
