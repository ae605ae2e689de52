/* Errors, findings, memory, arena, random numbers, clock. */
#include <stickslip/base.h>

#include "base/poison.h"
#include "faults.h"
#include "kit.h"

#include <stdint.h>

/* ---- errors ----------------------------------------------------------------------------------------- */

TEST(an_error_names_the_place_from_the_inside_out)
{
    ss_error err = {0};
    ENSURE(!ss_fail(&err, SS_ERROR_INPUT, "masses[%d]: %g, must be positive", 3, -1.5));
    ENSURE(!ss_fail_in(&err, "/mbs_frame%06d", 7));
    ENSURE(!ss_fail_in(&err, "stack.h5"));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE_TEXT(err.message, "stack.h5: /mbs_frame000007: masses[3]: -1.5, must be positive");
}

TEST(an_error_may_be_ignored)
{
    ENSURE(!ss_fail(NULL, SS_ERROR_INPUT, "nobody hears this"));
    ENSURE(!ss_fail_in(NULL, "nor this"));
}

TEST(an_error_may_quote_its_own_old_message)
{
    ss_error err = {0};
    ss_fail(&err, SS_ERROR_USAGE, "inner");
    ss_fail(&err, SS_ERROR_INPUT, "outer (%s)", err.message);
    ENSURE_TEXT(err.message, "outer (inner)");
}

TEST(a_message_that_is_too_long_is_cut_not_overrun)
{
    ss_error err = {0};
    char longer[3 * sizeof err.message];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ss_fail(&err, SS_ERROR_INPUT, "%s", longer);
    ENSURE_INT(strlen(err.message), sizeof err.message - 1);
    ss_fail_in(&err, "place");
    ENSURE_INT(strlen(err.message), sizeof err.message - 1);
    ENSURE(strncmp(err.message, "place: xxx", 10) == 0);
    ss_fail_in(&err, "%s", longer);
    ENSURE_INT(strlen(err.message), sizeof err.message - 1);
}

TEST(codes_have_names_and_exit_codes)
{
    ENSURE_TEXT(ss_error_name(SS_ERROR_INPUT), "bad input");
    ENSURE_TEXT(ss_error_name((ss_error_code)99), "unknown");
    ENSURE_INT(ss_error_exit_code(SS_OK), 0);
    ENSURE_INT(ss_error_exit_code(SS_ERROR_USAGE), 2);
    ENSURE_INT(ss_error_exit_code(SS_ERROR_INPUT), 3);
    ENSURE_INT(ss_error_exit_code(SS_ERROR_RESOURCES), 4);
}

/* ---- findings --------------------------------------------------------------------------------------- */

TEST(findings_keep_order_kind_place_and_message)
{
    ss_findings findings = {0};
    for (int i = 0; i < 100; i++)
        ss_findings_add(&findings, i % 2 ? SS_FINDING_WARNING : SS_FINDING_FAULT, "/bodies", "number %d", i);
    ENSURE_INT(findings.count, 100);
    ENSURE_INT(findings.count_of[SS_FINDING_WARNING], 50);
    ENSURE_INT(findings.items[37].kind, SS_FINDING_WARNING);
    ENSURE_TEXT(findings.items[37].message, "number 37");
    ENSURE_TEXT(findings.items[37].place, "/bodies");
    ENSURE_TEXT(ss_finding_kind_name(SS_FINDING_LOSS), "loss");
    ss_findings_free(&findings);
    ENSURE_INT(findings.count, 0);
}

TEST(findings_beyond_the_limit_are_counted_but_not_kept)
{
    ss_findings findings = {.limit = 3};
    for (int i = 0; i < 10; i++) ss_findings_add(&findings, SS_FINDING_FAULT, "a", "%d", i);
    ss_findings_add(&findings, SS_FINDING_LOSS, NULL, "b");
    ENSURE_INT(findings.count, 4);
    ENSURE_INT(findings.count_of[SS_FINDING_FAULT], 10);
    ENSURE_TEXT(findings.items[3].place, "");
    ss_findings_add(NULL, SS_FINDING_FAULT, "nobody", "listens");
    ss_findings_free(&findings);
    ss_findings_free(NULL);
}

