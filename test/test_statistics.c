/* Statistics of campaigns against numbers worked out by hand: a matrix of three problems and three
 * solvers, small bands and budgets, Wilson's intervals as printed in the literature. */
#include "faults.h"
#include "statistics_book.h"

#include "report/report.h"

/* ---- plain numbers ----------------------------------------------------------------------------------- */

TEST(shifted_geometric_mean_of_known_numbers)
{
    const double values[] = {1.0, 4.0, 16.0}, shifted[] = {0.0, 3.0};
    ENSURE_NEAR(ss_shifted_geometric_mean(values, 3, 0.0), 4.0, 1e-14);
    ENSURE_NEAR(ss_shifted_geometric_mean(shifted, 2, 1.0), 1.0, 1e-14); // sqrt(1 * 4) - 1
    ENSURE(isnan(ss_shifted_geometric_mean(values, 0, 1.0)));
}

/* Newcombe 1998, Statistics in Medicine 17, Table I, method 3 (score without continuity correction), four
 * digits printed. */
TEST(wilson_interval_as_published)
{
    static const struct {
        int hits, count;
        double low, high;
    } cases[] = {
        {81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0.0, 0.1611}, {1, 29, 0.0061, 0.1718}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double low, high;
        ss_wilson_interval(cases[i].hits, cases[i].count, &low, &high);
        ENSURE_NEAR(low, cases[i].low, 5.1e-5);
        ENSURE_NEAR(high, cases[i].high, 5.1e-5);
    }
}

TEST(wilson_interval_at_the_ends)
{
    double low, high;
    ss_wilson_interval(0, 0, &low, &high);
    ENSURE(low == 0.0 && high == 1.0);
    ss_wilson_interval(7, 7, &low, &high);
    ENSURE(low > 0.6 && low < 0.7 && high == 1.0);
    ss_wilson_interval(0, 7, &low, &high);
    ENSURE(low == 0.0 && high > 0.3 && high < 0.4);
}

TEST(quantiles_lie_between_order_statistics)
{
    const double sorted[] = {1.0, 2.0, 4.0, 8.0};
    ENSURE_NEAR(ss_quantile(sorted, 4, 0.0), 1.0, 0.0);
    ENSURE_NEAR(ss_quantile(sorted, 4, 1.0), 8.0, 0.0);
    ENSURE_NEAR(ss_quantile(sorted, 4, 0.5), 3.0, 0.0);
    ENSURE_NEAR(ss_quantile(sorted, 4, 0.9), 6.8, 1e-14); // place 2.7
    ENSURE_NEAR(ss_quantile(sorted, 1, 0.3), 1.0, 0.0);
    ENSURE(isnan(ss_quantile(sorted, 0, 0.5)));
    const double endless[] = {1.0, INFINITY, INFINITY};
    ENSURE(isinf(ss_quantile(endless, 3, 0.75)) && isinf(ss_quantile(endless, 3, 0.25)));
}

TEST(slope_of_a_power_law)
{
    const double x[] = {1.0, 10.0, 100.0, 0.0, NAN, 5.0},
                 y[] = {3.0, 30.0 * sqrt(10.0), 3000.0, 1.0, 1.0, -1.0};
    double r_squared;
    ENSURE_NEAR(ss_log_slope(x, y, 6, &r_squared), 1.5, 1e-14);
    ENSURE_NEAR(r_squared, 1.0, 1e-14);
    ENSURE(isnan(ss_log_slope(x, y, 2, &r_squared)) && isnan(r_squared)); // two points
    const double same[] = {2.0, 2.0 * (1.0 + 1e-15), 3.0, 2.0};
    ENSURE(isnan(ss_log_slope(same, x, 3, NULL)));
    const double flat[] = {1.0, 1.0, 1.0};
    ENSURE_NEAR(ss_log_slope(x, flat, 3, &r_squared), 0.0, 0.0);
    ENSURE(isnan(r_squared));
}

TEST(times_are_written_with_three_digits)
{
    char text[32];
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{1.234e-5, "12.3 us"}, {0.9996e-3, "1 ms"},  {0.0456, "45.6 ms"},
                 {12.34, "12.3 s"},     {12345.0, "12345 s"}, {NAN, "-"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_seconds_text(cases[i].seconds, text, sizeof text);
        ENSURE_TEXT(text, cases[i].text);
    }
}

