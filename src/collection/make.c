#include "collection/make.h"

#include "campaign/features.h"
#include "campaign/read_input.h"
#include "dataset/fclib_answer.h"
#include "dataset/proof_file.h"
#include "dataset/stamp.h"
#include "report/picture.h"

#include <stickslip/diagnosis.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PICTURE_WIDTH = 240, PICTURE_HEIGHT = 160 };
#define LARGEST_DIAGNOSED 2000 /* contacts */
#define SLIDING_SPEED 1e-6     /* of the largest free velocity */

typedef struct maker {
    const ss_making *making;
    const ss_sequence *sequence;
    ss_prover *prover; /* opened for the first proof */
    ss_writer *writer;
    ss_text *csv;
    char file[SS_FILE_PATH], path[2 * SS_FILE_PATH + 2];
    int frames; /* written so far */
} maker;

void ss_sequence_file(const ss_sequence *sequence, char *file, size_t size)
{
    const char *dot = sequence->source ? strrchr(sequence->source, '.') : NULL;
    snprintf(file, size, "%s/%s%s", sequence->family, sequence->name, dot ? dot : ".h5");
}

/* ---- proofs ----------------------------------------------------------------------------------------- */

static ss_prover *prover_of(maker *m, ss_error *err)
{
    ss_prover_options options = {.exact_unknowns = SS_EXACT_UNKNOWNS};
    if (!m->prover) m->prover = ss_prover_create(&options, err);
    if (m->prover) ss_prover_watch(m->prover, m->making->cancel);
    return m->prover;
}

static bool is_cancelled(const maker *m)
{
    return m->making->cancel && *m->making->cancel;
}

/* Is it known why there is no proof: because there is no solution? The reason in words, in *why. */
static bool has_no_solution(const ss_diagnosis *diagnosis, char *why, size_t size)
{
    for (int i = 0; i < diagnosis->count; i++) {
        const ss_complaint *complaint = &diagnosis->items[i];
        if (complaint->severity != SS_SEVERITY_FATAL) continue;
        snprintf(why, size, "%s: %s", ss_defect_name(complaint->defect), complaint->message);
        return true;
    }
    return false;
}

void ss_row_certificate(const ss_certificate *own, ss_collection_row *row)
{
    row->level = own ? ss_certificate_level_name(own->level) : ss_certificate_level_name(SS_CERTIFIED_NOT);
    row->reason = own ? own->reason : "no method accepts the problem";
    row->bound = row->relative = row->agreed = row->sliding = row->open = row->certain = NAN;
    if (!own) return;
    row->bound = fmax(fmax(own->bound, own->spin_speed), own->joint_bound);
    row->relative = own->scale > 0.0 ? row->bound / own->scale : NAN;
    row->solver = own->solver;
    row->second = own->second;
    if (own->second[0]) row->agreed = own->agreed;

    // An impulse at the limit of friction alone is no sliding: where impulses are not unique, those of a body
    // at rest may be there. The margin of a sliding contact is its speed.
    int of_state[4] = {0}, certain = 0, sliding = 0;
    for (int c = 0; c < own->contacts; c++) {
        const ss_certified_contact *contact = &own->contact[c];
        of_state[contact->state]++;
        certain += contact->certain;
        sliding += contact->state == SS_CERTIFIED_SLIP && contact->margin > SLIDING_SPEED * own->scale;
    }
    int touching = of_state[SS_CERTIFIED_STICK] + of_state[SS_CERTIFIED_SLIP];
    int all = touching + of_state[SS_CERTIFIED_OPEN];
    if (touching) row->sliding = (double)sliding / touching;
    if (all) row->open = (double)of_state[SS_CERTIFIED_OPEN] / all;
    if (all) row->certain = (double)certain / all;
}

void ss_row_features(const ss_problem_entry *entry, ss_collection_row *row)
{
    row->time = entry->time;
    row->h = entry->h;
    row->bodies = entry->bodies;
    row->joints = entry->joints;
    row->rows = entry->rows;
    row->contacts = entry->contacts;
    row->mass_ratio = entry->mass_ratio;
    row->density = entry->density;
    row->rank = entry->rank_ratio;
    row->mu_least = entry->mu_least;
    row->mu_most = entry->mu_most;
}

