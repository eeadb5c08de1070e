/* ridge_tasks.c -- kernel ridge regression on the support of a task
 *
 *     f_c(x) = b_c + k(x)' (K + lambda n I)^{-1} (Y_c - b_c),   Y = 1 for the class, else 0, b =
 * 1/ways
 *
 * K of all n support rows; a query goes to the largest score. Kernel and lambda are those that do
 * best on validation tasks. */
#include "fewshot/fewshot.h"

#include "kernel/gram.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

static const double LAMBDA[] = {1e-4, 1e-3, 1e-2, 1e-1, 1};
enum { LAMBDAS = KREIN__COUNT(LAMBDA) };

typedef struct ridge {
    krein_kernel *kernel;
    bool features;
    bool path; /* all lambdas, for the choice */
    double lambda;
} ridge;

void krein__task_ridge_clear(krein_fewshot_run *f, krein_learned *l) {
    ridge *r = l->own;
    if (!r) return;
    krein__kernel_destroy(f->ctx, r->kernel);
    krein__free(f->ctx, r);
    l->own = NULL;
}

/* Share of queries (rows of scores, queries x ways) that are right. */
static double share_right(const krein_episode *e, const double *score) {
    int64_t ways = e->size.ways, n = ways * e->size.queries, right = 0;
    for (int64_t q = 0; q < n; q++) {
        int64_t best = 0;
        for (int64_t c = 1; c < ways; c++)
            if (score[q * ways + c] > score[q * ways + best]) best = c;
        right += best == e->query_label[q];
    }
    return (double)right / (double)n;
}

krein_status krein__task_ridge_solve(krein_ctx *ctx, const krein_learned *l, krein_bench *b,
                                     double *accuracy) {
    krein_status st = KREIN_OK;
    const ridge *r = l->own;
    const krein_episode *e = &b->e;
    krein_rows x = krein__task_space(b->f, e->images, r->features);
    int64_t ways = e->size.ways, n = ways * e->size.shots, queries = ways * e->size.queries, pivot;
    float *rows = NULL;
    double *K = NULL, *U = NULL, *Kq = NULL, *alpha = NULL, *score = NULL;
    NEW(rows, (n + queries) * x.d);
    NEW(K, n * n);
    NEW(U, n * n);
    NEW(Kq, queries * n);
    NEW(alpha, n * ways);
    NEW(score, queries * ways);
    for (int64_t i = 0; i < n; i++) krein__row_copy(&x, e->support[i], rows + i * x.d);
    for (int64_t i = 0; i < queries; i++) krein__row_copy(&x, e->query[i], rows + (n + i) * x.d);
    krein_rows support = krein__rows_dense(n, x.d, rows, x.d);
    krein_rows query = krein__rows_dense(queries, x.d, rows + n * x.d, x.d);
    TRY(krein__gram_full(ctx, r->kernel, &support, &support, K));
    TRY(krein__gram_full(ctx, r->kernel, &query, &support, Kq));
    double trace = 0;
    for (int64_t i = 0; i < n; i++) trace += K[i * n + i] / (double)n;
    for (int64_t k = 0; k < (r->path ? LAMBDAS : 1); k++) {
        double lambda = r->path ? LAMBDA[k] : r->lambda;
        memcpy(U, K, (size_t)(n * n) * sizeof *U);
        for (int64_t i = 0; i < n; i++) U[i * n + i] += lambda * trace * (double)n + 1e-10 * trace;
        for (int64_t i = 0; i < n * ways; i++)
            alpha[i] = (e->support_label[i / ways] == i % ways ? 1 : 0) - 1 / (double)ways;
        TRY(krein__cholesky(ctx, n, U, n, &pivot));
        TRY(krein__cholesky_solve(ctx, n, U, n, ways, alpha, ways));
        krein__dgemm(false, false, queries, ways, n, 1, Kq, n, alpha, ways, 0, score, ways);
        accuracy[k] = share_right(e, score);
    }
done:
    krein__free(ctx, rows);
    krein__free(ctx, K);
    krein__free(ctx, U);
    krein__free(ctx, Kq);
    krein__free(ctx, alpha);
    krein__free(ctx, score);
    return st;
}

krein_status krein__task_ridge_choose(krein_fewshot_run *f, const krein_fewshot_method *method,
                                      int64_t n, const char *const *kernels, bool features,
                                      krein_learned *out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t tasks = f->o.validation_tasks, kernel = 0;
    double *accuracy = NULL, mean[LAMBDAS], best = -1, lambda = LAMBDA[0];
    ridge *r;
    ZNEW(r, 1);
    out->own = r;
    r->features = features;
    NEW(accuracy, tasks * LAMBDAS);
    for (int64_t i = 0; i < n; i++) {
        krein__kernel_destroy(ctx, r->kernel);
        r->kernel = NULL;
        TRY(krein__kernel_parse(ctx, kernels[i], &r->kernel));
        r->path = true;
        out->points = LAMBDAS;
        TRY(krein__measure(f, method, out, KREIN_EPISODE_VALIDATE, tasks,
                           "choosing kernel and lambda", accuracy));
        krein__means(tasks, LAMBDAS, accuracy, mean);
        for (int64_t k = 0; k < LAMBDAS; k++)
            if (mean[k] > best) {
                best = mean[k];
                kernel = i;
                lambda = LAMBDA[k];
            }
    }
    krein__kernel_destroy(ctx, r->kernel);
    r->kernel = NULL;
    TRY(krein__kernel_parse(ctx, kernels[kernel], &r->kernel));
    r->path = false;
    r->lambda = lambda;
    out->points = 1;
    out->detail = krein__format(ctx, "%s, lambda=%g", kernels[kernel], lambda);
    if (!out->detail) st = ctx->status;
done:
    krein__free(ctx, accuracy);
    return st;
}
