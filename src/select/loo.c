/* loo -- exact leave-one-out of kernel ridge regression (least-squares SVM) with an intercept
 *     y_i - f_{-i}(x_i) = alpha_i / (C^-1)_ii = (y_i - f_i) / (1 - H_ii)
 * at one lambda by one factorisation (n^3 flops), or for every lambda of a path from one
 * eigendecomposition (9 n^3); see solve/dual.c. Mean square for numbers; share of wrong classes,
 * ties by mean square, for classes. */
#include "select/select.h"

#include <math.h>

enum { LAMBDA, INTERCEPT };

static void trial(const krein_values *v, krein_trial *t) {
    t->folds = 0;
    t->lambda = v->number[LAMBDA];
    t->intercept = v->number[INTERCEPT] != 0;
}

static const krein_option options[] = {
    KREIN_OPTION_RIDGE_LAMBDA, KREIN_OPTION_RIDGE_INTERCEPT, {0}};

const krein_criterion_class krein__criterion_loo = {
    .cls = {"loo", "exact leave-one-out, in closed form", "", options,
            "Leave-one-out error of kernel ridge regression, the least-squares support vector "
            "machine: share of wrong classes, or root mean square."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_NUMBERS,
    .trial = trial,
    .score = krein__score_trial};
