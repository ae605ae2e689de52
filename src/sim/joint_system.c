#include "sim/joint_system.h"

#include "linalg/quat.h"
#include "model/joint_geometry.h"
#include "model/joint_rows.h"

#include <math.h>
#include <string.h>

static const double regularisation = 1e-10; // of the diagonal
/* Multiplications per row of a factorisation by blocks: where more would be needed, because many joints are
 * at one body or form nets, an order of rows that is looked for is better. */
static const double most_per_row = 2000.0;

void ss_joint_system_free(ss_joint_system *system)
{
    ss_release(system->blocks);
    ss_release(system->members);
    ss_release(system->member_of);
    ss_release(system->inverse);
    ss_release(system->jacobian);
    ss_release(system->response);
    ss_release(system->scale);
    ss_release(system->softness);
    ss_release(system->work);
    ss_release(system->neighbour_start);
    ss_release(system->neighbour);
    ss_release(system->shared);
    ss_block_ldl_destroy(system->ldl);
    ss_sparse_destroy(system->matrix);
    ss_ldl_destroy(system->sparse_ldl);
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
    if (system->body_count != ss_world_body_count(world)) return false;
    for (int joint = 0; joint < ss_world_joint_count(world); joint++) {
        int rows = rows_of(world, joint);
        if (rows == 0) continue;
        if (block >= system->joint_count) return false;
        const ss_joint_block *old = &system->blocks[block++];
        const ss_joint *item = ss_world_joint(world, joint);
        if (old->joint != joint || old->rows != rows || old->bodies != item->body_count ||
            old->joint_kind != item->kind)
            return false;
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
    int *place = system->member_of = ss_allocate(bodies, sizeof *place); // first the index + 1
    system->blocks = ss_allocate(joints, sizeof *system->blocks);
    system->members = ss_allocate(bodies, sizeof *system->members);
    bool good = place && system->blocks && system->members;
    int entries = 0;
    for (int joint = 0; good && joint < (int)joints; joint++) {
        int rows = rows_of(world, joint);
        if (rows == 0) continue;
        const ss_joint *item = ss_world_joint(world, joint);
        ss_joint_block *block = &system->blocks[system->joint_count++];
        *block = (ss_joint_block){
            .joint = joint, .first = system->row_count, .rows = rows, .bodies = item->body_count};
        block->joint_kind = item->kind;
        block->own = rows - ss_joint_rotor_count(item);
        block->entry = entries;
        entries += 6 * rows * block->bodies;
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
    for (int b = 0; good && b < (int)bodies; b++) place[b]--;
    system->has_balls_only = true;
    for (int k = 0; good && k < system->joint_count; k++)
        system->has_balls_only &= system->blocks[k].joint_kind == SS_JOINT_BALL;
    system->body_count = (int)bodies;
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

static ss_shared_bodies find_shared(const ss_joint_block *one, const ss_joint_block *other)
{
    ss_shared_bodies shared = {.count = 0};
    for (int s = 0; s < one->bodies; s++)
        for (int t = 0; t < other->bodies; t++)
            if (one->member[s] >= 0 && one->member[s] == other->member[t]) {
                shared.one[shared.count] = 6 * s;
                shared.other[shared.count++] = 6 * t;
            }
    return shared;
}

/* The order in which blocks are eliminated; or the upper triangle of S by columns, and an order of these. */
static bool make_matrix(ss_joint_system *system, ss_error *err)
{
    if (system->row_count == 0) return true;
    int64_t count = 0;
    int joints = system->joint_count, *first = ss_allocate((size_t)joints, sizeof *first);
    int *height = ss_allocate((size_t)joints, sizeof *height), links = system->neighbour_start[joints];
    system->shared = ss_allocate((size_t)(links + joints), sizeof *system->shared);
    bool good = first && height && system->shared;
    for (int k = 0; good && k < joints; k++) {
        int rows = height[k] = system->blocks[k].rows;
        first[k] = system->blocks[k].first;
        count += rows * (rows + 1) / 2;
        for (int i = system->neighbour_start[k]; i < system->neighbour_start[k + 1]; i++) {
            const ss_joint_block *other = &system->blocks[system->neighbour[i]];
            count += (int64_t)rows * other->rows;
            system->shared[i] = find_shared(other, &system->blocks[k]);
        }
        system->shared[links + k] = find_shared(&system->blocks[k], &system->blocks[k]);
    }
    ss_block_graph graph = {joints, first, height, system->neighbour_start, system->neighbour};
    if (!good) ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    good = good && ss_block_ldl_create(&graph, most_per_row * system->row_count, &system->ldl, err);
    ss_release(first);
    ss_release(height);
    if (!good || system->ldl) return good;

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
    system->sparse_ldl = ss_ldl_create(system->matrix, err);
    return system->sparse_ldl != NULL;
}

/* ---- gathering -------------------------------------------------------------------------------------- */

bool ss_joint_system_gather(ss_joint_system *system, const ss_world *world, ss_error *err)
{
    if (!system->blocks || !is_unchanged(system, world)) {
        ss_joint_system_free(system);
        bool good = find_blocks(system, world) && find_neighbours(system);

        size_t rows = (size_t)system->row_count, entries = 0;
        for (int k = 0; k < system->joint_count; k++)
            entries += 6 * (size_t)(system->blocks[k].rows * system->blocks[k].bodies);
        if (good) {
            system->inverse = ss_allocate((size_t)system->member_count, sizeof *system->inverse);
            system->jacobian = ss_allocate(entries, sizeof *system->jacobian);
            system->response = ss_allocate(entries, sizeof *system->response);
            system->scale = ss_allocate(rows, sizeof *system->scale);
            system->softness = ss_allocate(rows, sizeof *system->softness);
            system->work = ss_allocate(rows, sizeof *system->work);
            good = system->inverse && system->jacobian && system->response && system->scale &&
                   system->softness && system->work;
        }
        if (!good) {
            ss_joint_system_free(system);
            return ss_fail(err, SS_ERROR_RESOURCES, "joints: out of memory");
        }
        if (!make_matrix(system, err)) {
            ss_joint_system_free(system);
            return ss_fail_in(err, "joints");
        }
    }
    for (int m = 0; m < system->member_count; m++)
        system->members[m].now = ss_world_body(world, system->members[m].body);
    for (int k = 0; k < system->joint_count; k++) {
        ss_joint_block *block = &system->blocks[k];
        block->now = ss_world_joint(world, block->joint);
        for (int side = 0; side < 2; side++) block->sides[side] = ss_world_body(world, block->body[side]);
    }
    return true;
}

/* ---- G ---------------------------------------------------------------------------------------------- */

/* fmax would lose a NaN */
static double larger(double most, double value)
{
    return fabs(value) > most || isnan(value) ? fabs(value) : most;
}

/* Of a ball the whole of it counts, which no axes make larger. */
static double larger_of_block(double most, const ss_joint_block *block, const double *error)
{
    if (block->joint_kind == SS_JOINT_BALL) return larger(most, ss_vec3_norm(ss_vec3_load(error)));
    for (int r = 0; r < block->rows; r++) most = larger(most, error[r]);
    return most;
}

/* Balls are what chains are made of: their anchors coincide, along the axes of the world. Arms are from the
 * centre of each body to the anchor of b. */
static inline ss_vec3 see_ball(const ss_joint_block *block, ss_vec3 arm[2])
{
    ss_vec3 anchor[2], centre[2];
    for (int side = 0; side < 2; side++) {
        const ss_body *body = block->sides[side];
        ss_vec3 local = ss_vec3_load(block->now->local_anchor[side]);
        centre[side] = body ? ss_vec3_load(body->position) : (ss_vec3){0.0, 0.0, 0.0};
        if (body) local = ss_quat_rotate(ss_quat_load(body->quaternion), local);
        anchor[side] = ss_vec3_add(centre[side], local);
    }
    for (int side = 0; side < 2; side++) arm[side] = ss_vec3_subtract(anchor[1], centre[side]);
    return ss_vec3_subtract(anchor[1], anchor[0]);
}

double ss_joint_system_violations(const ss_joint_system *system, const ss_world *world, double *violation)
{
    double most = 0.0;
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        double *to = violation + block->first;
        if (block->joint_kind == SS_JOINT_BALL) {
            ss_vec3 arm[2];
            ss_vec3_store(see_ball(block, arm), to);
        } else {
            ss_joint_equation rows[6];
            ss_joint_residual(world, block->joint, rows);
            for (int r = 0; r < block->rows; r++) to[r] = r < block->own ? rows[r].violation : 0.0;
        }
        most = larger_of_block(most, block, to);
    }
    return most;
}

/* Does the Jacobian depend on more than poses, anchors and axes? Then it is seen again every time. */
static bool depends_on_more(const ss_joint_block *block, const ss_joint *joint)
{
    bool plain = joint->kind == SS_JOINT_BALL || joint->kind == SS_JOINT_REVOLUTE ||
                 joint->kind == SS_JOINT_FIXED || joint->kind == SS_JOINT_PRISMATIC ||
                 joint->kind == SS_JOINT_CYLINDRICAL || joint->kind == SS_JOINT_UNIVERSAL ||
                 joint->kind == SS_JOINT_PLANAR;
    return !plain || block->own < block->rows || ss_joint_has_load_friction(joint);
}

/* The members and the joints are as they were when G was last seen. */
static bool is_as_seen(const ss_joint_system *system)
{
    bool same = system->is_seen;
    for (int m = 0; m < system->member_count && same; m++) {
        const ss_joint_member *member = &system->members[m];
        same = memcmp(member->position, member->now->position, sizeof member->position) == 0 &&
               memcmp(member->quaternion, member->now->quaternion, sizeof member->quaternion) == 0;
    }
    for (int k = 0; k < system->joint_count && same; k++) {
        const ss_joint_block *block = &system->blocks[k];
        const ss_joint *joint = block->now;
        bool ball = joint->kind == SS_JOINT_BALL; // whose axes are those of the world
        same = !block->depends_on_more && (ball || !depends_on_more(block, joint)) &&
               memcmp(block->anchors, joint->local_anchor, sizeof block->anchors) == 0 &&
               (ball || memcmp(block->frames, joint->local_frame, sizeof block->frames) == 0);
        for (int side = 0; side < 2 && same; side++) {
            if (block->kind[side] != SS_STATIC || block->body[side] == SS_WORLD) continue;
            const ss_body *body = block->sides[side];
            same = memcmp(block->still[side], body->position, sizeof body->position) == 0 &&
                   memcmp(block->still[side] + 3, body->quaternion, sizeof body->quaternion) == 0;
        }
    }
    return same;
}

void ss_joint_system_see(ss_joint_system *system, const ss_world *world)
{
    if (is_as_seen(system)) return;
    for (int k = 0; k < system->joint_count; k++) {
        ss_joint_block *block = &system->blocks[k];
        const ss_joint *joint = block->now;
        double *to = system->jacobian + block->entry;
        memcpy(block->anchors, joint->local_anchor, sizeof block->anchors);
        memcpy(block->frames, joint->local_frame, sizeof block->frames);
        block->depends_on_more = joint->kind != SS_JOINT_BALL && depends_on_more(block, joint);
        for (int side = 0; side < 2; side++) {
            if (block->kind[side] != SS_STATIC || block->body[side] == SS_WORLD) continue;
            const ss_body *body = block->sides[side];
            memcpy(block->still[side], body->position, sizeof body->position);
            memcpy(block->still[side] + 3, body->quaternion, sizeof body->quaternion);
        }
        if (block->joint_kind == SS_JOINT_BALL) {
            ss_vec3 arm[2];
            see_ball(block, arm);
            for (int side = 0; side < 2; side++) {
                double s = block->sign[side] = block->body[side] == SS_WORLD ? 0.0 : side ? 1.0 : -1.0;
                ss_vec3 r = block->arm[side] = ss_vec3_scale(s, arm[side]);
                if (system->has_balls_only) continue;
                const double rows[3][6] = {{s, 0.0, 0.0, 0.0, r.z, -r.y},
                                           {0.0, s, 0.0, -r.z, 0.0, r.x},
                                           {0.0, 0.0, s, r.y, -r.x, 0.0}};
                for (int i = 0; i < 3; i++) memcpy(to + 12 * i + 6 * side, rows[i], sizeof rows[i]);
            }
            for (int i = 0; i < 3; i++) system->softness[block->first + i] = 0.0;
            continue;
        }
        ss_joint_equation rows[6];
        ss_joint_residual(world, block->joint, rows);
        if (block->own < block->rows) ss_joint_rotors(world, block->joint, rows + block->own);
        for (int r = 0; r < block->rows; r++, to += 6 * block->bodies) {
            system->softness[block->first + r] = r < block->own ? 0.0 : rows[r].regularization;
            memcpy(to, rows[r].jacobian, 6 * (size_t)block->bodies * sizeof(double));
        }
    }
    for (int m = 0; m < system->member_count; m++) {
        ss_joint_member *member = &system->members[m];
        memcpy(member->position, member->now->position, sizeof member->position);
        memcpy(member->quaternion, member->now->quaternion, sizeof member->quaternion);
    }
    system->is_seen = true;
    system->is_factored = false;
}

/* ---- S ---------------------------------------------------------------------------------------------- */

/* J_i M^-1 J_j' of two rows of one block and another */
static inline double couple(const ss_shared_bodies *shared, const double *jacobian, const double *response)
{
    double sum = 0.0;
    for (int k = 0; k < shared->count; k++) {
        const double *a = jacobian + shared->one[k], *b = response + shared->other[k];
        sum += (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
    }
    return sum;
}

/* M^-1 of the members, in the world frame. False when one has another mass or inertia than before. */
static bool invert_masses(ss_joint_system *system)
{
    bool same = true;
    for (int m = 0; m < system->member_count; m++) {
        ss_joint_member *member = &system->members[m];
        const ss_body *body = member->now;
        if (!member->dynamic || (member->mass == body->mass &&
                                 memcmp(member->inertia, body->inertia, sizeof member->inertia) == 0))
            continue;
        same = false;
        member->mass = body->mass;
        memcpy(member->inertia, body->inertia, sizeof member->inertia);
        if (!ss_mat3_inverse(ss_mat3_load(body->inertia), &member->inverse)) member->inverse = (ss_mat3){0};
    }
    return same;
}

/* X K Y' of two arms and an inverse inertia, X the rows arm x e_i. */
static inline ss_mat3 between_arms(ss_vec3 x, const ss_mat3 *k, ss_vec3 y)
{
    ss_mat3 turned; // K Y'
    for (int i = 0; i < 3; i++) {
        turned.m[i][0] = k->m[i][1] * y.z - k->m[i][2] * y.y;
        turned.m[i][1] = k->m[i][2] * y.x - k->m[i][0] * y.z;
        turned.m[i][2] = k->m[i][0] * y.y - k->m[i][1] * y.x;
    }
    ss_mat3 product;
    for (int j = 0; j < 3; j++) {
        product.m[0][j] = x.z * turned.m[1][j] - x.y * turned.m[2][j];
        product.m[1][j] = x.x * turned.m[2][j] - x.z * turned.m[0][j];
        product.m[2][j] = x.y * turned.m[0][j] - x.x * turned.m[1][j];
    }
    return product;
}

/* S of ball joints alone: 3 x 3 blocks of (1/m) 1 - [r] I^-1 [r], and so on, without rows of numbers. */
static void fill_balls(ss_joint_system *system)
{
    int links = system->neighbour_start[system->joint_count];
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        int end = system->neighbour_start[k + 1];
        for (int i = system->neighbour_start[k]; i <= end; i++) {
            int number = i == end ? k : system->neighbour[i];
            const ss_joint_block *other = &system->blocks[number];
            const ss_shared_bodies *both = &system->shared[i == end ? links + k : i];
            bool is_transposed;
            double *to = ss_block_ldl_at(system->ldl, k, number, &is_transposed);
            ss_mat3 sum = {0};
            for (int n = 0; n < both->count; n++) {
                int one = both->one[n] / 6, side = both->other[n] / 6;
                const ss_mass *inverse = &system->inverse[block->member[side]];
                ss_vec3 row = is_transposed ? other->arm[one] : block->arm[side];
                ss_vec3 column = is_transposed ? block->arm[side] : other->arm[one];
                sum = ss_mat3_add_scaled(sum, 1.0, between_arms(row, &inverse->angular, column));
                double linear = other->sign[one] * block->sign[side] * inverse->linear;
                for (int r = 0; r < 3; r++) sum.m[r][r] += linear;
            }
            for (int r = 0; r < 3 && i == end; r++) {
                double diagonal = sum.m[r][r];
                system->scale[block->first + r] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 0.0;
                sum.m[r][r] = diagonal > 0.0 ? diagonal * (1.0 + regularisation) : 1.0;
            }
            ss_mat3_store(sum, to);
        }
    }
}

/* S of any joints, from their Jacobians. */
static void fill_rows(ss_joint_system *system)
{
    /* Responses M^-1 J' of the rows, and scales that would make the diagonal of S one. */
    const ss_shared_bodies *shared = system->shared,
                           *own = shared + system->neighbour_start[system->joint_count];
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        const double *j = system->jacobian + block->entry;
        double *response = system->response + block->entry;
        for (int r = 0; r < block->rows; r++, j += 6 * block->bodies, response += 6 * block->bodies) {
            for (int side = 0; side < block->bodies; side++)
                if (block->member[side] >= 0)
                    ss_mass_apply(&system->inverse[block->member[side]], j + 6 * side, response + 6 * side);
            double diagonal = couple(&own[k], j, response) + system->softness[block->first + r];
            system->scale[block->first + r] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 0.0;
        }
    }

    /* S, block by block: each with its neighbours, then with itself. In the columns of a sparse matrix the
     * rows of the neighbours are above its own, and all is in units of the diagonal; so a row that moves
     * nothing is an equation of its own in both. */
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        int end = system->neighbour_start[k + 1], width = 6 * block->bodies;
        const double *response = system->response + block->entry;
        for (int i = system->neighbour_start[k], above = 0; i <= end; i++) {
            const ss_joint_block *other = i == end ? block : &system->blocks[system->neighbour[i]];
            const ss_shared_bodies *both = i == end ? &own[k] : &shared[i];
            const double *j = system->jacobian + other->entry;
            int wide = 6 * other->bodies;
            bool is_transposed = false;
            double *to = system->ldl ? ss_block_ldl_at(system->ldl, k, i == end ? k : system->neighbour[i],
                                                       &is_transposed)
                                     : NULL;
            for (int c = 0; c < block->rows; c++) {
                double scale = system->scale[block->first + c];
                for (int r = 0; r < (i == end ? c + 1 : other->rows); r++) {
                    double value = couple(both, j + r * wide, response + c * width);
                    if (i == end && r == c) {
                        double softness = system->softness[block->first + c];
                        value = scale > 0.0 ? (value + softness) * (1.0 + regularisation) : 1.0;
                        if (!to) value = 1.0 + regularisation;
                    } else if (!to) {
                        value *= scale * system->scale[other->first + r];
                    }
                    if (to)
                        to[is_transposed ? r * block->rows + c : c * other->rows + r] = value;
                    else
                        system->matrix->value[system->matrix->start[block->first + c] + above + r] = value;
                }
            }
            above += other->rows;
        }
    }
}

