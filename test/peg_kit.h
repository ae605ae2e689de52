/* Frames with alternatives, and worlds of polyhedra, for tests of polyhedral exact geometry. */
#ifndef STICKSLIP_TEST_PEG_KIT_H
#define STICKSLIP_TEST_PEG_KIT_H

#include <stickslip/stickslip.h>

#include "worlds.h"

/* The square of 0.2 m and 1 kg whose lower left vertex is at (x, y) from the corner of {x <= 0, y <= 0},
 * falling at 3 m/s: one group, whose contact is the top face (normal y) and whose other alternative is the
 * side. */
static inline ss_frame *vertex_at_corner(double x, double y)
{
    ss_error err = {0};
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, &err);
    must(frame && ss_frame_add_alternatives(frame, 1, 1, &err), &err);
    frame->h = 0.01;
    ss_frame_set_planar_body(frame, 0, 1, 0.08 / 12, (double[3]){x + 0.1, y + 0.1, 0}, (double[3]){0, -3, 0},
                             (double[3]){0, -9.81, 0});
    ss_contacts *contacts = &frame->contacts;
    contacts->pair[0][0] = SS_WORLD;
    contacts->pair[0][1] = 0;
    contacts->point[0][0] = x;
    contacts->point[0][1] = y;
    contacts->normal[0][1] = 1;
    contacts->gap[0] = y;
    ss_subcontacts *sub = &frame->subcontacts;
    sub->contact_group[0] = 0;
    sub->cut[0] = 0.01; // 5 % of the square
    sub->alternative[0] = 1;
    sub->point[0][0] = x;
    sub->point[0][1] = y;
    sub->normal[0][0] = 1;
    sub->gap[0] = x;
    return frame;
}

/* Options of scenes about exact geometry. */
static inline ss_sim_options peg_options(double h)
{
    ss_sim_options options = default_options();
    options.h = h;
    options.formulation = "stewart-trinkle";
    options.solver = "lemke";
    options.finisher = "none";
    options.max_iterations = 10000;
    options.stop = "relative_energy<1e-13";
    options.peg = SS_PEG_SELECT;
    options.threads = 1;
    return options;
}

static inline void add_static_box(ss_world *world, double x, double y, double z, double a, double b, double c)
{
    ss_error err = {0};
    ss_shape shape = {.kind = SS_BOX, .size = {a, b, c}, .position = {x, y, z}};
    must(ss_world_add_shape(world, SS_WORLD, &shape, &err) >= 0, &err);
}

/* N s: all normal impulses of the last step. */
static inline double impulse_of_step(const ss_sim *sim)
{
    const ss_answer *answer = ss_sim_answer(sim);
    double sum = 0;
    for (int c = 0; c < answer->contacts; c++) sum += answer->normal_impulse[c];
    for (int r = 0; r < answer->subcontacts; r++) sum += answer->sub_normal_impulse[r];
    return sum;
}

#endif
