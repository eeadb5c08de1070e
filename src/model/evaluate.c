/* evaluate.c -- metrics of a model on labelled rows.
 *   regression      rmse, mae, r2 = 1 - sum (y-f)^2 / sum (y-mean)^2, over all outputs
 *   classification  accuracy, error, macro averages over the classes that occur, confusion
 *   probabilities   log_loss = mean of -log p of the true class; two classes: auc, the probability
 *                   that a row of the second class has a larger score than one of the first, equal
 *                   scores counting a half; exact, from all scores, 16 bytes a row
 *   label sets      label_metrics.c
 *   intervals       coverage, the share of labels inside, and the mean width; of sets of classes
 *                   their mean size
 * A row of weight w counts as w equal rows in all of them. n and the confusion matrix are numbers
 * of rows, whatever their weights. */
#include "model/posterior.h"

#include "base/limits.h"
#include "base/sized.h"
#include "model/label_metrics.h"
#include "model/ranks.h"
#include "stream/together.h"

#include <math.h>
#include <string.h>

void krein_metrics_clear(krein_ctx *ctx, krein_metrics *metrics) {
    krein_metrics m = KREIN_SIZED(krein_metrics);
    if (!metrics) return;
    krein__report_take(&m, metrics);
    krein__free(ctx, m.confusion);
    krein__free(ctx, m.label_f1);
    krein__free(ctx, m.label_auc);
    krein__free(ctx, m.label_rows);
    for (int64_t c = 0; m.class_names && c < m.classes; c++) krein__free(ctx, m.class_names[c]);
    krein__free(ctx, m.class_names);
}

static krein_status begin(krein_ctx *ctx, const krein_encoding *e, krein_metrics *out) {
    krein_status st = KREIN_OK;
    *out = KREIN_SIZED(krein_metrics);
    out->task = e->task;
    out->rmse = out->mae = out->r2 = NAN;
    out->accuracy = out->error = out->macro_precision = out->macro_recall = out->macro_f1 = NAN;
    out->log_loss = out->auc = NAN;
    out->interval = out->coverage = out->width = NAN;
    out->hamming_loss = out->micro_f1 = out->subset_accuracy = out->ranking_loss = NAN;
    if (e->nclass == 0) return KREIN_OK;
    out->classes = e->nclass;
    if (e->task == KREIN_TASK_CLASSIFICATION) ZNEW(out->confusion, e->nclass * e->nclass);
    ZNEW(out->class_names, e->nclass);
    for (int64_t c = 0; c < e->nclass; c++) DUP(out->class_names[c], e->class_name[c]);
done:
    if (st != KREIN_OK) krein_metrics_clear(ctx, out);
    return st;
}

/* What is added up over the rows, by weight. */
typedef struct sums {
    double weight; /* of the rows */
    double square, absolute;
    double inside, width; /* of intervals: labels inside, and widths */
    double mean[KREIN_TARGETS_MAX], m2[KREIN_TARGETS_MAX]; /* of the targets, by Welford */
} sums;

/* total: classes x classes, the weight of the rows of each cell of the confusion matrix. */
static void end_classes(const double *total, double weight, krein_metrics *m) {
    double right = 0, precision = 0, recall = 0, f1 = 0;
    int64_t classes = m->classes, present = 0;
    for (int64_t c = 0; c < classes; c++) {
        double row = 0, column = 0, hit = total[c * classes + c];
        for (int64_t o = 0; o < classes; o++) {
            row += total[c * classes + o];
            column += total[o * classes + c];
        }
        right += hit;
        if (row == 0 && column == 0) continue; /* neither true nor predicted anywhere */
        present++;
        double p = column > 0 ? hit / column : 0;
        double r = row > 0 ? hit / row : 0;
        precision += p;
        recall += r;
        f1 += p + r > 0 ? 2 * p * r / (p + r) : 0;
    }
    m->accuracy = right / weight;
    m->error = 1 - m->accuracy;
    m->macro_precision = precision / (double)present;
    m->macro_recall = recall / (double)present;
    m->macro_f1 = f1 / (double)present;
}

static void end_numbers(const sums *s, int64_t k, krein_metrics *m) {
    double spread = 0, count = s->weight * (double)k;
    for (int64_t c = 0; c < k; c++) spread += s->m2[c];
    m->rmse = sqrt(s->square / count);
    m->mae = s->absolute / count;
    m->r2 = spread > 0 ? 1 - s->square / spread : NAN;
}

/* A row of weight w > 0 that is already in s->weight. */
static void add_numbers(sums *s, double w, int64_t k, const double *y, const double *f) {
    for (int64_t c = 0; c < k; c++) {
        double e = y[c] - f[c], delta = y[c] - s->mean[c];
        s->square += w * (e * e);
        s->absolute += w * fabs(e);
        s->mean[c] += w * delta / s->weight;
        s->m2[c] += w * (delta * (y[c] - s->mean[c]));
    }
}

/* ---- with probabilities ------------------------------------------------- */

