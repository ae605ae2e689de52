/* What a solver made of a frame: solver_data/<solver>. */
#include "dataset/writer.h"

#include "dataset/certificate_store.h"

#include <math.h>
#include <string.h>

bool ss_writer_is_name(const char *name)
{
    return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool put_array(const ss_h5_group *group, const char *name, int items, uint64_t width, uint64_t columns,
                      const void *values, ss_error *err)
{
    if (!values || items == 0) return true;
    return ss_h5_write_table(group, name, SS_H5_F64, (uint64_t)items * width / columns, columns, values, err);
}

static bool put_impulses(const ss_h5_group *group, const char *name, int items, uint64_t columns,
                         const void *values, ss_error *err)
{
    if (!values || items == 0) return true;
    return put_array(group, name, items, columns, columns, values, err) &&
           ss_h5_mark(group, name, "unit", "impulse", err);
}

static bool put_answer(const ss_h5_group *group, const ss_answer *answer, ss_error *err)
{
    if (!answer) return true;

    /* Which alternatives were selected, and the impulses of points that are not contacts. Nothing, where the
     * frame was solved as an ordinary one. */
    bool selects = false, carries = false;
    for (int g = 0; g < answer->groups; g++) selects |= answer->selection[g] >= 0;
    for (int r = 0; answer->sub_normal_impulse && r < answer->subcontacts; r++)
        carries |= answer->sub_normal_impulse[r] != 0.0;
    if (selects && !ss_h5_write_table(group, "selection", SS_H5_I32, (uint64_t)answer->groups, 1,
                                      answer->selection, err))
        return false;
    if ((selects || carries) &&
        (!put_impulses(group, "sub_normal", answer->subcontacts, 1, answer->sub_normal_impulse, err) ||
         !put_impulses(group, "sub_tangent", answer->subcontacts, 3, answer->sub_friction_impulse, err) ||
         !put_impulses(group, "sub_rolling", answer->subcontacts, 3, answer->sub_rolling_impulse, err)))
        return false;

    bool in_coordinates = answer->coordinates > 0 && !isnan(answer->generalized_velocity[0]);
    return put_array(group, "velocities", answer->bodies, 6, 1, answer->velocity, err) &&
           (!in_coordinates || put_array(group, "generalized_velocities", answer->coordinates, 1, 1,
                                         answer->generalized_velocity, err)) &&
           put_impulses(group, "lambda", answer->rows, 1, answer->row_impulse, err) &&
           put_impulses(group, "normal", answer->contacts, 1, answer->normal_impulse, err) &&
           put_impulses(group, "tangent", answer->contacts, 3, answer->friction_impulse, err) &&
           put_impulses(group, "rolling", answer->contacts, 3, answer->rolling_impulse, err);
}

static bool put_known_number(const ss_h5_group *group, const char *name, double value, ss_error *err)
{
    return isnan(value) || ss_h5_write(group, name, SS_H5_F64, 0, NULL, &value, err);
}

static bool put_measures(const ss_h5_group *group, const ss_stored_result *result, ss_error *err)
{
    if (result->measure_count == 0) return true;
    ss_h5_group metrics;
    if (!ss_h5_make_group(group, "metrics", &metrics, err)) return false;
    bool ok = true;
    for (int m = 0; ok && m < result->measure_count; m++) {
        const ss_measure *measure = &result->measures[m];
        ok = ss_writer_is_name(measure->name)
                 ? put_array(&metrics, measure->name, measure->count, 1, 1, measure->values, err)
                 : ss_fail(err, SS_ERROR_USAGE, "%s: %s: metric %d has no valid name", metrics.file,
                           metrics.path, m);
    }
    ss_h5_leave_group(&metrics);
    return ok;
}

bool ss_writer_put_result(const ss_h5_group *frame, const ss_stored_result *result, ss_error *err)
{
    ss_h5_group all, group = {.id = -1};
    bool opened = ss_h5_has(frame, "solver_data") ? ss_h5_enter_group(frame, "solver_data", &all, err)
                                                  : ss_h5_make_group(frame, "solver_data", &all, err);
    if (!opened) return false;

    /* The rules the answer was made by are attributes of its group. */
    bool ok = ss_h5_make_group(&all, result->solver, &group, err) &&
              (!result->formulation ||
               ss_h5_write_text_attribute(&group, "formulation", result->formulation, err)) &&
              (!result->with || ss_h5_write_text_attribute(&group, "with", result->with, err)) &&
              put_answer(&group, result->answer, err);

    /* How the run went, as far as it is known. */
    int32_t iterations = result->iterations;
    ok = ok && put_array(&group, "errors", result->error_count, 1, 1, result->errors, err) &&
         (iterations < 0 || ss_h5_write(&group, "iterations", SS_H5_I32, 0, NULL, &iterations, err)) &&
         put_known_number(&group, "error", result->error, err) &&
         put_known_number(&group, "time", result->seconds, err) && put_measures(&group, result, err) &&
         (!result->certificate || ss_writer_put_certificate(&group, result, err));
    ss_h5_leave_group(&group);
    ss_h5_leave_group(&all);
    return ok;
}

bool ss_writer_judged_result(ss_writer *writer, const ss_stored_result *result, const ss_assembly *assembly,
                             const ss_metric_value *metrics, const ss_contact_report *contacts, ss_error *err)
{
    int count = result->answer->contacts, measures = 0;
    ss_measure *measure = ss_allocate((size_t)ss_metric_count() + 1, sizeof *measure);
    double *energy = ss_allocate((size_t)count, sizeof *energy);
    char with[SS_RULES_LENGTH];
    bool good = (measure && energy) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for results");
    for (int i = 0; good && metrics && i < ss_metric_count(); i++) {
        if (metrics[i].applies)
            measure[measures++] = (ss_measure){(char *)(uintptr_t)ss_metric_at(i)->name,
                                               (double *)(uintptr_t)&metrics[i].value, 1};
    }
    for (int c = 0; good && metrics && c < count; c++) energy[c] = contacts[c].energy;
    if (good && metrics && count > 0)
        measure[measures++] = (ss_measure){(char *)(uintptr_t) "contact_energy", energy, count};

    const ss_formulation *formulation = ss_assembly_formulation(assembly);
    ss_options_print(formulation->options, ss_assembly_step(assembly), with, sizeof with);
    ss_stored_result judged = *result;
    judged.formulation = (char *)(uintptr_t)formulation->name;
    judged.with = with;
    judged.measures = measure;
    judged.measure_count = measures;
    good = good && ss_writer_result(writer, &judged, err);
    ss_release(measure);
    ss_release(energy);
    return good;
}
