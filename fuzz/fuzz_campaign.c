/* Campaign files: JSON that says what to run. What is read must expand to methods, or be refused with a
 * reason. */
#include "fuzz.h"

#include "campaign/campaign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ss_catalogue_entry entries[] = {{"pgs", -1, ~0ull}, {"psor", -1, 1}, {"lemke", -1, 2}};
    static const ss_catalogue catalogue = {entries, 3};
    ss_campaign campaign;
    ss_error err = {0};
    if (!ss_campaign_create(&campaign, &err)) return 0;
    if (ss_campaign_read_text(&campaign, (const char *)data, size, "fuzz.json", &err)) {
        ss_planned_method *methods;
        int count;
        ss_text left_out = {0};
        bool good = ss_campaign_expand(&campaign, &catalogue, &methods, &count, &left_out, &err);
        must(good || err.message[0], "methods that cannot be made have a reason");
        ss_release(methods);
        ss_text_free(&left_out);
    } else {
        must(strncmp(err.message, "fuzz.json: ", 11) == 0, "a failure names the file");
    }
    ss_campaign_free(&campaign);
    return 0;
}
