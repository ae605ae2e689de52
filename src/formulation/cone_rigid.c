/* Reading rigid contacts out of H. For every body that a contact touches, the columns (N, T1, T2) have a
 * linear part Q, which must be orthonormal, and an angular part A = [r]x Q with the lever arm r, so that A Q'
 * must be antisymmetric. The body with det Q = +1 is b: its columns are the right-handed frame (n, t1, t2);
 * the other one is a. */
#include "formulation/cone_to_frame.h"

#include <stdio.h>

/* ---- blocks of a sparse matrix -------------------------------------------------------------------- */

void ss_rigid_block_read(const ss_sparse *matrix, int first, int count, ss_rigid_block *block)
{
    *block = (ss_rigid_block){.body = {SS_WORLD, SS_WORLD}};
    for (int j = 0; j < count; j++) {
        for (int at = matrix->start[first + j]; at < matrix->start[first + j + 1]; at++) {
            if (matrix->value[at] == 0.0) continue;
            int body = matrix->row[at] / 6, k = 0;
            while (k < 2 && k < block->bodies && block->body[k] != body) k++;
            if (k == 2 || k == block->bodies)
                k = block->bodies++; // another body; a third one is only counted
            if (k >= 2) continue;
            block->body[k] = body;
            block->column[k][j][matrix->row[at] % 6] = matrix->value[at];
        }
    }
    if (block->bodies != 2 || block->body[0] < block->body[1]) return;

    /* The body with the lower number first. */
    double held[5][6];
    memcpy(held, block->column[0], sizeof held);
    memcpy(block->column[0], block->column[1], sizeof held);
    memcpy(block->column[1], held, sizeof held);
    int body = block->body[0];
    block->body[0] = block->body[1];
    block->body[1] = body;
}

static ss_mat3 part(double column[5][6], int from)
{
    return ss_mat3_from_columns(ss_vec3_load(column[0] + from), ss_vec3_load(column[1] + from),
                                ss_vec3_load(column[2] + from));
}

/* ---- deviations from a rigid contact -------------------------------------------------------------- */

/* How many contacts deviate, and how much. */
typedef struct deviation {
    int count, worst;
    double largest;
} deviation;

static void note(deviation *of, int contact, double size, double allowed)
{
    of->count += !(size <= allowed);
    if (!(size <= of->largest)) {
        of->largest = size;
        of->worst = contact;
    }
}

typedef struct survey {
    deviation skewed;  // |Q'Q - 1|
    deviation apart;   // |Q_a + Q_b|
    deviation bent;    // symmetric part of A Q'
    deviation rolling; // moment columns against the tangents
    double longest;    // largest entry of any A
} survey;

static double skewness(ss_mat3 Q)
{
    ss_mat3 gram = ss_mat3_multiply(ss_mat3_transpose(Q), Q);
    return ss_mat3_max_abs(ss_mat3_add_scaled(gram, -1.0, ss_mat3_identity()));
}

static void survey_contact(const ss_cone *cone, int contact, ss_rigid_block *block, survey *found)
{
    for (int k = 0; k < block->bodies; k++) {
        double(*column)[6] = block->column[k];
        ss_mat3 Q = part(column, 0), A = part(column, 3);
        ss_mat3 uneven = ss_mat3_symmetric_part(ss_mat3_multiply(A, ss_mat3_transpose(Q)));
        note(&found->skewed, contact, skewness(Q), SS_RIGID);
        note(&found->bent, contact, ss_mat3_max_abs(uneven), SS_RIGID * found->longest);
        if (cone->dimension != 5) continue;

        /* Columns M1, M2 must be (0, t1) and (0, t2). */
        double largest = 0.0;
        for (int j = 0; j < 2; j++) {
            for (int i = 0; i < 3; i++) {
                largest = fmax(largest, fabs(column[3 + j][i]));
                largest = fmax(largest, fabs(column[3 + j][3 + i] - column[1 + j][i]));
            }
        }
        note(&found->rolling, contact, largest, SS_RIGID);
    }
    if (block->bodies == 2) {
        ss_mat3 sum = ss_mat3_add_scaled(part(block->column[0], 0), 1.0, part(block->column[1], 0));
        note(&found->apart, contact, ss_mat3_max_abs(sum), SS_RIGID);
    }
}

