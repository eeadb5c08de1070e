/* evidence -- log marginal likelihood of a Gaussian process (rasmussen2006, 5.4.1)
 *     log p(y) = -1/2 (y'C^-1 y / s2 + log det C + n log(2 pi s2)),   C = K + n lambda I
 * y the centred targets, codes 1 and -1 for classes; outputs are independent, of one scale s2: the
 * best one, y'C^-1 y / n, or 1. At one lambda, or the largest over a path, from one
 * eigendecomposition (solve/smoother.c). With weights the noise of a row is n lambda / w_i. Cost:
 * 9 n^3 flops a kernel. */
#include "select/ridge_spectrum.h"

#include <math.h>

enum { LAMBDA, SCALE };

extern const krein_criterion_class krein__criterion_evidence;

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    (void)v, (void)n;
    out->spectrum = true;
}

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)trial;
    krein_status st = KREIN_OK;
    krein_ridge_spectrum r = {0};
    krein_path *p = &r.path;
    TRY(krein__need_positive(v, "evidence"));
    TRY(krein__ridge_spectrum_begin(v, &v->spectrum, 0, values->number[LAMBDA], &r));
    if (values->number[SCALE] == 0 && !(r.s.square > 0)) {
        st = krein__fail(v->ctx, KREIN_EDATA,
                         "the targets are constant: the best scale of the process is zero");
        goto done;
    }
    krein__evidence_path(&r.s, values->number[SCALE] == 0, p);
    *out = krein__score_of(&krein__criterion_evidence, -p->loss[p->best]);
    /* as a mean square, whose differences mean the same at any number of rows */
    out->loss = exp(2 * p->loss[p->best] / (double)(r.s.n * r.s.k));
    out->lambda = p->lambda[p->best];
done:
    krein__ridge_spectrum_end(v, &r);
    return st;
}

static const krein_option options[] = {KREIN_OPTION_RIDGE_LAMBDA,
                                       {.name = "scale",
                                        .type = KREIN_OPTION_WORD,
                                        .value = 0,
                                        .words = "free|one",
                                        .help = "the variance of the process: the best one, or 1"},
                                       {0}};

const krein_criterion_class krein__criterion_evidence = {
    .cls = {"evidence", "log marginal likelihood of a Gaussian process", "rasmussen2006", options,
            "How likely the targets are under a Gaussian process with the kernel, its noise "
            "n lambda and its scale chosen for the best. The larger the better."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_NUMBERS,
    .larger = true,
    .needs = needs,
    .score = score};
