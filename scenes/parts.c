#include "parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <stickslip/modelfile.h>

static int keep(ss_builder *build, int number)
{
    build->failed = build->failed || number < 0;
    return number;
}

int ss_build_material(ss_builder *build, const char *name, double mu, double restitution)
{
    if (build->failed) return -1;
    ss_material material = {.name = name, .mu = mu, .restitution = restitution};
    return keep(build, ss_world_add_material(build->world, &material, build->err));
}

int ss_build_body(ss_builder *build, const ss_body *body)
{
    return build->failed ? -1 : keep(build, ss_world_add_body(build->world, body, build->err));
}

int ss_build_shape(ss_builder *build, int body, const ss_shape *shape)
{
    return build->failed ? -1 : keep(build, ss_world_add_shape(build->world, body, shape, build->err));
}

int ss_build_joint(ss_builder *build, const ss_joint *joint)
{
    return build->failed ? -1 : keep(build, ss_world_add_joint(build->world, joint, build->err));
}

void ss_build_friction(ss_builder *build, double mu)
{
    if (build->failed) return;
    ss_material_pair pair = {.mu = mu};
    build->failed = !ss_world_set_pair(build->world, 0, 0, &pair, build->err);
}

int ss_build_ground(ss_builder *build, double height)
{
    return ss_build_shape(build, SS_WORLD, &(ss_shape){.kind = SS_PLANE, .position = {0.0, 0.0, height}});
}

int ss_build_wall(ss_builder *build, const double point[3], const double normal[3])
{
    ss_shape plane = {.kind = SS_PLANE, .position = {point[0], point[1], point[2]}};
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    double axis[3] = {-normal[1], normal[0], 0.0}; // z x normal
    if (hypot(axis[0], axis[1]) <= 1e-12 * length) axis[0] = 1.0;
    ss_turn(axis, acos(normal[2] / length), plane.quaternion);
    return ss_build_shape(build, SS_WORLD, &plane);
}

int ss_build_one(ss_builder *build, const ss_body *like, const ss_shape *shape)
{
    ss_body body = *like;
    if (body.kind == SS_STATIC) body.kind = SS_DYNAMIC;
    int number = ss_build_body(build, &body);
    ss_build_shape(build, number, shape);
    return number;
}

int ss_build_box(ss_builder *build, const double size[3], double density, const double position[3])
{
    ss_body body = {.position = {position[0], position[1], position[2]}};
    ss_shape shape = {.kind = SS_BOX, .size = {size[0], size[1], size[2]}, .density = density};
    return ss_build_one(build, &body, &shape);
}

int ss_build_ball(ss_builder *build, double radius, double density, const double position[3])
{
    ss_body body = {.position = {position[0], position[1], position[2]}};
    ss_shape shape = {.kind = SS_SPHERE, .size = {radius}, .density = density};
    return ss_build_one(build, &body, &shape);
}

void ss_turn(const double axis[3], double angle, double quaternion[4])
{
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    quaternion[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++) quaternion[1 + i] = sin(0.5 * angle) * axis[i] / length;
}

void ss_rock_corners(ss_random *random, double size, const double stretch[3], int count, double (*corners)[3])
{
    for (int i = 0; i < count; i++) {
        double length = 0.0;
        for (int j = 0; j < 3; j++) corners[i][j] = ss_random_normal(random);
        for (int j = 0; j < 3; j++) length += corners[i][j] * corners[i][j];
        for (int j = 0; j < 3; j++) corners[i][j] *= size * stretch[j] / sqrt(length);
    }
}

void ss_turn_at_random(ss_random *random, double quaternion[4])
{
    double length = 0.0;
    for (int i = 0; i < 4; i++) {
        quaternion[i] = ss_random_normal(random);
        length += quaternion[i] * quaternion[i];
    }
    for (int i = 0; i < 4; i++) quaternion[i] /= sqrt(length);
}

