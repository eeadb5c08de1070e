/* kernel_problem.c -- machines on the kernel matrix, of all rows or of those outside a fold
 *
 * Row i has the bound C w_i: w_i its weight, times n / (classes n_c) where classes are balanced,
 * n and n_c sums of weights. Squared hinge: min 1/2 |f|^2 + sum C_i xi_i^2 has the dual of the
 * plain one with K_ii + 1/(2 C_i) in place of K_ii and no upper bound. A row of weight 0 takes no
 * part.
 */
#include "learn/kernel_problem.h"

#include "base/threads.h"
#include "learn/feature_machines.h"
#include "learn/kernel_multiclass.h"
#include "model/probability.h"
#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* What one thread needs. */
typedef struct scratch {
    krein_smo *smo;
    int64_t *row;
    double *y, *cost, *add, *alpha;
} scratch;

/* Classes a < b of a machine; against the rest a is -1. */
static void sides(const krein_kernel_problem *p, int64_t machine, int64_t *a, int64_t *b) {
    *a = p->classes == 2 ? 0 : -1;
    *b = p->classes == 2 ? 1 : machine;
    for (int64_t i = 0; p->pairs && i < p->classes; i++)
        for (int64_t j = i + 1; j < p->classes; j++)
            if (krein__pair(p->classes, i, j) == machine) *a = i, *b = j;
}

double krein__kernel_weight(const krein_kernel_problem *p, const krein_exact *r, int64_t i) {
    return p->unit * r->weight[i] * (p->class_weight ? p->class_weight[r->class[i]] : 1);
}

/* The rows of a machine that are not in fold f, their targets and costs. */
static int64_t pick(const krein_kernel_problem *p, const krein_exact *r, double C, int64_t machine,
                    const int32_t *fold, int64_t f, const scratch *s) {
    int64_t a = -1, b = -1, m = 0;
    bool classes = p->classes && !p->labels;
    if (classes) sides(p, machine, &a, &b);
    for (int64_t i = 0; i < r->n; i++) {
        double cost = C * krein__kernel_weight(p, r, i);
        bool positive = classes && r->class[i] == b;
        if ((fold && fold[i] == f) || !(cost > 0)) continue;
        if (p->pairs && !positive && r->class[i] != a) continue;
        s->y[m] = !classes ? r->y[i * p->k + machine] : positive ? 1 : -1;
        s->cost[m] = p->squared ? INFINITY : cost;
        s->add[m] = 1 / (2 * cost);
        s->row[m++] = i;
    }
    return m;
}

static bool one_sided(int64_t m, const double *y) {
    for (int64_t i = 1; i < m; i++)
        if (y[i] != y[0]) return false;
    return true;
}

/* Column `c` of w (n x k) and b[c]. A machine without rows of one side says the other. */
static krein_status train(krein_ctx *ctx, const krein_kernel_problem *p, const krein_exact *r,
                          double C, const int32_t *fold, int64_t f, int64_t c, const scratch *s,
                          double *w, double *b, bool *unfinished) {
    krein_status st = KREIN_OK;
    krein_smo_machine machine = {.m = pick(p, r, C, c, fold, f, s),
                                 .row = s->row,
                                 .y = s->y,
                                 .cost = s->cost,
                                 .add = p->squared ? s->add : NULL,
                                 .regression = p->classes == 0,
                                 .epsilon = p->epsilon,
                                 .tol = p->tol,
                                 .deadline = p->deadline,
                                 .alpha = s->alpha};
    for (int64_t i = 0; i < r->n; i++) w[i * p->k + c] = 0;
    b[c] = 0;
    if (machine.m == 0) goto done;
    if (p->classes && one_sided(machine.m, s->y)) {
        b[c] = s->y[0];
        goto done;
    }
    TRY(krein__smo(ctx, s->smo, r->n, r->K, &machine));
    for (int64_t i = 0; i < machine.m; i++) w[s->row[i] * p->k + c] = s->alpha[i];
    b[c] = machine.intercept;
    *unfinished = machine.unfinished;
done:
    return st;
}

/* A choice of C may well try values that are too large. */
static void report(const krein_kernel_problem *p, double C, bool choice, int64_t unfinished,
                   int64_t machines) {
    bool late = krein__late(p->deadline);
    if (unfinished == 0) return;
    krein__log(p->ctx, choice || late ? KREIN_LOG_INFO : KREIN_LOG_WARNING,
               "%s%lld of %lld machines with C = %g have not reached tol = %g%s",
               late ? "time limit: " : "", (long long)unfinished, (long long)machines, C * p->scale,
               p->tol,
               late ? ""
                    : " in as many steps as they may take; give a smaller C or a larger tol, or "
                      "use features (`map=nystrom`)");
}

