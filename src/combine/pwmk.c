/* pwmk -- proportionally weighted multiple kernels (tanabe2008)
 *
 *     mu_m = (acc_m - delta min acc) / sum_r (acc_r - delta min acc),   0 <= delta <= 1
 *
 * acc_m is the accuracy of kernel m alone: exact leave-one-out of ridge regression on +-1 targets,
 * at its best lambda of a path, on a sample of at most 1,000 rows. (The paper cross-validates
 * support vector machines: many times the work for much the same number.) delta = 0: in proportion
 * to the accuracies, 1: the worst kernel gets nothing.
 *
 * Accuracies of a few rows do not need features: the matrix of the sample is scored on both routes.
 * Cost: an eigendecomposition for a kernel, 9 x 1000^3 flops, kernels in parallel. */
#include "combine/pwmk.h"

#include "combine/combine.h"

#include <math.h>

void krein__pwmk_weights(int64_t M, const double *accuracy, double delta, double *mu) {
    double least = INFINITY, sum = 0;
    for (int64_t m = 0; m < M; m++) least = fmin(least, accuracy[m]);
    for (int64_t m = 0; m < M; m++) sum += mu[m] = fmax(0, accuracy[m] - delta * least);
    for (int64_t m = 0; m < M && sum > 0; m++) mu[m] /= sum;
}

static krein_status refused(const krein_bank *b, int64_t m, const char *why) {
    char *text = krein__kernel_text(b->ctx, b->kernel[m]);
    if (!text) return b->ctx->status;
    krein_status st =
        krein__fail(b->ctx, KREIN_ESPEC, "the accuracy of %s is not known: %s", text, why);
    krein__free(b->ctx, text);
    return st;
}

/* 1 - the share of errors of each kernel on a sample. */
static krein_status accuracies(krein_bank *b, double *accuracy) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    krein_criterion loo = {0};
    krein_scorer s = {0};
    krein_candidate *c = NULL;
    ZNEW(c, b->M);
    TRY(krein__criterion_parse(ctx, "loo", &loo));
    TRY(krein__scorer_begin(b->job, &loo, 1, krein__min(b->job->n, KREIN_BANK_SAMPLE), &s));
    s.what = "weighing kernels";
    for (int64_t m = 0; m < b->M; m++) c[m].kernel = b->kernel[m];
    TRY(krein__scorer_run(&s, c, b->M));
    for (int64_t m = 0; m < b->M; m++) {
        if (c[m].scored.refused[0]) TRY(refused(b, m, c[m].scored.refused[0]));
        accuracy[m] = 1 - c[m].scored.score[0].error;
    }
done:
    krein__candidates_clear(ctx, c, b->M);
    krein__free(ctx, c);
    krein__scorer_end(&s);
    krein__criterion_clear(ctx, &loo);
    return st;
}

enum { DELTA = KREIN_WEIGHING_OWN };

static krein_status find(krein_bank *b, const krein_values *v, double *mu) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    double *accuracy = NULL;
    NEW(accuracy, b->M);
    TRY(accuracies(b, accuracy));
    krein__pwmk_weights(b->M, accuracy, v->number[DELTA], mu);
done:
    krein__free(ctx, accuracy);
    return st;
}

static void cost(const krein_bank_size *s, krein_cost *out) {
    out->bytes += krein__bank_sample_bytes(s, s->M);
    out->flops += (double)s->M * 9 * pow((double)krein__min(s->n, KREIN_BANK_SAMPLE), 3);
}

static const krein_option options[] = {
    KREIN_WEIGHING_OPTIONS,
    {.name = "delta",
     .value = 0.5,
     .low = 0,
     .high = 1,
     .help = "share of the least accuracy that is taken off all"},
    {0}};

const krein_weighing_class krein__weigh_pwmk = {
    .cls = {"pwmk", "by the accuracy of each kernel alone", "tanabe2008", options, NULL},
    .tasks = KREIN_FOR_CLASSES,
    .indefinite = true,
    .row_weights = true,
    .alone = true,
    .way_out = "lower delta, or use method=average",
    .find = find,
    .cost = cost};
