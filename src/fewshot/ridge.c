/* ridge -- kernel ridge regression on features of a network trained on the training classes
 * (features.c), which have length one. */
#include "fewshot/fewshot.h"

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    static const char *const KERNELS[] = {"linear", "gaussian(sigma=0.3)", "gaussian(sigma=0.6)",
                                          "gaussian(sigma=1.2)"};
    (void)variant;
    krein_status st = krein__features_learn(f);
    if (st != KREIN_OK) return st;
    return krein__task_ridge_choose(f, &krein__fewshot_ridge, KREIN__COUNT(KERNELS), KERNELS, true,
                                    out);
}

const krein_fewshot_method krein__fewshot_ridge = {
    .cls = {"ridge", "kernel ridge regression on features of a trained network", "", NULL, NULL},
    .variants = 1,
    .learns = true,
    .learn = learn,
    .solve = krein__task_ridge_solve,
    .clear = krein__task_ridge_clear};
