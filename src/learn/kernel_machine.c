/* kernel_machine -- support vector machines on the kernel matrix, by LIBSVM (solve/libsvm.c)
 *
 *     f(x) = sum_i a_i k(x, x_i) + b:  one machine for each class against the rest, for each pair
 *     of classes, or for each output of a regression
 *
 * Squared hinge: min 1/2 |f|^2 + C sum xi^2 has the dual of the plain one with K + I/(2C) in place
 * of K and no upper bound. Balanced: row i has C w_c, w_c = n / (classes n_c). LIBSVM knows one C
 * for each side of a machine: against the rest, the rest has the mean of its rows' weights; with
 * the squared hinge, whose C_i stand on the diagonal, every row has its own.
 *
 * Indefinite kernels (ong2004): with the spectrum of the training matrix
 * K = U diag(l) U' clipped or flipped, K~ = P K with P = U diag(f(l)/l) U', and a new row's values
 * are P k(x) likewise (chen2009); so the coefficients of k(x) itself are P a. A shift
 * K + tau I leaves the values at other rows, and the coefficients, alone. As it is, the
 * dual is not convex: LIBSVM ends at a stationary point.
 *
 * C is chosen by cross-validation over 2^-4, 2^-2, ..., 2^12 (for numbers, times the power of two
 * nearest to the spread of the targets, whose unit C has), on at most SAMPLE rows: the smallest C
 * within half a standard error (of the difference, row by row) of the best. A repair is that of the
 * whole matrix, held-out rows with it; their labels have no part in it.
 */
#include "learn/kernel_machine.h"

#include "learn/kernel_matrix.h"
#include "learn/feature_machines.h"
#include "model/probability.h"
#include "num/blas.h"
#include "num/spectrum.h"
#include "solve/libsvm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { SAMPLE = 2000, STRIP = 256, GRID = 9 };
static const double UNBOUNDED = 1e30; /* compared with coefficients, nothing else */

typedef struct problem {
    krein_ctx *ctx;
    krein_job *job;
    int64_t k, classes; /* machines; classes 0: regression */
    bool pairs, squared;
    double epsilon, tol;
    double *class_weight; /* classes */
    double scale;         /* targets are numbers / scale */
    krein_exact all;
    krein_libsvm *table;
    krein_repair repair; /* NONE: nothing to repair */
    double *V, *w;       /* eigenpairs of K where it was clipped or flipped */
} problem;

static void problem_clear(problem *p) {
    krein__exact_close(&p->all);
    krein__libsvm_end(p->table);
    krein__free(p->ctx, p->class_weight);
    krein__free(p->ctx, p->V);
    krein__free(p->ctx, p->w);
}

/* ---- machines ----------------------------------------------------------- */

/* What one thread needs. */
typedef struct scratch {
    int64_t *row;
    double *y, *alpha;
    void **nodes;
    _Atomic int64_t *unfinished; /* machines that LIBSVM gave up, of all threads */
} scratch;

/* Classes a < b of a machine; against the rest a is -1. */
static void sides(const problem *p, int64_t machine, int64_t *a, int64_t *b) {
    *a = p->classes == 2 ? 0 : -1;
    *b = p->classes == 2 ? 1 : machine;
    for (int64_t i = 0; p->pairs && i < p->classes; i++)
        for (int64_t j = i + 1; j < p->classes; j++)
            if (krein__pair(p->classes, i, j) == machine) *a = i, *b = j;
}

