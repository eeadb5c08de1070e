/* kernel_machine -- support vector machines on the kernel matrix (solve/smo.c)
 *
 *     f(x) = sum_i a_i k(x, x_i) + b:  one machine for each class against the rest, for each pair
 *     of classes, for each label, or for each output of a regression
 *
 * Indefinite kernels (ong2004): with the spectrum of the training matrix
 * K = U diag(l) U' clipped or flipped, K~ = P K with P = U diag(f(l)/l) U', and a new row's values
 * are P k(x) likewise (chen2009); so the coefficients of k(x) itself are P a. A shift
 * K + tau I leaves the values at other rows, and the coefficients, alone. As it is, the
 * dual is not convex: the solver ends at a stationary point.
 *
 * The machines are in kernel_problem.c, the choice of C in kernel_choice.c.
 */
#include "learn/kernel_machine.h"

#include "learn/feature_machines.h"
#include "learn/kernel_problem.h"
#include "learn/conformal.h"
#include "num/blas.h"
#include "num/spectrum.h"

#include <math.h>
#include <string.h>

static void problem_clear(krein_kernel_problem *p) {
    krein__exact_close(&p->all);
    krein__free(p->ctx, p->class_weight);
    krein__free(p->ctx, p->V);
    krein__free(p->ctx, p->w);
}

/* ---- the matrix --------------------------------------------------------- */

static krein_status repair(krein_kernel_problem *p, krein_repair wanted) {
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

static krein_status make_matrix(krein_kernel_problem *p, krein_repair wanted) {
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

/* Checks that there are two classes, and weighs them by the weights of their rows. */
static krein_status weigh_classes(krein_kernel_problem *p, bool balanced) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t present = 0;
    double *count = NULL; /* rows, of mean weight one */
    ZNEW(count, p->classes);
    for (int64_t i = 0; i < p->all.n; i++) count[p->all.class[i]] += p->all.weight[i];
    for (int64_t c = 0; c < p->classes; c++) present += count[c] > 0;
    if (present < 2) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "all training rows%s are of one class; a support vector machine needs two",
                         p->job->data->has_weight ? " with a weight" : "");
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
static void scale_targets(krein_kernel_problem *p) {
    double sum = 0, n = (double)(p->all.n * p->k);
    for (int64_t c = 0; c < p->k; c++) {
        const double *y = p->all.y + c, *weight = p->all.weight;
        double mean = 0;
        for (int64_t i = 0; i < p->all.n; i++) mean += weight[i] * y[i * p->k] / (double)p->all.n;
        for (int64_t i = 0; i < p->all.n; i++) sum += weight[i] * pow(y[i * p->k] - mean, 2) / n;
    }
    p->scale = sum > 0 ? exp2(rint(log2(sum) / 2)) : 1;
    for (int64_t i = 0; i < p->all.n * p->k; i++) p->all.y[i] /= p->scale;
}

static krein_status begin(krein_job *job, double *C, krein_repair spectrum,
                          krein_kernel_problem *p) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    p->ctx = ctx;
    p->job = job;
    p->k = job->model->k;
    p->scale = 1;
    p->deadline = job->deadline;
    p->unit = 1;
    if (*C == 0 || isinf(*C))
        return krein__fail(ctx, KREIN_EARG,
                           "C = %g: give a positive number, or leave it out to have it chosen", *C);
    if (!(p->tol > 0))
        return krein__fail(ctx, KREIN_EARG, "tol = %g: give a positive number", p->tol);
    TRY(krein__job_weight(job, &p->unit));
    p->unit /= (double)job->n;
    TRY(make_matrix(p, spectrum));
done:
    return st;
}

/* Machines on all rows, as coefficients of kernel values. */
static krein_status finish(krein_kernel_problem *p, double C) {
    krein_status st = KREIN_OK;
    krein_model *m = p->job->model;
    TRY(krein__kernel_train(p, &p->all, C, NULL, 1, m->w, m->intercept));
    TRY(krein__spectrum_project(p->ctx, p->repair, p->all.n, p->k, p->V, p->w, m->w));
done:
    return st;
}

