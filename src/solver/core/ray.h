/* solver/core/ray.h - impulses that can be added without bound, and what they prove. */
#ifndef SS_SOLVER_CORE_RAY_H
#define SS_SOLVER_CORE_RAY_H

#include <stickslip/solver.h>

/* Makes a ray of y, projected on what the laws allow without end, if it is one: A y = 0 and b . y < 0 up to
 * rounding, measured in roots of energy. A must be symmetric. scratch: that of ss_problem_apply, w:
 * problem->size numbers. ray->impulse is of unit energy, y . D y / 2 with D the diagonal of A. False: it is
 * none, or out of memory. */
bool ss_ray_confirm(const ss_problem *problem, const double *y, double *scratch, double *w, ss_ray *ray);
/* A ray that relies on friction shows nothing about solutions that slip. Where normals and joints contradict
 * each other without any friction, a ray of these takes its place, which is a proof. time_limit: s; 0 =
 * none. */
void ss_ray_prove(const ss_problem *problem, double time_limit, ss_ray *ray);

#endif
