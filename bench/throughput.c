/* How fast frames go to a file and come back, next to HDF5 and to the system without any format.
 *
 *     bench_throughput [FRAMES [BODIES [CONTACTS [REPEATS [DIRECTORY]]]]]
 *
 * Each method writes the same arrays. Writing ends when fsync returns, so that none can hide behind the
 * cache; reading comes right after it and finds the file in the page cache. The best of the repeats counts.
 */
#define _GNU_SOURCE
#include <stickslip/stickslip.h>

#include "frame/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct workload {
    int frames, repeats;
    ss_frame *frame;
    void *buffer; // as large as the largest array
    size_t bytes; // of all frames
    char directory[4096];
} workload;

_Noreturn static void stop(const char *what)
{
    fprintf(stderr, "throughput: %s (%s)\n", what, strerror(errno));
    exit(4);
}

static void must(bool ok, const char *what)
{
    if (!ok) stop(what);
}

static const char *path_in(const workload *load, const char *name)
{
    static char path[sizeof load->directory + 64];
    snprintf(path, sizeof path, "%s/%s", load->directory, name);
    return path;
}

/* ---- the arrays of a frame ------------------------------------------------------------------------- */

static size_t field_bytes(const ss_field *field, const ss_frame *frame)
{
    return (size_t)ss_field_items(field, frame) * (size_t)field->width * ss_field_element_size(field);
}

/* Calls `visit` for every array that a file gets, with its data. */
typedef void array_visit(const ss_field *field, void *data, size_t bytes, void *context);
static void each_array(const ss_frame *frame, array_visit *visit, void *context)
{
    for (int f = 0; f < ss_field_count; f++) {
        void *data = ss_field_data(&ss_fields[f], frame);
        size_t bytes = field_bytes(&ss_fields[f], frame);
        if (data && bytes > 0) visit(&ss_fields[f], data, bytes, context);
    }
}

static void add_size(const ss_field *field, void *data, size_t bytes, void *context)
{
    (void)field, (void)data;
    size_t *total_and_largest = context;
    total_and_largest[0] += bytes;
    if (bytes > total_and_largest[1]) total_and_largest[1] = bytes;
}

/* A heap of spheres: numbers without a pattern, as a real frame has. */
static ss_frame *make_frame(int bodies, int contacts)
{
    ss_frame *frame = ss_frame_create(bodies, 0, 0, contacts, NULL);
    must(frame, "no memory for a frame");
    ss_random random = ss_random_start(1, 0);
    for (int b = 0; b < bodies; b++) {
        frame->bodies.mass[b] = ss_random_between(&random, 1, 2);
        for (int i = 0; i < 3; i++) {
            frame->bodies.position[b][i] = ss_random_between(&random, -1, 1);
            frame->bodies.inertia[b][4 * i] = 0.1;
        }
        for (int i = 0; i < 6; i++) frame->bodies.velocity[b][i] = ss_random_normal(&random);
        for (int i = 0; i < 6; i++) frame->bodies.force[b][i] = ss_random_normal(&random);
    }
    for (int c = 0; c < contacts; c++) {
        frame->contacts.pair[c][0] = c % bodies;
        frame->contacts.pair[c][1] = (c + 1) % bodies;
        for (int i = 0; i < 3; i++) frame->contacts.point[c][i] = ss_random_between(&random, -1, 1);
        double angle = ss_random_between(&random, 0, 6.28);
        frame->contacts.normal[c][0] = cos(angle);
        frame->contacts.normal[c][1] = sin(angle);
        frame->contacts.gap[c] = ss_random_between(&random, -1e-3, 1e-3);
        frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.5;
    }
    return frame;
}

/* ---- stickslip ------------------------------------------------------------------------------------- */

static void write_ours(const workload *load)
{
    ss_error err = {0};
    ss_writer *writer = ss_writer_open(path_in(load, "ours.h5"), SS_LAYOUT_CANONICAL, false, &err);
    must(writer, err.message);
    for (int f = 0; f < load->frames; f++) {
        load->frame->time = f * load->frame->h;
        must(ss_writer_frame(writer, load->frame, &err), err.message);
    }
    must(ss_writer_close(writer, &err), err.message);
}

