#include "cli/rules.h"

#include "session/method.h"

bool ss_rules_read(const char *verb, const char *formulation, const ss_option_list *with, ss_text *joined,
                   ss_error *err)
{
    ss_option_list_join(with, joined);
    if (joined->out_of_memory) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for rules");
    ss_request request = {.formulation = formulation ? formulation : "cone", .with = ss_text_get(joined)};
    ss_request_fault fault = {0};
    ss_method method;
    if (!ss_method_prepare(&request, &method, &fault, err)) {
        if (fault.member) ss_fail_in(err, fault.item[0] ? "--%s %s" : "--%s", fault.member, fault.item);
        return ss_fail_in(err, "%s", verb);
    }
    ss_method_free(&method);
    return true;
}
