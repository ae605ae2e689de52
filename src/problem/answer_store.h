/* problem/answer_store.h - the memory of one answer, for one frame after the other. */
#ifndef SS_PROBLEM_ANSWER_STORE_H
#define SS_PROBLEM_ANSWER_STORE_H

#include <stickslip/answer.h>

typedef struct ss_answer_store {
    ss_answer *answer;          /* NULL: none yet */
    int bodies, rows, contacts; /* what it has room for */
} ss_answer_store;

/* As ss_answer_create makes it, all zero; the store keeps it. */
ss_answer *ss_answer_store_take(ss_answer_store *store, const ss_frame *frame, bool rolling, ss_error *err);
void ss_answer_store_free(ss_answer_store *store);

#endif
