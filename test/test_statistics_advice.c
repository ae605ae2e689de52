/* What reports conclude from a campaign: who competes with whom, what is missing, which solver to use,
 * and what there is to say about nothing. */
#include "statistics_book.h"

/* ---- machines, faults, what is missing ---------------------------------------------------------------- */

TEST(machines_do_not_compete)
{
    book_open(1, 2, 2);
    book_run(0, 0, 1e-9, 1.0);
    book_run(0, 1, 1e-9, 2.0);
    book_run(0, 1, 1e-9, 50.0)->machine = 1;
    MAKE(made);
    ENSURE_INT(made.series_count, 3);
    const ss_score *slow = score(&made, "beta @ Ryzen 9 7950X");
    ENSURE(slow != NULL);
    ENSURE_NEAR(slow->profile.x[0], 1.0, 0.0); // the best of its machine
    ENSURE_NEAR(score(&made, "beta @ Xeon Gold 6148")->profile.x[0], 2.0, 0.0);
    ENSURE_CONTAINS(ADVICE(made).text, "different machines");
    ss_statistics_free(&made);
}

/* The faster machine does not make a method the better one. */
TEST(advice_is_a_method_and_tells_of_every_machine)
{
    book_open(2, 2, 2);
    for (int p = 0; p < 2; p++) {
        book_run(p, 0, 1e-9, 9.0), book_run(p, 1, 1e-9, 10.0); // 1 and 1.1 of the best ...
        book_run(p, 0, 1e-9, 2.0)->machine = 1, book_run(p, 1, 1e-9, 1.0)->machine = 1; // ... 2 and 1
    }
    MAKE(made);
    ENSURE_INT(made.series[ADVICE(made).series].method, 1);
    ENSURE_CONTAINS(ADVICE(made).text, "Use beta: on Ryzen 9 7950X it solves 2 of 2 problems");
    ENSURE_CONTAINS(ADVICE(made).text, " On Xeon Gold 6148 it solves 2 of 2 problems, in 10 s each.");
    ENSURE(!strstr(ADVICE(made).text, "@"));
    ss_statistics_free(&made);
}

TEST(machines_with_the_same_processor_are_numbered)
{
    book_open(1, 1, 2);
    book.machines[0].cpu = book.machines[1].cpu = word("AMD");
    book_run(0, 0, 1e-9, 1.0);
    MAKE(made);
    ENSURE_TEXT(made.machines[0].text, "AMD"); // nothing would be left of it
    ENSURE_TEXT(made.machines[1].text, "AMD (2)");
    ss_statistics_free(&made);
}

TEST(problems_with_faults_are_left_out)
{
    book_open(2, 1, 2); // the second machine has no runs: labels stay short
    book.problems[0].fault = word("negative mass");
    book_run(0, 0, 1e-9, 1.0);
    book_run(1, 0, 1e-9, 1.0);
    MAKE(made);
    ENSURE_TEXT(made.series[0].label, "alpha");
    ENSURE_INT(made.series[0].scores[1].solved, 1);
    ENSURE_INT(made.series[0].outcomes[SS_CONVERGED], 1);
    ENSURE_NEAR(made.series[0].scores[1].profile.y[0], 1.0, 0.0);
    ss_statistics_free(&made);
}

TEST(an_unfinished_matrix_says_so)
{
    book_open(3, 1, 1);
    book_run(0, 0, 1e-9, 1.0);
    MAKE(made);
    ENSURE_INT(made.series[0].scores[1].missing, 2);
    ENSURE_NEAR(made.series[0].scores[1].rate, 1.0, 0.0);
    ENSURE_NEAR(made.series[0].scores[1].profile.y[0], 1.0 / 3.0, rounding);
    ENSURE_CONTAINS(ADVICE(made).text, "not finished: 2 runs are missing");
    ss_statistics_free(&made);
}

TEST(nothing_at_all)
{
    book_open(0, 0, 0);
    MAKE(made);
    ENSURE_INT(made.series_count, 0);
    ENSURE_INT(made.pair_count, 0);
    ENSURE_INT(ADVICE(made).series, -1);
    ENSURE_CONTAINS(ADVICE(made).text, "no runs yet");
    ss_statistics_free(&made);
    book_open(3, 2, 1); // problems and methods, but no run
    MAKE(again);
    ENSURE_INT(again.series_count, 0);
    ss_statistics_free(&again);
}

