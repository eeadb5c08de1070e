/* limits.h -- what options may be, once for the library and for those who call it.
 *
 * The names are those of the fields of the option structs. The program asks krein_limit for the
 * bounds of its flags instead of repeating them. */
#ifndef KREIN_LIMITS_H
#define KREIN_LIMITS_H

#include "base/sized.h"

#include <math.h>

/* The kernel matrix is the default up to so many rows; asked for, up to `max_exact`. */
enum { KREIN_EXACT_ROWS = 7500, KREIN_MAX_EXACT = 10000 };
/* Features where nothing is trained on them (pca, cluster, transform, select), and in training. */
enum { KREIN_FEATURES = 1024, KREIN_FEATURES_TRAIN = 4096 };

/* KREIN_EARG where the value of the option is outside its bounds. Integers as doubles. */
krein_status krein__limit_check(krein_ctx *ctx, const char *option, double value);

#endif
