#include "formulation/problem_builder.h"

#include "problem/bodies_form.h"

#include <limits.h>
#include <string.h>

static void copy(void *to, const void *from, int count, size_t size)
{
    if (count) memcpy(to, from, (size_t)count * size);
}

/* ---- rows and blocks -------------------------------------------------------------------------------- */

/* A new unknown, whose Jacobian is still to be written. */
static int add_row(ss_problem_builder *builder, const int pair[2], double compliance, double offset)
{
    ss_bodies_form *form = builder->problem->bodies;
    int i = builder->size++;
    memcpy(form->pair[i], pair, sizeof form->pair[i]);
    form->compliance[i] = compliance;
    form->offset[i] = offset;
    return i;
}

int ss_builder_add(ss_problem_builder *builder, const int pair[2], const double jacobian[12],
                   double compliance, double offset)
{
    int i = add_row(builder, pair, compliance, offset);
    memcpy(builder->problem->bodies->jacobian[i], jacobian, 12 * sizeof *jacobian);
    return i;
}

int ss_builder_add_normal(ss_problem_builder *builder, const ss_contact_row *contact)
{
    int i = add_row(builder, contact->pair, contact->compliance, contact->offset);
    ss_contact_sliding_row(contact, contact->normal, builder->problem->bodies->jacobian[i]);
    return i;
}

int ss_builder_add_spin(ss_problem_builder *builder, const ss_contact_row *contact, int normal)
{
    double row[12];
    ss_contact_turning_row(contact, contact->normal, row);
    int i = ss_builder_add(builder, contact->pair, row, 0.0, 0.0);
    builder->problem->partner[i] = normal;
    builder->problem->factor[i] = contact->mu_torsion;
    return i;
}

void ss_builder_add_contact(ss_problem_builder *builder, const ss_contact_row *contact)
{
    const ss_vec3 direction[3] = {contact->normal, contact->tangent[0], contact->tangent[1]};
    for (int k = 0; k < 3; k++) {
        int i = add_row(builder, contact->pair, k == 0 ? contact->compliance : 0.0,
                        k == 0 ? contact->offset : ss_vec3_dot(direction[k], contact->surface));
        ss_contact_sliding_row(contact, direction[k], builder->problem->bodies->jacobian[i]);
    }
}

int ss_builder_add_tangent(ss_problem_builder *builder, const ss_contact_row *contact, ss_vec3 direction)
{
    int i = add_row(builder, contact->pair, 0.0, ss_vec3_dot(direction, contact->surface));
    ss_contact_sliding_row(contact, direction, builder->problem->bodies->jacobian[i]);
    return i;
}

void ss_builder_close(ss_problem_builder *builder, ss_block like)
{
    like.first = builder->first;
    like.size = builder->size - like.first;
    builder->first = builder->size;
    builder->problem->blocks[builder->blocks++] = like;
}

bool ss_builder_start(ss_problem_store *store, const ss_rows *rows, int64_t unknowns, int64_t blocks,
                      ss_problem_builder *builder, ss_error *err)
{
    int64_t size = rows->joint_count + unknowns;
    *builder = (ss_problem_builder){.rows = rows};
    if (size > INT_MAX)
        return ss_fail(err, SS_ERROR_RESOURCES, "%d contacts have more unknowns than can be counted",
                       rows->contact_count);
    int most_blocks = (int)(rows->joint_count + blocks);
    builder->problem =
        ss_problem_store_take(store, (int)size, most_blocks, rows->body_count, ss_rows_team(rows), err);
    ss_problem *problem = builder->problem;
    if (!problem) return false;
    ss_bodies_form *form = problem->bodies;
    copy(form->inverse_mass, rows->inverse_mass, rows->body_count, sizeof *form->inverse_mass);
    copy(form->inverse_inertia, rows->inverse_inertia, rows->body_count, sizeof *form->inverse_inertia);
    copy(form->free_velocity, rows->velocity, rows->body_count, sizeof *form->free_velocity);

    /* Neighbours of one joint under one law form a block. */
    for (int r = 0; r < rows->joint_count; r++) {
        const ss_joint_row *joint = &rows->joint[r], *next = r + 1 < rows->joint_count ? joint + 1 : NULL;
        int i = ss_builder_add(builder, joint->pair, joint->jacobian, joint->compliance, joint->offset);
        problem->lower[i] = joint->lower;
        problem->upper[i] = joint->upper;
        problem->partner[i] = joint->partner;
        problem->factor[i] = joint->factor;
        if (!next || next->joint != joint->joint || next->law != joint->law)
            ss_builder_close(builder,
                             (ss_block){.law = joint->law, .contact = -1, .constraint = joint->joint});
    }

    /* Their further blocks: joint rows are the first unknowns, in the same order. */
    int further = rows->further_count;
    if (further == 0) return true;
    if (!ss_bodies_form_add_further(form, problem->size, further))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for rows on more than two bodies");
    for (int i = 0; i < problem->size; i++)
        form->further_start[i + 1] =
            form->further_start[i] + (i < rows->joint_count ? rows->joint[i].further_count : 0);
    copy(form->further_body, rows->further_body, further, sizeof *form->further_body);
    copy(form->further_jacobian, rows->further_jacobian, further, sizeof *form->further_jacobian);
    return true;
}

/* ---- b and the diagonal ----------------------------------------------------------------------------- */

/* The diagonal in the order in which ss_problem_need_matrix adds, so that both have the same bits. */
static void finish_rows(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_problem *problem = context;
    ss_bodies_form *form = problem->bodies;
    for (int i = (int)begin; i < end; i++) {
        problem->b[i] = ss_bodies_row(form, i, form->free_velocity) + form->offset[i];
        double sum = form->compliance[i];
        const double *block;
        for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
            if (body < 0) continue;
            double response[6];
            ss_bodies_push_one(form, body, block, response);
            sum += ss_bodies_product(block, response);
        }
        problem->diagonal[i] = sum;
    }
}

bool ss_builder_finish(ss_problem_builder *builder, ss_error *err)
{
    const ss_rows *rows = builder->rows;
    ss_problem *problem = builder->problem;
    problem->size = builder->size;
    problem->block_count = builder->blocks;
    problem->symmetric = true;
    if (rows->minimal) {
        ss_coordinates *coordinates = (ss_coordinates *)(uintptr_t)&rows->coordinates; // its scratch
        if (!ss_coordinates_transform(coordinates, rows->frame_body, problem, err)) return false;
    }
    ss_parallel_for(ss_rows_team(rows), problem->size, 3 * SS_ROWS_AT_ONCE, finish_rows, problem);
    return true;
}
