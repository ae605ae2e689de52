/* base/inner.h - what the library exports beyond its public headers: for the program that comes with it,
 * which is also built as a shared library of its own (libstickslip_program) on top of this one. Not for
 * others: it may change at any time. */
#ifndef SS_BASE_INNER_H
#define SS_BASE_INNER_H

#define SS_INNER __attribute__((visibility("default")))

#endif
