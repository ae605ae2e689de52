/* Every mistake is a hypothesis. An observation is one linear or angular balance of a body in a frame that
 * does not hold, and the set of hypotheses under which it would; the smallest number of hypotheses that
 * covers the observations is what is reported. Quaternions, tensors and gaps are counted apart. */
#include "dataset/recording_check.h"

#include "base/memory.h"
#include "formulation/rows.h"
#include "linalg/mat3.h"
#include "linalg/quat.h"

#include <stickslip/peg.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A balance is broken when it is off by this share of its largest term, or of the momentum, which engines in
 * single precision know to six digits. */
#define BROKEN 1e-3
#define ROUNDED 1e-5
/* ... and mended by a hypothesis that leaves this share of it. */
#define MENDED 0.05
/* The gyroscopic torque is integrated in many ways; of a step with h w = 0.3 they differ by so much. */
#define MENDED_GYRO 0.3
/* A turn fits an angular velocity, or does not; integrators of first order are off by h w / 2. */
#define TURNED 0.3
#define NOT_TURNED 0.5
#define SMALLEST_TURN 1e-3 /* rad per step */
/* Relative change of a tensor that a turn must make before it says anything. */
#define TENSOR_CHANGE 0.02
/* Gaps below this share of a body's lever arm are rounding, or a solver's tolerance. */
#define GAP_SHARE 1e-5
/* A hypothesis must cover this share of what it could. */
#define MOST 0.8
/* Balances without a stored answer, and gaps, that must be wrong before anything is said. */
#define FEWEST_FREE 3
#define FEWEST_GAPS 3
/* Contacts or joints of a frame, at most, where each is compared with all: larger frames do without. */
#define MOST_FOLLOWED 1000

/* In the order of preference, where several fit. */
typedef enum mistake {
    AFTER_STEP,
    FORCE_AS_IMPULSE,
    IMPULSE_AS_FORCE,
    SWAPPED_CONTACT,
    JOINT_SIGN,
    BODY_INERTIA,
    NO_GRAVITY,
    NO_GYRO,
    BALANCE_MISTAKES, /* those above come from balances */
    QUATERNION_ORDER = BALANCE_MISTAKES,
    QUATERNION_INVERSE,
    FROZEN_TENSOR, /* BODY_INERTIA, seen by tensors that do not turn */
    DEPTH,
    DEPTH_MOTION, /* the same, seen by gaps that change against the motion */
    MISTAKES
} mistake;

/* Array of the frame, or of solver_data/<solver>, that a mistake is in, and its name in words. */
static const struct {
    const char *array, *words;
} names[MISTAKES] = {
    [AFTER_STEP] = {"bodies/velocities",
                    "velocities are probably those after the step: they equal the stored answer, although "
                    "forces and impulses act"},
    [FORCE_AS_IMPULSE] = {"solver_data",
                          "forces are probably stored as impulses: the balance of momentum holds "
                          "when they are multiplied by h"},
    [IMPULSE_AS_FORCE] = {"bodies/forces", "forces of bodies are probably impulses, h f instead of f: the "
                                           "balance of momentum holds when they are divided by h"},
    [SWAPPED_CONTACT] = {"contacts/pairs",
                         "contact bodies are probably swapped, or normals point from b to a: the balance of "
                         "momentum holds when contact impulses change their sign"},
    [JOINT_SIGN] =
        {"constraints/Jacobian",
         "the sign of a joint's Jacobian is probably wrong: the balance of momentum holds when its "
         "impulses change their sign"},
    [BODY_INERTIA] = {"bodies/world_inertia_tensors",
                      "inertia tensors are probably given in the frame of the body instead of the world: the "
                      "balance of angular momentum holds when they are turned"},
    [FROZEN_TENSOR] =
        {"bodies/world_inertia_tensors",
         "inertia tensors are probably given in the frame of the body instead of the world: they "
         "do not turn with it"},
    [NO_GRAVITY] = {"bodies/forces", "gravity is probably missing in the forces"},
    [NO_GYRO] = {"bodies/forces",
                 "the gyroscopic torque -w x I w is probably missing in the forces: the balance of angular "
                 "momentum holds with it"},
    [QUATERNION_ORDER] = {"bodies/quaternions",
                          "quaternions are probably stored as (x, y, z, w) instead of (w, x, y, z): read so, "
                          "bodies turn as their angular velocities and tensors say"},
    [QUATERNION_INVERSE] =
        {"bodies/quaternions",
         "quaternions probably turn from the world to the body instead of from the body to "
         "the world: inverted, bodies turn as their angular velocities say"},
    [DEPTH] =
        {"contacts/gaps",
         "depths are probably stored instead of gaps: contacts carry loads where the gap is positive and "
         "do not close it, and none where it is negative"},
    [DEPTH_MOTION] =
        {"contacts/gaps",
         "depths are probably stored instead of gaps, or contact bodies are swapped: gaps grow while the "
         "bodies approach each other and shrink while they part"},
};

enum { EXAMPLES = 4 };

/* What a mistake rests on. */
typedef struct evidence {
    long long count;        /* observations */
    int frames, last_frame; /* frames with any; number of the last one, from 1 */
    char *place;            /* of the first one */
    int example[EXAMPLES];  /* bodies by id or contacts by number, of the first frame */
    int examples;
} evidence;

