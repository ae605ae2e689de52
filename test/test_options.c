/* Option tables. */
#include <stickslip/base.h>

#include "faults.h"
#include "kit.h"

typedef struct settings {
    bool warm_start;
    int iterations;
    double omega, tolerance, limit;
    int gap;
    const char *title;
} settings;

static const ss_option table[] = {
    {.name = "warm_start",
     .type = SS_OPTION_BOOL,
     .offset = offsetof(settings, warm_start),
     .default_value = "yes"},
    {.name = "iterations",
     .type = SS_OPTION_INT,
     .offset = offsetof(settings, iterations),
     .default_value = "100",
     .min = 1,
     .max = 1e9},
    {.name = "omega",
     .type = SS_OPTION_REAL,
     .offset = offsetof(settings, omega),
     .default_value = "1.3",
     .max = 2},
    {.name = "tolerance", .type = SS_OPTION_REAL, .offset = offsetof(settings, tolerance)},
    {.name = "limit",
     .type = SS_OPTION_REAL,
     .offset = offsetof(settings, limit),
     .default_value = "inf",
     .max = INFINITY},
    {.name = "gap",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(settings, gap),
     .default_value = "zero",
     .choices = "preventive|zero|stabilised"},
    {.name = "title", .type = SS_OPTION_TEXT, .offset = offsetof(settings, title)},
    {0}};

static settings defaults(void)
{
    settings s;
    memset(&s, 0x55, sizeof s);
    ss_options_defaults(table, &s);
    return s;
}

TEST(defaults_are_what_a_user_would_type)
{
    settings s = defaults();
    ENSURE(s.warm_start && s.iterations == 100 && s.omega == 1.3 && s.tolerance == 0.0 &&
           s.limit == INFINITY);
    ENSURE(s.gap == 1 && s.title == NULL);
    ENSURE(ss_options_check(table, &s, NULL));
    ss_options_defaults(NULL, NULL); // a solver without options
}

TEST(values_are_parsed_by_type)
{
    static const char *const yes[] = {"true", "yes", "1", "on"}, *const no[] = {"false", "no", "0", "off"};
    settings s = defaults();
    for (int i = 0; i < 4; i++) {
        ENSURE(ss_options_set(table, &s, "warm_start", no[i], NULL) && !s.warm_start);
        ENSURE(ss_options_set(table, &s, "warm_start", yes[i], NULL) && s.warm_start);
    }
    ENSURE(ss_options_assign(table, &s, "iterations=7", NULL) && s.iterations == 7);
    ENSURE(ss_options_assign(table, &s, "omega=0x1p-1", NULL) && s.omega == 0.5);
    ENSURE(ss_options_assign(table, &s, "tolerance=-1e-9", NULL) && s.tolerance == -1e-9);
    ENSURE(ss_options_assign(table, &s, "gap=stabilised", NULL) && s.gap == 2);
    ENSURE(ss_options_assign(table, &s, "title=a=b", NULL));
    ENSURE_TEXT(s.title, "a=b");
}

TEST(malformed_values_are_refused_and_change_nothing)
{
    static const char *const bad[] = {"warm_start=TRUE",
                                      "warm_start=2",
                                      "warm_start=",
                                      "iterations=1.5",
                                      "iterations=0",
                                      "iterations= 5",
                                      "iterations=5 ",
                                      "iterations=",
                                      "iterations=0x10",
                                      "iterations=99999999999999999999",
                                      "iterations=five",
                                      "omega=2.0001",
                                      "omega=-1e-300",
                                      "omega=nan",
                                      "omega=-nan",
                                      "omega=inf",
                                      "omega=1,3",
                                      "omega=1.3.1",
                                      "omega=",
                                      "omega=1e",
                                      "tolerance=inf",
                                      "tolerance=-inf",
                                      "tolerance=1e400",
                                      "limit=-1",
                                      "limit=1e400",
                                      "limit=nan",
                                      "gap=zer",
                                      "gap=zero|",
                                      "gap=",
                                      "gap=1",
                                      "gap=preventive|zero",
                                      "title=",
                                      "omega",
                                      "=1",
                                      "",
                                      "=",
                                      "omeg=1",
                                      "omega =1",
                                      " omega=1"};
    settings s = defaults(), before = s;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ss_error err = {0};
        if (ss_options_assign(table, &s, bad[i], &err)) KIT_FAIL("\"%s\" was accepted", bad[i]);
        ENSURE_INT(err.code, SS_ERROR_USAGE);
        ENSURE(err.message[0] != '\0');
        ENSURE(memcmp(&s, &before, sizeof s) == 0);
    }
}