/* ---- costs ------------------------------------------------------------------------------------------- */

TEST(cost_is_the_time_of_the_crossing_where_the_problem_is_the_true_one)
{
    book_open(1, 2, 1);
    ss_run_entry *run = book_run(0, 0, 1e-9, 8.0);
    book_cross(run, 2, 3, 1.0);
    book_cross(run, 4, 5, 2.0);
    ENSURE_NEAR(cost_of(run, 1e-4), 2.0, 0.0);
    ENSURE_NEAR(cost_of(run, 2e-4), 2.0, 0.0); // the stricter decade
    ENSURE_NEAR(cost_of(run, 1e-6), 8.0, 0.0); // not recorded: the whole run
    ENSURE(isnan(cost_of(run, 1e-10)));
    ENSURE_NEAR(cost_of(run, 1e-9), 8.0, 0.0); // at most: the tolerance itself is enough
    book_sample(run, 5.0);
    book_sample(run, 4.0);
    ENSURE_NEAR(cost_of(run, 1e-4), 1.0, rounding); // 2 * 4/8
    book.methods[0].formulation = word("box");
    // the gauge is not that of the true problem
    ENSURE_NEAR(cost_of(run, 1e-4), 4.0, rounding);
    book.problems[0].format = word("fclib");
    ENSURE_NEAR(cost_of(run, 1e-4), 1.0, rounding);
}

TEST(cost_of_a_clock_that_stood_still)
{
    book_open(1, 1, 1);
    ss_run_entry *run = book_run(0, 0, 1e-9, 0.0);
    ENSURE_NEAR(cost_of(run, 1e-4), 1e-9, 0.0);
    book_sample(run, 3e-6);
    ENSURE_NEAR(cost_of(run, 1e-4), 3e-6, 0.0);
    run->seconds = NAN;
    ENSURE(isnan(cost_of(run, 1e-4)));
}

TEST(what_is_not_applicable_is_never_solved)
{
    book_open(1, 1, 1);
    ss_run_entry *run = book_run(0, 0, 0.0, 1.0);
    run->outcome = (ss_outcome)SS_NOT_APPLICABLE;
    ENSURE(isnan(cost_of(run, 1e-4)));
    MAKE(made);
    ENSURE_INT(score(&made, "alpha")->refused, 1);
    ENSURE_INT(score(&made, "alpha")->failed, 0);
    ENSURE(isnan(score(&made, "alpha")->rate));
    ENSURE_INT(ADVICE(made).series, -1);
    ss_statistics_free(&made);
}

/* ---- three problems, three solvers ------------------------------------------------------------------- */

TEST(performance_profile_of_three_solvers_on_three_problems)
{
    three_by_three();
    MAKE(made);
    const ss_curve *alpha = &score(&made, "alpha")->profile, *beta = &score(&made, "beta")->profile;
    const ss_curve *gamma = &score(&made, "gamma")->profile;
    ENSURE_INT(alpha->count, 2);
    ENSURE_INT(beta->count, 2); // 1, 2, 2: two of them at the same place
    ENSURE_NEAR(step_at(alpha, 1.0), 1.0 / 3.0, rounding);
    ENSURE_NEAR(step_at(alpha, 2.0), 2.0 / 3.0, rounding);
    ENSURE_NEAR(step_at(alpha, 1e9), 2.0 / 3.0, rounding);
    ENSURE_NEAR(step_at(beta, 1.0), 1.0 / 3.0, rounding);
    ENSURE_NEAR(step_at(beta, 1.99), 1.0 / 3.0, rounding);
    ENSURE_NEAR(step_at(beta, 2.0), 1.0, rounding);
    ENSURE_NEAR(step_at(gamma, 1.0), 1.0 / 3.0, rounding);
    ENSURE_NEAR(step_at(gamma, 3.99), 1.0 / 3.0, rounding);
    ENSURE_NEAR(step_at(gamma, 4.0), 2.0 / 3.0, rounding);
    ss_statistics_free(&made);
}

