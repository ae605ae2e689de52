/* The machinery of campaigns, without files: what becomes of workers that misbehave, what is kept of a run,
 * how a selection becomes methods. */
#include "kit.h"

#include "campaign/campaign.h"
#include "campaign/features.h"
#include "campaign/machine.h"
#include "campaign/pool.h"
#include "campaign/queue.h"
#include "campaign/record.h"
#include "session/method.h"
#include "campaign/wire.h"
#include "campaign/worker.h"

#include <signal.h>
#include <unistd.h>

/* ---- workers -------------------------------------------------------------------------------------- */

enum {
    ADD,
    CRASH,
    ABORT,
    LEAVE,
    HANG,
    LISTEN,
    TOUCH_MEMORY,
    TAKE_MEMORY,
    SAY_NOTHING,
    SCRIBBLE,
    COUNT_TASKS,
    KINDS
};

typedef struct story {
    int tasks[64], count, next;
    bool fresh;
    ss_ending endings[64];
    int64_t replies[64];
    int done;
} story;

static volatile char *volatile sink;
static ss_worker *own;

static void *be_born(void *context, ss_worker *worker)
{
    own = worker;
    return context;
}

static void take_memory(bool touch)
{
    for (;;) {
        sink = malloc((size_t)16 << 20);
        if (sink && touch) memset((void *)sink, 1, (size_t)16 << 20);
        if (!touch) *sink = 1;
        if (touch && !sink) abort();
    }
}

static void misbehave(int kind)
{
    if (kind == CRASH) raise(SIGSEGV);
    if (kind == ABORT) abort();
    if (kind == LEAVE) _exit(3);
    if (kind == TOUCH_MEMORY) take_memory(true);
    if (kind == TAKE_MEMORY) take_memory(false);
    if (kind == SCRIBBLE && write(own->socket, "0123456789012345678901234567890123456789", 40) < 0) return;
    while (kind == HANG) pause();
    while (kind == LISTEN && !*ss_worker_cancel(own)) usleep(1000);
}

static void do_task(void *state, const ss_task *task, ss_text *reply)
{
    static int served;
    (void)state;
    served++;
    ss_worker_phase(own, SS_PHASE_SOLVING);
    misbehave(task->kind);
    if (task->kind != SAY_NOTHING) ss_pack_int(reply, task->kind == COUNT_TASKS ? served : task->problem + 1);
}

static bool next_of(void *context, const ss_task *last, ss_task *task)
{
    story *s = context;
    (void)last;
    if (s->next == s->count) return false;
    *task = (ss_task){.kind = s->tasks[s->next], .problem = s->next, .fresh = s->fresh};
    s->next++;
    return true;
}

static bool note_end(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                     size_t size, ss_error *err)
{
    story *s = context;
    ss_unpacker from = {reply, reply + size, false};
    (void)err;
    s->endings[task->problem] = *ending;
    s->replies[task->problem] = ending->replied ? ss_unpack_int(&from) : -1;
    s->done++;
    return !from.bad;
}

static bool run_story(story *s, int workers, ss_error *err)
{
    ss_pool pool = {.workers = workers,
                    .core = -1,
                    .max_megabytes = 300,
                    .context = s,
                    .begin = be_born,
                    .work = do_task,
                    .next = next_of,
                    .done = note_end};
    bool slow = s->tasks[1] == TOUCH_MEMORY || s->tasks[1] == TAKE_MEMORY; // on a busy machine
    pool.patience[SS_PHASE_SOLVING] = slow ? (ss_patience){30.0, 30.0} : (ss_patience){0.2, 3.0};
    return ss_pool_run(&pool, err);
}

TEST(every_task_has_one_reply_of_its_own)
{
    for (int workers = 1; workers <= 5; workers += 2) {
        story s = {.count = 50};
        ss_error err = {0};
        ENSURE(run_story(&s, workers, &err));
        ENSURE_INT(s.done, 50);
        for (int i = 0; i < 50; i++) ENSURE_INT(s.replies[i], i + 1);
        for (int i = 0; i < 50; i++)
            ENSURE(strlen(s.endings[i].started) == 24 && s.endings[i].started[10] == 'T');
    }
}

