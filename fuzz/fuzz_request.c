/* The words of a request: one line each for formulation, its options, solver, its options, stop rule,
 * keep rule. What is accepted can be written again, and means the same. */
#include "fuzz.h"

#include "session/method.h"

static void check_again(const ss_method *method, const ss_request *request)
{
    ss_text with = {0}, set = {0};
    ss_options_differences(method->formulation->options, method->formulation_options, &with);
    ss_options_differences(method->solver->options, method->solver_options, &set);
    ss_request again = *request;
    again.with = ss_text_get(&with);
    again.set = ss_text_get(&set);
    ss_method copy;
    ss_error err = {0};
    bool good = ss_method_prepare(&again, &copy, NULL, &err);
    if (!good) fprintf(stderr, "%s\nwith %s\nset %s\n", err.message, again.with, again.set);
    must(good, "options that were accepted can be given again");
    ss_text with_again = {0}, set_again = {0};
    ss_options_differences(copy.formulation->options, copy.formulation_options, &with_again);
    ss_options_differences(copy.solver->options, copy.solver_options, &set_again);
    must(strcmp(ss_text_get(&with), ss_text_get(&with_again)) == 0 &&
             strcmp(ss_text_get(&set), ss_text_get(&set_again)) == 0,
         "options that are written and read are the same");
    ss_method_free(&copy);
    ss_text_free(&with), ss_text_free(&set), ss_text_free(&with_again), ss_text_free(&set_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *words[6] = {0}, *rest = text;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (int i = 0; i < 6; i++) words[i] = strsep(&rest, "\n");
    ss_request request = {.formulation = words[0] && *words[0] ? words[0] : NULL,
                          .with = words[1],
                          .solver = words[2] && *words[2] ? words[2] : NULL,
                          .set = words[3],
                          .stop = words[4] && *words[4] ? words[4] : NULL,
                          .keep = words[5] && *words[5] ? words[5] : NULL};
    ss_method method;
    ss_request_fault fault = {0};
    ss_error err = {0};
    if (ss_method_prepare(&request, &method, &fault, &err)) {
        check_again(&method, &request);
        ss_method_free(&method);
    } else {
        must(err.message[0] != '\0', "a request that is refused has a reason");
    }
    free(text);
    return 0;
}
