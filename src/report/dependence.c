/* dependence.c -- partial dependence (friedman2001): the mean prediction over some sampled rows
 * when one input has the value v in all of them, as a function of v. Numbers run over even steps
 * from the 1 % to the 99 % quantile of the sample, categories over their most frequent words. The
 * prediction is the number, or the probability of a class, or its score where there are no
 * probabilities. The others stay as they are: where inputs depend on each other, some of these rows
 * cannot occur. */
#include "report/report.h"

#include "num/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 500, WORDS = 12 };

typedef struct work {
    krein_reporting *r;
    int64_t m, lines;
    float *x;
    double *score, *p;
} work;

/* The means of the lines over the rows as they are in w->x. */
static krein_status average(work *w, double *out, int64_t stride) {
    krein_status st = KREIN_OK;
    krein_reporting *r = w->r;
    const krein_encoding *e = &r->model->encoding;
    int64_t k = r->model->k, classes = e->nclass;
    bool two = classes == 2 && w->lines == 1;
    double all = 0;
    TRY(krein__report_scores(r, w->m, w->x, w->score));
    if (w->p) krein__predictor_probabilities(&r->predictor, w->m, w->score, w->p);
    for (int64_t l = 0; l < w->lines; l++) out[l * stride] = 0;
    for (int64_t i = 0; i < w->m; i++) {
        double weight = r->weight[i];
        all += weight;
        for (int64_t l = 0; l < w->lines; l++)
            out[l * stride] +=
                weight * (w->p ? w->p[i * classes + (two ? 1 : l)] : w->score[i * k + l]);
    }
    for (int64_t l = 0; l < w->lines; l++) out[l * stride] /= all;
done:
    return st;
}

static void copy_rows(work *w) {
    memcpy(w->x, w->r->x, (size_t)(w->m * w->r->model->encoding.d) * sizeof *w->x);
}

/* ---- numbers ------------------------------------------------------------ */

/* Even steps in the numbers of the file. */
static krein_status choose_values(work *w, const krein_input_numbers *in, krein_dependence *to) {
    krein_ctx *ctx = w->r->ctx;
    krein_status st = KREIN_OK;
    const krein_reporting *r = w->r;
    int64_t d = r->model->encoding.d, distinct = 1, n = 0;
    double *v = NULL;
    NEW(v, r->m);
    for (int64_t i = 0; i < r->m; i++)
        if (!krein__report_missing(r, in, r->x + i * d))
            v[n++] = krein__report_raw(r, in, (double)r->x[i * d + in->at]);
    if (n == 0) goto done; /* no value at all */
    qsort(v, (size_t)n, sizeof *v, krein__ascending);
    to->low = v[(int64_t)(0.01 * (double)(n - 1))];
    to->high = v[(int64_t)ceil(0.99 * (double)(n - 1))];
    for (int64_t i = 1; i < n; i++) distinct += v[i] != v[i - 1];
    if (distinct <= KREIN_REPORT_STEPS) { /* each of them */
        for (int64_t i = 0; i < n; i++)
            if (i == 0 || v[i] != v[i - 1]) to->x[to->steps++] = v[i];
        to->low = v[0];
        to->high = v[n - 1];
    } else {
        to->steps = KREIN_REPORT_STEPS;
        for (int64_t s = 0; s < to->steps; s++)
            to->x[s] = to->low + (to->high - to->low) * (double)s / (double)(to->steps - 1);
    }
    for (int64_t i = 0; i < n && to->high > to->low; i++) {
        double at = (v[i] - to->low) / (to->high - to->low) * KREIN_REPORT_BINS;
        if (at >= 0 && at <= KREIN_REPORT_BINS)
            to->density[(int64_t)fmin(at, KREIN_REPORT_BINS - 1)]++;
    }
done:
    krein__free(ctx, v);
    return st;
}

static krein_status of_number(work *w, const krein_input_numbers *in, krein_dependence *to) {
    krein_status st = KREIN_OK;
    int64_t d = w->r->model->encoding.d;
    TRY(choose_values(w, in, to));
    for (int64_t s = 0; s < to->steps; s++) {
        float value = (float)krein__report_encoded(w->r, in, to->x[s]);
        copy_rows(w);
        for (int64_t i = 0; i < w->m; i++) krein__report_set(w->r, in, value, w->x + i * d);
        TRY(average(w, to->y + s, KREIN_REPORT_STEPS));
    }
done:
    return st;
}

