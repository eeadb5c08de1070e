/* quality.c -- measures of the model over all rows, with intervals by the bootstrap, beside two
 * baselines
 *
 * A replicate draws as many of the kept rows as there are, with replacement; the interval runs from
 * the 2.5 % to the 97.5 % quantile of the measure over the replicates. Where m of n rows were
 * kept, its distances from the measure of the kept rows are those of m rows, and are multiplied by
 * sqrt(m / n). Draw i of replicate b is a function of (seed, b, i).     (efron1993)
 *
 *     numbers   rmse, mae, r2                  as in model/evaluate.c
 *     classes   error, macro F1, log loss (with probabilities), area under the ROC curve: of two
 *               classes, else the mean over the classes against the rest
 *     labels    hamming loss, share of exact sets, micro F1 */
#include "report/report.h"

#include "num/order.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { AREAS = 20 }; /* classes whose areas are computed in every replicate */

/* Predictions of the kept rows that are measured. */
typedef struct judged {
    const krein_kept *k;
    krein_task task;
    const double *f;   /* numbers: n x outputs */
    int32_t *guess;    /* classes: n */
    const int8_t *has; /* labels: n x classes */
    const float *p;
    int64_t sides; /* classes with areas, from the `first` on; 0: none */
    int64_t first;
    double *side;     /* sides x n: scores */
    int32_t *order;   /* sides x n */
    int8_t *positive; /* sides x n */
    int64_t nmeasures;
} judged;

/* Doubles of scratch that a measurement needs. */
static int64_t scratch_of(const judged *j) { return 3 * krein__max(1, j->k->classes); }

static void measure_numbers(const judged *j, const double *w, double *out) {
    const krein_kept *k = j->k;
    double all = 0, square = 0, size = 0, spread = 0;
    for (int64_t i = 0; i < k->n; i++) all += w[i];
    for (int64_t c = 0; c < k->outputs; c++) {
        double mean = 0, moment = 0;
        for (int64_t i = 0; i < k->n; i++) mean += w[i] * k->y[i * k->outputs + c];
        mean /= all;
        for (int64_t i = 0; i < k->n; i++) {
            double y = k->y[i * k->outputs + c], e = y - j->f[i * k->outputs + c];
            square += w[i] * e * e;
            size += w[i] * fabs(e);
            moment += w[i] * (y - mean) * (y - mean);
        }
        spread += moment;
    }
    out[0] = sqrt(square / all / (double)k->outputs);
    out[1] = size / all / (double)k->outputs;
    out[2] = spread > 0 ? 1 - square / spread : NAN;
}

static double macro_f1(int64_t classes, const double *hit, const double *truth,
                       const double *guess) {
    double sum = 0, present = 0;
    for (int64_t c = 0; c < classes; c++) {
        if (truth[c] == 0 && guess[c] == 0) continue;
        present++;
        sum += 2 * hit[c] / (truth[c] + guess[c]);
    }
    return sum / present;
}

static void measure_classes(const judged *j, const double *w, double *room, double *out) {
    const krein_kept *k = j->k;
    int64_t classes = k->classes;
    double *hit = room, *truth = room + classes, *guess = room + 2 * classes;
    double all = 0, right = 0, loss = 0, areas = 0, sides = 0;
    memset(room, 0, (size_t)(3 * classes) * sizeof *room);
    for (int64_t i = 0; i < k->n; i++) {
        int64_t y = (int64_t)k->y[i];
        all += w[i];
        truth[y] += w[i];
        guess[j->guess[i]] += w[i];
        if (y == j->guess[i]) {
            hit[y] += w[i];
            right += w[i];
        }
        if (j->p && w[i] > 0) loss += w[i] * krein__log_loss((double)j->p[i * classes + y]);
    }
    out[0] = 1 - right / all;
    out[1] = macro_f1(classes, hit, truth, guess);
    out[2] = j->p ? loss / all : NAN;
    for (int64_t s = 0; s < j->sides; s++) {
        double area = krein__roc_area(k->n, j->order + s * k->n, j->side + s * k->n,
                                      j->positive + s * k->n, w);
        if (isnan(area)) continue;
        areas += area;
        sides++;
    }
    out[3] = sides > 0 ? areas / sides : NAN;
}

static void measure_labels(const judged *j, const double *w, double *out) {
    const krein_kept *k = j->k;
    double all = 0, wrong = 0, exact = 0, hit = 0, both = 0;
    for (int64_t i = 0; i < k->n; i++) {
        int64_t off = 0;
        for (int64_t c = 0; c < k->classes; c++) {
            bool y = k->y[i * k->classes + c] > 0, g = j->has[i * k->classes + c];
            off += y != g;
            hit += w[i] * (y && g);
            both += w[i] * (y + g);
        }
        all += w[i];
        wrong += w[i] * (double)off;
        exact += w[i] * (off == 0);
    }
    out[0] = wrong / all / (double)k->classes;
    out[1] = exact / all;
    out[2] = both > 0 ? 2 * hit / both : NAN;
}