static bool judge(const survey *found, int contacts, ss_error *err)
{
    const deviation *skewed = &found->skewed, *bent = &found->bent;
    const deviation *apart = &found->apart, *rolling = &found->rolling;
    if (skewed->count)
        return ss_fail(
            err, SS_ERROR_INPUT,
            "H: the contact frames of %d of %d contacts are not orthonormal (Q'Q differs from 1 by up to "
            "%.2g, contact %d), so their friction is not that of a frame",
            skewed->count, contacts, skewed->largest, skewed->worst);
    if (apart->count)
        return ss_fail(
            err, SS_ERROR_INPUT,
            "H: in %d of %d contacts the directions on the two bodies are not opposite (up to %.2g, "
            "contact %d)",
            apart->count, contacts, apart->largest, apart->worst);
    if (bent->count)
        return ss_fail(
            err, SS_ERROR_INPUT,
            "H: the lever arms of %d of %d contacts are not those of a rigid body in the world frame "
            "(symmetric part of A Q' up to %.2g of %.2g, contact %d); Siconos stores them in the frame of "
            "the body, which cannot be recovered from H",
            bent->count, contacts, bent->largest, found->longest, bent->worst);
    if (rolling->count)
        return ss_fail(
            err, SS_ERROR_INPUT,
            "H: in %d of %d contacts the rolling directions are not the tangents in the world frame (up to "
            "%.2g, contact %d)",
            rolling->count, contacts, rolling->largest, rolling->worst);
    return true;
}

/* ---- reading -------------------------------------------------------------------------------------- */

static bool has_no_tangents(const ss_cone *cone, int contact)
{
    int first = contact * cone->dimension;
    for (int at = cone->H->start[first + 1]; at < cone->H->start[first + cone->dimension]; at++) {
        if (cone->H->value[at] != 0.0) return false;
    }
    return true;
}

static void read_contact(ss_rigid_block *block, ss_rigid_contact *contact)
{
    *contact = (ss_rigid_contact){.pair = {SS_WORLD, SS_WORLD}};
    for (int k = 0; k < block->bodies; k++) {
        ss_mat3 Q = part(block->column[k], 0);
        bool is_b = ss_mat3_determinant(Q) > 0.0;
        ss_mat3 K = ss_mat3_multiply(part(block->column[k], 3), ss_mat3_transpose(Q)); // [r]x
        ss_vec3 r = {K.m[2][1] - K.m[1][2], K.m[0][2] - K.m[2][0], K.m[1][0] - K.m[0][1]};
        r = ss_vec3_scale(0.5, r);
        double sign = is_b ? 1.0 : -1.0;
        contact->pair[is_b] = block->body[k];
        contact->normal = ss_vec3_scale(sign, ss_mat3_column(&Q, 0));
        contact->tangent = ss_vec3_scale(sign, ss_mat3_column(&Q, 1));
        if (is_b)
            contact->r_b = r;
        else
            contact->r_a = r;
    }
}

bool ss_rigid_contacts_read(const ss_cone *cone, ss_rigid_contact *contacts, ss_findings *findings,
                            ss_error *err)
{
    survey found = {.longest = 0.0};
    for (int c = 0; c < cone->contacts; c++) {
        int first = c * cone->dimension;
        for (int at = cone->H->start[first]; at < cone->H->start[first + 3]; at++)
            if (cone->H->row[at] % 6 >= 3) found.longest = fmax(found.longest, fabs(cone->H->value[at]));
    }
    for (int c = 0; c < cone->contacts; c++) {
        ss_rigid_block block;
        ss_rigid_block_read(cone->H, c * cone->dimension, cone->dimension, &block);
        if (block.bodies < 1 || block.bodies > 2)
            return ss_fail(err, SS_ERROR_INPUT, "H: contact %d acts on %d bodies, must be one or two", c,
                           block.bodies);
        contacts[c].is_limit = has_no_tangents(cone, c);
        if (contacts[c].is_limit) continue;
        survey_contact(cone, c, &block, &found);
        read_contact(&block, &contacts[c]);
    }
    if (!judge(&found, cone->contacts, err)) return false;

    /* Deviations beyond rounding that are small enough to pass. */
    static const double rounding = 1e-12;
    double frames = fmax(found.skewed.largest, found.apart.largest);
    double arms = found.longest > 0.0 ? found.bent.largest / found.longest : 0.0;
    if (frames > rounding)
        ss_findings_add(
            findings, SS_FINDING_WARNING, "/fclib_global/H",
            "contact frames are orthonormal within %.2g only; the second tangent is taken as n x t1", frames);
    if (arms > rounding)
        ss_findings_add(findings, SS_FINDING_WARNING, "/fclib_global/H",
                        "lever arms are those of rigid bodies within %.2g of the longest only", arms);
    return true;
}

