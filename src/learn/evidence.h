/* evidence.h -- a spectral mixture that makes the targets of some rows likely. */
#ifndef KREIN_LEARN_EVIDENCE_H
#define KREIN_LEARN_EVIDENCE_H

#include "base/base.h"

typedef struct krein_evidence_rows {
    int64_t n, d, k;
    const double *x; /* n x d */
    const double *y; /* n x k, of mean zero */
    const double *w; /* n: weights > 0, or NULL: ones */
} krein_evidence_rows;

typedef struct krein_evidence {
    double start, value; /* log evidence over n k, up to a constant: at the start, and now */
    double lambda;       /* noise, in units of the process's variance; in: where to start */
    int64_t steps;
} krein_evidence;

/* p: the numbers of a mixture (kernel/spectral_mixture.h), the start in, the best out. At most so
 * many steps; ends with its best at the deadline (0: none). */
krein_status krein__evidence_learn(krein_ctx *ctx, const krein_evidence_rows *rows, int64_t steps,
                                   double deadline, double *p, krein_evidence *out);
/* Memory and operations of that. */
double krein__evidence_bytes(int64_t n, int64_t d, int64_t k, int64_t q);
double krein__evidence_flops(int64_t n, int64_t d, int64_t q, int64_t steps);

/* Its value and its gradient in the numbers t that the steps are in, for tests: t has log weights
 * (q), means over the deviations `unit` of the start (q x d), log variances (q x d), log noise. */
int64_t krein__evidence_count(int64_t q, int64_t d);
krein_status krein__evidence_at(krein_ctx *ctx, const krein_evidence_rows *rows, int64_t q,
                                const double *unit, const double *t, double *value,
                                double *gradient);

#endif
