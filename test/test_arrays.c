/* Frames from arrays that another program loaded from a file: the same frame as from the file itself. */
#include "kit.h"
#include "faults.h"
#include "sample_frame.h"

#include <stickslip/dataset.h>

enum { MOST = 64 };

/* The arrays of a frame as a file would have them. */
typedef struct loaded {
    ss_named_array arrays[MOST];
    char paths[MOST][64];
    double *values[MOST];
    int count;
} loaded;

static void add(loaded *all, const char *path, int rows, int columns, double *values)
{
    snprintf(all->paths[all->count], sizeof all->paths[0], "%s", path);
    all->values[all->count] = values;
    all->arrays[all->count] = (ss_named_array){all->paths[all->count], rows, columns, values};
    all->count++;
}

static double *one(double value)
{
    double *values = malloc(sizeof *values);
    *values = value;
    return values;
}

static void load(const ss_frame *frame, loaded *all)
{
    all->count = 0;
    add(all, "timestep", 1, 1, one(frame->h));
    add(all, "time", 1, 1, one(frame->time));
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *data = ss_field_data(field, frame);
        if (!data) continue;
        int numbers = ss_field_items(field, frame) * field->width;
        double *values = malloc((size_t)numbers * sizeof *values);
        for (int i = 0; i < numbers; i++) {
            values[i] = ss_field_get(field, data, (size_t)i);
            if (field->type == SS_FIELD_PAIR && values[i] >= 0) values[i] = frame->bodies.id[(int)values[i]];
        }
        char path[64];
        snprintf(path, sizeof path, "%s/%s", field->group, field->name);
        add(all, path, numbers / field->file_columns, field->file_columns, values);
    }
}

static void unload(loaded *all)
{
    for (int i = 0; i < all->count; i++) free(all->values[i]);
}

static ss_named_array *array_of(loaded *all, const char *path)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->arrays[i].path, path) == 0) return &all->arrays[i];
    return NULL;
}

static ss_read_options canonical(void)
{
    ss_read_options options;
    ss_options_defaults(ss_read_option_table, &options);
    options.dialect = SS_DIALECT_CANONICAL;
    return options;
}

TEST(arrays_give_the_frame_they_came_from)
{
    ss_frame *frame = full_frame();
    loaded all;
    load(frame, &all);
    ss_read_options options = canonical();
    ss_error err = {0};
    ss_findings findings = {0};
    ss_frame *made = ss_frame_from_arrays(all.arrays, all.count, &options, &findings, &err);
    ENSURE(made != NULL);
    ENSURE(ss_frame_equal(frame, made));
    ENSURE_INT((int)findings.count, 0);
    ss_frame_destroy(made);
    ss_findings_free(&findings);
    unload(&all);
    ss_frame_destroy(frame);
}

TEST(a_dialect_shows_in_the_arrays_alone)
{
    ss_frame *frame = plain_frame();
    loaded all;
    load(frame, &all);
    // What Gazebo's writer leaves behind, and nothing that it does not know.
    loaded theirs = {.count = 0};
    for (int i = 0; i < all.count; i++) {
        const ss_named_array *a = &all.arrays[i];
        if (strncmp(a->path, "bodies/", 7) == 0 || strncmp(a->path, "contacts/", 9) == 0 ||
            strcmp(a->path, "timestep") == 0) {
            double *copy = malloc((size_t)(a->rows * a->columns) * sizeof *copy);
            memcpy(copy, a->values, (size_t)(a->rows * a->columns) * sizeof *copy);
            add(&theirs, a->path, a->rows, a->columns, copy);
        }
    }
    double *errors = malloc(2 * sizeof *errors), *mu_s = malloc(2 * CONTACTS * sizeof *mu_s);
    errors[0] = errors[1] = 0.1;
    for (int i = 0; i < 2 * CONTACTS; i++) mu_s[i] = 0.75;
    add(&theirs, "solver_data/ODE_GS/gs_errors", 2, 1, errors);
    add(&theirs, "contacts/mu_s", CONTACTS, 2, mu_s);

    ss_error err = {0};
    ss_findings findings = {0};
    ss_frame *made = ss_frame_from_arrays(theirs.arrays, theirs.count, NULL, &findings, &err);
    ENSURE(made != NULL);
    for (int c = 0; c < CONTACTS; c++) {
        ENSURE(made->contacts.mu[c][0] == 0.75); // the friction of the first direction
        ENSURE(made->contacts.mu[c][1] == frame->contacts.mu[c][0]);
    }
    ENSURE(findings.count_of[SS_FINDING_REPAIR] > 0);
    ss_frame_destroy(made);
    ss_findings_free(&findings);
    unload(&theirs);
    unload(&all);
    ss_frame_destroy(frame);
}

/* The message of the error that the arrays cause. */
static const char *trouble(const loaded *all)
{
    static ss_error err;
    ss_read_options options = canonical();
    err = (ss_error){0};
    ss_frame *made = ss_frame_from_arrays(all->arrays, all->count, &options, NULL, &err);
    ss_frame_destroy(made);
    return made ? "" : err.message;
}

TEST(an_error_names_the_array_and_not_a_file)
{
    ss_frame *frame = plain_frame();
    loaded all;
    load(frame, &all);
    ENSURE_TEXT(trouble(&all), "");

    ss_named_array *masses = array_of(&all, "bodies/masses"), *h = array_of(&all, "timestep");
    ss_named_array kept = *array_of(&all, "contacts/normals");
    array_of(&all, "contacts/normals")->rows--;
    ENSURE(strncmp(trouble(&all), "contacts/normals: shape (4, 3), expected (5, 3)", 47) == 0);
    *array_of(&all, "contacts/normals") = kept;

    const char *path = masses->path;
    masses->path = "bodies//masses";
    ENSURE_TEXT(trouble(&all), "\"bodies//masses\" is not the path of an array");
    masses->path = "a/b/c/d/e/f/g/h/i";
    ENSURE_TEXT(trouble(&all), "\"a/b/c/d/e/f/g/h/i\" is not the path of an array");
    masses->path = "";
    ENSURE_TEXT(trouble(&all), "\"\" is not the path of an array");
    masses->path = "contacts/gaps"; // twice
    ENSURE(strncmp(trouble(&all), "frame: ", 7) == 0 || strncmp(trouble(&all), "contacts/gaps: ", 15) == 0);
    masses->path = "contacts/gaps/masses"; // below an array
    ENSURE(trouble(&all)[0] != '\0');
    masses->path = path;

    h->path = "timestop";
    ENSURE(strncmp(trouble(&all), "timestep: is missing", 20) == 0);
    h->path = "timestep";
    h->rows = -1;
    ENSURE_TEXT(trouble(&all), "timestep: -1 x 1 numbers");
    h->rows = 1;
    ENSURE(trouble(&(loaded){.count = 0})[0] != '\0');
    unload(&all);
    ss_frame_destroy(frame);
}

TEST(lack_of_memory_is_told)
{
    ss_frame *frame = plain_frame();
    loaded all;
    load(frame, &all);
    ss_read_options options = canonical();
    for (int n = 1;; n++) {
        ss_error err = {0};
        faults_start(n);
        ss_frame *made = ss_frame_from_arrays(all.arrays, all.count, &options, NULL, &err);
        bool ok = made != NULL;
        ss_frame_destroy(made);
        bool failed = faults_stop();
        ENSURE_INT(faults.live, 0);
        if (!failed) {
            ENSURE(ok);
            break;
        }
        ENSURE(ok || err.code == SS_ERROR_RESOURCES);
    }
    unload(&all);
    ss_frame_destroy(frame);
}

TEST_MAIN
