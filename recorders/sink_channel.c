/* The sink of a preloaded recorder: the channel to `stickslip record`, which the environment names. */
#include "sink.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ss_sink program_sink;
static ss_channel channel;
static bool usable;
static const char *engine_library;

static bool begin(ss_sink *sink, const double gravity[3], const char *toolkit, const char *description)
{
    (void)sink;
    return ss_capture_send_hello(&channel, gravity, toolkit, description);
}

static bool send_shape(ss_sink *sink, const ss_stored_shape *shape)
{
    (void)sink;
    return ss_capture_send_shape(&channel, shape);
}

static bool send_note(ss_sink *sink, const char *text)
{
    (void)sink;
    return ss_capture_send_text(&channel, SS_MESSAGE_NOTE, text);
}

static bool send_step(ss_sink *sink)
{
    sink->recorded++;
    return ss_capture_send(&channel, &sink->capture);
}

static bool send_rows(ss_sink *sink, const void *bytes, size_t length)
{
    sink->recorded++;
    return ss_capture_send_bytes(&channel, SS_MESSAGE_ROWS, bytes, length);
}

static int look_for_library(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (slash && strncmp(slash + 1, engine_library, strlen(engine_library)) == 0) *(bool *)found = true;
    return 0;
}

/* The last words of a process that ends in the usual way. */
static void end(void)
{
    if (!usable || program_sink.broken) return;
    bool loaded = false;
    dl_iterate_phdr(look_for_library, &loaded);
    ss_capture_send_end(&channel, program_sink.steps, loaded);
}

/* A child process is not recorded. */
static void let_go(void)
{
    usable = false;
}

void ss_sink_attend(const char *library)
{
    const char *text = getenv("STICKSLIP_RECORD");
    ss_sink *sink = &program_sink;
    long long first, every, last;
    int file;
    if (!text || sscanf(text, "%d:%lld:%lld:%lld", &file, &first, &every, &last) != 4) return;
    if (first < 1 || every < 1 || !ss_channel_attach(&channel, file)) return;
    sink->first = first;
    sink->every = every;
    sink->last = last;
    sink->begin = begin;
    sink->shape = send_shape;
    sink->note = send_note;
    sink->step = send_step;
    sink->rows = send_rows;
    engine_library = library;
    usable = pthread_atfork(NULL, NULL, let_go) == 0;
    atexit(end);
}

ss_sink *ss_sink_of_program(void)
{
    if (!usable || program_sink.broken) return NULL;
    // A shell that starts the program must pass the channel on; from the program itself nothing inherits it.
    if (program_sink.steps == 0) {
        fcntl(channel.file, F_SETFD, FD_CLOEXEC);
        ss_channel_touch(&channel);
    }
    return &program_sink;
}

void ss_sink_refuse(ss_sink *sink, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ss_capture_send_text(&channel, SS_MESSAGE_REFUSAL, text);
    sink->broken = true;
}
