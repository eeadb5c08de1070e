/* label_metrics.h -- how right predicted label sets are (formulas in label_metrics.c). */
#ifndef KREIN_LABEL_METRICS_H
#define KREIN_LABEL_METRICS_H

#include "model/model.h"
#include "model/ranks.h"

/* What is added up over rows, by weight. */
typedef struct krein_label_metrics {
    krein_ctx *ctx;
    const krein_model *m;
    const krein_data *data;
    int64_t k;
    double *y;                     /* k: the truth of a row */
    double *hit, *truth, *guess;   /* k: rows that have and get the label, have it, get it */
    int64_t *rows;                 /* k: rows that have it, whatever their weights */
    double wrong, exact, misorder; /* labels; sets; shares of pairs of labels */
    double loss;                   /* of probabilities */
    bool calibrated;
    krein_ranks *side[2]; /* k of each: scores of rows without and with the label; NULL: too many */
    int64_t kept;         /* scores in them */
} krein_label_metrics;

krein_status krein__label_metrics_begin(krein_ctx *ctx, const krein_model *m,
                                        const krein_data *data, krein_label_metrics *t);
/* A row of weight w > 0 with a label of the stream, k scores and k probabilities (NULL: none). */
krein_status krein__label_metrics_add(krein_label_metrics *t, double w, double label,
                                      const double *score, const double *p);
/* The sums of all processes. */
krein_status krein__label_metrics_join(krein_stream *rows, krein_label_metrics *t);
/* weight: the sum of those of all rows. */
krein_status krein__label_metrics_end(krein_label_metrics *t, double weight, krein_metrics *out);
void krein__label_metrics_clear(krein_label_metrics *t);

#endif
