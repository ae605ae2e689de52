/* Model files: URDF, MJCF and SDF into worlds. Most are written here, in a few lines each; the expected
 * numbers are worked out by hand from the definitions of the formats. */
#include "kit.h"

#include <stickslip/stickslip.h>

#include "shared_data.h"

typedef struct loaded {
    ss_world *world;
    ss_findings findings;
    ss_model_info info;
    ss_error err;
    bool good;
} loaded;

static loaded load_with(const char *text, const ss_model_options *options)
{
    loaded l = {.world = ss_world_create(NULL)};
    l.good =
        ss_model_parse(text, strlen(text), "test.xml", NULL, options, l.world, &l.info, &l.findings, &l.err);
    return l;
}

static loaded load(const char *text)
{
    return load_with(text, NULL);
}

static void drop(loaded *l)
{
    ss_world_destroy(l->world);
    ss_findings_free(&l->findings);
}

static bool mentions(const loaded *l, ss_finding_kind kind, const char *place, const char *part)
{
    for (size_t i = 0; i < l->findings.count; i++) {
        const ss_finding *f = &l->findings.items[i];
        if (f->kind == kind && strcmp(f->place, place) == 0 && strstr(f->message, part)) return true;
    }
    return false;
}

#define ENSURE_LOADED(l)                                                  \
    do {                                                                  \
        if (!(l).good) fprintf(stderr, "refused: %s\n", (l).err.message); \
        ENSURE((l).good);                                                 \
    } while (0)

#define ENSURE_REFUSED(text, line, part)                                          \
    do {                                                                          \
        loaded refused = load(text);                                              \
        bool as_expected = !refused.good && refused.err.code == SS_ERROR_INPUT && \
                           strstr(refused.err.message, "test.xml:" line ":") &&   \
                           strstr(refused.err.message, part);                     \
        if (!as_expected) fprintf(stderr, "got: %s\n", refused.err.message);      \
        drop(&refused);                                                           \
        ENSURE(as_expected);                                                      \
    } while (0)

/* A body of MJCF around something, on line 1. */
#define MJCF(options, inside) "<mujoco>" options "<worldbody>" inside "</worldbody></mujoco>"

/* ---- the same pendulum twice ------------------------------------------------------------------------ */

static double swing(const char *path)
{
    ss_world *world = ss_world_create(NULL);
    ss_model_info info;
    ss_findings findings = {0};
    ss_error err = {0};
    double height = NAN;
    if (ss_model_read(path, NULL, world, &info, &findings, &err) && findings.count == 0) {
        ss_sim_options options;
        ss_options_defaults(ss_sim_option_table, &options);
        ss_options_defaults(ss_collision_option_table, &options.collision);
        options.h = 0.002;
        options.joints = SS_STABILISE_IMPULSE;
        ss_sim *sim = ss_sim_create(world, &options, NULL);
        for (int i = 0; i < 250; i++) ss_sim_step(sim, NULL);
        height = ss_world_body(world, ss_world_find_body(world, "rod"))->position[2];
        ss_sim_destroy(sim);
    } else {
        fprintf(stderr, "%s: %s\n", path, err.message);
    }
    ss_findings_free(&findings);
    ss_world_destroy(world);
    return height;
}

static const char *data(const char *name)
{
    static char path[2][600];
    static int turn;
    const char *source = getenv("SS_SOURCE_DIR");
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/test/data/models/%s", source ? source : ".", name);
    return path[turn];
}

TEST(a_pendulum_swings_the_same_from_both_formats)
{
    double urdf = swing(data("pendulum.urdf")), mjcf = swing(data("pendulum.xml"));
    ENSURE_NEAR(urdf, mjcf, 1e-9); // both stop at joint_tolerance 1e-5, on the same path: rounding remains
    // theta'' = 3 g / (2 l) cos theta from level, integrated by a Runge-Kutta rule beside this
    double angle = 0.0, speed = 0.0;
    for (int i = 0; i < 50000; i++) { // midpoint rule with h = 1e-5: exact to 1e-8
        double middle = angle + 0.5e-5 * speed, fast = speed + 0.5e-5 * 14.715 * cos(angle);
        angle += 1e-5 * fast;
        speed += 1e-5 * 14.715 * cos(middle);
    }
    ENSURE_NEAR(urdf, -0.5 * sin(angle), 0.5 * 0.5 * 0.002 * speed); // first order: half a step ahead
}

/* ---- MJCF: shapes, poses, mass ---------------------------------------------------------------------- */

static const ss_shape *shape(const loaded *l, int number)
{
    return ss_world_shape(l->world, number);
}

TEST(sizes_are_half_lengths_and_fromto_is_an_axis)
{
    loaded l = load(MJCF("", "<geom type='box' size='1 2 3'/>"
                             "<geom type='capsule' size='.1 .5'/>"
                             "<geom type='capsule' size='.1' fromto='0 0 0 2 0 0'/>"
                             "<geom type='cylinder' size='.1' fromto='0 1 0 0 4 0'/>"
                             "<geom type='box' size='.2' fromto='0 0 0 0 0 1'/>"
                             "<geom type='ellipsoid' size='1 2 3'/>"
                             "<geom size='.3' pos='1 2 3'/>"));
    ENSURE_LOADED(l);
    ENSURE_INT(ss_world_shape_count(l.world), 7);
    ENSURE(shape(&l, 0)->size[0] == 2.0 && shape(&l, 0)->size[1] == 4.0 && shape(&l, 0)->size[2] == 6.0);
    ENSURE(shape(&l, 1)->size[0] == 0.1 && shape(&l, 1)->size[1] == 1.0);
    ENSURE_NEAR(shape(&l, 2)->size[1], 2.0, 1e-15);
    ENSURE_NEAR(shape(&l, 2)->position[0], 1.0, 1e-15);
    // z of the capsule lies along x: a quarter turn about y
    const double *q = shape(&l, 2)->quaternion;
    ENSURE_NEAR(fabs(2.0 * (q[1] * q[3] + q[0] * q[2])), 1.0, 1e-14); // x component of R z
    ENSURE_NEAR(shape(&l, 3)->position[1], 2.5, 1e-15);
    ENSURE_NEAR(shape(&l, 3)->size[1], 3.0, 1e-15);
    ENSURE_NEAR(shape(&l, 4)->size[0], 0.4, 1e-15);
    ENSURE_NEAR(shape(&l, 4)->size[2], 1.0, 1e-15);
    ENSURE(shape(&l, 5)->kind == SS_ELLIPSOID && shape(&l, 5)->size[2] == 3.0);
    ENSURE(shape(&l, 6)->kind == SS_SPHERE && shape(&l, 6)->position[2] == 3.0);
    ENSURE_INT(l.findings.count, 0);
    drop(&l);
}

