/* Drawings as PDF 1.4 (ISO 32000): one page of the size of the drawing. The letters that occur are in it,
 * as TrueType outlines, which publishers ask for; words can be searched and copied. No date: the same
 * drawing gives the same bytes. */
#include "figure/drawing.h"
#include "figure/font.h"
#include "figure/pack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FONTS = 2, MOST_OPACITIES = 16, MOST_OBJECTS = 32 };

typedef struct document {
    const ss_drawing *drawing;
    ss_text *pdf;
    ss_text page; /* operators */
    size_t begin; /* of the file, in `pdf` */
    size_t offset[MOST_OBJECTS];
    int objects;
    const ss_font *font[FONTS];
    bool *used[FONTS]; /* glyphs; NULL: none */
    double opacity[MOST_OPACITIES];
    int opacities;
    const ss_mark *mark; /* whose words are written */
    double x, y;         /* where */
} document;

/* ---- the page -------------------------------------------------------------------------------------- */

/* Thousandths of a point, without zeros at the end. */
static void number(ss_text *to, double value)
{
    char words[32];
    int length = snprintf(words, sizeof words, "%.3f", value);
    while (length > 1 && words[length - 1] == '0') length--;
    if (words[length - 1] == '.') length--;
    words[length] = 0;
    ss_text_appendf(to, "%s ", strcmp(words, "-0") == 0 ? "0" : words);
}

static void colour(ss_text *to, uint32_t rgb, const char *operation)
{
    for (int shift = 16; shift >= 0; shift -= 8) number(to, (double)(rgb >> shift & 0xff) / 255.0);
    ss_text_appendf(to, "%s\n", operation);
}

static void draw_path(document *d, const ss_mark *mark)
{
    const ss_paint *paint = &mark->paint;
    const double height = d->drawing->height;
    ss_text *page = &d->page;
    if (mark->steps == 0) return;
    ss_text_append(page, "q\n");
    if (paint->clip) {
        const ss_clip *clip = &d->drawing->clips[paint->clip - 1];
        number(page, clip->x), number(page, height - clip->y - clip->height);
        number(page, clip->width), number(page, clip->height);
        ss_text_append(page, "re W n\n");
    }
    if (paint->opacity > 0.0 && paint->opacity < 1.0) {
        int i = 0;
        while (i < d->opacities && d->opacity[i] != paint->opacity) i++;
        if (i == d->opacities && i < MOST_OPACITIES) d->opacity[d->opacities++] = paint->opacity;
        if (i < MOST_OPACITIES) ss_text_appendf(page, "/G%d gs\n", i);
    }

    if (paint->fill != SS_NO_COLOUR) colour(page, paint->fill, "rg");
    if (paint->stroke != SS_NO_COLOUR) {
        colour(page, paint->stroke, "RG");
        number(page, paint->width);
        ss_text_append(page, "w 1 j\n");
    }
    if (paint->dashes > 0) {
        ss_text_append(page, "[");
        for (int i = 0; i < paint->dashes; i++) number(page, paint->dash[i]);
        ss_text_append(page, "] 0 d\n");
    }

    const double *at = d->drawing->numbers + mark->first_number;
    for (int i = 0; i < mark->steps; i++) {
        static const char *const operations[] = {"m\n", "l\n", "c\n", "h\n"};
        static const int pairs[] = {1, 1, 3, 0};
        ss_path_step step = (ss_path_step)d->drawing->steps[mark->first_step + i];
        for (int k = 0; k < pairs[step]; k++, at += 2) number(page, at[0]), number(page, height - at[1]);
        ss_text_append(page, operations[step]);
    }

    bool filled = paint->fill != SS_NO_COLOUR, stroked = paint->stroke != SS_NO_COLOUR;
    ss_text_append(page, filled && stroked ? "B\nQ\n" : filled ? "f\nQ\n" : stroked ? "S\nQ\n" : "n\nQ\n");
}

