/* report/page.h - the pages of web/, bundled at build time: one HTML file each, which needs
 * nothing but its data. */
#ifndef SS_REPORT_PAGE_H
#define SS_REPORT_PAGE_H

#include "base/text.h"

typedef struct ss_page {
    const unsigned char *before; /* the data goes between the two */
    size_t before_size;
    const unsigned char *after;
    size_t after_size;
} ss_page;
extern const ss_page ss_page_report, ss_page_view, ss_page_paper, ss_page_collection;

/* A block of data for a page, as an element <script type="..." id="..."> that no browser runs. `contents`
 * must not hold "</": JSON that was written with inside_html does not, nor does base64. */
void ss_page_block(ss_text *data, const char *type, const char *id, const char *contents, size_t size);
/* The same of any bytes, as base64, type application/octet-stream. */
void ss_page_binary_block(ss_text *data, const char *id, const unsigned char *bytes, size_t size);
/* JSON, deflated when it is large (SS_PAGE_LARGE bytes): a browser inflates what it would be slow to read. */
#define SS_PAGE_LARGE ((size_t)4 << 20)
void ss_page_json_block(ss_text *data, const char *id, const ss_text *json);
/* The whole page, with blocks in their place. */
void ss_page_fill(const ss_page *page, const ss_text *blocks, ss_text *html);
/* Replaces the file in one go. */
bool ss_page_write(const ss_page *page, const ss_text *blocks, const char *path, ss_error *err);

#endif
