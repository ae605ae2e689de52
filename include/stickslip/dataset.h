/* stickslip/dataset.h - files: BPMD (frames) and FCLIB (problems), both HDF5.
 *
 * Reading is defensive, because files may come from untrusted sources: inputs are opened read-only; links out
 * of the file, external or virtual storage and filter plug-ins are rejected; every extent is checked against
 * the limits before anything is allocated. Writing never damages existing files: a temporary file next to the
 * target is renamed over it at the end, so that a crash leaves the old file, and of a recording that
 * survives (ss_writer_survive) also the temporary one.
 *
 * BPMD exists in dialects with known defects (docs/format.md). The reader repairs them and reports the
 * repairs; the result is always a frame in the conventions of frame.h. Frames are read one at a time,
 * on request: opening a file of 10,000 frames reads no frame.
 *
 * HDF5 is one global library: every call here takes a lock and restores HDF5's global settings. No HDF5 type
 * appears in this header.
 *
 * Read after frame.h, problem.h and model.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_DATASET_H
#define STICKSLIP_DATASET_H

#include <stickslip/certificate.h>
#include <stickslip/frame.h>
#include <stickslip/model.h>
#include <stickslip/metrics.h>
#include <stickslip/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- limits ----------------------------------------------------------------------------------------- */

typedef struct ss_limits {
    int max_bodies, max_rows, max_contacts; /* per frame */
    int max_results;                        /* stored with one frame */
    int max_frames, max_simulations;        /* per file */
    int max_members;      /* names in the groups of all simulations together, frames included */
    double max_megabytes; /* of one data set in memory, and of one FCLIB problem */
} ss_limits;
/* Defaults: a million bodies, rows and frames, 10 million contacts and names, 10,000 simulations, 1,000
 * results, 2048 MB. */
extern SS_API const ss_option ss_limits_table[];

typedef enum ss_format { SS_FORMAT_BPMD, SS_FORMAT_FCLIB } ss_format;
/* The format of a file, by its contents. limits may be NULL everywhere: the defaults. */
SS_API bool ss_format_of_file(const char *path, ss_format *format, ss_error *err);

/* ---- BPMD: reading ---------------------------------------------------------------------------------- */

/* Description of a simulation. All optional; texts are UTF-8. */
typedef struct ss_manifest {
    char *toolkit; /* simulator and version */
    char *title, *description, *author, *date, *url;
    char *keywords;    /* comma-separated */
    double gravity[3]; /* m/s^2, for information; NaN = unknown. The forces include it already. */
    int image_width, image_height;
    uint8_t *image; /* RGB, row by row from the top, 3 * width * height bytes; NULL = none */
} ss_manifest;
SS_API void ss_manifest_free(ss_manifest *manifest);

typedef enum ss_dialect {
    SS_DIALECT_CANONICAL, /* ours, and the 2015 paper's */
    SS_DIALECT_GAZEBO,    /* ODE inside Gazebo, 2015 on */
    SS_DIALECT_ODE_2013,  /* January 2013: split velocities, world = 0 */
    SS_DIALECT_RPISIM,    /* body-frame inertia, lever arms, state after the step */
    SS_DIALECT_AUTO,      /* for ss_read_options: recognise it by the contents */
} ss_dialect;
SS_API const char *ss_dialect_name(ss_dialect dialect);

typedef struct ss_read_options {
    int dialect;             /* ss_dialect */
    bool flip_world_normals; /* reverse normals of world contacts that point away from the body */
    bool fill_gravity;       /* add m g to live bodies whose force is exactly 0 while others' is not */
    double gravity[3];       /* m/s^2, for fill_gravity */
} ss_read_options;
extern SS_API const ss_option ss_read_option_table[];

typedef struct ss_bpmd ss_bpmd; /* an open file */
SS_API ss_bpmd *ss_bpmd_open(const char *path, const ss_limits *limits, const ss_read_options *options,
                             ss_error *err);
