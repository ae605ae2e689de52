/* scenes/parts.h - the few things scenes are made of. A builder remembers the first failure: after it every
 * call does nothing, so that a scene is written straight down and ends with `return
 * ss_build_done(&build)`. */
#ifndef SS_SCENES_PARTS_H
#define SS_SCENES_PARTS_H

#include <stickslip/scene.h>

typedef struct ss_builder {
    ss_world *world;
    ss_error *err;
    bool failed;
} ss_builder;

static inline ss_builder ss_build_start(ss_world *world, ss_error *err)
{
    return (ss_builder){world, err, false};
}
static inline bool ss_build_done(const ss_builder *build)
{
    return !build->failed;
}

/* Plain adding; the number of the new thing, or -1. */
int ss_build_material(ss_builder *build, const char *name, double mu, double restitution);
int ss_build_body(ss_builder *build, const ss_body *body);
int ss_build_shape(ss_builder *build, int body, const ss_shape *shape);
int ss_build_joint(ss_builder *build, const ss_joint *joint);

/* The default material of the world: what has no other. */
void ss_build_friction(ss_builder *build, double mu);
/* The half-space z <= height. */
int ss_build_ground(ss_builder *build, double height);
/* A fixed half-space through a point; normal points out of it. */
int ss_build_wall(ss_builder *build, const double point[3], const double normal[3]);

/* A body with one shape. `like` says the rest: kind of body (dynamic when left 0), position, quaternion,
 * velocity, name. */
int ss_build_one(ss_builder *build, const ss_body *like, const ss_shape *shape);
/* Dynamic bodies of a density in the default material, at rest. */
int ss_build_box(ss_builder *build, const double size[3], double density, const double position[3]);
int ss_build_ball(ss_builder *build, double radius, double density, const double position[3]);

/* Unit quaternion of a turn by `angle` about `axis`, which need not be of unit length. */
void ss_turn(const double axis[3], double angle, double quaternion[4]);
/* Corners of a rock: `count` random points on an ellipsoid of the radii size * stretch. */
void ss_rock_corners(ss_random *random, double size, const double stretch[3], int count,
                     double (*corners)[3]);
/* A random orientation, uniform. */
void ss_turn_at_random(ss_random *random, double quaternion[4]);
/* a * b */
void ss_turn_after(const double a[4], const double b[4], double product[4]);
/* Turns a vector. */
void ss_turn_vector(const double quaternion[4], const double v[3], double turned[3]);

/* ---- machines: bodies on joints, placed one after another ---- */

/* A point and axes in the world, to which the next part of a machine is fixed. */
typedef struct ss_place {
    double position[3], quaternion[4];
} ss_place;
ss_place ss_place_at(double x, double y, double z);
/* The place moved by (x, y, z) along its own axes; turned about one of its own axes. */
ss_place ss_place_moved(const ss_place *place, double x, double y, double z);
ss_place ss_place_turned(const ss_place *place, const double axis[3], double angle);
/* A dynamic body there, without shapes. */
int ss_build_part(ss_builder *build, const char *name, const ss_place *place);
/* A joint of one axis, revolute or prismatic; anchor and axis in the place's own axes. */
int ss_build_axis(ss_builder *build, const char *name, ss_joint_kind kind, int a, int b,
                  const ss_place *place, const double axis[3], const ss_axis_law *law);
/* The convex hull of points in the body frame; `like` has the rest. */
int ss_build_hull(ss_builder *build, int body, const double (*points)[3], int count, const ss_shape *like);
/* A position in the world, in the frame of a body. */
void ss_seen_from(const ss_body *body, const double position[3], double seen[3]);

/* ---- worlds that are model files: the same text is read by other programs ---- */

/* Text that grows; text is NULL when there is no memory. */
typedef struct ss_text_writer {
    char *text;
    size_t length, room;
} ss_text_writer;
ss_text_writer ss_text_start(void);
SS_PRINTF(2, 3) void ss_text_add(ss_text_writer *writer, const char *format, ...);
/* The text, to be freed by ss_release; NULL with an error. */
char *ss_text_done(ss_text_writer *writer, ss_error *err);
/* Head of an MJCF file: angles in rad, bodies in order of their joints, no contacts within one tree. */
void ss_text_begin_model(ss_text_writer *writer, const char *name, double h);
/* Fills the world from what `model` writes, of which nothing may be lost. */
bool ss_build_from_model(const char *name, char *(*model)(const void *, ss_error *), const void *parameters,
                         ss_world *world, ss_error *err);

/* For `figures`: the largest gap in a joint. */
int ss_figure_joint_gap(const void *parameters, const ss_sim *sim, const void *state,
                        ss_scene_result *result);

/* The options of a scene that shows what it is about only if every step is solved, by `auto` to 1e-8. */
void ss_accurate_steps(const void *parameters, ss_sim_options *options);
/* Options of scenes about polyhedral exact geometry: selection, on the friction polygon of Stewart and
 * Trinkle, solved by pivoting: no error of a solver stands between the law and the answer. */
void ss_exact_geometry(const void *parameters, ss_sim_options *options);
/* A box over [x0, x1] x [y0, y1], 1 m high, on a body. */
void ss_build_block(ss_builder *build, int body, double x0, double x1, double y0, double y1, double density);
/* N s: all normal impulses of the last step. */
double ss_figure_impulse(const ss_sim *sim);
/* N: their mean force within the step. */
double ss_figure_load(const ss_sim *sim);
/* For `figures`: height of the first body, whether it has passed z = 0, and that impulse. */
int ss_figures_of_a_fall(const void *parameters, const ss_sim *sim, const void *state,
                         ss_scene_result *result);

/* Rows of a table of parameters. */
#define SS_PARAMETER_REAL(struct_, member_, value_, low_, high_, text_)                 \
    {                                                                                   \
        .name = #member_, .type = SS_OPTION_REAL, .offset = offsetof(struct_, member_), \
        .default_value = value_, .min = low_, .max = high_, .help = text_               \
    }
#define SS_PARAMETER_INT(struct_, member_, value_, low_, high_, text_)                 \
    {                                                                                  \
        .name = #member_, .type = SS_OPTION_INT, .offset = offsetof(struct_, member_), \
        .default_value = value_, .min = low_, .max = high_, .help = text_              \
    }

/* For `collides_with` of shapes that are seen and weighed but meet nothing: a group that is empty. */
#define SS_MEETS_NOTHING 0x80000000u

#define SS_PI 3.14159265358979323846

#endif