/* Where the x axis of a geom points, for each way to write an orientation. */
static double x_of(const char *compiler, const char *orientation, int component)
{
    char text[600];
    snprintf(text, sizeof text, "<mujoco>%s<worldbody><geom size='1' type='sphere' %s/></worldbody></mujoco>",
             compiler, orientation);
    loaded l = load(text);
    double value = NAN;
    if (l.good) {
        const double *q = shape(&l, 0)->quaternion;
        const double x[3] = {1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]), 2.0 * (q[1] * q[2] + q[0] * q[3]),
                             2.0 * (q[1] * q[3] - q[0] * q[2])};
        value = x[component];
    } else {
        fprintf(stderr, "%s\n", l.err.message);
    }
    drop(&l);
    return value;
}

TEST(orientations_are_read_in_all_their_forms)
{
    const double e = 1e-14;                             // rounding of a few sines
    ENSURE_NEAR(x_of("", "quat='2 0 0 2'", 1), 1.0, e); // not of unit length: a quarter turn about z
    ENSURE_NEAR(x_of("", "axisangle='0 0 2 90'", 1), 1.0, e);
    ENSURE_NEAR(x_of("<compiler angle='radian'/>", "axisangle='0 0 1 1.5707963267948966'", 1), 1.0, e);
    ENSURE_NEAR(x_of("", "euler='0 0 90'", 1), 1.0, e);
    // x then the new y: x goes where z was turned to, (0, -s, c) times -1; about fixed axes y comes last
    ENSURE_NEAR(x_of("", "euler='90 90 0'", 1), 1.0, e);
    ENSURE_NEAR(x_of("<compiler eulerseq='XYZ'/>", "euler='90 90 0'", 2), -1.0, e);
    ENSURE_NEAR(x_of("<compiler eulerseq='zyx'/>", "euler='90 0 0'", 1), 1.0, e);
    ENSURE_NEAR(x_of("", "xyaxes='0 3 0 -1 5 0'", 1), 1.0, e);
    ENSURE_NEAR(x_of("", "zaxis='1 0 0'", 2), -1.0, e);
}

TEST(masses_come_from_shapes_or_from_inertial_as_the_compiler_says)
{
#define MASSES(compiler)                                                                                    \
    MJCF(compiler, "<body name='a' pos='0 0 1'><freejoint/><geom type='box' size='.5 .5 .5' density='10'/>" \
                   "<inertial pos='0 0 .25' mass='3' fullinertia='1 2 3 .1 .2 .3'/></body>"                 \
                   "<body name='b'><freejoint/><geom type='box' size='.5 .5 .5' mass='7'/>"                 \
                   "<body pos='2 0 0'><geom type='box' size='.5 .5 .5' mass='7'/></body></body>")
    loaded l = load(MASSES(""));
    ENSURE_LOADED(l);
    const ss_body *a = ss_world_body(l.world, 0), *b = ss_world_body(l.world, 1);
    ENSURE_INT(ss_world_body_count(l.world), 2); // what is welded is one body
    ENSURE_NEAR(a->mass, 3.0, 0.0);
    ENSURE_NEAR(a->position[2], 1.25, 1e-15);
    ENSURE(a->inertia[0] == 1.0 && a->inertia[4] == 2.0 && a->inertia[8] == 3.0);
    ENSURE(a->inertia[1] == 0.1 && a->inertia[2] == 0.2 && a->inertia[5] == 0.3);
    ENSURE_NEAR(shape(&l, 0)->position[2], -0.25, 1e-15);
    ENSURE_NEAR(b->mass, 14.0, 1e-14);
    ENSURE_NEAR(b->position[0], 1.0, 1e-15);
    // two cubes of 7 kg at a distance of 1 m from the centre: 2 (7/6 + 7)
    ENSURE_NEAR(b->inertia[4], 2.0 * (7.0 / 6.0 + 7.0), 1e-13);
    ENSURE_NEAR(b->inertia[0], 2.0 * 7.0 / 6.0, 1e-13);
    drop(&l);

    l = load(MASSES("<compiler inertiafromgeom='true'/>"));
    ENSURE_LOADED(l);
    ENSURE_NEAR(ss_world_body(l.world, 0)->mass, 10.0, 1e-14);
    drop(&l);
    l = load(MASSES("<compiler settotalmass='34'/>"));
    ENSURE_LOADED(l);
    ENSURE_NEAR(ss_world_body(l.world, 0)->mass, 6.0, 1e-14); // 3 + 14 become 34
    ENSURE_NEAR(ss_world_body(l.world, 0)->inertia[8], 6.0, 1e-14);
    drop(&l);
    l = load(MASSES("<compiler inertiafromgeom='false'/>"));
    ENSURE(!l.good && strstr(l.err.message, "no mass"));
    drop(&l);
}

TEST(a_mesh_stays_where_its_vertices_are)
{
    // a unit cube whose corner is the origin: MuJoCo moves the mesh to its centre, and the shape back
    loaded l = load("<mujoco><asset><mesh name='cube' scale='2 2 2' refpos='1 0 0'"
                    " vertex='0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1'/></asset>"
                    "<worldbody><body><freejoint/><geom type='mesh' mesh='cube' pos='0 0 "
                    "1'/></body></worldbody></mujoco>");
    ENSURE_LOADED(l);
    const ss_body *body = ss_world_body(l.world, 0);
    ENSURE_NEAR(body->mass, 8000.0, 1e-9);
    ENSURE_NEAR(body->position[0], 0.0, 1e-13);
    ENSURE_NEAR(body->position[1], 1.0, 1e-13);
    ENSURE_NEAR(body->position[2], 2.0, 1e-13);
    ENSURE(shape(&l, 0)->kind == SS_HULL);
    drop(&l);
}

/* ---- MJCF: defaults, frames, copies ----------------------------------------------------------------- */

TEST(defaults_are_inherited_and_overridden)
{
    loaded l = load(
        "<mujoco>\n<default>\n"
        "<geom size='.1' rgba='1 0 0 1'/>\n"
        "<default class='big'><geom size='.5'/><default class='box'><geom type='box' size='1 1 1'/></default>"
        "</default></default>\n"
        "<worldbody><geom/><geom class='big'/><geom class='box'/><geom class='big' size='.7'/>"
        "<body childclass='big'><geom/><body><geom/><geom class='main'/></body></body>"
        "<frame childclass='box'><geom/></frame></worldbody></mujoco>");
    ENSURE_LOADED(l);
    const double expected[] = {0.1, 0.5, 2.0, 0.7, 2.0, 0.5, 0.5, 0.1};
    // the world's own shapes come first, those of frames with them
    for (int i = 0; i < 8; i++) ENSURE_NEAR(shape(&l, i)->size[0], expected[i], 1e-15);
    ENSURE_INT(shape(&l, 3)->colour, 0xff0000);
    ENSURE_INT(l.findings.count, 0);
    drop(&l);
    ENSURE_REFUSED(MJCF("", "<geom class='none' size='1'/>"), "1", "unknown default class \"none\"");
}

TEST(what_a_default_says_in_vain_is_listed_where_it_stands)
{
    loaded l = load("<mujoco>\n<default>\n<geom size='1' solref='.1 1'/>\n<tendon width='1'/>\n</default>\n"
                    "<worldbody><geom/></worldbody></mujoco>");
    ENSURE_LOADED(l);
    ENSURE_INT(l.findings.count, 1); // no tendon: its default is no loss
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:3", "<geom solref>"));
    drop(&l);
}

