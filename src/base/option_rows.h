/* base/option_rows.h - rows of option tables, one line each: SS_ROW_REAL(pgs_options, omega, "1", 0.01, 1.99,
 * "relaxation factor") is the option `omega`, stored in the field of that name. */
#ifndef SS_BASE_OPTION_ROWS_H
#define SS_BASE_OPTION_ROWS_H

#include <stickslip/base.h>

/* How a row begins that has more: {SS_ROW_OF(SS_OPTION_INT, sim_options, refine, "8"), .min = ...}; SS_ROW_AS
 * names it otherwise than the field. */
#define SS_ROW_OF(kind, holder, field, value) SS_ROW_AS(#field, kind, holder, field, value)
#define SS_ROW_AS(title, kind, holder, field, value) \
    .name = title, .type = kind, .offset = offsetof(holder, field), .default_value = value
#define SS_ROW_REAL(holder, field, value, least, most, text)                                     \
    {                                                                                            \
        SS_ROW_OF(SS_OPTION_REAL, holder, field, value), .min = least, .max = most, .help = text \
    }
#define SS_ROW_INT(holder, field, value, least, most, text)                                     \
    {                                                                                           \
        SS_ROW_OF(SS_OPTION_INT, holder, field, value), .min = least, .max = most, .help = text \
    }
#define SS_ROW_BOOL(holder, field, value, text)                       \
    {                                                                 \
        SS_ROW_OF(SS_OPTION_BOOL, holder, field, value), .help = text \
    }
#define SS_ROW_CHOICE(holder, field, value, list, text)                                  \
    {                                                                                    \
        SS_ROW_OF(SS_OPTION_CHOICE, holder, field, value), .choices = list, .help = text \
    }

#endif