TEST(everything_failed)
{
    book_open(2, 2, 1);
    for (int p = 0; p < 2; p++) {
        book_end(p, 0, SS_OUTCOME_CRASHED);
        book_run(p, 1, 0.5, 1.0)->outcome = (ss_outcome)SS_MAX_ITERATIONS;
    }
    MAKE(made);
    ENSURE_INT(ADVICE(made).series, -1);
    ENSURE_INT(made.series[0].scores[0].failed, 2);
    ENSURE_INT(made.series[0].scores[0].profile.count, 0);
    ENSURE(isnan(made.series[0].scores[0].cost));
    ENSURE_CONTAINS(ADVICE(made).text, "No method solves any problem to a relative energy error of 0.0001.");
    ENSURE_CONTAINS(ADVICE(made).text, "beta comes nearest, with a median error of 0.5.");
    ENSURE_CONTAINS(ADVICE(made).text, "Outcomes: 2 max iterations, 2 crashed");
    ss_statistics_free(&made);
}

TEST(the_campaign_says_what_it_asked_for)
{
    int energy = ss_metric_index("relative_energy"), map = ss_metric_index("natural_map");
    book_open(1, 2, 1); // natural_map<1e-8
    ENSURE_NEAR(ss_statistics_asked_tolerance(&book.results, energy), 0.0, 0.0);
    ENSURE_NEAR(ss_statistics_asked_tolerance(&book.results, map), 1e-8, 0.0);
    book.methods[0].stop = book.methods[1].stop = word("relative_energy<1e-8");
    ENSURE_NEAR(ss_statistics_asked_tolerance(&book.results, energy), 0.0, 0.0); // the default says nothing
    book.results.campaign = word("bench wall.h5 --tol 1e-8");
    ENSURE_NEAR(ss_statistics_asked_tolerance(&book.results, energy), 1e-8, 0.0); // unless it was said
    book.methods[1].stop = word("relative_energy<0.003");
    ENSURE_NEAR(ss_statistics_asked_tolerance(&book.results, energy), 3e-3, 0.0); // the loosest
    ss_statistics_options options = ss_statistics_defaults();
    ss_statistics_ask(&options, &book.results);
    ENSURE_INT(options.tolerance_count, 5);
    ENSURE_NEAR(options.tolerances[options.main_tolerance], 3e-3, 0.0);
}

TEST(any_metric_may_decide_what_is_solved)
{
    book_open(1, 1, 1);
    ss_run_entry *run = book_run(0, 0, 0.5, 3.0);
    *book_metric(run, "natural_map") = (ss_metric_value){.applies = true, .value = 1e-7};
    run->crossings = book.crossings[0];
    run->crossings[run->crossing_count++] = (ss_crossing){SS_GAUGE_NATURAL_MAP, 4, 2, 1.0};
    ss_statistics_options options = ss_statistics_defaults();
    options.measure = ss_metric_index("natural_map");
    ss_statistics made;
    ss_error err = {0};
    ENSURE(ss_statistics_make(&book.results, &options, &made, &err));
    ENSURE_INT(made.series[0].scores[1].solved, 1);
    ENSURE_NEAR(made.series[0].scores[1].cost_most, 1.0, 0.0);
    ENSURE_INT(made.series[0].scores[3].solved, 0);
    ENSURE_CONTAINS(ADVICE(made).text, "1 of 1 problem to natural_map 0.0001");
    ss_statistics_free(&made);
}

TEST(what_the_measure_does_not_apply_to_is_not_a_failure)
{
    book_open(2, 1, 1);
    for (int p = 0; p < 2; p++) book_run(p, 0, 1e-9, 1.0);
    *book_metric(&book.runs[1], "natural_map") = (ss_metric_value){.applies = true, .value = 1e-9};
    ss_statistics_options options = ss_statistics_defaults();
    options.measure = ss_metric_index("natural_map");
    ss_statistics made;
    ss_error err = {0};
    ENSURE(ss_statistics_make(&book.results, &options, &made, &err));
    ENSURE_INT(made.series[0].scores[1].solved, 1);
    ENSURE_INT(made.series[0].scores[1].refused, 1);
    ENSURE_NEAR(made.series[0].scores[1].rate, 1.0, 0.0);
    ss_statistics_free(&made);
}