static void measure(const judged *j, const double *w, double *room, double *out) {
    if (j->task == KREIN_TASK_REGRESSION) measure_numbers(j, w, out);
    if (j->task == KREIN_TASK_CLASSIFICATION) measure_classes(j, w, room, out);
    if (j->task == KREIN_TASK_MULTILABEL) measure_labels(j, w, out);
}

/* ---- what is measured --------------------------------------------------- */

static void add(krein_report_numbers *out, const char *key, const char *title, bool larger,
                bool share, double value) {
    out->measure[out->nmeasures++] =
        (krein_measured){key, title, larger, share, {value, NAN, NAN}, NAN, NAN};
}

static void name_measures(krein_reporting *r) {
    krein_report_numbers *out = r->out;
    const krein_metrics *m = &out->metrics;
    krein_task task = r->model->encoding.task;
    if (task == KREIN_TASK_REGRESSION) {
        add(out, "rmse", "Root mean square error", false, false, m->rmse);
        add(out, "mae", "Mean absolute error", false, false, m->mae);
        add(out, "r2", "R\xc2\xb2, variance explained", true, true, m->r2);
    } else if (task == KREIN_TASK_CLASSIFICATION) {
        add(out, "error", "Error", false, true, m->error);
        add(out, "macro_f1", "F1, mean of the classes", true, false, m->macro_f1);
        add(out, "log_loss", "Log loss", false, false, m->log_loss);
        add(out, "auc", "Area under the ROC curve", true, false, m->auc);
    } else {
        add(out, "hamming_loss", "Labels that are wrong", false, true, m->hamming_loss);
        add(out, "subset_accuracy", "Rows with all labels right", true, true, m->subset_accuracy);
        add(out, "micro_f1", "F1 of rows and labels", true, false, m->micro_f1);
    }
}

static krein_status judge_classes(krein_reporting *r, judged *j) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_kept *k = &r->kept;
    NEW(j->guess, k->n);
    for (int64_t i = 0; i < k->n; i++)
        j->guess[i] = (int32_t)krein__model_decide(r->model, k->f + i * k->k);
    j->p = k->p;
    if (k->classes > AREAS) return st;
    j->first = k->classes == 2;
    j->sides = k->classes - j->first;
    NEW(j->side, j->sides * k->n);
    NEW(j->order, j->sides * k->n);
    NEW(j->positive, j->sides * k->n);
    for (int64_t s = 0; s < j->sides; s++) {
        double *to = j->side + s * k->n;
        if (!krein__report_side(r, j->first + s, to)) {
            j->sides = 0;
            break;
        }
        for (int64_t i = 0; i < k->n; i++)
            j->positive[s * k->n + i] = (int64_t)k->y[i] == j->first + s;
        TRY(krein__score_order(ctx, k->n, to, j->order + s * k->n));
    }
done:
    return st;
}

static krein_status judge_labels(krein_reporting *r, judged *j, int8_t **has) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_kept *k = &r->kept;
    NEW(*has, k->n * k->classes);
    for (int64_t i = 0; i < k->n * k->classes; i++)
        (*has)[i] = krein__model_has(r->model, i % k->classes, k->f[i]);
    j->has = *has;
done:
    return st;
}

/* ---- bootstrap ---------------------------------------------------------- */

/* values: measures x replicates. */
static krein_status replicate(krein_reporting *r, const judged *j, double *values) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_kept *k = &r->kept;
    krein_rng g = krein__report_stream(r, KREIN_REPORT_BOOT);
    int64_t each = k->n + scratch_of(j);
    int threads = ctx->threads, batch = 4 * threads;
    double *room = NULL;
    NEW(room, threads * each);
    for (int64_t from = 0; from < KREIN_REPORT_REPLICATES; from += batch) {
        int64_t to = krein__min(KREIN_REPORT_REPLICATES, from + batch);
        TRY(krein__poll(ctx));
        krein__progress(ctx, "bootstrap", (double)from, KREIN_REPORT_REPLICATES);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t b = from; b < to; b++) {
            double *w = room + omp_get_thread_num() * each, out[KREIN_REPORT_MEASURES] = {0};
            memset(w, 0, (size_t)k->n * sizeof *w);
            for (int64_t i = 0; i < k->n; i++) {
                uint64_t row = krein__rng_below(g, (uint64_t)b, (uint64_t)i, (uint64_t)k->n);
                w[row] += k->weight ? k->weight[row] : 1;
            }
            measure(j, w, w + k->n, out);
            for (int64_t q = 0; q < j->nmeasures; q++)
                values[q * KREIN_REPORT_REPLICATES + b] = out[q];
        }
    }
