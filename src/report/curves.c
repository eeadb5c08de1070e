/* curves.c -- a class against the rest, over the kept rows; calibration of probabilities; coverage
 *
 * With the rows in descending order of the score, equal scores together:
 *     ROC        (FP / N, TP / P) after each group of equal scores; the area by trapezoids, which
 *                counts ties a half
 *     PR         recall TP / P, precision TP / (TP + FP); the area is the average precision
 *                sum over groups of (recall - recall before) * precision
 *     calibration  ten equal bins of the probability, of the second of two classes, or of the
 *                predicted class: mean probability against the share of rows that have the class
 * Rows count by their weights. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct placed {
    double score;
    int32_t row;
} placed;

static int descending(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

krein_status krein__score_order(krein_ctx *ctx, int64_t n, const double *score, int32_t *order) {
    krein_status st = KREIN_OK;
    placed *p = NULL;
    NEW(p, n);
    for (int64_t i = 0; i < n; i++) p[i] = (placed){score[i], (int32_t)i};
    qsort(p, (size_t)n, sizeof *p, descending);
    for (int64_t i = 0; i < n; i++) order[i] = p[i].row;
done:
    krein__free(ctx, p);
    return st;
}

bool krein__report_side(const krein_reporting *r, int64_t class, double *out) {
    const krein_kept *k = &r->kept;
    bool two = k->classes == 2 && r->model->head == KREIN_HEAD_BEST;
    bool labels = r->model->head == KREIN_HEAD_LABELS;
    if (!two && !k->p && r->model->head != KREIN_HEAD_BEST && !labels) return false;
    for (int64_t i = 0; i < k->n; i++) {
        if (two)
            out[i] = class == 1 ? k->f[i] : -k->f[i];
        else if (k->p)
            out[i] = (double)k->p[i * k->classes + class];
        else
            out[i] = k->f[i * k->k + class];
    }
    return true;
}

/* ---- areas -------------------------------------------------------------- */

/* What has been passed, going down the scores. */
typedef struct passed {
    double tp, fp;
} passed;

static double weight_of(const double *weight, int64_t i) { return weight ? weight[i] : 1; }

/* Takes the rows of the next score; false at the end. */
static bool next_group(int64_t n, const int32_t *order, const double *score, const int8_t *positive,
                       const double *weight, int64_t *at, passed *p) {
    if (*at == n) return false;
    const double here = score[order[*at]];
    for (; *at < n && score[order[*at]] == here; ++*at) {
        const int64_t i = order[*at];
        *(positive[i] ? &p->tp : &p->fp) += weight_of(weight, i);
    }
    return true;
}

double krein__roc_area(int64_t n, const int32_t *order, const double *score, const int8_t *positive,
                       const double *weight) {
    passed p = {0, 0}, last = p;
    double area = 0;
    for (int64_t at = 0; next_group(n, order, score, positive, weight, &at, &p); last = p)
        area += (p.fp - last.fp) * (p.tp + last.tp) / 2;
    return p.tp > 0 && p.fp > 0 ? area / (p.tp * p.fp) : NAN;
}

double krein__pr_area(int64_t n, const int32_t *order, const double *score, const int8_t *positive,
                      const double *weight) {
    passed p = {0, 0}, last = p;
    double area = 0;
    for (int64_t at = 0; next_group(n, order, score, positive, weight, &at, &p); last = p)
        if (p.tp > last.tp) area += (p.tp - last.tp) * p.tp / (p.tp + p.fp);
    return p.tp > 0 ? area / p.tp : NAN;
}

/* ---- the curves --------------------------------------------------------- */

/* A point is drawn where the curve has gone a little way from the last one. */
static bool far(double x, double y, double x0, double y0) {
    return fabs(x - x0) + fabs(y - y0) >= 2.0 / (KREIN_REPORT_POINTS - 3);
}

static void trace(int64_t n, const int32_t *order, const double *score, const int8_t *positive,
                  const double *weight, krein_class_curve *c) {
    passed p = {0, 0}, all = p;
    int64_t at = 0;
    while (next_group(n, order, score, positive, weight, &at, &all)) continue;
    if (!(all.tp > 0) || !(all.fp > 0)) return;
    c->nroc = 1; /* from the corner */
    double last[2] = {0, 0}, precision[2] = {2, 2};
    for (at = 0; next_group(n, order, score, positive, weight, &at, &p);) {
        double x = p.fp / all.fp, y = p.tp / all.tp, q = p.tp / (p.tp + p.fp);
        bool end = at == n;
        if ((end || far(x, y, last[0], last[1])) && c->nroc < KREIN_REPORT_POINTS) {
            c->fpr[c->nroc] = last[0] = x;
            c->tpr[c->nroc++] = last[1] = y;
        }
        if ((end || far(y, q, precision[0], precision[1])) && c->npr < KREIN_REPORT_POINTS) {
            c->recall[c->npr] = precision[0] = y;
            c->precision[c->npr++] = precision[1] = q;
        }
    }
}

/* Classes with a curve of their own: the second of two, else the most frequent. */
static int by_rows(const void *a, const void *b) {
    const krein_class_curve *x = a, *y = b;
    if (x->positives != y->positives) return x->positives > y->positives ? -1 : 1;
    return x->class < y->class ? -1 : 1;
}