TEST(findings_survive_every_lack_of_memory_with_right_counts)
{
    for (int n = 1;; n++) {
        faults_start(n);
        ss_findings findings = {0};
        for (int i = 0; i < 20; i++) ss_findings_add(&findings, SS_FINDING_REPAIR, "place", "item %d", i);
        bool lost = findings.out_of_memory;
        size_t counted = findings.count_of[SS_FINDING_REPAIR], kept = findings.count;
        ss_findings_free(&findings);
        bool failed = faults_stop();
        ENSURE_INT(counted, 20);
        ENSURE_INT(kept, failed ? 19 : 20);
        ENSURE(lost == failed);
        ENSURE_INT(faults.live, 0);
        if (!failed) break;
    }
}

/* ---- memory ----------------------------------------------------------------------------------------- */

TEST(blocks_are_zeroed_and_aligned_on_any_allocator)
{
    for (int custom = 0; custom < 2; custom++) {
        if (custom) faults_start(0);
        for (size_t bytes = 0; bytes < 300; bytes++) {
            unsigned char *block = ss_allocate(bytes, 1);
            ENSURE(block != NULL);
            ENSURE_INT((uintptr_t)block % 64, 0);
            for (size_t i = 0; i < bytes; i++) ENSURE_INT(block[i], 0);
            memset(block, 0xAB, bytes);
            ss_release(block);
        }
        faults_stop();
    }
    ss_release(NULL);
}

TEST(a_size_that_overflows_is_refused)
{
    ENSURE(ss_allocate(SIZE_MAX, 2) == NULL);
    ENSURE(ss_allocate(SIZE_MAX / 2 + 1, 2) == NULL);
    ENSURE(ss_allocate(SIZE_MAX, 1) == NULL);
    ENSURE(ss_allocate(PTRDIFF_MAX, 1) == NULL);
}

#ifdef SS_HAS_ASAN
TEST(one_byte_too_far_is_seen_by_the_sanitizer)
{
    char *block = ss_allocate(13, 1);
    ENSURE(!SS_IS_POISONED(block + 12) && SS_IS_POISONED(block + 13));
    ss_release(block);
    ss_arena *arena = ss_arena_create(4096, NULL);
    char *a = ss_arena_take(arena, 13, 1, "a"), *b = ss_arena_take(arena, 64, 1, "b");
    ENSURE(!SS_IS_POISONED(a + 12) && SS_IS_POISONED(a + 13) && SS_IS_POISONED(b + 64) &&
           SS_IS_POISONED(b - 1));
    ss_arena_clear(arena);
    ENSURE(SS_IS_POISONED(a));
    ss_arena_destroy(arena);
}
#endif

TEST(a_text_is_copied)
{
    char *copy = ss_text_copy("gap");
    ENSURE_TEXT(copy, "gap");
    ss_release(copy);
    ENSURE(ss_text_copy(NULL) == NULL);
}

/* ---- arena ------------------------------------------------------------------------------------------ */

/* A made-up solve: arrays of many sizes, with marks and resets inside. Returns false when
 * memory was short. */
static bool work_in(ss_arena *arena)
{
    ss_random random = ss_random_start(5, 0);
    for (int i = 0; i < 40; i++) {
        size_t count = (size_t)ss_random_below(&random, 4000);
        double *array = ss_arena_take(arena, count, sizeof *array, "array");
        if (!array) return false;
        ss_arena_mark mark = ss_arena_get_mark(arena);
        int *inner = ss_arena_take(arena, 3 * count + 1, sizeof *inner, "inner");
        if (!inner) return false;
        memset(inner, 1, (3 * count + 1) * sizeof *inner);
        if (i % 3) ss_arena_reset(arena, mark);
        if (count) array[count - 1] = 1.0;
    }
    return true;
}

TEST(a_second_round_in_an_arena_does_not_touch_the_heap)
{
    for (int way = 0; way < 2; way++) {
        faults_start(0);
        ss_arena *arena = ss_arena_create(way ? 0 : 1000, NULL);
        ss_arena_mark start = ss_arena_get_mark(arena);
        bool first = work_in(arena);
        size_t used = ss_arena_used(arena);
        if (way)
            ss_arena_clear(arena);
        else
            ss_arena_reset(arena, start);
        long before = faults.requests;
        bool second = work_in(arena);
        long after = faults.requests;
        size_t used_again = ss_arena_used(arena), high = ss_arena_high_water(arena);
        ss_arena_destroy(arena);
        faults_stop();
        ENSURE(first && second);
        ENSURE(before > 3); // it had to grow, so that there was something to join
        ENSURE_INT(after, before);
        ENSURE_INT(used_again, used);
        ENSURE(high >= used);
        ENSURE_INT(faults.live, 0);
    }
}