SS_API void ss_bpmd_close(ss_bpmd *file);

SS_API int ss_bpmd_simulation_count(const ss_bpmd *file); /* frames in / count as one */
/* "/" or "/simulation_000001" */
SS_API const char *ss_bpmd_simulation_path(const ss_bpmd *file, int simulation);
SS_API int ss_bpmd_simulation_frames(const ss_bpmd *file, int simulation); /* how many */
SS_API bool ss_bpmd_manifest(ss_bpmd *file, int simulation, ss_manifest *manifest, ss_error *err);
SS_API int ss_bpmd_frame_count(const ss_bpmd *file);
/* Writes "/simulation_000001/mbs_frame000017" into path. */
SS_API bool ss_bpmd_frame_path(const ss_bpmd *file, int frame, char *path, size_t size);
SS_API int ss_bpmd_frame_simulation(const ss_bpmd *file, int frame);
/* Accepts a path, a path without its leading '/', or an index in decimal; -1 if there is no such frame. */
SS_API int ss_bpmd_find_frame(const ss_bpmd *file, const char *path_or_number);

/* The frame with all defects repaired. NULL only if the structure of the file does not allow a frame; wrong
 * values are reported by ss_frame_check. findings gets repairs and warnings. */
SS_API ss_frame *ss_bpmd_read(ss_bpmd *file, int frame, ss_findings *findings, ss_error *err);
/* An array that another program loaded from a frame of a BPMD file, by Octave's load or h5py. */
typedef struct ss_named_array {
    const char *path;     /* below the frame: "timestep", "bodies/masses", "solver_data/ODE_GS/gs_errors" */
    int rows, columns;    /* as in the file; a list has one column */
    const double *values; /* row by row */
} ss_named_array;
/* The frame that ss_bpmd_read would read from a file whose root holds this one frame: the same names, shapes
 * and repairs. What another frame or an attribute of the file would add is not there: a step has to be given,
 * and `dialect` where the arrays do not show who wrote them. options may be NULL: the defaults. */
SS_API ss_frame *ss_frame_from_arrays(const ss_named_array *arrays, int count, const ss_read_options *options,
                                      ss_findings *findings, ss_error *err);
/* The note of a frame, such as why a flight recorder tripped; false if it has none. */
SS_API bool ss_bpmd_note(ss_bpmd *file, int frame, char *text, size_t size);
/* SS_DIALECT_AUTO on failure. */
SS_API ss_dialect ss_bpmd_dialect(ss_bpmd *file, int frame, ss_error *err);

/* ---- results stored with a frame -------------------------------------------------------------------- */

typedef struct ss_measure {
    char *name; /* "energy_error" */
    double *values;
    int count; /* 1, or one per contact */
} ss_measure;

enum { SS_RULES_LENGTH = 1024 }; /* bytes of the options in ss_stored_result.with, at most */

/* solver_data/<solver> */
typedef struct ss_stored_result {
    char *solver; /* group name */
    /* The rules by which the answer was made, and by which it must be judged: a formulation of this
     * library and its options, "gap_term=stabilised gamma=0.2 ..."; NULL: not stored */
    char *formulation, *with;
    ss_answer *answer; /* NULL when only errors are stored (Gazebo's ODE_GS) */
    double *errors;    /* history, one per iteration */
    int error_count;
    int iterations; /* -1 = not stored */
    double error;   /* as reported by the solver; NaN = not stored */
    double seconds; /* wall time; NaN = not stored */
    ss_measure *measures;
    int measure_count;
    ss_certificate *certificate; /* what is proved about the answer; NULL: nothing is stored */
} ss_stored_result;
SS_API void ss_stored_result_free(ss_stored_result *result);
/* How the answer treats gaps and joints: formulation and options as stored, else the defaults of formulation
 * "cone". Fails on a formulation or option that is not known. */
