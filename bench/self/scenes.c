#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void stop(const char *what)
{
    fprintf(stderr, "bench_self: %s\n", what);
    exit(4);
}

void *must(void *made)
{
    if (!made) stop("out of memory");
    return made;
}

static void put_body(ss_frame *frame, int body, const double at[3], const double inertia[3])
{
    frame->bodies.mass[body] = 1.0;
    frame->bodies.force[body][2] = -9.81;
    for (int k = 0; k < 3; k++) {
        frame->bodies.inertia[body][4 * k] = inertia[k];
        frame->bodies.position[body][k] = at[k];
    }
}

static void put_contact(ss_frame *frame, int a, int b, const double point[3], const double normal[3])
{
    int c = frame->contacts.count++;
    frame->contacts.pair[c][0] = a;
    frame->contacts.pair[c][1] = b;
    frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.5;
    memcpy(frame->contacts.point[c], point, 3 * sizeof *point);
    memcpy(frame->contacts.normal[c], normal, 3 * sizeof *normal);
}

/* Room for this many contacts, none there yet. */
static ss_frame *make_frame(int bodies, int contacts)
{
    ss_frame *frame = must(ss_frame_create(bodies, 0, 0, contacts, NULL));
    frame->h = 0.01;
    frame->contacts.count = 0;
    return frame;
}

/* Four contacts under a brick, from x = low to high. */
static void lay_on(ss_frame *frame, int below, int brick, double low, double high)
{
    static const double up[3] = {0.0, 0.0, 1.0};
    const double *at = frame->bodies.position[brick];
    for (int corner = 0; corner < 4; corner++) {
        double x = at[0] + (corner & 1 ? high : low), y = at[1] + (corner & 2 ? 0.24 : -0.24);
        put_contact(frame, below, brick, (double[3]){x, y, at[2] - 0.25}, up);
    }
}

/* Bricks of 1 x 0.5 x 0.5 m in running bond. */
ss_frame *make_wall(int contacts)
{
    int columns = (int)ceil(sqrt(contacts / 8.0)), rows = (int)ceil(contacts / 8.0 / columns);
    ss_frame *frame = make_frame(columns * rows, 8 * columns * rows);
    for (int brick = 0; brick < columns * rows; brick++) {
        int row = brick / columns, column = brick % columns;
        put_body(frame, brick, (double[3]){column + 0.5 * (row % 2), 0.0, 0.25 + 0.5 * row},
                 (double[3]){0.5 / 12.0, 1.25 / 12.0, 1.25 / 12.0});
        if (row == 0) lay_on(frame, SS_WORLD, brick, -0.48, 0.48);
        for (int side = 0; row > 0 && side < 2; side++) {
            int below = column + side - (row % 2 ? 0 : 1);
            if (below < 0 || below >= columns) continue;
            lay_on(frame, (row - 1) * columns + below, brick, side ? 0.02 : -0.48, side ? 0.48 : -0.02);
        }
    }
    return frame;
}

typedef struct lattice {
    int width, layers;
} lattice;

/* Contacts of a ball with those of lower numbers near it, and with the floor. */
static void touch_neighbours(ss_frame *frame, lattice of, int ball)
{
    double(*at)[3] = frame->bodies.position;
    int layer = ball / (of.width * of.width), i = ball / of.width % of.width, j = ball % of.width;
    if (layer == 0)
        put_contact(frame, SS_WORLD, ball, (double[3]){at[ball][0], at[ball][1], 0.0},
                    (double[3]){0.0, 0.0, 1.0});
    for (int k = 0; k < 18; k++) {
        int layer2 = layer - k / 9, i2 = i + k / 3 % 3 - 1, j2 = j + k % 3 - 1;
        int other = (layer2 * of.width + i2) * of.width + j2;
        if (layer2 < 0 || i2 < 0 || j2 < 0 || i2 >= of.width || j2 >= of.width || other >= ball) continue;
        double normal[3], point[3], square = 0.0;
        for (int c = 0; c < 3; c++) {
            normal[c] = at[ball][c] - at[other][c];
            square += normal[c] * normal[c];
        }
        if (square > 1.01 * 1.01) continue;
        for (int c = 0; c < 3; c++) {
            normal[c] /= sqrt(square);
            point[c] = 0.5 * (at[ball][c] + at[other][c]);
        }
        put_contact(frame, other, ball, point, normal);
    }
}

