#include "solver/newton/row_groups.h"

#include <string.h>

#include "base/memory.h"

/* Two numbers at a time: a twist is three pairs. */
typedef double pair __attribute__((vector_size(16)));
typedef struct twist {
    pair part[3];
} twist;

static inline pair load_pair(const double *from)
{
    pair two;
    memcpy(&two, from, sizeof two);
    return two;
}

static inline twist load_twist(const double *from)
{
    return (twist){{load_pair(from), load_pair(from + 2), load_pair(from + 4)}};
}

static inline void store_twist(const twist *from, double *to)
{
    memcpy(to, from, sizeof *from);
}

bool ss_row_groups_create(const ss_newton_space *space, ss_arena *arena, ss_row_groups *groups)
{
    const ss_newton_levers *levers = space->levers;
    *groups = (ss_row_groups){.space = space};
    if (!levers) return true;
    groups->items = ss_arena_take_unset(arena, (size_t)space->size, sizeof *groups->items, "bodies of rows");
    if (!groups->items) return false;
    ss_row_group *last = NULL;
    for (int i = 0; i < space->size; i++) {
        const int *body = levers->pair[i];
        if (last && body[0] == last->body[0] && body[1] == last->body[1]) {
            last->count++;
        } else {
            last = &groups->items[groups->count++];
            *last = (ss_row_group){i, 1, {body[0], body[1]}};
        }
    }
    return true;
}

static inline void push_side(const double *lever, const double *amount, int count, double *v)
{
    twist sum = load_twist(v);
    for (int k = 0; k < count; k++, lever += 12) {
        for (int d = 0; d < 3; d++) sum.part[d] += load_pair(lever + 2 * d) * amount[k];
    }
    store_twist(&sum, v);
}

void ss_row_groups_push(const ss_row_groups *groups, const double *amount, double (*v)[6])
{
    const ss_newton_levers *levers = groups->space->levers;
    for (int s = 0; s < groups->count; s++) {
        const ss_row_group *at = &groups->items[s];
        for (int side = 0; side < 2; side++) {
            if (at->body[side] < 0) continue;
            push_side(levers->lever[at->first] + 6 * side, amount + at->first, at->count, v[at->body[side]]);
        }
    }
}

static inline pair pull_side(const double *lever, const twist *v)
{
    return load_pair(lever) * v->part[0] + load_pair(lever + 2) * v->part[1] +
           load_pair(lever + 4) * v->part[2];
}

void ss_row_groups_pull(const ss_row_groups *groups, double (*v)[6], double *speed)
{
    static const double still[6];
    const ss_newton_levers *levers = groups->space->levers;
    for (int s = 0; s < groups->count; s++) {
        const ss_row_group *at = &groups->items[s];
        twist a = load_twist(at->body[0] < 0 ? still : v[at->body[0]]);
        twist b = load_twist(at->body[1] < 0 ? still : v[at->body[1]]);
        for (int i = at->first; i < at->first + at->count; i++) {
            pair sum = pull_side(levers->lever[i], &a) + pull_side(levers->lever[i] + 6, &b);
            speed[i] = sum[0] + sum[1];
        }
    }
}

void ss_row_groups_apply(const ss_row_groups *groups, const double *r, double *u)
{
    const ss_newton_space *space = groups->space;
    const ss_newton_levers *levers = space->levers;
    if (!levers) {
        ss_newton_space_apply(space, r, u);
        return;
    }
    memset(levers->velocity, 0, (size_t)levers->bodies * sizeof *levers->velocity);
    ss_row_groups_push(groups, r, levers->velocity);
    ss_row_groups_pull(groups, levers->velocity, u);
    for (int i = 0; i < space->size; i++) u[i] += levers->compliance[i] * r[i];
}

void ss_row_groups_velocity(const ss_row_groups *groups, const double *r, double *u)
{
    const ss_newton_space *space = groups->space;
    ss_row_groups_apply(groups, r, u);
    for (int i = 0; i < space->size; i++) u[i] += space->q[i];
}

void ss_row_group_square(const ss_row_group *group, const ss_newton_levers *levers, const double *T, int a,
                         int b, double *block)
{
    const double *left = levers->lever[group->first] + 6 * a;
    const double *right = levers->lever[group->first] + 6 * b;
    for (int i = 0; i < 6; i++) {
        twist sum = load_twist(block + 6 * i);
        for (int k = 0; k < group->count; k++) {
            double factor = T[k] * left[12 * k + i];
            for (int d = 0; d < 3; d++) sum.part[d] += factor * load_pair(right + 12 * k + 2 * d);
        }
        store_twist(&sum, block + 6 * i);
    }
}
