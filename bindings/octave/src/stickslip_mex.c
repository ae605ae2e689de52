/* The one MEX function: stickslip_mex('command', ...). See toolbox.h. */
#include "toolbox.h"

#include <string.h>

typedef struct entry {
    const char *name;
    int least, most;
    tb_command *run;
} entry;

static const entry entries[] = {
#define TB_COMMAND(name, least, most) {#name, least, most, tb_do_##name},
#include "commands.def"
#undef TB_COMMAND
};

static const entry *find(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

/* "stickslip:input" and the like, by the kind of the error. */
static const char *identifier(ss_error_code code)
{
    switch (code) {
    case SS_ERROR_USAGE:
        return "stickslip:usage";
    case SS_ERROR_RESOURCES:
        return "stickslip:resources";
    default:
        return "stickslip:input";
    }
}

bool tb_leaving;

/* The handlers of the MEX must not be called after it was unloaded. */
static void leave(void)
{
    tb_leaving = true;
    tb_drop_all();
}

void mexFunction(int outputs, mxArray *output[], int inputs, const mxArray *input[])
{
    static bool prepared;
    static ss_error err; // static: an error of Octave jumps out of here
    if (!prepared) {
        mexAtExit(leave);
        prepared = true;
    }

    err = (ss_error){0};
    char *name = inputs > 0 ? tb_get_text(input[0], "command", &err) : NULL;
    const entry *command = name ? find(name) : NULL;
    if (!command) {
        mexErrMsgIdAndTxt("stickslip:usage",
                          "stickslip_mex: unknown command '%s'; the functions to call are "
                          "listed by help stickslip",
                          name ? name : "");
        return;
    }
    mxFree(name);
    if (inputs - 1 < command->least || inputs - 1 > command->most) {
        mexErrMsgIdAndTxt("stickslip:usage", "stickslip_mex: '%s' takes %d to %d arguments", command->name,
                          command->least, command->most);
        return;
    }

    tb_call call = {.outputs = outputs, .output = output, .inputs = inputs - 1, .input = input + 1};
    if (!command->run(&call, &err)) mexErrMsgIdAndTxt(identifier(err.code), "%s", err.message);
}
