/* Written by tools/learn --costs --write; do not edit. An iteration in sweeps, for problems with bodies:
 * factor, power of the unknowns, power of the unknowns per body. From 3038 runs on 1337 problems of 20
 * families. Half of the runs are within a factor of admm 1.29, 1.34; newton 1.25, 1.32; interior 1.21, 1.23;
 * the second if their families are held out. */
#ifndef SS_AUTO_LEARNED_H
#define SS_AUTO_LEARNED_H

#define SS_LEARNED_ADMM 1.74, 0.30, -0.18
#define SS_LEARNED_NEWTON 3.19, 0.51, -0.27
#define SS_LEARNED_INTERIOR 2.73, 0.54, -0.18

#endif
