/* Frames and answers as structs: the arrays of the file format under their names, in the shape in which
 * Octave's load shows them, transposed. The table of arrays is the library's own, frame/fields.def. */
#include "toolbox.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum type { REAL, INT, COUNT, BYTE, PAIR } type;
typedef enum per {
    BODY,
    CONSTRAINT,
    ROW,
    FURTHER,
    CONTACT,
    GROUP,
    SUBCONTACT,
    TREE,
    MAP_ROW,
    MAP_ENTRY,
    MASS_ROW,
    MASS_ENTRY,
    COORDINATE
} per;
typedef struct field {
    const char *group, *name;
    size_t offset; /* of the pointer in ss_frame */
    type type;
    per per;
    int width, columns; /* numbers per item; columns in the file */
    bool optional;
} field;

static const field fields[] = {
#define SS_FIELD(group, name, member, type, per, width, columns, optional, absent, unit, meaning) \
    {#group, #name, offsetof(ss_frame, group.member), type, per, width, columns, optional},
#include "fields.def"
#undef SS_FIELD
};
enum { FIELDS = sizeof fields / sizeof *fields };

/* ---- to Octave ---------------------------------------------------------------------------------------- */

static int items(const ss_frame *frame, per which)
{
    switch (which) {
    case BODY:
        return frame->bodies.count;
    case CONSTRAINT:
        return frame->constraints.count;
    case ROW:
        return frame->constraints.row_count;
    case FURTHER:
        return frame->constraints.further_count;
    case CONTACT:
        return frame->contacts.count;
    case GROUP:
        return frame->subcontacts.groups;
    case TREE:
        return frame->generalized.trees;
    case MAP_ROW:
        return 6 * frame->bodies.count + 1;
    case MAP_ENTRY:
        return frame->generalized.map_count;
    case MASS_ROW:
        return frame->generalized.count + 1;
    case MASS_ENTRY:
        return frame->generalized.mass_count;
    case COORDINATE:
        return frame->generalized.count;
    default:
        return frame->subcontacts.count;
    }
}

/* (n, columns) in the file is columns x n in Octave. */
static mxArray *matrix(int count, int columns, mxClassID class)
{
    return mxCreateNumericMatrix((mwSize)columns, (mwSize)(count / columns), class, mxREAL);
}

static mxArray *show(const ss_frame *frame, const field *f, const void *data)
{
    int n = items(frame, f->per), count = n * f->width;
    mxArray *array;
    switch (f->type) {
    case REAL:
        array = matrix(count, f->columns, mxDOUBLE_CLASS);
        if (count) memcpy(mxGetData(array), data, (size_t)count * sizeof(double));
        return array;
    case INT:
        array = matrix(count, f->columns, mxINT32_CLASS);
        if (count) memcpy(mxGetData(array), data, (size_t)count * sizeof(int32_t));
        return array;
    case BYTE:
        array = matrix(count, f->columns, mxUINT8_CLASS);
        if (count) memcpy(mxGetData(array), data, (size_t)count);
        return array;
    case COUNT:
        array = matrix(count, f->columns, mxUINT64_CLASS);
        for (int i = 0; i < count; i++) ((uint64_t *)mxGetData(array))[i] = (uint64_t)((const int *)data)[i];
        return array;
    default:
        array = matrix(count, f->columns, mxINT32_CLASS);
        for (int i = 0; i < count; i++) {
            int body = ((const int *)data)[i];
            ((int32_t *)mxGetData(array))[i] =
                body >= 0 && body < frame->bodies.count ? frame->bodies.id[body] : -1;
        }
        return array;
    }
}

mxArray *tb_frame(const ss_frame *frame)
{
    mxArray *structure = tb_struct();
    tb_set(structure, "timestep", tb_number(frame->h));
    if (!isnan(frame->time)) tb_set(structure, "time", tb_number(frame->time));
    for (int i = 0; i < FIELDS; i++) {
        const field *f = &fields[i];
        const void *data = *(void *const *)((const char *)frame + f->offset);
        per owner = strcmp(f->group, "bodies") == 0        ? BODY
                    : strcmp(f->group, "constraints") == 0 ? CONSTRAINT
                    : strcmp(f->group, "contacts") == 0    ? CONTACT
                    : strcmp(f->group, "generalized") == 0 ? COORDINATE
                                                           : GROUP;
        if (items(frame, owner) == 0 || (f->optional && !data)) continue; // as in files
        if (f->per == FURTHER && items(frame, FURTHER) == 0) continue;
        if (!tb_get(structure, f->group)) tb_set(structure, f->group, tb_struct());
        mxArray *owner_struct = mxGetField(structure, 0, f->group);
        const char *slash = strchr(f->name, '/');
        if (slash) { // "map/values": a struct in the struct
            char inner[16] = "";
            memcpy(inner, f->name, (size_t)(slash - f->name));
            if (!tb_get(owner_struct, inner)) tb_set(owner_struct, inner, tb_struct());
            owner_struct = mxGetField(owner_struct, 0, inner);
        }
        tb_set(owner_struct, slash ? slash + 1 : f->name, show(frame, f, data));
    }

    // Files hold the second tangent too, where the first one is stored.
    if (frame->contacts.tangent && frame->contacts.count) {
        mxArray *second = mxCreateDoubleMatrix(3, (mwSize)frame->contacts.count, mxREAL);
        for (int c = 0; c < frame->contacts.count; c++) {
            double first[3];
            ss_contact_tangents(frame, c, first, (double *)mxGetData(second) + 3 * c);
        }
        tb_set(mxGetField(structure, 0, "contacts"), "t_v", second);
    }
    tb_set(structure, "dialect", tb_text("canonical"));
    return structure;
}

/* ---- from Octave -------------------------------------------------------------------------------------- */

/* Every numeric array of a struct and of the structs in it. */
typedef struct collection {
    ss_named_array *items;
    double **copies; /* of those that are not doubles; NULL for the others */
    int count, room;
} collection;

static bool add(collection *all, const char *path, const mxArray *value, ss_error *err)
{
    if (all->count == all->room) {
        int room = all->room ? 2 * all->room : 64;
        ss_named_array *grown = ss_allocate((size_t)room, sizeof *grown);
        double **copies = ss_allocate((size_t)room, sizeof *copies);
        if (!grown || !copies) {
            ss_release(grown);
            ss_release(copies);
            return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a frame");
        }
        for (int i = 0; i < all->count; i++) {
            grown[i] = all->items[i];
            copies[i] = all->copies[i];
        }
        ss_release(all->items);
        ss_release(all->copies);
        all->items = grown;
        all->copies = copies;
        all->room = room;
    }
    if (mxGetNumberOfDimensions(value) > 2 || mxIsSparse(value))
        return ss_fail(err, SS_ERROR_INPUT, "%s: expected a full matrix", path);
    if (mxGetM(value) > INT32_MAX || mxGetN(value) > INT32_MAX)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: too large", path);

    // Column by column here is row by row of the transpose, which is what the file has.
    size_t count = tb_count(value);
    double *numbers = NULL;
    char *name = ss_text_copy(path);
    if (name && mxGetClassID(value) != mxDOUBLE_CLASS) numbers = ss_allocate(count, sizeof *numbers);
    if (!name || (mxGetClassID(value) != mxDOUBLE_CLASS && !numbers)) {
        ss_release(name);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a frame");
    }
    for (size_t i = 0; numbers && i < count; i++) numbers[i] = tb_at(value, i);
    all->copies[all->count] = numbers;
    all->items[all->count++] = (ss_named_array){.path = name,
                                                .rows = (int)mxGetN(value),
                                                .columns = (int)mxGetM(value),
                                                .values = numbers ? numbers : mxGetData(value)};
    return true;
}

static bool collect(collection *all, const char *place, const mxArray *structure, int depth, ss_error *err)
{
    for (int i = 0; i < mxGetNumberOfFields(structure); i++) {
        const mxArray *value = mxGetFieldByNumber(structure, 0, i);
        char path[200];
        snprintf(path, sizeof path, "%s%s%s", place, *place ? "/" : "", mxGetFieldNameByNumber(structure, i));
        if (value && mxIsStruct(value) && tb_count(value) == 1 && depth < 3) {
            if (!collect(all, path, value, depth + 1, err)) return false;
        } else if (tb_is_numeric(value) && (depth == 0 || !mxIsSparse(value))) {
            if (!add(all, path, value, err)) return false;
        } else if (value && mxIsComplex(value)) {
            return ss_fail(err, SS_ERROR_INPUT, "%s: expected real numbers", path);
        }
    }
    return true;
}

static void discard(collection *all)
{
    for (int i = 0; i < all->count; i++) {
        ss_release((void *)(uintptr_t)all->items[i].path);
        ss_release(all->copies[i]);
    }
    ss_release(all->items);
    ss_release(all->copies);
}

bool tb_is_frame(const mxArray *structure)
{
    return tb_get(structure, "bodies") != NULL;
}

/* Repairs of the reader's, which a plain struct has only now: said once for each kind of repair, not once for
 * each frame and function. */
static void warn_once(const ss_findings *findings)
{
    enum { MOST = 64 };
    static char said[MOST][80];
    static int count;
    for (size_t i = 0; i < findings->count; i++) {
        const ss_finding *finding = &findings->items[i];
        if (finding->kind != SS_FINDING_REPAIR && finding->kind != SS_FINDING_WARNING) continue;
        const char *place =
            strncmp(finding->place, "/mbs_frame000001/", 17) == 0 ? finding->place + 17 : finding->place;
        char key[80];
        snprintf(key, sizeof key, "%.30s %.40s", place, finding->message);
        int k = 0;
        while (k < count && strcmp(said[k], key) != 0) k++;
        if (k < count || count == MOST) continue;
        memcpy(said[count++], key, sizeof key);
        mexWarnMsgIdAndTxt("stickslip:repair", "frame: %s: %s", place, finding->message);
    }
}

ss_frame *tb_get_frame(const mxArray *structure, ss_findings *findings, bool check, ss_error *err)
{
    if (!tb_is_frame(structure)) {
        ss_fail(err, SS_ERROR_USAGE, "expected a frame: a struct with timestep, bodies, contacts ...");
        return NULL;
    }
    char *dialect;
    ss_read_options options;
    ss_options_defaults(ss_read_option_table, &options);
    if (!tb_get_option(structure, "dialect", &dialect, err)) return NULL;
    bool known = dialect != NULL;
    bool good = !known || ss_options_set(ss_read_option_table, &options, "dialect", dialect, err);
    mxFree(dialect);
    if (!good) return NULL;

    collection all = {0};
    ss_findings own = {0}, *found = findings ? findings : &own;
    good = collect(&all, "", structure, 0, err);
    ss_frame *frame = good ? ss_frame_from_arrays(all.items, all.count, &options, found, err) : NULL;
    if (good && !frame && err && strstr(err->message, "shape ("))
        strncat(err->message, " (as in a file, which Octave shows transposed)",
                sizeof err->message - strlen(err->message) - 1);
    if (good && !frame && err && strstr(err->message, "timestep: is missing"))
        ss_fail(err, SS_ERROR_INPUT,
                "frame: timestep is missing; ss_frame(frame, 'timestep', h) adds it, and ss_read takes "
                "it from the frames around this one");
    discard(&all);

    // Without a list for the findings, the first fault is the error.
    if (frame && !findings) warn_once(&own);
    if (frame && check && !findings) {
        ss_findings faults = {0};
        if (!ss_frame_check(frame, "", &faults)) {
            for (size_t i = 0; i < faults.count; i++)
                if (faults.items[i].kind == SS_FINDING_FAULT) {
                    const char *place = faults.items[i].place;
                    ss_fail(err, SS_ERROR_INPUT, "frame: %s: %s", *place == '/' ? place + 1 : place,
                            faults.items[i].message);
                    break;
                }
            ss_frame_destroy(frame);
            frame = NULL;
        }
        ss_findings_free(&faults);
    } else if (frame && check) {
        ss_frame_check(frame, "", findings);
    }
    ss_findings_free(&own);
    return frame;
}

/* ---- answers ------------------------------------------------------------------------------------------ */

mxArray *tb_answer(const ss_answer *answer)
{
    mxArray *structure = tb_struct();
    if (answer->velocity)
        tb_set(structure, "velocities", tb_real(1, 6 * answer->bodies, (const double *)answer->velocity));
    if (answer->row_impulse && answer->rows)
        tb_set(structure, "lambda", tb_real(1, answer->rows, answer->row_impulse));
    if (answer->normal_impulse && answer->contacts)
        tb_set(structure, "normal", tb_real(1, answer->contacts, answer->normal_impulse));
    if (answer->friction_impulse && answer->contacts)
        tb_set(structure, "tangent", tb_real(3, answer->contacts, (const double *)answer->friction_impulse));
    if (answer->rolling_impulse && answer->contacts)
        tb_set(structure, "rolling", tb_real(3, answer->contacts, (const double *)answer->rolling_impulse));
    return structure;
}

static bool take(const mxArray *structure, const char *name, int count, double *values, ss_error *err)
{
    char what[40];
    snprintf(what, sizeof what, "answer.%s", name);
    const mxArray *value = tb_get(structure, name);
    if (count == 0 && (!value || mxIsEmpty(value))) return true;
    if (!value) return ss_fail(err, SS_ERROR_USAGE, "%s is missing: %d numbers", what, count);
    return tb_copy(value, (size_t)count, values, what, err);
}

ss_answer *tb_get_answer(const mxArray *structure, const ss_frame *frame, ss_error *err)
{
    if (!structure || !mxIsStruct(structure)) {
        ss_fail(err, SS_ERROR_USAGE, "expected an answer: a struct with velocities, lambda, normal, tangent");
        return NULL;
    }
    bool rolling = tb_get(structure, "rolling") != NULL;
    ss_answer *answer = ss_answer_create(frame, rolling, err);
    if (!answer) return NULL;
    bool good = take(structure, "velocities", 6 * answer->bodies, (double *)answer->velocity, err) &&
                take(structure, "lambda", answer->rows, answer->row_impulse, err) &&
                take(structure, "normal", answer->contacts, answer->normal_impulse, err) &&
                take(structure, "tangent", 3 * answer->contacts, (double *)answer->friction_impulse, err) &&
                (!rolling ||
                 take(structure, "rolling", 3 * answer->contacts, (double *)answer->rolling_impulse, err));
    if (good) return answer;
    ss_answer_destroy(answer);
    return NULL;
}

/* ---- commands ----------------------------------------------------------------------------------------- */

bool tb_do_frame(const tb_call *call, ss_error *err)
{
    ss_findings findings = {0};
    int check = 1;
    if (call->inputs > 1 && !tb_get_int(call->input[1], "check", 0, 1, &check, err)) return false;
    ss_frame *frame = tb_get_frame(call->input[0], call->outputs > 1 ? &findings : NULL, check, err);
    if (frame) call->output[0] = tb_frame(frame);
    if (frame && call->outputs > 1) call->output[1] = tb_findings(&findings);
    ss_findings_free(&findings);
    ss_frame_destroy(frame);
    return frame != NULL;
}

bool tb_do_frame_summary(const tb_call *call, ss_error *err)
{
    ss_frame *frame = tb_get_frame(call->input[0], NULL, true, err);
    if (!frame) return false;
    ss_frame_summary summary = ss_frame_summarise(frame);
    char hash[33];
    ss_frame_hash(frame, hash);
    mxArray *s = tb_struct();
    tb_set(s, "h", tb_number(frame->h));
    tb_set(s, "bodies", tb_number(summary.bodies));
    tb_set(s, "constraints", tb_number(summary.constraints));
    tb_set(s, "rows", tb_number(summary.rows));
    tb_set(s, "contacts", tb_number(summary.contacts));
    tb_set(s, "total_mass", tb_number(summary.total_mass));
    tb_set(s, "kinetic_energy", tb_number(summary.kinetic_energy));
    tb_set(s, "momentum", tb_real(3, 1, summary.momentum));
    tb_set(s, "sum_abs_gap", tb_number(summary.sum_abs_gap));
    tb_set(s, "max_penetration", tb_number(summary.max_penetration));
    tb_set(s, "planar", mxCreateLogicalScalar(ss_frame_is_planar(frame)));
    tb_set(s, "hash", tb_text(hash));
    call->output[0] = s;
    ss_frame_destroy(frame);
    return true;
}
