/* A collection is verified in four ways, each against something the others do not use: the bytes of its files
 * against SHA256SUMS, the numbers of its frames against the hashes of the index, the certificates against
 * what the verifier proves now, and the rows of the index against what the files hold. */
#include "collection/collection.h"

#include "base/file.h"
#include "base/number.h"
#include "base/sha256.h"
#include "campaign/features.h"
#include "campaign/read_input.h"
#include "collection/crew.h"
#include "collection/make.h"
#include "collection/recipe.h"
#include "dataset/proof_file.h"
#include "problem/cone.h"
#include "session/method.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_SUMS ((size_t)1 << 26) /* bytes */
#define LARGEST_JSON ((size_t)1 << 31)

typedef struct checked_file {
    char sum[65];
    const char *name; /* below the folder */
    int first, count; /* rows of the index, 0: none */
} checked_file;

typedef struct verifier {
    const char *folder;
    const ss_collection_hooks *hooks;
    ss_verify_summary *summary;
    ss_collection_index index;
    bool rerun;
    char *sums;
    checked_file *files;
    int file_count, done, total;
} verifier;

/* ---- in a worker ------------------------------------------------------------------------------------ */

static bool is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fabs(b) || a == b;
}

/* Every column in which the row is not `own`, the row as the file says. */
static void compare_rows(const ss_collection_row *row, const ss_collection_row *own, ss_findings *findings)
{
    for (const ss_column *column = ss_columns; column->name; column++) {
        bool text = column->kind == SS_COLUMN_TEXT || column->kind == SS_COLUMN_LEVEL;
        if (text ? strcmp(ss_column_text(column, row), ss_column_text(column, own)) == 0
                 : is_same(ss_column_number(column, row), ss_column_number(column, own)))
            continue;
        if (text)
            ss_findings_add(findings, SS_FINDING_FAULT, row->id,
                            "%s is \"%.80s\" in the index, \"%.80s\" in the file", column->name,
                            ss_column_text(column, row), ss_column_text(column, own));
        else
            ss_findings_add(findings, SS_FINDING_FAULT, row->id, "%s is %.9g in the index, %.9g in the file",
                            column->name, ss_column_number(column, row), ss_column_number(column, own));
    }
}

/* What the row says about frame and certificate is what they say themselves. Reasons are those of recipes and
 * diagnoses where nothing is proved. */
static bool check_row(const ss_collection_row *row, const ss_frame *frame, const ss_certificate *certificate,
                      ss_findings *findings, ss_error *err)
{
    ss_problem_entry entry = {0};
    ss_collection_row own = *row;
    if (!ss_features_of_frame(frame, &entry, err)) return false;
    own.solver = own.second = NULL;
    ss_row_features(&entry, &own);
    ss_row_certificate(certificate, &own);
    own.planar = ss_frame_is_planar(frame);
    if (!certificate || certificate->level < SS_CERTIFIED_BACKWARD) own.reason = row->reason;
    if (certificate && certificate->level >= SS_CERTIFIED_BACKWARD) own.solvable = 1;
    compare_rows(row, &own, findings);
    return true;
}

/* A row is about a problem of its own: its name is that of its place, and no other row of the file, which
 * stand together from `first` on, has its name or its frame. */
static void check_name(const ss_collection_row *first, const ss_collection_row *row, ss_findings *findings)
{
    char name[SS_FILE_PATH];
    int number, length = snprintf(name, sizeof name, "%s/%s/", row->family, row->sequence);
    bool good = strncmp(row->id, name, (size_t)length) == 0 && strcmp(row->file, first->file) == 0 &&
                strncmp(row->file, name, (size_t)length - 1) == 0 && row->file[length - 1] == '.' &&
                ss_integer_read(row->id + length, &number) && number >= 0;
    if (!good)
        ss_findings_add(findings, SS_FINDING_FAULT, row->id, "is not the name of a problem in %s",
                        first->file);
    for (const ss_collection_row *other = first; other < row; other++)
        if (strcmp(other->id, row->id) == 0 || other->frame == row->frame)
            ss_findings_add(findings, SS_FINDING_FAULT, row->id, "is about the same problem as %s",
                            other->id);
}

