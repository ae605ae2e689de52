/* conformance/catalogue.h - the problems that every solver is tried on: what a solver accepts it must solve,
 * or the failure is in the list of expected ones (expected.h). First those from recipes, then those made by
 * hand: elementary mechanics, frames, problems without a solution. */
#ifndef SS_CONFORMANCE_CATALOGUE_H
#define SS_CONFORMANCE_CATALOGUE_H

#include "conformance/planted.h"

#include <stickslip/frame.h>

int ss_known_count(void);
int ss_known_recipes(void);                  /* problems 0 .. this - 1 are made from recipes */
const ss_recipe *ss_known_recipe(int index); /* NULL: made by hand */
const char *ss_known_name(int index);        /* "cone redundant" */
int ss_known_find(const char *name);         /* -1: none */
/* To be freed by ss_known_free. */
bool ss_known_make(int index, ss_known *made, ss_error *err);
/* The same seen by an observer who is turned; *there is false for problems that do not come from a frame. */
bool ss_known_make_turned(int index, bool *there, ss_known *made, ss_error *err);

/* Other problems of the same kind. Any mixture of laws on any matrix: `letters` holds its name. */
ss_recipe ss_known_mixture(uint64_t seed, char letters[16]);

/* The problem of a frame by a formulation and its options, "stewart-trinkle form=mixed". */
bool ss_known_from_frame(const char *name, const char *formulation, const ss_frame *frame, ss_known *made,
                         ss_error *err);
/* n balls on top of each other, each `growth` times as heavy as the one below; h g = 1. The impulse below a
 * ball is the weight above. */
bool ss_known_column(const char *name, int n, double growth, ss_known *made, ss_error *err);

#endif
