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
    ss_h5_disk own; /* of a file that is read: no one else has it */
    haddr_t end;    /* of the file, as HDF5 believes */
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
        bool sealed; // in the middle of it: the journal is part of the file
        uint64_t end;
        **out_of_memory = !ss_h5_pages_read(&file->own.pages, file->own.descriptor, &sealed, &end);
        file->end = sealed ? end : (haddr_t)status.st_size;
        file->own.guarded = sealed ? end : 0;
        if (!**out_of_memory) return &file->head;
    }
    if (file->own.descriptor >= 0) close(file->own.descriptor);
    ss_release(file);
    return NULL;
}

static herr_t close_disk(H5FD_t *head)
{
    open_file *file = (open_file *)head;
    if (file->disk == &file->own) {
        close(file->own.descriptor);
        ss_h5_disk_free(&file->own);
    }
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
    return ((const open_file *)head)->disk->allocated;
}

static herr_t set_allocated(H5FD_t *head, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((open_file *)head)->disk->allocated = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const open_file *)head)->end;
}

/* What was given out and never written reads as zeros. */
static bool read_bytes(const ss_h5_disk *disk, haddr_t address, size_t size, void *buffer)
{
    char *to = buffer;
    while (size > 0) {
        ssize_t got = pread(disk->descriptor, to, size, (off_t)address);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) {
            memset(to, 0, size);
            break;
        }
        to += got;
        address += (haddr_t)got;
        size -= (size_t)got;
    }
    return true;
}

/* How much of a piece lies in the page where it starts. */
static size_t within_page(haddr_t address, size_t size)
{
    size_t room = SS_H5_PAGE - (size_t)(address % SS_H5_PAGE);
    return size < room ? size : room;
}

static herr_t read_disk(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                        void *buffer)
{
    (void)type, (void)transfer;
    const ss_h5_disk *disk = ((const open_file *)head)->disk;
    if (!read_bytes(disk, address, size, buffer)) return -1;
    char *to = buffer;
    for (size_t piece; size > 0 && address < disk->guarded; to += piece, address += piece, size -= piece) {
        piece = within_page(address, size);
        const unsigned char *page = ss_h5_pages_find(&disk->pages, address / SS_H5_PAGE);
        if (page) memcpy(to, page + address % SS_H5_PAGE, piece);
    }
    return 0;
}

/* A piece within one page before the guarded end. */
static bool keep_aside(ss_h5_disk *disk, haddr_t address, size_t size, const void *bytes)
{
    uint64_t number = address / SS_H5_PAGE;
    unsigned char *page = ss_h5_pages_find(&disk->pages, number);
    if (!page) {
        page = ss_h5_pages_add(&disk->pages, number);
        if (!page) errno = ENOMEM;
        if (!page || !read_bytes(disk, number * SS_H5_PAGE, SS_H5_PAGE, page)) return false;
    }
    memcpy(page + address % SS_H5_PAGE, bytes, size);
    return true;
}

