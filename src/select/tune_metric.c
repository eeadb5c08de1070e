/* tune_metric.c -- the metric of tune.c: steps along the average gradient outer product (agop.h) of
 * the best kernel's predictor, then every kernel under the best of them. */
#include "select/tuner.h"

#include "select/agop.h"
#include "select/screen.h"

#include <math.h>

/* The gradient says nothing where lambda was chosen to predict the mean: then that of a fit that
 * nearly interpolates. */
static krein_status signal(krein_tuner *t, krein_tuner_candidate *c) {
    static const double NEARLY = 0.01, NO_SIGNAL = 0.95;
    krein_tuner_candidate near = *c;
    krein_tune_fit f = {.n = c->n, .alpha = c->alpha};
    if (c->loss <= NO_SIGNAL * t->s.total) return KREIN_OK;
    near.lambda = NEARLY;
    return krein__tuner_coefficients(t, &near, &f);
}

/* Rows with a gradient: so many that the mean over them is known. Gradients of the L1 kernel are no
 * matrix product, and there are fewer where the columns are many. */
static int64_t gradients_of(const krein_tuner *t, const krein_tuner_candidate *c) {
    enum { MOST = 1000, LEAST = 250 };
    static const double WORK = 1.5e8;
    if (t->base[c->base].metric != 1) return krein__min(c->n, MOST);
    double some = WORK / ((double)c->n * (double)t->s.d);
    return krein__min(c->n, krein__max(LEAST, (int64_t)fmin(MOST, some)));
}

/* The next view from the gradients of a fit; *more: there is one. */
static krein_status next_view(krein_tuner *t, krein_metric_kind kind, krein_tuner_candidate *c,
                              bool *more) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    double *h = NULL, *a = NULL;
    krein_tune_view *v = &t->view[c->view];
    krein_rows all = krein__matrix_rows(&v->fit), x = krein__rows_slice(&all, 0, c->n);
    int64_t d = t->s.d, size = kind == KREIN_METRIC_FULL ? d * d : d;
    int64_t m = gradients_of(t, c);
    NEW(h, size);
    NEW(a, size);
    TRY(signal(t, c));
    TRY(krein__tuner_kernel(ctx, t, c, &kernel));
    if (kind == KREIN_METRIC_FULL) {
        TRY(krein__agop_full(ctx, kernel, &x, m, t->s.k, c->alpha, v->factor, h));
        TRY(krein__metric_matrix(ctx, d, h, 1, a, more));
    } else {
        TRY(krein__agop_diagonal(ctx, kernel, &x, m, t->s.k, c->alpha, v->factor, h));
        *more = krein__metric_factors(d, h, 1, a);
    }
    if (!*more) goto done;
    TRY(krein__tune_view(&t->s, kind, a, &t->view[t->views]));
    t->views++;
done:
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, h);
    krein__free(ctx, a);
    return st;
}

/* Ends where a step gains less than LITTLE over the best before it, the first one only where it
 * loses. While nothing was found at all: where it loses after another that gained or lost, which
 * *moved says. */
static bool goes_on(const krein_tuner *t, int step, double loss, double before, bool *moved) {
    static const double LITTLE = 0.005, NO_SIGNAL = 0.9, LOST = 1.02;
    bool lost = loss > LOST * before, again = *moved;
    *moved = *moved || lost || loss < before;
    if (fmin(loss, before) > NO_SIGNAL * t->s.total) return !(lost && again);
    return loss < (step == 1 ? 1 : 1 - LITTLE) * before;
}

/* Scale and lambda again, on few rows. */
static krein_status search_few(krein_tuner *t, krein_tuner_candidate *c) {
    krein_tuner_candidate on_few = *c;
    on_few.n = krein__tuner_few(t);
    on_few.step = 2;
    on_few.alpha = NULL;
    krein_status st = krein__tuner_search(t->ctx, t, &on_few);
    c->c = on_few.c;
    c->lambda = on_few.lambda;
    return st == KREIN_OK ? krein__tuner_walked(t, &on_few) : st;
}

/* Factors from what the columns tell alone and two at a time (screen.h). No column is left out
 * for good: REST of all stands for what these statistics do not see. */