struct ss_recording_check {
    double gravity[3];
    ss_frame *first, *before, *now;
    char *place; /* of `now` */
    int frames;
    bool consecutive;   /* `now` follows `before` by one step */
    bool before_judged; /* an answer with velocities is stored beside `before` */
    bool now_judged;
    char *before_place;
    evidence of[MISTAKES];
    long long stored[1 << BALANCE_MISTAKES];  /* broken balances by the set of mistakes that mend them */
    long long guessed[1 << BALANCE_MISTAKES]; /* the same where v+ is that of the next frame */
    evidence unexplained;
    long long balances; /* with a stored answer, broken or not */
    /* quaternions against angular velocities, and tensors against quaternions */
    long long turns_right, turns_wrong, tensors_right, tensors_wrong;
    long long depth_against; /* contacts that only fit gaps as stored */
};

ss_recording_check *ss_recording_check_create(const double gravity[3])
{
    ss_recording_check *check = ss_allocate(1, sizeof *check);
    if (check) memcpy(check->gravity, gravity, sizeof check->gravity);
    return check;
}

void ss_recording_check_destroy(ss_recording_check *check)
{
    if (!check) return;
    if (check->before != check->first) ss_frame_destroy(check->before);
    if (check->now != check->first) ss_frame_destroy(check->now);
    ss_frame_destroy(check->first);
    for (int m = 0; m < MISTAKES; m++) ss_release(check->of[m].place);
    ss_release(check->unexplained.place);
    ss_release(check->place);
    ss_release(check->before_place);
    ss_release(check);
}

/* ---- evidence ---------------------------------------------------------------------------------------- */

static bool rest_on(evidence *e, int frame, const char *place, int example)
{
    if (e->last_frame != frame) e->frames++;
    e->last_frame = frame;
    e->count++;
    if (!e->place) {
        size_t size = strlen(place) + 1;
        e->place = ss_allocate(size, 1);
        if (!e->place) return false;
        memcpy(e->place, place, size);
    }
    if (e->frames > 1 || e->examples >= EXAMPLES) return true;
    for (int i = 0; i < e->examples; i++)
        if (e->example[i] == example) return true;
    e->example[e->examples++] = example;
    return true;
}

/* ---- the balance of momentum ------------------------------------------------------------------------- */

/* The terms of a body's balance, linear then angular: M (v+ - v) = h f + contacts + joints, N s and N m s. */
typedef struct balance {
    double change[6], applied[6], normal[6], friction[6], joint[6];
    double world[6];     /* of contacts, the share of those with the world */
    double momentum[2];  /* size of M v and M v+, linear and angular: what rounding is a share of */
    double impulse[2];   /* sum of the sizes of all impulses, without cancellation */
    double turned[3];    /* the change with the tensor turned from the body to the world */
    bool touched, known; /* by contacts or joints; v+ and all impulses are known */
} balance;

static double size_of(const double *v)
{
    return ss_vec3_norm(ss_vec3_load(v));
}

static bool all_known(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

static ss_quat reordered(ss_quat q)
{
    double xyzw[4];
    ss_quat_store(q, xyzw);
    return ss_quat_load((const double[4]){xyzw[3], xyzw[0], xyzw[1], xyzw[2]});
}

static void start_balance(const ss_frame *frame, int b, const double after[6], balance *to)
{
    const ss_bodies *bodies = &frame->bodies;
    const double *before = bodies->velocity[b];
    double mass = bodies->mass[b];
    *to = (balance){.known = all_known(after, 6)};
    double jump[6];
    for (int i = 0; i < 6; i++) {
        jump[i] = after[i] - before[i];
        to->applied[i] = frame->h * bodies->force[b][i];
    }
    ss_mat3 inertia = ss_mat3_load(bodies->inertia[b]);
    ss_mat3 turned = ss_mat3_rotate_tensor(ss_quat_to_matrix(ss_quat_load(bodies->quaternion[b])), inertia);
    ss_vec3_store(ss_vec3_scale(mass, ss_vec3_load(jump)), to->change);
    ss_vec3_store(ss_mat3_apply(inertia, ss_vec3_load(jump + 3)), to->change + 3);
    ss_vec3_store(ss_mat3_apply(turned, ss_vec3_load(jump + 3)), to->turned);
    to->momentum[0] = mass * (size_of(before) + size_of(after));
    to->momentum[1] = ss_vec3_norm(ss_mat3_apply(inertia, ss_vec3_load(before + 3))) +
                      ss_vec3_norm(ss_mat3_apply(inertia, ss_vec3_load(after + 3)));

    // A body that does not turn has no angular momentum, but the rounding of its linear momentum at some arm.
    double arm = sqrt((inertia.m[0][0] + inertia.m[1][1] + inertia.m[2][2]) / (3.0 * mass));
    to->momentum[1] += 1e-6 * arm * to->momentum[0];
}

/* An impulse and its moment on a body. */
static void add_pair(double sum[6], double sign, ss_vec3 impulse, ss_vec3 moment)
{
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(sum), sign, impulse), sum);
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(sum + 3), sign, moment), sum + 3);
}