TEST(frames_and_copies_are_placed)
{
    loaded l = load(MJCF("", "<frame pos='1 0 0' euler='0 0 90'><body name='in' pos='1 0 0'>"
                             "<joint name='j' axis='1 0 0' pos='0 0 1'/><geom size='.1'/></body></frame>"
                             "<replicate count='3' offset='1 0 0' euler='0 0 90' sep='-'>"
                             "<body name='c' pos='2 0 0'><freejoint/><geom size='.1'/></body></replicate>"));
    ENSURE_LOADED(l);
    const ss_body *in = ss_world_body(l.world, 0);
    ENSURE_NEAR(in->position[0], 1.0, 1e-15);
    ENSURE_NEAR(in->position[1], 1.0, 1e-15);
    ENSURE_NEAR(ss_world_joint(l.world, 0)->axis[1], 1.0, 1e-15);
    ENSURE_NEAR(ss_world_joint(l.world, 0)->anchor[2], 1.0, 1e-15);
    // copy i is turned by i quarter turns, its frame moved on by the offset of the copy before
    const double place[3][2] = {{2, 0}, {1, 2}, {-1, 1}};
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "c-%d", i);
        int body = ss_world_find_body(l.world, name);
        ENSURE(body >= 0);
        ENSURE_NEAR(ss_world_body(l.world, body)->position[0], place[i][0], 1e-14);
        ENSURE_NEAR(ss_world_body(l.world, body)->position[1], place[i][1], 1e-14);
    }
    drop(&l);
}

/* ---- MJCF: joints ----------------------------------------------------------------------------------- */

TEST(joint_laws_are_translated)
{
    loaded l = load(
        MJCF("", "<body><joint name='h' type='hinge' axis='0 2 0' range='-90 45' ref='10' springref='30' "
                 "stiffness='5' damping='.5' frictionloss='.2' armature='.01'/><geom size='1'/></body>"
                 "<body pos='5 0 0'><joint name='s' type='slide' range='-1 2' ref='.5' limited='true'/>"
                 "<geom size='1'/></body>"
                 "<body pos='9 0 0'><joint name='n' range='1 2' limited='false'/><geom size='1'/></body>"));
    ENSURE_LOADED(l);
    const double degree = 3.14159265358979323846 / 180.0;
    const ss_joint *h = ss_world_joint(l.world, 0), *s = ss_world_joint(l.world, 1);
    ENSURE(h->kind == SS_JOINT_REVOLUTE && h->axis[1] == 1.0 && h->law[0].limited);
    ENSURE_NEAR(h->law[0].lower, -100 * degree, 1e-15); // ours is 0 where the file's is `ref`
    ENSURE_NEAR(h->law[0].upper, 35 * degree, 1e-15);
    ENSURE_NEAR(h->law[0].rest, 20 * degree, 1e-15);
    ENSURE(h->law[0].stiffness == 5.0 && h->law[0].damping == 0.5 && h->law[0].friction == 0.2);
    ENSURE(h->law[0].armature == 0.01);
    ENSURE(s->kind == SS_JOINT_PRISMATIC && s->law[0].lower == -1.5 && s->law[0].upper == 1.5);
    ENSURE(!ss_world_joint(l.world, 2)->law[0].limited);
    ENSURE_INT(l.findings.count, 0);
    drop(&l);
}

TEST(without_autolimits_a_range_alone_limits_nothing_and_is_listed)
{
    loaded l = load("<mujoco>\n<compiler autolimits='false' angle='radian'/>\n<worldbody><body>\n"
                    "<joint range='-1 1'/><geom size='1'/></body></worldbody></mujoco>");
    ENSURE_LOADED(l);
    ENSURE(!ss_world_joint(l.world, 0)->law[0].limited);
    ENSURE(mentions(&l, SS_FINDING_WARNING, "test.xml:4", "no limits"));
    drop(&l);
}

TEST(joints_of_one_body_become_one_or_get_bodies_in_between)
{
    loaded l = load(MJCF(
        "", "<body><joint axis='1 0 0' range='-10 10'/><joint axis='0 1 0'/><geom size='1'/></body>"
            "<body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint axis='0 1 0'/>"
            "<geom size='1'/></body>"
            "<body><joint type='slide' axis='0 0 1' range='0 1'/><joint axis='0 0 1'/><geom size='1'/></body>"
            "<body name='ball'><joint axis='1 0 0'/><joint axis='0 1 0'/><joint axis='0 0 1'/>"
            "<geom size='1' mass='2'/></body>"));
    ENSURE_LOADED(l);
    ENSURE(ss_world_joint(l.world, 0)->kind == SS_JOINT_UNIVERSAL);
    ENSURE(ss_world_joint(l.world, 0)->law[0].limited && !ss_world_joint(l.world, 0)->law[1].limited);
    ENSURE(ss_world_joint(l.world, 1)->kind == SS_JOINT_PLANAR);
    ENSURE(ss_world_joint(l.world, 2)->kind == SS_JOINT_CYLINDRICAL);
    ENSURE(ss_world_joint(l.world, 2)->law[1].limited && !ss_world_joint(l.world, 2)->law[0].limited);
    ENSURE_INT(ss_world_joint_count(l.world), 6);
    ENSURE_INT(ss_world_body_count(l.world), 6); // four, and two in between
    double mass = 0.0;
    for (int i = 3; i < 6; i++) mass += ss_world_body(l.world, i)->mass;
    ENSURE_NEAR(mass, 2.0, 1e-15);
    ENSURE(mentions(&l, SS_FINDING_WARNING, "test.xml:1", "2 bodies in between"));
    drop(&l);
}

TEST(what_a_ball_cannot_have_is_listed)
{
    loaded l = load(MJCF("", "<body><joint type='ball' damping='1' range='0 30'/><geom size='1'/></body>"));
    ENSURE_LOADED(l);
    ENSURE(ss_world_joint(l.world, 0)->kind == SS_JOINT_BALL);
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:1", "damping of a ball"));
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:1", "limits of a ball"));
    drop(&l);
}

/* ---- MJCF: contacts --------------------------------------------------------------------------------- */

static bool touch(const loaded *l, int a, int b)
{
    return ss_world_may_touch(l->world, a, b);
}

TEST(shapes_touch_when_either_wants_to)
{
    loaded l =
        load(MJCF("", "<geom type='plane' size='1 1 1' contype='1' conaffinity='0'/>"
                      "<body pos='0 0 1'><freejoint/><geom size='.1' contype='0' conaffinity='1'/></body>"
                      "<body pos='1 0 1'><freejoint/><geom size='.1' contype='0' conaffinity='1'/></body>"
                      "<body pos='2 0 1'><freejoint/><geom size='.1' contype='0' conaffinity='0'/></body>"
                      "<body pos='3 0 1'><freejoint/><geom size='.1' contype='6' conaffinity='4'/></body>"
                      "<body pos='4 0 1'><freejoint/><geom size='.1' contype='0' conaffinity='2'/></body>"));
    ENSURE_LOADED(l);
    ENSURE(touch(&l, 0, 1) && touch(&l, 0, 2) && !touch(&l, 1, 2));
    ENSURE(shape(&l, 3)->ghost && !touch(&l, 0, 3));
    ENSURE(touch(&l, 4, 5) && !touch(&l, 0, 4) && !touch(&l, 1, 4) && !touch(&l, 0, 5));
    drop(&l);
}

