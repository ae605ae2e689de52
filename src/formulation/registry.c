#include <stickslip/formulation.h>

#include "base/registry.h"

#include <string.h>

#define SS_FORMULATION(name) extern const ss_formulation ss_formulation_##name;
#include "formulation/formulations.def"
#undef SS_FORMULATION

static const ss_formulation *const formulations[] = {
#define SS_FORMULATION(name) &ss_formulation_##name,
#include "formulation/formulations.def"
#undef SS_FORMULATION
};

enum { OURS = sizeof formulations / sizeof *formulations };

const ss_option ss_step_option_table[] = {SS_STEP_OPTION_ROWS("preventive", "inf"), {0}};

int ss_formulation_count(void)
{
    return OURS + ss_registered_count(SS_REGISTERED_FORMULATIONS);
}

const ss_formulation *ss_formulation_at(int index)
{
    if (index >= OURS) return ss_registered_at(SS_REGISTERED_FORMULATIONS, index - OURS);
    return index >= 0 ? formulations[index] : NULL;
}

const ss_formulation *ss_formulation_find(const char *name)
{
    const ss_formulation *formulation;
    for (int i = 0; (formulation = ss_formulation_at(i)); i++) {
        if (strcmp(formulation->name, name) == 0) return formulation;
    }
    return NULL;
}
