/* evaluate.c -- metrics of a model on labelled rows.
 *   regression      rmse, mae, r2 = 1 - sum (y-f)^2 / sum (y-mean)^2, over all outputs
 *   classification  accuracy, error, macro averages over the classes that occur, confusion
 *   probabilities   log_loss = mean of -log p of the true class; two classes: auc, the probability
 *                   that a row of the second class has a larger score than one of the first, equal
 *                   scores counting a half; exact, from all scores, 8 bytes a row */
#include "model/model.h"

#include "dist/dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void krein_metrics_clear(krein_ctx *ctx, krein_metrics *m) {
    krein__free(ctx, m->confusion);
    for (int64_t c = 0; m->class_names && c < m->classes; c++) krein__free(ctx, m->class_names[c]);
    krein__free(ctx, m->class_names);
    memset(m, 0, sizeof *m);
}

static krein_status begin(krein_ctx *ctx, const krein_encoding *e, krein_metrics *out) {
    krein_status st = KREIN_OK;
    memset(out, 0, sizeof *out);
    out->task = e->task;
    out->rmse = out->mae = out->r2 = NAN;
    out->accuracy = out->error = out->macro_precision = out->macro_recall = out->macro_f1 = NAN;
    out->log_loss = out->auc = NAN;
    if (e->task != KREIN_TASK_CLASSIFICATION) return KREIN_OK;
    out->classes = e->nclass;
    ZNEW(out->confusion, e->nclass * e->nclass);
    ZNEW(out->class_names, e->nclass);
    for (int64_t c = 0; c < e->nclass; c++) DUP(out->class_names[c], e->class_name[c]);
done:
    if (st != KREIN_OK) krein_metrics_clear(ctx, out);
    return st;
}

static void end_classes(krein_metrics *m) {
    int64_t right = 0, classes = m->classes, present = 0;
    double precision = 0, recall = 0, f1 = 0;
    for (int64_t c = 0; c < classes; c++) {
        int64_t row = 0, column = 0, hit = m->confusion[c * classes + c];
        for (int64_t o = 0; o < classes; o++) {
            row += m->confusion[c * classes + o];
            column += m->confusion[o * classes + c];
        }
        right += hit;
        if (row == 0 && column == 0) continue; /* neither true nor predicted anywhere */
        present++;
        double p = column ? (double)hit / (double)column : 0;
        double r = row ? (double)hit / (double)row : 0;
        precision += p;
        recall += r;
        f1 += p + r > 0 ? 2 * p * r / (p + r) : 0;
    }
    m->accuracy = (double)right / (double)m->n;
    m->error = 1 - m->accuracy;
    m->macro_precision = precision / (double)present;
    m->macro_recall = recall / (double)present;
    m->macro_f1 = f1 / (double)present;
}

typedef struct sums {
    double square, absolute, count;
    double mean[64], m2[64]; /* of the targets, by Welford */
} sums;

static void add_number(sums *s, int64_t rows, int64_t c, double y, double f) {
    double e = y - f, delta = y - s->mean[c];
    s->square += e * e;
    s->absolute += fabs(e);
    s->count += 1;
    s->mean[c] += delta / (double)rows;
    s->m2[c] += delta * (y - s->mean[c]);
}

/* ---- with probabilities ------------------------------------------------- */

/* Below it a probability costs no more: one wrong row in a million shall not be all there is. */
static const double LEAST = 1e-15;

/* The scores of one class, as many as come. */
typedef struct column {
    double *at;
    int64_t n, room;
} column;