TEST(scores_of_three_solvers_on_three_problems)
{
    three_by_three();
    MAKE(made);
    ENSURE_TEXT(made.series[0].label, "beta");  // 3 of 3
    ENSURE_TEXT(made.series[1].label, "alpha"); // 2 of 3 in less time than gamma
    const ss_score *beta = score(&made, "beta"), *alpha = score(&made, "alpha");
    ENSURE_INT(beta->solved, 3);
    ENSURE_NEAR(beta->rate, 1.0, 0.0);
    ENSURE_NEAR(beta->cost, cbrt(2.001 * 3.001 * 10.001) - 0.001, 1e-14);
    ENSURE_NEAR(beta->cost_median, 3.0, 0.0);
    ENSURE_NEAR(beta->cost_most, 10.0, 0.0);
    ENSURE_INT(alpha->solved, 2);
    ENSURE_INT(alpha->failed, 1);
    ENSURE_NEAR(alpha->cost_median, 6.0, 0.0); // 1, 6, infinite
    ENSURE_INT(named(&made, "alpha")->outcomes[SS_OUTCOME_CRASHED], 1);
    ENSURE_INT(named(&made, "gamma")->outcomes[SS_STALLED], 1);
    ENSURE_INT(named(&made, "beta")->scores[3].solved, 0); // 1e-8
    ENSURE(isnan(named(&made, "beta")->scores[3].cost));
    ENSURE_INT(named(&made, "gamma")->scores[2].solved, 2); // 1e-6
    ss_statistics_free(&made);
}

TEST(data_profiles_count_iterations_and_time_per_unknown)
{
    three_by_three();
    book.runs[0].iterations = 40; // alpha, problem 0
    book.runs[3].iterations = 20; // alpha, problem 1
    book_cross(&book.runs[3], 4, 7, 6.0);
    book.runs[0].unknowns = 0;
    MAKE(made);
    const ss_score *alpha = score(&made, "alpha");
    ENSURE_NEAR(step_at(&alpha->iterations, 6.0), 0.0, 0.0);
    ENSURE_NEAR(step_at(&alpha->iterations, 7.0), 1.0 / 3.0, rounding);
    ENSURE_NEAR(step_at(&alpha->iterations, 40.0), 2.0 / 3.0, rounding);
    ENSURE_NEAR(alpha->per_unknown.x[0], 6.0 / 30.0, rounding);
    ENSURE_NEAR(alpha->per_unknown.x[1], 1.0, 0.0); // no unknowns count as one
    ss_statistics_free(&made);
}

/* Gould and Scott 2016: who is second may change when the first is taken away. At a ratio of 2:
 *              best   second  third
 * problem 0      1      3       2         with the best:    second 1/3, third 2/3
 * problem 1      1      3       2         without:          second 3/3 (1.5, 1.5, 1), third 2/3
 * problem 2      9      1       9 */
TEST(ranks_switch_when_the_best_solver_is_removed)
{
    static const double seconds[3][3] = {{1, 3, 2}, {1, 3, 2}, {9, 1, 9}};
    for (int without = 0; without < 2; without++) {
        book_open(3, 3, 1);
        for (int p = 0; p < 3; p++)
            for (int m = without; m < 3; m++) book_run(p, m, 1e-9, seconds[p][m]);
        MAKE(made);
        double second = step_at(&score(&made, "beta")->profile, 2.0);
        double third = step_at(&score(&made, "gamma")->profile, 2.0);
        ENSURE_NEAR(second, without ? 1.0 : 1.0 / 3.0, rounding);
        ENSURE_NEAR(third, 2.0 / 3.0, rounding);
        ss_statistics_free(&made);
    }
}

TEST(pairs_see_the_two_alone)
{
    three_by_three();
    MAKE(made);
    ENSURE_INT(made.pair_count, 3);
    const ss_pair *pair = &made.pairs[made.options.main_tolerance][0]; // beta, alpha
    ENSURE_TEXT(made.series[pair->a].label, "beta");
    ENSURE_TEXT(made.series[pair->b].label, "alpha");
    ENSURE_INT(pair->both, 2);
    ENSURE_INT(pair->only_a, 1);
    ENSURE_INT(pair->only_b, 0);
    ENSURE_INT(pair->neither, 0);
    ENSURE_NEAR(pair->ratio[0], -1.0, rounding);        // 3 / 6
    ENSURE_NEAR(pair->ratio[1], 1.0, rounding);         // 2 / 1
    pair = &made.pairs[made.options.main_tolerance][2]; // alpha, gamma: 1 s and 4 s
    ENSURE_INT(pair->both, 1);
    ENSURE_NEAR(pair->ratio[0], -2.0, rounding);
    pair = &made.pairs[3][0];
    ENSURE_INT(pair->neither, 3);
    ss_statistics_free(&made);
}