/* The same to one of the sums of `to`, whose scale grows with it. */
static void add_impulse(balance *to, double sum[6], double sign, ss_vec3 impulse, ss_vec3 moment)
{
    add_pair(sum, sign, impulse, moment);
    to->impulse[0] += ss_vec3_norm(impulse);
    to->impulse[1] += ss_vec3_norm(moment);
}

/* answer NULL: impulses are not known, and neither is the balance of bodies that are touched. */
static void add_contacts(const ss_frame *frame, const ss_answer *answer, balance *balances)
{
    for (int c = 0; c < frame->contacts.count; c++) {
        const int *pair = frame->contacts.pair[c];
        double arm[2][3];
        ss_contact_lever_arms(frame, c, arm[0], arm[1]);
        for (int side = 0; side < 2; side++) {
            if (!ss_frame_is_live(frame, pair[side])) continue;
            balance *to = &balances[pair[side]];
            to->touched = true;
            if (!answer || !isfinite(answer->normal_impulse[c]) ||
                !all_known(answer->friction_impulse[c], 3)) {
                to->known = false;
                continue;
            }

            /* An impulse pushes b and, in the opposite direction, a. */
            double sign = side == 0 ? -1.0 : 1.0;
            ss_vec3 r = ss_vec3_load(arm[side]), zero = {0.0, 0.0, 0.0};
            ss_vec3 push = ss_vec3_scale(answer->normal_impulse[c], ss_vec3_load(frame->contacts.normal[c]));
            ss_vec3 drag = ss_vec3_load(answer->friction_impulse[c]);
            ss_vec3 moment = answer->rolling_impulse && all_known(answer->rolling_impulse[c], 3)
                                 ? ss_vec3_load(answer->rolling_impulse[c])
                                 : zero;
            add_impulse(to, to->normal, sign, push, ss_vec3_cross(r, push));
            add_impulse(to, to->friction, sign, drag, ss_vec3_add(ss_vec3_cross(r, drag), moment));

            if (ss_frame_is_live(frame, pair[1 - side])) continue;
            ss_vec3 both = ss_vec3_add(push, drag);
            add_pair(to->world, sign, both, ss_vec3_add(ss_vec3_cross(r, both), moment));
        }
    }
}

/* J' x of the rows begin .. end - 1 on one side. */
static void pull_rows(const ss_frame *frame, const ss_answer *answer, int begin, int end, int side,
                      double pull[6])
{
    memset(pull, 0, 6 * sizeof *pull);
    for (int row = begin; row < end; row++)
        for (int i = 0; i < 6; i++)
            pull[i] += answer->row_impulse[row] * frame->constraints.jacobian[row][6 * side + i];
}

static void add_joints(const ss_frame *frame, const ss_answer *answer, balance *balances)
{
    const ss_constraints *joints = &frame->constraints;
    for (int k = 0, row = 0; k < joints->count; row += joints->rows[k++])
        for (int side = 0; side < 2; side++) {
            int b = joints->pair[k][side];
            if (!ss_frame_is_live(frame, b)) continue;
            balances[b].touched = true;
            if (!answer || !all_known(answer->row_impulse + row, joints->rows[k])) {
                balances[b].known = false;
                continue;
            }
            double pull[6];
            pull_rows(frame, answer, row, row + joints->rows[k], side, pull);
            add_impulse(&balances[b], balances[b].joint, 1.0, ss_vec3_load(pull), ss_vec3_load(pull + 3));
        }

    /* Blocks on a third body, row by row. */
    for (int k = 0; k < joints->further_count; k++) {
        int b = joints->further_body[k];
        if (!ss_frame_is_live(frame, b)) continue;
        balances[b].touched = true;
        if (!answer || !all_known(answer->row_impulse + joints->further_row[k], 1)) {
            balances[b].known = false;
            continue;
        }
        const double *block = joints->further_jacobian[k];
        double impulse = answer->row_impulse[joints->further_row[k]];
        add_impulse(&balances[b], balances[b].joint, 1.0, ss_vec3_scale(impulse, ss_vec3_load(block)),
                    ss_vec3_scale(impulse, ss_vec3_load(block + 3)));
    }
}

/* ---- hypotheses about a balance ---------------------------------------------------------------------- */

/* One half of a balance that does not hold, linear (0) or angular (1). */
typedef struct observation {
    const balance *terms;
    int half;
    ss_vec3 left;   /* change - applied - impulses: 0 where it holds */
    double floor;   /* below it everything is rounding */
    unsigned mends; /* 1 << mistake */
} observation;

static ss_vec3 half_of(const double *six, int half)
{
    return ss_vec3_load(six + 3 * half);
}

static double largest_of(double a, double b, double c)
{
    return fmax(a, fmax(b, c));
}

/* Terms as they would be: M dv, h f and impulses. It must hold much better, and well in itself. */
static bool holds(const observation *o, ss_vec3 change, ss_vec3 applied, ss_vec3 impulse, double impulses)
{
    ss_vec3 left = ss_vec3_subtract(ss_vec3_subtract(change, applied), impulse);
    double scale = largest_of(ss_vec3_norm(change), ss_vec3_norm(applied), impulses);
    return ss_vec3_norm(left) <= fmin(MENDED * ss_vec3_norm(o->left), MENDED * scale) +
                                     fmin(o->floor, MENDED * ss_vec3_norm(o->left));
}

