#include "cli/campaigns/report_replays.h"

#include "base/file.h"
#include "cli/input.h"
#include "cli/terminal/progress.h"
#include "cli/sandbox.h"
#include "report/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_MEGABYTES 25.0 /* as view has it */

/* One recording on its way to a page. */
typedef struct replay_work {
    const ss_command *command;
    const ss_results *results;
    const ss_statistics *statistics;
    const char *file; /* as the ledger calls it */
    char path[4096];  /* where it is */
    int methods[SS_REPLAY_MOST_RESULTS];
    char names[SS_REPLAY_MOST_RESULTS][64]; /* of their answers */
    ss_session *sessions[SS_REPLAY_MOST_RESULTS];
    int count;
    ss_bpmd *in;
    ss_writer *out;
    ss_tally tally;
} replay_work;

/* ---- names ------------------------------------------------------------------------------------------ */

/* Letters, digits and a few signs: for names of files and of results. */
static void plain_name(const char *words, char *name, size_t size)
{
    size_t length = 0;
    for (; *words && length + 1 < size; words++) {
        bool plain = (*words >= 'a' && *words <= 'z') || (*words >= 'A' && *words <= 'Z') ||
                     (*words >= '0' && *words <= '9') || strchr("._=+-", *words);
        name[length++] = plain ? *words : '-';
    }
    name[length] = 0;
    if (length == 0 || name[0] == '.') name[0] = '-', name[1] = length ? name[1] : 0;
}

/* "runs/wall.h5" -> "wall", and "wall-2" where there is one already. */
static void page_name(const ss_report_links *links, const char *file, char *name, size_t size)
{
    char stem[128], page[160];
    plain_name(ss_path_name(file), stem, sizeof stem);
    char *dot = strrchr(stem, '.');
    if (dot && dot > stem) *dot = 0;
    for (int number = 1;; number++) {
        snprintf(name, size, number == 1 ? "%s" : "%s-%d", stem, number);
        snprintf(page, sizeof page, "%s.html", name);
        bool taken = false;
        for (int i = 0; i < links->count && !taken; i++)
            taken = strcmp(ss_path_name(links->replays[i].address), page) == 0;
        if (!taken) return;
    }
}