static void read_ours(const workload *load)
{
    ss_error err = {0};
    ss_bpmd *file = ss_bpmd_open(path_in(load, "ours.h5"), NULL, NULL, &err);
    must(file, err.message);
    must(ss_bpmd_frame_count(file) == load->frames, "frames are missing");
    for (int f = 0; f < load->frames; f++) {
        ss_frame *frame = ss_bpmd_read(file, f, NULL, &err);
        must(frame, err.message);
        load->frame->time = f * load->frame->h;
        if (f % 100 == 0) must(ss_frame_equal(frame, load->frame), "a frame came back changed");
        ss_frame_destroy(frame);
    }
    ss_bpmd_close(file);
}

/* ---- plain HDF5: the same data sets, with the calls every tutorial shows --------------------------- */

typedef struct raw_frame {
    hid_t frame, group;
    const char *group_name;
    void *buffer;
} raw_frame;

static hid_t type_of(const ss_field *field)
{
    return field->type == SS_FIELD_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT;
}

static void raw_enter(raw_frame *raw, const char *name, bool create)
{
    if (raw->group_name && strcmp(raw->group_name, name) == 0) return;
    if (raw->group_name) H5Gclose(raw->group);
    raw->group_name = name;
    raw->group = create ? H5Gcreate2(raw->frame, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                        : H5Gopen2(raw->frame, name, H5P_DEFAULT);
}

static void raw_write(const ss_field *field, void *data, size_t bytes, void *context)
{
    raw_frame *raw = context;
    raw_enter(raw, field->group, true);
    hsize_t columns = (hsize_t)field->file_columns;
    hsize_t extent[2] = {bytes / ss_field_element_size(field) / columns, columns};
    hid_t space = H5Screate_simple(2, extent, NULL);
    hid_t set =
        H5Dcreate2(raw->group, field->name, type_of(field), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    must(H5Dwrite(set, type_of(field), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "H5Dwrite");
    H5Dclose(set);
    H5Sclose(space);
}

static void raw_read(const ss_field *field, void *data, size_t bytes, void *context)
{
    raw_frame *raw = context;
    raw_enter(raw, field->group, false);
    hid_t set = H5Dopen2(raw->group, field->name, H5P_DEFAULT);
    must(H5Dread(set, type_of(field), H5S_ALL, H5S_ALL, H5P_DEFAULT, raw->buffer) >= 0, "H5Dread");
    H5Dclose(set);
    must(((char *)raw->buffer)[bytes - 1] == ((char *)data)[bytes - 1], "an array came back changed");
}

static void raw_scalar(hid_t frame, const char *name, double *value, bool create)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t set = create
                    ? H5Dcreate2(frame, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                    : H5Dopen2(frame, name, H5P_DEFAULT);
    herr_t done = create ? H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value)
                         : H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    must(done >= 0, name);
    H5Dclose(set);
    H5Sclose(space);
}

static void raw_frames(const workload *load, hid_t simulation, bool create)
{
    for (int f = 0; f < load->frames; f++) {
        char name[32];
        snprintf(name, sizeof name, "mbs_frame%06d", f + 1);
        raw_frame raw = {.buffer = load->buffer};
        raw.frame = create ? H5Gcreate2(simulation, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                           : H5Gopen2(simulation, name, H5P_DEFAULT);
        double h = load->frame->h, time = f * h;
        raw_scalar(raw.frame, "timestep", &h, create);
        raw_scalar(raw.frame, "time", &time, create);
        each_array(load->frame, create ? raw_write : raw_read, &raw);
        H5Gclose(raw.group);
        H5Gclose(raw.frame);
    }
}

static void sync_file(const char *path)
{
    int file = open(path, O_RDONLY);
    must(file >= 0 && fsync(file) == 0, path);
    close(file);
}

static void write_raw_hdf5(const workload *load)
{
    const char *path = path_in(load, "raw.h5");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t simulation = H5Gcreate2(file, "simulation_000001", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    raw_frames(load, simulation, true);
    H5Gclose(simulation);
    must(H5Fclose(file) >= 0, "H5Fclose");
    sync_file(path);
}

static void read_raw_hdf5(const workload *load)
{
    hid_t file = H5Fopen(path_in(load, "raw.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t simulation = H5Gopen2(file, "simulation_000001", H5P_DEFAULT);
    raw_frames(load, simulation, false);
    H5Gclose(simulation);
    H5Fclose(file);
}

/* ---- no format at all: the same bytes, one call per array ------------------------------------------ */

static void write_bytes(const ss_field *field, void *data, size_t bytes, void *context)
{
    (void)field;
    must(write(*(int *)context, data, bytes) == (ssize_t)bytes, "write");
}

static void write_plain(const workload *load)
{
    int file = open(path_in(load, "plain"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(file >= 0, "open");
    for (int f = 0; f < load->frames; f++) each_array(load->frame, write_bytes, &file);
    must(fsync(file) == 0, "fsync");
    close(file);
}

typedef struct plain_file {
    int file;
    void *buffer;
} plain_file;

static void read_bytes(const ss_field *field, void *data, size_t bytes, void *context)
{
    (void)field, (void)data;
    plain_file *plain = context;
    must(read(plain->file, plain->buffer, bytes) == (ssize_t)bytes, "read");
}

static void read_plain(const workload *load)
{
    plain_file plain = {open(path_in(load, "plain"), O_RDONLY), load->buffer};
    must(plain.file >= 0, "open");
    for (int f = 0; f < load->frames; f++) each_array(load->frame, read_bytes, &plain);
    close(plain.file);
}

/* ---- the table ------------------------------------------------------------------------------------- */

typedef struct method {
    const char *name, *file;
    void (*write)(const workload *), (*read)(const workload *);
    double write_seconds, read_seconds;
} method;

static void keep_best(double *best, double seconds)
{
    if (*best == 0 || seconds < *best) *best = seconds;
}

static void run(const workload *load, method *m)
{
    double start = ss_clock_seconds();
    m->write(load);
    double written = ss_clock_seconds();
    m->read(load);
    keep_best(&m->write_seconds, written - start);
    keep_best(&m->read_seconds, ss_clock_seconds() - written);
    unlink(path_in(load, m->file));
}

static void print_row(const workload *load, const method *m)
{
    double megabytes = (double)load->bytes / 1e6, frames = load->frames;
    printf("  %-20s %9.0f %10.0f %11.0f %10.0f\n", m->name, megabytes / m->write_seconds,
           frames / m->write_seconds, megabytes / m->read_seconds, frames / m->read_seconds);
}

static int argument(int argc, char **argv, int index, int fallback)
{
    int value = argc > index ? atoi(argv[index]) : fallback;
    if (value >= 1) return value;
    fprintf(stderr, "usage: %s [FRAMES [BODIES [CONTACTS [REPEATS [DIRECTORY]]]]]\n", argv[0]);
    exit(2);
}

int main(int argc, char **argv)
{
    workload load = {.frames = argument(argc, argv, 1, 1000), .repeats = argument(argc, argv, 4, 3)};
    int bodies = argument(argc, argv, 2, 500), contacts = argument(argc, argv, 3, 2000);
    snprintf(load.directory, sizeof load.directory, "%s/throughput-XXXXXX", argc > 5 ? argv[5] : ".");
    must(mkdtemp(load.directory), "no temporary directory");
    load.frame = make_frame(bodies, contacts);
    size_t total_and_largest[2] = {0};
    each_array(load.frame, add_size, total_and_largest);
    load.bytes = total_and_largest[0] * (size_t)load.frames;
    load.buffer = malloc(total_and_largest[1]);
    must(load.buffer, "no memory");

    method methods[] = {
        {.name = "stickslip", .file = "ours.h5", .write = write_ours, .read = read_ours},
        {.name = "raw HDF5", .file = "raw.h5", .write = write_raw_hdf5, .read = read_raw_hdf5},
        {.name = "write(2), read(2)", .file = "plain", .write = write_plain, .read = read_plain}};
    for (int repeat = 0; repeat < load.repeats; repeat++)
        for (int m = 0; m < 3; m++) run(&load, &methods[m]);
    rmdir(load.directory);

    printf("%d frames of %d bodies and %d contacts, %.0f MB in all. Best of %d; written with fsync, read "
           "from a warm page cache.\n",
           load.frames, bodies, contacts, (double)load.bytes / 1e6, load.repeats);
    printf("  %-20s %9s %10s %11s %10s\n", "", "MB/s", "frames/s", "MB/s", "frames/s");
    printf("  %-20s %20s %22s\n", "", "writing", "reading");
    for (int m = 0; m < 3; m++) print_row(&load, &methods[m]);
    printf("  %-20s %18.2f x %20.2f x\n", "time, of raw HDF5's",
           methods[0].write_seconds / methods[1].write_seconds,
           methods[0].read_seconds / methods[1].read_seconds);
    ss_frame_destroy(load.frame);
    free(load.buffer);
    return 0;
}
