/* What the library has: solvers, formulations, metrics. */
#include "toolbox.h"

bool tb_do_version(const tb_call *call, ss_error *err)
{
    (void)err;
    call->output[0] = tb_text(ss_version());
    return true;
}

bool tb_do_solvers(const tb_call *call, ss_error *err)
{
    static const char *fields[] = {"name", "summary", "reference", "weakness", "options"};
    (void)err;
    mxArray *list = mxCreateStructMatrix(1, (mwSize)ss_solver_count(), 5, fields);
    for (int i = 0; i < ss_solver_count(); i++) {
        const ss_solver *solver = ss_solver_at(i);
        mxSetField(list, (mwIndex)i, "name", tb_text(solver->name));
        mxSetField(list, (mwIndex)i, "summary", tb_text(solver->summary));
        mxSetField(list, (mwIndex)i, "reference", tb_text(solver->reference));
        mxSetField(list, (mwIndex)i, "weakness", tb_text(solver->weakness));
        mxSetField(list, (mwIndex)i, "options", tb_options(solver->options));
    }
    call->output[0] = list;
    return true;
}

bool tb_do_formulations(const tb_call *call, ss_error *err)
{
    static const char *fields[] = {"name", "summary", "reference", "options"};
    (void)err;
    mxArray *list = mxCreateStructMatrix(1, (mwSize)ss_formulation_count(), 4, fields);
    for (int i = 0; i < ss_formulation_count(); i++) {
        const ss_formulation *formulation = ss_formulation_at(i);
        mxSetField(list, (mwIndex)i, "name", tb_text(formulation->name));
        mxSetField(list, (mwIndex)i, "summary", tb_text(formulation->summary));
        mxSetField(list, (mwIndex)i, "reference", tb_text(formulation->reference));
        mxSetField(list, (mwIndex)i, "options", tb_options(formulation->options));
    }
    call->output[0] = list;
    return true;
}

bool tb_do_metrics(const tb_call *call, ss_error *err)
{
    static const char *fields[] = {"name", "unit", "summary", "definition"};
    (void)err;
    mxArray *list = mxCreateStructMatrix(1, (mwSize)ss_metric_count(), 4, fields);
    for (int i = 0; i < ss_metric_count(); i++) {
        const ss_metric *metric = ss_metric_at(i);
        mxSetField(list, (mwIndex)i, "name", tb_text(metric->name));
        mxSetField(list, (mwIndex)i, "unit", tb_text(metric->unit));
        mxSetField(list, (mwIndex)i, "summary", tb_text(metric->summary));
        mxSetField(list, (mwIndex)i, "definition", tb_text(metric->definition));
    }
    call->output[0] = list;
    return true;
}
