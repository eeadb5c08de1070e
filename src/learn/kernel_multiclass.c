/* kernel_multiclass.c -- one machine for all classes on the kernel matrix, of all rows or of those
 * outside a fold (solve/multiclass.c)
 *
 * Rows of a fold have the cost 0. Two classes have one score, f_1 - f_0. Crammer and Singer's
 * machine of two classes with C/2 is the ordinary one with C: with f = f_1 - f_0, f_1 = -f_0, its
 * objective is 1/4 |f|^2 + C/2 sum of hinge losses. So that it is that one, as on features, C is
 * halved there. GMNP takes C as published. */
#include "learn/kernel_multiclass.h"

#include "base/threads.h"
#include "learn/feature_machines.h"
#include "num/blas.h"

#include <string.h>

/* Held-out errors need fewer digits, and fewer rounds where C is large. */
static const double PATH_TOL = 10; /* times tol */
enum { PATH_ROUNDS = 30 };

/* alpha, w (n x classes) and the intercepts of one machine. */
typedef struct scratch {
    double *cost, *alpha, *w, *b;
} scratch;

static void scratch_end(krein_ctx *ctx, scratch *s) {
    krein__free(ctx, s->cost);
    krein__free(ctx, s->alpha);
    krein__free(ctx, s->w);
    krein__free(ctx, s->b);
}

static krein_status scratch_begin(krein_ctx *ctx, int64_t n, int64_t classes, scratch *s) {
    krein_status st = KREIN_OK;
    NEW(s->cost, n);
    ZNEW(s->alpha, n * classes);
    NEW(s->w, n * classes);
    ZNEW(s->b, classes);
done:
    return st;
}

/* The scores that the model has: of all classes, or the second's less the first's. */
static void scores_of(const krein_kernel_problem *p, int64_t n, const scratch *s, double *w,
                      double *b) {
    int64_t classes = p->classes, k = p->k;
    for (int64_t e = 0; e < n * k; e++)
        w[e] = k == classes ? s->w[e] : s->w[e * classes + 1] - s->w[e * classes];
    for (int64_t c = 0; c < k; c++) b[c] = k == classes ? s->b[c] : s->b[1] - s->b[0];
}

static void report(const krein_kernel_problem *p, const krein_multiclass *m, double C,
                   bool choice) {
    double gap = (m->primal - m->dual_value) / (m->primal > 0 ? m->primal : 1);
    bool late = krein__late(m->deadline);
    if (m->converged || choice || late)
        krein__log(p->ctx, choice ? KREIN_LOG_DEBUG : KREIN_LOG_INFO,
                   "%s%lld rounds, relative gap %.2g, %lld support vectors",
                   m->converged || !late ? "" : "time limit: ", (long long)m->rounds, gap,
                   (long long)m->support);
    else
        krein__log(p->ctx, KREIN_LOG_WARNING,
                   "stopped at a relative duality gap of %.2g, above tol = %g, with C = %g: a "
                   "smaller C would reach it",
                   gap, m->tol, C);
}

/* Without the rows of fold f. */
static krein_status train(krein_ctx *ctx, const krein_kernel_problem *p, const krein_exact *r,
                          double C, const int32_t *fold, int64_t f, double *w, double *b) {
    krein_status st = KREIN_OK;
    scratch s = {0};
    bool gmnp = p->multi == KREIN_MULTI_GMNP;
    double unit = p->classes == 2 && !gmnp ? C / 2 : C;
    TRY(scratch_begin(ctx, r->n, p->classes, &s));
    for (int64_t i = 0; i < r->n; i++)
        s.cost[i] = fold && fold[i] == f ? 0 : unit * krein__kernel_weight(p, r, i);
    krein_multiclass m = {.n = r->n,
                          .classes = p->classes,
                          .K = r->K,
                          .class = r->class,
                          .cost = s.cost,
                          .loss = gmnp ? KREIN_MULTICLASS_PAIRS : KREIN_MULTICLASS_LARGEST,
                          .intercept = !p->intercept ? KREIN_INTERCEPT_NONE
                                       : gmnp        ? KREIN_INTERCEPT_PENALISED
                                                     : KREIN_INTERCEPT_FREE,
                          .tol = fold ? PATH_TOL * p->tol : p->tol,
                          .most = fold ? PATH_ROUNDS : 0,
                          .deadline = p->job->deadline,
                          .what = fold ? NULL : "fitting",
                          .alpha = s.alpha,
                          .w = s.w,
                          .b = s.b};
    TRY(krein__multiclass(ctx, &m));
    report(p, &m, C, fold != NULL);
    scores_of(p, r->n, &s, w, b);
done:
    scratch_end(ctx, &s);
    return st;
}

krein_status krein__kernel_multiclass(const krein_kernel_problem *p, const krein_exact *r, double C,
                                      const int32_t *fold, int64_t folds, double *w, double *b) {
    krein_ctx *ctx = p->ctx;
    if (!fold) return train(ctx, p, r, C, NULL, 0, w, b);
    int threads = (int)krein__min(ctx->threads, folds);
    krein_workers all;
    krein__workers_begin(&all, ctx, threads);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t f = 0; f < folds; f++) {
        if (atomic_load(&all.stop)) continue;
        krein__worker_begin();
        krein_ctx own = all.own;
        krein__workers_note(&all, train(&own, p, r, C, fold, f, w + f * r->n * p->k, b + f * p->k),
                            &own);
        krein__workers_stopped(&all);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    return krein__workers_end(&all);
}

double krein__kernel_multiclass_bytes(const krein_ctx *ctx, int64_t n, int64_t k) {
    int64_t classes = krein__max(2, k), sample = krein__min(n, KREIN_KERNEL_SAMPLE);
    double one = krein__multiclass_bytes(n, classes) + 8 * (double)n * (2 * (double)classes + 1);
    double path =
        krein__multiclass_bytes(sample, classes) + 8 * (double)sample * (2 * (double)classes + 1);
    double all = (double)krein__min(ctx->threads, krein__max(5, 1)) * path;
    return (one > all ? one : all) + 8 * (double)(sample * sample);
}