static herr_t write_disk(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                         const void *buffer)
{
    (void)type, (void)transfer;
    open_file *file = (open_file *)head;
    ss_h5_disk *disk = file->disk;
    const char *from = buffer;
    if (address + size > file->end) file->end = address + size;
    while (size > 0 && disk->trouble == 0) {
        ssize_t put;
        if (address < disk->guarded) {
            put = (ssize_t)within_page(address, size);
            if (!keep_aside(disk, address, (size_t)put, from)) put = -1;
        } else {
            put = pwrite(disk->descriptor, from, size, (off_t)address);
            if (put < 0 && errno == EINTR) continue;
        }
        if (put <= 0) {
            note_trouble(disk);
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
    ss_h5_disk *disk = file->disk;
    if (file->end == disk->allocated) return 0;
    haddr_t end = disk->allocated > disk->guarded ? disk->allocated : disk->guarded;
    if (disk->trouble == 0 && ftruncate(disk->descriptor, (off_t)end) != 0) note_trouble(disk);
    file->end = disk->allocated;
    return 0;
}

/* ---- seals ------------------------------------------------------------------------------------------ */

static haddr_t whole_pages(haddr_t end)
{
    return (end + SS_H5_PAGE - 1) / SS_H5_PAGE * SS_H5_PAGE;
}

void ss_h5_disk_seal(ss_h5_disk *disk)
{
    haddr_t end = disk->allocated, behind = whole_pages(end > disk->guarded ? end : disk->guarded);
    int descriptor = disk->descriptor;
    if (disk->trouble) return;
    // each step is on disk before the next one begins: this holds when the power fails, too
    bool good = disk->pages.count == 0 || ss_h5_pages_append(&disk->pages, descriptor, behind, end);
    good = good && fdatasync(descriptor) == 0;
    if (good && disk->pages.count > 0)
        good = ss_h5_pages_apply(&disk->pages, descriptor, end) && fdatasync(descriptor) == 0;
    good = good && ftruncate(descriptor, (off_t)end) == 0;
    if (!good) note_trouble(disk);
    if (!good) return;
    disk->guarded = whole_pages(end);
    ss_h5_pages_free(&disk->pages);
}

bool ss_h5_disk_mend(int descriptor)
{
    ss_h5_pages pages = {0};
    bool found;
    uint64_t end;
    if (!ss_h5_pages_read(&pages, descriptor, &found, &end)) {
        errno = ENOMEM;
        return false;
    }
    bool good = !found || (ss_h5_pages_apply(&pages, descriptor, end) && fdatasync(descriptor) == 0 &&
                           ftruncate(descriptor, (off_t)end) == 0);
    ss_h5_pages_free(&pages);
    return good;
}

void ss_h5_disk_free(ss_h5_disk *disk)
{
    ss_h5_pages_free(&disk->pages);
}

/* ---- drivers ---------------------------------------------------------------------------------------- */

#ifdef H5FD_CLASS_VERSION // from HDF5 1.14 on; values from 256 to 511 are free for everybody
#define NUMBERED(number) .version = H5FD_CLASS_VERSION, .value = (H5FD_class_value_t)(number),
#else
#define NUMBERED(number)
#endif

/* What files that are written and files that are read have in common. Without `cmp` HDF5 takes no two open
 * files for one. */
#define DRIVER(number, title, opens, settings)                                                         \
    NUMBERED(number).name = (title), .maxaddr = ((haddr_t)1 << 62) - 1, .fc_degree = H5F_CLOSE_STRONG, \
    .fapl_size = sizeof(settings), .open = (opens), .close = close_disk, .query = tell_features,       \
    .get_eoa = get_allocated, .set_eoa = set_allocated, .get_eof = get_end, .read = read_disk,         \
    .write = write_disk, .fl_map = H5FD_FLMAP_DICHOTOMY

static const H5FD_class_t driver = {DRIVER(502, "stickslip_disk", open_disk, ss_h5_disk *),
                                    .truncate = truncate_disk};
/* HDF5 wants `write` here, too, though these files are open for reading only. */
static const H5FD_class_t reading_driver = {DRIVER(503, "stickslip_read", open_to_read, bool *)};

/* Registered once and kept: HDF5 1.10 looks at the class of a driver after it has let go of the file's hold
 * on it, so that something else must hold on to it. */
static bool set_driver(hid_t access, const H5FD_class_t *class, hid_t *kept, const void *settings)
{
    if (*kept <= 0 || H5Iget_type(*kept) != H5I_VFL) *kept = H5FDregister(class);
    return *kept > 0 && H5Pset_driver(access, *kept, settings) >= 0;
}

bool ss_h5_disk_read(hid_t access, bool *out_of_memory)
{
    static hid_t kept;
    return set_driver(access, &reading_driver, &kept, &out_of_memory);
}

bool ss_h5_disk_use(hid_t access, ss_h5_disk *disk)
{
    static hid_t kept;
    return set_driver(access, &driver, &kept, &disk);
}