/* The collection promises Coulomb's law, with the default treatment of gaps and the default tolerance. */
static bool check_rules(const ss_collection_row *row, const ss_stored_result *result, ss_findings *findings,
                        ss_error *err)
{
    const ss_certificate *own = result->certificate;
    if (own->law != SS_LAW_CONE || own->tolerance > SS_CERTIFIED_TOLERANCE)
        ss_findings_add(findings, SS_FINDING_FAULT, row->id,
                        "certified under the law %s to %.0e, not Coulomb's to %.0e", ss_law_name(own->law),
                        own->tolerance, SS_CERTIFIED_TOLERANCE);
    ss_request request = {.formulation = result->formulation, .with = result->with};
    ss_method method;
    ss_text others = {0};
    if (!ss_method_prepare(&request, &method, NULL, err)) return ss_fail_in(err, "result %s", result->solver);
    ss_options_differences(method.formulation->options, method.formulation_options, &others);
    if (others.length > 0)
        ss_findings_add(findings, SS_FINDING_FAULT, row->id,
                        "certified with %.200s, not by the default rules of formulation cone",
                        ss_text_get(&others));
    ss_text_free(&others);
    ss_method_free(&method);
    return true;
}

/* The frame that a row is about: its hash, its certificate, and the row itself. */
static bool check_frame(const verifier *v, const ss_collection_row *row, ss_bpmd *file, ss_findings *findings,
                        ss_error *err)
{
    char hash[33];
    ss_frame *frame = ss_read_checked_frame(file, row->frame, row->place, NULL, err);
    if (!frame) return false;
    ss_frame_hash(frame, hash);
    if (strcmp(hash, row->hash) != 0)
        ss_findings_add(findings, SS_FINDING_FAULT, row->id, "the frame is not the one of the index: hash %s",
                        hash);
    int results = ss_bpmd_result_count(file, row->frame, err);
    bool good = results >= 0, found = false;
    for (int i = 0; good && i < results; i++) {
        ss_stored_result result = {0};
        good = ss_bpmd_result(file, row->frame, i, &result, err);
        const ss_certificate *own = result.certificate;
        if (good && strcmp(result.solver, SS_CERTIFIED_RESULT) == 0 && own) {
            found = true;
            good = check_rules(row, &result, findings, err) &&
                   ss_stored_certificate_check(frame, &result, v->rerun, row->id, findings, err) &&
                   check_row(row, frame, own, findings, err);
        }
        ss_stored_result_free(&result);
    }
    if (good && !found && strcmp(row->level, ss_certificate_level_name(SS_CERTIFIED_NOT)) != 0)
        ss_findings_add(findings, SS_FINDING_FAULT, row->id, "the file holds no certified answer");
    ss_frame_destroy(frame);
    return good;
}

/* FCLIB has no place for a certificate: the solution in the file must be worth what the index says. A bound
 * may be larger than the proved one, which depends on the compiler's last digits. */
static bool check_solution(const ss_collection_row *row, const ss_fclib *file, ss_problem *problem,
                           ss_collection_row *own, ss_findings *findings, ss_error *err)
{
    int m = ss_cone_size(file->cone);
    int level = (int)ss_column_number(ss_column_find("level"), row);
    if (level < SS_CERTIFIED_EXTENDED) return true;
    if (!file->has_solution) {
        ss_findings_add(findings, SS_FINDING_FAULT, row->id, "the file holds no solution");
        return true;
    }

    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    if (!x) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a proof");
    if (m) memcpy(x, file->solution.r, (size_t)m * sizeof *x);
    if (file->solution.l) memcpy(x + m, file->solution.l, (size_t)file->cone->equations * sizeof *x);
    ss_certify_options options = {.exact_unknowns = SS_EXACT_UNKNOWNS};
    ss_certificate *proof = ss_certify_problem(problem, x, &options, err);
    if (proof) {
        ss_row_certificate(proof, own);
        if ((int)proof->level < level || !(own->bound <= row->bound * (1.0 + 1e-9)))
            ss_findings_add(findings, SS_FINDING_FAULT, row->id,
                            "level %s and bound %.3g in the index, proved is %s with %.3g", row->level,
                            row->bound, own->level, own->bound);
        // said once; and what only the index knows
        own->level = row->level, own->bound = row->bound;
        if (proof->scale > 0.0) own->relative = row->bound / proof->scale;
        own->solver = row->solver, own->second = row->second, own->agreed = row->agreed;
        own->reason = row->reason;
    }
    ss_certificate_destroy(proof);
    ss_release(x);
    return proof != NULL;
}

