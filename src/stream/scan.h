/* scan.h -- what the first look at a data set collects (scan.c), and the rows that are held out
 * (holdout.c). */
#ifndef KREIN_SCAN_H
#define KREIN_SCAN_H

#include "stream/data.h"

typedef struct krein_scan {
    krein_data *data;
    krein_ctx *ctx;
    krein_label_set labels;
    krein_stats stats;
    bool stats_now; /* in the first pass: no rows are held out */
    double *label;  /* of every row, when rows are held out */
    int32_t *group;
    int64_t rows, label_room;
    int64_t kept, unlabelled;         /* training rows, and those without a label */
    int64_t all_kept, all_unlabelled; /* of all processes */
    double label_sum[64];             /* by weight, of the training rows */
} krein_scan;

/* Numeric and text columns among the features. */
void krein__feature_counts(const krein_data *data, int64_t *nnum, int64_t *ncat);
/* Adds the labels of row i of a batch to label_sum. */
void krein__sum_labels(krein_scan *s, const krein_raw *raw, int64_t i);
/* Fills the means of the target of the inputs that are encoded by them (targets.c): one more pass
 * over the rows, where there are any. All parts are known. */
krein_status krein__scan_targets(krein_scan *s, krein_encoding *e);
/* Rows of such labels are kept apart for calibration. */
bool krein__calibrates(const krein_data *data, const krein_encoding *e);
/* Marks dropped and held-out rows and those for calibration, counts the parts, and collects the
 * statistics of the rest. */
krein_status krein__hold_out(krein_scan *s, const krein_encoding *e, double fraction,
                             uint64_t seed);

#endif