void ss_turn_after(const double a[4], const double b[4], double product[4])
{
    double p[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                   a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                   a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                   a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(product, p, sizeof p);
}

void ss_turn_vector(const double q[4], const double v[3], double turned[3])
{
    double inner[4] = {0.0, v[0], v[1], v[2]}, back[4] = {q[0], -q[1], -q[2], -q[3]}, product[4];
    ss_turn_after(q, inner, product);
    ss_turn_after(product, back, product);
    memcpy(turned, product + 1, 3 * sizeof *turned);
}

/* ---- machines ----------------------------------------------------------------------------------------- */

ss_place ss_place_at(double x, double y, double z)
{
    return (ss_place){{x, y, z}, {1.0, 0.0, 0.0, 0.0}};
}

ss_place ss_place_moved(const ss_place *place, double x, double y, double z)
{
    ss_place moved = *place;
    double by[3];
    ss_turn_vector(place->quaternion, (double[3]){x, y, z}, by);
    for (int i = 0; i < 3; i++) moved.position[i] += by[i];
    return moved;
}

ss_place ss_place_turned(const ss_place *place, const double axis[3], double angle)
{
    ss_place turned = *place;
    double turn[4];
    ss_turn(axis, angle, turn);
    ss_turn_after(place->quaternion, turn, turned.quaternion);
    return turned;
}

int ss_build_part(ss_builder *build, const char *name, const ss_place *place)
{
    ss_body body = {.name = name, .kind = SS_DYNAMIC};
    memcpy(body.position, place->position, sizeof body.position);
    memcpy(body.quaternion, place->quaternion, sizeof body.quaternion);
    return ss_build_body(build, &body);
}

int ss_build_axis(ss_builder *build, const char *name, ss_joint_kind kind, int a, int b,
                  const ss_place *place, const double axis[3], const ss_axis_law *law)
{
    ss_joint joint = {.name = name, .kind = kind, .a = a, .b = b};
    memcpy(joint.anchor, place->position, sizeof joint.anchor);
    ss_turn_vector(place->quaternion, axis, joint.axis);
    if (law) joint.law[0] = *law;
    return ss_build_joint(build, &joint);
}

int ss_build_hull(ss_builder *build, int body, const double (*points)[3], int count, const ss_shape *like)
{
    if (build->failed) return -1;
    ss_mesh *mesh = ss_mesh_hull(points, count, build->err);
    build->failed = mesh == NULL;
    if (!mesh) return -1;
    ss_shape hull = *like;
    hull.kind = SS_HULL;
    hull.mesh = mesh;
    int number = ss_build_shape(build, body, &hull);
    ss_mesh_destroy(mesh);
    return number;
}

void ss_seen_from(const ss_body *body, const double position[3], double seen[3])
{
    const double *q = body->quaternion, back[4] = {q[0], -q[1], -q[2], -q[3]};
    double from[3];
    for (int i = 0; i < 3; i++) from[i] = position[i] - body->position[i];
    ss_turn_vector(back, from, seen);
}

/* ---- worlds that are model files ---------------------------------------------------------------------- */

ss_text_writer ss_text_start(void)
{
    enum { ROOM = 1 << 12 };
    return (ss_text_writer){ss_allocate(ROOM, 1), 0, ROOM};
}

void ss_text_add(ss_text_writer *writer, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    va_list again;
    va_copy(again, values);
    int length = writer->text ? vsnprintf(NULL, 0, format, values) : 0;
    va_end(values);
    size_t needed = writer->length + (size_t)length + 1;
    if (writer->text && needed > writer->room) {
        char *larger = ss_allocate(2 * needed, 1);
        if (larger) memcpy(larger, writer->text, writer->length);
        ss_release(writer->text);
        writer->text = larger;
        writer->room = 2 * needed;
    }
    if (writer->text) vsnprintf(writer->text + writer->length, (size_t)length + 1, format, again);
    va_end(again);
    writer->length += (size_t)length;
}

char *ss_text_done(ss_text_writer *writer, ss_error *err)
{
    if (!writer->text) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a model");
    return writer->text;
}

void ss_text_begin_model(ss_text_writer *writer, const char *name, double h)
{
    ss_text_add(writer,
                "<mujoco model=\"%s\">\n"
                "  <compiler angle=\"radian\" autolimits=\"true\"/>\n"
                "  <option timestep=\"%g\" gravity=\"0 0 -9.81\" cone=\"elliptic\"/>\n",
                name, h);
}

bool ss_build_from_model(const char *name, char *(*model)(const void *, ss_error *), const void *parameters,
                         ss_world *world, ss_error *err)
{
    char *text = model(parameters, err);
    ss_findings findings = {0};
    bool good = text && ss_model_parse(text, strlen(text), name, NULL, NULL, world, NULL, &findings, err);
    if (good && findings.count_of[SS_FINDING_LOSS] > 0)
        good = ss_fail(err, SS_ERROR_INPUT, "%s: %s", findings.items[0].place, findings.items[0].message);
    ss_findings_free(&findings);
    ss_release(text);
    return good;
}

/* ---- figures and options ----------------------------------------------------------------------------- */

int ss_figure_joint_gap(const void *parameters, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)parameters, (void)state;
    const ss_world *world = ss_sim_world(sim);
    double most = 0.0;
    for (int j = 0; j < ss_world_joint_count(world); j++) most = fmax(most, ss_joint_error(world, j));
    result[0] = (ss_scene_result){"joint_gap", "m", most};
    return 1;
}

void ss_accurate_steps(const void *parameters, ss_sim_options *options)
{
    (void)parameters;
    options->solver = "auto";
    options->finisher = "none";
    options->max_iterations = 1000;
    options->stop = "relative_energy<1e-8";
}

/* ---- polyhedral exact geometry ---------------------------------------------------------------------- */

void ss_build_block(ss_builder *build, int body, double x0, double x1, double y0, double y1, double density)
{
    ss_shape block = {.kind = SS_BOX,
                      .size = {x1 - x0, y1 - y0, 1},
                      .position = {0.5 * (x0 + x1), 0.5 * (y0 + y1), 0},
                      .density = density};
    ss_build_shape(build, body, &block);
}

void ss_exact_geometry(const void *parameters, ss_sim_options *options)
{
    (void)parameters;
    options->formulation = "stewart-trinkle";
    options->solver = "lemke";
    options->finisher = "none";
    options->max_iterations = 10000;
    options->stop = "relative_energy<1e-12";
    options->peg = SS_PEG_SELECT;
}

double ss_figure_impulse(const ss_sim *sim)
{
    const ss_answer *answer = ss_sim_answer(sim);
    double sum = 0.0;
    for (int c = 0; answer && c < answer->contacts; c++) sum += answer->normal_impulse[c];
    for (int r = 0; answer && r < answer->subcontacts; r++) sum += answer->sub_normal_impulse[r];
    return sum;
}

double ss_figure_load(const ss_sim *sim)
{
    const ss_frame *frame = ss_sim_frame(sim);
    return frame ? ss_figure_impulse(sim) / frame->h : 0.0;
}

int ss_figures_of_a_fall(const void *parameters, const ss_sim *sim, const void *state,
                         ss_scene_result *result)
{
    (void)parameters, (void)state;
    double z = ss_world_body(ss_sim_world(sim), 0)->position[2];
    result[0] = (ss_scene_result){"height", "m", z};
    result[1] = (ss_scene_result){"through", "1", z < 0.0};
    result[2] = (ss_scene_result){"impulse", "N s", ss_figure_impulse(sim)};
    return 3;
}
