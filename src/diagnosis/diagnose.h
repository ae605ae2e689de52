/* diagnosis/diagnose.h - the parts of a diagnosis: one function per family of defects. */
#ifndef SS_DIAGNOSIS_DIAGNOSE_H
#define SS_DIAGNOSIS_DIAGNOSE_H

#include <stickslip/diagnosis.h>

#include "base/text.h"

typedef struct ss_diagnosing {
    const ss_problem *problem;
    const ss_diagnosis_options *options;
    ss_diagnosis *diagnosis;
    ss_text text;        /* of the message in the making */
    bool is_symmetric;   /* A = A' up to rounding */
    bool has_massless;   /* a_ii <= 0 in a row that is not empty: no matrix of mechanics */
    bool *is_empty;      /* per unknown: no impulse moves it, and it moves nothing */
    int negative_pivots; /* of A, as far as it was factorised */
} ss_diagnosing;

/* ---- telling: diagnose.c -------------------------------------------------------------------------- */

/* Adds what stands in d->text; it is about the unknown `worst` (-1: about none), and d->text is
 * empty afterwards. */
void ss_diagnosing_tell(ss_diagnosing *d, ss_severity severity, ss_defect defect, int count, double value,
                        int worst, const char *advice);
/* The block of an unknown. */
const ss_block *ss_block_of(const ss_problem *problem, int unknown);
/* "contact 3", "joint 2", "unknown 17" */
void ss_name_unknown(const ss_problem *problem, int unknown, ss_text *text);
/* The blocks of some unknowns, in order, each once: "joint 2, joint 5, joint 6 and 3 more". Unknown i is
 * among them when marked[i]. */
void ss_name_marked(const ss_problem *problem, const bool *marked, ss_text *text);
/* " (between body 2 and the world)", where the problem has bodies, else nothing. */
void ss_name_bodies(const ss_diagnosing *d, int unknown, ss_text *text);
/* "1 contact", "2 contacts" */
void ss_name_count(ss_text *text, int count, const char *noun);

/* a_ij of two unknowns of one block or contact, by whichever form is there. */
double ss_entry_of(const ss_problem *problem, int i, int j);

/* ---- looking -------------------------------------------------------------------------------------- */

/* diagnose_numbers.c: false when there are numbers or laws that forbid to go on. */
bool ss_diagnose_numbers(ss_diagnosing *d);
void ss_diagnose_units(ss_diagnosing *d);
/* diagnose_matrix.c. False: out of memory. */
bool ss_diagnose_rows(ss_diagnosing *d);
bool ss_diagnose_definite(ss_diagnosing *d);
/* diagnose_rank.c. The same. */
bool ss_diagnose_rank(ss_diagnosing *d);
/* diagnose_equations.c. The same. */
bool ss_diagnose_equations(ss_diagnosing *d);
/* diagnose_contacts.c. The same. */
void ss_diagnose_masses(ss_diagnosing *d);
void ss_diagnose_friction(ss_diagnosing *d);
bool ss_diagnose_duplicates(ss_diagnosing *d);
/* diagnose_ray.c. The same. */
bool ss_diagnose_ray(ss_diagnosing *d);

#endif
