/* kernel_choice.c -- the C of machines on the kernel matrix
 *
 * C is chosen by cross-validation over 2^-4, 2^-2, ..., 2^12 (for numbers, times the power of two
 * nearest to the spread of the targets, whose unit C has), on at most KREIN_KERNEL_SAMPLE rows: the
 * smallest C within half a standard error (of the difference, row by row) of the best. A repair is
 * that of the whole matrix, held-out rows with it; their labels have no part in it.
 */
#include "learn/kernel_problem.h"

#include "learn/feature_machines.h"

#include <math.h>

/* Held-out losses of the rows (n of them) at each C tried, and their means. */
typedef struct trials {
    int64_t n, tried;
    double C[KREIN_KERNEL_GRID], mean[KREIN_KERNEL_GRID];
    double *loss; /* KREIN_KERNEL_GRID x n */
} trials;

/* 1 where the class is wrong, the share of labels that are, or the squared error of numbers /
 * scale, mean over the outputs. With the weights that rows have in training. */
static void add_losses(const krein_kernel_problem *p, const krein_exact *r, const double *score,
                       trials *t) {
    double *loss = t->loss + t->tried * t->n, sum = 0, total = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const double *f = score + i * p->k;
        double weight = krein__kernel_weight(p, r, i);
        loss[i] = 0;
        if (p->classes && !p->labels)
            loss[i] = krein__decide(p->job->model->head, p->classes, f) != r->class[i];
        for (int64_t c = 0; p->labels && c < p->k; c++)
            loss[i] += ((f[c] > 0) != (r->y[i * p->k + c] > 0)) / (double)p->k;
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
    double trace = 0, sum = 0, total = 0;
    for (int64_t i = 0; i < r->n; i++) {
        double row = 0;
        for (int64_t j = 0; j < r->n; j++) row += r->weight[j] * r->K[i * r->n + j];
        trace += r->weight[i] * r->K[i * r->n + i];
        sum += r->weight[i] * row;
        total += r->weight[i];
    }
    return KREIN_SATURATED / fmax(trace / total - sum / (total * total), 1e-300);
}

/* Tries C in ascending order, until the loss has clearly risen twice. */
static krein_status walk(krein_kernel_problem *p, const krein_exact *r, double *C, double *loss) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    const krein_job *job = p->job;
    int64_t folds = krein__fold_count(job->folds, r->n);
    trials t = {.n = r->n};
    int32_t *fold = NULL;
    double *score = NULL;
    NEW(fold, r->n);
    NEW(score, r->n * p->k);
    NEW(t.loss, KREIN_KERNEL_GRID * r->n);
    TRY(krein__folds(ctx, job->seed, r->n, folds, r->group, r->class, fold));
    double end = least_end(r), now = krein__clock();
    /* Half of the time at most: a C without machines is nothing. */
    p->deadline = job->deadline > 0 ? now + (job->deadline - now) / 2 : 0;
    while (t.tried < KREIN_KERNEL_GRID && (risen(&t) < 2 || t.C[t.tried - 1] < end)) {
        int64_t at = t.tried;
        t.C[at] = ldexp(1, (int)(2 * at) - 4);
        krein__progress(ctx, "cross-validation", (double)at, KREIN_KERNEL_GRID);
        TRY(krein__kernel_held_out(p, r, t.C[at], fold, folds, score));
        add_losses(p, r, score, &t);
        krein__log(ctx, KREIN_LOG_DEBUG, "C %g: held-out %s %g", t.C[at] * p->scale,
                   p->classes ? "error" : "squared error", t.mean[at] * p->scale * p->scale);
        if (krein__late(p->deadline) && t.tried < KREIN_KERNEL_GRID) {
            krein__log(ctx, KREIN_LOG_INFO, "time limit: the best C of those up to %g",
                       t.C[at] * p->scale);
            break;
        }
    }
    krein__progress(ctx, "cross-validation", KREIN_KERNEL_GRID, KREIN_KERNEL_GRID);
    int64_t best = choose(&t);
    *C = t.C[best];
    *loss = t.mean[best];
done:
    p->deadline = job->deadline;
    krein__free(ctx, fold);
    krein__free(ctx, score);
    krein__free(ctx, t.loss);
    return st;
}

krein_status krein__kernel_choose_C(krein_kernel_problem *p, double *C) {
    krein_status st = KREIN_OK;
    krein_exact some = {0};
    double loss;
    if (p->all.n > KREIN_KERNEL_SAMPLE) {
        TRY(krein__exact_sample(&p->all, p->job->seed, KREIN_KERNEL_SAMPLE, &some));
        TRY(walk(p, &some, C, &loss));
    } else {
        TRY(walk(p, &p->all, C, &loss));
    }
    p->job->loo = p->labels ? 2 * sqrt(loss) : p->classes ? loss : sqrt(loss) * p->scale;
    p->job->cv_folds = krein__fold_count(p->job->folds, krein__min(p->all.n, KREIN_KERNEL_SAMPLE));
done:
    krein__exact_close(&some);
    return st;
}
