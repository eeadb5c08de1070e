/* limits.h -- what options may be, once for the library and for those who call it.
 *
 * The names are those of the fields of the option structs. The program asks krein_limit for the
 * bounds of its flags instead of repeating them. */
#ifndef KREIN_LIMITS_H
#define KREIN_LIMITS_H

#include "base/base.h"

/* Columns of the target of a regression. */
enum { KREIN_TARGETS_MAX = 64 };

/* KREIN_EARG where the value of the option is outside its bounds. Integers as doubles. */
krein_status krein__limit_check(krein_ctx *ctx, const char *option, double value);

#endif
