#include "sim/joint_system.h"

#include "linalg/quat.h"
#include "model/joint_geometry.h"
#include "model/joint_rows.h"

#include <math.h>
#include <string.h>

static const double regularisation = 1e-10; // of a unit diagonal

void ss_joint_system_free(ss_joint_system *system)
{
    ss_release(system->blocks);
    ss_release(system->members);
    ss_release(system->inverse);
    ss_release(system->jacobian);
    ss_release(system->response);
    ss_release(system->scale);
    ss_release(system->softness);
    ss_release(system->work);
    ss_release(system->neighbour_start);
    ss_release(system->neighbour);
    ss_sparse_destroy(system->matrix);
    ss_ldl_destroy(system->ldl);
    *system = (ss_joint_system){0};
}

/* ---- who takes part --------------------------------------------------------------------------------- */

static int rows_of(const ss_world *world, int joint)
{
    const ss_joint *item = ss_world_joint(world, joint);
    bool takes_part = !(item->compliance > 0.0) && ss_joint_is_active(world, item);
    return takes_part ? ss_joint_equation_count(item) + ss_joint_rotor_count(item) : 0;
}

static ss_body_kind kind_of(const ss_world *world, int body)
{
    return body == SS_WORLD ? SS_STATIC : ss_world_body(world, body)->kind;
}

/* The same joints between the same bodies as at the last gathering. */
static bool is_unchanged(const ss_joint_system *system, const ss_world *world)
{
    int block = 0;
    for (int joint = 0; joint < ss_world_joint_count(world); joint++) {
        int rows = rows_of(world, joint);
        if (rows == 0) continue;
        if (block >= system->joint_count) return false;
        const ss_joint_block *old = &system->blocks[block++];
        const ss_joint *item = ss_world_joint(world, joint);
        if (old->joint != joint || old->rows != rows || old->bodies != item->body_count) return false;
        for (int k = 0; k < old->bodies; k++) {
            int body = ss_joint_body(item, k);
            if (old->body[k] != body || old->kind[k] != kind_of(world, body)) return false;
        }
    }
    return block == system->joint_count;
}

/* ---- blocks and members ----------------------------------------------------------------------------- */

/* Joints become blocks of rows, and the bodies they hold that can move become members. */
static bool find_blocks(ss_joint_system *system, const ss_world *world)
{
    size_t joints = (size_t)ss_world_joint_count(world), bodies = (size_t)ss_world_body_count(world);
    int *place = ss_allocate(bodies, sizeof *place); // index of a member + 1
    system->blocks = ss_allocate(joints, sizeof *system->blocks);
    system->members = ss_allocate(bodies, sizeof *system->members);
    bool good = place && system->blocks && system->members;
    for (int joint = 0; good && joint < (int)joints; joint++) {
        int rows = rows_of(world, joint);
        if (rows == 0) continue;
        const ss_joint *item = ss_world_joint(world, joint);
        ss_joint_block *block = &system->blocks[system->joint_count++];
        *block = (ss_joint_block){
            .joint = joint, .first = system->row_count, .rows = rows, .bodies = item->body_count};
        block->own = rows - ss_joint_rotor_count(item);
        system->row_count += rows;

        /* Of a block, only dynamic members count: the others move, but no impulse moves them. */
        for (int side = 0; side < block->bodies; side++) {
            int body = block->body[side] = ss_joint_body(item, side);
            ss_body_kind kind = block->kind[side] = kind_of(world, body);
            if (kind != SS_STATIC && place[body] == 0) {
                system->members[system->member_count] =
                    (ss_joint_member){.body = body, .dynamic = kind == SS_DYNAMIC};
                place[body] = ++system->member_count;
            }
            block->member[side] = kind == SS_DYNAMIC ? place[body] - 1 : -1;
        }
    }
    ss_release(place);
    return good;
}

/* ---- the pattern of S ------------------------------------------------------------------------------- */

