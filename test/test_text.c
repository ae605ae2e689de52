/* Numbers to and from text, growing texts, JSON, nearest words. */
#include "base/number.h"
#include "base/text.h"
#include "base/words.h"

#include "faults.h"
#include "kit.h"

#include <locale.h>
#include <unistd.h>

/* ---- numbers ---------------------------------------------------------------------------------------- */

static const char *written(double value)
{
    static char text[SS_NUMBER_TEXT];
    text[ss_number_write(value, text)] = '\0';
    return text;
}

TEST(numbers_are_written_as_a_person_would)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.0, "0"},
                 {-0.0, "-0.0"},
                 {3.0, "3"},
                 {-17.0, "-17"},
                 {0.1, "0.1"},
                 {1.0 / 3.0, "0.3333333333333333"},
                 {9.81, "9.81"},
                 {-2.5e-3, "-0.0025"},
                 {1e-5, "0.00001"},
                 {1e-6, "1e-6"},
                 {1.5e-20, "1.5e-20"},
                 {123456789012345678.0, "1.2345678901234568e17"},
                 {1e15, "1000000000000000"},
                 {1e16, "10000000000000000"},
                 {1e17, "1e17"},
                 {1e22, "1e22"},
                 {6.02214076e23, "6.02214076e23"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {0x1p-1074, "4.94065645841247e-324"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ENSURE_TEXT(written(cases[i].value), cases[i].text);
}

/* The plain way to the same goal: the first of %.15g, %.16g, %.17g that reads back. */
static int digits_needed(double value)
{
    char text[64];
    for (int digits = 15; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return digits;
    }
    return 17;
}

static int digits_in(const char *text)
{
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '0' && count > 0) zeros++; // counts only if another digit follows
        if (*text < '1' || *text > '9') continue;
        count += zeros + 1;
        zeros = 0;
    }
    return count;
}

/* Reads back bit for bit, and no digit more than needed. */
static bool written_well(double value)
{
    const char *text = written(value);
    double back = strtod(text, NULL);
    return strlen(text) < SS_NUMBER_TEXT && memcmp(&back, &value, sizeof value) == 0 &&
           digits_in(text) <= digits_needed(value);
}

#define ENSURE_WELL(value)                                        \
    do {                                                          \
        double number = (value);                                  \
        if (!written_well(number)) {                              \
            KIT_FAIL("%.17g became %s", number, written(number)); \
            return;                                               \
        }                                                         \
    } while (0)

TEST(any_double_is_written_with_as_few_digits_as_read_back)
{
    ss_random random = ss_random_start(11, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = ss_random_bits(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) ENSURE_WELL(value);
    }
}

TEST(everyday_numbers_are_written_with_as_few_digits_as_read_back)
{
    ss_random random = ss_random_start(12, 0);
    for (int i = 0; i < 100000; i++) {
        double value = ss_random_normal(&random) * pow(10.0, ss_random_between(&random, -17.0, 18.0));
        ENSURE_WELL(value);
        ENSURE_WELL((float)value);
        double rounded = round(value * 1e4) / 1e4;
        if (isfinite(rounded)) ENSURE_WELL(rounded);
    }
}

TEST(numbers_next_to_powers_of_two_and_ten_are_written_exactly)
{
    for (int e = -1074; e < 1024; e++) {
        double value = ldexp(1.0, e);
        ENSURE_WELL(value);
        ENSURE_WELL(nextafter(value, 0.0));
        ENSURE_WELL(nextafter(value, INFINITY));
    }
    for (int e = -320; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        double value = strtod(text, NULL);
        ENSURE_WELL(value);
        ENSURE_WELL(nextafter(value, 0.0));
        ENSURE_WELL(nextafter(value, INFINITY));
        ENSURE_INT(digits_in(written(value)), e > -308 ? 1 : digits_in(written(value)));
    }
}

