#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stop_signal; // the one that came, 0 = none

static void note_stop(int number)
{
    stop_signal = number;
}

void ss_interrupt_listen(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_stop};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before;
        sigaction(signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
}

const volatile int *ss_interrupt_flag(void)
{
    _Static_assert(sizeof(sig_atomic_t) == sizeof(int), "a signal's number is looked at as an int");
    return (const volatile int *)&stop_signal;
}

void ss_interrupt_die(void)
{
    signal(stop_signal, SIG_DFL);
    raise(stop_signal);
}
