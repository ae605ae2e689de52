/* Repairs of constraint rows: the order of the Jacobian's blocks in any file that does not state it,
 * and two defects of Gazebo's writer: `violations` holds ODE's right-hand side, and `bounds` stand
 * in wrong places. */
#include "dataset/bpmd.h"

#include <math.h>
#include <string.h>

/* ODE's right-hand side is computed with 60 steps per second and an error reduction of 1 for equations and of
 * the joint's own stop_erp for limits; that is not stored, so ODE's default 0.2 is assumed. */
static const double steps_per_second = 60, default_stop_erp = 0.2;

/* ---- order of blocks --------------------------------------------------------------------------------- */

/* The attribute, then the contents, then the custom of the dialect. */
static bool choose_order(const ss_bpmd_stored *stored, ss_dialect dialect, ss_block_order *order,
                         const char **how, ss_error *err)
{
    *how = "stated by block_order";
    *order = SS_BLOCKS_STRAIGHT;
    for (int k = 0; k < 4; k++)
        if (strcmp(stored->block_order, ss_bpmd_order_name(k & 1, k & 2)) == 0) return true;
    if (strcmp(stored->block_order, "reversed") == 0) {
        *order = SS_BLOCKS_REVERSED;
        return true;
    }
    if (stored->block_order[0])
        return ss_fail(
            err, SS_ERROR_INPUT,
            "%s: %s: the attribute block_order is \"%s\", must be \"pairs\", \"reversed\", \"%s\", \"%s\" or "
            "\"%s\"",
            stored->file->name, stored->constraints.group.path, stored->block_order,
            ss_bpmd_order_name(true, false), ss_bpmd_order_name(false, true), ss_bpmd_order_name(true, true));

    if (stored->family == SS_FAMILY_OURS || stored->file->options.dialect == SS_DIALECT_CANONICAL)
        return true;
    *order = ss_bpmd_block_order(stored->frame, how);
    if (*order != SS_BLOCKS_UNKNOWN) return true;

    *how = "the convention of Gazebo's writer";
    if (dialect == SS_DIALECT_GAZEBO) *order = SS_BLOCKS_REVERSED;
    return true;
}

static bool repair_order(ss_bpmd_stored *stored, ss_dialect dialect, ss_error *err)
{
    ss_constraints *joints = &stored->frame->constraints;
    ss_block_order order;
    const char *how;
    if (!choose_order(stored, dialect, &order, &how, err)) return false;

    if (order == SS_BLOCKS_REVERSED) {
        for (int i = 0; i < joints->row_count; i++)
            for (int c = 0; c < 6; c++) {
                double kept = joints->jacobian[i][c];
                joints->jacobian[i][c] = joints->jacobian[i][c + 6];
                joints->jacobian[i][c + 6] = kept;
            }
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "constraints", "Jacobian",
                    "columns 0-5 belong to the second body of the pair (%s): blocks swapped", how);
    }

    /* Joints with the world would have shown the order; only between bodies is there a doubt. */
    bool inner = false;
    for (int k = 0; k < joints->count; k++)
        inner |= joints->pair[k][0] != SS_WORLD && joints->pair[k][1] != SS_WORLD;
    if (order == SS_BLOCKS_UNKNOWN && inner)
        ss_bpmd_say(stored, SS_FINDING_WARNING, "constraints", "Jacobian",
                    "the file does not show which body columns 0-5 belong to: the first of the pair is "
                    "assumed");
    return true;
}

/* ---- bounds --------------------------------------------------------------------------------------- */

static void repair_bounds(ss_bpmd_stored *stored)
{
    ss_constraints *joints = &stored->frame->constraints;
    ss_bounds_story story = {0};
    for (int k = 0, row = 0; k < joints->count; row += joints->rows[k++])
        ss_bpmd_sort_bounds(joints->bounds + row, joints->rows[k], &story);
    if (story.moved)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "constraints", "bounds",
                    "was misplaced in %d of %d joints (the writer's stride error): corrected", story.moved,
                    joints->count);
    if (story.deduced)
        ss_bpmd_say(
            stored, SS_FINDING_WARNING, "constraints", "bounds",
            "the upper bound was overwritten by the writer in %d of %d rows: restored from the lower one",
            story.deduced, joints->row_count);
    if (story.doubtful)
        ss_bpmd_say(stored, SS_FINDING_WARNING, "constraints", "bounds",
                    "unknown in %d of %d rows: treated as unbounded", story.doubtful, joints->row_count);
}

/* ---- right-hand sides ----------------------------------------------------------------------------- */

typedef enum row_kind { BILATERAL, LIMIT, MOTOR } row_kind;

static void repair_violations(ss_bpmd_stored *stored)
{
    ss_constraints *joints = &stored->frame->constraints;
    int count[3] = {0};
    for (int i = 0; i < joints->row_count; i++) {
        double right_side = joints->violation[i]; // 0 - x instead of -x: no negative zeros
        bool lower = joints->bounds[i][0] != -INFINITY, upper = joints->bounds[i][1] != INFINITY;
        row_kind kind = lower != upper ? LIMIT : lower ? MOTOR : BILATERAL;
        count[kind]++;
        if (kind == BILATERAL) joints->violation[i] = 0.0 - right_side / steps_per_second;
        if (kind == LIMIT) joints->violation[i] = 0.0 - right_side / (steps_per_second * default_stop_erp);
        if (kind == MOTOR) {
            joints->violation[i] = 0.0;
            joints->time_derivative[i] = 0.0 - right_side;
        }
    }

    if (count[BILATERAL])
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "constraints", "violations",
                    "holds ODE's right-hand side -60 g instead of g: divided by -60");
    if (count[LIMIT])
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "constraints", "violations",
                    "%d of %d rows are limits and hold -60 stop_erp g, but stop_erp is not stored: ODE's "
                    "default 0.2 is assumed, so the magnitude of g is a guess, its sign is not",
                    count[LIMIT], joints->row_count);
    if (count[MOTOR])
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "constraints", "violations",
                    "%d of %d rows are motors and hold the target speed: moved to time_derivative with "
                    "reversed sign",
                    count[MOTOR], joints->row_count);
}

bool ss_bpmd_repair_joints(ss_bpmd_stored *stored, ss_dialect dialect, ss_error *err)
{
    if (stored->frame->constraints.row_count == 0) return true;
    if (!repair_order(stored, dialect, err)) return false;
    if (dialect != SS_DIALECT_GAZEBO) return true;
    repair_bounds(stored);
    repair_violations(stored);
    return true;
}