TEST(numbers_are_read_whole_or_not_at_all)
{
    static const char *const bad[] = {"",      " 1",     "1 ", "1,5", "1.5x", "--1",   "e5", ".",
                                      "1e999", "-1e999", "0x", "1e",  "\t2",  "1.5.2", "+",  "infinit"};
    double value = 7.0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (ss_number_read(bad[i], &value)) KIT_FAIL("\"%s\" was read as %g", bad[i], value);
        ENSURE(value == 7.0);
    }
    ENSURE(ss_number_read("0x1.8p1", &value) && value == 3.0);
    ENSURE(ss_number_read("-2.5e-3", &value) && value == -0.0025);
    ENSURE(ss_number_read("1e-400", &value) && value == 0.0);
    ENSURE(ss_number_read("4.94065645841247e-324", &value) && value == 0x1p-1074);
    ENSURE(ss_number_read("inf", &value) && value == INFINITY);
    ENSURE(ss_number_read("nan", &value) && isnan(value));
}

/* Short ones take a way of their own. */
TEST(short_numbers_are_read_as_the_library_reads_them)
{
    ss_random random = ss_random_start(13, 0);
    for (int i = 0; i < 20000; i++) {
        char text[64];
        int digits = 1 + ss_random_below(&random, 17), power = ss_random_below(&random, 61) - 30;
        double drawn = ss_random_between(&random, 0.0, 10.0), value = NAN;
        snprintf(text, sizeof text, i % 3 ? "%.*fe%d" : "%.*f", digits, drawn, power);
        double known = strtod(text, NULL);
        if (!ss_number_read(text, &value) || value != known)
            KIT_FAIL("\"%s\" was read as %.17g", text, value);
    }
    double value = 0.0;
    const char *end = ss_number_read_start("2.5e-6*scene", &value);
    ENSURE(end && strcmp(end, "*scene") == 0 && value == 2.5e-6);
    ENSURE(!ss_number_read_start("*scene", &value) && !ss_number_read_start("e5", &value));
}

TEST(whole_numbers_are_read_whole_or_not_at_all)
{
    static const char *const bad[] = {
        "",    " 1", "1 ", "1.0", "1e3", "0x10", "2147483648", "-2147483649", "99999999999999999999",
        "one", "-"};
    int value = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (ss_integer_read(bad[i], &value)) KIT_FAIL("\"%s\" was read as %d", bad[i], value);
        ENSURE_INT(value, 7);
    }
    ENSURE(ss_integer_read("-2147483648", &value) && value == INT32_MIN);
    ENSURE(ss_integer_read("2147483647", &value) && value == INT32_MAX);
}

/* What localedef needs for a locale that writes 1,5 and 1.000: numbers, and an alphabet to write them in. */
static bool write_locale_source(void)
{
    FILE *source = fopen("source", "w"), *charmap = fopen("charmap", "w");
    if (!source || !charmap) return false;
    fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n", source);
    fputs("<code_set_name> ASCII\n<escape_char> /\nCHARMAP\n", charmap);
    for (int c = 0; c < 128; c++) fprintf(charmap, "<U%04X> /x%02x\n", c, c);
    fputs("END CHARMAP\n", charmap);
    return fclose(source) == 0 && fclose(charmap) == 0;
}

/* Machines seldom have a locale with a decimal comma installed, so one is made in a folder that is
 * removed again. */
static bool use_comma_locale(void)
{
    char folder[] = "/tmp/stickslip-locale-XXXXXX", here[4096];
    if (!getcwd(here, sizeof here) || !mkdtemp(folder) || chdir(folder) != 0) return false;
    bool used = false;
    if (write_locale_source() && system("localedef -c -i source -f ./charmap ./comma 2>messages") != -1) {
        setenv("LOCPATH", folder, 1);
        used = setlocale(LC_NUMERIC, "comma") != NULL;
        unsetenv("LOCPATH");
    }
    bool removed = system("rm -r source charmap messages comma") == 0;
    return chdir(here) == 0 && rmdir(folder) == 0 && removed && used;
}