/* The row of a frame or of a problem without bodies, whose features are known. Without a proof the reason is
 * looked for in the problem. */
static bool add_row(maker *m, const ss_problem_entry *entry, const ss_proof *proof, int index,
                    const ss_problem *problem, bool planar, const char *place, ss_error *err)
{
    const ss_sequence *sequence = m->sequence;
    char id[600], why[400];
    snprintf(id, sizeof id, "%s/%d", sequence->id, index >= 0 ? index : 0);
    ss_collection_row row = {.id = id,
                             .hash = entry->hash,
                             .family = sequence->family,
                             .sequence = sequence->name,
                             .scene = sequence->scene ? sequence->scene : "import",
                             .subset = sequence->small ? "small" : "full",
                             .file = m->file,
                             .place = place,
                             .frame = index,
                             .planar = planar,
                             .solvable = !sequence->unsolvable,
                             .hardness = NAN,
                             .recipe = sequence->digest};
    const ss_certificate *own = proof->certificate;
    ss_row_features(entry, &row);
    ss_row_certificate(own, &row);
    bool proved = own && own->level >= SS_CERTIFIED_BACKWARD;
    if (proved && sequence->unsolvable)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: %s: the recipe says that there is no solution, but one is proved",
                       sequence->where, id);
    if (sequence->unsolvable) row.reason = sequence->why;
    if (!proved && !sequence->unsolvable && problem && entry->contacts <= LARGEST_DIAGNOSED) {
        ss_diagnosis diagnosis;
        bool good = ss_problem_diagnose(problem, NULL, &diagnosis, err);
        if (good && has_no_solution(&diagnosis, why, sizeof why)) {
            row.solvable = 0;
            row.reason = why;
        }
        ss_diagnosis_free(&diagnosis);
        if (!good) return false;
    }
    ss_index_csv_row(m->csv, &row);
    return true;
}

/* The frame that was written last: its proof in the file, and its row. */
static bool prove_frame(maker *m, const ss_frame *frame, ss_error *err)
{
    char place[64];
    ss_problem_entry entry = {0};
    ss_prover *prover = prover_of(m, err);
    const ss_proof *proof = prover ? ss_prove_frame(prover, frame, err) : NULL;
    if (!proof || is_cancelled(m)) return proof != NULL;
    snprintf(place, sizeof place, "/simulation_000001/mbs_frame%06d", m->frames + 1);
    ss_frame_hash(frame, entry.hash);
    return ss_writer_proof(m->writer, proof, false, err) && ss_features_of_frame(frame, &entry, err) &&
           add_row(m, &entry, proof, m->frames++, proof->result ? proof->result->problem : NULL,
                   ss_frame_is_planar(frame), place, err);
}

/* ---- simulated sequences ---------------------------------------------------------------------------- */

static bool open_file(maker *m, const ss_manifest *manifest, ss_error *err)
{
    m->writer = ss_writer_open(m->path, SS_LAYOUT_CANONICAL, false, err);
    return m->writer && ss_writer_simulation(m->writer, manifest, err);
}

static bool close_file(maker *m, ss_error *err)
{
    char label[200];
    ss_writer *writer = m->writer;
    m->writer = NULL;
    ss_recipes_label(m->making->recipes, label, sizeof label);
    return ss_writer_close(writer, err) && ss_stamp_write(m->path, label, err);
}

