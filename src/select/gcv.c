/* gcv -- generalised cross-validation of ridge regression with an intercept (craven1979)
 *     GCV = (1/n) |y - f|^2 / (1 - tr(H)/n)^2,  f = Hy:  leave-one-out with the mean leverage
 * at one lambda, or the least over a path, from one eigendecomposition of HKH (solve/smoother.c).
 * Classes have codes 1 and -1; mean over the outputs. Cost: 9 n^3 flops a kernel. */
#include "select/ridge_spectrum.h"

#include <math.h>

extern const krein_criterion_class krein__criterion_gcv;

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    (void)v, (void)n;
    out->centred = true;
}

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)trial;
    krein_status st = KREIN_OK;
    krein_ridge_spectrum r = {0};
    krein_path *p = &r.path;
    TRY(krein__need_spectrum(v, "gcv"));
    TRY(krein__ridge_spectrum_begin(v, &v->centred, 1, values->number[0], &r));
    krein__gcv_path(&r.s, p);
    *out = krein__score_of(&krein__criterion_gcv, p->loss[p->best]);
    out->lambda = p->lambda[p->best];
done:
    krein__ridge_spectrum_end(v, &r);
    return st;
}

static const krein_option options[] = {KREIN_OPTION_RIDGE_LAMBDA, {0}};

const krein_criterion_class krein__criterion_gcv = {
    .cls = {"gcv", "generalised cross-validation", "craven1979", options,
            "Mean square of the residuals of kernel ridge regression over the squared share of "
            "degrees of freedom that is left. The smaller the better."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_NUMBERS,
    .needs = needs,
    .score = score};
