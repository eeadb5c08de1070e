/* combination.h -- several kernels on their way from the user's list to one kernel and one map:
 *
 *     begin (specs) -> meet (data: free parameters, scales) -> map -> weigh -> kernel, map
 */
#ifndef KREIN_COMBINATION_H
#define KREIN_COMBINATION_H

#include "combine/combine.h"

typedef struct krein_combination {
    krein_ctx *ctx;
    const krein_weighing *w;
    krein_kernel_list list;
    int64_t specs; /* maps: 0 by kernel, 1 for all, else one a kernel */
    char **spec;
    double *scale; /* M: c_m; ones until the data are met */
    double *mu;    /* M: weights; NULL until they are known */
} krein_combination;

/* w outlives it. kernels and maps: "k1; k2; ...", "m1; m2; ..." or NULL. */
krein_status krein__combination_begin(krein_ctx *ctx, const krein_weighing *w, const char *kernels,
                                      const char *maps, uint64_t seed, krein_combination *out);
void krein__combination_end(krein_combination *c);
/* The map of the m-th kernel as it was asked for; NULL: it was not. */
const char *krein__combination_spec(const krein_combination *c, int64_t m);
/* Kernels and columns. */
krein_status krein__combination_meet(krein_combination *c, const krein_encoding *e);
/* And rows: free parameters by the criterion (or the median distance where there is none), scales.
 */
krein_status krein__combination_settle(krein_combination *c, krein_job *job,
                                       krein_criterion *criterion, double time_limit);
/* Finds the weights; map as krein__combination_map makes it, fitted, or one of kernel values. */
krein_status krein__combination_weigh(krein_combination *c, krein_job *job, const krein_map *map);
/* The sum of the kernels, times their scales and weights as far as these are known, and its map
 * with D features in all, not yet fitted. */
krein_status krein__combination_kernel(const krein_combination *c, krein_kernel **out);
krein_status krein__combination_map(const krein_combination *c, int64_t D, int64_t d, bool sparse,
                                    uint64_t seed, krein_map **out);
/* Kernels and weights for the model. */
krein_status krein__combination_tell(const krein_combination *c, krein_model *model);

#endif