TEST(ties_share_the_first_place_and_stand_in_the_order_of_labels)
{
    book_open(2, 2, 1);
    for (int p = 0; p < 2; p++)
        for (int m = 1; m >= 0; m--) book_run(p, m, 1e-9, 0.0);
    MAKE(made);
    ENSURE_TEXT(made.series[0].label, "alpha");
    ENSURE_NEAR(step_at(&made.series[0].scores[1].profile, 1.0), 1.0, 0.0);
    ENSURE_NEAR(step_at(&made.series[1].scores[1].profile, 1.0), 1.0, 0.0);
    ENSURE_NEAR(made.pairs[1][0].ratio[1], 0.0, 0.0);
    ENSURE_INT(ADVICE(made).series, 0);
    ss_statistics_free(&made);
}

/* ---- convergence ------------------------------------------------------------------------------------- */

/* Errors:       iteration 1    2    3
 *   problem 0             8    4    -    ends early: counts on with 4
 *   problem 1             2    2    1
 *   problem 2             nan  6    4  */
TEST(bands_of_three_runs)
{
    book_open(3, 1, 1);
    ss_run_entry *run = book_run(0, 0, 1.0, 1.0);
    book_history(run, 1, 0.1, 8.0), book_history(run, 2, 0.2, 4.0);
    run = book_run(1, 0, 1.0, 1.0);
    book_history(run, 1, 0.1, 2.0), book_history(run, 2, 0.2, 2.0), book_history(run, 3, 0.3, 1.0);
    run = book_run(2, 0, 1.0, 1.0);
    book_history(run, 1, 0.1, NAN), book_history(run, 2, 0.2, 6.0), book_history(run, 3, 0.3, 4.0);
    MAKE(made);
    const ss_band *band = &made.series[0].bands[0].gauge[SS_GAUGE_ENERGY];
    ENSURE_INT(band->points, 3);
    ENSURE_INT(band->iteration[2], 3);
    ENSURE_INT(band->count[0], 2);
    ENSURE_INT(band->count[1], 3);
    ENSURE_NEAR(band->mean[0], 5.0, 0.0);
    ENSURE_NEAR(band->deviation[0], sqrt(18.0), rounding * 8);
    ENSURE_NEAR(band->mean[1], 4.0, 0.0);
    ENSURE_NEAR(band->deviation[1], 2.0, rounding);
    ENSURE_NEAR(band->mean[2], 3.0, 0.0);
    ENSURE_NEAR(band->deviation[2], sqrt(3.0), rounding);
    ENSURE_NEAR(band->median[2], 4.0, 0.0);
    ENSURE_NEAR(band->low[1], 2.2, rounding);
    ENSURE_NEAR(band->high[1], 5.8, rounding);
    ENSURE_NEAR(band->most[0], 8.0, 0.0);
    ss_statistics_free(&made);
}

TEST(a_band_ends_with_the_longest_run_even_between_points_of_the_grid)
{
    book_open(2, 1, 1);
    ss_run_entry *run = book_run(0, 0, 1.0, 1.0);
    for (int k = 1; k <= 5; k++) book_history(run, k, 0.1, 1.0 / k);
    run = book_run(1, 0, 1.0, 1.0);
    book_history(run, 16, 0.1, 3.0), book_history(run, 17, 0.2, 7.0); // the grid goes on with 18
    MAKE(made);
    const ss_band *band = &made.series[0].bands[0].gauge[SS_GAUGE_NATURAL_MAP];
    ENSURE_INT(band->points, 17);
    ENSURE_INT(band->iteration[16], 17);
    ENSURE_INT(band->count[0], 1); // the second run has nothing to show yet
    ENSURE(isnan(band->deviation[0]));
    ENSURE_NEAR(band->most[16], 7.0, 0.0);
    ENSURE_NEAR(band->mean[16], 3.6, rounding);
    ss_statistics_free(&made);
}

