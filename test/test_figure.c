/* Figures: letters, layout without collisions, the three formats, and tables for readers. */
#include "figure/data_table.h"
#include "figure/figure.h"
#include "figure/font.h"
#include "faults.h"
#include "kit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

TEST(letters_are_as_wide_as_those_of_helvetica)
{
    // Adobe's metrics of Helvetica and Helvetica-Bold, in thousandths of the size; rounded there and here
    ENSURE_NEAR(ss_font_width(&ss_font_regular, "Helvetica", 1000.0),
                722 + 556 + 222 + 500 + 556 + 278 + 222 + 500 + 556, 9 * 0.5);
    ENSURE_NEAR(ss_font_width(&ss_font_bold, "Ab 1", 1000.0), 722 + 611 + 278 + 556, 4 * 0.5);
    ENSURE_NEAR(ss_words_width("10" SS_RAISE "4" SS_LOWER, 1000.0, false), 556 * 2.7,
                3 * 0.5); // small when raised
}

TEST(bytes_that_are_not_utf_8_are_letters_too)
{
    static const struct {
        const char *bytes;
        uint32_t first;
        size_t length;
    } cases[] = {{"a", 'a', 1},
                 {"\xc2\xb5", 0xb5, 2},
                 {"\xe2\x88\x92", 0x2212, 3},
                 {"\xf0\x9f\x98\x80", 0x1f600, 4},
                 {"\xff", 0xfffd, 1},
                 {"\xc2", 0xfffd, 1},
                 {"\xe2\x88", 0xfffd, 2},
                 {"\xe2(", 0xfffd, 1},
                 {"\xc0\x80", 0xfffd, 1},
                 {"\x80", 0xfffd, 1},
                 {"", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = cases[i].bytes;
        ENSURE_INT(ss_next_character(&at), cases[i].first);
        ENSURE_INT(at - cases[i].bytes, cases[i].length);
    }
    // a letter that the font does not have is a box, not a hole
    ENSURE_INT(ss_font_glyph(&ss_font_regular, 0x6f22), 0);
    ENSURE(ss_font_glyph(&ss_font_regular, 0x3bc) > 0 && ss_font_glyph(&ss_font_bold, 0xe9) > 0);
}

/* ---- layout ------------------------------------------------------------------------------------------ */

typedef struct sample {
    ss_arena *arena;
    bool out_of_memory;
    ss_figure figure, below;
} sample;

static void sample_open(sample *s)
{
    ss_error err = {0};
    *s = (sample){.arena = ss_arena_create(1 << 12, &err)};
    s->figure =
        (ss_figure){.name = "sample",
                    .title = "A title that is long enough to need more than one line in a narrow column",
                    .note = "A note with several words, which has to be broken into lines as well.",
                    .source = "ledger.db: 7 problems",
                    .arena = s->arena,
                    .out_of_memory = &s->out_of_memory};
    s->below =
        (ss_figure){.name = "below", .title = "", .arena = s->arena, .out_of_memory = &s->out_of_memory};
}

static void sample_close(sample *s)
{
    ss_arena_destroy(s->arena);
}

enum { POINTS = 20 };

static void add_lines(sample *s, int lines, double low, double high)
{
    static const char *const names[] = {
        "cone/auto", "stewart-trinkle/minmap-newton", "box/pgs", "x",
        "a label with many words and signs, such as omega=1.3 & sweep=symmetric"};
    for (int k = 0; k < lines; k++) {
        double x[POINTS], y[POINTS];
        for (int i = 0; i < POINTS; i++) {
            x[i] = exp2(i);
            y[i] = low * pow(high / low, (i + k / 8.0) / (POINTS + 1));
        }
        ss_plot_series *line = ss_figure_line(&s->figure, names[k % 5], POINTS, x, y);
        line->look = k + 1;
        line->marks = 5;
    }
}

typedef struct box {
    double left, top, right, bottom;
} box;

static box box_of(const ss_mark *mark)
{
    double width = ss_words_width(mark->words, mark->size, mark->bold),
           back = width * (double)mark->anchor / 2.0;
    double up = 0.72 * mark->size, down = 0.2 * mark->size;
    if (mark->turn == 0.0) return (box){mark->x - back, mark->y - up, mark->x - back + width, mark->y + down};
    return (box){mark->x - up, mark->y + back - width, mark->x + down, mark->y + back};
}

/* Words that overlap, or stand out of the paper. */
static int collisions(const ss_figure *figure, double width_mm)
{
    ss_drawing drawing;
    const ss_figure_style style = ss_figure_for_print(width_mm);
    ss_figure_draw(figure, &style, &drawing);
    int found = drawing.out_of_memory;
    for (size_t i = 0; i < drawing.mark_count; i++) {
        if (!drawing.marks[i].words) continue;
        box a = box_of(&drawing.marks[i]);
        bool out = a.left < -0.01 || a.top < -0.01 || a.right > drawing.width + 0.01 ||
                   a.bottom > drawing.height + 0.01;
        if (out) printf("%g mm: \"%s\" stands out\n", width_mm, drawing.marks[i].words);
        found += out;
        for (size_t k = i + 1; k < drawing.mark_count; k++) {
            if (!drawing.marks[k].words) continue;
            box b = box_of(&drawing.marks[k]);
            bool meet = a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            if (meet)
                printf("%g mm: \"%s\" and \"%s\" overlap\n", width_mm, drawing.marks[i].words,
                       drawing.marks[k].words);
            found += meet;
        }
    }
    ss_drawing_free(&drawing);
    return found;
}

static const double widths[] = {60.0, 85.0, 110.0, 175.0, 400.0};

TEST(words_never_overlap_whatever_the_axes)
{
    static const double ranges[][2] = {{1e-24, 1e3}, {1e-9, 1e-8}, {0.99, 1.01},
                                       {3e-7, 4e2},  {5.0, 5.0},   {1e-300, 1e300}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int kind = 0; kind < 8; kind++) {
            sample s;
            sample_open(&s);
            add_lines(&s, kind % 2 ? 8 : 2, ranges[r][0], ranges[r][1]);
            s.figure.x.label = "cost, as a multiple";
            s.figure.y.label = "share";
            s.figure.x.log = kind & 2, s.figure.y.log = kind & 4;
            s.figure.x.doubling = kind & 2 && kind & 1;
            s.figure.y.words = kind & 1 ? SS_TICK_SECONDS : SS_TICK_POWER;
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
                ENSURE_INT(collisions(&s.figure, widths[w]), 0);
            sample_close(&s);
        }
}

TEST(rows_spans_and_two_panels_keep_apart_as_well)
{
    for (int rows = 1; rows < 70; rows += 11) {
        sample s;
        sample_open(&s);
        char labels[70][64];
        const char *names[70];
        double from[70], to[70], row[70];
        for (int i = 0; i < rows; i++) {
            snprintf(labels[i], sizeof labels[i], "stewart-trinkle/solver-number-%d omega=1.%d", i, i);
            names[i] = labels[i];
            from[i] = i % 3, to[i] = from[i] + 1.0, row[i] = i;
        }
        const ss_plot_span spans[] = {
            {"a scene with a long name", 0, 1}, {"b", 1, 2}, {"another scene", 2, 30}};
        ss_figure_boxes(&s.figure, "solved", rows, from, to, row)->colour = "#b9dcc9";
        s.figure.row_names = names, s.figure.row_count = rows;
        s.figure.x.from = 0.0, s.figure.x.to = 30.0;
        s.figure.spans = spans, s.figure.span_count = 3;
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            ENSURE_INT(collisions(&s.figure, widths[w]), 0);
        sample_close(&s);
    }
    sample s;
    sample_open(&s);
    add_lines(&s, 3, 1.0, 200.0);
    s.below.x.label = "frame", s.below.y.label = "error", s.below.y.log = true;
    const double x[2] = {1.0, 4e5}, y[2] = {1e-12, 1.0};
    ss_figure_line(&s.below, "creep", 2, x, y);
    s.figure.below = &s.below;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        ENSURE_INT(collisions(&s.figure, widths[w]), 0);
    sample_close(&s);
}

TEST(labels_that_differ_stay_different_where_they_are_cut)
{
    // at their end (rungs of a ladder), at their beginning, and near the middle
    static const char *const sets[][3] = {
        {"cone/interior-point (stop=relative_energy<1e-4)", "cone/interior-point (stop=relative_energy<1e-6)",
         "cone/interior-point (stop=relative_energy<1e-8)"},
        {"cone/interior-point (stop=relative_energy<1e-4)",
         "convex/interior-point (stop=relative_energy<1e-4)", "cone/nsgs (stop=relative_energy<1e-4)"},
        {"convex/admm (sweep=symmetric, omega=1.3, seed=7)",
         "convex/admm (sweep=symmetric, omega=1.4, seed=7)",
         "convex/admm (sweep=symmetric, omega=1.5, seed=7)"}};
    for (int kind = 0; kind < 2; kind++)
        for (int k = 0; k < 3; k++) {
            sample s;
            sample_open(&s);
            double x[3] = {1.0, 2.0, 3.0};
            for (int i = 0; i < 3; i++) {
                ss_plot_series *bars = ss_figure_line(&s.figure, kind ? NULL : sets[k][i], 3, x, x);
                bars->look = i + 1;
            }
            s.figure.row_names = kind ? sets[k] : NULL;
            s.figure.row_count = kind ? 3 : 0;

            ss_drawing drawing;
            const ss_figure_style style = ss_figure_for_print(45.0);
            const char *cut[8] = {0};
            int count = 0;
            ss_figure_draw(&s.figure, &style, &drawing);
            for (size_t i = 0; i < drawing.mark_count && count < 8; i++) {
                const char *words = drawing.marks[i].words;
                if (words && strstr(words, "\xe2\x80\xa6") && !strstr(words, "title")) cut[count++] = words;
            }
            ENSURE_INT(count, 3);
            for (int i = 0; i < count; i++)
                for (int j = 0; j < i; j++) ENSURE(strcmp(cut[i], cut[j]) != 0);
            ss_drawing_free(&drawing);
            sample_close(&s);
        }
}

TEST(a_point_is_drawn_where_its_numbers_say)
{
    sample s;
    sample_open(&s);
    const double x[3] = {1.0, 10.0, 1000.0}, y[3] = {0.0, 0.25, 1.0};
    ss_plot_series *line = ss_figure_line(&s.figure, "line", 3, x, y);
    line->steps = true;
    s.figure.x = (ss_plot_axis){.log = true, .from = 1.0, .to = 1000.0};
    s.figure.y = (ss_plot_axis){.from = 0.0, .to = 1.0};
    ss_drawing drawing;
    const ss_figure_style style = ss_figure_for_print(85.0);
    ss_figure_draw(&s.figure, &style, &drawing);
    ENSURE_NEAR(drawing.width, 85.0 / 25.4 * 72.0, 1e-9); // mm in pt, rounding only
    ENSURE_INT(drawing.clip_count, 1);
    const ss_clip *frame = &drawing.clips[0];
    int found = 0;
    for (size_t i = 0; i < drawing.mark_count; i++) {
        const ss_mark *mark = &drawing.marks[i];
        if (mark->paint.clip == 0 || mark->steps == 0) continue;
        found++;
        const double *at = drawing.numbers + mark->first_number;
        // five corners: it holds its value until the next one
        const double expected[5][2] = {{0, 0}, {1.0 / 3, 0}, {1.0 / 3, 0.25}, {1, 0.25}, {1, 1}};
        ENSURE_INT(mark->steps, 5);
        for (int k = 0; k < 5; k++) {
            ENSURE_NEAR((at[2 * k] - frame->x) / frame->width, expected[k][0], 1e-12);
            ENSURE_NEAR((frame->y + frame->height - at[2 * k + 1]) / frame->height, expected[k][1], 1e-12);
        }
    }
    ENSURE_INT(found, 1);
    ss_drawing_free(&drawing);
    sample_close(&s);
}

/* ---- formats ----------------------------------------------------------------------------------------- */

static ss_drawing two_shapes(void)
{
    ss_drawing drawing = {.width = 72.0, .height = 36.0, .title = "<two> & more"};
    ss_drawing_path(&drawing, &(ss_paint){.fill = 0xff0000, .stroke = SS_NO_COLOUR});
    ss_drawing_rectangle(&drawing, 18.0, 9.0, 36.0, 18.0);
    ss_drawing_path(
        &drawing,
        &(ss_paint){.fill = SS_NO_COLOUR, .stroke = 0x0000ff, .width = 2.0, .dash = {4.0, 2.0}, .dashes = 2});
    ss_drawing_move(&drawing, 0.0, 4.0);
    ss_drawing_line(&drawing, 72.0, 4.0);
    ss_drawing_words(&drawing, 36.0, 34.0, 6.0, SS_ANCHOR_MIDDLE, 0, "a < b & \"c\" \xff\x03");
    return drawing;
}

TEST(the_same_drawing_gives_the_same_bytes)
{
    ss_drawing drawing = two_shapes();
    ss_error err = {0};
    ss_text first[3] = {0}, second[3] = {0};
    for (int k = 0; k < 2; k++) {
        ss_text *to = k ? second : first;
        ss_drawing_svg(&drawing, false, "id", &to[0]);
        ENSURE(ss_drawing_pdf(&drawing, &to[1], &err) && ss_drawing_png(&drawing, 144.0, &to[2], &err));
    }
    for (int f = 0; f < 3; f++) {
        ENSURE(first[f].length == second[f].length &&
               memcmp(first[f].data, second[f].data, first[f].length) == 0);
        ss_text_free(&first[f]), ss_text_free(&second[f]);
    }
    ss_drawing_free(&drawing);
}

TEST(words_of_strangers_are_words_in_an_svg)
{
    ss_drawing drawing = two_shapes();
    ss_text svg = {0};
    ss_drawing_svg(&drawing, false, "id", &svg);
    ENSURE(strstr(svg.data, "a &lt; b &amp; &quot;c&quot; \xef\xbf\xbd<") != NULL);
    ENSURE(strstr(svg.data, "<title>&lt;two&gt; &amp; more</title>") != NULL);
    ENSURE(strstr(svg.data, "width=\"25.40mm\" height=\"12.70mm\"") != NULL);
    ss_text_free(&svg);
    ss_drawing_free(&drawing);
}

TEST(a_pdf_says_truly_where_its_objects_are)
{
    ss_drawing drawing = two_shapes();
    ss_text pdf = {0};
    ss_error err = {0};
    ENSURE(ss_drawing_pdf(&drawing, &pdf, &err));
    ENSURE(memcmp(pdf.data, "%PDF-1.4\n", 9) == 0);
    ENSURE(memcmp(pdf.data + pdf.length - 6, "%%EOF\n", 6) == 0);
    const char *start = pdf.data + pdf.length;
    while (strncmp(start, "startxref", 9) != 0) start--;
    long table;
    ENSURE(sscanf(start, "startxref\n%ld", &table) == 1);
    int count;
    ENSURE(sscanf(pdf.data + table, "xref\n0 %d", &count) == 1 && count > 5);
    const char *line =
        strchr(pdf.data + table + 5, '\n') + 1 + 20; // each entry is 20 bytes, the first is free
    for (int i = 1; i < count; i++, line += 20) {
        long offset;
        int number;
        ENSURE(sscanf(line, "%ld", &offset) == 1 && sscanf(pdf.data + offset, "%d 0 obj", &number) == 1);
        ENSURE_INT(number, i);
    }
    ss_text_free(&pdf);
    ss_drawing_free(&drawing);
}

TEST(pixels_are_painted_where_the_shapes_are)
{
    // At 72 dots per inch a point is a pixel: areas are whole, so that pixels are exact.
    ss_drawing drawing = {.width = 20.0, .height = 10.0, .title = ""};
    int clip = ss_drawing_clip(&drawing, 0.0, 0.0, 20.0, 5.0);
    ss_drawing_path(&drawing, &(ss_paint){.fill = 0x102030, .stroke = SS_NO_COLOUR});
    ss_drawing_rectangle(&drawing, 2.0, 1.0, 4.0, 3.0);
    ss_drawing_path(&drawing,
                    &(ss_paint){.fill = 0x000000, .stroke = SS_NO_COLOUR, .opacity = 0.5, .clip = clip});
    ss_drawing_rectangle(&drawing, 10.0, 2.0, 4.0, 6.0);
    ss_drawing_path(&drawing, &(ss_paint){.fill = SS_NO_COLOUR, .stroke = 0x00ff00, .width = 2.0});
    ss_drawing_move(&drawing, 0.0, 8.0), ss_drawing_line(&drawing, 20.0, 8.0);
    int width, height;
    ss_error err = {0};
    uint8_t *rgb = ss_drawing_pixels(&drawing, 72.0, &width, &height, &err);
    ENSURE(rgb != NULL && width == 20 && height == 10);
    int wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            bool dark = x >= 2 && x < 6 && y >= 1 && y < 4, half = x >= 10 && x < 14 && y >= 2 && y < 5,
                 line = y == 7 || y == 8;
            const uint8_t expected[3] = {dark   ? 0x10
                                         : half ? 128
                                         : line ? 0
                                                : 255,
                                         dark   ? 0x20
                                         : half ? 128
                                                : 255,
                                         dark   ? 0x30
                                         : half ? 128
                                         : line ? 0
                                                : 255};
            for (int k = 0; k < 3; k++)
                wrong += abs(rgb[3 * (y * width + x) + k] - expected[k]) > 1; // rounding of a half
        }
    ENSURE_INT(wrong, 0);
    ss_release(rgb);
    ss_drawing_free(&drawing);
}