TEST(the_locale_of_the_host_program_changes_nothing)
{
    if (!use_comma_locale()) SKIP("localedef could not make a locale with a decimal comma");
    char foreign[16], text[2][SS_NUMBER_TEXT] = {"", ""};
    snprintf(foreign, sizeof foreign, "%g", 1.5);
    double value = 0.0;
    bool read = ss_number_read("1.5", &value);
    ss_number_write(0.25, text[0]);
    ss_number_write(1.25e-30, text[1]);
    setlocale(LC_NUMERIC, "C");
    ENSURE_TEXT(foreign, "1,5");
    ENSURE(read && value == 1.5);
    ENSURE_TEXT(text[0], "0.25");
    ENSURE_TEXT(text[1], "1.25e-30");
}

/* ---- growing text ----------------------------------------------------------------------------------- */

TEST(a_text_grows_and_always_ends)
{
    ss_text text = {0};
    ENSURE_TEXT(ss_text_get(&text), "");
    for (int i = 0; i < 1000; i++) ss_text_appendf(&text, "%d,", i);
    ENSURE_INT(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    ENSURE_INT(strlen(ss_text_get(&text)), text.length);
    ENSURE(strncmp(ss_text_get(&text), "0,1,2,3,", 8) == 0);
    ss_text_clear(&text);
    ENSURE_TEXT(ss_text_get(&text), "");
    ss_text_append(&text, "again");
    ss_text_append_bytes(&text, "!??", 1);
    ENSURE_TEXT(ss_text_get(&text), "again!");
    ss_text_append_bytes(&text, "x", SIZE_MAX);
    ENSURE(text.out_of_memory);
    ENSURE_TEXT(ss_text_get(&text), "again!");
    ss_text_free(&text);
}

TEST(a_text_remembers_every_lack_of_memory)
{
    for (int n = 1;; n++) {
        faults_start(n);
        ss_text text = {0};
        for (int i = 0; i < 300; i++) ss_text_append(&text, "0123456789");
        bool short_of_memory = text.out_of_memory;
        size_t length = text.length;
        ss_text_free(&text);
        bool failed = faults_stop();
        ENSURE(short_of_memory == failed);
        ENSURE(failed ? length < 3000 : length == 3000);
        ENSURE_INT(faults.live, 0);
        if (!failed) break;
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

/* A strict reader. It writes what it understood in another notation: {key=value; ...} [value; ...] 'string'
 * #number. */
typedef struct reader {
    const char *at;
    ss_text *out;
} reader;

static bool read_value(reader *r);

static bool accept(reader *r, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0) return false;
    r->at += length;
    return true;
}

static bool read_escape(reader *r)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = *r->at ? strchr(from, *r->at) : NULL;
    if (found) {
        ss_text_append_bytes(r->out, &to[found - from], 1);
        r->at++;
        return true;
    }
    unsigned code;
    int length = 0;
    if (sscanf(r->at, "u%4x%n", &code, &length) != 1 || length != 5 || code >= 0x80) return false;
    ss_text_append_bytes(r->out, &(char){(char)code}, 1);
    r->at += 5;
    return true;
}

static bool read_string(reader *r)
{
    if (!accept(r, "\"")) return false;
    ss_text_append(r->out, "'");
    while (*r->at && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20) return false;
        if (accept(r, "\\")) {
            if (!read_escape(r)) return false;
        } else {
            ss_text_append_bytes(r->out, r->at++, 1);
        }
    }
    ss_text_append(r->out, "'");
    return accept(r, "\"");
}

static bool read_number(reader *r)
{
    size_t length = strspn(r->at, "+-0123456789.eE");
    char text[64];
    char *end;
    if (length == 0 || length >= sizeof text || strchr("+.eE", *r->at)) return false;
    memcpy(text, r->at, length);
    text[length] = '\0';
    double value = strtod(text, &end);
    if (*end) return false;
    ss_text_appendf(r->out, "#%a", value);
    r->at += length;
    return true;
}

