/* Which series is the best in each scene: the one that is good everywhere is not the best everywhere. */
#include "campaign/statistics_internal.h"

#include <math.h>
#include <string.h>

bool ss_statistics_find_scenes(ss_statistics_work *work)
{
    ss_stretch *list = ss_arena_take(work->scratch, (size_t)work->slots, sizeof *list, "scenes");
    int count = 0;
    if (!list) return false;
    for (int p = 0; p < work->results->problem_count; p++) {
        const char *scene = work->results->problems[p].scene;
        int slot = work->slot[p];
        if (slot < 0) continue;
        if (count == 0 || strcmp(list[count - 1].name, scene) != 0)
            list[count++] = (ss_stretch){.name = scene, .begin = slot};
        list[count - 1].end = slot + 1;
    }
    work->scenes = list;
    work->scene_count = count;
    return true;
}

/* What one series does there. */
static ss_scene_score judge(const ss_statistics_work *work, const ss_statistics *made, int series,
                            const ss_stretch *where, int tolerance)
{
    int row = ss_statistics_row(work, &made->series[series]), machine = made->series[series].machine;
    const double *costs = ss_statistics_costs(work, tolerance, row);
    ss_scene_score score = {.series = series};
    for (int s = where->begin; s < where->end; s++)
        if (!isnan(costs[s])) work->values[score.solved++] = costs[s];
    score.cost_solved = ss_shifted_geometric_mean(work->values, score.solved, work->options->shift);
    int common =
        ss_statistics_penalised(work, tolerance, row, machine, where->begin, where->end, work->values);
    score.cost = score.solved ? ss_shifted_geometric_mean(work->values, common, work->options->shift) : NAN;
    return score;
}

bool ss_statistics_scenes(const ss_statistics_work *work, ss_statistics *made)
{
    int count = made->series_count > 0 ? work->scene_count : 0;
    size_t tolerances = (size_t)work->options->tolerance_count;
    made->scenes = ss_arena_take(work->arena, (size_t)count, sizeof *made->scenes, "scenes");
    if (!made->scenes) return false;
    made->scene_count = count;
    for (int i = 0; i < count; i++) {
        const ss_stretch *where = &work->scenes[i];
        ss_scene_standing *scene = &made->scenes[i];
        size_t size = strlen(where->name) + 1;
        scene->problems = where->end - where->begin;
        scene->name = ss_arena_take(work->arena, size, 1, "scene");
        scene->best = ss_arena_take(work->arena, tolerances, sizeof *scene->best, "scene");
        scene->first = ss_arena_take(work->arena, tolerances, sizeof *scene->first, "scene");
        if (!scene->name || !scene->best || !scene->first) return false;
        memcpy(scene->name, where->name, size);

        // Series stand in their order, so that of equal ones the first counts. Costs on different machines do
        // not compare.
        for (int t = 0; t < work->options->tolerance_count; t++) {
            ss_scene_score best = {.series = -1, .cost = NAN, .cost_solved = NAN};
            for (int pass = 0; pass < 2 && best.series < 0; pass++) // first those to recommend, then all
                for (int k = 0; k < made->series_count; k++) {
                    if (pass == 0 && !ss_statistics_may_recommend(work, made, t, k)) continue;
                    ss_scene_score score = judge(work, made, k, where, t);
                    bool same =
                        best.series >= 0 && made->series[k].machine == made->series[best.series].machine;
                    if (ss_statistics_is_before(score.solved, same ? score.cost : NAN, best.solved,
                                                best.cost))
                        best = score;
                }
            int usual = made->advice[t].series;
            scene->best[t] = best;
            scene->first[t] = judge(work, made, usual < 0 ? 0 : usual, where, t);
        }
    }
    return true;
}
