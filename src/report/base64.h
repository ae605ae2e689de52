/* report/base64.h - bytes as text (RFC 4648), for pages that hold their data. */
#ifndef SS_REPORT_BASE64_H
#define SS_REPORT_BASE64_H

#include "base/text.h"

void ss_base64(ss_text *text, const unsigned char *bytes, size_t size);

#endif