static ss_outcome outcome_of(int kind, char *message)
{
    story s = {.count = 3, .tasks = {ADD, kind, ADD}};
    ss_error err = {0};
    if (!run_story(&s, 1, &err) || s.done != 3 || s.replies[0] != 1 || s.replies[2] != 3)
        return SS_OUTCOME_COUNT;
    if (s.endings[1].replied) return (ss_outcome)SS_CONVERGED;
    memcpy(message, s.endings[1].message, sizeof s.endings[1].message);
    return s.endings[1].outcome;
}

TEST(a_worker_that_misbehaves_is_told_and_replaced)
{
    char message[200] = "";
    if (ss_worker_limits_space()) { // sanitizers catch the signal, and end the process themselves
        ENSURE_INT(outcome_of(CRASH, message), SS_OUTCOME_CRASHED);
        ENSURE_TEXT(message, "signal 11 (Segmentation fault)");
        ENSURE_INT(outcome_of(ABORT, message), SS_OUTCOME_CRASHED);
        ENSURE_TEXT(message, "signal 6 (Aborted)");
    }
    ENSURE_INT(outcome_of(LEAVE, message), SS_OUTCOME_CRASHED);
    ENSURE_TEXT(message, "called exit(3)");
    ENSURE_INT(outcome_of(HANG, message), SS_OUTCOME_HUNG);
    ENSURE_TEXT(message, "did not stop within 3 s");
    ENSURE_INT(outcome_of(SCRIBBLE, message), SS_OUTCOME_BROKEN);
    ENSURE_INT(outcome_of(SAY_NOTHING, message), SS_OUTCOME_OUT_OF_MEMORY);
    ENSURE_INT(outcome_of(LISTEN, message), SS_CONVERGED); // the soft limit is enough for it
}

TEST(a_worker_that_takes_too_much_memory_is_stopped)
{
    char message[200] = "";
    ENSURE_INT(outcome_of(TOUCH_MEMORY, message), SS_OUTCOME_OUT_OF_MEMORY);
    ENSURE_TEXT(message, "needs more than 300 MB");
    if (!ss_worker_limits_space()) return; // under a sanitizer only what is touched counts
    ENSURE_INT(outcome_of(TAKE_MEMORY, message), SS_OUTCOME_OUT_OF_MEMORY);
    ENSURE_TEXT(message, "needs more than 300 MB");
}

TEST(a_fresh_task_has_a_process_of_its_own)
{
    story old = {.count = 3, .tasks = {COUNT_TASKS, COUNT_TASKS, COUNT_TASKS}}, fresh = old;
    ss_error err = {0};
    fresh.fresh = true;
    ENSURE(run_story(&old, 1, &err) && run_story(&fresh, 1, &err));
    ENSURE_INT(old.replies[2], 3);
    ENSURE_INT(fresh.replies[2], 1);
    ENSURE(old.endings[0].fresh && !old.endings[2].fresh && fresh.endings[2].fresh);
}

/* ---- queue ---------------------------------------------------------------------------------------- */

TEST(a_worker_stays_with_its_problem)
{
    ss_queue queue = {0};
    ss_task task;
    for (int p = 0; p < 3; p++)
        for (int m = 0; m < 4; m++) ss_queue_add(&queue, p, &(ss_task){.problem = p, .method = m});
    ENSURE(ss_queue_take(&queue, NULL, &task) && task.problem == 0);
    ENSURE(ss_queue_take(&queue, NULL, &task) && task.problem == 1);
    for (int m = 1; m < 4; m++)
        ENSURE(ss_queue_take(&queue, &(ss_task){.group = 0}, &task) && task.problem == 0 && task.method == m);
    ENSURE(ss_queue_take(&queue, &(ss_task){.group = 0}, &task) && task.problem == 2); // not begun yet
    ENSURE(ss_queue_take(&queue, &(ss_task){.group = 0}, &task) &&
           task.problem == 1); // the first of the fullest
    ss_queue_again(&queue, &(ss_task){.problem = 7});
    ENSURE(ss_queue_take(&queue, &(ss_task){.group = 1}, &task) && task.problem == 7);
    int left = 0;
    while (ss_queue_take(&queue, &(ss_task){.group = 1}, &task)) left++;
    ENSURE_INT(left, 5);
    ss_queue_free(&queue);
}

/* ---- records -------------------------------------------------------------------------------------- */

#define ITERATIONS 40
static double seconds[ITERATIONS], gauges[SS_GAUGE_COUNT][ITERATIONS];
static const double energies[] = {0.0, 1e-30, 0.99, 1.0, 3.2, NAN};
#define CONTACTS ((int)(sizeof energies / sizeof *energies))