/* The rows of a machine that are not in fold f, and their targets. */
static void pick(const problem *p, const krein_exact *r, int64_t machine, const int32_t *fold,
                 int64_t f, krein_svm_machine *out, int64_t *row) {
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
static bool set_costs(const problem *p, const krein_exact *r, double C,
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
static const char *train(const problem *p, const krein_exact *r, const krein_libsvm *table,
                         double C, const int32_t *fold, int64_t f, int64_t c, const scratch *s,
                         double *w, double *b) {
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
static void set_diagonal(const problem *p, const krein_exact *r, krein_libsvm *table, double C) {
    for (int64_t i = 0; p->squared && i < r->n; i++) {
        double weight = p->class_weight ? p->class_weight[r->class[i]] : 1;
        krein__libsvm_diagonal(table, i, r->K[i * r->n + i] + 1 / (2 * C * weight));
    }
}

/* A choice of C may well try values that are too large. */
static void report(const problem *p, double C, bool choice, int64_t unfinished, int64_t machines) {
    if (unfinished == 0) return;
    krein__log(
        p->ctx, choice ? KREIN_LOG_INFO : KREIN_LOG_WARNING,
        "LIBSVM has not reached tol = %g in %lld of %lld machines with C = %g, and ended at its "
        "last iteration; give a smaller C or a larger tol, or use features (`map=nystrom`)",
        p->tol, (long long)unfinished, (long long)machines, C * p->scale);
}

/* All machines, for each fold without its rows (fold NULL: one set, of all rows): w is folds x n x
 * k, b folds x k. */
static krein_status train_all(const problem *p, const krein_exact *r, krein_libsvm *table, double C,
                              const int32_t *fold, int64_t folds, double *w, double *b) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = r->n, k = p->k, threads = ctx->threads;
    scratch all = {0};
    _Atomic(const char *) error = NULL;
    _Atomic bool stop = false;
    _Atomic int64_t unfinished = 0;
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

/* score (n x k) of every row by the machines that have not seen its fold. */
static krein_status held_out(const problem *p, const krein_exact *r, krein_libsvm *table, double C,
                             const int32_t *fold, int64_t folds, double *score) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = r->n, k = p->k, at[STRIP];
    double *w = NULL, *b = NULL, *strip = NULL, *out = NULL;
    NEW(w, folds * n * k);
    NEW(b, folds * k);
    NEW(strip, STRIP * n);
    NEW(out, STRIP * k);
    TRY(train_all(p, r, table, C, fold, folds, w, b));
    for (int64_t f = 0; f < folds; f++)
        for (int64_t i = 0, m = 0; i < n; i++) {
            if (fold[i] == f) {
                memcpy(strip + m * n, r->K + i * n, (size_t)n * sizeof *strip);
                at[m++] = i;
            }
            if (m < STRIP && i < n - 1) continue;
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

/* ---- the choice of C ---------------------------------------------------- */

/* Held-out losses of the rows (n of them) at each C tried, and their means. */
typedef struct trials {
    int64_t n, tried;
    double C[GRID], mean[GRID];
    double *loss; /* GRID x n */
} trials;

/* 1 where the class is wrong, or the squared error of numbers / scale, mean over the outputs. With
 * the weights that classes have in training, which are one in the mean. */
static void add_losses(const problem *p, const krein_exact *r, const double *score, trials *t) {
    double *loss = t->loss + t->tried * t->n, sum = 0, total = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const double *f = score + i * p->k;
        double weight = p->class_weight ? p->class_weight[r->class[i]] : 1;
        loss[i] = 0;
        if (p->classes) loss[i] = krein__decide(p->job->model->head, p->classes, f) != r->class[i];
        for (int64_t c = 0; !p->classes && c < p->k; c++)
            loss[i] += pow(r->y[i * p->k + c] - f[c], 2) / (double)p->k;
        loss[i] *= weight;
        sum += loss[i];
        total += weight;
    }
    for (int64_t i = 0; i < r->n; i++) loss[i] *= (double)r->n / total;
    t->mean[t->tried++] = sum / total;
}

/* Standard error of the difference of two means over the same rows. */
static double standard_error(const trials *t, int64_t a, int64_t b) {
    double squares = 0, n = (double)t->n, mean = t->mean[a] - t->mean[b];
    for (int64_t i = 0; i < t->n; i++)
        squares += pow(t->loss[a * t->n + i] - t->loss[b * t->n + i] - mean, 2);
    return sqrt(squares) / n;
}

static int64_t least(const trials *t) {
    int64_t best = 0;
    for (int64_t i = 1; i < t->tried; i++)
        if (t->mean[i] < t->mean[best]) best = i;
    return best;
}

/* The smallest C within half a standard error of the best. */
static int64_t choose(const trials *t) {
    int64_t best = least(t);
    for (int64_t i = 0; i < best; i++)
        if (t->mean[i] - t->mean[best] <= standard_error(t, i, best) / 2) return i;
    return best;
}

/* How many values of C above the best have a loss larger by more than its standard error. */
static int64_t risen(const trials *t) {
    int64_t best = least(t), count = 0;
    for (int64_t i = best + 1; i < t->tried; i++)
        count += t->mean[i] - t->mean[best] > standard_error(t, i, best);
    return count;
}

/* While C is below about 1 over the spread of the rows in feature space, all coefficients are at
 * their bound and machines hardly differ: what rises there is noise. */
static double least_end(const krein_exact *r) {
    double trace = 0, sum = 0, n = (double)r->n;
    for (int64_t i = 0; i < r->n; i++) {
        trace += r->K[i * r->n + i];
        for (int64_t j = 0; j < r->n; j++) sum += r->K[i * r->n + j];
    }
    return KREIN_SATURATED / fmax(trace / n - sum / (n * n), 1e-300);
}

/* Tries C in ascending order, until the loss has clearly risen twice. */
static krein_status walk(const problem *p, const krein_exact *r, krein_libsvm *table, double *C,
                         double *loss) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    const krein_job *job = p->job;
    int64_t folds = krein__fold_count(job->folds, r->n);
    trials t = {.n = r->n};
    int32_t *fold = NULL;
    double *score = NULL;
    NEW(fold, r->n);
    NEW(score, r->n * p->k);
    NEW(t.loss, GRID * r->n);
    TRY(krein__folds(ctx, job->seed, r->n, folds, r->group, r->class, fold));
    double end = least_end(r);
    while (t.tried < GRID && (risen(&t) < 2 || t.C[t.tried - 1] < end)) {
        int64_t at = t.tried;
        t.C[at] = ldexp(1, (int)(2 * at) - 4);
        krein__progress(ctx, "cross-validation", (double)at, GRID);
        TRY(held_out(p, r, table, t.C[at], fold, folds, score));
        add_losses(p, r, score, &t);
        krein__log(ctx, KREIN_LOG_DEBUG, "C %g: held-out %s %g", t.C[at] * p->scale,
                   p->classes ? "error" : "squared error", t.mean[at] * p->scale * p->scale);
        if (job->deadline > 0 && krein__clock() > job->deadline && t.tried < GRID) {
            krein__log(ctx, KREIN_LOG_INFO, "time limit: the best C of those up to %g",
                       t.C[at] * p->scale);
            break;
        }
    }
    krein__progress(ctx, "cross-validation", GRID, GRID);
    int64_t best = choose(&t);
    *C = t.C[best];
    *loss = t.mean[best];
done:
    krein__free(ctx, fold);
    krein__free(ctx, score);
    krein__free(ctx, t.loss);
    return st;
}

static krein_status choose_C(problem *p, double *C) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    krein_exact some = {0};
    krein_libsvm *table = NULL;
    double loss;
    if (p->all.n > SAMPLE) {
        TRY(krein__exact_sample(&p->all, p->job->seed, SAMPLE, &some));
        TRY(krein__libsvm_begin(ctx, some.n, some.K, &table));
        TRY(walk(p, &some, table, C, &loss));
    } else {
        TRY(krein__libsvm_begin(ctx, p->all.n, p->all.K, &p->table));
        TRY(walk(p, &p->all, p->table, C, &loss));
    }
    p->job->loo = p->classes ? loss : sqrt(loss) * p->scale;
    p->job->cv_folds = krein__fold_count(p->job->folds, krein__min(p->all.n, SAMPLE));
done:
    krein__exact_close(&some);
    krein__libsvm_end(table);
    return st;
}

/* ---- the matrix --------------------------------------------------------- */

static krein_status repair(problem *p, krein_repair wanted) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = p->all.n;
    double *K = p->all.K;
    krein__progress(ctx, "eigendecomposition", 0, 0);
    NEW(p->V, n * n);
    NEW(p->w, n);
    memcpy(p->V, K, (size_t)(n * n) * sizeof *K);
    TRY(krein__eigen(ctx, n, p->V, n, p->w));
    double low = p->w[0];
    if (low >= -krein__spectrum_noise(n, p->w)) goto done;
    p->repair = wanted;
    if (wanted == KREIN_REPAIR_SHIFT)
        for (int64_t i = 0; i < n; i++) K[i * n + i] -= low;
    else
        TRY(krein__spectrum_rebuild(ctx, wanted, n, p->V, p->w, K));
done:
    if (p->repair == KREIN_REPAIR_NONE || p->repair == KREIN_REPAIR_SHIFT) {
        krein__free(ctx, p->V);
        p->V = NULL;
    }
    return st;
}

