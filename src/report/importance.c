/* importance.c -- which inputs matter, on the sample
 *
 * Permutation (breiman2001): the values of one input, all of its encoded columns together, are put
 * in a random order over the sampled rows; the importance is how much the loss grows by that: the
 * root mean square error of numbers, the share of errors of classes and labels. Mean and standard
 * deviation over the repeats.
 *
 * Gradient: (f(x + h s) - f(x - h s)) / 2h, s the standard deviation of the input in the sample and
 * h = 0.05: what one standard deviation does to the prediction, or to the score of a class; its
 * mean over the rows (of one output), and the mean of its size (over the outputs). Of categories
 * and dates, which have several columns, there is none.
 *
 * The work is bounded: rows of the sample are left out, or inputs with small gradients on a few
 * rows, where all would take more than FLOPS operations. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRADIENT_ROWS = 500, LEAST_ROWS = 200, PERMUTED_MAX = 40, VALUE = 40 };
static const double FLOPS = 1e11, STEP = 0.05;

typedef struct work {
    krein_reporting *r;
    int64_t m; /* rows in use, the first ones of the sample */
    float *x;  /* room for whole tiles */
    double *score, *other;
} work;

static double flops_of(const krein_reporting *r) { /* of a prediction */
    const krein_model *m = r->model;
    return 2 * (double)m->map->R * (double)(m->encoding.d + m->k + VALUE);
}

/* The loss of the rows with these scores. */
static double loss_of(const work *w, const double *score) {
    const krein_reporting *r = w->r;
    double sum = 0, all = 0;
    for (int64_t i = 0; i < w->m; i++) {
        sum += r->weight[i] *
               krein__report_loss(r, r->label + i * r->data->nlabel, score + i * r->model->k);
        all += r->weight[i];
    }
    bool numbers = r->model->encoding.task == KREIN_TASK_REGRESSION;
    return numbers ? sqrt(sum / all) : sum / all;
}

static krein_status score_copy(work *w, double *out) {
    return krein__report_scores(w->r, w->m, w->x, out);
}

static void copy_rows(work *w) {
    memcpy(w->x, w->r->x, (size_t)(w->m * w->r->model->encoding.d) * sizeof *w->x);
}

/* ---- gradient ----------------------------------------------------------- */

static double deviation(const work *w, int64_t at) {
    double mean = 0, square = 0, d = (double)w->m;
    int64_t ld = w->r->model->encoding.d;
    for (int64_t i = 0; i < w->m; i++) mean += (double)w->r->x[i * ld + at] / d;
    for (int64_t i = 0; i < w->m; i++) square += pow((double)w->r->x[i * ld + at] - mean, 2) / d;
    return sqrt(square);
}

static krein_status shifted(work *w, int64_t at, double by, double *out) {
    int64_t ld = w->r->model->encoding.d;
    copy_rows(w);
    for (int64_t i = 0; i < w->m; i++) w->x[i * ld + at] += (float)by;
    return score_copy(w, out);
}

static krein_status gradient(work *w, krein_input_numbers *in) {
    krein_status st = KREIN_OK;
    int64_t k = w->r->model->k;
    if (!in->number) return st;
    double s = deviation(w, in->at), sum = 0, size = 0, all = 0;
    if (!(s > 0)) {
        in->gradient = in->slope = 0;
        return st;
    }
    TRY(shifted(w, in->at, STEP * s, w->score));
    TRY(shifted(w, in->at, -STEP * s, w->other));
    for (int64_t i = 0; i < w->m; i++) {
        double weight = w->r->weight[i];
        for (int64_t c = 0; c < k; c++) {
            double g = (w->score[i * k + c] - w->other[i * k + c]) / (2 * STEP);
            size += weight * fabs(g) / (double)k;
            if (c == 0) sum += weight * g;
        }
        all += weight;
    }
    in->gradient = size / all;
    in->slope = k == 1 ? sum / all : NAN;
done:
    return st;
}

/* ---- permutation -------------------------------------------------------- */

