#include "parts.h"

typedef struct parameters {
    double heavy, light, mu, size;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, heavy, "1000", 1e-9, 1e12, "mass of the box on top, in kg"),
    SS_PARAMETER_REAL(parameters, light, "1", 1e-9, 1e12, "mass of each box below, in kg"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, size, "0.2", 1e-6, 1e6, "edge of a small box, in m"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double s = p->size, wide = 5.0 * s;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int corner = 0; corner < 4; corner++) {
        double x = corner & 1 ? 2.0 * s : -2.0 * s, y = corner & 2 ? 2.0 * s : -2.0 * s;
        ss_build_box(&build, (double[3]){s, s, s}, p->light / (s * s * s), (double[3]){x, y, 0.5 * s});
    }
    ss_build_box(&build, (double[3]){wide, wide, s}, p->heavy / (wide * wide * s),
                 (double[3]){0.0, 0.0, 1.5 * s});
    return ss_build_done(&build);
}

const ss_scene ss_scene_massratio = {
    .name = "massratio",
    .summary = "1000 kg on four boxes of 1 kg",
    .description =
        "A heavy slab on four light feet. The answer is simple, a quarter of the weight through each "
        "foot, but the effective masses differ by a factor of a thousand, and sweeping methods need about "
        "as many iterations: in most engines the feet sink or shoot out. heavy=1e6 makes it a million to "
        "one.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 1.0,
    .build = build_scene,
};
