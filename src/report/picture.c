#include "report/picture.h"

#include "base/file.h"
#include "collision/ray_cast_world.h"
#include "figure/png.h"
#include "linalg/mat3.h"
#include "linalg/quat.h"
#include "linalg/vec3.h"
#include "model/geometry.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 3 };                   // per pixel and axis, where the picture is not smooth
static const double smooth_step = 0.02; // of light, between neighbours

typedef struct colour {
    double red, green, blue; /* linear light, 0..1 */
} colour;

typedef struct painter {
    const ss_world *world;
    ss_collision *collision;
    ss_vec3 eye, right, up, forward; /* right and up reach to the edge of the picture at distance 1 */
    ss_vec3 light;                   /* towards it, unit */
    double size;                     /* of what is looked at, m */
    double checker;                  /* edge of the squares on planes, m */
} painter;

static ss_vec3 unit(ss_vec3 v)
{
    double length;
    return ss_vec3_normalise(v, &length);
}

/* ---- colours ---------------------------------------------------------------------------------------- */

static colour mix(colour a, double share, colour b)
{
    return (colour){a.red + share * (b.red - a.red), a.green + share * (b.green - a.green),
                    a.blue + share * (b.blue - a.blue)};
}

static double to_linear(unsigned byte)
{
    return pow((byte & 255u) / 255.0, 2.2);
}

static colour of_hex(uint32_t hex)
{
    return (colour){to_linear(hex >> 16), to_linear(hex >> 8), to_linear(hex)};
}

static colour surface_colour(const painter *p, int number, ss_vec3 point)
{
    static const uint32_t palette[] = {0x4477AA, 0xCCBB44, 0x66CCEE, 0xEE6677,
                                       0x228833, 0xAA3377, 0xEE8866, 0x99DDFF};
    const ss_shape *shape = ss_world_shape(p->world, number);
    if (shape->colour) return of_hex(shape->colour);

    // Planes have squares.
    if (shape->kind == SS_PLANE) {
        ss_vec3 local = ss_quat_rotate_back(ss_quat_load(shape->quaternion),
                                            ss_vec3_subtract(point, ss_vec3_load(shape->position)));
        bool odd = ((int64_t)floor(local.x / p->checker) + (int64_t)floor(local.y / p->checker)) & 1;
        return of_hex(odd ? 0xB8BDC4 : 0xC8CDD3);
    }

    // Bodies with neighbouring numbers get colours that differ: a warm and a cool scale in turn, told apart
    // by all readers.
    if (shape->body == SS_WORLD) return of_hex(0x9AA3AD);
    return of_hex(palette[shape->body % (int)(sizeof palette / sizeof *palette)]);
}

static colour sky(ss_vec3 direction)
{
    return mix(of_hex(0xF4F6F8), fmin(fmax(direction.z, 0.0), 1.0), of_hex(0xB9D3EA));
}

/* ---- rays ------------------------------------------------------------------------------------------- */

static int cast(const painter *p, ss_vec3 from, ss_vec3 direction, double most, double *distance,
                ss_vec3 *normal)
{
    double origin[3], along[3], n[3];
    ss_vec3_store(from, origin);
    ss_vec3_store(direction, along);
    int shape = ss_collision_cast(p->collision, origin, along, most, distance, n);
    if (shape >= 0) *normal = ss_vec3_load(n);
    return shape;
}

/* What is seen in a direction; *seen: which shape, -1 = the sky. */
static colour look(const painter *p, ss_vec3 direction, int *seen)
{
    double distance, far = 1e3 * p->size;
    ss_vec3 normal, other;
    int shape = *seen = cast(p, p->eye, direction, far, &distance, &normal);
    if (shape < 0) return sky(direction);
    ss_vec3 point = ss_vec3_add_scaled(p->eye, distance, direction);
    colour base = surface_colour(p, shape, point);

    // Light from one side, unless something is in the way, and from all around; far things fade into the sky.
    double lit = fmax(ss_vec3_dot(normal, p->light), 0.0), shadow_distance;
    ss_vec3 start = ss_vec3_add_scaled(point, 1e-4 * p->size, normal);
    if (lit > 0.0 && cast(p, start, p->light, 10.0 * p->size, &shadow_distance, &other) >= 0) lit = 0.0;
    double around = 0.35 + 0.15 * normal.z, strength = around + 0.75 * lit;
    colour shown = {base.red * strength, base.green * strength, base.blue * strength};
    double haze = 1.0 - exp(-distance / (12.0 * p->size));
    return mix(shown, haze, sky((ss_vec3){direction.x, direction.y, 0.0}));
}

