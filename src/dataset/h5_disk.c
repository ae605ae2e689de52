#define _GNU_SOURCE
#include "dataset/h5_disk.h"

#include <stickslip/base.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What HDF5 holds of an open file. */
typedef struct open_file {
    H5FD_t head; /* HDF5's own part, first */
    ss_h5_disk *disk;
    ss_h5_disk own;    /* of a file that is read: nobody else has it */
    haddr_t allocated; /* end of what HDF5 has given out */
    haddr_t end;       /* of the file, as HDF5 believes */
} open_file;

static void note_trouble(ss_h5_disk *disk)
{
    if (disk->trouble == 0) disk->trouble = errno ? errno : EIO;
}

static H5FD_t *open_disk(const char *name, unsigned flags, hid_t access, haddr_t max_address)
{
    (void)name, (void)flags, (void)max_address;
    ss_h5_disk *const *disk = H5Pget_driver_info(access);
    struct stat status;
    if (!disk || fstat((*disk)->descriptor, &status) != 0) return NULL;
    open_file *file = ss_allocate(1, sizeof *file);
    if (!file) return NULL;
    file->disk = *disk;
    file->end = (haddr_t)status.st_size;
    return &file->head;
}

static H5FD_t *open_to_read(const char *name, unsigned flags, hid_t access, haddr_t max_address)
{
    (void)max_address;
    bool *const *out_of_memory = H5Pget_driver_info(access);
    if (!out_of_memory || flags & H5F_ACC_RDWR) return NULL;
    struct stat status;
    open_file *file = ss_allocate(1, sizeof *file);
    **out_of_memory = !file;
    if (!file) return NULL;
    file->disk = &file->own;
    file->own.descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (file->own.descriptor >= 0 && fstat(file->own.descriptor, &status) == 0) {
        file->end = (haddr_t)status.st_size;
        return &file->head;
    }
    if (file->own.descriptor >= 0) close(file->own.descriptor);
    ss_release(file);
    return NULL;
}

static herr_t close_disk(H5FD_t *head)
{
    open_file *file = (open_file *)head;
    if (file->disk == &file->own) close(file->own.descriptor);
    ss_release(file);
    return 0;
}

/* The same as the driver of plain files: small pieces are gathered, data passes through a sieve buffer. */
static herr_t tell_features(const H5FD_t *head, unsigned long *flags)
{
    (void)head;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const open_file *)head)->allocated;
}

static herr_t set_allocated(H5FD_t *head, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((open_file *)head)->allocated = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const open_file *)head)->end;
}

/* What was given out and never written reads as zeros. */
static herr_t read_disk(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                        void *buffer)
{
    (void)type, (void)transfer;
    const open_file *file = (const open_file *)head;
    char *to = buffer;
    while (size > 0) {
        ssize_t got = pread(file->disk->descriptor, to, size, (off_t)address);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) {
            memset(to, 0, size);
            break;
        }
        to += got;
        address += (haddr_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static herr_t write_disk(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                         const void *buffer)
{
    (void)type, (void)transfer;
    open_file *file = (open_file *)head;
    const char *from = buffer;
    if (address + size > file->end) file->end = address + size;
    while (size > 0 && file->disk->trouble == 0) {
        ssize_t put = pwrite(file->disk->descriptor, from, size, (off_t)address);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            note_trouble(file->disk);
            break;
        }
        from += put;
        address += (haddr_t)put;
        size -= (size_t)put;
    }
    return 0;
}

static herr_t truncate_disk(H5FD_t *head, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    open_file *file = (open_file *)head;
    if (file->end == file->allocated) return 0;
    if (file->disk->trouble == 0 && ftruncate(file->disk->descriptor, (off_t)file->allocated) != 0)
        note_trouble(file->disk);
    file->end = file->allocated;
    return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,    // from HDF5 1.14 on
    .value = (H5FD_class_value_t)502, // 256 to 511 are free for everybody
#endif
    .name = "stickslip_disk",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(ss_h5_disk *),
    .open = open_disk,
    .close = close_disk,
    .query = tell_features,
    .get_eoa = get_allocated,
    .set_eoa = set_allocated,
    .get_eof = get_end,
    .read = read_disk,
    .write = write_disk,
    .truncate = truncate_disk,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* Without `cmp` HDF5 takes no two open files for one. */
static const H5FD_class_t reading_driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)503,
#endif
    .name = "stickslip_read",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(bool *),
    .open = open_to_read,
    .close = close_disk,
    .query = tell_features,
    .get_eoa = get_allocated,
    .set_eoa = set_allocated,
    .get_eof = get_end,
    .read = read_disk,
    .write = write_disk, // HDF5 wants one; files are open for reading only
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

bool ss_h5_disk_read(hid_t access, bool *out_of_memory)
{
    hid_t id = H5FDregister(&reading_driver);
    bool good = id >= 0 && H5Pset_driver(access, id, &out_of_memory) >= 0;
    if (id >= 0) H5FDunregister(id);
    return good;
}

bool ss_h5_disk_use(hid_t access, ss_h5_disk *disk)
{
    hid_t id = H5FDregister(&driver);
    bool good = id >= 0 && H5Pset_driver(access, id, &disk) >= 0;
    if (id >= 0) H5FDunregister(id); // the access list and the file hold on to it
    return good;
}