/* False when the balance holds, or is not known well enough to be judged. */
static bool observe(const balance *terms, int half, observation *o)
{
    *o = (observation){.terms = terms, .half = half};
    ss_vec3 sum = ss_vec3_add(half_of(terms->normal, half), half_of(terms->friction, half));
    sum = ss_vec3_add(sum, half_of(terms->joint, half));
    ss_vec3 change = half_of(terms->change, half), applied = half_of(terms->applied, half);
    o->left = ss_vec3_subtract(ss_vec3_subtract(change, applied), sum);
    double scale = largest_of(ss_vec3_norm(change), ss_vec3_norm(applied), terms->impulse[half]);
    o->floor = ROUNDED * terms->momentum[half];
    return ss_vec3_norm(o->left) > BROKEN * scale + o->floor;
}

/* Mistakes that are the same for all bodies; those of joints follow one by one. */
static void suppose(const ss_recording_check *check, const ss_frame *frame, int b, observation *o)
{
    const balance *t = o->terms;
    int half = o->half;
    double h = frame->h;
    ss_vec3 change = half_of(t->change, half), applied = half_of(t->applied, half);
    ss_vec3 normal = half_of(t->normal, half), friction = half_of(t->friction, half);
    ss_vec3 joint = half_of(t->joint, half), world = half_of(t->world, half);
    ss_vec3 contact = ss_vec3_add(normal, friction), all = ss_vec3_add(contact, joint);
    double sum = t->impulse[half];

    if (ss_vec3_norm(change) <= 1e-3 * ROUNDED * t->momentum[half] &&
        ss_vec3_norm(change) < ss_vec3_norm(o->left))
        o->mends |= 1U << AFTER_STEP;

    ss_vec3 contact_forces = ss_vec3_add_scaled(joint, h, contact);
    ss_vec3 joint_forces = ss_vec3_add_scaled(contact, h, joint);
    if (holds(o, change, applied, ss_vec3_scale(h, all), h * sum) ||
        holds(o, change, applied, contact_forces, sum) || holds(o, change, applied, joint_forces, sum))
        o->mends |= 1U << FORCE_AS_IMPULSE;
    if (holds(o, change, ss_vec3_scale(1.0 / h, applied), all, sum)) o->mends |= 1U << IMPULSE_AS_FORCE;

    if (holds(o, change, applied, ss_vec3_add_scaled(all, -2.0, contact), sum) ||
        holds(o, change, applied, ss_vec3_add_scaled(all, -2.0, normal), sum) ||
        holds(o, change, applied, ss_vec3_add_scaled(all, -2.0, world), sum))
        o->mends |= 1U << SWAPPED_CONTACT;
    if (holds(o, change, applied, ss_vec3_add_scaled(all, -2.0, joint), sum)) o->mends |= 1U << JOINT_SIGN;

    if (half == 1 && holds(o, ss_vec3_load(t->turned), applied, all, sum)) o->mends |= 1U << BODY_INERTIA;

    if (half == 0) {
        ss_vec3 g = ss_vec3_load(check->gravity),
                missing = ss_vec3_scale(1.0 / (h * frame->bodies.mass[b]), o->left);
        bool known = all_known(check->gravity, 3) && ss_vec3_norm(g) > 0.0;
        double fall = ss_vec3_norm(missing);
        if (known ? ss_vec3_norm(ss_vec3_subtract(missing, g)) < MENDED * ss_vec3_norm(g)
                  : fall > 9.6 && fall < 10.0)
            o->mends |= 1U << NO_GRAVITY;
    } else {
        ss_vec3 w = ss_vec3_load(frame->bodies.velocity[b] + 3);
        ss_vec3 spin = ss_mat3_apply(ss_mat3_load(frame->bodies.inertia[b]), w);
        ss_vec3 torque = ss_vec3_scale(-h, ss_vec3_cross(w, spin));
        if (ss_vec3_norm(ss_vec3_subtract(o->left, torque)) < MENDED_GYRO * ss_vec3_norm(torque))
            o->mends |= 1U << NO_GYRO;
    }
}

/* A single joint, or a single row of one, with the wrong sign on body b. */
static bool one_joint_mends(const ss_frame *frame, const ss_answer *answer, int b, const observation *o)
{
    const ss_constraints *joints = &frame->constraints;
    if (joints->count > MOST_FOLLOWED) return false;
    for (int k = 0, row = 0; k < joints->count; row += joints->rows[k++])
        for (int side = 0; side < 2; side++) {
            if (joints->pair[k][side] != b) continue;
            double pull[6];
            for (int only = -1; only < joints->rows[k]; only++) {
                int begin = only < 0 ? row : row + only, end = only < 0 ? row + joints->rows[k] : begin + 1;
                pull_rows(frame, answer, begin, end, side, pull);
                ss_vec3 turned = ss_vec3_add_scaled(o->left, 2.0, half_of(pull, o->half));
                if (ss_vec3_norm(turned) <= MENDED * ss_vec3_norm(o->left)) return true;
            }
        }
    return false;
}

