#define _GNU_SOURCE // memfd_create, kill
/* Messages through shared memory (dataset/channel.h). */
#include "dataset/channel.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const uint64_t channel_magic = 0x6c656e6e61686373u;

/* Counters that different processes change are 64 bytes apart, so that they do not share a cache line. */
typedef struct ss_channel_page {
    uint64_t magic, capacity;
    int32_t receiver; /* its process */
    int32_t abi;      /* both ends must be of one build */
    _Alignas(64) _Atomic uint64_t written;
    _Alignas(64) _Atomic uint64_t taken;
    _Alignas(64) _Atomic int32_t holder; /* the process that is sending; 0 = none */
    _Alignas(64) _Atomic int32_t closed; /* by the receiver */
} ss_channel_page;

static size_t page_bytes(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

static bool is_gone(int32_t process)
{
    return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

/* Longer each time, up to 2 ms: waiting should not cost the program what recording saves it. */
static void wait_a_moment(long *pause)
{
    *pause = *pause ? (*pause < 1000000 ? 2 * *pause : 2000000) : 50000; // ns
    nanosleep(&(struct timespec){.tv_nsec = *pause}, NULL);
}

/* ---- mapping ---------------------------------------------------------------------------------------- */

/* The page of counters, then the bytes twice: what leaves the end of the first is the beginning. */
static bool map(ss_channel *c, size_t first)
{
    const int both = PROT_READ | PROT_WRITE;
    unsigned char *all =
        mmap(NULL, first + 2 * c->capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    bool good = mmap(all, first + c->capacity, both, MAP_SHARED | MAP_FIXED, c->file, 0) != MAP_FAILED &&
                mmap(all + first + c->capacity, c->capacity, both, MAP_SHARED | MAP_FIXED, c->file,
                     (off_t)first) != MAP_FAILED;
    if (!good) {
        munmap(all, first + 2 * c->capacity);
        return false;
    }
    c->page = (void *)all;
    c->bytes = all + first;
    return true;
}

bool ss_channel_create(ss_channel *channel, size_t capacity, ss_error *err)
{
    size_t first = page_bytes();
    *channel = (ss_channel){
        .process = getpid(), .receives = true, .capacity = (capacity + first - 1) / first * first};
    channel->file = memfd_create("stickslip-record", 0);
    if (channel->file < 0 || ftruncate(channel->file, (off_t)(first + channel->capacity)) != 0 ||
        !map(channel, first)) {
        if (channel->file >= 0) close(channel->file);
        *channel = (ss_channel){.file = -1};
        return ss_fail(err, SS_ERROR_RESOURCES, "no memory to share with the program: %s", strerror(errno));
    }
    channel->page->magic = channel_magic;
    channel->page->capacity = channel->capacity;
    channel->page->receiver = channel->process;
    channel->page->abi = SS_ABI;
    ss_channel_touch(channel);
    return true;
}

bool ss_channel_attach(ss_channel *channel, int file)
{
    size_t first = page_bytes();
    struct stat about;
    *channel = (ss_channel){.file = -1};
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || (size_t)about.st_size <= first) return false;
    channel->file = file;
    channel->process = getpid();
    channel->capacity = (size_t)about.st_size - first;
    if (channel->capacity % first != 0 || !map(channel, first)) return false;
    if (channel->page->magic == channel_magic && channel->page->capacity == channel->capacity &&
        channel->page->abi == SS_ABI)
        return true;
    munmap(channel->page, first + 2 * channel->capacity);
    channel->page = NULL;
    return false;
}

void ss_channel_touch(ss_channel *channel)
{
#ifdef MADV_POPULATE_WRITE
    if (channel->page) madvise(channel->page, page_bytes() + channel->capacity, MADV_POPULATE_WRITE);
#endif
    (void)channel;
}

void ss_channel_free(ss_channel *channel)
{
    if (channel->page && channel->receives) atomic_store(&channel->page->closed, 1);
    if (channel->page) munmap(channel->page, page_bytes() + 2 * channel->capacity);
    if (channel->page && channel->file >= 0) close(channel->file);
    ss_release(channel->fragment);
    *channel = (ss_channel){.file = -1};
}

/* ---- sending ---------------------------------------------------------------------------------------- */

static bool take_turn(ss_channel_page *page, int32_t mine, double deadline)
{
    long pause = 0;
    for (;;) {
        int32_t holder = 0;
        if (atomic_compare_exchange_strong(&page->holder, &holder, mine)) return true;
        // One that died while it held the ring left nothing that counts.
        if (is_gone(holder) && atomic_compare_exchange_strong(&page->holder, &holder, mine)) return true;
        if (atomic_load(&page->closed) || is_gone(page->receiver)) return false;
        if (deadline > 0.0 && ss_clock_seconds() > deadline) return false;
        wait_a_moment(&pause);
    }
}

static bool wait_for_room(const ss_channel *c, size_t length, double deadline)
{
    ss_channel_page *page = c->page;
    long pause = 0;
    for (;;) {
        if (atomic_load_explicit(&page->closed, memory_order_relaxed)) return false;
        uint64_t taken = atomic_load_explicit(&page->taken, memory_order_acquire),
                 written = atomic_load_explicit(&page->written, memory_order_relaxed);
        if (length <= c->capacity - (size_t)(written - taken)) return true;
        if (is_gone(page->receiver)) return false;
        if (deadline > 0.0 && ss_clock_seconds() > deadline) return false;
        wait_a_moment(&pause);
    }
}

bool ss_channel_send(ss_channel *c, uint32_t kind, const struct iovec *part, int count, double patience)
{
    ss_channel_page *page = c->page;
    double deadline = patience > 0.0 ? ss_clock_seconds() + patience : 0.0;
    size_t left = 0, offset = 0;
    for (int i = 0; i < count; i++) left += part[i].iov_len;
    if (!take_turn(page, c->process, deadline)) return false;

    // Usually all of it at once; what is larger than a quarter of the ring in several messages.
    const size_t most = c->capacity / 4;
    bool good = true;
    uint32_t number = 0;
    for (int i = 0;; number++) {
        size_t length = left < most ? left : most, filled = 0;
        size_t needed = sizeof(ss_channel_head) + (length + 7) / 8 * 8;
        good = wait_for_room(c, needed, deadline);
        if (!good) break;
        uint64_t written = atomic_load_explicit(&page->written, memory_order_relaxed);
        unsigned char *to = c->bytes + written % c->capacity;
        ss_channel_head head = {SS_MESSAGE_MAGIC, kind, (uint32_t)c->process, number, left > length, length};
        memcpy(to, &head, sizeof head);
        to += sizeof head;
        while (filled < length) {
            size_t piece = part[i].iov_len - offset;
            if (piece > length - filled) piece = length - filled;
            memcpy(to + filled, (const char *)part[i].iov_base + offset, piece);
            filled += piece;
            offset += piece;
            if (offset == part[i].iov_len) i++, offset = 0;
        }
        atomic_store_explicit(&page->written, written + needed, memory_order_release);
        left -= length;
        if (left == 0) break;
    }
    atomic_store(&page->holder, 0);
    return good;
}

/* ---- receiving -------------------------------------------------------------------------------------- */

ss_message *ss_channel_receive(ss_channel *c, bool *bad)
{
    *bad = false;
    for (;;) {
        uint64_t written = atomic_load_explicit(&c->page->written, memory_order_acquire);
        if (written == c->taken) return NULL;
        size_t there = (size_t)(written - c->taken);
        ss_channel_head head = {0};
        if (there <= c->capacity && there >= sizeof head)
            memcpy(&head, c->bytes + c->taken % c->capacity, sizeof head);
        *bad = head.magic != SS_MESSAGE_MAGIC || head.length > there - sizeof head;
        if (*bad) return NULL;

        // A first part, or one that continues what is there already.
        ss_message *before = c->fragment;
        if (before && (head.part == 0 || before->head.sender != head.sender)) {
            ss_release(before);
            before = NULL;
        }
        size_t known = before ? (size_t)before->head.length : 0;
        ss_message *m = ss_allocate_unset(sizeof *m + known + (size_t)head.length);
        *bad = !m;
        if (m) {
            m->head = head;
            m->head.length += known;
            if (known) memcpy(m->bytes, before->bytes, known);
            memcpy(m->bytes + known, c->bytes + c->taken % c->capacity + sizeof head, (size_t)head.length);
        }
        ss_release(before);
        c->fragment = NULL;
        c->taken += sizeof head + (head.length + 7) / 8 * 8;
        atomic_store_explicit(&c->page->taken, c->taken, memory_order_release);
        if (!m || !m->head.more) return m;
        c->fragment = m;
    }
}