static krein_status append(krein_ctx *ctx, column *c, double x) {
    if (c->n == c->room) {
        int64_t room = krein__max(1024, c->room + c->room / 2);
        double *at = krein__resize(ctx, c->at, room, sizeof *at);
        if (!at) return ctx->status;
        c->at = at;
        c->room = room;
    }
    c->at[c->n++] = x;
    return KREIN_OK;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Over all pairs of a row of each class. NaN: a class has no row. */
static double area(column *first, column *second) {
    int64_t below = 0, upto = 0;
    double twice = 0; /* whole numbers, exact up to 2^53 */
    if (first->n == 0 || second->n == 0) return NAN;
    qsort(first->at, (size_t)first->n, sizeof *first->at, ascending);
    qsort(second->at, (size_t)second->n, sizeof *second->at, ascending);
    for (int64_t i = 0; i < second->n; i++) {
        while (below < first->n && first->at[below] < second->at[i]) below++;
        while (upto < first->n && first->at[upto] <= second->at[i]) upto++;
        twice += (double)(below + upto);
    }
    return twice / 2 / (double)first->n / (double)second->n;
}

/* What is added up over the rows of a model with probabilities. */
typedef struct belief {
    double *p; /* of a block; NULL: the model has none */
    double loss;
    column side[2]; /* scores of the two classes */
} belief;

static krein_status believe(const krein_predictor *s, const krein_block *b, const double *score,
                            belief *in) {
    const krein_model *m = s->model;
    krein_status st = KREIN_OK;
    int64_t classes = m->encoding.nclass;
    krein__predictor_probabilities(s, b->x.n, score, in->p);
    for (int64_t i = 0; i < b->x.n; i++) {
        int64_t truth = (int64_t)b->label[i];
        in->loss -= log(fmax(in->p[i * classes + truth], LEAST));
        if (classes == 2) TRY(append(s->ctx, &in->side[truth], score[i]));
    }
done:
    return st;
}

static void belief_clear(krein_ctx *ctx, belief *in) {
    krein__free(ctx, in->p);
    krein__free(ctx, in->side[0].at);
    krein__free(ctx, in->side[1].at);
}

/* ---- with the other processes ------------------------------------------- */

/* Both halves by the formula of Chan, Golub and LeVeque. n: rows behind each. */
static void merge(sums *s, int64_t k, double n, const sums *other, double more) {
    s->square += other->square;
    s->absolute += other->absolute;
    s->count += other->count;
    for (int64_t c = 0; c < k && more > 0; c++) {
        double delta = other->mean[c] - s->mean[c], total = n + more;
        s->m2[c] += other->m2[c] + delta * delta * n * more / total;
        s->mean[c] += delta * more / total;
    }
}

typedef struct half {
    int64_t n;
    sums s;
} half;

static krein_status merge_numbers(krein_ctx *ctx, int64_t k, sums *s, int64_t *n) {
    half mine = {*n, *s}, *all = NULL;
    int64_t count;
    krein_status st = krein__comm_join(ctx, &mine, 1, sizeof mine, &all, &count);
    if (st != KREIN_OK) return st;
    *s = (sums){0};
    *n = 0;
    for (int64_t r = 0; r < count; r++) {
        merge(s, k, (double)*n, &all[r].s, (double)all[r].n);
        *n += all[r].n;
    }
    krein__free(ctx, all);
    return KREIN_OK;
}

static krein_status join(krein_ctx *ctx, column *c) {
    double *all = NULL;
    krein_status st = krein__comm_join(ctx, c->at, c->n, sizeof *all, &all, &c->n);
    if (st != KREIN_OK) return st;
    krein__free(ctx, c->at);
    c->at = all;
    c->room = c->n;
    return KREIN_OK;
}

static krein_status put_together(krein_ctx *ctx, const krein_model *m, sums *s, belief *in,
                                 krein_metrics *out) {
    krein_status st = KREIN_OK;
    TRY(merge_numbers(ctx, m->k, s, &out->n));
    if (out->confusion)
        TRY(krein__comm_fold(ctx, KREIN_FOLD_SUM, out->classes * out->classes, out->confusion));
    if (!in->p) goto done;
    TRY(krein__comm_sum(ctx, 1, &in->loss));
    for (int c = 0; c < 2; c++) TRY(join(ctx, &in->side[c]));
done:
    return st;
}

krein_status krein__model_measure(krein_ctx *ctx, const krein_model *m, krein_data *data, int part,
                                  krein_metrics *out) {
    krein_status st = KREIN_OK;
    krein_stream *stream = NULL;
    krein_predictor predictor = {0};
    krein_block b;
    double *score = NULL;
    sums s = {0};
    belief in = {0};
    int64_t rows = krein__block_rows(m->encoding.d);
    bool classes = m->encoding.task == KREIN_TASK_CLASSIFICATION;
    TRY(begin(ctx, &m->encoding, out));
    TRY(krein__stream_open(data, &m->encoding, part, &stream));
    TRY(krein__predictor_begin(ctx, m, &predictor));
    NEW(score, rows * m->k);
    if (m->calibration.slope) NEW(in.p, rows * m->encoding.nclass);
    for (;;) {
        TRY(krein__stream_next(stream, &b));
        if (b.x.n == 0) break;
        krein__predictor_run(&predictor, &b.x, score);
        if (in.p) TRY(believe(&predictor, &b, score, &in));
        for (int64_t i = 0; i < b.x.n; i++) {
            out->n++;
            if (classes) {
                int64_t truth = (int64_t)b.label[i];
                out->confusion[truth * out->classes + krein__model_decide(m, score + i * m->k)]++;
            }
            for (int64_t c = 0; !classes && c < m->k; c++)
                add_number(&s, out->n, c, b.label[i * m->k + c], score[i * m->k + c]);
        }
    }
    if (krein__stream_shared(stream)) TRY(put_together(ctx, m, &s, &in, out));
    if (out->n == 0) {
        st = krein__fail(ctx, KREIN_EDATA, "%s: there is no row to evaluate", data->name);
        goto done;
    }
    if (classes) {
        end_classes(out);
        if (in.p) out->log_loss = in.loss / (double)out->n;
        if (in.p && m->encoding.nclass == 2) out->auc = area(&in.side[0], &in.side[1]);
    } else {
        double spread = 0;
        for (int64_t c = 0; c < m->k; c++) spread += s.m2[c];
        out->rmse = sqrt(s.square / s.count);
        out->mae = s.absolute / s.count;
        out->r2 = spread > 0 ? 1 - s.square / spread : NAN;
    }
done:
    krein__predictor_end(&predictor);
    krein__stream_close(stream);
    krein__free(ctx, score);
    belief_clear(ctx, &in);
    if (st != KREIN_OK) krein_metrics_clear(ctx, out);
    return st;
}

krein_status krein_evaluate(krein_ctx *ctx, const krein_model *m, krein_data *data,
                            krein_metrics *out) {
    memset(out, 0, sizeof *out);
    krein_status st = krein__model_need_head(ctx, m, "evaluate");
    if (st != KREIN_OK) return st;
    /* Clusters have numbers for names, which are no classes of anybody's data. */
    if (m->encoding.task == KREIN_TASK_AUTO || strncmp(m->learner, "kmeans(", 7) == 0)
        return krein__fail(ctx, KREIN_EARG,
                           "a model made by %s predicts no label, so there is nothing to evaluate; "
                           "use predict",
                           m->learner);
    data->share_rows = true;
    st = krein__data_match(data, &m->encoding, true);
    return st == KREIN_OK ? krein__model_measure(ctx, m, data, KREIN_PART_TRAIN, out) : st;
}
