/* `stickslip info` on a BPMD file. All frames are read once, one at a time. */
#include "cli/info/info.h"

#include "cli/sandbox.h"
#include "cli/terminal/table.h"

#include <math.h>
#include <string.h>

#define FIRST_SHOWN 10 /* frames and simulations of a long file, unless --all */
#define LAST_SHOWN 3

typedef struct view {
    const ss_command *command;
    const ss_info_options *options;
    ss_out *out;
    ss_bpmd *file;
    int begin, end; /* frames that were asked for */
    ss_tally tally;
    ss_findings unreadable; /* frames and manifests */
    ss_text notes;          /* of frames, a line each */
    int dialect;            /* of all frames so far; -1 = none yet, SS_DIALECT_AUTO = they differ */
    int exit_code;          /* the worst of all frames */
    ss_progress_line progress;
} view;

/* What is known of one frame. */
typedef struct sight {
    char path[256];
    ss_frame *frame; /* NULL: could not be read, err says why */
    int index;       /* what --frame takes */
    ss_dialect dialect;
    ss_frame_summary summary;
    char **results;
    int result_count;
    char note[300]; /* "": none */
    ss_error err;
} sight;

/* False when the reader of the output is gone, or the user has had enough. */
static bool goes_on(view *v)
{
    return ss_out_drain(v->out) && !ss_sandbox_interrupted();
}

static void note_failure(view *v, const char *place, const ss_error *err)
{
    int code = ss_error_exit_code(err->code);
    if (code > v->exit_code) v->exit_code = code;
    ss_findings_add(&v->unreadable, SS_FINDING_FAULT, place, "%s", err->message);
}

/* ---- reading one frame --------------------------------------------------------------------------- */

static void see(view *v, int index, sight *s)
{
    *s = (sight){.index = index};
    ss_findings findings = {0};
    ss_bpmd_frame_path(v->file, index, s->path, sizeof s->path);
    s->frame = ss_bpmd_read(v->file, index, &findings, &s->err);
    if (s->frame) {
        s->summary = ss_frame_summarise(s->frame);
        s->dialect = ss_bpmd_dialect(v->file, index, &s->err);
        v->dialect = v->dialect == -1 || v->dialect == (int)s->dialect ? (int)s->dialect : SS_DIALECT_AUTO;

        // Whose results are stored beside it.
        int count = ss_bpmd_result_count(v->file, index, &s->err);
        if (count < 0) ss_findings_add(&findings, SS_FINDING_WARNING, s->path, "%s", s->err.message);
        if (count > 0) s->results = ss_allocate((size_t)count, sizeof *s->results);
        for (int i = 0; s->results && i < count; i++) {
            ss_stored_result result = {0};
            if (ss_bpmd_result(v->file, index, i, &result, &s->err)) {
                s->results[s->result_count++] = result.solver;
                result.solver = NULL;
                ss_stored_result_free(&result);
            } else {
                ss_findings_add(&findings, SS_FINDING_WARNING, s->path, "a result cannot be read: %s",
                                s->err.message);
            }
        }

        if (!ss_bpmd_note(v->file, index, s->note, sizeof s->note)) s->note[0] = '\0';
        if (s->note[0]) {
            ss_text_append(&v->notes, "  ");
            ss_text_append_clean(&v->notes, s->path);
            ss_text_append(&v->notes, ": ");
            ss_text_append_clean(&v->notes, s->note);
            ss_text_append(&v->notes, "\n");
        }
    } else {
        note_failure(v, s->path, &s->err);
    }
    ss_tally_add(&v->tally, &findings, s->path, index);
    ss_findings_free(&findings);
}

static void forget(sight *s)
{
    ss_frame_destroy(s->frame);
    for (int i = 0; i < s->result_count; i++) ss_release(s->results[i]);
    ss_release(s->results);
}

static const char *dialect_of_all(const view *v)
{
    if (v->dialect == -1) return NULL;
    return v->dialect == SS_DIALECT_AUTO ? "mixed" : ss_dialect_name((ss_dialect)v->dialect);
}

