#include "parts.h"

#include <math.h>

typedef struct parameters {
    int storeys;
    double angle, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, storeys, "3", 1, 20, "storeys of the house"),
    SS_PARAMETER_REAL(parameters, angle, "20", 5, 40, "tilt of a card from the vertical, in degrees"),
    SS_PARAMETER_REAL(parameters, mu, "0.8", 0, 10, "friction between all bodies"),
    {0}};

typedef struct card {
    double length, width, thick;
} card;

static void lean(ss_builder *build, const card *c, double x, double z, double angle)
{
    ss_body body = {.position = {x, 0.0, z}};
    ss_turn((double[3]){0.0, 1.0, 0.0}, angle, body.quaternion);
    ss_build_one(build, &body,
                 &(ss_shape){.kind = SS_BOX, .size = {c->thick, c->width, c->length}, .density = 1000.0});
}

/* A pair: its tops touch at x, its feet stand at height z. */
static void pair(ss_builder *build, const card *c, double x, double z, double angle)
{
    /* the inner upper edges meet: from the centre of a card to that edge */
    double reach = 0.5 * c->length * sin(angle) + 0.5 * c->thick * cos(angle);
    double rise = 0.5 * c->length * cos(angle) + 0.5 * c->thick * sin(angle);
    lean(build, c, x - reach, z + rise, angle);
    lean(build, c, x + reach, z + rise, -angle);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    card c = {0.09, 0.06, 0.002};
    double angle = p->angle * SS_PI / 180.0, storey = c.length * cos(angle) + c.thick * sin(angle);
    double foot = c.length * sin(angle) + c.thick * cos(angle), pitch = 2.0 * foot + 0.002;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int s = 0; s < p->storeys; s++) {
        double z = s * (storey + c.thick);
        int pairs = p->storeys - s;
        for (int k = 0; k < pairs; k++) pair(&build, &c, (k - 0.5 * (pairs - 1)) * pitch, z, angle);
        for (int k = 0; k + 1 < pairs; k++) {
            ss_body roof = {.position = {(k - 0.5 * (pairs - 2)) * pitch, 0.0, z + storey + 0.5 * c.thick}};
            ss_build_one(&build, &roof,
                         &(ss_shape){.kind = SS_BOX, .size = {pitch, c.width, c.thick}, .density = 1000.0});
        }
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_card_house = {
    .name = "card-house",
    .summary = "a house of cards three storeys high",
    .description =
        "Thin cards lean against each other in pairs, with cards laid across. It stands by friction at "
        "edges, on contacts along nearly parallel lines: ill-conditioned, and sensitive to the position "
        "of contact points.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.002,
    .length = 5.0,
    .picture_time = 0.5,
    .build = build_scene,
};
