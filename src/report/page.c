#include "report/page.h"

#include "base/file.h"
#include "report/base64.h"

#include <zlib.h>

void ss_page_block(ss_text *data, const char *type, const char *id, const char *contents, size_t size)
{
    ss_text_appendf(data, "<script type=\"%s\" id=\"%s\">", type, id);
    ss_text_append_bytes(data, contents, size);
    ss_text_append(data, "</script>\n");
}

void ss_page_binary_block(ss_text *data, const char *id, const unsigned char *bytes, size_t size)
{
    ss_text base64 = {0};
    ss_base64(&base64, bytes, size);
    ss_page_block(data, "application/octet-stream", id, ss_text_get(&base64), base64.length);
    data->out_of_memory |= base64.out_of_memory;
    ss_text_free(&base64);
}

void ss_page_json_block(ss_text *data, const char *id, const ss_text *json)
{
    uLongf packed = compressBound((uLong)json->length);
    bool large = json->length >= SS_PAGE_LARGE;
    unsigned char *bytes = large ? ss_allocate(packed, 1) : NULL;
    if (!large)
        ss_page_block(data, "application/json", id, ss_text_get(json), json->length);
    else if (bytes &&
             compress2(bytes, &packed, (const unsigned char *)json->data, (uLong)json->length, 6) == Z_OK)
        ss_page_binary_block(data, id, bytes, packed);
    else
        data->out_of_memory = true;
    data->out_of_memory |= json->out_of_memory;
    ss_release(bytes);
}

void ss_page_fill(const ss_page *page, const ss_text *blocks, ss_text *html)
{
    ss_text_append_bytes(html, (const char *)page->before, page->before_size);
    ss_text_append_bytes(html, ss_text_get(blocks), blocks->length);
    ss_text_append_bytes(html, (const char *)page->after, page->after_size);
}

bool ss_page_write(const ss_page *page, const ss_text *blocks, const char *path, ss_error *err)
{
    ss_text html = {0};
    ss_page_fill(page, blocks, &html);
    bool good = !blocks->out_of_memory && !html.out_of_memory;
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory for the page", path);
    good = good && ss_file_replace(path, ss_text_get(&html), html.length, err);
    ss_text_free(&html);
    return good;
}