static int dead_bodies(const sight *s)
{
    return s->frame->bodies.count - s->summary.bodies;
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

/* How many shapes a simulation has; -1, with the failure noted, when they cannot be read. */
static int count_shapes(view *v, int simulation)
{
    ss_shapes shapes;
    ss_error err;
    const char *path = ss_bpmd_simulation_path(v->file, simulation);
    ss_findings findings = {0};
    int count = -1;
    if (ss_bpmd_shapes(v->file, simulation, &shapes, &findings, &err)) {
        count = shapes.count;
        ss_shapes_free(&shapes);
    } else {
        note_failure(v, path, &err);
    }
    ss_tally_add(&v->tally, &findings, path, -1 - simulation);
    ss_findings_free(&findings);
    return count;
}

static void put_simulations(view *v, ss_json *json)
{
    ss_json_key(json, "simulations");
    ss_json_begin_array(json);
    int count = ss_bpmd_simulation_count(v->file);
    for (int i = 0; i < count && goes_on(v); i++) {
        const char *path = ss_bpmd_simulation_path(v->file, i);
        ss_manifest manifest = {0};
        ss_error err;
        ss_json_begin_object(json);
        ss_json_member_text(json, "path", path);
        ss_json_member_integer(json, "frames", ss_bpmd_simulation_frames(v->file, i));
        if (ss_bpmd_manifest(v->file, i, &manifest, &err)) {
            ss_json_member_text(json, "title", manifest.title);
            ss_json_member_text(json, "toolkit", manifest.toolkit);
            ss_json_member_text(json, "description", manifest.description);
            ss_json_member_text(json, "author", manifest.author);
            ss_json_member_text(json, "date", manifest.date);
            ss_json_member_text(json, "url", manifest.url);
            ss_json_member_text(json, "keywords", manifest.keywords);
            ss_json_key(json, "gravity");
            if (isnan(manifest.gravity[0]))
                ss_json_null(json);
            else
                ss_json_reals(json, manifest.gravity, 3);
            ss_json_key(json, "image");
            if (manifest.image)
                ss_json_integers(json, (int[]){manifest.image_width, manifest.image_height}, 2);
            else
                ss_json_null(json);
        } else {
            note_failure(v, path, &err);
            ss_json_member_text(json, "error", err.message);
        }

        // null: they cannot be read.
        int shapes = count_shapes(v, i);
        ss_json_key(json, "shapes");
        if (shapes < 0)
            ss_json_null(json);
        else
            ss_json_integer(json, shapes);
        ss_json_end_object(json);
        ss_manifest_free(&manifest);
        ss_progress_line_show(&v->progress, "reading simulation", i + 1, count);
    }
    ss_json_end_array(json);
}

static void print_json(view *v)
{
    ss_json json = {.text = &v->out->text};
    ss_json_begin_object(&json);
    ss_json_member_text(&json, "format", "bpmd");
    ss_json_member_text(&json, "file", v->command->arguments[0]);
    put_simulations(v, &json);

    ss_json_key(&json, "frames");
    ss_json_begin_array(&json);
    for (int i = v->begin; i < v->end && goes_on(v); i++) {
        sight s;
        see(v, i, &s);
        const ss_frame_summary *sum = &s.summary;
        ss_json_begin_object(&json);
        ss_json_member_text(&json, "path", s.path);
        if (s.frame) {
            char hash[33];
            ss_frame_hash(s.frame, hash);
            ss_json_member_text(&json, "dialect", ss_dialect_name(s.dialect));
            ss_json_member_integer(&json, "bodies", sum->bodies);
            ss_json_member_integer(&json, "dead_bodies", dead_bodies(&s));
            ss_json_member_integer(&json, "constraints", sum->constraints);
            ss_json_member_integer(&json, "rows", sum->rows);
            ss_json_member_integer(&json, "contacts", sum->contacts);
            ss_json_key(&json, "h"), ss_json_real(&json, s.frame->h);
            ss_json_member_known(&json, "time", s.frame->time);
            ss_json_key(&json, "total_mass"), ss_json_real(&json, sum->total_mass);
            ss_json_key(&json, "kinetic_energy"), ss_json_real(&json, sum->kinetic_energy);
            ss_json_key(&json, "momentum"), ss_json_reals(&json, sum->momentum, 3);
            ss_json_key(&json, "sum_abs_gap"), ss_json_real(&json, sum->sum_abs_gap);
            ss_json_key(&json, "max_penetration"), ss_json_real(&json, sum->max_penetration);
            ss_json_member_text(&json, "hash", hash);
            ss_json_member_text(&json, "note", s.note[0] ? s.note : NULL);
            ss_json_key(&json, "results");
            ss_json_begin_array(&json);
            for (int k = 0; k < s.result_count; k++) ss_json_string(&json, s.results[k]);
            ss_json_end_array(&json);
        } else {
            ss_json_member_text(&json, "error", s.err.message);
        }
        ss_json_end_object(&json);
        forget(&s);
        ss_progress_line_show(&v->progress, "reading frame", i + 1, v->end);
    }
    ss_json_end_array(&json);

    // What is known only after all frames have been read.
    ss_json_member_text(&json, "dialect", dialect_of_all(v));
    ss_tally_json(&json, "repairs", &v->tally, SS_FINDING_REPAIR);
    ss_tally_json(&json, "warnings", &v->tally, SS_FINDING_WARNING);
    ss_json_end_object(&json);
    ss_text_append(&v->out->text, "\n");
    ss_progress_line_end(&v->progress);
}

/* ---- text ---------------------------------------------------------------------------------------- */

/* All are read, so that what is wrong with one is reported. */
static void print_simulations(view *v)
{
    int count = ss_bpmd_simulation_count(v->file);
    int left_out = v->options->all ? 0 : count - FIRST_SHOWN - LAST_SHOWN;
    for (int i = 0; i < count && goes_on(v); i++) {
        bool hidden = left_out > 1 && i >= FIRST_SHOWN && i < count - LAST_SHOWN;
        const char *path = ss_bpmd_simulation_path(v->file, i);
        ss_manifest m = {0};
        ss_error err;
        if (!ss_bpmd_manifest(v->file, i, &m, &err)) note_failure(v, path, &err);

        // Also of those that are not shown.
        int shapes = count_shapes(v, i);
        if (!hidden) {
            ss_text_append(&v->out->text, "\n");
            ss_info_heading(v->out, "Simulation %s", path);
            ss_info_words(v->out, "title", m.title);
            ss_info_words(v->out, "toolkit", m.toolkit);
            ss_info_words(v->out, "description", m.description);
            ss_info_words(v->out, "author", m.author);
            ss_info_words(v->out, "date", m.date);
            ss_info_words(v->out, "url", m.url);
            ss_info_words(v->out, "keywords", m.keywords);
            if (m.image) ss_info_item(v->out, "picture", "%d x %d pixels", m.image_width, m.image_height);
            if (shapes > 0) ss_info_item(v->out, "shapes", "%d, for stickslip view", shapes);
            ss_info_item(v->out, "frames", "%d", ss_bpmd_simulation_frames(v->file, i));
        }
        if (hidden && i == FIRST_SHOWN)
            ss_text_appendf(&v->out->text, "\n... %d more simulations (--all lists them)\n", left_out);
        ss_manifest_free(&m);
        ss_progress_line_show(&v->progress, "reading simulation", i + 1, count);
    }
}

static void add_frame(ss_table *table, const sight *s)
{
    const ss_frame_summary *sum = &s->summary;
    ss_table_add(table, "%d", s->index);
    if (!s->frame) {
        ss_table_add_styled(table, SS_STYLE_BAD, "unreadable");
        for (int i = 2; i < table->columns - 1; i++) ss_table_add(table, "-");
        ss_table_add(table, "%s", s->path);
        return;
    }
    ss_table_add(table, "%d", sum->bodies);
    ss_table_add(table, "%d", sum->constraints);
    ss_table_add(table, "%d", sum->rows);
    ss_table_add(table, "%d", sum->contacts);
    ss_table_add(table, "%g", s->frame->h);
    ss_table_add(table, "%g", sum->total_mass);
    ss_table_add(table, "%.4g", sum->kinetic_energy);
    ss_table_add(table, "%.4g", sum->sum_abs_gap);
    ss_table_add(table, "%.3g", sum->max_penetration);

    ss_text names = {0};
    for (int i = 0; i < s->result_count; i++) ss_text_appendf(&names, "%s%s", i ? "," : "", s->results[i]);
    ss_table_add(table, "%s", s->result_count ? ss_text_get(&names) : "-");
    ss_text_free(&names);
    ss_table_add(table, "%s", s->path);
}

static void print_findings(view *v)
{
    ss_text *text = &v->out->text;
    if (v->notes.length > 0) {
        ss_text_append(text, "\n");
        ss_info_heading(v->out, "Notes");
        ss_text_append(text, ss_text_get(&v->notes));
    }
    if (v->unreadable.count_of[SS_FINDING_FAULT] > 0) {
        ss_text_append(text, "\n");
        ss_info_heading(v->out, "Unreadable");
        for (size_t i = 0; i < v->unreadable.count; i++) {
            ss_text_append(text, "  ");
            ss_text_append_clean(text, v->unreadable.items[i].message);
            ss_text_append(text, "\n");
        }
    }
    ss_tally_print(v->out, "Repairs", &v->tally, SS_FINDING_REPAIR);
    ss_tally_print(v->out, "Warnings", &v->tally, SS_FINDING_WARNING);
}

static void print_text(view *v)
{
    static const char *const heads[] = {"frame",         "bodies",      "joints",    "rows",
                                        "contacts",      "h [s]",       "mass [kg]", "kinetic [J]",
                                        "sum |gap| [m]", "overlap [m]", "results",   "path"};
    static const unsigned char expendable[] = {11, 8, 3, 6, 5, 0}; // path, sum |gap|, rows, mass, h
    ss_table table = {.columns = sizeof heads / sizeof *heads, .left = 1, .expendable = expendable};
    for (int i = 0; i < table.columns; i++) ss_table_add(&table, "%s", heads[i]);

    // All frames are read before the heading, which says their dialect; the middle of many is not shown.
    int left_out = v->options->all ? 0 : v->end - v->begin - FIRST_SHOWN - LAST_SHOWN;
    for (int i = v->begin; i < v->end && goes_on(v); i++) {
        bool hidden = left_out > 1 && i >= v->begin + FIRST_SHOWN && i < v->end - LAST_SHOWN;
        sight s;
        see(v, i, &s);
        if (!hidden) add_frame(&table, &s);
        if (hidden && i == v->begin + FIRST_SHOWN) {
            ss_table_add(&table, "... %d more", left_out);
            for (int c = 1; c < table.columns; c++) ss_table_add(&table, "%s", "");
        }
        forget(&s);
        ss_progress_line_show(&v->progress, "reading frame", i + 1, v->end);
    }
    ss_progress_line_end(&v->progress);

    const char *dialect = dialect_of_all(v);
    int frames = ss_bpmd_frame_count(v->file);
    ss_info_heading(v->out, "%s: BPMD, %d frame%s%s%s", v->command->arguments[0], frames,
                    frames == 1 ? "" : "s", dialect ? ", dialect " : "", dialect ? dialect : "");
    print_simulations(v);
    ss_text_append(&v->out->text, "\n");
    ss_table_print(&table, v->out);
    print_findings(v);
}

/* ---- one frame ----------------------------------------------------------------------------------- */

static void print_frame(view *v)
{
    sight s;
    see(v, v->begin, &s);
    if (s.frame && v->options->json) {
        ss_json json = {.text = &v->out->text};
        ss_json_begin_object(&json);
        ss_info_frame_json(&json, v->out, s.path, s.frame);

        // Results that cannot be read are among the warnings already.
        ss_error err;
        int count = ss_bpmd_result_count(v->file, v->begin, &err);
        ss_json_key(&json, "results");
        ss_json_begin_array(&json);
        for (int i = 0; i < count; i++) {
            ss_stored_result result = {0};
            if (ss_bpmd_result(v->file, v->begin, i, &result, &err))
                ss_info_result_json(&json, v->out, &result);
            ss_stored_result_free(&result);
        }
        ss_json_end_array(&json);
        ss_tally_json(&json, "repairs", &v->tally, SS_FINDING_REPAIR);
        ss_tally_json(&json, "warnings", &v->tally, SS_FINDING_WARNING);
        ss_json_end_object(&json);
        ss_text_append(&v->out->text, "\n");
    } else if (s.frame) {
        const ss_frame_summary *sum = &s.summary;
        ss_out *out = v->out;
        char hash[33];
        ss_frame_hash(s.frame, hash);
        ss_info_heading(out, "%s: %s", v->command->arguments[0], s.path);
        ss_info_item(out, "dialect", "%s", ss_dialect_name(s.dialect));
        ss_info_item(out, "step", "%g s", s.frame->h);
        if (!isnan(s.frame->time)) ss_info_item(out, "time", "%g s", s.frame->time);
        ss_info_item(out, "bodies", "%d live, %d asleep", sum->bodies, dead_bodies(&s));
        ss_info_item(out, "joints", "%d with %d rows", sum->constraints, sum->rows);
        ss_info_item(out, "contacts", "%d", sum->contacts);
        ss_info_item(out, "motion", "%s", ss_frame_is_planar(s.frame) ? "planar" : "spatial");
        ss_info_item(out, "total mass", "%g kg", sum->total_mass);
        ss_info_item(out, "kinetic energy", "%g J", sum->kinetic_energy);
        ss_info_item(out, "momentum", "%g %g %g kg m/s", sum->momentum[0], sum->momentum[1],
                     sum->momentum[2]);
        ss_info_item(out, "sum of |gap|", "%g m", sum->sum_abs_gap);
        ss_info_item(out, "largest overlap", "%g m", sum->max_penetration);
        for (int i = 0; i < s.result_count; i++) ss_info_item(out, "result of", "%s", s.results[i]);
        if (s.note[0]) ss_info_words(out, "note", s.note);
        ss_info_item(out, "hash", "%s", hash);

        if (v->options->full) ss_info_frame_text(v->out, s.frame);
        print_findings(v);
    } else {
        ss_report(&s.err);
    }
    forget(&s);
}

/* ---- all together -------------------------------------------------------------------------------- */

int ss_info_bpmd(const ss_command *command, const ss_info_options *options, ss_error *err)
{
    view v = {.command = command,
              .options = options,
              .out = command->out,
              .dialect = -1,
              .progress = ss_progress_line_begin(command)};
    v.file = ss_bpmd_open(command->arguments[0], &options->source.limits, &options->source.read, err);
    bool good = v.file != NULL;
    if (good && options->full && !options->frame)
        good = ss_fail(err, SS_ERROR_USAGE, "info: --full needs --frame PATH or --frame N");
    if (good) v.end = ss_bpmd_frame_count(v.file);

    // One frame, or all.
    if (good && options->frame) {
        v.begin = ss_bpmd_find_frame(v.file, options->frame);
        if (v.begin < 0)
            good = ss_fail(err, SS_ERROR_INPUT, "%s: unknown frame '%s'; the file has %d",
                           command->arguments[0], options->frame, v.end);
        v.end = v.begin + 1;
    }

    if (good && options->frame && (options->full || !options->json))
        print_frame(&v);
    else if (good && options->json)
        print_json(&v);
    else if (good)
        print_text(&v);
    v.out->text.out_of_memory |= v.tally.out_of_memory || v.unreadable.out_of_memory;
    ss_tally_free(&v.tally);
    ss_text_free(&v.notes);
    ss_findings_free(&v.unreadable);
    ss_bpmd_close(v.file);
    return v.exit_code;
}