TEST(after_a_clear_one_array_may_have_all_that_was_used_in_pieces)
{
    faults_start(0);
    ss_arena *arena = ss_arena_create(0, NULL);
    for (int i = 0; i < 100; i++) ss_arena_take(arena, 1000, 8, "piece");
    size_t high = ss_arena_high_water(arena);
    ss_arena_clear(arena);
    long before = faults.requests;
    bool taken = ss_arena_take(arena, 100 * 1000, 8, "all in one") != NULL;
    long after = faults.requests;
    ss_arena_destroy(arena);
    faults_stop();
    ENSURE(taken && high >= 100 * 1000 * 8);
    ENSURE_INT(after, before);
}

TEST(a_second_round_above_a_mark_does_not_touch_the_heap)
{
    faults_start(0);
    ss_arena *arena = ss_arena_create(100, NULL);
    ss_arena_take(arena, 10, 8, "kept");
    ss_arena_mark mark = ss_arena_get_mark(arena);
    bool first = work_in(arena);
    ss_arena_reset(arena, mark);
    long before = faults.requests;
    bool second = work_in(arena);
    long after = faults.requests;
    ss_arena_destroy(arena);
    faults_stop();
    ENSURE(first && second);
    ENSURE_INT(after, before);
}

TEST(arena_arrays_are_zeroed_again_aligned_and_do_not_overlap)
{
    ss_arena *arena = ss_arena_create(256, NULL);
    for (int round = 0; round < 3; round++) {
        unsigned char *arrays[30];
        for (int i = 0; i < 30; i++) {
            arrays[i] = ss_arena_take(arena, (size_t)(i * i), 1, "array");
            ENSURE(arrays[i] != NULL);
            ENSURE_INT((uintptr_t)arrays[i] % 64, 0);
            for (int k = 0; k < i * i; k++) ENSURE_INT(arrays[i][k], 0);
            memset(arrays[i], i + 1, (size_t)(i * i));
        }
        for (int i = 0; i < 30; i++)
            for (int k = 0; k < i * i; k++) ENSURE_INT(arrays[i][k], i + 1);
        ss_arena_clear(arena);
        ENSURE_INT(ss_arena_used(arena), 0);
    }
    ss_arena_destroy(arena);
    ss_arena_destroy(NULL);
}

TEST(an_arena_names_its_largest_and_its_failed_array)
{
    ss_arena *arena = ss_arena_create(0, NULL);
    ENSURE(ss_arena_largest(arena) == NULL && ss_arena_failed(arena) == NULL);
    ss_arena_take(arena, 10, 8, "small");
    ss_arena_take(arena, 1000, 8, "Delassus");
    ss_arena_take(arena, 20, 8, "medium");
    ENSURE_TEXT(ss_arena_largest(arena), "Delassus");
    ENSURE(ss_arena_take(arena, SIZE_MAX / 4, 8, "monster") == NULL);
    ENSURE(ss_arena_take(arena, SIZE_MAX - 10, 1, "giant") == NULL);
    ENSURE_TEXT(ss_arena_failed(arena), "giant");
    ss_arena_clear(arena);
    ENSURE(ss_arena_largest(arena) == NULL);
    ENSURE_TEXT(ss_arena_failed(arena), "giant");
    ss_arena_destroy(arena);
}

TEST(an_arena_survives_every_lack_of_memory)
{
    for (int n = 1;; n++) {
        faults_start(n);
        ss_error err = {0};
        ss_arena *arena = ss_arena_create(64, &err);
        bool done = true;
        for (int round = 0; round < 2 && arena; round++) {
            done = work_in(arena);
            ss_arena_clear(arena);
        }
        bool usable = !arena || ss_arena_take(arena, 8, 8, "after the failure");
        ss_arena_destroy(arena);
        bool failed = faults_stop();
        ENSURE(usable);
        ENSURE(arena || err.code == SS_ERROR_RESOURCES);
        ENSURE(done || failed);
        ENSURE_INT(faults.live, 0);
        if (!failed) break;
    }
}

