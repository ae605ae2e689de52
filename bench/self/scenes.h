/* bench/self/scenes.h - problems of any size, made without the simulator. */
#ifndef BENCH_SELF_SCENES_H
#define BENCH_SELF_SCENES_H

#include <stickslip/stickslip.h>

/* Stops the program when `made` is NULL. */
void *must(void *made);
_Noreturn void stop(const char *what);

/* Bricks of 1 x 0.5 x 0.5 m in running bond, about this many contacts; nothing moves. */
ss_frame *make_wall(int contacts);
/* Balls of diameter 1 m on a lattice that is not quite regular, moving a little; the heap is open at the
 * sides and slides apart. */
ss_frame *make_pile(int contacts);
/* Every contact becomes a spring of this stiffness, N/m. */
void soften(ss_frame *frame, double stiffness);
/* Bodies and contacts in no order, as an engine may give them. */
void shuffle(ss_frame *frame);
/* The cone formulation of a frame. */
ss_problem *assemble(const ss_frame *frame);

#endif