/* relative_energy falls by half a decade an iteration from 1 on, natural_map never applies. */
static ss_result make_result(ss_problem *problem, ss_metric_value *metrics, double *x)
{
    static ss_contact_report contacts[CONTACTS];
    for (int c = 0; c < CONTACTS; c++) contacts[c].energy = energies[c];
    ss_result result = {
        .problem = problem, .x = x, .contact_count = CONTACTS, .contacts = contacts, .metrics = metrics};
    result.run = (ss_solve_result){.status = SS_MAX_ITERATIONS, .iterations = ITERATIONS, .seconds = 4.0};
    result.run.history = (ss_history){.count = ITERATIONS, .seconds = seconds};
    for (int g = 0; g < SS_GAUGE_COUNT; g++) result.run.history.gauge[g] = gauges[g];
    for (int i = 0; i < ITERATIONS; i++) {
        seconds[i] = 0.1 * (i + 1);
        gauges[SS_GAUGE_RELATIVE_ENERGY][i] = pow(10.0, -0.5 * i - 0.1);
        gauges[SS_GAUGE_NATURAL_MAP][i] = NAN;
    }
    for (int i = 0; i < ss_metric_count(); i++)
        metrics[i] = (ss_metric_value){i % 2, 0.5 * i, i, -1, i % 2 ? NULL : "not here"};
    return result;
}

static void check_record(const ss_run_entry *run)
{
    ENSURE_INT(run->outcome, SS_MAX_ITERATIONS);
    ENSURE_INT(run->history_count, 16 + 8 + 2 + 0); // 1..16, 18 20 .. 32, 36 40
    ENSURE_INT(run->history[16].iteration, 18);
    ENSURE_INT(run->history[run->history_count - 1].iteration, ITERATIONS);
    ENSURE_INT(run->crossing_count, SS_DECADES); // of one gauge
    for (int i = 0; i < SS_DECADES; i++) {
        ENSURE_INT(run->crossings[i].decade, i);
        ENSURE_INT(run->crossings[i].iteration, 2 * i + 1);
        ENSURE_NEAR(run->crossings[i].seconds, 0.1 * (2 * i + 1), 1e-12); // rounding of a product
    }
    ENSURE_INT(run->bin_count, 4); // least: 0 and 1e-30; [10^-0.5, 1); [1, 10^0.5); [10^0.5, 10)
    ENSURE(run->bins[0].bin == SS_LEAST_BIN && run->bins[0].count == 2);
    ENSURE(run->bins[1].bin == -1 && run->bins[2].bin == 0 && run->bins[3].bin == 1);
    ENSURE(run->metrics[1].applies && run->metrics[1].value == 0.5 && run->metrics[1].worst_contact == 1);
    ENSURE_TEXT(run->metrics[0].why, "not here");
    ENSURE_INT(strlen(run->answer), 32);
}

TEST(stored_answers_that_differ_in_an_alternative_are_different_answers)
{
    ss_error err = {0};
    ss_frame sizes = {.bodies.count = 1, .contacts.count = 1, .subcontacts = {.groups = 1, .count = 1}};
    ss_answer *answer = ss_answer_create(&sizes, false, &err);
    ENSURE(answer != NULL);
    ss_metric_value *metrics = calloc((size_t)ss_metric_count(), sizeof *metrics);
    ss_stored_result stored = {.answer = answer};
    char digest[4][33];
    for (int k = 0; k < 4; k++) {
        ss_run_entry run;
        ss_contact_report contact = {0};
        if (k == 1) answer->selection[0] = 1;
        if (k == 2) answer->sub_normal_impulse[0] = 1.0;
        if (k == 3) answer->sub_friction_impulse[0][2] = 0.5;
        ENSURE(ss_record_stored(&stored, metrics, &contact, &run, &err));
        memcpy(digest[k], run.answer, sizeof digest[k]);
        for (int i = 0; i < k; i++) ENSURE(strcmp(digest[i], digest[k]) != 0);
        ss_record_clear(&run);
    }
    free(metrics);
    ss_answer_destroy(answer);
}