TEST(a_picture_has_a_largest_size)
{
    ss_drawing drawing = {.width = 1e4, .height = 10.0, .title = ""};
    ss_error err = {0};
    ss_text png = {0};
    ENSURE(!ss_drawing_png(&drawing, 2400.0, &png, &err));
    ENSURE(err.code == SS_ERROR_USAGE && strstr(err.message, "pixels"));
    ss_text_free(&png);
}

TEST(lack_of_memory_for_a_figure_is_reported_and_leaks_nothing)
{
    size_t expected = 0; // bytes, when nothing fails
    for (long n = 0;; n++) {
        ss_error err = {0};
        ss_drawing drawing = {0};
        ss_text svg = {0}, pdf = {0}, png = {0};
        faults_start(n);
        sample s;
        sample_open(&s);
        bool whole = s.arena != NULL;
        if (whole) {
            add_lines(&s, 2, 1.0, 2.0);
            const ss_figure_style style = ss_figure_for_print(85.0);
            ss_figure_draw(&s.figure, &style, &drawing);
            ss_drawing_svg(&drawing, false, "id", &svg);
            bool has_pdf = ss_drawing_pdf(&drawing, &pdf, &err),
                 has_png = ss_drawing_png(&drawing, 72.0, &png, &err);
            whole = !s.out_of_memory && !svg.out_of_memory && has_pdf && has_png;
        }
        size_t bytes = svg.length + pdf.length + png.length;
        ss_drawing_free(&drawing);
        ss_text_free(&svg), ss_text_free(&pdf), ss_text_free(&png);
        sample_close(&s);
        long live = faults.live;
        bool reached = faults_stop();
        ENSURE_INT(live, 0);
        if (n == 0) expected = bytes;
        ENSURE(whole || reached);
        ENSURE(!whole || bytes == expected);
        if (n > 0 && !reached) break;
    }
}

