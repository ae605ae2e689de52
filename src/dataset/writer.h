/* dataset/writer.h - the parts of the BPMD writer. How a stored frame says whose it is:
 *
 *   mark                                   canonical            flat
 *   attribute bpmd_format = "BPMD-2015"    /simulation_NNNNNN   /mbs_frameNNNNNN, every one
 *   attribute bpmd_writer = program        /simulation_NNNNNN   -
 *   both on /                              when the file was empty before
 *   attribute block_order = "pairs"        F/constraints        F/constraints
 *
 * The mark nearest to a frame counts: it means that the frame follows frame.h and needs no guessing. The one
 * on / only tells people who made the file; other programs may have added frames since, and we add ours to
 * files of others, whose frames must not become ours by that. The authors' tools look at no attribute at all.
 */
#ifndef SS_DATASET_WRITER_H
#define SS_DATASET_WRITER_H

#include "dataset/h5.h"
#include "dataset/writer_hold.h"

#define SS_BPMD_MARK "bpmd_format"
#define SS_BPMD_MARK_TEXT "BPMD-2015"

/* Room for numbers on their way to the file in another form; grows, never shrinks. */
typedef struct ss_writer_scratch {
    void *bytes;
    size_t capacity;
} ss_writer_scratch;

/* All that can fail without harm: body indices in pairs are checked and the scratch is made large enough, so
 * that ss_writer_put_frame can only fail on the file. */
bool ss_writer_prepare(ss_writer_scratch *scratch, const ss_frame *frame, ss_layout layout, const char *file,
                       ss_error *err);
/* Everything inside the group of a frame. */
bool ss_writer_put_frame(const ss_h5_group *place, const ss_frame *frame, ss_layout layout,
                         ss_writer_scratch *scratch, ss_error *err);
/* The group `manifest`; manifest may be NULL. */
bool ss_writer_put_manifest(const ss_h5_group *simulation, const ss_manifest *manifest, ss_error *err);
/* solver_data/<solver> */
bool ss_writer_put_result(const ss_h5_group *frame, const ss_stored_result *result, ss_error *err);

/* The group `shapes`, in two steps: what can fail without harm, then the file. Released with
 * ss_writer_shape_columns_free. */
typedef struct ss_writer_shape_columns {
    int count, mesh_count, vertex_count, triangle_count, height_count;
    int32_t *kind, *id, *scenery, *colour, *mesh, (*grid)[2], (*mesh_size)[2], (*triangle)[3];
    uint8_t *ghost;
    double (*size)[3], (*position)[3], (*quaternion)[4], (*vertex)[3], *height;
} ss_writer_shape_columns;
bool ss_writer_gather_shapes(const ss_stored_shape *shapes, int count, const char *file,
                             ss_writer_shape_columns *columns, ss_error *err);
bool ss_writer_put_shapes(const ss_h5_group *simulation, const ss_writer_shape_columns *columns,
                          ss_error *err);
void ss_writer_shape_columns_free(ss_writer_shape_columns *columns);
/* The group `scenery` of a frame. */
bool ss_writer_put_scenery(const ss_h5_group *frame, const ss_scenery *scenery, ss_error *err);

struct ss_ring;
/* The steps of a flight recorder as the next frames; the last one gets a note (may be NULL), unless it has
 * one. */
bool ss_writer_put_ring(ss_writer *writer, const struct ss_ring *ring, const char *last_note, ss_error *err);

/* True for what may name a child of a group: not empty, no '/', neither "." nor "..". */
bool ss_writer_is_name(const char *name);

#endif
