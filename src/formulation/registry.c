#include <stickslip/formulation.h>

#include <string.h>

#define SS_FORMULATION(name) extern const ss_formulation ss_formulation_##name;
#include "formulation/formulations.def"
#undef SS_FORMULATION

static const ss_formulation *const formulations[] = {
#define SS_FORMULATION(name) &ss_formulation_##name,
#include "formulation/formulations.def"
#undef SS_FORMULATION
};

int ss_formulation_count(void)
{
    return (int)(sizeof formulations / sizeof *formulations);
}

const ss_formulation *ss_formulation_at(int index)
{
    return formulations[index];
}

const ss_formulation *ss_formulation_find(const char *name)
{
    for (int i = 0; i < ss_formulation_count(); i++) {
        if (strcmp(formulations[i]->name, name) == 0) return formulations[i];
    }
    return NULL;
}