SS_API bool ss_stored_result_step(const ss_stored_result *result, ss_step_options *step, ss_error *err);
SS_API int ss_bpmd_result_count(ss_bpmd *file, int frame, ss_error *err); /* -1 on failure */
SS_API bool ss_bpmd_result(ss_bpmd *file, int frame, int index, ss_stored_result *result, ss_error *err);

/* ---- shapes of the bodies of a simulation ----------------------------------------------------------- */

/* Solvers need no shapes; pictures do. A shape belongs to a body of the frames, to a piece of scenery,
 * which has a prescribed motion and is not a body, or to the world. */
typedef struct ss_stored_shape {
    /* kind, size, mesh or heights, position, quaternion, ghost and colour; the rest is not stored */
    ss_shape shape;
    int id;      /* of the body in the frames, > 0; 0 = none */
    int scenery; /* number of the piece in the scenery of the frames; -1 = none */
} ss_stored_shape;

typedef struct ss_shapes {
    /* meshes and heights belong to this struct, and several shapes may share a mesh */
    ss_stored_shape *items;
    int count;
    ss_mesh **meshes;
    int mesh_count;
    double *heights;
} ss_shapes;
SS_API void ss_shapes_free(ss_shapes *shapes);
/* Empty if the simulation has none. Unknown kinds are omitted, with a warning in findings. */
SS_API bool ss_bpmd_shapes(ss_bpmd *file, int simulation, ss_shapes *shapes, ss_findings *findings,
                           ss_error *err);

/* Where the pieces of moving scenery are in a frame. */
typedef struct ss_scenery {
    double (*position)[3];   /* m */
    double (*quaternion)[4]; /* to the world, scalar first */
    int count;
} ss_scenery;
SS_API void ss_scenery_free(ss_scenery *scenery);
SS_API bool ss_bpmd_scenery(ss_bpmd *file, int frame, ss_scenery *scenery, ss_error *err);

/* ---- BPMD: writing ---------------------------------------------------------------------------------- */

typedef enum ss_layout {
    SS_LAYOUT_CANONICAL, /* /simulation_%06d/mbs_frame%06d, manifest, all optional arrays */
    SS_LAYOUT_FLAT,      /* /mbs_frame%06d with the arrays the authors' own tools know and no others: no
                          * manifest, no time, no optional array but mu_s, which is always there */
} ss_layout;

typedef struct ss_writer ss_writer;
/* append = true appends to an existing file; a missing file is created. Until ss_writer_close succeeds the
 * target is untouched. */
SS_API ss_writer *ss_writer_open(const char *path, ss_layout layout, bool append, ss_error *err);
/* For recordings of many hours: what was written more than `seconds` ago survives the process, however it
 * ends (killed, crashed, out of power); 0 = no longer. A thread sees to it. From then on the temporary
 * file has a name, FILE.PROCESS-N.partial, under which it can be read as it is, and from which
 * ss_leftover_recover makes an ordinary file. ss_writer_close and ss_writer_discard remove it; a failing
 * close (disk full) leaves it. */
SS_API bool ss_writer_survive(ss_writer *writer, double seconds, ss_error *err);

/* How a recording is kept: all of it, surviving its program, or only the last steps before something
 * happens (a flight recorder, docs/recorder.md). */
typedef struct ss_recording_options {
    double survive; /* s, as ss_writer_survive */
    int ring;       /* keep the last N steps, and write them when something trips; 0 = write everything */
    /* "NAME>VALUE", "NAME<VALUE" or "nan": overlap, joint_error, speed, contacts, or any metric, of a step
     * and the first result stored with it */
    ss_option_list trip;
    int after;             /* steps to keep after the one that tripped, before the ring is written */
    int trips;             /* how often at most */
    double ring_megabytes; /* limit of the ring: fewer steps are kept when they are larger */
    int trip_signal;       /* none, usr1, usr2: trips when the process gets this signal */
    bool no_ring_file; /* the ring is memory that is lost in a crash, instead of a file beside the target */
} ss_recording_options;
extern SS_API const ss_option ss_recording_option_table[];
/* Right after opening. With a ring nothing reaches the target before something trips: then the steps in
 * the ring become the next frames, the target is there, and the ring starts from scratch; the frame that
 * tripped has the reason as its note. A process that dies leaves its ring, and ss_leftover_recover makes
 * frames of it. A frame must stay as it is until its results have been added. */
