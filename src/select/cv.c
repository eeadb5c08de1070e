/* cv -- k-fold cross-validation of kernel ridge regression over a path of lambdas
 * Folds are seeded, spread the classes evenly, and keep the rows of one --group together. Each
 * fold's model comes from one eigendecomposition of the other rows' kernel matrix. */
#include "select/select.h"

#include <math.h>
#include <string.h>

/* K[rows][columns] copied out. */
static void part(const double *K, int64_t n, const int64_t *rows, int64_t m, const int64_t *columns,
                 int64_t c, double *out) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < c; j++) out[i * c + j] = K[rows[i] * n + columns[j]];
}

typedef struct subset {
    double *y, *weight;
    int32_t *class;
} subset;

static krein_targets pick(const krein_sample *s, const int64_t *rows, int64_t m, subset *to) {
    for (int64_t i = 0; i < m; i++) {
        memcpy(to->y + i * s->k, s->y + rows[i] * s->k, (size_t)s->k * sizeof *to->y);
        if (s->weight) to->weight[i] = s->weight[rows[i]];
        if (s->class) to->class[i] = s->class[rows[i]];
    }
    return (krein_targets){m, s->k, to->y, s->weight ? to->weight : NULL,
                           s->class ? to->class : NULL};
}

static krein_status score(krein_ctx *ctx, const krein_kernel *kernel, const krein_sample *s,
                          const krein_values *values, krein_path *p) {
    krein_status st = KREIN_OK;
    int64_t n = s->n, folds = krein__min((int64_t)values->number[0], n);
    double *K = NULL, *A = NULL, *B = NULL, *held = NULL;
    int64_t *in = NULL, *out = NULL;
    int32_t *fold = NULL;
    subset train = {0}, test = {0};
    krein_rows x = krein__matrix_rows(&s->x);
    krein_tally tally = {0};
    NEW(K, n * n);
    NEW(fold, n);
    NEW(in, n);
    NEW(out, n);
    NEW(A, n * n);
    NEW(B, n * n);
    NEW(train.y, n * s->k);
    NEW(train.weight, n);
    NEW(train.class, n);
    NEW(test.y, n * s->k);
    NEW(test.weight, n);
    NEW(test.class, n);
    TRY(krein__gram_full(ctx, kernel, &x, &x, K));
    TRY(krein__folds(ctx, s->seed, n, folds, s->group, s->class, fold));
    double diagonal = 0;
    for (int64_t i = 0; i < n; i++) diagonal += fabs(K[i * n + i]) / (double)n;
    krein__path_grid(p, diagonal * 1e-11, diagonal * 10, 4);
    NEW(held, n * p->n * s->k);
    for (int64_t f = 0; f < folds; f++) {
        int64_t m = 0, t = 0;
        for (int64_t i = 0; i < n; i++) {
            if (fold[i] == f) out[t++] = i;
            else in[m++] = i;
        }
        if (t == 0 || m < 2) continue;
        part(K, n, in, m, in, m, A);
        part(K, n, out, t, in, m, B);
        krein_targets rows = pick(s, in, m, &train), other = pick(s, out, t, &test);
        TRY(krein__dual_held_out(ctx, A, &rows, B, t, p, held));
        krein__tally_add(&tally, &other, p->n, held);
    }
    if (!(tally.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "cross-validation: every fold is empty; use fewer folds "
                                           "or more groups");
        goto done;
    }
    krein__tally_end(&tally, s->class != NULL, p);
done:
    krein__free(ctx, K);
    krein__free(ctx, A);
    krein__free(ctx, B);
    krein__free(ctx, held);
    krein__free(ctx, in);
    krein__free(ctx, out);
    krein__free(ctx, fold);
    krein__free(ctx, train.y);
    krein__free(ctx, train.weight);
    krein__free(ctx, train.class);
    krein__free(ctx, test.y);
    krein__free(ctx, test.weight);
    krein__free(ctx, test.class);
    return st;
}

static const krein_option options[] = {
    {.name = "k", .type = KREIN_OPTION_INTEGER, .value = 5, .low = 2, .high = 1000,
     .help = "number of folds"},
    {0}};

const krein_criterion_class krein__criterion_cv = {
    .cls = {"cv", "k-fold cross-validation", "", options,
            "Rows of one --group stay in one fold; classes are spread evenly."},
    .score = score};
