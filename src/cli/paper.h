/* cli/paper.h - the parts of `stickslip paper`: published experiments, run again and compared with the print.
 * An experiment is a file paper_<id>.c that ends with `const ss_paper ss_paper_<id>`, and a line in
 * papers.def. It uses the library's own measures, so that it is the library that is compared. */
#ifndef SS_CLI_PAPER_H
#define SS_CLI_PAPER_H

#include "cli/verb.h"
#include "problem/gauge.h"

/* code, word */
#define SS_VERDICT_LIST(X)                                                             \
    X(SS_VERDICT_AGREES, "agrees")     /* with the print, to its last digit */         \
    X(SS_VERDICT_HOLDS, "holds")       /* a claim, or a number that is not printed */  \
    X(SS_VERDICT_MISPRINT, "misprint") /* the print is wrong, and the note says why */ \
    X(SS_VERDICT_DIFFERS, "differs")   /* and nobody knows why: the experiment is not reproduced */
typedef enum ss_verdict {
#define SS_VERDICT_ENUM(code, word) code,
    SS_VERDICT_LIST(SS_VERDICT_ENUM)
#undef SS_VERDICT_ENUM
} ss_verdict;
const char *ss_verdict_name(ss_verdict verdict);

typedef struct ss_paper_value {
    const char *name, *unit;
    const char *printed; /* as in the paper, "4.44e-2"; NULL = not printed */
    double ours;
    ss_verdict verdict;
    const char *note; /* NULL = none */
} ss_paper_value;

#define SS_PAPER_MOST_VALUES 64
#define SS_PAPER_MOST_FILES 16
typedef struct ss_paper_report {
    const char *directory; /* where figures go; NULL = nowhere */
    ss_paper_value values[SS_PAPER_MOST_VALUES];
    int value_count;
    char files[SS_PAPER_MOST_FILES][64]; /* names of those written */
    int file_count;
} ss_paper_report;

typedef struct ss_paper {
    const char *id, *title, *reference;
    const char *about; /* what is done, in a sentence or two */
    bool (*run)(ss_paper_report *report, ss_error *err);
} ss_paper;

extern const ss_paper *const ss_papers[]; /* in the order of papers.def; ends with NULL */

/* Compares with the print: agrees when they differ by no more than half of its last digit; otherwise
 * `misprint` says what is wrong with the print, and without it they differ. printed = NULL: only shown. */
void ss_paper_number(ss_paper_report *report, const char *name, const char *unit, const char *printed,
                     double ours, const char *misprint);
/* Something that must be so, whether printed or not. */
void ss_paper_claim(ss_paper_report *report, const char *name, const char *unit, double ours, bool holds,
                    const char *note);
/* Writes a file into the directory of the report, if there is one, and notes its name. */
bool ss_paper_write(ss_paper_report *report, const char *name, const ss_text *content, ss_error *err);

/* What one row with bounds contributes to each measure at (x, w); inverse_mass is a_ii, 1/kg. */
ss_gauge_part ss_paper_row(double inverse_mass, double lower, double upper, double x, double w);

#endif
