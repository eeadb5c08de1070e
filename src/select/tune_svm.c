/* tune_svm.c -- support vector machines among the candidates: classes that rules separate
 *
 * Ridge regression fits -1 and +1 also where a row is far on its side of the boundary. Where
 * classes do not overlap (a table of rules) that costs several times the errors of the hinge loss.
 * One machine a pair of classes, on the kernel matrix of S; votes on V. Rows
 * count by their weights. */
#include "select/tuner.h"

#include "solve/smo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein__tune_svm_text(double C, char text[KREIN_SVM_TEXT]) {
    snprintf(text, KREIN_SVM_TEXT, "svm(C=%g, multi=ovo)", C);
}

typedef struct pairs {
    krein_ctx *ctx;
    const krein_tune_sample *s;
    int64_t n, count; /* rows of S, from the first; pairs */
    krein_smo *smo;
    int64_t *row;
    double *y, *cost, *alpha; /* of one machine */
} pairs;

static void pairs_end(pairs *p) {
    krein_ctx *ctx = p->ctx;
    void *all[] = {p->row, p->y, p->cost, p->alpha};
    krein__smo_end(p->smo);
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static int64_t count_of(const krein_tune_sample *s) { return s->nclass * (s->nclass - 1) / 2; }

static krein_status pairs_begin(krein_ctx *ctx, const krein_tune_sample *s, int64_t n, pairs *p) {
    krein_status st = KREIN_OK;
    *p = (pairs){.ctx = ctx, .s = s, .n = n, .count = count_of(s)};
    NEW(p->row, n);
    NEW(p->y, n);
    NEW(p->cost, n);
    NEW(p->alpha, n);
    TRY(krein__smo_begin(ctx, n, &p->smo));
done:
    return st;
}

/* Classes a < b: positive for b. A class without a row of some weight loses. w: the first of this
 * pair's coefficients, which are zero. */
static krein_status one_pair(pairs *p, const double *K, int64_t a, int64_t b, double C, double *w,
                             double *intercept) {
    krein_status st = KREIN_OK;
    const krein_tune_sample *s = p->s;
    krein_smo_machine machine = {
        .row = p->row, .y = p->y, .cost = p->cost, .tol = 1e-3, .alpha = p->alpha};
    int64_t of_b = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double weight = s->weight ? s->weight[i] : 1;
        if ((s->fit_class[i] != a && s->fit_class[i] != b) || !(weight > 0)) continue;
        p->y[machine.m] = s->fit_class[i] == b ? 1 : -1;
        p->cost[machine.m] = C * weight;
        of_b += s->fit_class[i] == b;
        p->row[machine.m++] = i;
    }
    machine.intercept = of_b > 0 ? 1 : -1;
    if (of_b > 0 && of_b < machine.m) {
        TRY(krein__smo(p->ctx, p->smo, p->n, K, &machine));
        for (int64_t i = 0; i < machine.m; i++) w[p->row[i] * p->count] = p->alpha[i];
    }
    *intercept = machine.intercept;
done:
    return st;
}

krein_status krein__tune_svm(krein_ctx *ctx, const krein_tune_sample *s, int64_t n, const double *K,
                             double C, double *w, double *intercept) {
    krein_status st = KREIN_OK;
    pairs p = {0};
    int64_t classes = s->nclass;
    TRY(pairs_begin(ctx, s, n, &p));
    memset(w, 0, (size_t)(n * p.count) * sizeof *w);
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++) {
            int64_t which = krein__pair(classes, a, b);
            TRY(one_pair(&p, K, a, b, C, w + which, intercept + which));
        }
done:
    pairs_end(&p);
    return st;
}

double krein__tune_svm_error(const krein_tune_sample *s, const double *intercept, double *score) {
    krein_head head = s->nclass > 2 ? KREIN_HEAD_VOTES : KREIN_HEAD_BEST;
    int64_t count = count_of(s);
    double wrong = 0, total = 0;
    for (int64_t i = 0; i < s->m; i++) {
        double weight = s->held_weight ? s->held_weight[i] : 1, *own = score + i * count;
        total += weight;
        for (int64_t p = 0; p < count; p++) own[p] += intercept[p];
        if (krein__decide(head, s->nclass, own) != s->held_class[i]) wrong += weight;
    }
    return total > 0 ? wrong / total : 0;
}

/* ---- as candidates ------------------------------------------------------ */

static const double COSTS[] = {32, 4, 256};

/* K (n x n) in float64, which solve/smo.c takes, of values in float32. */
static krein_status kernel_matrix(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                  double *K) {
    krein_status st = KREIN_OK;
    float *values = NULL;
    NEW(values, x->n * x->n);
    TRY(krein__gram_symmetric32(ctx, kernel, x, values));
    for (int64_t e = 0; e < x->n * x->n; e++) K[e] = (double)values[e];
done:
    krein__free(ctx, values);
    return st;
}

/* The least error on V over the first few COSTS, of machines on n rows of S; of ties the smallest
 * C. */
