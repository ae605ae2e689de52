/* A point mass on the ground: what the energy error says in cases that one can do by heart. */
#include "paper/paper.h"

#include <math.h>

/* A mass in a contact is the row x >= 0, w >= 0, x w = 0 with a = 1/m. Powers of two, so
 * that all is exact. */
static const double mass = 2.0, speed = 0.5, impulse = 0.25;

typedef struct point_case {
    const char *name;
    double lower, upper, x, w;
    double expected; /* J */
    const char *printed;
    const char *note;
} point_case;

static bool run(ss_paper_report *report, ss_error *err)
{
    (void)err;
    const double a = 1.0 / mass, bound = 1.0;
    const double approach = 0.5 * mass * speed * speed, pull = 0.5 * a * impulse * impulse;
    const point_case cases[] = {
        {"(a) rests on the ground: x > 0, w = 0", 0.0, INFINITY, impulse, 0.0, 0.0, "0", "a solution"},
        {"(b) goes into the ground: x = 0, w < 0", 0.0, INFINITY, 0.0, -speed, approach, "w^2/(2a)",
         "w^2/(2a): the kinetic energy of the approach"},
        {"(c) is held by the ground: x < 0, w = 0", 0.0, INFINITY, -impulse, 0.0, pull, "a x^2/2",
         "a x^2/2: the kinetic energy that the pulling impulse took away"},
        {"(d) leaves the ground: x = 0, w > 0", 0.0, INFINITY, 0.0, speed, 0.0, "0", "a solution"},
        {"slides, friction at its bound, opposing it", -bound, bound, bound, -speed, 0.0, "0", "a solution"},
        {"slides, friction at its bound, driving it", -bound, bound, bound, speed, approach, "Fig. 6",
         "w^2/(2a), smaller than a (2u)^2/2, the distance to the other bound"},
        {"slides slowly without friction", -bound, bound, 0.0, speed / 8, approach / 64, "Fig. 6",
         "w^2/(2a): an impulse within the bounds would stop it"},
        {"slides fast without friction", -bound, bound, 0.0, 4 * speed, 0.5 * a * bound * bound, "Fig. 6",
         "a u^2/2: no impulse within the bounds stops it; the one at the bound is missing"},
        {"sticks by more friction than Coulomb's law allows", -bound, bound, bound + impulse, 0.0, pull,
         "Fig. 6", "a (x - u)^2/2"},
        {"sticks", -bound, bound, impulse, 0.0, 0.0, "0", "a solution"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const point_case *c = &cases[i];
        double ours = ss_paper_row(a, c->lower, c->upper, c->x, c->w).energy;
        ss_paper_reproduces(report, c->name, "J", c->printed, ours, ours == c->expected, c->note);
    }
    return true;
}

const ss_paper ss_paper_point_mass = {
    .id = "point-mass",
    .title = "energy error of a point mass on the ground",
    .reference = "Enzenhöfer, Peiret, Teichmann, Kövecses 2019, Figs. 5 and 6",
    .about = "A mass of 2 kg (ours; the paper has symbols) touches the ground. Normal cases (a) to (d), "
             "then sliding with friction bounds of 1 N s. Each value must equal the one computed by hand, "
             "bit for bit.",
    .run = run,
};