TEST(options_that_make_no_sense_are_refused)
{
    ss_statistics_options options = ss_statistics_defaults();
    ss_statistics made;
    ss_error err = {0};
    book_open(1, 1, 1);
    options.main_tolerance = 4;
    ENSURE(!ss_statistics_make(&book.results, &options, &made, &err));
    ENSURE_CONTAINS(err.message, "main tolerance");
    options = (ss_statistics_options){0};
    ENSURE(!ss_statistics_make(&book.results, &options, &made, &err));
    ENSURE_INT(err.code, SS_ERROR_USAGE);
}

/* ---- advice ------------------------------------------------------------------------------------------ */

TEST(advice_names_what_to_use_what_it_costs_and_what_fails)
{
    three_by_three();
    book_metric(&book.runs[7], "relative_energy")->value = 0.5; // beta does not solve problem 2
    book.runs[4].seconds = 3.5;
    MAKE(made);
    // 2 of 3 each: sqrt(1 * 6) s, beta sqrt(2 * 3.5) s
    ENSURE_TEXT(made.series[ADVICE(made).series].label, "alpha");
    ENSURE_CONTAINS(ADVICE(made).text,
                    "Use alpha: it solves 2 of 3 problems to a relative energy error of 0.0001");
    ENSURE_CONTAINS(ADVICE(made).text, "in 2.45 s each");
    ENSURE_CONTAINS(ADVICE(made).text, "at most 6 s");
    ENSURE_CONTAINS(ADVICE(made).text, "Most accurate is gamma with a median error of 1e-07");
    ENSURE_CONTAINS(ADVICE(made).text,
                    "No method solves everything: alpha fails at wall.h5 frame 2 (crashed).");
    ENSURE_CONTAINS(ADVICE(made).text,
                    "have the same success rate within the 95 % interval, beta first (2 of 3");
    ENSURE_CONTAINS(ADVICE(made).text, "There are only 3 problems");
    ENSURE(!strstr(ADVICE(made).text, "No method solves wall.h5"));
    ss_statistics_free(&made);
}

TEST(advice_prefers_a_solver_that_solves_more_to_one_that_takes_little)
{
    book_open(4, 2, 1);
    for (int p = 0; p < 4; p++) book_run(p, 0, p == 3 ? 1.0 : 1e-9, 1.0);
    book_run(0, 1, 1e-12, 0.1);
    for (int p = 1; p < 4; p++) book_end(p, 1, (ss_outcome)SS_NOT_APPLICABLE);
    MAKE(made);
    ENSURE_NEAR(score(&made, "beta")->rate, 1.0, 0.0); // 1 of 1
    ENSURE_TEXT(made.series[0].label, "alpha");
    ENSURE_INT(ADVICE(made).series, 0);
    ENSURE_INT(ADVICE(made).fastest, ADVICE(made).series); // beta solves less than half as many
    ENSURE_INT(ADVICE(made).most_accurate, ADVICE(made).series);
    ENSURE_CONTAINS(ADVICE(made).text, "It is also the fastest and the most accurate (median error 1e-09).");
    ENSURE_CONTAINS(ADVICE(made).text, "No method solves wall.h5 frame 3.");
    ss_statistics_free(&made);
}

/* Masses of 1, 10, 100, ...: it fails from 1000 on. */
TEST(advice_says_where_it_fails)
{
    book_open(8, 1, 1);
    for (int p = 0; p < 8; p++) {
        book.problems[p].mass_ratio = pow(10.0, p % 6);
        book_run(p, 0, p % 6 > 2 ? 1.0 : 1e-9, 1.0);
    }
    MAKE(made);
    ENSURE_TEXT(score(&made, "alpha")->why,
                "fails where the mass ratio exceeds 100 (3 of 3 there, 0 of 5 elsewhere)");
    ENSURE_CONTAINS(ADVICE(made).text, " alpha fails where the mass ratio exceeds 100 (3 of 3 there, 0 of 5");
    ss_statistics_free(&made);
    book_metric(&book.runs[3], "relative_energy")->value = 1e-9; // two failures are too few
    MAKE(again);
    ENSURE(score(&again, "alpha")->why == NULL);
    ss_statistics_free(&again);
}

TEST(problems_with_redundant_rows_are_the_hard_ones)
{
    book_open(6, 1, 1);
    for (int p = 0; p < 6; p++) {
        book.problems[p].rank_ratio = 0.5 + 0.1 * p;
        book_run(p, 0, p < 3 ? 1.0 : 1e-9, 1.0);
    }
    MAKE(made);
    ENSURE_TEXT(score(&made, "alpha")->why,
                "fails where the ratio of rank to rows is below 0.8 (3 of 3 there, 0 of 3 elsewhere)");
    ss_statistics_free(&made);
}