/* admm polishes at its end, --keep best goes back: what is judged is not the last of the history. */
TEST(a_band_ends_with_the_answers_that_were_judged)
{
    book_open(2, 1, 1);
    for (int p = 0; p < 2; p++) {
        ss_run_entry *run = book_run(p, 0, 1e-9, 1.0);
        for (int k = 1; k <= 3 + p; k++) book_history(run, k, 0.1 * k, 5.0);
        run->gauge[SS_GAUGE_ENERGY] = 1e-10;
    }
    MAKE(made);
    const ss_band *band = &made.series[0].bands[0].gauge[SS_GAUGE_ENERGY];
    ENSURE_NEAR(band->most[1], 5.0, 0.0);
    ENSURE_NEAR(band->median[2], 2.5, 1e-9); // one has ended, the other has not
    ENSURE_NEAR(band->most[3], 1e-10, 0.0);
    // not known of the answer
    ENSURE_NEAR(made.series[0].bands[0].gauge[SS_GAUGE_NATURAL_MAP].most[3], 5.0, 0.0);
    ss_statistics_free(&made);
}

TEST(bands_do_not_mix_the_joules_of_scenes)
{
    book_open(3, 1, 1);
    book.problems[0].scene = word("pile");
    for (int p = 0; p < 3; p++) book_history(book_run(p, 0, 1e-9, 1.0), 1, 0.1, p ? 2.0 : 1000.0);
    MAKE(made);
    const ss_series *series = &made.series[0];
    ENSURE_INT(series->band_count, 3);
    ENSURE_INT(series->bands[0].scene, -1); // together: what has no unit
    ENSURE_INT(series->bands[0].gauge[SS_GAUGE_RELATIVE_ENERGY].count[0], 3);
    ENSURE_INT(series->bands[0].gauge[SS_GAUGE_ENERGY].points, 0);
    ENSURE_TEXT(made.scenes[series->bands[1].scene].name, "wall"); // the one with most problems first
    ENSURE_NEAR(series->bands[1].gauge[SS_GAUGE_ENERGY].mean[0], 2.0, 0.0);
    ENSURE_NEAR(series->bands[2].gauge[SS_GAUGE_ENERGY].mean[0], 1000.0, 0.0);
    ss_statistics_free(&made);
}

/* Budgets ... 1e-3, 3.2e-3, 1e-2 ...: what was reached by then, the best so far; nothing yet counts as 1. */
TEST(errors_at_budgets_of_time)
{
    book_open(3, 2, 1);
    ss_run_entry *run = book_run(0, 0, 1e-3, 5e-3);
    book_history(run, 1, 1e-3, 0.5), book_history(run, 2, 2e-3, 0.1), book_history(run, 3, 5e-3, 0.2);
    run = book_run(1, 0, 2e-3, 8e-3); // timed alone it takes half as long
    book_history(run, 1, 4e-3, 0.3), book_history(run, 2, 8e-3, 0.01);
    book_sample(run, 4e-3);
    book_end(2, 0, SS_OUTCOME_HUNG);
    book.methods[1].formulation = word("box");
    for (int p = 0; p < 2; p++) {
        run = book_run(p, 1, 0.25, 2e-3); // of another problem than the true one: only the answer counts
        book_history(run, 1, 1e-3, 1e-9);
    }
    MAKE(made);
    const ss_budget_error *at = named(&made, "alpha")->budgets, *box = named(&made, "beta")->budgets;
    ENSURE_INT(at[3].count, 0); // 0.32 ms
    ENSURE_NEAR(at[3].median, 1.0, 0.0);
    ENSURE_INT(at[4].count, 1); // 1 ms: 0.5, 1, 1
    ENSURE_NEAR(at[4].median, 1.0, 0.0);
    ENSURE_INT(at[5].count, 2); // 3.2 ms: 0.1, 0.3, 1
    ENSURE_NEAR(at[5].median, 0.3, 0.0);
    ENSURE_NEAR(at[5].high, 0.86, rounding);
    // 10 ms: both have ended, and their answers are better than their histories
    ENSURE_NEAR(at[6].median, 2e-3, 0.0);
    ENSURE_INT(box[4].count, 0);
    ENSURE_NEAR(box[5].median, 0.25, 0.0);
    ss_statistics_free(&made);
}