/* Below 1e-15 it costs no more: one wrong row in a million shall not be all there is. */
double krein__log_loss(double probability) { return -log(fmax(probability, 1e-15)); }

/* What is added up over the rows of a model with probabilities. */
typedef struct belief {
    double *p; /* of a block; NULL: the model has none */
    double loss;
    krein_ranks side[2]; /* scores of the two classes */
} belief;

static double weight_of(const krein_block *b, int64_t i) { return b->weight ? b->weight[i] : 1; }

static krein_status believe(const krein_predictor *s, const krein_block *b, const double *score,
                            belief *in) {
    const krein_model *m = s->model;
    krein_status st = KREIN_OK;
    int64_t classes = m->encoding.nclass;
    krein__predictor_probabilities(s, b->x.n, score, in->p);
    for (int64_t i = 0; i < b->x.n; i++) {
        int64_t truth = (int64_t)b->label[i];
        double w = weight_of(b, i);
        if (w == 0) continue;
        in->loss += w * krein__log_loss(in->p[i * classes + truth]);
        if (classes == 2) TRY(krein__ranks_add(s->ctx, &in->side[truth], score[i], w));
    }
done:
    return st;
}

static void belief_clear(krein_ctx *ctx, belief *in) {
    krein__free(ctx, in->p);
    for (int c = 0; c < 2; c++) krein__ranks_clear(ctx, &in->side[c]);
}

/* ---- with the other processes ------------------------------------------- */

/* Both halves by the formula of Chan, Golub and LeVeque. */
static void merge(sums *s, int64_t k, const sums *other) {
    double n = s->weight, more = other->weight, total = n + more;
    s->square += other->square;
    s->absolute += other->absolute;
    s->inside += other->inside;
    s->width += other->width;
    s->weight = total;
    for (int64_t c = 0; c < k && more > 0; c++) {
        double delta = other->mean[c] - s->mean[c];
        s->m2[c] += other->m2[c] + delta * delta * n * more / total;
        s->mean[c] += delta * more / total;
    }
}

static krein_status merge_numbers(krein_stream *rows, int64_t k, sums *s) {
    sums *all = NULL;
    int64_t count;
    krein_status st = krein__stream_join(rows, s, 1, sizeof *s, &all, &count);
    if (st != KREIN_OK) return st;
    *s = (sums){0};
    for (int64_t r = 0; r < count; r++) merge(s, k, &all[r]);
    krein__free(krein__stream_data(rows)->ctx, all);
    return KREIN_OK;
}

static krein_status put_together(krein_stream *rows, const krein_model *m, sums *s, double *total,
                                 belief *in, krein_metrics *out) {
    krein_status st = KREIN_OK;
    int64_t cells = out->classes * out->classes;
    TRY(krein__stream_count(rows, 1, &out->n));
    TRY(merge_numbers(rows, m->encoding.nclass > 0 ? 0 : m->k, s));
    if (out->confusion) {
        TRY(krein__stream_count(rows, cells, out->confusion));
        TRY(krein__stream_sum(rows, cells, total));
    }
    if (!in->p) goto done;
    TRY(krein__stream_sum(rows, 1, &in->loss));
    for (int c = 0; c < 2; c++) TRY(krein__ranks_join(rows, &in->side[c]));
done:
    return st;
}

/* The intervals (sets) of a block, against the labels. */
static void cover(const krein_model *m, const krein_told *t, const krein_block *b, sums *s) {
    int64_t k = m->k, classes = m->encoding.nclass;
    for (int64_t i = 0; i < b->x.n; i++) {
        double w = weight_of(b, i);
        if (w == 0) continue;
        for (int64_t c = 0; t->lower && c < k; c++) {
            double y = b->label[i * k + c], low = t->lower[i * k + c], high = t->upper[i * k + c];
            s->inside += w * (y >= low && y <= high) / (double)k;
            s->width += w * (high - low) / (double)k;
        }
        if (!t->set) continue;
        s->inside += w * t->set[i * classes + (int64_t)b->label[i]];
        for (int64_t c = 0; c < classes; c++) s->width += w * t->set[i * classes + c];
    }
}

static void end_cover(const sums *s, double level, krein_metrics *out) {
    out->interval = level;
    out->coverage = s->inside / s->weight;
    out->width = s->width / s->weight;
}