#define ARM                                                                                            \
    "<geom name='floor' type='plane' size='1 1 1'/><body name='a'><joint/><geom name='ga' size='.1'/>" \
    "<body name='b'><joint/><geom name='gb' size='.1'/><body name='c'><joint/><geom name='gc' "        \
    "size='.1'/></body></body></body>"

TEST(neighbours_do_not_touch_but_the_world_does)
{
    loaded l = load(MJCF("", ARM));
    ENSURE_LOADED(l);
    ENSURE(touch(&l, 0, 1) && !touch(&l, 1, 2) && touch(&l, 1, 3) && !touch(&l, 2, 3));
    drop(&l);
    l = load(MJCF("<option><flag filterparent='disable'/></option>", ARM));
    ENSURE_LOADED(l);
    ENSURE(touch(&l, 1, 2));
    drop(&l);
    l = load(MJCF("<option><flag contact='disable'/></option>", ARM));
    ENSURE_LOADED(l);
    ENSURE(!touch(&l, 0, 1) && !touch(&l, 1, 3));
    drop(&l);
    l = load(MJCF("<contact><exclude body1='a' body2='c'/></contact>", ARM));
    ENSURE_LOADED(l);
    ENSURE(!touch(&l, 1, 3) && touch(&l, 0, 3));
    drop(&l);
}

TEST(pairs_touch_with_friction_of_their_own)
{
    loaded l = load(MJCF("<default><geom contype='0' conaffinity='0'/></default><contact>"
                         "<pair geom1='floor' geom2='gc' friction='.3'/></contact>",
                         ARM));
    ENSURE_LOADED(l);
    ENSURE(touch(&l, 0, 3) && !touch(&l, 0, 1) && !touch(&l, 1, 3));
    ENSURE_NEAR(ss_world_pair(l.world, shape(&l, 0)->material, shape(&l, 3)->material).mu, 0.3, 0.0);
    drop(&l);
    l = load("<mujoco><contact>\n<pair geom1='ga' geom2='gb'/></contact><worldbody>" ARM
             "</worldbody></mujoco>");
    ENSURE_LOADED(l);
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:2", "<pair> is not honoured"));
    drop(&l);
    ENSURE_REFUSED(MJCF("<contact><pair geom1='floor' geom2='nobody'/></contact>", ARM), "1", "nobody");
}

static double mu_of(const char *a, const char *b)
{
    char text[600];
    snprintf(text, sizeof text,
             "<mujoco><worldbody><geom type='plane' size='1 1 1' %s/><body><freejoint/><geom size='.1' "
             "%s/></body></worldbody></mujoco>",
             a, b);
    loaded l = load(text);
    double mu = l.good ? ss_world_pair(l.world, shape(&l, 0)->material, shape(&l, 1)->material).mu : NAN;
    drop(&l);
    return mu;
}

TEST(the_larger_friction_counts_or_that_of_the_higher_priority)
{
    ENSURE_NEAR(mu_of("", ""), 1.0, 0.0);
    ENSURE_NEAR(mu_of("friction='.2'", "friction='.7 .1 .1'"), 0.7, 0.0);
    ENSURE_NEAR(mu_of("friction='.2' priority='1'", "friction='.7'"), 0.2, 0.0);
    ENSURE_NEAR(mu_of("condim='1'", "condim='1'"), 0.0, 0.0);
    ENSURE_NEAR(mu_of("condim='1'", "condim='3'"), 1.0, 0.0);
    ENSURE_NEAR(mu_of("condim='1' priority='2'", "condim='3'"), 0.0, 0.0);
}

/* ---- MJCF: equalities, actuators, keyframes --------------------------------------------------------- */

TEST(equalities_become_joints)
{
    loaded l = load(MJCF(
        "<equality><connect body1='a' anchor='.5 0 0'/><weld body1='a' body2='b' relpose='2 0 0 1 0 0 0'/>"
        "<connect site1='s' site2='t' active='false'/><joint joint1='h' polycoef='.25'/>"
        "<joint joint1='g' joint2='k' polycoef='0 2'/></equality>",
        "<body name='a'><freejoint/><geom size='.1'/><site name='s' pos='0 0 1'/></body>"
        "<body name='b' pos='3 0 0'><freejoint/><geom size='.1'/><site name='t' pos='0 1 0'/></body>"
        "<body pos='0 5 0'><joint name='h'/><geom size='.1'/></body>"
        "<body pos='0 6 0'><joint name='g' axis='0 1 0'/><geom size='.1'/></body>"
        "<body pos='0 7 0'><joint name='k' axis='1 0 0'/><geom size='.1'/></body>"));
    ENSURE_LOADED(l);
    const ss_joint *hinge = ss_world_joint(l.world, 0), *connect = ss_world_joint(l.world, 3),
                   *weld = ss_world_joint(l.world, 4), *sites = ss_world_joint(l.world, 5),
                   *gear = ss_world_joint(l.world, 6);
    ENSURE(hinge->law[0].limited && hinge->law[0].lower == 0.25 && hinge->law[0].upper == 0.25);
    ENSURE(connect->kind == SS_JOINT_BALL && connect->b == SS_WORLD && connect->bodies_collide);
    ENSURE_NEAR(ss_joint_error(l.world, 3), 0.0, 1e-15);
    ENSURE(weld->kind == SS_JOINT_FIXED);
    ENSURE_NEAR(ss_joint_error(l.world, 4), 1.0, 1e-14); // b is at 3, told to be at 2
    ENSURE(sites->kind == SS_JOINT_BALL && sites->disabled);
    ENSURE(gear->kind == SS_JOINT_COUPLING && gear->terms == 2 && gear->start_length == 0.0);
    ENSURE(gear->term[0].factor == 1.0 && gear->term[1].factor == -2.0 && gear->term[1].joint == 2);
    ENSURE_INT(l.findings.count, 0);
    drop(&l);
}