/* Where the median was over those with an iterate, it jumped up when a hard problem had its first one. */
TEST(the_error_at_a_budget_never_rises)
{
    book_open(2, 1, 1);
    book_history(book_run(0, 0, 1e-6, 1e-4), 1, 1e-4, 1e-6);
    book_history(book_run(1, 0, 0.9, 1e-2), 1, 1e-2, 40.0); // worse than doing nothing, then a little better
    MAKE(made);
    const ss_budget_error *at = made.series[0].budgets;
    for (int b = 1; b < made.options.budget_count; b++)
        ENSURE(at[b].median <= at[b - 1].median && at[b].high <= at[b - 1].high);
    ENSURE_NEAR(at[0].median, 1.0, 0.0);
    ENSURE_NEAR(at[10].median, (1e-6 + 0.9) / 2.0, rounding);
    ss_statistics_free(&made);
}

/* alpha solves problem 0 to 1e-8, problem 1 only to 1e-2, slowly: over what it solved each time, the strict
 * tolerance looked cheaper than the loose one. */
TEST(work_for_a_precision_is_counted_on_the_same_problems)
{
    book_open(2, 2, 1);
    ss_run_entry *run = book_run(0, 0, 1e-9, 4.0);
    book_cross(run, 2, 1, 1.0), book_cross(run, 4, 2, 2.0), book_cross(run, 6, 3, 3.0);
    book_cross(book_run(1, 0, 1e-3, 50.0), 2, 9, 40.0);
    book.methods[1].formulation = word("box"); // known as a whole only: not part of it
    book_run(0, 1, 1e-9, 0.1), book_run(1, 1, 1e-9, 900.0);
    MAKE(made);
    const ss_series *alpha = named(&made, "alpha"), *box = named(&made, "beta");
    ENSURE(alpha->followed && !box->followed);
    ENSURE_INT(alpha->scores[0].work.problems, 2);
    ENSURE_NEAR(alpha->scores[0].work.mean, sqrt(1.001 * 40.001) - 0.001, 1e-13);
    ENSURE_NEAR(alpha->scores[0].work.median, 20.5, 0.0);
    ENSURE_NEAR(alpha->scores[1].work.mean, sqrt(2.001 * 400.001) - 0.001, 1e-12);
    ENSURE(isinf(alpha->scores[1].work.median)); // half of them is not more than half
    for (int t = 1; t < 4; t++) ENSURE(alpha->scores[t].work.mean > alpha->scores[t - 1].work.mean);
    ENSURE(isnan(box->scores[0].work.mean));
    ss_statistics_free(&made);
}

/* ---- the rest of a series ---------------------------------------------------------------------------- */

static void book_contacts(ss_run_entry *run, double resting, double sliding, double anomalous)
{
    *book_metric(run, "resting") = (ss_metric_value){.applies = true, .value = resting};
    *book_metric(run, "sliding") = (ss_metric_value){.applies = true, .value = sliding};
    *book_metric(run, "sticking") = (ss_metric_value){.applies = true, .value = resting - sliding};
    *book_metric(run, "anomalous_contacts") = (ss_metric_value){.applies = true, .value = anomalous};
}

TEST(shares_of_contacts_are_taken_of_all_contacts_together)
{
    book_open(3, 1, 1);
    book.problems[1].contacts = 30;
    book_contacts(book_run(0, 0, 1e-9, 1.0), 8, 6, 1);
    book_contacts(book_run(1, 0, 1e-9, 1.0), 20, 4, 3);
    book_end(2, 0, SS_OUTCOME_CRASHED);
    MAKE(made);
    const ss_series *series = &made.series[0];
    ENSURE_NEAR(series->sticking, 18.0 / 40.0, rounding);
    ENSURE_NEAR(series->sliding_good, 6.0 / 40.0, rounding);
    ENSURE_NEAR(series->sliding_bad, 4.0 / 40.0, rounding);
    ENSURE_NEAR(series->open, 12.0 / 40.0, rounding);
    ss_statistics_free(&made);
}

TEST(metrics_have_a_median_and_a_worst_run)
{
    three_by_three();
    MAKE(made);
    int metric = ss_metric_index("relative_energy"), creep = ss_metric_index("creep");
    const ss_series *gamma = named(&made, "gamma");
    ENSURE_NEAR(gamma->metric_median[metric], 1e-7, 0.0);
    ENSURE_NEAR(gamma->metric_most[metric], 1e-1, 0.0);
    ENSURE_INT(gamma->metric_worst[metric], 5);
    ENSURE_INT(gamma->metric_worst[creep], -1);
    ENSURE(isnan(gamma->metric_median[creep]) && isnan(gamma->metric_most[creep]));
    ss_statistics_free(&made);
}

