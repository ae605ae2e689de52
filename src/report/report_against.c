/* Methods against the best of others in hindsight, as JSON. */
#include "report/report_json.h"

static void put_side(ss_json *json, const char *key, const ss_results *results, int method, double cost)
{
    ss_json_key(json, key);
    if (method < 0) {
        ss_json_null(json);
        return;
    }
    ss_json_begin_object(json);
    ss_json_member_integer(json, "method", method);
    ss_json_member_text(json, "label", results->methods[method].label);
    ss_report_key_real(json, "cost", cost);
    ss_json_end_object(json);
}

void ss_report_against(ss_json *json, const ss_results *results, const ss_against *against)
{
    ss_json_key(json, "against");
    ss_json_begin_object(json);
    ss_json_member_text(json, "methods", against->methods);
    ss_json_member_text(json, "bestOf", against->best_of);
    ss_json_member_integer(json, "refused", against->refused);
    ss_json_key(json, "scores");
    ss_json_begin_array(json);
    for (int t = 0; t < against->score_count; t++) {
        const ss_against_score *score = &against->scores[t];
        ss_json_begin_object(json);
        ss_report_key_real(json, "tolerance", score->tolerance);
        ss_report_key_real(json, "geometricMean", score->mean);
        ss_report_key_real(json, "worst", score->worst < 0 ? NAN : score->rows[score->worst].ratio);
        ss_json_member_integer(json, "both", score->both);
        ss_json_member_integer(json, "slower", score->slower);
        ss_json_member_integer(json, "twiceAsSlow", score->twice);
        ss_json_member_integer(json, "only", score->only);
        ss_json_member_integer(json, "onlyBest", score->only_best);
        ss_json_member_integer(json, "neither", score->neither);

        ss_json_key(json, "problems");
        ss_json_begin_array(json);
        for (int i = 0; i < against->count; i++) {
            const ss_against_row *row = &score->rows[i];
            ss_json_begin_object(json);
            ss_json_member_integer(json, "problem", row->problem);
            ss_json_member_integer(json, "machine", row->machine);
            put_side(json, "against", results, row->method, row->cost);
            put_side(json, "best", results, row->best_method, row->best_cost);
            ss_report_key_real(json, "ratio", row->ratio);
            ss_json_end_object(json);
        }
        ss_json_end_array(json);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
    ss_json_end_object(json);
}