/* 20 of 20: 84 to 100 %. 10 of 20: 30 to 70 %; 17 of 20: 64 to 95 %. */
TEST(advice_speaks_of_overlap_only_where_there_is_some)
{
    for (int solved = 10; solved <= 17; solved += 7) {
        book_open(20, 2, 1);
        for (int p = 0; p < 20; p++) {
            book_run(p, 0, 1e-9, 2.0);
            book_run(p, 1, p < solved ? 1e-9 : 1.0, 1.0);
        }
        MAKE(made);
        ENSURE(!strstr(ADVICE(made).text, "the same success rate") == (solved == 10));
        ENSURE(!strstr(ADVICE(made).text, "No method solves everything"));
        ENSURE(!strstr(ADVICE(made).text, "There are only"));
        ENSURE_CONTAINS(ADVICE(made).text, "Faster where it works is beta, 2 times as fast on the 1");
        ss_statistics_free(&made);
    }
}

/* Three problems of a wall, which alpha solves, and one of a pile, which only beta does. */
TEST(scenes_have_their_own_best_and_the_advice_says_where_it_is_another)
{
    book_open(4, 2, 1);
    book.problems[0].scene = word("pile");
    book_end(0, 0, (ss_outcome)SS_STALLED);
    book_run(0, 1, 1e-9, 2.0);
    for (int p = 1; p < 4; p++) {
        book_run(p, 0, 1e-9, 0.5);
        if (p < 3) book_run(p, 1, 1e-9, 0.25);
    }
    MAKE(made);
    int main = made.options.main_tolerance;
    ENSURE_INT(made.scene_count, 2);
    const ss_scene_standing *pile = &made.scenes[0], *wall = &made.scenes[1];
    ENSURE_TEXT(pile->name, "pile");
    ENSURE_INT(pile->problems, 1);
    ENSURE_INT(wall->problems, 3);
    ENSURE_TEXT(made.series[0].label, "alpha"); // both solve three; it is cheaper
    ENSURE_TEXT(made.series[pile->best[main].series].label, "beta");
    ENSURE_NEAR(pile->best[main].cost, 2.0, 1e-9);
    ENSURE_INT(pile->first[main].solved, 0);
    ENSURE(isnan(pile->first[main].cost));
    ENSURE_TEXT(made.series[wall->best[main].series].label, "alpha"); // beta is faster, but solves fewer
    ENSURE_INT(wall->best[main].solved, 3);
    ENSURE_CONTAINS(ADVICE(made).text, " On pile use beta, which solves 1 of 1 there, not 0.");
    ENSURE(!strstr(ADVICE(made).text, "On wall"));
    ss_statistics_free(&made);
}

TEST(an_unsolved_scene_has_no_best)
{
    book_open(1, 1, 1);
    book_end(0, 0, (ss_outcome)SS_STALLED);
    MAKE(made);
    ENSURE_INT(made.scene_count, 1);
    ENSURE_INT(made.scenes[0].best[made.options.main_tolerance].series, -1);
    ss_statistics_free(&made);
}

/* ---- like with like ------------------------------------------------------------------------------------ */

/* The demo of old: beta fails at the hard problem, so that its mean over what it solved is the least of all;
 * yet alpha is faster on every problem that both solve.
 * Seconds:      alpha  beta
 * problem 0       1      3
 * problem 1       2      4
 * problem 2      90      -  */
static void easy_and_hard(void)
{
    book_open(3, 2, 1);
    book_run(0, 0, 1e-9, 1.0), book_run(0, 1, 1e-9, 3.0);
    book_run(1, 0, 1e-9, 2.0), book_run(1, 1, 1e-9, 4.0);
    book_run(2, 0, 1e-9, 90.0), book_end(2, 1, (ss_outcome)SS_STALLED);
}

