/* limits.h -- sizes that the pipe takes where nothing is asked for; the bounds of options are in
 * base/limits.def. */
#ifndef KREIN_PIPE_LIMITS_H
#define KREIN_PIPE_LIMITS_H

#include "base/limits.h"
#include "base/sized.h"

#include <math.h>

/* The kernel matrix is the default up to so many rows; asked for, up to `max_exact`. */
enum { KREIN_EXACT_ROWS = 7500, KREIN_MAX_EXACT = 10000 };
enum { KREIN_EXACT_FACTORED = 20000 }; /* where the kernel is chosen, and does not iterate */
enum { KREIN_EXACT_SURE = 5000 }; /* with `uncertainty`: the model keeps half of its factor */
/* Features where nothing is trained on them (pca, cluster, transform, select), and in training. */
enum { KREIN_FEATURES = 1024, KREIN_FEATURES_TRAIN = 4096 };

#endif