TEST(messages_name_option_value_and_what_would_be_right)
{
    static const struct {
        const char *assignment, *message;
    } cases[] = {
        {"omega=3", "invalid value \"3\" for omega: expected a number from 0 to 2"},
        {"iterations=x", "invalid value \"x\" for iterations: expected a whole number from 1 to 1000000000"},
        {"tolerance=x", "invalid value \"x\" for tolerance: expected a number"},
        {"limit=-2", "invalid value \"-2\" for limit: expected a number, 0 or more"},
        {"warm_start=maybe", "invalid value \"maybe\" for warm_start: expected true or false"},
        {"gap=stabilized",
         "invalid value \"stabilized\" for gap: expected one of preventive|zero|stabilised; "
         "did you mean stabilised?"},
        {"omgea=1", "unknown option 'omgea'; did you mean omega?"},
        {"xyzzy=1",
         "unknown option 'xyzzy'; expected warm_start, iterations, omega, tolerance, limit, gap, title"},
        {"omega", "invalid assignment \"omega\": expected NAME=VALUE"}};
    settings s = defaults();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ss_error err = {0};
        ss_options_assign(table, &s, cases[i].assignment, &err);
        ENSURE_TEXT(err.message, cases[i].message);
    }
    ss_error err = {0};
    ENSURE(!ss_options_assign(NULL, NULL, "omega=1", &err));
    ENSURE_TEXT(err.message, "unknown option 'omega'");
}

TEST(a_hostile_value_does_not_break_the_message)
{
    static char assignment[100000];
    memset(assignment, 'z', sizeof assignment - 1);
    settings s = defaults();
    ss_error err = {0};
    memcpy(assignment, "omega=", 6);
    ENSURE(!ss_options_assign(table, &s, assignment, &err));
    ENSURE_CONTAINS(err.message, "from 0 to 2");
    memcpy(assignment, "omegaz", 6);
    assignment[sizeof assignment - 3] = '=';
    ENSURE(!ss_options_assign(table, &s, assignment, &err));
    ENSURE_CONTAINS(err.message, "unknown option");
    ENSURE(!ss_options_assign(table, &s, "omega=%s%n%d", &err));
    ENSURE_CONTAINS(err.message, "\"%s%n%d\"");
}

TEST(a_struct_filled_by_hand_is_checked)
{
    ss_error err = {0};
    settings s = defaults();
    s.omega = NAN;
    ENSURE(!ss_options_check(table, &s, &err));
    ENSURE_CONTAINS(err.message, "invalid value \"nan\" for omega");
    s = defaults();
    s.iterations = -3;
    ENSURE(!ss_options_check(table, &s, &err));
    ENSURE_CONTAINS(err.message, "invalid value \"-3\" for iterations");
    s = defaults();
    s.gap = 3;
    ENSURE(!ss_options_check(table, &s, &err));
    ENSURE_CONTAINS(err.message, "invalid value \"3\" for gap");
    s.gap = -1;
    ENSURE(!ss_options_check(table, &s, &err));
    s = defaults();
    memset(&s.warm_start, 7, sizeof s.warm_start);
    ENSURE(!ss_options_check(table, &s, &err));
    ENSURE_CONTAINS(err.message, "for warm_start");
    ENSURE(ss_options_check(NULL, NULL, &err));
}

static bool same(const settings *a, const settings *b)
{
    return a->warm_start == b->warm_start && a->iterations == b->iterations && a->omega == b->omega &&
           a->tolerance == b->tolerance && a->limit == b->limit && a->gap == b->gap;
}

TEST(what_is_printed_can_be_typed_again)
{
    ss_random random = ss_random_start(21, 0);
    for (int round = 0; round < 2000; round++) {
        settings s = {.warm_start = ss_random_below(&random, 2),
                      .iterations = 1 + ss_random_below(&random, 1000000000),
                      .omega = ss_random_between(&random, 0.0, 2.0),
                      .tolerance =
                          ss_random_normal(&random) * pow(10.0, ss_random_between(&random, -300.0, 300.0)),
                      .limit = round % 3 ? ss_random_real(&random) : INFINITY,
                      .gap = ss_random_below(&random, 3)};
        settings back = defaults();
        for (const ss_option *option = table; option->type != SS_OPTION_TEXT; option++) {
            char text[64];
            ENSURE(ss_option_print(option, &s, text, sizeof text) < (int)sizeof text);
            ENSURE(ss_options_set(table, &back, option->name, text, NULL));
        }
        ENSURE(same(&s, &back));
    }
}

