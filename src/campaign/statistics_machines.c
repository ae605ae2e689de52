/* Names of machines that a reader knows: the processor, without what all of them are called. */
#include "campaign/statistics_internal.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 40 /* of a name, before a number is added */

static bool is_noise(const char *word, size_t length)
{
    static const char *const noise[] = {"Intel", "AMD", "CPU", "Processor"};
    static const char core[] = "-Core";
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        if (strlen(noise[i]) == length && memcmp(noise[i], word, length) == 0) return true;
    return length > strlen(core) && memcmp(word + length - strlen(core), core, strlen(core)) == 0;
}

/* "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz" gives "Xeon Gold 6148", "AMD EPYC 7763 64-Core Processor" "EPYC
 * 7763"; all of it where nothing would be left. */
static void shorten(const char *cpu, char *name)
{
    size_t used = 0;
    for (const char *word = cpu; *word && *word != '@';) {
        size_t whole = strcspn(word, " "), length = strcspn(word, " (");
        if (length > 0 && !is_noise(word, length) && used + 1 + length <= LONGEST) {
            if (used) name[used++] = ' ';
            memcpy(name + used, word, length);
            used += length;
        }
        word += whole + (word[whole] == ' ');
    }
    name[used] = '\0';
    if (used == 0) snprintf(name, LONGEST + 1, "%s", *cpu ? cpu : "machine");
}

void ss_statistics_name_machines(const ss_results *results, ss_machine_name *names)
{
    for (int i = 0; i < results->machine_count; i++) {
        int same = 0;
        shorten(results->machines[i].cpu, names[i].text);
        for (int k = 0; k < i; k++) same += strcmp(results->machines[k].cpu, results->machines[i].cpu) == 0;
        size_t length = strlen(names[i].text);
        if (same) snprintf(names[i].text + length, SS_MACHINE_NAME - length, " (%d)", same + 1);
    }
}
