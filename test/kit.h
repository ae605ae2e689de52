/* The whole test framework. A test program is a list of short stories:
 *
 *     TEST(block_on_a_slope_sticks_below_atan_mu)
 *     {
 *         ENSURE(frame != NULL);
 *         ENSURE_NEAR(speed, 0.0, 1e-12); // tolerance: rounding of one 3x3 solve
 *     }
 *     TEST_MAIN
 *
 * Run one test by giving a part of its name; --list shows the names. SKIP("why") ends a test for which the
 * machine lacks something; the reason is printed, and with STICKSLIP_REQUIRE_TOOLS=1 in the environment it
 * is a failure. SS_TOLERANCE_SCALE=0.1 in the environment multiplies every tolerance, which shows how much
 * slack there is.
 */
#ifndef STICKSLIP_TEST_KIT_H
#define STICKSLIP_TEST_KIT_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kit_test {
    const char *name;
    void (*run)(void);
    struct kit_test *next;
} kit_test;

static kit_test *kit_tests, **kit_end = &kit_tests;
static int kit_failures;
static const char *kit_skip_reason, *kit_required_by = "STICKSLIP_REQUIRE_TOOLS";

#define TEST(title)                                                     \
    static void title(void);                                            \
    __attribute__((constructor)) static void kit_register_##title(void) \
    {                                                                   \
        static kit_test test = {#title, title, NULL};                   \
        *kit_end = &test;                                               \
        kit_end = &test.next;                                           \
    }                                                                   \
    static void title(void)

#define KIT_FAIL(...)                                                                                   \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), \
     kit_failures++)

#define ENSURE(condition)                         \
    do {                                          \
        if (!(condition)) {                       \
            KIT_FAIL("not true: %s", #condition); \
            return;                               \
        }                                         \
    } while (0)

#define ENSURE_NEAR(actual, expected, tolerance)                                                \
    do {                                                                                        \
        double kit_a = (actual), kit_e = (expected), kit_t = (tolerance)*kit_tolerance_scale(); \
        if (!(fabs(kit_a - kit_e) <= kit_t)) {                                                  \
            KIT_FAIL("%s = %.17g, expected %.17g within %g", #actual, kit_a, kit_e, kit_t);     \
            return;                                                                             \
        }                                                                                       \
    } while (0)

#define ENSURE_INT(actual, expected)                                          \
    do {                                                                      \
        long long kit_a = (long long)(actual), kit_e = (long long)(expected); \
        if (kit_a != kit_e) {                                                 \
            KIT_FAIL("%s = %lld, expected %lld", #actual, kit_a, kit_e);      \
            return;                                                           \
        }                                                                     \
    } while (0)

#define ENSURE_TEXT(actual, expected)                                                           \
    do {                                                                                        \
        const char *kit_a = (actual), *kit_e = (expected);                                      \
        if (!kit_a || strcmp(kit_a, kit_e) != 0) {                                              \
            KIT_FAIL("%s = \"%s\", expected \"%s\"", #actual, kit_a ? kit_a : "(null)", kit_e); \
            return;                                                                             \
        }                                                                                       \
    } while (0)

#define ENSURE_CONTAINS(text, part)                                                      \
    do {                                                                                 \
        const char *kit_a = (text), *kit_e = (part);                                     \
        if (!kit_a || !strstr(kit_a, kit_e)) {                                           \
            KIT_FAIL("\"%s\" does not contain \"%s\"", kit_a ? kit_a : "(null)", kit_e); \
            return;                                                                      \
        }                                                                                \
    } while (0)

/* A skip that the environment may forbid: with `variable`=1 it is a failure. */
#define SKIP_UNLESS(variable, reason) \
    do {                              \
        kit_required_by = (variable); \
        kit_skip_reason = (reason);   \
        return;                       \
    } while (0)
#define SKIP(reason) SKIP_UNLESS("STICKSLIP_REQUIRE_TOOLS", reason)

static inline double kit_tolerance_scale(void)
{
    const char *scale = getenv("SS_TOLERANCE_SCALE");
    return scale ? strtod(scale, NULL) : 1.0;
}

static inline int kit_main(int argc, char **argv)
{
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    const char *filter = argc > 1 && !list ? argv[1] : "";
    int passed = 0, failed = 0, skipped = 0;
    for (kit_test *test = kit_tests; test; test = test->next) {
        if (list) puts(test->name);
        if (list || !strstr(test->name, filter)) continue;
        kit_failures = 0;
        kit_skip_reason = NULL;
        test->run();
        const char *required = getenv(kit_required_by);
        if (kit_skip_reason && required && strcmp(required, "1") == 0)
            KIT_FAIL("skipped, but %s=1: %s", kit_required_by, kit_skip_reason);
        if (kit_failures)
            failed++;
        else if (kit_skip_reason)
            skipped++;
        else
            passed++;
        printf("%s %s%s%s\n",
               kit_failures      ? "FAIL"
               : kit_skip_reason ? "skip"
                                 : "  ok",
               test->name, kit_skip_reason ? ": " : "", kit_skip_reason ? kit_skip_reason : "");
        fflush(stdout);
    }
    if (list) return 0;
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    if (passed + failed + skipped == 0) fprintf(stderr, "no test matches \"%s\"\n", filter);
    return failed || passed + skipped == 0 ? 1 : (passed == 0 ? 77 : 0); // 77: CTest's SKIP_RETURN_CODE
}

#define TEST_MAIN                    \
    int main(int argc, char **argv)  \
    {                                \
        return kit_main(argc, argv); \
    }

#endif
