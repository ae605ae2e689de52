/* stickslip/stickslip.h - everything at once, in reading order. Each header compiles alone. */
#ifndef STICKSLIP_H
#define STICKSLIP_H

/* ---- what everything stands on ---------------------------------------------------------------------- */
#include <stickslip/base.h>

/* ---- a contact problem: stated, solved, judged ------------------------------------------------------ */
#include <stickslip/frame.h>
#include <stickslip/patch.h>
#include <stickslip/sparse.h>
#include <stickslip/answer.h>
#include <stickslip/peg.h>
#include <stickslip/cone.h>
#include <stickslip/problem.h>
#include <stickslip/formulation.h>
#include <stickslip/solver.h>
#include <stickslip/metrics.h>
#include <stickslip/certificate.h>
#include <stickslip/session.h>
#include <stickslip/batch.h>
#include <stickslip/diagnosis.h>

/* ---- a world and its contacts ----------------------------------------------------------------------- */
#include <stickslip/model.h>
#include <stickslip/modelfile.h>
#include <stickslip/collision.h>

/* ---- problems in files, and from other programs ----------------------------------------------------- */
#include <stickslip/dataset.h>
#include <stickslip/recorder.h>

/* ---- time stepping ---------------------------------------------------------------------------------- */
#include <stickslip/sim.h>
#include <stickslip/scene.h>

/* ---- solvers, formulations, metrics, scenes and user functions of your own -------------------------- */
#include <stickslip/plugin.h>

#endif
