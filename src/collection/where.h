/* collection/where.h - which problems are meant: "contacts<1000 and (sliding>0.3 or not planar=1)".
 *
 *     or      := and { "or" and }
 *     and     := not { "and" not }
 *     not     := "not" not | "(" or ")" | COLUMN OPERATOR VALUE
 *     OPERATOR: < <= > >= = == != and ~ (the text contains)
 *
 * Words in any case; values with blanks or signs in quotes. Levels of certificates are ordered, so that
 * level>=backward has a meaning; other texts are only equal or not. A value that is not known fulfils no
 * comparison. web/src/collection/where.ts reads the same language. */
#ifndef SS_COLLECTION_WHERE_H
#define SS_COLLECTION_WHERE_H

#include "collection/index.h"

typedef struct ss_where ss_where;
/* NULL with a message that names the place and what was expected. */
ss_where *ss_where_read(const char *text, ss_error *err);
void ss_where_free(ss_where *where);
bool ss_where_holds(const ss_where *where, const ss_collection_row *row); /* NULL: always */

#endif