/* after: velocities of every body; answer NULL: they are those of the next frame, and impulses unknown. */
static bool check_balances(ss_recording_check *check, const ss_frame *frame, const double (*after)[6],
                           const ss_answer *answer, const char *place, int number)
{
    int count = frame->bodies.count;
    balance *balances = ss_allocate((size_t)count, sizeof *balances);
    if (!balances) return false;
    for (int b = 0; b < count; b++) start_balance(frame, b, after[b], &balances[b]);
    add_contacts(frame, answer, balances);
    add_joints(frame, answer, balances);

    bool good = true;
    for (int b = 0; good && b < count; b++) {
        if (!ss_frame_is_live(frame, b) || !balances[b].known) continue;
        for (int half = 0; half < 2; half++) {
            observation o;
            check->balances += answer != NULL;
            if (!observe(&balances[b], half, &o)) continue;

            /* Velocities of the next frame, without impulses, can tell about forces only. */
            suppose(check, frame, b, &o);
            if (answer && balances[b].touched && one_joint_mends(frame, answer, b, &o))
                o.mends |= 1U << JOINT_SIGN;
            if (!answer) o.mends &= 1U << NO_GRAVITY | 1U << NO_GYRO | 1U << IMPULSE_AS_FORCE;
            (answer ? check->stored : check->guessed)[o.mends]++;

            int32_t id = frame->bodies.id[b];
            for (int m = 0; m < BALANCE_MISTAKES; m++)
                if (o.mends & 1U << m) good &= rest_on(&check->of[m], number, place, id);
            if (answer && !o.mends) good &= rest_on(&check->unexplained, number, place, id);
        }
    }
    ss_release(balances);
    return good;
}

/* ---- gaps -------------------------------------------------------------------------------------------- */

/* Speed at which a contact opens with these velocities of the bodies. */
static double opening_speed(const ss_frame *frame, int c, const double (*velocity)[6], double *arm)
{
    double r[2][3];
    ss_contact_lever_arms(frame, c, r[0], r[1]);
    ss_vec3 speed = {0.0, 0.0, 0.0};
    if (frame->contacts.surface_velocity) speed = ss_vec3_load(frame->contacts.surface_velocity[c]);
    for (int side = 0; side < 2; side++) {
        int b = frame->contacts.pair[c][side];
        if (!ss_frame_is_live(frame, b)) continue;
        ss_vec3 w = ss_vec3_load(velocity[b] + 3);
        ss_vec3 v = ss_vec3_add(ss_vec3_load(velocity[b]), ss_vec3_cross(w, ss_vec3_load(r[side])));
        speed = ss_vec3_add_scaled(speed, side == 0 ? -1.0 : 1.0, v);
        *arm = fmax(*arm, size_of(r[side]));
    }
    return ss_vec3_dot(speed, ss_vec3_load(frame->contacts.normal[c]));
}

/* Whether a contact that opens by `way` in the step may have this gap. By the rules of its answer it follows
 * the gap term; without rules, an overlap that is loaded may be pushed apart and a gap without load may
 * close, not the other way round. Lengths in m. */
static bool fits_gap(const ss_step_options *step, double h, double gap, double way, bool loaded,
                     double margin)
{
    if (!step) return !(loaded ? gap > 0.0 && way > margin : gap < 0.0 && way < -margin);
    double left = way + h * ss_gap_term_of(step, gap, h);
    return left >= -margin && (!loaded || left <= margin);
}

/* origin: of frames with alternatives, where each contact of the selected frame comes from; else NULL */
static bool check_gaps(ss_recording_check *check, const ss_stored_result *result, const ss_frame *frame,
                       const ss_answer *answer, const int *origin)
{
    ss_step_options step;
    bool known = result->formulation && ss_stored_result_step(result, &step, NULL);
    // velocities alone decide there, whatever the gaps
    if ((result->formulation && !known) || (known && step.gap_term == SS_GAP_ZERO)) return true;
    if (!all_known(answer->velocity[0], 6 * answer->bodies) ||
        !all_known(answer->normal_impulse, answer->contacts))
        return true;

    double largest = 0.0;
    for (int c = 0; c < answer->contacts; c++) largest = fmax(largest, answer->normal_impulse[c]);

    bool good = true;
    for (int c = 0; good && c < answer->contacts; c++) {
        int place = origin ? origin[c] : c;
        if (place >= check->now->contacts.count) continue; // a point of an alternative, which has no number
        if (frame->contacts.restitution && frame->contacts.restitution[c] > 0.0) continue;
        double arm = 0.0, gap = frame->contacts.gap[c], load = answer->normal_impulse[c];
        double way = frame->h * opening_speed(frame, c, (const double(*)[6])answer->velocity, &arm);
        double margin = GAP_SHARE * arm;
        bool loaded = load > BROKEN * largest;
        if (fabs(gap) <= margin || (!loaded && load > ROUNDED * largest)) continue;
        margin = 0.05 * fabs(gap);
        bool stored = fits_gap(known ? &step : NULL, frame->h, gap, way, loaded, margin);
        bool turned = fits_gap(known ? &step : NULL, frame->h, -gap, way, loaded, margin);
        check->depth_against += stored && !turned;
        if (turned && !stored) good = rest_on(&check->of[DEPTH], check->frames, check->place, place);
    }
    return good;
}

