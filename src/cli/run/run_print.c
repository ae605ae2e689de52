/* What `stickslip run` says at the end: one table, or one JSON object. */
#include "cli/run/run.h"

#include "cli/terminal/describe.h"
#include "cli/terminal/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- adding up ------------------------------------------------------------------------------------ */

static void tally(ss_run_tally *t, double value)
{
    t->most = fmax(t->most, value);
    t->sum += value;
    t->last = value;
}

void ss_summary_begin(ss_running *run)
{
    ss_world_energy energy = ss_world_measure(run->world);
    double total = energy.kinetic + energy.potential;
    run->summary = (ss_run_summary){
        .start_energy = total, .least_energy = total, .most_energy = total, .drift_body = -1};
}

void ss_summary_step(ss_running *run)
{
    ss_run_summary *s = &run->summary;
    ss_sim_report r = ss_sim_last(run->sim);
    double energy = r.kinetic + r.potential;
    s->steps++;
    s->seconds += r.seconds;

    tally(&s->contacts, r.contacts);
    tally(&s->penetration, r.penetration);
    tally(&s->iterations, r.iterations);
    tally(&s->relative_energy, r.relative_energy);
    tally(&s->joint_error, r.joint_error);

    s->broad += r.broad;
    s->narrow += r.narrow;
    s->assembly += r.assembly;
    s->solve += r.solve;
    s->integration += r.integration;
    s->unfinished += r.status != SS_CONVERGED;
    s->finished += r.finished;
    s->finished_steps += r.finished > 0;

    // Only frames with alternatives are counted here.
    if (r.peg_solves > 0) {
        s->peg_steps++;
        s->peg_solves += r.peg_solves;
        s->peg_halved += r.halvings > 0;
        s->peg_outcomes[r.peg_status]++;
    }

    s->least_energy = fmin(s->least_energy, energy);
    s->most_energy = fmax(s->most_energy, energy);
}

/* ---- telling -------------------------------------------------------------------------------------- */

static double mean(const ss_run_summary *s, ss_run_tally t)
{
    return s->steps > 0 ? t.sum / (double)s->steps : 0.0;
}

static void put_tally(ss_json *json, const ss_run_summary *s, const char *key, ss_run_tally t)
{
    ss_json_key(json, key);
    ss_json_begin_object(json);
    ss_json_member_real(json, "most", t.most);
    ss_json_member_real(json, "mean", mean(s, t));
    ss_json_member_real(json, "last", t.last);
    ss_json_end_object(json);
}