static bool check_problem(const ss_collection_row *row, const char *path, ss_findings *findings,
                          ss_error *err)
{
    char hash[33];
    ss_fclib_kind kinds[3];
    int count = ss_fclib_kinds(path, kinds, err);
    ss_fclib *file = count > 0 ? ss_read_checked_problem(path, kinds[0], NULL, NULL, err) : NULL;
    if (!file) return count == 0 && ss_fail(err, SS_ERROR_INPUT, "%s: holds no problem", path);
    ss_cone_hash(file->cone, hash);
    if (strcmp(hash, row->hash) != 0)
        ss_findings_add(findings, SS_FINDING_FAULT, row->id,
                        "the problem is not the one of the index: hash %s", hash);
    ss_problem *problem = ss_problem_from_cone(file->cone, err);
    ss_problem_entry entry = {0};
    ss_collection_row own = *row;
    bool good = problem && ss_features_of_cone(file->cone, problem, &entry, err) &&
                check_solution(row, file, problem, &own, findings, err);
    if (good) {
        ss_row_features(&entry, &own);
        own.planar = file->cone->dimension == 2;
        compare_rows(row, &own, findings);
    }
    ss_problem_destroy(problem);
    ss_fclib_destroy(file);
    return good;
}

/* Lines of what is wrong with one file. */
static bool work(void *context, int task, const volatile int *cancel, ss_text *result, ss_error *err)
{
    const verifier *v = context;
    const checked_file *own = &v->files[task];
    char path[2 * SS_FILE_PATH], sum[65];
    ss_findings findings = {.limit = 20};
    snprintf(path, sizeof path, "%s/%s", v->folder, own->name);
    bool good = ss_sha256_file(path, sum, err);
    if (good && strcmp(sum, own->sum) != 0)
        ss_findings_add(&findings, SS_FINDING_FAULT, own->name, "its sum is not that of SHA256SUMS");

    bool frames = own->count > 0 && v->index.rows[own->first].frame >= 0;
    ss_bpmd *file = good && frames ? ss_bpmd_open(path, NULL, NULL, err) : NULL;
    if (frames) good = good && file;
    int problems = file ? ss_bpmd_frame_count(file) : 1;
    if (good && own->count > 0 && own->count != problems)
        ss_findings_add(&findings, SS_FINDING_FAULT, own->name,
                        "holds %d problems; rows of it in the index: %d", problems, own->count);
    for (int i = 0; good && i < own->count && !(cancel && *cancel); i++) {
        const ss_collection_row *row = &v->index.rows[own->first + i];
        check_name(&v->index.rows[own->first], row, &findings);
        good = file ? check_frame(v, row, file, &findings, err) : check_problem(row, path, &findings, err);
    }
    ss_bpmd_close(file);
    for (size_t i = 0; i < findings.count; i++)
        if (findings.items[i].kind == SS_FINDING_FAULT)
            ss_text_appendf(result, "%s: %s\n", findings.items[i].place, findings.items[i].message);
    ss_findings_free(&findings);
    return good;
}

/* ---- in the caller ---------------------------------------------------------------------------------- */

static void complain(verifier *v, const char *line)
{
    v->summary->faults++;
    if (v->hooks->complain) v->hooks->complain(v->hooks->context, line);
}

static bool done(void *context, int task, const char *result, size_t size, const ss_error *fault,
                 ss_error *err)
{
    (void)err;
    verifier *v = context;
    const checked_file *own = &v->files[task];
    char line[2000];
    if (v->hooks->stop && *v->hooks->stop) return true;
    if (fault) {
        snprintf(line, sizeof line, "%s: %s", own->name, fault->message);
        complain(v, line);
    }
    for (const char *at = result, *end = result + size; result && at < end;) {
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        complain(v, line);
        at += length + 1;
    }
    v->summary->files++;
    v->summary->problems += own->count;
    v->done += own->count;
    if (v->hooks->progress) v->hooks->progress(v->hooks->context, "verifying problem", v->done, v->total);
    return true;
}

static bool has_sum(const verifier *v, const char *name)
{
    bool known = false;
    for (int f = 0; f < v->file_count && !known; f++) known = strcmp(v->files[f].name, name) == 0;
    return known;
}

