/* report/report_json.h - pieces of ss_report_json. */
#ifndef SS_REPORT_REPORT_JSON_H
#define SS_REPORT_REPORT_JSON_H

#include "report/report.h"

/* A number; null for what JSON cannot say. */
static inline void ss_report_real(ss_json *json, double value)
{
    if (value - value == 0.0)
        ss_json_real(json, value);
    else
        ss_json_null(json);
}
static inline void ss_report_key_text(ss_json *json, const char *key, const char *value)
{
    ss_json_key(json, key), ss_json_string(json, value);
}
static inline void ss_report_key_real(ss_json *json, const char *key, double value)
{
    ss_json_key(json, key), ss_report_real(json, value);
}
static inline void ss_report_key_integer(ss_json *json, const char *key, long long value)
{
    ss_json_key(json, key), ss_json_integer(json, value);
}
/* null for a negative index */
static inline void ss_report_key_index(ss_json *json, const char *key, int index)
{
    ss_json_key(json, key);
    if (index < 0)
        ss_json_null(json);
    else
        ss_json_integer(json, index);
}

/* Keys "runs", and "series", "pairs" and "advice". */
void ss_report_runs(ss_json *json, const ss_results *results, const ss_statistics *statistics);
void ss_report_series(ss_json *json, const ss_statistics *statistics);

#endif