static krein_status screened_view(krein_tuner *t, bool *found) {
    static const double REST = 0.1;
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t d = t->s.d;
    double *h = NULL, *a = NULL, sum = 0;
    krein_rows x = krein__matrix_rows(&t->s.fit);
    NEW(h, d);
    NEW(a, d);
    TRY(krein__screen(ctx, &x, t->s.k, t->s.y, t->s.weight, h));
    for (int64_t j = 0; j < d; j++) sum += h[j];
    for (int64_t j = 0; j < d; j++) h[j] += REST * sum / (double)d;
    *found = krein__metric_factors(d, h, 1, a);
    if (*found) TRY(krein__tune_view(&t->s, KREIN_METRIC_DIAGONAL, a, &t->view[t->views++]));
done:
    krein__free(ctx, h);
    krein__free(ctx, a);
    return st;
}

krein_status krein__tuner_start(krein_tuner *t, const krein_tuner_candidate *plain,
                                krein_tuner_candidate *start) {
    static const double CLEARLY = 0.85; /* less is as often chance (34 sets: 1.007 of the error) */
    krein_status st = KREIN_OK;
    krein_tuner_candidate c = *plain;
    bool found = false;
    *start = *plain;
    TRY(screened_view(t, &found));
    if (!found) goto done;
    c.view = t->views - 1;
    c.c = 1;
    c.step = 1;
    TRY(krein__tuner_run(t->ctx, t, &c));
    if (c.loss < CLEARLY * plain->loss)
        *start = c;
    else
        krein__tune_view_end(t->ctx, &t->view[--t->views]);
done:
    return st;
}

/* The path of metrics from a candidate; *best: the candidate of the best step. */
krein_status krein__tuner_learn_metric(krein_tuner *t, krein_metric_kind kind,
                                       const krein_tuner_candidate *from,
                                       krein_tuner_candidate *best) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_tuner_candidate c = *from;
    bool more, moved = false;
    c.n = t->s.n;
    c.step = 0;
    NEW(c.alpha, c.n * t->s.k);
    TRY(krein__tuner_run_all(t, &c, 1));
    *best = c;
    for (int step = 1;
         step <= KREIN_TUNER_STEPS && !krein__tuner_late(t) && t->views < KREIN_TUNER_VIEWS - 1;
         step++) {
        TRY(next_view(t, kind, &c, &more));
        if (!more) break;
        c.view = t->views - 1;
        if (step == 1 || step == 3) TRY(search_few(t, &c));
        TRY(krein__tuner_run_all(t, &c, 1));
        double before = best->loss;
        if (c.loss < before) *best = c;
        if (!goes_on(t, step, c.loss, before, &moved)) break;
    }
done:
    krein__free(ctx, c.alpha);
    best->alpha = NULL;
    return st;
}

/* The metric to the power of two. */
static krein_status square_view(krein_tuner *t, int view, int *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    double *a = NULL, mean = 0;
    int64_t d = t->s.d;
    NEW(a, d);
    for (int64_t j = 0; j < d; j++) a[j] = pow(t->view[view].factor[j], 2);
    for (int64_t j = 0; j < d; j++) mean += a[j] * a[j] / (double)d;
    for (int64_t j = 0; j < d; j++) a[j] /= sqrt(mean);
    TRY(krein__tune_view(&t->s, KREIN_METRIC_DIAGONAL, a, &t->view[t->views]));
    *out = t->views++;
done:
    krein__free(ctx, a);
    return st;
}

/* Every kernel under the metric of the best step. */
krein_status krein__tuner_users(krein_tuner *t, const krein_tuner_candidate *best) {
    krein_status st = KREIN_OK;
    krein_tuner_candidate c[2 * KREIN_TUNER_BASES];
    int n = 0, square = 0;
    bool diagonal = t->view[best->view].metric == KREIN_METRIC_DIAGONAL;
    if (diagonal) TRY(square_view(t, best->view, &square));
    for (int i = 0; i < t->bases; i++) {
        krein_tuner_candidate next = *krein__tuner_plain_of(t, i);
        next.step = 2;
        next.view = best->view;
        c[n++] = next;
        if (t->base[i].metric != 1 || !diagonal) continue;
        next.view = square;
        c[n++] = next;
    }
    TRY(krein__tuner_run_all(t, c, n));
done:
    return st;
}
