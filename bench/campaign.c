/* bench/campaign.c - what the machinery of campaigns costs: many tiny solves through workers, pipes and
 * ledger, against the seconds of the solves alone. One worker, so that nothing is hidden behind another one.
 *
 *     bench_campaign [FRAMES]
 */
#include "campaign/execute.h"

#include <stickslip/dataset.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define METHODS 4

/* A block of 1 kg on the floor, on four contacts; every frame slides a bit faster. */
static ss_frame *make_frame(int number, ss_error *err)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 4, err);
    if (!frame) return NULL;
    frame->h = 0.01;
    frame->bodies.mass[0] = 1.0;
    frame->bodies.position[0][2] = 0.5;
    for (int k = 0; k < 3; k++) frame->bodies.inertia[0][4 * k] = 1.0 / 6.0;
    frame->bodies.velocity[0][0] = 0.01 * number;
    frame->bodies.force[0][2] = -9.81;
    for (int c = 0; c < 4; c++) {
        frame->contacts.pair[c][1] = 0;
        frame->contacts.point[c][0] = c & 1 ? 0.5 : -0.5;
        frame->contacts.point[c][1] = c & 2 ? 0.5 : -0.5;
        frame->contacts.normal[c][2] = 1.0;
        frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.5;
    }
    return frame;
}

static bool write_frames(const char *path, int count, ss_error *err)
{
    ss_writer *writer = ss_writer_open(path, SS_LAYOUT_CANONICAL, false, err);
    if (!writer) return false;
    for (int i = 0; i < count; i++) {
        ss_frame *frame = make_frame(i, err);
        bool good = frame && ss_writer_frame(writer, frame, err);
        ss_frame_destroy(frame);
        if (good) continue;
        ss_writer_discard(writer);
        return false;
    }
    return ss_writer_close(writer, err);
}

static bool describe(ss_campaign *campaign, const char *path, ss_error *err)
{
    static const char *cone[] = {"cone"}, *solvers[METHODS] = {"nsgs", "pgs", "jacobi", "psor"};
    if (!ss_campaign_create(campaign, err)) return false;
    campaign->sources = ss_campaign_room(campaign, 1, sizeof *campaign->sources, err);
    campaign->selections = ss_campaign_room(campaign, 1, sizeof *campaign->selections, err);
    if (!campaign->sources || !campaign->selections) return false;
    campaign->sources[0] = (ss_campaign_source){path, NULL, 1};
    campaign->selections[0] = (ss_selection){.formulations = cone,
                                             .formulation_count = 1,
                                             .solvers = solvers,
                                             .solver_count = METHODS,
                                             .where = ""};
    campaign->source_count = campaign->selection_count = campaign->jobs = 1;
    campaign->options.iterations = 20;
    return true;
}

static double sum_of_seconds(ss_ledger *ledger, ss_error *err)
{
    ss_results results = {0};
    double sum = 0.0;
    if (ss_ledger_load(ledger, &results, err))
        for (int i = 0; i < results.run_count; i++) sum += results.runs[i].seconds;
    ss_results_free(&results);
    return sum;
}

/* s of all processors, by this process and its workers: other programs on the machine do not count. */
static double processor_seconds(void)
{
    double sum = 0.0;
    const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (int i = 0; i < 2; i++) {
        struct rusage used;
        getrusage(whose[i], &used);
        sum += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    }
    return sum;
}

static void print(const ss_campaign_summary *summary, double wall, double processor, double solving)
{
    double overhead = 1e3 * (summary->solving_time - solving) / summary->done;
    printf("runs                 %d (%d problems, %d methods)\n", summary->done, summary->problems,
           summary->methods);
    printf("everything           %.3f s\n", wall);
    printf("solving stage        %.3f s, of which solvers %.3f s\n", summary->solving_time, solving);
    printf("overhead per solve   %.3f ms (assembling, measuring, judging, pipes and ledger), limit 2 ms\n",
           overhead);
    printf("inspection included  %.3f ms; of processor time %.3f ms\n",
           1e3 * (wall - solving) / summary->done, 1e3 * (processor - solving) / summary->done);
}

static bool measure(const char *folder, int frames, bool *good_enough, ss_error *err)
{
    char path[300], results[300];
    ss_campaign campaign = {0};
    ss_campaign_summary summary = {0};
    ss_campaign_hooks hooks = {0};
    snprintf(path, sizeof path, "%s/frames.h5", folder);
    snprintf(results, sizeof results, "%s/results.db", folder);
    ss_ledger *ledger = NULL;
    bool good = write_frames(path, frames, err) && describe(&campaign, path, err) &&
                (ledger = ss_ledger_open(results, err)) != NULL;
    double began = ss_clock_seconds(), used = processor_seconds();
    good = good && ss_campaign_execute(&campaign, ledger, &hooks, &summary, err) && summary.done > 0;
    double wall = ss_clock_seconds() - began, processor = processor_seconds() - used;
    if (good) {
        double solving = sum_of_seconds(ledger, err);
        print(&summary, wall, processor, solving);
        *good_enough = (summary.solving_time - solving) / summary.done < 2e-3;
    }
    ss_ledger_close(ledger);
    ss_campaign_free(&campaign);
    unlink(path);
    unlink(results);
    return good;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/bench_campaign.XXXXXX";
    int frames = argc > 1 ? atoi(argv[1]) : 500;
    bool good_enough = false;
    ss_error err = {0};
    if (!mkdtemp(folder)) return 1;
    bool good = measure(folder, frames, &good_enough, &err);
    rmdir(folder);
    if (!good) fprintf(stderr, "%s\n", err.message);
    return good && good_enough ? 0 : 1;
}