/* The lines of SHA256SUMS, and the rows of each file, which stand together in the index. */
static bool read_sums(verifier *v, ss_error *err)
{
    char path[2 * SS_FILE_PATH];
    size_t size;
    int lines = 0, line = 0;
    snprintf(path, sizeof path, "%s/SHA256SUMS", v->folder);
    v->sums = (char *)ss_file_read(path, LARGEST_SUMS, &size, err);
    if (!v->sums) return false;
    for (const char *at = v->sums; *at; at++) lines += *at == '\n';
    v->files = ss_allocate((size_t)lines + 1, sizeof *v->files);
    if (!v->files) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d sums", lines);
    for (char *at = v->sums; *at;) {
        char *end = at + strcspn(at, "\n");
        bool last = !*end;
        *end = 0;
        line++;
        bool good = strlen(at) > 66 && at[64] == ' ' && at[65] == ' ' &&
                    strspn(at, "0123456789abcdef") == 64 && ss_path_is_inside(at + 66);
        if (!good || v->file_count == lines)
            return ss_fail(err, SS_ERROR_INPUT, "%s: line %d: expected a sum, two blanks and a name", path,
                           line);
        checked_file *file = &v->files[v->file_count++];
        snprintf(file->sum, sizeof file->sum, "%.64s", at);
        file->name = at + 66;
        for (int i = 0; i < v->index.count; i++) {
            if (strcmp(v->index.rows[i].file, file->name) != 0) continue;
            if (!file->count++) file->first = i;
        }
        at = last ? end : end + 1;
    }

    // A row whose file has no sum could be anything.
    for (int i = 0; i < v->index.count; i++)
        if (!has_sum(v, v->index.rows[i].file))
            return ss_fail(err, SS_ERROR_INPUT, "%s: no sum of %s, which the index names", path,
                           v->index.rows[i].file);
    return true;
}

/* Problem files that have no sum, in the folder `below` ("" or "walls/") and those in it: their origin is
 * unknown, and a campaign over FOLDER/FAMILY/ would count them among the collection's. Other files of
 * the user may lie there. */
static bool find_strangers(verifier *v, const char *below, ss_error *err)
{
    char path[3 * SS_FILE_PATH];
    snprintf(path, sizeof path, "%s/%s", v->folder, below);
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) return ss_fail(err, SS_ERROR_INPUT, "%s: %s", path, strerror(errno));
    bool good = true;
    for (int i = 0; i < count; i++) {
        char name[SS_FILE_PATH], line[SS_FILE_PATH + 80];
        struct stat kind;
        bool whole = snprintf(name, sizeof name, "%s%s", below, entries[i]->d_name) < (int)sizeof name - 1;
        snprintf(path, sizeof path, "%s/%s", v->folder, name);
        if (good && whole && entries[i]->d_name[0] != '.' && lstat(path, &kind) == 0 &&
            S_ISDIR(kind.st_mode)) {
            strcat(name, "/");
            good = find_strangers(v, name, err);
        } else if (good && ss_is_problem_file(entries[i]->d_name) && !(whole && has_sum(v, name))) {
            snprintf(line, sizeof line, "%s: has no sum in SHA256SUMS, so it is no part of the collection",
                     name);
            complain(v, line);
        }
        free(entries[i]);
    }
    free(entries);
    return good;
}

/* index.json is index.csv in other words. */
static bool check_json(verifier *v, ss_error *err)
{
    char path[2 * SS_FILE_PATH];
    size_t size;
    snprintf(path, sizeof path, "%s/index.json", v->folder);
    if (access(path, F_OK) != 0) return true; // if it has a sum, that is complained about
    ss_recipes recipes = {0};
    ss_text json = {0};
    unsigned char *bytes = ss_file_read(path, LARGEST_JSON, &size, err);
    bool good = bytes && ss_recipes_read(&recipes, v->folder, err);
    if (good) {
        ss_index_json(&json, &v->index, recipes.name, recipes.version);
        if (json.out_of_memory)
            good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %s", path);
        else if (json.length != size || memcmp(ss_text_get(&json), bytes, size) != 0)
            complain(v, "index.json: does not say what index.csv says");
    }
    ss_text_free(&json);
    ss_recipes_free(&recipes);
    ss_release(bytes);
    return good;
}

bool ss_collection_verify(const char *folder, int jobs, bool rerun, const ss_collection_hooks *hooks,
                          ss_verify_summary *summary, ss_error *err)
{
    verifier v = {.folder = folder, .hooks = hooks, .summary = summary, .rerun = rerun};
    *summary = (ss_verify_summary){0};
    bool good = ss_collection_open(folder, &v.index, err) && read_sums(&v, err) &&
                find_strangers(&v, "", err) && check_json(&v, err);
    if (good) {
        v.total = v.index.count;
        ss_crew crew = {.tasks = v.file_count,
                        .jobs = jobs,
                        .stop = hooks->stop,
                        .context = &v,
                        .work = work,
                        .done = done};
        good = ss_crew_run(&crew, err);
        summary->interrupted = hooks->stop && *hooks->stop;
    }
    ss_index_free(&v.index);
    ss_release(v.files);
    ss_release(v.sums);
    return good;
}
