/* select.h -- choosing free kernel parameters by a criterion on a sample of the rows. */
#ifndef KREIN_SELECT_H
#define KREIN_SELECT_H

#include "learn/learn.h"

/* Rows that a kernel is judged on. */
typedef struct krein_sample {
    int64_t n, k;
    krein_matrix x;
    double *y, *weight;
    int32_t *class, *group; /* NULL: not a classification; no groups */
    uint64_t seed;
} krein_sample;

/* Fills p with the criterion's loss and error over a path of lambdas, and the best of it. */
typedef struct krein_criterion_class {
    krein_class cls;
    krein_status (*score)(krein_ctx *ctx, const krein_kernel *kernel, const krein_sample *sample,
                          const krein_values *values, krein_path *p);
    /* Folds by which lambda is then chosen on all rows; NULL: by leave-one-out. */
    int64_t (*folds)(const krein_values *values);
} krein_criterion_class;

extern const krein_class *const krein__criteria[];
extern const int64_t krein__criterion_count;

/* The same as a score by leave-one-out on random features; see features.c. */
enum { KREIN_FEATURES_MAX = 2048 };
krein_status krein__score_features(krein_ctx *ctx, const krein_kernel *kernel, const char *map_spec,
                                   const krein_sample *sample, krein_path *p);
double krein__score_features_bytes(int64_t d, int64_t k);

/* Gives the free parameters of the kernel their values. At most two may be free. map: the spec of
 * the map that the model will use, where it makes random features, else NULL. time_limit in
 * seconds (0: none): the best so far is taken when it has passed. */
krein_status krein__select_kernel(krein_job *job, const krein_criterion_class *criterion,
                                  const krein_values *values, const char *map, double time_limit,
                                  krein_kernel *kernel);
/* Flops and bytes of the search, for plan. */
double krein__select_flops(int64_t n, int64_t free, bool features);
double krein__select_bytes(krein_ctx *ctx, int64_t n, int64_t d, int64_t k, bool features);

#endif
