/* The readers of model files, from memory: no file is opened. Whatever the bytes are, they become a world
 * that can be finished and stepped, or are refused with a reason; what is refused names the file. */
#include "fuzz.h"

#include <stickslip/stickslip.h>

static void step(ss_world *world)
{
    ss_error err = {0};
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.threads = 1;
    options.max_iterations = 5;
    options.finisher = "none";
    ss_sim *sim = ss_sim_create(world, &options, &err);
    must(sim || err.message[0], "a simulation that is refused has a reason");
    if (sim) must(ss_sim_step(sim, &err) || err.message[0], "a step that fails has a reason");
    ss_sim_destroy(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {NULL, "0", "k", "1"};
    if (size == 0) return 0;
    ss_model_options options = {.base = data[0] % 3, .floor = data[0] & 4, .key = keys[data[0] >> 3 & 3]};
    ss_error err = {0};
    ss_findings findings = {.limit = 50};
    ss_model_info info;
    ss_world *world = ss_world_create(&err);
    must(world != NULL, "there is memory");
    bool good = ss_model_parse((const char *)data + 1, size - 1, "fuzz", NULL, &options, world, &info,
                               &findings, &err);
    must(good || (err.code != SS_OK && err.message[0]), "a model that is refused has a reason");
    if (good && ss_world_body_count(world) <= 50 && ss_world_shape_count(world) <= 50) step(world);
    ss_findings_free(&findings);
    ss_world_destroy(world);
    return 0;
}
