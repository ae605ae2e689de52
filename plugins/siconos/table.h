/* plugins/siconos/table.h - which friction solvers Siconos has, and what is set in them. */
#ifndef SS_SICONOS_TABLE_H
#define SS_SICONOS_TABLE_H

/* What a driver of Siconos takes. */
typedef enum ss_siconos_kind {
    SS_SICONOS_SPATIAL,        /* contact space, 3 components */
    SS_SICONOS_PLANAR,         /* contact space, 2 */
    SS_SICONOS_ROLLING,        /* contact space, 5 */
    SS_SICONOS_GLOBAL,         /* the bodies' velocities are unknowns too, 3 */
    SS_SICONOS_GLOBAL_ROLLING, /* the same with 5 */
} ss_siconos_kind;

typedef struct ss_siconos_setting {
    int index, value; /* of iparam */
} ss_siconos_setting;

/* Everything that is not said here is a default of Siconos. */
typedef struct ss_siconos_variant {
    const char *name;
    ss_siconos_kind kind;
    int id;
    int inner; /* solver of one contact, or of the inner problem; 0 = the default one */
    int most_contacts;
    ss_siconos_setting set[3], inner_set[3]; /* an index of 0 ends them */
} ss_siconos_variant;

extern const ss_siconos_variant ss_siconos_variants[];
extern const int ss_siconos_variant_count;

#endif