/* ---- tables ------------------------------------------------------------------------------------------ */

static ss_data_table strange_table(ss_arena *arena)
{
    ss_data_table table = {.title = "T & U", .source = "a_b.db", .note = "In brackets: few.", .arena = arena};
    ss_data_add_column(&table, "name", SS_CELL_NUMBER);
    ss_data_add_column(&table, "time [s]", SS_CELL_SECONDS);
    ss_data_add_column(&table, "error", SS_CELL_NUMBER);
    ss_data_text(&table, "=a_b & 50%|\"c\"\n{x}^~\\#$<d>");
    ss_data_bracketed(&table, 1.5e-4);
    ss_data_number(&table, -1.25e-9);
    ss_data_text(&table, "[plain], \xe6\xbc\xa2 caf\xc3\xa9");
    ss_data_number(&table, NAN);
    ss_data_number(&table, 1234567.0);
    return table;
}

TEST(a_table_is_the_same_in_csv_latex_and_markdown)
{
    ss_error err = {0};
    ss_arena *arena = ss_arena_create(1 << 12, &err);
    ss_data_table table = strange_table(arena);
    ss_text csv = {0}, tex = {0}, markdown = {0}, narrow = {0};
    ss_data_csv(&table, &csv);
    ENSURE_TEXT(ss_text_get(&csv), "name,time [s],error\r\n"
                                   "\"'=a_b & 50%|\"\"c\"\"\n{x}^~\\#$<d>\",0.00015,-1.25e-9\r\n"
                                   "\"[plain], \xe6\xbc\xa2 caf\xc3\xa9\",,1234567\r\n");
    ss_data_tex(&table, 0.0, &tex);
    ENSURE_TEXT(
        ss_text_get(&tex),
        "% T \\& U\n% a\\_b.db\n% needs \\usepackage{booktabs}\n"
        "{\\footnotesize\\setlength{\\tabcolsep}{3pt}%\n\\begin{tabular}{@{}lrr@{}}\n\\toprule\n"
        "name & time [s] & error \\\\\n\\midrule\n"
        "=a\\_b \\& 50\\%$|$''c'' \\{x\\}\\textasciicircum{}\\textasciitilde{}\\textbackslash{}\\#\\$$<$d$>$"
        " & (150\\,$\\mu$s) & $-1.25\\times 10^{-9}$ \\\\\n"
        "{}[plain], [U+6F22] caf\xc3\xa9 & -- & $1.23\\times 10^{6}$ \\\\\n"
        "\\bottomrule\n\\multicolumn{3}{@{}l@{}}{\\scriptsize In brackets: few.}\\\\\n\\end{tabular}}\n");
    ss_data_markdown(&table, &markdown);
    ENSURE_TEXT(ss_text_get(&markdown),
                "| name | time \\[s\\] | error |\n| --- | ---: | ---: |\n"
                "| =a\\_b \\& 50%\\|\"c\" {x}^~\\\\#$&lt;d> | (150 \xc2\xb5s) | -1.25e-9 |\n"
                "| \\[plain\\], \xe6\xbc\xa2 caf\xc3\xa9 |  | 1.23e6 |\n"
                "\nIn brackets: few.\n\na\\_b.db\n");
    ss_data_tex(&table, 40.0, &narrow); // long names are broken before numbers are left out
    ENSURE(strstr(narrow.data, "% no room in 40 mm for: error\n") &&
           strstr(narrow.data, "{@{}p{18.0mm}r@{}}") && strstr(narrow.data, "\n\\raggedright =a\\_b") &&
           strstr(narrow.data, "& \\raggedright") == NULL);
    ss_text_free(&csv), ss_text_free(&tex), ss_text_free(&markdown), ss_text_free(&narrow);
    ss_arena_destroy(arena);
}

TEST_MAIN