/* Successive frames with the same bodies: gaps change as the bodies move. `after`: velocities of the step. */
static bool check_gap_changes(ss_recording_check *check, const double (*after)[6])
{
    const ss_frame *before = check->before, *now = check->now;
    int count = before->bodies.count, contacts = before->contacts.count;
    if (contacts > MOST_FOLLOWED || now->contacts.count > MOST_FOLLOWED || now->bodies.count != count ||
        memcmp(before->bodies.id, now->bodies.id, (size_t)count * sizeof *now->bodies.id) != 0)
        return true;

    bool good = true;
    for (int c = 0; good && c < contacts; c++) {
        double arm = 0.0, way = before->h * opening_speed(before, c, after, &arm);
        if (!(fabs(way) > 10.0 * GAP_SHARE * arm && fabs(way) < 0.05 * arm)) continue;

        /* The contact of `now` between the same bodies whose point is nearest, if one is near: corners of a
         * body are farther apart than that. */
        int next = -1;
        double nearest = 0.05 * arm;
        ss_vec3 point = ss_vec3_load(before->contacts.point[c]);
        for (int i = 0; i < now->contacts.count; i++) {
            if (memcmp(now->contacts.pair[i], before->contacts.pair[c], sizeof now->contacts.pair[i]) != 0)
                continue;
            double distance = ss_vec3_norm(ss_vec3_subtract(ss_vec3_load(now->contacts.point[i]), point));
            if (distance < nearest) nearest = distance, next = i;
        }
        if (next < 0) continue;

        double change = now->contacts.gap[next] - before->contacts.gap[c];
        check->depth_against += fabs(change - way) < TURNED * fabs(way);
        if (fabs(change + way) < TURNED * fabs(way))
            good = rest_on(&check->of[DEPTH_MOTION], check->frames - 1, check->before_place, c);
    }
    return good;
}

/* ---- orientations ------------------------------------------------------------------------------------ */

/* The body with this id, most often at the same number; -1 if there is none nearby. */
static int body_of(const ss_frame *frame, int32_t id, int guess)
{
    int count = frame->bodies.count;
    if (guess < count && frame->bodies.id[guess] == id) return guess;
    for (int b = guess > 64 ? guess - 64 : 0; b < count && b < guess + 64; b++) // a few come and go at a time
        if (frame->bodies.id[b] == id) return b;
    return -1;
}

/* The rotation vector from one orientation to another, at most a half turn. */
static ss_vec3 turn_between(ss_quat from, ss_quat to)
{
    double q[4];
    ss_quat_store(ss_quat_multiply(to, ss_quat_conjugate(from)), q);
    double sine = size_of(q + 1), sign = q[0] < 0.0 ? -1.0 : 1.0;
    double angle = 2.0 * atan2(sine, fabs(q[0]));
    return ss_vec3_scale(sine > 0.0 ? sign * angle / sine : 2.0 * sign, ss_vec3_load(q + 1));
}

/* How far a turn is from what the angular velocities at both ends of the step say, as a share of it. */
static double misfit(ss_vec3 turn, ss_vec3 w, ss_vec3 w_next, double h)
{
    double a = ss_vec3_norm(ss_vec3_add_scaled(turn, -h, w)) / (h * ss_vec3_norm(w));
    double b = ss_vec3_norm(ss_vec3_add_scaled(turn, -h, w_next)) / (h * ss_vec3_norm(w_next));
    return fmin(a, b);
}

static bool blame(ss_recording_check *check, mistake m, int b)
{
    return rest_on(&check->of[m], check->frames, check->place, check->now->bodies.id[b]);
}

/* Successive frames: quaternions against angular velocities. */
static bool check_turn(ss_recording_check *check, int old, int b)
{
    const ss_bodies *was = &check->before->bodies, *is = &check->now->bodies;
    double h = check->before->h;
    ss_vec3 w = ss_vec3_load(was->velocity[old] + 3), w_next = ss_vec3_load(is->velocity[b] + 3);
    double least = h * fmin(ss_vec3_norm(w), ss_vec3_norm(w_next));
    double most = h * fmax(ss_vec3_norm(w), ss_vec3_norm(w_next));
    if (!(least > SMALLEST_TURN) || most > 1.0) return true;
    ss_quat from = ss_quat_load(was->quaternion[old]), to = ss_quat_load(is->quaternion[b]);
    double stored = misfit(turn_between(from, to), w, w_next, h);
    if (stored < TURNED) check->turns_right++;
    if (stored < NOT_TURNED) return true;
    check->turns_wrong++;
    ss_vec3 order = turn_between(reordered(from), reordered(to));
    ss_vec3 inverse = turn_between(ss_quat_conjugate(from), ss_quat_conjugate(to));
    return (misfit(order, w, w_next, h) >= TURNED || blame(check, QUATERNION_ORDER, b)) &&
           (misfit(inverse, w, w_next, h) >= TURNED || blame(check, QUATERNION_INVERSE, b));
}

/* Relative difference between a tensor and an older one that turned from one orientation to another. */
static double tensor_misfit(ss_mat3 old, ss_mat3 now, ss_quat from, ss_quat to)
{
    ss_mat3 rotation = ss_quat_to_matrix(ss_quat_multiply(to, ss_quat_conjugate(from)));
    ss_mat3 turned = ss_mat3_rotate_tensor(rotation, old);
    return ss_mat3_max_abs(ss_mat3_add_scaled(turned, -1.0, now)) / ss_mat3_max_abs(now);
}

