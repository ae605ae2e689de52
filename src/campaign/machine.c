#define _GNU_SOURCE // sched_getaffinity
#include "campaign/machine.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MOST_PLUGIN_BYTES ((size_t)1 << 30)

/* ---- cores --------------------------------------------------------------------------------------- */

int ss_quiet_core(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
    for (int core = CPU_SETSIZE - 1; core >= 0; core--)
        if (CPU_ISSET((size_t)core, &set)) return core;
    return -1;
}

int ss_core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 1) return 1;
    return CPU_COUNT(&set);
}

/* ---- the machine --------------------------------------------------------------------------------- */

bool ss_machine_here(ss_machine *machine, ss_error *err)
{
    struct utsname names;
    *machine = (ss_machine){0};
    if (uname(&names) != 0) return ss_fail(err, SS_ERROR_RESOURCES, "the system does not report its name");

    // The value of "model name : ..."; without it the architecture.
    static const char key[] = "model name";
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !machine->cpu && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, sizeof key - 1) != 0 || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        machine->cpu = ss_text_copy(colon);
    }
    if (file) fclose(file);
    if (!machine->cpu) machine->cpu = ss_text_copy(names.machine);
    machine->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);

    // "Linux 6.1.0-18-amd64 x86_64"
    ss_text system = {0};
    ss_text_appendf(&system, "%s %s %s", names.sysname, names.release, names.machine);
    if (!system.out_of_memory) machine->system = ss_text_copy(ss_text_get(&system));
    ss_text_free(&system);
    machine->version = ss_text_copy(ss_version());

    // ss_build says "gcc 12.2.0 release": compiler and version are two words, the rest is the build.
    const char *words = ss_build(), *space = strchr(words, ' ');
    space = space ? strchr(space + 1, ' ') : NULL;
    if (!space) space = words + strlen(words);
    machine->compiler = ss_allocate((size_t)(space - words) + 1, 1);
    if (machine->compiler) memcpy(machine->compiler, words, (size_t)(space - words));
    machine->build = ss_text_copy(*space ? space + 1 : "");

    if (machine->cpu && machine->system && machine->version && machine->compiler && machine->build)
        return true;
    ss_machine_clear(machine);
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the machine");
}

void ss_machine_clear(ss_machine *machine)
{
    char *texts[] = {machine->cpu, machine->system, machine->version, machine->compiler, machine->build};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) ss_release(texts[i]);
    *machine = (ss_machine){0};
}

/* ---- files --------------------------------------------------------------------------------------- */

bool ss_file_digest(const char *path, char text[33], ss_error *err)
{
    size_t size;
    unsigned char *bytes = ss_file_read(path, MOST_PLUGIN_BYTES, &size, err);
    if (!bytes) return false;
    ss_digest digest = ss_digest_start();
    ss_digest_add(&digest, size);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        ss_digest_add(&digest, word);
    }
    ss_digest_print(&digest, text);
    ss_release(bytes);
    return true;
}
