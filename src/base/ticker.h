/* base/ticker.h - a thread that calls a function again and again. It sleeps otherwise, takes no signals,
 * and a forked child does not have it. */
#ifndef SS_BASE_TICKER_H
#define SS_BASE_TICKER_H

#include <stickslip/base.h>

typedef struct ss_ticker ss_ticker;
/* The first call comes after `seconds`. NULL when there is no memory or thread for it. */
ss_ticker *ss_ticker_start(double seconds, void (*tick)(void *context), void *context);
/* No call runs or follows after this; NULL is allowed. */
void ss_ticker_stop(ss_ticker *ticker);

#endif
