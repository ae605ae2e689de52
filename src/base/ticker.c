#include "base/ticker.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

struct ss_ticker {
    double seconds;
    void (*tick)(void *context);
    void *context;
    pid_t process;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopping;
    bool stop;
};

static void *work(void *data)
{
    ss_ticker *t = data;
    pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        double whole = floor(t->seconds);
        until.tv_sec += (time_t)whole;
        until.tv_nsec += (long)(1e9 * (t->seconds - whole));
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        int woken = 0;
        while (!t->stop && woken != ETIMEDOUT) woken = pthread_cond_timedwait(&t->stopping, &t->lock, &until);
        if (t->stop) break;
        pthread_mutex_unlock(&t->lock);
        t->tick(t->context);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

ss_ticker *ss_ticker_start(double seconds, void (*tick)(void *context), void *context)
{
    ss_ticker *t = ss_allocate(1, sizeof *t);
    if (!t) return NULL;
    t->seconds = seconds;
    t->tick = tick;
    t->context = context;
    t->process = getpid();
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&t->stopping, &attributes);
    pthread_condattr_destroy(&attributes);

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&t->thread, NULL, work, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) return t;
    pthread_cond_destroy(&t->stopping);
    pthread_mutex_destroy(&t->lock);
    ss_release(t);
    return NULL;
}

void ss_ticker_stop(ss_ticker *t)
{
    if (!t) return;
    if (t->process == getpid()) {
        pthread_mutex_lock(&t->lock);
        t->stop = true;
        pthread_cond_signal(&t->stopping);
        pthread_mutex_unlock(&t->lock);
        pthread_join(t->thread, NULL);
        pthread_cond_destroy(&t->stopping);
        pthread_mutex_destroy(&t->lock);
    }
    ss_release(t);
}