static krein_status machines_of(krein_ctx *ctx, const krein_tuner *t,
                                const krein_tuner_candidate *c, int64_t n, int64_t costs, double *C,
                                double *error) {
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    double *K = NULL, *w = NULL, *intercept = NULL, *score = NULL;
    const krein_tune_view *v = &t->view[c->view];
    int64_t count = count_of(&t->s);
    krein_rows all = krein__matrix_rows(&v->fit), fit = krein__rows_slice(&all, 0, n);
    *error = INFINITY;
    *C = COSTS[0];
    NEW(K, n * n);
    NEW(w, n * count);
    NEW(intercept, count);
    NEW(score, t->s.m * count);
    TRY(krein__tuner_kernel(ctx, t, c, &kernel));
    TRY(kernel_matrix(ctx, kernel, &fit, K));
    for (int64_t i = 0; i < costs && !krein__tuner_late(t); i++) {
        TRY(krein__tune_svm(ctx, &t->s, n, K, COSTS[i], w, intercept));
        TRY(krein__tune_scores(ctx, v, kernel, n, count, w, score));
        double e = krein__tune_svm_error(&t->s, intercept, score);
        if (e > *error || (e == *error && COSTS[i] > *C)) continue;
        *error = e;
        *C = COSTS[i];
    }
done:
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, K);
    krein__free(ctx, w);
    krein__free(ctx, intercept);
    krein__free(ctx, score);
    return st;
}

/* Rows of V; so many of one weight whose errors vary as theirs do. */
static double held_rows(const krein_tune_sample *s) {
    double sum = 0, squares = 0;
    if (!s->held_weight) return (double)s->m;
    for (int64_t i = 0; i < s->m; i++) {
        sum += s->held_weight[i];
        squares += s->held_weight[i] * s->held_weight[i];
    }
    return squares > 0 ? sum * sum / squares : 0;
}

/* Fewer errors than ridge regression, by so many deviations of the difference. */
static bool fewer(double error, double ridge, double m, double deviations) {
    return (ridge - error) * m >= deviations * sqrt((ridge + error) * m);
}

static krein_status look(krein_ctx *ctx, const krein_tuner *t, krein_tuner_candidate *c) {
    double C;
    return machines_of(ctx, t, c, c->n, 1, &C, &c->error);
}

/* Drops those of n candidates whose machines, on fewer rows where all of S takes long, are not on
 * the way to leave fewer errors than ridge regression: than the least of those fitted to as many.
 */
static krein_status keep_promising(krein_tuner *t, double m, const krein_tuner_candidate **of,
                                   int *n) {
    enum { MANY = 1200 };
    static const double DEVIATIONS = 0.5;
    krein_status st = KREIN_OK;
    krein_tuner_candidate c[KREIN_TUNER_BASES + 1];
    int64_t rows = krein__tuner_some(t);
    double ridge = INFINITY;
    int kept = 0;
    for (int i = 0; i < t->n; i++)
        if (t->all[i].n == rows) ridge = fmin(ridge, t->all[i].error);
    if (t->s.n <= MANY || isinf(ridge)) return st;
    for (int i = 0; i < *n; i++) {
        c[i] = *of[i];
        c[i].n = rows;
    }
    TRY(krein__tuner_at_once(t, look, c, *n));
    for (int i = 0; i < *n; i++) {
        krein__log(t->ctx, KREIN_LOG_DEBUG,
                   "support vector machines on %lld rows: error %.4g, ridge regression %.4g",
                   (long long)rows, c[i].error, ridge);
        if (fewer(c[i].error, ridge, m, DEVIATIONS)) of[kept++] = of[i];
    }
    *n = kept;
done:
    return st;
}

/* Every kernel without a metric, and the winner, where rows are few and ridge regression leaves
 * errors. They must leave fewer by more than one deviation of the difference. */
krein_status krein__tuner_machines(krein_tuner *t, const krein_tuner_candidate **winner) {
    enum { FEW_CLASSES = 12, LEAST_WRONG = 4 };
    krein_status st = KREIN_OK;
    const krein_tuner_candidate *ridge = *winner, *of[KREIN_TUNER_BASES + 1] = {ridge};
    double m = held_rows(&t->s), least = ridge->error, error, C = 0;
    char text[KREIN_SVM_TEXT];
    int n = 1;
    if (!t->o->machines || !t->s.classes || t->s.nclass > FEW_CLASSES ||
        ridge->error * m < LEAST_WRONG || krein__tuner_late(t))
        return st;
    for (int i = 0; i < t->bases; i++)
        if (krein__tuner_plain_of(t, i) != ridge) of[n++] = krein__tuner_plain_of(t, i);
    TRY(keep_promising(t, m, of, &n));
    for (int i = 0; i < n && !krein__tuner_late(t); i++) {
        TRY(machines_of(t->ctx, t, of[i], t->s.n, KREIN__COUNT(COSTS), &C, &error));
        krein__tune_svm_text(C, text);
        TRY(krein__tuner_record(t, of[i], t->s.n, error, text));
        krein__log(t->ctx, KREIN_LOG_DEBUG, "support vector machines: error %.4g, C %g", error, C);
        if (!(error < least)) continue;
        least = error;
        if (!fewer(error, ridge->error, m, 1)) continue;
        *winner = of[i];
        t->out->C = C;
        t->out->error = error;
    }
done:
    return st;
}
