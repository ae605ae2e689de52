/* collection/page.h - index.html: the index to browse, with pictures, in one file that needs nothing else. */
#ifndef SS_COLLECTION_PAGE_H
#define SS_COLLECTION_PAGE_H

#include "collection/collection.h"

bool ss_collection_page(const ss_edition *edition, const ss_collection_index *index, ss_error *err);

#endif
