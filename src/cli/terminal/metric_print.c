#include "cli/terminal/metric_print.h"

#include <math.h>

void ss_metrics_json(ss_json *json, const ss_metric_value *values)
{
    ss_json_key(json, "metrics");
    ss_json_begin_object(json);
    for (int i = 0; i < ss_metric_count(); i++) {
        const ss_metric_value *value = &values[i];
        ss_json_key(json, ss_metric_at(i)->name);
        ss_json_begin_object(json);
        ss_json_member_known(json, "value", value->applies ? value->value : NAN);
        ss_json_member_index(json, "worst", value->worst_contact);
        if (value->worst_constraint >= 0)
            ss_json_member_index(json, "worst_constraint", value->worst_constraint);
        if (!value->applies) ss_json_member_text(json, "why", value->why);
        ss_json_end_object(json);
    }
    ss_json_end_object(json);
}

void ss_metric_add(ss_table *table, const ss_metric_value *value)
{
    if (value->applies)
        ss_table_add(table, "%.3g", value->value);
    else
        ss_table_add(table, "-");
}

void ss_metric_add_worst(ss_table *table, const ss_metric_value *value)
{
    if (value->worst_contact >= 0)
        ss_table_add(table, "contact %d", value->worst_contact);
    else if (value->worst_constraint >= 0)
        ss_table_add(table, "joint %d", value->worst_constraint);
    else
        ss_table_add(table, "-");
}

void ss_metrics_tabulate(ss_table *table, const ss_metric_value *values)
{
    *table = (ss_table){.columns = 4, .left = 4};
    ss_table_add(table, "metric"), ss_table_add(table, "value"), ss_table_add(table, "unit"),
        ss_table_add(table, "worst");
    for (int i = 0; i < ss_metric_count(); i++) {
        ss_table_add(table, "%s", ss_metric_at(i)->name);
        ss_metric_add(table, &values[i]);
        ss_table_add(table, "%s", ss_metric_at(i)->unit);
        if (values[i].applies)
            ss_metric_add_worst(table, &values[i]);
        else
            ss_table_add(table, "%s", values[i].why ? values[i].why : "");
    }
}
