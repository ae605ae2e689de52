/* Model files of our own in MuJoCo and in our simulator: the same masses and places, and the same motion as
 * far as two ways to integrate can agree. Skipped where MuJoCo is not installed (tools/setup peers). */
#include "kit.h"

#ifdef SS_HAVE_MUJOCO

#include "../bench/peers/model_files.h"

static const char *data(const char *name)
{
    static char path[600];
    const char *source = getenv("SS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/test/data/models/%s", source ? source : ".", name);
    return path;
}

/* The same model: what weighs what, and where it is. */
#define ENSURE_SAME_MODEL(c, count)                                               \
    do {                                                                          \
        if ((c).why[0]) fprintf(stderr, "%s\n", (c).why);                         \
        ENSURE((c).why[0] == '\0');                                               \
        ENSURE_INT((c).bodies, count);                                            \
        ENSURE_NEAR((c).mass[1], (c).mass[0], 1e-9 * (c).mass[0]); /* rounding */ \
        ENSURE_NEAR((c).start, 0.0, 1e-9);                                        \
    } while (0)

TEST(a_pendulum_follows_mujoco_for_a_second)
{
    model_comparison c = model_compare(data("pendulum.xml"), SS_MAXIMAL, 0.0, 0.0, 1.0);
    ENSURE_SAME_MODEL(c, 1);
    ENSURE(c.moved > 0.9);
    ENSURE_NEAR(c.apart, 0.0, 1e-4); // one joint: both schemes are the same to second order, 0.002^2 * 14.7
    ENSURE_NEAR(c.energy[1], c.energy[0], 1e-2); // of 9.81 J that it falls; both oscillate by h times that
}

TEST(a_cart_with_an_arm_on_springs_follows_mujoco)
{
    model_comparison c = model_compare(data("arm.xml"), SS_MAXIMAL, 0.0, 0.0, 1.0);
    ENSURE_SAME_MODEL(c, 2); // cart and upper; lower has its tip welded to it
    ENSURE(c.moved > 0.3);
    ENSURE_NEAR(c.apart, 0.0, 2e-3); // first order in h = 0.001, springs implicit here and explicit there
    ENSURE_NEAR(c.energy[1], c.energy[0], 0.02); // likewise, of some 5 J that go to and fro
    model_comparison finer = model_compare(data("arm.xml"), SS_MAXIMAL, 0.00025, 0.0, 1.0);
    ENSURE(finer.apart < 0.5 * c.apart); // what is left is the step, not the model
}

TEST(joints_of_all_kinds_follow_mujoco)
{
    model_comparison c = model_compare(data("joints.xml"), SS_MAXIMAL, 0.0, 0.0, 0.5);
    ENSURE_SAME_MODEL(c, 5);
    ENSURE(c.moved > 1.0);
    ENSURE_NEAR(c.apart, 0.0, 4e-3); // the bodies in between of the three hinges have 2e-3 of its mass
}

TEST(a_robot_of_urdf_follows_mujoco)
{
    model_comparison c = model_compare(data("robot.urdf"), SS_MAXIMAL, 0.0, 0.0, 1.0);
    ENSURE_SAME_MODEL(c, 2);
    ENSURE(c.moved > 0.3);
    ENSURE_NEAR(c.apart, 0.0, 5e-3); // first order in h = 0.002 after a metre of motion
    model_comparison finer = model_compare(data("robot.urdf"), SS_MAXIMAL, 0.00025, 0.0, 1.0);
    ENSURE_NEAR(finer.apart, 0.0, 1e-3);
}

TEST(boxes_come_to_rest_where_mujoco_lets_them)
{
    model_comparison c = model_compare(data("floor.xml"), SS_MAXIMAL, 0.0, 0.0, 1.0);
    ENSURE_SAME_MODEL(c, 3);
    // the ball is still on its way: 0.3 m/s^2 of its 2.4 m/s^2 would be seen; boxes sink by 1 mm in MuJoCo
    ENSURE_NEAR(c.end, 0.0, 0.02);
    ENSURE_NEAR(c.energy[1], c.energy[0], 0.01 * fabs(c.energy[0]) + 1.5); // 48 kg that sink by 1 mm: 0.5 J
    ENSURE_NEAR(c.speed[1], c.speed[0], 0.05);
}

#else

TEST(model_files_follow_mujoco)
{
    SKIP("MuJoCo is not installed (tools/setup peers)");
}

#endif

TEST_MAIN
