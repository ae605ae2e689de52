/* stickslip/stickslip.h - everything at once. Read the headers in this order. */
#ifndef STICKSLIP_H
#define STICKSLIP_H

#include <stickslip/base.h>
#include <stickslip/model.h>
#include <stickslip/collision.h>
#include <stickslip/frame.h>
#include <stickslip/sparse.h>
#include <stickslip/answer.h>
#include <stickslip/cone.h>
#include <stickslip/problem.h>
#include <stickslip/formulation.h>
#include <stickslip/solver.h>
#include <stickslip/diagnosis.h>
#include <stickslip/metrics.h>
#include <stickslip/session.h>
#include <stickslip/dataset.h>
#include <stickslip/recorder.h>
#include <stickslip/sim.h>
#include <stickslip/scene.h>

#endif
