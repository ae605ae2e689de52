/* certificate/forward.h - how far the exact velocities can be, under the convex law. */
#ifndef CERTIFICATE_FORWARD_H
#define CERTIFICATE_FORWARD_H

#include "certificate/verifier.h"

/* J: an upper bound of 1/2 |v - v_exact|^2 in the norm of M, v the velocities of the answer; infinite where
 * none was found. `v` has settled impulses and their velocities, of a frame without joint rows and without
 * torsional friction beside a cone; its velocities are overwritten. inside: velocities with w_N > sum |mu
 * w_T| at every contact. */
double ss_verify_forward(ss_verifier *v, const ss_answer *inside);

#endif
