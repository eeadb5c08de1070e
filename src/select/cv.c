/* cv -- k-fold cross-validation of kernel ridge regression over a path of lambdas
 * Folds are seeded, spread the classes evenly, and keep the rows of one --group together. Each
 * fold's model comes from one eigendecomposition of the other rows' kernel matrix. */
#include "select/select.h"

static krein_status score(krein_ctx *ctx, const krein_kernel *kernel, const krein_sample *s,
                          const krein_values *values, krein_path *p) {
    krein_status st = KREIN_OK;
    int64_t n = s->n, folds = krein__min((int64_t)values->number[0], n);
    double *K = NULL;
    int32_t *fold = NULL;
    krein_rows x = krein__matrix_rows(&s->x);
    krein_targets rows = {n, s->k, s->y, s->weight, s->class};
    NEW(K, n * n);
    NEW(fold, n);
    TRY(krein__gram_full(ctx, kernel, &x, &x, K));
    TRY(krein__folds(ctx, s->seed, n, folds, s->group, s->class, fold));
    TRY(krein__dual_cv(ctx, K, &rows, fold, folds, p));
done:
    krein__free(ctx, K);
    krein__free(ctx, fold);
    return st;
}

static int64_t folds(const krein_values *values) { return (int64_t)values->number[0]; }

static const krein_option options[] = {{.name = "k",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 5,
                                        .low = 2,
                                        .high = 1000,
                                        .help = "number of folds"},
                                       {0}};

const krein_criterion_class krein__criterion_cv = {
    .cls = {"cv", "k-fold cross-validation", "", options,
            "Rows of one --group stay in one fold; classes are spread evenly. Lambda is chosen by "
            "the same number of folds on all rows, which costs as many fits."},
    .score = score,
    .folds = folds};
