/* What makes a folder of files an edition that can be cited and checked: index, sums, README, CITATION.
 * Nothing in it depends on the day or the machine. */
#include "collection/collection.h"

#include "base/file.h"
#include "base/sha256.h"
#include "collection/make.h"
#include "collection/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool ss_collection_open(const char *folder, ss_collection_index *index, ss_error *err)
{
    char path[2 * SS_FILE_PATH];
    snprintf(path, sizeof path, "%s/index.csv", folder);
    if (!ss_index_create(index, err)) return false;
    bool good = ss_index_read_file(index, path, err);
    if (good && index->is_cut_off) // a folder that was built has all of it
        good = ss_fail(err, SS_ERROR_INPUT, "%s: cut off after %d problems", path, index->count);
    if (good) ss_index_sort(index);
    if (!good) ss_index_free(index);
    return good;
}

static bool write_file(const ss_edition *edition, const char *name, ss_text *text, ss_error *err)
{
    char path[2 * SS_FILE_PATH];
    snprintf(path, sizeof path, "%s/%s", edition->folder, name);
    bool good = !text->out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %s", name);
    good = good && ss_file_replace(path, ss_text_get(text), text->length, err);
    ss_text_free(text);
    return good;
}

static bool write_index(const ss_edition *edition, const ss_collection_index *index, ss_error *err)
{
    ss_text csv = {0}, text = {0};
    ss_index_csv_head(&csv);
    for (int i = 0; i < index->count; i++) ss_index_csv_row(&csv, &index->rows[i]);
    ss_index_json(&text, index, edition->name, edition->version);
    bool good = write_file(edition, "index.csv", &csv, err);
    if (!good) ss_text_free(&text);
    return good && write_file(edition, "index.json", &text, err);
}

/* ---- README and CITATION ---------------------------------------------------------------------------- */

typedef struct family_count {
    int problems, sequences, least, most, solvable, proved;
} family_count;

static family_count count_family(const ss_collection_index *index, const char *family)
{
    family_count count = {0};
    const ss_column *level = ss_column_find("level");
    const char *last = "";
    for (int i = 0; i < index->count; i++) {
        const ss_collection_row *row = &index->rows[i];
        if (family && strcmp(row->family, family) != 0) continue;
        if (strcmp(row->file, last) != 0) count.sequences++;
        last = row->file;
        if (count.problems == 0 || row->contacts < count.least) count.least = row->contacts;
        if (row->contacts > count.most) count.most = row->contacts;
        count.problems++;
        count.solvable += row->solvable;
        count.proved += row->solvable && ss_column_number(level, row) >= SS_CERTIFIED_BACKWARD;
    }
    return count;
}

static bool write_readme(const ss_edition *edition, const ss_collection_index *index, ss_error *err)
{
    ss_text text = {0};
    family_count all = count_family(index, NULL);
    ss_text_appendf(&text, "# %s, version %s%s%s\n\n", edition->title ? edition->title : edition->name,
                    edition->version, edition->part ? ", " : "", edition->part ? edition->part : "");
    ss_text_appendf(
        &text,
        "%d frictional contact problems in %d sequences, with %d to %d contacts. Every problem is a "
        "frame of a simulation: bodies, joints, contacts and the time step, before any law of "
        "friction is chosen. Beside each frame the file holds an answer by Coulomb's law "
        "(`solver_data/certified`) and what is proved about it: %d of the %d problems that have a "
        "solution are certified backward or better, and the column `reason` of the index says why "
        "the others are not.\n\n",
        all.problems, all.sequences, all.least, all.most, all.proved, all.solvable);
    ss_text_append(&text, "| family | sequences | problems | contacts | certified | what it is |\n"
                          "| --- | --- | --- | --- | --- | --- |\n");
    for (int f = 0; f < edition->family_count; f++) {
        family_count own = count_family(index, edition->families[f].name);
        if (own.problems == 0) continue;
        ss_text_appendf(&text, "| %s | %d | %d | %d to %d | %d of %d | %s |\n", edition->families[f].name,
                        own.sequences, own.problems, own.least, own.most, own.proved, own.solvable,
                        edition->families[f].about);
    }
    ss_text_append(&text, "\n## Files\n\n"
                          "- `FAMILY/SEQUENCE.h5`: consecutive frames of one simulation, in the BPMD format "
                          "(HDF5)\n"
                          "- `FAMILY/SEQUENCE.png`: its first frame\n"
                          "- `index.csv`, `index.json`: a row per problem\n"
                          "- `SHA256SUMS`: for `sha256sum -c SHA256SUMS`\n"
                          "- `CITATION.cff`: how to cite it\n"
                          "- `index.html`: the index to browse, in any browser, offline\n"
                          "\n`stickslip collection verify FOLDER` checks files, frames and proofs.\n\n"
                          "## Columns of the index\n\n| column | unit | meaning |\n| --- | --- | --- |\n");
    for (const ss_column *column = ss_columns; column->name; column++)
        ss_text_appendf(&text, "| `%s` | %s | %s |\n", column->name, column->unit, column->meaning);
    if (edition->license) ss_text_appendf(&text, "\nLicence: %s\n", edition->license);
    return write_file(edition, "README.md", &text, err);
}