static bool read_members(reader *r, bool object)
{
    const char *end = object ? "}" : "]";
    ss_text_append(r->out, object ? "{" : "[");
    for (bool first = true; !accept(r, end); first = false) {
        if (!first && !accept(r, ",")) return false;
        if (!first) ss_text_append(r->out, "; ");
        if (object && (!read_string(r) || !accept(r, ":"))) return false;
        if (object) ss_text_append(r->out, "=");
        if (!read_value(r)) return false;
    }
    ss_text_append(r->out, end);
    return true;
}

static bool read_value(reader *r)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (accept(r, words[i])) {
            ss_text_append(r->out, words[i]);
            return true;
        }
    if (*r->at == '"') return read_string(r);
    if (accept(r, "{")) return read_members(r, true);
    if (accept(r, "[")) return read_members(r, false);
    return read_number(r);
}

static bool understand(const char *json, ss_text *out)
{
    reader r = {json, out};
    return read_value(&r) && *r.at == '\0';
}

static void write_sample(ss_json *json)
{
    static const double reals[] = {0.5, -INFINITY, INFINITY, NAN, 1e-300};
    static const int pairs[] = {0, -1, 2, 3};
    ss_json_begin_object(json);
    ss_json_key(json, "name"), ss_json_string(json, "block \"A\"\n\\");
    ss_json_key(json, "empty"), ss_json_begin_object(json), ss_json_end_object(json);
    ss_json_key(json, "gaps"), ss_json_reals(json, reals, 5);
    ss_json_key(json, "pairs"), ss_json_integer_rows(json, pairs, 2, 2);
    ss_json_key(json, "none"), ss_json_reals(json, NULL, 0);
    ss_json_key(json, "list");
    ss_json_begin_array(json);
    ss_json_bool(json, true), ss_json_null(json), ss_json_string(json, NULL), ss_json_integer(json, -7);
    ss_json_end_array(json);
    ss_json_key(json, "h"), ss_json_real(json, 0.01);
    ss_json_end_object(json);
}

TEST(json_members_say_what_is_not_known)
{
    ss_text text = {0};
    ss_json json = {.text = &text};
    ss_json_begin_object(&json);
    ss_json_member_text(&json, "a", "x");
    ss_json_member_text(&json, "b", NULL);
    ss_json_member_integer(&json, "c", -3);
    ss_json_member_real(&json, "d", INFINITY);
    ss_json_member_known(&json, "e", NAN);
    ss_json_member_known(&json, "f", 0.5);
    ss_json_member_index(&json, "g", -1);
    ss_json_member_index(&json, "h", 0);
    ss_json_end_object(&json);
    ENSURE_TEXT(ss_text_get(&text),
                "{\"a\":\"x\",\"b\":null,\"c\":-3,\"d\":\"inf\",\"e\":null,\"f\":0.5,\"g\":null,\"h\":0}");
    ss_text_free(&text);
}

TEST(json_is_read_back_as_it_was_meant)
{
    ss_text text = {0}, meaning = {0};
    write_sample(&(ss_json){.text = &text});
    ENSURE(understand(ss_text_get(&text), &meaning));
    ENSURE_TEXT(ss_text_get(&meaning), "{'name'='block \"A\"\n\\'; 'empty'={}; 'gaps'=[#0x1p-1; '-inf'; "
                                       "'inf'; 'nan'; #0x1.56e1fc2f8f359p-997]; "
                                       "'pairs'=[[#0x0p+0; #-0x1p+0]; [#0x1p+1; #0x1.8p+1]]; 'none'=[]; "
                                       "'list'=[true; null; null; #-0x1.cp+2]; 'h'=#0x1.47ae147ae147bp-7}");
    ss_text_free(&text);
    ss_text_free(&meaning);
}