bool ss_joint_system_factor(ss_joint_system *system, ss_error *err)
{
    if (invert_masses(system) && system->is_factored) return true;
    system->is_factored = false;
    for (int m = 0; m < system->member_count; m++) {
        const ss_joint_member *member = &system->members[m];
        if (!member->dynamic) continue;
        ss_mat3 rotation = ss_quat_to_matrix(ss_quat_load(member->quaternion));
        system->inverse[m] = (ss_mass){1.0 / member->mass, ss_mat3_rotate_tensor(rotation, member->inverse)};
    }

    if (system->ldl) ss_block_ldl_clear(system->ldl);
    if (system->ldl && system->has_balls_only)
        fill_balls(system);
    else
        fill_rows(system);
    ss_linalg_status status = system->ldl
                                  ? (ss_block_ldl_factor(system->ldl) ? SS_LINALG_OK : SS_LINALG_SINGULAR)
                                  : ss_ldl_factor(system->sparse_ldl, system->matrix);
    system->is_factored = status == SS_LINALG_OK;
    return ss_linalg_check(status, "joints", err);
}

/* ---- errors and answers ----------------------------------------------------------------------------- */

double ss_joint_system_speed(const ss_joint_system *system, const ss_world *world,
                             const double (*velocity)[6], double *speed)
{
    double most = 0.0;
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        const double *j = system->jacobian + block->entry;
        if (block->joint_kind == SS_JOINT_BALL) {
            ss_vec3 sum = {0.0, 0.0, 0.0};
            for (int side = 0; side < 2; side++) {
                if (block->kind[side] == SS_STATIC) continue;
                const double *v = velocity ? velocity[block->body[side]] : block->sides[side]->velocity;
                sum = ss_vec3_add_scaled(sum, block->sign[side], ss_vec3_load(v));
                sum = ss_vec3_add(sum, ss_vec3_cross(ss_vec3_load(v + 3), block->arm[side]));
            }
            ss_vec3_store(sum, speed + block->first);
            most = larger_of_block(most, block, speed + block->first);
            continue;
        }
        for (int r = 0; r < block->rows; r++) speed[block->first + r] = 0.0;
        for (int side = 0; side < block->bodies; side++) {
            if (block->kind[side] == SS_STATIC) continue;
            int body = block->body[side];
            const double *v = velocity ? velocity[body] : ss_world_body(world, body)->velocity;
            for (int r = 0; r < block->own; r++) {
                const double *row = j + 6 * (r * block->bodies + side);
                speed[block->first + r] += (row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) +
                                           (row[3] * v[3] + row[4] * v[4] + row[5] * v[5]);
            }
        }
        most = larger_of_block(most, block, speed + block->first);
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
    if (system->ldl) {
        for (int r = 0; r < system->row_count; r++) y[r] = system->scale[r] > 0.0 ? -error[r] : 0.0;
        ss_block_ldl_solve(system->ldl, y);
    } else {
        for (int r = 0; r < system->row_count; r++) y[r] = -system->scale[r] * error[r];
        if (!ss_linalg_check(ss_ldl_solve(system->sparse_ldl, y, y, SS_REFINE_ONCE), "joints", err))
            return false;
        for (int r = 0; r < system->row_count; r++) y[r] *= system->scale[r];
    }

    /* The motion that the impulses make: M^-1 (J' y). */
    memset(motion, 0, (size_t)system->member_count * sizeof *motion);
    for (int k = 0; k < system->joint_count; k++) {
        const ss_joint_block *block = &system->blocks[k];
        const double *j = system->jacobian + block->entry, *impulse = y + block->first;
        for (int side = 0; side < block->bodies; side++) {
            if (block->member[side] < 0) continue;
            double *to = motion[block->member[side]];
            if (block->joint_kind == SS_JOINT_BALL) {
                ss_vec3 push = ss_vec3_load(impulse), turn = ss_vec3_cross(block->arm[side], push);
                ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(to), block->sign[side], push), to);
                ss_vec3_store(ss_vec3_add(ss_vec3_load(to + 3), turn), to + 3);
                continue;
            }
            for (int r = 0; r < block->rows; r++)
                for (int i = 0; i < 6; i++) to[i] += impulse[r] * j[6 * (r * block->bodies + side) + i];
        }
    }
    for (int m = 0; m < system->member_count; m++)
        if (system->members[m].dynamic) ss_mass_apply(&system->inverse[m], motion[m], motion[m]);
    return true;
}
