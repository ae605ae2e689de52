/* certificate/conclusion.h - a certificate as it is filled in, block by block. */
#ifndef CERTIFICATE_CONCLUSION_H
#define CERTIFICATE_CONCLUSION_H

#include "certificate/laws.h"

ss_certificate *ss_certificate_create(int contacts, ss_error *err);
/* One contact (-1: a block of none), and one row. */
void ss_certificate_add(ss_certificate *to, int contact, ss_certified_state state, ss_shortfall off);
void ss_certificate_add_row(ss_certificate *to, int row, double off);
/* The level, from bounds and scale, and from how much the impulses were adjusted: the theorem is about those
 * that obey the laws exactly, and has to be one about the answer. tolerance 0: SS_CERTIFIED_TOLERANCE. */
void ss_certificate_conclude(ss_certificate *to, double adjusted, double tolerance);

#endif