/* ---- camera ----------------------------------------------------------------------------------------- */

typedef struct box {
    ss_vec3 low, high;
} box;

/* The box around what can move, or around everything when nothing can. */
static box extent_of(const ss_world *world)
{
    box all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int only_moving = 1; only_moving >= 0 && !(all.low.x <= all.high.x); only_moving--) {
        for (int s = 0; s < ss_world_shape_count(world); s++) {
            const ss_shape *shape = ss_world_shape(world, s);
            const ss_geometry *geometry = ss_world_geometry(world, s);
            const ss_body *body = shape->body == SS_WORLD ? NULL : ss_world_body(world, shape->body);
            if (only_moving && !(body && body->kind != SS_STATIC)) continue;

            // Corners of the shape's own box, in the world; planes have none that are finite.
            for (int corner = 0; corner < 8; corner++) {
                double local[3];
                for (int i = 0; i < 3; i++) local[i] = corner >> i & 1 ? geometry->high[i] : geometry->low[i];
                if (!isfinite(local[0]) || !isfinite(local[1]) || !isfinite(local[2])) break;
                ss_vec3 at = ss_vec3_add(ss_quat_rotate(ss_quat_load(shape->quaternion), ss_vec3_load(local)),
                                         ss_vec3_load(shape->position));
                if (body)
                    at = ss_vec3_add(ss_quat_rotate(ss_quat_load(body->quaternion), at),
                                     ss_vec3_load(body->position));
                all.low = (ss_vec3){fmin(all.low.x, at.x), fmin(all.low.y, at.y), fmin(all.low.z, at.z)};
                all.high = (ss_vec3){fmax(all.high.x, at.x), fmax(all.high.y, at.y), fmax(all.high.z, at.z)};
            }
        }
    }
    if (!(all.low.x <= all.high.x)) all = (box){{-1, -1, -1}, {1, 1, 1}};
    return all;
}

/* Where the eye is: where the caller wants it, or so that all that moves is in the picture. */
static void aim(painter *p, const ss_camera *wish, int width, int height)
{
    box all = extent_of(p->world);
    ss_vec3 middle = ss_vec3_scale(0.5, ss_vec3_add(all.low, all.high)), target = middle;
    double field = wish && wish->field_of_view > 0.0 ? wish->field_of_view : 40.0;
    double reach = tan(0.5 * field * 3.14159265358979323846 / 180.0);
    p->size = fmax(ss_vec3_norm(ss_vec3_subtract(all.high, all.low)), 1e-9);
    p->eye = ss_vec3_add_scaled(middle, 0.62 * p->size / reach, unit((ss_vec3){0.45, -1.0, 0.38}));
    if (wish && memcmp(wish->eye, wish->target, sizeof wish->eye) != 0) {
        p->eye = ss_vec3_load(wish->eye);
        target = ss_vec3_load(wish->target);
    }

    p->forward = unit(ss_vec3_subtract(target, p->eye));
    ss_vec3 side = ss_vec3_cross(p->forward, (ss_vec3){0.0, 0.0, 1.0});
    if (ss_vec3_norm(side) < 1e-9) side = (ss_vec3){1.0, 0.0, 0.0};
    side = unit(side);
    p->up = ss_vec3_scale(reach, ss_vec3_cross(side, p->forward));
    p->right = ss_vec3_scale(reach * width / height, side);
    p->light = unit((ss_vec3){0.35, -0.5, 0.9});
    p->checker = pow(2.0, floor(log2(0.12 * p->size)));
}

/* ---- painting --------------------------------------------------------------------------------------- */

static uint8_t to_byte(double linear)
{
    double byte = 255.0 * pow(fmin(fmax(linear, 0.0), 1.0), 1.0 / 2.2);
    return (uint8_t)(byte + 0.5);
}

/* At a place of the picture, in pixels. */
static colour look_at(const painter *p, const ss_picture *picture, double column, double row, int *seen)
{
    double x = 2.0 * column / picture->width - 1.0, y = 1.0 - 2.0 * row / picture->height;
    return look(p, unit(ss_vec3_add_scaled(ss_vec3_add_scaled(p->forward, x, p->right), y, p->up)), seen);
}