static bool write_citation(const ss_edition *edition, const ss_collection_index *index, ss_error *err)
{
    ss_text text = {0};
    ss_text_appendf(
        &text,
        "cff-version: 1.2.0\nmessage: \"If you use this collection in published work, please cite "
        "it with its version.\"\ntype: dataset\ntitle: \"%s\"\nversion: \"%s\"\n",
        edition->title ? edition->title : edition->name, edition->version);
    if (edition->license) ss_text_appendf(&text, "license: %s\n", edition->license);
    ss_text_appendf(&text,
                    "authors:\n  - name: \"The stickslip developers\"\nabstract: >-\n  %d frictional contact "
                    "problems of multibody dynamics with certified answers, built by stickslip %s.\n"
                    "keywords:\n  - multibody dynamics\n  - contact\n  - friction\n  - benchmarking\n",
                    index->count, ss_version());
    return write_file(edition, "CITATION.cff", &text, err);
}

/* Name and version in the words of recipes, for subsets of this folder. */
static bool write_name(const ss_edition *edition, ss_error *err)
{
    ss_text text = {0};
    ss_text_appendf(&text, "collection %s\nversion    %s\n", edition->name, edition->version);
    if (edition->title) ss_text_appendf(&text, "title      %s\n", edition->title);
    if (edition->license) ss_text_appendf(&text, "license    %s\n", edition->license);
    return write_file(edition, "collection.recipe", &text, err);
}

/* ---- sums ------------------------------------------------------------------------------------------- */

static bool add_sum(const ss_edition *edition, const char *name, bool optional, ss_text *sums, ss_error *err)
{
    char path[2 * SS_FILE_PATH], sum[65];
    snprintf(path, sizeof path, "%s/%s", edition->folder, name);
    if (optional && access(path, F_OK) != 0) return true;
    if (!ss_sha256_file(path, sum, err)) return false;
    ss_text_appendf(sums, "%s  %s\n", sum, name);
    return true;
}

static bool write_sums(const ss_edition *edition, const ss_collection_index *index, ss_error *err)
{
    static const char *const texts[] = {"CITATION.cff", "README.md",  "collection.recipe",
                                        "index.csv",    "index.html", "index.json"};
    ss_text sums = {0};
    bool good = true;
    for (size_t i = 0; good && i < sizeof texts / sizeof *texts; i++)
        good = add_sum(edition, texts[i], false, &sums, err);
    const char *last = "";
    for (int i = 0; good && i < index->count; i++) {
        const char *file = index->rows[i].file, *dot = strrchr(file, '.');
        static const char *const beside[] = {".html", ".png"};
        if (strcmp(file, last) == 0) continue;
        last = file;
        good = add_sum(edition, file, false, &sums, err);
        for (int k = edition->replays ? 0 : 1; good && k < 2; k++) {
            char name[SS_FILE_PATH];
            snprintf(name, sizeof name, "%.*s%s", dot ? (int)(dot - file) : (int)strlen(file), file,
                     beside[k]);
            good = add_sum(edition, name, true, &sums, err);
        }
    }
    if (!good) ss_text_free(&sums);
    return good && write_file(edition, "SHA256SUMS", &sums, err);
}

bool ss_edition_write(const ss_edition *edition, ss_collection_index *index, ss_error *err)
{
    return write_index(edition, index, err) && write_readme(edition, index, err) &&
           write_citation(edition, index, err) && write_name(edition, err) &&
           ss_collection_page(edition, index, err) && write_sums(edition, index, err);
}