bool ss_rigid_skewness(const ss_cone *cone, int *skewed, int *worst, double *largest)
{
    /* No entry outside the 6 x 6 blocks: nodes of finite elements are not bodies. */
    if (cone->form != SS_CONE_GLOBAL || cone->dimension == 2 || cone->dofs % 6 != 0) return false;
    for (int j = 0; j < cone->dofs; j++)
        for (int at = cone->M->start[j]; at < cone->M->start[j + 1]; at++)
            if (cone->M->value[at] != 0.0 && cone->M->row[at] / 6 != j / 6) return false;

    deviation found = {0};
    for (int c = 0; c < cone->contacts; c++) {
        ss_rigid_block block;
        if (has_no_tangents(cone, c)) continue;
        ss_rigid_block_read(cone->H, c * cone->dimension, cone->dimension, &block);
        double size = 0.0;
        for (int k = 0; k < block.bodies && k < 2; k++) size = fmax(size, skewness(part(block.column[k], 0)));
        note(&found, c, size, SS_RIGID);
    }
    *skewed = found.count;
    *worst = found.worst;
    *largest = found.largest;
    return true;
}

/* ---- positions ------------------------------------------------------------------------------------ */

/* A forest of bodies whose relative positions are known: offset[b] = x_b - x_parent(b). */
typedef struct forest {
    int *parent;
    ss_vec3 *offset;
} forest;

/* The root of b, with offset[b] relative to it afterwards. */
static int find_root(forest *trees, int b)
{
    int root = b;
    ss_vec3 total = {0.0, 0.0, 0.0};
    while (trees->parent[root] != root) {
        total = ss_vec3_add(total, trees->offset[root]);
        root = trees->parent[root];
    }
    while (trees->parent[b] != root) {
        int next = trees->parent[b];
        ss_vec3 rest = ss_vec3_subtract(total, trees->offset[b]);
        trees->parent[b] = root;
        trees->offset[b] = total;
        total = rest;
        b = next;
    }
    return root;
}

/* Trees by x_b - x_a = r_a - r_b of the contacts. Returns how far the lever arms are from meeting, that is
 * from what earlier contacts say, relative to their size. */
static double join_all(forest *trees, const ss_rigid_contact *contacts, int count)
{
    double worst = 0.0, size = 0.0;
    for (int c = 0; c < count; c++) {
        const ss_rigid_contact *contact = &contacts[c];
        int a = contact->pair[0], b = contact->pair[1];
        if (contact->is_limit || a == SS_WORLD || b == SS_WORLD) continue;
        int root_a = find_root(trees, a), root_b = find_root(trees, b);
        ss_vec3 wanted = ss_vec3_subtract(contact->r_a, contact->r_b);
        ss_vec3 step = ss_vec3_subtract(ss_vec3_add(trees->offset[a], wanted), trees->offset[b]);
        if (root_a == root_b) {
            worst = fmax(worst, ss_vec3_norm(step));
        } else {
            trees->parent[root_b] = root_a;
            trees->offset[root_b] = step;
        }
        size = fmax(size, fmax(ss_vec3_max_abs(contact->r_a), ss_vec3_max_abs(contact->r_b)));
    }
    return size > 0.0 ? worst / size : 0.0;
}

bool ss_rigid_positions(const ss_rigid_contact *contacts, int count, int bodies, double (*position)[3],
                        bool *meet, ss_error *err)
{
    forest trees = {.parent = ss_allocate((size_t)bodies, sizeof(int)),
                    .offset = ss_allocate((size_t)bodies, sizeof(ss_vec3))};
    bool good = trees.parent && trees.offset;
    if (good) {
        for (int b = 0; b < bodies; b++) trees.parent[b] = b;
        *meet = join_all(&trees, contacts, count) <= 1e-12; // rounding of a long chain
        for (int b = 0; b < bodies; b++) {
            find_root(&trees, b);
            ss_vec3_store(trees.offset[b], position[b]);
        }
    }
    ss_release(trees.parent);
    ss_release(trees.offset);
    return good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the positions of %d bodies", bodies);
}