static krein_status make_matrix(problem *p, krein_repair wanted) {
    krein_status st = KREIN_OK;
    TRY(krein__exact_open(p->job, &p->all));
    if (krein__kernel_positive(p->job->model->map->kernel)) goto done;
    if (wanted != KREIN_REPAIR_NONE)
        TRY(repair(p, wanted));
    else
        krein__log(p->ctx, KREIN_LOG_INFO,
                   "the kernel is not known to be positive definite and is taken as it is: the "
                   "stationary point found need not be the optimum");
done:
    return st;
}

/* ---- targets ------------------------------------------------------------ */

/* Checks that there are two classes, and weighs them. */
static krein_status weigh_classes(problem *p, bool balanced) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t present = 0;
    double *count = NULL;
    ZNEW(count, p->classes);
    for (int64_t i = 0; i < p->all.n; i++) count[p->all.class[i]]++;
    for (int64_t c = 0; c < p->classes; c++) present += count[c] > 0;
    if (present < 2) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "all training rows are of one class; a support vector machine needs two");
        goto done;
    }
    if (!balanced) goto done;
    for (int64_t c = 0; c < p->classes; c++)
        if (count[c] > 0) count[c] = (double)p->all.n / ((double)present * count[c]);
    p->class_weight = count;
    count = NULL;