/* Any two frames: tensors must turn with the quaternions. */
static bool check_tensor(ss_recording_check *check, const ss_frame *older, int old, int b)
{
    const ss_bodies *was = &older->bodies, *is = &check->now->bodies;
    ss_mat3 before = ss_mat3_load(was->inertia[old]), now = ss_mat3_load(is->inertia[b]);
    ss_quat from = ss_quat_load(was->quaternion[old]), to = ss_quat_load(is->quaternion[b]);
    double stored = tensor_misfit(before, now, from, to);
    double frozen = tensor_misfit(before, now, ss_quat_identity(), ss_quat_identity());
    double order = tensor_misfit(before, now, reordered(from), reordered(to));
    double inverse = tensor_misfit(before, now, ss_quat_conjugate(from), ss_quat_conjugate(to));
    if (frozen > TENSOR_CHANGE && stored < 0.1 * frozen) check->tensors_right++;
    if (stored < TENSOR_CHANGE) return true;
    check->tensors_wrong++;
    // a tensor that stays as it is may be that of a body whose true turn does not change it
    bool is_frozen = frozen < 0.1 * stored;
    return (is_frozen || order > 0.1 * stored || blame(check, QUATERNION_ORDER, b)) &&
           (is_frozen || inverse > 0.1 * stored || blame(check, QUATERNION_INVERSE, b)) &&
           (!is_frozen || order < TENSOR_CHANGE || blame(check, FROZEN_TENSOR, b));
}

static bool check_orientations(ss_recording_check *check)
{
    bool good = true;
    for (int b = 0; good && b < check->now->bodies.count; b++) {
        if (!ss_frame_is_live(check->now, b)) continue;
        int32_t id = check->now->bodies.id[b];
        int first = body_of(check->first, id, b), before = body_of(check->before, id, b);
        if (before >= 0 && check->consecutive) good = check_turn(check, before, b);
        if (good && first >= 0) good = check_tensor(check, check->first, first, b);
    }
    return good;
}

/* ---- frame by frame ---------------------------------------------------------------------------------- */

/* One step apart, by their times; without times, when bodies have moved as their velocities say. */
static bool is_next(const ss_frame *before, const ss_frame *now)
{
    double h = before->h;
    if (isfinite(before->time) && isfinite(now->time))
        return fabs(now->time - before->time - h) < 0.01 * h && fabs(now->h - h) < 0.01 * h;
    int moved = 0, followed = 0;
    for (int b = 0; b < now->bodies.count && b < before->bodies.count; b++) {
        if (now->bodies.id[b] != before->bodies.id[b]) continue;
        ss_vec3 way =
            ss_vec3_subtract(ss_vec3_load(now->bodies.position[b]), ss_vec3_load(before->bodies.position[b]));
        ss_vec3 v = ss_vec3_load(before->bodies.velocity[b]), v_next = ss_vec3_load(now->bodies.velocity[b]);
        double speed = fmax(ss_vec3_norm(v), ss_vec3_norm(v_next));
        if (!(speed > 0.0)) continue;
        moved++;
        double off = fmin(ss_vec3_norm(ss_vec3_add_scaled(way, -h, v)),
                          ss_vec3_norm(ss_vec3_add_scaled(way, -h, v_next)));
        followed += off < 0.2 * h * speed;
    }
    return moved > 0 && followed > MOST * moved;
}

/* The step from the frame before to this one: v+ is what this one begins with. */
static bool check_step(ss_recording_check *check)
{
    const ss_frame *before = check->before, *now = check->now;
    double(*after)[6] = ss_allocate((size_t)before->bodies.count, sizeof *after);
    if (!after) return false;
    for (int b = 0; b < before->bodies.count; b++) {
        int next = body_of(now, before->bodies.id[b], b);
        for (int i = 0; i < 6; i++) after[b][i] = next < 0 ? NAN : now->bodies.velocity[next][i];
    }
    const double(*velocities)[6] = (const double(*)[6])after;
    bool good = check_gap_changes(check, velocities) &&
                (check->before_judged ||
                 check_balances(check, before, velocities, NULL, check->before_place, check->frames - 1));
    ss_release(after);
    return good;
}

bool ss_recording_check_frame(ss_recording_check *check, const ss_frame *frame, const char *place)
{
    ss_frame *copy = ss_frame_copy(frame, NULL);
    size_t size = strlen(place) + 1;
    char *name = ss_allocate(size, 1);
    if (!copy || !name) {
        ss_frame_destroy(copy);
        ss_release(name);
        return false;
    }
    memcpy(name, place, size);

    if (check->before != check->first) ss_frame_destroy(check->before);
    ss_release(check->before_place);
    check->before = check->now;
    check->before_place = check->place;
    check->before_judged = check->now_judged;
    check->now = copy;
    check->place = name;
    check->now_judged = false;
    check->frames++;

    if (!check->first) check->first = copy;
    if (!check->before) return true;
    check->consecutive = is_next(check->before, check->now);
    return check_orientations(check) && (!check->consecutive || check_step(check));
}

