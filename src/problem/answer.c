#include <stickslip/problem.h>

ss_answer *ss_answer_create(const ss_frame *frame, bool rolling, ss_error *err)
{
    ss_answer *answer = ss_allocate(1, sizeof *answer);
    if (answer) {
        size_t bodies = (size_t)frame->bodies.count, contacts = (size_t)frame->contacts.count;
        answer->bodies = frame->bodies.count;
        answer->rows = frame->constraints.row_count;
        answer->contacts = frame->contacts.count;
        answer->velocity = ss_allocate(bodies, sizeof *answer->velocity);
        answer->lambda = ss_allocate((size_t)frame->constraints.row_count, sizeof *answer->lambda);
        answer->normal = ss_allocate(contacts, sizeof *answer->normal);
        answer->tangent = ss_allocate(contacts, sizeof *answer->tangent);
        if (rolling) answer->rolling = ss_allocate(contacts, sizeof *answer->rolling);
        if (answer->velocity && answer->lambda && answer->normal && answer->tangent &&
            (answer->rolling || !rolling))
            return answer;
    }
    ss_answer_destroy(answer);
    ss_fail(err, SS_ERROR_RESOURCES, "answer: out of memory for %d bodies and %d contacts",
            frame->bodies.count, frame->contacts.count);
    return NULL;
}

void ss_answer_destroy(ss_answer *answer)
{
    if (!answer) return;
    ss_release(answer->velocity);
    ss_release(answer->lambda);
    ss_release(answer->normal);
    ss_release(answer->tangent);
    ss_release(answer->rolling);
    ss_release(answer);
}
