/* stickslip/recorder.h - write frames from another program in a few lines (examples/record_frames.c).
 *
 *     ss_recorder *rec = ss_recorder_open("mine.h5", "my engine 1.0", &err);
 *     for every step:
 *         ss_recorder_begin(rec, time, h);
 *         for every body:     ss_recorder_body(rec, mass, position, quaternion, inertia, velocity, force);
 *         for every joint:    ss_recorder_joint(rec, a, b, rows, jacobian, violation, NULL, NULL);
 *         for every contact:  ss_recorder_contact(rec, a, b, point, normal, gap, mu);
 *         if (!ss_recorder_end(rec, &err)) ...
 *     ss_recorder_close(rec, &err);
 *
 * The adding calls do not report failures: the first one is kept and reported by the next ss_recorder_end,
 * which also checks the frame, so that a faulty frame is rejected and never reaches the file.
 * One recorder belongs to one thread at a time; any number of recorders may run in parallel.
 *
 * Read after frame.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_RECORDER_H
#define STICKSLIP_RECORDER_H

#include <stickslip/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_recorder ss_recorder;

/* Replaces the file when closed; `toolkit` names your program in the manifest. */
SS_API ss_recorder *ss_recorder_open(const char *path, const char *toolkit, ss_error *err);
/* The same with a full manifest, a layout, and optional appending. manifest may be NULL. */
SS_API ss_recorder *ss_recorder_open_as(const char *path, const ss_manifest *manifest, ss_layout layout,
                                        bool append, ss_error *err);

/* What was recorded more than `seconds` ago survives the program, however it ends: ss_writer_survive. This
 * is so from the start, with SS_RECORDER_SURVIVES seconds; 0 = a program that dies leaves nothing. */
#define SS_RECORDER_SURVIVES 5.0
SS_API bool ss_recorder_survive(ss_recorder *recorder, double seconds, ss_error *err);

/* Settings as text, from a command line or the environment of your program: "survive=60", or for a flight
 * recorder "ring=500 trip=energy>1e-3 trip=nan trip_signal=usr1": ss_recording_option_table has all names.
 * Before the first frame. */
SS_API bool ss_recorder_configure(ss_recorder *recorder, const char *settings, ss_error *err);
/* The same with a struct. */
SS_API bool ss_recorder_configure_by(ss_recorder *recorder, const ss_recording_options *options,
                                     ss_error *err);
/* Writes the ring of a flight recorder now; nothing without a ring. */
SS_API bool ss_recorder_trip(ss_recorder *recorder, const char *reason, ss_error *err);
SS_API int ss_recorder_trips(const ss_recorder *recorder); /* how often it has tripped */

/* What the bodies look like, once for all frames, at any time between opening and closing: a body's id is its
 * number plus 1. Copied. Without it `stickslip view` draws boxes. */
SS_API bool ss_recorder_shapes(ss_recorder *recorder, const ss_stored_shape *shapes, int count,
                               ss_error *err);

SS_API void ss_recorder_begin(ss_recorder *recorder, double time, double h);

/* Returns the number of the body, 0, 1, 2 ..., to be used below; SS_WORLD is the world. inertia: 3x3 in the
 * WORLD frame, row by row. velocity and force: linear then angular, world frame; velocity before the step,
 * force with gravity and everything else explicit. */
SS_API int ss_recorder_body(ss_recorder *recorder, double mass, const double position[3],
                            const double quaternion[4], const double inertia[9], const double velocity[6],
                            const double force[6]);
/* The same with the inertia in the BODY frame (as most engines keep it); it is rotated with
 * the quaternion. */
SS_API int ss_recorder_body_local(ss_recorder *recorder, double mass, const double position[3],
                                  const double quaternion[4], const double inertia[9],
                                  const double velocity[6], const double force[6]);
/* jacobian: rows x 12, columns 0-5 for a and 6-11 for b; violation: rows; time_derivative (rows) and
 * bounds (rows x 2, N or N m) may be NULL: 0 and -inf, inf. Returns the number of the joint. */