/* Most rows of a machine: all, or those of the two largest classes. */
static int64_t most_rows(const krein_kernel_problem *p, const krein_exact *r) {
    int64_t first = 0, second = 0;
    if (!p->pairs) return r->n;
    for (int64_t c = 0; c < p->classes; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < r->n; i++) count += r->class[i] == c;
        second = krein__max(second, krein__min(first, count));
        first = krein__max(first, count);
    }
    return first + second;
}

static void scratch_end(krein_ctx *ctx, int64_t threads, scratch *s) {
    for (int64_t t = 0; s && t < threads; t++) {
        void *all[] = {s[t].row, s[t].y, s[t].cost, s[t].add, s[t].alpha};
        for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
        krein__smo_end(s[t].smo);
    }
    krein__free(ctx, s);
}

static krein_status scratch_begin(krein_ctx *ctx, int64_t threads, int64_t rows, scratch *s) {
    krein_status st = KREIN_OK;
    for (int64_t t = 0; t < threads; t++) {
        NEW(s[t].row, rows);
        NEW(s[t].y, rows);
        NEW(s[t].cost, rows);
        NEW(s[t].add, rows);
        NEW(s[t].alpha, rows);
        TRY(krein__smo_begin(ctx, rows, &s[t].smo));
    }
done:
    return st;
}

krein_status krein__kernel_train(const krein_kernel_problem *p, const krein_exact *r, double C,
                                 const int32_t *fold, int64_t folds, double *w, double *b) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = r->n, k = p->k, threads = krein__min(ctx->threads, folds * k);
    scratch *s = NULL;
    krein_workers all;
    _Atomic int64_t unfinished = 0;
    if (krein__multi_joint(p->multi)) return krein__kernel_multiclass(p, r, C, fold, folds, w, b);
    ZNEW(s, threads);
    TRY(scratch_begin(ctx, threads, most_rows(p, r), s));
    krein__workers_begin(&all, ctx, (int)threads);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads((int)threads) schedule(dynamic, 1)
    for (int64_t t = 0; t < folds * k; t++) {
        int64_t f = t / k;
        bool open = false;
        if (atomic_load(&all.stop)) continue;
        krein__worker_begin();
        krein_ctx own = all.own;
        krein__workers_note(&all,
                            train(&own, p, r, C, fold, f, t % k, &s[omp_get_thread_num()],
                                  w + f * n * k, b + f * k, &open),
                            &own);
        if (open) atomic_fetch_add(&unfinished, 1);
        krein__workers_stopped(&all);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    TRY(krein__workers_end(&all));
    report(p, C, fold != NULL, atomic_load(&unfinished), folds * k);
done:
    scratch_end(ctx, threads, s);
    return st;
}

krein_status krein__kernel_held_out(const krein_kernel_problem *p, const krein_exact *r, double C,
                                    const int32_t *fold, int64_t folds, double *score) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = r->n, k = p->k, at[KREIN_KERNEL_STRIP];
    double *w = NULL, *b = NULL, *strip = NULL, *out = NULL;
    NEW(w, folds * n * k);
    NEW(b, folds * k);
    NEW(strip, KREIN_KERNEL_STRIP * n);
    NEW(out, KREIN_KERNEL_STRIP * k);
    TRY(krein__kernel_train(p, r, C, fold, folds, w, b));
    for (int64_t f = 0; f < folds; f++)
        for (int64_t i = 0, m = 0; i < n; i++) {
            if (fold[i] == f) {
                memcpy(strip + m * n, r->K + i * n, (size_t)n * sizeof *strip);
                at[m++] = i;
            }
            if (m < KREIN_KERNEL_STRIP && i < n - 1) continue;
            krein__pgemm(ctx, false, false, m, k, n, 1, strip, n, w + f * n * k, k, 0, out, k);
            for (int64_t e = 0; e < m * k; e++)
                score[at[e / k] * k + e % k] = out[e] + b[f * k + e % k];
            m = 0;
        }
done:
    krein__free(ctx, w);
    krein__free(ctx, b);
    krein__free(ctx, strip);
    krein__free(ctx, out);
    return st;
}
