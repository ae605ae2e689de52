/* Signs of life of long work: the time left. */
#define _POSIX_C_SOURCE 200809L

#include "cli/terminal/progress.h"
#include "kit.h"

#include <time.h>
#include <unistd.h>

/* What the line says of `done` of `total`, in `text`, without waiting for its turn. */
static void say(ss_progress_line *line, int64_t done, int64_t total, char text[256])
{
    FILE *file = tmpfile();
    int screen = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    line->next = 0.0;
    ss_progress_line_show(line, "solving", done, total);
    dup2(screen, STDERR_FILENO);
    close(screen);
    rewind(file);
    text[fread(text, 1, 255, file)] = '\0';
    fclose(file);
}

TEST(a_new_stage_does_not_inherit_the_pace_of_the_one_before)
{
    enum { TOTAL = 1000 };
    char text[256];
    ss_progress_line line = {.on = true};
    say(&line, 0, TOTAL, text);
    ENSURE(!strstr(text, "left")); // no pace yet
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    say(&line, TOTAL - 1, TOTAL, text);
    ENSURE(strstr(text, ", 0 s left"));

    // The next stage counts from the beginning, and its first piece cannot have taken longer than we see.
    double began = ss_clock_seconds();
    say(&line, 0, TOTAL, text);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    say(&line, 1, TOTAL, text);
    double passed = ss_clock_seconds() - began;
    const char *left = strstr(text, ", ");
    ENSURE(left);
    char *unit;
    double estimate = strtod(left + 2, &unit) * (strstr(unit, " min") ? 60.0 : 1.0);
    ENSURE(!strstr(unit, " h") && estimate <= passed * TOTAL + 30.0); // printed in whole seconds or minutes
}

TEST(a_resumed_run_is_not_quick_because_of_what_was_done_before)
{
    char text[256];
    ss_progress_line line = {.on = true};
    say(&line, 900, 1000, text);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); // 0.1 s for one: at least 9.9 s for the rest
    say(&line, 901, 1000, text);
    const char *left = strstr(text, ", ");
    ENSURE(left && strtod(left + 2, NULL) >= 9.0);
}

TEST_MAIN
