/* PNG by hand around zlib: signature, header, one compressed block, end (ISO 15948). */
#include "figure/png.h"

#include "figure/pack.h"

#include <math.h>
#include <zlib.h>

void ss_pack_deflated(ss_text *to, const void *bytes, size_t size)
{
    uLongf packed_size = compressBound((uLong)size);
    uint8_t *packed = ss_allocate(packed_size, 1);
    if (!packed || compress2(packed, &packed_size, bytes, (uLong)size, 9) != Z_OK)
        to->out_of_memory = true;
    else
        ss_text_append_bytes(to, (const char *)packed, packed_size);
    ss_release(packed);
}

static void put_chunk(ss_text *to, const char *type, const ss_text *data)
{
    ss_pack_32(to, (uint32_t)data->length);
    size_t start = to->length;
    ss_text_append_bytes(to, type, 4);
    ss_text_append_bytes(to, ss_text_get(data), data->length);
    to->out_of_memory |= data->out_of_memory;
    if (!to->out_of_memory)
        ss_pack_32(to, (uint32_t)crc32(0, (const Bytef *)to->data + start, (uInt)(4 + data->length)));
}

void ss_png_append(ss_text *to, int width, int height, const uint8_t *rgb, double dots_per_inch)
{
    ss_text data = {0};
    ss_text_append_bytes(to, "\x89PNG\r\n\x1a\n", 8);
    ss_pack_32(&data, (uint32_t)width);
    ss_pack_32(&data, (uint32_t)height);
    ss_text_append_bytes(&data, "\x08\x02\0\0\0", 5); // 8 bits, RGB, not interlaced
    put_chunk(to, "IHDR", &data);
    if (dots_per_inch > 0.0) {
        ss_text_clear(&data);
        for (int i = 0; i < 2; i++) ss_pack_32(&data, (uint32_t)lround(dots_per_inch / 0.0254));
        ss_text_append_bytes(&data, "\x01", 1); // per metre
        put_chunk(to, "pHYs", &data);
    }

    // Rows with filter "up" (type 2): differences to the row above, which compress well in pictures of flat
    // colours.
    size_t stride = 3 * (size_t)width, size = (size_t)height * (stride + 1);
    uint8_t *raw = ss_allocate(size ? size : 1, 1), *at = raw;
    for (int row = 0; raw && row < height; row++) {
        const uint8_t *line = rgb + (size_t)row * stride;
        *at++ = 2;
        for (size_t i = 0; i < stride; i++)
            *at++ = (uint8_t)(row > 0 ? line[i] - (line - stride)[i] : line[i]);
    }
    ss_text_clear(&data);
    if (raw)
        ss_pack_deflated(&data, raw, size);
    else
        to->out_of_memory = true;
    ss_release(raw);
    put_chunk(to, "IDAT", &data);
    ss_text_clear(&data);
    put_chunk(to, "IEND", &data);
    ss_text_free(&data);
}
