/* Builds a world without running it: a hammer of two shapes on a floor, and what the library makes of it.
 *
 *     cc hammer.c $(pkg-config --cflags --libs stickslip) -o hammer
 */
#include <stickslip/model.h>

#include <stdio.h>

static const double steel = 7850, ash = 700; // kg/m^3

/* The body's frame is where the handle ends; it moves to the centre of mass when the world is finished. */
static int add_hammer(ss_world *world, int iron, ss_error *err)
{
    const ss_body body = {.name = "hammer", .kind = SS_DYNAMIC, .position = {0, 0, 1}};
    const ss_shape handle = {
        .kind = SS_CYLINDER, .size = {0.014, 0.30}, .position = {0, 0, 0.15}, .density = ash};
    const ss_shape head = {.kind = SS_BOX,
                           .size = {0.10, 0.025, 0.025},
                           .position = {0, 0, 0.3125},
                           .density = steel,
                           .material = iron};
    int hammer = ss_world_add_body(world, &body, err);
    if (hammer < 0 || ss_world_add_shape(world, hammer, &handle, err) < 0 ||
        ss_world_add_shape(world, hammer, &head, err) < 0)
        return -1;
    return hammer;
}

static bool build(ss_world *world, ss_error *err)
{
    int iron =
        ss_world_add_material(world, &(ss_material){.name = "iron", .mu = 0.2, .restitution = 0.3}, err);
    return iron >= 0 && add_hammer(world, iron, err) >= 0 &&
           ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, err) >= 0 &&
           ss_world_finish(world, err);
}

static void print(const ss_world *world)
{
    const ss_body *hammer = ss_world_body(world, ss_world_find_body(world, "hammer"));
    const double *inertia = hammer->inertia;
    printf("mass     %.4f kg\n", hammer->mass);
    printf("centre   %.4f m above the end of the handle\n", hammer->centre[2]);
    printf("inertia  %.3e %.3e %.3e kg m^2\n", inertia[0], inertia[4], inertia[8]);
    printf("friction %.4f of the head on the floor\n", ss_world_pair(world, 0, 1).mu);
    printf("energy   %.4f J\n", ss_world_measure(world).potential);
}

int main(void)
{
    ss_error err = {0};
    ss_world *world = ss_world_create(&err);
    bool good = world && build(world, &err);
    if (good)
        print(world);
    else
        fprintf(stderr, "%s\n", err.message);
    ss_world_destroy(world);
    return good ? 0 : 1;
}
