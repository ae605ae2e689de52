#include "collision/state.h"

#include "base/option_rows.h"

#include <string.h>

const ss_option ss_collision_option_table[] = {
    {SS_ROW_OF(SS_OPTION_REAL, ss_collision_options, margin, "0"), .min = 0.0, .max = 1e300,
     .value_name = "LENGTH",
     .help = "largest gap of a contact, in m; 0 = from the speed, plus 1 % of the size of the smaller shape"},
    SS_ROW_INT(ss_collision_options, reduce, "4", 0, SS_MANIFOLD_MOST,
               "points kept per pair of shapes and normal; 0 = all"),
    {.name = NULL},
};

ss_collision *ss_collision_create(const ss_world *world, const ss_collision_options *options, ss_error *err)
{
    ss_collision_options chosen;
    ss_options_defaults(ss_collision_option_table, &chosen);
    if (options) chosen = *options;
    if (!ss_options_check(ss_collision_option_table, &chosen, err)) return NULL;
    ss_collision *collision = ss_allocate(1, sizeof *collision);
    if (!collision) {
        ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory");
        return NULL;
    }
    collision->world = world;
    collision->options = chosen;
    return collision;
}

void ss_collision_destroy(ss_collision *collision)
{
    if (!collision) return;
    ss_bvh_free(&collision->tree);
    ss_release(collision->proxies);
    ss_release(collision->places);
    ss_release(collision->fat);
    ss_release(collision->tight);
    ss_release(collision->balls);
    ss_release(collision->planes);
    ss_release(collision->moved);
    ss_release(collision->has_moved);
    ss_release(collision->buckets);
    ss_release(collision->pairs.items);
    ss_release(collision->fresh.items);
    ss_release(collision->spare.items);
    ss_release(collision->near);
    ss_release(collision->margins);
    ss_release(collision->results);
    for (int w = 0; w < collision->store_count; w++) ss_release(collision->stores[w].items);
    ss_release(collision->stores);
    ss_release(collision->contacts.items);
    ss_group_list_free(&collision->groups);
    ss_release(collision->kept);
    ss_release(collision->kept_next);
    ss_release(collision->slots);
    ss_release(collision);
}

bool ss_collision_find(ss_collision *collision, double h, ss_team *team, ss_contact_list *contacts,
                       ss_error *err)
{
    double start = ss_clock_seconds();
    collision->h = h;
    if (!ss_proxies_update(collision, !(h > 0.0), team, err) || !ss_pairs_update(collision, err))
        return false;
    double middle = ss_clock_seconds();
    if (!ss_contacts_find(collision, team, err)) return false;
    collision->work.broad_seconds = middle - start;
    collision->work.narrow_seconds = ss_clock_seconds() - middle;
    *contacts = collision->contacts;
    return true;
}

ss_collision_work ss_collision_last_work(const ss_collision *collision)
{
    return collision->work;
}

bool ss_collision_replace(ss_collision *collision, ss_shape_kind a, ss_shape_kind b,
                          ss_pair_function *function, void *context, ss_error *err)
{
    if ((int)a < 0 || (int)b >= SS_SHAPE_KINDS || a > b)
        return ss_fail(err, SS_ERROR_USAGE,
                       "collision: a pair function is for two kinds of shapes in the order of ss_shape_kind");
    collision->replaced[a][b] = (ss_replacement){function, context};
    collision->kept_count = 0; // by another function
    return true;
}