static void book_bin(ss_run_entry *run, int bin, int count)
{
    run->bins = book.bins[run - book.runs];
    run->bins[run->bin_count++] = (ss_bin){bin, count};
}

TEST(bins_of_runs_are_added_up)
{
    book_open(2, 1, 1);
    ss_run_entry *run = book_run(0, 0, 1e-9, 1.0);
    book_bin(run, SS_LEAST_BIN, 2), book_bin(run, -10, 5);
    run = book_run(1, 0, 1e-9, 1.0);
    book_bin(run, -20, 1), book_bin(run, -10, 4);
    MAKE(made);
    ENSURE_INT(made.series[0].bin_count, 3);
    ENSURE_INT(made.series[0].bins[0].bin, SS_LEAST_BIN);
    ENSURE_INT(made.series[0].bins[1].bin, -20);
    ENSURE_INT(made.series[0].bins[2].count, 9);
    ss_statistics_free(&made);
}

TEST(cost_scales_with_the_size_of_the_problem)
{
    book_open(4, 1, 1);
    for (int p = 0; p < 4; p++) {
        book.problems[p].contacts = 10 << p;
        // the last is not solved
        ss_run_entry *run = book_run(p, 0, p == 3 ? 1.0 : 1e-9, 1e-3 * (1 << 2 * p));
        run->unknowns = 30 << p;
    }
    MAKE(made);
    ENSURE_NEAR(made.series[0].scaling[SS_BY_UNKNOWNS].slope, 2.0, 1e-14);
    ENSURE_NEAR(made.series[0].scaling[SS_BY_CONTACTS].slope, 2.0, 1e-14);
    ENSURE_NEAR(made.series[0].scaling[SS_BY_CONTACTS].r_squared, 1.0, 1e-14);
    ENSURE(isnan(made.series[0].scaling[SS_BY_MASS_RATIO].slope)); // all the same
    ENSURE(isnan(made.series[0].scaling[SS_BY_DENSITY].slope));    // not known
    ENSURE_TEXT(ss_feature_name(SS_BY_RANK_RATIO), "rank_ratio");
    ENSURE(ss_feature_name(SS_FEATURES) == NULL);
    ss_statistics_free(&made);
}

TEST(runs_timed_alone_and_runs_that_change_their_mind)
{
    book_open(2, 1, 1);
    ss_run_entry *first = book_run(0, 0, 1e-9, 1.0), *second = book_run(1, 0, 1e-9, 1.0);
    book_sample(first, 0.5);
    first->steady = false;
    MAKE(made);
    ENSURE(!made.series[0].timed);
    ENSURE_INT(made.series[0].unsteady, 1); // without repeats nothing is known about the other one
    ENSURE_CONTAINS(ADVICE(made).text, "1 of 2 times was measured once, without --repeats, and is not "
                                       "comparable with the other.");
    ss_statistics_free(&made);
    book_sample(second, 0.5);
    second->steady = true;
    MAKE(again);
    ENSURE(again.series[0].timed);
    ENSURE(!strstr(ADVICE(again).text, "measured once"));
    ss_statistics_free(&again);
}

TEST(times_of_two_kinds_are_not_compared_without_a_word)
{
    book_open(2, 2, 1); // the ledgers of two campaigns, one of them with repeats
    for (int p = 0; p < 2; p++) {
        book_run(p, 0, 1e-9, 1.0);
        book_sample(book_run(p, 1, 1e-9, 1.0), 0.5);
    }
    MAKE(made);
    ENSURE_CONTAINS(ADVICE(made).text, "2 of 4 times were measured once, without --repeats, and are not "
                                       "comparable with the others.");
    ss_statistics_free(&made);

    book_open(1, 1, 2); // on two machines they are not compared
    book_run(0, 0, 1e-9, 1.0);
    ss_run_entry *elsewhere = book_run(0, 0, 1e-9, 2.0);
    elsewhere->machine = 1;
    book_sample(elsewhere, 2.0);
    MAKE(alike);
    ENSURE_CONTAINS(ADVICE(alike).text, "Times were measured once, without --repeats: ignore small");
    ss_statistics_free(&alike);
}