TEST(provenance_is_one_line_with_all_options)
{
    settings s = defaults();
    char text[200];
    const char *expected = "warm_start=true iterations=100 omega=1.3 tolerance=0 limit=inf gap=zero";
    ENSURE_INT(ss_options_print(table, &s, text, sizeof text), strlen(expected));
    ENSURE_TEXT(text, expected);
    s.title = "two words";
    ENSURE_INT(ss_options_print(table, &s, text, sizeof text), strlen(expected) + strlen(" title=two words"));
    ENSURE_CONTAINS(text, " title=two words");
    ENSURE_INT(ss_options_print(NULL, NULL, text, sizeof text), 0);
    ENSURE_TEXT(text, "");
}

TEST(printing_into_too_small_a_place_is_cut_like_snprintf)
{
    settings s = defaults();
    char full[200], part[200];
    int length = ss_options_print(table, &s, full, sizeof full);
    ENSURE_INT(ss_options_print(table, &s, NULL, 0), length);
    for (size_t size = 1; size < 100; size++) {
        memset(part, '#', sizeof part);
        ENSURE_INT(ss_options_print(table, &s, part, size), length);
        size_t kept = size - 1 < (size_t)length ? size - 1 : (size_t)length;
        ENSURE(memcmp(part, full, kept) == 0 && part[kept] == '\0' && part[size] == '#');
    }
}

typedef struct wishes {
    ss_option_list set;
} wishes;

static const ss_option wish_table[] = {
    {.name = "set", .type = SS_OPTION_LIST, .offset = offsetof(wishes, set)}, {0}};

TEST(values_of_a_list_are_gathered)
{
    wishes w;
    char text[40];
    memset(&w, 0x55, sizeof w);
    ss_options_defaults(wish_table, &w);
    ENSURE_INT(w.set.count, 0);
    ENSURE_INT(ss_options_print(wish_table, &w, text, sizeof text), 0);
    ENSURE(ss_options_set(wish_table, &w, "set", "omega=1", NULL));
    ENSURE(ss_options_set(wish_table, &w, "set", "sweep=x", NULL));
    ENSURE_INT(w.set.count, 2);
    ENSURE_TEXT(w.set.items[1], "sweep=x");
    ENSURE_INT(ss_options_print(wish_table, &w, text, sizeof text), strlen("set=omega=1,sweep=x"));
    ENSURE_TEXT(text, "set=omega=1,sweep=x");
    ENSURE_INT(ss_options_print(wish_table, &w, text, 8), strlen("set=omega=1,sweep=x"));
    ENSURE_TEXT(text, "set=ome");
}

TEST(a_list_has_an_end)
{
    wishes w;
    ss_error err = {0};
    ss_options_defaults(wish_table, &w);
    ENSURE(!ss_options_set(wish_table, &w, "set", "", &err));
    for (int i = 0; i < SS_OPTION_LIST_MOST; i++) ENSURE(ss_options_set(wish_table, &w, "set", "x", NULL));
    ENSURE(ss_options_check(wish_table, &w, NULL));
    ENSURE(!ss_options_set(wish_table, &w, "set", "x", &err));
    ENSURE_CONTAINS(err.message, "at most 32 times");
    ENSURE_INT(w.set.count, SS_OPTION_LIST_MOST);
    w.set.count = -1;
    ENSURE(!ss_options_check(wish_table, &w, NULL));
}

TEST(options_are_found_by_name)
{
    ENSURE(ss_options_find(table, "omega") == &table[2]);
    ENSURE(ss_options_find(table, "omeg") == NULL);
    ENSURE(ss_options_find(NULL, "omega") == NULL);
}

TEST(lack_of_memory_costs_words_but_not_the_verdict)
{
    for (int n = 1;; n++) {
        faults_start(n);
        settings s = defaults();
        ss_error err = {0};
        bool accepted =
            ss_options_assign(table, &s, "gap=zorro", &err) || ss_options_assign(table, &s, "x=1", &err);
        bool failed = faults_stop();
        ENSURE(!accepted);
        ENSURE_INT(err.code, SS_ERROR_USAGE);
        ENSURE_INT(faults.live, 0);
        if (!failed) break;
    }
}

TEST_MAIN