TEST(joints_that_move_are_coupled_and_tendons_pull)
{
    loaded l =
        load("<mujoco><worldbody>" ARM "</worldbody><equality>\n<joint joint1='x' joint2='y'/></equality>"
             "</mujoco>");
    ENSURE(!l.good && strstr(l.err.message, "test.xml:2: <joint>: unknown joint \"x\""));
    drop(&l);
#define TWO                                                                                              \
    "<worldbody><body><joint name='x' ref='30'/><geom size='1'/><body><joint name='y'/><geom size='1'/>" \
    "</body></body></worldbody>"
    l = load("<mujoco>" TWO "<equality><joint joint1='x' joint2='y' polycoef='.1 3'/></equality></mujoco>");
    ENSURE_LOADED(l);
    const ss_joint *coupling = ss_world_joint(l.world, 2);
    ENSURE(coupling->kind == SS_JOINT_COUPLING && coupling->start_length == 0.1);
    ENSURE_INT(l.findings.count, 0);
    drop(&l);

    l = load("<mujoco>" TWO "<tendon><fixed name='t' range='-.5 2' stiffness='7' springlength='.2'><joint "
             "joint='x' coef='.5'/><joint joint='y' coef='-1'/></fixed>\n<spatial/></tendon></mujoco>");
    ENSURE_LOADED(l);
    const ss_joint *tendon = ss_world_joint(l.world, 2);
    const double shift = 0.5 * 30.0 * 3.14159265358979323846 / 180.0; // x is 30 degrees where ours is 0
    ENSURE(tendon->kind == SS_JOINT_COUPLING && tendon->law[0].limited && tendon->law[0].stiffness == 7.0);
    ENSURE_NEAR(tendon->law[0].lower, -0.5 - shift, 1e-15);
    ENSURE_NEAR(tendon->law[0].upper, 2.0 - shift, 1e-15);
    ENSURE_NEAR(tendon->law[0].rest, 0.2 - shift, 1e-15);
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:2", "<spatial>"));
    ENSURE_INT(l.findings.count, 1);
    drop(&l);
}

#define CART                                                                                              \
    "<body><joint name='j' type='slide' ref='.5' damping='2'/><geom size='.1'/></body><body pos='1 0 0'>" \
    "<freejoint/><geom size='.1'/></body><body pos='2 0 0'><joint name='b' type='ball'/><geom "           \
    "size='.1'/></body>"
#define KEYS                                                                                           \
    "<keyframe><key name='zero'/><key name='one' qpos='1 4 5 6 0 1 0 0 0 0 1 0' qvel='.1 1 2 3 .4 .5 " \
    ".6 0 0 0'"                                                                                        \
    " ctrl='9'/></keyframe>"

TEST(keyframes_are_where_a_model_starts)
{
    loaded l = load_with(MJCF("<actuator><motor joint='j' gear='3' ctrlrange='-1 2'/></actuator>" KEYS, CART),
                         &(ss_model_options){.key = "one"});
    ENSURE_LOADED(l);
    ENSURE_INT(l.info.keyframes, 2);
    double position, speed;
    ENSURE(ss_joint_coordinate(l.world, 0, 0, &position, &speed));
    ENSURE_NEAR(position, 0.5, 1e-15); // 1 of the file, whose ref is .5
    ENSURE_NEAR(speed, 0.1, 1e-15);
    const ss_body *free = ss_world_body(l.world, 1);
    ENSURE(free->position[0] == 4.0 && free->position[2] == 6.0 && free->velocity[1] == 2.0);
    // half a turn about x: angular velocities are in the body's own axes
    ENSURE_NEAR(free->velocity[3], 0.4, 1e-15);
    ENSURE_NEAR(free->velocity[4], -0.5, 1e-15);
    ENSURE_NEAR(ss_world_body(l.world, 2)->quaternion[2], 1.0, 1e-15);
    ENSURE_NEAR(ss_world_joint(l.world, 0)->law[0].force, 6.0, 1e-15); // 9 is clamped to 2
    drop(&l);
    l = load_with(MJCF(KEYS, CART), &(ss_model_options){.key = "1"});
    ENSURE(!l.good && strstr(l.err.message, "ctrl: more than 0 numbers")); // there are no actuators
    drop(&l);
    l = load_with(MJCF(KEYS, CART), &(ss_model_options){.key = "two"});
    ENSURE(!l.good && strstr(l.err.message, "unknown keyframe \"two\"; there are 2"));
    drop(&l);
}

TEST(actuators_drive_their_joints)
{
    loaded l = load(
        MJCF("<actuator><position joint='j' kp='10' gear='2' kv='1' forcerange='-5 5'/></actuator>", CART));
    ENSURE_LOADED(l);
    const ss_axis_law *law = &ss_world_joint(l.world, 0)->law[0];
    ENSURE(law->motor == SS_MOTOR_POSITION && law->motor_stiffness == 40.0 && law->motor_damping == 4.0);
    ENSURE(law->max_force == 10.0 && law->target == -0.5 && law->damping == 2.0);
    drop(&l);
    l = load(MJCF("<actuator><general joint='j' biastype='affine' gainprm='3' biasprm='1 -3 -.5'/>"
                  "<velocity joint='j' kv='7'/></actuator>",
                  CART));
    ENSURE_LOADED(l);
    law = &ss_world_joint(l.world, 0)->law[0];
    ENSURE(law->motor_stiffness == 3.0 && law->motor_damping == 7.5);
    ENSURE_NEAR(law->target, 1.0 / 3.0 - 0.5, 1e-15);
    drop(&l);
    l = load("<mujoco><worldbody>" CART "</worldbody><actuator>\n<muscle joint='j'/>\n<motor tendon='t'/>"
             "</actuator></mujoco>");
    ENSURE_LOADED(l);
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:2", "<muscle> is not honoured"));
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:3", "<motor> is not honoured"));
    drop(&l);
}

TEST(a_chain_starts_where_its_coordinates_say)
{
    // two hinges about y, 1 m apart: by 90 and -90 degrees
    loaded l = load_with(
        MJCF("<keyframe><key name='k' qpos='1.5707963267948966 -1.5707963267948966' qvel='1 0'/></keyframe>",
             "<body name='a'><joint axis='0 1 0'/><geom size='.1' pos='1 0 0'/><body name='b' pos='1 0 0'>"
             "<joint axis='0 1 0'/><geom size='.1' pos='1 0 0'/></body></body>"),
        &(ss_model_options){.key = "k"});
    ENSURE_LOADED(l);
    const ss_body *a = ss_world_body(l.world, 0), *b = ss_world_body(l.world, 1);
    ENSURE_NEAR(a->position[2], -1.0, 1e-15);
    ENSURE_NEAR(b->position[0], 1.0, 1e-15);
    ENSURE_NEAR(b->position[2], -1.0, 1e-15);
    ENSURE_NEAR(a->velocity[0], -1.0, 1e-15); // w x r = y x (0, 0, -1)
    ENSURE_NEAR(b->velocity[2], -1.0, 1e-15); // y x (1, 0, -1)
    ENSURE_NEAR(b->velocity[0], -1.0, 1e-15);
    for (int j = 0; j < 2; j++) {
        ENSURE_NEAR(ss_joint_error(l.world, j), 0.0, 1e-15);
        ENSURE_NEAR(ss_joint_speed_error(l.world, j), 0.0, 1e-15);
    }
    drop(&l);
}