/* ---- as JSON ----------------------------------------------------------------------------------------- */

static const ss_report_options plainly = {.title = "t <b>", .ledger = "l.db", .created = "now"};

TEST(json_says_null_for_what_does_not_apply)
{
    three_by_three();
    MAKE(made);
    ss_text text = {0};
    ss_report_json(&book.results, &made, &plainly, &text);
    ENSURE(!text.out_of_memory);
    ENSURE(!strstr(text.data, "\"nan\"") && !strstr(text.data, "\"inf\""));
    ENSURE_CONTAINS(text.data, "\"density\":null");
    ENSURE_CONTAINS(text.data, "\"metrics\":{\"energy\":[null,null,null,null,null,null,null,null,null]");
    ENSURE_CONTAINS(text.data, "\"advice\":[{\"series\":0,\"reliable\":true,");
    ENSURE_CONTAINS(text.data, "\"title\":\"t <b>\"");
    ENSURE_CONTAINS(text.data, "-f cone -s nsgs --stop 'natural_map<1e-8' --keep last --iterations 0 --seed "
                               "0 --every-iteration\"");
    ss_text_clear(&text);
    ss_report_options inside = plainly;
    inside.inside_html = true;
    ss_report_json(&book.results, &made, &inside, &text);
    ENSURE(!strchr(text.data, '<'));
    ss_text_free(&text);
    ss_statistics_free(&made);
}

TEST(words_of_a_strangers_ledger_do_not_reach_the_shell)
{
    book_open(1, 1, 1);
    book_run(0, 0, 1e-9, 1.0);
    book.methods[0].set = word("omega=1.3 name=$(id)';x");
    MAKE(made);
    ss_text text = {0};
    ss_report_json(&book.results, &made, &plainly, &text);
    ENSURE_CONTAINS(text.data, "-s nsgs --set omega=1.3 --set 'name=$(id)'\\\\'';x' --stop");
    ss_text_free(&text);
    ss_statistics_free(&made);
}

/* Long curves are thinned: every point that is left is a point of the curve, and the ends stay. */
TEST(long_curves_are_thinned_to_points_of_their_own)
{
    enum { LONG = 1000 };
    static double x[LONG], y[LONG];
    book_open(1, 1, 1);
    book_run(0, 0, 1e-9, 1.0);
    MAKE(made);
    for (int i = 0; i < LONG; i++) x[i] = i, y[i] = i / 2.0;
    made.series[0].scores[0].profile = (ss_curve){x, y, LONG};
    ss_text text = {0};
    ss_report_json(&book.results, &made, &plainly, &text);
    const char *begin = text.data ? strstr(text.data, "\"profile\":{\"x\":[") : NULL;
    ENSURE(begin != NULL);
    int points = 0, commas = 0;
    for (const char *s = begin; *s != ']'; s++) commas += *s == ',';
    points = commas + 1;
    ENSURE_INT(points, 300);
    ENSURE_CONTAINS(begin, "\"profile\":{\"x\":[0,3,6,10,");
    ENSURE_CONTAINS(begin, ",999],\"y\":[0,1.5,3,5,");
    ENSURE_CONTAINS(begin, ",499.5]}");
    ss_text_free(&text);
    ss_statistics_free(&made);
}

/* ---- lack of memory ---------------------------------------------------------------------------------- */

TEST(lack_of_memory_is_told_and_leaks_nothing)
{
    three_by_three();
    book_history(&book.runs[0], 1, 0.1, 1.0);
    book_bin(&book.runs[0], -3, 1);
    for (int n = 1; n < 10000; n++) {
        ss_statistics made = {0};
        ss_error err = {0};
        ss_text text = {0};
        faults_start(n);
        bool good = ss_statistics_make(&book.results, NULL, &made, &err);
        if (good) ss_report_json(&book.results, &made, &plainly, &text);
        bool whole = good && !text.out_of_memory;
        ss_text_free(&text);
        ss_statistics_free(&made);
        long live = faults.live;
        bool reached = faults_stop();
        ENSURE_INT(live, 0);
        ENSURE(whole == !reached);
        ENSURE(good || err.code == SS_ERROR_RESOURCES);
        if (!reached) return;
    }
    ENSURE(!"it never went through");
}

TEST_MAIN