SS_API int ss_recorder_joint(ss_recorder *recorder, int a, int b, int rows, const double *jacobian,
                             const double *violation, const double *time_derivative, const double *bounds);
/* A further body of the joint added last (a differential, a pulley), which then acts on more than two.
 * jacobian: rows x 6, linear and angular. A body occurs once in a joint. */
SS_API void ss_recorder_joint_further(ss_recorder *recorder, int body, const double *jacobian);
/* normal: unit, from a to b; gap < 0 = overlap. Returns the number of the contact. */
SS_API int ss_recorder_contact(ss_recorder *recorder, int a, int b, const double point[3],
                               const double normal[3], double gap, double mu);
/* Extras of the contact added last, each optional: pass NULL or a negative number to leave it out. */
SS_API void ss_recorder_contact_extras(ss_recorder *recorder, const double tangent[3], double mu_v,
                                       double restitution, double mu_rolling);
/* Torsional friction of the contact added last: mu_torsion in m, and how it is coupled with sliding. */
SS_API void ss_recorder_contact_spin(ss_recorder *recorder, double mu_torsion, ss_spin_coupling coupling);
/* Alternatives (docs/peg.md): any of several faces may keep two convex bodies apart. A group is one pair of
 * convex pieces; cut: how deep the straight path of a step may cut, in m (5 % of the thinner piece is a good
 * choice; INFINITY = anything). Returns its number, 0, 1, 2 ... in every frame. */
SS_API int ss_recorder_group(ss_recorder *recorder, double cut);
/* The contact added last is a point of the first alternative of this group. All contacts of a group are of
 * the same a and b. */
SS_API void ss_recorder_contact_group(ss_recorder *recorder, int group);
/* A point of a further alternative, 1, 2 ..., of the group, or a test point (SS_ROW_TEST) of any, which tells
 * whether the alternative holds and carries no impulse. normal: unit, from a to b, the same for all points of
 * an alternative. Every alternative has a force point. Returns the number of the point. */
SS_API int ss_recorder_alternative(ss_recorder *recorder, int group, int alternative, ss_row_role role,
                                   const double point[3], const double normal[3], double gap);
/* Pose of a piece of scenery, which has a prescribed motion and is not a body; numbered 0, 1, 2 ... in every
 * frame. Only pictures need it. */
SS_API int ss_recorder_scenery(ss_recorder *recorder, const double position[3], const double quaternion[4]);
/* The answer of the engine's own solver, after everything was added: velocities after the step
 * (bodies x 6), constraint impulses (rows), normal impulses (contacts) and friction impulses on b (contacts
 * x 3, world). NULL if not known. Copied. Once per solver. */
SS_API void ss_recorder_result(ss_recorder *recorder, const char *solver, const double *velocities,
                               const double *lambda, const double *normal, const double *tangent);
/* Of the result added last, in frames with alternatives: the one that each group is on, and normal and
 * friction impulses (x 3) of the points of ss_recorder_alternative. NULL if not known. Copied. */
SS_API void ss_recorder_result_alternatives(ss_recorder *recorder, const int32_t *selection,
                                            const double *normal, const double *tangent);
/* The rules of the engine's own solver, so that its answers are judged by them: the formulation of ours that
 * it comes closest to ("cone", "box" ...) and its options, "gap_term=stabilised gamma=0.2 joint_gamma=0.2"
 * for an engine that removes a fifth of every error per step. For all results from now on. Fails on names
 * that are not known. */
SS_API bool ss_recorder_rules(ss_recorder *recorder, const char *formulation, const char *with,
                              ss_error *err);

/* Checks and writes the frame. After a failure the recorder continues with the next frame, unless the file
 * cannot be written. */
SS_API bool ss_recorder_end(ss_recorder *recorder, ss_error *err);
/* Puts the file in its place; a frame that was begun but not ended is dropped. Frees the recorder in any
 * case. */
SS_API bool ss_recorder_close(ss_recorder *recorder, ss_error *err);
SS_API void ss_recorder_discard(ss_recorder *recorder); /* abandon: the target is unchanged */

#ifdef __cplusplus
}
#endif
#endif
