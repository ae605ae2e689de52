/* PNG by hand around zlib: signature, header, one compressed block, end (ISO 15948). */
#include "report/picture.h"

#include "base/file.h"

#include <string.h>
#include <zlib.h>

typedef struct writer {
    uint8_t *data;
    size_t size;
} writer;

static void put(writer *to, const void *data, size_t size)
{
    if (size) memcpy(to->data + to->size, data, size);
    to->size += size;
}

static void put_number(writer *to, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                        (uint8_t)value};
    put(to, bytes, sizeof bytes);
}

static void put_chunk(writer *to, const char *type, const uint8_t *data, size_t size)
{
    put_number(to, (uint32_t)size);
    size_t start = to->size;
    put(to, type, 4);
    put(to, data, size);
    put_number(to, (uint32_t)crc32(0, to->data + start, (uInt)(4 + size)));
}

static void put_header(writer *to, const ss_picture *picture)
{
    uint8_t bytes[13];
    writer header = {bytes, 0};
    put_number(&header, (uint32_t)picture->width);
    put_number(&header, (uint32_t)picture->height);
    put(&header, (uint8_t[5]){8, 2, 0, 0, 0}, 5); // 8 bits, RGB, not interlaced
    put_chunk(to, "IHDR", bytes, sizeof bytes);
}

/* Rows with filter "up" (type 2): differences to the row above, which compress well in pictures
 * of flat colours. */
static void filter_rows(const ss_picture *picture, uint8_t *to)
{
    size_t stride = 3 * (size_t)picture->width;
    for (int row = 0; row < picture->height; row++) {
        const uint8_t *line = picture->rgb + (size_t)row * stride;
        *to++ = 2;
        for (size_t i = 0; i < stride; i++)
            *to++ = (uint8_t)(row > 0 ? line[i] - (line - stride)[i] : line[i]);
    }
}

static bool write_file(const ss_picture *picture, const uint8_t *packed, size_t packed_size, const char *path,
                       ss_error *err)
{
    enum { AROUND = 8 + 3 * 12 + 13 }; // signature, frames of three chunks, header
    writer file = {ss_allocate(packed_size + AROUND, 1), 0};
    if (!file.data) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    put(&file, "\x89PNG\r\n\x1a\n", 8);
    put_header(&file, picture);
    put_chunk(&file, "IDAT", packed, packed_size);
    put_chunk(&file, "IEND", NULL, 0);
    bool good = ss_file_replace(path, file.data, file.size, err);
    ss_release(file.data);
    return good;
}

bool ss_picture_write_png(const ss_picture *picture, const char *path, ss_error *err)
{
    size_t raw_size = (size_t)picture->height * (3 * (size_t)picture->width + 1);
    uLongf packed_size = compressBound((uLong)raw_size);
    uint8_t *raw = ss_allocate(raw_size, 1), *packed = ss_allocate(packed_size, 1);
    bool good = raw && packed;
    if (good) {
        filter_rows(picture, raw);
        good = compress2(packed, &packed_size, raw, (uLong)raw_size, 9) == Z_OK;
    }
    if (!good)
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    else
        good = write_file(picture, packed, packed_size, path, err);
    ss_release(raw);
    ss_release(packed);
    return good;
}
