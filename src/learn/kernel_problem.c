/* kernel_problem.c -- machines on the kernel matrix, of all rows or of those outside a fold
 *
 * Squared hinge: min 1/2 |f|^2 + C sum xi^2 has the dual of the plain one with K + I/(2C) in place
 * of K and no upper bound. Balanced: row i has C w_c, w_c = n / (classes n_c). LIBSVM knows one C
 * for each side of a machine: against the rest, the rest has the mean of its rows' weights; with
 * the squared hinge, whose C_i stand on the diagonal, every row has its own.
 */
#include "learn/kernel_problem.h"

#include "learn/feature_machines.h"
#include "learn/kernel_multiclass.h"
#include "model/probability.h"
#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static const double UNBOUNDED = 1e30; /* compared with coefficients, nothing else */

/* What one thread needs. */
typedef struct scratch {
    int64_t *row;
    double *y, *alpha;
    void **nodes;
    _Atomic int64_t *unfinished; /* machines that LIBSVM gave up, of all threads */
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

/* The rows of a machine that are not in fold f, and their targets. */
static void pick(const krein_kernel_problem *p, const krein_exact *r, int64_t machine,
                 const int32_t *fold, int64_t f, krein_svm_machine *out, int64_t *row) {
    int64_t a = -1, b = -1;
    if (p->classes) sides(p, machine, &a, &b);
    out->m = 0;
    for (int64_t i = 0; i < r->n; i++) {
        if (fold && fold[i] == f) continue;
        bool positive = p->classes && r->class[i] == b;
        if (p->pairs && !positive && r->class[i] != a) continue;
        out->y[out->m] = !p->classes ? r->y[i * p->k + machine] : positive ? 1 : -1;
        row[out->m++] = i;
    }
}

/* C of both sides. False where a side has no rows. */
static bool set_costs(const krein_kernel_problem *p, const krein_exact *r, double C,
                      krein_svm_machine *machine) {
    double sum[2] = {0}, count[2] = {0};
    for (int64_t i = 0; i < machine->m; i++) {
        int side = machine->y[i] > 0;
        sum[side] += p->class_weight ? p->class_weight[r->class[machine->row[i]]] : 1;
        count[side]++;
    }
    for (int side = 0; side < 2; side++) {
        if (count[side] == 0) return false;
        machine->C[side] = p->squared ? UNBOUNDED : C * sum[side] / count[side];
    }
    return true;
}

/* Column `c` of w (n x k) and b[c]. A machine without rows of one side says the other. */
static const char *train(const krein_kernel_problem *p, const krein_exact *r,
                         const krein_libsvm *table, double C, const int32_t *fold, int64_t f,
                         int64_t c, const scratch *s, double *w, double *b) {
    krein_svm_machine machine = {.row = s->row,
                                 .y = s->y,
                                 .alpha = s->alpha,
                                 .nodes = s->nodes,
                                 .C = {C, C},
                                 .epsilon = p->epsilon,
                                 .tol = p->tol};
    for (int64_t i = 0; i < r->n; i++) w[i * p->k + c] = 0;
    b[c] = 0;
    pick(p, r, c, fold, f, &machine, s->row);
    if (machine.m == 0) return NULL;
    if (p->classes && !set_costs(p, r, C, &machine)) {
        b[c] = machine.y[0];
        return NULL;
    }
    if (p->classes)
        krein__libsvm_classify(table, &machine);
    else
        krein__libsvm_regress(table, &machine);
    if (machine.error) return machine.error;
    if (machine.unfinished) atomic_fetch_add(s->unfinished, 1);
    for (int64_t i = 0; i < machine.m; i++) w[s->row[i] * p->k + c] = s->alpha[i];
    b[c] = machine.intercept;
    return NULL;
}

/* The I/(2C) of the squared hinge. */
static void set_diagonal(const krein_kernel_problem *p, const krein_exact *r, krein_libsvm *table,
                         double C) {
    for (int64_t i = 0; p->squared && i < r->n; i++) {
        double weight = p->class_weight ? p->class_weight[r->class[i]] : 1;
        krein__libsvm_diagonal(table, i, r->K[i * r->n + i] + 1 / (2 * C * weight));
    }
}

/* A choice of C may well try values that are too large. */
static void report(const krein_kernel_problem *p, double C, bool choice, int64_t unfinished,
                   int64_t machines) {
    if (unfinished == 0) return;
    krein__log(
        p->ctx, choice ? KREIN_LOG_INFO : KREIN_LOG_WARNING,
        "LIBSVM has not reached tol = %g in %lld of %lld machines with C = %g, and ended at its "
        "last iteration; give a smaller C or a larger tol, or use features (`map=nystrom`)",
        p->tol, (long long)unfinished, (long long)machines, C * p->scale);
}

krein_status krein__kernel_train(const krein_kernel_problem *p, const krein_exact *r,
                                 krein_libsvm *table, double C, const int32_t *fold, int64_t folds,
                                 double *w, double *b) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = r->n, k = p->k, threads = ctx->threads;
    scratch all = {0};
    _Atomic(const char *) error = NULL;
    _Atomic bool stop = false;
    _Atomic int64_t unfinished = 0;
    if (krein__multi_joint(p->multi)) return krein__kernel_multiclass(p, r, C, fold, folds, w, b);
    NEW(all.row, threads * n);
    NEW(all.y, threads * n);
    NEW(all.alpha, threads * n);
    NEW(all.nodes, threads * n);
    set_diagonal(p, r, table, C);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t t = 0; t < folds * k; t++) {
        int64_t at = omp_get_thread_num() * n, f = t / k;
        scratch s = {all.row + at, all.y + at, all.alpha + at, all.nodes + at, &unfinished};
        if (atomic_load(&stop)) continue;
        krein__worker_begin();
        const char *said = train(p, r, table, C, fold, f, t % k, &s, w + f * n * k, b + f * k);
        if (said) atomic_store(&error, said);
        if (said || (at == 0 && krein__poll(ctx) != KREIN_OK)) atomic_store(&stop, true);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    report(p, C, fold != NULL, atomic_load(&unfinished), folds * k);
    if (atomic_load(&error))
        st = krein__fail(ctx, KREIN_EARG, "LIBSVM refuses the parameters: %s", atomic_load(&error));
    else
        st = krein__poll(ctx); /* the loop asks on one thread only */
done:
    krein__free(ctx, all.row);
    krein__free(ctx, all.y);
    krein__free(ctx, all.alpha);
    krein__free(ctx, all.nodes);
    return st;
}

krein_status krein__kernel_held_out(const krein_kernel_problem *p, const krein_exact *r,
                                    krein_libsvm *table, double C, const int32_t *fold,
                                    int64_t folds, double *score) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = r->n, k = p->k, at[KREIN_KERNEL_STRIP];
    double *w = NULL, *b = NULL, *strip = NULL, *out = NULL;
    NEW(w, folds * n * k);
    NEW(b, folds * k);
    NEW(strip, KREIN_KERNEL_STRIP * n);
    NEW(out, KREIN_KERNEL_STRIP * k);
    TRY(krein__kernel_train(p, r, table, C, fold, folds, w, b));
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
