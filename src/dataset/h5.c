#include "dataset/h5.h"

#include "dataset/h5_disk.h"
#include "dataset/reading_flag.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one lock, silent errors, no plug-ins ----------------------------------------------------------- */

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int *reading_flag;

void ss_dataset_set_reading_flag(volatile int *flag)
{
    reading_flag = flag;
}

void ss_h5_enter(ss_h5_session *session)
{
    ss_h5_enter_to_write(session);
    if (reading_flag) *reading_flag = 1;
}

void ss_h5_enter_to_write(ss_h5_session *session)
{
    pthread_mutex_lock(&library_lock);
    H5open();
    H5Eget_auto2(H5E_DEFAULT, &session->report, &session->report_context);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLget_loading_state(&session->plugins);
    H5PLset_loading_state(0);
}

void ss_h5_leave(ss_h5_session *session)
{
    H5PLset_loading_state(session->plugins);
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, session->report, session->report_context);
    if (reading_flag) *reading_flag = 0;
    pthread_mutex_unlock(&library_lock);
}

/* ---- opening ---------------------------------------------------------------------------------------- */

bool ss_h5_join(const ss_h5_group *parent, const char *name, char path[SS_H5_PATH])
{
    bool at_root = strcmp(parent->path, "/") == 0;
    int length = snprintf(path, SS_H5_PATH, "%s/%s", at_root ? "" : parent->path, name);
    return length >= 0 && length < SS_H5_PATH;
}

#define FAIL(group, name, ...) fail_at(group, name, err, SS_ERROR_INPUT, __VA_ARGS__)

