/* report/references.h - what to cite: the program, the collections, the methods of a campaign and
 * the figures of its report. */
#ifndef SS_REPORT_REFERENCES_H
#define SS_REPORT_REFERENCES_H

#include "campaign/statistics.h"

#include "base/text.h"

/* BibTeX: stickslip itself, the collections that problems are of, then what methods and figures rest on and
 * where FCLIB's problems come from, each once. Works that have no entry in
 * references.def are named in a comment. */
void ss_references_bibtex(const ss_results *results, const ss_statistics *statistics, ss_text *bib);
/* Is there an entry for what a solver or formulation cites, "Cryer 1971, Eq. 4"? */
bool ss_reference_exists(const char *citation, size_t length);

#endif
