/* smsd -- stochastic mirror and sub-gradient descent (li2018multi; li2020, 4.2.2 and algorithm 2)
 *
 *     min  mean multi-class hinge loss + alpha/2 |W|_{2,p}^2 + beta sum_m r_m |W_m|
 *     r_m = sum of the eigenvalues of K_m / n after the theta largest
 *
 * solved as solve/mirror.c says, which also lists what was wrong in print; W_m = mu_m theta_m, and
 * mu are the weights. A kernel whose eigenvalues fall slowly, a narrow one, must do more for the
 * labels than one that is spanned by theta functions, which is not penalised at all (r = 0). On
 * features a kernel has no more eigenvalues than features: with a theta that large none is
 * penalised. r is divided by n, in the paper not, so that beta means the same for any number of
 * rows. Two classes are two weight vectors here.
 *
 * Cost: the tails (tails.c), then classes x D an epoch and row. */
#include "combine/mirrored.h"
#include "combine/tails.h"

#include <math.h>

enum { THETA = KREIN_WEIGHING_OWN, ALPHA };

static krein_status find(krein_bank *bank, const krein_values *v, double *mu) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    double *r = NULL, most = 0;
    NEW(r, bank->M);
    TRY(krein__bank_tails(bank, v->number[THETA], r));
    for (int64_t m = 0; m < bank->M; m++) most = fmax(most, r[m]);
    if (!(most > 0))
        krein__log(ctx, KREIN_LOG_INFO,
                   "no kernel has eigenvalues after theta: nothing is penalised; a smaller theta "
                   "would");
    TRY(krein__mirrored(bank, v->number + ALPHA, r, mu));
done:
    krein__free(ctx, r);
    return st;
}

static const krein_option options[] = {
    KREIN_WEIGHING_OPTIONS, KREIN_OPTION_THETA, KREIN_MIRRORED_OPTIONS, {0}};

const krein_weighing_class krein__weigh_smsd = {
    .cls =
        {"smsd",
         "mirror descent of the hinge loss with a penalty on the tails, which leaves kernels out",
         "li2018multi", options, NULL},
    .tasks = KREIN_FOR_CLASSES,
    .row_weights = true,
    .way_out = "lower beta",
    .find = find,
    .cost = krein__mirrored_cost};