/* ---- categories --------------------------------------------------------- */

/* Columns of a word, or of a missing cell, are one and the others zero, as they are encoded. */
static bool is_one(const krein_encoding *e, const float *x, int64_t at) {
    const float one = (1 - e->centre[at]) * e->factor[at], zero = -e->centre[at] * e->factor[at];
    return fabsf(x[at] - one) < fabsf(x[at] - zero);
}

static krein_status of_category(work *w, const krein_input_numbers *in, krein_dependence *to) {
    krein_ctx *ctx = w->r->ctx;
    krein_status st = KREIN_OK;
    const krein_reporting *r = w->r;
    const krein_encoding *e = &r->model->encoding;
    const krein_input *column = &e->input[in->column];
    int64_t *count = NULL;
    ZNEW(count, in->width);
    for (int64_t i = 0; i < r->m; i++)
        for (int64_t c = 0; c < in->width; c++) count[c] += is_one(e, r->x + i * e->d, in->at + c);
    while (to->steps < WORDS) {
        int64_t best = 0;
        for (int64_t c = 1; c < in->width; c++)
            if (count[c] > count[best]) best = c;
        if (count[best] == 0) break;
        const int64_t s = to->steps++;
        const bool missing = best >= krein__input_values(column);
        DUP(to->label[s], missing ? "(missing)" : column->dict.word[best]);
        to->x[s] = (double)s;
        to->count[s] = count[best];
        count[best] = 0;
        copy_rows(w);
        for (int64_t i = 0; i < w->m; i++)
            for (int64_t c = 0; c < in->width; c++) {
                int64_t at = in->at + c;
                w->x[i * e->d + at] = ((c == best) - e->centre[at]) * e->factor[at];
            }
        TRY(average(w, to->y + s, KREIN_REPORT_STEPS));
    }
done:
    krein__free(ctx, count);
    return st;
}

/* ---- the strongest ------------------------------------------------------ */

static bool has_dependence(const krein_reporting *r, const krein_input_numbers *in) {
    const krein_encoding *e = &r->model->encoding;
    if (!in->category) return in->number;
    return e->input[in->column].texts == KREIN_TEXTS_ONEHOT;
}

krein_status krein__report_dependence(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    const krein_encoding *e = &r->model->encoding;
    work w = {.r = r, .m = krein__min(r->m, ROWS)};
    bool classes = e->nclass > 0, pairs = r->model->head == KREIN_HEAD_VOTES;
    if (!r->x || (pairs && !r->kept.p)) return st;
    w.lines = e->task == KREIN_TASK_CLASSIFICATION && e->nclass == 2 ? 1
              : classes ? krein__min(e->nclass, KREIN_REPORT_SHOWN)
                        : krein__min(r->model->k, KREIN_REPORT_SHOWN);
    out->lines = w.lines;
    out->line_title = !classes ? "prediction" : r->kept.p ? "probability" : "score";
    NEW(w.x, (w.m + KREIN_TILE) * e->d);
    NEW(w.score, w.m * r->model->k);
    if (r->kept.p) NEW(w.p, w.m * e->nclass);
    for (int64_t i = 0; i < out->norder && out->ndependence < KREIN_REPORT_SHOWN; i++) {
        const krein_input_numbers *in = &out->input[out->order[i]];
        if (!has_dependence(r, in)) continue;
        krein_dependence *to = &out->dependence[out->ndependence++];
        krein__progress(ctx, "dependence", (double)out->ndependence, KREIN_REPORT_SHOWN);
        to->input = out->order[i];
        ZNEW(to->y, w.lines * KREIN_REPORT_STEPS);
        TRY(in->category ? of_category(&w, in, to) : of_number(&w, in, to));
    }
done:
    krein__free(ctx, w.x);
    krein__free(ctx, w.score);
    krein__free(ctx, w.p);
    return st;
}
