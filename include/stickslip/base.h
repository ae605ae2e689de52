/* stickslip/base.h - the foundation of every other header: errors, memory, options, random numbers, time,
 * threads.
 *
 * Conventions of the whole library
 *   names      ss_noun_verb(); types ss_noun; constants SS_NOUN; nothing else is exported
 *   units      SI: m, kg, s, rad, N, J. Impulses (N s, N m s) wherever a solver is involved
 *   arrays     C order (row major, slowest index first), 0-based; -1 stands for the world
 *   arguments  objects first, then inputs, then outputs, `ss_error *err` last
 *   failure    three kinds, three channels:
 *                1. our own bug                -> SS_ASSERT, only in checked builds
 *                2. the outside world (file, option, memory) -> false or NULL; err says what and where
 *                3. a numerical outcome (did not converge)   -> ss_status (solver.h): a result, not an error
 *              `err` may always be NULL. The library never prints, exits or aborts.
 *   ownership  ss_X_create/_open/_read returns an object that ss_X_destroy/_close frees, contents included;
 *              destroying NULL is allowed. Strings and arrays reached through an object live as long as
 *              the object
 *   threads    objects are independent; one object is used by one thread at a time. No mutable globals
 *              except the replaceable allocator and the registry (plugin.h)
 *
 * The first header to read; the order of all is in stickslip.h.
 */
#ifndef STICKSLIP_BASE_H
#define STICKSLIP_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SS_WORLD (-1) /* in the place of a body's number */

/* What sliding and spinning about the normal have to do with each other at a contact with torsional friction
 * (docs/formulations.md). */
typedef enum ss_spin_coupling {
    SS_SPIN_INDEPENDENT, /* |r_T| <= mu nu and |r_S| <= mu_t nu: nothing */
    SS_SPIN_ELLIPSOID,   /* |(r_T / mu, r_S / mu_t)| <= nu: algebraic Coulomb-Contensou friction */
} ss_spin_coupling;

#define SS_API __attribute__((visibility("default")))
#define SS_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))

/* ---- version ---------------------------------------------------------------------------------------- */

SS_API const char *ss_version(void); /* "0.1.0" */
SS_API const char *ss_build(void);   /* compiler and build type, for provenance */
/* The layout of every struct in these headers, as a number: it changes when one of them does. A plug-in
 * states the one that it was compiled with, and a binding compares its own with that of the library. */
#define SS_ABI 8
SS_API int ss_abi_version(void);

/* ---- errors ----------------------------------------------------------------------------------------- */

/* code, process exit code of the command line program, one-word name */
#define SS_ERROR_LIST(X)                                                                                \
    X(SS_OK, 0, "ok")                                                                                   \
    X(SS_ERROR_USAGE, 2, "usage")         /* an unknown or invalid option or argument */                \
    X(SS_ERROR_INPUT, 3, "bad input")     /* a file that cannot be read, or whose contents are wrong */ \
    X(SS_ERROR_RESOURCES, 4, "resources") /* out of memory, disk full, cannot write, over a set limit */

typedef enum ss_error_code {
#define SS_ERROR_ENUM(code, exit_code, name) code,
    SS_ERROR_LIST(SS_ERROR_ENUM)
#undef SS_ERROR_ENUM
} ss_error_code;

typedef struct ss_error {
    ss_error_code code;
    char message[1000]; /* names the place: "stack.h5: /mbs_frame000003/bodies/masses: ..." */
} ss_error;

/* Fills err (if not NULL) and returns false, so that a failing function ends with `return ss_fail(...)`. */
SS_API bool ss_fail(ss_error *err, ss_error_code code, const char *format, ...) SS_PRINTF(3, 4);
/* Puts "context: " before the message of an error that is already set; returns false. */
SS_API bool ss_fail_in(ss_error *err, const char *format, ...) SS_PRINTF(2, 3);
SS_API const char *ss_error_name(ss_error_code code);
SS_API int ss_error_exit_code(ss_error_code code);

/* ---- findings: everything a reader, a check or a conversion has to report, in order ----------------- */

