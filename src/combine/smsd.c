/* smsd -- stochastic mirror and sub-gradient descent (li2018multi; thesis, 4.2.2 and algorithm 2)
 *
 *     min  mean multi-class hinge loss + alpha/2 |W|_{2,p}^2 + beta sum_m r_m |W_m|
 *     r_m = sum of the eigenvalues of K_m / n after the theta largest
 *
 * solved as solve/mirror.c says, which also lists what was wrong in print; W_m = mu_m theta_m, and
 * mu are the weights. A kernel whose eigenvalues fall slowly, a narrow one, must do more for the
 * labels than one that is spanned by theta functions, which is not penalised at all (r = 0).
 * Two classes are two weight vectors here. r is divided by n (the paper: it is not), so that beta
 * means the same for any number of rows. Cost: the tails (tails.c), then classes x D an epoch and
 * row. */
#include "combine/mirrored.h"
#include "combine/tails.h"

static krein_status find(krein_bank *bank, const krein_mkl *o, double *mu) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    double *r = NULL;
    NEW(r, bank->M);
    TRY(krein__bank_tails(bank, o->theta, r));
    TRY(krein__mirrored(bank, o, r, mu));
done:
    krein__free(ctx, r);
    return st;
}

const krein_combiner krein__combine_smsd = {
    .tasks = KREIN_FOR_CLASSES, .row_weights = true, .find = find};