/* Title, family as keyword, and what would have to be typed to see the same simulation. */
static bool begin_recording(maker *m, const ss_scene_setup *setup, ss_error *err)
{
    const ss_sequence *sequence = m->sequence;
    char toolkit[80];
    ss_text text = {0};
    ss_text_appendf(&text, "stickslip run %s --seed %d", sequence->scene, sequence->seed);
    for (const char **at = sequence->parameters; *at; at++) ss_text_appendf(&text, " -p %s", *at);
    for (const char **at = sequence->settings; *at; at++)
        ss_text_appendf(&text, " --%.*s %s", (int)strcspn(*at, "="), *at, *at + strcspn(*at, "=") + 1);
    if (sequence->units.length > 0.0)
        ss_text_appendf(&text, " --length-unit %.17g --mass-unit %.17g --time-unit %.17g",
                        sequence->units.length, sequence->units.mass, sequence->units.time);
    ss_text_appendf(&text, ", steps %d to %d. %s", sequence->from + 1, sequence->from + sequence->frames,
                    setup->scene->summary);
    snprintf(toolkit, sizeof toolkit, "stickslip %s", ss_version());
    const double *gravity = ss_world_gravity(setup->world);
    ss_manifest manifest = {.toolkit = toolkit,
                            .title = (char *)(uintptr_t)sequence->id,
                            .description = (char *)(uintptr_t)ss_text_get(&text),
                            .keywords = (char *)(uintptr_t)sequence->family,
                            .gravity = {gravity[0], gravity[1], gravity[2]}};
    bool good = !text.out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a sequence");
    good = good && open_file(m, &manifest, err) && ss_writer_world(m->writer, setup->world, err);
    ss_text_free(&text);
    return good;
}

static bool draw(const maker *m, const ss_scene_setup *setup, ss_error *err)
{
    char path[sizeof m->path + 8];
    ss_picture picture = {0};
    const ss_camera *camera = m->sequence->units.length > 0.0 ? NULL : &setup->scene->camera;
    size_t stem = (size_t)(strrchr(m->path, '.') - m->path);
    snprintf(path, sizeof path, "%.*s.png", (int)stem, m->path);
    bool good = ss_picture_draw(setup->world, camera, PICTURE_WIDTH, PICTURE_HEIGHT, &picture, err) &&
                ss_picture_write_png(&picture, path, err);
    ss_picture_free(&picture);
    return good;
}

static bool simulate(maker *m, ss_error *err)
{
    const ss_sequence *sequence = m->sequence;
    char seed[32];
    const char *settings[64];
    int count = 0;
    while (sequence->settings[count]) settings[count] = sequence->settings[count], count++;
    snprintf(seed, sizeof seed, "seed=%d", sequence->seed);
    settings[count++] = seed;
    settings[count++] = "threads=1"; // workers share the cores
    settings[count] = NULL;

    ss_scene_setup setup;
    bool good =
        ss_scene_setup_open(&setup, sequence->scene, sequence->parameters, settings, sequence->units, err);
    for (int step = 0; good && step < sequence->from && !is_cancelled(m); step++)
        good = ss_sim_step(setup.sim, err);
    if (good && !m->making->target) good = draw(m, &setup, err);
    good = good && begin_recording(m, &setup, err);
    for (int k = 0; good && k < sequence->frames && !is_cancelled(m); k++) {
        good = ss_sim_step(setup.sim, err);
        if (m->making->target && m->making->only >= 0 && m->making->only != k) continue;
        const ss_frame *frame = good ? ss_sim_frame(setup.sim) : NULL;
        good = good && ss_writer_frame(m->writer, frame, err) &&
               ss_writer_scenery(m->writer, ss_sim_scenery(setup.sim), err) && prove_frame(m, frame, err);
    }
    if (good && !is_cancelled(m)) good = close_file(m, err);
    ss_scene_setup_close(&setup);
    return good || ss_fail_in(err, "%s: %s", sequence->where, sequence->id);
}

/* ---- imported files --------------------------------------------------------------------------------- */

/* The frames of all simulations of the file as one sequence of repaired frames. A frame with faults is left
 * out: it is no problem that anyone could solve. */
