/* What the narrow phase costs: nanoseconds per pair of shapes at rest, overlapping or apart. Every case is a
 * few hundred poses that differ a little, so that nothing is predicted by heart; the time is the smallest of
 * several rounds. An argument chooses the cases whose names it is part of. */
#include <stickslip/stickslip.h>

#include "collision/pairs.h"
#include "linalg/quat.h"
#include "model/geometry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 256, ROUNDS = 400 };

typedef struct bench_case {
    const char *name;
    ss_collide_function *collide;
    const ss_shape *a, *b;
    double x, y, z;           /* of b; a is at 0 */
    double turn_a;            /* of a (rad): about y */
    double turn_z, turn_x;    /* of b (rad): about z, then x */
    double shake, shake_turn; /* deviation of the poses */
} bench_case;

static ss_placed_shape place(const ss_shape *shape, const ss_geometry *geometry, ss_vec3 at, ss_quat turn)
{
    ss_placed_shape placed = {.shape = shape, .geometry = geometry};
    ss_vec3_store(at, placed.position);
    ss_mat3_store(ss_quat_to_matrix(turn), placed.rotation);
    return placed;
}

static ss_vec3 noise(ss_random *random, double scale)
{
    double x = ss_random_normal(random), y = ss_random_normal(random);
    return ss_vec3_scale(scale, (ss_vec3){x, y, ss_random_normal(random)});
}

static double measure(const bench_case *c, const ss_geometry *ga, const ss_geometry *gb, double *contacts)
{
    static ss_placed_shape a[POSES], b[POSES];
    ss_random random = ss_random_start(1, 0);
    ss_quat turn = ss_quat_multiply(ss_quat_exponential((ss_vec3){c->turn_x, 0.0, 0.0}),
                                    ss_quat_exponential((ss_vec3){0.0, 0.0, c->turn_z}));
    for (int i = 0; i < POSES; i++) {
        ss_vec3 at = ss_vec3_add((ss_vec3){c->x, c->y, c->z}, noise(&random, c->shake));
        ss_quat shaken = ss_quat_multiply(ss_quat_exponential(noise(&random, c->shake_turn)), turn);
        a[i] = place(c->a, ga, (ss_vec3){0.0, 0.0, 0.0}, ss_quat_exponential((ss_vec3){0.0, c->turn_a, 0.0}));
        b[i] = place(c->b, gb, at, shaken);
    }
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        long count = 0;
        double start = ss_clock_seconds();
        for (int i = 0; i < POSES; i++) {
            ss_manifold manifold;
            c->collide(&a[i], &b[i], 0.01, &manifold);
            count += manifold.count;
        }
        best = fmin(best, ss_clock_seconds() - start);
        *contacts = (double)count / POSES;
    }
    return 1e9 * best / POSES;
}

static ss_mesh *rock(int points)
{
    double(*x)[3] = malloc((size_t)points * sizeof *x);
    ss_random random = ss_random_start(7, 0);
    for (int i = 0; x && i < points; i++)
        ss_vec3_store(ss_vec3_scale(0.5, ss_vec3_normalise(noise(&random, 1.0), NULL)), x[i]);
    ss_mesh *mesh = x ? ss_mesh_hull((const double(*)[3])x, points, NULL) : NULL;
    free(x);
    return mesh;
}