/* Of each block and body the block before it that holds the same member; -1 = none. */
typedef int chain[SS_JOINT_BODIES];

/* The neighbours of block k before it, from the last one down, through the chains of its members. */
static int list_neighbours(const ss_joint_system *system, const chain *before, int k, int *list)
{
    const ss_joint_block *block = &system->blocks[k];
    chain at;
    int count = 0;
    for (int side = 0; side < block->bodies; side++) at[side] = before[k][side];
    for (;;) {
        int next = -1;
        for (int side = 0; side < block->bodies; side++)
            if (at[side] > next) next = at[side];
        if (next < 0) return count;

        /* Every chain that is at this block moves on, along its own member. */
        for (int side = 0; side < block->bodies; side++) {
            if (at[side] != next) continue;
            int there = 0;
            while (system->blocks[next].member[there] != block->member[side]) there++;
            at[side] = before[next][there];
        }
        if (list) list[count] = next;
        count++;
    }
}

/* Of each block the blocks before it with a dynamic body in common, in ascending order. */
static bool find_neighbours(ss_joint_system *system)
{
    int blocks = system->joint_count, *last = ss_allocate((size_t)system->member_count, sizeof *last);
    chain *before = ss_allocate((size_t)blocks, sizeof *before);
    int *start = system->neighbour_start = ss_allocate((size_t)blocks + 1, sizeof *start);
    bool good = last && before && start;

    for (int m = 0; good && m < system->member_count; m++) last[m] = -1;
    for (int k = 0; good && k < blocks; k++)
        for (int side = 0; side < system->blocks[k].bodies; side++) {
            int member = system->blocks[k].member[side];
            before[k][side] = member >= 0 ? last[member] : -1;
            if (member >= 0) last[member] = k;
        }

    for (int k = 0; good && k < blocks; k++)
        start[k + 1] = start[k] + list_neighbours(system, (const chain *)before, k, NULL);
    if (good) system->neighbour = ss_allocate((size_t)start[blocks], sizeof *system->neighbour);
    good = good && system->neighbour;
    for (int k = 0; good && k < blocks; k++) {
        int *list = system->neighbour + start[k];
        int count = list_neighbours(system, (const chain *)before, k, list);
        for (int i = 0, j = count - 1; i < j; i++, j--) { // found from the last one down
            int first = list[i];
            list[i] = list[j];
            list[j] = first;
        }
    }
    ss_release(last);
    ss_release(before);
    return good;
}

/* The upper triangle of S by columns, and the order of its elimination. */
static bool make_matrix(ss_joint_system *system, ss_error *err)
{
    if (system->row_count == 0) return true;
    int64_t count = 0;
    for (int k = 0; k < system->joint_count; k++) {
        int rows = system->blocks[k].rows;
        count += rows * (rows + 1) / 2;
        for (int i = system->neighbour_start[k]; i < system->neighbour_start[k + 1]; i++)
            count += (int64_t)rows * system->blocks[system->neighbour[i]].rows;
    }
    system->matrix = ss_sparse_create(system->row_count, system->row_count, count, err);
    if (!system->matrix) return false;

    /* A column of block k has all rows of its neighbours, then its own down to the diagonal. */
    int entry = 0;
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        for (int column = 0; column < block->rows; column++) {
            for (int i = system->neighbour_start[k]; i < system->neighbour_start[k + 1]; i++) {
                const ss_joint_block *other = &system->blocks[system->neighbour[i]];
                for (int r = 0; r < other->rows; r++) system->matrix->row[entry++] = other->first + r;
            }
            for (int r = 0; r <= column; r++) system->matrix->row[entry++] = block->first + r;
            system->matrix->start[block->first + column + 1] = entry;
        }
    }
    system->ldl = ss_ldl_create(system->matrix, err);
    return system->ldl != NULL;
}

/* ---- gathering -------------------------------------------------------------------------------------- */

