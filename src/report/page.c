#include "report/page.h"

#include "base/file.h"

void ss_page_block(ss_text *data, const char *type, const char *id, const char *contents, size_t size)
{
    ss_text_appendf(data, "<script type=\"%s\" id=\"%s\">", type, id);
    ss_text_append_bytes(data, contents, size);
    ss_text_append(data, "</script>\n");
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
