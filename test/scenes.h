/* Frames of bodies in contact: those of conformance/frames.h, for tests, where nothing may fail. */
#ifndef STICKSLIP_TEST_SCENES_H
#define STICKSLIP_TEST_SCENES_H

#include "known_cone.h"
#include "mechanics.h"

typedef ss_tower_recipe scene_recipe;

static inline ss_frame *sliding_block(double slope, double mu, double speed)
{
    return known(ss_mechanics_block(slope, mu, speed, NULL), NULL);
}

static inline ss_frame *sliding_rod(double mu)
{
    return known(ss_mechanics_rod(mu, NULL), NULL);
}

static inline ss_frame *towers(const scene_recipe *from)
{
    return known(ss_mechanics_towers(from, NULL), NULL);
}

#endif