TEST(a_free_arm_with_rotors_keeps_its_energy)
{
    // no gravity: the arm whirls, and only bodies and rotors have energy. Joint corrections must move the
    // rotors, too: without that they would take 20 % of it
    loaded l = load_with(
        MJCF("<option gravity='0 0 0'/><keyframe><key name='k' qpos='0 1' qvel='3 -8'/></keyframe>",
             "<body><joint name='s' axis='0 1 0' armature='.05'/><geom type='capsule' size='.03' "
             "fromto='0 0 0 .5 0 0'/><body pos='.5 0 0'><joint name='e' axis='0 1 0' armature='.08'/>"
             "<geom type='capsule' size='.03' fromto='0 0 0 .4 0 0'/></body></body>"),
        &(ss_model_options){.key = "k"});
    ENSURE_LOADED(l);
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.h = 0.001;
    options.joints = SS_STABILISE_IMPULSE;
    ss_sim *sim = ss_sim_create(l.world, &options, NULL);
    double energy[2];
    for (int when = 0; when < 2; when++) {
        energy[when] = ss_world_measure(l.world).kinetic;
        for (int j = 0; j < 2; j++) {
            double speed;
            ss_joint_coordinate(l.world, j, 0, NULL, &speed);
            energy[when] += 0.5 * ss_world_joint(l.world, j)->law[0].armature * speed * speed;
        }
        for (int i = 0; i < 1000 && when == 0; i++) ENSURE(ss_sim_step(sim, NULL));
    }
    ENSURE(energy[0] > 1.0);
    ENSURE_NEAR(energy[1], energy[0], 0.01 * energy[0]); // an oscillation of order h w, 8 rad/s
    ss_sim_destroy(sim);
    drop(&l);
}

TEST(global_coordinates_are_those_of_the_world)
{
    loaded l =
        load(MJCF("<compiler coordinate='global'/>",
                  "<body pos='7 7 7'><joint pos='0 0 2' axis='0 1 0'/><geom size='.1' pos='0 0 1'/>"
                  "<body><joint pos='0 0 1' axis='0 1 0'/><geom size='.1' pos='1 0 1'/></body></body>"));
    ENSURE_LOADED(l);
    ENSURE_NEAR(ss_world_body(l.world, 0)->position[2], 1.0, 1e-15);
    ENSURE_NEAR(ss_world_joint(l.world, 1)->anchor[2], 1.0, 1e-15);
    ENSURE_NEAR(ss_world_body(l.world, 1)->position[0], 1.0, 1e-15);
    drop(&l);
}

/* ---- URDF ------------------------------------------------------------------------------------------- */

#define LINK(name) \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
#define URDF(inside) "<robot name='r'>" inside "</robot>"

TEST(links_are_placed_by_their_joints)
{
    loaded l = load(URDF("<link name='world'/>" LINK("a") LINK("b") LINK(
        "c") "<joint name='one' type='revolute'><origin xyz='1 0 0' rpy='0 0 1.5707963267948966'/>"
             "<parent link='world'/><child link='a'/><axis xyz='1 0 0'/>"
             "<limit lower='-1' upper='2' effort='1' velocity='1'/>"
             "<dynamics damping='.3' friction='.4'/></joint>"
             "<joint name='two' type='fixed'><origin xyz='1 0 0'/><parent link='a'/><child "
             "link='b'/></joint>"
             "<joint name='three' type='prismatic'><origin xyz='0 0 1'/><parent link='b'/><child "
             "link='c'/><axis xyz='0 0 1'/><limit lower='0' upper='1'/></joint>"));
    ENSURE_LOADED(l);
    ENSURE_INT(ss_world_body_count(l.world), 3); // the base, a with b, c
    const ss_body *a = ss_world_body(l.world, 1), *c = ss_world_body(l.world, 2);
    ENSURE_NEAR(a->mass, 2.0, 1e-15);
    ENSURE_NEAR(a->position[0], 1.0, 1e-15);
    ENSURE_NEAR(a->position[1], 0.5, 1e-15); // between a and b, which is 1 m along a's x
    ENSURE_NEAR(c->position[1], 1.0, 1e-15);
    ENSURE_NEAR(c->position[2], 1.0, 1e-15);
    const ss_joint *one = ss_world_joint(l.world, 0);
    ENSURE(one->kind == SS_JOINT_REVOLUTE && one->a == 0 && one->law[0].limited);
    ENSURE(one->law[0].lower == -1.0 && one->law[0].upper == 2.0);
    ENSURE(one->law[0].damping == 0.3 && one->law[0].friction == 0.4);
    ENSURE_NEAR(one->axis[1], 1.0, 1e-15);
    ENSURE(mentions(&l, SS_FINDING_WARNING, "test.xml:1", "<limit effort>"));
    ENSURE_INT(l.findings.count_of[SS_FINDING_LOSS], 0);
    drop(&l);
}

TEST(a_base_is_fixed_or_free)
{
    const char *heavy = URDF(LINK("a") LINK("b") "<joint name='j' type='continuous'><parent link='a'/>"
                                                 "<child link='b'/></joint>");
    loaded l = load(heavy);
    ENSURE_LOADED(l);
    ENSURE(ss_world_body(l.world, 0)->kind == SS_DYNAMIC && ss_world_body_count(l.world) == 2);
    drop(&l);
    l = load_with(heavy, &(ss_model_options){.base = SS_BASE_FIXED, .floor = true});
    ENSURE_LOADED(l);
    ENSURE(ss_world_body(l.world, 0)->kind == SS_STATIC && ss_world_body_count(l.world) == 2);
    ENSURE(ss_world_shape_count(l.world) == 1 && shape(&l, 0)->kind == SS_PLANE);
    drop(&l);
    l = load_with(URDF("<link name='light'/>"), &(ss_model_options){.base = SS_BASE_FREE});
    ENSURE(!l.good && strstr(l.err.message, "no mass"));
    drop(&l);
}

TEST(inertias_are_turned_with_their_origin)
{
    loaded l = load(URDF("<link name='a'><inertial><origin xyz='0 0 1' rpy='1.5707963267948966 0 0'/><mass "
                         "value='2'/><inertia ixx='1' iyy='2' izz='3' ixy='0' ixz='0' iyz='0'/></inertial>"
                         "<collision><geometry><sphere radius='.1'/></geometry></collision></link>"));
    ENSURE_LOADED(l);
    const ss_body *a = ss_world_body(l.world, 0);
    ENSURE_NEAR(a->inertia[4], 3.0, 1e-14); // y of the link is -z of the inertia's frame
    ENSURE_NEAR(a->inertia[8], 2.0, 1e-14);
    ENSURE_NEAR(shape(&l, 0)->position[2], -1.0, 1e-15);
    drop(&l);
}

TEST(links_without_inertia_weigh_what_their_shapes_do)
{
    loaded l =
        load("<robot name='r'><link name='world'/>\n<link name='a'><collision><geometry><box size='1 1 1'/>"
             "</geometry></collision></link><joint name='j' type='continuous'><parent link='world'/>"
             "<child link='a'/></joint></robot>");
    ENSURE_LOADED(l);
    ENSURE_NEAR(ss_world_body(l.world, 1)->mass, 1000.0, 1e-12);
    ENSURE(mentions(&l, SS_FINDING_WARNING, "test.xml:2", "1000 kg"));
    drop(&l);
}

