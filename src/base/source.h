/* base/source.h - which program this is: two builds of one version may compute different numbers. */
#ifndef SS_BASE_SOURCE_H
#define SS_BASE_SOURCE_H

#include "base/inner.h"

/* SHA-256 of the library's source files (cmake/SourceDigest.cmake), 64 hexadecimal digits. */
SS_INNER const char *ss_source_digest(void);
/* As many of them as --version prints, and as a ledger keeps with every run. */
#define SS_SOURCE_DIGITS 12

#endif