done:
    krein__free(ctx, count);
    return st;
}

/* Targets become numbers / scale, scale the power of two nearest to their spread: C, epsilon and
 * the tolerance then mean the same whatever their unit. */
static void scale_targets(problem *p) {
    double sum = 0, n = (double)(p->all.n * p->k);
    for (int64_t c = 0; c < p->k; c++) {
        double mean = 0;
        for (int64_t i = 0; i < p->all.n; i++) mean += p->all.y[i * p->k + c] / (double)p->all.n;
        for (int64_t i = 0; i < p->all.n; i++) sum += pow(p->all.y[i * p->k + c] - mean, 2) / n;
    }
    p->scale = sum > 0 ? exp2(rint(log2(sum) / 2)) : 1;
    for (int64_t i = 0; i < p->all.n * p->k; i++) p->all.y[i] /= p->scale;
}

static krein_status begin(krein_job *job, double *C, krein_repair spectrum, problem *p) {
    krein_ctx *ctx = job->ctx;
    p->ctx = ctx;
    p->job = job;
    p->k = job->model->k;
    p->scale = 1;
    if (*C == 0 || isinf(*C))
        return krein__fail(ctx, KREIN_EARG,
                           "C = %g: give a positive number, or leave it out to have it chosen", *C);
    if (!(p->tol > 0))
        return krein__fail(ctx, KREIN_EARG, "tol = %g: give a positive number", p->tol);
    if (job->data->has_weight)
        return krein__fail(ctx, KREIN_EARG,
                           "machines on the kernel matrix (map=exact) take no row weights: use "
                           "features (`map=orf`, or nystrom), or leave out `weights`");
    return make_matrix(p, spectrum);
}

/* Machines on all rows, as coefficients of kernel values. */
static krein_status finish(problem *p, double C) {
    krein_status st = KREIN_OK;
    krein_model *m = p->job->model;
    if (!p->table) TRY(krein__libsvm_begin(p->ctx, p->all.n, p->all.K, &p->table));
    TRY(train_all(p, &p->all, p->table, C, NULL, 1, m->w, m->intercept));
    TRY(krein__spectrum_project(p->ctx, p->repair, p->all.n, p->k, p->V, p->w, m->w));
done:
    return st;
}

/* ---- classes ------------------------------------------------------------ */

static krein_status begin_svm(krein_job *job, const krein_exact_svm *o, double *C, problem *p) {
    krein_status st = KREIN_OK;
    *C = o->C;
    *p = (problem){.ctx = job->ctx,
                   .classes = job->model->encoding.nclass,
                   .squared = o->squared,
                   .tol = o->tol};
    p->pairs = o->multi == 1 && p->classes > 2;
    TRY(begin(job, C, o->spectrum, p));
    TRY(weigh_classes(p, o->balanced));
    if (!(*C > 0)) TRY(choose_C(p, C));
done:
    return st;
}