typedef enum ss_finding_kind {
    SS_FINDING_FAULT,   /* the data is wrong and must not reach a solver */
    SS_FINDING_WARNING, /* usable, but look at it */
    SS_FINDING_REPAIR,  /* a known defect of a dialect that was repaired while reading */
    SS_FINDING_LOSS,    /* what a conversion could not carry over */
} ss_finding_kind;

typedef struct ss_finding {
    ss_finding_kind kind;
    char *place;   /* "/mbs_frame000003/contacts/normals[17]" */
    char *message; /* "length 0.93, must be 1 within 1e-6" */
} ss_finding;

typedef struct ss_findings {
    ss_finding *items;
    size_t count, capacity;
    size_t count_of[4]; /* by kind; also counts those beyond the limit */
    size_t limit;       /* keep at most this many of each kind; 0 = all */
    bool out_of_memory; /* an item could not be stored; count_of is still right */
} ss_findings;

/* Start from a zeroed struct (`ss_findings findings = {0}`). Adding to NULL does nothing. */
SS_API void ss_findings_add(ss_findings *findings, ss_finding_kind kind, const char *place,
                            const char *format, ...) SS_PRINTF(4, 5);
SS_API void ss_findings_free(ss_findings *findings);
SS_API const char *ss_finding_kind_name(ss_finding_kind kind);

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Every heap block of the library goes through these two, so that tests can fail the n-th request.
 * Set once, before anything else is called; NULL functions restore malloc and free. */
typedef struct ss_allocator {
    void *(*allocate)(size_t bytes, void *context); /* 64-byte alignment is not required of it */
    void (*release)(void *block, void *context);
    void *context;
} ss_allocator;
SS_API void ss_set_allocator(ss_allocator allocator);

/* Zeroed, 64-byte aligned array; NULL when out of memory or when count * size overflows; never NULL for 0. */
SS_API void *ss_allocate(size_t count, size_t size);
SS_API void ss_release(void *block); /* NULL is allowed */
SS_API char *ss_text_copy(const char *text);

/* Arena: short-lived memory of one worker. Nothing in it is freed individually; mark and reset around a
 * step or a solve. After a reset to empty, its blocks are joined into one of the high-water size, so that a
 * second round of the same work does not touch the heap. */
typedef struct ss_arena ss_arena;
typedef struct ss_arena_mark {
    size_t block, used;
} ss_arena_mark;

SS_API ss_arena *ss_arena_create(size_t first_block_bytes, ss_error *err);
SS_API void ss_arena_destroy(ss_arena *arena);
/* Zeroed, 64-byte aligned; NULL when out of memory. `what` names the array in diagnostics (a literal). */
SS_API void *ss_arena_take(ss_arena *arena, size_t count, size_t size, const char *what);
SS_API ss_arena_mark ss_arena_get_mark(const ss_arena *arena);
SS_API void ss_arena_reset(ss_arena *arena, ss_arena_mark mark);
SS_API void ss_arena_clear(ss_arena *arena);
SS_API size_t ss_arena_used(const ss_arena *arena);
SS_API size_t ss_arena_high_water(const ss_arena *arena);
/* The name of the largest array since the last clear, and the one that failed last (NULL if none did). */
SS_API const char *ss_arena_largest(const ss_arena *arena);
SS_API const char *ss_arena_failed(const ss_arena *arena);

/* ---- option tables ---------------------------------------------------------------------------------- */

typedef enum ss_option_type {
    SS_OPTION_BOOL,   /* field: bool */
    SS_OPTION_INT,    /* field: int */
    SS_OPTION_REAL,   /* field: double */
    SS_OPTION_CHOICE, /* field: int, index into choices */
    SS_OPTION_TEXT,   /* field: const char *; the caller keeps the text alive */
    SS_OPTION_LIST,   /* field: ss_option_list; every value that is set is appended */
} ss_option_type;

#define SS_OPTION_LIST_MOST 32
typedef struct ss_option_list {
    int count;
    const char *items[SS_OPTION_LIST_MOST]; /* the caller keeps the texts alive */
} ss_option_list;