TEST(every_byte_survives_json_or_becomes_the_replacement_character)
{
    char bytes[256];
    for (int i = 1; i < 256; i++) bytes[i - 1] = (char)i;
    bytes[255] = '\0';
    ss_text text = {0}, meaning = {0};
    ss_json_string(&(ss_json){.text = &text}, bytes);
    ENSURE(understand(ss_text_get(&text), &meaning));
    ENSURE_INT(meaning.length, 1 + 127 + 3 * 128 + 1); // every byte above 127 stands alone: U+FFFD takes 3
    ENSURE(memcmp(ss_text_get(&meaning) + 1, bytes, 127) == 0);
    ss_text_free(&text);
    ss_text_free(&meaning);
}

TEST(json_strings_keep_utf8_and_replace_what_is_not)
{
    static const struct {
        const char *raw, *json;
    } cases[] = {
        {"Saxc\xC3\xA9", "\"Saxc\xC3\xA9\""},
        {"\xE2\x82\xAC", "\"\xE2\x82\xAC\""},
        {"\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\""},
        {"\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},                                 // overlong zero
        {"\xE0\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},                 // overlong
        {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},                 // surrogate
        {"\xF4\x90\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, // above U+10FFFF
        {"a\xE2\x82", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},                               // ends in the middle
        {"\x01\x1F\b", "\"\\u0001\\u001f\\b\""},
        {"</script>", "\"</script>\""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ss_text text = {0};
        ss_json_string(&(ss_json){.text = &text}, cases[i].raw);
        ENSURE_TEXT(ss_text_get(&text), cases[i].json);
        ss_text_free(&text);
    }
    ss_text text = {0};
    ss_json_string(&(ss_json){.text = &text, .inside_html = true}, "</script>");
    ENSURE_TEXT(ss_text_get(&text), "\"\\u003c/script>\"");
    ss_text_free(&text);
}

TEST(json_survives_every_lack_of_memory)
{
    for (int n = 1;; n++) {
        faults_start(n);
        ss_text text = {0};
        write_sample(&(ss_json){.text = &text});
        bool short_of_memory = text.out_of_memory;
        ss_text_free(&text);
        bool failed = faults_stop();
        ENSURE(short_of_memory == failed);
        ENSURE_INT(faults.live, 0);
        if (!failed) break;
    }
}

TEST(a_large_frame_is_written_as_json_in_no_time)
{
    enum { count = 100000 };
    double *values = ss_allocate(count, sizeof *values);
    ENSURE(values != NULL);
    ss_random random = ss_random_start(77, 0);
    for (int i = 0; i < count; i++) values[i] = ss_random_normal(&random);
    ss_text text = {0};
    double start = ss_clock_seconds();
    ss_json_reals(&(ss_json){.text = &text}, values, count);
    double seconds = ss_clock_seconds() - start;
    bool complete = !text.out_of_memory && text.length > 15 * count;
    ss_text_free(&text);
    ss_release(values);
    ENSURE(complete);
    // 0.01 s when alone on a machine of 2020; the slack is for sanitizers and busy machines
    ENSURE(seconds < 1.0);
}

/* ---- words ------------------------------------------------------------------------------------------ */

static const char *nearest_to(const char *word)
{
    static const char *const names[] = {"omega", "sweep", "iterations", "tolerance", "time_limit"};
    ss_nearest nearest = ss_nearest_start(word);
    for (int i = 0; i < 5; i++) ss_nearest_offer(&nearest, names[i]);
    return nearest.best ? nearest.best : "(nothing)";
}

TEST(a_mistyped_word_finds_the_one_that_was_meant)
{
    ENSURE_TEXT(nearest_to("omga"), "omega");
    ENSURE_TEXT(nearest_to("omgea"), "omega");
    ENSURE_TEXT(nearest_to("Omega"), "omega");
    ENSURE_TEXT(nearest_to("iteratoins"), "iterations");
    ENSURE_TEXT(nearest_to("time-limit"), "time_limit");
    ENSURE_TEXT(nearest_to("xyz"), "(nothing)");
    ENSURE_TEXT(nearest_to(""), "(nothing)");
    char longer[200];
    memset(longer, 'o', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ENSURE_TEXT(nearest_to(longer), "(nothing)");
}

TEST_MAIN