TEST(mimic_joints_are_coupled)
{
    loaded l = load(URDF("<link name='world'/>" LINK("a") LINK(
        "b") "<joint name='one' type='continuous'><parent link='world'/><child link='a'/></joint>"
             "<joint name='two' type='continuous'><parent link='world'/><child link='b'/>"
             "<mimic joint='one' multiplier='-3'/></joint>"));
    ENSURE_LOADED(l);
    const ss_joint *mimic = ss_world_joint(l.world, 2);
    ENSURE(mimic->kind == SS_JOINT_COUPLING && mimic->term[1].factor == 3.0);
    ENSURE_INT(l.findings.count_of[SS_FINDING_LOSS], 0);
    drop(&l);
}

TEST(extensions_of_bullet_and_gazebo_give_friction)
{
    loaded l =
        load(URDF("<link name='a'><contact><lateral_friction value='.3'/><restitution value='.5'/><stiffness "
                  "value='1'/>"
                  "</contact><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
                  "izz='1'/></inertial><collision><geometry>"
                  "<sphere radius='1'/></geometry></collision></link>"
                  "<gazebo reference='a'><mu1>.7</mu1><mu2>.7</mu2><kp>1e6</kp></gazebo>"));
    ENSURE_LOADED(l);
    const ss_material *material = ss_world_material(l.world, shape(&l, 0)->material);
    ENSURE(material->mu == 0.7 && material->restitution == 0.5);
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:1", "<kp>"));
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:1", "<stiffness>"));
    drop(&l);
}

/* ---- SDF -------------------------------------------------------------------------------------------- */

TEST(sdf_worlds_are_read)
{
    loaded l =
        load("<sdf version='1.6'><world name='w'><gravity>0 0 -1.6</gravity><physics "
             "type='ode'><max_step_size>.004"
             "</max_step_size></physics>"
             "<model name='ground'><static>true</static><link name='l'><collision "
             "name='c'><geometry><plane><normal>0 0 "
             "1</normal></plane></geometry></collision></link></model>"
             "<model name='arm'><pose>0 0 2 0 0 1.5707963267948966</pose>"
             "<link name='a'><pose>1 0 0 0 0 0</pose><inertial><mass>2</mass><inertia><ixx>1</ixx>"
             "<iyy>1</iyy><izz>1</izz></inertia></inertial><collision name='c'><geometry><box><size>1 2 "
             "3</size></box></geometry><surface>"
             "<friction><ode><mu>.3</mu></ode></friction></surface></collision></link>"
             "<link name='b'><pose>2 0 0 0 0 0</pose><collision "
             "name='c'><geometry><sphere><radius>.5</radius></sphere>"
             "</geometry></collision></link>"
             "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>1 0 "
             "0</xyz><limit><lower>-1"
             "</lower><upper>1</upper></limit><dynamics><damping>.5</damping></dynamics></axis></joint>"
             "<joint name='root' type='prismatic'><parent>world</parent><child>a</child><axis><xyz>0 0 "
             "1</xyz></axis>"
             "</joint></model></world></sdf>");
    ENSURE_LOADED(l);
    ENSURE(l.info.format == SS_MODEL_SDF && l.info.h == 0.004 && ss_world_gravity(l.world)[2] == -1.6);
    ENSURE_INT(ss_world_body_count(l.world), 3); // the ground, a, b
    const ss_body *a = ss_world_body(l.world, 1), *b = ss_world_body(l.world, 2);
    ENSURE_NEAR(a->position[1], 1.0, 1e-15);
    ENSURE_NEAR(a->position[2], 2.0, 1e-15);
    ENSURE_NEAR(b->position[1], 2.0, 1e-15);
    ENSURE(a->mass == 2.0 && b->mass == 1.0); // the default of the format
    const ss_joint *j = ss_world_joint(l.world, ss_world_find_joint(l.world, "j"));
    ENSURE(j->law[0].limited && j->law[0].damping == 0.5);
    ENSURE_NEAR(j->axis[1], 1.0, 1e-15); // x of the turned model
    ENSURE_NEAR(ss_world_material(l.world, shape(&l, 1)->material)->mu, 0.3, 0.0);
    ENSURE(!touch(&l, 1, 2) && touch(&l, 0, 1));
    ENSURE_INT(l.findings.count_of[SS_FINDING_LOSS], 0);
    drop(&l);
    ENSURE_REFUSED(
        "<sdf><model name='m'>\n<link name='a'/><joint name='j' type='screw'><parent>world</parent><child>a"
        "</child></joint></model></sdf>",
        "2", "type \"screw\" is not honoured");
    ENSURE_REFUSED("<sdf/>", "1", "no links");
}

/* ---- what is refused, and what is listed ------------------------------------------------------------ */

TEST(what_is_unknown_is_listed_with_its_line)
{
    loaded l =
        load("<mujoco model='m' colour='red'>\n<worldbody>\n<geom size='1' nonsense='3'/>\n<unicorn/>\n"
             "<light pos='0 0 1'/></worldbody>\n<tendon><spatial/></tendon>\n<sensor/></mujoco>");
    ENSURE_LOADED(l);
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:1", "<mujoco colour>"));
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:3", "<geom nonsense>"));
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:4", "<unicorn>"));
    ENSURE(mentions(&l, SS_FINDING_WARNING, "test.xml:5", "<light>"));
    ENSURE(mentions(&l, SS_FINDING_LOSS, "test.xml:6", "<spatial>"));
    ENSURE(mentions(&l, SS_FINDING_WARNING, "test.xml:7", "<sensor>"));
    ENSURE_INT(l.findings.count, 6);
    ENSURE_TEXT(l.info.name, "m");
    drop(&l);
}

