#include "report/page.h"
#include "report/replay_internal.h"

#include <stdio.h>

static bool put_chunk(ss_replay *replay, const char *name, int chunk, ss_text *blocks, ss_error *err)
{
    size_t size;
    unsigned char *bytes = ss_replay_chunk(replay, chunk, &size, err);
    if (!bytes) return false;
    char id[32];
    snprintf(id, sizeof id, "%s-%d", name, chunk);
    ss_page_binary_block(blocks, id, bytes, size);
    ss_release(bytes);
    return true;
}

size_t ss_replay_page_size(void)
{
    return ss_page_view.before_size + ss_page_view.after_size;
}

bool ss_replay_write(ss_replay *replay, const char *path, ss_error *err)
{
    ss_text blocks = {0}, json = {0};
    ss_replay_json(replay, true, &json);
    ss_page_block(&blocks, "application/json", "replay", ss_text_get(&json), json.length);
    blocks.out_of_memory |= json.out_of_memory;
    ss_text_free(&json);
    bool good = true;
    for (int k = 0; good && k < replay->chunk_count; k++) good = put_chunk(replay, "chunk", k, &blocks, err);
    for (int k = 0; good && replay->other && k < replay->other->chunk_count; k++)
        good = put_chunk(replay->other, "other", k, &blocks, err);
    good = good && ss_page_write(&ss_page_view, &blocks, path, err);
    ss_text_free(&blocks);
    return good;
}
