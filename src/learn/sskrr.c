/* sskrr -- semi-supervised ridge regression: rows without labels take part, on parts of the rows
 *
 *     w_j = (sum over all rows of part j of (z - m)(z - m)' / M_j + lambda I)^-1
 *           sum over its labelled rows of (z_i - m)(y_i - ybar) / W_j
 * with M_j the weight of all rows of the part and W_j that of the labelled ones, m the mean of z
 * over all, ybar the mean of the labels: ridge regression on all rows where labels count M_j / W_j
 * times and the others are at the mean (chang2017). The models are averaged as in dckrr, by W_j.
 * The formulas in the paper have no intercept; here both means are taken off first, so that adding
 * a constant to the labels adds it to the predictions.
 *
 * Rows without labels are cut into as many parts as the labelled ones, each in its own order. The
 * map and the scaling are fitted to the labelled rows. lambda by leave-one-out: a row's label is
 * taken away, the row stays (divide_features.c).
 */
#include "learn/divide.h"
#include "learn/krr.h"

#include <math.h>

enum { PARTS = 0, ORDER = 1 };

static const krein_option options[] = {{.name = "parts",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 1,
                                        .low = 1,
                                        .high = 1e6,
                                        .help = "number of parts, averaged as in dckrr"},
                                       KREIN_OPTION_PARTS_ORDER,
                                       {0}};

static krein_status check(krein_ctx *ctx, const krein_values *values, const krein_map *map) {
    (void)values;
    if (!map || !(map->cls->traits & KREIN_MAP_DUAL)) return KREIN_OK;
    return krein__fail(ctx, KREIN_ESPEC,
                       "sskrr works on features, map=exact holds the labelled rows alone; use "
                       "`map=nystrom`, or leave `map` out");
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t parts = (int64_t)values->number[PARTS],
            rows = krein__block_rows(job->model->encoding.d);
    bool more = job->unlabelled.n > 0;
    krein_cut cut = {0}, unlabelled = {0};
    TRY(krein__divide_rows(job, parts, &values->number[ORDER], &cut));
    if (more) /* a seed of its own: neither order says anything of the other */
        TRY(krein__cut_begin(ctx, job->unlabelled.n, parts, rows,
                             values->number[ORDER] == KREIN_ORDER_SHUFFLE, ~job->seed,
                             &unlabelled));
    if (more && krein__stream_shared(job->rows))
        TRY(krein__cut_share(job->rows, job->unlabelled.before, job->unlabelled.here, &cut,
                             &unlabelled));
    if (!more)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "sskrr: every row has a label, so that it is ridge regression; rows without "
                   "labels come by `unlabeled`, or with an empty label");
    TRY(krein__divide_features(job, &cut, more ? &unlabelled : NULL));
    krein__divide_report(job);
done:
    krein__cut_end(ctx, &cut);
    krein__cut_end(ctx, &unlabelled);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    double D = (double)map->cls->features(map, n), N = (double)n, K = (double)k;
    int64_t parts = krein__min((int64_t)values->number[PARTS], n);
    double m = (double)parts, sampled = fmin(m, KREIN_LOO_PARTS);
    out->bytes += krein__divide_features_bytes(map, n, parts, k,
                                               values->number[ORDER] != KREIN_ORDER_BLOCKS, path);
    out->flops = N * D * (D + 1 + 2 * K) * (path ? 2 : 1) + m * D * D * D / 3 +
                 (path ? sampled * 9 * D * D * D : 0);
    *passes = (path ? 3 : 1) + (parts > 1 && values->number[ORDER] != KREIN_ORDER_SHUFFLE);
}

const krein_learner_class krein__learner_sskrr = {
    .cls = {"sskrr", "ridge regression that learns from rows without labels too", "chang2017",
            options,
            "Unlabelled rows come by `unlabeled`, or have an empty label or \"?\" in the data. "
            "They sharpen what is known of the inputs: labels stand against the features of all "
            "rows. On features only; lambda by exact leave-one-out unless `lambda` is given. See "
            "docs/semisupervised.md."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .together = true,
    .unlabelled = true,
    .check = check,
    .fit = fit,
    .cost = cost};
