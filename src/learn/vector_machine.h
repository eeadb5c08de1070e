/* vector_machine.h -- what the learners svm and svr share: options, and the way to the machines on
 * features (feature_machines.h) or on the kernel matrix (kernel_machine.h). */
#ifndef KREIN_VECTOR_MACHINE_H
#define KREIN_VECTOR_MACHINE_H

#include "learn/feature_machines.h"

/* Options that both have, of the same meaning. */
#define KREIN_OPTION_C                                                                             \
    {                                                                                              \
        .name = "C", .type = KREIN_OPTION_NUMBER, .value = NAN, .low = 0, .high = INFINITY,        \
        .low_open = true, .high_open = true, .derived = true,                                      \
        .help = "weight of the losses; chosen by cross-validation when not given"                  \
    }
#define KREIN_OPTION_INTERCEPT                                                                     \
    { .name = "intercept", .type = KREIN_OPTION_YESNO, .value = 1, .help = "with a free intercept" }
#define KREIN_OPTION_SPECTRUM                                                                      \
    {                                                                                              \
        .name = "spectrum", .type = KREIN_OPTION_WORD, .value = 0,                                 \
        .words = "asis|clip|flip|shift",                                                           \
        .help = "map=exact and an indefinite kernel: what happens to negative eigenvalues"         \
    }
#define KREIN_OPTION_TOL                                                                           \
    {                                                                                              \
        .name = "tol", .type = KREIN_OPTION_NUMBER, .value = 1e-3, .low = 1e-9, .high = 1,         \
        .help = "relative duality gap to stop at (map=exact: LIBSVM's eps)"                        \
    }

/* What they rule out for a map. */
krein_status krein__vector_machine_check(krein_ctx *ctx, const char *learner, const krein_map *map,
                                         bool intercept, bool spectrum);
/* Fits the model with C, or with that of job->lambda, or where there is neither with the C of least
 * cross-validated error; leaves C there, and its lambda in the job. `spectrum`: of an indefinite
 * kernel matrix. */
krein_status krein__vector_machine_fit(krein_job *job, const krein_recipe *recipe,
                                       krein_repair spectrum, double *C);
/* Passes over the rows beside those of the learner itself. path: C is chosen. */
int64_t krein__vector_machine_cost(const krein_map *map, int64_t n, int64_t k, bool path,
                                   krein_repair spectrum, krein_cost *out);

#endif