SS_API bool ss_writer_configure(ss_writer *writer, const ss_recording_options *options, ss_error *err);
/* The same with settings as text, apart by blanks: "ring=500 trip=energy>1e-3 trip=nan". */
SS_API bool ss_writer_configure_text(ss_writer *writer, const char *settings, ss_error *err);
/* Trips now, for a reason of the caller's, with all steps so far. Nothing without a ring. */
SS_API bool ss_writer_trip(ss_writer *writer, const char *reason, ss_error *err);
SS_API int ss_writer_trips(const ss_writer *writer); /* how often it has tripped */

/* A new simulation; manifest may be NULL. In the flat layout it only counts, and the numbering of frames
 * continues. */
SS_API bool ss_writer_simulation(ss_writer *writer, const ss_manifest *manifest, ss_error *err);
/* Continues the last simulation of a file opened for appending, instead of a new one; its number of frames so
 * far is stored in *frames (may be NULL). Fails if the file has no simulation. Canonical layout only. */
SS_API bool ss_writer_go_on(ss_writer *writer, int *frames, ss_error *err);
/* Shapes of the current simulation (one is begun when none was), once. The flat layout cannot hold them:
 * nothing is written then. */
SS_API bool ss_writer_shapes(ss_writer *writer, const ss_stored_shape *shapes, int count, ss_error *err);
/* Those of a world as a simulation numbers it: body b of the world has the id b + 1, the kinematic bodies are
 * the scenery in their order, static bodies belong to the world. */
SS_API bool ss_writer_world(ss_writer *writer, const ss_world *world, ss_error *err);
/* The next frame of the current simulation (one is begun when none was). The frame is not checked. */
SS_API bool ss_writer_frame(ss_writer *writer, const ss_frame *frame, ss_error *err);
/* Poses of moving scenery for the frame written last, once; nothing in the flat layout. */
SS_API bool ss_writer_scenery(ss_writer *writer, const ss_scenery *scenery, ss_error *err);
/* A line about the frame written last, such as why it was kept; once. */
SS_API bool ss_writer_note(ss_writer *writer, const char *text, ss_error *err);
/* A result for the frame written last; one per solver. NULL arrays in its answer are left out. */
SS_API bool ss_writer_result(ss_writer *writer, const ss_stored_result *result, ss_error *err);
/* The same with the rules of the assembly that the answer was made with, every metric that applies
 * (metrics[ss_metric_count()]; NULL: none), and the energy error of every contact. */
SS_API bool ss_writer_judged_result(ss_writer *writer, const ss_stored_result *result,
                                    const ss_assembly *assembly, const ss_metric_value *metrics,
                                    const ss_contact_report *contacts, ss_error *err);
/* Everything of the frame written last is there. A flight recorder judges it now, and not when the next frame
 * comes or the writer is closed. Not required. */
SS_API bool ss_writer_end_frame(ss_writer *writer, ss_error *err);
/* Flushes, syncs and renames. On failure the old file is as it was and the temporary file is gone. Frees the
 * writer in any case. When a call above fails because of the file (disk full), all later ones fail, this one
 * too: half a frame never reaches the target. */
SS_API bool ss_writer_close(ss_writer *writer, ss_error *err);
SS_API void ss_writer_discard(ss_writer *writer); /* abandon: the target is unchanged */

/* ---- recordings whose process has died --------------------------------------------------------------- */

