/* conv -- p-norm weights of kernels divided by their tails (Conv-MKL, li2018multi)
 *
 *     theta from lp (lp.c) on K_m / r_m,   mu_m = theta_m / r_m,   r_m = (1/n) sum_{j > t} lambda_j
 *
 * The local Rademacher complexity of sum_m mu_m K_m grows with sum_m mu_m r_m (tails.h): kernels
 * whose eigenvalues fall slowly are made small first, so that the norm of theta bounds the
 * complexity and not the trace. t is the option theta, by default the root of the rows.
 *
 * A kernel of at most t features (the linear one on few columns) has no tail, and would get all
 * weight whatever it is good for: tails count as at least 1e-3 of the kernel's trace. The factors
 * are brought to mean one: lambda, chosen for the mean of the kernels, then fits here too.
 *
 * Cost: that of the tails and of lp. */
#include "combine/combine.h"
#include "combine/lp.h"
#include "combine/tails.h"

#include <math.h>

static const double LEAST = 1e-3;

/* Tr K_m / n: one where the kernels were scaled to that. */
static krein_status traces(krein_bank *b, bool scaled, double *trace) {
    int64_t n = b->rows.n;
    const double *w = b->rows.weight;
    krein_status st = KREIN_OK;
    if (!b->K && !scaled) st = krein__bank_scales(b->job, b->kernel, b->M, trace);
    for (int64_t m = 0; st == KREIN_OK && m < b->M; m++) {
        double sum = 0, weight = 0;
        for (int64_t i = 0; b->K && i < n; i++) {
            sum += (w ? w[i] : 1) * b->K[m][i * n + i];
            weight += w ? w[i] : 1;
        }
        trace[m] = b->K ? sum / weight : scaled ? 1 : b->scale[m] / trace[m];
    }
    return st;
}

enum { P = KREIN_WEIGHING_OWN, THETA };

static krein_status find(krein_bank *b, const krein_values *v, double *mu) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    double *tail = NULL, *trace = NULL, mean = 0;
    NEW(tail, b->M);
    NEW(trace, b->M);
    TRY(krein__bank_tails(b, v->number[THETA], tail));
    TRY(traces(b, v->number[KREIN_WEIGHING_NORMALIZE] != 0, trace));
    for (int64_t m = 0; m < b->M; m++) {
        tail[m] = 1 / fmax(tail[m], LEAST * trace[m]);
        mean += tail[m] / (double)b->M;
    }
    for (int64_t m = 0; m < b->M; m++) tail[m] /= mean;
    TRY(krein__lp_weights(b, v->number[P], tail, mu));
    for (int64_t m = 0; m < b->M; m++) mu[m] *= tail[m];
done:
    krein__free(ctx, tail);
    krein__free(ctx, trace);
    return st;
}

static const krein_option options[] = {
    KREIN_WEIGHING_OPTIONS, KREIN_OPTION_P, KREIN_OPTION_THETA, {0}};

const krein_weighing_class krein__weigh_conv = {
    .cls = {"conv", "lp on kernels divided by their tail eigenvalues", "li2018multi", options,
            NULL},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .row_weights = true,
    .find = find,
    .cost = krein__lp_cost};
