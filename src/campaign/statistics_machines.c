/* Names of machines that a reader knows: the processor, without what all of them are called. */
#include "campaign/statistics_internal.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 40 /* of a name, before a number is added */

void ss_statistics_name_machines(const ss_results *results, ss_machine_name *names)
{
    static const char *const noise[] = {"Intel", "AMD", "CPU", "Processor"};
    static const char core[] = "-Core";
    for (int i = 0; i < results->machine_count; i++) {
        // "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz" gives "Xeon Gold 6148", "AMD EPYC 7763 64-Core
        // Processor" "EPYC 7763"; all of it where nothing would be left.
        const char *cpu = results->machines[i].cpu;
        char *name = names[i].text;
        size_t used = 0;
        for (const char *word = cpu; *word && *word != '@';) {
            size_t whole = strcspn(word, " "), length = strcspn(word, " (");
            bool is_noise =
                length > strlen(core) && memcmp(word + length - strlen(core), core, strlen(core)) == 0;
            for (size_t k = 0; k < sizeof noise / sizeof *noise; k++)
                is_noise |= strlen(noise[k]) == length && memcmp(noise[k], word, length) == 0;
            if (length > 0 && !is_noise && used + 1 + length <= LONGEST) {
                if (used) name[used++] = ' ';
                memcpy(name + used, word, length);
                used += length;
            }
            word += whole + (word[whole] == ' ');
        }
        name[used] = '\0';
        if (used == 0) snprintf(name, LONGEST + 1, "%s", *cpu ? cpu : "machine");

        // Equal ones get numbers.
        int same = 0;
        for (int k = 0; k < i; k++) same += strcmp(results->machines[k].cpu, cpu) == 0;
        size_t length = strlen(name);
        if (same) snprintf(name + length, SS_MACHINE_NAME - length, " (%d)", same + 1);
    }
}
