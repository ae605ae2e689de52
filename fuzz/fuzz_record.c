/* Records on their way from a worker to the ledger: bytes as they come, or a good record with some bytes
 * changed. Whatever is unpacked can be packed and unpacked again, to the same bytes. */
#include "fuzz.h"

#include "campaign/record.h"

#include "../test/ledger_kit.h"

static void check(const char *bytes, size_t size)
{
    ss_unpacker from = {.at = bytes, .end = bytes + size};
    ss_run_entry run, again;
    if (!ss_record_unpack(&from, &run)) return;
    must(!from.bad && from.at <= from.end, "a record lies within its bytes");
    must(run.history_count >= 0 && run.crossing_count >= 0 && run.bin_count >= 0, "counts are counts");
    ss_text once = {0}, twice = {0};
    ss_record_pack(&run, &once);
    ss_unpacker back = {.at = ss_text_get(&once), .end = ss_text_get(&once) + once.length};
    must(ss_record_unpack(&back, &again), "what is packed can be unpacked");
    ss_record_pack(&again, &twice);
    must(once.length == twice.length && memcmp(ss_text_get(&once), ss_text_get(&twice), once.length) == 0,
         "packing twice gives the same bytes");
    ss_record_clear(&run);
    ss_record_clear(&again);
    ss_text_free(&once);
    ss_text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    program p = {data, size};
    unsigned which = below(&p, 16);
    if (which == 0) {
        check((const char *)p.data, p.left);
        return 0;
    }
    static made_run made;
    make_run(&made, (int)which % MADE_PROBLEMS, (int)which % MADE_METHODS, 0, 1);
    // short, so that a change hits something
    if (made.run.history) made.run.history_count = (int)below(&p, 4);
    ss_text text = {0};
    ss_record_pack(&made.run, &text);
    size_t length = text.length;
    while (p.left > 0 && length > 0) {
        size_t at = (next(&p) << 8 | next(&p)) % length;
        text.data[at] = (char)next(&p);
        if (below(&p, 16) == 1) length = at;
    }
    check(ss_text_get(&text), length);
    ss_text_free(&text);
    return 0;
}