static krein_status permute(work *w, int64_t number, double before, int64_t *order,
                            krein_input_numbers *in) {
    krein_status st = KREIN_OK;
    const krein_reporting *r = w->r;
    int64_t ld = r->model->encoding.d;
    double growth[KREIN_REPORT_REPEATS], mean = 0, square = 0;
    for (int64_t t = 0; t < KREIN_REPORT_REPEATS; t++) {
        int64_t role = KREIN_REPORT_PERMUTE + number * KREIN_REPORT_REPEATS + t;
        krein__rng_permute(krein__report_stream(r, role), w->m, order);
        copy_rows(w);
        for (int64_t i = 0; i < w->m; i++)
            memcpy(w->x + i * ld + in->at, r->x + order[i] * ld + in->at,
                   (size_t)in->width * sizeof *w->x);
        TRY(score_copy(w, w->score));
        growth[t] = loss_of(w, w->score) - before;
        mean += growth[t] / KREIN_REPORT_REPEATS;
    }
    for (int64_t t = 0; t < KREIN_REPORT_REPEATS; t++) square += pow(growth[t] - mean, 2);
    in->importance = mean;
    in->spread = sqrt(square / (KREIN_REPORT_REPEATS - 1));
done:
    return st;
}

typedef struct ranked {
    double value;
    int64_t input;
} ranked;

static int by_value(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    return x->input < y->input ? -1 : 1;
}

/* Inputs in the order of a value, those without one (categories) as if they had the largest. */
static krein_status rank(krein_reporting *r, bool gradients, int64_t n, int64_t *order) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    ranked *v = NULL;
    NEW(v, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t j = gradients ? i : order[i];
        const krein_input_numbers *in = &r->out->input[j];
        double value = gradients ? in->gradient : in->importance;
        v[i] = (ranked){isnan(value) ? INFINITY : value, j};
    }
    qsort(v, (size_t)n, sizeof *v, by_value);
    for (int64_t i = 0; i < n; i++) order[i] = v[i].input;
done:
    krein__free(ctx, v);
    return st;
}

/* Rows for so many predictions of each within a part of the work. */
static int64_t rows_for(const krein_reporting *r, double part, double predictions, int64_t most) {
    double rows = part * FLOPS / flops_of(r) / fmax(1, predictions);
    return krein__min(krein__min(r->m, most),
                      (int64_t)fmax(rows, (double)krein__min(r->m, LEAST_ROWS)));
}

krein_status krein__report_importance(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    work w = {.r = r};
    int64_t *order = NULL, d = r->model->encoding.d, n = out->ninputs;
    if (!r->x) {
        out->why_not = "there are more than 4,096 columns of sparse rows";
        return st;
    }
    NEW(w.x, (r->m + KREIN_TILE) * d);
    NEW(w.score, r->m * r->model->k);
    NEW(w.other, r->m * r->model->k);
    NEW(order, r->m);
    NEW(out->order, krein__max(1, n));
    w.m = rows_for(r, 0.4, 2 * (double)n, GRADIENT_ROWS);
    for (int64_t j = 0; j < n; j++) {
        krein__progress(ctx, "gradients", (double)j, (double)n);
        TRY(gradient(&w, &out->input[j]));
    }
    TRY(rank(r, true, n, out->order));
    out->norder = krein__min(n, PERMUTED_MAX);
    w.m = rows_for(r, 0.6, (double)(KREIN_REPORT_REPEATS * out->norder), r->m);
    out->permuted_rows = w.m;
    copy_rows(&w);
    TRY(score_copy(&w, w.score));
    double before = loss_of(&w, w.score);
    for (int64_t i = 0; i < out->norder; i++) {
        krein__progress(ctx, "importance", (double)i, (double)out->norder);
        TRY(permute(&w, out->order[i], before, order, &out->input[out->order[i]]));
    }
    TRY(rank(r, false, out->norder, out->order));
done:
    krein__free(ctx, w.x);
    krein__free(ctx, w.score);
    krein__free(ctx, w.other);
    krein__free(ctx, order);
    return st;
}