static bool import_frames(maker *m, ss_error *err)
{
    const char *source = m->sequence->source;
    ss_bpmd *file = ss_bpmd_open(source, NULL, NULL, err);
    int count = file ? ss_bpmd_frame_count(file) : 0;
    ss_manifest manifest = {0};
    ss_shapes shapes = {0};
    bool good = file && ss_bpmd_manifest(file, 0, &manifest, err) && open_file(m, &manifest, err) &&
                ss_bpmd_shapes(file, 0, &shapes, NULL, err) &&
                (shapes.count == 0 || ss_writer_shapes(m->writer, shapes.items, shapes.count, err));
    for (int i = 0; good && i < count && !is_cancelled(m); i++) {
        char place[256];
        ss_error fault = {0};
        ss_bpmd_frame_path(file, i, place, sizeof place);
        ss_frame *frame = ss_read_checked_frame(file, i, place, NULL, &fault);
        if (!frame) {
            good = fault.code == SS_ERROR_INPUT || ss_fail(err, fault.code, "%s", fault.message);
            continue;
        }
        bool empty = frame->contacts.count == 0 && frame->constraints.row_count == 0;
        if (!empty) good = ss_writer_frame(m->writer, frame, err) && prove_frame(m, frame, err);
        ss_frame_destroy(frame);
    }
    if (good && !is_cancelled(m) && m->frames == 0)
        good = ss_fail(err, SS_ERROR_INPUT, "%s: holds no frame that can be solved", source);
    if (good && !is_cancelled(m)) good = close_file(m, err);
    ss_shapes_free(&shapes);
    ss_manifest_free(&manifest);
    ss_bpmd_close(file);
    return good;
}

/* FCLIB's problem with its certified answer as the solution: the stored ones are mostly zeros. */
static bool import_problem(maker *m, ss_error *err)
{
    const char *source = m->sequence->source;
    ss_fclib_kind kinds[3];
    char label[200], place[64];
    int count = ss_fclib_kinds(source, kinds, err);
    if (count <= 0) return count == 0 && ss_fail(err, SS_ERROR_INPUT, "%s: holds no problem", source);
    ss_fclib *file = ss_read_checked_problem(source, kinds[0], NULL, NULL, err);

    // The copy has no stored zeros, which is another order of elimination and other last digits of A and b:
    // what is proved is about the copy.
    bool copied = file && ss_fclib_write(m->path, file, err);
    ss_fclib_destroy(file);
    file = copied ? ss_read_checked_problem(m->path, kinds[0], NULL, NULL, err) : NULL;
    ss_problem *problem = file ? ss_problem_from_cone(file->cone, err) : NULL;
    ss_prover *prover = problem ? prover_of(m, err) : NULL;
    const ss_proof *proof = prover ? ss_prove_problem(prover, problem, err) : NULL;
    bool good = proof != NULL;
    if (good && !is_cancelled(m)) {
        ss_problem_entry entry = {0};
        ss_recipes_label(m->making->recipes, label, sizeof label);
        snprintf(place, sizeof place, "/fclib_%s", ss_fclib_kind_name(kinds[0]));
        ss_cone_hash(file->cone, entry.hash);
        if (proof->result) good = ss_fclib_answer(file, proof->result->x, err);
        good = good && ss_features_of_cone(file->cone, problem, &entry, err) &&
               ss_fclib_write(m->path, file, err) && ss_stamp_write(m->path, label, err) &&
               add_row(m, &entry, proof, -1, problem, file->cone->dimension == 2, place, err);
    }
    ss_problem_destroy(problem);
    ss_fclib_destroy(file);
    return good;
}

static bool import(maker *m, ss_error *err)
{
    ss_format format;
    return ss_format_of_file(m->sequence->source, &format, err) &&
           (format == SS_FORMAT_BPMD ? import_frames : import_problem)(m, err);
}

bool ss_sequence_make(const ss_making *making, const ss_sequence *sequence, ss_text *csv, ss_error *err)
{
    maker m = {.making = making, .sequence = sequence, .csv = csv};
    size_t before = csv->length;
    ss_sequence_file(sequence, m.file, sizeof m.file);
    if (making->target)
        snprintf(m.path, sizeof m.path, "%s", making->target);
    else
        snprintf(m.path, sizeof m.path, "%s/%s", making->folder, m.file);
    bool good = (sequence->source ? import : simulate)(&m, err);
    if (m.writer) ss_writer_discard(m.writer);
    ss_prover_destroy(m.prover);
    if ((!good || is_cancelled(&m)) && csv->data) csv->data[csv->length = before] = 0;
    if (good && csv->out_of_memory) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the index");
    return good;
}
