#include "report/page.h"
#include "report/replay_internal.h"

#include <stdio.h>

/* A block of base64. */
static bool put_chunk(ss_replay *replay, const char *name, int chunk, ss_text *blocks, ss_error *err)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size, filled = 0;
    unsigned char *bytes = ss_replay_chunk(replay, chunk, &size, err);
    if (!bytes) return false;
    ss_text base64 = {0};
    char line[4096];
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        line[filled++] = digits[three >> 18];
        line[filled++] = digits[three >> 12 & 63];
        line[filled++] = left > 1 ? digits[three >> 6 & 63] : '=';
        line[filled++] = left > 2 ? digits[three & 63] : '=';
        if (filled == sizeof line) {
            ss_text_append_bytes(&base64, line, filled);
            filled = 0;
        }
    }
    ss_text_append_bytes(&base64, line, filled);
    ss_release(bytes);

    char id[32];
    snprintf(id, sizeof id, "%s-%d", name, chunk);
    ss_page_block(blocks, "application/octet-stream", id, ss_text_get(&base64), base64.length);
    blocks->out_of_memory |= base64.out_of_memory;
    ss_text_free(&base64);
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
