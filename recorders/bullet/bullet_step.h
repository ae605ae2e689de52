/* recorders/bullet/bullet_step.h - one step of Bullet as records (dataset/capture_rows.h). Shared by the
 * library and the preloaded form.
 *
 * Bullet's constraint solvers work on rows J = (n1, r1 x n1, n2, r2 x n2) with the impulses x:
 *
 *     v+ = v + ext + M^-1 J' x,    J (v+ - v*) + (cfm / D) x = rhs / D,    lo <= x <= hi,   v* = v + ext
 *
 * where ext holds gravity, loads and the gyroscopic torque, and D is m_jacDiagABInv. When a solver is about
 * to finish an island, its pools have all of that and the impulses: contacts, one or two friction rows
 * each, bounded by friction times the normal impulse, and the rows of joints, bounded by impulses. They are
 * copied here, and nothing is computed: a step of Bullet is short. The frame is made of them by the process
 * that writes it (dataset/capture_rows.c).
 *
 * A contact with one friction row, which is Bullet's default, has friction along its tangent and none across.
 * Bullet's normal points from B to A, so a = B and b = A; it keeps two points of a contact, and so does the
 * frame (lever arms). Split impulses move positions only and are not part of the problem.
 */
#ifndef SS_RECORDERS_BULLET_STEP_H
#define SS_RECORDERS_BULLET_STEP_H

#include <btBulletDynamicsCommon.h>

#include "dataset/capture_rows.h"
#include "sink.h"

struct ss_bullet_step;

ss_bullet_step *ss_bullet_step_create();
void ss_bullet_step_destroy(ss_bullet_step *step);

/* Looks at the file of the Bullet library in this process, "libBulletDynamics.so.3.24". False with err:
 * another version or precision than the recorder was built for. */
bool ss_bullet_check_library(const char *symbol, ss_error *err);

/* When the world is about to solve, for every island that was solved, and when all are. False: out of memory,
 * or the sink is broken. */
bool ss_bullet_begin(ss_bullet_step *step, ss_sink *sink, btDiscreteDynamicsWorld *world,
                     const btContactSolverInfo &info);
bool ss_bullet_island(ss_bullet_step *step, ss_sink *sink, const btSequentialImpulseConstraintSolver *solver);
bool ss_bullet_end(ss_bullet_step *step, ss_sink *sink);

#endif