/* Balls of diameter 1 m on a lattice that is not quite regular, moving a little; the heap is open at the
 * sides and slides apart. */
ss_frame *make_pile(int contacts)
{
    lattice of = {.width = (int)ceil(cbrt(contacts / 4.0)), .layers = (int)ceil(cbrt(contacts / 4.0))};
    int balls = of.width * of.width * of.layers;
    ss_frame *frame = make_frame(balls, 19 * balls);
    ss_random random = ss_random_start(7, 0);
    for (int ball = 0; ball < balls; ball++) {
        int layer = ball / (of.width * of.width);
        double at[3] = {ball / of.width % of.width + 0.5 * (layer % 2), ball % of.width + 0.5 * (layer % 2),
                        0.5 + 0.7072 * layer};
        for (int c = 0; c < 3; c++) {
            at[c] += ss_random_between(&random, -0.02, 0.02);
            frame->bodies.velocity[ball][c] = ss_random_between(&random, -0.1, 0.1);
        }
        put_body(frame, ball, at, (double[3]){0.1, 0.1, 0.1});
        touch_neighbours(frame, of, ball);
    }
    return frame;
}

void soften(ss_frame *frame, double stiffness)
{
    if (!ss_frame_enable(frame, "contacts/compliance", NULL)) stop("out of memory");
    for (int c = 0; c < frame->contacts.count; c++)
        frame->contacts.compliance[c] = 1.0 / (stiffness * frame->h * frame->h);
}

/* A permutation of 0 .. count - 1. */
static int *shuffled(int count, ss_random *random)
{
    int *order = must(malloc((size_t)count * sizeof *order));
    for (int i = 0; i < count; i++) {
        int other = (int)ss_random_between(random, 0.0, i + 1.0);
        other = other > i ? i : other;
        order[i] = order[other];
        order[other] = i;
    }
    return order;
}

/* Item i goes to order[i]. */
static void move(void *items, size_t size, int count, const int *order)
{
    char *copy = must(malloc((size_t)count * size)), *to = items;
    memcpy(copy, items, (size_t)count * size);
    for (int i = 0; i < count; i++) memcpy(to + (size_t)order[i] * size, copy + (size_t)i * size, size);
    free(copy);
}

void shuffle(ss_frame *frame)
{
    ss_random random = ss_random_start(11, 0);
    ss_bodies *bodies = &frame->bodies;
    ss_contacts *contacts = &frame->contacts;
    int *body = shuffled(bodies->count, &random), *contact = shuffled(contacts->count, &random);
    move(bodies->position, sizeof *bodies->position, bodies->count, body); // all else is the same for all
    move(bodies->velocity, sizeof *bodies->velocity, bodies->count, body);
    for (int c = 0; c < contacts->count; c++) {
        for (int side = 0; side < 2; side++) {
            int *of = &contacts->pair[c][side];
            if (*of >= 0) *of = body[*of];
        }
    }
    move(contacts->pair, sizeof *contacts->pair, contacts->count, contact);
    move(contacts->point, sizeof *contacts->point, contacts->count, contact);
    move(contacts->normal, sizeof *contacts->normal, contacts->count, contact);
    free(contact);
    free(body);
}

ss_problem *assemble(const ss_frame *frame)
{
    const ss_formulation *cone = ss_formulation_find("cone");
    void *options = must(calloc(1, cone->options_size));
    ss_options_defaults(cone->options, options);
    ss_problem *problem = must(ss_problem_from_frame(frame, cone, options, NULL));
    free(options);
    return problem;
}