/* Decision values of five folds, on all rows. */
static krein_status score_folds(problem *p, double C, double *score) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int32_t *fold = NULL;
    int64_t n = p->all.n, folds = krein__fold_count(0, n);
    NEW(fold, n);
    if (!p->table) TRY(krein__libsvm_begin(ctx, n, p->all.K, &p->table));
    krein__progress(ctx, "probabilities", 0, 0);
    TRY(krein__folds(ctx, p->job->seed, n, folds, p->all.group, p->all.class, fold));
    TRY(held_out(p, &p->all, p->table, C, fold, folds, score));
done:
    krein__free(ctx, fold);
    return st;
}

static krein_status calibrate(problem *p, double C) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = p->job->model;
    double *score = NULL;
    NEW(score, p->all.n * p->k);
    TRY(score_folds(p, C, score));
    TRY(krein__calibrate(ctx, m->head, p->classes, p->all.n, p->k, score, p->all.class, NULL,
                         &m->calibration));
done:
    krein__free(ctx, score);
    return st;
}

krein_status krein__exact_svm(krein_job *job, const krein_exact_svm *o) {
    krein_status st = KREIN_OK;
    problem p;
    double C;
    TRY(begin_svm(job, o, &C, &p));
    TRY(finish(&p, C));
    if (job->probabilities) TRY(calibrate(&p, C));
    if (o->chosen_C) *o->chosen_C = C;
done:
    problem_clear(&p);
    return st;
}

krein_status krein__exact_svm_held_out(krein_job *job, const krein_exact_svm *o, double *score) {
    krein_status st = KREIN_OK;
    problem p;
    double C;
    TRY(begin_svm(job, o, &C, &p));
    TRY(score_folds(&p, C, score));
done:
    problem_clear(&p);
    return st;
}

/* ---- numbers ------------------------------------------------------------ */

krein_status krein__exact_svr(krein_job *job, const krein_exact_svm *o) {
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    problem p = {.ctx = job->ctx, .tol = o->tol};
    double C = o->C;
    TRY(begin(job, &C, o->spectrum, &p));
    scale_targets(&p);
    p.epsilon = o->epsilon / p.scale;
    C /= p.scale;
    if (!(C > 0)) TRY(choose_C(&p, &C));
    TRY(finish(&p, C));
    for (int64_t i = 0; i < p.all.n * p.k; i++) m->w[i] *= p.scale;
    for (int64_t c = 0; c < p.k; c++)
        m->intercept[c] = m->intercept[c] * p.scale + job->data->label_mean[c];
    if (o->chosen_C) *o->chosen_C = C * p.scale;
done:
    problem_clear(&p);
    return st;
}

/* ---- cost --------------------------------------------------------------- */

void krein__exact_machine_cost(const krein_map *map, int64_t n, int64_t k, bool regression,
                               bool path, krein_repair spectrum, krein_cost *out) {
    double N = (double)n, K = (double)k, threads = map->ctx->threads;
    bool repaired = spectrum != KREIN_REPAIR_NONE && !krein__kernel_positive(map->kernel);
    /* K, the eigenvectors and two matrices of workspace; then K, the vectors, LIBSVM's. */
    double eigen = repaired ? 32 * N * N : 8 * N * N;
    double table = (repaired ? 16 : 8) * N * N + krein__libsvm_bytes(n, (int)threads, regression);
    double m = fmin(N, SAMPLE), folds = (double)krein__max(5, out->folds);
    double some =
        path && n > SAMPLE ? 8 * m * m + krein__libsvm_bytes(SAMPLE, (int)threads, regression) : 0;
    out->bytes += fmax(fmax(eigen, table), (repaired ? 16 : 8) * N * N + some) +
                  8 * N * K * (folds + 3) + 8 * STRIP * (N + K) + threads * 40 * N + 64 * N +
                  8 * N * K;
    /* A machine visits its rows some hundred times; folds and values of C alike. */
    out->flops += N * N * krein__gram_flops(map->kernel, map->d) + 200 * K * N * N +
                  (repaired ? 9 * N * N * N : 0) +
                  (path ? GRID * folds * K * (200 * m * m + 2 * m * m / folds) : 0);
}