typedef struct sample {
    colour colour;
    int shape;
} sample;

static bool differ(const sample *a, const sample *b)
{
    return a->shape != b->shape || fabs(a->colour.red - b->colour.red) > smooth_step ||
           fabs(a->colour.green - b->colour.green) > smooth_step ||
           fabs(a->colour.blue - b->colour.blue) > smooth_step;
}

/* One ray per pixel, and more where neighbours differ: edges, shadows, the pattern of the ground. */
static void paint(const painter *p, sample *samples, ss_picture *picture)
{
    int width = picture->width, height = picture->height;
    sample *to = samples;
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++, to++)
            to->colour = look_at(p, picture, column + 0.5, row + 0.5, &to->shape);

    uint8_t *byte = picture->rgb;
    const sample *here = samples;
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++, here++) {
            bool rough =
                (column > 0 && differ(here, here - 1)) || (column + 1 < width && differ(here, here + 1)) ||
                (row > 0 && differ(here, here - width)) || (row + 1 < height && differ(here, here + width));
            colour shown = here->colour, sum = {0.0, 0.0, 0.0};
            for (int k = 0; rough && k < SAMPLES * SAMPLES; k++) {
                int shape;
                colour seen = look_at(p, picture, column + (k % SAMPLES + 0.5) / SAMPLES,
                                      row + (k / SAMPLES + 0.5) / SAMPLES, &shape);
                sum = (colour){sum.red + seen.red, sum.green + seen.green, sum.blue + seen.blue};
            }
            double share = 1.0 / (SAMPLES * SAMPLES);
            if (rough) shown = (colour){share * sum.red, share * sum.green, share * sum.blue};
            *byte++ = to_byte(shown.red);
            *byte++ = to_byte(shown.green);
            *byte++ = to_byte(shown.blue);
        }
    }
}

bool ss_picture_draw(const ss_world *world, const ss_camera *camera, int width, int height,
                     ss_picture *picture, ss_error *err)
{
    painter p = {.world = world};
    size_t pixels = (size_t)width * (size_t)height;
    bool *ghost = ss_allocate((size_t)ss_world_shape_count(world), sizeof *ghost);
    sample *samples = ss_allocate(pixels, sizeof *samples);
    *picture = (ss_picture){width, height, ss_allocate(pixels, 3)};
    bool good = ghost && samples && picture->rgb;
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a picture of %d x %d", width, height);

    if (good) {
        // Rays meet what is not a ghost. Half-spaces around the eye would hide everything: the walls of a box
        // are left out on the side of the camera. What is seen but not felt is a ghost in the world, not in
        // the picture.
        aim(&p, camera, width, height);
        for (int s = 0; s < ss_world_shape_count(world); s++) {
            ss_shape *shape = ss_world_shape(world, s);
            ss_vec3 local = ss_quat_rotate_back(ss_quat_load(shape->quaternion),
                                                ss_vec3_subtract(p.eye, ss_vec3_load(shape->position)));
            ghost[s] = shape->ghost;
            shape->ghost = shape->kind == SS_PLANE && local.z <= 0.0;
        }

        ss_contact_list contacts;
        p.collision = ss_collision_create(world, NULL, err);
        good = p.collision && ss_collision_find(p.collision, 0.0, NULL, &contacts, err);
        if (good) paint(&p, samples, picture);
        ss_collision_destroy(p.collision);
        for (int s = 0; s < ss_world_shape_count(world); s++) ss_world_shape(world, s)->ghost = ghost[s];
    }
    if (!good) ss_picture_free(picture);
    ss_release(samples);
    ss_release(ghost);
    return good;
}

bool ss_picture_write_png(const ss_picture *picture, const char *path, ss_error *err)
{
    ss_text file = {0};
    ss_png_append(&file, picture->width, picture->height, picture->rgb, 0.0);
    bool good = file.out_of_memory ? ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path)
                                   : ss_file_replace(path, ss_text_get(&file), file.length, err);
    ss_text_free(&file);
    return good;
}

void ss_picture_free(ss_picture *picture)
{
    ss_release(picture->rgb);
    *picture = (ss_picture){0};
}