static void write_piece(void *context, const char *piece, size_t length, double size, double raised)
{
    document *d = context;
    const int face = d->mark->bold;
    const ss_font *font = d->font[face];
    double turn = d->mark->turn * acos(-1.0) / 180.0, c = cos(turn), s = sin(turn), width = 0.0;
    ss_text_appendf(&d->page, "/F%d ", face);
    number(&d->page, size);
    ss_text_append(&d->page, "Tf ");
    number(&d->page, c), number(&d->page, s), number(&d->page, -s), number(&d->page, c);
    number(&d->page, d->x - s * raised), number(&d->page, d->y + c * raised);
    ss_text_append(&d->page, "Tm <");

    for (const char *at = piece; at < piece + length;) {
        uint32_t character = ss_next_character(&at);
        if (character < 0x20) continue;
        int glyph = ss_font_glyph(font, character);
        d->used[face][glyph] = true;
        width += font->advance[glyph] * size / font->units;
        ss_text_appendf(&d->page, "%04x", glyph);
    }

    ss_text_append(&d->page, "> Tj\n");
    d->x += c * width;
    d->y += s * width;
}

static void draw_words(document *d, const ss_mark *mark)
{
    double back = mark->anchor == SS_ANCHOR_START ? 0.0 : ss_words_width(mark->words, mark->size, mark->bold);
    double turn = mark->turn * acos(-1.0) / 180.0;
    if (mark->anchor == SS_ANCHOR_MIDDLE) back *= 0.5;
    d->mark = mark;
    d->x = mark->x - cos(turn) * back;
    d->y = d->drawing->height - mark->y - sin(turn) * back;
    ss_text_append(&d->page, "BT\n");
    colour(&d->page, mark->paint.fill, "rg");
    ss_words_split(mark->words, mark->size, write_piece, d);
    ss_text_append(&d->page, "ET\n");
}

/* ---- objects --------------------------------------------------------------------------------------- */

/* Begins the next object; its number. */
static int begin_object(document *d)
{
    d->offset[d->objects] = d->pdf->length - d->begin;
    ss_text_appendf(d->pdf, "%d 0 obj\n", ++d->objects);
    return d->objects;
}

static void end_object(document *d)
{
    ss_text_append(d->pdf, "endobj\n");
}

/* `more`: entries of its dictionary. */
static void put_stream(document *d, const char *more, const ss_text *contents)
{
    ss_text packed = {0};
    ss_pack_deflated(&packed, ss_text_get(contents), contents->length);
    begin_object(d);
    ss_text_appendf(d->pdf, "<< /Length %zu /Filter /FlateDecode %s>>\nstream\n", packed.length, more);
    ss_text_append_bytes(d->pdf, ss_text_get(&packed), packed.length);
    ss_text_append(d->pdf, "\nendstream\n");
    end_object(d);
    d->pdf->out_of_memory |= packed.out_of_memory || contents->out_of_memory;
    ss_text_free(&packed);
}

/* ---- fonts ------------------------------------------------------------------------------------------ */