/* ---- random numbers --------------------------------------------------------------------------------- */

TEST(the_same_seed_gives_the_same_numbers_for_ever)
{
    // Written down once; a change here changes every generated problem.
    ss_random random = ss_random_start(42, 0);
    uint64_t bits = ss_random_bits(&random);
    double normal = ss_random_normal(&random);
    ENSURE(bits == UINT64_C(0xe564666595b8d999));
    ENSURE(normal == 0x1.293e1bb456801p-1);
}

TEST(the_generator_is_the_published_xoshiro)
{
    // First outputs of the authors' C code from the state 1, 2, 3, 4.
    static const uint64_t published[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    ss_random random = {{1, 2, 3, 4}};
    for (int i = 0; i < 4; i++) ENSURE(ss_random_bits(&random) == published[i]);
}

TEST(seeds_and_streams_differ)
{
    uint64_t seen[400];
    for (uint64_t i = 0; i < 400; i++) {
        ss_random random = ss_random_start(i / 20, i % 20);
        seen[i] = ss_random_bits(&random);
        for (uint64_t k = 0; k < i; k++) ENSURE(seen[k] != seen[i]);
    }
}

TEST(uniform_numbers_have_the_moments_of_uniform_numbers)
{
    const int n = 200000;
    ss_random random = ss_random_start(1, 2);
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < n; i++) {
        double x = ss_random_real(&random);
        ENSURE(x >= 0.0 && x < 1.0);
        sum += x;
        squares += x * x;
    }
    ENSURE_NEAR(sum / n, 0.5, 5 * 0.289 / sqrt(n));           // five standard errors
    ENSURE_NEAR(squares / n, 1.0 / 3.0, 5 * 0.298 / sqrt(n)); // deviation of x^2 is sqrt(4/45)
    for (int i = 0; i < 1000; i++) {
        double x = ss_random_between(&random, -3.0, -2.0);
        ENSURE(x >= -3.0 && x < -2.0);
        x = ss_random_between(&random, 1.0, nextafter(1.0, 2.0));
        ENSURE(x == 1.0); // the only number there is
    }
}

TEST(normal_numbers_have_the_moments_of_normal_numbers)
{
    const int n = 200000;
    ss_random random = ss_random_start(3, 0);
    double moment[5] = {0};
    for (int i = 0; i < n; i++) {
        double x = ss_random_normal(&random), power = 1.0;
        for (int k = 1; k <= 4; k++) moment[k] += (power *= x) / n;
    }
    ENSURE_NEAR(moment[1], 0.0, 5 * 1.0 / sqrt(n)); // five standard errors each
    ENSURE_NEAR(moment[2], 1.0, 5 * 1.42 / sqrt(n));
    ENSURE_NEAR(moment[3], 0.0, 5 * 3.88 / sqrt(n));
    ENSURE_NEAR(moment[4], 3.0, 5 * 9.80 / sqrt(n));
}

/* Chi-squared of `draws` numbers below n, sorted into `boxes` by their remainder. */
static double unevenness(int n, int boxes, int draws)
{
    ss_random random = ss_random_start(9, 9);
    int count[7] = {0};
    for (int i = 0; i < draws; i++) {
        int k = ss_random_below(&random, n);
        if (k < 0 || k >= n) return INFINITY;
        count[k % boxes]++;
    }
    double expected = (double)draws / boxes, chi_squared = 0.0;
    for (int k = 0; k < boxes; k++) chi_squared += pow(count[k] - expected, 2) / expected;
    return chi_squared;
}

TEST(whole_numbers_below_n_are_all_equally_likely)
{
    ENSURE(unevenness(7, 7, 70000) < 27.9); // 6 degrees of freedom: exceeded once in 10000
    // 2 degrees; 2^32 / n is 8/3: multiplying alone would be far off
    ENSURE(unevenness(3 << 29, 3, 70000) < 18.5);
    ENSURE(unevenness(1, 1, 100) == 0.0);
}

/* ---- time ------------------------------------------------------------------------------------------- */

TEST(the_clock_never_goes_back)
{
    double last = ss_clock_seconds();
    for (int i = 0; i < 1000; i++) {
        double now = ss_clock_seconds();
        ENSURE(now >= last);
        last = now;
    }
}

TEST_MAIN