TEST(malformed_files_are_refused_with_their_line)
{
    ENSURE_REFUSED("", "1", "not XML");
    ENSURE_REFUSED("<mujoco>\n<worldbody>", "2", "not XML");
    ENSURE_REFUSED("<html/>", "1", "not a model");
    ENSURE_REFUSED("<robot name='r'/>", "1", "no links");
    ENSURE_REFUSED(MJCF("", "\n<geom size='a'/>"), "2", "\"a\" is not a finite number");
    ENSURE_REFUSED(MJCF("", "\n<geom size='nan'/>"), "2", "not a finite number");
    ENSURE_REFUSED(MJCF("", "\n<geom size='1 2 3 4'/>"), "2", "more than 3 numbers");
    ENSURE_REFUSED(MJCF("", "\n<geom/>"), "2", "a sphere needs 1 positive number");
    ENSURE_REFUSED(MJCF("", "\n<geom pos='1 2' size='1'/>"), "2", "pos: 2 numbers, expected 3");
    ENSURE_REFUSED(MJCF("", "\n<geom type='cube' size='1'/>"), "2", "type \"cube\"");
    ENSURE_REFUSED(MJCF("", "<body>\n<joint range='1 0'/><geom size='1'/></body>"), "2", "range");
    ENSURE_REFUSED(MJCF("", "\n<body><joint/></body>"), "2", "no mass");
    ENSURE_REFUSED(
        MJCF("", "<body><joint/><geom size='1'/><body>\n<freejoint/><geom size='1'/></body></body>"), "2",
        "free joint");
    ENSURE_REFUSED(MJCF("", "<body><freejoint/>\n<geom type='plane' size='1 1 1'/><geom size='1'/></body>"),
                   "2", "plane");
    ENSURE_REFUSED(MJCF("", "<replicate count='1e9'><geom size='1'/></replicate>"), "1", "count");
    ENSURE_REFUSED(MJCF("", "<replicate count='1e6'><replicate count='1e6'/></replicate>"), "1", "copies");
    ENSURE_REFUSED("<robot name='r'>\n<link name='a'/>\n<link name='a'/></robot>", "3", "not unique");
    ENSURE_REFUSED("<robot name='r'>\n<link name='a'/>\n<link name='b'/></robot>", "3", "second root");
    ENSURE_REFUSED(
        URDF("<link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='a'/><child "
             "link='b'/></joint><joint name='k' type='fixed'><parent link='b'/><child link='a'/>"
             "</joint>"),
        "1", "loop");
    ENSURE_REFUSED(URDF("<link name='a'/>\n<joint name='j' type='fixed'><parent link='a'/><child link='x'/>"
                        "</joint>"),
                   "2", "unknown link \"x\"");
}

TEST(entities_depth_and_files_outside_are_refused)
{
    ENSURE_REFUSED(
        "<!DOCTYPE m [\n<!ENTITY a 'lol'>\n<!ENTITY b '&a;&a;&a;&a;&a;&a;'>]>\n<mujoco>&b;</mujoco>", "2",
        "declares an entity");
    ENSURE_REFUSED("<!DOCTYPE m [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><mujoco>&x;</mujoco>", "1",
                   "declares an entity");
    char deep[4000] = "<mujoco><worldbody>";
    for (int i = 0; i < 200; i++) strcat(deep, "<body>");
    ENSURE_REFUSED(deep, "1", "nested more than 100 deep");
    ENSURE_REFUSED("<mujoco><include file='a.xml'/></mujoco>", "1", "no folder");

    loaded l = {.world = ss_world_create(NULL)};
    const char *up = "<mujoco>\n<include file='sub/../../a.xml'/></mujoco>";
    ENSURE(!ss_model_parse(up, strlen(up), "test.xml", data("."), NULL, l.world, NULL, NULL, &l.err));
    ENSURE(strstr(l.err.message, "test.xml:2: <include>: \"sub/../../a.xml\" lies outside"));
    const char *absolute = "<mujoco>\n<include file='/etc/passwd'/></mujoco>";
    ENSURE(!ss_model_parse(absolute, strlen(absolute), "test.xml", data("."), NULL, l.world, NULL, NULL,
                           &l.err));
    ENSURE(strstr(l.err.message, "lies outside"));
    ss_world_destroy(l.world);
}

/* ---- files on disk ---------------------------------------------------------------------------------- */

static loaded load_file(const char *name, const ss_model_options *options)
{
    loaded l = {.world = ss_world_create(NULL)};
    l.good = ss_model_read(data(name), options, l.world, &l.info, &l.findings, &l.err);
    return l;
}

TEST(includes_and_meshes_are_found_below_the_folder)
{
    loaded l = load_file("scene.xml", NULL);
    ENSURE_LOADED(l);
    ENSURE_INT(ss_world_body_count(l.world), 3);
    ENSURE_NEAR(ss_world_body(l.world, ss_world_find_body(l.world, "wedge"))->mass, 500.0, 1e-9);
    ENSURE_INT(l.findings.count, 0);
    drop(&l);
    l = load_file("loop.xml", NULL);
    ENSURE(!l.good && strstr(l.err.message, "includes itself"));
    drop(&l);
    l = load_file("meshes.urdf", NULL);
    ENSURE_LOADED(l);
    ENSURE_INT(ss_world_body_count(l.world), 1);
    ENSURE(shape(&l, 0)->kind == SS_HULL);
    ENSURE_INT(l.findings.count_of[SS_FINDING_LOSS], 0);
    drop(&l);
}

/* Real files: none may be refused without a line, and all that are accepted must move for a while. */
TEST(files_of_others_run_or_are_refused_with_a_line)
{
    static const char *const files[] = {"mjcf/abacus.xml",
                                        "mjcf/arm26.xml",
                                        "mjcf/bullet_ant.xml",
                                        "mjcf/bullet_half_cheetah.xml",
                                        "mjcf/bullet_hopper.xml",
                                        "mjcf/bullet_inverted_double_pendulum.xml",
                                        "mjcf/car.xml",
                                        "mjcf/connect.xml",
                                        "mjcf/cube_3x3x3.xml",
                                        "mjcf/dominos.xml",
                                        "mjcf/humanoid.xml",
                                        "mjcf/slider_crank.xml",
                                        "mjcf/stacked_boxes.xml",
                                        "mjcf/treadmill.xml",
                                        "sdf/two_cubes.sdf",
                                        "urdf/TwoJointRobot_w_fixedJoints.urdf",
                                        "urdf/cartpole.urdf",
                                        "urdf/door.urdf",
                                        "urdf/double_pendulum_simple.urdf",
                                        "urdf/hinge.urdf",
                                        "urdf/jenga/jenga.urdf",
                                        "urdf/minitaur_single_motor.urdf",
                                        "urdf/pantilt.urdf",
                                        "urdf/pendulum5.urdf",
                                        "urdf/prismatic.urdf",
                                        "urdf/r2d2.urdf",
                                        "urdf/simple_humanoid.urdf",
                                        "urdf/test_joints_MB.urdf"};
    int refused = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[600];
        NEED_SHARED(path, "models", files[i], "");
        loaded l = {.world = ss_world_create(NULL)};
        l.good = ss_model_read(path, NULL, l.world, &l.info, &l.findings, &l.err);
        if (!l.good) {
            const char *name = strrchr(files[i], '/') + 1;
            int line = 0;
            ENSURE(strncmp(l.err.message, name, strlen(name)) == 0);
            ENSURE(sscanf(l.err.message + strlen(name), ":%d", &line) == 1 && line > 0);
            refused++;
        } else {
            ss_sim_options options;
            ss_options_defaults(ss_sim_option_table, &options);
            ss_options_defaults(ss_collision_option_table, &options.collision);
            options.h = l.info.h > 0.0 ? l.info.h : 0.002;
            options.joints = SS_STABILISE_IMPULSE;
            ss_sim *sim = ss_sim_create(l.world, &options, &l.err);
            for (int k = 0; k < 20 && sim; k++)
                if (!ss_sim_step(sim, &l.err)) KIT_FAIL("%s: %s", files[i], l.err.message);
            if (!sim) KIT_FAIL("%s: %s", files[i], l.err.message);
            ss_sim_destroy(sim);
        }
        drop(&l);
    }
    ENSURE_INT(refused, 2); // two robots whose collision meshes are not there
}

TEST_MAIN