/* The font with the outlines of the used glyphs only; glyphs keep their numbers. */
static void make_font(const ss_font *font, const bool *used, ss_text *file)
{
    enum { GLYF, HEAD, HHEA, HMTX, LOCA, MAXP, TABLES };
    static const char *const tags[TABLES] = {"glyf", "head", "hhea", "hmtx", "loca", "maxp"};
    ss_text table[TABLES] = {0};

    // outlines, where each begins, and how wide each is
    for (int g = 0; g < font->count; g++) {
        const uint8_t *outline = font->outlines + font->offset[g];
        size_t size = used[g] ? font->offset[g + 1] - font->offset[g] : 0;
        ss_pack_32(&table[LOCA], (uint32_t)table[GLYF].length);
        ss_text_append_bytes(&table[GLYF], (const char *)outline, size);
        ss_pack_16(&table[HMTX], font->advance[g]);
        ss_pack_16(&table[HMTX],
                   size ? (unsigned)outline[2] << 8 | outline[3] : 0); // left edge of the outline
    }
    ss_pack_32(&table[LOCA], (uint32_t)table[GLYF].length);

    // what holds for all of them
    const unsigned head[] = {1, 0, 1, 0, 0, 0, 0x5f0f, 0x3cf5, 3, (unsigned)font->units};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) ss_pack_16(&table[HEAD], head[i]);
    for (int i = 0; i < 8; i++) ss_pack_16(&table[HEAD], 0); // no dates
    for (int i = 0; i < 4; i++) ss_pack_16(&table[HEAD], (unsigned)font->box[i] & 0xffff);
    const unsigned rest[] = {0, 6, 2, 1, 0}; // style, least size, direction, long offsets
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) ss_pack_16(&table[HEAD], rest[i]);
    const unsigned hhea[] = {1,    0, (unsigned)font->ascent, (unsigned)font->descent & 0xffff, 0, 4096, 0, 0,
                             4096, 1};
    for (size_t i = 0; i < sizeof hhea / sizeof *hhea; i++) ss_pack_16(&table[HHEA], hhea[i]);
    for (int i = 0; i < 7; i++) ss_pack_16(&table[HHEA], i == 6 ? (unsigned)font->count : 0);
    const unsigned maxp[] = {1, 0, (unsigned)font->count, 1024, 64, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < sizeof maxp / sizeof *maxp; i++) ss_pack_16(&table[MAXP], maxp[i]);

    const unsigned directory[] = {1, 0, TABLES, 64, 2, 32};
    for (size_t i = 0; i < sizeof directory / sizeof *directory; i++) ss_pack_16(file, directory[i]);
    size_t offset = 12 + 16 * TABLES;
    for (int t = 0; t < TABLES; t++) {
        const char *bytes = ss_text_get(&table[t]);
        uint32_t sum = 0;
        for (size_t i = 0; i < table[t].length; i++)
            sum += (uint32_t)(unsigned char)bytes[i] << (24 - 8 * (i % 4));
        ss_text_append(file, tags[t]);
        ss_pack_32(file, sum);
        ss_pack_32(file, (uint32_t)offset);
        ss_pack_32(file, (uint32_t)table[t].length);
        offset += (table[t].length + 3) / 4 * 4;
    }
    for (int t = 0; t < TABLES; t++) {
        ss_text_append_bytes(file, ss_text_get(&table[t]), table[t].length);
        ss_text_append_bytes(file, "\0\0\0", (4 - table[t].length % 4) % 4);
        file->out_of_memory |= table[t].out_of_memory;
        ss_text_free(&table[t]);
    }
}