done:
    krein__free(ctx, room);
    return st;
}

/* Quantile by linear interpolation, of those that are numbers. */
static double quantile(int64_t n, const double *sorted, double q) {
    if (n < 2) return NAN;
    double at = q * (double)(n - 1);
    int64_t i = (int64_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

static void bounds(double *values, double own, double factor, krein_span *to) {
    int64_t n = 0;
    for (int64_t b = 0; b < KREIN_REPORT_REPLICATES; b++)
        if (isfinite(values[b])) values[n++] = values[b];
    if (n < KREIN_REPORT_REPLICATES / 2) return;
    qsort(values, (size_t)n, sizeof *values, krein__ascending);
    to->low = to->value + factor * (quantile(n, values, 0.025) - own);
    to->high = to->value + factor * (quantile(n, values, 0.975) - own);
}

/* ---- baselines ---------------------------------------------------------- */

static int64_t largest(int64_t n, const double *v) {
    int64_t best = 0;
    for (int64_t c = 1; c < n; c++)
        if (v[c] > v[best]) best = c;
    return best;
}

/* Measures of a prediction that is the same everywhere, or of the linear one. */
static krein_status judge_baseline(krein_reporting *r, const krein_baseline *b, bool linear,
                                   const double *w, double *room, double *out) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_kept *k = &r->kept;
    judged j = {.k = k, .task = r->model->encoding.task};
    double *f = NULL;
    float *p = NULL;
    int8_t *has = NULL;
    int64_t q = j.task == KREIN_TASK_REGRESSION ? k->outputs : k->classes;
    NEW(f, k->n * q);
    for (int64_t i = 0; i < k->n * q; i++) f[i] = linear ? b->linear[i] : b->constant[i % q];
    j.f = f;
    if (j.task == KREIN_TASK_CLASSIFICATION) {
        NEW(j.guess, k->n);
        for (int64_t i = 0; i < k->n; i++) j.guess[i] = (int32_t)largest(q, f + i * q);
        if (!linear && k->p) {
            NEW(p, k->n * q);
            for (int64_t i = 0; i < k->n * q; i++) p[i] = (float)b->constant[i % q];
            j.p = p;
        }
    }
    if (j.task == KREIN_TASK_MULTILABEL) {
        NEW(has, k->n * q);
        for (int64_t i = 0; i < k->n * q; i++) has[i] = f[i] > 0.5;
        j.has = has;
    }
    measure(&j, w, room, out);
    if (j.task == KREIN_TASK_CLASSIFICATION) out[3] = linear ? NAN : 0.5;
done:
    krein__free(ctx, f);
    krein__free(ctx, p);
    krein__free(ctx, has);
    krein__free(ctx, j.guess);
    return st;
}

krein_status krein__report_quality(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    const krein_kept *k = &r->kept;
    judged j = {.k = k, .task = r->model->encoding.task, .f = k->f};
    krein_baseline base = {0};
    int8_t *has = NULL;
    double *values = NULL, *w = NULL, own[KREIN_REPORT_MEASURES] = {0};
    double constant[KREIN_REPORT_MEASURES] = {0}, linear[KREIN_REPORT_MEASURES] = {0};
    name_measures(r);
    j.nmeasures = out->nmeasures;
    if (j.task == KREIN_TASK_CLASSIFICATION) TRY(judge_classes(r, &j));
    if (j.task == KREIN_TASK_MULTILABEL) TRY(judge_labels(r, &j, &has));
    NEW(w, k->n + scratch_of(&j));
    NEW(values, out->nmeasures * KREIN_REPORT_REPLICATES);
    for (int64_t i = 0; i < k->n; i++) w[i] = k->weight ? k->weight[i] : 1;
    measure(&j, w, w + k->n, own);
    TRY(replicate(r, &j, values));
    TRY(krein__report_baseline(r, &base));
    TRY(judge_baseline(r, &base, false, w, w + k->n, constant));
    if (base.linear) TRY(judge_baseline(r, &base, true, w, w + k->n, linear));
    out->linear_word = base.word;
    for (int64_t q = 0; q < out->nmeasures; q++) {
        krein_measured *m = &out->measure[q];
        if (isnan(m->model.value)) m->model.value = own[q]; /* areas of several classes */
        bounds(values + q * KREIN_REPORT_REPLICATES, own[q], sqrt((double)k->n / (double)out->n),
               &m->model);
        m->constant = constant[q];
        m->linear = base.linear ? linear[q] : NAN;
    }
done:
    krein__free(ctx, j.guess);
    krein__free(ctx, j.side);
    krein__free(ctx, j.order);
    krein__free(ctx, j.positive);
    krein__free(ctx, has);
    krein__free(ctx, w);
    krein__free(ctx, values);
    krein__baseline_clear(ctx, &base);
    return st;
}