/* One table describes a struct of options. From it come defaults, ranges, parsing, help, the command line,
 * the man page, shell completion and the provenance line: they cannot drift apart. Ends with name = NULL. */
typedef struct ss_option {
    const char *name; /* "omega": the key in --set omega=1.3, or the flag --omega */
    ss_option_type type;
    size_t offset;             /* offsetof(struct, field) */
    const char *default_value; /* as a user would type it; NULL = 0, false, no text */
    double min, max;           /* INT and REAL: inclusive; min = max = 0 means any finite value */
    const char *choices;       /* CHOICE: "preventive|zero|stabilised" */
    const char *value_name;    /* what help shows for the value: "FILE", "N", "seconds"; NULL = by type */
    const char *help;          /* one sentence, with the unit */
    char letter;               /* command line only: short flag, 0 = none */
} ss_option;

SS_API void ss_options_defaults(const ss_option *table, void *options);
/* Parses and range-checks one value; the message names option, value and what would be right. */
SS_API bool ss_options_set(const ss_option *table, void *options, const char *name, const char *value,
                           ss_error *err);
/* The same for "name=value". */
SS_API bool ss_options_assign(const ss_option *table, void *options, const char *assignment, ss_error *err);
/* Checks a struct that was filled by hand. */
SS_API bool ss_options_check(const ss_option *table, const void *options, ss_error *err);
SS_API const ss_option *ss_options_find(const ss_option *table, const char *name);
/* The current value of one option as text a user could type again. Returns what snprintf would. */
SS_API int ss_option_print(const ss_option *option, const void *options, char *text, size_t size);
/* Provenance: "omega=1.3 sweep=symmetric", all options in table order, except texts and lists that are
 * not set.
 * Returns what snprintf would. */
SS_API int ss_options_print(const ss_option *table, const void *options, char *text, size_t size);

/* ---- random numbers --------------------------------------------------------------------------------- */

/* xoshiro256**: same seed and stream, same numbers, on every machine. Streams of one seed are independent. */
typedef struct ss_random {
    uint64_t state[4];
} ss_random;
SS_API ss_random ss_random_start(uint64_t seed, uint64_t stream);
SS_API uint64_t ss_random_bits(ss_random *random);
SS_API double ss_random_real(ss_random *random);                             /* uniform in [0, 1) */
SS_API double ss_random_between(ss_random *random, double low, double high); /* uniform in [low, high) */
SS_API int ss_random_below(ss_random *random, int n); /* uniform in 0 .. n-1, unbiased */
SS_API double ss_random_normal(ss_random *random);    /* mean 0, deviation 1 */

/* ---- time ------------------------------------------------------------------------------------------- */

SS_API double ss_clock_seconds(void); /* monotonic, ns resolution, arbitrary origin */

/* ---- threads ---------------------------------------------------------------------------------------- */

/* A team of workers. The range 0..count-1 is cut into chunks of `grain` that do not depend on the number of
 * workers; chunk c always covers [c*grain, min(count,(c+1)*grain)). A body that writes only to its own range
 * therefore gives the same bits for any team, and so does ss_parallel_sum, which adds the chunks in order. */
typedef struct ss_team ss_team;
/* workers = 0: one per available core. NULL on failure. */
SS_API ss_team *ss_team_create(int workers, ss_error *err);
SS_API void ss_team_destroy(ss_team *team);
SS_API int ss_team_size(const ss_team *team); /* NULL counts as 1 */

typedef void ss_parallel_body(int64_t begin, int64_t end, int worker, void *context);
typedef double ss_parallel_part(int64_t begin, int64_t end, int worker, void *context);
/* team = NULL runs in the caller. `worker` is in 0..size-1 and indexes per-worker scratch. Not reentrant: a
 * body must not use the same team again. */
SS_API void ss_parallel_for(ss_team *team, int64_t count, int64_t grain, ss_parallel_body *body,
                            void *context);
SS_API double ss_parallel_sum(ss_team *team, int64_t count, int64_t grain, ss_parallel_part *part,
                              void *context);

#ifdef __cplusplus
}
#endif
#endif