int main(int argc, char **argv)
{
    ss_mesh *cube_mesh = ss_mesh_solid(SS_CUBE, NULL), *rock_mesh = rock(30), *ball_mesh = rock(300);
    const ss_shape plane = {.kind = SS_PLANE}, sphere = {.kind = SS_SPHERE, .size = {0.5}};
    const ss_shape box = {.kind = SS_BOX, .size = {1.0, 1.0, 1.0}};
    const ss_shape capsule = {.kind = SS_CAPSULE, .size = {0.2, 1.0}};
    const ss_shape cube = {.kind = SS_HULL, .mesh = cube_mesh}, stone = {.kind = SS_HULL, .mesh = rock_mesh};
    const ss_shape ball = {.kind = SS_HULL, .mesh = ball_mesh};
    const double quarter = 0.5 * 3.141592653589793, edge = 1.4142135623730951;
    const bench_case cases[] = {
        {"box on box, aligned", ss_collide_box_box, &box, &box, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e-4, 1e-4},
        {"box on box, askew", ss_collide_box_box, &box, &box, 0.3, 0.2, 1.0, 0.0, 0.5, 0.0, 1e-3, 1e-3},
        {"boxes, edges crossed", ss_collide_box_box, &box, &box, 0.0, 0.0, edge, 0.5 * quarter, 0.0,
         0.5 * quarter, 1e-3, 0.01},
        {"boxes, corner near corner", ss_collide_box_box, &box, &box, 1.003, 1.003, 1.003, 0.0, 0.0, 0.0,
         1e-3, 1e-2},
        {"boxes, deep", ss_collide_box_box, &box, &box, 0.1, 0.2, 0.3, 0.0, 0.5, 0.3, 0.1, 0.3},
        {"boxes apart", ss_collide_box_box, &box, &box, 0.5, 0.5, 1.3, 0.0, 0.5, 0.3, 1e-2, 0.1},
        {"plane, box", ss_collide_plane_box, &plane, &box, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1e-4, 1e-4},
        {"sphere, box", ss_collide_sphere_box, &sphere, &box, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1e-3, 0.1},
        {"box, capsule lying", ss_collide_box_capsule, &box, &capsule, 0.0, 0.0, 0.7, 0.0, 0.0, quarter, 1e-3,
         1e-3},
        {"hull on hull, cubes", ss_collide_hull_hull, &cube, &cube, 0.3, 0.2, 1.0, 0.0, 0.5, 0.0, 1e-3, 1e-3},
        {"box, hull of a cube", ss_collide_box_hull, &box, &cube, 0.3, 0.2, 1.0, 0.0, 0.5, 0.0, 1e-3, 1e-3},
        {"hulls of 30 points", ss_collide_hull_hull, &stone, &stone, 0.0, 0.0, 0.92, 0.0, 0.0, 0.0, 1e-3,
         0.5},
        {"hulls of 30 points, deep", ss_collide_hull_hull, &stone, &stone, 0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.1,
         0.5},
        {"hulls of 30 points apart", ss_collide_hull_hull, &stone, &stone, 0.0, 0.0, 1.05, 0.0, 0.0, 0.0,
         1e-3, 0.5},
        {"hulls of 300 points", ss_collide_hull_hull, &ball, &ball, 0.0, 0.0, 0.985, 0.0, 0.0, 0.0, 1e-3,
         0.5},
        {"hulls of 300 points, deep", ss_collide_hull_hull, &ball, &ball, 0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.1,
         0.5},
        {"plane, hull of 30 points", ss_collide_plane_hull, &plane, &stone, 0.0, 0.0, 0.47, 0.0, 0.0, 0.0,
         1e-3, 0.5},
        {"sphere, hull of 30 points", ss_collide_sphere_hull, &sphere, &stone, 0.0, 0.0, 0.96, 0.0, 0.0, 0.0,
         1e-3, 0.5},
        {"capsule, hull of 30 points", ss_collide_capsule_hull, &capsule, &stone, 0.0, 0.66, 0.0, 0.0, 0.0,
         0.0, 1e-3, 0.5},
    };
    printf("%-28s %10s %9s\n", "pair", "ns", "contacts");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc > 1 && !strstr(cases[i].name, argv[1])) continue;
        ss_geometry *ga = ss_geometry_create(cases[i].a, NULL), *gb = ss_geometry_create(cases[i].b, NULL);
        if (!ga || !gb) return 4;
        double contacts, time = measure(&cases[i], ga, gb, &contacts);
        printf("%-28s %10.0f %9.2f\n", cases[i].name, time, contacts);
        ss_geometry_destroy(ga);
        ss_geometry_destroy(gb);
    }
    ss_mesh_destroy(cube_mesh);
    ss_mesh_destroy(rock_mesh);
    ss_mesh_destroy(ball_mesh);
    return 0;
}