/* From the folder of the report to that of the replays, as an address: "replays/", "../pages/", "". */
static bool relative_address(const char *report, const char *directory, ss_text *address, ss_error *err)
{
    char here[4096];
    const char *slash = strrchr(report, '/');
    snprintf(here, sizeof here, "%.*s", slash ? (int)(slash - report) : 1, slash ? report : ".");
    char *from = realpath(*here ? here : "/", NULL), *to = realpath(directory, NULL);
    bool good = from && to;

    if (good) {
        size_t common = 0, end = 0; // up to the last whole folder that both have
        while (from[end] && from[end] == to[end]) {
            end++;
            bool whole = (!from[end] || from[end] == '/') && (!to[end] || to[end] == '/');
            if (whole) common = end;
        }
        if (common == 0 && from[0] == '/') common = from[1] ? 0 : 1;
        for (const char *at = from + common; *at; at++)
            if (*at == '/' && at[1]) ss_text_append(address, "../");
        for (const char *at = to + common + (to[common] == '/'); *at; at++) {
            bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                         (*at >= '0' && *at <= '9') || strchr("._~/-", *at);
            if (plain)
                ss_text_append_bytes(address, at, 1);
            else
                ss_text_appendf(address, "%%%02X", (unsigned char)*at);
        }
        if (address->length && address->data[address->length - 1] != '/') ss_text_append(address, "/");
    } else
        ss_fail(err, SS_ERROR_RESOURCES, "%s: %s", from ? directory : here, strerror(errno));

    free(from);
    free(to);
    return good && (!address->out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory"));
}

/* ---- answers ---------------------------------------------------------------------------------------- */

/* The run of a series on a frame of the file; NULL: none. */
static const ss_run_entry *run_on(const replay_work *w, const ss_series *series, int frame)
{
    for (int r = 0; r < w->results->run_count; r++) {
        const ss_run_entry *run = &w->results->runs[r];
        const ss_problem_entry *problem = &w->results->problems[run->problem];
        if (run->method == series->method && run->machine == series->machine &&
            strcmp(problem->file, w->file) == 0 && (frame < 0 || problem->index == frame))
            return run;
    }
    return NULL;
}

/* The best methods that have runs on the file, each once, and a session for each. Those that cannot be
 * made here, as solvers of plug-ins that were not loaded, are left out. */
static void choose_methods(replay_work *w, int best)
{
    for (int i = 0; i < w->statistics->series_count && w->count < best; i++) {
        const ss_series *series = &w->statistics->series[i];
        const ss_method_entry *method = &w->results->methods[series->method];
        bool is_new = true;
        for (int k = 0; k < w->count; k++) is_new = is_new && w->methods[k] != series->method;
        if (!is_new || !run_on(w, series, -1)) continue;

        // "peg=find", an option of the session, may come before those of the formulation.
        static const char mark[] = "peg=";
        char peg[32] = "";
        const char *with = method->with;
        if (strncmp(with, mark, sizeof mark - 1) == 0) { // an option of the session, not of the formulation
            size_t length = strcspn(with, " ");
            snprintf(peg, sizeof peg, "%.*s", (int)(length - (sizeof mark - 1)), with + sizeof mark - 1);
            with += length;
        }

        ss_error err = {0};
        w->sessions[w->count] = ss_session_create(&(ss_request){.formulation = method->formulation,
                                                                .with = with,
                                                                .solver = method->solver,
                                                                .set = method->set,
                                                                .stop = method->stop,
                                                                .keep = method->keep,
                                                                .iterations = method->iterations,
                                                                .time_limit = method->time_limit,
                                                                .seed = method->seed,
                                                                .skip_exact = true,
                                                                .peg = *peg ? peg : NULL},
                                                  &err);

        if (!w->sessions[w->count]) {
            ss_command_say(w->command, "note: no answers of %s in replays: %s", method->label, err.message);
            continue;
        }
        ss_session_watch(w->sessions[w->count], ss_sandbox_cancel());
        plain_name(method->label, w->names[w->count], sizeof w->names[0]);
        w->methods[w->count++] = series->method;
    }
}

static bool is_ours(const replay_work *w, const char *name)
{
    for (int k = 0; k < w->count; k++)
        if (strcmp(w->names[k], name) == 0) return true;
    return false;
}

/* The frames of the first simulation, with answers of the methods where the campaign has runs. */
static bool write_frames(replay_work *w, const char *path, ss_error *err)
{
    const ss_statistics *statistics = w->statistics;
    int total = ss_bpmd_frame_count(w->in), written = 0;
    ss_progress_line progress = ss_progress_line_begin(w->command);
    ss_manifest manifest = {0};
    bool good = ss_bpmd_manifest(w->in, 0, &manifest, err) &&
                (w->out = ss_writer_open(path, SS_LAYOUT_CANONICAL, false, err)) != NULL &&
                ss_writer_simulation(w->out, &manifest, err) &&
                ss_input_copy_shapes(w->in, 0, w->out, &w->tally, err);
    ss_manifest_free(&manifest);
    for (int i = 0; good && i < total && !ss_sandbox_interrupted(); i++) {
        if (ss_bpmd_frame_simulation(w->in, i) != 0) break;
        char place[256];
        ss_bpmd_frame_path(w->in, i, place, sizeof place);
        ss_frame *frame = ss_input_read_frame(w->in, i, place, &w->tally, err);
        if (!frame && err->code != SS_ERROR_INPUT) good = false;
        if (!frame) continue; // it has a fault, and no runs
        good = ss_writer_frame(w->out, frame, err) && ss_input_copy_scenery(w->in, i, w->out, &w->tally, err);

        // Answers that were in the recording stay.
        int count = good ? ss_bpmd_result_count(w->in, i, err) : -1;
        good = count >= 0;
        for (int r = 0; good && r < count; r++) {
            ss_stored_result result = {0};
            good = ss_bpmd_result(w->in, i, r, &result, err);
            if (good && !is_ours(w, result.solver)) good = ss_writer_result(w->out, &result, err);
            ss_stored_result_free(&result);
        }

        // Then those of the methods.
        for (int k = 0; good && k < w->count; k++) {
            const ss_series *series = NULL;
            for (int s = 0; s < statistics->series_count && !series; s++)
                if (statistics->series[s].method == w->methods[k]) series = &statistics->series[s];
            if (!series || !run_on(w, series, i)) continue;
            const ss_result *result = ss_session_solve(w->sessions[k], frame, NULL, err);
            good = result != NULL;
            if (!good || result->refusal) continue;
            ss_stored_result stored = {.solver = w->names[k],
                                       .answer = (ss_answer *)(uintptr_t)result->answer,
                                       .iterations = result->run.iterations,
                                       .error = result->run.gauge[SS_GAUGE_RELATIVE_ENERGY],
                                       .seconds = result->run.seconds};
            good = ss_writer_judged_result(w->out, &stored, ss_session_assembly(w->sessions[k]),
                                           result->metrics, result->contacts, err);
        }
        ss_frame_destroy(frame);
        ss_progress_line_show(&progress, "solving for the replay, frame", i + 1, total);
        written++;
    }
    ss_progress_line_end(&progress);
    if (good && written > 0 && !ss_sandbox_interrupted()) {
        good = ss_writer_close(w->out, err);
    } else {
        ss_writer_discard(w->out);
        if (good) good = ss_fail(err, SS_ERROR_INPUT, "%s: no frame to show", w->path);
    }
    w->out = NULL;
    return good;
}

/* ---- pages ------------------------------------------------------------------------------------------ */

/* The page of one recording, with the answers that were added in a file that is gone afterwards. */
static bool write_page(replay_work *w, const char *directory, const char *name, ss_error *err)
{
    char answers[4200], page[4200];
    snprintf(answers, sizeof answers, "%s/%s.answers.h5", directory, name);
    snprintf(page, sizeof page, "%s/%s.html", directory, name);
    w->in = ss_bpmd_open(w->path, NULL, NULL, err);
    bool good = w->in != NULL && (w->count == 0 || write_frames(w, answers, err));
    ss_bpmd *shown = good && w->count > 0 ? ss_bpmd_open(answers, NULL, NULL, err) : good ? w->in : NULL;
    ss_replay_options options = {.megabytes = PAGE_MEGABYTES - 1e-6 * (double)ss_replay_page_size(),
                                 .cancel = ss_sandbox_cancel(),
                                 .result_count = w->count};
    for (int k = 0; k < w->count; k++) options.results[k] = w->names[k];

    // The answers of the recording come after ours, as far as there is room. Its frames have the same ones.
    char stored[SS_REPLAY_MOST_RESULTS][64];
    for (int i = 0, count = 0; w->in && count <= 0 && i < ss_bpmd_frame_count(w->in); i++) {
        ss_error ignored = {0};
        count = ss_bpmd_result_count(w->in, i, &ignored);
        for (int r = 0; r < count && options.result_count < SS_REPLAY_MOST_RESULTS; r++) {
            ss_stored_result result = {0};
            if (ss_bpmd_result(w->in, i, r, &result, &ignored) && !is_ours(w, result.solver) &&
                strlen(result.solver) < sizeof stored[0]) {
                char *kept = stored[options.result_count];
                snprintf(kept, sizeof stored[0], "%s", result.solver);
                options.results[options.result_count++] = kept;
            }
            ss_stored_result_free(&result);
        }
    }

    ss_findings findings = {.limit = 10};
    ss_replay *replay = shown ? ss_replay_open(shown, w->path, &options, &findings, err) : NULL;
    good = replay && ss_replay_write(replay, page, err);
    if (good) ss_command_say(w->command, "wrote %s with %d frames", page, ss_replay_shown(replay));
    ss_replay_close(replay);
    ss_findings_free(&findings);
    if (shown != w->in) ss_bpmd_close(shown);
    ss_bpmd_close(w->in);
    w->in = NULL;
    if (w->count > 0) unlink(answers);
    return good;
}

/* The address of the page, and which answer in it is that of a method. */
static bool add_link(ss_report_links *links, const replay_work *w, const ss_text *folder, const char *name,
                     ss_error *err)
{
    char *copy = ss_text_copy(w->file);
    ss_text address = {0};
    ss_text_appendf(&address, "%s%s.html", ss_text_get(folder), name);
    ss_report_link *more = ss_allocate((size_t)links->count + 1, sizeof *more);
    if (!copy || !more || address.out_of_memory) {
        ss_release(copy), ss_release(more), ss_text_free(&address);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    }
    if (links->count) memcpy(more, links->replays, (size_t)links->count * sizeof *more);
    ss_release(links->replays);
    links->replays = more;
    links->replays[links->count++] = (ss_report_link){copy, address.data};

    for (int m = 0; m < w->results->method_count; m++) {
        const ss_method_entry *method = &w->results->methods[m];
        const char *answer = ss_method_is_recorded(method) ? method->solver : NULL;
        for (int k = 0; k < w->count && !answer; k++)
            if (w->methods[k] == m) answer = w->names[k];
        if (!answer || links->answers[m]) continue;
        links->answers[m] = ss_text_copy(answer);
        if (!links->answers[m]) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    }
    return true;
}

void ss_replays_free(ss_report_links *links)
{
    for (int i = 0; i < links->count; i++) {
        ss_release((char *)(uintptr_t)links->replays[i].file);
        ss_release((char *)(uintptr_t)links->replays[i].address);
    }
    for (int m = 0; links->answers && m < links->method_count; m++) ss_release(links->answers[m]);
    ss_release(links->replays);
    ss_release(links->answers);
    *links = (ss_report_links){0};
}

bool ss_replays_write(const ss_command *command, const ss_replays_options *options, const char *report,
                      const ss_results *results, const ss_statistics *statistics, ss_report_links *links,
                      ss_error *err)
{
    const char *directory = options->directory;
    *links = (ss_report_links){.method_count = results->method_count,
                               .answers = ss_allocate((size_t)results->method_count + 1, sizeof(char *))};
    if (!links->answers) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: %s", directory, strerror(errno));

    ss_text folder = {0};
    bool good = relative_address(report, directory, &folder, err);
    for (int p = 0; good && p < results->problem_count && !ss_sandbox_interrupted(); p++) {
        const char *file = results->problems[p].file;
        bool is_new = strcmp(results->problems[p].format, "bpmd") == 0;
        for (int q = 0; q < p && is_new; q++) is_new = strcmp(results->problems[q].file, file) != 0;
        if (!is_new) continue;

        // As it was given to the campaign; where that was elsewhere, beside the ledger.
        replay_work w = {.command = command, .results = results, .statistics = statistics, .file = file};
        const char *ledger = command->arguments[0], *slash = strrchr(ledger, '/');
        snprintf(w.path, sizeof w.path, "%s", file);
        bool found = access(w.path, R_OK) == 0;
        if (!found && file[0] != '/' && slash) {
            int length = snprintf(w.path, sizeof w.path, "%.*s/%s", (int)(slash - ledger), ledger, file);
            found = length < (int)sizeof w.path && access(w.path, R_OK) == 0;
        }
        if (!found) {
            ss_command_say(command, "note: no replay of %s: the file is not there any more", file);
            continue;
        }

        char name[128];
        ss_error own = {0};
        page_name(links, file, name, sizeof name);
        choose_methods(&w, options->best);
        if (write_page(&w, directory, name, &own))
            good = add_link(links, &w, &folder, name, err);
        else if (own.code == SS_ERROR_INPUT)
            ss_command_say(command, "note: no replay of %s: %s", file, own.message);
        else
            *err = own, good = false;
        for (int k = 0; k < w.count; k++) ss_session_destroy(w.sessions[k]);
        ss_tally_free(&w.tally);
    }
    ss_text_free(&folder);
    return good;
}

const ss_option ss_replays_option_table[] = {
    {SS_FLAG_AS("replays", TEXT, ss_replays_options, directory), .value_name = "DIR",
     .help =
         "With -o FILE.html: also write a replay of every recording of the campaign into this directory, "
         "which is created if necessary. Runs of the report then open at their frame, method and contact."},
    {SS_FLAG_AS("replay_best", INT, ss_replays_options, best), .default_value = "4", .min = 0,
     .max = SS_REPLAY_MOST_RESULTS, .value_name = "N",
     .help =
         "Solve the frames of the campaign again with its best N methods, for their answers in the replays; "
         "0 = only the answers that the recordings hold."},
    {0}};