/* What dead or living processes have left beside `path`: FILE.PROCESS-N.partial, in alphabetical order.
 * `path` may be such a file itself. */
typedef struct ss_leftovers {
    char **paths;
    int count;
} ss_leftovers;
SS_API bool ss_leftovers_find(const char *path, ss_leftovers *leftovers, ss_error *err);
SS_API void ss_leftovers_free(ss_leftovers *leftovers);
/* Makes an ordinary file of one: `target`, or, if that is NULL, the name the recording was to have. A file
 * that is there is never replaced: the next free one of TARGET.recovered-1.h5, -2 ... is used instead, and
 * *name (to be released) is the one used. Fails while the process that writes it is alive, and when
 * nothing was recorded. Can be interrupted at any time and repeated. */
SS_API bool ss_leftover_recover(const char *leftover, const char *target, char **name, int *frames,
                                ss_error *err);

/* ---- FCLIB ------------------------------------------------------------------------------------------ */

typedef struct ss_fclib_info {
    char *title, *description, *math_info; /* each may be NULL */
} ss_fclib_info;

typedef struct ss_fclib {
    ss_cone *cone; /* form local or global; dimension 5 (or mu_rolling set) = global_rolling */
    ss_fclib_info info;
    ss_cone_point *guesses;
    int guess_count;
    ss_cone_point solution;
    bool has_solution;
} ss_fclib;

typedef enum ss_fclib_kind { SS_FCLIB_LOCAL, SS_FCLIB_GLOBAL, SS_FCLIB_GLOBAL_ROLLING } ss_fclib_kind;
SS_API const char *ss_fclib_kind_name(ss_fclib_kind kind); /* "local", "global", "global_rolling" */
/* Which problems a file holds, at most one of each kind, in the order global, local, global_rolling. Returns
 * the number, -1 on failure. */
SS_API int ss_fclib_kinds(const char *path, ss_fclib_kind kinds[3], ss_error *err);
/* Reads one problem with everything that goes with it. findings gets the oddities of the file: unsymmetric
 * W, contact frames that are not orthonormal, a stored solution that does not solve the problem. */
SS_API ss_fclib *ss_fclib_read(const char *path, ss_fclib_kind kind, const ss_limits *limits,
                               ss_findings *findings, ss_error *err);
/* Matrices as triplets (i = row, p = column, nzmax = nz), which every known reader accepts. */
SS_API bool ss_fclib_write(const char *path, const ss_fclib *problem, ss_error *err);
SS_API void ss_fclib_destroy(ss_fclib *problem);

/* ---- Matrix Market ---------------------------------------------------------------------------------- */

/* Writes PREFIX_W.mtx, PREFIX_q.mtx ... : every matrix and vector of the problem, for MATLAB,
 * Octave, SciPy. */
SS_API bool ss_matrix_market_write(const char *prefix, const ss_cone *cone, ss_error *err);
/* The same for the problem of any formulation: PREFIX_A.mtx, PREFIX_b.mtx, and PREFIX_unknowns.csv with the
 * law, the bounds and the origin of every unknown. */
SS_API bool ss_matrix_market_write_problem(const char *prefix, ss_problem *problem, ss_error *err);

/* ---- other communities ------------------------------------------------------------------------------ */

/* The same problem as text for other solvers (docs/exchange.md). Each fails, naming the unknown, where the
 * format cannot say the same.
 *   LCP    w = A z + q with bounds, one entry per line: no cones
 *   GAMS   a model to be solved with MCP solvers (no cones), or, for formulation "convex", with QCP solvers
 *   CBF    the conic benchmark format: formulation "convex", of a problem with bodies */
SS_API bool ss_lcp_write(const char *path, ss_problem *problem, ss_error *err);
SS_API bool ss_gams_write(const char *path, ss_problem *problem, ss_error *err);
SS_API bool ss_cbf_write(const char *path, const ss_problem *problem, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
