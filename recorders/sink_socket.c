/* The sink of a preloaded recorder: the socket of `stickslip record`, which the environment names. */
#include "sink.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ss_sink program_sink;
static bool usable;
static pid_t owner;
static const char *engine_library;

static bool begin(ss_sink *sink, const double gravity[3], const char *toolkit, const char *description)
{
    return ss_capture_send_hello(sink->socket, gravity, toolkit, description);
}

static bool send_shape(ss_sink *sink, const ss_stored_shape *shape)
{
    return ss_capture_send_shape(sink->socket, shape);
}

static bool send_note(ss_sink *sink, const char *text)
{
    return ss_capture_send_text(sink->socket, SS_MESSAGE_NOTE, text);
}

static bool send_step(ss_sink *sink)
{
    sink->recorded++;
    return ss_capture_send(sink->socket, &sink->capture);
}

static int look_for_library(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (slash && strncmp(slash + 1, engine_library, strlen(engine_library)) == 0) *(bool *)found = true;
    return 0;
}

/* The last words of a process that ends in the usual way; of one that does not, `record` sees the socket
 * close. */
static void end(void)
{
    if (getpid() != owner || program_sink.broken) return;
    bool loaded = false;
    dl_iterate_phdr(look_for_library, &loaded);
    ss_capture_send_end(program_sink.socket, program_sink.steps, loaded);
}

void ss_sink_attend(const char *library)
{
    const char *text = getenv("STICKSLIP_RECORD");
    ss_sink *sink = &program_sink;
    long long first, every, last;
    if (!text || sscanf(text, "%d:%lld:%lld:%lld", &sink->socket, &first, &every, &last) != 4) return;
    if (fcntl(sink->socket, F_GETFD) < 0 || first < 1 || every < 1) return;
    sink->first = first;
    sink->every = every;
    sink->last = last;
    sink->begin = begin;
    sink->shape = send_shape;
    sink->note = send_note;
    sink->step = send_step;
    engine_library = library;
    owner = getpid();
    usable = true;
    atexit(end);
}

ss_sink *ss_sink_of_program(void)
{
    if (!usable || getpid() != owner || program_sink.broken) return NULL;
    // A shell that starts the program must pass the socket on; from the program itself nothing inherits it.
    if (program_sink.steps == 0) fcntl(program_sink.socket, F_SETFD, FD_CLOEXEC);
    return &program_sink;
}

void ss_sink_refuse(ss_sink *sink, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ss_capture_send_text(sink->socket, SS_MESSAGE_REFUSAL, text);
    sink->broken = true;
}