/* Five objects; the number of the first, which the page refers to. */
static int put_font(document *d, int face)
{
    const ss_font *font = d->font[face];
    const bool *used = d->used[face];
    const double scale = 1000.0 / font->units;
    int first = d->objects + 1;

    // a name of its own for every choice of letters, so that programs that join files do not confuse them
    uint32_t mix = 2166136261u;
    for (int g = 0; g < font->count; g++) mix = (mix ^ (uint32_t)used[g]) * 16777619u;
    char name[64];
    for (int i = 0; i < 6; i++, mix /= 26) name[i] = (char)('A' + mix % 26);
    snprintf(name + 6, sizeof name - 6, "+%s", font->name);

    ss_text stream = {0};
    char more[48];
    begin_object(d);
    ss_text_appendf(
        d->pdf,
        "<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%d 0 R] "
        "/ToUnicode %d 0 R >>\n",
        name, first + 1, first + 4);
    end_object(d);
    begin_object(d);
    ss_text_appendf(
        d->pdf,
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo << /Registry (Adobe) "
        "/Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R /CIDToGIDMap /Identity /DW 500 /W [",
        name, first + 2);
    for (int g = 0; g < font->count; g++)
        if (used[g]) ss_text_appendf(d->pdf, "%d [%ld] ", g, lround(scale * font->advance[g]));
    ss_text_append(d->pdf, "] >>\n");
    end_object(d);
    begin_object(d);
    ss_text_appendf(
        d->pdf,
        "<< /Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [%ld %ld %ld %ld] /ItalicAngle 0 "
        "/Ascent %ld /Descent %ld /CapHeight 716 /StemV %d /FontFile2 %d 0 R >>\n",
        name, lround(scale * font->box[0]), lround(scale * font->box[1]), lround(scale * font->box[2]),
        lround(scale * font->box[3]), lround(scale * font->ascent), lround(scale * font->descent),
        face ? 138 : 88, first + 3);
    end_object(d);
    make_font(font, used, &stream);
    snprintf(more, sizeof more, "/Length1 %zu ", stream.length);
    put_stream(d, more, &stream);

    // which character each glyph is, for searching and copying
    ss_text_clear(&stream);
    ss_text_append(
        &stream,
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo << /Registry "
        "(Adobe) /Ordering (UCS) /Supplement 0 >> def\n/CMapName /Adobe-Identity-UCS def\n/CMapType "
        "2 def\n1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n");
    for (int g = 1; g < font->count; g++)
        if (used[g]) ss_text_appendf(&stream, "1 beginbfchar\n<%04x> <%04x>\nendbfchar\n", g, font->code[g]);
    ss_text_append(&stream, "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
    put_stream(d, "", &stream);
    ss_text_free(&stream);
    return first;
}

/* ---- together -------------------------------------------------------------------------------------- */

bool ss_drawing_pdf(const ss_drawing *drawing, ss_text *pdf, ss_error *err)
{
    document d = {
        .drawing = drawing, .pdf = pdf, .begin = pdf->length, .font = {&ss_font_regular, &ss_font_bold}};
    for (int f = 0; f < FONTS; f++) {
        d.used[f] = ss_allocate((size_t)d.font[f]->count, sizeof *d.used[f]);
        if (!d.used[f]) pdf->out_of_memory = true;
    }
    if (drawing->out_of_memory || pdf->out_of_memory) goto done;

    // the page, which says which letters there are
    for (size_t i = 0; i < drawing->mark_count; i++) {
        if (drawing->marks[i].words)
            draw_words(&d, &drawing->marks[i]);
        else
            draw_path(&d, &drawing->marks[i]);
    }

    // catalogue, pages and page have to name objects that follow
    ss_text_append(pdf, "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
    int fonts[FONTS];
    put_stream(&d, "", &d.page); // object 1
    for (int f = 0; f < FONTS; f++)
        fonts[f] = memchr(d.used[f], true, (size_t)d.font[f]->count) ? put_font(&d, f) : 0;
    int page = begin_object(&d);
    ss_text_appendf(
        pdf, "<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %.3f %.3f] /Contents 1 0 R /Resources << /Font <<",
        page + 1, drawing->width, drawing->height);
    for (int f = 0; f < FONTS; f++)
        if (fonts[f]) ss_text_appendf(pdf, " /F%d %d 0 R", f, fonts[f]);
    ss_text_append(pdf, " >> /ExtGState <<");
    for (int i = 0; i < d.opacities; i++)
        ss_text_appendf(pdf, " /G%d << /ca %.3f /CA %.3f >>", i, d.opacity[i], d.opacity[i]);
    ss_text_append(pdf, " >> >> >>\n");
    end_object(&d);
    begin_object(&d);
    ss_text_appendf(pdf, "<< /Type /Pages /Kids [%d 0 R] /Count 1 >>\n", page);
    end_object(&d);
    int catalogue = begin_object(&d);
    ss_text_appendf(pdf, "<< /Type /Catalog /Pages %d 0 R >>\n", page + 1);
    end_object(&d);
    int about = begin_object(&d);
    ss_text_append(pdf, "<< /Title <feff"); // as UTF-16
    const char *words = drawing->title;
    for (uint32_t c; (c = ss_next_character(&words));) {
        if (c < 0x20) continue;
        if (c >= 0x10000)
            ss_text_appendf(pdf, "%04x%04x", 0xd800 + ((c - 0x10000) >> 10),
                            0xdc00 + ((c - 0x10000) & 0x3ff));
        else
            ss_text_appendf(pdf, "%04x", c);
    }
    ss_text_appendf(pdf, "> /Creator (stickslip %s) >>\n", ss_version());
    end_object(&d);

    size_t start = pdf->length - d.begin;
    ss_text_appendf(pdf, "xref\n0 %d\n0000000000 65535 f \n", d.objects + 1);
    for (int i = 0; i < d.objects; i++) ss_text_appendf(pdf, "%010zu 00000 n \n", d.offset[i]);
    ss_text_appendf(pdf, "trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%zu\n%%%%EOF\n",
                    d.objects + 1, catalogue, about, start);
    pdf->out_of_memory |= d.page.out_of_memory;

done:
    ss_text_free(&d.page);
    for (int f = 0; f < FONTS; f++) ss_release(d.used[f]);
    return (!drawing->out_of_memory && !pdf->out_of_memory) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a figure");
}