static void put_json(ss_running *run)
{
    const ss_run_summary *s = &run->summary;
    char hash[33], options[2000];
    ss_json json = {.text = &run->command->out->text};
    ss_sim_hash(run->sim, hash);
    ss_options_print(ss_sim_option_table, &run->sim_options, options, sizeof options);
    ss_json_begin_object(&json);
    ss_json_member_text(&json, "scene", run->scene->name);
    ss_json_member_text(&json, "options", options);
    ss_json_key(&json, "steps"), ss_json_integer(&json, ss_sim_steps(run->sim));
    ss_json_member_real(&json, "time", ss_sim_time(run->sim));
    ss_json_member_real(&json, "h", run->sim_options.h);
    ss_json_key(&json, "bodies"), ss_json_integer(&json, ss_world_body_count(run->world));
    ss_json_member_real(&json, "seconds", s->seconds);
    ss_json_member_real(&json, "seconds_per_step", s->steps > 0 ? s->seconds / (double)s->steps : 0.0);

    // Measured at every step: most, mean and last.
    put_tally(&json, s, "contacts", s->contacts);
    put_tally(&json, s, "penetration", s->penetration);
    put_tally(&json, s, "iterations", s->iterations);
    put_tally(&json, s, "relative_energy", s->relative_energy);
    put_tally(&json, s, "joint_error", s->joint_error);

    // How often the stop rule was missed, and what the finisher did about it.
    ss_json_key(&json, "unfinished_steps"), ss_json_integer(&json, s->unfinished);
    ss_json_member_text(&json, "finisher", run->sim_options.finisher);
    ss_json_key(&json, "finished_islands"), ss_json_integer(&json, s->finished);
    ss_json_key(&json, "finished_steps"), ss_json_integer(&json, s->finished_steps);

    if (s->peg_steps > 0) {
        ss_json_key(&json, "peg"), ss_json_begin_object(&json);
        ss_json_key(&json, "steps"), ss_json_integer(&json, s->peg_steps);
        ss_json_key(&json, "solves"), ss_json_integer(&json, s->peg_solves);
        ss_json_key(&json, "halved"), ss_json_integer(&json, s->peg_halved);
        for (int i = 0; i <= SS_PEG_JAMMED; i++)
            ss_json_key(&json, ss_peg_status_name((ss_peg_status)i)),
                ss_json_integer(&json, s->peg_outcomes[i]);
        ss_json_end_object(&json);
    }

    // What the run came to.
    ss_json_member_real(&json, "drift", s->drift);
    ss_json_key(&json, "drift_body"), ss_json_integer(&json, s->drift_body);
    ss_json_member_real(&json, "turn", s->turn);
    ss_json_member_real(&json, "start_energy", s->start_energy);
    ss_json_member_real(&json, "least_energy", s->least_energy);
    ss_json_member_real(&json, "most_energy", s->most_energy);
    ss_sim_report last = ss_sim_last(run->sim);
    ss_json_member_real(&json, "kinetic", last.kinetic);
    ss_json_member_real(&json, "potential", last.potential);
    ss_json_member_real(&json, "energy", last.kinetic + last.potential);
    ss_json_key(&json, "profile");
    ss_json_begin_object(&json);
    ss_json_member_real(&json, "broad", s->broad);
    ss_json_member_real(&json, "narrow", s->narrow);
    ss_json_member_real(&json, "assembly", s->assembly);
    ss_json_member_real(&json, "solve", s->solve);
    ss_json_member_real(&json, "integration", s->integration);
    ss_json_end_object(&json);

    ss_scene_result figures[SS_SCENE_FIGURES];
    int count = ss_running_figures(run, figures);
    ss_json_key(&json, "figures");
    ss_json_begin_object(&json);
    for (int i = 0; i < count; i++) ss_json_member_real(&json, figures[i].name, figures[i].value);
    ss_json_end_object(&json);
    ss_json_member_text(&json, "hash", hash);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

static void print_line(ss_out *out, const char *label, const char *format, ...) SS_PRINTF(3, 4);
static void print_line(ss_out *out, const char *label, const char *format, ...)
{
    char words[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    ss_describe_item(out, label, words);
}

static void print_text(ss_running *run)
{
    ss_out *out = run->command->out;
    const ss_run_summary *s = &run->summary;
    ss_sim_report last = ss_sim_last(run->sim);
    double per_step = s->steps > 0 ? s->seconds / (double)s->steps : 0.0;
    ss_describe_title(out, run->scene->name, run->scene->summary);
    print_line(out, "time", "%lld steps of %g s, %.6g s in all", (long long)ss_sim_steps(run->sim),
               run->sim_options.h, ss_sim_time(run->sim));
    print_line(out, "cost", "%.3g s wall time (%.4g ms per step, %.3g x real time)", s->seconds,
               1e3 * per_step, per_step > 0.0 ? run->sim_options.h / per_step : 0.0);
    print_line(out, "bodies", "%d, with %d contacts at the end (maximum %.0f)",
               ss_world_body_count(run->world), last.contacts, s->contacts.most);

    // Which solver did it, and how often it needed help.
    char finished[96] = "";
    if (strcmp(run->sim_options.finisher, "none") != 0)
        snprintf(finished, sizeof finished, " then %s (%lld islands in %lld steps)",
                 run->sim_options.finisher, (long long)s->finished, (long long)s->finished_steps);
    if (run->sim_options.fast)
        print_line(out, "solver", "real-time steps of %d small steps each; no stop rule",
                   run->sim_options.small_steps);
    else
        print_line(out, "solver",
                   "%s%s: %.4g iterations per step (maximum %.0f); stop rule missed in %lld of %lld steps",
                   run->sim_options.solver, finished, mean(s, s->iterations), s->iterations.most,
                   (long long)s->unfinished, (long long)s->steps);
    if (s->peg_steps > 0)
        print_line(
            out, "alternatives",
            "in %lld steps, %lld of them done in pieces; %lld ordinary frames solved; %lld steps held, "
            "%lld in a cycle, %lld jammed",
            (long long)s->peg_steps, (long long)s->peg_halved, (long long)s->peg_solves,
            (long long)s->peg_outcomes[SS_PEG_HELD], (long long)s->peg_outcomes[SS_PEG_CYCLE],
            (long long)s->peg_outcomes[SS_PEG_JAMMED]);

    print_line(out, "penetration", "%.3g m at the end, maximum %.3g m", last.penetration,
               s->penetration.most);
    print_line(out, "drift", "largest displacement %.3g m (body %d), largest rotation %.3g rad", s->drift,
               s->drift_body, s->turn);
    print_line(out, "energy",
               "%.6g J (kinetic %.6g J, potential %.6g J); %.6g J at the start, maximum %.6g J",
               last.kinetic + last.potential, last.kinetic, last.potential, s->start_energy, s->most_energy);
    if (ss_world_joint_count(run->world) > 0)
        print_line(out, "joints", "error %.3g at the end, maximum %.3g (m, rad)", last.joint_error,
                   s->joint_error.most);

    double whole = s->seconds > 0.0 ? s->seconds : 1.0;
    print_line(
        out, "profile",
        "broad phase %.0f %%, narrow phase %.0f %%, assembly %.0f %%, solve %.0f %%, integration %.0f %%",
        100 * s->broad / whole, 100 * s->narrow / whole, 100 * s->assembly / whole, 100 * s->solve / whole,
        100 * s->integration / whole);

    // What the scene itself measures.
    ss_scene_result figures[SS_SCENE_FIGURES];
    int count = ss_running_figures(run, figures);
    for (int i = 0; i < count; i++)
        print_line(out, figures[i].name, "%.6g %s", figures[i].value, figures[i].unit);

    char hash[33];
    ss_sim_hash(run->sim, hash);
    print_line(out, "state hash", "%s", hash);
}

void ss_summary_print(ss_running *run)
{
    // How far the bodies are from where they started, and how much they have turned.
    ss_run_summary *s = &run->summary;
    s->drift = s->turn = 0.0;
    s->drift_body = -1;
    for (int b = 0; b < ss_world_body_count(run->world); b++) {
        const ss_body *body = ss_world_body(run->world, b);
        const double *p = body->position, *start = run->start_pose[b];
        if (body->kind != SS_DYNAMIC) continue;
        double x = p[0] - start[0], y = p[1] - start[1], z = p[2] - start[2];
        double moved = sqrt(x * x + y * y + z * z), cosine = 0.0;
        for (int i = 0; i < 4; i++) cosine += body->quaternion[i] * start[3 + i];
        s->turn = fmax(s->turn, 2.0 * acos(fmin(fabs(cosine), 1.0)));
        if (s->drift_body < 0 || moved > s->drift) {
            s->drift = moved;
            s->drift_body = b;
        }
    }

    if (run->options->json)
        put_json(run);
    else
        print_text(run);
}