bool ss_recording_check_result(ss_recording_check *check, const ss_stored_result *result)
{
    const ss_answer *answer = result->answer;
    const ss_frame *frame = check->now;
    if (!answer || answer->bodies != frame->bodies.count || answer->rows != frame->constraints.row_count ||
        answer->contacts != frame->contacts.count || answer->bodies == 0)
        return true;
    check->now_judged |= all_known(answer->velocity[0], 6 * answer->bodies);

    // impulses of alternatives act where the ordinary frame of the selection has them
    ss_peg_result selection = {0};
    ss_answer *plain = NULL;
    bool alternatives = frame->subcontacts.groups > 0;
    ss_error err;
    if (alternatives && !ss_peg_reduce(frame, answer, &selection, &plain, &err))
        return err.code != SS_ERROR_RESOURCES; // a selection that does not exist
    if (alternatives) frame = selection.plain, answer = plain;
    bool good = check_balances(check, frame, (const double(*)[6])answer->velocity, answer, check->place,
                               check->frames) &&
                check_gaps(check, result, frame, answer, selection.origin);
    ss_answer_destroy(plain);
    ss_peg_result_free(&selection);
    return good;
}

/* ---- the verdict ------------------------------------------------------------------------------------- */

static void tell(const ss_recording_check *check, const evidence *e, const char *array, const char *words,
                 const char *what, ss_findings *findings)
{
    char place[600], list[120];
    int used = snprintf(list, sizeof list, "%s %d", what, e->example[0]);
    for (int i = 1; i < e->examples; i++)
        used += snprintf(list + used, sizeof list - (size_t)used, ", %d", e->example[i]);
    snprintf(place, sizeof place, "%s/%s", e->place, array);
    ss_findings_add(findings, SS_FINDING_WARNING, place, "%s (seen in %d of %d frames, here at %s%s)", words,
                    e->frames, check->frames, list, e->examples == EXAMPLES ? " ..." : "");
}

static void accuse(const ss_recording_check *check, mistake m, const char *what, ss_findings *findings)
{
    tell(check, &check->of[m], names[m].array, names[m].words, what, findings);
}

/* Names the mistake that mends most balances, then the one that mends most of the rest, as long as the rest
 * is a good part of all. Adds to the set of mistakes that are told, and returns the balances that none
 * mends. */
static long long accuse_balances(const ss_recording_check *check, const long long *observed, unsigned *told,
                                 ss_findings *findings)
{
    long long total = 0;
    for (int set = 0; set < 1 << BALANCE_MISTAKES; set++) total += observed[set];
    for (;;) {
        long long left = 0, mended[BALANCE_MISTAKES] = {0};
        for (unsigned set = 0; set < 1U << BALANCE_MISTAKES; set++) {
            if (set & *told) continue;
            left += observed[set];
            for (int m = 0; m < BALANCE_MISTAKES; m++)
                if (set & 1U << m) mended[m] += observed[set];
        }
        int best = 0;
        for (int m = 1; m < BALANCE_MISTAKES; m++)
            if (mended[m] > mended[best]) best = m;
        if (!(2 * mended[best] > left && (double)left > (1.0 - MOST) * (double)total)) return left;
        *told |= 1U << best;
        accuse(check, (mistake)best, "body", findings);
    }
}

void ss_recording_check_end(ss_recording_check *check, ss_findings *findings)
{
    const evidence *of = check->of;
    unsigned told = 0;

    // orientations first: with quaternions that are wrong, tensors cannot be judged
    bool turns_wrong = check->turns_wrong > check->turns_right;
    bool tensors_wrong = check->tensors_wrong > check->tensors_right;
    double wrong = (double)(check->turns_wrong + check->tensors_wrong);
    mistake likely =
        of[QUATERNION_INVERSE].count > of[QUATERNION_ORDER].count ? QUATERNION_INVERSE : QUATERNION_ORDER;
    if ((turns_wrong || (tensors_wrong && check->turns_right == 0)) &&
        (double)of[likely].count > MOST * wrong)
        accuse(check, likely, "body", findings);
    else if (!turns_wrong && tensors_wrong &&
             (double)of[FROZEN_TENSOR].count > MOST * (double)check->tensors_wrong) {
        accuse(check, FROZEN_TENSOR, "body", findings);
        // the one is reported, the other cannot be seen without tensors
        told |= 1U << BODY_INERTIA | 1U << NO_GYRO;
    }

    // balances; those of the next frame's velocities only count when there are several
    long long left = accuse_balances(check, check->stored, &told, findings), guessed = 0;
    for (int set = 1; set < 1 << BALANCE_MISTAKES; set++) guessed += check->guessed[set];
    if (guessed >= FEWEST_FREE) accuse_balances(check, check->guessed, &told, findings);
    if (!told && 2 * left > check->balances)
        tell(check, &check->unexplained, "solver_data",
             "the stored answer does not satisfy M v+ = M v + h f + J' x, and no mistake that is known here "
             "explains it",
             "body", findings);

    // gaps: contacts whose bodies are swapped open where they should close
    mistake depth = of[DEPTH].count > 0 ? DEPTH : DEPTH_MOTION;
    long long wrong_gaps = of[DEPTH].count + of[DEPTH_MOTION].count;
    if (!(told & 1U << SWAPPED_CONTACT) && wrong_gaps >= FEWEST_GAPS &&
        20 * check->depth_against <= wrong_gaps)
        accuse(check, depth, "contact", findings);
}