TEST(a_record_keeps_the_grid_the_crossings_and_the_bins)
{
    double x[3] = {1.0, -0.0, 2.0}, y[3] = {1.0, 0.0, 2.0000000001};
    ss_problem problem = {.size = 3};
    ss_metric_value *metrics = calloc((size_t)ss_metric_count(), sizeof *metrics);
    ss_result result = make_result(&problem, metrics, x);
    ss_run_entry run, copy;
    ss_text bytes = {0};
    char other[33];
    ENSURE(ss_record_make(&result, &run, NULL));
    check_record(&run);
    ss_record_pack(&run, &bytes);
    ss_unpacker from = {bytes.data, bytes.data + bytes.length, false};
    ENSURE(ss_record_unpack(&from, &copy));
    check_record(&copy);
    ENSURE_TEXT(copy.answer, run.answer);
    ss_record_answer(y, 3, other);
    ENSURE(strcmp(other, run.answer) != 0);
    ss_record_clear(&copy);
    for (size_t length = 0; length < bytes.length; length++) { // no part of it is a record
        ss_unpacker part = {bytes.data, bytes.data + length, false};
        ENSURE(!ss_record_unpack(&part, &copy));
    }
    ss_record_clear(&run);
    ss_text_free(&bytes);
    free(metrics);
}

TEST(damaged_bytes_are_no_record_or_another_one_but_never_a_crash)
{
    double x[2] = {1.0, 2.0};
    ss_problem problem = {.size = 2};
    ss_metric_value *metrics = calloc((size_t)ss_metric_count(), sizeof *metrics);
    ss_result result = make_result(&problem, metrics, x);
    ss_random dice = ss_random_start(5, 0);
    ss_run_entry run, copy;
    ss_text bytes = {0};
    ENSURE(ss_record_make(&result, &run, NULL));
    ss_record_pack(&run, &bytes);
    for (int attempt = 0; attempt < 2000; attempt++) {
        size_t at = (size_t)ss_random_below(&dice, (int)bytes.length);
        char before = bytes.data[at];
        bytes.data[at] = (char)ss_random_bits(&dice);
        ss_unpacker from = {bytes.data, bytes.data + bytes.length, false};
        if (ss_record_unpack(&from, &copy)) ss_record_clear(&copy);
        bytes.data[at] = before;
    }
    ss_record_clear(&run);
    ss_text_free(&bytes);
    free(metrics);
}

/* ---- features ------------------------------------------------------------------------------------- */

/* J M^-1 J' of rows that repeat: rank `rank` of `rows`. Units differ by 10^6 between rows. */
static ss_sparse *make_gram(int rows, int rank)
{
    int i[36], j[36], count = 0;
    double value[36], basis[6][6] = {{0}};
    ss_random dice = ss_random_start(11, 0);
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < 6; k++) {
            double fresh = ss_random_between(&dice, -1.0, 1.0) * (r % 2 ? 1e3 : 1e-3);
            basis[r][k] = r < rank ? fresh : 2.0 * basis[r % rank][k] - 3.0 * basis[(r + 1) % rank][k];
        }
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < rows; s++) {
            value[count] = 0.0;
            for (int k = 0; k < 6; k++) value[count] += basis[r][k] * basis[s][k];
            i[count] = r;
            j[count++] = s;
        }
    return ss_sparse_from_triplets(rows, rows, count, i, j, value, NULL);
}

TEST(rank_is_found_whatever_the_units)
{
    for (int rank = 2; rank <= 6; rank++) {
        double ratio;
        ss_sparse *matrix = make_gram(6, rank);
        ENSURE(matrix && ss_rank_ratio(matrix, &ratio, NULL));
        ENSURE_NEAR(ratio, rank / 6.0, 1e-15); // one division
        ss_sparse_destroy(matrix);
    }
    double ratio;
    ss_sparse *empty = ss_sparse_from_triplets(0, 0, 0, NULL, NULL, NULL, NULL);
    ENSURE(ss_rank_ratio(empty, &ratio, NULL) && isnan(ratio));
    ss_sparse_destroy(empty);
}

static ss_cone *make_cone(double entry, double mu)
{
    ss_cone *cone = ss_cone_create(SS_CONE_LOCAL, 3, 1, 0, 0, NULL);
    const int index[] = {0, 1, 2, 0, 1};
    const double value[] = {1.0, 2.0, 3.0, entry, entry};
    const int column[] = {0, 1, 2, 1, 0};
    cone->W = ss_sparse_from_triplets(3, 3, entry == 0.0 ? 3 : 5, index, column, value, NULL);
    cone->mu[0] = mu;
    return cone;
}

