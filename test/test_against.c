/* Methods against the best of others in hindsight, with numbers worked out by hand. */
#include "faults.h"
#include "statistics_book.h"

#include "campaign/against.h"
#include "report/report.h"

static void name_solvers(void)
{
    for (int m = 0; m < book.results.method_count; m++) book.methods[m].solver = book.methods[m].label;
}

TEST(patterns_choose_methods_by_solver_or_label)
{
    ss_method_entry method = {.solver = word("siconos"), .label = word("siconos (method=NSGS-AC, stop x<1)")};
    static const struct {
        const char *patterns;
        bool expected;
    } cases[] = {{"siconos", true},
                 {"sicon*", true},
                 {"*NSGS-AC*", true},
                 {"*NSGS-JM*", false},
                 {"auto,siconos", true},
                 {"auto", false},
                 {"!auto", true},
                 {"!auto,!siconos", false},
                 {"*,!*NSGS-AC*", false},
                 {"", true},
                 {"*,!nsgs", true},
                 {"sicono?", true},
                 {"siconos,!*stop x<1*", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (ss_method_matches(&method, cases[i].patterns) != cases[i].expected)
            KIT_FAIL("\"%s\"", cases[i].patterns);
}

/* alpha over the better one of beta and gamma: 1/2, 6/3, and the third problem is solved by others only. */
TEST(the_best_in_hindsight_is_the_least_cost_of_any_other_method)
{
    three_by_three();
    name_solvers();
    MAKE(made);
    ss_against against;
    ss_error err = {0};
    ENSURE(ss_against_make(&book.results, &made, "alpha", NULL, &against, &err));
    ENSURE_INT(against.count, 3);
    ENSURE_INT(against.refused, 0);
    ENSURE_INT(against.score_count, 4);
    const ss_against_score *score = &against.scores[1]; // 1e-4
    ENSURE_NEAR(score->tolerance, 1e-4, 0.0);
    const ss_against_row *rows = score->rows;
    ENSURE_INT(rows[0].method, 0);
    ENSURE_INT(rows[0].best_method, 1);
    ENSURE_NEAR(rows[0].ratio, 0.5, rounding);
    ENSURE_INT(rows[1].best_method, 1);
    ENSURE_NEAR(rows[1].ratio, 2.0, rounding);
    ENSURE_INT(rows[2].method, -1);
    ENSURE_INT(rows[2].best_method, 2);
    ENSURE_NEAR(rows[2].best_cost, 5.0, 0.0);
    ENSURE(isnan(rows[2].ratio));
    ENSURE_INT(score->both, 2);
    ENSURE_INT(score->only, 0);
    ENSURE_INT(score->only_best, 1);
    ENSURE_INT(score->slower, 1);
    ENSURE_INT(score->twice, 0); // exactly twice is not more than twice
    ENSURE_INT(score->worst, 1);
    ENSURE_NEAR(score->mean, 1.0, rounding);

    // several methods on the first side: the best of them counts; at 1e-6 alpha solves nothing
    ENSURE(ss_against_make(&book.results, &made, "alpha,gamma", "beta", &against, &err));
    ENSURE_NEAR(against.scores[1].mean, cbrt(0.5 * 2.0 * 0.5), rounding);
    ENSURE_INT(against.scores[2].rows[0].method, 2);
    ENSURE_NEAR(against.scores[2].rows[0].ratio, 2.0, rounding);

    // and it is in the JSON
    ss_text text = {0};
    ss_report_json(&book.results, &made,
                   &(ss_report_options){.title = "t", .ledger = "l", .against = &against}, &text);
    ENSURE_CONTAINS(ss_text_get(&text), "\"against\":{\"methods\":\"alpha,gamma\",\"bestOf\":\"beta\"");
    ENSURE_CONTAINS(ss_text_get(&text), "\"ratio\":2");
    ss_text_free(&text);
    ss_statistics_free(&made);
}

TEST(problems_that_one_side_does_not_accept_are_left_out_and_counted)
{
    book_open(2, 2, 1);
    name_solvers();
    book_run(0, 0, 1e-6, 1.0);
    book_run(0, 1, 1e-6, 4.0);
    book_run(1, 0, 1e-6, 1.0);
    book_end(1, 1, (ss_outcome)SS_NOT_APPLICABLE);
    MAKE(made);
    ss_against against;
    ENSURE(ss_against_make(&book.results, &made, "alpha", "beta", &against, NULL));
    ENSURE_INT(against.count, 1);
    ENSURE_INT(against.refused, 1);
    ENSURE_NEAR(against.scores[1].mean, 0.25, rounding);
    ss_statistics_free(&made);
}

TEST(times_of_different_machines_are_never_compared)
{
    book_open(1, 2, 2);
    name_solvers();
    book_run(0, 0, 1e-6, 1.0);
    book_run(0, 0, 1e-6, 10.0)->machine = 1;
    book_run(0, 1, 1e-6, 2.0);
    book_run(0, 1, 1e-6, 30.0)->machine = 1;
    MAKE(made);
    ss_against against;
    ENSURE(ss_against_make(&book.results, &made, "alpha", "beta", &against, NULL));
    ENSURE_INT(against.count, 2);
    ENSURE_NEAR(against.scores[1].rows[0].ratio, 1.0 / 2.0, rounding);
    ENSURE_NEAR(against.scores[1].rows[1].ratio, 10.0 / 30.0, rounding);
    ss_statistics_free(&made);
}

TEST(sides_that_are_empty_or_overlap_are_refused_by_name)
{
    three_by_three();
    name_solvers();
    MAKE(made);
    ss_against against;
    ss_error err = {0};
    ENSURE(!ss_against_make(&book.results, &made, "omega", NULL, &against, &err));
    ENSURE_CONTAINS(err.message, "no method of the ledger matches 'omega'");
    ENSURE(!ss_against_make(&book.results, &made, "alpha", "omega*", &against, &err));
    ENSURE_CONTAINS(err.message, "'omega*'");
    ENSURE(!ss_against_make(&book.results, &made, "*", NULL, &against, &err));
    ENSURE_CONTAINS(err.message, "no other is left");
    ENSURE(!ss_against_make(&book.results, &made, "alpha", "*a", &against, &err));
    ENSURE_CONTAINS(err.message, "alpha is on both sides");
    ss_statistics_free(&made);
}

/* The whole call: the least of the samples with measuring, which take twice as long in this book; without
 * samples that of the run; without either, as ever. */
TEST(the_whole_call_counts_what_the_stop_rule_measures)
{
    book_open(3, 1, 1);
    ss_run_entry *timed = book_run(0, 0, 1e-6, 1.0), *bare = book_run(1, 0, 1e-6, 1.0),
                 *old = book_run(2, 0, 1e-6, 1.0);
    book_cross(timed, 4, 3, 0.25);
    book_sample(timed, 0.8);
    book_sample(timed, 0.6);
    timed->elapsed = 7.0;
    bare->elapsed = 3.0;
    old->elapsed = NAN;
    ss_cost_rule rule = ss_cost_rule_of(&book.results, ss_metric_index("relative_energy"), true);
    ENSURE_TEXT(ss_cost_rule_name(&rule), "whole call");
    ENSURE_NEAR(ss_run_cost(timed, &rule, 1e-4), 1.2, rounding);
    ENSURE_NEAR(ss_run_cost(bare, &rule, 1e-4), 3.0, rounding);
    ENSURE_NEAR(ss_run_cost(old, &rule, 1e-4), 1.0, rounding);
    ENSURE_NEAR(cost_of(timed, 1e-4), 0.25 * 0.6, rounding);
}

TEST(every_rung_of_a_ladder_is_a_tolerance_of_the_report)
{
    book_open(1, 3, 1);
    book.methods[0].stop = word("relative_energy<0.003");
    book.methods[1].stop = word("relative_energy<1e-05");
    book.methods[2].stop = word("natural_map<1e-7");
    book.results.campaign = word("bench x.h5 --tol 3e-3,1e-5");
    book_run(0, 0, 1e-6, 1.0);
    ss_statistics_options options = ss_statistics_defaults();
    ss_statistics_ask(&options, &book.results);
    ENSURE_INT(options.tolerance_count, 6);
    ENSURE_NEAR(options.tolerances[options.main_tolerance], 0.003, 0.0); // the loosest
    ENSURE_NEAR(options.tolerances[3], 1e-5, 0.0);
}

TEST(lack_of_memory_for_a_comparison_is_told)
{
    three_by_three();
    name_solvers();
    for (int n = 1; n < 10000; n++) {
        ss_statistics made = {0};
        ss_against against;
        ss_error err = {0};
        faults_start(n);
        bool good = ss_statistics_make(&book.results, NULL, &made, &err) &&
                    ss_against_make(&book.results, &made, "alpha", NULL, &against, &err);
        ss_statistics_free(&made);
        long live = faults.live;
        bool reached = faults_stop();
        ENSURE_INT(live, 0);
        ENSURE(good == !reached && (good || err.code == SS_ERROR_RESOURCES));
        if (!reached) return;
    }
    KIT_FAIL("%s", "it never succeeds");
}

TEST_MAIN