TEST(a_solver_that_fails_at_the_hard_problems_is_not_the_fastest)
{
    easy_and_hard();
    MAKE(made);
    const ss_score *alpha = score(&made, "alpha"), *beta = score(&made, "beta");
    ENSURE(beta->cost_solved < alpha->cost_solved); // what was compared once
    ENSURE(beta->cost > alpha->cost);
    ENSURE_INT(beta->common, 3);
    ENSURE_NEAR(beta->cost, cbrt(3.001 * 4.001 * (SS_PENALTY * 90.0 + 0.001)) - 0.001, 1e-12);
    ENSURE_NEAR(beta->cost_median, 4.0, 0.0);
    ENSURE_INT(beta->versus.shared, 2);
    ENSURE_INT(beta->versus.faster, 0);
    ENSURE_NEAR(beta->versus.factor, sqrt(3.0 * 2.0), rounding * 4);
    ENSURE_INT(ADVICE(made).fastest, ADVICE(made).series);
    ENSURE_CONTAINS(ADVICE(made).text, "It is also the fastest");
    ss_statistics_free(&made);
}

TEST(a_solver_that_is_faster_where_it_works_is_named_with_what_it_leaves)
{
    easy_and_hard();
    book.runs[1].seconds = 0.25, book.runs[3].seconds = 0.5;
    MAKE(made);
    ENSURE_TEXT(made.series[ADVICE(made).series].label, "alpha");
    ENSURE_TEXT(made.series[ADVICE(made).fastest].label, "beta");
    ENSURE_CONTAINS(ADVICE(made).text,
                    "Faster where it works is beta, 4 times as fast on the 2 problems that "
                    "both solve (faster on 2); it leaves 1 unsolved.");
    ss_statistics_free(&made);
}

/* One problem more than half decides less than the many. */
TEST(faster_in_the_mean_by_one_problem_alone_is_not_faster)
{
    book_open(3, 2, 1);
    for (int p = 0; p < 3; p++) book_run(p, 0, 1e-9, 1.0);
    for (int p = 0; p < 2; p++) book_run(p, 1, 1e-9, p ? 1.5 : 0.01);
    MAKE(made);
    ENSURE(score(&made, "beta")->versus.factor < 1.0);
    ENSURE_INT(ADVICE(made).fastest, ADVICE(made).series);
    ss_statistics_free(&made);
}

/* Problems that no series solves cost nothing: they are the same for all. */
TEST(problems_without_a_solution_are_on_no_bill)
{
    easy_and_hard();
    book_metric(&book.runs[4], "relative_energy")->value = 1.0;
    MAKE(made);
    ENSURE_INT(score(&made, "alpha")->common, 2);
    ENSURE_NEAR(score(&made, "alpha")->cost, score(&made, "alpha")->cost_solved, 0.0);
    ss_statistics_free(&made);
}

/* A run of another formulation is known as a whole only; then all of them count as a whole. */
TEST(all_formulations_are_timed_by_one_clock)
{
    book_open(1, 2, 1);
    ss_run_entry *cone = book_run(0, 0, 1e-9, 8.0);
    book_cross(cone, 4, 5, 1.0);
    book_run(0, 1, 1e-9, 6.0);
    MAKE(alone);
    ENSURE(alone.rule.until_solved);
    ENSURE_NEAR(score(&alone, "alpha")->cost_solved, 1.0, rounding * 4);
    ss_statistics_free(&alone);
    book.methods[1].formulation = word("box");
    MAKE(made);
    ENSURE(!made.rule.until_solved);
    ENSURE_NEAR(score(&made, "alpha")->cost_solved, 8.0, rounding * 16);
    ENSURE_TEXT(made.series[0].label, "beta");
    // iterations of the whole run too
    ENSURE_NEAR(step_at(&score(&made, "alpha")->iterations, 5.0), 0.0, 0.0);
    ss_statistics_free(&made);
}

TEST(advice_is_given_for_every_tolerance_and_has_a_floor)
{
    book_open(3, 2, 1);
    for (int p = 0; p < 3; p++) {
        book_run(p, 0, 1e-5, 1.0);
        book_run(p, 1, p ? 1e-3 : 1e-9, 2.0);
    }
    MAKE(made);
    ENSURE_TEXT(made.series[made.advice[1].series].label, "alpha");
    ENSURE(made.advice[1].is_reliable);
    ENSURE_TEXT(made.series[made.advice[3].series].label, "beta");
    ENSURE(!made.advice[3].is_reliable);
    ENSURE_CONTAINS(made.advice[3].text,
                    "No method is reliable at a relative energy error of 1e-08: the best, "
                    "beta, solves 1 of 3 problems");
    ss_statistics_free(&made);
}

TEST_MAIN
