/* cv -- k-fold cross-validation of kernel ridge regression
 * Folds are seeded, spread the classes evenly, and keep the rows of one --group together. At one
 * lambda from one factorisation, over a path by an eigendecomposition of each fold's other rows. */
#include "select/select.h"

#include <math.h>

enum { K, LAMBDA, INTERCEPT };

static void trial(const krein_values *v, krein_trial *t) {
    t->folds = (int64_t)v->number[K];
    t->lambda = v->number[LAMBDA];
    t->intercept = v->number[INTERCEPT] != 0;
}

static int64_t folds(const krein_values *values) { return (int64_t)values->number[K]; }

static const krein_option options[] = {{.name = "k",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 5,
                                        .low = 2,
                                        .high = 1000,
                                        .help = "number of folds"},
                                       KREIN_OPTION_RIDGE_LAMBDA,
                                       KREIN_OPTION_RIDGE_INTERCEPT,
                                       {0}};

const krein_criterion_class krein__criterion_cv = {
    .cls = {"cv", "k-fold cross-validation", "", options,
            "Rows of one `group` stay in one fold; classes are spread evenly. In train, lambda is "
            "chosen by the same number of folds on all rows, which costs as many fits."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_NUMBERS,
    .trial = trial,
    .score = krein__score_trial,
    .folds = folds};