bool ss_joint_system_gather(ss_joint_system *system, const ss_world *world, ss_error *err)
{
    if (system->blocks && is_unchanged(system, world)) return true;
    ss_joint_system_free(system);
    bool good = find_blocks(system, world) && find_neighbours(system);

    size_t rows = (size_t)system->row_count;
    if (good) {
        system->inverse = ss_allocate((size_t)system->member_count, sizeof *system->inverse);
        system->jacobian = ss_allocate(rows, sizeof *system->jacobian);
        system->response = ss_allocate(rows, sizeof *system->response);
        system->scale = ss_allocate(rows, sizeof *system->scale);
        system->softness = ss_allocate(rows, sizeof *system->softness);
        system->work = ss_allocate(rows, sizeof *system->work);
        good = system->inverse && system->jacobian && system->response && system->scale && system->softness &&
               system->work;
    }
    if (!good) {
        ss_joint_system_free(system);
        return ss_fail(err, SS_ERROR_RESOURCES, "joints: out of memory");
    }

    if (make_matrix(system, err)) return true;
    ss_joint_system_free(system);
    return ss_fail_in(err, "joints");
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

/* Where two blocks hold the same dynamic body: columns of the one and of the other. */
typedef struct shared_bodies {
    int count, one[SS_JOINT_BODIES], other[SS_JOINT_BODIES];
} shared_bodies;

static shared_bodies find_shared(const ss_joint_block *one, const ss_joint_block *other)
{
    shared_bodies shared = {.count = 0};
    for (int s = 0; s < one->bodies; s++)
        for (int t = 0; t < other->bodies; t++)
            if (one->member[s] >= 0 && one->member[s] == other->member[t]) {
                shared.one[shared.count] = 6 * s;
                shared.other[shared.count++] = 6 * t;
            }
    return shared;
}

/* J_i M^-1 J_j' of rows i of one block and j of the other */
static double couple(const ss_joint_system *system, const shared_bodies *shared, int i, int j)
{
    double sum = 0.0;
    for (int k = 0; k < shared->count; k++) {
        const double *a = system->jacobian[i] + shared->one[k], *b = system->response[j] + shared->other[k];
        sum += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
    }
    return sum;
}

/* fmax would lose a NaN */
static double larger(double most, double value)
{
    return fabs(value) > most || isnan(value) ? fabs(value) : most;
}

double ss_joint_system_see(ss_joint_system *system, const ss_world *world, double *violation)
{
    double most = 0.0;
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        ss_joint_equation rows[6];
        ss_joint_residual(world, block->joint, rows);
        if (block->own < block->rows) ss_joint_rotors(world, block->joint, rows + block->own);
        for (int r = 0; r < block->rows; r++) {
            int at = block->first + r;
            system->softness[at] = r < block->own ? 0.0 : rows[r].regularization;
            memcpy(system->jacobian[at], rows[r].jacobian, 6 * (size_t)block->bodies * sizeof(double));
            double error = r < block->own ? rows[r].violation : 0.0;
            if (violation) violation[at] = error;
            most = larger(most, error);
        }
    }
    for (int m = 0; m < system->member_count; m++) {
        const ss_body *body = ss_world_body(world, system->members[m].body);
        memcpy(system->members[m].position, body->position, sizeof body->position);
        memcpy(system->members[m].quaternion, body->quaternion, sizeof body->quaternion);
    }
    return most;
}

bool ss_joint_system_sees(const ss_joint_system *system, const ss_world *world)
{
    bool same = true;
    for (int m = 0; m < system->member_count && same; m++) {
        const ss_joint_member *member = &system->members[m];
        const ss_body *body = ss_world_body(world, member->body);
        same = memcmp(member->position, body->position, sizeof body->position) == 0 &&
               memcmp(member->quaternion, body->quaternion, sizeof body->quaternion) == 0;
    }
    return same;
}