TEST(the_hash_of_a_cone_sees_every_number)
{
    char first[33], again[33], entry[33], friction[33];
    ss_cone *cones[] = {make_cone(0.5, 0.3), make_cone(0.5, 0.3), make_cone(0.25, 0.3), make_cone(0.5, 0.4)};
    char *texts[] = {first, again, entry, friction};
    for (int k = 0; k < 4; k++) ss_cone_hash(cones[k], texts[k]);
    ENSURE_TEXT(again, first);
    ENSURE(strcmp(entry, first) != 0 && strcmp(friction, first) != 0 && strlen(first) == 32);
    for (int k = 0; k < 4; k++) ss_cone_destroy(cones[k]);
}

/* ---- campaigns ------------------------------------------------------------------------------------ */

TEST(shards_are_read_strictly)
{
    static const char *const bad[] = {
        "", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", "99999999999999999999/1"};
    int shard, shards;
    ENSURE(ss_campaign_read_shard("2/4", &shard, &shards, NULL) && shard == 2 && shards == 4);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ENSURE(!ss_campaign_read_shard(bad[i], &shard, &shards, NULL));
}

TEST(the_text_of_a_campaign_names_its_shard)
{
    static const struct {
        const char *text;
        int shard, shards;
    } cases[] = {{"", 1, 1},
                 {"bench a.h5 --output r.db", 1, 1},
                 {"bench a.h5 --shard 2/8 --output r.db", 2, 8},
                 {"{\"problems\": [\"a.h5\"]}\n--shard 3/4", 3, 4},
                 {"--shard 1/2", 1, 2},
                 {"bench a--shard 2/8", 1, 1},
                 {"bench --shard 9/8", 1, 1},
                 {"bench --shard ", 1, 1},
                 {"bench --shard 11111111111111111111111111111111111111111/2", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int shard, shards;
        ss_shard_of_text(cases[i].text, &shard, &shards);
        ENSURE_INT(shard, cases[i].shard);
        ENSURE_INT(shards, cases[i].shards);
    }
}

TEST(the_name_of_a_ledger_has_the_shard)
{
    ss_campaign campaign;
    ENSURE(ss_campaign_create(&campaign, NULL));
    campaign.shard = 2;
    campaign.shards = 8;
    ENSURE_TEXT(ss_campaign_ledger_name(&campaign, "runs/%s.db", NULL, NULL), "runs/2-of-8.db");
    ENSURE_TEXT(ss_campaign_ledger_name(&campaign, "%s%s%", NULL, NULL), "2-of-82-of-8%");
    ENSURE_TEXT(ss_campaign_ledger_name(&campaign, "100%d", NULL, NULL), "100%d");
    ENSURE_TEXT(ss_campaign_ledger_name(&campaign, "", NULL, NULL), "");
    ss_campaign_free(&campaign);
}

static bool no_law(const ss_formulation *formulation, const void *options, const ss_contact_view *contact,
                   ss_contact_law *law, ss_error *err)
{
    (void)formulation, (void)options, (void)contact, (void)law;
    return ss_fail(err, SS_ERROR_INPUT, "not to be called");
}

TEST(a_selection_becomes_every_combination)
{
    ss_campaign campaign;
    ENSURE(ss_campaign_create(&campaign, NULL));
    ss_catalogue_entry entries[] = {{(char *)"one", -1, (char *)"1111111", true},
                                    {(char *)"two", -1, (char *)"0000000", true},
                                    {(char *)"ours", 0, (char *)"1111111", true}};
    ss_catalogue catalogue = {entries, 3};
    const char *cone[] = {"cone"}, *omegas[] = {"1", "1.5"}, *seeds[] = {"1", "2", "3"};
    ss_option_sweep sweeps[] = {{.owner = "one", .name = "omega", .values = omegas, .count = 2, .where = "x"},
                                {.name = "n", .values = seeds, .count = 3, .where = "y"}};
    ss_selection selection = {.formulations = cone,
                              .formulation_count = 1,
                              .all_solvers = true,
                              .set = sweeps,
                              .set_count = 2,
                              .where = ""};
    ss_planned_method *methods;
    ss_text left_out = {0};
    int count;
    campaign.selections = &selection;
    campaign.selection_count = 1;
    ENSURE(ss_campaign_expand(&campaign, &catalogue, &methods, &count, &left_out, NULL));
    ENSURE_INT(count, 2 * 3 + 3); // `two` fits nothing
    ENSURE_TEXT(ss_text_get(&left_out), "two with cone");
    ENSURE_TEXT(methods[5].set.items[0], "omega=1.5");
    ENSURE_TEXT(methods[5].set.items[1], "n=3");
    ENSURE_INT(methods[8].set.count, 1);
    ss_release(methods);
    ss_text_free(&left_out);
    sweeps[0].owner = "three";
    sweeps[0].used = false;
    ss_error err = {0};
    ENSURE(!ss_campaign_expand(&campaign, &catalogue, &methods, &count, &left_out, &err));
    ENSURE_TEXT(err.message, "x: no solver 'three' in this campaign");
    ss_text_free(&left_out);
    ss_campaign_free(&campaign);
}

/* More formulations than a word has bits: a solver that accepts all except the last is left out there. */
TEST(whether_a_solver_fits_is_known_of_every_formulation)
{
    enum { OWN = 100 };
    static char names[OWN][16];
    static ss_formulation planted[OWN];
    static const ss_formulation *list[OWN + 1];
    for (int k = 0; k < OWN; k++) {
        snprintf(names[k], sizeof names[k], "own-%d", k);
        planted[k] = (ss_formulation){.name = names[k],
                                      .summary = "planted",
                                      .laws = SS_LAW_BOX,
                                      .options = ss_step_option_table,
                                      .options_size = sizeof(ss_step_options),
                                      .contact = no_law};
        list[k] = &planted[k];
    }
    static const ss_extension extension = {.abi = SS_ABI, .name = "many", .formulations = list};
    ss_error err = {0};
    if (!ss_register(&extension, &err)) KIT_FAIL("%s", err.message);

    int all = ss_formulation_count();
    char accepts[2 * OWN] = "";
    memset(accepts, '1', (size_t)all);
    accepts[all - 1] = '0';
    ss_campaign campaign;
    ENSURE(ss_campaign_create(&campaign, NULL));
    ss_catalogue_entry entry = {(char *)"one", -1, accepts, true};
    ss_catalogue catalogue = {&entry, 1};
    ss_selection selection = {.all_formulations = true, .all_solvers = true, .where = ""};
    ss_planned_method *methods;
    ss_text left_out = {0};
    int count;
    campaign.selections = &selection;
    campaign.selection_count = 1;
    ENSURE(ss_campaign_expand(&campaign, &catalogue, &methods, &count, &left_out, NULL));
    ENSURE_INT(count, all - 1);
    ENSURE_TEXT(ss_text_get(&left_out), "one with own-99");
    ss_release(methods);
    ss_text_free(&left_out);
    ss_campaign_free(&campaign);
    ss_unregister(&extension);
}

TEST(options_are_told_where_they_differ)
{
    static const ss_option table[] = {
        {.name = "omega", .type = SS_OPTION_REAL, .offset = 0, .default_value = "1"},
        {.name = "mode", .type = SS_OPTION_CHOICE, .offset = 8, .choices = "plain|odd"},
        {.name = "deep", .type = SS_OPTION_BOOL, .offset = 12},
        {0}};
    struct {
        double omega;
        int mode;
        bool deep;
    } options = {1.0, 0, false};
    ss_text text = {0};
    ss_options_differences(table, &options, &text);
    ENSURE_TEXT(ss_text_get(&text), "");
    options.omega = 1.3;
    options.deep = true;
    ss_options_differences(table, &options, &text);
    ENSURE_TEXT(ss_text_get(&text), "omega=1.3 deep=true");
    ss_text_free(&text);
    ss_options_differences(NULL, NULL, &text);
    ENSURE_TEXT(ss_text_get(&text), "");
}

TEST(the_machine_has_a_name)
{
    ss_machine machine;
    ENSURE(ss_machine_here(&machine, NULL));
    ENSURE(machine.cpu[0] && machine.cores > 0 && strstr(machine.system, "Linux"));
    ENSURE_TEXT(machine.version, ss_version());
    ENSURE(strncmp(ss_build(), machine.compiler, strlen(machine.compiler)) == 0 && machine.build[0]);
    ss_machine_clear(&machine);
    ENSURE(ss_core_count() >= 1 && ss_quiet_core() >= 0);
}

TEST_MAIN