SS_PRINTF(5, 6)
static bool fail_at(const ss_h5_group *group, const char *name, ss_error *err, ss_error_code code,
                    const char *format, ...)
{
    char what[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    char path[SS_H5_PATH];
    bool whole = !name || ss_h5_join(group, name, path);
    return ss_fail(err, code, "%s: %s%s: %s", group->file, name ? path : group->path, whole ? "" : "...",
                   what);
}

static bool open_root(hid_t file_id, const char *file, double max_bytes, ss_h5_group *root, ss_error *err)
{
    *root = (ss_h5_group){.id = H5Gopen2(file_id, "/", H5P_DEFAULT), .file = file, .max_bytes = max_bytes};
    strcpy(root->path, "/");
    return root->id >= 0 || ss_fail(err, SS_ERROR_INPUT, "%s: the root group cannot be opened", file);
}

/* Old files on read-only disks must open, so no locks; whatever is left open closes with the file. */
static hid_t access_list(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    H5Pset_file_locking(access, false, true);
    // data sets are read whole: a buffer of 64 kB for each would be cleared in vain
    H5Pset_sieve_buf_size(access, 1);
    return access;
}

static bool check_regular(const char *file, ss_error *err)
{
    struct stat status;
    if (stat(file, &status) != 0 && errno == ENOENT) {
        ss_leftovers left;
        bool some = ss_leftovers_find(file, &left, NULL) && left.count > 0;
        ss_fail(err, SS_ERROR_INPUT, "%s: no such file%s%s%s", file, some ? ", but " : "",
                some ? left.paths[0] : "", some ? " was left by a recording that did not end" : "");
        ss_leftovers_free(&left);
        return false;
    }
    if (stat(file, &status) != 0) return ss_fail(err, SS_ERROR_INPUT, "%s: %s", file, strerror(errno));
    if (!S_ISREG(status.st_mode)) return ss_fail(err, SS_ERROR_INPUT, "%s: not a regular file", file);
    if (status.st_size == 0) return ss_fail(err, SS_ERROR_INPUT, "%s: the file is empty", file);
    if (access(file, R_OK) != 0)
        return ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read: %s", file, strerror(errno));
    return true;
}

/* The process that writes a recording holds a lock on its temporary file. */
static bool is_being_written(const char *file)
{
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    bool busy = descriptor >= 0 && flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (descriptor >= 0) close(descriptor);
    return busy;
}

bool ss_h5_open(const char *file, double max_bytes, hid_t *file_id, ss_h5_group *root, ss_error *err)
{
    *file_id = -1;
    if (!check_regular(file, err)) return false;
    if (ss_h5_partial_process(file, NULL) && is_being_written(file))
        return ss_fail(err, SS_ERROR_INPUT, "%s: is still being written, by process %ld", file,
                       ss_h5_partial_process(file, NULL));

    bool out_of_memory = false;
    hid_t access = access_list();
    *file_id = ss_h5_disk_read(access, &out_of_memory) ? H5Fopen(file, H5F_ACC_RDONLY, access) : -1;
    H5Pclose(access);
    if (out_of_memory) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", file);

    /* A ledger is easily mistaken for a recording. */
    if (*file_id < 0) {
        char first[16] = "";
        FILE *stream = fopen(file, "rb");
        size_t got = stream ? fread(first, 1, sizeof first, stream) : 0;
        if (stream) fclose(stream);
        bool is_database = got == sizeof first && memcmp(first, "SQLite format 3", sizeof first) == 0;
        return ss_fail(err, SS_ERROR_INPUT, "%s: not an HDF5 file, %s", file,
                       is_database ? "but a SQLite database (a ledger?)" : "or damaged");
    }

    if (open_root(*file_id, file, max_bytes, root, err)) return true;
    ss_h5_close(*file_id);
    *file_id = -1;
    return false;
}

bool ss_h5_open_image(const void *bytes, size_t size, double max_bytes, hid_t *file_id, ss_h5_group *root,
                      ss_error *err)
{
    static unsigned long count; // HDF5 takes two open images of one name for one file; the lock is held
    char name[32];
    snprintf(name, sizeof name, "image %lu", ++count);
    hid_t access = access_list();
    H5Pset_fapl_core(access, 1 << 16, false);
    H5Pset_file_image(access, (void *)(uintptr_t)bytes, size);
    *file_id = H5Fopen(name, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (*file_id < 0) return ss_fail(err, SS_ERROR_INPUT, "image: not an HDF5 file, or damaged");
    if (open_root(*file_id, "image", max_bytes, root, err)) return true;
    ss_h5_close(*file_id);
    *file_id = -1;
    return false;
}

void ss_h5_close(hid_t file_id)
{
    if (file_id >= 0) H5Fclose(file_id);
}

/* ---- links and groups ------------------------------------------------------------------------------- */

static bool link_is_hard(const ss_h5_group *group, const char *name, H5L_type_t type, ss_error *err)
{
    switch (type) {
    case H5L_TYPE_HARD:
        return true;
    case H5L_TYPE_SOFT:
        return FAIL(group, name, "a soft link; only data inside the file itself is read");
    case H5L_TYPE_EXTERNAL:
        return FAIL(group, name, "an external link to another file is refused");
    default:
        return FAIL(group, name, "a link of unknown type is refused");
    }
}

typedef struct each_context {
    const ss_h5_group *group;
    ss_h5_visit *visit;
    void *context;
    ss_error *err;
    bool told;
} each_context;

static herr_t visit_link(hid_t id, const char *name, const H5L_info_t *info, void *data)
{
    (void)id;
    each_context *each = data;
    each->told = true;
    if (!link_is_hard(each->group, name, info->type, each->err)) return -1;
    if (!each->visit(name, each->context, each->err)) return -1;
    each->told = false;
    return 0;
}

bool ss_h5_each(const ss_h5_group *group, ss_h5_visit *visit, void *context, ss_error *err)
{
    each_context each = {group, visit, context, err, false};
    if (H5Literate(group->id, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &each) >= 0) return true;
    return each.told ? false : FAIL(group, NULL, "the list of its members is damaged");
}

bool ss_h5_names_add(ss_h5_names *names, int *capacity, const char *name)
{
    if (names->count == *capacity) {
        int larger = *capacity ? 2 * *capacity : 16;
        char **grown = ss_allocate((size_t)larger, sizeof *grown);
        if (!grown) return false;
        if (names->count) memcpy(grown, names->names, (size_t)names->count * sizeof *grown);
        ss_release(names->names);
        names->names = grown;
        *capacity = larger;
    }
    char *copy = ss_text_copy(name);
    if (copy) names->names[names->count++] = copy;
    return copy != NULL;
}

typedef struct list_context {
    const ss_h5_group *group;
    ss_h5_names *names;
    int capacity, max_names;
} list_context;

static bool add_name(const char *name, void *context, ss_error *err)
{
    list_context *list = context;
    ss_h5_names *names = list->names;
    if (names->count == list->max_names) {
        return FAIL(list->group, NULL, "more than %d members", list->max_names);
    }
    return ss_h5_names_add(names, &list->capacity, name) ||
           ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", list->group->file);
}

bool ss_h5_list(const ss_h5_group *group, int max_names, ss_h5_names *names, ss_error *err)
{
    *names = (ss_h5_names){0};
    list_context list = {group, names, 0, max_names};
    if (ss_h5_each(group, add_name, &list, err)) return true;
    ss_h5_names_free(names);
    return false;
}

bool ss_h5_names_have(const ss_h5_names *names, const char *name)
{
    for (int i = 0; i < names->count; i++) {
        if (strcmp(names->names[i], name) == 0) return true;
    }
    return false;
}

void ss_h5_names_free(ss_h5_names *names)
{
    for (int i = 0; i < names->count; i++) ss_release(names->names[i]);
    ss_release(names->names);
    *names = (ss_h5_names){0};
}

bool ss_h5_has(const ss_h5_group *group, const char *name)
{
    H5L_info_t info;
    return H5Lexists(group->id, name, H5P_DEFAULT) > 0 &&
           H5Lget_info(group->id, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

bool ss_h5_is_group(const ss_h5_group *group, const char *name)
{
    H5O_info_t info;
    return ss_h5_has(group, name) &&
           H5Oget_info_by_name2(group->id, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
           info.type == H5O_TYPE_GROUP;
}

/* One name, one hard link: nothing with a '/' in it can lead elsewhere. */
static bool check_link(const ss_h5_group *group, const char *name, ss_error *err)
{
    H5L_info_t info;
    if (strchr(name, '/')) return FAIL(group, name, "a name must not contain '/'");
    if (group->all_hard) return true;
    if (H5Lget_info(group->id, name, &info, H5P_DEFAULT) < 0)
        return FAIL(group, name, H5Lexists(group->id, name, H5P_DEFAULT) > 0 ? "is damaged" : "is missing");
    return link_is_hard(group, name, info.type, err);
}

bool ss_h5_enter_group(const ss_h5_group *parent, const char *name, ss_h5_group *group, ss_error *err)
{
    *group = (ss_h5_group){.id = -1, .file = parent->file, .max_bytes = parent->max_bytes};
    if (!check_link(parent, name, err)) return false;
    if (!ss_h5_join(parent, name, group->path)) return FAIL(parent, name, "the path is too long");
    group->id = H5Gopen2(parent->id, name, H5P_DEFAULT);
    return group->id >= 0 || FAIL(parent, name, "must be a group");
}

void ss_h5_leave_group(ss_h5_group *group)
{
    if (group->file && group->id >= 0) H5Gclose(group->id);
    group->id = -1;
}

/* ---- data sets -------------------------------------------------------------------------------------- */

static bool check_storage(const ss_h5_group *group, const char *name, hid_t dataset, size_t item,
                          ss_error *err)
{
    // Only contiguous data inside this file has one address. Most data sets do, and copying the list is slow.
    if (H5Dget_offset(dataset) != HADDR_UNDEF) return true;
    hid_t creation = H5Dget_create_plist(dataset);
    if (creation < 0) return FAIL(group, name, "its storage description is damaged");

    H5D_layout_t layout = H5Pget_layout(creation);
    bool good = layout == H5D_COMPACT || layout == H5D_CHUNKED;
    if (layout == H5D_CONTIGUOUS)
        good = H5Pget_external_count(creation) == 0 ||
               FAIL(group, name, "external storage in another file is refused");
    else if (layout == H5D_VIRTUAL)
        FAIL(group, name, "a virtual data set is refused");
    else if (!good)
        FAIL(group, name, "stored in an unknown layout");

    if (layout == H5D_CHUNKED) {
        int filters = H5Pget_nfilters(creation);
        good = (filters >= 0 && filters <= 32) || FAIL(group, name, "its filter list is damaged");
        for (int i = 0; good && i < filters; i++) {
            unsigned flags, config;
            size_t values = 0;
            H5Z_filter_t filter =
                H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
            good = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
                   filter == H5Z_FILTER_FLETCHER32 ||
                   FAIL(group, name, "stored with filter %d; only deflate, shuffle and fletcher32 are read",
                        (int)filter);
        }

        /* A chunk is read as a whole, so that a tiny data set in a huge chunk would still take the memory. */
        hsize_t extent[H5S_MAX_RANK];
        int rank = good ? H5Pget_chunk(creation, H5S_MAX_RANK, extent) : 0;
        double bytes = (double)item;
        for (int i = 0; i < rank; i++) bytes *= (double)extent[i];
        if (rank < 0) good = FAIL(group, name, "its chunk sizes are damaged");
        if (good && !(bytes <= group->max_bytes))
            good = FAIL(group, name, "chunks of %.3g MB, over the limit of %.3g MB", bytes / 1e6,
                        group->max_bytes / 1e6);
    }
    H5Pclose(creation);
    return good;
}

typedef struct open_dataset {
    hid_t id, type;
    H5T_class_t class;
    int rank;
    uint64_t extent[8], count;
} open_dataset;

static void close_dataset(open_dataset *dataset)
{
    if (dataset->type >= 0) H5Tclose(dataset->type);
    if (dataset->id >= 0) H5Dclose(dataset->id);
}

/* A data set that claims more than the file could hold is caught here, before memory is taken. */
static bool get_extent(const ss_h5_group *group, const char *name, open_dataset *dataset, size_t item,
                       ss_error *err)
{
    hsize_t extent[H5S_MAX_RANK];
    hid_t space = H5Dget_space(dataset->id);
    H5S_class_t class = space < 0 ? H5S_NO_CLASS : H5Sget_simple_extent_type(space);
    int rank = class == H5S_SIMPLE || class == H5S_SCALAR ? H5Sget_simple_extent_ndims(space) : -1;
    if (rank > 0 && rank <= 8) H5Sget_simple_extent_dims(space, extent, NULL);
    if (space >= 0) H5Sclose(space);

    if (class == H5S_NULL) rank = 1, extent[0] = 0; // MATLAB and h5py write empty arrays like this
    if (rank < 0) return FAIL(group, name, "its shape is damaged");
    if (rank > 8) return FAIL(group, name, "has %d dimensions", rank);

    dataset->rank = rank;
    double bytes = (double)item;
    dataset->count = 1;
    for (int i = 0; i < rank; i++) {
        bytes *= (double)extent[i];
        if (bytes > group->max_bytes) {
            return FAIL(group, name, "claims over %.3g MB, the limit is %.3g MB", bytes / 1e6,
                        group->max_bytes / 1e6);
        }
        dataset->extent[i] = extent[i];
        dataset->count *= extent[i];
    }
    return true;
}

/* Opens and checks everything but the type class. `item` is what one element will take in memory. */
static bool open_checked(const ss_h5_group *group, const char *name, size_t item, open_dataset *dataset,
                         ss_error *err)
{
    *dataset = (open_dataset){.id = -1, .type = -1};
    if (!check_link(group, name, err)) return false;
    dataset->id = H5Dopen2(group->id, name, H5P_DEFAULT);
    if (dataset->id < 0) return FAIL(group, name, "must be a data set (or its description is damaged)");
    dataset->type = H5Dget_type(dataset->id);
    if (dataset->type < 0) return FAIL(group, name, "its type is damaged");
    dataset->class = H5Tget_class(dataset->type);
    size_t stored = H5Tget_size(dataset->type);
    if (stored > item) item = stored;
    return get_extent(group, name, dataset, item, err) && check_storage(group, name, dataset->id, item, err);
}

static const char *class_name(H5T_class_t class)
{
    switch (class) {
    case H5T_STRING:
        return "text";
    case H5T_COMPOUND:
        return "compound values";
    case H5T_REFERENCE:
        return "references";
    case H5T_ENUM:
        return "an enumeration";
    case H5T_VLEN:
        return "variable-length lists";
    case H5T_ARRAY:
        return "arrays";
    case H5T_INTEGER:
    case H5T_FLOAT:
        return "numbers";
    default:
        return "values of another type";
    }
}

/* HDF5 can describe numbers with any bit layout, and its conversion of absurd ones writes past its own
 * buffers (1.10.8). Every writer of these formats has used one of the standard types; the most
 * frequent come first. */
static bool type_is_standard(hid_t type)
{
    const hid_t standard[] = {
        H5T_IEEE_F64LE, H5T_STD_I32LE,  H5T_STD_U64LE, H5T_IEEE_F32LE,     H5T_STD_I64LE,
        H5T_STD_U32LE,  H5T_STD_U8LE,   H5T_STD_I8LE,  H5T_STD_I16LE,      H5T_STD_U16LE,
        H5T_IEEE_F64BE, H5T_IEEE_F32BE, H5T_STD_I32BE, H5T_STD_U32BE,      H5T_STD_I64BE,
        H5T_STD_U64BE,  H5T_STD_I16BE,  H5T_STD_U16BE, H5T_NATIVE_LDOUBLE,
    };
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++) {
        if (H5Tequal(type, standard[i]) > 0) return true;
    }
    return false;
}

static bool open_numeric(const ss_h5_group *group, const char *name, open_dataset *dataset, ss_error *err)
{
    if (!open_checked(group, name, sizeof(double), dataset, err)) return false;
    if (dataset->class != H5T_INTEGER && dataset->class != H5T_FLOAT) {
        return FAIL(group, name, "holds %s, numbers are needed", class_name(dataset->class));
    }
    return type_is_standard(dataset->type) ||
           FAIL(group, name, "holds numbers in a format that is neither a standard integer nor IEEE");
}

static bool read_as(const open_dataset *dataset, hid_t memory_type, hid_t transfer, void *to)
{
    return H5Dread(dataset->id, memory_type, H5S_ALL, H5S_ALL, transfer, to) >= 0;
}

/* The types that all writers use are read as they are stored; only the rest is left to HDF5 to convert. */
static bool read_numbers(const ss_h5_group *group, const char *name, const open_dataset *dataset,
                         double *values, ss_error *err)
{
    uint64_t count = dataset->count;
    bool good;
    if (count == 0) return true;
    if (H5Tequal(dataset->type, H5T_NATIVE_DOUBLE) > 0) {
        good = read_as(dataset, H5T_NATIVE_DOUBLE, H5P_DEFAULT, values);
    } else if (H5Tequal(dataset->type, H5T_NATIVE_INT32) > 0) {
        /* Into the upper half of the room of the doubles, and widened from there upwards in place. */
        unsigned char *from = (unsigned char *)values + count * sizeof(int32_t);
        good = read_as(dataset, H5T_NATIVE_INT32, H5P_DEFAULT, from);
        for (uint64_t i = 0; good && i < count; i++) {
            int32_t value;
            memcpy(&value, from + i * sizeof value, sizeof value);
            values[i] = value;
        }
    } else if (H5Tequal(dataset->type, H5T_NATIVE_UINT64) > 0) {
        good = read_as(dataset, H5T_NATIVE_UINT64, H5P_DEFAULT, values);
        for (uint64_t i = 0; good && i < count; i++) {
            uint64_t value;
            memcpy(&value, values + i, sizeof value);
            values[i] = (double)value;
        }
    } else {
        /* HDF5 takes and clears a buffer of 1 MB whenever it has to convert, for however few numbers. 16
         * bytes: the widest type we read. */
        hid_t transfer = count > 1 << 16 ? -1 : H5Pcreate(H5P_DATASET_XFER);
        if (transfer >= 0) H5Pset_buffer(transfer, 16 * (size_t)count, NULL, NULL);
        good = read_as(dataset, H5T_NATIVE_DOUBLE, transfer >= 0 ? transfer : H5P_DEFAULT, values);
        if (transfer >= 0) H5Pclose(transfer);
    }
    return good || FAIL(group, name, "its data cannot be read (damaged or cut off)");
}

static bool out_of_memory(const ss_h5_group *group, const char *name, ss_error *err)
{
    return fail_at(group, name, err, SS_ERROR_RESOURCES, "out of memory");
}

bool ss_h5_read(const ss_h5_group *group, const char *name, ss_h5_array *array, ss_error *err)
{
    *array = (ss_h5_array){0};
    open_dataset dataset;
    bool good = open_numeric(group, name, &dataset, err);
    if (good) {
        array->values = ss_allocate(dataset.count, sizeof(double));
        good = array->values ? read_numbers(group, name, &dataset, array->values, err)
                             : out_of_memory(group, name, err);
    }
    if (good) {
        array->rank = dataset.rank;
        memcpy(array->extent, dataset.extent, sizeof array->extent);
        array->count = dataset.count;
        array->is_float = dataset.class == H5T_FLOAT;
    } else {
        ss_h5_array_free(array);
    }
    close_dataset(&dataset);
    return good;
}

void ss_h5_array_free(ss_h5_array *array)
{
    ss_release(array->values);
    array->values = NULL;
}

bool ss_h5_read_exactly(const ss_h5_group *group, const char *name, uint64_t count, double *values,
                        ss_error *err)
{
    open_dataset dataset;
    bool good = open_numeric(group, name, &dataset, err);
    if (good && dataset.count != count) {
        good = FAIL(group, name, "has %llu numbers, %llu are needed", (unsigned long long)dataset.count,
                    (unsigned long long)count);
    }
    good = good && read_numbers(group, name, &dataset, values, err);
    close_dataset(&dataset);
    return good;
}

bool ss_h5_read_scalar(const ss_h5_group *group, const char *name, double *value, ss_error *err)
{
    return ss_h5_read_exactly(group, name, 1, value, err);
}

bool ss_h5_read_int(const ss_h5_group *group, const char *name, int *value, ss_error *err)
{
    return ss_h5_read_ints(group, name, 1, value, err);
}

bool ss_h5_read_ints(const ss_h5_group *group, const char *name, uint64_t count, int *values, ss_error *err)
{
    ss_h5_array array;
    if (!ss_h5_read(group, name, &array, err)) return false;
    bool good = array.count == count || FAIL(group, name, "has %llu numbers, %llu are needed",
                                             (unsigned long long)array.count, (unsigned long long)count);
    for (uint64_t i = 0; good && i < count; i++) {
        double value = array.values[i];
        good = (value >= INT32_MIN && value <= INT32_MAX && value == floor(value)) ||
               FAIL(group, name, "[%llu] = %.17g is not a 32-bit integer", (unsigned long long)i, value);
        if (good) values[i] = (int)value;
    }
    ss_h5_array_free(&array);
    return good;
}

/* ---- text and bytes --------------------------------------------------------------------------------- */

enum { MAX_TEXT = 1 << 20 };

static bool read_variable_text(const ss_h5_group *group, const char *name, const open_dataset *dataset,
                               char **text, ss_error *err)
{
    char *stored = NULL;
    hid_t memory = H5Tcopy(H5T_C_S1);
    H5Tset_size(memory, H5T_VARIABLE);
    H5Tset_cset(memory, H5Tget_cset(dataset->type));
    bool good = H5Dread(dataset->id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, &stored) >= 0 ||
                FAIL(group, name, "its text cannot be read");
    H5Tclose(memory);
    if (!good) return false;
    *text = ss_text_copy(stored && strnlen(stored, MAX_TEXT) < MAX_TEXT ? stored : "");
    H5free_memory(stored);
    return *text || out_of_memory(group, name, err);
}

static bool read_fixed_text(const ss_h5_group *group, const char *name, const open_dataset *dataset,
                            char **text, ss_error *err)
{
    size_t size = H5Tget_size(dataset->type);
    if (size > MAX_TEXT) return FAIL(group, name, "a text of %zu bytes is too long", size);
    *text = ss_allocate(size + 1, 1);
    if (!*text) return out_of_memory(group, name, err);
    if (H5Dread(dataset->id, dataset->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *text) >= 0) {
        if (H5Tget_strpad(dataset->type) == H5T_STR_SPACEPAD) {
            for (size_t i = strlen(*text); i > 0 && (*text)[i - 1] == ' '; i--) (*text)[i - 1] = '\0';
        }
        return true;
    }
    ss_release(*text);
    *text = NULL;
    return FAIL(group, name, "its text cannot be read");
}

bool ss_h5_read_text(const ss_h5_group *group, const char *name, char **text, ss_error *err)
{
    *text = NULL;
    open_dataset dataset;
    bool good = open_checked(group, name, 1, &dataset, err);
    if (good && dataset.class != H5T_STRING) {
        good = FAIL(group, name, "holds %s, a text is needed", class_name(dataset.class));
    }
    if (good && dataset.count != 1) good = FAIL(group, name, "must hold one text");
    if (good) {
        good = H5Tis_variable_str(dataset.type) > 0 ? read_variable_text(group, name, &dataset, text, err)
                                                    : read_fixed_text(group, name, &dataset, text, err);
    }
    close_dataset(&dataset);
    return good;
}

bool ss_h5_read_bytes(const ss_h5_group *group, const char *name, uint8_t **bytes, uint64_t extent[3],
                      int rank, ss_error *err)
{
    *bytes = NULL;
    open_dataset dataset;
    bool good = open_checked(group, name, 1, &dataset, err);
    if (good && (dataset.class != H5T_INTEGER || !type_is_standard(dataset.type))) {
        good = FAIL(group, name, "holds %s, bytes are needed", class_name(dataset.class));
    }
    if (good && dataset.rank != rank)
        good = FAIL(group, name, "has %d dimensions, needs %d", dataset.rank, rank);

    if (good) {
        *bytes = ss_allocate(dataset.count, 1);
        good = *bytes != NULL || out_of_memory(group, name, err);
    }
    if (good && dataset.count &&
        H5Dread(dataset.id, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, *bytes) < 0) {
        good = FAIL(group, name, "its data cannot be read");
    }

    for (int i = 0; good && i < rank; i++) extent[i] = dataset.extent[i];
    if (!good) {
        ss_release(*bytes);
        *bytes = NULL;
    }
    close_dataset(&dataset);
    return good;
}

bool ss_h5_text_attribute_of(const ss_h5_group *group, const char *dataset, const char *name, char *text,
                             size_t size)
{
    if (H5Aexists_by_name(group->id, dataset, name, H5P_DEFAULT) <= 0) return false;
    hid_t attribute = H5Aopen_by_name(group->id, dataset, name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    bool one = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
               H5Sget_simple_extent_npoints(space) == 1;

    /* HDF5 itself takes the memory for a text of variable length; the others that we know are below 4 kB. */
    bool good = false;
    if (one && H5Tis_variable_str(type) > 0) {
        char *stored = NULL;
        good = H5Aread(attribute, type, &stored) >= 0 && stored;
        if (good) snprintf(text, size, "%s", stored);
        H5free_memory(stored);
    } else if (one && H5Tget_size(type) < 4096) {
        char stored[4097] = {0};
        good = H5Aread(attribute, type, stored) >= 0;
        if (good) snprintf(text, size, "%s", stored);
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    return good;
}

bool ss_h5_text_attribute(const ss_h5_group *group, const char *name, char *text, size_t size)
{
    return ss_h5_text_attribute_of(group, ".", name, text, size);
}