krein_status krein__model_measure(krein_ctx *ctx, const krein_model *m, krein_data *data, int part,
                                  double level, krein_metrics *out) {
    krein_status st = KREIN_OK;
    krein_stream *stream = NULL;
    krein_predictor predictor = {0};
    krein_block b;
    double *score = NULL, *total = NULL;
    sums s = {0};
    belief in = {0};
    krein_teller teller = {0};
    krein_asked asked = {.interval = level};
    bool told = level > 0 && krein__model_says(m) & KREIN_SAYS_INTERVAL;
    int64_t rows = krein__block_rows(m->encoding.d);
    bool classes = m->encoding.task == KREIN_TASK_CLASSIFICATION;
    bool sets = m->encoding.task == KREIN_TASK_MULTILABEL;
    krein_label_metrics labels = {0};
    TRY(begin(ctx, &m->encoding, out));
    if (sets) TRY(krein__label_metrics_begin(ctx, m, data, &labels));
    TRY(krein__stream_open(data, &m->encoding, part, &stream));
    TRY(krein__predictor_begin(ctx, m, &predictor));
    if (told) TRY(krein__teller_begin(ctx, m, &asked, rows, &teller));
    NEW(score, rows * m->k);
    if (classes) ZNEW(total, out->classes * out->classes);
    if (m->calibration.slope) NEW(in.p, rows * m->encoding.nclass);
    for (;;) {
        TRY(krein__stream_next(stream, &b));
        if (b.x.n == 0) break;
        krein__predictor_run(&predictor, &b.x, score);
        if (in.p && sets) krein__predictor_probabilities(&predictor, b.x.n, score, in.p);
        if (in.p && classes) TRY(believe(&predictor, &b, score, &in));
        if (told) {
            TRY(krein__teller_run(&teller, &b.x, score, in.p));
            cover(m, &teller.told, &b, &s);
        }
        for (int64_t i = 0; i < b.x.n; i++) {
            double w = weight_of(&b, i);
            out->n++;
            s.weight += w;
            if (classes) {
                int64_t truth = (int64_t)b.label[i],
                        guess = krein__model_decide(m, score + i * m->k);
                out->confusion[truth * out->classes + guess]++;
                total[truth * out->classes + guess] += w;
            } else if (w > 0 && sets) {
                TRY(krein__label_metrics_add(&labels, w, b.label[i], score + i * m->k,
                                             in.p ? in.p + i * m->k : NULL));
            } else if (w > 0) {
                add_numbers(&s, w, m->k, b.label + i * m->k, score + i * m->k);
            }
        }
    }
    if (krein__stream_shared(stream)) {
        if (sets) TRY(krein__label_metrics_join(stream, &labels));
        TRY(put_together(stream, m, &s, total, &in, out));
    }
    if (!(s.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA,
                         out->n == 0 ? "%s: there is no row to evaluate"
                                     : "%s: all rows to evaluate have a weight of zero",
                         data->name);
        goto done;
    }
    if (classes) {
        end_classes(total, s.weight, out);
        if (in.p) out->log_loss = in.loss / s.weight;
        if (in.p && m->encoding.nclass == 2) out->auc = krein__ranks_area(&in.side[0], &in.side[1]);
    } else if (sets) {
        TRY(krein__label_metrics_end(&labels, s.weight, out));
    } else {
        end_numbers(&s, m->k, out);
    }
    if (told) end_cover(&s, level, out);
done:
    krein__label_metrics_clear(&labels);
    krein__predictor_end(&predictor);
    krein__teller_end(&teller);
    krein__stream_close(stream);
    krein__free(ctx, score);
    krein__free(ctx, total);
    belief_clear(ctx, &in);
    if (st != KREIN_OK) krein_metrics_clear(ctx, out);
    return st;
}

static krein_status evaluate(krein_ctx *ctx, const krein_model *m, krein_data *data, double level,
                             krein_metrics *metrics) {
    krein_metrics own = KREIN_SIZED(krein_metrics);
    krein_status st = krein__report_check(ctx, metrics, "krein_metrics");
    if (st == KREIN_OK) st = krein__model_need_head(ctx, m, "evaluate");
    if (st != KREIN_OK) return st;
    /* Clusters have numbers for names, which are no classes of anybody's data. */
    if (m->encoding.task == KREIN_TASK_AUTO || m->clusters)
        return krein__fail(ctx, KREIN_EARG,
                           "a model made by %s predicts no label, so there is nothing to evaluate; "
                           "use predict",
                           m->learner);
    krein__call_begin(ctx);
    st = krein__data_agree(data);
    data->share_rows = true;
    if (st == KREIN_OK) st = krein__data_match(data, &m->encoding, true);
    if (st == KREIN_OK) st = krein__model_measure(ctx, m, data, KREIN_PART_TRAIN, level, &own);
    st = krein__call_end(ctx, st);
    krein__report_finish(st, metrics, &own);
    krein_metrics_clear(ctx, &own);
    return st;
}

krein_status krein_evaluate(krein_ctx *ctx, const krein_model *m, krein_data *data,
                            krein_metrics *metrics) {
    return evaluate(ctx, m, data, KREIN_COVERAGE, metrics);
}

krein_status krein_evaluate_interval(krein_ctx *ctx, const krein_model *m, krein_data *data,
                                     double interval, krein_metrics *metrics) {
    krein_asked asked = {.interval = interval == 0 ? NAN : interval};
    krein_status st = krein__asked_check(ctx, m, &asked);
    if (st == KREIN_OK && !(krein__model_says(m) & KREIN_SAYS_INTERVAL))
        st =
            krein__fail(ctx, KREIN_EARG, "the model has no intervals; train it with `uncertainty`");
    return st == KREIN_OK ? evaluate(ctx, m, data, interval, metrics) : st;
}