/* ---- classes ------------------------------------------------------------ */

static krein_status begin_svm(krein_job *job, const krein_exact_svm *o, double *C,
                              krein_kernel_problem *p) {
    krein_status st = KREIN_OK;
    *C = o->C;
    *p = (krein_kernel_problem){.ctx = job->ctx,
                                .classes = job->model->encoding.nclass,
                                .multi = o->multi,
                                .squared = o->squared,
                                .intercept = !o->no_intercept,
                                .tol = o->tol};
    p->labels = krein__job_labels(job);
    p->pairs = o->multi == 1 && p->classes > 2;
    TRY(begin(job, C, o->spectrum, p));
    if (!p->labels) TRY(weigh_classes(p, o->balanced));
    if (!(*C > 0)) TRY(krein__kernel_choose_C(p, C));
done:
    return st;
}

/* Decision values of five folds, on all rows. */
static krein_status score_folds(krein_kernel_problem *p, double C, double *score) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int32_t *fold = NULL;
    int64_t n = p->all.n, folds = krein__fold_count(0, n);
    NEW(fold, n);
    krein__progress(ctx, "probabilities", 0, 0);
    TRY(krein__folds(ctx, p->job->seed, n, folds, p->all.group, p->all.class, fold));
    TRY(krein__kernel_held_out(p, &p->all, C, fold, folds, score));
done:
    krein__free(ctx, fold);
    return st;
}

static krein_status calibrate(krein_kernel_problem *p, double C) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    double *score = NULL;
    NEW(score, p->all.n * p->k);
    TRY(score_folds(p, C, score));
    TRY(krein__job_calibrate(p->job, p->all.n, score, p->all.class, p->all.y, p->all.weight));
done:
    krein__free(ctx, score);
    return st;
}

krein_status krein__exact_svm(krein_job *job, const krein_exact_svm *o) {
    krein_status st = KREIN_OK;
    krein_kernel_problem p;
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
    krein_kernel_problem p;
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
    krein_kernel_problem p = {.ctx = job->ctx, .tol = o->tol};
    double C = o->C;
    TRY(begin(job, &C, o->spectrum, &p));
    scale_targets(&p);
    p.epsilon = o->epsilon / p.scale;
    C /= p.scale;
    if (!(C > 0)) TRY(krein__kernel_choose_C(&p, &C));
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

void krein__exact_machine_cost(const krein_map *map, int64_t n, int64_t k, bool path,
                               krein_repair spectrum, krein_cost *out) {
    double N = (double)n, K = (double)k, threads = map->ctx->threads;
    bool repaired = spectrum != KREIN_REPAIR_NONE && !krein__kernel_positive(map->kernel);
    /* K, the eigenvectors and two matrices of workspace; then K, the vectors, and the solver's. */
    double eigen = repaired ? 32 * N * N : 8 * N * N;
    double kept = (repaired ? 16 : 8) * N * N, solver = threads * krein__smo_bytes(n);
    double m = fmin(N, KREIN_KERNEL_SAMPLE), folds = (double)krein__max(5, out->folds);
    if (path && n > KREIN_KERNEL_SAMPLE)
        solver = fmax(solver, 8 * m * m + threads * krein__smo_bytes(KREIN_KERNEL_SAMPLE));
    out->bytes += fmax(eigen, kept + solver) + 8 * N * K * (folds + 3) +
                  8 * KREIN_KERNEL_STRIP * (N + K) + threads * 40 * N + 64 * N + 8 * N * K;
    /* A machine visits its rows some hundred times; folds and values of C alike. */
    out->flops += N * N * krein__gram_flops(map->kernel, map->d) + 200 * K * N * N +
                  (repaired ? 9 * N * N * N : 0) +
                  (path ? KREIN_KERNEL_GRID * folds * K * (200 * m * m + 2 * m * m / folds) : 0);
}
