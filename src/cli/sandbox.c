#include "cli/sandbox.h"

#include "dataset/reading_flag.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define SECONDS_TO_STOP 2

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
#define STOP_SIGNALS (sizeof stop_signals / sizeof *stop_signals)

static volatile sig_atomic_t stop_signal; // the one that came, 0 = none
static volatile pid_t child_pid;          // in the parent: whom to tell

/* Shared by both processes; NULL without a sandbox. */
typedef struct activity {
    volatile int reading; /* HDF5 is at it */
    char doing[512];
} activity;
static activity *shared;

static void set_handlers(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        struct sigaction before;
        sigaction(stop_signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(stop_signals[i], &action, NULL); // nohup stays nohup
    }
}

/* While they are held back none is lost: it comes when they are let through again. */
static void hold_signals(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < STOP_SIGNALS; i++) sigaddset(&set, stop_signals[i]);
    sigprocmask(how, &set, NULL);
}

/* Dies of the signal, so that a shell sees what happened. */
static void die_of(int signal_number)
{
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* ---- the child: does the work -------------------------------------------------------------------- */

static void note_stop(int signal_number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    stop_signal = signal_number;
    alarm(SECONDS_TO_STOP);
}

bool ss_sandbox_interrupted(void)
{
    return stop_signal != 0;
}

const volatile int *ss_sandbox_cancel(void)
{
    _Static_assert(sizeof(sig_atomic_t) == sizeof(int), "a signal's number is looked at as an int");
    return (const volatile int *)&stop_signal;
}

void ss_sandbox_doing(const char *what)
{
    if (shared) snprintf(shared->doing, sizeof shared->doing, "%s", what);
}

static int work_and_finish(const ss_sandbox *sandbox, int (*work)(const ss_command *),
                           const ss_command *command)
{
    signal(SIGXFSZ, SIG_IGN); // a file over the size limit is a write that fails, after which we tidy up
    double megabytes = sandbox->max_megabytes;
    rlim_t bytes = (rlim_t)(megabytes * 1e6);
    if (megabytes > 0 && setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) != 0) {
        ss_complain("stickslip: cannot limit the memory to %g MB: %s", megabytes, strerror(errno));
        return SS_EXIT_RESOURCES;
    }
    int code = work(command);
    if (stop_signal) die_of(stop_signal);
    return ss_out_finish(command->out) ? code : SS_EXIT_RESOURCES;
}

/* ---- the parent: waits --------------------------------------------------------------------------- */

/* A terminal sends its signals to both processes, kill only to the one that was named. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    stop_signal = signal_number;
    if (info->si_code <= 0 && child_pid > 0) kill(child_pid, signal_number);
}

/* Signals for the work, such as one that trips a flight recorder, are the child's. */
static void hand_over(int signal_number)
{
    if (child_pid > 0) kill(child_pid, signal_number);
}

static void handle_user_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
}

static volatile sig_atomic_t time_is_over;

/* The child ends as if the user had stopped it, so that it tidies up. */
static void end_child(int signal_number)
{
    (void)signal_number;
    time_is_over = 1;
    if (child_pid > 0) kill(child_pid, SIGTERM);
}

/* A library that gets no memory may crash as well, so under a limit the file is not to blame. */
static int explain_crash(const ss_sandbox *sandbox, int cause)
{
    // What is under test may crash: that is a result.
    if (shared && shared->doing[0]) {
        ss_complain("%s: crashed while %s", sandbox->file, shared->doing);
        return SS_EXIT_FOUND;
    }

    bool reading = shared && shared->reading;
    if (sandbox->max_megabytes > 0) {
        ss_complain("%s: %s crashed with at most %g MB of memory (--max-memory)", sandbox->file,
                    reading ? "the HDF5 library" : "the program", sandbox->max_megabytes);
        return SS_EXIT_RESOURCES;
    }
    if (reading) {
        ss_complain("%s: the HDF5 library crashed while reading; the file is damaged or malicious",
                    sandbox->file);
        return SS_EXIT_INPUT;
    }
    ss_complain("stickslip %s %s: crashed with signal %d (%s); this is a bug in stickslip", sandbox->verb,
                sandbox->file, cause, strsignal(cause));
    die_of(cause);
    return SS_EXIT_RESOURCES;
}

int ss_sandbox_run(const ss_sandbox *sandbox, int (*work)(const ss_command *), const ss_command *command)
{
    const char *off = getenv("SS_NO_SANDBOX");
    if (off && strcmp(off, "1") == 0) {
        set_handlers(note_stop);
        return work_and_finish(sandbox, work, command);
    }

    void *page = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) shared = page;
    set_handlers(pass_on);
    handle_user_signals(hand_over);
    hold_signals(SIG_BLOCK); // until child_pid is known
    pid_t child = fork();
    if (child == 0) {
        set_handlers(note_stop);
        handle_user_signals(SIG_DFL);
        hold_signals(SIG_UNBLOCK);
        ss_dataset_set_reading_flag(shared ? &shared->reading : NULL);
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL); // no one is left to hear the result
#endif
        // _exit: without HDF5's clean-up at exit, which a damaged file may break as well
        _exit(work_and_finish(sandbox, work, command));
    }
    child_pid = child;
    hold_signals(SIG_UNBLOCK);
    if (child < 0) {
        ss_complain("stickslip: cannot start a process: %s", strerror(errno));
        return SS_EXIT_RESOURCES;
    }

    if (sandbox->max_seconds > 0) {
        struct sigaction action = {.sa_handler = end_child, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(SIGALRM, &action, NULL);
        double whole = floor(sandbox->max_seconds), rest = sandbox->max_seconds - whole;
        struct itimerval timer = {.it_value = {(time_t)whole, (suseconds_t)(1e6 * rest) + 1}};
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return SS_EXIT_RESOURCES;
    if (WIFEXITED(status)) return WEXITSTATUS(status);

    // The child died: by the time limit, by a crash, because the user wanted it, or by someone else's hand.
    int cause = WTERMSIG(status);
    if (time_is_over && (cause == SIGTERM || cause == SIGALRM)) {
        ss_complain("%s: stopped after %g s (--max-time)", sandbox->file, sandbox->max_seconds);
        return SS_EXIT_RESOURCES;
    }
    if (cause == SIGSEGV || cause == SIGBUS || cause == SIGABRT || cause == SIGFPE || cause == SIGILL)
        return explain_crash(sandbox, cause);
    if (stop_signal) die_of(stop_signal);
    if (cause == SIGKILL)
        ss_complain("%s: the process was killed, probably for lack of memory", sandbox->file);
    else
        ss_complain("%s: the process was ended by signal %d (%s)", sandbox->file, cause, strsignal(cause));
    return SS_EXIT_RESOURCES;
}