/* With too many classes for the bootstrap the mean of their areas has no interval. */
static void mean_area(krein_report_numbers *out) {
    double sum = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < out->ncurves; i++) {
        if (isnan(out->curve[i].roc_area)) continue;
        sum += out->curve[i].roc_area;
        n++;
    }
    for (int64_t i = 0; i < out->nmeasures && n > 0; i++)
        if (strcmp(out->measure[i].key, "auc") == 0 && isnan(out->measure[i].model.value))
            out->measure[i].model.value = sum / (double)n;
}

static krein_status class_curves(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_kept *k = &r->kept;
    krein_report_numbers *out = r->out;
    bool labels = r->model->head == KREIN_HEAD_LABELS, two = k->classes == 2 && !labels;
    double *score = NULL;
    int8_t *positive = NULL;
    int32_t *order = NULL;
    NEW(score, k->n);
    NEW(positive, k->n);
    NEW(order, k->n);
    if (!krein__report_side(r, 0, score)) goto done;
    ZNEW(out->curve, k->classes);
    for (int64_t c = two; c < k->classes; c++) {
        krein_class_curve *to = &out->curve[out->ncurves++];
        to->class = c;
        krein__report_side(r, c, score);
        for (int64_t i = 0; i < k->n; i++) {
            positive[i] = labels ? k->y[i * k->classes + c] > 0 : (int64_t)k->y[i] == c;
            to->positives += positive[i];
        }
        TRY(krein__poll(ctx));
        TRY(krein__score_order(ctx, k->n, score, order));
        to->roc_area = krein__roc_area(k->n, order, score, positive, k->weight);
        to->pr_area = krein__pr_area(k->n, order, score, positive, k->weight);
        trace(k->n, order, score, positive, k->weight, to);
    }
    qsort(out->curve, (size_t)out->ncurves, sizeof *out->curve, by_rows);
    mean_area(out);
done:
    krein__free(ctx, score);
    krein__free(ctx, positive);
    krein__free(ctx, order);
    return st;
}

static void calibrate(krein_reporting *r) {
    const krein_kept *k = &r->kept;
    krein_calibration_curve *c = &r->out->calibration;
    double weight[10] = {0}, all = 0;
    for (int64_t i = 0; i < k->n; i++) {
        const float *p = k->p + i * k->classes;
        int64_t of = 1;
        if (k->classes != 2) {
            of = krein__model_decide(r->model, k->f + i * k->k);
        }
        double w = weight_of(k->weight, i), value = (double)p[of];
        int bin = (int)fmin(9, floor(10 * value));
        c->count[bin]++;
        weight[bin] += w;
        all += w;
        c->predicted[bin] += w * value;
        c->observed[bin] += w * ((int64_t)k->y[i] == of);
    }
    for (int b = 0; b < 10; b++) {
        if (weight[b] > 0) {
            c->error += fabs(c->predicted[b] - c->observed[b]) / all;
            c->predicted[b] /= weight[b];
            c->observed[b] /= weight[b];
        } else {
            c->predicted[b] = c->observed[b] = NAN;
        }
    }
    r->out->calibrated = true;
}

krein_status krein__report_curves(krein_reporting *r) {
    krein_status st = KREIN_OK;
    krein_task task = r->model->encoding.task;
    if (task != KREIN_TASK_CLASSIFICATION && task != KREIN_TASK_MULTILABEL) return st;
    TRY(class_curves(r));
    if (r->kept.p && task == KREIN_TASK_CLASSIFICATION) calibrate(r);
done:
    return st;
}

/* ---- coverage of intervals ---------------------------------------------- */

/* Of intervals of several sizes, on the sample; the metrics have 90 % on all rows. */
krein_status krein__report_coverage(krein_reporting *r) {
    static const double levels[] = {0.5, 0.8, 0.9, 0.95};
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = r->model;
    krein_report_numbers *out = r->out;
    int64_t classes = m->encoding.nclass, labels = r->data->nlabel;
    krein_teller teller = {0};
    krein_rows rows = krein__matrix_rows(&r->full);
    double *score = NULL, *p = NULL;
    if (!(krein__model_says(m) & KREIN_SAYS_INTERVAL)) return st;
    NEW(score, r->m * m->k);
    krein__predictor_run(&r->predictor, &rows, score);
    if (m->calibration.slope) {
        NEW(p, r->m * classes);
        krein__predictor_probabilities(&r->predictor, r->m, score, p);
    }
    for (int64_t l = 0; l < KREIN__COUNT(levels); l++) {
        krein_asked asked = {.interval = levels[l]};
        double inside = 0, width = 0, all = 0;
        TRY(krein__teller_begin(ctx, m, &asked, r->m, &teller));
        TRY(krein__teller_run(&teller, &rows, score, p));
        const krein_told *t = &teller.told;
        for (int64_t i = 0; i < r->m; i++) {
            double w = r->weight[i];
            all += w;
            for (int64_t c = 0; t->lower && c < m->k; c++) {
                double y = r->label[i * labels + c], low = t->lower[i * m->k + c],
                       high = t->upper[i * m->k + c];
                inside += w * (y >= low && y <= high) / (double)m->k;
                width += w * (high - low) / (double)m->k;
            }
            if (!t->set) continue;
            inside += w * t->set[i * classes + (int64_t)r->label[i * labels]];
            for (int64_t c = 0; c < classes; c++) width += w * t->set[i * classes + c];
        }
        krein__teller_end(&teller);
        if (!(all > 0)) continue;
        out->coverage_asked[out->ncoverage] = levels[l];
        out->coverage_found[out->ncoverage] = inside / all;
        out->coverage_width[out->ncoverage++] = width / all;
    }
done:
    krein__teller_end(&teller);
    krein__free(ctx, score);
    krein__free(ctx, p);
    return st;
}