bool ss_joint_system_factor(ss_joint_system *system, const ss_world *world, ss_error *err)
{
    /* M^-1 of the members, in the world frame. */
    for (int m = 0; m < system->member_count; m++) {
        if (!system->members[m].dynamic) continue;
        const ss_body *body = ss_world_body(world, system->members[m].body);
        ss_mass inverse = {.linear = 1.0 / body->mass};
        ss_mat3 angular = {0}, rotation = ss_quat_to_matrix(ss_quat_load(body->quaternion));
        if (ss_mat3_inverse(ss_mat3_load(body->inertia), &angular))
            inverse.angular = ss_mat3_rotate_tensor(rotation, angular);
        system->inverse[m] = inverse;
    }

    /* Responses M^-1 J' of the rows, and scales that make the diagonal of S one. */
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        shared_bodies own = find_shared(block, block);
        for (int r = block->first; r < block->first + block->rows; r++) {
            for (int side = 0; side < block->bodies; side++)
                if (block->member[side] >= 0)
                    ss_mass_apply(&system->inverse[block->member[side]], system->jacobian[r] + 6 * side,
                                  system->response[r] + 6 * side);
            double diagonal = couple(system, &own, r, r) + system->softness[r];
            system->scale[r] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 0.0;
        }
    }

    /* S by columns, in units of its diagonal: rows of the neighbours, then its own. */
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        for (int i = system->neighbour_start[k], above = 0; i <= system->neighbour_start[k + 1]; i++) {
            bool own = i == system->neighbour_start[k + 1];
            const ss_joint_block *other = own ? block : &system->blocks[system->neighbour[i]];
            shared_bodies shared = find_shared(other, block);
            for (int j = block->first; j < block->first + block->rows; j++) {
                double *value = system->matrix->value + system->matrix->start[j] + above;
                int end = own ? j : other->first + other->rows;
                for (int r = other->first; r < end; r++)
                    *value++ = system->scale[r] * system->scale[j] * couple(system, &shared, r, j);
                if (own) *value = 1.0 + regularisation;
            }
            above += other->rows;
        }
    }
    return ss_linalg_check(ss_ldl_factor(system->ldl, system->matrix), "joints", err);
}

/* ---- errors and answers ----------------------------------------------------------------------------- */

double ss_joint_system_speed(const ss_joint_system *system, const ss_world *world, double *speed)
{
    double most = 0.0;
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        const ss_joint *joint = ss_world_joint(world, block->joint);
        for (int r = block->first; r < block->first + block->rows; r++) {
            bool rotor = r >= block->first + block->own;
            speed[r] = rotor ? 0.0 : ss_joint_speed(world, joint, system->jacobian[r]);
            most = larger(most, speed[r]);
        }
    }
    return most;
}

double ss_joint_system_size(const ss_joint_system *system, const double *error)
{
    double most = 0.0;
    for (int r = 0; r < system->row_count; r++) most = larger(most, system->scale[r] * error[r]);
    return most;
}

bool ss_joint_system_answer(ss_joint_system *system, const double *error, double (*motion)[6], ss_error *err)
{
    double *y = system->work;
    for (int r = 0; r < system->row_count; r++) y[r] = -system->scale[r] * error[r];
    if (!ss_linalg_check(ss_ldl_solve(system->ldl, y, y, SS_REFINE_ONCE), "joints", err)) return false;

    /* The motion that the impulses make: M^-1 J' y. */
    memset(motion, 0, (size_t)system->member_count * sizeof *motion);
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        for (int r = block->first; r < block->first + block->rows; r++) {
            double impulse = system->scale[r] * y[r];
            for (int side = 0; side < block->bodies; side++) {
                if (block->member[side] < 0) continue;
                double *to = motion[block->member[side]];
                for (int i = 0; i < 6; i++) to[i] += impulse * system->response[r][6 * side + i];
            }
        }
    }
    return true;
}
