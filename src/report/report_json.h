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
static inline void ss_report_key_real(ss_json *json, const char *key, double value)
{
    ss_json_key(json, key), ss_report_real(json, value);
}
/* Keys "runs", and "series", "recorded", "pairs", "scenes" and "advice". */
void ss_report_runs(ss_json *json, const ss_results *results, const ss_statistics *statistics);
void ss_report_series(ss_json *json, const ss_statistics *statistics);
/* Key "against". */
void ss_report_against(ss_json *json, const ss_results *results, const ss_against *against);

#endif
