/* dckrr -- divide and conquer: kernel ridge regression on parts of the rows, averaged once
 *
 *     f = sum_j s_j f_j,   f_j = argmin (1/W_j) sum over part j of w_i |y_i - f(x_i)|^2
 *                                       + lambda |f|^2,   s_j = W_j / sum W
 * with W_j the weight of the rows of part j (zhang2015, on random features li2019distributed).
 * Parts of equal weight have the plain mean; shares in proportion to the rows are those of lin2017:
 * a short part counts for less.
 *
 * On features: the D x D sums of a few parts at a time, one pass (divide_features.c). On the kernel
 * matrix (map=exact): n_j x n_j matrices, never n x n; the model is a kernel expansion on all rows
 * (divide_exact.c). One part is krr.
 *
 * Theory wants the lambda that is right for all n rows: a part is then regularised too little for
 * its own size, and the average removes the variance that this leaves. Leave-one-out within parts
 * would find the lambda of n_j rows. So lambda is chosen by leave-one-out of the average itself
 * (divide.h). With --select cv(k), on features, it is the one of krr on all rows.
 */
#include "learn/divide.h"
#include "learn/krr.h"

#include <math.h>

enum { PARTS = 0, ORDER = 1 };

static const krein_option options[] = {
    {.name = "parts",
     .type = KREIN_OPTION_INTEGER,
     .value = NAN,
     .low = 1,
     .high = 1e6,
     .help = "number of parts; as many as krein advise says when not given"},
    KREIN_OPTION_PARTS_ORDER,
    {0}};

/* Rows of a kernel matrix that take a quarter of the memory budget while lambda is chosen. */
static int64_t affordable(const krein_ctx *ctx) {
    return (int64_t)sqrt((double)ctx->budget / 4 / (8 * 3.2));
}

static int64_t matrix_rows(const krein_ctx *ctx, const krein_values *values, int64_t n,
                           int64_t most) {
    double parts = values->number[PARTS];
    if (isnan(parts)) return krein__min(n, krein__max(1, krein__min(most, affordable(ctx))));
    return (n + (int64_t)parts - 1) / (int64_t)parts;
}

static krein_status divide(krein_job *job, krein_values *values, int64_t parts) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    krein_cut cut = {0};
    bool dual = m->map->cls->traits & KREIN_MAP_DUAL;
    if (dual && job->lambda < 0 && job->folds > 0) {
        st = krein__fail(ctx, KREIN_EARG,
                         "dckrr with map=exact chooses lambda by leave-one-out, not by folds; give "
                         "`lambda`, `select=loo`, or a map with features");
        goto done;
    }
    TRY(krein__divide_rows(job, parts, &values->number[ORDER], &cut));
    TRY(dual ? krein__divide_exact(job, &cut) : krein__divide_features(job, &cut, NULL));
    krein__divide_report(job);
done:
    krein__cut_end(ctx, &cut);
    return st;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_values plain = {0};
    if (isnan(values->number[PARTS])) values->number[PARTS] = 1;
    int64_t parts = (int64_t)values->number[PARTS];
    if (parts > 1) return divide(job, values, parts);
    if (isnan(values->number[ORDER])) values->number[ORDER] = KREIN_ORDER_BLOCKS; /* all the same */
    return krein__learner_krr.fit(job, &plain);
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    bool dual = map->cls->traits & KREIN_MAP_DUAL,
         shuffle = values->number[ORDER] != KREIN_ORDER_BLOCKS; /* NaN: it may be */
    int64_t rows = matrix_rows(map->ctx, values, n, out->max_exact);
    double given = values->number[PARTS], N = (double)n, K = (double)k, R = (double)rows;
    int64_t parts = isnan(given) ? (dual ? krein__max(1, n / krein__max(1, rows)) : 8)
                                 : krein__min((int64_t)given, n);
    double m = (double)parts, sampled = fmin(m, KREIN_LOO_PARTS);
    krein_cost whole = {.folds = out->folds, .max_exact = out->max_exact};
    krein_values plain = {0};
    if (isnan(given) ? !dual || rows == n : parts == 1) /* it may be one */
        krein__learner_krr.cost(map, &plain, n, k, path, &whole, passes);
    *passes = (path ? 3 : 1) + (parts > 1 && values->number[ORDER] != KREIN_ORDER_SHUFFLE);
    if (dual) {
        out->bytes +=
            fmax(whole.bytes, krein__divide_exact_bytes(map, n, rows, parts, k, path)) + 24 * N;
        out->flops = N * R * krein__gram_flops(map->kernel, map->d) + m * R * R * R / 3 +
                     (path ? sampled * 18 * R * R * R : 0);
        return;
    }
    double D = (double)map->cls->features(map, n);
    out->bytes += fmax(whole.bytes, krein__divide_features_bytes(map, n, parts, k, shuffle, path));
    out->flops = N * D * (D + 1 + 2 * K) * (path ? 2 : 1) + m * D * D * D / 3 +
                 (path ? sampled * 9 * D * D * D : 0);
}

const krein_learner_class krein__learner_dckrr = {
    .cls = {"dckrr", "ridge regression on parts of the rows, averaged (divide and conquer)",
            "zhang2015", options,
            "Each part solves its own problem, and the models are averaged by the weight of their "
            "rows: one pass on features, kernel matrices of a part's rows with map=exact "
            "(`max_exact` then counts those). lambda by exact leave-one-out of the average unless "
            "`lambda` is given. One part is krr. See docs/divide.md."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .together = true,
    .matrix = KREIN_MATRIX_FEW,
    .advised = "parts",
    .matrix_rows = matrix_rows,
    .fit = fit,
    .cost = cost};
